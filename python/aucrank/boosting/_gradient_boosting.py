"""GradientBoostingRanker: gradient boosting of small trees."""

import json
from collections.abc import Iterator
from itertools import combinations
from numbers import Integral
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from aucrank import _core
from aucrank._base.calibrated import CalibratedRanker
from aucrank._base.fit_context import FitContext, ParamScope, RowsContext
from aucrank._base.monotonic import monotonic_directions
from aucrank._base.summary import Section
from aucrank._base.validation_set import ValidationSet
from aucrank._data.as_frame import as_frame
from aucrank._data.column_lookup import Wording, find_column
from aucrank._data.input import count_rows, read_columns
from aucrank._data.schema import Schema, errors_by_name
from aucrank._data.table import Table
from aucrank._export.formula import Branch, Tree, parse
from aucrank._export.links import Link, LogOdds
from aucrank._export.rules import Words
from aucrank._export.shap import shap_model
from aucrank._utils.keywords import suggests_keywords
from aucrank._utils.numbers import rounded
from aucrank._utils.params import (
    binning_params,
    check_bool,
    check_choice,
    check_int,
    check_max_features,
    check_real,
    check_time_limit,
)
from aucrank._utils.threads import threads_for
from aucrank._utils.words import area_up_to, plural
from aucrank.boosting._held_out import (
    check_refit,
    held_out_fraction,
    patience,
    read_validation,
    warn_of_rounds,
)
from aucrank.boosting._pairs import PairTermsMixin, names_of_pairs
from aucrank.data._dataset import refuse_for_dataset
from aucrank.data._stored import Rows

#: Settings for additive models, chosen by `benches.studies.additive_study`.
_ADDITIVE: dict[str, Any] = {
    "interactions": 0,
    "n_rounds": 3000,
    "learning_rate": 0.1,
    "max_leaves": 3,
    "cuts": "random",
    "l2": 1.0,
    "max_features": 0.3,
    "early_stopping": True,
    "scoring": "loss",
    "validation_fraction": "auto",
    "n_iter_no_change": 50,
    "refit": False,
    "n_bags": 8,
}
#: Number of bags with early stopping, each by its own fold.
_BAGS = 5
#: Share of the rows that a single bag holds out for early stopping.
_SHARE = 0.1
#: Bytes of the sums of a pair of categories in the folds of a bag, as they are sent.
_BYTES_OF_PAIR = 30
#: Maximal number of pairs of features that a fit chooses.
_MOST_PAIRS = 1000
_LOSSES = ("log", "pair_exponential", "pair_logistic")
_WORDING = Wording(
    unnamed="interactions names {column!r}, but X has no column names",
    unknown="interactions names {column!r}, which is not a column of X",
    beyond="interactions has the position {column}, but X has columns 0 to {last}",
    neither="interactions must name features by name or position, got {column!r}",
)


def _paths(model: _core.GradientBoosted) -> list[dict[str, Any]]:
    """Return the validation paths of the model or of each of its bags."""
    of_model = model.held_out()
    paths = model.held_out_of_bags() if of_model is None else [of_model]
    return [path for path in paths if path is not None]


