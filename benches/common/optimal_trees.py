"""Trees of GOSDT, the optimal ones for accuracy, as rankers of a given number of leaves."""

import contextlib
import io
import json

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin

#: Prices of a leaf, the largest first: the tree of the last one that has few enough leaves is kept.
PRICES = (0.1, 0.05, 0.03, 0.02, 0.015, 0.01, 0.0075, 0.005, 0.0035, 0.0025)
#: Seconds after which the search for a price is given up, and with it those for lower ones.
MOST_SECONDS = 10


class OptimalTree(ClassifierMixin, BaseEstimator):
    """The optimal tree of at most so many leaves, which are ranked by their shares of positives.

    Cuts are those of 40 boosted stumps, the reference model that the authors of GOSDT advise;
    errors of both classes weigh the same in total. The price of a leaf is lowered until there are
    too many.
    """

    def __init__(self, n_leaves=8):
        self.n_leaves = n_leaves

    def fit(self, X, y):
        """Learn from numbers and 0/1 labels."""
        from gosdt import GOSDTClassifier, Status, ThresholdGuessBinarizer

        self.classes_ = np.unique(y)
        cuts = ThresholdGuessBinarizer(n_estimators=40, max_depth=1, random_state=0)
        self.cuts_ = cuts.fit(np.asarray(X, float), y)
        on = self._on(X)
        self.tree_ = {"prediction": 0}
        for price in PRICES:
            model = GOSDTClassifier(
                regularization=max(price, 1 / len(y)), balance=True, time_limit=MOST_SECONDS
            )
            with contextlib.redirect_stdout(io.StringIO()):
                model.fit(on, y)
            tree = json.loads(model.result_.model)[0]
            if model.result_.status != Status.CONVERGED or _n_leaves(tree) > self.n_leaves:
                break
            self.tree_ = tree
        _, leaf = np.unique(self._leaves(on), return_inverse=True)
        shares = np.bincount(leaf, y) / np.bincount(leaf)
        self.shares_ = dict(zip(self._leaves(on), shares[leaf], strict=True))
        return self

    def predict_proba(self, X):
        """Return the share of positives of the leaf of each row."""
        share = np.array([self.shares_.get(leaf, 0.5) for leaf in self._leaves(self._on(X))])
        return np.column_stack([1 - share, share])

    def predict(self, X):
        """Return the more frequent label of the leaf of each row."""
        return self.classes_[(self.predict_proba(X)[:, 1] > 0.5).astype(int)]

    def _on(self, X):
        return np.asarray(self.cuts_.transform(np.asarray(X, float)), dtype=bool)

    def _leaves(self, on):
        """Return the leaf of each row, as the text of its path."""
        leaves = np.full(len(on), "", dtype=object)

        def send(node, rows, path):
            if "prediction" in node:
                leaves[rows] = path
                return
            is_true = on[rows, node["feature"]]
            send(node["true"], rows[is_true], path + "1")
            send(node["false"], rows[~is_true], path + "0")

        send(self.tree_, np.arange(len(on)), "")
        return leaves.astype(str)


def _n_leaves(node):
    """Return the number of leaves of a tree."""
    return 1 if "prediction" in node else _n_leaves(node["true"]) + _n_leaves(node["false"])
