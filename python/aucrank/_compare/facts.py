"""All results of a comparison, as plain numbers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from aucrank._compare.outcome import FoldResult, Outcome
from aucrank._compare.standings import Standing
from aucrank._data.table import Table


@dataclass(frozen=True)
class LeaderboardFacts:
    """Results of a comparison.

    Attributes
    ----------
    standings : list of Standing
        The models that completed all folds, the best first.
    others : list of Outcome
        Those that failed, or are incomplete.
    n_rows, n_positive : int
        Number of rows, and of positive rows.
    labels : tuple of str
        Names of the negative and the positive class.
    folds : str
        Description of the folds.
    is_weighted : bool
        Whether rows have weights.
    is_by_time : bool
        Whether the folds are ranges of time, the last one the latest.
    confidence : float
        Level of intervals.
    notes : list of str
        Further remarks.
    """

    standings: list[Standing]
    others: list[Outcome]
    n_rows: int
    n_positive: int
    labels: tuple[str, str]
    folds: str
    is_weighted: bool
    is_by_time: bool
    confidence: float
    notes: list[str]

    @property
    def n_pairs(self) -> int:
        """Number of pairs of models that are tested."""
        return len(self.standings) * (len(self.standings) - 1) // 2

    def is_behind(self, standing: Standing) -> bool:
        """Whether a model is significantly behind the best."""
        return standing.p_value < 1 - self.confidence


def models_table(facts: LeaderboardFacts) -> Table:
    """Return one row for each model, with those that are not compared last."""
    ranked = facts.standings
    outcomes = [*(standing.outcome for standing in ranked), *facts.others]
    n_others = len(facts.others)

    def of_ranked(value: Callable[[Standing], float]) -> list[float]:
        return [*map(value, ranked), *[np.nan] * n_others]

    def mean(value: Callable[[FoldResult], float | None]) -> list[float]:
        return [mean_of(outcome, value) for outcome in outcomes]

    table = Table(
        rank=_counts([*range(1, len(ranked) + 1), *[np.nan] * n_others]),
        model=[outcome.model for outcome in outcomes],
        package=[outcome.package or "aucrank" for outcome in outcomes],
        auc=of_ranked(lambda standing: standing.interval.auc),
        low=of_ranked(lambda standing: standing.interval.low),
        high=of_ranked(lambda standing: standing.interval.high),
        difference=of_ranked(lambda standing: standing.difference),
        p_value=of_ranked(lambda standing: standing.p_value),
        fit_seconds=mean(lambda fold: fold.fit_seconds),
        score_seconds=mean(lambda fold: fold.score_seconds),
        n_bytes=_counts(np.round(mean(lambda fold: fold.n_bytes)).tolist()),
        n_rules=_counts(np.round(mean(lambda fold: fold.n_rules)).tolist()),
        n_folds=[len(outcome.folds) for outcome in outcomes],
        error=["" if outcome.is_complete else outcome.unfinished for outcome in outcomes],
    )
    if facts.is_by_time:
        return Table(table | {"auc_latest": np.array(of_ranked(auc_of_latest))})
    return table


def auc_of_latest(standing: Standing) -> float:
    """Return the AUC of a model on the last fold, the latest one for ranges of time."""
    return float(standing.of_folds[-1])


def folds_table(facts: LeaderboardFacts) -> Table:
    """Return one row for each model and completed fold."""
    ranked = {id(standing.outcome): standing for standing in facts.standings}
    outcomes = [*(standing.outcome for standing in facts.standings), *facts.others]
    done = [
        (outcome, number, result)
        for outcome in outcomes
        for number, result in sorted(outcome.folds.items())
    ]
    return Table(
        model=[outcome.model for outcome, _, _ in done],
        fold=np.array([number + 1 for _, number, _ in done], dtype=np.int64),
        auc=np.array(
            [
                ranked[id(outcome)].of_folds[number] if id(outcome) in ranked else np.nan
                for outcome, number, _ in done
            ],
            dtype=np.float64,
        ),
        fit_seconds=np.array([result.fit_seconds for _, _, result in done], dtype=np.float64),
        score_seconds=np.array([result.score_seconds for _, _, result in done], dtype=np.float64),
        n_bytes=_counts([np.nan if r.n_bytes is None else r.n_bytes for _, _, r in done]),
        n_rules=_counts([np.nan if r.n_rules is None else r.n_rules for _, _, r in done]),
    )


def mean_of(outcome: Outcome, value: Callable[[FoldResult], float | None]) -> float:
    """Return the mean over the completed folds; NaN if there is none, or it is unknown."""
    found = [value(fold) for fold in outcome.in_order]
    known = [of_fold for of_fold in found if of_fold is not None]
    return float(np.mean(known)) if known and len(known) == len(found) else np.nan


def _counts(values: Sequence[float]) -> np.ndarray[tuple[int], np.dtype[np.float64 | np.int64]]:
    """Return counts as integers where all are known."""
    array = np.asarray(values, dtype=np.float64)
    return array if np.isnan(array).any() else array.astype(np.int64)
