//! The ramp statistic as what is climbed: `AURORA`, a linear score over binary terms, and `RankOpt`,
//! a linear score over raw features.
//!
//! Herschtal, Raskutti and Campbell, "Area under ROC optimisation using a ramp approximation", SIAM
//! International Conference on Data Mining, 2006: "the paper" of this room.
//!
//! - [`Binarizer`]: raw features as binary terms, sec. 2.1;
//! - [`RankOpt`]: a linear score over raw features, sec. 4.3.

mod binarize;
mod rank_opt;
mod term;

pub use binarize::{Binarizer, BinarizerParams, BinaryFeature, Rule};
pub use rank_opt::{PairObjective, RadiusStep, RankOpt, RankOptParams, fit_rank_opt};
pub use term::{BinaryTerm, Literal};
