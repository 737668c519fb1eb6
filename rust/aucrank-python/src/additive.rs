//! The module `aucrank::additive` as Python classes and functions.

use std::sync::Arc;

use aucrank::additive::{
    self, IntegerScoreParams, LinearModel, LinearParams, Mad2c, Mad2cParams, Rimarc, RimarcParams,
    Scorecard, ScorecardParams,
};
use aucrank::data::FeatureTerm;
use numpy::{IntoPyArray, PyArray1, PyReadonlyArray1};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::columns::ColumnsArg;
use crate::model::{PyModel, hand_over};
use crate::run::{fit_on_pool, on_pool, read_params, to_json};
use crate::sample::SampleArg;
use crate::training::RawTrainingArg;

/// Features in bins.
#[pyclass(name = "Mad2c", module = "aucrank._core", frozen, extends = PyModel)]
pub struct PyMad2c(pub Arc<Mad2c>);

#[pymethods]
impl PyMad2c {
    /// The model as JSON text.
    fn to_json(&self) -> PyResult<String> {
        to_json(&*self.0)
    }

    /// `AUC` of each feature.
    fn aucs(&self) -> Vec<f64> {
        self.0.features().iter().map(|feature| f64::midpoint(1.0, feature.gini())).collect()
    }

    fn bins<'py>(
        &self,
        py: Python<'py>,
        columns: ColumnsArg<'py>,
        n_threads: usize,
    ) -> PyResult<Bound<'py, PyArray1<f64>>> {
        columns.ask(py, self.0.n_levels(), n_threads, |columns| self.0.bins(columns))
    }
}

/// A fitted `RIMARC`.
#[pyclass(name = "Rimarc", module = "aucrank._core", frozen, extends = PyModel)]
pub struct PyRimarc(pub Arc<Rimarc>);

#[pymethods]
impl PyRimarc {
    #[getter]
    fn prevalence(&self) -> f64 {
        self.0.prevalence()
    }

    /// Score of a row without known values.
    #[getter]
    fn base_score(&self) -> f64 {
        self.0.base_score()
    }

    /// Number of folds over which the weights are cross-fitted; `None` if they are from all rows.
    #[getter]
    fn weight_folds(&self) -> Option<u16> {
        self.0.weight_folds()
    }

    fn weights<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        self.0.weights().to_vec().into_pyarray(py)
    }

    /// Score of each bin of a feature, that of missing values last; `None` if it does not
    /// contribute.
    fn bin_scores(&self, feature: usize) -> Vec<Option<f64>> {
        self.0.bin_scores(feature)
    }

    /// Contributions of each bin of a feature to the numerator and the denominator of the score.
    fn shares(&self, feature: usize) -> Vec<(f64, f64)> {
        self.0.shares(feature).iter().map(|share| (share.numerator, share.weight)).collect()
    }

    /// The features in bins.
    fn table(&self, py: Python<'_>) -> PyResult<Py<PyMad2c>> {
        hand_over(py, self.0.table().clone())
    }

    /// Step functions of the features as JSON text.
    fn terms(&self) -> PyResult<String> {
        to_json(&self.0.terms())
    }
}

/// A scorecard.
#[pyclass(name = "Scorecard", module = "aucrank._core", frozen, extends = PyModel)]
pub struct PyScorecard(pub Arc<Scorecard>);

#[pymethods]
impl PyScorecard {
    #[getter]
    fn auc(&self) -> f64 {
        self.0.auc()
    }

    /// `AUC` on the training rows of the ranker that the card approximates.
    #[getter]
    fn ranker_auc(&self) -> f64 {
        self.0.ranker_auc()
    }

    /// `AUC` on the training rows before rounding to points.
    #[getter]
    fn exact_auc(&self) -> f64 {
        self.0.exact_auc()
    }

    #[getter]
    fn initial_points(&self) -> i64 {
        self.0.initial_points()
    }

    /// The fewest and the most points that a row can have.
    #[getter]
    fn points_range(&self) -> (i64, i64) {
        self.0.points_range()
    }

    /// Log-odds of the positive class at the given points.
    fn log_odds(&self, points: f64) -> f64 {
        self.0.log_odds(points)
    }

    /// The model as JSON text.
    fn to_json(&self) -> PyResult<String> {
        to_json(&*self.0)
    }

    /// Reads a model from the JSON text of `to_json`, with the checks of a saved file.
    #[staticmethod]
    fn from_json(py: Python<'_>, text: &str) -> PyResult<Py<Self>> {
        let card: Scorecard = read_params(text)?;
        card.check().map_err(PyValueError::new_err)?;
        hand_over(py, card)
    }

    /// The formula of its points as JSON text.
    fn points_formula(&self) -> PyResult<String> {
        to_json(&self.0.points_formula())
    }

    fn points<'py>(
        &self,
        py: Python<'py>,
        columns: ColumnsArg<'py>,
        n_threads: usize,
    ) -> PyResult<Bound<'py, PyArray1<i64>>> {
        columns.ask(py, self.0.n_levels(), n_threads, |columns| self.0.points(columns))
    }

    /// Counts of new rows by bin and by points as JSON text.
    fn drift<'py>(
        &self,
        py: Python<'py>,
        sample: SampleArg<'py>,
        n_threads: usize,
    ) -> PyResult<String> {
        let sample = sample.borrow()?;
        let counts = on_pool(py, n_threads, |interrupt| {
            self.0.drift(&sample.columns.until(interrupt), &sample.new_rows()?)
        });
        to_json(&counts?)
    }
}

