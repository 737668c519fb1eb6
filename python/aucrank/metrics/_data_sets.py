"""Tests whether several models differ over several data sets."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import stats
from scipy.special import fdtrc

from aucrank._data.table import Table
from aucrank._data.vectors import numbers, vector
from aucrank._utils.keywords import suggests_keywords
from aucrank.metrics._inference import check_confidence


@dataclass(frozen=True, eq=False)
class ComparisonOverSets:
    """Models over data sets with their tests, as :func:`compare_over_sets` returns it.

    Attributes
    ----------
    models : Table
        A row for each model: ``model``; ``mean_rank``, 1 being the best of a data set; ``mean`` and
        ``median`` of the figure; ``wins``, data sets on which no model is better, ties being
        shared.
    pairs : Table
        A row for each two models: ``model`` and ``other``; ``mean_difference`` and
        ``median_difference`` over the data sets; ``wins`` and ``losses`` of the first; the
        two-sided ``p_value`` of Wilcoxon's signed-rank test, and ``p_holm``, adjusted for all
        pairs.
    chi_square, p_value : float
        Friedman's statistic of equal mean ranks, and its p-value.
    f_statistic, f_p_value : float
        Iman and Davenport's, which is less conservative.
    critical_difference : float
        Nemenyi's: mean ranks further apart than this differ at the level of the intervals.
    n_sets : int
        Number of data sets.
    """

    models: Table
    pairs: Table
    chi_square: float
    p_value: float
    f_statistic: float
    f_p_value: float
    critical_difference: float
    n_sets: int


@suggests_keywords
def compare_over_sets(
    values: Mapping[str, ArrayLike], *, confidence: float = 0.95
) -> ComparisonOverSets:
    """Compare the AUC of two or more models over several data sets.

    Parameters
    ----------
    values : dict of str to array-like of shape (n_sets,)
        The AUC of each model, or another figure where higher is better, on the same data sets in
        the same order.
    confidence : float, default=0.95
        Level that ``critical_difference`` is for, in (0, 1).

    Returns
    -------
    ComparisonOverSets
        With ``models`` and ``pairs``.

    Raises
    ------
    ValueError
        For fewer than two models or data sets, models with different numbers of data sets, and a
        value that is not finite: the error names its model and data set.

    See Also
    --------
    auc_compare : Two models on one data set.
    auc_contrasts : Several models on one data set.

    Notes
    -----
    The procedure recommended by Demšar [1]_: ranks within each data set, Friedman's test of all
    models with the correction for ties, Wilcoxon's signed ranks of pairs, exact where no difference
    is 0 or tied and there are no more than 50, adjusted by Holm. Data sets on which both models are
    equal are left out of a pair's test. A data set counts as one, whatever its size: there are no
    weights. With two models there is no Friedman test, and its figures are NaN.

    References
    ----------
    .. [1] Demšar, "Statistical comparisons of classifiers over multiple data sets", Journal of
       Machine Learning Research 7, 2006.

    Examples
    --------
    >>> from aucrank.metrics import compare_over_sets
    >>> found = compare_over_sets({
    ...     "old": [0.76, 0.60, 0.95, 0.63, 0.88, 0.94],
    ...     "new": [0.77, 0.59, 0.97, 0.66, 0.90, 0.95],
    ...     "none": [0.50, 0.50, 0.50, 0.50, 0.50, 0.50],
    ... })
    >>> found.models["mean_rank"].round(2).tolist()
    [1.83, 1.17, 3.0]
    >>> round(found.p_value, 3)
    0.006
    """
    level = check_confidence(confidence)
    names, table = _table(values)
    n_sets, n_models = table.shape
    ranks = stats.rankdata(-table, axis=1)
    mean_ranks = ranks.mean(axis=0)
    is_best = table == table.max(axis=1, keepdims=True)
    chi_square, p_value, f_statistic, f_p_value = (math.nan,) * 4
    if n_models > 2 and np.any(np.ptp(ranks, axis=1) > 0):
        test = stats.friedmanchisquare(*table.T)
        chi_square, p_value = float(test.statistic), float(test.pvalue)
        left = n_sets * (n_models - 1) - chi_square
        f_statistic = math.inf if left <= 0 else (n_sets - 1) * chi_square / left
        freedom = n_models - 1, (n_models - 1) * (n_sets - 1)
        f_p_value = float(fdtrc(*freedom, f_statistic)) if left > 0 else 0.0
    pairs = [_pair(names, table, *pair) for pair in itertools.combinations(range(n_models), 2)]
    columns = {name: np.array([pair[name] for pair in pairs]) for name in pairs[0]}
    for name in ("model", "other"):
        columns[name] = columns[name].astype(object)
    columns["p_holm"] = _holm(columns["p_value"])
    quantile = stats.studentized_range.ppf(level, n_models, np.inf) / math.sqrt(2)
    return ComparisonOverSets(
        models=Table(
            model=np.array(names, dtype=object),
            mean_rank=mean_ranks,
            mean=table.mean(axis=0),
            median=np.median(table, axis=0),
            wins=(is_best / is_best.sum(axis=1, keepdims=True)).sum(axis=0),
        ),
        pairs=Table(columns),
        chi_square=chi_square,
        p_value=p_value,
        f_statistic=f_statistic,
        f_p_value=f_p_value,
        critical_difference=float(quantile * math.sqrt(n_models * (n_models + 1) / (6 * n_sets))),
        n_sets=n_sets,
    )


def _table(values: Mapping[str, ArrayLike]) -> tuple[list[str], NDArray[np.float64]]:
    """Return the names of the models, and a row for each data set."""
    if len(values) < 2:
        raise ValueError(f"values must hold two models or more, got {len(values)}")
    names = [str(name) for name in values]
    columns: list[NDArray[np.float64]] = []
    for name, given in values.items():
        column = numbers(vector(given, f"values of {name!r}"), f"values of {name!r}")
        column = column.astype(np.float64)
        if columns and len(column) != len(columns[0]):
            raise ValueError(
                f"{name!r} has {len(column)} data sets, but {names[0]!r} has {len(columns[0])}"
            )
        broken = ~np.isfinite(column)
        if broken.any():
            place = int(broken.argmax())
            raise ValueError(f"the value of {name!r} on data set {place} is {column[place]}")
        columns.append(column)
    if len(columns[0]) < 2:
        raise ValueError(f"values must be of two data sets or more, got {len(columns[0])}")
    return names, np.column_stack(columns)


def _pair(
    names: list[str], table: NDArray[np.float64], first: int, second: int
) -> dict[str, str | float]:
    # For figures with few digits, equal differences differ in their last bits.
    difference = np.round(table[:, first] - table[:, second], 12)
    distinct = difference[difference != 0]
    sizes = np.abs(distinct)
    p_value = 1.0
    if distinct.size:
        is_exact = len(np.unique(sizes)) == len(difference) <= 50
        p_value = float(
            stats.wilcoxon(distinct, method="exact" if is_exact else "asymptotic").pvalue
        )
    return {
        "model": names[first],
        "other": names[second],
        "mean_difference": float(difference.mean()),
        "median_difference": float(np.median(difference)),
        "wins": float(np.count_nonzero(difference > 0)),
        "losses": float(np.count_nonzero(difference < 0)),
        "p_value": p_value,
    }


def _holm(p_values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return p-values adjusted for all tests by Holm's method."""
    order = np.argsort(p_values, kind="stable")
    steps = p_values[order] * np.arange(len(p_values), 0, -1)
    adjusted = np.empty_like(p_values)
    adjusted[order] = np.minimum(np.maximum.accumulate(steps), 1)
    return adjusted
