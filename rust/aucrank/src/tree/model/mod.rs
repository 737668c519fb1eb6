//! The fitted tree.
//!
//! - `cubes`: dyadic cubes; `split_form`: the tests of splits, and scores that only rise or fall
//!   with a feature;
//! - `node`, `ranking_tree`: the model, its validation when it is loaded, scores and curve of its
//!   leaves;
//! - `route`: rows to leaves.

mod cubes;
mod node;
mod ranking_tree;
mod route;
pub(super) mod split_form;

pub use cubes::Cubes;
pub(super) use cubes::{CubeGrid, CubeKeys, NO_CUBE};
pub use node::{Node, NodeSplit};
pub(super) use ranking_tree::TreeFrame;
pub use ranking_tree::{LeafOrder, RankingTree};
pub(super) use route::{RouteTarget, Router, TILE_ROWS};
pub use split_form::{SplitForm, SplitNode};
