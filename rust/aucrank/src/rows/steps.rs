//! The conversation between a learner and the holders of its rows.
//!
//! A learner *asks* a [question](super::Question), such as the class sums of some cells by code. A
//! holder *answers* with sums of integers; [answers](super::Mergeable) of several holders are merged
//! in any grouping. The learner decides, and what it decides is a *step*: a split of a cell, a tree
//! whose values are added to scores, a factor for each code. Steps change what the next question is
//! about, so that each question carries them: those since the last one ([`SentSteps`]) of all that
//! the learner has in its log ([`StepLog`]).
//!
//! A part of the rows keeps its state after the steps that it has followed: the cell, score or
//! factor of each row. The state is a cache, and may be lost at any time: a worker ends, or rows move
//! to another one. A part without it, or with that of too few steps, answers that it is *behind*. The
//! answer of all rows is then worth nothing; the learner asks again with the whole log, and the part
//! *replays* it from the first step on. Parts that are ahead keep what they have. So an answer
//! depends on the rows and on all steps, and not on the holder, nor on earlier questions.
//!
//! A fit may have several logs at a time, such as those of the trees without each fold, or of the
//! bags of a booster. Each grows in a task of its own, as if it were alone; once all tasks wait for
//! answers, [`together`](super::together) *joins* their questions, and rows are read once for all.
//! If a part is behind in one log, only its question comes again, with the next ones of the others.

use std::sync::atomic::{AtomicUsize, Ordering};

use serde::{Deserialize, Serialize};

use super::Rows;
use super::fit_id::FitId;
use super::kept::Kept;
use super::question::{Question, lacking};
use super::view::View;
use crate::{Interrupt, RankError};

/// A decision of a learner that changes what a part keeps of its rows.
pub(crate) trait Step: Clone {
    /// The rows of a part after some steps.
    type States: Send + 'static;
}

/// The steps of a learner, in its own order.
pub(crate) struct StepLog<'a, S> {
    fit: &'a FitId,
    number: u64,
    steps: Vec<S>,
    /// Number of steps that all parts have followed.
    n_sent: AtomicUsize,
}

impl<'a, S: Step> StepLog<'a, S> {
    pub(crate) fn new(fit: &'a FitId) -> Self {
        Self { fit, number: fit.begin_log(), steps: Vec::new(), n_sent: AtomicUsize::new(0) }
    }

    /// Its number among the logs of the fit.
    pub(crate) fn number(&self) -> u64 {
        self.number
    }

    pub(crate) fn steps(&self) -> &[S] {
        &self.steps
    }

    pub(crate) fn push(&mut self, step: S) {
        self.steps.push(step);
    }

    /// Keeps the first steps, in a new log: parts have followed the others.
    pub(crate) fn cut(&mut self, n_steps: usize) {
        let mut first = Self::new(self.fit);
        first.steps.extend_from_slice(&self.steps[..n_steps]);
        *self = first;
    }

    /// The steps that some parts have not followed yet, or all.
    pub(crate) fn sent(&self, are_all: bool) -> SentSteps<S> {
        let n_before = if are_all { 0 } else { self.n_sent.load(Ordering::Relaxed) };
        SentSteps { n_before, steps: self.steps[n_before..].to_vec() }
    }

    /// Asks about the rows of a view after all steps, given the question with those that are sent:
    /// once, or again with all of them if some part is behind.
    pub(crate) fn ask<Q: Question>(
        &self,
        rows: &dyn Rows,
        view: &View,
        question: impl Fn(SentSteps<S>) -> Q,
        interrupt: &Interrupt,
    ) -> Result<Q::Answer, RankError> {
        for are_all in [false, true] {
            let question = question(self.sent(are_all));
            let ask = self.fit.question_of(self.number, view.clone(), question);
            if let Some(answer) = rows.pass(&ask, interrupt)?.to::<Q>()? {
                self.n_sent.store(self.steps.len(), Ordering::Relaxed);
                return Ok(answer);
            }
        }
        Err(lacking())
    }
}

impl<S> Drop for StepLog<'_, S> {
    fn drop(&mut self) {
        self.fit.end_log(self.number);
    }
}

/// The steps that a question carries.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct SentSteps<S> {
    /// Number of steps that were sent before.
    pub(crate) n_before: usize,
    pub(crate) steps: Vec<S>,
}

struct KeptStates<T> {
    n_steps: usize,
    states: T,
}

impl<S: Step> SentSteps<S> {
    /// For a question about rows without states.
    pub(crate) fn none() -> Self {
        Self { n_before: 0, steps: Vec::new() }
    }

    fn n_steps(&self) -> usize {
        self.n_before.saturating_add(self.steps.len())
    }

    /// Whether none was sent before.
    pub(crate) fn are_all(&self) -> bool {
        self.n_before == 0
    }

    /// Whether a part follows them from its kept states on.
    fn continues(&self, kept: &Kept<'_>) -> bool {
        let sent = self.n_before..=self.n_steps();
        kept.get::<KeptStates<S::States>>().is_some_and(|kept| sent.contains(&kept.n_steps))
    }

    /// Whether a part replays them from the first one on.
    pub(crate) fn begins(&self, kept: &Kept<'_>) -> bool {
        self.n_before == 0 && !self.continues(kept)
    }

    /// The states of the rows of a part, and the steps that they have not followed yet; `None` if
    /// the part is behind.
    pub(crate) fn missing(
        &self,
        kept: &mut Kept<'_>,
        first: impl FnOnce() -> S::States,
    ) -> Option<(S::States, &[S])> {
        let known = if self.continues(kept) { kept.take::<KeptStates<S::States>>() } else { None };
        match known {
            Some(KeptStates { n_steps, states }) => {
                Some((states, &self.steps[n_steps - self.n_before..]))
            }
            None if self.n_before == 0 => Some((first(), &self.steps)),
            None => {
                kept.fall_behind();
                None
            }
        }
    }

