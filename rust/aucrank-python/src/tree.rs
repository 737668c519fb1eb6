//! The module `aucrank::tree` as a Python class and a function.

use std::sync::Arc;

use aucrank::RankError;
use aucrank::data::Columns;
use aucrank::external::ExternalModels;
use aucrank::formula::Formula;
use aucrank::rows::TrainingRows;
use aucrank::tree::{
    LeafValue, PruningStep, RankingTree, TreeRankModel, TreeRankParams, fit, fit_by_classifiers,
    fit_validated, partial_dependence,
};
use numpy::{IntoPyArray, PyArray1, PyReadonlyArray1, ToPyArray};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::callbacks::Callbacks;
use crate::columns::ColumnsArg;
use crate::model::{PyModel, hand_over};
use crate::run::{on_pool, read_params, to_json, to_py_err};
use crate::sample::SampleArg;
use crate::training::TrainingArg;

/// A fitted ranking tree, and how its size was chosen.
#[pyclass(name = "TreeRankModel", module = "aucrank._core", frozen, extends = PyModel)]
pub struct PyTreeRankModel(pub Arc<TreeRankModel>);

#[pymethods]
impl PyTreeRankModel {
    #[getter]
    fn tree(&self) -> PyRankingTree {
        PyRankingTree(self.0.tree.clone())
    }

    /// The trees within the tolerance of the search, that of the largest AUC first.
    fn near_best(&self) -> Vec<PyRankingTree> {
        self.0.near_best.iter().cloned().map(PyRankingTree).collect()
    }

    /// The table of the cross-validation, or `None` if there was none.
    fn cross_validation<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyDict>>> {
        let Some(found) = &self.0.cross_validation else { return Ok(None) };
        let table = steps_to_dict(py, &found.steps)?;
        table.set_item("mean_auc", found.mean_auc.to_pyarray(py))?;
        table.set_item("standard_error", found.standard_error.to_pyarray(py))?;
        table.set_item("chosen", found.chosen)?;
        table.set_item("n_folds", found.n_folds)?;
        Ok(Some(table))
    }

    /// The table of the penalties, or `None` if there were none.
    fn penalization<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyDict>>> {
        let Some(found) = &self.0.penalization else { return Ok(None) };
        let n_sizes = found.train_auc.len();
        let criterion: Vec<f64> = (0..n_sizes).map(|size| found.criterion(size)).collect();
        let table = PyDict::new(py);
        table.set_item("n_leaves", (1..=n_sizes as i64).collect::<Vec<_>>().into_pyarray(py))?;
        table.set_item("train_auc", found.train_auc.to_pyarray(py))?;
        table.set_item("penalty", found.penalty.to_pyarray(py))?;
        table.set_item("criterion", criterion.into_pyarray(py))?;
        table.set_item("chosen", found.chosen)?;
        table.set_item("scale", found.scale)?;
        Ok(Some(table))
    }

    /// The table of the validation, or `None` if there was none.
    fn validation<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyDict>>> {
        let Some(found) = &self.0.validation else { return Ok(None) };
        let table = steps_to_dict(py, &found.steps)?;
        table.set_item("validation_auc", found.auc.to_pyarray(py))?;
        table.set_item("chosen", found.chosen)?;
        Ok(Some(table))
    }

    /// By how much another tree could exceed the training AUC of the tree; `None` if that is not
    /// known.
    #[getter]
    fn gap(&self) -> Option<f64> {
        self.0.gap
    }

    /// Numbers of the external models of the tree.
    fn external_models(&self) -> Vec<usize> {
        self.0.tree.classifiers()
    }

