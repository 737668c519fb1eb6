"""Data files, read by whichever of pandas and polars is installed, in one way for both.

No other module depends on which of them it was: all work on a frame goes through narwhals.
"""

import gzip
import os
import sys
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from importlib import import_module
from importlib.util import find_spec
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import narwhals.stable.v2 as nw
import numpy as np
from numpy.typing import NDArray

from aucrank._data.clean import numbers_for_nothing
from aucrank._data.column_form import ColumnFormError
from aucrank._data.csv_form import DAMAGED, CsvOptions
from aucrank._data.csv_parsers import Backend
from aucrank._data.csv_source import CsvSource
from aucrank._data.csv_text import cell_text
from aucrank._data.data_files import UnreadableError, why_unreadable
from aucrank._data.file_content import content_of_file, is_zip
from aucrank._data.finite_source import FiniteSource
from aucrank._data.frame_source import FrameSource
from aucrank._data.number_text import read_number
from aucrank._data.passes import DataChangedError, all_rows, as_written, of_written
from aucrank._data.reading import Fitted, Reading
from aucrank._data.wrapped_source import DatedSource
from aucrank._utils.files import write_atomically
from aucrank._utils.plain_text import shown
from aucrank._utils.warn import ReadingNote, warn_caller
from aucrank._utils.words import did_you_mean, for_shell, listed, plural
from aucrank.cli._csv import copy_of_pipe, is_copied
from aucrank.cli._errors import DataError, UsageError, plain_errors, readable
from aucrank.cli._text import write_document
from aucrank.cli._workbook import as_csv

if TYPE_CHECKING:
    # Few commands need it, and it is slow to import.
    from aucrank.data import Dataset

FileKind = Literal["csv", "parquet", "xlsx"]

# Minimal number of rows for which one may be their total, and the rounding of a sum.
_ROWS_OF_A_TOTAL, _ROUNDED = 5, 1e-6

_WORKBOOKS = (".xlsx", ".xlsm")

# Rows of a frame whose values are looked at together.
_CHUNK_ROWS = 65_536


@dataclass(frozen=True)
class WholeFile:
    """All rows of a file, and how they were read."""

    frame: nw.DataFrame[Any]
    reading: Reading

    @property
    def names(self) -> Sequence[str]:
        """Names of the columns."""
        return self.frame.columns

    def frames(self, columns: Sequence[str]) -> Iterator[nw.DataFrame[Any]]:
        """Yield some of the columns, a limited number of rows at a time."""
        frame = self.frame.select(columns)
        return (frame[i : i + _CHUNK_ROWS] for i in range(0, len(frame), _CHUNK_ROWS))


@dataclass(frozen=True)
class Batches:
    """Rows of a data set that does not fit in memory."""

    dataset: "Dataset"

    @property
    def names(self) -> Sequence[str]:
        """Names of the columns."""
        return self.dataset.passes.source.names

    @property
    def reading(self) -> Reading | None:
        """How they are read."""
        return self.dataset.reading

    def frames(self, columns: Sequence[str]) -> Iterator[nw.DataFrame[Any]]:
        """Yield some of the columns, batch by batch."""
        return (batch.frame for batch in self.dataset.passes.batches(columns))


Frames = WholeFile | Batches


def file_kind(path: str | Path) -> FileKind:
    """Return whether a file is "csv", "parquet" or "xlsx", by its ending."""
    name = str(path).lower()
    if name.removesuffix(".gz").endswith((".csv", ".tsv", ".txt", ".data")):
        return "csv"
    if name.endswith((".parquet", ".pq")):
        return "parquet"
    if name.endswith(_WORKBOOKS):
        return "xlsx"
    raise UsageError(
        f"cannot tell what {path} holds: its name must end in .csv, .tsv, .txt or .data, also with"
        " .gz, or in .parquet or .xlsx"
    )


