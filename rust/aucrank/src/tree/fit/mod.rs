//! From columns to a pruned tree.
//!
//! - `tree_rank`: parameters and fit of a single tree; `grower`: growth and pruning on rows in memory or
//!   elsewhere, also on dyadic cubes;
//! - `with_rates`: rates of rare categories, and trees on rows whose masses change from tree to tree.

mod grower;
mod tree_rank;
mod with_rates;

pub(super) use grower::TreeGrower;
pub use grower::fit_rows;
#[cfg(feature = "serde")]
pub(crate) use tree_rank::AskLeaves;
pub use tree_rank::{TreeRankModel, TreeRankParams, fit, fit_by_classifiers, fit_validated};
pub(crate) use with_rates::ReweightedTrees;
