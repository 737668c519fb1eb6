"""Data that are read in batches, in repeated passes: shared code of all sources."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Protocol, Self

import narwhals.stable.v2 as nw
import numpy as np
from numpy.typing import NDArray

from aucrank._data.column_lookup import first_doubled
from aucrank._data.reading import Fitted, Reading
from aucrank._utils.words import did_you_mean, plural

# No column of a file is called so; Arrow allows no NUL in a name.
_AS_WRITTEN = "\x1fas written: "


def as_written(name: str) -> str:
    """Return the name under which sources of files return a column as its file has it."""
    return _AS_WRITTEN + name


def of_written(name: str) -> str | None:
    """Return the column that `as_written` was given, None for any other name."""
    return name.removeprefix(_AS_WRITTEN) if name.startswith(_AS_WRITTEN) else None


class DataChangedError(RuntimeError):
    """Data that are read more than once were not the same each time.

    A file was written to, replaced or removed, or a source returned another number of rows than
    before; or a partition of a cluster has other values, labels or weights than when the fit began,
    for example because it was computed again after its worker was lost. The message names the file
    or partition.

    Examples
    --------
    >>> from aucrank.data import DataChangedError
    >>> issubclass(DataChangedError, RuntimeError)
    True
    """


class InPieces:
    """Base for rows that are never all in memory at once: not a table."""


@dataclass(frozen=True, slots=True)
class Batch:
    """Rows that are in memory at one time.

    Attributes
    ----------
    frame : narwhals.DataFrame
        The requested columns, in this order; at least one row.
    first_row : int
        Position of the first row in the whole data, from 0.
    origin : str
        Origin of the rows, for messages: a file, or the number of the batch.
    counts : ndarray of uint64, shape (n_rows,), or None
        How many rows of the data each row stands for, where they are counted elsewhere; None if
        each stands for itself.
    """

    frame: nw.DataFrame[Any]
    first_row: int
    origin: str
    counts: NDArray[np.uint64] | None = None

    def place(self, row: int) -> str:
        """Return where a row of the batch is, for messages."""
        if self.counts is not None:
            return f"{plural(int(self.counts[row]), 'row')} of {self.origin}"
        return f"row {self.first_row + row} ({self.origin})"

    def count(self, rows: NDArray[np.bool_]) -> int:
        """Return the number of rows of the data that some rows of the batch stand for."""
        counted = np.count_nonzero(rows) if self.counts is None else self.counts[rows].sum()
        return int(counted)

    @contextmanager
    def named_in_errors(self) -> Iterator[None]:
        """Add the place of this batch to errors about its rows."""
        try:
            yield
        except (TypeError, ValueError) as err:
            last_row = self.first_row + len(self.frame) - 1
            kind = TypeError if isinstance(err, TypeError) else ValueError
            place = f"rows {self.first_row} to {last_row} ({self.origin})"
            if self.counts is not None:
                place = self.origin
            raise kind(f"in {place}: {err}") from err


@dataclass(frozen=True, slots=True)
class Head:
    """Columns without rows: their names and dtypes.

    Attributes
    ----------
    frame : narwhals.DataFrame
        Of no row.
    origin : str
        Source of these columns, for messages.
    names : list of str
        Names of all existing columns, requested or not.
    finite : frozenset of str
        Requested columns of floats that are known to hold no infinity.
    """

    frame: nw.DataFrame[Any]
    origin: str
    names: list[str]
    finite: frozenset[str] = frozenset()


class Source(Protocol):
    """A source that can be read from the first row to the last, repeatedly."""

    #: Short description.
    description: str

    #: Files that it reads, in order.
    files: tuple[str, ...]

    #: Names of all columns, in order.
    names: list[str]

    @property
    def reading(self) -> Reading | None:
        """How the rows are read, to be stored with a model; None if their columns have types."""

    def read_as(self, fitted: Fitted) -> "Source":
        """Return the same rows, read as those of a model's fit were."""

    def heads(self, columns: Sequence[str]) -> Iterable[Head] | None:
        """Return the dtypes of columns in each file; None where they are only known from rows."""

    def count_rows(self) -> int | None:
        """Return the number of rows, if it is known without reading them."""

    def read(self, columns: Sequence[str]) -> Iterator[tuple[nw.DataFrame[Any], str]]:
        """Read some of the columns; each batch comes with its origin, and may be empty."""

    def written(self, name: str) -> str:
        """Return the name by which `read` returns a column as it is written, not as a feature."""

    def check_unchanged(self) -> None:
        """Raise `DataChangedError` if a file has changed since the first call."""


