//! Rows of Python with their labels and weights, borrowed as those of the core.

use aucrank::RankError;
use aucrank::data::{Columns, Labels, NewRows};
use numpy::PyReadonlyArray1;
use pyo3::prelude::*;

use crate::columns::ColumnsArg;

/// Columns, the number of categories of each, what is positive, and weights.
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
    /// `None` where no labels are known.
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
    /// The labels with their weights; rows without labels are of no class, which is an error.
    pub fn labels(&self) -> Result<Labels<'_>, RankError> {
        Labels::new(self.positive.unwrap_or_default(), self.weight)
    }

    /// Rows whose classes need not be known.
    pub fn new_rows(&self) -> Result<NewRows<'_>, RankError> {
        NewRows::new(self.columns.n_rows(), self.positive, self.weight)
    }
}
