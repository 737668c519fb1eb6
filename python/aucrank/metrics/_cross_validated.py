"""Inference for a cross-validated AUC and for the difference of two."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.exceptions import UndefinedMetricWarning

from aucrank import _core
from aucrank._data.labels import positive_rows
from aucrank._data.scores import of_two_classes, to_scores
from aucrank._data.vectors import vector
from aucrank._data.weights import to_weights
from aucrank._utils.keywords import suggests_keywords
from aucrank._utils.warn import warn_caller
from aucrank.metrics._clustered import read_groups
from aucrank.metrics._inference import (
    AucComparison,
    AucInterval,
    chance_above,
    check_confidence,
    exact_interval,
    logit_interval,
    quantile_of,
)
from aucrank.metrics._weighting import Weighting, are_counts, scaled


@suggests_keywords
def cross_validated_auc(
    y_true: ArrayLike,
    y_score: ArrayLike,
    fold: ArrayLike,
    *,
    sample_weight: ArrayLike | None = None,
    weights: Weighting = "sampling",
    groups: ArrayLike | None = None,
    confidence: float = 0.95,
) -> AucInterval:
    """Mean AUC over the folds of a cross-validation, with an interval from influence curves.

    Scores of different folds come from different models, so rows are ranked only within their fold,
    and the AUCs of the folds are averaged. The interval needs no refitting [1]_.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Labels of two classes; the greater label is the positive class.
    y_score : array-like of shape (n_samples,) or (n_samples, n_repeats)
        Score of each row by the model that was fitted without its fold; higher is more positive.
        Repeated cross-validation has a column for each repeat.
    fold : array-like of the shape of ``y_score``
        Fold in which the row was held out: a label of any type.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights of the rows. Rows of weight 0 are ignored.
    weights : {"sampling", "frequency"}, default="sampling"
        Meaning of a weight: ``"sampling"``, how many rows of the population the row represents
        (only ratios matter); ``"frequency"``, a whole number of identical rows.
    groups : array-like of shape (n_samples,), default=None
        Which rows come from the same source, such as a patient: rows of a group may be dependent,
        groups are independent.
    confidence : float, default=0.95
        Level of the interval, in (0, 1).

    Returns
    -------
    AucInterval
        Its ``method`` is ``"influence"``, or the fallback used: ``"exact"``, ``"hoeffding"``.

    Warns
    -----
    UndefinedMetricWarning
        If the variance is 0, such as where every fold has AUC 1 or one row of each class (see
        Notes).

    Raises
    ------
    ValueError
        As for :func:`roc_auc_score`, if a fold has one class (its name is given), and if a fold
        label is missing.

    See Also
    --------
    auc_interval : Interval of the AUC of one model.
    cross_validated_compare : The same for the difference of two models.

    Notes
    -----
    With V folds, the influence curve of row i, of fold v with AUC Aᵥ, is
    ``(placement - Aᵥ) / p``: the placement value is the share of the other class in the fold that
    the row is ordered correctly against, and p the share of the row's own class in all rows. The
    variance of the mean AUC is ``Σᵥ mean(influence² in fold v) / V / n_samples`` [1]_. It is that
    of the AUC of models fitted on samples of this size, given the models: it excludes the variation
    of models fitted on other data.

    Repeats rank the same rows again, which stabilises the estimate but adds no rows: the influence
    of a row is averaged over the repeats, and its square is counted once.

    In folds with few rows of a class the variance is too small; in folds of one pair the variance
    is always 0. Where it is 0, the interval is the exact one of :func:`auc_interval` if all folds
    have the same AUC, for as many independent pairs as the folds hold, and otherwise Hoeffding's
    [2]_, ``sqrt(log(2 / (1 - confidence)) / 2 · Σᵥ 1 / kᵥ) / V`` to either side, for folds of kᵥ
    independent pairs.

    With weights, the shares and means are weighted, and a squared influence counts by the square
    of its weight, as for a sample with unequal weights; frequencies count as repeated rows.

    With ``groups``, the influences of the rows of a group are added before they are squared, those
    of a class in a fold multiplied by sqrt(I / (I - 1)) for the I groups that it has there. The
    degrees of freedom are I - 1, added up over the folds, of the class that has fewer.

    The interval is the logit interval of :func:`auc_interval` with this variance.

    References
    ----------
    .. [1] LeDell, Petersen and van der Laan, "Computationally efficient confidence intervals for
       cross-validated area under the ROC curve estimates", Electronic Journal of Statistics 9(1),
       2015. :doi:`10.1214/15-EJS1035`
    .. [2] Hoeffding, "Probability inequalities for sums of bounded random variables", Journal of
       the American Statistical Association 58(301), 1963, sec. 5a.
       :doi:`10.1080/01621459.1963.10500830`

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.model_selection import StratifiedKFold
    >>> import numpy as np
    >>> from aucrank.metrics import cross_validated_auc
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> X, fold, score = X[:, :4] / X[:, :4].max(axis=0), np.zeros(len(y)), np.zeros(len(y))
    >>> for number, (train, test) in enumerate(StratifiedKFold(5).split(X, y)):
    ...     model = LogisticRegression().fit(X[train], y[train])
    ...     fold[test], score[test] = number, model.decision_function(X[test])
    >>> interval = cross_validated_auc(y, score, fold)
    >>> interval.low < interval.auc < interval.high
    True
    """
    level = check_confidence(confidence)
    ranking = rank_within_folds(y_true, y_score, fold, sample_weight, weights, groups)
    return interval_of_folds(ranking, level)


@suggests_keywords
def cross_validated_compare(
    y_true: ArrayLike,
    y_score_1: ArrayLike,
    y_score_2: ArrayLike,
    fold: ArrayLike,
    *,
    sample_weight: ArrayLike | None = None,
    weights: Weighting = "sampling",
    groups: ArrayLike | None = None,
    confidence: float = 0.95,
) -> AucComparison:
    """Test and confidence interval of the difference of two cross-validated AUCs.

    Both models are cross-validated on the same folds, so that their errors are correlated: the
    difference is known better than either AUC. Rows are ranked only within their fold.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Labels of two classes; the greater label is the positive class.
    y_score_1, y_score_2 : array-like of shape (n_samples,) or (n_samples, n_repeats)
        Score of each row by the first and by the second model, each fitted without the row's fold;
        higher is more positive. Repeated cross-validation has a column for each repeat.
    fold : array-like of the shape of ``y_score_1``
        Fold in which the row was held out: a label of any type.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights of the rows. Rows of weight 0 are ignored.
    weights : {"sampling", "frequency"}, default="sampling"
        Meaning of a weight, as for :func:`cross_validated_auc`.
    groups : array-like of shape (n_samples,), default=None
        Which rows come from the same source, as for :func:`cross_validated_auc`.
    confidence : float, default=0.95
        Level of the interval, in (0, 1).

    Returns
    -------
    AucComparison
        With ``difference``, ``low``, ``high``, ``standard_error``, ``z`` and ``p_value``. Its
        ``method`` is ``"influence"``, or ``"exact"`` as the fallback.

    Warns
    -----
    UndefinedMetricWarning
        If the influences of a model are all 0, for example if every fold has AUC 1: its AUC is
        taken as known without error.

    Raises
    ------
    ValueError
        As for :func:`cross_validated_auc`.

    See Also
    --------
    cross_validated_auc : Interval of one cross-validated AUC.
    auc_compare : The same for models that are not cross-validated.

    Notes
    -----
    The influence of a row on the difference is the difference of its influences on both AUCs, see
    :func:`cross_validated_auc` [1]_. The variance of the difference is the sum of their squares
    over n², as for one AUC; with one fold it is that of DeLong's test with m in place of m - 1.
    The test is about the models as they were fitted: whether other samples of rows would put them
    in the same order. It excludes the variation of models fitted on other data.

    Models that rank all rows of every fold alike have the difference 0 with standard error 0: then
    ``z`` is 0, ``p_value`` 1, and the interval [0, 0]. Where neither AUC varies otherwise, the
    interval is made of the intervals of both AUCs, each at the level ``1 - (1 - confidence) / 2``,
    and ``z`` and ``p_value`` are NaN unless the difference is 0.

    References
    ----------
    .. [1] LeDell, Petersen and van der Laan, "Computationally efficient confidence intervals for
       cross-validated area under the ROC curve estimates", Electronic Journal of Statistics 9(1),
       2015. :doi:`10.1214/15-EJS1035`

    Examples
    --------
    >>> import numpy as np
    >>> from aucrank.metrics import cross_validated_compare
    >>> rng = np.random.default_rng(0)
    >>> y, fold = np.tile([0, 1], 200), np.repeat(np.arange(5), 80)
    >>> good = y + rng.normal(size=400)
    >>> found = cross_validated_compare(y, good, good + rng.normal(size=400), fold)
    >>> found.difference > 0, found.p_value < 0.01
    (True, True)
    """
    level = check_confidence(confidence)
    first, second = (
        rank_within_folds(y_true, scores, fold, sample_weight, weights, groups)
        for scores in (y_score_1, y_score_2)
    )
    if len(first.aucs) != len(second.aucs):
        raise ValueError(
            f"y_score_1 has {len(first.aucs)} columns, but y_score_2 has {len(second.aucs)}"
        )
    return compare_within_folds(first, second, level)


@dataclass(frozen=True, slots=True)
class FoldRanking:
    """Ranking of rows by a cross-validated model.

    Attributes
    ----------
    auc : float
        The mean AUC of the folds.
    influence : ndarray of float64, shape (n,)
        Influence of each copy of a row on it; the squares, summed over copies, are the variance
        times the squared number of all copies.
    copies : ndarray of float64, shape (n,)
        Number of observations that each row represents.
    aucs : list of ndarray of float64
        AUC of each fold, by repeat.
    pairs : list of ndarray of float64
        Independent pairs of a positive and a negative row in each fold, by repeat.
    effective : list of float
        Effective numbers of positive and of negative rows.
    groups : ndarray of int, shape (n,), or None
        The group of each row, from 0; None without groups.
    degrees : float
        Degrees of freedom of a variance of groups; infinite without groups.
    """

    auc: float
    influence: NDArray[np.float64]
    copies: NDArray[np.float64]
    aucs: list[NDArray[np.float64]]
    pairs: list[NDArray[np.float64]]
    effective: list[float]
    groups: NDArray[np.intp] | None = None
    degrees: float = math.inf

    @property
    def standard_error(self) -> float:
        """Of the mean AUC."""
        return _error(self.influence, self.copies, self.groups)

    @property
    def degrees_of_difference(self) -> float:
        """Degrees of freedom of a difference: of rows, each fold takes one of each class."""
        n_folds = sum(map(len, self.aucs)) / len(self.aucs)
        return min(self.degrees, max(min(self.effective) - n_folds, 1.0))


def rank_within_folds(
    y_true: ArrayLike,
    y_score: ArrayLike,
    fold: ArrayLike,
    sample_weight: ArrayLike | None,
    weights: Weighting = "sampling",
    groups: ArrayLike | None = None,
) -> FoldRanking:
    """Rank the rows of each fold, and compute the influence of each row on the mean AUC.

    Raises
    ------
    ValueError
        As `cross_validated_auc` says.
    """
    positive = positive_rows(y_true)
    scores, folds = _columns(y_score, "y_score"), _columns(fold, "fold")
    n_rows = positive.size
    for name, columns in (("y_score", scores), ("fold", folds)):
        if columns[0].size != n_rows:
            raise ValueError(f"{name} has {columns[0].size} rows, but y has {n_rows}")
    if len(scores) != len(folds):
        raise ValueError(
            f"y_score has {len(scores)} columns, but fold has {len(folds)}: one for each repeat"
        )
    is_counted = are_counts(weights, sample_weight)
    weight = np.ones(n_rows) if sample_weight is None else to_weights(sample_weight)
    # Checks the weights, and that both classes have weight.
    of_two_classes(_core.delong, positive, [to_scores(scores[0])[0]], weight)
    # Number of observations that a row represents.
    copies = weight if is_counted else np.where(weight > 0, 1.0, 0.0)
    n_present = float(copies.sum())
    weight = scaled(weight)[0]
    weight = weight * (n_present / weight.sum())
    codes = None
    if groups is not None:
        codes, n_codes = read_groups(groups, n_rows)
        if np.count_nonzero(np.bincount(codes, copies, n_codes)) < 2:
            raise ValueError("all rows are of one group, so that nothing is known of others")
    aucs, pairs = [], []
    influence = np.zeros(n_rows)
    for number, (column, labels) in enumerate(zip(scores, folds, strict=True)):
        within, of_folds, pairs_of_folds = _of_one_repeat(
            positive, to_scores(column)[0], labels, copies, weight, number, codes
        )
        influence += within / len(scores)
        aucs.append(of_folds)
        pairs.append(pairs_of_folds)
    auc = float(np.mean([of_folds.mean() for of_folds in aucs]))
    effective = [
        _effective(weight[own], copies[own])
        for own in (positive & (copies > 0), ~positive & (copies > 0))
    ]
    degrees = math.inf if codes is None else _degrees(codes, positive, copies, folds)
    return FoldRanking(auc, influence, copies, aucs, pairs, effective, codes, degrees)


def _degrees(
    codes: NDArray[np.intp],
    positive: NDArray[np.bool_],
    copies: NDArray[np.float64],
    folds: list[NDArray[Any]],
) -> float:
    """Return the degrees of freedom of a variance of groups within folds.

    For the class with fewer, the sum over folds of the number of groups less one, averaged over
    repeats; infinite where each row is a group of its own.
    """
    if np.bincount(codes, copies).max() <= 1:
        return math.inf
    of_class = np.zeros(2)
    for labels in folds:
        _, fold = np.unique(labels, return_inverse=True)
        for place, own in enumerate((~positive, positive)):
            kept = own & (copies > 0)
            pairs = np.unique(np.column_stack([fold[kept], codes[kept]]), axis=0)
            of_class[place] += len(pairs) - len(np.unique(pairs[:, 0]))
    return float(max(of_class.min() / len(folds), 1.0))


def interval_of_folds(ranking: FoldRanking, confidence: float) -> AucInterval:
    """Return the interval of the mean AUC, or the fallback interval."""
    alpha = 1 - confidence
    auc, error = ranking.auc, ranking.standard_error
    if error > 0 and 0 < auc < 1:
        low, high = logit_interval(
            auc,
            error**2,
            alpha,
            ranking.effective,
            degrees=ranking.degrees,
            of_rows=_error(ranking.influence, ranking.copies, None) ** 2,
        )
        return AucInterval(auc, low, high, error, confidence, "influence")
    warn_caller(
        "In no fold do the placement values vary, so the influence curves say nothing of other "
        "samples: the interval is one of independent pairs.",
        UndefinedMetricWarning,
    )
    if all(np.all(of_folds == auc) for of_folds in ranking.aucs):
        low, high = exact_interval(auc, min(map(np.sum, ranking.pairs)), alpha)
        return AucInterval(auc, low, high, 0.0, confidence, "exact")
    spread = max(np.sum(1 / of_folds) / of_folds.size**2 for of_folds in ranking.pairs)
    reach = math.sqrt(spread * math.log(2 / alpha) / 2)
    low, high = max(auc - reach, 0.0), min(auc + reach, 1.0)
    return AucInterval(auc, low, high, 0.0, confidence, "hoeffding")


def compare_within_folds(
    first: FoldRanking, second: FoldRanking, confidence: float
) -> AucComparison:
    """Test the difference of two mean AUCs of the same rows and folds."""
    alpha = 1 - confidence
    difference = first.auc - second.auc
    error = _error(first.influence - second.influence, first.copies, first.groups)
    flat = [ranking.standard_error == 0 for ranking in (first, second)]
    method = "influence"
    if error > 0:
        for number, is_flat in enumerate(flat, 1):
            if is_flat:
                warn_caller(
                    f"y_score_{number}: in no fold do the placement values vary, so the interval is"
                    " too short.",
                    UndefinedMetricWarning,
                )
        degrees = first.degrees_of_difference
        reach = quantile_of(alpha, degrees) * error
        low, high = max(difference - reach, -1.0), min(difference + reach, 1.0)
        z = difference / error
        p_value = 2 * chance_above(abs(z), degrees)
    else:
        low = high = difference
        z, p_value = (0.0, 1.0) if difference == 0 else (math.nan, math.nan)
        if any(flat) or difference != 0:
            method = "exact"
            own = [interval_of_folds(ranking, 1 - alpha / 2) for ranking in (first, second)]
            low, high = own[0].low - own[1].high, own[0].high - own[1].low
    return AucComparison(
        first.auc, second.auc, difference, low, high, error, z, p_value, confidence, method, True
    )


def _error(
    influence: NDArray[np.float64],
    copies: NDArray[np.float64],
    groups: NDArray[np.intp] | None,
) -> float:
    if groups is None:
        return float(np.sqrt(np.sum(copies * influence**2)) / copies.sum())
    sums = np.bincount(groups, copies * influence)
    return float(np.sqrt(sums @ sums) / copies.sum())


def _of_one_repeat(
    positive: NDArray[np.bool_],
    scores: NDArray[Any],
    labels: NDArray[Any],
    copies: NDArray[np.float64],
    weights: NDArray[np.float64],
    repeat: int,
    groups: NDArray[np.intp] | None = None,
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Influence of each copy of a row, AUC and independent pairs of each fold.

    The squares of the influences add up to n² times the variance.
    """
    present, n_present = copies > 0, float(copies.sum())
    shares = [weights[~positive].sum() / n_present, weights[positive].sum() / n_present]
    names, codes = np.unique(labels[present], return_inverse=True)
    influence = np.zeros(positive.size)
    aucs, pairs = [], []
    rows_present = np.flatnonzero(present)
    for code, name in enumerate(names.tolist()):
        rows = rows_present[codes == code]
        own, own_weights = positive[rows], weights[rows]
        if own.all() or not own.any():
            where = "" if repeat == 0 else f" of repeat {repeat}"
            raise ValueError(f"Only one class is present in fold {name!r}{where}: it has no AUC.")
        values = of_two_classes(_core.placements, own, scores[rows], own_weights)
        auc = float(np.average(values[own], weights=own_weights[own]))
        # All folds count equally, whatever their weight.
        n_rows = float(copies[rows].sum())
        size = n_rows * own_weights / own_weights.sum() / copies[rows]
        scale = math.sqrt(n_present / (names.size * n_rows))
        influence[rows] = scale * size * (values - auc) / np.where(own, shares[1], shares[0])
        if groups is not None:
            influence[rows] *= _widening(groups[rows], own)
        aucs.append(auc)
        pairs.append(min(_effective(own_weights[of], copies[rows][of]) for of in (own, ~own)))
    return influence, np.array(aucs), np.array(pairs)


def _widening(groups: NDArray[np.intp], positive: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Return the factor of the influences in a fold, sqrt(I / (I - 1)) for I groups.

    The influences are deviations from the mean of these groups, and so too small; with one group
    they are 0.
    """
    factor = np.ones(len(groups))
    for own in (positive, ~positive):
        n_groups = len(np.unique(groups[own]))
        if n_groups > 1:
            factor[own] = math.sqrt(n_groups / (n_groups - 1))
    return factor


def _effective(weights: NDArray[np.float64], copies: NDArray[np.float64]) -> float:
    """Kish's effective number of rows; the number of rows if weights are equal."""
    return float(weights.sum() ** 2 / np.sum(weights**2 / copies))


def _columns(values: ArrayLike, name: str) -> list[NDArray[Any]]:
    """One-dimensional arrays: the values, or each of their columns."""
    array = np.asarray(values)
    if array.ndim == 2 and array.shape[1] > 0:
        columns = [vector(np.ascontiguousarray(column), name) for column in array.T]
    else:
        columns = [vector(values, name)]
    for column in columns:
        if name == "fold" and column.dtype.kind in "fO" and np.any(column != column):
            raise ValueError("fold holds a missing value")
    return columns
