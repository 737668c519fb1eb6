//! The rows of a fit from Python: arrays, coded rows, or rows that are queried or read in passes.

use aucrank::additive::{RankedRows, RawRows};
use aucrank::rows::TrainingRows;
use aucrank::{Interrupt, RankError};
use pyo3::prelude::*;

use crate::raw_rows::RawRowsArg;
use crate::rows::RowsArg;
use crate::run::fit_on_pool;
use crate::sample::SampleArg;

/// Rows in memory, or rows that are queried.
#[derive(FromPyObject)]
pub enum TrainingArg<'py> {
    Sample(SampleArg<'py>),
    Queried(QueriedArg<'py>),
}

/// Rows that are queried, and the number of the fit among those that query them at the same time.
#[derive(FromPyObject)]
pub struct QueriedArg<'py>(RowsArg<'py>, u64);

impl TrainingArg<'_> {
    /// Fits a model to the rows.
    pub fn fit<T: Send>(
        &self,
        py: Python<'_>,
        n_threads: usize,
        observer: Option<Py<PyAny>>,
        fit: impl FnOnce(TrainingRows<'_>, &Interrupt) -> Result<T, RankError> + Send,
    ) -> PyResult<T> {
        match self {
            Self::Sample(sample) => {
                let sample = sample.borrow()?;
                fit_on_pool(py, n_threads, observer, |interrupt| {
                    fit((&sample.columns, &sample.labels()?).into(), interrupt)
                })
            }
            Self::Queried(QueriedArg(rows, fit_number)) => {
                rows.fit(py, n_threads, observer, |rows, interrupt| {
                    fit((rows, *fit_number).into(), interrupt)
                })
            }
        }
    }
}

/// Rows in memory, or raw rows that are read in passes.
#[derive(FromPyObject)]
pub enum RawTrainingArg<'py> {
    Sample(SampleArg<'py>),
    Raw(RawRowsArg<'py>),
}

impl RawTrainingArg<'_> {
    /// Fits a model to the rows.
    pub fn fit<T: Send>(
        &self,
        py: Python<'_>,
        n_threads: usize,
        observer: Option<Py<PyAny>>,
        fit: impl FnOnce(TrainingRows<'_, &dyn RawRows>, &Interrupt) -> Result<T, RankError> + Send,
    ) -> PyResult<T> {
        self.fit_ranked(py, n_threads, observer, None, |rows, interrupt| {
            let rows = match rows {
                RankedRows::Memory(columns, labels, _) => TrainingRows::Memory(columns, labels),
                RankedRows::Elsewhere(rows) => TrainingRows::Elsewhere(rows as &dyn RawRows),
            };
            fit(rows, interrupt)
        })
    }

    /// Fits a model to the rows and their scores, which raw rows have by themselves.
    pub fn fit_ranked<T: Send>(
        &self,
        py: Python<'_>,
        n_threads: usize,
        observer: Option<Py<PyAny>>,
        scores: Option<&[f64]>,
        fit: impl FnOnce(RankedRows<'_>, &Interrupt) -> Result<T, RankError> + Send,
    ) -> PyResult<T> {
        match self {
            Self::Sample(sample) => {
                let sample = sample.borrow()?;
                fit_on_pool(py, n_threads, observer, |interrupt| {
                    let labels = sample.labels()?;
                    let scores = scores.unwrap_or_default();
                    fit((&sample.columns, &labels, scores).into(), interrupt)
                })
            }
            Self::Raw(rows) => {
                rows.fit(py, n_threads, observer, |rows, interrupt| fit(rows.into(), interrupt))
            }
        }
    }
}
