//! Rows in ascending order of their scores, sorted repeatedly in reused memory.
//!
//! Unlike in [`sort`](super::sort) the row numbers are needed, since each row has its own slope. A
//! row is moved as its score and its number. Scores are distributed into as many cells of equal
//! width as there are rows, which leaves next to nothing to sort; those of a large sample, first
//! into some thousand buckets, each of which then fits in the cache.

use crate::parallel::prelude::*;

use super::chunks::PARALLEL_FROM;
use super::sample::PIECE;
use super::score::Extremes;
use crate::parallel;

/// Target number of rows per bucket, if they are spread evenly.
const BUCKET: usize = 512;

/// Maximum number of buckets: more would exceed the TLB of the processor.
const MOST_BUCKETS: usize = 1024;

/// Maximum number of cells per pass: their counts stay in the second-level cache.
const MOST_CELLS: usize = 1 << 16;

/// Number of rows from which a cell is distributed again.
const CROWD: usize = 32;

/// Maximum number of passes before crowded scores are sorted by comparison, as after outliers that
/// are each orders of magnitude beyond the one before.
const MOST_DEALINGS: u32 = 3;

/// A row being sorted; `tag` is a value of the caller's that is kept with it.
#[derive(Debug, Clone, Copy, Default)]
struct TaggedRecord {
    score: f64,
    origin: u32,
    tag: u32,
}

/// Rows in ascending order of their scores, rows of equal score in any order.
#[derive(Debug, Clone, Default)]
pub(super) struct Ranking {
    /// Ascending; `-0.0` is stored as `0.0`.
    pub scores: Vec<f64>,
    /// The tag of the row of each score.
    pub tags: Vec<u32>,
    /// Position of the row of each score before it was sorted within its bucket.
    origins: Vec<u32>,
    records: Vec<TaggedRecord>,
    scratch: SortScratch,
    /// How the rows were distributed, if they were too many for the cache.
    deal: Option<Deal>,
}

/// The distribution of rows into buckets.
#[derive(Debug, Clone)]
struct Deal {
    grid: ScoreGrid,
    /// Rows distributed by one task.
    share: usize,
    /// Rows of each share in each bucket.
    counts: Vec<Vec<u32>>,
    /// Rows of each bucket.
    sizes: Vec<usize>,
}

/// Scratch memory of the sort.
#[derive(Debug, Clone, Default)]
struct SortScratch {
    records: Vec<TaggedRecord>,
    ends: Vec<u32>,
    crowds: Vec<(usize, usize)>,
}

/// Minimum and maximum of some scores; NaN is skipped and recorded in `is_nan`.
pub(super) struct Bounds {
    pub low: f64,
    pub high: f64,
    pub is_nan: bool,
}

impl Bounds {
    pub fn of(scores: &[f64]) -> Self {
        if scores.len() < PARALLEL_FROM {
            return Self::of_part(scores);
        }
        let none = || Self { low: f64::INFINITY, high: f64::NEG_INFINITY, is_nan: false };
        scores.par_chunks(PARALLEL_FROM).map(Self::of_part).reduce(none, |a, b| Self {
            low: a.low.min(b.low),
            high: a.high.max(b.high),
            is_nan: a.is_nan | b.is_nan,
        })
    }

    fn of_part(scores: &[f64]) -> Self {
        let mut extremes = Extremes::NONE;
        let mut is_nan = false;
        for piece in scores.chunks(PIECE) {
            extremes = extremes.merge(Extremes::of(piece));
            is_nan |= piece.iter().fold(false, |is_nan, score| is_nan | score.is_nan());
        }
        Self { low: extremes.least, high: extremes.greatest, is_nan }
    }
}

/// Cells of equal width.
#[derive(Debug, Clone, Copy)]
struct ScoreGrid {
    low: f64,
    scale: f64,
}

impl ScoreGrid {
    /// A grid of `n_cells`, or `None` if the scores are too close or too far apart for one.
    fn new(low: f64, high: f64, n_cells: usize) -> Option<Self> {
        let scale = (n_cells - 1) as f64 / (high - low);
        (scale.is_finite() && scale > 0.0).then_some(Self { low, scale })
    }

