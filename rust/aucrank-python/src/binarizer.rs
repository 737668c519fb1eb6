//! `ThresholdBinarizer` of the module `aucrank::aurora` as a Python class and a function.

use std::sync::Arc;

use aucrank::aurora::{self, BinarizerParams, ThresholdBinarizer};
use numpy::{PyArray1, PyReadonlyArray1, PyReadwriteArray1};
use pyo3::prelude::*;

use crate::columns::ColumnsArg;
use crate::model::{PyModel, hand_over};
use crate::run::{on_pool, read_params, to_json};
use crate::sample::SampleArg;

/// Number of terms in one JSON text.
const TERMS_OF_TEXT: usize = 1 << 14;

/// Binary terms of features.
#[pyclass(name = "ThresholdBinarizer", module = "aucrank._core", frozen, extends = PyModel)]
pub struct PyThresholdBinarizer(pub Arc<ThresholdBinarizer>);

/// Output array for the terms of all rows, in any of the element types of a term matrix.
#[derive(FromPyObject)]
pub enum TermsArg<'py> {
    F64(PyReadwriteArray1<'py, f64>),
    F32(PyReadwriteArray1<'py, f32>),
    U8(PyReadwriteArray1<'py, u8>),
}

#[pymethods]
impl PyThresholdBinarizer {
    #[getter]
    fn has_labels(&self) -> bool {
        self.0.has_labels()
    }

    /// Binary exponent of the unit of class weight.
    #[getter]
    fn exponent(&self) -> i32 {
        self.0.exponent()
    }

    /// The terms as JSON texts, each a list of some of them: Python parses a text in one call,
    /// during which it cannot be interrupted.
    fn terms(&self, py: Python<'_>) -> PyResult<Vec<String>> {
        py.detach(|| self.0.terms().chunks(TERMS_OF_TEXT).map(to_json).collect())
    }

    /// The model as JSON text.
    fn to_json(&self) -> PyResult<String> {
        to_json(&*self.0)
    }

    /// Writes a one for each term that is on, row by row.
    fn fill<'py>(
        &self,
        py: Python<'py>,
        columns: ColumnsArg<'py>,
        out: TermsArg<'py>,
        n_threads: usize,
    ) -> PyResult<()> {
        let columns = columns.borrow(self.0.n_levels())?;
        match out {
            TermsArg::F64(mut out) => {
                let out = out.as_slice_mut()?;
                on_pool(py, n_threads, |interrupt| self.0.fill(&columns.until(interrupt), out, 1.0))
            }
            TermsArg::F32(mut out) => {
                let out = out.as_slice_mut()?;
                on_pool(py, n_threads, |interrupt| self.0.fill(&columns.until(interrupt), out, 1.0))
            }
            TermsArg::U8(mut out) => {
                let out = out.as_slice_mut()?;
                on_pool(py, n_threads, |interrupt| self.0.fill(&columns.until(interrupt), out, 1))
            }
        }
    }

    /// Number of terms that are on in each row.
    fn count<'py>(
        &self,
        py: Python<'py>,
        columns: ColumnsArg<'py>,
        n_threads: usize,
    ) -> PyResult<Bound<'py, PyArray1<i64>>> {
        columns.ask(py, self.0.n_levels(), n_threads, |columns| self.0.count(columns))
    }

    /// Writes the indices of the terms that are on to `out`, row after row.
    fn fill_indices<'py>(
        &self,
        py: Python<'py>,
        columns: ColumnsArg<'py>,
        counts: PyReadonlyArray1<'py, i64>,
        mut out: PyReadwriteArray1<'py, i32>,
        n_threads: usize,
    ) -> PyResult<()> {
        let columns = columns.borrow(self.0.n_levels())?;
        let (counts, out) = (counts.as_slice()?, out.as_slice_mut()?);
        on_pool(py, n_threads, |interrupt| {
            self.0.fill_indices(&columns.until(interrupt), counts, out)
        })
    }
}

/// Fits `ThresholdBinarizer`; `positive` is `None` without labels, and `params` is the JSON form of
/// [`BinarizerParams`].
#[pyfunction]
pub fn fit_threshold_binarizer<'py>(
    py: Python<'py>,
    sample: SampleArg<'py>,
    params: &str,
    n_threads: usize,
) -> PyResult<Py<PyThresholdBinarizer>> {
    let params: BinarizerParams = read_params(params)?;
    let sample = sample.borrow()?;
    let model = on_pool(py, n_threads, |interrupt| {
        let columns = &sample.columns;
        aurora::fit_threshold_binarizer(columns, &sample.new_rows()?, &params, interrupt)
    });
    hand_over(py, model?)
}
