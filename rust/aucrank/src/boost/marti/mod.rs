//! `MartiRank` and `SMartiRank` (paper 3 sections 4 and 5): branching programs that ask a weak
//! ranker at every node, over a row's own walk to the right or left.
//!
//! - `params`: what a fit can be told; `fit`: the two methods;
//! - `program`: the branching program; `score`: what it says of a row.

mod fit;
mod params;
mod program;
mod score;

pub use fit::fit_marti_rank;
pub use params::{MartiParams, ProgramScore, Routing};
pub use program::{BranchingProgram, Node, NodeKind};
