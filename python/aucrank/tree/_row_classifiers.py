"""Classifiers of the user's own choice beside rows of data, for trees that split by them."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from aucrank._base.row_models import RowModelLearner, RowModels


class RowClassifiers(RowModels):
    """Fitted classifiers beside rows to ask them about: what the core calls back."""

    def decide(self, classifier: int, rows: NDArray[np.uint32]) -> NDArray[np.bool_]:
        """Tell which rows a classifier calls positive."""
        decided: NDArray[np.bool_] = self._as_caller(self._decide, classifier, rows)
        return decided

    def _decide(self, classifier: int, rows: NDArray[np.uint32]) -> NDArray[np.bool_]:
        return _positive(self._fitted[classifier], self._take(rows))


class RowLearner(RowModelLearner, RowClassifiers):
    """Fits classifiers to the rows of nodes: what the core calls back in a fit."""

    def fit(
        self, seed: int, rows: NDArray[np.uint32], costs: NDArray[np.float64]
    ) -> tuple[int, NDArray[np.bool_]]:
        """Fit a classifier; return its number and which of the rows it calls positive."""
        classifier = self._new(seed)
        positive: NDArray[np.bool_] = self._as_caller(self._fit, classifier, rows, costs)
        return self._add(classifier), positive

    def _fit(
        self, classifier: Any, rows: NDArray[np.uint32], costs: NDArray[np.float64]
    ) -> NDArray[np.bool_]:
        X = self._take(rows)
        self._fit_model(classifier, X, rows, costs)
        return _positive(classifier, X)


def _positive(classifier: Any, X: Any) -> NDArray[np.bool_]:
    """Predict, and check that the predictions are labels of the rows."""
    predicted = np.asarray(classifier.predict(X))
    positive = predicted == 1
    n_rows = X.shape[0]
    if predicted.shape != (n_rows,):
        raise ValueError(
            f"predict of {type(classifier).__name__} returned an array of shape {predicted.shape}"
            f" for {n_rows} rows"
        )
    if not np.all(positive | (predicted == 0)):
        raise ValueError(
            f"predict of {type(classifier).__name__} returned other values than the labels 0 and 1"
            " that it was fitted to: it is no classifier"
        )
    return np.ascontiguousarray(positive, dtype=np.bool_)
