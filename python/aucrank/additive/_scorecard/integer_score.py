"""Small integer scores: a few questions whose points are searched together."""

import copy
import json
from collections.abc import Callable, Iterable
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import _safe_indexing

from aucrank import _core
from aucrank._base.fit_context import FitContext, ParamScope
from aucrank._base.monotonic import monotonic_directions
from aucrank._base.sampled_fit import SampledFitMixin
from aucrank._base.summary import Section
from aucrank._data.column_lookup import IN_A_LIST, find_column, first_doubled
from aucrank._data.schema import Schema
from aucrank._data.table import Table, whole
from aucrank._data.weights import check_weight, number_of_rows
from aucrank._utils.keywords import suggests_keywords
from aucrank._utils.params import check_bool, check_choice, check_int, check_real, check_time_limit
from aucrank._utils.shares import wilson
from aucrank.additive._bins import least_share, special_by_column
from aucrank.additive._scorecard.parsimony import Parsimony
from aucrank.additive._scorecard.points import PointsCard

#: Kinds of lines of known values that are not codes.
_ORDERED = ("interval", "category")


class IntegerScore(SampledFitMixin, PointsCard):
    """A few features with a few lines each, whose points are small whole numbers.

    Features, lines and points are searched together for the largest AUC of the training rows, which
    is exact: with the points of the other features fixed, one pass over the rows gives the AUC of
    every choice of lines and points of a feature. So features are added, their lines improved in
    turn and exchanged for others, as long as the AUC rises by more than chance would raise it.

    Parameters
    ----------
    max_features : int, default=5
        Maximum number of features.
    max_points : int, default=10
        Points that one feature can give, from 1 to 100: its best line has at most so many, and its
        worst has 0.
    max_lines : int, default=4
        Maximum number of lines of a feature, at least 2; missing and special values have lines of
        their own besides.
    max_questions : int, default=None
        Maximum number of questions that a person answers by yes or no: a feature with k lines asks
        k - 1 of them, and one more for each missing or special value with points of its own. None
        for no limit.
    min_gain : float, default=0.3
        Gain of the training AUC that a question needs, in units of ``1 / n_pos + 1 / n_neg``, the
        inverse numbers of rows of both classes: with 100 of each, 0.006. At least 0. Chance lets
        every question gain a little; 0.1 to 0.4 are equally good on 28 real sets.
    max_cuts : int, default=16
        Maximum number of candidate cuts of a number, at its quantiles; from 1 to 64. Categories are
        joined in the order of their rates, shrunk to the overall one, in at most one more group;
        of more than six, those of fewer than ten rows count as missing.
    round_cuts : bool, default=True
        Whether the candidate between two quantiles is the roundest number there: a multiple of 5,
        2.5, 2 or 1 times the largest possible power of ten. False for the middle.
    min_bin_share : float, default=0.02
        Minimum share of the training rows, by weight, of a line; in [0, 0.5]. It also needs 20
        rows, or a tenth of all if that is less. 0 turns both off. Missing and special values of
        fewer rows get the points of the middle row of their feature.
    high_points : {"positive", "negative"}, default="positive"
        The class that high points favour.
    monotonic_cst : array-like of int of shape (n_features,), dict or None, default=None
        Direction of each number, by position or by name: 1 where the positive class may only become
        likelier as it grows, -1 where it may only become less likely, 0 for either.
    required_features : list of str or int, default=None
        Columns that must be in the score, by name or position.
    excluded_features : list of str or int, default=None
        Columns that may not be in it.
    exclusive_features : list of lists of str or int, default=None
        Sets of columns, such as measurements of the same thing, of each of which at most one may be
        in the score.
    special_values : list of float or dict, default=None
        Numbers used as codes, such as -1 for "never", which have lines of their own: in all numeric
        columns, or by name of the column.
    time_limit : float, default=None
        Seconds after which the search ends with the best score found; positive.
    categorical_features : "from_dtype", array-like or None, default="from_dtype"
        Which columns are categorical: those whose dtype says so, or those listed by position, by
        name or in a boolean mask.
    class_weight : dict, "balanced" or None, default=None
        What the weights of rows are multiplied by, by class; "balanced" makes the sums of both
        classes equal.
    n_jobs : int or None, default=None
        Number of threads: None for one per core as far as ``OMP_NUM_THREADS`` allows, -1 for all
        cores. The score does not depend on it.

    Attributes
    ----------
    n_questions_ : int
        Number of questions of the score, as ``max_questions`` counts them.
    points_range_ : tuple of int
        The least and the greatest points that a row can have.
    auc_ : float
        AUC of the training rows by points.
    auc_bound_ : float
        The largest AUC of the training rows that any score of the same lines can have, with other
        points, whole or not, or points for all combinations of lines.
    ks_ : float
        Largest distance of the distributions of points of the two classes (Kolmogorov and
        Smirnov), from 0 to 1.
    initial_points_ : int
        Points of every row: 0.
    base_score_ : float
        Log-odds of the positive class at 0 points.
    feature_importances_ : ndarray of shape (n_features,)
        AUC of the training rows by the points of one feature alone, less 1/2; 0 for features that
        are not in the score.
    edits_ : tuple of Edit
        Manual changes since the fit, in order.
    classes_ : ndarray of shape (2,)
        Sorted labels; the second is the positive class.
    sampled_rows_ : tuple of int or None
        Number of rows learned from and of all rows, where those are a sample of a `Dataset`.
    n_features_in_ : int
        Number of columns seen during :term:`fit`.
    feature_names_in_ : ndarray of shape (n_features,)
        Their names, if all are strings.

    See Also
    --------
    Scorecard : Points for as many features and bins as rank best; `Scorecard.to_integer_score`
        makes a score of its features.
    TreeRank : ``search="lookahead"`` searches small trees.

    Notes
    -----
    *Search.* Three sets of features are built up side by side, one feature at a time. After each,
    lines and points of all features in turn are improved by all single moves: a line or a part of
    it gets other points, all above a cut rise or fall, a cut moves, lines merge; and so are they
    with all points scaled, and with one line or cut fixed at a neighbour. At last single features
    are exchanged for others. On 200 small problems of 2 to 4 features the search finds the best of
    all scores of one or two of them. There is no randomness.

    *Scores.* `decision_function` is the log-odds of the positive class along the total points, by
    maximum likelihood with the targets of Platt [1]_, `predict_proba` its probability, and
    `predict` its label, positive above even odds. Since the points were searched on the same rows,
    the slope of the line is multiplied by ``ratio / (ratio + 8 * n_questions_)``, ``ratio`` being
    its likelihood ratio to a constant; the mean probability stays. A missing or special value that
    no training row had, or fewer than ``min_bin_share`` wants for a line, gets the points of the
    middle row of its feature, as if it were the median.

    Scores of five features rank about 2 points of AUC better than the steps of AutoScore [2]_ do on
    28 real sets, and those of three about 3 points better; see the documentation.

    References
    ----------
    .. [1] Platt, "Probabilistic outputs for support vector machines and comparisons to regularized
       likelihood methods", Advances in Large Margin Classifiers, 1999.
    .. [2] Xie, Chakraborty, Ong, Goldstein and Liu, "AutoScore: a machine learning-based automatic
       clinical score generator and its application to mortality prediction using electronic health
       records", JMIR Med. Inform. 8(10), 2020. :doi:`10.2196/21798`

    Examples
    --------
    >>> from aucrank import IntegerScore
    >>> from aucrank.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> score = IntegerScore(max_features=2, max_lines=3).fit(X, y)
    >>> text = score.to_text()
    >>> print(text[: text.index("Points of what")].rstrip())
    INTEGER SCORE: many points speak for class 1
    <BLANKLINE>
    Add up the points of one line of each block.
    <BLANKLINE>
                          points  rows  share  class 1
    worst_area
      under 650                0   265  46.6%     1.9%
      650 to under 1000        5   151  26.5%    37.7%
      1000 and up             10   153  26.9%    98.0%
    <BLANKLINE>
    worst_concavity
      under 0.2                0   263  46.2%     2.3%
      0.2 to under 0.325       2   114  20.0%    41.2%
      0.325 and up             6   192  33.7%    82.8%
    """

    _family = "scorecard"
    _is_searched = True
    _model: _core.Scorecard

    def __init__(
        self,
        *,
        max_features: int = 5,
        max_points: int = 10,
        max_lines: int = 4,
        max_questions: int | None = None,
        min_gain: float = 0.3,
        max_cuts: int = 16,
        round_cuts: bool = True,
        min_bin_share: float = 0.02,
        high_points: str = "positive",
        monotonic_cst: Any = None,
        required_features: Any = None,
        excluded_features: Any = None,
        exclusive_features: Any = None,
        special_values: Any = None,
        time_limit: float | None = None,
        categorical_features: Any = "from_dtype",
        class_weight: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.max_features = max_features
        self.max_points = max_points
        self.max_lines = max_lines
        self.max_questions = max_questions
        self.min_gain = min_gain
        self.max_cuts = max_cuts
        self.round_cuts = round_cuts
        self.min_bin_share = min_bin_share
        self.high_points = high_points
        self.monotonic_cst = monotonic_cst
        self.required_features = required_features
        self.excluded_features = excluded_features
        self.exclusive_features = exclusive_features
        self.special_values = special_values
        self.time_limit = time_limit
        self.categorical_features = categorical_features
        self.class_weight = class_weight
        self.n_jobs = n_jobs

    def _core_params(self, scope: ParamScope) -> dict[str, Any]:
        most = check_int(self.max_features, "max_features", low=1)
        n_questions = check_int(self.max_questions, "max_questions", low=1, optional=True)
        check_time_limit(self.time_limit)
        schema = scope.schema
        required = _columns(self.required_features, "required_features", schema)
        excluded = _columns(self.excluded_features, "excluded_features", schema)
        exclusive = [
            _columns(columns, "exclusive_features", schema)
            for columns in _listed(self.exclusive_features, "exclusive_features", "sets of columns")
        ]
        if schema is not None:
            self._check_lists(required, excluded, exclusive, schema)
        return {
            "max_features": most,
            "max_points": check_int(self.max_points, "max_points", low=1, high=100),
            "max_lines": check_int(self.max_lines, "max_lines", low=2),
            "max_questions": n_questions,
            "min_gain": check_real(self.min_gain, "min_gain", low=0.0, high_open=True),
            "max_cuts": check_int(self.max_cuts, "max_cuts", low=1, high=64),
            "round_cuts": check_bool(self.round_cuts, "round_cuts"),
            "min_bin_share": check_real(self.min_bin_share, "min_bin_share", low=0.0, high=0.5),
            "high_points": check_choice(self.high_points, "high_points", ("positive", "negative")),
            "monotonic": monotonic_directions(self.monotonic_cst, schema),
            "special": [] if schema is None else special_by_column(self.special_values, schema),
            "required": required,
            "excluded": excluded,
            "exclusive": exclusive,
        }

    def _check_lists(
        self,
        required: list[int],
        excluded: list[int],
        exclusive: list[list[int]],
        schema: Schema,
    ) -> None:
        """Raise ValueError for columns whose lists contradict each other or the limits."""
        for name in ("max_features", "max_questions"):
            limit = getattr(self, name)
            if limit is not None and len(required) > limit:
                raise ValueError(
                    f"required_features lists {len(required)} columns, but {name} is {limit}"
                )
        for column in required:
            if column in excluded:
                raise ValueError(
                    f"required_features and excluded_features both hold column"
                    f" {schema.label(column)}"
                )
        for columns in exclusive:
            if len(both := [column for column in required if column in columns]) > 1:
                raise ValueError(
                    f"required_features holds columns {schema.label(both[0])} and"
                    f" {schema.label(both[1])}, of which exclusive_features allows one"
                )
        if len(excluded) == len(schema.features):
            raise ValueError("excluded_features holds all columns")

    def _summary(self) -> list[Section]:
        sections = [Section("The score", self.to_text().rstrip("\n"))]
        if self.edits_:
            sections.append(Section("Changes by hand", table=self._edit_table()))
        if self._is_counted:
            sections.append(Section("Risk by points", table=self.risk_table()))
        return sections

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
        """Search the score with the largest AUC of rows of two classes.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n, n_features), or Dataset
            Training data. Data frames of pandas, polars and pyarrow may have categorical columns;
            NaN, None and null are missing values.
            A :class:`~aucrank.data.Dataset` has rows that need not fit in memory, and their labels
            and weights. The fit is that to one frame with a sample of 200,000 distinct rows, as for
            `LinearRanker`. With fewer rows, the fit is to all.
        y : array-like of shape (n,), default=None
            Labels, two distinct values. The greater one is the positive class. None where ``X`` is
            a data set.
        sample_weight : array-like of shape (n,), default=None
            Weight of each row; weight k means the row repeated k times, and weight 0 a row that
            is not there.
        groups : array-like of shape (n,), default=None
            Which rows belong together, such as those of a patient: they stay together in a sample.
        time : array-like of shape (n,), default=None
            Time of each row, as a number or date; the search does not use it.
        gap : float, timedelta or None, default=None
            Distance of times; the search does not use it.

        Returns
        -------
        self
            The fitted estimator. If no question gains enough, it has no feature, and all rows tie.

        Raises
        ------
        ValueError
            If a parameter, the data, the labels or the weights are not valid, or a required feature
            has no two lines of enough rows.
        """
        return self._fit(X, y, sample_weight, groups=groups, time=time, gap=gap)

    def _fit_model(self, context: FitContext) -> _core.Scorecard:
        model: _core.Scorecard = self._search(_core.fit_integer_score, context)
        return model

    def _search(self, search: Callable[..., Any], context: FitContext) -> Any:
        """Return what a search of the core finds."""
        sample = context.sample
        params = self._core_params(context.scope)
        n_rows = number_of_rows(sample.weight, sample.n_rows)
        params["min_bin_share"] = least_share(params["min_bin_share"], n_rows)
        observer = context.progress.within(self.time_limit).observer
        return search(sample.core, json.dumps(params), context.n_threads, observer)

    def parsimony(
        self,
        X: Any,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        *,
        max_features: int = 10,
        cv: Any = 5,
        groups: ArrayLike | None = None,
        confidence: float = 0.95,
    ) -> Parsimony:
        """Estimate by cross-validation how many features a score needs.

        In each fold, scores of one feature, of two and so on are searched on the other rows, with
        the parameters of this estimator, fitted or not.

        Parameters
        ----------
        X : array-like or data frame of shape (n, n_features)
            The rows.
        y : array-like of shape (n,)
            Their labels.
        sample_weight : array-like of shape (n,), default=None
            Their weights.
        max_features : int, default=10
            Maximum number of features. It ends where no more gain on all rows. The time grows with
            its square or more.
        cv : int or cross-validation splitter, default=5
            How rows are split into folds, each row in one; a number shuffles them by a fixed seed.
        groups : array-like of shape (n,), default=None
            Which rows belong together, such as those of a patient: they are in one fold.
        confidence : float, default=0.95
            Level of the intervals, in (0, 1).

        Returns
        -------
        Parsimony
            AUC by number of features, with ``plot()``.

        Raises
        ------
        TypeError, ValueError
            If a parameter or the rows are not valid, or no feature gains enough.

        Examples
        --------
        >>> from aucrank import IntegerScore
        >>> from aucrank.datasets import load_breast_cancer
        >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
        >>> path = IntegerScore(max_lines=3).parsimony(X, y, max_features=3)
        >>> for features in path.table["features"]:
        ...     print(features)
        worst_perimeter
        worst_area, worst_concavity
        mean_concave_points, worst_texture, worst_perimeter
        >>> bool((path.table["low"] <= path.table["auc"]).all())
        True
        """
        # Takes more than a second to import, with scikit-learn's metrics and SciPy's statistics.
        from sklearn.model_selection import StratifiedGroupKFold, StratifiedKFold, check_cv

        most = check_int(max_features, "max_features", low=1)
        params = self.get_params(deep=False) | {"max_features": most}
        labels = np.asarray(y)
        weight = check_weight(sample_weight, len(labels))
        of_all_rows = _ScorePath(**params).fit(X, labels, weight, groups=groups).scores()
        n_features = [len(score._card.features) for score in of_all_rows]
        if n_features[0] == 0:
            raise ValueError("no feature gains enough for a score")
        if isinstance(cv, int):
            deal = StratifiedKFold if groups is None else StratifiedGroupKFold
            cv = deal(cv, shuffle=True, random_state=0)
        splitter = check_cv(cv, labels, classifier=True)
        fold = np.full(len(labels), -1)
        held_out_scores = np.zeros((len(labels), len(n_features)))
        parts = splitter.split(np.zeros(len(labels)), labels, groups)
        for number, (train, test) in enumerate(parts):
            if (fold[test] >= 0).any():
                raise ValueError("cv deals a row into two folds")
            fold[test] = number
            path = _ScorePath(**params).fit(
                _safe_indexing(X, train), labels[train], None if weight is None else weight[train]
            )
            held_out, of_fold = _safe_indexing(X, test), path.scores()
            for size, most_features in enumerate(n_features):
                score = _largest(of_fold, most_features)
                held_out_scores[test, size] = score.decision_function(held_out)
        if (fold < 0).any():
            raise ValueError("cv leaves rows in no fold")
        names = [
            [score._schema.shown_name(feature.place) for feature in score._card.features]
            for score in of_all_rows
        ]
        return Parsimony.measured(labels, held_out_scores, fold, weight, names, confidence)

    def _bound_directions(self) -> dict[int, int | None]:
        directions = monotonic_directions(self.monotonic_cst, self._schema)
        return {place: direction for place, direction in enumerate(directions) if direction}

    @property
    def n_questions_(self) -> int:
        """Return the number of questions of the score.

        Returns
        -------
        int
            One less than lines for each feature, and one for each missing or special value that
            training rows had and whose points no other line of the feature has.
        """
        n_questions = 0
        for feature in self._card.features:
            held = [bin_ for bin_ in feature.bins if bin_.size > 0]
            known = [bin_.points for bin_ in held if bin_.kind in _ORDERED]
            apart = [bin_.points for bin_ in held if bin_.kind not in _ORDERED]
            own = sum(points not in known for points in apart)
            # Without known values, the first line is the one that others differ from.
            n_questions += max(len(known) - 1 + own, 0)
        return n_questions

    @property
    def auc_bound_(self) -> float:
        """Return the largest AUC of the training rows that the lines of the score allow.

        Returns
        -------
        float
            That of the rates of all combinations of lines, as they were before any edit.
        """
        return self._fitted.exact_auc

    def risk_table(self, *, confidence: float = 0.95) -> Table:
        """Return the risk at each number of points, with intervals.

        Parameters
        ----------
        confidence : float, default=0.95
            Level of the intervals, in (0, 1).

        Returns
        -------
        Table
            One row for each total that training rows have, ascending: ``points``; ``size`` and
            ``n_pos``, weight of these rows and of the positive ones; ``rate``, their share, with
            Wilson's interval ``low`` to ``high``; ``expected_rate``, that of `predict_proba`; and
            ``size_up_to``, the share of all rows with at most so many points.

        Raises
        ------
        NotFittedError
            If there is no score yet.
        TypeError, ValueError
            If ``confidence`` is not in (0, 1), or rows were not counted since an edit.

        Examples
        --------
        >>> from aucrank import IntegerScore
        >>> from aucrank.datasets import load_breast_cancer
        >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
        >>> score = IntegerScore(max_features=2, max_points=3).fit(X, y)
        >>> score.risk_table().to_frame()[["points", "size", "rate", "low", "high"]].round(3)
           points  size   rate    low   high
        0       0    99  0.000  0.000  0.037
        1       1   147  0.014  0.004  0.048
        2       2    81  0.049  0.019  0.120
        3       3    50  0.380  0.259  0.518
        4       4    36  0.889  0.747  0.956
        5       5    29  0.966  0.828  0.994
        6       6   127  1.000  0.971  1.000
        """
        level = check_real(
            confidence, "confidence", low=0.0, high=1.0, low_open=True, high_open=True
        )
        assert level is not None
        card = self._card
        card.check_counted("risk_table")
        found = card.distribution
        sizes = found.sizes
        share = found.masses[:, 0] / sizes
        # Weighted rows say as much as there are of them.
        rows = sizes * found.n_rows / sizes.sum()
        low, high = wilson(share, rows, level)
        up_to: NDArray[np.float64] = np.cumsum(sizes) / sizes.sum()
        return Table(
            points=found.points,
            size=whole(sizes),
            n_pos=whole(found.masses[:, 0]),
            rate=share,
            low=low,
            high=high,
            expected_rate=card.probability(found.points),
            size_up_to=up_to,
        )


class _ScorePath(IntegerScore):
    """Scores of all numbers of features from one search; itself the largest of them."""

    def _fit_model(self, context: FitContext) -> _core.Scorecard:
        models: list[_core.Scorecard] = self._search(_core.fit_integer_scores, context)
        self._models = models
        return models[-1]

    def scores(self) -> list[IntegerScore]:
        """Return the scores, those of fewer features first."""

        def score(model: _core.Scorecard) -> IntegerScore:
            found = copy.copy(self)
            found._set_fitted(self.classes_, self._schema, model)
            return found

        return [score(model) for model in self._models]


def _largest(scores: list[IntegerScore], n_features: int) -> IntegerScore:
    """Return the last score of at most so many features, or else the first of all."""
    fitting = [score for score in scores if len(score._card.features) <= n_features]
    return fitting[-1] if fitting else scores[0]


def _listed(given: Any, name: str, what: str = "columns") -> list[Any]:
    """Return a parameter that is a list or None as a list.

    Raises
    ------
    TypeError
        If it is neither.
    """
    if given is None:
        return []
    if isinstance(given, str | bytes | dict) or not isinstance(given, Iterable):
        raise TypeError(f"{name} must be a list of {what} or None, got {given!r}")
    return list(given)


def _columns(given: Any, name: str, schema: Schema | None) -> list[int]:
    """Return the positions of listed columns.

    Raises
    ------
    TypeError, ValueError
        If it is not a list, a column does not exist, or it is listed twice.
    """
    listed = _listed(given, name)
    if schema is None:
        return []
    places = [find_column(c, schema.names, len(schema.features), IN_A_LIST, name) for c in listed]
    if (doubled := first_doubled(places)) is not None:
        raise ValueError(f"{name} holds column {schema.label(doubled)} twice")
    return places
