//! Columns of the rates of pairs of categories as codes: the step of each pair, in each fold and
//! outside of them.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::coded::CodedRows;
use super::pair_rates::{ascending, differences, pair_of_row};
use super::rate_codes::{MOST_CODES, hexadecimal, learned_rows};
use super::view::View;
use crate::RankError;
use crate::data::RowFolds;

/// A column of the rates of pairs of two features: the step of each pair.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct PairCodes {
    features: [usize; 2],
    /// Cuts of the steps.
    pub(crate) cuts: Vec<f64>,
    /// The folds of the rows that are learned from.
    folds: Arc<RowFolds>,
    /// Differences of the numbers of the pairs, which ascend.
    pairs: Vec<u64>,
    /// For each pair the step for the rows of each fold, then for rows that are not learned from.
    #[serde(with = "hexadecimal")]
    steps: Vec<u8>,
    /// The step of all others.
    of_others: u8,
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
        let n_folds = folds.n_folds();
        let places = 0..pairs.len() as u32;
        let of_pair = |pair| (0..n_folds).map(Some).chain([None]).map(move |fold| (pair, fold));
        let steps = places.flat_map(of_pair).map(|(pair, fold)| step(pair, fold)).collect();
        Self { features, cuts, folds, pairs: differences(pairs), steps, of_others }
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
        if all.is_empty() {
            return Ok(Vec::new());
        }
        let is_learned = learned_rows(rows, learned)?;
        all.iter().map(|pairs| pairs.column(rows, &is_learned)).collect()
    }

    fn column(&self, rows: &CodedRows, is_learned: &[bool]) -> Result<Vec<u8>, RankError> {
        let n_folds = usize::from(self.folds.n_folds());
        let (numbers, n_steps) = (ascending(&self.pairs)?, self.cuts.len());
        if self.steps.len() != numbers.len() * (n_folds + 1) || n_steps + 1 >= MOST_CODES {
            return Err(bad());
        }
        if self.steps.iter().chain([&self.of_others]).any(|&step| usize::from(step) > n_steps) {
            return Err(bad());
        }
        let pair = pair_of_row(rows, self.features).ok_or_else(bad)?;
        let code = |(row, &is_learned): (usize, &bool)| {
            let place = pair(row).and_then(|number| numbers.binary_search(&number).ok());
            let Some(place) = place else { return self.of_others };
            let fold =
                if is_learned { usize::from(self.folds.fold(rows.dealt(row))) } else { n_folds };
            self.steps[place * (n_folds + 1) + fold]
        };
        Ok(is_learned.iter().enumerate().map(code).collect())
    }
}

fn bad() -> RankError {
    RankError::BadAnswer("a column of pairs is of other rows".to_owned())
}
