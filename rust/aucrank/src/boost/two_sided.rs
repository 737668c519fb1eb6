//! A ranking cut into a classifier that is as good on one class as on the other (paper 3 Lemma 4).

use std::cmp::Ordering;

use serde::{Deserialize, Serialize};

use crate::RankError;
use crate::data::ClassMasses;

/// What the threshold is chosen by (DECISIONS B3).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Criterion {
    /// The least sum of both error rates, as the proof has it.
    #[default]
    Sum,
    /// The least error that both classes end with.
    Error,
}

/// The randomised classifier of Lemma 4 over a ranking of groups, by its expectation (DECISIONS B4).
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct TwoSided {
    /// Groups below the threshold.
    pub n_low: usize,
    /// Chance that a row below the threshold is called positive.
    pub low: f64,
    /// Chance that a row from the threshold on is called positive.
    pub high: f64,
    /// The chance of a coin flip, the paper's zeta: on the low side if `high` is 1, else on the high side.
    pub zeta: f64,
    /// Share of the positives below the threshold.
    pub p_pos: f64,
    /// Share of the negatives from the threshold on.
    pub p_neg: f64,
    /// Chance of a mistake, the same on both classes (equation 1).
    pub error: f64,
}

/// Cuts a ranking where it tells the classes apart best, and evens out the errors by a coin.
///
/// `groups` has the masses of rows of equal score, in ascending order of the score; both classes have
/// mass. Of equal thresholds by `criterion` the one of the smaller error is taken, then the larger
/// (DECISIONS B2). With a ranking of AUC 1/2 + gamma, the error is at most 1/2 - gamma/4.
///
/// Under a `noise_rate` of flipped labels the threshold is the same, but the error rates, and so the
/// coin, are those of the true labels (DECISIONS B13): `groups` must then have the masses in which
/// the classes occur.
///
/// # Errors
///
/// [`RankError::BadParameter`] if `noise_rate` is not in [0, 1/2), or takes all mass of a class.
///
/// # Examples
///
/// ```
/// use aucrank::boost::{Criterion, two_sided};
/// use aucrank::data::ClassMasses;
///
/// let groups = [(1, 3), (1, 1), (2, 0)].map(|(pos, neg)| ClassMasses { pos, neg });
/// let cut = two_sided(&groups, Criterion::Sum, 0.0).unwrap();
/// // A half of the positives lies below the third group, and no negative above.
/// assert_eq!((cut.n_low, cut.p_pos, cut.p_neg), (2, 0.5, 0.0));
/// assert!((cut.error - 0.5 / 1.5).abs() < 1e-15);
/// ```
pub fn two_sided(
    groups: &[ClassMasses],
    criterion: Criterion,
    noise_rate: f64,
) -> Result<TwoSided, RankError> {
    let total: ClassMasses = groups.iter().copied().sum();
    let clean = Denoised::of(total, noise_rate)?;
    let mut low = ClassMasses::default();
    // The threshold below all groups.
    let mut best = (0, clean.cut(0, low, total));
    for (group, n_low) in groups.iter().zip(1..) {
        low += *group;
        let mut high = total;
        high -= low;
        let (gain, cut) = (gain(total, high), clean.cut(n_low, low, high));
        let by_error = best.1.error.total_cmp(&cut.error);
        let order = match criterion {
            Criterion::Sum => gain.cmp(&best.0).then(by_error),
            Criterion::Error => by_error,
        };
        // Equal ones: the larger threshold.
        if order != Ordering::Less {
            best = (gain, cut);
        }
    }
    Ok(best.1)
}

/// `TPR - FPR` of a part of the whole, in units of `1/PN`: exact.
pub(super) fn gain(total: ClassMasses, part: ClassMasses) -> i128 {
    let cross = |a: u64, b: u64| i128::from(a) * i128::from(b);
    cross(part.pos, total.neg) - cross(part.neg, total.pos)
}

/// The true masses behind those of flipped labels.
struct Denoised {
    noise_rate: f64,
    pos: f64,
    neg: f64,
}

impl Denoised {
    fn of(total: ClassMasses, noise_rate: f64) -> Result<Self, RankError> {
        let refuse = |rule| {
            let value = noise_rate.to_string();
            Err(RankError::BadParameter { name: "noise_rate", value, rule })
        };
        if !(0.0..0.5).contains(&noise_rate) {
            return refuse("at least 0 and below 0.5");
        }
        let mut clean = Self { noise_rate, pos: 1.0, neg: 1.0 };
        (clean.pos, clean.neg) = clean.masses(total);
        if clean.pos > 0.0 && clean.neg > 0.0 {
            Ok(clean)
        } else {
            refuse("below the share of the rarer class")
        }
    }

    fn masses(&self, noisy: ClassMasses) -> (f64, f64) {
        let (pos, neg) = (noisy.pos as f64, noisy.neg as f64);
        let (flipped, scale) = (self.noise_rate * (pos + neg), 1.0 - 2.0 * self.noise_rate);
        ((pos - flipped) / scale, (neg - flipped) / scale)
    }

    fn cut(&self, n_low: usize, low: ClassMasses, high: ClassMasses) -> TwoSided {
        let p_pos = (self.masses(low).0 / self.pos).clamp(0.0, 1.0);
        let p_neg = (self.masses(high).1 / self.neg).clamp(0.0, 1.0);
        let (larger, difference) = (p_pos.max(p_neg), (p_pos - p_neg).abs());
        let zeta = difference / (1.0 + difference);
        let (low, high) = if p_neg <= p_pos { (zeta, 1.0) } else { (0.0, 1.0 - zeta) };
        TwoSided { n_low, low, high, zeta, p_pos, p_neg, error: larger / (1.0 + difference) }
    }
}
