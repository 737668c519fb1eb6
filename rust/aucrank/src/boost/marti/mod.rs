//! `MartiRank` and `SMartiRank` (paper 3 sections 4 and 5): rankers at the nodes of a branching
//! program, at which rows go right or left.
//!
//! - `chance`, `start`: probabilities, and the initial mass of rows; `walk`: the nodes they are in;
//! - `marti_boost`: the engine, Basic `MartiBoost` over any two-sided classifiers; `freezing`,
//!   `node_sample`: what `SMartiBoost` adds;
//! - `rank_learner`: weak rankers as such classifiers; `params`, `fit`: parameters and fit;
//! - `program`: the branching program; `score`: its score of a row.

mod chance;
mod fit;
mod formula;
mod freezing;
mod marti_boost;
mod node_sample;
mod params;
mod program;
mod rank_learner;
mod score;
mod start;
mod walk;

pub use chance::Chance;
pub use fit::fit_marti_rank;
pub use freezing::Freezing;
pub use marti_boost::{
    BoostedLayers, Layer, MartiBoostParams, Outcome, RowChance, TwoSidedLearner, marti_boost,
};
pub use params::{MartiParams, ProgramScore, Routing};
pub use program::{BranchingProgram, Node, NodeKind};
pub use walk::MassTile;
