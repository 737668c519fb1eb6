"""Comparisons of other libraries as comparisons ``value < threshold`` of doubles."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

_LARGEST = float(np.finfo(np.float32).max)

#: The least double that is infinite in single precision: halfway to the next power of two.
_OVERFLOW = _LARGEST + 2.0**103


def at_most(thresholds: ArrayLike) -> NDArray[np.float64]:
    """Return t such that ``v < t`` where ``v <= threshold``, for doubles v."""
    with np.errstate(over="ignore"):
        return np.nextafter(np.asarray(thresholds, dtype=np.float64), np.inf)


def single_below(thresholds: ArrayLike) -> NDArray[np.float64]:
    """Return t such that ``v < t`` where ``float32(v) < threshold``, for a threshold in float32.

    A double rounds to the nearest float, and halfway between two to the one that is even: all from
    halfway below the threshold on round to it or a greater one, the halfway point itself only if
    the threshold is even.
    """
    high = np.asarray(thresholds, dtype=np.float32)
    with np.errstate(over="ignore"):
        low = np.nextafter(high, np.float32(-np.inf))
    halfway = (low.astype(np.float64) + high.astype(np.float64)) / 2.0
    is_odd = (high.view(np.uint32) & 1).astype(bool)
    found = np.where(is_odd, np.nextafter(halfway, np.inf), halfway)
    found = np.where(high == np.inf, _OVERFLOW, found)
    # Only infinity is below the least float, and it is in no column.
    return np.where(low == -np.inf, np.nextafter(-_OVERFLOW, np.inf), found)


def single_at_most(thresholds: ArrayLike) -> NDArray[np.float64]:
    """Return t such that ``v < t`` where ``float32(v) <= threshold``, for any double threshold."""
    wide = np.asarray(thresholds, dtype=np.float64)
    with np.errstate(over="ignore"):
        near = wide.astype(np.float32)
        # The greatest float that is not above the threshold, and the one after it.
        below = np.where(near > wide, np.nextafter(near, np.float32(-np.inf)), near)
        after = np.nextafter(below.astype(np.float32), np.float32(np.inf))
    return single_below(after)