    /// Keeps the states after all steps.
    pub(crate) fn keep(&self, kept: &mut Kept<'_>, states: S::States) {
        kept.put(KeptStates { n_steps: self.n_steps(), states });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::BinningParams;
    use crate::rows::mergeable::Mergeable;
    use crate::rows::part_view::PartView;
    use crate::rows::tests::{Counted, Data, Weights, uneven};
    use crate::rows::words::WordReader;
    use crate::rows::{RowFrame, StoredRows};

    /// Asks for the sum of the values of all rows. A value is 1 for a positive, then twice itself
    /// and a number more with each step.
    #[derive(Debug, Serialize, Deserialize)]
    struct AskSum(SentSteps<u64>);

    #[derive(Debug, Clone, Default, PartialEq)]
    struct Sum(u64);

    impl Step for u64 {
        type States = Vec<u64>;
    }

    impl Mergeable for Sum {
        fn merge(&mut self, more: Self) -> Result<(), RankError> {
            self.0 += more.0;
            Ok(())
        }

        fn put_words(&mut self, words: &mut Vec<u64>) {
            words.push(self.0);
        }

        fn take_words(&mut self, reader: &mut WordReader<'_>) -> Result<(), RankError> {
            self.0 = reader.word()?;
            Ok(())
        }
    }

    impl Question for AskSum {
        const NAME: &'static str = "sum of a test";

        type Answer = Sum;

        fn none(&self, _: &RowFrame) -> Sum {
            Sum::default()
        }

        fn add(
            &self,
            part: &PartView<'_>,
            kept: &mut Kept<'_>,
            sum: &mut Sum,
            _: &Interrupt,
        ) -> Result<(), RankError> {
            let first = || part.positive().iter().copied().map(u64::from).collect::<Vec<u64>>();
            let Some((mut values, steps)) = self.0.missing(kept, first) else { return Ok(()) };
            for step in steps {
                for value in &mut values {
                    *value = 2 * *value + step;
                }
            }
            sum.0 += values.iter().sum::<u64>();
            self.0.keep(kept, values);
            Ok(())
        }
    }

    /// Adds a step and asks; returns the number of passes.
    fn n_passes(
        data: &Data,
        rows: &StoredRows,
        log: &mut StepLog<'_, u64>,
        step: Option<u64>,
    ) -> usize {
        if let Some(step) = step {
            log.push(step);
        }
        let value = |&positive: &bool| {
            log.steps().iter().fold(u64::from(positive), |value, step| 2 * value + step)
        };
        let expected = data.positive.iter().map(value).sum();
        let (counted, interrupt) = (Counted::new(rows), Interrupt::default());
        assert_eq!(log.ask(&counted, &View::All, AskSum, &interrupt), Ok(Sum(expected)));
        counted.n_passes.into_inner()
    }

    #[test]
    fn steps_are_sent_once_or_again_to_rows_that_lack_them() {
        let data = Data::new(300, Weights::None);
        let bounds = uneven(300, 3);
        let frame = data.survey(&bounds, BinningParams::default());
        let holders = [(); 2].map(|()| data.store(frame.clone(), &bounds, None));
        let (fit, other) = (FitId::new(1), FitId::new(2));
        let (mut log, mut another) = (StepLog::new(&fit), StepLog::new(&other));
        let n = |log: &StepLog<'_, u64>| (log.sent(false).n_before, log.sent(false).steps.len());
        for (step, holder, expected) in [
            (Some(5), 0, 1),
            (Some(7), 0, 1),
            // Nothing is new.
            (None, 0, 1),
            // A holder without a state.
            (Some(1), 1, 2),
            (Some(2), 1, 1),
            // This one has not followed the last two.
            (Some(3), 0, 2),
        ] {
            assert_eq!(n_passes(&data, &holders[holder], &mut log, step), expected, "{step:?}");
            assert_eq!(n(&log), (log.steps().len(), 0));
            n_passes(&data, &holders[0], &mut another, Some(9));
        }
        log.push(11);
        assert_eq!(n(&log), (5, 1));
        assert_eq!(log.sent(true), SentSteps { n_before: 0, steps: vec![5, 7, 1, 2, 3, 11] });
        log.cut(2);
        assert_eq!(n_passes(&data, &holders[0], &mut log, None), 1);
        assert_eq!(n_passes(&data, &holders[0], &mut log, Some(6)), 1);
    }

    #[test]
    fn rows_that_never_follow_are_an_error() {
        /// Rows that are always behind.
        struct Forgetful(StoredRows);

        impl Rows for Forgetful {
            fn frame(&self) -> &RowFrame {
                self.0.frame()
            }

            fn pass(
                &self,
                ask: &crate::rows::Ask,
                _: &Interrupt,
            ) -> Result<crate::rows::Answer, RankError> {
                let mut behind = crate::rows::Answer::none(ask, self.frame());
                behind.0[0] = None;
                Ok(behind)
            }
        }

        let data = Data::new(50, Weights::None);
        let frame = data.survey(&[0, 50], BinningParams::default());
        let rows = Forgetful(data.store(frame, &[0, 50], None));
        let (fit, interrupt) = (FitId::new(1), Interrupt::default());
        let log = StepLog::<u64>::new(&fit);
        let err = log.ask(&rows, &View::All, AskSum, &interrupt).unwrap_err();
        assert!(err.to_string().contains("a holder lacks what it was sent"), "{err}");
    }
}
