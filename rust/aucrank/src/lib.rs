//! Learning to rank by maximising the area under the ROC curve (AUC).
//!
//! The modules of this crate, each using only those above it:
//!
//! - [`data`]: borrowed columns, labels with weights, bins; the only place where raw values become
//!   codes;
//! - [`roc`]: what is optimised: the area under the ROC curve, the curve and its hull;
//! - [`measures`]: figures of scores and probabilities with intervals: areas, calibration, net benefit;
//! - [`rows`]: rows in files or on a cluster: their codes, questions about them, and how answers are
//!   merged;
//! - [`calibration`]: probabilities from scores that only rank;
//! - [`formula`]: the functions of fitted models, as data;
//! - [`external`]: models outside the crate that its models use;
//! - [`tree`]: `TreeRank`, ranking trees that approximate the optimal ROC curve;
//! - [`boost`]: `AUCBoost`, `RankBoost` and branching programs;
//! - [`additive`]: `MAD2C`, `RIMARC`, scorecards and ridge logistic regression;
//! - [`aurora`]: `AURORA`, and `RankOpt`;
//! - [`blend`]: one score from several;
//! - [`imported`]: models of other libraries;
//! - [`model`]: models of every family, scoring with them, and their saved form.
//!
//! Below all of them are errors and interrupts, threads, large allocations, temporary files, and the
//! form of a model that scores fast; above them is the list of all questions to rows.
//!
//! Functions run in the [rayon](https://docs.rs/rayon) pool from which they are called, and give
//! the same bits for any number of threads. On a target without threads, such as
//! `wasm32-unknown-unknown`, models are read and score on the calling one; fits need threads.
//!
//! # Features
//!
//! - `arrow`: record batches of Apache Arrow as the rows of a model, by `model::BatchRows`.
//! - `ndarray`: views of matrices as [`data::Columns`], by `try_from`.

#![cfg_attr(test, allow(clippy::float_cmp, reason = "tests expect exact values"))]

pub mod additive;
pub mod aurora;
pub mod blend;
pub mod boost;
pub mod calibration;
pub mod data;
pub mod external;
pub mod formula;
pub mod imported;
pub mod measures;
pub mod model;
pub mod roc;
pub mod rows;
pub mod tree;

mod error;
mod interrupt;
mod memory;
mod parallel;
mod prepared;
mod questions;
mod spilled;

/// Common imports: rows and labels, models, and the area under the curve.
///
/// Learners are not included, since each program needs its own: see [`tree`], [`boost`],
/// [`additive`], [`aurora`].
///
/// # Examples
///
/// ```
/// use aucrank::boost::{FitExtras, RankBoostParams, fit_rank_boost};
/// use aucrank::prelude::*;
///
/// let columns = Columns::from_column_major(&[1.0, 2.0, 3.0, 4.0], 4)?;
/// let positive = [false, false, true, true];
/// let model = fit_rank_boost(
///     (&columns, &Labels::new(&positive, None)?),
///     &RankBoostParams::default(),
///     &FitExtras::default(),
///     &Interrupt::default(),
/// )?;
/// assert_eq!(auc(&model.score(&columns, None)?, &positive)?, 1.0);
/// # Ok::<(), RankError>(())
/// ```
pub mod prelude {
    pub use crate::data::{Column, Columns, Labels};
    pub use crate::model::Model;
    pub use crate::model::{Document, Feature, Header, TextRows, learn_features};
    pub use crate::roc::{DeLong, RocCurve, RocState, auc};
    pub use crate::{Interrupt, RankError};
}

pub use error::RankError;
pub use interrupt::{FitPart, Interrupt};

/// The programs of the README, as tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
pub struct Readme;

/// Version of this crate, written into saved models.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");
