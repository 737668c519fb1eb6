//! Rare categories of rows elsewhere, by the number of rows of each category: those that count as
//! missing, and those whose rates are learned from.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::Rows;
use super::coding::Coding;
use super::fit_id::FitId;
use super::frame::RowFrame;
use super::kept::Kept;
use super::mergeable::Mergeable;
use super::part_view::PartView;
use super::question::Question;
use super::rates::{RateFolds, n_levels};
use super::recoded::Recoded;
use super::view::View;
use super::words::WordReader;
use crate::data::{
    BinningParams, FeatureBins, LevelRates, LevelSteps, N_RATE_FOLDS, RateColumns, RatedLevels,
    RowTally, SEED_OF_RATES, mix, threshold,
};
use crate::{Interrupt, RankError};

/// Asks for the number of rows of each category, feature by feature.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct AskLevels;

/// For each feature the rows of each category; empty for a number.
#[derive(Debug, Clone)]
pub(crate) struct LevelCounts(pub(crate) Vec<Vec<u64>>);

impl Question for AskLevels {
    const NAME: &'static str = "levels";

    type Answer = LevelCounts;

    fn none(&self, frame: &RowFrame) -> LevelCounts {
        LevelCounts(frame.features().iter().map(|bins| vec![0; n_levels(bins)]).collect())
    }

    fn add(
        &self,
        part: &PartView<'_>,
        _: &mut Kept<'_>,
        counts: &mut LevelCounts,
        _: &Interrupt,
    ) -> Result<(), RankError> {
        let (tally, rows) = (part.sums(), part.rows());
        for (feature, rows_of_level) in counts.0.iter_mut().enumerate() {
            if rows_of_level.is_empty() {
                continue;
            }
            for row in rows.iter().map(|&row| row as usize) {
                let level = part.binned().code(row, feature) as usize;
                if let Some(n_rows) = rows_of_level.get_mut(level) {
                    *n_rows += tally.of(row).rows;
                }
            }
        }
        Ok(())
    }
}

impl Mergeable for LevelCounts {
    fn merge(&mut self, more: Self) -> Result<(), RankError> {
        let counts = self.0.iter_mut().flatten().zip(more.0.into_iter().flatten());
        counts.for_each(|(own, more)| *own += more);
        Ok(())
    }

    fn put_words(&mut self, words: &mut Vec<u64>) {
        words.extend(self.0.iter().flatten());
    }

    fn take_words(&mut self, reader: &mut WordReader<'_>) -> Result<(), RankError> {
        for counts in &mut self.0 {
            let n_levels = counts.len();
            counts.copy_from_slice(reader.take(n_levels)?);
        }
        Ok(())
    }
}

/// Treatment of the categories of rows elsewhere, the same as that by
/// [`Binned`](crate::data::Binned) and `data::RareLevels` in memory.
#[derive(Debug)]
pub(crate) struct QueriedLevels {
    binning: BinningParams,
    /// For each feature which categories have too few rows for a rate of their own, if any do.
    few: Vec<Option<Arc<[bool]>>>,
    /// The codes in which those count as missing.
    coding: Arc<Coding>,
    /// Features whose rare categories hold many rows.
    features: Vec<(usize, RatedLevels)>,
    /// The folds that rates are learned by; `None` if there are no rates to learn.
    folds: Option<RateFolds>,
}

