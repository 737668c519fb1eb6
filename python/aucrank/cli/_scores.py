"""Columns of a data file that are scores of its rows, by models that are not here."""

import argparse
from collections.abc import Collection
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
from numpy.typing import NDArray

from aucrank._data.reading import Reading
from aucrank._report.given import read_given
from aucrank._report.subjects import MOST_SUBJECTS, GivenScores, Target
from aucrank._utils.plain_text import shown
from aucrank._utils.words import listed
from aucrank.cli._csv import csv_options
from aucrank.cli._data import (
    Frames,
    WholeFile,
    are_missing,
    marks_everywhere,
    need_column,
    text_of,
)
from aucrank.cli._errors import DataError, UsageError
from aucrank.cli._options import PROBABILITY, SCORE
from aucrank.cli._parts import named_parts, need_parts, target_of_rows, text_of_parts
from aucrank.cli._progress import Say
from aucrank.cli._stream import open_rows, stream_errors
from aucrank.cli._target import ranked_first, value_counts

# Bytes per row for intervals with groups and figures of parts, with sorted copies; and for each
# column that is kept.
_BYTES_OF_ROW, _BYTES_OF_VALUE = 60, 60

# Rows with a fault that are named.
_SHOWN_ROWS = 5


def named_scores(args: argparse.Namespace) -> dict[str, str]:
    """Return the option that names each column of scores."""
    return dict.fromkeys(args.score, SCORE) | dict.fromkeys(args.probability, PROBABILITY)


def check_scores(args: argparse.Namespace, models: Collection[str] = ()) -> None:
    """Raise if columns of scores are too many, or have the name of a model."""
    names = [*args.score, *args.probability]
    n_subjects = len(names) + len(models)
    if n_subjects > MOST_SUBJECTS:
        what = "models" if not names else "models and scores" if models else "scores"
        raise UsageError(f"there is room for 1 to {MOST_SUBJECTS} {what}, got {n_subjects}")
    if not models and args.target is None:
        raise UsageError("name the column that holds the classes with --target")
    both = next((name for name in names if name in models), None)
    if both is not None:
        raise UsageError(f"a model and a column of scores are called {both!r}: rename one")


def read_scores(
    args: argparse.Namespace, say: Say, earlier: WholeFile | None = None
) -> tuple[dict[str, GivenScores], Target, str, WholeFile]:
    """Read columns of scores, with the labels of the rows and all columns that options name.

    Parameters
    ----------
    args : argparse.Namespace
        Arguments of a command.
    say : callable
        Shows a line while batches are read.
    earlier : WholeFile, default=None
        Other rows, with the same columns of scores, to compare with.

    Returns
    -------
    given : dict of str to GivenScores
        The scores by column.
    target : Target
        Labels, weights, groups, times and subgroups.
    said : str
        Text of the positive value.
    file : WholeFile
        The columns; all of them where the rows are not read in batches.
    """
    rows = open_rows(
        args.data,
        args.target,
        csv_options(args),
        text=text_of_parts(args),
        memory=getattr(args, "memory", None),
        say=say,
    )
    with stream_errors(f"cannot read {args.data}"):
        counts = value_counts(rows, args.target, args.data)
        first = ranked_first(counts, args.target, args.positive, args.data)
        file = _in_memory(rows, counts.total(), args)
    positive = (file.frame[args.target] == first).to_numpy().astype(np.bool_)
    given = scores_in(file, args, earlier)
    said = text_of(first)
    return given, target_of_rows(positive, said, file.frame, file.reading, args), said, file


def need_room(n_rows: int, n_columns: int, args: argparse.Namespace) -> None:
    """Raise if ``--memory`` has no room for columns of all rows, which figures of parts need."""
    n_bytes = (_BYTES_OF_ROW + _BYTES_OF_VALUE * n_columns) * n_rows
    if n_columns and args.memory is not None and n_bytes > args.memory:
        options = [*named_parts(args), *dict.fromkeys(named_scores(args).values())]
        keep = "keeps" if len(options) == 1 else "keep"
        raise UsageError(
            f"{listed(options)} {keep} the score of each row and its value of each column, which"
            f" takes {n_bytes / 1e9:.2g} GB, and --memory says {args.memory / 1e9:.2g} GB"
        )


