//! Growing a tree: the loop over nodes that all split rules share, and their interface.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::model::{LeafOrder, Node, NodeSplit, RankingTree, SplitForm, TreeFrame};
use crate::data::{CellId, ClassSums, Regroup, SumSource, mix};
use crate::{Interrupt, RankError};

/// A node that may be split.
#[derive(Debug)]
pub(super) struct OpenNode<K> {
    pub(super) node: usize,
    pub(super) depth: usize,
    pub(super) cell: CellId,
    pub(super) sums: ClassSums,
    /// Weight of the negatives that rank above the node when leaves stand from left to right.
    pub(super) neg_above: u64,
    /// Drawn from the seed of the tree and the path from its root, so that random choices in a node
    /// do not depend on the order in which nodes are processed.
    pub(super) seed: u64,
    /// State of the split rule for the node.
    pub(super) kept: K,
}

/// Requirements on a split; a node without one that meets them is a leaf.
#[derive(Debug, Clone, Copy)]
pub(super) struct LeastSplit {
    /// Least number of rows on each side.
    pub(super) rows: u64,
    /// The gain, as [`ClassSums::gain`], must exceed this.
    pub(super) gain: f64,
}

/// How one node is split, and which cells of the source make up each side: none if the rule no
/// longer needs the rows of the node.
#[derive(Debug)]
pub(super) struct Division {
    pub(super) form: SplitForm,
    pub(super) left_cells: Vec<CellId>,
    pub(super) right_cells: Vec<CellId>,
    pub(super) left: ClassSums,
}

/// A split node with its children, at least one of which may be split further.
#[derive(Debug)]
pub(super) struct SplitFamily<K> {
    pub(super) parent: OpenNode<K>,
    pub(super) children: [OpenNode<()>; 2],
    pub(super) may_split: [bool; 2],
}

/// A rule that divides nodes. Each may keep data on a node, such as its histogram, until the node
/// is divided.
pub(super) trait Splitter<S: SumSource> {
    /// Data kept for a node until it is divided.
    type Kept;

    /// Prepares the root.
    fn start(&self, source: &S, root: OpenNode<()>) -> Result<OpenNode<Self::Kept>, RankError>;

    /// Divides nodes together, so that each pass over the data serves all of them. `None` for a
    /// node that cannot be divided with a gain.
    fn divide(
        &self,
        source: &mut S,
        nodes: &[OpenNode<Self::Kept>],
        next_cell: &mut CellId,
    ) -> Result<Vec<Option<Division>>, RankError>;

    /// Prepares the children of divided nodes and returns those that may be split.
    fn descend(
        &self,
        source: &S,
        families: Vec<SplitFamily<Self::Kept>>,
    ) -> Result<Vec<OpenNode<Self::Kept>>, RankError>;

    /// Bytes kept for a node.
    fn n_bytes(&self, kept: &Self::Kept) -> usize;
}

impl OpenNode<()> {
    pub(super) fn keeping<K>(self, kept: K) -> OpenNode<K> {
        let Self { node, depth, cell, sums, neg_above, seed, kept: () } = self;
        OpenNode { node, depth, cell, sums, neg_above, seed, kept }
    }
}

impl<K> SplitFamily<K> {
    /// The children that may be split, for rules that keep no data.
    pub(super) fn splittable(self) -> impl Iterator<Item = OpenNode<()>> {
        let Self { children, may_split, .. } = self;
        children
            .into_iter()
            .zip(may_split)
            .filter_map(|(child, may_split)| may_split.then_some(child))
    }
}

/// Bytes kept for one batch of nodes at most. Nodes are processed depth first, batch by batch, so
/// that a wide or deep tree does not keep a histogram for each node of a level.
const BATCH_BYTES: usize = 64 << 20;

/// Maximum number of nodes in a batch, for rules that keep no data.
const BATCH_NODES: usize = 4096;

/// Grows a ranking tree on the rows of cell 0, whose class sums are `total`.
pub(super) fn grow<S: SumSource, P: Splitter<S>>(
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
                families.push(SplitFamily { parent, children, may_split });
            }
        }
        source.regroup(&regroups)?;
        open.extend(splitter.descend(source, families)?);
    }
    let tree = RankingTree::new(frame, nodes);
    Ok(match params.max_leaves {
        Some(most) => best_first(tree, most),
        None => tree,
    })
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

