"""Columns between the steps of a pipeline, each as a function of one column of the data.

All transformers that fold into a formula work column by column, and what they do to a number is
piecewise: constants, and runs of arithmetic that preserves order. What they do to a category is a
table. Both are closed under every further step.
"""

from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import inf, nan
from typing import Any

import numpy as np

from aucrank._data.schema import Level, is_missing
from aucrank._export.formula import Operation
from aucrank._export.pipeline.doubles import after, apply, least_at

#: What a piece of a function of a number is: one value, or operations on the number.
Piece = float | tuple[Operation, ...]


@dataclass(frozen=True, slots=True)
class Raw:
    """A column of the data, of numbers or of categories: what reads it decides.

    Attributes
    ----------
    place : int
        Its position in the data.
    label : str
        Its name in messages.
    replaced : tuple of (value, value)
        Values that were replaced by others, in order.
    """

    place: int
    label: str
    replaced: tuple[tuple[Any, Any], ...] = ()


@dataclass(frozen=True, slots=True)
class Number:
    """A function of a column of numbers; NaN is a missing value.

    Attributes
    ----------
    place : int
        The position of that column in the data.
    breaks : tuple of float
        Ascending bounds between the pieces; a number equal to one is in the piece above it.
    pieces : tuple of float or of tuple of Operation
        One more than bounds.
    missing : float
        The value where the number is missing.
    """

    place: int
    breaks: tuple[float, ...]
    pieces: tuple[Piece, ...]
    missing: float

    def bounded(self) -> Iterator[tuple[float, float, Piece]]:
        """Yield the bounds of each piece, ``low <= x < high``, and the piece."""
        yield from zip((-inf, *self.breaks), (*self.breaks, inf), self.pieces, strict=True)

    def at(self, number: float) -> float:
        """Return the value for a number."""
        piece = self.pieces[bisect_right(self.breaks, number)]
        return apply(piece, number) if isinstance(piece, tuple) else piece


@dataclass(frozen=True, slots=True)
class Category:
    """A function of a column of categories; NaN is a missing value.

    Attributes
    ----------
    place : int
        The position of that column in the data.
    table : dict
        Values by category, None for where it is missing.
    unknown : float
        The value of all that are not in the table.
    """

    place: int
    table: Mapping[Level | None, float]
    unknown: float


Column = Raw | Number | Category
Read = Number | Category


def as_number(column: Column) -> Read:
    """Return a column as what arithmetic reads: a raw one is of numbers."""
    if not isinstance(column, Raw):
        return column
    number: Read = Number(column.place, (), ((),), nan)
    for old, new in column.replaced:
        if isinstance(new, str):
            raise ValueError(
                f"column {column.label} is text, filled with {new!r}, and a step that computes with"
                " numbers reads it"
            )
        if not isinstance(old, str):
            number = _replaced(number, old, float(new))
    return number


def computed(column: Column, operation: Operation) -> Read:
    """Return a column after an operation on its numbers."""
    read = as_number(column)
    if isinstance(read, Category):
        return mapped(read, lambda value: apply((operation,), value))
    pieces = tuple(
        (*piece, operation) if isinstance(piece, tuple) else apply((operation,), piece)
        for piece in read.pieces
    )
    return replace(read, pieces=pieces, missing=apply((operation,), read.missing))


def filled(column: Column, old: Any, new: Any) -> Column:
    """Return a column with a value replaced by another one; NaN and None stand for missing ones."""
    if isinstance(column, Raw):
        return replace(column, replaced=(*column.replaced, (old, new)))
    return column if isinstance(old, str) else _replaced(column, old, float(new))


def _replaced(column: Read, old: Any, new: float) -> Read:
    if is_missing(old):
        return stepped(column, (), None, new)
    number = float(old)
    if isinstance(column, Category):
        return mapped(column, lambda value: new if value == number else value)
    return stepped(column, (number, after(number)), (None, new, None), nan)


