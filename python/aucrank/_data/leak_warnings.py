"""Detection of columns that separate the classes by themselves."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from aucrank._core import MISSING_CODE, roc_auc
from aucrank._data.column_warnings import ColumnWarning, in_words, is_inner_fit
from aucrank._data.schema import Schema
from aucrank._utils.warn import warn_caller

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
    """Warn of columns by which alone nearly all rows are ranked correctly.

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
    leaks = []
    for index, feature in enumerate(schema.features):
        values = columns[index] if isinstance(columns, list) else columns[:, index]
        if all(
            _auc(
                values[rows],
                positive[rows],
                None if weight is None else weight[rows],
                is_category=feature.levels is not None,
            )
            >= least
            for rows, least in ((screened, _LEAST_SCREENED), (judged, LEAST_AUC))
        ):
            leaks.append(schema.label(index))
    if leaks:
        one = len(leaks) == 1
        warn_caller(
            f"{in_words(leaks)} {'separates' if one else 'separate'} the classes by"
            f" {'itself' if one else 'themselves'}, nearly without error. Such a column often holds"
            " what is known only after the outcome, or the label in another form. Leave"
            f" {'it' if one else 'them'} out of X unless {'it is' if one else 'they are'} known"
            " when rows are scored.",
            ColumnWarning,
        )


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


def _auc(
    values: NDArray[Any],
    positive: NDArray[np.bool_],
    weight: NDArray[np.float64] | None,
    *,
    is_category: bool,
) -> float:
    """Return the highest AUC of a column alone, with its values in some order."""
    missing = values == MISSING_CODE if is_category else np.isnan(values)
    distinct, places = np.unique(values[~missing], return_inverse=True)
    # Missing values are at one end of the order, or at the other; falling numbers rank as badly as
    # rising ones rank well.
    last = np.full(len(values), len(distinct))
    last[~missing] = places
    found = []
    if not is_category:
        for place in (last, np.where(missing, -1, last)):
            auc = _auc_of(positive, place, weight)
            found += [auc, 1 - auc]
    if is_category or len(distinct) <= _MOST_CODES:
        found.append(_auc_of(positive, _rates(last, positive, weight), weight))
    return max(found)


def _rates(
    place: NDArray[np.intp], positive: NDArray[np.bool_], weight: NDArray[np.float64] | None
) -> NDArray[np.float64]:
    """Return the rate of positives of the value of each row; rare values count as one."""
    weight = np.ones(len(place)) if weight is None else weight
    is_rare = np.bincount(place, _copies(weight)) < _ROWS_OF_LEVEL
    place = np.where(is_rare[place], len(is_rare), place)
    rates: NDArray[np.float64] = np.bincount(place, weight * positive) / np.maximum(
        np.bincount(place, weight), np.finfo(np.float64).tiny
    )
    return rates[place]


def _auc_of(
    positive: NDArray[np.bool_], scores: NDArray[Any], weight: NDArray[np.float64] | None
) -> float:
    auc = roc_auc(positive, scores.astype(np.float64), weight, 1)
    assert auc is not None
    return auc
