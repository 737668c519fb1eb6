//! `aucrank::rows` as Python classes: surveys, coded rows, and holders that are sent bytes.

use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use aucrank::data::{
    Batch, BinningParams, ClassSums, Columns, FeatureBins, Folds, RowBlocks, WeightRange,
};
use aucrank::rows::{
    Answer, AnswerLog, Ask, CodedMatrix, LoggedRows, RowDigest, RowFrame, RowSample, Rows,
    StoredRows, Survey, deal_among as deal_among_rows, sums_by_code,
};
use aucrank::{Interrupt, RankError};
use numpy::{IntoPyArray, PyArray1, PyReadonlyArray1};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::PyBytes;

use crate::callbacks::Callbacks;
use crate::columns::ColumnsArg;
use crate::run::{fit_on_pool, on_pool, read_params, to_json, to_py_err};
use crate::shared::Shared;

/// Range that determines the unit of weights.
#[pyclass(name = "WeightRange", module = "aucrank._core", frozen)]
pub struct PyWeightRange(pub WeightRange);

#[pymethods]
impl PyWeightRange {
    /// The range of no weights, or one by its JSON form.
    #[new]
    #[pyo3(signature = (text=None))]
    fn new(text: Option<&str>) -> PyResult<Self> {
        text.map_or_else(|| Ok(WeightRange::default()), read_params).map(Self)
    }

    fn __getnewargs__(&self) -> PyResult<(String,)> {
        Ok((to_json(&self.0)?,))
    }

    /// The range with further weights, those of rows from `first_row` on.
    fn with_part(&self, weights: PyReadonlyArray1<'_, f64>, first_row: usize) -> PyResult<Self> {
        let part = WeightRange::of_part(weights.as_slice()?, first_row).map_err(to_py_err)?;
        Ok(Self(self.0.merge(part)))
    }

    fn merge(&self, other: &Self) -> Self {
        Self(self.0.merge(other.0))
    }

    /// The range of the same rows repeated so many times, at least once.
    fn repeated(&self, times: u64) -> Self {
        Self(self.0.repeated(times))
    }

    /// Whether every weight is a number of copies, so that no relative sum is needed.
    fn are_counts(&self) -> bool {
        self.0.are_counts()
    }

    fn relative_sum(&self, weights: PyReadonlyArray1<'_, f64>) -> PyResult<u128> {
        Ok(self.0.relative_sum_of_part(weights.as_slice()?))
    }

    /// Weights as whole numbers in the unit of all rows, whose relative sum is given.
    fn units<'py>(
        &self,
        py: Python<'py>,
        relative: u128,
        weights: PyReadonlyArray1<'py, f64>,
    ) -> PyResult<Bound<'py, PyArray1<f64>>> {
        Ok(self.0.units_of_part(relative, weights.as_slice()?).into_pyarray(py))
    }
}

/// Columns, positive rows, weights, and the blocks by which rows are dealt.
#[derive(FromPyObject)]
pub struct BatchArg<'py>(
    ColumnsArg<'py>,
    PyReadonlyArray1<'py, bool>,
    Option<PyReadonlyArray1<'py, f64>>,
    Option<BlocksArg<'py>>,
);

/// The number of the block of each row, and whether blocks are times.
#[derive(FromPyObject)]
pub struct BlocksArg<'py>(PyReadonlyArray1<'py, u64>, bool);

impl BlocksArg<'_> {
    pub fn borrow(&self) -> PyResult<RowBlocks<'_>> {
        let of_row = self.0.as_slice()?;
        Ok(if self.1 { RowBlocks::Times(of_row) } else { RowBlocks::Groups(of_row) })
    }
}

/// A borrowed [`BatchArg`].
pub struct BorrowedBatch<'a> {
    pub columns: Columns<'a>,
    positive: &'a [bool],
    pub weights: Option<&'a [f64]>,
    blocks: Option<RowBlocks<'a>>,
}

impl BorrowedBatch<'_> {
    pub fn rows(&self) -> Batch<'_> {
        let batch = Batch::new(&self.columns, self.positive).weighted(self.weights);
        self.blocks.map_or(batch, |blocks| batch.in_blocks(blocks))
    }
}

