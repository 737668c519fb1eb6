//! Columns of rates of rows elsewhere: the step of each category, as each fold of the rows sees it in the
//! others.

use std::sync::Arc;

#[cfg(feature = "serde")]
use serde::{Deserialize, Serialize};

use super::coded::CodedRows;
use super::rate_sums::AskRates;
use super::{FitId, Rows, View};
use crate::data::{FoldRates, MISSING_CODE, RateSteps, RowFolds};
use crate::{Interrupt, RankError};

/// Codes of a column of rates, which are bytes.
const MOST_CODES: usize = 256;

/// A column of rates: the step of each category.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
pub(crate) struct RateCodes {
    feature: usize,
    /// What the steps are cut by, in the numbers that a fit has for them.
    pub(crate) cuts: Vec<f64>,
    /// The folds of the rows that are learned from.
    folds: Arc<RowFolds>,
    /// For each category the steps of the rows of each fold, then that of rows that are not learned from.
    #[cfg_attr(feature = "serde", serde(with = "hexadecimal"))]
    steps: Vec<u8>,
    /// The step of a missing value.
    of_missing: u8,
}

/// The folds that rates are learned by.
#[derive(Debug, Clone)]
pub(crate) struct RateFolds(pub(crate) Arc<RowFolds>);

impl RateFolds {
    /// The rates of some features by the rows of a view.
    pub(crate) fn rates(
        &self,
        rows: &dyn Rows,
        fit: &FitId,
        view: &View,
        features: Vec<usize>,
        interrupt: &Interrupt,
    ) -> Result<Vec<FoldRates>, RankError> {
        let ask = AskRates { folds: Arc::clone(&self.0), features };
        Ok(fit.ask(rows, view.clone(), ask, interrupt)?.rates().collect())
    }

    /// The column of rates of a feature, given what its steps are cut by in the numbers of the fit.
    pub(crate) fn codes(
        &self,
        feature: usize,
        rates: &FoldRates,
        steps: &RateSteps,
        cuts: Vec<f64>,
    ) -> RateCodes {
        let n_folds = self.0.n_folds();
        let of_level = |level: u32| {
            let in_folds = (0..n_folds).map(move |fold| steps.step(rates.outside(level, fold)));
            in_folds.chain([steps.of_level(level)]).map(|step| step as u8)
        };
        RateCodes {
            feature,
            cuts,
            folds: Arc::clone(&self.0),
            steps: (0..rates.n_levels()).flat_map(of_level).collect(),
            of_missing: steps.of_level(MISSING_CODE) as u8,
        }
    }
}

impl RateCodes {
    /// The codes of some rows of which a view is learned from: those have the steps of their folds.
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
        if rows.hashes.len() != rows.n_rows() {
            return Err(bad());
        }
        let mut is_learned = vec![false; rows.n_rows()];
        for row in rows.of_view(learned) {
            is_learned[row as usize] = true;
        }
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

fn bad() -> RankError {
    RankError::BadAnswer("a column of rates is of other rows".to_owned())
}

/// Bytes as two digits each: there may be six for each of many categories.
#[cfg(feature = "serde")]
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
