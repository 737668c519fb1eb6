//! The sum of trees as a formula.

use super::model::GradientBoosted;
use super::tree::{GradientNode, GradientTree};
use crate::formula::{Condition, DecisionTree, Formula, TreeNode};

impl GradientBoosted {
    /// Its score: the base and the trees. Where no tree asks more than two features, those of one are
    /// merged to step functions, and those of two to one tree for each pair if that has no more leaves.
    /// Sums of their values are exact, so that the order does not matter; the base is added last.
    #[must_use]
    pub fn formula(&self) -> Formula {
        let mut terms = self.merged_trees();
        terms.push(Formula::Constant(self.base()));
        Formula::Sum(terms)
    }
}

impl GradientTree {
    /// The tree as an operation of a formula.
    #[must_use]
    pub fn formula(&self) -> DecisionTree {
        let node = |(place, (node, weight)): (usize, (&GradientNode, f64))| match node {
            GradientNode::Leaf { value, .. } => TreeNode::Leaf { weight, value: *value },
            GradientNode::Split { test, right, .. } => TreeNode::Branch {
                weight,
                condition: Condition::Test(test.clone()),
                left: place + 1,
                right: *right,
            },
        };
        let weights = self.weights();
        DecisionTree { nodes: self.nodes().iter().zip(weights).enumerate().map(node).collect() }
    }
}
