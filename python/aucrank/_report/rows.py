"""Rows of any container type by column: summaries, sampling, and replacing one column."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, cast

import narwhals.stable.v2 as nw
import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from aucrank._base.external import row_taker
from aucrank._data import frames
from aucrank._data.as_frame import as_frame
from aucrank._data.schema import Factor, is_missing


@dataclass(frozen=True, eq=False, slots=True)
class UserColumn:
    """One column of some rows.

    Attributes
    ----------
    name : str
        Its name; ``x0`` for the first one of an array.
    numbers : ndarray of float64 or None
        Its values, NaN where missing; None where it holds no numbers.
    codes : ndarray of int or None
        Its categories as positions in ``levels``, -1 where missing; None where it holds numbers.
    levels : list
        Distinct values of a column of categories.
    n_missing : int
        Number of rows without a value.
    other : Series or None, default=None
        Its values where they are neither numbers nor categories, such as dates.
    """

    name: str
    numbers: NDArray[np.float64] | None
    codes: NDArray[np.intp] | None
    levels: list[Any]
    n_missing: int
    other: nw.Series[Any] | None = None

    def as_categories(self) -> UserColumn:
        """Return a numeric column as a categorical one."""
        if self.numbers is None:
            return self
        distinct, codes = np.unique(self.numbers, return_inverse=True)
        # NaN is the last.
        n_levels = int((~np.isnan(distinct)).sum())
        codes = np.where(codes < n_levels, codes, -1).astype(np.intp)
        return replace(self, numbers=None, codes=codes, levels=distinct[:n_levels].tolist())


class UserRows:
    """Rows as a user passed them.

    Parameters
    ----------
    X : array-like or data frame of shape (n, n_features)
        The rows.

    Raises
    ------
    TypeError, ValueError
        If they are sparse or not two-dimensional.
    """

    def __init__(self, X: Any) -> None:
        if issparse(X):
            raise TypeError("X is sparse, and a report looks at columns: pass X.toarray()")
        X = as_frame(X)
        frame = nw.from_native(X, pass_through=True)
        self._frame = frame if isinstance(frame, nw.DataFrame) else None
        # By position: names need not be strings, and a number would select a row.
        self._columns = cast(
            "list[nw.Series[Any]]",
            [] if self._frame is None else list(self._frame.iter_columns()),
        )
        #: The rows as models take them.
        self.native: Any = X if self._frame is not None else _array(X)
        shape = self.native.shape
        if len(shape) != 2:
            raise ValueError(f"X must have two dimensions, got shape {tuple(shape)}")
        self.n_rows, self.n_columns = map(int, shape)
        self.names = (
            [f"x{index}" for index in range(self.n_columns)]
            if self._frame is None
            else [str(name) for name in self._frame.columns]
        )
        self._take = row_taker(self.native)

    def take(self, rows: NDArray[np.integer[Any]]) -> Any:
        """Return some rows in the form that models take; one may occur more than once."""
        return self._take(rows)

    def exchanged(self, rows: NDArray[np.intp], index: int, donors: NDArray[np.intp]) -> Any:
        """Return some rows with the values that other rows have in one column.

        Parameters
        ----------
        rows : ndarray of int
            Which rows.
        index : int
            The column.
        donors : ndarray of int
            For each of them, the row that the value comes from.
        """
        if self._frame is not None:
            donated = self._columns[index][donors]
            return self._frame[rows].with_columns(donated).to_native()
        taken = self.native[rows]
        taken[:, index] = self.native[donors, index]
        return taken

    def column(self, index: int) -> UserColumn:
        """Summarise one column."""
        name = self.names[index]
        if self._frame is not None:
            series = self._columns[index]
            if frames.is_categorical(series):
                return _of_factors(name, frames.to_factors(series, repr(name)))
            try:
                return _of_numbers(name, frames.to_numbers(series, repr(name)))
            except TypeError:
                # Dates and the like: models may use them.
                return UserColumn(name, None, None, [], int(series.is_null().sum()), series)
        values = self.native[:, index]
        if values.dtype.kind in "biuf":
            return _of_numbers(name, values)
        known = [value for value in values.tolist() if not is_missing(value)]
        if all(isinstance(value, int | float) for value in known):
            numbers = [np.nan if is_missing(value) else float(value) for value in values.tolist()]
            return _of_numbers(name, np.array(numbers))
        return _of_factors(name, [frames.array_factor(values, str(index))])


def _array(X: Any) -> NDArray[Any]:
    if isinstance(X, np.ma.MaskedArray):
        return np.ma.filled(X.astype(np.float64), np.nan)
    array: NDArray[Any] = np.asarray(X)
    if array.dtype.kind in "US" and not hasattr(X, "dtype"):
        # Lists of rows that mix numbers and strings.
        return np.asarray(X, dtype=object)
    return array


def _of_numbers(name: str, values: NDArray[Any]) -> UserColumn:
    numbers = np.ascontiguousarray(values, dtype=np.float64)
    return UserColumn(name, numbers, None, [], int(np.isnan(numbers).sum()))


def _of_factors(name: str, factors: list[Factor]) -> UserColumn:
    """Join chunks of rows, each with its own values, into one list of distinct values."""
    place: dict[Any, int] = {}
    parts = []
    for factor in factors:
        # The last entry is for -1 and len(values).
        table = np.full(len(factor.values) + 1, -1, dtype=np.intp)
        used = np.zeros(len(factor.values) + 1, dtype=np.bool_)
        used[factor.codes] = True
        for code, value in enumerate(factor.values):
            if used[code] and not is_missing(value):
                table[code] = place.setdefault(value, len(place))
        parts.append(table[factor.codes])
    codes = np.concatenate(parts) if parts else np.zeros(0, dtype=np.intp)
    return UserColumn(name, None, codes, list(place), int((codes < 0).sum()))
