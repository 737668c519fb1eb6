//! The folds of some rows that are at hand, as all rows are dealt.

use super::Rows;
use super::fit_id::Fit;
use crate::data::{Columns, Folds};
use crate::{Interrupt, RankError};

/// The folds of some rows, such as those of a [sample](super::RowSample), as [`Folds::deal`] deals all
/// rows in memory.
///
/// `fit_number` tells the fit from others that ask the rows at the same time. Rows of weight zero are in
/// no fold there, and have one here.
///
/// # Errors
///
/// [`RankError`] for columns of other kinds or for another number of classes. What the holder of the rows
/// runs into.
///
/// # Examples
///
/// ```
/// use aucrank::Interrupt;
/// use aucrank::data::{BinningParams, Columns, Folds, Labels};
/// use aucrank::rows::{StoredRows, Survey, deal_among};
///
/// let values: Vec<f64> = (0..100).map(f64::from).collect();
/// let positive: Vec<bool> = (0..100).map(|row| row % 3 == 0).collect();
/// let (columns, interrupt) = (Columns::from_row_major(&values, 1)?, Interrupt::default());
/// let mut survey = Survey::new(&[None], BinningParams::default(), None)?;
/// survey.add(&columns, &positive, None, &interrupt)?;
/// let mut rows = StoredRows::new(survey.frame()?, None)?;
/// rows.add(&columns, &positive, None, &interrupt)?;
/// rows.finish()?;
///
/// let all = Folds::deal(&columns, &Labels::new(&positive, None)?, 5, 7, &interrupt)?;
/// let first = Columns::from_row_major(&values[..10], 1)?;
/// let found = deal_among(&rows, 0, (&first, &positive[..10]), 5, 7, &interrupt)?;
/// assert_eq!(found.of_row, all.of_row[..10]);
/// # Ok::<(), aucrank::RankError>(())
/// ```
pub fn deal_among(
    rows: &dyn Rows,
    fit_number: u64,
    (columns, positive): (&Columns<'_>, &[bool]),
    n_folds: u16,
    seed: u64,
    interrupt: &Interrupt,
) -> Result<Folds, RankError> {
    columns.check_kinds(&rows.frame().n_levels())?;
    let (expected, found) = (columns.n_rows(), positive.len());
    if found != expected {
        return Err(RankError::LengthMismatch { name: "y", found, expected });
    }
    let order = Fit::new(fit_number).order(rows, seed, interrupt)?;
    let n_folds = order.n_folds(n_folds);
    let hashes = columns.hashes(interrupt)?;
    let of_row = positive.iter().zip(hashes);
    let of_row = of_row.map(|(&positive, &hash)| order.fold(positive, hash, n_folds)).collect();
    Ok(Folds { of_row, n_folds })
}
