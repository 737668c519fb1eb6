"""The AUC with a ramp in place of the step."""

from __future__ import annotations

from functools import partial

import numpy as np
from numpy.typing import ArrayLike, NDArray

from aucrank import _core
from aucrank._data.scores import of_two_classes, to_scores
from aucrank._utils.keywords import suggests_keywords
from aucrank.metrics._core_curve import core_curve


@suggests_keywords
def ramp_auc(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    sample_weight: ArrayLike | None = None,
    half_width: float = 0.5,
    side_slope: float = 1e-3,
) -> float:
    """Ramp approximation of the AUC: a pair counts by the difference of its scores.

    The mean over all pairs of a positive row with score s and a negative one with score t of

        r(x) = 1/2 + ((1 - c) clip(x, -w, w) + c x) / (2 w),   x = s - t,

    where w is ``half_width`` and c is ``side_slope``. The AUC uses the step from 0 over 1/2 to 1
    instead, which has zero gradient; the ramp has a slope everywhere [1]_.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Labels of two classes; the greater label is the positive class.
    y_score : array-like of shape (n_samples,)
        Finite scores; higher is more positive. Unlike for the AUC, their scale matters.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights: a row of weight k counts as k rows, one of weight 0 as none.
    half_width : float, default=0.5
        Difference w of scores at which the ramp reaches 1, in units of the score; positive.
    side_slope : float, default=1e-3
        Slope of the ramp beyond w as a share c of its slope 1 / (2 w) inside; from 0 to 1.

    Returns
    -------
    float
        The mean. From 0 to 1 if ``side_slope`` is 0; otherwise it may leave [0, 1] slightly, as the
        ramp keeps rising beyond 1.

    Raises
    ------
    ValueError
        As for :func:`roc_auc_score`; if a score is infinite, and if a parameter is out of range.

    See Also
    --------
    roc_auc_score : The limit for a narrow ramp without side slope.
    ramp_auc_gradient : The value and its gradient in the scores.

    Notes
    -----
    One sort, then O(n).

    References
    ----------
    .. [1] Herschtal, Raskutti and Campbell, "Area under ROC optimisation using a ramp
       approximation", SIAM International Conference on Data Mining, 2006.

    Examples
    --------
    >>> from aucrank.metrics import ramp_auc
    >>> y_true, y_score = [0, 0, 1, 1], [0.0, 0.5, 0.25, 2.0]
    >>> ramp_auc(y_true, y_score, side_slope=0)
    0.75
    >>> ramp_auc(y_true, y_score, half_width=0.1, side_slope=0)
    0.75
    >>> ramp_auc(y_true, y_score, half_width=2.0, side_slope=0)
    0.71875
    """
    curve = core_curve(y_true, y_score, sample_weight)
    return _core.ramp_auc(curve, float(half_width), float(side_slope))


@suggests_keywords
def ramp_auc_gradient(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    sample_weight: ArrayLike | None = None,
    half_width: float = 0.5,
    side_slope: float = 1e-3,
) -> tuple[float, NDArray[np.float64]]:
    """Ramp approximation of the AUC and its gradient in the scores.

    For models fitted by gradient ascent: for scores ``X @ coef`` the gradient in the coefficients
    is ``X.T @ gradient`` [1]_.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Labels of two classes; the greater label is the positive class.
    y_score : array-like of shape (n_samples,)
        Finite scores; higher is more positive. Unlike for the AUC, their scale matters.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights: a row of weight k counts as k rows, one of weight 0 as none.
    half_width : float, default=0.5
        Difference w of scores at which the ramp reaches 1, in units of the score; positive.
    side_slope : float, default=1e-3
        Slope of the ramp beyond w as a share c of its slope 1 / (2 w) inside; from 0 to 1.

    Returns
    -------
    value : float
        The mean of the ramp over all pairs: :func:`ramp_auc`.
    gradient : ndarray of shape (n_samples,)
        Its derivative with respect to each score: not negative for a positive row, not positive for
        a negative one, 0 for a row of weight 0. Where a pair lies on a corner of the ramp, the
        derivative towards the centre.

    Raises
    ------
    ValueError
        As for :func:`ramp_auc`.

    See Also
    --------
    ramp_auc : Only the value.

    Notes
    -----
    One sort, then O(n); bit-identical for any number of threads and any order of the rows.

    References
    ----------
    .. [1] Herschtal, Raskutti and Campbell, "Area under ROC optimisation using a ramp
       approximation", SIAM International Conference on Data Mining, 2006.

    Examples
    --------
    >>> from aucrank.metrics import ramp_auc_gradient
    >>> value, gradient = ramp_auc_gradient([0, 1, 1], [0.0, 0.5, 9.0], half_width=1, side_slope=0)
    >>> value
    0.875
    >>> gradient
    array([-0.25,  0.25,  0.  ])
    """
    scores, distinct = to_scores(y_score)
    if distinct is not None:
        scores = distinct[scores.astype(np.intp)]
    gradient = partial(
        _core.ramp_auc_gradient, half_width=float(half_width), side_slope=float(side_slope)
    )
    return of_two_classes(gradient, y_true, scores, sample_weight)
