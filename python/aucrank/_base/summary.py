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


class SummaryMixin:
    """Mixin for estimators that describe their fitted model."""

    def _size(self) -> str:
        """Return the size of the fitted model, in words; "" where there is nothing to say."""
        return ""

    def _does(self) -> str:
        """Return a description of what the fitted model does, in words."""
        return "ranks"

    def _of_features(self) -> Mapping[str, Iterable[Any]]:
        """Return what the model says of each feature: columns by name."""
        importances = getattr(self, "feature_importances_", None)
        return {} if importances is None else {"importance": importances}

    def _summary(self) -> list[Section]:
        """Return a summary of the model for a person to read."""
        return []


def less(threshold: float) -> str:
    """Write a threshold as subtracted from a sum."""
    return f", {'less' if threshold >= 0 else 'plus'} {rounded(abs(threshold))}"
