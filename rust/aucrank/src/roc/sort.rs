//! Rows in order of their scores: the kernel of every statistic of this module.
//!
//! A statistic needs the rows in ascending order, but only a few at a time, and rows that all have
//! one class need no order at all for the AUC. So the rows are distributed into ever finer ranges
//! of scores, and each range is passed to a [`Sink`] as soon as it is fine enough:
//!
//! 1. Scores become integers in the same order ([`ScoreCoding`]). A row is moved as one word,
//!    `code << 1 | positive`, as wide as its score.
//! 2. The leading bits of the codes are counted, those of a sample at first, and neighbouring
//!    counts merged into some hundred buckets of about equal size. The rows move to their buckets
//!    block by block ([`sweep_blocks`]); if that leaves a large part of them in one bucket, all bits
//!    are counted, and each thread writes to its own share of every bucket. A bucket never
//!    straddles the middle of all codes, so the bit that the shift drops is known from the bucket.
//! 3. A sink that counts pairs takes a whole bucket, now small enough for the cache
//!    ([`PairCounter`](super::pairs::PairCounter)), and the few rows of a small sample as a single
//!    one. One that needs each score has the bucket in order ([`in_order`](super::order::in_order)).
//!    For others the bucket is distributed once more by the leading bits in which its own codes
//!    differ, and by class. That leaves a handful of rows per range; a range that still holds too
//!    many is distributed again.
//!
//! Rows in ascending or descending order skip all of this. Sums of weights are integers, hence
//! equal for any number of threads.
//!
//! Extra memory: one record per row (step 2), and one record for each row of the buckets in
//! progress (step 3). Where a large part of the rows is in one bucket, as after an outlier many
//! orders of magnitude away, those with a weight, whose records are twice as large, are processed
//! in two rounds of half the rows each, and the bucket is sorted in place.

use std::ops::Range;

use super::blocks::sweep_blocks;
use super::buckets::Buckets;
use super::chunks::PARALLEL_FROM;
use super::mass::Unit;
use super::order::sort_in_place;
use super::pairs::EXACT_BITS;
use super::record::{Record, Words};
use super::sample::{InputOrder, MassOf, PIECE, ScoreSample, Weigh};
use super::score::{Score, ScoreCoding, Word};
use super::sink::Sink;
use crate::parallel;

/// Runs sinks over all rows; their results are in ascending order of the scores.
pub(super) fn sweep<S, W, R, T>(
    sample: &ScoreSample<'_, S, W>,
    sink: impl Fn(ScoreCoding<S>) -> T + Sync,
) -> Vec<T>
where
    S: Score,
    W: Weigh,
    R: Record<S::Key, Unit = W::Unit, Mass = MassOf<W>>,
    T: Sink<S::Key, MassOf<W>>,
{
    let coding = ScoreCoding::new(sample.extremes);
    let new_sink = || sink(coding);
    let n = sample.scores.len();
    if sample.order != InputOrder::None {
        return sweep_sorted(sample, coding, new_sink);
    }
    // The leading bit of a code is lost unless it is implied by the bucket.
    let fits = coding.last >> (S::Key::BITS - 1) == 0;
    // Codes of few bits, as of `f32`, are compared whole, however many rows there are.
    let most = if coding.last >> EXACT_BITS == 0 { PARALLEL_FROM } else { BUCKETS_FROM };
    if n < most && fits {
        let (mut sink, mut own) = (new_sink(), T::Scratch::default());
        let (mut rows, n_neg) = by_class::<S, W, R>(sample, coding);
        let words = Words { least: 0, greatest: coding.last << 1 | 1 };
        let (negative, positive) = rows.split_at(n_neg);
        if sink.parts([&[negative], &[positive]], words, &mut own) {
            return vec![sink];
        }
        if n < BUCKETS_FROM {
            let mut scratch = vec![R::default(); rows.len()];
            sink.rows(&mut rows, &mut scratch, (words, S::Key::default()), &mut own);
            return vec![sink];
        }
    }
    if let Some(sinks) = sweep_blocks::<S, W, R, T>(sample, coding, &new_sink) {
        return sinks;
    }
    sweep_buckets::<S, W, R, T>(sample, coding, new_sink)
}