def _in_memory(rows: Frames, n_rows: int, args: argparse.Namespace) -> WholeFile:
    """Return the rows, with all columns that options name."""
    if isinstance(rows, WholeFile):
        return rows
    names = rows.names
    need_parts(names, args)
    columns = [args.target, *named_scores(args)]
    roles = [name for of_option in named_parts(args).values() for name in of_option]
    columns += [*roles, *([] if args.weight is None else [args.weight])]
    for name, option in named_scores(args).items():
        need_column(names, name, args.data, option)
    columns = list(dict.fromkeys(columns))
    need_room(n_rows, len(columns), args)
    frames = list(rows.frames(columns))
    return WholeFile(nw.concat(frames), rows.reading or Reading())


def scores_in(
    file: WholeFile, args: argparse.Namespace, earlier: WholeFile | None = None
) -> dict[str, GivenScores]:
    """Read the columns of scores of a file.

    Parameters
    ----------
    file : WholeFile
        The rows.
    args : argparse.Namespace
        Arguments of a command.
    earlier : WholeFile, default=None
        Other rows, with the same columns of scores, to compare with.

    Raises
    ------
    DataError
        If a column does not exist, or has values that are no scores or that are all the same; the
        error names the column, and the row.
    """
    names = named_scores(args)
    if not names:
        return {}
    scores = {name: _numbers(file, name, option, args.data) for name, option in names.items()}
    for name, option in names.items():
        if scores[name].min() == scores[name].max():
            raise DataError(
                f"{_column(name, option, args.data)} is {text_of(scores[name][0])} in"
                f" {'the only row' if len(scores[name]) == 1 else 'all rows'}: it ranks nothing"
            )
    then = None
    if earlier is not None:
        then = {name: _numbers(earlier, name, option, args.train) for name, option in names.items()}
    n_rows = len(file.frame)
    return read_given(scores, list(args.probability), then, n_rows)


def _column(name: str, option: str, path: str) -> str:
    what = "score" if option == SCORE else "probability"
    return f"{what} column {name!r} of {path}"


def _numbers(file: WholeFile, name: str, option: str, path: str) -> NDArray[np.float64]:
    """Read a column of finite numbers, which are from 0 to 1 if they are probabilities."""
    frame = file.frame
    need_column(frame.columns, name, path, option)
    column, called = frame[name], _column(name, option, path)
    missing = are_missing(column)
    if missing.any():
        hint = marks_everywhere(file.reading)
        raise DataError(f"{called} is missing in {_rows(missing)}; remove them first{hint}")
    if file.reading.date_units.get(name) is not None or column.dtype.is_temporal():
        raise DataError(f"{called} holds dates, not numbers")
    if not column.dtype.is_numeric():
        raise DataError(f"{called} {_a_text(column)}")
    values = np.asarray(column.cast(nw.Float64).to_numpy(), dtype=np.float64)
    # Reading puts a number beyond all others in the place of infinity.
    form = file.reading.columns.get(name)
    ends = [end for end in (() if form is None else form.ends) if end is not None]
    infinite = np.isinf(values) | np.isin(values, ends)
    if infinite.any():
        raise DataError(f"{called} is infinite in {_rows(infinite)}")
    outside = (values < 0) | (values > 1)
    if option == PROBABILITY and outside.any():
        value = text_of(values[int(outside.argmax())])
        raise DataError(
            f"{called} is not from 0 to 1 in {_rows(outside)} ({value} in the first); if it is a"
            f" score, name it with {SCORE}"
        )
    return values


def _rows(at_fault: NDArray[np.bool_]) -> str:
    """Name the first rows with a fault, counted from 1 below the names of the columns."""
    found = (np.flatnonzero(at_fault) + 1).tolist()
    named = [f"{row:,}" for row in found[:_SHOWN_ROWS]]
    more = len(found) - len(named)
    which = listed([*named, f"{more:,} more"] if more else named)
    return f"{'row' if len(found) == 1 else 'rows'} {which} of {len(at_fault):,}"


def _a_text(column: nw.Series[Any]) -> str:
    """Say where a column holds the first value that is no number."""
    for row, value in enumerate(column.to_list()):
        try:
            is_number = not isinstance(value, bool) and np.isfinite(float(value))
        except (TypeError, ValueError):
            is_number = False
        if not is_number:
            return f"holds {shown(repr(value))} in row {row + 1:,}, which is no number"
    return "holds text, not numbers"
