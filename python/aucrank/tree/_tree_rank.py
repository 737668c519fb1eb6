"""The estimator of one ranking tree."""

import json
from dataclasses import replace
from typing import Any, ClassVar, Self

from numpy.typing import ArrayLike
from sklearn.utils import get_tags

from aucrank import _core
from aucrank._base.external import KeepsModels, predicted_labels, refuse_missing
from aucrank._base.fit_context import FitContext, ParamScope, RowsContext
from aucrank._base.monotonic import monotonic_directions
from aucrank._base.ranker import BaseRanker
from aucrank._base.summary import Section
from aucrank._base.validation_set import ValidationSet
from aucrank._data.input import Columns
from aucrank._data.schema import Schema
from aucrank._utils.keywords import suggests_keywords
from aucrank._utils.params import (
    binning_params,
    check_choice,
    check_int,
    check_max_features,
    check_real,
    check_time_limit,
)
from aucrank.data._dataset import refuse_for_dataset
from aucrank.data._stored import Rows
from aucrank.tree._pruning import PenalizedPruning, pruning_rule
from aucrank.tree._ranking_tree import RankingTree
from aucrank.tree._rashomon import RashomonSet
from aucrank.tree._split_rule import SplitRule
from aucrank.tree._splits import LeafRank, OrthogonalSplit, split_rule
from aucrank.tree._tree_ranker import TreeRanker

# Leaves of the trees that are listed, if their number is not given.
_LISTED_LEAVES = 4


