//! `TreeRank`: ranking trees that approximate the optimal ROC curve (Clémençon and Vayatis, 2009,
//! <https://doi.org/10.1109/TIT.2009.2025558>; Clémençon, Depecker and Vayatis, 2011,
//! <https://hal.science/hal-00416054>, called paper 2 below).
//!
//! - `split`: the best stump of a cell, from its histogram;
//! - `partition`: the partition-based rule, which merges cells into two sides (paper 2 Fig. 4);
//! - `leafrank`: a small tree of stumps whose cells are merged (paper 2 Fig. 5);
//! - `grow`: the loop over nodes that all split rules share (paper 2 Fig. 2); `splitter`: what it asks
//!   of a rule;
//! - `classifier_split`: splits by classifiers from outside (paper 2 Fig. 6);
//! - `ranking_tree`: the model; `route`: rows to leaves; `prune`: its subtrees (paper 2 sec. 4);
//! - `cross_validate`: which subtree to keep; `fit`: all of it, from columns to a pruned tree.

mod classifier_split;
mod cross_validate;
mod fit;
mod grow;
mod leafrank;
mod partition;
mod prune;
mod ranking_tree;
mod route;
mod split;
mod splitter;
mod test;

pub use classifier_split::{RowDecider, RowSplitter};
pub use cross_validate::{CrossValidation, CvParams};
pub use fit::{FitParams, PruningRule, SplitRule, TreeRankModel, fit, fit_by_classifiers};
pub use grow::GrowParams;
pub use leafrank::LeafRankParams;
pub use prune::PruningStep;
pub use ranking_tree::{LeafOrder, Node, NodeSplit, RankingTree, SplitForm, SplitNode};
pub use test::{Rule, Test};
