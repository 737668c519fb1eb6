"""Parquet files, read in batches of a bounded number of rows."""

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from math import isfinite
from typing import Any

import narwhals.stable.v2 as nw

from aucrank._data.data_files import Stamps, describe, read_errors
from aucrank._data.passes import Head, TypedSource, check_column_names, need_columns
from aucrank._utils.extras import import_extra

#: Ends of the names of Parquet files.
PARQUET = (".parquet", ".pq")

# Bytes of a column that are read at a time. A row group may be as large as the file, and without
# this all of its columns would be in memory at once.
_READ_AT_ONCE = 1 << 18

# Columns in which pandas stores row labels; pandas does not read them as columns.
_LABELS_OF_ROWS = "__index_level_"


class ParquetSource(TypedSource):
    """Rows of Parquet files, one file after another.

    Parameters
    ----------
    files : tuple of str
        At least one.
    chunk_rows : int
        Maximal number of rows per batch.
    """

    def __init__(self, files: tuple[str, ...], chunk_rows: int) -> None:
        self._parquet = import_extra("pyarrow.parquet", "arrow", "Dataset.from_parquet")
        self._chunk_rows = chunk_rows
        self._stamps = Stamps(files)
        self.files = files
        self.description = describe(files)
        with self._opened(files[0]) as file:
            self.names = _names(file, files[0])

    def heads(self, columns: Sequence[str]) -> Iterator[Head]:
        """Return the dtypes of columns in each file."""
        for path in self.files:
            with self._opened(path) as file:
                names = _names(file, path)
                need_columns(columns, names, path)
                empty = file.schema_arrow.empty_table().select(list(columns))
                finite = _finite_columns(file, columns)
                yield Head(nw.from_native(empty, eager_only=True), path, names, finite)

    def count_rows(self) -> int:
        """Return the number of rows, from the footers of the files."""
        n_rows = 0
        for path in self.files:
            with self._opened(path) as file:
                n_rows += file.metadata.num_rows
        return n_rows

    def read(self, columns: Sequence[str]) -> Iterator[tuple[nw.DataFrame[Any], str]]:
        """Read some of the columns."""
        import pyarrow as pa

        for path in self.files:
            with self._opened(path) as file:
                need_columns(columns, _names(file, path), path)
                batches = file.iter_batches(self._chunk_rows, columns=list(columns))
                while True:
                    with self._read_errors(path):
                        batch = next(batches, None)
                    if batch is None:
                        break
                    # The order is that of the file.
                    table = pa.Table.from_batches([batch]).select(list(columns))
                    yield nw.from_native(table, eager_only=True), path

    def check_unchanged(self) -> None:
        """Raise `DataChangedError` if a file has changed since the first call."""
        self._stamps.check()

    @contextmanager
    def _opened(self, path: str) -> Iterator[Any]:
        with self._read_errors(path):
            file = self._parquet.ParquetFile(path, buffer_size=_READ_AT_ONCE, pre_buffer=False)
        with file:
            yield file

    def _read_errors(self, path: str) -> AbstractContextManager[None]:
        import pyarrow as pa

        return read_errors(path, "Parquet", self._stamps, errors=(pa.ArrowException,))


def _names(file: Any, path: str) -> list[str]:
    names = [name for name in file.schema_arrow.names if not name.startswith(_LABELS_OF_ROWS)]
    return check_column_names(names, path)


def _finite_columns(file: Any, columns: Sequence[str]) -> frozenset[str]:
    """Return the columns of floats whose statistics in the file show that they are finite."""
    groups = [file.metadata.row_group(k) for k in range(file.metadata.num_row_groups)]
    places = {file.schema.column(k).path: k for k in range(len(file.schema))}
    return frozenset(
        name
        for name in columns
        if name in places
        and file.schema.column(places[name]).physical_type in ("FLOAT", "DOUBLE")
        and all(_is_finite(group.column(places[name]).statistics) for group in groups)
    )


def _is_finite(statistics: Any) -> bool:
    has_ends = statistics is not None and statistics.has_min_max
    return has_ends and isfinite(statistics.min) and isfinite(statistics.max)
