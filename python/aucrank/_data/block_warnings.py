"""Detection of columns that look like groups or times of rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from aucrank._data.column_warnings import (
    ROWS_OF_CATEGORY,
    ColumnWarning,
    in_words,
    is_inner_fit,
)
from aucrank._data.row_blocks import STEP, mixed, range_of_times
from aucrank._data.row_names import words_of
from aucrank._data.schema import Schema
from aucrank._data.unread_texts import are_iso_dates, unread
from aucrank._utils.warn import warn_caller

# Words in the names of entities that occur repeatedly.
_GROUP_WORDS = frozenset(
    {
        *("id", "ids", "group", "groups", "cluster", "patient", "subject", "person", "customer"),
        *("client", "user", "household", "account", "loan", "molecule", "kunde", "patnr", "nr"),
    }
)
_TIME_WORDS = frozenset(
    {"time", "date", "day", "timestamp", "datetime", "datum", "zeit", "tag", "ts", "when"}
)

# Minimal mean size of a group, and minimal number of groups.
_ROWS_OF_GROUP = 1.5, 60.0
_LEAST_GROUPS = 30

# Minimal number of pairs of rows within a group for a warning.
_LEAST_PAIRS = 200

# Minimal share of values with several rows; lower for a column with a telling name.
_SHARE_REPEATED, _SHARE_REPEATED_NAMED = 0.75, 0.5

# Two rows of a group must share their label more often than two arbitrary rows: by this share of
# the possible excess, and by this much more than rows of neighbouring numbers. Among the columns of
# 28 real data sets whose values repeat this often, those of a person and of a molecule have 0.42
# and 1.0, all others less than 0.27, except numbers whose neighbours are as similar.
_LIKENESS, _LIKENESS_NAMED, _MORE_THAN_NEIGHBOURS = 0.35, 0.3, 0.3

# With fewer values, dates would be recognised by their names alone, which is not enough.
_LEAST_TIMES = 30

# Of more rows, those of a share of the values are checked, which keeps groups whole.
_MOST_ROWS = 50_000

# Ranges of time of a cross-validation within a fit.
_RANGES = 5


def warn_of_blocks(columns: Any, schema: Schema, positive: NDArray[np.bool_] | None) -> None:
    """Warn of columns that look like groups or times, where a fit was given neither.

    Parameters
    ----------
    columns : ndarray of shape (n, n_features) or list of ndarray
        The rows in the form of the core; other kinds give no warning.
    schema : Schema
        Description of the columns.
    positive : ndarray of bool, shape (n,), or None
        Labels; without them no warning is given.
    """
    if positive is None or is_inner_fit() or not isinstance(columns, np.ndarray | list):
        return
    groups, times = [], []
    for index, feature in enumerate(schema.features):
        values = columns[index] if isinstance(columns, list) else columns[:, index]
        levels, name = feature.levels, feature.name or ""
        # The first rows settle nearly all columns.
        if levels is None and not _is_whole(values[:256]):
            continue
        # In a row-major matrix, a column is read several times.
        values = np.ascontiguousarray(values)
        if levels is None and not _is_whole(values):
            continue
        if _looks_like_times(values, levels, name):
            times.append(schema.label(index))
        elif _looks_like_groups(values, levels, name, positive) and not unread(levels or (), name):
            groups.append(schema.label(index))
    said = []
    if groups:
        it = "it" if len(groups) == 1 else "one of them"
        said.append(
            f"{in_words(groups)} {'looks' if len(groups) == 1 else 'look'} as if rows of"
            " one value belonged together, such as those of a customer: most have one label. A"
            f" model that was fitted to {it} ranks other ones worse than it says. Leave"
            f" {'it' if len(groups) == 1 else 'them'} out of X, and pass {it} to fit as groups."
        )
    if times:
        it = "it" if len(times) == 1 else "one of them"
        said.append(
            f"{in_words(times)} {'looks' if len(times) == 1 else 'look'} like the time when"
            " a row came. Rows to come are later than all of these. Leave"
            f" {'it' if len(times) == 1 else 'them'} out of X, and pass {it} to fit as time."
        )
    if said:
        warn_caller(" ".join(said), ColumnWarning)


def warn_of_few_ranges(latest: NDArray[np.uint64]) -> None:
    """Warn if groups and times together leave fewer ranges of time than a fit deals.

    Parameters
    ----------
    latest : ndarray of uint64
        Time of each row, or of each group: that of the latest row of the group.
    """
    if is_inner_fit() or not len(latest):
        return
    _, size = np.unique(latest, return_counts=True)
    n_ranges = len(np.unique(range_of_times(size, _RANGES)))
    if n_ranges == _RANGES:
        return
    warn_caller(
        "groups and time are both given: groups are kept together, each at the time of its latest"
        f" row, and {size.max() / size.sum():.0%} have the same. For {_RANGES} ranges of time there"
        f" {'is' if n_ranges == 1 else 'are'} {n_ranges}, so less is known of rows to come than"
        " times would show. If groups have rows at many times, as customers by months, give one of"
        " the two: time alone to rank later rows, also of known groups; groups alone to rank new"
        " groups"
    )


def _is_whole(values: NDArray[Any]) -> bool:
    """Return whether a column of numbers holds integers only, without missing values."""
    if values.dtype.kind != "f":
        return values.dtype.kind in "iu"
    # NaN is not an integer, either.
    return bool((values == np.floor(values)).all())


def _looks_like_times(values: NDArray[Any], levels: Sequence[Any] | None, name: str) -> bool:
    if levels is not None:
        return len(levels) >= _LEAST_TIMES and are_iso_dates(levels)
    # The first rows settle nearly all columns; sorted ones may begin with many rows of one day.
    if all(len(np.unique(part)) < _LEAST_TIMES for part in (values[:1000], values)):
        return False
    if _are_calendar_numbers(values):
        return True
    if _TIME_WORDS.isdisjoint(words_of(name)):
        return False
    steps = np.diff(values.astype(np.float64))
    is_in_order = bool((steps >= 0).all() or (steps <= 0).all())
    # Seconds since 1970, from 1990 on.
    are_seconds = bool(values.min() > 6.3e8 and values.max() < 4.1e9)
    return is_in_order or are_seconds


def _are_calendar_numbers(values: NDArray[Any]) -> bool:
    """Return whether all numbers are dates such as 20240131."""
    if values.min() < 19_000_101 or values.max() > 21_001_231:
        return False
    whole = values.astype(np.int64)
    month, day = whole // 100 % 100, whole % 100
    return bool(((month >= 1) & (month <= 12) & (day >= 1) & (day <= 31)).all())


@dataclass(frozen=True, slots=True)
class _Likeness:
    """How similar the labels of rows with the same value are."""

    n_values: int
    rows_of_value: float
    n_repeated: int
    n_pairs: float
    within: float
    of_neighbours: float


def _looks_like_groups(
    values: NDArray[Any], levels: Sequence[Any] | None, name: str, positive: NDArray[np.bool_]
) -> bool:
    if levels is not None and len(levels) < _LEAST_GROUPS:
        return False
    found = _likeness(values, positive)
    if found is None or found.n_values < _LEAST_GROUPS or found.n_pairs < _LEAST_PAIRS:
        return False
    low, high = _ROWS_OF_GROUP
    if levels is not None:
        # Categories with fewer rows are reported as identifiers.
        low = ROWS_OF_CATEGORY
    if not low <= found.rows_of_value <= high:
        return False
    repeated = found.n_repeated / found.n_values
    if not _GROUP_WORDS.isdisjoint(words_of(name)):
        return repeated >= _SHARE_REPEATED_NAMED and found.within >= _LIKENESS_NAMED
    # The order of levels has no meaning.
    apart = levels is not None or found.within - found.of_neighbours >= _MORE_THAN_NEIGHBOURS
    return repeated >= _SHARE_REPEATED and found.within >= _LIKENESS and apart


def _likeness(values: NDArray[Any], positive: NDArray[np.bool_]) -> _Likeness | None:
    """Compare the labels of rows with the same value; None unless both classes occur."""
    share = min(1.0, _MOST_ROWS / max(len(values), 1))
    # Includes values that are not checked, one of which may have most rows.
    n_rows = share * len(values)
    if share < 1:
        bits = mixed(values.astype(np.int64).astype(np.uint64) + np.uint64(STEP))
        kept = bits < np.uint64(int(2**64 * share))
        values, positive = values[kept], positive[kept]
    rate = float(positive.mean()) if len(positive) else 0.0
    if rate in (0, 1):
        return None
    _, codes = np.unique(values, return_inverse=True)
    size = np.bincount(codes).astype(np.float64)
    pos = np.bincount(codes, positive)
    n_pairs = float((size * (size - 1)).sum() / 2)
    by_chance = 2 * rate * (1 - rate)
    within = 1 - float((pos * (size - pos)).sum()) / max(n_pairs, 1) / by_chance
    of_value, weight = pos / size, np.minimum(size[1:], size[:-1])
    unlike = of_value[1:] * (1 - of_value[:-1]) + of_value[:-1] * (1 - of_value[1:])
    of_neighbours = 1 - float(weight @ unlike) / max(float(weight.sum()), 1) / by_chance
    n_repeated = int((size > 1).sum())
    return _Likeness(len(size), n_rows / len(size), n_repeated, n_pairs, within, of_neighbours)
