"""How far an AUC, and the difference of two AUCs, may be off."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from numbers import Integral, Real
from statistics import NormalDist
from typing import Any, Literal

import numpy as np
from numpy.random import RandomState
from numpy.typing import ArrayLike, NDArray
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.utils import check_random_state, check_scalar

from aucrank import _core
from aucrank._data.scores import of_two_classes, to_scores
from aucrank._utils.params import check_seed
from aucrank._utils.threads import effective_n_threads


@dataclass(frozen=True)
class AucInterval:
    """AUC with a confidence interval, as :func:`auc_interval` returns it.

    Attributes
    ----------
    auc : float
        Area under the ROC curve.
    low, high : float
        Ends of the interval, from 0 to 1.
    standard_error : float
        Estimate of the standard deviation of the AUC over samples.
    confidence : float
        Level of the interval.
    method : str
        How the interval was made: the method asked for, or the one that took its place,
        ``"hanley-mcneil"`` or ``"exact"``.
    """

    auc: float
    low: float
    high: float
    standard_error: float
    confidence: float
    method: str


@dataclass(frozen=True)
class AucComparison:
    """Difference of two AUCs with a test, as :func:`auc_compare` returns it.

    So does :func:`cross_validated_compare`.

    Attributes
    ----------
    auc_1, auc_2 : float
        The two areas.
    difference : float
        ``auc_1 - auc_2``.
    low, high : float
        Ends of the confidence interval of the difference, from -1 to 1.
    standard_error : float
        Estimate of the standard deviation of the difference over samples.
    z : float
        ``difference / standard_error``.
    p_value : float
        Two-sided, of the hypothesis that both areas are equal.
    confidence : float
        Level of the interval.
    method : str
        How the interval was made: the method asked for, ``"influence"`` of cross-validated AUCs,
        or ``"exact"``, which took its place.
    paired : bool
        Whether both scores rank the same rows.
    """

    auc_1: float
    auc_2: float
    difference: float
    low: float
    high: float
    standard_error: float
    z: float
    p_value: float
    confidence: float
    method: str
    paired: bool


def auc_interval(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    sample_weight: ArrayLike | None = None,
    confidence: float = 0.95,
    method: Literal["delong", "logit", "bootstrap"] = "delong",
    n_resamples: int = 2000,
    random_state: int | RandomState | None = None,
) -> AucInterval:
    """Confidence interval of the area under the ROC curve.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Labels of two classes; the greater label is the positive class.
    y_score : array-like of shape (n_samples,)
        Scores; higher is more positive.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights of the rows; only their ratios matter (see Notes).
    confidence : float, default=0.95
        Level of the interval, in (0, 1).
    method : {"delong", "logit", "bootstrap"}, default="delong"
        ``"delong"``: AUC plus and minus a normal quantile times DeLong's standard error [1]_, cut
        off at 0 and 1. ``"logit"``: the same on the scale of log(AUC / (1 - AUC)), which never
        leaves (0, 1) and covers better near its ends. ``"bootstrap"``: quantiles of the AUC over
        resamples of the rows, drawn within each class.
    n_resamples : int, default=2000
        Number of bootstrap resamples, 2 or more.
    random_state : int, RandomState instance or None, default=None
        Seed of the bootstrap. The result does not depend on the number of threads.

    Returns
    -------
    AucInterval
        With ``auc``, ``low``, ``high`` and ``standard_error``; ``method`` tells what was done.

    Warns
    -----
    UndefinedMetricWarning
        If DeLong's variance says nothing: where the AUC is 0 or 1 or every score is the same, and
        where a class has one row (see Notes).

    Raises
    ------
    ValueError
        As for :func:`roc_auc_score`; for a parameter outside of its range; and for a bootstrap of
        a class with one row.

    See Also
    --------
    auc_compare : The same for the difference of two AUCs.
    cross_validated_auc : The same for scores of cross-validated models.

    Notes
    -----
    The placement value of a positive row is the share of the negative rows that it outranks, that
    of a negative row the share of the positive rows that outrank it, ties counting one half. With
    S² the variance of the placement values of the m positive (n negative) rows about the AUC, the
    variance of the AUC is S²₁/m + S²₀/n [1]_. It takes one sort [2]_.

    With weights, rows count by their weight and the variance is that of a stratified sample with
    unequal weights, as in surveys [3]_: with ``w`` the share of a row in the weight of its class, a
    class adds m/(m - 1) · Σ w² (placement - AUC)². For equal weights that is DeLong's variance,
    whatever their value: weight 2 on every row does not pretend to twice as many rows. A row of
    weight 0 is no row. The bootstrap draws rows with equal chances, and each keeps its weight.

    Where the AUC is 1, the variance is 0, and [1, 1] would be no interval. Then, for any method,
    the interval is the exact one of Clopper and Pearson [4]_ for k successes in k trials,
    ``[((1 - confidence) / 2) ** (1 / k), 1]`` with k = min(m, n): an AUC of 1 means that all of k
    pairs of a positive and a negative row, no row in two of them, are in order, and these pairs are
    independent. It is mirrored where the AUC is 0; where all rows tie, the same bound holds for the
    share of ties, and half of the rest may lie on either side of 0.5. The standard error stays 0.
    With weights, m and n are Kish's effective numbers (Σw)² / Σw².

    Where a class has one row, the spread of its placement values is unknown: the variance is then
    that of Hanley and McNeil [5]_, which follows from the AUC, m and n.

    References
    ----------
    .. [1] DeLong, DeLong and Clarke-Pearson, "Comparing the areas under two or more correlated
       receiver operating characteristic curves: a nonparametric approach", Biometrics 44(3), 1988.
       :doi:`10.2307/2531595`
    .. [2] Sun and Xu, "Fast implementation of DeLong's algorithm for comparing the areas under
       correlated receiver operating characteristic curves", IEEE Signal Processing Letters 21(11),
       2014. :doi:`10.1109/LSP.2014.2337313`
    .. [3] Binder, "On the variances of asymptotically normal estimators from complex surveys",
       International Statistical Review 51(3), 1983. :doi:`10.2307/1402588`
    .. [4] Clopper and Pearson, "The use of confidence or fiducial limits illustrated in the case of
       the binomial", Biometrika 26(4), 1934. :doi:`10.1093/biomet/26.4.404`
    .. [5] Hanley and McNeil, "The meaning and use of the area under a receiver operating
       characteristic (ROC) curve", Radiology 143(1), 1982. :doi:`10.1148/radiology.143.1.7063747`

    Examples
    --------
    Ratings of 109 images, from 1 to 5, of 58 normal and 51 abnormal cases [5]_:

    >>> import numpy as np
    >>> from aucrank.metrics import auc_interval
    >>> y_true = np.repeat([0, 1], [58, 51])
    >>> rating = np.repeat([1, 2, 3, 4, 5] * 2, [33, 6, 6, 11, 2, 3, 2, 2, 11, 33])
    >>> interval = auc_interval(y_true, rating)
    >>> round(interval.auc, 4), round(interval.standard_error, 4)
    (0.8932, 0.0307)
    >>> round(interval.low, 3), round(interval.high, 3)
    (0.833, 0.953)
    """
    alpha = 1 - check_confidence(confidence)
    check_method(method, ("delong", "logit", "bootstrap"))
    check_n_resamples(n_resamples)
    models = _models(y_score)
    (auc,), variances, effective = _delong(y_true, models, sample_weight)
    variance = variances and variances[0][0]
    if method == "bootstrap" and not _is_degenerate(auc, variance):
        if variances is None:
            raise ValueError("the bootstrap needs two rows of each class, but a class has one")
        seed = check_seed(random_state)
        aucs = _bootstrap(y_true, models, sample_weight, n_resamples, seed)[:, 0]
        low, high = np.quantile(aucs, [alpha / 2, 1 - alpha / 2]).tolist()
        return AucInterval(auc, low, high, float(aucs.std(ddof=1)), confidence, method)
    return interval_of(auc, variance, effective, confidence, logit=method == "logit")


def interval_of(
    auc: float,
    variance: float | None,
    effective: Sequence[float],
    confidence: float,
    *,
    logit: bool = False,
) -> AucInterval:
    """Return the interval of an AUC of known variance, or of what takes its place.

    ``variance`` is None where a class has one row; ``effective`` has the effective numbers of
    positive and of negative rows.
    """
    alpha = 1 - confidence
    if _is_degenerate(auc, variance):
        pairs = min(effective)
        _warn(f"{_says(auc)}, so the interval is exact, of {pairs:.6g} independent pairs.", above=1)
        low, high = exact_interval(auc, pairs, alpha)
        return AucInterval(auc, low, high, 0.0, confidence, "exact")
    method = "logit" if logit else "delong"
    if variance is None:
        _warn("A class has one row, so the standard error is Hanley and McNeil's.", above=1)
        variance, method = _core.hanley_mcneil_variance(auc, *effective), "hanley-mcneil"
    error = math.sqrt(variance)
    low, high = normal_interval(auc, error, alpha, logit=logit)
    return AucInterval(auc, low, high, error, confidence, method)


def auc_compare(
    y_true: ArrayLike,
    y_score_1: ArrayLike,
    y_score_2: ArrayLike,
    *,
    y_true_2: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    sample_weight_2: ArrayLike | None = None,
    confidence: float = 0.95,
    method: Literal["delong", "bootstrap"] = "delong",
    n_resamples: int = 2000,
    random_state: int | RandomState | None = None,
) -> AucComparison:
    """Test and confidence interval of the difference of two areas under ROC curves.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Labels of two classes; the greater label is the positive class.
    y_score_1 : array-like of shape (n_samples,)
        Scores of these rows; higher is more positive.
    y_score_2 : array-like of shape (n_samples,) or (n_samples_2,)
        Other scores of the same rows, a paired comparison; or, with ``y_true_2``, scores of other
        rows.
    y_true_2 : array-like of shape (n_samples_2,), default=None
        Labels of a second, independent sample that ``y_score_2`` belongs to.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights of the rows of ``y_true``; only their ratios matter.
    sample_weight_2 : array-like of shape (n_samples_2,), default=None
        Weights of the rows of ``y_true_2``.
    confidence : float, default=0.95
        Level of the interval, in (0, 1).
    method : {"delong", "bootstrap"}, default="delong"
        ``"delong"``: normal interval and test with DeLong's variance of the difference [1]_, that
        is, less twice the covariance where paired. ``"bootstrap"``: the interval is that of the
        quantiles of the difference over resamples of the rows within each class, the same rows for
        both scores where paired; ``z`` is the difference over its standard deviation there.
    n_resamples : int, default=2000
        Number of bootstrap resamples, 2 or more.
    random_state : int, RandomState instance or None, default=None
        Seed of the bootstrap. The result does not depend on the number of threads.

    Returns
    -------
    AucComparison
        With ``difference``, ``low``, ``high``, ``standard_error``, ``z`` and ``p_value``.

    Warns
    -----
    UndefinedMetricWarning
        If an AUC is 0 or 1 or all of its scores tie: it counts as known without error (see Notes).

    Raises
    ------
    ValueError
        As for :func:`roc_auc_score`; for a class with one row, whose spread is unknown; for a
        parameter outside of its range; and for ``sample_weight_2`` without ``y_true_2``.

    See Also
    --------
    auc_interval : Interval of one AUC; its notes tell what weights mean.
    cross_validated_compare : The same for scores of cross-validated models.

    Notes
    -----
    Two scores that rank every pair of a positive and a negative row alike have the difference 0
    with standard error 0: then ``z`` is 0, ``p_value`` 1, and the interval [0, 0]. An AUC of 0 or 1
    has DeLong variance 0. If the other one has not, the interval holds its variance alone and is
    too short, as a warning says. If neither has any, the interval is made of the exact intervals of
    both AUCs (see :func:`auc_interval`), each at the level ``1 - (1 - confidence) / 2``, so that by
    Bonferroni's inequality both hold together; ``z`` and ``p_value`` are NaN, unless the difference
    is 0.

    References
    ----------
    .. [1] DeLong, DeLong and Clarke-Pearson, "Comparing the areas under two or more correlated
       receiver operating characteristic curves: a nonparametric approach", Biometrics 44(3), 1988.
       :doi:`10.2307/2531595`

    Examples
    --------
    >>> from aucrank.metrics import auc_compare
    >>> y_true = [0, 0, 0, 0, 1, 1, 1, 1]
    >>> old, new = [1, 4, 2, 6, 3, 5, 7, 8], [1, 2, 3, 5, 4, 6, 7, 8]
    >>> result = auc_compare(y_true, new, old)
    >>> result.auc_1, result.auc_2, result.difference
    (0.9375, 0.8125, 0.125)
    >>> round(result.p_value, 2)
    0.22
    """
    alpha = 1 - check_confidence(confidence)
    check_method(method, ("delong", "bootstrap"))
    check_n_resamples(n_resamples)
    paired = y_true_2 is None
    if paired and sample_weight_2 is not None:
        raise ValueError("sample_weight_2 needs y_true_2: paired scores have one weight a row")
    samples: list[_SampleArgs] = (
        [(y_true, _models(y_score_1, y_score_2), sample_weight)]
        if y_true_2 is None
        else [
            (y_true, _models(y_score_1), sample_weight),
            (y_true_2, _models(y_score_2), sample_weight_2),
        ]
    )
    aucs: list[float] = []
    own: list[float] = []
    pairs: list[float] = []
    variance = 0.0
    for sample in samples:
        found, variances, effective = _delong(*sample)
        if variances is None:
            raise ValueError("a comparison needs two rows of each class, but a class has one")
        aucs, own, pairs = aucs + found, own + variances[0], pairs + [min(effective)] * len(found)
        variance += variances[1] if paired else variances[0][0]
    difference = aucs[0] - aucs[1]
    degenerate = [_is_degenerate(auc, v) for auc, v in zip(aucs, own, strict=True)]

    used: str = method
    if variance == 0:
        error, low, high = 0.0, difference, difference
        z, p_value = (0.0, 1.0) if difference == 0 else (math.nan, math.nan)
        if any(degenerate) or difference != 0:
            used = "exact"
            ends = [
                exact_interval(auc, n_pairs, alpha / 2)
                if flat
                else normal_interval(auc, math.sqrt(v), alpha / 2)
                for auc, v, n_pairs, flat in zip(aucs, own, pairs, degenerate, strict=True)
            ]
            low, high = ends[0][0] - ends[1][1], ends[0][1] - ends[1][0]
            undefined = "" if difference == 0 else ", and z and p_value are NaN"
            _warn(
                "The difference has variance 0, which says nothing of other samples: the interval "
                f"is made of the exact intervals of both AUCs{undefined}."
            )
    else:
        for number, (auc, flat) in enumerate(zip(aucs, degenerate, strict=True), 1):
            if flat:
                _warn(f"y_score_{number}: {_says(auc)}, so the interval is too short.")
        if method == "bootstrap":
            rng = check_random_state(random_state)
            drawn = np.hstack([_bootstrap(*s, n_resamples, check_seed(rng)) for s in samples])
            differences = drawn[:, 0] - drawn[:, 1]
            error = float(differences.std(ddof=1))
            low, high = np.quantile(differences, [alpha / 2, 1 - alpha / 2]).tolist()
        else:
            error = math.sqrt(variance)
            reach = NormalDist().inv_cdf(1 - alpha / 2) * error
            low, high = max(difference - reach, -1.0), min(difference + reach, 1.0)
        z = difference / error
        p_value = math.erfc(abs(z) / math.sqrt(2))
    return AucComparison(
        aucs[0], aucs[1], difference, low, high, error, z, p_value, confidence, used, paired
    )


_SampleArgs = tuple[ArrayLike, list[NDArray[Any]], ArrayLike | None]


def check_confidence(confidence: float) -> float:
    """Return the level of an interval, if it is in (0, 1)."""
    check_scalar(confidence, "confidence", Real, min_val=0, max_val=1, include_boundaries="neither")
    return float(confidence)


def check_method(method: str, known: tuple[str, ...]) -> None:
    """Refuse a method of another name."""
    if method not in known:
        raise ValueError(f"method is {method!r}, but must be one of {', '.join(map(repr, known))}")


def check_n_resamples(n_resamples: int) -> None:
    """Refuse a number of resamples that has no spread."""
    check_scalar(n_resamples, "n_resamples", Integral, min_val=2)


def normal_interval(
    auc: float, error: float, alpha: float, *, logit: bool = False
) -> tuple[float, float]:
    """Return a normal interval cut off at 0 and 1, or normal on the logit scale."""
    reach = NormalDist().inv_cdf(1 - alpha / 2) * error
    if not logit:
        return max(auc - reach, 0.0), min(auc + reach, 1.0)
    # The logistic function, as 1 / (1 + exp(-x)) that never overflows.
    middle, reach = math.log(auc) - math.log1p(-auc), reach / (auc * (1 - auc))
    return (1 + math.tanh((middle - reach) / 2)) / 2, (1 + math.tanh((middle + reach) / 2)) / 2


def exact_interval(auc: float, pairs: float, alpha: float) -> tuple[float, float]:
    """Interval where all of so many independent pairs have one outcome: win, loss or tie."""
    least: float = (alpha / 2) ** (1 / pairs)
    if auc == 1:
        return least, 1.0
    if auc == 0:
        return 0.0, 1 - least
    return least / 2, 1 - least / 2


def _models(*y_scores: ArrayLike) -> list[NDArray[Any]]:
    """Scores of models on the same rows, in one type."""
    models = [to_scores(y_score)[0] for y_score in y_scores]
    return [scores.astype(np.result_type(*models), copy=False) for scores in models]


def _delong(
    y_true: ArrayLike, models: list[NDArray[Any]], sample_weight: ArrayLike | None
) -> tuple[list[float], tuple[list[float], float] | None, list[float]]:
    """AUCs; their variances and that of the difference, unless unknown; effective rows."""
    return of_two_classes(_core.delong, y_true, models, sample_weight)


def _bootstrap(
    y_true: ArrayLike,
    models: list[NDArray[Any]],
    sample_weight: ArrayLike | None,
    n_resamples: int,
    seed: int,
) -> NDArray[np.float64]:
    """AUCs of shape (n_resamples, n_models)."""
    aucs = of_two_classes(
        resampling(_core.bootstrap_aucs, n_resamples, seed), y_true, models, sample_weight
    )
    return aucs.reshape(n_resamples, len(models))


def resampling(
    statistic: Callable[..., NDArray[np.float64] | None], *how: Any
) -> Callable[..., NDArray[np.float64] | None]:
    """Statistic of resamples as one of rows: worth all threads however few rows there are."""
    n_threads = effective_n_threads(None)
    return lambda *args: statistic(*args[:-1], *how, n_threads)


def _is_degenerate(auc: float, variance: float | None) -> bool:
    """Whether all pairs have one outcome, so that the placement values do not vary."""
    return auc in (0.0, 1.0) or variance == 0


def _says(auc: float) -> str:
    return f"The AUC is {auc:g} with variance 0, which says nothing of other samples"


def _warn(message: str, above: int = 0) -> None:
    # Two levels up is the caller of the public function, and further up if that calls another.
    warnings.warn(message, UndefinedMetricWarning, stacklevel=3 + above)
