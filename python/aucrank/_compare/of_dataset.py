"""The rows of a data set that models are compared on: a sample that fits in memory."""

from dataclasses import dataclass
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from aucrank._core import MISSING_CODE
from aucrank._data.as_frame import Library, first_installed
from aucrank._data.input import each_column
from aucrank._data.row_blocks import RowBlocks
from aucrank._data.sample import Sample
from aucrank._utils.threads import effective_n_threads
from aucrank.data import Dataset

#: Distinct rows to compare on, where it is not said.
MOST_ROWS = 100_000

_LIBRARIES: tuple[Library, ...] = ("pandas", "polars", "pyarrow")


@dataclass(frozen=True)
class SampledRows:
    """Some rows of a data set.

    Attributes
    ----------
    X : narwhals.DataFrame
        Columns to learn from: numbers, or categories as texts.
    positive : ndarray of bool, shape (n_samples,)
        Which are of the class to be ranked first.
    labels : ndarray of shape (2,)
        The labels, that of the positive rows last.
    weight : ndarray of float64, shape (n_samples,), or None
        Their weights.
    n_all : int
        How many rows the data set has.
    blocks : RowBlocks or None, default=None
        What they are dealt by, unless each by its own content.
    """

    X: nw.DataFrame[Any]
    positive: NDArray[np.bool_]
    labels: NDArray[Any]
    weight: NDArray[np.float64] | None
    n_all: int
    blocks: RowBlocks | None = None

    @property
    def are_few(self) -> bool:
        """Whether the data set has other rows."""
        return len(self.positive) < self.n_all

    @property
    def groups(self) -> NDArray[np.uint64] | None:
        """Numbers of their groups; None where there are none, or they are dealt by time."""
        return None if self.blocks is None else self.blocks.groups

    @property
    def time(self) -> NDArray[np.float64] | None:
        """When they came, or the latest rows of their groups."""
        return None if self.blocks is None else self.blocks.times

    @property
    def y(self) -> NDArray[Any]:
        """The label of each row, such that the greater one is positive; else truth values."""
        in_order = bool(self.labels[0] < self.labels[1])
        return self.labels[self.positive.astype(np.intp)] if in_order else self.positive


def sampled_rows(
    dataset: Dataset, most: int, categorical_features: Any, n_jobs: int | None
) -> SampledRows:
    """Read a data set, and keep its rows with the smallest hashes of their content.

    Parameters
    ----------
    dataset : Dataset
        With labels.
    most : int
        Distinct rows to keep; with each come all copies of it. Of fewer distinct rows all are kept.
    categorical_features : object
        Which columns are categories, as rankers take it.
    n_jobs : int or None
        Threads.
    """
    facts = dataset.facts(BaseEstimator(), categorical_features)
    sample = dataset.sample(facts, effective_n_threads(n_jobs), most)
    return SampledRows(
        _frame_of(sample),
        sample.labels,
        facts.target.classes,
        sample.weight,
        facts.n_rows,
        sample.blocks,
    )


def _frame_of(sample: Sample) -> nw.DataFrame[Any]:
    """Return columns of numbers and of codes as those of a frame."""
    library = first_installed(*_LIBRARIES)
    assert library is not None, "data sets are read with one of them"
    columns = {}
    parts = zip(
        sample.schema.features, sample.schema.shown_names, each_column(sample.columns), strict=True
    )
    for feature, name, values in parts:
        if feature.levels is None:
            columns[name] = nw.new_series(name, values, backend=library)
            continue
        texts = list(map(str, feature.levels))
        coded = np.where(values == MISSING_CODE, len(texts), values)
        listed = np.array([*texts, None], dtype=object)[coded].tolist()
        column = nw.new_series(name, listed, nw.String, backend=library)
        columns[name] = column.cast(nw.Categorical)
    return nw.from_dict(columns, backend=library)