impl BatchArg<'_> {
    pub fn borrow(&self, n_levels: &[Option<u32>]) -> PyResult<BorrowedBatch<'_>> {
        Ok(BorrowedBatch {
            columns: self.0.borrow(n_levels)?,
            positive: self.1.as_slice()?,
            weights: self.2.as_ref().map(|weights| weights.as_slice()).transpose()?,
            blocks: self.3.as_ref().map(BlocksArg::borrow).transpose()?,
        })
    }
}

/// One pass over raw rows.
#[pyclass(name = "Survey", module = "aucrank._core", frozen)]
pub struct PySurvey {
    survey: Shared<Survey>,
    n_levels: Vec<Option<u32>>,
}

#[pymethods]
impl PySurvey {
    /// `binning` is the JSON form of [`BinningParams`]; `weights` a range with the relative sum of
    /// all weights; `n_rows` the number of all rows, if that is to save memory.
    #[new]
    fn new(
        n_levels: Vec<Option<u32>>,
        binning: &str,
        weights: Option<(PyRef<'_, PyWeightRange>, u128)>,
        n_rows: Option<u64>,
    ) -> PyResult<Self> {
        let binning: BinningParams = read_params(binning)?;
        let weights = weights.map(|(range, relative)| (range.0, relative));
        let survey = Survey::new(&n_levels, binning, weights).map_err(to_py_err)?;
        let survey = match n_rows {
            Some(n_rows) => survey.expecting(n_rows),
            None => survey,
        };
        Ok(Self { survey: Shared::new(survey), n_levels })
    }

    fn add(&self, py: Python<'_>, batch: BatchArg<'_>, n_threads: usize) -> PyResult<()> {
        let batch = batch.borrow(&self.n_levels)?;
        on_pool(py, n_threads, |interrupt| self.survey.lock().add(&batch.rows(), interrupt))
    }

    fn to_bytes<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        self.survey.to_bytes(py)
    }

    fn merge_bytes(&self, py: Python<'_>, bytes: &[u8]) -> PyResult<()> {
        self.survey.merge_bytes(py, bytes)
    }

    fn is_complete(&self, py: Python<'_>) -> bool {
        py.detach(|| self.survey.lock().is_complete())
    }

    /// The chosen bins, and other facts about the rows.
    fn frame<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let frame = py.detach(|| self.survey.lock().frame()).map_err(to_py_err)?;
        Ok(PyBytes::new(py, &frame.to_bytes()))
    }
}

/// The rows with the least hashes.
#[pyclass(name = "RowSample", module = "aucrank._core", frozen)]
pub struct PyRowSample {
    sample: Shared<RowSample>,
    n_levels: Vec<Option<u32>>,
}

#[pymethods]
impl PyRowSample {
    #[new]
    fn new(n_levels: Vec<Option<u32>>, most: NonZeroUsize) -> Self {
        Self { sample: Shared::new(RowSample::new(most)), n_levels }
    }

    fn add(&self, py: Python<'_>, batch: BatchArg<'_>, n_threads: usize) -> PyResult<()> {
        let BorrowedBatch { columns, weights, .. } = batch.borrow(&self.n_levels)?;
        on_pool(py, n_threads, |interrupt| self.sample.lock().add(&columns, weights, interrupt))
    }

    fn to_bytes<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        self.sample.to_bytes(py)
    }

    fn merge_bytes(&self, py: Python<'_>, bytes: &[u8]) -> PyResult<()> {
        self.sample.merge_bytes(py, bytes)
    }

    fn bound(&self, py: Python<'_>) -> u64 {
        py.detach(|| self.sample.lock().bound())
    }
}

/// A digest of rows that come column by column.
#[pyclass(name = "RowDigest", module = "aucrank._core", frozen)]
pub struct PyRowDigest(Shared<RowDigest>);

#[pymethods]
impl PyRowDigest {
    #[new]
    fn new(n_rows: usize) -> Self {
        Self(Shared::new(RowDigest::new(n_rows)))
    }

    fn add_numbers(&self, py: Python<'_>, column: PyReadonlyArray1<'_, f64>) -> PyResult<()> {
        let column = column.as_slice()?;
        py.detach(|| self.0.lock().add_numbers(column)).map_err(to_py_err)
    }

