"""Inference for an AUC and for the difference of two."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from numbers import Integral, Real
from statistics import NormalDist
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
from numpy.random import RandomState
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtr, stdtr, stdtrit
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.utils import check_random_state, check_scalar

from aucrank import _core
from aucrank._data.scores import of_two_classes, to_scores, with_options
from aucrank._utils.keywords import suggests_keywords
from aucrank._utils.params import check_seed
from aucrank._utils.threads import effective_n_threads
from aucrank.metrics._clustered import Groups
from aucrank.metrics._core_curve import core_curve
from aucrank.metrics._partial import Bands
from aucrank.metrics._weighting import Weighting, are_counts, rows_to_draw

AreaWithin: TypeAlias = Callable[[tuple[float, float], tuple[float, float]], float]

Alternative: TypeAlias = Literal["two-sided", "greater", "less", "equivalence"]

_WHOLE = Bands()

# A variance of groups below this share of that of rows is rounding error.
_NO_SPREAD = 1e-12

# Degrees of freedom that a typical variance adds to that of few rows. DeLong's misses the rare
# positives that rank low: of normal scores with AUC .95, samples of 10 positives and 200 negatives
# had it in the plain interval in .77 of cases, in this one in .98
# (`python -m benches.studies.coverage_of_few`).
TYPICAL_DEGREES = 5.0


@dataclass(frozen=True)
class AucInterval:
    """AUC with a confidence interval, as :func:`auc_interval` returns it.

    Attributes
    ----------
    auc : float
        Area under the ROC curve, or under the requested part of it.
    low, high : float
        Ends of the interval.
    standard_error : float
        Estimate of the standard deviation of the AUC over samples.
    confidence : float
        Level of the interval.
    method : str
        Method of the interval: the requested one or the fallback, ``"hanley-mcneil"``, ``"exact"``
        or, for a part of the curve, ``"simultaneous"``.
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

    Also returned by :func:`cross_validated_compare`.

    Attributes
    ----------
    auc_1, auc_2 : float
        The two areas, under the curves or under the requested part of them.
    difference : float
        ``auc_1 - auc_2``.
    low, high : float
        Ends of the confidence interval of the difference.
    standard_error : float
        Estimate of the standard deviation of the difference over samples.
    z : float
        ``(difference - margin) / standard_error``.
    p_value : float
        For the hypothesis that both areas are equal, or the one tested instead.
    confidence : float
        Level of the interval.
    method : str
        Method of the interval: the requested one, ``"influence"`` for cross-validated AUCs, or the
        fallback: ``"exact"`` or, for a part of the curves, ``"simultaneous"``.
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


