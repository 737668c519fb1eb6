"""Piecewise constant scoring functions in three representations."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Real

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_scalar

from aucrank.metrics import RocCurve
from aucrank.roc._knots import curve_of_cells, to_masses


@dataclass(frozen=True, eq=False, repr=False)
class PiecewiseConstantScore:
    """Score with one value on each cell of a partition.

    The cells are numbered from 0 to K - 1, and the score is given by its values on them. It has
    three representations, each read by a class method and returned by a method:

    - D, disjoint: falling values a_1 > ... > a_N, each on a set C_j of cells (Definition 12 and 14
      of [1]_); :meth:`from_disjoint`, :meth:`to_disjoint`;
    - I, increasing: the number of sets of a growing sequence R_1, ..., R_N that hold the cell
      (Definition 17 of [1]_), so that C_j is R_j without R_{j-1}; :meth:`from_increasing`,
      :meth:`to_increasing`;
    - (P, sigma): the cells in ranking order, best first (Definition 3 of [2]_);
      :meth:`from_permutation`, :meth:`to_permutation`.

    Only the order of the values matters for the ROC curve (Proposition 13 of [1]_).

    Parameters
    ----------
    values : array-like of shape (n_cells,)
        The score on each cell, finite; cells with equal values are tied.

    Attributes
    ----------
    values : ndarray of shape (n_cells,)
        The score on each cell; read-only.
    n_cells : int
        Number of cells, K.
    n_levels : int
        Number of distinct values, N.

    See Also
    --------
    OptimalROC.one_step_sequence : The score whose curve approximates ROC* best, knot by knot.

    References
    ----------
    .. [1] Clémençon and Vayatis, "Approximation of the optimal ROC curve and a tree-based
       ranking algorithm", ALT 2008. :doi:`10.1007/978-3-540-87987-9_7`
    .. [2] Clémençon, Depecker and Vayatis, "Adaptive partitioning schemes for bipartite ranking",
       Machine Learning 83(1), 2011. https://hal.science/hal-00416054

    Examples
    --------
    Four cells and the numbers of negative and of positive rows in each:

    >>> from aucrank.roc import PiecewiseConstantScore
    >>> negative, positive = [2, 1, 3, 4], [4, 3, 2, 1]
    >>> PiecewiseConstantScore([4, 3, 2, 1]).auc(negative, positive)
    0.715
    >>> best = PiecewiseConstantScore.best(negative, positive)
    >>> best.to_permutation()
    array([1, 0, 2, 3])
    >>> best.auc(negative, positive)
    0.735
    """

    values: NDArray[np.float64]

    def __post_init__(self) -> None:
        values = np.array(self.values, dtype=np.float64)
        if values.ndim != 1 or not values.size or not np.isfinite(values).all():
            raise ValueError("values must hold one finite number for each cell")
        values.flags.writeable = False
        object.__setattr__(self, "values", values)

    def __repr__(self) -> str:
        return f"PiecewiseConstantScore({self.n_cells} cells, {self.n_levels} levels)"

    @property
    def n_cells(self) -> int:
        """Number of cells, K."""
        return self.values.size

    @property
    def n_levels(self) -> int:
        """Number of distinct values, N."""
        return int(np.unique(self.values).size)

    @classmethod
    def from_disjoint(cls, values: ArrayLike, cells: Sequence[ArrayLike]) -> PiecewiseConstantScore:
        """Score from its D-representation.

        Parameters
        ----------
        values : array-like of shape (n_levels,)
            Falling values a_1 > ... > a_N.
        cells : sequence of array-likes of int
            For each value the numbers of its cells; each cell is in one set.

        Returns
        -------
        PiecewiseConstantScore
            The sum over j of a_j on the cells of C_j.

        Raises
        ------
        ValueError
            If the values do not fall, or the sets are not a partition of 0, ..., K - 1.
        """
        falling = np.asarray(values, dtype=np.float64)
        if falling.ndim != 1 or not np.all(falling[1:] < falling[:-1]):
            raise ValueError("values must fall strictly")
        sets = [np.atleast_1d(np.asarray(members, dtype=np.intp)) for members in cells]
        if len(sets) != falling.size or not all(members.size for members in sets):
            raise ValueError(f"there are {falling.size} values for {len(sets)} sets of cells")
        numbers = np.concatenate(sets)
        if not np.array_equal(np.sort(numbers), np.arange(numbers.size)):
            raise ValueError("cells must hold each of the numbers 0, ..., K - 1 once")
        of_cell = np.empty(numbers.size)
        of_cell[numbers] = np.repeat(falling, [members.size for members in sets])
        return cls(of_cell)

    def to_disjoint(self) -> tuple[NDArray[np.float64], list[NDArray[np.intp]]]:
        """D-representation: the distinct values, falling, and the cells of each.

        Returns
        -------
        values : ndarray of shape (n_levels,)
            The values a_1 > ... > a_N.
        cells : list of ndarrays of int
            The numbers of the cells of C_1, ..., C_N.
        """
        values = np.unique(self.values)[::-1]
        return values, [np.flatnonzero(self.values == value) for value in values]

    @classmethod
    def from_increasing(cls, sets: ArrayLike) -> PiecewiseConstantScore:
        """Score from its I-representation.

        Parameters
        ----------
        sets : array-like of bool of shape (n_sets, n_cells)
            Row j says which cells are in R_j. Each set holds the one before, the last all cells.

        Returns
        -------
        PiecewiseConstantScore
            The number of sets that hold the cell.

        Raises
        ------
        ValueError
            If the sets do not grow to all cells.
        """
        members = np.asarray(sets, dtype=bool)
        if members.ndim != 2 or not members.size:
            raise ValueError(f"sets must have shape (n_sets, n_cells), got {members.shape}")
        if not members[-1].all() or (members[:-1] & ~members[1:]).any():
            raise ValueError("each set must hold the one before it, and the last one all cells")
        return cls(members.sum(axis=0))

    def to_increasing(self) -> NDArray[np.bool_]:
        """I-representation: the cells of the best level, of the best two, and so on.

        Returns
        -------
        ndarray of bool of shape (n_levels, n_cells)
            Row j says which cells are in R_j. Their number of sets is the score up to a change of
            scale, with the values 1 to N.
        """
        values: NDArray[np.float64] = np.unique(self.values)[::-1, np.newaxis]
        return self.values >= values

    @classmethod
    def from_permutation(
        cls, sigma: ArrayLike, values: ArrayLike | None = None
    ) -> PiecewiseConstantScore:
        """Score from its (P, sigma)-representation.

        Parameters
        ----------
        sigma : array-like of int of shape (n_cells,)
            Numbers of the cells in ranking order, best first.
        values : array-like of shape (n_cells,), default=None
            Falling values for the cells in that order; ``None`` gives them K, ..., 1.

        Returns
        -------
        PiecewiseConstantScore
            Without ties.

        Raises
        ------
        ValueError
            If sigma does not hold 0, ..., K - 1 once each, or the values do not fall.
        """
        order = np.asarray(sigma, dtype=np.intp)
        if order.ndim != 1 or not np.array_equal(np.sort(order), np.arange(order.size)):
            raise ValueError("sigma must hold each of the numbers 0, ..., K - 1 once")
        if values is None:
            values = np.arange(order.size, 0, -1)
        return cls.from_disjoint(values, list(order[:, np.newaxis]))

    def to_permutation(self) -> NDArray[np.intp]:
        """(P, sigma)-representation: the cells in ranking order.

        Returns
        -------
        ndarray of int of shape (n_cells,)
            Numbers of the cells, best first.

        Raises
        ------
        ValueError
            If two cells are tied: a permutation cannot represent ties.
        """
        if self.n_levels < self.n_cells:
            raise ValueError("cells are tied: join the cells of each level into one first")
        return np.argsort(-self.values, kind="stable")

    def __call__(self, cells: ArrayLike) -> NDArray[np.float64]:
        """Score of rows from the numbers of the cells that they are in."""
        numbers = np.asarray(cells)
        if numbers.dtype.kind not in "iu":
            raise TypeError(f"cells must be whole numbers, got {numbers.dtype}")
        outside = (numbers < 0) | (numbers >= self.n_cells)
        if outside.any():
            raise ValueError(f"cell {numbers[outside][0]} is not one of 0, ..., {self.n_cells - 1}")
        scores: NDArray[np.float64] = self.values[numbers]
        return scores

    def roc(self, negative: ArrayLike, positive: ArrayLike) -> RocCurve:
        """ROC curve where the law of each class over the cells is known.

        It joins the points of the cells in ranking order, each alpha(C) to the right and beta(C) up
        from the last: Proposition 2 (i) of Clémençon, Depecker and Vayatis (2011).

        Parameters
        ----------
        negative, positive : array-like of shape (n_cells,)
            Masses alpha(C) and beta(C) of the cells in the two classes, on any scale. Whole numbers
            are taken as counts and stay exact, others to 2^-53 of their sum.

        Returns
        -------
        RocCurve
            With a knot for each level.

        Raises
        ------
        ValueError
            If a mass is negative, NaN or infinite, a class has none, or the number of cells is
            wrong.
        """
        alpha = to_masses(negative, "negative", self.n_cells)
        beta = to_masses(positive, "positive", self.n_cells)
        order = np.argsort(-self.values, kind="stable")
        return curve_of_cells(self.values[order], alpha[order], beta[order])

    def auc(self, negative: ArrayLike, positive: ArrayLike) -> float:
        """Area under :meth:`roc`: equation (4) of Clémençon, Depecker and Vayatis (2011).

        Parameters
        ----------
        negative, positive : array-like of shape (n_cells,)
            As for :meth:`roc`.

        Returns
        -------
        float
            From 0 to 1; pairs of rows of one level count one half.
        """
        return self.roc(negative, positive).auc

    def eta(
        self, negative: ArrayLike, positive: ArrayLike, *, positive_share: float | None = None
    ) -> NDArray[np.float64]:
        """Share of positives of the level of each cell.

        It is the chance that a row is positive given its score: the best approximation of eta by a
        function of the score.

        Parameters
        ----------
        negative, positive : array-like of shape (n_cells,)
            As for :meth:`roc`.
        positive_share : float or None, default=None
            Chance p that a row is positive, strictly between 0 and 1. None takes the masses as
            counts, on the same scale for both classes.

        Returns
        -------
        ndarray of shape (n_cells,)
            p beta / ((1 - p) alpha + p beta), with the masses of all cells of the level; NaN where
            these are 0.

        Raises
        ------
        ValueError
            As for :meth:`roc`, or if ``positive_share`` is out of its range.

        Examples
        --------
        >>> from aucrank.roc import PiecewiseConstantScore
        >>> PiecewiseConstantScore([2, 1, 1]).eta([1, 3, 3], [3, 1, 1])
        array([0.75, 0.25, 0.25])
        """
        alpha = to_masses(negative, "negative", self.n_cells)
        beta = to_masses(positive, "positive", self.n_cells)
        if positive_share is not None:
            check_scalar(
                positive_share,
                "positive_share",
                Real,
                min_val=0,
                max_val=1,
                include_boundaries="neither",
            )
            alpha = (1 - positive_share) * alpha / alpha.sum()
            beta = positive_share * beta / beta.sum()
        level = np.unique(self.values, return_inverse=True)[1]
        n_neg, n_pos = np.bincount(level, alpha), np.bincount(level, beta)
        total = n_neg + n_pos
        share = np.divide(n_pos, total, out=np.full(total.shape, np.nan), where=total > 0)
        shares: NDArray[np.float64] = share[level]
        return shares

    @classmethod
    def best(cls, negative: ArrayLike, positive: ArrayLike) -> PiecewiseConstantScore:
        """Score of largest AUC among all that are constant on each cell.

        It ranks the cells by falling beta(C) / alpha(C): Theorem 1 of Clémençon, Depecker and
        Vayatis (2011). Its ROC curve is the concave one.

        Parameters
        ----------
        negative, positive : array-like of shape (n_cells,)
            As for :meth:`roc`.

        Returns
        -------
        PiecewiseConstantScore
            With the values K, ..., 1. For equal ratios the lower number comes first; a cell without
            negative mass ranks at the top, one without any mass at the bottom.
        """
        alpha = to_masses(negative, "negative")
        beta = to_masses(positive, "positive", alpha.size)
        # Masses as shares of their class, and the ratio as a share: no division by zero.
        alpha, beta = alpha / alpha.sum(), beta / beta.sum()
        total = alpha + beta
        share = np.divide(beta, total, out=np.full(total.shape, -1.0), where=total > 0)
        return cls.from_permutation(np.argsort(-share, kind="stable"))

    def swapped(self, k: int) -> PiecewiseConstantScore:
        """Score with the cells of two neighbouring ranks exchanged.

        Parameters
        ----------
        k : int
            Rank of the upper cell, from 0 to K - 2.

        Returns
        -------
        PiecewiseConstantScore
            The same values, except on two cells.

        Raises
        ------
        ValueError
            If ``k`` is out of range, or cells are tied.
        """
        upper, lower = self._neighbours(k)
        values = self.values.copy()
        values[[upper, lower]] = values[[lower, upper]]
        return type(self)(values)

    def swap_change(self, k: int, negative: ArrayLike, positive: ArrayLike) -> float:
        """AUC of :meth:`swapped` less that of this score.

        Only the positive-negative pairs across the two cells are reversed. With the masses as
        shares of their class,

            change = alpha(C_k) beta(C_{k+1}) - alpha(C_{k+1}) beta(C_k).

        Lemma 2 of Clémençon, Depecker and Vayatis (2011) prints this with a factor 1/2 and, in the
        proof, the other sign.

        Parameters
        ----------
        k : int
            Rank of the upper cell, from 0 to K - 2.
        negative, positive : array-like of shape (n_cells,)
            As for :meth:`roc`.

        Returns
        -------
        float
            Positive if the exchange increases the AUC.
        """
        upper, lower = self._neighbours(k)
        alpha = to_masses(negative, "negative", self.n_cells)
        beta = to_masses(positive, "positive", self.n_cells)
        turned = alpha[upper] * beta[lower] - alpha[lower] * beta[upper]
        return float(turned / (alpha.sum() * beta.sum()))

    def _neighbours(self, k: int) -> tuple[int, int]:
        order = self.to_permutation()
        if not 0 <= k < self.n_cells - 1:
            raise ValueError(f"k is {k}, but ranks with a neighbour below are 0 to K - 2")
        return int(order[k]), int(order[k + 1])
