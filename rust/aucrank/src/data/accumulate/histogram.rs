//! Class sums per bin of every feature, for one cell.

use std::ops::Range;
use std::sync::Arc;

use super::{ClassSums, Tally};
use crate::RankError;
use crate::data::binning::binned::{Binned, CodeSlot};

/// Bytes of histogram filled at a time, which stay in the first-level cache together with the rows.
const GROUP_BYTES: usize = 32 << 10;

/// A wide feature is stored as a list of its occupied bins if a dense array would hold at least
/// this many bins per row.
const SPARSE_FACTOR: usize = 2;

/// Offsets of the features in a histogram, for all features of a source or some of them.
#[derive(Debug)]
pub(in crate::data) struct HistogramLayout {
    /// Indices of the features, ascending.
    features: Vec<usize>,
    slots: Vec<CodeSlot>,
    /// First bin of each narrow feature, and the end of the last.
    offsets: Vec<usize>,
    /// Column of each narrow feature in the byte matrix.
    narrow_columns: Vec<usize>,
    /// Index of each wide feature among those of the source.
    wide_columns: Vec<usize>,
    /// Number of codes of each wide feature.
    wide_codes: Vec<usize>,
}

impl HistogramLayout {
    pub(in crate::data) fn of(binned: &Binned, features: Vec<usize>) -> Arc<Self> {
        let mut layout = Self {
            slots: Vec::with_capacity(features.len()),
            offsets: vec![0],
            narrow_columns: Vec::new(),
            wide_columns: Vec::new(),
            wide_codes: Vec::new(),
            features,
        };
        for &feature in &layout.features {
            let n_codes = binned.features()[feature].n_codes();
            let slot = match binned.slot(feature) {
                CodeSlot::Narrow(column) => {
                    let j = layout.narrow_columns.len();
                    layout.offsets.push(layout.offsets[j] + n_codes);
                    layout.narrow_columns.push(column);
                    CodeSlot::Narrow(j)
                }
                CodeSlot::Wide(column) => {
                    layout.wide_columns.push(column);
                    layout.wide_codes.push(n_codes);
                    CodeSlot::Wide(layout.wide_columns.len() - 1)
                }
            };
            layout.slots.push(slot);
        }
        Arc::new(layout)
    }

    pub(in crate::data) fn features(&self) -> &[usize] {
        &self.features
    }

    pub(in crate::data) fn narrow_columns(&self) -> &[usize] {
        &self.narrow_columns
    }

    pub(in crate::data) fn wide_columns(&self) -> &[usize] {
        &self.wide_columns
    }

    /// Number of codes of a wide feature, by its index in the histogram.
    pub(in crate::data) fn n_wide_codes(&self, wide: usize) -> usize {
        self.wide_codes[wide]
    }

    /// Number of bins of all narrow features.
    pub(in crate::data) fn n_narrow_bins(&self) -> usize {
        *self.offsets.last().expect("begins with 0")
    }

    pub(in crate::data) fn offsets(&self) -> &[usize] {
        &self.offsets
    }

    /// Groups of consecutive narrow features whose bins fit in the cache together.
    pub(in crate::data) fn groups<T>(&self) -> Vec<Range<usize>> {
        let limit = GROUP_BYTES / size_of::<T>();
        let n_features = self.offsets.len() - 1;
        let (mut groups, mut start) = (Vec::new(), 0);
        for j in 0..n_features {
            let last = j + 1 == n_features;
            if last || self.offsets[j + 2] - self.offsets[start] > limit {
                groups.push(start..j + 1);
                start = j + 1;
            }
        }
        groups
    }

    fn is_sparse(&self, wide: usize, n_rows: usize) -> bool {
        self.wide_codes[wide] > SPARSE_FACTOR * n_rows
    }

    /// An empty wide feature, dense or sparse depending on the number of rows.
    pub(in crate::data) fn wide_bins<T: Tally>(&self, wide: usize, n_rows: usize) -> WideBins<T> {
        if self.is_sparse(wide, n_rows) {
            WideBins::Sparse(Vec::new())
        } else {
            WideBins::Dense(vec![T::default(); self.wide_codes[wide]])
        }
    }
}

/// Bins of a feature that has more than 255.
#[derive(Debug, Clone)]
pub(in crate::data) enum WideBins<T> {
    /// One entry per code.
    Dense(Vec<T>),
    /// Occupied codes, ascending.
    Sparse(Vec<(u32, T)>),
}

