//! Area under the ROC curve, read as the Mann–Whitney statistic.

use super::RocState;
use super::descend::descend;
use super::mass::{Mass, Shifted, Weights};
use super::pairs::{BucketPairs, PairCounter};
use super::record::{Record, Words};
use super::sample::{MassOf, ScoreSample, Unweighted, Weigh};
use super::score::{Score, Word};
use super::sink::{RangeSink, Sink};
use super::sort::sweep;
use crate::RankError;

/// Probability that a random positive row outranks a random negative one, a tie counting one half
/// (Hanley and McNeil, 1982).
///
/// Exact: pairs are counted in integers, and only the final division rounds.
///
/// # Errors
///
/// [`RankError`] if the lengths differ, a score is NaN, or a class is absent.
///
/// # Examples
///
/// ```
/// assert_eq!(aucrank::roc::auc(&[0.1, 0.4, 0.4], &[false, false, true]), Ok(0.75));
/// ```
pub fn auc<S: Score>(scores: &[S], positive: &[bool]) -> Result<f64, RankError> {
    area::<S, _, S::Key>(&ScoreSample::new(scores, positive, Unweighted)?)
}

/// [`auc`] of weighted rows: a row of weight k counts as k rows, one of weight 0 as none.
///
/// # Errors
///
/// [`RankError`] as for [`auc`], and if a weight is negative, NaN or infinite, or a class has no
/// weight.
///
/// # Examples
///
/// ```
/// let (scores, positive) = ([0.1, 0.4, 0.4], [false, false, true]);
/// assert_eq!(aucrank::roc::weighted_auc(&scores, &positive, &[3.0, 1.0, 2.0]), Ok(0.875));
/// ```
pub fn weighted_auc<S: Score>(
    scores: &[S],
    positive: &[bool],
    weights: &[f64],
) -> Result<f64, RankError> {
    match Weights::new(weights, positive)? {
        Weights::Few(few) => area::<S, _, (S::Key, u64)>(&ScoreSample::new(scores, positive, few)?),
        Weights::Many(many) => {
            let sample = ScoreSample::new(scores, positive, many)?;
            if many.is_exact {
                return area::<S, _, (S::Key, Shifted)>(&sample);
            }
            RocState::of_sample(&sample)?.auc()
        }
    }
}

fn area<S, W, R>(sample: &ScoreSample<'_, S, W>) -> Result<f64, RankError>
where
    S: Score,
    W: Weigh,
    R: Record<S::Key, Unit = W::Unit, Mass = MassOf<W>>,
{
    let parts = sweep::<S, W, R, _>(sample, |_| ConcordantPairs::default());
    parts.into_iter().fold(ConcordantPairs::default(), ConcordantPairs::then).area()
}

/// Concordant pairs among the rows of a range of scores.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct ConcordantPairs<M: Mass> {
    /// Two for each pair whose positive row has the higher score, one for each tie.
    half_wins: M::Product,
    positive: M,
    negative: M,
}

impl<M: Mass> ConcordantPairs<M> {
    /// Adds rows of one score, which is above all scores so far.
    #[inline]
    pub fn push(&mut self, positive: M, negative: M) {
        // Two for a win and one for a tie: the half of a tie stays an integer, and the sum does not
        // depend on how scores are grouped. Twice a class never overflows (`FEW_BITS` and
        // `MOST_BITS` of `mass`).
        self.half_wins += positive.times(self.negative + self.negative + negative);
        self.positive += positive;
        self.negative += negative;
    }

    pub fn half_wins(&self) -> M::Product {
        self.half_wins
    }

    /// The AUC of all rows so far.
    pub fn area(self) -> Result<f64, RankError> {
        let none = M::default();
        if self.positive == none || self.negative == none {
            let class = if self.positive == none { "positive" } else { "negative" };
            return Err(RankError::ClassWithoutWeight { class });
        }
        let half_wins = M::product_to_f64(self.half_wins);
        Ok(half_wins / M::half_wins_of(self.positive, self.negative))
    }

    /// The pairs of this range followed by one above it.
    fn then(self, above: Self) -> Self {
        // Integers, so the ranges of any number of threads add up to the bits of one. `above` must
        // be the higher range: each of its positive rows outranks all negative ones of this range.
        Self {
            half_wins: self.half_wins
                + above.half_wins
                + above.positive.times(self.negative + self.negative),
            positive: self.positive + above.positive,
            negative: self.negative + above.negative,
        }
    }
}

