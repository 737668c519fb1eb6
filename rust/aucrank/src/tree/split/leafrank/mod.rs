//! A split by a small tree of stumps whose cells are merged into two sides (paper 2 Fig. 5), or by a
//! single stump.
//!
//! - `rule`: the rule and its parameters;
//! - `growing`: the tree of stumps of a node, on features that are drawn, and its parts merged into two
//!   sides;
//! - `splitter`: the trees of many nodes at once, also pruned before the merger.

mod growing;
mod rule;
mod splitter;

pub use rule::{Cuts, LeafRankParams};
pub(in crate::tree) use splitter::LeafRankSplitter;
