//! Rows in ascending order of their scores, sorted again and again in memory that stays.
//!
//! Unlike [`sort`](super::sort) the rows themselves are wanted, for each has a slope of its own.
//! A row travels as its score and its number. Scores are dealt into as many cells of equal width as
//! there are rows, which leaves next to nothing to sort; of a large sample, first into some
//! thousand buckets, each of which stays in the cache while it is dealt.

use rayon::prelude::*;

use super::sample::PARALLEL_FROM;

/// Rows of a bucket aimed at, if they are spread evenly.
const BUCKET: usize = 512;

/// At most that many buckets: more would not stay in the translation buffers of the processor.
const MOST_BUCKETS: usize = 2048;

/// Cells of one dealing: their counts stay in the second cache.
const MOST_CELLS: usize = 1 << 16;

/// Rows of a cell from which on it is dealt once more.
const CROWD: usize = 32;

/// Dealings before scores that keep crowding together are compared, as after outliers each of which
/// is orders of magnitude beyond the one before.
const MOST_DEALINGS: u32 = 3;

/// A row on its way; `tag` is whatever the caller wants to find again beside it.
#[derive(Debug, Clone, Copy, Default)]
struct Record {
    score: f64,
    row: u32,
    tag: u32,
}

/// Rows in ascending order of their scores, rows of one score in any order.
#[derive(Debug, Clone, Default)]
pub(super) struct Ranking {
    /// Ascending; `-0.0` is `0.0`.
    pub scores: Vec<f64>,
    /// Number of the row of each score.
    pub rows: Vec<u32>,
    /// What the caller gave that row.
    pub tags: Vec<u32>,
    records: Vec<Record>,
    scratch: Scratch,
}

/// Memory of a dealing.
#[derive(Debug, Clone, Default)]
struct Scratch {
    records: Vec<Record>,
    ends: Vec<u32>,
    crowds: Vec<(usize, usize)>,
}

/// Least and greatest of some scores; a NaN counts as nothing, and `is_nan` tells of it.
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
        // Independent lanes, so that the compiler takes vector instructions.
        const LANES: usize = 8;
        let mut low = [f64::INFINITY; LANES];
        let mut high = [f64::NEG_INFINITY; LANES];
        // Sums up to NaN or not: infinity less itself is NaN too, hence only an occasion to look.
        let mut odd = [0.0; LANES];
        let chunks = scores.chunks_exact(LANES);
        let rest = chunks.remainder();
        for chunk in chunks {
            for lane in 0..LANES {
                let s = chunk[lane];
                low[lane] = if s < low[lane] { s } else { low[lane] };
                high[lane] = if s > high[lane] { s } else { high[lane] };
                odd[lane] += s - s;
            }
        }
        let mut bounds = Self {
            low: low.into_iter().fold(f64::INFINITY, f64::min),
            high: high.into_iter().fold(f64::NEG_INFINITY, f64::max),
            is_nan: odd.iter().sum::<f64>().is_nan() && scores.iter().any(|s| s.is_nan()),
        };
        for &s in rest {
            bounds.low = bounds.low.min(s);
            bounds.high = bounds.high.max(s);
            bounds.is_nan |= s.is_nan();
        }
        bounds
    }
}

/// Cells of equal width.
#[derive(Clone, Copy)]
struct Grid {
    low: f64,
    scale: f64,
}

impl Grid {
    /// A grid of `n_cells`, or `None` where scores are too close or too far apart for one.
    fn new(low: f64, high: f64, n_cells: usize) -> Option<Self> {
        let scale = (n_cells - 1) as f64 / (high - low);
        (scale.is_finite() && scale > 0.0).then_some(Self { low, scale })
    }

    /// Cell of a score: never falls as the score rises.
    #[inline]
    fn cell(self, score: f64) -> usize {
        // Adding 2^52 rounds to a whole number and leaves it in the low bits: a conversion to an
        // integer takes several times as long.
        ((score - self.low) * self.scale + 4_503_599_627_370_496.0).to_bits() as u32 as usize
    }
}

impl Ranking {
    /// Sorts `scores`, which lie within `bounds` and are finite; each row is given its `tag`.
    pub fn sort(&mut self, scores: &[f64], bounds: &Bounds, tag: impl Fn(usize) -> u32 + Sync) {
        let n = scores.len();
        self.scores.resize(n, 0.0);
        self.rows.resize(n, 0);
        self.tags.resize(n, 0);
        self.records.resize(n, Record::default());
        let record = |row: usize, score: f64| Record {
            // Turns -0.0 into 0.0.
            score: score + 0.0,
            row: row as u32,
            tag: tag(row),
        };
        let n_buckets = (n / BUCKET).max(1).next_power_of_two().min(MOST_BUCKETS);
        let grid = Grid::new(bounds.low, bounds.high, n_buckets);
        if let Some(grid) = grid.filter(|_| n >= PARALLEL_FROM) {
            self.sort_buckets(scores, grid, n_buckets, &record);
            return;
        }
        for (row, (place, &score)) in self.records.iter_mut().zip(scores).enumerate() {
            *place = record(row, score);
        }
        let out = (&mut self.scores[..], &mut self.rows[..], &mut self.tags[..]);
        order_into(&mut self.records, &mut self.scratch, out);
    }

