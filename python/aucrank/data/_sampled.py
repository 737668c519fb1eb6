"""Samples of rows by the hashes of their content, for learners that need rows, not sums of them."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import narwhals.stable.v2 as nw
import numpy as np
from numpy.typing import NDArray

from aucrank import _core
from aucrank._data.block_survey import blocks_of
from aucrank._data.coded_rows import Blocks, CodedBatch
from aucrank._data.facts import Facts
from aucrank._data.input import Columns, each_column
from aucrank._data.labels import plain_label
from aucrank._data.sample import Sample
from aucrank._data.schema import Feature, Schema

if TYPE_CHECKING:
    from aucrank.data._dataset import Dataset

#: Distinct rows of the common sample.
MOST_ROWS = 200_000

#: Maximal number of distinct rows of a sample, or of its negative and of its positive rows.
MostRows = tuple[int] | tuple[int, int]

#: The largest hashes of a sample: those of its negative and of its positive rows.
Bounds = tuple[int, int]

#: Bounds of a sample that has all rows.
ALL_ROWS: Bounds = (2**64 - 1, 2**64 - 1)


class LeastRows:
    """Finds the distinct rows whose content has the smallest hashes.

    Parameters
    ----------
    n_levels : list of int or None
        Number of categories of each column.
    most : tuple of int
        Number of rows to find, or that of each class.
    """

    def __init__(self, n_levels: list[int | None], most: MostRows) -> None:
        self._samples = [_core.RowSample(n_levels, number) for number in most]

    def add(
        self,
        batch: tuple[Columns, NDArray[np.bool_], NDArray[np.float64] | None, Blocks | None],
        n_threads: int,
    ) -> None:
        """Add the rows of a batch."""
        if len(self._samples) == 1:
            self._samples[0].add(batch, n_threads)
            return
        columns, positive, weight, _ = batch
        for sample, is_of_class in zip(self._samples, (~positive, positive), strict=True):
            # Rows of weight 0 do not count.
            of_class = is_of_class.astype(np.float64) if weight is None else weight * is_of_class
            sample.add((columns, positive, of_class, None), n_threads)

    def to_bytes(self) -> bytes:
        """Return the result."""
        first, *second = (sample.to_bytes() for sample in self._samples)
        return b"".join([len(first).to_bytes(8, "little"), first, *second])

    def merge_bytes(self, found: bytes) -> None:
        """Add the result for another part."""
        end = 8 + int.from_bytes(found[:8], "little")
        for sample, part in zip(self._samples, (found[8:end], found[end:]), strict=False):
            sample.merge_bytes(part)

    @property
    def bounds(self) -> Bounds:
        """The largest hashes of rows of the sample."""
        found = [sample.bound() for sample in self._samples]
        return found[0], found[-1]


def most_of_classes(facts: Facts, most: int) -> MostRows:
    """Share the rows of a sample between the classes: of a rare one it has all."""
    half = most // 2
    negatives, positives = facts.target.class_counts
    return max(half, most - positives), max(half, most - negatives)


def parts_within(
    dataset: "Dataset", facts: Facts, bounds: Bounds, n_threads: int
) -> Iterator[CodedBatch]:
    """Read a data set, and yield the rows within the bounds of a sample, batch by batch."""
    for batch in dataset.coded_batches(facts):
        yield take_sampled(batch, facts, bounds, n_threads)


def take_sampled(batch: CodedBatch, facts: Facts, bounds: Bounds, n_threads: int) -> CodedBatch:
    """Return the rows of a batch that are within the bounds of a sample."""
    if bounds == ALL_ROWS:
        return batch
    columns, positive, weight, blocks = batch
    rows = rows_within(columns, positive, facts.schema.n_levels, bounds, n_threads)
    taken = None if weight is None else weight[rows]
    of_rows = None if blocks is None else (blocks[0][rows], blocks[1])
    return [column[rows] for column in columns], positive[rows], taken, of_rows


def rows_within(
    columns: Columns,
    positive: NDArray[np.bool_],
    n_levels: list[int | None],
    bounds: Bounds,
    n_threads: int,
) -> NDArray[np.uint32]:
    """Return which rows are within the bounds of a sample, ascending."""
    found = {
        bound: _core.sampled_rows(columns, n_levels, bound, n_threads) for bound in set(bounds)
    }
    if len(found) == 1:
        return found[bounds[0]]
    negatives, positives = (found[bound] for bound in bounds)
    both = [negatives[~positive[negatives]], positives[positive[positives]]]
    return np.sort(np.concatenate(both))


def frame_within(dataset: "Dataset", facts: Facts, bounds: Bounds, n_threads: int) -> Any:
    """Read a data set, and return the rows within the bounds of a sample unchanged.

    Returns
    -------
    data frame
        In the library of the batches.
    """
    is_taken = []
    if bounds != ALL_ROWS:
        for columns, positive, *_ in dataset.coded_batches(facts):
            of_piece = np.zeros(len(positive), dtype=bool)
            of_piece[rows_within(columns, positive, facts.schema.n_levels, bounds, n_threads)] = (
                True
            )
            is_taken.append(of_piece)
    of_all = np.concatenate(is_taken) if is_taken else None
    frames, end = [], 0
    for batch in dataset.passes.batches(dataset.columns):
        begin, end = end, end + len(batch.frame)
        frames.append(
            batch.frame if of_all is None else batch.frame.filter(of_all[begin:end].tolist())
        )
    return nw.concat(_of_one_type(frames)).to_native()


def _of_one_type(frames: list[nw.DataFrame[Any]]) -> list[nw.DataFrame[Any]]:
    """Return frames whose numbers have the same types, as those of one frame would."""
    schemas = [frame.schema for frame in frames]
    differ = [
        name
        for name in frames[0].columns
        if len({schema[name] for schema in schemas}) > 1
        and all(schema[name].is_numeric() for schema in schemas)
    ]
    if not differ:
        return frames
    return [frame.with_columns(nw.col(*differ).cast(nw.Float64())) for frame in frames]


def in_one(parts: Sequence[CodedBatch], facts: Facts) -> Sample:
    """Return the rows of all parts, in their order, with the categories of all rows."""
    columns = [np.concatenate(some) for some in zip(*(part[0] for part in parts), strict=True)]
    positive = np.concatenate([part[1] for part in parts])
    weights = [part[2] for part in parts if part[2] is not None]
    weight = np.concatenate(weights) if weights else None
    blocks = blocks_of([part[3] for part in parts])
    return Sample(columns, facts.schema, positive, weight, blocks=blocks)


def all_in_one(parts: Iterable[CodedBatch], facts: Facts) -> Sample:
    """Return all rows, in their order; each part is released once it is copied."""
    columns: list[NDArray[Any]] = [np.empty(facts.n_rows, dtype) for dtype in facts.dtypes]
    positive = np.empty(facts.n_rows, dtype=bool)
    weight: NDArray[np.float64] | None = None
    blocks: list[Blocks | None] = []
    end = 0
    for of_columns, labels, of_rows, of_blocks in parts:
        begin, end = end, end + len(labels)
        positive[begin:end] = labels
        for column, values in zip(columns, of_columns, strict=True):
            column[begin:end] = values
        if of_rows is not None:
            weight = np.empty(facts.n_rows) if weight is None else weight
            weight[begin:end] = of_rows
        blocks.append(of_blocks)
    return Sample(columns, facts.schema, positive, weight, blocks=blocks_of(blocks))


def weighed_by_bounds(sample: Sample, bounds: Bounds) -> Sample:
    """Return a sample of classes whose weights estimate those of all rows.

    The share of the hashes within a bound is the share of the distinct rows of the class that are
    in the sample.
    """
    low, high = (2**64 / (bound + 1) for bound in bounds)
    if low == high == 1:
        return sample
    factors = np.where(sample.labels, high, low)
    weight = factors if sample.weight is None else sample.weight * factors
    return replace(sample, weight=weight)


def joined(parts: Sequence[CodedBatch], facts: Facts) -> Sample:
    """Return the rows of all parts, in their order, as those of a fit to a frame.

    Raises
    ------
    ValueError
        If a class has no row in the sample.
    """
    whole = in_one(parts, facts)
    columns, positive, weight = list(each_column(whole.columns)), whole.labels, whole.weight
    kept = slice(None) if weight is None else weight > 0
    for label, is_there in zip(facts.target.classes, (~positive, positive), strict=True):
        if not is_there[kept].any():
            raise ValueError(
                f"class {plain_label(label)!r} is so rare that none of its rows is of the common"
                " sample: fit to a frame that has more of them"
            )
    features = []
    for index, feature in enumerate(facts.schema.features):
        if feature.levels is not None:
            feature, columns[index] = _with_levels_of(feature, columns[index], kept)
        features.append(feature)
    return Sample(columns, Schema(tuple(features)), positive, weight, blocks=whole.blocks)


def _with_levels_of(
    feature: Feature, codes: NDArray[np.uint32], kept: Any
) -> tuple[Feature, NDArray[np.uint32]]:
    """Recode a categorical column by the levels that occur in the rows that are kept."""
    assert feature.levels is not None
    used = np.unique(codes[kept])
    used = used[used != _core.MISSING_CODE]
    if len(used) == len(feature.levels):
        return feature, codes
    found = Feature(feature.name, tuple(feature.levels[code] for code in used))
    table = np.full(len(feature.levels) + 1, _core.MISSING_CODE, dtype=np.uint32)
    table[used] = np.arange(len(used), dtype=np.uint32)
    # The last entry is the target of a missing value.
    return found, table[np.minimum(codes, len(feature.levels))]
