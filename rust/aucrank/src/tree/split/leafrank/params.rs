//! What the rule is told.

use serde::{Deserialize, Serialize};

use crate::data::ClassSums;
use crate::tree::prune::CvParams;

/// Size of the tree of stumps inside a split. Depth 1 is a single stump: the orthogonal split.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LeafRankParams {
    /// Stumps between the cell and its parts; at least 1.
    pub max_depth: usize,
    /// Most parts; stumps are then placed where they gain most, the left-most of equal ones first
    /// (DECISIONS T10). At least 2.
    pub max_leaves: Option<usize>,
    /// Rows that a part needs to be cut again.
    pub min_samples_split: u64,
    /// Rows that each part keeps.
    pub min_samples_leaf: u64,
    /// Features that are drawn for each stump, or all of them. Where none of those drawn gains, as
    /// many others are, until one does. At least 1.
    pub max_features: Option<usize>,
    /// Which thresholds of a number are tried.
    #[serde(default)]
    pub cuts: Cuts,
    /// How the tree of stumps is pruned before its parts are merged, if at all (paper 2 sec. 6.3 iv).
    /// The seed is joined to that of the fit.
    #[serde(default)]
    pub pruning: Option<CvParams>,
}

impl LeafRankParams {
    /// A single stump.
    #[must_use]
    pub fn orthogonal(min_samples_leaf: u64) -> Self {
        Self {
            max_depth: 1,
            max_leaves: None,
            min_samples_split: 2,
            min_samples_leaf,
            max_features: None,
            cuts: Cuts::Best,
            pruning: None,
        }
    }
}

/// Which thresholds of a number are tried for a stump.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Cuts {
    /// All: the best is taken.
    #[default]
    Best,
    /// One, drawn from the bins between the lowest and the highest value of the cell, as in
    /// extremely randomised trees. Sets of categories are the best ones all the same.
    Random,
}

impl LeafRankParams {
    /// Whether a part of a node may be cut again.
    pub(super) fn is_large(&self, sums: ClassSums) -> bool {
        sums.rows >= self.min_samples_split.max(2 * self.min_samples_leaf) && sums.is_mixed()
    }
}
