//! Which trees of a fit are growing.

use std::collections::BTreeSet;
use std::sync::{Mutex, MutexGuard, PoisonError};

#[cfg(feature = "serde")]
use serde::{Deserialize, Serialize};

use super::Rows;
use super::ask::{Ask, View};
use super::least_hashes::AskLeastHashes;
use super::question::Question;
use super::totals::{AskTotals, Totals};
use crate::data::RowOrder;
use crate::{Interrupt, RankError};

/// Which tree of which fit: what a holder remembers its rows' cells by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
pub(crate) struct TreeId {
    /// Of the fit; no other fit that asks the same holders has it.
    pub(super) fit: u64,
    pub(super) number: u64,
    /// Trees of the same fit with lower numbers are done with.
    pub(super) oldest: u64,
}

impl TreeId {
    /// Whether it is the same tree.
    pub(super) fn is(self, other: Self) -> bool {
        (self.fit, self.number) == (other.fit, other.number)
    }

    /// Whether it tells that another tree is done with.
    pub(super) fn ends(self, other: Self) -> bool {
        self.fit == other.fit && other.number < self.oldest
    }
}

/// A fit that asks rows for the cells of one tree after the other, or of several at a time.
#[derive(Debug)]
pub(crate) struct Fit {
    number: u64,
    trees: Mutex<Trees>,
}

#[derive(Debug, Default)]
struct Trees {
    n_begun: u64,
    growing: BTreeSet<u64>,
}

impl Fit {
    pub(crate) fn new(number: u64) -> Self {
        Self { number, trees: Mutex::default() }
    }

    fn trees(&self) -> MutexGuard<'_, Trees> {
        self.trees.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The number of a new tree, which is growing from now on.
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

    /// A question about a tree, or about what else the fit numbers as one.
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

    /// Asks about no tree.
    pub(crate) fn ask<Q: Question>(
        &self,
        rows: &dyn Rows,
        view: View,
        question: Q,
        interrupt: &Interrupt,
    ) -> Result<Q::Answer, RankError> {
        self.ask_of(u64::MAX, rows, view, question, interrupt)
    }

    /// What the rows of a view come to.
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

    /// The order of all rows by a seed.
    pub(crate) fn order(
        &self,
        rows: &dyn Rows,
        seed: u64,
        interrupt: &Interrupt,
    ) -> Result<RowOrder, RankError> {
        let least = self.ask(rows, View::All, AskLeastHashes { seed }, interrupt)?;
        Ok(RowOrder::of_hashes(seed, least.0))
    }

    /// The rows that are kept and those that are held out, of which there is a share; `None` if a class
    /// has a single distinct row.
    pub(crate) fn hold_out(
        &self,
        rows: &dyn Rows,
        share: f64,
        seed: u64,
        interrupt: &Interrupt,
    ) -> Result<Option<[View; 2]>, RankError> {
        let holdout = self.order(rows, seed, interrupt)?.holdout(share);
        Ok(holdout.map(|holdout| [false, true].map(|inside| View::Held { holdout, inside })))
    }
}
