//! The module `aucrank::boost` as Python classes and functions.

use std::sync::Arc;

use aucrank::boost::{self, AucBoostParams, BoostedModel, FitExtras, RankBoostParams};
use aucrank::external::ExternalFitter;
use aucrank::rows::TrainingRows;
use aucrank::{Interrupt, RankError};
use numpy::{IntoPyArray, PyArray1, PyReadonlyArray1, ToPyArray};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::callbacks::Callbacks;
use crate::columns::ColumnsArg;
use crate::model::{PyModel, hand_over};
use crate::run::{read_params, to_json, to_py_err};
use crate::sample::{Sample, SampleArg};
use crate::training::TrainingArg;

/// A boosted sum of terms.
#[pyclass(name = "BoostedModel", module = "aucrank._core", frozen, extends = PyModel)]
pub struct PyBoostedModel(pub Arc<BoostedModel>);

#[pymethods]
impl PyBoostedModel {
    #[getter]
    fn n_rounds(&self) -> usize {
        self.0.terms().len()
    }

    #[getter]
    fn seed(&self) -> u64 {
        self.0.seed()
    }

    /// For each round and class, negatives first, the mean of the exponentials.
    fn mean_exponentials(&self) -> Vec<[f64; 2]> {
        self.0.mean_exponentials().to_vec()
    }

    /// The path of the AUC of the held-out rows, or `None` if there were none.
    fn held_out<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyDict>>> {
        let Some(path) = self.0.held_out() else { return Ok(None) };
        let table = PyDict::new(py);
        table.set_item("auc", path.auc.to_pyarray(py))?;
        let smoothed = path.smoothed.as_ref().map(|smoothed| smoothed.to_pyarray(py));
        table.set_item("smoothed", smoothed)?;
        table.set_item("n_rounds", path.n_rounds)?;
        Ok(Some(table))
    }

    /// The score for each sum of rounds.
    fn scores_of<'py>(
        &self,
        py: Python<'py>,
        sums: PyReadonlyArray1<'py, f64>,
    ) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let scores: Vec<f64> = sums.as_slice()?.iter().map(|&sum| self.0.score_of(sum)).collect();
        Ok(scores.into_pyarray(py))
    }

    fn check_columns(&self, py: Python<'_>, columns: ColumnsArg<'_>) -> PyResult<()> {
        let columns = columns.borrow(self.0.n_levels())?;
        py.detach(|| self.0.check_columns(&columns)).map_err(to_py_err)
    }

    #[pyo3(signature = (columns, round, n_threads, external=None))]
    fn round_values<'py>(
        &self,
        py: Python<'py>,
        columns: ColumnsArg<'py>,
        round: usize,
        n_threads: usize,
        external: Option<Py<PyAny>>,
    ) -> PyResult<Bound<'py, PyArray1<f64>>> {
        columns.ask_with(py, self.0.n_levels(), n_threads, external, |columns, external| {
            self.0.round_values(columns, round, external)
        })
    }

    /// Numbers of the external models of the model.
    fn external_models(&self) -> Vec<usize> {
        self.0.external_rankers()
    }

    #[pyo3(signature = (columns, n_threads, external=None))]
    fn score<'py>(
        &self,
        py: Python<'py>,
        columns: ColumnsArg<'py>,
        n_threads: usize,
        external: Option<Py<PyAny>>,
    ) -> PyResult<Bound<'py, PyArray1<f64>>> {
        columns.ask_with(py, self.0.n_levels(), n_threads, external, |columns, external| {
            self.0.score(columns, external)
        })
    }
    /// Whether a score is the sign of a sum.
    #[getter]
    fn by_sign(&self) -> bool {
        self.0.scores_by_sign()
    }

    /// Whether every term uses one feature.
    #[getter]
    fn is_additive(&self) -> bool {
        self.0.is_additive()
    }

    /// The terms as JSON text, round by round.
    fn terms(&self) -> PyResult<String> {
        to_json(self.0.terms())
    }

    /// The merged terms of single features as JSON text, one for each feature that has any.
    fn merged_terms(&self) -> PyResult<String> {
        to_json(&self.0.merged_terms())
    }
}

/// Fits `AUCBoost`; `params` is the JSON form of [`AucBoostParams`].
#[pyfunction]
#[pyo3(signature = (rows, params, earlier, validation, n_threads, external=None, observer=None))]
#[expect(clippy::too_many_arguments, reason = "callers in Python name them")]
pub fn fit_auc_boost<'py>(
    py: Python<'py>,
    rows: TrainingArg<'py>,
    params: &str,
    earlier: Option<PyRef<'py, PyBoostedModel>>,
    validation: Option<SampleArg<'py>>,
    n_threads: usize,
    external: Option<Py<PyAny>>,
    observer: Option<Py<PyAny>>,
) -> PyResult<Py<PyBoostedModel>> {
    let params: AucBoostParams = read_params(params)?;
    let given = FitExtrasArgs { rows, earlier, validation, external };
    given.fit(py, n_threads, observer, |rows, given, interrupt| {
        boost::fit_auc_boost(rows, &params, given, interrupt)
    })
}

/// Fits `RankBoost`; `params` is the JSON form of [`RankBoostParams`].
#[pyfunction]
#[pyo3(signature = (rows, params, earlier, validation, n_threads, external=None, observer=None))]
#[expect(clippy::too_many_arguments, reason = "callers in Python name them")]
pub fn fit_rank_boost<'py>(
    py: Python<'py>,
    rows: TrainingArg<'py>,
    params: &str,
    earlier: Option<PyRef<'py, PyBoostedModel>>,
    validation: Option<SampleArg<'py>>,
    n_threads: usize,
    external: Option<Py<PyAny>>,
    observer: Option<Py<PyAny>>,
) -> PyResult<Py<PyBoostedModel>> {
    let params: RankBoostParams = read_params(params)?;
    let given = FitExtrasArgs { rows, earlier, validation, external };
    given.fit(py, n_threads, observer, |rows, given, interrupt| {
        boost::fit_rank_boost(rows, &params, given, interrupt)
    })
}

/// Inputs of a fit, as Python arguments.
struct FitExtrasArgs<'py> {
    rows: TrainingArg<'py>,
    earlier: Option<PyRef<'py, PyBoostedModel>>,
    validation: Option<SampleArg<'py>>,
    external: Option<Py<PyAny>>,
}

impl FitExtrasArgs<'_> {
    fn fit(
        self,
        py: Python<'_>,
        n_threads: usize,
        observer: Option<Py<PyAny>>,
        fit_model: impl Fn(
            TrainingRows<'_>,
            &FitExtras<'_>,
            &Interrupt,
        ) -> Result<BoostedModel, RankError>
        + Send
        + Sync,
    ) -> PyResult<Py<PyBoostedModel>> {
        let validation = self.validation.as_ref().map(SampleArg::borrow).transpose()?;
        let earlier = self.earlier.as_ref().map(|model| &*model.0);
        let external = self.external.map(Callbacks::new);
        let fitter = external.as_ref().map(|external| external as &dyn ExternalFitter);
        let fitted = self.rows.fit(py, n_threads, observer, |rows, interrupt| {
            let other_labels = validation.as_ref().map(Sample::labels).transpose()?;
            let columns = validation.as_ref().map(|other| &other.columns);
            let validation = columns.zip(other_labels.as_ref());
            let given = FitExtras { earlier, validation, external: fitter };
            fit_model(rows, &given, interrupt)
        });
        hand_over(py, Callbacks::finish_any(external.as_ref(), py, fitted)?)
    }
}
