//! Many trees (paper 2 secs. 7 and 8).
//!
//! - `ranking_forest`: the model; `votes`, `consensus`: how the trees make one score; `probability_steps`: the
//!   probabilities;
//! - `scorer`: trees in the form in which they score fast; `row_codes`: rows in the form that it needs;
//! - `saved`: the form in which a forest is saved;
//! - `params`: its parameters; `fit`: the growth on samples drawn by `bootstrap`; `judged`: scores of rows
//!   out of bag, by which parameters are chosen.

mod bootstrap;
mod consensus;
mod fit;
mod judged;
mod params;
mod probability_steps;
mod ranking_forest;
mod rate_columns;
mod row_codes;
#[cfg(feature = "serde")]
mod saved;
mod scorer;
mod votes;

pub use bootstrap::BootstrapParams;
pub use fit::fit_forest;
pub use params::{EarlyStopping, ForestParams};
pub use ranking_forest::{Aggregation, OutOfBag, RankingForest};
pub(crate) use votes::{LeafSums, LeafTile};
