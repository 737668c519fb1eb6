//! The module `aucrank::calibration` as a Python class and functions; thresholds and folds.

use std::sync::Arc;

use aucrank::calibration::{Calibration, CalibrationMethod};
use aucrank::data::{Folds, Labels, NO_FOLD, hold_out};
use numpy::{IntoPyArray, PyArray1, PyReadonlyArray1};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::document::hand_over_any;
use crate::model::PyModel;
use crate::run::{on_pool, read_params};
use crate::sample::SampleArg;

/// Log-odds of the positive class as a rising function of a score.
#[pyclass(name = "Calibration", module = "aucrank._core", frozen)]
pub struct PyCalibration(pub Arc<Calibration>);

#[pymethods]
impl PyCalibration {
    /// Probability of the positive class at each score.
    fn probability<'py>(
        &self,
        py: Python<'py>,
        scores: PyReadonlyArray1<'py, f64>,
    ) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let scores = scores.as_slice()?;
        let found = scores.iter().map(|&score| self.0.probability(score));
        Ok(found.collect::<Vec<_>>().into_pyarray(py))
    }

    /// Scores and log-odds of the knots, ascending.
    fn knots(&self) -> (Vec<f64>, Vec<f64>) {
        let (scores, log_odds) = self.0.knots();
        (scores.to_vec(), log_odds.to_vec())
    }

    /// Slopes of the log-odds below the first knot and above the last.
    fn slopes(&self) -> (f64, f64) {
        self.0.slopes().into()
    }
}

/// Fits a calibration to scores; `method` is the JSON form of [`CalibrationMethod`]. Also returns
/// the score of even odds, which is to be subtracted from all scores.
#[pyfunction]
pub fn fit_calibration(
    py: Python<'_>,
    scores: PyReadonlyArray1<'_, f64>,
    positive: PyReadonlyArray1<'_, bool>,
    weight: Option<PyReadonlyArray1<'_, f64>>,
    method: &str,
    n_threads: usize,
) -> PyResult<(PyCalibration, f64)> {
    let method: CalibrationMethod = read_params(method)?;
    let (scores, positive) = (scores.as_slice()?, positive.as_slice()?);
    let weight = weight.as_ref().map(|weight| weight.as_slice()).transpose()?;
    let (found, cut) = on_pool(py, n_threads, |_| {
        Calibration::fit(scores, &Labels::new(positive, weight)?, method)
    })?;
    Ok((PyCalibration(Arc::new(found)), cut))
}

/// A calibration through knots of scores and log-odds, and the score of even odds.
#[pyfunction]
pub fn calibration_through(
    knots: Vec<(f64, f64)>,
    slopes: [f64; 2],
) -> PyResult<(PyCalibration, f64)> {
    let (found, cut) = Calibration::through(&knots, slopes).map_err(PyValueError::new_err)?;
    Ok((PyCalibration(Arc::new(found)), cut))
}

/// The score of even odds if each row counts by the factor of its class, negative first.
#[pyfunction]
pub fn even_odds(
    py: Python<'_>,
    scores: PyReadonlyArray1<'_, f64>,
    positive: PyReadonlyArray1<'_, bool>,
    weight: Option<PyReadonlyArray1<'_, f64>>,
    factors: [f64; 2],
    n_threads: usize,
) -> PyResult<f64> {
    let (scores, positive) = (scores.as_slice()?, positive.as_slice()?);
    let weight = weight.as_ref().map(|weight| weight.as_slice()).transpose()?;
    on_pool(py, n_threads, |_| {
        Calibration::even_odds(scores, &Labels::new(positive, weight)?, factors)
    })
}

/// A model with another threshold, of the same class.
#[pyfunction]
pub fn with_threshold(
    py: Python<'_>,
    model: PyRef<'_, PyModel>,
    threshold: f64,
) -> PyResult<Py<PyAny>> {
    let moved = model.as_model().to_model().with_threshold(threshold);
    hand_over_any(py, moved.map_err(PyValueError::new_err)?)
}

/// The fold of each row of a sample in blocks, and how many folds there are.
#[pyfunction]
pub fn deal_blocks<'py>(
    py: Python<'py>,
    sample: SampleArg<'py>,
    n_folds: u16,
    seed: u64,
    n_threads: usize,
) -> PyResult<(Bound<'py, PyArray1<i64>>, u16)> {
    let sample = sample.borrow()?;
    let Folds { of_row, n_folds } = on_pool(py, n_threads, |interrupt| {
        Folds::deal(&sample.columns, &sample.labels()?, n_folds, seed, interrupt)
    })?;
    // A row of weight zero is in no fold.
    let number = |fold| if fold == NO_FOLD { -1 } else { i64::from(fold) };
    Ok((of_row.into_iter().map(number).collect::<Vec<_>>().into_pyarray(py), n_folds))
}

/// The rows that a fit with this fraction and seed holds out; `None` if a class has a single
/// distinct row.
#[pyfunction]
pub fn held_out_rows<'py>(
    py: Python<'py>,
    sample: SampleArg<'py>,
    fraction: f64,
    seed: u64,
    n_threads: usize,
) -> PyResult<Option<Bound<'py, PyArray1<u32>>>> {
    let sample = sample.borrow()?;
    let parts = on_pool(py, n_threads, |interrupt| {
        hold_out(&sample.columns, &sample.labels()?, fraction, seed, interrupt)
    })?;
    Ok(parts.map(|parts| parts.held_out.into_pyarray(py)))
}
