"""Blocks of rows that are dealt into folds together: groups, or times."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from hashlib import blake2b
from math import inf
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from aucrank._data.frames import array_factor
from aucrank._data.schema import Factor, is_missing
from aucrank._data.vectors import vector
from aucrank._utils.numbers import SECONDS_A_DAY

_SIGN = np.int64(-(1 << 63))

#: Odd constants of splitmix64.
STEP, _FIRST, _SECOND = 0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB


@dataclass(frozen=True, slots=True)
class RowBlocks:
    """The block of each row.

    Attributes
    ----------
    of_row : ndarray of uint64, shape (n,)
        A number that the rows of a block share. For groups, a hash of the name of the group, so
        that it does not depend on other rows; for times, a number that increases with the time.
    are_times : bool
        Whether blocks are ordered.
    gap : float or None, default=None
        How far from held-out rows, and more, the times are of rows that a model learns from.
    """

    of_row: NDArray[np.uint64]
    are_times: bool
    gap: float | None = None

    def take(self, rows: NDArray[np.intp]) -> RowBlocks:
        """Return the blocks of some of the rows."""
        return RowBlocks(self.of_row[rows], self.are_times, self.gap)

    def apart_from(self, is_held_out: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Return which rows a model learns from if these are held out: those beyond the gap."""
        times = self.times
        if times is None or self.gap is None or not is_held_out.any():
            return ~is_held_out
        of_fold = times[is_held_out]
        found: NDArray[np.bool_] = (times < of_fold.min() - self.gap) | (
            times > of_fold.max() + self.gap
        )
        return found

    def check_gap(self, positive: NDArray[np.bool_]) -> None:
        """Raise ValueError if the gap leaves no rows of both classes to learn from."""
        if self.gap is not None and (positive.all() or not positive.any()):
            raise ValueError(
                "the gap leaves rows of one class, or none, to fit to where a range of time is held"
                " out: use a smaller one, or fewer folds"
            )

    @property
    def groups(self) -> NDArray[np.uint64] | None:
        """The number of the group of each row; None for times."""
        return None if self.are_times else self.of_row

    @property
    def times(self) -> NDArray[np.float64] | None:
        """The time of each row as a number, in seconds for dates; None for groups."""
        if not self.are_times:
            return None
        bits = self.of_row.view(np.int64)
        values: NDArray[np.float64] = np.where(bits < 0, bits ^ _SIGN, ~bits).view(np.float64)
        return values

    @property
    def core(self) -> tuple[NDArray[np.uint64], bool]:
        """The blocks in the form of the core."""
        return self.of_row, self.are_times


def read_blocks(
    groups: ArrayLike | None,
    time: ArrayLike | None,
    n_rows: int,
    kept: NDArray[np.bool_] | None = None,
    gap: Any = None,
) -> RowBlocks | None:
    """Read the groups and times by which a fit deals rows.

    With both, a group has the time of its latest row.

    Parameters
    ----------
    groups : array-like of shape (n_rows,) or None
        Name of the group of each row.
    time : array-like of shape (n_rows,) or None
        Numbers or dates.
    n_rows : int
        Number of rows.
    kept : ndarray of bool, shape (n_rows,), or None, default=None
        Which rows have positive weight; None where all have.
    gap : float, timedelta or None, default=None
        How far in time the rows that a model is fitted to are from held-out rows, and more.

    Raises
    ------
    TypeError, ValueError
        If the length differs from ``n_rows``, a value is missing, a time is neither a number nor a
        date, or there is no such gap between the times.
    """
    known = None if time is None else read_times(time, n_rows)
    distance = time_gap(gap, known)
    times = None if known is None else time_numbers(known)
    if groups is None:
        return None if times is None else RowBlocks(times, are_times=True, gap=distance)
    column = _column(groups, "groups", n_rows)
    if (row := first_missing(column)) is not None:
        raise ValueError(f"the group of row {row} is missing")
    numbers = group_numbers(column)
    if times is None:
        return RowBlocks(numbers, are_times=False)
    counted = slice(None) if kept is None else kept
    distinct, latest = latest_of_groups(numbers[counted], times[counted])
    times = times_of_groups(numbers, distinct, latest)
    return RowBlocks(times, are_times=True, gap=distance)


