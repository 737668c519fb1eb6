//! What rows come to in the leaves of a tree.

use std::sync::Arc;

#[cfg(feature = "serde")]
use serde::{Deserialize, Serialize};

use crate::data::{ClassSums, RowTally};
use crate::rows::words::{Reader, put_sums};
use crate::rows::{Kept, Mergeable, PartView, Question, RowFrame};
use crate::tree::RankingTree;
use crate::tree::sample::places_by_codes;
use crate::{Interrupt, RankError};

/// Class sums of rows in the leaves of a tree.
#[derive(Debug)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
pub(crate) struct AskLeaves(pub(super) Arc<RankingTree>);

/// The leaves in ranking order.
#[derive(Debug, Clone)]
pub(crate) struct SumsOfLeaves(pub(super) Vec<ClassSums>);

impl Question for AskLeaves {
    const NAME: &'static str = "leaves";

    type Answer = SumsOfLeaves;

    fn none(&self, _: &RowFrame) -> SumsOfLeaves {
        SumsOfLeaves(vec![ClassSums::default(); self.0.n_leaves()])
    }

    fn add(
        &self,
        part: &PartView<'_>,
        _: &mut Kept<'_>,
        leaves: &mut SumsOfLeaves,
        _: &Interrupt,
    ) -> Result<(), RankError> {
        self.check(part.frame)?;
        let (rows, tally) = (part.rows(), part.sums());
        let places = places_by_codes(part.binned(), &self.0, &rows, None);
        for (place, row) in places.into_iter().zip(rows) {
            leaves.0[place as usize] += tally.of(row as usize);
        }
        Ok(())
    }
}

impl AskLeaves {
    /// Checks a tree from elsewhere: it must ask these features, of which it must not have more.
    fn check(&self, frame: &RowFrame) -> Result<(), RankError> {
        self.0.check().map_err(RankError::BadAnswer)?;
        if self.0.n_levels().len() != frame.features().len() {
            return Err(RankError::BadAnswer("the tree is of other rows".to_owned()));
        }
        Ok(())
    }
}

impl Mergeable for SumsOfLeaves {
    fn merge(&mut self, more: Self) -> Result<(), RankError> {
        self.0.iter_mut().zip(more.0).for_each(|(own, more)| *own += more);
        Ok(())
    }

    fn put_words(&self, words: &mut Vec<u64>) {
        self.0.iter().for_each(|&sums| put_sums(words, sums));
    }

    fn take_words(&mut self, reader: &mut Reader<'_>) -> Result<(), RankError> {
        for sums in &mut self.0 {
            *sums = reader.sums()?;
        }
        Ok(())
    }
}
