"""Split rules of a ranking tree."""

from dataclasses import replace
from typing import Any

from aucrank._base.fit_context import ParamScope
from aucrank._base.persistence import persistable
from aucrank._utils.params import check_choice, check_int
from aucrank.tree._pruning import CrossValidatedPruning, pruning_rule
from aucrank.tree._split_rule import SplitRule
from aucrank.tree._weighted_erm import WeightedERM


@persistable
class OrthogonalSplit(SplitRule):
    """Split a node by one test of one feature: a stump.

    The test is whether a number is below a threshold, whether a category is in a set, or whether
    the value is known; the side with the larger share of positives ranks first. Among all tests,
    the one with the largest AUC is taken (paper 2 Fig. 2 with perpendicular splits [1]_).

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

    _has_penalty = True

    def _core_params(self, scope: ParamScope) -> dict[str, Any]:
        stumps = {
            "max_depth": 1,
            "max_leaves": None,
            "min_samples_split": 2,
            "min_samples_leaf": scope.min_samples_leaf,
            "max_features": scope.max_features,
            "cuts": scope.cuts,
            "criterion": scope.criterion,
        }
        return {"stumps": stumps}


@persistable
class LeafRank(SplitRule):
    """Split a node by a small tree of stumps whose cells are merged into two sides.

    The cells of the inner tree are ordered by their share of positives, and those whose share is at
    least that of the node become the side that ranks first: no other union of the cells has a
    larger AUC (Fig. 5 and Proposition 4 of [1]_). It finds regions that no single stump can cut
    out, at the price of longer rules.

    Parameters
    ----------
    max_depth : int, default=3
        Depth of the inner tree. 1 is `OrthogonalSplit`.
    max_leaves : int or None, default=None
        Maximal number of cells of the inner tree; stumps are then placed where they gain most. None
        for no bound except the depth.
    min_samples_split : int, default=2
        Minimal number of rows of a cell to be split.
    min_samples_leaf : int, default=1
        Minimal number of rows of each cell.
    pruning : {"cv"}, CrossValidatedPruning or None, default=None
        How the inner tree is pruned before its cells are merged: by cross-validation of its own AUC
        on the rows of the node (situation (iv) of sec. 6.3 of [1]_), or not at all. "cv" is
        ``CrossValidatedPruning()``. A node stays a leaf if no cell is worth its price. A fold
        without both classes in the node is left out; with fewer than two folds left, the inner tree
        is not pruned. The fit takes about ``n_folds`` times as long.

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

    _has_penalty = True

    def __init__(
        self,
        *,
        max_depth: int = 3,
        max_leaves: int | None = None,
        min_samples_split: int = 2,
        min_samples_leaf: int = 1,
        pruning: Any = None,
    ) -> None:
        self.max_depth = max_depth
        self.max_leaves = max_leaves
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.pruning = pruning

    def _core_params(self, scope: ParamScope) -> dict[str, Any]:
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
            "max_features": scope.max_features,
            "cuts": scope.cuts,
            "criterion": scope.criterion,
        }
        rule = pruning_rule(self.pruning, self)
        if rule is not None:
            if not isinstance(rule, CrossValidatedPruning):
                raise ValueError(
                    "pruning of LeafRank must be 'cv', a CrossValidatedPruning or None;"
                    f" got {rule!r}"
                )
            # The core combines this seed with that of the fit.
            stumps["pruning"] = rule._core_params(replace(scope, seed=0))["cross_validation"]
        return {"stumps": stumps}


