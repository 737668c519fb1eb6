//! Functions for saved models, and the list of the Python classes of all families.

use std::sync::Arc;

use aucrank::Interrupt;
use aucrank::additive::{LinearModel, Mad2c, Rimarc, Scorecard};
use aucrank::aurora::{Aurora, RankOpt, ThresholdBinarizer};
use aucrank::boost::{BoostedModel, BranchingProgram, GradientBoosted};
use aucrank::imported::{ImportedLinear, ImportedTrees};
use aucrank::model::{Document, Ensemble, Header, Model, ModelError, TwoSidedModel};
use aucrank::tree::{RankingForest, TreeRankModel};
use pyo3::exceptions::{PyKeyboardInterrupt, PyValueError};
use pyo3::prelude::*;

use crate::additive::{PyLinearModel, PyMad2c, PyRimarc, PyScorecard};
use crate::aurora::PyAurora;
use crate::binarizer::PyThresholdBinarizer;
use crate::boost::PyBoostedModel;
use crate::calibration::PyCalibration;
use crate::ensemble::PyEnsemble;
use crate::forest::PyRankingForest;
use crate::gradient::PyGradientBoosted;
use crate::imported::{PyImportedLinear, PyImportedTrees};
use crate::marti::PyBranchingProgram;
use crate::model::{PyModel, hand_over};
use crate::rank_opt::PyRankOpt;
use crate::run::on_pool_or;
use crate::tree::PyTreeRankModel;
use crate::two_sided::PyTwoSided;

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

/// Declares the Python class of each family.
macro_rules! classes {
    ($($family:ident($model:ty) => $class:ident,)*) => {
        $(impl From<Arc<$model>> for $class {
            fn from(model: Arc<$model>) -> Self {
                Self(model)
            }
        })*

        /// A model as an object of the class of its family.
        pub fn hand_over_any(py: Python<'_>, model: Model) -> PyResult<Py<PyAny>> {
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
    GradientBoosted(GradientBoosted) => PyGradientBoosted,
    BranchingProgram(BranchingProgram) => PyBranchingProgram,
    Mad2c(Mad2c) => PyMad2c,
    Rimarc(Rimarc) => PyRimarc,
    Scorecard(Scorecard) => PyScorecard,
    Linear(LinearModel) => PyLinearModel,
    Aurora(Aurora) => PyAurora,
    ThresholdBinarizer(ThresholdBinarizer) => PyThresholdBinarizer,
    RankOpt(RankOpt) => PyRankOpt,
    Ensemble(Ensemble) => PyEnsemble,
    ImportedTrees(ImportedTrees) => PyImportedTrees,
    ImportedLinear(ImportedLinear) => PyImportedLinear,
    TwoSided(TwoSidedModel) => PyTwoSided,
}

/// Joins a header (JSON text of estimator, classes and features), a model and the calibration of
/// its scores into a document.
#[pyfunction]
#[pyo3(signature = (header, model, calibration=None))]
pub fn write_document(
    py: Python<'_>,
    header: &str,
    model: PyRef<'_, PyModel>,
    calibration: Option<PyRef<'_, PyCalibration>>,
) -> PyResult<String> {
    let model = model.as_model();
    let calibration = calibration.as_ref().map(|calibration| &*calibration.0);
    let write = |interrupt: &Interrupt| {
        model.to_json_interruptible(&Header::from_json(header)?, calibration, interrupt)
    };
    on_pool_or(py, 1, write, to_format_error)
}

/// Header (JSON text), model and calibration of a document.
#[pyfunction]
pub fn read_document(
    py: Python<'_>,
    text: &str,
) -> PyResult<(String, Py<PyAny>, Option<PyCalibration>)> {
    let read = |interrupt: &Interrupt| Document::from_json_interruptible(text, interrupt);
    let document = on_pool_or(py, 1, read, to_format_error)?;
    let header = document.header.to_json().map_err(to_format_error)?;
    let calibration = document.calibration.map(|calibration| PyCalibration(Arc::new(calibration)));
    Ok((header, hand_over_any(py, document.model)?, calibration))
}
