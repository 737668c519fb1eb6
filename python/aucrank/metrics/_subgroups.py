"""AUC of one score in several subgroups of the rows."""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass, replace
from statistics import NormalDist
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.exceptions import UndefinedMetricWarning

from aucrank._data.frames import array_factor
from aucrank._data.schema import is_missing
from aucrank._data.scores import to_scores
from aucrank._data.table import Table, whole
from aucrank._data.vectors import vector
from aucrank._utils.keywords import suggests_keywords
from aucrank.metrics._auc import roc_auc_score
from aucrank.metrics._clustered import Groups
from aucrank.metrics._contrasts import auc_covariance, interval_of_units, wald_test
from aucrank.metrics._inference import check_confidence, check_method
from aucrank.metrics._units import Units
from aucrank.metrics._weighting import Weighting

# Share of the weight below which it is not computed as a difference.
_ROUNDED = 1e-6


@dataclass(frozen=True, eq=False)
class AucBySubgroup:
    """AUC in each subgroup with a test, as :func:`auc_by` returns it.

    Attributes
    ----------
    table : Table
        A row for each subgroup, by its value: ``subgroup``; ``size`` and ``positives``, weights of
        its rows; ``auc``, its ``standard_error`` and interval, ``low`` and ``high``, NaN where a
        class is absent; ``auc_of_positives``, of its positives against the negatives of all other
        subgroups; ``auc_of_negatives``, of its negatives against the positives of all others. With
        probabilities also ``observed`` and ``expected``, the shares of positives, and their
        ``ratio`` with its interval, ``ratio_low`` and ``ratio_high``.
    auc : float
        AUC of all rows: the mean of the next two, weighted by their share of pairs.
    auc_within : float
        AUC over the pairs within a subgroup.
    auc_between : float
        AUC over the pairs between two subgroups; NaN if there are none.
    share_within : float
        Share of the pairs that are within a subgroup.
    chi_square : float
        Statistic of the hypothesis that the AUCs of the subgroups are equal.
    df : int
        Its degrees of freedom.
    p_value : float
        Chance of so large a statistic if the hypothesis is true; NaN for one subgroup.
    confidence : float
        Level of the intervals.
    """

    table: Table
    auc: float
    auc_within: float
    auc_between: float
    share_within: float
    chi_square: float
    df: int
    p_value: float
    confidence: float


