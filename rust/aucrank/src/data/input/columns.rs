//! Borrowed features: `f32` or `f64` numbers in either memory layout or of a sparse matrix, and
//! category codes.

use std::ops::Range;
use std::sync::{Arc, OnceLock};

use crate::{Interrupt, RankError, parallel};

/// Rows read at a time: they stay in the cache while they are processed.
const TILE_ROWS: usize = 1024;

/// Maximum number of values read at a time, 8 MiB: of a wide matrix, fewer rows at a time.
const TILE_VALUES: usize = 1 << 20;

/// Minimum number of tiles per thread.
const LEAST_TILES: usize = 4;

/// Code of a category that is missing, or was not seen at fit.
pub const MISSING_CODE: u32 = u32::MAX;

/// A raw number. NaN is a missing value.
///
/// # Examples
///
/// ```
/// use aucrank::RankError;
/// use aucrank::data::{Column, Columns, Numbers, Value};
///
/// fn n_rows<'a, T: Value>(matrix: &'a [T], n_features: usize) -> Result<usize, RankError>
/// where
///     Column<'a>: From<Numbers<'a, T>>,
/// {
///     Ok(Columns::from_row_major(matrix, n_features)?.n_rows())
/// }
///
/// assert_eq!(n_rows(&[1.0_f32, 2.0, 3.0, 4.0], 2)?, 2);
/// assert_eq!(n_rows(&[1.0_f64, 2.0, 3.0, 4.0], 4)?, 1);
/// # Ok::<(), aucrank::RankError>(())
/// ```
pub trait Value: Copy + Into<f64> + Send + Sync {}
impl Value for f32 {}
impl Value for f64 {}

/// The numbers of one column: every `step`-th of a slice from its first, as in a matrix of either
/// layout; or those of a sparse column, which is 0 in all other rows.
///
/// # Examples
///
/// ```
/// use aucrank::data::{Column, Columns};
///
/// let matrix = [1.0, 10.0, 2.0, 20.0];
/// let columns = Columns::from_row_major(&matrix, 2)?;
/// let Column::F64(second) = columns[1] else { unreachable!("these are doubles") };
/// assert_eq!((second.get(0), second.get(1)), (10.0, 20.0));
///
/// let columns = Columns::from_sparse(&[0, 1], &[1], &[10.0], 3)?;
/// let Column::F64(sparse) = columns[0] else { unreachable!("these are doubles") };
/// assert_eq!([0, 1, 2].map(|row| sparse.get(row)), [0.0, 10.0, 0.0]);
/// # Ok::<(), aucrank::RankError>(())
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Numbers<'a, T> {
    values: &'a [T],
    layout: ValueLayout<'a>,
    /// The cuts between bins that the numbers were coded by, if they were.
    cuts: Option<&'a [f64]>,
}

