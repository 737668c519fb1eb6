//! States that Python objects share between threads.

use std::sync::{Mutex, MutexGuard, PoisonError};

use aucrank::rows::Mergeable;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::run::to_py_err;

/// A state behind a lock. A panic leaves it as it is: the call that has panicked raises an error.
pub struct Shared<T>(Mutex<T>);

impl<T> Shared<T> {
    pub fn new(state: T) -> Self {
        Self(Mutex::new(state))
    }

    pub fn lock(&self) -> MutexGuard<'_, T> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<T: Mergeable> Shared<T> {
    pub fn to_bytes<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &py.detach(|| self.lock().to_bytes()))
    }

    pub fn merge_bytes(&self, py: Python<'_>, bytes: &[u8]) -> PyResult<()> {
        py.detach(|| self.lock().merge_bytes(bytes)).map_err(to_py_err)
    }
}
