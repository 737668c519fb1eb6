//! Sums of cells of the keys of numbers, which merge in any grouping, and the state of a number
//! between passes, reduced to the cells that affect its cuts.

use crate::RankError;
use crate::additive::bins::{BinnedFeature, Direction};
use crate::additive::draft::KeyIntervals;
use crate::additive::hull::{BestCuts, Curve, borders, wanted};
use crate::data::{Bins, ClassMasses, ClassSums, Tally};
use crate::roc::Score;
use crate::rows::words::WordReader;

/// Slots of a table of few cells.
const FEW_SLOTS: usize = 1 << 8;

/// The counted keys of a feature, and their cells.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum KeyLayout {
    /// All keys, or those in some intervals. A cell has the keys with the same leading bits, as
    /// many bits as the maximum number of cells allows. So few distinct keys have a cell each.
    Prefixes(Option<Vec<[u64; 2]>>),
    /// The keys of intervals in cells of equal width.
    Parts(Vec<Interval>),
}

/// Cells of one feature. Each has its least and its greatest key, and its class sums for each fold.
#[derive(Debug, Clone)]
pub(super) struct KeyCells {
    places: KeyPlaces,
    list: CellList,
}

/// The words of all cells, one cell after the other, so that a row touches one place in memory: the
/// least key, the greatest, and the class sums of the folds.
#[derive(Debug, Clone)]
struct CellList {
    n_folds: usize,
    words: Vec<u64>,
}

#[derive(Debug, Clone)]
enum KeyPlaces {
    Prefixes(Prefixes),
    Parts(Intervals),
}

/// Index from prefixes to cells.
#[derive(Debug, Clone)]
struct Prefixes {
    within: Option<Intervals>,
    /// Final maximum number of cells.
    most: usize,
    /// Trailing bits that keys of a cell need not share.
    shift: u32,
    /// Number of the cell plus one, or 0; more than there are cells, a power of two.
    slots: Vec<u32>,
}

/// Words of the range of keys of a cell.
const RANGE_WORDS: usize = 2;

/// Words of class sums.
const SUM_WORDS: usize = ClassSums::WORDS;

impl CellList {
    fn new(n_folds: usize) -> Self {
        Self { n_folds, words: Vec::new() }
    }

    fn width(&self) -> usize {
        RANGE_WORDS + SUM_WORDS * self.n_folds
    }

    fn len(&self) -> usize {
        self.words.len() / self.width()
    }

    /// Appends a cell without rows or keys.
    fn push(&mut self) {
        self.words.extend([u64::MAX, 0]);
        self.words.resize(self.words.len() + SUM_WORDS * self.n_folds, 0);
    }

    #[inline]
    fn least(&self, cell: usize) -> u64 {
        self.words[cell * self.width()]
    }

    fn cell(&self, cell: usize) -> &[u64] {
        let width = self.width();
        &self.words[cell * width..(cell + 1) * width]
    }

    #[inline]
    fn add(&mut self, cell: usize, [least, greatest]: [u64; 2], fold: usize, sums: ClassSums) {
        let first = cell * self.width();
        let own = &mut self.words[first..first + RANGE_WORDS + SUM_WORDS * (fold + 1)];
        own[0] = own[0].min(least);
        own[1] = own[1].max(greatest);
        let own = &mut own[RANGE_WORDS + SUM_WORDS * fold..];
        own[0] += sums.pos;
        own[1] += sums.neg;
        own[2] += sums.rows;
    }

    /// The cells that have rows, in ascending order.
    fn ascending(&self) -> Vec<usize> {
        let has_rows = |&cell: &usize| self.cell(cell)[0] <= self.cell(cell)[1];
        let mut order: Vec<usize> = (0..self.len()).filter(has_rows).collect();
        order.sort_unstable_by_key(|&cell| self.least(cell));
        order
    }
}

impl KeyCells {
    /// The cells of no rows.
    pub(super) fn new(layout: &KeyLayout, most: usize, n_folds: usize) -> Self {
        let mut list = CellList::new(n_folds);
        let places = match layout {
            KeyLayout::Prefixes(within) => {
                let intervals = |ranges: &Vec<[u64; 2]>| {
                    let whole = |&[least, greatest]: &[u64; 2]| Interval::whole(least, greatest);
                    Intervals::new(ranges.iter().map(whole).collect())
                };
                let within = within.as_ref().map(intervals);
                KeyPlaces::Prefixes(Prefixes { within, most, shift: 0, slots: vec![0; FEW_SLOTS] })
            }
            KeyLayout::Parts(parts) => {
                let intervals = Intervals::new(parts.clone());
                list.words.reserve_exact(intervals.n_cells() * list.width());
                (0..intervals.n_cells()).for_each(|_| list.push());
                KeyPlaces::Parts(intervals)
            }
        };
        Self { places, list }
    }