def kind_of(path: str, *, is_named: bool = True) -> FileKind:
    """Return what a file to read holds, by its content; by its name if there is no such file.

    Notes where the name says something else, unless it is not the user's.
    """
    if not os.path.isfile(path):
        return file_kind(path)
    with plain_errors(f"cannot read {path}"):
        if is_zip(path) and path.lower().endswith(_WORKBOOKS):
            # A damaged one may show none of its parts.
            return "xlsx"
        try:
            content = content_of_file(path)
        except (*DAMAGED, OSError):
            # Reported where it is read.
            return file_kind(path)
    kind: FileKind = "csv" if content == "text" else content
    try:
        named: FileKind | None = file_kind(path)
    except UsageError:
        named = None
    if (named, kind) == ("parquet", "csv"):
        # A damaged one; nobody saves a text under this name.
        return "parquet"
    if is_named and named != kind:
        note = f"{path} is read as {_FORMAT[kind]}, which it holds"
        warn_caller(ReadingNote(note, _FORMAT[kind]))
    return kind


def backend_for(kind: FileKind) -> Backend:
    """Find the installed package that reads and writes files of this kind."""
    has_pandas, has_polars = _installed("pandas"), _installed("polars")
    if has_pandas and (kind != "parquet" or _installed("pyarrow")):
        return "pandas"
    if has_polars:
        return "polars"
    if has_pandas:
        raise DataError("Parquet files need pyarrow: run `pip install 'aucrank[arrow]'`")
    raise DataError(
        "data files are read with pandas or polars, and neither is installed: pip install pandas"
    )


def _installed(package: str) -> bool:
    return find_spec(package) is not None


def read_file(
    path: str,
    *,
    text: Collection[str] = (),
    labels: str | None = None,
    options: CsvOptions | None = None,
    fitted: Fitted | None = None,
    written: Sequence[str] = (),
) -> tuple[nw.DataFrame[Any], Reading]:
    """Read a file; columns of a CSV file are numbers, or text as in the file.

    Prints notes on unusual features of the file, and how they are read.

    Parameters
    ----------
    path : str
        A CSV file (also gzipped), a Parquet file or a workbook, distinguished by name; "-" for the
        standard input stream.
    text : collection of str
        Columns of a CSV file to read as text even if they look like numbers.
    labels : str, default=None
        Column of labels, which is never read as dates.
    options : CsvOptions, default=None
        Known options of CSV files.
    fitted : Fitted, default=None
        What a model knows of the files of its fit, if the rows are read for one.
    written : sequence of str, default=()
        Columns to return as they are written, too, under the names of `as_written`.

    Returns
    -------
    frame : narwhals.DataFrame
        All rows.
    reading : Reading
        How they were read.
    """
    options = CsvOptions() if options is None else options
    file = copy_of_pipe(path) if is_copied(path) else path
    kind = kind_of(file, is_named=file == path)
    file = str(readable(file))
    backend = backend_for(kind)

    def read_csv(csv: str, known: CsvOptions) -> tuple[nw.DataFrame[Any] | None, Reading]:
        rows = ((csv,), sys.maxsize, known, text, labels, fitted)
        source = CsvSource(*rows, backend=backend, called=path, kind=_FORMAT[kind])
        for name in written:
            need_column(source.names, name, path, "--id")
        return all_rows(source, list(map(as_written, written))), source.reading

    try:
        if kind == "csv":
            frame, reading = read_csv(file, options)
        elif kind == "xlsx":
            with as_csv(file, options, fitted, path, labels) as (sheet, known):
                frame, reading = read_csv(sheet, known)
            reading = replace(reading, separator=None, encoding=None)
        else:
            missing = options.missing if fitted is None else fitted.completed(options).missing
            rows = FrameSource(_parquet(file, path, backend), sys.maxsize)
            rows.description = path
            left = {*text, labels}
            finite = FiniteSource(rows, left, missing, options.keeps_text, fitted)
            dated = DatedSource(finite, left, missing, fitted)
            for name in written:
                need_column(dated.names, name, path, "--id")
            frame, reading = all_rows(dated), dated.reading
            if frame is not None and written:
                frame = frame.with_columns(*_written_in_parquet(file, written, backend))
    except (ColumnFormError, DataChangedError, UnreadableError) as error:
        raise DataError(str(error)) from error
    if frame is None:
        raise DataError(f"{path} has no rows")
    for name in options.missing.in_columns:
        need_column(frame.columns, name, path, "--missing-in")
    return numbers_for_nothing(frame), reading


