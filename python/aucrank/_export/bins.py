"""Bins of features, as values and as text: shared by all models that cut their features."""

from collections.abc import Iterator
from dataclasses import dataclass, fields
from itertools import pairwise
from math import inf, isinf, ldexp, nan
from typing import Any, Generic, Literal, Self, TypeVar

from aucrank._data.schema import Level, Schema
from aucrank._export.rules import Restriction, Words, one_of
from aucrank._utils.numbers import DateUnit, bound_text, distinct, value_text
from aucrank._utils.plain_text import shown

Kind = Literal["interval", "category", "special", "missing"]


@dataclass(frozen=True, slots=True)
class Bin:
    """Values of a feature that a model does not distinguish, with their training rows.

    Attributes
    ----------
    kind : {"interval", "category", "special", "missing"}
        Content of the bin: known numbers, categories, a single special number, or missing values.
    rule : str
        The values as text, with the name of the feature.
    size, n_pos : float
        Weight of the training rows in the bin, and of the positive ones among them.
    low, high : float
        An interval is ``[low, high)``, without special values.
    special : float or None
        The special number.
    levels : tuple
        The categories.
    counts : {"days", "moments"} or None
        Unit of the numbers, if they are dates.
    flag : str
        The only value of an interval, if the column held 0 and 1 alone; otherwise empty.
    """

    kind: Kind
    rule: str
    size: float
    n_pos: float
    low: float = -inf
    high: float = inf
    special: float | None = None
    levels: tuple[Level, ...] = ()
    counts: DateUnit | None = None
    flag: str = ""

    @classmethod
    def of(cls, bin_: "Bin", **more: Any) -> Self:
        """Return a bin with the fields of a subclass added."""
        return cls(**{field.name: getattr(bin_, field.name) for field in fields(Bin)}, **more)

    @property
    def rate(self) -> float:
        """Share of positives; NaN without training rows."""
        return self.n_pos / self.size if self.size else nan

    @property
    def label(self) -> str:
        """The values without the name of the feature; empty for an interval of several."""
        match self.kind:
            case "category":
                return ", ".join(shown(level) for level in self.levels)
            case "special" if self.special is not None:
                return value_text(self.special, self.counts)
            case "missing":
                return "missing"
        return self.flag

    @property
    def bounds(self) -> tuple[str, str]:
        """Bounds of an interval as text; empty if it has none."""
        low, high = (
            "" if isinf(bound) else bound_text(bound, self.counts)
            for bound in (self.low, self.high)
        )
        return low, high


@dataclass(frozen=True, slots=True, kw_only=True)
class CardBin(Bin):
    """A bin of a scorecard.

    Attributes
    ----------
    points : int
        Contribution of its values to the total.
    """

    points: int


_Bin = TypeVar("_Bin", bound=Bin)


@dataclass(frozen=True, slots=True)
class BinnedFeature(Generic[_Bin]):
    """A feature in bins.

    Attributes
    ----------
    place : int
        Its position among the columns of the fit.
    name : str
        Its name, ``x0`` for the first column if it has none.
    is_numeric : bool
        Whether it holds numbers.
    bins : tuple of Bin
        In the order of the core: intervals ascending, then special values; or categories. The
        last is that of missing values.
    """

    place: int
    name: str
    is_numeric: bool
    bins: tuple[_Bin, ...]

    @property
    def missing(self) -> _Bin:
        """The bin of missing values, and of categories that were not seen in fit."""
        return self.bins[-1]

    @property
    def cuts(self) -> tuple[float, ...] | None:
        """The bounds between the intervals of a number, ascending; None for a category."""
        if not self.is_numeric:
            return None
        return tuple(bin_.low for bin_ in self.of_kind("interval")[1:])

    @property
    def cut_labels(self) -> list[str]:
        """The cuts as text in a plot: dates, or numbers, rounded where possible."""
        intervals = self.of_kind("interval")[1:]
        if any(bin_.counts in ("days", "moments") for bin_ in intervals):
            return [bin_.bounds[0] for bin_ in intervals]
        return distinct(bin_.low for bin_ in intervals)

    def of_kind(self, kind: Kind) -> list[_Bin]:
        """Return the bins of a kind."""
        return [bin_ for bin_ in self.bins if bin_.kind == kind]


#: A feature that has points.
CardFeature = BinnedFeature[CardBin]


def words_of_bins(schema: Schema) -> Words:
    """Return the writer of the rules of bins, each feature having one for missing values."""
    return Words(schema, [True] * len(schema.features))


def read_bins(
    feature: dict[str, Any],
    exponent: int,
    words: Words,
    schema: Schema,
    place: int,
    *,
    all_levels: bool = False,
) -> tuple[Bin, ...]:
    """Read the bins of a feature from the document of its model.

    Parameters
    ----------
    feature : dict
        The feature in the document, with ``bins`` and ``sums``.
    exponent : int
        The sums are multiples of two to this power.
    words : Words
        Writes the rules; see `words_of_bins`.
    schema : Schema
        Columns of the fit.
    place : int
        Position of the feature among them.
    all_levels : bool, default=False
        Whether a rule lists all categories of a bin. Otherwise long lists are written as their
        complement.

    Returns
    -------
    tuple of Bin
        In the order of the core, with that of missing values last.
    """
    name = words.said_name(place)
    values = [
        *_known_values(feature["bins"], words, schema, place, all_levels=all_levels),
        {"kind": "missing", "rule": f"{name} is missing"},
    ]
    return tuple(
        Bin(
            size=ldexp(sums["pos"] + sums["neg"], exponent),
            n_pos=ldexp(sums["pos"], exponent),
            counts=schema.features[place].counts,
            **of_bin,
        )
        for of_bin, sums in zip(values, feature["sums"], strict=True)
    )


def _known_values(
    bins: dict[str, Any], words: Words, schema: Schema, place: int, *, all_levels: bool
) -> Iterator[dict[str, Any]]:
    """Return the contents of each bin of known values, as fields of a `Bin`."""
    name = words.said_name(place)
    if "categorical" in bins:
        levels = schema.features[place].levels or ()
        codes_of_bin: list[list[int]] = [[] for _ in range(bins["categorical"]["n_bins"])]
        for code, bin_ in enumerate(bins["categorical"]["bin_of_level"]):
            # A category without rows counts as missing.
            if bin_ < len(codes_of_bin):
                codes_of_bin[bin_].append(code)
        for codes in codes_of_bin:
            inside = tuple(levels[code] for code in codes)
            if all_levels:
                rule = one_of(name, [shown(level) for level in inside])
            else:
                rule = words.region({place: Restriction(levels=frozenset(codes), missing=False)})
            yield {"kind": "category", "rule": rule, "levels": inside}
        return
    special = bins["numeric"]["special"]
    for low, high in pairwise([-inf, *bins["numeric"]["cuts"], inf]):
        rule = words.region({place: Restriction(low, high, missing=False)})
        inside_it = [words.value(place, value) for value in special if low <= value < high]
        if inside_it:
            rule += f" except {', '.join(inside_it)}"
        flag = schema.features[place].flag_text(low, high) or ""
        yield {"kind": "interval", "rule": rule, "low": low, "high": high, "flag": flag}
    for value in special:
        yield {"kind": "special", "rule": f"{name} = {words.value(place, value)}", "special": value}
