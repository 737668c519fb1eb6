"""The rows on which all models are compared, in the form that each accepts."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator

from aucrank._base.external import row_taker
from aucrank._core import MISSING_CODE
from aucrank._data.as_frame import as_frame
from aucrank._data.input import Columns, each_column, learn_columns
from aucrank._data.labels import encode_binary
from aucrank._data.leak_warnings import warn_of_leaks
from aucrank._data.mark_warnings import warn_of_marks
from aucrank._data.row_blocks import read_blocks, read_times
from aucrank._data.schema import Schema
from aucrank._data.vectors import vector
from aucrank._data.weights import check_class_sums, check_weight


@dataclass(frozen=True)
class Matrix:
    """Numeric columns, then categorical ones as codes; missing values are NaN.

    Attributes
    ----------
    values : ndarray of float64, shape (n_samples, n_columns)
        The columns.
    n_numeric : int
        How many of them are numeric.
    names : list of str
        Their names.
    """

    values: NDArray[np.float64]
    n_numeric: int
    names: list[str]

    @property
    def n_columns(self) -> int:
        """Number of columns of both kinds."""
        return int(self.values.shape[1])

    @property
    def numeric(self) -> list[int]:
        """Positions of the numeric columns."""
        return list(range(self.n_numeric))

    @property
    def categorical(self) -> list[int]:
        """Positions of the codes."""
        return list(range(self.n_numeric, self.n_columns))


@dataclass(frozen=True)
class LabelledSample:
    """Labelled rows, without those of weight 0.

    Attributes
    ----------
    rows : callable
        Takes rows by number, in the user's own format.
    matrix : Matrix
        All of them as numbers.
    y : ndarray of shape (n_samples,)
        Labels in the user's own format.
    positive : ndarray of bool, shape (n_samples,)
        Which are of the greater class.
    weight : ndarray of float64, shape (n_samples,), or None
        Their weights.
    groups : ndarray of shape (n_samples,) or None
        Groups of rows that are never separated.
    time : ndarray of shape (n_samples,) or None
        Time of each row, in the user's own format.
    blocks : ndarray of uint64, shape (n_samples,), or None
        Position of each row in time, a group having that of its latest row.
    are_groups_timed : bool
        Whether these are of groups, each at its latest row.
    kept : ndarray of int, shape (n_samples,)
        Their numbers among the user's rows.
    n_passed : int
        Number of the user's rows.
    categorical_features : object
        Which columns are categorical, as for our rankers.
    fingerprint : str
        Equal for the same columns, labels and weights.
    """

    rows: Callable[[NDArray[np.intp]], Any]
    matrix: Matrix
    y: NDArray[Any]
    positive: NDArray[np.bool_]
    weight: NDArray[np.float64] | None
    groups: NDArray[Any] | None
    time: NDArray[Any] | None
    blocks: NDArray[np.uint64] | None
    are_groups_timed: bool
    kept: NDArray[np.intp]
    n_passed: int
    categorical_features: Any
    fingerprint: str = field(repr=False)

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self.positive)

    @property
    def n_values(self) -> int:
        """Rows times columns."""
        return self.matrix.values.size


def read_sample(
    X: Any,
    y: ArrayLike,
    sample_weight: ArrayLike | None = None,
    groups: ArrayLike | None = None,
    categorical_features: Any = "from_dtype",
    time: ArrayLike | None = None,
    *,
    are_groups_timed: bool = False,
) -> LabelledSample:
    """Check the user's data, and warn of suspicious columns once.

    Times may be those of groups already, which is known for a data set: ``are_groups_timed``.

    Raises
    ------
    TypeError, ValueError
        As a fit of our rankers does.
    """
    classes, positive = encode_binary(y)
    weight = check_weight(sample_weight, len(positive))
    check_class_sums(weight, positive, classes)
    X = as_frame(X)
    columns, schema = learn_columns(
        BaseEstimator(),
        X,
        categorical_features,
        len(positive),
        None if weight is None else weight > 0,
    )
    warn_of_leaks(columns, schema, positive, weight)
    warn_of_marks(columns, schema)
    if groups is not None:
        groups = vector(groups, "groups")
        if len(groups) != len(positive):
            raise ValueError(f"groups has {len(groups)} entries, but y has {len(positive)}")
    times = None if time is None else read_times(time, len(positive))
    kept = np.arange(len(positive)) if weight is None else np.flatnonzero(weight)
    matrix = _as_matrix(columns, schema, kept)
    take = row_taker(X)
    return LabelledSample(
        rows=lambda rows: take(kept[rows]),
        matrix=matrix,
        y=classes[positive.astype(np.intp)][kept],
        positive=positive[kept],
        weight=None if weight is None else weight[kept],
        groups=None if groups is None else groups[kept],
        time=None if times is None else times[kept],
        blocks=_places_in_time(groups, times, kept),
        are_groups_timed=are_groups_timed or (groups is not None and times is not None),
        kept=kept,
        n_passed=len(positive),
        categorical_features=categorical_features,
        fingerprint=_fingerprint(schema, matrix, classes, positive[kept], weight),
    )


def _places_in_time(
    groups: NDArray[Any] | None, time: NDArray[Any] | None, kept: NDArray[np.intp]
) -> NDArray[np.uint64] | None:
    if time is None:
        return None
    blocks = read_blocks(None if groups is None else groups[kept], time[kept], len(kept))
    assert blocks is not None
    return blocks.of_row


def _as_matrix(columns: Columns, schema: Schema, kept: NDArray[np.intp]) -> Matrix:
    is_coded = [feature.levels is not None for feature in schema.features]
    # Stable, so that columns of the same kind keep their order.
    order = sorted(range(len(is_coded)), key=is_coded.__getitem__)
    listed = list(each_column(columns))
    values = np.empty((len(kept), len(order)))
    for place, index in enumerate(order):
        column = listed[index][kept]
        values[:, place] = (
            np.where(column == MISSING_CODE, np.nan, column) if is_coded[index] else column
        )
    names = schema.shown_names
    return Matrix(values, is_coded.count(False), [names[index] for index in order])


def _fingerprint(
    schema: Schema,
    matrix: Matrix,
    classes: NDArray[Any],
    positive: NDArray[np.bool_],
    weight: NDArray[np.float64] | None,
) -> str:
    labels = [classes.dtype.kind, *map(str, classes)]
    found = hashlib.sha256(json.dumps([schema.to_json(), labels]).encode())
    # -0.0 equals 0.0, and all missing values are equal.
    values = matrix.values + 0.0
    values[np.isnan(values)] = np.nan
    for part in (values, positive, np.zeros(0) if weight is None else weight[weight > 0]):
        found.update(np.ascontiguousarray(part).tobytes())
    return found.hexdigest()
