"""Labels, scores and weights of any kind, as the arrays that the core borrows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import narwhals.stable.v2 as nw
import numpy as np
from numpy.typing import ArrayLike, NDArray

from aucrank import _core
from aucrank._utils.threads import effective_n_threads

_T = TypeVar("_T")

_FLOATS = frozenset({np.dtype(np.float32), np.dtype(np.float64)})
_LABELS = _FLOATS | {np.dtype(t) for t in (np.bool_, np.int8, np.uint8, np.int32, np.int64)}


def of_two_classes(
    statistic: Callable[..., _T | None],
    y_true: ArrayLike,
    scores: NDArray[Any] | list[NDArray[Any]],
    sample_weight: ArrayLike | None,
    *,
    any_labels: bool = True,
) -> _T:
    """Statistic of checked scores; the core reads labels 0 and 1 or -1 and 1 by itself."""
    labels = vector(y_true, "y_true")
    weights = None if sample_weight is None else to_weights(sample_weight)
    n_threads = 1 if labels.size < _core.ROC_PARALLEL_FROM else effective_n_threads(None)
    result = None
    if labels.dtype in _LABELS:
        try:
            result = statistic(labels, scores, weights, n_threads)
        except ValueError:
            _two_classes(labels)  # Says which class, if there is only one.
            raise
    if result is None:
        positive = _positive_rows(labels, any_labels)
        result = statistic(positive, scores, weights, n_threads)
        assert result is not None
    return result


def vector(values: Any, name: str) -> NDArray[Any]:
    """Contiguous one-dimensional array in native byte order."""
    if type(values) is not np.ndarray:
        series = nw.from_native(values, series_only=True, pass_through=True)
        values = series.to_numpy() if isinstance(series, nw.Series) else np.asarray(values)
    array: NDArray[Any] = values
    if array.ndim == 2 and array.shape[1] == 1:
        array = array[:, 0]
    if array.ndim != 1:
        raise ValueError(
            f"{name} should be a 1d array, got an array of shape {array.shape} instead."
        )
    if not array.dtype.isnative:
        array = array.astype(array.dtype.newbyteorder("="))
    return array if array.flags.c_contiguous else np.ascontiguousarray(array)


def to_scores(y_score: ArrayLike) -> tuple[NDArray[Any], NDArray[Any] | None]:
    """Scores as float32 or float64; or their ranks, and the distinct scores in order."""
    array = vector(y_score, "y_score")
    if array.dtype in _FLOATS:
        return array, None
    if array.dtype == np.float16:
        return array.astype(np.float32), None
    array = _numbers(array, "y_score")
    floats = array.astype(np.float64)
    # Whole numbers beyond 2^53 and long doubles may tie as float64 without being equal.
    if array.dtype.itemsize < 8 or array.dtype == np.float64 or np.all(floats == array):
        wide = array.dtype.kind in "iu" and array.dtype.itemsize == 8
        if not (wide and floats.size and np.max(np.abs(floats)) >= 2.0**53):
            return floats, None
    if np.isnan(floats).any():
        return floats, None
    distinct, ranks = np.unique(array, return_inverse=True)
    return ranks.astype(np.float64), distinct.astype(np.float64)


def to_weights(sample_weight: ArrayLike) -> NDArray[np.float64]:
    array = vector(sample_weight, "sample_weight")
    return _numbers(array, "sample_weight").astype(np.float64, copy=False)


def _numbers(array: NDArray[Any], name: str) -> NDArray[Any]:
    """Read real numbers, NaN where a value is missing."""
    if array.dtype.kind == "O":
        try:
            values = [np.nan if _is_missing(value) else float(value) for value in array]
        except (TypeError, ValueError):
            raise ValueError(f"{name} must hold numbers") from None
        return np.array(values, dtype=np.float64)
    if array.dtype.kind not in "biuf":
        raise ValueError(f"{name} must hold numbers, but holds {array.dtype}")
    return array


def _is_missing(value: Any) -> bool:
    try:
        return value is None or bool(value != value)
    except TypeError:  # pandas.NA is neither equal to itself nor different.
        return True


def refuse_missing(labels: NDArray[Any]) -> None:
    missing = np.zeros(labels.shape, dtype=bool)
    if labels.dtype.kind == "f":
        missing = np.isnan(labels)
    elif labels.dtype.kind in "mM":
        missing = np.isnat(labels)
    elif labels.dtype.kind == "O":
        missing = np.fromiter(map(_is_missing, labels), dtype=bool, count=labels.size)
    if missing.any():
        raise ValueError(f"Input y_true contains NaN, first in row {missing.argmax()}.")


def _classes(labels: NDArray[Any]) -> list[Any]:
    """Distinct labels, in order."""
    refuse_missing(labels)
    if labels.dtype.kind != "O":
        return list(np.unique(labels).tolist())
    try:
        return sorted(set(labels.tolist()))
    except TypeError:
        raise ValueError("y_true must hold labels of one type that have an order") from None


def _positive_rows(labels: NDArray[Any], any_labels: bool) -> NDArray[np.bool_]:
    """Rows of the greater label; unless any will do, the labels must be 0 and 1 or -1 and 1."""
    if not any_labels:
        classes = _classes(labels)
        if not (set(classes) <= {0, 1} or set(classes) <= {-1, 1}):
            found = ", ".join(map(repr, classes))
            raise ValueError(
                f"y_true takes value in {{{found}}} and pos_label is not specified: either make "
                "y_true take value in {0, 1} or {-1, 1} or pass pos_label explicitly."
            )
    return equal_to(labels, _two_classes(labels)[1])


def positive_rows(y_true: ArrayLike) -> NDArray[np.bool_]:
    """Rows of the greater of two labels."""
    return _positive_rows(vector(y_true, "y_true"), any_labels=True)


def _two_classes(labels: NDArray[Any]) -> list[Any]:
    """Distinct labels, which are two."""
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
    """Which rows have the label."""
    if labels.dtype.kind == "f" and np.isnan(labels).any():
        _classes(labels)
    positive = np.asarray(labels == label)
    if positive.shape != labels.shape or not positive.any():
        raise ValueError(
            f"pos_label={label!r} is not a valid label. It should be one of {_classes(labels)}"
        )
    return positive.astype(np.bool_, copy=False)
