//! A tree with a value in each leaf.

use serde::{Deserialize, Serialize};

use crate::data::{LARGEST_SUM, is_snapped};
use crate::formula::Test;

/// A binary tree of tests of single features with a number in each leaf.
///
/// For an example see [`GradientNode`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct GradientTree {
    /// The root first; after a split its left side, then its right side.
    nodes: Vec<GradientNode>,
}

/// A node of a [`GradientTree`].
///
/// # Examples
///
/// ```
/// use aucrank::Interrupt;
/// use aucrank::boost::{GradientExtras, GradientNode, GradientParams, fit_gradient_boosting};
/// use aucrank::data::{Columns, Labels};
/// use aucrank::formula::Rule;
///
/// let values: Vec<f64> = (0..40).map(|row| f64::from(row % 2)).collect();
/// let positive: Vec<bool> = values.iter().map(|&value| value > 0.0).collect();
/// let columns = Columns::from_column_major(&values, 40)?;
/// let labels = Labels::new(&positive, None)?;
/// let params = GradientParams { n_rounds: 1, subsample: 1.0, ..GradientParams::default() };
/// let extras = GradientExtras::default();
/// let model =
///     fit_gradient_boosting((&columns, &labels), &params, &extras, &Interrupt::default())?;
/// let [GradientNode::Split { test, right: 2, .. }, leaves @ ..] = model.trees()[0].nodes() else {
///     unreachable!("the first leaf comes before the second")
/// };
/// assert!(matches!(test.left, Rule::Below(0.5) | Rule::AtLeast(0.5)));
/// assert!(leaves.iter().all(|leaf| matches!(leaf, GradientNode::Leaf { weight: 20.0, .. })));
/// # Ok::<(), aucrank::RankError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GradientNode {
    /// A test; the node on its left is the next.
    Split {
        /// The test.
        test: Test,
        /// Place of the node on its right.
        right: usize,
        /// Decrease of the loss of the rows, to second order.
        gain: f64,
    },
    /// A leaf.
    Leaf {
        /// Contribution to the score.
        value: f64,
        /// Weight of its training rows.
        weight: f64,
    },
}

impl GradientTree {
    pub(super) fn new(nodes: Vec<GradientNode>) -> Self {
        Self { nodes }
    }

    /// The nodes: the root first, after a split its left side, then its right side.
    #[must_use]
    pub fn nodes(&self) -> &[GradientNode] {
        &self.nodes
    }

    /// Number of leaves.
    #[must_use]
    pub fn n_leaves(&self) -> usize {
        self.nodes.len() / 2 + 1
    }

    /// The least and the greatest value of a leaf.
    #[must_use]
    pub fn range(&self) -> [f64; 2] {
        self.values().fold([f64::INFINITY, f64::NEG_INFINITY], |[low, high], value| {
            [low.min(value), high.max(value)]
        })
    }

    /// Decrease of the loss of the rows by its splits, to second order.
    #[must_use]
    pub fn gain(&self) -> f64 {
        self.tests().fold(0.0, |sum, (_, gain)| sum + gain)
    }

    /// The same tree with mapped values of its leaves.
    pub(super) fn map_values(mut self, of: impl Fn(f64) -> f64) -> Self {
        for node in &mut self.nodes {
            if let GradientNode::Leaf { value, .. } = node {
                *value = of(*value);
            }
        }
        self
    }

    /// The same tree with other leaves, from left to right: the value of each, and its weight.
    pub(super) fn with_leaves(mut self, leaves: impl IntoIterator<Item = (f64, f64)>) -> Self {
        let of_tree = self.nodes.iter_mut().filter_map(|node| match node {
            GradientNode::Leaf { value, weight } => Some((value, weight)),
            GradientNode::Split { .. } => None,
        });
        for ((value, weight), leaf) in of_tree.zip(leaves) {
            (*value, *weight) = leaf;
        }
        self
    }

    /// Maps the features that it tests.
    pub(super) fn map_features(&mut self, of: impl Fn(usize) -> usize) {
        for node in &mut self.nodes {
            if let GradientNode::Split { test, .. } = node {
                test.feature = of(test.feature);
            }
        }
    }

    /// The values of its leaves, from left to right.
    pub(super) fn values(&self) -> impl Iterator<Item = f64> {
        self.nodes.iter().filter_map(|node| match node {
            GradientNode::Leaf { value, .. } => Some(*value),
            GradientNode::Split { .. } => None,
        })
    }

    /// The largest absolute value of a leaf.
    pub(super) fn largest_value(&self) -> f64 {
        self.values().fold(0.0, |largest, value| largest.max(value.abs()))
    }

    /// Its tests, with their gains.
    pub(super) fn tests(&self) -> impl Iterator<Item = (&Test, f64)> {
        self.nodes.iter().filter_map(|node| match node {
            GradientNode::Split { test, gain, .. } => Some((test, *gain)),
            GradientNode::Leaf { .. } => None,
        })
    }

    /// For each node the weight of its training rows.
    pub(super) fn weights(&self) -> Vec<f64> {
        let mut weights = vec![0.0; self.nodes.len()];
        for (place, node) in self.nodes.iter().enumerate().rev() {
            weights[place] = match node {
                GradientNode::Leaf { weight, .. } => *weight,
                GradientNode::Split { right, .. } => weights[place + 1] + weights[*right],
            };
        }
        weights
    }

    /// The value of the leaf of a row, given whether tests send it left.
    pub(super) fn value(&self, goes_left: impl Fn(&Test) -> bool) -> f64 {
        self.value_by_place(|_, test| goes_left(test))
    }

    /// The same, given the place of each test, too.
    pub(super) fn value_by_place(&self, goes_left: impl Fn(usize, &Test) -> bool) -> f64 {
        let mut place = 0;
        loop {
            match &self.nodes[place] {
                GradientNode::Leaf { value, .. } => return *value,
                GradientNode::Split { test, right, .. } => {
                    place = if goes_left(place, test) { place + 1 } else { *right };
                }
            }
        }
    }

    /// Checks a tree read from a file, given the number of categories of each feature.
    ///
    /// # Errors
    ///
    /// A description of the fault.
    pub(super) fn check(&self, n_levels: &[Option<u32>]) -> Result<(), String> {
        let mut next = vec![0];
        for (place, node) in self.nodes.iter().enumerate() {
            if next.pop() != Some(place) {
                return Err(format!("node {place} is not in its place"));
            }
            match node {
                GradientNode::Split { test, right, gain } => {
                    let suits = n_levels.get(test.feature).is_some_and(|&n| test.suits(n));
                    if !suits {
                        return Err(format!("the question of node {place} suits no feature"));
                    }
                    if !(gain.is_finite() && *gain >= 0.0) {
                        return Err(format!("the gain of node {place} is {gain}"));
                    }
                    next.extend([*right, place + 1]);
                }
                GradientNode::Leaf { value, weight } => {
                    if !(is_snapped(*value) && value.abs() <= LARGEST_SUM) {
                        return Err(format!("{value} is not a value of a leaf"));
                    }
                    if !(*weight > 0.0 && *weight <= 2_f64.powi(60)) {
                        return Err(format!("the weight of node {place} is {weight}"));
                    }
                }
            }
        }
        if next.is_empty() { Ok(()) } else { Err("a node is missing at the end".to_owned()) }
    }
}
