"""Rows as codes, in memory or in a file, which a fit queries repeatedly."""

import json
import secrets
import tempfile
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from aucrank import _core
from aucrank._data.coded_rows import CodedBatch
from aucrank._data.facts import Facts
from aucrank._data.schema import errors_by_name

if TYPE_CHECKING:
    from aucrank.data._dataset import Dataset

#: Bytes of coded rows that are kept in memory.
_IN_MEMORY = 256 * 10**6

#: Bytes of a row in addition to its codes: its class and the hash of its content.
_WITHOUT_CODES = 9


class RemoteRows(Protocol):
    """Coded rows elsewhere, to which queries are passed on.

    Attributes
    ----------
    frame : bytes
        Facts about all rows, in the form of the core.
    """

    frame: bytes

    def round(self, ask: bytes) -> bytes:
        """Return the merged answer of all rows to a query of the core."""


#: Rows that a fit of the core queries.
Rows = _core.StoredRows | RemoteRows


def stored_rows(
    dataset: "Dataset", facts: Facts, binning: dict[str, Any], n_threads: int
) -> _core.StoredRows:
    """Read a data set twice, choose its bins and code its rows.

    Parameters
    ----------
    dataset : Dataset
        The data set.
    facts : Facts
        Facts about it.
    binning : dict
        Parameters of the bins, in the form of the core.
    n_threads : int
        At least 1.

    Returns
    -------
    _core.StoredRows
        The rows; large ones are in a file, which is deleted with them.
    """
    path: Path | None = None
    if bytes_of_codes(facts) > _IN_MEMORY:
        folder = dataset.spill_dir or tempfile.gettempdir()
        path = Path(folder) / f"aucrank-codes-{secrets.token_hex(8)}.tmp"
    unit, read = weight_unit(dataset, facts), partial(dataset.coded_batches, facts)
    return rows_of_batches(read, facts, binning, unit, path, n_threads)


def rows_of_batches(
    read: Callable[[], Iterable[CodedBatch]],
    facts: Facts,
    binning: dict[str, Any],
    unit: tuple[_core.WeightRange, int] | None,
    path: Path | None,
    n_threads: int,
) -> _core.StoredRows:
    """Choose the bins of rows that a function reads batch by batch, and code them.

    Parameters
    ----------
    read : callable
        Begins a pass: returns the batches, in the form of the core.
    facts : Facts
        Facts about them.
    binning : dict
        Parameters of the bins, in the form of the core.
    unit : tuple of WeightRange and int, or None
        What determines the unit of all weights, None if every row counts once.
    path : Path or None
        File for the codes; None to have them in memory.
    n_threads : int
        At least 1.
    """
    rows = _core.StoredRows(_surveyed(read, facts, binning, unit, n_threads), path)
    with errors_by_name(facts.schema):
        for batch in read():
            rows.add(batch, n_threads)
    rows.finish()
    return rows


def _surveyed(
    read: Callable[[], Iterable[CodedBatch]],
    facts: Facts,
    binning: dict[str, Any],
    unit: tuple[_core.WeightRange, int] | None,
    n_threads: int,
) -> bytes:
    """Read the rows, and choose their bins."""
    n_rows: int | None = facts.n_rows
    with errors_by_name(facts.schema):
        while True:
            survey = _core.Survey(facts.schema.n_levels, json.dumps(binning), unit, n_rows)
            for batch in read():
                survey.add(batch, n_threads)
            if survey.is_complete():
                return survey.frame()
            # Many rows are copies, or have weight zero.
            n_rows = None


def weight_unit(dataset: "Dataset", facts: Facts) -> tuple[_core.WeightRange, int] | None:
    """Return what determines the unit of all weights, None if every row counts once."""
    if facts.target.largest_weights is None:
        return None
    return unit_of_weights(lambda: dataset.weight_batches(facts))


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


def bytes_of_codes(facts: Facts) -> int:
    """Return the maximal number of bytes of all coded rows."""
    return facts.n_rows * _row_bytes(facts)


def bytes_of_values(facts: Facts) -> int:
    """Return the maximal number of bytes of all rows as they are before they are coded."""
    of_weight = 0 if facts.target.largest_weights is None else 8
    of_block = 0 if facts.blocks is None else 8
    return facts.n_rows * (1 + of_weight + of_block + 8 * len(facts.schema.features))


def _row_bytes(facts: Facts) -> int:
    """Return the maximal number of bytes of a coded row."""
    of_weight = 0 if facts.target.largest_weights is None else 8
    of_block = 0 if facts.blocks is None else 2
    # One byte for up to 256 codes; numbers have as many bins as requested, rarely more.
    codes = [1 if n is None or n < 256 else 2 if n < 65_536 else 4 for n in facts.schema.n_levels]
    return _WITHOUT_CODES + of_weight + of_block + sum(codes)
