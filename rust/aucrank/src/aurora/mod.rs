//! The ramp statistic as what is climbed: `AURORA`, a linear score over binary terms, and `RankOpt`,
//! a linear score over raw features.
//!
//! Herschtal, Raskutti and Campbell, "Area under ROC optimisation using a ramp approximation", SIAM
//! International Conference on Data Mining, 2006: "the paper" of this room.
//!
//! - [`Binarizer`]: raw features as binary terms, sec. 2.1; [`fit_threshold_binarizer`]: these alone,
//!   as features for any model;

mod binarize;
mod term;
mod threshold_binarizer;

pub use binarize::{Binarizer, BinarizerParams, BinaryFeature, FeatureType, Rule};
pub use term::{BinaryTerm, Literal};
pub use threshold_binarizer::{CountedTerm, TermTest, ThresholdBinarizer, fit_threshold_binarizer};
