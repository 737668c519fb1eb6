"""Rows of a Dask collection, which stay on the workers of a cluster."""

import asyncio
from collections.abc import Callable, Sequence
from concurrent.futures import wait
from contextlib import AbstractContextManager, nullcontext
from threading import get_ident
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from aucrank._data.facts import Facts
from aucrank._data.passes import check_column_names
from aucrank._utils.extras import import_extra
from aucrank.data import _holder
from aucrank.data._cluster import FutureSource, QueriedRows, SizeLimits
from aucrank.data._holder import Scoring
from aucrank.data._patience import LOOK_AGAIN, ClusterError, Patience

if TYPE_CHECKING:
    from aucrank.data._dataset import Dataset

#: How often a task is restarted if its worker is lost.
_RETRIES = 2

#: Seconds within which the scheduler reports who is working.
_ANSWER_WITHIN = 10.0


class DaskSource(FutureSource):
    """Partitions of a Dask data frame.

    Parameters
    ----------
    collection : dask.dataframe.DataFrame
        The collection.
    client : distributed.Client or None
        Client to compute with; None for the current one.
    timeout : float or None
        Seconds for which a fit waits while no worker is available; None to wait for ever.
    limits : SizeLimits
        See `ClusterSource`.

    Raises
    ------
    ImportError
        If dask and distributed are not installed.
    TypeError
        If ``collection`` is not a Dask data frame.
    ValueError
        If there is no client.
    """

    def __init__(
        self, collection: Any, client: Any, timeout: float | None, limits: SizeLimits
    ) -> None:
        self._delayed = import_extra("dask", "dask", "Dataset.from_dask").delayed
        self._distributed = import_extra("distributed", "dask", "Dataset.from_dask")
        if not (hasattr(collection, "to_delayed") and hasattr(collection, "columns")):
            raise TypeError(
                f"collection must be a data frame of Dask, got {type(collection).__name__}"
            )
        if client is None:
            try:
                client = self._distributed.get_client()
            except ValueError as err:
                raise ValueError(
                    "there is no client of a Dask cluster: start one, such as"
                    " distributed.Client(n_workers=2), or pass it as client"
                ) from err
        self._client = client
        #: Futures, as long as somebody refers to them, and the threads that submitted them.
        self._owners: WeakKeyDictionary[Any, int] = WeakKeyDictionary()
        self._timeout = timeout
        self._collection = collection
        self._partitions = collection.to_delayed()
        description = f"the Dask collection of {len(self._partitions)} partitions"
        names = check_column_names(list(collection.columns), description)
        super().__init__(description, names, len(self._partitions), limits)

    def map(self, function: Callable[..., Any], *args: Any) -> list[Any]:
        """Call ``function(partition, number, *args)`` on the workers; return futures."""
        tasks = self._tasks(function, *args)
        futures: list[Any] = self._open_client().compute(tasks, retries=_RETRIES)
        return [self._noted(future) for future in futures]

    def scores(self, dataset: "Dataset", scoring: Scoring) -> Any:
        """Return a Dask data frame whose partitions are scored when they are computed."""
        meta = self._collection._meta[scoring.columns]
        return self._collection[scoring.needed].map_partitions(
            _score,
            # Once for all tasks.
            self._delayed(scoring, traverse=False),
            meta=meta.assign(**dict.fromkeys(scoring.added, 0.0)),
        )

    def _open_client(self) -> Any:
        """Return the client, after checking that it is not closed."""
        if self._client.status not in ("running", "connecting"):
            raise ClusterError(f"{self.description}: the client of the cluster is closed")
        return self._client

    def _tasks(self, function: Callable[..., Any], *args: Any) -> list[Any]:
        """Return calls of ``function(partition, number, *args)``, to be computed."""
        call = self._delayed(function, pure=False)
        # Once for all tasks.
        shared = [self._delayed(arg, traverse=False) for arg in args]
        return [call(part, number, *shared) for number, part in enumerate(self._partitions)]

    def submit(self, function: Callable[..., Any], results: Sequence[Any], *args: Any) -> Any:
        """Call ``function(results, *args)`` on a worker; return a future.

        Any worker will do, so that another one takes over if one is lost.
        """
        return self._noted(
            self._open_client().submit(function, results, *args, pure=False, retries=_RETRIES)
        )

    def gather(self, results: Sequence[Any]) -> list[Any]:
        """Wait for futures.

        Raises
        ------
        ClusterError
            If workers, scheduler or partitions are gone, or a partition kills its workers.
        """
        futures = list(results)
        distributed, client = self._distributed, self._open_client()
        try:
            found: list[Any] = self._awaited(client.gather(futures, asynchronous=True), futures)
        except distributed.KilledWorker as err:
            raise ClusterError(
                f"{self.description}: worker after worker died of one task, most often of want of"
                " memory: give them more, or make smaller partitions; their logs say why"
            ) from err
        except distributed.scheduler.NoValidWorkerError as err:
            raise ClusterError(
                f"{self.description}: the scheduler has no worker for a task: start workers, and"
                " fit again"
            ) from err
        except OSError as err:
            if any(future.status == "error" for future in futures):
                # An error of a task, such as a file that it cannot read.
                raise
            raise self._unreachable() from err
        except distributed.CancelledError as err:
            # So that it also ends if another thread has closed the client.
            if self._open_client().status != "running":
                raise self._unreachable() from err
            raise ClusterError(
                f"{self.description}: partitions are lost that cannot be computed again, such as"
                " frames that were scattered to a worker which has gone; make the collection of"
                " files or of functions"
            ) from err
        return found

    def _awaited(self, call: Any, futures: Sequence[Any]) -> Any:
        """Wait for a call of the client as long as workers are working, or may start soon."""
        patience = Patience(self.description, self._timeout)
        waited = asyncio.run_coroutine_threadsafe(call, self._client.loop.asyncio_loop)
        try:
            while not wait([waited], timeout=LOOK_AGAIN).done:
                patience.look(self._why_idle(futures))
        except BaseException:
            # At the limit of patience, and on Ctrl-C.
            self.cancel()
            # It notices that its futures are cancelled.
            wait([waited], timeout=_ANSWER_WITHIN)
            waited.cancel()
            raise
        return waited.result()

    def _noted(self, future: Any) -> Any:
        """Note a future as one of the fit in this thread."""
        self._owners[future] = get_ident()
        return future

    def cancel(self) -> None:
        """Release what this thread has submitted, so that the scheduler drops it.

        Futures that nobody refers to are released anyway, but the traceback of an interrupt, which
        a notebook keeps, refers to all of them. The scheduler fails if it is to cancel tasks and
        others that depend on them.
        """
        me = get_ident()
        for future, owner in list(self._owners.items()):
            if owner == me:
                future.release()

    def worker_memory(self) -> int | None:
        """Return the least limit of memory of the workers that have one."""
        client = self._open_client()
        try:
            known = client.sync(client.scheduler.identity, callback_timeout=_ANSWER_WITHIN)
        except OSError as err:
            raise self._unreachable() from err
        sizes = (worker.get("memory_limit") for worker in known["workers"].values())
        return min((size for size in sizes if size), default=None)

    def _why_idle(self, futures: Sequence[Any]) -> str | None:
        """Return why no worker is working on futures, None if one is."""
        client = self._open_client()
        try:
            known = client.sync(client.scheduler.identity, callback_timeout=_ANSWER_WITHIN)
            tasks = client.sync(
                client.scheduler.processing, workers=None, callback_timeout=_ANSWER_WITHIN
            )
        except OSError:
            return "the scheduler of the cluster does not answer"
        workers = known["workers"]
        if not workers:
            return "the cluster has no workers"
        running = [name for name, worker in workers.items() if worker["status"] == "running"]
        if not running:
            return "all workers of the cluster have paused, most often as their memory is full"
        if any(tasks.get(name) for name in running):
            return None
        # Existing results are on their way.
        is_computed = not any(future.status == "pending" for future in futures)
        return None if is_computed else "the workers of the cluster have nothing to do"

    def _unreachable(self) -> ClusterError:
        return ClusterError(
            f"{self.description}: the scheduler of the cluster has gone, and the futures with it:"
            " start it again, and fit with a new client"
        )

    def fetch(self, number: int) -> Any:
        """Compute a partition and fetch it."""
        partition = self._partitions[number]
        return self.gather([self._open_client().compute(partition, retries=_RETRIES)])[0]

    def hold(self, facts: Facts, frame: bytes) -> AbstractContextManager[QueriedRows]:
        """Code all rows by `_holder.hold`, and keep them where they are coded."""
        holders = self.map(_holder.hold, facts, frame)
        # Raises errors of partitions now, not at the first query.
        self.gather([self.submit(_holder.n_rows, [holder]) for holder in holders])
        return nullcontext(DaskRows(self, holders, frame))

    def by_worker(self, futures: Sequence[Any]) -> list[list[Any]]:
        """Group futures by the location of their results; each lost one is a group of its own."""
        client = self._open_client()
        keys = [future.key for future in futures]
        try:
            places = self._awaited(client.scheduler.who_has(keys=keys), [])
        except OSError as err:
            raise self._unreachable() from err
        groups: dict[str, list[Any]] = {}
        for number, future in enumerate(futures):
            workers = places.get(future.key) or (f"lost {number}",)
            groups.setdefault(min(workers), []).append(future)
        return list(groups.values())


