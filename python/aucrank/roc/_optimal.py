"""The best ROC curve of a known law, and its piecewise linear approximations."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from numbers import Integral, Real
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_scalar

from aucrank.metrics import RocCurve
from aucrank.roc._knots import curve_of_cells, to_masses

_Array = NDArray[np.float64]
_Function = Callable[[_Array], ArrayLike]

# Panels of the quadrature, points in each, and bisections of [0, 1] down to adjacent floats.
_N_PANELS = 1024
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(16)
_N_HALVINGS = 56
# Tolerance for contradictions between the two functions given for one law.
_TOLERANCE = 1e-3


class Knot(NamedTuple):
    """Point of the best ROC curve: the rows with eta(x) >= level."""

    level: float
    fpr: float
    tpr: float


class _Law(Protocol):
    """Law of eta(X): share of positives, tails of the two classes, Gini mean difference."""

    positive_share: float

    @property
    def gini(self) -> float:
        """Mean of abs(eta(X) - eta(X'))."""

    def tails(self, level: _Array) -> tuple[_Array, _Array]:
        """P{eta(X) >= level} among negative and among positive rows."""

    def bracket(self, fpr: _Array) -> tuple[_Array, _Array]:
        """Greatest level at which the tail of the negatives reaches a rate, and the next."""

    def snap(self, level: _Array) -> _Array:
        """Level without rounding error."""


class OptimalROC:
    """Best ROC curve of a law for which eta(X) = P{Y = 1 | X} is known.

    No scoring function has a higher true positive rate at any false positive rate than eta itself
    (Proposition 6 of [1]_), and its curve, ROC*, depends only on the law of eta(X)
    (Corollary 7). Made by :meth:`from_cells`, :meth:`from_sample`, :meth:`from_quantiles` or
    :meth:`from_distributions`, whichever describes that law.

    Call it with false positive rates to get ROC*.

    Attributes
    ----------
    positive_share : float
        Chance p that a row is positive.
    auc_star : float
        Area under ROC*, the largest possible AUC.
    curve : RocCurve or None
        ROC* as a curve with knots; None unless it is piecewise linear, as it is for cells and
        samples.

    See Also
    --------
    aucrank.datasets : Simulations with a known eta.
    PiecewiseConstantScore : The scores whose curves are piecewise linear.

    Notes
    -----
    Write alpha(t) and beta(t) for the shares of negative and positive rows with eta(x) >= t, and
    Q*(alpha) for the level t where alpha(t) = alpha. Then

    - ROC*(alpha) = beta(Q*(alpha)), with straight lines where eta(X) has atoms;
    - its slope is (1 - p) / p * Q*(alpha) / (1 - Q*(alpha)) (Proposition 8 of [1]_), so that ROC*
      is concave;
    - AUC* = 1/2 + E|eta(X) - eta(X')| / (4 p (1 - p)), where the Gini mean difference measures the
      spread of eta(X) (Remark 2 of [2]_).

    References
    ----------
    .. [1] Clémençon and Vayatis, "Approximation of the optimal ROC curve and a tree-based
       ranking algorithm", ALT 2008. :doi:`10.1007/978-3-540-87987-9_7`
    .. [2] Clémençon, Depecker and Vayatis, "Adaptive partitioning schemes for bipartite ranking",
       Machine Learning 83(1), 2011. https://hal.science/hal-00416054

    Examples
    --------
    Half of the rows are positive with chance 0.2, the other half with chance 0.8:

    >>> from aucrank.roc import OptimalROC
    >>> best = OptimalROC.from_cells([0.5, 0.5], [0.2, 0.8])
    >>> best
    OptimalROC(p=0.5, AUC*=0.8)
    >>> float(best(0.2)), round(float(best.derivative(0.1)), 12)
    (0.8, 4.0)

    A law with eta(X) uniform between 0 and 1:

    >>> OptimalROC.from_quantiles(lambda u: u).auc_star
    0.8333...
    """

    def __init__(self, law: _Law, curve: RocCurve | None) -> None:
        self._law = law
        self.curve = curve

    def __repr__(self) -> str:
        return f"OptimalROC(p={self.positive_share:.4g}, AUC*={self.auc_star:.4g})"

    @property
    def positive_share(self) -> float:
        """Chance p that a row is positive."""
        return self._law.positive_share

    @cached_property
    def auc_star(self) -> float:
        """Area under ROC*."""
        if self.curve is not None:
            return self.curve.auc
        p = self.positive_share
        return float(0.5 + self._law.gini / (4 * p * (1 - p)))

    @classmethod
    def from_cells(cls, mass: ArrayLike, eta: ArrayLike) -> OptimalROC:
        """ROC* of a law with eta constant on each of finitely many cells.

        Parameters
        ----------
        mass : array-like of shape (n_cells,)
            Chance of each cell, on any scale.
        eta : array-like of shape (n_cells,)
            Chance that a row of the cell is positive, from 0 to 1.

        Returns
        -------
        OptimalROC
            With a piecewise linear ``curve``.

        Raises
        ------
        ValueError
            If a mass is negative or not finite, an eta is outside [0, 1], or a class has no mass.
        """
        law = _DiscreteLaw(mass, eta)
        return cls(law, law.curve)

    @classmethod
    def from_sample(cls, eta: ArrayLike, *, sample_weight: ArrayLike | None = None) -> OptimalROC:
        """ROC* of the empirical law of values of eta.

        Parameters
        ----------
        eta : array-like of shape (n_samples,)
            Values of eta at rows drawn from the law of X; labels are not needed.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights: a value of weight k counts as k values, one of weight 0 as none.

        Returns
        -------
        OptimalROC
            Of the law that gives each value the same mass. Its AUC* differs from that of the true
            law by O(n^{-1/2}).

        Raises
        ------
        ValueError
            As for :meth:`from_cells`.
        """
        values = np.asarray(eta, dtype=np.float64)
        return cls.from_cells(
            np.ones(values.shape) if sample_weight is None else sample_weight, values
        )

    @classmethod
    def from_quantiles(cls, quantile: _Function) -> OptimalROC:
        """ROC* from the quantile function of eta(X).

        Parameters
        ----------
        quantile : callable
            Takes an array of numbers in (0, 1) and returns the quantiles of eta(X) of these orders,
            which rise and lie in [0, 1].

        Returns
        -------
        OptimalROC
            By quadrature: exact to about 1e-12 for a smooth quantile function, 1e-4 times the jump
            where it jumps.

        Raises
        ------
        ValueError
            If the quantiles fall somewhere, leave [0, 1], or leave a class without mass.
        """
        return cls(_Quantiles(quantile), None)

    @classmethod
    def from_distributions(
        cls, negative: _Function, positive: _Function, *, positive_share: float
    ) -> OptimalROC:
        """ROC* from the distribution functions of eta(X) in the two classes.

        Parameters
        ----------
        negative, positive : callable
            H* and G*: take an array of levels in [0, 1] and return P{eta(X) <= level} among the
            negative and the positive rows. They must be continuous.
        positive_share : float
            Chance p that a row is positive, strictly between 0 and 1.

        Returns
        -------
        OptimalROC
            By quadrature between the least and the greatest value of eta(X).

        Raises
        ------
        ValueError
            If the functions are not distribution functions on [0, 1], or not those of eta(X):
            p G*(dt) = t F(dt) must hold, where F = p G* + (1 - p) H*. (For a score other than eta
            it does not.)
        """
        check_scalar(
            positive_share,
            "positive_share",
            Real,
            min_val=0,
            max_val=1,
            include_boundaries="neither",
        )
        return cls(_Distributions(negative, positive, float(positive_share)), None)

    def __call__(self, fpr: ArrayLike) -> _Array:
        """ROC* at false positive rates in [0, 1], an array of the same shape."""
        rates = _rates(fpr)
        if self.curve is not None:
            return self.curve.tpr_at(rates)
        low, high = self._law.bracket(rates)
        right, above = self._law.tails(low)
        left, below = self._law.tails(high)
        # The two levels are adjacent floats, so this is a line over a jump, or nothing.
        share = np.divide(
            rates - left, right - left, out=np.ones_like(rates), where=right > left
        ).clip(0, 1)
        return below + share * (above - below)

    def derivative(self, fpr: ArrayLike) -> _Array:
        """Slope of ROC* at false positive rates: Proposition 8 of Clémençon and Vayatis (2008).

        Parameters
        ----------
        fpr : float or array-like of any shape
            False positive rates from 0 to 1.

        Returns
        -------
        ndarray
            (1 - p) / p * Q*(fpr) / (1 - Q*(fpr)), infinite where Q* is 1. At a corner of ROC* it
            is the slope to the left, at 0 that to the right.
        """
        level = self.level_at(fpr)
        p = self.positive_share
        with np.errstate(divide="ignore"):
            slope: _Array = (1 - p) / p * level / (1 - level)
        return slope

    def level_at(self, fpr: ArrayLike) -> _Array:
        """Level Q* of eta above which the negative rows have a given mass.

        Parameters
        ----------
        fpr : float or array-like of any shape
            False positive rates from 0 to 1.

        Returns
        -------
        ndarray
            Largest level t with alpha(t) >= fpr; for 0 the largest that a negative row reaches.
        """
        rates = _rates(fpr)
        # Rates that differ from a sum of masses by rounding belong to that sum.
        return self._law.bracket(np.maximum(rates - 1e-15, 5e-324))[0]

    def one_step(self, left: float = 0.0, right: float = 1.0) -> Knot:
        """Knot that improves the chord between two points of ROC* most.

        It is where the tangent is parallel to the chord, that is at the level

            Delta = p (b' - b) / ((1 - p) (a' - a) + p (b' - b))

        for the chord from (a, b) to (a', b'). For the whole curve Delta = p (Proposition 19 of
        [1]_). Of all knots it adds the most area and is farthest above the chord: the gain is the
        largest in both the L1 and the sup norm (Proposition 20). Another knot may leave a smaller
        sup norm of the error.

        Parameters
        ----------
        left, right : float, default=0.0 and 1.0
            False positive rates a < a' of the two ends of the chord.

        Returns
        -------
        Knot
            With fields ``level``, ``fpr`` and ``tpr``: the rows with eta(x) >= level.

        Raises
        ------
        ValueError
            Unless 0 <= left < right <= 1.

        References
        ----------
        .. [1] Clémençon and Vayatis, "Approximation of the optimal ROC curve and a tree-based
           ranking algorithm", ALT 2008. :doi:`10.1007/978-3-540-87987-9_7`
        """
        if not 0 <= left < right <= 1:
            raise ValueError(f"left and right are {left} and {right}, not 0 <= left < right <= 1")
        fpr = np.array([left, right], dtype=np.float64)
        # The whole curve begins at the origin, even if ROC*(0) > 0.
        tpr = np.where(fpr == 0, 0.0, self(fpr))
        level, a, b = self._between(fpr, tpr)
        return Knot(float(level[0]), float(a[0]), float(b[0]))

    def approximate(self, depth: int) -> RocApproximation:
        """Recursive approximation of ROC* by at most 2^depth straight pieces.

        Starts from the diagonal and adds the knot of :meth:`one_step` to every piece, depth times:
        section 3.4 of [1]_. A ranking tree does the same with estimates. Where ROC* has a second
        derivative between two negative bounds, area and sup norm of the error are O(4^-depth)
        (Proposition 15).

        Parameters
        ----------
        depth : int
            Number of rounds, from 0 to 20.

        Returns
        -------
        RocApproximation
            Knots, levels of eta, errors, and the score that has this curve.

        References
        ----------
        .. [1] Clémençon and Vayatis, "Approximation of the optimal ROC curve and a tree-based
           ranking algorithm", ALT 2008. :doi:`10.1007/978-3-540-87987-9_7`

        Examples
        --------
        >>> from aucrank.roc import OptimalROC
        >>> best = OptimalROC.from_cells([1, 1, 1, 1], [0.1, 0.3, 0.6, 0.8])
        >>> best.approximate(1)
        RocApproximation(2 pieces, AUC=0.7525, 0.0505 below AUC*)
        >>> round(best.approximate(2).l1_error, 12)
        0.0
        """
        check_scalar(depth, "depth", Integral, min_val=0, max_val=20)
        level, fpr, tpr = np.array([1.0, 0.0]), np.array([0.0, 1.0]), np.array([0.0, 1.0])
        for _ in range(depth):
            new = self._between(fpr, tpr)
            level, fpr, tpr = (
                np.insert(old, np.arange(1, old.size), values)
                for old, values in zip((level, fpr, tpr), new, strict=True)
            )
            # An empty cell repeats the knot before it.
            full = np.append((np.diff(fpr) > 0) | (np.diff(tpr) > 0), True)
            level, fpr, tpr = level[full], fpr[full], tpr[full]
        return self._approximation(level, fpr, tpr)

    def _approximation(self, level: _Array, fpr: _Array, tpr: _Array) -> RocApproximation:
        """Approximation with the given knots."""
        level[0] = 1.0
        # On each piece ROC* is farthest from the chord where it is parallel to it.
        _, a, b = self._between(fpr, tpr)
        run, rise = np.diff(fpr), np.diff(tpr)
        along = np.divide(a - fpr[:-1], run, out=np.ones_like(run), where=run > 0)
        sup_error = float(max(0.0, np.max(b - (tpr[:-1] + along * rise))))
        curve = curve_of_cells(level[1:], run, rise)
        p = self.positive_share
        cell_eta = p * rise / ((1 - p) * run + p * rise)
        for array in (level, fpr, tpr, cell_eta):
            array.flags.writeable = False
        l1_error = max(0.0, self.auc_star - curve.auc)
        return RocApproximation(fpr, tpr, level, curve.auc, l1_error, sup_error, curve, cell_eta)

    def one_step_sequence(self, n_pieces: int) -> RocApproximation:
        """One-step approximation of ROC* by a number of straight pieces, knot by knot.

        Starts from the diagonal, and adds to the whole curve the knot that adds the most area,
        until there are ``n_pieces``: Definition 18 and section 3.3 of [1]_, for any N.
        :meth:`approximate` cuts every piece in each round, however small the gain.

        Parameters
        ----------
        n_pieces : int
            Number of pieces N, from 1 to 4096. A piece on which ROC* is straight is not cut: there
            may be fewer.

        Returns
        -------
        RocApproximation
            As for :meth:`approximate`.

        References
        ----------
        .. [1] Clémençon and Vayatis, "Approximation of the optimal ROC curve and a tree-based
           ranking algorithm", ALT 2008. :doi:`10.1007/978-3-540-87987-9_7`

        Examples
        --------
        >>> from aucrank.roc import OptimalROC
        >>> best = OptimalROC.from_cells([1, 1, 1, 1], [0.1, 0.3, 0.6, 0.8])
        >>> best.one_step_sequence(3)
        RocApproximation(3 pieces, AUC=0.7778, 0.0253 below AUC*)
        """
        check_scalar(n_pieces, "n_pieces", Integral, min_val=1, max_val=4096)
        level, fpr, tpr = np.array([1.0, 0.0]), np.array([0.0, 1.0]), np.array([0.0, 1.0])
        between, gain = self._gains(fpr, tpr)
        while fpr.size <= n_pieces:
            piece = int(np.argmax(gain))
            # Rounding error of a straight piece.
            if gain[piece] <= 1e-15:
                break
            at = piece + 1
            level, fpr, tpr = (
                np.insert(old, at, new[piece])
                for old, new in zip((level, fpr, tpr), between, strict=True)
            )
            two, gains = self._gains(fpr[piece : at + 2], tpr[piece : at + 2])
            between = tuple(
                np.concatenate((old[:piece], new, old[at:]))
                for old, new in zip(between, two, strict=True)
            )
            gain = np.concatenate((gain[:piece], gains, gain[at:]))
        return self._approximation(level, fpr, tpr)

    def _gains(self, fpr: _Array, tpr: _Array) -> tuple[tuple[_Array, ...], _Array]:
        """Level and rates of the one-step knot of each piece, and the area that it adds."""
        between = self._between(fpr, tpr)
        _, a, b = between
        run, rise = np.diff(fpr), np.diff(tpr)
        return between, 0.5 * (run * (b - tpr[:-1]) - (a - fpr[:-1]) * rise)

    def _between(self, fpr: _Array, tpr: _Array) -> tuple[_Array, _Array, _Array]:
        """Level and rates of the one-step knot of each piece."""
        p, run, rise = self.positive_share, np.diff(fpr), np.diff(tpr)
        level = self._law.snap(p * rise / ((1 - p) * run + p * rise))
        a, b = self._law.tails(level)
        # A level is a mean of eta over the piece; rounding must not move it past the ends.
        return level, np.clip(a, fpr[:-1], fpr[1:]), np.clip(b, tpr[:-1], tpr[1:])


@dataclass(frozen=True, eq=False, repr=False)
class RocApproximation:
    """Piecewise linear approximation of ROC* from below.

    Made by :meth:`OptimalROC.approximate` or :meth:`OptimalROC.one_step_sequence`.

    Attributes
    ----------
    fpr, tpr : ndarray of shape (n_pieces + 1,)
        Knots, from (0, 0) to (1, 1), all on ROC*; read-only.
    levels : ndarray of shape (n_pieces + 1,)
        Levels Delta of eta, falling from 1 to 0: knot k is that of the rows with eta(x) >=
        levels[k], except knot 0, which has no rows; read-only. (The papers swap the two ends.)
    auc : float
        Area under the approximation.
    l1_error : float
        AUC* less ``auc``, the area between the two curves.
    sup_error : float
        Largest difference of true positive rates at one false positive rate.
    curve : RocCurve
        The approximation as a curve; the thresholds are levels of eta.
    cell_eta : ndarray of shape (n_pieces,)
        Share of positives of the rows of each piece, falling: the level at which the piece would be
        cut next (Delta of Remark 7); read-only.
    """

    fpr: _Array
    tpr: _Array
    levels: _Array
    auc: float
    l1_error: float
    sup_error: float
    curve: RocCurve
    cell_eta: _Array

    def __repr__(self) -> str:
        return (
            f"RocApproximation({self.fpr.size - 1} pieces, AUC={self.auc:.4g}, "
            f"{self.l1_error:.3g} below AUC*)"
        )

    def score(self, eta: ArrayLike) -> NDArray[np.int64]:
        """Score of rows whose ROC curve is this one: the sum over cells of section 3.4.

        Parameters
        ----------
        eta : array-like of any shape
            Values of eta, from 0 to 1.

        Returns
        -------
        ndarray of int
            K for rows of the first of K pieces, 1 for rows of the last.
        """
        values = _unit_interval(np.asarray(eta, dtype=np.float64), "eta")
        inner = self.levels[-2:0:-1]
        ranks: NDArray[np.int64] = 1 + np.searchsorted(inner, values, side="right")
        return ranks

    def approximate_eta(self, eta: ArrayLike) -> _Array:
        """Step function that approximates eta: Remark 7 of Clémençon and Vayatis (2008).

        Parameters
        ----------
        eta : array-like of any shape
            Values of eta, from 0 to 1.

        Returns
        -------
        ndarray
            The share of positives of the piece that contains that eta.
        """
        shares: _Array = self.cell_eta[self.cell_eta.size - self.score(eta)]
        return shares


class _DiscreteLaw:
    """Law with finitely many values of eta."""

    def __init__(self, mass: ArrayLike, eta: ArrayLike) -> None:
        values = _unit_interval(np.asarray(eta, dtype=np.float64), "eta")
        masses = to_masses(mass, "mass")
        if values.shape != masses.shape:
            raise ValueError(f"mass has shape {masses.shape}, but eta has shape {values.shape}")
        values, masses = values[masses > 0], masses[masses > 0]
        self._eta, cell = np.unique(values, return_inverse=True)
        # Best first, in the order of the curve.
        self._eta = self._eta[::-1]
        mass_of = np.bincount(cell, masses / masses.sum())[::-1]
        negative, positive = mass_of * (1 - self._eta), mass_of * self._eta
        # Relative to their sum, which is 1 up to rounding: a class without mass has none.
        n_pos, n_neg = float(positive.sum()), float(negative.sum())
        self.positive_share = _proper_share(n_pos / (n_pos + n_neg))
        self.curve = curve_of_cells(self._eta, negative, positive)
        self._fpr, self._tpr = self.curve.fpr, self.curve.tpr

    @property
    def gini(self) -> float:
        p = self.positive_share
        return 4 * p * (1 - p) * (self.curve.auc - 0.5)

    def tails(self, level: _Array) -> tuple[_Array, _Array]:
        knot = np.searchsorted(-self._eta, -level, side="right")
        return self._fpr[knot], self._tpr[knot]

    def bracket(self, fpr: _Array) -> tuple[_Array, _Array]:
        cell = np.searchsorted(self._fpr, fpr).clip(1) - 1
        level = self._eta[cell]
        return level, np.nextafter(level, 2)

    def snap(self, level: _Array) -> _Array:
        # A mean of equal values differs from them only by rounding.
        cell = np.searchsorted(-self._eta, -level * (1 - 1e-14), side="right") - 1
        return np.where(cell >= 0, np.minimum(level, self._eta[cell]), level)


class _Continuous(ABC):
    """Base of laws without a list of atoms."""

    @abstractmethod
    def tails(self, level: _Array) -> tuple[_Array, _Array]:
        """P{eta(X) >= level} among negative and among positive rows."""

    def bracket(self, fpr: _Array) -> tuple[_Array, _Array]:
        low, high = np.zeros(fpr.shape), np.full(fpr.shape, np.nextafter(1, 2))
        for _ in range(_N_HALVINGS):
            middle = 0.5 * (low + high)
            reached = self.tails(middle)[0] >= fpr
            low, high = np.where(reached, middle, low), np.where(reached, high, middle)
        return low, high

    def snap(self, level: _Array) -> _Array:
        return level


class _Quantiles(_Continuous):
    """Law whose quantile function is known."""

    def __init__(self, quantile: _Function) -> None:
        self._quantile = quantile
        self._edges = np.linspace(0, 1, _N_PANELS + 1)
        nodes, integrals = self._integrals(self._edges[:-1], self._edges[1:])
        values = self._values(nodes).ravel()
        if not np.all(np.diff(values) >= -1e-12):
            raise ValueError("quantile falls somewhere, but must rise from 0 to 1")
        # Mass of the positive rows above each edge.
        self._above = np.append(np.cumsum(integrals[::-1])[::-1], 0.0)
        self.positive_share = _proper_share(float(self._above[0]))
        weights = np.tile(_WEIGHTS / 2, _N_PANELS) / _N_PANELS
        self.gini = float(2 * np.sum(weights * (2 * nodes.ravel() - 1) * values))

    def _values(self, u: _Array) -> _Array:
        # At 0 and 1 themselves a quantile may be infinite, or not defined.
        inside = np.clip(u, 1e-300, np.nextafter(1, 0))
        values = np.asarray(self._quantile(inside), dtype=np.float64)
        return _unit_interval(np.broadcast_to(values, u.shape), "quantile")

    def _integrals(self, start: _Array, stop: _Array) -> tuple[_Array, _Array]:
        """Points between two orders, and the integral of the quantile function."""
        half = (stop - start)[..., np.newaxis] / 2
        nodes = start[..., np.newaxis] + half * (1 + _NODES)
        return nodes, np.sum(_WEIGHTS * half * self._values(nodes), axis=-1)

    def tails(self, level: _Array) -> tuple[_Array, _Array]:
        low, high = np.zeros(level.shape), np.ones(level.shape)
        for _ in range(_N_HALVINGS):
            middle = 0.5 * (low + high)
            reached = self._values(middle) >= level
            low, high = np.where(reached, low, middle), np.where(reached, middle, high)
        return self._rates_above(high)

    def _rates_above(self, u: _Array) -> tuple[_Array, _Array]:
        """Shares of the two classes among the rows above a quantile."""
        panel = np.searchsorted(self._edges, u, side="left").clip(0, _N_PANELS)
        positive = self._integrals(u, self._edges[panel])[1] + self._above[panel]
        p = self.positive_share
        alpha, beta = (1 - u - positive) / (1 - p), positive / p
        return alpha.clip(0, 1), beta.clip(0, 1)

    def bracket(self, fpr: _Array) -> tuple[_Array, _Array]:
        # One search over quantiles instead of two nested ones.
        low, high = np.zeros(fpr.shape), np.ones(fpr.shape)
        for _ in range(_N_HALVINGS):
            middle = 0.5 * (low + high)
            reached = self._rates_above(middle)[0] >= fpr
            low, high = np.where(reached, middle, low), np.where(reached, high, middle)
        level = self._values(low)
        return level, np.nextafter(level, 2)


class _Distributions(_Continuous):
    """Law whose distribution functions in the two classes are known."""

    def __init__(self, negative: _Function, positive: _Function, positive_share: float) -> None:
        self._functions = negative, positive
        self.positive_share = p = positive_share
        # Panels only over the support: its ends are the usual kinks.
        low, high = self._support()
        edges = np.linspace(low, high, _N_PANELS + 1)
        half = (high - low) / _N_PANELS / 2
        nodes = edges[:-1, np.newaxis] + half * (1 + _NODES)
        alpha, beta = self.tails(nodes)
        above = (1 - p) * alpha + p * beta
        self.gini = float(2 * half * np.sum(_WEIGHTS * above * (1 - above)))
        # p beta(t) = E[eta; eta >= t] = t P{eta >= t} + the integral of P{eta >= u} over u > t.
        beyond = np.append(np.cumsum(np.sum(_WEIGHTS * half * above, axis=1)[::-1])[::-1], 0.0)
        alpha, beta = self.tails(edges)
        if np.any(np.diff(alpha) > 1e-9) or np.any(np.diff(beta) > 1e-9):
            raise ValueError("a distribution function falls somewhere")
        gap = p * beta - edges * ((1 - p) * alpha + p * beta) - beyond
        if np.max(np.abs(gap)) > _TOLERANCE:
            at = edges[np.argmax(np.abs(gap))]
            raise ValueError(
                "negative and positive are not the distribution functions of eta(X) with "
                f"positive_share={p}: E[eta(X); eta(X) >= t] is not P{{eta(X) >= t, Y = 1}} "
                f"at t = {at:.4g}"
            )

    def _support(self) -> tuple[float, float]:
        """Levels between which the two distribution functions rise."""
        ends = []
        for bound in (0.0, np.nextafter(2, 0)):
            low, high = 0.0, 1.0
            for _ in range(60):
                middle = 0.5 * (low + high)
                alpha, beta = self.tails(np.array([middle]))
                if 2 - alpha[0] - beta[0] > bound:
                    high = middle
                else:
                    low = middle
            ends.append((low, high))
        return ends[0][0], ends[1][1]

    def tails(self, level: _Array) -> tuple[_Array, _Array]:
        level = np.minimum(level, 1)
        values = [np.asarray(f(level), dtype=np.float64) for f in self._functions]
        alpha, beta = (
            1 - _unit_interval(np.broadcast_to(value, level.shape), name)
            for value, name in zip(values, ("negative", "positive"), strict=True)
        )
        return alpha, beta


def _proper_share(share: float) -> float:
    if not 0 < share < 1:
        raise ValueError(f"the share of positives is {share:.4g}: a class has no mass")
    return share


def _unit_interval(values: _Array, name: str) -> _Array:
    bad = ~((values >= 0) & (values <= 1))
    if bad.any():
        raise ValueError(f"{name} is {values[bad].flat[0]} somewhere, but must be from 0 to 1")
    return values


def _rates(fpr: ArrayLike) -> _Array:
    return _unit_interval(np.asarray(fpr, dtype=np.float64), "fpr")
