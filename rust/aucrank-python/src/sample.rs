//! Rows from Python with their labels and weights, borrowed by the core.

use aucrank::RankError;
use aucrank::data::{Columns, Labels, NewRows};
use numpy::PyReadonlyArray1;
use pyo3::prelude::*;

use crate::columns::ColumnsArg;

/// Columns, the number of categories of each, which rows are positive, and weights.
#[derive(FromPyObject)]
pub struct SampleArg<'py>(
    ColumnsArg<'py>,
    Vec<Option<u32>>,
    Option<PyReadonlyArray1<'py, bool>>,
    Option<PyReadonlyArray1<'py, f64>>,
);

/// A borrowed [`SampleArg`].
pub struct Sample<'a> {
    pub columns: Columns<'a>,
    /// `None` without labels.
    positive: Option<&'a [bool]>,
    weight: Option<&'a [f64]>,
}

impl SampleArg<'_> {
    /// Borrows the arrays.
    pub fn borrow(&self) -> PyResult<Sample<'_>> {
        let Self(columns, n_levels, positive, weight) = self;
        Ok(Sample {
            columns: columns.borrow(n_levels)?,
            positive: positive.as_ref().map(|positive| positive.as_slice()).transpose()?,
            weight: weight.as_ref().map(|weight| weight.as_slice()).transpose()?,
        })
    }
}

impl Sample<'_> {
    /// The labels with their weights; without labels there is no row of either class, which is an
    /// error.
    pub fn labels(&self) -> Result<Labels<'_>, RankError> {
        Labels::new(self.positive.unwrap_or_default(), self.weight)
    }

    /// Rows whose classes may be unknown.
    pub fn new_rows(&self) -> Result<NewRows<'_>, RankError> {
        NewRows::new(self.columns.n_rows(), self.positive, self.weight)
    }
}
