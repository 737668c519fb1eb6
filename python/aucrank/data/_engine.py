"""Computation on the rows of a data set where they are: here, on a cluster, in a database."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from aucrank import _core
from aucrank._data.coded_rows import CodedBatch
from aucrank._data.facts import Facts, RowSurvey, learn_facts
from aucrank._data.passes import Batch, Passes
from aucrank._data.schema import errors_by_name
from aucrank.data import _sampled
from aucrank.data._gathered import Gathered, LeastRowsOf, frame_of, gathered_here
from aucrank.data._holder import Scoring
from aucrank.data._raw import RawRows, ReadRows
from aucrank.data._sampled import Bounds, LeastRows, MostRows
from aucrank.data._scores import WeightUnit, unit_of_weights
from aucrank.data._stored import UnloggedRows, stored_rows

if TYPE_CHECKING:
    from aucrank.data._dataset import Dataset


class Engine(ABC):
    """Computes what a fit needs where the rows are."""

    #: Whether it counts rows and cannot return them.
    is_counted = False

    #: Whether rows are on the workers of a cluster.
    is_cluster = False

    def collects(self, n_bytes: int) -> bool:
        """Whether rows elsewhere are brought here for a fit that takes so many bytes for them."""
        return False

    def fits_worker(self, n_bytes: int) -> bool:
        """Whether rows elsewhere are brought to one worker for a fit that could query them."""
        return False

    def need_collected(self, n_bytes: int, n_rows: int, name: str) -> None:
        """Check that rows may be brought here for a fit that cannot be learned from sums of them.

        Raises
        ------
        ValueError
            If they take too many bytes.
        """
        return

    @abstractmethod
    def facts(
        self, estimator: BaseEstimator, passes: Passes, survey: RowSurvey, *, any_columns: bool
    ) -> Facts:
        """Learn in one pass the facts that a fit needs about all rows; see `learn_facts`."""

    def cancel(self) -> None:
        """Drop the work of a fit in this thread that has failed or was interrupted."""
        return

    @abstractmethod
    def rows(
        self, dataset: "Dataset", facts: Facts, binning: dict[str, Any], n_threads: int
    ) -> AbstractContextManager[UnloggedRows]:
        """Choose bins and code the rows; see `Dataset.rows`."""

    @abstractmethod
    def codes(
        self, dataset: "Dataset", facts: Facts, binning: dict[str, Any], n_threads: int
    ) -> _core.StoredRows:
        """Choose bins and code the rows, and have the codes here; see `Dataset.codes`."""

    def on_codes(
        self,
        dataset: "Dataset",
        facts: Facts,
        binning: dict[str, Any],
        n_threads: int,
        work: Callable[[_core.StoredRows], Any],
    ) -> Any:
        """Work on the codes of all rows in one place; see `Dataset.on_codes`."""
        return work(self.codes(dataset, facts, binning, n_threads))

    @abstractmethod
    def gathered(self, dataset: "Dataset", facts: Facts, what: Gathered, n_threads: int) -> Any:
        """Add all rows to a state of no rows; return it."""

    @abstractmethod
    def weight_unit(self, dataset: "Dataset", facts: Facts) -> WeightUnit:
        """Return what determines the unit of all weights, None if every row counts once."""

    def frame(
        self, dataset: "Dataset", facts: Facts, binning: dict[str, Any], n_threads: int
    ) -> bytes:
        """Choose the bins of all rows; return them with other facts, in the form of the core."""

        def gather(what: Gathered) -> Any:
            return self.gathered(dataset, facts, what, n_threads)

        return frame_of(gather, facts, binning, self.weight_unit(dataset, facts))

    def raw_rows(self, dataset: "Dataset", facts: Facts, n_threads: int) -> RawRows:
        """Return the rows for a fit that reads raw values in passes; see `Dataset.raw_rows`."""

        def gather(what: Gathered) -> Any:
            return self.gathered(dataset, facts, what, n_threads)

        return ReadRows(gather, facts, self.weight_unit(dataset, facts), dataset.spill_dir)

    def least_bounds(
        self, dataset: "Dataset", facts: Facts, most: MostRows, n_threads: int
    ) -> Bounds:
        """Return the largest hashes of a sample."""
        what = LeastRowsOf(facts.schema.n_levels, most)
        sample: LeastRows = self.gathered(dataset, facts, what, n_threads)
        return sample.bounds

    @abstractmethod
    def parts_within(
        self, dataset: "Dataset", facts: Facts, bounds: Bounds, n_threads: int
    ) -> Iterable[CodedBatch]:
        """Return the rows within the bounds of a sample, one part after another."""

    def scores(self, dataset: "Dataset", scoring: Scoring) -> Any:
        """Score the rows where they are, and leave the scores there; see `Dataset.scores`.

        Raises
        ------
        TypeError
            If rows are not those of a cluster.
        """
        raise TypeError(
            f"{dataset!r} is not on a cluster: call decision_function_batches or write_scores of"
            " the ranker"
        )

    def counted_scores(
        self, dataset: "Dataset", ranker: Any
    ) -> Iterator[tuple[Batch, NDArray[np.float64]]] | None:
        """Count the rows by score, label and weight; None where they can be read and scored."""
        return None

    def accumulated(
        self,
        dataset: "Dataset",
        add: "Callable[[Dataset, Any], Any]",
        state: Any,
        merge: Callable[[Sequence[Any]], Any] | None,
    ) -> Any:
        """Add all rows to a state.

        Parameters
        ----------
        dataset : Dataset
            The rows.
        add : callable
            ``add(dataset, state)`` adds rows to a state and returns it; ``add(part, None)`` returns
            a new state of the rows of a part, on its worker.
        state : object
            The state; ``state.merge(other)`` adds another one.
        merge : callable or None
            Merges the states of several parts on the workers; None to fetch one after another, and
            to add it to ``state``.

        Returns
        -------
        object
            State of all rows.
        """
        return add(dataset, state)


class LocalEngine(Engine):
    """Reads the rows in this process, batch by batch."""

    def facts(
        self, estimator: BaseEstimator, passes: Passes, survey: RowSurvey, *, any_columns: bool
    ) -> Facts:
        """Read the columns that are not numeric."""
        return learn_facts(estimator, passes, survey, any_columns=any_columns)

    def rows(
        self, dataset: "Dataset", facts: Facts, binning: dict[str, Any], n_threads: int
    ) -> AbstractContextManager[UnloggedRows]:
        """Code the rows into memory, or into a file if they take much."""
        return nullcontext(self.codes(dataset, facts, binning, n_threads))

    def codes(
        self, dataset: "Dataset", facts: Facts, binning: dict[str, Any], n_threads: int
    ) -> _core.StoredRows:
        """Code the rows as for `rows`."""
        with errors_by_name(facts.schema):
            frame = self.frame(dataset, facts, binning, n_threads)
        return stored_rows(dataset, facts, frame, n_threads)

    def gathered(self, dataset: "Dataset", facts: Facts, what: Gathered, n_threads: int) -> Any:
        """Read the rows, and add them batch by batch."""
        return gathered_here(dataset.coded_batches(facts), n_threads, what)

    def weight_unit(self, dataset: "Dataset", facts: Facts) -> WeightUnit:
        """Read the weights, twice unless they are counts."""
        if facts.target.largest_weights is None:
            return None
        return unit_of_weights(lambda: dataset.weight_batches(facts))

    def parts_within(
        self, dataset: "Dataset", facts: Facts, bounds: Bounds, n_threads: int
    ) -> Iterator[CodedBatch]:
        """Read the rows, and yield those within the bounds of a sample, batch by batch."""
        return _sampled.parts_within(dataset, facts, bounds, n_threads)
