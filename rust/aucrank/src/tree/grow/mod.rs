//! Growth: `TreeRank` itself (paper 2 Fig. 2), whatever splits the nodes.
//!
//! - `params`: what it is told; `nodes`: the loop over nodes; `splitter`: what it asks of a split rule;
//!   `best_first`: which leaves stay where their number is limited.

mod best_first;
mod nodes;
mod params;
mod splitter;

pub(super) use nodes::grow;
pub use params::{GrowParams, Missing};
pub(super) use splitter::{Division, Family, LeastSplit, OpenNode, Splitter};