    /// Cell of a score; monotone in the score.
    #[inline]
    fn cell(self, score: f64) -> usize {
        // Adding 2^52 rounds to an integer and leaves it in the low bits: converting to an integer
        // takes several times as long. To the nearest: an error of the product can neither lead
        // beyond the last cell nor make the cell fall while the score rises.
        ((score - self.low) * self.scale + 4_503_599_627_370_496.0).to_bits() as u32 as usize
    }
}

impl Ranking {
    /// Sorts `scores`, which are finite and within `bounds`; each row keeps its `tag`.
    pub fn sort(&mut self, scores: &[f64], bounds: &Bounds, tag: impl Fn(usize) -> u32 + Sync) {
        let n = scores.len();
        self.scores.resize(n, 0.0);
        self.tags.resize(n, 0);
        self.origins.resize(n, 0);
        self.records.resize(n, TaggedRecord::default());
        let n_buckets = (n / BUCKET).max(1).next_power_of_two().min(MOST_BUCKETS);
        let grid =
            ScoreGrid::new(bounds.low, bounds.high, n_buckets).filter(|_| n >= PARALLEL_FROM);
        self.deal = grid.map(|grid| Deal::new(scores, grid, n_buckets));
        // Adding 0.0 turns -0.0 into 0.0.
        let record = |row: usize, score: f64| TaggedRecord {
            score: score + 0.0,
            origin: row as u32,
            tag: tag(row),
        };
        if self.deal.is_some() {
            self.sort_buckets(scores, record);
            return;
        }
        for (row, (place, &score)) in self.records.iter_mut().zip(scores).enumerate() {
            *place = record(row, score);
        }
        order(&mut self.records, bounds.low, bounds.high, &mut self.scratch, MOST_DEALINGS);
        let Self { scores, tags, origins, records, .. } = self;
        take_apart(records, RankedSlots { scores, tags, origins });
    }

    fn sort_buckets(&mut self, scores: &[f64], record: impl Fn(usize, f64) -> TaggedRecord + Sync) {
        let Some(deal) = &self.deal else { return };
        let places = deal.pieces(&mut self.records, <[TaggedRecord]>::iter_mut);
        scores.par_chunks(deal.share).zip(places.into_par_iter()).enumerate().for_each(
            |(i, (scores, mut places))| {
                for (row, &score) in scores.iter().enumerate() {
                    if let Some(place) = places[deal.grid.cell(score)].next() {
                        *place = record(i * deal.share + row, score);
                    }
                }
            },
        );

        let mut tasks = Vec::with_capacity(deal.sizes.len());
        let mut start = 0;
        let mut records = self.records.as_mut_slice();
        let Self { scores, tags, origins, .. } = self;
        let mut slots = RankedSlots { scores, tags, origins };
        for &size in &deal.sizes {
            let (own, after) = records.split_at_mut(size);
            let (slots_of_own, slots_after) = slots.split_at(size);
            tasks.push((start, own, slots_of_own));
            start += size;
            (records, slots) = (after, slots_after);
        }
        tasks.into_par_iter().with_min_len(8).for_each_init(
            SortScratch::default,
            |scratch, (start, records, out)| {
                let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
                for (place, record) in records.iter_mut().enumerate() {
                    record.origin = (start + place) as u32;
                    low = least(low, record.score);
                    high = greatest(high, record.score);
                }
                order(records, low, high, scratch, MOST_DEALINGS);
                take_apart(records, out);
            },
        );
    }

    /// Assigns to each row its value of `numbers`, which are in sorted order; `scores` are those
    /// that were sorted. The sorted scores are overwritten: their memory is reused.
    pub fn give_back(&mut self, scores: &[f64], numbers: &[f64], rows: &mut [f64]) {
        let Some(deal) = &self.deal else {
            for (&origin, &number) in self.origins.iter().zip(numbers) {
                rows[origin as usize] = number;
            }
            return;
        };
        // Back to the order before each bucket was sorted, which is that of the rows.
        let mut tasks = Vec::with_capacity(deal.sizes.len());
        let (mut start, mut rest) = (0, &mut self.scores[..]);
        for &size in &deal.sizes {
            let (own, after) = rest.split_at_mut(size);
            tasks.push((start, own));
            (start, rest) = (start + size, after);
        }
        parallel::map(tasks, |(start, own): (usize, &mut [f64])| {
            let end = start + own.len();
            for (&origin, &number) in self.origins[start..end].iter().zip(&numbers[start..end]) {
                own[origin as usize - start] = number;
            }
        });
        let pieces = deal.pieces(&mut self.scores, |piece| piece.iter());
        let shares = rows.chunks_mut(deal.share).zip(scores.chunks(deal.share)).zip(pieces);
        parallel::map(shares.collect(), |((rows, scores), mut pieces)| {
            for (row, &score) in rows.iter_mut().zip(scores) {
                if let Some(&number) = pieces[deal.grid.cell(score)].next() {
                    *row = number;
                }
            }
        });
    }
}

