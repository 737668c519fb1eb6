//! Models of other libraries, `aucrank::imported`, as Python classes and functions.

use std::sync::Arc;

use aucrank::Interrupt;
use aucrank::data::LevelSet;
use aucrank::imported::{ImportedLinear, ImportedSum, ImportedTrees, NodeTable};
use numpy::{PyArray1, PyReadonlyArray1};
use pyo3::prelude::*;

use crate::document::ModelFormatError;
use crate::model::{PyModel, hand_over};
use crate::run::{on_pool_or, read_params, to_json};

/// Trees of another library.
#[pyclass(name = "ImportedTrees", module = "aucrank._core", frozen, extends = PyModel)]
pub struct PyImportedTrees(pub Arc<ImportedTrees>);

#[pymethods]
impl PyImportedTrees {
    /// Number of trees.
    #[getter]
    fn n_trees(&self) -> usize {
        self.0.trees().len()
    }

    /// Number of leaves of all trees.
    #[getter]
    fn n_leaves(&self) -> usize {
        self.0.trees().iter().map(|tree| tree.nodes().len() / 2 + 1).sum()
    }

    /// How the values of the trees become a score, as JSON text.
    fn sum(&self) -> PyResult<String> {
        to_json(&self.0.sum())
    }
}

/// Columns of the nodes of all trees; see `NodeTable`.
#[derive(FromPyObject)]
pub struct NodesArg<'py> {
    sizes: PyReadonlyArray1<'py, u32>,
    kinds: PyReadonlyArray1<'py, u8>,
    features: PyReadonlyArray1<'py, u32>,
    numbers: PyReadonlyArray1<'py, f64>,
    places: PyReadonlyArray1<'py, u32>,
    missing_left: PyReadonlyArray1<'py, bool>,
    left: PyReadonlyArray1<'py, u32>,
    right: PyReadonlyArray1<'py, u32>,
    weights: PyReadonlyArray1<'py, f64>,
    level_sets: Vec<Vec<u32>>,
    ranges: Vec<Vec<f64>>,
}

/// A model from its trees, the number of categories of each feature, and how the trees are summed
/// (JSON text).
#[pyfunction]
pub fn build_imported_trees(
    py: Python<'_>,
    n_levels: Vec<Option<u32>>,
    sum: &str,
    nodes: NodesArg<'_>,
) -> PyResult<Py<PyImportedTrees>> {
    let sum: ImportedSum = read_params(sum)?;
    let level_sets: Vec<LevelSet> = nodes.level_sets.into_iter().map(LevelSet::only).collect();
    let ranges: Vec<Arc<[f64]>> = nodes.ranges.into_iter().map(Arc::from).collect();
    let table = NodeTable {
        sizes: nodes.sizes.as_slice()?,
        kinds: nodes.kinds.as_slice()?,
        features: nodes.features.as_slice()?,
        numbers: nodes.numbers.as_slice()?,
        places: nodes.places.as_slice()?,
        missing_left: nodes.missing_left.as_slice()?,
        left: nodes.left.as_slice()?,
        right: nodes.right.as_slice()?,
        weights: nodes.weights.as_slice()?,
        level_sets: &level_sets,
        ranges: &ranges,
    };
    let build = |_: &Interrupt| ImportedTrees::new(n_levels, table.trees()?, sum);
    let model = on_pool_or(py, 1, build, |what: String| ModelFormatError::new_err(what))?;
    hand_over(py, model)
}

/// A weighted sum of numbers of another library.
#[pyclass(name = "ImportedLinear", module = "aucrank._core", frozen, extends = PyModel)]
pub struct PyImportedLinear(pub Arc<ImportedLinear>);

#[pymethods]
impl PyImportedLinear {
    /// Weight of each feature.
    #[getter]
    fn coefficients<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        PyArray1::from_slice(py, self.0.coefficients())
    }

    /// Score of a row of zeros.
    #[getter]
    fn intercept(&self) -> f64 {
        self.0.intercept()
    }

    /// What the score says of probabilities, as JSON text.
    fn link(&self) -> PyResult<String> {
        to_json(&self.0.link())
    }
}

/// A weighted sum from the weights, the intercept, and what the score says of probabilities (JSON
/// text).
#[pyfunction]
pub fn build_imported_linear(
    py: Python<'_>,
    coefficients: Vec<f64>,
    intercept: f64,
    link: &str,
) -> PyResult<Py<PyImportedLinear>> {
    let model = ImportedLinear::new(coefficients, intercept, read_params(link)?);
    hand_over(py, model.map_err(ModelFormatError::new_err)?)
}
