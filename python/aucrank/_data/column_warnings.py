"""Columns that look like something else than they are taken for: said once a fit."""

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar

from aucrank._data.schema import Feature, Level, column_label
from aucrank._utils.warn import warn_caller

# An identifier has fewer known rows for a category than this, on average. Columns of real data sets
# have 45 and more, identifiers 1, or 2 where the same customer comes twice.
_ROWS_OF_CATEGORY = 3
# In fewer rows, many categories of one row each are nothing unusual.
_LEAST_ROWS = 50

# Text holds numbers if at least so many of its categories are, and at most so many are not.
_LEAST_NUMBERS = 10
_MOST_CODES = 5

# So many columns are named, and so many codes of a column, which may be long.
_SHOWN_COLUMNS = 5
_SHOWN_CODES = 3
_SHOWN_LETTERS = 20

# What all readers take for a number. A number like 007 is a name.
_NUMBER = re.compile(r"[+-]?(?:(?:0|[1-9][0-9]{0,17})(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
# What a person does, too: thousands set apart, a decimal comma, a currency or a percent sign; and
# integers beyond 64 bits, which some readers leave as text.
_WRITTEN_NUMBER = re.compile(
    r"\(?[+-]?\s?[$€£¥]?\s?[+-]?"
    r"(?:[0-9]{1,3}(?:[,.'\u2019\s][0-9]{3})+(?:[.,][0-9]+)?|[1-9][0-9]*(?:[.,][0-9]+)?|0[.,][0-9]+|0)"
    r"\s?[%$€£¥]?\)?"
)

_is_inner: ContextVar[bool] = ContextVar("_is_inner", default=False)


class ColumnWarning(UserWarning):
    """A column of the training data looks like something else than it is taken for.

    A fit gives it at most once, and a fit inside another one never. It names the columns that look
    like identifiers, with more than one category for every 3 rows; and the columns of text that
    hold numbers but for a few codes, such as "?", for which each number is a category of its own.

    Examples
    --------
    >>> import warnings
    >>> from aucrank import ColumnWarning
    >>> warnings.filterwarnings("ignore", category=ColumnWarning)
    """


@contextmanager
def inner_fits_are_silent() -> Iterator[None]:
    """Let the fits that a fit is made of say nothing of the columns: it has said it of all."""
    token = _is_inner.set(True)
    try:
        yield
    finally:
        _is_inner.reset(token)


class Doubts:
    """What is to be said of the columns of a fit, once all of them have been looked at."""

    def __init__(self) -> None:
        self._identifiers: list[str] = []
        self._numbers: list[str] = []

    def look_at(self, feature: Feature, index: int, n_known: int, *, is_declared: bool) -> None:
        """Look at a categorical column.

        Parameters
        ----------
        feature : Feature
            Name and levels.
        index : int
            Position of the column.
        n_known : int
            Rows whose value is known, of those that the levels are from.
        is_declared : bool
            Whether the user said of this very column that it is categorical.
        """
        levels = feature.levels or ()
        label = column_label(feature.name, index)
        if not is_declared and (odd := _odd_numbers(levels)):
            self._numbers.append(f"{label} (such as {', '.join(map(_quoted, odd))})")
        elif _LEAST_ROWS <= n_known < _ROWS_OF_CATEGORY * len(levels):
            self._identifiers.append(label)

    def warn(self) -> None:
        """Say it, if there is anything to say and no fit around this one has said it."""
        if _is_inner.get():
            return
        # No counts: folds of the same rows have others, and who shows equal texts once, as the
        # command line and Python do, shows one.
        said = []
        if self._identifiers:
            one = len(self._identifiers) == 1
            said.append(
                f"{_columns(self._identifiers)} {'looks' if one else 'look'} like"
                f" {'an identifier' if one else 'identifiers'}, with more than one category for"
                f" every {_ROWS_OF_CATEGORY} rows: what categories of so few rows tell holds for"
                " these rows alone."
                f" Leave {'it' if one else 'them'} out of X."
            )
        if self._numbers:
            one = len(self._numbers) == 1
            said.append(
                f"{_columns(self._numbers)} {'holds' if one else 'hold'} numbers but for a few"
                " texts, so that every number is a category of its own. Replace what stands for"
                " a missing value by NaN or None, write the rest as plain numbers, and convert the"
                f" column{'' if one else 's'} to numbers; name in categorical_features what does"
                " hold categories."
            )
        if said:
            warn_caller(" ".join(said), ColumnWarning)


def _columns(labels: Sequence[str]) -> str:
    shown = ", ".join(labels[:_SHOWN_COLUMNS])
    more = len(labels) - _SHOWN_COLUMNS
    return f"Column{'s' * (len(labels) > 1)} {shown}" + (f" and {more} more" if more > 0 else "")


def _quoted(text: str) -> str:
    return repr(text if len(text) <= _SHOWN_LETTERS else text[: _SHOWN_LETTERS - 1] + "…")


def _odd_numbers(levels: Sequence[Level]) -> list[str]:
    """Return a few of the texts that make categories of a column of numbers, if it is one."""
    codes: list[str] = []
    written: list[str] = []
    for level in levels:
        # Numbers that are categories by their type were declared to be.
        if not isinstance(level, str):
            return []
        text = level.strip()
        if _NUMBER.fullmatch(text):
            continue
        if _WRITTEN_NUMBER.fullmatch(text):
            written.append(level)
        elif len(codes) == _MOST_CODES:
            return []
        else:
            codes.append(level)
    # Text that is all plain numbers was meant to be text: every reader would have converted it.
    if len(levels) - len(codes) < _LEAST_NUMBERS:
        return []
    return [*codes[: _SHOWN_CODES - bool(written)], *written][:_SHOWN_CODES]