/// The subtree of at most `max_leaves` leaves that growth would reach if it always split the leaf
/// that raises the AUC most (the global Lambda of DECISIONS T2), the left-most of equal ones.
///
/// How a node is split depends only on its rows and on the path from the root, so that growth makes
/// the same splits as the whole tree.
fn best_first(tree: RankingTree, max_leaves: usize) -> RankingTree {
    if tree.n_leaves() <= max_leaves {
        return tree;
    }
    let nodes = tree.nodes();
    let candidate = |node: usize| {
        let split = nodes[node].split.as_ref()?;
        let gain = nodes[node].sums.gain(nodes[split.left()].sums);
        // Nodes are numbered from left to right.
        Some((gain, Reverse(node)))
    };
    let mut open = BinaryHeap::from_iter(candidate(0));
    let mut is_split = vec![false; nodes.len()];
    for _ in 1..max_leaves {
        let Some((_, Reverse(node))) = open.pop() else { break };
        is_split[node] = true;
        if let Some(split) = &nodes[node].split {
            open.extend([split.left(), split.right()].into_iter().filter_map(candidate));
        }
    }
    tree.cut_at(|node| !is_split[node])
}

/// Treatment of missing values (DECISIONS T18).
///
/// # Examples
///
/// ```
/// use aucrank::Interrupt;
/// use aucrank::data::{Columns, Labels};
/// use aucrank::tree::{GrowParams, LeafRankParams, Missing, SplitRule, TreeRankParams, fit};
///
/// let columns = Columns::from_row_major(&[2.0, 4.0, 6.0, f64::NAN], 1)?;
/// let labels = Labels::new(&[false, false, true, true], None)?;
/// let auc = |missing| {
///     let grow =
///         GrowParams { max_depth: 1, min_samples_leaf: 1, missing, ..GrowParams::default() };
///     let params = TreeRankParams::new(grow, SplitRule::Stumps(LeafRankParams::orthogonal(1)));
///     fit((&columns, &labels), &params, &Interrupt::default()).map(|fitted| fitted.tree.auc())
/// };
/// // With one cut, the missing value goes with 6; or it counts as the mean and is tied with 4.
/// assert_eq!((auc(Missing::Learn)?, auc(Missing::CellMean)?), (1.0, 0.75));
/// # Ok::<(), aucrank::RankError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Missing {
    /// Each stump sends rows whose value is missing to the side where they gain, or to the larger
    /// side if its cell has no such rows.
    #[default]
    Learn,
    /// The weighted mean of the known values in the cell that is cut; for categories, the one of
    /// largest class weight there, the lowest code if several tie (paper 2 sec. 5). A cell without
    /// a known value is not cut on the feature, so the mean of the cells above is never needed.
    CellMean,
}

/// When a ranking tree stops growing, and how its leaves are ranked.
///
/// # Examples
///
/// ```
/// use aucrank::Interrupt;
/// use aucrank::data::{Columns, Labels};
/// use aucrank::tree::{GrowParams, LeafRankParams, SplitRule, TreeRankParams, fit};
///
/// let columns = Columns::from_row_major(&[1.0, 2.0, 3.0, 4.0], 1)?;
/// let labels = Labels::new(&[false, true, false, true], None)?;
/// let n_leaves = |max_leaves| {
///     let grow = GrowParams { min_samples_leaf: 1, max_leaves, ..GrowParams::default() };
///     let params = TreeRankParams::new(grow, SplitRule::Stumps(LeafRankParams::orthogonal(1)));
///     fit((&columns, &labels), &params, &Interrupt::default())
///         .map(|fitted| fitted.tree.n_leaves())
/// };
/// assert_eq!((n_leaves(None)?, n_leaves(Some(2))?), (4, 2));
/// # Ok::<(), aucrank::RankError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GrowParams {
    /// Splits between the root and a leaf; at least 1.
    pub max_depth: usize,
    /// Maximum number of leaves, at least 2: the leaf whose split raises the training AUC most is
    /// split first. `None` for any number.
    #[serde(default)]
    pub max_leaves: Option<usize>,
    /// Least number of rows in a node that is split.
    pub min_samples_split: u64,
    /// Least number of rows on each side of a split; at least 1.
    pub min_samples_leaf: u64,
    /// A split must raise the training AUC by more than this.
    pub min_gain: f64,
    /// The ranking order of the leaves.
    pub leaf_order: LeafOrder,
    /// Treatment of missing values.
    #[serde(default)]
    pub missing: Missing,
    /// The false positive rate up to which the tree is refined, above 0 and at most 1: a node is
    /// split only if the negatives left of it are fewer than this share of all negatives, and
    /// cross-validation compares subtrees by the partial AUC up to it.
    #[serde(default = "whole")]
    pub max_fpr: f64,
}

fn whole() -> f64 {
    1.0
}

