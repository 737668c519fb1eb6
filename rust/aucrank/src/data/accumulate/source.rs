//! The source of class sums, the only thing a learner reads of its data, and its in-memory form.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::parallel::prelude::*;

use super::{RowTally, Tally};
use crate::data::accumulate::cells::Cells;
use crate::data::accumulate::histogram::{Histogram, HistogramLayout, WideBins, add_up_codes};
use crate::data::binning::binned::{Binned, CodeSlot, WideCodes};
use crate::data::binning::feature_bins::FeatureBins;
use crate::data::input::columns::{Column, Columns, Numbers, Value};
use crate::data::input::level_set::LevelSet;
use crate::data::input::values::ValueScale;
use crate::{Interrupt, RankError, parallel};

/// Rows per task.
const CHUNK_ROWS: usize = 1 << 16;

/// Rows whose values are summed feature by feature: in either layout they stay in the cache.
const VALUE_TILE_ROWS: usize = 1024;

/// Identifier of a set of rows. All rows are cell 0; the learner chooses the others.
pub type CellId = usize;

/// Which codes of a feature go left.
///
/// # Examples
///
/// ```
/// use aucrank::data::{CodeRule, CodeTest, LevelSet};
///
/// let goes_left = |rule, code| {
///     CodeTest { feature: 0, rule, missing_left: false }.goes_left(code, 9)
/// };
/// assert!(goes_left(CodeRule::Below(3), 2) && !goes_left(CodeRule::Below(3), 3));
/// assert!(goes_left(CodeRule::AtLeast(3), 3) && !goes_left(CodeRule::AtLeast(3), 2));
/// let odd = CodeRule::Levels(LevelSet::only([1, 3, 5, 7]));
/// assert!(goes_left(odd.clone(), 3) && !goes_left(odd, 4));
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum CodeRule {
    /// Codes below this one: values below the cut that precedes it.
    Below(u32),
    /// Codes from this one on.
    AtLeast(u32),
    /// Some categories.
    Levels(LevelSet),
}

/// A test on one feature that sends each row left or right.
///
/// # Examples
///
/// ```
/// use aucrank::data::{CodeRule, CodeTest};
///
/// let test = CodeTest { feature: 0, rule: CodeRule::Below(2), missing_left: true };
/// // Of a feature of four bins; the code after the last is that of missing values.
/// let left: Vec<u32> = (0..5).filter(|&code| test.goes_left(code, 4)).collect();
/// assert_eq!(left, [0, 1, 4]);
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CodeTest {
    /// The feature tested.
    pub feature: usize,
    /// Which of its codes go left.
    pub rule: CodeRule,
    /// Whether rows with a missing value go left.
    pub missing_left: bool,
}

impl CodeTest {
    /// Whether a code goes left, `missing` being the code of a missing value.
    #[inline]
    #[must_use]
    pub fn goes_left(&self, code: u32, missing: u32) -> bool {
        if code == missing {
            return self.missing_left;
        }
        match &self.rule {
            CodeRule::Below(bound) => code < *bound,
            CodeRule::AtLeast(bound) => code >= *bound,
            CodeRule::Levels(left) => left.contains(code),
        }
    }
}

/// A histogram that a learner requests.
///
/// # Examples
///
/// ```
/// use aucrank::Interrupt;
/// use aucrank::data::{
///     Binned, Columns, CountedRows, FeatureBins, HistogramRequest, MemorySource, SumSource,
/// };
///
/// let columns = Columns::from_row_major(&[1.0, 5.0, 2.0, 4.0], 2)?;
/// let bins = vec![FeatureBins::Numeric { cuts: vec![1.5] }; 2];
/// let interrupt = Interrupt::default();
/// let binned = Binned::with_features(&columns, bins, &interrupt)?;
/// let source = MemorySource::new(&binned, CountedRows(&[false, true]), vec![0, 1], &interrupt);
/// let second = HistogramRequest { cell: 0, features: Some(vec![1]) };
/// let found = source.histograms(&[HistogramRequest::all(0), second])?;
/// assert_eq!((found[0].features().count(), found[1].features().count()), (2, 1));
/// # Ok::<(), aucrank::RankError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HistogramRequest {
    /// The cell.
    pub cell: CellId,
    /// The features, ascending; `None` for all.
    pub features: Option<Vec<usize>>,
}

impl HistogramRequest {
    /// All features of a cell.
    #[must_use]
    pub fn all(cell: CellId) -> Self {
        Self { cell, features: None }
    }
}

