"""Data of a folder, of a pattern, or too large for memory: read a piece at a time."""

import argparse
import os
import tempfile
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from time import perf_counter
from typing import Any

import narwhals.stable.v2 as nw

from aucrank._compare.progress import duration
from aucrank._data.clean import dates_as_days, numbers_for_nothing, without_marks
from aucrank._data.csv_form import CsvOptions
from aucrank._data.csv_source import CSV, CsvSource
from aucrank._data.data_files import find_files, is_pattern
from aucrank._data.parquet_source import PARQUET, ParquetSource
from aucrank._data.passes import DataChangedError, Head, Source
from aucrank.cli._csv import STDIN
from aucrank.cli._data import (
    checked_values,
    file_kind,
    n_missing,
    need_column,
    no_two_classes,
    pick_class,
    present_values,
    text_series,
)
from aucrank.cli._errors import DataError, plain_errors
from aucrank.cli._model import SavedModel, check_columns, check_numbers, text_columns
from aucrank.data import Dataset

#: Rows of a piece.
CHUNK_ROWS = 65_536

# Memory of which a share is for scores, where it is not said.
_MEMORY = 4 << 30

# With less, `RocState` cannot work.
_LEAST_FOR_SCORES = 1 << 20

# A target of more values is one of numbers.
_MOST_VALUES = 10_000


def is_streamed(path: str, memory: int | None) -> bool:
    """Tell whether data are to be read a piece at a time.

    Parameters
    ----------
    path : str
        A file, a folder, a pattern, or "-".
    memory : int or None
        Bytes that a file may take, as it is without compression; None for any number.
    """
    if path == STDIN:
        return False
    if os.path.isdir(path) or is_pattern(path):
        return True
    return memory is not None and os.path.isfile(path) and _size(path) > memory


@contextmanager
def room_for_scores(memory: int | None) -> Iterator[dict[str, Any]]:
    """Give the options of a `RocState` of scores of which hardly two may be equal.

    Parameters
    ----------
    memory : int or None
        Bytes that the program may take; None for any number.

    Yields
    ------
    dict
        A folder, which is removed in the end, and the bytes beyond which scores go there.
    """
    with tempfile.TemporaryDirectory(prefix="aucrank-") as folder:
        share = (_MEMORY if memory is None else memory) // 4
        yield {"spill_dir": folder, "max_bytes": max(share, _LEAST_FOR_SCORES)}


def _size(path: str) -> int:
    """Return the bytes of a file; of Parquet, those of its columns without compression."""
    if file_kind(path) == "csv":
        return os.path.getsize(path)
    try:
        from pyarrow.parquet import read_metadata
    except ImportError:
        return os.path.getsize(path)
    with plain_errors(f"cannot read {path} as Parquet"):
        metadata = read_metadata(path)
        return sum(metadata.row_group(i).total_byte_size for i in range(metadata.num_row_groups))


def open_source(
    path: str, options: CsvOptions, *, text: Sequence[str] = (), labels: str | None = None
) -> Source:
    """Open the files that a path means, all of one kind.

    Parameters
    ----------
    path : str
        A file, a folder, or a pattern.
    options : CsvOptions
        What is known of how CSV files are written.
    text : sequence of str, default=()
        Columns of CSV files to take as text even where they look like numbers; those that are not
        there are passed over.
    labels : str, default=None
        Column of labels, in which a date is none.
    """
    with stream_errors(f"cannot read {path}"):
        files = find_files(path, (*PARQUET, *CSV))
        kinds = {file_kind(file) for file in files}
        if len(kinds) > 1:
            raise DataError(f"{path} holds both CSV and Parquet files: name those of one kind")
        if kinds == {"parquet"}:
            return ParquetSource(files, CHUNK_ROWS)
        return CsvSource(files, CHUNK_ROWS, options, text, labels)


class SpokenSource:
    """The rows of a source; says how far the reading is.

    Parameters
    ----------
    source : Source
        What is read.
    say : callable
        Takes a line to show.
    """

    def __init__(self, source: Source, say: Callable[[str], None]) -> None:
        self._source = source
        self._say = say
        self.description = source.description
        self.files = source.files
        self.names = source.names

    def heads(self, columns: Sequence[str]) -> Iterator[Head] | None:
        """Return the dtypes of columns as the files have them."""
        heads = self._source.heads(columns)
        return None if heads is None else iter(heads)

    def count_rows(self) -> int | None:
        """Return the number of rows, if it is known without reading them."""
        return self._source.count_rows()

    def read(self, columns: Sequence[str]) -> Iterator[tuple[nw.DataFrame[Any], str]]:
        """Read some of the columns."""
        self._say("reading")
        n_done, start = 0, perf_counter()
        for frame, origin in self._source.read(columns):
            yield self._cleaned(frame), origin
            n_done += len(frame)
            self._say(f"{n_done:,} rows{self._left(n_done, perf_counter() - start)}")

    def check_unchanged(self) -> None:
        """Raise `DataChangedError` if a file is not what it was when this was first called."""
        self._source.check_unchanged()

    def _left(self, n_done: int, seconds: float) -> str:
        n_rows = self.count_rows()
        if n_rows is None or not n_done:
            return ""
        return f" of {n_rows:,}, {duration(seconds * (n_rows - n_done) / n_done)} left"

    def _cleaned(self, frame: nw.DataFrame[Any]) -> nw.DataFrame[Any]:
        return frame


