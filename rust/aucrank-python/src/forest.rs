//! The forest of `aucrank::tree` as a Python class and a function.

use std::sync::Arc;

use aucrank::tree::{CutCriterion, ForestParams, LeafValue, RankingForest, fit_forest};
use numpy::{IntoPyArray, PyArray1, PyReadonlyArray1, ToPyArray};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::columns::ColumnsArg;
use crate::model::{PyModel, hand_over};
use crate::run::{fit_on_pool, on_pool, read_params, to_json, to_py_err};
use crate::sample::SampleArg;
use crate::tree::PyRankingTree;

/// A fitted forest of ranking trees.
#[pyclass(name = "RankingForest", module = "aucrank._core", frozen, extends = PyModel)]
pub struct PyRankingForest(pub Arc<RankingForest>);

#[pymethods]
impl PyRankingForest {
    #[getter]
    fn n_trees(&self) -> usize {
        self.0.trees().len()
    }

    #[getter]
    fn seed(&self) -> u64 {
        self.0.seed()
    }

    /// Rows that each side of a split keeps, or `None` if the file of the forest does not have it.
    #[getter]
    fn min_samples_leaf(&self) -> Option<u64> {
        self.0.min_samples_leaf()
    }

    /// The criterion of cuts, by its name in the parameters.
    #[getter]
    fn criterion(&self) -> &'static str {
        match self.0.criterion() {
            CutCriterion::Youden => "youden",
            CutCriterion::Gini => "gini",
            CutCriterion::LogLoss => "log_loss",
        }
    }

    fn tree(&self, number: usize) -> PyRankingTree {
        PyRankingTree(self.0.trees()[number].clone())
    }

    /// Out-of-bag results, or `None` if they were not requested.
    fn out_of_bag<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyDict>>> {
        let Some(found) = self.0.out_of_bag() else { return Ok(None) };
        let table = PyDict::new(py);
        table.set_item("auc", found.auc)?;
        table.set_item("variance", found.variance)?;
        table.set_item("effective_rows", found.effective_rows)?;
        table.set_item("path_trees", found.path_trees.clone())?;
        table.set_item("path_aucs", found.path_aucs.to_pyarray(py))?;
        Ok(Some(table))
    }

    /// Standard deviation of the importances over the trees.
    fn importance_spread<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        self.0.importances().1.into_pyarray(py)
    }

    /// The JSON form of the probability, if it is not a function of the score.
    fn probability_formula(&self) -> PyResult<Option<String>> {
        self.0.probability_formula().as_ref().map(to_json).transpose()
    }

    /// For each tree the values of its leaves, in ranking order, or `None` if the forest does not
    /// average them; `value` names a [`LeafValue`].
    fn leaf_values<'py>(
        &self,
        py: Python<'py>,
        value: &str,
    ) -> PyResult<Option<Vec<Bound<'py, PyArray1<f64>>>>> {
        let value: LeafValue = value.parse().map_err(to_py_err)?;
        let values = value.of_forest(&self.0);
        Ok(values.map(|trees| trees.into_iter().map(|tree| tree.into_pyarray(py)).collect()))
    }

    /// As for a single tree.
    #[expect(clippy::too_many_arguments, reason = "a call from Python, by position")]
    fn partial_dependence<'py>(
        &self,
        py: Python<'py>,
        columns: ColumnsArg<'py>,
        weight: Option<PyReadonlyArray1<'py, f64>>,
        features: Vec<usize>,
        points: PyReadonlyArray1<'py, f64>,
        value: &str,
        n_threads: usize,
    ) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let columns = columns.borrow(self.0.n_levels())?;
        let weight = weight.as_ref().map(|weight| weight.as_slice()).transpose()?;
        let points = points.as_slice()?;
        let value: LeafValue = value.parse().map_err(to_py_err)?;
        let means = on_pool(py, n_threads, |interrupt| {
            self.0.partial_dependence(&columns, weight, &features, points, value, interrupt)
        })?;
        Ok(means.into_pyarray(py))
    }
}

/// Fits a forest, or adds trees to an `earlier` one; `params` is the JSON form of [`ForestParams`].
#[pyfunction]
#[pyo3(signature = (sample, params, earlier, n_threads, observer=None))]
pub fn fit_ranking_forest<'py>(
    py: Python<'py>,
    sample: SampleArg<'py>,
    params: &str,
    earlier: Option<PyRef<'py, PyRankingForest>>,
    n_threads: usize,
    observer: Option<Py<PyAny>>,
) -> PyResult<Py<PyRankingForest>> {
    let params: ForestParams = read_params(params)?;
    let sample = sample.borrow()?;
    let earlier = earlier.map(|forest| (*forest.0).clone());
    let forest = fit_on_pool(py, n_threads, observer, |interrupt| {
        fit_forest(&sample.columns, &sample.labels()?, &params, earlier, interrupt)
    })?;
    hand_over(py, forest)
}
