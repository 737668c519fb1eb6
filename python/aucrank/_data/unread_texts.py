"""Texts of a categorical column that are numbers or dates, and are not read as such."""

import re
from collections.abc import Sequence

from aucrank._data.column_form import form_of_column
from aucrank._data.date_text import has_digit, is_month
from aucrank._data.matching import NUMBER
from aucrank._data.number_text import DECIMAL_MARKS
from aucrank._data.row_names import names_rows
from aucrank._data.schema import Level
from aucrank._data.text_survey import TextSurvey, are_nearly_all
from aucrank._utils.words import listed

# Fewer categories may well be categories, as ranges of ages are.
_LEAST_LEVELS = 30

# More categories are not looked at, but some of them at equal distances.
_MOST_LEVELS = 1_000

# Texts are numbers or dates if they have at most this many patterns of digits.
_MOST_PATTERNS = 3

# Units of a column that mixes them, and categories of each.
_MOST_UNITS, _LEAST_OF_UNIT = 8, 2

_ISO_DATE = re.compile(r"(?:19|20)\d\d-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])(?:[T ].*)?")

_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")
_DIGITS = re.compile(r"\d+")
_WORD = re.compile(r"[^\W\d_]+")
# A code or a name with a number at its end, a number alone or of a house, and an interval.
_NO_QUANTITY = re.compile(r"(?!.*\bMay\b)(?:[^\W\d_]+[-_#/. ]*)*9(?: ?[^\W\d_])?|[(\[].*[)\]]")


def are_iso_dates(levels: Sequence[Level]) -> bool:
    """Return whether all categories are dates such as 2026-01-31, with or without a time."""
    return all(isinstance(level, str) and _ISO_DATE.fullmatch(level) for level in levels)


def unread(levels: Sequence[Level], name: str = "") -> str:
    """Return what the categories of a column are that could be read otherwise; "" if nothing.

    Parameters
    ----------
    levels : sequence
        Categories.
    name : str, default=""
        Name of the column. One that is typical of identifiers may hold any pattern of digits.

    Returns
    -------
    str
        "numbers", "dates", "numbers or dates", or "numbers in km and min".
    """
    if len(levels) < _LEAST_LEVELS or not all(isinstance(level, str) for level in levels):
        return ""
    if are_iso_dates(levels):
        # They are named as times of rows.
        return ""
    step = -(-len(levels) // _MOST_LEVELS)
    texts = [str(level).strip() for level in levels[::step]]
    with_digits = [text for text in texts if has_digit(text)]
    if not are_nearly_all(len(texts), len(texts) - len(with_digits)):
        return ""
    if any(map(_CONTROL.search, with_digits)):
        return ""
    survey = TextSurvey()
    survey.look_at((text, 1) for text in texts)
    for mark in DECIMAL_MARKS:
        form = form_of_column(survey, mark)
        if form.is_numeric:
            # Texts that every reader takes for numbers were meant to be texts.
            are_plain = all(text.isdigit() or NUMBER.fullmatch(text) for text in with_digits)
            return "" if are_plain else f"{form.kind}s"
        units = survey.numbers[mark].mixed_units(_LEAST_OF_UNIT)
        if 1 < len(units) <= _MOST_UNITS and are_nearly_all(
            len(texts), survey.numbers[mark].odd.n_rows
        ):
            return f"numbers in {listed([unit or 'no unit' for unit in units])}"
    patterns = {_pattern(text) for text in with_digits}
    if len(patterns) > _MOST_PATTERNS or names_rows(name):
        return ""
    return "" if any(map(_NO_QUANTITY.fullmatch, patterns)) else "numbers or dates"


def _pattern(text: str) -> str:
    """Return a text with 9 for each number, and May for each month."""
    return _WORD.sub(_plain_word, _DIGITS.sub("9", text.strip()))


def _plain_word(found: re.Match[str]) -> str:
    return "May" if is_month(found[0]) else found[0]
