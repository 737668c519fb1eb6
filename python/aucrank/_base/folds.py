"""Rows dealt into folds by their content, so that their order does not matter."""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from aucrank import _core
from aucrank._data.input import each_column
from aucrank._data.row_blocks import STEP, mixed
from aucrank._data.sample import Sample

#: Maximal number of rows that integer weights expand to, where copies of a row are dealt apart.
_MOST_COPIES = 1 << 20


@dataclass(frozen=True)
class Folds:
    """Rows of a sample, dealt into folds.

    Attributes
    ----------
    rows : ndarray of int, shape (n,)
        Rows of the sample in an order that depends on their content alone. Rows of weight zero are
        left out, and rows with an integer weight may be repeated that often.
    weight : ndarray of float64, shape (n,), or None
        Weight of each of them.
    of_row : ndarray of int, shape (n,)
        The fold of each of them.
    n_folds : int
        Number of folds; 1 where no row can be left out.
    """

    rows: NDArray[np.intp]
    weight: NDArray[np.float64] | None
    of_row: NDArray[np.intp]
    n_folds: int

    def sample(self, sample: Sample) -> Sample:
        """Return the rows in their order."""
        taken = sample.take(self.rows)
        return replace(taken, weight=self.weight)


def deal(sample: Sample, n_folds: int, seed: int, n_threads: int) -> Folds:
    """Deal the rows of a sample into folds, each class separately.

    Copies of a row are dealt together, so that no model scores a row that it was fitted to. Rows of
    equal values and different labels are not copies but look alike, as new rows will. They are
    dealt one by one, since a model of the others alone would predict the other label for each. So
    are copies where there are hardly any rows but copies, see `_are_all_copies`. Rows in blocks are
    dealt block by block.

    Parameters
    ----------
    sample : Sample
        Columns are checked as in a fit: a fit to a part of the rows numbers them differently.
    n_folds : int
        At least 2; fewer are made where a class has fewer rows.
    seed : int
        Seed of the order of the rows, and so of the folds.
    n_threads : int
        At least 1.
    """
    _core.check_columns(sample.core, n_threads)
    content = content_of_rows(sample, seed)
    whole_weight = np.ones(sample.n_rows) if sample.weight is None else sample.weight
    order = np.lexsort((*blocks_in_order(sample), whole_weight, sample.labels, content))
    order = order[whole_weight[order] > 0]
    content, positive, weight = content[order], sample.labels[order], whole_weight[order]
    if sample.blocks is not None:
        of_row, n_folds = _core.deal_blocks(sample.core, n_folds, seed, n_threads)
        return Folds(order, None if sample.weight is None else weight, of_row[order], n_folds)

    is_new = np.ones(len(order), dtype=bool)
    is_new[1:] = content[1:] != content[:-1]
    values = np.cumsum(is_new) - 1
    is_new[1:] |= positive[1:] != positive[:-1]
    copies_of = np.cumsum(is_new) - 1
    n_of_values = np.bincount(values)
    is_mixed = np.bincount(values, weights=positive) % n_of_values != 0
    is_apart = is_mixed[values] | _are_all_copies(is_new, positive, weight, n_folds)

    n_copies = np.where(is_apart & (weight % 1 == 0), weight, 1.0)
    if n_copies.sum() > _MOST_COPIES:
        n_copies = np.ones(len(order))
    repeated = np.repeat(np.arange(len(order)), n_copies.astype(np.intp))
    if sample.weight is not None:
        weight = (weight / n_copies)[repeated]
    is_first = np.ones(len(repeated), dtype=bool)
    is_first[1:] = copies_of[repeated[1:]] != copies_of[repeated[:-1]]
    begins = is_first | is_apart[repeated]
    of_class = [begins & (positive[repeated] == label) for label in (False, True)]
    found = min(n_folds, *(int(dealt.sum()) for dealt in of_class))
    of_row = np.zeros(len(repeated), dtype=np.intp)
    if found > 1:
        for dealt in of_class:
            of_row[dealt] = np.arange(dealt.sum()) % found
        # A copy goes where the first one is.
        of_row = of_row[np.maximum.accumulate(np.where(begins, np.arange(len(begins)), 0))]
    return Folds(order[repeated], None if sample.weight is None else weight, of_row, max(found, 1))


def _are_all_copies(
    is_new: NDArray[np.bool_],
    positive: NDArray[np.bool_],
    weight: NDArray[np.float64],
    n_folds: int,
) -> bool:
    """Whether a fold would hold one or two distinct rows of a class, each in several copies."""
    n_distinct = np.bincount(positive[is_new], minlength=2)
    n_rows = np.bincount(positive, weights=weight, minlength=2)
    rarer = int(np.argmin(n_distinct))
    is_whole = not (weight % 1).any()
    few = n_distinct[rarer] < 2 * n_folds
    return bool(is_whole and few and n_rows[rarer] >= max(n_folds, 4 * n_distinct[rarer]))


def blocks_in_order(sample: Sample) -> list[NDArray[np.uint64]]:
    """Return the blocks that distinguish rows of equal values, if there are any."""
    return [] if sample.blocks is None else [sample.blocks.of_row]


def content_of_rows(sample: Sample, seed: int) -> NDArray[np.uint64]:
    """Return a number for each row that depends on its values alone."""
    found = np.full(sample.n_rows, seed, dtype=np.uint64)
    for column in each_column(sample.columns):
        if column.dtype.kind == "f":
            # Adding 0.0 makes -0.0 the same as 0.0, and all NaN are one missing value.
            values = column.astype(np.float64) + 0.0
            values[np.isnan(values)] = np.nan
            bits = values.view(np.uint64)
        else:
            bits = column.astype(np.uint64)
        found = mixed((found + np.uint64(STEP)) ^ bits)
    return found
