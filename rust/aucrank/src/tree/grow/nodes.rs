//! The loop over nodes: `TreeRank` itself (paper 2 Fig. 2), whatever splits the nodes.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::splitter::{Family, OpenNode, Splitter};
use crate::data::{ClassSums, Regroup, SumSource, mix};
use crate::tree::model::{LeafOrder, Node, NodeSplit, RankingTree, TreeFrame};
use crate::{Interrupt, RankError};

/// Bytes that one batch of nodes may keep. Nodes are taken depth first, batch by batch, so that a
/// wide or deep tree does not keep a histogram for each node of a level.
const BATCH_BYTES: usize = 64 << 20;

/// Most nodes of a batch, for rules that keep nothing.
const BATCH_NODES: usize = 4096;

/// What a missing value counts as (DECISIONS T18).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Missing {
    /// Each stump sends the rows that miss its feature to the side where they gain, or with the larger
    /// side where its cell has none.
    #[default]
    Learn,
    /// The mean of the values known in the cell that is cut, weighted; of categories the one of
    /// largest class weight there, the lowest code of several (paper 2 sec. 5). A cell in which no
    /// value is known is not cut on the feature, so the mean of the cells above, which would count
    /// there, has nothing to decide.
    CellMean,
}

/// When a ranking tree stops growing, and how its leaves are ranked.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GrowParams {
    /// Splits between the root and a leaf; at least 1.
    pub max_depth: usize,
    /// Rows that a node needs to be split.
    pub min_samples_split: u64,
    /// Rows that each side of a split keeps; at least 1.
    pub min_samples_leaf: u64,
    /// A split must raise the training AUC by more than this.
    pub min_gain: f64,
    /// In which order the leaves are ranked.
    pub leaf_order: LeafOrder,
    /// What a missing value counts as.
    #[serde(default)]
    pub missing: Missing,
    /// The false positive rate left of which the tree is spent, above 0 and at most 1: a node is split
    /// only if the negatives left of it are fewer than this share of all, and cross-validation
    /// compares subtrees by the partial AUC up to it.
    #[serde(default = "whole")]
    pub max_fpr: f64,
}

fn whole() -> f64 {
    1.0
}

impl Default for GrowParams {
    /// Those of the Python estimator `TreeRank`.
    fn default() -> Self {
        Self {
            max_depth: 10,
            min_samples_split: 2,
            min_samples_leaf: 5,
            min_gain: 0.0,
            leaf_order: LeafOrder::Eta,
            missing: Missing::Learn,
            max_fpr: whole(),
        }
    }
}

impl GrowParams {
    pub(in crate::tree) fn validate(&self) -> Result<(), RankError> {
        let bad = |name, value: String, rule| Err(RankError::BadParameter { name, value, rule });
        if self.max_depth == 0 {
            return bad("max_depth", "0".to_owned(), "at least 1");
        }
        if self.min_samples_leaf == 0 {
            return bad("min_samples_leaf", "0".to_owned(), "at least 1");
        }
        if !(self.min_gain >= 0.0 && self.min_gain.is_finite()) {
            return bad("min_gain", self.min_gain.to_string(), "finite and not negative");
        }
        if !(self.max_fpr > 0.0 && self.max_fpr <= 1.0) {
            return bad("max_fpr", self.max_fpr.to_string(), "above 0 and at most 1");
        }
        Ok(())
    }

    /// The least gain in the units of [`ClassSums::gain`], of which 2PN make an AUC of 1.
    pub(in crate::tree) fn least_gain(&self, total: ClassSums) -> f64 {
        2.0 * self.min_gain * total.pos as f64 * total.neg as f64
    }

    fn may_split<K>(&self, node: &OpenNode<K>, total: ClassSums) -> bool {
        node.depth < self.max_depth
            && (self.max_fpr >= 1.0 || (node.neg_above as f64) < self.max_fpr * total.neg as f64)
            && node.sums.is_mixed()
            && node.sums.rows >= self.min_samples_split.max(2 * self.min_samples_leaf)
    }
}

/// Grows a ranking tree on the rows of cell 0, whose class sums are `total`.
pub(in crate::tree) fn grow<S: SumSource, P: Splitter<S>>(
    source: &mut S,
    splitter: &P,
    total: ClassSums,
    frame: Arc<TreeFrame>,
    params: &GrowParams,
    seed: u64,
    interrupt: &Interrupt,
) -> Result<RankingTree, RankError> {
    let mut nodes = vec![Node { sums: total, split: None }];
    let mut next_cell = 1;
    let mut open = Vec::new();
    let root = OpenNode { node: 0, depth: 0, cell: 0, sums: total, neg_above: 0, seed, kept: () };
    if params.may_split(&root, total) {
        open.push(splitter.start(source, root)?);
    }
    while !open.is_empty() {
        interrupt.check()?;
        let batch = next_batch(&mut open, |kept| splitter.n_bytes(kept));
        let divisions = splitter.divide(source, &batch, &mut next_cell)?;

        let (mut regroups, mut families) = (Vec::new(), Vec::new());
        for (parent, division) in batch.into_iter().zip(divisions) {
            let Some(division) = division else { continue };
            let left = nodes.len();
            let children = [
                (division.left, next_cell, parent.neg_above),
                (parent.sums - division.left, next_cell + 1, parent.neg_above + division.left.neg),
            ];
            next_cell += 2;
            nodes[parent.node].split = Some(NodeSplit::new(division.form, left, left + 1));
            nodes.extend(children.map(|(sums, ..)| Node { sums, split: None }));
            if !division.left_cells.is_empty() {
                regroups.push(Regroup {
                    left_cells: division.left_cells,
                    right_cells: division.right_cells,
                    left: children[0].1,
                    right: children[1].1,
                });
            }
            let side = |side: usize| {
                let (sums, cell, neg_above) = children[side];
                let seed = mix(parent.seed ^ (side as u64 + 1));
                let depth = parent.depth + 1;
                OpenNode { node: left + side, depth, cell, sums, neg_above, seed, kept: () }
            };
            let children = [side(0), side(1)];
            let may_split = [0, 1].map(|side: usize| params.may_split(&children[side], total));
            if may_split != [false; 2] {
                families.push(Family { parent, children, may_split });
            }
        }
        source.regroup(&regroups)?;
        open.extend(splitter.descend(source, families)?);
    }
    Ok(RankingTree::new(frame, nodes))
}

fn next_batch<K>(open: &mut Vec<OpenNode<K>>, n_bytes: impl Fn(&K) -> usize) -> Vec<OpenNode<K>> {
    let mut bytes = 0;
    let mut start = open.len();
    while start > 0
        && (start == open.len() || bytes < BATCH_BYTES)
        && open.len() - start < BATCH_NODES
    {
        start -= 1;
        bytes += n_bytes(&open[start].kept);
    }
    open.split_off(start)
}
