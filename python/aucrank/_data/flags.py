"""Columns that hold 0 and 1 alone, whose rules name the value instead of a bound between them."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from aucrank._data.schema import Feature
from aucrank._data.sparse import SparseColumns

# Values that are looked at first: of most columns they decide.
_FIRST = 64
_AT_ONCE = 1 << 16


class FlagValues:
    """Whether the values of a column are 0 and 1 alone, both in some rows, missing ones aside.

    Attributes
    ----------
    may_be : bool
        Whether no other value was found.
    """

    def __init__(self) -> None:
        self.may_be = True
        self._has_zero = self._has_one = False

    @property
    def is_flag(self) -> bool:
        """Whether they are."""
        return self.may_be and self._has_zero and self._has_one

    def look_at(self, values: NDArray[Any], kept: NDArray[np.bool_] | None) -> None:
        """Record the values of the kept rows, up to the first other one."""
        start, end = 0, _FIRST
        while self.may_be and start < len(values):
            part = values[start:end] if kept is None else values[start:end][kept[start:end]]
            self.may_be = bool(_is_of_flag(part).all())
            self._has_zero |= bool((part == 0).any())
            self._has_one |= bool((part == 1).any())
            start, end = end, end + _AT_ONCE

    def merge(self, other: "FlagValues") -> None:
        """Add the values of other rows."""
        self.may_be &= other.may_be
        self._has_zero |= other._has_zero
        self._has_one |= other._has_one


def with_flags(
    features: Sequence[Feature],
    columns: NDArray[Any] | SparseColumns | Sequence[NDArray[Any]],
    kept: NDArray[np.bool_] | None,
) -> list[Feature]:
    """Mark the numbers that are 0 or 1 in all kept rows, and both in some, missing ones aside.

    Parameters
    ----------
    features : sequence of Feature
        The columns. Categories, dates, and those marked by their type are left alone.
    columns : ndarray of shape (n_rows, n_features), SparseColumns or sequence of ndarray
        Their values in the form of the core.
    kept : ndarray of bool, shape (n_rows,), or None
        Rows to look at; None for all.
    """
    may_be = [f.levels is None and f.counts is None and f.flag is None for f in features]
    if isinstance(columns, SparseColumns):
        if any(may_be):
            may_be = (np.array(may_be) & _sparse_flags(columns, kept)).tolist()
    elif isinstance(columns, np.ndarray):
        first = columns[:_FIRST] if kept is None else columns[:_FIRST][kept[:_FIRST]]
        may_be = [
            may and _is_flag(columns[:, place], kept)
            for place, may in enumerate(np.array(may_be) & _is_of_flag(first).all(axis=0))
        ]
    else:
        may_be = [
            may and _is_flag(column, kept) for may, column in zip(may_be, columns, strict=True)
        ]
    return [
        replace(feature, flag="number") if is_flag else feature
        for feature, is_flag in zip(features, may_be, strict=True)
    ]


def _is_of_flag(values: NDArray[Any]) -> NDArray[np.bool_]:
    """Return which values a flag may have: 0, 1 and missing."""
    may_be: NDArray[np.bool_] = (values == 0) | (values == 1) | np.isnan(values)
    return may_be


def _is_flag(values: NDArray[Any], kept: NDArray[np.bool_] | None) -> bool:
    found = FlagValues()
    found.look_at(values, kept)
    return found.is_flag


def _sparse_flags(columns: SparseColumns, kept: NDArray[np.bool_] | None) -> NDArray[np.bool_]:
    """Return which columns are flags, without a dense one."""
    place = np.repeat(np.arange(columns.n_features), np.diff(columns.starts))
    values, n_rows = columns.values, columns.n_rows
    if kept is not None:
        is_kept = kept[columns.rows]
        place, values, n_rows = place[is_kept], values[is_kept], int(kept.sum())
    of_column = [
        np.bincount(place[chosen], minlength=columns.n_features)
        for chosen in (~_is_of_flag(values), values == 1, values != 0)
    ]
    n_other, n_ones, n_not_zero = of_column
    flags: NDArray[np.bool_] = (n_other == 0) & (n_ones > 0) & (n_not_zero < n_rows)
    return flags
