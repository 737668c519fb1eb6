"""Population stability index: the shift of shares of bins between two samples."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import stats

# The usual limits of the PSI.
_WATCH, _SHIFTED = 0.1, 0.25


@dataclass(frozen=True, slots=True)
class Shift:
    """Shift of the shares of some bins.

    Attributes
    ----------
    then, now : ndarray of float64
        Share of the rows in each bin, in training and now.
    parts : ndarray of float64
        Contribution of each bin to the PSI.
    psi : float
        Population stability index.
    p_value : float
        Chance of a PSI of at least this value without drift.
    """

    then: NDArray[np.float64]
    now: NDArray[np.float64]
    parts: NDArray[np.float64]
    psi: float
    p_value: float

    @property
    def verdict(self) -> str:
        """Verdict on the PSI by the usual limits."""
        if self.psi < _WATCH:
            return "stable"
        return "watch" if self.psi < _SHIFTED else "shifted"


def measure_shift(
    then: NDArray[np.float64], now: NDArray[np.float64], rows_then: float, rows_now: float
) -> Shift:
    """Compare the shares of bins in two samples.

    Parameters
    ----------
    then, now : ndarray of float64, shape (n_bins,)
        Weight of each bin in training and now; neither sum is 0.
    rows_then, rows_now : float
        Number of rows of each sample.

    Returns
    -------
    Shift
        A bin that is empty in one sample has the share of half a row there; one that is empty in
        both is dropped.
    """
    shares = then / then.sum(), now / now.sum()
    used = (then > 0) | (now > 0)
    # The floor applies to both factors: otherwise a bin of less than half a row could lower the
    # index.
    floored = [
        np.where(used, np.where(share > 0, share, 0.5 / rows), 1.0)
        for share, rows in zip(shares, (rows_then, rows_now), strict=True)
    ]
    parts = (floored[1] - floored[0]) * np.log(floored[1] / floored[0])
    psi = float(parts.sum())
    n_free = int(used.sum()) - 1
    p_value = float(stats.chi2.sf(psi / (1 / rows_then + 1 / rows_now), n_free)) if n_free else 1.0
    return Shift(shares[0], shares[1], parts, psi, p_value)