/// The rows that the values of a column belong to.
#[derive(Debug, Clone, Copy)]
enum ValueLayout<'a> {
    /// Distance between the values of consecutive rows.
    Step(usize),
    /// The values are those of these rows, ascending; of other rows they are 0.
    Rows { rows: &'a [u32], n_rows: usize },
    /// Each row has the value of its code.
    Codes(CodeSlice<'a>),
}

/// Codes of rows, in the width that they are stored in.
#[derive(Debug, Clone, Copy)]
pub(crate) enum CodeSlice<'a> {
    /// Bytes at a fixed distance from row to row.
    Bytes {
        codes: &'a [u8],
        step: usize,
    },
    Shorts(&'a [u16]),
    Words(&'a [u32]),
}

impl CodeSlice<'_> {
    #[inline]
    fn get(self, row: usize) -> usize {
        match self {
            Self::Bytes { codes, step } => codes[row * step].into(),
            Self::Shorts(codes) => codes[row].into(),
            Self::Words(codes) => codes[row] as usize,
        }
    }

    fn n_rows(self) -> usize {
        match self {
            Self::Bytes { codes, step } => codes.len().div_ceil(step),
            Self::Shorts(codes) => codes.len(),
            Self::Words(codes) => codes.len(),
        }
    }
}

impl<'a, T: Value> Numbers<'a, T> {
    fn new(values: &'a [T], layout: ValueLayout<'a>) -> Self {
        Self { values, layout, cuts: None }
    }

    /// The values of the codes of bins between cuts.
    pub(crate) fn of_codes(values: &'a [T], codes: CodeSlice<'a>, cuts: &'a [f64]) -> Self {
        Self { cuts: Some(cuts), ..Self::new(values, ValueLayout::Codes(codes)) }
    }

    /// The values of all rows, if they are contiguous.
    pub(crate) fn contiguous(&self) -> Option<&'a [T]> {
        matches!(self.layout, ValueLayout::Step(1)).then_some(self.values)
    }

    /// Value of a row, in double precision.
    #[inline]
    #[must_use]
    pub fn get(&self, row: usize) -> f64 {
        match self.layout {
            ValueLayout::Step(step) => self.values[row * step].into(),
            ValueLayout::Rows { rows, .. } => {
                let place = rows.binary_search(&(row as u32));
                place.map_or(0.0, |place| self.values[place].into())
            }
            ValueLayout::Codes(codes) => self.values[codes.get(row)].into(),
        }
    }

    /// Copies the values of some rows; returns whether one of them is infinite.
    pub(in crate::data) fn read<'b>(
        &self,
        range: Range<usize>,
        places: impl Iterator<Item = &'b mut f64>,
    ) -> bool {
        match self.layout {
            // A separate loop for contiguous values, which the compiler vectorises.
            ValueLayout::Step(1) => copy(&self.values[range], places),
            ValueLayout::Step(step) => {
                let start = (range.start * step).min(self.values.len());
                copy(self.values[start..].iter().step_by(step).take(range.len()), places)
            }
            ValueLayout::Rows { rows, .. } => {
                let first = rows.partition_point(|&row| (row as usize) < range.start);
                let mut known = rows[first..].iter().zip(&self.values[first..]).peekable();
                let mut any_infinite = false;
                for (row, place) in range.zip(places) {
                    let value = known.next_if(|(known, _)| **known as usize == row);
                    *place = value.map_or(0.0, |(_, &value)| value.into());
                    any_infinite |= place.is_infinite();
                }
                any_infinite
            }
            ValueLayout::Codes(codes) => {
                copy(range.map(|row| &self.values[codes.get(row)]), places)
            }
        }
    }

    fn n_rows(&self) -> usize {
        match self.layout {
            ValueLayout::Step(step) => self.values.len().div_ceil(step),
            ValueLayout::Rows { n_rows, .. } => n_rows,
            ValueLayout::Codes(codes) => codes.n_rows(),
        }
    }

    fn is_sparse(&self) -> bool {
        matches!(self.layout, ValueLayout::Rows { .. })
    }

    /// Rows and their values: all, or those that are stored of a sparse column.
    fn entries(&self) -> impl Iterator<Item = (usize, f64)> {
        let n_entries = match self.layout {
            ValueLayout::Rows { rows, .. } => rows.len(),
            _ => self.n_rows(),
        };
        (0..n_entries).map(|place| match self.layout {
            ValueLayout::Step(step) => (place, self.values[place * step].into()),
            ValueLayout::Rows { rows, .. } => (rows[place] as usize, self.values[place].into()),
            ValueLayout::Codes(codes) => (place, self.values[codes.get(place)].into()),
        })
    }
}

/// Copies numbers; returns whether one of them is infinite.
fn copy<'a, 'b, T: Value + 'a>(
    values: impl IntoIterator<Item = &'a T>,
    places: impl Iterator<Item = &'b mut f64>,
) -> bool {
    let mut any_infinite = false;
    for (&value, place) in values.into_iter().zip(places) {
        *place = value.into();
        any_infinite |= place.is_infinite();
    }
    any_infinite
}