    fn add_words(&self, py: Python<'_>, column: PyReadonlyArray1<'_, u64>) -> PyResult<()> {
        let column = column.as_slice()?;
        py.detach(|| self.0.lock().add_words(column)).map_err(to_py_err)
    }

    fn sum(&self, py: Python<'_>) -> u64 {
        py.detach(|| self.0.lock().sum())
    }
}

/// Numbers of the rows that belong to a sample with this bound.
#[pyfunction]
pub fn sampled_rows<'py>(
    py: Python<'py>,
    columns: ColumnsArg<'py>,
    n_levels: Vec<Option<u32>>,
    bound: u64,
    n_threads: usize,
) -> PyResult<Bound<'py, PyArray1<u32>>> {
    let columns = columns.borrow(&n_levels)?;
    let rows = on_pool(py, n_threads, |interrupt| RowSample::rows(&columns, bound, interrupt))?;
    Ok(rows.into_pyarray(py))
}

/// Coded rows in memory, or in a file.
#[pyclass(name = "StoredRows", module = "aucrank._core", frozen)]
pub struct PyStoredRows {
    rows: RwLock<StoredRows>,
    n_levels: Vec<Option<u32>>,
}

impl PyStoredRows {
    fn read(&self) -> RwLockReadGuard<'_, StoredRows> {
        self.rows.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, StoredRows> {
        self.rows.write().unwrap_or_else(PoisonError::into_inner)
    }
}

#[pymethods]
impl PyStoredRows {
    #[new]
    fn new(frame: &[u8], path: Option<PathBuf>) -> PyResult<Self> {
        let frame = RowFrame::from_bytes(frame).map_err(to_py_err)?;
        let n_levels = frame.n_levels();
        let rows = StoredRows::new(frame, path.as_deref()).map_err(to_py_err)?;
        Ok(Self { rows: RwLock::new(rows), n_levels })
    }

    fn add(&self, py: Python<'_>, batch: BatchArg<'_>, n_threads: usize) -> PyResult<()> {
        let batch = batch.borrow(&self.n_levels)?;
        on_pool(py, n_threads, |interrupt| self.write().add(&batch.rows(), interrupt))
    }

    fn finish(&self, py: Python<'_>) -> PyResult<()> {
        py.detach(|| self.write().finish()).map_err(to_py_err)
    }

    /// All rows in memory, for learners that need more than sums of cells.
    fn matrix(&self, py: Python<'_>) -> PyResult<PyCodedMatrix> {
        py.detach(|| CodedMatrix::of(&self.read())).map(PyCodedMatrix).map_err(to_py_err)
    }

    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let bytes = py.detach(|| self.read().to_bytes()).map_err(to_py_err)?;
        Ok(PyBytes::new(py, &bytes))
    }

    fn add_bytes(&self, py: Python<'_>, bytes: &[u8]) -> PyResult<()> {
        py.detach(|| self.write().add_bytes(bytes)).map_err(to_py_err)
    }

    #[getter]
    fn n_rows(&self) -> u64 {
        self.read().n_rows()
    }

    /// Memory of the rows in bytes.
    #[getter]
    fn n_bytes(&self) -> u64 {
        self.read().n_bytes()
    }

    #[getter]
    fn n_file_bytes(&self) -> u64 {
        self.read().n_file_bytes()
    }
}

/// Coded rows in memory, which fits take in place of arrays.
#[pyclass(name = "CodedMatrix", module = "aucrank._core", frozen)]
pub struct PyCodedMatrix(pub CodedMatrix);

#[pymethods]
impl PyCodedMatrix {
    #[getter]
    fn n_weighted_rows(&self) -> PyResult<usize> {
        Ok(self.0.labels().map_err(to_py_err)?.rows().len())
    }
}

