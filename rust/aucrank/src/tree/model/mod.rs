//! The fitted tree.
//!
//! - `cube_grid`, `cubes`: dyadic cubes; `split_form`: the tests of splits, and scores that only rise or fall
//!   with a feature;
//! - `node`, `ranking_tree`: the model, and its validation when it is loaded; `leaves`: scores and curve of
//!   the leaves;
//! - `route`: rows to leaves, `by_classifiers`: where external classifiers split.

mod by_classifiers;
mod cube_grid;
mod cubes;
mod leaves;
mod node;
mod ranking_tree;
mod route;
pub(super) mod split_form;

pub(super) use cube_grid::{CubeGrid, CubeKeys, NO_CUBE};
pub use cubes::Cubes;
pub use node::{Node, NodeSplit};
pub(super) use ranking_tree::TreeFrame;
pub use ranking_tree::{LeafOrder, RankingTree};
pub(super) use route::{RouteTarget, Router, TILE_ROWS};
pub use split_form::{SplitForm, SplitNode};
