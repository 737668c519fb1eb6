"""Weights of rows: for fits, in scikit-learn's wording, and for statistics, checked by the core."""

from collections.abc import Mapping
from math import fsum
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_array
from sklearn.utils.class_weight import compute_class_weight

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


def check_class_sums(
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


def check_class_weight(class_weight: Any) -> None:
    """Check the parameter ``class_weight`` as far as it can be without labels.

    Raises
    ------
    ValueError
        If it is none, or a weight is no number, infinite or negative.
    """
    if class_weight is None or (isinstance(class_weight, str) and class_weight == "balanced"):
        return
    if not isinstance(class_weight, Mapping):
        raise ValueError(f"class_weight must be a dict, 'balanced' or None, got {class_weight!r}")
    for label, factor in class_weight.items():
        is_number = isinstance(factor, Real) and not isinstance(factor, bool)
        if not (is_number and 0 <= factor < float("inf")):
            raise ValueError(
                f"class_weight of {plain_label(label)!r} must be a finite number, not negative;"
                f" got {factor!r}"
            )


def class_factors(
    class_weight: Any,
    classes: NDArray[Any],
    positive: NDArray[np.bool_],
    weight: NDArray[np.float64] | None,
) -> tuple[float, float] | None:
    """Return what the weights of negative and positive rows are multiplied by.

    Parameters
    ----------
    class_weight : dict, "balanced" or None
        Checked by `check_class_weight`.
    classes : ndarray of shape (2,)
        The labels.
    positive : ndarray of bool, shape (n,)
        Which rows are ``classes[1]``.
    weight : ndarray of float64, shape (n,), or None
        Weight of each row, by which "balanced" counts.

    Raises
    ------
    ValueError
        If a dict lacks a class and names another one.
    """
    if class_weight is None:
        return None
    if isinstance(class_weight, str):
        whole = np.ones(len(positive)) if weight is None else weight
        # Sums that do not depend on the order of the rows.
        sums = [fsum(whole[rows]) for rows in (~positive, positive)]
        negative, of_positive = (fsum(sums) / (2 * of_class) for of_class in sums)
        return negative, of_positive
    labels = classes[positive.astype(np.intp)]
    found = compute_class_weight(dict(class_weight), classes=classes, y=labels)
    return float(found[0]), float(found[1])


def weigh_classes(
    factors: tuple[float, float] | None,
    positive: NDArray[np.bool_],
    weight: NDArray[np.float64] | None,
) -> NDArray[np.float64] | None:
    """Return weights of rows times those of their classes."""
    if factors is None:
        return weight
    of_class = np.where(positive, factors[1], factors[0])
    return of_class if weight is None else weight * of_class


def to_weights(sample_weight: ArrayLike) -> NDArray[np.float64]:
    """Return weights as float64; what they may be is for the core to say."""
    array = vector(sample_weight, "sample_weight")
    return numbers(array, "sample_weight").astype(np.float64, copy=False)
