"""A forest of ranking trees."""

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Self, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_consistent_length, check_is_fitted

from aucrank import _core
from aucrank._base.fit_context import FitContext, ParamScope
from aucrank._base.ranker import BaseRanker, ProbabilityMixin
from aucrank._data.labels import match_labels
from aucrank._data.schema import Schema
from aucrank._data.table import Table
from aucrank._data.weights import check_weight
from aucrank._export.formula import parse
from aucrank._export.links import AboveHalf, Link, OwnFormula
from aucrank._export.shap import shap_model
from aucrank._utils.keywords import suggests_keywords
from aucrank._utils.params import check_bool, check_choice, check_int, check_real
from aucrank._utils.warn import warn_caller
from aucrank._utils.words import plural
from aucrank.tree._dependence import LEAF_VALUES, LeafValue, PartialDependenceMixin
from aucrank.tree._ranking_tree import RankingTree
from aucrank.tree._tree_rank import TreeRank, check_stumps_of_dataset

if TYPE_CHECKING:
    from aucrank.metrics import AucInterval

#: Leaf sizes among which "auto" chooses by out-of-bag rows.
_LEAF_SIZES = (1, 5, 20)

#: Value of "auto" without out-of-bag rows.
_LEAF_SIZE_WITHOUT_BOOTSTRAP = 3

#: Criteria among which "auto" chooses by out-of-bag rows.
_CHOSEN_CRITERIA = ("log_loss", "youden")

CRITERIA = ("youden", "gini", "log_loss")

AGGREGATIONS = ("eta", "rank_mean", "rank_median", "kendall")

#: Bytes of a row in addition to its codes; in a tree whose leaves have one row; and in a tree of
#: each size of leaf that is tried, of which there are at most so many.
_BYTES_OF_ROW, _BYTES_OF_TREE, _BYTES_TRIED, _TRIED_TREES = 200, 14, 22, 60