class DaskRows(QueriedRows):
    """Coded rows on the workers of a Dask cluster.

    Each round is one task per worker, on the holders located there. Tasks may run elsewhere: if a
    worker is lost, its holders are rebuilt from their partitions, and answer as before, since a
    query carries all earlier decisions.

    Parameters
    ----------
    source : DaskSource
        The partitions.
    holders : list of distributed.Future
        Futures of `Holder`.
    frame : bytes
        Facts about all rows.
    """

    def __init__(self, source: DaskSource, holders: list[Any], frame: bytes) -> None:
        super().__init__(frame)
        self._source = source
        self._holders = holders

    def _answers(self, ask: bytes) -> list[bytes]:
        answers = [
            self._source.submit(_answer, group, ask)
            for group in self._source.by_worker(self._holders)
        ]
        return self._source.answers_of(answers, ask, self.frame)


def _answer(holders: Sequence[_holder.Holder], ask: bytes) -> bytes:
    """Answer with all threads of the worker, which is otherwise idle during a round."""
    worker = import_extra("distributed", "dask", "Dataset.from_dask").get_worker()
    return _holder.answer(holders, ask, worker.state.nthreads)


def _score(part: Any, scoring: Scoring, partition_info: dict[str, Any] | None = None) -> Any:
    """Score a partition; Dask passes its number in the argument of that name."""
    assert partition_info is not None
    return _holder.score(part, partition_info["number"], scoring)