    #[pyo3(signature = (columns, n_threads, external=None))]
    fn score<'py>(
        &self,
        py: Python<'py>,
        columns: ColumnsArg<'py>,
        n_threads: usize,
        external: Option<Py<PyAny>>,
    ) -> PyResult<Bound<'py, PyArray1<f64>>> {
        ask(py, &self.0.tree, &columns, n_threads, external, RankingTree::score)
    }

    #[pyo3(signature = (columns, n_threads, external=None))]
    fn probability<'py>(
        &self,
        py: Python<'py>,
        columns: ColumnsArg<'py>,
        n_threads: usize,
        external: Option<Py<PyAny>>,
    ) -> PyResult<Bound<'py, PyArray1<f64>>> {
        ask(py, &self.0.tree, &columns, n_threads, external, RankingTree::probability)
    }

    /// Mean value of the rows at each point; `points` has the values of `features`, point by point.
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
        let tree = &self.0.tree;
        let columns = columns.borrow(tree.n_levels())?;
        let weight = weight.as_ref().map(|weight| weight.as_slice()).transpose()?;
        let points = points.as_slice()?;
        let values = value.parse::<LeafValue>().map_err(to_py_err)?.of(tree);
        let trees = [(tree, &values[..])];
        let means = on_pool(py, n_threads, |interrupt| {
            partial_dependence(&trees, &columns, weight, &features, points, interrupt)
        })?;
        Ok(means.into_pyarray(py))
    }
}

type Question<V> =
    fn(&RankingTree, &Columns<'_>, Option<&dyn ExternalModels>) -> Result<Vec<V>, RankError>;

/// Evaluates a tree on every row.
fn ask<'py, V: numpy::Element + Send>(
    py: Python<'py>,
    tree: &RankingTree,
    columns: &ColumnsArg<'py>,
    n_threads: usize,
    external: Option<Py<PyAny>>,
    question: Question<V>,
) -> PyResult<Bound<'py, PyArray1<V>>> {
    columns.ask_with(py, tree.n_levels(), n_threads, external, |columns, external| {
        question(tree, columns, external)
    })
}

/// A ranking tree.
#[pyclass(name = "RankingTree", module = "aucrank._core", frozen)]
pub struct PyRankingTree(pub RankingTree);

#[pymethods]
impl PyRankingTree {
    #[getter]
    fn n_leaves(&self) -> usize {
        self.0.n_leaves()
    }

    #[getter]
    fn depth(&self) -> usize {
        self.0.depths().into_iter().max().unwrap_or(0)
    }

    #[getter]
    fn auc(&self) -> f64 {
        self.0.auc()
    }

    /// False and true positive rates at the knots of the training curve.
    fn roc<'py>(&self, py: Python<'py>) -> (Bound<'py, PyArray1<f64>>, Bound<'py, PyArray1<f64>>) {
        let (fpr, tpr) = self.0.roc();
        (fpr.into_pyarray(py), tpr.into_pyarray(py))
    }

    /// The level of the dyadic cubes, if nodes are split by cubes.
    #[getter]
    fn cube_level(&self) -> Option<u32> {
        self.0.cube_level()
    }

    /// Numbers of the leaves, in ranking order.
    fn leaves<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<i64>> {
        let leaves = self.0.leaves().into_iter().map(|leaf| leaf as i64);
        leaves.collect::<Vec<_>>().into_pyarray(py)
    }

    /// A value for each leaf, in ranking order; `value` names a [`LeafValue`].
    fn leaf_values<'py>(
        &self,
        py: Python<'py>,
        value: &str,
    ) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let value: LeafValue = value.parse().map_err(to_py_err)?;
        Ok(value.of(&self.0).into_pyarray(py))
    }

    /// The JSON form of the tree with a number for each leaf, given in ranking order.
    fn formula(&self, of_leaves: PyReadonlyArray1<'_, f64>) -> PyResult<String> {
        to_json(&Formula::Tree(self.0.formula(of_leaves.as_slice()?)))
    }

    fn importances<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        self.0.importances().into_pyarray(py)
    }

    fn leaf_scores<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        self.0.leaf_scores().into_pyarray(py)
    }

    #[pyo3(signature = (columns, n_threads, external=None))]
    fn score<'py>(
        &self,
        py: Python<'py>,
        columns: ColumnsArg<'py>,
        n_threads: usize,
        external: Option<Py<PyAny>>,
    ) -> PyResult<Bound<'py, PyArray1<f64>>> {
        ask(py, &self.0, &columns, n_threads, external, RankingTree::score)
    }

    /// Rank of the leaf of each row.
    #[pyo3(signature = (columns, n_threads, external=None))]
    fn apply<'py>(
        &self,
        py: Python<'py>,
        columns: ColumnsArg<'py>,
        n_threads: usize,
        external: Option<Py<PyAny>>,
    ) -> PyResult<Bound<'py, PyArray1<u32>>> {
        ask(py, &self.0, &columns, n_threads, external, RankingTree::apply)
    }

    /// Alphas, numbers of leaves and training AUCs of the nested path.
    fn pruning_path<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        steps_to_dict(py, &self.0.pruning_path())
    }

    fn prune(&self, alpha: f64) -> Self {
        Self(self.0.prune(alpha))
    }

    fn best_subtree(&self, n_leaves: usize) -> PyResult<Self> {
        self.0.best_subtree(n_leaves).map(Self).map_err(to_py_err)
    }

    fn subtree(&self, leaves: Vec<usize>) -> PyResult<Self> {
        self.0.subtree(&leaves).map(Self).map_err(to_py_err)
    }

    /// The tree of the nested path that has the largest AUC on the given rows.
    fn best_on<'py>(
        &self,
        py: Python<'py>,
        sample: SampleArg<'py>,
        n_threads: usize,
    ) -> PyResult<Self> {
        let sample = sample.borrow()?;
        let (best, _) = on_pool(py, n_threads, |interrupt| {
            self.0.best_on(&sample.columns.until(interrupt), &sample.labels()?)
        })?;
        Ok(Self(best))
    }

    /// The tree as JSON text.
    fn to_json(&self) -> PyResult<String> {
        self.0.to_json().map_err(|err| PyValueError::new_err(err.to_string()))
    }
}

