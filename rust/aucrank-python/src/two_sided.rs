//! A ranking by scores as a classifier with equal errors on both classes (paper 3 Lemma 4).

use aucrank::boost::{ThresholdCriterion, two_sided_by_scores};
use aucrank::data::Labels;
use numpy::PyReadonlyArray1;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::roc::run;

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