impl Deal {
    fn new(scores: &[f64], grid: ScoreGrid, n_buckets: usize) -> Self {
        let n_threads = crate::parallel::current_num_threads();
        // More shares than threads, to balance the load.
        let n_shares = if n_threads == 1 { 1 } else { 2 * n_threads };
        let share = scores.len().div_ceil(n_shares);
        let count = |scores: &[f64]| {
            let mut counts = vec![0_u32; n_buckets];
            for &score in scores {
                counts[grid.cell(score)] += 1;
            }
            counts
        };
        let counts: Vec<Vec<u32>> = scores.par_chunks(share).map(count).collect();
        let size = |bucket: usize| counts.iter().map(|counts| counts[bucket] as usize).sum();
        let sizes = (0..n_buckets).map(size).collect();
        Self { grid, share, counts, sizes }
    }

    /// For each share, its piece of `memory` for each bucket. Memory is laid out bucket by bucket.
    fn pieces<'a, T, I>(&self, memory: &'a mut [T], of: impl Fn(&'a mut [T]) -> I) -> Vec<Vec<I>> {
        let n_buckets = self.sizes.len();
        let mut pieces: Vec<Vec<I>> =
            self.counts.iter().map(|_| Vec::with_capacity(n_buckets)).collect();
        let mut rest = memory;
        for bucket in 0..n_buckets {
            for (counts, pieces) in self.counts.iter().zip(&mut pieces) {
                let (piece, after) = rest.split_at_mut(counts[bucket] as usize);
                pieces.push(of(piece));
                rest = after;
            }
        }
        pieces
    }
}

/// `f64::min` of numbers that are not NaN, in one instruction.
#[inline]
fn least(a: f64, b: f64) -> f64 {
    if b < a { b } else { a }
}

/// `f64::max` of numbers that are not NaN.
#[inline]
fn greatest(a: f64, b: f64) -> f64 {
    if b > a { b } else { a }
}

/// Where the parts of sorted records go.
struct RankedSlots<'a> {
    scores: &'a mut [f64],
    tags: &'a mut [u32],
    origins: &'a mut [u32],
}

impl RankedSlots<'_> {
    /// The first slots, and all others.
    fn split_at(self, n: usize) -> (Self, Self) {
        let (scores, scores_after) = self.scores.split_at_mut(n);
        let (tags, tags_after) = self.tags.split_at_mut(n);
        let (origins, origins_after) = self.origins.split_at_mut(n);
        let after = RankedSlots { scores: scores_after, tags: tags_after, origins: origins_after };
        (RankedSlots { scores, tags, origins }, after)
    }
}

fn take_apart(records: &[TaggedRecord], slots: RankedSlots<'_>) {
    let RankedSlots { scores, tags, origins } = slots;
    for (((record, score), tag), origin) in records.iter().zip(scores).zip(tags).zip(origins) {
        (*score, *tag, *origin) = (record.score, record.tag, record.origin);
    }
}

