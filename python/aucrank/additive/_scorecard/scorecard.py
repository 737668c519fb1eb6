"""Scorecards: whole points for the bins of each feature."""

import json
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from aucrank import _core
from aucrank._base.ranker import BaseRanker, ProbabilityMixin
from aucrank._data.sample import Sample
from aucrank._data.schema import Schema
from aucrank._data.table import Table, whole
from aucrank._utils.params import check_choice, check_int, check_real
from aucrank.additive._bins import special_by_column
from aucrank.additive._scorecard.drift import DriftMixin
from aucrank.additive._scorecard.export import CardExportMixin
from aucrank.additive._scorecard.ranker import check_ranker, special_values_of, step_functions
from aucrank.additive._scorecard.reasons import ReasonsMixin
from aucrank.additive._scorecard.sheet import CardSheetMixin


class Scorecard(
    CardSheetMixin, ReasonsMixin, CardExportMixin, DriftMixin, ProbabilityMixin, BaseRanker
):
    """Whole points for the bins of each feature, which a person can add up.

    The card stands for a ranker whose score is a sum of step functions, one for each feature, such
    as `RIMARC` [1]_: what each of its steps adds is turned into log-odds, log-odds into points, and
    points are rounded. A row starts with the initial points and gets those of its bin of each
    feature; ``pdo`` more points double its odds.

    Parameters
    ----------
    estimator : RIMARC, RankBoost, AUCBoost or AURORA, default=None
        The ranker that the card stands for. It is cloned and fitted, unless it comes fitted in a
        `sklearn.frozen.FrozenEstimator`, whose columns and classes must be those of the fit.
        Boosters must have a ``weak_ranker`` that asks one feature, and `AURORA` ``order=1`` or, if
        it is fitted, terms of single features alone. None for
        ``RIMARC(missing="value")``, of which every missing value has points by its own share of
        positives; for ``RIMARC(missing="ignore")`` see Notes.
    base_points : float, default=600.0
        Points of a row whose odds are ``base_odds``; from -10^9 to 10^9.
    base_odds : float, default=1.0
        Odds, at ``base_points``, of the class that many points speak for; positive. As it is, 600
        points are even odds, and `predict` calls rows beyond positive.
    pdo : float, default=20.0
        Points to double the odds; positive. More of them lose less by rounding.
    high_points : {"positive", "negative"}, default="positive"
        The class that many points speak for. As in all of aucrank more is more positive by default;
        banks, whose positive class is default and whose points speak for its absence, take
        "negative".
    monotone : bool or list of str or int, default=False
        Which numbers have points that may only rise or only fall from bin to bin, special and
        missing values aside: all of them, or those listed by name or position. Neighbours are
        pooled until it is so, in the direction that changes the values less. `RIMARC` without
        shrinkage is monotone from the start.
    min_bin_share : float, default=0.0
        Share of the training rows, by weight, that a bin of known values holds at least; in
        [0, 0.5]. Smaller bins are joined with the neighbour whose value is nearest, the smallest
        first; a neighbour of a category is the one next to it in value. Special values and missing
        ones keep bins of their own, however small.
    special_values : list of float or dict, default=None
        Numbers that mean something else than their size, such as -1 for "never", and get a bin
        each: in all numeric columns, or by name of the column. They are passed on to the ranker if
        it has such a parameter. None for those of the ranker.
    categorical_features : "from_dtype", array-like or None, default="from_dtype"
        Which columns are categorical: those whose dtype says so, or those listed by position, by
        name or in a boolean mask.
    n_jobs : int or None, default=None
        Number of threads: None for one per core as far as ``OMP_NUM_THREADS`` allows, -1 for all
        cores. The card does not depend on it.
    random_state : int, RandomState instance or None, default=None
        Seed of a ranker that draws and has none itself.

    Attributes
    ----------
    initial_points_ : int
        Points of every row.
    points_range_ : tuple of int
        The fewest and the most points that a row can have.
    ranker_auc_ : float
        AUC of the training rows by the ranker.
    exact_auc_ : float
        By the values of the ranker in the bins of the card, before they were rounded to points:
        after bins were joined and missing values had a value.
    auc_ : float
        By points.
    merging_loss_ : float
        ``ranker_auc_`` less ``exact_auc_``.
    rounding_loss_ : float
        ``exact_auc_`` less ``auc_``. Below 0 where rounding ties rows that were ranked wrong.
    ks_ : float
        Largest distance of the distributions of points of the two classes (Kolmogorov and
        Smirnov), from 0 to 1.
    base_score_ : float
        Log-odds of the positive class at the initial points.
    feature_importances_ : ndarray of shape (n_features,)
        By how much the AUC of the training rows, ranked by the points of one feature alone, is
        above 1/2; 0 for features that are not on the card.
    classes_ : ndarray of shape (2,)
        Sorted labels; the second is the positive class.
    n_features_in_ : int
        Number of columns seen during :term:`fit`.
    feature_names_in_ : ndarray of shape (n_features,)
        Their names, if all are strings.

    See Also
    --------
    RIMARC : The ranker that a card stands for by default.

    Notes
    -----
    *Values.* The steps of the ranker are the first bins; those that no training row is in are
    joined with a neighbour. The value of a bin is what the ranker's step function adds, and the
    mean of it over the training rows where bins were joined. Neighbours of equal points end in one
    bin.

    *Missing values.* `RIMARC` with ``missing="ignore"`` leaves them out of the mean of a row, so
    that the other features share their weight. A sum of points cannot do so: on its card a missing
    value has the points that the overall share of positives would have in this feature, whatever
    its own rows are like, and ``merging_loss_`` has what that costs. On the card of either `RIMARC`
    these are the points of missing values, and of special ones, that no training row had.

    *Points.* Log-odds are a line along the sum of values, by maximum likelihood with the targets of
    Platt [2]_, under which a ranker without mistakes has finite odds, too. Points grow by
    ``pdo / ln(2)`` for each unit of log-odds. The lowest bin of each feature has 0 points: what was
    taken off to make it so is in the initial points. Features whose points are all 0 leave the
    card.

    *Scores.* `decision_function` gives the log-odds of the positive class that the points of a row
    stand for, `predict_proba` the probability, and `predict` its label, positive above even odds.

    Categories not seen in fit count as missing; so do those which a frozen ranker knows but ``X``
    does not hold. Equal rows have equal points, and neither the order of the rows nor ``n_jobs``
    matters.

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
    Start with 482 points and add those of one line of each block.
    <BLANKLINE>
                                 points  rows  share  class 1
    mean_concave_points
      under 0.026805                  0   215  37.8%     0.9%
      0.026805 to under 0.04923      20   129  22.7%    12.4%
      0.04923 and up                148   225  39.5%    86.2%
    <BLANKLINE>
    mean_texture
      under 19.61                     0   323  56.8%    18.0%
      19.61 and up                   48   246  43.2%    62.6%
    >>> card.points(X[names][:3])
    array([630, 630, 678])
    >>> card.probability_at([580, 600, 620]).round(3)
    array([0.333, 0.5  , 0.667])

    A bank's card: 600 points are odds of 50 good to 1 bad, and more points are better.

    >>> bank = Scorecard(base_odds=50, high_points="negative").fit(X[names], y)
    >>> bool(np.isclose(bank.probability_at(600.0), 1 / 51))
    True
    """

    _family = "scorecard"
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
        min_bin_share: float = 0.0,
        special_values: Any = None,
        categorical_features: Any = "from_dtype",
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
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _check_params(self) -> None:
        check_ranker(self.estimator)
        self._base()
        check_real(self.pdo, "pdo", low=0.0, high=1e9, low_open=True)
        check_choice(self.high_points, "high_points", ("positive", "negative"))
        check_real(self.min_bin_share, "min_bin_share", low=0.0, high=0.5)
        is_list = isinstance(self.monotone, Iterable) and not isinstance(
            self.monotone, str | Mapping
        )
        if not (is_list or isinstance(self.monotone, bool | np.bool_)):
            raise TypeError(
                "monotone must be True, False or a list of columns by name or position, got"
                f" {self.monotone!r}"
            )

    def _base(self) -> tuple[float, float]:
        """Return base points and odds, each checked: they are read after the fit, too."""
        points = check_real(self.base_points, "base_points", low=-1e9, high=1e9)
        odds = check_real(self.base_odds, "base_odds", low=0.0, low_open=True, high_open=True)
        assert points is not None
        assert odds is not None
        return points, odds

    def _fit_model(
        self,
        sample: Sample,
        seed: int,
        n_threads: int,
    ) -> _core.Scorecard:
        special_values = special_values_of(self.estimator, self.special_values)
        base_points, base_odds = self._base()
        params = {
            "base_points": base_points,
            "base_odds": base_odds,
            "pdo": float(self.pdo),
            "high_points": self.high_points,
            "monotone": _monotone_columns(self.monotone, sample.schema),
            "min_bin_share": float(self.min_bin_share),
            "special": special_by_column(special_values, sample.schema),
        }
        terms, scores = step_functions(
            self.estimator, special_values, self.classes_, sample, seed, n_threads
        )
        return _core.build_scorecard(
            sample.core,
            terms,
            scores,
            json.dumps(params),
            n_threads,
        )

    @property
    def _fitted(self) -> _core.Scorecard:
        check_is_fitted(self)
        return self._model

    @property
    def initial_points_(self) -> int:
        """Return the points of every row.

        Returns
        -------
        int
            Below 0 where ``base_points`` are few.
        """
        return self._fitted.initial_points

    @property
    def points_range_(self) -> tuple[int, int]:
        """Return the fewest and the most points that a row can have.

        Returns
        -------
        tuple of int
            The first is ``initial_points_``.
        """
        return self._fitted.points_range

    @property
    def ranker_auc_(self) -> float:
        """Return the AUC of the training rows by the ranker.

        Returns
        -------
        float
            Of the ranker that the card stands for.
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
    def auc_(self) -> float:
        """Return the AUC of the training rows by points.

        Returns
        -------
        float
            As `score` gives it on these rows.
        """
        return self._fitted.auc

    @property
    def merging_loss_(self) -> float:
        """Return the AUC lost by joining bins, and by giving missing values a value.

        Returns
        -------
        float
            ``ranker_auc_`` less ``exact_auc_``; below 0 where the training rows gain.
        """
        return self.ranker_auc_ - self.exact_auc_

    @property
    def rounding_loss_(self) -> float:
        """Return the AUC lost by rounding to whole points.

        Returns
        -------
        float
            ``exact_auc_`` less ``auc_``; below 0 where the training rows gain.
        """
        return self.exact_auc_ - self.auc_

    @property
    def ks_(self) -> float:
        """Return the largest distance of the distributions of points of the two classes.

        Returns
        -------
        float
            From 0 to 1, on the training rows.
        """
        _, weights = self._distribution()
        return float(np.abs(_gaps(weights)).max())

    @property
    def base_score_(self) -> float:
        """Return the log-odds of the positive class at the initial points.

        Returns
        -------
        float
            What `explain` leaves out of `decision_function`.
        """
        model = self._fitted
        return model.log_odds(float(model.initial_points))

    @property
    def feature_importances_(self) -> NDArray[np.float64]:
        """Return by how much each feature alone ranks better than chance.

        Returns
        -------
        ndarray of shape (n_features,)
            AUC of the training rows by the points of the feature, less 1/2; 0 if that is below 0,
            or the feature is not on the card.
        """
        return self._fitted.importances()

    def points(self, X: Any) -> NDArray[np.int64]:
        """Add up the points of each row.

        Parameters
        ----------
        X : array-like or data frame of shape (n, n_features)
            Rows with the columns seen in fit. A category that was not seen there is missing.

        Returns
        -------
        ndarray of int64, shape (n,)
            Between the two of ``points_range_``.

        Raises
        ------
        NotFittedError
            If there is no card yet.
        ValueError
            If the columns are not those seen in fit.

        Examples
        --------
        >>> from aucrank import Scorecard
        >>> X = [[0, 1], [0, 2], [1, 1], [1, 2], [1, 2], [0, 1]]
        >>> card = Scorecard().fit(X, [0, 1, 0, 1, 1, 0])
        >>> card.initial_points_, card.points_by_feature(X[:3]).tolist()
        (557, [[0, 0], [0, 77], [9, 0]])
        >>> card.points(X[:3])
        array([557, 634, 566])
        """
        points: NDArray[np.int64] = self._query("points", X)
        return points

    def points_by_feature(self, X: Any) -> NDArray[np.int64]:
        """Return the points of each feature of each row.

        Parameters
        ----------
        X : array-like or data frame of shape (n, n_features)
            Rows with the columns seen in fit.

        Returns
        -------
        ndarray of int64, shape (n, n_features)
            A row adds up to its `points` less ``initial_points_``; 0 for features that are not on
            the card.

        Raises
        ------
        NotFittedError
            If there is no card yet.
        ValueError
            If the columns are not those seen in fit.
        """
        parts: NDArray[np.float64] = self._query("explain", X)
        return parts.reshape(-1, self.n_features_in_).astype(np.int64)

    def explain(self, X: Any) -> NDArray[np.float64]:
        """Return what each feature adds to the score of each row, in log-odds.

        Parameters
        ----------
        X : array-like or data frame of shape (n, n_features)
            Rows with the columns seen in fit.

        Returns
        -------
        ndarray of float64, shape (n, n_features)
            The points of `points_by_feature` as log-odds of the positive class, below 0 where
            points speak for the negative one. A row adds up to its `decision_function` less
            ``base_score_``, up to rounding.

        Raises
        ------
        NotFittedError
            If there is no card yet.
        ValueError
            If the columns are not those seen in fit.

        Examples
        --------
        >>> import numpy as np
        >>> from aucrank import Scorecard
        >>> X = [[0, 1], [0, 2], [1, 1], [1, 2], [1, 2], [0, 1]]
        >>> card = Scorecard().fit(X, [0, 1, 0, 1, 1, 0])
        >>> parts = card.explain(X)
        >>> np.allclose(parts.sum(axis=1) + card.base_score_, card.decision_function(X))
        True
        """
        parts = self.points_by_feature(X)
        card = self._card()
        sign = 1.0 if card["high_points"] == "positive" else -1.0
        log_odds: NDArray[np.float64] = sign * parts / card["factor"]
        return log_odds

    def odds(self, points: ArrayLike) -> Any:
        """Return the odds of the class that many points speak for.

        Parameters
        ----------
        points : array-like of float
            Any points, whole or not.

        Returns
        -------
        float or ndarray of float64
            ``base_odds`` at ``base_points``, and twice as much ``pdo`` points further on.

        Raises
        ------
        NotFittedError
            If there is no card yet.

        Examples
        --------
        >>> from aucrank import Scorecard
        >>> card = Scorecard(base_odds=10).fit([[0.0], [1.0], [2.0], [3.0]], [0, 1, 0, 1])
        >>> card.odds([580, 600, 620]).round(6)
        array([ 5., 10., 20.])
        """
        check_is_fitted(self)
        card = self._card()
        odds = np.exp((np.asarray(points, dtype=np.float64) - card["offset"]) / card["factor"])
        return odds[()]

    def probability_at(self, points: ArrayLike) -> Any:
        """Return the probability of the positive class that points stand for.

        Parameters
        ----------
        points : array-like of float
            Any points, whole or not.

        Returns
        -------
        float or ndarray of float64
            From 0 to 1.

        Raises
        ------
        NotFittedError
            If there is no card yet.
        """
        odds = self.odds(points)
        with np.errstate(divide="ignore"):
            share = 1 / (1 + 1 / odds)
        return share if self._card()["high_points"] == "positive" else 1 / (1 + odds)

    def points_at(self, probability: ArrayLike) -> Any:
        """Return the points at which the positive class has some probability.

        Parameters
        ----------
        probability : array-like of float
            Above 0 and below 1.

        Returns
        -------
        float or ndarray of float64
            The points, not rounded: where `probability_at` gives ``probability``.

        Raises
        ------
        NotFittedError
            If there is no card yet.
        ValueError
            If a probability is not between 0 and 1.

        Examples
        --------
        >>> from aucrank import Scorecard
        >>> card = Scorecard().fit([[0.0], [1.0], [2.0], [3.0]], [0, 1, 0, 1])
        >>> float(card.points_at(0.8).round(6))
        640.0
        """
        check_is_fitted(self)
        card = self._card()
        share = np.asarray(probability, dtype=np.float64)
        if not ((share > 0) & (share < 1)).all():
            raise ValueError(f"probability must be in (0, 1), got {probability!r}")
        sign = 1.0 if card["high_points"] == "positive" else -1.0
        points = card["offset"] + sign * card["factor"] * (np.log(share) - np.log1p(-share))
        return points[()]

    def score_table(self, n_bands: int = 10) -> Table:
        """Return bands of points with the training rows in each, to choose a cut-off by.

        Parameters
        ----------
        n_bands : int, default=10
            Number of bands of about as many rows each, at most: rows of the same points are never
            parted.

        Returns
        -------
        Table
            One row for each band, from few points to many: ``low`` and ``high``, its least and
            most points; ``size`` and ``n_pos``, weight of its training rows and of the positive
            ones; ``rate``, their share; ``expected_rate``, what `predict_proba` says on average;
            ``size_up_to``, ``pos_up_to`` and ``neg_up_to``, the share of all rows, of the positives
            and of the negatives with at most ``high`` points; and ``ks``, by how much the last two
            differ.

        Raises
        ------
        NotFittedError
            If there is no card yet.
        TypeError, ValueError
            If ``n_bands`` is not a number of at least 1.

        Examples
        --------
        >>> from aucrank import Scorecard
        >>> from aucrank.datasets import load_breast_cancer
        >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
        >>> table = Scorecard().fit(X[["mean_texture"]], y).score_table(4)
        >>> table.to_frame()[["low", "high", "size", "n_pos", "size_up_to", "pos_up_to"]].round(3)
           low  high  size  n_pos  size_up_to  pos_up_to
        0  526   545   153     12       0.269      0.057
        1  555   574   120     27       0.480      0.184
        2  579   617   151     77       0.745      0.547
        3  620   670   145     96       1.000      1.000
        """
        n_bands = check_int(n_bands, "n_bands", low=1) or 1
        points, weights = self._distribution()
        size = weights.sum(axis=1)
        # The band of the middle row of all that have the same points.
        middle = (np.cumsum(size) - size / 2) / size.sum()
        band = np.minimum((middle * n_bands).astype(np.intp), n_bands - 1)
        starts = np.flatnonzero(np.diff(band, prepend=-1))
        ends = np.append(starts[1:], len(band)) - 1
        of_band = np.add.reduceat(weights, starts, axis=0)
        expected = np.add.reduceat(size * self.probability_at(points), starts)
        up_to = np.cumsum(of_band, axis=0)
        totals = up_to[-1]
        band_size = of_band.sum(axis=1)
        return Table(
            low=points[starts],
            high=points[ends],
            size=whole(band_size),
            n_pos=whole(of_band[:, 1]),
            rate=of_band[:, 1] / band_size,
            expected_rate=expected / band_size,
            size_up_to=up_to.sum(axis=1) / totals.sum(),
            pos_up_to=up_to[:, 1] / totals[1],
            neg_up_to=up_to[:, 0] / totals[0],
            ks=np.abs(_gaps(of_band)),
        )

    def _distribution(self) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Return points of the training rows, ascending, and the weight of each class at them."""
        check_is_fitted(self)
        card = self._card()
        points = np.array([points for points, _ in card["distribution"]], dtype=np.int64)
        units = np.array([[s["neg"], s["pos"]] for _, s in card["distribution"]], dtype=np.float64)
        return points, np.ldexp(units, card["exponent"])


def _gaps(weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return by how much the shares of both classes up to each group differ."""
    up_to = np.cumsum(weights, axis=0)
    shares = up_to / up_to[-1]
    gaps: NDArray[np.float64] = shares[:, 0] - shares[:, 1]
    return gaps


def _monotone_columns(monotone: Any, schema: Schema) -> list[bool]:
    """Return for each column whether its points must be monotone."""
    n_features = len(schema.features)
    if isinstance(monotone, bool | np.bool_):
        return [bool(monotone)] * n_features
    names = schema.names or []
    chosen = set()
    for column in monotone:
        if isinstance(column, str):
            if column not in names:
                raise ValueError(f"monotone names a column that X does not have: {column!r}")
            place = names.index(column)
        else:
            place = check_int(column, "a position in monotone", low=0, high=n_features - 1) or 0
        if schema.features[place].levels is not None:
            raise ValueError(
                f"monotone names column {schema.label(place)}, which is categorical: categories"
                " have no order"
            )
        chosen.add(place)
    return [place in chosen for place in range(n_features)]