@suggests_keywords
def auc_interval(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    sample_weight: ArrayLike | None = None,
    weights: Weighting = "sampling",
    groups: ArrayLike | None = None,
    fpr: tuple[float, float] = (0, 1),
    tpr: tuple[float, float] = (0, 1),
    standardize: bool = False,
    confidence: float = 0.95,
    method: Literal["logit", "delong", "bootstrap"] = "logit",
    n_resamples: int = 2000,
    random_state: int | RandomState | None = None,
) -> AucInterval:
    """Confidence interval of the area under the ROC curve, or under a part of it.

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
        Which rows come from the same source, such as a patient with several images:
        rows of a group may be dependent, groups are independent (see Notes).
    fpr, tpr : tuple of (float, float), default=(0, 1)
        Bands of false and of true positive rates that bound the area, as for
        :func:`partial_auc`.
    standardize : bool, default=False
        Whether to map the area to 0.5 for uninformative scores and 1 for perfect ones.
    confidence : float, default=0.95
        Level of the interval, in (0, 1).
    method : {"logit", "delong", "bootstrap"}, default="logit"
        ``"logit"``: a normal interval on the scale of log(AUC / (1 - AUC)), for a part of the curve
        with the share of the perfect area, that never leaves this range. The variance is DeLong's
        [1]_, or its analogue for a part of the curve [6]_, drawn towards a typical one where rows
        are few (see Notes).
        ``"delong"``: AUC plus and minus a normal quantile times DeLong's standard error, clipped to
        0 and the area of a perfect curve, as in other packages; too short where rows are few.
        ``"bootstrap"``: quantiles of the area over resamples of the rows, drawn within each class;
        with ``groups``, of whole groups, drawn from all of them.
    n_resamples : int, default=2000
        Number of bootstrap resamples, 2 or more.
    random_state : int, RandomState instance or None, default=None
        Seed of the bootstrap. The result does not depend on the number of threads.

    Returns
    -------
    AucInterval
        With ``auc``, ``low``, ``high`` and ``standard_error``; ``method`` is the one used.

    Warns
    -----
    UndefinedMetricWarning
        If DeLong's variance is 0 or undefined: where the AUC is 0 or 1 or all scores are equal, and
        where a class has one row (see Notes); and if all groups are alike.

    Raises
    ------
    ValueError
        As for :func:`partial_auc`; for a parameter out of range; for a frequency that is
        not whole; for a bootstrap, or a part of the curve, of a class with one row; and for
        ``groups`` with a missing value, or with all rows of a class in one group.

    See Also
    --------
    partial_auc : Only the area.
    auc_compare : The same for the difference of two AUCs.
    cross_validated_auc : The same for scores of cross-validated models.

    Notes
    -----
    The placement value of a positive row is the share of the negative rows that it outranks, that
    of a negative row the share of the positive rows that outrank it, ties counting one half. With
    S² the variance of the placement values of the m positive (n negative) rows about the AUC, the
    variance of the AUC is S²₁/m + S²₀/n [1]_. It takes one sort [2]_.

    DeLong's variance of few rows is often much too small: of ten positives, none may be one of the
    few that rank low. So the logit interval takes (d · DeLong's + 5 · typical) / (d + 5), with
    d = min(m, n) - 1 and the typical variance AUC (1 - AUC) (1/m + 1/n) / 3, which uninformative
    scores have at 0.5. With a hundred rows of each class that is hardly felt. For normal scores
    with an AUC of 0.95, 200 negatives, and 5, 10, 20 or 30 positives, intervals at level 0.95 held
    it in 0.98, 0.98, 0.96 and 0.95 of samples, those of ``"delong"`` in 0.70, 0.77, 0.84 and 0.88;
    the page on ROC statistics has the table. The standard error is always DeLong's.

    With weights, rows count by their weight and the variance is that of a stratified sample with
    unequal weights, as in surveys [3]_: with ``w`` the share of a row in the weight of its class, a
    class adds m/(m - 1) · Σ w² (placement - AUC)². For equal weights that is DeLong's variance,
    whatever their value: weight 2 on every row does not mean twice as many rows. Rows of weight 0
    are ignored. The bootstrap draws rows with equal chances, and each keeps its weight. With
    frequencies, everything is as for repeated rows, including the bootstrap, which then needs
    memory for all of them.

    With ``groups``, the variance is that of Obuchowski for clustered data [7]_. With a (b) the sum
    of w (placement - AUC) over the positive (negative) rows of a group, and with I groups, I₁ with
    positive and I₀ with negative rows, it is I₁/(I₁ - 1) · Σ a² + I₀/(I₀ - 1) · Σ b² + 2 I/(I - 1)
    · Σ a b. Where each row is a group of its own, no group has both classes, and that is DeLong's
    variance. If any group has two rows, it replaces DeLong's, with quantiles of Student's t: for
    ``"delong"`` with d degrees of freedom, one less than the smaller of I₁ and I₀; for ``"logit"``
    with d + 5, the typical variance being larger by as much as that of groups exceeds DeLong's. The
    bootstrap takes quantiles as far in the tails as that t quantile times sqrt(I / (I - 1)) is in
    the normal law [8]_. The guide for reviewers gives the coverage of these intervals. Frequencies
    are equal rows of one group. The pairs behind the exact interval have no group in common. Within
    bands, the clipped rates below take the place of the placement values, less their mean.

    Within bands, with the curve in them from (f, r) to (g, s), the false positive rate at the score
    of a positive row, clipped to [f, g], takes the place of its placement value, and the true
    positive rate at the score of a negative row, clipped to [r, s] [6]_. The variance includes the
    estimation of the ends of a band: a threshold of 10 % false positives is a quantile of the
    negatives. Narrow bands rest on few rows: for normal scores, intervals at level 0.95 held the
    area up to a false positive rate of 0.05 in 0.90 of samples with 100 negatives, by any method,
    and in 0.94 with 1000. pROC has only the bootstrap for partial areas.

    Where the AUC is 1, the variance is 0, and [1, 1] would be misleading. Then, for any method,
    the interval is the exact one of Clopper and Pearson [4]_ for k successes in k trials,
    ``[((1 - confidence) / 2) ** (1 / k), 1]`` with k = min(m, n): an AUC of 1 means that k
    disjoint, hence independent, pairs of a positive and a negative row are all in order. It is
    mirrored where the AUC is 0; where all rows tie, the same bound holds for the share of ties, and
    half of the rest may lie on either side of 0.5. The standard error stays 0. With weights, m and
    n are Kish's effective numbers (Σw)² / Σw². Where the curve within bands has no variance, the
    interval is the area under the simultaneous band of :func:`roc_band`, which holds for any law of
    the scores and is wide.

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
    .. [6] He and Escobar, "Nonparametric statistical inference method for partial areas under
       receiver operating characteristic curves, with application to genomic studies", Statistics
       in Medicine 27(25), 2008. :doi:`10.1002/sim.3335`
    .. [7] Obuchowski, "Nonparametric analysis of clustered ROC curve data", Biometrics 53(2), 1997.
       :doi:`10.2307/2533958`
    .. [8] Hesterberg, "What teachers should know about the bootstrap", The American Statistician
       69(4), 2015. :doi:`10.1080/00031305.2015.1089789`

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
    (0.815, 0.941)

    If only few false alarms are affordable:

    >>> interval = auc_interval(y_true, rating, fpr=(0, 0.2), standardize=True)
    >>> round(interval.low, 3), round(interval.auc, 3), round(interval.high, 3)
    (0.724, 0.816, 0.89)

    If every two images in sequence were of one patient:

    >>> two_of_each = np.repeat(np.arange(109), 2)
    >>> interval = auc_interval(y_true[two_of_each], rating[two_of_each], groups=two_of_each)
    >>> round(interval.auc, 4), round(interval.standard_error, 4)
    (0.8932, 0.0307)
    """
    alpha = 1 - check_confidence(confidence)
    check_method(method, ("logit", "delong", "bootstrap"))
    check_n_resamples(n_resamples)
    bands = Bands.of(fpr, tpr, standardize)
    sample = _ScoredModels(
        y_true, _models(y_score), sample_weight, bands, are_counts(weights, sample_weight)
    )
    (area,), variances, effective = sample.spread()
    of_rows = variance = variances and variances[0][0]
    degenerate = _is_degenerate(area, variance, bands)
    clustered, degrees = None, math.inf
    if groups is not None:
        clustered = Groups.of(y_true, sample.models[0], sample_weight, groups)
        if degenerate:
            effective = clustered.effective(effective, bands)
        else:
            variance, degrees = _clustered_variance(clustered, variance, bands)
    if method == "bootstrap" and not degenerate:
        if variance is None:
            raise ValueError("the bootstrap needs two rows of each class, but a class has one")
        seed = check_seed(random_state)
        areas = sample.bootstrap(n_resamples, seed, clustered)[:, 0]
        ends = np.quantile(areas, levels_of(alpha, degrees)).tolist()
        auc, low, high = (bands.scaled(end) for end in (area, *ends))
        error = float(areas.std(ddof=1)) * bands.slope
        return AucInterval(auc, low, high, error, confidence, "bootstrap")
    return interval_of(
        area,
        variance,
        effective,
        confidence,
        degrees=degrees,
        of_rows=of_rows,
        logit=method == "logit",
        bands=bands,
        area_within=partial(sample.area_within, 0),
    )


