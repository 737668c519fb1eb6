//! Trees whose nodes are split by Python classifiers.

use aucrank::RankError;
use aucrank::data::Columns;
use aucrank::tree::{RankingTree, RowDecider, TreeRankParams, fit_by_classifiers};
use numpy::{IntoPyArray, PyArray1};
use pyo3::prelude::*;

use crate::callbacks::Callbacks;
use crate::columns::ColumnsArg;
use crate::model::hand_over;
use crate::run::{fit_on_pool, read_params};
use crate::sample::SampleArg;
use crate::tree::{PyRankingTree, PyTreeRankModel};

/// Fits a ranking tree that is split by classifiers; `params` is the JSON form of
/// [`TreeRankParams`].
#[pyfunction]
#[pyo3(signature = (sample, params, classifiers, n_threads, observer=None))]
pub fn fit_tree_rank_by_classifiers<'py>(
    py: Python<'py>,
    sample: SampleArg<'py>,
    params: &str,
    classifiers: Py<PyAny>,
    n_threads: usize,
    observer: Option<Py<PyAny>>,
) -> PyResult<Py<PyTreeRankModel>> {
    let params: TreeRankParams = read_params(params)?;
    let sample = sample.borrow()?;
    let classifiers = Callbacks::new(classifiers);
    let fitted = fit_on_pool(py, n_threads, observer, |interrupt| {
        fit_by_classifiers(&sample.columns, &sample.labels()?, &params, &classifiers, interrupt)
    });
    hand_over(py, classifiers.finish(py, fitted)?)
}

/// Score of each row.
#[pyfunction]
pub fn score_by_classifiers<'py>(
    py: Python<'py>,
    tree: &PyRankingTree,
    columns: ColumnsArg<'py>,
    classifiers: Py<PyAny>,
) -> PyResult<Bound<'py, PyArray1<f64>>> {
    ask(py, tree, &columns, classifiers, RankingTree::score_by)
}

/// Probability of the positive class of each row.
#[pyfunction]
pub fn probability_by_classifiers<'py>(
    py: Python<'py>,
    tree: &PyRankingTree,
    columns: ColumnsArg<'py>,
    classifiers: Py<PyAny>,
) -> PyResult<Bound<'py, PyArray1<f64>>> {
    ask(py, tree, &columns, classifiers, RankingTree::probability_by)
}

/// Rank of the leaf of each row.
#[pyfunction]
pub fn apply_by_classifiers<'py>(
    py: Python<'py>,
    tree: &PyRankingTree,
    columns: ColumnsArg<'py>,
    classifiers: Py<PyAny>,
) -> PyResult<Bound<'py, PyArray1<u32>>> {
    ask(py, tree, &columns, classifiers, RankingTree::apply_by)
}

type Question<V> = fn(&RankingTree, &Columns<'_>, &dyn RowDecider) -> Result<Vec<V>, RankError>;

/// Evaluates a tree on every row, on the calling thread: the work is that of the classifiers, one
/// after another.
fn ask<'py, V: numpy::Element>(
    py: Python<'py>,
    tree: &PyRankingTree,
    columns: &ColumnsArg<'py>,
    classifiers: Py<PyAny>,
    question: Question<V>,
) -> PyResult<Bound<'py, PyArray1<V>>> {
    let columns = columns.borrow(tree.0.n_levels())?;
    let classifiers = Callbacks::new(classifiers);
    let values = classifiers.answer(question(&tree.0, &columns, &classifiers))?;
    Ok(values.into_pyarray(py))
}