    /// Adds a row of a fold; nothing if its key is not to be counted.
    #[inline]
    pub(super) fn add(&mut self, key: u64, fold: usize, sums: ClassSums) {
        if let Some(cell) = self.cell(key) {
            self.list.add(cell, [key, key], fold, sums);
        }
    }

    /// The cell of a key, made if it is new.
    #[inline]
    fn cell(&mut self, key: u64) -> Option<usize> {
        let prefixes = match &self.places {
            KeyPlaces::Parts(intervals) => return intervals.cell(key),
            KeyPlaces::Prefixes(prefixes) => prefixes,
        };
        if prefixes.within.as_ref().is_some_and(|within| !within.contain(key)) {
            return None;
        }
        match prefixes.find(key, &self.list) {
            Ok(cell) => Some(cell),
            Err(slot) => Some(self.insert(key, slot)),
        }
    }

    #[cold]
    fn insert(&mut self, key: u64, slot: usize) -> usize {
        let KeyPlaces::Prefixes(prefixes) = &mut self.places else {
            unreachable!("cells of prefixes")
        };
        // Cells are joined when there are twice the final maximum, so that this is rare.
        if self.list.len() == 2 * prefixes.most {
            self.settle();
            return self.cell(key).expect("a key that is counted");
        }
        let cell = self.list.len();
        self.list.push();
        // The rows that the cell is made for are added after this.
        self.list.add(cell, [key, key], 0, ClassSums::default());
        prefixes.slots[slot] = cell as u32 + 1;
        if 2 * self.list.len() > prefixes.slots.len() {
            let n_slots = 4 * prefixes.slots.len();
            prefixes.deal(&self.list, n_slots);
        }
        cell
    }

    /// Joins cells until there are at most `most`: those whose keys share all but the fewest
    /// possible trailing bits. So the cells depend neither on the order of the rows nor on their
    /// division into parts.
    fn settle(&mut self) {
        let KeyPlaces::Prefixes(prefixes) = &self.places else { return };
        let most = prefixes.most;
        if self.list.len() <= most {
            return;
        }
        let mut least: Vec<u64> = (0..self.list.len()).map(|cell| self.list.least(cell)).collect();
        least.sort_unstable();
        // Number of neighbours that differ in each number of bits.
        let mut of_length = [0; u64::BITS as usize + 1];
        for pair in least.windows(2) {
            of_length[(u64::BITS - (pair[0] ^ pair[1]).leading_zeros()) as usize] += 1;
        }
        let (mut n_cells, mut shift) = (least.len(), 0);
        while n_cells > most {
            shift += 1;
            n_cells -= of_length[shift as usize];
        }
        self.join(shift);
    }

    /// Joins the cells whose keys share all but the last `shift` bits.
    fn join(&mut self, shift: u32) {
        let n_folds = self.list.n_folds;
        let mut joined = CellList::new(n_folds);
        for place in self.list.ascending() {
            let (range, sums) = cell_of(self.list.cell(place));
            let is_last = |&last: &usize| joined.least(last) >> shift == range[0] >> shift;
            let cell = joined.len().checked_sub(1).filter(is_last).unwrap_or_else(|| {
                joined.push();
                joined.len() - 1
            });
            sums.enumerate().for_each(|(fold, sums)| joined.add(cell, range, fold, sums));
        }
        self.list = joined;
        if let KeyPlaces::Prefixes(prefixes) = &mut self.places {
            prefixes.shift = shift;
            let n_slots = prefixes.slots.len();
            prefixes.deal(&self.list, n_slots);
        }
    }

    /// The cells that have rows, in ascending order: the least and the greatest key, and the sums
    /// of the folds.
    pub(super) fn cells(
        &self,
    ) -> impl Iterator<Item = ([u64; 2], impl Iterator<Item = ClassSums> + Clone)> {
        self.list.ascending().into_iter().map(|cell| cell_of(self.list.cell(cell)))
    }

