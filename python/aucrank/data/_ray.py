"""Rows of Ray: blocks in its object store, which actors hold as codes."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from itertools import pairwise
from typing import Any

from aucrank._data.facts import Facts
from aucrank._data.passes import check_column_names
from aucrank._utils.extras import import_extra
from aucrank.data import _holder
from aucrank.data._cluster import FutureSource
from aucrank.data._stored import Rows

#: How often a call is begun anew where a process is lost with it.
_RETRIES = 3


class RaySource(FutureSource):
    """Blocks of a Ray data set, or frames that Ray holds.

    Parameters
    ----------
    blocks : ray.data.Dataset or sequence of ray.ObjectRef
        What is read.

    Raises
    ------
    ImportError
        If ray is not installed.
    TypeError
        If ``blocks`` is something else.
    ValueError
        If there is no block.
    """

    def __init__(self, blocks: Any) -> None:
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
        super().__init__(description, check_column_names(names, description), len(refs))

    def _with_rows(self, refs: list[Any]) -> list[Any]:
        """Return the blocks that have rows: of those without, Ray may forget the columns."""
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
        """Wait for references."""
        try:
            found: list[Any] = self._ray.get(list(results))
        except self._ray.exceptions.RayTaskError as err:
            # What was wrong, without the way that it came.
            raise err.cause from None
        except self._ray.exceptions.ObjectLostError as err:
            raise RuntimeError(
                "blocks of Ray are lost that cannot be computed again, such as frames that were put"
                " into the store of a node which has gone; let tasks make them"
            ) from err
        return found

    def fetch(self, number: int) -> Any:
        """Get a block."""
        return self.gather([self._blocks[number]])[0]

    def scores(self, ranker: Any, features: list[str], columns: list[str]) -> Any:
        """Score the rows in tasks; return a `ray.data.Dataset`."""
        frames = self.map(_holder.score, ranker, features, columns)
        return import_extra("ray.data", "ray", "Dataset.scores").from_pandas_refs(frames)

    def hold(
        self, facts: Facts, target: str, weight: str | None, frame: bytes
    ) -> AbstractContextManager[Rows]:
        """Code all rows in actors, one for each CPU, which hold neighbouring blocks."""
        n_cpus = int(self._ray.cluster_resources().get("CPU", 1))
        n_actors = max(1, min(len(self._blocks), n_cpus))
        # Those that are lost are begun anew, and code their blocks again when they are asked.
        actor = self._ray.remote(
            max_restarts=-1, max_task_retries=_RETRIES, scheduling_strategy="SPREAD"
        )(_Holders)
        shared = self._ray.put((facts, target, weight, frame))
        edges = [len(self._blocks) * index // n_actors for index in range(n_actors + 1)]
        actors = [
            actor.remote(self._blocks[first:last], first, shared) for first, last in pairwise(edges)
        ]
        # What is wrong with a block is said now, not at the first question.
        self.gather([one.code.remote() for one in actors])
        return nullcontext(RayRows(self, actors, frame, shared))

    def share(self, value: Any) -> Any:
        """Put a value where all actors find it; return a reference."""
        return self._ray.put(value)


class RayRows:
    """Coded rows in actors of Ray.

    Each round is one call of every actor. An actor that is lost is begun anew elsewhere, codes its
    blocks, and answers as before, since a question carries all that was decided.

    Parameters
    ----------
    source : RaySource
        The blocks.
    actors : list of actor handle
        Of `_Holders`.
    frame : bytes
        What is known of all rows.
    kept : ray.ObjectRef
        What actors are begun anew with. Ray would forget it, as it does not count what an actor
        might need again.
    """

    def __init__(self, source: RaySource, actors: list[Any], frame: bytes, kept: Any) -> None:
        self.frame = frame
        self._source = source
        self._actors = actors
        self._kept = kept

    def round(self, ask: bytes) -> bytes:
        """Return the merged answer of all rows to a question of the core."""
        shared = self._source.share(ask)
        answers = [actor.answer.remote(shared) for actor in self._actors]
        return self._source.answer_of(answers, ask, self.frame)

    def coded_rows(self) -> Iterator[bytes]:
        """Yield all coded rows, in order, those of an actor at a time."""
        for actor in self._actors:
            yield from self._source.gather([actor.coded_rows.remote()])[0]


class _Holders:
    """Coded rows of some blocks, in an actor.

    Parameters
    ----------
    refs : list of ray.ObjectRef
        The blocks.
    first : int
        Number of the first.
    args : tuple
        Of `_holder.hold`, after the number.
    """

    def __init__(self, refs: list[Any], first: int, args: tuple[Any, ...]) -> None:
        self._refs = refs
        self._first = first
        self._args = args
        self._holders: list[_holder.Holder] | None = None

    def code(self) -> None:
        """Code the blocks, one after the other."""
        self._coded()

    def answer(self, ask: bytes) -> bytes:
        """Answer a question about the rows."""
        return _holder.answer(self._coded(), ask, 1)

    def coded_rows(self) -> list[bytes]:
        """Return the rows as the core writes them."""
        return _holder.coded_rows(self._coded())

    def _coded(self) -> list[_holder.Holder]:
        if self._holders is None:
            get = import_extra("ray", "ray", "Dataset.from_ray").get
            self._holders = [
                _holder.hold(get(ref), number, *self._args)
                for number, ref in enumerate(self._refs, start=self._first)
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
