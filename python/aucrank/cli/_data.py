"""Data files: read by whichever of pandas and polars is installed, in one way for both.

Beyond this file nobody knows which of them it was: all work on a frame goes through narwhals.
"""

import csv
import gzip
import warnings
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from io import BytesIO
from pathlib import Path
from typing import Any, Literal

import narwhals.stable.v2 as nw
import numpy as np
from numpy.typing import NDArray

from aucrank._files import write_atomically
from aucrank.cli._errors import DataError, UsageError, did_you_mean, readable
from aucrank.cli._text import plural

FileKind = Literal["csv", "parquet"]
Backend = Literal["pandas", "polars"]

# What both readers take for a missing value in a CSV file: pandas' own list.
MISSING = [
    *("", "#N/A", "#N/A N/A", "#NA", "-1.#IND", "-1.#QNAN", "-NaN", "-nan", "1.#IND", "1.#QNAN"),
    *("<NA>", "N/A", "NA", "NULL", "NaN", "None", "n/a", "nan", "null"),
]


@dataclass(frozen=True)
class Labelled:
    """Rows with a class each, as an estimator takes them."""

    X: nw.DataFrame[Any]
    y: NDArray[Any]
    weight: NDArray[np.float64] | None
    target: str
    positive: str
    negative: str

    @property
    def n_positive(self) -> int:
        """Number of rows of the positive class."""
        return int((self.y == np.unique(self.y)[-1]).sum())

    def say(self) -> str:
        """Which class is positive, and how common it is."""
        share = self.n_positive / len(self.y)
        return (
            f"positive is {self.target} = {self.positive} "
            f"({plural(self.n_positive, 'row')}, {share:.1%}), negative is {self.negative}"
        )


def file_kind(path: str | Path) -> FileKind:
    """Tell by the end of the name whether a file is "csv" or "parquet"."""
    name = str(path).lower()
    if name.endswith((".csv", ".csv.gz")):
        return "csv"
    if name.endswith((".parquet", ".pq")):
        return "parquet"
    raise UsageError(
        f"cannot tell what {path} holds: its name must end in .csv, .csv.gz or .parquet"
    )


def backend_for(kind: FileKind) -> Backend:
    """Find the installed package that reads and writes files of this kind."""
    has_pandas, has_polars = _installed("pandas"), _installed("polars")
    if has_pandas and (kind == "csv" or _installed("pyarrow")):
        return "pandas"
    if has_polars:
        return "polars"
    if has_pandas:
        raise DataError("pandas needs pyarrow for Parquet: pip install pyarrow (or polars)")
    raise DataError(
        "data files are read with pandas or polars, and neither is installed: "
        "pip install pandas pyarrow, or pip install polars"
    )


def _installed(package: str) -> bool:
    return find_spec(package) is not None


def read_data(path: str, *, text: Collection[str] = ()) -> nw.DataFrame[Any]:
    """Read a file; columns of a CSV file are numbers, or text as it stands in the file.

    Parameters
    ----------
    path : str
        A CSV file (also gzipped) or a Parquet file, told apart by name.
    text : collection of str
        Columns of a CSV file to take as text even where they look like numbers.
    """
    kind = file_kind(path)
    file = str(readable(path))
    backend = backend_for(kind)
    try:
        if kind == "parquet":
            frame = nw.read_parquet(file, backend=backend)
            # The row labels of a pandas frame: pandas takes them back, others see a column.
            frame = frame.drop(
                [name for name in frame.columns if name.startswith("__index_level_")]
            )
        else:
            header = _csv_header(file)
            as_text = set(text) & set(header)
            frame = _read_csv(file, backend, as_text)
            # True/False in one file and True/False/nothing in the next must give the same
            # categories, so what is no number is read again letter by letter.
            guessed = {
                name
                for name, dtype in frame.schema.items()
                if not dtype.is_numeric() and dtype != nw.String
            }
            if guessed:
                frame = _read_csv(file, backend, as_text | guessed)
    except DataError:
        raise
    except Exception as error:  # each reader has a family of its own
        reason = str(error).strip().split("\n")[0] or type(error).__name__
        raise DataError(f"cannot read {path} as {_FORMAT[kind]}: {reason}") from error
    if not len(frame):
        raise DataError(f"{path} has no rows")
    return frame.with_columns(
        nw.col(name).cast(nw.Float64)
        for name, dtype in frame.schema.items()
        if dtype == nw.String and frame[name].null_count() == len(frame)
    )