class TypedSource:
    """Base of sources whose columns have types, so that all models read them alike.

    By default there are no files, and dtypes and number of the rows are known once they are read.
    """

    files: tuple[str, ...] = ()

    #: Read without knowledge of a fit.
    reading: Reading | None = None

    def read_as(self, fitted: Fitted) -> Self:
        """Return the source, which any model reads alike."""
        return self

    def heads(self, columns: Sequence[str]) -> Iterable[Head] | None:
        """Return None: dtypes are known from the rows."""
        return None

    def count_rows(self) -> int | None:
        """Return None: the rows would have to be read."""
        return None

    def written(self, name: str) -> str:
        """Return the name itself: values have types."""
        return name

    def check_unchanged(self) -> None:
        """Do nothing: there are no files that have a modification time."""


class Passes:
    """Reads a source, and compares each pass with the one before.

    Parameters
    ----------
    source : Source
        The source.

    Attributes
    ----------
    source : Source
        The source.
    n_rows : int or None
        Number of rows, None before it is known.
    """

    def __init__(self, source: Source) -> None:
        self.source = source
        self.n_rows: int | None = None
        self._sums: dict[tuple[str, ...], int] = {}

    def batches(self, columns: Sequence[str]) -> Iterator[Batch]:
        """Read some of the columns.

        Raises
        ------
        DataChangedError
            If the data differ from the pass before.
        """
        source = self.source
        source.check_unchanged()
        n_rows = 0
        for frame, origin in source.read(columns):
            if len(frame):
                yield Batch(frame, n_rows, origin)
                n_rows += len(frame)
        source.check_unchanged()
        self.check_rows(n_rows)

    def check_rows(self, n_rows: int) -> None:
        """Compare the number of rows of a pass with the one before.

        Raises
        ------
        DataChangedError
            If it differs.
        """
        if self.n_rows is None:
            self.n_rows = n_rows
        if n_rows != self.n_rows:
            raise DataChangedError(
                f"{self.source.description} gave {plural(n_rows, 'row')}, but {self.n_rows:,}"
                " before: data that are read more than once must be the same each time"
            )

    def check_sum(self, columns: tuple[str, ...], found: int, what: str) -> None:
        """Compare a sum of hashes of the rows of some columns with the one before.

        Raises
        ------
        DataChangedError
            If it differs.
        """
        if self._sums.setdefault(columns, found) != found:
            raise DataChangedError(
                f"{self.source.description} gave other {what} than before: data that are read more"
                " than once must be the same each time; seed what draws them, or write them to"
                " files first"
            )


def all_rows(source: Source, more: Sequence[str] = ()) -> nw.DataFrame[Any] | None:
    """Return all columns, and further ones, of all rows as one frame; None without rows."""
    frames = [frame for frame, _ in source.read([*source.names, *more])]
    return nw.concat(frames) if frames else None


def need_columns(columns: Sequence[str], names: Sequence[str], origin: str) -> None:
    """Check that columns exist.

    Raises
    ------
    ValueError
        If one does not; the message names the first, and where it is missing.
    """
    there = set(names)
    for name in columns:
        if name not in there:
            raise ValueError(f"{origin} has no column {name!r}{did_you_mean(name, names)}")


def check_column_names(names: Sequence[Any], origin: str) -> list[str]:
    """Return the names of columns, after checking that they are distinct texts.

    Raises
    ------
    ValueError
        If a name is not valid; the message names it.
    """
    for name in names:
        if not isinstance(name, str):
            raise ValueError(
                f"{origin} has a column called {name!r}; columns are distinguished by names that"
                " are strings"
            )
    if (doubled := first_doubled(names)) is not None:
        raise ValueError(f"two columns of {origin} are called {doubled!r}")
    return list(names)
