//! AURORA.

use aucrank::aurora::{self, Aurora, AuroraParams};
use aucrank::data::Labels;
use numpy::{IntoPyArray, PyArray1, PyReadonlyArray1};
use pyo3::prelude::*;

use crate::columns::ColumnsArg;
use crate::run::{on_pool, read_params};

/// A fitted `AURORA`.
#[pyclass(name = "Aurora", module = "aucrank._core", frozen)]
pub struct PyAurora(pub Aurora);

#[pymethods]
impl PyAurora {
    fn to_json(&self) -> String {
        serde_json::to_string(&self.0).unwrap_or_default()
    }

    fn score<'py>(
        &self,
        py: Python<'py>,
        columns: ColumnsArg<'py>,
        n_levels: Vec<Option<u32>>,
        n_threads: usize,
    ) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let columns = columns.borrow(&n_levels)?;
        Ok(on_pool(py, n_threads, |_| self.0.score(&columns))?.into_pyarray(py))
    }
}

/// Fits `AURORA`.
#[pyfunction]
pub fn fit_aurora<'py>(
    py: Python<'py>,
    columns: ColumnsArg<'py>,
    n_levels: Vec<Option<u32>>,
    positive: PyReadonlyArray1<'py, bool>,
    weight: Option<PyReadonlyArray1<'py, f64>>,
    params: &str,
    n_threads: usize,
) -> PyResult<PyAurora> {
    let params: AuroraParams = read_params(params)?;
    let columns = columns.borrow(&n_levels)?;
    let positive = positive.as_slice()?;
    let weight = weight.as_ref().map(|weight| weight.as_slice()).transpose()?;
    let model = on_pool(py, n_threads, |interrupt| {
        aurora::fit_aurora(&columns, &Labels::new(positive, weight)?, &params, interrupt)
    });
    model.map(PyAurora)
}
