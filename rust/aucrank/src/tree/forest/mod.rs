//! Many trees (paper 2 secs. 7 and 8).
//!
//! - `ranking_forest`: the model and its probabilities; `votes`: the combination of the trees to
//!   one score;
//! - `bit_trees`: sums of trees of few leaves on many rows; `scorer`: trees and rows in the form in
//!   which they score fast;
//! - `saved`: the form in which a forest is saved;
//! - `params`: its parameters; `fit`: the growth on samples drawn by `bootstrap`; `judged`: scores
//!   of out-of-bag rows, which choose parameters by the trees of a `trial`.

mod bit_trees;
mod bootstrap;
mod fit;
mod judged;
mod params;
mod ranking_forest;
mod saved;
mod scorer;
mod trial;
mod votes;

pub use bootstrap::BootstrapParams;
pub use fit::fit_forest;
pub use params::{EarlyStopping, ForestParams};
pub use ranking_forest::{Aggregation, OutOfBag, RankingForest};
pub(crate) use votes::{LeafSums, LeafTile, SumOrder};
