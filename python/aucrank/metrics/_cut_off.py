"""Optimal threshold of a score, with intervals."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, Literal, NamedTuple, get_args

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
from aucrank.metrics._units import Units
from aucrank.metrics._weighting import Weighting, rows_to_draw

Criterion = Literal[
    "youden",
    "closest_topleft",
    "cost",
    "equal",
    "sensitivity_at_specificity",
    "precision_at_recall",
    "f_beta",
    "mcc",
    "net_benefit",
    "at_most_k",
]
_CRITERIA: tuple[Criterion, ...] = get_args(Criterion)


# Which criteria need a parameter that has no default.
_NEEDED_BY: dict[str, tuple[Criterion, ...]] = {
    "at_least": ("sensitivity_at_specificity", "precision_at_recall"),
    "probability": ("net_benefit",),
    "k": ("at_most_k",),
}

_Rates = NDArray[np.float64]


class _Objective(NamedTuple):
    """What a threshold is best by.

    Attributes
    ----------
    by : tuple of (str, float, float)
        Name, number and prevalence of the criterion of the core.
    value : callable
        Its value for false and true positive rates, in the unit of the result.
    """

    by: tuple[str, float, float]
    value: Callable[[_Rates, _Rates], _Rates]


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
    flagged : float
        Share of the rows that score at least the threshold, at the prevalence that counts.
    value : float
        The optimised quantity: Youden's index, the mean cost of a row, the distance to the
        corner, the gap between sensitivity and specificity, the sensitivity, the precision, the F
        score, Matthews' correlation or the net benefit.
    value_interval : tuple of (float, float)
        Quantiles of the same of resamples, each cut at its own best threshold.
    value_corrected : float
        The value less the estimated optimism from choosing the threshold.
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
    flagged: float
    value: float
    value_interval: tuple[float, float]
    value_corrected: float
    criterion: str
    confidence: float


@suggests_keywords
def optimal_threshold(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    criterion: Criterion = "youden",
    cost_fp: float = 1.0,
    cost_fn: float = 1.0,
    at_least: float | None = None,
    beta: float = 1.0,
    probability: float | None = None,
    k: float | None = None,
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
    criterion : str, default="youden"
        What the threshold is best by:

        - ``"youden"``: greatest sensitivity plus specificity [1]_;
        - ``"closest_topleft"``: least distance of the point of the curve to the corner (0, 1);
        - ``"cost"``: least mean cost of a row [2]_;
        - ``"equal"``: sensitivity and specificity as close to each other as possible;
        - ``"sensitivity_at_specificity"``: greatest sensitivity where the specificity is at least
          ``at_least``;
        - ``"precision_at_recall"``: greatest precision where the recall, another name of
          sensitivity, is at least ``at_least``;
        - ``"f_beta"``: greatest F score, the weighted harmonic mean of precision and recall;
        - ``"mcc"``: greatest correlation of label and call [4]_;
        - ``"net_benefit"``: greatest net benefit at the threshold ``probability`` [5]_;
        - ``"at_most_k"``: greatest sensitivity where at most ``k`` rows are called positive.
    cost_fp, cost_fn : float, default=1.0
        For ``"cost"``: what a false positive and what a false negative cost; above 0.
    at_least : float, default=None
        For ``"sensitivity_at_specificity"`` the least specificity, for ``"precision_at_recall"``
        the least recall, from 0 to 1; required there.
    beta : float, default=1.0
        For ``"f_beta"``: how many times as much the recall counts as the precision; above 0.
    probability : float, default=None
        For ``"net_benefit"``: the probability, in (0, 1), from which one would act, so that a false
        positive costs ``probability / (1 - probability)`` of what a true positive is worth;
        required there.
    k : int or float, default=None
        For ``"at_most_k"``: how many rows of ``y_true``, by weight, can be called positive, or as a
        float in (0, 1) which share of them; required there.
    prevalence : float, default=None
        For criteria that depend on it, which are all but the first two, ``"equal"`` and
        ``"sensitivity_at_specificity"``: share of positive rows where the threshold will be used,
        in (0, 1); ``None`` takes that of ``y_true``, by weight.
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
        With ``threshold``, ``sensitivity``, ``specificity``, ``flagged``, ``value`` and intervals.

    Raises
    ------
    ValueError
        As for :func:`roc_auc_score`, for a parameter out of range, or missing where the criterion
        needs it, for a frequency that is not whole, and for ``groups`` with a missing value, or
        with all rows in one group.

    See Also
    --------
    RocCurve.coords : Classification figures at any thresholds.
    sklearn.model_selection.TunedThresholdClassifierCV : A classifier with a tuned threshold.

    Notes
    -----
    Only scores are candidates; among equally good ones the highest is taken. The cheapest threshold
    is where the curve has slope ``cost_fp (1 - prevalence) / (cost_fn prevalence)`` [2]_; where it
    is best to call no row positive, or the best scores tie in more rows than are allowed, it is
    infinity.

    A bound is kept on these rows, and in each resample on its own. On new rows it is missed about
    as often as kept; ``specificity_corrected`` and ``sensitivity_corrected`` tell by how much on
    average. To be safe, ask for more than is needed.

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
    .. [4] Matthews, "Comparison of the predicted and observed secondary structure of T4 phage
       lysozyme", Biochimica et Biophysica Acta 405(2), 1975. :doi:`10.1016/0005-2795(75)90109-9`
    .. [5] Vickers and Elkin, "Decision curve analysis", Medical Decision Making 26(6), 2006.
       :doi:`10.1177/0272989X06295361`

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

    The most positives with a specificity of 9 in 10, and with 30 rows to follow up:

    >>> most = optimal_threshold(
    ...     y_true, rating, criterion="sensitivity_at_specificity", at_least=0.9, random_state=0
    ... )
    >>> most.threshold, round(most.sensitivity, 3), round(most.specificity, 3)
    (5.0, 0.647, 0.966)
    >>> few = optimal_threshold(y_true, rating, criterion="at_most_k", k=30, random_state=0)
    >>> few.threshold, few.flagged
    (inf, 0.0)
    """
    alpha = 1 - check_confidence(confidence)
    check_n_resamples(n_resamples)
    check_method(criterion, _CRITERIA, "criterion")
    costs = _positive("cost_fp", cost_fp), _positive("cost_fn", cost_fn)
    _check_needed(criterion, at_least=at_least, probability=probability, k=k)
    if prevalence is not None:
        prevalence = _share("prevalence", prevalence)
    curve = RocCurve.from_scores(y_true, y_score, sample_weight=sample_weight)
    units = Units.of(y_true, sample_weight, weights, None)
    share = units.mean(units.positive) if prevalence is None else prevalence
    capacity = None if k is None else _capacity(k, float(units.given(units.weight.sum())))
    of = _objective(criterion, costs, at_least, beta, probability, capacity, share)
    best = curve._curve.cut_off(*of.by)
    seed = check_seed(random_state)
    scores = to_scores(y_score)[0]
    if groups is not None:
        clustered = Groups.of(y_true, scores, sample_weight, groups)
        clustered.n_pairs()  # Raises an error if there is one group.
        found_at, fpr, tpr = _of_groups(clustered, of.by, n_resamples, seed)
        # For these scores, which are ranks where float64 cannot distinguish scores.
        knots = RocCurve.from_scores(y_true, scores, sample_weight=sample_weight).knot_at(found_at)
    else:
        y_true, (scores,), sample_weight = rows_to_draw(
            y_true, [scores], sample_weight, units.is_counted
        )
        drawn = of_two_classes(
            resampling(_core.bootstrap_cut_offs, of.by, n_resamples, seed),
            y_true,
            scores,
            sample_weight,
        ).reshape(n_resamples, 3)
        knots, fpr, tpr = drawn[:, 0].astype(np.intp), drawn[:, 1], drawn[:, 2]
    # The thresholds of the resamples, used on all rows.
    all_fpr, all_tpr = curve.fpr[knots], curve.tpr[knots]
    values = of.value(fpr, tpr)
    found = float(of.value(curve.fpr[best], curve.tpr[best]))
    optimism = float(np.mean(values - of.value(all_fpr, all_tpr)))
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
        flagged=share * sensitivity + (1 - share) * (1 - specificity),
        value=found,
        value_interval=interval(values),
        value_corrected=found - optimism,
        criterion=criterion,
        confidence=confidence,
    )


