//! Borrowed features: `f32` or `f64` numbers in either memory layout, and category codes.

use std::ops::Range;
use std::sync::{Arc, OnceLock};

use super::row_hash::hash_rows;
use crate::{Interrupt, RankError, parallel};

/// Rows read at a time: they stay in the cache while they are processed.
const TILE_ROWS: usize = 1024;

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
/// use aucrank::data::{Column, Columns, Strided, Value};
///
/// fn n_rows<'a, T: Value>(matrix: &'a [T], n_features: usize) -> Result<usize, RankError>
/// where
///     Column<'a>: From<Strided<'a, T>>,
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

/// Every `step`-th number of a slice, from its first: one column of a matrix in either layout.
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
/// # Ok::<(), aucrank::RankError>(())
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Strided<'a, T> {
    values: &'a [T],
    step: usize,
}

impl<'a, T: Value> Strided<'a, T> {
    /// The values of all rows, if they are contiguous.
    pub(crate) fn contiguous(&self) -> Option<&'a [T]> {
        (self.step == 1).then_some(self.values)
    }

    /// Value of a row, in double precision.
    #[inline]
    #[must_use]
    pub fn get(&self, row: usize) -> f64 {
        self.values[row * self.step].into()
    }

    /// Copies the values of some rows; returns whether one of them is infinite.
    pub(super) fn read<'b>(
        &self,
        rows: Range<usize>,
        places: impl Iterator<Item = &'b mut f64>,
    ) -> bool {
        // A separate loop for contiguous values, which the compiler vectorises.
        if let Some(values) = self.contiguous() {
            return copy(&values[rows], places);
        }
        let start = (rows.start * self.step).min(self.values.len());
        copy(self.values[start..].iter().step_by(self.step).take(rows.len()), places)
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
    F64(Strided<'a, f64>),
    /// Single precision; compared in double precision.
    F32(Strided<'a, f32>),
    /// Category codes below `n_levels`, or [`MISSING_CODE`].
    Codes {
        /// Code of each row.
        codes: &'a [u32],
        /// Number of categories known at fit.
        n_levels: u32,
    },
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

    /// Whether the values are numbers that are not contiguous.
    pub(crate) fn is_strided(&self) -> bool {
        match self {
            Self::F64(values) => values.contiguous().is_none(),
            Self::F32(values) => values.contiguous().is_none(),
            Self::Codes { .. } => false,
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
            Self::F64(values) => values.values.len().div_ceil(values.step),
            Self::F32(values) => values.values.len().div_ceil(values.step),
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
    hashes: Arc<OnceLock<Vec<u64>>>,
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
        Column<'a>: From<Strided<'a, T>>,
    {
        let n_rows = values.len().checked_div(n_features).unwrap_or(0);
        let column = |j| Strided { values: values.get(j..).unwrap_or(&[]), step: n_features };
        Self::new((0..n_features).map(|j| column(j).into()).collect(), n_rows)
    }

    /// A matrix whose columns are contiguous.
    ///
    /// # Errors
    ///
    /// As [`Columns::new`].
    pub fn from_column_major<T: Value>(values: &'a [T], n_rows: usize) -> Result<Self, RankError>
    where
        Column<'a>: From<Strided<'a, T>>,
    {
        let columns =
            values.chunks_exact(n_rows.max(1)).map(|values| Strided { values, step: 1 }.into());
        Self::new(columns.collect(), n_rows)
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

    /// Checks that there are as many classes and weights as rows.
    pub(crate) fn check_lengths(
        &self,
        positive: &[bool],
        weights: Option<&[f64]>,
    ) -> Result<(), RankError> {
        let expected = positive.len();
        let bad = |name, found| Err(RankError::LengthMismatch { name, found, expected });
        match weights {
            _ if self.n_rows != expected => bad("X", self.n_rows),
            Some(weights) if weights.len() != expected => bad("sample_weight", weights.len()),
            _ => Ok(()),
        }
    }

    /// Hash of the content of each row, found when it is first asked for.
    pub(crate) fn hashes(&self, interrupt: &Interrupt) -> Result<&[u64], RankError> {
        if let Some(hashes) = self.hashes.get() {
            return Ok(hashes);
        }
        // Of two threads that come here at once, both find the same.
        let hashes = hash_rows(self, interrupt)?;
        Ok(self.hashes.get_or_init(|| hashes))
    }

    /// Number of categories of each feature, or `None` for a number.
    #[must_use]
    pub fn n_levels(&self) -> Vec<Option<u32>> {
        self.iter().map(Column::n_levels).collect()
    }

    /// Checks the columns against the features of a model, `n_levels` being the number of categories
    /// of each, `None` for a number.
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

    /// Why rows were refused: the reader was interrupted, or a number is infinite.
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
        let of_tile = |(memory, values): &mut (M, Vec<f64>), (tile, out): (usize, &mut [f64])| {
            let start = tile * TILE_ROWS;
            let rows = start..start + out.len() / width;
            values.resize(rows.len() * self.n_features(), 0.0);
            let is_refused = self.read_rows(rows.clone(), values);
            if !is_refused {
                work(memory, rows, values, out);
            }
            is_refused
        };
        let tiles = out.chunks_mut(TILE_ROWS * width.max(1)).enumerate().collect();
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

    /// Column, row and value of the first number that matches, column by column.
    fn first_number(&self, is_sought: impl Fn(f64) -> bool) -> Option<(usize, usize, f64)> {
        self.iter().enumerate().find_map(|(column, values)| {
            let value = |row| match values {
                Column::F64(values) => values.get(row),
                Column::F32(values) => values.get(row),
                Column::Codes { .. } => 0.0,
            };
            let row = (0..self.n_rows).find(|&row| is_sought(value(row)))?;
            Some((column, row, value(row)))
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

impl<'a> From<Strided<'a, f64>> for Column<'a> {
    fn from(values: Strided<'a, f64>) -> Self {
        Self::F64(values)
    }
}

impl<'a> From<Strided<'a, f32>> for Column<'a> {
    fn from(values: Strided<'a, f32>) -> Self {
        Self::F32(values)
    }
}

impl<'a, T: Value> From<&'a [T]> for Column<'a>
where
    Self: From<Strided<'a, T>>,
{
    fn from(values: &'a [T]) -> Self {
        Strided { values, step: 1 }.into()
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
