"""Masses of cells as the knots of a `RocCurve`."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from aucrank import _core
from aucrank.metrics import RocCurve

# Total of the counts behind a curve whose rates are not ratios of whole numbers.
_UNITS = 2.0**53


def curve_of_cells(
    values: NDArray[np.float64], negative: NDArray[np.float64], positive: NDArray[np.float64]
) -> RocCurve:
    """Curve through cells in falling order of their values, tied ones adjacent."""
    ends = np.append(values[1:] != values[:-1], True).nonzero()[0]
    return RocCurve(
        _core.RocCurve(
            np.append(np.inf, values[ends]),
            np.append(np.uint64(0), _running_counts(negative)[ends]),
            np.append(np.uint64(0), _running_counts(positive)[ends]),
        )
    )


def _running_counts(masses: NDArray[np.float64]) -> NDArray[np.uint64]:
    """Sum the masses as integers: exact for counts, else in units of 2^-53."""
    sums = np.cumsum(masses)
    if not (np.all(masses == np.rint(masses)) and sums[-1] <= _UNITS):
        sums = np.rint(np.minimum(sums / sums[-1], 1) * _UNITS)
    return sums.astype(np.uint64)


def to_masses(values: ArrayLike, name: str, n_cells: int | None = None) -> NDArray[np.float64]:
    """Masses that are finite, not negative and not all zero."""
    masses = np.asarray(values, dtype=np.float64)
    if masses.ndim != 1 or not masses.size:
        raise ValueError(f"{name} must hold one number a cell, got shape {masses.shape}")
    if n_cells is not None and masses.size != n_cells:
        raise ValueError(f"{name} has {masses.size} cells, but the score has {n_cells}")
    bad = ~(np.isfinite(masses) & (masses >= 0))
    if bad.any():
        cell = int(bad.argmax())
        raise ValueError(
            f"{name} of cell {cell} is {masses[cell]}; masses must be finite and not negative"
        )
    if not masses.any():
        raise ValueError(f"{name} is zero on every cell")
    return masses
