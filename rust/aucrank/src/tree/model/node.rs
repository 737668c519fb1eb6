//! A node of a ranking tree, and its split as it is saved.

use serde::{Deserialize, Serialize};

use super::cubes::Cubes;
use super::split_form::{SplitForm, SplitNode};
use crate::data::ClassSums;
use crate::formula::Test;

/// How a node is split.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "SavedSplit")]
pub struct NodeSplit {
    /// What sends a row left or right.
    #[serde(flatten)]
    pub form: SplitForm,
    // Of four bytes each: there are many nodes in a forest.
    left: u32,
    right: u32,
}

impl NodeSplit {
    /// A split whose sides lead to the nodes `left` and `right`, of which a tree has fewer than 2^32.
    #[must_use]
    pub fn new(form: SplitForm, left: usize, right: usize) -> Self {
        debug_assert!(u32::try_from(left.max(right)).is_ok());
        Self { form, left: left as u32, right: right as u32 }
    }

    /// Node of the side that ranks higher.
    #[inline]
    #[must_use]
    pub fn left(&self) -> usize {
        self.left as usize
    }

    /// Node of the side that ranks lower.
    #[inline]
    #[must_use]
    pub fn right(&self) -> usize {
        self.right as usize
    }

    pub(super) fn set_left(&mut self, node: usize) {
        self.left = node as u32;
    }

    pub(in crate::tree) fn set_right(&mut self, node: usize) {
        self.right = node as u32;
    }
}

/// A split as it is saved. A flattened form would be read by way of a copy that takes many times the
/// memory of the text; so would a flattened frame.
#[derive(Deserialize)]
struct SavedSplit {
    stump: Option<Test>,
    cuts: Option<Vec<SplitNode>>,
    cubes: Option<Cubes>,
    classifier: Option<SavedClassifier>,
    left: u32,
    right: u32,
}

/// [`SplitForm::Classifier`] as it is saved.
#[derive(Deserialize)]
struct SavedClassifier {
    number: usize,
    positive_left: bool,
}

impl TryFrom<SavedSplit> for NodeSplit {
    type Error = &'static str;

    fn try_from(saved: SavedSplit) -> Result<Self, Self::Error> {
        let SavedSplit { stump, cuts, cubes, classifier, left, right } = saved;
        let form = match (stump, cuts, cubes, classifier) {
            (Some(test), None, None, None) => SplitForm::Stump(test),
            (None, Some(cuts), None, None) => SplitForm::Cuts(cuts),
            (None, None, Some(cubes), None) => SplitForm::Cubes(cubes),
            (None, None, None, Some(SavedClassifier { number, positive_left })) => {
                SplitForm::Classifier { number, positive_left }
            }
            _ => return Err("a split is not of one form"),
        };
        Ok(Self { form, left, right })
    }
}

/// A node of the ranking tree; a leaf has no split.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Node {
    /// Class sums of the training rows in the node.
    pub sums: ClassSums,
    /// How it is split.
    pub split: Option<NodeSplit>,
}