def _check_needed(criterion: Criterion, **given: float | None) -> None:
    """Raise ``ValueError`` for a parameter that is missing, or given to a criterion without it."""
    for name, value in given.items():
        if criterion in _NEEDED_BY[name] and value is None:
            raise ValueError(f"criterion {criterion!r} needs {name}")
        if criterion not in _NEEDED_BY[name] and value is not None:
            criteria = " and ".join(map(repr, _NEEDED_BY[name]))
            raise ValueError(f"{name} is for criterion {criteria}, not for {criterion!r}")


def _positive(name: str, number: float) -> float:
    check_scalar(number, name, Real, min_val=0, include_boundaries="neither")
    if not math.isfinite(number):
        raise ValueError(f"{name} is {number}, but must be finite")
    return float(number)


def _share(name: str, share: Any, ends: Literal["both", "neither"] = "neither") -> float:
    check_scalar(share, name, Real, min_val=0, max_val=1, include_boundaries=ends)
    if math.isnan(share):
        raise ValueError(f"{name} is NaN, but must be from 0 to 1")
    return float(share)


def _objective(
    criterion: Criterion,
    costs: tuple[float, float],
    at_least: float | None,
    beta: float,
    probability: float | None,
    capacity: float | None,
    share: float,
) -> _Objective:
    """Return what a threshold is best by, for a share of positives."""

    def called(fpr: _Rates, tpr: _Rates) -> _Rates:
        return share * tpr + (1 - share) * fpr

    def ratio(numerator: _Rates, denominator: _Rates) -> _Rates:
        """Return a quotient that is 0 where it has no denominator."""
        return np.divide(
            numerator, denominator, out=np.zeros(np.shape(numerator)), where=denominator > 0
        )

    match criterion:
        case "youden":
            return _Objective(("slope", 1.0, share), lambda fpr, tpr: tpr - fpr)
        case "closest_topleft":
            return _Objective(("corner", 0.0, share), lambda fpr, tpr: np.hypot(fpr, 1 - tpr))
        case "equal":
            return _Objective(("equal", 0.0, share), lambda fpr, tpr: np.abs(tpr - (1 - fpr)))
        case "cost":
            wrong, missed = costs[0] * (1 - share), costs[1] * share
            return _Objective(
                ("slope", wrong / missed, share), lambda fpr, tpr: wrong * fpr + missed * (1 - tpr)
            )
        case "net_benefit":
            acts_from = _share("probability", probability)
            wrong = (1 - share) * acts_from / (1 - acts_from)
            return _Objective(
                ("slope", wrong / share, share), lambda fpr, tpr: share * tpr - wrong * fpr
            )
        case "sensitivity_at_specificity":
            bound = _share("at_least", at_least, "both")
            return _Objective(("sensitivity", bound, share), lambda _, tpr: tpr)
        case "precision_at_recall":
            bound = _share("at_least", at_least, "both")
            return _Objective(
                ("precision", bound, share),
                lambda fpr, tpr: ratio(share * tpr, called(fpr, tpr)),
            )
        case "f_beta":
            square = _positive("beta", beta) ** 2
            return _Objective(
                ("f_beta", float(beta), share),
                lambda fpr, tpr: (1 + square) * share * tpr / (called(fpr, tpr) + square * share),
            )
        case "mcc":
            return _Objective(
                ("matthews", 0.0, share),
                lambda fpr, tpr: ratio(
                    np.sqrt(share * (1 - share)) * (tpr - fpr),
                    # Rounding may take the last knot above 1.
                    np.sqrt(called(fpr, tpr) * np.maximum(1 - called(fpr, tpr), 0)),
                ),
            )
        case "at_most_k":
            assert capacity is not None
            return _Objective(("capacity", capacity, share), lambda _, tpr: tpr)


def _capacity(k: float, total: float) -> float:
    """Return the share of rows that a capacity of rows, or a share of them, is."""
    if isinstance(k, Integral) and not isinstance(k, bool):
        check_scalar(k, "k", Integral, min_val=1)
        return min(int(k) / total, 1.0)
    return _share("k", k)


def _of_groups(
    groups: Groups,
    by: tuple[str, float, float],
    n_resamples: int,
    seed: int,
) -> NDArray[np.float64]:
    """Return the best threshold of each resample of whole groups, and its rates there."""
    found = np.empty((3, n_resamples))
    for resample, (curve,) in enumerate(groups.curves([groups.scores], n_resamples, seed)):
        best = curve.cut_off(*by)
        found[:, resample] = curve.thresholds()[best], curve.fpr()[best], curve.tpr()[best]
    return found
