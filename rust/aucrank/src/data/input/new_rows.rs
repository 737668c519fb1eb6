//! Rows to which a fitted model is applied.

use std::ops::Range;

use crate::parallel::prelude::*;

use crate::RankError;
use crate::data::accumulate::{ClassSums, RowTally};
use crate::data::input::columns::Columns;
use crate::data::input::weights::FixedWeights;

/// Rows counted by one task.
const CHUNK_ROWS: usize = 1 << 14;

/// Rows other than the training rows, or whose classes do not matter. Unlike
/// [`Labels`](crate::data::Labels) they may have one class only, or no known classes.
///
/// # Examples
///
/// ```
/// use aucrank::data::{ClassSums, NewRows};
///
/// let rows = NewRows::new(2, Some(&[true, true]), None)?;
/// assert_eq!(rows.sums(0), ClassSums { pos: 1, neg: 0, rows: 1 });
/// // Without labels, all rows count as negative.
/// let rows = NewRows::new(2, None, Some(&[3.0, 1.0]))?;
/// assert_eq!(rows.sums(0), ClassSums { pos: 0, neg: 3, rows: 3 });
/// # Ok::<(), aucrank::RankError>(())
/// ```
#[derive(Debug, Clone)]
pub struct NewRows<'a> {
    n_rows: usize,
    positive: Option<&'a [bool]>,
    weights: Option<FixedWeights>,
}

impl<'a> NewRows<'a> {
    /// Checks lengths and weights.
    ///
    /// # Errors
    ///
    /// [`RankError`] for a bad weight or lengths that differ.
    pub fn new(
        n_rows: usize,
        positive: Option<&'a [bool]>,
        weights: Option<&[f64]>,
    ) -> Result<Self, RankError> {
        let lengths =
            [("y", positive.map(<[bool]>::len)), ("sample_weight", weights.map(<[f64]>::len))];
        for (name, found) in lengths {
            if let Some(found) = found
                && found != n_rows
            {
                return Err(RankError::LengthMismatch { name, found, expected: n_rows });
            }
        }
        let weights = weights.map(FixedWeights::new).transpose()?;
        Ok(Self { n_rows, positive, weights })
    }

    /// Number of rows, those of weight zero included.
    #[must_use]
    pub fn n_rows(&self) -> usize {
        self.n_rows
    }

    /// Binary exponent of the unit of weight.
    #[must_use]
    pub fn exponent(&self) -> i32 {
        self.weights.as_ref().map_or(0, FixedWeights::exponent)
    }

    /// Which rows are positive, if known.
    pub(crate) fn positive(&self) -> Option<&'a [bool]> {
        self.positive
    }

    /// Whether some row may have a weight other than 1.
    pub(crate) fn is_weighted(&self) -> bool {
        self.weights.is_some()
    }

    /// Sums over all rows; if classes are known, both must have weight.
    pub(crate) fn total(&self) -> Result<ClassSums, RankError> {
        let total: ClassSums = (0..self.n_rows).map(|row| self.sums(row)).sum();
        if self.positive.is_some() {
            total.check_classes()?;
        } else if total.rows == 0 {
            return Err(RankError::BadParameter {
                name: "the total of sample_weight",
                value: "0".to_owned(),
                rule: "positive",
            });
        }
        Ok(total)
    }

    /// Checks that `columns` have as many rows.
    pub(crate) fn check_length(&self, columns: &Columns<'_>) -> Result<(), RankError> {
        let (found, expected) = (columns.n_rows(), self.n_rows);
        if found != expected {
            return Err(RankError::LengthMismatch { name: "X", found, expected });
        }
        Ok(())
    }

    /// Contribution of a row to the sums of its bin; without labels, all rows count as negative.
    #[must_use]
    pub fn sums(&self, row: usize) -> ClassSums {
        let (weight, rows) = self.weights.as_ref().map_or((1, 1), |weights| weights.counted(row));
        ClassSums::of_row(self.positive.is_some_and(|positive| positive[row]), weight, rows)
    }

    /// Chunks of rows that are counted in parallel; integer sums do not depend on the chunking.
    pub(crate) fn chunks(&self) -> impl ParallelIterator<Item = Range<usize>> + use<> {
        let n_rows = self.n_rows;
        (0..n_rows.div_ceil(CHUNK_ROWS)).into_par_iter().map(move |chunk| {
            let start = chunk * CHUNK_ROWS;
            start..n_rows.min(start + CHUNK_ROWS)
        })
    }
}

impl RowTally for NewRows<'_> {
    type Tally = ClassSums;

    fn of(&self, row: usize) -> ClassSums {
        self.sums(row)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{Bins, Lookups};

    #[test]
    fn chunks_are_counted_as_the_whole() {
        let n_rows = 3 * CHUNK_ROWS + 17;
        let values: Vec<f64> = (0..n_rows).map(|row| (row * 7919 % 1000) as f64).collect();
        let columns = Columns::new(vec![values.as_slice().into()], n_rows).unwrap();
        let bins = Bins::Numeric { cuts: vec![250.0, 600.0], special: vec![] };
        let rows = NewRows::new(n_rows, None, None).unwrap();
        let counts = Lookups::new([(0, &bins)]).count(&columns, &rows).unwrap();
        let by_hand = |low: f64, high: f64| {
            values.iter().filter(|&&value| low <= value && value < high).count() as u64
        };
        let found: Vec<u64> = counts[0].iter().map(|sums| sums.neg).collect();
        assert_eq!(found, [by_hand(0.0, 250.0), by_hand(250.0, 600.0), by_hand(600.0, 1e9), 0]);
    }

    #[test]
    fn mismatched_lengths_and_weights_are_refused() {
        assert_eq!(
            NewRows::new(2, Some(&[true]), None).unwrap_err(),
            RankError::LengthMismatch { name: "y", found: 1, expected: 2 }
        );
        assert!(NewRows::new(1, None, Some(&[-1.0])).is_err());
        let columns = Columns::new(vec![[1.0].as_slice().into()], 1).unwrap();
        let rows = NewRows::new(2, None, None).unwrap();
        let expected = RankError::LengthMismatch { name: "X", found: 1, expected: 2 };
        assert_eq!(rows.check_length(&columns), Err(expected));
    }
}
