//! A ranking cut into a classifier with equal errors on both classes (paper 3 Lemma 4).

use std::cmp::Ordering;

use serde::{Deserialize, Serialize};

use super::term::TiedGains;
use crate::RankError;
use crate::data::{ClassMasses, Labels, Wide, midpoint, quotient};
use crate::roc::curve_of;

/// Errors that differ by no more are equal: masses of reweighted rows are rounded.
const TIED_ERRORS: f64 = 1.0 / (1_u64 << 40) as f64;

/// Criterion for the threshold (DECISIONS B3).
///
/// # Examples
///
/// ```
/// use aucrank::boost::{ThresholdCriterion, two_sided};
/// use aucrank::data::ClassMasses;
///
/// // Above the first group lie all positive and half of the negative rows. Above the second lie
/// // 75 and 26 in a hundred: the rates of mistakes have a larger sum, but are nearly equal.
/// let groups = [(0, 50), (25, 24), (75, 26)].map(|(pos, neg)| ClassMasses { pos, neg });
/// let by_sum = two_sided(&groups, ThresholdCriterion::Sum, 0.0)?;
/// assert_eq!((by_sum.n_low, by_sum.p_pos, by_sum.p_neg), (1, 0.0, 0.5));
/// let by_error = two_sided(&groups, ThresholdCriterion::Error, 0.0)?;
/// assert_eq!((by_error.n_low, by_error.p_pos, by_error.p_neg), (2, 0.25, 0.26));
/// assert!(by_error.error < by_sum.error);
/// # Ok::<(), aucrank::RankError>(())
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ThresholdCriterion {
    /// The least sum of both error rates, as in the proof.
    #[default]
    Sum,
    /// The least error after the errors are equalised.
    Error,
}

/// The randomised classifier of Lemma 4 over a ranking of groups, in expectation (DECISIONS B4).
///
/// # Examples
///
/// ```
/// use aucrank::boost::{ThresholdCriterion, two_sided};
/// use aucrank::data::ClassMasses;
///
/// let groups = [(2, 4), (2, 0)].map(|(pos, neg)| ClassMasses { pos, neg });
/// let cut = two_sided(&groups, ThresholdCriterion::Sum, 0.0)?;
/// // Both classes are called right with the same probability.
/// let right_pos = cut.p_pos * cut.low + (1.0 - cut.p_pos) * cut.high;
/// let right_neg = (1.0 - cut.p_neg) * (1.0 - cut.low) + cut.p_neg * (1.0 - cut.high);
/// assert!((right_pos - 2.0 / 3.0).abs() < 1e-15 && (right_neg - 2.0 / 3.0).abs() < 1e-15);
/// assert!((1.0 - cut.error - right_pos).abs() < 1e-15);
/// # Ok::<(), aucrank::RankError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct TwoSided {
    /// Number of groups below the threshold.
    pub n_low: usize,
    /// Probability that a row below the threshold is predicted as positive.
    pub low: f64,
    /// Probability that a row at or above the threshold is predicted as positive.
    pub high: f64,
    /// Probability of the coin flip, the paper's zeta: on the low side if `high` is 1, else on the
    /// high side.
    pub zeta: f64,
    /// Share of the positives below the threshold.
    pub p_pos: f64,
    /// Share of the negatives at or above the threshold.
    pub p_neg: f64,
    /// Probability of a mistake, the same for both classes (equation 1).
    pub error: f64,
}

