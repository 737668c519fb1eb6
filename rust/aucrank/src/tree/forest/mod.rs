//! Many trees (paper 2 secs. 7 and 8).
//!
//! - `ranking_forest`: the model; `votes`, `consensus`: how the trees make one score; `probability_steps`: what
//!   it says of the probability;
//! - `scorer`: trees in the form in which they score fast, `row_codes`: rows as it asks them;
//!   `leaf_sums`, `score`: what it is used for;
//! - `saved`: the form in which a forest is saved;
//! - `params`: what a fit is told, `fit`: the growth on samples drawn by `bootstrap`, `judged`: what trees
//!   say of rows that they have not seen, `choices`: among which trees these choose.

mod bootstrap;
mod choices;
mod consensus;
mod fit;
mod formula;
mod judged;
mod leaf_sums;
mod params;
mod probability_steps;
mod ranking_forest;
mod rate_columns;
mod row_codes;
#[cfg(feature = "serde")]
mod saved;
mod score;
mod scorer;
mod votes;

pub use bootstrap::BootstrapParams;
pub use fit::fit_forest;
pub(crate) use leaf_sums::{LeafSums, LeafTile};
pub use params::{EarlyStopping, ForestParams};
pub use ranking_forest::{Aggregation, OutOfBag, RankingForest};
