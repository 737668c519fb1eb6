"""Calibration of the probabilities of a model."""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import UndefinedMetricWarning

from aucrank._data.table import Table, whole
from aucrank._report.options import Options
from aucrank._report.subjects import Target
from aucrank._utils.shares import wilson
from aucrank.metrics import (
    CalibrationCurve,
    DecisionCurve,
    GradeTable,
    calibration_curve,
    decision_curve,
    grade_table,
)

_N_BINS = 10


@dataclass(frozen=True, eq=False, slots=True)
class CalibrationFacts:
    """Calibration of the probabilities of a model against observed labels.

    Attributes
    ----------
    bins : Table
        Rows in about ten groups of equal size by probability: ``low`` and ``high``, its range;
        ``size``, the weight of the group; ``predicted``, its mean probability; ``observed``, its
        share of positives, with Wilson's interval ``observed_low`` to ``observed_high``.
    expected, observed : float
        Sum of the probabilities, and number of positives.
    p_value : float
        p-value of their difference if every probability were right; NaN if all are 0 or 1.
    gap : float
        Mean distance of the two in the groups, known as the expected calibration error.
    brier : float
        Mean squared error of the probabilities.
    brier_skill : float
        Relative reduction against the error of the constant share of positives: 1 for perfect
        probabilities, 0 or less if no better than that share.
    curve : CalibrationCurve
        The smooth curve with its slope and intercept.
    decision : DecisionCurve
        Net benefit of acting by the probabilities, of all and of none.
    """

    bins: Table
    expected: float
    observed: float
    p_value: float
    gap: float
    brier: float
    brier_skill: float
    curve: CalibrationCurve
    decision: DecisionCurve

    @property
    def n_within(self) -> int:
        """Number of groups whose mean probability is within the interval of the observed share."""
        bins = self.bins
        within = (bins["observed_low"] <= bins["predicted"]) & (
            bins["predicted"] <= bins["observed_high"]
        )
        return int(within.sum())


def measure_calibration(
    probability: NDArray[np.float64], target: Target, confidence: float
) -> CalibrationFacts:
    """Compare probabilities with observed labels.

    With weights, intervals use Kish's effective number of rows (Σw)² / Σw²; with groups, the number
    of independent rows with the same variance.
    """
    weights, positive = target.weights, target.positive
    total = weights.sum()
    expected = float((weights * probability).sum())
    observed = float(weights[positive].sum())
    brier = float((weights * (probability - positive) ** 2).sum() / total)
    rate = observed / total
    variance = _variance_of_sum(probability, target)
    bins = _bins(probability, target, confidence)
    return CalibrationFacts(
        bins=bins,
        expected=expected,
        observed=observed,
        p_value=math.erfc(abs(observed - expected) / math.sqrt(2 * variance))
        if variance > 0
        else math.nan,
        gap=float(np.average(np.abs(bins["predicted"] - bins["observed"]), weights=bins["size"])),
        brier=brier,
        brier_skill=1 - brier / float(rate * (1 - rate)),
        curve=_curve(probability, target, confidence),
        decision=decision_curve(
            positive,
            probability,
            sample_weight=target.weight,
            groups=target.groups,
            confidence=confidence,
        ),
    )


def measure_grades(
    probability: NDArray[np.float64], target: Target, options: Options
) -> GradeTable | None:
    """Test each grade against what was observed; None without bounds of grades."""
    if options.grades is None:
        return None
    return grade_table(
        target.positive,
        probability,
        bounds=options.grades,
        sample_weight=target.weight,
        confidence=options.confidence,
    )


def _variance_of_sum(probability: NDArray[np.float64], target: Target) -> float:
    """Return the variance of observed less expected positives if probabilities are right."""
    weights = target.weights
    if target.groups is None:
        return float((weights**2 * probability * (1 - probability)).sum())
    # The dependence within groups can be estimated only from the groups.
    _, codes = np.unique(target.groups, return_inverse=True)
    sums = np.bincount(codes, weights * (target.positive - probability))
    n_groups = len(sums)
    return float((sums**2).sum() - sums.sum() ** 2 / n_groups) * n_groups / max(n_groups - 1, 1)


def _curve(probability: NDArray[np.float64], target: Target, confidence: float) -> CalibrationCurve:
    with warnings.catch_warnings():
        # The page omits it if undefined.
        warnings.simplefilter("ignore", UndefinedMetricWarning)
        return calibration_curve(
            target.positive,
            probability,
            sample_weight=target.weight,
            groups=target.groups,
            confidence=confidence,
        )


def _bins(probability: NDArray[np.float64], target: Target, confidence: float) -> Table:
    positive, weights = target.positive, target.weights
    distinct, group = np.unique(probability, return_inverse=True)
    n = len(distinct)
    size, squares, predicted, pos = (
        np.bincount(group, values, minlength=n)
        for values in (weights, weights**2, weights * probability, weights * positive)
    )
    # Rows of equal probability stay together: the middle one decides the group.
    middle = (np.cumsum(size) - size / 2) / size.sum()
    band = np.minimum((middle * _N_BINS).astype(np.intp), _N_BINS - 1)
    starts = np.flatnonzero(np.diff(band, prepend=-1))
    ends = np.append(starts[1:], n) - 1
    size, squares, predicted, pos = (
        np.add.reduceat(values, starts) for values in (size, squares, predicted, pos)
    )
    rows = size**2 / squares
    if target.groups is not None:
        of_row = (np.cumsum(np.bincount(starts, minlength=n)) - 1)[group]
        rows = effective_rows(target, of_row, len(starts))
    low, high = wilson(pos / size, rows, confidence)
    return Table(
        low=distinct[starts],
        high=distinct[ends],
        size=whole(np.asarray(size, dtype=np.float64)),
        predicted=predicted / size,
        observed=pos / size,
        observed_low=low,
        observed_high=high,
    )


def effective_rows(target: Target, codes: NDArray[np.intp], n_codes: int) -> NDArray[np.float64]:
    """Return the effective number of independent rows for the share of positives, by part.

    Parameters
    ----------
    target : Target
        Labels, weights and groups.
    codes : ndarray of int
        Part of each row.
    n_codes : int
        Number of parts.

    Returns
    -------
    ndarray of float64
        Kish's effective number of rows; with groups, the number of rows for which a share has its
        variance over groups, between the number of groups and the former. If all rows are alike, it
        is the number of groups.
    """
    weights = target.weights
    size = np.bincount(codes, weights, n_codes)
    rows = size**2 / np.bincount(codes, weights**2, n_codes)
    if target.groups is None:
        return np.asarray(rows)
    share = np.bincount(codes, weights * target.positive, n_codes) / size
    # One number for each pair of a part and a group.
    pairs, place = np.unique(
        codes.astype(np.int64) * (int(target.groups.max()) + 1) + target.groups,
        return_inverse=True,
    )
    part = pairs // (int(target.groups.max()) + 1)
    sums = np.bincount(place, weights * (target.positive - share[codes]))
    n_groups = np.bincount(part, minlength=n_codes)
    with np.errstate(divide="ignore", invalid="ignore"):
        variance = np.bincount(part, sums**2, n_codes) / size**2 * n_groups / (n_groups - 1)
        found = share * (1 - share) / variance
    found = np.where(np.isfinite(found) & (share > 0) & (share < 1), found, n_groups)
    return np.asarray(np.clip(found, np.minimum(n_groups, rows), rows))
