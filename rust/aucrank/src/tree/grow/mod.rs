//! Growth: `TreeRank` itself (paper 2 Fig. 2), whatever splits the nodes.
//!
//! - `nodes`: the loop over nodes; `splitter`: what it asks of a split rule.

mod nodes;
mod splitter;

pub(super) use nodes::grow;
pub use nodes::{GrowParams, Missing};
pub(super) use splitter::{Division, Family, OpenNode, Splitter};
