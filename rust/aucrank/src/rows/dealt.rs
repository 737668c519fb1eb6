//! Folds of rows at hand, as all rows are dealt, and digests of rows.

use super::Rows;
use super::fit_id::FitId;
use crate::data::{Batch, DealtRow, Folds, combine, mix, number_word};
use crate::{Interrupt, RankError};

/// The folds of some rows, such as those of a [sample](super::RowSample), as [`Folds::deal`] deals
/// all rows in memory.
///
/// `fit_number` distinguishes the fit from others that query the rows at the same time. There, rows
/// of weight zero are in no fold; here they have one.
///
/// # Errors
///
/// [`RankError`] for columns of other kinds or for another number of classes, and errors of the
/// holder of the rows.
///
/// # Examples
///
/// ```
/// use aucrank::Interrupt;
/// use aucrank::data::{Batch, BinningParams, Columns, Folds, Labels};
/// use aucrank::rows::{StoredRows, Survey, deal_among};
///
/// let values: Vec<f64> = (0..100).map(f64::from).collect();
/// let positive: Vec<bool> = (0..100).map(|row| row % 3 == 0).collect();
/// let (columns, interrupt) = (Columns::from_row_major(&values, 1)?, Interrupt::default());
/// let mut survey = Survey::new(&[None], BinningParams::default(), None)?;
/// survey.add(&Batch::new(&columns, &positive), &interrupt)?;
/// let mut rows = StoredRows::new(survey.frame()?, None)?;
/// rows.add(&Batch::new(&columns, &positive), &interrupt)?;
/// rows.finish()?;
///
/// let all = Folds::deal(&columns, &Labels::new(&positive, None)?, 5, 7, &interrupt)?;
/// let first = Columns::from_row_major(&values[..10], 1)?;
/// let found = deal_among(&rows, 0, &Batch::new(&first, &positive[..10]), 5, 7, &interrupt)?;
/// assert_eq!(found.of_row, all.of_row[..10]);
/// # Ok::<(), aucrank::RankError>(())
/// ```
pub fn deal_among(
    rows: &dyn Rows,
    fit_number: u64,
    batch: &Batch<'_>,
    n_folds: u16,
    seed: u64,
    interrupt: &Interrupt,
) -> Result<Folds, RankError> {
    batch.check(&rows.frame().n_levels())?;
    let positive = batch.positive();
    let order = FitId::new(fit_number).order(rows, seed, interrupt)?;
    let folds = order.folds(n_folds);
    let hashes = batch.columns().hashes(interrupt)?;
    let blocks = batch.places(rows.frame().blocks.as_deref())?;
    let of_row = (0..positive.len()).map(|row| {
        let block = blocks.get(row).copied().unwrap_or(0);
        folds.fold(DealtRow { positive: positive[row], hash: hashes[row], block })
    });
    Ok(Folds { of_row: of_row.collect(), n_folds: folds.n_folds() })
}

/// Digest of the content of rows, added column by column. It does not depend on their order.
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
    /// Digest of `n_rows` rows without columns.
    #[must_use]
    pub fn new(n_rows: usize) -> Self {
        Self(vec![mix(0); n_rows])
    }

    /// Adds a column of numbers. Equal numbers have equal digests, and so have all NaN.
    ///
    /// # Errors
    ///
    /// [`RankError::LengthMismatch`].
    pub fn add_numbers(&mut self, column: &[f64]) -> Result<(), RankError> {
        self.add(column.len(), column.iter().map(|&value| number_word(value)))
    }

    /// Adds a column with a distinct word for each value.
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

    /// The sum over all rows.
    #[must_use]
    pub fn sum(&self) -> u64 {
        self.0.iter().fold(0, |sum, &hash| sum.wrapping_add(mix(hash)))
    }
}