@suggests_keywords
def auc_by(
    y_true: ArrayLike,
    y_score: ArrayLike,
    by: ArrayLike,
    *,
    y_prob: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    weights: Weighting = "sampling",
    groups: ArrayLike | None = None,
    confidence: float = 0.95,
    method: Literal["logit", "delong"] = "logit",
) -> AucBySubgroup:
    """AUC in each subgroup of the rows, and a test that it is the same in all.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Labels of two classes; the greater label is the positive class.
    y_score : array-like of shape (n_samples,)
        Scores; higher is more positive.
    by : array-like of shape (n_samples,)
        The subgroup of each row, such as the hospital or the sex; rows with a missing value are a
        subgroup of their own.
    y_prob : array-like of shape (n_samples,), default=None
        Probabilities of the positive class, from 0 to 1, to be compared with what was observed.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights of the rows.
    weights : {"sampling", "frequency"}, default="sampling"
        Meaning of a weight: ``"sampling"``, how many rows of the population the row represents
        (only ratios matter); ``"frequency"``, a whole number of identical rows.
    groups : array-like of shape (n_samples,), default=None
        Which rows come from the same source, such as a patient: rows of a group may be dependent,
        groups are independent. A group may have rows in several subgroups.
    confidence : float, default=0.95
        Level of the intervals, in (0, 1).
    method : {"logit", "delong"}, default="logit"
        Intervals of the AUC, as for :func:`auc_interval`.

    Returns
    -------
    AucBySubgroup
        With ``table``, ``auc_within``, ``auc_between`` and ``p_value``.

    Warns
    -----
    UndefinedMetricWarning
        If a subgroup has no AUC, or one without variance, so that the test leaves it out.

    Raises
    ------
    ValueError
        As for :func:`auc_interval`, and for a ``by`` of the wrong length or an unknown ``method``.

    See Also
    --------
    auc_interval : AUC of all rows.
    auc_contrasts : Several scores of the same rows.

    Notes
    -----
    A score may rank well in each subgroup and badly across them, or the other way round: of all
    pairs of a positive and a negative row, those within a subgroup and those between two are shown
    separately. The figures do not show what a difference means, or whether it is fair.

    Intervals are those of :func:`auc_interval` with this ``method``. The test is Wald's test of
    equal AUCs: subgroups are independent samples, unless ``groups`` have rows in several; their
    covariance is then included.

    Examples
    --------
    >>> import numpy as np
    >>> from aucrank.metrics import auc_by
    >>> rng = np.random.default_rng(0)
    >>> y_true, site = rng.integers(0, 2, 1000), rng.integers(0, 2, 1000)
    >>> y_score = rng.normal(loc=np.where(site == 0, 2.0, 0.5) * y_true)
    >>> found = auc_by(y_true, y_score, np.where(site == 0, "Berlin", "Bremen"))
    >>> found.table["subgroup"].tolist()
    ['Berlin', 'Bremen']
    >>> found.p_value < 0.001
    True
    """
    z = NormalDist().inv_cdf(0.5 + check_confidence(confidence) / 2)
    units = Units.of(y_true, sample_weight, weights, groups)
    check_method(method, ("logit", "delong"))
    logit = method == "logit"
    scores = to_scores(y_score)[0]
    auc = roc_auc_score(y_true, scores, sample_weight=sample_weight)
    probability = None if y_prob is None else units.probabilities(y_prob, "y_prob")
    values, codes = _subgroups(by, len(units.positive))
    rows_of = [np.flatnonzero(codes == code) for code in range(len(values))]

    placements = Groups(units.positive, scores, units.weight, np.empty(0, np.intp), 0).placements(
        [scores]
    )[:, 0]
    of_class = np.array(
        [np.bincount(codes, units.weight * own) for own in (~units.positive, units.positive)]
    )
    others = _of_others(of_class)
    entries = []
    for code, rows in enumerate(rows_of):
        own = _of_subgroup(units.take(rows), scores[rows], 1 - confidence, logit)
        apart = [
            _apart(units, rows, scores, placements, own, others[:, code], of_positives)
            for of_positives in (True, False)
        ]
        entries.append(replace(own, auc_of_positives=apart[0], auc_of_negatives=apart[1]))
    table: dict[str, Any] = {
        "subgroup": np.array(values, dtype=object),
        "size": whole(units.given([units.weight[rows].sum() for rows in rows_of])),
        "positives": whole(units.given([entry.of_class[1] for entry in entries])),
    }
    for name in ("auc", "standard_error", "low", "high", "auc_of_positives", "auc_of_negatives"):
        table[name] = np.array([getattr(entry, name) for entry in entries])
    if probability is not None:
        table |= _calibration(units, probability, rows_of, z)
    within, between = of_class[0] * of_class[1], others[0] * of_class[1]
    means = [
        float(pairs[pairs > 0] @ values[pairs > 0] / pairs.sum()) if pairs.any() else math.nan
        for pairs, values in ((within, table["auc"]), (between, table["auc_of_positives"]))
    ]
    chi_square, df, p_value = _test_equal(units, entries, rows_of)
    return AucBySubgroup(
        table=Table(table),
        auc=auc,
        auc_within=means[0],
        auc_between=means[1],
        share_within=float(within.sum() / (within.sum() + between.sum())),
        chi_square=chi_square,
        df=df,
        p_value=p_value,
        confidence=float(confidence),
    )


def _subgroups(by: ArrayLike, n_rows: int) -> tuple[list[Any], NDArray[np.intp]]:
    """Return the values of subgroups in order, missing last, and the subgroup of each row."""
    column = vector(by, "by")
    if len(column) != n_rows:
        raise ValueError(f"by has {len(column)} entries, but y_true has {n_rows}")
    factor = array_factor(column, "by")
    names = [None if is_missing(value) else value for value in factor.values]
    distinct = list(dict.fromkeys(names))
    try:
        ordered = sorted(name for name in distinct if name is not None)
    except TypeError:
        ordered = sorted((name for name in distinct if name is not None), key=str)
    ordered += [None] * (None in distinct)
    place = np.array([ordered.index(name) for name in names], dtype=np.intp)
    return ordered, place[factor.codes]


@dataclass(frozen=True, eq=False)
class _Subgroup:
    """Rows of a subgroup, with their AUC if it is defined."""

    scores: NDArray[Any]
    of_class: tuple[float, float]
    auc: float
    standard_error: float
    low: float
    high: float
    auc_of_positives: float = math.nan
    auc_of_negatives: float = math.nan