/// Cuts a ranking at the best threshold and equalises the errors of both classes by a coin flip.
///
/// `groups` are the masses of rows of equal score, in ascending order of the score; both classes
/// have mass. Of thresholds equal by `criterion` the one with the smaller error is chosen, then the
/// larger (DECISIONS B2). For a ranking of AUC 1/2 + gamma, the error is at most 1/2 - gamma/4.
///
/// Under a `noise_rate` of flipped labels the threshold is the same, but the error rates, and so
/// the coin, are those of the true labels (DECISIONS B13): `groups` must then have the natural
/// proportion of the classes.
///
/// # Errors
///
/// [`RankError::BadParameter`] if `noise_rate` is not in [0, 1/2), or leaves a class without mass.
///
/// # Examples
///
/// ```
/// use aucrank::boost::{ThresholdCriterion, two_sided};
/// use aucrank::data::ClassMasses;
///
/// let groups = [(2, 4), (2, 0)].map(|(pos, neg)| ClassMasses { pos, neg });
/// let cut = two_sided(&groups, ThresholdCriterion::Sum, 0.0).unwrap();
/// // A half of the positives lies below the second group: a third of what lies there is called positive.
/// assert_eq!((cut.n_low, cut.p_pos, cut.p_neg), (1, 0.5, 0.0));
/// assert!((cut.zeta - 1.0 / 3.0).abs() < 1e-15 && (cut.error - 1.0 / 3.0).abs() < 1e-15);
/// ```
pub fn two_sided(
    groups: &[ClassMasses],
    criterion: ThresholdCriterion,
    noise_rate: f64,
) -> Result<TwoSided, RankError> {
    let total: ClassMasses = groups.iter().copied().sum();
    let clean = Denoised::of(total, noise_rate)?;
    let tied = TiedGains::of(total);
    let mut low = ClassMasses::default();
    // The threshold below all groups.
    let mut best = (0, 0, low);
    for (group, n_low) in groups.iter().zip(1..) {
        low += *group;
        let mut high = total;
        high -= low;
        let gain = total.gain(high);
        let by_error = || {
            let cut = |low: ClassMasses| {
                if noise_rate == 0.0 { exact_cut(total, 0, low) } else { clean.cut(0, low) }
            };
            let [best_error, error] = [best.2, low].map(|low| cut(low).error);
            if (best_error - error).abs() <= TIED_ERRORS {
                Ordering::Equal
            } else if noise_rate == 0.0 {
                cmp_error(total, best.2, low)
            } else {
                best_error.total_cmp(&error)
            }
        };
        let order = match criterion {
            ThresholdCriterion::Sum => {
                tied.round(gain).cmp(&tied.round(best.0)).then_with(by_error)
            }
            ThresholdCriterion::Error => by_error(),
        };
        // Of equal thresholds, the larger.
        if order != Ordering::Less {
            best = (gain, n_low, low);
        }
    }
    let (_, n_low, low) = best;
    Ok(if noise_rate == 0.0 { exact_cut(total, n_low, low) } else { clean.cut(n_low, low) })
}

/// The classifier at a threshold, given the masses below it. Each rate is rounded once, so that
/// equal rates give equal floats, whatever the threshold.
fn exact_cut(total: ClassMasses, n_low: usize, low: ClassMasses) -> TwoSided {
    let cross = |a: u64, b: u64| u128::from(a) * u128::from(b);
    let high_neg = total.neg - low.neg;
    // Both rates over P N.
    let (pos, neg) = (cross(low.pos, total.neg), cross(high_neg, total.pos));
    let all = cross(total.pos, total.neg) + pos.abs_diff(neg);
    let [zeta, error] = [pos.abs_diff(neg), pos.max(neg)].map(|part| quotient(part, all));
    let p_pos = quotient(low.pos.into(), total.pos.into());
    let p_neg = quotient(high_neg.into(), total.neg.into());
    TwoSided::new(n_low, neg <= pos, zeta, [p_pos, p_neg], error)
}

impl TwoSided {
    fn new(n_low: usize, flips_low: bool, zeta: f64, [p_pos, p_neg]: [f64; 2], error: f64) -> Self {
        let (low, high) = if flips_low { (zeta, 1.0) } else { (0.0, 1.0 - zeta) };
        Self { n_low, low, high, zeta, p_pos, p_neg, error }
    }
}

/// [`two_sided`] applied to rows ranked by their scores, with the threshold as a score.
///
/// Rows that score at least the threshold are on the high side. It is the midpoint of two scores of
/// the sample, so that rows outside the sample are not all pushed to one side; it is infinite if
/// all rows of the sample are on one side. Rows of weight zero do not contribute.
///
/// # Errors
///
/// [`RankError`] if the lengths differ, a score is NaN, or `noise_rate` is invalid for
/// [`two_sided`].
///
/// # Examples
///
/// ```
/// use aucrank::boost::{ThresholdCriterion, two_sided_by_scores};
/// use aucrank::data::Labels;
///
/// let labels = Labels::new(&[false, true, false, true], None).unwrap();
/// let (threshold, cut) =
///     two_sided_by_scores(&[0.0, 3.0, 1.0, 4.0], &labels, ThresholdCriterion::Sum, 0.0).unwrap();
/// assert_eq!((threshold, cut.error), (2.0, 0.0));
/// ```
pub fn two_sided_by_scores(
    scores: &[f64],
    labels: &Labels<'_>,
    criterion: ThresholdCriterion,
    noise_rate: f64,
) -> Result<(f64, TwoSided), RankError> {
    let curve = curve_of(scores, labels)?;
    // The knots descend from an infinite threshold, which no row reaches.
    let (pos, neg) = (curve.true_positives(), curve.false_positives());
    let groups: Vec<ClassMasses> = (1..pos.len())
        .rev()
        .map(|knot| ClassMasses { pos: pos[knot] - pos[knot - 1], neg: neg[knot] - neg[knot - 1] })
        .collect();
    let cut = two_sided(&groups, criterion, noise_rate)?;
    let score = |group: usize| curve.thresholds()[groups.len() - group];
    let threshold = match cut.n_low {
        0 => f64::NEG_INFINITY,
        n_low if n_low == groups.len() => f64::INFINITY,
        n_low => midpoint(score(n_low - 1), score(n_low)),
    };
    Ok((threshold, cut))
}