/// A cell to be split in two.
///
/// # Examples
///
/// ```
/// use aucrank::Interrupt;
/// use aucrank::data::{
///     Binned, CellSplit, CodeRule, CodeTest, Columns, CountedRows, FeatureBins, MemorySource,
///     SumSource,
/// };
///
/// let columns = Columns::from_row_major(&[1.0, 3.0, 2.0], 1)?;
/// let bins = vec![FeatureBins::Numeric { cuts: vec![2.5] }];
/// let interrupt = Interrupt::default();
/// let binned = Binned::with_features(&columns, bins, &interrupt)?;
/// let rows = CountedRows(&[false, true, true]);
/// let mut source = MemorySource::new(&binned, rows, vec![0, 1, 2], &interrupt);
/// let test = CodeTest { feature: 0, rule: CodeRule::Below(1), missing_left: false };
/// source.split(&[CellSplit { cell: 0, test, left: 1, right: 2 }])?;
/// assert_eq!((source.rows(1), source.rows(2)), (&[0, 2][..], &[1][..]));
/// # Ok::<(), aucrank::RankError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CellSplit {
    /// The cell; its identifier is free afterwards.
    pub cell: CellId,
    /// Which rows go left.
    pub test: CodeTest,
    /// Identifier of the left part.
    pub left: CellId,
    /// Identifier of the right part.
    pub right: CellId,
}

/// Cells that came from one cell, to be merged into two.
///
/// # Examples
///
/// ```
/// use aucrank::Interrupt;
/// use aucrank::data::{
///     Binned, Columns, CountedRows, FeatureBins, MemorySource, Regroup, SumSource,
/// };
///
/// let columns = Columns::from_row_major(&[1.0, 2.0, 3.0], 1)?;
/// let bins = vec![FeatureBins::Numeric { cuts: Vec::new() }];
/// let interrupt = Interrupt::default();
/// let binned = Binned::with_features(&columns, bins, &interrupt)?;
/// let rows = CountedRows(&[false, true, true]);
/// let mut source = MemorySource::new(&binned, rows, vec![0, 1, 2], &interrupt);
/// // Cells 1, 3 and 4 of one row each, of which the first and the last are merged.
/// source.split_by_mask(0, &[true, false, false], 1, 2);
/// source.split_by_mask(2, &[true, false], 3, 4);
/// source.regroup(&[Regroup { left_cells: vec![1, 4], right_cells: vec![3], left: 5, right: 6 }])?;
/// let mut left = source.rows(5).to_vec();
/// left.sort_unstable();
/// assert_eq!((left, source.rows(6)), (vec![0, 2], &[1][..]));
/// # Ok::<(), aucrank::RankError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Regroup {
    /// Cells merged into the left part; at least one.
    pub left_cells: Vec<CellId>,
    /// Cells merged into the right part; at least one.
    pub right_cells: Vec<CellId>,
    /// Identifier of the left part.
    pub left: CellId,
    /// Identifier of the right part.
    pub right: CellId,
}

/// The data as a learner reads them: class sums of cells, which it splits and regroups.
///
/// *Accumulate, merge, decide*: a source accumulates and merges; its results are integers, so a
/// learner that decides on them learns the same model from memory, from a file read in chunks and
/// from a cluster.
///
/// # Examples
///
/// ```
/// use aucrank::data::{CellId, ClassSums, HistogramRequest, SumSource};
/// # use aucrank::data::{Binned, Columns, CountedRows, FeatureBins, MemorySource};
/// use aucrank::RankError;
///
/// /// The rows of a cell, whatever holds them.
/// fn sums_of(source: &impl SumSource, cell: CellId) -> Result<ClassSums, RankError> {
///     let histograms = source.histograms(&[HistogramRequest::all(cell)])?;
///     let (_, bins) = histograms[0].features().next().expect("there is a feature");
///     Ok(bins.occupied().map(|(_, sums)| sums).sum())
/// }
///
/// # let columns = Columns::from_row_major(&[1.0, 2.0, 3.0], 1)?;
/// # let bins = vec![FeatureBins::Numeric { cuts: vec![1.5] }];
/// # let interrupt = aucrank::Interrupt::default();
/// # let binned = Binned::with_features(&columns, bins, &interrupt)?;
/// let rows = CountedRows(&[false, true, true]);
/// let source = MemorySource::new(&binned, rows, vec![0, 1, 2], &interrupt);
/// assert_eq!(sums_of(&source, 0)?, ClassSums { pos: 2, neg: 1, rows: 3 });
/// # Ok::<(), RankError>(())
/// ```
pub trait SumSource {
    /// Content of a bin.
    type Tally: Tally;

    /// Bins of each feature; they define its codes.
    fn features(&self) -> &[FeatureBins];

    /// Class sums per bin, for each requested cell and feature.
    ///
    /// # Errors
    ///
    /// [`RankError::Interrupted`], or an error of reading the data.
    fn histograms(
        &self,
        requests: &[HistogramRequest],
    ) -> Result<Vec<Histogram<Self::Tally>>, RankError>;

    /// Splits cells in two.
    ///
    /// # Errors
    ///
    /// As [`SumSource::histograms`].
    fn split(&mut self, splits: &[CellSplit]) -> Result<(), RankError>;

    /// Merges cells.
    ///
    /// # Errors
    ///
    /// As [`SumSource::histograms`].
    fn regroup(&mut self, regroups: &[Regroup]) -> Result<(), RankError>;
}

