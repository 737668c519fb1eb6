"""TreeRank: ranking trees that approximate the optimal ROC curve."""

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from aucrank import _core
from aucrank._base import BaseRanker, ProbabilityMixin
from aucrank._input import Columns
from aucrank._params import check_bool, check_choice, check_int, check_real
from aucrank._persistence import persistable
from aucrank._ranking_tree import PruningPath, RankingTree
from aucrank._schema import Schema
from aucrank._table import Table

__all__ = [
    "CrossValidatedPruning",
    "LeafRank",
    "OrthogonalSplit",
    "PruningPath",
    "RankingTree",
    "TreeRank",
]


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

    def _core_params(self, min_samples_leaf: int) -> dict[str, Any]:
        return {
            "split_max_depth": 1,
            "split_max_leaves": None,
            "split_min_samples_split": 2,
            "split_min_samples_leaf": min_samples_leaf,
        }


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

    def _core_params(self, min_samples_leaf: int) -> dict[str, Any]:
        return {
            "split_max_depth": check_int(self.max_depth, "max_depth of LeafRank", low=1),
            "split_max_leaves": check_int(
                self.max_leaves, "max_leaves of LeafRank", low=2, optional=True
            ),
            "split_min_samples_split": check_int(
                self.min_samples_split, "min_samples_split of LeafRank", low=2
            ),
            "split_min_samples_leaf": check_int(
                self.min_samples_leaf, "min_samples_leaf of LeafRank", low=1
            ),
        }


@persistable
class CrossValidatedPruning(BaseEstimator):
    """Choose the size of a ranking tree by cross-validating the price of a leaf.

    The subtrees that are best for some price form a nested path (Theorem 3 of [1]_). For each fold
    a tree is grown without it, pruned at each price of the path and scored on the fold; the price
    of the largest mean AUC is kept, the smallest tree among equals.

    Parameters
    ----------
    n_folds : int, default=10
        Number of folds, at least 2. Distinct rows are dealt by a hash of their content, so that
        copies of a row are in one fold; where a class has fewer distinct rows than folds, there
        are as many folds as it has, and a warning says so.
    one_standard_error : bool, default=False
        Keep the smallest tree whose mean AUC is within one standard error of the largest.

    References
    ----------
    .. [1] Clémençon, Depecker and Vayatis, "Adaptive partitioning schemes for bipartite ranking",
       Mach. Learn. 83, 2011, sec. 4.1. https://hal.science/hal-00416054

    Examples
    --------
    >>> from aucrank import TreeRank
    >>> from aucrank.datasets import load_breast_cancer
    >>> from aucrank.tree import CrossValidatedPruning
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> pruning = CrossValidatedPruning(n_folds=5, one_standard_error=True)
    >>> model = TreeRank(pruning=pruning, random_state=0).fit(X, y)
    >>> model.tree_.n_leaves < TreeRank(pruning=None).fit(X, y).tree_.n_leaves
    True
    """

    def __init__(self, *, n_folds: int = 10, one_standard_error: bool = False) -> None:
        self.n_folds = n_folds
        self.one_standard_error = one_standard_error

    def _core_params(self) -> dict[str, Any]:
        n_folds = check_int(self.n_folds, "n_folds of CrossValidatedPruning", low=2, high=65534)
        return {
            "n_folds": n_folds,
            "one_standard_error": check_bool(
                self.one_standard_error, "one_standard_error of CrossValidatedPruning"
            ),
        }


_SPLITS: dict[str, type[Any]] = {"orthogonal": OrthogonalSplit, "leafrank": LeafRank}


