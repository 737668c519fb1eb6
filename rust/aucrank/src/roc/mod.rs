//! The objective: the area under the ROC curve, the curve and its hull.
//!
//! Scores are `f32` or `f64`, ties count one half, and weights are counts of repeated rows, except
//! in variances, where weight k is evidence of k rows only as set by [`Weighting`]. Sums of weights
//! are integer multiples of a unit of their class, as wide as needed: results are exact up to one
//! division, and identical for any number of threads and any order of the rows. Only weighted
//! variances depend, by rounding, on the order of the rows.
//!
//! - [`auc`], [`weighted_auc`]: the area, without the curve;
//! - [`DeLong`], [`Bootstrap`]: the uncertainty of the area; [`PartialAreas`]: of a part of it;
//! - [`RocCurve`]: the knots, their hull, partial areas, interpolation, distances;
//! - [`RocState`]: all of these for rows that come in batches;
//! - [`largest_gap`], [`CutOffCriterion`]: the cut of a score into two classes;
//! - [`Ramp`]: a differentiable AUC and its gradient; [`RampClimber`]: the same, evaluated
//!   repeatedly on the same rows.

mod auc;
mod blocks;
mod bootstrap;
mod buckets;
mod chunks;
mod climber;
mod compare;
mod curve;
mod cut_off;
mod delong;
mod descend;
mod hull;
mod log_odds;
mod mass;
mod order;
mod pairs;
mod partial;
mod partial_spread;
mod precision_recall;
mod ramp;
mod ramp_sums;
mod ranking;
mod record;
mod sample;
mod score;
mod sink;
mod smooth;
mod sort;
mod state;

pub use auc::{auc, weighted_auc};
pub use bootstrap::Bootstrap;
pub use chunks::PARALLEL_FROM;
pub use climber::RampClimber;
pub use compare::Norm;
pub use curve::{Knots, Rates, RocCurve};
pub(crate) use cut_off::curve_of;
pub use cut_off::{CutOffCriterion, largest_gap};
pub use delong::{DeLong, hanley_mcneil_variance, placements};
pub(crate) use log_odds::Line;
pub(crate) use partial::{TopNegatives, auc_up_to, check_max_fpr};
pub use partial_spread::{PartialAreas, Weighting};
pub use precision_recall::PrecisionRecall;
pub use ramp::{Ramp, RampGradient, by_coefficient};
pub use score::Score;
pub(crate) use smooth::smoothed;
pub use state::RocState;
