//! The states that a part keeps between the questions of fits.

use std::any::Any;
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde::{Deserialize, Serialize};

/// Number of states after which those of other fits are dropped, which may be abandoned.
const MOST: usize = 256;

/// Number of a fit, and of a log of it.
type LogKey = [u64; 2];

type KeptState = Box<dyn Any + Send>;

/// States of rows by log, in the order of their last question.
#[derive(Debug, Default)]
pub(super) struct States(Mutex<Vec<(LogKey, KeptState)>>);

impl States {
    fn lock(&self) -> MutexGuard<'_, Vec<(LogKey, KeptState)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes out a state; drops those of logs that have ended.
    fn take(&self, key: LogKey, log: &LogId) -> Option<KeptState> {
        let mut all = self.lock();
        all.retain(|(other, _)| !log.ends(*other));
        let place = all.iter().position(|(other, _)| *other == key)?;
        Some(all.remove(place).1)
    }

    fn put(&self, key: LogKey, state: KeptState) {
        let mut all = self.lock();
        if all.len() >= MOST
            && let Some(place) = all.iter().position(|([fit, _], _)| *fit != key[0])
        {
            all.remove(place);
        }
        all.push((key, state));
    }
}

/// Working memory of the questions to one part after the other, by its type.
#[derive(Debug, Default)]
pub(super) struct Buffers {
    reused: Vec<Box<dyn Any + Send>>,
    of_part: Vec<Box<dyn Any + Send>>,
}

impl Buffers {
    /// Drops what questions have derived from the rows of a part.
    pub(super) fn end_part(&mut self) {
        self.of_part.clear();
    }
}

fn of_type<T: Default + Send + 'static>(all: &mut Vec<Box<dyn Any + Send>>) -> &mut T {
    let place = all.iter().position(|buffer| buffer.is::<T>()).unwrap_or_else(|| {
        all.push(Box::<T>::default());
        all.len() - 1
    });
    all[place].downcast_mut().expect("it was found by its type")
}

/// State that a part has kept for the log of a question, and working memory.
#[derive(Debug)]
pub(crate) struct Kept<'a> {
    states: &'a States,
    log: &'a LogId,
    key: LogKey,
    state: Option<KeptState>,
    is_behind: bool,
    buffers: &'a mut Buffers,
}

impl<'a> Kept<'a> {
    pub(super) fn new(states: &'a States, log: &'a LogId, buffers: &'a mut Buffers) -> Self {
        Self::of(states, log, log.number, buffers)
    }

    fn of(states: &'a States, log: &'a LogId, number: u64, buffers: &'a mut Buffers) -> Self {
        let key = [log.fit, number];
        Self { states, log, key, state: states.take(key, log), is_behind: false, buffers }
    }

    /// What is kept for another log of the fit.
    pub(crate) fn of_log(&mut self, number: u64) -> Kept<'_> {
        Kept::of(self.states, self.log, number, self.buffers)
    }

    /// The kept state, if it is of this type.
    pub(super) fn get<S: 'static>(&self) -> Option<&S> {
        self.state.as_ref()?.downcast_ref()
    }

    /// Takes out the kept state, if it is of this type.
    pub(super) fn take<S: 'static>(&mut self) -> Option<S> {
        self.state.take_if(|state| state.is::<S>())?.downcast().ok().map(|state| *state)
    }

    pub(super) fn put<S: Send + 'static>(&mut self, state: S) {
        self.state = Some(Box::new(state));
    }

    /// Answers that the part lacks earlier steps.
    pub(crate) fn fall_behind(&mut self) {
        self.is_behind = true;
    }

    /// Whether the part lacks earlier steps.
    pub(super) fn is_behind(&self) -> bool {
        self.is_behind
    }

    /// Working memory, with the content of the question before.
    pub(crate) fn buffers<T: Default + Send + 'static>(&mut self) -> &mut T {
        of_type(&mut self.buffers.reused)
    }

    /// What the questions of a pass share about the rows of this part.
    pub(crate) fn of_part<T: Default + Send + 'static>(&mut self) -> &mut T {
        of_type(&mut self.buffers.of_part)
    }
}

impl Drop for Kept<'_> {
    fn drop(&mut self) {
        if let Some(state) = self.state.take() {
            self.states.put(self.key, state);
        }
    }
}

/// Number of a log of a fit, and which other logs of it have ended: a holder keeps a state for each
/// of the others.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct LogId {
    /// Number of the fit, unique among the fits that query the same holders.
    pub(super) fit: u64,
    pub(super) number: u64,
    /// Number of logs begun so far.
    pub(super) n_begun: u64,
    /// Those that have not ended.
    pub(super) open: Vec<u64>,
}

impl LogId {
    /// Whether another log has ended, according to this one. A log that is unknown here may have
    /// begun later, at the same time as this question.
    fn ends(&self, [fit, number]: LogKey) -> bool {
        self.fit == fit && number < self.n_begun && !self.open.contains(&number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn states_are_dropped_once_their_logs_have_ended() {
        let log = |number, n_begun, open: &[u64]| {
            let open = open.to_vec();
            LogId { fit: 1, number, n_begun, open }
        };
        let states = States::default();
        for key in [[1, 0], [1, 1], [1, 2], [1, 3], [2, 1]] {
            states.put(key, Box::new(key));
        }
        // The question is of a time when the log 3 had not begun.
        assert!(states.take([1, 2], &log(2, 3, &[0, 2])).is_some());
        let kept: Vec<LogKey> = states.lock().iter().map(|(key, _)| *key).collect();
        assert_eq!(kept, [[1, 0], [1, 3], [2, 1]]);
        assert!(states.take([1, 1], &log(1, 4, &[0, 3])).is_none());
    }

    #[test]
    fn states_of_other_fits_are_dropped_first() {
        let states = States::default();
        for number in 0..MOST as u64 + 3 {
            states.put([number % 2, number], Box::new(()));
        }
        let kept: Vec<LogKey> = states.lock().iter().map(|(key, _)| *key).collect();
        assert_eq!(kept.len(), MOST);
        for number in MOST as u64..2 * MOST as u64 {
            states.put([0, 2 * number], Box::new(()));
        }
        assert!(states.lock().iter().all(|([fit, _], _)| *fit == 0));
    }
}
