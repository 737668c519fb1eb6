//! Sums over some rows, merged with those over others: the one form of all that is gathered.

use std::fmt::Debug;

use super::words;
use super::words::WordReader;
use crate::RankError;

/// Sums over some rows, to be merged with those over others of the same parameters.
///
/// Merging is exact, so that the result is the same in any order and any grouping.
///
/// # Examples
///
/// Sums of two holders, one of which is far away:
///
/// ```
/// use std::num::NonZeroUsize;
///
/// use aucrank::data::Columns;
/// use aucrank::rows::{Mergeable, RowSample};
/// use aucrank::{Interrupt, RankError};
///
/// let part = |values: &[f64]| {
///     let mut sample = RowSample::new(NonZeroUsize::new(2).unwrap());
///     sample.add(&Columns::from_row_major(values, 1)?, None, &Interrupt::default())?;
///     Ok::<_, RankError>(sample)
/// };
/// let mut here = part(&[3.0, 1.0])?;
/// here.merge_bytes(&part(&[4.0, 1.0])?.to_bytes())?;
/// assert_eq!(here.bound(), part(&[3.0, 1.0, 4.0])?.bound());
/// # Ok::<(), RankError>(())
/// ```
pub trait Mergeable: Debug + Clone + Send + 'static {
    /// Adds the sums over other rows.
    ///
    /// # Errors
    ///
    /// [`RankError::BadAnswer`] if they are of other parameters.
    fn merge(&mut self, more: Self) -> Result<(), RankError>;

    /// Appends the sums; they may be put in order for it.
    fn put_words(&mut self, words: &mut Vec<u64>);

    /// Replaces the sums by those written by [`Mergeable::put_words`].
    ///
    /// # Errors
    ///
    /// [`RankError::BadAnswer`] for other words; the sums are then invalid.
    fn take_words(&mut self, reader: &mut WordReader<'_>) -> Result<(), RankError>;

    /// Adds the sums written by [`Mergeable::put_words`].
    ///
    /// # Errors
    ///
    /// [`RankError::BadAnswer`] for other words; the sums are then invalid.
    fn merge_words(&mut self, reader: &mut WordReader<'_>) -> Result<(), RankError> {
        let mut more = self.clone();
        more.take_words(reader)?;
        self.merge(more)
    }

    /// The sums as bytes, to be merged elsewhere.
    #[must_use]
    fn to_bytes(&mut self) -> Vec<u8> {
        let mut words = Vec::new();
        self.put_words(&mut words);
        words::to_bytes(&words)
    }

    /// Adds the sums over other rows, written by [`Mergeable::to_bytes`].
    ///
    /// # Errors
    ///
    /// [`RankError::BadAnswer`] for other bytes; the sums are then invalid.
    fn merge_bytes(&mut self, bytes: &[u8]) -> Result<(), RankError> {
        let words = words::from_bytes(bytes)?;
        let mut reader = WordReader::new(&words);
        self.merge_words(&mut reader)?;
        reader.end()
    }
}
