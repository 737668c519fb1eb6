"""Optimal threshold of a score, with intervals."""

from __future__ import annotations

import math
from dataclasses import dataclass
from numbers import Real
from typing import Literal

import numpy as np
from numpy.random import RandomState
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_scalar

from aucrank import _core
from aucrank._data.scores import of_two_classes, to_scores
from aucrank._utils.keywords import suggests_keywords
from aucrank._utils.params import check_seed
from aucrank.metrics._clustered import Groups
from aucrank.metrics._curve import RocCurve
from aucrank.metrics._inference import (
    check_confidence,
    check_method,
    check_n_resamples,
    resampling,
)
from aucrank.metrics._weighting import Weighting, are_counts, rows_to_draw

_CRITERIA: dict[str, Literal["slope", "corner", "equal"]] = {
    "youden": "slope",
    "cost": "slope",
    "closest_topleft": "corner",
    "equal": "equal",
}


@dataclass(frozen=True)
class OptimalThreshold:
    """Best threshold of a score with intervals, as :func:`optimal_threshold` returns it.

    Attributes
    ----------
    threshold : float
        Rows that score at least this count as positive; infinity if no row does.
    threshold_interval : tuple of (float, float)
        Quantiles of the best thresholds of resamples.
    sensitivity, specificity : float
        Shares of the positive and of the negative rows on their side of the threshold.
    sensitivity_interval, specificity_interval : tuple of (float, float)
        Quantiles of the same of resamples, each cut at its own best threshold.
    sensitivity_corrected, specificity_corrected : float
        The shares less the estimated optimism from choosing the threshold.
    value : float
        The optimised quantity: Youden's index, the mean cost of a row, the distance to the
        corner, or the gap between sensitivity and specificity.
    value_corrected : float
        The same less the estimated optimism from choosing the threshold.
    criterion : str
        The criterion.
    confidence : float
        Level of the intervals.
    """

    threshold: float
    threshold_interval: tuple[float, float]
    sensitivity: float
    sensitivity_interval: tuple[float, float]
    sensitivity_corrected: float
    specificity: float
    specificity_interval: tuple[float, float]
    specificity_corrected: float
    value: float
    value_corrected: float
    criterion: str
    confidence: float


