//! The room `aucrank::boost` as Python classes and functions.

use aucrank::boost::{self, AucBoostParams, BoostedModel, RankBoostParams, RowRanker, RowScores};
use aucrank::data::{Columns, Labels};
use aucrank::{Interrupt, RankError};
use numpy::{IntoPyArray, PyArray1, PyReadonlyArray1};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::callbacks::Callbacks;
use crate::columns::ColumnsArg;
use crate::run::{on_pool, read_params};

/// A sum of terms, fitted by boosting.
#[pyclass(name = "BoostedModel", module = "aucrank._core", frozen)]
pub struct PyBoostedModel(pub BoostedModel);

#[pymethods]
impl PyBoostedModel {
    #[classattr]
    fn family() -> &'static str {
        "boosted"
    }

    #[getter]
    fn n_features(&self) -> usize {
        self.0.n_levels().len()
    }

    #[getter]
    fn n_rounds(&self) -> usize {
        self.0.terms().len()
    }

    #[getter]
    fn threshold(&self) -> f64 {
        self.0.threshold()
    }

    /// Numbers of the rankers of Python that it asks.
    fn outside_rankers(&self) -> Vec<usize> {
        self.0.outside_rankers()
    }

    #[pyo3(signature = (columns, n_threads, rankers=None))]
    fn score<'py>(
        &self,
        py: Python<'py>,
        columns: ColumnsArg<'py>,
        n_threads: usize,
        rankers: Option<Py<PyAny>>,
    ) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let columns = columns.borrow(self.0.n_levels())?;
        let rankers = rankers.map(Callbacks::new);
        let outside = rankers.as_ref().map(|rankers| rankers as &dyn RowScores);
        let scores = on_pool(py, n_threads, |_| self.0.score(&columns, outside));
        Ok(finish(py, rankers.as_ref(), scores)?.into_pyarray(py))
    }
    /// Whether every term asks one feature.
    #[getter]
    fn is_additive(&self) -> bool {
        self.0.is_additive()
    }

    /// What each feature adds to the score of each row, row by row.
    fn explain<'py>(
        &self,
        py: Python<'py>,
        columns: ColumnsArg<'py>,
        n_threads: usize,
    ) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let columns = columns.borrow(self.0.n_levels())?;
        Ok(on_pool(py, n_threads, |_| self.0.explain(&columns))?.into_pyarray(py))
    }

    /// The JSON form of the terms, round by round.
    fn terms(&self) -> PyResult<String> {
        to_json(self.0.terms())
    }

    /// The JSON form of the terms of single features, one for each feature that has any.
    fn merged_terms(&self) -> PyResult<String> {
        to_json(&self.0.merged_terms())
    }
}

/// What came of a call into the core in which rankers may have been called back.
pub fn finish<T>(py: Python<'_>, rankers: Option<&Callbacks>, outcome: PyResult<T>) -> PyResult<T> {
    match rankers {
        None => outcome,
        Some(rankers) => rankers.finish(py, outcome),
    }
}

fn to_json<T: serde::Serialize>(terms: &[T]) -> PyResult<String> {
    serde_json::to_string(terms).map_err(|err| PyValueError::new_err(err.to_string()))
}

/// Fits `AUCBoost`; `params` is the JSON form of [`AucBoostParams`].
#[pyfunction]
#[pyo3(signature = (columns, n_levels, positive, weight, params, n_threads, rankers=None))]
#[expect(clippy::too_many_arguments, reason = "the parts of one sample, and what to do with it")]
pub fn fit_auc_boost<'py>(
    py: Python<'py>,
    columns: ColumnsArg<'py>,
    n_levels: Vec<Option<u32>>,
    positive: PyReadonlyArray1<'py, bool>,
    weight: Option<PyReadonlyArray1<'py, f64>>,
    params: &str,
    n_threads: usize,
    rankers: Option<Py<PyAny>>,
) -> PyResult<PyBoostedModel> {
    let params: AucBoostParams = read_params(params)?;
    fit(
        py,
        &columns,
        &n_levels,
        &positive,
        weight.as_ref(),
        n_threads,
        rankers,
        |columns, labels, rankers, interrupt| {
            boost::fit_auc_boost(columns, labels, &params, rankers, interrupt)
        },
    )
}

/// Fits `RankBoost`; `params` is the JSON form of [`RankBoostParams`].
#[pyfunction]
#[pyo3(signature = (columns, n_levels, positive, weight, params, n_threads, rankers=None))]
#[expect(clippy::too_many_arguments, reason = "the parts of one sample, and what to do with it")]
pub fn fit_rank_boost<'py>(
    py: Python<'py>,
    columns: ColumnsArg<'py>,
    n_levels: Vec<Option<u32>>,
    positive: PyReadonlyArray1<'py, bool>,
    weight: Option<PyReadonlyArray1<'py, f64>>,
    params: &str,
    n_threads: usize,
    rankers: Option<Py<PyAny>>,
) -> PyResult<PyBoostedModel> {
    let params: RankBoostParams = read_params(params)?;
    fit(
        py,
        &columns,
        &n_levels,
        &positive,
        weight.as_ref(),
        n_threads,
        rankers,
        |columns, labels, rankers, interrupt| {
            boost::fit_rank_boost(columns, labels, &params, rankers, interrupt)
        },
    )
}

#[expect(clippy::too_many_arguments, reason = "the parts of one sample, and what to do with it")]
fn fit(
    py: Python<'_>,
    columns: &ColumnsArg<'_>,
    n_levels: &[Option<u32>],
    positive: &PyReadonlyArray1<'_, bool>,
    weight: Option<&PyReadonlyArray1<'_, f64>>,
    n_threads: usize,
    rankers: Option<Py<PyAny>>,
    fit_model: impl Fn(
        &Columns<'_>,
        &Labels<'_>,
        Option<&dyn RowRanker>,
        &Interrupt,
    ) -> Result<BoostedModel, RankError>
    + Send
    + Sync,
) -> PyResult<PyBoostedModel> {
    let columns = columns.borrow(n_levels)?;
    let positive = positive.as_slice()?;
    let weight = weight.map(|weight| weight.as_slice()).transpose()?;
    let rankers = rankers.map(Callbacks::new);
    let outside = rankers.as_ref().map(|rankers| rankers as &dyn RowRanker);
    let fitted = on_pool(py, n_threads, |interrupt| {
        let labels = Labels::new(positive, weight)?;
        fit_model(&columns, &labels, outside, interrupt)
    });
    finish(py, rankers.as_ref(), fitted.map(PyBoostedModel))
}
