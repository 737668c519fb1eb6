//! The fitted tree.
//!
//! - `cube_grid`, `cubes`: dyadic cubes; `split_form`: what sends rows
//!   left or right;
//! - `node`, `frame`, `ranking_tree`: the model; `leaves`: what its leaves say; `check`: what is asked
//!   of a tree from a file;
//! - `route`: rows to leaves, `by_classifiers`: where external classifiers split;
//! - `monotone`: scores that only rise or fall with a feature.

mod by_classifiers;
mod check;
mod cube_grid;
mod cubes;
mod formula;
mod frame;
mod leaves;
pub(super) mod monotone;
mod node;
mod ranking_tree;
mod route;
mod split_form;

pub(super) use cube_grid::{CubeGrid, CubeKeys, NO_CUBE};
pub use cubes::Cubes;
pub use frame::LeafOrder;
pub(super) use frame::TreeFrame;
pub use node::{Node, NodeSplit};
pub use ranking_tree::RankingTree;
pub(super) use route::{Router, TILE_ROWS, Target};
pub use split_form::{SplitForm, SplitNode};
