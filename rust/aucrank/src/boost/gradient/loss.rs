//! The losses, and the functions of one score that they are made of.

use serde::{Deserialize, Serialize};

use crate::data::snap;
use crate::roc::TopNegatives;

/// Losses of rows are rounded to multiples of the inverse of this before they are added up.
const LOSS_UNITS: f64 = (1_u64 << 30) as f64;

/// The loss that is minimised; `f` is the score.
///
/// # Examples
///
/// ```
/// use aucrank::Interrupt;
/// use aucrank::boost::{GradientExtras, GradientParams, Loss, fit_gradient_boosting};
/// use aucrank::data::{Columns, Labels};
///
/// let columns = Columns::from_row_major(&[1.0, 2.0, 3.0, 4.0], 1)?;
/// let labels = Labels::new(&[false, true, true, true], None)?;
/// let base = |loss| {
///     let params = GradientParams { loss, ..GradientParams::default() };
///     let extras = GradientExtras::default();
///     fit_gradient_boosting((&columns, &labels), &params, &extras, &Interrupt::default())
///         .map(|model| model.base())
/// };
/// // A score of log-odds sets out from those of all rows; pairs say nothing of a constant.
/// assert!((base(Loss::Log)? - 3_f64.ln()).abs() < 1e-9);
/// assert_eq!(base(Loss::PairLogistic)?, 0.0);
/// # Ok::<(), aucrank::RankError>(())
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Loss {
    /// `ln(1 + exp(-f))` of a positive row, `ln(1 + exp(f))` of a negative one.
    #[default]
    Log,
    /// Logarithm of the mean over pairs of `exp(f(negative) - f(positive))`.
    PairExponential,
    /// Mean over pairs of `ln(1 + exp(f(negative) - f(positive)))`.
    PairLogistic,
}

/// `1 / (1 + exp(-score))`.
#[inline]
pub(super) fn logistic(score: f64) -> f64 {
    1.0 / (1.0 + exp(-score))
}

/// `ln(1 + exp(score))`.
pub(super) fn softplus(score: f64) -> f64 {
    score.max(0.0) + libm::log1p(exp(-score.abs()))
}

impl Loss {
    /// The score of all rows before the first round, given the mass of each class, negatives first.
    pub(super) fn start(self, [neg, pos]: [u64; 2]) -> f64 {
        match self {
            Self::Log => snap(libm::log(pos as f64 / neg as f64)),
            Self::PairExponential | Self::PairLogistic => 0.0,
        }
    }

    /// How much of a mean loss is left. Means of exponentials are known by their logarithm.
    pub(super) fn ratio(self, value: f64, first: f64) -> f64 {
        match self {
            Self::Log | Self::PairLogistic => value / first,
            Self::PairExponential => libm::exp(value - first),
        }
    }

    /// Whether the derivatives of every row fit packed sums.
    pub(super) fn is_bounded(self) -> bool {
        self == Self::Log
    }
}

/// The log loss of a row, rounded to a whole number of units.
pub(super) fn log_loss_units(score: f64, positive: bool) -> u128 {
    (softplus(if positive { -score } else { score }) * LOSS_UNITS).round() as u128
}

/// The mean log loss, given the sum in units and the mass of the rows.
pub(super) fn mean_log_loss([sum, mass]: [u128; 2]) -> f64 {
    sum as f64 / LOSS_UNITS / mass as f64
}

/// The counted mass of all rows, given that of each class, negatives first.
pub(super) fn counted([neg, pos]: [u64; 2], max_fpr: f64) -> f64 {
    share(max_fpr) * neg as f64 + pos as f64
}

/// The share of the mass of the negatives that counts.
pub(super) fn share(max_fpr: f64) -> f64 {
    if max_fpr < 1.0 { TopNegatives::share(max_fpr) } else { 1.0 }
}

/// The largest argument whose exponential is in range, also in its reciprocal.
const MOST: f64 = 708.0;

/// Added to a number, leaves its nearest integer in the low bits.
const ROUNDER: f64 = 6_755_399_441_055_744.0;

/// The logarithm of 2 in two parts, the first with few digits.
const LN_2: [f64; 2] = [6.931_471_803_691_238e-1, 1.908_214_929_270_587_7e-10];

/// Reciprocals of factorials, from 12! down.
const TAYLOR: [f64; 13] = [
    1.0 / 479_001_600.0,
    1.0 / 39_916_800.0,
    1.0 / 3_628_800.0,
    1.0 / 362_880.0,
    1.0 / 40_320.0,
    1.0 / 5_040.0,
    1.0 / 720.0,
    1.0 / 120.0,
    1.0 / 24.0,
    1.0 / 6.0,
    0.5,
    1.0,
    1.0,
];

/// `exp(number)` to a relative error of 4e-16, with numbers clipped to -708 to 708. Without a
/// branch or a table, so that loops are vectorised, and with additions and products only, so that
/// it is the same on every platform. Half the time of `libm::exp`.
#[inline]
pub(super) fn exp(number: f64) -> f64 {
    let number = number.clamp(-MOST, MOST);
    // exp(number) = 2^power exp(rest), |rest| <= ln(2) / 2.
    let rounded = number * std::f64::consts::LOG2_E + ROUNDER;
    let power = rounded - ROUNDER;
    let rest = (number - power * LN_2[0]) - power * LN_2[1];
    let sum = TAYLOR.iter().fold(0.0, |sum, coefficient| sum * rest + coefficient);
    // The low bits of `rounded` are the power, in two's complement. With the bias added they are
    // moved to the exponent; the other bits fall out.
    sum * f64::from_bits(rounded.to_bits().wrapping_add(1023) << 52)
}

#[cfg(test)]
mod tests_of_exponential {
    use super::*;

    #[test]
    fn it_is_the_exponential() {
        for step in -70_800..=70_800 {
            let number = f64::from(step) * 0.01;
            assert!((exp(number) / libm::exp(number) - 1.0).abs() < 4e-16, "{number}");
        }
        assert_eq!((exp(0.0), exp(-1e9), exp(1e9)), (1.0, exp(-708.0), exp(708.0)));
    }
}
