"""Functions of two features as tables: read from the core, and written as text."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import inf
from typing import Any

import numpy as np
from numpy.typing import NDArray

from aucrank._data.schema import Schema
from aucrank._data.table import Table
from aucrank._export.rules import Restriction, Words
from aucrank._export.step_functions import MISSING


@dataclass(frozen=True, slots=True)
class NumberAxis:
    """A number, cut at thresholds; one equal to a threshold is above it."""

    feature: int
    thresholds: tuple[float, ...]

    def restrictions(self) -> list[Restriction]:
        """Return the restriction of each position, with missing values last."""
        known = pairwise((-inf, *self.thresholds, inf))
        return [*(Restriction(low, high, missing=False) for low, high in known), MISSING]


@dataclass(frozen=True, slots=True)
class LevelAxis:
    """A category: the codes of each position."""

    feature: int
    groups: tuple[tuple[int, ...], ...]

    def restrictions(self) -> list[Restriction]:
        """Return the restriction of each position, with missing values last."""
        known = (Restriction(levels=frozenset(group), missing=False) for group in self.groups)
        return [*known, MISSING]


Axis = NumberAxis | LevelAxis


@dataclass(frozen=True, eq=False, slots=True)
class PairTable:
    """A function of two features.

    Attributes
    ----------
    axes : tuple of NumberAxis or LevelAxis
        The two features, and which of their values are distinguished.
    values : ndarray of float64
        One row per position of the first axis, one column per position of the second; missing
        values are last in both.
    """

    axes: tuple[Axis, Axis]
    values: NDArray[np.float64]

    @property
    def features(self) -> tuple[int, int]:
        """The positions of the two features."""
        first, second = self.axes
        return first.feature, second.feature

    def transposed(self) -> "PairTable":
        """Return the same function of the features in the other order."""
        first, second = self.axes
        return PairTable((second, first), self.values.T)


def parse_pair(document: dict[str, Any], schema: Schema) -> PairTable:
    """Return a function of two features from its JSON form in the core."""
    first, second = (_parse_axis(axis, schema) for axis in document["axes"])
    shape = [len(axis.restrictions()) for axis in (first, second)]
    return PairTable((first, second), np.array(document["values"]).reshape(shape))


def _parse_axis(document: dict[str, Any], schema: Schema) -> Axis:
    feature = document["feature"]
    match document["known"]:
        case {"numeric": {"thresholds": thresholds}}:
            return NumberAxis(feature, tuple(thresholds))
        case {"categorical": {"groups": groups, "has_others": has_others}}:
            listed = {code for group in groups for code in group}
            n_levels = len(schema.features[feature].levels or ())
            others = tuple(code for code in range(n_levels) if code not in listed)
            return LevelAxis(feature, (*map(tuple, groups), *([others] if has_others else [])))
    raise ValueError(f"unknown axis {document!r}")


def pair_name(names: Sequence[str]) -> str:
    """Return the name of the term of two features."""
    return " & ".join(names)


def table_of_pairs(words: Words, pairs: Sequence[PairTable]) -> Table:
    """Return the table of ``pair_terms``: one row for each cell."""
    rows = [
        (
            *(
                text
                for axis, rule in zip(pair.axes, cell, strict=True)
                for text in (words.name(axis.feature), words.region({axis.feature: rule}))
            ),
            value,
        )
        for pair in pairs
        for cell, value in _cells(pair)
    ]
    names = ("feature_1", "rule_1", "feature_2", "rule_2", "value")
    columns = zip(*rows, strict=True) if rows else [()] * len(names)
    dtypes = [np.str_] * 4 + [np.float64]
    return Table(
        {
            name: np.array(column, dtype=dtype)
            for name, column, dtype in zip(names, columns, dtypes, strict=True)
        }
    )


def _cells(pair: PairTable) -> list[tuple[tuple[Restriction, Restriction], float]]:
    rows, columns = (axis.restrictions() for axis in pair.axes)
    return [
        ((row, column), float(pair.values[i, j]))
        for i, row in enumerate(rows)
        for j, column in enumerate(columns)
    ]
