"""Scores in the form of the core, with labels and weights of any kind."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from aucrank import _core
from aucrank._data.labels import rows_of_greater, two_classes
from aucrank._data.vectors import numbers, vector
from aucrank._data.weights import to_weights
from aucrank._utils.threads import effective_n_threads

_T = TypeVar("_T")

_FLOATS = frozenset({np.dtype(np.float32), np.dtype(np.float64)})
_LABELS = _FLOATS | {np.dtype(t) for t in (np.bool_, np.int8, np.uint8, np.int32, np.int64)}


def of_two_classes(
    statistic: Callable[..., _T | None],
    y_true: ArrayLike,
    scores: NDArray[Any] | list[NDArray[Any]],
    sample_weight: ArrayLike | None,
    *,
    any_labels: bool = True,
) -> _T:
    """Compute a statistic of checked scores; the core handles labels 0/1 or -1/1 itself."""
    labels = vector(y_true, "y_true")
    weights = None if sample_weight is None else to_weights(sample_weight)
    n_threads = 1 if labels.size < _core.ROC_PARALLEL_FROM else effective_n_threads(None)
    result = None
    if labels.dtype in _LABELS:
        try:
            result = statistic(labels, scores, weights, n_threads)
        except ValueError:
            two_classes(labels)  # Says which class, if there is only one.
            raise
    if result is None:
        positive = rows_of_greater(labels, any_labels)
        result = statistic(positive, scores, weights, n_threads)
        assert result is not None
    return result


def with_options(statistic: Callable[..., _T], *how: Any) -> Callable[..., _T]:
    """Return a statistic with its options, which precede the number of threads, filled in."""
    return lambda *args: statistic(*args[:-1], *how, args[-1])


def to_scores(y_score: ArrayLike) -> tuple[NDArray[Any], NDArray[Any] | None]:
    """Return scores as float32 or float64; or their ranks, and the distinct scores in order."""
    array = vector(y_score, "y_score")
    if array.dtype in _FLOATS:
        return array, None
    if array.dtype == np.float16:
        return array.astype(np.float32), None
    array = numbers(array, "y_score")
    floats = array.astype(np.float64)
    # Integers beyond 2^53 and long doubles may tie as float64 without being equal.
    if array.dtype.itemsize < 8 or array.dtype == np.float64 or np.all(floats == array):
        wide = array.dtype.kind in "iu" and array.dtype.itemsize == 8
        if not (wide and floats.size and np.max(np.abs(floats)) >= 2.0**53):
            return floats, None
    if np.isnan(floats).any():
        return floats, None
    distinct, ranks = np.unique(array, return_inverse=True)
    return ranks.astype(np.float64), distinct.astype(np.float64)


def row_probabilities(
    values: ArrayLike, name: str, n_rows: int, labels: str
) -> NDArray[np.float64]:
    """Read a probability of the positive class for each row.

    Parameters
    ----------
    values : array-like of shape (n_rows,)
        The probabilities.
    name : str
        What they are called in errors.
    n_rows : int
        Number of labels.
    labels : str
        What these are called in errors.

    Raises
    ------
    ValueError
        If their number differs from that of the labels, or one is missing or not from 0 to 1.
    """
    array = numbers(vector(values, name), name).astype(np.float64)
    if len(array) != n_rows:
        raise ValueError(f"{name} has {len(array)} entries, but {labels} has {n_rows}")
    broken = ~((array >= 0) & (array <= 1))
    if broken.any():
        row = int(broken.argmax())
        raise ValueError(
            f"{name} of row {row} is {array[row]}, but must be a probability from 0 to 1"
        )
    return array


def auc_of_groups(positive: NDArray[Any], negative: NDArray[Any]) -> float:
    """Return the AUC of groups of rows, given by weight, from low scores to high ones."""
    below = np.cumsum(negative) - negative
    return float(positive @ (below + negative / 2) / (positive.sum() * negative.sum()))


def auc_of_bins(masses: NDArray[np.float64]) -> float:
    """Return the AUC of bins that are ranked by their share of positives.

    Parameters
    ----------
    masses : ndarray of shape (n_bins, 2)
        Weight of the positive and of the negative rows.
    """
    masses = masses[masses.sum(axis=1) > 0]
    order = np.argsort(masses[:, 0] / masses.sum(axis=1), kind="stable")
    return auc_of_groups(*masses[order].T)
