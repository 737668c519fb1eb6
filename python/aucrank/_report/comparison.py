"""Paired tests of the AUCs of models."""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

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
        The test of the difference of their AUCs, with an interval that holds together with those
        of all pairs of the report.
    adjusted : float
        The p-value adjusted for all pairs; NaN where undefined.
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
    level = of_family(options.confidence, len(pairs))
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
                confidence=level,
            )
            for first, second in pairs
        ]
    return [
        Comparison(first.name, second.name, test, adjusted(test.p_value, len(pairs)))
        for (first, second), test in zip(pairs, tests, strict=True)
    ]


def of_family(confidence: float, n_tests: int) -> float:
    """Return the level of each of several intervals that hold together at a level.

    Bonferroni's, so that an interval excludes 0 where the adjusted p-value is below the rest.
    """
    return 1 - (1 - confidence) / max(n_tests, 1)


def adjusted(p_value: float, n_tests: int) -> float:
    """Return a p-value adjusted for a number of tests by Bonferroni's method; NaN is kept."""
    return p_value if math.isnan(p_value) else min(1.0, n_tests * p_value)