/// Fits `MAD2C`; `params` is the JSON form of [`Mad2cParams`].
#[pyfunction]
#[pyo3(signature = (rows, params, n_threads, observer=None))]
pub fn fit_mad2c<'py>(
    py: Python<'py>,
    rows: RawTrainingArg<'py>,
    params: &str,
    n_threads: usize,
    observer: Option<Py<PyAny>>,
) -> PyResult<Py<PyMad2c>> {
    let params: Mad2cParams = read_params(params)?;
    let table = rows.fit(py, n_threads, observer, |rows, interrupt| {
        additive::fit_mad2c(rows, &params, interrupt)
    });
    hand_over(py, table?)
}

/// Fits `RIMARC`; `params` is the JSON form of [`RimarcParams`].
#[pyfunction]
#[pyo3(signature = (rows, params, n_threads, observer=None))]
pub fn fit_rimarc<'py>(
    py: Python<'py>,
    rows: RawTrainingArg<'py>,
    params: &str,
    n_threads: usize,
    observer: Option<Py<PyAny>>,
) -> PyResult<Py<PyRimarc>> {
    let params: RimarcParams = read_params(params)?;
    let model = rows.fit(py, n_threads, observer, |rows, interrupt| {
        additive::fit_rimarc(rows, &params, interrupt)
    });
    hand_over(py, model?)
}

/// Converts step functions to points. `terms` is the JSON form of a list of them, `ranker_scores`
/// are the scores of the rows by the ranker of these terms, `None` for rows behind an engine, which
/// has them, and `params` is the JSON form of [`ScorecardParams`].
#[pyfunction]
#[pyo3(signature = (rows, terms, ranker_scores, params, n_threads, observer=None))]
pub fn build_scorecard<'py>(
    py: Python<'py>,
    rows: RawTrainingArg<'py>,
    terms: &str,
    ranker_scores: Option<PyReadonlyArray1<'py, f64>>,
    params: &str,
    n_threads: usize,
    observer: Option<Py<PyAny>>,
) -> PyResult<Py<PyScorecard>> {
    let terms: Vec<FeatureTerm> = read_params(terms)?;
    let params: ScorecardParams = read_params(params)?;
    let scores = ranker_scores.as_ref().map(|scores| scores.as_slice()).transpose()?;
    let card = rows.fit_ranked(py, n_threads, observer, scores, |rows, interrupt| {
        additive::build_scorecard(rows, &terms, &params, interrupt)
    });
    hand_over(py, card?)
}

/// Searches a small integer score; `params` is the JSON form of [`IntegerScoreParams`].
#[pyfunction]
#[pyo3(signature = (sample, params, n_threads, observer=None))]
pub fn fit_integer_score<'py>(
    py: Python<'py>,
    sample: SampleArg<'py>,
    params: &str,
    n_threads: usize,
    observer: Option<Py<PyAny>>,
) -> PyResult<Py<PyScorecard>> {
    let params: IntegerScoreParams = read_params(params)?;
    let sample = sample.borrow()?;
    let score = fit_on_pool(py, n_threads, observer, |interrupt| {
        let rows = (&sample.columns, &sample.labels()?);
        additive::fit_integer_score(rows, &params, interrupt)
    });
    hand_over(py, score?)
}

/// Searches small integer scores of all numbers of features.
#[pyfunction]
#[pyo3(signature = (sample, params, n_threads, observer=None))]
pub fn fit_integer_scores<'py>(
    py: Python<'py>,
    sample: SampleArg<'py>,
    params: &str,
    n_threads: usize,
    observer: Option<Py<PyAny>>,
) -> PyResult<Vec<Py<PyScorecard>>> {
    let params: IntegerScoreParams = read_params(params)?;
    let sample = sample.borrow()?;
    let scores = fit_on_pool(py, n_threads, observer, |interrupt| {
        let rows = (&sample.columns, &sample.labels()?);
        additive::fit_integer_scores(rows, &params, interrupt)
    });
    scores?.into_iter().map(|score| hand_over(py, score)).collect()
}

/// A linear score over numbers, thresholds and categories.
#[pyclass(name = "LinearModel", module = "aucrank._core", frozen, extends = PyModel)]
pub struct PyLinearModel(pub Arc<LinearModel>);

#[pymethods]
impl PyLinearModel {
    #[getter]
    fn intercept(&self) -> f64 {
        self.0.intercept()
    }

    /// Mean score of the training rows.
    #[getter]
    fn base_score(&self) -> f64 {
        self.0.base_score()
    }

    #[getter]
    fn n_iterations(&self) -> usize {
        self.0.n_iterations()
    }

    #[getter]
    fn has_converged(&self) -> bool {
        self.0.has_converged()
    }

    /// The numbers that have a weight, as JSON text.
    fn numbers(&self) -> PyResult<String> {
        to_json(self.0.numbers())
    }

    /// Step functions of the features as JSON text.
    fn steps(&self) -> PyResult<String> {
        to_json(self.0.steps())
    }

    /// Terms of two features as JSON text.
    fn joint_terms(&self) -> PyResult<String> {
        to_json(self.0.joint_terms())
    }
}

/// Fits a linear model; `params` is the JSON form of [`LinearParams`].
#[pyfunction]
#[pyo3(signature = (sample, params, n_threads, observer=None))]
pub fn fit_linear<'py>(
    py: Python<'py>,
    sample: SampleArg<'py>,
    params: &str,
    n_threads: usize,
    observer: Option<Py<PyAny>>,
) -> PyResult<Py<PyLinearModel>> {
    let params: LinearParams = read_params(params)?;
    let sample = sample.borrow()?;
    let model = fit_on_pool(py, n_threads, observer, |interrupt| {
        additive::fit_linear(&sample.columns, &sample.labels()?, &params, interrupt)
    });
    hand_over(py, model?)
}
