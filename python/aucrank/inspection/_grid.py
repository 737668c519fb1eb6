"""Rows on a grid over two columns of the data, the other columns held at one value each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from numbers import Real
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
from numpy.typing import NDArray

from aucrank._data import frames
from aucrank._data.as_frame import as_frame
from aucrank._data.column_lookup import IN_A_LIST, find_column
from aucrank._data.schema import column_label, is_missing
from aucrank._utils.params import check_int

#: A column by its position or by its name.
Column = int | str


@dataclass(frozen=True, eq=False)
class Grid:
    """Rows on a grid.

    Attributes
    ----------
    rows : ndarray or data frame of shape (resolution**2, n_features)
        The centres of the cells, the first column varying fastest; of the type of X.
    edges : tuple of two ndarrays, each of shape (resolution + 1,)
        Edges of the cells of each column, from its smallest to its largest value.
    names : tuple of two str
        Of the two columns.
    points : ndarray of shape (n, 2)
        Values of the rows of X in the two columns.
    """

    rows: Any
    edges: tuple[NDArray[np.float64], NDArray[np.float64]]
    names: tuple[str, str]
    points: NDArray[np.float64]


def make_grid(
    X: Any, features: Any, resolution: int, at: int | Mapping[Column, Any] | None
) -> Grid:
    """Lay a grid over two columns of X.

    Raises
    ------
    TypeError, ValueError
        If a column does not exist, is not numeric, or has no value.
    """
    table = _open(X)
    across, up = _two_columns(features, table)
    held = _held(at, table)
    values = [table.numbers(index) for index in (across, up)]
    edges = [
        _edges(column, table.label(index), resolution)
        for column, index in zip(values, (across, up), strict=True)
    ]
    centres = [(edge[:-1] + edge[1:]) / 2 for edge in edges]
    laid = {
        across: np.tile(centres[0], resolution),
        up: np.repeat(centres[1], resolution),
    }
    names = [table.names[index] if table.names else f"x{index}" for index in (across, up)]
    return Grid(
        table.with_columns(laid, held, resolution**2),
        (edges[0], edges[1]),
        (names[0], names[1]),
        np.column_stack(values),
    )


def _edges(values: NDArray[np.float64], label: str, resolution: int) -> NDArray[np.float64]:
    known = values[np.isfinite(values)]
    if not known.size:
        raise ValueError(f"column {label} has no finite value to draw a picture over")
    low, high = float(known.min()), float(known.max())
    if low == high:
        low, high = low - 0.5, high + 0.5
    return np.linspace(low, high, resolution + 1)


def _two_columns(features: Any, table: _ArrayRows | _FrameRows) -> tuple[int, int]:
    if isinstance(features, str) or not isinstance(features, Iterable):
        raise TypeError(f"features must be two columns of X, got {features!r}")
    listed = list(features)
    if len(listed) != 2:
        raise ValueError(f"features must be two columns of X, got {features!r}")
    if table.n_features < 2:
        raise ValueError(f"a level set needs two features, but X has {table.n_features}")
    first, second = (_position(feature, "features", table) for feature in listed)
    if first == second:
        raise ValueError(f"features must be two different columns of X, got {features!r}")
    return first, second


def _position(column: Any, parameter: str, table: _ArrayRows | _FrameRows) -> int:
    return find_column(column, table.names, table.n_features, IN_A_LIST, parameter)


def _held(at: Any, table: _ArrayRows | _FrameRows) -> int | dict[int, Any]:
    """Return the row of X to hold the other columns at, or values by column."""
    if at is None:
        return {}
    if isinstance(at, Mapping):
        return {_position(column, "at", table): value for column, value in at.items()}
    row = check_int(at, "at", low=0, high=table.n_rows - 1)
    assert row is not None
    return row


def _open(X: Any) -> _ArrayRows | _FrameRows:
    X = as_frame(X)
    frame = nw.from_native(X, pass_through=True)
    named = isinstance(frame, nw.DataFrame) and all(isinstance(c, str) for c in frame.columns)
    table = _FrameRows(frame) if named else _ArrayRows(np.asarray(X))
    if not table.n_rows:
        raise ValueError("X has no rows")
    return table


class _FrameRows:
    def __init__(self, frame: nw.DataFrame[Any]) -> None:
        self.frame = frame
        self.n_rows, self.n_features = frame.shape
        self.names: list[str] | None = list(frame.columns)

    def label(self, index: int) -> str:
        return column_label(self.frame.columns[index], index)

    def numbers(self, index: int) -> NDArray[np.float64]:
        series = self.frame[self.frame.columns[index]]
        if not series.dtype.is_numeric():
            raise ValueError(
                f"column {self.label(index)} has dtype {series.dtype}; level sets are drawn over"
                " numeric features"
            )
        return frames.to_numbers(series, self.label(index)).astype(np.float64, copy=False)

    def with_columns(
        self, laid: dict[int, NDArray[np.float64]], held: int | dict[int, Any], n: int
    ) -> Any:
        # Repeating a row preserves the dtype of a non-numeric column, categories included.
        row = held if isinstance(held, int) else 0
        columns = []
        for index, name in enumerate(self.frame.columns):
            series = self.frame[name]
            if index in laid:
                columns.append(self._floats(name, laid[index]))
            elif isinstance(held, int):
                continue
            elif series.dtype.is_numeric():
                value = _number_to_hold(held.get(index), self.numbers(index), self.label(index))
                columns.append(self._floats(name, np.full(n, value)))
            else:
                place = _row_to_hold(held.get(index), series.to_list(), self.label(index))
                columns.append(series[[place] * n])
        return self.frame[[row] * n].with_columns(*columns).to_native()

    def _floats(self, name: str, values: NDArray[np.float64]) -> nw.Series[Any]:
        backend = self.frame.implementation
        return nw.new_series(name, values, nw.Float64, backend=backend)


class _ArrayRows:
    names: list[str] | None = None

    def __init__(self, X: NDArray[Any]) -> None:
        if X.ndim != 2:
            raise ValueError(f"X must have two dimensions, got shape {X.shape}")
        self.X = X
        self.n_rows, self.n_features = X.shape

    def label(self, index: int) -> str:
        return str(index)

    def numbers(self, index: int) -> NDArray[np.float64]:
        numbers = self._numbers(index)
        if numbers is None:
            raise ValueError(
                f"column {index} does not hold numbers; level sets are drawn over numeric features"
            )
        return numbers

    def with_columns(
        self, laid: dict[int, NDArray[np.float64]], held: int | dict[int, Any], n: int
    ) -> NDArray[Any]:
        numeric = self.X.dtype.kind in "biuf"
        rows = np.empty((n, self.n_features), dtype=np.float64 if numeric else object)
        for index in range(self.n_features):
            if index in laid:
                rows[:, index] = laid[index]
            elif isinstance(held, int):
                rows[:, index] = self.X[held, index]
            elif (numbers := self._numbers(index)) is not None:
                rows[:, index] = _number_to_hold(held.get(index), numbers, str(index))
            else:
                values = self.X[:, index].tolist()
                rows[:, index] = values[_row_to_hold(held.get(index), values, str(index))]
        return rows

    def _numbers(self, index: int) -> NDArray[np.float64] | None:
        """Return a column as floats, or None if it does not hold numbers."""
        column = self.X[:, index]
        if column.dtype.kind in "biuf":
            return column.astype(np.float64)
        known = [value for value in column.tolist() if not is_missing(value)]
        if not all(isinstance(value, Real) for value in known):
            return None
        return np.array([np.nan if is_missing(v) else float(v) for v in column.tolist()])


def _number_to_hold(value: Any, numbers: NDArray[np.float64], label: str) -> float:
    """Return the requested value, or the median of the known ones; NaN if there are none."""
    if value is None:
        known = numbers[~np.isnan(numbers)]
        return float(np.median(known)) if known.size else float("nan")
    if not isinstance(value, Real):
        raise TypeError(f"at must hold a number for column {label}, got {value!r}")
    return float(value)


def _row_to_hold(value: Any, values: list[Any], label: str) -> int:
    """Return a row with the requested value, or the most frequent one, the first among equals."""
    if value is None:
        known = Counter(v for v in values if not is_missing(v))
        return values.index(known.most_common(1)[0][0]) if known else 0
    if value not in values:
        raise ValueError(f"at holds {value!r} for column {label}, which no row of X has")
    return values.index(value)
