//! The codes of a fit, made of those in which rows are held: categories in few codes, and columns of rates.

use std::borrow::Cow;
use std::sync::Arc;

#[cfg(feature = "serde")]
use serde::{Deserialize, Serialize};

use crate::RankError;
use crate::data::{Binned, FeatureBins, LevelRates, RowOrder};
use crate::rows::CodedRows;

use super::super::histogram::CODES;
use super::ask::BagRowsAsk;

/// For each feature the categories that have a code of their own, in the order of their codes; `None` for
/// a number, and where the codes are those in which rows are held.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
pub(super) struct LevelMap(pub(super) Vec<Option<Vec<u32>>>);

/// A column of rates: the step of each category.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
pub(super) struct RateCodes {
    pub(super) feature: usize,
    /// What the steps are cut by.
    pub(super) cuts: Vec<f64>,
    /// The folds of the rows that are learned from.
    pub(super) order: Arc<RowOrder>,
    pub(super) n_folds: u16,
    /// For each category the steps of the rows of each fold, then that of rows that are not learned from.
    pub(super) steps: Vec<u8>,
    /// The step of a missing value.
    pub(super) of_missing: u8,
}

impl LevelMap {
    /// What the codes mean.
    pub(super) fn features(&self, held: &[FeatureBins]) -> Vec<FeatureBins> {
        let bins = |(kept, held): (&Option<Vec<u32>>, &FeatureBins)| match (kept, held) {
            (Some(kept), FeatureBins::Categorical { .. }) => {
                let n_levels = kept.len() as u32;
                FeatureBins::Categorical { n_levels, rare: None }
            }
            _ => held.clone(),
        };
        self.0.iter().zip(held).map(bins).collect()
    }
}

impl BagRowsAsk {
    /// What the codes mean, feature by feature, with the columns of rates.
    pub(super) fn features(&self, held: &[FeatureBins]) -> Vec<FeatureBins> {
        let rates =
            self.rates.iter().map(|rates| FeatureBins::Numeric { cuts: rates.cuts.clone() });
        self.levels.features(held).into_iter().chain(rates).collect()
    }

    /// The codes of some rows, given those of the columns of rates.
    pub(super) fn codes<'r>(
        &self,
        rows: &'r CodedRows,
        rates: &[Vec<u8>],
    ) -> Result<Cow<'r, Binned>, RankError> {
        let held = &rows.binned;
        let n_features = held.features().len();
        if self.levels.0.len() != n_features || rates.len() != self.rates.len() {
            return Err(bad());
        }
        if rates.is_empty() && self.levels.0.iter().all(Option::is_none) {
            let are_narrow = (0..n_features).all(|feature| held.is_narrow(feature));
            return if are_narrow { Ok(Cow::Borrowed(held)) } else { Err(bad()) };
        }
        let features = self.features(held.features());
        if features.iter().any(|bins| bins.n_codes() > CODES) {
            return Err(bad());
        }
        let (n_rows, width) = (rows.n_rows(), features.len());
        let mut narrow = vec![0; n_rows * width];
        for (feature, kept) in self.levels.0.iter().enumerate() {
            let to = narrow.iter_mut().skip(feature).step_by(width);
            let Some(kept) = kept else {
                let codes = held.narrow_codes(0..n_rows, feature).ok_or_else(bad)?;
                to.zip(codes).for_each(|(to, code)| *to = code);
                continue;
            };
            // What has no code of its own has that of a missing value.
            let mut code_of_level = vec![kept.len() as u8; held.features()[feature].n_codes()];
            for (code, &level) in kept.iter().enumerate() {
                *code_of_level.get_mut(level as usize).ok_or_else(bad)? = code as u8;
            }
            for (row, to) in to.enumerate() {
                *to = code_of_level[held.code(row, feature) as usize];
            }
        }
        for (column, codes) in (n_features..).zip(rates) {
            let to = narrow.iter_mut().skip(column).step_by(width);
            to.zip(codes).for_each(|(to, code)| *to = *code);
        }
        let mut binned = Binned::empty(features.into(), LevelRates::Raw);
        binned.take_bytes(n_rows, &narrow);
        Ok(Cow::Owned(binned))
    }

    /// The codes of the columns of rates. Rows that are learned from have the steps of their folds.
    pub(super) fn rate_codes(&self, rows: &CodedRows) -> Result<Vec<Vec<u8>>, RankError> {
        if self.rates.is_empty() {
            return Ok(Vec::new());
        }
        if rows.hashes.len() != rows.n_rows() {
            return Err(bad());
        }
        let mut is_learned = vec![false; rows.n_rows()];
        for row in rows.of_view(&self.learned) {
            is_learned[row as usize] = true;
        }
        self.rates.iter().map(|rates| rates.codes(rows, &is_learned)).collect()
    }
}

impl RateCodes {
    fn codes(&self, rows: &CodedRows, is_learned: &[bool]) -> Result<Vec<u8>, RankError> {
        let n_folds = usize::from(self.n_folds);
        let held = rows.binned.features().get(self.feature).ok_or_else(bad)?;
        if self.steps.len() != held.n_bins() * (n_folds + 1) || self.cuts.len() + 1 >= CODES {
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
            let fold = if is_learned {
                let (positive, hash) = (rows.positive[row], rows.hashes[row]);
                usize::from(self.order.fold(positive, hash, self.n_folds))
            } else {
                n_folds
            };
            self.steps[level * (n_folds + 1) + fold]
        };
        Ok(is_learned.iter().enumerate().map(code).collect())
    }
}

fn bad() -> RankError {
    RankError::BadAnswer("a bag is of other rows".to_owned())
}
