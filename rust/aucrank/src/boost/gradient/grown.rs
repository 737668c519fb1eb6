//! A grown tree.

use std::ops::Range;

use super::tree::GradientTree;
use crate::data::CodeTest;

/// A grown tree, and the rows of each leaf.
#[derive(Debug)]
pub(super) struct Grown {
    pub(super) tree: GradientTree,
    /// The same tree in codes: for each node the test and the place of its right side.
    pub(super) tests: Vec<Option<(CodeTest, usize)>>,
    /// For each leaf its rows, as a range of the final order of rows in memory, and its value.
    pub(super) leaves: Vec<(Range<usize>, f64)>,
}
