"""Numbers cut into intervals."""

from collections.abc import Sequence
from math import nan
from typing import Any

import numpy as np

from aucrank._export.pipeline.columns import Column, stepped
from aucrank._export.pipeline.doubles import after


def binarized(binarizer: Any, columns: Sequence[Column]) -> list[Column]:
    """Return the columns after a ``Binarizer``: 1 above the threshold, else 0."""
    cut = after(float(binarizer.threshold))
    return [stepped(column, (cut,), (0.0, 1.0), nan) for column in columns]


def discretized(discretizer: Any, columns: Sequence[Column]) -> list[Column]:
    """Return the columns after a fitted ``KBinsDiscretizer``.

    A missing number, for which it raises an error, stays missing.
    """
    if discretizer.dtype is not None and np.dtype(discretizer.dtype) != np.float64:
        raise ValueError(
            f"a KBinsDiscretizer with dtype={discretizer.dtype!r} rounds numbers before it bins"
            " them, which has no export: leave dtype out"
        )
    found: list[Column] = []
    for column, edges in zip(columns, discretizer.bin_edges_, strict=True):
        cuts = [float(edge) for edge in edges[1:-1]]
        bins = range(len(cuts) + 1)
        if discretizer.encode == "ordinal":
            outputs = [list(map(float, bins))]
        else:
            outputs = [[float(k == other) for other in bins] for k in bins]
        found += [stepped(column, cuts, values, nan) for values in outputs]
    return found
