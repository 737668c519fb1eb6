"""Rankers so small that the result of a comparison is known."""

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin


class Column(ClassifierMixin, BaseEstimator):
    """Scores rows by one of their columns; ``on_fit`` is called with the labels of a fit."""

    def __init__(self, place=0, on_fit=None):
        self.place = place
        self.on_fit = on_fit

    def fit(self, X, y):
        if self.on_fit is not None:
            self.on_fit(y)
        self.classes_ = np.unique(y)
        return self

    def decision_function(self, X):
        return np.asarray(X)[:, self.place]


def sample(n=300, seed=0, noise=(0.6, 0.9, 1.5)):
    """Columns that rank the rows the worse, the later they are."""
    rng = np.random.default_rng(seed)
    y = np.tile([0, 1], n // 2)
    return y[:, None] + rng.normal(size=(n, len(noise))) * np.array(noise), y
