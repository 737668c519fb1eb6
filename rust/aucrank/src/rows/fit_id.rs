//! A fit, as it is known to those who hold the rows.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::Rows;
use super::kept::LogId;
use super::least_hashes::AskLeastHashes;
use super::question::{Ask, Question, lacking};
use super::totals::{AskTotals, Totals};
use super::view::View;
use crate::data::{DealOrder, HeldOutPart, RowOrder};
use crate::{Interrupt, RankError};

/// A fit that queries rows, with the numbers of its logs.
#[derive(Debug)]
pub(crate) struct FitId {
    number: u64,
    logs: Mutex<LogNumbers>,
}

#[derive(Debug, Default)]
struct LogNumbers {
    n_begun: u64,
    open: BTreeSet<u64>,
}

impl FitId {
    pub(crate) fn new(number: u64) -> Self {
        Self { number, logs: Mutex::default() }
    }

    fn logs(&self) -> MutexGuard<'_, LogNumbers> {
        self.logs.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Starts a log and returns its number.
    pub(crate) fn begin_log(&self) -> u64 {
        let mut logs = self.logs();
        let number = logs.n_begun;
        logs.n_begun += 1;
        logs.open.insert(number);
        number
    }

    pub(super) fn end_log(&self, number: u64) {
        self.logs().open.remove(&number);
    }

    /// A question about the rows after the steps of a log.
    pub(crate) fn question_of(&self, log: u64, view: View, question: impl Question) -> Ask {
        let logs = self.logs();
        let (n_begun, open) = (logs.n_begun, logs.open.iter().copied().collect());
        Ask::new(LogId { fit: self.number, number: log, n_begun, open }, view, question)
    }

    /// A question that concerns no log.
    pub(crate) fn question(&self, view: View, question: impl Question) -> Ask {
        self.question_of(u64::MAX, view, question)
    }

    /// Asks a question that concerns no log.
    pub(crate) fn ask<Q: Question>(
        &self,
        rows: &dyn Rows,
        view: View,
        question: Q,
        interrupt: &Interrupt,
    ) -> Result<Q::Answer, RankError> {
        let answer = rows.pass(&self.question(view, question), interrupt)?;
        answer.to::<Q>()?.ok_or_else(lacking)
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
