"""Distributions of the scores of the two classes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from aucrank._report.subjects import Target

_N_BINS = 40

# Maximum number of distinct scores that each get a bin of their own.
_MOST_SINGLE = 30

# Scores beyond these quantiles are counted in the outermost bins if they are far away: by more than
# this multiple of the distance of the two.
_TAILS = (0.005, 0.995)
_FAR = 1.0


@dataclass(frozen=True, eq=False, slots=True)
class ScoreHistogram:
    """Histogram of scores by class.

    Attributes
    ----------
    edges : ndarray of shape (n_bins + 1,)
        Edges of the bins.
    values : ndarray of shape (n_bins,) or None
        The score of each bin, if each distinct score has a bin of its own.
    negative, positive : ndarray of shape (n_bins,)
        Share of the class in each bin.
    below, above : bool
        Whether the first and the last bin also hold scores beyond the edges.
    """

    edges: NDArray[np.float64]
    values: NDArray[np.float64] | None
    negative: NDArray[np.float64]
    positive: NDArray[np.float64]
    below: bool
    above: bool


def measure_distribution(scores: NDArray[np.float64], target: Target) -> ScoreHistogram:
    """Count scores by class."""
    weights = target.weights
    distinct = _few_distinct(scores)
    if distinct is not None:
        edges = np.arange(len(distinct) + 1, dtype=np.float64) - 0.5
        place = np.searchsorted(distinct, scores)
        below = above = False
    else:
        edges, below, above = _edges(scores)
        # The last bin is closed.
        place = np.clip(np.searchsorted(edges, scores, side="right") - 1, 0, len(edges) - 2)
    shares = []
    for rows in (~target.positive, target.positive):
        of_class = np.bincount(place[rows], weights[rows], minlength=len(edges) - 1)
        shares.append(of_class / of_class.sum())
    return ScoreHistogram(edges, distinct, shares[0], shares[1], below, above)


def _few_distinct(scores: NDArray[np.float64]) -> NDArray[np.float64] | None:
    """Return the distinct scores, or None if there are many."""
    # For most models a few rows suffice to show that there are many.
    if len(np.unique(scores[: 50 * _MOST_SINGLE])) > _MOST_SINGLE:
        return None
    distinct = np.unique(scores)
    return distinct if len(distinct) <= _MOST_SINGLE else None


def _edges(scores: NDArray[np.float64]) -> tuple[NDArray[np.float64], bool, bool]:
    """Return the edges, and whether scores lie below the first or above the last."""
    finite = scores[np.isfinite(scores)]
    ends = float(finite.min()), float(finite.max())
    tails = np.quantile(finite, _TAILS).tolist()
    reach = _FAR * (tails[1] - tails[0])
    low = tails[0] if ends[0] < tails[0] - reach and reach > 0 else ends[0]
    high = tails[1] if ends[1] > tails[1] + reach and reach > 0 else ends[1]
    edges = np.linspace(low, high, _N_BINS + 1)
    return edges, bool((scores < low).any()), bool((scores > high).any())
