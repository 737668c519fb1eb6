//! `RankOpt` of the module `aucrank::aurora` as a Python class and a function.

use std::sync::Arc;

use aucrank::aurora::{self, RankOpt, RankOptParams};
use numpy::{IntoPyArray, PyArray1};
use pyo3::prelude::*;

use crate::model::{PyModel, hand_over};
use crate::run::{fit_on_pool, read_params, to_json};
use crate::sample::SampleArg;

/// A linear score.
#[pyclass(name = "RankOpt", module = "aucrank._core", frozen, extends = PyModel)]
pub struct PyRankOpt(pub Arc<RankOpt>);

#[pymethods]
impl PyRankOpt {
    #[getter]
    fn base_score(&self) -> f64 {
        self.0.base_score()
    }

    #[getter]
    fn radius(&self) -> f64 {
        self.0.chosen().radius
    }

    fn coefficients<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        self.0.coefficients().to_vec().into_pyarray(py)
    }

    fn means<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        self.0.means().to_vec().into_pyarray(py)
    }

    /// The radii that were tried, as JSON text.
    fn path(&self) -> PyResult<String> {
        to_json(self.0.path())
    }
}

/// Fits `RankOpt`; `params` is the JSON form of [`RankOptParams`].
#[pyfunction]
#[pyo3(signature = (sample, params, n_threads, observer=None))]
pub fn fit_rank_opt<'py>(
    py: Python<'py>,
    sample: SampleArg<'py>,
    params: &str,
    n_threads: usize,
    observer: Option<Py<PyAny>>,
) -> PyResult<Py<PyRankOpt>> {
    let params: RankOptParams = read_params(params)?;
    let sample = sample.borrow()?;
    let model = fit_on_pool(py, n_threads, observer, |interrupt| {
        aurora::fit_rank_opt(&sample.columns, &sample.labels()?, &params, interrupt)
    });
    hand_over(py, model?)
}
