//! Rates of the categories of rows elsewhere: class sums of categories by folds of the rows, and
//! the step of each category in each fold, computed from the other folds.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::Rows;
use super::fit_id::FitId;
use super::frame::RowFrame;
use super::kept::Kept;
use super::mergeable::Mergeable;
use super::part_view::PartView;
use super::question::Question;
use super::rate_codes::RateCodes;
use super::view::View;
use super::words::{WordReader, put_sums, put_wide};
use crate::data::{
    ClassSums, FeatureBins, FoldRates, LevelSteps, N_RATE_FOLDS, RowFolds, RowTally,
};
use crate::{Interrupt, RankError};

/// Asks for class sums of categories, by folds of the rows of a view.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct AskRates {
    pub(super) folds: Arc<RowFolds>,
    pub(super) features: Vec<usize>,
}

/// Sums of each queried feature.
#[derive(Debug, Clone)]
pub(crate) struct RateSums(Vec<SumsOfLevels>);

/// Class sums of the categories of a feature.
#[derive(Debug, Clone)]
struct SumsOfLevels {
    /// For each category, the sums of each fold.
    of_level: Vec<ClassSums>,
    /// The sums of each fold.
    of_fold: Vec<ClassSums>,
    /// Sum of the squared weights of rows, each divided by how many rows it counts as.
    squares: u128,
}

impl AskRates {
    /// Number of folds; a fit uses few.
    fn n_folds(&self) -> usize {
        usize::from(self.folds.n_folds().min(N_RATE_FOLDS))
    }
}

impl RateSums {
    /// The rates of each feature.
    pub(super) fn rates(&self) -> impl Iterator<Item = FoldRates> {
        self.0.iter().map(|sums| FoldRates::of_sums(&sums.of_level, &sums.of_fold, sums.squares))
    }
}

/// Number of categories of a feature, 0 for a number.
pub(super) fn n_levels(bins: &FeatureBins) -> usize {
    match bins {
        FeatureBins::Numeric { .. } => 0,
        FeatureBins::Categorical { n_levels, .. } => *n_levels as usize,
    }
}

impl Question for AskRates {
    const NAME: &'static str = "rates";

    type Answer = RateSums;

    fn none(&self, frame: &RowFrame) -> RateSums {
        let n_folds = self.n_folds();
        let of_feature = |&feature: &usize| {
            let n_levels = frame.features().get(feature).map_or(0, n_levels);
            SumsOfLevels {
                of_level: vec![ClassSums::default(); n_levels * n_folds],
                of_fold: vec![ClassSums::default(); n_folds],
                squares: 0,
            }
        };
        RateSums(self.features.iter().map(of_feature).collect())
    }

    fn needs_hashes(&self, _: &View, _: &Kept<'_>) -> bool {
        true
    }

    fn add(
        &self,
        part: &PartView<'_>,
        _: &mut Kept<'_>,
        sums: &mut RateSums,
        _: &Interrupt,
    ) -> Result<(), RankError> {
        let (n_folds, n_features) = (self.n_folds(), part.frame.features().len());
        let are_there = self.features.iter().all(|&feature| feature < n_features);
        if n_folds != usize::from(self.folds.n_folds()) || n_folds == 0 || !are_there {
            return Err(RankError::BadAnswer("rates are of other rows".to_owned()));
        }
        let (tally, rows) = (part.sums(), part.rows());
        for (&feature, sums) in self.features.iter().zip(&mut sums.0) {
            for row in rows.iter().map(|&row| row as usize) {
                let fold = usize::from(self.folds.fold(part.coded().dealt(row)));
                let of_row = tally.of(row);
                sums.of_fold[fold] += of_row;
                let level = part.binned().code(row, feature) as usize;
                if let Some(of_level) = sums.of_level.get_mut(level * n_folds + fold) {
                    *of_level += of_row;
                }
                let mass = u128::from(of_row.pos + of_row.neg);
                sums.squares += mass * mass / u128::from(of_row.rows.max(1));
            }
        }
        Ok(())
    }
}

impl Mergeable for RateSums {
    fn merge(&mut self, more: Self) -> Result<(), RankError> {
        for (own, more) in self.0.iter_mut().zip(more.0) {
            let sums = own.of_level.iter_mut().chain(&mut own.of_fold);
            sums.zip(more.of_level.into_iter().chain(more.of_fold))
                .for_each(|(own, more)| *own += more);
            own.squares += more.squares;
        }
        Ok(())
    }

    fn put_words(&mut self, words: &mut Vec<u64>) {
        for SumsOfLevels { of_level, of_fold, squares } in &self.0 {
            of_level.iter().chain(of_fold).for_each(|&sums| put_sums(words, sums));
            put_wide(words, *squares);
        }
    }

    fn take_words(&mut self, reader: &mut WordReader<'_>) -> Result<(), RankError> {
        for SumsOfLevels { of_level, of_fold, squares } in &mut self.0 {
            for sums in of_level.iter_mut().chain(of_fold) {
                *sums = reader.sums()?;
            }
            *squares = reader.wide()?;
        }
        Ok(())
    }
}

/// Folds by which rates are learned.
#[derive(Debug, Clone)]
pub(crate) struct RateFolds(pub(crate) Arc<RowFolds>);

impl RateFolds {
    /// Rates of some features, learned from the rows of a view.
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

    /// The column of rates of a feature, given the cuts of its steps in the numbers of the fit.
    pub(crate) fn codes(
        &self,
        feature: usize,
        rates: &FoldRates,
        steps: &LevelSteps,
        cuts: Vec<f64>,
    ) -> RateCodes {
        RateCodes::new(feature, Arc::clone(&self.0), rates, steps, cuts)
    }
}
