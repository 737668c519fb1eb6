//! Rows from Python with their labels and weights, borrowed by the core.

use aucrank::RankError;
use aucrank::data::{Columns, Labels, NewRows, RowBlocks};
use aucrank::rows::CodedMatrix;
use numpy::PyReadonlyArray1;
use pyo3::prelude::*;

use crate::columns::ColumnsArg;
use crate::rows::{BlocksArg, PyCodedMatrix};
use crate::run::to_py_err;

/// Rows as arrays, or coded.
#[derive(FromPyObject)]
pub enum SampleArg<'py> {
    Coded(PyRef<'py, PyCodedMatrix>),
    Arrays(ArraysArg<'py>),
}

/// Columns, the number of categories of each, positive rows, weights, and the blocks by which rows
/// are dealt, with the gap between those of times.
#[derive(FromPyObject)]
pub struct ArraysArg<'py>(
    ColumnsArg<'py>,
    Vec<Option<u32>>,
    Option<PyReadonlyArray1<'py, bool>>,
    Option<PyReadonlyArray1<'py, f64>>,
    Option<BlocksArg<'py>>,
    Option<f64>,
);

/// A borrowed [`SampleArg`].
pub struct Sample<'a> {
    pub columns: Columns<'a>,
    classes: Classes<'a>,
}

/// Source of the classes and weights of rows.
enum Classes<'a> {
    Coded(&'a CodedMatrix),
    /// Classes (`None` if there are no labels), weights, blocks, and the gap between times.
    Arrays(Option<&'a [bool]>, Option<&'a [f64]>, Option<RowBlocks<'a>>, Option<f64>),
}

impl SampleArg<'_> {
    /// Borrows the arrays.
    pub fn borrow(&self) -> PyResult<Sample<'_>> {
        match self {
            Self::Coded(matrix) => {
                let matrix: &PyCodedMatrix = matrix;
                let columns = matrix.0.columns().map_err(to_py_err)?;
                Ok(Sample { columns, classes: Classes::Coded(&matrix.0) })
            }
            Self::Arrays(ArraysArg(columns, n_levels, positive, weight, blocks, gap)) => {
                let positive = positive.as_ref().map(|positive| positive.as_slice()).transpose()?;
                let weight = weight.as_ref().map(|weight| weight.as_slice()).transpose()?;
                let blocks = blocks.as_ref().map(BlocksArg::borrow).transpose()?;
                let columns = columns.borrow(n_levels)?;
                Ok(Sample { columns, classes: Classes::Arrays(positive, weight, blocks, *gap) })
            }
        }
    }
}

impl Sample<'_> {
    /// The labels with their weights; without labels there is no row of either class, which is an
    /// error.
    pub fn labels(&self) -> Result<Labels<'_>, RankError> {
        match self.classes {
            Classes::Coded(matrix) => matrix.labels(),
            Classes::Arrays(positive, weight, blocks, gap) => {
                let labels = Labels::new(positive.unwrap_or_default(), weight)?;
                let labels = match blocks {
                    None => labels,
                    Some(blocks) => labels.in_blocks(blocks)?,
                };
                match gap {
                    None => Ok(labels),
                    Some(gap) => labels.with_gap(gap),
                }
            }
        }
    }

    /// Rows whose classes may be unknown.
    pub fn new_rows(&self) -> Result<NewRows<'_>, RankError> {
        match self.classes {
            Classes::Coded(_) => Err(RankError::BadParameter {
                name: "X",
                value: "coded".to_owned(),
                rule: "raw where rows are new",
            }),
            Classes::Arrays(positive, weight, ..) => {
                NewRows::new(self.columns.n_rows(), positive, weight)
            }
        }
    }
}