impl<K: Word, M: Mass> Sink<K, M> for ConcordantPairs<M> {
    type Scratch = PairCounter<M>;

    fn tie(&mut self, _: K, positive: M, negative: M) {
        self.push(positive, negative);
    }

    fn parts<R: Record<K, Mass = M>>(
        &mut self,
        rows: [&[&[R]]; 2],
        words: Words,
        counter: &mut PairCounter<M>,
    ) -> bool {
        let Some(BucketPairs { half_wins, positive, negative }) = counter.count(rows, words) else {
            return false;
        };
        *self = self.then(Self { half_wins, positive, negative });
        true
    }

    fn rows<R: Record<K, Mass = M>>(
        &mut self,
        rows: &mut [R],
        scratch: &mut [R],
        (words, top): (Words, K),
        _: &mut PairCounter<M>,
    ) {
        descend(rows, scratch, Some(words), top, self);
    }
}

impl<K: Word, M: Mass> RangeSink<K, M> for ConcordantPairs<M> {
    #[inline]
    fn range<R: Record<K, Mass = M>>(&mut self, rows: &mut [R], n_neg: usize, _: K) {
        let (neg, pos) = rows.split_at(n_neg);
        // The pairs of a range are few, and compared one by one without a branch. The words of tied
        // rows of different classes differ in the last bit only: a negative row below `word` is a
        // win or a tie, one below `word - 1` a win. A positive word is odd, so that nothing wraps.
        for &p in pos {
            let word: u64 = p.word().into();
            let mut below = M::default();
            for &q in neg {
                let other: u64 = q.word().into();
                below += q.weight().repeated(u64::from(other < word) + u64::from(other < word - 1));
            }
            self.half_wins += p.weight().times(self.negative + self.negative + below);
            self.positive += p.weight();
        }
        self.negative += neg.iter().map(|q| q.weight()).sum();
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::roc::RocCurve;

    /// The definition, pair by pair.
    fn auc_by_pairs(scores: &[f64], positive: &[bool]) -> f64 {
        let (mut half_wins, mut pairs) = (0_u32, 0_u32);
        for (s, _) in scores.iter().zip(positive).filter(|(_, p)| **p) {
            for (t, _) in scores.iter().zip(positive).filter(|(_, p)| !**p) {
                half_wins += u32::from(s > t) + u32::from(s >= t);
                pairs += 1;
            }
        }
        f64::from(half_wins) / f64::from(2 * pairs)
    }

    fn repeated<T: Copy>(rows: &[T], counts: &[u8]) -> Vec<T> {
        let pairs = rows.iter().zip(counts);
        pairs.flat_map(|(&row, &count)| std::iter::repeat_n(row, count.into())).collect()
    }

    #[test]
    fn equals_the_definition_for_every_labelling_of_tied_scores() {
        let scores = [0.0, 1.0, -0.0, f64::INFINITY, 1.0, -3.5, f64::NEG_INFINITY];
        for bits in 1..127_u32 {
            let positive: Vec<bool> = (0..7).map(|row| bits >> row & 1 == 1).collect();
            assert_eq!(auc(&scores, &positive), Ok(auc_by_pairs(&scores, &positive)));
        }
    }

    #[test]
    fn weights_near_2_to_the_53_do_not_overflow() {
        let weights = [2_f64.powi(52), 2_f64.powi(52)];
        assert_eq!(weighted_auc(&[0.0, 1.0], &[false, true], &weights), Ok(1.0));
        assert_eq!(weighted_auc(&[1.0, 0.0], &[false, true], &[1e300, 1e-5]), Ok(0.0));
        assert_eq!(weighted_auc(&[0.0, 1.0], &[false, true], &[1e300, 1e-5]), Ok(1.0));
    }

    #[test]
    fn bad_input_is_named() {
        let two = [false, true];
        let message = |result: Result<f64, RankError>| result.unwrap_err().to_string();
        assert_eq!(message(auc(&[0.0; 3], &two)), "y_score has 3 rows, but y has 2");
        assert_eq!(message(auc(&[0.0, f64::NAN], &two)), "the score of row 1 is NaN");
        assert_eq!(
            message(auc(&[0.0_f32; 0], &[])),
            "y has one class only, so there is no pair to rank: 0 positive and 0 negative rows"
        );
        assert_eq!(
            auc(&[0.0, 1.0], &[true, true]),
            Err(RankError::OneClass { n_pos: 2, n_neg: 0 })
        );
        assert_eq!(
            message(weighted_auc(&[0.0; 2], &two, &[1.0])),
            "sample_weight has 1 rows, but y has 2"
        );
        assert_eq!(
            weighted_auc(&[0.0; 2], &two, &[1.0, -1.0]),
            Err(RankError::BadWeight { row: 1, value: -1.0 })
        );
        assert_eq!(
            weighted_auc(&[0.0; 2], &two, &[0.0, 1.0]),
            Err(RankError::ClassWithoutWeight { class: "negative" })
        );
    }

    #[test]
    fn a_nan_far_down_is_found_in_its_row() {
        let n = 3 * crate::roc::PARALLEL_FROM;
        let mut scores = vec![0.5_f32; n];
        scores[n - 5] = f32::NAN;
        let positive: Vec<bool> = (0..n).map(|row| row % 2 == 0).collect();
        assert_eq!(auc(&scores, &positive), Err(RankError::NanScore(n - 5)));
    }

    /// Rows of both classes with few distinct scores, and a weight for each.
    fn samples() -> impl Strategy<Value = (Vec<f64>, Vec<bool>, Vec<u8>)> {
        prop::collection::vec((-4..4_i8, any::<bool>(), 0..4_u8), 0..80).prop_map(|rows| {
            let mut sample = (vec![1.0, 0.0], vec![true, false], vec![1, 2]);
            for (score, positive, weight) in rows {
                sample.0.push(f64::from(score));
                sample.1.push(positive);
                sample.2.push(weight);
            }
            sample
        })
    }

    proptest! {
        #[test]
        fn equals_the_definition((scores, positive, _) in samples()) {
            prop_assert_eq!(auc(&scores, &positive), Ok(auc_by_pairs(&scores, &positive)));
        }

        #[test]
        fn depends_only_on_the_order_of_the_scores((scores, positive, _) in samples()) {
            let value = auc(&scores, &positive);
            let grown: Vec<f64> = scores.iter().map(|s| s.exp()).collect();
            let narrow: Vec<f32> = scores.iter().map(|&s| s as f32 * 1e-30).collect();
            prop_assert_eq!(&auc(&grown, &positive), &value);
            prop_assert_eq!(&auc(&narrow, &positive), &value);
        }

        #[test]
        fn swapping_the_classes_gives_the_complement((scores, positive, _) in samples()) {
            let swapped: Vec<bool> = positive.iter().map(|p| !p).collect();
            let sum = auc(&scores, &positive).unwrap() + auc(&scores, &swapped).unwrap();
            prop_assert!((sum - 1.0).abs() < 1e-15);
        }

        #[test]
        fn a_weight_is_a_number_of_rows((scores, positive, counts) in samples()) {
            let weights: Vec<f64> = counts.iter().map(|&c| c.into()).collect();
            let (s, p) = (repeated(&scores, &counts), repeated(&positive, &counts));
            prop_assert_eq!(weighted_auc(&scores, &positive, &weights), auc(&s, &p));
            let halves: Vec<f64> = weights.iter().map(|w| w * 0.5).collect();
            prop_assert_eq!(weighted_auc(&scores, &positive, &halves), auc(&s, &p));
        }

        #[test]
        fn the_order_of_the_rows_does_not_matter(
            (scores, positive, counts) in samples(), by in 0..80_usize
        ) {
            let weights: Vec<f64> = counts.iter().map(|&c| 0.1 * f64::from(c)).collect();
            let value = weighted_auc(&scores, &positive, &weights);
            let (mut s, mut p, mut w) = (scores, positive, weights);
            let by = by % s.len();
            s.rotate_left(by);
            p.rotate_left(by);
            w.rotate_left(by);
            s.reverse();
            p.reverse();
            w.reverse();
            prop_assert_eq!(weighted_auc(&s, &p, &w), value);
        }

        #[test]
        fn is_the_area_under_the_curve((scores, positive, counts) in samples()) {
            let weights: Vec<f64> = counts.iter().map(|&c| f64::from(c) / 3.0).collect();
            let curve = RocCurve::weighted(&scores, &positive, &weights).unwrap();
            prop_assert_eq!(weighted_auc(&scores, &positive, &weights), Ok(curve.auc()));
        }
    }

    /// The definition by a sort of the rows.
    #[expect(clippy::float_cmp, reason = "a tie is exact equality")]
    fn auc_by_sort(scores: &[f64], positive: &[bool]) -> f64 {
        let mut order: Vec<usize> = (0..scores.len()).collect();
        order.sort_unstable_by(|&a, &b| scores[a].total_cmp(&scores[b]));
        let (mut half_wins, mut n_pos, mut n_neg) = (0, 0, 0);
        for tied in order.chunk_by(|&a, &b| scores[a] == scores[b]) {
            let pos = tied.iter().filter(|&&row| positive[row]).count() as u64;
            let neg = tied.len() as u64 - pos;
            half_wins += pos * (2 * n_neg + neg);
            n_pos += pos;
            n_neg += neg;
        }
        half_wins as f64 / (2 * n_pos * n_neg) as f64
    }

    #[test]
    fn rows_of_one_bucket_or_of_many_blocks_give_the_pairs_of_a_sort() {
        let uniform = |row: usize, salt: u64| {
            let bits = (row as u64 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ salt;
            (bits.wrapping_mul(0xD1B5_4A32_D192_ED03) >> 11) as f64 * 2_f64.powi(-53)
        };
        let shapes: [&dyn Fn(f64) -> f64; 9] = [
            &|u| u,
            &|u| (u / (1.0 - u)).ln(),
            &|u| (u * 1e4).floor() - 5e3, // ties of both classes
            &|u| (u * 1e5).round() / 1e5, // ties in all bits
            &|u| 1.0 + (u * 1e6).floor() * f64::EPSILON, // leading bits tie
            &|u| if u < 1e-3 { 1e300 } else { u - 0.5 },
            &|u| (u - 0.5).powi(3) * 1e-310, // denormal
            &|u| if u < 0.1 { f64::NEG_INFINITY } else { (u - 0.9).max(-0.0) },
            &|u| f64::from_bits((u * 2e19) as u64), // all magnitudes
        ];
        for n in [3, 1000, (1 << 14) - 1, 1 << 14, (1 << 15) + 1, (1 << 16) + 5] {
            for (number, shape) in shapes.iter().enumerate() {
                let scores = (0..n).map(|row| shape(uniform(row, 0)));
                let scores: Vec<f64> = scores.map(|s| if s.is_nan() { -0.0 } else { s }).collect();
                let narrow: Vec<f32> = scores.iter().map(|&s| s as f32).collect();
                let widened: Vec<f64> = narrow.iter().map(|&s| s.into()).collect();
                // The positive rows are the few, the many, and one.
                for share in [0.3, 0.8, 0.0] {
                    let mut positive: Vec<bool> =
                        (0..n).map(|row| uniform(row, 7) < share).collect();
                    positive[..2].copy_from_slice(&[false, true]);
                    let expected = auc_by_sort(&scores, &positive);
                    let expected_narrow = auc_by_sort(&widened, &positive);
                    for n_threads in [1, 3] {
                        let pool = rayon::ThreadPoolBuilder::new().num_threads(n_threads).build();
                        let found = pool
                            .unwrap()
                            .install(|| (auc(&scores, &positive), auc(&narrow, &positive)));
                        let what = format!("{n} rows of shape {number}, {n_threads} threads");
                        assert_eq!(found, (Ok(expected), Ok(expected_narrow)), "{what}");
                    }
                }
            }
        }
    }

    #[test]
    fn a_million_weighted_rows_in_two_rounds_are_their_copies() {
        let n = (1 << 20) + 7;
        let number = |i: usize| (i as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        let scores: Vec<f64> = (0..n).map(|i| (number(i) >> 44) as f64 - 4e5).collect();
        let positive: Vec<bool> = (0..n).map(|i| number(i) >> 40 & 15 < 5).collect();
        let weights: Vec<f64> = (0..n).map(|i| (i % 3) as f64).collect();
        let copies = || (0..n).flat_map(|i| std::iter::repeat_n(i, i % 3));
        let copied_scores: Vec<f64> = copies().map(|i| scores[i]).collect();
        let copied_positive: Vec<bool> = copies().map(|i| positive[i]).collect();
        let expected = auc(&copied_scores, &copied_positive).unwrap();
        let value = weighted_auc(&scores, &positive, &weights).unwrap();
        assert_eq!(value.to_bits(), expected.to_bits());
    }
}
