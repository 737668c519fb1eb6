"""What is gathered over all rows: states, each of some rows, which are merged."""

import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from aucrank import _core
from aucrank._data.coded_rows import CodedBatch
from aucrank._data.data_files import PathLike
from aucrank._data.facts import Facts
from aucrank.data._sampled import LeastRows, MostRows
from aucrank.data._scores import Scores, WeightUnit, in_units, spilling_state

#: Bytes that a state may take in memory, irrelevant where it has no files.
_ANY_SIZE = 2**30


class Gathered(ABC):
    """A state to which rows are added batch by batch, wherever they are.

    It is sent to workers, and its states come back as bytes.
    """

    #: Whether workers merge states. Otherwise they are merged here, one after another: no worker
    #: may have the memory for all of them.
    is_merged_there = True

    @abstractmethod
    def empty(self) -> Any:
        """Return the state of no rows."""

    def whole(self) -> Any:
        """Return the state of no rows to which those of all parts are added here."""
        return self.empty()

    def add(self, state: Any, batch: CodedBatch, n_threads: int) -> None:
        """Add rows to a state."""
        state.add(batch, n_threads)

    def to_bytes(self, state: Any) -> bytes:
        """Return a state in the form in which it is sent."""
        sent: bytes = state.to_bytes()
        return sent

    def merge(self, state: Any, sent: bytes, n_threads: int) -> None:
        """Add the state of other rows."""
        state.merge_bytes(sent)


@dataclass(frozen=True)
class SurveyOf(Gathered):
    """One pass from which bins are chosen.

    Parameters
    ----------
    n_levels : list of int or None
        Number of categories of each column.
    binning : dict
        Parameters of the bins, in the form of the core.
    unit : tuple of WeightRange and int, or None
        What determines the unit of all weights.
    n_rows : int or None
        Number of all rows, so that parts take and send little.
    """

    n_levels: list[int | None]
    binning: dict[str, Any]
    unit: WeightUnit
    n_rows: int | None

    def empty(self) -> _core.Survey:
        """Return the survey of no rows."""
        return _core.Survey(self.n_levels, json.dumps(self.binning), self.unit, self.n_rows)


@dataclass(frozen=True)
class SumsOf(Gathered):
    """The answer to a query about raw values.

    Parameters
    ----------
    ask : bytes
        The query, in the form of the core.
    """

    ask: bytes

    def empty(self) -> _core.RawSums:
        """Return the sums of no rows."""
        return _core.RawSums(self.ask)


@dataclass(frozen=True)
class LeastRowsOf(Gathered):
    """The rows whose content has the smallest hashes.

    Parameters
    ----------
    n_levels : list of int or None
        Number of categories of each column.
    most : tuple of int
        Number of rows, or that of each class.
    """

    n_levels: list[int | None]
    most: MostRows

    def empty(self) -> LeastRows:
        """Return the sample of no rows."""
        return LeastRows(self.n_levels, self.most)


@dataclass(frozen=True)
class PointsOf(Gathered):
    """The number of rows by points, which are integer scores.

    Parameters
    ----------
    score : Scores
        The points of rows.
    unit : tuple of WeightRange and int, or None
        What determines the unit of all weights.
    """

    score: Scores
    unit: WeightUnit

    def empty(self) -> _core.PointCounts:
        """Return counts of no rows."""
        return _core.PointCounts(self.unit)

    def add(self, state: _core.PointCounts, batch: CodedBatch, n_threads: int) -> None:
        """Add the points of rows."""
        columns, positive, weights, _ = batch
        state.add(self.score(columns, n_threads), positive, weights, n_threads)


@dataclass(frozen=True)
class ScoresOf(Gathered):
    """The scores of rows, with their weights in integer units.

    Parameters
    ----------
    score : Scores
        The scores of rows.
    unit : tuple of WeightRange and int, or None
        What determines the unit of all weights.
    spill_dir : path-like or None
        Folder for scores that take much memory here; None for the system's temporary folder.
    """

    is_merged_there = False

    score: Scores
    unit: WeightUnit
    spill_dir: PathLike | None

    def empty(self) -> _core.RocState:
        """Return a state without rows, which has no files."""
        return _core.RocState(None, None, None, _ANY_SIZE)

    def whole(self) -> _core.RocState:
        """Return a state without rows, which keeps what takes much memory in files."""
        return spilling_state(self.spill_dir)

    def add(self, state: _core.RocState, batch: CodedBatch, n_threads: int) -> None:
        """Add the scores of rows."""
        columns, positive, weights, _ = batch
        units = in_units(weights, self.unit)
        state.update(positive, self.score(columns, n_threads), units, n_threads)

    def to_bytes(self, state: _core.RocState) -> bytes:
        """Return a state in the form in which it is sent."""
        return state.to_bytes(1)

    def merge(self, state: _core.RocState, sent: bytes, n_threads: int) -> None:
        """Add the state of other rows."""
        state.merge(_core.RocState.from_bytes(sent), n_threads)


def gathered_here(batches: Iterable[CodedBatch], n_threads: int, what: Gathered) -> Any:
    """Return the state of the rows of all batches."""
    state = what.whole()
    for batch in batches:
        what.add(state, batch, n_threads)
    return state


def frame_of(
    gather: Callable[[Gathered], Any], facts: Facts, binning: dict[str, Any], unit: WeightUnit
) -> bytes:
    """Choose the bins of all rows; return them with other facts, in the form of the core.

    Parameters
    ----------
    gather : callable
        Returns the state of all rows.
    facts : Facts
        Facts about them.
    binning : dict
        Parameters of the bins, in the form of the core.
    unit : tuple of WeightRange and int, or None
        What determines the unit of all weights, None if every row counts once.
    """
    n_rows: int | None = facts.n_rows
    while True:
        survey: _core.Survey = gather(SurveyOf(facts.schema.n_levels, binning, unit, n_rows))
        if survey.is_complete():
            return survey.frame()
        # Many rows are copies, or have weight zero.
        n_rows = None
