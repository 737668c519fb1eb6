"""Rows of Ray: blocks in its object store, which actors hold as codes."""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from aucrank._data.facts import Facts
from aucrank._data.passes import check_column_names
from aucrank._utils.extras import import_extra
from aucrank.data import _holder
from aucrank.data._cluster import FutureSource, QueriedRows, SizeLimits
from aucrank.data._holder import Scoring
from aucrank.data._patience import LOOK_AGAIN, ClusterError, Patience

if TYPE_CHECKING:
    from aucrank.data._dataset import Dataset

#: How often a call is restarted if its process is lost.
_RETRIES = 3


class RaySource(FutureSource):
    """Blocks of a Ray data set, or frames stored in Ray.

    Parameters
    ----------
    blocks : ray.data.Dataset or sequence of ray.ObjectRef
        The blocks.
    timeout : float or None
        Seconds for which a fit waits while no node has CPUs; None to wait for ever.
    limits : SizeLimits
        See `ClusterSource`.

    Raises
    ------
    ImportError
        If ray is not installed.
    TypeError
        If ``blocks`` is something else.
    ValueError
        If there is no block.
    """

    def __init__(self, blocks: Any, timeout: float | None, limits: SizeLimits) -> None:
        self.description = "the blocks of Ray"
        self._timeout = timeout
        self._ray = import_extra("ray", "ray", "Dataset.from_ray")
        remote = self._ray.remote(max_retries=_RETRIES)
        self._on_part, self._on_results = remote(_on_part), remote(_on_results)
        if hasattr(blocks, "iter_internal_ref_bundles"):
            bundles = blocks.materialize().iter_internal_ref_bundles()
            blocks = self._with_rows([ref for bundle in bundles for ref in bundle.block_refs])
        refs = list(blocks) if isinstance(blocks, Sequence) else [None]
        if not all(isinstance(ref, self._ray.ObjectRef) for ref in refs):
            raise TypeError(
                "blocks must be a ray.data.Dataset or a list of references to frames, as ray.put"
                f" returns them, got {type(blocks).__name__}"
            )
        if not refs:
            raise ValueError("blocks holds no block with rows")
        self._blocks = refs
        description = f"the {len(refs)} blocks of Ray"
        names = self.gather([self._on_part.remote(refs[0], 0, (_names, ()))])[0]
        names = check_column_names(names, description)
        super().__init__(description, names, len(refs), limits)

    def _with_rows(self, refs: list[Any]) -> list[Any]:
        """Return the blocks that have rows: Ray may lose the columns of empty ones."""
        counts = self.gather([self._on_part.remote(ref, 0, (_n_rows, ())) for ref in refs])
        return [ref for ref, count in zip(refs, counts, strict=True) if count]

    def map(self, function: Callable[..., Any], *args: Any) -> list[Any]:
        """Call ``function(block, number, *args)`` in tasks; return references."""
        call = self._ray.put((function, args))
        return [self._on_part.remote(ref, number, call) for number, ref in enumerate(self._blocks)]

    def submit(self, function: Callable[..., Any], results: Sequence[Any], *args: Any) -> Any:
        """Call ``function(results, *args)`` in a task; return a reference."""
        return self._on_results.remote((function, args), *results)

    def gather(self, results: Sequence[Any]) -> list[Any]:
        """Wait for references.

        Raises
        ------
        ClusterError
            If nodes, processes or blocks are gone, or a block kills its processes.
        """
        exceptions, refs = self._ray.exceptions, list(results)
        try:
            self._wait(refs)
            found: list[Any] = self._ray.get(refs)
        except exceptions.RayTaskError as err:
            if isinstance(err.cause, exceptions.RayError):
                raise self._error_of(err.cause) from err.cause
            # The original error, without the traceback of its transport.
            raise err.cause from None
        except exceptions.RayError as err:
            raise self._error_of(err) from err
        return found

    def _wait(self, refs: list[Any]) -> None:
        """Wait as long as there are nodes, or some may start soon."""
        patience = Patience(self.description, self._timeout)
        while refs and self._ray.wait(refs, num_returns=len(refs), timeout=LOOK_AGAIN)[1]:
            has_cpus = self._ray.cluster_resources().get("CPU", 0) > 0
            patience.look(None if has_cpus else "no node of the cluster has CPUs")

    def _error_of(self, err: Exception) -> ClusterError:
        """Return the `ClusterError` for an error of Ray."""
        exceptions = self._ray.exceptions
        if isinstance(err, exceptions.ObjectLostError):
            said = (
                "blocks are lost that cannot be computed again, such as frames that were put into"
                " the store of a node which has gone; let tasks make them"
            )
        elif isinstance(err, exceptions.OutOfMemoryError | exceptions.ObjectStoreFullError):
            said = "a node has not enough memory: give it more, or make smaller blocks"
        elif isinstance(err, exceptions.RayActorError | exceptions.WorkerCrashedError):
            said = (
                "process after process died of one task, most often of want of memory: give them"
                " more, or make smaller blocks; their logs say why"
            )
        else:
            said = f"Ray cannot compute the request: {type(err).__name__}"
        return ClusterError(f"{self.description}: {said}")

    def fetch(self, number: int) -> Any:
        """Fetch a block."""
        return self.gather([self._blocks[number]])[0]

    def worker_memory(self) -> int | None:
        """Return the least memory of the nodes."""
        nodes = [node["Resources"] for node in self._ray.nodes() if node["Alive"]]
        sizes = [int(node["memory"]) for node in nodes if node.get("CPU") and "memory" in node]
        return min(sizes, default=None)

    def scores(self, dataset: "Dataset", scoring: Scoring) -> Any:
        """Score the rows in tasks; return a `ray.data.Dataset`."""
        frames = self.map(_holder.score, scoring)
        return import_extra("ray.data", "ray", "Dataset.scores").from_pandas_refs(frames)

    def hold(self, facts: Facts, frame: bytes) -> AbstractContextManager[QueriedRows]:
        """Code all rows in actors, one per CPU, which hold neighbouring blocks."""
        n_cpus = int(self._ray.cluster_resources().get("CPU", 1))
        n_actors = max(1, min(len(self._blocks), n_cpus))
        # Lost actors are restarted, and code their blocks again at the next query.
        actor = self._ray.remote(
            max_restarts=-1, max_task_retries=_RETRIES, scheduling_strategy="SPREAD"
        )(_Holders)
        shared = self._ray.put((facts, frame))
        edges = [len(self._blocks) * index // n_actors for index in range(n_actors + 1)]
        # In a list, since a bare argument would be sent to an actor with each call.
        parts = [
            [self._ray.put((self._blocks[first:last], first, [shared]))]
            for first, last in pairwise(edges)
        ]
        rows = RayRows(self, [(actor.remote(), part) for part in parts], frame, shared)
        # Raises errors of blocks now, not at the first query.
        self.gather(rows.call("code"))
        return nullcontext(rows)

    def share(self, value: Any) -> Any:
        """Put a value where all actors find it; return a reference."""
        return self._ray.put(value)


class RayRows(QueriedRows):
    """Coded rows in actors of Ray.

    Each round is one call of every actor. A lost actor is restarted elsewhere, codes its blocks,
    and answers as before, since a query carries all earlier decisions.

    Parameters
    ----------
    source : RaySource
        The blocks.
    actors : list of tuple of actor handle and list
        Of `_Holders`, each with its part.
    frame : bytes
        Facts about all rows.
    kept : ray.ObjectRef
        Parameters by which blocks are coded. Kept here because Ray does not count references in a
        value.
    """

    def __init__(
        self, source: RaySource, actors: list[tuple[Any, list[Any]]], frame: bytes, kept: Any
    ) -> None:
        super().__init__(frame)
        self._source = source
        self._actors = actors
        self._kept = kept

    def call(self, method: str, *args: Any) -> list[Any]:
        """Call a method of every actor; return references."""
        return [getattr(actor, method).remote(part, *args) for actor, part in self._actors]

    def _answers(self, ask: bytes) -> list[bytes]:
        answers = self.call("answer", self._source.share(ask))
        return self._source.answers_of(answers, ask, self.frame)


class _Holders:
    """Coded rows of some blocks, in an actor.

    Each call says which blocks these are: Ray may lose the arguments of the constructor before it
    restarts the actor, and warns of that.
    """

    def __init__(self) -> None:
        self._holders: list[_holder.Holder] | None = None

    def code(self, part: list[Any]) -> None:
        """Code the blocks, one after another."""
        self._coded(part)

    def answer(self, part: list[Any], ask: bytes) -> bytes:
        """Answer a query about the rows."""
        return _holder.answer(self._coded(part), ask, 1)

    def _coded(self, part: list[Any]) -> list[_holder.Holder]:
        if self._holders is None:
            get = import_extra("ray", "ray", "Dataset.from_ray").get
            refs, first, (shared,) = get(part[0])
            args = get(shared)
            self._holders = [
                _holder.hold(get(ref), number, *args) for number, ref in enumerate(refs, first)
            ]
        return self._holders


def _on_part(part: Any, number: int, call: tuple[Callable[..., Any], tuple[Any, ...]]) -> Any:
    function, args = call
    return function(part, number, *args)


def _on_results(call: tuple[Callable[..., Any], tuple[Any, ...]], *results: Any) -> Any:
    function, args = call
    return function(results, *args)


def _names(part: Any, number: int) -> list[str]:
    return _holder.PartSource(part, number).names


def _n_rows(part: Any, number: int) -> int:
    return _holder.PartSource(part, number).count_rows()
