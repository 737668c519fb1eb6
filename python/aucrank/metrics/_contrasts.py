"""Tests whether several AUCs of the same rows differ."""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import chdtrc
from sklearn.exceptions import UndefinedMetricWarning

from aucrank._data.scores import to_scores
from aucrank._data.table import Table
from aucrank._utils.keywords import suggests_keywords
from aucrank.metrics._auc import roc_auc_score
from aucrank.metrics._clustered import Groups
from aucrank.metrics._inference import (
    chance_above,
    check_confidence,
    degrees_of_rows,
    exact_interval,
    logit_interval,
    normal_interval,
    quantile_of,
)
from aucrank.metrics._units import Units
from aucrank.metrics._weighting import Weighting


@dataclass(frozen=True, eq=False)
class AucContrasts:
    """Contrasts of several AUCs with their tests, as :func:`auc_contrasts` returns it.

    Attributes
    ----------
    areas : Table
        A row for each score: ``model``, ``auc``, ``standard_error``, ``low``, ``high``.
    contrasts : Table
        A row for each contrast: ``contrast``, ``estimate``, ``standard_error``, ``low``, ``high``,
        ``z`` and the two-sided ``p_value``.
    covariance : ndarray of shape (n_models, n_models)
        Covariance of the AUCs.
    chi_square : float
        Statistic of the hypothesis that all contrasts are 0.
    df : int
        Its degrees of freedom: the number of linearly independent contrasts.
    p_value : float
        Chance of so large a statistic if the hypothesis is true.
    confidence : float
        Level of the intervals.
    """

    areas: Table
    contrasts: Table
    covariance: NDArray[np.float64]
    chi_square: float
    df: int
    p_value: float
    confidence: float


@suggests_keywords
def auc_contrasts(
    y_true: ArrayLike,
    y_scores: Mapping[str, ArrayLike],
    contrasts: Mapping[str, ArrayLike] | None = None,
    *,
    sample_weight: ArrayLike | None = None,
    weights: Weighting = "sampling",
    groups: ArrayLike | None = None,
    confidence: float = 0.95,
) -> AucContrasts:
    """Test whether the AUCs of several scores of the same rows are equal.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Labels of two classes; the greater label is the positive class.
    y_scores : dict of str to array-like of shape (n_samples,)
        Two or more scores, by the name of the model; higher is more positive.
    contrasts : dict of str to array-like of shape (n_models,), default=None
        Linear combinations of AUCs to be tested for 0, by name: the factor of each model. ``None``
        compares each model with the first.
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
    AucContrasts
        With ``areas``, ``contrasts``, ``chi_square`` and ``p_value``.

    Warns
    -----
    UndefinedMetricWarning
        If a contrast other than 0 has no variance, so that it cannot be tested.

    Raises
    ------
    ValueError
        As for :func:`auc_compare`; for fewer than two scores, and for contrasts with a wrong number
        of models or with zeros only.

    See Also
    --------
    auc_compare : Two scores, paired or not.
    auc_by : One score in several subgroups.

    Notes
    -----
    With L the contrasts, θ the AUCs and S their covariance, the statistic is
    (Lθ)ᵀ (L S Lᵀ)⁻ Lθ, which has a chi-square distribution with the rank of L S Lᵀ as degrees of
    freedom [1]_. With ``groups``, S is that of Obuchowski [2]_. Intervals of single AUCs are those
    of :func:`auc_interval`; intervals and p-values of contrasts are by Student's t, as for
    :func:`auc_compare`.

    References
    ----------
    .. [1] DeLong, DeLong and Clarke-Pearson, "Comparing the areas under two or more correlated
       receiver operating characteristic curves: a nonparametric approach", Biometrics 44(3), 1988.
       :doi:`10.2307/2531595`
    .. [2] Obuchowski, "Nonparametric analysis of clustered ROC curve data", Biometrics 53(2), 1997.
       :doi:`10.2307/2533958`

    Examples
    --------
    >>> import numpy as np
    >>> from aucrank.metrics import auc_contrasts
    >>> rng = np.random.default_rng(0)
    >>> y_true = np.repeat([0, 1], 300)
    >>> good = rng.normal(loc=2 * y_true)
    >>> same, noise = good + 0.1 * rng.normal(size=600), rng.normal(size=600)
    >>> scores = {"good": good, "same": same, "noise": noise}
    >>> found = auc_contrasts(y_true, scores)
    >>> found.df, found.p_value < 0.001
    (2, True)
    """
    alpha = 1 - check_confidence(confidence)
    if len(y_scores) < 2:
        raise ValueError(f"y_scores must hold two models or more, got {len(y_scores)}")
    units = Units.of(y_true, sample_weight, weights, groups)
    aucs = np.array(
        [roc_auc_score(y_true, score, sample_weight=sample_weight) for score in y_scores.values()]
    )
    models = [to_scores(score)[0] for score in y_scores.values()]
    covariance = auc_covariance(units, models)
    of_classes = [units.n_effective(rows) for rows in (units.positive, ~units.positive)]
    degrees = degrees_of_rows(of_classes)
    if units.codes is not None:
        of_groups = Groups(units.positive, models[0], units.weight, units.codes, units.n_codes)
        degrees = min(degrees, of_groups.degrees())
    t = quantile_of(alpha, degrees)
    names, factors = _factors(contrasts, list(y_scores))
    estimates, spread = factors @ aucs, factors @ covariance @ factors.T
    errors = np.sqrt(np.maximum(np.diag(spread), 0))
    ratios = np.divide(
        estimates, errors, where=errors > 0, out=np.where(estimates == 0, 0.0, np.nan)
    )
    chi_square, df, p_value = wald_test(estimates, spread)
    # An interval without a width would say that nothing is unknown.
    reach = np.where(np.isnan(ratios), np.nan, t * errors)
    if np.isnan(ratios).any():
        name = names[int(np.isnan(ratios).argmax())]
        warnings.warn(
            f"The contrast {name!r} has variance 0, which says nothing of other samples: its"
            " interval, z and p_value are NaN.",
            UndefinedMetricWarning,
            stacklevel=2,
        )
    variances = np.diag(covariance)
    ends = np.array(
        [
            interval_of_units(units, scores, auc, variance, alpha)
            for scores, auc, variance in zip(models, aucs.tolist(), variances.tolist(), strict=True)
        ]
    )
    return AucContrasts(
        areas=Table(
            model=np.array(list(y_scores), dtype=object),
            auc=aucs,
            standard_error=np.sqrt(variances),
            low=ends[:, 0],
            high=ends[:, 1],
        ),
        contrasts=Table(
            contrast=np.array(names, dtype=object),
            estimate=estimates,
            standard_error=errors,
            low=estimates - reach,
            high=estimates + reach,
            z=ratios,
            p_value=np.array([2 * chance_above(abs(ratio), degrees) for ratio in ratios.tolist()]),
        ),
        covariance=covariance,
        chi_square=chi_square,
        df=df,
        p_value=p_value,
        confidence=float(confidence),
    )