/// One feature.
///
/// # Examples
///
/// ```
/// use aucrank::data::{Column, Columns, MISSING_CODE};
///
/// let (ages, codes) = ([31.0, 52.0, 48.0], [1, MISSING_CODE, 0]);
/// let towns = Column::Codes { codes: &codes, n_levels: 2 };
/// let columns = Columns::new(vec![Column::from(&ages[..]), towns], 3)?;
/// assert_eq!((columns[0].n_levels(), columns[1].n_levels()), (None, Some(2)));
/// # Ok::<(), aucrank::RankError>(())
/// ```
#[derive(Debug, Clone, Copy)]
pub enum Column<'a> {
    /// Double precision.
    F64(Numbers<'a, f64>),
    /// Single precision; compared in double precision.
    F32(Numbers<'a, f32>),
    /// Category codes below `n_levels`, or [`MISSING_CODE`].
    Codes {
        /// Code of each row.
        codes: &'a [u32],
        /// Number of categories known at fit.
        n_levels: u32,
    },
}

impl<'a> Column<'a> {
    /// The cuts between bins that the numbers were coded by, if they were: no others can be found
    /// from them.
    pub(in crate::data) fn cuts(&self) -> Option<&'a [f64]> {
        match self {
            Self::F64(values) => values.cuts,
            Self::F32(values) => values.cuts,
            Self::Codes { .. } => None,
        }
    }

    /// The same numbers with the cuts that they were coded by, if they were.
    pub(crate) fn with_cuts(mut self, cuts: Option<&'a [f64]>) -> Self {
        match &mut self {
            Self::F64(values) => values.cuts = cuts,
            Self::F32(values) => values.cuts = cuts,
            Self::Codes { .. } => {}
        }
        self
    }
}

impl Column<'_> {
    /// Number of categories, or `None` for a numeric feature.
    #[must_use]
    pub fn n_levels(&self) -> Option<u32> {
        match *self {
            Self::Codes { n_levels, .. } => Some(n_levels),
            _ => None,
        }
    }

    /// Checks that there is no code beyond the categories; `column` is the number of this one.
    pub(crate) fn check_codes(&self, column: usize) -> Result<(), RankError> {
        let Self::Codes { codes, n_levels } = *self else { return Ok(()) };
        let is_bad = |code: &u32| *code >= n_levels && *code != MISSING_CODE;
        match codes.iter().position(is_bad) {
            Some(row) => Err(RankError::BadCode { column, row, code: codes[row], n_levels }),
            None => Ok(()),
        }
    }

    /// Whether the values are numbers that are not contiguous.
    pub(crate) fn is_strided(&self) -> bool {
        match self {
            Self::F64(values) => values.contiguous().is_none(),
            Self::F32(values) => values.contiguous().is_none(),
            Self::Codes { .. } => false,
        }
    }

    /// Whether the column is that of a sparse matrix.
    pub(crate) fn is_sparse(&self) -> bool {
        match self {
            Self::F64(values) => values.is_sparse(),
            Self::F32(values) => values.is_sparse(),
            Self::Codes { .. } => false,
        }
    }

    /// Visits the numbers of all rows, of a sparse column those that are stored, in ascending order
    /// of the rows.
    ///
    /// # Panics
    ///
    /// If the column is categorical.
    pub(crate) fn for_entries(&self, visit: &mut dyn FnMut(usize, f64)) {
        match self {
            Self::F64(values) => values.entries().for_each(|(row, value)| visit(row, value)),
            Self::F32(values) => values.entries().for_each(|(row, value)| visit(row, value)),
            Self::Codes { .. } => unreachable!("categories have no numbers"),
        }
    }

    /// The value of a row in the form of [`Columns::read_rows`].
    #[inline]
    pub(crate) fn raw(&self, row: usize) -> f64 {
        match self {
            Self::F64(values) => values.get(row),
            Self::F32(values) => values.get(row),
            Self::Codes { codes, .. } if codes[row] == MISSING_CODE => f64::NAN,
            Self::Codes { codes, .. } => codes[row].into(),
        }
    }

    /// Copies the numbers of rows in any order.
    ///
    /// # Panics
    ///
    /// If the column is categorical.
    pub(crate) fn read_each(&self, rows: &[u32], places: &mut [f64]) {
        let each = |value: &dyn Fn(usize) -> f64, places: &mut [f64]| {
            for (place, &row) in places.iter_mut().zip(rows) {
                *place = value(row as usize);
            }
        };
        match self {
            Self::F64(values) => each(&|row| values.get(row), places),
            Self::F32(values) => each(&|row| values.get(row), places),
            Self::Codes { .. } => unreachable!("categories have no numbers"),
        }
    }

    /// Copies some rows in the form of [`Columns::read_rows`]. Returns whether a number is
    /// infinite.
    pub(crate) fn read<'b>(
        &self,
        rows: Range<usize>,
        places: impl IntoIterator<Item = &'b mut f64>,
    ) -> bool {
        match self {
            Self::F64(values) => values.read(rows, places.into_iter()),
            Self::F32(values) => values.read(rows, places.into_iter()),
            Self::Codes { codes, .. } => {
                for (&code, place) in codes[rows].iter().zip(places) {
                    *place = if code == MISSING_CODE { f64::NAN } else { code.into() };
                }
                false
            }
        }
    }

    fn n_rows(&self) -> usize {
        match self {
            Self::F64(values) => values.n_rows(),
            Self::F32(values) => values.n_rows(),
            Self::Codes { codes, .. } => codes.len(),
        }
    }
}