def _of_others(of_class: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the weight of all other subgroups by class, without a difference of large numbers."""
    nothing = np.zeros((2, 1))
    before = np.hstack([nothing, np.cumsum(of_class[:, :-1], axis=1)])
    after = np.hstack([np.cumsum(of_class[:, :0:-1], axis=1)[:, ::-1], nothing])
    return np.asarray(before + after)


def _of_subgroup(units: Units, scores: NDArray[Any], alpha: float, logit: bool) -> _Subgroup:
    negatives, positives = (
        float(units.weight[rows].sum()) for rows in (~units.positive, units.positive)
    )
    own = math.nan
    if min(negatives, positives) > 0:
        own = roc_auc_score(units.positive, scores, sample_weight=units.weight)
    error, low, high = _interval(units, scores, own, alpha, logit)
    return _Subgroup(scores, (negatives, positives), own, error, low, high)


def _apart(
    units: Units,
    rows: NDArray[np.intp],
    scores: NDArray[Any],
    placements: NDArray[np.float64],
    own: _Subgroup,
    others: NDArray[np.float64],
    of_positives: bool,
) -> float:
    """Return the AUC of the rows of a subgroup in one class against all others in the other."""
    mine, facing = own.of_class[of_positives], own.of_class[not of_positives]
    rest = float(others[int(not of_positives)])
    if mine == 0 or rest == 0:
        return math.nan
    is_mine = units.positive == of_positives
    if rest > _ROUNDED * facing:
        # All pairs of these rows, less those within the subgroup.
        kept = rows[is_mine[rows]]
        won = float(units.weight[kept] @ placements[kept]) / mine * (facing + rest)
        return (won - (own.auc * facing if facing else 0.0)) / rest
    # That would be a difference of two large numbers.
    is_kept = ~is_mine
    is_kept[rows] = is_mine[rows]
    return roc_auc_score(
        units.positive[is_kept], scores[is_kept], sample_weight=units.weight[is_kept]
    )


def _interval(
    units: Units, scores: NDArray[Any], auc: float, alpha: float, logit: bool
) -> tuple[float, float, float]:
    """Return the standard error and the ends of the interval; NaN where undefined."""
    nothing = math.nan, math.nan, math.nan
    if math.isnan(auc):
        return nothing
    try:
        variance = float(auc_covariance(units, [scores])[0, 0])
    except ValueError:
        # A class with one row or one group.
        return nothing
    error = math.sqrt(variance)
    return error, *interval_of_units(units, scores, auc, variance, alpha, logit=logit)


def _calibration(
    units: Units, probability: NDArray[np.float64], rows_of: list[NDArray[np.intp]], z: float
) -> dict[str, NDArray[np.float64]]:
    """Return the shares of positives of each subgroup, observed and expected."""
    columns: dict[str, list[float]] = {
        name: [] for name in ("observed", "expected", "ratio", "ratio_low", "ratio_high")
    }
    for rows in rows_of:
        own = units.take(rows)
        found = [math.nan] * 5
        if own.weight.any():
            observed, expected = own.mean(own.positive), own.mean(probability[rows])
            found[:2] = observed, expected
            if observed > 0 and expected > 0:
                ratio = observed / expected
                found[2] = ratio
                if own.n_units() > 1:
                    influence = own.positive / observed - probability[rows] / expected
                    reach = z * math.sqrt(own.covariance(influence[:, np.newaxis])[0, 0])
                    found[3:] = ratio * math.exp(-reach), ratio * math.exp(reach)
        for column, value in zip(columns.values(), found, strict=True):
            column.append(value)
    return {name: np.array(column) for name, column in columns.items()}


def _test_equal(
    units: Units, entries: list[_Subgroup], rows_of: list[NDArray[np.intp]]
) -> tuple[float, int, float]:
    """Return the statistic of equal AUCs, its degrees of freedom and its p-value."""
    tested = [place for place, entry in enumerate(entries) if entry.standard_error > 0]
    if len(tested) < len(entries):
        left_out = len(entries) - len(tested)
        warnings.warn(
            f"{left_out} of {len(entries)} subgroups have no AUC, or one of which the variance is"
            " 0 or unknown: the test of equal AUCs leaves them out.",
            UndefinedMetricWarning,
            stacklevel=3,
        )
    if len(tested) < 2:
        return math.nan, 0, math.nan
    aucs = np.array([entries[place].auc for place in tested])
    covariance = np.diag([entries[place].standard_error ** 2 for place in tested])
    if units.codes is not None:
        sums = np.array([_sums_of_groups(units, entries[k], rows_of[k]) for k in tested])
        crossed = units.correction() * sums @ sums.T
        covariance += crossed - np.diag(np.diag(crossed))
    contrasts = np.eye(len(aucs))[1:] - np.eye(len(aucs))[:1]
    return wald_test(contrasts @ aucs, contrasts @ covariance @ contrasts.T)


def _sums_of_groups(units: Units, entry: _Subgroup, rows: NDArray[np.intp]) -> NDArray[np.float64]:
    """Return the influence of each group of rows on the AUC of a subgroup."""
    own = units.take(rows)
    assert own.codes is not None
    groups = Groups(own.positive, entry.scores, own.weight, own.codes, own.n_codes)
    deviations = groups.placements([entry.scores])[:, 0] - entry.auc
    share = own.weight / np.where(own.positive, entry.of_class[1], entry.of_class[0])
    return np.bincount(own.codes, share * deviations, own.n_codes).astype(np.float64)
