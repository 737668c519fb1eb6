//! Rankers that add up one step function for each feature, and what they are made of: bins.
//!
//! - [`fit_mad2c`]: bins of a feature that reach the largest AUC (MAD2C);
//! - [`fit_rimarc`]: the mean of their positive rates, weighted by how well each feature ranks
//!   (RIMARC);
//! - [`build_scorecard`]: whole points for the bins of any sum of step functions.
//!
//! Güvenir and Kurtcephe, "Ranking instances by maximizing the area under ROC curve", IEEE
//! Transactions on Knowledge and Data Engineering 25(10), 2013: "the paper" of this room.

mod bins;
mod cells;
mod draft;
mod drift;
mod formula;
mod hull;
mod log_odds;
mod mad2c;
mod points;
mod rimarc;
mod scorecard;

pub use bins::{BinnedFeature, Direction};
pub use drift::DriftCounts;
pub use mad2c::{Mad2c, Mad2cParams, fit_mad2c};
pub use points::{ScorecardParams, build_scorecard};
pub use rimarc::{MissingValues, Rimarc, RimarcParams, Share, fit_rimarc};
pub use scorecard::{CardFeature, HighPoints, Scorecard};
