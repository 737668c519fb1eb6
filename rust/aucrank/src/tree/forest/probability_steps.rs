//! Probabilities of scores that only rank.

#[cfg(feature = "serde")]
use serde::{Deserialize, Serialize};

use crate::data::{ClassSums, rising_pools};

/// A probability that rises with the score in steps: the share of positives of training rows, made
/// monotone by pooling adjacent violators.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
pub(in crate::tree) struct ProbabilitySteps {
    /// A score above `thresholds[i]` and not above the next has probability `probabilities[i + 1]`.
    thresholds: Vec<f64>,
    probabilities: Vec<f64>,
}

impl ProbabilitySteps {
    /// Learns from scores with the class sums of their rows, which it sorts.
    pub(in crate::tree) fn new(scored: &mut [(f64, ClassSums)]) -> Self {
        let pools = rising_pools(scored);
        Self {
            thresholds: pools.windows(2).map(|pair| between(pair[0].high, pair[1].low)).collect(),
            probabilities: pools.iter().map(|pool| pool.sums.eta()).collect(),
        }
    }

    pub(in crate::tree) fn probability(&self, score: f64) -> f64 {
        self.probabilities[self.thresholds.partition_point(|&threshold| threshold < score)]
    }

    /// Where its steps begin, each at the least score that lies above a threshold, and the
    /// probabilities: below the first, ..., from the last on.
    pub(in crate::tree) fn steps(&self) -> (Vec<f64>, Vec<f64>) {
        let starts = self.thresholds.iter().map(|threshold| threshold.next_up()).collect();
        (starts, self.probabilities.clone())
    }

    /// The score above which the probability is above one half. Scores are from 0 to 1.
    pub(in crate::tree) fn middle(&self) -> f64 {
        match self.probabilities.partition_point(|&probability| probability <= 0.5) {
            0 => -1.0,
            n if n == self.probabilities.len() => 2.0,
            n => self.thresholds[n - 1],
        }
    }

    pub(in crate::tree) fn check(&self) -> Result<(), String> {
        // Shares that differ by less than a rounding are one number.
        let fits = self.probabilities.len() == self.thresholds.len() + 1
            && self.thresholds.iter().all(|threshold| threshold.is_finite())
            && self.thresholds.is_sorted_by(|a, b| a < b)
            && self.probabilities.is_sorted_by(|a, b| a <= b)
            && self.probabilities.iter().all(|p| (0.0..=1.0).contains(p));
        if fits { Ok(()) } else { Err("the probabilities do not rise with the score".to_owned()) }
    }
}

