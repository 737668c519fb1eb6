//! Growth: `TreeRank` itself (paper 2 Fig. 2), whatever splits the nodes.
//!
//! - `nodes`: the loop over nodes, with its parameters, and which leaves stay where their number is limited;
//!   `splitter`: the interface to a split rule.

mod nodes;
mod splitter;

pub(super) use nodes::grow;
pub use nodes::{GrowParams, Missing};
pub(super) use splitter::{Division, LeastSplit, OpenNode, SplitFamily, Splitter};
