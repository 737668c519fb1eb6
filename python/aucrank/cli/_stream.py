"""Data of a folder, of a pattern, or too large for memory, read in batches."""

import os
import tempfile
import warnings
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from time import perf_counter
from typing import Any

import narwhals.stable.v2 as nw

from aucrank._compare.progress import duration
from aucrank._data.clean import numbers_for_nothing
from aucrank._data.csv_form import CsvOptions
from aucrank._data.csv_parsers import with_series
from aucrank._data.csv_source import CSV, CsvSource
from aucrank._data.data_files import find_files, folder_values, is_pattern, why_unreadable
from aucrank._data.file_content import is_packed, opened
from aucrank._data.finite_source import FiniteSource
from aucrank._data.parquet_source import PARQUET, ParquetSource
from aucrank._data.passes import DataChangedError, Source, need_columns
from aucrank._data.reading import Fitted
from aucrank._data.sample import bytes_of_rows
from aucrank._data.wrapped_source import DatedSource, WrappedSource, with_folders
from aucrank.cli._csv import STDIN
from aucrank.cli._data import (
    Batches,
    Frames,
    WholeFile,
    kind_of,
    need_column,
    read_file,
    text_series,
    without_total,
)
from aucrank.cli._errors import DataError, plain_errors
from aucrank.cli._model import SavedModel, check_columns, check_numbers, text_columns
from aucrank.cli._progress import Say
from aucrank.cli._target import PlainLabels, with_plain_labels
from aucrank.data import Dataset

#: Rows per batch.
CHUNK_ROWS = 65_536

#: Memory of Python with its packages and buffers, measured.
_BYTES_OF_PYTHON = 300_000_000

#: Text in a frame takes at least so many times its size.
_COPIES_OF_TEXT = 2

# Part of a CSV file whose values are counted.
_HEAD = 1 << 20

# Default memory, a share of which is for scores.
_MEMORY = 4 << 30

# The minimum for `RocState`.
_LEAST_FOR_SCORES = 1 << 20


def is_streamed(path: str, memory: int | None) -> bool:
    """Return whether data are to be read in batches.

    Parameters
    ----------
    path : str
        A file, a folder, a pattern, or "-".
    memory : int or None
        Bytes that the program may take; None for any number.
    """
    if path == STDIN:
        return False
    if os.path.isdir(path) or is_pattern(path):
        return True
    return memory is not None and os.path.isfile(path) and _takes_more(path, room_for_rows(memory))


def room_for_rows(memory: int) -> float:
    """Return the bytes that remain after Python and its packages, two thirds at least."""
    return max(memory - _BYTES_OF_PYTHON, 2 / 3 * memory)


def room_for_scores(memory: int | None) -> dict[str, Any]:
    """Return the options of a `RocState` for scores that are nearly all distinct.

    Parameters
    ----------
    memory : int or None
        Bytes that the program may take; None for any number.

    Returns
    -------
    dict
        The folder of temporary files, and the bytes beyond which scores are stored there.
    """
    share = (_MEMORY if memory is None else memory) // 4
    return {"spill_dir": tempfile.gettempdir(), "max_bytes": max(share, _LEAST_FOR_SCORES)}


def _takes_more(path: str, room: float) -> bool:
    """Return whether a file that is read at once takes more memory, with all of its columns."""
    kind = kind_of(path)
    if kind == "csv":
        with plain_errors(f"cannot read {path} as CSV"):
            return _text_takes_more(path, room)
    if kind == "xlsx":
        # It has at most a million rows.
        return False
    try:
        from pyarrow.parquet import read_metadata
    except ImportError:
        return _COPIES_OF_TEXT * os.path.getsize(path) > room
    with plain_errors(f"cannot read {path} as Parquet"):
        metadata = read_metadata(path)
        groups = (metadata.row_group(i) for i in range(metadata.num_row_groups))
        of_text = _COPIES_OF_TEXT * sum(int(group.total_byte_size) for group in groups)
        n_rows = metadata.num_rows
        return max(bytes_of_rows(n_rows, n_rows * metadata.num_columns), of_text) > room


def _text_takes_more(path: str, room: float) -> bool:
    """Return whether a CSV file takes more memory: its first lines tell how many values it has."""
    try:
        is_zipped = is_packed(path)
        with opened(path) as stream:
            head = stream.read(_HEAD)
            n_rows = head.count(b"\n") + 1
            n_values = n_rows + max(head.count(mark) for mark in (b",", b";", b"\t", b"|"))
            of_byte = max(bytes_of_rows(n_rows, n_values) / max(len(head), 1), _COPIES_OF_TEXT)
            n_read = len(head) if is_zipped else os.path.getsize(path)
            while is_zipped and of_byte * n_read <= room and (block := stream.read(_HEAD)):
                n_read += len(block)
            return of_byte * n_read > room
    except (OSError, EOFError, zlib.error) as error:
        raise DataError(f"cannot read {path} as CSV: {why_unreadable(path, error)}") from error


