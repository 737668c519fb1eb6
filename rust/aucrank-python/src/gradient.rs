//! The gradient boosting of `aucrank::boost` as a Python class and a function.

use std::sync::Arc;

use aucrank::boost::{
    BagFolds, GradientBoosted, GradientExtras, GradientFold, GradientHeldOut, GradientParams,
    GradientTree, fit_gradient_boosting as fit, fit_gradient_folds as fit_folds,
};
use aucrank::data::Folds;
use numpy::{IntoPyArray, PyArray1, PyReadonlyArray1, ToPyArray};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::columns::ColumnsArg;
use crate::model::{PyModel, hand_over};
use crate::run::{read_params, to_json, to_py_err};
use crate::sample::{Sample, SampleArg};
use crate::training::TrainingArg;

/// A sum of trees.
#[pyclass(name = "GradientBoosted", module = "aucrank._core", frozen, extends = PyModel)]
pub struct PyGradientBoosted(pub Arc<GradientBoosted>);

#[pymethods]
impl PyGradientBoosted {
    #[getter]
    fn n_rounds(&self) -> usize {
        self.0.trees().len()
    }

    /// Name of the loss.
    #[getter]
    fn loss(&self) -> PyResult<String> {
        Ok(to_json(&self.0.loss())?.trim_matches('"').to_owned())
    }

    #[getter]
    fn base(&self) -> f64 {
        self.0.base()
    }

    #[getter]
    fn learning_rate(&self) -> f64 {
        self.0.learning_rate()
    }

    #[getter]
    fn seed(&self) -> u64 {
        self.0.seed()
    }

    /// Results on the held-out rows by round, or `None` if there were none, or if each bag has its
    /// own.
    fn held_out<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyDict>>> {
        self.0.held_out().map(|path| path_table(py, path)).transpose()
    }

    /// For each bag the results on its held-out rows by round, or `None` if there were none.
    fn held_out_of_bags<'py>(&self, py: Python<'py>) -> PyResult<Vec<Option<Bound<'py, PyDict>>>> {
        let paths = self.0.bags().iter().map(|bag| bag.held_out.as_ref());
        paths.map(|path| path.map(|path| path_table(py, path)).transpose()).collect()
    }

    /// For each round the number of leaves, the highest and the lowest value, and the gain.
    fn rounds<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let trees = self.0.trees();
        let table = PyDict::new(py);
        let n_leaves: Vec<i64> = trees.iter().map(|tree| tree.n_leaves() as i64).collect();
        table.set_item("n_leaves", n_leaves.into_pyarray(py))?;
        let ranges: Vec<[f64; 2]> = trees.iter().map(GradientTree::range).collect();
        for (place, name) in ["low", "high"].into_iter().enumerate().rev() {
            let ends: Vec<f64> = ranges.iter().map(|range| range[place]).collect();
            table.set_item(name, ends.into_pyarray(py))?;
        }
        let gains: Vec<f64> = trees.iter().map(GradientTree::gain).collect();
        table.set_item("gain", gains.into_pyarray(py))?;
        Ok(table)
    }

    /// The JSON form of one tree as an operation of a formula.
    fn tree(&self, round: usize) -> PyResult<String> {
        to_json(&self.0.tree(round))
    }

    /// Whether each tree tests a single feature.
    #[getter]
    fn is_additive(&self) -> bool {
        self.0.is_additive()
    }

    /// The step functions that the trees add up to as JSON text, one for each feature that is
    /// tested.
    fn merged_terms(&self) -> PyResult<String> {
        to_json(&self.0.merged_terms().map_err(to_py_err)?)
    }

    /// The pairs of features that trees test together, or `None` if a tree tests more than two.
    fn pairs(&self) -> Option<Vec<[usize; 2]>> {
        self.0.pairs()
    }

    /// The tables that the trees of two features add up to as JSON text, one for each pair.
    fn pair_terms(&self) -> PyResult<String> {
        to_json(&self.0.pair_terms().map_err(to_py_err)?)
    }

    fn check_columns(&self, py: Python<'_>, columns: ColumnsArg<'_>) -> PyResult<()> {
        let columns = columns.borrow(self.0.n_levels())?;
        py.detach(|| self.0.check_columns(&columns)).map_err(to_py_err)
    }

    fn round_values<'py>(
        &self,
        py: Python<'py>,
        columns: ColumnsArg<'py>,
        round: usize,
        n_threads: usize,
    ) -> PyResult<Bound<'py, PyArray1<f64>>> {
        columns.ask(py, self.0.n_levels(), n_threads, |columns| self.0.round_values(columns, round))
    }
}

fn path_table<'py>(py: Python<'py>, path: &GradientHeldOut) -> PyResult<Bound<'py, PyDict>> {
    let table = PyDict::new(py);
    table.set_item("measure", to_json(&path.measure)?.trim_matches('"'))?;
    table.set_item("values", path.values.to_pyarray(py))?;
    table.set_item("n_rounds", path.n_rounds)?;
    Ok(table)
}

/// Fits a model by gradient boosting; `params` is the JSON form of [`GradientParams`].
#[pyfunction]
#[pyo3(signature = (rows, params, earlier, validation, n_threads, observer=None))]
pub fn fit_gradient_boosting<'py>(
    py: Python<'py>,
    rows: TrainingArg<'py>,
    params: &str,
    earlier: Option<PyRef<'py, PyGradientBoosted>>,
    validation: Option<SampleArg<'py>>,
    n_threads: usize,
    observer: Option<Py<PyAny>>,
) -> PyResult<Py<PyGradientBoosted>> {
    let params: GradientParams = read_params(params)?;
    let validation = validation.as_ref().map(SampleArg::borrow).transpose()?;
    let earlier = earlier.as_ref().map(|model| &*model.0);
    let fitted = rows.fit(py, n_threads, observer, |rows, interrupt| {
        let other_labels = validation.as_ref().map(Sample::labels).transpose()?;
        let columns = validation.as_ref().map(|other| &other.columns);
        let validation = columns.zip(other_labels.as_ref());
        let given = GradientExtras { earlier, validation, ..GradientExtras::default() };
        fit(rows, &params, &given, interrupt)
    });
    hand_over(py, fitted?)
}

/// Fits a model without each fold, and returns it with the one for new rows; `folds` has the fold of
/// each row, or is `None` to deal them by the seed of the parameters.
#[pyfunction]
#[pyo3(signature = (rows, folds, n_folds, params, n_threads, observer=None))]
pub fn fit_gradient_folds<'py>(
    py: Python<'py>,
    rows: TrainingArg<'py>,
    folds: Option<PyReadonlyArray1<'py, u16>>,
    n_folds: u16,
    params: &str,
    n_threads: usize,
    observer: Option<Py<PyAny>>,
) -> PyResult<Vec<[Py<PyGradientBoosted>; 2]>> {
    let params: GradientParams = read_params(params)?;
    let given = folds.map(|folds| Folds { of_row: folds.as_array().to_vec(), n_folds });
    let folds = given.as_ref().map_or(BagFolds::Dealt(n_folds), BagFolds::Given);
    let fitted = rows.fit(py, n_threads, observer, |rows, interrupt| {
        fit_folds(rows, folds, &params, interrupt)
    })?;
    let both = |fold: GradientFold| {
        let without_fold = hand_over(py, fold.without_fold)?;
        let for_new_rows = match fold.of_all_rows {
            Some(model) => hand_over(py, model)?,
            None => without_fold.clone_ref(py),
        };
        Ok([without_fold, for_new_rows])
    };
    fitted.into_iter().map(both).collect()
}
