//! The codes of a fit, derived from the codes in which rows are held: categories of few rows count
//! as missing, and columns of rates follow the features.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use super::coded::CodedRows;
use super::frame::RowFrame;
use super::rate_codes::RateCodes;
use super::view::View;
use crate::RankError;
use crate::data::{Binned, FeatureBins, LevelRates};

/// Derivation of the codes of a fit from those in which rows are held.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Coding {
    pub(super) level_rates: LevelRates,
    /// For each feature the categories that have a code; others count as missing.
    pub(super) kept: Vec<Option<Vec<u32>>>,
    /// The rows that rates are learned from.
    pub(super) learned: View,
    pub(super) rates: Vec<RateCodes>,
}

impl Coding {
    /// Whether it reads the hashes of the rows.
    pub(super) fn needs_hashes(&self) -> bool {
        !self.rates.is_empty()
    }

    /// Whether the codes differ from those in which rows are held.
    pub(super) fn changes_codes(&self) -> bool {
        !self.rates.is_empty() || self.kept.iter().any(Option::is_some)
    }

    /// Frame of all rows in the codes of the fit.
    pub(super) fn frame(&self, held: &RowFrame) -> RowFrame {
        let bins = |(held, kept): (&FeatureBins, &Option<Vec<u32>>)| match (held, kept) {
            (&FeatureBins::Categorical { n_levels, .. }, Some(kept)) => {
                let mut rare = vec![true; n_levels as usize];
                for &level in kept {
                    if let Some(is_rare) = rare.get_mut(level as usize) {
                        *is_rare = false;
                    }
                }
                FeatureBins::Categorical { n_levels, rare: Some(rare.into()) }
            }
            _ => held.clone(),
        };
        let features = held.features.iter().zip(&self.kept).map(bins);
        let rates = self.rates.iter();
        let rates = rates.map(|rates| FeatureBins::Numeric { cuts: rates.cuts.clone() });
        let features = features.chain(rates).collect();
        RowFrame { features, level_rates: self.level_rates, ..held.clone() }
    }

    /// The codes of some rows, given the frame of the fit.
    ///
    /// # Errors
    ///
    /// [`RankError::BadAnswer`] for a coding of other rows.
    pub(super) fn codes<'r>(
        &self,
        rows: &'r CodedRows,
        frame: &RowFrame,
    ) -> Result<Cow<'r, Binned>, RankError> {
        let held = rows.binned.features();
        let are_levels = |(held, kept): (&FeatureBins, &Option<Vec<u32>>)| {
            kept.is_none() || matches!(held, FeatureBins::Categorical { rare: None, .. })
        };
        if self.kept.len() != held.len() || !held.iter().zip(&self.kept).all(are_levels) {
            return Err(RankError::BadAnswer("codes are made of those of other rows".to_owned()));
        }
        if !self.changes_codes() {
            return Ok(Cow::Borrowed(&rows.binned));
        }
        let rates = RateCodes::columns(&self.rates, rows, &self.learned)?;
        rows.binned.pooled(&frame.features, self.level_rates, rates).map(Cow::Owned)
    }
}