/// All rows of positive weight, first the negative ones, and the number of these.
fn by_class<S: Score, W: Weigh, R: Record<S::Key, Unit = W::Unit>>(
    sample: &ScoreSample<'_, S, W>,
    coding: ScoreCoding<S>,
) -> (Vec<R>, usize) {
    let n = sample.scores.len();
    // Negative rows from the front, positive ones from the back. Each row is written to both places,
    // which takes no branch; that of the other class is overwritten by the next row of it.
    let mut rows = vec![R::default(); n + 1];
    let (mut n_neg, mut n_pos) = (0, 0);
    let mut codes = [S::Key::default(); PIECE];
    for start in (0..n).step_by(PIECE) {
        let end = n.min(start + PIECE);
        coding.fill(&sample.scores[start..end], &mut codes);
        let positive = &sample.positive[start..end];
        let parts = codes.iter().zip(positive).zip(sample.weights.slice(start, end));
        for ((&code, &positive), weight) in parts {
            if sample.weights.counts(weight) {
                let word = S::Key::truncate(code.into() << 1 | u64::from(positive));
                let row = R::new(word, sample.weights.units(weight, positive));
                rows[n_neg] = row;
                rows[n - n_pos] = row;
                n_neg += usize::from(!positive);
                n_pos += usize::from(positive);
            }
        }
    }
    rows.copy_within(n + 1 - n_pos.., n_neg);
    rows.truncate(n_neg + n_pos);
    (rows, n_neg)
}

/// Number of rows from which distributing into buckets first pays off.
const BUCKETS_FROM: usize = 1 << 14;

/// Target number of rows per bucket.
const BUCKET: usize = 4096;

/// Maximum number of buckets: more would exceed the TLB of the processor.
const MOST_BUCKETS: usize = 2048;

/// Number of rows from which the 16 bytes of a weighted record matter.
const TWO_ROUNDS_FROM: usize = 1 << 20;

