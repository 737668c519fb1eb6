//! A digest of rows, by which a partition that is computed anew is known to be the same.

use crate::RankError;
use crate::data::{combine, mix, number_word};

/// Sums up the content of rows that come column by column. Rows in another order have the same sum.
///
/// # Examples
///
/// ```
/// use aucrank::rows::RowDigest;
///
/// let sum_of = |x: &[f64], color: &[u64]| {
///     let mut digest = RowDigest::new(x.len());
///     digest.add_numbers(x)?;
///     digest.add_words(color)?;
///     Ok::<_, aucrank::RankError>(digest.sum())
/// };
/// let sum = sum_of(&[0.5, 1.5], &[7, 9])?;
/// assert_eq!(sum, sum_of(&[1.5, 0.5], &[9, 7])?);
/// assert_ne!(sum, sum_of(&[1.5, 0.5], &[7, 9])?);
/// # Ok::<(), aucrank::RankError>(())
/// ```
#[derive(Debug, Clone)]
pub struct RowDigest(Vec<u64>);

impl RowDigest {
    /// So many rows without columns.
    #[must_use]
    pub fn new(n_rows: usize) -> Self {
        Self(vec![mix(0); n_rows])
    }

    /// Adds a column of numbers. Those that are equal count alike, and so do all NaN.
    ///
    /// # Errors
    ///
    /// [`RankError::LengthMismatch`].
    pub fn add_numbers(&mut self, column: &[f64]) -> Result<(), RankError> {
        self.add(column.len(), column.iter().map(|&value| number_word(value)))
    }

    /// Adds a column of which each value has a word of its own.
    ///
    /// # Errors
    ///
    /// [`RankError::LengthMismatch`].
    pub fn add_words(&mut self, column: &[u64]) -> Result<(), RankError> {
        self.add(column.len(), column.iter().copied())
    }

    fn add(&mut self, n_rows: usize, words: impl Iterator<Item = u64>) -> Result<(), RankError> {
        if n_rows != self.0.len() {
            return Err(RankError::LengthMismatch {
                name: "column",
                found: n_rows,
                expected: self.0.len(),
            });
        }
        self.0.iter_mut().zip(words).for_each(|(hash, word)| *hash = combine(*hash, word));
        Ok(())
    }

    /// The sum of all rows.
    #[must_use]
    pub fn sum(&self) -> u64 {
        self.0.iter().fold(0, |sum, &hash| sum.wrapping_add(mix(hash)))
    }
}
