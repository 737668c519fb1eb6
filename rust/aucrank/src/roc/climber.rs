//! The ramp statistic evaluated again and again while the scores change, as in gradient ascent.

use super::chunks::PARALLEL_FROM;
use super::ramp::Ramp;
use super::ramp_sums::{ClassPair, Ordered, Partners, RampSums};
use super::ranking::{Bounds, Ranking};
use crate::data::{FixedWeights, Labels};
use crate::{RankError, parallel};

/// Maximum weight of a class, as in `FixedWeights`.
const MOST_WEIGHT: u64 = 1 << 53;

/// Rows per task of a pass in sorted order.
const CHUNK: usize = 1 << 14;

/// Value, slopes and AUC of the same rows under changing scores.
///
/// Memory is reused from call to call. A call sorts and then takes O(n); the result is the same for
/// any number of threads and any order of the rows, and a row of weight k counts as k rows. With
/// fewer than [`PARALLEL_FROM`] rows a call stays on its thread and, once its buffers have grown,
/// allocates nothing, so that many climbers can run in parallel.
///
/// # Examples
///
/// ```
/// use aucrank::roc::{Ramp, RampClimber};
///
/// // The weight of the negative and of the positive class in each row: a row may have both.
/// let ramp = Ramp { half_width: 1.0, side_slope: 0.0 };
/// let mut climber = RampClimber::new(ramp, &[1, 0, 1], &[0, 1, 1]).unwrap();
/// assert_eq!(climber.evaluate(&[0.0, 0.5, 9.0]), Ok((0.75 + 0.0 + 1.0 + 0.5) / 4.0));
/// assert_eq!(climber.slopes(), [-0.125, 0.125, 0.0]);
/// assert_eq!(climber.auc(), (1.0 + 0.0 + 1.0 + 0.5) / 4.0);
/// ```
#[derive(Debug, Clone)]
pub struct RampClimber {
    ramp: Ramp,
    total: [u64; 2],
    /// The rows of positive weight, if some have none.
    live: Option<Live>,
    units: Units,
    ranking: Ranking,
    partners: Partners,
    slopes: Vec<f64>,
    /// The slopes in the order of the scores.
    ordered: Vec<f64>,
    sums: RampSums,
}

/// The rows of positive weight, with their scores and slopes.
#[derive(Debug, Clone)]
struct Live {
    rows: Vec<u32>,
    scores: Vec<f64>,
    slopes: Vec<f64>,
}

/// Class weights of the rows, in input order and as prefix sums in sorted order.
#[derive(Debug, Clone)]
enum Units {
    /// Less than 2^16 per row and less than 2^32 in total: both fit in one word, which is sorted
    /// with the row.
    Small {
        of_row: Vec<u32>,
        below: Vec<u64>,
    },
    Large {
        of_row: Vec<u128>,
        below: Vec<u128>,
    },
}

impl RampClimber {
    /// A climber for rows with a weight in the negative and one in the positive class.
    ///
    /// # Errors
    ///
    /// [`RankError`] for a bad ramp as in [`Ramp::validate`], lengths that differ, a class without
    /// weight, more than 2^53 units of weight in a class, or more than 2^32 rows.
    pub fn new(ramp: Ramp, negative: &[u64], positive: &[u64]) -> Result<Self, RankError> {
        if negative.len() != positive.len() {
            return Err(RankError::LengthMismatch {
                name: "the negative weights",
                found: negative.len(),
                expected: positive.len(),
            });
        }
        Self::of_rows(ramp, negative.len(), |row| [negative[row], positive[row]])
    }

    /// A climber for rows of one class each.
    ///
    /// # Errors
    ///
    /// [`RankError`] for a bad ramp as in [`Ramp::validate`], or more than 2^32 rows.
    pub fn of_labels(ramp: Ramp, labels: &Labels<'_>) -> Result<Self, RankError> {
        let units = labels.weights().map(FixedWeights::units);
        Self::of_rows(ramp, labels.n_rows(), |row| {
            let units = units.map_or(1, |units| units[row]);
            if labels.positive()[row] { [0, units] } else { [units, 0] }
        })
    }