@suggests_keywords
def optimal_threshold(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    criterion: Literal["youden", "closest_topleft", "cost", "equal"] = "youden",
    cost_fp: float = 1.0,
    cost_fn: float = 1.0,
    prevalence: float | None = None,
    sample_weight: ArrayLike | None = None,
    weights: Weighting = "sampling",
    groups: ArrayLike | None = None,
    confidence: float = 0.95,
    n_resamples: int = 2000,
    random_state: int | RandomState | None = None,
) -> OptimalThreshold:
    """Threshold that is best by a criterion, with intervals for it and for its rates.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Labels of two classes; the greater label is the positive class.
    y_score : array-like of shape (n_samples,)
        Scores; higher is more positive.
    criterion : {"youden", "closest_topleft", "cost", "equal"}, default="youden"
        ``"youden"``: greatest sensitivity plus specificity [1]_. ``"closest_topleft"``: least
        distance of the point of the curve to the corner (0, 1). ``"cost"``: least mean cost of a
        row [2]_. ``"equal"``: sensitivity and specificity as close to each other as possible.
    cost_fp, cost_fn : float, default=1.0
        For ``"cost"``: what a false positive and what a false negative cost; above 0.
    prevalence : float, default=None
        For ``"cost"``: share of positive rows where the threshold will be used, in (0, 1); ``None``
        takes that of ``y_true``, by weight.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights of the rows.
    weights : {"sampling", "frequency"}, default="sampling"
        Meaning of a weight, as for :func:`auc_interval`.
    groups : array-like of shape (n_samples,), default=None
        Which rows come from the same source, such as a patient: whole groups are drawn, from all of
        them, in place of rows within each class.
    confidence : float, default=0.95
        Level of the intervals, in (0, 1).
    n_resamples : int, default=2000
        Number of bootstrap resamples, 2 or more.
    random_state : int, RandomState instance or None, default=None
        Seed of the bootstrap. The result does not depend on the number of threads.

    Returns
    -------
    OptimalThreshold
        With ``threshold``, ``sensitivity``, ``specificity``, ``value`` and intervals.

    Raises
    ------
    ValueError
        As for :func:`roc_auc_score`, for a parameter out of range, for a frequency that is
        not whole, and for ``groups`` with a missing value, or with all rows in one group.

    See Also
    --------
    RocCurve.coords : Classification figures at any thresholds.
    sklearn.model_selection.TunedThresholdClassifierCV : A classifier with a tuned threshold.

    Notes
    -----
    Only scores are candidates; among equally good ones the highest is taken. The cheapest threshold
    is where the curve has slope ``cost_fp (1 - prevalence) / (cost_fn prevalence)`` [2]_; where it
    is cheapest to call no row positive, it is infinity.

    Intervals are quantiles over resamples of the rows within each class, each cut where it is best,
    as by ``ci.coords(roc, "best")`` of pROC. The best threshold jumps between scores that are
    almost equally good: its distribution is not normal, and its interval often wide.

    A threshold looks better on the rows that it was chosen on than it is. The corrected values
    subtract Efron's estimate of optimism [3]_: the mean over resamples of the loss when the
    threshold of the resample is used on all rows. The intervals of sensitivity and specificity are
    too high by about as much. A separate test set is better still.

    References
    ----------
    .. [1] Youden, "Index for rating diagnostic tests", Cancer 3(1), 1950.
       :doi:`10.1002/1097-0142(1950)3:1<32::AID-CNCR2820030106>3.0.CO;2-3`
    .. [2] Metz, "Basic principles of ROC analysis", Seminars in Nuclear Medicine 8(4), 1978.
       :doi:`10.1016/S0001-2998(78)80014-2`
    .. [3] Efron and Tibshirani, "An introduction to the bootstrap", Chapman and Hall, 1993,
       chapter 17. :doi:`10.1201/9780429246593`

    Examples
    --------
    >>> import numpy as np
    >>> from aucrank.metrics import optimal_threshold
    >>> y_true = np.repeat([0, 1], [58, 51])
    >>> rating = np.repeat([1, 2, 3, 4, 5] * 2, [33, 6, 6, 11, 2, 3, 2, 2, 11, 33])
    >>> best = optimal_threshold(y_true, rating, random_state=0)
    >>> best.threshold, round(best.sensitivity, 3), round(best.specificity, 3)
    (4.0, 0.863, 0.776)
    >>> best.value_corrected < best.value
    True
    >>> optimal_threshold(y_true, rating, criterion="cost", cost_fp=10, random_state=0).threshold
    5.0
    """
    alpha = 1 - check_confidence(confidence)
    check_n_resamples(n_resamples)
    check_method(criterion, _CRITERIA, "criterion")
    for name, cost in (("cost_fp", cost_fp), ("cost_fn", cost_fn)):
        check_scalar(cost, name, Real, min_val=0, include_boundaries="neither")
        if not math.isfinite(cost):
            raise ValueError(f"{name} is {cost}, but must be finite")
    if prevalence is not None:
        check_scalar(
            prevalence, "prevalence", Real, min_val=0, max_val=1, include_boundaries="neither"
        )
    is_counted = are_counts(weights, sample_weight)
    curve = RocCurve.from_scores(y_true, y_score, sample_weight=sample_weight)
    negative, positive = (float(above[-1]) for above in curve._curve.weights_above())
    share = positive / (positive + negative) if prevalence is None else float(prevalence)
    slope = cost_fp * (1 - share) / (cost_fn * share) if criterion == "cost" else 1.0

    def value(fpr: NDArray[np.float64], tpr: NDArray[np.float64]) -> NDArray[np.float64]:
        if criterion == "cost":
            return cost_fp * (1 - share) * fpr + cost_fn * share * (1 - tpr)
        if criterion == "closest_topleft":
            return np.hypot(fpr, 1 - tpr)
        return np.abs(tpr - (1 - fpr)) if criterion == "equal" else tpr - fpr

    by = _CRITERIA[criterion]
    best = curve._curve.cut_off(by, slope)
    seed = check_seed(random_state)
    scores = to_scores(y_score)[0]
    if groups is not None:
        clustered = Groups.of(y_true, scores, sample_weight, groups)
        clustered.n_pairs()  # Raises an error if there is one group.
        found_at, fpr, tpr = _of_groups(clustered, by, slope, n_resamples, seed)
        # For these scores, which are ranks where float64 cannot distinguish scores.
        knots = RocCurve.from_scores(y_true, scores, sample_weight=sample_weight).knot_at(found_at)
    else:
        y_true, (scores,), sample_weight = rows_to_draw(y_true, [scores], sample_weight, is_counted)
        drawn = of_two_classes(
            resampling(_core.bootstrap_cut_offs, by, slope, n_resamples, seed),
            y_true,
            scores,
            sample_weight,
        ).reshape(n_resamples, 3)
        knots, fpr, tpr = drawn[:, 0].astype(np.intp), drawn[:, 1], drawn[:, 2]
    # The thresholds of the resamples, used on all rows.
    all_fpr, all_tpr = curve.fpr[knots], curve.tpr[knots]
    found = float(value(curve.fpr[best], curve.tpr[best]))
    optimism = float(np.mean(value(fpr, tpr) - value(all_fpr, all_tpr)))
    sensitivity, specificity = float(curve.tpr[best]), float(1 - curve.fpr[best])
    levels = [alpha / 2, 1 - alpha / 2]

    def interval(
        values: NDArray[np.float64], method: Literal["linear", "inverted_cdf"] = "linear"
    ) -> tuple[float, float]:
        low, high = np.quantile(values, levels, method=method).tolist()
        return low, high

    return OptimalThreshold(
        threshold=float(curve.thresholds[best]),
        # Thresholds are scores, or infinity; none lies between two of them.
        threshold_interval=interval(curve.thresholds[knots], "inverted_cdf"),
        sensitivity=sensitivity,
        sensitivity_interval=interval(tpr),
        sensitivity_corrected=sensitivity - float(np.mean(tpr - all_tpr)),
        specificity=specificity,
        specificity_interval=interval(1 - fpr),
        specificity_corrected=specificity - float(np.mean(all_fpr - fpr)),
        value=found,
        value_corrected=found - optimism,
        criterion=criterion,
        confidence=confidence,
    )


def _of_groups(
    groups: Groups,
    by: Literal["slope", "corner", "equal"],
    slope: float,
    n_resamples: int,
    seed: int,
) -> NDArray[np.float64]:
    """Return the best threshold of each resample of whole groups, and its rates there."""
    found = np.empty((3, n_resamples))
    for resample, (curve,) in enumerate(groups.curves([groups.scores], n_resamples, seed)):
        best = curve.cut_off(by, slope)
        found[:, resample] = curve.thresholds()[best], curve.fpr()[best], curve.tpr()[best]
    return found