_FORMAT = {"csv": "CSV", "parquet": "Parquet"}


def _csv_header(file: str) -> list[str]:
    opened = gzip.open if file.lower().endswith(".gz") else open
    with opened(file, "rt", encoding="utf-8-sig", newline="") as lines:
        header = next(csv.reader(lines), [])
    if not header:
        raise DataError(f"cannot read {file} as CSV: its first line has no column names")
    for name in header:
        if header.count(name) > 1:
            raise DataError(f"cannot read {file}: two of its columns are called {name!r}")
    return header


def _read_csv(file: str, backend: Backend, text: Collection[str]) -> nw.DataFrame[Any]:
    if backend == "polars":
        import polars

        return nw.read_csv(
            file,
            backend=backend,
            null_values=MISSING,
            infer_schema_length=None,
            schema_overrides=dict.fromkeys(text, polars.String),
        )
    import pandas

    # Every digit counts: a value next to a threshold must fall on the side that it fell on in
    # training. From 3.1 on pandas reads exactly by itself, and objects to being asked.
    version = tuple(map(int, pandas.__version__.split(".")[:2]))
    exact = {"float_precision": "round_trip"} if version < (3, 1) else {}
    with warnings.catch_warnings():
        # Rows longer than the header: pandas would cut them off.
        warnings.filterwarnings("error", message="Length of header or names")
        return nw.read_csv(
            file,
            backend=backend,
            keep_default_na=False,
            na_values=MISSING,
            dtype=dict.fromkeys(text, str),
            index_col=False,
            low_memory=False,
            **exact,
        )


def as_categories(frame: nw.DataFrame[Any], columns: Collection[str] = ()) -> nw.DataFrame[Any]:
    """Make `columns`, and all columns of text, categorical."""
    return frame.with_columns(
        _text_series(frame[name]).cast(nw.Categorical)
        for name, dtype in frame.schema.items()
        if dtype == nw.String or (name in columns and dtype not in (nw.Categorical, nw.Enum))
    )


def present_values(series: nw.Series[Any]) -> list[Any]:
    """List the distinct values of a column, but the missing one."""
    # NaN is the one value that differs from itself.
    return [value for value in series.unique().to_list() if value is not None and value == value]


def text_of(value: Any) -> str:
    """Text of a value; a whole number is written without a point, whatever its type."""
    if isinstance(value, float | np.floating) and float(value).is_integer():
        return str(int(value))
    return str(value)


def _text_series(series: nw.Series[Any]) -> nw.Series[Any]:
    """Turn a column into text, missing where it was."""
    if series.dtype == nw.String:
        return series
    texts = {value: text_of(value) for value in present_values(series)}
    return nw.new_series(
        series.name,
        [texts.get(value) for value in series.to_list()],
        nw.String,
        backend=series.implementation,
    )


def need_column(frame: nw.DataFrame[Any], name: str, path: str, role: str) -> None:
    """Raise unless the column is there."""
    if name not in frame.columns:
        raise DataError(
            f"{path} has no column {name!r} ({role}){did_you_mean(name, frame.columns)}"
        )


def classes_of(target: nw.Series[Any], path: str) -> list[Any]:
    """Both values of the target, in rising order."""
    missing = int(_missing(target).sum())
    if missing:
        raise DataError(
            f"target column {target.name!r} is missing in {missing:,} of "
            f"{plural(len(target), 'row')} of {path}; remove these rows first"
        )
    values = sorted(target.unique().to_list())
    if len(values) != 2:
        shown = ", ".join(map(text_of, values[:5])) + (", …" if len(values) > 5 else "")
        raise DataError(
            f"target column {target.name!r} of {path} has {plural(len(values), 'distinct value')} "
            f"({shown}); only binary classification is supported, so it must have two"
        )
    return values


