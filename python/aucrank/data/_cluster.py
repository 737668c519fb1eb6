"""Rows on the workers of a cluster, which are queried for sums: shared code of all engines."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import narwhals.stable.v2 as nw
import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from aucrank import _core
from aucrank._data.coded_rows import CodedBatch
from aucrank._data.facts import Facts, RowSurvey
from aucrank._data.input import learn_names
from aucrank._data.passes import Passes, TypedSource
from aucrank._data.schema import errors_by_name
from aucrank._utils.sizes import megabytes
from aucrank._utils.words import plural
from aucrank.data import _holder
from aucrank.data._engine import Engine
from aucrank.data._gathered import Gathered, frame_of, gathered_here
from aucrank.data._holder import Scoring
from aucrank.data._raw import RawRows, ReadRows
from aucrank.data._sampled import ALL_ROWS, Bounds
from aucrank.data._scores import WeightUnit, unit_of_weights
from aucrank.data._stored import bytes_of_codes, bytes_of_values, rows_of_batches

if TYPE_CHECKING:
    from aucrank.data._dataset import Dataset

#: Maximal number of results that are gathered unmerged, and that one task merges.
MERGED_AT_ONCE = 8

#: Bytes of rows, with what a fit takes besides them, that any worker is taken to have room for.
_ROOM_OF_WORKER = 10**9


@dataclass(frozen=True, slots=True)
class SizeLimits:
    """Bytes below which all rows are brought to one place, with what a fit takes besides them.

    Attributes
    ----------
    collect_below : int
        For this process; 0 for never.
    worker_below : int or None
        For one worker, where sums would do as well; 0 for never, None for 1 GB, or half of the
        memory of the smallest worker if the engine knows it and that is less.
    """

    collect_below: int
    worker_below: int | None


class ClusterSource(TypedSource, Engine):
    """Partitions that are on workers, or can be computed there.

    The class of an engine adds how to call a function there. It calls those of `_holder`, each of
    which may be called again if a worker is lost.

    Parameters
    ----------
    description : str
        Short description.
    names : list of str
        Names of all columns, in order.
    limits : SizeLimits
        How many rows are brought to one place.
    """

    is_cluster = True

    def __init__(self, description: str, names: list[str], limits: SizeLimits) -> None:
        self.description = description
        self.names = names
        self._limits = limits

    @abstractmethod
    def map(self, function: Callable[..., Any], *args: Any) -> Any:
        """Call ``function(partition, number, *args)`` on the workers; return pending results."""

    @abstractmethod
    def gather(self, results: Any) -> list[Any]:
        """Wait for results, in the order of the partitions.

        Raises
        ------
        RuntimeError
            If partitions are lost that cannot be computed again.
        """

    @abstractmethod
    def one_by_one(self, results: Any) -> Iterator[Any]:
        """Wait for results and yield them one by one; none is kept for later."""

    @abstractmethod
    def merged(self, merge: Callable[..., Any], results: Any, *args: Any) -> Any:
        """Merge pending results by ``merge(found, *args)`` on the workers, a few at a time."""

    @abstractmethod
    def read(self, columns: Sequence[str]) -> Iterator[tuple[nw.DataFrame[Any], str]]:
        """Fetch some of the columns, at most one partition at a time."""

    @abstractmethod
    def hold(self, facts: Facts, frame: bytes) -> AbstractContextManager["QueriedRows"]:
        """Code all rows by `_holder.hold`, and keep them where they are coded."""

    @abstractmethod
    def scores(self, dataset: "Dataset", scoring: Scoring) -> Any:
        """Score the rows on the workers by `_holder.score`; return an object of the engine."""

    def facts(
        self, estimator: BaseEstimator, passes: Passes, survey: RowSurvey, *, any_columns: bool
    ) -> Facts:
        """Learn the facts on the workers."""
        surveys = self.map(_holder.survey_facts, survey)
        survey, parts = self.merged(_holder.merge_facts, surveys)
        no_rows: dict[str, list[Any]] = {name: [] for name in survey.features}
        learn_names(estimator, nw.from_dict(no_rows, backend="pandas"))
        n_rows = sum(part.n_rows for part in parts)
        return replace(survey.finish(estimator, n_rows, self.description), parts=tuple(parts))

    def collects(self, n_bytes: int) -> bool:
        """Whether so many bytes are below the limit of the data set."""
        return n_bytes < self._limits.collect_below

    def fits_worker(self, n_bytes: int) -> bool:
        """Whether so many bytes are below the limit for one worker."""
        limit = self._limits.worker_below
        if limit is None:
            if n_bytes >= _ROOM_OF_WORKER:
                return False
            memory = self.worker_memory()
            limit = _ROOM_OF_WORKER if memory is None else min(_ROOM_OF_WORKER, memory // 2)
        return n_bytes < limit

    @abstractmethod
    def worker_memory(self) -> int | None:
        """Return the bytes of memory of the smallest worker; None if the engine has no figure."""

    def need_collected(self, n_bytes: int, n_rows: int, name: str) -> None:
        """Check that so many bytes are below the limit of the data set.

        Raises
        ------
        ValueError
            If they are not.
        """
        if not self.collects(n_bytes):
            # Rounded up, so that the size that the message names suffices.
            size = f"{n_bytes // 10**6 + 1}MB"
            raise ValueError(
                f"{name} cannot be learned from sums: it needs all {n_rows:,} rows of"
                f" {self.description} here, which with what a fit takes besides them is"
                f" {megabytes(n_bytes)}, and collect_below of the data set is"
                f" {megabytes(self._limits.collect_below)}; if this machine has the memory, let it"
                f" be collect_below={size!r}"
            )

    def rows(
        self, dataset: "Dataset", facts: Facts, binning: dict[str, Any], n_threads: int
    ) -> AbstractContextManager["QueriedRows"]:
        """Choose bins, and code the rows on the workers."""
        with errors_by_name(facts.schema):
            return self.hold(facts, self.frame(dataset, facts, binning, n_threads))

    def codes(
        self, dataset: "Dataset", facts: Facts, binning: dict[str, Any], n_threads: int
    ) -> _core.StoredRows:
        """Fetch the values and code them here, or fetch codes if values take too much."""
        # Bins are cut by the values of 200,000 rows or more: sending these to be surveyed, and the
        # codes then, took 20.5 MB for 10^5 x 20, where the values take 16.
        if self.collects(bytes_of_values(facts) + bytes_of_codes(facts)):
            parts, unit = self._fetched(dataset, facts, n_threads)
            with errors_by_name(facts.schema):
                frame = frame_of(partial(gathered_here, parts, n_threads), facts, binning, unit)
            return rows_of_batches(parts, facts, frame, None, n_threads)
        with errors_by_name(facts.schema):
            frame = self.frame(dataset, facts, binning, n_threads)
            rows = _core.StoredRows(frame, None)
            for part in self.parts_as_codes(facts, frame):
                rows.add_bytes(part)
        return rows

    def on_codes(
        self,
        dataset: "Dataset",
        facts: Facts,
        binning: dict[str, Any],
        n_threads: int,
        work: Callable[[_core.StoredRows], Any],
    ) -> Any:
        """Code the rows on the workers, and bring the codes to one of them, to work there."""
        with errors_by_name(facts.schema):
            return self.on_coded(facts, self.frame(dataset, facts, binning, n_threads), work)

    @abstractmethod
    def on_coded(self, facts: Facts, frame: bytes, work: Callable[[_core.StoredRows], Any]) -> Any:
        """Code the rows on the workers, and call `_holder.on_coded` on one of them."""

    def parts_as_codes(self, facts: Facts, frame: bytes) -> Iterator[bytes]:
        """Code the rows on the workers; yield those of one partition after another."""
        return self.one_by_one(self.map(_holder.codes_of_part, facts, frame))

    def gathered(self, dataset: "Dataset", facts: Facts, what: Gathered, n_threads: int) -> Any:
        """Add the rows of each partition on its worker, and merge the states."""
        states = self.map(_holder.gather, facts, what)
        whole = what.whole()
        if what.is_merged_there:
            what.merge(whole, self.merged(_holder.merge_gathered, states, what), n_threads)
            return whole
        for state in self.one_by_one(states):
            what.merge(whole, state, n_threads)
        return whole

    def raw_rows(self, dataset: "Dataset", facts: Facts, n_threads: int) -> RawRows:
        """Return rows that are counted on the workers for each query, or fetched once if few."""
        if not self.collects(bytes_of_values(facts)):
            return super().raw_rows(dataset, facts, n_threads)
        parts, unit = self._fetched(dataset, facts, n_threads)
        gather = partial(gathered_here, parts, n_threads)
        return ReadRows(gather, facts, unit, dataset.spill_dir)

    def _fetched(
        self, dataset: "Dataset", facts: Facts, n_threads: int
    ) -> tuple[list[CodedBatch], WeightUnit]:
        """Fetch all values; return them with the unit of their weights."""
        parts = [_aligned(part) for part in self.parts_within(dataset, facts, ALL_ROWS, n_threads)]
        if facts.target.largest_weights is None:
            return parts, None
        return parts, unit_of_weights(lambda: (weights for _, _, weights, _ in parts))

    def parts_within(
        self, dataset: "Dataset", facts: Facts, bounds: Bounds, n_threads: int
    ) -> list[CodedBatch]:
        """Fetch the rows within the bounds of a sample, one partition after another."""
        parts = self.gather(self.map(_holder.rows_of_sample, facts, bounds))
        return [part for part in parts if part is not None]

    def accumulated(
        self,
        dataset: "Dataset",
        add: "Callable[[Dataset, Any], Any]",
        state: Any,
        merge: Callable[[Sequence[Any]], Any] | None,
    ) -> Any:
        """Make a state of each partition on its worker, and merge them."""
        roles = {
            "target": dataset.target,
            "positive": dataset.positive,
            "weight": dataset.weight,
            "columns": dataset.columns,
        }
        states = self.map(_holder.state_of_part, type(dataset), roles, add)
        if merge is not None:
            return self.merged(merge, states)
        # No worker needs memory for all of them.
        for part in self.one_by_one(states):
            state.merge(part)
        return state

    def weight_unit(self, dataset: "Dataset", facts: Facts) -> WeightUnit:
        """Look at the weights on the workers, twice unless they are counts."""
        if facts.target.largest_weights is None:
            return None
        whole = _core.WeightRange()
        for part in self.gather(self.map(_holder.weight_range, facts)):
            whole = whole.merge(part)
        if whole.are_counts():
            return whole, 0
        return whole, sum(self.gather(self.map(_holder.relative_sum, facts, whole)))


class QueriedRows(ABC):
    """Coded rows on workers, which a fit of the core queries.

    Parameters
    ----------
    frame : bytes
        Facts about all rows, in the form of the core.

    Attributes
    ----------
    n_queries : int
        Number of queries so far.
    n_bytes : int
        Bytes of the answers that came here.
    """

    def __init__(self, frame: bytes) -> None:
        self.frame = frame
        self.n_queries = 0
        self.n_bytes = 0

    def round(self, ask: bytes) -> bytes:
        """Return the merged answer of all rows to a query of the core."""
        answers = self._answers(ask)
        self.n_queries += 1
        self.n_bytes += sum(map(len, answers))
        return _holder.merge(answers, ask, self.frame)

    def said(self) -> str:
        """Return what has been sent, in words."""
        n_queries = plural(self.n_queries, "query", "queries")
        return f"{n_queries} to the cluster, {megabytes(self.n_bytes)} of answers"

    @abstractmethod
    def _answers(self, ask: bytes) -> list[bytes]:
        """Return the answers of the workers, as far as these have not merged them."""


def _aligned(batch: CodedBatch) -> CodedBatch:
    """Return a batch as the core reads it: a message may begin anywhere in memory."""
    columns, positive, weight, blocks = batch
    return (
        [_in_place(column) for column in columns],
        _in_place(positive),
        None if weight is None else _in_place(weight),
        None if blocks is None else (_in_place(blocks[0]), blocks[1]),
    )


def _in_place(values: NDArray[Any]) -> NDArray[Any]:
    return np.require(values, requirements=["C_CONTIGUOUS", "ALIGNED"])


class FutureSource(ClusterSource):
    """Partitions on workers of an engine that returns a future for each call.

    Parameters
    ----------
    description : str
        Short description.
    names : list of str
        Names of all columns, in order.
    n_partitions : int
        At least 1.
    limits : SizeLimits
        See `ClusterSource`.
    """

    def __init__(
        self, description: str, names: list[str], n_partitions: int, limits: SizeLimits
    ) -> None:
        super().__init__(description, names, limits)
        self.n_partitions = n_partitions

    @abstractmethod
    def submit(self, function: Callable[..., Any], results: Sequence[Any], *args: Any) -> Any:
        """Call ``function(results, *args)`` on a worker, given pending results of other calls."""

    @abstractmethod
    def fetch(self, number: int) -> Any:
        """Compute a partition and fetch it."""

    def one_by_one(self, results: list[Any]) -> Iterator[Any]:
        """Wait for futures and yield their results one by one; none is kept for later."""
        for number, result in enumerate(results):
            found = self.gather([result])[0]
            # The worker need not keep it.
            results[number] = result = None
            yield found

    def on_coded(self, facts: Facts, frame: bytes, work: Callable[[_core.StoredRows], Any]) -> Any:
        """Code the rows on the workers, and call `_holder.on_coded` on one of them."""
        parts = self.map(_holder.codes_of_part, facts, frame)
        return self.gather([self.submit(_holder.on_coded, parts, frame, work)])[0]

    def merged(self, merge: Callable[..., Any], results: list[Any], *args: Any) -> Any:
        """Merge pending results by ``merge(found, *args)`` on the workers, a few at a time."""
        while len(results) > 1:
            results = self.merge_once(merge, results, *args)
        return self.gather(results)[0]

    def merge_once(self, merge: Callable[..., Any], results: list[Any], *args: Any) -> list[Any]:
        """Merge neighbouring pending results on the workers; return the pending merged results."""
        firsts = range(0, len(results), MERGED_AT_ONCE)
        groups = (results[first : first + MERGED_AT_ONCE] for first in firsts)
        return [self.submit(merge, group, *args) for group in groups]

    def answers_of(self, answers: list[Any], ask: bytes, frame: bytes) -> list[bytes]:
        """Fetch pending answers to a query, of which a few are left to merge here: it is faster."""
        while len(answers) > MERGED_AT_ONCE:
            answers = self.merge_once(_holder.merge, answers, ask, frame)
        return self.gather(answers)

    def read(self, columns: Sequence[str]) -> Iterator[tuple[nw.DataFrame[Any], str]]:
        """Fetch some of the columns, one partition at a time."""
        for number in range(self.n_partitions):
            batch = _holder.piece_of(self.fetch(number), columns, number)
            yield batch.frame, batch.origin
