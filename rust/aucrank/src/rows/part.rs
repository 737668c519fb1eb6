//! A part of the rows, which answers.

use super::answer::Answer;
use super::ask::{Ask, Asked};
use super::coded::CodedRows;
use super::frame::RowFrame;
use super::kept::{Buffers, Kept, States};
use super::part_view::PartView;
use super::spill::{Slot, Spill};
use crate::{Interrupt, RankError};

/// Coded rows in memory or in a file, with what is kept of them for the fits that ask.
#[derive(Debug)]
pub(super) struct Part {
    rows: PartRows,
    states: States,
}

#[derive(Debug)]
enum PartRows {
    Memory(CodedRows),
    File(Slot),
}

/// Memory that is used part by part.
#[derive(Debug)]
pub(super) struct Scratch {
    bytes: Vec<u8>,
    rows: CodedRows,
    buffers: Buffers,
}

impl Scratch {
    pub(super) fn new(frame: &RowFrame) -> Self {
        let (bytes, buffers) = Default::default();
        Self { bytes, rows: CodedRows::none(frame), buffers }
    }
}

impl Part {
    /// Rows that stay in memory.
    pub(super) fn in_memory(rows: CodedRows) -> Self {
        Self::of(PartRows::Memory(rows))
    }

    /// Rows that lie in a file.
    pub(super) fn in_file(slot: Slot) -> Self {
        Self::of(PartRows::File(slot))
    }

    fn of(rows: PartRows) -> Self {
        Self { rows, states: States::default() }
    }

    /// Its rows, with their hashes, read into the scratch if they lie in a file.
    pub(super) fn rows<'s>(
        &'s self,
        with_hashes: bool,
        spill: Option<&Spill>,
        scratch: &'s mut Scratch,
    ) -> Result<&'s CodedRows, RankError> {
        let Scratch { bytes, rows, .. } = scratch;
        match (&self.rows, spill) {
            (PartRows::Memory(rows), _) => Ok(rows),
            (PartRows::File(slot), Some(spill)) => {
                spill.read(*slot, with_hashes, bytes, rows)?;
                Ok(rows)
            }
            (PartRows::File(_), None) => unreachable!("parts of a file have one"),
        }
    }

    /// Adds what its rows answer.
    pub(super) fn answer(
        &self,
        ask: &Ask,
        frame: &RowFrame,
        spill: Option<&Spill>,
        scratch: &mut Scratch,
        sum: &mut Answer,
        interrupt: &Interrupt,
    ) -> Result<(), RankError> {
        let mut buffers = std::mem::take(&mut scratch.buffers);
        let with_hashes = ask.0.iter().any(|Asked { head, question }| {
            question.reads_hashes(&head.view, &Kept::new(&self.states, head.tree, &mut buffers))
        });
        let rows = self.rows(with_hashes, spill, scratch)?;
        for (Asked { head, question }, sum) in ask.0.iter().zip(&mut sum.0) {
            let view = PartView::new(rows, &head.view, frame);
            let mut kept = Kept::new(&self.states, head.tree, &mut buffers);
            question.add_to_any(&view, &mut kept, &mut **sum, interrupt)?;
        }
        scratch.buffers = buffers;
        Ok(())
    }
}
