"""Instability of a learned ranking under resampling of the training rows."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np
from numpy.random import RandomState
from numpy.typing import ArrayLike, NDArray
from scipy import stats
from sklearn.utils import check_scalar

from aucrank._base.scoring import score_rows
from aucrank._utils.keywords import suggests_keywords
from aucrank._utils.params import check_seed
from aucrank.inspection._training import Training, check_scores

# Number of rows compared with all others at a time.
_BLOCK = 256


@dataclass(frozen=True, eq=False)
class RankingInstability:
    """Distances of the rankings of resamples, as :func:`ranking_instability` returns them.

    Attributes
    ----------
    distance : float
        Mean Kendall distance of two of the rankings: 0 if all order the rows alike, about 1/2 if
        they are unrelated.
    distances : ndarray of shape (n_resamples, n_resamples)
        Distance of each pair of rankings.
    spread : ndarray of shape (n_rows,)
        Standard deviation, over the rankings, of the place of each row, from 0 to 1.
    """

    distance: float
    distances: NDArray[np.float64]
    spread: NDArray[np.float64]


@suggests_keywords
def ranking_instability(
    estimator: Any,
    X: Any,
    y: ArrayLike,
    *,
    X_eval: Any = None,
    sample_weight: ArrayLike | None = None,
    groups: ArrayLike | None = None,
    n_resamples: int = 20,
    random_state: int | RandomState | None = None,
) -> RankingInstability:
    """Mean Kendall distance of rankings that an estimator learns from resamples of the rows.

    Parameters
    ----------
    estimator : estimator
        Binary classifier with ``decision_function`` or ``predict_proba``; it is cloned, and fitted
        to each resample. Its ``random_state`` is kept: set it, or its own randomness adds to the
        distances.
    X : array-like or data frame of shape (n_samples, n_features)
        Rows to learn from.
    y : array-like of shape (n_samples,)
        Their labels.
    X_eval : array-like or data frame of shape (n_rows, n_features), default=None
        Rows to be ranked; ``None`` takes ``X``. Time and memory per pair of rankings grow with the
        square of their number.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights, passed to ``fit``. A drawn row keeps its weight.
    groups : array-like of shape (n_samples,), default=None
        Which rows come from the same source, such as a patient: they are drawn together.
    n_resamples : int, default=20
        Number of bootstrap resamples, 2 or more.
    random_state : int, RandomState instance or None, default=None
        Seed of the bootstrap.

    Returns
    -------
    RankingInstability
        With ``distance``, ``distances`` and ``spread``.

    Raises
    ------
    TypeError
        If the estimator cannot score rows.
    ValueError
        For labels not of two classes, bad weights, groups with a missing value, fewer than two
        rows to rank, and ``n_resamples`` below 2.

    See Also
    --------
    aucrank.metrics.cross_validated_auc : Quality of rankings; equally good ones may differ much.

    Notes
    -----
    Rows are drawn within each class, or whole groups from all, by position: the order of the rows
    changes the resamples. The Kendall distance of two scores is the share of pairs of rows that
    they put in opposite orders, a pair that ties in only one of them counting one half [1]_.
    Equally good models may be far apart if many scores do equally well; a statement about a single
    person should not depend on which one was found.

    References
    ----------
    .. [1] Fagin, Kumar, Mahdian, Sivakumar and Vee, "Comparing and aggregating rankings with ties",
       PODS 2004. :doi:`10.1145/1055558.1055568`

    Examples
    --------
    >>> import numpy as np
    >>> from aucrank import LinearRanker
    >>> from aucrank.inspection import ranking_instability
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(300, 3))
    >>> y = X[:, 0] + rng.normal(size=300) > 0
    >>> found = ranking_instability(LinearRanker(), X, y, n_resamples=5, random_state=0)
    >>> 0 < found.distance < 0.2
    True
    """
    check_scalar(n_resamples, "n_resamples", Integral, min_val=2)
    check_scores(estimator)
    training = Training.of(X, y, sample_weight, groups)
    ranked = X if X_eval is None else X_eval
    rng = np.random.default_rng(check_seed(random_state))
    resamples = (training.redraw(rng) for _ in range(n_resamples))
    scores = [score_rows(training.fit(estimator, drawn), ranked) for drawn in resamples]
    n_rows = len(scores[0])
    if n_rows < 2:
        raise ValueError(f"a ranking needs two rows or more, got {n_rows}")
    distances = np.zeros((n_resamples, n_resamples))
    for first in range(n_resamples):
        for second in range(first):
            distance = kendall_distance(scores[first], scores[second])
            distances[first, second] = distances[second, first] = distance
    places = np.array([(stats.rankdata(own) - 1) / (n_rows - 1) for own in scores])
    return RankingInstability(
        distance=float(distances.sum() / (n_resamples * (n_resamples - 1))),
        distances=distances,
        spread=places.std(axis=0, ddof=1),
    )


def kendall_distance(first: NDArray[np.float64], second: NDArray[np.float64]) -> float:
    """Return the share of pairs in opposite orders, one that ties in one score counting half."""
    places, n_rows, halves = _finite(first, second), len(first), 0
    for start in range(0, n_rows, _BLOCK):
        block = slice(start, start + _BLOCK)
        signs = [np.sign(own[block, np.newaxis] - own) for own in places]
        halves += int(np.abs(signs[0] - signs[1]).sum())
    # Each pair was met twice, and an opposite one counted two.
    return halves / (2 * n_rows * (n_rows - 1))


def _finite(*scores: NDArray[np.float64]) -> list[NDArray[np.float64]]:
    """Return ranks, whose differences are finite even for infinite scores."""
    return [np.unique(own, return_inverse=True)[1].astype(np.float64) for own in scores]
