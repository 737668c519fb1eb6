//! The tree of stumps of a node during growth.

use std::sync::Arc;

use super::LeafRankParams;
use crate::data::{
    CellId, CellSplit, ClassSums, FeatureBins, Histogram, HistogramRequest, SumSource, Tally, mix,
    shuffled,
};
use crate::formula::Test;
use crate::tree::grow::{Division, LeastSplit, OpenNode};
use crate::tree::model::{
    Node, NodeSplit, RankingTree, SplitForm, SplitNode, TreeFrame, split_form,
};
use crate::tree::split::CutCriterion;
use crate::tree::split::criterion::{best_run, best_union};
use crate::tree::split::stump::{Stump, StumpTerms, best_stump};
use crate::{RankError, parallel};

/// A part of a node during the growth of its tree of stumps.
#[derive(Debug)]
pub(super) struct NodePart<T> {
    pub(super) cell: CellId,
    pub(super) sums: ClassSums,
    pub(super) depth: usize,
    /// Its place among the stumps.
    pub(super) position: usize,
    pub(super) seed: u64,
    /// The stump that may cut it, with the histogram from which those of its parts are derived. The
    /// histogram of a whole node stays with the node.
    pub(super) stump: Option<Stump>,
    pub(super) histogram: Option<Histogram<T>>,
}

/// The tree of stumps of one node, its parts from left to right.
#[derive(Debug)]
pub(super) struct GrowingStumps<'a, T> {
    pub(super) node: &'a OpenNode<Option<Histogram<T>>>,
    pub(super) cuts: Vec<SplitNode>,
    pub(super) parts: Vec<NodePart<T>>,
}

/// Two parts that came from one, before their own stumps are known.
pub(super) struct Siblings<T> {
    pub(super) tree: usize,
    /// Index of the left one; the right one follows.
    pub(super) left: usize,
    /// Sum of their histograms, or `None` for the histogram of the whole node.
    pub(super) parent: Option<Histogram<T>>,
}

