"""The area under the ROC curve."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from aucrank import _core
from aucrank._data.scores import of_two_classes, to_scores
from aucrank._data.vectors import vector
from aucrank._utils.keywords import suggests_keywords
from aucrank.metrics._core_curve import core_curve

_AVERAGES = ("micro", "macro", "samples", "weighted", None)
_MULTI_CLASS = ("raise", "ovr", "ovo")


@suggests_keywords
def roc_auc_score(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    average: Literal["micro", "macro", "samples", "weighted"] | None = "macro",
    sample_weight: ArrayLike | None = None,
    max_fpr: float | None = None,
    multi_class: Literal["raise", "ovr", "ovo"] = "raise",
    labels: ArrayLike | None = None,
) -> float:
    """Area under the ROC curve: the chance that a positive row outranks a negative one.

    A tie counts one half. Pairs are counted in integers, so the result is exact up to one
    rounding, never above 1, and bit-identical for any number of threads and any order of the rows.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Labels of two classes; the greater label is the positive class.
    y_score : array-like of shape (n_samples,)
        Scores; higher is more positive. float32 is sorted as float32, in half the memory.
    average : {"micro", "macro", "samples", "weighted"} or None, default="macro"
        As in scikit-learn; it has no effect for two classes.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights: a row of weight k counts as k rows, one of weight 0 as none.
    max_fpr : float, default=None
        If given, the area up to this false positive rate, in (0, 1], standardised to be 0.5 for
        uninformative scores and 1 for perfect ones [1]_.
    multi_class : {"raise", "ovr", "ovo"}, default="raise"
        As in scikit-learn; for two classes it has no effect.
    labels : array-like of shape (2,), default=None
        The two classes, in any order; they must be those of ``y_true``.

    Returns
    -------
    float
        The area, from 0 to 1.

    Raises
    ------
    ValueError
        If ``y_true`` does not have two classes or holds a missing value, a score is NaN, lengths
        differ, or a weight is negative or not finite; and if ``average`` or ``multi_class`` is not
        one of the above, or ``labels`` are not the two classes.

    See Also
    --------
    RocCurve.from_scores : The curve, its hull and its points.
    sklearn.metrics.roc_auc_score : The same for more than two classes.

    Notes
    -----
    O(n) for scores already sorted in either direction. Otherwise a parallel radix sort takes 8
    bytes a row of extra memory for float64 scores, 4 for float32 and 16 with weights, and 1 for
    labels that are not bool.

    References
    ----------
    .. [1] McClish, "Analyzing a portion of the ROC curve", Medical Decision Making 9(3), 1989.
       :doi:`10.1177/0272989X8900900307`

    Examples
    --------
    >>> from aucrank.metrics import roc_auc_score
    >>> roc_auc_score([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
    0.75
    >>> roc_auc_score(["no", "yes", "no"], [0.2, 0.9, 0.9], sample_weight=[1, 1, 3])
    0.625
    """
    for name, value, known in (
        ("average", average, _AVERAGES),
        ("multi_class", multi_class, _MULTI_CLASS),
    ):
        if value not in known:
            choices = ", ".join(map(repr, known))
            raise ValueError(f"{name} is {value!r}, but must be one of {choices}")
    if labels is not None:
        _check_labels(labels, y_true)
    if max_fpr is not None and not 0 < max_fpr <= 1:
        raise ValueError(f"Expected max_fpr in range (0, 1], got: {max_fpr!r}")
    if max_fpr is not None and max_fpr < 1:
        return core_curve(y_true, y_score, sample_weight).standardized_auc(float(max_fpr))
    return of_two_classes(_core.roc_auc, y_true, to_scores(y_score)[0], sample_weight)


def _check_labels(labels: ArrayLike, y_true: ArrayLike) -> None:
    """Raise ValueError if the labels are not the two classes of the rows."""
    given = set(vector(labels, "labels").tolist())
    if len(given) != 2:
        raise ValueError(f"labels must be two classes, but holds {len(given)} of them")
    strange = set(np.unique(vector(y_true, "y_true")).tolist()) - given
    if strange:
        raise ValueError(f"y_true holds {min(map(repr, strange))}, which is not one of labels")
