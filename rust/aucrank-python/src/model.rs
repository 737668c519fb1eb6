//! Saved models as Python functions.

use aucrank::Interrupt;
use aucrank::model::{Document, Header, Model, ModelError, ModelRef};
use pyo3::exceptions::{PyKeyboardInterrupt, PyValueError};
use pyo3::prelude::*;

use crate::additive::{PyMad2c, PyRimarc, PyScorecard};
use crate::aurora::PyAurora;
use crate::binarizer::PyThresholdBinarizer;
use crate::boost::PyBoostedModel;
use crate::forest::PyRankingForest;
use crate::marti::PyBranchingProgram;
use crate::rank_opt::PyRankOpt;
use crate::run::on_pool_or;
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

/// A model of any family.
#[derive(FromPyObject)]
pub enum ModelArg<'py> {
    TreeRank(PyRef<'py, PyTreeRankModel>),
    RankingForest(PyRef<'py, PyRankingForest>),
    Boosted(PyRef<'py, PyBoostedModel>),
    BranchingProgram(PyRef<'py, PyBranchingProgram>),
    Mad2c(PyRef<'py, PyMad2c>),
    Rimarc(PyRef<'py, PyRimarc>),
    Scorecard(PyRef<'py, PyScorecard>),
    Aurora(PyRef<'py, PyAurora>),
    ThresholdBinarizer(PyRef<'py, PyThresholdBinarizer>),
    RankOpt(PyRef<'py, PyRankOpt>),
}

/// Joins a header (JSON text of estimator, classes and features) and a model into a document.
#[pyfunction]
pub fn write_document(py: Python<'_>, header: &str, model: ModelArg<'_>) -> PyResult<String> {
    let model = match &model {
        ModelArg::TreeRank(model) => ModelRef::TreeRank(&model.0),
        ModelArg::RankingForest(model) => ModelRef::RankingForest(&model.0),
        ModelArg::Boosted(model) => ModelRef::Boosted(&model.0),
        ModelArg::BranchingProgram(program) => ModelRef::BranchingProgram(&program.0),
        ModelArg::Mad2c(table) => ModelRef::Mad2c(&table.0),
        ModelArg::Rimarc(model) => ModelRef::Rimarc(&model.0),
        ModelArg::Scorecard(card) => ModelRef::Scorecard(&card.0),
        ModelArg::Aurora(model) => ModelRef::Aurora(&model.0),
        ModelArg::ThresholdBinarizer(model) => ModelRef::ThresholdBinarizer(&model.0),
        ModelArg::RankOpt(model) => ModelRef::RankOpt(&model.0),
    };
    let write =
        |interrupt: &Interrupt| model.to_json_heeding(&Header::from_json(header)?, interrupt);
    on_pool_or(py, 1, write, to_format_error)
}

/// Header (JSON text) and model of a document.
#[pyfunction]
pub fn read_document<'py>(py: Python<'py>, text: &str) -> PyResult<(String, Bound<'py, PyAny>)> {
    let read = |interrupt: &Interrupt| Document::from_json_heeding(text, interrupt);
    let document = on_pool_or(py, 1, read, to_format_error)?;
    let model = match document.model {
        Model::TreeRank(model) => Bound::new(py, PyTreeRankModel(model))?.into_any(),
        Model::RankingForest(model) => Bound::new(py, PyRankingForest(model))?.into_any(),
        Model::Boosted(model) => Bound::new(py, PyBoostedModel(model))?.into_any(),
        Model::BranchingProgram(program) => Bound::new(py, PyBranchingProgram(program))?.into_any(),
        Model::Mad2c(table) => Bound::new(py, PyMad2c(table))?.into_any(),
        Model::Rimarc(model) => Bound::new(py, PyRimarc(model))?.into_any(),
        Model::Scorecard(card) => Bound::new(py, PyScorecard(card))?.into_any(),
        Model::Aurora(model) => Bound::new(py, PyAurora(model))?.into_any(),
        Model::ThresholdBinarizer(model) => Bound::new(py, PyThresholdBinarizer(model))?.into_any(),
        Model::RankOpt(model) => Bound::new(py, PyRankOpt(model))?.into_any(),
    };
    Ok((document.header.to_json().map_err(to_format_error)?, model))
}
