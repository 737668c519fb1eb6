//! Trees whose nodes are split by classifiers of Python.

use std::sync::{Mutex, MutexGuard, PoisonError};

use aucrank::RankError;
use aucrank::data::{Columns, Labels};
use aucrank::tree::{FitParams, RankingTree, RowDecider, RowSplitter, fit_by_classifiers};
use numpy::{IntoPyArray, PyArray1, PyReadonlyArray1, ToPyArray};
use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::intern;
use pyo3::prelude::*;

use crate::columns::ColumnsArg;
use crate::run::{on_pool, read_params, to_py_err};
use crate::tree::{PyRankingTree, PyTreeRankModel};

/// The Python object that has the rows and the classifiers, with the methods `decide`, and for a fit
/// `fit`, `forget` and `keep`.
#[derive(Debug)]
struct Classifiers {
    object: Py<PyAny>,
    /// What its methods raised first: that, not what the core makes of it, is what the caller sees.
    raised: Mutex<Option<PyErr>>,
}

impl Classifiers {
    fn new(object: Py<PyAny>) -> Self {
        Self { object, raised: Mutex::new(None) }
    }

    fn raised(&self) -> MutexGuard<'_, Option<PyErr>> {
        self.raised.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Enters the interpreter and calls methods of the object.
    fn call<T>(
        &self,
        methods: impl FnOnce(&Bound<'_, PyAny>) -> PyResult<T>,
    ) -> Result<T, RankError> {
        // Other trees of the same fit need not go on.
        if self.raised().is_some() {
            return Err(RankError::Outside("a classifier failed before".to_owned()));
        }
        Python::attach(|py| methods(self.object.bind(py))).map_err(|err| {
            let message = err.to_string();
            self.raised().get_or_insert(err);
            RankError::Outside(message)
        })
    }
}

fn read_answers(answers: &Bound<'_, PyAny>) -> PyResult<Vec<bool>> {
    Ok(answers.extract::<PyReadonlyArray1<'_, bool>>()?.as_slice()?.to_vec())
}

impl RowDecider for Classifiers {
    fn decide(&self, classifier: usize, rows: &[u32]) -> Result<Vec<bool>, RankError> {
        self.call(|object| {
            let py = object.py();
            let arguments = (classifier, rows.to_pyarray(py));
            read_answers(&object.call_method1(intern!(py, "decide"), arguments)?)
        })
    }
}

impl RowSplitter for Classifiers {
    fn fit(&self, seed: u64, rows: &[u32], costs: &[f64]) -> Result<(usize, Vec<bool>), RankError> {
        self.call(|object| {
            let py = object.py();
            let arguments = (seed, rows.to_pyarray(py), costs.to_pyarray(py));
            let (number, answers): (usize, Bound<'_, PyAny>) =
                object.call_method1(intern!(py, "fit"), arguments)?.extract()?;
            Ok((number, read_answers(&answers)?))
        })
    }

    fn forget(&self, classifiers: &[usize]) {
        // A failure is remembered and ends the fit at the next call.
        let _ = self.call(|object| {
            object.call_method1(intern!(object.py(), "forget"), (classifiers.to_vec(),)).map(drop)
        });
    }

    fn keep(&self, classifiers: &[usize]) {
        let _ = self.call(|object| {
            object.call_method1(intern!(object.py(), "keep"), (classifiers.to_vec(),)).map(drop)
        });
    }
}

/// Fits a ranking tree that is split by classifiers; `params` is the JSON form of [`FitParams`].
#[pyfunction]
#[expect(clippy::too_many_arguments, reason = "those of fit_tree_rank, and the classifiers")]
pub fn fit_tree_rank_by_classifiers<'py>(
    py: Python<'py>,
    columns: ColumnsArg<'py>,
    n_levels: Vec<Option<u32>>,
    positive: PyReadonlyArray1<'py, bool>,
    weight: Option<PyReadonlyArray1<'py, f64>>,
    params: &str,
    classifiers: Py<PyAny>,
    n_threads: usize,
) -> PyResult<PyTreeRankModel> {
    let params: FitParams = read_params(params)?;
    let columns = columns.borrow(&n_levels)?;
    let positive = positive.as_slice()?;
    let weight = weight.as_ref().map(|weight| weight.as_slice()).transpose()?;
    let classifiers = Classifiers::new(classifiers);
    let fitted = on_pool(py, n_threads, |interrupt| {
        let labels = Labels::new(positive, weight)?;
        fit_by_classifiers(&columns, &labels, &params, &classifiers, interrupt)
    });
    match (fitted, classifiers.raised().take()) {
        (Ok(model), None) => Ok(PyTreeRankModel(model)),
        (Ok(_), Some(raised)) => Err(raised),
        // Who asked to stop did not ask what a classifier made of it.
        (Err(err), _) if err.is_instance_of::<PyKeyboardInterrupt>(py) => Err(err),
        (Err(err), raised) => Err(raised.unwrap_or(err)),
    }
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

/// Place in the ranking of the leaf of each row.
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

/// Puts a question about every row to a tree, on the calling thread: the work is that of the
/// classifiers, one after another.
fn ask<'py, V: numpy::Element>(
    py: Python<'py>,
    tree: &PyRankingTree,
    columns: &ColumnsArg<'py>,
    classifiers: Py<PyAny>,
    question: Question<V>,
) -> PyResult<Bound<'py, PyArray1<V>>> {
    let columns = columns.borrow(tree.0.n_levels())?;
    let classifiers = Classifiers::new(classifiers);
    match question(&tree.0, &columns, &classifiers) {
        Ok(values) => Ok(values.into_pyarray(py)),
        Err(err) => Err(classifiers.raised().take().unwrap_or_else(|| to_py_err(err))),
    }
}
