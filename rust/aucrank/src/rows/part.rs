//! A part of the rows, which answers.

use std::borrow::Cow;
use std::sync::Arc;

use super::ask::{Answer, Ask, PackedQuestion, View};
use super::coded::{CodedRows, CodedSums};
use super::frame::RowFrame;
use super::kept::{Buffers, Kept, States};
use super::recoded::Coding;
use super::spill::{Spill, SpillSlot};
use crate::data::{Binned, ClassMasses, CountedRows, FixedScale};
use crate::{Interrupt, RankError};

/// Coded rows in memory or in a file, with what is kept of them for the fits that query it.
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

/// Memory that is used part by part.
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
    /// Rows that stay in memory.
    pub(super) fn in_memory(rows: CodedRows) -> Self {
        Self::of(HeldRows::Memory(rows))
    }

    /// Rows that lie in a file.
    pub(super) fn in_file(slot: SpillSlot) -> Self {
        Self::of(HeldRows::File(slot))
    }

    fn of(rows: HeldRows) -> Self {
        Self { rows, states: States::default() }
    }

    /// Its rows, with their hashes, read into the scratch if they lie in a file.
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

    /// Adds what its rows answer.
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
        // Trees that grow at once have the same codes but for rates.
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

/// Coded rows of a part, of which those outside a view count for nothing.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PartView<'a> {
    rows: &'a CodedRows,
    /// In the codes that are queried.
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

    /// How rows count, where each counts once.
    pub(super) fn counts(&self) -> CountedRows<'a> {
        CountedRows(&self.rows.positive)
    }

    /// How rows count by weight.
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

    /// Hash of the content of each row; empty where no question needs it.
    pub(crate) fn hashes(&self) -> &'a [u64] {
        &self.rows.hashes
    }

    /// Units of weight of each row, 0 outside the view; `None` where every row counts once.
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

    /// The class weight of a row of so many units, if it has any.
    pub(crate) fn class_units(&self, row: usize, units: u64) -> Option<ClassMasses> {
        let pos = if self.rows.positive[row] { units } else { 0 };
        (units > 0).then_some(ClassMasses { pos, neg: units - pos })
    }

    /// How many rows one of so many units counts as.
    pub(crate) fn rows_of(&self, units: u64) -> u64 {
        if self.frame.scale.is_none_or(FixedScale::is_whole) { units } else { u64::from(units > 0) }
    }
}
