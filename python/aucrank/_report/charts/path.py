"""Curves as SVG paths, without indistinguishable points."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

# Columns per unit of the picture, which is drawn one or two pixels wide.
_COLUMNS = 2


def drawn(x: NDArray[np.float64], y: NDArray[np.float64]) -> NDArray[np.intp]:
    """Return which points of a curve to draw.

    In each column of the picture, half a unit wide, the first, the lowest, the highest and the last
    point are kept: joined by lines, they cover the same pixels as all points [1]_.

    Parameters
    ----------
    x, y : ndarray of shape (n,)
        Places of the points, ``x`` rising.

    Returns
    -------
    ndarray of int
        Rising positions.

    References
    ----------
    .. [1] Jugel, Jerzak, Hackenbroich and Markl, "M4: a visualization-oriented time series data
       aggregation", PVLDB 7(10), 2014. :doi:`10.14778/2732951.2732953`
    """
    column = np.floor(x * _COLUMNS).astype(np.int64)
    starts = np.flatnonzero(np.diff(column, prepend=column[0] - 1))
    ends = np.append(starts[1:], len(x))
    # Sorted by column and height: each column begins with its lowest and ends with its highest.
    order = np.lexsort((y, column))
    four = [starts, ends - 1, order[starts], order[ends - 1]]
    return _corners(x, y, np.unique(np.concatenate(four)))


def _corners(
    x: NDArray[np.float64], y: NDArray[np.float64], kept: NDArray[np.intp]
) -> NDArray[np.intp]:
    """Drop points between two others on a straight line, and duplicate points."""
    moves = np.append(True, (np.diff(x[kept]) != 0) | (np.diff(y[kept]) != 0))
    kept = kept[moves]
    if len(kept) < 3:
        return kept
    dx, dy = np.diff(x[kept]), np.diff(y[kept])
    # Relative to the lengths of both lines: corners are kept even between short lines.
    length = np.hypot(dx, dy)
    turn = np.abs(dx[:-1] * dy[1:] - dx[1:] * dy[:-1]) > 1e-11 * length[:-1] * length[1:]
    # A curve that goes up and down at one place has a corner, too.
    turns_back = dx[:-1] * dx[1:] + dy[:-1] * dy[1:] < 0
    stays: NDArray[np.bool_] = np.concatenate([[True], turn | turns_back, [True]])
    corners: NDArray[np.intp] = kept[stays]
    return corners


def line(x: ArrayLike, y: ArrayLike) -> str:
    """Return the path of a curve from its places in the picture."""
    x, y = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
    if not len(x):
        return ""
    kept = drawn(x, y)
    return "M" + "L".join(_points(x[kept], y[kept]))


def area(x: ArrayLike, low: ArrayLike, high: ArrayLike) -> str:
    """Return the path of the area between two curves."""
    x, low, high = (np.asarray(values, dtype=np.float64) for values in (x, low, high))
    up, down = drawn(x, high), drawn(x, low)[::-1]
    return "M" + "L".join([*_points(x[up], high[up]), *_points(x[down], low[down])]) + "Z"


def steps(edges: ArrayLike, heights: ArrayLike, base: float) -> str:
    """Return the path of a histogram that stands on a base."""
    edges, heights = np.asarray(edges, dtype=np.float64), np.asarray(heights, dtype=np.float64)
    x = np.repeat(edges, 2)
    y = np.concatenate([[base], np.repeat(heights, 2), [base]])
    return "M" + "L".join(_points(x, y))


def _points(x: NDArray[np.float64], y: NDArray[np.float64]) -> list[str]:
    return [f"{a:.2f} {b:.2f}" for a, b in zip(x.tolist(), y.tolist(), strict=True)]