/// Row numbers of a part, grouped by cell.
#[derive(Debug)]
pub(crate) struct CellRows {
    /// Row numbers; each cell is a stretch of them.
    order: Vec<u16>,
    cells: Cells,
}

impl CellRows {
    /// Most rows of a part.
    pub(crate) const MOST: usize = 1 << 16;

    /// All rows in cell 0.
    pub(crate) fn new(rows: impl Iterator<Item = u32>) -> Self {
        let order: Vec<u16> = rows.map(|row| row as u16).collect();
        Self { cells: Cells::one(order.len()), order }
    }
}

/// Histograms of no rows, to which parts of the rows of some cells can be added.
pub(crate) fn empty_histograms<T: Tally>(
    binned: &Binned,
    requests: &[HistogramRequest],
) -> Vec<Histogram<T>> {
    let all = HistogramLayout::of(binned, (0..binned.features().len()).collect());
    let layout = |request: &HistogramRequest| match &request.features {
        None => Arc::clone(&all),
        Some(features) => HistogramLayout::of(binned, features.clone()),
    };
    requests.iter().map(|request| Histogram::empty(layout(request))).collect()
}

/// Rows in memory, grouped by cell.
///
/// # Examples
///
/// ```
/// use aucrank::Interrupt;
/// use aucrank::data::{Binned, BinningParams, Columns, Labels, MemorySource, WeightedRows};
///
/// let columns = Columns::from_row_major(&[1.0, 2.0, 3.0], 1)?;
/// let labels = Labels::new(&[false, true, true], Some(&[1.0, 0.0, 2.0]))?;
/// let interrupt = Interrupt::default();
/// let binned = Binned::new(&columns, &labels, BinningParams::default(), &interrupt)?;
/// let rows = labels.rows();
/// let mut source = MemorySource::new(&binned, WeightedRows(&labels), rows, &interrupt);
/// assert_eq!(source.rows(0), [0, 2]);
/// source.split_by_mask(0, &[false, true], 1, 2);
/// assert_eq!((source.rows(1), source.rows(2)), (&[2][..], &[0][..]));
/// # Ok::<(), aucrank::RankError>(())
/// ```
#[derive(Debug)]
pub struct MemorySource<'a, R> {
    binned: &'a Binned,
    row_tally: R,
    interrupt: &'a Interrupt,
    values: Option<(&'a Columns<'a>, &'a [ValueScale])>,
    layout: Arc<HistogramLayout>,
    groups: Vec<Range<usize>>,
    /// Row numbers; each cell is a range of them.
    order: Cow<'a, [u32]>,
    /// As long as `order` once a cell has been split.
    scratch: Vec<u32>,
    cells: Cells,
}

impl<'a, R: RowTally> MemorySource<'a, R> {
    /// A source of the given `rows` of a binned matrix, all in cell 0.
    #[must_use]
    pub fn new(binned: &'a Binned, row_tally: R, rows: Vec<u32>, interrupt: &'a Interrupt) -> Self {
        Self::with_scratch(binned, row_tally, rows, Vec::new(), interrupt)
    }

    /// As [`MemorySource::new`], with borrowed rows, which are copied when a cell is first split.
    pub(crate) fn borrowing(
        binned: &'a Binned,
        row_tally: R,
        rows: &'a [u32],
        interrupt: &'a Interrupt,
    ) -> Self {
        Self::of(binned, row_tally, Cow::Borrowed(rows), Vec::new(), interrupt)
    }

    /// As [`MemorySource::new`], reusing the buffers that [`MemorySource::into_buffers`] returns.
    pub(crate) fn with_scratch(
        binned: &'a Binned,
        row_tally: R,
        rows: Vec<u32>,
        scratch: Vec<u32>,
        interrupt: &'a Interrupt,
    ) -> Self {
        Self::of(binned, row_tally, Cow::Owned(rows), scratch, interrupt)
    }

    fn of(
        binned: &'a Binned,
        row_tally: R,
        rows: Cow<'a, [u32]>,
        scratch: Vec<u32>,
        interrupt: &'a Interrupt,
    ) -> Self {
        let layout = HistogramLayout::of(binned, (0..binned.features().len()).collect());
        Self {
            binned,
            row_tally,
            interrupt,
            values: None,
            groups: layout.groups::<R::Tally>(),
            layout,
            scratch,
            cells: Cells::one(rows.len()),
            order: rows,
        }
    }

    /// As [`MemorySource::new`], with cells that [`MemorySource::into_cells`] has returned, and
    /// with its buffers.
    pub(crate) fn of_cells(
        binned: &'a Binned,
        row_tally: R,
        CellRows { order, cells }: CellRows,
        [mut rows, scratch]: [Vec<u32>; 2],
        interrupt: &'a Interrupt,
    ) -> Self {
        rows.clear();
        rows.extend(order.into_iter().map(u32::from));
        Self { cells, ..Self::of(binned, row_tally, Cow::Owned(rows), scratch, interrupt) }
    }

