//! Columns of the rates of categories, or of their numbers of rows, as codes.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::coded::CodedRows;
use super::fold_steps::{FoldSteps, all_codes, of_other_rows};
use super::view::View;
use crate::RankError;
use crate::data::{FoldRates, LevelSteps, MISSING_CODE, RowFolds};

/// A column of rates: the step of each category.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct RateCodes {
    feature: usize,
    /// Cuts of the steps, in the numbers that a fit has for them.
    pub(crate) cuts: Vec<f64>,
    of_levels: FoldSteps,
}

impl RateCodes {
    /// The column of a feature, given its rates in some folds and the cuts of the steps.
    pub(super) fn new(
        feature: usize,
        folds: Arc<RowFolds>,
        rates: &FoldRates,
        steps: &LevelSteps,
        cuts: Vec<f64>,
    ) -> Self {
        let step = |level, fold| match fold {
            Some(fold) => steps.outside(rates, level, fold) as u8,
            None => steps.of_level(level) as u8,
        };
        let of_missing = steps.of_level(MISSING_CODE) as u8;
        let of_levels = FoldSteps::new(folds, rates.n_levels(), step, of_missing);
        Self { feature, cuts, of_levels }
    }

    /// The codes of some rows; rows of the view that is learned from have the steps of their folds.
    ///
    /// # Errors
    ///
    /// [`RankError::BadAnswer`] for a column of other rows.
    pub(crate) fn columns(
        all: &[Self],
        rows: &CodedRows,
        learned: &View,
    ) -> Result<Vec<Vec<u8>>, RankError> {
        all_codes(all, rows, learned, |rates, is_learned| {
            let held = rows.binned.features().get(rates.feature).ok_or_else(of_other_rows)?;
            let n_levels = held.n_bins();
            let level = |row| Some(rows.binned.code(row, rates.feature) as usize);
            let level = |row| level(row).filter(|&level| level < n_levels);
            rates.of_levels.codes(rows, is_learned, (n_levels, rates.cuts.len()), level)
        })
    }
}
