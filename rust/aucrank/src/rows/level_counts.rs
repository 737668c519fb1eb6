//! How many rows each category has.

#[cfg(feature = "serde")]
use serde::{Deserialize, Serialize};

use super::frame::RowFrame;
use super::kept::Kept;
use super::part::PartView;
use super::question::{Mergeable, Question};
use super::words::WordReader;
use crate::data::{FeatureBins, RowTally};
use crate::{Interrupt, RankError};

/// Number of rows of each category, feature by feature.
#[derive(Debug)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
pub(crate) struct AskLevels;

/// For each feature the rows of each category; empty for a number.
#[derive(Debug, Clone)]
pub(crate) struct LevelCounts(pub(crate) Vec<Vec<u64>>);

/// Number of categories of a feature, 0 for a number.
pub(super) fn n_levels(bins: &FeatureBins) -> usize {
    match bins {
        FeatureBins::Numeric { .. } => 0,
        FeatureBins::Categorical { n_levels, .. } => *n_levels as usize,
    }
}

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

    fn put_words(&self, words: &mut Vec<u64>) {
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
