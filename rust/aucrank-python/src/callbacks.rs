//! Python objects that the core calls back.

use std::sync::{Mutex, MutexGuard, PoisonError};

use aucrank::RankError;
use aucrank::external::{ExternalFitter, ExternalModels};
use numpy::{PyReadonlyArray1, ToPyArray};
use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::intern;
use pyo3::prelude::*;

/// A Python object whose methods the core calls back. For external models, it holds the rows and
/// the models fitted to them, with the method `answer`; for a fit also `fit`, `forget` and `keep`.
#[derive(Debug)]
pub struct Callbacks {
    object: Py<PyAny>,
    /// The first exception raised by its methods; the caller gets it instead of the core's error.
    raised: Mutex<Option<PyErr>>,
}

impl Callbacks {
    pub fn new(object: Py<PyAny>) -> Self {
        Self { object, raised: Mutex::new(None) }
    }

    fn raised(&self) -> MutexGuard<'_, Option<PyErr>> {
        self.raised.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Attaches to the interpreter and calls methods of the object.
    pub fn call<T>(
        &self,
        methods: impl FnOnce(&Bound<'_, PyAny>) -> PyResult<T>,
    ) -> Result<T, RankError> {
        // Other trees of the same fit need not continue.
        if self.raised().is_some() {
            return Err(RankError::External("a call back failed before".to_owned()));
        }
        Python::attach(|py| methods(self.object.bind(py))).map_err(|err| {
            let message = err.to_string();
            self.raised().get_or_insert(err);
            RankError::External(message)
        })
    }

    fn call_with_numbers(&self, method: &str, numbers: &[usize]) {
        // A failure is stored and ends the fit at the next call, or when it is finished.
        let _ = self.call(|object| object.call_method1(method, (numbers.to_vec(),)).map(drop));
    }

    /// The result of a fit that called the object; if the object failed, its exception.
    pub fn finish<T>(&self, py: Python<'_>, fitted: PyResult<T>) -> PyResult<T> {
        match (fitted, self.raised().take()) {
            (Ok(model), None) => Ok(model),
            (Ok(_), Some(raised)) => Err(raised),
            // An interrupt takes precedence over an exception of the object.
            (Err(err), _) if err.is_instance_of::<PyKeyboardInterrupt>(py) => Err(err),
            (Err(err), raised) => Err(raised.unwrap_or(err)),
        }
    }

    /// As [`Callbacks::finish`], for a call into the core that may have called some object.
    pub fn finish_any<T>(
        called: Option<&Self>,
        py: Python<'_>,
        outcome: PyResult<T>,
    ) -> PyResult<T> {
        match called {
            None => outcome,
            Some(called) => called.finish(py, outcome),
        }
    }
}

impl ExternalModels for Callbacks {
    fn answer(&self, model: usize, rows: &[u32]) -> Result<Vec<f64>, RankError> {
        self.call(|object| {
            let py = object.py();
            let arguments = (model, rows.to_pyarray(py));
            let answers = object.call_method1(intern!(py, "answer"), arguments)?;
            Ok(answers.extract::<PyReadonlyArray1<'_, f64>>()?.as_slice()?.to_vec())
        })
    }
}

impl ExternalFitter for Callbacks {
    fn fit(&self, seed: u64, rows: &[u32], weights: &[f64]) -> Result<usize, RankError> {
        self.call(|object| {
            let py = object.py();
            let arguments = (seed, rows.to_pyarray(py), weights.to_pyarray(py));
            object.call_method1(intern!(py, "fit"), arguments)?.extract()
        })
    }

    fn forget(&self, models: &[usize]) {
        self.call_with_numbers("forget", models);
    }

    fn keep(&self, models: &[usize]) {
        self.call_with_numbers("keep", models);
    }
}
