//! Split rules, one a file.
//!
//! - `stump`: the best stump of a cell, from its histogram; `partition`: the partition-based rule,
//!   which merges cells into two sides (paper 2 Fig. 4);
//! - `leafrank`: a small tree of stumps whose cells are merged (paper 2 Fig. 5); `pruned_leafrank`:
//!   the same, pruned before the merger; `dyadic`: the rule on dyadic cubes; `classifier`: splits by
//!   classifiers from outside (paper 2 Fig. 6).

mod classifier;
mod dyadic;
mod leafrank;
mod partition;
mod pruned_leafrank;
mod stump;

pub(super) use classifier::ClassifierSplitter;
pub use classifier::{RowDecider, RowSplitter};
pub use dyadic::DyadicParams;
pub(super) use dyadic::DyadicSplitter;
pub use leafrank::LeafRankParams;
pub(super) use leafrank::LeafRankSplitter;
pub(super) use pruned_leafrank::PrunedLeafRankSplitter;
pub(super) use stump::{CellMeans, StumpTerms};
