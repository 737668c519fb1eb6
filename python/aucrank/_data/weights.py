"""Weights of rows: for fits, with scikit-learn's messages, and for statistics."""

from collections.abc import Mapping, Sequence
from math import fsum
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_array
from sklearn.utils.class_weight import compute_class_weight

from aucrank import _core
from aucrank._data.labels import plain_label
from aucrank._data.vectors import numbers, plain_vector, vector


def check_weight(sample_weight: ArrayLike | None, n_rows: int) -> NDArray[np.float64] | None:
    """Check one weight per row: finite and not negative.

    Parameters
    ----------
    sample_weight : array-like of shape (n_rows,), float or None
        A single number stands for equal weights.
    n_rows : int
        Number of rows that need a weight.

    Returns
    -------
    ndarray of float64, shape (n_rows,), or None
        ``None`` where no weights were given.

    Raises
    ------
    ValueError
        If they are not valid; the message names ``sample_weight`` and the fault.
    """
    if sample_weight is None:
        return None
    if isinstance(sample_weight, Real):
        sample_weight = np.full(n_rows, sample_weight, dtype=np.float64)
    weight: NDArray[np.float64] = check_array(
        np.require(plain_vector(sample_weight), requirements="A"),
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


def number_of_rows(weight: NDArray[np.float64] | None, n_rows: int) -> int:
    """Return the number of rows as the core counts them.

    A row of whole weight k counts as k; if some weight is not whole, every row of positive weight
    counts as one.
    """
    if weight is None:
        return n_rows
    if _core.WeightRange().with_part(weight, 0).are_counts():
        return int(fsum(weight))
    return int(np.count_nonzero(weight))


def check_class_sums(
    weight: NDArray[np.float64] | None, positive: NDArray[np.bool_], classes: NDArray[Any]
) -> None:
    """Check that both classes keep rows of positive weight.

    Raises
    ------
    ValueError
        If not; the message names ``sample_weight`` and the class without weight.
    """
    if weight is not None:
        refuse_weightless([weight[rows].any() for rows in (~positive, positive)], classes)


def refuse_weightless(has_weight: Sequence[Any], classes: NDArray[Any]) -> None:
    """Check that each class has rows of positive weight.

    Raises
    ------
    ValueError
        If not; the message names ``sample_weight`` and the class without weight.
    """
    for label, has_any in zip(classes, has_weight, strict=True):
        if not has_any:
            raise ValueError(
                f"sample_weight is zero for every row of class {plain_label(label)!r}; both classes"
                " need rows of positive weight"
            )


def check_class_weight(class_weight: Any) -> None:
    """Check the parameter ``class_weight`` as far as it can be without labels.

    Raises
    ------
    ValueError
        If it has another type, or a weight is not a number, infinite or negative.
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
    """Return the factors of the weights of negative and positive rows.

    Parameters
    ----------
    class_weight : dict, "balanced" or None
        Checked by `check_class_weight`.
    classes : ndarray of shape (2,)
        The labels.
    positive : ndarray of bool, shape (n,)
        Which rows are ``classes[1]``.
    weight : ndarray of float64, shape (n,), or None
        Weight of each row, used by "balanced".

    Raises
    ------
    ValueError
        If a dict lacks a class and names another one.
    """
    if not needs_sums(class_weight):
        return factors_of_sums(class_weight, classes, (0.0, 0.0))
    whole = np.ones(len(positive)) if weight is None else weight
    # Sums that do not depend on the order of the rows.
    return factors_of_sums(class_weight, classes, (fsum(whole[~positive]), fsum(whole[positive])))


def needs_sums(class_weight: Any) -> bool:
    """Return whether class factors depend on the total weight of each class."""
    return isinstance(class_weight, str)


def factors_of_sums(
    class_weight: Any, classes: NDArray[Any], sums: tuple[float, float]
) -> tuple[float, float] | None:
    """Do what `class_factors` does, given the weights of the negative and the positive rows."""
    if class_weight is None:
        return None
    if needs_sums(class_weight):
        negative, of_positive = (fsum(sums) / (2 * of_class) for of_class in sums)
        return negative, of_positive
    found = compute_class_weight(dict(class_weight), classes=classes, y=classes)
    return float(found[0]), float(found[1])


class ExactSum:
    """A sum of numbers added in batches, rounded once, like `math.fsum` of all of them."""

    def __init__(self) -> None:
        self._parts: list[float] = []

    def add(self, numbers: NDArray[np.float64], counts: NDArray[np.uint64] | None = None) -> None:
        """Add finite numbers, each as often as its count."""
        if counts is not None:
            # Multiplication by a power of two is exact.
            bits = range(int(counts.max(initial=0)).bit_length())
            taken = [
                numbers[(counts >> np.uint64(bit)) & np.uint64(1) == 1] * 2.0**bit for bit in bits
            ]
            numbers = np.concatenate([numbers[:0], *taken])
        left = [*numbers.tolist(), *self._parts]
        self._parts = []
        # The rounding remainder is 2**53 times smaller each time: two or three parts suffice.
        while part := fsum(left):
            self._parts.append(part)
            left.append(-part)

    def merge(self, other: "ExactSum") -> None:
        """Add the numbers of another sum."""
        self.add(np.array(other._parts))

    @property
    def value(self) -> float:
        """The double that is nearest to the sum."""
        return self._parts[0] if self._parts else 0.0


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


def unweigh_classes(
    factors: tuple[float, float],
    positive: NDArray[np.bool_],
    weight: NDArray[np.float64] | None,
) -> NDArray[np.float64] | None:
    """Return the weights of rows that `weigh_classes` was given.

    Weights that were whole are whole again: a quotient may differ in its last bits.
    """
    if weight is None:
        return None
    found: NDArray[np.float64] = weight / np.where(positive, factors[1], factors[0])
    rounded = np.rint(found)
    return rounded if np.allclose(found, rounded, rtol=1e-12, atol=0.0) else found


def to_weights(sample_weight: ArrayLike) -> NDArray[np.float64]:
    """Return weights as float64; the core checks their values."""
    array = vector(sample_weight, "sample_weight")
    return numbers(array, "sample_weight").astype(np.float64, copy=False)
