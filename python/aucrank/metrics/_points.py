"""Comparison of two scores at one point of their curves, or at fixed thresholds."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from numbers import Real
from statistics import NormalDist

import numpy as np
from numpy.random import RandomState
from numpy.typing import ArrayLike, NDArray
from scipy import stats
from scipy.special import chdtrc
from sklearn.utils import check_scalar

from aucrank import _core
from aucrank._data.table import Table
from aucrank._utils.keywords import suggests_keywords
from aucrank._utils.params import check_seed
from aucrank.metrics._core_curve import core_curve
from aucrank.metrics._inference import check_confidence, check_n_resamples
from aucrank.metrics._units import Units
from aucrank.metrics._weighting import Weighting


@dataclass(frozen=True)
class RateComparison:
    """Two curves at one point, as :func:`rate_compare` returns it.

    Attributes
    ----------
    rate_1, rate_2 : float
        Sensitivity at the given specificity, or the other way round.
    difference : float
        ``rate_1 - rate_2``.
    low, high : float
        Ends of the interval of the difference.
    standard_error : float
        Its standard deviation over resamples.
    z : float
        ``difference / standard_error``; 0 where both are 0.
    p_value : float
        Two-sided, for the hypothesis that both rates are equal.
    rate : str
        The rate compared: ``"sensitivity"`` or ``"specificity"``.
    confidence : float
        Level of the interval.
    paired : bool
        Whether both scores rank the same rows.
    """

    rate_1: float
    rate_2: float
    difference: float
    low: float
    high: float
    standard_error: float
    z: float
    p_value: float
    rate: str
    confidence: float
    paired: bool


@suggests_keywords
def rate_compare(
    y_true: ArrayLike,
    y_score_1: ArrayLike,
    y_score_2: ArrayLike,
    *,
    specificity: float | None = None,
    sensitivity: float | None = None,
    y_true_2: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    sample_weight_2: ArrayLike | None = None,
    weights: Weighting = "sampling",
    groups: ArrayLike | None = None,
    groups_2: ArrayLike | None = None,
    confidence: float = 0.95,
    n_resamples: int = 2000,
    random_state: int | RandomState | None = None,
) -> RateComparison:
    """Test the difference of two sensitivities at a specificity, or the other way round.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Labels of two classes; the greater label is the positive class.
    y_score_1 : array-like of shape (n_samples,)
        Scores of these rows; higher is more positive.
    y_score_2 : array-like of shape (n_samples,) or (n_samples_2,)
        Other scores of the same rows, a paired comparison; or, with ``y_true_2``, scores of other
        rows.
    specificity : float, default=None
        Specificity, from 0 to 1, at which sensitivities are compared.
    sensitivity : float, default=None
        Sensitivity, from 0 to 1, at which specificities are compared. Exactly one of the two is
        given.
    y_true_2 : array-like of shape (n_samples_2,), default=None
        Labels of a second, independent sample that ``y_score_2`` belongs to.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights of the rows of ``y_true``.
    sample_weight_2 : array-like of shape (n_samples_2,), default=None
        Weights of the rows of ``y_true_2``.
    weights : {"sampling", "frequency"}, default="sampling"
        Meaning of a weight: ``"sampling"``, how many rows of the population the row represents
        (only ratios matter); ``"frequency"``, a whole number of identical rows.
    groups : array-like of shape (n_samples,), default=None
        Which rows of ``y_true`` come from the same source, such as a patient: they are drawn
        together.
    groups_2 : array-like of shape (n_samples_2,), default=None
        The same for the rows of ``y_true_2``, whose groups are distinct from these.
    confidence : float, default=0.95
        Level of the interval, in (0, 1).
    n_resamples : int, default=2000
        Number of bootstrap resamples, 2 or more.
    random_state : int, RandomState instance or None, default=None
        Seed of the bootstrap. The order of the rows changes nothing.

    Returns
    -------
    RateComparison
        With ``difference``, ``low``, ``high`` and ``p_value``.

    Raises
    ------
    ValueError
        As for :func:`auc_compare`; unless exactly one of ``specificity`` and ``sensitivity`` is
        given, from 0 to 1; and for ``sample_weight_2`` or ``groups_2`` without ``y_true_2``.

    See Also
    --------
    mcnemar_test : Rates at thresholds fixed in advance.
    roc_compare : Test of the curves as a whole.
    auc_compare : Test of the areas under the curves, or under parts of them.

    Notes
    -----
    Each score has its own threshold, at which its curve has the specificity (interpolated
    linearly), and it is found again in each resample: the interval includes the uncertainty of the
    threshold. Rows are drawn within each class, the same for both scores if paired; ``z`` is the
    difference divided by its standard deviation over resamples, as in pROC, and the ends of the
    interval are their quantiles.

    Examples
    --------
    >>> import numpy as np
    >>> from aucrank.metrics import rate_compare
    >>> rng = np.random.default_rng(0)
    >>> y_true = np.repeat([0, 1], 200)
    >>> good, bad = rng.normal(loc=2 * y_true), rng.normal(loc=y_true)
    >>> found = rate_compare(y_true, good, bad, specificity=0.9, random_state=0)
    >>> found.rate_1 > found.rate_2, found.p_value < 0.01
    (True, True)
    """
    alpha = 1 - check_confidence(confidence)
    check_n_resamples(n_resamples)
    if (specificity is None) == (sensitivity is None):
        raise ValueError("one of specificity and sensitivity must be given, and not both")
    name, given = "specificity", specificity
    if given is None:
        name, given = "sensitivity", sensitivity
    check_scalar(given, name, Real, min_val=0, max_val=1)
    at = np.array([given], dtype=np.float64)

    def rate(curve: _core.RocCurve) -> float:
        if name == "specificity":
            return float(curve.tpr_at(1 - at)[0])
        return float(1 - curve.fpr_at(at)[0])

    rng = np.random.default_rng(check_seed(random_state))
    units = Units.of(y_true, sample_weight, weights, groups)
    first = units.scores(y_score_1, "y_score_1")
    paired = y_true_2 is None
    if y_true_2 is None:
        for values, of in ((sample_weight_2, "sample_weight_2"), (groups_2, "groups_2")):
            if values is not None:
                raise ValueError(f"{of} needs y_true_2: paired scores have one a row")
        samples = [(units, [first, units.scores(y_score_2, "y_score_2")])]
    else:
        other = Units.of(y_true_2, sample_weight_2, weights, groups_2)
        samples = [(units, [first]), (other, [other.scores(y_score_2, "y_score_2")])]
    rate_1, rate_2 = [rate(curve) for sample in samples for curve in _curves(*sample)]
    drawn = np.empty((n_resamples, 2))
    resamples = [_resamples(own, scores, rng) for own, scores in samples]
    for resample in range(n_resamples):
        drawn[resample] = [rate(curve) for sample in resamples for curve in next(sample)]
    differences = drawn[:, 0] - drawn[:, 1]
    difference, error = rate_1 - rate_2, float(differences.std(ddof=1))
    low, high = np.quantile(differences, [alpha / 2, 1 - alpha / 2]).tolist()
    z = difference / error if error > 0 else 0.0 if difference == 0 else math.nan
    p_value = math.erfc(abs(z) / math.sqrt(2))
    compared = "sensitivity" if name == "specificity" else "specificity"
    return RateComparison(
        rate_1,
        rate_2,
        difference,
        low,
        high,
        error,
        z,
        p_value,
        compared,
        float(confidence),
        paired,
    )


def _curves(units: Units, scores: list[NDArray[np.float64]]) -> list[_core.RocCurve]:
    return [core_curve(units.positive, own, units.weight) for own in scores]


def _resamples(
    units: Units, scores: list[NDArray[np.float64]], rng: np.random.Generator
) -> Iterator[list[_core.RocCurve]]:
    """Yield curves of the scores on resamples of the rows, or of whole groups, endlessly."""
    rows, own = units.arranged(*scores)
    while True:
        times = rows.redraw(rng) * rows.weight
        kept = times > 0
        yield [core_curve(rows.positive[kept], score[kept], times[kept]) for score in own]


@dataclass(frozen=True, eq=False)
class McNemarTest:
    """Two scores at fixed thresholds, as :func:`mcnemar_test` returns it.

    Attributes
    ----------
    table : Table
        A row for ``"sensitivity"`` and for ``"specificity"``: ``rate``, which one; ``rate_1`` and
        ``rate_2``; their ``difference`` with its interval, ``low`` and ``high``; ``only_1`` and
        ``only_2``, the weight of the rows of the class that only that score classifies correctly;
        ``chi_square``, McNemar's statistic, and its ``p_value``; and ``p_exact``, the p-value by
        the binomial law, NaN with ``groups`` or sampling weights.
    thresholds : tuple of (float, float)
        Thresholds from which the scores call a row positive.
    confidence : float
        Level of the intervals.
    """

    table: Table
    thresholds: tuple[float, float]
    confidence: float


@suggests_keywords
def mcnemar_test(
    y_true: ArrayLike,
    y_score_1: ArrayLike,
    y_score_2: ArrayLike,
    thresholds: tuple[float, float],
    *,
    sample_weight: ArrayLike | None = None,
    weights: Weighting = "sampling",
    groups: ArrayLike | None = None,
    confidence: float = 0.95,
) -> McNemarTest:
    """Compare sensitivities and specificities of two scores at thresholds fixed in advance.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Labels of two classes; the greater label is the positive class.
    y_score_1, y_score_2 : array-like of shape (n_samples,)
        Scores of these rows; higher is more positive.
    thresholds : tuple of (float, float)
        The threshold of each score: rows that score at least this are called positive.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights of the rows.
    weights : {"sampling", "frequency"}, default="sampling"
        Meaning of a weight: ``"sampling"``, how many rows of the population the row represents
        (only ratios matter); ``"frequency"``, a whole number of identical rows.
    groups : array-like of shape (n_samples,), default=None
        Which rows come from the same source, such as a patient: rows of a group may be dependent,
        groups are independent.
    confidence : float, default=0.95
        Level of the intervals, in (0, 1).

    Returns
    -------
    McNemarTest
        With ``table``.

    Raises
    ------
    ValueError
        As for :func:`calibration_curve`, and for a score or a threshold that is NaN.

    See Also
    --------
    rate_compare : Comparison at a given specificity or sensitivity.

    Notes
    -----
    In a class, only the first score classifies b rows correctly, and only the second c rows:
    the statistic (b - c)² / (b + c) has a chi-square distribution with one degree of freedom [1]_,
    and the exact p-value is that of b heads in b + c tosses of a coin. With ``groups`` the sum of
    squares of b - c over the groups takes the place of b + c, following Obuchowski [2]_; likewise
    with sampling weights, each row being a group. The interval is normal with the variance of the
    mean of a row's difference.

    References
    ----------
    .. [1] McNemar, "Note on the sampling error of the difference between correlated proportions or
       percentages", Psychometrika 12(2), 1947. :doi:`10.1007/BF02295996`
    .. [2] Obuchowski, "On the comparison of correlated proportions for clustered data", Statistics
       in Medicine 17(13), 1998.
       :doi:`10.1002/(SICI)1097-0258(19980715)17:13<1495::AID-SIM863>3.0.CO;2-I`

    Examples
    --------
    >>> from aucrank.metrics import mcnemar_test
    >>> y_true = [0, 0, 0, 0, 1, 1, 1, 1]
    >>> old, new = [1, 4, 2, 6, 3, 5, 7, 8], [1, 2, 3, 5, 4, 6, 7, 8]
    >>> found = mcnemar_test(y_true, new, old, (4, 4))
    >>> found.table["rate_1"].tolist(), found.table["rate_2"].tolist()
    ([1.0, 0.75], [0.75, 0.5])
    >>> found.table["p_exact"].tolist()
    [1.0, 1.0]
    """
    reach = NormalDist().inv_cdf(0.5 + check_confidence(confidence) / 2)
    cuts = tuple(float(threshold) for threshold in thresholds)
    if len(cuts) != 2 or any(math.isnan(cut) for cut in cuts):
        raise ValueError(f"thresholds must be two numbers, got {thresholds!r}")
    units = Units.of(y_true, sample_weight, weights, groups)
    called = [
        units.scores(y_score, name) >= cut
        for y_score, name, cut in zip(
            (y_score_1, y_score_2), ("y_score_1", "y_score_2"), cuts, strict=True
        )
    ]
    # With unit counts, the numbers of rows are binomial.
    is_whole = groups is None and (units.is_counted or sample_weight is None)
    found = []
    for rows in (np.flatnonzero(units.positive), np.flatnonzero(~units.positive)):
        own = units.take(rows)
        right = [calls[rows] == own.positive for calls in called]
        rates = [own.mean(calls) for calls in right]
        gap = right[0].astype(np.float64) - right[1]
        difference = own.mean(gap)
        error = math.nan
        if own.n_units() > 1:
            error = math.sqrt(own.covariance((gap - difference)[:, np.newaxis])[0, 0])
        only = [float(own.weight[gap == sign].sum()) for sign in (1, -1)]
        if own.codes is None:
            squares = float(own.squares() @ gap**2)
        else:
            of_groups = np.bincount(own.codes, own.weight * gap, own.n_codes)
            squares = float(of_groups @ of_groups)
        chi_square = (only[0] - only[1]) ** 2 / squares if squares > 0 else 0.0
        p_exact = math.nan
        if is_whole:
            n_apart = int(sum(only))
            p_exact = stats.binomtest(int(only[0]), n_apart).pvalue if n_apart else 1.0
        ends = difference - reach * error, difference + reach * error
        p_value = float(chdtrc(1, chi_square))
        counts = units.given(only)
        found.append([*rates, difference, *ends, *counts, chi_square, p_value, p_exact])
    names = ["rate_1", "rate_2", "difference", "low", "high", "only_1", "only_2"]
    names += ["chi_square", "p_value", "p_exact"]
    columns = dict(zip(names, np.array(found).T, strict=True))
    rate = np.array(["sensitivity", "specificity"], dtype=object)
    return McNemarTest(Table({"rate": rate} | columns), (cuts[0], cuts[1]), float(confidence))
