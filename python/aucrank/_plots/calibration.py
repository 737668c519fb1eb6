"""Calibration plot."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from aucrank._plots.pyplot import import_pyplot

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.collections import FillBetweenPolyCollection
    from matplotlib.figure import Figure, SubFigure
    from matplotlib.lines import Line2D

    from aucrank.metrics._calibration import CalibrationCurve

# Height of the distribution of each class under the curve.
_STRIP = 0.05


@dataclass(frozen=True, eq=False)
class CalibrationDisplay:
    """Artists drawn by :meth:`CalibrationCurve.plot`, for further changes.

    Attributes
    ----------
    ax_ : matplotlib.axes.Axes
        The axes drawn on.
    figure_ : matplotlib.figure.Figure or SubFigure
        The figure of the axes.
    line_ : matplotlib.lines.Line2D
        The smooth curve.
    band_ : matplotlib.collections.FillBetweenPolyCollection
        Its pointwise interval.
    isotonic_line_ : matplotlib.lines.Line2D
        The isotonic regression.
    ideal_line_ : matplotlib.lines.Line2D
        The diagonal of perfect calibration.
    """

    ax_: Axes
    figure_: Figure | SubFigure
    line_: Line2D
    band_: FillBetweenPolyCollection
    isotonic_line_: Line2D
    ideal_line_: Line2D


def draw(
    found: CalibrationCurve, ax: Axes | None, *, name: str | None, curve_kwargs: dict[str, Any]
) -> CalibrationDisplay:
    """Draw the curves, and below them the quartiles and 5 % and 95 % quantiles of each class."""
    plt = import_pyplot("CalibrationCurve.plot")
    if ax is None:
        ax = plt.subplots()[1]
    (ideal,) = ax.plot([0, 1], [0, 1], color="0.6", linestyle="--", label="Perfect")
    label = f"{name or 'Smooth curve'} (slope {found.slope:.2f}, ICI {found.ici:.3f})"
    curve = found.curve
    (line,) = ax.plot(curve["probability"], curve["observed"], **{"label": label, **curve_kwargs})
    band = ax.fill_between(
        curve["probability"], curve["low"], curve["high"],
        color=line.get_color(), alpha=0.2, linewidth=0,
        label=f"{100 * found.confidence:g} % confidence band",
    )  # fmt: skip
    steps = found.isotonic
    (isotonic,) = ax.plot(
        np.column_stack([steps["low"], steps["high"]]).ravel(),
        np.repeat(steps["observed"], 2),
        color=line.get_color(), linestyle=":", label="Isotonic regression",
    )  # fmt: skip
    spread = found.distribution
    for place, of_class in enumerate(("positives", "negatives")):
        level = -_STRIP * (place + 1)
        quantiles = np.interp(
            [0.05, 0.25, 0.5, 0.75, 0.95], spread["share"], spread[f"of_{of_class}"]
        )
        ax.plot(quantiles[[0, 4]], [level] * 2, color="0.4", linewidth=1)
        ax.plot(quantiles[[1, 3]], [level] * 2, color="0.4", linewidth=5, solid_capstyle="butt")
        ax.plot(quantiles[2], level, color="white", marker="|", markersize=6)
        ax.annotate(
            f" {of_class}", (1.02, level), va="center", fontsize="small", color="0.4",
            annotation_clip=False,
        )  # fmt: skip
    ax.set(xlabel="Probability", ylabel="Share of positives", aspect="equal")
    ax.set(xlim=(-0.01, 1.01), ylim=(-_STRIP * 3, 1.01))
    ax.legend(loc="upper left", fontsize="small")
    return CalibrationDisplay(ax, ax.figure, line, band, isotonic, ideal)
