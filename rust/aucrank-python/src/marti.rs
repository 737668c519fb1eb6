//! Branching programs as Python classes and functions.

use std::sync::Arc;

use aucrank::boost::{self, BranchingProgram, MartiParams, NodeKind, TwoSided};
use aucrank::external::ExternalFitter;
use numpy::{IntoPyArray, PyArray1};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::callbacks::Callbacks;
use crate::columns::ColumnsArg;
use crate::model::{PyModel, hand_over};
use crate::run::read_params;
use crate::training::TrainingArg;

/// A branching program, fitted by `MartiRank` or `SMartiRank`.
#[pyclass(name = "BranchingProgram", module = "aucrank._core", frozen, extends = PyModel)]
pub struct PyBranchingProgram(pub Arc<BranchingProgram>);

/// The string by which JSON and Python denote an enum value.
fn word<T: serde::Serialize>(value: T) -> PyResult<String> {
    match serde_json::to_value(value) {
        Ok(serde_json::Value::String(word)) => Ok(word),
        other => Err(PyValueError::new_err(format!("not a word: {other:?}"))),
    }
}

#[pymethods]
impl PyBranchingProgram {
    #[getter]
    fn n_rounds(&self) -> usize {
        self.0.n_rounds()
    }

    #[getter]
    fn routing(&self) -> PyResult<String> {
        word(self.0.routing())
    }

    #[getter]
    fn noise_rate(&self) -> f64 {
        self.0.noise_rate()
    }

    /// The table of nodes, one column per key.
    fn nodes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let program = &self.0;
        let nodes: Vec<_> = program.nodes().collect();
        let integers = |value: &dyn Fn(usize) -> i64| -> Bound<'py, PyArray1<i64>> {
            (0..nodes.len()).map(value).collect::<Vec<_>>().into_pyarray(py)
        };
        let numbers = |value: &dyn Fn(usize) -> f64| -> Bound<'py, PyArray1<f64>> {
            (0..nodes.len()).map(value).collect::<Vec<_>>().into_pyarray(py)
        };
        let of_cut = |value: fn(&TwoSided) -> f64| {
            numbers(&|place| match &nodes[place].2.kind {
                NodeKind::Ranker { cut, .. } => value(cut),
                _ => f64::NAN,
            })
        };
        let kinds: Vec<&str> = nodes
            .iter()
            .map(|(_, _, node)| match node.kind {
                NodeKind::Ranker { .. } => "ranker",
                NodeKind::Coin => "coin",
                NodeKind::Frozen { .. } => "frozen",
                NodeKind::Terminal => "terminal",
                NodeKind::Unreached => "unreached",
            })
            .collect();
        let rules: Vec<Option<String>> = nodes
            .iter()
            .map(|(_, _, node)| match &node.kind {
                NodeKind::Ranker { term, .. } => serde_json::to_string(term)
                    .map(Some)
                    .map_err(|err| PyValueError::new_err(err.to_string())),
                _ => Ok(None),
            })
            .collect::<PyResult<_>>()?;
        let table = PyDict::new(py);
        table.set_item("layer", integers(&|place| nodes[place].0 as i64))?;
        table.set_item("index", integers(&|place| nodes[place].1 as i64))?;
        table.set_item("kind", kinds)?;
        table
            .set_item("pos", numbers(&|place| nodes[place].2.masses.pos as f64 * program.unit()))?;
        table
            .set_item("neg", numbers(&|place| nodes[place].2.masses.neg as f64 * program.unit()))?;
        table.set_item(
            "label",
            integers(&|place| match nodes[place].2.kind {
                NodeKind::Frozen { positive } => 2 * i64::from(positive) - 1,
                _ => 0,
            }),
        )?;
        table.set_item("rule", rules)?;
        table.set_item("low", of_cut(|cut| cut.low))?;
        table.set_item("high", of_cut(|cut| cut.high))?;
        table.set_item("p_pos", of_cut(|cut| cut.p_pos))?;
        table.set_item("p_neg", of_cut(|cut| cut.p_neg))?;
        table.set_item("zeta", of_cut(|cut| cut.zeta))?;
        table.set_item("error", of_cut(|cut| cut.error))?;
        table.set_item(
            "votes",
            numbers(&|place| {
                let (layer, index, _) = nodes[place];
                program.twice_votes(layer, index).map_or(f64::NAN, |twice| twice as f64 / 2.0)
            }),
        )?;
        Ok(table)
    }

    /// Numbers of the external models of the program.
    fn external_models(&self) -> Vec<usize> {
        self.0.external_rankers()
    }

    #[pyo3(signature = (columns, n_threads, external=None))]
    fn score<'py>(
        &self,
        py: Python<'py>,
        columns: ColumnsArg<'py>,
        n_threads: usize,
        external: Option<Py<PyAny>>,
    ) -> PyResult<Bound<'py, PyArray1<f64>>> {
        columns.ask_with(py, self.0.n_levels(), n_threads, external, |columns, external| {
            self.0.score(columns, external)
        })
    }
}

/// Fits `MartiRank` or `SMartiRank`; `params` is the JSON form of [`MartiParams`].
#[pyfunction]
#[pyo3(signature = (rows, params, n_threads, external=None, observer=None))]
pub fn fit_marti_rank<'py>(
    py: Python<'py>,
    rows: TrainingArg<'py>,
    params: &str,
    n_threads: usize,
    external: Option<Py<PyAny>>,
    observer: Option<Py<PyAny>>,
) -> PyResult<Py<PyBranchingProgram>> {
    let params: MartiParams = read_params(params)?;
    let external = external.map(Callbacks::new);
    let fitter = external.as_ref().map(|external| external as &dyn ExternalFitter);
    let program = rows.fit(py, n_threads, observer, |rows, interrupt| {
        boost::fit_marti_rank(rows, &params, fitter, interrupt)
    });
    hand_over(py, Callbacks::finish_any(external.as_ref(), py, program)?)
}
