"""The bins of a scorecard as the model document has them, in a form that Python reads well."""

from dataclasses import dataclass
from itertools import pairwise
from math import inf, ldexp
from typing import Any, Literal

from aucrank._data.schema import Level, Schema
from aucrank._export.rules import Restriction, Words, in_full


@dataclass(frozen=True, slots=True)
class CardBin:
    """Values of a feature that have the same points.

    Attributes
    ----------
    kind : {"interval", "category", "special", "missing"}
        What the bin holds: known numbers, categories, one number that stands apart, or what is
        missing.
    rule : str
        The values in words.
    points : int
        What they add to the total.
    size, n_pos : float
        Weight of the training rows in the bin, and of the positive ones among them.
    low, high : float
        An interval is ``[low, high)``, special values left out.
    special : float or None
        The number that stands apart.
    levels : tuple
        The categories.
    """

    kind: Literal["interval", "category", "special", "missing"]
    rule: str
    points: int
    size: float
    n_pos: float
    low: float = -inf
    high: float = inf
    special: float | None = None
    levels: tuple[Level, ...] = ()


@dataclass(frozen=True, slots=True)
class CardFeature:
    """A feature that has points.

    Attributes
    ----------
    place : int
        Its number among the columns of the fit.
    name : str
        Its name, ``x0`` for a first column without one.
    is_numeric : bool
        Whether it holds numbers.
    bins : tuple of CardBin
        In the order of the core: intervals, then special values, or categories; what is missing
        the last.
    """

    place: int
    name: str
    is_numeric: bool
    bins: tuple[CardBin, ...]

    @property
    def missing(self) -> CardBin:
        """The bin of missing values, and of categories that were not seen in fit."""
        return self.bins[-1]

    def of_kind(self, kind: str) -> list[CardBin]:
        """Return the bins of a kind."""
        return [bin_ for bin_ in self.bins if bin_.kind == kind]


def card_features(card: dict[str, Any], schema: Schema) -> list[CardFeature]:
    """Return the features of a card.

    Parameters
    ----------
    card : dict
        The card as the model document has it.
    schema : Schema
        Of the columns of the fit.
    """
    words = Words(schema, [True] * len(schema.features))
    return [_feature(feature, card["exponent"], schema, words) for feature in card["features"]]


def _feature(feature: dict[str, Any], exponent: int, schema: Schema, words: Words) -> CardFeature:
    place = feature["feature"]
    name = words.name(place)
    levels = schema.features[place].levels
    bins: list[dict[str, Any]]
    if levels is None:
        numeric = feature["bins"]["numeric"]
        bounds = [-inf, *numeric["cuts"], inf]
        bins = []
        for low, high in pairwise(bounds):
            rule = words.region({place: Restriction(low, high, missing=False)})
            apart = [in_full(value) for value in numeric["special"] if low <= value < high]
            if apart:
                rule += f" except {', '.join(apart)}"
            bins.append({"kind": "interval", "rule": rule, "low": low, "high": high})
        bins += [
            {"kind": "special", "rule": f"{name} = {in_full(value)}", "special": value}
            for value in numeric["special"]
        ]
    else:
        categorical = feature["bins"]["categorical"]
        bin_of_level = categorical["bin_of_level"]
        bins = []
        for place_of_bin in range(categorical["n_bins"]):
            codes = [code for code, found in enumerate(bin_of_level) if found == place_of_bin]
            rule = words.region({place: Restriction(levels=frozenset(codes), missing=False)})
            inside = tuple(levels[code] for code in codes)
            bins.append({"kind": "category", "rule": rule, "levels": inside})
    bins.append({"kind": "missing", "rule": f"{name} is missing"})
    read = tuple(
        CardBin(
            points=points,
            size=ldexp(sums["pos"] + sums["neg"], exponent),
            n_pos=ldexp(sums["pos"], exponent),
            **bin_,
        )
        for bin_, points, sums in zip(bins, feature["points"], feature["sums"], strict=True)
    )
    return CardFeature(place, name, levels is None, read)
