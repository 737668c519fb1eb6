//! Split rules, one a file.
//!
//! - `split_rule`: the list of rules, and what each does for a fit;
//! - `stump`: the best stump of a cell, from its histogram; `partition`: the partition-based rule,
//!   which merges cells into two sides (paper 2 Fig. 4); `criterion`: the criteria of cuts;
//! - `leafrank`: a small tree of stumps whose cells are merged (paper 2 Fig. 5), or a single stump;
//!   `dyadic`: the rule on dyadic cubes; `classifier`: splits by external classifiers (paper 2 Fig. 6).

mod classifier;
mod criterion;
mod dyadic;
mod leafrank;
mod partition;
mod split_rule;
mod stump;

pub use criterion::CutCriterion;
pub use dyadic::DyadicParams;
pub(super) use leafrank::LeafRankSplitter;
pub use leafrank::{Cuts, LeafRankParams};
pub(super) use split_rule::AnyPrepared;
pub use split_rule::SplitRule;
pub(super) use stump::StumpTerms;
