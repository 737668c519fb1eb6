//! How informative the categories of a pair of features are beyond the scores of a model: one Newton
//! step by them on the training rows, measured on the held-out rows.

use super::loss::logistic;

/// Number of rows that shrinks the Newton step of a pair of categories.
const PAIR_SHRINKAGE: f64 = 10.0;

/// Fixed-point units for sums over rows, so that the order of the rows does not matter.
const UNITS: f64 = (1_u64 << 32) as f64;

/// Sums over the training rows of a pair of categories.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct StepSums {
    pub(super) gradient: i128,
    pub(super) hessian: i128,
}

impl StepSums {
    /// Adds a row of some mass with a score.
    pub(super) fn add(&mut self, score: f64, positive: bool, mass: u64) {
        let rate = logistic(score);
        let residual = f64::from(u8::from(positive)) - rate;
        self.gradient += in_units(residual, mass);
        self.hessian += in_units(rate * (1.0 - rate), mass);
    }

    pub(super) fn merge(&mut self, more: Self) {
        self.gradient += more.gradient;
        self.hessian += more.hessian;
    }
}

/// The Newton step of each pair of categories, given the number of training rows.
pub(super) fn newton_steps(sums: &[StepSums], n_rows: u64) -> Vec<f64> {
    let all: i128 = sums.iter().map(|sums| sums.hessian).sum();
    let added = PAIR_SHRINKAGE * all as f64 / n_rows as f64;
    sums.iter().map(|sums| sums.gradient as f64 / (sums.hessian as f64 + added)).collect()
}

/// Decrease of the loss of held-out rows by the step, to first order, and its variance.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct MeritSums {
    pub(super) gain: i128,
    pub(super) variance: i128,
}

impl MeritSums {
    /// Adds a row of some mass with a score, whose pair of categories has a step.
    pub(super) fn add(&mut self, score: f64, positive: bool, mass: u64, step: f64) {
        let rate = logistic(score);
        self.gain += in_units((f64::from(u8::from(positive)) - rate) * step, mass);
        self.variance += in_units(rate * (1.0 - rate) * step * step, mass);
    }

    pub(super) fn merge(&mut self, more: Self) {
        self.gain += more.gain;
        self.variance += more.variance;
    }

    /// The decrease in standard deviations.
    pub(super) fn merit(self) -> f64 {
        if self.variance == 0 { 0.0 } else { self.gain as f64 / (self.variance as f64).sqrt() }
    }
}

/// A number of a row in units, times the count of the row.
fn in_units(value: f64, mass: u64) -> i128 {
    (value * UNITS).round() as i128 * i128::from(mass)
}
