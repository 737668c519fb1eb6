//! What is reported of scores and probabilities: the figures of a validation, with intervals.
//!
//! - [`auc_interval`], [`compare_aucs`]: the area under the ROC curve, and the difference of two;
//! - [`calibration()`]: whether probabilities are right;
//! - [`decision_curve`]: whether decisions by them do more good than harm.
//!
//! Rows count once each. The Python package computes the same figures in `aucrank.metrics`, also
//! for weights and groups of rows.

mod area;
mod calibration;
mod decision;
mod regression;
mod student;

pub use area::{AucComparison, AucInterval, IntervalMethod, auc_interval, compare_aucs};
pub use calibration::{CalibrationMeasures, Estimate, IsotonicStep, SmoothPoint, calibration};
pub use decision::{NetBenefit, decision_curve};

use crate::RankError;

/// Checks the level of an interval.
fn check_confidence(confidence: f64) -> Result<(), RankError> {
    if confidence > 0.0 && confidence < 1.0 {
        return Ok(());
    }
    let (value, rule) = (confidence.to_string(), "between 0 and 1");
    Err(RankError::BadParameter { name: "confidence", value, rule })
}

/// Checks that there is a probability for each row, and rows of both classes; counts them, negative
/// rows first.
fn check_probabilities(probabilities: &[f64], positive: &[bool]) -> Result<[usize; 2], RankError> {
    let (found, expected) = (probabilities.len(), positive.len());
    if found != expected {
        return Err(RankError::LengthMismatch { name: "probabilities", found, expected });
    }
    let is_wrong = |p: &f64| !(0.0..=1.0).contains(p);
    if let Some(row) = probabilities.iter().position(is_wrong) {
        let value = format!("{} in row {row}", probabilities[row]);
        return Err(RankError::BadParameter { name: "probabilities", value, rule: "from 0 to 1" });
    }
    let n_pos = positive.iter().filter(|&&positive| positive).count();
    let n_neg = expected - n_pos;
    if n_pos == 0 || n_neg == 0 {
        return Err(RankError::OneClass { n_pos, n_neg });
    }
    Ok([n_neg, n_pos])
}
