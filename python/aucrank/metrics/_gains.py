"""Cumulative gains and lift: what the highest scores hold."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from aucrank._data.table import Table
from aucrank._plots import gains as _plot
from aucrank._utils.keywords import suggests_keywords
from aucrank.metrics._curve import RocCurve
from aucrank.metrics._units import Units

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from aucrank._plots.gains import GainsCurveDisplay

#: Shares of the rows at which `GainsCurve.at` gives gains by default.
TOP_SHARES = (0.01, 0.02, 0.05, *(tenth / 10 for tenth in range(1, 11)))


@dataclass(frozen=True, eq=False)
class GainsCurve:
    """Gains of the highest scoring rows, as :func:`gains_curve` returns them.

    A knot for each distinct score, linear in between: if a share ends within tied rows, they are
    included in proportion, which is the mean over all orders of these rows.

    Attributes
    ----------
    share : ndarray of shape (n_knots,)
        Share of all rows that a threshold calls positive, rising from 0 to 1.
    captured : ndarray of shape (n_knots,)
        Share of the positives among them, rising from 0 to 1.
    thresholds : ndarray of shape (n_knots,)
        Lowest score that is called positive, falling; infinity at first.
    prevalence : float
        Share of positives in all rows.
    """

    share: NDArray[np.float64]
    captured: NDArray[np.float64]
    thresholds: NDArray[np.float64]
    prevalence: float

    @classmethod
    def from_curve(cls, curve: RocCurve, prevalence: float) -> GainsCurve:
        """Gains of a ROC curve in a population.

        Parameters
        ----------
        curve : RocCurve
            The curve of the scores.
        prevalence : float
            Share of positives in the population, in (0, 1), which may differ from that of the rows
            of the curve, as in a case-control study.

        Returns
        -------
        GainsCurve
            With the knots of the curve.

        Raises
        ------
        ValueError
            If the prevalence is not between 0 and 1.
        """
        if not 0 < prevalence < 1:
            raise ValueError(f"prevalence is {prevalence}, but must be between 0 and 1")
        share = prevalence * curve.tpr + (1 - prevalence) * curve.fpr
        return cls(share, curve.tpr, curve.thresholds, float(prevalence))

    def captured_at(self, share: ArrayLike) -> NDArray[np.float64]:
        """Share of the positives among the highest scoring rows.

        Parameters
        ----------
        share : array-like of float
            Shares of all rows, from 0 to 1.

        Returns
        -------
        ndarray of float64, of the shape of ``share``
            The shares of the positives.

        Raises
        ------
        ValueError
            If a share is not from 0 to 1.
        """
        wanted = np.asarray(share, dtype=np.float64)
        if not np.all((wanted >= 0) & (wanted <= 1)):
            raise ValueError("share must be from 0 to 1")
        return np.asarray(np.interp(wanted, self.share, self.captured))

    def lift_at(self, share: ArrayLike) -> NDArray[np.float64]:
        """How many times as frequent positives are among the highest scoring rows as in all.

        Parameters
        ----------
        share : array-like of float
            Shares of all rows, above 0 and at most 1.

        Returns
        -------
        ndarray of float64, of the shape of ``share``
            The lifts; 1 for all rows.

        Raises
        ------
        ValueError
            If a share is not above 0 and at most 1.
        """
        wanted = np.asarray(share, dtype=np.float64)
        if not np.all(wanted > 0):
            raise ValueError("share must be above 0, since no rows have no lift")
        return np.asarray(self.captured_at(wanted) / wanted)

    def at(self, share: ArrayLike = TOP_SHARES) -> Table:
        """Gains at some shares of the rows.

        Parameters
        ----------
        share : array-like of shape (n_shares,), default=(0.01, 0.02, 0.05, 0.1, ..., 1.0)
            Shares of all rows, above 0 and at most 1.

        Returns
        -------
        Table
            ``share`` of all rows; ``captured``, the share of the positives among them; ``rate``,
            their share of positives; and ``lift``, its ratio to that of all rows.

        Raises
        ------
        ValueError
            If a share is not above 0 and at most 1.
        """
        shares = np.atleast_1d(np.asarray(share, dtype=np.float64))
        lift = self.lift_at(shares)
        captured = self.captured_at(shares)
        return Table(share=shares, captured=captured, rate=lift * self.prevalence, lift=lift)

    def plot(
        self,
        ax: Axes | None = None,
        *,
        kind: Literal["gains", "lift"] = "gains",
        name: str | None = None,
    ) -> GainsCurveDisplay:
        """Draw the cumulative gains or the lift.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, default=None
            Axes to draw on, such as those of the curve of another model; ``None`` makes a figure.
        kind : {"gains", "lift"}, default="gains"
            What to draw over the share of all rows: the share of the positives, with the curves of
            a perfect and of a random order; or the lift, from the first 1 % of the rows on.
        name : str, default=None
            Name of the curve in the legend.

        Returns
        -------
        GainsCurveDisplay
            What was drawn.

        Raises
        ------
        ImportError
            If matplotlib is not installed.
        ValueError
            If ``kind`` is unknown.
        """
        return _plot.draw(self, ax, kind=kind, name=name)


@suggests_keywords
def gains_curve(
    y_true: ArrayLike, y_score: ArrayLike, *, sample_weight: ArrayLike | None = None
) -> GainsCurve:
    """Cumulative gains and lift of scores.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Labels of two classes; the greater label is the positive class.
    y_score : array-like of shape (n_samples,)
        Scores; higher is more positive.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights: a row of weight k counts as k rows, one of weight 0 as none.

    Returns
    -------
    GainsCurve
        With a knot for each distinct score, ``at``, ``captured_at``, ``lift_at`` and ``plot``.

    Raises
    ------
    ValueError
        As for :func:`roc_auc_score`.

    See Also
    --------
    RocCurve : The curve over false positive rates, which does not depend on the prevalence.
    decision_curve : Net benefit of acting above a probability.

    Examples
    --------
    >>> from aucrank.metrics import gains_curve
    >>> found = gains_curve([1, 0, 1, 0, 0], [0.9, 0.8, 0.7, 0.2, 0.2])
    >>> found.at([0.2, 0.6, 0.8])
    share  captured    rate    lift
      0.2       0.5  1.0000  2.5000
      0.6       1.0  0.6667  1.6667
      0.8       1.0  0.5000  1.2500
    """
    curve = RocCurve.from_scores(y_true, y_score, sample_weight=sample_weight)
    units = Units.of(y_true, sample_weight, "sampling", None)
    # Exact sums, in any order of the rows.
    prevalence = math.fsum(units.weight[units.positive]) / math.fsum(units.weight)
    return GainsCurve.from_curve(curve, prevalence)
