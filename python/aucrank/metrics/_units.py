"""Sampling units: rows or groups of rows that were drawn independently."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from aucrank._data.labels import rows_of_greater
from aucrank._data.scores import row_probabilities, to_scores
from aucrank._data.vectors import vector
from aucrank._data.weights import check_weight, to_weights
from aucrank.metrics._clustered import read_groups
from aucrank.metrics._weighting import Weighting, are_counts, scaled


@dataclass(frozen=True, eq=False)
class Units:
    """Rows of a sample with their weights and groups.

    Attributes
    ----------
    positive : ndarray of bool, shape (n_samples,)
        Rows of the positive class.
    weight : ndarray of float64, shape (n_samples,)
        Their weights.
    codes : ndarray of int, shape (n_samples,), or None
        The group of each; None without groups.
    n_codes : int
        Number of codes; some may have no rows.
    is_counted : bool
        Whether a row of weight k counts as k rows.
    unit : float
        What the weights are in, 1 unless they were very large or very small.
    """

    positive: NDArray[np.bool_]
    weight: NDArray[np.float64]
    codes: NDArray[np.intp] | None
    n_codes: int
    is_counted: bool
    unit: float = 1.0

    @classmethod
    def of(
        cls,
        y_true: ArrayLike,
        sample_weight: ArrayLike | None,
        weights: Weighting,
        groups: ArrayLike | None,
    ) -> Units:
        """Read labels, weights and groups.

        Raises
        ------
        ValueError
            For labels not of two classes, weights that are negative, infinite or all 0 in a class,
            frequencies that are not whole, and groups with a missing value.
        """
        positive = rows_of_greater(vector(y_true, "y_true"), any_labels=True)
        is_counted = are_counts(weights, sample_weight)
        units = cls.of_rows(positive, sample_weight, groups, is_counted=is_counted)
        for rows, name in ((positive, "positive"), (~positive, "negative")):
            if not units.weight[rows].any():
                raise ValueError(f"sample_weight is zero for every row of the {name} class")
        return units

    @classmethod
    def of_rows(
        cls,
        positive: NDArray[np.bool_],
        sample_weight: ArrayLike | None,
        groups: ArrayLike | None,
        *,
        is_counted: bool = False,
    ) -> Units:
        """Read weights and groups of rows, which may be of one class.

        Raises
        ------
        ValueError
            As for `of`, for weights and groups.
        """
        weight, unit = np.ones(len(positive)), 1.0
        if sample_weight is not None:
            checked = check_weight(to_weights(sample_weight), len(positive))
            assert checked is not None
            weight, unit = scaled(checked)
        codes, n_codes = None, 0
        if groups is not None:
            codes, n_codes = read_groups(groups, len(positive))
        return cls(positive, weight, codes, n_codes, is_counted, unit)

    def probabilities(self, values: ArrayLike, name: str) -> NDArray[np.float64]:
        """Read a probability of the positive class for each row.

        Raises
        ------
        ValueError
            If their number differs from that of the rows, or one is missing or not from 0 to 1.
        """
        return row_probabilities(values, name, len(self.positive), "y_true")

    def scores(self, values: ArrayLike, name: str) -> NDArray[np.float64]:
        """Read a score of each row.

        Raises
        ------
        ValueError
            If their number differs from that of the rows, or one is NaN.
        """
        array = np.asarray(to_scores(values)[0], dtype=np.float64)
        if len(array) != len(self.positive):
            raise ValueError(
                f"{name} has {len(array)} entries, but y_true has {len(self.positive)}"
            )
        if np.isnan(array).any():
            raise ValueError(f"{name} of row {int(np.isnan(array).argmax())} is NaN")
        return array

    def given(self, sums: ArrayLike) -> NDArray[np.float64]:
        """Return sums of weights in the unit of the weights that were given."""
        with np.errstate(over="ignore"):
            return np.asarray(sums, dtype=np.float64) * self.unit

    def mean(self, values: NDArray[np.float64] | NDArray[np.bool_]) -> float:
        """Return the weighted mean of a value of each row."""
        return float(self.weight @ values / self.weight.sum())

    def take(self, rows: NDArray[np.intp]) -> Units:
        """Return some of the rows, in an order."""
        codes = None if self.codes is None else self.codes[rows]
        positive, weight = self.positive[rows], self.weight[rows]
        return replace(self, positive=positive, weight=weight, codes=codes)

    def arranged(
        self, *values: NDArray[np.float64]
    ) -> tuple[Units, tuple[NDArray[np.float64], ...]]:
        """Return rows and values of each in an order that depends only on their content.

        Draws by position then do not depend on the original order. A row of frequency k is k rows,
        one of weight 0 is none.
        """
        order = np.lexsort((self.weight, self.positive, *values))
        order = order[self.weight[order] > 0]
        weight = self.weight[order]
        if self.is_counted:
            order = np.repeat(order, weight.astype(np.intp))
            weight = np.ones(len(order))
        codes = None if self.codes is None else self.codes[order]
        positive = self.positive[order]
        units = replace(self, positive=positive, weight=weight, codes=codes, is_counted=False)
        return units, tuple(own[order] for own in values)

    def quantiles(
        self, values: NDArray[np.float64], levels: ArrayLike, *, is_sorted: bool = False
    ) -> NDArray[np.float64]:
        """Return the least values that at least the given shares of the weight do not exceed."""
        order = np.arange(len(values)) if is_sorted else np.argsort(values)
        order = order[self.weight[order] > 0]
        reached = np.cumsum(self.weight[order])
        # A share that is reached up to rounding is reached.
        wanted = np.asarray(levels) * reached[-1] * (1 - 4 * np.finfo(np.float64).eps)
        return np.asarray(values[order[np.searchsorted(reached, wanted)]])

    def n_effective(self, rows: NDArray[np.bool_]) -> float:
        """Return Kish's effective number of some rows, (Σw)² / Σw², or of all copies of them."""
        weight = self.weight[rows]
        return float(weight.sum() if self.is_counted else weight.sum() ** 2 / (weight @ weight))

    def squares(self) -> NDArray[np.float64]:
        """Return the factor of each row's square in a sum of squares."""
        return self.weight if self.is_counted else self.weight**2

    def n_units(self) -> float:
        """Return the number of rows, or groups, that were drawn."""
        if self.codes is not None:
            return float(np.count_nonzero(np.bincount(self.codes, self.weight)))
        return float(self.weight.sum() if self.is_counted else np.count_nonzero(self.weight))

    def correction(self) -> float:
        """Return n / (n - 1) for the number n of rows, or groups, that were drawn.

        Raises
        ------
        ValueError
            If there is one group.
        """
        n_units = self.n_units()
        if n_units < 2:
            raise ValueError("all rows are of one group, so that nothing is known of others")
        return n_units / (n_units - 1)

    def covariance(self, influence: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the covariance of means, given the deviation of each row.

        Parameters
        ----------
        influence : ndarray of shape (n_samples, n_means)
            Deviation of each row's value from the mean; the weighted sum is 0.

        Returns
        -------
        ndarray of shape (n_means, n_means)
            For a sample of as many rows, or groups, drawn independently.
        """
        if self.codes is None:
            inner = np.asarray((influence * self.squares()[:, np.newaxis]).T @ influence)
        else:
            weighted = influence * self.weight[:, np.newaxis]
            sums = np.column_stack(
                [np.bincount(self.codes, column, self.n_codes) for column in weighted.T]
            )
            inner = np.asarray(sums.T @ sums, dtype=np.float64)
        total = float(self.weight.sum())
        return np.asarray(self.correction() * inner / total**2)

    def redraw(self, rng: np.random.Generator) -> NDArray[np.float64]:
        """Return the factor of the weight of each row in a resample.

        Rows are drawn within each class; groups from all of them, again if a class is absent.
        """
        if self.codes is not None:
            units = np.flatnonzero(np.bincount(self.codes, self.weight) > 0)
            while True:
                drawn = np.bincount(rng.choice(units, len(units)), minlength=self.n_codes)
                times = drawn[self.codes].astype(np.float64)
                kept = (times > 0) & (self.weight > 0)
                if kept[self.positive].any() and kept[~self.positive].any():
                    return times
        times = np.zeros(len(self.positive))
        for of_class in (self.positive, ~self.positive):
            rows = np.flatnonzero(of_class & (self.weight > 0))
            if self.is_counted:
                weight = self.weight[rows]
                drawn = rng.multinomial(int(weight.sum()), weight / weight.sum())
                times[rows] = drawn / weight
            else:
                times[rows] = np.bincount(
                    rng.integers(len(rows), size=len(rows)), minlength=len(rows)
                )
        return times
