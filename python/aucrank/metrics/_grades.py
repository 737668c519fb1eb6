"""Grades of a rating, with the tests of bank validation."""

from __future__ import annotations

import math
from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import stats
from scipy.special import chdtrc
from sklearn.utils import check_scalar

from aucrank._data.table import Table, whole
from aucrank._data.vectors import vector
from aucrank._utils.keywords import suggests_keywords
from aucrank.metrics._inference import (
    auc_interval,
    chance_above,
    check_confidence,
    normal_interval,
)
from aucrank.metrics._units import Units
from aucrank.metrics._weighting import Weighting, are_counts

# Share of pairs of different rows below which their sum is rounding error.
_LEAST_PAIRS = 1e-6


@dataclass(frozen=True, eq=False)
class GradeTable:
    """Grades with their tests, as :func:`grade_table` returns it.

    Attributes
    ----------
    bounds : ndarray of shape (n_grades - 1,)
        Bounds between grades: a probability equal to a bound belongs to the grade above.
    table : Table
        A row for each grade, from the lowest probabilities on: ``grade``, its number from 1;
        ``low`` and ``high``, its bounds; ``size`` and ``positives``, weights of its rows;
        ``observed`` and ``expected``, the share of positives and the mean probability;
        ``observed_low`` and ``observed_high``, Jeffreys' interval of the share; ``p_jeffreys`` and
        ``p_binomial``, of the hypothesis that no more than expected are positive: low where
        probabilities are too low. NaN for a grade without rows.
    whole : Table
        The same for all rows, without the number and the bounds.
    hosmer_lemeshow : float
        Statistic of Hosmer and Lemeshow, of all grades at once.
    df : int
        Its degrees of freedom, the number of grades with rows.
    p_value : float
        Chance of so large a statistic if all probabilities are right.
    confidence : float
        Level of the intervals.
    """

    bounds: NDArray[np.float64]
    table: Table
    whole: Table
    hosmer_lemeshow: float
    df: int
    p_value: float
    confidence: float