class TreeRank(ProbabilityMixin, BaseRanker):
    """Ranking tree grown to approximate the optimal ROC curve, then pruned.

    Each node is split in the two parts that raise the area under the curve most, and the part
    with the larger share of positives ranks first. The leaves, from the first to the last, draw
    the ROC curve of the tree ([1]_, [2]_).

    Parameters
    ----------
    split : {"orthogonal", "leafrank"} or split rule, default="orthogonal"
        How a node is split: by one stump, by a small tree of stumps whose cells are merged, or by
        an `OrthogonalSplit` or `LeafRank` with parameters of its own.
    max_depth : int, default=10
        Most splits between the root and a leaf.
    min_samples_split : int, default=2
        Rows that a node needs to be split.
    min_samples_leaf : int, default=5
        Rows that each side of a split keeps. A row of whole weight k counts as k rows; where some
        weight is not whole, every row of positive weight counts once.
    min_gain : float, default=0.0
        A split must raise the training AUC by more than this.
    pruning : {"cv"}, CrossValidatedPruning or None, default="cv"
        How the grown tree is pruned; "cv" is ``CrossValidatedPruning()``.
    leaf_order : {"eta", "tree"}, default="eta"
        Rank leaves by their share of positives, which makes the training curve concave, or from
        left to right, as the papers do.
    max_bins : int or None, default=255
        Most bins that a numeric feature is cut into before the tree is grown, at quantiles of at
        most 200,000 rows; a feature of no more distinct values is exact. None for one bin a
        value, the exhaustive search of the papers.
    categorical_features : "from_dtype", list or None, default="from_dtype"
        Which columns hold categories: those of a data frame whose type says so, or those listed
        by position, by name or in a boolean mask. A split sends a set of categories left: the
        best of all sets.
    n_jobs : int or None, default=None
        Number of threads: None for one per core as far as ``OMP_NUM_THREADS`` allows, -1 for all
        cores. The tree does not depend on it.
    random_state : int, RandomState instance or None, default=None
        Seeds how rows are dealt into folds, and the sample that bins are taken from where there
        are more than 200,000 rows.
    verbose : int, default=0
        If positive, print what was grown and what was kept.

    Attributes
    ----------
    tree_ : RankingTree
        The tree: tables, rules in words, subtrees.
    pruning_ : Table or None
        What cross-validation found for each subtree of the path: ``alpha``, ``n_leaves``,
        ``train_auc``, ``mean_auc``, ``standard_error``, and ``kept``, which marks the one that
        ``tree_`` is. None without cross-validation.
    feature_importances_ : ndarray of shape (n_features,)
        Square root of the sum of squared gains of the stumps on each feature, in units of AUC
        (sec. 5.1 of [2]_).
    classes_ : ndarray of shape (2,)
        Sorted labels; the second is the class to rank first.
    n_features_in_ : int
        Number of columns seen during :term:`fit`.
    feature_names_in_ : ndarray of shape (n_features,)
        Their names, if they had any.

    See Also
    --------
    sklearn.tree.DecisionTreeClassifier : Trees that are grown to classify.

    Notes
    -----
    A missing value goes to the side where the rows that missed it gained in training, or with the
    larger side where no row of the node missed it. A category that was not seen counts as missing.

    The defaults are those of largest mean 5-fold AUC over 16 real data sets of at most 20,000 rows
    (``benches/tree_defaults.py``): stumps, leaves ranked by eta, five rows a leaf reach 0.862; the
    tree of the papers, LeafRank of depth 3 with leaves ranked from left to right, 0.848
    (``TreeRank(split="leafrank", min_samples_leaf=1, leaf_order="tree")``).

    References
    ----------
    .. [1] Clémençon and Vayatis, "Tree-based ranking methods", IEEE Trans. Inf. Theory 55(9),
       2009. :doi:`10.1109/TIT.2009.2025558`
    .. [2] Clémençon, Depecker and Vayatis, "Adaptive partitioning schemes for bipartite ranking",
       Mach. Learn. 83, 2011. https://hal.science/hal-00416054

    Examples
    --------
    >>> from aucrank import TreeRank
    >>> from aucrank.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> model = TreeRank(max_depth=2, pruning=None).fit(X, y)
    >>> model.tree_.n_leaves
    4
    >>> bool((model.decision_function(X) > 0).sum() == (model.predict(X) == 1).sum())
    True
    """

    _family = "tree_rank"
    _model: _core.TreeRankModel

    def __init__(
        self,
        *,
        split: Any = "orthogonal",
        max_depth: int = 10,
        min_samples_split: int = 2,
        min_samples_leaf: int = 5,
        min_gain: float = 0.0,
        pruning: Any = "cv",
        leaf_order: str = "eta",
        max_bins: int | None = 255,
        categorical_features: Any = "from_dtype",
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.split = split
        self.max_depth = max_depth
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.min_gain = min_gain
        self.pruning = pruning
        self.leaf_order = leaf_order
        self.max_bins = max_bins
        self.categorical_features = categorical_features
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def _check_params(self) -> None:
        self._core_params()

    def _core_params(self) -> dict[str, Any]:
        """Return the parameters as the core takes them, each checked."""
        min_samples_leaf = check_int(self.min_samples_leaf, "min_samples_leaf", low=1)
        assert min_samples_leaf is not None
        return {
            "max_depth": check_int(self.max_depth, "max_depth", low=1),
            "min_samples_split": check_int(self.min_samples_split, "min_samples_split", low=2),
            "min_samples_leaf": min_samples_leaf,
            "min_gain": check_real(self.min_gain, "min_gain", low=0.0, high_open=True),
            "leaf_order": check_choice(self.leaf_order, "leaf_order", ("eta", "tree")),
            "max_bins": check_int(self.max_bins, "max_bins", low=2, high=65535, optional=True),
            **self._split_rule()._core_params(min_samples_leaf),
            **self._pruning_params(),
        }

    def _split_rule(self) -> Any:
        if isinstance(self.split, OrthogonalSplit | LeafRank):
            return self.split
        if isinstance(self.split, str) and self.split in _SPLITS:
            return _SPLITS[self.split]()
        names = ", ".join(repr(name) for name in _SPLITS)
        raise ValueError(
            f"split must be one of {names}, an OrthogonalSplit or a LeafRank; got {self.split!r}"
        )

    def _pruning_params(self) -> dict[str, Any]:
        if self.pruning is None:
            return {"n_folds": None, "one_standard_error": False}
        if isinstance(self.pruning, CrossValidatedPruning):
            return self.pruning._core_params()
        if isinstance(self.pruning, str) and self.pruning == "cv":
            return CrossValidatedPruning()._core_params()
        raise ValueError(
            f"pruning must be 'cv', a CrossValidatedPruning or None; got {self.pruning!r}"
        )

    def _fit_model(
        self,
        columns: Columns,
        schema: Schema,
        positive: NDArray[np.bool_],
        weight: NDArray[np.float64] | None,
        seed: int,
        n_threads: int,
    ) -> _core.TreeRankModel:
        params = self._core_params()
        model = _core.fit_tree_rank(
            columns, schema.n_levels, positive, weight, seed=seed, n_threads=n_threads, **params
        )
        self._report(model, params["n_folds"])
        return model

    def _report(self, model: _core.TreeRankModel, n_folds: int | None) -> None:
        found = model.cross_validation()
        if n_folds is not None and found is None:
            warnings.warn(
                "A class has one distinct row, so there is nothing to cross-validate on: the tree"
                " was not pruned.",
                UserWarning,
                stacklevel=4,
            )
        elif n_folds is not None and found is not None and found["n_folds"] < n_folds:
            warnings.warn(
                f"A class has {found['n_folds']} distinct rows, so there are as many folds, not"
                f" n_folds={n_folds}.",
                UserWarning,
                stacklevel=4,
            )
        if self.verbose > 0:
            grown = model.tree.n_leaves if found is None else found["n_leaves"][0]
            print(f"[TreeRank] grew {grown} leaves")
            if found is not None:
                auc, error = (found[key][found["chosen"]] for key in ("mean_auc", "standard_error"))
                print(
                    f"[TreeRank] kept {model.tree.n_leaves}:"
                    f" AUC {auc:.4f} (standard error {error:.4f}) in {found['n_folds']} folds"
                )

    @property
    def _fitted_model(self) -> _core.TreeRankModel:
        check_is_fitted(self)
        return self._model

    @property
    def tree_(self) -> RankingTree:
        """Return the fitted tree.

        Returns
        -------
        RankingTree
            Tables, rules in words, subtrees.
        """
        return RankingTree(self._fitted_model.tree, self._schema)

    @property
    def pruning_(self) -> Table | None:
        """Return what cross-validation found for each subtree of the path.

        Returns
        -------
        Table or None
            One row for each subtree, None without cross-validation.
        """
        found = self._fitted_model.cross_validation()
        if found is None:
            return None
        kept = np.arange(len(found["alpha"])) == found["chosen"]
        columns = ("alpha", "n_leaves", "train_auc", "mean_auc", "standard_error")
        return Table({name: found[name] for name in columns}, kept=kept)

    @property
    def feature_importances_(self) -> NDArray[np.float64]:
        """Return the square root of the sum of squared AUC gains of the stumps on each feature.

        Returns
        -------
        ndarray of shape (n_features,)
            In units of AUC.
        """
        importances: NDArray[np.float64] = np.sqrt(self._fitted_model.importances())
        return importances
