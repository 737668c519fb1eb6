//! From columns to a pruned tree.
//!
//! - `tree_rank`: a single tree; `reweighted`: trees on rows whose masses change from tree to tree.

mod reweighted;
mod tree_rank;

pub(crate) use reweighted::ReweightedTrees;
pub(super) use tree_rank::Sample;
pub use tree_rank::{
    PruningRule, SplitRule, TreeRankModel, TreeRankParams, fit, fit_by_classifiers,
};