impl Default for GrowParams {
    /// Defaults of the Python estimator `TreeRank`.
    fn default() -> Self {
        Self {
            max_depth: 10,
            max_leaves: None,
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
    pub(super) fn validate(&self) -> Result<(), RankError> {
        let bad = |name, value: String, rule| Err(RankError::BadParameter { name, value, rule });
        if self.max_depth == 0 {
            return bad("max_depth", "0".to_owned(), "at least 1");
        }
        if let Some(n @ 0..2) = self.max_leaves {
            return bad("max_leaves", n.to_string(), "at least 2");
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

    /// Requirements on splits in a tree on rows of the class sums `total`.
    pub(super) fn least_split(&self, total: ClassSums) -> LeastSplit {
        // An AUC of 1 is a gain of 2PN.
        let gain = 2.0 * self.min_gain * total.pos as f64 * total.neg as f64;
        LeastSplit { rows: self.min_samples_leaf, gain }
    }

    fn may_split<K>(&self, node: &OpenNode<K>, total: ClassSums) -> bool {
        node.depth < self.max_depth
            && (self.max_fpr >= 1.0 || (node.neg_above as f64) < self.max_fpr * total.neg as f64)
            && node.sums.is_mixed()
            && node.sums.rows >= self.min_samples_split.max(2 * self.min_samples_leaf)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use crate::Interrupt;
    use crate::data::{Columns, Labels};
    use crate::tree::{GrowParams, LeafRankParams, RankingTree, SplitRule, TreeRankParams, fit};

    fn grown(values: &[f64], positive: &[bool], max_leaves: Option<usize>) -> RankingTree {
        let columns = Columns::from_row_major(values, 2).unwrap();
        let labels = Labels::new(positive, None).unwrap();
        let grow =
            GrowParams { max_depth: 8, min_samples_leaf: 1, max_leaves, ..GrowParams::default() };
        let params = TreeRankParams::new(grow, SplitRule::Stumps(LeafRankParams::orthogonal(2)));
        fit((&columns, &labels), &params, &Interrupt::default()).unwrap().tree
    }

    /// Class sums of the remaining leaves, from left to right, with a new search of the frontier
    /// for each split.
    fn by_definition(tree: &RankingTree, max_leaves: usize) -> Vec<(u64, u64)> {
        let nodes = tree.nodes();
        let mut leaves = vec![0_usize];
        while leaves.len() < max_leaves {
            let mut best: Option<(i128, usize)> = None;
            for (i, &leaf) in leaves.iter().enumerate() {
                let Some(split) = &nodes[leaf].split else { continue };
                let (whole, part) = (nodes[leaf].sums, nodes[split.left()].sums);
                let gain = i128::from(whole.neg) * i128::from(part.pos)
                    - i128::from(whole.pos) * i128::from(part.neg);
                if best.is_none_or(|(most, _)| gain > most) {
                    best = Some((gain, i));
                }
            }
            let Some((_, i)) = best else { break };
            let split = nodes[leaves[i]].split.as_ref().unwrap();
            leaves.splice(i..=i, [split.left(), split.right()]);
        }
        leaves.iter().map(|&leaf| (nodes[leaf].sums.pos, nodes[leaf].sums.neg)).collect()
    }

    fn leaves_in_order(tree: &RankingTree) -> Vec<(u64, u64)> {
        let nodes = tree.nodes();
        let (mut open, mut leaves) = (vec![0], Vec::new());
        while let Some(node) = open.pop() {
            match &nodes[node].split {
                Some(split) => open.extend([split.right(), split.left()]),
                None => leaves.push((nodes[node].sums.pos, nodes[node].sums.neg)),
            }
        }
        leaves
    }

    proptest! {
        #[test]
        fn the_leaf_of_largest_gain_is_split_first(
            rows in prop::collection::vec((0_u8..12, 0_u8..4, any::<bool>()), 10..80),
            max_leaves in 2_usize..20,
        ) {
            let positive: Vec<bool> = rows.iter().map(|row| row.2).collect();
            prop_assume!(positive.iter().any(|&p| p) && positive.iter().any(|&p| !p));
            let values: Vec<f64> =
                rows.iter().flat_map(|&(a, b, _)| [f64::from(a), f64::from(b)]).collect();
            let whole = grown(&values, &positive, None);
            let found = grown(&values, &positive, Some(max_leaves));
            prop_assert_eq!(found.n_leaves(), whole.n_leaves().min(max_leaves));
            prop_assert_eq!(leaves_in_order(&found), by_definition(&whole, max_leaves));
        }
    }
}
