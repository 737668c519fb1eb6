//! The losses of rows, and their derivatives at the score of a row.
//!
//! Losses over pairs are means over all pairs of a positive and a negative row, times half of the
//! counted mass of all rows, so that their derivatives are on the scale of those of log loss; both
//! classes have equal weight, however rare one is. The pairs are never enumerated: the exponential
//! of a difference is a product of one factor for each row, and logistic sums over pairs are
//! computed on a grid ([`PairGrid`]).

use super::fit_rows::{CHUNK_ROWS, FitRows};
use super::loss::{Loss, counted, exp, log_loss_units, logistic, mean_log_loss, share};
use super::pair_grid::PairGrid;
use crate::parallel;
use crate::roc::TopNegatives;

/// Exponentials are rounded to multiples of the inverse of this before they are added up.
const FACTOR_UNITS: f64 = (1_u64 << 40) as f64;

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

impl Loss {
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

/// The score of a row in the direction of mistakes: unchanged for a negative row, negated for a
/// positive one.
fn outward(score: f64, class: usize) -> f64 {
    if class == 1 { -score } else { score }
}

/// The part by which a row counts.
#[inline]
fn part(top: Option<TopNegatives>, score: f64, class: usize) -> f64 {
    top.filter(|_| class == 0).map_or(1.0, |top| top.part(score))
}
