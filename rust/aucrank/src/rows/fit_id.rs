//! A fit, as it is known to those who hold the rows.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::Rows;
use super::kept::TreeId;
use super::least_hashes::AskLeastHashes;
use super::question::{Ask, Question};
use super::totals::{AskTotals, Totals};
use super::view::View;
use crate::data::{DealOrder, HeldOutPart, RowOrder};
use crate::{Interrupt, RankError};

/// A fit that queries rows for the cells of one tree after the other, or of several at a time.
#[derive(Debug)]
pub(crate) struct FitId {
    number: u64,
    trees: Mutex<Trees>,
}

#[derive(Debug, Default)]
struct Trees {
    n_begun: u64,
    growing: BTreeSet<u64>,
}

impl FitId {
    pub(crate) fn new(number: u64) -> Self {
        Self { number, trees: Mutex::default() }
    }

    fn trees(&self) -> MutexGuard<'_, Trees> {
        self.trees.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Starts a tree and returns its number.
    pub(crate) fn begin_tree(&self) -> u64 {
        let mut trees = self.trees();
        let number = trees.n_begun;
        trees.n_begun += 1;
        trees.growing.insert(number);
        number
    }

    pub(crate) fn end_tree(&self, number: u64) {
        self.trees().growing.remove(&number);
    }

    fn tree_id(&self, number: u64) -> TreeId {
        let trees = self.trees();
        let oldest = trees.growing.first().copied().unwrap_or(trees.n_begun);
        TreeId { fit: self.number, number, oldest }
    }

    /// A question about a tree, or about other state that the fit numbers as one.
    pub(crate) fn question_of(&self, tree: u64, view: View, question: impl Question) -> Ask {
        Ask::new(self.tree_id(tree), view, question)
    }

    /// Asks about a tree.
    pub(crate) fn ask_of<Q: Question>(
        &self,
        tree: u64,
        rows: &dyn Rows,
        view: View,
        question: Q,
        interrupt: &Interrupt,
    ) -> Result<Q::Answer, RankError> {
        rows.pass(&self.question_of(tree, view, question), interrupt)?.to::<Q>()
    }

    /// Asks a question that concerns no tree.
    pub(crate) fn ask<Q: Question>(
        &self,
        rows: &dyn Rows,
        view: View,
        question: Q,
        interrupt: &Interrupt,
    ) -> Result<Q::Answer, RankError> {
        self.ask_of(u64::MAX, rows, view, question, interrupt)
    }

    /// Totals of the rows of a view.
    pub(crate) fn totals(
        &self,
        rows: &dyn Rows,
        view: View,
        interrupt: &Interrupt,
    ) -> Result<Totals, RankError> {
        let totals = self.ask(rows, view, AskTotals, interrupt)?;
        totals.sums.check_classes()?;
        Ok(totals)
    }

    /// Order of all rows by a seed.
    pub(crate) fn order(
        &self,
        rows: &dyn Rows,
        seed: u64,
        interrupt: &Interrupt,
    ) -> Result<DealOrder, RankError> {
        if let Some(table) = &rows.frame().blocks {
            return Ok(DealOrder::Blocks(Arc::clone(table), seed));
        }
        let least = self.ask(rows, View::All, AskLeastHashes { seed }, interrupt)?;
        Ok(DealOrder::Contents(Arc::new(RowOrder::of_hashes(seed, least.0))))
    }

    /// The rows kept and a share of rows held out; `None` if a class has a single distinct row.
    pub(crate) fn hold_out(
        &self,
        rows: &dyn Rows,
        share: f64,
        seed: u64,
        interrupt: &Interrupt,
    ) -> Result<Option<[View; 2]>, RankError> {
        let held_out = self.order(rows, seed, interrupt)?.held_out(share);
        let views = |part: HeldOutPart| {
            [false, true].map(|inside| View::Held { part: part.clone(), inside })
        };
        Ok(held_out.map(views))
    }
}