    pub(super) fn of_rows(
        ramp: Ramp,
        n_rows: usize,
        weights: impl Fn(usize) -> [u64; 2],
    ) -> Result<Self, RankError> {
        ramp.validate()?;
        let bad = |name, value: String, rule| Err(RankError::BadParameter { name, value, rule });
        if u32::try_from(n_rows).is_err() {
            return bad("the number of rows", n_rows.to_string(), "less than 2^32");
        }
        let (mut total, mut most, mut n_live) = ([0_u64; 2], 0, 0);
        for row in 0..n_rows {
            let weights = weights(row);
            for (total, weight) in total.iter_mut().zip(weights) {
                *total = total.saturating_add(weight);
                most = most.max(weight);
            }
            n_live += usize::from(weights != [0, 0]);
        }
        for (class, total) in ["negative", "positive"].into_iter().zip(total).rev() {
            if total == 0 {
                return Err(RankError::ClassWithoutWeight { class });
            }
            if total > MOST_WEIGHT {
                return bad("the weight of a class", total.to_string(), "at most 2^53");
            }
        }
        let live = (n_live < n_rows).then(|| Live {
            rows: (0..n_rows as u32).filter(|&row| weights(row as usize) != [0, 0]).collect(),
            scores: Vec::new(),
            slopes: vec![0.0; n_live],
        });
        let of_live = (0..n_live).map(|place| {
            let row = live.as_ref().map_or(place, |live| live.rows[place] as usize);
            weights(row)
        });
        // Small weights are sorted with their row. Large ones are looked up by row in the order of
        // the scores, which is a cache miss for each row of a large sample.
        let small = most < 1 << 16 && total.into_iter().all(|total| total < 1 << 32);
        let units = if small {
            let of_row = of_live.map(|[neg, pos]| (pos << 16 | neg) as u32).collect();
            Units::Small { of_row, below: Vec::new() }
        } else {
            let of_row = of_live.map(|[neg, pos]| u128::new(neg, pos)).collect();
            Units::Large { of_row, below: Vec::new() }
        };
        Ok(Self {
            ramp,
            total,
            live,
            units,
            ranking: Ranking::default(),
            partners: Partners::default(),
            slopes: vec![0.0; n_rows],
            ordered: Vec::new(),
            sums: RampSums::default(),
        })
    }

    /// The ramp AUC of `scores`.
    ///
    /// # Errors
    ///
    /// [`RankError`] if the number of scores is not that of the rows, a score is NaN, a row of
    /// positive weight has an infinite score, or the sum of score differences overflows. Slopes and
    /// AUC are then meaningless until the next call.
    pub fn evaluate(&mut self, scores: &[f64]) -> Result<f64, RankError> {
        if scores.len() != self.slopes.len() {
            return Err(RankError::LengthMismatch {
                name: "y_score",
                found: scores.len(),
                expected: self.slopes.len(),
            });
        }
        let mut bounds = Bounds::of(scores);
        if bounds.is_nan {
            let row = scores.iter().position(|score| score.is_nan());
            return Err(RankError::NanScore(row.unwrap_or_default()));
        }
        let (scores, slopes) = match &mut self.live {
            None => (scores, &mut self.slopes),
            Some(live) => {
                live.scores.clear();
                live.scores.extend(live.rows.iter().map(|&row| scores[row as usize]));
                bounds = Bounds::of(&live.scores);
                (&live.scores[..], &mut live.slopes)
            }
        };
        if let Some(infinite) = [bounds.high, bounds.low].into_iter().find(|s| !s.is_finite()) {
            return Err(infinite_score(infinite));
        }

        let ranking = &mut self.ranking;
        self.sums = match &mut self.units {
            Units::Small { of_row, below } => {
                ranking.sort(scores, &bounds, |row| of_row[row]);
                let own = |place: usize| {
                    let units = u64::from(ranking.tags[place]);
                    u64::new(units & 0xFFFF, units >> 16)
                };
                sum_up(own, below, ranking, &mut self.partners, &self.ramp, &mut self.ordered)
            }
            Units::Large { of_row, below } => {
                ranking.sort(scores, &bounds, |row| row as u32);
                let own = |place: usize| of_row[ranking.tags[place] as usize];
                sum_up(own, below, ranking, &mut self.partners, &self.ramp, &mut self.ordered)
            }
        };
        ranking.give_back(scores, &self.ordered, slopes);
        if let Some(live) = &self.live {
            for (&row, &slope) in live.rows.iter().zip(&live.slopes) {
                self.slopes[row as usize] = slope;
            }
        }
        self.sums.value(&self.ramp, self.total)
    }

