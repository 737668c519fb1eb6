//! Totals of the rows of a view.

use serde::{Deserialize, Serialize};

use super::frame::RowFrame;
use super::kept::Kept;
use super::mergeable::Mergeable;
use super::part_view::PartView;
use super::question::Question;
use super::words::{WordReader, put_sums};
use crate::data::{ClassSums, RowSquares, RowTally};
use crate::{Interrupt, RankError};

/// Asks for the totals of the rows of a view.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct AskTotals;

/// Totals of the rows of a view.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Totals {
    pub(crate) sums: ClassSums,
    pub(crate) squares: RowSquares,
    /// For each feature, whether its value is missing in some row.
    pub(crate) has_missing: Vec<bool>,
}

impl Question for AskTotals {
    const NAME: &'static str = "totals";

    type Answer = Totals;

    fn none(&self, frame: &RowFrame) -> Totals {
        Totals { has_missing: vec![false; frame.features().len()], ..Totals::default() }
    }

    fn add(
        &self,
        part: &PartView<'_>,
        _: &mut Kept<'_>,
        totals: &mut Totals,
        _: &Interrupt,
    ) -> Result<(), RankError> {
        let (tally, rows) = (part.sums(), part.rows());
        for &row in &rows {
            let sums = tally.of(row as usize);
            totals.sums += sums;
            totals.squares.add(sums, 1);
        }
        let missing = part.binned().has_missing(&rows);
        for (has_missing, own) in totals.has_missing.iter_mut().zip(missing) {
            *has_missing |= own;
        }
        Ok(())
    }
}

impl Mergeable for Totals {
    fn merge(&mut self, more: Self) -> Result<(), RankError> {
        self.sums += more.sums;
        self.squares.merge(&more.squares);
        for (own, more) in self.has_missing.iter_mut().zip(more.has_missing) {
            *own |= more;
        }
        Ok(())
    }

    fn put_words(&mut self, words: &mut Vec<u64>) {
        put_sums(words, self.sums);
        words.extend(self.squares.to_words());
        words.extend(self.has_missing.iter().map(|&missing| u64::from(missing)));
    }

    fn take_words(&mut self, reader: &mut WordReader<'_>) -> Result<(), RankError> {
        self.sums = reader.sums()?;
        self.squares = RowSquares::from_words(reader.array()?);
        let flags = reader.take(self.has_missing.len())?;
        self.has_missing = flags.iter().map(|&flag| flag != 0).collect();
        Ok(())
    }
}
