//! A part of the rows, which answers questions, and the state that it keeps between the questions
//! of fits: a cache, since a question carries all earlier decisions, or can.

use std::any::Any;
use std::borrow::Cow;
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde::{Deserialize, Serialize};

use super::Rows;
use super::coded::{CodedRows, CodedSums, Coding};
use super::frame::RowFrame;
use super::histograms::{AskTotals, Totals};
use super::question::{Answer, Ask, PackedQuestion, Question, View};
use super::row_sample::AskLeastHashes;
use super::stored::{Spill, SpillSlot};
use crate::data::{Binned, ClassMasses, CountedRows, DealOrder, FixedScale, HeldOutPart, RowOrder};
use crate::{Interrupt, RankError};

/// Coded rows in memory or in a file, with the states kept for the fits that query them.
#[derive(Debug)]
pub(super) struct Part {
    rows: HeldRows,
    states: States,
}

#[derive(Debug)]
enum HeldRows {
    Memory(CodedRows),
    File(SpillSlot),
}

/// Memory that is reused from part to part.
#[derive(Debug)]
pub(super) struct PartScratch {
    bytes: Vec<u8>,
    rows: CodedRows,
    buffers: Buffers,
}

impl PartScratch {
    pub(super) fn new(frame: &RowFrame) -> Self {
        let (bytes, buffers) = Default::default();
        Self { bytes, rows: CodedRows::none(frame), buffers }
    }
}

impl Part {
    /// Part whose rows stay in memory.
    pub(super) fn in_memory(rows: CodedRows) -> Self {
        Self::of(HeldRows::Memory(rows))
    }

    /// Part whose rows are in a file.
    pub(super) fn in_file(slot: SpillSlot) -> Self {
        Self::of(HeldRows::File(slot))
    }

    fn of(rows: HeldRows) -> Self {
        Self { rows, states: States::default() }
    }

    /// Its rows, with their hashes, read into the scratch if they are in a file.
    pub(super) fn rows<'s>(
        &'s self,
        with_hashes: bool,
        spill: Option<&Spill>,
        scratch: &'s mut PartScratch,
    ) -> Result<&'s CodedRows, RankError> {
        let PartScratch { bytes, rows, .. } = scratch;
        match (&self.rows, spill) {
            (HeldRows::Memory(rows), _) => Ok(rows),
            (HeldRows::File(slot), Some(spill)) => {
                spill.read(*slot, with_hashes, bytes, rows)?;
                Ok(rows)
            }
            (HeldRows::File(_), None) => unreachable!("parts of a file have one"),
        }
    }

    /// Adds the answer of its rows.
    pub(super) fn answer(
        &self,
        ask: &Ask,
        frame: &RowFrame,
        spill: Option<&Spill>,
        scratch: &mut PartScratch,
        sum: &mut Answer,
        interrupt: &Interrupt,
    ) -> Result<(), RankError> {
        let mut buffers = std::mem::take(&mut scratch.buffers);
        let with_hashes = ask.0.iter().any(|PackedQuestion { head, question }| {
            head.coding.as_ref().is_some_and(|coding| coding.needs_hashes())
                || question
                    .reads_hashes(&head.view, &Kept::new(&self.states, head.tree, &mut buffers))
        });
        let rows = self.rows(with_hashes, spill, scratch)?;
        // Trees that grow at the same time have the same codes except for rates.
        let mut recoded: Option<(&Arc<Coding>, Cow<'_, Binned>)> = None;
        let is_same = |a: &Arc<Coding>, b: &Arc<Coding>| Arc::ptr_eq(a, b) || a == b;
        for (PackedQuestion { head, question }, sum) in ask.0.iter().zip(&mut sum.0) {
            let frame = head.frame(frame);
            let binned = match &head.coding {
                None => &rows.binned,
                Some(coding) => {
                    let codes = match recoded.take() {
                        Some((other, codes)) if is_same(other, coding) => codes,
                        _ => coding.codes(rows, &frame)?,
                    };
                    &recoded.insert((coding, codes)).1
                }
            };
            let view = PartView::new(rows, binned, &head.view, &frame);
            let mut kept = Kept::new(&self.states, head.tree, &mut buffers);
            question.add_to_any(&view, &mut kept, &mut **sum, interrupt)?;
        }
        scratch.buffers = buffers;
        Ok(())
    }
}

/// Coded rows of a part; rows outside a view have no weight.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PartView<'a> {
    rows: &'a CodedRows,
    /// In the codes of the question.
    binned: &'a Binned,
    view: &'a View,
    pub(crate) frame: &'a RowFrame,
}

