"""Detection of columns that separate the classes by themselves."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from aucrank._core import MISSING_CODE, sums_of_bins
from aucrank._data.column_warnings import ColumnWarning, in_words, is_inner_fit
from aucrank._data.schema import Schema
from aucrank._data.scores import auc_of_bins, auc_of_groups
from aucrank._utils.warn import warn_caller

if TYPE_CHECKING:
    from aucrank.data._stored import Rows

#: Minimal AUC of a column that may leak the label. The highest of the 747 columns of 28 real data
#: sets is 0.976.
LEAST_AUC = 0.999

#: Minimal number of rows of each class. In fewer, a good measurement may part them by chance or
#: by nature, as the petals of 50 setosa do in the iris data.
LEAST_OF_CLASS = 100

# Of more rows of a class, some are enough: a few to rule out nearly all columns, more to judge the
# others.
_SCREENED_OF_CLASS = 1_000
_LEAST_SCREENED = 0.98
_JUDGED_OF_CLASS = 500_000

# A column that is filled, or missing, in half of the rows of a class and in hardly one of the other
# or in none where so many would be expected. In 28 real data sets, the other class has 0.4 % as
# many at least, in a column that is missing in a quarter of the rows of a class.
_LEAST_ONE_SIDED, _MOST_OF_OTHER = 0.5, 0.02
_LEAST_EXPECTED = 50

# Minimal AUC of a column that is far above all others, and maximal AUC of these. The columns of
# those 28 sets are below the first, or are next to others.
_LEAST_BEST, _MOST_OF_NEXT = 0.95, 0.8

# Numbers with at most this many values may be codes, without order.
_MOST_CODES = 30

# Categories of fewer rows count as one: they may be of one class by chance.
_ROWS_OF_LEVEL = 10


def warn_of_leaks(
    columns: Any,
    schema: Schema,
    positive: NDArray[np.bool_] | None,
    weight: NDArray[np.float64] | None = None,
) -> None:
    """Warn of columns that may leak the label.

    They rank nearly all rows correctly by themselves, or far better than any other column, or are
    filled or missing in rows of one class alone.

    Parameters
    ----------
    columns : ndarray of shape (n, n_features) or list of ndarray
        The rows in the form of the core; other kinds give no warning.
    schema : Schema
        Description of the columns.
    positive : ndarray of bool, shape (n,), or None
        Labels; without them no warning is given.
    weight : ndarray of float64, shape (n,), or None, default=None
        Weights of the rows; None where all are 1.
    """
    if positive is None or is_inner_fit() or not isinstance(columns, np.ndarray | list):
        return
    if min(_size(positive, weight), _size(~positive, weight)) < LEAST_OF_CLASS:
        return
    screened = _some_of_each_class(positive, weight, _SCREENED_OF_CLASS)
    judged = _some_of_each_class(positive, weight, _JUDGED_OF_CLASS)

    def sums_of(rows: NDArray[np.intp], index: int) -> SumsOfValues:
        values = columns[index] if isinstance(columns, list) else columns[:, index]
        return _sums_of_values(
            values[rows],
            positive[rows],
            None if weight is None else weight[rows],
            is_category=schema.features[index].levels is not None,
        )

    in_sample = [sums_of(screened, index) for index in range(len(schema.features))]
    _warn_of_found(in_sample, partial(sums_of, judged), schema)


def warn_of_leaks_by_sums(
    find: Callable[[], Sequence[SumsOfValues]], schema: Schema, class_counts: tuple[int, int]
) -> None:
    """As `warn_of_leaks`, from sums of rows.

    Parameters
    ----------
    find : callable
        Returns those of each column, by value or by bin. Not called where no warning is given.
    schema : Schema
        Description of the columns.
    class_counts : tuple of int
        Number of negative and of positive rows, unless weights are numbers of copies.
    """
    if is_inner_fit():
        return
    of_columns = find()
    if min(of_columns[0].n_of_classes() or class_counts) < LEAST_OF_CLASS:
        return
    _warn_of_found(of_columns, of_columns.__getitem__, schema)


def _warn_of_found(
    screened: Sequence[SumsOfValues], judged: Callable[[int], SumsOfValues], schema: Schema
) -> None:
    """Warn of columns that look like leaks in some rows, and by the sums of more rows, too."""
    are_categories = [feature.levels is not None for feature in schema.features]
    aucs = [
        _highest_auc(sums, is_category=is_category)
        for sums, is_category in zip(screened, are_categories, strict=True)
    ]

    def judged_auc(index: int) -> float:
        return _highest_auc(judged(index), is_category=are_categories[index])

    separate = {
        k for k, auc in enumerate(aucs) if auc >= _LEAST_SCREENED and judged_auc(k) >= LEAST_AUC
    }
    filled, missing = (
        {
            k
            for k, sums in enumerate(screened)
            if k not in separate and _one_sided(sums) == side and _one_sided(judged(k)) == side
        }
        for side in ("filled", "missing")
    )
    best = {k for k in _far_above(aucs) if judged_auc(k) >= _LEAST_BEST}
    best -= separate | filled | missing
    found = [[schema.label(k) for k in sorted(part)] for part in (separate, filled, missing, best)]
    _warn_of(*found)


def _one_sided(sums: SumsOfValues) -> str:
    """Return "filled" or "missing" if a column is so in rows of one class alone, or nearly."""
    n_neg, n_pos = float(sums.negative.sum()), float(sums.positive.sum())
    shares = float(sums.negative[-1]) / n_neg, float(sums.positive[-1]) / n_pos
    # Rows of the rarer class; weights that are not whole count rows by their share of the weight.
    n_rarer = float(sums.rows.sum()) * min(n_neg, n_pos) / (n_neg + n_pos)
    for side, of_classes in (("filled", [1 - share for share in shares]), ("missing", shares)):
        less, more = sorted(of_classes)
        is_nearly = more >= _LEAST_ONE_SIDED and less <= _MOST_OF_OTHER * more
        if is_nearly or (less <= 0 and more * n_rarer >= _LEAST_EXPECTED):
            return side
    return ""


def _far_above(aucs: Sequence[float]) -> list[int]:
    """Return the columns, a quarter at most, that rank far better than all others."""
    best = [k for k, auc in enumerate(aucs) if auc >= _LEAST_BEST]
    others = [auc for auc in aucs if auc < _LEAST_BEST]
    is_far = bool(others) and max(others) <= _MOST_OF_NEXT and 4 * len(best) <= len(aucs)
    return best if is_far else []


def _warn_of(
    separate: Sequence[str], filled: Sequence[str], missing: Sequence[str], best: Sequence[str]
) -> None:
    said = []
    if separate:
        one = len(separate) == 1
        said.append(
            f"{in_words(separate)} {'separates' if one else 'separate'} the classes by"
            f" {'itself' if one else 'themselves'}, nearly without error."
        )
    for labels, what, other in ((filled, "filled", "missing"), (missing, "missing", "filled")):
        if labels:
            said.append(
                f"{in_words(labels)} {'is' if len(labels) == 1 else 'are'} {what} in rows of one"
                f" class, and {other} in nearly all of the other."
            )
    if best:
        said.append(
            f"{in_words(best)} {'ranks' if len(best) == 1 else 'rank'} the rows far better than any"
            " other column."
        )
    if said:
        one = len([*separate, *filled, *missing, *best]) == 1
        warn_caller(
            f"{' '.join(said)} Such a column often holds"
            " what is known only after the outcome, or the label in another form. Leave"
            f" {'it' if one else 'them'} out of X unless {'it is' if one else 'they are'} known"
            " when rows are scored.",
            ColumnWarning,
        )


@dataclass(frozen=True)
class SumsOfValues:
    """Sums of the rows of each value of a column, ascending, and of missing ones, last."""

    negative: NDArray[np.float64]
    """Weight of the negative rows."""
    positive: NDArray[np.float64]
    """Weight of the positive rows."""
    rows: NDArray[np.float64]
    """Number of rows; a whole weight counts as copies."""

    @classmethod
    def in_bins(cls, rows: Rows, n_threads: int) -> list[SumsOfValues]:
        """Return those of each column of coded rows, which are queried once."""
        of_columns = sums_of_bins(rows, secrets.randbits(63), n_threads)
        return [cls(*(part.astype(np.float64) for part in parts)) for parts in of_columns]

    @classmethod
    def of_bins(cls, sums: Sequence[Mapping[str, int]]) -> SumsOfValues:
        """Return those of the bins of a model document."""
        parts = ([float(of_bin[part]) for of_bin in sums] for part in ("neg", "pos", "rows"))
        return cls(*map(np.array, parts))

    def n_of_classes(self) -> tuple[float, float] | None:
        """Return the number of rows of each class, if each counts as often as it weighs."""
        found = float(self.negative.sum()), float(self.positive.sum())
        return found if sum(found) == self.rows.sum() else None


def _size(is_class: NDArray[np.bool_], weight: NDArray[np.float64] | None) -> float:
    """Return the number of rows of a class; a whole weight counts as copies."""
    if weight is None:
        return int(is_class.sum())
    return float(_copies(weight[is_class]).sum())


def _copies(weight: NDArray[np.float64]) -> NDArray[np.float64]:
    return weight if not (weight % 1).any() else (weight > 0).astype(np.float64)


def _some_of_each_class(
    positive: NDArray[np.bool_], weight: NDArray[np.float64] | None, most: int
) -> NDArray[np.intp]:
    """Return rows of each class, evenly distributed; all if there are few."""
    of_classes = []
    for is_class in (True, False):
        rows = np.flatnonzero(positive == is_class)
        if weight is not None:
            rows = rows[weight[rows] > 0]
        # A copy, so that the numbers of all rows are freed.
        of_classes.append(rows[:: -(-len(rows) // most)].copy())
    return np.concatenate(of_classes)


def _sums_of_values(
    values: NDArray[Any],
    positive: NDArray[np.bool_],
    weight: NDArray[np.float64] | None,
    *,
    is_category: bool,
) -> SumsOfValues:
    """Return the sums of the distinct values of a column."""
    missing = values == MISSING_CODE if is_category else np.isnan(values)
    distinct, places = np.unique(values[~missing], return_inverse=True)
    of_row = np.full(len(values), len(distinct))
    of_row[~missing] = places
    weight = np.ones(len(values)) if weight is None else weight
    return SumsOfValues(
        *(
            np.bincount(of_row, part, len(distinct) + 1).astype(np.float64)
            for part in (weight * ~positive, weight * positive, _copies(weight))
        )
    )


def _highest_auc(sums: SumsOfValues, *, is_category: bool) -> float:
    """Return the highest AUC of a column alone, with its values in some order."""
    found = []
    n_values = len(sums.rows) - 1
    if not is_category:
        # Missing values are at one end of the order, or at the other; falling numbers rank as badly
        # as rising ones rank well.
        for first in (0, 1):
            auc = auc_of_groups(np.roll(sums.positive, first), np.roll(sums.negative, first))
            found += [auc, 1 - auc]
    if is_category or n_values <= _MOST_CODES:
        found.append(_auc_by_rates(sums))
    return max(found)


def _auc_by_rates(sums: SumsOfValues) -> float:
    """Return the AUC of the values by their shares of positives; rare values count as one."""
    is_rare = sums.rows < _ROWS_OF_LEVEL
    masses = np.column_stack((sums.positive, sums.negative))
    return auc_of_bins(np.vstack((masses[~is_rare], masses[is_rare].sum(axis=0))))
