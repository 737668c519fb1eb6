"""The mean of several ROC curves."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from aucrank._utils.keywords import suggests_keywords
from aucrank.metrics._curve import RocCurve

_GRID = 101


@dataclass(frozen=True, eq=False)
class AverageRoc:
    """Mean of ROC curves at each point of a grid, with its spread.

    Made by :func:`average_roc`; it can be passed to ``RocCurve.plot(band=...)``.

    Attributes
    ----------
    fpr : ndarray of shape (n_points,)
        False positive rates: the grid, or means at each threshold.
    tpr : ndarray of shape (n_points,)
        Means of the true positive rates.
    tpr_std : ndarray of shape (n_points,)
        Standard deviations of the true positive rates between the curves, with n - 1 in the
        denominator; 0 for one curve.
    fpr_std : ndarray of shape (n_points,)
        The same for the false positive rates; 0 if they are the grid.
    thresholds : ndarray of shape (n_points,) or None
        The grid of thresholds, if curves were averaged by threshold.
    n_curves : int
        Number of curves.
    """

    fpr: NDArray[np.float64]
    tpr: NDArray[np.float64]
    tpr_std: NDArray[np.float64]
    fpr_std: NDArray[np.float64]
    thresholds: NDArray[np.float64] | None
    n_curves: int

    @property
    def low(self) -> NDArray[np.float64]:
        """One standard deviation below the mean, within [0, 1]."""
        return np.clip(self.tpr - self.tpr_std, 0.0, 1.0)

    @property
    def high(self) -> NDArray[np.float64]:
        """One standard deviation above the mean, within [0, 1]."""
        return np.clip(self.tpr + self.tpr_std, 0.0, 1.0)

    def __repr__(self) -> str:
        return f"{type(self).__name__}(n_points={self.fpr.size}, n_curves={self.n_curves})"


@suggests_keywords
def average_roc(
    curves: Iterable[RocCurve],
    *,
    by: Literal["fpr", "threshold"] = "fpr",
    grid: ArrayLike | None = None,
) -> AverageRoc:
    """Mean of ROC curves, such as those of the folds of a cross-validation [1]_.

    Parameters
    ----------
    curves : iterable of RocCurve
        At least one.
    by : {"fpr", "threshold"}, default="fpr"
        What is held fixed: the false positive rate, which gives the mean true positive rate there
        (vertical averaging); or the threshold, which gives the mean of both rates and needs scores
        on one scale (threshold averaging).
    grid : array-like of shape (n_points,), default=None
        False positive rates from 0 to 1, or thresholds. ``None`` means 101 rates from 0 to 1; or
        infinity and 100 of the thresholds of all curves, descending.

    Returns
    -------
    AverageRoc
        With ``fpr``, ``tpr`` and their spread. Rates rise by ``fpr``; by threshold they rise if the
        grid falls.

    Raises
    ------
    ValueError
        If there is no curve, ``by`` is neither, a rate is out of range, or a threshold is NaN.

    Notes
    -----
    Vertical averages take the highest point of each curve at a rate, and interpolate linearly
    between knots. The area under a vertical average is the mean of the AUCs, up to the resolution
    of the grid.

    References
    ----------
    .. [1] Fawcett, "An introduction to ROC analysis", Pattern Recognition Letters 27(8), 2006,
       sec. 9. :doi:`10.1016/j.patrec.2005.10.010`

    Examples
    --------
    >>> from aucrank.metrics import RocCurve, average_roc
    >>> y = [0, 0, 1, 1]
    >>> folds = [[0.1, 0.4, 0.35, 0.8], [0.1, 0.2, 0.3, 0.4]]
    >>> curves = [RocCurve.from_scores(y, scores) for scores in folds]
    >>> mean = average_roc(curves, grid=[0, 0.25, 0.5, 1])
    >>> mean.tpr
    array([0.75, 0.75, 1.  , 1.  ])
    >>> average_roc(curves, by="threshold", grid=[0.3]).tpr
    array([1.])
    """
    curves = list(curves)
    if not curves:
        raise ValueError("average_roc needs at least one curve")
    ddof = min(1, len(curves) - 1)
    thresholds: NDArray[np.float64] | None
    if by == "fpr":
        rates = np.linspace(0.0, 1.0, _GRID) if grid is None else _vector(grid)
        tpr = np.array([curve.tpr_at(rates) for curve in curves])
        fpr_mean, fpr_std, thresholds = rates, np.zeros(rates.size), None
    elif by == "threshold":
        thresholds = _thresholds(curves) if grid is None else _vector(grid)
        if np.isnan(thresholds).any():
            raise ValueError("grid holds NaN, which is not a threshold")
        knots = [curve.knot_at(thresholds) for curve in curves]
        fpr = np.array([curve.fpr[knot] for curve, knot in zip(curves, knots, strict=True)])
        tpr = np.array([curve.tpr[knot] for curve, knot in zip(curves, knots, strict=True)])
        fpr_mean, fpr_std = fpr.mean(axis=0), fpr.std(axis=0, ddof=ddof)
    else:
        raise ValueError(f'by is {by!r}, but must be "fpr" or "threshold"')
    tpr_mean, tpr_std = tpr.mean(axis=0), tpr.std(axis=0, ddof=ddof)
    return AverageRoc(fpr_mean, tpr_mean, tpr_std, fpr_std, thresholds, len(curves))


def _vector(grid: ArrayLike) -> NDArray[np.float64]:
    points = np.asarray(grid, dtype=np.float64)
    if points.ndim != 1 or points.size == 0:
        raise ValueError(f"grid must be a list of numbers, got an array of shape {points.shape}")
    return points


def _thresholds(curves: list[RocCurve]) -> NDArray[np.float64]:
    """Infinity, then evenly spaced thresholds of all curves, the least included."""
    pooled = np.unique(np.concatenate([curve.thresholds[1:] for curve in curves]))[::-1]
    if pooled.size >= _GRID:
        pooled = pooled[np.linspace(0, pooled.size - 1, _GRID - 1).round().astype(np.intp)]
    return np.concatenate(([np.inf], pooled))
