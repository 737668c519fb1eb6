"""Weights of rows: for fits, in scikit-learn's wording, and for statistics, checked by the core."""

from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_array

from aucrank._data.labels import plain_label
from aucrank._data.vectors import numbers, plain_vector, vector


def check_weight(sample_weight: ArrayLike | None, n_rows: int) -> NDArray[np.float64] | None:
    """Check one weight a row: finite and not negative.

    Parameters
    ----------
    sample_weight : array-like of shape (n_rows,), float or None
        A single number stands for as many equal weights.
    n_rows : int
        Number of rows that need a weight.

    Returns
    -------
    ndarray of float64, shape (n_rows,), or None
        ``None`` where no weights were given.

    Raises
    ------
    ValueError
        Naming ``sample_weight`` and the fault.
    """
    if sample_weight is None:
        return None
    if isinstance(sample_weight, Real):
        sample_weight = np.full(n_rows, sample_weight, dtype=np.float64)
    weight: NDArray[np.float64] = check_array(
        plain_vector(sample_weight),
        ensure_2d=False,
        ensure_min_samples=0,
        dtype=np.float64,
        order="C",
        input_name="sample_weight",
    )
    if weight.shape != (n_rows,):
        raise ValueError(f"sample_weight.shape == {weight.shape}, expected {(n_rows,)}!")
    if n_rows and weight.min() < 0:
        row = int(weight.argmin())
        raise ValueError(f"sample_weight must not be negative, got {weight[row]} in row {row}")
    return weight


def check_class_weight(
    weight: NDArray[np.float64] | None, positive: NDArray[np.bool_], classes: NDArray[Any]
) -> None:
    """Check that both classes keep rows of positive weight.

    Raises
    ------
    ValueError
        Naming ``sample_weight`` and the class that has none.
    """
    if weight is None:
        return
    for label, rows in zip(classes, (~positive, positive), strict=True):
        if not weight[rows].any():
            raise ValueError(
                f"sample_weight is zero for every row of class {plain_label(label)!r}; both classes"
                " need rows of positive weight"
            )


def to_weights(sample_weight: ArrayLike) -> NDArray[np.float64]:
    """Return weights as float64; what they may be is for the core to say."""
    array = vector(sample_weight, "sample_weight")
    return numbers(array, "sample_weight").astype(np.float64, copy=False)