class GradientBoostingRanker(PairTermsMixin, CalibratedRanker):
    """Gradient boosting of small trees over binned features: the most accurate single ranker here.

    Each round fits a tree to the gradient of a loss and sets its leaves to the value of a Newton
    step ([1]_, [2]_). Sums over rows are exact, so that the model does not depend on the number of
    threads, the order of the rows or the platform, and a row of weight k is k copies of it.

    Parameters
    ----------
    loss : {"log", "pair_exponential", "pair_logistic"}, default="log"
        The loss to minimise: log loss; or the mean over all pairs of a positive and a negative row
        of the exponential or the logistic loss of the difference of their scores, as the AUC is a
        mean over pairs. Log loss ranks as well as those, and gives probabilities.
    max_fpr : float, default=1.0
        Focus on false positive rates up to this one, above 0 and at most 1, where only the top of a
        list is acted on. Below 1, in losses over pairs the share ``max_fpr`` of the negative rows
        with the highest scores has full weight, and the others have weight 0.3; ``early_stopping``
        monitors the partial AUC. Cannot be combined with ``loss="log"``, which has no pairs. See
        Notes.
    n_rounds : int, default=3000
        Maximal number of rounds, with one tree per bag; with a number of ``interactions``, the
        maximum for rounds of single features, and again for rounds of pairs. There are fewer with
        ``early_stopping``, and if no split lowers the loss.
    learning_rate : float or "auto", default="auto"
        Factor on the values of the leaves, above 0 and at most 1. "auto":
        ``0.025 (n / 1000)**0.33 (n_rounds / 300)**-0.62 (max_leaves / 32)**-0.24`` for ``n`` rows,
        at most 0.3; with ``early_stopping`` at least 0.05, times ``(n / 20000)**0.5`` beyond 20,000
        rows, up to 0.15. From 20,000 rows on, 1.5 times that, up to 0.15, if the trial of
        ``max_leaves`` takes more than 100 rounds.
    max_leaves : int, list of int or "auto", default="auto"
        Maximal number of leaves of a tree; the leaf with the largest gain is split first. A list
        of numbers to choose from, such as ``[32, 16, 8]``, needs ``early_stopping``: the first two
        bags (from 20,000 rows on the first) are fitted with each, for up to 300 rounds, and the one
        that is best on their held-out rows is kept. "auto": 32, or with ``early_stopping`` and
        without ``warm_start`` one of 32 and 8, from 20,000 rows on one of 32 and 128. Few leaves
        suit weak signals.
    max_depth : int or None, default=None
        Maximal number of splits between the root and a leaf; None for no bound.
    min_samples_leaf : int, float or "auto", default="auto"
        Minimal number of rows on each side of a split: a number, a share of all, or "auto" for a
        hundredth of all, but from 2 to 20.
    l2 : float, default=1.0
        Added to the sum of the hessians of a leaf, which shrinks its value towards 0.
    min_gain : float, default=0.0
        A split must lower the loss, summed over rows, by more than this.
    cuts : {"best", "random"}, default="random"
        Where numbers are cut: at the best place, or at one random place per feature and node, the
        best of which is taken. Random cuts give smoother scores, which are better with few rows;
        with many rows, and if a tree may use few features, the best cuts gain more.
    subsample : float, default=0.8
        Share of the distinct rows that each tree is fitted to, above 0 and at most 1. Copies of a
        row are sampled together.
    max_features : int, float, {"sqrt", "log2"} or None, default=0.6
        Features drawn at random for each tree: a number, a share of all, their square root or
        logarithm, or None for all. Where the sampled rows and features are uninformative, the tree
        learns from all of them.
    interactions : int, "auto", list of lists or None, default=None
        Which features a tree may use together. None: any. 0: none, so that each tree uses one
        feature and the score is a sum of one function per feature. A number k: rounds of single
        features come first, then as many rounds of pairs; at most k pairs are chosen in between by
        their gain over their two features alone, if it is more than chance (see Notes); at most
        1000. "auto": likewise, with the three strongest pairs per feature and no test against
        chance; ``early_stopping`` chooses the number of their rounds, which may be 0. A list of
        groups of features, by name or position: those of one group; a feature in no group is used
        alone. If no tree uses more than two features, `terms` and `pair_terms` list the functions
        that the score is a sum of, `explain` adds them up and `plot_terms` draws them. A number of
        pairs and "auto" cannot be combined with ``warm_start``.
    monotonic_cst : array-like of int of shape (n_features,), dict or None, default=None
        Features with which the score may only rise (1) or only fall (-1), or 0 for neither; a dict
        gives them by column name. Missing values are free.
    category_pairs : False or "auto", default="auto"
        Whether trees may also split on pairs of categories of two features, by their rates of
        positives in other folds of the rows. "auto": with ``early_stopping`` and without
        ``warm_start``, if it improves the loss of held-out rows; see Notes. False: never.
    early_stopping : bool or "auto", default="auto"
        Whether to hold rows out, stop when their ranking no longer improves, and keep the rounds up
        to the best. "auto": unless ``warm_start`` is set.
    scoring : {"auc", "loss"}, default="loss"
        Criterion on held-out rows; both up to ``max_fpr``. Where few rows are positive, average
        precision was measured, too: it chooses no better than "loss", see :ref:`few rows
        <few-rows>`.
    validation_fraction : float or "auto", default="auto"
        Which rows are held out, for ``early_stopping`` without an ``X_val``. A number: this share
        of the distinct rows of each class, above 0 and below 1, sampled separately for each bag,
        which keeps its own number of rounds. "auto": as many folds as bags, a different one for
        each bag, so that every row is held out once; all bags keep the number of rounds that is
        best for the mean of the folds. A single bag holds out a tenth.
    n_iter_no_change : int, default=50
        Rounds without an improvement after which ``early_stopping`` stops.
    tol : float, default=0.0
        Minimal improvement.
    refit : bool, "leaves" or "auto", default="auto"
        What is fitted again to all rows, with the chosen number of rounds. True: all trees, in as
        much time again. "leaves": only the values of the leaves, tree by tree; the splits are kept,
        as is ``validation_path_``. False: nothing. "auto": "leaves" with log loss, unless there is
        ``X_val``, ``monotonic_cst`` or ``warm_start``, or pairs of features are chosen; else False.
        True and "leaves" cannot be combined with ``warm_start``, nor "leaves" with any of those.
    n_bags : int or "auto", default="auto"
        Number of models that are fitted, each with its own seed, and averaged into one. They differ
        in what is sampled, for each tree by ``subsample``, ``max_features`` and random ``cuts``,
        and once by ``early_stopping``; if nothing is sampled, all are the same. More than one
        cannot be combined with ``warm_start``. "auto": 5 with ``early_stopping``, unless there is
        ``X_val`` or ``warm_start``; else 1.
    time_limit : float or None, default=None
        Seconds since the start of `fit`, reading the rows included, after which no further round
        begins; the rounds up to the best one so far are kept. The trials of ``max_leaves`` and
        ``category_pairs`` end after two fifths of it. None for no limit. The model then
        depends on the speed of the machine. A round by queries to the rows is left unfinished,
        unless it is the first.
    warm_start : bool, default=False
        Whether `fit` continues from the rounds of the last fit, up to ``n_rounds``. On the same
        rows, 10 rounds and 10 more equal the 20 rounds of one fit, bit for bit, if
        ``learning_rate`` is a number; the model keeps its seed.
    max_bins : int, default=255
        Maximal number of bins of a numeric feature, from 2 to 255, cut at quantiles of at most
        200,000 rows; a feature with no more distinct values is exact.
    categorical_features : "from_dtype", list or None, default="from_dtype"
        Which columns are categorical: those of a data frame with a categorical or string type, or
        those listed by position, by name or in a boolean mask.
    calibration : {"auto", "isotonic", "sigmoid"} or None, default=None
        How scores of pair losses are mapped to probabilities, for `predict_proba`; those of log
        loss are log-odds, for which this is "auto" or None. The ranking does not change, and
        ``threshold_`` becomes the score at even odds. "sigmoid": log-odds linear in the score
        (Platt). "isotonic": isotonic regression, with interpolated log-odds. "auto": "isotonic"
        where the rarer class has 1,000 rows or more to calibrate on, else "sigmoid". Probabilities
        are learned from validation or held-out rows, if there are enough of them; else the ranker
        is fitted three more times, each time without a third of the rows. See :doc:`probabilities
        </probabilities>`.
    class_weight : dict, "balanced" or None, default=None
        Factor on the weights of the rows of each class; "balanced" gives both classes the same
        total. With log loss it shifts probabilities, and with them the predicted labels. With pair
        losses it hardly changes the ranking; it moves ``threshold_`` to where Platt scaling of the
        training rows has even odds.
    n_jobs : int or None, default=None
        Number of threads: None for one per core as far as ``OMP_NUM_THREADS`` allows, -1 for all
        cores. The model does not depend on it.
    random_state : int, RandomState instance or None, default=None
        Seeds sampling and held-out rows, and the rows from which bins are cut beyond 200,000.
    verbose : int, default=0
        If 1, print a line after every tenth round, and at the end how many were kept; if greater,
        after every round.

    Attributes
    ----------
    n_iter_ : int
        Number of rounds of the model, over all bags.
    learning_rate_ : float
        Factor on the values of the leaves.
    base_score_ : float
        Score of a row before the first tree: with log loss the log-odds of the training rows.
    threshold_ : float
        The sum of all trees at which `decision_function` is 0: with pair losses, where TPR - FPR of
        the training rows is largest, or as set by ``calibration`` or ``class_weight``; with log
        loss 0, where the probability is 1/2.
    rounds_ : Table
        Contribution of each round: ``round``, from 1, with the first rounds of all bags first;
        ``n_leaves``; ``high`` and ``low``, the most and the least that it adds; ``gain``, the
        decrease of the loss by its splits.
    validation_path_ : Table or None
        The criterion on held-out rows, by ``round``, and by ``bag`` if there are several; a partial
        AUC is standardised, 1/2 for chance. None without held-out rows.
    feature_importances_ : ndarray of shape (n_features,)
        Share of each feature in the decrease of the loss by all splits; the sum is 1.
    pairs_ : list of (int, int)
        Pairs of features that trees use together, if no tree uses more than two.
    term_names_ : list of str
        Names of the columns of `explain`: the features, then the pairs.
    classes_ : ndarray of shape (2,)
        Sorted labels; the second is the class to rank first.
    n_features_in_ : int
        Number of columns seen during :term:`fit`.
    feature_names_in_ : ndarray of shape (n_features,)
        Their names, if any.

    See Also
    --------
    RankBoost : A sum of thresholds, which is readable.
    RankingForest : Averaged trees, with fewer parameters to choose.

    Notes
    -----
    If rows of a node miss a feature, each split sends them to the side with the larger gain, or
    tests whether the value is known; if no row of the node missed it, missing values go to the
    larger side.

    A category with fewer rows than three or 0.2 % of all counts as missing, as does one not seen in
    fit. If such categories hold more than 5 % of the rows, or if there are more than 100
    categories, splits may also separate those with a low rate of positives, which is learned on
    other folds of the rows (see :ref:`categories <rates-of-many>`). A split tests for one of the 50
    most frequent categories, or for a set of them, chosen by sums that are shrunk as far as chance
    explains their differences (see :ref:`categories <level-rates>`), so that a noise column with
    many categories does no harm.

    Pairs of categories of two features enter by their rates in other folds of the rows, for up to
    64 pairs of features. The first bag is fitted with and without them, and they are used if the
    log loss of its held-out rows falls by more than two standard errors. A pair not seen in fit,
    and a row that misses one of the two, get the mean rate. They are interactions: with groups of
    ``interactions`` only pairs within a group are used, and none if trees use at most two features,
    so that `terms` and `pair_terms` stay available. See :ref:`categories <pairs-of-categories>`.

    A pair of features is chosen by its gain over a sum of single features, as in FAST [3]_: two
    splits, one on each feature, divide the rows into four cells, and the contrast of these lowers
    the loss beyond the main effects of both splits. With a number of pairs, the best contrast of
    each pair has to gain more than the best of all contrasts does by chance: in simulations, fewer
    than one fit in twenty to noise takes a pair. "auto" takes the strongest without that test. With
    more than 100 features, only those with the largest gain alone are paired. Each tree takes the
    pair that lowers the loss most. All bags have the same pairs. A tree of a pair cuts numbers into
    32 bins at most, and has four leaves if ``max_leaves`` is less.

    Gradients are rounded to 2^-20 and hessians to 2^-19 of a row. ``pair_logistic`` sums over pairs
    of scores rounded to a grid of 2048 cells over their range.

    With ``max_fpr`` below 1, the score before each round determines which negative rows have full
    weight. Rows tied at the boundary all have the same weight in between, so that the order of rows
    does not matter; ``pair_logistic`` treats the rows of a cell of its grid as tied. As these are
    the rows with the greatest sum of losses, the loss is a maximum of convex functions of the
    scores, and so convex. The partial AUC of held-out rows is standardised, 1/2 for chance, as in
    ``aucrank.metrics.roc_auc_score(max_fpr=max_fpr)``, and depends on few negative rows. Additive
    scores, ``interactions=0``, gain about a point by it, and trees of any features nothing: see
    :ref:`the guide <top-of-the-list>`.

    Weights that are not all integers are divided by their mean.

    References
    ----------
    .. [1] Friedman, "Greedy function approximation: a gradient boosting machine", Ann. Statist.
       29(5), 2001. :doi:`10.1214/aos/1013203451`
    .. [2] Chen and Guestrin, "XGBoost: a scalable tree boosting system", KDD 2016.
       :doi:`10.1145/2939672.2939785`
    .. [3] Lou, Caruana, Gehrke and Hooker, "Accurate intelligible models with pairwise
       interactions", KDD 2013. :doi:`10.1145/2487575.2487579`

    Examples
    --------
    >>> from aucrank import GradientBoostingRanker
    >>> from aucrank.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> model = GradientBoostingRanker(n_rounds=100, random_state=0).fit(X[::2], y[::2])
    >>> model.score(X[1::2], y[1::2]) > 0.98
    True
    >>> model.predict_proba(X[1:2]).shape
    (1, 2)
    """

    _family = "gradient_boosted"
    _fits_dataset = "rows"
    _model: _core.GradientBoosted  # type: ignore[assignment]

    def __init__(
        self,
        *,
        loss: str = "log",
        max_fpr: float = 1.0,
        n_rounds: int = 3000,
        learning_rate: Any = "auto",
        max_leaves: Any = "auto",
        max_depth: int | None = None,
        min_samples_leaf: Any = "auto",
        l2: float = 1.0,
        min_gain: float = 0.0,
        cuts: str = "random",
        subsample: float = 0.8,
        max_features: Any = 0.6,
        interactions: Any = None,
        monotonic_cst: Any = None,
        category_pairs: Any = "auto",
        early_stopping: Any = "auto",
        scoring: str = "loss",
        validation_fraction: Any = "auto",
        n_iter_no_change: int = 50,
        tol: float = 0.0,
        refit: Any = "auto",
        n_bags: Any = "auto",
        time_limit: float | None = None,
        warm_start: bool = False,
        max_bins: int = 255,
        categorical_features: Any = "from_dtype",
        calibration: str | None = None,
        class_weight: Any = None,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.loss = loss
        self.max_fpr = max_fpr
        self.n_rounds = n_rounds
        self.learning_rate = learning_rate
        self.max_leaves = max_leaves
        self.max_depth = max_depth
        self.min_samples_leaf = min_samples_leaf
        self.l2 = l2
        self.min_gain = min_gain
        self.cuts = cuts
        self.subsample = subsample
        self.max_features = max_features
        self.interactions = interactions
        self.monotonic_cst = monotonic_cst
        self.category_pairs = category_pairs
        self.early_stopping = early_stopping
        self.scoring = scoring
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.tol = tol
        self.refit = refit
        self.n_bags = n_bags
        self.time_limit = time_limit
        self.warm_start = warm_start
        self.max_bins = max_bins
        self.categorical_features = categorical_features
        self.calibration = calibration
        self.class_weight = class_weight
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    @classmethod
    def additive(cls, **params: Any) -> Self:
        """Return an estimator of an additive model, with suitable settings.

        Parameters
        ----------
        **params
            Parameters that differ from these settings.

        Returns
        -------
        GradientBoostingRanker
            Not fitted: ``interactions=0``, with small steps, early stopping and an average over
            eight bags. ``interactions="auto"`` adds functions of pairs, which rank better;
            ``interactions=10`` adds at most ten pairs that gain more than chance.

        Notes
        -----
        The defaults of the class suit trees that may use any features. An additive model is learned
        better by trees with few leaves and random cuts, which make its functions smooth, and by as
        many rounds as held-out rows require. Each bag holds out a fold of the rows, so that their
        mean has learned from all rows. The settings were chosen on public data sets: see :ref:`the
        guide <pairs-of-features>`, which compares them with explainable boosting machines (EBM).

        Examples
        --------
        >>> from aucrank import GradientBoostingRanker
        >>> from aucrank.datasets import load_breast_cancer
        >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
        >>> model = GradientBoostingRanker.additive(n_bags=2, random_state=0).fit(X, y)
        >>> model.explain(X).shape
        (569, 30)
        """
        return cls(**_ADDITIVE | params)

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
        """Boost on rows of two classes.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n, n_features), or Dataset
            Training data. Data frames of pandas, polars and pyarrow may have categorical columns;
            NaN, None and null are missing values. A :class:`~aucrank.data.Dataset` has rows that
            need not fit in memory, and their labels and weights: the model is that of one frame
            with all of its rows. It queries them for sums wherever they are stored; with a loss
            over pairs, or ``scoring="auc"`` and early stopping, it holds all of them as codes in
            memory.
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
            Validation rows for choosing the number of rounds, with ``early_stopping``: the columns
            of ``X``, categories matched by value. None to hold out a part of ``X``.
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
            If a parameter, the data, the labels or the weights are not valid; if there are
            validation rows and nothing is chosen; or if ``warm_start`` is set and the columns or
            classes differ from the last fit.
        """
        validation = ValidationSet(X_val, y_val, sample_weight_val)
        return self._fit(X, y, sample_weight, validation, groups=groups, time=time, gap=gap)

    def _check_all_params(self) -> None:
        super()._check_all_params()
        if self.loss == "log" and self.calibration not in ("auto", None):
            raise ValueError(
                f"calibration={self.calibration!r} does not go with loss='log', whose scores are"
                " log-odds as they are"
            )

    def _core_params(self, scope: ParamScope) -> dict[str, Any]:
        check_bool(self.warm_start, "warm_start")
        rate = self.learning_rate
        if not (isinstance(rate, str) and rate == "auto"):
            rate = check_real(rate, "learning_rate", low=0.0, high=1.0, low_open=True)
        first_leaves, *other_leaves = self._numbers_of_leaves()
        max_depth = check_int(self.max_depth, "max_depth", low=1, optional=True)
        check_time_limit(self.time_limit)
        n_bags = self._bags()
        return {
            "loss": check_choice(self.loss, "loss", _LOSSES),
            "max_fpr": self._max_fpr(),
            "n_rounds": check_int(self.n_rounds, "n_rounds", low=1),
            "learning_rate": None if rate == "auto" else rate,
            "max_leaves": first_leaves,
            "other_leaves": other_leaves,
            "max_depth": 2**63 - 1 if max_depth is None else max_depth,
            "min_samples_leaf": self._least_rows(),
            "l2": check_real(self.l2, "l2", low=0.0, high_open=True),
            "min_gain": check_real(self.min_gain, "min_gain", low=0.0, high_open=True),
            "cuts": check_choice(self.cuts, "cuts", ("best", "random")),
            "subsample": check_real(self.subsample, "subsample", low=0.0, high=1.0, low_open=True),
            "max_features": check_max_features(self.max_features, scope.n_features),
            "max_bins": check_int(self.max_bins, "max_bins", low=2, high=255),
            "monotonic": monotonic_directions(self.monotonic_cst, scope.schema),
            "interactions": self._interactions(scope.schema),
            "category_pairs": self._tries_category_pairs(),
            "held_out": self._held_out_params(n_bags),
            "n_bags": n_bags,
            "seed": scope.seed,
        }

    def _numbers_of_leaves(self) -> list[int | None]:
        """Return the numbers of leaves to choose from; None is one that the core chooses."""
        given = self.max_leaves
        if isinstance(given, str) and given == "auto":
            # A later fit goes on with as many.
            return [32 if self.warm_start else None]
        if not isinstance(given, list | tuple):
            return [check_int(given, "max_leaves", low=2)]
        if not given:
            raise ValueError(
                "max_leaves must be an int, a list of ints that is not empty or 'auto'"
            )
        return [check_int(leaves, "max_leaves", low=2) for leaves in given]

    def _max_fpr(self) -> float | None:
        max_fpr = check_real(self.max_fpr, "max_fpr", low=0.0, high=1.0, low_open=True)
        if self.loss == "log" and max_fpr != 1:
            raise ValueError(
                f"max_fpr={max_fpr!r} does not go with loss='log', which has no pairs to count:"
                " choose loss='pair_exponential' or 'pair_logistic'"
            )
        return max_fpr

    def _tries_category_pairs(self) -> bool:
        """Return whether held-out rows decide if pairs of categories are used."""
        given = self.category_pairs
        is_auto = isinstance(given, str) and given == "auto"
        if not is_auto and (not isinstance(given, bool | np.bool_) or given):
            raise ValueError(f'category_pairs must be False or "auto", got {given!r}')
        return is_auto and self._stops() and not self.warm_start

    def _stops(self) -> bool:
        """Return whether held-out rows choose the number of rounds."""
        stops = self.early_stopping
        if isinstance(stops, str) and stops == "auto":
            return not check_bool(self.warm_start, "warm_start")
        return check_bool(stops, "early_stopping")

    def _bags(self, *, is_validated: bool = False) -> int:
        """Return the number of bags of a fit, with or without validation rows."""
        if isinstance(self.n_bags, str) and self.n_bags == "auto":
            return _BAGS if self._stops() and not self.warm_start and not is_validated else 1
        n_bags = check_int(self.n_bags, "n_bags", low=1)
        assert n_bags is not None
        if n_bags > 1 and self.warm_start:
            raise ValueError(
                f"n_bags={n_bags} does not go with warm_start: a mean of models cannot go on"
            )
        return n_bags

    def _least_rows(self) -> Any:
        least, name = self.min_samples_leaf, "min_samples_leaf"
        if isinstance(least, str) and least == "auto":
            return "auto"
        if isinstance(least, Integral) and not isinstance(least, bool):
            return {"rows": check_int(least, name, low=1)}
        share = check_real(least, name, low=0.0, high=1.0, low_open=True, high_open=True)
        return {"share": share}

    def _interactions(self, schema: Schema | None) -> str | dict[str, Any]:
        """Return which features may be used together, in the form of the core."""
        given = self.interactions
        if given is None:
            return "any"
        if self._chooses_pairs and self.warm_start:
            raise ValueError(
                f"interactions={given!r} does not go with warm_start: pairs are chosen once, for"
                " all rounds after those of single features"
            )
        if isinstance(given, str) and given == "auto":
            return "auto"
        if isinstance(given, Integral) and not isinstance(given, bool):
            most = check_int(given, "interactions", low=0, high=_MOST_PAIRS)
            return {"pairs": most} if most else {"groups": []}
        if not isinstance(given, list | tuple) or not all(
            isinstance(group, list | tuple) for group in given
        ):
            raise ValueError(
                "interactions must be None, a number of pairs or a list of lists of features, or"
                f' "auto", got {given!r}'
            )
        if schema is None:
            return {"groups": []}
        return {
            "groups": [
                [
                    find_column(feature, schema.names, len(schema.features), wording=_WORDING)
                    for feature in group
                ]
                for group in given
            ]
        }

    def _held_out_params(self, n_bags: int) -> dict[str, Any] | None:
        """Return how the number of rounds is chosen, in the form of the core."""
        share = self.validation_fraction
        if isinstance(share, str) and share == "auto":
            rows: Any = "fold" if n_bags > 1 else {"share": _SHARE}
        else:
            rows = {"share": held_out_fraction(self)}
        params = {
            "rows": rows,
            "measure": check_choice(self.scoring, "scoring", ("auc", "loss")),
            **patience(self),
            "refit": self._refit(),
        }
        return params if self._stops() else None

    def _refit(self) -> str:
        """Return what is fitted again to all rows, in the form of the core."""
        given = self.refit
        is_text = isinstance(given, str)
        if not is_text:
            if check_bool(given, "refit") and self._stops():
                check_refit(self)
            return "trees" if given else "none"
        if given not in ("leaves", "auto"):
            raise ValueError(f"refit must be True, False, 'leaves' or 'auto', got {given!r}")
        hindrances = {
            f"loss={self.loss!r}": self.loss != "log",
            "monotonic_cst": self.monotonic_cst is not None,
            "warm_start": self.warm_start,
            f"interactions={self.interactions!r}": self._chooses_pairs,
        }
        found = [name for name, is_there in hindrances.items() if is_there]
        if found and given == "leaves" and self._stops():
            raise ValueError(
                f"refit='leaves' does not go with {found[0]}: leaves are set again for log loss,"
                " in a fit of one series of rounds without bounds on their values"
            )
        return "none" if found else "leaves"

    def _check_for_dataset(self) -> None:
        super()._check_for_dataset()
        if self._chooses_pairs:
            raise refuse_for_dataset("interactions", self.interactions, "0, None or lists of names")

    def _asks_rows(self, schema: Schema | None = None, n_rows: int = 0) -> bool:
        # Losses over pairs and AUCs need all scores at once.
        sums_do = self.loss == "log" and (self.scoring == "loss" or not self._stops())
        if not sums_do or schema is None or not self._tries_category_pairs():
            return sums_do
        n_levels = [n for n in schema.n_levels if n is not None]
        n_pairs = sum(min(a * b, n_rows) for a, b in combinations(n_levels, 2))
        # Where almost each row has a pair of categories of its own, sums take more than codes.
        of_sums = n_pairs * _BYTES_OF_PAIR * self._bags()
        return of_sums < n_rows * len(schema.features)

    def _fit_rows(self, rows: Rows, params: Any, context: RowsContext) -> _core.GradientBoosted:
        model = _core.fit_gradient_boosting(
            (rows, context.fit_number),
            json.dumps(params),
            None,
            None,
            context.n_threads,
            context.progress.within(self.time_limit).observer,
        )
        self._tell(model, context.schema, is_chosen=params["held_out"] is not None)
        return model

    def _dataset_binning(self, params: Any) -> dict[str, Any]:
        return binning_params(params["max_bins"], "raw", params["seed"])

    @property
    def _chooses_pairs(self) -> bool:
        given = self.interactions
        if isinstance(given, str):
            return given == "auto"
        return isinstance(given, Integral) and given != 0

    def _n_stages(self) -> int | None:
        if not isinstance(self.max_leaves, Integral) or self._tries_category_pairs():
            # There may be trial rounds, or several series.
            return None
        n_series = 2 if self._chooses_pairs else 1
        return n_series * (2 if self._refit() == "trees" and self._stops() else 1)

    def _fit_model(self, context: FitContext) -> _core.GradientBoosted:
        sample, earlier = context.sample, context.earlier
        if earlier is not None:
            context = context.going_on(self, "n_rounds", earlier.model.n_rounds, "rounds")
            if earlier.model.loss != self.loss:
                raise ValueError(
                    f"warm_start needs the loss of the last fit, {earlier.model.loss!r}; got"
                    f" {self.loss!r}"
                )
        params = self._core_params(context.scope)
        if context.validation.is_given:
            if isinstance(self.refit, str) and self.refit == "leaves":
                raise ValueError(
                    "refit='leaves' does not go with X_val: no rows of X are held out then"
                )
            params["n_bags"] = self._bags(is_validated=True)
            params["held_out"] = self._held_out_params(params["n_bags"])
        chosen = params["held_out"] is not None
        validation = read_validation(self, context, is_chosen=chosen)
        progress = context.progress.within(self.time_limit)
        model = _core.fit_gradient_boosting(
            sample.core,
            json.dumps(params),
            None if earlier is None else earlier.model,
            validation,
            context.n_threads,
            progress.observer,
        )
        self._tell(model, sample.schema, is_chosen=chosen)
        return model

    def _tell(self, model: _core.GradientBoosted, schema: Schema, *, is_chosen: bool) -> None:
        """Warn if the model differs from the request, and print a report if wanted."""
        nothing = "No split lowers the loss, so all scores are equal."
        warn_of_rounds(model, nothing, is_chosen=is_chosen and not _paths(model))
        if self.verbose > 0:
            self._report(model, schema)

    def _bytes_of_state(self) -> int:
        # A score and a position in the growing tree.
        return 10 * self._bags()

    def _bytes_in_loop(self) -> int:
        # Five bags take 245 bytes a row, with a loss over pairs 292.
        return 64 * max(2, self._bags())

    def _fits_folds(self) -> bool:
        """Return whether the bags may be the models without given folds."""
        is_auto = isinstance(self.n_bags, str) and isinstance(self.validation_fraction, str)
        # Whole refits have no models without single folds.
        return is_auto and self._stops() and self._refit() != "trees"

    def _fit_folds(
        self, context: FitContext, of_row: NDArray[np.intp], n_folds: int
    ) -> list[tuple[_core.GradientBoosted, _core.GradientBoosted]]:
        """Return a model without each fold, and the one for new rows, all of as many rounds."""
        params = self._core_params(context.scope)
        return _core.fit_gradient_folds(
            context.sample.core,
            of_row.astype(np.uint16),
            n_folds,
            json.dumps(params),
            context.n_threads,
            context.progress.within(self.time_limit).observer,
        )

    def _fit_folds_rows(
        self, rows: Rows, context: RowsContext, n_folds: int
    ) -> list[tuple[_core.GradientBoosted, _core.GradientBoosted]]:
        """Return the same of rows that are queried for sums, in folds dealt by the seed."""
        return _core.fit_gradient_folds(
            (rows, context.fit_number),
            None,
            n_folds,
            json.dumps(self._core_params(context.scope)),
            context.n_threads,
            context.progress.within(self.time_limit).observer,
        )

    def _report(self, model: _core.GradientBoosted, schema: Schema) -> None:
        name = type(self).__name__
        n_bags = max(1, len(model.held_out_of_bags()))
        bags = f" in {n_bags} bags" if n_bags > 1 else ""
        rate = rounded(model.learning_rate)
        print(f"[{name}] {model.n_rounds} rounds{bags} at learning rate {rate}")
        if self._chooses_pairs:
            pairs = names_of_pairs(model.pairs() or [], schema)
            said = ", ".join(pairs) or "none adds to its features alone"
            print(f"[{name}] pairs of features: {said}")
        for bag, found in enumerate(_paths(model), start=1):
            if found["n_rounds"] == 0:
                continue
            values, measure = found["values"], found["measure"]
            what = area_up_to(self.max_fpr) if measure == "auc" else "loss"
            of_bag = f"bag {bag}: " if n_bags > 1 else ""
            print(
                f"[{name}] {of_bag}chosen of {len(values)} by the {what} of the rows held out,"
                f" {values[found['n_rounds'] - 1]:.4f}"
            )

    @property
    def _fitted_model(self) -> _core.GradientBoosted:
        check_is_fitted(self)
        return self._model

    def _link(self) -> Link | None:
        return LogOdds() if self._fitted_model.loss == "log" else super()._link()

    def _no_probabilities(self) -> str | None:
        is_fitted = self.__sklearn_is_fitted__()
        loss = self._model.loss if is_fitted else self.loss
        if loss == "log" or super()._no_probabilities() is None:
            return None
        return (
            f"predict_proba needs loss='log' or calibration='auto': the scores of loss={loss!r} are"
            " no log-odds"
        )

    def _positive_probability(self, X: Any) -> NDArray[np.float64]:
        if self._fitted_model.loss == "log":
            found: NDArray[np.float64] = self._query("probability", X)
            return found
        return super()._positive_probability(X)

    def _needs_calibration(self) -> bool:
        return self.loss != "log" and super()._needs_calibration()

    def _needs_threshold(self) -> bool:
        # Class weights shift the learned probabilities.
        return self.loss != "log" and super()._needs_threshold()

    def _rows_held_out(self, model: Any, context: FitContext) -> NDArray[np.uint32] | None:
        params = self._held_out_params(n_bags=1)
        if params is None or params["refit"] != "none" or model.held_out() is None:
            return None
        share = params["rows"]["share"]
        return _core.held_out_rows(context.sample.core, share, model.seed, context.n_threads)

    def _finish_model(self, model: Any, context: FitContext) -> Any:
        # Log-odds are cut at 0, whatever the class weights.
        return model if self.loss == "log" else super()._finish_model(model, context)

    @property
    def n_iter_(self) -> int:
        """Return the number of rounds of the model.

        Returns
        -------
        int
            At most ``n_rounds`` for each bag.
        """
        return self._fitted_model.n_rounds

    @property
    def learning_rate_(self) -> float:
        """Return the factor on the values of the leaves.

        Returns
        -------
        float
            ``learning_rate``, or the value of "auto".
        """
        return self._fitted_model.learning_rate

    @property
    def base_score_(self) -> float:
        """Return the score of a row before the first tree.

        Returns
        -------
        float
            With log loss the log-odds of the training rows, else ``-threshold_``.
        """
        return self._fitted_model.base

    @property
    def threshold_(self) -> float:
        """Return the sum above which a row is called positive.

        Returns
        -------
        float
            `decision_function` is the sum minus this; 0 with log loss.
        """
        return self._fitted_model.threshold

    @property
    def feature_importances_(self) -> NDArray[np.float64]:
        """Return the share of each feature in the decrease of the loss by all splits.

        Returns
        -------
        ndarray of shape (n_features,)
            They sum to 1; all are 0 if there is no split.
        """
        return self._fitted_model.importances()

    @property
    def validation_path_(self) -> Table | None:
        """Return the criterion on held-out rows, round by round.

        Returns
        -------
        Table or None
            Columns ``bag``, from 1, where ``n_bags`` is more than 1; ``round``, from 1; ``auc`` or
            ``loss``; ``kept``, true for the last round that was kept. None without held-out rows.
        """
        paths = _paths(self._fitted_model)
        if not paths:
            return None
        counts = [len(path["values"]) for path in paths]
        rounds = np.concatenate([np.arange(1, count + 1) for count in counts])
        columns = {"round": rounds} | {
            paths[0]["measure"]: np.concatenate([path["values"] for path in paths])
        }
        if self._fitted_model.held_out() is None:
            columns = {"bag": np.repeat(np.arange(1, len(paths) + 1), counts)} | columns
        kept = np.repeat([path["n_rounds"] for path in paths], counts)
        return Table(columns, kept=rounds == kept)

    @property
    def rounds_(self) -> Table:
        """Return the contribution of each round.

        Returns
        -------
        Table
            Columns ``round``, from 1, with the first rounds of all bags first; ``n_leaves``;
            ``high`` and ``low``, the most and the least that it adds, after shrinkage; ``gain``,
            the decrease of the loss by its splits, summed over rows and to second order.
        """
        found = self._fitted_model.rounds()
        rounds = np.arange(1, len(found["high"]) + 1)
        return Table({"round": rounds} | found)

    def staged_decision_function(self, X: Any) -> Iterator[NDArray[np.float64]]:
        """Score rows by the first round, by the first two, and so on.

        Parameters
        ----------
        X : array-like or data frame of shape (n, n_features)
            Rows with the columns seen in fit. A category not seen in fit counts as missing.

        Yields
        ------
        ndarray of float64, shape (n,)
            The score after each round, ``base_score_`` included; the last is what
            `decision_function` returns. The first rounds of all bags come first, and each adds its
            share of the mean.
        """
        model = self._fitted_model
        columns = read_columns(self, as_frame(X), self._schema)
        n_rows = count_rows(columns)
        n_threads = threads_for(self.n_jobs, n_rows)
        sums = np.zeros(n_rows)
        with errors_by_name(self._schema):
            model.check_columns(columns)
        for round in range(model.n_rounds):
            # The values are chosen so that their sums are exact: only the base may round.
            sums += model.round_values(columns, round, n_threads)
            yield sums + model.base

    def _tree(self, round: int) -> Tree:
        """Return a tree as an operation of a formula."""
        model = self._fitted_model
        check_int(round, "round", low=1, high=model.n_rounds)
        tree = parse({"tree": json.loads(model.tree(round - 1))})
        assert isinstance(tree, Tree)
        return tree

    def to_text(self, round: int = 1) -> str:
        """Return the tree of a round as text, one line for each node.

        Parameters
        ----------
        round : int, default=1
            Which one, from 1 to ``n_iter_``.

        Returns
        -------
        str
            Each leaf with its contribution to the score and the weight of its training rows; or a
            line saying that there is no round, if no split lowers the loss.

        Raises
        ------
        NotFittedError
            If the estimator is not fitted.
        ValueError
            If there is no such round.
        """
        if self.n_iter_ == 0:
            check_int(round, "round", low=1, high=1)
            return "no rounds: all rows have the same score"
        tree = self._tree(round)
        words = Words(self._schema, [True] * len(self._schema.features))
        lines = []
        # A node, its rule, and the prefix of its line and of those below.
        waiting = [(0, "all rows", "", "")]
        while waiting:
            place, rule, first, rest = waiting.pop()
            node = tree.nodes[place]
            if isinstance(node, Branch):
                lines.append(f"{first}{rule} ({rounded(node.weight)} rows)")
                sides = ((node.right, False, "`-- ", "    "), (node.left, True, "|-- ", "|   "))
                for child, is_left, sign, space in sides:
                    of_side = words.union(words.side(node.condition, left=is_left))
                    waiting.append((child, of_side, rest + sign, rest + space))
            else:
                lines.append(f"{first}{rule} ({rounded(node.weight)} rows): {node.value:+.4f}")
        return "\n".join(lines)

    def to_shap(self) -> dict[str, Any]:
        """Return the model in the form of `shap.TreeExplainer`.

        Returns
        -------
        dict
            Plain binary trees of thresholds, which explain `decision_function`.

        Raises
        ------
        NotFittedError
            If the estimator is not fitted.
        ValueError
            If there is no round, a tree splits on a categorical feature, or there are too many
            nodes.

        Notes
        -----
        With shap installed, ``shap.TreeExplainer(model.to_shap())(X)`` explains the scores.
        """
        model = self._fitted_model
        if model.n_rounds == 0:
            raise ValueError("there is no round, so that there is nothing to explain")
        trees = [self._tree(round + 1) for round in range(model.n_rounds)]
        return shap_model(trees, self._schema, factor=1.0, base=model.base)

    def _size(self) -> str:
        return plural(self.n_iter_, "round")

    def _summary(self) -> list[Section]:
        """Return the summands, round by round."""
        if self.n_iter_ == 0:
            return [Section(f"Rounds ({self._size()})", "all rows have the same score")]
        pairs = self._model.pairs()
        if pairs is None:
            score = f"score: {rounded(self.base_score_)} plus the sum of one value for each round"
            return [Section(f"Rounds ({self._size()})", score, self.rounds_)]
        of_each = "feature and each pair" if pairs else "feature"
        score = f"score: {rounded(self.base_score_)} plus the sum of one value for each {of_each}"
        sections = [Section(f"Terms ({self._size()})", score, self.terms())]
        if pairs:
            what = "the least and the most that the two features of a pair add together"
            sections.append(Section(f"Pairs ({len(pairs)})", what, self._ranges_of_pairs()))
        return sections