/// The merged answer of the rows of several holders, at least one, to a question, both as bytes.
#[pyfunction]
pub fn answer_rows<'py>(
    py: Python<'py>,
    holders: Vec<PyRef<'py, PyStoredRows>>,
    ask: &[u8],
    n_threads: usize,
) -> PyResult<Bound<'py, PyBytes>> {
    let holders: Vec<&PyStoredRows> = holders.iter().map(|holder| &**holder).collect();
    let answer = |interrupt: &Interrupt| {
        let ask = Ask::from_bytes(ask)?;
        let mut sum: Option<Answer> = None;
        for holder in &holders {
            let more = holder.read().pass(&ask, interrupt)?;
            match &mut sum {
                Some(sum) => sum.merge(more)?,
                None => sum = Some(more),
            }
        }
        Ok(sum.map_or_else(Vec::new, |mut sum| sum.to_bytes()))
    };
    let bytes = on_pool(py, n_threads, answer)?;
    Ok(PyBytes::new(py, &bytes))
}

/// Merges the answers of several holders to one question.
#[pyfunction]
pub fn merge_answers<'py>(
    py: Python<'py>,
    frame: &[u8],
    ask: &[u8],
    answers: Vec<PyBackedBytes>,
) -> PyResult<Bound<'py, PyBytes>> {
    let merged = py.detach(|| {
        let (frame, ask) = (RowFrame::from_bytes(frame)?, Ask::from_bytes(ask)?);
        Answer::merge_bytes(&answers, &ask, &frame)
    });
    Ok(PyBytes::new(py, &merged.map_err(to_py_err)?))
}

/// Rows that a fit queries, with a file of the answers or without.
#[derive(FromPyObject)]
pub enum RowsArg<'py> {
    Logged(PyRef<'py, PyLoggedRows>),
    Unlogged(UnloggedRows<'py>),
}

/// Rows that are stored here, or an engine with an attribute `frame` and a method `round`, both of
/// bytes.
#[derive(FromPyObject)]
pub enum UnloggedRows<'py> {
    Stored(PyRef<'py, PyStoredRows>),
    Engine(Bound<'py, PyAny>),
}

/// Rows with a file of the answers to one fit, which goes on from it.
#[pyclass(name = "LoggedRows", module = "aucrank._core", frozen)]
pub struct PyLoggedRows {
    rows: Py<PyAny>,
    log: AnswerLog,
}

#[pymethods]
impl PyLoggedRows {
    /// Opens the file of the path, or creates it; `fit_number` distinguishes the fit from others
    /// that query the same rows.
    #[new]
    fn new(
        py: Python<'_>,
        rows: Bound<'_, PyAny>,
        path: PathBuf,
        fit_number: u64,
        n_threads: usize,
    ) -> PyResult<Self> {
        let queried: UnloggedRows<'_> = rows.extract()?;
        let log = queried.fit(py, n_threads, None, |rows, interrupt| {
            AnswerLog::open(&path, rows, fit_number, interrupt)
        })?;
        Ok(Self { rows: rows.unbind(), log })
    }

    /// Number of answers that were given from the file.
    #[getter]
    fn n_read(&self) -> u64 {
        self.log.n_read()
    }

    /// Number of answers that were added to the file.
    #[getter]
    fn n_added(&self) -> u64 {
        self.log.n_added()
    }
}

/// Rows behind an engine.
struct EngineRows {
    frame: RowFrame,
    engine: Callbacks,
}

impl Rows for EngineRows {
    fn frame(&self) -> &RowFrame {
        &self.frame
    }

    fn pass(&self, ask: &Ask, interrupt: &Interrupt) -> Result<Answer, RankError> {
        interrupt.check()?;
        let bytes: Vec<u8> = self.engine.call(|engine| {
            let ask = PyBytes::new(engine.py(), &ask.to_bytes());
            let answer = engine.call_method1(intern!(engine.py(), "round"), (ask,))?;
            Ok(answer.cast_into::<PyBytes>()?.as_bytes().to_vec())
        })?;
        interrupt.check()?;
        Answer::from_bytes(&bytes, ask, &self.frame)
    }
}

impl RowsArg<'_> {
    /// Fits a model to the rows.
    pub fn fit<T: Send>(
        &self,
        py: Python<'_>,
        n_threads: usize,
        observer: Option<Py<PyAny>>,
        fit: impl FnOnce(&dyn Rows, &Interrupt) -> Result<T, RankError> + Send,
    ) -> PyResult<T> {
        match self {
            Self::Logged(logged) => {
                let logged: &PyLoggedRows = logged;
                let rows: UnloggedRows<'_> = logged.rows.extract(py)?;
                rows.fit(py, n_threads, observer, |rows, interrupt| {
                    fit(&LoggedRows::new(rows, &logged.log), interrupt)
                })
            }
            Self::Unlogged(rows) => rows.fit(py, n_threads, observer, fit),
        }
    }
}

impl UnloggedRows<'_> {
    fn fit<T: Send>(
        &self,
        py: Python<'_>,
        n_threads: usize,
        observer: Option<Py<PyAny>>,
        fit: impl FnOnce(&dyn Rows, &Interrupt) -> Result<T, RankError> + Send,
    ) -> PyResult<T> {
        match self {
            Self::Stored(stored) => {
                let stored: &PyStoredRows = stored;
                let work = |interrupt: &Interrupt| Ok(fit(&*stored.read(), interrupt));
                fit_on_pool(py, n_threads, observer, work)?.map_err(to_py_err)
            }
            Self::Engine(engine) => {
                let frame: Vec<u8> = engine.getattr(intern!(py, "frame"))?.extract()?;
                let frame = RowFrame::from_bytes(&frame).map_err(to_py_err)?;
                let rows = EngineRows { frame, engine: Callbacks::new(engine.clone().unbind()) };
                let fitted =
                    fit_on_pool(py, n_threads, observer, |interrupt| fit(&rows, interrupt));
                rows.engine.finish(py, fitted)
            }
        }
    }
}

