"""Raw rows that a fit reads in passes: what answers its questions."""

from typing import TYPE_CHECKING, Protocol

from aucrank import _core
from aucrank._data.facts import Facts
from aucrank.data import _holder
from aucrank.data._stored import weight_unit

if TYPE_CHECKING:
    from aucrank.data._cluster import ClusterSource
    from aucrank.data._dataset import Dataset


class RawRows(Protocol):
    """What a fit of the core asks, a pass over the rows for each question.

    Attributes
    ----------
    n_levels : list of int or None
        Number of categories of each column, None for a number.
    weights : tuple of WeightRange and int, or None
        What the unit of all weights is chosen by, None where every row counts once.
    """

    n_levels: list[int | None]
    weights: tuple[_core.WeightRange, int] | None

    def round(self, ask: bytes) -> bytes:
        """Return the merged sums of all rows that a question asks for."""


class ReadRows:
    """The rows of a data set, which are read anew in each pass.

    Parameters
    ----------
    dataset : Dataset
        What is read.
    facts : Facts
        What was learned of it.
    n_threads : int
        At least 1.
    """

    def __init__(self, dataset: "Dataset", facts: Facts, n_threads: int) -> None:
        self.n_levels = facts.schema.n_levels
        self.weights = weight_unit(dataset, facts)
        self._dataset = dataset
        self._facts = facts
        self._n_threads = n_threads

    def round(self, ask: bytes) -> bytes:
        """Return the sums of all rows that a question asks for."""
        sums = _core.RawSums(ask)
        for batch in self._dataset.coded_batches(self._facts):
            sums.add(batch, self._n_threads)
        return sums.to_bytes()


class ClusterRows:
    """The rows of a cluster, whose partitions are counted and merged on its workers.

    Parameters
    ----------
    source : ClusterSource
        The partitions.
    facts : Facts
        What was learned of them.
    target : str
        Column of labels.
    weight : str or None
        Column of weights.
    weights : tuple of str and int, or None
        What the unit of all weights is chosen by, None where every row counts once.
    """

    def __init__(
        self,
        source: "ClusterSource",
        facts: Facts,
        target: str,
        weight: str | None,
        weights: tuple[str, int] | None,
    ) -> None:
        self.n_levels = facts.schema.n_levels
        self.weights: tuple[_core.WeightRange, int] | None = None
        if weights is not None:
            self.weights = _core.WeightRange.from_json(weights[0]), weights[1]
        self._source = source
        self._roles = (facts, target, weight)

    def round(self, ask: bytes) -> bytes:
        """Return the merged sums of all rows that a question asks for."""
        answers = self._source.map(_holder.raw_sums, *self._roles, ask)
        merged: bytes = self._source.merged(_holder.merge_raw_sums, answers, ask)
        return merged