class RankingForest(PartialDependenceMixin, ProbabilityMixin, BaseRanker):
    """Forest of ranking trees: bagging and random features, with aggregated tree scores.

    Each tree is grown on a bootstrap sample, with features drawn at random for each split ([1]_
    secs. 7 and 8, [2]_), and each cut lowers the log loss of its node or, as in the paper, raises
    the area under the ROC curve: see ``criterion``.

    Parameters
    ----------
    n_estimators : int, default=100
        Number of trees.
    split : {"orthogonal", "leafrank"} or split rule, default="orthogonal"
        How a node is split: by one stump, by a small tree of stumps whose cells are merged, or by
        an `OrthogonalSplit` or `LeafRank` with parameters of its own.
    max_depth : int or None, default=None
        Maximal number of splits between the root and a leaf of a tree; None for no bound.
    max_leaves : int or None, default=None
        Maximal number of leaves of a tree, at least 2: the leaf whose split raises the AUC of its
        rows most is split first. None for any number.
    min_samples_split : int, default=2
        Minimal number of rows of a node to be split; a row drawn twice counts twice.
    min_samples_leaf : int or "auto", default="auto"
        Minimal number of rows on each side of a split; a row drawn twice counts twice. "auto" takes
        1, 5 or 20, whichever ranks out-of-bag rows best; for this, 60 trees of each size are grown,
        or ``n_estimators`` if fewer: with few trees, large leaves would win too often. From 5,000
        rows on it takes 20 trees, by which the AUC of the whole forest is extrapolated, and 1 is
        tried only if 5 is better than 20. Trees of the chosen size are the first of the forest, the
        others are freed. Without ``bootstrap`` no row is out of bag, and "auto" is 3.
    min_gain : float, default=0.0
        A split must raise the AUC of its tree by more than this.
    max_features : int, float, {"sqrt", "log2"} or None, default="sqrt"
        Features drawn at random for each stump: a number, a share of all, their square root or
        logarithm, or None for all. If none of those drawn gains, others are drawn.
    criterion : {"log_loss", "gini", "youden", "auto"}, default="log_loss"
        How the cuts of a node are compared, including random ones: by the decrease of the entropy
        of the classes or of their Gini impurity; or by the difference of the true and false
        positive rates on the side that ranks first, which is the gain in AUC and the criterion of
        the papers. "auto" takes "log_loss" or "youden", whichever ranks out-of-bag rows best, by as
        many trees as for each size of leaf; without ``bootstrap`` it is "log_loss".
    cuts : {"best", "random"}, default="best"
        Which thresholds of a number are tried for a stump: all, taking the best, or one random
        threshold per sampled feature, as in extremely randomised trees: with ``bootstrap=False``
        trees then differ only by their cuts. Sets of categories are always the best ones.
    bootstrap : bool, default=True
        Whether each tree is grown on a sample drawn with replacement, or on all rows. Sampling is
        stratified by class, so that every tree has both in their shares.
    max_samples : int, float or None, default=None
        Rows drawn for each tree: a number, a share of all, or None for as many as there are.
    aggregation : {"eta", "rank_mean", "rank_median", "kendall"}, default="eta"
        How tree scores are aggregated: the mean of the shares of positives in the leaves; the mean
        or the median of the rank that each tree gives the row (the share of its training rows that
        it ranks below it); or a consensus of the rankings, see Notes.
    leaf_order : {"eta", "tree"}, default="eta"
        How each tree ranks its leaves: by their share of positives, or from left to right. It has
        no effect on the mean of shares.
    oob_score : bool, default=False
        Whether to estimate the AUC on out-of-bag rows; requires ``bootstrap``. With
        ``min_samples_leaf="auto"``, these rows also choose one of three sizes.
    n_iter_no_change : int or None, default=None
        Stop when the out-of-bag AUC has not risen by more than ``tol`` for this number of trees;
        checked every ten trees. None to grow all trees.
    tol : float, default=1e-4
        Minimal increase.
    warm_start : bool, default=False
        Keep the trees of the last fit and add trees up to ``n_estimators``. On the same rows, 10
        trees and 10 more equal the 20 trees of one fit, bit for bit, also without a
        ``random_state``: the forest keeps its seed and the choice of "auto".
    monotonic_cst : array-like of int of shape (n_features,), dict or None, default=None
        Features with which the score may only rise (1) or only fall (-1), as in `TreeRank`; applies
        to every aggregation.
    missing : {"learn", "cell_mean"}, default="learn"
        Where missing values go, as in `TreeRank`.
    max_bins : int or None, default=255
        Maximal number of bins of a numeric feature, as in `TreeRank`.
    level_rates : {"shrunken", "raw"}, default="shrunken"
        Class rates of categories used to choose sets of them. "shrunken": rates are shrunk towards
        that of all rows as far as chance explains their differences; with more than six categories,
        those of fewer than ten training rows count as missing, see :ref:`categories <level-rates>`;
        where rare ones hold more than 5 % of the rows, trees may also split them by their rates,
        learned on other folds of the rows, and by their numbers of rows. "raw": the observed rates,
        the exhaustive search of the papers, which fits noise where there are many categories.
    categorical_features : "from_dtype", list or None, default="from_dtype"
        Which columns hold categories, as in `TreeRank`.
    class_weight : dict, "balanced" or None, default=None
        Factor on the weights of the rows of each class; "balanced" gives both classes the same
        total. It shifts probabilities, and with them the predicted labels; the ranking, which
        weights the classes by their rates, hardly changes.
    n_jobs : int or None, default=None
        Number of threads: None for one per core as far as ``OMP_NUM_THREADS`` allows, -1 for all
        cores. The forest does not depend on it.
    random_state : int, RandomState instance or None, default=None
        Seeds the samples of rows and features.
    verbose : int, default=0
        If 1, print a line after every tenth tree, and at the end the out-of-bag AUC if there is
        one; if greater, after every tree.

    Attributes
    ----------
    estimators_ : sequence of RankingTree
        The trees.
    min_samples_leaf_ : int
        Minimal number of rows on each side of a split: ``min_samples_leaf``, or the value chosen.
    criterion_ : {"log_loss", "gini", "youden"}
        Criterion of the cuts: ``criterion``, or the choice of "auto".
    oob_score_ : float
        Out-of-bag AUC: each row is scored by the trees that were not grown on it. Only with
        ``oob_score`` or ``n_iter_no_change``.
    oob_path_ : Table
        Out-of-bag AUC (``auc``) by number of trees (``n_estimators``). Only with
        ``n_iter_no_change``.
    feature_importances_ : ndarray of shape (n_features,)
        Mean over the trees of the square root of the sum of squared gains of the stumps on each
        feature, in units of AUC (sec. 5.1 of [1]_).
    feature_importances_std_ : ndarray of shape (n_features,)
        Its standard deviation over the trees.
    importances : Table
        The two by feature, the most important first.
    classes_ : ndarray of shape (2,)
        Sorted labels; the second is the class to rank first.
    n_features_in_ : int
        Number of columns seen during :term:`fit`.
    feature_names_in_ : ndarray of shape (n_features,)
        Their names, if any.

    See Also
    --------
    TreeRank : One tree, which is readable.
    sklearn.ensemble.RandomForestClassifier : A forest of trees that are grown to classify.

    Notes
    -----
    No single leaf size suits all data: over 16 real data sets of at most 5,000 rows, unchanged and
    with noise columns, flipped labels, few rows and few positives
    (``benches/studies/forest_study.py``), 100 trees of 1, 3, 5, 10 or 20 rows a leaf are -0.39 to
    0.65 points of AUC (hundredths) from scikit-learn's random forest of 500 trees. The choice by
    out-of-bag rows is 0.80 points above it, and 1.14 with 300 trees.

    The difference of rates gives almost no credit to a cut that separates a few pure rows, and rare
    values of many columns give such cuts: ``criterion="youden"`` ranks musk1 (317 training rows,
    166 columns) 2.4 points of AUC below the log loss. Over 16 and 12 other real data sets of at
    most 3,000 rows, 300 trees by the log loss gain 0.51 and -0.25 points over scikit-learn's forest
    of 500 trees (medians 0.41 and 0.31), by Gini impurity 0.19 and -0.26, by the difference of
    rates 0.28 and -0.85, each with the leaf size chosen by out-of-bag rows
    (``benches/studies/forest_study.py --criteria``). In one of the twelve nearly all categories
    have fewer than ten rows; without it the second means are 1.46, 1.49 and 0.83.

    `predict_proba` is the mean share of positives in the leaves. For the other aggregations it is
    the share of positives among training rows with about the same score (out of bag with
    ``bootstrap``), made monotone by pooling adjacent violators; medians and consensus scores are
    calibrated, and their out-of-bag AUC is estimated, on at most 20,000 rows.

    "kendall" is Copeland's method with a local search. At most 512 training rows are ordered by the
    number of others that they beat in a majority of trees, ties by the sum of the majorities
    (Borda); then neighbours are swapped until no majority is against any of them (local
    Kemenisation [3]_). A row gets the position among them that contradicts the fewest pairs of the
    trees; rows in one position are ordered by their mean rank.

    References
    ----------
    .. [1] Clémençon, Depecker and Vayatis, "Adaptive partitioning schemes for bipartite ranking",
       Mach. Learn. 83, 2011. https://hal.science/hal-00416054
    .. [2] Breiman, "Random forests", Mach. Learn. 45, 2001. :doi:`10.1023/A:1010933404324`
    .. [3] Dwork, Kumar, Naor and Sivakumar, "Rank aggregation methods for the Web", WWW 2001.
       :doi:`10.1145/371920.372165`

    Examples
    --------
    >>> from aucrank import RankingForest
    >>> from aucrank.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> forest = RankingForest(oob_score=True, random_state=0).fit(X, y)
    >>> forest.oob_score_ > 0.98
    True
    >>> interval = forest.oob_interval()
    >>> interval.low < interval.auc < interval.high
    True
    """

    _family = "ranking_forest"
    _fits_dataset = "codes"
    _model: _core.RankingForest

    def __init__(
        self,
        *,
        n_estimators: int = 100,
        split: Any = "orthogonal",
        max_depth: int | None = None,
        max_leaves: int | None = None,
        min_samples_split: int = 2,
        min_samples_leaf: Any = "auto",
        min_gain: float = 0.0,
        max_features: Any = "sqrt",
        criterion: str = "log_loss",
        cuts: str = "best",
        bootstrap: bool = True,
        max_samples: float | None = None,
        aggregation: str = "eta",
        leaf_order: str = "eta",
        oob_score: bool = False,
        n_iter_no_change: int | None = None,
        tol: float = 1e-4,
        warm_start: bool = False,
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
        self.n_estimators = n_estimators
        self.split = split
        self.max_depth = max_depth
        self.max_leaves = max_leaves
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.min_gain = min_gain
        self.max_features = max_features
        self.criterion = criterion
        self.cuts = cuts
        self.bootstrap = bootstrap
        self.max_samples = max_samples
        self.aggregation = aggregation
        self.leaf_order = leaf_order
        self.oob_score = oob_score
        self.n_iter_no_change = n_iter_no_change
        self.tol = tol
        self.warm_start = warm_start
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
    ) -> Self:
        """Fit the forest to rows of two classes.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n, n_features), or Dataset
            Training data, as for `TreeRank`. A :class:`~aucrank.data.Dataset` has rows that need
            not fit in memory, and their labels and weights: the model is that of one frame with all
            of its rows.
        y : array-like of shape (n,), default=None
            Labels, two distinct values. The greater one is the class to rank first. None where
            ``X`` is a data set.
        sample_weight : array-like of shape (n,), default=None
            Weight of each row in the gains; rows are drawn with equal probability whatever their
            weight, those of weight 0 never.
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

        Returns
        -------
        self
            The fitted estimator.

        Raises
        ------
        ValueError
            If a parameter, the data, the labels or the weights are not valid; if ``warm_start`` is
            set and the columns or classes are not those of the last fit; or if trees of the last
            fit, which were grown on other rows or samples, would have to score out-of-bag rows
            (``oob_score``, ``n_iter_no_change``, aggregated rankings).
        """
        return self._fit(X, y, sample_weight, groups=groups, time=time, gap=gap)

    def _size(self) -> str:
        return plural(self._fitted_model.n_trees, "tree")

    def _link(self) -> Link:
        own = self._model.probability_formula()
        return AboveHalf() if own is None else OwnFormula(parse(json.loads(own)))

    def _bytes_held(self, n_rows: int, n_columns: int) -> int:
        """Return how many bytes a fit to a `Dataset` takes for codes and for trees."""
        if self.min_samples_leaf == "auto":
            tried = _BYTES_TRIED * min(self.n_estimators, _TRIED_TREES)
            of_trees = max(tried, _BYTES_OF_TREE * self.n_estimators)
        else:
            of_trees = _BYTES_OF_TREE * self.n_estimators // self.min_samples_leaf
        return super()._bytes_held(n_rows, n_columns) + (_BYTES_OF_ROW + of_trees) * n_rows

    def _core_params(self, scope: ParamScope) -> dict[str, Any]:
        check_bool(self.warm_start, "warm_start")
        n_estimators = check_int(self.n_estimators, "n_estimators", low=1)
        max_depth = check_int(self.max_depth, "max_depth", low=1, optional=True)
        bootstrap = check_bool(self.bootstrap, "bootstrap")
        leaf_sizes = self._leaf_sizes(bootstrap)
        criteria = self._criteria(bootstrap)
        tree = TreeRank(
            split=self.split,
            max_depth=2**31 if max_depth is None else max_depth,
            max_leaves=self.max_leaves,
            min_samples_split=self.min_samples_split,
            min_samples_leaf=leaf_sizes[0],
            min_gain=self.min_gain,
            max_features=self.max_features,
            pruning=None,
            leaf_order=self.leaf_order,
            monotonic_cst=self.monotonic_cst,
            missing=self.missing,
            max_bins=self.max_bins,
            level_rates=self.level_rates,
        )
        cuts = check_choice(self.cuts, "cuts", ("best", "random"))
        share = self._share(scope.n_rows)
        if not bootstrap and self.max_samples is not None:
            raise ValueError("max_samples needs bootstrap=True: without it a tree sees all rows")
        oob_score = check_bool(self.oob_score, "oob_score")
        patience = check_int(self.n_iter_no_change, "n_iter_no_change", low=1, optional=True)
        tol = check_real(self.tol, "tol", low=0.0, high_open=True)
        if not bootstrap and (oob_score or patience is not None):
            parameter = "oob_score" if oob_score else "n_iter_no_change"
            raise ValueError(f"{parameter} needs bootstrap=True: without it no row is out of bag")
        aggregation = check_choice(self.aggregation, "aggregation", AGGREGATIONS)
        if aggregation == "kendall" and patience is not None:
            raise ValueError(
                "n_iter_no_change does not go with aggregation='kendall', whose consensus is"
                " formed of all trees; stop with another aggregation first"
            )
        stopping = None if patience is None else {"n_iter_no_change": patience, "tol": tol}
        return {
            "tree": tree._core_params(replace(scope, cuts=cuts, criterion=criteria[0])),
            "leaf_sizes": leaf_sizes if len(leaf_sizes) > 1 else [],
            "criteria": criteria if len(criteria) > 1 else [],
            "n_trees": n_estimators,
            "bootstrap": {"share": share} if bootstrap else None,
            "aggregation": aggregation,
            "out_of_bag": oob_score,
            "early_stopping": stopping,
        }

    def _leaf_sizes(self, bootstrap: bool) -> tuple[int, ...]:
        """Return the leaf sizes to choose among; a single one if it is fixed."""
        size = self.min_samples_leaf
        if isinstance(size, str):
            check_choice(size, "min_samples_leaf", ("auto",))
            return _LEAF_SIZES if bootstrap else (_LEAF_SIZE_WITHOUT_BOOTSTRAP,)
        number = check_int(size, "min_samples_leaf", low=1)
        assert number is not None
        return (number,)

    def _criteria(self, bootstrap: bool) -> tuple[str, ...]:
        """Return the criteria to choose among; a single one if it is fixed."""
        criterion = check_choice(self.criterion, "criterion", ("auto", *CRITERIA))
        if criterion != "auto":
            return (criterion,)
        return _CHOSEN_CRITERIA if bootstrap else _CHOSEN_CRITERIA[:1]

    def _share(self, n_rows: int) -> float:
        """Return the share of rows drawn for a tree."""
        if self.max_samples is None:
            return 1.0
        if isinstance(self.max_samples, int | np.integer) and not isinstance(
            self.max_samples, bool
        ):
            number = check_int(self.max_samples, "max_samples", low=1)
            assert number is not None
            if number > n_rows > 1:
                raise ValueError(
                    f"max_samples must be at most the number of rows, {n_rows}; got {number}"
                )
            return min(1.0, number / n_rows)
        share = check_real(self.max_samples, "max_samples", low=0.0, high=1.0, low_open=True)
        assert share is not None
        return share

    def _check_for_dataset(self) -> None:
        super()._check_for_dataset()
        check_stumps_of_dataset(self)

    def _dataset_binning(self, params: Any) -> dict[str, Any]:
        binning: dict[str, Any] = params["tree"]["binning"]
        return binning

    def _fit_model(self, context: FitContext) -> _core.RankingForest:
        earlier = context.earlier
        if earlier is not None:
            context = context.going_on(self, "n_estimators", earlier.model.n_trees, "trees")
        model = _core.fit_ranking_forest(
            context.sample.core,
            json.dumps(self._core_params(context.scope)),
            None if earlier is None else earlier.model,
            context.n_threads,
            context.progress.observer,
        )
        found = model.out_of_bag()
        if found is None and (self.oob_score or self.n_iter_no_change is not None):
            warn_caller(
                "Every tree has seen all rows of a class, so there is no out-of-bag AUC; more"
                " trees or rows would give one.",
            )
        if self.verbose > 0:
            oob = f", out-of-bag AUC {found['auc']:.4f}" if found else ""
            chosen = self.min_samples_leaf == "auto"
            leaves = f", min_samples_leaf {model.min_samples_leaf}" if chosen else ""
            print(f"[RankingForest] {model.n_trees} trees{leaves}{oob}")
        return model

    @property
    def _fitted_model(self) -> _core.RankingForest:
        check_is_fitted(self)
        return self._model

    @property
    def estimators_(self) -> Sequence[RankingTree]:
        """Return the trees, each created on access.

        Returns
        -------
        sequence of RankingTree
            As many as were grown.
        """
        return _Trees(self._fitted_model, self._schema)

    @property
    def min_samples_leaf_(self) -> int:
        """Return the minimal number of rows on each side of a split.

        Returns
        -------
        int
            At least 1; for a forest grown in several fits, that of the last.
        """
        size = self._fitted_model.min_samples_leaf
        if size is None:
            raise AttributeError("a file of an earlier version does not store min_samples_leaf_")
        return size

    @property
    def criterion_(self) -> str:
        """Return the criterion of the cuts.

        Returns
        -------
        {"youden", "gini", "log_loss"}
            ``criterion``, or the choice of "auto"; for a forest grown in several fits, that of the
            last.
        """
        return self._fitted_model.criterion

    @property
    def oob_score_(self) -> float:
        """Return the out-of-bag AUC.

        Returns
        -------
        float
            From 0 to 1.
        """
        return float(self._out_of_bag["auc"])

    def oob_interval(self, *, confidence: float = 0.95) -> "AucInterval":
        """Return the out-of-bag AUC with a confidence interval.

        Parameters
        ----------
        confidence : float, default=0.95
            Coverage of the AUC by the interval, for a fixed forest.

        Returns
        -------
        AucInterval
            As `aucrank.metrics.auc_interval` gives it.

        Raises
        ------
        AttributeError
            If the forest was fitted without ``oob_score``.
        """
        from aucrank.metrics._inference import check_confidence, interval_of

        check_confidence(confidence)
        found = self._out_of_bag
        effective = tuple(found["effective_rows"])
        return interval_of(found["auc"], found["variance"], effective, confidence)

    @property
    def oob_path_(self) -> Table:
        """Return the out-of-bag AUC by number of trees.

        Returns
        -------
        Table
            Columns ``n_estimators`` and ``auc``.
        """
        found = self._out_of_bag
        if not found["path_trees"]:
            raise AttributeError("oob_path_ needs n_iter_no_change: without it nothing is followed")
        return Table(n_estimators=np.array(found["path_trees"]), auc=found["path_aucs"])

    @property
    def _out_of_bag(self) -> dict[str, Any]:
        found = self._fitted_model.out_of_bag()
        if found is None:
            raise AttributeError("there is no out-of-bag AUC: fit with oob_score=True")
        return found

    @property
    def feature_importances_(self) -> NDArray[np.float64]:
        """Return the mean importance of each feature over the trees.

        Returns
        -------
        ndarray of shape (n_features,)
            In units of AUC.
        """
        return self._fitted_model.importances()

    @property
    def feature_importances_std_(self) -> NDArray[np.float64]:
        """Return the standard deviation of the importance of each feature over the trees.

        Returns
        -------
        ndarray of shape (n_features,)
            In units of AUC.
        """
        return self._fitted_model.importance_spread()

    @property
    def importances(self) -> Table:
        """Return one row for each feature, from the most important to the least.

        Returns
        -------
        Table
            ``feature``, its name, ``x0`` for the first one if it has none; ``importance`` and
            ``std``, mean and standard deviation over the trees, in units of AUC; ``share``, its
            share of the sum of importances.
        """
        importance, spread = self.feature_importances_, self.feature_importances_std_
        names = np.array(self._schema.shown_names, dtype=object)
        order = np.argsort(-importance, kind="stable")
        total = importance.sum()
        return Table(
            feature=names[order],
            importance=importance[order],
            std=spread[order],
            share=importance[order] / (total if total > 0 else 1.0),
        )

    def to_shap(self, output: LeafValue = "score") -> dict[str, Any]:
        """Return the forest as a model for `shap.TreeExplainer`.

        Parameters
        ----------
        output : {"score", "probability", "eta", "rank"}, default="score"
            Output to explain: `decision_function`, if ``aggregation`` is "eta" or "rank_mean";
            `predict_proba` of ``classes_[1]``, if it is "eta"; or the mean over the trees of the
            share of positives of the leaf, or of the share of the training rows of the tree that
            rank below it, plus half of its own.

        Returns
        -------
        dict
            Plain binary trees of thresholds, as from `RankingTree.to_shap`.

        Raises
        ------
        ValueError
            If the output is not a mean of leaf values, if a tree splits on a categorical feature,
            or if too many nodes would be needed.

        Notes
        -----
        The expected value of the explainer is the mean output over the bootstrap samples, which is
        close to that of the training rows, but not equal to it.

        Examples
        --------
        >>> from aucrank import RankingForest
        >>> from aucrank.datasets import load_breast_cancer
        >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
        >>> forest = RankingForest(n_estimators=10, random_state=0).fit(X, y)
        >>> len(forest.to_shap()["trees"])
        10

        With shap installed, ``shap.TreeExplainer(forest.to_shap())(X)`` explains the scores.
        """
        values = self._leaf_values(output, "output", "shap.Explainer(model.decision_function, X)")
        trees = zip(self.estimators_, values, strict=True)
        return shap_model([tree._tree(of_leaves) for tree, of_leaves in trees], self._schema)

    def _check_kind(self, kind: Any) -> None:
        brute = "sklearn.inspection.partial_dependence(model, X, features, method='brute')"
        self._leaf_values(kind, "kind", brute)

    def _leaf_values(self, value: Any, name: str, instead: str) -> list[NDArray[np.float64]]:
        """Return the leaf values of each tree, whose mean is the output of the forest."""
        check_choice(value, name, LEAF_VALUES)
        values = self._fitted_model.leaf_values(value)
        if values is None:
            raise ValueError(
                f"the {value} of a forest with aggregation={self.aggregation!r} is not a mean of"
                f" what its leaves say, as 'rank' and 'eta' are; {instead} takes any model"
            )
        return values

    def strata(
        self,
        X: Any,
        y: ArrayLike,
        *,
        n_strata: int = 10,
        sample_weight: ArrayLike | None = None,
    ) -> Table:
        """Divide rows into strata of about equal weight by the score of the forest.

        Parameters
        ----------
        X : array-like or data frame of shape (n, n_features)
            Rows with the columns seen in fit, preferably not those of the fit.
        y : array-like of shape (n,)
            Their labels; both classes must occur.
        n_strata : int, default=10
            Number of strata; there are fewer if many rows have the same score.
        sample_weight : array-like of shape (n,), default=None
            Weight of each row.

        Returns
        -------
        Table
            One row for each stratum, from the highest scores to the lowest: ``rank``, from 1;
            ``score_from`` and ``score_to``, its highest and lowest score; ``size`` and ``n_pos``,
            weight of the rows and of the positive ones; ``eta``, their share; ``lift``, that share
            divided by the share of all rows; ``fpr_from``, ``fpr_to``, ``tpr_from``, ``tpr_to``,
            false and true positive rates at both ends of the stratum.
        """
        number = check_int(n_strata, "n_strata", low=1)
        assert number is not None
        score = self.decision_function(X)
        positive = match_labels(y, self.classes_)
        check_consistent_length(score, positive)
        weight = check_weight(sample_weight, len(positive))
        weight = np.ones(len(positive)) if weight is None else weight
        there = weight > 0
        if not (positive[there].any() and (~positive[there]).any()):
            raise ValueError("strata need rows of both classes, of positive weight")
        return _strata(score[there], positive[there], weight[there], number)


