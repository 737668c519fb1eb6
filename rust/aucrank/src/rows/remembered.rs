//! What a part remembers of its rows between the questions of fits.

use std::sync::{Mutex, MutexGuard, PoisonError};

use super::fit_id::TreeId;

/// The rows of a part after some steps of a learner: a cache, since steps can be told again.
#[derive(Debug)]
pub(crate) struct RowStates<S> {
    pub(crate) n_steps: usize,
    pub(crate) states: S,
}

/// States of rows by whose they are, in the order in which they were last asked.
#[derive(Debug)]
pub(super) struct Remembered<S> {
    /// How many there are at most: those of fits that were given up are forgotten by and by.
    most: usize,
    states: Mutex<Vec<(TreeId, RowStates<S>)>>,
}

impl<S> Remembered<S> {
    pub(super) fn new(most: usize) -> Self {
        Self { most, states: Mutex::default() }
    }

    fn lock(&self) -> MutexGuard<'_, Vec<(TreeId, RowStates<S>)>> {
        self.states.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes out what is known for a learner; what is done with is forgotten.
    pub(super) fn take(&self, tree: TreeId) -> Option<RowStates<S>> {
        let mut all = self.lock();
        all.retain(|(other, _)| !tree.ends(*other));
        let place = all.iter().position(|(other, _)| other.is(tree))?;
        Some(all.remove(place).1)
    }

    pub(super) fn put(&self, tree: TreeId, states: RowStates<S>) {
        let mut all = self.lock();
        if all.len() == self.most {
            all.remove(0);
        }
        all.push((tree, states));
    }
}
