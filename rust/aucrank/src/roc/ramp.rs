//! The ramp statistic: the AUC with a ramp in place of the step function, so that it has a
//! gradient.
//!
//! Herschtal, Raskutti and Campbell (2006, sec. 2.2) count a pair of a positive row with score s
//! and a negative row with score t as r(s - t) instead of 0, 1/2 or 1. The ramp rises from 0 to 1
//! between -w and w, and outside with a small share c of that slope, so that every pair has a
//! gradient. With a = 1 / (2w),
//!
//! ```text
//! r(x) = 1/2 + a ((1 - c) clip(x, -w, w) + c x)
//! ```
//!
//! so the mean of r over all pairs is the mean of the clipped differences, plus a difference of two
//! class means. A pair is either clipped or not: in order of the scores the unclipped partners of a
//! row are contiguous, and two pointers that only move forward delimit them. Only their number is
//! needed, since a sum of differences separates into s times the number of partners, one class at a
//! time (sec. 2.3). Rows are sorted by [`ranking`](super::ranking), and partners found and counted
//! by [`ramp_sums`](super::ramp_sums).
//!
//! Whether a pair is clipped is decided by `s - t` as rounded to `f64`, here as in the definition:
//! the rounded difference is monotone in both scores, so the two pointers stay valid. Corners
//! belong to the central piece.

use super::climber::{RampClimber, infinite_score};
use super::curve::RocCurve;
use super::ramp_sums::{ClassPair, Ordered, Partners};
use super::sample::{ScoreSample, Unweighted};
use super::score::Score;
use crate::RankError;
use crate::data::FixedScale;

/// Shape of the ramp.
///
/// # Examples
///
/// ```
/// use aucrank::roc::{Ramp, RocCurve};
///
/// let ramp = Ramp { half_width: 1.0, side_slope: 0.0 };
/// assert_eq!([-2.0, -1.0, 0.0, 0.5, 3.0].map(|x| ramp.at(x)), [0.0, 0.0, 0.5, 0.75, 1.0]);
/// let curve = RocCurve::new(&[0.0, 0.5], &[false, true]).unwrap();
/// assert_eq!(ramp.auc(&curve), Ok(0.75));
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Ramp {
    /// Score difference at which the central piece ends; positive.
    pub half_width: f64,
    /// Slope of the side pieces, as a share of that of the central piece; from 0 to 1.
    pub side_slope: f64,
}

impl Default for Ramp {
    /// Central slope 1, and a thousandth of it outside.
    fn default() -> Self {
        Self { half_width: 0.5, side_slope: 1e-3 }
    }
}

/// The ramp AUC and its derivative in the score of each row.
///
/// # Examples
///
/// ```
/// use aucrank::roc::Ramp;
///
/// let ramp = Ramp { half_width: 1.0, side_slope: 0.0 };
/// let gradient = ramp.gradient(&[0.0, 0.5], &[false, true], None)?;
/// // One pair, a quarter of the width above the middle; the central slope is 1/2.
/// assert_eq!(gradient.value, 0.75);
/// assert_eq!(gradient.by_score, [-0.5, 0.5]);
/// # Ok::<(), aucrank::RankError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct RampGradient {
    /// The ramp AUC.
    pub value: f64,
    /// Its derivative with respect to the score of each row: non-negative for a positive row,
    /// non-positive for a negative one, 0 for a row of weight 0. If a pair is on a corner of the
    /// ramp, the derivative towards the centre.
    pub by_score: Vec<f64>,
}

impl Ramp {
    /// Checks both parameters.
    ///
    /// # Errors
    ///
    /// [`RankError::BadParameter`] naming the one that is out of its range.
    pub fn validate(&self) -> Result<(), RankError> {
        let bad = |name, value: f64, rule| {
            Err(RankError::BadParameter { name, value: value.to_string(), rule })
        };
        if !(self.half_width > 0.0 && self.half_width.is_finite()) {
            return bad("half_width", self.half_width, "positive and finite");
        }
        if !(0.0..=1.0).contains(&self.side_slope) {
            return bad("side_slope", self.side_slope, "from 0 to 1");
        }
        Ok(())
    }

