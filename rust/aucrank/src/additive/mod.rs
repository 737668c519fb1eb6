//! Rankers that are a sum of functions of single features, and the bins they are built from.
//!
//! - [`fit_mad2c`]: bins of a feature that reach the largest AUC (MAD2C);
//! - [`fit_rimarc`]: the mean of their positive rates, weighted by the AUC of each feature
//!   (RIMARC);
//! - [`build_scorecard`]: integer points for the bins of any sum of step functions;
//! - [`fit_integer_score`]: a few features with few lines, whose points are searched together, and
//!   [`fit_integer_scores`], those of all numbers of features;
//! - [`RawRows`], [`CardRows`]: rows for these fits that are read in passes;
//! - [`fit_linear`]: ridge logistic regression on numbers, their thresholds and categories, and on
//!   pairs of features where these tell more than chance.
//!
//! Güvenir and Kurtcephe, "Ranking instances by maximizing the area under ROC curve", IEEE
//! Transactions on Knowledge and Data Engineering 25(10), 2013: "the paper" in this module.

mod bins;
mod cut_search;
mod draft;
mod hull;
mod integer;
mod linear;
mod mad2c;
mod point_counts;
mod points;
mod rimarc;
mod scorecard;

pub use bins::{BinSum, BinnedFeature, Direction};
pub use cut_search::{RawAsk, RawRows, RawSums};
pub use integer::{IntegerScoreParams, fit_integer_score, fit_integer_scores};
pub use linear::{
    Arithmetic, ArithmeticTerm, JointTerm, LinearModel, LinearParams, NumberTerm, Thresholds,
    fit_linear,
};
pub use mad2c::{Mad2c, Mad2cParams, fit_mad2c};
pub use point_counts::{DriftCounts, PointCounts};
pub use points::{CardRows, RankedRows, ScorecardParams, build_scorecard};
pub use rimarc::{MissingValues, Rimarc, RimarcParams, Share, fit_rimarc};
pub use scorecard::{CardFeature, HighPoints, Scorecard};
