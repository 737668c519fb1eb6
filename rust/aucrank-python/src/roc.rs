//! The room `aucrank::roc` as Python functions.

use aucrank::roc;
use numpy::PyReadonlyArray1;
use pyo3::prelude::*;

use crate::run::on_pool;

#[pyfunction]
pub fn auc(
    py: Python<'_>,
    scores: PyReadonlyArray1<'_, f64>,
    positive: PyReadonlyArray1<'_, bool>,
) -> PyResult<f64> {
    let (scores, positive) = (scores.as_slice()?, positive.as_slice()?);
    on_pool(py, 1, |_| roc::auc(scores, positive))
}
