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

# Quantiles at which AutoScore cuts a number.
_QUANTILES = (0.05, 0.2, 0.8, 0.95)

# Cuts are multiples of one of these times a power of ten, the coarsest first.
_ROUND = (Decimal(5), Decimal("2.5"), Decimal(2), Decimal(1))

# Powers of ten below the range of a number that are tried.
_MOST_DIGITS = 4


@dataclass(frozen=True, slots=True)
class Rows:
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
    values: NDArray[np.float64], rows: Rows, cuts: Sequence[float], tolerance: float
) -> list[float]:
    """Return the roundest cuts near those given that cost a number little of its AUC.

    Parameters
    ----------
    values : ndarray of shape (n_rows,)
        Known numbers.
    rows : Rows
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


def bin_coefficients(
    places: NDArray[np.intp], n_bins: Sequence[int], rows: Rows
) -> list[NDArray[np.float64]]:
    """Return log-odds of each bin of each feature by ridge logistic regression; NaN without rows.

    Parameters
    ----------
    places : ndarray of shape (n_rows, n_features)
        The bin of each row in each feature.
    n_bins : sequence of int
        Number of bins of each feature.
    rows : Rows
        The rows.
    """
    patterns, of_pattern = np.unique(places, axis=0, return_inverse=True)
    masses = rows.masses(of_pattern.reshape(-1), len(patterns))
    starts = np.concatenate(([0], np.cumsum(n_bins)))
    design = np.zeros((len(patterns), starts[-1]))
    for place in range(patterns.shape[1]):
        design[np.arange(len(patterns)), starts[place] + patterns[:, place]] = 1.0
    # Solvers differ in the last bits from one call to the next.
    found = _logistic(design, masses, 1.0).coef_[0].round(9)
    found[design[masses.sum(axis=1) > 0].sum(axis=0) == 0] = np.nan
    return [found[a:b] for a, b in pairwise(starts)]


def line_of_totals(totals: NDArray[np.int64], rows: Rows) -> tuple[float, float]:
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
    places: NDArray[np.intp], n_bins: Sequence[int], rows: Rows, n_features: int
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
            coefficients = bin_coefficients(places[:, tried], [n_bins[p] for p in tried], rows)
            parts = [c[places[:, p]] for c, p in zip(coefficients, tried, strict=True)]
            # Rounded to well above floating-point error, so that equal sums tie.
            _, of_score = np.unique(np.sum(parts, axis=0).round(9), return_inverse=True)
            masses = rows.masses(of_score.reshape(-1), int(of_score.max()) + 1)
            area = auc_of_groups(*masses.T)
            if area > best:
                best, found = area, place
        chosen.append(found)
    return chosen