def latest_of_groups(
    groups: NDArray[np.uint64], times: NDArray[np.uint64]
) -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
    """Return the distinct groups, ascending, and the latest time of each."""
    known, place = np.unique(groups, return_inverse=True)
    latest = np.zeros(len(known), dtype=np.uint64)
    np.maximum.at(latest, place, times)
    return known, latest


def times_of_groups(
    groups: NDArray[np.uint64], known: NDArray[np.uint64], latest: NDArray[np.uint64]
) -> NDArray[np.uint64]:
    """Return the time of each row, the latest of its group.

    A group that is not known has only rows of weight zero, which no fit uses.
    """
    if not len(known):
        return np.zeros(len(groups), dtype=np.uint64)
    return latest[np.minimum(np.searchsorted(known, groups), len(known) - 1)]


def range_of_times(size: NDArray[np.intp], n_ranges: int) -> NDArray[np.intp]:
    """Return the range of each time, of ranges with about as many rows, the earliest first.

    Parameters
    ----------
    size : ndarray of int
        Number of rows of each time, in ascending order.
    n_ranges : int
        Number of ranges; some are empty where many rows have the same time.
    """
    middle = (np.cumsum(size) - size / 2) / size.sum()
    found: NDArray[np.intp] = np.minimum((middle * n_ranges).astype(np.intp), n_ranges - 1)
    return found


def _column(values: ArrayLike, name: str, n_rows: int) -> NDArray[Any]:
    column = vector(values, name)
    if len(column) != n_rows:
        raise ValueError(f"{name} has {len(column)} entries, but there are {n_rows} rows")
    return column


def read_times(time: ArrayLike, n_rows: int) -> NDArray[Any]:
    """Return the time of each row.

    Raises
    ------
    TypeError, ValueError
        If the length differs from ``n_rows``, or a value is missing or neither a number nor a date.
    """
    column = _column(time, "time", n_rows)
    if column.dtype.kind not in "biufmM":
        known = [value for value in column.tolist() if not is_missing(value)]
        if column.dtype.kind != "O" or any(isinstance(value, str) for value in known):
            raise TypeError(
                f"time must hold numbers or dates, but holds {column.dtype}: read text as dates"
                " first, as pandas.to_datetime does"
            )
    if (row := first_missing(column)) is not None:
        raise ValueError(f"the time of row {row} is missing")
    return column


def time_gap(gap: Any, column: NDArray[Any] | None) -> float | None:
    """Return a distance of times in the unit of `time_numbers`: seconds for dates.

    Parameters
    ----------
    gap : float, datetime.timedelta, numpy.timedelta64 or None
        The distance, 0 or more: a duration for times that are dates or durations themselves, else a
        number. None for none.
    column : ndarray or None
        All times, if there are any.

    Raises
    ------
    TypeError
        If it is not of the kind of the times.
    ValueError
        If it is negative or not finite, or there are no times.
    """
    if gap is None:
        return None
    if column is None:
        raise ValueError(f"gap={gap!r} is between ranges of time: pass time, too")
    is_duration = isinstance(gap, timedelta | np.timedelta64)
    are_dates = column.dtype.kind in "mM" or (
        column.dtype.kind == "O"
        and any(isinstance(value, date | timedelta) for value in column[:1].tolist())
    )
    if is_duration != are_dates:
        kinds = "dates, so gap must be a timedelta" if are_dates else "numbers, and so must be gap"
        raise TypeError(f"time holds {kinds}; got {gap!r}")
    if is_duration:
        found = float(_seconds(np.array([gap], dtype="m8[us]"))[0])
    elif isinstance(gap, Real) and not isinstance(gap, bool):
        found = float(gap)
    else:
        raise TypeError(f"gap must be a number or a timedelta, got {gap!r}")
    if not 0 <= found < inf:
        raise ValueError(f"gap must be 0 or more, and finite; got {gap!r}")
    return found


def first_missing(column: NDArray[Any]) -> int | None:
    """Return the first row without a value."""
    kind = column.dtype.kind
    if kind == "O":
        missing = np.fromiter(map(is_missing, column.tolist()), dtype=bool, count=len(column))
    elif kind in "mM":
        missing = np.isnat(column)
    elif kind == "f":
        missing = np.isnan(column)
    else:
        return None
    return int(missing.argmax()) if missing.any() else None


