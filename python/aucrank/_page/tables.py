"""Tables with formatted figures, and the description of an estimator in parts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any

import numpy as np

from aucrank._page import formats
from aucrank._utils.numbers import BOUNDS, exact

if TYPE_CHECKING:
    from aucrank._base.summary import Section

# Maximum numbers of rows of a model's table and of lines of its text, and those from which they are
# collapsed.
MOST_ROWS = 500
_MOST_LINES = 1000
_FOLDED_FROM = 40

# Maximum number of characters shown of a parameter.
_PARAMETER_LETTERS = 300


@dataclass(frozen=True, slots=True)
class Bar:
    """A cell with a figure and a bar of that length.

    Attributes
    ----------
    text : str
        The figure.
    start, end : float
        Where the bar begins and ends, from 0 to 1.
    dot : float or None
        Position of a point on it, for an interval.
    """

    text: str
    start: float
    end: float
    dot: float | None = None


@dataclass(frozen=True, slots=True)
class Heading:
    """The heading of a column.

    Attributes
    ----------
    text : str
        Text.
    is_text : bool
        Whether the cells are words, which are left-aligned.
    """

    text: str
    is_text: bool = False


@dataclass(frozen=True, slots=True)
class View:
    """A table as shown; the first cell of a row is its heading.

    Attributes
    ----------
    caption : str
        Caption.
    heads : list of Heading
        Of the columns.
    rows : list of lists of str or Bar
        The cells.
    note : str
        Note below the table.
    """

    caption: str
    heads: list[Heading]
    rows: list[list[str | Bar]]
    note: str = ""


def parameters(estimator: Any, caption: str) -> View | None:
    """Show the parameters of an estimator; None if it has no ``get_params``."""
    if not hasattr(estimator, "get_params"):
        return None
    params = estimator.get_params(deep=False)
    try:
        defaults = type(estimator)().get_params(deep=False)
    except TypeError:
        # A model built from another one has no defaults.
        defaults = {}
    rows: list[list[str | Bar]] = [
        [
            name,
            shortened(repr(value), _PARAMETER_LETTERS),
            "" if name in defaults and repr(value) == repr(defaults[name]) else "set",
        ]
        for name, value in params.items()
    ]
    return View(
        caption,
        [
            Heading("Parameter", is_text=True),
            Heading("Value", is_text=True),
            Heading("", is_text=True),
        ],
        rows,
        'What is not the default is marked "set".',
    )


def shortened(text: str, most: int) -> str:
    """Truncate a text to a number of characters."""
    return text if len(text) <= most else f"{text[: most - 1]}…"


@dataclass(frozen=True, slots=True)
class ModelPart:
    """Parts of a model's own description.

    Attributes
    ----------
    title : str
        Its heading.
    text : str
        Text, by line.
    table : View or None
        Table after the text.
    """

    title: str
    text: str
    table: View | None

    @property
    def is_long(self) -> bool:
        """Whether it is collapsed."""
        n_rows = 0 if self.table is None else len(self.table.rows)
        return max(n_rows, self.text.count("\n") + 1) >= _FOLDED_FROM


def parts_of(sections: Sequence[Section]) -> list[ModelPart]:
    """Return the description of an estimator as parts of a page."""
    return [
        ModelPart(
            section.title,
            _first_lines(section.text),
            _table_of(section) if section.table else None,
        )
        for section in sections
    ]


def _first_lines(text: str) -> str:
    lines = text.split("\n")
    more = len(lines) - _MOST_LINES
    if more <= 0:
        return text
    return "\n".join([*lines[:_MOST_LINES], f"… {formats.count(more)} more lines"])


def _table_of(section: Section) -> View:
    names = list(section.table)
    columns = [list(values) for values in section.table.values()]
    n_rows = len(columns[0]) if columns else 0
    more = n_rows - MOST_ROWS
    is_text = [not all(_is_number(value) for value in column) for column in columns]
    cells = [
        _bounds(column[:MOST_ROWS])
        if name in BOUNDS and not words
        else _cells(column[:MOST_ROWS], is_text=words)
        for name, column, words in zip(names, columns, is_text, strict=True)
    ]
    return View(
        section.title,
        [
            Heading(str(name).replace("_", " "), is_text=words)
            for name, words in zip(names, is_text, strict=True)
        ],
        [list(row) for row in zip(*cells, strict=True)],
        f"{formats.count(more)} more rows are left out." if more > 0 else "",
    )


def _is_number(value: Any) -> bool:
    return value is None or isinstance(value, Real)


def _bounds(values: Sequence[Any]) -> list[str]:
    missing = (value is None or np.isnan(value) for value in values)
    return [
        formats.MISSING if is_missing else exact(value)
        for value, is_missing in zip(values, missing, strict=True)
    ]


def _cells(values: Sequence[Any], *, is_text: bool) -> list[str]:
    if is_text:
        return [str(value) for value in values]
    whole = all(value is None or isinstance(value, Integral) for value in values)
    finite = [abs(float(v)) for v in values if v is not None and np.isfinite(float(v))]
    largest = max(finite, default=0.0)
    decimals = 4 if largest < 10 else 2
    return [_cell(value, whole=whole, decimals=decimals) for value in values]


def _cell(value: Any, *, whole: bool, decimals: int) -> str:
    if value is None:
        return formats.MISSING
    if isinstance(value, bool | np.bool_):
        return "yes" if value else "no"
    if whole:
        return formats.count(value) if value >= 0 else formats.number(value)
    return formats.decimal(float(value), decimals) if np.isfinite(value) else formats.number(value)
