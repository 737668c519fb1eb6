"""The estimator of an ordered list of rules."""

from dataclasses import replace
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from aucrank import _core
from aucrank._base.fit_context import FitContext, ParamScope
from aucrank._base.monotonic import monotonic_directions
from aucrank._base.sampled_fit import SampledFitMixin
from aucrank._base.summary import Section
from aucrank._base.validation_set import ValidationSet
from aucrank._data.table import Table
from aucrank._utils.keywords import suggests_keywords
from aucrank._utils.numbers import rounded
from aucrank._utils.params import binning_params, check_int, check_real, check_time_limit
from aucrank._utils.words import plural
from aucrank.tree._pruning import PenalizedPruning, pruning_rule
from aucrank.tree._ranking_tree import RankingTree
from aucrank.tree._splits import OrthogonalSplit
from aucrank.tree._tree_ranker import TreeRanker

# Rules of a list, if their number is not given.
_USUAL_RULES = 7


class RuleList(SampledFitMixin, TreeRanker):
    """Ordered list of a few rules whose strata rank best, searched as a whole.

    A row belongs to the stratum of the first rule whose conditions it meets, or to the rest. The
    strata are ranked by their shares of positives, and the list is searched for the largest area
    under the ROC curve. Such lists are read aloud in a ward or a branch: *if this and that, the
    risk is high; else if ...; otherwise low* ([1]_, [2]_).

    Parameters
    ----------
    max_rules : int or None, default=None
        Maximal number of rules, from 1 to 99; the rest makes one more stratum. None for 7, or fewer
        where there are few rows.
    max_conditions : int, default=2
        Maximal number of conditions of a rule, all of which are to be met.
    search_bins : int, default=16
        Maximal number of bins of a feature between which conditions are searched, from 2 to 255.
        Those of the best lists then move over all bins of ``max_bins``.
    time_limit : float or None, default=None
        Seconds since the start of `fit` after which the search ends with the best list found so
        far. None for no limit. The list then depends on the speed of the machine.
    min_samples_leaf : int, default=10
        Minimal number of rows of each stratum. A row of integer weight k counts as k rows; if some
        weight is not an integer, every row of positive weight counts once.
    pruning : {"cv", "validation"}, pruning rule or None, default="cv"
        How many of the rules are kept: by cross-validating the price of a stratum, by validation
        rows, or by a `CrossValidatedPruning` or `ValidationPruning` with parameters of its own.
        Later rules are dropped first. None keeps all that were found.
    max_fpr : float, default=1.0
        The area that is to be large is that up to this false positive rate, above 0 and at most 1.
    monotonic_cst : array-like of int of shape (n_features,), dict or None, default=None
        Direction of each feature: 1 if the score may only rise with it, -1 if it may only fall, 0
        if it is free. A dict gives them by column name; features that it omits are free. Only
        numeric features can be constrained, and their missing values are free.
    max_bins : int or None, default=255
        Maximal number of bins of a numeric feature, cut at quantiles of at most 200,000 rows; a
        feature with no more distinct values is exact. None for one bin per value. Conditions have
        at most 255 places of a feature.
    level_rates : {"shrunken", "raw"}, default="shrunken"
        Class rates of categories that order them: shrunken as far as chance explains their
        differences, or as observed; see :ref:`categories <level-rates>`.
    categorical_features : "from_dtype", list or None, default="from_dtype"
        Which columns are categorical: those of a data frame with a categorical or string type, or
        those listed by position, by name or in a boolean mask. A condition names a set of them.
    class_weight : dict, "balanced" or None, default=None
        Factor on the weights of the rows of each class; "balanced" gives both classes the same
        total. It shifts probabilities, and with them the predicted labels; the ranking hardly
        changes.
    n_jobs : int or None, default=None
        Number of threads: None for one per core as far as ``OMP_NUM_THREADS`` allows, -1 for all
        cores. The list does not depend on it.
    random_state : int, RandomState instance or None, default=None
        Seeds the folds, and the rows from which bins are cut beyond 200,000.
    verbose : int, default=0
        If 1, print a line after every tenth fold, and at the end what was found and kept; if
        greater, after every fold.

    Attributes
    ----------
    rules_ : Table
        One row for each rule in the order of the list, then one for the rest.
    tree_ : RankingTree
        The list as a tree: each rule splits the rows that reach it, and one side is a leaf.
    pruning_ : Table or None
        Result of pruning for each number of strata considered, as that of `TreeRank`.
    feature_importances_ : ndarray of shape (n_features,)
        Square root of the sum of squared gains of the conditions on each feature, in units of AUC.
    classes_ : ndarray of shape (2,)
        Sorted labels; the second is the class to rank first.
    sampled_rows_ : tuple of int or None
        Number of rows learned from and of all rows, where those are a sample of a `Dataset`.
    n_features_in_ : int
        Number of columns seen during :term:`fit`.
    feature_names_in_ : ndarray of shape (n_features,)
        Their names, if any.

    See Also
    --------
    TreeRank : ``search="lookahead"`` searches small trees.
    IntegerScore : A few questions with points to be added up.

    Notes
    -----
    Rules are added to a few lists side by side, one rule after another: those of one and of two
    conditions are all tried, and further conditions are added to the best. A rule is judged by the
    bound on the area that the curve of the list itself gives (see the notes of `TreeRank`). After
    each, every condition moves to the feature and place with which the whole list has the largest
    area, conditions come and go, and neighbouring rules change places; at last each rule makes way
    for another while that gains. There is no randomness. On 200 samples of up to 31 rows, lists of
    one rule are the best of all, and those of two rules of two conditions have on average .003 less
    than the area of the best. More than 30,000 rows are searched on a sample of 20,000; conditions
    move on all rows.

    On 25 real data sets, lists of 4 and 8 strata rank other rows as well as trees of as many leaves
    that are searched. Strata of at least 10 rows gained .37 ± .17 points over 5, and for each set
    all others choose them; 20 rows gained nothing.

    References
    ----------
    .. [1] Wang and Rudin, "Falling rule lists", AISTATS 2015. https://arxiv.org/abs/1411.5899
    .. [2] Angelino, Larus-Stone, Alabi, Seltzer and Rudin, "Learning certifiably optimal rule lists
       for categorical data", JMLR 18, 2018. https://arxiv.org/abs/1704.01701

    Examples
    --------
    >>> from aucrank import RuleList
    >>> from aucrank.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> model = RuleList(max_rules=2, pruning=None).fit(X, y)
    >>> print(model.to_text())
    if worst_radius < 16.83 and worst_concave_points < 0.1358: 5 of 333 positive (1.5%)  #3
    else if worst_perimeter < 117.45 and worst_texture < 27.43: 10 of 37 positive (27.0%)  #2
    otherwise: 197 of 199 positive (99.0%)  #1
    """

    def __init__(
        self,
        *,
        max_rules: int | None = None,
        max_conditions: int = 2,
        search_bins: int = 16,
        time_limit: float | None = None,
        min_samples_leaf: int = 10,
        pruning: Any = "cv",
        max_fpr: float = 1.0,
        monotonic_cst: Any = None,
        max_bins: int | None = 255,
        level_rates: str = "shrunken",
        categorical_features: Any = "from_dtype",
        class_weight: Any = None,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.max_rules = max_rules
        self.max_conditions = max_conditions
        self.search_bins = search_bins
        self.time_limit = time_limit
        self.min_samples_leaf = min_samples_leaf
        self.pruning = pruning
        self.max_fpr = max_fpr
        self.monotonic_cst = monotonic_cst
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
        """Search the list on rows of two classes, and choose how many rules are kept.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n, n_features), or Dataset
            Training data. Data frames of pandas, polars and pyarrow may have categorical columns;
            NaN, None and null are missing values.
            A :class:`~aucrank.data.Dataset` has rows that need not fit in memory, and their labels
            and weights. The fit is that to one frame with a sample of 200,000 distinct rows, as for
            `LinearRanker`. With fewer rows, the fit is to all.
        y : array-like of shape (n,), default=None
            Labels, two distinct values. The greater one is the class to rank first. None where
            ``X`` is a data set.
        sample_weight : array-like of shape (n,), default=None
            Weight of each row; weight k means the row repeated k times, and weight 0 a row that
            is not there.
        groups : array-like of shape (n,), default=None
            Which rows belong together, such as those of a patient: they stay together in folds and
            in held-out rows.
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
            If a parameter, the data, the labels or the weights are not valid, if there are fewer
            rows than the strata of ``max_rules`` need, or if there are validation rows and
            ``pruning`` is another rule.
        """
        validation = ValidationSet(X_val, y_val, sample_weight_val)
        return self._fit(X, y, sample_weight, validation, groups=groups, time=time, gap=gap)

    def _core_params(self, scope: ParamScope) -> dict[str, Any]:
        n_rules = check_int(self.max_rules, "max_rules", low=1, high=99, optional=True)
        least = check_int(self.min_samples_leaf, "min_samples_leaf", low=1)
        check_time_limit(self.time_limit)
        assert least is not None
        rule = pruning_rule(self.pruning, OrthogonalSplit())
        if isinstance(rule, PenalizedPruning):
            raise ValueError(
                f"pruning is {self.pruning!r}, but must be 'cv', 'validation' or None for a list"
            )
        return {
            "binning": binning_params(self.max_bins, self.level_rates, scope.seed),
            "grow": {
                "max_depth": _USUAL_RULES if n_rules is None else n_rules,
                "max_leaves": None if n_rules is None else n_rules + 1,
                "min_samples_split": 2,
                "min_samples_leaf": least,
                "min_gain": 0.0,
                "leaf_order": "eta",
                "missing": "learn",
                "max_fpr": check_real(self.max_fpr, "max_fpr", low=0.0, high=1.0, low_open=True),
            },
            "split": OrthogonalSplit()._core_params(replace(scope, min_samples_leaf=least)),
            "search": {
                "extent": {"rules": check_int(self.max_conditions, "max_conditions", low=1)},
                "n_bins": check_int(self.search_bins, "search_bins", low=2, high=255),
            },
            "pruning": None if rule is None else rule._core_params(scope),
            "monotonic": monotonic_directions(self.monotonic_cst, scope.schema),
            "seed": scope.seed,
        }

    def _fit_model(self, context: FitContext) -> _core.TreeRankModel:
        return self._fit_tree(context)

    def _size(self) -> str:
        return plural(self.tree_.n_leaves - 1, "rule")

    def _summary(self) -> list[Section]:
        title = f"Rules, of which the first that is met counts (training AUC {self.tree_.auc:.4f})"
        return [Section(title, table=self.rules_), Section("In words", self.to_text())]

    @property
    def rules_(self) -> Table:
        """One row for each rule in the order of the list, then one for the rest.

        Columns: ``rule``, its conditions; ``size`` and ``n_pos``, weight of the training rows of
        its stratum and of the positive ones; ``eta``, their share; ``lift``, that share divided by
        the share of all rows; ``rank`` of the stratum, 1 for the highest; ``score``, the value of
        `decision_function`; ``node``, its number in ``tree_.nodes``.

        Returns
        -------
        Table
            At least the row of the rest.
        """
        tree = self.tree_
        rules, leaves = _rules_of(tree)
        strata = tree.strata
        rank_of = {leaf: place for place, leaf in enumerate(strata["node"].tolist())}
        places = [rank_of[leaf] for leaf in leaves]
        names = ("size", "n_pos", "eta", "lift", "rank", "score", "node")
        columns = {name: strata[name][places] for name in names}
        return Table(rule=np.array(rules, dtype=object), **columns)

    def to_text(self) -> str:
        """Return the list as text, one line for each rule and one for the rest.

        Returns
        -------
        str
            ``#k`` is the position of a stratum in the ranking.
        """
        rules = self.rules_
        last = len(rules["rule"]) - 1
        lines = []
        for place, rule in enumerate(rules["rule"].tolist()):
            word = "" if place == last else "if " if place == 0 else "else if "
            n_pos, size = rounded(rules["n_pos"][place]), rounded(rules["size"][place])
            share, rank = rules["eta"][place], rules["rank"][place]
            lines.append(f"{word}{rule}: {n_pos} of {size} positive ({share:.1%})  #{rank}")
        return "\n".join(lines)


def _rules_of(tree: RankingTree) -> tuple[list[str], list[int]]:
    """Return the rules of a list in words and nodes of the strata, the rest last."""
    left, right = tree.nodes["left"], tree.nodes["right"]
    rules: list[str] = []
    leaves: list[int] = []
    node = 0
    while left[node] >= 0:
        is_left = left[left[node]] < 0
        if is_left and left[right[node]] < 0:
            # Both sides are leaves: the rows of the rule are in one cell, whether many conditions
            # are met or one.
            cells = tree.inner_tree(node)
            is_left = cells is None or (cells["side"] == "left").sum() == 1
        of_rule, rest = (left, right) if is_left else (right, left)
        rules.append(tree._says(node, left=bool(is_left)))
        leaves.append(int(of_rule[node]))
        node = rest[node]
    return [*rules, "otherwise" if rules else "all rows"], [*leaves, int(node)]