def stepped(
    column: Column,
    cuts: Sequence[float],
    values: Sequence[float | None] | None,
    missing: float,
) -> Read:
    """Return a step function of a column.

    Parameters
    ----------
    column : Column
        The column.
    cuts : sequence of float
        Ascending; a value equal to one is above it.
    values : sequence of float or None
        One more than cuts; None for a value that stays as it is, or for all of them.
    missing : float
        The value where the column is missing.
    """
    read = as_number(column)
    listed = [None] * (len(cuts) + 1) if values is None else values

    def step(value: float) -> float:
        if value != value:
            return missing
        new = listed[bisect_right(cuts, value)]
        return value if new is None else new

    if isinstance(read, Category):
        return mapped(read, step)
    breaks: list[float] = []
    pieces: list[Piece] = []
    for low, high, piece in read.bounded():
        parts: list[tuple[float, Piece]] = []
        if isinstance(piece, tuple):
            bounds = [least_at(piece, cut) for cut in cuts]
            for start, end, new in zip((-inf, *bounds), (*bounds, inf), listed, strict=True):
                if max(start, low) < min(end, high):
                    parts.append((max(start, low), piece if new is None else new))
        else:
            parts.append((low, step(piece)))
        for start, part in parts:
            if pieces and is_same(pieces[-1], part):
                continue
            if pieces:
                breaks.append(start)
            pieces.append(part)
    return Number(read.place, tuple(breaks), tuple(pieces), step(read.missing))


def is_same(one: Piece, other: Piece) -> bool:
    """Whether two pieces are equal, NaN like any other value."""
    if isinstance(one, tuple) or isinstance(other, tuple):
        return one == other
    return one == other or (one != one and other != other)


def mapped(column: Read, change: Callable[[float], float]) -> Read:
    """Return a column, all pieces of which are values, with these and NaN changed."""
    if isinstance(column, Category):
        table = {level: change(value) for level, value in column.table.items()}
        return replace(column, table=table, unknown=change(column.unknown))
    values = []
    for piece in column.pieces:
        if isinstance(piece, tuple):
            raise TypeError("a number that is computed has no list of values")
        values.append(change(piece))
    return replace(column, pieces=tuple(values), missing=change(column.missing))


# Categories ---------------------------------------------------------------------------------------


class Coding:
    """The categories of a column, from which outputs of an encoder are tables.

    Parameters
    ----------
    column : Column
        The column.
    categories : sequence
        Distinct texts, numbers or booleans, NaN and None.

    Raises
    ------
    ValueError
        If a category has no form, or the column distinguishes None from NaN.
    """

    def __init__(self, column: Column, categories: Sequence[Any]) -> None:
        self._column = column
        self._missing: int | None = None
        self._levels: dict[int, Level] = {}
        self._place_of: dict[Any, int] = {}
        label = column.label if isinstance(column, Raw) else f"{column.place}"
        for place, category in enumerate(categories):
            if not is_missing(category):
                self._levels[place] = level_of(category, label)
        known = self._levels.values()
        self._is_text = isinstance(column, Raw) and (
            any(isinstance(level, str) for level in known)
            or (len(known) > 0 and all(isinstance(level, bool) for level in known))
        )
        missing = {
            place: categories[place] for place in set(range(len(categories))) - set(self._levels)
        }
        if isinstance(column, Raw) and self._is_text:
            self._place_of = {level: place for place, level in self._levels.items()}
            self._missing = self._place_of_missing(column, missing)
        else:
            # Arithmetic turns None into NaN.
            self._missing = next(iter(missing), None)

    def _place_of_missing(self, column: Raw, categories: Mapping[int, Any]) -> int | None:
        """Return the category of a missing value, None if it is an unknown one.

        Data of other systems have one kind of missing values. Python has two, None and NaN, which
        scikit-learn distinguishes in columns of objects.
        """
        found: set[int | None] = set()
        for missing in (nan, None):
            final = _after_replacing(column, missing)
            if not is_missing(final):
                found.add(self._place_of.get(final))
                continue
            found |= {
                place
                for place, category in categories.items()
                if (category is None) == (final is None)
            }
        if len(found) > 1:
            raise ValueError(
                f"column {column.label} distinguishes None from NaN, and other systems have one"
                " missing value: replace None by NaN before the fit"
            )
        return next(iter(found), None)

    def column_of(self, values: Mapping[int, float], unknown: float) -> Read:
        """Return a column with a value for some categories, by position, and one for all else."""
        column = self._column
        missing = unknown if self._missing is None else values.get(self._missing, unknown)
        if not isinstance(column, Raw) or not self._is_text:
            numbers = {
                float(level): value
                for place, value in values.items()
                if (level := self._levels.get(place)) is not None and not isinstance(level, str)
            }
            return _at_numbers(as_number(column), numbers, unknown, missing)
        table: dict[Level | None, float] = {
            self._levels[place]: value for place, value in values.items() if place in self._levels
        }
        for old, _ in column.replaced:
            if isinstance(old, str):
                place = self._place_of.get(_after_replacing(column, old))
                table[old] = unknown if place is None else values.get(place, unknown)
        table[None] = missing
        return Category(column.place, table, unknown)


