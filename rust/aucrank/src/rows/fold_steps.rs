//! The steps of rates, as codes of rows: for each category, or pair of categories, one in each fold
//! and one outside of them.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::coded::CodedRows;
use super::view::View;
use crate::RankError;
use crate::data::RowFolds;

/// Number of codes of a column of rates: they are bytes.
const MOST_CODES: usize = 256;

/// Steps of rates that are learned in folds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct FoldSteps {
    /// The folds of the rows that are learned from.
    folds: Arc<RowFolds>,
    /// For each place the step for the rows of each fold, then for rows that are not learned from.
    #[serde(with = "hexadecimal")]
    steps: Vec<u8>,
    /// The step of rows without a place.
    of_others: u8,
}

impl FoldSteps {
    /// The steps of `n_places` categories, or pairs, each by its place, in a fold or outside of all.
    pub(super) fn new(
        folds: Arc<RowFolds>,
        n_places: u32,
        step: impl Fn(u32, Option<u16>) -> u8,
        of_others: u8,
    ) -> Self {
        let n_folds = folds.n_folds();
        let of_place = |place| (0..n_folds).map(Some).chain([None]).map(move |fold| (place, fold));
        let steps = (0..n_places).flat_map(of_place).map(|(place, fold)| step(place, fold));
        Self { steps: steps.collect(), folds, of_others }
    }

    /// The code of each row by its place, if it has one; those that are learned from have the steps
    /// of their folds.
    ///
    /// # Errors
    ///
    /// [`RankError::BadAnswer`] for other places or more steps.
    pub(super) fn codes(
        &self,
        rows: &CodedRows,
        is_learned: &[bool],
        (n_places, n_steps): (usize, usize),
        place_of: impl Fn(usize) -> Option<usize>,
    ) -> Result<Vec<u8>, RankError> {
        let n_folds = usize::from(self.folds.n_folds());
        let all = self.steps.iter().chain([&self.of_others]);
        let is_beyond = |&step: &u8| usize::from(step) > n_steps;
        if self.steps.len() != n_places * (n_folds + 1)
            || n_steps + 1 >= MOST_CODES
            || all.into_iter().any(is_beyond)
        {
            return Err(of_other_rows());
        }
        let code = |(row, &is_learned): (usize, &bool)| {
            let Some(place) = place_of(row) else { return self.of_others };
            let fold =
                if is_learned { usize::from(self.folds.fold(rows.dealt(row))) } else { n_folds };
            self.steps[place * (n_folds + 1) + fold]
        };
        Ok(is_learned.iter().enumerate().map(code).collect())
    }
}

/// The codes of some columns, given those of one by whether each row is learned from.
///
/// # Errors
///
/// [`RankError::BadAnswer`] if the hashes of the rows were not read; errors of a column.
pub(super) fn all_codes<C>(
    columns: &[C],
    rows: &CodedRows,
    learned: &View,
    codes: impl Fn(&C, &[bool]) -> Result<Vec<u8>, RankError>,
) -> Result<Vec<Vec<u8>>, RankError> {
    if columns.is_empty() {
        return Ok(Vec::new());
    }
    let is_learned = learned_rows(rows, learned)?;
    columns.iter().map(|column| codes(column, &is_learned)).collect()
}

/// Whether each of some rows is learned from.
fn learned_rows(rows: &CodedRows, learned: &View) -> Result<Vec<bool>, RankError> {
    if rows.hashes.len() != rows.n_rows() {
        return Err(of_other_rows());
    }
    let mut is_learned = vec![false; rows.n_rows()];
    for row in rows.of_view(learned) {
        is_learned[row as usize] = true;
    }
    Ok(is_learned)
}

/// The error for a column that does not suit the rows.
pub(super) fn of_other_rows() -> RankError {
    RankError::BadAnswer("a column of rates is of other rows".to_owned())
}

/// Bytes as two hexadecimal digits each: there may be six for each of many categories.
mod hexadecimal {
    use serde::de::{Deserialize, Deserializer, Error};
    use serde::ser::Serializer;

    pub(super) fn serialize<S: Serializer>(bytes: &[u8], serializer: S) -> Result<S::Ok, S::Error> {
        let digit = |value: u8| char::from_digit(value.into(), 16).expect("below 16");
        let text: String =
            bytes.iter().flat_map(|byte| [byte >> 4, byte & 15]).map(digit).collect();
        serializer.serialize_str(&text)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Vec<u8>, D::Error> {
        let text = String::deserialize(deserializer)?;
        let digit = |byte: u8| char::from(byte).to_digit(16).map(|value| value as u8);
        let (pairs, rest) = text.as_bytes().as_chunks();
        let byte = |&[high, low]: &[u8; 2]| Some(digit(high)? << 4 | digit(low)?);
        let bytes: Option<Vec<u8>> = pairs.iter().map(byte).collect();
        bytes
            .filter(|_| rest.is_empty())
            .ok_or_else(|| D::Error::custom("two hexadecimal digits are a byte"))
    }
}
