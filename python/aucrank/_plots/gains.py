"""Plot of cumulative gains and of lift."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from aucrank._plots.pyplot import import_pyplot
from aucrank._utils.params import check_choice

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure
    from matplotlib.lines import Line2D

    from aucrank.metrics._gains import GainsCurve

#: Least share of the rows whose lift is drawn: below, it depends on single rows.
_LEAST_SHARE = 0.01


@dataclass(frozen=True, eq=False)
class GainsCurveDisplay:
    """Artists drawn by :meth:`GainsCurve.plot`, for further changes.

    Attributes
    ----------
    ax_ : matplotlib.axes.Axes
        The axes drawn on.
    figure_ : matplotlib.figure.Figure or SubFigure
        The figure of the axes.
    line_ : matplotlib.lines.Line2D
        The curve.
    """

    ax_: Axes
    figure_: Figure | SubFigure
    line_: Line2D


def drawn_lift(found: GainsCurve) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the shares of the rows at which a lift is drawn, and the lift."""
    share = np.union1d(found.share[found.share >= _LEAST_SHARE], [_LEAST_SHARE])
    return share, found.lift_at(share)


def draw(found: GainsCurve, ax: Axes | None, *, kind: str, name: str | None) -> GainsCurveDisplay:
    """Draw a curve, and on new axes what to compare it with."""
    check_choice(kind, "kind", ("gains", "lift"))
    plt = import_pyplot("GainsCurve.plot")
    is_new = ax is None
    if ax is None:
        ax = plt.subplots()[1]
    if kind == "gains":
        (line,) = ax.plot(found.share, found.captured, label=name)
        if is_new:
            perfect = [0, found.prevalence, 1], [0, 1, 1]
            ax.plot(*perfect, color="0.6", linewidth=1, linestyle="--", label="Perfect order")
            ax.plot([0, 1], [0, 1], color="0.6", linewidth=1, label="Random order")
    else:
        (line,) = ax.plot(*drawn_lift(found), label=name)
        if is_new:
            ax.axhline(1, color="0.6", linewidth=1, label="Random order")
    ax.set(
        xlabel="Share of all rows, highest scores first",
        ylabel="Share of the positives" if kind == "gains" else "Lift",
    )
    ax.legend()
    return GainsCurveDisplay(ax, ax.figure, line)
