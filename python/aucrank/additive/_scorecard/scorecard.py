"""Scorecards: integer points for the bins of each feature."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.frozen import FrozenEstimator
from sklearn.utils.validation import check_is_fitted

from aucrank import _core
from aucrank._base.fit_context import DatasetContext, FitContext
from aucrank._base.monotonic import check_direction, monotonic_directions
from aucrank._base.summary import Section
from aucrank._data.column_lookup import Wording, find_column, first_doubled
from aucrank._data.schema import Schema, errors_by_name
from aucrank._data.weights import number_of_rows
from aucrank._utils.keywords import suggests_keywords
from aucrank._utils.params import check_choice, check_real
from aucrank.additive._bins import least_share, special_by_column
from aucrank.additive._scorecard.integer_score import IntegerScore
from aucrank.additive._scorecard.points import PointsCard
from aucrank.additive._scorecard.ranker import (
    check_for_dataset,
    check_ranker,
    check_takes_directions,
    fit_ranker,
    ranker_of,
    ranker_to_fit,
    special_values_of,
    step_functions,
)
from aucrank.additive._scorecard.scores import CardRows
from aucrank.data import Dataset

_MONOTONE = Wording(
    unnamed="{parameter} names a column that X does not have: {column!r}",
    unknown="{parameter} names a column that X does not have: {column!r}",
    beyond="a position in {parameter} must be from 0 to {last}, got {column!r}",
    neither="a position in {parameter} must be an int, got {column!r}",
)


class Scorecard(PointsCard):
    """Integer points for the bins of each feature, which a person can add up.

    The card represents a ranker whose score is a sum of step functions, one for each feature:
    boosted ones by default, or `RIMARC` [1]_. Its steps are converted to log-odds, log-odds to
    points, and points are rounded. A row starts with the initial points and gets those of its bin
    of each feature; ``pdo`` more points double its odds.

    Parameters
    ----------
    estimator : GradientBoostingRanker, RIMARC, RankBoost, AUCBoost or AURORA, default=None
        The ranker that the card represents. It is cloned and fitted, unless it is passed fitted in
        a `sklearn.frozen.FrozenEstimator`, whose columns and classes must be those of the fit.
        `GradientBoostingRanker` must have ``interactions=0``, other boosters a ``weak_ranker`` that
        uses one feature, and `AURORA` ``order=1`` or, if it is fitted, terms of single features
        alone. None for
        ``GradientBoostingRanker.additive(max_bins=16, refit=True, random_state=0)``: sums that rank
        well, with at most 16 bins per number, and the same card at each fit. From 8,000 rows it has
        four bags at a rate of 0.2, which take a third of the time. With
        ``RIMARC(missing="value")``, which needs only a few rows, each bin has points by its own
        share of positives; for ``RIMARC(missing="ignore")`` see Notes.
    base_points : float, default=600.0
        Points of a row whose odds are ``base_odds``; from -10^9 to 10^9.
    base_odds : float, default=1.0
        Odds, at ``base_points``, of the class that high points favour; positive. By default 600
        points are even odds, and `predict` calls rows above positive.
    pdo : float, default=20.0
        Points to double the odds; positive. A larger value loses less by rounding.
    high_points : {"positive", "negative"}, default="positive"
        The class that high points favour. As everywhere in aucrank, higher is more positive by
        default; banks, whose positive class is default and whose points favour its absence, take
        "negative".
    monotone : bool, list of str or int, or dict, default=False
        Which numbers have points that may only rise or only fall from bin to bin, special and
        missing values aside: all of them, or those listed by name or position. Neighbours are
        pooled until this holds, in the direction that changes the values less. `RIMARC` without
        shrinkage is monotone from the start. A dict also says in which direction, such as
        ``{"age": 1, "income": -1}``: 1 where the positive class may only become likelier as the
        number grows, -1 where it may only become less likely, 0 for either. The ranker is fitted
        with these directions as its ``monotonic_cst``, which must not be set, too.
    min_bin_share : float, default=0.001
        Minimum share of the training rows, by weight, in a bin of known values; in [0, 0.5]. A bin
        also needs 20 rows, or a tenth of all if that is less. Smaller bins are joined with the
        neighbour whose value is nearest, the smallest first; a neighbour of a category is the one
        next to it in value. Special values and missing ones keep bins of their own, however small.
        0 keeps all bins with rows.
    special_values : list of float or dict, default=None
        Numbers used as codes, such as -1 for "never", which get a bin each: in all numeric columns,
        or by name of the column. They are passed on to the ranker if it has such a parameter, and
        `GradientBoostingRanker` learns them as categories in addition to the number; other boosters
        treat them as numbers. None for those of the ranker.
    categorical_features : "from_dtype", array-like or None, default="from_dtype"
        Which columns are categorical: those whose dtype says so, or those listed by position, by
        name or in a boolean mask.
    class_weight : dict, "balanced" or None, default=None
        What the weights of rows are multiplied by, by class; "balanced" makes the sums of both
        classes equal. It shifts the odds of the points, and with them the rows called positive.
    n_jobs : int or None, default=None
        Number of threads: None for one per core as far as ``OMP_NUM_THREADS`` allows, -1 for all
        cores. The card does not depend on it.
    random_state : int, RandomState instance or None, default=None
        Seed of a randomised ranker without its own.

    Attributes
    ----------
    initial_points_ : int
        Points of every row.
    points_range_ : tuple of int
        The least and the greatest points that a row can have.
    ranker_auc_ : float
        AUC of the training rows by the ranker.
    exact_auc_ : float
        The same by the values of the ranker in the bins of the card, after bins were joined and
        missing values got a value, but before rounding to points.
    auc_ : float
        The same by points.
    merging_loss_ : float
        ``ranker_auc_`` less ``exact_auc_``.
    rounding_loss_ : float
        ``exact_auc_`` less ``auc_``. Negative if rounding ties rows that were ranked wrongly.
    ks_ : float
        Largest distance of the distributions of points of the two classes (Kolmogorov and
        Smirnov), from 0 to 1.
    base_score_ : float
        Log-odds of the positive class at the initial points.
    feature_importances_ : ndarray of shape (n_features,)
        AUC of the training rows by the points of one feature alone, less 1/2; 0 for features that
        are not on the card.
    edits_ : tuple of Edit
        Manual changes since the fit, in order, with the AUC before and after.
    classes_ : ndarray of shape (2,)
        Sorted labels; the second is the positive class.
    n_features_in_ : int
        Number of columns seen during :term:`fit`.
    feature_names_in_ : ndarray of shape (n_features,)
        Their names, if all are strings.

    See Also
    --------
    GradientBoostingRanker.additive : The default ranker of a card.
    RIMARC : A ranker as compact as a card, learned from fewer rows.

    Notes
    -----
    *Values.* The steps of the ranker are the first bins; those without training rows are joined
    with a neighbour. The value of a bin is that of the ranker's step function, or its mean over the
    training rows if bins were joined. Neighbours with equal points are merged into one bin.

    *Missing values.* `RIMARC` with ``missing="ignore"`` leaves them out of the mean of a row, so
    that the other features share their weight. A sum of points cannot do so: on its card a missing
    value has the points that the overall share of positives would have in this feature, regardless
    of its own rows, and ``merging_loss_`` includes the cost. On the card of either `RIMARC` these
    are also the points of missing and special values without training rows.

    *Points.* Log-odds are a linear function of the sum of values, by maximum likelihood with the
    targets of Platt [2]_, under which a perfect ranker also has finite odds. Points grow
    by ``pdo / ln(2)`` for each unit of log-odds. The lowest bin of each feature has 0 points: the
    shift is included in the initial points. Features whose points are all 0 are dropped from the
    card.

    *Scores.* `decision_function` gives the log-odds of the positive class that the points of a row
    represent, `predict_proba` the probability, and `predict` its label, positive above even odds.

    Categories not seen in fit count as missing; so do those known to a frozen ranker but absent
    from ``X``. Equal rows have equal points, and neither the order of the rows nor ``n_jobs``
    matters.

    *Rows that are not in memory.* ``fit`` takes a `Dataset`: its ranker is fitted to it as it would
    be on its own, and four passes count the rows by its scores, by bins, by their values and by
    points. The card equals that of a frame with all rows. Up to 256 MB of scores stay in memory,
    the rest is in files in ``spill_dir``. A ranker that learns from the common sample, such as
    `AURORA`, warns, and its card counts all rows.

    References
    ----------
    .. [1] Güvenir and Kurtcephe, "Ranking instances by maximizing the area under ROC curve", IEEE
       Trans. Knowl. Data Eng. 25(10), 2013.
    .. [2] Platt, "Probabilistic outputs for support vector machines and comparisons to regularized
       likelihood methods", Advances in Large Margin Classifiers, 1999.

    Examples
    --------
    >>> import numpy as np
    >>> from aucrank import Scorecard
    >>> from aucrank.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> names = ["mean_concave_points", "mean_texture"]
    >>> card = Scorecard(min_bin_share=0.2).fit(X[names], y)
    >>> text = card.to_text()
    >>> print(text[: text.index("Points of what")].rstrip())
    SCORECARD: many points speak for class 1
    <BLANKLINE>
    Start with 458 points and add those of one line of each block.
    <BLANKLINE>
                                 points  rows  share  class 1
    mean_concave_points
      under 0.02947                   0   252  44.3%     2.8%
      0.02947 to under 0.062325      74   142  25.0%    29.6%
      0.062325 and up               183   175  30.8%    93.1%
    <BLANKLINE>
    mean_texture
      under 18.295                    0   252  44.3%    13.9%
      18.295 to under 21.205         49   142  25.0%    45.1%
      21.205 and up                  75   175  30.8%    64.6%
    >>> card.points(X[names][:3])
    array([641, 641, 716])
    >>> card.probability_at([580, 600, 620]).round(3)
    array([0.333, 0.5  , 0.667])

    A bank's card: 600 points are odds of 50 good to 1 bad, and more points are better.

    >>> bank = Scorecard(base_odds=50, high_points="negative").fit(X[names], y)
    >>> bool(np.isclose(bank.probability_at(600.0), 1 / 51))
    True
    """

    _family = "scorecard"
    # In addition to the tags of its ranker.
    _fits_dataset = "passes"
    _model: _core.Scorecard

    def __init__(
        self,
        *,
        estimator: Any = None,
        base_points: float = 600.0,
        base_odds: float = 1.0,
        pdo: float = 20.0,
        high_points: str = "positive",
        monotone: Any = False,
        min_bin_share: float = 0.001,
        special_values: Any = None,
        categorical_features: Any = "from_dtype",
        class_weight: Any = None,
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.estimator = estimator
        self.base_points = base_points
        self.base_odds = base_odds
        self.pdo = pdo
        self.high_points = high_points
        self.monotone = monotone
        self.min_bin_share = min_bin_share
        self.special_values = special_values
        self.categorical_features = categorical_features
        self.class_weight = class_weight
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _check_params(self) -> None:
        check_ranker(self.estimator)
        self._base()
        check_real(self.pdo, "pdo", low=0.0, high=1e9, low_open=True)
        check_choice(self.high_points, "high_points", ("positive", "negative"))
        check_real(self.min_bin_share, "min_bin_share", low=0.0, high=0.5)
        is_dict = isinstance(self.monotone, Mapping)
        is_list = isinstance(self.monotone, Iterable) and not isinstance(self.monotone, str)
        # A Series with labels may be meant as a dict, but its items are its values.
        if is_list and hasattr(self.monotone, "keys"):
            is_list = list(self.monotone.keys()) == list(range(len(self.monotone)))
        if not (is_dict or is_list or isinstance(self.monotone, bool | np.bool_)):
            raise TypeError(
                "monotone must be True, False or a list of columns, or a dict from columns to 1 or"
                f" -1, by name or position, got {self.monotone!r}"
            )
        if is_dict:
            for column, direction in self.monotone.items():
                check_direction(direction, f" for {column!r}", "monotone")
            check_takes_directions(self.estimator)

    def _base(self) -> tuple[float, float]:
        """Return base points and odds, each checked: they are read after the fit, too."""
        points = check_real(self.base_points, "base_points", low=-1e9, high=1e9)
        odds = check_real(self.base_odds, "base_odds", low=0.0, low_open=True, high_open=True)
        assert points is not None
        assert odds is not None
        return points, odds

    def _summary(self) -> list[Section]:
        sections = [Section("The card", self.to_text().rstrip("\n"))]
        if self.edits_:
            sections.append(Section("Changes by hand", table=self._edit_table()))
        if self._is_counted:
            sections.append(Section("Training rows by points", table=self.score_table()))
        return sections

    def _n_stages(self) -> int | None:
        # Tasks of the ranker, if it is to be fitted, and of the passes over a data set.
        n_stages: int | None = ranker_of(self.estimator)._n_stages()
        return None if n_stages is None else n_stages + 1

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
        """Fit the card to rows of two classes.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n, n_features), or Dataset
            Training data. Data frames of pandas, polars and pyarrow may have categorical columns;
            NaN, None and null are missing values.
            A :class:`~aucrank.data.Dataset` has rows that need not fit in memory, and their labels
            and weights: the card equals that of one frame with all of its rows.
        y : array-like of shape (n,), default=None
            Labels, two distinct values. The greater one is the positive class. None where ``X`` is
            a data set.
        sample_weight : array-like of shape (n,), default=None
            Weight of each row; weight k means the row repeated k times, and weight 0 a row that
            is not there.
        groups : array-like of shape (n,), default=None
            Which rows belong together, such as those of a patient: they stay together in folds, in
            held-out rows and in samples.
        time : array-like of shape (n,), default=None
            Time of each row, as a number or date: the latest rows are held out, and folds are
            ranges of time.
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
            If a parameter, the data, the labels or the weights are not valid.
        """
        return self._fit(X, y, sample_weight, groups=groups, time=time, gap=gap)

    def _fit_model(self, context: FitContext) -> _core.Scorecard:
        sample = context.sample
        special_values = special_values_of(self.estimator, self.special_values)
        n_rows = number_of_rows(sample.weight, sample.n_rows)
        params = self._points_params(special_values, sample.schema, n_rows)
        directions = _directions(self.monotone, sample.schema)
        ranker = ranker_to_fit(self.estimator, directions, n_rows)
        terms, scores = step_functions(ranker, special_values, self.classes_, context)
        return _core.build_scorecard(sample.core, terms, scores, params, context.n_threads)

    def _check_for_dataset(self) -> None:
        super()._check_for_dataset()
        special_values = special_values_of(self.estimator, self.special_values)
        check_for_dataset(self.estimator, special_values)

    def _holds_codes(self) -> bool:
        if isinstance(self.estimator, FrozenEstimator):
            return False
        is_held: bool = ranker_of(self.estimator)._holds_codes()
        return is_held

    def _bytes_of_state(self) -> int:
        if isinstance(self.estimator, FrozenEstimator):
            return 0
        n_bytes: int = ranker_of(self.estimator)._bytes_of_state()
        return n_bytes

    def _check_for_counts(self, dataset: Dataset) -> None:
        special_values = special_values_of(self.estimator, self.special_values)
        check_for_dataset(self.estimator, special_values, dataset)

    def _fit_facts(self, whole: DatasetContext) -> None:
        schema, n_threads = whole.facts.schema, whole.n_threads
        special_values = special_values_of(self.estimator, self.special_values)
        raw_rows = whole.raw_rows()
        inside = replace(whole, known_rows=raw_rows)
        n_counted = whole.facts.target.n_counted
        ranker = ranker_to_fit(self.estimator, _directions(self.monotone, schema), n_counted)
        terms, scores = fit_ranker(ranker, special_values, inside)
        rows = CardRows(raw_rows, scores, schema)
        observer = whole.progress.observer

        def built(n_rows: int) -> _core.Scorecard:
            params = self._points_params(special_values, schema, n_rows)
            return _core.build_scorecard(rows, terms, None, params, n_threads, observer)

        with errors_by_name(schema):
            model = built(n_counted)
            # Class weights may make fractions whole, which only the card has seen.
            n_rows = json.loads(model.to_json())["total"]["rows"]
            if self._least_share(n_rows) != self._least_share(n_counted):
                model = built(n_rows)
        self._set_fitted(whole.facts.target.classes, schema, model)

    def _points_params(self, special_values: Any, schema: Schema, n_rows: int) -> str:
        """Return the parameters of the points as JSON text for the core.

        Parameters
        ----------
        special_values : list of float, dict or None
            Those of the card.
        schema : Schema
            The columns.
        n_rows : int
            Number of rows, by `number_of_rows`.
        """
        base_points, base_odds = self._base()
        params = {
            "base_points": base_points,
            "base_odds": base_odds,
            "pdo": float(self.pdo),
            "high_points": self.high_points,
            "monotone": _monotone_columns(self.monotone, schema),
            "min_bin_share": self._least_share(n_rows),
            "special": special_by_column(special_values, schema),
        }
        return json.dumps(params)

    def _least_share(self, n_rows: int) -> float:
        """Return the share of the rows that a bin needs."""
        return least_share(float(self.min_bin_share), n_rows)

    def _bound_directions(self) -> dict[int, int | None]:
        schema, sign = self._schema, self._card.sign
        monotonic_cst = getattr(ranker_of(self.estimator), "monotonic_cst", None)
        directions = _directions(self.monotone, schema)
        if directions is None:
            directions = monotonic_directions(monotonic_cst, schema)
        found: dict[int, int | None] = {p: d for p, d in enumerate(directions) if d}
        is_bound = _monotone_columns(self.monotone, schema)
        for feature in self._card.features:
            if feature.is_numeric and is_bound[feature.place] and feature.place not in found:
                points = [bin_.points for bin_ in feature.of_kind("interval")]
                found[feature.place] = sign * int(np.sign(points[-1] - points[0])) or None
        return found

    def to_integer_score(
        self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None, **params: Any
    ) -> IntegerScore:
        """Search a score of a few features of the card with a few lines each.

        Parameters
        ----------
        X : array-like or data frame of shape (n, n_features)
            Rows to learn from, usually those of the fit.
        y : array-like of shape (n,)
            Their labels.
        sample_weight : array-like of shape (n,), default=None
            Their weights.
        **params : Any
            Parameters of `IntegerScore`. Those not given are its defaults; but ``high_points``,
            ``special_values``, ``categorical_features``, ``class_weight`` and ``n_jobs`` are those
            of the card, ``monotonic_cst`` has the directions that bind its points, and
            ``excluded_features`` are the columns without points.

        Returns
        -------
        IntegerScore
            The fitted score.

        Raises
        ------
        NotFittedError
            If there is no card yet.
        TypeError, ValueError
            If a parameter or the rows are not valid, or the card has no feature with points.

        Examples
        --------
        >>> from aucrank import Scorecard
        >>> from aucrank.datasets import load_breast_cancer
        >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
        >>> card = Scorecard().fit(X, y).without("worst_area")
        >>> score = card.to_integer_score(X, y, max_features=2)
        >>> print(*dict.fromkeys(score.card()["feature"]))
        worst_perimeter worst_smoothness
        """
        check_is_fitted(self)
        self._edit_rows(X, y, sample_weight)
        schema, bound = self._schema, self._bound_directions()
        places = range(len(schema.features))
        with_points = {f.place for f in self._card.features if any(b.points for b in f.bins)}
        if not with_points:
            raise ValueError("the card has no feature with points")
        of_card = {
            "high_points": self.high_points,
            "special_values": special_values_of(self.estimator, self.special_values),
            "categorical_features": self.categorical_features,
            "class_weight": self.class_weight,
            "n_jobs": self.n_jobs,
            "monotonic_cst": [bound.get(place) or 0 for place in places],
            "excluded_features": [place for place in places if place not in with_points],
        }
        return IntegerScore(**(of_card | params)).fit(X, y, sample_weight)

    @property
    def ranker_auc_(self) -> float:
        """Return the AUC of the training rows by the ranker.

        Returns
        -------
        float
            By the scores of the ranker that the card represents.
        """
        return self._fitted.ranker_auc

    @property
    def exact_auc_(self) -> float:
        """Return the AUC of the training rows before points were rounded.

        Returns
        -------
        float
            By the values of the ranker in the bins of the card.
        """
        return self._fitted.exact_auc

    @property
    def merging_loss_(self) -> float:
        """Return the AUC lost by joining bins and by assigning a value to missing values.

        Returns
        -------
        float
            ``ranker_auc_`` less ``exact_auc_``; negative if the AUC gains.
        """
        return self.ranker_auc_ - self.exact_auc_

    @property
    def rounding_loss_(self) -> float:
        """Return the AUC lost by rounding to whole points.

        Returns
        -------
        float
            ``exact_auc_`` less ``auc_``; negative if the AUC gains.
        """
        return self.exact_auc_ - self.auc_


def _monotone_columns(monotone: Any, schema: Schema) -> list[bool]:
    """Return for each column whether its points must be monotone."""
    n_features = len(schema.features)
    if isinstance(monotone, bool | np.bool_):
        return [bool(monotone)] * n_features
    if isinstance(monotone, Mapping):
        return [direction != 0 for direction in _directions(monotone, schema) or []]
    chosen = [_number_at(column, schema) for column in monotone]
    if (doubled := first_doubled(chosen)) is not None:
        raise ValueError(
            f"monotone lists column {schema.label(doubled)} twice; directions of columns are given"
            ' in a dict, such as {"age": 1}'
        )
    return [place in chosen for place in range(n_features)]


def _directions(monotone: Any, schema: Schema) -> list[int] | None:
    """Return the direction of each column, 0 if it is free; None if none is given."""
    if not isinstance(monotone, Mapping):
        return None
    found: dict[int, int] = {}
    for column, direction in monotone.items():
        place = _number_at(column, schema)
        if found.setdefault(place, int(direction)) != direction:
            raise ValueError(
                f"monotone names column {schema.label(place)} twice, in two directions"
            )
    return [found.get(place, 0) for place in range(len(schema.features))]


def _number_at(column: Any, schema: Schema) -> int:
    """Return the position of a column of numbers in ``monotone``."""
    place = find_column(column, schema.names, len(schema.features), _MONOTONE, "monotone")
    if schema.features[place].levels is not None:
        raise ValueError(
            f"monotone names column {schema.label(place)}, which is categorical: categories"
            " have no order"
        )
    return place
