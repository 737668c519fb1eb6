"""Population stability of scores and features."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_scalar

from aucrank._base.scoring import score_rows, scoring_method
from aucrank._data.as_frame import as_frame, frame_or_matrix
from aucrank._data.frames import array_factor
from aucrank._data.schema import is_missing
from aucrank._data.table import Table, whole
from aucrank._data.vectors import vector
from aucrank._data.weights import check_weight, to_weights
from aucrank._utils.keywords import suggests_keywords
from aucrank.metrics._shift import measure_shift


@dataclass(frozen=True, eq=False)
class PopulationStability:
    """Stability of one variable, as :func:`population_stability` returns it.

    Attributes
    ----------
    psi : float
        Population stability index; 0 if the shares are equal.
    p_value : float
        Chance of so high a value without any drift.
    verdict : str
        ``"stable"`` below 0.1, ``"shifted"`` from 0.25 on, ``"moved"`` in between.
    table : Table
        A row for each bin: ``bin``, its values in words; ``then`` and ``now``, shares of the rows;
        ``part``, its contribution to the index.
    """

    psi: float
    p_value: float
    verdict: str
    table: Table


@suggests_keywords
def population_stability(
    then: ArrayLike,
    now: ArrayLike,
    *,
    n_bins: int = 10,
    sample_weight_then: ArrayLike | None = None,
    sample_weight_now: ArrayLike | None = None,
) -> PopulationStability:
    """Compute the population stability index (PSI) of a score, a feature or a grade.

    Parameters
    ----------
    then : array-like of shape (n_then,)
        Values at development, or in an earlier period: numbers or categories.
    now : array-like of shape (n_now,)
        Values now.
    n_bins : int, default=10
        Maximum number of bins for numbers, 2 or more, with about equal numbers of rows of ``then``.
    sample_weight_then, sample_weight_now : array-like, default=None
        Weights of the rows: a row of weight k counts as k rows, one of weight 0 as none.

    Returns
    -------
    PopulationStability
        With ``psi``, ``p_value`` and ``table``.

    Raises
    ------
    ValueError
        If a sample has no row with weight, for bad weights, and for ``n_bins`` below 2.

    See Also
    --------
    drift : The index of a ranker's score and of all its features.

    Notes
    -----
    The sum over bins of ``(now - then) * log(now / then)``, of the shares of rows in them. Numbers
    with at most ``n_bins`` distinct values have one bin per value, others bins between quantiles of
    ``then``; each category has a bin, and so have missing values. A bin that is empty in one sample
    counts as half a row there.

    Without drift the index is about chi-squared with one degree of freedom less than bins, times
    ``1 / n_then + 1 / n_now`` [1]_, with n the sum of the weights. Its mean is then that factor
    times the degrees of freedom, so that many levels have a high index by chance: 400 levels of 5
    rows in each sample have 0.4. Where bins are small for their number, the p-value is that among
    samples without drift: the rows of both dealt into two anew, with a fixed seed.

    References
    ----------
    .. [1] Yurdakul and Naranjo, "Statistical properties of the population stability index",
       J. Risk Model Valid. 14(4), 2020. :doi:`10.21314/JRMV.2020.227`

    Examples
    --------
    >>> import numpy as np
    >>> from aucrank.metrics import population_stability
    >>> rng = np.random.default_rng(0)
    >>> then, now = rng.normal(size=2000), rng.normal(loc=0.6, size=1000)
    >>> population_stability(then, now).verdict
    'shifted'
    >>> population_stability(["a", "b", "b"], ["b", "a", "b"]).psi
    0.0
    """
    check_scalar(n_bins, "n_bins", Integral, min_val=2)
    columns = vector(then, "then"), vector(now, "now")
    weights = [
        _weights(given, len(column), name)
        for given, column, name in zip(
            (sample_weight_then, sample_weight_now), columns, ("then", "now"), strict=True
        )
    ]
    return _stability(columns[0], columns[1], weights[0], weights[1], int(n_bins))


@dataclass(frozen=True, eq=False)
class Drift:
    """Drift between two samples, as :func:`drift` returns it.

    Attributes
    ----------
    score : Table
        A row for each period: ``period``, None without periods; ``size``, the weight of its rows;
        ``psi``, ``p_value`` and ``verdict`` of the score.
    features : Table
        The same for each feature and period, with ``feature``, its name; within a period, the
        greatest shift first.
    """

    score: Table
    features: Table


@suggests_keywords
def drift(
    ranker: Any,
    X_then: Any,
    X_now: Any,
    *,
    period: ArrayLike | None = None,
    n_bins: int = 10,
    sample_weight_then: ArrayLike | None = None,
    sample_weight_now: ArrayLike | None = None,
) -> Drift:
    """Compare the rows of today with those of development, by a ranker's score and its features.

    Parameters
    ----------
    ranker : estimator
        Fitted, with ``decision_function`` or ``predict_proba``.
    X_then : array-like or data frame of shape (n_then, n_features)
        Rows at development, such as those of a test set.
    X_now : array-like or data frame of shape (n_now, n_features)
        Rows now, with the same columns.
    period : array-like of shape (n_now,), default=None
        Period of each row of ``X_now``, such as a month; each is compared separately.
    n_bins : int, default=10
        Maximum number of bins for numbers, as for :func:`population_stability`.
    sample_weight_then, sample_weight_now : array-like, default=None
        Weights of the rows: a row of weight k counts as k rows, one of weight 0 as none.

    Returns
    -------
    Drift
        With ``score`` and ``features``.

    Raises
    ------
    ValueError
        If the samples have different columns, a period is missing or has no row with weight, and as
        for :func:`population_stability`.

    See Also
    --------
    aucrank.additive.Scorecard.drift : Drift in the bins of a scorecard.
    two_sample_test : Whether two samples differ in a way that no single column shows.

    Examples
    --------
    >>> import numpy as np
    >>> from aucrank import LinearRanker
    >>> from aucrank.metrics import drift
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(2000, 2))
    >>> ranker = LinearRanker().fit(X, X[:, 0] + rng.normal(size=2000) > 0)
    >>> found = drift(ranker, X, X[:1000] + [0.8, 0.0])
    >>> found.score["verdict"].tolist(), found.features["feature"].tolist()
    (['shifted'], ['x0', 'x1'])
    """
    check_scalar(n_bins, "n_bins", Integral, min_val=2)
    if scoring_method(ranker) is None:
        raise TypeError(
            f"{type(ranker).__name__} has neither decision_function nor predict_proba to score by"
        )
    X_then, X_now = as_frame(X_then), as_frame(X_now)
    names, columns_then = _columns(X_then, "X_then")
    names_now, columns_now = _columns(X_now, "X_now")
    if names != names_now:
        raise ValueError(f"X_then has columns {names}, but X_now has {names_now}")
    scores = score_rows(ranker, X_then), score_rows(ranker, X_now)
    weights = [
        _weights(given, len(own), name)
        for given, own, name in zip(
            (sample_weight_then, sample_weight_now), scores, ("X_then", "X_now"), strict=True
        )
    ]
    of_score: list[tuple[Any, ...]] = []
    of_features: list[tuple[Any, ...]] = []
    for value, rows in _periods(period, len(scores[1])):
        weight = weights[1][rows]
        if not weight.any():
            raise ValueError(f"sample_weight_now is zero for every row of period {value!r}")
        size = float(weight.sum())

        def entry(
            then: NDArray[Any],
            now: NDArray[Any],
            value: Any = value,
            rows: NDArray[np.intp] = rows,
            weight: NDArray[np.float64] = weight,
            size: float = size,
        ) -> tuple[Any, ...]:
            found = _stability(then, now[rows], weights[0], weight, int(n_bins))
            return value, size, found.psi, found.p_value, found.verdict

        of_score.append(entry(*scores))
        found = [
            (*entry(then, now), name)
            for name, then, now in zip(names, columns_then, columns_now, strict=True)
        ]
        of_features.extend(sorted(found, key=lambda row: -row[2]))
    features = _as_table(of_features)
    return Drift(_as_table(of_score), Table({"feature": features.pop("feature")} | features))


def _as_table(rows: list[tuple[Any, ...]]) -> Table:
    names = ("period", "size", "psi", "p_value", "verdict", "feature")
    table = {}
    for name, column in zip(names, zip(*rows, strict=True), strict=False):
        values = np.empty(len(column), dtype=object)
        values[:] = column
        table[name] = values if name in ("period", "verdict", "feature") else values.astype(float)
    table["size"] = whole(table["size"])
    return Table(table)


def _periods(period: ArrayLike | None, n_rows: int) -> list[tuple[Any, NDArray[np.intp]]]:
    """Return the periods in order, with their rows."""
    if period is None:
        return [(None, np.arange(n_rows))]
    column = vector(period, "period")
    if len(column) != n_rows:
        raise ValueError(f"period has {len(column)} entries, but X_now has {n_rows} rows")
    factor = array_factor(column, "period")
    for place, value in enumerate(factor.values):
        if is_missing(value):
            row = int((factor.codes == place).argmax())
            raise ValueError(f"the period of row {row} is missing")
    try:
        order = sorted(range(len(factor.values)), key=factor.values.__getitem__)
    except TypeError:
        order = sorted(range(len(factor.values)), key=lambda place: str(factor.values[place]))
    return [(factor.values[place], np.flatnonzero(factor.codes == place)) for place in order]


def _columns(X: Any, name: str) -> tuple[list[str], list[NDArray[Any]]]:
    """Return the names of columns, and their values."""
    rows = frame_or_matrix(X, name)
    if isinstance(rows, np.ndarray):
        return [f"x{place}" for place in range(rows.shape[1])], list(rows.T)
    columns = [np.asarray(rows[column].to_numpy()) for column in rows.columns]
    return [str(column) for column in rows.columns], columns


def _weights(given: ArrayLike | None, n_rows: int, name: str) -> NDArray[np.float64]:
    weight: NDArray[np.float64] | None = np.ones(n_rows)
    if given is not None:
        weight = check_weight(to_weights(given), n_rows)
    assert weight is not None
    if not weight.any():
        raise ValueError(f"{name} has no row with weight")
    return weight


def _stability(
    then: NDArray[Any],
    now: NDArray[Any],
    weight_then: NDArray[np.float64],
    weight_now: NDArray[np.float64],
    n_bins: int,
) -> PopulationStability:
    both = then.dtype.kind in "biuf" and now.dtype.kind in "biuf"
    if both:
        names, codes = _bins_of_numbers(
            then.astype(np.float64), now.astype(np.float64), weight_then, n_bins
        )
    else:
        names, codes = _bins_of_levels(then, now)
    counts = [
        np.asarray(np.bincount(own, weight, len(names)), dtype=np.float64)
        for own, weight in zip(codes, (weight_then, weight_now), strict=True)
    ]
    filled = (counts[0] > 0) | (counts[1] > 0)
    shift = measure_shift(counts[0], counts[1], float(counts[0].sum()), float(counts[1].sum()))
    return PopulationStability(
        psi=shift.psi,
        p_value=shift.p_value,
        verdict="moved" if shift.verdict == "watch" else shift.verdict,
        table=Table(
            bin=np.array(
                [name for name, is_in in zip(names, filled, strict=True) if is_in], object
            ),
            then=shift.then[filled],
            now=shift.now[filled],
            part=shift.parts[filled],
        ),
    )


def _bins_of_numbers(
    then: NDArray[np.float64],
    now: NDArray[np.float64],
    weight: NDArray[np.float64],
    n_bins: int,
) -> tuple[list[str], list[NDArray[np.intp]]]:
    """Return the names of bins, missing values last, and the bin of each row."""
    known = ~np.isnan(then) & (weight > 0)
    values, place = np.unique(then[known], return_inverse=True)
    if len(values) <= n_bins:
        bounds = values[1:]
        names = [f"{value:g}" for value in values.tolist()] or ["any"]
    else:
        reached = np.cumsum(np.bincount(place, weight[known]))
        wanted = np.arange(1, n_bins) / n_bins * reached[-1] * (1 - 4 * np.finfo(np.float64).eps)
        # A bin begins with the value after the quantile.
        at = np.unique(np.searchsorted(reached, wanted)) + 1
        bounds = values[at[at < len(values)]]
        ends = ["-inf", *(f"{bound:g}" for bound in bounds.tolist()), "inf"]
        names = [f"[{low}, {high})" for low, high in itertools.pairwise(ends)]
    codes = []
    for column in (then, now):
        code = np.searchsorted(bounds, column, side="right")
        codes.append(np.where(np.isnan(column), len(names), code))
    return [*names, "missing"], codes


def _bins_of_levels(
    then: NDArray[Any], now: NDArray[Any]
) -> tuple[list[str], list[NDArray[np.intp]]]:
    """Return the names of levels, missing values last, and the level of each row."""
    together = np.concatenate([then.astype(object), now.astype(object)])
    factor = array_factor(together, "values")
    shown = [None if is_missing(value) else str(value) for value in factor.values]
    names = sorted({name for name in shown if name is not None})
    place: dict[str | None, int] = {name: number for number, name in enumerate(names)}
    place[None] = len(names)
    codes = np.array([place[name] for name in shown], dtype=np.intp)[factor.codes]
    return [*names, "missing"], [codes[: len(then)], codes[len(then) :]]
