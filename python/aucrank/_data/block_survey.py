"""Columns of groups and of times of rows that are read in batches."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from aucrank._data.column_lookup import given_names
from aucrank._data.frames import is_all_missing
from aucrank._data.passes import Batch
from aucrank._data.row_blocks import (
    RowBlocks,
    first_missing,
    group_numbers,
    latest_of_groups,
    time_numbers,
    times_of_groups,
)
from aucrank._data.vectors import vector

#: Groups whose latest times are kept, 16 bytes each.
MOST_GROUPS = 1 << 24

#: Number of rows whose groups are sorted at a time.
_ROWS_AT_ONCE = 1 << 20


@dataclass(frozen=True, slots=True)
class BlockFacts:
    """How the rows of a data set are dealt into blocks.

    Attributes
    ----------
    groups : str or None
        Column that names the group of each row.
    time : str or None
        Column of numbers or dates.
    known : ndarray of uint64, or None
        Numbers of all groups, ascending, where both columns exist.
    latest : ndarray of uint64, or None
        Time of the latest row of each of these groups.
    """

    groups: str | None
    time: str | None
    known: NDArray[np.uint64] | None = None
    latest: NDArray[np.uint64] | None = None

    @property
    def columns(self) -> list[str]:
        """Names of the columns."""
        return [name for name in (self.groups, self.time) if name is not None]

    def of_batch(self, batch: Batch) -> tuple[NDArray[np.uint64], bool]:
        """Return the blocks of the rows of a batch, and whether they are times.

        Raises
        ------
        TypeError, ValueError
            If a value is missing, or a time is neither a number nor a date.
        """
        if self.groups is None:
            assert self.time is not None
            return _times(batch, self.time), True
        groups = _groups(batch, self.groups)
        if self.time is None:
            return groups, False
        assert self.known is not None
        assert self.latest is not None
        return times_of_groups(groups, self.known, self.latest), True


class BlockSurvey:
    """Collects groups and times, batch by batch.

    Parameters
    ----------
    groups : str or None
        Column that names the group of each row.
    time : str or None
        Column of numbers or dates.
    """

    def __init__(self, groups: str | None, time: str | None) -> None:
        self._groups = groups
        self._time = time
        self._kind: tuple[str, str] | None = None
        self._known = np.zeros(0, dtype=np.uint64)
        self._latest = np.zeros(0, dtype=np.uint64)
        self._found: list[tuple[NDArray[np.uint64], NDArray[np.uint64]]] = []

    @property
    def columns(self) -> list[str]:
        """Names of the columns."""
        return given_names(self._groups, self._time)

    def look_at(self, batch: Batch, kept: NDArray[np.bool_] | None) -> None:
        """Record the groups and times of a batch.

        Parameters
        ----------
        batch : Batch
            The batch.
        kept : ndarray of bool, shape (n_rows,), or None
            Which rows have positive weight; None where all have.

        Raises
        ------
        TypeError, ValueError
            If a value is missing, or a time is neither a number nor a date, or not of the kind of
            the others.
        """
        if self._time is not None:
            values = _values(batch, self._time)
            kind = "dates" if _are_dates(values) else "numbers"
            self._check_kind(kind, batch.origin)
        if self._groups is None or self._time is None:
            return
        groups, times = _groups(batch, self._groups), _times(batch, self._time)
        self._found.append((groups, times) if kept is None else (groups[kept], times[kept]))
        if sum(len(found) for found, _ in self._found) > max(_ROWS_AT_ONCE, len(self._known)):
            self._settle()

    def merge(self, other: BlockSurvey) -> None:
        """Add the groups and times of another part of the data."""
        if other._kind is not None:
            self._check_kind(*other._kind)
        self._found += [(other._known, other._latest), *other._found]
        self._settle()

    def finish(self) -> BlockFacts | None:
        """Return the facts once all rows are recorded; None where rows have no blocks."""
        if self._groups is None or self._time is None:
            return BlockFacts(self._groups, self._time) if self.columns else None
        self._settle()
        return BlockFacts(self._groups, self._time, self._known, self._latest)

    def _check_kind(self, kind: str, origin: str) -> None:
        """Raise if times are of another kind than those before."""
        if self._kind is None:
            self._kind = kind, origin
        if self._kind[0] != kind:
            raise TypeError(
                f"time column {self._time!r} holds {self._kind[0]} in {self._kind[1]} and"
                f" {kind} in {origin}"
            )

    def _settle(self) -> None:
        """Keep one time of each group."""
        groups = np.concatenate([self._known, *(found for found, _ in self._found)])
        times = np.concatenate([self._latest, *(found for _, found in self._found)])
        self._found = []
        self._known, self._latest = latest_of_groups(groups, times)
        if len(self._known) > MOST_GROUPS:
            raise ValueError(
                f"groups and time are both given, and column {self._groups!r} has more than"
                f" {MOST_GROUPS:,} groups, whose latest times are to be known: compute that time in"
                " a column of its own, and give it as time without groups"
            )


def blocks_of(parts: Sequence[tuple[NDArray[np.uint64], bool] | None]) -> RowBlocks | None:
    """Return the blocks of the rows of some parts, in their order."""
    found = [part for part in parts if part is not None]
    if not found:
        return None
    return RowBlocks(np.concatenate([of_row for of_row, _ in found]), found[0][1])


def _values(batch: Batch, name: str) -> NDArray[Any]:
    series = batch.frame[name]
    if is_all_missing(series):
        return np.full(len(series), np.nan)
    return vector(series.to_native(), name)


def _times(batch: Batch, name: str) -> NDArray[np.uint64]:
    return _numbers_of(batch, name, "time", time_numbers)


def _groups(batch: Batch, name: str) -> NDArray[np.uint64]:
    return _numbers_of(batch, name, "groups", group_numbers)


def _numbers_of(batch: Batch, name: str, role: str, numbers: Any) -> NDArray[np.uint64]:
    values = _values(batch, name)
    if (row := first_missing(values)) is not None:
        raise ValueError(f"{role} column {name!r} is missing in {batch.place(row)}")
    with batch.named_in_errors():
        found: NDArray[np.uint64] = numbers(values)
    return found


def _are_dates(values: NDArray[Any]) -> bool:
    if values.dtype.kind == "O":
        return bool(len(values)) and hasattr(values[0], "year")
    return values.dtype.kind in "mM"