fn sweep_buckets<S, W, R, T>(
    sample: &ScoreSample<'_, S, W>,
    coding: ScoreCoding<S>,
    new_sink: impl Fn() -> T + Sync,
) -> Vec<T>
where
    S: Score,
    W: Weigh,
    R: Record<S::Key, Unit = W::Unit, Mass = MassOf<W>>,
    T: Sink<S::Key, MassOf<W>>,
{
    let n = sample.scores.len();
    let n_threads = if n < PARALLEL_FROM { 1 } else { crate::parallel::current_num_threads() };
    // More shares than threads, to balance the load.
    let n_shares = if n_threads == 1 { 1 } else { 2 * n_threads };
    let shares: Vec<Range<usize>> =
        (0..n_shares).map(|i| i * n / n_shares..(i + 1) * n / n_shares).collect();

    let code_bits = u64::BITS - coding.last.leading_zeros();
    // 32 rows per count in the mean, and at most 2^16 counts: `Buckets::of` has two bytes for each.
    let digit_bits = (n / 32).max(2).ilog2().min(16).min(code_bits);
    let shift = code_bits - digit_bits;

    let count = |share: &Range<usize>| count_share(sample, coding, share.clone(), shift);
    let counts: Vec<Vec<[u32; 2]>> = parallel::map(shares.iter().collect(), count);
    let total = |digit: usize| -> usize {
        counts.iter().map(|share| share[digit].iter().map(|&c| c as usize).sum::<usize>()).sum()
    };
    let totals: Vec<usize> = (0..=(coding.last >> shift) as usize).map(total).collect();
    let middle = 1_usize << (S::Key::BITS - 1 - shift).min(usize::BITS - 1);
    let buckets = Buckets::join(&totals, middle, BUCKET.max(2 * n / MOST_BUCKETS));

    let in_two_rounds = size_of::<R>() > 8 && n >= TWO_ROUNDS_FROM;
    let rounds = rounds(&buckets.sizes, if in_two_rounds { n.div_ceil(2) } else { n });
    let n_moved = rounds.iter().map(|round| buckets.sizes[round.clone()].iter().sum()).max();
    let mut moved = vec![R::default(); n_moved.unwrap_or(0)];
    let mut sinks = Vec::with_capacity(buckets.sizes.len());
    for round in rounds {
        // A slice of memory for each bucket, class and share, in this order.
        let mut places: Vec<Vec<_>> =
            shares.iter().map(|_| Vec::with_capacity(2 * round.len())).collect();
        let mut n_negs = Vec::with_capacity(round.len());
        let mut rest = moved.as_mut_slice();
        for bucket in round.clone() {
            for class in [0, 1] {
                let before = rest.len();
                for (share, places) in counts.iter().zip(&mut places) {
                    let digits = &share[buckets.digits(bucket)];
                    let size: usize = digits.iter().map(|counts| counts[class] as usize).sum();
                    let (place, after) = rest.split_at_mut(size);
                    places.push(place.iter_mut());
                    rest = after;
                }
                if class == 0 {
                    n_negs.push(before - rest.len());
                }
            }
        }
        let first = 2 * round.start;
        let scatter = |(share, places): (&Range<usize>, Vec<std::slice::IterMut<'_, R>>)| {
            scatter_share(sample, coding, share.clone(), (&buckets.of, shift), first, places);
        };
        parallel::map(shares.iter().zip(places).collect(), scatter);

        let mut rest = moved.as_mut_slice();
        let mut tasks = Vec::with_capacity(round.len());
        for (bucket, n_neg) in round.zip(n_negs) {
            let (rows, after) = rest.split_at_mut(buckets.sizes[bucket]);
            let (top, words) = (buckets.top(bucket), buckets.words::<S::Key>(bucket, shift));
            tasks.push((rows, n_neg, words, top));
            rest = after;
        }
        let run = |(scratch, own): &mut (Vec<R>, T::Scratch),
                   (rows, n_neg, words, top): (&mut [R], usize, Words, S::Key)| {
            let mut sink = new_sink();
            let (negative, positive) = rows.split_at(n_neg);
            if sink.parts([&[negative], &[positive]], words, own) {
                return sink;
            }
            if size_of::<R>() > 8 && rows.len() > n / 8 {
                sort_in_place(rows, top, |code, positive, negative| {
                    sink.tie(code, positive, negative);
                });
                return sink;
            }
            if rows.len() > scratch.len() {
                scratch.resize(rows.len(), R::default());
            }
            let scratch = &mut scratch[..rows.len()];
            sink.rows(rows, scratch, (words, top), own);
            sink
        };
        let least = if n_shares == 1 { usize::MAX } else { 8 };
        sinks.append(&mut parallel::map_with(tasks, least, Default::default, run));
    }
    sinks
}

/// Number of rows of each class by the leading bits of their codes.
fn count_share<S: Score, W: Weigh>(
    sample: &ScoreSample<'_, S, W>,
    coding: ScoreCoding<S>,
    share: Range<usize>,
    shift: u32,
) -> Vec<[u32; 2]> {
    let mut counts = vec![[0; 2]; 1 + (coding.last >> shift) as usize];
    let mut codes = [S::Key::default(); PIECE];
    for start in share.clone().step_by(PIECE) {
        let end = share.end.min(start + PIECE);
        coding.fill(&sample.scores[start..end], &mut codes);
        let positive = &sample.positive[start..end];
        let rows = codes.iter().zip(positive).zip(sample.weights.slice(start, end));
        for ((&code, &positive), weight) in rows {
            if sample.weights.counts(weight) {
                counts[(code.into() >> shift) as usize][usize::from(positive)] += 1;
            }
        }
    }
    counts
}

