//! The least hashes of each class, by which rows elsewhere are put in an order.

use serde::{Deserialize, Serialize};

use super::frame::RowFrame;
use super::kept::Kept;
use super::mergeable::Mergeable;
use super::part_view::PartView;
use super::question::Question;
use super::view::View;
use super::words::{WordReader, put_list};
use crate::data::{MOST_RANKED, least_hashes, seeded};
use crate::{Interrupt, RankError};

/// Asks for the least hashes of each class in the order of a seed: one more than are ranked
/// individually.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct AskLeastHashes {
    pub(super) seed: u64,
}

/// Hashes, distinct and ascending, those of negatives first.
#[derive(Debug, Clone, Default)]
pub(super) struct LeastHashes(pub(super) [Vec<u64>; 2]);

const MOST: usize = MOST_RANKED + 1;

impl Question for AskLeastHashes {
    const NAME: &'static str = "least hashes";

    type Answer = LeastHashes;

    fn none(&self, _: &RowFrame) -> LeastHashes {
        LeastHashes::default()
    }

    fn needs_hashes(&self, _: &View, _: &Kept<'_>) -> bool {
        true
    }

    fn add(
        &self,
        part: &PartView<'_>,
        _: &mut Kept<'_>,
        answer: &mut LeastHashes,
        _: &Interrupt,
    ) -> Result<(), RankError> {
        let (rows, positive, hashes) = (part.rows(), part.positive(), part.hashes());
        for (class, found) in [false, true].into_iter().zip(&mut answer.0) {
            let of_class = rows.iter().filter(|&&row| positive[row as usize] == class);
            let seeded = of_class.map(|&row| seeded(hashes[row as usize], self.seed));
            let own = least_hashes(&seeded, MOST);
            *found = least_hashes(&found.iter().copied().chain(own), MOST);
        }
        Ok(())
    }
}

impl Mergeable for LeastHashes {
    fn merge(&mut self, more: Self) -> Result<(), RankError> {
        for (own, more) in self.0.iter_mut().zip(more.0) {
            own.extend(more);
            own.sort_unstable();
            own.dedup();
            own.truncate(MOST);
        }
        Ok(())
    }

    fn put_words(&mut self, words: &mut Vec<u64>) {
        for hashes in &self.0 {
            put_list(words, hashes.iter().copied());
        }
    }

    fn take_words(&mut self, reader: &mut WordReader<'_>) -> Result<(), RankError> {
        for hashes in &mut self.0 {
            *hashes = reader.list()?.to_vec();
        }
        Ok(())
    }
}