    /// Derivative of the value with respect to the score of each row, as in
    /// [`RampGradient`](super::RampGradient), at the scores of the last [`RampClimber::evaluate`];
    /// a row with weight in both classes may have either sign. 0 before the first call.
    #[must_use]
    pub fn slopes(&self) -> &[f64] {
        &self.slopes
    }

    /// The AUC of the same scores, equal to the last bit to [`auc`](super::auc). 0 before the first
    /// call.
    #[must_use]
    pub fn auc(&self) -> f64 {
        self.sums.auc(self.total)
    }

    /// The slopes, without a copy.
    #[must_use]
    pub fn into_slopes(self) -> Vec<f64> {
        self.slopes
    }
}

pub(super) fn infinite_score(score: f64) -> RankError {
    RankError::BadParameter {
        name: "a score",
        value: score.to_string(),
        rule: "finite: the ramp is made of differences",
    }
}

/// Value and slopes of rows in sorted order, given the class weights of each.
fn sum_up<P: ClassPair>(
    own: impl Fn(usize) -> P + Sync,
    below: &mut Vec<P>,
    ranking: &Ranking,
    partners: &mut Partners,
    ramp: &Ramp,
    slopes: &mut Vec<f64>,
) -> RampSums {
    let n = ranking.scores.len();
    let parallel = n >= PARALLEL_FROM && crate::parallel::current_num_threads() > 1;
    below.resize(n + 1, P::default());
    let fill = |mut sum: P, start: usize, below: &mut [P]| {
        for (place, below) in below.iter_mut().enumerate() {
            sum = sum + own(start + place);
            *below = sum;
        }
        sum
    };
    if parallel {
        // Integers, so the chunks may be added up in this way without another result than on one
        // thread.
        // Prefix sums within each chunk, then the totals of the chunks before are added.
        let chunks = below[1..].chunks_mut(CHUNK).enumerate().collect();
        let sums: Vec<P> = parallel::map(chunks, |(i, chunk)| fill(P::default(), i * CHUNK, chunk));
        let before: Vec<P> = sums
            .iter()
            .scan(P::default(), |sum, &own| {
                let before = *sum;
                *sum = *sum + own;
                Some(before)
            })
            .collect();
        let chunks = below[1..].chunks_mut(CHUNK).zip(before).collect();
        parallel::map(chunks, |(chunk, before): (&mut [P], P)| {
            for below in chunk {
                *below = *below + before;
            }
        });
    } else {
        fill(P::default(), 0, &mut below[1..]);
    }
    let ordered = Ordered { scores: &ranking.scores, below };
    partners.find(ordered, ramp.half_width, parallel);
    partners.sums(ordered, ramp, slopes, parallel)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Value, slopes and AUC pair by pair.
    fn by_pairs(ramp: &Ramp, weights: &[[u64; 2]], scores: &[f64]) -> (f64, Vec<f64>, f64) {
        let (mut value, mut wins, mut pairs) = (0.0, 0.0, 0.0);
        let mut slopes = vec![0.0; scores.len()];
        for (j, &s) in scores.iter().enumerate() {
            for (k, &t) in scores.iter().enumerate() {
                let weight = weights[j][1] as f64 * weights[k][0] as f64;
                let inside = (s - t).abs() <= ramp.half_width;
                let share = if inside { 1.0 } else { ramp.side_slope };
                value += weight * ramp.at(s - t);
                slopes[j] += weight * share / (2.0 * ramp.half_width);
                slopes[k] -= weight * share / (2.0 * ramp.half_width);
                wins += weight * 0.5 * (f64::from(s > t) + f64::from(s >= t));
                pairs += weight;
            }
        }
        (value / pairs, slopes.into_iter().map(|slope| slope / pairs).collect(), wins / pairs)
    }

    fn of(ramp: Ramp, weights: &[[u64; 2]]) -> RampClimber {
        let [neg, pos] = [0, 1].map(|class| weights.iter().map(|w| w[class]).collect::<Vec<_>>());
        RampClimber::new(ramp, &neg, &pos).unwrap()
    }

    fn ramps() -> impl Strategy<Value = Ramp> {
        let widths = prop_oneof![Just(0.25), Just(1.0), 0.01..5.0];
        let slopes = prop_oneof![Just(0.0), Just(1e-3), 0.0..1.0];
        (widths, slopes).prop_map(|(half_width, side_slope)| Ramp { half_width, side_slope })
    }

    type Rows = Vec<([u64; 2], f64)>;

    /// Rows with weight in both classes, one, or none; many scores on a grid, so that ties and
    /// corners occur.
    fn samples() -> impl Strategy<Value = Rows> {
        let score = prop_oneof![(-8..8_i8).prop_map(|s| f64::from(s) / 4.0), -3.0..3.0];
        let row = ([0..4_u64, 0..4_u64], score);
        prop::collection::vec(row, 0..80).prop_map(|mut rows| {
            rows.extend([([1, 0], 0.0), ([0, 2], -0.0)]);
            rows
        })
    }

    fn assert_close(
        climber: &RampClimber,
        value: f64,
        ramp: &Ramp,
        weights: &[[u64; 2]],
        scores: &[f64],
    ) {
        let (expected, slopes, auc) = by_pairs(ramp, weights, scores);
        // A pair may contribute far more than 1, and the rounding error is proportional to the
        // summands.
        let low = scores.iter().copied().fold(f64::INFINITY, f64::min);
        let high = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let largest = ramp.at(high - low).max(1.0);
        assert!((value - expected).abs() < 1e-13 * largest, "{value} {expected}");
        assert!((climber.auc() - auc).abs() < 1e-13);
        for (slope, expected) in climber.slopes().iter().zip(slopes) {
            assert!((slope - expected).abs() < 1e-12, "{slope} {expected}");
        }
    }

    proptest! {
        #[test]
        fn one_climber_gives_the_double_sums_of_any_scores(
            ramp in ramps(), rows in samples(), scale in 1_u64..1 << 40
        ) {
            let (weights, scores): (Vec<[u64; 2]>, Vec<f64>) = rows.into_iter().unzip();
            let turned: Vec<f64> = scores.iter().rev().map(|s| s * 1.5).collect();
            let large: Vec<[u64; 2]> = weights.iter().map(|w| w.map(|w| w * scale)).collect();
            for weights in [&weights, &large] {
                let mut climber = of(ramp, weights);
                for scores in [&scores, &turned, &scores] {
                    let value = climber.evaluate(scores).unwrap();
                    assert_close(&climber, value, &ramp, weights, scores);
                }
            }
        }

        #[test]
        fn neither_the_order_of_rows_nor_merging_them_nor_rows_without_weight_change_a_bit(
            ramp in ramps(), rows in samples()
        ) {
            let (weights, scores): (Vec<[u64; 2]>, Vec<f64>) = rows.iter().copied().unzip();
            let mut climber = of(ramp, &weights);
            let value = climber.evaluate(&scores).unwrap();

            // Each row split into single rows of one class, in reverse order.
            let mut single = Rows::new();
            for &([neg, pos], score) in rows.iter().rev() {
                single.extend((0..neg).map(|_| ([1, 0], score)));
                single.extend((0..pos).map(|_| ([0, 1], score)));
            }
            let (weights, scores): (Vec<[u64; 2]>, Vec<f64>) = single.into_iter().unzip();
            let mut singles = of(ramp, &weights);
            prop_assert_eq!(singles.evaluate(&scores), Ok(value));
            prop_assert_eq!(singles.auc(), climber.auc());
            let mut slopes = singles.slopes().iter();
            for (&([neg, pos], _), whole) in rows.iter().zip(climber.slopes()).rev() {
                let sum: f64 = slopes.by_ref().take((neg + pos) as usize).sum();
                prop_assert!((sum - whole).abs() < 1e-14);
            }
        }

        #[test]
        fn far_scores_lose_no_digits(ramp in ramps(), rows in samples(), far in 1.0e6..1.0e12_f64) {
            let ramp = Ramp { side_slope: 0.0, ..ramp };
            let (mut weights, mut scores): (Vec<[u64; 2]>, Vec<f64>) = rows.into_iter().unzip();
            weights.extend([[1, 0], [0, 1], [1, 1]]);
            scores.extend([far, -far, 2.0 * far]);
            let mut climber = of(ramp, &weights);
            let value = climber.evaluate(&scores).unwrap();
            assert_close(&climber, value, &ramp, &weights, &scores);
        }
    }

    #[test]
    fn many_rows_give_the_same_bits_on_any_threads_in_any_order() {
        let n = PARALLEL_FROM + 4321;
        let spread: Vec<f64> = (0..n).map(|i| (i as f64 * 0.618).sin() * 3.0).collect();
        let tied: Vec<f64> = spread.iter().map(|s| (s * 40.0).round() / 40.0).collect();
        let small: Vec<[u64; 2]> = (0..n).map(|i| [i as u64 % 3, i as u64 % 2]).collect();
        let large: Vec<[u64; 2]> = small.iter().map(|w| w.map(|w| w * 100_003)).collect();
        let ramp = Ramp { half_width: 0.25, side_slope: 0.01 };
        for (weights, scores) in [(&small, &spread), (&small, &tied), (&large, &tied)] {
            let on = |n_threads, weights: &[[u64; 2]], scores: &[f64]| {
                let pool = rayon::ThreadPoolBuilder::new().num_threads(n_threads).build().unwrap();
                let mut climber = of(ramp, weights);
                let value = pool.install(|| climber.evaluate(scores)).unwrap();
                (value, climber.slopes().to_vec(), climber.auc())
            };
            let one = on(1, weights, scores);
            assert_eq!(one, on(2, weights, scores));
            let turned = |v: &[[u64; 2]]| v.iter().rev().copied().collect::<Vec<_>>();
            let mut back =
                on(3, &turned(weights), &scores.iter().rev().copied().collect::<Vec<_>>());
            back.1.reverse();
            assert_eq!(one, back);

            // Some rows against the definition.
            let total = weights.iter().fold([0, 0], |sum, w| [sum[0] + w[0], sum[1] + w[1]]);
            for row in (0..n).step_by(n / 7) {
                let inside = |t: f64| (scores[row] - t).abs() <= ramp.half_width;
                let weight = |class: usize, is_inside: bool| {
                    let rows = scores.iter().zip(weights).filter(|(t, _)| inside(**t) == is_inside);
                    rows.map(|(_, w)| w[class]).sum::<u64>() as f64
                };
                let slope = |class: usize| {
                    2.0 * (weight(class, true) + ramp.side_slope * weight(class, false))
                };
                let [neg, pos] = weights[row].map(|w| w as f64);
                let expected =
                    (pos * slope(0) - neg * slope(1)) / total[0] as f64 / total[1] as f64;
                assert!((one.1[row] - expected).abs() <= 1e-12 * expected.abs());
            }
        }
    }

    #[test]
    fn bad_input_is_named() {
        let ramp = Ramp::default();
        let message = |result: Result<RampClimber, RankError>| result.unwrap_err().to_string();
        assert_eq!(
            message(RampClimber::new(ramp, &[1, 1], &[1])),
            "the negative weights has 2 rows, but y has 1"
        );
        assert_eq!(
            RampClimber::new(ramp, &[1, 1], &[0, 0]).unwrap_err(),
            RankError::ClassWithoutWeight { class: "positive" }
        );
        assert_eq!(
            message(RampClimber::new(ramp, &[1 << 53, 1], &[0, 1])),
            "the weight of a class is 9007199254740993, but must be at most 2^53"
        );
        let wide = Ramp { half_width: f64::INFINITY, ..ramp };
        assert_eq!(
            message(RampClimber::new(wide, &[1, 0], &[0, 1])),
            "half_width is inf, but must be positive and finite"
        );

        let mut climber = RampClimber::new(ramp, &[1, 0, 0], &[0, 1, 0]).unwrap();
        let message = |scores: &[f64]| climber.evaluate(scores).unwrap_err().to_string();
        let mut message = message;
        assert_eq!(message(&[0.0]), "y_score has 1 rows, but y has 3");
        assert_eq!(message(&[0.0, 1.0, f64::NAN]), "the score of row 2 is NaN");
        assert_eq!(
            message(&[f64::INFINITY, 1.0, 0.0]),
            "a score is inf, but must be finite: the ramp is made of differences"
        );
        // A row without weight may have any score.
        assert!(climber.evaluate(&[0.0, 0.25, f64::INFINITY]).is_ok_and(|value| value == 0.75));
        assert_eq!(climber.slopes(), [-1.0, 1.0, 0.0]);
    }
}
