//! Sums of cells of the keys of numbers, which merge in any grouping.

use super::intervals::{Interval, Intervals};
use crate::RankError;
use crate::data::ClassSums;
use crate::rows::words::{Reader, put_sums};

/// Slots of a table of few cells.
const FEW_SLOTS: usize = 1 << 8;

/// The keys of a feature that are counted, and the cells that they are counted in.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Layout {
    /// All keys, or those in some intervals. A cell has the keys of the same leading bits, as many of
    /// them as make no more cells than are allowed. So few distinct keys have a cell each.
    Prefixes(Option<Vec<[u64; 2]>>),
    /// The keys of intervals in cells of equal width.
    Parts(Vec<Interval>),
}

/// Cells of one feature. Each has its least and its greatest key, and its class sums for each fold.
#[derive(Debug, Clone)]
pub(super) struct KeyCells {
    n_folds: usize,
    places: Places,
    ranges: Vec<[u64; 2]>,
    /// Those of the folds of the first cell, then those of the second, ...
    sums: Vec<ClassSums>,
}

#[derive(Debug, Clone)]
enum Places {
    Prefixes(Prefixes),
    Parts(Intervals),
}

/// Where the cell of a prefix is.
#[derive(Debug, Clone)]
struct Prefixes {
    within: Option<Intervals>,
    /// Most cells in the end.
    most: usize,
    /// Bits that keys of a cell need not share.
    shift: u32,
    /// Number of the cell plus one, or 0; more than there are cells, a power of two.
    slots: Vec<u32>,
}

/// A range of no key.
const EMPTY: [u64; 2] = [u64::MAX, 0];

impl KeyCells {
    /// Of no rows.
    pub(super) fn new(layout: &Layout, most: usize, n_folds: usize) -> Self {
        let (places, n_cells) = match layout {
            Layout::Prefixes(within) => {
                let intervals = |ranges: &Vec<[u64; 2]>| {
                    let whole = |&[least, greatest]: &[u64; 2]| Interval::whole(least, greatest);
                    Intervals::new(ranges.iter().map(whole).collect())
                };
                let within = within.as_ref().map(intervals);
                (
                    Places::Prefixes(Prefixes {
                        within,
                        most,
                        shift: 0,
                        slots: vec![0; FEW_SLOTS],
                    }),
                    0,
                )
            }
            Layout::Parts(parts) => {
                let intervals = Intervals::new(parts.clone());
                let n_cells = intervals.n_cells();
                (Places::Parts(intervals), n_cells)
            }
        };
        let sums = vec![ClassSums::default(); n_cells * n_folds];
        Self { n_folds, places, ranges: vec![EMPTY; n_cells], sums }
    }

    /// Adds a row of a fold; nothing if its key is not to be counted.
    #[inline]
    pub(super) fn add(&mut self, key: u64, fold: usize, sums: ClassSums) {
        if let Some(cell) = self.cell(key) {
            let [least, greatest] = &mut self.ranges[cell];
            *least = key.min(*least);
            *greatest = key.max(*greatest);
            self.sums[cell * self.n_folds + fold] += sums;
        }
    }

    /// The cell of a key, which is made if it is new.
    #[inline]
    fn cell(&mut self, key: u64) -> Option<usize> {
        let prefixes = match &self.places {
            Places::Parts(intervals) => return intervals.cell(key),
            Places::Prefixes(prefixes) => prefixes,
        };
        if let Some(within) = &prefixes.within {
            within.place(key)?;
        }
        match prefixes.find(key, &self.ranges) {
            Ok(cell) => Some(cell),
            Err(slot) => Some(self.insert(key, slot)),
        }
    }

    #[cold]
    fn insert(&mut self, key: u64, slot: usize) -> usize {
        let Places::Prefixes(prefixes) = &mut self.places else {
            unreachable!("cells of prefixes")
        };
        // Cells are joined when there are twice as many as in the end, so that it is done rarely.
        if self.ranges.len() == 2 * prefixes.most {
            self.settle();
            return self.cell(key).expect("a key that is counted");
        }
        let cell = self.ranges.len();
        self.ranges.push(EMPTY);
        self.sums.resize((cell + 1) * self.n_folds, ClassSums::default());
        prefixes.slots[slot] = cell as u32 + 1;
        // The row that the cell is made for is added after this.
        self.ranges[cell] = [key, key];
        if 2 * self.ranges.len() > prefixes.slots.len() {
            let n_slots = 4 * prefixes.slots.len();
            prefixes.deal(&self.ranges, n_slots);
        }
        cell
    }

    /// Joins cells until there are not too many: those whose keys share all but so many bits, as few as
    /// will do. So the cells depend neither on the order of the rows nor on how they are divided.
    fn settle(&mut self) {
        let Places::Prefixes(prefixes) = &self.places else { return };
        let (most, shift) = (prefixes.most, prefixes.shift);
        if self.ranges.len() <= most {
            return;
        }
        let mut least: Vec<u64> = self.ranges.iter().map(|range| range[0]).collect();
        least.sort_unstable();
        // How many neighbours differ in so many bits.
        let mut of_length = [0; u64::BITS as usize + 1];
        for pair in least.windows(2) {
            of_length[(u64::BITS - (pair[0] ^ pair[1]).leading_zeros()) as usize] += 1;
        }
        let mut n_cells = 1 + of_length.iter().sum::<usize>();
        let mut shift_needed = 0;
        while n_cells > most {
            shift_needed += 1;
            n_cells -= of_length[shift_needed as usize];
        }
        self.join(shift.max(shift_needed));
    }

