"""What a ranker at the end of a pipeline reads, as functions of the columns of the data."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import nan
from typing import Any

from aucrank._data.schema import Feature, Level, Schema, column_label
from aucrank._export.pipeline.columns import (
    Category,
    Coding,
    Column,
    Number,
    Raw,
    Read,
    as_category,
    as_number,
    is_same,
)
from aucrank._export.pipeline.steps import Block, after_steps


@dataclass(frozen=True)
class Plan:
    """The columns of a ranker, and those of the data.

    Attributes
    ----------
    columns : tuple of Number or Category
        For each column of the ranker its number, or the code of its category, as a function of a
        column of the data; NaN is missing.
    schema : Schema
        The columns of the data. A category None is a missing value that is not treated like an
        unknown category.
    read : frozenset of int
        Positions in the data of the columns that the ranker depends on.
    """

    columns: tuple[Read, ...]
    schema: Schema
    read: frozenset[int]


def plan_of(
    steps: Sequence[tuple[str, Any]],
    ranker_schema: Schema,
    n_columns: int,
    names: list[str] | None,
) -> Plan:
    """Return what a ranker reads after some fitted steps.

    Parameters
    ----------
    steps : sequence of (str, transformer)
        The steps.
    ranker_schema : Schema
        The columns that the ranker was fitted to.
    n_columns : int
        Number of columns of the data.
    names : list of str or None
        Their names, if they have any.

    Raises
    ------
    ValueError
        If a step has no form; or a column is read both as text and as numbers.
    """
    labels = [column_label(names[place] if names else None, place) for place in range(n_columns)]
    data: list[Column] = [Raw(place, labels[place]) for place in range(n_columns)]
    block = after_steps(steps, Block(data, is_sparse=False))
    features = ranker_schema.features
    if len(block.columns) != len(features):
        raise ValueError(
            f"the steps before the ranker give {len(block.columns)} columns, and it was fitted to"
            f" {len(features)}"
        )
    columns = [
        _as_read(column, feature) for column, feature in zip(block.columns, features, strict=True)
    ]
    return _settled(columns, labels, names)


def _as_read(column: Column, feature: Feature) -> Read:
    """Return a column as the ranker reads it: a number, or the code of a category."""
    if feature.levels is None:
        return as_number(column)
    codes = {code: float(code) for code in range(len(feature.levels))}
    return Coding(column, feature.levels).column_of(codes, nan)


def _settled(columns: Sequence[Read], labels: Sequence[str], names: list[str] | None) -> Plan:
    """Return the plan, with one kind for each column of the data."""
    known = _known_categories(columns)
    settled = [
        as_category(column, known[column.place], labels[column.place])
        if isinstance(column, Number) and column.place in known
        else column
        for column in columns
    ]
    categories: dict[int, list[Category]] = {}
    for column in settled:
        if isinstance(column, Category):
            categories.setdefault(column.place, []).append(column)
    features = [
        Feature(
            None if names is None else names[place],
            _levels(categories[place]) if place in categories else None,
        )
        for place in range(len(labels))
    ]
    read = frozenset(column.place for column in settled)
    return Plan(tuple(settled), Schema(tuple(features)), read)


def _known_categories(columns: Sequence[Read]) -> dict[int, list[Level]]:
    """Return the categories of each column of the data that is one of categories."""
    found: dict[int, list[Level]] = {}
    for column in columns:
        if isinstance(column, Category):
            known = [level for level in column.table if level is not None]
            found.setdefault(column.place, []).extend(known)
    # A column of which only gaps are read may hold text as well.
    of_numbers = {column.place for column in columns if not _marks_gaps(column)}
    for column in columns:
        if column.place not in of_numbers:
            found[column.place] = []
    return found


def _levels(functions: Sequence[Category]) -> tuple[Level, ...]:
    """Return the categories of a column of the data, given what is read of it."""
    known = dict.fromkeys(
        level for function in functions for level in function.table if level is not None
    )
    ordered: list[Any] = sorted(known, key=lambda level: (isinstance(level, str), level))
    # Where missing values act like unknown ones, as to most rankers, they need no category.
    if any(_has_own_missing(function) for function in functions):
        ordered.append(None)
    return tuple(ordered)


def _marks_gaps(column: Read) -> bool:
    """Return whether a column has one value where it is known."""
    return isinstance(column, Number) and isinstance(column.pieces[0], float) and not column.breaks


def _has_own_missing(column: Category) -> bool:
    return not is_same(column.table.get(None, column.unknown), column.unknown)