impl QueriedLevels {
    /// Asks for the number of rows of each category.
    ///
    /// # Errors
    ///
    /// [`RankError::BadParameter`] if rare categories count as missing in the codes in which rows
    /// are held; errors of the holder of the rows.
    pub(crate) fn find(
        rows: &dyn Rows,
        fit: &FitId,
        binning: BinningParams,
        seed: u64,
        interrupt: &Interrupt,
    ) -> Result<Self, RankError> {
        let frame = rows.frame();
        let held = frame.features();
        if held.iter().any(FeatureBins::pools_levels) {
            return Err(RankError::BadParameter {
                name: "level_rates of the rows",
                value: "shrunken".to_owned(),
                rule: "raw: a fit to rows in parts decides itself which categories are rare",
            });
        }
        let is_categorical = |bins: &FeatureBins| matches!(bins, FeatureBins::Categorical { .. });
        if binning.level_rates == LevelRates::Raw || !held.iter().any(is_categorical) {
            return Ok(Self::new(binning, vec![None; held.len()], Vec::new(), None));
        }
        let counts = fit.ask(rows, View::All, AskLevels, interrupt)?.0;
        let n_rows = frame.total().rows;
        let of_feature = |(feature, counts): (usize, &Vec<u64>)| {
            let levels = RatedLevels::of_rows(counts, n_rows)?;
            levels.has_rare().then_some((feature, levels))
        };
        let features: Vec<_> = counts.iter().enumerate().filter_map(of_feature).collect();
        let few = counts.iter().map(|counts| binning.level_rates.rare(counts)).collect();
        let mut folds = None;
        if !features.is_empty() {
            let order = fit.order(rows, mix(seed ^ SEED_OF_RATES), interrupt)?;
            let of_rows = order.folds(N_RATE_FOLDS);
            folds = (of_rows.n_folds() > 1).then(|| RateFolds(Arc::new(of_rows)));
        }
        Ok(Self::new(binning, few, features, folds))
    }

    fn new(
        binning: BinningParams,
        few: Vec<Option<Arc<[bool]>>>,
        features: Vec<(usize, RatedLevels)>,
        folds: Option<RateFolds>,
    ) -> Self {
        let (level_rates, rates) = (binning.level_rates, Vec::new());
        let coding = Coding { level_rates, kept: kept(&few), learned: View::All, rates };
        Self { binning, few, coding: Arc::new(coding), features, folds }
    }

    /// Rows in which categories of few rows count as missing.
    pub(crate) fn recoded<'r>(&self, rows: &'r dyn Rows) -> Recoded<'r> {
        Recoded::new(rows, &self.coding)
    }

    /// The columns of rates of a fit to the rows of a view, and rows with their codes. Categories
    /// whose rates are learned from count as missing.
    pub(crate) fn with_rates<'r>(
        &self,
        rows: &'r dyn Rows,
        fit: &FitId,
        view: &View,
        interrupt: &Interrupt,
    ) -> Result<(Recoded<'r>, RateColumns), RankError> {
        let n_features = self.few.len();
        let Some(folds) = &self.folds else {
            return Ok((self.recoded(rows), RateColumns::none(n_features)));
        };
        let features = self.features.iter().map(|(feature, _)| *feature).collect();
        let found = folds.rates(rows, fit, view, features, interrupt)?;
        let most = self.binning.max_bins.unwrap_or(usize::MAX);
        let mut few = self.few.clone();
        let (mut codes, mut columns) = (Vec::new(), Vec::new());
        for ((feature, levels), rates) in self.features.iter().zip(found) {
            let found = LevelSteps::of_feature(&rates, most, levels);
            if !found.is_empty() {
                few[*feature] = Some(levels.pooled_with(few[*feature].as_ref()));
            }
            for steps in found {
                let cuts = (1..=steps.cuts().len() as u32).map(threshold).collect();
                codes.push(folds.codes(*feature, &rates, &steps, cuts));
                columns.push((*feature, steps));
            }
        }
        if columns.is_empty() {
            return Ok((self.recoded(rows), RateColumns::none(n_features)));
        }
        let (level_rates, learned) = (self.binning.level_rates, view.clone());
        let coding = Coding { level_rates, kept: kept(&few), learned, rates: codes };
        let rows = Recoded::new(rows, &Arc::new(coding));
        Ok((rows, RateColumns::of_steps(n_features, columns)))
    }
}

/// For each feature the categories that are not rare, if some are rare.
fn kept(are_rare: &[Option<Arc<[bool]>>]) -> Vec<Option<Vec<u32>>> {
    let of_feature = |are_rare: &Arc<[bool]>| {
        (0..).zip(&**are_rare).filter(|(_, is_rare)| !**is_rare).map(|(level, _)| level).collect()
    };
    are_rare.iter().map(|are_rare| are_rare.as_ref().map(of_feature)).collect()
}
