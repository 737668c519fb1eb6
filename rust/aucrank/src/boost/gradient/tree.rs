//! A tree with a value in each leaf.

use std::ops::Range;

#[cfg(feature = "serde")]
use serde::{Deserialize, Serialize};

use super::code_tree::CodeColumns;
use super::histogram::Sides;
use super::rows::FitRows;
use super::sums::{PackedSums, UnitSums};
use crate::data::{LARGEST_SUM, is_snapped};
use crate::formula::Test;

/// A binary tree of questions to single features with a number in each leaf.
///
/// # Examples
///
/// ```
/// use aucrank::Interrupt;
/// use aucrank::boost::{GradientExtras, GradientParams, fit_gradient_boosting};
/// use aucrank::data::{Columns, Labels};
///
/// let values: Vec<f64> = (0..40).map(|row| f64::from(row % 2)).collect();
/// let positive: Vec<bool> = values.iter().map(|&value| value > 0.0).collect();
/// let columns = Columns::from_column_major(&values, 40)?;
/// let labels = Labels::new(&positive, None)?;
/// let params = GradientParams { n_rounds: 1, ..GradientParams::default() };
/// let extras = GradientExtras::default();
/// let model = fit_gradient_boosting(&columns, &labels, &params, &extras, &Interrupt::default())?;
/// let tree = &model.trees()[0];
/// assert_eq!((tree.n_leaves(), tree.nodes().len()), (2, 3));
/// let [low, high] = tree.range();
/// assert!(low < 0.0 && high > 0.0 && tree.gain() > 0.0);
/// # Ok::<(), aucrank::RankError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize), serde(transparent))]
pub struct GradientTree {
    /// The root first; after a split what lies left of it, then what lies right.
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
/// let model = fit_gradient_boosting(&columns, &labels, &params, &extras, &Interrupt::default())?;
/// let [GradientNode::Split { test, right: 2, .. }, leaves @ ..] = model.trees()[0].nodes() else {
///     unreachable!("the first leaf comes before the second")
/// };
/// assert!(matches!(test.left, Rule::Below(0.5) | Rule::AtLeast(0.5)));
/// assert!(leaves.iter().all(|leaf| matches!(leaf, GradientNode::Leaf { weight: 20.0, .. })));
/// # Ok::<(), aucrank::RankError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize), serde(rename_all = "snake_case"))]
pub enum GradientNode {
    /// A question; the node on its left is the next.
    Split {
        /// The question.
        test: Test,
        /// Place of the node on its right.
        right: usize,
        /// By how much it lowered the loss of the rows, to second order.
        gain: f64,
    },
    /// A leaf.
    Leaf {
        /// What it adds to the score.
        value: f64,
        /// Weight of the rows that it was learned from.
        weight: f64,
    },
}

impl GradientTree {
    pub(super) fn new(nodes: Vec<GradientNode>) -> Self {
        Self { nodes }
    }

    /// The nodes: the root first, after a split what lies left of it, then what lies right.
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

    /// By how much its splits lowered the loss of the rows, to second order.
    #[must_use]
    pub fn gain(&self) -> f64 {
        self.tests().fold(0.0, |sum, (_, gain)| sum + gain)
    }

    /// The same tree with other values of its leaves.
    pub(super) fn map_values(mut self, of: impl Fn(f64) -> f64) -> Self {
        for node in &mut self.nodes {
            if let GradientNode::Leaf { value, .. } = node {
                *value = of(*value);
            }
        }
        self
    }

    /// Changes the features that it tests.
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

    /// Its questions.
    pub(super) fn tests(&self) -> impl Iterator<Item = (&Test, f64)> {
        self.nodes.iter().filter_map(|node| match node {
            GradientNode::Split { test, gain, .. } => Some((test, *gain)),
            GradientNode::Leaf { .. } => None,
        })
    }

    /// For each node the weight of the rows that it was learned from.
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

    /// The value of the leaf of a row, given whether questions send it left.
    pub(super) fn value(&self, goes_left: impl Fn(&Test) -> bool) -> f64 {
        self.value_by_place(|_, test| goes_left(test))
    }

    /// The same, given the place of each question, too.
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
    /// What is wrong, in words.
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
                        return Err(format!("{value} is no value of a leaf"));
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

/// Gradient and hessian of each row, times its mass.
#[derive(Debug)]
pub(super) enum Derivatives<P, S> {
    /// Of rows of mass 1, where both fit one word.
    Packed(P),
    Plain(S),
}

/// Derivatives of all rows of a tree.
type OfTree = Derivatives<Vec<PackedSums>, Vec<UnitSums>>;

/// Derivatives of the rows of a node.
pub(super) type OfNode<'a> = Derivatives<&'a [PackedSums], &'a [UnitSums]>;

/// The rows that a tree is grown on; those of a node are neighbours, and ascend.
#[derive(Debug)]
pub(super) struct TreeRows {
    pub(super) rows: Vec<u32>,
    pub(super) derivatives: OfTree,
    /// As long as the rows, for those on the right of a split.
    other_rows: Vec<u32>,
    others: OfTree,
}

/// The rows of a node.
#[derive(Debug)]
pub(super) struct NodeRows<'a> {
    pub(super) rows: &'a [u32],
    pub(super) derivatives: OfNode<'a>,
}

impl TreeRows {
    /// No rows yet.
    pub(super) fn new(are_packed: bool) -> Self {
        let derivatives = || {
            if are_packed { OfTree::Packed(Vec::new()) } else { OfTree::Plain(Vec::new()) }
        };
        Self {
            rows: Vec::new(),
            derivatives: derivatives(),
            other_rows: Vec::new(),
            others: derivatives(),
        }
    }