class TreeRank(KeepsModels, TreeRanker):
    """Ranking tree grown to approximate the optimal ROC curve, then pruned.

    Each node is split into the two parts that raise the area under the curve most, and the part
    with the larger share of positives ranks first. The leaves, from the first to the last, trace
    the ROC curve of the tree ([1]_, [2]_).

    Parameters
    ----------
    split : {"orthogonal", "leafrank", "dyadic"} or split rule, default="orthogonal"
        How a node is split: by one stump, by a small tree of stumps whose cells are merged, by a
        union of equal cubes, by an `OrthogonalSplit`, `LeafRank` or `DyadicSplit` with parameters
        of its own, or by a classifier (`WeightedERM`) or a partition (`PartitionSplit`) of your
        choice.
    max_depth : int, default=10
        Maximal number of splits between the root and a leaf.
    max_leaves : int or None, default=None
        Maximal number of leaves, at least 2: the leaf whose split raises the training AUC most is
        split first, so that a small tree has the best splits. None for any number; for 8 where the
        tree is searched.
    search : {"greedy", "lookahead", "optimal"}, default="greedy"
        "greedy": the tree grows, and no split is taken back. "lookahead": a tree of at most
        ``max_leaves`` leaves with a large training AUC is searched: a better small tree for more
        time. "optimal": all trees are searched, and ``gap_`` bounds what any other could gain; with
        8 leaves that takes ``max_depth=3``. See the notes.
    lookahead : int, default=1
        With ``search="lookahead"``, levels of splits that are tried in all ways before growth
        judges how good they are; below the first, the best by growth.
    search_bins : int, default=16
        With a search, maximal number of bins of a feature between which splits are tried, from 2 to
        255. The splits of the best trees then move over all bins of ``max_bins``.
    time_limit : float or None, default=None
        Seconds since the start of `fit` after which a search ends with the best trees found so far.
        None for no limit. The tree then depends on the speed of the machine.
    min_samples_split : int, default=2
        Minimal number of rows of a node to be split.
    min_samples_leaf : int, default=5
        Minimal number of rows on each side of a split. A row of integer weight k counts as k rows;
        if some weight is not an integer, every row of positive weight counts once.
    min_gain : float, default=0.0
        A split must raise the training AUC by more than this.
    max_features : int, float, {"sqrt", "log2"} or None, default=None
        Features drawn at random for each stump: a number, a share of all, their square root or
        logarithm, or None for all. If none of those drawn gains, others are drawn. None with
        `DyadicSplit`.
    pruning : {"cv", "penalty", "validation"}, pruning rule or None, default="cv"
        How the grown tree is pruned: by cross-validating the price per leaf, by a penalty on the
        number of leaves, by validation rows, or by a `CrossValidatedPruning`, `PenalizedPruning` or
        `ValidationPruning` with parameters of its own.
    leaf_order : {"eta", "tree"}, default="eta"
        Rank leaves by their share of positives, which makes the training curve concave, or from
        left to right, as the papers do.
    max_fpr : float, default=1.0
        Grow the tree only up to this false positive rate, above 0 and at most 1: with leaves from
        left to right, a node is split only if it begins before this rate, and cross-validation
        chooses the subtree by the partial AUC up to it. The path of subtrees is still that of the
        whole AUC.
    monotonic_cst : array-like of int of shape (n_features,), dict or None, default=None
        Direction of each feature: 1 if the score may only rise with it, -1 if it may only fall, 0
        if it is free. A dict gives them by column name; features that it omits are free. Only
        numeric features can be constrained, and their missing values are free.
    missing : {"learn", "cell_mean"}, default="learn"
        Treatment of missing values. "learn": each stump sends the rows that miss its feature to the
        side with the larger gain. "cell_mean": as in the paper, the weighted mean of the training
        values known in the cell that is cut; a missing category counts as the level with the
        largest weight there, the first in case of a tie.
    max_bins : int or None, default=255
        Maximal number of bins of a numeric feature, cut before the tree is grown at quantiles of at
        most 200,000 rows; a feature with no more distinct values is exact. None for one bin per
        value, the exhaustive search of the papers.
    level_rates : {"shrunken", "raw"}, default="shrunken"
        Class rates of categories used to choose sets of them. "shrunken": rates are shrunk towards
        that of all rows as far as chance explains their differences; with more than six categories,
        those of fewer than ten training rows count as missing, see :ref:`categories <level-rates>`;
        where rare ones hold more than 5 % of the rows, stumps may also split them by their rates,
        learned on other folds of the rows, and by their numbers of rows, see :ref:`many levels
        <rates-of-many>`. "raw": the observed rates, the exhaustive search of the papers, which fits
        noise where there are many categories.
    categorical_features : "from_dtype", list or None, default="from_dtype"
        Which columns are categorical: those of a data frame with a categorical or string type, or
        those listed by position, by name or in a boolean mask. A split sends the best set of
        categories left.
    class_weight : dict, "balanced" or None, default=None
        Factor on the weights of the rows of each class; "balanced" gives both classes the same
        total. It shifts probabilities, and with them the predicted labels; the ranking, which
        weights the classes by their rates, hardly changes.
    n_jobs : int or None, default=None
        Number of threads: None for one per core as far as ``OMP_NUM_THREADS`` allows, -1 for all
        cores. The tree does not depend on it.
    random_state : int, RandomState instance or None, default=None
        Seeds the folds, the features that are drawn, and the rows from which bins are cut beyond
        200,000.
    verbose : int, default=0
        If 1, print a line after every tenth fold of the pruning, and at the end what was grown and
        kept; if greater, after every fold of the pruning.

    Attributes
    ----------
    tree_ : RankingTree
        The tree: tables, rules as text, subtrees.
    pruning_ : Table or None
        Result of pruning for each subtree considered; ``kept`` marks ``tree_``. For
        cross-validation: ``alpha``, ``n_leaves``, ``train_auc``, ``mean_auc``, ``standard_error``;
        for a penalty: ``n_leaves``, ``train_auc``, ``penalty`` (before scaling), ``criterion``
        (``train_auc`` minus the scaled penalty); for validation: ``alpha``, ``n_leaves``,
        ``train_auc``, ``validation_auc``. With ``max_fpr`` below 1, ``mean_auc`` and
        ``validation_auc`` are of the partial AUC as
        ``aucrank.metrics.roc_auc_score(max_fpr=max_fpr)`` gives it: 1/2 for uninformative scores, 1
        for perfect ones. None if nothing was pruned.
    gap_ : float or None
        With ``search="optimal"``: by how much the training AUC (up to ``max_fpr``) of any other
        tree of at most ``max_depth`` levels and ``max_leaves`` leaves could exceed that of
        ``tree_``, between the bins of the search; 0 where it is the best of all. None for another
        search.
    feature_importances_ : ndarray of shape (n_features,)
        Square root of the sum of squared gains of the stumps on each feature, in units of AUC (sec.
        5.1 of [2]_). Not available for `DyadicSplit` and `WeightedERM`, whose splits use many
        features at once.
    classes_ : ndarray of shape (2,)
        Sorted labels; the second is the class to rank first.
    n_features_in_ : int
        Number of columns seen during :term:`fit`.
    feature_names_in_ : ndarray of shape (n_features,)
        Their names, if any.

    See Also
    --------
    sklearn.tree.DecisionTreeClassifier : Trees that are grown to classify.

    Notes
    -----
    With ``missing="learn"``, a missing value goes to the side with the larger gain in training, or
    to the larger side if no row of the node missed it. With ``missing="cell_mean"`` the rows of a
    cell that miss a feature go to the side of its mean together, in training and in scoring (sec. 5
    of [2]_); if the mean lies between two values, a cut may separate it from either. A category
    that was not seen counts as missing.

    ``max_fpr`` counts from left to right in the tree, so with ``leaf_order="eta"`` an unrefined
    leaf from beyond the rate may rank before it; ``leaf_order="tree"`` suits it better. The folds
    then compare subtrees on few negatives: the share ``max_fpr`` of those of a fold.

    Under ``monotonic_cst`` two rows that differ only in one constrained feature never rank against
    its direction, neither by `decision_function` nor by `predict_proba`, whatever the split rule,
    the order of the leaves and the pruning. Where leaves are ranked by their share of positives,
    the shares are first clipped at the midpoint of those of the two sides of each split on a
    constrained feature, as in scikit-learn's trees.

    The defaults have the largest mean 5-fold AUC over 16 real data sets of at most 20,000 rows
    (``benches/studies/tree_defaults.py``): stumps, leaves ranked by eta, and five rows per leaf
    reach 0.862; the tree of the papers, LeafRank of depth 3 with leaves ranked from left to right,
    0.848 (``TreeRank(split="leafrank", min_samples_leaf=1, leaf_order="tree")``).

    A search looks for the tree as a whole. The AUC of a tree is no sum over its leaves, but it is
    at most a sum of values that another curve gives them, the *guide*: with the slopes ``s(u)`` of
    the guide at the false positive rate ``u``, ``ROC(u)`` is at most ``s(u) u`` plus the sum of
    ``max(p - s(u) n, 0)`` over leaves with the shares ``p`` and ``n`` of the classes, and equal to
    it where the guide is the curve of the tree itself. In each round the tree with the largest sum
    is searched, and the guide becomes a mean of the curves found so far; at the end each split
    moves to the feature and place with which the whole tree has the largest AUC. "lookahead" judges
    each split, with each division of the leaves between its sides, by what growth then finds on
    both; "optimal" by a search of both, so that the least sum of any round bounds the AUC of all
    trees. Where few trees come as near as that, all of them are compared, and ``gap_`` is 0. More
    than 30,000 rows are searched on a sample of 20,000, by "lookahead" only; splits move on all
    rows. A node with more than 40 features is cut by those whose single splits gain most.

    The more trees are compared, the more of what is gained on the training rows is their noise. So
    with ``pruning="cv"`` or "validation" the searched tree competes on rows left out with the one
    that grows and is pruned, and is kept if its AUC there is larger: it is the first row of
    ``pruning_``. The folds take as many searches. Categories are in the order of their shrunken
    rates. With a search ``split`` is "orthogonal", ``missing`` "learn", ``leaf_order`` "eta",
    ``min_gain`` 0, ``max_leaves`` at most 100 and ``min_samples_split`` at most twice
    ``min_samples_leaf``, and rows are in memory.

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

    # The classifiers of a tree split by `WeightedERM` are pickled together with the document.
    _FITTED: ClassVar[tuple[str, ...]] = (*BaseRanker._FITTED, "_classifiers")
    _kept: ClassVar[str] = "_classifiers"
    _answer = staticmethod(predicted_labels)

    _fits_dataset = "rows"
    _classifiers: tuple[Any, ...]

    def __init__(
        self,
        *,
        split: Any = "orthogonal",
        max_depth: int = 10,
        max_leaves: int | None = None,
        search: str = "greedy",
        lookahead: int = 1,
        search_bins: int = 16,
        time_limit: float | None = None,
        min_samples_split: int = 2,
        min_samples_leaf: int = 5,
        min_gain: float = 0.0,
        max_features: Any = None,
        pruning: Any = "cv",
        leaf_order: str = "eta",
        max_fpr: float = 1.0,
        monotonic_cst: Any = None,
        missing: str = "learn",
        max_bins: int | None = 255,
        level_rates: str = "shrunken",
        categorical_features: Any = "from_dtype",
        class_weight: Any = None,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.split = split
        self.max_depth = max_depth
        self.max_leaves = max_leaves
        self.search = search
        self.lookahead = lookahead
        self.search_bins = search_bins
        self.time_limit = time_limit
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.min_gain = min_gain
        self.max_features = max_features
        self.pruning = pruning
        self.leaf_order = leaf_order
        self.max_fpr = max_fpr
        self.monotonic_cst = monotonic_cst
        self.missing = missing
        self.max_bins = max_bins
        self.level_rates = level_rates
        self.categorical_features = categorical_features
        self.class_weight = class_weight
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    @suggests_keywords
    def fit(
        self,
        X: Any,
        y: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        *,
        groups: ArrayLike | None = None,
        time: ArrayLike | None = None,
        gap: Any = None,
        X_val: Any = None,
        y_val: ArrayLike | None = None,
        sample_weight_val: ArrayLike | None = None,
    ) -> Self:
        """Grow the tree on rows of two classes, and prune it.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n, n_features), or Dataset
            Training data. Data frames of pandas, polars and pyarrow may have categorical columns;
            NaN, None and null are missing values. A :class:`~aucrank.data.Dataset` has rows that
            need not fit in memory, and their labels and weights: the model is that of one frame
            with all of its rows.
        y : array-like of shape (n,), default=None
            Labels, two distinct values. The greater one is the class to rank first. None where
            ``X`` is a data set.
        sample_weight : array-like of shape (n,), default=None
            Weight of each row; weight k means the row repeated k times, and weight 0 a row that
            is not there.
        groups : array-like of shape (n,), default=None
            Which rows belong together, such as those of a patient: they stay together in folds, in
            held-out rows and in samples.
        time : array-like of shape (n,), default=None
            When each row was recorded, as numbers or dates: the latest part is held out, and folds
            are ranges of time.
        gap : float, timedelta or None, default=None
            Rows that are nearer in time than this to held-out rows or a fold, or as near, are left
            out of what is fitted without these: a number, or a timedelta if times are dates. For
            outcomes that are known later. Not for a `Dataset`.
        X_val : array-like or data frame of shape (n_val, n_features), default=None
            Validation rows, if ``pruning`` is "validation" or a `ValidationPruning`: the columns of
            ``X``, categories matched by value. None to hold out a part of ``X``.
        y_val : array-like of shape (n_val,), default=None
            Their labels, those of ``y``; both must occur.
        sample_weight_val : array-like of shape (n_val,), default=None
            Weight of each of them.

        Returns
        -------
        self
            The fitted estimator.

        Raises
        ------
        ValueError
            If a parameter, the data, the labels or the weights are not valid, or if there are
            validation rows and ``pruning`` is another rule.
        """
        validation = ValidationSet(X_val, y_val, sample_weight_val)
        return self._fit(X, y, sample_weight, validation, groups=groups, time=time, gap=gap)

    def _core_params(self, scope: ParamScope) -> dict[str, Any]:
        min_samples_leaf = check_int(self.min_samples_leaf, "min_samples_leaf", low=1)
        assert min_samples_leaf is not None
        max_features = check_max_features(self.max_features, scope.n_features)
        split = split_rule(self.split)
        scope = replace(scope, min_samples_leaf=min_samples_leaf, max_features=max_features)
        rule = pruning_rule(self.pruning, split)
        return {
            "binning": binning_params(self.max_bins, self.level_rates, scope.seed),
            "grow": {
                "max_depth": check_int(self.max_depth, "max_depth", low=1),
                "max_leaves": check_int(self.max_leaves, "max_leaves", low=2, optional=True),
                "min_samples_split": check_int(self.min_samples_split, "min_samples_split", low=2),
                "min_samples_leaf": min_samples_leaf,
                "min_gain": check_real(self.min_gain, "min_gain", low=0.0, high_open=True),
                "leaf_order": check_choice(self.leaf_order, "leaf_order", ("eta", "tree")),
                "missing": check_choice(self.missing, "missing", ("learn", "cell_mean")),
                "max_fpr": check_real(self.max_fpr, "max_fpr", low=0.0, high=1.0, low_open=True),
            },
            "split": split._core_params(scope),
            "search": self._search_params(split, rule),
            "pruning": None if rule is None else rule._core_params(scope),
            "monotonic": monotonic_directions(self.monotonic_cst, scope.schema),
            "seed": scope.seed,
        }

    def _search_params(self, split: SplitRule, pruning: Any) -> dict[str, Any] | None:
        search = check_choice(self.search, "search", ("greedy", "lookahead", "optimal"))
        lookahead = check_int(self.lookahead, "lookahead", low=1)
        n_bins = check_int(self.search_bins, "search_bins", low=2, high=255)
        check_time_limit(self.time_limit)
        if search == "greedy":
            return None
        is_penalized = isinstance(pruning, PenalizedPruning)
        for name, is_kept, values in (
            ("split", isinstance(split, OrthogonalSplit), "'orthogonal'"),
            ("max_features", self.max_features is None, "None"),
            ("pruning", not is_penalized, "'cv', 'validation' or None"),
        ):
            if not is_kept:
                raise ValueError(
                    f"{name} is {getattr(self, name)!r}, but must be {values} where trees are"
                    " searched"
                )
        return {"extent": "all" if search == "optimal" else {search: lookahead}, "n_bins": n_bins}

    def _summary(self) -> list[Section]:
        tree = self.tree_
        strata = f"Strata, best first ({self._size()}, training AUC {tree.auc:.4f})"
        return [
            Section(strata, table=tree.strata),
            Section("The tree in words", tree.to_text(inner=True).rstrip("\n")),
        ]

    def _fit_model(self, context: FitContext) -> _core.TreeRankModel:
        sample = context.sample
        fitter = self._external_fitter(sample)
        if context.validation.is_given and fitter is not None:
            raise ValueError(
                "X_val, y_val and sample_weight_val do not go with a WeightedERM, which is"
                " validated on training rows held out"
            )
        model = self._fit_tree(context, fitter)
        if fitter is not None:
            self._classifiers = fitter.kept
            if not self._classifiers:
                self._check_unasked(sample.columns, sample.schema)
        return model

    def _check_for_dataset(self) -> None:
        super()._check_for_dataset()
        check_stumps_of_dataset(self)
        if self.search != "greedy":
            raise refuse_for_dataset("search", self.search, "'greedy'")

    def _dataset_binning(self, params: Any) -> dict[str, Any]:
        # The treatment of rare categories is decided in the fit.
        return {**params["binning"], "level_rates": "raw"}

    def _bytes_of_state(self) -> int:
        # With cross-validation two trees grow at a time, more if there are fewer rows.
        return 4

    def _bytes_in_loop(self) -> int:
        # Ten trees of the folds, and the rows of the nodes that grow.
        return 160

    def _fit_rows(
        self, rows: Rows, params: dict[str, Any], context: RowsContext
    ) -> _core.TreeRankModel:
        model = _core.fit_tree_rank(
            (rows, context.fit_number),
            json.dumps(params),
            context.n_threads,
            observer=context.progress.within(self.time_limit).observer,
        )
        self._report(model, params["pruning"])
        return model

    def _check_unasked(self, columns: Columns, schema: Schema) -> None:
        """Check for missing values as the classifier would, if there is no split that uses it."""
        if not get_tags(self).input_tags.allow_nan:
            refuse_missing(columns, schema, "the classifier of WeightedERM")

    def _external_estimator(self) -> Any:
        return self.split._node_classifier() if isinstance(self.split, SplitRule) else None

    @property
    def gap_(self) -> float | None:
        """Return by how much another tree could exceed the training AUC of the tree.

        Returns
        -------
        float or None
            At least 0; None unless all trees were searched.
        """
        return self._fitted_model.gap

    def rashomon(
        self,
        X: Any,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        *,
        tolerance: float = 0.005,
    ) -> RashomonSet:
        """Find all trees of a few leaves that rank rows nearly as well as the best one.

        Where many trees are nearly the best, the data do not choose between them, and a person may:
        by the features that are cheap to ask for, or by what can be explained. What all of them use
        is needed ([1]_). All trees of at most ``max_leaves`` leaves, 4 if that is None, between the
        bins of the search are compared (``search_bins``, ``max_depth``, ``min_samples_leaf``,
        ``monotonic_cst``, ``max_fpr``), whatever ``search`` and ``pruning`` are. With more than
        about 5 leaves that takes long: set a ``time_limit``.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n, n_features)
            The rows.
        y : array-like of shape (n,)
            Their labels.
        sample_weight : array-like of shape (n,), default=None
            Their weights.
        tolerance : float, default=0.005
            By how much the AUC of a tree, that up to ``max_fpr`` standardised, may be below the
            largest. At least 0.

        Returns
        -------
        RashomonSet
            The trees, the best one first, and how many of them use each feature.

        Raises
        ------
        TypeError, ValueError
            If a parameter or the rows are not valid, more than 20,000 trees are to be listed, or
            the ``time_limit`` is too short to list all.

        References
        ----------
        .. [1] Xin, Zhong, Chen, Takagi, Seltzer and Rudin, "Exploring the whole Rashomon set of
           sparse decision trees", NeurIPS 2022. https://arxiv.org/abs/2209.08040

        Examples
        --------
        >>> from aucrank import TreeRank
        >>> from aucrank.datasets import load_breast_cancer
        >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
        >>> TreeRank(max_leaves=3).rashomon(X, y, tolerance=0.002)
        <RashomonSet: 3 trees within 0.002 of AUC 0.9649; features of all: worst_concave_points>
        """
        allowed = check_real(tolerance, "tolerance", low=0.0, high_open=True)
        assert allowed is not None
        params = self.get_params(deep=False) | {"search": "optimal", "pruning": None}
        if self.max_leaves is None:
            params["max_leaves"] = _LISTED_LEAVES
        searched = _TreesNearBest(**params)
        searched._tolerance = allowed
        searched.fit(X, y, sample_weight)
        schema = searched._schema
        trees = [RankingTree(tree, schema) for tree in searched._fitted_model.near_best()]
        return RashomonSet(trees, allowed)


class _TreesNearBest(TreeRank):
    """A search that lists the trees near the best one, too."""

    _tolerance: float | None = None

    def _search_params(self, split: SplitRule, pruning: Any) -> dict[str, Any] | None:
        params = super()._search_params(split, pruning)
        assert params is not None
        return params | {"tolerance": self._tolerance}


def check_stumps_of_dataset(ranker: Any) -> None:
    """Check that a tree or a forest needs only the bins of rows.

    Raises
    ------
    ValueError
        If it needs more; the message names the parameter.
    """
    split = split_rule(ranker.split)
    if not isinstance(split, OrthogonalSplit | LeafRank):
        raise refuse_for_dataset("split", ranker.split, "'orthogonal' or 'leafrank'")
    if isinstance(split, LeafRank) and split.pruning is not None:
        raise refuse_for_dataset("pruning of the LeafRank", split.pruning, "None")
    if ranker.missing != "learn":
        raise refuse_for_dataset("missing", ranker.missing, "'learn'")