    /// The ramp at the score difference of a pair, positive less negative.
    #[must_use]
    pub fn at(&self, difference: f64) -> f64 {
        let clipped = difference.clamp(-self.half_width, self.half_width);
        0.5 + self.slope() * (1.0 - self.side_slope) * clipped
            + self.slope() * self.side_slope * difference
    }

    /// Slope of the central piece.
    pub(super) fn slope(&self) -> f64 {
        0.5 / self.half_width
    }

    /// Mean of the ramp over all pairs of a positive and a negative row: equation (2.2) of the
    /// paper above.
    ///
    /// O(number of knots). Like the ramp, it may leave [0, 1] a little.
    ///
    /// # Errors
    ///
    /// [`RankError::BadParameter`] as for [`Ramp::validate`], and if a score is infinite or so
    /// large that the sum overflows.
    pub fn auc(&self, curve: &RocCurve) -> Result<f64, RankError> {
        self.validate()?;
        // Knot `i` counts the rows of the `i` highest distinct scores.
        let scores: Vec<f64> = curve.thresholds()[1..].iter().rev().copied().collect();
        if let Some(&infinite) = scores.iter().rfind(|s| !s.is_finite()) {
            return Err(infinite_score(infinite));
        }
        if u32::try_from(curve.len()).is_err() {
            let (name, value) = ("the number of knots", curve.len().to_string());
            return Err(RankError::BadParameter { name, value, rule: "less than 2^32" });
        }
        let (neg, pos) = (curve.false_positives(), curve.true_positives());
        let total = [neg[curve.len() - 1], pos[curve.len() - 1]];
        let above = neg.iter().zip(pos).rev();
        let below: Vec<u128> =
            above.map(|(neg, pos)| u128::new(total[0] - neg, total[1] - pos)).collect();
        let ordered = Ordered { scores: &scores, below: &below };
        let mut partners = Partners::default();
        partners.find(ordered, self.half_width, false);
        partners.sums(ordered, self, &mut Vec::new(), false).value(self, total)
    }

    /// [`Ramp::auc`] and its derivative with respect to the score of each row.
    ///
    /// One sort, then O(n). The result does not depend on the number of threads or the order of the
    /// rows.
    ///
    /// # Errors
    ///
    /// [`RankError`] as for [`RocCurve::weighted`] and [`Ramp::auc`].
    ///
    /// # Examples
    ///
    /// ```
    /// use aucrank::roc::Ramp;
    ///
    /// let ramp = Ramp { half_width: 1.0, side_slope: 0.0 };
    /// let ramp = ramp.gradient(&[0.0, 0.5, 9.0], &[false, true, true], None).unwrap();
    /// assert_eq!(ramp.value, (0.75 + 1.0) / 2.0);
    /// assert_eq!(ramp.by_score, [-0.25, 0.25, 0.0]);
    /// ```
    pub fn gradient<S: Score>(
        &self,
        scores: &[S],
        positive: &[bool],
        weights: Option<&[f64]>,
    ) -> Result<RampGradient, RankError> {
        self.validate()?;
        let scales =
            weights.map(|weights| FixedScale::of_classes(weights, positive)).transpose()?;
        ScoreSample::new(scores, positive, Unweighted)?;
        let mut climber = RampClimber::of_rows(*self, scores.len(), |row| {
            let units = match (&scales, weights) {
                (Some(scales), Some(weights)) => {
                    scales[usize::from(positive[row])].units(weights[row])
                }
                _ => 1,
            };
            if positive[row] { [0, units] } else { [units, 0] }
        })?;
        let value = climber.evaluate(&S::widened(scores))?;
        Ok(RampGradient { value, by_score: climber.into_slopes() })
    }
}

