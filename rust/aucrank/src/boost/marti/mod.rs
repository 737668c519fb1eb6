//! `MartiRank` and `SMartiRank` (paper 3 sections 4 and 5): rankers at the nodes of a branching
//! program, at which rows go right or left.
//!
//! - `walk`: the nodes of rows, layer by layer, with the loop of Basic `MartiBoost`; `learner`:
//!   learners of two-sided classifiers: features chosen and cut by sums, or weak rankers;
//! - `marti_boost`: boosting of any learner in memory; `step`: its pass over the rows, with the
//!   additions of `SMartiBoost`: frozen nodes and samples of a node;
//! - `fit`: parameters and fit; `in_memory`, `elsewhere`: the sources of rows, and their initial
//!   masses; `ask`: questions to rows elsewhere, and the answers of a part;
//! - `program`: the branching program, and its score of a row.

mod ask;
mod elsewhere;
mod fit;
mod in_memory;
mod learner;
mod marti_boost;
mod program;
mod step;
mod walk;

pub(crate) use ask::ProgramAsk;
pub use elsewhere::fit_marti_rank_rows;
pub use fit::{MartiParams, ProgramScore, Routing, fit_marti_rank};
pub use learner::{Outcome, RowChance, TwoSidedLearner};
pub use marti_boost::{BoostedLayers, MartiBoostParams, marti_boost};
pub use program::{BranchingProgram, MartiNode, NodeKind};
pub use step::{Chance, Freezing};
pub use walk::{Layer, MassTile};
