"""Variance of an AUC of rows in groups, such as the lesions of a patient."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array

from aucrank import _core
from aucrank._data.labels import rows_of_greater
from aucrank._data.row_blocks import factor_of_groups
from aucrank._data.scores import of_two_classes
from aucrank._data.vectors import vector
from aucrank._data.weights import to_weights
from aucrank.metrics._core_curve import core_curve
from aucrank.metrics._partial import Bands
from aucrank.metrics._weighting import scaled

_WHOLE = Bands()

#: Knots of a resampled curve: enough for a picture, in a tenth of the time.
_MOST_KNOTS = 10_000


@dataclass(frozen=True, eq=False)
class Groups:
    """Rows of one score, in independent groups.

    Attributes
    ----------
    positive : ndarray of bool
        Rows of the positive class.
    scores : ndarray
        Their scores.
    weight : ndarray of float64 or None
        Their weights; None where all count once.
    codes : ndarray of int
        The group of each, from 0.
    n_codes : int
        Number of codes; some may have no rows.
    """

    positive: NDArray[np.bool_]
    scores: NDArray[Any]
    weight: NDArray[np.float64] | None
    codes: NDArray[np.intp]
    n_codes: int

    @classmethod
    def of(
        cls,
        y_true: ArrayLike,
        scores: NDArray[Any],
        sample_weight: ArrayLike | None,
        groups: ArrayLike,
    ) -> Groups:
        """Read the groups of rows whose labels, scores and weights have been checked.

        Raises
        ------
        ValueError
            If their number differs from that of the rows, or one is missing.
        """
        positive = rows_of_greater(vector(y_true, "y_true"), True)
        weight = None if sample_weight is None else scaled(to_weights(sample_weight))[0]
        return cls(positive, scores, weight, *read_groups(groups, len(positive)))

    def variance(self, bands: Bands = _WHOLE) -> float:
        """Return the variance of the AUC by Obuchowski (1997), equation 2.

        With equal weights it is that of the paper. A row counts by its share of the weight of its
        class.

        Raises
        ------
        ValueError
            If all rows of a class are in one group.
        """
        return float(self.covariance([self.scores], bands)[0, 0])

    def covariance(self, models: list[NDArray[Any]], bands: Bands = _WHOLE) -> NDArray[np.float64]:
        """Return the covariances of the AUCs, or partial areas, of several scores of these rows.

        Raises
        ------
        ValueError
            If all rows of a class are in one group.
        """
        placements = self.placements(models) if bands.is_whole else self.clipped(models, bands)
        sums, n_groups, of_class = [], [], []
        for of_labels in (self.positive, ~self.positive):
            is_own = of_labels if self.weight is None else of_labels & (self.weight > 0)
            codes = self.codes[is_own]
            weight = np.ones(len(codes)) if self.weight is None else self.weight[is_own]
            totals = np.bincount(codes, weight, self.n_codes)
            placed = np.array(
                [np.bincount(codes, own * weight, self.n_codes) for own in placements[is_own].T]
            )
            # Less the mean of the placement values, which is the AUC of the whole curve.
            areas = placed.sum(axis=1, keepdims=True) / totals.sum()
            sums.append((placed - areas * totals) / totals.sum())
            of_class.append(totals > 0)
            n_groups.append(int(of_class[-1].sum()))
        if min(n_groups) < 2:
            name = "positive" if n_groups[0] < 2 else "negative"
            raise ValueError(
                f"all rows of the {name} class are of one group, so that nothing is known of others"
            )
        (pos, neg), (n_pos, n_neg) = sums, n_groups
        n_all = int((of_class[0] | of_class[1]).sum())
        crossed = pos @ neg.T
        # Positive for one score, since the factor of the products is the least of the three.
        return np.asarray(
            _unbiased(n_pos) * pos @ pos.T
            + _unbiased(n_neg) * neg @ neg.T
            + _unbiased(n_all) * (crossed + crossed.T)
        )

    def placements(self, models: list[NDArray[Any]]) -> NDArray[np.float64]:
        """Return the placement values of the rows by several scores, a column each.

        A row of weight 0 has the value 0.
        """
        of_models = [
            of_two_classes(_core.placements, self.positive, scores, self.weight)
            for scores in models
        ]
        # The core's is NaN, which would be the sum of 0 times it, too.
        return np.nan_to_num(np.column_stack(of_models), copy=False)

    def clipped(self, models: list[NDArray[Any]], bands: Bands) -> NDArray[np.float64]:
        """Return the influences of the rows on partial areas, a column each, up to a constant.

        Those of He and Escobar (2008): the negated false positive rate at the score of a positive
        row, and the true positive rate at that of a negative row, clipped to where the curve lies
        within the bands. A tie has the mean over its segment of the curve.
        """
        return np.column_stack([self._clipped(scores, bands) for scores in models])

    def _clipped(self, scores: NDArray[Any], bands: Bands) -> NDArray[np.float64]:
        curve = core_curve(self.positive, scores, self.weight)
        x, y = curve.fpr(), curve.tpr()
        (a, b), (c, d) = bands.fpr, bands.tpr
        enters, leaves = curve.fpr_at(np.array(bands.tpr)).tolist()
        enters, leaves = enters if c > 0 else 0.0, leaves if d < 1 else 1.0
        at = np.clip(curve.tpr_at(np.array(bands.fpr)), c, d).tolist()
        of_fpr = np.clip([enters, leaves], a, b)
        # Where the curve enters or leaves on a jump, the jump extends beyond the band.
        of_tpr = c if enters > a else at[0], d if leaves < b else at[1]
        # Rows with a weight above 0 have a knot of their own; others do not count. The search is in
        # order, since one for 10^6 scores out of order misses the cache, and takes 5 times as long.
        order = np.argsort(scores)
        ends = np.empty(len(scores), np.intp)
        ends[order] = np.searchsorted(-curve.thresholds(), -scores[order].astype(np.float64))
        ends = np.clip(ends, 1, len(x) - 1)
        at_positive = -_mean_clipped(x[ends - 1], x[ends], *of_fpr)
        at_negative = _mean_clipped(y[ends - 1], y[ends], *of_tpr)
        return np.where(self.positive, at_positive, at_negative)

    def effective(self, rows: list[float], bands: Bands = _WHOLE) -> list[float]:
        """Return the effective numbers of positives and negatives for a distribution-free interval.

        For the whole curve, at most the number of pairs from different groups; for parts of it,
        Kish's effective numbers of groups, (Σw)² / Σw², or of rows where each row is its own group.
        """
        if bands.is_whole:
            n_pairs = self.n_pairs()
            return [min(own, n_pairs) for own in rows]
        return self.n_effective()

    def n_effective(self) -> list[float]:
        """Return Kish's effective numbers of groups with positive and with negative rows."""
        weight = np.ones(len(self.positive)) if self.weight is None else self.weight
        of_class = [
            np.bincount(self.codes, weight * rows, self.n_codes)
            for rows in (self.positive, ~self.positive)
        ]
        return [float(own.sum() ** 2 / (own @ own)) for own in of_class]

    def degrees(self) -> float:
        """Return the degrees of freedom of a variance of groups.

        One less than the number of groups of the class that is in fewer of them; infinite where
        each row is a group of its own, so that intervals are those of rows.
        """
        counted = np.ones(len(self.positive), bool) if self.weight is None else self.weight > 0
        if np.bincount(self.codes[counted]).max() == 1:
            return math.inf
        return float(min(np.count_nonzero(has) for has in self._of_classes()) - 1)

    def n_pairs(self) -> int:
        """Return the greatest number of positive-negative pairs with no group in two of them.

        The two rows of a pair are of different groups, as in nearly all pairs.

        Raises
        ------
        ValueError
            If all rows are in one group.
        """
        pos, neg = self._of_classes()
        n_pairs = int(min(pos.sum(), neg.sum(), (pos | neg).sum() // 2))
        if n_pairs == 0:
            raise ValueError("all rows are of one group, so that nothing is known of others")
        return n_pairs

    def _of_classes(self) -> list[NDArray[np.bool_]]:
        """Return which groups have positive, and which have negative, rows with weight."""
        counted = np.ones(len(self.positive), bool) if self.weight is None else self.weight > 0
        return [
            np.bincount(self.codes[rows & counted], minlength=self.n_codes) > 0
            for rows in (self.positive, ~self.positive)
        ]

    def bootstrap(self, n_resamples: int, seed: int) -> NDArray[np.float64]:
        """Return AUCs of resamples of whole groups, each with the original number of groups.

        A resample without a class is drawn again.
        """
        order = np.argsort(self.scores, kind="stable")
        ordered = self.scores[order]
        starts = np.flatnonzero(np.r_[True, ordered[1:] != ordered[:-1]])
        codes = self.codes[order]
        weights = np.ones(len(order)) if self.weight is None else self.weight[order]
        by_class = [weights * self.positive[order], weights * ~self.positive[order]]
        areas = np.empty(n_resamples)
        for resample, n_drawn in enumerate(self._draws(n_resamples, seed)):
            times = n_drawn[codes]
            areas[resample] = _auc_of_ties(
                *(np.add.reduceat(own * times, starts) for own in by_class)
            )
        return areas

    def curves(
        self, models: list[NDArray[Any]], n_resamples: int, seed: int
    ) -> Iterator[list[_core.RocCurve]]:
        """Yield the curve of each of several scores for the same resamples of whole groups."""
        weight = np.ones(len(self.positive)) if self.weight is None else self.weight
        for n_drawn in self._draws(n_resamples, seed):
            times = n_drawn[self.codes] * weight
            kept = times > 0
            yield [core_curve(self.positive[kept], own[kept], times[kept]) for own in models]

    def bootstrap_tprs(
        self, fprs: NDArray[np.float64], n_resamples: int, seed: int
    ) -> NDArray[np.float64]:
        """Return the true positive rates of resamples of whole groups, a row for each resample.

        Curves are those of the scores or, beyond 10,000 distinct ones, of as many ranges with about
        equal numbers of rows.
        """
        order = np.argsort(-self.scores, kind="stable")
        ordered = self.scores[order]
        starts = np.flatnonzero(np.r_[True, ordered[1:] != ordered[:-1]])
        if len(starts) > _MOST_KNOTS:
            evenly = np.linspace(0, len(order), _MOST_KNOTS, endpoint=False)
            starts = np.unique(starts[np.searchsorted(starts, evenly, side="right") - 1])
        # The weight of each group at each knot: one pass over the rows of a class for a resample.
        at_knots = [
            self._by_knot(order, starts, is_own) for is_own in (self.positive, ~self.positive)
        ]
        rates = np.empty((n_resamples, len(fprs)))
        for resample, n_drawn in enumerate(self._draws(n_resamples, seed)):
            tpr, fpr = (np.r_[0.0, np.cumsum(own @ n_drawn)] for own in at_knots)
            rates[resample] = np.interp(fprs, fpr / fpr[-1], tpr / tpr[-1])
        return rates

    def _by_knot(
        self, order: NDArray[np.intp], starts: NDArray[np.intp], is_own: NDArray[np.bool_]
    ) -> csr_array:
        """Return the weight of rows of one class, by knot and group.

        Parameters
        ----------
        order : ndarray of int, shape (n_samples,)
            The rows, those of a knot next to one another.
        starts : ndarray of int, shape (n_knots,)
            Position of the first row of each knot.
        is_own : ndarray of bool, shape (n_samples,)
            Rows of the class.
        """
        kept = is_own[order]
        ends = np.r_[0, np.cumsum(kept)][np.r_[starts, len(order)]]
        rows = order[kept]
        weight = np.ones(len(rows)) if self.weight is None else self.weight[rows]
        # Rows of one group at one knot are entries of their own, and add up.
        shape = len(starts), self.n_codes
        return csr_array((weight.astype(np.float64), self.codes[rows], ends), shape=shape)

    def _draws(self, n_resamples: int, seed: int) -> Iterator[NDArray[np.float64]]:
        """Yield how often each group is drawn."""
        has = self._of_classes()
        drawn_from = np.flatnonzero(has[0] | has[1])
        n_groups = len(drawn_from)
        rng = np.random.default_rng(seed)
        while n_resamples:
            n_drawn = np.zeros(self.n_codes)
            drawn = rng.integers(0, n_groups, n_groups)
            n_drawn[drawn_from] = np.bincount(drawn, minlength=n_groups)
            if all(n_drawn[own].any() for own in has):
                n_resamples -= 1
                yield n_drawn


def _unbiased(n_groups: int) -> float:
    return n_groups / (n_groups - 1)


def _mean_clipped(
    low: NDArray[np.float64], high: NDArray[np.float64], least: float, most: float
) -> NDArray[np.float64]:
    """Return the mean of a rate uniform between two others, clipped to a band."""
    of_low, of_high = np.clip(low, least, most), np.clip(high, least, most)
    below = np.maximum(np.minimum(high, least) - low, 0) * least
    above = np.maximum(high - np.maximum(low, most), 0) * most
    total = below + (of_high - of_low) * (of_low + of_high) / 2 + above
    mean = np.divide(total, high - low, where=high > low, out=of_low.copy())
    return np.clip(mean, of_low, of_high)


def _auc_of_ties(pos: NDArray[np.float64], neg: NDArray[np.float64]) -> float:
    """AUC of the weights of both classes at each score, in ascending order."""
    below = np.cumsum(neg) - neg
    return float(pos @ (below + neg / 2) / (pos.sum() * neg.sum()))


def read_groups(groups: ArrayLike, n_rows: int) -> tuple[NDArray[np.intp], int]:
    """Return the number of the group of each row, from 0, and the number of groups.

    Raises
    ------
    ValueError
        If their number differs from that of the rows, or one is missing.
    """
    values = vector(groups, "groups")
    if len(values) != n_rows:
        raise ValueError(f"groups has {len(values)} entries, but y_true has {n_rows}")
    if values.dtype.kind in "iu" and len(values):
        least, most = int(values.min()), int(values.max())
        if most - least < 4 * len(values):
            # Many times as fast as sorting them.
            return (values - values.dtype.type(least)).astype(np.intp), most - least + 1
    factor = factor_of_groups(values)
    # By name, not by first row, so that the draw does not depend on the order of the rows.
    names = [(type(value).__name__, repr(value)) for value in factor.values]
    place = np.empty(len(names), np.intp)
    place[sorted(range(len(names)), key=names.__getitem__)] = np.arange(len(names))
    return place[factor.codes], len(names)
