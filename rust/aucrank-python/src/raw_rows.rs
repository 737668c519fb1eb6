//! Raw rows that are read in passes, as Python classes and as an argument of fits.

use std::sync::Arc;

use aucrank::additive::{BinSum, CardRows, PointCounts, RawAsk, RawRows, RawSums};
use aucrank::data::WeightRange;
use aucrank::{Interrupt, RankError, roc};
use numpy::{PyArray1, PyReadonlyArray1};
use pyo3::exceptions::PyValueError;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::callbacks::Callbacks;
use crate::columns::ColumnsArg;
use crate::rows::{BatchArg, PyWeightRange};
use crate::run::{CallingThread, fit_calling, on_pool, read_params, to_json, to_py_err};
use crate::shared::Shared;
use crate::state::RocState;

/// The answer of some rows to a question of a fit, which is sent as bytes.
#[pyclass(name = "RawSums", module = "aucrank._core", frozen)]
pub struct PyRawSums {
    sums: Shared<RawSums>,
    n_levels: Vec<Option<u32>>,
}

#[pymethods]
impl PyRawSums {
    /// The sums of no rows.
    #[new]
    fn new(ask: &[u8]) -> PyResult<Self> {
        let ask = RawAsk::from_bytes(ask).map_err(to_py_err)?;
        let n_levels = ask.n_levels().to_vec();
        Ok(Self { sums: Shared::new(RawSums::new(Arc::new(ask))), n_levels })
    }

    fn add(&self, py: Python<'_>, batch: BatchArg<'_>, n_threads: usize) -> PyResult<()> {
        let batch = batch.borrow(&self.n_levels)?;
        on_pool(py, n_threads, |interrupt| self.sums.lock().add(&batch.rows(), interrupt))
    }

    /// Adds one feature of all rows, given as distinct values with their counts.
    fn add_counts(
        &self,
        py: Python<'_>,
        feature: usize,
        batch: BatchArg<'_>,
        counts: PyReadonlyArray1<'_, u64>,
    ) -> PyResult<()> {
        let batch = batch.borrow(&self.n_levels[feature..=feature])?;
        let counts = counts.as_slice()?;
        py.detach(|| self.sums.lock().add_counts(feature, &batch.rows(), counts)).map_err(to_py_err)
    }

    /// Adds the classes of all rows, given as counts.
    fn add_classes(
        &self,
        positive: PyReadonlyArray1<'_, bool>,
        weights: Option<PyReadonlyArray1<'_, f64>>,
        counts: PyReadonlyArray1<'_, u64>,
    ) -> PyResult<()> {
        let weights = weights.as_ref().map(|weights| weights.as_slice()).transpose()?;
        self.sums
            .lock()
            .add_classes(positive.as_slice()?, weights, counts.as_slice()?)
            .map_err(to_py_err)
    }

    fn to_bytes<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        self.sums.to_bytes(py)
    }

    fn merge_bytes(&self, py: Python<'_>, bytes: &[u8]) -> PyResult<()> {
        self.sums.merge_bytes(py, bytes)
    }
}

/// A sum of values of bins; `text` is its JSON form.
#[pyclass(name = "BinSum", module = "aucrank._core", frozen)]
pub struct PyBinSum(BinSum);

#[pymethods]
impl PyBinSum {
    #[new]
    fn new(text: &str) -> PyResult<Self> {
        let sum: BinSum = read_params(text)?;
        sum.check().map_err(PyValueError::new_err)?;
        Ok(Self(sum))
    }

    /// The sum of each row.
    fn values<'py>(
        &self,
        py: Python<'py>,
        columns: ColumnsArg<'py>,
        n_threads: usize,
    ) -> PyResult<Bound<'py, PyArray1<f64>>> {
        columns.ask(py, self.0.n_levels(), n_threads, |columns| self.0.values(columns))
    }

    /// Its formula as JSON text.
    fn formula(&self) -> PyResult<String> {
        to_json(&self.0.formula())
    }
}

/// Counts of rows by their points, which are sent as bytes.
#[pyclass(name = "PointCounts", module = "aucrank._core", frozen)]
pub struct PyPointCounts(Shared<PointCounts>);

#[pymethods]
impl PyPointCounts {
    /// Counts of no rows; `weights` are a range with the relative sum of all weights.
    #[new]
    fn new(weights: Option<(PyRef<'_, PyWeightRange>, u128)>) -> Self {
        let weights = weights.map(|(range, relative)| (range.0, relative));
        Self(Shared::new(PointCounts::new(weights)))
    }

    fn add(
        &self,
        py: Python<'_>,
        points: PyReadonlyArray1<'_, f64>,
        positive: PyReadonlyArray1<'_, bool>,
        weights: Option<PyReadonlyArray1<'_, f64>>,
        n_threads: usize,
    ) -> PyResult<()> {
        let (points, positive) = (points.as_slice()?, positive.as_slice()?);
        let weights = weights.as_ref().map(|weights| weights.as_slice()).transpose()?;
        on_pool(py, n_threads, |_| self.0.lock().add(points, positive, weights))
    }

    /// Adds distinct rows with their counts.
    fn add_counts(
        &self,
        points: PyReadonlyArray1<'_, f64>,
        positive: PyReadonlyArray1<'_, bool>,
        weights: Option<PyReadonlyArray1<'_, f64>>,
        counts: PyReadonlyArray1<'_, u64>,
    ) -> PyResult<()> {
        let weights = weights.as_ref().map(|weights| weights.as_slice()).transpose()?;
        self.0
            .lock()
            .add_counts(points.as_slice()?, positive.as_slice()?, weights, counts.as_slice()?)
            .map_err(to_py_err)
    }

    fn to_bytes<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        self.0.to_bytes(py)
    }