/// Moves rows to the places of their bucket and class; `first` is the number of the first place.
fn scatter_share<S: Score, W: Weigh, R: Record<S::Key, Unit = W::Unit>>(
    sample: &ScoreSample<'_, S, W>,
    coding: ScoreCoding<S>,
    share: Range<usize>,
    (bucket_of, shift): (&[u16], u32),
    first: usize,
    mut places: Vec<std::slice::IterMut<'_, R>>,
) {
    let (places, weights) = (places.as_mut_slice(), sample.weights);
    let mut codes = [S::Key::default(); PIECE];
    for start in share.clone().step_by(PIECE) {
        let end = share.end.min(start + PIECE);
        coding.fill(&sample.scores[start..end], &mut codes);
        let positive = &sample.positive[start..end];
        let rows = codes.iter().zip(positive).zip(weights.slice(start, end));
        for ((&code, &positive), weight) in rows {
            if weights.counts(weight) {
                let code = code.into();
                let bucket = usize::from(bucket_of[(code >> shift) as usize]);
                let word = S::Key::truncate(code << 1 | u64::from(positive));
                // Buckets of other rounds have no place: for those before the first the number
                // wraps around.
                let number = (2 * bucket + usize::from(positive)).wrapping_sub(first);
                if let Some(place) = places.get_mut(number).and_then(Iterator::next) {
                    *place = R::new(word, weights.units(weight, positive));
                }
            }
        }
    }
}

/// Groups of consecutive buckets with at most `most` rows, or of a single bucket that has more.
fn rounds(sizes: &[usize], most: usize) -> Vec<Range<usize>> {
    let (mut rounds, mut start, mut filled) = (Vec::new(), 0, 0);
    for (bucket, &size) in sizes.iter().enumerate() {
        if bucket > start && filled + size > most {
            rounds.push(start..bucket);
            (start, filled) = (bucket, 0);
        }
        filled += size;
    }
    rounds.push(start..sizes.len());
    rounds
}

/// Runs sinks over rows that are already sorted, in either direction.
fn sweep_sorted<S, W, T>(
    sample: &ScoreSample<'_, S, W>,
    coding: ScoreCoding<S>,
    new_sink: impl Fn() -> T + Sync,
) -> Vec<T>
where
    S: Score,
    W: Weigh,
    T: Sink<S::Key, MassOf<W>>,
{
    let scores = sample.scores;
    let n = scores.len();
    let n_shares = if n < PARALLEL_FROM { 1 } else { 2 * crate::parallel::current_num_threads() };
    // Shares begin where a score begins.
    let mut shares: Vec<Range<usize>> = Vec::with_capacity(n_shares);
    let mut start = 0;
    for share in 1..=n_shares {
        let mut end = (share * n / n_shares).max(start);
        if end > start {
            end += scores[end..].iter().take_while(|s| **s == scores[end - 1]).count();
            shares.push(start..end);
        }
        start = end;
    }
    let run = |share: Range<usize>| {
        let mut sink = new_sink();
        let rows = scores[share.clone()]
            .iter()
            .zip(&sample.positive[share.clone()])
            .zip(sample.weights.slice(share.start, share.end))
            .map(|((&score, &positive), weight)| (score, positive, weight));
        if sample.order == InputOrder::Ascending {
            sweep_groups(rows, sample.weights, coding, &mut sink);
        } else {
            sweep_groups(rows.rev(), sample.weights, coding, &mut sink);
        }
        sink
    };
    if sample.order == InputOrder::Descending {
        shares.reverse();
    }
    parallel::map(shares, run)
}

