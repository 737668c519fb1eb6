"""Ranking of the models, and which are significantly behind the best."""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import UndefinedMetricWarning

from aucrank._compare.folds import RepeatedFolds
from aucrank._compare.outcome import Outcome
from aucrank._compare.running import fold_numbers, scores_of
from aucrank._compare.sample import LabelledSample
from aucrank._report.comparison import adjusted, of_family
from aucrank.metrics import AucComparison, AucInterval
from aucrank.metrics._cross_validated import (
    FoldRanking,
    compare_within_folds,
    interval_of_folds,
    rank_within_folds,
)


@dataclass(frozen=True)
class Standing:
    """Standing of a model that completed all folds.

    Attributes
    ----------
    outcome : Outcome
        Its results.
    interval : AucInterval
        Mean AUC of the folds.
    of_folds : ndarray of float64, shape (n_folds,)
        AUC in each of them.
    behind : AucComparison or None
        The test of its difference to the best, with an interval that holds together with those of
        all pairs of models; None for the best itself.
    p_value : float
        P-value of the test, adjusted for all pairs of models; NaN if unknown.
    """

    outcome: Outcome
    interval: AucInterval
    of_folds: NDArray[np.float64]
    behind: AucComparison | None
    p_value: float

    @property
    def difference(self) -> float:
        """Its AUC minus that of the best."""
        return 0.0 if self.behind is None else self.behind.difference


def standings(
    outcomes: Sequence[Outcome], sample: LabelledSample, folds: RepeatedFolds, confidence: float
) -> tuple[list[Standing], list[Outcome]]:
    """Return the models that completed all folds, the best first, and those that did not.

    An error in the scores of a model becomes its error. Differences are tested by
    `cross_validated_compare`. The best model is selected on the same rows, so all pairs of models
    are tested, and intervals and p-values adjusted together: whichever turns out to be best, its
    tests are among them.
    """
    fold_of = fold_numbers(folds, sample.n_rows)
    ranked: list[tuple[Outcome, FoldRanking]] = []
    others: list[Outcome] = []
    for outcome in outcomes:
        if not outcome.is_complete:
            others.append(outcome)
            continue
        scores = scores_of(outcome, folds, sample.n_rows)
        try:
            ranked.append(
                (outcome, rank_within_folds(sample.positive, scores, fold_of, sample.weight))
            )
        except ValueError as error:
            outcome.error = f"{type(error).__name__}: {error}"
            others.append(outcome)
    ranked.sort(key=lambda pair: -pair[1].auc)
    with warnings.catch_warnings():
        # Without any variation, another interval replaces the usual one.
        warnings.simplefilter("ignore", UndefinedMetricWarning)
        n_pairs = math.comb(len(ranked), 2)
        level = of_family(confidence, n_pairs)
        tests = [
            compare_within_folds(ranking, ranked[0][1], level) if place else None
            for place, (_, ranking) in enumerate(ranked)
        ]
        found = [
            Standing(
                outcome,
                interval_of_folds(ranking, confidence),
                np.concatenate(ranking.aucs),
                test,
                np.nan if test is None else adjusted(test.p_value, n_pairs),
            )
            for (outcome, ranking), test in zip(ranked, tests, strict=True)
        ]
    return found, others