    fn merge_bytes(&self, py: Python<'_>, bytes: &[u8]) -> PyResult<()> {
        self.0.merge_bytes(py, bytes)
    }
}

/// Raw rows behind an engine, with the attributes `n_levels` and `weights` (a [`WeightRange`] with
/// the relative sum, or `None`) and a method `round` of bytes, which returns [`PyRawSums`]. A
/// scorecard also needs `ranker_scores`, and the methods `scores` and `point_counts` of the JSON
/// form of a [`BinSum`].
#[derive(FromPyObject)]
#[pyo3(transparent)]
pub struct RawRowsArg<'py>(Bound<'py, PyAny>);

struct EngineRows<'a> {
    n_levels: Vec<Option<u32>>,
    weights: Option<(WeightRange, u128)>,
    engine: Arc<Callbacks>,
    calling: &'a CallingThread,
}

impl RawRows for EngineRows<'_> {
    fn n_levels(&self) -> &[Option<u32>] {
        &self.n_levels
    }

    fn weights(&self) -> Option<(WeightRange, u128)> {
        self.weights
    }

    fn pass(&self, ask: &Arc<RawAsk>, interrupt: &Interrupt) -> Result<RawSums, RankError> {
        interrupt.check()?;
        let sums: Py<PyRawSums> = self.engine.call(|engine| {
            let ask = PyBytes::new(engine.py(), &ask.to_bytes());
            let answer = engine.call_method1(intern!(engine.py(), "round"), (ask,))?;
            Ok(answer.cast_into::<PyRawSums>()?.unbind())
        })?;
        interrupt.check()?;
        // Taken, since there may be many cells.
        Ok(std::mem::replace(&mut *sums.get().sums.lock(), RawSums::new(Arc::clone(ask))))
    }
}

impl EngineRows<'_> {
    /// Calls a method of the engine on the waiting thread, and returns its result.
    fn ask<T>(
        &self,
        interrupt: &Interrupt,
        method: &'static str,
        of: Option<String>,
    ) -> Result<T, RankError>
    where
        T: for<'py> FromPyObjectOwned<'py> + Send + 'static,
    {
        interrupt.check()?;
        let engine = Arc::clone(&self.engine);
        let call = move || {
            engine.call(|engine| {
                let found = match of {
                    None => engine.call_method0(method)?,
                    Some(text) => engine.call_method1(method, (text,))?,
                };
                found.extract().map_err(Into::into)
            })
        };
        let answer = self.calling.call(call)??;
        interrupt.check()?;
        Ok(answer)
    }
}

/// The JSON form of a sum.
fn text_of(sum: &BinSum) -> Result<Option<String>, RankError> {
    to_json(sum).map(Some).map_err(|err| RankError::External(err.to_string()))
}

impl CardRows for EngineRows<'_> {
    fn ranker_scores(&self, interrupt: &Interrupt) -> Result<roc::RocState, RankError> {
        self.ask::<Py<RocState>>(interrupt, "ranker_scores", None)?.get().take()
    }

    fn scores(&self, of: &BinSum, interrupt: &Interrupt) -> Result<roc::RocState, RankError> {
        self.ask::<Py<RocState>>(interrupt, "scores", text_of(of)?)?.get().take()
    }

    fn point_counts(&self, of: &BinSum, interrupt: &Interrupt) -> Result<PointCounts, RankError> {
        let counts = self.ask::<Py<PyPointCounts>>(interrupt, "point_counts", text_of(of)?)?;
        let found = counts.get().0.lock().clone();
        Ok(found)
    }
}

impl RawRowsArg<'_> {
    /// Fits a model to the rows.
    pub fn fit<T: Send>(
        &self,
        py: Python<'_>,
        n_threads: usize,
        observer: Option<Py<PyAny>>,
        fit: impl FnOnce(&dyn CardRows, &Interrupt) -> Result<T, RankError> + Send,
    ) -> PyResult<T> {
        let weights: Option<(PyRef<'_, PyWeightRange>, u128)> =
            self.0.getattr(intern!(py, "weights"))?.extract()?;
        let weights = weights.map(|(range, relative)| (range.0, relative));
        let n_levels: Vec<Option<u32>> = self.0.getattr(intern!(py, "n_levels"))?.extract()?;
        let engine = Arc::new(Callbacks::new(self.0.clone().unbind()));
        let fitted = fit_calling(py, n_threads, observer, |interrupt, calling| {
            let engine = Arc::clone(&engine);
            fit(&EngineRows { n_levels, weights, engine, calling }, interrupt)
        });
        engine.finish(py, fitted)
    }
}