impl<'a, T: Tally> GrowingStumps<'a, T> {
    pub(super) fn new(node: &'a OpenNode<Option<Histogram<T>>>) -> Self {
        let whole = NodePart {
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

    /// Whether the part at `left` and the one after it may be cut further.
    pub(super) fn may_grow(&self, params: &LeafRankParams, left: usize) -> bool {
        self.parts[left].depth < params.max_depth
            && params.max_leaves.is_none_or(|most| self.parts.len() < most)
    }

    /// The parts to cut next: all that gain, or the one of the largest merit.
    fn chosen(&self, params: &LeafRankParams) -> Vec<bool> {
        let merit = |part: &NodePart<T>| part.stump.as_ref().map(|stump| stump.merit);
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
                self.parts.push(NodePart {
                    cell,
                    sums,
                    depth: part.depth + 1,
                    position,
                    // Distinct from the seed of a child of the node.
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

/// Constraints on a merger.
#[derive(Debug, Clone, Copy)]
pub(super) struct Merger<'t> {
    pub(super) least: LeastSplit,
    /// For each feature its direction, or empty.
    pub(super) monotonic: &'t [i8],
    pub(super) criterion: CutCriterion,
}

impl Merger<'_> {
    /// Merges the parts into two sides.
    pub(super) fn merge<T: Tally>(self, mut growing: GrowingStumps<'_, T>) -> Option<Division> {
        let part = |part: &'_ NodePart<T>| (part.position, part.cell);
        let places: Vec<(usize, CellId)> = growing.parts.iter().map(part).collect();
        let parts: Vec<_> =
            places.iter().map(|(place, cell)| (*place, std::slice::from_ref(cell))).collect();
        self.merge_parts(growing.node.sums, &mut growing.cuts, &parts)
    }

    /// Merges the leaves of a subtree of [`Growing::tree`] into two sides.
    pub(super) fn merge_leaves<T: Tally>(
        self,
        growing: &GrowingStumps<'_, T>,
        subtree: &RankingTree,
    ) -> Option<Division> {
        let mut cuts: Vec<SplitNode> = subtree.nodes().iter().map(split_node).collect();
        // Leaves and parts are both ordered from left to right, so a leaf is a run of parts.
        let cells: Vec<CellId> = growing.parts.iter().map(|part| part.cell).collect();
        let (mut rest, mut sizes) = (&cells[..], growing.parts.iter().map(|part| part.sums.rows));
        let mut parts = Vec::with_capacity(subtree.n_leaves());
        for (place, node) in subtree.nodes().iter().enumerate() {
            if node.split.is_none() {
                let (mut n_cells, mut n_rows) = (0, 0);
                while n_rows < node.sums.rows {
                    n_rows += sizes.next().expect("the parts make up the leaves");
                    n_cells += 1;
                }
                let (mine, others) = rest.split_at(n_cells);
                parts.push((place, mine));
                rest = others;
            }
        }
        self.merge_parts(growing.node.sums, &mut cuts, &parts)
    }

    /// Merges the parts of a node, each with its place among the stumps and its cells, into two
    /// sides.
    fn merge_parts(
        self,
        node: ClassSums,
        cuts: &mut [SplitNode],
        parts: &[(usize, &[CellId])],
    ) -> Option<Division> {
        let sums: Vec<ClassSums> = parts.iter().map(|&(place, _)| cuts[place].sums()).collect();
        let monotonic = self.monotonic;
        let (is_left, left) = if monotonic.is_empty() {
            best_union(node, &sums, self.least.rows, self.criterion)?
        } else {
            let places = parts.iter().map(|&(place, _)| place);
            let order = by_clipped_eta(cuts, &places.collect::<Vec<_>>(), monotonic);
            best_run(node, &sums, &order, self.least.rows, self.criterion)?
        };
        if node.gain(left) as f64 <= self.least.gain {
            return None;
        }
        let (mut left_cells, mut right_cells) = (Vec::new(), Vec::new());
        for (&(place, cells), &is_left) in parts.iter().zip(&is_left) {
            if let SplitNode::Part { goes_left, .. } = &mut cuts[place] {
                *goes_left = is_left;
            }
            if is_left { &mut left_cells } else { &mut right_cells }.extend_from_slice(cells);
        }
        let form = match cuts {
            // The left part of a stump is the one that gains.
            [SplitNode::Cut { test, .. }, _, _] => SplitForm::Stump(test.clone()),
            cuts => SplitForm::Cuts(in_preorder(cuts)),
        };
        Some(Division { form, left_cells, right_cells, left })
    }
}

/// A node of a tree of stumps as a part of a split; sides are not known yet.
fn split_node(node: &Node) -> SplitNode {
    let sums = node.sums;
    match &node.split {
        Some(split @ NodeSplit { form: SplitForm::Stump(test), .. }) => {
            let (left, right) = (split.left(), split.right());
            SplitNode::Cut { sums, test: test.clone(), left, right }
        }
        _ => SplitNode::Part { sums, goes_left: false },
    }
}

/// Parts, given by their places among the stumps, sorted by their etas clipped to the directions of
/// features, so that a row that must not rank below another is in the same part or an earlier one.
fn by_clipped_eta(cuts: &[SplitNode], parts: &[usize], monotonic: &[i8]) -> Vec<usize> {
    let etas =
        split_form::clipped_etas(cuts.iter().map(SplitNode::sums), |place| match &cuts[place] {
            SplitNode::Cut { test, left, right, .. } => {
                Some((*left, *right, split_form::orders(monotonic, test)))
            }
            SplitNode::Part { .. } => None,
        });
    let mut order: Vec<usize> = (0..parts.len()).collect();
    order.sort_by(|&a, &b| etas[parts[b]].total_cmp(&etas[parts[a]]));
    order
}

/// Renumbers stumps from the root on, left before right.
fn in_preorder(cuts: &[SplitNode]) -> Vec<SplitNode> {
    let mut ordered: Vec<SplitNode> = Vec::with_capacity(cuts.len());
    // An old place, and the stump with this right side.
    let mut open = vec![(0, None)];
    while let Some((old, right_of)) = open.pop() {
        let place = ordered.len();
        if let Some(SplitNode::Cut { right, .. }) =
            right_of.map(|parent: usize| &mut ordered[parent])
        {
            *right = place;
        }
        let mut node = cuts[old].clone();
        if let SplitNode::Cut { left, right, .. } = &mut node {
            open.push((*right, Some(place)));
            open.push((*left, None));
            *left = place + 1;
        }
        ordered.push(node);
    }
    ordered
}

/// Bytes of histograms of drawn features that are counted together. They are dropped once the
/// stumps are known: many small nodes need no more memory than a few large ones.
const HISTOGRAM_BYTES: usize = 1 << 20;

impl LeafRankParams {
    /// Finds stumps for parts, each given by its tree and its place in it, on features drawn for
    /// the part.
    pub(super) fn draw_stumps<S: SumSource + Sync>(
        &self,
        source: &S,
        growing: &mut [GrowingStumps<'_, S::Tally>],
        parts: &[(usize, usize)],
        terms: StumpTerms<'_>,
    ) -> Result<(), RankError> {
        let features = source.features();
        let n_drawn = self.max_features.unwrap_or(features.len()).max(1);
        let mut waiting: Vec<(usize, usize, Vec<usize>)> = parts
            .iter()
            .map(|&(tree, part)| (tree, part, &growing[tree].parts[part]))
            .filter(|(.., part)| self.is_large(part.sums))
            .map(|(tree, place, part)| {
                let mut drawn = shuffled(features.len(), part.seed);
                drawn.retain(|&feature| terms.may_ask(feature));
                (tree, place, drawn)
            })
            .collect();
        while !waiting.is_empty() {
            let wanted: Vec<HistogramRequest> = waiting
                .iter_mut()
                .map(|(tree, part, rest)| {
                    let mut drawn = rest.split_off(rest.len().saturating_sub(n_drawn));
                    drawn.sort_unstable();
                    HistogramRequest {
                        cell: growing[*tree].parts[*part].cell,
                        features: Some(drawn),
                    }
                })
                .collect();
            let mut found = Vec::with_capacity(waiting.len());
            let mut rest = &wanted[..];
            while !rest.is_empty() {
                let first = found.len();
                let n_rows = |part: usize| {
                    let &(tree, part, _) = &waiting[first + part];
                    growing[tree].parts[part].sums.rows as usize
                };
                let piece;
                (piece, rest) =
                    rest.split_at(n_counted_at_once::<S::Tally>(features, rest, n_rows));
                let histograms = source.histograms(piece)?;
                let trees = &*growing;
                let wanted = waiting[first..].iter().zip(&histograms).collect();
                let stumps: Vec<Option<Stump>> =
                    parallel::map(wanted, |((tree, part, _), histogram)| {
                        let part = &trees[*tree].parts[*part];
                        let terms = self.drawing(terms, part.seed);
                        best_stump(features, histogram, part.sums, self.min_samples_leaf, terms)
                    });
                for (&(tree, part, _), stump) in waiting[first..].iter().zip(stumps) {
                    found.push(stump.is_some());
                    growing[tree].parts[part].stump = stump;
                }
            }
            let mut found = found.into_iter();
            waiting.retain(|(.., rest)| !(found.next() == Some(true) || rest.is_empty()));
        }
        Ok(())
    }
}

/// Number of histograms that are counted before stumps are found in them: at least one, and as many
/// as fit [`HISTOGRAM_BYTES`]. `n_rows` gives the number of rows of each cell.
fn n_counted_at_once<T>(
    features: &[FeatureBins],
    wanted: &[HistogramRequest],
    n_rows: impl Fn(usize) -> usize,
) -> usize {
    let mut bytes = 0;
    for (place, wanted) in wanted.iter().enumerate() {
        // A feature with many codes takes at most two bins per row, or a list of as many bytes.
        let most = 2 * n_rows(place) + 256;
        for &feature in wanted.features.iter().flatten() {
            bytes += size_of::<T>() * features[feature].n_codes().min(most);
        }
        if bytes > HISTOGRAM_BYTES {
            return place.max(1);
        }
    }
    wanted.len()
}
