//! Decision trees.

use serde::Serialize;

use super::{Condition, Opaque};

/// A tree of conditions with a number in each leaf.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(transparent)]
pub struct DecisionTree {
    /// The root first, every node before its children.
    pub nodes: Vec<TreeNode>,
}

/// A node of a decision tree.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
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
