//! Decision trees, and branching programs in layers.

use serde::Serialize;

use super::{Condition, Formula, Opaque};

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
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(transparent)]
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
/// let model = fit_gradient_boosting((&columns, &labels), &params, &extras, &Default::default())?;
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
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum TreeNode {
    /// A condition that sends a row to one of two nodes.
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
    /// A leaf.
    Leaf {
        /// Weight of the training rows that reached it; 0 if that is not known.
        weight: f64,
        /// Its value.
        value: f64,
    },
}

impl DecisionTree {
    /// The value of the leaf that a row reaches.
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

/// Binary digits of a share.
const CHANCE_BITS: u32 = 31;

/// A branching program: a row starts with a mass at node 0 of the first layer. Every node sends a
/// share of its mass to the node at the same place in the next layer, and the rest to the one
/// after. Masses are whole numbers, so the sum does not depend on the order of the nodes.
///
/// # Examples
///
/// ```
/// use aucrank::formula::{Formula, Program, ProgramNode};
///
/// // A quarter of the mass goes on to the node after, whose end is worth 1.
/// let split = ProgramNode::Split(Formula::Constant(0.25));
/// let ends = vec![ProgramNode::End(0), ProgramNode::End(1)];
/// let program = Program { row_bits: 10, layers: vec![vec![split], ends] };
/// assert_eq!(Formula::Program(program).value(&[]), Ok(0.25));
/// ```
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Program {
    /// The mass of a row at the start is 2 to this power.
    pub row_bits: u32,
    /// Layer `t` has nodes 0 to `t`; those of the last are all ends.
    pub layers: Vec<Vec<ProgramNode>>,
}

/// A node of a branching program.
///
/// # Examples
///
/// ```
/// use aucrank::formula::{Condition, Formula, Program, ProgramNode, Rule, Test};
///
/// // Rows from 2 on go to the node after, all others stay at the place of theirs.
/// let test = Test { feature: 0, left: Rule::AtLeast(2.0), missing_left: false };
/// let share = Formula::Indicator { condition: Condition::Test(test), value: 1.0 };
/// let ends = vec![ProgramNode::End(3), ProgramNode::End(5)];
/// let layers = vec![vec![ProgramNode::Split(share)], ends];
/// let formula = Formula::Program(Program { row_bits: 10, layers });
/// assert_eq!((formula.value(&[1.0]), formula.value(&[2.0])), (Ok(3.0), Ok(5.0)));
/// ```
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ProgramNode {
    /// The share of the mass that goes on to the node after, from 0 to 1. It is rounded to a
    /// multiple of 2^-31, and its product with the mass to a whole number, halves up.
    Split(Formula),
    /// An end with this value.
    End(u32),
}

impl Program {
    /// The mean value of the ends, weighted by the mass that reaches them.
    pub(super) fn value(&self, row: &[f64]) -> Result<f64, Opaque> {
        let one = 1_u64 << CHANCE_BITS;
        let mut masses = vec![1_u64 << self.row_bits];
        let mut sum = 0;
        for layer in &self.layers {
            let mut next = vec![0; masses.len() + 1];
            for (place, (node, mass)) in layer.iter().zip(masses).enumerate() {
                match node {
                    ProgramNode::End(worth) => sum += mass * u64::from(*worth),
                    ProgramNode::Split(share) => {
                        let share = (share.value(row)? * one as f64).round() as u64;
                        let right = (mass * share + one / 2) / one;
                        next[place] += mass - right;
                        next[place + 1] += right;
                    }
                }
            }
            masses = next;
        }
        Ok(sum as f64 / (1_u64 << self.row_bits) as f64)
    }
}