def _parquet(file: str, path: str, backend: Backend) -> nw.DataFrame[Any]:
    try:
        frame = nw.read_parquet(file, backend=backend)
    except Exception as error:  # each library has its own family of errors
        raise UnreadableError(path, _FORMAT["parquet"], why_unreadable(file, error)) from error
    if backend == "pandas":
        # The index of a pandas frame: pandas restores it, others see a column.
        native = frame.to_native()
        named = [name for name in native.index.names if name is not None]
        stored = set(_arrow().read_schema(file).names)
        frame = nw.from_native(native.reset_index([name for name in named if name in stored]))
    return frame.drop([name for name in frame.columns if name.startswith("__index_level_")])


def _written_in_parquet(
    file: str, names: Sequence[str], backend: Backend
) -> Iterator[nw.Series[Any]]:
    """Return columns with the values of the file: pandas makes floats of integers with gaps."""
    if backend == "pandas":
        import pandas

        table = _arrow().read_table(file, columns=list(names))
        frame = nw.from_native(
            table.to_pandas(types_mapper=pandas.ArrowDtype, ignore_metadata=True), eager_only=True
        )
    else:
        frame = nw.read_parquet(file, backend=backend).select(list(names))
    return (frame[name].alias(as_written(name)) for name in names)


def _arrow() -> Any:
    return import_module("pyarrow.parquet")


_FORMAT = {"csv": "CSV", "parquet": "Parquet", "xlsx": "a workbook"}


def as_categories(frame: nw.DataFrame[Any], columns: Collection[str] = ()) -> nw.DataFrame[Any]:
    """Make `columns`, and all columns of text, categorical.

    `columns` get a type that lists their categories, which an estimator accepts without warning.
    """
    return frame.with_columns(
        _declared(frame[name]) if name in columns else frame[name].cast(nw.Categorical)
        for name, dtype in frame.schema.items()
        if dtype == nw.String or name in columns
    )


def _declared(series: nw.Series[Any]) -> nw.Series[Any]:
    if series.dtype == nw.Enum:
        return series
    texts = text_series(series)
    return texts.cast(nw.Enum(sorted(present_values(texts))))


def present_values(series: nw.Series[Any]) -> list[Any]:
    """List the distinct values of a column, except the missing one."""
    # NaN is the one value that differs from itself.
    return [value for value in series.unique().to_list() if value is not None and value == value]


def text_of(value: Any) -> str:
    """Return the text of a value; an integer has no decimal point, whatever its type."""
    if isinstance(value, float | np.floating) and float(value).is_integer():
        return str(int(value))
    return str(value)


def text_series(series: nw.Series[Any]) -> nw.Series[Any]:
    """Turn a column into text, keeping missing values."""
    if series.dtype == nw.String:
        return series
    texts = {value: text_of(value) for value in present_values(series)}
    return nw.new_series(
        series.name,
        [texts.get(value) for value in series.to_list()],
        nw.String,
        backend=series.implementation,
    )


def need_column(columns: Sequence[str], name: str, path: str, role: str) -> None:
    """Raise unless the column exists."""
    if name not in columns:
        hint = did_you_mean(name, columns)
        if any(read_number(column, ".") for column in columns):
            hint += "; if its first line is a row, say --no-header"
        raise DataError(f"{path} has no column {name!r} ({role}){hint}")


def marks_everywhere(reading: Reading | None) -> str:
    """Return the hint that marks of missing values hold in every column; "" without any."""
    marks = () if reading is None else reading.missing.everywhere
    if not marks:
        return ""
    named = shown(for_shell("--missing", *marks))
    in_one = shown(for_shell("--missing-in", f"COL={marks[0]}"))
    return f"; {named} is of every column, {in_one} of one"


def n_missing(series: nw.Series[Any]) -> int:
    """Count the missing values of a column."""
    return int(are_missing(series).sum())


def are_missing(series: nw.Series[Any]) -> NDArray[np.bool_]:
    """Return which values of a column are missing."""
    missing = series.is_null()
    found = (missing | series.is_nan() if series.dtype.is_float() else missing).to_numpy()
    return np.asarray(found, dtype=np.bool_)


