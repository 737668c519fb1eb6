//! Decision trees.

#[cfg(feature = "serde")]
use serde::Serialize;

use super::{Condition, Opaque};

/// A tree of conditions with a number in each leaf.
///
/// # Examples
///
/// ```
/// use aucrank::formula::{Condition, DecisionTree, Formula, Rule, Test, TreeNode};
///
/// let test = Test { feature: 0, left: Rule::AtLeast(2.0), missing_left: false };
/// let condition = Condition::Test(test);
/// let root = TreeNode::Branch { weight: 5.0, condition, left: 1, right: 2 };
/// let leaf = |weight, value| TreeNode::Leaf { weight, value };
/// let tree = DecisionTree { nodes: vec![root, leaf(2.0, 0.5), leaf(3.0, -0.5)] };
/// let formula = Formula::Tree(tree);
/// assert_eq!((formula.value(&[2.0]), formula.value(&[1.0])), (Ok(0.5), Ok(-0.5)));
/// ```
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(Serialize), serde(transparent))]
pub struct DecisionTree {
    /// The root first, every node before its children.
    pub nodes: Vec<TreeNode>,
}

/// A node of a decision tree.
///
/// # Examples
///
/// ```
/// use aucrank::boost::{GradientExtras, GradientParams, fit_gradient_boosting};
/// use aucrank::data::{Columns, Labels};
/// use aucrank::formula::TreeNode;
///
/// // Forty rows of a feature of two values.
/// let values: Vec<f64> = (0..40).map(|row| f64::from(row % 2)).collect();
/// let positive: Vec<bool> = values.iter().map(|&value| value > 0.0).collect();
/// let columns = Columns::from_column_major(&values, 40)?;
/// let labels = Labels::new(&positive, None)?;
/// let params = GradientParams { n_rounds: 1, subsample: 1.0, ..GradientParams::default() };
/// let extras = GradientExtras::default();
/// let model = fit_gradient_boosting(&columns, &labels, &params, &extras, &Default::default())?;
/// // A branch, and a leaf of twenty rows on either side.
/// let nodes = model.tree(0).nodes;
/// let weights: Vec<f64> = nodes
///     .iter()
///     .map(|node| match node {
///         TreeNode::Branch { weight, .. } | TreeNode::Leaf { weight, .. } => *weight,
///     })
///     .collect();
/// assert_eq!(weights, [40.0, 20.0, 20.0]);
/// # Ok::<(), aucrank::RankError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(Serialize), serde(rename_all = "snake_case"))]
pub enum TreeNode {
    /// A condition that sends a row on.
    Branch {
        /// Weight of the training rows that reached it; 0 if that is not known.
        weight: f64,
        /// Whether a row goes left.
        condition: Condition,
        /// Place of the node on the left.
        left: usize,
        /// Place of the node on the right.
        right: usize,
    },
    /// An end.
    Leaf {
        /// Weight of the training rows that reached it; 0 if that is not known.
        weight: f64,
        /// Its number.
        value: f64,
    },
}

impl DecisionTree {
    /// The number of the leaf of a row.
    pub(super) fn value(&self, row: &[f64]) -> Result<f64, Opaque> {
        let mut place = 0;
        loop {
            match &self.nodes[place] {
                TreeNode::Leaf { value, .. } => return Ok(*value),
                TreeNode::Branch { condition, left, right, .. } => {
                    place = if condition.holds(row)? { *left } else { *right };
                }
            }
        }
    }
}