def _clustered_variance(groups: Groups, of_rows: float | None, bands: Bands) -> tuple[float, float]:
    """Return the variance of the area with groups, given that of rows, and degrees of freedom."""
    found = groups.variance(bands)
    if of_rows is None or found > _NO_SPREAD * of_rows:
        return found, groups.degrees()
    _warn(
        "All groups are alike, which says nothing of others: the standard error is that of"
        " independent rows.",
        above=1,
    )
    return of_rows, math.inf


def interval_of(
    area: float,
    variance: float | None,
    effective: Sequence[float],
    confidence: float,
    *,
    degrees: float = math.inf,
    of_rows: float | None = None,
    logit: bool = True,
    bands: Bands = _WHOLE,
    area_within: AreaWithin | None = None,
) -> AucInterval:
    """Return the interval of an area of known variance, or the fallback interval.

    ``variance`` is None where a class has one row; ``effective`` holds the effective numbers of
    positive and of negative rows; ``degrees`` and ``of_rows``, the variance of independent rows,
    describe one of groups; ``area_within`` gives the area within any bands, which a part of the
    curve needs.
    """
    alpha = 1 - confidence
    error, used = 0.0, "logit" if logit else "delong"
    most = bands.greatest
    if variance is None and not bands.is_whole:
        raise ValueError("a partial area needs two rows of each class, but a class has one")
    if _is_degenerate(area, variance, bands):
        low, high = _widest(area, bands, effective, alpha, area_within)
        if bands.is_whole:
            used = "exact"
            reason = f"exact, of {min(effective):.6g} independent pairs"
        else:
            used = "simultaneous"
            reason = "the area under the simultaneous band of the curve"
        _warn(f"{_says(area, bands)}, so the interval is {reason}.", above=1)
    else:
        if variance is None:
            _warn("A class has one row, so the standard error is Hanley and McNeil's.", above=1)
            error, used = math.sqrt(_core.hanley_mcneil_variance(area, *effective)), "hanley-mcneil"
            low, high = normal_interval(area, error, alpha, logit=logit)
        else:
            error = math.sqrt(variance)
            if logit:
                ends = logit_interval(
                    area / most,
                    variance / most**2,
                    alpha,
                    effective,
                    degrees=degrees,
                    of_rows=None if of_rows is None else of_rows / most**2,
                )
                low, high = (most * end for end in ends)
            else:
                low, high = normal_interval(area, error, alpha, degrees=degrees, most=most)
    auc, low, high = (bands.scaled(end) for end in (area, low, high))
    return AucInterval(auc, low, high, error * bands.slope, confidence, used)