    /// The cells, and buffers for reuse.
    pub(crate) fn into_cells(self) -> (CellRows, [Vec<u32>; 2]) {
        let order = self.order.iter().map(|&row| row as u16).collect();
        (CellRows { order, cells: self.cells.clone() }, self.into_buffers())
    }

    /// Adds the rows of a cell to its histogram.
    pub(crate) fn add_to(
        &self,
        histogram: &mut Histogram<R::Tally>,
        request: &HistogramRequest,
    ) -> Result<(), RankError> {
        self.interrupt.check()?;
        let rows = self.rows(request.cell);
        histogram.n_rows += rows.len();
        let layout = Arc::clone(&histogram.layout);
        match &request.features {
            None => self.add_narrow(rows, &mut histogram.narrow),
            Some(_) => self.add_narrow_of(&layout, rows, &mut histogram.narrow),
        }
        for (j, (&column, bins)) in
            layout.wide_columns().iter().zip(&mut histogram.wide).enumerate()
        {
            match &self.binned.wide()[column] {
                WideCodes::U16(codes) => self.add_wide(rows, |row| codes[row].into(), bins),
                WideCodes::U32(codes) => self.add_wide(rows, |row| codes[row], bins),
            }
            bins.bound(layout.n_wide_codes(j));
        }
        Ok(())
    }

    /// The two buffers of row numbers, for reuse.
    pub(crate) fn into_buffers(self) -> [Vec<u32>; 2] {
        [self.order.into_owned(), self.scratch]
    }

    /// The same source, whose histograms also hold the sum of the known values of each numeric
    /// feature, in the units of `scales`; `columns` are the raw values.
    #[must_use]
    pub fn with_values(self, columns: &'a Columns<'a>, scales: &'a [ValueScale]) -> Self {
        Self { values: Some((columns, scales)), ..self }
    }

    /// Rows of a cell.
    #[must_use]
    pub fn rows(&self, cell: CellId) -> &[u32] {
        &self.order[self.cells.get(cell)]
    }

    /// Splits a cell by a mask over its rows, in the order of [`MemorySource::rows`]; both parts
    /// keep that order.
    pub fn split_by_mask(&mut self, cell: CellId, goes_left: &[bool], left: CellId, right: CellId) {
        let Range { start, end } = self.cells.get(cell);
        debug_assert_eq!(goes_left.len(), end - start);
        let (mut n_left, mut n_right) = (0, 0);
        self.scratch.resize(self.order.len(), 0);
        let order = self.order.to_mut();
        for (place, &is_left) in (start..end).zip(goes_left) {
            // Each row is written to both sides, and one of the two ends moves on: where half of
            // the rows go left, a branch would be mispredicted for half of them. The right side
            // waits in the scratch memory, since in place it would overwrite rows that are still to
            // be read.
            let row = order[place];
            order[start + n_left] = row;
            self.scratch[n_right] = row;
            n_left += usize::from(is_left);
            n_right += usize::from(!is_left);
        }
        order[start + n_left..end].copy_from_slice(&self.scratch[..n_right]);
        let sides = [(left, start..start + n_left), (right, start + n_left..end)];
        self.cells.replace(vec![cell], sides);
    }

    /// `Err` once the fit was interrupted.
    pub(crate) fn check_interrupt(&self) -> Result<(), RankError> {
        self.interrupt.check()
    }

    fn histogram(&self, request: &HistogramRequest) -> Result<Histogram<R::Tally>, RankError> {
        let rows = self.rows(request.cell);
        let layout = match &request.features {
            None => Arc::clone(&self.layout),
            Some(features) => HistogramLayout::of(self.binned, features.clone()),
        };
        // Each chunk costs a partial histogram, so it has several rows per bin. The number of
        // chunks is a multiple of the number of threads, to balance the load.
        let least = (4 * layout.n_narrow_bins()).max(1);
        let n_chunks = match rows.len().div_ceil(CHUNK_ROWS.max(least)) {
            n @ ..2 => n.max(1),
            n => n.next_multiple_of(crate::parallel::current_num_threads()).min(rows.len() / least),
        };
        let chunk = rows.len().div_ceil(n_chunks);
        let sums = |rows| match &request.features {
            None => self.narrow_sums(rows),
            Some(_) => self.narrow_sums_of(&layout, rows),
        };
        let narrow = if rows.len() <= chunk {
            sums(rows)?
        } else {
            // The number of chunks depends on the threads, the result does not: bins are integers,
            // and merge in any order.
            let parts = rows.par_chunks(chunk).map(sums);
            parts.try_reduce(Vec::new, |mut sum, part| {
                if sum.is_empty() {
                    return Ok(part);
                }
                sum.iter_mut().zip(part).for_each(|(bin, more)| *bin += more);
                Ok(sum)
            })?
        };
        let of_wide = |(j, &column): (usize, &usize)| {
            self.interrupt.check()?;
            let mut bins = layout.wide_bins(j, rows.len());
            match &self.binned.wide()[column] {
                WideCodes::U16(codes) => self.add_wide(rows, |row| codes[row].into(), &mut bins),
                WideCodes::U32(codes) => self.add_wide(rows, |row| codes[row], &mut bins),
            }
            Ok(bins)
        };
        let wide = parallel::try_map(layout.wide_columns().iter().enumerate().collect(), of_wide)?;
        let values = self.value_sums(rows, layout.features())?;
        Ok(Histogram::new(layout, rows.len(), narrow, wide, values))
    }