def open_source(
    path: str,
    options: CsvOptions,
    *,
    text: Sequence[str] = (),
    labels: str | None = None,
    fitted: Fitted | None = None,
) -> Source:
    """Open the files that a path refers to, all of one kind.

    Parameters
    ----------
    path : str
        A file, a folder, or a pattern.
    options : CsvOptions
        Known options of CSV files.
    text : sequence of str, default=()
        Columns of CSV files to read as text even if they look like numbers; those that do not exist
        are skipped.
    labels : str, default=None
        Column of labels, which is never read as dates.
    fitted : Fitted, default=None
        What a model knows of the files of its fit, if the rows are read for one.
    """
    with stream_errors(f"cannot read {path}"):
        files = find_files(path, (*PARQUET, *CSV))
        kinds = {kind_of(file) for file in files}
        if "xlsx" in kinds:
            raise DataError(f"{path} holds workbooks: save their sheets as CSV files")
        if len(kinds) > 1:
            raise DataError(f"{path} holds both CSV and Parquet files: name those of one kind")
        values = folder_values(path, files)
        folders = {name for of_file in values.values() for name in of_file}
        source: Source
        if kinds == {"parquet"}:
            missing = options.missing if fitted is None else fitted.completed(options).missing
            source = ParquetSource(files, CHUNK_ROWS)
            left = {*text, labels}
            finite = FiniteSource(source, left, missing, options.keeps_text, fitted)
            source = DatedSource(finite, left, missing, fitted)
        else:
            in_files = [name for name in text if name not in folders]
            source = CsvSource(files, CHUNK_ROWS, options, in_files, labels, fitted)
        need_columns(list(options.missing.in_columns), source.names, files[0])
        return with_folders(source, values, text)


class ProgressSource(WrappedSource):
    """The rows of a source, with reports on the progress of reading.

    Parameters
    ----------
    source : Source
        The wrapped source.
    say : callable
        Shows a line.
    """

    def __init__(self, source: Source, say: Callable[[str], None]) -> None:
        super().__init__(source)
        self._say = say

    def read(self, columns: Sequence[str]) -> Iterator[tuple[nw.DataFrame[Any], str]]:
        """Read some of the columns."""
        self._say("reading")
        n_done, start = 0, perf_counter()
        for frame, origin in self._source.read(columns):
            yield self._cleaned(frame), origin
            n_done += len(frame)
            self._say(f"{n_done:,} rows{self._left(n_done, perf_counter() - start)}")

    def _left(self, n_done: int, seconds: float) -> str:
        n_rows = self.count_rows()
        if n_rows is None or not n_done:
            return ""
        return f" of {n_rows:,}, {duration(seconds * (n_rows - n_done) / n_done)} left"

    def _cleaned(self, frame: nw.DataFrame[Any]) -> nw.DataFrame[Any]:
        return frame


class ModelSource(ProgressSource):
    """The rows of a source in the form of a model.

    Parameters
    ----------
    source : Source
        The wrapped source.
    say : callable
        Shows a line.
    model : SavedModel
        The model that scores them.
    """

    def __init__(self, source: Source, say: Callable[[str], None], model: SavedModel) -> None:
        super().__init__(source, say)
        self._model = model

    def _cleaned(self, frame: nw.DataFrame[Any]) -> nw.DataFrame[Any]:
        """Return columns of the model as if the file were read at once; leave others unchanged."""
        there = set(frame.columns)
        text = [name for name in text_columns(self._model) if name in there]
        own = [f.name for f in self._model.features if f.name in there]
        mine = frame.select(own)
        mine = numbers_for_nothing(mine.with_columns(text_series(mine[name]) for name in text))
        check_numbers(self._model, mine, self.description)
        return with_series(frame, (mine[name] for name in own))


def dataset_for(
    model: SavedModel,
    path: str,
    options: CsvOptions,
    say: Callable[[str], None],
    target: str | None = None,
    more_text: Sequence[str] = (),
) -> Dataset:
    """Open data whose columns a model scores; other columns can be read, too."""
    text = [*text_columns(model), *more_text]
    source = open_source(path, options, text=text, labels=target, fitted=model.fitted)
    if target is not None:
        need_column(source.names, target, path, "--target")
        source = PlainLabels(source, target)
    names = [name for name in source.names if name != target]
    check_columns(model, names, path)
    with stream_errors(f"cannot read {path}"):
        return Dataset(ModelSource(source, say, model), target=target)


def open_rows(
    path: str,
    target: str,
    options: CsvOptions,
    *,
    text: Sequence[str],
    memory: int | None,
    say: Say,
) -> Frames:
    """Open labelled rows, in memory or in batches; blanks around labels are left out.

    Parameters
    ----------
    path : str
        A file, a folder, a pattern, or "-".
    target : str
        Column of labels.
    options : CsvOptions
        Known options of CSV files.
    text : sequence of str
        Columns of CSV files to read as text even if they look like numbers.
    memory : int or None
        Bytes that the program may take; None for any number.
    say : callable
        Shows a line while batches are read.
    """
    if is_streamed(path, memory):
        source = open_source(path, options, text=text, labels=target)
        need_column(source.names, target, path, "--target")
        source = ProgressSource(PlainLabels(source, target), say)
        with stream_errors(f"cannot read {path}"):
            return Batches(Dataset(source, target=target))
    frame, reading = read_file(path, text=text, labels=target, options=options)
    need_column(frame.columns, target, path, "--target")
    frame = without_total(with_plain_labels(frame, target), target, path, options)
    return WholeFile(frame, reading)


@contextmanager
def stream_errors(doing: str) -> Iterator[None]:
    """Turn errors of a data set or an estimator into messages that say what was being done."""
    try:
        with plain_errors(doing), warnings.catch_warnings():
            # Columns of files have names, whatever the model was fitted to.
            warnings.filterwarnings("ignore", message="X has feature names")
            yield
    except FileNotFoundError as error:
        raise DataError(str(error)) from error
    except (DataChangedError, ImportError) as error:
        raise DataError(f"{doing}: {error}") from error