/// A threshold at least `low` and below `high`, so that what is above it is nearer to `high`.
fn between(low: f64, high: f64) -> f64 {
    let middle = f64::midpoint(low, high);
    if middle < high { middle } else { low }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sums(pos: u64, neg: u64) -> ClassSums {
        ClassSums { pos, neg, rows: pos + neg }
    }

    /// Isotonic regression by its min-max formula: the value at a score is the largest share of a
    /// stretch that ends there or above, over the smallest over its beginnings.
    fn isotonic(scored: &[(f64, ClassSums)], at: f64) -> f64 {
        let mut scores: Vec<f64> = scored.iter().map(|(score, _)| *score).collect();
        scores.sort_by(f64::total_cmp);
        scores.dedup();
        let share = |low: f64, high: f64| {
            let within = scored.iter().filter(|(score, _)| (low..=high).contains(score));
            within.map(|(_, sums)| *sums).sum::<ClassSums>().eta()
        };
        let lows = scores.iter().filter(|&&score| score <= at);
        lows.map(|&low| {
            let highs = scores.iter().filter(|&&score| score >= at);
            highs.map(|&high| share(low, high)).fold(f64::INFINITY, f64::min)
        })
        .fold(f64::NEG_INFINITY, f64::max)
    }

    fn samples() -> Vec<Vec<(f64, ClassSums)>> {
        let mut state = 17_u64;
        let mut draw = |n: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 33) % n
        };
        let mut sample = |n_rows, n_scores, rises: bool| {
            let row = |_| {
                let score = draw(n_scores);
                let chance = if rises { 2 + 16 * score / n_scores } else { 10 };
                let weight = 1 + draw(3);
                let is_positive = draw(20) < chance;
                let sums = if is_positive { sums(weight, 0) } else { sums(0, weight) };
                (score as f64 / n_scores as f64, sums)
            };
            (0..n_rows).map(row).collect()
        };
        let sizes = [(1, 5), (2, 2), (7, 3), (40, 1000), (60, 8), (200, 30)];
        let sizes = sizes.into_iter().flat_map(|size| [(size, true), (size, false)]);
        sizes.map(|((n_rows, n_scores), rises)| sample(n_rows, n_scores, rises)).collect()
    }

    #[test]
    fn probabilities_of_the_scores_are_their_isotonic_regression() {
        for sample in samples() {
            let calibration = ProbabilitySteps::new(&mut sample.clone());
            assert_eq!(calibration.check(), Ok(()));
            for &(score, _) in &sample {
                let (found, expected) = (calibration.probability(score), isotonic(&sample, score));
                assert!((found - expected).abs() < 1e-14, "{found} {expected}");
            }
        }
    }

    #[test]
    fn the_order_of_the_rows_and_copies_of_them_do_not_matter() {
        for sample in samples() {
            let calibration = ProbabilitySteps::new(&mut sample.clone());
            let mut reversed: Vec<_> = sample.iter().rev().copied().collect();
            assert_eq!(ProbabilitySteps::new(&mut reversed), calibration);
            let mut twice = [&sample[..], &sample[..]].concat();
            assert_eq!(ProbabilitySteps::new(&mut twice), calibration);
        }
    }

    #[test]
    fn the_probability_is_above_one_half_exactly_above_the_middle() {
        for sample in samples() {
            let calibration = ProbabilitySteps::new(&mut sample.clone());
            let thresholds = calibration.thresholds.iter();
            let around = thresholds.flat_map(|&t| [t.next_down(), t, t.next_up()]);
            for score in around.chain(sample.iter().map(|(score, _)| *score)).chain([0.0, 1.0]) {
                let is_above = score - calibration.middle() > 0.0;
                assert_eq!(is_above, calibration.probability(score) > 0.5, "{score}");
            }
        }
    }

    #[test]
    fn a_share_of_one_half_is_not_positive() {
        let calibration = ProbabilitySteps::new(&mut [(0.25, sums(1, 1)), (0.75, sums(2, 1))]);
        assert_eq!(calibration.probability(0.5), 0.5);
        assert_eq!(calibration.middle(), 0.5);
        assert_eq!(calibration.probability(0.5_f64.next_up()), 2.0 / 3.0);
    }

    #[test]
    fn neighbouring_scores_are_told_apart() {
        let (low, high) = (0.5_f64, 0.5_f64.next_up());
        let calibration = ProbabilitySteps::new(&mut [(high, sums(1, 0)), (low, sums(0, 1))]);
        assert_eq!([low, high].map(|score| calibration.probability(score)), [0.0, 1.0]);
        assert_eq!(calibration.middle(), low);
    }

    #[test]
    fn one_class_is_certain_of_all_scores() {
        let positive = ProbabilitySteps::new(&mut [(0.2, sums(1, 0)), (0.7, sums(3, 0))]);
        let negative = ProbabilitySteps::new(&mut [(0.2, sums(0, 1)), (0.7, sums(0, 3))]);
        for score in [0.0, 0.2, 0.5, 1.0] {
            assert_eq!((positive.probability(score), negative.probability(score)), (1.0, 0.0));
            assert!(score > positive.middle() && score < negative.middle());
        }
    }

    #[test]
    fn broken_tables_are_refused() {
        let of = |thresholds: &[f64], probabilities: &[f64]| {
            let (thresholds, probabilities) = (thresholds.to_vec(), probabilities.to_vec());
            ProbabilitySteps { thresholds, probabilities }.check().is_ok()
        };
        assert!(of(&[], &[0.3]));
        assert!(of(&[0.1, 0.4], &[0.0, 0.5, 1.0]));
        // Two shares may round to one number.
        assert!(of(&[0.1, 0.4], &[0.0, 0.5, 0.5]));
        assert!(!of(&[], &[]));
        assert!(!of(&[0.1], &[0.3]));
        assert!(!of(&[0.4, 0.1], &[0.0, 0.5, 1.0]));
        assert!(!of(&[0.1, 0.1], &[0.0, 0.5, 1.0]));
        assert!(!of(&[0.1], &[0.5, 0.4]));
        assert!(!of(&[0.1], &[-0.1, 0.4]));
        assert!(!of(&[0.1], &[0.4, 1.5]));
        assert!(!of(&[f64::NAN], &[0.4, 0.5]));
        assert!(!of(&[0.1, f64::NAN], &[0.3, 0.4, 0.5]));
        assert!(!of(&[0.1], &[0.4, f64::NAN]));
    }

    #[test]
    fn shares_too_close_for_a_float_make_a_table_that_is_believed() {
        let n = 1_u64 << 52;
        let calibration =
            ProbabilitySteps::new(&mut [(0.25, sums(n, n + 2)), (0.75, sums(n + 1, n + 2))]);
        assert_eq!(calibration.probabilities.len(), 2);
        assert_eq!(calibration.check(), Ok(()));
    }
}