    /// Makes place for the derivatives of the rows, and for parting them.
    pub(super) fn resize(&mut self) {
        let n_rows = self.rows.len();
        self.other_rows.resize(n_rows, 0);
        for derivatives in [&mut self.derivatives, &mut self.others] {
            match derivatives {
                Derivatives::Packed(packed) => packed.resize(n_rows, PackedSums::default()),
                Derivatives::Plain(plain) => plain.resize(n_rows, UnitSums::default()),
            }
        }
    }

    pub(super) fn are_packed(&self) -> bool {
        matches!(self.derivatives, Derivatives::Packed(_))
    }

    pub(super) fn of(&self, range: Range<usize>) -> NodeRows<'_> {
        let derivatives = match &self.derivatives {
            Derivatives::Packed(packed) => OfNode::Packed(&packed[range.clone()]),
            Derivatives::Plain(plain) => OfNode::Plain(&plain[range.clone()]),
        };
        NodeRows { rows: &self.rows[range], derivatives }
    }

    /// Moves the rows of a node that go left to the front; both sides keep their order. Returns the
    /// number of rows on the left, and what they count as.
    pub(super) fn part(
        &mut self,
        range: Range<usize>,
        sides: &Sides,
        data: &FitRows<'_>,
        columns: &CodeColumns,
    ) -> (usize, u64) {
        let rows = (&mut self.rows[range.clone()], &mut self.other_rows[range.clone()]);
        let n_left = match (&mut self.derivatives, &mut self.others) {
            (Derivatives::Packed(packed), Derivatives::Packed(others)) => sides.part(
                data,
                columns,
                rows,
                (&mut packed[range.clone()], &mut others[range.clone()]),
            ),
            (Derivatives::Plain(plain), Derivatives::Plain(others)) => sides.part(
                data,
                columns,
                rows,
                (&mut plain[range.clone()], &mut others[range.clone()]),
            ),
            _ => unreachable!("both are of one kind"),
        };
        (n_left, data.count_all(&self.rows[range.start..range.start + n_left]))
    }

    /// Brings the two sides of a node together again.
    pub(super) fn merge(&mut self, range: Range<usize>, n_left: usize) {
        let rows = &mut self.rows[range.clone()];
        let left = &mut self.other_rows[..n_left];
        left.copy_from_slice(&rows[..n_left]);
        match (&mut self.derivatives, &mut self.others) {
            (Derivatives::Packed(packed), Derivatives::Packed(others)) => {
                merge(rows, left, &mut packed[range], &mut others[..n_left]);
            }
            (Derivatives::Plain(plain), Derivatives::Plain(others)) => {
                merge(rows, left, &mut plain[range], &mut others[..n_left]);
            }
            _ => unreachable!("both are of one kind"),
        }
    }
}

/// Merges ascending rows: those in `left` with those in `rows` behind so many places.
fn merge<D: Copy>(rows: &mut [u32], left: &[u32], derivatives: &mut [D], of_left: &mut [D]) {
    of_left.copy_from_slice(&derivatives[..left.len()]);
    let (mut next_left, mut next_right) = (0, left.len());
    for place in 0..rows.len() {
        if next_left == left.len() {
            break;
        }
        // What is read lies at or behind the place that is written.
        if next_right < rows.len() && rows[next_right] < left[next_left] {
            (rows[place], derivatives[place]) = (rows[next_right], derivatives[next_right]);
            next_right += 1;
        } else {
            (rows[place], derivatives[place]) = (left[next_left], of_left[next_left]);
            next_left += 1;
        }
    }
}

impl NodeRows<'_> {
    pub(super) fn len(&self) -> usize {
        self.rows.len()
    }
}

#[cfg(test)]
mod tests_of_tree_rows {
    use super::*;

    #[test]
    fn merging_is_sorting_by_row() {
        let sides = [vec![0, 3, 4, 9], vec![1, 2, 5, 6, 7, 8]];
        for (left, right) in [(0, 1), (1, 0)] {
            let mut tree = TreeRows::new(true);
            tree.rows = [vec![77], sides[left].clone(), sides[right].clone()].concat();
            tree.resize();
            let word =
                |row: u32| PackedSums::from(UnitSums { gradient: i64::from(row), hessian: 1 });
            tree.derivatives =
                Derivatives::Packed(tree.rows.iter().map(|&row| word(row)).collect());
            tree.merge(1..11, sides[left].len());
            assert_eq!(tree.rows[1..], [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
            let NodeRows { rows, derivatives: OfNode::Packed(words) } = tree.of(0..11) else {
                panic!("packed")
            };
            assert!(rows.iter().zip(words).all(|(&row, &found)| found == word(row)));
        }
    }
}
