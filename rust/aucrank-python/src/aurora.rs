//! `AURORA` of the room `aucrank::aurora` as a Python class and a function.

use std::sync::Arc;

use aucrank::aurora::{self, Aurora, AuroraParams, BinaryFeature, Criterion, Observer, Progress};
use numpy::{IntoPyArray, PyArray1, ToPyArray};
use pyo3::prelude::*;

use crate::callbacks::Callbacks;
use crate::columns::ColumnsArg;
use crate::model::{PyModel, hand_over};
use crate::run::{on_pool, read_params, to_json};
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

    /// Number of terms that the search has found.
    #[getter]
    fn n_found(&self) -> usize {
        self.0.all_terms().len()
    }

    /// The sum of weights from which on a row is called positive.
    #[getter]
    fn threshold(&self) -> f64 {
        self.0.threshold()
    }

    /// The length of the weights.
    #[getter]
    fn radius(&self) -> f64 {
        self.0.radius()
    }

    /// The statistic of rows held out by which the number of terms was chosen, if rows were held out.
    #[getter]
    fn criterion(&self) -> &'static str {
        match self.0.criterion() {
            Criterion::Ramp => "ramp",
            Criterion::Auc => "auc",
        }
    }

    /// Folds by which the number of terms was chosen, if it was by folds.
    #[getter]
    fn n_folds(&self) -> Option<u16> {
        self.0.n_folds()
    }

    /// The seed of the fit.
    #[getter]
    fn seed(&self) -> u64 {
        self.0.seed()
    }

    /// Whether every term asks one feature.
    #[getter]
    fn is_additive(&self) -> bool {
        self.0.is_additive()
    }

    /// The weight of each term.
    fn values<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        self.0.values().to_pyarray(py)
    }

    /// What each term has added to the ramp statistic.
    fn gains<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        self.0.gains().to_pyarray(py)
    }

    /// The gains of the terms of each feature.
    fn importances<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        self.0.importances().into_pyarray(py)
    }

    /// The JSON form of what the binary terms of each feature ask.
    fn tests(&self) -> PyResult<String> {
        let features = self.0.binarizer().features.iter();
        to_json(&features.map(BinaryFeature::tests).collect::<Vec<_>>())
    }

    /// The JSON form of the terms of the score.
    fn terms(&self) -> PyResult<String> {
        to_json(self.0.terms())
    }

    /// The JSON form of the score as step functions, one for each feature that has a term.
    fn merged_terms(&self) -> PyResult<String> {
        to_json(&self.0.feature_terms())
    }

    /// The JSON form of how the score ranks after each term of the search.
    fn path(&self) -> PyResult<String> {
        to_json(self.0.path())
    }

    /// The JSON form of the radii that were tried.
    fn radii(&self) -> PyResult<String> {
        to_json(self.0.radii())
    }

    /// What each term adds to the score of each row, row by row.
    fn explain<'py>(
        &self,
        py: Python<'py>,
        columns: ColumnsArg<'py>,
        n_threads: usize,
    ) -> PyResult<Bound<'py, PyArray1<f64>>> {
        columns.ask(py, self.0.n_levels(), n_threads, |columns| self.0.explain(columns))
    }
}

/// Fits `AURORA`; `params` is the JSON form of [`AuroraParams`]. After each term the method `chosen` of
/// `observer` is called with the radius, the fold, the number of terms, ramp statistic and AUC of the
/// rows learned from, and the same of the rows held out, or None; the search ends where it returns
/// false.
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
    let callbacks = observer.map(Callbacks::new);
    let observer = callbacks.as_ref().map(|callbacks| callbacks as &dyn Observer);
    let fitted = on_pool(py, n_threads, |interrupt| {
        let (columns, labels) = (&sample.columns, sample.labels()?);
        aurora::fit_aurora(columns, &labels, &params, earlier, observer, interrupt)
    });
    hand_over(py, Callbacks::finish_any(callbacks.as_ref(), py, fitted)?)
}

impl Observer for Callbacks {
    fn chosen(&self, progress: &Progress) -> Result<bool, aucrank::RankError> {
        let pair = |found: aurora::Statistics| (found.ramp, found.auc);
        self.call(|object| {
            let arguments = (
                progress.radius,
                progress.fold,
                progress.n_terms,
                pair(progress.train),
                progress.validation.map(pair),
            );
            object.call_method1("chosen", arguments)?.extract()
        })
    }
}
