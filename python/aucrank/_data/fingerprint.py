"""Compact fingerprint of a part of the rows, to recognise it when it is computed again."""

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
from numpy.typing import NDArray

from aucrank import _core
from aucrank._data import frames
from aucrank._data.passes import Batch, DataChangedError, Passes
from aucrank._data.schema import Factor, is_missing
from aucrank._utils.words import plural


@dataclass(frozen=True, slots=True)
class Fingerprint:
    """Number of rows of a part, and order-independent sums of their hashes.

    Attributes
    ----------
    n_rows : int
        Number of rows.
    labels : int
        Sum for the labels and weights.
    rows : int
        Sum for these and all columns that a fit reads.
    """

    n_rows: int
    labels: int
    rows: int

    @classmethod
    def of(
        cls, batch: Batch, features: Sequence[str], other_columns: Sequence[str]
    ) -> "Fingerprint":
        """Compute the fingerprint of a part, for labels and weights and for the other columns."""
        digest = _core.RowDigest(len(batch.frame))
        with batch.named_in_errors():
            _add(digest, batch.frame, other_columns)
            labels = digest.sum()
            _add(digest, batch.frame, features)
        return cls(len(batch.frame), labels, digest.sum())

    def check(self, batch: Batch, features: Sequence[str], other_columns: Sequence[str]) -> None:
        """Check that a part is unchanged; without features, only its labels and weights.

        Raises
        ------
        DataChangedError
            If it has changed.
        """
        if len(batch.frame) != self.n_rows:
            raise DataChangedError(
                f"{batch.origin} has {plural(len(batch.frame), 'row')}, but had {self.n_rows:,}"
                f" when the fit began: {_AGAIN}"
            )
        now = Fingerprint.of(batch, features, other_columns)
        if now.labels != self.labels or (features and now.rows != self.rows):
            what = "labels or weights" if now.labels != self.labels else "values"
            raise DataChangedError(
                f"{batch.origin} has other {what} than when the fit began: {_AGAIN}"
            )


def compared_batches(
    passes: Passes, features: Sequence[str], other_columns: Sequence[str]
) -> Iterator[Batch]:
    """Read columns for a fit, and compare their contents with earlier passes.

    Files are checked by their modification time, and frames in memory do not change: only the
    results of functions and queries are hashed.

    Parameters
    ----------
    passes : Passes
        Reader of the rows.
    features : sequence of str
        Columns to learn from.
    other_columns : sequence of str
        Columns of labels and weights.

    Raises
    ------
    DataChangedError
        If labels, weights or values differ from an earlier pass.
    """
    source = passes.source
    is_given = bool(source.files) or source.count_rows() is not None
    columns = sorted(features)
    labels = rows = 0
    for batch in passes.batches(list(dict.fromkeys([*other_columns, *features]))):
        if not is_given:
            found = Fingerprint.of(batch, columns, other_columns)
            labels, rows = labels + found.labels, rows + found.rows
        yield batch
    if not is_given:
        passes.check_sum(tuple(other_columns), labels % 2**64, "labels or weights")
        passes.check_sum((*other_columns, *columns), rows % 2**64, "values")


_AGAIN = (
    "what makes it must give the same rows each time, also where a worker is lost and it is"
    " computed anew; write the rows to files first, or seed what draws them"
)


def _add(digest: _core.RowDigest, frame: nw.DataFrame[Any], names: Sequence[str]) -> None:
    for name in names:
        series = frame[name]
        if frames.is_numeric(series):
            numbers = frames.to_numbers(series, repr(name))
            digest.add_numbers(numbers.astype(np.float64, copy=False))
        else:
            digest.add_words(np.concatenate([_words(one) for one in _factors(series, name)]))


def _factors(series: nw.Series[Any], name: str) -> list[Factor]:
    """Return any column as codes, including types such as dates that are not categories."""
    try:
        return frames.to_factors(series, repr(name)) or [Factor(np.zeros(0, dtype=np.intp), [])]
    except TypeError:
        values = [repr(value) for value in series.to_list()]
        return [frames.array_factor(np.array(values, dtype=object), name)]


def _words(factor: Factor) -> NDArray[np.uint64]:
    """Return a word for each row: equal for equal values, in any process."""
    # The last entry is the target of -1 and len(values).
    words = np.zeros(len(factor.values) + 1, dtype=np.uint64)
    for index, value in enumerate(factor.values):
        if not is_missing(value):
            written = f"{type(value).__name__} {value}".encode("utf-8", "surrogatepass")
            found = hashlib.blake2b(written, digest_size=8).digest()
            words[index] = int.from_bytes(found, "little")
    by_row: NDArray[np.uint64] = words[factor.codes]
    return by_row