    /// Joins the cells whose keys share all but so many bits.
    fn join(&mut self, shift: u32) {
        let n_folds = self.n_folds;
        let mut order: Vec<usize> = (0..self.ranges.len()).collect();
        order.sort_unstable_by_key(|&cell| self.ranges[cell][0]);
        let (mut ranges, mut sums): (Vec<[u64; 2]>, Vec<ClassSums>) = (Vec::new(), Vec::new());
        for cell in order {
            let ([least, greatest], own) = (self.ranges[cell], &self.sums[cell * n_folds..]);
            match ranges.last_mut() {
                Some([first, last]) if *first >> shift == least >> shift => {
                    *last = greatest;
                    let joined = sums.len() - n_folds;
                    sums[joined..].iter_mut().zip(own).for_each(|(sum, &more)| *sum += more);
                }
                _ => {
                    ranges.push([least, greatest]);
                    sums.extend(&own[..n_folds]);
                }
            }
        }
        (self.ranges, self.sums) = (ranges, sums);
        if let Places::Prefixes(prefixes) = &mut self.places {
            prefixes.shift = shift;
            let n_slots = prefixes.slots.len();
            prefixes.deal(&self.ranges, n_slots);
        }
    }

    /// The cells that have rows, in ascending order: the least and the greatest key, and the sums of the
    /// folds.
    pub(super) fn cells(&self) -> impl ExactSizeIterator<Item = ([u64; 2], &[ClassSums])> {
        let mut order: Vec<usize> =
            (0..self.ranges.len()).filter(|&cell| self.ranges[cell] != EMPTY).collect();
        order.sort_unstable_by_key(|&cell| self.ranges[cell][0]);
        let sums = |cell: usize| &self.sums[cell * self.n_folds..(cell + 1) * self.n_folds];
        order.into_iter().map(move |cell| (self.ranges[cell], sums(cell)))
    }

    /// Appends the cells as words.
    pub(super) fn put(&mut self, words: &mut Vec<u64>) {
        self.settle();
        words.push(match &self.places {
            Places::Prefixes(prefixes) => prefixes.shift.into(),
            Places::Parts(_) => 0,
        });
        let cells = self.cells();
        words.push(cells.len() as u64);
        for ([least, greatest], sums) in cells {
            words.extend([least, greatest]);
            sums.iter().for_each(|&sums| put_sums(words, sums));
        }
    }

    /// Adds the cells of other rows, as [`KeyCells::put`] has written them.
    pub(super) fn merge(&mut self, reader: &mut Reader<'_>) -> Result<(), RankError> {
        let bad = || RankError::BadAnswer("cells overlap, or were not asked for".to_owned());
        let (shift, n_cells) = (reader.word()?, reader.word()?);
        let shift = u32::try_from(shift).ok().filter(|&shift| shift < u64::BITS).ok_or_else(bad)?;
        if let Places::Prefixes(prefixes) = &self.places
            && prefixes.shift < shift
        {
            self.join(shift);
        }
        let mut above = 0;
        for _ in 0..n_cells {
            let &[least, greatest] = reader.array()?;
            if least < above || greatest < least {
                return Err(bad());
            }
            above = greatest.saturating_add(1);
            let cell = self.cell(least).ok_or_else(bad)?;
            if self.cell(greatest) != Some(cell) {
                return Err(bad());
            }
            let range = &mut self.ranges[cell];
            *range = [least.min(range[0]), greatest.max(range[1])];
            for fold in 0..self.n_folds {
                self.sums[cell * self.n_folds + fold] += reader.sums()?;
            }
        }
        Ok(())
    }
}

impl Prefixes {
    /// The cell of a key, or the slot where it belongs.
    #[inline]
    fn find(&self, key: u64, ranges: &[[u64; 2]]) -> Result<usize, usize> {
        let prefix = key >> self.shift;
        let mut slot = self.slot(prefix);
        loop {
            match self.slots[slot] as usize {
                0 => return Err(slot),
                cell if ranges[cell - 1][0] >> self.shift == prefix => return Ok(cell - 1),
                _ => slot = (slot + 1) & (self.slots.len() - 1),
            }
        }
    }

    /// Where the search for a prefix begins.
    #[inline]
    fn slot(&self, prefix: u64) -> usize {
        const FACTOR: u64 = 0x9E37_79B9_7F4A_7C15;
        (prefix.wrapping_mul(FACTOR) >> (u64::BITS - self.slots.len().ilog2())) as usize
    }

    /// Puts all cells into new slots.
    fn deal(&mut self, ranges: &[[u64; 2]], n_slots: usize) {
        self.slots.clear();
        self.slots.resize(n_slots, 0);
        for (cell, range) in ranges.iter().enumerate() {
            let mut slot = self.slot(range[0] >> self.shift);
            while self.slots[slot] != 0 {
                slot = (slot + 1) & (n_slots - 1);
            }
            self.slots[slot] = cell as u32 + 1;
        }
    }
}
