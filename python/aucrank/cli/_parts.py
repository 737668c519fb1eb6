"""Columns of a data file with groups, times and subgroups of its rows."""

import argparse
from collections.abc import Sequence
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
from numpy.typing import NDArray

from aucrank._data.reading import Reading
from aucrank._report.subjects import Target, with_parts
from aucrank._utils.numbers import SECONDS_A_DAY
from aucrank._utils.plain_text import shown
from aucrank._utils.words import listed
from aucrank.cli._data import n_missing, need_column, times_of
from aucrank.cli._errors import DataError, UsageError, plain_errors
from aucrank.cli._model import SavedModel


def named_parts(args: argparse.Namespace) -> dict[str, list[str]]:
    """Return the columns given by these options, by option."""
    single = {"--group": args.group, "--time": args.time}
    named = {option: [name] for option, name in single.items() if name is not None}
    return named | ({"--by": list(args.by)} if args.by else {})


def need_parts(columns: Sequence[str], args: argparse.Namespace) -> None:
    """Raise if a column given by these options does not exist."""
    for option, names in named_parts(args).items():
        for name in names:
            need_column(columns, name, args.data, option)


def check_parts(args: argparse.Namespace) -> None:
    """Raise for columns with conflicting uses.

    A group or a time may also be a subgroup.
    """
    taken = [args.target, *(name for name in (args.group, args.time) if name is not None)]
    twice = next((name for name in taken if taken.count(name) > 1), None)
    if twice is None and args.target in args.by:
        twice = args.target
    if twice is not None:
        raise UsageError(f"column {twice!r} is given two uses")
    named = next((name for name in args.by if args.by.count(name) > 1), None)
    if named is not None:
        raise UsageError(f"--by names {named!r} twice")


def text_of_parts(args: argparse.Namespace, model: SavedModel) -> list[str]:
    """Return the columns to read as text: a group 007 differs from 7.

    Columns that are numeric in a model stay numbers.
    """
    numbers = {feature.name for feature in model.features if feature.levels is None}
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


def target_in_parts(
    target: Target, frame: nw.DataFrame[Any], reading: Reading, args: argparse.Namespace
) -> Target:
    """Return a target with the groups, times and subgroups of its rows."""
    need_parts(frame.columns, args)
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
            {name: frame[name].to_numpy() for name in args.by} or None,
        )


def _times(series: nw.Series[Any], reading: Reading, path: str) -> NDArray[Any]:
    """Return the time of each row; dates that were read as days since 1970 become dates again."""
    times = times_of(series, path)
    if (
        reading.date_units.get(series.name) not in ("days", "moments")
        or times.dtype.kind not in "iuf"
    ):
        return times
    return np.round(times.astype(np.float64) * SECONDS_A_DAY).astype("datetime64[s]")
