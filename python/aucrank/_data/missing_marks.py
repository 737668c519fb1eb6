"""Texts and numbers that stand for missing values in a file, in addition to the usual ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class MissingMarks:
    """What stands for a missing value, in all columns and in some.

    Attributes
    ----------
    everywhere : tuple of str
        Texts and numbers that do so in every column.
    in_columns : mapping of str to tuple of str
        Those that do so only in a column, by its name.
    """

    everywhere: tuple[str, ...] = ()
    in_columns: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def of(self, column: str) -> tuple[str, ...]:
        """Return all that do so in a column."""
        return (*self.everywhere, *self.in_columns.get(column, ()))

    def and_those_of(self, other: MissingMarks) -> MissingMarks:
        """Return these and further ones, each once."""
        everywhere = dict.fromkeys([*self.everywhere, *other.everywhere])
        in_columns = {
            name: tuple(
                dict.fromkeys([*self.in_columns.get(name, ()), *other.in_columns.get(name, ())])
            )
            for name in dict.fromkeys([*self.in_columns, *other.in_columns])
        }
        return MissingMarks(tuple(everywhere), in_columns)


def read_marks(missing: Any) -> MissingMarks:
    """Return the marks that a user gives: a sequence of texts, or such sequences by column.

    Raises
    ------
    TypeError
        If it is something else.
    """
    if isinstance(missing, Mapping):
        return MissingMarks(
            (), {name: _texts(marks, f"missing[{name!r}]") for name, marks in missing.items()}
        )
    return MissingMarks(_texts(missing, "missing"))


def _texts(marks: Any, name: str) -> tuple[str, ...]:
    if not isinstance(marks, Sequence | set | frozenset) or isinstance(marks, str):
        raise TypeError(f"{name} must be a list of strings, got {marks!r}")
    if odd := [mark for mark in marks if not isinstance(mark, str)]:
        raise TypeError(f"{name} must be a list of strings, got {odd[0]!r} in it")
    return tuple(marks)


def marks_by_column(given: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """Return the marks of columns that are given as COLUMN=MARK.

    Raises
    ------
    ValueError
        If there is no equals sign.
    """
    found: dict[str, tuple[str, ...]] = {}
    for text in given:
        name, is_given, mark = text.partition("=")
        if not is_given:
            raise ValueError(f"{text!r} is not of the form COLUMN=TEXT")
        found[name] = (*found.get(name, ()), mark)
    return found
