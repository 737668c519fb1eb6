"""Calibration of probabilities: of rows with a probability of 20 %, one in five is positive."""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass
from statistics import NormalDist
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import expit
from sklearn.exceptions import UndefinedMetricWarning

from aucrank._data.table import Table
from aucrank._plots import calibration as _plot
from aucrank._utils.keywords import suggests_keywords
from aucrank.metrics._inference import check_confidence
from aucrank.metrics._log_odds import Regression, in_large_and_slope, log_odds_of
from aucrank.metrics._units import Units
from aucrank.metrics._weighting import Weighting

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from aucrank._plots.calibration import CalibrationDisplay

# Quantiles of the log-odds at the knots of the smooth curve, as in Harrell's book.
_KNOTS = (0.05, 0.275, 0.5, 0.725, 0.95)

_N_POINTS = 101
_SHARES = np.linspace(0, 1, 21)


@dataclass(frozen=True, eq=False)
class CalibrationCurve:
    """Calibration of probabilities, as :func:`calibration_curve` returns it.

    Attributes
    ----------
    measures : Table
        A row for each of the figures below: ``measure``, its name; ``value``; ``low`` and ``high``,
        its confidence interval; NaN where it has none.
    intercept : float
        Calibration in the large: what must be added to the log-odds to make expected and observed
        positives equal. 0 is perfect; below 0, probabilities are too high.
    slope : float
        Factor of the log-odds in a recalibration with an intercept. 1 is perfect; below 1,
        probabilities are too extreme, as for an overfitted model.
    observed_to_expected : float
        Observed positives divided by the sum of the probabilities.
    brier : float
        Mean squared error of the probabilities: `miscalibration` - `discrimination` +
        `uncertainty`.
    miscalibration : float
        Reduction of the Brier score if isotonic regression recalibrated the probabilities.
    discrimination : float
        Brier score of the share of positives less that of the recalibrated probabilities.
    uncertainty : float
        Brier score of the share of positives as the probability of every row.
    ici : float
        Integrated calibration index: mean distance of a probability from the smooth curve.
    e50, e90, e_max : float
        Median, 90 % quantile and maximum of that distance.
    curve : Table
        The smooth curve: ``probability``, in steps over its range; ``observed``, the share of
        positives there; ``low`` and ``high``, a pointwise interval.
    isotonic : Table
        Isotonic regression of the labels on the probability, in order: of the ``size`` rows with
        probabilities from ``low`` to ``high``, the share ``observed`` is positive.
    distribution : Table
        Spread of the probabilities by outcome: for each ``share`` of the rows of a class, the
        greatest probability among the lowest, ``of_negatives`` and ``of_positives``.
    confidence : float
        Level of the intervals.
    """

    measures: Table
    curve: Table
    isotonic: Table
    distribution: Table
    confidence: float
    intercept: float
    slope: float
    observed_to_expected: float
    brier: float
    miscalibration: float
    discrimination: float
    uncertainty: float
    ici: float
    e50: float
    e90: float
    e_max: float

    def plot(
        self, ax: Axes | None = None, *, name: str | None = None, **curve_kwargs: Any
    ) -> CalibrationDisplay:
        """Draw the smooth curve with its band, the isotonic one, and the spread by outcome.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, default=None
            Axes to draw on; ``None`` makes a figure.
        name : str, default=None
            Name of the model, for the legend.
        **curve_kwargs : dict
            Passed to matplotlib for the smooth curve.

        Returns
        -------
        CalibrationDisplay
            What was drawn.
        """
        return _plot.draw(self, ax, name=name, curve_kwargs=curve_kwargs)