def _after_replacing(column: Raw, value: Any) -> Any:
    for old, new in column.replaced:
        if is_missing(old):
            is_old = is_missing(value) and (value is None) == (old is None)
        else:
            is_old = bool(value == old)
        value = new if is_old else value
    return value


def _at_numbers(
    column: Read, values: Mapping[float, float], unknown: float, missing: float
) -> Read:
    """Return a column with values at some numbers, and one value between them."""
    cuts: list[float] = []
    steps: list[float | None] = [unknown]
    for number, value in sorted(values.items()):
        # Neighbouring doubles may both be categories.
        if cuts and cuts[-1] == number:
            steps[-1] = value
        else:
            cuts.append(number)
            steps.append(value)
        cuts.append(after(number))
        steps.append(unknown)
    return stepped(column, cuts, steps, missing)


def marked(column: Column, mark: Any) -> Read:
    """Return 1 where a column has a value, which may be NaN or None, and 0 elsewhere."""
    if isinstance(column, Raw) and isinstance(mark, str):
        sources = [old for old, _ in column.replaced if isinstance(old, str)]
        candidates: list[Level | None] = [mark, *sources, None]
        table = {level: float(_after_replacing(column, level) == mark) for level in candidates}
        return Category(column.place, table, 0.0)
    if not is_missing(mark):
        return _at_numbers(as_number(column), {float(mark): 1.0}, 0.0, 0.0)
    if isinstance(column, Raw):
        # Of numbers and of categories alike.
        is_filled = any(is_missing(old) for old, _ in column.replaced)
        return Number(column.place, (), (0.0,), float(not is_filled))
    return stepped(column, (), (0.0,), 1.0)


def level_of(value: Any, label: str) -> Level:
    """Return a category of an encoder as a plain value.

    Raises
    ------
    ValueError
        If it is neither a text, a number nor a boolean.
    """
    match value:
        case str():
            return str(value)
        case bool() | np.bool_():
            return bool(value)
        case int() | np.integer():
            if int(float(value)) != int(value):
                raise ValueError(
                    f"column {label} has the category {value}, which no double holds: make it text"
                )
            return int(value)
        case float() | np.floating():
            return float(value)
    raise ValueError(
        f"column {label} has the category {value!r} of type {type(value).__name__}; categories must"
        " be texts, numbers or booleans to be exported"
    )


# What the ranker reads ----------------------------------------------------------------------------


def as_category(number: Number, levels: Sequence[Level], label: str) -> Category:
    """Return a function of a number as one of a category, for a column that is read as both.

    Raises
    ------
    ValueError
        If the categories are not booleans, which are the numbers 0 and 1.
    """
    table: dict[Level | None, float] = {None: number.missing}
    (first, *others) = number.pieces
    if not others and not isinstance(first, tuple):
        # An indicator of missing values.
        return Category(number.place, table, first)
    if not levels or not all(isinstance(level, bool) for level in levels):
        raise ValueError(
            f"column {label} is read as numbers by one step and as text by another: give each a"
            " column of its own"
        )
    table |= {level: number.at(float(level)) for level in (False, True)}
    return Category(number.place, table, nan)
