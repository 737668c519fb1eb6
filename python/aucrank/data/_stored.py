"""Rows as codes, in memory or in a file, which a fit queries repeatedly."""

import secrets
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

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


#: Rows whose answers are not kept.
UnloggedRows = _core.StoredRows | RemoteRows

#: Rows that a fit of the core queries.
Rows = UnloggedRows | _core.LoggedRows


def stored_rows(dataset: "Dataset", facts: Facts, frame: bytes, n_threads: int) -> _core.StoredRows:
    """Read a data set, and code its rows.

    Parameters
    ----------
    dataset : Dataset
        The data set.
    facts : Facts
        Facts about it.
    frame : bytes
        Its bins, and other facts about all rows.
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
    return rows_of_batches(dataset.coded_batches(facts), facts, frame, path, n_threads)


def rows_of_batches(
    batches: Iterable[CodedBatch], facts: Facts, frame: bytes, path: Path | None, n_threads: int
) -> _core.StoredRows:
    """Code the rows of some batches, given their bins.

    Parameters
    ----------
    batches : iterable of tuple
        The rows, in the form of the core.
    facts : Facts
        Facts about them.
    frame : bytes
        Their bins, and other facts in the form of the core.
    path : Path or None
        File for the codes; None to have them in memory.
    n_threads : int
        At least 1.
    """
    rows = _core.StoredRows(frame, path)
    with errors_by_name(facts.schema):
        for batch in batches:
            rows.add(batch, n_threads)
    rows.finish()
    return rows


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
