"""The area under the ROC curve."""

from __future__ import annotations

from numpy.typing import ArrayLike

from aucrank import _core
from aucrank._data.scores import of_two_classes, to_scores
from aucrank.metrics._curve import core_curve


def roc_auc_score(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    sample_weight: ArrayLike | None = None,
    max_fpr: float | None = None,
) -> float:
    """Area under the ROC curve: the chance that a positive row outranks a negative one.

    A tie counts one half. Pairs are counted in integers, so the result is exact up to one
    rounding, never above 1, and the same bits for any number of threads and any order of the rows.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Labels of two classes; the greater label is the positive class.
    y_score : array-like of shape (n_samples,)
        Scores; higher is more positive. float32 is sorted as it is, in half the memory.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights: a row of weight k counts as k rows, one of weight 0 as none.
    max_fpr : float, default=None
        If given, the area up to this false positive rate, in (0, 1], standardised to be 0.5 for
        scores that tell nothing and 1 for perfect ones [1]_.

    Returns
    -------
    float
        The area, from 0 to 1.

    Raises
    ------
    ValueError
        If ``y_true`` does not have two classes or holds a missing value, a score is NaN, lengths
        differ, or a weight is negative or not finite.

    See Also
    --------
    RocCurve.from_scores : The curve, its hull and its points.
    sklearn.metrics.roc_auc_score : The same for more than two classes.

    Notes
    -----
    O(n) for scores that are sorted already, in either direction. Otherwise a parallel radix sort
    that takes 8 bytes a row of extra memory for float64 scores, 4 for float32 and 16 with weights,
    and 1 for labels that are not bool.

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
    if max_fpr is not None and not 0 < max_fpr <= 1:
        raise ValueError(f"Expected max_fpr in range (0, 1], got: {max_fpr!r}")
    if max_fpr is not None and max_fpr < 1:
        return core_curve(y_true, y_score, sample_weight).standardized_auc(float(max_fpr))
    return of_two_classes(_core.roc_auc, y_true, to_scores(y_score)[0], sample_weight)
