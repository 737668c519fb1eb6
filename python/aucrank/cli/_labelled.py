"""Rows to learn from, with a class each: in memory, or read in batches."""

import argparse
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
from numpy.typing import NDArray

from aucrank._base.scoring import score_rows
from aucrank._compare.of_dataset import sampled_rows
from aucrank._data.labels import encode_binary
from aucrank._data.reading import Reading
from aucrank._data.row_names import RowNames
from aucrank._data.weights import check_class_sums
from aucrank._data.wrapped_source import ClassesSource
from aucrank._utils.plain_text import shown
from aucrank._utils.warn import ReadingNote
from aucrank._utils.words import for_shell, listed, plural
from aucrank.cli._csv import csv_options
from aucrank.cli._data import (
    Frames,
    WholeFile,
    as_categories,
    count_kinds,
    marks_everywhere,
    n_missing,
    need_column,
    text_of,
    times_of,
    weights_of,
)
from aucrank.cli._errors import DataError, UsageError, plain_errors
from aucrank.cli._progress import Say
from aucrank.cli._stream import open_rows, room_for_scores, stream_errors
from aucrank.cli._target import ranked_first, rest, value_counts
from aucrank.data import Dataset
from aucrank.metrics import roc_auc_score, roc_state


@dataclass(frozen=True)
class LabelledFrame:
    """Rows with a class each in memory, in the form of an estimator."""

    X: nw.DataFrame[Any]
    is_positive: NDArray[np.bool_]
    labels: NDArray[Any]
    """What the negative and the positive rows are to be called, in this order."""
    weight: NDArray[np.float64] | None
    target: str
    reading: Reading | None = None
    """How the file was read."""
    groups: NDArray[Any] | None = None
    """Which rows belong together."""
    time: NDArray[Any] | None = None
    """When each row came."""

    @property
    def y(self) -> NDArray[Any]:
        """The class of each row, such that estimators, which sort them, have the positive last."""
        in_order = bool(self.labels[0] < self.labels[1])
        return self.labels[self.is_positive.astype(np.intp)] if in_order else self.is_positive

    @property
    def positive(self) -> str:
        """Text of the positive value."""
        return text_of(self.labels[1])

    @property
    def n_positive(self) -> int:
        """Number of rows of the positive class."""
        return int(self.is_positive.sum())

    @property
    def shape(self) -> tuple[int, int]:
        """Number of rows and of columns to learn from."""
        return self.X.shape

    def say_size(self) -> str:
        """Return how many rows and columns there are, in words."""
        return f"{plural(len(self.X), 'row')}, {count_kinds(self.X)}"

    def say(self) -> str:
        """Return which class is positive, how frequent it is, and which is negative."""
        return f"{_positive_of(self)}, negative is {shown(text_of(self.labels[0]))}"

    def fit(self, estimator: Any) -> None:
        """Fit an estimator; its classes are the labels in the file, whichever is positive."""
        check_class_sums(self.weight, self.is_positive, self.labels)
        dealt = {"groups": self.groups, "time": self.time}
        dealt = {name: values for name, values in dealt.items() if values is not None}
        estimator.fit(self.X.to_native(), self.y, sample_weight=self.weight, **dealt)
        estimator.classes_ = self.labels
        _keep_reading(estimator, self.target, self.reading)

    def auc_of(self, estimator: Any) -> float:
        """Return the AUC of an estimator on these rows."""
        scores = score_rows(estimator, self.X.to_native())
        return float(roc_auc_score(self.is_positive, scores, sample_weight=self.weight))

    def some(self, most: int, n_jobs: int | None) -> "LabelledFrame":
        """Return the rows."""
        return self


@dataclass(frozen=True)
class LabelledDataset:
    """Rows with a class each of a folder, of a pattern, or too large for memory."""

    dataset: Dataset
    n_positive: int
    shape: tuple[int, int]
    labels: NDArray[Any]
    """As in a `LabelledFrame`."""
    target: str
    categorical: list[str]
    """Columns of numbers that are names of categories."""
    memory: int | None
    """Bytes that the program may take; None for any number."""
    progress: Say

    def say_size(self) -> str:
        """Return how many rows and columns there are, in words."""
        n_rows, n_columns = self.shape
        return f"{plural(n_rows, 'row')}, {plural(n_columns, 'column')}, read a piece at a time"

    def say(self) -> str:
        """Return which class is positive, and how frequent it is."""
        return _positive_of(self)

    def fit(self, estimator: Any) -> None:
        """Fit an estimator."""
        if self.categorical:
            estimator.set_params(categorical_features=self.categorical)
        estimator.fit(self.dataset)
        _keep_reading(estimator, self.target, self.dataset.reading)

    def auc_of(self, estimator: Any) -> float:
        """Return the AUC of an estimator on these rows."""
        self.progress("scoring the rows")
        return float(roc_state(estimator, self.dataset, **room_for_scores(self.memory)).auc())

    def some(self, most: int, n_jobs: int | None) -> LabelledFrame:
        """Return rows with the smallest hashes of their content, so `most` distinct ones."""
        rows = sampled_rows(self.dataset, most, self.categorical or "from_dtype", n_jobs)
        return LabelledFrame(
            rows.X,
            rows.positive,
            rows.labels,
            rows.weight,
            self.target,
            groups=rows.groups,
            time=rows.time,
        )


Labelled = LabelledFrame | LabelledDataset


def _positive_of(data: Labelled) -> str:
    """Return which class is positive, and how frequent it is."""
    return (
        f"positive is {shown(data.target)} = {shown(text_of(data.labels[1]))} "
        f"({plural(data.n_positive, 'row')}, {data.n_positive / data.shape[0]:.1%})"
    )


