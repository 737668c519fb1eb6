//! Rates of the categories of rows elsewhere: class sums of categories by folds of the rows, and
//! the step of each category in each fold, computed from the other folds.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::coded::CodedRows;
use super::frame::RowFrame;
use super::part::{Kept, PartView};
use super::question::{Mergeable, Question, View};
use super::rare_levels::n_levels;
use super::words::{WordReader, put_sums};
use super::{FitId, Rows};
use crate::data::{
    ClassSums, FoldRates, MISSING_CODE, N_RATE_FOLDS, RateSteps, RowFolds, RowTally,
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

    fn put_words(&self, words: &mut Vec<u64>) {
        for SumsOfLevels { of_level, of_fold, squares } in &self.0 {
            of_level.iter().chain(of_fold).for_each(|&sums| put_sums(words, sums));
            words.extend([*squares as u64, (squares >> 64) as u64]);
        }
    }

    fn take_words(&mut self, reader: &mut WordReader<'_>) -> Result<(), RankError> {
        for SumsOfLevels { of_level, of_fold, squares } in &mut self.0 {
            for sums in of_level.iter_mut().chain(of_fold) {
                *sums = reader.sums()?;
            }
            let [low, high] = *reader.array()?;
            *squares = u128::from(low) | u128::from(high) << 64;
        }
        Ok(())
    }
}

/// Number of codes of a column of rates: they are bytes.
const MOST_CODES: usize = 256;

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
