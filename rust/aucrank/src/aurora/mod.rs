//! Maximisation of the ramp statistic: `AURORA`, a linear score over binary terms, and `RankOpt`, a
//! linear score over raw features.
//!
//! Herschtal, Raskutti and Campbell, "Area under ROC optimisation using a ramp approximation", SIAM
//! International Conference on Data Mining, 2006: "the paper" in this module.
//!
//! - [`Binarizer`]: raw features as binary terms, sec. 2.1; [`fit_threshold_binarizer`]: these
//!   alone, as features for any model;
//! - [`fit_aurora`]: terms selected one by one, each followed by an ascent on the sphere, sec. 3;
//! - [`RankOpt`]: a linear score over raw features, sec. 4.3.

mod ascent;
mod binarize;
mod binary_feature;
mod circle;
mod fit;
mod known_values;
mod model;
mod observations;
mod packed;
mod params;
mod ramp;
mod rank_opt;
mod search;
mod select;
mod threshold_binarizer;
mod trial;

pub use binarize::{Binarizer, BinarizerParams, FeatureType};
pub use binary_feature::{BinaryFeature, BinaryRule, BinaryTerm, Literal, TermTest};
pub use fit::fit_aurora;
pub use model::{Aurora, PathStep, TriedRadius};
pub use params::{AuroraParams, Radius, SearchDepth, Selection, SelectionCriterion};
pub use ramp::Statistics;
pub use rank_opt::{PairObjective, RadiusStep, RankOpt, RankOptParams, fit_rank_opt};
pub use threshold_binarizer::{CountedTerm, ThresholdBinarizer, fit_threshold_binarizer};