@suggests_keywords
def grade_table(
    y_true: ArrayLike,
    y_prob: ArrayLike,
    *,
    bounds: ArrayLike | None = None,
    n_grades: int = 7,
    sample_weight: ArrayLike | None = None,
    weights: Weighting = "sampling",
    confidence: float = 0.95,
) -> GradeTable:
    """Assign probabilities to grades, and test each against the observed share.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Labels of two classes; the greater label is the positive class, such as a default.
    y_prob : array-like of shape (n_samples,)
        Probabilities of the positive class, from 0 to 1.
    bounds : array-like of shape (n_grades - 1,), default=None
        Rising probabilities, above 0 and below 1, at which grades begin. ``None`` finds them: see
        Notes.
    n_grades : int, default=7
        Maximum number of grades to find, 2 or more.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights of the rows.
    weights : {"sampling", "frequency"}, default="sampling"
        Meaning of a weight: ``"sampling"``, how many rows of the population the row represents
        (only ratios matter); ``"frequency"``, a whole number of identical rows.
    confidence : float, default=0.95
        Level of the intervals, in (0, 1).

    Returns
    -------
    GradeTable
        With ``bounds``, ``table`` and ``p_value``.

    Raises
    ------
    ValueError
        As for :func:`calibration_curve`, and for bounds that do not rise or are outside (0, 1).

    See Also
    --------
    calibration_curve : Calibration without grades.
    auc_decline : Whether the score has lost discriminatory power.
    population_stability : Whether rows have moved between grades.

    Notes
    -----
    Of N rows of a grade with the mean probability p, D are positive. Jeffreys' test takes the
    chance that a share with the law Beta(D + 1/2, N - D + 1/2) is at most p, as the ECB's
    instructions for validation reporting require for each grade and the portfolio [1]_; the
    binomial test that of D or more. Both assume independent rows, and among many grades some are
    below 0.05 by chance [2]_. The overall statistic is the sum of (D - N p)² / (N p (1 - p)) [3]_:
    as the probabilities come from other rows, each grade is a degree of freedom. With sampling
    weights N is Kish's effective number of rows of the grade, and D / N their weighted share.

    Bounds are found such that observed shares rise: isotonic regression gives blocks of
    probabilities, and neighbours whose merging costs the least likelihood are merged until there
    are at most ``n_grades``. Find bounds on the development sample and pass them to test other
    rows: tests on the rows that the bounds were found on are not valid.

    References
    ----------
    .. [1] European Central Bank, "Instructions for reporting the validation results of internal
       models: IRB Pillar I models for credit risk", 2019.
    .. [2] Tasche, "Rating and probability of default validation", Basel Committee on Banking
       Supervision, Working Paper 14, 2005, chapter III.
    .. [3] Hosmer and Lemeshow, "Goodness of fit tests for the multiple logistic regression model",
       Communications in Statistics: Theory and Methods 9(10), 1980.
       :doi:`10.1080/03610928008827941`

    Examples
    --------
    >>> import numpy as np
    >>> from aucrank.metrics import grade_table
    >>> rng = np.random.default_rng(0)
    >>> risk = rng.beta(1, 9, size=5000)
    >>> found = grade_table(rng.random(5000) < risk, risk, bounds=[0.05, 0.1, 0.2])
    >>> found.table["size"].tolist()
    [1885, 1228, 1237, 650]
    >>> found.p_value > 0.05
    True
    """
    level = check_confidence(confidence)
    units = Units.of(y_true, sample_weight, weights, None)
    probability = units.probabilities(y_prob, "y_prob")
    if bounds is None:
        check_scalar(n_grades, "n_grades", Integral, min_val=2)
        cuts = _found(units, probability, int(n_grades))
    else:
        cuts = check_bounds(bounds, "bounds")
    grade = np.searchsorted(cuts, probability, side="right")
    n_found = len(cuts) + 1
    table = _tested(units, probability, grade, n_found, level)
    expected, effective = table["expected"], table.pop("effective")
    gaps = effective * (table["observed"] - expected) ** 2
    spread = expected * (1 - expected)
    has_rows = np.asarray(effective > 0)
    # A grade whose rows are certain and as expected adds nothing.
    with np.errstate(divide="ignore"):
        # Of one whose rows are certain and otherwise, the statistic is infinite.
        parts = np.divide(gaps, spread, where=has_rows & (gaps > 0), out=np.zeros(n_found))
    statistic, df = float(parts.sum()), int(np.count_nonzero(has_rows))
    whole = _tested(units, probability, np.zeros_like(grade), 1, level)
    del whole["effective"]
    return GradeTable(
        bounds=cuts,
        table=Table(
            {
                "grade": np.arange(1, n_found + 1),
                "low": np.append(0.0, cuts),
                "high": np.append(cuts, 1.0),
            }
            | table
        ),
        whole=Table(whole),
        hosmer_lemeshow=statistic,
        df=df,
        p_value=float(chdtrc(df, statistic)),
        confidence=level,
    )


def check_bounds(bounds: ArrayLike, name: str) -> NDArray[np.float64]:
    """Return bounds of grades.

    Raises
    ------
    ValueError
        If they do not rise or are outside (0, 1); the error names the parameter.
    """
    cuts = np.array(bounds, dtype=np.float64)
    inside = cuts.ndim == 1 and cuts.size and np.all((cuts > 0) & (cuts < 1))
    if not inside or np.any(np.diff(cuts) <= 0):
        raise ValueError(f"{name} must be one or more rising numbers between 0 and 1")
    return cuts