def _missing(series: nw.Series[Any]) -> nw.Series[Any]:
    missing = series.is_null()
    return missing | series.is_nan() if series.dtype.is_float() else missing


def pick_class(text: str, values: Sequence[Any], column: str) -> Any:
    """Find the one of `values` that reads `text`."""
    for value in values:
        if text in (text_of(value), str(value)):
            return value
    known = " and ".join(map(text_of, values))
    raise DataError(f"--positive {text}: target column {column!r} has the values {known}")


def read_labelled(
    path: str,
    *,
    target: str,
    positive: str | None = None,
    weight: str | None = None,
    drop: Sequence[str] = (),
    categorical: Sequence[str] = (),
) -> Labelled:
    """Read a file to learn from.

    The positive class is the greater value of the target, or the one that `positive` names. Where
    that is the lesser value, the labels become "!= V" and "= V": sorted as every estimator sorts
    them, the positive one is last again, and the fitted model still knows what it ranks first.
    """
    frame = read_data(path, text=categorical)
    roles = [(target, "--target"), *((name, "--drop") for name in drop)]
    roles += [(weight, "--weight")] if weight is not None else []
    for name, role in [*roles, *((name, "--categorical") for name in categorical)]:
        need_column(frame, name, path, role)
    taken = [name for name, _ in roles]
    for name in taken:
        if taken.count(name) > 1 and name in (target, weight):
            raise UsageError(f"column {name!r} is given two uses")

    values = classes_of(frame[target], path)
    first = values[1] if positive is None else pick_class(positive, values, target)
    other = values[0] if first == values[1] else values[1]
    labels = np.array(
        [other, first] if first == values[1] else [f"!= {text_of(first)}", f"= {text_of(first)}"]
    )
    y = labels[(frame[target] == first).to_numpy().astype(np.intp)]

    X = frame.drop(list(dict.fromkeys(taken)))
    if not X.columns:
        raise DataError(f"{path} has no column left to learn from")
    X = as_categories(X, categorical)
    for name, dtype in X.schema.items():
        if not (dtype.is_numeric() or dtype in (nw.Boolean, nw.Categorical, nw.Enum)):
            raise DataError(
                f"column {name!r} of {path} has dtype {dtype}, which is neither numeric nor text: "
                f"leave it out with --drop {name}, or take it as --categorical"
            )
    return Labelled(
        X=X,
        y=y,
        weight=None if weight is None else _numbers(frame[weight], path),
        target=target,
        positive=text_of(first),
        negative=text_of(other),
    )


def _numbers(series: nw.Series[Any], path: str) -> NDArray[np.float64]:
    if not series.dtype.is_numeric():
        raise DataError(f"weight column {series.name!r} of {path} does not hold numbers")
    return np.asarray(series.cast(nw.Float64).to_numpy(), dtype=np.float64)


def count_kinds(X: nw.DataFrame[Any]) -> str:
    """Count the features by kind, in words."""
    n_categorical = len(categorical_columns(X))
    n_numeric = len(X.columns) - n_categorical
    return (
        f"{plural(len(X.columns), 'feature')} "
        f"({n_numeric:,} numeric, {n_categorical:,} categorical)"
    )


def categorical_columns(X: nw.DataFrame[Any]) -> list[str]:
    """Names of the categorical columns."""
    return [name for name, dtype in X.schema.items() if dtype in (nw.Categorical, nw.Enum)]


def write_scores(columns: dict[str, NDArray[np.float64]], out: Path | None) -> None:
    """Write columns to a CSV or Parquet file, or as CSV to the standard output stream."""
    kind: FileKind = "csv" if out is None else file_kind(out)
    frame = nw.from_dict(columns, backend=backend_for(kind))
    if out is None:
        print(frame.write_csv(), end="")
        return
    if kind == "parquet":
        content = BytesIO()
        frame.write_parquet(content)
        data = content.getvalue()
    else:
        data = frame.write_csv().encode("utf-8")
        if out.suffix.lower() == ".gz":
            # The same scores are the same bytes at any time.
            data = gzip.compress(data, mtime=0)
    write_atomically(out, data)