def _keep_reading(estimator: Any, target: str, reading: Reading | None) -> None:
    if reading is not None:
        estimator._set_reading(replace(reading, target=target))


def open_labelled(args: argparse.Namespace, say: Say) -> Labelled:
    """Open data to learn from, and find their classes.

    The positive class is the greater value of the target, or the one that ``--positive`` names. If
    the target has more than two values, all others are merged into one class, and the labels are
    texts.

    Parameters
    ----------
    args : argparse.Namespace
        Arguments of `aucrank fit` or `aucrank compare`.
    say : callable
        Shows a line while batches are read.
    """
    path, target = args.data, args.target
    # A group 007 differs from 7.
    text = [*args.categorical, *([] if args.group is None else [args.group])]
    rows = open_rows(path, target, csv_options(args), text=text, memory=args.memory, say=say)
    columns = _features(rows.names, args)
    with stream_errors(f"cannot read {path}"):
        counts = value_counts(rows, target, path)
        first = ranked_first(counts, target, args.positive, path)
        if len(counts) == 2:
            labels = np.array([next(value for value in counts if value != first), first])
        else:
            labels = np.array([rest(first), text_of(first)])
        with plain_errors(f"target column {target!r} of {path}"):
            # Values that no estimator accepts as labels, such as dates, are unordered.
            encode_binary(labels)
        if args.id is None:
            columns = _without_ids(rows, columns, {*args.keep, *args.categorical})
        if not columns:
            raise DataError(f"{path} has no column left to learn from")
        if isinstance(rows, WholeFile):
            return _frame_of(rows, args, columns, first, labels)
        shape = counts.total(), len(columns)
        positive = first
        source = rows.dataset.passes.source
        if len(counts) > 2:
            positive = text_of(first)
            label_of = dict.fromkeys(counts, rest(first)) | {first: positive}
            source = ClassesSource(source, target, label_of.__getitem__)
        roles = {"weight": args.weight, "groups": args.group, "time": args.time}
        dataset = Dataset(source, target=target, positive=positive, columns=columns, **roles)
        categorical = [name for name in columns if name in args.categorical]
        return LabelledDataset(
            dataset, counts[first], shape, labels, target, categorical, args.memory, say
        )


def _features(names: Sequence[str], args: argparse.Namespace) -> list[str]:
    """Return the columns without a role of their own, after checking all that options name."""
    single = {"--weight": args.weight, "--id": args.id, "--group": args.group, "--time": args.time}
    roles = [(args.target, "--target"), *((name, "--drop") for name in args.drop)]
    roles += [(name, option) for option, name in single.items() if name is not None]
    others = {"--categorical": args.categorical, "--keep": args.keep}
    features = [(name, option) for option, named in others.items() for name in named]
    for name, option in roles + features:
        need_column(names, name, args.data, option)
    taken = [name for name, _ in roles]
    for name in taken:
        if taken.count(name) > 1 and name in (args.target, args.weight, args.time):
            raise UsageError(f"column {name!r} is given two uses")
    return [name for name in names if name not in taken]


def _without_ids(rows: Frames, columns: list[str], kept: set[str]) -> list[str]:
    """Return the columns that do not name or number the rows, and report the others."""
    # The first batch settles nearly all columns.
    left = _may_name_rows(rows, [name for name in columns if name not in kept], n_frames=1)
    left = _may_name_rows(rows, list(left), n_frames=None)
    ids = [name for name, found in left.items() if found.does]
    if not ids or len(ids) == len(columns):
        return columns
    does = "names the rows and is" if len(ids) == 1 else "name the rows and are"
    what = listed([shown(name) if name else repr(name) for name in ids])
    note = f"{what} {does} left out (see --keep)"
    warnings.warn(ReadingNote(note, "names of rows left out", ids), stacklevel=3)
    return [name for name in columns if name not in ids]


def _may_name_rows(
    rows: Frames, columns: Sequence[str], n_frames: int | None
) -> dict[str, RowNames]:
    """Return the columns that may name the rows, judging by the first frames or all."""
    names = {name: RowNames(name) for name in columns}
    for frame in islice(rows.frames(columns) if columns else (), n_frames):
        for name, found in names.items():
            found.look_at(frame[name])
    return {name: found for name, found in names.items() if not found.is_settled}


def _frame_of(
    rows: WholeFile, args: argparse.Namespace, columns: list[str], first: Any, labels: NDArray[Any]
) -> LabelledFrame:
    """Return rows in the form of an estimator; those that have the value `first` are positive."""
    frame, reading, path = rows.frame, rows.reading, args.data
    for column in (args.group, args.time):
        if column is not None and (missing := n_missing(frame[column])):
            raise DataError(
                f"column {column!r} of {path} is missing in {missing:,} of"
                f" {plural(len(frame), 'row')}: fill it, or remove these rows"
                + marks_everywhere(reading)
            )
    if args.weight is not None:
        reading.check_weights(args.weight)
    X = as_categories(frame.select(columns), args.categorical)
    for name, dtype in X.schema.items():
        if not (dtype.is_numeric() or dtype in (nw.Boolean, nw.Categorical, nw.Enum)):
            raise DataError(
                f"column {name!r} of {path} has dtype {dtype}, which is neither numeric nor"
                f" text: leave it out with {for_shell('--drop', name)}, or take it as"
                " --categorical"
            )
    return LabelledFrame(
        X=X,
        is_positive=(frame[args.target] == first).to_numpy().astype(np.bool_),
        labels=labels,
        weight=None if args.weight is None else weights_of(frame[args.weight], path),
        target=args.target,
        reading=reading,
        groups=None if args.group is None else frame[args.group].to_numpy(),
        time=None if args.time is None else times_of(frame[args.time], path),
    )
