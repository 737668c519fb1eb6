//! Views of `ndarray` as columns.

use ndarray::ArrayView2;

use crate::RankError;
use crate::data::{Column, Columns, Numbers, Value};

/// Borrows a matrix whose rows or columns are contiguous; a row of the view is a row of the data.
///
/// # Errors
///
/// [`RankError`] if neither rows nor columns are contiguous, as in every second row of a matrix, or
/// there are 2^32 rows or more. A copy by `as_standard_layout` is contiguous.
///
/// # Examples
///
/// ```
/// use aucrank::data::Columns;
/// use ndarray::array;
///
/// let matrix = array![[1.0, 10.0], [2.0, 20.0], [3.0, 30.0]];
/// let columns = Columns::try_from(matrix.view())?;
/// assert_eq!((columns.n_rows(), columns.n_features()), (3, 2));
/// let transposed = Columns::try_from(matrix.t())?;
/// assert_eq!((transposed.n_rows(), transposed.n_features()), (2, 3));
/// # Ok::<(), aucrank::RankError>(())
/// ```
impl<'a, T: Value> TryFrom<ArrayView2<'a, T>> for Columns<'a>
where
    Column<'a>: From<Numbers<'a, T>>,
{
    type Error = RankError;

    fn try_from(matrix: ArrayView2<'a, T>) -> Result<Self, RankError> {
        let (n_rows, n_features) = matrix.dim();
        if n_features == 0 {
            Self::new(Vec::new(), n_rows)
        } else if let Some(values) = matrix.to_slice() {
            Self::from_row_major(values, n_features)
        } else if let Some(values) = matrix.reversed_axes().to_slice() {
            Self::from_column_major(values, n_rows)
        } else {
            Err(RankError::BadParameter {
                name: "the matrix",
                value: format!("a view with the strides {:?}", matrix.strides()),
                rule: "contiguous by rows or by columns, as as_standard_layout() makes it",
            })
        }
    }
}

#[cfg(test)]
mod tests {
    use ndarray::{Array2, s};

    use super::*;

    fn numbers(columns: &Columns<'_>) -> Vec<Vec<f64>> {
        let mut each = Vec::new();
        for column in 0..columns.n_features() {
            let mut values = vec![0.0; columns.n_rows()];
            columns[column].read(0..columns.n_rows(), &mut values);
            each.push(values);
        }
        each
    }

    #[test]
    fn a_view_of_either_layout_is_borrowed() {
        let matrix = Array2::from_shape_fn((4, 3), |(row, column)| (10 * column + row) as f32);
        let expected: Vec<Vec<f64>> =
            (0..3).map(|j| (0..4).map(|row| f64::from(10 * j + row)).collect()).collect();
        assert_eq!(numbers(&matrix.view().try_into().unwrap()), expected);
        let by_columns = matrix.t().as_standard_layout().into_owned();
        assert_eq!(numbers(&by_columns.t().try_into().unwrap()), expected);
        // Some columns of a column-major matrix, some rows of a row-major one.
        let some = by_columns.slice(s![1.., ..]);
        assert_eq!(numbers(&some.t().try_into().unwrap()), expected[1..]);
        let some: Columns<'_> = matrix.slice(s![2.., ..]).try_into().unwrap();
        assert_eq!(numbers(&some)[0], expected[0][2..]);
        for empty in [(0, 3), (3, 0)] {
            let matrix = Array2::<f64>::zeros(empty);
            let columns = Columns::try_from(matrix.view()).unwrap();
            assert_eq!((columns.n_rows(), columns.n_features()), empty);
        }
    }

    #[test]
    fn a_view_with_gaps_is_refused_and_its_copy_accepted() {
        let matrix = Array2::from_shape_fn((4, 3), |(row, column)| (10 * column + row) as f64);
        let view = matrix.slice(s![..;2, ..2]);
        let err = Columns::try_from(view).unwrap_err().to_string();
        assert!(err.contains("strides [6, 1]") && err.contains("as_standard_layout"), "{err}");
        let copy = view.as_standard_layout();
        assert_eq!(numbers(&copy.view().try_into().unwrap()), [[0.0, 2.0], [10.0, 12.0]]);
    }
}
