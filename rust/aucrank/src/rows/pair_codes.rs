//! Columns of the rates of pairs of categories as codes.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::coded::CodedRows;
use super::fold_steps::{FoldSteps, all_codes, of_other_rows};
use super::pair_rates::{ascending, differences, pair_of_row};
use super::view::View;
use crate::RankError;
use crate::data::RowFolds;

/// A column of the rates of pairs of two features: the step of each pair.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct PairCodes {
    features: [usize; 2],
    /// Cuts of the steps.
    pub(crate) cuts: Vec<f64>,
    /// Differences of the numbers of the pairs, which ascend.
    pairs: Vec<u64>,
    of_pairs: FoldSteps,
}

impl PairCodes {
    /// The column of two features, given the numbers of their pairs and the step of each pair, by
    /// its place, in a fold or outside of all.
    pub(crate) fn new(
        features: [usize; 2],
        cuts: Vec<f64>,
        folds: Arc<RowFolds>,
        pairs: &[u64],
        step: impl Fn(u32, Option<u16>) -> u8,
        of_others: u8,
    ) -> Self {
        let of_pairs = FoldSteps::new(folds, pairs.len() as u32, step, of_others);
        Self { features, cuts, pairs: differences(pairs), of_pairs }
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
        all_codes(all, rows, learned, |pairs, is_learned| {
            let numbers = ascending(&pairs.pairs)?;
            let pair = pair_of_row(rows, pairs.features).ok_or_else(of_other_rows)?;
            let place = |row| numbers.binary_search(&pair(row)?).ok();
            let of_all = (numbers.len(), pairs.cuts.len());
            pairs.of_pairs.codes(rows, is_learned, of_all, place)
        })
    }
}
