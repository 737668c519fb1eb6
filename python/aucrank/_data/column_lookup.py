"""Look-up of columns that a parameter names, by name or by position."""

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np


@dataclass(frozen=True, slots=True)
class Wording:
    """Messages for a column that does not exist.

    Each is a format with ``column``, the requested one; ``parameter``, the parameter that requests
    it; ``n_columns``; and ``last``, the greatest position.

    Attributes
    ----------
    unnamed : str
        A name was requested, and X has none.
    unknown : str
        No column has this name.
    beyond : str
        The position is below 0 or too great.
    neither : str
        It is neither a name nor a position.
    """

    unnamed: str
    unknown: str
    beyond: str
    neither: str


#: For the one feature that is passed to a method.
ONE_FEATURE = Wording(
    unnamed="there is no feature {column!r}",
    unknown="there is no feature {column!r}",
    beyond="feature {column} is not one of the {n_columns} columns",
    neither="feature must be a name or a position, got {column!r}",
)

#: For columns in a list.
IN_A_LIST = Wording(
    unnamed="{parameter} holds {column!r}, but X has no column names",
    unknown="{parameter} holds {column!r}, which is not a column of X",
    beyond="{parameter} holds {column}, but X has columns 0 to {last}",
    neither="{parameter} must hold column positions or names, got {column!r}",
)


def find_column(
    column: Any,
    names: list[str] | None,
    n_columns: int,
    wording: Wording,
    parameter: str = "features",
) -> int:
    """Return the position of a column that is given by name or by position.

    Parameters
    ----------
    column : object
        What the user passed.
    names : list of str or None
        Names of all columns; None where they have none.
    n_columns : int
        Number of columns.
    wording : Wording
        Messages for a column that does not exist.
    parameter : str, default="features"
        Where the column was requested, for messages.

    Raises
    ------
    TypeError
        If it is neither a name nor a position.
    ValueError
        If the column does not exist.
    """

    def said(text: str) -> str:
        return text.format(
            column=column, parameter=parameter, n_columns=n_columns, last=n_columns - 1
        )

    if isinstance(column, str):
        if names is None:
            raise ValueError(said(wording.unnamed))
        if column not in names:
            raise ValueError(said(wording.unknown))
        return names.index(column)
    if isinstance(column, bool | np.bool_) or not isinstance(column, Integral):
        raise TypeError(said(wording.neither))
    position = int(column)
    if not 0 <= position < n_columns:
        raise ValueError(said(wording.beyond))
    return position


def first_doubled(names: Iterable[Hashable]) -> Any:
    """Return the first name that occurs twice; None if there is none."""
    counts = Counter(names)
    return next((name for name, count in counts.items() if count > 1), None)


def check_names(given: Iterable[Any], name: str, columns: list[str]) -> None:
    """Check that the names in a parameter are names of columns.

    Raises
    ------
    ValueError
        If some are not; the message lists them.
    """
    there = set(columns)
    unknown = [key for key in given if key not in there]
    if unknown:
        raise ValueError(f"{name} names columns that X does not have: {unknown!r}")


def columns_named(
    given: Mapping[Any, Any], name: str, columns: list[str] | None, instead: str
) -> list[str]:
    """Return the names of all columns, after checking that the keys of a parameter are among them.

    Parameters
    ----------
    given : mapping
        The parameter, by column name.
    name : str
        Name of the parameter, for messages.
    columns : list of str or None
        The names, None where the data has none.
    instead : str
        What to pass where columns have no names, for the message.

    Raises
    ------
    ValueError
        If columns have no names, or a key is not one of them.
    """
    if columns is None:
        raise ValueError(f"{name} is a dict, but X has no column names: pass {instead}")
    check_names(given, name, columns)
    return columns


def given_names(*columns: str | None) -> list[str]:
    """Return the names of those columns that there are."""
    return [name for name in columns if name is not None]
