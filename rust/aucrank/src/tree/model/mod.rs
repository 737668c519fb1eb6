//! The fitted tree.
//!
//! - `cubes`: splits by dyadic cubes;
//! - `ranking_tree`: nodes, leaves in ranking order, the curve that they draw;
//! - `route`: rows to leaves; `monotone`: scores that only rise or fall with a feature.

mod cubes;
mod formula;
pub(super) mod monotone;
mod ranking_tree;
mod route;

pub use cubes::Cubes;
pub(super) use cubes::{CubeGrid, CubeKeys};
pub(super) use monotone::direction;
pub(super) use ranking_tree::TreeFrame;
pub use ranking_tree::{LeafOrder, Node, NodeSplit, RankingTree, SplitForm, SplitNode};
pub(super) use route::{Router, TILE_ROWS, Target};