/// Compares thresholds by their equalised error, given the masses below them; exact.
fn cmp_error(total: ClassMasses, low: ClassMasses, other: ClassMasses) -> Ordering {
    let cross = |a: u64, b: u64| u128::from(a) * u128::from(b);
    // The odds of a mistake, by (1): the larger error rate over one less the other.
    let odds = |low: ClassMasses| {
        let (p_pos, p_neg) = (cross(low.pos, total.neg), cross(total.neg - low.neg, total.pos));
        if p_neg <= p_pos {
            (p_pos, cross(low.neg, total.pos))
        } else {
            (p_neg, cross(total.pos - low.pos, total.neg))
        }
    };
    let ((error, right), (other_error, other_right)) = (odds(low), odds(other));
    Wide::product(error, other_right).cmp(&Wide::product(other_error, right))
}

/// Estimated masses by true labels, which need not be integers.
struct Denoised {
    noise_rate: f64,
    total: ClassMasses,
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
        let mut clean = Self { noise_rate, total, pos: 1.0, neg: 1.0 };
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

    fn cut(&self, n_low: usize, low: ClassMasses) -> TwoSided {
        let mut high = self.total;
        high -= low;
        let pos = self.masses(low).0.clamp(0.0, self.pos);
        let neg = self.masses(high).1.clamp(0.0, self.neg);
        // As without noise: each rate over P N.
        let rates = [pos / self.pos, neg / self.neg];
        let (pos, neg) = (pos * self.neg, neg * self.pos);
        let all = self.pos * self.neg + (pos - neg).abs();
        TwoSided::new(n_low, neg <= pos, (pos - neg).abs() / all, rates, pos.max(neg) / all)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn masses(groups: &[(u64, u64)]) -> Vec<ClassMasses> {
        groups.iter().map(|&(pos, neg)| ClassMasses { pos, neg }).collect()
    }

    /// `(p_pos, p_neg, error)` of the threshold below group `n_low`, by their definitions and (1).
    fn errors(groups: &[(u64, u64)], n_low: usize) -> (f64, f64, f64) {
        let sum =
            |part: &[(u64, u64)], of: fn(&(u64, u64)) -> u64| part.iter().map(of).sum::<u64>();
        let (low, high) = groups.split_at(n_low);
        let p_pos = sum(low, |g| g.0) as f64 / sum(groups, |g| g.0) as f64;
        let p_neg = sum(high, |g| g.1) as f64 / sum(groups, |g| g.1) as f64;
        let error = if p_neg <= p_pos {
            p_pos / (1.0 + p_pos - p_neg)
        } else {
            p_neg / (1.0 + p_neg - p_pos)
        };
        (p_pos, p_neg, error)
    }

    /// The definition, pair by pair, a tie counting one half.
    fn auc(groups: &[(u64, u64)]) -> f64 {
        let (mut wins, mut pairs) = (0, 0);
        for (i, (pos, _)) in groups.iter().enumerate() {
            for (j, (_, neg)) in groups.iter().enumerate() {
                wins += pos * neg * (u64::from(i > j) + u64::from(i >= j));
                pairs += 2 * pos * neg;
            }
        }
        wins as f64 / pairs as f64
    }

    fn rankings() -> impl Strategy<Value = Vec<(u64, u64)>> {
        prop::collection::vec((0_u64..6, 0_u64..6), 1..9).prop_filter("both classes", |groups| {
            groups.iter().any(|g| g.0 > 0) && groups.iter().any(|g| g.1 > 0)
        })
    }

    proptest! {
        #[test]
        fn equal_errors_are_found_exactly(groups in rankings()) {
            // The error as a fraction, over PN.
            let (all_pos, all_neg): (u64, u64) =
                groups.iter().fold((0, 0), |sum, group| (sum.0 + group.0, sum.1 + group.1));
            let error = |n_low: usize| {
                let pos: u64 = groups[..n_low].iter().map(|group| group.0).sum();
                let neg: u64 = groups[n_low..].iter().map(|group| group.1).sum();
                let (pos, neg) = (pos * all_neg, neg * all_pos);
                (pos.max(neg), all_pos * all_neg + pos.abs_diff(neg))
            };
            // Of equal thresholds, the last.
            let is_less = |a: (u64, u64), b: (u64, u64)| a.0 * b.1 < b.0 * a.1;
            let best = (1..=groups.len())
                .fold(0, |best, n_low| if is_less(error(best), error(n_low)) { best } else { n_low });
            for scale in [1, (1 << 52) / 54] {
                let scaled: Vec<_> =
                    groups.iter().map(|group| (scale * group.0, scale * group.1)).collect();
                let found = two_sided(&masses(&scaled), ThresholdCriterion::Error, 0.0).unwrap();
                prop_assert_eq!(found.n_low, best);
            }
        }

        #[test]
        fn rates_are_those_of_exact_fractions(groups in rankings(), scale in 1..1_u64 << 40) {
            // Scaling all masses does not change a bit.
            let scaled: Vec<_> =
                groups.iter().map(|group| (scale * group.0, scale * group.1)).collect();
            for criterion in [ThresholdCriterion::Sum, ThresholdCriterion::Error] {
                let cut = two_sided(&masses(&groups), criterion, 0.0).unwrap();
                prop_assert_eq!(two_sided(&masses(&scaled), criterion, 0.0).unwrap(), cut);
                let sum = |part: &[(u64, u64)]| {
                    part.iter().fold((0, 0), |sum, group| (sum.0 + group.0, sum.1 + group.1))
                };
                let (low, all) = (sum(&groups[..cut.n_low]), sum(&groups));
                let (pos, neg) = (low.0 * all.1, (all.1 - low.1) * all.0);
                // Small enough for a division of floats to round only once.
                let of = |part: u64| part as f64 / (all.0 * all.1 + pos.abs_diff(neg)) as f64;
                prop_assert_eq!((cut.error, cut.zeta), (of(pos.max(neg)), of(pos.abs_diff(neg))));
            }
            let [sum, error] = [ThresholdCriterion::Sum, ThresholdCriterion::Error]
                .map(|criterion| two_sided(&masses(&groups), criterion, 0.0).unwrap());
            prop_assert!(error.error <= sum.error);
        }

        #[test]
        fn no_other_threshold_is_better(groups in rankings()) {
            let found = two_sided(&masses(&groups), ThresholdCriterion::Sum, 0.0).unwrap();
            let least = two_sided(&masses(&groups), ThresholdCriterion::Error, 0.0).unwrap();
            for n_low in 0..=groups.len() {
                let (p_pos, p_neg, error) = errors(&groups, n_low);
                let more = p_pos + p_neg - (found.p_pos + found.p_neg);
                prop_assert!(more > -1e-12);
                // Of equal thresholds: the smaller error, then the larger threshold (B2).
                if more < 1e-12 {
                    prop_assert!(error > found.error - 1e-12);
                    prop_assert!(error > found.error + 1e-12 || n_low <= found.n_low);
                }
                prop_assert!(error > least.error - 1e-12);
            }
        }

        #[test]
        fn both_classes_have_the_error_of_equation_1_and_at_most_that_of_lemma_4(
            groups in rankings()
        ) {
            for criterion in [ThresholdCriterion::Sum, ThresholdCriterion::Error] {
                let cut = two_sided(&masses(&groups), criterion, 0.0).unwrap();
                let (p_pos, p_neg, error) = errors(&groups, cut.n_low);
                prop_assert_eq!((cut.p_pos, cut.p_neg), (p_pos, p_neg));
                prop_assert!((cut.error - error).abs() < 1e-15);
                let of_pos = p_pos * (1.0 - cut.low) + (1.0 - p_pos) * (1.0 - cut.high);
                let of_neg = p_neg * cut.high + (1.0 - p_neg) * cut.low;
                prop_assert!((of_pos - cut.error).abs() < 1e-15);
                prop_assert!((of_neg - cut.error).abs() < 1e-15);
                prop_assert!(cut.error <= 0.5 - (auc(&groups) - 0.5).max(0.0) / 4.0 + 1e-15);
                let coin = if cut.high == 1.0 { cut.low } else { 1.0 - cut.high };
                prop_assert!((coin - cut.zeta).abs() < 1e-15);
            }
        }

        #[test]
        fn the_true_error_rates_are_recovered_from_flipped_labels(groups in rankings()) {
            // One label in four flipped: each row counts as three with its label and one with the
            // other.
            let noisy: Vec<_> = groups.iter().map(|(pos, neg)| (3 * pos + neg, 3 * neg + pos)).collect();
            let clean = two_sided(&masses(&groups), ThresholdCriterion::Sum, 0.0).unwrap();
            let found = two_sided(&masses(&noisy), ThresholdCriterion::Sum, 0.25).unwrap();
            prop_assert_eq!(found, clean);
        }

        #[test]
        fn scores_are_cut_as_their_groups_are(groups in rankings()) {
            let (mut scores, mut positive, mut weights) = (Vec::new(), Vec::new(), Vec::new());
            for (group, &(pos, neg)) in groups.iter().enumerate() {
                for (class, weight) in [(true, pos), (false, neg)] {
                    scores.push(10.0 * group as f64);
                    positive.push(class);
                    weights.push(weight as f64);
                }
            }
            let labels = Labels::new(&positive, Some(&weights)).unwrap();
            for criterion in [ThresholdCriterion::Sum, ThresholdCriterion::Error] {
                let (threshold, cut) = two_sided_by_scores(&scores, &labels, criterion, 0.0).unwrap();
                let by_groups = two_sided(&masses(&groups), criterion, 0.0).unwrap();
                prop_assert_eq!((cut.low, cut.high, cut.error), (by_groups.low, by_groups.high, by_groups.error));
                // The midpoint between the nearest groups that hold rows.
                let holds = |group: &usize| groups[*group] != (0, 0);
                let below = (0..by_groups.n_low).rev().find(holds);
                let above = (by_groups.n_low..groups.len()).find(holds);
                let expected = match (below, above) {
                    (None, _) => f64::NEG_INFINITY,
                    (_, None) => f64::INFINITY,
                    (Some(below), Some(above)) => 5.0 * (below + above) as f64,
                };
                prop_assert_eq!(threshold, expected);
            }
        }
    }

    #[test]
    fn thresholds_of_equal_error_have_the_same_float() {
        let groups = masses(&[(0, 1), (3, 2), (9, 6)]);
        let cuts = [ThresholdCriterion::Sum, ThresholdCriterion::Error]
            .map(|criterion| two_sided(&groups, criterion, 0.0).unwrap());
        // 8/9 of one class by 1 + 8/9, and 2/3 by 1 + 2/3 - 1/4.
        assert_eq!(cuts.map(|cut| (cut.n_low, cut.error)), [(1, 8.0 / 17.0), (2, 8.0 / 17.0)]);
    }

    #[test]
    fn rows_of_weight_zero_do_not_move_the_threshold() {
        let (scores, positive) = ([0.0, 0.9, 1.0, f64::NAN], [false, true, true, true]);
        let labels = Labels::new(&positive, Some(&[1.0, 0.0, 2.0, 0.0])).unwrap();
        let (threshold, _) =
            two_sided_by_scores(&scores, &labels, ThresholdCriterion::Sum, 0.0).unwrap();
        assert_eq!(threshold.to_bits(), 0.5_f64.to_bits());
    }

    #[test]
    fn rankings_that_cannot_be_cut_are_refused() {
        let groups = masses(&[(1, 3), (2, 1)]);
        for noise_rate in [-0.1, 0.5, f64::NAN, 0.43] {
            // Three of seven rows are positive, and 0.43 exceeds that.
            let err = two_sided(&groups, ThresholdCriterion::Sum, noise_rate).unwrap_err();
            assert!(err.to_string().starts_with("noise_rate"), "{err}");
        }
        let labels = Labels::new(&[false, true], Some(&[1.0, 1.0])).unwrap();
        for scores in [&[0.0][..], &[0.0, f64::NAN]] {
            assert!(two_sided_by_scores(scores, &labels, ThresholdCriterion::Sum, 0.0).is_err());
        }
    }
}