    /// Sum of the known values of each feature; empty if values are not summed.
    fn value_sums(&self, rows: &[u32], features: &[usize]) -> Result<Vec<i128>, RankError> {
        let Some((columns, scales)) = self.values else { return Ok(Vec::new()) };
        let sums_of = |rows: &[u32]| {
            self.interrupt.check()?;
            let mut sums = vec![0; features.len()];
            for tile in rows.chunks(VALUE_TILE_ROWS) {
                for (sum, &feature) in sums.iter_mut().zip(features) {
                    *sum += match columns[feature] {
                        Column::F64(column) => self.value_sum(tile, column, scales[feature]),
                        Column::F32(column) => self.value_sum(tile, column, scales[feature]),
                        Column::Codes { .. } => 0,
                    };
                }
            }
            Ok(sums)
        };
        if rows.len() <= CHUNK_ROWS {
            return sums_of(rows);
        }
        let none = || vec![0; features.len()];
        rows.par_chunks(CHUNK_ROWS).map(sums_of).try_reduce(none, |mut sums, more| {
            sums.iter_mut().zip(more).for_each(|(sum, more)| *sum += more);
            Ok(sums)
        })
    }

    fn value_sum<V: Value>(&self, rows: &[u32], column: Numbers<'_, V>, scale: ValueScale) -> i128 {
        let units = |&row: &u32| {
            let value = column.get(row as usize);
            if value.is_nan() {
                return 0;
            }
            let sums = self.row_tally.of(row as usize).sums();
            i128::from(scale.units(value)) * i128::from(sums.pos + sums.neg)
        };
        rows.iter().map(units).sum()
    }

    fn narrow_sums(&self, rows: &[u32]) -> Result<Vec<R::Tally>, RankError> {
        self.interrupt.check()?;
        let mut sums = vec![R::Tally::default(); self.layout.n_narrow_bins()];
        self.add_narrow(rows, &mut sums);
        Ok(sums)
    }

    fn add_narrow(&self, rows: &[u32], sums: &mut [R::Tally]) {
        // Row by row, not feature by feature: the codes of a row lie in one or two cache lines, of
        // which the rows of a small cell, scattered over the matrix, would otherwise load one for
        // each feature.
        for group in &self.groups {
            let offsets = &self.layout.offsets()[group.clone()];
            for &row in rows {
                let row = row as usize;
                let tally = self.row_tally.of(row);
                let codes = &self.binned.narrow_row(row)[group.clone()];
                for (&code, &offset) in codes.iter().zip(offsets) {
                    sums[offset + usize::from(code)] += tally;
                }
            }
        }
    }

    /// The same for some of the features.
    fn narrow_sums_of(
        &self,
        layout: &HistogramLayout,
        rows: &[u32],
    ) -> Result<Vec<R::Tally>, RankError> {
        self.interrupt.check()?;
        let mut sums = vec![R::Tally::default(); layout.n_narrow_bins()];
        self.add_narrow_of(layout, rows, &mut sums);
        Ok(sums)
    }

    fn add_narrow_of(&self, layout: &HistogramLayout, rows: &[u32], sums: &mut [R::Tally]) {
        let places: Vec<(usize, usize)> =
            layout.narrow_columns().iter().copied().zip(layout.offsets().iter().copied()).collect();
        for &row in rows {
            let row = row as usize;
            let tally = self.row_tally.of(row);
            let codes = self.binned.narrow_row(row);
            for &(column, offset) in &places {
                sums[offset + usize::from(codes[column])] += tally;
            }
        }
    }

    fn add_wide(&self, rows: &[u32], code: impl Fn(usize) -> u32, bins: &mut WideBins<R::Tally>) {
        let rows = rows.iter().map(|&row| row as usize);
        match bins {
            WideBins::Dense(bins) => {
                for row in rows {
                    bins[code(row) as usize] += self.row_tally.of(row);
                }
            }
            WideBins::Sparse(bins) => {
                bins.extend(rows.map(|row| (code(row), self.row_tally.of(row))));
                add_up_codes(bins);
            }
        }
    }
}

