//! The ramp AUC of `aucrank::roc` as a Python function.

use aucrank::roc::Ramp;
use pyo3::prelude::*;

use crate::roc::RocCurve;
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