def _widest(
    area: float,
    bands: Bands,
    effective: Sequence[float],
    alpha: float,
    area_within: AreaWithin | None,
) -> tuple[float, float]:
    """Interval where the variance is 0."""
    if bands.is_whole:
        return exact_interval(area, min(effective), alpha)
    assert area_within is not None
    return _area_of_band(area_within, bands, *band_reach(alpha, effective))


@suggests_keywords
def auc_compare(
    y_true: ArrayLike,
    y_score_1: ArrayLike,
    y_score_2: ArrayLike,
    *,
    y_true_2: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    sample_weight_2: ArrayLike | None = None,
    weights: Weighting = "sampling",
    groups: ArrayLike | None = None,
    groups_2: ArrayLike | None = None,
    fpr: tuple[float, float] = (0, 1),
    tpr: tuple[float, float] = (0, 1),
    standardize: bool = False,
    alternative: Alternative = "two-sided",
    margin: float = 0.0,
    confidence: float = 0.95,
    method: Literal["student", "delong", "bootstrap"] = "student",
    n_resamples: int = 2000,
    random_state: int | RandomState | None = None,
) -> AucComparison:
    """Test and confidence interval of the difference of two areas under ROC curves or their parts.

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
        Weights of the rows of ``y_true``.
    sample_weight_2 : array-like of shape (n_samples_2,), default=None
        Weights of the rows of ``y_true_2``.
    weights : {"sampling", "frequency"}, default="sampling"
        Meaning of a weight: ``"sampling"``, how many rows of the population the row represents
        (only ratios matter); ``"frequency"``, a whole number of identical rows.
    groups : array-like of shape (n_samples,), default=None
        Which rows of ``y_true`` come from the same source, such as a patient: rows of a group may
        be dependent, groups are independent.
    groups_2 : array-like of shape (n_samples_2,), default=None
        The same for the rows of ``y_true_2``, whose groups are distinct from these.
    fpr, tpr : tuple of (float, float), default=(0, 1)
        Bands of false and of true positive rates that bound the area, as for
        :func:`partial_auc`.
    standardize : bool, default=False
        Whether to map the area to 0.5 for uninformative scores and 1 for perfect ones.
    alternative : {"two-sided", "greater", "less", "equivalence"}, default="two-sided"
        The alternative hypothesis: that the difference, first minus second, is not the margin;
        is greater; is less; or lies between the margin and its negative.
    margin : float, default=0.0
        Difference under the null hypothesis: ``alternative="greater", margin=-0.02`` tests that the
        first score is not inferior by 0.02 or more. Above 0 for ``"equivalence"``.
    confidence : float, default=0.95
        Level of the interval, in (0, 1).
    method : {"student", "delong", "bootstrap"}, default="student"
        ``"student"``: interval and test by Student's t with DeLong's variance of the difference
        [1]_, or its analogue for parts of the curves [2]_; if paired, less twice the covariance.
        ``"delong"``: the same by the normal law, as in other packages; with few rows of a class,
        intervals are too short and p-values too small.
        ``"bootstrap"``: the interval is given by quantiles of the difference over resamples of the
        rows within each class, the same rows for both scores if paired; ``z`` is the difference
        divided by its standard deviation there.
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
        If an AUC is 0 or 1 or all of its scores tie: it is taken as known without error (see
        Notes).

    Raises
    ------
    ValueError
        As for :func:`partial_auc`; for a class with one row, whose spread is unknown; for a
        parameter out of range; for a frequency that is not whole; and for ``sample_weight_2``
        without ``y_true_2``.

    See Also
    --------
    auc_interval : Interval of one AUC; its notes explain weights and bands.
    auc_power, auc_sample_size : Power of the test, and rows needed.
    cross_validated_compare : The same for scores of cross-validated models.

    Notes
    -----
    Two scores that rank every pair of a positive and a negative row alike have the difference 0
    with standard error 0: then ``z`` is 0, ``p_value`` 1, and the interval [0, 0]. An AUC of 0 or 1
    has DeLong variance 0. If only one of them has, the interval reflects the variance of the other
    alone and is too short, as a warning says. If both have, the interval combines the exact
    intervals of both AUCs (see :func:`auc_interval`), each at the level
    ``1 - (1 - confidence) / 2``, so that by Bonferroni's inequality both hold together; ``z`` and
    ``p_value`` are NaN, unless the difference is 0. Within bands the same is done where a part of a
    curve has no variance.

    ``z`` is the difference less the margin, divided by its standard error. Equivalence is two
    one-sided tests (Schuirmann): ``z`` and ``p_value`` are those of the weaker one. The interval is
    always two-sided; at level 1 - 2 a it lies within the margins where equivalence is shown at
    level a. With ``groups`` the variance is that of :func:`auc_interval`, with the covariance of
    both scores, and the bootstrap draws whole groups.

    Student's t has one degree of freedom less than rows, or groups, of the class that has fewer,
    for two samples Satterthwaite's number. With groups, ``"delong"`` takes it, too, and the
    bootstrap takes quantiles that correspond to it.

    References
    ----------
    .. [1] DeLong, DeLong and Clarke-Pearson, "Comparing the areas under two or more correlated
       receiver operating characteristic curves: a nonparametric approach", Biometrics 44(3), 1988.
       :doi:`10.2307/2531595`
    .. [2] He and Escobar, "Nonparametric statistical inference method for partial areas under
       receiver operating characteristic curves, with application to genomic studies", Statistics
       in Medicine 27(25), 2008. :doi:`10.1002/sim.3335`

    Examples
    --------
    >>> from aucrank.metrics import auc_compare
    >>> y_true = [0, 0, 0, 0, 1, 1, 1, 1]
    >>> old, new = [1, 4, 2, 6, 3, 5, 7, 8], [1, 2, 3, 5, 4, 6, 7, 8]
    >>> result = auc_compare(y_true, new, old)
    >>> result.auc_1, result.auc_2, result.difference
    (0.9375, 0.8125, 0.125)
    >>> round(result.p_value, 2)
    0.31
    """
    alpha = 1 - check_confidence(confidence)
    check_method(method, ("student", "delong", "bootstrap"))
    check_n_resamples(n_resamples)
    paired = y_true_2 is None
    if paired and sample_weight_2 is not None:
        raise ValueError("sample_weight_2 needs y_true_2: paired scores have one weight a row")
    bands = Bands.of(fpr, tpr, standardize)
    counted = are_counts(weights, sample_weight, sample_weight_2)
    samples = (
        [_ScoredModels(y_true, _models(y_score_1, y_score_2), sample_weight, bands, counted)]
        if y_true_2 is None
        else [
            _ScoredModels(y_true, _models(y_score_1), sample_weight, bands, counted),
            _ScoredModels(y_true_2, _models(y_score_2), sample_weight_2, bands, counted),
        ]
    )
    check_method(alternative, get_args(Alternative), "alternative")
    check_scalar(margin, "margin", Real, min_val=-1, max_val=1)
    if alternative == "equivalence" and margin <= 0:
        raise ValueError(f"margin is {margin}, but equivalence needs one above 0")
    if groups_2 is not None and paired:
        raise ValueError("groups_2 needs y_true_2: paired scores have one group a row")
    all_groups = [groups] if paired else [groups, groups_2]
    clustered = [
        None if of_rows is None else Groups.of(s.y_true, s.models[0], s.sample_weight, of_rows)
        for s, of_rows in zip(samples, all_groups, strict=True)
    ]
    curves: list[_ModelArea] = []
    variance, freedom = 0.0, 0.0
    for sample, of_groups in zip(samples, clustered, strict=True):
        areas, variances, effective = sample.spread()
        if variances is None:
            raise ValueError("a comparison needs two rows of each class, but a class has one")
        degrees = degrees_of_rows(effective) if method == "student" else math.inf
        if of_groups is not None:
            effective = of_groups.effective(effective, bands)
            degrees = min(degrees, of_groups.degrees())
        for model, (area, own) in enumerate(zip(areas, variances[0], strict=True)):
            curves.append(_ModelArea(sample, model, area, own, effective))
        of_sample = variances[1] if paired else variances[0][0]
        if of_groups is not None and of_sample > 0:
            covariance = of_groups.covariance(sample.models, bands)
            signs = np.array([1.0, -1.0])[: len(sample.models)]
            of_sample = float(signs @ covariance @ signs)
        freedom += of_sample**2 / degrees
        variance += of_sample
    first, second = curves
    difference = first.area - second.area

    # Degrees of freedom of a sum of variances, by Satterthwaite.
    degrees = variance**2 / freedom if freedom > 0 else math.inf
    used: str = method
    if variance == 0:
        error, low, high = 0.0, difference, difference
        z, p_value = math.nan, math.nan
        if difference == 0 and alternative == "two-sided" and margin == 0:
            z, p_value = 0.0, 1.0
        if any(curve.is_degenerate for curve in curves) or difference != 0:
            used = "exact" if bands.is_whole else "simultaneous"
            ends = [curve.interval(alpha / 2) for curve in curves]
            low, high = ends[0][0] - ends[1][1], ends[0][1] - ends[1][0]
            undefined = ", and z and p_value are NaN" if math.isnan(z) else ""
            _warn(
                "The difference has variance 0, which says nothing of other samples: the interval "
                f"is made of the {used} intervals of both AUCs{undefined}."
            )
    else:
        for number, curve in enumerate(curves, 1):
            if curve.is_degenerate:
                says = _says(curve.area, bands)
                _warn(f"y_score_{number}: {says}, so the interval is too short.")
        if method == "bootstrap":
            rng = check_random_state(random_state)
            drawn = np.hstack(
                [
                    s.bootstrap(n_resamples, check_seed(rng), of_groups)
                    for s, of_groups in zip(samples, clustered, strict=True)
                ]
            )
            differences = drawn[:, 0] - drawn[:, 1]
            error = float(differences.std(ddof=1))
            low, high = np.quantile(differences, levels_of(alpha, degrees)).tolist()
        else:
            error = math.sqrt(variance)
            reach = quantile_of(alpha, degrees) * error
            low = max(difference - reach, -bands.greatest)
            high = min(difference + reach, bands.greatest)
        # Margins are in units of the reported areas.
        z, p_value = _tested(difference, margin / bands.slope, error, alternative, degrees)
    difference, low, high, error = (bands.slope * x for x in (difference, low, high, error))
    return AucComparison(
        bands.scaled(first.area),
        bands.scaled(second.area),
        difference,
        low,
        high,
        error,
        z,
        p_value,
        confidence,
        used,
        paired,
    )


