//! A tree for rows of codes.

use serde::{Deserialize, Serialize};

use super::grown::Grown;
use super::sides::Sides;
use super::tree::GradientNode;
use crate::RankError;
use crate::data::{Binned, CodeTest, FeatureBins};

/// A tree of tests of codes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct CodeTree(Vec<CodeNode>);

/// The root first; after a split its left side, then its right side.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
enum CodeNode {
    Split { test: CodeTest, right: usize },
    Leaf(f64),
}

/// The same tree, prepared for codes of given features.
pub(super) struct CodeWalk(Vec<CodeStep>);

#[expect(clippy::large_enum_variant, reason = "a box would be one more look-up at each step")]
enum CodeStep {
    Split(Sides, usize),
    Leaf { number: usize, value: f64 },
}

impl CodeTree {
    pub(super) fn of(grown: &Grown) -> Self {
        let node = |(test, node): (&Option<(CodeTest, usize)>, &GradientNode)| match (test, node) {
            (Some((test, right)), _) => CodeNode::Split { test: test.clone(), right: *right },
            (None, GradientNode::Leaf { value, .. }) => CodeNode::Leaf(*value),
            (None, GradientNode::Split { .. }) => unreachable!("the nodes are those of the tree"),
        };
        Self(grown.tests.iter().zip(grown.tree.nodes()).map(node).collect())
    }

    /// Number of leaves.
    pub(super) fn n_leaves(&self) -> usize {
        self.0.len() / 2 + 1
    }

    /// The same tree with other values of its leaves, from left to right.
    pub(super) fn with_values(&self, values: &[f64]) -> Self {
        let mut values = values.iter();
        let node = |node: &CodeNode| match node {
            CodeNode::Split { .. } => node.clone(),
            CodeNode::Leaf(_) => CodeNode::Leaf(*values.next().expect("a value for each leaf")),
        };
        Self(self.0.iter().map(node).collect())
    }

    /// Checks a received tree, and prepares it for codes of these features.
    pub(super) fn walk(&self, features: &[FeatureBins]) -> Result<CodeWalk, RankError> {
        let bad = |why: &str| Err(RankError::BadAnswer(format!("a tree {why}")));
        if !matches!(self.0.last(), Some(CodeNode::Leaf(_))) {
            return bad("does not end with a leaf");
        }
        for (place, node) in self.0.iter().enumerate() {
            match node {
                CodeNode::Split { test, right } => {
                    if *right <= place || *right >= self.0.len() {
                        return bad("leads nowhere");
                    }
                    if test.feature >= features.len() {
                        return bad("is of other rows");
                    }
                }
                CodeNode::Leaf(value) if !value.is_finite() => return bad("has no value"),
                CodeNode::Leaf(_) => {}
            }
        }
        Ok(self.ready(features))
    }

    /// Prepares it for codes of its own features.
    pub(super) fn ready(&self, features: &[FeatureBins]) -> CodeWalk {
        let mut numbers = 0..;
        let step = |node: &CodeNode| match node {
            CodeNode::Split { test, right } => CodeStep::Split(Sides::new(test, features), *right),
            CodeNode::Leaf(value) => {
                CodeStep::Leaf { number: numbers.next().expect("endless"), value: *value }
            }
        };
        CodeWalk(self.0.iter().map(step).collect())
    }
}

impl CodeWalk {
    /// The value of the leaf of a row.
    #[inline]
    pub(super) fn value(&self, binned: &Binned, row: u32) -> f64 {
        self.leaf(binned, row).1
    }

    /// The number of the leaf of a row, from left to right, and its value.
    #[inline]
    pub(super) fn leaf(&self, binned: &Binned, row: u32) -> (usize, f64) {
        let mut place = 0;
        loop {
            match &self.0[place] {
                CodeStep::Split(sides, right) => {
                    place = if sides.goes_left(binned, row) { place + 1 } else { *right };
                }
                CodeStep::Leaf { number, value } => return (*number, *value),
            }
        }
    }
}