/// The feature matrix, borrowed column by column.
///
/// # Examples
///
/// ```
/// use aucrank::data::Columns;
///
/// let columns = Columns::from_row_major(&[1.0, 10.0, 2.0, 20.0, 3.0, 30.0], 2).unwrap();
/// assert_eq!((columns.n_rows(), columns.n_features()), (3, 2));
/// ```
#[derive(Debug, Clone)]
pub struct Columns<'a> {
    n_rows: usize,
    features: Vec<Column<'a>>,
    interrupt: Option<&'a Interrupt>,
    /// See [`Columns::hashes`]; shared by clones.
    pub(super) hashes: Arc<OnceLock<Vec<u64>>>,
}

impl<'a> Columns<'a> {
    /// The matrix of these columns, which must all have `n_rows` rows.
    ///
    /// # Errors
    ///
    /// [`RankError`] if lengths differ, or there are 2^32 rows or more.
    pub fn new(columns: Vec<Column<'a>>, n_rows: usize) -> Result<Self, RankError> {
        if let Some(column) = columns.iter().find(|column| column.n_rows() != n_rows) {
            return Err(RankError::LengthMismatch {
                name: "a column of X",
                found: column.n_rows(),
                expected: n_rows,
            });
        }
        if n_rows > u32::MAX as usize {
            return Err(RankError::BadParameter {
                name: "the number of rows",
                value: n_rows.to_string(),
                rule: "below 2^32",
            });
        }
        Ok(Self { n_rows, features: columns, interrupt: None, hashes: Arc::default() })
    }