fn sweep_groups<S: Score, W: Weigh>(
    rows: impl Iterator<Item = (S, bool, W::Raw)>,
    weights: W,
    coding: ScoreCoding<S>,
    sink: &mut impl Sink<S::Key, MassOf<W>>,
) {
    let mut group: Option<(S, [MassOf<W>; 2])> = None;
    for (score, positive, weight) in rows {
        if !weights.counts(weight) {
            continue;
        }
        let units = weights.units(weight, positive).mass();
        match &mut group {
            Some((current, sums)) if *current == score => sums[usize::from(positive)] += units,
            group => {
                let mut sums = [MassOf::<W>::default(); 2];
                sums[usize::from(positive)] = units;
                if let Some((score, [negative, positive])) = group.replace((score, sums)) {
                    sink.tie(coding.code(score), positive, negative);
                }
            }
        }
    }
    if let Some((score, [negative, positive])) = group {
        sink.tie(coding.code(score), positive, negative);
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;
    use rand_xoshiro::Xoshiro256PlusPlus;
    use rand_xoshiro::rand_core::{Rng, SeedableRng};

    use super::super::descend::descend;
    use super::super::mass::Weights;
    use super::super::order::in_order;
    use super::super::sample::Unweighted;
    use super::super::score::Extremes;
    use super::super::sink::RangeSink;
    use super::*;

    /// A sink that keeps its input, which comes in order or range by range.
    struct Collect<const IN_ORDER: bool>(Vec<(u64, u64, u64)>);

    impl<K: Word, const IN_ORDER: bool> Sink<K, u64> for Collect<IN_ORDER> {
        type Scratch = ();

        fn tie(&mut self, code: K, positive: u64, negative: u64) {
            self.0.push((code.into(), positive, negative));
        }

        fn rows<R: Record<K, Mass = u64>>(
            &mut self,
            rows: &mut [R],
            scratch: &mut [R],
            (words, top): (Words, K),
            (): &mut (),
        ) {
            if IN_ORDER {
                in_order(rows, scratch, (words, top), |code, p, n| self.tie(code, p, n));
            } else {
                descend(rows, scratch, Some(words), top, self);
            }
        }
    }

    impl<K: Word, const IN_ORDER: bool> RangeSink<K, u64> for Collect<IN_ORDER> {
        fn range<R: Record<K, Mass = u64>>(&mut self, rows: &mut [R], n_neg: usize, top: K) {
            let (negative, positive) = rows.split_at(n_neg);
            assert!(negative.iter().all(|row| row.word().into() & 1 == 0));
            assert!(positive.iter().all(|row| row.word().into() & 1 == 1));
            sort_in_place(rows, top, |code, positive, negative| {
                self.tie(code, positive, negative);
            });
        }
    }

    /// Every path must give the same groups as an ordered map.
    fn check<S: Score>(scores: &[S], positive: &[bool], weights: Option<&[f64]>) {
        check_sink::<S, true>(scores, positive, weights);
        check_sink::<S, false>(scores, positive, weights);
    }

    fn check_sink<S: Score, const IN_ORDER: bool>(
        scores: &[S],
        positive: &[bool],
        weights: Option<&[f64]>,
    ) {
        let mut expected = BTreeMap::<u64, [u64; 2]>::new();
        let coding = ScoreCoding::new(Extremes::of(scores));
        for (row, score) in scores.iter().enumerate() {
            let weight = weights.map_or(1, |w| w[row] as u64);
            if weight > 0 {
                let sums = expected.entry(coding.code(*score).into()).or_default();
                sums[usize::from(positive[row])] += weight;
            }
        }
        let expected: Vec<_> = expected.into_iter().map(|(code, [n, p])| (code, p, n)).collect();
        for n_threads in [1, 2, 3] {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(n_threads).build().unwrap();
            let parts: Vec<Collect<IN_ORDER>> = pool.install(|| match weights {
                None => {
                    let sample = ScoreSample::new(scores, positive, Unweighted).unwrap();
                    sweep::<_, _, S::Key, _>(&sample, |_| Collect(Vec::new()))
                }
                Some(weights) => {
                    let Weights::Few(few) = Weights::new(weights, positive).unwrap() else {
                        panic!("counts of few bits");
                    };
                    let sample = ScoreSample::new(scores, positive, few).unwrap();
                    sweep::<_, _, (S::Key, u64), _>(&sample, |_| Collect(Vec::new()))
                }
            });
            let groups: Vec<_> = parts.into_iter().flat_map(|part| part.0).collect();
            assert!(groups == expected, "{} rows, {n_threads} threads", scores.len());
        }
    }

    fn check_both_widths(scores: &[f64], positive: &[bool], weights: Option<&[f64]>) {
        check(scores, positive, weights);
        let narrow: Vec<f32> = scores.iter().map(|&s| s as f32).collect();
        check(&narrow, positive, weights);
    }

    #[test]
    fn every_path_groups_the_rows_as_an_ordered_map_does() {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(7);
        let mut uniform = || (rng.next_u64() >> 11) as f64 * 2_f64.powi(-53);
        for n in [2, 100, BUCKETS_FROM - 1, BUCKETS_FROM, PARALLEL_FROM + 1] {
            let u: Vec<f64> = (0..n).map(|_| uniform()).collect();
            let mut positive: Vec<bool> = (0..n).map(|_| uniform() < 0.3).collect();
            positive[..2].copy_from_slice(&[false, true]);
            let weights: Vec<f64> = (0..n).map(|_| (uniform() * 4.0).floor()).collect();
            let shapes: [&dyn Fn(f64) -> f64; 8] = [
                &|u| u,                                 // one sign
                &|u| (u / (1.0 - u)).ln(),              // both signs
                &|u| (u * 5.0).floor() - 2.0,           // few values, zero among them
                &|u| (u * 1e4).floor() - 5e3,           // many ties
                &|u| (u - 0.5).powi(3) * 1e-40,         // tiny, denormal in f32
                &|u| if u < 0.1 { 0.0 } else { u },     // a heap at zero
                &|u| if u < 1e-3 { 1e300 } else { u },  // outliers leave one giant bucket
                &|u| f64::from_bits((u * 2e19) as u64), // all magnitudes: no bit to spare
            ];
            for shape in shapes {
                let mut scores: Vec<f64> = u.iter().map(|&u| shape(u)).collect();
                scores.iter_mut().filter(|s| s.is_nan()).for_each(|s| *s = -0.0);
                check_both_widths(&scores, &positive, None);
                check_both_widths(&scores, &positive, Some(&weights));
                scores.sort_unstable_by(f64::total_cmp);
                check_both_widths(&scores, &positive, None);
                check_both_widths(&scores, &positive, Some(&weights));
                scores.reverse();
                check_both_widths(&scores, &positive, None);
                check_both_widths(&scores, &positive, Some(&weights));
            }
        }
    }

    #[test]
    fn two_clusters_at_opposite_ends_of_the_range_keep_their_leading_bit() {
        let n = 3 * BUCKETS_FROM;
        let scores: Vec<f64> = (0..n)
            .map(|row| {
                let bits = (row as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 12;
                let tiny = f64::from_bits(bits >> 20 | 1);
                if row % 2 == 0 { -f64::MAX * (1.0 + tiny) } else { tiny }
            })
            .chain([f64::MAX, -5e-324])
            .collect();
        let positive: Vec<bool> = (0..scores.len()).map(|row| row % 3 == 0).collect();
        check(&scores, &positive, None);
        check(&scores[n - 40..], &positive[n - 40..], None);
    }

    proptest! {
        #[test]
        fn any_scores_are_grouped(
            rows in prop::collection::vec((any::<f64>(), any::<bool>(), 0..3_u8), 0..300),
            step in prop::option::of(1e-3..1e3),
        ) {
            let mut scores = vec![0.0, -1.0];
            // Rounding to steps makes ties.
            let tied = |s: f64| step.map_or(s, |step: f64| (s.log2() / step).round());
            scores.extend(rows.iter().map(|row| tied(row.0)).map(|s| if s.is_nan() { 0.0 } else { s }));
            let mut positive = vec![true, false];
            positive.extend(rows.iter().map(|row| row.1));
            let mut weights = vec![1.0, 1.0];
            weights.extend(rows.iter().map(|row| f64::from(row.2)));
            check_both_widths(&scores, &positive, None);
            check_both_widths(&scores, &positive, Some(&weights));
        }
    }
}
