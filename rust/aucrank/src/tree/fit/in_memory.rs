//! Trees on rows in memory.

use std::sync::Arc;

use super::grower::Grower;
use super::growth::Growth;
use crate::data::{ClassSums, Folds, NO_FOLD, RowTally, TwoParts, hold_out};
use crate::tree::model::RankingTree;
use crate::{Interrupt, RankError};

/// Rows in memory on which trees are grown from a seed.
#[derive(Debug)]
pub(super) struct InMemory<'a, R> {
    pub(super) grower: Grower<'a, R>,
    pub(super) seed: u64,
    pub(super) interrupt: &'a Interrupt,
}

/// Some of them.
#[derive(Debug)]
pub(super) enum Subset {
    All,
    Fold { folds: Arc<Folds>, fold: u16, inside: bool },
    Listed(Vec<u32>),
}

impl<R: RowTally + Copy> InMemory<'_, R> {
    pub(super) fn rows(&self, subset: &Subset) -> Vec<u32> {
        match subset {
            Subset::All => self.grower.sample.labels.rows(),
            Subset::Listed(rows) => rows.clone(),
            Subset::Fold { folds, fold, inside } => {
                let of_row = (0..).zip(&folds.of_row);
                let is_there = |of: u16| of != NO_FOLD && (of == *fold) == *inside;
                of_row.filter(|&(_, &of)| is_there(of)).map(|(row, _)| row).collect()
            }
        }
    }
}

impl<R: RowTally + Copy> Growth for InMemory<'_, R> {
    type Subset = Subset;

    fn all(&self) -> Subset {
        Subset::All
    }

    fn folds(&self, n_folds: u16, seed: u64) -> Result<Vec<[Subset; 2]>, RankError> {
        let (columns, labels) = (self.grower.sample.columns, self.grower.sample.labels);
        let folds = Arc::new(Folds::deal(columns, labels, n_folds, seed, self.interrupt)?);
        let subset = |fold, inside| Subset::Fold { folds: Arc::clone(&folds), fold, inside };
        Ok((0..folds.n_folds).map(|fold| [false, true].map(|side| subset(fold, side))).collect())
    }

    fn hold_out(&self, share: f64, seed: u64) -> Result<Option<[Subset; 2]>, RankError> {
        let (columns, labels) = (self.grower.sample.columns, self.grower.sample.labels);
        let parts = hold_out(columns, labels, share, seed, self.interrupt)?;
        let listed = |TwoParts { kept, held_out }| [kept, held_out].map(Subset::Listed);
        Ok(parts.map(listed))
    }

    fn grow(&self, rows: &Subset) -> Result<RankingTree, RankError> {
        self.grower.grow(self.rows(rows), self.seed, self.interrupt)
    }

    fn sums_of_nodes(
        &self,
        tree: &RankingTree,
        rows: &Subset,
    ) -> Result<Vec<ClassSums>, RankError> {
        self.grower.held_out_sums(tree, &self.rows(rows))
    }

    fn forget(&self, tree: &RankingTree) {
        self.grower.forget(tree);
    }
}