impl<R: RowTally> SumSource for MemorySource<'_, R> {
    type Tally = R::Tally;

    fn features(&self) -> &[FeatureBins] {
        self.binned.features()
    }

    fn histograms(
        &self,
        requests: &[HistogramRequest],
    ) -> Result<Vec<Histogram<R::Tally>>, RankError> {
        parallel::try_map(requests.iter().collect(), |request| self.histogram(request))
    }

    fn split(&mut self, splits: &[CellSplit]) -> Result<(), RankError> {
        self.interrupt.check()?;
        let mut by_start: Vec<&CellSplit> = splits.iter().collect();
        by_start.sort_unstable_by_key(|split| self.cells.get(split.cell).start);
        self.scratch.resize(self.order.len(), 0);
        let (mut order, mut scratch) = (&mut self.order.to_mut()[..], &mut self.scratch[..]);
        let mut taken = 0;
        let mut tasks = Vec::with_capacity(splits.len());
        for split in by_start {
            let range = self.cells.get(split.cell);
            let (own, rest) = order.split_at_mut(range.end - taken);
            let (own_scratch, rest_scratch) = scratch.split_at_mut(range.end - taken);
            let skip = range.start - taken;
            tasks.push((split, range.clone(), &mut own[skip..], &mut own_scratch[skip..]));
            (order, scratch, taken) = (rest, rest_scratch, range.end);
        }
        let binned = self.binned;
        let parts = parallel::map(tasks, |(split, range, rows, scratch)| {
            (split, range.start, partition(binned, &split.test, rows, scratch), range.end)
        });
        let sides = parts.into_iter().flat_map(|(split, start, n_left, end)| {
            [(split.left, start..start + n_left), (split.right, start + n_left..end)]
        });
        self.cells.replace(splits.iter().map(|split| split.cell).collect(), sides);
        Ok(())
    }

    fn regroup(&mut self, regroups: &[Regroup]) -> Result<(), RankError> {
        self.interrupt.check()?;
        self.scratch.resize(self.order.len(), 0);
        let (mut old, mut new) = (Vec::new(), Vec::with_capacity(2 * regroups.len()));
        for regroup in regroups {
            old.extend(regroup.left_cells.iter().chain(&regroup.right_cells));
            if let ([left], [right]) = (&regroup.left_cells[..], &regroup.right_cells[..])
                && self.cells.get(*left).end == self.cells.get(*right).start
            {
                // The two parts of one split, already adjacent and in order.
                new.push((regroup.left, self.cells.get(*left)));
                new.push((regroup.right, self.cells.get(*right)));
                continue;
            }
            let parts = || regroup.left_cells.iter().chain(&regroup.right_cells);
            let ranges: Vec<_> = parts().map(|&cell| self.cells.get(cell)).collect();
            let start = ranges.iter().map(|range| range.start).min().unwrap_or(0);
            let mut end = start;
            for range in ranges {
                self.scratch[end..end + range.len()].copy_from_slice(&self.order[range.clone()]);
                end += range.len();
            }
            let n_left: usize = regroup.left_cells.iter().map(|&c| self.cells.get(c).len()).sum();
            let order = &mut self.order.to_mut()[start..end];
            order.copy_from_slice(&self.scratch[start..end]);
            // Rows are sorted again for locality. They are a few ascending runs, which a stable
            // sort merges.
            let (left, right) = order.split_at_mut(n_left);
            #[expect(clippy::stable_sort_primitive, reason = "it merges runs")]
            crate::parallel::join(|| left.sort(), || right.sort());
            new.push((regroup.left, start..start + n_left));
            new.push((regroup.right, start + n_left..end));
        }
        self.cells.replace(old, new);
        Ok(())
    }
}

/// Moves the rows that go left to the front, keeping the order within both parts; returns their
/// number.
fn partition(binned: &Binned, test: &CodeTest, rows: &mut [u32], scratch: &mut [u32]) -> usize {
    let missing = binned.features()[test.feature].n_bins() as u32;
    match binned.slot(test.feature) {
        CodeSlot::Narrow(j) => {
            let mut left = [false; 256];
            for (code, left) in (0..=missing).zip(&mut left) {
                *left = test.goes_left(code, missing);
            }
            let goes_left = |row: u32| left[usize::from(binned.narrow_row(row as usize)[j])];
            partition_by(goes_left, rows, scratch)
        }
        CodeSlot::Wide(j) => {
            let codes = &binned.wide()[j];
            partition_by(|row| test.goes_left(codes.get(row as usize), missing), rows, scratch)
        }
    }
}

fn partition_by(
    goes_left: impl Fn(u32) -> bool + Sync,
    rows: &mut [u32],
    scratch: &mut [u32],
) -> usize {
    if rows.len() <= CHUNK_ROWS {
        return partition_chunk(&goes_left, rows, scratch);
    }
    let chunks = rows.chunks_mut(CHUNK_ROWS).zip(scratch.chunks_mut(CHUNK_ROWS)).collect();
    let n_left: Vec<usize> =
        parallel::map(chunks, |(rows, scratch)| partition_chunk(&goes_left, rows, scratch));
    // Each chunk is partitioned now; concatenate the left parts of all chunks, then the right ones.
    let total: usize = n_left.iter().sum();
    let (mut lefts, mut rights) = scratch.split_at_mut(total);
    for (rows, &n_left) in rows.chunks(CHUNK_ROWS).zip(&n_left) {
        let (left, right) = rows.split_at(n_left);
        lefts[..n_left].copy_from_slice(left);
        rights[..right.len()].copy_from_slice(right);
        (lefts, rights) = (&mut lefts[n_left..], &mut rights[right.len()..]);
    }
    rows.copy_from_slice(scratch);
    total
}

