//! `AURORA` of the module `aucrank::aurora` as a Python class and a function.

use std::sync::Arc;

use aucrank::aurora::{self, Aurora, AuroraParams, BinaryFeature, SelectionCriterion};
use numpy::{PyArray1, ToPyArray};
use pyo3::prelude::*;

use crate::model::{PyModel, hand_over};
use crate::run::{fit_on_pool, read_params, to_json};
use crate::sample::SampleArg;

/// A fitted `AURORA`.
#[pyclass(name = "Aurora", module = "aucrank._core", frozen, extends = PyModel)]
pub struct PyAurora(pub Arc<Aurora>);

#[pymethods]
impl PyAurora {
    /// Number of terms of the score.
    #[getter]
    fn n_terms(&self) -> usize {
        self.0.values().len()
    }

    /// Number of terms found by the search.
    #[getter]
    fn n_found(&self) -> usize {
        self.0.all_terms().len()
    }

    /// The norm of the weights.
    #[getter]
    fn radius(&self) -> f64 {
        self.0.radius()
    }

    /// The statistic of held-out rows that chose the number of terms, if rows were held out.
    #[getter]
    fn criterion(&self) -> &'static str {
        match self.0.criterion() {
            SelectionCriterion::Ramp => "ramp",
            SelectionCriterion::Auc => "auc",
        }
    }

    /// Number of folds that chose the number of terms, if it was chosen by folds.
    #[getter]
    fn n_folds(&self) -> Option<u16> {
        self.0.n_folds()
    }

    /// The seed of the fit.
    #[getter]
    fn seed(&self) -> u64 {
        self.0.seed()
    }

    /// Whether every term uses one feature.
    #[getter]
    fn is_additive(&self) -> bool {
        self.0.is_additive()
    }

    /// The weight of each term.
    fn values<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        self.0.values().to_pyarray(py)
    }

    /// The gain of the ramp statistic by each term.
    fn gains<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        self.0.gains().to_pyarray(py)
    }

    /// The binary tests of each feature as JSON text.
    fn tests(&self) -> PyResult<String> {
        let features = self.0.binarizer().features.iter();
        to_json(&features.map(BinaryFeature::tests).collect::<Vec<_>>())
    }

    /// The terms of the score as JSON text.
    fn terms(&self) -> PyResult<String> {
        to_json(self.0.terms())
    }

    /// The score as step functions, one for each feature that has a term, as JSON text.
    fn merged_terms(&self) -> PyResult<String> {
        to_json(&self.0.feature_terms())
    }

    /// The ranking statistics after each term of the search, as JSON text.
    fn path(&self) -> PyResult<String> {
        to_json(self.0.path())
    }

    /// The radii that were tried, as JSON text.
    fn radii(&self) -> PyResult<String> {
        to_json(self.0.radii())
    }
}

/// Fits `AURORA`; `params` is the JSON form of [`AuroraParams`].
#[pyfunction]
#[pyo3(signature = (sample, params, earlier, n_threads, observer=None))]
pub fn fit_aurora<'py>(
    py: Python<'py>,
    sample: SampleArg<'py>,
    params: &str,
    earlier: Option<PyRef<'py, PyAurora>>,
    n_threads: usize,
    observer: Option<Py<PyAny>>,
) -> PyResult<Py<PyAurora>> {
    let params: AuroraParams = read_params(params)?;
    let sample = sample.borrow()?;
    let earlier = earlier.as_ref().map(|model| &*model.0);
    let fitted = fit_on_pool(py, n_threads, observer, |interrupt| {
        aurora::fit_aurora(&sample.columns, &sample.labels()?, &params, earlier, interrupt)
    });
    hand_over(py, fitted?)
}