def _factors(
    contrasts: Mapping[str, ArrayLike] | None, models: list[str]
) -> tuple[list[str], NDArray[np.float64]]:
    """Return the names of contrasts and the factors of the models in each."""
    if contrasts is None:
        first, *others = models
        factors = np.eye(len(models))[:1] - np.eye(len(models))[1:]
        return [f"{first} - {other}" for other in others], factors
    if not contrasts:
        raise ValueError("contrasts holds none")
    rows = []
    for name, given in contrasts.items():
        row = np.asarray(given, dtype=np.float64)
        if row.shape != (len(models),) or not np.isfinite(row).all() or not row.any():
            raise ValueError(
                f"contrast {name!r} must have a factor for each of {len(models)} models, not all 0"
            )
        rows.append(row)
    return list(contrasts), np.array(rows)


def interval_of_units(
    units: Units,
    scores: NDArray[Any],
    auc: float,
    variance: float,
    alpha: float,
    *,
    logit: bool = True,
) -> tuple[float, float]:
    """Return the interval of an AUC as `auc_interval` gives it, given the variance."""
    effective = [units.n_effective(rows) for rows in (units.positive, ~units.positive)]
    groups, degrees, of_rows = None, math.inf, None
    if units.codes is not None:
        groups = Groups(units.positive, scores, units.weight, units.codes, units.n_codes)
        degrees = groups.degrees()
    if variance == 0 or auc in (0.0, 1.0):
        pairs = min(effective) if groups is None else float(groups.n_pairs())
        return exact_interval(auc, pairs, alpha)
    if not logit:
        return normal_interval(auc, math.sqrt(variance), alpha, degrees=degrees)
    if groups is not None:
        of_rows = float(auc_covariance(replace(units, codes=None), [scores])[0, 0])
    return logit_interval(auc, variance, alpha, effective, degrees=degrees, of_rows=of_rows)


def wald_test(
    estimates: NDArray[np.float64], covariance: NDArray[np.float64]
) -> tuple[float, int, float]:
    """Return Wald's statistic of the hypothesis of zeros, its degrees of freedom and p-value.

    Without a degree of freedom the p-value is 1 if all estimates are 0, and otherwise NaN.
    """
    df = int(np.linalg.matrix_rank(covariance, hermitian=True))
    statistic = float(estimates @ np.linalg.pinv(covariance, hermitian=True) @ estimates)
    if df == 0:
        return statistic, df, math.nan if estimates.any() else 1.0
    return statistic, df, float(chdtrc(df, statistic))


def auc_covariance(units: Units, models: list[NDArray[np.float64]]) -> NDArray[np.float64]:
    """Return the covariances of the AUCs of several scores of the same rows.

    Those of DeLong, DeLong and Clarke-Pearson (1988), or of Obuchowski (1997) for rows in groups.

    Raises
    ------
    ValueError
        For a class with one row or one group.
    """
    if units.codes is not None:
        groups = Groups(units.positive, models[0], units.weight, units.codes, units.n_codes)
        return groups.covariance(models)
    groups = Groups(units.positive, models[0], units.weight, np.empty(0, np.intp), 0)
    placements = groups.placements(models)
    covariance = np.zeros((len(models), len(models)))
    for of_class in (units.positive, ~units.positive):
        rows = np.flatnonzero(of_class)
        own, placed = units.take(rows), placements[rows]
        if own.n_units() < 2:
            raise ValueError("a comparison needs two rows of each class, but a class has one")
        covariance += own.covariance(placed - own.weight @ placed / own.weight.sum())
    return covariance