/// Gradient of a statistic with respect to the weights of a linear score: entry h is the sum of
/// `by_score` times column h.
///
/// # Errors
///
/// [`RankError::LengthMismatch`] if a column has another length.
///
/// # Examples
///
/// ```
/// use aucrank::roc::by_coefficient;
///
/// assert_eq!(by_coefficient(&[-0.5, 0.5], &[&[1.0, 4.0], &[1.0, 1.0]]), Ok(vec![1.5, 0.0]));
/// ```
pub fn by_coefficient(by_score: &[f64], columns: &[&[f64]]) -> Result<Vec<f64>, RankError> {
    let along = |column: &&[f64]| {
        if column.len() != by_score.len() {
            return Err(RankError::LengthMismatch {
                name: "a column",
                found: column.len(),
                expected: by_score.len(),
            });
        }
        Ok(by_score.iter().zip(*column).map(|(slope, value)| slope * value).sum())
    };
    columns.iter().map(along).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::chunks::PARALLEL_FROM;
    use super::*;
    use crate::data::Labels;
    use crate::roc::auc;

    /// The ramp, piece by piece.
    fn by_pieces(ramp: &Ramp, x: f64) -> f64 {
        let w = ramp.half_width;
        let side = ramp.side_slope / (2.0 * w);
        if x > w {
            1.0 + side * (x - w)
        } else if x < -w {
            side * (x + w)
        } else {
            (x + w) / (2.0 * w)
        }
    }

    fn slope_by_pieces(ramp: &Ramp, x: f64) -> f64 {
        let share = if x.abs() <= ramp.half_width { 1.0 } else { ramp.side_slope };
        share / (2.0 * ramp.half_width)
    }

    /// Value and slopes pair by pair, O(PQ).
    fn by_pairs(
        ramp: &Ramp,
        scores: &[f64],
        positive: &[bool],
        weights: &[f64],
    ) -> (f64, Vec<f64>) {
        let (mut value, mut pairs) = (0.0, 0.0);
        let mut slopes = vec![0.0; scores.len()];
        for j in (0..scores.len()).filter(|&j| positive[j]) {
            for k in (0..scores.len()).filter(|&k| !positive[k]) {
                let (weight, x) = (weights[j] * weights[k], scores[j] - scores[k]);
                value += weight * by_pieces(ramp, x);
                slopes[j] += weight * slope_by_pieces(ramp, x);
                slopes[k] -= weight * slope_by_pieces(ramp, x);
                pairs += weight;
            }
        }
        (value / pairs, slopes.into_iter().map(|slope| slope / pairs).collect())
    }

    fn ramps() -> impl Strategy<Value = Ramp> {
        let widths = prop_oneof![Just(0.5), Just(1.0), 0.01..5.0];
        let slopes = prop_oneof![Just(0.0), Just(1e-3), 0.0..1.0];
        (widths, slopes).prop_map(|(half_width, side_slope)| Ramp { half_width, side_slope })
    }

    /// Rows of both classes; some scores on a grid, so that ties and corners occur.
    fn samples() -> impl Strategy<Value = (Vec<f64>, Vec<bool>, Vec<u8>)> {
        let score = prop_oneof![(-8..8_i8).prop_map(|s| f64::from(s) / 4.0), -3.0..3.0];
        prop::collection::vec((score, any::<bool>(), 0..4_u8), 0..50).prop_map(|rows| {
            let mut sample = (vec![0.25, 0.0], vec![true, false], vec![1, 2]);
            for (score, positive, weight) in rows {
                sample.0.push(score);
                sample.1.push(positive);
                sample.2.push(weight);
            }
            sample
        })
    }

    /// The largest value of a pair, at least 1.
    fn largest_pair(ramp: &Ramp, scores: &[f64], positive: &[bool]) -> f64 {
        let of_class = |class: bool| {
            scores.iter().zip(positive).filter(move |row| *row.1 == class).map(|row| *row.0)
        };
        let pairs = of_class(true).flat_map(|a| of_class(false).map(move |b| a - b));
        pairs.map(|x| by_pieces(ramp, x).abs()).fold(1.0, f64::max)
    }

    fn close(a: &[f64], b: &[f64]) -> bool {
        a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-12)
    }

    proptest! {
        #[test]
        fn value_and_slopes_are_those_of_the_double_sum(
            ramp in ramps(), (scores, positive, counts) in samples()
        ) {
            let whole: Vec<f64> = counts.iter().map(|&c| c.into()).collect();
            let weights: Vec<f64> = whole.iter().map(|w| w * 0.3).collect();
            let ones = vec![1.0; scores.len()];
            // The two round units differently: a climber of labels has one unit for both classes,
            // and a curve sums weights first.
            let (value, fast) = (
                by_pairs(&ramp, &scores, &positive, &weights),
                ramp.gradient(&scores, &positive, Some(&weights)).unwrap(),
            );
            prop_assert!((fast.value - value.0).abs() < 1e-12 && close(&fast.by_score, &value.1));
            let curve = RocCurve::weighted(&scores, &positive, &weights).unwrap();
            // Rounding errors are proportional to the largest value of a pair, for steep ramps a
            // large one.
            let size = largest_pair(&ramp, &scores, &positive);
            prop_assert!((ramp.auc(&curve).unwrap() - fast.value).abs() < 1e-14 * size);
            let labels = Labels::new(&positive, Some(&weights)).unwrap();
            let mut climber = RampClimber::of_labels(ramp, &labels).unwrap();
            prop_assert!((climber.evaluate(&scores).unwrap() - fast.value).abs() < 1e-14 * size);
            prop_assert!((climber.auc() - curve.auc()).abs() < 1e-14);
            for (given, plain) in [(None, &ones), (Some(&whole[..]), &whole)] {
                let (value, slopes) = by_pairs(&ramp, &scores, &positive, plain);
                let fast = ramp.gradient(&scores, &positive, given).unwrap();
                prop_assert!((fast.value - value).abs() < 1e-12);
                prop_assert!(close(&fast.by_score, &slopes));
                let curve = match given {
                    None => RocCurve::new(&scores, &positive),
                    Some(weights) => RocCurve::weighted(&scores, &positive, weights),
                };
                let curve = curve.unwrap();
                prop_assert_eq!(ramp.auc(&curve), Ok(fast.value));
                let labels = Labels::new(&positive, given).unwrap();
                let mut climber = RampClimber::of_labels(ramp, &labels).unwrap();
                prop_assert_eq!(climber.evaluate(&scores), Ok(fast.value));
                prop_assert_eq!(climber.slopes(), fast.by_score);
                prop_assert_eq!(climber.auc(), curve.auc());
            }
        }

        #[test]
        fn the_gradient_is_the_limit_of_differences(
            ramp in ramps(),
            rows in prop::collection::vec((-2.0..2.0_f64, -2.0..2.0_f64, any::<bool>()), 2..20),
        ) {
            let mut positive: Vec<bool> = rows.iter().map(|row| row.2).collect();
            (positive[0], positive[1]) = (true, false);
            let columns: [Vec<f64>; 2] =
                [rows.iter().map(|row| row.0).collect(), rows.iter().map(|row| row.1).collect()];
            let score = |beta: [f64; 2]| -> Vec<f64> {
                rows.iter().map(|row| beta[0] * row.0 + beta[1] * row.1).collect()
            };
            let value = |beta| {
                ramp.auc(&RocCurve::new(&score(beta), &positive).unwrap()).unwrap()
            };
            let (beta, step) = ([0.8, -1.3], 1e-6);
            // Away from the corners, where the statistic is linear and the difference quotient
            // exact.
            let near_corner = |s: f64, t: f64| ((s - t).abs() - ramp.half_width).abs() < 1e-4;
            let scores = score(beta);
            prop_assume!(!scores.iter().any(|&s| scores.iter().any(|&t| near_corner(s, t))));
            let slopes = ramp.gradient(&scores, &positive, None).unwrap().by_score;
            let gradient = by_coefficient(&slopes, &[&columns[0], &columns[1]]).unwrap();
            for h in 0..2 {
                let (mut above, mut below) = (beta, beta);
                above[h] += step;
                below[h] -= step;
                let quotient = (value(above) - value(below)) / (2.0 * step);
                prop_assert!((quotient - gradient[h]).abs() < 1e-8 * (1.0 + quotient.abs()));
            }
        }

        #[test]
        fn a_ramp_steeper_than_every_gap_is_the_auc((scores, positive, _) in samples()) {
            let rounded: Vec<f64> = scores.iter().map(|s| s.round()).collect();
            let ramp = Ramp { half_width: 0.5, side_slope: 0.0 };
            let value = ramp.auc(&RocCurve::new(&rounded, &positive).unwrap()).unwrap();
            prop_assert!((value - auc(&rounded, &positive).unwrap()).abs() < 1e-15);
        }

        #[test]
        fn a_weight_is_a_number_of_rows(ramp in ramps(), (scores, positive, counts) in samples()) {
            let weights: Vec<f64> = counts.iter().map(|&c| c.into()).collect();
            let repeat = |row: usize| std::iter::repeat_n(row, counts[row].into());
            let rows: Vec<usize> = (0..scores.len()).flat_map(repeat).collect();
            let s: Vec<f64> = rows.iter().map(|&row| scores[row]).collect();
            let p: Vec<bool> = rows.iter().map(|&row| positive[row]).collect();
            let weighted = ramp.gradient(&scores, &positive, Some(&weights)).unwrap();
            let repeated = ramp.gradient(&s, &p, None).unwrap();
            prop_assert_eq!(weighted.value, repeated.value);
            for (&row, slope) in rows.iter().zip(&repeated.by_score) {
                let whole = slope * weights[row];
                prop_assert!((weighted.by_score[row] - whole).abs() < 1e-15);
            }
        }
    }

    #[test]
    fn a_constant_added_to_every_score_is_lost_to_rounding_alone() {
        let scores: Vec<f64> = (0..2000_u32).map(|i| f64::from(i * 37 % 911) / 256.0).collect();
        let positive: Vec<bool> = (0..2000).map(|i| i * i % 7 < 3).collect();
        let ramp = Ramp::default();
        let value = |shift: f64| {
            let moved: Vec<f64> = scores.iter().map(|s| s + shift).collect();
            ramp.auc(&RocCurve::new(&moved, &positive).unwrap()).unwrap()
        };
        // 2^40 + k/256 is exact, so the result must be too.
        assert!((value(2_f64.powi(40)) - value(0.0)).abs() < 1e-15);
    }

    #[test]
    fn threads_and_the_order_of_the_rows_do_not_matter() {
        let n = PARALLEL_FROM + 1000;
        let scores: Vec<f64> = (0..n).map(|i| (i as f64 * 0.618).sin() * 3.0).collect();
        let positive: Vec<bool> = (0..n).map(|i| i % 3 == 0).collect();
        let on = |n_threads, scores: &[f64], positive: &[bool]| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(n_threads).build().unwrap();
            pool.install(|| Ramp::default().gradient(scores, positive, None).unwrap())
        };
        let one = on(1, &scores, &positive);
        assert_eq!(one, on(2, &scores, &positive));
        let (mut s, mut p) = (scores, positive);
        s.reverse();
        p.reverse();
        let mut turned = on(2, &s, &p);
        turned.by_score.reverse();
        assert_eq!(one, turned);
    }

    #[test]
    fn bad_input_is_named() {
        let message = |result: Result<RampGradient, RankError>| result.unwrap_err().to_string();
        let (scores, positive) = ([0.0, 1.0], [false, true]);
        let ramp = Ramp { half_width: 0.0, ..Ramp::default() };
        assert_eq!(
            message(ramp.gradient(&scores, &positive, None)),
            "half_width is 0, but must be positive and finite"
        );
        let ramp = Ramp { side_slope: -1.0, ..Ramp::default() };
        assert_eq!(
            message(ramp.gradient(&scores, &positive, None)),
            "side_slope is -1, but must be from 0 to 1"
        );
        assert_eq!(
            message(Ramp::default().gradient(&[f64::NEG_INFINITY, 1.0], &positive, None)),
            "a score is -inf, but must be finite: the ramp is made of differences"
        );
        assert_eq!(
            message(Ramp::default().gradient(&[0.0, f64::NAN], &positive, None)),
            "the score of row 1 is NaN"
        );
        assert_eq!(
            Ramp::default().gradient(&scores, &positive, Some(&[1.0, 0.0])),
            Err(RankError::ClassWithoutWeight { class: "positive" })
        );
        assert_eq!(
            message(Ramp::default().gradient(&[-1e308, 1e308], &positive, None)),
            "the ramp AUC is beyond f64, but must be finite: scores are too large for their differences \
             to be added up"
        );
    }
}
