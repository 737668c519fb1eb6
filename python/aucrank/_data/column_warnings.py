"""Warnings of columns that look like something other than they are taken for."""

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

import numpy as np

from aucrank._data.matching import NUMBER, Matcher, type_name
from aucrank._data.schema import Factor, Feature, Level, Schema, column_label, is_missing
from aucrank._data.unread_texts import unread
from aucrank._utils.warn import warn_caller

#: An identifier has fewer known rows per category than this, on average. Columns of real data sets
#: have 45 and more, identifiers 1, or 2 where the same customer occurs twice.
ROWS_OF_CATEGORY = 3
# In fewer rows, many categories of one row each are not unusual.
_LEAST_ROWS = 50

# A text column holds numbers if at least this many of its categories do, and at most this many do
# not.
_LEAST_NUMBERS = 10
_MOST_CODES = 5

# Number of columns that are named, and of codes of a column, which may be long.
_SHOWN_COLUMNS = 5
_SHOWN_CODES = 3
_SHOWN_LETTERS = 20

# Numbers to a person, beyond those that all readers accept: thousands separators, a decimal comma,
# a currency or a percent sign; and integers beyond 64 bits, which some readers leave as text.
_WRITTEN_NUMBER = re.compile(
    r"\(?[+-]?\s?[$€£¥]?\s?[+-]?"
    r"(?:[0-9]{1,3}(?:[,.'\u2019\s][0-9]{3})+(?:[.,][0-9]+)?|[1-9][0-9]*(?:[.,][0-9]+)?|0[.,][0-9]+|0)"
    r"\s?[%$€£¥]?\)?"
)

# A column is of another type if at least this share of its known rows match no level because of it.
_SHARE_OF_OTHER_TYPE = 0.9

_is_inner: ContextVar[bool] = ContextVar("_is_inner", default=False)
_named_before: ContextVar[set[str] | None] = ContextVar("_named_before", default=None)


class ColumnWarning(UserWarning):
    """A column looks like something other than it is taken for.

    A fit raises at most one warning of each kind, and a fit inside another one none. It names
    columns that look like identifiers, with more than one category per 3 rows; and text columns
    that hold numbers except for a few codes, such as "?": there, each number is a category of its
    own. So is each text in columns of numbers with units that are not multiples of one another, and
    of texts whose digits have one pattern, such as "11-Dec": they may be numbers or dates that are
    not read.
    It also names columns that separate the classes by themselves, with an AUC of 0.999 and more,
    where each class has 100 rows or more: they may hold what is known only after the outcome.
    Where ``fit`` takes ``groups`` and ``time`` and is given neither, it also names the columns that
    look like groups or times of rows.

    Scoring raises it where nearly all values of a categorical column match none of the training
    data because they are of another type, such as numbers for texts that are not numbers, or are
    written in another way, such as "01" for "1".

    Examples
    --------
    >>> import warnings
    >>> from aucrank import ColumnWarning
    >>> warnings.filterwarnings("ignore", category=ColumnWarning)
    """


@contextmanager
def inner_fits_are_silent() -> Iterator[None]:
    """Silence column warnings of inner fits: the outer fit has given them."""
    token = _is_inner.set(True)
    try:
        yield
    finally:
        _is_inner.reset(token)


def is_inner_fit() -> bool:
    """Return whether an enclosing fit has given the warnings."""
    return _is_inner.get()


@contextmanager
def each_column_named_once(named: set[str]) -> Iterator[None]:
    """Make repeated scoring, such as in batches, warn once per column of another type.

    Parameters
    ----------
    named : set of str
        Columns already named, kept from batch to batch.
    """
    token = _named_before.set(named)
    try:
        yield
    finally:
        _named_before.reset(token)


@dataclass(slots=True)
class OtherType:
    """Counts the rows of a column whose values match no level because of their type.

    Attributes
    ----------
    n_known : int
        Rows with a value.
    n_other : int
        Rows whose value matches no level because of its type.
    value : object
        One of these values.
    """

    n_known: int = 0
    n_other: int = 0
    value: Any = None

    def look_at(self, factor: Factor, strangers: Sequence[int], matcher: Matcher) -> None:
        """Record some rows, given the positions of values that match no level."""
        n_values = len(factor.values)
        if not strangers:
            self.n_known += int(np.count_nonzero(factor.codes >= 0)) if n_values else 0
            return
        # The last entry is the target of -1 and len(values).
        kinds = np.zeros(n_values + 1, dtype=np.uint8)
        kinds[:-1] = 1
        other = [index for index in strangers if matcher.is_of_other_type(factor.values[index])]
        if other:
            missing = [index for index, value in enumerate(factor.values) if is_missing(value)]
            kinds[missing] = 0
        kinds[other] = 2
        counts = np.bincount(kinds[factor.codes], minlength=3)
        self.n_known += int(counts[1:].sum())
        self.n_other += int(counts[2])
        if counts[2] and self.value is None:
            used = np.zeros(n_values + 1, dtype=np.bool_)
            used[factor.codes] = True
            self.value = next(factor.values[index] for index in other if used[index])

    @property
    def is_found(self) -> bool:
        """Whether nearly all rows are affected."""
        return self.n_other > 0 and self.n_other >= _SHARE_OF_OTHER_TYPE * self.n_known


