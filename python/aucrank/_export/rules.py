"""Splits as text: the stumps of a tree, joined along a path.

A region of the data is described by one restriction for each feature that a path has tested. A side
of a split is a union of regions, since a LeafRank split merges several cells.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from math import inf

from aucrank._data.schema import Schema
from aucrank._export.formula import (
    All,
    Always,
    Among,
    AnyOf,
    Below,
    Condition,
    Fork,
    Known,
    OpaqueCondition,
    Test,
)
from aucrank._utils.numbers import bound_text, value_text
from aucrank._utils.plain_text import shown

# A longer list of categories is written as its complement, if that is shorter.
_LONG_LIST = 4


@dataclass(frozen=True, slots=True)
class Restriction:
    """Restriction of one feature: known values in a range or a set, and perhaps missing ones.

    Attributes
    ----------
    low, high : float
        Known numbers are in ``[low, high)``.
    levels : frozenset of int or None
        Codes of the known categories; None for a number.
    missing : bool
        Whether missing values are in the region.
    """

    low: float = -inf
    high: float = inf
    levels: frozenset[int] | None = None
    missing: bool = True

    def __and__(self, other: "Restriction") -> "Restriction":
        levels = self.levels
        if other.levels is not None:
            levels = other.levels if levels is None else levels & other.levels
        return Restriction(
            max(self.low, other.low),
            min(self.high, other.high),
            levels,
            self.missing and other.missing,
        )

    @property
    def holds_known(self) -> bool:
        """Whether any known value is in the region."""
        return self.low < self.high and self.levels != frozenset()


#: Restrictions by feature, all of which hold.
Region = dict[int, Restriction]


class Words:
    """Writes rules with the names and categories of a schema.

    Parameters
    ----------
    schema : Schema
        Columns of the tree.
    has_missing : sequence of bool
        For each column, whether it had missing values in training; only then are they mentioned.
    """

    def __init__(self, schema: Schema, has_missing: Sequence[bool]) -> None:
        self._schema = schema
        self._has_missing = has_missing

    def name(self, feature: int) -> str:
        """Name of a column, ``x0`` for the first one if it has none."""
        return self._schema.shown_name(feature)

    def said_name(self, feature: int) -> str:
        """Name of a column in a rule, with control characters escaped."""
        return shown(self.name(feature))

    def bound(self, feature: int, bound: float) -> str:
        """Write a bound of values of a column such that it separates the same values."""
        return bound_text(bound, self._schema.features[feature].counts)

    def value(self, feature: int, value: float) -> str:
        """Write a value of a column in full."""
        return value_text(value, self._schema.features[feature].counts)

    def side(self, condition: Condition, *, left: bool) -> list[Region]:
        """Return the regions whose union is one side of a split.

        Parameters
        ----------
        condition : Condition
            Which rows go left: a test, or a tree of tests.
        left : bool
            Which side.
        """
        return _merge(self._parts(condition, left=left))

    def _parts(self, condition: Condition, *, left: bool) -> list[Region]:
        match condition:
            case Always(holds):
                return [{}] if holds == left else []
            case Test():
                return [{condition.feature: self._answers(condition)[0 if left else 1]}]
            case Fork(test, _, on_left, on_right):
                sides = [self._parts(side, left=left) for side in (on_left, on_right)]
                if all(side == [{}] for side in sides):
                    return [{}]
                return [
                    join({test.feature: answer}, part)
                    for answer, side in zip(self._answers(test), sides, strict=True)
                    for part in side
                ]
            case All(parts) if left:
                regions: list[Region] = [{}]
                for part in parts:
                    regions = [
                        join(region, other)
                        for region in regions
                        for other in self._parts(part, left=True)
                    ]
                return regions
            case AnyOf(parts) if left:
                return [region for part in parts for region in self._parts(part, left=True)]
            case AnyOf(parts):
                return self._other_pairs(parts)
        raise ValueError(f"a condition of kind {type(condition).__name__} is not a tree of tests")

    def _other_pairs(self, ways: Sequence[Condition]) -> list[Region]:
        """Return the rows for which no condition holds: pairs of categories of two features.

        No two conditions have a category of the first feature in common.
        """
        regions: list[Region] = []
        others: Region = {}
        for way in ways:
            match way:
                case All((Test(rule=Among()) as first, Test(rule=Among()) as second)):
                    is_first, is_other = self._answers(first)
                    regions.append(
                        {first.feature: is_first, second.feature: self._answers(second)[1]}
                    )
                    others = join(others, {first.feature: is_other})
                case _:
                    raise ValueError(f"{way!r} is not a pair of categories")
        return [*regions, others]

    def _answers(self, test: Test) -> tuple[Restriction, Restriction]:
        """Return the restrictions of a test for the rows on its left and on its right."""
        match test.rule:
            case Below(threshold, is_reversed):
                left, right = Restriction(high=threshold), Restriction(low=threshold)
                if is_reversed:
                    left, right = right, left
            case Among():
                n_levels = len(self._schema.features[test.feature].levels or ())
                codes = test.rule.left(n_levels)
                left = Restriction(levels=codes)
                right = Restriction(levels=frozenset(range(n_levels)) - codes)
            case Known(goes_left):
                nothing = Restriction(low=inf, high=-inf)
                left, right = (Restriction(), nothing) if goes_left else (nothing, Restriction())
        missing = test.missing_left
        return replace(left, missing=missing), replace(right, missing=not missing)

    def region(self, region: Region) -> str:
        """All restrictions of a region, joined by "and"."""
        words = [self._restriction(feature, region[feature]) for feature in region]
        said = [word for word in words if word]
        if len(said) > 1:
            said = [f"({word})" if " or " in word else word for word in said]
        return " and ".join(said) or "all rows"

    def union(self, regions: Iterable[Region]) -> str:
        """Regions joined by "or", in brackets if there are several."""
        words = [self.region(region) for region in regions]
        return words[0] if len(words) == 1 else " or ".join(f"({said})" for said in words)

    def path(self, sides: Iterable[list[Region]]) -> str:
        """Describe the rows that are in a union of regions at every step of a path."""
        common: Region = {}
        unions = []
        for side in sides:
            if len(side) == 1:
                common = join(common, side[0])
            else:
                unions.append(side)
        said = [self.region(common)] if common or not unions else []
        if not unions:
            return said[0]
        return " and ".join([*said, *(f"({self.union(side)})" for side in unions)])

    def _restriction(self, feature: int, rule: Restriction) -> str:
        name = self.said_name(feature)
        is_missing = f"{name} is missing"
        if not rule.holds_known:
            return is_missing
        words = self._known(feature, rule)
        if not self._has_missing[feature]:
            return words
        if not words:
            return "" if rule.missing else f"{name} is known"
        return f"{words} or {is_missing}" if rule.missing else words

    def _known(self, feature: int, rule: Restriction) -> str:
        name = self.said_name(feature)
        if rule.levels is not None:
            return self._levels(feature, rule.levels)
        if (value := self._schema.features[feature].flag_text(rule.low, rule.high)) is not None:
            return f"{name} = {value}"
        match rule.low > -inf, rule.high < inf:
            case True, True:
                low, high = (self.bound(feature, bound) for bound in (rule.low, rule.high))
                return f"{low} <= {name} < {high}"
            case True, False:
                return f"{name} >= {self.bound(feature, rule.low)}"
            case False, True:
                return f"{name} < {self.bound(feature, rule.high)}"
        return ""

    def _levels(self, feature: int, codes: frozenset[int]) -> str:
        levels = self._schema.features[feature].levels or ()
        name = self.said_name(feature)
        inside = [shown(level) for code, level in enumerate(levels) if code in codes]
        outside = [shown(level) for code, level in enumerate(levels) if code not in codes]
        if not outside:
            return ""
        if len(inside) > _LONG_LIST and len(outside) < len(inside):
            return one_of(name, outside, "!=", "not in")
        return one_of(name, inside)


def one_of(name: str, levels: list[str], one: str = "=", several: str = "in") -> str:
    """Write that a feature is one of some categories."""
    if len(levels) == 1:
        return f"{name} {one} {levels[0]}"
    return f"{name} {several} {{{', '.join(levels)}}}"


def join(first: Region, second: Region) -> Region:
    """Return the region of the rows in both."""
    joined = dict(first)
    for feature, rule in second.items():
        joined[feature] = joined[feature] & rule if feature in joined else rule
    return joined


def _merge(regions: list[Region]) -> list[Region]:
    """Return the same union without regions that hold no row."""
    return [
        region
        for region in regions
        if all(rule.holds_known or rule.missing for rule in region.values())
    ]


def opaque_side(condition: OpaqueCondition, *, left: bool) -> str:
    """Describe one side of a split that has no rule."""
    match condition.says:
        case {"cubes": {"n_left": n_left, "n_cubes": n_cubes, "level": level}}:
            side = f"of {n_cubes} cubes of side 1/{2**level}"
            return f"in {n_left} {side}" if left else f"in the other {n_cubes - n_left} {side}"
    raise ValueError(f"unknown condition {condition.says!r}")
