//! What a part keeps of its rows between the questions of fits: a cache, since a question carries all
//! that was decided, or can.

use std::any::Any;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::fit_id::TreeId;

/// Fits and trees of which a part keeps the states of its rows: those that were given up are forgotten
/// by and by.
const MOST: usize = 256;

/// The rows of a part after some steps of a learner.
#[derive(Debug)]
pub(crate) struct RowStates<S> {
    pub(crate) n_steps: usize,
    pub(crate) states: S,
}

type State = Box<dyn Any + Send>;

/// States of rows by whose they are, in the order in which they were last asked.
#[derive(Debug, Default)]
pub(super) struct States(Mutex<Vec<(TreeId, State)>>);

impl States {
    fn lock(&self) -> MutexGuard<'_, Vec<(TreeId, State)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes out what is kept for a learner; what is done with is forgotten.
    fn take(&self, tree: TreeId) -> Option<State> {
        let mut all = self.lock();
        all.retain(|(other, _)| !tree.ends(*other));
        let place = all.iter().position(|(other, _)| other.is(tree))?;
        Some(all.remove(place).1)
    }

    fn put(&self, tree: TreeId, state: State) {
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
    state: Option<State>,
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
