//! `aucrank._core`: borrow arrays, leave the interpreter, call the core, map the error. Computes
//! nothing.

mod roc;
mod run;

use pyo3::prelude::*;

#[pymodule(gil_used = false)]
mod _core {
    #[pymodule_export]
    use super::roc::{RocCurve, roc_auc};

    /// Rows from which on the functions of `aucrank.metrics` use more than one thread.
    #[pymodule_export]
    const ROC_PARALLEL_FROM: usize = aucrank::roc::PARALLEL_FROM;

    #[pymodule_init]
    fn init(module: &pyo3::Bound<'_, pyo3::types::PyModule>) -> pyo3::PyResult<()> {
        pyo3::types::PyModuleMethods::add(module, "__version__", env!("CARGO_PKG_VERSION"))
    }
}
