//! Saved models as Python functions.

use aucrank::model::{Document, Header, Model, ModelError};
use aucrank::tree::TreeRankModel;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::tree::PyTreeRankModel;

pyo3::create_exception!(
    aucrank,
    ModelFormatError,
    PyValueError,
    "A model file that is corrupt, truncated, foreign, or newer than this version of aucrank."
);

fn to_format_error(err: ModelError) -> PyErr {
    ModelFormatError::new_err(err.to_string())
}

/// Joins a header (JSON text of estimator, classes and features) and a model into a document.
#[pyfunction]
pub fn write_document(header: &str, model: &PyTreeRankModel) -> PyResult<String> {
    let model = Model::TreeRank(TreeRankModel::clone(&model.0));
    Header::from_json(header)
        .and_then(|header| Document { header, model }.to_json())
        .map_err(to_format_error)
}

/// Header (JSON text) and model of a document.
#[pyfunction]
pub fn read_document(text: &str) -> PyResult<(String, PyTreeRankModel)> {
    let Document { header, model } = Document::from_json(text).map_err(to_format_error)?;
    let Model::TreeRank(model) = model;
    Ok((header.to_json().map_err(to_format_error)?, PyTreeRankModel(model)))
}
