"""Sample of the rows of a data set that fits in memory, on which models are compared."""

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

#: Default number of distinct rows to compare on.
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
        The labels, with that of the positive rows last.
    weight : ndarray of float64, shape (n_samples,), or None
        Their weights.
    n_all : int
        Number of rows of the data set.
    blocks : RowBlocks or None, default=None
        Blocks by which they are dealt, unless each is dealt by its content.
    """

    X: nw.DataFrame[Any]
    positive: NDArray[np.bool_]
    labels: NDArray[Any]
    weight: NDArray[np.float64] | None
    n_all: int
    blocks: RowBlocks | None = None

    @property
    def are_few(self) -> bool:
        """Whether the data set has further rows."""
        return len(self.positive) < self.n_all

    @property
    def groups(self) -> NDArray[np.uint64] | None:
        """Numbers of their groups; None if there are none, or rows are dealt by time."""
        return None if self.blocks is None else self.blocks.groups

    @property
    def time(self) -> NDArray[np.float64] | None:
        """Times of the rows, or of the latest rows of their groups."""
        return None if self.blocks is None else self.blocks.times

    @property
    def y(self) -> NDArray[Any]:
        """Labels such that the greater one is positive; else booleans."""
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
        Number of distinct rows to keep, each with all its copies; all if there are fewer.
    categorical_features : object
        Which columns are categorical, as for rankers.
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
    """Return columns of numbers and of codes as a frame."""
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
        columns[name] = nw.new_series(name, listed, nw.String, backend=library)
    frame = nw.from_dict(columns, backend=library)
    # Once they are in a frame: narwhals makes a frame of pandas from values, without their types.
    categorical = [
        name
        for name, feature in zip(columns, sample.schema.features, strict=True)
        if feature.levels is not None
    ]
    return frame.with_columns(frame[name].cast(nw.Categorical) for name in categorical)
