"""Columns of a data file with weights, groups, times and subgroups of its rows."""

import argparse
import re
from collections.abc import Sequence
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
from numpy.typing import NDArray

from aucrank._data.reading import Reading
from aucrank._data.weights import check_class_sums, check_weight
from aucrank._report.subjects import Target, with_parts
from aucrank._utils.numbers import SECONDS_A_DAY
from aucrank._utils.plain_text import shown
from aucrank._utils.words import listed
from aucrank.cli._data import n_missing, need_column, present_values, times_of, weights_of
from aucrank.cli._errors import DataError, UsageError, plain_errors
from aucrank.cli._model import SavedModel

# A number as it is written without leading zeros.
_NUMBER = re.compile(r"-?(0|[1-9][0-9]*)([.][0-9]+)?")


def named_parts(args: argparse.Namespace) -> dict[str, list[str]]:
    """Return the columns given by these options, by option."""
    single = {"--group": args.group, "--time": args.time}
    named = {option: [name] for option, name in single.items() if name is not None}
    return named | ({"--by": list(args.by)} if args.by else {})


def need_parts(columns: Sequence[str], args: argparse.Namespace) -> None:
    """Raise if a column given by these options, or that of weights, does not exist."""
    weight = {} if args.weight is None else {"--weight": [args.weight]}
    for option, names in (weight | named_parts(args)).items():
        for name in names:
            need_column(columns, name, args.data, option)


def check_parts(args: argparse.Namespace) -> None:
    """Raise for columns with conflicting uses.

    A group or a time may also be a subgroup.
    """
    single = (args.weight, args.group, args.time)
    taken = [args.target, *(name for name in single if name is not None)]
    taken += [*args.score, *args.probability]
    twice = next((name for name in taken if taken.count(name) > 1), None)
    if twice is None and args.target in args.by:
        twice = args.target
    for option, names in (("--score", args.score), ("--probability", args.probability)):
        if twice is not None and names.count(twice) > 1:
            raise UsageError(f"{option} names {twice!r} twice")
    if twice is not None:
        raise UsageError(f"column {twice!r} is given two uses")
    named = next((name for name in args.by if args.by.count(name) > 1), None)
    if named is not None:
        raise UsageError(f"--by names {named!r} twice")


def text_of_parts(args: argparse.Namespace, model: SavedModel | None = None) -> list[str]:
    """Return the columns to read as text: a group 007 differs from 7.

    Columns that are scores, or numeric in a model, stay numbers.
    """
    numbers = {*args.score, *args.probability}
    if model is not None:
        numbers |= {feature.name for feature in model.features if feature.levels is None}
    named = [*args.by, *([] if args.group is None else [args.group])]
    return [name for name in named if name not in numbers and name != args.time]


def say_features(args: argparse.Namespace, models: Sequence[SavedModel]) -> list[str]:
    """Print which of the columns are also features of a model, and are not left out."""
    said = []
    for option, names in named_parts(args).items():
        for name in names:
            users = [model.path for model in models if name in {f.name for f in model.features}]
            if users:
                said.append(f"{shown(name)} ({option}) stays a feature of {listed(users)}")
    return said


def weights_in(frame: nw.DataFrame[Any], args: argparse.Namespace) -> NDArray[np.float64] | None:
    """Return the weight of each row; None without a column of weights."""
    if args.weight is None:
        return None
    with plain_errors(f"weight column {args.weight!r} of {args.data}"):
        return check_weight(weights_of(frame[args.weight], args.data), len(frame))


def target_of_rows(
    positive: NDArray[np.bool_],
    said: str,
    frame: nw.DataFrame[Any],
    reading: Reading,
    args: argparse.Namespace,
) -> Target:
    """Return the labels of rows with their weights, groups, times and subgroups.

    Parameters
    ----------
    positive : ndarray of bool, shape (n_rows,)
        Which rows are positive.
    said : str
        Text of the positive value.
    frame : narwhals.DataFrame
        The columns.
    reading : Reading
        How they were read.
    args : argparse.Namespace
        Arguments of a command.
    """
    labels = (f"{args.target} other than {said}", f"{args.target} = {said}")
    need_parts(frame.columns, args)
    weight = weights_in(frame, args)
    with plain_errors(f"weight column {args.weight!r} of {args.data}"):
        check_class_sums(weight, positive, np.array(labels))
    target = Target(positive, weight, labels)
    for column in (args.group, args.time):
        if column is not None and (missing := n_missing(frame[column])):
            raise DataError(
                f"column {column!r} of {args.data} is missing in {missing:,} of"
                f" {len(frame):,} rows: fill it, or remove these rows"
            )
    with plain_errors(f"cannot part the rows of {args.data}"):
        return with_parts(
            target,
            None if args.group is None else frame[args.group].to_numpy(),
            None if args.time is None else _times(frame[args.time], reading, args.data),
            {name: _numbers_or_texts(frame[name]).to_numpy() for name in args.by} or None,
        )


def _numbers_or_texts(series: nw.Series[Any]) -> nw.Series[Any]:
    """Return a column that was read as text as numbers, if all are written as these are.

    So an age is parted at its quartiles, and 007 still differs from 7.
    """
    if series.dtype != nw.String or not all(map(_NUMBER.fullmatch, present_values(series))):
        return series
    return series.cast(nw.Float64)


def _times(series: nw.Series[Any], reading: Reading, path: str) -> NDArray[Any]:
    """Return the time of each row; dates that were read as days since 1970 become dates again."""
    times = times_of(series, path)
    if (
        reading.date_units.get(series.name) not in ("days", "moments")
        or times.dtype.kind not in "iuf"
    ):
        return times
    return np.round(times.astype(np.float64) * SECONDS_A_DAY).astype("datetime64[s]")
