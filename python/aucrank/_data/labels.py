"""Checks of target, weights and seed that scikit-learn leaves to us, in its own wording."""

from numbers import Real
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import assert_all_finite, check_array, check_random_state, column_or_1d
from sklearn.utils.multiclass import check_classification_targets, type_of_target

from aucrank._data.schema import is_missing


def plain_vector(values: Any) -> Any:
    """Turn a Series of any frame library into the array of its values; leave the rest alone."""
    series = nw.from_native(values, series_only=True, pass_through=True)
    if not isinstance(series, nw.Series):
        return values
    array = series.to_numpy()
    if array.dtype == object and series.dtype == nw.Boolean and not series.null_count():
        return array.astype(np.bool_)
    return array


def encode_binary(y: ArrayLike) -> tuple[NDArray[Any], NDArray[np.bool_]]:
    """Split a target of two classes.

    Parameters
    ----------
    y : array-like of shape (n,)
        Labels: booleans, integers, floats of integer value, or strings.

    Returns
    -------
    classes : ndarray of shape (2,)
        The two labels, sorted, in the dtype of ``y``.
    positive : ndarray of bool, shape (n,)
        Where ``y`` is ``classes[1]``.

    Raises
    ------
    ValueError
        If ``y`` holds a missing value, something that is no label, or not exactly two classes.
    """
    labels = column_or_1d(plain_vector(y), warn=True)
    if labels.size == 0:
        raise ValueError("Found array with 0 sample(s) in y while a minimum of 1 is required.")
    if labels.dtype.kind == "f":
        assert_all_finite(labels, input_name="y")
    elif labels.dtype.kind == "O":
        if not all(issubclass(kind, str) for kind in set(map(type, labels.tolist()))):
            if any(map(is_missing, labels)):
                raise ValueError("Input y contains NaN.")
            raise ValueError(
                "Unknown label type: unknown. An object array must hold strings alone; convert y "
                "to a numeric or boolean dtype."
            )
    elif labels.dtype.kind not in "biuU":
        raise ValueError(f"Unknown label type: y has dtype {labels.dtype}")

    # Comparisons with the first two labels met, because sorting is many times slower.
    first = labels[0]
    other = np.asarray(labels != first, dtype=np.bool_)
    if not other.any():
        raise ValueError(
            "Ranking needs samples of 2 classes in the data, but the data contains only one class:"
            f" {_plain(first)!r}"
        )
    second = labels[other.argmax()]
    is_second = np.asarray(labels == second, dtype=np.bool_)
    if not np.array_equal(other, is_second) or _has_fraction(first) or _has_fraction(second):
        check_classification_targets(labels)
        raise ValueError(
            "Only binary classification is supported. The type of the target is "
            f"{type_of_target(labels, input_name='y')}."
        )
    if first < second:
        return np.array([first, second], dtype=labels.dtype), is_second
    return np.array([second, first], dtype=labels.dtype), ~is_second


def _has_fraction(label: Any) -> bool:
    return isinstance(label, float | np.floating) and label != np.floor(label)


def _plain(label: Any) -> Any:
    """Return a label of numpy as Python's own, which is shorter in a message."""
    return label.item() if isinstance(label, np.generic) else label


def match_labels(y: ArrayLike, classes: NDArray[Any]) -> NDArray[np.bool_]:
    """Tell where ``y`` is ``classes[1]``, given that it holds no other labels than ``classes``.

    Raises
    ------
    ValueError
        If a label is none of ``classes``.
    """
    labels = column_or_1d(plain_vector(y), warn=True)
    positive = np.asarray(labels == classes[1], dtype=np.bool_)
    known = positive | np.asarray(labels == classes[0], dtype=np.bool_)
    if not known.all():
        row = int(np.argmin(known))
        raise ValueError(
            f"y holds {_plain(labels[row])!r} in row {row}, which is none of the classes seen in"
            f" fit: {_plain(classes[0])!r}, {_plain(classes[1])!r}"
        )
    return positive


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
                f"sample_weight is zero for every row of class {_plain(label)!r}; both classes"
                " need rows of positive weight"
            )


def check_seed(random_state: int | np.random.RandomState | None) -> int:
    """Draw the seed of a fit, in ``[0, 2**31 - 1)``, from scikit-learn's ``random_state``."""
    return int(check_random_state(random_state).randint(2**31 - 1))