    /// Appends the cells as words.
    pub(super) fn put(&mut self, words: &mut Vec<u64>) {
        self.settle();
        words.push(match &self.places {
            KeyPlaces::Prefixes(prefixes) => prefixes.shift.into(),
            KeyPlaces::Parts(_) => 0,
        });
        let order = self.list.ascending();
        words.push(order.len() as u64);
        words.reserve(order.len() * self.list.width());
        for cell in order {
            words.extend(self.list.cell(cell));
        }
    }

    /// Adds the cells of other rows, written by [`KeyCells::put`].
    pub(super) fn merge(&mut self, reader: &mut WordReader<'_>) -> Result<(), RankError> {
        let bad = || RankError::BadAnswer("cells overlap, or were not requested".to_owned());
        let (shift, n_cells) = (reader.word()?, reader.word()?);
        let shift = u32::try_from(shift).ok().filter(|&shift| shift < u64::BITS).ok_or_else(bad)?;
        if let KeyPlaces::Prefixes(prefixes) = &self.places
            && prefixes.shift < shift
        {
            self.join(shift);
        }
        let mut above = 0;
        for _ in 0..n_cells {
            let (range, sums) = cell_of(reader.take(self.list.width())?);
            let [least, greatest] = range;
            if least < above || greatest < least {
                return Err(bad());
            }
            above = greatest.saturating_add(1);
            let cell = self.cell(least).ok_or_else(bad)?;
            if self.cell(greatest) != Some(cell) {
                return Err(bad());
            }
            sums.enumerate().for_each(|(fold, sums)| self.list.add(cell, range, fold, sums));
        }
        Ok(())
    }
}

/// The range and the sums of a cell.
fn cell_of(words: &[u64]) -> ([u64; 2], impl Iterator<Item = ClassSums> + Clone) {
    let (range, sums) = words.split_at(RANGE_WORDS);
    ([range[0], range[1]], sums.chunks(SUM_WORDS).map(ClassSums::of))
}

impl Prefixes {
    /// The cell of a key, or the slot where it belongs.
    #[inline]
    fn find(&self, key: u64, list: &CellList) -> Result<usize, usize> {
        let prefix = key >> self.shift;
        let mut slot = self.slot(prefix);
        loop {
            match self.slots[slot] as usize {
                0 => return Err(slot),
                cell if list.least(cell - 1) >> self.shift == prefix => return Ok(cell - 1),
                _ => slot = (slot + 1) & (self.slots.len() - 1),
            }
        }
    }

    /// First slot of the search for a prefix.
    #[inline]
    fn slot(&self, prefix: u64) -> usize {
        const FACTOR: u64 = 0x9E37_79B9_7F4A_7C15;
        (prefix.wrapping_mul(FACTOR) >> (u64::BITS - self.slots.len().ilog2())) as usize
    }

    /// Puts all cells into new slots.
    fn deal(&mut self, list: &CellList, n_slots: usize) {
        self.slots.clear();
        self.slots.resize(n_slots, 0);
        for cell in 0..list.len() {
            let mut slot = self.slot(list.least(cell) >> self.shift);
            while self.slots[slot] != 0 {
                slot = (slot + 1) & (n_slots - 1);
            }
            self.slots[slot] = cell as u32 + 1;
        }
    }
}

/// A range of keys, in cells of equal width.
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
    buckets: SearchBuckets,
}

/// An interval, and the number of its first cell.
#[derive(Debug, Clone, Copy)]
struct Based {
    interval: Interval,
    base: usize,
}

/// Bounds of the search for an interval.
#[derive(Debug, Clone)]
struct SearchBuckets {
    cells: KeyIntervals,
    /// For each bucket, the number of intervals that begin below it; then the number of all.
    below: Vec<u32>,
}

