"""Scores of any ranker, of this package or another."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

#: Methods that score rows, in order of preference.
SCORING_METHODS = ("decision_function", "predict_proba")


def scoring_method(ranker: Any) -> str | None:
    """Return the name of the method by which an estimator scores rows, None if it has none.

    A class has none, only its instances do.
    """
    if isinstance(ranker, type):
        return None
    return next((name for name in SCORING_METHODS if hasattr(ranker, name)), None)


def score_rows(ranker: Any, X: Any) -> NDArray[np.float64]:
    """Score rows by ``decision_function``, or else by the probability of the second class.

    Parameters
    ----------
    ranker : estimator
        Fitted, with one of `SCORING_METHODS`.
    X : array-like or data frame of shape (n, n_features)
        The rows, as the estimator takes them.

    Returns
    -------
    ndarray of float64, shape (n,)
        Higher means more likely of the second class. If an estimator returns another shape, it is
        kept.
    """
    method = scoring_method(ranker)
    assert method is not None
    scores = np.asarray(getattr(ranker, method)(X))
    if method == "predict_proba" and scores.ndim == 2 and scores.shape[1] == 2:
        scores = scores[:, 1]
    return np.ascontiguousarray(scores, dtype=np.float64)
