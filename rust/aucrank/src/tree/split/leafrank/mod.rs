//! A split by a small tree of stumps whose cells are merged into two sides (paper 2 Fig. 5), or by a
//! single stump.
//!
//! - `params`: what the rule is told; `prepared`: the rule once there are rows; `rule`: what a fit asks
//!   of both;
//! - `growing`: the tree of stumps of a node; `draw`: its stumps on features that are drawn; `merge`: its
//!   parts, merged into two sides;
//! - `splitter`: the trees of many nodes at once; `pruned`: the same, pruned before the merger.

mod draw;
mod growing;
mod merge;
mod params;
mod prepared;
mod pruned;
mod rule;
mod splitter;

pub use params::{Cuts, LeafRankParams};
pub(in crate::tree) use splitter::LeafRankSplitter;
