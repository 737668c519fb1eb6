//! `MartiRank` and `SMartiRank` (paper 3 sections 4 and 5): rankers at the nodes of a branching
//! program, among which rows walk to the right or left.
//!
//! - `chance`, `start`: coins, and the mass with which rows set out; `walk`: where they are;
//! - `marti_boost`: the engine, Basic `MartiBoost` over any two-sided classifiers; `freezing`,
//!   `node_sample`: what `SMartiBoost` adds;
//! - `rank_learner`: weak rankers as such classifiers; `params`, `fit`: what a fit can be told, and
//!   does;
//! - `program`: the branching program; `score`: what it says of a row.

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