    /// A matrix whose rows are contiguous.
    ///
    /// # Errors
    ///
    /// As [`Columns::new`].
    pub fn from_row_major<T: Value>(values: &'a [T], n_features: usize) -> Result<Self, RankError>
    where
        Column<'a>: From<Numbers<'a, T>>,
    {
        let n_rows = values.len().checked_div(n_features).unwrap_or(0);
        let layout = ValueLayout::Step(n_features);
        let column = |j| Numbers::new(values.get(j..).unwrap_or(&[]), layout);
        Self::new((0..n_features).map(|j| column(j).into()).collect(), n_rows)
    }

    /// A matrix whose columns are contiguous.
    ///
    /// # Errors
    ///
    /// As [`Columns::new`].
    pub fn from_column_major<T: Value>(values: &'a [T], n_rows: usize) -> Result<Self, RankError>
    where
        Column<'a>: From<Numbers<'a, T>>,
    {
        let layout = ValueLayout::Step(1);
        let columns = values.chunks_exact(n_rows.max(1));
        Self::new(columns.map(|values| Numbers::new(values, layout).into()).collect(), n_rows)
    }

    /// A sparse matrix by columns (CSC). Values `starts[j]` to `starts[j + 1]` belong to column
    /// `j`, in the rows of the same places of `rows`, which ascend in each column. All other values
    /// are 0; one that is missing is NaN, as elsewhere.
    ///
    /// # Errors
    ///
    /// [`RankError`] if the parts do not fit together, or there are 2^32 rows or more.
    ///
    /// # Examples
    ///
    /// ```
    /// use aucrank::Interrupt;
    /// use aucrank::boost::{FitExtras, RankBoostParams, fit_rank_boost};
    /// use aucrank::data::{Columns, Labels};
    ///
    /// let dense = [0.0, 2.0, 0.0, 1.0, 0.0, 0.0, 3.0, 0.0];
    /// let dense = Columns::from_column_major(&dense, 4)?;
    /// let sparse = Columns::from_sparse(&[0, 2, 3], &[1, 3, 2], &[2.0, 1.0, 3.0], 4)?;
    /// let labels = Labels::new(&[false, true, false, true], None)?;
    /// let (params, extras) = (RankBoostParams::default(), FitExtras::default());
    /// let fit = |x| fit_rank_boost((x, &labels), &params, &extras, &Interrupt::default());
    /// assert_eq!(fit(&sparse)?, fit(&dense)?);
    /// # Ok::<(), aucrank::RankError>(())
    /// ```
    pub fn from_sparse<T: Value>(
        starts: &[usize],
        rows: &'a [u32],
        values: &'a [T],
        n_rows: usize,
    ) -> Result<Self, RankError>
    where
        Column<'a>: From<Numbers<'a, T>>,
    {
        let bad = |value: String, rule| {
            Err(RankError::BadParameter { name: "the sparse matrix", value, rule })
        };
        let ends = (starts.first(), starts.last());
        if ends != (Some(&0), Some(&rows.len())) || !starts.is_sorted() {
            return bad(
                "malformed".to_owned(),
                "cut into columns by numbers from 0 to that of rows",
            );
        }
        if rows.len() != values.len() {
            let value = format!("of {} rows and {} values", rows.len(), values.len());
            return bad(value, "as many");
        }
        let column = |bounds: &[usize]| {
            let (rows, values) = (&rows[bounds[0]..bounds[1]], &values[bounds[0]..bounds[1]]);
            let ascend = rows.is_sorted_by(|row, next| row < next);
            let is_within = rows.last().is_none_or(|&last| (last as usize) < n_rows);
            (ascend && is_within)
                .then(|| Numbers::new(values, ValueLayout::Rows { rows, n_rows }).into())
        };
        match starts.windows(2).map(column).collect() {
            Some(columns) => Self::new(columns, n_rows),
            None => bad("malformed".to_owned(), "of ascending rows in each column"),
        }
    }

    /// The same columns with an interrupt: a model that scores them returns
    /// [`RankError::Interrupted`] once it is set.
    ///
    /// # Examples
    ///
    /// ```
    /// use aucrank::data::Columns;
    /// use aucrank::{Interrupt, RankError};
    ///
    /// let interrupt = Interrupt::default();
    /// let columns = Columns::from_row_major(&[1.0, 2.0], 1).unwrap();
    /// let columns = columns.until(&interrupt);
    /// assert_eq!(columns.check_interrupt(), Ok(()));
    /// interrupt.stop();
    /// assert_eq!(columns.check_interrupt(), Err(RankError::Interrupted));
    /// ```
    #[must_use]
    pub fn until<'b>(&self, interrupt: &'b Interrupt) -> Columns<'b>
    where
        'a: 'b,
    {
        Columns { interrupt: Some(interrupt), ..self.clone() }
    }

    /// `Err` once the interrupt is set.
    ///
    /// # Errors
    ///
    /// [`RankError::Interrupted`].
    pub fn check_interrupt(&self) -> Result<(), RankError> {
        self.interrupt.map_or(Ok(()), Interrupt::check)
    }

    /// Number of rows.
    #[must_use]
    pub fn n_rows(&self) -> usize {
        self.n_rows
    }

    /// Number of features.
    #[must_use]
    pub fn n_features(&self) -> usize {
        self.features.len()
    }

    /// The same columns, with the known hash of each row.
    pub(crate) fn with_hashes(self, hashes: &Arc<OnceLock<Vec<u64>>>) -> Self {
        Self { hashes: Arc::clone(hashes), ..self }
    }

    /// Other columns of the same rows, which keep the hashes of their content; known numbers are
    /// unchanged.
    pub(crate) fn with_features(
        &self,
        features: Vec<Column<'a>>,
        interrupt: &Interrupt,
    ) -> Result<Self, RankError> {
        // Computed now, since the other columns would give other hashes.
        self.hashes(interrupt)?;
        Ok(Self { features, ..self.clone() })
    }

    /// Number of categories of each feature, or `None` for a number.
    #[must_use]
    pub fn n_levels(&self) -> Vec<Option<u32>> {
        self.iter().map(Column::n_levels).collect()
    }

    /// Checks the columns against the features of a model, `n_levels` being the number of
    /// categories of each, `None` for a number.
    ///
    /// # Errors
    ///
    /// [`RankError::ColumnMismatch`] or [`RankError::KindMismatch`].
    pub(crate) fn check_kinds(&self, n_levels: &[Option<u32>]) -> Result<(), RankError> {
        let (found, expected) = (self.n_features(), n_levels.len());
        if found != expected {
            return Err(RankError::ColumnMismatch { found, expected });
        }
        for (feature, (column, n_levels)) in self.iter().zip(n_levels).enumerate() {
            let kind = |categorical| if categorical { "categorical" } else { "numeric" };
            let is_categorical = matches!(column, Column::Codes { .. });
            if is_categorical != n_levels.is_some() {
                return Err(RankError::KindMismatch {
                    column: feature,
                    found: kind(is_categorical),
                    expected: kind(n_levels.is_some()),
                });
            }
        }
        Ok(())
    }

    /// Copies some rows to `out`, row by row, in double precision: numbers as they are, category
    /// codes as numbers, NaN for missing values. Returns whether the rows are unusable;
    /// [`Columns::refusal`] then says why.
    ///
    /// # Panics
    ///
    /// If the size of `out` is not that of the rows.
    pub(crate) fn read_rows(&self, rows: Range<usize>, out: &mut [f64]) -> bool {
        let n_features = self.features.len();
        assert_eq!(out.len(), rows.len() * n_features, "a place for every value");
        self.check_interrupt().is_err()
            || self.features.iter().enumerate().any(|(j, column)| {
                column.read(rows.clone(), out.iter_mut().skip(j).step_by(n_features))
            })
    }

    /// Reason why rows were refused: the reader was interrupted, or a number is infinite.
    /// [`RankError::Changed`] if the number is finite by now, because another thread writes to the
    /// data.
    pub(crate) fn refusal(&self) -> RankError {
        let stopped = self.check_interrupt().err();
        stopped.or_else(|| self.infinite_value()).unwrap_or(RankError::Changed)
    }

    /// Calls `work` for all rows, tile by tile and in parallel, with scratch memory, the row
    /// numbers, the values in the form of [`Columns::read_rows`], and the rows' part of `out`,
    /// which has `width` values per row.
    ///
    /// # Errors
    ///
    /// [`RankError::InfiniteValue`] if a number is infinite; [`RankError::Interrupted`].
    pub(crate) fn by_tile<M: Default>(
        &self,
        out: &mut [f64],
        width: usize,
        work: impl Fn(&mut M, Range<usize>, &[f64], &mut [f64]) + Sync,
    ) -> Result<(), RankError> {
        // Fewer rows at a time where features are many, so that the values of a tile remain in the
        // cache.
        let n_tile = (TILE_VALUES / self.n_features().max(1)).clamp(1, TILE_ROWS);
        let of_tile = |(memory, values): &mut (M, Vec<f64>), (tile, out): (usize, &mut [f64])| {
            let start = tile * n_tile;
            let rows = start..start + out.len() / width;
            values.resize(rows.len() * self.n_features(), 0.0);
            let is_refused = self.read_rows(rows.clone(), values);
            if !is_refused {
                work(memory, rows, values, out);
            }
            is_refused
        };
        let tiles = out.chunks_mut(n_tile * width.max(1)).enumerate().collect();
        if parallel::map_with(tiles, LEAST_TILES, Default::default, of_tile).contains(&true) {
            return Err(self.refusal());
        }
        // `work` may have read rows itself and skipped them when interrupted.
        self.check_interrupt()
    }

    /// The error for the first column that holds infinity, with its first row.
    #[must_use]
    pub fn infinite_value(&self) -> Option<RankError> {
        let (column, row, value) = self.first_number(f64::is_infinite)?;
        Some(RankError::InfiniteValue { column, row, value })
    }

    /// The error for the first missing value in a numeric column, with its first row.
    pub(crate) fn missing_value(&self) -> Option<RankError> {
        let (column, row, _) = self.first_number(f64::is_nan)?;
        Some(RankError::MissingValue { column, row })
    }

    /// Column, row and value of the first number that matches, column by column; 0 must not.
    fn first_number(&self, is_sought: impl Fn(f64) -> bool) -> Option<(usize, usize, f64)> {
        self.iter().enumerate().find_map(|(column, values)| {
            let (row, value) = match values {
                Column::F64(values) => values.entries().find(|(_, value)| is_sought(*value))?,
                Column::F32(values) => values.entries().find(|(_, value)| is_sought(*value))?,
                Column::Codes { .. } => return None,
            };
            Some((column, row, value))
        })
    }

    /// The features, in order.
    pub fn iter(&self) -> std::slice::Iter<'_, Column<'a>> {
        self.features.iter()
    }
}

impl<'c, 'a> IntoIterator for &'c Columns<'a> {
    type Item = &'c Column<'a>;
    type IntoIter = std::slice::Iter<'c, Column<'a>>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl<'a> std::ops::Index<usize> for Columns<'a> {
    type Output = Column<'a>;

    fn index(&self, feature: usize) -> &Column<'a> {
        &self.features[feature]
    }
}

impl<'a> From<Numbers<'a, f64>> for Column<'a> {
    fn from(values: Numbers<'a, f64>) -> Self {
        Self::F64(values)
    }
}

