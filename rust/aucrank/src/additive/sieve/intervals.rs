//! Intervals of keys, of which that of a key is found without a long search.

use crate::additive::cells::Cells;

/// Keys that lie next to each other, in cells of equal width.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Interval {
    pub(super) least: u64,
    pub(super) greatest: u64,
    /// A cell is `2^shift` keys wide.
    pub(super) shift: u32,
}

impl Interval {
    /// One cell.
    pub(super) fn whole(least: u64, greatest: u64) -> Self {
        Self { least, greatest, shift: u64::BITS - 1 }
    }

    fn n_cells(self) -> usize {
        ((self.greatest - self.least) >> self.shift) as usize + 1
    }
}

/// Ascending intervals that do not overlap.
#[derive(Debug, Clone)]
pub(super) struct Intervals {
    list: Vec<Based>,
    n_cells: usize,
    buckets: Buckets,
}

/// An interval, and the number of its first cell.
#[derive(Debug, Clone, Copy)]
struct Based {
    interval: Interval,
    base: usize,
}

/// Where the search for an interval begins and ends.
#[derive(Debug, Clone)]
struct Buckets {
    cells: Cells,
    /// Of each bucket, how many intervals begin in those below it; then how many there are.
    below: Vec<u32>,
}

impl Intervals {
    pub(super) fn new(list: Vec<Interval>) -> Self {
        debug_assert!(list.is_sorted_by(|a, b| a.greatest < b.least));
        let starts: Vec<u64> = list.iter().map(|interval| interval.least).collect();
        let buckets = Buckets::new(&starts);
        let mut n_cells = 0;
        let based = |interval: Interval| {
            let base = n_cells;
            n_cells += interval.n_cells();
            Based { interval, base }
        };
        let list = list.into_iter().map(based).collect();
        Self { list, n_cells, buckets }
    }

    pub(super) fn n_cells(&self) -> usize {
        self.n_cells
    }

    /// The interval of a key.
    #[inline]
    fn find(&self, key: u64) -> Option<&Based> {
        let candidates = self.buckets.candidates(key);
        let first = candidates.start;
        let begins = |based: &Based| based.interval.least <= key;
        let at_or_below = first
            + match &self.list[candidates] {
                // One is the rule, and no search is as fast.
                [one] => usize::from(begins(one)),
                some => some.partition_point(begins),
            };
        let found = &self.list[at_or_below.checked_sub(1)?];
        (key <= found.interval.greatest).then_some(found)
    }

    /// Whether a key is in one of them.
    #[inline]
    pub(super) fn contain(&self, key: u64) -> bool {
        self.find(key).is_some()
    }

    /// The cell of a key.
    #[inline]
    pub(super) fn cell(&self, key: u64) -> Option<usize> {
        let &Based { interval: Interval { least, shift, .. }, base } = self.find(key)?;
        Some(base + ((key - least) >> shift) as usize)
    }
}

impl Buckets {
    /// About four times as many buckets as starts, so that few have two.
    fn new(starts: &[u64]) -> Self {
        let n_buckets = 4 * starts.len();
        let cells = Cells::of_sample(starts.to_vec(), n_buckets);
        let mut below = vec![0; cells.n() + Cells::N_OF_NO_NUMBER + 1];
        for &start in starts {
            below[cells.of(start) + 1] += 1;
        }
        let mut sum = 0;
        for count in &mut below {
            sum += *count;
            *count = sum;
        }
        Self { cells, below }
    }

    #[inline]
    fn candidates(&self, key: u64) -> std::ops::Range<usize> {
        let bucket = self.cells.of(key);
        self.below[bucket] as usize..self.below[bucket + 1] as usize
    }
}