/// Sums of the rows of each bin of a feature, and of those whose value is missing, last: negative
/// and positive ones, in units of weight, and their number.
type SumsOfBins<'py> = [Bound<'py, PyArray1<u64>>; 3];

/// For each feature the sums of the bins that have rows; `fit_number` distinguishes this from fits
/// that query the same rows.
#[pyfunction]
pub fn sums_of_bins<'py>(
    py: Python<'py>,
    rows: RowsArg<'py>,
    fit_number: u64,
    n_threads: usize,
) -> PyResult<Vec<SumsOfBins<'py>>> {
    let of_bins = |rows: &dyn Rows, interrupt: &Interrupt| {
        let found = sums_by_code(rows, fit_number, interrupt)?;
        let features = rows.frame().features().iter().zip(found);
        let with_missing = |(bins, mut sums): (&FeatureBins, Vec<(u32, ClassSums)>)| {
            let missing = bins.n_bins() as u32;
            if sums.last().is_none_or(|(code, _)| *code != missing) {
                sums.push((missing, ClassSums::default()));
            }
            sums
        };
        Ok(features.map(with_missing).collect::<Vec<_>>())
    };
    let found = rows.fit(py, n_threads, None, of_bins)?;
    let arrays = |sums: Vec<(u32, ClassSums)>| {
        let parts: [fn(&ClassSums) -> u64; 3] =
            [|sums| sums.neg, |sums| sums.pos, |sums| sums.rows];
        parts.map(|part| {
            sums.iter().map(|(_, sums)| part(sums)).collect::<Vec<_>>().into_pyarray(py)
        })
    };
    Ok(found.into_iter().map(arrays).collect())
}

/// The folds of some rows, dealt like all rows that are queried, and their number; `fit_number`
/// distinguishes the fit from others that query the same rows.
#[pyfunction]
pub fn deal_among<'py>(
    py: Python<'py>,
    rows: RowsArg<'py>,
    fit_number: u64,
    batch: BatchArg<'py>,
    n_levels: Vec<Option<u32>>,
    dealing: (u16, u64),
    n_threads: usize,
) -> PyResult<(Bound<'py, PyArray1<i64>>, u16)> {
    let batch = batch.borrow(&n_levels)?;
    let (n_folds, seed) = dealing;
    let Folds { of_row, n_folds } = rows.fit(py, n_threads, None, |rows, interrupt| {
        deal_among_rows(rows, fit_number, &batch.rows(), n_folds, seed, interrupt)
    })?;
    let of_row: Vec<i64> = of_row.into_iter().map(i64::from).collect();
    Ok((of_row.into_pyarray(py), n_folds))
}
