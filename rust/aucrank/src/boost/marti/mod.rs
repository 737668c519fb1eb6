//! `MartiRank` and `SMartiRank` (paper 3 sections 4 and 5): rankers at the nodes of a branching
//! program, at which rows go right or left.
//!
//! - `chance`, `start`: probabilities, and the initial mass of rows; `walk`, `tile`: the nodes they
//!   are in;
//! - `learner`, `layer`: what learns two-sided classifiers, and what it learns from;
//! - `marti_boost`: the engine, Basic `MartiBoost` over any of them; `step`: its pass over the rows;
//!   `freezing`, `node_sample`: what `SMartiBoost` adds;
//! - `rank_learner`: weak rankers as such classifiers; `params`, `fit`: parameters and fit;
//! - `program`: the branching program; `score`: its score of a row.

mod chance;
mod fit;
mod formula;
mod freezing;
mod layer;
mod learner;
mod marti_boost;
mod node_sample;
mod noise_guess;
mod params;
mod program;
mod rank_learner;
mod score;
mod start;
mod step;
mod tile;
mod walk;

pub use chance::Chance;
pub use fit::fit_marti_rank;
pub use freezing::Freezing;
pub use layer::Layer;
pub use learner::{Outcome, RowChance, TwoSidedLearner};
pub use marti_boost::{BoostedLayers, MartiBoostParams, marti_boost};
pub use params::{MartiParams, ProgramScore, Routing};
pub use program::{BranchingProgram, Node, NodeKind};
pub use tile::MassTile;
