"""Summary of a fitted estimator for people: sections of text and tables."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from aucrank._utils.numbers import rounded


@dataclass(frozen=True, slots=True)
class Section:
    """A part of a summary.

    Attributes
    ----------
    title : str
        Its heading.
    text : str
        Text below the heading.
    table : mapping of str to iterable
        Columns of a table that follows, by name; none for no table.
    """

    title: str
    text: str = ""
    table: Mapping[str, Iterable[Any]] = field(default_factory=dict)


def less(threshold: float) -> str:
    """Write a threshold as subtracted from a sum."""
    return f", {'less' if threshold >= 0 else 'plus'} {rounded(abs(threshold))}"