    fn sort_buckets(
        &mut self,
        scores: &[f64],
        grid: Grid,
        n_buckets: usize,
        record: &(impl Fn(usize, f64) -> Record + Sync),
    ) {
        let n = scores.len();
        let n_threads = rayon::current_num_threads();
        // More shares than threads even out a thread that is held up.
        let share = if n_threads == 1 { n } else { n.div_ceil(2 * n_threads) };
        let count = |scores: &[f64]| {
            let mut counts = vec![0_u32; n_buckets];
            for &score in scores {
                counts[grid.cell(score)] += 1;
            }
            counts
        };
        let counts: Vec<Vec<u32>> = scores.par_chunks(share).map(count).collect();

        // A piece of memory for each bucket and share, bucket by bucket.
        let mut places: Vec<Vec<_>> =
            counts.iter().map(|_| Vec::with_capacity(n_buckets)).collect();
        let mut sizes = Vec::with_capacity(n_buckets);
        let mut rest = self.records.as_mut_slice();
        for bucket in 0..n_buckets {
            let before = rest.len();
            for (counts, places) in counts.iter().zip(&mut places) {
                let (place, after) = rest.split_at_mut(counts[bucket] as usize);
                places.push(place.iter_mut());
                rest = after;
            }
            sizes.push(before - rest.len());
        }
        scores.par_chunks(share).zip(places).enumerate().for_each(|(i, (scores, mut places))| {
            for (row, &score) in scores.iter().enumerate() {
                if let Some(place) = places[grid.cell(score)].next() {
                    *place = record(i * share + row, score);
                }
            }
        });

        let mut tasks = Vec::with_capacity(n_buckets);
        let mut rest = self.records.as_mut_slice();
        let mut out = (&mut self.scores[..], &mut self.rows[..], &mut self.tags[..]);
        for size in sizes {
            let (records, after) = rest.split_at_mut(size);
            let (scores, rows, tags) = out;
            let (scores, scores_after) = scores.split_at_mut(size);
            let (rows, rows_after) = rows.split_at_mut(size);
            let (tags, tags_after) = tags.split_at_mut(size);
            tasks.push((records, (scores, rows, tags)));
            rest = after;
            out = (scores_after, rows_after, tags_after);
        }
        tasks
            .into_par_iter()
            .with_min_len(8)
            .for_each_init(Scratch::default, |scratch, (records, out)| {
                order_into(records, scratch, out)
            });
    }
}

/// Orders `records` and takes them apart.
fn order_into(
    records: &mut [Record],
    scratch: &mut Scratch,
    (scores, rows, tags): (&mut [f64], &mut [u32], &mut [u32]),
) {
    order(records, scratch, MOST_DEALINGS);
    for (((record, score), row), tag) in records.iter().zip(scores).zip(rows).zip(tags) {
        (*score, *row, *tag) = (record.score, record.row, record.tag);
    }
}

/// Orders `records` by their scores, dealing them at most `dealings` times.
fn order(records: &mut [Record], scratch: &mut Scratch, dealings: u32) {
    let n = records.len();
    if n <= CROWD {
        insert_all(records);
        return;
    }
    let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
    for record in &*records {
        low = low.min(record.score);
        high = high.max(record.score);
    }
    if low >= high {
        return;
    }
    let n_cells = n.next_power_of_two().min(MOST_CELLS);
    let Some(grid) = Grid::new(low, high, n_cells).filter(|_| dealings > 0) else {
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
    if scratch.records.len() < n {
        scratch.records.resize(n, Record::default());
    }
    let dealt = &mut scratch.records[..n];
    for &record in &*records {
        let place = &mut ends[grid.cell(record.score)];
        dealt[*place as usize] = record;
        *place += 1;
    }
    records.copy_from_slice(dealt);
    if largest as usize > CROWD {
        let first = scratch.crowds.len();
        let mut start = 0;
        for &end in &scratch.ends {
            let end = end as usize;
            if end - start > CROWD {
                scratch.crowds.push((start, end));
            }
            start = end;
        }
        while scratch.crowds.len() > first {
            if let Some((start, end)) = scratch.crowds.pop() {
                order(&mut records[start..end], scratch, dealings - 1);
            }
        }
    }
    insert_all(records);
}

/// Sorts by insertion: fast where next to nothing is out of order.
fn insert_all(records: &mut [Record]) {
    for i in 1..records.len() {
        let record = records[i];
        let mut place = i;
        while place > 0 && records[place - 1].score > record.score {
            records[place] = records[place - 1];
            place -= 1;
        }
        records[place] = record;
    }
}
