//! How much the rows of each class weigh.

use super::part_view::PartView;
use super::words::Reader;
use crate::RankError;
use crate::data::ClassSums;

/// What the rows of each class come to, negatives first.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct ClassUnits {
    /// Units of weight.
    pub(crate) units: [u64; 2],
    /// Rows of positive weight; one of whole weight k counts as k rows.
    pub(crate) rows: [u64; 2],
    /// Rows of positive weight, each of them once.
    pub(crate) present: [u64; 2],
    /// Most units of a row.
    pub(crate) largest: [u64; 2],
}

impl ClassUnits {
    pub(super) fn add(&mut self, part: &PartView<'_>) {
        let units = part.units();
        for (row, &positive) in part.positive().iter().enumerate() {
            let (class, units) = (usize::from(positive), units.as_ref().map_or(1, |all| all[row]));
            self.units[class] += units;
            self.rows[class] += part.rows_of(units);
            self.present[class] += u64::from(units > 0);
            self.largest[class] = self.largest[class].max(units);
        }
    }

    pub(super) fn merge(&mut self, more: &Self) {
        for class in 0..2 {
            self.units[class] += more.units[class];
            self.rows[class] += more.rows[class];
            self.present[class] += more.present[class];
            self.largest[class] = self.largest[class].max(more.largest[class]);
        }
    }

    pub(super) fn put_words(&self, words: &mut Vec<u64>) {
        let sums = [self.units, self.rows, self.present, self.largest];
        words.extend(sums.as_flattened());
    }

    pub(super) fn take_words(&mut self, reader: &mut Reader<'_>) -> Result<(), RankError> {
        let Self { units, rows, present, largest } = self;
        for numbers in [units, rows, present, largest] {
            *numbers = *reader.array()?;
        }
        Ok(())
    }

    /// Both classes together.
    pub(crate) fn total(&self) -> ClassSums {
        let [neg, pos] = self.units;
        ClassSums { pos, neg, rows: self.rows.iter().sum() }
    }
}
