"""Meaning of a weight: a share of the population, or a number of identical rows."""

from __future__ import annotations

import math
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from aucrank._data.vectors import vector
from aucrank._data.weights import to_weights

Weighting: TypeAlias = Literal["sampling", "frequency"]

# Squares of sums of weights in this range are numbers.
_LEAST, _MOST = 1e-50, 1e50

# Larger whole numbers have neighbours more than 1 apart.
_MOST_COPIES = 2**53


def scaled(weight: NDArray[np.float64]) -> tuple[NDArray[np.float64], float]:
    """Return weights of which sums and squares are numbers, and the unit that they are in.

    The unit is a power of two, by which all weights are divided exactly.
    """
    largest = float(weight.max(initial=0))
    if largest == 0 or _LEAST <= largest <= _MOST:
        return weight, 1.0
    exponent = math.frexp(largest)[1] - 1
    return np.ldexp(weight, -exponent), math.ldexp(1.0, exponent)


def are_counts(weights: str, *sample_weights: ArrayLike | None) -> bool:
    """Whether weights are frequencies, which must be whole numbers."""
    if weights not in ("sampling", "frequency"):
        raise ValueError(f'weights is {weights!r}, but must be "sampling" or "frequency"')
    if weights == "sampling":
        return False
    for sample_weight in sample_weights:
        if sample_weight is None:
            continue
        values = to_weights(sample_weight)
        broken = (values != np.floor(values)) | (values > _MOST_COPIES)
        if broken.any():
            row = int(broken.argmax())
            raise ValueError(
                f"sample_weight of row {row} is {values[row]}, but frequencies are whole numbers up"
                " to 2**53"
            )
    return True


def rows_to_draw(
    y_true: ArrayLike,
    models: list[NDArray[Any]],
    sample_weight: ArrayLike | None,
    is_counted: bool,
) -> tuple[ArrayLike, list[NDArray[Any]], ArrayLike | None]:
    """Labels, scores and weights for a bootstrap: each row repeated by its frequency."""
    if sample_weight is None or not is_counted:
        return y_true, models, sample_weight
    counts = to_weights(sample_weight).astype(np.intp)
    labels = np.repeat(vector(y_true, "y_true"), counts)
    return labels, [np.repeat(scores, counts) for scores in models], None
