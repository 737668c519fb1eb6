//! `aucrank::roc::RocState` as a Python class.

use std::path::PathBuf;

use aucrank::RankError;
use aucrank::roc;
use numpy::{IntoPyArray, PyArray1, PyReadonlyArray1};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::inference::weighting;
use crate::roc::{RocCurve, Scores, with_scores};
use crate::run::{on_pool, to_py_err};
use crate::shared::Shared;

/// Accumulated ROC statistics of rows that come in batches.
///
/// The lock is taken only while detached from the interpreter, so that two threads cannot deadlock.
#[pyclass(frozen, module = "aucrank._core")]
pub struct RocState(Shared<roc::RocState>);

impl RocState {
    /// Takes the state and leaves one without rows.
    pub fn take(&self) -> Result<roc::RocState, RankError> {
        Ok(std::mem::replace(&mut *self.0.lock(), roc::RocState::new(None, None)?))
    }

    /// Runs `work` without the interpreter; on a pool only if the core would use one.
    fn run<T: Send>(
        &self,
        py: Python<'_>,
        n_rows: usize,
        n_threads: usize,
        work: impl FnOnce(&mut roc::RocState) -> Result<T, RankError> + Send,
    ) -> PyResult<T> {
        let direct = py.detach(|| {
            let mut state = self.0.lock();
            if state.uses_threads(n_rows) { Err(work) } else { Ok(work(&mut state)) }
        });
        match direct {
            Ok(result) => result.map_err(to_py_err),
            Err(work) => on_pool(py, n_threads, |_| work(&mut self.0.lock())),
        }
    }
}

#[pymethods]
impl RocState {
    #[new]
    #[expect(clippy::needless_pass_by_value, reason = "arguments come from Python by value")]
    fn new(
        max_size: Option<usize>,
        weight_unit: Option<f64>,
        spill_dir: Option<PathBuf>,
        max_bytes: usize,
    ) -> PyResult<Self> {
        let state = roc::RocState::new(max_size, weight_unit);
        let state = match &spill_dir {
            Some(folder) => state.and_then(|state| state.spilling_to(folder, max_bytes)),
            None => state,
        };
        Ok(Self(Shared::new(state.map_err(to_py_err)?)))
    }

    #[staticmethod]
    fn from_bytes(py: Python<'_>, bytes: &[u8]) -> PyResult<Self> {
        let state = py.detach(|| roc::RocState::from_bytes(bytes)).map_err(to_py_err)?;
        Ok(Self(Shared::new(state)))
    }

