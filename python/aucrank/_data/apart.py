"""Special values for a ranker without support for them: an extra column marks them."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from aucrank._data.schema import Feature, Schema


def columns_apart(
    columns: list[NDArray[Any]], special: Sequence[Sequence[float]]
) -> list[NDArray[Any]]:
    """Return columns with special values missing, and categorical columns that mark them.

    Parameters
    ----------
    columns : list of ndarray
        In the form of the core.
    special : sequence of sequences of float
        Special values of each column, ascending.

    Returns
    -------
    list of ndarray
        With one more column for each column that has special values, in their order: 0 for other
        values, k for the k-th special one.
    """
    columns = list(columns)
    for place, values in enumerate(special):
        if not values:
            continue
        numbers = columns[place].astype(np.float64)
        codes = np.zeros(len(numbers), dtype=np.uint32)
        for code, value in enumerate(values, start=1):
            codes[numbers == value] = code
        columns[place] = np.where(codes > 0, np.nan, numbers)
        columns.append(codes)
    return columns


def schema_apart(schema: Schema, special: Sequence[Sequence[float]]) -> Schema:
    """Return the schema of the result of `columns_apart`."""
    other_columns = [
        Feature(f"{schema.shown_name(place)}, special", tuple(range(len(values) + 1)))
        for place, values in enumerate(special)
        if values
    ]
    return Schema((*schema.features, *other_columns))