impl Intervals {
    pub(super) fn new(list: Vec<Interval>) -> Self {
        debug_assert!(list.is_sorted_by(|a, b| a.greatest < b.least));
        let starts: Vec<u64> = list.iter().map(|interval| interval.least).collect();
        let buckets = SearchBuckets::new(&starts);
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
                // Usually there is one, and this is faster than a search.
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

impl SearchBuckets {
    /// About four times as many buckets as starts, so that few have two.
    fn new(starts: &[u64]) -> Self {
        let n_buckets = 4 * starts.len();
        let cells = KeyIntervals::of_sample(starts.to_vec(), n_buckets);
        let mut below = vec![0; cells.n() + KeyIntervals::N_OF_NO_NUMBER + 1];
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

/// Some rows of a fit with folds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::additive) enum FoldView {
    All,
    /// All but those of a fold.
    Without(usize),
}

impl FoldView {
    /// The sum over its rows, given those of the folds.
    pub(super) fn of(self, folds: &[ClassSums]) -> ClassSums {
        let all = folds.iter().copied().sum();
        match self {
            Self::All => all,
            Self::Without(fold) => all - folds[fold],
        }
    }

    /// All views used by a fit with `n_folds` folds.
    fn every(n_folds: usize) -> impl Iterator<Item = Self> {
        let folds = if n_folds > 1 { 0..n_folds } else { 0..0 };
        std::iter::once(Self::All).chain(folds.map(Self::Without))
    }
}

/// A range of keys; ranges are in ascending order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct KeyRange {
    least: u64,
    greatest: u64,
    is_wanted: bool,
}

impl KeyRange {
    /// Whether a corner may be among its keys, so that they must be separated.
    fn is_open(self) -> bool {
        self.is_wanted && self.least < self.greatest
    }
}

/// The rows of a number.
#[derive(Debug, Clone)]
pub(super) struct NumberTable {
    n_folds: usize,
    special: Vec<f64>,
    only: Option<Direction>,
    /// The rows of each special value, then those with a missing value, by fold.
    apart: Vec<ClassSums>,
    pieces: Vec<KeyRange>,
    /// Sums of the folds of the first piece, then of those of the second, ...
    sums: Vec<ClassSums>,
}

impl NumberTable {
    /// From the counts of the first pass.
    pub(super) fn new(
        cells: &KeyCells,
        apart: Vec<ClassSums>,
        n_folds: usize,
        special: Vec<f64>,
        only: Option<Direction>,
    ) -> Self {
        let (pieces, sums) = (Vec::new(), Vec::new());
        let mut table = Self { n_folds, special, only, apart, pieces, sums };
        cells.cells().for_each(|(range, sums)| table.push(range, sums, true));
        table.thin();
        table
    }

    fn push(
        &mut self,
        [least, greatest]: [u64; 2],
        sums: impl Iterator<Item = ClassSums>,
        is_wanted: bool,
    ) {
        self.pieces.push(KeyRange { least, greatest, is_wanted });
        self.sums.extend(sums);
    }

    fn sums_of(&self, piece: usize) -> &[ClassSums] {
        &self.sums[piece * self.n_folds..(piece + 1) * self.n_folds]
    }

    /// Splits the open pieces by the counts of a further pass.
    ///
    /// # Errors
    ///
    /// [`RankError::BadAnswer`] if the rows differ from those of previous passes.
    pub(super) fn split(&mut self, cells: &KeyCells) -> Result<(), RankError> {
        let fresh = Self { pieces: Vec::new(), sums: Vec::new(), ..self.clone() };
        let before = std::mem::replace(self, fresh);
        let mut cells = cells.cells().peekable();
        for (place, &piece) in before.pieces.iter().enumerate() {
            if !piece.is_open() {
                let sums = before.sums_of(place).iter().copied();
                self.push([piece.least, piece.greatest], sums, piece.is_wanted);
                continue;
            }
            let mut sums = vec![ClassSums::default(); self.n_folds];
            while let Some((range, own)) = cells.next_if(|([_, last], _)| *last <= piece.greatest) {
                sums.iter_mut().zip(own.clone()).for_each(|(sum, more)| *sum += more);
                self.push(range, own, true);
            }
            if sums != before.sums_of(place) {
                return Err(RankError::BadAnswer(
                    "the rows have changed between passes".to_owned(),
                ));
            }
        }
        self.thin();
        Ok(())
    }

    /// Joins pieces without a cut of any view inside or next to them.
    fn thin(&mut self) {
        let mut is_wanted = vec![false; self.pieces.len()];
        for view in FoldView::every(self.n_folds) {
            let sums: Vec<ClassSums> =
                (0..self.pieces.len()).map(|piece| view.of(self.sums_of(piece))).collect();
            let places: Vec<usize> =
                (0..self.pieces.len()).filter(|&piece| sums[piece].rows > 0).collect();
            let borders = borders(places.iter().map(|&piece| sums[piece]));
            let is_open: Vec<bool> =
                places.iter().map(|&piece| self.pieces[piece].is_open()).collect();
            let here = wanted(&borders, &is_open, self.only);
            for (&piece, &is_here) in places.iter().zip(&here) {
                is_wanted[piece] |= is_here;
            }
            // A cut may be between the values of a fold that is left out, which it separates too.
            for (pair, is_here) in places.windows(2).zip(here.windows(2)) {
                if is_here == [true, true] {
                    is_wanted[pair[0] + 1..pair[1]].fill(true);
                }
            }
        }
        // A piece that was skipped once has no corner, however large it is after joining
        // neighbours.
        for (piece, is_wanted) in self.pieces.iter_mut().zip(is_wanted) {
            piece.is_wanted &= is_wanted;
        }
        self.join_skipped();
    }

    /// Joins neighbours that are not wanted.
    fn join_skipped(&mut self) {
        let n_folds = self.n_folds;
        let fresh = Self { pieces: Vec::new(), sums: Vec::new(), ..self.clone() };
        let before = std::mem::replace(self, fresh);
        for (place, &piece) in before.pieces.iter().enumerate() {
            let sums = before.sums_of(place);
            match self.pieces.last_mut() {
                Some(last) if !last.is_wanted && !piece.is_wanted => {
                    last.greatest = piece.greatest;
                    let start = self.sums.len() - n_folds;
                    self.sums[start..].iter_mut().zip(sums).for_each(|(sum, &more)| *sum += more);
                }
                _ => {
                    let sums = sums.iter().copied();
                    self.push([piece.least, piece.greatest], sums, piece.is_wanted);
                }
            }
        }
    }

    /// The keys that the next pass counts, in at most about `most` cells; `None` if all cuts are
    /// known.
    pub(super) fn wants(&self, most: usize) -> Option<KeyLayout> {
        let open = || {
            let pieces = self.pieces.iter().enumerate().filter(|(_, piece)| piece.is_open());
            pieces.map(|(place, &piece)| (piece, FoldView::All.of(self.sums_of(place)).rows))
        };
        let n_rows: u64 = open().map(|(_, rows)| rows).sum();
        if n_rows == 0 {
            return None;
        }
        if n_rows <= most as u64 {
            return Some(KeyLayout::Prefixes(Some(
                open().map(|(piece, _)| [piece.least, piece.greatest]).collect(),
            )));
        }
        // In proportion to rows, so that cells have about equal numbers. Each piece has at least
        // two cells, with the least key in the first and the greatest in the last: so this
        // terminates.
        let interval = |(KeyRange { least, greatest, .. }, rows): (KeyRange, u64)| {
            let n_cells = (u128::from(rows) * most as u128 / u128::from(n_rows)).max(2);
            let n_bits = u64::BITS - (greatest - least).leading_zeros();
            let shift = n_bits - n_cells.ilog2().min(n_bits);
            Interval { least, greatest, shift }
        };
        Some(KeyLayout::Parts(open().map(interval).collect()))
    }

    /// Cuts, and the rows of the bins.
    pub(super) fn binned(&self, view: FoldView) -> BinnedFeature {
        let mut curve = Curve::default();
        for (place, piece) in self.pieces.iter().enumerate() {
            curve.push(piece.least, view.of(self.sums_of(place)));
        }
        let BestCuts { direction, cuts, mut sums } = curve.cut(self.only);
        sums.extend(self.apart.chunks(self.n_folds).map(|folds| view.of(folds)));
        let bins = Bins::Numeric { cuts, special: self.special.clone() };
        BinnedFeature { bins, sums, direction: Some(direction) }
    }

    /// The rows of a fold by bin, for bins learned without it.
    pub(super) fn of_fold(&self, fold: usize, bins: &Bins) -> Vec<ClassMasses> {
        let mut masses = vec![ClassMasses::default(); bins.n_bins() + 1];
        let Bins::Numeric { cuts, special } = bins else { unreachable!("bins of a number") };
        for (place, piece) in self.pieces.iter().enumerate() {
            // All of its keys are on the same side of each cut.
            let value = f64::from_key(piece.greatest);
            let bin = cuts.partition_point(|&cut| cut <= value);
            masses[bin] += self.sums_of(place)[fold].into();
        }
        let apart = self.apart.chunks(self.n_folds);
        debug_assert_eq!(apart.len(), special.len() + 1);
        for (mass, folds) in masses[cuts.len() + 1..].iter_mut().zip(apart) {
            *mass += folds[fold].into();
        }
        masses
    }
}
