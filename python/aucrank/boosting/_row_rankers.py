"""Weak rankers of the user's own choice beside rows of data: what the core calls back."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from aucrank._base.row_models import RowModelLearner, RowModels
from aucrank._base.scoring import score_rows, scoring_method


class RowRankers(RowModels):
    """Fitted rankers beside rows to score: what the core calls back."""

    def score(self, ranker: int, rows: NDArray[np.uint32]) -> NDArray[np.float64]:
        """Score rows."""
        scores: NDArray[np.float64] = self._as_caller(self._score, ranker, rows)
        return scores

    def _score(self, ranker: int, rows: NDArray[np.uint32]) -> NDArray[np.float64]:
        return _scores(self._fitted[ranker], self._take(rows))


class RowRankerLearner(RowModelLearner, RowRankers):
    """Fits rankers to weighted rows: what the core calls back in a fit."""

    def fit(self, seed: int, rows: NDArray[np.uint32], weights: NDArray[np.float64]) -> int:
        """Fit a ranker and return its number."""
        ranker = self._new(seed)
        self._as_caller(self._fit, ranker, rows, weights)
        return self._add(ranker)

    def _fit(self, ranker: Any, rows: NDArray[np.uint32], weights: NDArray[np.float64]) -> None:
        self._fit_model(ranker, self._take(rows), rows, weights)


def _scores(ranker: Any, X: Any) -> NDArray[np.float64]:
    """Score rows, and check that there is one known score for each."""
    scores = score_rows(ranker, X)
    what = f"{scoring_method(ranker)} of {type(ranker).__name__} returned"
    if scores.shape != (X.shape[0],):
        raise ValueError(f"{what} an array of shape {scores.shape} for {X.shape[0]} rows")
    if np.isnan(scores).any():
        raise ValueError(f"{what} NaN")
    return scores
