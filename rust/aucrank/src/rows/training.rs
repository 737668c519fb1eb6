//! The rows of a fit, wherever they are.

use super::Rows;
use crate::RankError;
use crate::data::{Columns, Labels};

/// The rows to which a model is fitted: in memory, or elsewhere. The model is the same, bit for
/// bit.
///
/// Fits take what converts to it: `(&columns, &labels)`, or `(&rows, fit_number)` for [`Rows`] that
/// answer questions. The number distinguishes the fit from others that query the same rows at the
/// same time.
///
/// # Examples
///
/// ```
/// use aucrank::Interrupt;
/// use aucrank::boost::{FitExtras, RankBoostParams, fit_rank_boost};
/// use aucrank::data::{Batch, BinningParams, Columns, Labels};
/// use aucrank::rows::{StoredRows, Survey};
///
/// let (values, positive) = ([1.0, 2.0, 3.0, 4.0], [false, true, false, true]);
/// let columns = Columns::from_row_major(&values, 1)?;
/// let interrupt = Interrupt::default();
/// let mut survey = Survey::new(&[None], BinningParams::default(), None)?;
/// survey.add(&Batch::new(&columns, &positive), &interrupt)?;
/// let mut rows = StoredRows::new(survey.frame()?, None)?;
/// rows.add(&Batch::new(&columns, &positive), &interrupt)?;
/// rows.finish()?;
///
/// let (params, extras) = (RankBoostParams::default(), FitExtras::default());
/// let labels = Labels::new(&positive, None)?;
/// let in_memory = fit_rank_boost((&columns, &labels), &params, &extras, &interrupt)?;
/// assert_eq!(fit_rank_boost((&rows, 0), &params, &extras, &interrupt)?, in_memory);
/// # Ok::<(), aucrank::RankError>(())
/// ```
#[derive(Clone, Copy)]
pub enum TrainingRows<'a, E = NumberedRows<'a>> {
    /// All rows in memory.
    Memory(&'a Columns<'a>, &'a Labels<'a>),
    /// Rows elsewhere.
    Elsewhere(E),
}

/// Rows elsewhere, as a fit queries them.
///
/// For an example see [`TrainingRows`].
#[derive(Clone, Copy)]
pub struct NumberedRows<'a> {
    /// The rows.
    pub rows: &'a dyn Rows,
    /// Number of the fit, among those that query the same rows at the same time.
    pub fit_number: u64,
}

impl<'a, E> From<(&'a Columns<'_>, &'a Labels<'_>)> for TrainingRows<'a, E> {
    fn from((columns, labels): (&'a Columns<'_>, &'a Labels<'_>)) -> Self {
        Self::Memory(columns, labels)
    }
}

impl<'a, R: Rows> From<(&'a R, u64)> for TrainingRows<'a> {
    fn from((rows, fit_number): (&'a R, u64)) -> Self {
        Self::Elsewhere(NumberedRows { rows, fit_number })
    }
}

impl<'a> From<(&'a dyn Rows, u64)> for TrainingRows<'a> {
    fn from((rows, fit_number): (&'a dyn Rows, u64)) -> Self {
        Self::Elsewhere(NumberedRows { rows, fit_number })
    }
}

/// Checks inputs of a fit that need its rows in memory, each with whether it is given: of rows
/// elsewhere none is.
pub(crate) fn check_elsewhere(inputs: &[(&'static str, bool)]) -> Result<(), RankError> {
    let rule = "left out where rows are read in parts";
    match inputs.iter().find(|(_, is_given)| *is_given) {
        Some(&(name, _)) => Err(RankError::BadParameter { name, value: "given".to_owned(), rule }),
        None => Ok(()),
    }
}
