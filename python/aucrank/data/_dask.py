"""Rows of a Dask collection: they stay on the workers of a cluster, which are asked for sums."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import narwhals.stable.v2 as nw
from sklearn.base import BaseEstimator

from aucrank import _core
from aucrank._data.as_frame import as_frame
from aucrank._data.column_survey import ColumnSurvey
from aucrank._data.facts import Facts, finish_facts
from aucrank._data.input import KindsByColumn, learn_names
from aucrank._data.passes import Head, check_column_names, need_columns
from aucrank._data.schema import errors_by_name
from aucrank._data.target_survey import TargetSurvey
from aucrank._data.weights import check_class_weight
from aucrank._utils.extras import import_extra
from aucrank.data import _holder
from aucrank.data._dataset import Dataset
from aucrank.data._stored import Rows

#: Answers that one task merges; up to so many are gathered as they are.
_MERGED_AT_ONCE = 8

#: How often a task is begun anew where a worker is lost with it.
_RETRIES = 2


class DaskSource:
    """Partitions of a collection, computed one after the other.

    Parameters
    ----------
    collection : dask.dataframe.DataFrame
        What is read.
    client : distributed.Client
        Who computes.
    """

    files: tuple[str, ...] = ()

    def __init__(self, collection: Any, client: Any) -> None:
        self.client = client
        self.partitions = collection.to_delayed()
        self.description = f"the Dask collection of {len(self.partitions)} partitions"
        self.names = check_column_names(list(collection.columns), self.description)

    def heads(self, columns: Sequence[str]) -> Iterator[Head] | None:
        """Return None: what a collection says of its dtypes need not hold in each partition."""
        return None

    def count_rows(self) -> int | None:
        """Return None: the partitions would have to be computed."""
        return None

    def read(self, columns: Sequence[str]) -> Iterator[tuple[nw.DataFrame[Any], str]]:
        """Compute some of the columns, a partition at a time."""
        for number, part in enumerate(self.partitions):
            found = self.client.compute(part).result()
            frame = nw.from_native(as_frame(found), eager_only=True)
            origin = f"partition {number}"
            need_columns(columns, frame.columns, origin)
            yield frame.select(list(columns)), origin

    def check_unchanged(self) -> None:
        """Do nothing: partitions have no time of change."""

    def map(self, function: Callable[..., Any], *args: Any) -> list[Any]:
        """Call ``function(partition, number, *args)`` on the workers; return what will come."""
        delayed = import_extra("dask", "dask", "Dataset.from_dask").delayed
        call = delayed(function, pure=False)
        # Once for all tasks.
        shared = [delayed(arg, traverse=False) for arg in args]
        tasks = [call(part, number, *shared) for number, part in enumerate(self.partitions)]
        futures: list[Any] = self.client.compute(tasks, retries=_RETRIES)
        return futures

    def merged(self, merge: Callable[..., Any], futures: list[Any], *args: Any) -> Any:
        """Merge what is to come by ``merge(found, *args)`` on the workers, a few at a time."""
        while len(futures) > 1:
            groups = range(0, len(futures), _MERGED_AT_ONCE)
            futures = [
                self.client.submit(
                    merge,
                    futures[first : first + _MERGED_AT_ONCE],
                    *args,
                    pure=False,
                    retries=_RETRIES,
                )
                for first in groups
            ]
        return futures[0].result()


def open_collection(collection: Any, client: Any, **roles: Any) -> "DaskDataset":
    """Open a Dask data frame; see `Dataset.from_dask`.

    Raises
    ------
    ImportError
        If dask and distributed are not installed.
    TypeError
        If ``collection`` is no data frame of Dask.
    ValueError
        If there is no client, or a column is not there.
    """
    distributed = import_extra("distributed", "dask", "Dataset.from_dask")
    if not (hasattr(collection, "to_delayed") and hasattr(collection, "columns")):
        raise TypeError(f"collection must be a data frame of Dask, got {type(collection).__name__}")
    if client is None:
        try:
            client = distributed.get_client()
        except ValueError as err:
            raise ValueError(
                "there is no client of a Dask cluster: start one, such as"
                " distributed.Client(n_workers=2), or pass it as client"
            ) from err
    return DaskDataset(DaskSource(collection, client), **roles)


class DaskDataset(Dataset):
    """A data set whose rows stay on the workers of a Dask cluster; see `Dataset.from_dask`."""

    def __init__(self, source: DaskSource, **roles: Any) -> None:
        super().__init__(source, **roles)
        self._source = source

    def facts(
        self,
        estimator: BaseEstimator,
        categorical_features: Any = "from_dtype",
        class_weight: Any = None,
        also: KindsByColumn | None = None,
    ) -> Facts:
        """Learn on the workers what a fit has to know of all rows; see `Dataset.facts`."""
        check_class_weight(class_weight)
        target, weight = self.need_target(), self.weight
        columns = ColumnSurvey(self.columns, categorical_features, also)
        labels = TargetSurvey(target, weight, class_weight)
        names = [*self.columns, target, *([] if weight is None else [weight])]
        futures = self._source.map(_holder.survey_facts, columns, labels, names)
        columns, labels, n_rows = self._source.merged(_holder.merge_facts, futures)
        learn_names(estimator, _no_rows(self.columns))
        description = self._source.description
        return finish_facts(estimator, columns, labels, self.positive, n_rows, description)

    @contextmanager
    def rows(self, facts: Facts, binning: dict[str, Any], n_threads: int) -> Iterator[Rows]:
        """Choose bins and code the rows on the workers; see `Dataset.rows`."""
        source, roles = self._source, (facts, self.need_target(), self.weight)
        unit = self._unit(facts)
        with errors_by_name(facts.schema):
            surveys = source.map(_holder.survey_rows, *roles, binning, unit, n_threads)
            whole = _holder.new_survey(facts, binning, unit)
            whole.merge_bytes(source.merged(_holder.merge_surveys, surveys, facts, binning, unit))
            frame = whole.frame()
            holders = source.map(_holder.hold, *roles, frame, n_threads)
            # What is wrong with a partition is said now, not at the first question.
            source.client.gather([source.client.submit(_holder.n_rows, held) for held in holders])
        yield DaskRows(source.client, holders, frame, n_threads)

    def _unit(self, facts: Facts) -> tuple[str, int] | None:
        """Return what the unit of all weights is chosen by, None where every row counts once."""
        if facts.target.largest_weights is None:
            return None
        source, roles = self._source, (facts, self.need_target(), self.weight)
        parts = source.client.gather(source.map(_holder.weight_range, *roles))
        whole = _core.WeightRange()
        for part, _ in parts:
            whole = whole.merge(_core.WeightRange.from_json(part))
        if whole.are_counts():
            return whole.to_json(), 0
        sums = source.map(_holder.relative_sum, *roles, whole.to_json())
        return whole.to_json(), sum(source.client.gather(sums))


class DaskRows:
    """Coded rows on the workers of a Dask cluster.

    Each round is one task a worker, on the holders that lie there. Tasks may run elsewhere: if a
    worker is lost, the holders that it had are made anew from their partitions, and answer as
    before, since a question carries all that was decided.

    Parameters
    ----------
    client : distributed.Client
        Who computes.
    holders : list of distributed.Future
        Of `Holder`.
    frame : bytes
        What is known of all rows.
    n_threads : int
        Of a worker.
    """

    def __init__(self, client: Any, holders: list[Any], frame: bytes, n_threads: int) -> None:
        self.frame = frame
        self._client = client
        self._holders = holders
        self._n_threads = n_threads

    def round(self, ask: bytes) -> bytes:
        """Return the merged answer of all rows to a question of the core."""
        submit = self._client.submit
        answers = [
            submit(_holder.answer, group, ask, self._n_threads, pure=False, retries=_RETRIES)
            for group in self._by_worker()
        ]
        while len(answers) > _MERGED_AT_ONCE:
            groups = range(0, len(answers), _MERGED_AT_ONCE)
            answers = [
                submit(
                    _holder.merge,
                    answers[first : first + _MERGED_AT_ONCE],
                    ask,
                    self.frame,
                    pure=False,
                    retries=_RETRIES,
                )
                for first in groups
            ]
        return _holder.merge(self._client.gather(answers), ask, self.frame)

    def coded_rows(self) -> Iterator[bytes]:
        """Yield all coded rows, a partition at a time."""
        for holder in self._holders:
            yield self._client.submit(_holder.coded_rows, holder, retries=_RETRIES).result()

    def _by_worker(self) -> list[list[Any]]:
        """Return the holders that lie together; those that are lost are asked one by one."""
        places = self._client.who_has(self._holders)
        groups: dict[str, list[Any]] = {}
        for number, holder in enumerate(self._holders):
            workers = places.get(holder.key) or (f"lost {number}",)
            groups.setdefault(min(workers), []).append(holder)
        return list(groups.values())


def _no_rows(names: list[str]) -> nw.DataFrame[Any]:
    # A collection is made of frames of pandas.
    return nw.from_dict({name: [] for name in names}, backend="pandas")