    fn to_bytes<'py>(&self, py: Python<'py>, n_threads: usize) -> PyResult<Bound<'py, PyBytes>> {
        let bytes = self.run(py, 0, n_threads, roc::RocState::to_bytes)?;
        Ok(PyBytes::new(py, &bytes))
    }

    fn update(
        &self,
        py: Python<'_>,
        positive: PyReadonlyArray1<'_, bool>,
        scores: Scores<'_>,
        weights: Option<PyReadonlyArray1<'_, f64>>,
        n_threads: usize,
    ) -> PyResult<()> {
        let positive = positive.as_slice()?;
        let weights = weights.as_ref().map(|weights| weights.as_slice()).transpose()?;
        with_scores!(scores, |scores| self.run(py, positive.len(), n_threads, |state| {
            state.update(scores, positive, weights)
        }))
    }

    fn update_counts(
        &self,
        py: Python<'_>,
        positive: PyReadonlyArray1<'_, bool>,
        scores: PyReadonlyArray1<'_, f64>,
        counts: PyReadonlyArray1<'_, u64>,
    ) -> PyResult<()> {
        let (positive, scores) = (positive.as_slice()?, scores.as_slice()?);
        let counts = counts.as_slice()?;
        py.detach(|| self.0.lock().update_counts(scores, positive, counts)).map_err(to_py_err)
    }

    fn merge(&self, py: Python<'_>, other: &Self, n_threads: usize) -> PyResult<()> {
        // Copied before the lock is taken: a state may be merged with itself.
        let other = py.detach(|| other.0.lock().clone());
        on_pool(py, n_threads, |_| self.0.lock().merge(other))
    }

    fn copy(&self, py: Python<'_>) -> Self {
        Self(Shared::new(py.detach(|| self.0.lock().clone())))
    }

    fn auc(&self, py: Python<'_>, n_threads: usize) -> PyResult<f64> {
        self.run(py, 0, n_threads, roc::RocState::auc)
    }

    fn auc_error_bound(&self, py: Python<'_>, n_threads: usize) -> PyResult<f64> {
        self.run(py, 0, n_threads, roc::RocState::auc_error_bound)
    }

    fn variance(&self, py: Python<'_>, n_threads: usize) -> PyResult<f64> {
        self.run(py, 0, n_threads, roc::RocState::variance)
    }

    /// Effective numbers of positive and of negative rows.
    fn effective_rows(&self, py: Python<'_>, n_threads: usize) -> PyResult<(f64, f64)> {
        self.run(py, 0, n_threads, roc::RocState::effective_rows).map(|[pos, neg]| (pos, neg))
    }

    fn curve(&self, py: Python<'_>, n_threads: usize) -> PyResult<RocCurve> {
        self.run(py, 0, n_threads, roc::RocState::curve).map(RocCurve)
    }

    /// Knots of the curve, at most `max_knots`.
    fn knots(&self, py: Python<'_>, max_knots: usize, n_threads: usize) -> PyResult<RocCurve> {
        self.run(py, 0, n_threads, |state| state.knots(max_knots)).map(RocCurve)
    }

    fn partial_auc(
        &self,
        py: Python<'_>,
        fpr: (f64, f64),
        tpr: (f64, f64),
        standardize: bool,
        n_threads: usize,
    ) -> PyResult<f64> {
        let (fpr, tpr) = ([fpr.0, fpr.1], [tpr.0, tpr.1]);
        self.run(py, 0, n_threads, |state| state.partial_auc(fpr, tpr, standardize))
    }

    /// `None` if a class has one row.
    fn partial_variance(
        &self,
        py: Python<'_>,
        fpr: (f64, f64),
        tpr: (f64, f64),
        is_counted: bool,
        n_threads: usize,
    ) -> PyResult<Option<f64>> {
        let (fpr, tpr) = ([fpr.0, fpr.1], [tpr.0, tpr.1]);
        let how = weighting(is_counted);
        self.run(py, 0, n_threads, |state| state.partial_variance(fpr, tpr, how))
    }

    /// Negative and positive rows if weights are frequencies.
    fn frequencies(&self, py: Python<'_>, n_threads: usize) -> PyResult<(f64, f64)> {
        self.run(py, 0, n_threads, roc::RocState::frequencies).map(|[neg, pos]| (neg, pos))
    }

    #[expect(clippy::needless_pass_by_value, reason = "arguments come from Python by value")]
    fn tpr_at<'py>(
        &self,
        py: Python<'py>,
        fpr: PyReadonlyArray1<'py, f64>,
        n_threads: usize,
    ) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let fpr = fpr.as_slice()?;
        Ok(self.run(py, 0, n_threads, |state| state.tpr_at(fpr))?.into_pyarray(py))
    }

    #[expect(clippy::needless_pass_by_value, reason = "arguments come from Python by value")]
    fn fpr_at<'py>(
        &self,
        py: Python<'py>,
        tpr: PyReadonlyArray1<'py, f64>,
        n_threads: usize,
    ) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let tpr = tpr.as_slice()?;
        Ok(self.run(py, 0, n_threads, |state| state.fpr_at(tpr))?.into_pyarray(py))
    }

    fn size(&self, py: Python<'_>, n_threads: usize) -> PyResult<usize> {
        self.run(py, 0, n_threads, roc::RocState::size)
    }

    fn n_neg(&self, py: Python<'_>) -> PyResult<u64> {
        let count = |state: &roc::RocState| state.check_loss().map(|()| state.n_neg());
        py.detach(|| count(&self.0.lock())).map_err(to_py_err)
    }

    fn n_pos(&self, py: Python<'_>) -> PyResult<u64> {
        let count = |state: &roc::RocState| state.check_loss().map(|()| state.n_pos());
        py.detach(|| count(&self.0.lock())).map_err(to_py_err)
    }

    fn max_size(&self, py: Python<'_>) -> Option<usize> {
        py.detach(|| self.0.lock().max_size())
    }

    fn weight_unit(&self, py: Python<'_>) -> Option<f64> {
        py.detach(|| self.0.lock().weight_unit())
    }
}
