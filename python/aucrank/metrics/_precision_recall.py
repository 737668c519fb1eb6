"""The precision-recall curve."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from aucrank import _core
from aucrank._data.labels import equal_to
from aucrank._data.vectors import vector
from aucrank._utils.keywords import suggests_keywords
from aucrank.metrics._core_curve import core_curve


@suggests_keywords
def precision_recall_curve(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    pos_label: float | bool | str | None = None,
    sample_weight: ArrayLike | None = None,
    drop_intermediate: bool = False,
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Precision and recall at each threshold.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Labels: 0 and 1, or -1 and 1, or any if ``pos_label`` is given.
    y_score : array-like of shape (n_samples,)
        Scores; higher is more positive.
    pos_label : int, float, bool or str, default=None
        Label of the positive class; every other label is negative. ``None`` means 1.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights: a row of weight k counts as k rows, one of weight 0 as none.
    drop_intermediate : bool, default=False
        Whether to leave out thresholds at which the recall is the same as at both neighbours.

    Returns
    -------
    precision : ndarray of shape (n_thresholds + 1,)
        Share of positive rows among those that score at least the threshold; the last value is 1,
        without a threshold.
    recall : ndarray of shape (n_thresholds + 1,)
        Share of positive rows that score at least the threshold, falling; the last value is 0.
    thresholds : ndarray of shape (n_thresholds,)
        Rising distinct scores.

    Raises
    ------
    ValueError
        As for :func:`roc_curve`; also for labels of one class, where scikit-learn returns a curve.

    See Also
    --------
    roc_curve : The same counts, as rates within the two classes.
    sklearn.metrics.average_precision_score : Area under this curve, as a sum of steps.

    Notes
    -----
    Precision depends on the share of positives in the sample, which the ROC curve does not [1]_.
    Sums of weights are exact, however far apart the weights of the classes are.

    References
    ----------
    .. [1] Davis and Goadrich, "The relationship between Precision-Recall and ROC curves", ICML
       2006. :doi:`10.1145/1143844.1143874`

    Examples
    --------
    >>> from aucrank.metrics import precision_recall_curve
    >>> precision, recall, thresholds = precision_recall_curve([0, 0, 1, 1], [0.1, 0.4, 0.3, 0.8])
    >>> precision
    array([0.5       , 0.66666667, 0.5       , 1.        , 1.        ])
    >>> recall
    array([1. , 1. , 0.5, 0.5, 0. ])
    >>> thresholds
    array([0.1, 0.3, 0.4, 0.8])
    """
    labels = vector(y_true, "y_true")
    if pos_label is not None:
        labels = equal_to(labels, pos_label)
    curve = core_curve(labels, y_score, sample_weight, any_labels=False)
    return precision_recall_of(curve, drop_intermediate)


def precision_recall_of(
    curve: _core.RocCurve, drop_intermediate: bool
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Precision, recall and thresholds of a curve, with the end that has no threshold."""
    precision, recall, thresholds = curve.precision_recall(drop_intermediate)
    return np.append(precision, 1.0), np.append(recall, 0.0), thresholds