/// Class sums per bin of every feature, for one cell.
///
/// # Examples
///
/// ```
/// use aucrank::Interrupt;
/// use aucrank::data::{
///     Binned, BinningParams, Columns, CountedRows, HistogramRequest, Labels, MemorySource,
///     SumSource,
/// };
///
/// let columns = Columns::from_row_major(&[1.0, 1.0, 2.0, 2.0], 1)?;
/// let positive = [false, true, true, true];
/// let labels = Labels::new(&positive, None)?;
/// let interrupt = Interrupt::default();
/// let binned = Binned::new(&columns, &labels, BinningParams::default(), &interrupt)?;
/// let histogram_of = |rows| {
///     let source = MemorySource::new(&binned, CountedRows(&positive), rows, &interrupt);
///     source.histograms(&[HistogramRequest::all(0)]).map(|mut found| found.remove(0))
/// };
/// // All rows without the last: those of the value 1, and one positive row of the value 2.
/// let rest = histogram_of(vec![0, 1, 2, 3])?.without(&histogram_of(vec![3])?);
/// let (feature, bins) = rest.features().next().expect("there is a feature");
/// assert_eq!(feature, 0);
/// let counts: Vec<_> = bins.occupied().map(|(code, sums)| (code, sums.pos, sums.neg)).collect();
/// assert_eq!(counts, [(0, 1, 1), (1, 1, 0)]);
/// # Ok::<(), aucrank::RankError>(())
/// ```
#[derive(Debug, Clone)]
pub struct Histogram<T> {
    pub(in crate::data) layout: Arc<HistogramLayout>,
    pub(in crate::data) n_rows: usize,
    pub(in crate::data) narrow: Vec<T>,
    pub(in crate::data) wide: Vec<WideBins<T>>,
    /// Sum of the values of each feature, in its [`ValueScale`](crate::data::ValueScale) times
    /// weight; empty if the source does not sum values.
    values: Vec<i128>,
}

impl<T: Tally> Histogram<T> {
    pub(in crate::data) fn new(
        layout: Arc<HistogramLayout>,
        n_rows: usize,
        narrow: Vec<T>,
        wide: Vec<WideBins<T>>,
        values: Vec<i128>,
    ) -> Self {
        Self { layout, n_rows, narrow, wide, values }
    }

    /// The features of the histogram, in order, and their bins.
    pub fn features(&self) -> impl Iterator<Item = (usize, FeatureSums<'_, T>)> {
        (0..).zip(&self.layout.features).map(|(place, &feature)| (feature, self.at(place)))
    }

