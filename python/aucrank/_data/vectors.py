"""Lists, arrays and columns of frames as one-dimensional arrays."""

from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
from numpy.typing import NDArray

from aucrank._data.schema import is_missing


def plain_vector(values: Any) -> Any:
    """Turn a Series of any frame library into the array of its values; leave the rest alone."""
    if type(values) is np.ndarray:
        return values
    series = nw.from_native(values, series_only=True, pass_through=True)
    if not isinstance(series, nw.Series):
        return values
    array = series.to_numpy()
    if array.dtype == object and series.dtype == nw.Boolean and not series.null_count():
        return array.astype(np.bool_)
    return array


def vector(values: Any, name: str) -> NDArray[Any]:
    """Return a contiguous and aligned one-dimensional array in native byte order."""
    array: NDArray[Any] = np.asarray(plain_vector(values))
    if array.ndim == 2 and array.shape[1] == 1:
        array = array[:, 0]
    if array.ndim != 1:
        raise ValueError(
            f"{name} should be a 1d array, got an array of shape {array.shape} instead."
        )
    if not array.dtype.isnative:
        array = array.astype(array.dtype.newbyteorder("="))
    return np.require(array, requirements=["C", "A"])


def numbers(array: NDArray[Any], name: str) -> NDArray[Any]:
    """Read real numbers, NaN where a value is missing."""
    if array.dtype.kind == "O":
        try:
            values = [np.nan if is_missing(value) else float(value) for value in array]
        except (TypeError, ValueError):
            raise ValueError(f"{name} must hold numbers") from None
        return np.array(values, dtype=np.float64)
    if array.dtype.kind not in "biuf":
        raise ValueError(f"{name} must hold numbers, but holds {array.dtype}")
    return array
