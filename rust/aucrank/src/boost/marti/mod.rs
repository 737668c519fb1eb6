//! `MartiRank` and `SMartiRank` (paper 3 sections 4 and 5): rankers at the nodes of a branching
//! program, at which rows go right or left.
//!
//! From the bottom up, each using those above it:
//!
//! - `params`; `chance`, `places`, `outcome`, `start`: probabilities and the masses that they split,
//!   the numbers of nodes, what happens at one, and the masses of rows at the root;
//! - `freezing`, `sample_ring`: the additions of `SMartiBoost`, frozen nodes and samples of a node;
//! - `walk`: the nodes of rows, layer by layer, with the loop of Basic `MartiBoost`; `learner`:
//!   learners of two-sided classifiers: features chosen and cut by sums, or weak rankers; `step`: a
//!   pass over the rows in memory; `marti_boost`: boosting of any learner there;
//! - `program`: the branching program, and its score of a row; `program_rows`: what a program asks
//!   of rows;
//! - `in_memory`, `elsewhere`: rows that answer; `ask`: questions to rows elsewhere, and the answers
//!   of a part; `fit`: the fit.

mod ask;
mod chance;
mod elsewhere;
mod fit;
mod freezing;
mod in_memory;
mod learner;
mod marti_boost;
mod outcome;
mod params;
mod places;
mod program;
mod program_fit;
mod program_rows;
mod sample_ring;
mod start;
mod step;
mod walk;

pub(crate) use ask::AskProgram;
pub use chance::Chance;
pub use fit::fit_marti_rank;
pub use freezing::Freezing;
pub use learner::{RowChance, TwoSidedLearner};
pub use marti_boost::{BoostedLayers, MartiBoostParams, marti_boost};
pub use outcome::Outcome;
pub use params::{MartiParams, ProgramScore, Routing};
pub use program::{BranchingProgram, MartiNode, NodeKind};
pub use walk::{Layer, MassTile};
