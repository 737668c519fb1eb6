"""A fitted scorecard, read from its model document: features, points and their scale."""

import json
from dataclasses import dataclass
from functools import cached_property
from math import isclose, ldexp, log, nan
from typing import Any

import numpy as np
from numpy.typing import NDArray

from aucrank import _core
from aucrank._data.schema import Schema
from aucrank._export.bins import (
    BinnedFeature,
    CardBin,
    CardFeature,
    read_bins,
    words_of_bins,
)


@dataclass(frozen=True, slots=True, eq=False)
class PointDistribution:
    """Distribution of rows over the total points.

    Attributes
    ----------
    points : ndarray of int64
        The totals that rows have, ascending.
    masses : ndarray of float64, shape (n_totals, 2)
        Weight of the positive and of the negative rows at each.
    n_rows : int
        Number of rows; a row of whole weight k counts as k.
    """

    points: NDArray[np.int64]
    masses: NDArray[np.float64]
    n_rows: int

    @classmethod
    def read(cls, document: dict[str, Any]) -> "PointDistribution":
        """Read the distribution from a document, of a card or of scored rows."""
        points = np.array([points for points, _ in document["distribution"]], dtype=np.int64)
        sums = [found for _, found in document["distribution"]]
        return cls(points, masses_of(sums, document["exponent"]), document["total"]["rows"])

    @property
    def sizes(self) -> NDArray[np.float64]:
        """Weight of the rows at each of the totals."""
        sizes: NDArray[np.float64] = self.masses.sum(axis=1)
        return sizes


def masses_of(sums: list[dict[str, int]], exponent: int) -> NDArray[np.float64]:
    """Return the weight of the positive and of the negative rows of each group."""
    listed = [[ldexp(s["pos"], exponent), ldexp(s["neg"], exponent)] for s in sums]
    return np.array(listed, dtype=np.float64).reshape(-1, 2)


class Card:
    """Contents of a fitted card.

    Parameters
    ----------
    model : _core.Scorecard
        The model.
    schema : Schema
        Of the columns of the fit.
    classes : ndarray of shape (2,)
        The labels.
    is_counted : bool, default=True
        Whether rows were counted by the current points: False after an edit without rows.

    Attributes
    ----------
    initial_points : int
        Points of every row.
    offset, factor : float
        Points of even odds, and points that multiply the odds by e.
    high_points : {"positive", "negative"}
        The class that high points favour.
    aucs : tuple of float
        AUCs of the training rows: by the ranker, by the bins, by the points. The last is NaN if
        rows were not counted.
    """

    def __init__(
        self,
        model: _core.Scorecard,
        schema: Schema,
        classes: NDArray[Any],
        *,
        is_counted: bool = True,
    ) -> None:
        self._document: dict[str, Any] = json.loads(model.to_json())
        self.schema = schema
        self.classes = classes
        self.initial_points: int = self._document["initial_points"]
        self.offset: float = self._document["offset"]
        self.factor: float = self._document["factor"]
        self.high_points: str = self._document["high_points"]
        self.is_counted = is_counted
        self.aucs = (model.ranker_auc, model.exact_auc, model.auc if is_counted else nan)

    @cached_property
    def features(self) -> list[CardFeature]:
        """The features that have points."""
        words = words_of_bins(self.schema)
        exponent = self._document["exponent"]
        features = []
        for feature in self._document["features"]:
            place = feature["feature"]
            bins = read_bins(feature, exponent, words, self.schema, place)
            features.append(
                BinnedFeature(
                    place,
                    words.name(place),
                    "numeric" in feature["bins"],
                    tuple(
                        CardBin.of(bin_, points=points)
                        for bin_, points in zip(bins, feature["points"], strict=True)
                    ),
                )
            )
        return features

    @cached_property
    def distribution(self) -> PointDistribution:
        """Distribution of the training rows over the points."""
        return PointDistribution.read(self._document)

    def check_counted(self, what: str) -> None:
        """Raise ValueError if the distribution of totals is unknown."""
        if not self.is_counted:
            raise ValueError(
                f"{what} needs rows by their points, which an edit without rows does not have: give"
                " X and y to the last edit"
            )

    @property
    def sign(self) -> int:
        """1 if high points favour the positive class, -1 if they favour the negative one."""
        return 1 if self.high_points == "positive" else -1

    def odds(self, points: Any) -> NDArray[np.float64]:
        """Return the odds of the class that high points favour."""
        odds: NDArray[np.float64] = np.exp(
            (np.asarray(points, dtype=np.float64) - self.offset) / self.factor
        )
        return odds

    def probability(self, points: Any) -> NDArray[np.float64]:
        """Return the probability of the positive class."""
        odds = self.odds(points)
        with np.errstate(divide="ignore"):
            share: NDArray[np.float64] = 1 / (1 + 1 / odds)
        return share if self.sign > 0 else 1 / (1 + odds)

    def points_at(self, share: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the points at which the positive class has a given probability."""
        points: NDArray[np.float64] = self.offset + self.sign * self.factor * (
            np.log(share) - np.log1p(-share)
        )
        return points

    def scale(self, base_points: float, base_odds: float) -> dict[str, Any]:
        """Return the scale of points, by the user's parameters if they still hold."""
        offset, factor = self.offset, self.factor
        # A parameter may have been set again after the fit; any pair on the line is equivalent.
        if not isclose(base_points - factor * log(base_odds), offset, rel_tol=1e-9, abs_tol=1e-9):
            base_points, base_odds = offset, 1.0
        return {
            "base_points": base_points,
            "base_odds": base_odds,
            "pdo": float(f"{factor * log(2):.12g}"),
            "high_class": self.classes.tolist()[self.sign > 0],
        }
