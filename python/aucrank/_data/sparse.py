"""Sparse matrices in the form of the core."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_array


@dataclass(frozen=True, slots=True)
class SparseColumns:
    """A sparse matrix of numbers, stored column by column; entries not stored are 0.

    Attributes
    ----------
    starts : ndarray of int64, shape (n_features + 1,)
        Start of the entries of each column, and end of the last one.
    rows : ndarray of uint32, shape (n_entries,)
        Row of each entry; ascending in each column.
    values : ndarray of float64, shape (n_entries,)
        Its value; NaN is missing.
    n_rows : int
        Number of rows.
    """

    starts: NDArray[np.int64]
    rows: NDArray[np.uint32]
    values: NDArray[np.float64]
    n_rows: int

    @classmethod
    def of(cls, matrix: Any) -> "SparseColumns":
        """Return a scipy sparse matrix or array of float64, stored by columns, in this form.

        Shares memory with it where possible.
        """
        if not matrix.has_canonical_format:
            matrix = matrix.copy()
            matrix.sum_duplicates()
        starts = matrix.indptr.astype(np.int64, copy=False)
        rows = matrix.indices
        rows = rows.view(np.uint32) if rows.dtype == np.int32 else rows.astype(np.uint32)
        return cls(starts, rows, matrix.data, matrix.shape[0])

    @classmethod
    def of_columns(cls, columns: Iterable[NDArray[Any] | Any], n_rows: int) -> "SparseColumns":
        """Return columns in this form.

        Parameters
        ----------
        columns : iterable of ndarray of float or pandas.arrays.SparseArray
            The columns; only one at a time is dense.
        n_rows : int
            Number of rows.
        """
        starts, rows, values = [0], [], []
        for column in columns:
            # Of other fill values, such as the missing one, all rows are entries.
            if not isinstance(column, np.ndarray) and column.fill_value == 0:
                places = column.sp_index.to_int_index().indices
                entries = column.sp_values
            else:
                dense = np.asarray(column, dtype=np.float64)
                places = np.flatnonzero(dense)
                entries = dense[places]
            rows.append(places.astype(np.uint32, copy=False))
            values.append(entries.astype(np.float64, copy=False))
            starts.append(starts[-1] + len(places))
        return cls(np.array(starts), np.concatenate(rows), np.concatenate(values), n_rows)

    @property
    def n_features(self) -> int:
        """Number of columns."""
        return len(self.starts) - 1

    def column(self, index: int) -> NDArray[np.float64]:
        """Return one column as a dense vector."""
        column = np.zeros(self.n_rows)
        entries = slice(self.starts[index], self.starts[index + 1])
        column[self.rows[entries]] = self.values[entries]
        return column

    def take(self, rows: NDArray[np.intp]) -> "SparseColumns":
        """Return some of the rows, in the order given."""
        parts = (self.values, self.rows.astype(np.int64), self.starts)
        matrix = csc_array(parts, shape=(self.n_rows, self.n_features))
        taken = matrix[rows].tocsc()
        taken.sort_indices()
        return SparseColumns.of(taken)
