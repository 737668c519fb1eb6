//! The model: a tree of nodes whose leaves stand in ranking order.

use std::sync::Arc;

#[cfg(feature = "serde")]
use serde::Deserialize;

use super::cube_grid::CubeGrid;
use super::frame::{LeafOrder, TreeFrame};
use super::node::{Node, NodeSplit};
use crate::data::{ClassSums, times_power_of_two};
use crate::formula::Test;

#[cfg(feature = "serde")]
mod saved;

/// A ranking tree: leaves from the one that ranks highest to the one that ranks lowest.
///
/// Nodes are numbered from the root on, left before right. Weights are in units of
/// `2^exponent`, so that all sums are exact.
///
/// # Examples
///
/// ```
/// use aucrank::Interrupt;
/// use aucrank::data::{Columns, Labels};
/// use aucrank::tree::{GrowParams, LeafRankParams, SplitRule, TreeRankParams, fit};
///
/// let columns = Columns::from_row_major(&[1.0, 2.0, 3.0, 4.0], 1)?;
/// let labels = Labels::new(&[false, false, true, true], None)?;
/// let grow = GrowParams { min_samples_leaf: 1, ..GrowParams::default() };
/// let params = TreeRankParams::new(grow, SplitRule::Stumps(LeafRankParams::orthogonal(1)));
/// let tree = fit(&columns, &labels, &params, &Interrupt::default())?.tree;
/// assert_eq!((tree.n_leaves(), tree.depths()), (2, vec![0, 1, 1]));
/// assert_eq!(tree.roc(), (vec![0.0, 0.0, 1.0], vec![0.0, 1.0, 1.0]));
/// let scores = tree.score(&columns, None)?;
/// assert_eq!(scores, [0.0, 0.0, 1.0, 1.0]);
/// # Ok::<(), aucrank::RankError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(Deserialize), serde(from = "saved::SavedTree"))]
pub struct RankingTree {
    /// That of many trees, where they belong together.
    frame: Arc<TreeFrame>,
    nodes: Vec<Node>,
}

impl RankingTree {
    /// Numbers the nodes anew: what no split reaches is dropped.
    pub(in crate::tree) fn new(frame: impl Into<Arc<TreeFrame>>, mut nodes: Vec<Node>) -> Self {
        let mut ordered: Vec<Node> = Vec::with_capacity(nodes.len());
        // An old number, and the node whose right child it is.
        let mut open = vec![(0, None)];
        while let Some((old, right_of)) = open.pop() {
            let number = ordered.len();
            let parent = right_of.and_then(|parent: usize| ordered[parent].split.as_mut());
            if let Some(split) = parent {
                split.set_right(number);
            }
            let Node { sums, mut split } = std::mem::replace(
                &mut nodes[old],
                Node { sums: ClassSums::default(), split: None },
            );
            if let Some(split) = &mut split {
                open.push((split.right(), Some(number)));
                open.push((split.left(), None));
                split.set_left(number + 1);
            }
            ordered.push(Node { sums, split });
        }
        Self { frame: frame.into(), nodes: ordered }
    }

    /// The same tree with every node of `is_leaf` turned into a leaf.
    pub(in crate::tree) fn cut_at(&self, is_leaf: impl Fn(usize) -> bool) -> Self {
        let mut nodes = self.nodes.clone();
        for (number, node) in nodes.iter_mut().enumerate() {
            if is_leaf(number) {
                node.split = None;
            }
        }
        Self::new(Arc::clone(&self.frame), nodes)
    }

    pub(in crate::tree) fn splits_mut(&mut self) -> impl Iterator<Item = &mut NodeSplit> {
        self.nodes.iter_mut().filter_map(|node| node.split.as_mut())
    }

    /// Sets what the tree holds apart from its nodes.
    pub(in crate::tree) fn set_frame(&mut self, frame: &Arc<TreeFrame>) {
        self.frame = Arc::clone(frame);
    }

    /// For each feature its number of categories, or `None` if it is numeric.
    #[must_use]
    pub fn n_levels(&self) -> &[Option<u32>] {
        &self.frame.n_levels
    }

    /// For each feature, whether a row of the training data missed it.
    #[must_use]
    pub fn has_missing(&self) -> &[bool] {
        &self.frame.has_missing
    }

    /// Power of two that a unit of class weight stands for.
    #[must_use]
    pub fn exponent(&self) -> i32 {
        self.frame.exponent
    }

