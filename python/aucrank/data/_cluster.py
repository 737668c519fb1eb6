"""Rows on the workers of a cluster, which are queried for sums: shared code of all engines."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from typing import Any

import narwhals.stable.v2 as nw
from sklearn.base import BaseEstimator

from aucrank import _core
from aucrank._data.block_survey import BlockSurvey
from aucrank._data.coded_rows import CodedBatch
from aucrank._data.column_survey import ColumnSurvey
from aucrank._data.data_files import PathLike
from aucrank._data.facts import Facts, columns_beside, finish_facts
from aucrank._data.input import KindsByColumn, learn_names
from aucrank._data.passes import Head
from aucrank._data.schema import errors_by_name
from aucrank._data.target_survey import TargetSurvey
from aucrank._data.weights import check_class_weight
from aucrank.data import _holder
from aucrank.data._raw import ClusterRows, RawRows
from aucrank.data._sampled import Bounds, LeastRows
from aucrank.data._stored import Rows

#: Maximal number of results that are gathered unmerged, and that one task merges.
MERGED_AT_ONCE = 8


class ClusterSource(ABC):
    """Partitions that are on workers, or can be computed there.

    An engine adds how to call a function there. It calls those of `_holder`, each of which may be
    called again if a worker is lost.

    Parameters
    ----------
    description : str
        Short description.
    names : list of str
        Names of all columns, in order.
    """

    files: tuple[str, ...] = ()

    def __init__(self, description: str, names: list[str]) -> None:
        self.description = description
        self.names = names

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
    def hold(
        self, facts: Facts, target: str, weight: str | None, frame: bytes
    ) -> AbstractContextManager[Rows]:
        """Code all rows by `_holder.hold`, and keep them where they are coded."""

    @abstractmethod
    def scores(self, ranker: Any, features: list[str], columns: list[str]) -> Any:
        """Score the rows on the workers by `_holder.score`; return an object of the engine."""

    def heads(self, columns: Sequence[str]) -> Iterator[Head] | None:
        """Return None: what holds for all partitions need not hold for each."""
        return None

    def count_rows(self) -> int | None:
        """Return None: the partitions would have to be computed."""
        return None

    def check_unchanged(self) -> None:
        """Do nothing: partitions have no modification time."""
        return

    def facts(
        self,
        estimator: BaseEstimator,
        features: list[str],
        target: str,
        positive: Any,
        weight: str | None,
        *,
        blocks: BlockSurvey,
        categorical_features: Any,
        class_weight: Any,
        also: KindsByColumn | None,
    ) -> Facts:
        """Learn on the workers the facts that a fit needs about all rows; see `learn_facts`."""
        check_class_weight(class_weight)
        columns = ColumnSurvey(features, categorical_features, also)
        labels = TargetSurvey(target, weight, class_weight)
        beside = [*columns_beside(target, weight), *blocks.columns]
        surveys = self.map(_holder.survey_facts, columns, labels, features, beside, blocks)
        columns, labels, blocks, parts = self.merged(_holder.merge_facts, surveys)
        n_rows = sum(part.n_rows for part in parts)
        learn_names(estimator, nw.from_dict({name: [] for name in features}, backend="pandas"))
        facts = finish_facts(estimator, columns, labels, positive, n_rows, self.description)
        return replace(facts, parts=tuple(parts), blocks=blocks.finish())

    def coded(
        self,
        facts: Facts,
        target: str,
        weight: str | None,
        binning: dict[str, Any],
    ) -> AbstractContextManager[Rows]:
        """Choose bins, and code the rows on the workers."""
        roles = (facts, target, weight)
        with errors_by_name(facts.schema):
            unit = self._weight_unit(*roles)
            return self.hold(*roles, self._surveyed(*roles, binning, unit))

    def least_bounds(
        self, facts: Facts, target: str, weight: str | None, most: int, *, by_class: bool
    ) -> Bounds:
        """Return the largest hashes of a sample, found by the workers."""
        found = self.map(_holder.least_rows, facts, target, weight, most, by_class)
        sample = LeastRows(facts.schema.n_levels, most, by_class=by_class)
        merged = self.merged(_holder.merge_least_rows, found, facts, most, by_class)
        sample.merge_bytes(merged)
        return sample.bounds

    def parts_within(
        self, facts: Facts, target: str, weight: str | None, bounds: Bounds
    ) -> list[CodedBatch]:
        """Fetch the rows within the bounds of a sample, one partition after another."""
        parts = self.gather(self.map(_holder.rows_of_sample, facts, target, weight, bounds))
        return [part for part in parts if part is not None]

    def raw(
        self,
        facts: Facts,
        target: str,
        weight: str | None,
        spill_dir: PathLike | None,
        n_threads: int,
    ) -> RawRows:
        """Return the rows for a fit that reads raw values in passes."""
        roles = (facts, target, weight)
        return ClusterRows(self, *roles, self._weight_unit(*roles), spill_dir, n_threads)

    def _surveyed(
        self,
        facts: Facts,
        target: str,
        weight: str | None,
        binning: dict[str, Any],
        unit: tuple[str, int] | None,
    ) -> bytes:
        """Choose bins on the workers."""
        n_rows: int | None = facts.n_rows
        while True:
            args = (binning, unit, n_rows)
            surveys = self.map(_holder.survey_rows, facts, target, weight, *args)
            whole = _holder.new_survey(facts, *args)
            whole.merge_bytes(self.merged(_holder.merge_surveys, surveys, facts, *args))
            if whole.is_complete():
                return whole.frame()
            # Many rows are copies, or have weight zero.
            n_rows = None

    def _weight_unit(self, facts: Facts, target: str, weight: str | None) -> tuple[str, int] | None:
        """Return what determines the unit of all weights, None if every row counts once."""
        if facts.target.largest_weights is None:
            return None
        roles = (facts, target, weight)
        whole = _core.WeightRange()
        for part in self.gather(self.map(_holder.weight_range, *roles)):
            whole = whole.merge(_core.WeightRange.from_json(part))
        if whole.are_counts():
            return whole.to_json(), 0
        sums = self.map(_holder.relative_sum, *roles, whole.to_json())
        return whole.to_json(), sum(self.gather(sums))


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
    """

    def __init__(self, description: str, names: list[str], n_partitions: int) -> None:
        super().__init__(description, names)
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

    def answer_of(self, answers: list[Any], ask: bytes, frame: bytes) -> bytes:
        """Merge answers of workers to a query; a few are merged here, which is faster."""
        while len(answers) > MERGED_AT_ONCE:
            answers = self.merge_once(_holder.merge, answers, ask, frame)
        return _holder.merge(self.gather(answers), ask, frame)

    def read(self, columns: Sequence[str]) -> Iterator[tuple[nw.DataFrame[Any], str]]:
        """Fetch some of the columns, one partition at a time."""
        for number in range(self.n_partitions):
            batch = _holder.piece_of(self.fetch(number), columns, number)
            yield batch.frame, batch.origin
