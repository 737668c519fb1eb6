"""Why a row has the points that it has: the features that cost it most."""

from collections.abc import Mapping
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from aucrank import _core
from aucrank._data.schema import Schema
from aucrank._utils.params import check_bool, check_choice, check_int
from aucrank.additive._scorecard.bins import card_features


class ReasonsMixin:
    """For estimators whose core model is a scorecard; stands before `CardExportMixin`."""

    _model: _core.Scorecard
    _schema: Schema

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
        """Name the features that cost each row most points, as a letter to a client has to.

        Parameters
        ----------
        X : array-like or data frame of shape (n, n_features)
            Rows with the columns seen in fit.
        n_reasons : int, default=4
            How many reasons to give at most.
        why : {"few", "many"}, default="few"
            What is to be explained: why a row has so few points, or why it has so many. Where many
            points speak for the class that is refused, as by default if that is the positive
            class, the second question is the one that a client asks.
        baseline : {"extreme", "mean"}, default="extreme"
            What a feature could have given: the most points of any of its bins that training rows
            were in (the fewest, for ``why="many"``), or the mean over the training rows.
        reasons : mapping from str to str, default=None
            A text for each feature by its name (``"x0"`` for a first column without one), such as
            ``{"age": "A1: length of life"}``. A feature that it does not hold is given by name.
        return_points : bool, default=False
            Whether to return the points, too.

        Returns
        -------
        codes : ndarray of object, shape (n, n_reasons)
            Texts or names of features, the one with most points lost (won) first, of equal ones
            the one that comes first among the columns. None where no other feature has cost the
            row anything.
        points : ndarray of float64, shape (n, n_reasons)
            Points lost (won) by each of them, 0 beside None. Only if ``return_points``.

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
        in its order in ties, too. There is one difference: where fewer than ``n_reasons`` features
        have cost the row anything, the rest are None here, and what the engine puts there in PMML.

        Examples
        --------
        >>> from aucrank import Scorecard
        >>> X = [[0, 1], [0, 2], [1, 1], [1, 2], [1, 2], [0, 1]]
        >>> card = Scorecard().fit(X, [0, 1, 0, 1, 1, 0])
        >>> card.reason_codes([[0, 1], [1, 2]], 2)
        array([['x1', 'x0'],
               [None, None]], dtype=object)
        """
        n_reasons = check_int(n_reasons, "n_reasons", low=1) or 1
        check_choice(why, "why", ("few", "many"))
        check_choice(baseline, "baseline", ("extreme", "mean"))
        check_bool(return_points, "return_points")
        parts = self.points_by_feature(X)  # type: ignore[attr-defined]
        names = self._reason_texts(reasons)
        sign = 1 if why == "few" else -1
        lost = sign * (self._baseline(baseline, sign) - parts)
        # Stable, so that the first of equal features comes first.
        order = np.argsort(-lost, axis=1, kind="stable")[:, :n_reasons]
        n_given = order.shape[1]
        points = np.zeros((len(parts), n_reasons))
        points[:, :n_given] = np.maximum(np.take_along_axis(lost, order, axis=1), 0.0)
        codes = np.full(points.shape, None, dtype=object)
        codes[:, :n_given] = names[order]
        codes[points == 0] = None
        return (codes, points) if return_points else codes

    def _reason_texts(self, reasons: Mapping[str, str] | None) -> NDArray[np.object_]:
        names = self._schema.shown_names
        if reasons is not None and not isinstance(reasons, Mapping):
            raise TypeError(f"reasons must be a mapping from names to texts, got {reasons!r}")
        texts = {} if reasons is None else dict(reasons)
        unknown = [name for name in texts if name not in names]
        if unknown:
            raise ValueError(f"reasons names columns that X does not have: {unknown!r}")
        return np.array([texts.get(name, name) for name in names], dtype=object)

    def _baseline(self, baseline: str, sign: int) -> NDArray[np.float64]:
        """Return the points that each feature could have given."""
        points = np.zeros(len(self._schema.features))
        card = self._card()  # type: ignore[attr-defined]
        for feature in card_features(card, self._schema):
            of_bin = np.array([bin_.points for bin_ in feature.bins], dtype=np.float64)
            size = np.array([bin_.size for bin_ in feature.bins])
            if baseline == "mean":
                points[feature.place] = np.average(of_bin, weights=size / size.max())
            else:
                points[feature.place] = sign * (sign * of_bin[size > 0]).max()
        return points
