//! The losses, and their derivatives at the score of a row.
//!
//! Losses over pairs are means over all pairs of a positive and a negative row, times half of the
//! counted mass of all rows, so that their derivatives are on the scale of those of log loss; both
//! classes have equal weight, however rare one is. The pairs are never enumerated: the exponential
//! of a difference is a product of one factor for each row, and logistic sums over pairs are
//! computed on a grid ([`PairGrid`]).

use serde::{Deserialize, Serialize};

use super::fit_rows::{CHUNK_ROWS, FitRows};
use super::pair_table::PairGrid;
use crate::data::snap;
use crate::parallel;
use crate::roc::TopNegatives;

/// Exponentials are rounded to multiples of the inverse of this before they are added up.
const FACTOR_UNITS: f64 = (1_u64 << 40) as f64;

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
///     fit_gradient_boosting(&columns, &labels, &params, &extras, &Interrupt::default())
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

/// The loss at the scores of some rows, prepared for its derivatives at each row.
pub(super) enum LossAt {
    Log,
    Exponential {
        /// For each class, negatives first, the score of the greatest exponential, and the factor
        /// of the exponentials relative to it.
        factors: [(f64, f64); 2],
        /// The negatives that count in full; `None` for all.
        top: Option<TopNegatives>,
    },
    Logistic(PairGrid),
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

    /// Whether the derivatives of every row fit packed sums.
    pub(super) fn is_bounded(self) -> bool {
        self == Self::Log
    }

    /// With `max_fpr` below 1, negatives count in pairs by [`TopNegatives`].
    pub(super) fn at(self, scores: &[f64], rows: &FitRows<'_>, max_fpr: f64) -> LossAt {
        match self {
            Self::Log => LossAt::Log,
            Self::PairExponential => {
                let mass = |&row: &u32| (scores[row as usize], rows.mass(row as usize));
                let top = (max_fpr < 1.0).then(|| {
                    let is_negative = |row: &&u32| !rows.positive()[**row as usize];
                    let negatives = rows.training().iter().filter(is_negative);
                    TopNegatives::of(negatives.map(mass).collect(), max_fpr)
                });
                LossAt::Exponential { factors: class_factors(scores, rows, max_fpr, top), top }
            }
            Self::PairLogistic => LossAt::Logistic(PairGrid::new(scores, rows, max_fpr)),
        }
    }