class ModelSource(SpokenSource):
    """The rows of a source as a model takes them.

    Parameters
    ----------
    source : Source
        What is read.
    say : callable
        Takes a line to show.
    model : SavedModel
        What its columns are for.
    missing : sequence of str
        Texts and numbers that stand for missing values, beside the usual ones.
    """

    def __init__(
        self,
        source: Source,
        say: Callable[[str], None],
        model: SavedModel,
        missing: Sequence[str],
    ) -> None:
        super().__init__(source, say)
        self._model = model
        self._missing = missing

    def _cleaned(self, frame: nw.DataFrame[Any]) -> nw.DataFrame[Any]:
        """Return columns of the model as a file read at once has them; leave the others alone."""
        text = [name for name in text_columns(self._model) if name in frame.columns]
        own = [f.name for f in self._model.features if f.name in frame.columns]
        mine, _ = dates_as_days(without_marks(frame.select(own), self._missing), text)
        mine = numbers_for_nothing(mine.with_columns(text_series(mine[name]) for name in text))
        check_numbers(self._model, mine, self.description)
        return frame.with_columns(mine[name] for name in own)


def dataset_for(
    model: SavedModel,
    path: str,
    options: CsvOptions,
    say: Callable[[str], None],
    target: str | None = None,
) -> Dataset:
    """Open data whose columns a model is to score; the others can be read, too."""
    source = open_source(path, options, text=text_columns(model), labels=target)
    if target is not None:
        need_column(source.names, target, path, "--target")
    names = [name for name in source.names if name != target]
    check_columns(model, names, path)
    with stream_errors(f"cannot read {path}"):
        return Dataset(ModelSource(source, say, model, options.missing), target=target)


def dataset_to_learn(
    args: argparse.Namespace, options: CsvOptions, say: Callable[[str], None]
) -> tuple[Dataset, Any]:
    """Open data to learn from.

    Parameters
    ----------
    args : argparse.Namespace
        Of `aucrank fit` or `aucrank compare`.
    options : CsvOptions
        What is known of how CSV files are written.
    say : callable
        Takes a line to show.

    Returns
    -------
    dataset : Dataset
        The rows.
    positive : object
        Value of the target that is positive.
    """
    path, target = args.data, args.target
    source = open_source(path, options, text=args.categorical, labels=target)
    beside = {"--target": [target], "--weight": [args.weight], "--id": [args.id]}
    for option, names in (
        beside | {"--drop": args.drop, "--categorical": args.categorical}
    ).items():
        for name in names:
            if name is not None:
                need_column(source.names, name, path, option)
    out = {target, args.weight, args.id, *args.drop}
    columns = [name for name in source.names if name not in out]
    spoken = SpokenSource(source, say)
    with stream_errors(f"cannot read {path}"):
        labelled = Dataset(spoken, target=target)
        values = values_in_pieces(labelled, target, path)
        last = values[-1] if args.positive is None else pick_class(args.positive, values, target)
        weight = args.weight
        return Dataset(spoken, target=target, positive=last, weight=weight, columns=columns), last


def values_in_pieces(dataset: Dataset, target: str, path: str) -> list[Any]:
    """List the values of the target, as far as they can be those of classes."""
    found: set[Any] = set()
    n_rows = missing = 0
    for batch in dataset.passes.batches([target]):
        values = batch.frame[target]
        n_rows += len(values)
        missing += n_missing(values)
        found.update(present_values(values))
        if len(found) > _MOST_VALUES:
            raise no_two_classes(target, sorted(found), path)
    return checked_values(list(found), missing, n_rows, target, path)


@contextmanager
def stream_errors(doing: str) -> Iterator[None]:
    """Say what a data set or an estimator objects to, after what was being done."""
    try:
        with plain_errors(doing), warnings.catch_warnings():
            # Columns of files have names, whatever the model was fitted to.
            warnings.filterwarnings("ignore", message="X has feature names")
            yield
    except FileNotFoundError as error:
        raise DataError(str(error)) from error
    except (DataChangedError, ImportError) as error:
        raise DataError(f"{doing}: {error}") from error