    /// A class weight in the units of the caller's weights.
    #[must_use]
    pub fn weight(&self, units: u64) -> f64 {
        times_power_of_two(units as f64, self.frame.exponent)
    }

    pub(in crate::tree) fn frame(&self) -> &Arc<TreeFrame> {
        &self.frame
    }

    /// What numbers the cubes of a row, where nodes are split by cubes.
    pub(in crate::tree) fn grid(&self) -> Option<&CubeGrid> {
        self.frame.grid.as_ref()
    }

    /// Where nodes are split by dyadic cubes, the level of these: their sides are `2^-level`.
    #[must_use]
    pub fn cube_level(&self) -> Option<u32> {
        self.grid().map(CubeGrid::level)
    }

    /// In which order the leaves are ranked.
    #[must_use]
    pub fn leaf_order(&self) -> LeafOrder {
        self.frame.leaf_order
    }

    /// For each feature, 1 where the score may only rise with it, -1 where it may only fall, 0 where
    /// it is free; empty where no feature is bound.
    #[must_use]
    pub fn monotonic(&self) -> &[i8] {
        &self.frame.monotonic
    }

    /// The nodes, the root first, left before right.
    #[must_use]
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// Class sums of the training rows.
    #[must_use]
    pub fn total(&self) -> ClassSums {
        self.nodes[0].sums
    }

    /// Gain of the split of a node, as [`ClassSums::gain`]; 0 for a leaf.
    #[must_use]
    pub fn gain(&self, node: usize) -> i128 {
        let Node { sums, split } = &self.nodes[node];
        split.as_ref().map_or(0, |split| sums.gain(self.nodes[split.left()].sums))
    }

    /// What a gain adds to the AUC of the whole sample.
    #[must_use]
    pub fn auc_of_gain(&self, gain: i128) -> f64 {
        let ClassSums { pos, neg, .. } = self.total();
        gain as f64 / (2 * u128::from(pos) * u128::from(neg)) as f64
    }

    /// Number of leaves.
    #[must_use]
    pub fn n_leaves(&self) -> usize {
        self.nodes.len().div_ceil(2)
    }

    /// Depth of each node, 0 for the root.
    #[must_use]
    pub fn depths(&self) -> Vec<usize> {
        let mut depths = vec![0; self.nodes.len()];
        for (node, Node { split, .. }) in self.nodes.iter().enumerate() {
            if let Some(split) = split {
                depths[split.left()] = depths[node] + 1;
                depths[split.right()] = depths[node] + 1;
            }
        }
        depths
    }

    /// Whether gains belong to single features. They do not where nodes are split by cubes or by
    /// classifiers, which ask many features at once.
    #[must_use]
    pub fn has_importances(&self) -> bool {
        self.frame.grid.is_none() && self.asks_single_features()
    }

    fn splits(&self) -> impl Iterator<Item = &NodeSplit> {
        self.nodes.iter().filter_map(|node| node.split.as_ref())
    }

    /// Whether every split is made of questions to one feature each.
    pub(crate) fn asks_single_features(&self) -> bool {
        self.splits().all(|split| split.form.asks_single_features())
    }

    /// The questions to single features, in no order that means anything.
    pub(in crate::tree) fn tests(&self) -> impl Iterator<Item = &Test> {
        self.splits().flat_map(|split| split.form.tests())
    }

    /// Numbers of the classifiers that split its nodes, in the order of the nodes; none in a tree of
    /// stumps.
    #[must_use]
    pub fn classifiers(&self) -> Vec<usize> {
        self.splits().filter_map(|split| split.form.classifier()).collect()
    }

    /// For each feature, the sum of squared AUC gains of the stumps on it (the `I_j` of paper 2 sec.
    /// 5.1, rates relative to the whole sample). Cubes and classifiers, which ask many features at
    /// once, add nothing; see [`RankingTree::has_importances`].
    #[must_use]
    pub fn importances(&self) -> Vec<f64> {
        let mut importances = vec![0.0; self.frame.n_levels.len()];
        for (number, node) in self.nodes.iter().enumerate() {
            let Some(split) = &node.split else { continue };
            for (feature, gain) in split.form.gains(self.gain(number)) {
                let gain = self.auc_of_gain(gain);
                importances[feature] += gain * gain;
            }
        }
        importances
    }
}
