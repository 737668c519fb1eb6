"""Small trees that rank nearly as well as the best one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any, overload

import numpy as np

from aucrank._data.table import Table
from aucrank._utils.words import plural
from aucrank.tree._ranking_tree import RankingTree


class RashomonSet(Sequence[RankingTree]):
    """All trees of a few leaves whose training AUC is near the largest, the best one first.

    A sequence of `RankingTree`. Of trees with the same leaves there is one, and no tree has a split
    without which its AUC would be the same.

    Attributes
    ----------
    tolerance : float
        By how much the AUC of a tree may be below the largest.
    table : Table
        One row for each tree: ``auc``, of the training rows; ``n_leaves``; ``features``, those that
        it splits on, separated by commas.
    features : Table
        One row for each feature, the most used first: ``feature``; ``n_trees``, the number of trees
        that split on it; ``share``, their share of all trees.

    See Also
    --------
    TreeRank.rashomon : Finds the trees.
    """

    def __init__(self, trees: Sequence[RankingTree], tolerance: float) -> None:
        self._trees = list(trees)
        self.tolerance = tolerance
        used = [_features_of(tree) for tree in self._trees]
        self.table = Table(
            auc=np.array([tree.auc for tree in self._trees]),
            n_leaves=np.array([tree.n_leaves for tree in self._trees]),
            features=np.array([", ".join(names) for names in used], dtype=object),
        )
        counts = Counter(name for names in used for name in names)
        names = self._trees[0].importances["feature"]
        ordered = sorted(names, key=lambda name: -counts[name])
        n_trees = np.array([counts[name] for name in ordered])
        self.features = Table(
            feature=np.array(ordered, dtype=object),
            n_trees=n_trees,
            share=n_trees / len(self._trees),
        )

    @property
    def always_used(self) -> list[str]:
        """Return the features that all trees split on.

        Returns
        -------
        list of str
            Their names, ``x0`` for the first column if it has none.
        """
        return [str(name) for name in self.features["feature"][self.features["share"] == 1]]

    def __len__(self) -> int:
        return len(self._trees)

    def __iter__(self) -> Iterator[RankingTree]:
        return iter(self._trees)

    @overload
    def __getitem__(self, index: int) -> RankingTree: ...
    @overload
    def __getitem__(self, index: slice) -> list[RankingTree]: ...
    def __getitem__(self, index: Any) -> Any:
        return self._trees[index]

    def __repr__(self) -> str:
        always = ", ".join(self.always_used) or "none"
        return (
            f"<RashomonSet: {plural(len(self), 'tree')} within {self.tolerance:g} of AUC"
            f" {self._trees[0].auc:.4f}; features of all: {always}>"
        )


def _features_of(tree: RankingTree) -> list[str]:
    """Return the features that a tree splits on, the most important first."""
    importances = tree.importances
    return [str(name) for name in importances["feature"][importances["n_splits"] > 0]]