    /// The bins of the feature at an index within the histogram.
    pub(in crate::data) fn at(&self, place: usize) -> FeatureSums<'_, T> {
        let (dense, sparse): (&[T], &[(u32, T)]) = match self.layout.slots[place] {
            CodeSlot::Narrow(j) => {
                (&self.narrow[self.layout.offsets[j]..self.layout.offsets[j + 1]], &[])
            }
            CodeSlot::Wide(j) => match &self.wide[j] {
                WideBins::Dense(bins) => (bins, &[]),
                WideBins::Sparse(bins) => (&[], bins),
            },
        };
        FeatureSums { dense, sparse, value_sum: self.values.get(place).copied() }
    }

    /// The histogram of the rows of this cell that are not in `part`; exact, since sums are
    /// integers.
    #[must_use]
    pub fn without(&self, part: &Self) -> Self {
        let n_rows = self.n_rows - part.n_rows;
        let mut narrow = self.narrow.clone();
        subtract(&mut narrow, &part.narrow);
        let wide = self.wide.iter().zip(&part.wide).enumerate().map(|(j, (all, part))| {
            // In the form that counting these rows would choose: a small cell must not keep an
            // array of all codes.
            let rest = all.without(part);
            match rest {
                WideBins::Dense(bins) if self.layout.is_sparse(j, n_rows) => {
                    WideBins::Sparse(occupied(&bins).collect())
                }
                rest => rest,
            }
        });
        let values = self.values.iter().zip(&part.values).map(|(all, part)| all - part).collect();
        Self { layout: Arc::clone(&self.layout), n_rows, wide: wide.collect(), narrow, values }
    }

    /// Histogram of no rows.
    pub(in crate::data) fn empty(layout: Arc<HistogramLayout>) -> Self {
        let narrow = vec![T::default(); layout.n_narrow_bins()];
        let wide = layout.wide_columns.iter().map(|_| WideBins::Sparse(Vec::new())).collect();
        Self { layout, n_rows: 0, narrow, wide, values: Vec::new() }
    }

    /// Adds the rows of the cell elsewhere, counted in the same layout.
    pub(crate) fn merge(&mut self, more: Self) {
        self.n_rows += more.n_rows;
        for (bin, more) in self.narrow.iter_mut().zip(more.narrow) {
            *bin += more;
        }
        for (wide, (bins, more)) in self.wide.iter_mut().zip(more.wide).enumerate() {
            bins.merge(more, self.layout.wide_codes[wide]);
        }
    }

    /// Converts wide features to the form that suits the number of rows, once all are merged.
    pub(crate) fn settle(&mut self) {
        for (wide, bins) in self.wide.iter_mut().enumerate() {
            match bins {
                WideBins::Dense(dense) if self.layout.is_sparse(wide, self.n_rows) => {
                    *bins = WideBins::Sparse(occupied(dense).collect());
                }
                WideBins::Sparse(_) if !self.layout.is_sparse(wide, self.n_rows) => {
                    bins.make_dense(self.layout.wide_codes[wide]);
                }
                _ => {}
            }
        }
    }

    /// Appends the histogram as words.
    pub(crate) fn put_words(&self, words: &mut Vec<u64>) {
        words.push(self.n_rows as u64);
        self.narrow.iter().for_each(|tally| tally.put(words));
        for bins in &self.wide {
            match bins {
                WideBins::Dense(bins) => {
                    words.push(u64::MAX);
                    for tally in bins {
                        tally.put(words);
                    }
                }
                WideBins::Sparse(bins) => {
                    words.push(bins.len() as u64);
                    for &(code, tally) in bins {
                        words.push(code.into());
                        tally.put(words);
                    }
                }
            }
        }
    }

    /// Replaces the bins by those written by [`Histogram::put_words`] in the same layout; `take`
    /// returns the next words.
    pub(crate) fn take_words<'w>(
        &mut self,
        mut take: impl FnMut(usize) -> Result<&'w [u64], RankError>,
    ) -> Result<(), RankError> {
        let bins_of =
            |words: &[u64]| -> Vec<T> { words.chunks_exact(T::WORDS).map(T::of).collect() };
        self.n_rows = take(1)?[0] as usize;
        self.narrow = bins_of(take(T::WORDS * self.narrow.len())?);
        for (bins, &n_codes) in self.wide.iter_mut().zip(&self.layout.wide_codes) {
            *bins = match take(1)?[0] {
                u64::MAX => WideBins::Dense(bins_of(take(T::WORDS * n_codes)?)),
                n if n <= n_codes as u64 => {
                    let words = take((T::WORDS + 1) * n as usize)?.chunks_exact(T::WORDS + 1);
                    let bins: Vec<(u32, T)> =
                        words.map(|words| (words[0] as u32, T::of(&words[1..]))).collect();
                    if !bins.is_sorted_by(|a, b| a.0 < b.0)
                        || bins.last().is_some_and(|bin| bin.0 as usize >= n_codes)
                    {
                        return Err(RankError::BadAnswer("codes do not rise".to_owned()));
                    }
                    WideBins::Sparse(bins)
                }
                _ => return Err(RankError::BadAnswer("a list is too long".to_owned())),
            };
        }
        Ok(())
    }

    /// Memory of the bins in bytes.
    #[must_use]
    pub fn n_bytes(&self) -> usize {
        let wide = self.wide.iter().map(|bins| match bins {
            WideBins::Dense(bins) => size_of_val(&bins[..]),
            WideBins::Sparse(bins) => size_of_val(&bins[..]),
        });
        size_of_val(&self.narrow[..]) + size_of_val(&self.values[..]) + wide.sum::<usize>()
    }
}

impl<T: Tally> WideBins<T> {
    fn make_dense(&mut self, n_codes: usize) {
        if let Self::Sparse(bins) = self {
            let mut dense = vec![T::default(); n_codes];
            for &(code, tally) in &*bins {
                dense[code as usize] += tally;
            }
            *self = Self::Dense(dense);
        }
    }

    /// Converts a list that has grown long to an array.
    pub(in crate::data) fn bound(&mut self, n_codes: usize) {
        if let Self::Sparse(bins) = self
            && bins.len() > n_codes / SPARSE_FACTOR
        {
            self.make_dense(n_codes);
        }
    }