/// Sorts `records` by their scores, which are between `low` and `high`, with at most `dealings`
/// distribution passes.
fn order(
    records: &mut [TaggedRecord],
    low: f64,
    high: f64,
    scratch: &mut SortScratch,
    dealings: u32,
) {
    let n = records.len();
    if low >= high {
        return;
    }
    if scratch.records.len() < n {
        scratch.records.resize(n, TaggedRecord::default());
    }
    if n <= CROWD {
        let dealt = &mut scratch.records[..n];
        dealt.copy_from_slice(records);
        insert_all(dealt, records);
        return;
    }
    let n_cells = n.next_power_of_two().min(MOST_CELLS);
    // An outlier may leave nearly all other rows in one cell, pass after pass: the bound on the
    // passes keeps this O(n log n).
    let Some(grid) = ScoreGrid::new(low, high, n_cells).filter(|_| dealings > 0) else {
        records.sort_unstable_by(|a, b| a.score.total_cmp(&b.score));
        return;
    };
    let ends = &mut scratch.ends;
    ends.clear();
    ends.resize(n_cells, 0);
    for record in &*records {
        ends[grid.cell(record.score)] += 1;
    }
    let (mut end, mut largest) = (0, 0);
    for count in &mut *ends {
        let start = end;
        end += *count;
        largest = largest.max(*count);
        *count = start;
    }
    let dealt = &mut scratch.records[..n];
    for &record in &*records {
        let place = &mut ends[grid.cell(record.score)];
        dealt[*place as usize] = record;
        *place += 1;
    }
    if largest as usize <= CROWD {
        insert_all(dealt, records);
        return;
    }
    records.copy_from_slice(dealt);
    let n_crowds = scratch.crowds.len();
    let mut start = 0;
    for &end in &scratch.ends {
        let end = end as usize;
        if end - start > CROWD {
            // Noted, not sorted at once: `order` uses the same counts and scratch records again.
            scratch.crowds.push((start, end));
        }
        start = end;
    }
    while scratch.crowds.len() > n_crowds {
        if let Some((start, end)) = scratch.crowds.pop() {
            let crowd = &mut records[start..end];
            let (mut low, mut high) = (crowd[0].score, crowd[0].score);
            for record in &*crowd {
                low = least(low, record.score);
                high = greatest(high, record.score);
            }
            order(crowd, low, high, scratch, dealings - 1);
        }
    }
    scratch.records[..n].copy_from_slice(records);
    insert_all(&scratch.records[..n], records);
}

/// Insertion sort, fast when next to nothing is out of order.
fn insert_all(from: &[TaggedRecord], into: &mut [TaggedRecord]) {
    for (i, &record) in from.iter().enumerate() {
        let mut place = i;
        while place > 0 && into[place - 1].score > record.score {
            into[place] = into[place - 1];
            place -= 1;
        }
        into[place] = record;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Sorted scores must equal those of the standard library, tags must be moved along, and values
    /// must be assigned to their rows.
    fn check(ranking: &mut Ranking, scores: &[f64]) {
        let mut expected: Vec<f64> = scores.iter().map(|s| s + 0.0).collect();
        expected.sort_unstable_by(f64::total_cmp);
        for n_threads in [1, 2, 3] {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(n_threads).build().unwrap();
            pool.install(|| {
                ranking.sort(scores, &Bounds::of(scores), |row| row as u32);
                assert_eq!(ranking.scores, expected);
                let of_tag: Vec<f64> = ranking.tags.iter().map(|&t| scores[t as usize]).collect();
                assert_eq!(of_tag, expected);
                let numbers: Vec<f64> = ranking.tags.iter().map(|&tag| tag.into()).collect();
                let mut rows = vec![-1.0; scores.len()];
                ranking.give_back(scores, &numbers, &mut rows);
                assert!(rows.iter().enumerate().all(|(row, &number)| number == row as f64));
            });
        }
    }

    #[test]
    fn awkward_scores_of_any_number_are_sorted_and_numbers_come_back() {
        let shapes: [fn(f64) -> f64; 9] = [
            |u| u,
            |u| (u / (1.0 - u + 1e-9) + 1e-9).ln(),
            |u| (u * 5.0).floor() - 2.0,
            |_| 7.0,
            |u| if u < 1e-3 { 1e300 } else { u },
            |u| if u < 0.5 { -1e308 } else { 1e308 * u },
            |u| 5e-324 * (u * 9.0).floor(),
            |u| 2_f64.powf(u * 2000.0 - 1000.0),
            |u| if u < 0.5 { -0.0 } else { 0.0 },
        ];
        // One instance for all: a call must not depend on the one before.
        let mut ranking = Ranking::default();
        for shape in shapes {
            for n in [0, 1, 33, 5000, PARALLEL_FROM - 1, PARALLEL_FROM + 777] {
                let u = (0..n).map(|i| (i as f64 * 0.618_033_988_749_894_9).fract());
                check(&mut ranking, &u.map(shape).collect::<Vec<f64>>());
            }
        }
    }

    proptest! {
        #[test]
        fn any_scores_are_sorted(scores in prop::collection::vec(any::<f64>(), 0..300)) {
            let finite: Vec<f64> = scores.into_iter().filter(|s| s.is_finite()).collect();
            check(&mut Ranking::default(), &finite);
        }
    }
}