fn steps_to_dict<'py>(py: Python<'py>, steps: &[PruningStep]) -> PyResult<Bound<'py, PyDict>> {
    let table = PyDict::new(py);
    let column = |of: fn(&PruningStep) -> f64| -> Vec<f64> { steps.iter().map(of).collect() };
    let n_leaves: Vec<i64> = steps.iter().map(|step| step.n_leaves as i64).collect();
    table.set_item("alpha", column(|step| step.alpha).into_pyarray(py))?;
    table.set_item("n_leaves", n_leaves.into_pyarray(py))?;
    table.set_item("train_auc", column(|step| step.auc).into_pyarray(py))?;
    Ok(table)
}

/// Fits a ranking tree; `params` is the JSON form of [`TreeRankParams`].
#[pyfunction]
#[pyo3(signature = (
    rows, params, n_threads, validation=None, external=None, observer=None
))]
pub fn fit_tree_rank<'py>(
    py: Python<'py>,
    rows: TrainingArg<'py>,
    params: &str,
    n_threads: usize,
    validation: Option<SampleArg<'py>>,
    external: Option<Py<PyAny>>,
    observer: Option<Py<PyAny>>,
) -> PyResult<Py<PyTreeRankModel>> {
    let params: TreeRankParams = read_params(params)?;
    let validation = validation.as_ref().map(SampleArg::borrow).transpose()?;
    let external = external.map(Callbacks::new);
    let fitted =
        rows.fit(py, n_threads, observer, |rows, interrupt| match (rows, &validation, &external) {
            (rows, None, None) => fit(rows, &params, interrupt),
            (TrainingRows::Memory(columns, labels), None, Some(external)) => {
                fit_by_classifiers(columns, labels, &params, external, interrupt)
            }
            (TrainingRows::Memory(columns, labels), Some(other), _) => {
                let other = (&other.columns, &other.labels()?);
                fit_validated(columns, labels, other, &params, interrupt)
            }
            (TrainingRows::Elsewhere(_), ..) => Err(RankError::BadParameter {
                name: "validation or external",
                value: "given".to_owned(),
                rule: "left out where rows are read in parts",
            }),
        });
    hand_over(py, Callbacks::finish_any(external.as_ref(), py, fitted)?)
}
