"""Average precision: the mean precision at the positive rows."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.random import RandomState
from numpy.typing import ArrayLike, NDArray

from aucrank._data.scores import to_scores
from aucrank._utils.keywords import suggests_keywords
from aucrank._utils.params import check_seed
from aucrank.metrics._inference import (
    TYPICAL_DEGREES,
    chance_above,
    check_confidence,
    check_method,
    check_n_resamples,
    degrees_of_rows,
    exact_interval,
    levels_of,
    normal_interval,
)
from aucrank.metrics._units import Units
from aucrank.metrics._weighting import Weighting


@dataclass(frozen=True)
class AveragePrecision:
    """Average precision with a confidence interval, as :func:`average_precision` returns it.

    Attributes
    ----------
    value : float
        Average precision.
    low, high : float
        Ends of the interval.
    standard_error : float
        Estimate of its standard deviation over samples.
    prevalence : float
        Share of positives, which is the average precision of an uninformative score.
    confidence : float
        Level of the interval.
    method : str
        ``"logit"``, ``"bootstrap"``, or ``"exact"`` where it is 1.
    """

    value: float
    low: float
    high: float
    standard_error: float
    prevalence: float
    confidence: float
    method: str


@dataclass(frozen=True)
class AveragePrecisionComparison:
    """Difference of two average precisions, as :func:`average_precision_compare` returns it.

    Attributes
    ----------
    value_1, value_2 : float
        The two average precisions.
    difference : float
        ``value_1 - value_2``.
    low, high : float
        Ends of the interval of the difference.
    standard_error : float
        Its standard deviation over resamples.
    z : float
        ``difference / standard_error``; 0 where both are 0.
    p_value : float
        Two-sided, of the hypothesis that both are equal.
    confidence : float
        Level of the interval.
    """

    value_1: float
    value_2: float
    difference: float
    low: float
    high: float
    standard_error: float
    z: float
    p_value: float
    confidence: float


@suggests_keywords
def average_precision(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    sample_weight: ArrayLike | None = None,
    weights: Weighting = "sampling",
    groups: ArrayLike | None = None,
    confidence: float = 0.95,
    method: Literal["logit", "bootstrap"] = "bootstrap",
    n_resamples: int = 2000,
    random_state: int | RandomState | None = None,
) -> AveragePrecision:
    """Average precision with a confidence interval.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Labels of two classes; the greater label is the positive class.
    y_score : array-like of shape (n_samples,)
        Scores; higher is more positive.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights of the rows.
    weights : {"sampling", "frequency"}, default="sampling"
        Meaning of a weight: ``"sampling"``, how many rows of the population the row represents
        (only ratios matter); ``"frequency"``, a whole number of identical rows.
    groups : array-like of shape (n_samples,), default=None
        Which rows come from the same source, such as a patient: they are drawn together. Only for
        the bootstrap.
    confidence : float, default=0.95
        Level of the interval, in (0, 1).
    method : {"logit", "bootstrap"}, default="bootstrap"
        ``"bootstrap"``: quantiles over resamples of the rows within each class, or of whole groups,
        as far in the tails as those of Student's t with one degree of freedom less than positive
        rows or groups [3]_.
        ``"logit"``: on the scale of log(value / (1 - value)) with the standard error of a binomial
        share of the positive rows [1]_, fast for any number of rows; by Student's t with four
        degrees of freedom more than positive rows.
    n_resamples : int, default=2000
        Number of bootstrap resamples, 2 or more.
    random_state : int, RandomState instance or None, default=None
        Seed of the bootstrap.

    Returns
    -------
    AveragePrecision
        With ``value``, ``low`` and ``high``.

    Raises
    ------
    ValueError
        As for :func:`auc_interval`, and for ``groups`` with ``"logit"``.

    See Also
    --------
    precision_recall_curve : The curve whose area it is, as a step function.
    auc_interval : The area under the ROC curve, which does not depend on the share of positives.

    Notes
    -----
    The sum over thresholds of the gain in recall times the precision, as in scikit-learn, without
    interpolation [2]_. It depends on the share of positives, so samples with different shares
    cannot be compared by it.

    References
    ----------
    .. [1] Boyd, Eng and Page, "Area under the precision-recall curve: point estimates and
       confidence intervals", ECML PKDD 2013. :doi:`10.1007/978-3-642-40994-3_29`
    .. [2] Davis and Goadrich, "The relationship between Precision-Recall and ROC curves", ICML
       2006. :doi:`10.1145/1143844.1143874`
    .. [3] Hesterberg, "What teachers should know about the bootstrap", The American Statistician
       69(4), 2015. :doi:`10.1080/00031305.2015.1089789`

    Examples
    --------
    >>> import numpy as np
    >>> from aucrank.metrics import average_precision
    >>> rng = np.random.default_rng(0)
    >>> y_true = np.arange(1000) % 10 == 0
    >>> found = average_precision(y_true, rng.normal(loc=2.0 * y_true), random_state=0)
    >>> found.prevalence < found.low < found.value < found.high
    True
    """
    alpha = 1 - check_confidence(confidence)
    check_method(method, ("logit", "bootstrap"))
    check_n_resamples(n_resamples)
    if groups is not None and method == "logit":
        raise ValueError('groups need method="bootstrap": the logit interval is of rows apart')
    units = Units.of(y_true, sample_weight, weights, groups)
    ranked = _Ranked.of(units, to_scores(y_score)[0])
    value, prevalence = ranked.value(), units.mean(units.positive)
    n_pos = units.n_effective(units.positive)
    if value == 1 or method == "logit":
        return precision_of_rows(value, prevalence, n_pos, confidence)
    rng = np.random.default_rng(check_seed(random_state))
    drawn = np.array([ranked.value(units.redraw(rng)) for _ in range(n_resamples)])
    error = float(drawn.std(ddof=1))
    low, high = np.quantile(drawn, levels_of(alpha, _degrees(units))).tolist()
    return AveragePrecision(value, low, high, error, prevalence, confidence, method)


def precision_of_rows(
    value: float, prevalence: float, n_pos: float, confidence: float
) -> AveragePrecision:
    """Return an average precision with its interval, given the number of positive rows."""
    alpha = 1 - confidence
    if value == 1:
        low, high = exact_interval(1.0, n_pos, alpha)
        return AveragePrecision(value, low, high, 0.0, prevalence, confidence, "exact")
    error = math.sqrt(value * (1 - value) / n_pos)
    degrees = degrees_of_rows([n_pos]) + TYPICAL_DEGREES
    low, high = normal_interval(value, error, alpha, degrees=degrees, logit=True)
    return AveragePrecision(value, low, high, error, prevalence, confidence, "logit")


def _degrees(units: Units) -> float:
    """Return one less than the number of rows, or groups, that are positive."""
    n_pos = units.n_effective(units.positive)
    if units.codes is not None:
        of_groups = np.bincount(units.codes, units.weight * units.positive)
        n_pos = min(n_pos, float(np.count_nonzero(of_groups)))
    return degrees_of_rows([n_pos])


def precision_of_counts(scores: NDArray[np.float64], units: Units) -> float:
    """Return the average precision of rows that have been read."""
    return _Ranked.of(units, scores).value()


@suggests_keywords
def average_precision_compare(
    y_true: ArrayLike,
    y_score_1: ArrayLike,
    y_score_2: ArrayLike,
    *,
    sample_weight: ArrayLike | None = None,
    weights: Weighting = "sampling",
    groups: ArrayLike | None = None,
    confidence: float = 0.95,
    n_resamples: int = 2000,
    random_state: int | RandomState | None = None,
) -> AveragePrecisionComparison:
    """Test and confidence interval of the difference of two average precisions of the same rows.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Labels of two classes; the greater label is the positive class.
    y_score_1, y_score_2 : array-like of shape (n_samples,)
        Scores of these rows; higher is more positive.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights of the rows.
    weights : {"sampling", "frequency"}, default="sampling"
        Meaning of a weight: ``"sampling"``, how many rows of the population the row represents
        (only ratios matter); ``"frequency"``, a whole number of identical rows.
    groups : array-like of shape (n_samples,), default=None
        Which rows come from the same source, such as a patient: they are drawn together.
    confidence : float, default=0.95
        Level of the interval, in (0, 1).
    n_resamples : int, default=2000
        Number of bootstrap resamples, 2 or more.
    random_state : int, RandomState instance or None, default=None
        Seed of the bootstrap.

    Returns
    -------
    AveragePrecisionComparison
        With ``difference``, ``low``, ``high`` and ``p_value``.

    Raises
    ------
    ValueError
        As for :func:`average_precision`.

    See Also
    --------
    auc_compare : The same for areas under ROC curves.

    Notes
    -----
    Both scores are ranked in the same resamples; ``z`` is the difference divided by its standard
    deviation there, and the ends of the interval are its quantiles.

    Examples
    --------
    >>> import numpy as np
    >>> from aucrank.metrics import average_precision_compare
    >>> rng = np.random.default_rng(0)
    >>> y_true = np.arange(1000) % 10 == 0
    >>> good, bad = rng.normal(loc=2.0 * y_true), rng.normal(size=1000)
    >>> found = average_precision_compare(y_true, good, bad, random_state=0)
    >>> found.p_value < 0.001
    True
    """
    alpha = 1 - check_confidence(confidence)
    check_n_resamples(n_resamples)
    units = Units.of(y_true, sample_weight, weights, groups)
    ranked = [_Ranked.of(units, to_scores(score)[0]) for score in (y_score_1, y_score_2)]
    values = [of_score.value() for of_score in ranked]
    rng = np.random.default_rng(check_seed(random_state))
    drawn = np.empty(n_resamples)
    for resample in range(n_resamples):
        times = units.redraw(rng)
        drawn[resample] = ranked[0].value(times) - ranked[1].value(times)
    difference, error = values[0] - values[1], float(drawn.std(ddof=1))
    degrees = _degrees(units)
    low, high = np.quantile(drawn, levels_of(alpha, degrees)).tolist()
    z = 0.0 if difference == 0 else math.nan
    if error > 0:
        z = difference / error
    p_value = 2 * chance_above(abs(z), degrees)
    return AveragePrecisionComparison(
        values[0], values[1], difference, low, high, error, z, p_value, confidence
    )


@dataclass(frozen=True, eq=False)
class _Ranked:
    """Rows by falling score, ties together."""

    order: NDArray[np.intp]
    starts: NDArray[np.intp]
    positive: NDArray[np.float64]
    weight: NDArray[np.float64]

    @classmethod
    def of(cls, units: Units, scores: NDArray[np.float64]) -> _Ranked:
        if len(scores) != len(units.positive):
            raise ValueError(
                f"y_score has {len(scores)} entries, but y_true has {len(units.positive)}"
            )
        if np.isnan(scores).any():
            raise ValueError(
                f"Input y_score contains NaN, first in row {np.isnan(scores).argmax()}."
            )
        order = np.argsort(-scores, kind="stable")
        ordered = scores[order]
        starts = np.flatnonzero(np.r_[True, ordered[1:] != ordered[:-1]])
        return cls(order, starts, units.positive[order].astype(np.float64), units.weight[order])

    def value(self, times: NDArray[np.float64] | None = None) -> float:
        """Return the average precision, given how often each row counts."""
        weight = self.weight if times is None else self.weight * times[self.order]
        size = np.add.reduceat(weight, self.starts)
        hits = np.add.reduceat(weight * self.positive, self.starts)
        found = np.cumsum(size)
        precision = np.divide(np.cumsum(hits), found, where=found > 0, out=np.zeros_like(found))
        return float(min(hits @ precision / hits.sum(), 1.0))