fn partition_chunk(
    goes_left: &impl Fn(u32) -> bool,
    rows: &mut [u32],
    scratch: &mut [u32],
) -> usize {
    let (mut n_left, mut n_right) = (0, 0);
    for i in 0..rows.len() {
        // Writes to both destinations and advances one: no branch, since the side is unpredictable.
        let row = rows[i];
        let left = goes_left(row);
        rows[n_left] = row;
        scratch[n_right] = row;
        n_left += usize::from(left);
        n_right += usize::from(!left);
    }
    rows[n_left..].copy_from_slice(&scratch[..n_right]);
    n_left
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{
        BinningParams, ClassSums, Column, Columns, CountedRows, Labels, MISSING_CODE, WeightedRows,
    };

    const N_ROWS: usize = 150_000;

    fn number(i: usize) -> u64 {
        (i as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 20
    }

    struct Data {
        values: Vec<f64>,
        codes: Vec<u32>,
        positive: Vec<bool>,
        weights: Vec<f64>,
    }

    fn data() -> Data {
        Data {
            values: (0..N_ROWS)
                .map(|i| if i % 13 == 0 { f64::NAN } else { (number(i) % 5000) as f64 })
                .collect(),
            codes: (0..N_ROWS)
                .map(|i| if i % 17 == 0 { MISSING_CODE } else { (number(i) % 9) as u32 })
                .collect(),
            positive: (0..N_ROWS).map(|i| number(i + 7).is_multiple_of(3)).collect(),
            weights: (0..N_ROWS).map(|i| (number(i + 3) % 4) as f64 / 3.0).collect(),
        }
    }

    /// Checks every bin of the histograms of `cells` against a plain loop over their rows.
    fn check_cells<R: RowTally>(
        source: &MemorySource<'_, R>,
        labels: &Labels<'_>,
        cells: &[CellId],
    ) {
        let wanted: Vec<HistogramRequest> =
            cells.iter().map(|&cell| HistogramRequest::all(cell)).collect();
        let histograms = source.histograms(&wanted).unwrap();
        for (&cell, histogram) in cells.iter().zip(&histograms) {
            for (feature, sums) in histogram.features() {
                let mut expected = vec![ClassSums::default(); source.features()[feature].n_codes()];
                for &row in source.rows(cell) {
                    let code = source.binned.code(row as usize, feature);
                    expected[code as usize] += labels.sums(row as usize);
                }
                let expected: Vec<_> = (0..).zip(expected).filter(|(_, s)| s.rows > 0).collect();
                let found: Vec<_> = sums.occupied().collect();
                assert_eq!(found, expected, "cell {cell}, feature {feature}");
            }
        }
    }

    fn check_source<R: RowTally>(mut source: MemorySource<'_, R>, labels: &Labels<'_>) {
        check_cells(&source, labels, &[0]);
        let all: Vec<u32> = source.rows(0).to_vec();
        let test = CodeTest { feature: 0, rule: CodeRule::AtLeast(90), missing_left: true };
        source.split(&[CellSplit { cell: 0, test, left: 1, right: 2 }]).unwrap();
        let rule = CodeRule::Levels(LevelSet::only([0, 2, 4, 6, 8]));
        let test = CodeTest { feature: 1, rule, missing_left: false };
        let again = CodeTest { feature: 0, rule: CodeRule::Below(20), missing_left: false };
        source
            .split(&[
                CellSplit { cell: 2, test: again, left: 5, right: 6 },
                CellSplit { cell: 1, test, left: 3, right: 4 },
            ])
            .unwrap();
        for &row in source.rows(3) {
            let (code, level) =
                (source.binned.code(row as usize, 0), source.binned.code(row as usize, 1));
            assert!(code >= 90 && level % 2 == 0 && level != 9);
        }
        check_cells(&source, labels, &[3, 4, 5, 6]);
        source
            .regroup(&[Regroup {
                left_cells: vec![3, 6],
                right_cells: vec![5, 4],
                left: 7,
                right: 8,
            }])
            .unwrap();
        check_cells(&source, labels, &[7, 8]);
        let goes_left: Vec<bool> = source.rows(7).iter().map(|row| row % 3 == 0).collect();
        let kept = |left: bool| -> Vec<u32> {
            source.rows(7).iter().copied().filter(|row| (row % 3 == 0) == left).collect()
        };
        let expected = [kept(true), kept(false)];
        source.split_by_mask(7, &goes_left, 9, 10);
        assert_eq!([source.rows(9), source.rows(10)], [&expected[0][..], &expected[1][..]]);
        check_cells(&source, labels, &[8, 9, 10]);
        let mut union = [source.rows(9), source.rows(10), source.rows(8)].concat();
        union.sort_unstable();
        assert_eq!(union, all);
    }

    #[test]
    fn histograms_are_plain_sums_and_splits_keep_every_row() {
        let data = data();
        let interrupt = Interrupt::default();
        let numeric = Column::from(&data.values[..]);
        let columns =
            Columns::new(vec![numeric, Column::Codes { codes: &data.codes, n_levels: 9 }], N_ROWS)
                .unwrap();
        for max_bins in [Some(200), None] {
            let params = BinningParams { max_bins, ..BinningParams::default() };
            let labels = Labels::new(&data.positive, None).unwrap();
            let binned = Binned::new(&columns, &labels, params, &Interrupt::default()).unwrap();
            let counted = CountedRows(&data.positive);
            check_source(MemorySource::new(&binned, counted, labels.rows(), &interrupt), &labels);
            let labels = Labels::new(&data.positive, Some(&data.weights)).unwrap();
            let weighted = WeightedRows(&labels);
            check_source(MemorySource::new(&binned, weighted, labels.rows(), &interrupt), &labels);
        }
    }

    #[test]
    fn values_are_summed_exactly_whatever_the_cell() {
        let data = data();
        let interrupt = Interrupt::default();
        let labels = Labels::new(&data.positive, Some(&data.weights)).unwrap();
        let codes = Column::Codes { codes: &data.codes, n_levels: 9 };
        let columns = Columns::new(vec![Column::from(&data.values[..]), codes], N_ROWS).unwrap();
        let binned = Binned::new(&columns, &labels, BinningParams::default(), &interrupt).unwrap();
        let rows = labels.rows();
        let scales = ValueScale::of(&columns, &rows);
        let mut source = MemorySource::new(&binned, WeightedRows(&labels), rows, &interrupt)
            .with_values(&columns, &scales);
        // The definition: the weighted mean in doubles, accurate to several digits.
        let check =
            |source: &MemorySource<'_, WeightedRows<'_>>, cell, histogram: &Histogram<_>| {
                let (mut sum, mut weight, mut units) = (0.0, 0.0, 0);
                for &row in source.rows(cell) {
                    let (row, value) = (row as usize, data.values[row as usize]);
                    if !value.is_nan() {
                        let sums = labels.sums(row);
                        sum += value * (sums.pos + sums.neg) as f64;
                        weight += (sums.pos + sums.neg) as f64;
                        units += sums.pos + sums.neg;
                    }
                }
                let found = scales[0].mean(histogram.at(0).value_sum().unwrap(), units);
                assert!((found - sum / weight).abs() <= 1e-9 * (sum / weight).abs());
                assert_eq!(histogram.at(1).value_sum(), Some(0));
            };
        let whole = source.histograms(&[HistogramRequest::all(0)]).unwrap().remove(0);
        check(&source, 0, &whole);
        let rule = CodeRule::Levels(LevelSet::only([0, 1]));
        let test = CodeTest { feature: 1, rule, missing_left: true };
        source.split(&[CellSplit { cell: 0, test, left: 1, right: 2 }]).unwrap();
        let left = source.histograms(&[HistogramRequest::all(1)]).unwrap().remove(0);
        check(&source, 1, &left);
        check(&source, 2, &whole.without(&left));
        let right = source.histograms(&[HistogramRequest::all(2)]).unwrap().remove(0);
        assert_eq!(whole.without(&left).at(0).value_sum(), right.at(0).value_sum());
    }

    #[test]
    fn a_sibling_is_the_parent_without_the_part() {
        let data = data();
        let interrupt = Interrupt::default();
        let labels = Labels::new(&data.positive, None).unwrap();
        let numeric = Column::from(&data.values[..]);
        let columns =
            Columns::new(vec![numeric, Column::Codes { codes: &data.codes, n_levels: 9 }], N_ROWS)
                .unwrap();
        for max_bins in [Some(200), None] {
            let params = BinningParams { max_bins, ..BinningParams::default() };
            let binned = Binned::new(&columns, &labels, params, &Interrupt::default()).unwrap();
            let tally = CountedRows(&data.positive);
            // Few rows, so that the wide feature is sparse; then many, so that it is dense.
            for n_rows in [300, N_ROWS as u32] {
                let mut source =
                    MemorySource::new(&binned, tally, (0..n_rows).collect(), &interrupt);
                let parent = source.histograms(&[HistogramRequest::all(0)]).unwrap().remove(0);
                let test = CodeTest { feature: 1, rule: CodeRule::Below(2), missing_left: true };
                source.split(&[CellSplit { cell: 0, test, left: 1, right: 2 }]).unwrap();
                let both = source.histograms(&[1, 2].map(HistogramRequest::all)).unwrap();
                let [left, right] = &both[..] else { panic!() };
                let derived = parent.without(left);
                for feature in 0..2 {
                    let expected: Vec<_> = right.at(feature).occupied().collect();
                    let found: Vec<_> = derived.at(feature).occupied().collect();
                    assert_eq!(found, expected);
                }
            }
        }
    }
}
