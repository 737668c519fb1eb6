//! The codes of a fit, made of those in which rows are held: categories of few rows count as missing, and
//! columns of rates stand behind the features.

use std::borrow::Cow;
use std::sync::Arc;

#[cfg(feature = "serde")]
use serde::{Deserialize, Serialize};

use super::coded::CodedRows;
use super::frame::RowFrame;
use super::rate_codes::RateCodes;
use super::{Answer, Ask, Rows, View};
use crate::data::{Binned, FeatureBins, LevelRates};
use crate::{Interrupt, RankError};

/// How the codes of a fit come from those in which rows are held.
#[derive(Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
pub(crate) struct Coding {
    pub(super) level_rates: LevelRates,
    /// For each feature the categories that have a code, where others count as missing.
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

    /// Whether rows have other codes by it than those in which they are held.
    pub(super) fn changes_codes(&self) -> bool {
        !self.rates.is_empty() || self.kept.iter().any(Option::is_some)
    }

    /// What is known of all rows, in the codes of the fit.
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

/// Rows in the codes of a fit.
pub(crate) struct Recoded<'a> {
    rows: &'a dyn Rows,
    /// `None` where the codes are those in which rows are held.
    coding: Option<Arc<Coding>>,
    frame: RowFrame,
}

impl<'a> Recoded<'a> {
    pub(super) fn new(rows: &'a dyn Rows, coding: &Arc<Coding>) -> Self {
        let frame = coding.frame(rows.frame());
        Self { rows, coding: coding.changes_codes().then(|| Arc::clone(coding)), frame }
    }

    /// The same codes of the same rows, queried through another holder.
    #[cfg(test)]
    pub(super) fn of<'b>(&self, rows: &'b dyn Rows) -> Recoded<'b> {
        Recoded { rows, coding: self.coding.clone(), frame: self.frame.clone() }
    }
}

impl Rows for Recoded<'_> {
    fn frame(&self) -> &RowFrame {
        &self.frame
    }

    fn pass(&self, ask: &Ask, interrupt: &Interrupt) -> Result<Answer, RankError> {
        match &self.coding {
            Some(coding) => self.rows.pass(&ask.in_codes(coding), interrupt),
            None => self.rows.pass(ask, interrupt),
        }
    }
}
