//! A part of the rows, which answers questions.

use std::borrow::Cow;
use std::sync::Arc;

use super::coded::CodedRows;
use super::coding::Coding;
use super::frame::RowFrame;
use super::kept::{Buffers, Kept, States};
use super::part_view::PartView;
use super::question::{Answer, Ask, PackedQuestion};
use super::spill::{Spill, SpillSlot};
use crate::data::Binned;
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
                    .reads_hashes(&head.view, &Kept::new(&self.states, &head.log, &mut buffers))
        });
        let rows = self.rows(with_hashes, spill, scratch)?;
        // Trees that grow at the same time have the same codes except for rates.
        let mut recoded: Option<(&Arc<Coding>, Cow<'_, Binned>)> = None;
        let is_same = |a: &Arc<Coding>, b: &Arc<Coding>| Arc::ptr_eq(a, b) || a == b;
        for (PackedQuestion { head, question }, reply) in ask.0.iter().zip(&mut sum.0) {
            // If another part lacks earlier steps, the question comes again.
            let Some(sum) = reply else { continue };
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
            let mut kept = Kept::new(&self.states, &head.log, &mut buffers);
            question.add_to_any(&view, &mut kept, &mut **sum, interrupt)?;
            if kept.is_behind() {
                *reply = None;
            }
        }
        buffers.end_part();
        scratch.buffers = buffers;
        Ok(())
    }
}