class _Trees(Sequence[RankingTree]):
    """Trees of a forest by number."""

    def __init__(self, model: _core.RankingForest, schema: Schema) -> None:
        self._model = model
        self._schema = schema

    def __len__(self) -> int:
        return self._model.n_trees

    @overload
    def __getitem__(self, index: int) -> RankingTree: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[RankingTree]: ...
    def __getitem__(self, index: int | slice) -> RankingTree | Sequence[RankingTree]:
        numbers = range(len(self))[index]
        if isinstance(numbers, range):
            return [self[number] for number in numbers]
        return RankingTree(self._model.tree(numbers), self._schema)


def _strata(
    score: NDArray[np.float64],
    positive: NDArray[np.bool_],
    weight: NDArray[np.float64],
    n_strata: int,
) -> Table:
    order = np.argsort(-score, kind="stable")
    score, weight = score[order], weight[order]
    pos = np.where(positive[order], weight, 0.0)
    above = np.cumsum(weight)
    # A stratum ends with the last of the rows that tie with the one at the quantile.
    wanted = np.searchsorted(above, above[-1] * np.arange(1, n_strata + 1) / n_strata)
    last = np.flatnonzero(np.append(score[1:] != score[:-1], True))
    ends = np.unique(last[np.searchsorted(last, np.minimum(wanted, len(score) - 1))])
    starts = np.concatenate(([0], ends[:-1] + 1))
    size, n_pos = np.add.reduceat(weight, starts), np.add.reduceat(pos, starts)
    fpr, tpr = (
        np.concatenate(([0.0], np.cumsum(part) / part.sum())) for part in (size - n_pos, n_pos)
    )
    return Table(
        rank=np.arange(1, len(ends) + 1),
        score_from=score[starts],
        score_to=score[ends],
        size=size,
        n_pos=n_pos,
        eta=n_pos / size,
        lift=n_pos / size / (n_pos.sum() / size.sum()),
        fpr_from=fpr[:-1],
        fpr_to=fpr[1:],
        tpr_from=tpr[:-1],
        tpr_to=tpr[1:],
    )
