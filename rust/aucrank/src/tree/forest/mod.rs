//! Many trees (paper 2 secs. 7 and 8).
//!
//! - `ranking_forest`: the model; `fit`: its growth on samples drawn by `bootstrap`;
//! - `votes`, `consensus`: how the trees make one score; `calibration`: what it says of the
//!   probability;
//! - `scorer`: the trees in the form in which they score fast; `saved`: the form in which they are
//!   saved.

mod bootstrap;
mod calibration;
mod consensus;
mod fit;
mod formula;
mod ranking_forest;
mod saved;
mod scorer;
mod votes;

pub use bootstrap::BootstrapParams;
pub use fit::{EarlyStopping, ForestParams, fit_forest};
pub use ranking_forest::{Aggregation, OutOfBag, RankingForest};
pub(crate) use scorer::LeafSums;