def _tested(
    difference: float, margin: float, error: float, alternative: Alternative, degrees: float
) -> tuple[float, float]:
    """Return the statistic of a test against a margin, and its p-value."""
    above, below = (difference - margin) / error, (difference + margin) / error
    if alternative == "equivalence":
        # Below the margin and above its negative.
        z = above if above > -below else below
        return z, chance_above(min(-above, below), degrees)
    if alternative == "two-sided":
        return above, 2 * chance_above(abs(above), degrees)
    z = above if alternative == "greater" else -above
    return above, chance_above(z, degrees)


_Spread: TypeAlias = tuple[list[float], tuple[list[float], float] | None, list[float]]


@dataclass(frozen=True, eq=False)
class _ScoredModels:
    """Models on the same rows, and the requested part of their curves."""

    y_true: ArrayLike
    models: list[NDArray[Any]]
    sample_weight: ArrayLike | None
    bands: Bands
    is_counted: bool

    def spread(self) -> _Spread:
        """Areas; their variances and that of the difference, if known; effective sample sizes."""
        if self.bands.is_whole and not self.is_counted:
            statistic = _core.delong
        else:
            within = self.bands.fpr, self.bands.tpr
            statistic = with_options(_core.partial_areas, within, self.is_counted)
        return of_two_classes(statistic, self.y_true, self.models, self.sample_weight)

    def bootstrap(
        self, n_resamples: int, seed: int, groups: Groups | None = None
    ) -> NDArray[np.float64]:
        """Areas of shape (n_resamples, n_models)."""
        if groups is not None and not self.bands.is_whole:
            drawn = groups.curves(self.models, n_resamples, seed)
            fpr, tpr = self.bands.fpr, self.bands.tpr
            return np.array([[own.partial_auc(fpr, tpr, False) for own in of] for of in drawn])
        if groups is not None:
            # The same groups are drawn for each model.
            by_model = [replace(groups, scores=scores) for scores in self.models]
            return np.column_stack([own.bootstrap(n_resamples, seed) for own in by_model])
        y_true, models, sample_weight = rows_to_draw(
            self.y_true, self.models, self.sample_weight, self.is_counted
        )
        if self.bands.is_whole:
            statistic = resampling(_core.bootstrap_aucs, n_resamples, seed)
        else:
            within = self.bands.fpr, self.bands.tpr
            statistic = resampling(_core.bootstrap_partial_aucs, within, n_resamples, seed)
        areas = of_two_classes(statistic, y_true, models, sample_weight)
        return areas.reshape(n_resamples, len(models))

    def area_within(self, model: int, fpr: tuple[float, float], tpr: tuple[float, float]) -> float:
        """Area of a model within other bands."""
        curve = core_curve(self.y_true, self.models[model], self.sample_weight)
        return curve.partial_auc(fpr, tpr, False)


