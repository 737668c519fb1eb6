//! The loop over nodes: `TreeRank` itself (paper 2 Fig. 2), whatever splits the nodes.

use super::leafrank::{LeafRankParams, divide};
use super::ranking_tree::{LeafOrder, Node, NodeSplit, RankingTree};
use crate::data::{CellId, ClassSums, FeatureBins, Histogram, Regroup, SumSource};
use crate::{Interrupt, RankError};

/// Bytes of histograms that one batch of nodes may hold. Nodes are taken depth first, batch by
/// batch, so that a wide or deep tree does not keep a histogram for each node of a level.
const BATCH_BYTES: usize = 64 << 20;

/// When a ranking tree stops growing.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct GrowParams {
    /// Splits between the root and a leaf; at least 1.
    pub max_depth: usize,
    /// Rows that a node needs to be split.
    pub min_samples_split: u64,
    /// Rows that each side of a split keeps; at least 1.
    pub min_samples_leaf: u64,
    /// A split must raise the training AUC by more than this.
    pub min_gain: f64,
    /// How nodes are split.
    pub split: LeafRankParams,
    /// In which order the leaves are ranked.
    pub leaf_order: LeafOrder,
}

impl GrowParams {
    pub(super) fn validate(&self) -> Result<(), RankError> {
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
        self.split.validate()
    }

    fn may_split(&self, sums: ClassSums, depth: usize) -> bool {
        depth < self.max_depth
            && sums.is_mixed()
            && sums.rows >= self.min_samples_split.max(2 * self.min_samples_leaf)
    }
}

/// A node that may be split.
#[derive(Debug)]
pub(super) struct OpenNode<T> {
    node: usize,
    depth: usize,
    pub(super) cell: CellId,
    pub(super) sums: ClassSums,
    pub(super) histogram: Histogram<T>,
}

/// Grows a ranking tree on the rows of cell 0, whose class sums are `total`.
pub(super) fn grow<S: SumSource + Sync>(
    source: &mut S,
    total: ClassSums,
    exponent: i32,
    params: &GrowParams,
    interrupt: &Interrupt,
) -> Result<RankingTree, RankError> {
    // An AUC gain of g is a gain of 2PN g in the units of `ClassSums::gain`.
    let min_gain = 2.0 * params.min_gain * total.pos as f64 * total.neg as f64;
    let mut nodes = vec![Node { sums: total, split: None }];
    let mut next_cell = 1;
    let mut open = Vec::new();
    let mut has_missing = vec![false; source.features().len()];
    if params.may_split(total, 0) {
        let histogram = source.histograms(&[0])?.remove(0);
        for (feature, bins) in source.features().iter().enumerate() {
            let last = histogram.feature(feature).occupied().last();
            has_missing[feature] = last.is_some_and(|(code, _)| code as usize == bins.n_bins());
        }
        open.push(OpenNode { node: 0, depth: 0, cell: 0, sums: total, histogram });
    }
    while !open.is_empty() {
        interrupt.check()?;
        let batch = next_batch(&mut open);
        let divisions = divide(
            source,
            &batch,
            &params.split,
            params.min_samples_leaf,
            min_gain,
            &mut next_cell,
        )?;

        let (mut regroups, mut families) = (Vec::new(), Vec::new());
        for (parent, division) in batch.into_iter().zip(divisions) {
            let Some(division) = division else { continue };
            let children =
                [(division.left, next_cell), (parent.sums - division.left, next_cell + 1)];
            next_cell += 2;
            let (left, right) = (nodes.len(), nodes.len() + 1);
            nodes[parent.node].split = Some(NodeSplit { cuts: division.cuts, left, right });
            nodes.extend(children.map(|(sums, _)| Node { sums, split: None }));
            regroups.push(Regroup {
                left_cells: division.left_cells,
                right_cells: division.right_cells,
                left: children[0].1,
                right: children[1].1,
            });
            if children.iter().any(|(sums, _)| params.may_split(*sums, parent.depth + 1)) {
                families.push((parent, left, children));
            }
        }
        source.regroup(&regroups)?;

        // Count the smaller child and derive the other.
        let smaller = |children: &[(ClassSums, CellId); 2]| {
            usize::from(children[1].0.rows < children[0].0.rows)
        };
        let wanted: Vec<CellId> =
            families.iter().map(|(_, _, children)| children[smaller(children)].1).collect();
        let counted = source.histograms(&wanted)?;
        for ((parent, left, children), small) in families.into_iter().zip(counted) {
            let large = parent.histogram.without(&small);
            let histograms = if smaller(&children) == 0 { [small, large] } else { [large, small] };
            let depth = parent.depth + 1;
            for (i, ((sums, cell), histogram)) in children.into_iter().zip(histograms).enumerate() {
                if params.may_split(sums, depth) {
                    open.push(OpenNode { node: left + i, depth, cell, sums, histogram });
                }
            }
        }
    }
    let n_levels = source.features().iter().map(|bins| match bins {
        FeatureBins::Numeric { .. } => None,
        FeatureBins::Categorical { n_levels } => Some(*n_levels),
    });
    Ok(RankingTree::new((n_levels.collect(), has_missing), exponent, params.leaf_order, nodes))
}

fn next_batch<T: crate::data::Tally>(open: &mut Vec<OpenNode<T>>) -> Vec<OpenNode<T>> {
    let mut bytes = 0;
    let mut start = open.len();
    while start > 0 && (bytes == 0 || bytes < BATCH_BYTES) {
        start -= 1;
        bytes += open[start].histogram.n_bytes();
    }
    open.split_off(start)
}
