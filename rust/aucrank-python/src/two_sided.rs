//! A ranking by scores as a classifier with equal errors on both classes (paper 3 Lemma 4).

use std::sync::Arc;

use aucrank::boost::{ThresholdCriterion, TwoSided, two_sided_by_scores};
use aucrank::data::Labels;
use aucrank::model::TwoSidedModel;
use numpy::PyReadonlyArray1;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::calibration::PyCalibration;
use crate::document::hand_over_any;
use crate::model::{PyModel, hand_over};
use crate::roc::run;

/// A ranker cut into a classifier.
#[pyclass(name = "TwoSided", module = "aucrank._core", frozen, extends = PyModel)]
pub struct PyTwoSided(pub Arc<TwoSidedModel>);

#[pymethods]
impl PyTwoSided {
    /// The model that is cut, as an object of the class of its family.
    fn ranker(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        hand_over_any(py, self.0.ranker().clone())
    }

    /// The calibration of the scores of the ranker, if it has one.
    fn ranker_calibration(&self) -> Option<PyCalibration> {
        let calibration = self.0.ranker_calibration().cloned();
        calibration.map(|calibration| PyCalibration(Arc::new(calibration)))
    }

    /// The result of [`two_sided`].
    fn cut<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let ([low, high], [p_pos, p_neg]) = (self.0.chances(), self.0.one_sided_errors());
        let (zeta, error) = (self.0.zeta(), self.0.error());
        by_name(py, self.0.theta(), &TwoSided { n_low: 0, low, high, zeta, p_pos, p_neg, error })
    }
}

/// Cuts a model at the threshold `theta`; the other numbers are results of [`two_sided`].
#[pyfunction]
#[pyo3(signature = (ranker, ranker_calibration, *, theta, low, high, zeta, p_pos, p_neg, error))]
#[expect(clippy::too_many_arguments, reason = "the numbers of a cut, by name")]
pub fn build_two_sided(
    py: Python<'_>,
    ranker: PyRef<'_, PyModel>,
    ranker_calibration: Option<PyRef<'_, PyCalibration>>,
    theta: f64,
    low: f64,
    high: f64,
    zeta: f64,
    p_pos: f64,
    p_neg: f64,
    error: f64,
) -> PyResult<Py<PyTwoSided>> {
    let calibration = ranker_calibration.map(|calibration| (*calibration.0).clone());
    let cut = TwoSided { n_low: 0, low, high, zeta, p_pos, p_neg, error };
    let model = TwoSidedModel::new(ranker.as_model().to_model(), calibration, theta, &cut);
    hand_over(py, model.map_err(PyValueError::new_err)?)
}

fn by_name<'py>(py: Python<'py>, theta: f64, cut: &TwoSided) -> PyResult<Bound<'py, PyDict>> {
    let found = PyDict::new(py);
    for (name, value) in [
        ("theta", theta),
        ("low", cut.low),
        ("high", cut.high),
        ("zeta", cut.zeta),
        ("p_pos", cut.p_pos),
        ("p_neg", cut.p_neg),
        ("error", cut.error),
    ] {
        found.set_item(name, value)?;
    }
    Ok(found)
}

/// Cuts a ranking: threshold, probabilities on both sides of it, and error rates, by name.
#[pyfunction]
pub fn two_sided<'py>(
    py: Python<'py>,
    scores: PyReadonlyArray1<'py, f64>,
    positive: PyReadonlyArray1<'py, bool>,
    weight: Option<PyReadonlyArray1<'py, f64>>,
    criterion: &str,
    noise_rate: f64,
    n_threads: usize,
) -> PyResult<Bound<'py, PyDict>> {
    let criterion = match criterion {
        "sum" => ThresholdCriterion::Sum,
        "error" => ThresholdCriterion::Error,
        other => return Err(PyValueError::new_err(format!("no criterion is called {other:?}"))),
    };
    let (scores, positive) = (scores.as_slice()?, positive.as_slice()?);
    let weight = weight.as_ref().map(|weight| weight.as_slice()).transpose()?;
    let (theta, cut) = run(py, scores.len(), n_threads, || {
        two_sided_by_scores(scores, &Labels::new(positive, weight)?, criterion, noise_rate)
    })?;
    by_name(py, theta, &cut)
}