def _is_degenerate(area: float, variance: float | None, bands: Bands) -> bool:
    """Whether all pairs have one outcome, so that the placement values do not vary."""
    return area in (0.0, bands.greatest) or variance == 0


def _says(area: float, bands: Bands) -> str:
    name = "AUC" if bands.is_whole else "partial area"
    return f"The {name} is {area:g} with variance 0, which says nothing of other samples"


@dataclass(frozen=True, eq=False)
class _ModelArea:
    """One model of a sample with its area."""

    sample: _ScoredModels
    model: int
    area: float
    variance: float
    effective: Sequence[float]

    @property
    def is_degenerate(self) -> bool:
        return _is_degenerate(self.area, self.variance, self.sample.bands)

    def interval(self, alpha: float) -> tuple[float, float]:
        if self.is_degenerate:
            area_within = partial(self.sample.area_within, self.model)
            return _widest(self.area, self.sample.bands, self.effective, alpha, area_within)
        most = self.sample.bands.greatest
        return normal_interval(self.area, math.sqrt(self.variance), alpha, most=most)


def check_confidence(confidence: float) -> float:
    """Return the level of an interval; raise ValueError unless it is in (0, 1)."""
    check_scalar(confidence, "confidence", Real, min_val=0, max_val=1, include_boundaries="neither")
    return float(confidence)