def _tested(
    units: Units,
    probability: NDArray[np.float64],
    grade: NDArray[np.intp],
    n_grades: int,
    confidence: float,
) -> dict[str, NDArray[Any]]:
    """Return the size, shares and tests of each grade, and its effective number of rows."""
    weight = units.weight
    size, positives, sums, squares = (
        np.bincount(grade, values, n_grades).astype(np.float64)
        for values in (weight, weight * units.positive, weight * probability, units.squares())
    )
    known = size > 0
    divisor = np.where(known, size, math.nan)
    observed, expected = positives / divisor, sums / divisor
    # For frequencies and for equal weights it is the number of rows.
    effective = size if units.is_counted else size**2 / np.where(known, squares, 1)
    hits = observed * effective
    # A mean that is 1 up to rounding is 1.
    rate = np.minimum(expected, 1)
    low, high = (
        stats.beta.ppf(tail, hits + 0.5, effective - hits + 0.5)
        for tail in ((1 - confidence) / 2, (1 + confidence) / 2)
    )
    p_binomial = stats.binom.sf(np.round(hits) - 1, np.round(effective), rate)
    return {
        "size": whole(units.given(size)),
        "positives": whole(units.given(positives)),
        "observed": observed,
        "expected": expected,
        "observed_low": np.where(hits == 0, 0.0, low) + 0 * divisor,
        "observed_high": np.where(hits == effective, 1.0, high) + 0 * divisor,
        "p_jeffreys": stats.beta.cdf(rate, hits + 0.5, effective - hits + 0.5),
        "p_binomial": p_binomial + 0 * divisor,
        "effective": effective,
    }


def _found(units: Units, probability: NDArray[np.float64], n_grades: int) -> NDArray[np.float64]:
    """Return bounds of at most ``n_grades`` grades whose observed shares rise."""
    from sklearn.isotonic import isotonic_regression

    kept = units.weight > 0
    distinct, place = np.unique(probability[kept], return_inverse=True)
    size = np.bincount(place, units.weight[kept])
    positives = np.bincount(place, (units.weight * units.positive)[kept])
    fitted = isotonic_regression(positives / size, sample_weight=size)
    starts = np.flatnonzero(np.diff(fitted, prepend=-1.0))
    firsts = distinct[starts]
    sums = np.column_stack([np.add.reduceat(values, starts) for values in (size, positives)])

    def likelihood(rows: NDArray[np.float64]) -> NDArray[np.float64]:
        n, d = rows[..., 0], rows[..., 1]
        return _x_log_y(d, d / n) + _x_log_y(n - d, 1 - d / n)

    while len(firsts) > n_grades:
        together = sums[1:] + sums[:-1]
        lost = likelihood(sums[1:]) + likelihood(sums[:-1]) - likelihood(together)
        first = int(np.argmin(lost))
        sums = np.delete(sums, first + 1, axis=0)
        sums[first] = together[first]
        firsts = np.delete(firsts, first + 1)
    return np.asarray(firsts[1:])


