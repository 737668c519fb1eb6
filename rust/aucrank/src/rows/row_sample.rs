//! The rows of least hashes: a sample for learners that need rows rather than sums.

use std::num::NonZeroUsize;

use super::mergeable::Mergeable;
use super::words::{WordReader, put_list};
use crate::data::{Columns, seeded};
use crate::{Interrupt, RankError};

/// Not the seed of a fit: all learners get the same rows.
const SEED: u64 = 0;

/// Finds the distinct rows whose content has the least hashes, up to a given number. They do not
/// depend on how the rows are ordered or divided.
///
/// # Examples
///
/// ```
/// use std::num::NonZeroUsize;
///
/// use aucrank::Interrupt;
/// use aucrank::data::Columns;
/// use aucrank::rows::RowSample;
///
/// let interrupt = Interrupt::default();
/// let batches = [[3.0, 1.0], [4.0, 1.0]];
/// let mut sample = RowSample::new(NonZeroUsize::new(2).unwrap());
/// for values in &batches {
///     sample.add(&Columns::from_row_major(values, 1)?, None, &interrupt)?;
/// }
/// // A second pass takes the rows.
/// let mut taken = Vec::new();
/// for values in &batches {
///     let rows =
///         RowSample::rows(&Columns::from_row_major(values, 1)?, sample.bound(), &interrupt)?;
///     taken.extend(rows.into_iter().map(|row| values[row as usize]));
/// }
/// taken.dedup();
/// // Copies of a row are taken together.
/// assert!([vec![3.0, 1.0, 1.0], vec![1.0, 4.0, 1.0], vec![3.0, 4.0]].contains(&taken));
/// # Ok::<(), aucrank::RankError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RowSample {
    most: NonZeroUsize,
    /// Rows of larger hashes are not in the sample.
    bound: u64,
    hashes: Vec<u64>,
}

impl RowSample {
    /// Sample of no rows; it will have `most` distinct ones.
    #[must_use]
    pub fn new(most: NonZeroUsize) -> Self {
        Self { most, bound: u64::MAX, hashes: Vec::new() }
    }

    /// Adds rows; skips rows of weight 0.
    ///
    /// # Errors
    ///
    /// [`RankError`] if the numbers of weights and rows differ, or when interrupted.
    pub fn add(
        &mut self,
        columns: &Columns<'_>,
        weights: Option<&[f64]>,
        interrupt: &Interrupt,
    ) -> Result<(), RankError> {
        let (expected, found) = (columns.n_rows(), weights.map_or(columns.n_rows(), <[f64]>::len));
        if found != expected {
            return Err(RankError::LengthMismatch { name: "sample_weight", found, expected });
        }
        for (row, &hash) in columns.hashes(interrupt)?.iter().enumerate() {
            let hash = seeded(hash, SEED);
            if hash <= self.bound && weights.is_none_or(|weights| weights[row] > 0.0) {
                self.hashes.push(hash);
                if self.hashes.len() >= self.most.get().saturating_mul(2) {
                    self.settle();
                }
            }
        }
        Ok(())
    }

    /// Largest hash of the sample; above every hash if all rows are in it.
    #[must_use]
    pub fn bound(&self) -> u64 {
        let mut settled = self.clone();
        settled.settle();
        settled.bound
    }

    /// Numbers of the rows in a sample with this bound, ascending.
    ///
    /// # Errors
    ///
    /// [`RankError::Interrupted`].
    pub fn rows(
        columns: &Columns<'_>,
        bound: u64,
        interrupt: &Interrupt,
    ) -> Result<Vec<u32>, RankError> {
        let hashes = columns.hashes(interrupt)?;
        let rows = (0..).zip(hashes).filter(|&(_, &hash)| seeded(hash, SEED) <= bound);
        Ok(rows.map(|(row, _)| row).collect())
    }

    /// Drops copies, and the rows beyond the least.
    fn settle(&mut self) {
        self.hashes.sort_unstable();
        self.hashes.dedup();
        self.hashes.truncate(self.most.get());
        if self.hashes.len() == self.most.get() {
            self.bound = self.hashes[self.most.get() - 1];
        }
    }
}

impl Mergeable for RowSample {
    fn merge(&mut self, more: Self) -> Result<(), RankError> {
        self.hashes.extend(more.hashes);
        self.settle();
        Ok(())
    }

    fn put_words(&mut self, words: &mut Vec<u64>) {
        self.settle();
        put_list(words, self.hashes.iter().copied());
    }

    fn take_words(&mut self, reader: &mut WordReader<'_>) -> Result<(), RankError> {
        *self = Self { hashes: reader.list()?.to_vec(), ..Self::new(self.most) };
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part(values: &[f64], weights: Option<&[f64]>, most: usize) -> RowSample {
        let mut sample = RowSample::new(NonZeroUsize::new(most).unwrap());
        let columns = Columns::from_row_major(values, 1).unwrap();
        sample.add(&columns, weights, &Interrupt::default()).unwrap();
        sample
    }

    fn rows(values: &[f64], bound: u64) -> Vec<f64> {
        let columns = Columns::from_row_major(values, 1).unwrap();
        let rows = RowSample::rows(&columns, bound, &Interrupt::default()).unwrap();
        rows.into_iter().map(|row| values[row as usize]).collect()
    }

    #[test]
    fn the_sample_has_the_requested_distinct_rows_with_all_copies_from_any_parts() {
        let values: Vec<f64> = (0..5000).map(|row| f64::from(row % 1700)).collect();
        for most in [1, 40, 1699] {
            let bound = part(&values, None, most).bound();
            let taken = rows(&values, bound);
            let mut distinct: Vec<u64> = taken.iter().map(|value| value.to_bits()).collect();
            distinct.sort_unstable();
            distinct.dedup();
            assert_eq!(distinct.len(), most);
            let n_copies = values.iter().filter(|value| distinct.contains(&value.to_bits()));
            assert_eq!(taken.len(), n_copies.count());
            for size in [1, 33, 4999] {
                let mut whole = part(&[], None, most);
                for values in values.rchunks(size) {
                    whole.merge_bytes(&part(values, None, most).to_bytes()).unwrap();
                }
                assert_eq!(whole.bound(), bound);
            }
        }
        // At least as many as there are: all of them.
        for most in [1700, 2500, 6000] {
            assert_eq!(rows(&values, part(&values, None, most).bound()), values);
        }
    }

    #[test]
    fn rows_of_weight_zero_are_not_sampled() {
        let values: Vec<f64> = (0..1000).map(f64::from).collect();
        let weights: Vec<f64> = (0..1000).map(|row| f64::from(row % 3)).collect();
        let weighing: Vec<f64> = values.iter().copied().filter(|value| value % 3.0 > 0.0).collect();
        let bound = part(&values, Some(&weights), 50).bound();
        assert_eq!(bound, part(&weighing, None, 50).bound());
        assert_eq!(rows(&weighing, bound).len(), 50);
    }

    #[test]
    fn mismatched_inputs_raise_errors() {
        let mut sample = RowSample::new(NonZeroUsize::MIN);
        let columns = Columns::from_row_major(&[1.0, 2.0], 1).unwrap();
        let err = sample.add(&columns, Some(&[1.0]), &Interrupt::default()).unwrap_err();
        let expected = RankError::LengthMismatch { name: "sample_weight", found: 1, expected: 2 };
        assert_eq!(err, expected);
        assert!(matches!(sample.merge_bytes(b"other"), Err(RankError::BadAnswer(_))));
    }
}
