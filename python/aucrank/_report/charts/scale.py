"""Mapping of values to places in a picture."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from aucrank._page.formats import number


@dataclass(frozen=True, slots=True)
class Tick:
    """A mark of an axis.

    Attributes
    ----------
    place : float
        Place in the picture.
    text : str
        Label.
    """

    place: float
    text: str


@dataclass(frozen=True, slots=True)
class LinearScale:
    """A linear scale.

    Attributes
    ----------
    low, high : float
        Values at its ends.
    start, end : float
        Places of them in the picture.
    is_share : bool
        Whether values are shares, which are written as percentages.
    """

    low: float
    high: float
    start: float
    end: float
    is_share: bool = False

    def __call__(self, values: ArrayLike) -> NDArray[np.float64]:
        """Return the places of values."""
        along = (np.asarray(values, dtype=np.float64) - self.low) / (self.high - self.low)
        return self.start + along * (self.end - self.start)

    def ticks(self, most: int = 6) -> list[Tick]:
        """Return a few round values with their places."""
        step = round_step(self.high - self.low, most)
        first = math.ceil(self.low / step - 1e-9)
        last = math.floor(self.high / step + 1e-9)
        # Multiples, not sums: the latter drift away from round numbers.
        values = [place * step for place in range(first, last + 1)]
        return [Tick(float(self(value)), self._text(value, step)) for value in values]

    def _text(self, value: float, step: float) -> str:
        value = 0.0 if abs(value) < step / 2 else value
        if self.is_share:
            decimals = max(0, -math.floor(math.log10(100 * step) + 1e-9))
            return f"{100 * value:.{decimals}f}%"
        return number(float(f"{value:.6g}"))


def round_step(extent: float, most: int) -> float:
    """Return the least of 1, 2 and 5 times a power of ten such that `most` fill an extent."""
    rough = extent / most
    power = 10.0 ** math.floor(math.log10(rough))
    return next(m * power for m in (1, 2, 5, 10) if m * power >= rough * (1 - 1e-9))


#: Parts of a lesser extent may be 0.
_LEAST_EXTENT = 1e-300


def padded(low: float, high: float, share: float = 0.04) -> tuple[float, float]:
    """Return the ends of a scale that leaves some room around values, and is never empty."""
    extent = high - low
    if extent < _LEAST_EXTENT:
        extent = abs(low) if abs(low) >= _LEAST_EXTENT else 1.0
        return low - extent / 2, high + extent / 2
    return low - share * extent, high + share * extent
