//! The module `aucrank::boost` as Python classes and functions.

use std::sync::Arc;

use aucrank::boost::{self, AucBoostParams, BoostedModel, FitExtras, RankBoostParams};
use aucrank::data::{Columns, Labels};
use aucrank::external::ExternalFitter;
use aucrank::{Interrupt, RankError};
use numpy::{IntoPyArray, PyArray1, PyReadonlyArray1, ToPyArray};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::callbacks::Callbacks;
use crate::columns::ColumnsArg;
use crate::model::{PyModel, hand_over};
use crate::rows::RowsArg;
use crate::run::{fit_on_pool, read_params, to_json, to_py_err};
use crate::sample::{Sample, SampleArg};

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
#[pyo3(signature = (sample, params, earlier, validation, n_threads, external=None, observer=None))]
#[expect(clippy::too_many_arguments, reason = "callers in Python name them")]
pub fn fit_auc_boost<'py>(
    py: Python<'py>,
    sample: SampleArg<'py>,
    params: &str,
    earlier: Option<PyRef<'py, PyBoostedModel>>,
    validation: Option<SampleArg<'py>>,
    n_threads: usize,
    external: Option<Py<PyAny>>,
    observer: Option<Py<PyAny>>,
) -> PyResult<Py<PyBoostedModel>> {
    let params: AucBoostParams = read_params(params)?;
    let given = FitExtrasArgs { sample, earlier, validation, external };
    given.fit(py, n_threads, observer, |columns, labels, given, interrupt| {
        boost::fit_auc_boost(columns, labels, &params, given, interrupt)
    })
}

/// Fits `RankBoost`; `params` is the JSON form of [`RankBoostParams`].
#[pyfunction]
#[pyo3(signature = (sample, params, earlier, validation, n_threads, external=None, observer=None))]
#[expect(clippy::too_many_arguments, reason = "callers in Python name them")]
pub fn fit_rank_boost<'py>(
    py: Python<'py>,
    sample: SampleArg<'py>,
    params: &str,
    earlier: Option<PyRef<'py, PyBoostedModel>>,
    validation: Option<SampleArg<'py>>,
    n_threads: usize,
    external: Option<Py<PyAny>>,
    observer: Option<Py<PyAny>>,
) -> PyResult<Py<PyBoostedModel>> {
    let params: RankBoostParams = read_params(params)?;
    let given = FitExtrasArgs { sample, earlier, validation, external };
    given.fit(py, n_threads, observer, |columns, labels, given, interrupt| {
        boost::fit_rank_boost(columns, labels, &params, given, interrupt)
    })
}

/// Optional inputs of a fit, as Python arguments.
struct FitExtrasArgs<'py> {
    sample: SampleArg<'py>,
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
            &Columns<'_>,
            &Labels<'_>,
            &FitExtras<'_>,
            &Interrupt,
        ) -> Result<BoostedModel, RankError>
        + Send
        + Sync,
    ) -> PyResult<Py<PyBoostedModel>> {
        let sample = self.sample.borrow()?;
        let validation = self.validation.as_ref().map(SampleArg::borrow).transpose()?;
        let earlier = self.earlier.as_ref().map(|model| &*model.0);
        let external = self.external.map(Callbacks::new);
        let fitter = external.as_ref().map(|external| external as &dyn ExternalFitter);
        let fitted = fit_on_pool(py, n_threads, observer, |interrupt| {
            let labels = sample.labels()?;
            let other_labels = validation.as_ref().map(Sample::labels).transpose()?;
            let columns = validation.as_ref().map(|other| &other.columns);
            let validation = columns.zip(other_labels.as_ref());
            let given = FitExtras { earlier, validation, external: fitter };
            fit_model(&sample.columns, &labels, &given, interrupt)
        });
        hand_over(py, Callbacks::finish_any(external.as_ref(), py, fitted)?)
    }
}

/// Fits `AUCBoost` to rows in parts; `fit_number` distinguishes the fit from others that query the
/// same rows.
#[pyfunction]
#[pyo3(signature = (rows, fit_number, params, n_threads, observer=None))]
pub fn fit_auc_boost_rows<'py>(
    py: Python<'py>,
    rows: RowsArg<'py>,
    fit_number: u64,
    params: &str,
    n_threads: usize,
    observer: Option<Py<PyAny>>,
) -> PyResult<Py<PyBoostedModel>> {
    let params: AucBoostParams = read_params(params)?;
    let fitted = rows.fit(py, n_threads, observer, |rows, interrupt| {
        boost::fit_auc_boost_rows(rows, fit_number, &params, interrupt)
    });
    hand_over(py, fitted?)
}

/// Fits `RankBoost` to rows in parts, as [`fit_auc_boost_rows`] does.
#[pyfunction]
#[pyo3(signature = (rows, fit_number, params, n_threads, observer=None))]
pub fn fit_rank_boost_rows<'py>(
    py: Python<'py>,
    rows: RowsArg<'py>,
    fit_number: u64,
    params: &str,
    n_threads: usize,
    observer: Option<Py<PyAny>>,
) -> PyResult<Py<PyBoostedModel>> {
    let params: RankBoostParams = read_params(params)?;
    let fitted = rows.fit(py, n_threads, observer, |rows, interrupt| {
        boost::fit_rank_boost_rows(rows, fit_number, &params, interrupt)
    });
    hand_over(py, fitted?)
}
