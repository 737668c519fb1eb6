//! Python arrays, borrowed as columns of the core.

use aucrank::data::{Column, Columns};
use aucrank::external::ExternalModels;
use aucrank::{Interrupt, RankError};
use numpy::{IntoPyArray, PyArray1, PyReadonlyArray1, PyReadonlyArray2, PyUntypedArrayMethods};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::callbacks::Callbacks;
use crate::run::{on_pool, on_this_thread, to_py_err};

/// Up to so many rows are evaluated on the calling thread, since starting another takes longer.
/// They are one piece of work to the core, which then uses no pool.
const FEW_ROWS: usize = 8;

/// One feature.
#[derive(FromPyObject)]
pub enum ColumnArg<'py> {
    F64(PyReadonlyArray1<'py, f64>),
    F32(PyReadonlyArray1<'py, f32>),
    Codes(PyReadonlyArray1<'py, u32>),
}

/// A sparse matrix by columns, as an object with these attributes.
#[derive(FromPyObject)]
pub struct SparseArg<'py> {
    starts: PyReadonlyArray1<'py, i64>,
    rows: PyReadonlyArray1<'py, u32>,
    values: PyReadonlyArray1<'py, f64>,
    n_rows: usize,
}

/// All features: a matrix of numbers, contiguous by rows or by columns, a sparse matrix, or a list
/// of columns.
#[derive(FromPyObject)]
pub enum ColumnsArg<'py> {
    F64(PyReadonlyArray2<'py, f64>),
    F32(PyReadonlyArray2<'py, f32>),
    Sparse(SparseArg<'py>),
    List(Vec<ColumnArg<'py>>),
}

impl ColumnsArg<'_> {
    /// Evaluates a model whose features have these numbers of categories; returns an array.
    pub fn ask<'py, T: numpy::Element + Send>(
        &self,
        py: Python<'py>,
        n_levels: &[Option<u32>],
        n_threads: usize,
        work: impl FnOnce(&Columns<'_>) -> Result<Vec<T>, RankError> + Send,
    ) -> PyResult<Bound<'py, PyArray1<T>>> {
        self.ask_with(py, n_levels, n_threads, None, |columns, _| work(columns))
    }

    /// As [`ColumnsArg::ask`], for a model that may use external models.
    pub fn ask_with<'py, T: numpy::Element + Send>(
        &self,
        py: Python<'py>,
        n_levels: &[Option<u32>],
        n_threads: usize,
        external: Option<Py<PyAny>>,
        work: impl FnOnce(&Columns<'_>, Option<&dyn ExternalModels>) -> Result<Vec<T>, RankError> + Send,
    ) -> PyResult<Bound<'py, PyArray1<T>>> {
        let columns = self.borrow(n_levels)?;
        let external = external.map(Callbacks::new);
        let models = external.as_ref().map(|external| external as &dyn ExternalModels);
        let work = |interrupt: &Interrupt| work(&columns.until(interrupt), models);
        let answers = if columns.n_rows() <= FEW_ROWS && models.is_none() {
            on_this_thread(py, work)
        } else {
            on_pool(py, n_threads, work)
        };
        Ok(Callbacks::finish_any(external.as_ref(), py, answers)?.into_pyarray(py))
    }

    /// Borrows the arrays; `n_levels` has the number of categories of each categorical feature.
    pub fn borrow(&self, n_levels: &[Option<u32>]) -> PyResult<Columns<'_>> {
        match self {
            Self::F64(matrix) => borrow_matrix(matrix),
            Self::F32(matrix) => borrow_matrix(matrix),
            Self::Sparse(matrix) => {
                let starts = matrix.starts.as_slice()?.iter().map(|&start| start as usize);
                let (rows, values) = (matrix.rows.as_slice()?, matrix.values.as_slice()?);
                Columns::from_sparse(&starts.collect::<Vec<_>>(), rows, values, matrix.n_rows)
                    .map_err(to_py_err)
            }
            Self::List(columns) => {
                let n_rows = columns.first().map_or(0, ColumnArg::len);
                let columns: PyResult<Vec<Column<'_>>> = columns
                    .iter()
                    .enumerate()
                    .map(|(feature, column)| {
                        column.borrow(n_levels.get(feature).copied().flatten())
                    })
                    .collect();
                Columns::new(columns?, n_rows).map_err(to_py_err)
            }
        }
    }
}

impl ColumnArg<'_> {
    fn len(&self) -> usize {
        match self {
            Self::F64(values) => values.len(),
            Self::F32(values) => values.len(),
            Self::Codes(codes) => codes.len(),
        }
    }

    fn borrow(&self, n_levels: Option<u32>) -> PyResult<Column<'_>> {
        Ok(match self {
            Self::F64(values) => values.as_slice()?.into(),
            Self::F32(values) => values.as_slice()?.into(),
            Self::Codes(codes) => {
                Column::Codes { codes: codes.as_slice()?, n_levels: n_levels.unwrap_or(0) }
            }
        })
    }
}

fn borrow_matrix<'a, T>(matrix: &'a PyReadonlyArray2<'_, T>) -> PyResult<Columns<'a>>
where
    T: numpy::Element + aucrank::data::Value,
    Column<'a>: From<aucrank::data::Numbers<'a, T>>,
{
    let view = matrix.as_array();
    let (n_rows, n_features) = view.dim();
    // `to_slice` needs row-major order; `PyReadonlyArray2::as_slice` silently accepts either order.
    if let Some(values) = view.to_slice() {
        return Columns::from_row_major(values, n_features).map_err(to_py_err);
    }
    match view.reversed_axes().to_slice() {
        Some(values) => Columns::from_column_major(values, n_rows).map_err(to_py_err),
        None => Err(PyValueError::new_err("the matrix must be contiguous by rows or by columns")),
    }
}