def time_numbers(column: NDArray[Any]) -> NDArray[np.uint64]:
    """Return numbers that increase with times, none of which is missing.

    They are the bits of float64, in seconds for dates: equal for equal times of any type.

    Raises
    ------
    TypeError
        If they are not numbers or dates of one kind.
    """
    values = _as_floats(column) + 0.0
    bits = values.view(np.int64)
    # For negative numbers, larger bits are smaller numbers.
    rising = np.where(bits < 0, ~bits, bits ^ _SIGN)
    return np.asarray(rising.view(np.uint64))


def _as_floats(column: NDArray[Any]) -> NDArray[np.float64]:
    kind = column.dtype.kind
    if kind in "biuf":
        return column.astype(np.float64)
    if kind in "mM":
        return _seconds(column)
    try:
        return np.array(_floats_of_objects(column.tolist()), dtype=np.float64)
    except (TypeError, ValueError, OverflowError) as err:
        raise TypeError(f"time must hold numbers or dates of one kind: {err}") from None


def _seconds(column: NDArray[Any]) -> NDArray[np.float64]:
    """Return dates and durations as seconds, the same in any unit."""
    unit, step = np.datetime_data(column.dtype)
    if unit in ("Y", "M"):
        column, (unit, step) = column.astype("M8[D]"), ("D", 1)
    counts = column.view(np.int64)
    per_second = {"ms": 10**3, "us": 10**6, "ns": 10**9}.get(unit)
    if per_second is None:
        if unit not in _SECONDS_OF:
            raise TypeError(f"time must hold numbers or dates, but holds {column.dtype}")
        return counts.astype(np.float64) * (_SECONDS_OF[unit] * step)
    whole, rest = np.divmod(counts * step, per_second)
    return whole.astype(np.float64) + rest / per_second


_SECONDS_OF = {"W": 7 * SECONDS_A_DAY, "D": SECONDS_A_DAY, "h": 3600, "m": 60, "s": 1}


def _floats_of_objects(values: list[Any]) -> list[float]:
    are_dates = {isinstance(value, date) for value in values}
    if are_dates != {True}:
        if any(isinstance(value, str) for value in values):
            raise TypeError("read text as dates first, as pandas.to_datetime does")
        if len(are_dates) > 1:
            raise TypeError("some are dates and some are numbers")
        return [
            _seconds_of(value) if isinstance(value, timedelta) else float(value) for value in values
        ]
    have_hours = {isinstance(value, datetime) for value in values}
    if len(have_hours) > 1:
        raise TypeError("some are days and some are moments")
    return [_seconds_since_1970(value) for value in values]


def _seconds_since_1970(value: date) -> float:
    if not isinstance(value, datetime):
        return float((value - date(1970, 1, 1)).days * SECONDS_A_DAY)
    zone = None if value.tzinfo is None else UTC
    return _seconds_of(value - type(value)(1970, 1, 1, tzinfo=zone))


def _seconds_of(passed: timedelta) -> float:
    nanoseconds = 1000 * passed.microseconds + getattr(passed, "nanoseconds", 0)
    return float(passed.days * SECONDS_A_DAY + passed.seconds) + nanoseconds / 10**9


def group_numbers(column: NDArray[Any]) -> NDArray[np.uint64]:
    """Return a number for each row that depends only on the name of its group."""
    if column.dtype.kind in "biu":
        return mixed(column.astype(np.uint64) + np.uint64(STEP))
    if column.dtype.kind in "mM":
        column = _seconds(column)
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
    if isinstance(value, date):
        value = _seconds_since_1970(value)
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, int) and abs(value) < 1 << 63:
        return int(mixed(np.array([value], dtype=np.int64).astype(np.uint64) + np.uint64(STEP))[0])
    text = f"{type(value).__name__} {value!r}".encode()
    return int.from_bytes(blake2b(text, digest_size=8).digest(), "little")


def mixed(bits: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Return numbers with the bits well mixed: the final step of splitmix64."""
    bits = (bits ^ (bits >> np.uint64(30))) * np.uint64(_FIRST)
    bits = (bits ^ (bits >> np.uint64(27))) * np.uint64(_SECOND)
    return np.asarray(bits ^ (bits >> np.uint64(31)))