def check_method(method: str, known: Iterable[str], name: str = "method") -> None:
    """Raise ValueError for an unknown method or other choice."""
    if method not in known:
        raise ValueError(f"{name} is {method!r}, but must be one of {', '.join(map(repr, known))}")


def check_n_resamples(n_resamples: int) -> None:
    """Raise ValueError for fewer than 2 resamples."""
    check_scalar(n_resamples, "n_resamples", Integral, min_val=2)


def quantile_of(alpha: float, degrees: float = math.inf) -> float:
    """Return the half-width of an interval in standard errors, by the normal law or by t."""
    if math.isinf(degrees):
        return NormalDist().inv_cdf(1 - alpha / 2)
    return float(stdtrit(degrees, 1 - alpha / 2))


def degrees_of_rows(effective: Sequence[float]) -> float:
    """Return the degrees of freedom of a difference: one less than the rows of the rarer class."""
    return max(min(effective) - 1, 1.0)


def chance_above(z: float, degrees: float = math.inf) -> float:
    """Return the chance of exceeding a number of standard errors."""
    return math.erfc(z / math.sqrt(2)) / 2 if math.isinf(degrees) else float(stdtr(degrees, -z))


def levels_of(alpha: float, degrees: float) -> list[float]:
    """Return the orders of the quantiles of resamples that end an interval.

    The variance of resamples of n groups has the divisor n, not n - 1, and their quantiles follow a
    normal law, not t: wider quantiles correct both (Hesterberg, 2015).
    """
    if math.isinf(degrees):
        return [alpha / 2, 1 - alpha / 2]
    tail = float(ndtr(-quantile_of(alpha, degrees) * math.sqrt((degrees + 1) / degrees)))
    return [tail, 1 - tail]