impl<'a> PartView<'a> {
    pub(super) fn new(
        rows: &'a CodedRows,
        binned: &'a Binned,
        view: &'a View,
        frame: &'a RowFrame,
    ) -> Self {
        Self { rows, binned, view, frame }
    }

    /// All rows of the part, in the codes in which they are held.
    pub(crate) fn coded(&self) -> &'a CodedRows {
        self.rows
    }

    /// Rows of positive weight in view, ascending.
    pub(crate) fn rows(&self) -> Vec<u32> {
        self.rows.of_view(self.view).collect()
    }

    /// Tally of the rows if each counts once.
    pub(super) fn counts(&self) -> CountedRows<'a> {
        CountedRows(&self.rows.positive)
    }

    /// Tally of the rows by weight.
    pub(crate) fn sums(&self) -> CodedSums<'a> {
        self.rows.sums(self.frame)
    }

    pub(crate) fn n_rows(&self) -> usize {
        self.rows.n_rows()
    }

    pub(crate) fn binned(&self) -> &'a Binned {
        self.binned
    }

    pub(crate) fn positive(&self) -> &'a [bool] {
        &self.rows.positive
    }

    /// Hash of the content of each row; empty if no question needs it.
    pub(crate) fn hashes(&self) -> &'a [u64] {
        &self.rows.hashes
    }

    /// Units of weight of each row, 0 outside the view; `None` if every row counts once.
    pub(crate) fn units(&self) -> Option<Cow<'a, [u64]>> {
        let all = (self.frame.scale.is_some()).then_some(&self.rows.units);
        if *self.view == View::All {
            return all.map(|units| Cow::Borrowed(&units[..]));
        }
        let units = (0..self.n_rows()).map(|row| {
            let is_there = self.view.contains(self.rows.dealt(row));
            if is_there { all.map_or(1, |units| units[row]) } else { 0 }
        });
        Some(units.collect())
    }

    /// Class weight of a row of `units` units, if it has any.
    pub(crate) fn class_units(&self, row: usize, units: u64) -> Option<ClassMasses> {
        let pos = if self.rows.positive[row] { units } else { 0 };
        (units > 0).then_some(ClassMasses { pos, neg: units - pos })
    }

    /// Number of rows that one of `units` units counts as.
    pub(crate) fn rows_of(&self, units: u64) -> u64 {
        if self.frame.scale.is_none_or(FixedScale::is_whole) { units } else { u64::from(units > 0) }
    }
}

/// Number of fits and trees for which a part keeps the states of its rows: those of abandoned fits
/// are dropped in time.
const MOST: usize = 256;

/// The rows of a part after some steps of a learner.
#[derive(Debug)]
pub(crate) struct RowStates<S> {
    pub(crate) n_steps: usize,
    pub(crate) states: S,
}

type KeptState = Box<dyn Any + Send>;

/// States of rows by fit and tree, in the order of their last query.
#[derive(Debug, Default)]
pub(super) struct States(Mutex<Vec<(TreeId, KeptState)>>);

impl States {
    fn lock(&self) -> MutexGuard<'_, Vec<(TreeId, KeptState)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes out the state kept for a learner; drops those of finished trees.
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

/// Memory that is reused from part to part, by its type.
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

/// State that a part has kept for the tree of a question, and working memory.
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

    /// The kept state, if it is of this type.
    pub(crate) fn get<S: 'static>(&self) -> Option<&S> {
        self.state.as_ref()?.downcast_ref()
    }

    /// Takes out the kept state, if it is of this type.
    pub(crate) fn take<S: 'static>(&mut self) -> Option<S> {
        self.state.take_if(|state| state.is::<S>())?.downcast().ok().map(|state| *state)
    }

    pub(crate) fn put<S: Send + 'static>(&mut self, state: S) {
        self.state = Some(Box::new(state));
    }

    /// Working memory, with the content of the question before.
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

/// Number of a tree of a fit: the key of the cells that a holder keeps.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct TreeId {
    /// Number of the fit, unique among the fits that query the same holders.
    pub(super) fit: u64,
    pub(super) number: u64,
    /// Trees of the same fit with lower numbers are finished.
    pub(super) oldest: u64,
}

impl TreeId {
    /// Whether it is the same tree.
    pub(super) fn is(self, other: Self) -> bool {
        (self.fit, self.number) == (other.fit, other.number)
    }

    /// Whether another tree is finished, according to this one.
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