impl<'a> From<Numbers<'a, f32>> for Column<'a> {
    fn from(values: Numbers<'a, f32>) -> Self {
        Self::F32(values)
    }
}

impl<'a, T: Value> From<&'a [T]> for Column<'a>
where
    Self: From<Numbers<'a, T>>,
{
    fn from(values: &'a [T]) -> Self {
        Numbers::new(values, ValueLayout::Step(1)).into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn number(columns: &Columns<'_>, row: usize, feature: usize) -> f64 {
        match columns[feature] {
            Column::F64(values) => values.get(row),
            Column::F32(values) => values.get(row),
            Column::Codes { .. } => panic!("numeric"),
        }
    }

    #[test]
    fn a_sparse_matrix_reads_as_the_dense_one() {
        let (n_rows, n_features) = (2500, 4);
        let value = |row: usize, feature: usize| match (row * 7 + feature) % (11 * (feature + 1)) {
            0 => row as f64 - 9.0,
            1 => f64::NAN,
            // An entry may be 0, too.
            2 if feature == 1 => -0.0,
            _ => 0.0,
        };
        let at = |place: usize| value(place % n_rows, place / n_rows);
        let dense: Vec<f64> = (0..n_rows * n_features).map(at).collect();
        let (mut starts, mut rows, mut values) = (vec![0], Vec::new(), Vec::new());
        for feature in 0..n_features {
            for row in 0..n_rows {
                if value(row, feature).to_bits() != 0 {
                    rows.push(row as u32);
                    values.push(value(row, feature));
                }
            }
            starts.push(rows.len());
        }
        let sparse = Columns::from_sparse(&starts, &rows, &values, n_rows).unwrap();
        let dense = Columns::from_column_major(&dense, n_rows).unwrap();
        let bits = |values: &[f64]| values.iter().map(|value| value.to_bits()).collect::<Vec<_>>();
        for rows in [0..n_rows, 3..4, 7..2000, 2499..2500, 5..5] {
            let read = |columns: &Columns<'_>| {
                let mut out = vec![1.0; rows.len() * n_features];
                assert!(!columns.read_rows(rows.clone(), &mut out));
                bits(&out)
            };
            assert_eq!(read(&sparse), read(&dense));
        }
        for row in 0..n_rows {
            for feature in 0..n_features {
                let [found, expected] = [&sparse, &dense].map(|x| number(x, row, feature));
                assert_eq!(found.to_bits(), expected.to_bits());
            }
        }
        assert_eq!(sparse.missing_value(), dense.missing_value());
        assert_eq!((sparse.infinite_value(), sparse.n_rows()), (None, n_rows));
        assert!(sparse[0].is_strided());
        values[9] = f64::INFINITY;
        let sparse = Columns::from_sparse(&starts, &rows, &values, n_rows).unwrap();
        let row = rows[9] as usize;
        let err = RankError::InfiniteValue { column: 0, row, value: f64::INFINITY };
        assert_eq!(sparse.infinite_value(), Some(err));
    }

    #[test]
    fn a_malformed_sparse_matrix_is_refused() {
        let of = |starts: &[usize], rows: &[u32], values: &[f64]| {
            Columns::from_sparse(starts, rows, values, 3).map(|_| ()).map_err(|err| err.to_string())
        };
        assert_eq!(of(&[0, 1, 2], &[2, 0], &[1.0, 1.0]), Ok(()));
        assert_eq!(of(&[0], &[], &[]), Ok(()));
        for (starts, rows, values, words) in [
            (&[][..], &[][..], &[][..], "cut into columns"),
            (&[0, 1], &[0, 1], &[1.0, 1.0], "cut into columns"),
            (&[1, 2], &[0, 1], &[1.0, 1.0], "cut into columns"),
            (&[0, 2, 1, 2], &[0, 1], &[1.0, 1.0], "cut into columns"),
            (&[0, 2], &[0, 1], &[1.0], "of 2 rows and 1 values"),
            (&[0, 2], &[1, 1], &[1.0, 1.0], "ascending rows"),
            (&[0, 2], &[2, 1], &[1.0, 1.0], "ascending rows"),
            (&[0, 2], &[2, 3], &[1.0, 1.0], "ascending rows"),
        ] {
            let err = of(starts, rows, values).unwrap_err();
            assert!(err.contains(words), "{err}");
        }
    }

    #[test]
    fn both_layouts_read_the_same_matrix() {
        let by_row = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0];
        let by_column = [1.0_f32, 3.0, 5.0, 2.0, 4.0, 6.0];
        let a = Columns::from_row_major(&by_row, 2).unwrap();
        let b = Columns::from_column_major(&by_column, 3).unwrap();
        for row in 0..3 {
            for feature in 0..2 {
                assert_eq!(number(&a, row, feature).to_bits(), number(&b, row, feature).to_bits());
            }
        }
    }

    #[test]
    fn columns_of_other_lengths_are_refused() {
        let long: &[f64] = &[1.0, 2.0];
        let short = Column::Codes { codes: &[0], n_levels: 1 };
        let err = Columns::new(vec![long.into(), short], 2).unwrap_err();
        assert_eq!(err.to_string(), "a column of X has 1 rows, but y has 2");
    }
}
