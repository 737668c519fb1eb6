//! The room `aucrank::tree` as a Python class and a function.

use aucrank::data::{BinningParams, Labels};
use aucrank::tree::{
    CrossValidation, CvParams, FitParams, GrowParams, LeafOrder, LeafRankParams, PruningStep,
    RankingTree, fit,
};
use numpy::{IntoPyArray, PyArray1, PyArray2, PyReadonlyArray1};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::columns::ColumnsArg;
use crate::run::{on_pool, to_py_err};

/// A ranking tree.
#[pyclass(name = "RankingTree", module = "aucrank._core", frozen)]
pub struct PyRankingTree(pub RankingTree);

#[pymethods]
impl PyRankingTree {
    #[classattr]
    fn family() -> &'static str {
        "tree_rank"
    }

    #[getter]
    fn n_features(&self) -> usize {
        self.0.n_levels().len()
    }

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

    fn roc<'py>(&self, py: Python<'py>) -> (Bound<'py, PyArray1<f64>>, Bound<'py, PyArray1<f64>>) {
        let (fpr, tpr) = self.0.roc();
        (fpr.into_pyarray(py), tpr.into_pyarray(py))
    }

    /// Numbers of the leaves, in ranking order.
    fn leaves(&self) -> Vec<usize> {
        self.0.leaves()
    }

    fn leaf_scores<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        self.0.leaf_scores().into_pyarray(py)
    }

    fn probabilities<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        self.0.probabilities().into_pyarray(py)
    }

    fn importances<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        self.0.importances().into_pyarray(py)
    }

    fn score<'py>(
        &self,
        py: Python<'py>,
        columns: ColumnsArg<'py>,
        n_threads: usize,
    ) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let columns = columns.borrow(self.0.n_levels())?;
        Ok(on_pool(py, n_threads, |_| self.0.score(&columns))?.into_pyarray(py))
    }

    fn probability<'py>(
        &self,
        py: Python<'py>,
        columns: ColumnsArg<'py>,
        n_threads: usize,
    ) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let columns = columns.borrow(self.0.n_levels())?;
        Ok(on_pool(py, n_threads, |_| self.0.probability(&columns))?.into_pyarray(py))
    }

    fn apply<'py>(
        &self,
        py: Python<'py>,
        columns: ColumnsArg<'py>,
        n_threads: usize,
    ) -> PyResult<Bound<'py, PyArray1<u32>>> {
        let columns = columns.borrow(self.0.n_levels())?;
        Ok(on_pool(py, n_threads, |_| self.0.apply(&columns))?.into_pyarray(py))
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

fn cross_validation_to_dict<'py>(
    py: Python<'py>,
    found: &CrossValidation,
) -> PyResult<Bound<'py, PyDict>> {
    let table = steps_to_dict(py, &found.steps)?;
    table.set_item("mean_auc", found.mean_auc().into_pyarray(py))?;
    table.set_item("standard_error", found.standard_error().into_pyarray(py))?;
    table.set_item("fold_aucs", PyArray2::from_vec2(py, &found.fold_aucs)?)?;
    table.set_item("chosen", found.chosen)?;
    Ok(table)
}

/// Fits a ranking tree; returns it and the table of its cross-validation, if there was one.
#[pyfunction]
#[pyo3(signature = (
    columns, n_levels, positive, weight, *, max_depth, min_samples_split, min_samples_leaf, min_gain,
    leaf_order, split_max_depth, split_max_leaves, split_min_samples_split, split_min_samples_leaf,
    max_bins, n_folds, one_standard_error, seed, n_threads,
))]
#[expect(clippy::too_many_arguments, reason = "one for each parameter of the estimator")]
pub fn fit_tree_rank<'py>(
    py: Python<'py>,
    columns: ColumnsArg<'py>,
    n_levels: Vec<Option<u32>>,
    positive: PyReadonlyArray1<'py, bool>,
    weight: Option<PyReadonlyArray1<'py, f64>>,
    max_depth: usize,
    min_samples_split: u64,
    min_samples_leaf: u64,
    min_gain: f64,
    leaf_order: &str,
    split_max_depth: usize,
    split_max_leaves: Option<usize>,
    split_min_samples_split: u64,
    split_min_samples_leaf: u64,
    max_bins: Option<usize>,
    n_folds: Option<u16>,
    one_standard_error: bool,
    seed: u64,
    n_threads: usize,
) -> PyResult<(PyRankingTree, Option<Bound<'py, PyDict>>)> {
    let leaf_order = match leaf_order {
        "tree" => LeafOrder::Tree,
        "eta" => LeafOrder::Eta,
        other => return Err(PyValueError::new_err(format!("leaf_order is {other:?}"))),
    };
    let params = FitParams {
        binning: BinningParams { max_bins, seed },
        grow: GrowParams {
            max_depth,
            min_samples_split,
            min_samples_leaf,
            min_gain,
            split: LeafRankParams {
                max_depth: split_max_depth,
                max_leaves: split_max_leaves,
                min_samples_split: split_min_samples_split,
                min_samples_leaf: split_min_samples_leaf,
            },
            leaf_order,
        },
        pruning: n_folds.map(|n_folds| CvParams { n_folds, one_standard_error, seed }),
    };
    let columns = columns.borrow(&n_levels)?;
    let positive = positive.as_slice()?;
    let weight = weight.as_ref().map(|weight| weight.as_slice()).transpose()?;
    let fitted = on_pool(py, n_threads, |interrupt| {
        let labels = Labels::new(positive, weight)?;
        fit(&columns, &labels, &params, interrupt)
    })?;
    let found = fitted.cross_validation.as_ref();
    let table = found.map(|found| cross_validation_to_dict(py, found)).transpose()?;
    Ok((PyRankingTree(fitted.tree), table))
}
