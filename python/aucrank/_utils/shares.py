"""Intervals of shares."""

from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray


def wilson(
    share: NDArray[np.float64], rows: NDArray[np.float64], confidence: float
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return Wilson's interval [1]_ of shares of rows, whose number need not be whole.

    References
    ----------
    .. [1] Wilson, "Probable inference, the law of succession, and statistical inference", J. Am.
       Stat. Assoc. 22(158), 1927. :doi:`10.1080/01621459.1927.10502953`
    """
    z = NormalDist().inv_cdf((1 + confidence) / 2)
    shrink = 1 + z**2 / rows
    middle = (share + z**2 / (2 * rows)) / shrink
    reach = z / shrink * np.sqrt(share * (1 - share) / rows + (z / (2 * rows)) ** 2)
    return np.clip(middle - reach, 0.0, 1.0), np.clip(middle + reach, 0.0, 1.0)
