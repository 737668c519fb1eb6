//! Rows in the codes of a fit: questions are put in them.

use std::sync::Arc;

use super::coding::Coding;
use super::frame::RowFrame;
use super::{Answer, Ask, Rows};
use crate::{Interrupt, RankError};

/// Rows in the codes of a fit.
pub(crate) struct Recoded<'a> {
    rows: &'a dyn Rows,
    /// `None` if the codes are those in which rows are held.
    coding: Option<Arc<Coding>>,
    frame: RowFrame,
}

impl<'a> Recoded<'a> {
    pub(super) fn new(rows: &'a dyn Rows, coding: &Arc<Coding>) -> Self {
        let frame = coding.frame(rows.frame());
        Self { rows, coding: coding.changes_codes().then(|| Arc::clone(coding)), frame }
    }

    /// The same codes of the same rows, queried through another holder.
    #[cfg(test)]
    pub(super) fn of<'b>(&self, rows: &'b dyn Rows) -> Recoded<'b> {
        Recoded { rows, coding: self.coding.clone(), frame: self.frame.clone() }
    }
}

impl Rows for Recoded<'_> {
    fn frame(&self) -> &RowFrame {
        &self.frame
    }

    fn pass(&self, ask: &Ask, interrupt: &Interrupt) -> Result<Answer, RankError> {
        match &self.coding {
            Some(coding) => self.rows.pass(&ask.in_codes(coding), interrupt),
            None => self.rows.pass(ask, interrupt),
        }
    }
}
