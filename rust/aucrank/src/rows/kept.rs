//! The state that a part keeps between the questions of fits: a cache, since a question carries all
//! earlier decisions, or can.

use std::any::Any;
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde::{Deserialize, Serialize};

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
