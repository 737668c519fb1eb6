"""Confidence bands around an ROC curve."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.random import RandomState
from numpy.typing import ArrayLike, NDArray

from aucrank import _core
from aucrank._data.scores import of_two_classes, to_scores, with_options
from aucrank._utils.keywords import suggests_keywords
from aucrank._utils.params import check_seed
from aucrank.metrics._clustered import Groups
from aucrank.metrics._core_curve import core_curve
from aucrank.metrics._inference import (
    band_reach,
    check_confidence,
    check_method,
    check_n_resamples,
    levels_of,
    resampling,
)
from aucrank.metrics._weighting import Weighting, are_counts, rows_to_draw


@dataclass(frozen=True, eq=False)
class RocBand:
    """ROC curve on a grid with a confidence band, as :func:`roc_band` returns it.

    Attributes
    ----------
    fpr : ndarray of shape (n_points,)
        False positive rates.
    tpr : ndarray of shape (n_points,)
        True positive rates of the curve there.
    low, high : ndarray of shape (n_points,)
        Ends of the band there, from 0 to 1.
    confidence : float
        Level of the band.
    method : str
        ``"pointwise"`` or ``"simultaneous"``.
    """

    fpr: NDArray[np.float64]
    tpr: NDArray[np.float64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    confidence: float
    method: str


@suggests_keywords
def roc_band(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    sample_weight: ArrayLike | None = None,
    weights: Weighting = "sampling",
    groups: ArrayLike | None = None,
    confidence: float = 0.95,
    method: Literal["pointwise", "simultaneous"] = "pointwise",
    fpr: ArrayLike | None = None,
    n_resamples: int = 2000,
    random_state: int | RandomState | None = None,
) -> RocBand:
    """Confidence band of the ROC curve.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Labels of two classes; the greater label is the positive class.
    y_score : array-like of shape (n_samples,)
        Scores; higher is more positive.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights of the rows (see Notes).
    weights : {"sampling", "frequency"}, default="sampling"
        Meaning of a weight: ``"sampling"``, how many rows of the population the row represents
        (only ratios matter); ``"frequency"``, a whole number of identical rows.
    groups : array-like of shape (n_samples,), default=None
        Which rows come from the same source, such as a patient: rows of a group may be dependent,
        groups are independent (see Notes).
    confidence : float, default=0.95
        Level of the band, in (0, 1).
    method : {"pointwise", "simultaneous"}, default="pointwise"
        ``"pointwise"``: at each false positive rate, an interval that contains the true positive
        rate with the given confidence. ``"simultaneous"``: a wider band that contains the whole
        true curve with at least that confidence.
    fpr : array-like of shape (n_points,), default=None
        False positive rates, from 0 to 1; ``None`` takes 101 in equal steps.
    n_resamples : int, default=2000
        Number of bootstrap resamples of the pointwise band, 2 or more.
    random_state : int, RandomState instance or None, default=None
        Seed of the bootstrap. The result does not depend on the number of threads.

    Returns
    -------
    RocBand
        With ``fpr``, ``tpr``, ``low`` and ``high``.

    Raises
    ------
    ValueError
        As for :func:`roc_auc_score`, for a parameter out of range, and for ``groups`` with
        a missing value, or with all rows in one group.

    See Also
    --------
    RocCurve : The curve itself.
    auc_interval : Interval of the area under it.

    Notes
    -----
    Pointwise: quantiles of the true positive rate over bootstrap resamples of the rows within each
    class [1]_. Where the curve is at 0 or 1, all resamples may agree although the rows do not
    justify such certainty: there the band reaches at least as far as the interval of Clopper and
    Pearson [2]_ for none or all of the m positive rows, ``((1 - confidence) / 2) ** (1 / m)`` where
    the curve is at 1. At the false positive rate 1, the true positive rate is 1 by definition.

    Simultaneous: the Kolmogorov-Smirnov band of Campbell [3]_, with the sharp constant of Massart
    [4]_, valid for any number of rows and any law of the scores, ties included. Both rates, as
    functions of the threshold, are within ``e(m) = sqrt(log(2 / a) / (2 m))`` of the truth for all
    thresholds at once, with probability ``1 - a`` each; as the classes are independent,
    ``(1 - a)² = confidence``. Hence the true curve is, at x, between the curve at ``x - e(n)`` less
    ``e(m)`` and the curve at ``x + e(n)`` plus ``e(m)``, for m positive and n negative rows.

    With weights, the resamples draw rows with equal chances and each keeps its weight; m and n are
    Kish's effective numbers (Σw)² / Σw², which makes the simultaneous band approximate. With
    frequencies, both are those of the repeated rows.

    With ``groups``, whole groups are drawn, from all of them, and again if a class is absent; m and
    n are Kish's effective numbers of groups with positive and with negative rows, w being the
    weight of the rows of a class in a group. The simultaneous band is then approximate, and wider
    than necessary if rows differ within their group.

    References
    ----------
    .. [1] Efron and Tibshirani, "An introduction to the bootstrap", Chapman and Hall, 1993,
       chapter 13. :doi:`10.1201/9780429246593`
    .. [2] Clopper and Pearson, "The use of confidence or fiducial limits illustrated in the case of
       the binomial", Biometrika 26(4), 1934. :doi:`10.1093/biomet/26.4.404`
    .. [3] Campbell, "Advances in statistical methodology for the evaluation of diagnostic and
       laboratory tests", Statistics in Medicine 13(5-7), 1994. :doi:`10.1002/sim.4780130513`
    .. [4] Massart, "The tight constant in the Dvoretzky-Kiefer-Wolfowitz inequality", Annals of
       Probability 18(3), 1990. :doi:`10.1214/aop/1176990746`

    Examples
    --------
    >>> import numpy as np
    >>> from aucrank.metrics import roc_band
    >>> rng = np.random.default_rng(0)
    >>> y_true = np.repeat([0, 1], 200)
    >>> y_score = rng.normal(loc=y_true)
    >>> band = roc_band(y_true, y_score, method="simultaneous", fpr=[0.1, 0.5])
    >>> bool(np.all((band.low < band.tpr) & (band.tpr < band.high)))
    True
    """
    alpha = 1 - check_confidence(confidence)
    check_method(method, ("pointwise", "simultaneous"))
    check_n_resamples(n_resamples)
    grid = np.linspace(0, 1, 101) if fpr is None else np.array(fpr, dtype=np.float64)
    if grid.ndim != 1 or grid.size == 0:
        raise ValueError(f"fpr must have shape (n_points,), got shape {grid.shape}")
    is_counted = are_counts(weights, sample_weight)
    curve = core_curve(y_true, y_score, sample_weight)
    tpr = curve.tpr_at(grid)
    scores = to_scores(y_score)[0]
    whole = (0.0, 1.0), (0.0, 1.0)
    spread = with_options(_core.partial_areas, whole, True) if is_counted else _core.delong
    effective = of_two_classes(spread, y_true, [scores], sample_weight)[2]
    clustered, degrees = None, math.inf
    if groups is not None:
        clustered = Groups.of(y_true, scores, sample_weight, groups)
        clustered.n_pairs()  # Raises an error if there is one group.
        effective, degrees = clustered.n_effective(), max(clustered.degrees(), 1.0)
    if method == "simultaneous":
        reach_up, reach_right = band_reach(alpha, effective)
        low = _lowest_at(curve, grid - reach_right) - reach_up
        high = np.where(
            grid + reach_right < 1, curve.tpr_at(np.minimum(grid + reach_right, 1)) + reach_up, 1
        )
    else:
        seed = check_seed(random_state)
        if clustered is not None:
            drawn = clustered.bootstrap_tprs(grid, n_resamples, seed)
        else:
            y_true, (scores,), sample_weight = rows_to_draw(
                y_true, [scores], sample_weight, is_counted
            )
            drawn = of_two_classes(
                resampling(_core.bootstrap_tprs, grid, n_resamples, seed),
                y_true,
                scores,
                sample_weight,
            )
        low, high = np.quantile(drawn.reshape(-1, grid.size), levels_of(alpha, degrees), axis=0)
        least = (alpha / 2) ** (1 / effective[0])
        low = np.where((tpr == 1) & (grid < 1), np.minimum(low, least), low)
        high = np.where(tpr == 0, np.maximum(high, 1 - least), high)
    # The curve may leave its own quantiles, but never the band.
    low, high = np.clip(np.minimum(low, tpr), 0, 1), np.clip(np.maximum(high, tpr), 0, 1)
    return RocBand(grid, tpr, low, high, confidence, method)


def _lowest_at(curve: _core.RocCurve, rates: NDArray[np.float64]) -> NDArray[np.float64]:
    """Lowest true positive rate at each false positive rate, 0 left of the curve."""
    x, y = curve.fpr(), curve.tpr()
    # The first of the knots at a rate is the lowest, whereas interpolation takes the last.
    first = np.searchsorted(x, rates)
    on_knot = x[np.minimum(first, x.size - 1)] == rates
    inside = curve.tpr_at(np.clip(rates, 0, 1))
    return np.where(rates < 0, 0.0, np.where(on_knot, y[np.minimum(first, x.size - 1)], inside))
