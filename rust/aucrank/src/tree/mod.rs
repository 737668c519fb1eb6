//! `TreeRank`: ranking trees that approximate the optimal ROC curve (Clémençon and Vayatis, 2009,
//! <https://doi.org/10.1109/TIT.2009.2025558>; Clémençon, Depecker and Vayatis, 2011,
//! <https://hal.science/hal-00416054>, called paper 2 below).
//!
//! The modules, each using only those above it:
//!
//! - `error`: its errors; `model`: the fitted tree;
//! - `grow`: the loop over nodes that all split rules share;
//! - `prune`: choice of a subtree;
//! - `sample`: the rows of a fit, with the data that all its trees share;
//! - `split`: split rules, one a file;
//! - `search`: trees of a few leaves that are searched;
//! - `fit`: from columns to a pruned tree;
//! - `forest`: many trees;
//! - `explain`: dependence of a tree or a forest on features.

mod error;
mod explain;
mod fit;
mod forest;
mod grow;
mod model;
mod prune;
mod sample;
mod search;
mod split;

pub use error::TreeError;
pub use explain::{LeafValue, partial_dependence};
pub(crate) use fit::AskLeaves;
pub(crate) use fit::ReweightedTrees;
pub use fit::{TreeRankModel, TreeRankParams, fit, fit_by_classifiers, fit_validated};
pub use forest::{
    Aggregation, BootstrapParams, EarlyStopping, ForestParams, OutOfBag, RankingForest, fit_forest,
};
pub(crate) use forest::{LeafSums, LeafTile, SumOrder};
pub use grow::{GrowParams, Missing};
pub use model::{Cubes, LeafOrder, Node, NodeSplit, RankingTree, SplitForm, SplitNode};
pub use prune::{
    Complexity, CrossValidation, CvParams, Penalization, PenaltyParams, PenaltyScale, PruningRule,
    PruningStep, Validation, ValidationParams,
};
pub use search::{SearchExtent, SearchParams};
pub use split::{CutCriterion, Cuts, DyadicParams, LeafRankParams, SplitRule};

pub use crate::formula::{Rule, Test};
