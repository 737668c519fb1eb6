//! What a part keeps of its rows between the questions of fits: a cache, since a question carries all
//! that was decided, or can.

use std::any::Any;
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

#[cfg(feature = "serde")]
use serde::{Deserialize, Serialize};

use super::Rows;
use super::ask::{Ask, View};
use super::histograms::{AskTotals, Totals};
use super::question::Question;
use super::row_sample::AskLeastHashes;
use crate::data::{DealOrder, HeldOutPart, RowOrder};
use crate::{Interrupt, RankError};

/// Fits and trees of which a part keeps the states of its rows: those that were given up are forgotten
/// by and by.
const MOST: usize = 256;

/// The rows of a part after some steps of a learner.
#[derive(Debug)]
pub(crate) struct RowStates<S> {
    pub(crate) n_steps: usize,
    pub(crate) states: S,
}

type KeptState = Box<dyn Any + Send>;

/// States of rows by whose they are, in the order in which they were last queried.
#[derive(Debug, Default)]
pub(super) struct States(Mutex<Vec<(TreeId, KeptState)>>);

impl States {
    fn lock(&self) -> MutexGuard<'_, Vec<(TreeId, KeptState)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes out what is kept for a learner; what is done with is forgotten.
    fn take(&self, tree: TreeId) -> Option<KeptState> {
        let mut all = self.lock();
        all.retain(|(other, _)| !tree.ends(*other));
        let place = all.iter().position(|(other, _)| other.is(tree))?;
        Some(all.remove(place).1)
    }

    fn put(&self, tree: TreeId, state: KeptState) {
        let mut all = self.lock();
        if all.len() == MOST {
            all.remove(0);
        }
        all.push((tree, state));
    }
}

/// Memory that is used part by part, by its type.
#[derive(Debug, Default)]
pub(super) struct Buffers(Vec<Box<dyn Any + Send>>);

impl Buffers {
    fn of<T: Default + Send + 'static>(&mut self) -> &mut T {
        let place = self.0.iter().position(|buffer| buffer.is::<T>()).unwrap_or_else(|| {
            self.0.push(Box::<T>::default());
            self.0.len() - 1
        });
        self.0[place].downcast_mut().expect("it was found by its type")
    }
}

/// What a part has kept for whose question it answers, and memory to work in.
#[derive(Debug)]
pub(crate) struct Kept<'a> {
    states: &'a States,
    tree: TreeId,
    state: Option<KeptState>,
    buffers: &'a mut Buffers,
}

impl<'a> Kept<'a> {
    pub(super) fn new(states: &'a States, tree: TreeId, buffers: &'a mut Buffers) -> Self {
        Self { states, tree, state: states.take(tree), buffers }
    }

    /// What was kept, if it is of this type.
    pub(crate) fn get<S: 'static>(&self) -> Option<&S> {
        self.state.as_ref()?.downcast_ref()
    }

    /// Takes out what was kept, if it is of this type.
    pub(crate) fn take<S: 'static>(&mut self) -> Option<S> {
        self.state.take_if(|state| state.is::<S>())?.downcast().ok().map(|state| *state)
    }

    pub(crate) fn put<S: Send + 'static>(&mut self, state: S) {
        self.state = Some(Box::new(state));
    }

    /// Memory to work in; what it holds is of the question before.
    pub(crate) fn buffers<T: Default + Send + 'static>(&mut self) -> &mut T {
        self.buffers.of()
    }
}

impl Drop for Kept<'_> {
    fn drop(&mut self) {
        if let Some(state) = self.state.take() {
            self.states.put(self.tree, state);
        }
    }
}

/// Which tree of which fit: what a holder remembers its rows' cells by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
pub(crate) struct TreeId {
    /// Of the fit; no other fit that queries the same holders has it.
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

    /// Whether it says that another tree is finished.
    pub(super) fn ends(self, other: Self) -> bool {
        self.fit == other.fit && other.number < self.oldest
    }
}

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
    ) -> Result<DealOrder, RankError> {
        if let Some(table) = &rows.frame().blocks {
            return Ok(DealOrder::Blocks(Arc::clone(table), seed));
        }
        let least = self.ask(rows, View::All, AskLeastHashes { seed }, interrupt)?;
        Ok(DealOrder::Contents(Arc::new(RowOrder::of_hashes(seed, least.0))))
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
        let held_out = self.order(rows, seed, interrupt)?.held_out(share);
        let views = |part: HeldOutPart| {
            [false, true].map(|inside| View::Held { part: part.clone(), inside })
        };
        Ok(held_out.map(views))
    }
}
