"""Tables that are written batch by batch, as Parquet or CSV."""

import gzip
import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, BinaryIO, Protocol

from aucrank._data.data_files import PathLike
from aucrank._utils.extras import import_extra
from aucrank._utils.files import open_atomically


class _Writer(Protocol):
    def write_table(self, table: Any) -> None: ...


@contextmanager
def table_file(path: PathLike, schema: Any) -> Iterator[_Writer]:
    """Open a file for a table, which is written atomically.

    Parameters
    ----------
    path : path-like
        Its ending determines the format: .parquet or .pq, .csv, or .csv.gz.
    schema : pyarrow.Schema
        Names and types of the columns.

    Raises
    ------
    OSError
        If the file cannot be written; names ``path``.
    """
    name = os.fspath(path).lower()
    with open_atomically(path) as file:
        if is_parquet(path):
            writers = import_extra("pyarrow.parquet", "arrow", "write_scores").ParquetWriter
            with writers(file, schema) as writer:
                yield writer
            return
        writers = import_extra("pyarrow.csv", "arrow", "write_scores").CSVWriter
        with _perhaps_zipped(file, name) as out, writers(out, schema) as writer:
            yield writer


def is_parquet(path: PathLike) -> bool:
    """Return whether the ending of a file name says Parquet."""
    return not os.fspath(path).lower().endswith((".csv", ".csv.gz"))


def check_table_name(path: PathLike) -> None:
    """Check that the ending of a file name determines a format.

    Raises
    ------
    ValueError
        If it does not.
    """
    if not os.fspath(path).lower().endswith((".parquet", ".pq", ".csv", ".csv.gz")):
        raise ValueError(
            f"cannot tell how to write {os.fspath(path)}: its name must end in .parquet, .pq, .csv"
            " or .csv.gz"
        )


@contextmanager
def _perhaps_zipped(file: BinaryIO, name: str) -> Iterator[Any]:
    if not name.endswith(".gz"):
        yield file
        return
    # The same rows give the same bytes at any time and under any name.
    with gzip.GzipFile("", "wb", fileobj=file, mtime=0) as zipped:
        yield zipped