    fn merge(&mut self, more: Self, n_codes: usize) {
        match (&mut *self, more) {
            (Self::Sparse(bins), Self::Sparse(more)) => {
                if bins.is_empty() {
                    *bins = more;
                } else {
                    bins.extend(more);
                    add_up_codes(bins);
                    self.bound(n_codes);
                }
            }
            (_, more) => {
                self.make_dense(n_codes);
                let Self::Dense(bins) = self else { unreachable!("made dense above") };
                match more {
                    Self::Dense(more) => bins.iter_mut().zip(more).for_each(|(bin, m)| *bin += m),
                    Self::Sparse(more) => {
                        for (code, tally) in more {
                            bins[code as usize] += tally;
                        }
                    }
                }
            }
        }
    }

    fn without(&self, part: &Self) -> Self {
        match (self, part) {
            (Self::Dense(all), Self::Dense(part)) => {
                let mut rest = all.clone();
                subtract(&mut rest, part);
                Self::Dense(rest)
            }
            (Self::Dense(all), Self::Sparse(part)) => {
                let mut rest = all.clone();
                for &(code, tally) in part {
                    rest[code as usize] -= tally;
                }
                Self::Dense(rest)
            }
            (Self::Sparse(all), part) => {
                // `part` has no more rows than the cell, so it is sparse too.
                let Self::Sparse(part) = part else { unreachable!("a part has no more rows") };
                let mut part = part.iter().peekable();
                let rest = all.iter().filter_map(|&(code, mut tally)| {
                    if let Some((_, taken)) = part.next_if(|(c, _)| *c == code) {
                        tally -= *taken;
                    }
                    (tally != T::default()).then_some((code, tally))
                });
                Self::Sparse(rest.collect())
            }
        }
    }
}

/// Sorts bins by their codes, and adds up those of one code.
pub(in crate::data) fn add_up_codes<T: Tally>(bins: &mut Vec<(u32, T)>) {
    // Two ascending lists, or rows in no order.
    bins.sort_by_key(|(code, _)| *code);
    bins.dedup_by(|more, first| {
        let same = more.0 == first.0;
        if same {
            first.1 += more.1;
        }
        same
    });
}

fn subtract<T: Tally>(from: &mut [T], part: &[T]) {
    for (all, &taken) in from.iter_mut().zip(part) {
        *all -= taken;
    }
}

fn occupied<T: Tally>(bins: &[T]) -> impl Iterator<Item = (u32, T)> + Clone {
    (0..).zip(bins.iter().copied()).filter(|(_, tally)| *tally != T::default())
}

/// The bins of one feature in one cell.
///
/// # Examples
///
/// ```
/// use aucrank::Interrupt;
/// use aucrank::data::{
///     Binned, ClassSums, Columns, CountedRows, FeatureBins, HistogramRequest, MemorySource,
///     SumSource,
/// };
///
/// let columns = Columns::from_row_major(&[1.0, 5.0, f64::NAN], 1)?;
/// let bins = vec![FeatureBins::Numeric { cuts: vec![2.0, 4.0] }];
/// let interrupt = Interrupt::default();
/// let binned = Binned::with_features(&columns, bins, &interrupt)?;
/// let rows = CountedRows(&[false, true, true]);
/// let source = MemorySource::new(&binned, rows, vec![0, 1, 2], &interrupt);
/// let histograms = source.histograms(&[HistogramRequest::all(0)])?;
/// let (_, bins) = histograms[0].features().next().expect("there is a feature");
/// // No row lies in bin 1, from 2 to 4; missing values have the last code.
/// let (pos, neg) = (ClassSums { pos: 1, neg: 0, rows: 1 }, ClassSums { pos: 0, neg: 1, rows: 1 });
/// assert_eq!(bins.occupied().collect::<Vec<_>>(), [(0, neg), (2, pos), (3, pos)]);
/// # Ok::<(), aucrank::RankError>(())
/// ```
#[derive(Debug, Clone, Copy)]
pub struct FeatureSums<'a, T> {
    // One of the two is empty: two slices are cheaper than a branch per bin.
    dense: &'a [T],
    sparse: &'a [(u32, T)],
    value_sum: Option<i128>,
}

impl<'a, T: Tally> FeatureSums<'a, T> {
    /// The codes that occur in the cell, ascending, with their sums.
    pub fn occupied(self) -> impl Iterator<Item = (u32, ClassSums)> + Clone + use<'a, T> {
        let dense = occupied(self.dense);
        dense.chain(self.sparse.iter().copied()).map(|(code, tally)| (code, tally.sums()))
    }

    /// Sum of the known values in the cell, in the unit of [`ValueScale`](crate::data::ValueScale)
    /// times the unit of weight; `None` if the source does not sum values.
    #[must_use]
    pub fn value_sum(self) -> Option<i128> {
        self.value_sum
    }
}
