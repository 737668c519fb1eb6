//! The modules `aucrank::blend` and `aucrank::model` (ensembles) as a Python class and functions.

use std::sync::Arc;

use aucrank::RankError;
use aucrank::blend::{Blend, BlendParams, blend};
use aucrank::data::Labels;
use aucrank::model::{Ensemble, Member};
use numpy::{PyArray1, PyReadonlyArray1};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::columns::ColumnsArg;
use crate::document::hand_over_any;
use crate::model::{PyModel, hand_over};
use crate::run::{on_pool, read_params};
use crate::sample::SampleArg;

/// A fitted ensemble.
#[pyclass(name = "Ensemble", module = "aucrank._core", frozen, extends = PyModel)]
pub struct PyEnsemble(pub Arc<Ensemble>);

#[pymethods]
impl PyEnsemble {
    /// Log-odds of a row to whose score no member contributes.
    #[getter]
    fn intercept(&self) -> f64 {
        self.0.intercept()
    }

    /// Factor of the sum of the scores of the models of each member.
    fn factors(&self) -> Vec<f64> {
        self.0.members().iter().map(|member| member.factor).collect()
    }

    /// Numbers of the external rankers of its members.
    fn external_models(&self) -> Vec<usize> {
        self.0.external_rankers()
    }

    /// The models of a member, each as an object of the class of its family.
    fn models(&self, py: Python<'_>, member: usize) -> PyResult<Vec<Py<PyAny>>> {
        let models = self.0.members()[member].models.iter().cloned();
        models.map(|model| hand_over_any(py, model)).collect()
    }

    /// Score of each row.
    #[pyo3(signature = (columns, n_threads, external=None))]
    fn score<'py>(
        &self,
        py: Python<'py>,
        columns: ColumnsArg<'py>,
        n_threads: usize,
        external: Option<Py<PyAny>>,
    ) -> PyResult<Bound<'py, PyArray1<f64>>> {
        columns.ask_with(py, self.0.n_levels(), n_threads, external, |columns, external| {
            self.0.score(columns, external)
        })
    }

    /// Probability of the positive class of each row.
    #[pyo3(signature = (columns, n_threads, external=None))]
    fn probability<'py>(
        &self,
        py: Python<'py>,
        columns: ColumnsArg<'py>,
        n_threads: usize,
        external: Option<Py<PyAny>>,
    ) -> PyResult<Bound<'py, PyArray1<f64>>> {
        columns.ask_with(py, self.0.n_levels(), n_threads, external, |columns, external| {
            self.0.probability(columns, external)
        })
    }
}

/// A member as Python gives it: its factor, and its models or the numbers of its external rankers.
type MemberArg<'py> = (f64, Vec<PyRef<'py, PyModel>>, Vec<usize>);

/// Puts fitted models together; `n_levels` are those of their columns.
#[pyfunction]
pub fn build_ensemble(
    py: Python<'_>,
    n_levels: Vec<Option<u32>>,
    members: Vec<MemberArg<'_>>,
    intercept: f64,
) -> PyResult<Py<PyEnsemble>> {
    let member = |(factor, models, external): MemberArg<'_>| Member {
        factor,
        models: models.iter().map(|model| model.as_model().to_model()).collect(),
        external,
    };
    let members = members.into_iter().map(member).collect();
    let ensemble = Ensemble::new(n_levels, members, intercept).map_err(PyValueError::new_err)?;
    hand_over(py, ensemble)
}

/// Checks columns as a fit does, since models fitted to some of the rows number them differently.
#[pyfunction]
pub fn check_columns(py: Python<'_>, sample: SampleArg<'_>, n_threads: usize) -> PyResult<()> {
    let sample = sample.borrow()?;
    on_pool(py, n_threads, |_| sample.columns.infinite_value().map_or(Ok(()), Err))
}

/// Blends scores of rows that their models were not fitted to; `params` is the JSON form of
/// [`BlendParams`].
#[pyfunction]
pub fn blend_scores<'py>(
    py: Python<'py>,
    scores: Vec<PyReadonlyArray1<'py, f64>>,
    positive: PyReadonlyArray1<'py, bool>,
    weight: Option<PyReadonlyArray1<'py, f64>>,
    params: &str,
    n_threads: usize,
) -> PyResult<Bound<'py, PyDict>> {
    let params: BlendParams = read_params(params)?;
    let scores =
        scores.iter().map(|scores| Ok(scores.as_slice()?)).collect::<PyResult<Vec<_>>>()?;
    let positive = positive.as_slice()?;
    let weight = weight.as_ref().map(|weight| weight.as_slice()).transpose()?;
    let Blend { weights, factors, intercept } = on_pool(py, n_threads, |interrupt| {
        let labels: Result<_, RankError> = Labels::new(positive, weight);
        blend(&scores, &labels?, &params, interrupt)
    })?;
    let found = PyDict::new(py);
    found.set_item("weights", weights)?;
    found.set_item("factors", factors)?;
    found.set_item("intercept", intercept)?;
    Ok(found)
}
