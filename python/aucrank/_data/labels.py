"""Labels of two classes: of a fit, with scikit-learn's messages, and of a statistic."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import assert_all_finite, column_or_1d
from sklearn.utils.multiclass import check_classification_targets, type_of_target

from aucrank._data.schema import is_missing
from aucrank._data.vectors import plain_vector, vector


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
        If ``y`` holds a missing value, something that is not a label, or not exactly two classes.
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

    # Comparisons with the first two labels, because sorting is many times slower.
    first = labels[0]
    other = np.asarray(labels != first, dtype=np.bool_)
    if not other.any():
        raise ValueError(
            "Ranking needs samples of 2 classes in the data, but the data contains only one class:"
            f" {plain_label(first)!r}"
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


def plain_label(label: Any) -> Any:
    """Return a numpy label as a Python object, which is shorter in a message."""
    return label.item() if isinstance(label, np.generic) else label


def match_labels(y: ArrayLike, classes: NDArray[Any]) -> NDArray[np.bool_]:
    """Return where ``y`` is ``classes[1]``, after checking that it holds no other labels.

    Raises
    ------
    ValueError
        If a label is not in ``classes``.
    """
    labels = column_or_1d(plain_vector(y), warn=True)
    positive = np.asarray(labels == classes[1], dtype=np.bool_)
    known = positive | np.asarray(labels == classes[0], dtype=np.bool_)
    if not known.all():
        row = int(np.argmin(known))
        raise ValueError(
            f"y holds {plain_label(labels[row])!r} in row {row}, which is none of the classes seen"
            f" in fit: {plain_label(classes[0])!r}, {plain_label(classes[1])!r}"
        )
    return positive


def positive_rows(y_true: ArrayLike) -> NDArray[np.bool_]:
    """Return the rows of the greater of two labels."""
    return rows_of_greater(vector(y_true, "y_true"), any_labels=True)


def rows_of_greater(labels: NDArray[Any], any_labels: bool) -> NDArray[np.bool_]:
    """Return the rows of the greater label; without ``any_labels``, only 0/1 or -1/1 are valid."""
    if not any_labels:
        classes = _classes(labels)
        if not (set(classes) <= {0, 1} or set(classes) <= {-1, 1}):
            found = ", ".join(map(repr, classes))
            raise ValueError(
                f"y_true takes value in {{{found}}} and pos_label is not specified: either make "
                "y_true take value in {0, 1} or {-1, 1} or pass pos_label explicitly."
            )
    return equal_to(labels, two_classes(labels)[1])


def two_classes(labels: NDArray[Any]) -> list[Any]:
    """Return the distinct labels, after checking that there are two."""
    classes = _classes(labels)
    if labels.dtype.kind == "f" and not all(float(c).is_integer() for c in classes):
        target = "continuous"
    elif len(classes) > 2:
        target = "multiclass"
    elif len(classes) == 2:
        return classes
    else:
        found = f": {classes[0]!r}" if classes else ""
        raise ValueError(
            f"Only one class is present in y_true{found}. "
            "ROC AUC score is not defined in that case."
        )
    shown = ", ".join(map(repr, classes[:5])) + (", ..." if len(classes) > 5 else "")
    raise ValueError(
        "Only binary classification is supported. The type of the target is "
        f"{target}: y_true holds {shown}."
    )


def equal_to(labels: NDArray[Any], label: Any) -> NDArray[np.bool_]:
    """Return which rows have the label."""
    if labels.dtype.kind == "f" and np.isnan(labels).any():
        _classes(labels)
    positive = np.asarray(labels == label)
    if positive.shape != labels.shape or not positive.any():
        raise ValueError(
            f"pos_label={label!r} is not a valid label. It should be one of {_classes(labels)}"
        )
    return positive.astype(np.bool_, copy=False)


def refuse_missing(labels: NDArray[Any]) -> None:
    missing = np.zeros(labels.shape, dtype=bool)
    if labels.dtype.kind == "f":
        missing = np.isnan(labels)
    elif labels.dtype.kind in "mM":
        missing = np.isnat(labels)
    elif labels.dtype.kind == "O":
        missing = np.fromiter(map(is_missing, labels), dtype=bool, count=labels.size)
    if missing.any():
        raise ValueError(f"Input y_true contains NaN, first in row {missing.argmax()}.")


def _classes(labels: NDArray[Any]) -> list[Any]:
    """Return the distinct labels, in order."""
    refuse_missing(labels)
    if labels.dtype.kind != "O":
        return list(np.unique(labels).tolist())
    try:
        return sorted(set(labels.tolist()))
    except TypeError:
        raise ValueError("y_true must hold labels of one type that have an order") from None
