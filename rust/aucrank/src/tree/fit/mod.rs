//! From columns to a pruned tree.
//!
//! - `params`: what a fit is told; `grower`: a sample with its split rule;
//! - `cube_level`: the side of dyadic cubes chosen by the data;
//! - `growth`: a tree and its pruning, wherever the rows are: `in_memory`, there also `with_rates` of rare
//!   categories, or `elsewhere`;
//! - `tree_rank_model`, `tree_rank`: a single tree; `reweighted`: trees on rows whose masses change
//!   from tree to tree.

mod cube_level;
mod elsewhere;
mod grower;
mod growth;
mod in_memory;
mod leaf_question;
mod params;
mod reweighted;
mod tree_rank;
mod tree_rank_model;
mod with_rates;

pub use elsewhere::fit_rows;
pub(super) use grower::Grower;
#[cfg(feature = "serde")]
pub(crate) use leaf_question::AskLeaves;
pub use params::TreeRankParams;
pub(crate) use reweighted::ReweightedTrees;
pub use tree_rank::{fit, fit_by_classifiers, fit_validated};
pub use tree_rank_model::TreeRankModel;
