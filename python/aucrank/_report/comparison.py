"""Paired tests of the AUCs of models."""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import UndefinedMetricWarning

from aucrank._report.options import Options
from aucrank._report.subjects import Subject, Target
from aucrank.metrics import AucComparison, auc_compare


@dataclass(frozen=True, slots=True)
class Comparison:
    """The paired test of two models.

    Attributes
    ----------
    first, second : str
        Names of the models.
    test : AucComparison
        DeLong's test of the difference of their AUCs, with its interval.
    adjusted : float
        The p-value adjusted for all pairs of the report by Holm's method; NaN where undefined.
    """

    first: str
    second: str
    test: AucComparison
    adjusted: float

    def is_significant(self, confidence: float) -> bool:
        """Whether the difference is significant."""
        return self.adjusted < 1 - confidence


def compare_all(
    subjects: Sequence[Subject], target: Target, options: Options
) -> list[Comparison] | None:
    """Test each pair of models; None if a class has only one row or group."""
    if not target.has_spread:
        return None
    pairs = list(combinations(subjects, 2))
    with warnings.catch_warnings():
        # The method of a non-normal interval is shown.
        warnings.simplefilter("ignore", UndefinedMetricWarning)
        tests = [
            auc_compare(
                target.positive,
                first.scores,
                second.scores,
                sample_weight=target.weight,
                groups=target.groups,
                confidence=options.confidence,
            )
            for first, second in pairs
        ]
    adjusted = holm([test.p_value for test in tests])
    return [
        Comparison(first.name, second.name, test, p_value)
        for (first, second), test, p_value in zip(pairs, tests, adjusted, strict=True)
    ]


def holm(p_values: Sequence[float]) -> list[float]:
    """Adjust p-values for their number by Holm's method [1]_; NaN is kept and not counted.

    References
    ----------
    .. [1] Holm, "A simple sequentially rejective multiple test procedure", Scandinavian Journal of
       Statistics 6(2), 1979.
    """
    adjusted: NDArray[np.float64] = np.full(len(p_values), math.nan)
    known = [place for place, p_value in enumerate(p_values) if not math.isnan(p_value)]
    highest = 0.0
    for rank, place in enumerate(sorted(known, key=lambda place: p_values[place])):
        highest = max(highest, min(1.0, (len(known) - rank) * p_values[place]))
        adjusted[place] = highest
    return [float(value) for value in adjusted]
