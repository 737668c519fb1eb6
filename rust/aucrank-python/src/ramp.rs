//! The ramp AUC of `aucrank::roc` as Python functions.

use aucrank::roc::Ramp;
use numpy::{IntoPyArray, PyArray1, PyReadonlyArray1};
use pyo3::prelude::*;

use crate::roc::{Labels, RocCurve, Scores, run, with_scores};
use crate::run::to_py_err;

#[pyfunction]
pub fn ramp_auc(
    py: Python<'_>,
    curve: PyRef<'_, RocCurve>,
    half_width: f64,
    side_slope: f64,
) -> PyResult<f64> {
    let (ramp, curve) = (Ramp { half_width, side_slope }, &curve.0);
    py.detach(|| ramp.auc(curve)).map_err(to_py_err)
}

/// `None` if the labels are not 0 and 1, or -1 and 1.
#[pyfunction]
#[expect(clippy::needless_pass_by_value, reason = "arguments come from Python by value")]
pub fn ramp_auc_gradient<'py>(
    py: Python<'py>,
    labels: Labels<'py>,
    scores: Scores<'py>,
    weights: Option<PyReadonlyArray1<'py, f64>>,
    n_threads: usize,
    half_width: f64,
    side_slope: f64,
) -> PyResult<Option<(f64, Bound<'py, PyArray1<f64>>)>> {
    let ramp = Ramp { half_width, side_slope };
    let labels = labels.as_slice()?;
    let weights = weights.as_ref().map(|weights| weights.as_slice()).transpose()?;
    let gradient = with_scores!(scores, |scores| run(py, labels.len(), n_threads, || {
        let positive = labels.positive();
        positive.map(|positive| ramp.gradient(scores, &positive, weights)).transpose()
    }));
    Ok(gradient?.map(|gradient| (gradient.value, gradient.by_score.into_pyarray(py))))
}
