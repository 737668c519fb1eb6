//! Totals of each class.

use serde::{Deserialize, Serialize};

use super::frame::RowFrame;
use super::kept::Kept;
use super::mergeable::Mergeable;
use super::part_view::PartView;
use super::question::Question;
use super::words::WordReader;
use crate::data::ClassSums;
use crate::{Interrupt, RankError};

/// Asks for the weight of each class.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct AskClassUnits;

/// Totals of each class, negatives first.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct ClassUnits {
    /// Units of weight.
    pub(crate) units: [u64; 2],
    /// Rows of positive weight; a row of whole weight k counts as k rows.
    pub(crate) rows: [u64; 2],
    /// Rows of positive weight, each counted once.
    pub(crate) present: [u64; 2],
    /// Units of the heaviest row.
    pub(crate) largest: [u64; 2],
}

impl Question for AskClassUnits {
    const NAME: &'static str = "class units";

    type Answer = ClassUnits;

    fn none(&self, _: &RowFrame) -> ClassUnits {
        ClassUnits::default()
    }

    fn add(
        &self,
        part: &PartView<'_>,
        _: &mut Kept<'_>,
        sums: &mut ClassUnits,
        _: &Interrupt,
    ) -> Result<(), RankError> {
        let units = part.units();
        for (row, &positive) in part.positive().iter().enumerate() {
            let (class, units) = (usize::from(positive), units.as_ref().map_or(1, |all| all[row]));
            sums.units[class] += units;
            sums.rows[class] += part.rows_of(units);
            sums.present[class] += u64::from(units > 0);
            sums.largest[class] = sums.largest[class].max(units);
        }
        Ok(())
    }
}

impl Mergeable for ClassUnits {
    fn merge(&mut self, more: Self) -> Result<(), RankError> {
        for class in 0..2 {
            self.units[class] += more.units[class];
            self.rows[class] += more.rows[class];
            self.present[class] += more.present[class];
            self.largest[class] = self.largest[class].max(more.largest[class]);
        }
        Ok(())
    }

    fn put_words(&mut self, words: &mut Vec<u64>) {
        let sums = [self.units, self.rows, self.present, self.largest];
        words.extend(sums.as_flattened());
    }

    fn take_words(&mut self, reader: &mut WordReader<'_>) -> Result<(), RankError> {
        let Self { units, rows, present, largest } = self;
        for numbers in [units, rows, present, largest] {
            *numbers = *reader.array()?;
        }
        Ok(())
    }
}

impl ClassUnits {
    /// Both classes together.
    pub(crate) fn total(&self) -> ClassSums {
        let [neg, pos] = self.units;
        ClassSums { pos, neg, rows: self.rows.iter().sum() }
    }
}
