//! `MartiRank` and `SMartiRank` (paper 3 sections 4 and 5): rankers at the nodes of a branching
//! program, at which rows go right or left.
//!
//! - `chance`, `start`: probabilities, and the initial mass of rows; `walk`, `tile`: the nodes they
//!   are in;
//! - `learner`, `layer`: what learns two-sided classifiers, and what it learns from;
//! - `layers`: the loop of Basic `MartiBoost`; `marti_boost`: over any of them in memory; `step`: its
//!   pass over the rows; `freezing`, `node_sample`: what `SMartiBoost` adds;
//! - `cutter`: features chosen and cut by sums; `rank_learner`: weak rankers as such classifiers;
//! - `params`, `fit`: parameters and fit; `in_memory`, `elsewhere`: where the rows are; `ask`,
//!   `coded`, `part_rows`: what rows elsewhere are asked, and how a part of them answers;
//! - `program`: the branching program; `score`: its score of a row.

mod ask;
mod chance;
mod coded;
mod cutter;
mod elsewhere;
mod fit;
mod formula;
mod freezing;
mod in_memory;
mod layer;
mod layers;
mod learner;
mod marti_boost;
mod node_sample;
mod noise_guess;
mod params;
mod part_rows;
mod program;
mod rank_learner;
mod score;
mod start;
mod step;
mod tile;
mod walk;

#[cfg(feature = "serde")]
pub(crate) use ask::ProgramAsk;
pub use chance::Chance;
pub use elsewhere::fit_marti_rank_rows;
pub use fit::fit_marti_rank;
pub use freezing::Freezing;
pub use layer::Layer;
pub use learner::{Outcome, RowChance, TwoSidedLearner};
pub use marti_boost::{BoostedLayers, MartiBoostParams, marti_boost};
pub use params::{MartiParams, ProgramScore, Routing};
pub use program::{BranchingProgram, Node, NodeKind};
pub use tile::MassTile;
