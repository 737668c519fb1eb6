//! Boosting the AUC (Long and Servedio, 2007, called paper 3 below), and `RankBoost`.
//!
//! - `error`: the errors of all models of this room;
//! - `two_sided`: a ranking cut into a classifier with equal errors on both classes (paper 3
//!   Lemma 4);
//! - `distribution`: the rows reweighted, class by class, and the unit of their masses;
//! - `weak`: weak rankers, one per file;
//! - `term`: the function that a ranker contributes to a score, and its values on raw data;
//!   `scored`: its values on the rows of a fit; `boosted_model`: a sum of terms, and its
//!   explanation by feature;
//! - `subsampling`, `validation_set`: the rows a round learns from, and the number of rounds kept;
//! - `marti`: branching programs; `gradient`: gradient boosting of trees;
//! - `rounds`: the boosting loop; `auc_boost`, `rank_boost`: the weight of a ranking in each;
//! - `queried_rounds`: rounds on rows that are queried for sums; `part_factors`: the factors of the
//!   rows of a part.

mod auc_boost;
mod boosted_model;
mod distribution;
mod error;
mod gradient;
mod marti;
mod part_factors;
mod queried_rounds;
mod rank_boost;
mod rounds;
mod scored;
mod subsampling;
mod term;
mod two_sided;
mod validation_set;
mod weak;

pub use auc_boost::{AucBoostParams, Output, fit_auc_boost};
pub use boosted_model::BoostedModel;
pub use error::BoostError;
pub(crate) use gradient::{AskBag, AskMass, AskTrial};
pub use gradient::{
    BagFolds, GradientBag, GradientBoosted, GradientExtras, GradientFold, GradientHeldOut,
    GradientHeldOutParams, GradientNode, GradientParams, GradientRefit, GradientTree,
    HeldOutMeasure, HeldOutRows, Interactions, LeafRows, Loss, fit_gradient_boosting,
    fit_gradient_folds,
};
pub(crate) use marti::AskProgram;
pub use marti::{
    BoostedLayers, BranchingProgram, Chance, Freezing, Layer, MartiBoostParams, MartiNode,
    MartiParams, MassTile, NodeKind, Outcome, ProgramScore, Routing, RowChance, TwoSidedLearner,
    fit_marti_rank, marti_boost,
};
pub(crate) use queried_rounds::AskRound;
pub use rank_boost::{Alpha, RankBoostParams, fit_rank_boost};
pub use rounds::{FitExtras, RoundParams};
pub use scored::{RowScorer, ScoredTerm};
pub use term::{Term, TreeTerm};
pub use two_sided::{ThresholdCriterion, TwoSided, two_sided, two_sided_by_scores};
pub use validation_set::{HeldOutParams, HeldOutPath, HeldOutRule};
pub use weak::WeakRankerParams;
pub use weak::linear::LinearRanker;
