"""How the nodes of a ranking tree are split."""

from typing import Any

from sklearn.base import BaseEstimator

from aucrank._params import check_int
from aucrank._persistence import persistable
from aucrank.tree._weighted_erm import WeightedERM


@persistable
class OrthogonalSplit(BaseEstimator):
    """Split a node by one question to one feature: a stump.

    The question is whether a number lies below a threshold, whether a category is in a set, or
    whether the value is known; the side of larger share of positives ranks first. Of all such
    questions the one of largest AUC is taken (paper 2 Fig. 2 with perpendicular splits [1]_).

    References
    ----------
    .. [1] Clémençon, Depecker and Vayatis, "Adaptive partitioning schemes for bipartite ranking",
       Mach. Learn. 83, 2011. https://hal.science/hal-00416054

    Examples
    --------
    >>> from aucrank.tree import OrthogonalSplit, TreeRank
    >>> model = TreeRank(split=OrthogonalSplit(), min_samples_leaf=1, pruning=None)
    >>> model.fit([[0], [1], [2], [3]], [0, 0, 1, 1]).tree_
    RankingTree(n_leaves=2, depth=1, auc=1.0000)
    """

    def _core_params(self, min_samples_leaf: int, max_features: int | None) -> dict[str, Any]:
        stumps = {
            "max_depth": 1,
            "max_leaves": None,
            "min_samples_split": 2,
            "min_samples_leaf": min_samples_leaf,
            "max_features": max_features,
        }
        return {"stumps": stumps}


@persistable
class LeafRank(BaseEstimator):
    """Split a node by a small tree of stumps whose cells are merged into two sides.

    The cells of the inner tree are ordered by their share of positives, and those whose share is
    at least that of the node become the side that ranks first: no other union of the cells has a
    larger AUC (Fig. 5 and Proposition 4 of [1]_). It finds regions that no single stump can cut
    out, at the price of rules that take more words.

    Parameters
    ----------
    max_depth : int, default=3
        Depth of the inner tree. 1 is `OrthogonalSplit`.
    max_leaves : int or None, default=None
        Most cells of the inner tree; stumps are then placed where they gain most. None for no
        bound but the depth.
    min_samples_split : int, default=2
        Rows that a cell needs to be cut again.
    min_samples_leaf : int, default=1
        Rows that each cell keeps.

    References
    ----------
    .. [1] Clémençon, Depecker and Vayatis, "Adaptive partitioning schemes for bipartite ranking",
       Mach. Learn. 83, 2011. https://hal.science/hal-00416054

    Examples
    --------
    A square in the middle, which takes four stumps:

    >>> import numpy as np
    >>> from aucrank.tree import LeafRank, TreeRank
    >>> X = np.random.default_rng(0).random((1000, 2))
    >>> y = (np.abs(X - 0.5) < 0.3).all(axis=1)
    >>> model = TreeRank(split=LeafRank(max_depth=4), max_depth=1, pruning=None, max_bins=None)
    >>> model.fit(X, y).tree_
    RankingTree(n_leaves=2, depth=1, auc=1.0000)
    """

    def __init__(
        self,
        *,
        max_depth: int = 3,
        max_leaves: int | None = None,
        min_samples_split: int = 2,
        min_samples_leaf: int = 1,
    ) -> None:
        self.max_depth = max_depth
        self.max_leaves = max_leaves
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf

    def _core_params(self, min_samples_leaf: int, max_features: int | None) -> dict[str, Any]:
        stumps = {
            "max_depth": check_int(self.max_depth, "max_depth of LeafRank", low=1),
            "max_leaves": check_int(
                self.max_leaves, "max_leaves of LeafRank", low=2, optional=True
            ),
            "min_samples_split": check_int(
                self.min_samples_split, "min_samples_split of LeafRank", low=2
            ),
            "min_samples_leaf": check_int(
                self.min_samples_leaf, "min_samples_leaf of LeafRank", low=1
            ),
            "max_features": max_features,
        }
        return {"stumps": stumps}


_RULES: dict[str, type[Any]] = {"orthogonal": OrthogonalSplit, "leafrank": LeafRank}


def split_rule(split: Any) -> Any:
    """Return the rule that the parameter ``split`` names, or that it is.

    Raises
    ------
    ValueError
        If it is neither the name of a rule nor a rule.
    """
    if isinstance(split, (*_RULES.values(), WeightedERM)):
        return split
    if isinstance(split, str) and split in _RULES:
        return _RULES[split]()
    names = ", ".join(repr(name) for name in _RULES)
    raise ValueError(
        f"split must be one of {names}, an OrthogonalSplit, a LeafRank or a WeightedERM; got"
        f" {split!r}"
    )
