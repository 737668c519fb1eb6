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
    list: Vec<Interval>,
    /// Number of the first cell of each.
    bases: Vec<usize>,
    n_cells: usize,
    buckets: Buckets,
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
        let mut n_cells = 0;
        let bases = list
            .iter()
            .map(|interval| {
                let base = n_cells;
                n_cells += interval.n_cells();
                base
            })
            .collect();
        let starts = list.iter().map(|interval| interval.least).collect();
        let buckets = Buckets::new(starts);
        Self { list, bases, n_cells, buckets }
    }

    pub(super) fn n_cells(&self) -> usize {
        self.n_cells
    }

    /// The interval of a key.
    #[inline]
    pub(super) fn place(&self, key: u64) -> Option<usize> {
        let candidates = self.buckets.candidates(key);
        let first = candidates.start;
        let at_or_below =
            first + self.list[candidates].partition_point(|interval| interval.least <= key);
        let place = at_or_below.checked_sub(1)?;
        (key <= self.list[place].greatest).then_some(place)
    }

    /// The cell of a key.
    #[inline]
    pub(super) fn cell(&self, key: u64) -> Option<usize> {
        let place = self.place(key)?;
        let Interval { least, shift, .. } = self.list[place];
        Some(self.bases[place] + ((key - least) >> shift) as usize)
    }
}

impl Buckets {
    /// About twice as many buckets as starts.
    fn new(starts: Vec<u64>) -> Self {
        let n_buckets = 2 * starts.len();
        let cells = Cells::of_sample(starts.clone(), n_buckets);
        let mut below = vec![0; cells.n() + Cells::N_OF_NO_NUMBER + 1];
        for &start in &starts {
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