def without_total(
    frame: nw.DataFrame[Any], target: str, path: str, options: CsvOptions
) -> nw.DataFrame[Any]:
    """Return the frame without a last row that has no label, and sums of the rows above.

    It is noted, and an option keeps it.
    """
    if options.skip_footer is not None or len(frame) < _ROWS_OF_A_TOTAL:
        return frame
    missing = are_missing(frame[target])
    if not missing[-1] or missing[:-1].any():
        return frame
    sums: list[str] = []
    n_others = 0
    for name, dtype in frame.schema.items():
        if name == target or not dtype.is_numeric():
            continue
        values = np.asarray(frame[name].cast(nw.Float64).to_numpy(), dtype=np.float64)
        last, total = float(values[-1]), float(np.nansum(values[:-1]))
        if not np.isfinite(last):
            continue
        is_sum = last != 0 and abs(last - total) <= _ROUNDED * abs(total)
        sums += [name] if is_sum else []
        n_others += not is_sum
    # Means and counts may stand there, too.
    if len(sums) < max(n_others, 1):
        return frame
    note = (
        f"the last row of {path} has no {shown(target)} and the sums of"
        f" {listed(list(map(shown, sums[:3])))}: it is a total, and left out (see --skip-footer)"
    )
    warn_caller(ReadingNote(note, "a total left out"))
    frame = frame.head(len(frame) - 1)
    labels = frame[target]
    if labels.dtype.is_float() and bool((labels % 1 == 0).all()):
        # Integers with a gap are floats.
        frame = frame.with_columns(labels.cast(nw.Int64))
    return frame


def times_of(series: nw.Series[Any], path: str) -> NDArray[Any]:
    """Read a column of times."""
    if not (series.dtype.is_numeric() or series.dtype.is_temporal()):
        raise DataError(f"time column {series.name!r} of {path} does not hold numbers or dates")
    return series.to_numpy()


def weights_of(series: nw.Series[Any], path: str) -> NDArray[np.float64]:
    """Read a column of weights."""
    if not series.dtype.is_numeric():
        raise DataError(f"weight column {series.name!r} of {path} does not hold numbers")
    return np.asarray(series.cast(nw.Float64).to_numpy(), dtype=np.float64)


def count_kinds(X: nw.DataFrame[Any]) -> str:
    """Return the number of features of each kind, in words."""
    n_categorical = len(categorical_columns(X))
    n_numeric = len(X.columns) - n_categorical
    return (
        f"{plural(len(X.columns), 'feature')} "
        f"({n_numeric:,} numeric, {n_categorical:,} categorical)"
    )


def categorical_columns(X: nw.DataFrame[Any]) -> list[str]:
    """Return the names of the categorical columns."""
    return [name for name, dtype in X.schema.items() if dtype in (nw.Categorical, nw.Enum)]


def ids_as_written(series: nw.Series[Any], kind: FileKind) -> Any:
    """Return ids as their file has them: in a CSV file as texts, in a Parquet file of their type.

    Parameters
    ----------
    series : narwhals.Series
        A column that `as_written` names.
    kind : {"csv", "parquet"}
        Format to which they are written.
    """
    if kind == "parquet":
        return series.alias(of_written(series.name) or series.name)
    rows = zip((series.is_null()).to_list(), series.to_list(), strict=True)
    # NaN is the one value that differs from itself.
    return [None if gone or value != value else cell_text(value) for gone, value in rows]


def write_scores(columns: dict[str, Any], out: Path | None, *, with_names: bool = True) -> None:
    """Write columns to a CSV or Parquet file, or as CSV to the standard output stream."""
    kind: FileKind = "csv" if out is None else file_kind(out)
    typed = [values for values in columns.values() if isinstance(values, nw.Series)]
    plain = {name: values for name, values in columns.items() if not isinstance(values, nw.Series)}
    frame = nw.from_dict(plain, backend=backend_for(kind))
    # Of several columns, `from_dict` makes floats of integers with gaps.
    frame = frame.with_columns(*typed).select(list(columns))
    if out is None:
        names = "" if with_names else frame.head(0).write_csv()
        write_document(frame.write_csv().removeprefix(names))
        return
    if kind == "parquet":
        content = BytesIO()
        frame.write_parquet(content)
        data = content.getvalue()
    else:
        data = frame.write_csv().encode("utf-8")
        if out.suffix.lower() == ".gz":
            # The same scores give the same bytes at any time.
            data = gzip.compress(data, mtime=0)
    write_atomically(out, data)
