"""Frames, queries and functions that return frames, as data that can be read repeatedly."""

import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import narwhals.stable.v2 as nw

from aucrank._data.as_frame import as_frame
from aucrank._data.passes import Head, TypedSource, check_column_names, need_columns
from aucrank._utils.extras import import_extra

_INSTEAD = (
    "pass what can be read again: a data frame of pandas, polars or pyarrow, a polars LazyFrame, a"
    " DuckDB relation, a pyarrow.dataset, a list of frames, or a function without arguments that"
    " starts a new iterator of frames each time it is called"
)


class FrameSource(TypedSource):
    """Rows of frames.

    Parameters
    ----------
    given : object
        The user's object.
    chunk_rows : int
        Maximal number of rows per batch.

    Raises
    ------
    TypeError
        If it can be read only once, or holds no frames.
    """

    def __init__(self, given: Any, chunk_rows: int) -> None:
        self._chunk_rows = chunk_rows
        kind = f"{type(given).__module__}.{type(given).__qualname__}".removeprefix("builtins.")
        self.description = f"the {kind}"
        self._start = self._starter(given, kind)
        first = next(iter(self._start(None)), None)
        if first is None:
            raise ValueError(f"{self.description} holds no frame")
        self.names = check_column_names(first.columns, self.description)

    def _starter(self, given: Any, kind: str) -> Callable[..., Iterable[nw.DataFrame[Any]]]:
        """Return a function that starts a pass, given the columns to read or None for all."""
        self._query: nw.LazyFrame[Any] | None = None
        self._dataset: Any = None
        self._n_rows: int | None = None
        self._last: Any = None
        if isinstance(given, Iterator):
            raise TypeError(
                f"{kind} can be read only once, and a fit reads the data several times: {_INSTEAD}"
            )
        if _is_arrow_dataset(given):
            self._dataset = given
            return self._pieces_of_dataset
        known = nw.from_native(given, pass_through=True)
        if isinstance(known, nw.LazyFrame):
            native = known.to_native()
            if known.implementation.is_polars() or hasattr(native, "__arrow_c_stream__"):
                self._query = known
                return self._pieces_of_query
        if isinstance(known, nw.DataFrame):
            self._n_rows = len(known)
            return lambda _: [known]
        if isinstance(given, list | tuple):
            frames = [self._frame(item, f"batch {i}") for i, item in enumerate(given)]
            self._n_rows = sum(map(len, frames))
            return lambda _: frames
        if hasattr(given, "__arrow_c_stream__"):
            return lambda _: _from_stream(given)
        if callable(given):
            return lambda _: self._started(given, kind)
        raise TypeError(f"{kind} is not a source of frames; {_INSTEAD}")

    def heads(self, columns: Sequence[str]) -> Iterable[Head] | None:
        """Return the dtypes of columns of a query or dataset; None for frames, which have rows."""
        if self._dataset is not None:
            empty = self._no_rows(columns)
            return [Head(empty, self.description, self.names)]
        if self._query is None:
            return None
        empty = self._query.select(columns).head(0).collect()
        return [Head(empty, self.description, self.names)]

    def count_rows(self) -> int | None:
        """Return the number of rows of frames that are in memory."""
        return self._n_rows

    def read(self, columns: Sequence[str]) -> Iterator[tuple[nw.DataFrame[Any], str]]:
        """Read some of the columns."""
        for index, frame in enumerate(self._start(columns)):
            origin = f"batch {index}"
            need_columns(columns, frame.columns, origin)
            taken = frame.select(columns)
            for first in range(0, len(taken), self._chunk_rows):
                yield taken[first : first + self._chunk_rows], origin

    def _started(
        self, function: Callable[[], Iterable[Any]], kind: str
    ) -> Iterator[nw.DataFrame[Any]]:
        frames = function()
        if isinstance(frames, Iterator) and frames is self._last:
            raise TypeError(
                f"{kind} returned the iterator that it had returned before; it must start a new one"
                " each time it is called"
            )
        self._last = frames
        if isinstance(nw.from_native(frames, pass_through=True), nw.DataFrame | nw.LazyFrame):
            raise TypeError(f"{kind} must return an iterator of frames, but returns one frame")
        for index, item in enumerate(frames):
            yield self._frame(item, f"batch {index}")

    @staticmethod
    def _frame(item: Any, origin: str) -> nw.DataFrame[Any]:
        frame = nw.from_native(as_frame(item), pass_through=True)
        if not isinstance(frame, nw.DataFrame):
            raise TypeError(
                f"{origin} is a {type(item).__name__}; batches are data frames, for the target is"
                " one of their named columns"
            )
        return frame

    def _no_rows(self, columns: Sequence[str] | None) -> nw.DataFrame[Any]:
        """Return the columns of an Arrow dataset without rows."""
        native = self._dataset.schema.empty_table()
        empty: nw.DataFrame[Any] = nw.from_native(native, eager_only=True)
        return empty if columns is None else empty.select(columns)

    def _pieces_of_dataset(self, columns: Sequence[str] | None) -> Iterator[nw.DataFrame[Any]]:
        """Read an Arrow dataset; its reader applies filter and columns."""
        if columns is None:
            yield self._no_rows(None)
            return
        pyarrow = import_extra("pyarrow", "arrow", "Dataset.from_batches")
        for batch in self._dataset.to_batches(columns=list(columns), batch_size=self._chunk_rows):
            yield nw.from_native(pyarrow.Table.from_batches([batch]), eager_only=True)

    def _pieces_of_query(self, columns: Sequence[str] | None) -> Iterable[nw.DataFrame[Any]]:
        assert self._query is not None
        if columns is None:
            return [self._query.head(0).collect()]
        query = self._query.select(columns)
        if not query.implementation.is_polars():
            # A database runs the query and sends the result.
            return _from_stream(query.to_native())
        native = query.to_native()
        if not hasattr(native, "collect_batches"):
            raise TypeError(
                "this version of polars cannot run a query in pieces (LazyFrame.collect_batches):"
                " install polars 1.34 or later"
            )
        pieces = native.collect_batches(chunk_size=self._chunk_rows, maintain_order=True)
        return (nw.from_native(piece, eager_only=True) for piece in pieces)


def _is_arrow_dataset(given: Any) -> bool:
    """Return whether this is a pyarrow dataset; its module is loaded if there is one."""
    module = sys.modules.get("pyarrow.dataset")
    return module is not None and isinstance(given, module.Dataset)


def _from_stream(given: Any) -> Iterator[nw.DataFrame[Any]]:
    pyarrow = import_extra("pyarrow", "arrow", "Dataset.from_batches")
    for batch in pyarrow.RecordBatchReader.from_stream(given):
        yield nw.from_native(pyarrow.Table.from_batches([batch]), eager_only=True)
