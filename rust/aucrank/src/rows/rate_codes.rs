//! Columns of rates as codes: the step of each category, in each fold and outside of them.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::coded::CodedRows;
use super::view::View;
use crate::RankError;
use crate::data::{FoldRates, MISSING_CODE, RateSteps, RowFolds};

/// Number of codes of a column of rates: they are bytes.
pub(super) const MOST_CODES: usize = 256;

/// A column of rates: the step of each category.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct RateCodes {
    feature: usize,
    /// Cuts of the steps, in the numbers that a fit has for them.
    pub(crate) cuts: Vec<f64>,
    /// The folds of the rows that are learned from.
    folds: Arc<RowFolds>,
    /// For each category the step for the rows of each fold, then for rows that are not learned
    /// from.
    #[serde(with = "hexadecimal")]
    steps: Vec<u8>,
    /// The step of a missing value.
    of_missing: u8,
}

impl RateCodes {
    /// The column of a feature, given its rates in some folds and the cuts of their steps.
    pub(super) fn new(
        feature: usize,
        folds: Arc<RowFolds>,
        rates: &FoldRates,
        steps: &RateSteps,
        cuts: Vec<f64>,
    ) -> Self {
        let n_folds = folds.n_folds();
        let of_level = |level: u32| {
            let in_folds = (0..n_folds).map(move |fold| steps.step(rates.outside(level, fold)));
            in_folds.chain([steps.of_level(level)]).map(|step| step as u8)
        };
        Self {
            feature,
            cuts,
            folds,
            steps: (0..rates.n_levels()).flat_map(of_level).collect(),
            of_missing: steps.of_level(MISSING_CODE) as u8,
        }
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
        all.iter().map(|rates| rates.column(rows, &is_learned)).collect()
    }

    fn column(&self, rows: &CodedRows, is_learned: &[bool]) -> Result<Vec<u8>, RankError> {
        let n_folds = usize::from(self.folds.n_folds());
        let held = rows.binned.features().get(self.feature).ok_or_else(bad)?;
        if self.steps.len() != held.n_bins() * (n_folds + 1) || self.cuts.len() + 1 >= MOST_CODES {
            return Err(bad());
        }
        let n_steps = self.cuts.len() as u8;
        if self.steps.iter().chain([&self.of_missing]).any(|&step| step > n_steps) {
            return Err(bad());
        }
        let code = |(row, &is_learned): (usize, &bool)| {
            let level = rows.binned.code(row, self.feature) as usize;
            if level >= held.n_bins() {
                return self.of_missing;
            }
            let fold =
                if is_learned { usize::from(self.folds.fold(rows.dealt(row))) } else { n_folds };
            self.steps[level * (n_folds + 1) + fold]
        };
        Ok(is_learned.iter().enumerate().map(code).collect())
    }
}

/// Whether each of some rows is learned from.
///
/// # Errors
///
/// [`RankError::BadAnswer`] if their hashes were not read.
pub(super) fn learned_rows(rows: &CodedRows, learned: &View) -> Result<Vec<bool>, RankError> {
    if rows.hashes.len() != rows.n_rows() {
        return Err(bad());
    }
    let mut is_learned = vec![false; rows.n_rows()];
    for row in rows.of_view(learned) {
        is_learned[row as usize] = true;
    }
    Ok(is_learned)
}

fn bad() -> RankError {
    RankError::BadAnswer("a column of rates is of other rows".to_owned())
}

/// Bytes as two hexadecimal digits each: there may be six for each of many categories.
pub(super) mod hexadecimal {
    use serde::de::{Deserialize, Deserializer, Error};
    use serde::ser::Serializer;

    pub(in crate::rows) fn serialize<S: Serializer>(
        bytes: &[u8],
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        let digit = |value: u8| char::from_digit(value.into(), 16).expect("below 16");
        let text: String =
            bytes.iter().flat_map(|byte| [byte >> 4, byte & 15]).map(digit).collect();
        serializer.serialize_str(&text)
    }

    pub(in crate::rows) fn deserialize<'de, D: Deserializer<'de>>(
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
