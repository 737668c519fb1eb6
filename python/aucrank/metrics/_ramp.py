"""The AUC with a ramp in place of the step."""

from __future__ import annotations

from numpy.typing import ArrayLike

from aucrank import _core
from aucrank.metrics._curve import core_curve


def ramp_auc(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    sample_weight: ArrayLike | None = None,
    half_width: float = 0.5,
    side_slope: float = 1e-3,
) -> float:
    """Ramp approximation of the AUC: a pair counts by how far its scores lie apart.

    The mean over all pairs of a positive row with score s and a negative one with score t of

        r(x) = 1/2 + ((1 - c) clip(x, -w, w) + c x) / (2 w),   x = s - t,

    where w is ``half_width`` and c is ``side_slope``. The AUC takes the step from 0 over 1/2 to 1
    instead, which has no slope to climb; the ramp has one everywhere [1]_.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Labels of two classes; the greater label is the positive class.
    y_score : array-like of shape (n_samples,)
        Finite scores; higher is more positive. Their scale matters, unlike for the AUC.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights: a row of weight k counts as k rows, one of weight 0 as none.
    half_width : float, default=0.5
        Difference w of scores at which the ramp reaches 1, in units of the score; positive.
    side_slope : float, default=1e-3
        Slope of the ramp beyond w as a share c of its slope 1 / (2 w) inside; from 0 to 1.

    Returns
    -------
    float
        The mean. From 0 to 1 if ``side_slope`` is 0; otherwise it may leave [0, 1] a little, as the
        ramp goes on rising beyond 1.

    Raises
    ------
    ValueError
        As for :func:`roc_auc_score`; if a score is infinite, and if a parameter is out of range.

    See Also
    --------
    roc_auc_score : The limit for a narrow ramp without side slope.

    Notes
    -----
    One sort, then O(n). The Rust crate has the gradient by score and by coefficient.

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
