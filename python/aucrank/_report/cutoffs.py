"""Optimal cut-offs of a score for given costs of errors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import GroupKFold, StratifiedKFold

from aucrank._report.options import Costs, Options
from aucrank._report.subjects import Subject, Target
from aucrank.metrics import GainsCurve, RocCurve

_N_FOLDS = 5


@dataclass(frozen=True, slots=True)
class CutOff:
    """A threshold of a score, with its classification figures.

    Attributes
    ----------
    purpose : {"own", "ks", "cost"}
        Whether it is the model's own, that of the greatest difference of the two rates, or the
        cheapest one.
    costs : Costs or None
        Costs of errors, for purpose "cost".
    threshold : float
        Rows that score at least this are called positive; infinity for none.
    below : float
        The next lower score of a row; minus infinity if there is none.
    flagged : float
        Share of the rows called positive.
    tpr, fpr : float
        Shares of the positive and of the negative rows called positive.
    precision : float
        Share of positives among the rows called positive; NaN if there are none.
    cost : float or None
        Mean cost of a row.
    cost_of_others : float or None
        The same by five-fold cross-validation: each fifth of the rows is cut at the cheapest
        threshold of the others. None if a class has too few rows.
    trivial_cost : float or None
        Mean cost of a row if all rows are treated alike, in the cheaper of the two ways.
    """

    purpose: str
    costs: Costs | None
    threshold: float
    below: float
    flagged: float
    tpr: float
    fpr: float
    precision: float
    cost: float | None = None
    cost_of_others: float | None = None
    trivial_cost: float | None = None


def find_cut_offs(
    subject: Subject, curve: RocCurve, ks_knot: int, target: Target, options: Options
) -> list[CutOff]:
    """Return the own cut-off, if there is one, that of KS, and the cheapest for each of the costs.

    The curve has a knot for each distinct score.
    """
    prevalence = target.prevalence
    elsewhere = costs_of_others(subject.scores, target, options.costs, options.seed)
    cut_offs = [_at(curve, ks_knot, prevalence, "ks")]
    if subject.own_cut is not None:
        own = int(np.searchsorted(-curve.thresholds, -subject.own_cut, side="left")) - 1
        cut_offs.insert(0, _at(curve, own, prevalence, "own"))
    for costs, of_others in zip(options.costs, elsewhere, strict=True):
        cost = mean_cost(curve, prevalence, costs)
        knot = int(cost.argmin())
        cut_offs.append(
            _at(
                curve,
                knot,
                prevalence,
                "cost",
                costs=costs,
                cost=float(cost[knot]),
                cost_of_others=of_others,
                trivial_cost=float(min(cost[0], cost[-1])),
            )
        )
    return cut_offs


def mean_cost(curve: RocCurve, prevalence: float, costs: Costs) -> NDArray[np.float64]:
    """Return the mean cost of a row at each threshold of a curve."""
    missed = costs.false_negative * prevalence * (1 - curve.tpr)
    return costs.false_positive * (1 - prevalence) * curve.fpr + missed


def _at(
    curve: RocCurve,
    knot: int,
    prevalence: float,
    purpose: str,
    *,
    costs: Costs | None = None,
    cost: float | None = None,
    cost_of_others: float | None = None,
    trivial_cost: float | None = None,
) -> CutOff:
    flagged = float(GainsCurve.from_curve(curve, prevalence).share[knot])
    tpr = float(curve.tpr[knot])
    return CutOff(
        purpose,
        costs,
        float(curve.thresholds[knot]),
        float(curve.thresholds[knot + 1]) if knot + 1 < curve.thresholds.size else float("-inf"),
        flagged,
        tpr,
        float(curve.fpr[knot]),
        prevalence * tpr / flagged if flagged > 0 else float("nan"),
        cost,
        cost_of_others,
        trivial_cost,
    )


def costs_of_others(
    scores: NDArray[np.float64], target: Target, all_costs: Sequence[Costs], seed: int
) -> list[float | None]:
    """Return the cross-validated mean cost of rows at the cheapest threshold.

    A threshold looks better than it is on the rows that it was chosen on. So the rows are split
    into five folds, stratified, or whole groups where there are groups; the threshold of each fold
    is the cheapest of the other four.

    Parameters
    ----------
    scores : ndarray of float64
        Score of each row.
    target : Target
        Labels and weights.
    all_costs : sequence of Costs
        Costs of errors, with one result for each.
    seed : int
        Seed of the folds.

    Returns
    -------
    list of float or None
        None where a class has fewer than five rows, or is absent outside a fold.
    """
    positive, weights = target.positive, target.weights
    if min(positive.sum(), (~positive).sum()) < _N_FOLDS:
        return [None] * len(all_costs)
    spent = np.zeros(len(all_costs))
    folds: StratifiedKFold | GroupKFold
    if target.groups is None:
        folds = StratifiedKFold(_N_FOLDS, shuffle=True, random_state=seed)
    elif (target.n_groups or 0) < _N_FOLDS:
        return [None] * len(all_costs)
    else:
        folds = GroupKFold(_N_FOLDS, shuffle=True, random_state=seed)
    for others, fold in folds.split(np.zeros(len(positive)), positive, target.groups):
        if positive[others].all() or not positive[others].any():
            return [None] * len(all_costs)
        curve = RocCurve.from_scores(
            positive[others],
            scores[others],
            sample_weight=None if target.weight is None else weights[others],
        )
        of_others = weights[others]
        prevalence = float(of_others[positive[others]].sum() / of_others.sum())
        for place, costs in enumerate(all_costs):
            threshold = curve.thresholds[mean_cost(curve, prevalence, costs).argmin()]
            called = scores[fold] >= threshold
            wrong_calls = weights[fold][called & ~positive[fold]].sum()
            misses = weights[fold][~called & positive[fold]].sum()
            spent[place] += costs.false_positive * wrong_calls + costs.false_negative * misses
    return [float(cost) for cost in spent / weights.sum()]
