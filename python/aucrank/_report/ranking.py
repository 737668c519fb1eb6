"""Ranking quality of scores: the curve with its band and hull, the areas, and gains."""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import UndefinedMetricWarning

from aucrank._data.table import Table
from aucrank._report.options import Options
from aucrank._report.subjects import Target
from aucrank.metrics import (
    AucInterval,
    GainsCurve,
    RocBand,
    RocCurve,
    auc_interval,
    partial_auc,
    roc_band,
)

#: False positive rates at which the true positive rate is read from the curve.
OPERATING_FPRS = (0.01, 0.05, 0.1, 0.2, 0.3)

# Maximum total of rows over all resamples, and least numbers of resamples for a pointwise band.
_RESAMPLED_ROWS = 40_000_000
_RESAMPLES = 400, 1000


@dataclass(frozen=True, slots=True)
class PartialArea:
    """Area under a part of the curve.

    Attributes
    ----------
    fpr, tpr : tuple of two float
        The rates that bound the area.
    area : float
        The area itself.
    share : float
        Share of the area that a perfect curve has there.
    standardized : float
        0.5 for uninformative scores, 1 for perfect ones.
    interval : AucInterval or None
        Interval of ``standardized``, normal on the logit scale, based on whole groups if there are
        any; None if a class has one row.
    """

    fpr: tuple[float, float]
    tpr: tuple[float, float]
    area: float
    share: float
    standardized: float
    interval: AucInterval | None


@dataclass(frozen=True, eq=False, slots=True)
class Ranking:
    """Ranking quality of the scores of a model.

    Attributes
    ----------
    curve, hull : RocCurve
        The ROC curve, and the least concave curve above it.
    interval : AucInterval
        AUC with its interval, normal on the logit scale.
    band : RocBand
        Band of the curve: pointwise by the bootstrap, or simultaneous if resamples would take
        minutes; with that many rows it is narrow anyway.
    operating_points : Table
        The curve and its band at some false positive rates: ``fpr``, ``tpr``, ``low``, ``high``.
    partial : list of PartialArea
        Over low false positive rates, and over high true positive rates.
    ks : float
        Greatest difference of the two rates, the Kolmogorov-Smirnov statistic.
    ks_knot : int
        The knot of the curve where it is attained; of several, the one with fewest rows called
        positive.
    gains_curve : GainsCurve
        Cumulative gains and lift.
    gains : Table
        Gains of the highest scoring rows, see `GainsCurve.at`.
    n_scores : int
        Number of distinct scores.
    """

    curve: RocCurve
    hull: RocCurve
    interval: AucInterval
    band: RocBand
    operating_points: Table
    partial: list[PartialArea]
    ks: float
    ks_knot: int
    gains_curve: GainsCurve
    gains: Table
    n_scores: int

    @property
    def auc(self) -> float:
        """Area under the curve."""
        return self.curve.auc

    @property
    def gini(self) -> float:
        """Gini coefficient, or accuracy ratio: the area above chance, 1 for a perfect ranking."""
        return 2 * self.auc - 1


def measure_ranking(scores: NDArray[np.float64], target: Target, options: Options) -> Ranking:
    """Measure how well scores rank."""
    y, weight = target.positive, target.weight
    curve = RocCurve.from_scores(y, scores, sample_weight=weight)
    with warnings.catch_warnings():
        # A zero variance is shown by the method of the interval.
        warnings.simplefilter("ignore", UndefinedMetricWarning)
        interval = auc_interval(
            y,
            scores,
            sample_weight=weight,
            groups=target.groups,
            confidence=options.confidence,
        )
    grid = np.union1d(np.linspace(0, 1, 101), OPERATING_FPRS)
    least, most = _RESAMPLES
    n_resamples = min(_RESAMPLED_ROWS // len(y), most)
    band = roc_band(
        y,
        scores,
        sample_weight=weight,
        groups=target.groups,
        confidence=options.confidence,
        # No exact simultaneous band is known for groups.
        method="pointwise" if n_resamples >= least or target.groups is not None else "simultaneous",
        fpr=grid,
        n_resamples=max(n_resamples, least),
        random_state=options.seed,
    )
    points = np.searchsorted(grid, OPERATING_FPRS)
    gap = curve.tpr - curve.fpr
    gains = GainsCurve.from_curve(curve, target.prevalence)
    return Ranking(
        curve=curve,
        hull=curve.hull(),
        interval=interval,
        band=band,
        operating_points=Table(
            fpr=band.fpr[points], tpr=band.tpr[points], low=band.low[points], high=band.high[points]
        ),
        partial=[
            _partial(scores, target, options, fpr=(0.0, options.max_fpr), tpr=(0.0, 1.0)),
            _partial(scores, target, options, fpr=(0.0, 1.0), tpr=(1 - options.max_fpr, 1.0)),
        ],
        ks=float(gap.max()),
        ks_knot=int(gap.argmax()),
        gains_curve=gains,
        gains=gains.at(),
        n_scores=curve.thresholds.size - 1,
    )


def _partial(
    scores: NDArray[np.float64],
    target: Target,
    options: Options,
    *,
    fpr: tuple[float, float],
    tpr: tuple[float, float],
) -> PartialArea:
    area, standardized = (
        partial_auc(
            target.positive,
            scores,
            sample_weight=target.weight,
            fpr=fpr,
            tpr=tpr,
            standardize=standardize,
        )
        for standardize in (False, True)
    )
    interval = None
    if target.has_spread:
        with warnings.catch_warnings():
            # A non-normal interval shows in its width.
            warnings.simplefilter("ignore", UndefinedMetricWarning)
            interval = auc_interval(
                target.positive,
                scores,
                sample_weight=target.weight,
                groups=target.groups,
                fpr=fpr,
                tpr=tpr,
                standardize=True,
                confidence=options.confidence,
            )
    share = area / ((fpr[1] - fpr[0]) * (tpr[1] - tpr[0]))
    return PartialArea(fpr, tpr, area, share, standardized, interval)
