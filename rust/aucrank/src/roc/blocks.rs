//! Rows moved to their buckets, block by block.
//!
//! All rows scattered over all buckets would miss the cache with every other store. Here a block of
//! rows that the second-level cache holds is distributed within its own memory, and a bucket is a
//! short slice of every block. Bounds of the buckets come from a sample of the rows, so that the
//! scores are read once.

use super::buckets::Buckets;
use super::chunks::PARALLEL_FROM;
use super::record::Record;
use super::sample::{MassOf, PIECE, ScoreSample, Weigh};
use super::score::{Score, ScoreCoding, Word};
use super::sink::Sink;
use crate::parallel;

/// Rows of a block.
const BLOCK: usize = 1 << BLOCK_BITS;

/// Bits of a number of a row in its block.
const BLOCK_BITS: u32 = 15;

/// Target number of rows per bucket.
const BUCKET: usize = 1 << 13;

/// Maximum number of buckets: more leave too few rows of a bucket in a block.
const MOST_BUCKETS: usize = 512;

/// Rows of the sample.
const SAMPLE: usize = 1 << 14;

/// Rows of one bucket per row from which the bounds of the sample are of no use.
const GIANT: usize = 8;

/// Rows of a block, bucket by bucket, first negative ones, then positive ones.
struct Block<'a, R> {
    rows: &'a [R],
    /// First row of each bucket and class, and the end of the last.
    starts: Vec<u32>,
}

impl<R> Block<'_, R> {
    fn of(&self, bucket: usize, class: usize) -> &[R] {
        let number = 2 * bucket + class;
        &self.rows[self.starts[number] as usize..self.starts[number + 1] as usize]
    }
}

/// Runs sinks over all rows; `None` if a bucket holds a large part of them.
pub(super) fn sweep_blocks<S, W, R, T>(
    sample: &ScoreSample<'_, S, W>,
    coding: ScoreCoding<S>,
    new_sink: impl Fn() -> T + Sync,
) -> Option<Vec<T>>
where
    S: Score,
    W: Weigh,
    R: Record<S::Key, Unit = W::Unit, Mass = MassOf<W>>,
    T: Sink<S::Key, MassOf<W>>,
{
    let n = sample.scores.len();
    let code_bits = u64::BITS - coding.last.leading_zeros();
    // Four sampled rows per count in the mean.
    let digit_bits = (SAMPLE.min(n / 8).max(1) / 4).max(2).ilog2().min(code_bits);
    let shift = code_bits - digit_bits;
    let mut totals = vec![0; 1 + (coding.last >> shift) as usize];
    let step = n.div_ceil(SAMPLE.min(n / 8).max(1));
    let n_sampled = n / step;
    for i in 0..n_sampled {
        // Not every row at a fixed distance: rows may alternate.
        let offset = (i.wrapping_mul(0x9E37_79B1) >> 7) % step;
        totals[(coding.code(sample.scores[i * step + offset]).into() >> shift) as usize] += 1;
    }
    let target = BUCKET.max(n / MOST_BUCKETS) / step;
    let middle = 1_usize << (S::Key::BITS - 1 - shift).min(usize::BITS - 1);
    let buckets = Buckets::join(&totals, middle, target);
    let n_buckets = buckets.sizes.len();

    let mut moved = vec![R::default(); n];
    let tasks: Vec<(usize, &mut [R])> =
        (0..n).step_by(BLOCK).zip(moved.chunks_mut(BLOCK)).collect();
    let least = if n < PARALLEL_FROM { usize::MAX } else { 1 };
    let blocks = parallel::map_with(tasks, least, Vec::new, |numbers, (start, moved)| {
        distribute_block(sample, coding, start, (&buckets, shift), moved, numbers)
    });
    let size = |bucket: usize| -> usize {
        let sizes = blocks.iter().map(|b| b.starts[2 * bucket + 2] - b.starts[2 * bucket]);
        sizes.map(|size| size as usize).sum()
    };
    if (0..n_buckets).any(|bucket| size(bucket) > (n / GIANT).max(8 * BUCKET)) {
        return None;
    }

    let run = |(rows, scratch, own): &mut (Vec<R>, Vec<R>, T::Scratch), bucket: usize| {
        let mut sink = new_sink();
        let parts = |class: usize| -> Vec<&[R]> {
            blocks.iter().map(|block| block.of(bucket, class)).collect()
        };
        let (negative, positive) = (parts(0), parts(1));
        let words = buckets.words::<S::Key>(bucket, shift);
        if sink.parts([&negative, &positive], words, own) {
            return sink;
        }
        rows.clear();
        for part in negative.iter().chain(&positive) {
            if R::IS_ONE {
                rows.extend_from_slice(part);
            } else {
                // A row without weight has no place among the scores.
                rows.extend(part.iter().filter(|row| row.weight() != MassOf::<W>::default()));
            }
        }
        if rows.len() > scratch.len() {
            scratch.resize(rows.len(), R::default());
        }
        let top = buckets.top::<S::Key>(bucket);
        let scratch = &mut scratch[..rows.len()];
        sink.rows(rows, scratch, (words, top), own);
        sink
    };
    let least = if n < PARALLEL_FROM { usize::MAX } else { 8 };
    Some(parallel::map_with((0..n_buckets).collect(), least, Default::default, run))
}

/// Moves the rows from `start` on to their buckets within `moved`.
fn distribute_block<'a, S, W, R>(
    sample: &ScoreSample<'_, S, W>,
    coding: ScoreCoding<S>,
    start: usize,
    (buckets, shift): (&Buckets, u32),
    moved: &'a mut [R],
    numbers: &mut Vec<u32>,
) -> Block<'a, R>
where
    S: Score,
    W: Weigh,
    R: Record<S::Key, Unit = W::Unit>,
{
    let end = start + moved.len();
    let (scores, positive) = (&sample.scores[start..end], &sample.positive[start..end]);
    numbers.resize(scores.len(), 0);
    let bucket_of = buckets.of.as_slice();
    let n_slices = 2 * buckets.sizes.len();
    let mut counts = vec![0_u32; n_slices];
    let mut codes = [S::Key::default(); PIECE];
    let pieces = || scores.chunks(PIECE).zip(positive.chunks(PIECE));
    for ((scores, positive), numbers) in pieces().zip(numbers.chunks_mut(PIECE)) {
        coding.fill(scores, &mut codes);
        for ((&code, &positive), number) in codes.iter().zip(positive).zip(numbers) {
            let bucket = u32::from(bucket_of[(code.into() >> shift) as usize]);
            let slice = 2 * bucket + u32::from(positive);
            let count = &mut counts[slice as usize];
            *number = slice << BLOCK_BITS | *count;
            *count += 1;
        }
    }
    let mut starts = vec![0_u32; n_slices + 1];
    for (slice, count) in counts.into_iter().enumerate() {
        starts[slice + 1] = starts[slice] + count;
    }
    let mut weights = sample.weights.slice(start, end);
    for ((scores, positive), numbers) in pieces().zip(numbers.chunks(PIECE)) {
        coding.fill(scores, &mut codes);
        let rows = codes.iter().zip(positive).zip(numbers).zip(&mut weights);
        for (((&code, &positive), &number), weight) in rows {
            // The number within its slice is known, so that no store waits for another.
            let start = starts[(number >> BLOCK_BITS) as usize];
            let place = start + (number & ((1 << BLOCK_BITS) - 1));
            let word = S::Key::truncate(code.into() << 1 | u64::from(positive));
            moved[place as usize] = R::new(word, sample.weights.units(weight, positive));
        }
    }
    Block { rows: moved, starts }
}