def _x_log_y(x: NDArray[np.float64], y: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.asarray(x * np.log(np.where(x > 0, y, 1)))


@dataclass(frozen=True)
class AucDecline:
    """Discriminatory power of a score now and at development, from :func:`auc_decline`.

    Attributes
    ----------
    auc_then, auc : float
        The AUC at development and now.
    low, high : float
        Ends of the interval of the AUC now.
    gini_then, gini : float
        Gini coefficients, 2 AUC - 1.
    gini_low, gini_high : float
        Ends of the interval of the Gini coefficient now.
    standard_error : float
        Standard error of ``auc_then - auc``.
    statistic : float
        ``(auc_then - auc) / standard_error``.
    p_value : float
        For the hypothesis that the AUC is no lower now; low where it has fallen.
    confidence : float
        Level of the intervals.
    """

    auc_then: float
    auc: float
    low: float
    high: float
    gini_then: float
    gini: float
    gini_low: float
    gini_high: float
    standard_error: float
    statistic: float
    p_value: float
    confidence: float


@suggests_keywords
def auc_decline(
    y_true: ArrayLike,
    y_score: ArrayLike,
    auc_then: float,
    *,
    standard_error_then: float = 0.0,
    sample_weight: ArrayLike | None = None,
    weights: Weighting = "sampling",
    groups: ArrayLike | None = None,
    confidence: float = 0.95,
) -> AucDecline:
    """Test whether the discriminatory power of a score has fallen since development.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Labels of two classes now; the greater label is the positive class.
    y_score : array-like of shape (n_samples,)
        Scores; higher is more positive.
    auc_then : float
        AUC at development, in (0, 1).
    standard_error_then : float, default=0.0
        Its standard error; 0 takes it as known, as the ECB does.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights of the rows.
    weights : {"sampling", "frequency"}, default="sampling"
        Meaning of a weight, as for :func:`auc_interval`.
    groups : array-like of shape (n_samples,), default=None
        Which rows come from the same source, such as a customer, as for :func:`auc_interval`.
    confidence : float, default=0.95
        Level of the intervals, in (0, 1).

    Returns
    -------
    AucDecline
        With ``gini``, its interval, and ``p_value``.

    Raises
    ------
    ValueError
        As for :func:`auc_interval`; for an ``auc_then`` outside (0, 1); and for a negative or
        infinite standard error.

    See Also
    --------
    auc_interval : Only the interval.
    grade_table : Whether the probabilities still hold.

    Notes
    -----
    The statistic is (AUC then - AUC now) / s, with s the standard error of the AUC now, as the
    instructions of the ECB for validation reporting define it [1]_, with
    ``sqrt(s² + standard_error_then²)`` where that of development is given. The AUC on the training
    rows is too high: take that on a test set.

    References
    ----------
    .. [1] European Central Bank, "Instructions for reporting the validation results of internal
       models: IRB Pillar I models for credit risk", 2019.

    Examples
    --------
    >>> import numpy as np
    >>> from aucrank.metrics import auc_decline
    >>> rng = np.random.default_rng(0)
    >>> y_true = np.arange(2000) % 10 == 0
    >>> found = auc_decline(y_true, rng.normal(loc=y_true), 0.82)
    >>> found.gini_low < found.gini < 0.64, found.p_value < 0.05
    (True, True)
    """
    if not 0 < auc_then < 1:
        raise ValueError(f"auc_then is {auc_then}, but must be between 0 and 1")
    if not 0 <= standard_error_then < math.inf:
        raise ValueError(
            f"standard_error_then is {standard_error_then}, but must be finite and not negative"
        )
    now = auc_interval(
        y_true,
        y_score,
        sample_weight=sample_weight,
        weights=weights,
        groups=groups,
        confidence=confidence,
    )
    error = math.hypot(now.standard_error, standard_error_then)
    statistic = (auc_then - now.auc) / error if error > 0 else math.nan
    p_value = chance_above(statistic) if error > 0 else math.nan
    return AucDecline(
        auc_then=float(auc_then),
        auc=now.auc,
        low=now.low,
        high=now.high,
        gini_then=2 * float(auc_then) - 1,
        gini=2 * now.auc - 1,
        gini_low=2 * now.low - 1,
        gini_high=2 * now.high - 1,
        standard_error=error,
        statistic=statistic,
        p_value=p_value,
        confidence=now.confidence,
    )


@dataclass(frozen=True)
class ExpectedAuc:
    """AUC expected from probabilities, as :func:`expected_auc` returns it.

    Attributes
    ----------
    auc : float
        Expected number of correctly ordered pairs divided by the expected number of pairs.
    low, high : float
        Ends of the prediction interval of the AUC of future labels.
    standard_error : float
        Its standard deviation over labels, given the probabilities.
    confidence : float
        Level of the interval.
    """

    auc: float
    low: float
    high: float
    standard_error: float
    confidence: float


@suggests_keywords
def expected_auc(
    y_prob: ArrayLike,
    y_score: ArrayLike | None = None,
    *,
    sample_weight: ArrayLike | None = None,
    weights: Weighting = "sampling",
    confidence: float = 0.95,
) -> ExpectedAuc:
    r"""AUC to expect if the probabilities are right, while labels are not yet known.

    This is an expectation, E[AUC | p], not a measurement: if the probabilities are wrong, so is
    this AUC, and nothing shows it.

    Parameters
    ----------
    y_prob : array-like of shape (n_samples,)
        Calibrated probabilities of the positive class, from 0 to 1.
    y_score : array-like of shape (n_samples,), default=None
        Scores whose AUC is wanted; ``None`` takes the probabilities themselves.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights of the rows.
    weights : {"sampling", "frequency"}, default="sampling"
        Meaning of a weight: ``"sampling"``, how many rows of the population the row represents
        (only ratios matter); ``"frequency"``, a whole number of identical rows.
    confidence : float, default=0.95
        Level of the interval, in (0, 1).

    Returns
    -------
    ExpectedAuc
        With ``auc``, ``low`` and ``high``.

    Raises
    ------
    ValueError
        For a probability that is missing or not from 0 to 1, a score that is NaN, bad weights, and
        probabilities under which no positive-negative pair is expected.

    See Also
    --------
    aucrank.roc.OptimalROC : The best AUC for a known law.
    calibration_curve : Whether the probabilities are right.

    Notes
    -----
    With independent labels of the probabilities p, scores s and weights w,

    .. math:: E[AUC | p] \approx \frac
       {\sum_{i \ne j} w_i w_j p_i (1 - p_j) \left(1[s_i > s_j] + \tfrac12 1[s_i = s_j]\right)}
       {\sum_{i \ne j} w_i w_j p_i (1 - p_j)},

    the ratio of the expectations of numerator and denominator of the AUC, which differs from its
    expectation by a term of order 1/n. The standard error is that of the AUC to first order in the
    labels, :math:`\sum_i p_i (1 - p_i) w_i^2 ((V_i - A) / P - (U_i - A) / N)^2` under the root,
    with P and N the expected weights of the classes, V the share of N that a row outranks, and U
    the share of P that outranks it.

    Examples
    --------
    >>> import numpy as np
    >>> from aucrank.metrics import expected_auc, roc_auc_score
    >>> rng = np.random.default_rng(0)
    >>> risk = rng.beta(1, 9, size=5000)
    >>> found = expected_auc(risk)
    >>> found.low < roc_auc_score(rng.random(5000) < risk, risk) < found.high
    True
    """
    alpha = 1 - check_confidence(confidence)
    n_rows = len(vector(y_prob, "y_prob"))
    is_counted = are_counts(weights, sample_weight)
    units = Units.of_rows(np.zeros(n_rows, bool), sample_weight, None, is_counted=is_counted)
    probability = units.probabilities(y_prob, "y_prob")
    scores = probability if y_score is None else units.scores(y_score, "y_score")
    weight = units.weight
    # Each row counts as a positive of this weight and a negative of the other.
    of_class = weight * probability, weight * (1 - probability)
    totals = [float(own.sum()) for own in of_class]
    own_pairs = float(units.squares() @ (probability * (1 - probability)))
    pairs = totals[0] * totals[1] - own_pairs
    if not pairs > 0:
        raise ValueError("y_prob leaves no pair of a positive and a negative row")
    if pairs < _LEAST_PAIRS * totals[0] * totals[1]:
        row = int(weight.argmax())
        raise ValueError(
            f"sample_weight of row {row} is nearly all of the weight: the pairs of other rows are"
            " lost in rounding"
        )
    order, ends = _ties(scores)
    below, above = (
        np.concatenate([[0.0], np.cumsum(own[order])])[ends] for own in (of_class[1], of_class[0])
    )
    outranked = np.empty(n_rows)
    outranking = np.empty(n_rows)
    outranked[order] = below.mean(axis=0) / totals[1]
    outranking[order] = 1 - above.mean(axis=0) / totals[0]
    won = float(of_class[0] @ outranked) * totals[1]
    auc = (won - own_pairs / 2) / pairs
    auc = min(max(auc, 0.0), 1.0)
    influence = (outranked - auc) / totals[0] - (outranking - auc) / totals[1]
    error = math.sqrt(float(units.squares() @ (probability * (1 - probability) * influence**2)))
    low, high = auc, auc
    if error > 0 and 0 < auc < 1:
        low, high = normal_interval(auc, error, alpha, logit=True)
    return ExpectedAuc(auc, low, high, error, 1 - alpha)


def _ties(scores: NDArray[np.float64]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return the rows in order, and where the tie of each begins and ends."""
    order = np.argsort(scores, kind="stable")
    ordered = scores[order]
    sides = [np.searchsorted(ordered, ordered, side) for side in ("left", "right")]
    return order, np.array(sides)
