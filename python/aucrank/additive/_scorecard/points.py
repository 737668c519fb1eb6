"""What a card of whole points says about rows: points, chances, reasons and drift."""

import json
from collections.abc import Mapping
from math import nan
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from aucrank import _core
from aucrank._base.ranker import ProbabilityMixin
from aucrank._data.input import count_rows
from aucrank._data.sample import read_sample
from aucrank._data.schema import errors_by_name
from aucrank._data.table import Table, whole
from aucrank._export.links import Link, LogOdds
from aucrank._utils.params import check_bool, check_choice, check_int
from aucrank._utils.threads import threads_for
from aucrank.additive._scorecard.drift import DriftReport, report_drift
from aucrank.additive._scorecard.pictures import DrawnCard
from aucrank.additive._scorecard.reasons import find_reasons, reason_texts


class PointsCard(ProbabilityMixin, DrawnCard):
    """A card of whole points that has been fitted, in whatever way."""

    def _link(self) -> Link:
        return LogOdds()

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
            Negative if ``base_points`` is small.
        """
        return self._fitted.initial_points

    @property
    def points_range_(self) -> tuple[int, int]:
        """Return the least and the greatest points that a row can have.

        Returns
        -------
        tuple of int
            The first is ``initial_points_``.
        """
        return self._fitted.points_range

    @property
    def auc_(self) -> float:
        """Return the AUC of the training rows by points.

        Returns
        -------
        float
            As given by `score` on these rows; NaN after an edit without rows.
        """
        return self._card.aucs[2]

    @property
    def ks_(self) -> float:
        """Return the largest distance of the distributions of points of the two classes.

        Returns
        -------
        float
            From 0 to 1, on the training rows; NaN after an edit without rows.
        """
        if not self._card.is_counted:
            return nan
        return float(np.abs(_gaps(self._card.distribution.masses)).max())

    @property
    def base_score_(self) -> float:
        """Return the log-odds of the positive class at the initial points.

        Returns
        -------
        float
            The part of `decision_function` not in `explain`.
        """
        model = self._fitted
        return model.log_odds(float(model.initial_points))

    @property
    def feature_importances_(self) -> NDArray[np.float64]:
        """Return the AUC of each feature alone above chance.

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
            Within ``points_range_``.

        Raises
        ------
        NotFittedError
            If there is no card yet.
        ValueError
            If the columns are not those seen in fit.

        Examples
        --------
        >>> from aucrank import RIMARC, Scorecard
        >>> X = [[0, 1], [0, 2], [1, 1], [1, 2], [1, 2], [0, 1]]
        >>> card = Scorecard(estimator=RIMARC(missing="value")).fit(X, [0, 1, 0, 1, 1, 0])
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
        """Return the contribution of each feature to the score of each row, in log-odds.

        Parameters
        ----------
        X : array-like or data frame of shape (n, n_features)
            Rows with the columns seen in fit.

        Returns
        -------
        ndarray of float64, shape (n, n_features)
            The points of `points_by_feature` as log-odds of the positive class, negative if high
            points favour the negative one. A row adds up to its `decision_function` less
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
        >>> from aucrank import RIMARC, Scorecard
        >>> X = [[0, 1], [0, 2], [1, 1], [1, 2], [1, 2], [0, 1]]
        >>> card = Scorecard(estimator=RIMARC(missing="value")).fit(X, [0, 1, 0, 1, 1, 0])
        >>> parts = card.explain(X)
        >>> np.allclose(parts.sum(axis=1) + card.base_score_, card.decision_function(X))
        True
        """
        parts = self.points_by_feature(X)
        card = self._card
        log_odds: NDArray[np.float64] = np.float64(card.sign) * parts / card.factor
        return log_odds

    def odds(self, points: ArrayLike) -> Any:
        """Return the odds of the class that high points favour.

        Parameters
        ----------
        points : array-like of float
            Any points, whole or not.

        Returns
        -------
        float or ndarray of float64
            ``base_odds`` at ``base_points``, doubled by every ``pdo`` points.

        Raises
        ------
        NotFittedError
            If there is no card yet.

        Examples
        --------
        >>> from aucrank import RIMARC, Scorecard
        >>> card = Scorecard(estimator=RIMARC(), base_odds=10)
        >>> card = card.fit([[0.0], [1.0], [2.0], [3.0]], [0, 1, 0, 1])
        >>> card.odds([580, 600, 620]).round(6)
        array([ 5., 10., 20.])
        """
        return self._card.odds(points)[()]

    def probability_at(self, points: ArrayLike) -> Any:
        """Return the probability of the positive class at given points.

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
        return self._card.probability(points)[()]

    def points_at(self, probability: ArrayLike) -> Any:
        """Return the points at which the positive class has a given probability.

        Parameters
        ----------
        probability : array-like of float
            Above 0 and below 1.

        Returns
        -------
        float or ndarray of float64
            The points, not rounded, at which `probability_at` gives ``probability``.

        Raises
        ------
        NotFittedError
            If there is no card yet.
        ValueError
            If a probability is not between 0 and 1.

        Examples
        --------
        >>> from aucrank import RIMARC, Scorecard
        >>> card = Scorecard(estimator=RIMARC()).fit([[0.0], [1.0], [2.0], [3.0]], [0, 1, 0, 1])
        >>> float(card.points_at(0.8).round(6))
        640.0
        """
        card = self._card
        share = np.asarray(probability, dtype=np.float64)
        if not ((share > 0) & (share < 1)).all():
            raise ValueError(f"probability must be in (0, 1), got {probability!r}")
        return card.points_at(share)[()]

    def score_table(self, n_bands: int = 10) -> Table:
        """Return bands of points with the training rows in each, to choose a cut-off.

        Parameters
        ----------
        n_bands : int, default=10
            Maximum number of bands, with about equal numbers of rows: rows with the same points are
            never split.

        Returns
        -------
        Table
            One row for each band, from few points to many: ``low`` and ``high``, its least and
            greatest points; ``size`` and ``n_pos``, weight of its training rows and of the positive
            ones; ``rate``, their share; ``expected_rate``, the mean of `predict_proba`;
            ``size_up_to``, ``pos_up_to`` and ``neg_up_to``, the share of all rows, of the positives
            and of the negatives with at most ``high`` points; and ``ks``, the difference of the
            last two.

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
        0  520   544   144     12       0.253      0.057
        1  553   579   144     35       0.506      0.222
        2  586   609   141     69       0.754      0.547
        3  615   626   140     96       1.000      1.000
        """
        n_bands = check_int(n_bands, "n_bands", low=1) or 1
        card = self._card
        card.check_counted("score_table")
        points, weights = card.distribution.points, card.distribution.masses
        size = card.distribution.sizes
        # Rows with the same points get the band of their middle row.
        middle = (np.cumsum(size) - size / 2) / size.sum()
        band = np.minimum((middle * n_bands).astype(np.intp), n_bands - 1)
        starts = np.flatnonzero(np.diff(band, prepend=-1))
        ends = np.append(starts[1:], len(band)) - 1
        of_band = np.add.reduceat(weights, starts, axis=0)
        expected = np.add.reduceat(size * card.probability(points), starts)
        up_to = np.cumsum(of_band, axis=0)
        totals = up_to[-1]
        band_size = of_band.sum(axis=1)
        return Table(
            low=points[starts],
            high=points[ends],
            size=whole(band_size),
            n_pos=whole(of_band[:, 0]),
            rate=of_band[:, 0] / band_size,
            expected_rate=expected / band_size,
            size_up_to=up_to.sum(axis=1) / totals.sum(),
            pos_up_to=up_to[:, 0] / totals[0],
            neg_up_to=up_to[:, 1] / totals[1],
            ks=np.abs(_gaps(of_band)),
        )

    def reason_codes(
        self,
        X: Any,
        n_reasons: int = 4,
        *,
        why: Literal["few", "many"] = "few",
        baseline: Literal["extreme", "mean"] = "extreme",
        reasons: Mapping[str, str] | None = None,
        return_points: bool = False,
    ) -> Any:
        """Name the features that cost each row the most points, as required in letters to clients.

        Parameters
        ----------
        X : array-like or data frame of shape (n, n_features)
            Rows with the columns seen in fit.
        n_reasons : int, default=4
            Maximum number of reasons.
        why : {"few", "many"}, default="few"
            What to explain: why a row has few points, or why it has many. If high points favour the
            class that is rejected, as by default if that is the positive class, clients need the
            second.
        baseline : {"extreme", "mean"}, default="extreme"
            Baseline of a feature: the most points of any of its bins with training rows (the
            fewest, for ``why="many"``), or the mean over the training rows.
        reasons : mapping from str to str, default=None
            A text for each feature by its name (``"x0"`` for a first column without one), such as
            ``{"age": "A1: length of life"}``. Other features are given by name.
        return_points : bool, default=False
            Whether to return the points, too.

        Returns
        -------
        codes : ndarray of object, shape (n, n_reasons)
            Texts or names of features, the one with most points lost (won) first, ties in the order
            of the columns. None if no other feature has cost the row anything.
        points : ndarray of float64, shape (n, n_reasons)
            Points lost (won) by each of them, 0 for None. Only if ``return_points``.

        Raises
        ------
        NotFittedError
            If there is no card yet.
        TypeError, ValueError
            If a parameter is not valid, or the columns are not those seen in fit.

        Notes
        -----
        With the baseline "extreme" these are the reason codes of PMML's ``pointsBelow`` with
        ``baselineMethod="max"``, and of ``pointsAbove`` with ``"min"``, as `to_pmml` writes them,
        with the same order of ties. There is one difference: if fewer than ``n_reasons`` features
        have cost the row anything, the rest are None here, and engine-specific in PMML.

        Examples
        --------
        >>> from aucrank import RIMARC, Scorecard
        >>> X = [[0, 1], [0, 2], [1, 1], [1, 2], [1, 2], [0, 1]]
        >>> card = Scorecard(estimator=RIMARC(missing="value")).fit(X, [0, 1, 0, 1, 1, 0])
        >>> card.reason_codes([[0, 1], [1, 2]], 2)
        array([['x1', 'x0'],
               [None, None]], dtype=object)
        """
        n_reasons = check_int(n_reasons, "n_reasons", low=1) or 1
        check_choice(why, "why", ("few", "many"))
        check_choice(baseline, "baseline", ("extreme", "mean"))
        check_bool(return_points, "return_points")
        parts = self.points_by_feature(X)
        texts = reason_texts(self._schema.shown_names, reasons)
        found = find_reasons(self._card, parts, n_reasons, why=why, baseline=baseline, texts=texts)
        return found if return_points else found[0]

    def drift(
        self, X: Any, y: ArrayLike | None = None, *, sample_weight: ArrayLike | None = None
    ) -> DriftReport:
        """Compare new rows with the training rows, in the bins and points of the card.

        Parameters
        ----------
        X : array-like or data frame of shape (n, n_features)
            New rows with the columns seen in fit. A category that was not seen there is missing.
        y : array-like of shape (n,), default=None
            Their labels, if already known. A class may be absent.
        sample_weight : array-like of shape (n,), default=None
            Weight of each row; weight k means the row repeated k times, and weight 0 a row that
            is not there.

        Returns
        -------
        DriftReport
            The shifts, with their size and significance.

        Raises
        ------
        NotFittedError
            If there is no card yet.
        ValueError
            If the columns are not those seen in fit, a label or a weight is not valid, or no row
            has weight.

        Notes
        -----
        The population stability index (PSI) of a feature is the sum over its bins of
        ``(now - then) * log(now / then)``, where ``then`` and ``now`` are the shares of the
        training rows and of the new rows in the bin; missing values are a bin like any other. For
        the total points the bins are bands of whole points that hold about a tenth of the training
        rows each, fewer where many rows have the same points. A bin that is empty in one sample
        counts as half a row there; one that is empty in both is left out.

        By convention a PSI below 0.1 is stable, and from 0.25 the rows have shifted. Small samples
        have a high PSI by chance alone: without any drift it is about chi-squared with one degree
        of freedom less than bins, times ``1/n_then + 1/n_now`` [1]_. ``p_value`` is the chance of
        so high a value. A verdict with a high ``p_value`` is inconclusive; with very many rows a
        ``p_value`` near 0 shows only that a shift is real, not that it is large. The law holds for
        bins with about five rows or more; among many features, one in twenty is below 0.05 by
        chance.

        ``auc_then`` is computed on the training rows, and so too high: expect a fall of the AUC by
        a few hundredths on any new rows.

        References
        ----------
        .. [1] Yurdakul and Naranjo, "Statistical properties of the population stability index",
           J. Risk Model Valid. 14(4), 2020. :doi:`10.21314/JRMV.2020.227`

        Examples
        --------
        >>> import numpy as np
        >>> from aucrank import Scorecard
        >>> rng = np.random.default_rng(0)
        >>> X = rng.normal(size=(2000, 2))
        >>> y = X[:, 0] + rng.normal(size=2000) > 0
        >>> card = Scorecard().fit(X, y)
        >>> card.drift(X).score_psi
        0.0
        >>> report = card.drift(X[:500] + [0.8, 0.0])
        >>> report.score_verdict
        'shifted'
        >>> report.features.to_frame()[["feature", "psi", "verdict"]].round(2)
          feature   psi  verdict
        0      x0  0.65  shifted
        1      x1  0.01   stable
        """
        check_is_fitted(self)
        self._card.check_counted("drift")
        sample = read_sample(self, X, y, sample_weight, self._schema, self.classes_)
        if sample.weight is not None and not sample.weight.any():
            raise ValueError("sample_weight is zero for every row; drift needs rows to compare")
        n_threads = threads_for(self.n_jobs, count_rows(sample.columns))
        with errors_by_name(self._schema):
            counts = json.loads(self._model.drift(sample.core, n_threads))
        return report_drift(self._card, counts, has_y=y is not None)


def _gaps(weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the difference of the shares of both classes up to each group."""
    up_to = np.cumsum(weights, axis=0)
    shares = up_to / up_to[-1]
    gaps: NDArray[np.float64] = shares[:, 0] - shares[:, 1]
    return gaps
