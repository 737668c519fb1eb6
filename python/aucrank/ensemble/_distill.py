"""Distillation of an ensemble into a readable ranker."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import special
from sklearn.base import clone

from aucrank._base.external import known_scores, row_taker, weight_parameter
from aucrank._data.table import Table
from aucrank.ensemble._cross_fit import CrossFit
from aucrank.ensemble._rows_left_out import Blend, weighted_sum

#: A label with less than this share of the weight of its class is left out: it would have no effect
#: but still count as a row.
_NEGLIGIBLE = 1e-3


class SoftLabels(NamedTuple):
    """Rows with each label, weighted by the probability of that label.

    Attributes
    ----------
    places : ndarray of int, shape (n,)
        Places of the rows, those of label 0 first; most rows occur twice.
    labels : ndarray of int, shape (n,)
        0 or 1.
    weights : ndarray of float64, shape (n,)
        Their weights.
    """

    places: NDArray[np.intp]
    labels: NDArray[np.intp]
    weights: NDArray[np.float64]


def soft_labels(
    shares: tuple[NDArray[np.float64], NDArray[np.float64]], weight: NDArray[np.float64] | None
) -> SoftLabels:
    """Return rows with both labels, given the probability of each, without negligible ones."""
    of_rows = np.ones(len(shares[0])) if weight is None else weight
    parts = []
    for label, share in enumerate(shares):
        kept = share >= _NEGLIGIBLE * np.average(share, weights=of_rows)
        parts.append((np.flatnonzero(kept), np.full(kept.sum(), label), (share * of_rows)[kept]))
    return SoftLabels(*(np.concatenate(part) for part in zip(*parts, strict=True)))


class Distilled(NamedTuple):
    """A ranker that `RankingEnsemble.distill` fitted to the output of an ensemble.

    Attributes
    ----------
    ranker : estimator
        Fitted.
    comparison : Table or None
        Comparison of the AUC on left-out folds: ``name``, which is "ensemble", "distilled", and
        "plain" for the same ranker fitted to the labels; the mean ``auc`` of the folds; and the
        ends of its 95 % interval, ``low`` and ``high``. The best comes first. None without
        ``compare``.
    """

    ranker: Any
    comparison: Table | None


class Student:
    """Fits clones of a ranker to labels, and to log-odds of an ensemble.

    Parameters
    ----------
    estimator : estimator
        Cloned, never fitted itself.
    X : array-like or data frame of shape (n, n_features)
        The rows, in the user's own format.
    cross : CrossFit
        The folds.
    classes : ndarray of shape (2,)
        The labels.
    """

    def __init__(self, estimator: Any, X: Any, cross: CrossFit, classes: NDArray[Any]) -> None:
        self._estimator = estimator
        self._take = row_taker(X)
        self._cross = cross
        self._classes = classes
        self._weights_as, _ = weight_parameter(estimator)

    def fit_to(self, log_odds: NDArray[np.float64], places: Any = slice(None)) -> Any:
        """Fit to rows of the folds, given the log-odds of each."""
        rows = self._cross.folds.rows[places]
        weight = self._cross.folds.weight
        shares = special.expit(-log_odds), special.expit(log_odds)
        soft = soft_labels(shares, None if weight is None else weight[places])
        return self._fit(rows[soft.places], soft.labels, soft.weights)

    def _fit_to_labels(self, places: NDArray[np.intp]) -> Any:
        folds = self._cross.folds
        labels = self._cross.sample.labels[places].astype(np.intp)
        return self._fit(
            folds.rows[places], labels, None if folds.weight is None else folds.weight[places]
        )

    def _fit(
        self, rows: NDArray[np.intp], labels: NDArray[np.intp], weight: NDArray[np.float64] | None
    ) -> Any:
        weighted = {} if weight is None else {self._weights_as: weight}
        return clone(self._estimator).fit(self._take(rows), self._classes[labels], **weighted)

    def compare(
        self,
        rankers: Sequence[tuple[str, Any, int]],
        of_ensemble: NDArray[np.float64],
        blend: Blend,
    ) -> Table:
        """Return how well each fold is ranked by models that were fitted without it.

        Parameters
        ----------
        rankers : sequence of (str, estimator, int)
            Members of the ensemble with their positions.
        of_ensemble : ndarray of float64, shape (n,)
            Its scores of left-out rows.
        blend : callable
            Combines the scores of members.
        """
        folds, sample = self._cross.folds, self._cross.sample
        without = [self._cross.scores_without_pairs(*ranker) for ranker in rankers]
        weight = np.ones(len(folds.rows)) if sample.weight is None else sample.weight
        found = {name: np.zeros(len(folds.rows)) for name in ("distilled", "plain")}
        for fold in range(folds.n_folds):
            left_out, is_kept = folds.of_row == fold, self._cross.apart_from(fold)
            kept, left_out_rows = np.flatnonzero(is_kept), self._take(folds.rows[left_out])
            scores = [of_member[fold] for of_member in without]
            blended = blend(scores, sample.labels, np.where(is_kept, weight, 0.0))
            log_odds = weighted_sum(blended["factors"], scores, blended["intercept"])[kept]
            found["distilled"][left_out] = known_scores(self.fit_to(log_odds, kept), left_out_rows)
            found["plain"][left_out] = known_scores(self._fit_to_labels(kept), left_out_rows)
        names = ("ensemble", *found)
        intervals = [self._cross.auc(scores) for scores in (of_ensemble, *found.values())]
        order = np.argsort([-interval.auc for interval in intervals], kind="stable")
        return Table(
            name=np.array(names, dtype=object)[order],
            auc=np.array([interval.auc for interval in intervals])[order],
            low=np.array([interval.low for interval in intervals])[order],
            high=np.array([interval.high for interval in intervals])[order],
        )
