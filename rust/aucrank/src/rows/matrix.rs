//! Coded rows in memory as the columns of any learner that reads its features through bins.

use std::sync::{Arc, OnceLock};

use super::Rows;
use super::coded::CodedRows;
use super::frame::RowFrame;
use super::stored::StoredRows;
use crate::RankError;
use crate::data::{
    Binned, CodeSlice, Column, Columns, FeatureBins, FixedWeights, LabelBlocks, Labels,
    MISSING_CODE, Numbers,
};

/// Coded rows in memory, one byte per value for most features. A learner that reads numbers only
/// through the bins of a fit gets the same result as from raw columns, since the columns know their
/// cuts.
///
/// # Examples
///
/// ```
/// use aucrank::Interrupt;
/// use aucrank::boost::{FitExtras, RankBoostParams, RoundParams, fit_rank_boost};
/// use aucrank::data::{Batch, BinningParams, Columns, Labels};
/// use aucrank::rows::{CodedMatrix, StoredRows, Survey};
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
/// let matrix = CodedMatrix::of(&rows)?;
/// let params = RankBoostParams { rounds: RoundParams::default(), ..RankBoostParams::default() };
/// let fit = |columns: &Columns<'_>, labels: &Labels<'_>| {
///     fit_rank_boost((columns, labels), &params, &FitExtras::default(), &interrupt)
/// };
/// let in_memory = fit(&columns, &Labels::new(&positive, None)?)?;
/// assert_eq!(fit(&matrix.columns()?, &matrix.labels()?)?, in_memory);
/// # Ok::<(), aucrank::RankError>(())
/// ```
#[derive(Debug)]
pub struct CodedMatrix {
    frame: RowFrame,
    binned: Binned,
    positive: Vec<bool>,
    weights: Option<FixedWeights>,
    blocks: Option<Arc<LabelBlocks>>,
    /// Hash of the content of each row; shared with its columns.
    hashes: Arc<OnceLock<Vec<u64>>>,
    /// For each feature a number in each bin, NaN for the missing one; empty for categories.
    numbers: Vec<Vec<f64>>,
    /// The categories of each row; empty for numbers.
    levels: Vec<Vec<u32>>,
}

impl CodedMatrix {
    /// Matrix of all rows of some parts.
    ///
    /// # Errors
    ///
    /// [`RankError::Storage`] if their file cannot be read; [`RankError::BadParameter`] if there
    /// are 2^32 rows or more.
    pub fn of(rows: &StoredRows) -> Result<Self, RankError> {
        Ok(Self::of_coded(rows.frame().clone(), rows.gathered()?))
    }

    /// Matrix of coded rows.
    pub(super) fn of_coded(frame: RowFrame, mut all: CodedRows) -> Self {
        let of_row = all.take_blocks();
        let blocks = frame
            .blocks
            .as_ref()
            .map(|table| LabelBlocks::of_places(table.as_ref().clone(), of_row));
        let CodedRows { binned, positive, units, hashes, .. } = all;
        let number = |bins: &FeatureBins| match bins {
            FeatureBins::Numeric { cuts } => numbers_of_bins(cuts),
            FeatureBins::Categorical { .. } => Vec::new(),
        };
        let level = |(feature, bins): (usize, &FeatureBins)| match bins {
            FeatureBins::Numeric { .. } => Vec::new(),
            FeatureBins::Categorical { n_levels, .. } => {
                let code = |row| binned.code(row, feature);
                let level = |code| if code == *n_levels { MISSING_CODE } else { code };
                (0..binned.n_rows()).map(code).map(level).collect()
            }
        };
        Self {
            numbers: frame.features.iter().map(number).collect(),
            levels: frame.features.iter().enumerate().map(level).collect(),
            weights: frame.scale.map(|scale| FixedWeights::of_units(units, scale)),
            blocks: blocks.map(Arc::new),
            frame,
            binned,
            positive,
            hashes: Arc::new(OnceLock::from(hashes)),
        }
    }

    /// The features. Each number is replaced by that of its bin, which falls into the same bin.
    ///
    /// # Errors
    ///
    /// [`RankError::BadParameter`] if there are 2^32 rows or more.
    pub fn columns(&self) -> Result<Columns<'_>, RankError> {
        let column = |feature: usize| match &self.frame.features[feature] {
            FeatureBins::Numeric { cuts } => {
                let codes: CodeSlice<'_> = self.binned.codes(feature);
                Numbers::of_codes(&self.numbers[feature], codes, cuts).into()
            }
            FeatureBins::Categorical { n_levels, .. } => {
                Column::Codes { codes: &self.levels[feature], n_levels: *n_levels }
            }
        };
        let columns = (0..self.frame.features.len()).map(column).collect();
        Ok(Columns::new(columns, self.binned.n_rows())?.with_hashes(&self.hashes))
    }

    /// The classes and weights of the rows.
    ///
    /// # Errors
    ///
    /// [`RankError`] for a class without weight.
    pub fn labels(&self) -> Result<Labels<'_>, RankError> {
        let labels = Labels::of_fixed(&self.positive, self.weights.clone())?;
        Ok(match &self.blocks {
            None => labels,
            Some(blocks) => labels.dealt_by(Arc::clone(blocks)),
        })
    }
}

/// A number in each bin between cuts, then one for the missing value.
pub(super) fn numbers_of_bins(cuts: &[f64]) -> Vec<f64> {
    // A number equal to a cut lies above it.
    let first = cuts.first().map_or(0.0, |cut| cut.next_down());
    std::iter::once(first).chain(cuts.iter().copied()).chain([f64::NAN]).collect()
}
