"""Splitting a node by merging the cells of any partition."""

from collections.abc import Hashable, Iterable
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import issparse
from sklearn.base import BaseEstimator, ClassifierMixin, clone

from aucrank._base.fit_context import ParamScope
from aucrank.tree._weighted_erm import WeightedERM


class PartitionSplit(WeightedERM):
    """Split a node by a union of cells of a partition that you choose.

    In each node a clone of ``partition`` is fitted to the rows, without their labels, and assigns
    each a cell. The cells whose share of positives is at least that of the node become the side
    that ranks first: no other union of them has a larger AUC (Fig. 4 and Proposition 4 of [1]_).

    Parameters
    ----------
    partition : estimator
        A clusterer such as `~sklearn.cluster.KMeans`, whose ``predict`` returns the cell of a row;
        a forest of random trees or anything else with ``apply``; or a transformer such as
        `~sklearn.preprocessing.KBinsDiscretizer`, where equal transformed rows form a cell. It is
        cloned, never fitted itself, and receives rows of ``X`` unchanged. Each ``random_state``
        that it has is set from that of `TreeRank`.

    See Also
    --------
    DyadicSplit : The rule on equal cubes, which can be saved to a file.
    LeafRank : The rule on the cells of a tree of stumps, which uses the labels.

    Notes
    -----
    Rows in a cell without training rows of the node go right, since there is no evidence for
    positives. As with `WeightedERM`, pickle these trees, since ``save`` cannot store them.

    References
    ----------
    .. [1] Clémençon, Depecker and Vayatis, "Adaptive partitioning schemes for bipartite ranking",
       Mach. Learn. 83, 2011, sec. 3.2. https://hal.science/hal-00416054

    Examples
    --------
    >>> from aucrank.datasets import load_breast_cancer
    >>> from aucrank.tree import PartitionSplit, TreeRank
    >>> from sklearn.cluster import KMeans
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> split = PartitionSplit(KMeans(8, n_init=1))
    >>> model = TreeRank(split=split, max_depth=2, pruning=None, random_state=0).fit(X, y)
    >>> model.tree_.auc > 0.9
    True
    """

    def __init__(self, partition: Any) -> None:
        self.partition = partition

    def _node_classifier(self) -> Any:
        return CellVote(self.partition)

    def _core_params(self, scope: ParamScope) -> str:
        if scope.max_features is not None:
            raise ValueError(
                "max_features draws features for stumps; the partition of PartitionSplit sees all"
                " columns, so max_features must be None"
            )
        if isinstance(self.partition, type) or not hasattr(self.partition, "fit"):
            raise TypeError(
                f"partition of PartitionSplit must be an estimator, got {self.partition!r}"
            )
        return "classifier"


class CellVote(ClassifierMixin, BaseEstimator):
    """Classifier that calls a cell positive if positives weigh no less than negatives.

    Parameters
    ----------
    partition : estimator
        As for `PartitionSplit`.
    """

    def __init__(self, partition: Any) -> None:
        self.partition = partition

    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Fit the partition and label its cells.

        Parameters
        ----------
        X : array-like or data frame of shape (n, n_features)
            Rows.
        y : array-like of shape (n,)
            Labels 0 and 1.
        sample_weight : array-like of shape (n,), default=None
            Weight of each row.

        Returns
        -------
        self
            Fitted.
        """
        labels = np.asarray(y)
        weight = np.ones(len(labels)) if sample_weight is None else np.asarray(sample_weight)
        self.classes_ = np.array([0, 1])
        self.partition_ = clone(self.partition).fit(X)
        balance: dict[Hashable, float] = {}
        signed = np.where(labels == 1, weight, -weight).tolist()
        for cell, value in zip(self._cells(X), signed, strict=True):
            balance[cell] = balance.get(cell, 0.0) + value
        self.positive_cells_ = {cell for cell, value in balance.items() if value >= 0}
        return self

    def predict(self, X: Any) -> NDArray[np.intp]:
        """Return 1 for rows in positive cells, 0 for all others.

        Parameters
        ----------
        X : array-like or data frame of shape (n, n_features)
            Rows.

        Returns
        -------
        ndarray of int, shape (n,)
            Labels.
        """
        return np.array([cell in self.positive_cells_ for cell in self._cells(X)], dtype=np.intp)

    def _cells(self, X: Any) -> Iterable[Hashable]:
        for method in ("predict", "apply", "transform"):
            if hasattr(self.partition_, method):
                cells = getattr(self.partition_, method)(X)
                break
        else:
            raise TypeError(
                "partition of PartitionSplit must have predict, apply or transform, which"
                f" {type(self.partition_).__name__} has not"
            )
        values = np.asarray(cells.toarray() if issparse(cells) else cells)
        if values.ndim == 1:
            named: list[Hashable] = values.tolist()
            return named
        return map(tuple, values.tolist())
