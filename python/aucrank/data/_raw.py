"""Raw rows that a fit reads in passes: objects that answer its queries."""

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Protocol

from aucrank import _core
from aucrank._data.coded_rows import CodedBatch
from aucrank._data.data_files import PathLike
from aucrank._data.facts import Facts
from aucrank.data import _holder
from aucrank.data._scores import (
    Scores,
    WeightUnit,
    add_points,
    add_scores,
    spilling_state,
    weights_of_json,
)

if TYPE_CHECKING:
    from aucrank.data._cluster import ClusterSource


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
    weights: tuple[_core.WeightRange, int] | None

    def round(self, ask: bytes) -> bytes:
        """Return the merged sums of all rows for a query."""

    def roc_state(self, score: Scores) -> _core.RocState:
        """Return the scores of all rows, with weights in integer units."""

    def point_counts(self, score: Scores) -> _core.PointCounts:
        """Return the rows by points, which are integer scores."""


class ReadRows:
    """Rows that are read here, batch by batch, again in each pass.

    Parameters
    ----------
    read : callable
        Begins a pass: returns the batches, in the form of the core.
    facts : Facts
        Facts about them.
    weights : tuple of WeightRange and int, or None
        What determines the unit of all weights, None if every row counts once.
    spill_dir : path-like or None
        Folder for scores that take much memory; None for the system's temporary folder.
    n_threads : int
        At least 1.
    """

    def __init__(
        self,
        read: Callable[[], Iterable[CodedBatch]],
        facts: Facts,
        weights: WeightUnit,
        spill_dir: PathLike | None,
        n_threads: int,
    ) -> None:
        self.n_levels = facts.schema.n_levels
        self.weights = weights
        self._read = read
        self._spill_dir = spill_dir
        self._n_threads = n_threads

    def round(self, ask: bytes) -> bytes:
        """Return the sums of all rows for a query."""
        sums = _core.RawSums(ask)
        for batch in self._read():
            sums.add(batch, self._n_threads)
        return sums.to_bytes()

    def roc_state(self, score: Scores) -> _core.RocState:
        """Return the scores of all rows, which are in files if they take much memory."""
        state = spilling_state(self._spill_dir)
        for batch in self._read():
            add_scores(state, batch, score, self.weights, self._n_threads)
        return state

    def point_counts(self, score: Scores) -> _core.PointCounts:
        """Return the rows by points."""
        counts = _core.PointCounts(self.weights)
        for batch in self._read():
            add_points(counts, batch, score, self._n_threads)
        return counts


class ClusterRows:
    """The rows of a cluster, whose partitions are counted and merged on its workers.

    Parameters
    ----------
    source : ClusterSource
        The partitions.
    facts : Facts
        Facts about them.
    weights : tuple of str and int, or None
        What determines the unit of all weights, None if every row counts once.
    spill_dir : path-like or None
        Folder for scores that take much memory here; None for the system's temporary folder.
    n_threads : int
        At least 1, for the work done here.
    """

    def __init__(
        self,
        source: "ClusterSource",
        facts: Facts,
        weights: tuple[str, int] | None,
        spill_dir: PathLike | None,
        n_threads: int,
    ) -> None:
        self.n_levels = facts.schema.n_levels
        self.weights = weights_of_json(weights)
        self._unit = weights
        self._spill_dir = spill_dir
        self._n_threads = n_threads
        self._source = source
        self._facts = facts

    def round(self, ask: bytes) -> bytes:
        """Return the merged sums of all rows for a query."""
        answers = self._source.map(_holder.raw_sums, self._facts, ask)
        merged: bytes = self._source.merged(_holder.merge_raw_sums, answers, ask)
        return merged

    def roc_state(self, score: Scores) -> _core.RocState:
        """Return the scores of all rows, one partition after another.

        They are not merged on the workers, which may not have the memory for all.
        """
        found = self._source.map(_holder.roc_state, self._facts, score, self._unit)
        state = spilling_state(self._spill_dir)
        for part in self._source.one_by_one(found):
            state.merge(_core.RocState.from_bytes(part), self._n_threads)
        return state

    def point_counts(self, score: Scores) -> _core.PointCounts:
        """Return the rows by points, which are merged on the workers."""
        found = self._source.map(_holder.point_counts, self._facts, score, self._unit)
        counts = _core.PointCounts(self.weights)
        counts.merge_bytes(self._source.merged(_holder.merge_point_counts, found, self._unit))
        return counts
