"""Where a non-decreasing function of a double crosses a value, exact to the last bit.

A scaler rounds after each of its operations, so its inverse does not give the number at which the
scaled one passes a threshold. Rounding preserves order, though: the composed function does not
decrease, and the least double at or above the threshold is found by bisection over all doubles.
"""

import struct
from collections.abc import Sequence
from math import inf, isfinite, nextafter

from aucrank._export.formula import Arithmetic, Clip, Operation


def apply(operations: Sequence[Operation], number: float) -> float:
    """Return a number after some operations; NaN stays NaN."""
    for operation in operations:
        match operation:
            case Arithmetic("+", other):
                number = number + other
            case Arithmetic("-", other):
                number = number - other
            case Arithmetic("*", other):
                number = number * other
            case Arithmetic(_, other):
                number = number / other
            case Clip(low, high):
                number = high if number > high else low if number < low else number
    return number


def least_at(operations: Sequence[Operation], bound: float) -> float:
    """Return the least double that is at least ``bound`` after some non-decreasing operations.

    Infinite if all finite doubles are at least the bound (-inf), or none is (inf).
    """
    if not operations:
        return bound
    if apply(operations, _LARGEST) < bound:
        return inf
    if apply(operations, -_LARGEST) >= bound:
        return -inf
    # The inverse is some roundings off: widening around it takes a tenth of the evaluations.
    low = high = _place(min(max(_inverse(operations, bound), -_LARGEST), _LARGEST))
    width = 1
    while apply(operations, _double(low)) >= bound:
        high, low, width = low, max(low - width, _place(-_LARGEST)), 2 * width
    while apply(operations, _double(high)) < bound:
        low, high, width = high, min(high + width, _place(_LARGEST)), 2 * width
    while high - low > 1:
        middle = (low + high) // 2
        if apply(operations, _double(middle)) >= bound:
            high = middle
        else:
            low = middle
    # -0.0 is 0.0 in every comparison.
    return _double(high) + 0.0


def _inverse(operations: Sequence[Operation], value: float) -> float:
    """Return about the number that some operations turn into a value, 0 if there is none."""
    for operation in reversed(operations):
        match operation:
            case Arithmetic("+", other):
                value = value - other
            case Arithmetic("-", other):
                value = value + other
            case Arithmetic("*", other):
                value = value / other
            case Arithmetic(_, other):
                value = value * other
    return value if isfinite(value) else 0.0


def after(number: float) -> float:
    """Return the next larger double."""
    return nextafter(number, inf)


_LARGEST = nextafter(inf, 0.0)

_SIGN = 1 << 63


def _place(number: float) -> int:
    """Return the place of a double in their order."""
    (bits,) = struct.unpack("<Q", struct.pack("<d", number))
    return int(_SIGN - bits if bits >= _SIGN else bits)


def _double(place: int) -> float:
    bits = _SIGN - place if place < 0 else place
    (number,) = struct.unpack("<d", struct.pack("<Q", bits))
    return float(number)
