"""Small integer scores: few bins at round cuts, and points from a logistic regression on them."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression

from aucrank._data.scores import auc_of_bins, auc_of_groups
from aucrank._data.weights import number_of_rows

# Quantiles at which AutoScore cuts a number.
_QUANTILES = (0.05, 0.2, 0.8, 0.95)

# Cuts are multiples of one of these times a power of ten, the coarsest first.
_ROUND = (Decimal(5), Decimal("2.5"), Decimal(2), Decimal(1))

# Powers of ten below the range of a number that are tried.
_MOST_DIGITS = 4

# Rows that a line needs, but never more than this share of all rows: with a fifth instead of a
# tenth, cards of 124 rows lost 2.6 +- 2.0 points of AUC, not 0.3 +- 0.8 (hepatitis, 6 x 5 folds).
_LEAST_ROWS, _MOST_NEEDED = 20, 0.1


@dataclass(frozen=True, slots=True)
class WeightedRows:
    """Rows to learn from, with labels and weights."""

    positive: NDArray[np.bool_]
    weight: NDArray[np.float64]

    def masses(self, places: NDArray[np.intp], n_bins: int) -> NDArray[np.float64]:
        """Return the weight of the positive and the negative rows of each bin, shape (n_bins, 2).

        Sums are exact, so that the order of the rows does not matter.
        """
        key = 2 * places + ~self.positive
        order = np.argsort(key, kind="stable")
        edges = np.searchsorted(key[order], np.arange(2 * n_bins + 1))
        sums = [math.fsum(self.weight[order[a:b]]) for a, b in pairwise(edges)]
        return np.array(sums).reshape(-1, 2)


def quantile_cuts(values: NDArray[np.float64], weight: NDArray[np.float64]) -> list[float]:
    """Return cuts at quantiles of known numbers, without the least of them."""
    order = np.lexsort((weight, values))
    values, up_to = values[order], np.cumsum(weight[order])
    places = np.searchsorted(up_to, np.array(_QUANTILES) * up_to[-1])
    found = np.unique(values[np.minimum(places, len(values) - 1)])
    return [float(cut) for cut in found if cut > values[0]]


def round_cuts(
    values: NDArray[np.float64], rows: WeightedRows, cuts: Sequence[float], tolerance: float
) -> list[float]:
    """Return the roundest cuts near those given that cost a number little of its AUC.

    Parameters
    ----------
    values : ndarray of shape (n_rows,)
        Known numbers.
    rows : WeightedRows
        Their rows.
    cuts : sequence of float
        Cuts before rounding.
    tolerance : float
        Loss of the AUC of the number alone that is allowed.
    """
    if not cuts:
        return []

    def auc(of: Sequence[float]) -> float:
        places = np.searchsorted(np.array(of), values, side="right")
        return auc_of_bins(rows.masses(places, len(of) + 1))

    least = auc(cuts) - tolerance
    span = max(abs(cuts[0]), abs(cuts[-1]), cuts[-1] - cuts[0])
    power = math.ceil(math.log10(span)) if span > 0 else 0
    for exponent in range(power, power - _MOST_DIGITS - 1, -1):
        for digit in _ROUND:
            step = digit.scaleb(exponent)
            near = {float(round(Decimal(cut) / step) * step) for cut in cuts}
            rounded = with_rows(sorted(near), values)
            if rounded and auc(rounded) >= least:
                return rounded
    return list(cuts)


def with_rows(cuts: Sequence[float], values: NDArray[np.float64]) -> list[float]:
    """Drop cuts that bound a bin without rows."""
    kept: list[float] = []
    for cut in cuts:
        low = kept[-1] if kept else -math.inf
        if ((values >= low) & (values < cut)).any() and (values >= cut).any():
            kept.append(cut)
    return kept


def least_share(min_bin_share: float, n_rows: int) -> float:
    """Return the share of all rows that a line needs: that of the user, and a number of rows.

    Parameters
    ----------
    min_bin_share : float
        Share that the user asks for; 0 for lines of any size.
    n_rows : int
        Number of all rows, by `number_of_rows`.
    """
    if not min_bin_share:
        return 0.0
    return max(min_bin_share, min(_LEAST_ROWS / n_rows, _MOST_NEEDED))


def least_mass(rows: WeightedRows, min_bin_share: float) -> float:
    """Return the weight that a line needs, by `least_share`."""
    share = least_share(min_bin_share, number_of_rows(rows.weight, len(rows.weight)))
    # Without rounding, 20 / n * n may exceed 20.
    return float(f"{share * math.fsum(rows.weight):.12g}")


def without_small(
    cuts: Sequence[float], values: NDArray[np.float64], rows: WeightedRows, least: float
) -> list[float]:
    """Join intervals of less weight with the neighbour of the nearest rate, the smallest first."""
    kept = list(cuts)
    places = np.searchsorted(np.array(kept), values, side="right")
    masses = list(rows.masses(places, len(kept) + 1))
    while kept:
        sizes = [mass.sum() for mass in masses]
        small = int(np.argmin(sizes))
        if sizes[small] >= least:
            break
        rate = [mass[0] / size for mass, size in zip(masses, sizes, strict=True)]
        next_to = [place for place in (small - 1, small + 1) if 0 <= place < len(masses)]
        nearest = min(next_to, key=lambda place: abs(rate[place] - rate[small]))
        low = min(small, nearest)
        masses[low : low + 2] = [masses[low] + masses[low + 1]]
        del kept[low]
    return kept


def against_direction(values: NDArray[np.float64], direction: int) -> NDArray[np.intp]:
    """Return the places of intervals whose value is on the wrong side of that of the next one.

    In an isotonic regression each has one value with the next.
    """
    return np.flatnonzero(direction * np.diff(values) < 0)


def trend_of(values: NDArray[np.float64], sizes: NDArray[np.float64]) -> int:
    """Return 1 if the values of intervals rise, by the weight of their rows, or else -1."""
    places = np.arange(len(values))
    middle = sizes @ places / sizes.sum()
    return 1 if (sizes * (places - middle)) @ values >= 0 else -1


def in_range_of_others(
    values: NDArray[np.float64], is_weak: NDArray[np.bool_]
) -> NDArray[np.float64]:
    """Limit the values of weak lines to the range of the others."""
    others = values[~is_weak]
    limited: NDArray[np.float64] = np.clip(values, others.min(), others.max())
    return limited


def bin_coefficients(
    places: NDArray[np.intp],
    n_bins: Sequence[int],
    n_apart: Sequence[int],
    rows: WeightedRows,
    least: float,
) -> list[NDArray[np.float64]]:
    """Return log-odds of each bin of each feature by ridge logistic regression; NaN without rows.

    Parameters
    ----------
    places : ndarray of shape (n_rows, n_features)
        The bin of each row in each feature.
    n_bins : sequence of int
        Number of bins of each feature.
    n_apart : sequence of int
        How many of them, the last, hold special or missing values.
    rows : WeightedRows
        The rows.
    least : float
        Weight that a bin should have, by `least_mass`; 0 not to shrink.
    """
    patterns, of_pattern = np.unique(places, axis=0, return_inverse=True)
    masses = rows.masses(of_pattern.reshape(-1), len(patterns))
    starts = np.concatenate(([0], np.cumsum(n_bins)))
    design = np.zeros((len(patterns), starts[-1]))
    for place in range(patterns.shape[1]):
        design[np.arange(len(patterns)), starts[place] + patterns[:, place]] = 1.0
    model = _logistic(design, masses, 1.0)
    # Solvers differ in the last bits from one call to the next.
    found = model.coef_[0].round(9)
    sizes = masses.sum(axis=1)
    found[design[sizes > 0].sum(axis=0) == 0] = np.nan
    of_feature = [slice(a, b) for a, b in pairwise(starts)]
    if least:
        share = model.predict_proba(design)[:, 1]
        information = design.T @ (sizes * share * (1 - share))
        is_weak = design.T @ sizes < least
        for of, n in zip(of_feature, n_apart, strict=True):
            is_weak[of.start : of.stop - n] = False
        found = _shrunk(found, information, is_weak, of_feature).round(9)
    return [found[of] for of in of_feature]


def _shrunk(
    found: NDArray[np.float64],
    information: NDArray[np.float64],
    is_weak: NDArray[np.bool_],
    of_feature: Sequence[slice],
) -> NDArray[np.float64]:
    """Draw log-odds of a ridge to the mean of their feature, the more the less is known of a bin.

    Empirical Bayes: the ridge takes the variance of log-odds between bins to be 1; here it is
    estimated from the bins of all features. A weak bin, such as that of a few missing values, has
    at most the variance of the other bins of its feature, so that it cannot vouch for itself.
    """
    information = np.where(np.isnan(found), 0.0, information)
    # Without the ridge. Bins without information have no say below.
    inverse = np.divide(1, information, out=np.zeros(len(found)), where=information > 0)
    free = np.nan_to_num(found) * (1 + inverse)
    pooled = _variance([(free[of], information[of]) for of in of_feature])
    shrunk = found.copy()
    for of in of_feature:
        w = information[of]
        if not w.any():
            continue
        variance = np.full(len(w), min(pooled, 1.0))
        for place in np.flatnonzero(is_weak[of] & (w > 0)):
            others = w.copy()
            others[place] = 0.0
            if np.count_nonzero(others) > 1:
                variance[place] = min(variance[place], _variance([(free[of], others)]))
        values = np.nan_to_num(found[of])
        mean = w @ values / w.sum()
        shrunk[of] = mean + variance * (1 + w) / (1 + variance * w) * (found[of] - mean)
    return shrunk


def _variance(of_features: Sequence[tuple[NDArray[np.float64], NDArray[np.float64]]]) -> float:
    """Return the variance of true values within features, given estimates and their information.

    By the method of moments of DerSimonian and Laird, but never below the variance of the
    estimates by information: at 0 no feature would distinguish the classes.
    """
    spread = chance = freedom = total = 0.0
    for values, w in of_features:
        if np.count_nonzero(w) > 1:
            mean = w @ values / w.sum()
            spread += float(w @ (values - mean) ** 2)
            chance += np.count_nonzero(w) - 1
            freedom += float(w.sum() - w @ w / w.sum())
            total += float(w.sum())
    return max((spread - chance) / freedom, spread / total) if freedom > 0 else 0.0


def line_of_totals(totals: NDArray[np.int64], rows: WeightedRows) -> tuple[float, float]:
    """Return slope and intercept of the log-odds along totals, with Platt's targets."""
    distinct, place = np.unique(totals, return_inverse=True)
    masses = rows.masses(place.reshape(-1), len(distinct))
    n_pos, n_neg = masses.sum(axis=0)
    high, low = (n_pos + 1) / (n_pos + 2), 1 / (n_neg + 2)
    soft = masses @ np.array([[high, 1 - high], [low, 1 - low]])
    model = _logistic(distinct[:, None].astype(np.float64), soft, np.inf)
    slope, intercept = model.coef_[0, 0], model.intercept_[0]
    return float(f"{slope:.9g}"), float(f"{intercept:.9g}")


