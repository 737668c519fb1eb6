"""Plot of net benefit over thresholds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from aucrank._plots.pyplot import import_pyplot

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure
    from matplotlib.lines import Line2D

    from aucrank.metrics._decision import DecisionCurve


@dataclass(frozen=True, eq=False)
class DecisionCurveDisplay:
    """Artists drawn by :meth:`DecisionCurve.plot`, for further changes.

    Attributes
    ----------
    ax_ : matplotlib.axes.Axes
        The axes drawn on.
    figure_ : matplotlib.figure.Figure or SubFigure
        The figure of the axes.
    lines_ : dict of str to matplotlib.lines.Line2D
        The lines by model, with ``"all"`` and ``"none"``.
    """

    ax_: Axes
    figure_: Figure | SubFigure
    lines_: dict[str, Line2D]


def draw(
    found: DecisionCurve, ax: Axes | None, *, standardized: bool, plot_band: bool
) -> DecisionCurveDisplay:
    """Draw a line for each model, on a scale that shows their differences."""
    plt = import_pyplot("DecisionCurve.plot")
    if ax is None:
        ax = plt.subplots()[1]
    table = found.table
    scale = 1 / found.prevalence if standardized else 1.0
    lines, highest = {}, 0.0
    for name in dict.fromkeys(table["model"].tolist()):
        own = table["model"] == name
        threshold, benefit = table["threshold"][own], scale * table["net_benefit"][own]
        highest = max(highest, float(benefit.max()))
        if name == "all":
            (line,) = ax.plot(threshold, benefit, color="0.6", label="Treat all")
        else:
            (line,) = ax.plot(threshold, benefit, label=name)
            if plot_band:
                low, high = (scale * table[end][own] for end in ("low", "high"))
                ax.fill_between(
                    threshold, low, high, color=line.get_color(), alpha=0.15, linewidth=0
                )
        lines[name] = line
    lines["none"] = ax.axhline(0, color="black", linewidth=1, label="Treat none")
    ax.set(
        xlabel="Threshold probability",
        ylabel="Standardized net benefit" if standardized else "Net benefit",
        xlim=(0, 1),
        # Values far below treating none are not shown.
        ylim=(-0.1 * highest, 1.1 * highest) if highest > 0 else None,
    )
    ax.set_xticks(np.linspace(0, 1, 6))
    ax.legend()
    return DecisionCurveDisplay(ax, ax.figure, lines)
