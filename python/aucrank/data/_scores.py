"""Scores of raw rows that are read in passes, for ranking and for counting."""

import tempfile
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from aucrank import _core
from aucrank._data.data_files import PathLike

#: What determines the unit of all weights, None if every row counts once.
WeightUnit = tuple[_core.WeightRange, int] | None

#: Bytes of scores that are kept in memory.
_IN_MEMORY = 256 * 10**6


class Scores(Protocol):
    """Function that scores rows; it can be sent to a worker."""

    def __call__(self, columns: list[NDArray[Any]], n_threads: int) -> NDArray[np.float64]:
        """Score rows, given in the form of the core."""

    def to_sql(self, dialect: str) -> str:
        """Return the score of a row as an expression over its columns."""


def spilling_state(folder: PathLike | None) -> _core.RocState:
    """Return a state without rows, which takes 256 MB of memory and keeps the rest in files."""
    return _core.RocState(None, None, folder or tempfile.gettempdir(), _IN_MEMORY)


def in_units(weights: NDArray[np.float64] | None, unit: WeightUnit) -> NDArray[np.float64] | None:
    """Return weights as integers in the common unit."""
    if unit is None or weights is None:
        return None
    largest, relative = unit
    return largest.units(relative, weights)


def unit_of_weights(
    read: Callable[[], Iterable[NDArray[np.float64] | None]],
) -> tuple[_core.WeightRange, int]:
    """Return what determines the unit of weights, which a function reads batch by batch."""
    found, n_rows = _core.WeightRange(), 0
    for weights in _known(read()):
        found = found.with_part(weights, n_rows)
        n_rows += len(weights)
    if found.are_counts():
        return found, 0
    return found, sum(found.relative_sum(weights) for weights in _known(read()))


def _known(batches: Iterable[NDArray[np.float64] | None]) -> Iterator[NDArray[np.float64]]:
    for weights in batches:
        assert weights is not None
        yield weights
