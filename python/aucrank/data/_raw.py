"""Raw rows that a fit reads in passes: objects that answer its queries."""

from typing import TYPE_CHECKING, Any, Protocol

from aucrank import _core
from aucrank._data.facts import Facts
from aucrank.data._gathered import Gathered, PointsOf, ScoresOf, SumsOf
from aucrank.data._scores import Scores, WeightUnit

if TYPE_CHECKING:
    from aucrank.data._dataset import Dataset
    from aucrank.data._engine import Engine


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
    dataset : Dataset
        The data set.
    engine : Engine
        Reads its rows.
    facts : Facts
        Facts about it.
    n_threads : int
        At least 1.
    """

    def __init__(self, dataset: "Dataset", engine: "Engine", facts: Facts, n_threads: int) -> None:
        self.n_levels = facts.schema.n_levels
        self.weights = engine.weight_unit(dataset, facts)
        self._dataset = dataset
        self._engine = engine
        self._facts = facts
        self._n_threads = n_threads

    def round(self, ask: bytes) -> _core.RawSums:
        """Return the sums of all rows for a query."""
        sums: _core.RawSums = self._gathered(SumsOf(ask))
        return sums

    def roc_state(self, score: Scores) -> _core.RocState:
        """Return the scores of all rows, which are in files if they take much memory."""
        state: _core.RocState = self._gathered(
            ScoresOf(score, self.weights, self._dataset.spill_dir)
        )
        return state

    def point_counts(self, score: Scores) -> _core.PointCounts:
        """Return the rows by points."""
        counts: _core.PointCounts = self._gathered(PointsOf(score, self.weights))
        return counts

    def _gathered(self, what: Gathered) -> Any:
        return self._engine.gathered(self._dataset, self._facts, what, self._n_threads)
