//! `TreeRank`: ranking trees that approximate the optimal ROC curve (Clémençon and Vayatis, 2009,
//! <https://doi.org/10.1109/TIT.2009.2025558>; Clémençon, Depecker and Vayatis, 2011,
//! <https://hal.science/hal-00416054>, called paper 2 below).
//!
//! - `split`: the best stump of a cell, from its histogram;
//! - `partition`: the partition-based rule, which merges cells into two sides (paper 2 Fig. 4);
//! - `leafrank`: a small tree of stumps whose cells are merged (paper 2 Fig. 5); `pruned_leafrank`: the
//!   same, pruned before the merger; `dyadic`: the rule on dyadic cubes, which `cubes` numbers;
//! - `grow`: the loop over nodes that all split rules share (paper 2 Fig. 2); `splitter`: what it asks
//!   of a rule;
//! - `classifier_split`: splits by classifiers from outside (paper 2 Fig. 6);
//! - `ranking_tree`: the model; `route`: rows to leaves; `prune`: its subtrees (paper 2 sec. 4);
//! - `forest`: many trees, `forest_fit`: their growth on samples drawn by `bootstrap`; `votes`,
//!   `consensus`: how they make one score, `calibration`: what it says of the probability; `scorer`: the
//!   trees in the form in which they score fast; `saved_forest`: the form in which they are saved;
//! - `monotone`: scores that only rise or fall with a feature; `ranking`: the AUC of changing leaves;
//! - `reweighted`: trees on rows whose masses change from tree to tree;
//! - `dependence`: partial dependence of the score on features (paper 2 sec. 5.2); `leaf_value`: what
//!   a leaf may stand for there;
//! - `best_subtrees`: the best ones of every size;
//! - `cross_validate`, `penalize`, `validate`: which subtree to keep; `fit`: all of it, from columns to
//!   a pruned tree.

mod best_subtrees;
mod bootstrap;
mod calibration;
mod classifier_split;
mod consensus;
mod cross_validate;
mod cubes;
mod dependence;
mod dyadic;
mod fit;
mod forest;
mod forest_fit;
mod formula;
mod grow;
mod leaf_value;
mod leafrank;
mod monotone;
mod partition;
mod penalize;
mod prune;
mod pruned_leafrank;
mod ranking;
mod ranking_tree;
mod reweighted;
mod route;
mod saved_forest;
mod scorer;
mod split;
mod splitter;
mod test;
mod validate;
mod votes;

pub use bootstrap::BootstrapParams;
pub use classifier_split::{RowDecider, RowSplitter};
pub use cross_validate::{CrossValidation, CvParams};
pub use cubes::Cubes;
pub use dependence::partial_dependence;
pub use dyadic::DyadicParams;
pub use fit::{PruningRule, SplitRule, TreeRankModel, TreeRankParams, fit, fit_by_classifiers};
pub use forest::{Aggregation, OutOfBag, RankingForest};
pub use forest_fit::{EarlyStopping, ForestParams, fit_forest};
pub use grow::{GrowParams, Missing};
pub use leaf_value::LeafValue;
pub use leafrank::LeafRankParams;
pub use penalize::{Complexity, Penalization, PenaltyParams, PenaltyScale};
pub use prune::PruningStep;
pub use ranking_tree::{LeafOrder, Node, NodeSplit, RankingTree, SplitForm, SplitNode};
pub(crate) use reweighted::ReweightedTrees;
pub(crate) use scorer::LeafSums;
pub use test::{Rule, Test};
pub use validate::{Validation, ValidationParams, fit_validated};