@suggests_keywords
def calibration_curve(
    y_true: ArrayLike,
    y_prob: ArrayLike,
    *,
    sample_weight: ArrayLike | None = None,
    weights: Weighting = "sampling",
    groups: ArrayLike | None = None,
    confidence: float = 0.95,
) -> CalibrationCurve:
    """Compare probabilities with observed labels, in figures and curves.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Labels of two classes; the greater label is the positive class.
    y_prob : array-like of shape (n_samples,)
        Probabilities of the positive class, from 0 to 1.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights of the rows.
    weights : {"sampling", "frequency"}, default="sampling"
        Meaning of a weight: ``"sampling"``, how many rows of the population the row represents
        (only ratios matter); ``"frequency"``, a whole number of identical rows.
    groups : array-like of shape (n_samples,), default=None
        Which rows come from the same source, such as a patient: rows of a group may be dependent,
        groups are independent.
    confidence : float, default=0.95
        Level of the intervals, in (0, 1).

    Returns
    -------
    CalibrationCurve
        With ``measures``, each also an attribute, ``curve``, ``isotonic`` and ``distribution``.

    Warns
    -----
    UndefinedMetricWarning
        If the probabilities separate the classes, or are all equal: the slope is then undefined.

    Raises
    ------
    ValueError
        If labels are not of two classes; if a probability is missing or not from 0 to 1; for bad
        weights; and for ``groups`` with a missing value, or only one group.

    See Also
    --------
    decision_curve : Whether decisions by these probabilities do more good than harm.
    auc_interval : How well they rank, which calibration does not measure.

    Notes
    -----
    The intercept is that of a logistic regression with the log-odds of the probabilities as offset,
    the slope that of one on these log-odds [1]_. The smooth curve is a logistic regression on their
    restricted cubic spline of five knots at the quantiles 0.05, 0.275, 0.5, 0.725 and 0.95 [2]_, or
    of as many as are distinct. The ICI, E50, E90 and Emax are distances of the probabilities from
    it [3]_; the paper uses another smoother. Probabilities are clipped to [1e-8, 1 - 1e-8] before
    log-odds are taken. The parts of the Brier score are those of [4]_, whose reliability diagram is
    ``isotonic``.

    Intervals are normal with the variance of the influence of each row, or group ("sandwich"),
    times n / (n - 1), which is valid even if the regression is misspecified. They are on the
    original scale for the intercept, the slope and the Brier score (a mean of squared errors), on
    the log scale for the ratio, and on the log-odds scale for the curve. With sampling weights,
    rows are weighted as in surveys.

    References
    ----------
    .. [1] Cox, "Two further applications of a model for binary regression", Biometrika 45(3/4),
       1958. :doi:`10.2307/2333203`
    .. [2] Harrell, "Regression modeling strategies", 2nd edition, Springer, 2015, section 2.4.6.
       :doi:`10.1007/978-3-319-19425-7`
    .. [3] Austin and Steyerberg, "The Integrated Calibration Index (ICI) and related metrics for
       quantifying the calibration of logistic regression models", Statistics in Medicine 38(21),
       2019. :doi:`10.1002/sim.8281`
    .. [4] Dimitriadis, Gneiting and Jordan, "Stable reliability diagrams for probabilistic
       classifiers", PNAS 118(8), 2021. :doi:`10.1073/pnas.2016191118`

    Examples
    --------
    Probabilities that are too extreme:

    >>> import numpy as np
    >>> from aucrank.metrics import calibration_curve
    >>> rng = np.random.default_rng(0)
    >>> log_odds = rng.normal(size=5000)
    >>> y_true = rng.random(5000) < 1 / (1 + np.exp(-log_odds))
    >>> found = calibration_curve(y_true, 1 / (1 + np.exp(-2 * log_odds)))
    >>> round(found.slope, 1), round(found.observed_to_expected, 1)
    (0.5, 1.0)
    >>> bool(found.curve["observed"][10] > found.curve["probability"][10])
    True
    """
    z = NormalDist().inv_cdf(0.5 + check_confidence(confidence) / 2)
    units = Units.of(y_true, sample_weight, weights, groups)
    probability = units.probabilities(y_prob, "y_prob")
    counted = np.flatnonzero(units.weight > 0)
    order = counted[np.argsort(probability[counted])]
    units, probability = units.take(order), probability[order]
    log_odds = log_odds_of(probability)
    positive = units.positive
    errors = (probability - positive) ** 2
    brier, rate, expected = (units.mean(values) for values in (errors, positive, probability))
    isotonic = _isotonic(units, probability)
    size = isotonic["size"]
    of_isotonic = float(size @ (isotonic["observed"] * (1 - isotonic["observed"])) / size.sum())
    uncertainty = rate * (1 - rate)

    in_large, lines = in_large_and_slope(units, log_odds)
    smooth = None if lines is None else _Smooth.of(units, log_odds, lines.coefficients)
    if in_large is None or lines is None or smooth is None:
        warnings.warn(
            "The classes are parted by the probabilities, or these are all the same, or all 0 or 1,"
            " so that the log-odds have no line or curve through them: such figures are NaN.",
            UndefinedMetricWarning,
            stacklevel=2,
        )
    intercept, slope = (
        (math.nan, math.nan)
        if regression is None
        else (float(regression.coefficients[-1]), float(regression.errors()[-1]))
        for regression in (in_large, lines)
    )
    of_ratios = np.full(len(errors), math.nan)
    if expected > 0:
        of_ratios = np.asarray(positive / rate - probability / expected)
    of_ratio, of_brier = (
        math.sqrt(units.covariance(values[:, np.newaxis])[0, 0])
        for values in (of_ratios, np.asarray(errors - brier))
    )
    ratio = rate / expected if expected > 0 else math.inf
    gaps = np.full(4, math.nan)
    if smooth is not None:
        distances = np.abs(smooth.at(log_odds) - probability)
        gaps = np.array([units.mean(distances), *units.quantiles(distances, [0.5, 0.9, 1])])
    ici, e50, e90, e_max = gaps.tolist()
    figures = {
        "intercept": (intercept[0], *_about(*intercept, z)),
        "slope": (slope[0], *_about(*slope, z)),
        "observed_to_expected": (
            ratio,
            ratio * math.exp(-z * of_ratio),
            ratio * math.exp(z * of_ratio),
        ),
        "brier": (brier, *_about(brier, of_brier, z)),
        "miscalibration": (brier - of_isotonic, math.nan, math.nan),
        "discrimination": (uncertainty - of_isotonic, math.nan, math.nan),
        "uncertainty": (uncertainty, math.nan, math.nan),
        "ici": (ici, math.nan, math.nan),
        "e50": (e50, math.nan, math.nan),
        "e90": (e90, math.nan, math.nan),
        "e_max": (e_max, math.nan, math.nan),
    }
    value, low, high = np.array(list(figures.values())).T
    return CalibrationCurve(
        measures=Table(measure=list(figures), value=value, low=low, high=high),
        curve=_grid(units, probability, smooth, z),
        isotonic=Table(isotonic | {"size": units.given(size)}),
        distribution=_distribution(units, probability),
        confidence=float(confidence),
        **{name: figure[0] for name, figure in figures.items()},
    )