    /// The loss of some rows with integer masses, per unit of mass; for pairs, per counted pair.
    pub(super) fn value(
        self,
        scores: &[f64],
        positive: &[bool],
        masses: Option<&[u64]>,
        max_fpr: f64,
    ) -> f64 {
        let rows =
            || {
                let mass = |row: usize| masses.map_or(1, |masses| masses[row]);
                scores.iter().zip(positive).enumerate().map(move |(row, (&score, &positive))| {
                    (score, usize::from(positive), mass(row))
                })
            };
        let mut totals = [0_u128; 2];
        rows().for_each(|(_, class, mass)| totals[class] += u128::from(mass));
        match self {
            Self::Log => {
                let of_row = |(score, class, mass): (f64, usize, u64)| {
                    log_loss_units(score, class == 1) * u128::from(mass)
                };
                mean_log_loss([rows().map(of_row).sum(), totals[0] + totals[1]])
            }
            Self::PairExponential => {
                let mut best = [f64::NEG_INFINITY; 2];
                for (score, class, _) in rows() {
                    best[class] = best[class].max(outward(score, class));
                }
                let top = (max_fpr < 1.0).then(|| {
                    let negatives = rows().filter(|&(_, class, _)| class == 0);
                    let weighted = negatives.map(|(score, _, mass)| (score, mass));
                    TopNegatives::of(weighted.collect(), max_fpr)
                });
                let mut sums = [0_u128; 2];
                for (score, class, mass) in rows() {
                    let factor = exp(outward(score, class) - best[class]) * part(top, score, class);
                    sums[class] += (factor * FACTOR_UNITS).round() as u128 * u128::from(mass);
                }
                let log_mean = |class: usize, share: f64| {
                    let mass = share * totals[class] as f64;
                    best[class] + libm::log(sums[class] as f64 / FACTOR_UNITS / mass)
                };
                log_mean(0, share(max_fpr)) + log_mean(1, 1.0)
            }
            Self::PairLogistic => PairGrid::mean_loss(rows(), max_fpr),
        }
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

/// The score of a row in the direction of mistakes: unchanged for a negative row, negated for a
/// positive one.
fn outward(score: f64, class: usize) -> f64 {
    if class == 1 { -score } else { score }
}

/// The counted mass of all rows, given that of each class, negatives first.
pub(super) fn counted([neg, pos]: [u64; 2], max_fpr: f64) -> f64 {
    share(max_fpr) * neg as f64 + pos as f64
}

/// The share of the mass of the negatives that counts.
pub(super) fn share(max_fpr: f64) -> f64 {
    if max_fpr < 1.0 { TopNegatives::share(max_fpr) } else { 1.0 }
}

/// The part by which a row counts.
#[inline]
fn part(top: Option<TopNegatives>, score: f64, class: usize) -> f64 {
    top.filter(|_| class == 0).map_or(1.0, |top| top.part(score))
}

impl LossAt {
    /// The derivatives of some rows, for a mass of 1.
    pub(super) fn fill(&self, scores: &[f64], positive: &[bool], out: &mut [(f64, f64)]) {
        if let Self::Log = self {
            // In two loops, the first of them vectorised.
            out.iter_mut().zip(scores).for_each(|(out, &score)| out.0 = logistic(score));
            for (out, &positive) in out.iter_mut().zip(positive) {
                let rate = out.0;
                *out = (rate - f64::from(u8::from(positive)), rate * (1.0 - rate));
            }
            return;
        }
        for ((out, &score), &positive) in out.iter_mut().zip(scores).zip(positive) {
            *out = self.derivatives(score, positive);
        }
    }

    /// First and second derivative by the score of a row, for a mass of 1.
    #[inline]
    pub(super) fn derivatives(&self, score: f64, positive: bool) -> (f64, f64) {
        match self {
            Self::Log => {
                let rate = logistic(score);
                (rate - f64::from(u8::from(positive)), rate * (1.0 - rate))
            }
            Self::Exponential { factors, top } => {
                let class = usize::from(positive);
                let (best, factor) = factors[class];
                let weight = factor * exp(outward(score, class) - best) * part(*top, score, class);
                (if positive { -weight } else { weight }, weight)
            }
            Self::Logistic(grid) => grid.derivatives(score, positive),
        }
    }
}

/// The factors of [`LossAt::Exponential`].
fn class_factors(
    scores: &[f64],
    rows: &FitRows<'_>,
    max_fpr: f64,
    top: Option<TopNegatives>,
) -> [(f64, f64); 2] {
    let chunks = || rows.training().chunks(CHUNK_ROWS).collect::<Vec<_>>();
    let best = parallel::map(chunks(), |chunk: &[u32]| {
        let mut best = [f64::NEG_INFINITY; 2];
        for row in chunk.iter().map(|&row| row as usize) {
            let class = usize::from(rows.positive()[row]);
            best[class] = best[class].max(outward(scores[row], class));
        }
        best
    });
    let best =
        best.into_iter().fold([f64::NEG_INFINITY; 2], |a, b| [a[0].max(b[0]), a[1].max(b[1])]);
    let sums = parallel::map(chunks(), |chunk: &[u32]| {
        let mut sums = [0_u128; 2];
        for row in chunk.iter().map(|&row| row as usize) {
            let class = usize::from(rows.positive()[row]);
            let factor =
                exp(outward(scores[row], class) - best[class]) * part(top, scores[row], class);
            sums[class] += (factor * FACTOR_UNITS).round() as u128 * u128::from(rows.mass(row));
        }
        sums
    });
    let half = 0.5 * counted(rows.class_masses(), max_fpr);
    [0, 1].map(|class| {
        let sum: u128 = sums.iter().map(|sums| sums[class]).sum();
        (best[class], half / (sum as f64 / FACTOR_UNITS))
    })
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
