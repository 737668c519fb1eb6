//! The tree of stumps of a node, while it grows.

use std::sync::Arc;

use super::params::LeafRankParams;
use crate::data::{CellId, CellSplit, ClassSums, FeatureBins, Histogram, Tally, mix};
use crate::formula::Test;
use crate::tree::grow::OpenNode;
use crate::tree::model::{Node, NodeSplit, RankingTree, SplitForm, SplitNode, TreeFrame};
use crate::tree::split::stump::Stump;

/// A part of a node, while its tree of stumps grows.
#[derive(Debug)]
pub(super) struct Part<T> {
    pub(super) cell: CellId,
    pub(super) sums: ClassSums,
    pub(super) depth: usize,
    /// Its place among the stumps.
    pub(super) position: usize,
    pub(super) seed: u64,
    /// What it may be cut by, with the histogram that its parts are derived from. The histogram of a
    /// whole node stays with the node.
    pub(super) stump: Option<Stump>,
    pub(super) histogram: Option<Histogram<T>>,
}

/// The tree of stumps of one node, its parts from left to right.
#[derive(Debug)]
pub(super) struct Growing<'a, T> {
    pub(super) node: &'a OpenNode<Option<Histogram<T>>>,
    pub(super) cuts: Vec<SplitNode>,
    pub(super) parts: Vec<Part<T>>,
}

/// Two parts that came from one, before their own stumps are known.
pub(super) struct Siblings<T> {
    pub(super) tree: usize,
    /// Index of the left one; the right one follows.
    pub(super) left: usize,
    /// Histogram that theirs add up to, or `None` for that of the whole node.
    pub(super) parent: Option<Histogram<T>>,
}

impl<'a, T: Tally> Growing<'a, T> {
    pub(super) fn new(node: &'a OpenNode<Option<Histogram<T>>>) -> Self {
        let whole = Part {
            cell: node.cell,
            sums: node.sums,
            depth: 0,
            position: 0,
            seed: node.seed,
            stump: None,
            histogram: None,
        };
        let cuts = vec![SplitNode::Part { sums: node.sums, goes_left: false }];
        Self { node, cuts, parts: vec![whole] }
    }

    /// Whether the part at `left` and the one after it may be cut in their turn.
    pub(super) fn may_grow(&self, params: &LeafRankParams, left: usize) -> bool {
        self.parts[left].depth < params.max_depth
            && params.max_leaves.is_none_or(|most| self.parts.len() < most)
    }

    /// The parts to cut next: all that gain, or the one of the largest merit.
    fn chosen(&self, params: &LeafRankParams) -> Vec<bool> {
        let merit = |part: &Part<T>| part.stump.as_ref().map(|stump| stump.merit);
        let Some(most) = params.max_leaves else {
            return self.parts.iter().map(|part| part.stump.is_some()).collect();
        };
        let best = self.parts.iter().filter_map(merit).max().filter(|_| self.parts.len() < most);
        let place = self.parts.iter().position(|part| best.is_some() && merit(part) == best);
        (0..self.parts.len()).map(|part| place == Some(part)).collect()
    }

    pub(super) fn cut(
        &mut self,
        index: usize,
        params: &LeafRankParams,
        features: &[FeatureBins],
        next_cell: &mut CellId,
        splits: &mut Vec<CellSplit>,
        siblings: &mut Vec<Siblings<T>>,
    ) {
        let chosen = self.chosen(params);
        let before = std::mem::take(&mut self.parts);
        for (mut part, is_chosen) in before.into_iter().zip(chosen) {
            let Some(stump) = part.stump.take_if(|_| is_chosen) else {
                self.parts.push(part);
                continue;
            };
            let (left, right) = (self.cuts.len(), self.cuts.len() + 1);
            self.cuts[part.position] = SplitNode::Cut {
                sums: part.sums,
                test: Test::of_codes(&stump.test, &features[stump.test.feature]),
                left,
                right,
            };
            let parent = part.histogram.take();
            siblings.push(Siblings { tree: index, left: self.parts.len(), parent });
            let cells = (*next_cell, *next_cell + 1);
            *next_cell += 2;
            let new = [(cells.0, stump.left, left), (cells.1, part.sums - stump.left, right)];
            for (side, (cell, sums, position)) in (1..).zip(new) {
                self.cuts.push(SplitNode::Part { sums, goes_left: false });
                self.parts.push(Part {
                    cell,
                    sums,
                    depth: part.depth + 1,
                    position,
                    // Not the way of a child of the node, which has a seed of its own.
                    seed: mix(!part.seed ^ side),
                    stump: None,
                    histogram: None,
                });
            }
            let split =
                CellSplit { cell: part.cell, test: stump.test, left: cells.0, right: cells.1 };
            splits.push(split);
        }
    }

    /// The tree of stumps as a ranking tree.
    pub(super) fn tree(&self, frame: Arc<TreeFrame>) -> RankingTree {
        let node = |cut: &SplitNode| match cut {
            SplitNode::Part { sums, .. } => Node { sums: *sums, split: None },
            SplitNode::Cut { sums, test, left, right } => {
                let (form, left, right) = (SplitForm::Stump(test.clone()), *left, *right);
                Node { sums: *sums, split: Some(NodeSplit::new(form, left, right)) }
            }
        };
        RankingTree::new(frame, self.cuts.iter().map(node).collect())
    }
}
