//! A tree as rows of codes walk it.

#[cfg(feature = "serde")]
use serde::{Deserialize, Serialize};

use super::grow::Grown;
use super::partition::Sides;
use super::tree::GradientNode;
use crate::RankError;
use crate::data::{Binned, CodeTest, FeatureBins};

/// A tree of questions to codes.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
pub(crate) struct CodeTree(Vec<CodeNode>);

/// The root first; after a split what lies left of it, then what lies right.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
enum CodeNode {
    Split { test: CodeTest, right: usize },
    Leaf(f64),
}

/// The same tree, ready for codes of given features.
pub(super) struct Walk(Vec<Step>);

#[expect(clippy::large_enum_variant, reason = "a box would be one more look-up at each step")]
enum Step {
    Split(Sides, usize),
    Leaf(f64),
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

    /// Checks a tree from elsewhere, and makes it ready for codes of these features.
    pub(super) fn walk(&self, features: &[FeatureBins]) -> Result<Walk, RankError> {
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

    fn ready(&self, features: &[FeatureBins]) -> Walk {
        let step = |node: &CodeNode| match node {
            CodeNode::Split { test, right } => Step::Split(Sides::new(test, features), *right),
            CodeNode::Leaf(value) => Step::Leaf(*value),
        };
        Walk(self.0.iter().map(step).collect())
    }
}

impl Walk {
    pub(super) fn new(grown: &Grown, features: &[FeatureBins]) -> Self {
        CodeTree::of(grown).ready(features)
    }

    /// The value of the leaf of a row.
    #[inline]
    pub(super) fn value(&self, binned: &Binned, row: u32) -> f64 {
        let mut place = 0;
        loop {
            match &self.0[place] {
                Step::Split(sides, right) => {
                    place = if sides.goes_left(binned, row) { place + 1 } else { *right };
                }
                Step::Leaf(value) => return *value,
            }
        }
    }
}
