"""Rows left out of fits, and their scores."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from aucrank._base.folds import Folds
from aucrank._data.sample import Sample

if TYPE_CHECKING:
    from aucrank.metrics import AucInterval

#: Combines the scores of members, given labels and weights: see `_core.blend_scores`.
Blend = Callable[
    [Sequence[NDArray[np.float64]], NDArray[np.bool_], NDArray[np.float64] | None], dict[str, Any]
]


class RowsLeftOut:
    """Rows in folds, each left out by a model of each member.

    Parameters
    ----------
    sample : Sample
        The rows, in the order of the folds.
    folds : Folds
        The folds of these rows.
    shift : float, default=0.0
        Difference of the log-odds between all rows and these.
    """

    def __init__(self, sample: Sample, folds: Folds, shift: float = 0.0) -> None:
        self.sample = sample
        self.folds = folds
        self.shift = shift

    def apart_from(self, *out: int) -> NDArray[np.bool_]:
        """Return which rows a model without some folds is fitted to.

        Raises
        ------
        ValueError
            If the gap between ranges of time leaves too few.
        """
        sample, of_row = self.sample, self.folds.of_row
        if sample.blocks is None:
            return np.isin(of_row, out, invert=True)
        found = np.ones(len(of_row), dtype=np.bool_)
        for fold in out:
            found &= sample.blocks.apart_from(of_row == fold)
        sample.blocks.check_gap(sample.labels[found])
        return found

    def auc(self, scores: NDArray[np.float64]) -> "AucInterval":
        """Return the mean AUC of the folds; each fold is scored by one model."""
        from aucrank.metrics import cross_validated_auc

        sample, blocks = self.sample, self.sample.blocks
        groups = None
        if blocks is not None and not blocks.are_times and self.folds.n_folds > 1:
            groups = blocks.of_row
        return cross_validated_auc(
            sample.labels, scores, self.folds.of_row, sample_weight=sample.weight, groups=groups
        )

    @property
    def has_times(self) -> bool:
        """Whether folds are ranges of time, the last one being the latest."""
        blocks = self.sample.blocks
        return blocks is not None and blocks.are_times

    def auc_of_latest(self, scores: NDArray[np.float64]) -> float:
        """Return the AUC of the latest rows, whose models were fitted only to earlier ones."""
        from aucrank.metrics import roc_auc_score

        sample = self.sample
        rows = self.folds.of_row == self.folds.n_folds - 1
        weight = None if sample.weight is None else sample.weight[rows]
        return roc_auc_score(sample.labels[rows], scores[rows], sample_weight=weight)

    def nested(self, scores: Sequence[NDArray[np.float64]], blend: Blend) -> NDArray[np.float64]:
        """Return the blended score of each row with weights chosen on the other folds."""
        sample, folds = self.sample, self.folds
        blended = np.zeros(len(folds.of_row))
        weight = np.ones(len(folds.of_row)) if sample.weight is None else sample.weight
        for fold in range(folds.n_folds):
            is_out = folds.of_row == fold
            others = np.where(self.apart_from(fold), weight, 0.0) if folds.n_folds > 1 else weight
            found = blend(scores, sample.labels, others)
            of_fold = [of_member[is_out] for of_member in scores]
            blended[is_out] = weighted_sum(found["factors"], of_fold, found["intercept"])
        return blended


def weighted_sum(
    factors: Sequence[float], scores: Sequence[NDArray[np.float64]], intercept: float
) -> NDArray[np.float64]:
    """Return the blend of scores of the same rows."""
    total = np.full(len(scores[0]), intercept)
    for factor, of_member in zip(factors, scores, strict=True):
        total += factor * of_member
    return total