@persistable
class DyadicSplit(SplitRule):
    """Split a node by a union of equal cubes.

    The features are scaled to [0, 1] and the space is cut in cubes of side ``2 ** -level``. Those
    whose share of positives is at least that of the node become the side that ranks first: no other
    union of cubes has a larger AUC (sec. 3.2 and Proposition 4 of [1]_). For few features and many
    rows: the number of cubes grows with ``2 ** (level * n_features)``, and a cube with a handful of
    rows generalises poorly.

    Parameters
    ----------
    level : int or "auto", default=3
        Cubes have sides of ``2 ** -level``; from 1 to 63. At most 63 binary digits number a cube:
        ``level`` for each number that is not constant, one more if training rows missed it, and
        those of each category. "auto" chooses it by the data (Remark 6 of [1]_): levels from 1 to
        16 are tried until two in a row rank no better, and the one whose tree has the largest AUC
        on rows that it was not grown on is taken, the coarsest in case of a tie. The rows are those
        by which the tree is pruned, by cross-validation or by a held-out part; otherwise those of 5
        folds. `RankingTree.cube_level` is the chosen level. Only for a `TreeRank`, not for a weak
        ranker of a booster.

    Notes
    -----
    A number is scaled by its least and largest value in training; values beyond are in the
    outermost cubes. Each category is a cell, and so are the rows that miss a number.

    A row in a cube without training rows of the node follows the smallest enclosing cube, of side
    ``2 ** -(level - 1)``, ..., 1/2, that has some: left if their share of positives is at least
    that of the node. If there is none, it goes right.

    Cubes are never cut, so the training curve is concave in tree order, too (Remark 8 of [1]_).
    They use all features at once: a tree of them has no ``feature_importances_`` and no SQL form,
    and ``max_features`` does not apply.

    References
    ----------
    .. [1] Clémençon, Depecker and Vayatis, "Adaptive partitioning schemes for bipartite ranking",
       Mach. Learn. 83, 2011. https://hal.science/hal-00416054

    Examples
    --------
    A square in the middle, made of 4 of the 16 cubes of side 1/4:

    >>> import numpy as np
    >>> from aucrank.tree import DyadicSplit, TreeRank
    >>> X = np.random.default_rng(0).random((1000, 2))
    >>> X[:2] = [[0, 0], [1, 1]]
    >>> y = (np.abs(X - 0.5) < 0.25).all(axis=1)
    >>> model = TreeRank(split=DyadicSplit(level=2), pruning=None).fit(X, y)
    >>> print(model.tree_.to_text())
    all rows: 244 of 1000 positive (24.4%)
    |-- in 4 of 16 cubes of side 1/4: 244 of 244 positive (100.0%)  #1
    `-- in the other 12 of 16 cubes of side 1/4: 0 of 756 positive (0.0%)  #2
    """

    _has_penalty = True

    def __init__(self, *, level: int | str = 3) -> None:
        self.level = level

    def _core_params(self, scope: ParamScope) -> dict[str, Any]:
        if scope.max_features is not None:
            raise ValueError(
                "max_features must be None for a DyadicSplit, whose cubes test all features at once"
            )
        if scope.cuts != "best":
            raise ValueError(f"cuts must be 'best' for a DyadicSplit, got {scope.cuts!r}")
        if isinstance(self.level, str):
            check_choice(self.level, "level of DyadicSplit", ("auto",))
            return {"dyadic": {"level": None}}
        return {"dyadic": {"level": check_int(self.level, "level of DyadicSplit", low=1, high=63)}}


# Rules that have a name.
_RULES: dict[str, type[SplitRule]] = {
    "orthogonal": OrthogonalSplit,
    "leafrank": LeafRank,
    "dyadic": DyadicSplit,
}


def split_rule(split: Any) -> SplitRule:
    """Return the rule that the parameter ``split`` names or is.

    Raises
    ------
    ValueError
        If it is neither the name of a rule nor a rule.
    """
    if isinstance(split, SplitRule):
        return split
    if isinstance(split, str) and split in _RULES:
        return _RULES[split]()
    names = ", ".join(repr(name) for name in _RULES)
    rules = ", ".join(_with_article(rule.__name__) for rule in _RULES.values())
    raise ValueError(
        f"split must be one of {names}, {rules} or {_with_article(WeightedERM.__name__)};"
        f" got {split!r}"
    )


def _with_article(name: str) -> str:
    return f"{'an' if name[0] in 'AEIOU' else 'a'} {name}"