def _about(value: float, error: float, z: float) -> tuple[float, float]:
    return value - z * error, value + z * error


def _isotonic(units: Units, probability: NDArray[np.float64]) -> Table:
    """Return the steps of the isotonic regression of the labels on the probability."""
    from sklearn.isotonic import isotonic_regression

    first = np.flatnonzero(np.diff(probability, prepend=-1.0))
    distinct = probability[first]
    size = np.add.reduceat(units.weight, first)
    observed = np.add.reduceat(units.weight * units.positive, first) / size
    fitted = isotonic_regression(observed, sample_weight=size)
    starts = np.flatnonzero(np.diff(fitted, prepend=-1.0))
    ends = np.append(starts[1:], len(fitted)) - 1
    return Table(
        low=distinct[starts],
        high=distinct[ends],
        size=np.add.reduceat(size, starts),
        observed=fitted[starts],
    )


@dataclass(frozen=True, eq=False)
class _Smooth:
    """A restricted cubic spline of log-odds, linear beyond its outer knots."""

    knots: NDArray[np.float64]
    regression: Regression

    @classmethod
    def of(
        cls, units: Units, log_odds: NDArray[np.float64], line: NDArray[np.float64]
    ) -> _Smooth | None:
        """Fit it, given the line; None if it has no maximum."""
        knots = np.unique(units.quantiles(log_odds, _KNOTS, is_sorted=True))
        regression = Regression.of(units, _spline(log_odds, knots), start=line)
        return None if regression is None else cls(knots, regression)

    def at(self, log_odds: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the share of positives at some log-odds."""
        return np.asarray(expit(_spline(log_odds, self.knots) @ self.regression.coefficients))

    def band(self, log_odds: NDArray[np.float64], z: float) -> tuple[NDArray[np.float64], ...]:
        """Return it with its interval at some log-odds."""
        design = _spline(log_odds, self.knots)
        middle = design @ self.regression.coefficients
        variance = np.einsum("ij,jk,ik->i", design, self.regression.covariance, design)
        error = np.sqrt(np.maximum(variance, 0.0))
        return tuple(expit(middle + side * z * error) for side in (0, -1, 1))


def _spline(x: NDArray[np.float64], knots: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the columns of a restricted cubic spline: 1, x, and one for each knot but two."""
    columns = [np.ones(len(x)), x]
    if len(knots) > 2:
        *inner, before, last = knots.tolist()
        scale = (last - inner[0]) ** 2
        ends = [np.maximum(x - knot, 0) ** 3 for knot in (before, last)]
        for knot in inner:
            weights = (last - knot) / (last - before), (before - knot) / (last - before)
            column = np.maximum(x - knot, 0) ** 3 - weights[0] * ends[0] + weights[1] * ends[1]
            columns.append(column / scale)
    return np.column_stack(columns)


def _grid(
    units: Units, probability: NDArray[np.float64], smooth: _Smooth | None, z: float
) -> Table:
    """Return the smooth curve over the range of the probabilities."""
    grid = np.linspace(probability[0], probability[-1], _N_POINTS)
    if smooth is None:
        nothing = np.full(_N_POINTS, math.nan)
        return Table(probability=grid, observed=nothing, low=nothing, high=nothing)
    at = log_odds_of(grid)
    observed, low, high = smooth.band(at, z)
    return Table(probability=grid, observed=observed, low=low, high=high)


def _distribution(units: Units, probability: NDArray[np.float64]) -> Table:
    """Return quantiles of the probabilities of each class."""
    of_class = []
    for rows in (~units.positive, units.positive):
        own = np.flatnonzero(rows)
        of_class.append(units.take(own).quantiles(probability[own], _SHARES, is_sorted=True))
    return Table(share=_SHARES, of_negatives=of_class[0], of_positives=of_class[1])
