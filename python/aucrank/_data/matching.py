"""Categories of another type than those of the training data, matched by value.

A code that was text in training may arrive as a number from a database, or the reverse. A text and
a number are the same category if the text is the number, written plainly: "1", "1.0" or " 1" for 1,
"True" or "TRUE" for true, which equals 1 in Python. A text with leading zeros, such as "007", is a
name. If two texts both read as a number, it has no match, since either may be meant. Texts match
texts only if they are equal, as in every export.
"""

import re
from collections.abc import Sequence
from functools import cached_property
from math import isfinite
from numbers import Real
from typing import Any

import numpy as np

#: Numbers for all readers. A number like 007 is a name.
NUMBER = re.compile(r"[+-]?(?:(?:0|[1-9][0-9]{0,17})(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")

_TRUTHS = {"true": 1, "false": 0}

# Marks several levels that read as the same number.
_AMBIGUOUS = -1

# A longer text is not a number that a person wrote.
_MOST_LETTERS = 40


def is_text(value: Any) -> bool:
    """Return whether a category is text."""
    return isinstance(value, str)


def type_name(value: Any) -> str:
    """Return the name of the type of a category in a message."""
    if is_text(value):
        return "text"
    if isinstance(value, bool | np.bool_):
        return "booleans"
    return "numbers" if isinstance(value, Real) else f"values of type {type(value).__name__}"


class Matcher:
    """Finds the level that matches a value, also one of another type.

    Parameters
    ----------
    levels : sequence of str, int, float or bool
        Categories of the training data.
    """

    def __init__(self, levels: Sequence[Any]) -> None:
        self._levels = levels

    def code_of(self, value: Any) -> int | None:
        """Return the position of the level of another type that a value reads as, or None."""
        number = _reading(value)
        if number is None:
            return None
        found = self._texts if not is_text(value) else self._numbers
        code = found.get(number, _AMBIGUOUS)
        return None if code == _AMBIGUOUS else code

    def is_of_other_type(self, value: Any) -> bool:
        """Return whether a value that matches no level does so because of its type or its form.

        This is so if no level could equal it: none has its type, nor can be read as one of that
        type. And if a level differs from it only in blanks, case, leading zeros or decimals.
        """
        if not self._levels:
            return False
        if self.like(value) is not None:
            return True
        if is_text(value):
            return not self._texts_are_there and _reading(value) is None
        return not self._numbers and (_reading(value) is None or not self._texts)

    def like(self, value: Any) -> Any:
        """Return a level that a person would read as this value; None if there is none."""
        return self._by_letters.get(_letters(value))

    @cached_property
    def _texts_are_there(self) -> bool:
        return len(self._numbers) < len(self._levels)

    @cached_property
    def _numbers(self) -> dict[Any, int]:
        return {level: code for code, level in enumerate(self._levels) if not is_text(level)}

    @cached_property
    def _texts(self) -> dict[Any, int]:
        found: dict[Any, int] = {}
        for code, level in enumerate(self._levels):
            if is_text(level) and (number := _reading(level)) is not None:
                found[number] = _AMBIGUOUS if number in found else code
        return found

    @cached_property
    def _by_letters(self) -> dict[Any, Any]:
        return {_letters(level): level for level in reversed(self._levels)}


def _reading(value: Any) -> Any:
    """Return the number that a value is, or that a text reads as; None for any other."""
    if not is_text(value):
        return value if isinstance(value, Real) and isfinite(value) else None
    if len(value) > _MOST_LETTERS:
        return None
    text = value.strip()
    if NUMBER.fullmatch(text):
        try:
            # Not through a float, which rounds from 2**53 on.
            return int(text)
        except ValueError:
            number = float(text)
            return number if isfinite(number) else None
    return _TRUTHS.get(text.lower())


def _letters(value: Any) -> Any:
    """Return a key that values share if they differ only in notation."""
    number = _reading(value)
    if number is not None:
        return number
    if not is_text(value):
        return value
    text = value.strip()
    bare = text.lstrip("0")
    if bare != text and (number := _reading(bare or "0")) is not None:
        return number
    return text.casefold()
