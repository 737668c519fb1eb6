"""Raw rows that a fit reads in passes: objects that answer its queries."""

from collections.abc import Callable
from typing import Any, Protocol

from aucrank import _core
from aucrank._data.data_files import PathLike
from aucrank._data.facts import Facts
from aucrank.data._gathered import Gathered, PointsOf, ScoresOf, SumsOf
from aucrank.data._scores import Scores, WeightUnit


class RawRows(Protocol):
    """Interface that a fit of the core queries, with one pass over the rows per query.

    Attributes
    ----------
    n_levels : list of int or None
        Number of categories of each column, None for a number.
    weights : tuple of WeightRange and int, or None
        What determines the unit of all weights, None if every row counts once.
    """

    n_levels: list[int | None]
    weights: WeightUnit

    def round(self, ask: bytes) -> _core.RawSums:
        """Return the merged sums of all rows for a query."""

    def roc_state(self, score: Scores) -> _core.RocState:
        """Return the scores of all rows, with weights in integer units."""

    def point_counts(self, score: Scores) -> _core.PointCounts:
        """Return the rows by points, which are integer scores."""


class ReadRows:
    """The rows of a data set, which are read again for each query, where they are.

    Parameters
    ----------
    gather : callable
        Returns the state of all rows.
    facts : Facts
        Facts about them.
    weights : tuple of WeightRange and int, or None
        What determines the unit of all weights, None if every row counts once.
    spill_dir : path-like or None
        Folder for scores that take much memory; None for the system's temporary folder.
    """

    def __init__(
        self,
        gather: Callable[[Gathered], Any],
        facts: Facts,
        weights: WeightUnit,
        spill_dir: PathLike | None,
    ) -> None:
        self.n_levels = facts.schema.n_levels
        self.weights = weights
        self._gather = gather
        self._spill_dir = spill_dir

    def round(self, ask: bytes) -> _core.RawSums:
        """Return the sums of all rows for a query."""
        sums: _core.RawSums = self._gather(SumsOf(ask))
        return sums

    def roc_state(self, score: Scores) -> _core.RocState:
        """Return the scores of all rows, which are in files if they take much memory."""
        state: _core.RocState = self._gather(ScoresOf(score, self.weights, self._spill_dir))
        return state

    def point_counts(self, score: Scores) -> _core.PointCounts:
        """Return the rows by points."""
        counts: _core.PointCounts = self._gather(PointsOf(score, self.weights))
        return counts
