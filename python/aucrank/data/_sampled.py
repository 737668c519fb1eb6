"""The common sample: the rows that learners are fitted to which need rows, not sums of them."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from aucrank import _core
from aucrank._data.coded_rows import CodedBatch
from aucrank._data.facts import Facts
from aucrank._data.labels import plain_label
from aucrank._data.sample import Sample
from aucrank._data.schema import Feature, Schema

if TYPE_CHECKING:
    from aucrank.data._dataset import Dataset

#: Distinct rows of the sample.
MOST_ROWS = 200_000

#: Bound of a sample that has all rows.
ALL_ROWS = 2**64 - 1


def sampled_parts(
    dataset: "Dataset", facts: Facts, most: int, n_threads: int
) -> Iterator[CodedBatch]:
    """Read a data set, and take the rows of the sample, a piece after another."""
    bound = ALL_ROWS
    if facts.n_rows > most:
        sample = _core.RowSample(facts.schema.n_levels, most)
        for batch in dataset.coded_batches(facts):
            sample.add(batch, n_threads)
        bound = sample.bound()
    for batch in dataset.coded_batches(facts):
        yield take_sampled(batch, facts, bound, n_threads)


def take_sampled(batch: CodedBatch, facts: Facts, bound: int, n_threads: int) -> CodedBatch:
    """Return the rows of a piece that are of the sample with this bound."""
    if bound == ALL_ROWS:
        return batch
    columns, positive, weight = batch
    rows = _core.sampled_rows(columns, facts.schema.n_levels, bound, n_threads)
    taken = None if weight is None else weight[rows]
    return [column[rows] for column in columns], positive[rows], taken


def joined(parts: Sequence[CodedBatch], facts: Facts) -> Sample:
    """Return the rows of all parts, in their order, as those of a fit to a frame.

    Raises
    ------
    ValueError
        If a class has no row in the sample.
    """
    columns = [np.concatenate(some) for some in zip(*(part[0] for part in parts), strict=True)]
    positive = np.concatenate([part[1] for part in parts])
    weights = [part[2] for part in parts if part[2] is not None]
    weight = np.concatenate(weights) if weights else None
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
    return Sample(columns, Schema(tuple(features)), positive, weight)


def _with_levels_of(
    feature: Feature, codes: NDArray[np.uint32], kept: Any
) -> tuple[Feature, NDArray[np.uint32]]:
    """Code a categorical column anew, by the levels that occur in the rows that are kept."""
    assert feature.levels is not None
    used = np.unique(codes[kept])
    used = used[used != _core.MISSING_CODE]
    if len(used) == len(feature.levels):
        return feature, codes
    found = Feature(feature.name, tuple(feature.levels[code] for code in used))
    table = np.full(len(feature.levels) + 1, _core.MISSING_CODE, dtype=np.uint32)
    table[used] = np.arange(len(used), dtype=np.uint32)
    # The last entry is where a missing value leads.
    return found, table[np.minimum(codes, len(feature.levels))]
