"""Rows dealt into folds, the same for all models."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import RepeatedStratifiedKFold, StratifiedGroupKFold

from aucrank._compare.sample import LabelledSample
from aucrank._data.row_blocks import RowBlocks, range_of_times, time_gap
from aucrank._utils.params import check_int
from aucrank._utils.words import plural


@dataclass(frozen=True)
class Fold:
    """Rows to fit to, and rows to score.

    Attributes
    ----------
    train, test : ndarray of int
        Numbers of the rows.
    repeat : int
        Number of the repeat, from 0.
    """

    train: NDArray[np.intp]
    test: NDArray[np.intp]
    repeat: int


@dataclass(frozen=True)
class RepeatedFolds:
    """All folds; each row is in one test part of each repeat.

    Attributes
    ----------
    listed : list of Fold
        The folds.
    says : str
        Description.
    """

    listed: list[Fold]
    says: str

    @property
    def n_repeats(self) -> int:
        """Number of repeats."""
        return self.listed[-1].repeat + 1

    def fingerprint(self) -> str:
        """Return a text that identifies the folds and their order."""
        found = hashlib.sha256()
        for fold in self.listed:
            for part in (fold.train, fold.test):
                found.update(f"{len(part)} ".encode() + part.astype("<i8").tobytes())
        return found.hexdigest()


def deal(
    sample: LabelledSample, cv: Any, n_repeats: int, seed: int, gap: Any = None
) -> RepeatedFolds:
    """Deal the rows.

    Parameters
    ----------
    sample : LabelledSample
        The rows.
    cv : int, splitter or iterable of (train, test)
        The user's argument.
    n_repeats : int
        Number of repeats, if ``cv`` is a number.
    seed : int
        Seed of the folds, if ``cv`` is a number.
    gap : float, timedelta or None, default=None
        How far in time the rows that a model is fitted to are from those that it ranks, and more.

    Raises
    ------
    TypeError, ValueError
        If there is no such split of the rows.
    """
    check_int(n_repeats, "n_repeats", low=1)
    if sample.time is None:
        # Raises an error if there is a gap.
        time_gap(gap, None)
    if isinstance(cv, Integral) and not isinstance(cv, bool):
        return _dealt_by_number(sample, check_int(cv, "cv", low=2) or 2, n_repeats, seed, gap)
    if n_repeats != 1:
        raise ValueError(f"n_repeats={n_repeats} needs a number of folds as cv, got {cv!r}")
    if sample.blocks is not None:
        raise ValueError(
            f"folds are ranges of time, of which cv is the number, got {cv!r}: leave time out for"
            " folds of your own"
        )
    if hasattr(cv, "split") and not isinstance(cv, str):
        pairs = list(cv.split(np.zeros(sample.n_rows), sample.positive, sample.groups))
    elif isinstance(cv, Iterable) and not isinstance(cv, str):
        pairs = [(_row_numbers(train, sample), _row_numbers(test, sample)) for train, test in cv]
    else:
        raise TypeError(
            f"cv must be a number of folds, a splitter of scikit-learn or pairs of rows, got {cv!r}"
        )
    folds = _by_repeat(pairs, sample.positive)
    return RepeatedFolds(folds, f"{plural(len(folds), 'fold')} of {type(cv).__name__}")


def _dealt_by_number(
    sample: LabelledSample, n_folds: int, n_repeats: int, seed: int, gap: Any
) -> RepeatedFolds:
    n_positive = int(sample.positive.sum())
    smaller = min(n_positive, sample.n_rows - n_positive)
    if smaller < n_folds:
        raise ValueError(
            f"the smaller class has {plural(smaller, 'row')}, so there is none for each of"
            f" {n_folds} folds: use more rows, or fewer folds"
        )
    if sample.blocks is not None:
        return _dealt_by_time(sample, sample.blocks, n_folds, n_repeats, gap)
    rows = np.zeros(sample.n_rows)
    if sample.groups is None:
        by = RepeatedStratifiedKFold(n_splits=n_folds, n_repeats=n_repeats, random_state=seed)
        pairs = list(by.split(rows, sample.positive))
    else:
        pairs = [
            pair
            for repeat in range(n_repeats)
            for pair in StratifiedGroupKFold(
                n_folds, shuffle=True, random_state=seed + repeat
            ).split(rows, sample.positive, sample.groups)
        ]
    says = (
        f"{n_folds} stratified"
        + (", groups kept together" if sample.groups is not None else "")
        + f", shuffled with seed {seed}"
        + (f", dealt {n_repeats} times" if n_repeats > 1 else "")
    )
    return RepeatedFolds(_by_repeat(pairs, sample.positive), says)


def _dealt_by_time(
    sample: LabelledSample, blocks: NDArray[np.uint64], n_folds: int, n_repeats: int, gap: Any
) -> RepeatedFolds:
    """Deal ranges of time with about equal numbers of rows, the earliest first."""
    assert sample.time is not None
    distance = time_gap(gap, sample.time)
    if n_repeats != 1:
        raise ValueError(f"n_repeats={n_repeats} would deal the same ranges of time again: leave 1")
    _, places = np.unique(blocks, return_inverse=True)
    size = np.bincount(places)
    of_row = range_of_times(size, n_folds)[places]
    if len(np.unique(of_row)) < n_folds:
        raise ValueError(_no_ranges(sample, size, n_folds))
    of_times = RowBlocks(blocks, are_times=True, gap=distance)
    pairs = []
    for fold in range(n_folds):
        is_held_out = of_row == fold
        is_kept = of_times.apart_from(is_held_out)
        if distance is not None:
            kept = sample.positive[is_kept]
            if kept.all() or not kept.any():
                raise ValueError(
                    f"gap={gap!r} leaves rows of one class, or none, to fit to in fold {fold + 1}:"
                    " use a smaller one, or fewer folds"
                )
        pairs.append((np.flatnonzero(is_kept), np.flatnonzero(is_held_out)))
    says = (
        f"{n_folds} ranges of time"
        + (", groups kept together" if sample.groups is not None else "")
        + ("" if distance is None else f", models fitted to rows more than {gap} away")
    )
    return RepeatedFolds(_by_repeat(pairs, sample.positive), says)


def _no_ranges(sample: LabelledSample, size: NDArray[np.intp], n_folds: int) -> str:
    """Return why times, with these numbers of rows, are not cut into so many ranges."""
    ranges = f"{n_folds} ranges of about as many rows"
    share = size.max() / size.sum()
    if not sample.are_groups_timed:
        return (
            f"time has {plural(len(size), 'value')}, too few or of too many rows each"
            f" ({share:.0%} have the same) for {ranges}: use fewer folds"
        )
    return (
        f"groups are kept together, each at the time of its latest row, and {share:.0%} of the rows"
        f" are of groups with the same latest time, too many for {ranges}. If groups have rows at"
        " many times, as customers by months, give one of the two: time alone to rank later rows,"
        " also of groups that the models were fitted to; groups alone to rank new groups"
    )


def _row_numbers(rows: Any, sample: LabelledSample) -> NDArray[np.intp]:
    """Convert the user's row numbers to ours, from which rows of weight 0 are removed."""
    numbers = np.asarray(rows)
    if numbers.dtype.kind == "b" and numbers.shape == (sample.n_passed,):
        numbers = np.flatnonzero(numbers)
    if numbers.ndim != 1 or numbers.dtype.kind not in "iu":
        raise ValueError(f"cv must give numbers of rows, got an array of {numbers.dtype}")
    if numbers.size and not 0 <= numbers.min() <= numbers.max() < sample.n_passed:
        raise ValueError(
            f"cv gives rows from {numbers.min()} to {numbers.max()}, but X has {sample.n_passed}"
        )
    place = np.full(sample.n_passed, -1)
    place[sample.kept] = np.arange(sample.n_rows)
    found: NDArray[np.intp] = place[numbers]
    return found[found >= 0]


def _by_repeat(
    pairs: list[tuple[NDArray[np.intp], NDArray[np.intp]]], positive: NDArray[np.bool_]
) -> list[Fold]:
    """Divide the folds into repeats: one ends when all rows have been held out."""
    folds: list[Fold] = []
    held_out, repeat = np.zeros(len(positive), dtype=np.intp), 0
    for train, test in pairs:
        folds.append(Fold(train, test, repeat))
        if np.intersect1d(train, test).size:
            raise ValueError(f"cv fits to rows of fold {len(folds)} that it holds out")
        for part, does in ((train, "fits to"), (test, "holds out")):
            if len(np.unique(positive[part])) < 2:
                raise ValueError(f"cv {does} rows of one class, or none, in fold {len(folds)}")
        np.add.at(held_out, test, 1)
        if held_out.max() > repeat + 1:
            row = int(held_out.argmax())
            raise ValueError(
                f"cv must hold out each row once before it holds out one again, but row {row} is"
                f" held out again in fold {len(folds)}"
            )
        if np.all(held_out == repeat + 1):
            repeat += 1
    if repeat == 0 or held_out.min() < held_out.max():
        row = int(held_out.argmin())
        raise ValueError(f"cv must hold out each row equally often, but leaves out row {row}")
    return folds