def _logistic(design: NDArray[np.float64], masses: NDArray[np.float64], c: float) -> Any:
    labels = np.repeat([1, 0], len(design))
    model = LogisticRegression(C=c, solver="newton-cholesky", tol=1e-9, max_iter=200)
    weights = masses.T.ravel()
    kept = weights > 0
    return model.fit(np.concatenate((design, design))[kept], labels[kept], weights[kept])


def forward_order(
    places: NDArray[np.intp],
    n_bins: Sequence[int],
    n_apart: Sequence[int],
    rows: WeightedRows,
    least: float,
    n_features: int,
) -> list[int]:
    """Return features by forward selection: each time the one whose bins raise the AUC most.

    The AUC is that of the logistic regression on the bins of those chosen before and its own, on
    the same rows; the first among equals is taken.
    """
    chosen: list[int] = []
    while len(chosen) < min(n_features, places.shape[1]):
        best, found = -1.0, -1
        for place in range(places.shape[1]):
            if place in chosen:
                continue
            tried = [*chosen, place]
            sizes, apart = [n_bins[p] for p in tried], [n_apart[p] for p in tried]
            coefficients = bin_coefficients(places[:, tried], sizes, apart, rows, least)
            parts = [c[places[:, p]] for c, p in zip(coefficients, tried, strict=True)]
            # Rounded to well above floating-point error, so that equal sums tie.
            _, of_score = np.unique(np.sum(parts, axis=0).round(9), return_inverse=True)
            masses = rows.masses(of_score.reshape(-1), int(of_score.max()) + 1)
            area = auc_of_groups(*masses.T)
            if area > best:
                best, found = area, place
        chosen.append(found)
    return chosen
