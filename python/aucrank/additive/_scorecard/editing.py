"""Manual edits of a fitted scorecard."""

import copy
import json
from collections.abc import Sequence
from dataclasses import replace
from datetime import date
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from aucrank import _core
from aucrank._base.persistence import Header
from aucrank._base.ranker import BaseRanker
from aucrank._data.input import each_column
from aucrank._data.sample import Sample, read_sample
from aucrank._data.schema import errors_by_name
from aucrank._data.table import Table
from aucrank._utils.numbers import bound_text, exact
from aucrank._utils.threads import threads_for
from aucrank._utils.words import plural
from aucrank.additive._scorecard import edits as by_hand
from aucrank.additive._scorecard.card import Card
from aucrank.additive._scorecard.edits import EDITS, Edit


class EditedCard(BaseRanker):
    """The edits of a `Scorecard`: each returns a new card and leaves the old one unchanged."""

    _FITTED = (*BaseRanker._FITTED, "_edits")
    _model: _core.Scorecard
    _edits: tuple[Edit, ...]

    @property
    def edits_(self) -> tuple[Edit, ...]:
        """Return the manual changes since the fit.

        Returns
        -------
        tuple of Edit
            In order: ``kind``, ``feature``, ``change`` (in words), ``date``,
            ``auc_before`` and ``auc_after`` (of the rows that were given, or None).
        """
        check_is_fitted(self)
        edits: tuple[Edit, ...] = self.__dict__.get("_edits", ())
        return edits

    @property
    def _is_counted(self) -> bool:
        """Whether rows were counted by the current points."""
        return not self.edits_ or self.edits_[-1].auc_after is not None

    def with_cuts(
        self,
        feature: str | int,
        cuts: Sequence[float],
        X: Any,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        *,
        date: date | str | None = None,
    ) -> Self:
        """Return a card with new cuts of a numeric feature.

        Parameters
        ----------
        feature : str or int
            Name or position of a numeric column that is on the card.
        cuts : sequence of float
            Bounds between its bins, ascending; a value at a cut is in the bin above.
        X : array-like or data frame of shape (n, n_features)
            Rows to compute the points from, usually those of the fit.
        y : array-like of shape (n,)
            Their labels.
        sample_weight : array-like of shape (n,), default=None
            Their weights.
        date : datetime.date or str, default=None
            Date in the record; None for today.

        Returns
        -------
        Scorecard
            A new card, with ``X`` as its rows. The points of the other features are unchanged.

        Raises
        ------
        NotFittedError
            If there is no card yet.
        TypeError, ValueError
            If the feature is not on the card or has no numbers, the cuts do not ascend, no row is
            between two of them, or the rows are not valid.

        Notes
        -----
        The ranker of the fit is no longer available, so points are estimated from the rows: a bin
        gets the log-odds that fit its positives best, given the points of the other features, on
        the scale of the card. On a card with one feature that is the weight of evidence of the bin.
        Half a row of each class is added to every bin. Special and missing values keep their bins,
        and their points if no row has them. Where ``monotone`` or the ``monotonic_cst`` of the
        ranker binds the feature, neighbouring bins against its direction are estimated together,
        and have the same points.

        Examples
        --------
        >>> from aucrank import Scorecard
        >>> from aucrank.datasets import load_breast_cancer
        >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
        >>> X = X[["worst_area", "mean_texture"]]
        >>> card = Scorecard(min_bin_share=0.1).fit(X, y)
        >>> rounder = card.with_cuts("mean_texture", [15, 20, 25], X, y, date="2026-01-31")
        >>> rounder.to_frame().query("feature == 'mean_texture'")["points"].tolist()[:4]
        [0, 76, 137, 97]
        >>> print(rounder.edits_[0])
        2026-01-31 mean_texture: cuts 15, 20, 25 (AUC 0.9808, then 0.9806)
        """
        place, shown = self._feature_of(feature)
        numbers = by_hand.check_cuts(shown, cuts)
        sample = self._edit_rows(X, y, sample_weight)
        assert sample is not None
        document = self._document()
        edited, scale = document["features"][place], by_hand.scale_of(document["features"])
        special = edited["bins"]["numeric"]["special"]
        column = list(each_column(sample.columns))[shown.place]
        places = by_hand.bin_places(numbers, special, column)
        n_bins = len(numbers) + 2 + len(special)
        found = self._log_odds_of_bins(sample, places, n_bins, shown.place)
        self._check_rows(found[: len(numbers) + 1], numbers, shown.name)
        bound = self._bound_directions()
        if shown.place in bound:
            found = self._monotone_log_odds(
                sample, places, found, len(numbers) + 1, shown.place, bound[shown.place]
            )
        card = self._card
        points = card.sign * card.factor * found
        n_intervals = len(edited["points"]) - 1 - len(special)
        kept = np.array(edited["points"][n_intervals:], dtype=np.float64)
        apart = points[len(numbers) + 1 :]
        points[len(numbers) + 1 :] = np.where(np.isnan(apart), kept, apart)
        nothing = {"pos": 0, "neg": 0, "rows": 0}
        draft = edited | {
            "bins": {"numeric": {"cuts": numbers, "special": special}},
            "sums": [nothing] * len(points),
        }
        constant = by_hand.constant_of(edited, scale)
        document["features"][place], least = by_hand.whole_points(draft, points, scale, constant)
        document["initial_points"] += least
        counts = self._schema.features[shown.place].counts
        listed = ", ".join(bound_text(cut, counts) for cut in numbers)
        change = f"cuts {listed}" if numbers else "no cuts"
        return self._edited(document, "cuts", shown.name, change, date, sample)

    def merge(
        self,
        feature: str | int,
        bins: Sequence[int | str],
        X: Any = None,
        y: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        *,
        date: date | str | None = None,
    ) -> Self:
        """Return a card with bins of a feature merged.

        Parameters
        ----------
        feature : str or int
            Name or position of a column that is on the card.
        bins : sequence of int or str
            The bins: by position among the lines of the feature in `card`, from 0; by their rule
            there; or by one of their categories. Those of a number have to be adjacent. Special and
            missing values keep their bins.
        X : array-like or data frame of shape (n, n_features), default=None
            Rows to count by the new card, usually those of the fit; see Notes.
        y : array-like of shape (n,), default=None
            Their labels.
        sample_weight : array-like of shape (n,), default=None
            Their weights.
        date : datetime.date or str, default=None
            Date in the record; None for today.

        Returns
        -------
        Scorecard
            A new card. The bin has the mean value of its parts, by weight of the training rows, as
            if the fit had merged them. The totals of other rows are unchanged: if the least bin of
            the feature was merged, its points are shifted and the initial points compensate.

        Raises
        ------
        NotFittedError
            If there is no card yet.
        TypeError, ValueError
            If the feature or a bin is not on the card, or the bins cannot be merged.

        Notes
        -----
        Without rows the card has the number of rows in each bin, but no longer the distribution of
        totals: ``auc_`` and ``ks_`` are NaN, and `score_table` and `drift` raise an error until an
        edit is given rows.

        Examples
        --------
        >>> from aucrank import RIMARC, Scorecard
        >>> X = [[0.0], [1.0], [2.0], [3.0], [4.0], [5.0]]
        >>> card = Scorecard(estimator=RIMARC()).fit(X, [0, 0, 1, 0, 1, 1])
        >>> card.to_frame()[["rule", "points"]].values.tolist()
        [['x0 < 1.5', 0], ['1.5 <= x0 < 3.5', 40], ['x0 >= 3.5', 80], ['x0 is missing', 40]]
        >>> merged = card.merge("x0", [1, 2])
        >>> merged.to_frame()[["rule", "points"]].values.tolist()
        [['x0 < 1.5', 0], ['x0 >= 1.5', 60], ['x0 is missing', 40]]
        """
        place, shown = self._feature_of(feature)
        places = by_hand.check_merge(shown, bins)
        sample = self._edit_rows(X, y, sample_weight)
        document = self._document()
        scale = by_hand.scale_of(document["features"])
        document["features"][place], least = by_hand.merged(
            document["features"][place], places, scale
        )
        document["initial_points"] += least
        rules = " and ".join(shown.bins[number].rule for number in places)
        return self._edited(document, "merge", shown.name, f"merged {rules}", date, sample)

    def with_points(
        self,
        feature: str | int,
        bin: int | str,
        points: int,
        X: Any = None,
        y: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        *,
        date: date | str | None = None,
    ) -> Self:
        """Return a card with new points of a bin.

        Parameters
        ----------
        feature : str or int
            Name or position of a column that is on the card.
        bin : int or str
            By position among the lines of the feature in `card`, from 0; by its rule there; or by
            one of its categories, or "missing".
        points : int
            Its points, relative to the current points of the other bins. If they are the least of
            the feature and not 0, its points and the initial ones are shifted so that the least is
            0 again: totals are unchanged.
        X : array-like or data frame of shape (n, n_features), default=None
            Rows to count by the new card, as for `merge`.
        y : array-like of shape (n,), default=None
            Their labels.
        sample_weight : array-like of shape (n,), default=None
            Their weights.
        date : datetime.date or str, default=None
            Date in the record; None for today.

        Returns
        -------
        Scorecard
            A new card.

        Raises
        ------
        NotFittedError
            If there is no card yet.
        TypeError, ValueError
            If the feature or the bin is not on the card, or points are not whole and finite.

        Examples
        --------
        >>> from aucrank import RIMARC, Scorecard
        >>> X = [[0.0], [1.0], [2.0], [3.0]]
        >>> card = Scorecard(estimator=RIMARC()).fit(X, [0, 0, 1, 1])
        >>> edited = card.with_points("x0", "missing", 10, X, [0, 0, 1, 1])
        >>> edited.points([[float("nan")]]) - edited.initial_points_, edited.auc_
        (array([10]), 1.0)
        """
        place, shown = self._feature_of(feature)
        number = by_hand.find_bin(shown, bin)
        points = by_hand.check_points(points)
        sample = self._edit_rows(X, y, sample_weight)
        document = self._document()
        scale = by_hand.scale_of(document["features"])
        edited = document["features"][place]
        of_bins = np.array(edited["points"], dtype=np.float64)
        of_bins[number] = points
        constant = by_hand.constant_of(edited, scale)
        changed, least = by_hand.whole_points(edited, of_bins, scale, constant)
        values = list(edited["values"])
        values[number] = changed["values"][number]
        document["features"][place] = changed | {"values": values}
        document["initial_points"] += least
        was = edited["points"][number]
        change = f"{shown.bins[number].rule}: {points} points instead of {was}"
        return self._edited(document, "points", shown.name, change, date, sample)

    def without(
        self,
        feature: str | int,
        X: Any = None,
        y: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        *,
        date: date | str | None = None,
    ) -> Self:
        """Return a card without a feature.

        Parameters
        ----------
        feature : str or int
            Name or position of a column that is on the card.
        X : array-like or data frame of shape (n, n_features), default=None
            Rows to count by the new card, as for `merge`.
        y : array-like of shape (n,), default=None
            Their labels.
        sample_weight : array-like of shape (n,), default=None
            Their weights.
        date : datetime.date or str, default=None
            Date in the record; None for today.

        Returns
        -------
        Scorecard
            A new card of the same columns. The mean points of the feature over the training rows
            are added to the initial points; all other points are unchanged.

        Raises
        ------
        NotFittedError
            If there is no card yet.
        TypeError, ValueError
            If the feature is not on the card.

        Examples
        --------
        >>> from aucrank import RIMARC, Scorecard
        >>> X = [[0, 1], [0, 2], [1, 1], [1, 2], [1, 2], [0, 1]]
        >>> card = Scorecard(estimator=RIMARC(missing="value")).fit(X, [0, 1, 0, 1, 1, 0])
        >>> card.without("x0").card()["feature"].tolist()
        ['x1', 'x1', 'x1']
        """
        place, shown = self._feature_of(feature)
        sample = self._edit_rows(X, y, sample_weight)
        document = self._document()
        gone = document["features"].pop(place)
        weights = [sums["pos"] + sums["neg"] for sums in gone["sums"]]
        given = sum(w * p for w, p in zip(weights, gone["points"], strict=True))
        document["initial_points"] += round(given / sum(weights))
        n_bins = plural(len(gone["points"]), "bin")
        return self._edited(document, "without", shown.name, f"left out, {n_bins}", date, sample)

    def _feature_of(self, named: Any) -> tuple[int, Any]:
        """Return the position of a feature on the card, and the feature."""
        check_is_fitted(self)
        features = self._card.features
        place = by_hand.find_feature(features, self._schema.shown_names, named)
        return place, features[place]

    def _edit_rows(
        self, X: Any, y: ArrayLike | None, sample_weight: ArrayLike | None
    ) -> Sample | None:
        """Read the rows given to an edit, if any."""
        if X is None and y is None and sample_weight is None:
            return None
        if X is None or y is None:
            raise ValueError("an edit takes rows with their labels: both X and y, or neither")
        sample = read_sample(self, X, y, sample_weight, self._schema, self.classes_)
        weight = np.ones(sample.n_rows) if sample.weight is None else sample.weight
        for label, rows in zip(self.classes_, (~sample.labels, sample.labels), strict=True):
            if not weight[rows].any():
                raise ValueError(f"an edit takes rows of both classes, but none is {label!r}")
        return sample

    def _document(self) -> dict[str, Any]:
        document: dict[str, Any] = json.loads(self._model.to_json())
        return document

    def _log_odds_of_bins(
        self, sample: Sample, places: NDArray[np.intp], n_bins: int, feature: int
    ) -> NDArray[np.float64]:
        n_threads = threads_for(getattr(self, "n_jobs", None), sample.n_rows)
        with errors_by_name(self._schema):
            parts = self._model.explain(sample.columns, n_threads)
            points = self._model.points(sample.columns, n_threads)
        of_feature = parts.reshape(sample.n_rows, -1)[:, feature].astype(np.int64)
        card = self._card
        others = (points - of_feature).astype(np.float64)
        log_odds = np.float64(card.sign) * (others - card.offset) / card.factor
        return by_hand.log_odds_of_bins(
            places, n_bins, points - of_feature, log_odds, sample.labels, sample.weight
        )

    def _monotone_log_odds(
        self,
        sample: Sample,
        places: NDArray[np.intp],
        found: NDArray[np.float64],
        n_intervals: int,
        feature: int,
        direction: int | None,
    ) -> NDArray[np.float64]:
        """Return log-odds of bins whose intervals follow a direction: an isotonic regression."""
        if direction is None:
            sizes = np.bincount(places, sample.weight, len(found))[:n_intervals].astype(np.float64)
            direction = by_hand.trend_of(found[:n_intervals], sizes)
        # Neighbours in the wrong order have one value in the solution, so all such can be pooled.
        pool_of = np.arange(len(found))
        pooled, n_pools = found, n_intervals
        while len(wrong := by_hand.against_direction(pooled[:n_pools], direction)):
            is_new = np.ones(len(pooled), dtype=np.bool_)
            is_new[wrong + 1] = False
            pool_of = (np.cumsum(is_new) - 1)[pool_of]
            n_pools -= len(wrong)
            pooled = self._log_odds_of_bins(sample, pool_of[places], pool_of[-1] + 1, feature)
        return pooled[pool_of]

    def _bound_directions(self) -> dict[int, int | None]:
        """Return the columns that are monotone, with the direction of their log-odds, if known."""
        raise NotImplementedError

    @staticmethod
    def _check_rows(found: NDArray[np.float64], cuts: Sequence[float], name: str) -> None:
        empty = np.flatnonzero(np.isnan(found))
        if not len(empty):
            return
        edges = ["", *map(exact, cuts), ""]
        low, high = edges[empty[0]], edges[empty[0] + 1]
        where = [f"{name} of at least {low}"] * bool(low) + [f"{name} under {high}"] * bool(high)
        raise ValueError(f"no row of X has {' and '.join(where) or f'a known {name}'}")

    def _edited(
        self,
        document: dict[str, Any],
        kind: str,
        feature: str,
        change: str,
        when: Any,
        sample: Sample | None,
    ) -> Self:
        """Return a card of a changed document, with the edit in its record."""
        day = by_hand.date_text(when)
        before = after = None
        if sample is None:
            _check_range(document)
            # All rows at one total, a placeholder that `_is_counted` marks as not to be read.
            middle = document["initial_points"] + max(
                (max(feature["points"]) for feature in document["features"][:1]), default=0
            )
            document["distribution"] = [[middle, document["total"]]]
            model = _model_of(document)
        else:
            counts = self._counts(self._model, sample)
            before = by_hand.auc_of(counts["distribution"], self._card.sign)
            model = self._counted(document, sample)
            counted = json.loads(model.to_json())
            after = by_hand.auc_of(counted["distribution"], self._card.sign)
        edited = copy.copy(self)
        edited._set_fitted(self.classes_, self._schema, model)
        edit = Edit(kind, feature, change, day, before, after)
        edited._edits = (*self.edits_, edit)
        return edited

    def _counts(self, model: _core.Scorecard, sample: Sample) -> dict[str, Any]:
        n_threads = threads_for(getattr(self, "n_jobs", None), sample.n_rows)
        with errors_by_name(self._schema):
            counts: dict[str, Any] = json.loads(model.drift(sample.core, n_threads))
        return counts

    def _counted(self, document: dict[str, Any], sample: Sample) -> _core.Scorecard:
        """Return the model of a document with a sample as its training rows."""
        _check_range(document)
        nothing = {"pos": 0, "neg": 0, "rows": 0}
        first = document["features"]
        for feature in first:
            # One bin has to hold all rows until they are counted.
            feature["sums"] = [document["total"], *[nothing] * (len(feature["points"]) - 1)]
        document["distribution"] = [[document["initial_points"], document["total"]]]
        counts = self._counts(_model_of(document), sample)
        for feature, sums in zip(first, counts["features"], strict=True):
            feature["sums"] = sums
        changes = {key: counts[key] for key in ("total", "exponent", "distribution")}
        return _model_of(document | changes)

    def _set_fitted(self, classes: Any, schema: Any, model: Any) -> None:
        super()._set_fitted(classes, schema, model)
        self._edits = ()

    def _to_document(self) -> str:
        text: str = super()._to_document()
        if not self.edits_:
            return text
        header = json.loads(text)["body"]["header"]
        header["estimator"]["params"][EDITS] = [edit.to_json() for edit in self.edits_]
        return _core.write_document(json.dumps(header), self._model, None)

    @classmethod
    def _from_document(cls, header: Header, model: Any, calibration: Any) -> Self:
        params = {name: value for name, value in header.params.items() if name != EDITS}
        found = super()._from_document(replace(header, params=params), model, calibration)
        found._edits = by_hand.read_edits(header.params.get(EDITS))
        return found

    def _restore(self, header: Header, model: Any, calibration: Any) -> None:
        super()._restore(header, model, calibration)
        self._edits = by_hand.read_edits(header.params.get(EDITS))

    def _edit_table(self) -> Table:
        """Return the edits as a table."""
        edits = self.edits_
        aucs = [
            np.array([np.nan if auc is None else auc for auc in of], dtype=np.float64)
            for of in ([e.auc_before for e in edits], [e.auc_after for e in edits])
        ]
        return Table(
            date=np.array([edit.date for edit in edits], dtype=np.str_),
            feature=np.array([edit.feature for edit in edits], dtype=np.str_),
            change=np.array([edit.change for edit in edits], dtype=np.str_),
            auc_before=aucs[0],
            auc_after=aucs[1],
        )

    @property
    def _card(self) -> Card:
        """What the fitted card says."""
        check_is_fitted(self)
        return Card(self._model, self._schema, self.classes_, is_counted=self._is_counted)


def _model_of(document: dict[str, Any]) -> _core.Scorecard:
    return _core.Scorecard.from_json(json.dumps(document))


def _check_range(document: dict[str, Any]) -> None:
    """Raise ValueError if totals could exceed what the core sums without rounding."""
    low = document["initial_points"]
    most = sum(max(feature["points"]) for feature in document["features"])
    if max(abs(low), most, abs(low + most)) > 10**9:
        raise ValueError("a row would have more than 10^9 points")
