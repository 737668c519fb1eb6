"""Which rows are dealt into folds together: those of a group, or of a time."""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from aucrank._data.frames import array_factor
from aucrank._data.schema import Factor, is_missing
from aucrank._data.vectors import vector

#: Odd constants of splitmix64.
STEP, _FIRST, _SECOND = 0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB


@dataclass(frozen=True, slots=True)
class RowBlocks:
    """The block of each row.

    Attributes
    ----------
    of_row : ndarray of uint64, shape (n,)
        A number that the rows of a block share: of groups a hash of what names the group, so that
        it does not depend on other rows; of times one that rises with the time.
    are_times : bool
        Whether blocks have an order.
    """

    of_row: NDArray[np.uint64]
    are_times: bool

    def take(self, rows: NDArray[np.intp]) -> RowBlocks:
        """Return those of some of the rows."""
        return RowBlocks(self.of_row[rows], self.are_times)

    @property
    def core(self) -> tuple[NDArray[np.uint64], bool]:
        """The blocks as the functions of the core take them."""
        return self.of_row, self.are_times


def read_blocks(groups: ArrayLike | None, time: ArrayLike | None, n_rows: int) -> RowBlocks | None:
    """Read what a fit deals rows by.

    With both, a group is where its latest row is.

    Parameters
    ----------
    groups : array-like of shape (n_rows,) or None
        What names the group of each row.
    time : array-like of shape (n_rows,) or None
        Numbers or dates.
    n_rows : int
        How many rows there are.

    Raises
    ------
    TypeError, ValueError
        If there are more or fewer than rows, one is missing, or a time is no number or date.
    """
    times = None if time is None else _ranks(read_times(time, n_rows))
    if groups is None:
        return None if times is None else RowBlocks(times, are_times=True)
    hashes = _hashes(_column(groups, "groups", n_rows))
    if times is None:
        return RowBlocks(hashes, are_times=False)
    _, place = np.unique(hashes, return_inverse=True)
    latest = np.zeros(int(place.max(initial=-1)) + 1, dtype=np.uint64)
    np.maximum.at(latest, place, times)
    return RowBlocks(latest[place], are_times=True)


def _column(values: ArrayLike, name: str, n_rows: int) -> NDArray[Any]:
    column = vector(values, name)
    if len(column) != n_rows:
        raise ValueError(f"{name} has {len(column)} entries, but there are {n_rows} rows")
    return column


def read_times(time: ArrayLike, n_rows: int) -> NDArray[Any]:
    """Return when each row came.

    Raises
    ------
    TypeError, ValueError
        If there are more or fewer than rows, one is missing, or one is no number or date.
    """
    column = _column(time, "time", n_rows)
    if column.dtype.kind not in "biufmM":
        known = [value for value in column.tolist() if not is_missing(value)]
        if column.dtype.kind != "O" or any(isinstance(value, str) for value in known):
            raise TypeError(
                f"time must hold numbers or dates, but holds {column.dtype}: read text as dates"
                " first, as pandas.to_datetime does"
            )
    if column.dtype.kind == "O":
        missing = np.fromiter(map(is_missing, column.tolist()), dtype=bool, count=len(column))
    else:
        missing = np.isnat(column) if column.dtype.kind in "mM" else np.isnan(column)
    if missing.any():
        raise ValueError(f"the time of row {int(missing.argmax())} is missing")
    return column


def _ranks(column: NDArray[Any]) -> NDArray[np.uint64]:
    """Return the place of each time among the distinct ones."""
    try:
        ranks = np.unique(column, return_inverse=True)[1]
    except TypeError as err:
        raise TypeError(f"time must hold numbers or dates of one kind: {err}") from None
    return ranks.astype(np.uint64)


def _hashes(column: NDArray[Any]) -> NDArray[np.uint64]:
    """Return a number for each row that depends on the name of its group alone."""
    if column.dtype.kind in "biu":
        return mixed(column.astype(np.uint64) + np.uint64(STEP))
    factor = factor_of_groups(column)
    of_values = [_hash_of(value) for value in factor.values]
    return np.asarray(np.array(of_values, dtype=np.uint64)[factor.codes])


def factor_of_groups(column: NDArray[Any]) -> Factor:
    """Return groups as codes into their names.

    Raises
    ------
    ValueError
        If one is missing.
    """
    factor = array_factor(column, "groups")
    if missing := [place for place, value in enumerate(factor.values) if is_missing(value)]:
        row = int(np.isin(factor.codes, missing).argmax())
        raise ValueError(f"the group of row {row} is missing")
    return factor


def _hash_of(value: Any) -> int:
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, int) and abs(value) < 1 << 63:
        return int(mixed(np.array([value], dtype=np.int64).astype(np.uint64) + np.uint64(STEP))[0])
    text = f"{type(value).__name__} {value!r}".encode()
    return int.from_bytes(blake2b(text, digest_size=8).digest(), "little")


def mixed(bits: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Return numbers whose bits all depend on all bits of others: the end of splitmix64."""
    bits = (bits ^ (bits >> np.uint64(30))) * np.uint64(_FIRST)
    bits = (bits ^ (bits >> np.uint64(27))) * np.uint64(_SECOND)
    return np.asarray(bits ^ (bits >> np.uint64(31)))