class OtherTypes:
    """Columns to score whose values are of another type than in training: one warning per call.

    Parameters
    ----------
    schema : Schema
        Columns of the training data.
    """

    def __init__(self, schema: Schema) -> None:
        self._schema = schema
        self._columns: dict[int, OtherType] = {}

    def column(self, index: int) -> OtherType:
        """Return the counter of the rows of a column."""
        return self._columns.setdefault(index, OtherType())

    def warn(self) -> None:
        """Warn if there is a reason to, unless an enclosing fit has done so."""
        if _is_inner.get():
            return
        named = _named_before.get()
        found = {
            self._schema.label(index): _difference(self._schema.features[index], column.value)
            for index, column in self._columns.items()
            if column.is_found
        }
        if named is not None:
            found = {label: text for label, text in found.items() if label not in named}
            named.update(found)
        if found:
            labels = [f"{label} ({text})" for label, text in found.items()]
            warn_caller(
                f"{in_words(labels)}: nearly no value is a category of the training data, because"
                " of how it is written, so that the rows are scored as if the value were missing."
                " Convert what is scored to the type and the form of the training data.",
                ColumnWarning,
            )


def _difference(feature: Feature, value: Any) -> str:
    """Return in words how a value differs from the levels."""
    assert feature.levels
    level = Matcher(feature.levels).like(value)
    if level is None:
        level = feature.levels[0]
    then, now = type_name(level), type_name(value)
    if then == now:
        return f"{_quoted(value)}, in training {_quoted(level)}"
    return f"{now} such as {_shown(value)}, in training {then} such as {_shown(level)}"


def _shown(value: Any) -> str:
    if isinstance(value, np.generic):
        value = value.item()
    return _quoted(value) if isinstance(value, str) else _shortened(repr(value))


class ColumnWarnings:
    """Doubtful columns of a fit, reported once all columns have been recorded."""

    def __init__(self) -> None:
        self._identifiers: list[str] = []
        self._numbers: list[str] = []
        self._unread: list[str] = []

    def look_at(self, feature: Feature, index: int, n_known: int, *, is_declared: bool) -> None:
        """Record a categorical column.

        Parameters
        ----------
        feature : Feature
            Name and levels.
        index : int
            Position of the column.
        n_known : int
            Rows with a known value, among those that the levels are from.
        is_declared : bool
            Whether the user declared this very column categorical.
        """
        levels = feature.levels or ()
        label = column_label(feature.name, index)
        if not is_declared and (odd := _odd_numbers(levels)):
            self._numbers.append(f"{label} (such as {', '.join(map(_quoted, odd))})")
        elif not is_declared and (what := unread(levels, feature.name or "")):
            self._unread.append(f"{label} ({what}, such as {_quoted(str(levels[0]))})")
        elif _LEAST_ROWS <= n_known < ROWS_OF_CATEGORY * len(levels):
            self._identifiers.append(label)

    def warn(self) -> None:
        """Warn if there is a reason to, unless an enclosing fit has done so."""
        if _is_inner.get():
            return
        # No counts: they differ between folds of the same rows, and equal warnings are shown only
        # once on the command line and in Python.
        said = []
        if self._identifiers:
            one = len(self._identifiers) == 1
            said.append(
                f"{in_words(self._identifiers)} {'looks' if one else 'look'} like"
                f" {'an identifier' if one else 'identifiers'}, with more than one category for"
                f" every {ROWS_OF_CATEGORY} rows: what is learned from categories of so few rows"
                " holds for these rows alone."
                f" Leave {'it' if one else 'them'} out of X."
            )
        if self._numbers:
            one = len(self._numbers) == 1
            said.append(
                f"{in_words(self._numbers)} {'holds' if one else 'hold'} numbers but for a few"
                " texts, so that every number is a category of its own. Replace what stands for"
                " a missing value by NaN or None, write the rest as plain numbers, and convert the"
                f" column{'' if one else 's'} to numbers; name in categorical_features what does"
                " hold categories."
            )
        if self._unread:
            one = len(self._unread) == 1
            said.append(
                f"{in_words(self._unread)} {'looks' if one else 'look'} like numbers or dates that"
                " are not read, so that every text is a category of its own. Convert"
                f" {'it' if one else 'them'} to plain numbers of one unit, or to dates; leave out"
                " what only names the rows, and name in categorical_features what does hold"
                " categories."
            )
        if said:
            warn_caller(" ".join(said), ColumnWarning)


def in_words(labels: Sequence[str]) -> str:
    """Name a few columns, and count the others."""
    shown = ", ".join(labels[:_SHOWN_COLUMNS])
    more = len(labels) - _SHOWN_COLUMNS
    return f"Column{'s' * (len(labels) > 1)} {shown}" + (f" and {more} more" if more > 0 else "")


def _quoted(text: str) -> str:
    return repr(_shortened(text))


def _shortened(text: str) -> str:
    return text if len(text) <= _SHOWN_LETTERS else text[: _SHOWN_LETTERS - 1] + "…"


def _odd_numbers(levels: Sequence[Level]) -> list[str]:
    """Return a few of the texts that make a column of numbers categorical, if it is one."""
    codes: list[str] = []
    written: list[str] = []
    for level in levels:
        # Numbers with a categorical dtype were declared to be categories.
        if not isinstance(level, str):
            return []
        text = level.strip()
        if NUMBER.fullmatch(text):
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
