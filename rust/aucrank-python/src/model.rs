//! Models of all families as Python classes: what they share, and their saved form.

use std::sync::Arc;

use aucrank::Interrupt;
use aucrank::additive::{Mad2c, Rimarc, Scorecard};
use aucrank::aurora::{Aurora, RankOpt, ThresholdBinarizer};
use aucrank::boost::{BoostedModel, BranchingProgram};
use aucrank::model::{Document, Family, Header, Model, ModelError};
use aucrank::tree::{RankingForest, TreeRankModel};
use numpy::PyArray1;
use pyo3::PyClass;
use pyo3::exceptions::{PyKeyboardInterrupt, PyValueError};
use pyo3::prelude::*;

use crate::additive::{PyMad2c, PyRimarc, PyScorecard};
use crate::aurora::PyAurora;
use crate::binarizer::PyThresholdBinarizer;
use crate::boost::PyBoostedModel;
use crate::columns::ColumnsArg;
use crate::forest::PyRankingForest;
use crate::marti::PyBranchingProgram;
use crate::rank_opt::PyRankOpt;
use crate::run::{on_pool_or, to_json};
use crate::tree::PyTreeRankModel;

pyo3::create_exception!(
    aucrank,
    ModelFormatError,
    PyValueError,
    "A model file that is corrupt, truncated, foreign, or newer than this version of aucrank."
);

fn to_format_error(err: ModelError) -> PyErr {
    match err {
        ModelError::Interrupted => PyKeyboardInterrupt::new_err(()),
        err => ModelFormatError::new_err(err.to_string()),
    }
}

/// A fitted model of any family: what all of them do.
#[pyclass(name = "Model", module = "aucrank._core", frozen, subclass)]
pub struct PyModel(Arc<dyn Family>);

#[pymethods]
impl PyModel {
    /// Name of the family in a saved document.
    #[getter]
    fn family(&self) -> &'static str {
        self.0.as_model().tag()
    }

    /// Number of columns that it was fitted to.
    #[getter]
    fn n_features(&self) -> usize {
        self.0.n_levels().len()
    }

    /// The JSON form of what its score computes.
    fn formula(&self) -> PyResult<String> {
        to_json(&self.0.formula())
    }

    /// Score of each row.
    fn score<'py>(
        &self,
        py: Python<'py>,
        columns: ColumnsArg<'py>,
        n_threads: usize,
    ) -> PyResult<Bound<'py, PyArray1<f64>>> {
        columns.ask(py, self.0.n_levels(), n_threads, |columns| self.0.score(columns))
    }

    /// Score of each row by the formula, evaluated plainly.
    fn evaluate_formula<'py>(
        &self,
        py: Python<'py>,
        columns: ColumnsArg<'py>,
        n_threads: usize,
    ) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let formula = self.0.formula();
        columns.ask(py, self.0.n_levels(), n_threads, |columns| formula.values(columns))
    }
}

/// A model as an object of its Python class.
pub fn hand_over<M, P>(py: Python<'_>, model: M) -> PyResult<Py<P>>
where
    M: Family + 'static,
    P: PyClass<BaseType = PyModel> + From<Arc<M>>,
{
    let model = Arc::new(model);
    Py::new(py, PyClassInitializer::from(PyModel(model.clone())).add_subclass(P::from(model)))
}

/// Declares the Python class of each family.
macro_rules! classes {
    ($($family:ident($model:ty) => $class:ident,)*) => {
        $(impl From<Arc<$model>> for $class {
            fn from(model: Arc<$model>) -> Self {
                Self(model)
            }
        })*

        /// A model as an object of the class of its family.
        fn hand_over_any(py: Python<'_>, model: Model) -> PyResult<Py<PyAny>> {
            match model {
                $(Model::$family(model) => Ok(hand_over::<_, $class>(py, model)?.into_any()),)*
            }
        }
    };
}

classes! {
    TreeRank(TreeRankModel) => PyTreeRankModel,
    RankingForest(RankingForest) => PyRankingForest,
    Boosted(BoostedModel) => PyBoostedModel,
    BranchingProgram(BranchingProgram) => PyBranchingProgram,
    Mad2c(Mad2c) => PyMad2c,
    Rimarc(Rimarc) => PyRimarc,
    Scorecard(Scorecard) => PyScorecard,
    Aurora(Aurora) => PyAurora,
    ThresholdBinarizer(ThresholdBinarizer) => PyThresholdBinarizer,
    RankOpt(RankOpt) => PyRankOpt,
}

/// Joins a header (JSON text of estimator, classes and features) and a model into a document.
#[pyfunction]
pub fn write_document(py: Python<'_>, header: &str, model: PyRef<'_, PyModel>) -> PyResult<String> {
    let model = model.0.as_model();
    let write =
        |interrupt: &Interrupt| model.to_json_heeding(&Header::from_json(header)?, interrupt);
    on_pool_or(py, 1, write, to_format_error)
}

/// Header (JSON text) and model of a document.
#[pyfunction]
pub fn read_document(py: Python<'_>, text: &str) -> PyResult<(String, Py<PyAny>)> {
    let read = |interrupt: &Interrupt| Document::from_json_heeding(text, interrupt);
    let document = on_pool_or(py, 1, read, to_format_error)?;
    let header = document.header.to_json().map_err(to_format_error)?;
    Ok((header, hand_over_any(py, document.model)?))
}
