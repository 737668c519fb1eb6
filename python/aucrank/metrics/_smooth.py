"""Smooth ROC curves: of normal scores, and of densities."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from numbers import Real
from typing import Literal

import numpy as np
from numpy.random import RandomState
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtr, ndtri
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.utils import check_scalar

from aucrank._utils.keywords import suggests_keywords
from aucrank._utils.params import check_seed
from aucrank.metrics._core_curve import core_curve
from aucrank.metrics._inference import check_confidence, check_method, check_n_resamples
from aucrank.metrics._units import Units
from aucrank.metrics._weighting import Weighting

_N_BINS = 1024

# Bandwidths by which the grid of thresholds extends beyond the scores, as in R.
_BEYOND = 3


@dataclass(frozen=True, eq=False)
class SmoothRoc:
    """A smooth ROC curve with its area and band, as :func:`smooth_roc` returns it.

    Attributes
    ----------
    fpr, tpr : ndarray of shape (n_points,)
        The curve.
    tpr_low, tpr_high : ndarray of shape (n_points,)
        Ends of the pointwise band.
    auc : float
        Area under the curve.
    low, high : float
        Ends of its interval.
    standard_error : float
        Its standard deviation over resamples.
    intercept, slope : float
        For ``"binormal"``: Φ⁻¹(TPR) = intercept + slope · Φ⁻¹(FPR); NaN otherwise.
    bandwidth : float
        For ``"density"``: standard deviation of the kernel; NaN otherwise.
    confidence : float
        Level of the interval and the band.
    method : str
        ``"binormal"`` or ``"density"``.
    """

    fpr: NDArray[np.float64]
    tpr: NDArray[np.float64]
    tpr_low: NDArray[np.float64]
    tpr_high: NDArray[np.float64]
    auc: float
    low: float
    high: float
    standard_error: float
    intercept: float
    slope: float
    bandwidth: float
    confidence: float
    method: str


@suggests_keywords
def smooth_roc(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    method: Literal["binormal", "density"] = "binormal",
    fpr: ArrayLike | None = None,
    bandwidth: float | None = None,
    sample_weight: ArrayLike | None = None,
    weights: Weighting = "sampling",
    groups: ArrayLike | None = None,
    confidence: float = 0.95,
    n_resamples: int = 2000,
    random_state: int | RandomState | None = None,
) -> SmoothRoc:
    """Smooth ROC curve with its area, and intervals by the bootstrap.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Labels of two classes; the greater label is the positive class.
    y_score : array-like of shape (n_samples,)
        Scores; higher is more positive.
    method : {"binormal", "density"}, default="binormal"
        ``"binormal"``: the curve of two normal laws, from a line through the points of the curve on
        normal scales. ``"density"``: the curve of normal kernel densities of each class.
    fpr : array-like of shape (n_points,), default=None
        False positive rates, from 0 to 1; ``None`` takes 101 in equal steps.
    bandwidth : float, default=None
        For ``"density"``: standard deviation of the kernel, above 0; ``None`` is Silverman's rule
        for the scores of both classes, applied anew to each resample.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights of the rows.
    weights : {"sampling", "frequency"}, default="sampling"
        Meaning of a weight: ``"sampling"``, how many rows of the population the row represents
        (only ratios matter); ``"frequency"``, a whole number of identical rows.
    groups : array-like of shape (n_samples,), default=None
        Which rows come from the same source, such as a patient: they are drawn together.
    confidence : float, default=0.95
        Level of the interval and the band, in (0, 1).
    n_resamples : int, default=2000
        Number of bootstrap resamples, 2 or more.
    random_state : int, RandomState instance or None, default=None
        Seed of the bootstrap. The order of the rows changes nothing.

    Returns
    -------
    SmoothRoc
        With ``fpr``, ``tpr``, ``auc``, ``low`` and ``high``.

    Warns
    -----
    UndefinedMetricWarning
        If resamples have too few points for a line; the intervals use the others.

    Raises
    ------
    ValueError
        As for :func:`auc_interval`; if the curve has fewer than two points within the unit square,
        for ``"binormal"``; and if scores are infinite, or all the same, for ``"density"``.

    See Also
    --------
    RocCurve : The empirical curve.
    roc_band : A band around it.

    Notes
    -----
    ``"binormal"`` is the least squares line of Φ⁻¹(specificity) on Φ⁻¹(sensitivity) through the
    points of the curve inside the unit square, as in pROC; with the line a + b x the area is Φ(a /
    sqrt(1 + b²)). Its slope and intercept are reported for Φ⁻¹(TPR) on Φ⁻¹(FPR) [1]_. It depends
    only on the order of the scores.

    ``"density"`` sums normal kernels over scores that are binned linearly on a grid of 1024 points
    [2]_. It smooths in units of the score, so that a monotone transform changes it: scores that are
    nearly normal suit it best. Silverman's rule is 0.9 min(s, IQR / 1.34) n^(-1/5), n being the
    effective number of rows by weight; it uses R's quantiles.

    References
    ----------
    .. [1] Hanley, "The robustness of the 'binormal' assumptions used in fitting ROC curves",
       Medical Decision Making 8(3), 1988. :doi:`10.1177/0272989X8800800308`
    .. [2] Zou, Hall and Shapiro, "Smooth non-parametric receiver operating characteristic (ROC)
       curves for continuous diagnostic tests", Statistics in Medicine 16(19), 1997.
       :doi:`10.1002/(SICI)1097-0258(19971015)16:19<2143::AID-SIM655>3.0.CO;2-3`

    Examples
    --------
    >>> import numpy as np
    >>> from aucrank.metrics import smooth_roc
    >>> rng = np.random.default_rng(0)
    >>> y_true = np.repeat([0, 1], 500)
    >>> found = smooth_roc(y_true, rng.normal(loc=y_true), n_resamples=200, random_state=0)
    >>> found.low < 0.760 < found.high  # Φ(1 / √2)
    True
    >>> abs(found.slope - 1) < 0.2, abs(found.intercept - 1) < 0.2
    (True, True)
    """
    alpha = 1 - check_confidence(confidence)
    check_method(method, ("binormal", "density"))
    check_n_resamples(n_resamples)
    if bandwidth is not None:
        check_scalar(bandwidth, "bandwidth", Real, min_val=0, include_boundaries="neither")
    grid = np.linspace(0, 1, 101) if fpr is None else np.array(fpr, dtype=np.float64)
    if grid.ndim != 1 or grid.size == 0 or not np.all((grid >= 0) & (grid <= 1)):
        raise ValueError("fpr must be one or more numbers from 0 to 1")
    units = Units.of(y_true, sample_weight, weights, groups)
    rows, (scores,) = units.arranged(units.scores(y_score, "y_score"))
    smooth: Callable[[NDArray[np.float64]], _SmoothCurve | None]
    if method == "binormal":
        smooth = _Binormal(rows, scores)
    else:
        smooth = _Density.of(rows, scores, bandwidth)
    found = smooth(np.ones(len(scores)))
    if found is None:
        raise ValueError(
            "the curve has fewer than two points within the unit square, which make no line"
        )
    rng = np.random.default_rng(check_seed(random_state))
    resamples = [smooth(rows.redraw(rng)) for _ in range(n_resamples)]
    drawn = [curve for curve in resamples if curve is not None]
    if len(drawn) < n_resamples:
        if len(drawn) < 2:
            raise ValueError("fewer than two resamples have points enough for a smooth curve")
        warnings.warn(
            f"{n_resamples - len(drawn)} of {n_resamples} resamples have too few points for a"
            " smooth curve: the intervals are those of the others.",
            UndefinedMetricWarning,
            stacklevel=2,
        )
    levels = [alpha / 2, 1 - alpha / 2]
    areas = np.array([curve.auc for curve in drawn])
    low, high = np.quantile(areas, levels).tolist()
    band = np.quantile([curve.tpr_at(grid) for curve in drawn], levels, axis=0)
    return SmoothRoc(
        fpr=grid,
        tpr=found.tpr_at(grid),
        tpr_low=band[0],
        tpr_high=band[1],
        auc=found.auc,
        low=low,
        high=high,
        standard_error=float(areas.std(ddof=1)),
        intercept=found.intercept,
        slope=found.slope,
        bandwidth=found.bandwidth,
        confidence=float(confidence),
        method=method,
    )


@dataclass(frozen=True, eq=False)
class _SmoothCurve:
    """A smooth curve: a function of the false positive rate, its area and its parameters."""

    tpr_at: Callable[[NDArray[np.float64]], NDArray[np.float64]]
    auc: float
    intercept: float = math.nan
    slope: float = math.nan
    bandwidth: float = math.nan


@dataclass(frozen=True, eq=False)
class _Binormal:
    """Binormal curves of rows with given multiplicities."""

    rows: Units
    scores: NDArray[np.float64]

    def __call__(self, times: NDArray[np.float64]) -> _SmoothCurve | None:
        weight = self.rows.weight * times
        kept = weight > 0
        curve = core_curve(self.rows.positive[kept], self.scores[kept], weight[kept])
        fpr, tpr = curve.fpr(), curve.tpr()
        inside = (fpr > 0) & (fpr < 1) & (tpr > 0) & (tpr < 1)
        x, y = ndtri(tpr[inside]), -ndtri(fpr[inside])
        if len(x) < 2 or np.ptp(x) == 0:
            return None
        centred = x - x.mean()
        b = float(centred @ y / (centred @ centred))
        a = float(y.mean() - b * x.mean())
        if b == 0:
            return None

        def tpr_at(rates: NDArray[np.float64]) -> NDArray[np.float64]:
            # For a falling line, its limits at the rates 0 and 1.
            return np.asarray(ndtr((-ndtri(rates) - a) / b))

        area = float(ndtr(a / math.hypot(1, b)))
        return _SmoothCurve(tpr_at, area, intercept=-a / b, slope=-1 / b)


@dataclass(frozen=True, eq=False)
class _Density:
    """Kernel curves of rows with given multiplicities."""

    rows: Units
    scores: NDArray[np.float64]
    bandwidth: float | None
    grid: NDArray[np.float64]
    place: NDArray[np.intp]
    to_right: NDArray[np.float64]

    @classmethod
    def of(cls, rows: Units, scores: NDArray[np.float64], bandwidth: float | None) -> _Density:
        if not np.isfinite(scores).all():
            raise ValueError('y_score has an infinite value, which has no place in a "density"')
        width = bandwidth or _silverman(scores, rows.weight)
        if not width > 0:
            raise ValueError('all scores are the same, so that "density" has no bandwidth')
        least, most = float(scores.min()), float(scores.max())
        grid = np.linspace(least - _BEYOND * width, most + _BEYOND * width, _N_BINS)
        at = (scores - grid[0]) / (grid[1] - grid[0])
        place = np.minimum(at.astype(np.intp), _N_BINS - 2)
        return cls(rows, scores, bandwidth, grid, place, at - place)

    def __call__(self, times: NDArray[np.float64]) -> _SmoothCurve | None:
        from scipy.signal import fftconvolve

        drawn = np.repeat(np.arange(len(times)), times.astype(np.intp))
        width = self.bandwidth or _silverman(self.scores[drawn], self.rows.weight[drawn])
        if not width > 0:
            return None
        weight = self.rows.weight * times
        step = self.grid[1] - self.grid[0]
        # Mass of a kernel above a threshold, by how far the threshold is below its centre.
        above = ndtr(np.arange(-_N_BINS + 1, _N_BINS) * step / width)
        rates = []
        for of_class in (~self.rows.positive, self.rows.positive):
            own = weight * of_class
            binned = np.bincount(self.place, own * (1 - self.to_right), _N_BINS)
            binned += np.bincount(self.place + 1, own * self.to_right, _N_BINS)
            shares = fftconvolve(binned / own.sum(), above[::-1])[_N_BINS - 1 : 2 * _N_BINS - 1]
            rates.append(np.concatenate([[1.0], shares, [0.0]])[::-1])
        fpr, tpr = rates
        area = float(np.diff(fpr) @ (tpr[1:] + tpr[:-1]) / 2)
        return _SmoothCurve(lambda at: np.interp(at, fpr, tpr), area, bandwidth=float(width))


def _silverman(scores: NDArray[np.float64], weight: NDArray[np.float64]) -> float:
    """Return the bandwidth of Silverman's rule, R's ``bw.nrd0``; 0 if there is none."""
    order = np.argsort(scores, kind="stable")
    values, own = scores[order], weight[order]
    total = own.sum()
    size = total**2 / (own @ own)
    middle = np.cumsum(own) - own / 2
    if len(values) < 2 or values[0] == values[-1]:
        return 0.0
    at = (middle - middle[0]) / (middle[-1] - middle[0])
    low, high = np.interp([0.25, 0.75], at, values).tolist()
    spread = own @ (values - own @ values / total) ** 2 / total * size / (size - 1)
    deviation = math.sqrt(spread)
    width = min(deviation, (high - low) / 1.34) or deviation
    return float(0.9 * width * size ** (-1 / 5))
