"""Scores for mental arithmetic: few features, few bins, points from 0 to 10."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone
from sklearn.model_selection import StratifiedKFold, check_cv
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import check_is_fitted

from aucrank._data.input import each_column
from aucrank._data.weights import check_weight
from aucrank._export.bins import read_bins, words_of_bins
from aucrank._utils.params import check_choice, check_int, check_real
from aucrank._utils.warn import warn_caller
from aucrank._utils.words import listed, plural
from aucrank.additive._scorecard.edits import bin_places
from aucrank.additive._scorecard.integer import (
    WeightedRows,
    against_direction,
    bin_coefficients,
    forward_order,
    in_range_of_others,
    least_mass,
    line_of_totals,
    quantile_cuts,
    round_cuts,
    trend_of,
    with_rows,
    without_small,
)
from aucrank.additive._scorecard.parsimony import Parsimony
from aucrank.additive._scorecard.points import PointsCard

if TYPE_CHECKING:
    from aucrank._data.sample import Sample


# Minimum number of features tried one after another.
_MOST_TRIED = 20


@dataclass(frozen=True, slots=True)
class _Recipe:
    """Parameters of a small score; ``rounding`` is None for cuts at quantiles."""

    order: str
    max_points: int
    rounding: float | None
    min_bin_share: float

    @classmethod
    def checked(
        cls, order: Any, max_points: Any, cuts: Any, tolerance: Any, min_bin_share: Any
    ) -> _Recipe:
        check_choice(order, "order", ("spread", "forward"))
        check_choice(cuts, "cuts", ("round", "quantiles"))
        most = check_int(max_points, "max_points", low=1, high=10**6) or 1
        lost = check_real(tolerance, "tolerance", low=0.0, high=0.5)
        share = check_real(min_bin_share, "min_bin_share", low=0.0, high=0.5) or 0.0
        return cls(order, most, lost if cuts == "round" else None, share)


@dataclass(frozen=True, slots=True)
class _Binned:
    """Rows of positive weight, and features in the bins of a small score."""

    rows: WeightedRows
    raw: list[NDArray[Any]]
    bins: list[dict[str, Any]]
    places: NDArray[np.intp]
    least: float

    @classmethod
    def of(cls, sample: Sample, features: list[dict[str, Any]], recipe: _Recipe) -> _Binned:
        weight = np.ones(sample.n_rows) if sample.weight is None else sample.weight
        has_weight = weight > 0
        rows = WeightedRows(sample.labels[has_weight], weight[has_weight])
        least = least_mass(rows, recipe.min_bin_share)
        columns = list(each_column(sample.columns))
        raw = [np.asarray(columns[f["feature"]])[has_weight] for f in features]
        bins = [
            _bins_of(f["bins"], values, rows, recipe.rounding, least)
            for f, values in zip(features, raw, strict=True)
        ]
        places = np.stack([_places(b, v) for b, v in zip(bins, raw, strict=True)], axis=1)
        return cls(rows, raw, bins, places, least)

    @property
    def n_bins(self) -> tuple[list[int], list[int]]:
        """Number of bins of each feature, and of those for special and missing values."""
        n_apart = [1 + len(b["numeric"]["special"] if "numeric" in b else []) for b in self.bins]
        return [_n_bins(b) for b in self.bins], n_apart

    def sizes(self, feature: int) -> NDArray[np.float64]:
        """Return the weight of the rows of each bin of a feature."""
        n_bins = _n_bins(self.bins[feature])
        sizes: NDArray[np.float64] = self.rows.masses(self.places[:, feature], n_bins).sum(axis=1)
        return sizes

    def without_cuts(self, feature: int, dropped: Sequence[int]) -> _Binned:
        """Return the features with some intervals joined with the next, given by place."""
        numeric = self.bins[feature]["numeric"]
        cuts = [cut for place, cut in enumerate(numeric["cuts"]) if place not in dropped]
        bins, places = list(self.bins), self.places.copy()
        bins[feature] = {"numeric": numeric | {"cuts": cuts}}
        places[:, feature] = _places(bins[feature], self.raw[feature])
        return replace(self, bins=bins, places=places)

    def monotone(
        self, directions: Mapping[int, int | None]
    ) -> tuple[_Binned, list[NDArray[np.float64]]]:
        """Join intervals until log-odds follow directions; return the features and their log-odds.

        Parameters
        ----------
        directions : mapping from int to int or None
            Of features by place: 1 rising, -1 falling, None for either.
        """
        binned, directions = self, dict(directions)
        while True:
            found = bin_coefficients(binned.places, *binned.n_bins, binned.rows, binned.least)
            joined = binned
            for feature, direction in directions.items():
                n_intervals = len(binned.bins[feature]["numeric"]["cuts"]) + 1
                values = found[feature][:n_intervals]
                if direction is None:
                    direction = trend_of(values, binned.sizes(feature)[:n_intervals])
                    directions[feature] = direction
                if len(dropped := against_direction(values, direction)):
                    joined = joined.without_cuts(feature, dropped.tolist())
            if joined is binned:
                return binned, found
            binned = joined


class ClinicalCard(PointsCard):
    """Small integer scores from a `Scorecard`."""

    def to_integer_score(
        self,
        X: Any,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        *,
        max_features: int | None = None,
        order: Literal["spread", "forward"] = "spread",
        max_points: int = 10,
        cuts: Literal["round", "quantiles"] = "round",
        tolerance: float = 0.005,
        min_bin_share: float = 0.02,
        date: date | str | None = None,
    ) -> Self:
        """Return a small card: few features in few bins, each with points from 0 to ``max_points``.

        Its steps are those of AutoScore [1]_: numbers are cut at quantiles, a logistic regression
        on the bins gives points, the least of a feature 0, and a total is a sum that starts at 0.
        Points follow the directions of the card, those of ``monotone`` or of its ranker.

        Parameters
        ----------
        X : array-like or data frame of shape (n, n_features)
            Rows to learn the points from, usually those of the fit.
        y : array-like of shape (n,)
            Their labels.
        sample_weight : array-like of shape (n,), default=None
            Their weights.
        max_features : int, default=None
            Maximum number of features of the card, None for all; `parsimony` estimates how many are
            needed.
        order : {"spread", "forward"}, default="spread"
            Order of the features: by the variation of their points on the card between rows; or
            forward selection among the first twenty of these, by the gain in AUC of the score.
        max_points : int, default=10
            Points of the bin with the most points.
        cuts : {"round", "quantiles"}, default="round"
            Where to cut numbers: at the quantiles 0.05, 0.2, 0.8 and 0.95, or near them at the
            roundest numbers, multiples of 5, 2.5, 2 or 1 times a power of ten, that ``tolerance``
            allows.
        tolerance : float, default=0.005
            Loss of its own AUC that a number may suffer by rounding its cuts; in [0, 0.5].
        min_bin_share : float, default=0.02
            Minimum share of the rows, by weight, in an interval; in [0, 0.5]. It also needs 20
            rows, or a tenth of all if that is less. Smaller intervals are joined with the neighbour
            whose rate is nearest, the smallest first. Special values, missing ones and categories
            keep lines of their own, whose points are drawn to the mean of the feature, the more the
            less their rows say; see Notes. 0 turns both off.
        date : datetime.date or str, default=None
            Date in the record; None for today.

        Returns
        -------
        Scorecard
            A new card of the same columns. Neighbours of equal points are one bin. `predict_proba`
            and `odds` follow a logistic regression on the totals.

        Raises
        ------
        NotFittedError
            If there is no card yet.
        TypeError, ValueError
            If a parameter or the rows are not valid, or no feature has points.

        Warns
        -----
        UserWarning
            If the card has lines of special values, missing ones or categories with fewer rows than
            an interval needs. `edits_` and the text of the card list them, too.

        Notes
        -----
        Log-odds of lines are drawn to the mean of their feature by empirical Bayes: the less
        information a line has by its rows and their rates, the more. How much the log-odds of lines
        vary is estimated from all features [2]_; for missing and special values of few rows it is
        at most the variance of the other lines of the feature, and their points are limited to
        those of these lines, so that a few rows whose value is missing neither get many points by
        chance nor determine the scale.

        Where ``monotone`` or the ``monotonic_cst`` of the ranker binds a number, neighbouring
        intervals against its direction are joined, and the regression is repeated.

        References
        ----------
        .. [1] Xie, Chakraborty, Ong, Goldstein and Liu, "AutoScore: a machine learning-based
           automatic clinical score generator and its application to mortality prediction using
           electronic health records", JMIR Med. Inform. 8(10), 2020. :doi:`10.2196/21798`
        .. [2] DerSimonian and Laird, "Meta-analysis in clinical trials", Control. Clin. Trials
           7(3), 1986. :doi:`10.1016/0197-2456(86)90046-2`

        Examples
        --------
        >>> from aucrank import Scorecard
        >>> from aucrank.datasets import load_breast_cancer
        >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
        >>> card = Scorecard().fit(X, y)
        >>> score = card.to_integer_score(X, y, max_features=3, date="2026-01-31")
        >>> score.points_range_[0], int(max(score.card()["points"]))
        (0, 10)
        >>> print(score.edits_[0].change)
        3 features with 0 to 10 points
        """
        check_is_fitted(self)
        n_features = check_int(max_features, "max_features", low=1, optional=True)
        recipe = _Recipe.checked(order, max_points, cuts, tolerance, min_bin_share)
        sample = self._edit_rows(X, y, sample_weight)
        assert sample is not None
        kept = self._first_features(sample, n_features, recipe)
        score, weak = self._integer_score(sample, kept, recipe, date)
        if weak:
            warn_caller(
                f"the score has lines of few rows, {listed(weak)}, with points drawn to the mean"
                " of their feature: check whether they mean what they say, or leave the features"
                " out. min_bin_share sets how many rows are few, and 0 turns this off.",
                UserWarning,
            )
        return score

    def parsimony(
        self,
        X: Any,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        *,
        max_features: int = 15,
        cv: Any = 5,
        confidence: float = 0.95,
        order: Literal["spread", "forward"] = "spread",
        max_points: int = 10,
        cuts: Literal["round", "quantiles"] = "round",
        tolerance: float = 0.005,
        min_bin_share: float = 0.02,
    ) -> Parsimony:
        """Estimate by cross-validation how many features a small score needs.

        In each fold the card is fitted anew to the other rows, its features are ranked there, and
        `to_integer_score` makes a score of the first, of the first two and so on.

        Parameters
        ----------
        X : array-like or data frame of shape (n, n_features)
            The rows.
        y : array-like of shape (n,)
            Their labels.
        sample_weight : array-like of shape (n,), default=None
            Their weights.
        max_features : int, default=15
            Maximum number of features.
        cv : int or cross-validation splitter, default=5
            How rows are split into folds, each row in one; a number shuffles them by a fixed seed.
        confidence : float, default=0.95
            Level of the intervals, in (0, 1).
        order, max_points, cuts, tolerance, min_bin_share
            As for `to_integer_score`.

        Returns
        -------
        Parsimony
            AUC by number of features, with ``plot()``.

        Raises
        ------
        NotFittedError
            If there is no card yet.
        TypeError, ValueError
            If a parameter or the rows are not valid.

        Examples
        --------
        >>> from aucrank import RIMARC, Scorecard
        >>> from aucrank.datasets import load_breast_cancer
        >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
        >>> card = Scorecard(estimator=RIMARC()).fit(X, y)
        >>> path = card.parsimony(X, y, max_features=4)
        >>> path.table["n_features"]
        array([1, 2, 3, 4])
        >>> bool((path.table["low"] <= path.table["auc"]).all())
        True
        """
        check_is_fitted(self)
        most = check_int(max_features, "max_features", low=1) or 1
        recipe = _Recipe.checked(order, max_points, cuts, tolerance, min_bin_share)
        labels = np.asarray(y)
        weight = check_weight(sample_weight, len(labels))
        folds = StratifiedKFold(cv, shuffle=True, random_state=0) if isinstance(cv, int) else cv
        splitter = check_cv(folds, labels, classifier=True)
        fold = np.full(len(labels), -1)
        scores = np.zeros((len(labels), most))
        for number, (train, test) in enumerate(splitter.split(np.zeros(len(labels)), labels)):
            if (fold[test] >= 0).any():
                raise ValueError("cv deals a row into two folds")
            fold[test] = number
            rows, of_rows = _safe_indexing(X, train), labels[train]
            held_out, w = _safe_indexing(X, test), None if weight is None else weight[train]
            card = clone(self).fit(rows, of_rows, w)
            sample = card._edit_rows(rows, of_rows, w)
            features = card._first_features(sample, most, recipe)
            for n in range(1, len(features) + 1):
                score, _ = card._integer_score(sample, features[:n], recipe, None)
                # If a fold has fewer features than others, its last score is used for more.
                scores[test, n - 1 :] = score.decision_function(held_out)[:, None]
        if (fold < 0).any():
            raise ValueError("cv leaves rows in no fold")
        whole = self._edit_rows(X, y, sample_weight)
        assert whole is not None
        names = [self._schema.shown_name(f) for f in self._first_features(whole, most, recipe)]
        return Parsimony.measured(labels, scores[:, : len(names)], fold, weight, names, confidence)

    def _first_features(self, sample: Sample, n: int | None, recipe: _Recipe) -> list[int]:
        """Return the columns of the features of a small score, in order."""
        document = self._document()
        ranked = self._ranked(document)
        if not ranked:
            raise ValueError("the card has no feature with points")
        if n is None or recipe.order == "spread" or (n >= len(ranked) and len(ranked) == 1):
            return ranked[:n]
        tried = ranked[: max(_MOST_TRIED, n)]
        of_place = {f["feature"]: f for f in document["features"]}
        binned = _Binned.of(sample, [of_place[place] for place in tried], recipe)
        order = forward_order(
            binned.places,
            *binned.n_bins,
            binned.rows,
            binned.least,
            n,
        )
        return [tried[place] for place in order]

    def _integer_score(
        self, sample: Sample, kept: list[int], recipe: _Recipe, when: Any
    ) -> tuple[Self, list[str]]:
        """Return a small score, and its lines of few rows in words."""
        document = self._document()
        weak = self._make_integer(document, sample, set(kept), recipe)
        what = plural(len(document["features"]), "feature")
        change = f"{what} with 0 to {recipe.max_points} points"
        if weak:
            change += f"; drawn to the mean of the feature, for few rows: {', '.join(weak)}"
        return self._edited(document, "integer", "all features", change, when, sample), weak

    @staticmethod
    def _ranked(document: dict[str, Any]) -> list[int]:
        """Return the columns of the features, by falling variation of their points."""

        def spread(feature: dict[str, Any]) -> float:
            weights = np.array([s["pos"] + s["neg"] for s in feature["sums"]], dtype=np.float64)
            points = np.array(feature["points"], dtype=np.float64)
            mean = float(weights @ points / weights.sum())
            return float(weights @ (points - mean) ** 2)

        ranked = sorted(document["features"], key=lambda f: (-spread(f), f["feature"]))
        return [feature["feature"] for feature in ranked]

    def _make_integer(
        self, document: dict[str, Any], sample: Sample, kept: set[int], recipe: _Recipe
    ) -> list[str]:
        """Replace bins, points and scale of a document; return its lines of few rows in words."""
        features = [f for f in document["features"] if f["feature"] in kept]
        bound = self._bound_directions()
        kept_in = {
            place: bound[f["feature"]] for place, f in enumerate(features) if f["feature"] in bound
        }
        binned, found = _Binned.of(sample, features, recipe).monotone(kept_in)
        rows, raw, bins = binned.rows, binned.raw, binned.bins
        sign = self._card.sign
        exact = []
        for place, (values, n_apart) in enumerate(zip(found, binned.n_bins[1], strict=True)):
            sizes = binned.sizes(place)
            is_weak = sizes < binned.least
            is_weak[:-n_apart] = False
            exact.append(sign * in_range_of_others(_filled(values, sizes), is_weak))
        widest = max(float(values.max() - values.min()) for values in exact)
        if widest <= 0:
            raise ValueError("no feature distinguishes the classes of these rows")
        document["features"] = []
        words, weak = words_of_bins(self._schema), []
        totals = np.zeros(len(rows.weight), dtype=np.int64)
        for f, of_bins, values, column in zip(features, bins, exact, raw, strict=True):
            scaled = recipe.max_points * (values - values.min()) / widest
            points = np.rint(scaled).astype(np.int64)
            joined, first = _without_ties(of_bins, points)
            points, values = points[first] - points.min(), values[first]
            if not points.any():
                continue
            of_rows = _places(joined, column)
            totals += points[of_rows]
            feature = {
                "feature": f["feature"],
                "bins": joined,
                "sums": [{"pos": 0, "neg": 0, "rows": 0}] * len(points),
                "values": values.tolist(),
                "points": points.tolist(),
            }
            document["features"].append(feature)
            lines = read_bins(feature, 0, words, self._schema, f["feature"])
            sizes = rows.masses(of_rows, len(points)).sum(axis=1)
            weak += [
                f"{line.rule} ({size:,.6g} rows)"
                for line, size in zip(lines, sizes, strict=True)
                if 0 < size < binned.least
            ]
        slope, intercept = line_of_totals(totals, rows)
        if not sign * slope > 0:
            raise ValueError("the points of these rows do not rank better than chance")
        document["initial_points"] = 0
        document["factor"] = 1 / (sign * slope)
        document["offset"] = -intercept / slope
        return weak


def _bins_of(
    bins: dict[str, Any],
    values: NDArray[Any],
    rows: WeightedRows,
    tolerance: float | None,
    least: float,
) -> dict[str, Any]:
    """Return the bins of a small score: categories unchanged, numbers cut again."""
    if "categorical" in bins:
        return bins
    special = bins["numeric"]["special"]
    known = ~np.isnan(values) & ~np.isin(values, special)
    numbers = values[known].astype(np.float64)
    cuts: list[float] = []
    if len(numbers):
        cuts = with_rows(quantile_cuts(numbers, rows.weight[known]), numbers)
    inside = WeightedRows(rows.positive[known], rows.weight[known])
    if tolerance is not None and inside.positive.any() and not inside.positive.all():
        cuts = round_cuts(numbers, inside, cuts, tolerance)
    cuts = without_small(cuts, numbers, inside, least)
    return {"numeric": {"cuts": cuts, "special": special}}


def _n_bins(bins: dict[str, Any]) -> int:
    if "categorical" in bins:
        return int(bins["categorical"]["n_bins"]) + 1
    return len(bins["numeric"]["cuts"]) + 2 + len(bins["numeric"]["special"])


def _places(bins: dict[str, Any], values: NDArray[Any]) -> NDArray[np.intp]:
    """Return the bin of each value, missing values in the last."""
    if "numeric" in bins:
        return bin_places(bins["numeric"]["cuts"], bins["numeric"]["special"], values)
    n_bins = bins["categorical"]["n_bins"]
    of_level = np.array([*bins["categorical"]["bin_of_level"], n_bins], dtype=np.intp)
    places: NDArray[np.intp] = of_level[np.minimum(values, len(of_level) - 1).astype(np.intp)]
    return places


def _filled(values: NDArray[np.float64], sizes: NDArray[np.float64]) -> NDArray[np.float64]:
    """Give bins without rows the mean of the others, by the weight of their rows."""
    is_empty = np.isnan(values)
    if is_empty.any():
        known = sizes[~is_empty]
        values = values.copy()
        values[is_empty] = round(float(known @ values[~is_empty] / known.sum()), 9)
    return values


def _without_ties(
    bins: dict[str, Any], points: NDArray[np.int64]
) -> tuple[dict[str, Any], list[int]]:
    """Join intervals of equal points; return the bins, and the places of the remaining ones."""
    if "categorical" in bins:
        return bins, list(range(len(points)))
    cuts = bins["numeric"]["cuts"]
    kept = [place for place in range(1, len(cuts) + 1) if points[place] != points[place - 1]]
    joined = {"numeric": bins["numeric"] | {"cuts": [cuts[place - 1] for place in kept]}}
    return joined, [0, *kept, *range(len(cuts) + 1, len(points))]