def normal_interval(
    auc: float,
    error: float,
    alpha: float,
    *,
    degrees: float = math.inf,
    logit: bool = False,
    most: float = 1.0,
) -> tuple[float, float]:
    """Return a normal interval clipped to 0 and the maximum, or of a share on the logit scale."""
    reach = quantile_of(alpha, degrees) * error
    if not logit:
        return max(auc - reach, 0.0), min(auc + reach, most)
    # The logistic function, as 1 / (1 + exp(-x)) that never overflows.
    middle, reach = math.log(auc) - math.log1p(-auc), reach / (auc * (1 - auc))
    return (1 + math.tanh((middle - reach) / 2)) / 2, (1 + math.tanh((middle + reach) / 2)) / 2


def logit_interval(
    share: float,
    variance: float,
    alpha: float,
    effective: Sequence[float],
    *,
    degrees: float = math.inf,
    of_rows: float | None = None,
) -> tuple[float, float]:
    """Return the interval of an area, as a share of the greatest, on the logit scale.

    Of few rows or groups, the variance is drawn towards a typical one. With groups, ``degrees`` are
    those of the variance and ``of_rows`` is the variance of independent rows, which both are
    relative to.
    """
    known = max(min(degrees, min(effective) - 1), 0.0)
    # That of scores without information at .5, and in proportion to a binomial share elsewhere.
    typical = share * (1 - share) / 3 * sum(1 / rows for rows in effective)
    if of_rows is not None:
        typical *= variance / of_rows
    drawn = (known * variance + TYPICAL_DEGREES * typical) / (known + TYPICAL_DEGREES)
    return normal_interval(
        share, math.sqrt(drawn), alpha, degrees=degrees + TYPICAL_DEGREES, logit=True
    )


def exact_interval(auc: float, pairs: float, alpha: float) -> tuple[float, float]:
    """Interval where all independent pairs have the same outcome: win, loss or tie."""
    least: float = (alpha / 2) ** (1 / pairs)
    if auc == 1:
        return least, 1.0
    if auc == 0:
        return 0.0, 1 - least
    return least / 2, 1 - least / 2


def _models(*y_scores: ArrayLike) -> list[NDArray[Any]]:
    """Scores of models on the same rows, of one dtype."""
    models = [to_scores(y_score)[0] for y_score in y_scores]
    return [scores.astype(np.result_type(*models), copy=False) for scores in models]


def band_reach(alpha: float, effective: Sequence[float]) -> tuple[float, float]:
    """How far up and how far right the simultaneous band of a curve reaches (Massart, 1990)."""
    # (1 - a)² = 1 - alpha.
    a = -math.expm1(0.5 * math.log1p(-alpha))
    up, right = (math.sqrt(math.log(2 / a) / (2 * rows)) for rows in effective)
    return up, right


def _area_of_band(
    area_within: AreaWithin, bands: Bands, up: float, right: float
) -> tuple[float, float]:
    """Areas within bands under a curve shifted right and down, and shifted left and up."""
    (a, b), (c, d) = bands.fpr, bands.tpr
    # The area under a shifted curve is that under the curve within bands shifted the other way.
    low = 0.0
    if right < b and c + up < 1:
        low = area_within((max(a - right, 0.0), b - right), (c + up, min(d + up, 1.0)))
    left, end = min(a + right, 1.0), min(b + right, 1.0)
    high = bands.greatest
    if left < end and up < d:
        high = area_within((left, end), (max(c - up, 0.0), min(d - up, 1.0)))
        high += max(up - c, 0.0) * (end - left) + (d - c) * (b + right - end)
    return low, high


def resampling(
    statistic: Callable[..., NDArray[np.float64] | None], *how: Any
) -> Callable[..., NDArray[np.float64] | None]:
    """Statistic of resamples as one of rows: uses all threads for any number of rows."""
    n_threads = effective_n_threads(None)
    return lambda *args: statistic(*args[:-1], *how, n_threads)


def _warn(message: str, above: int = 0) -> None:
    # Two levels up is the caller of the public function, or further up if that calls another.
    warnings.warn(message, UndefinedMetricWarning, stacklevel=3 + above)
