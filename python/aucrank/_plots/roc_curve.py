"""Plots of ROC curves, in the form of scikit-learn's displays."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from numpy.typing import ArrayLike

from aucrank._plots.pyplot import import_pyplot

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.collections import FillBetweenPolyCollection
    from matplotlib.figure import Figure, SubFigure
    from matplotlib.lines import Line2D

    from aucrank.metrics._curve import RocCurve


class Band(Protocol):
    """Intervals of true positive rates at some false positive rates."""

    @property
    def fpr(self) -> ArrayLike: ...
    @property
    def low(self) -> ArrayLike: ...
    @property
    def high(self) -> ArrayLike: ...


@dataclass(frozen=True, eq=False)
class RocCurveDisplay:
    """Artists drawn by :meth:`RocCurve.plot`, for further changes.

    Attributes
    ----------
    ax_ : matplotlib.axes.Axes
        The axes drawn on.
    figure_ : matplotlib.figure.Figure or SubFigure
        The figure of the axes.
    line_ : matplotlib.lines.Line2D
        The curve.
    hull_line_ : matplotlib.lines.Line2D or None
        The concave hull, if requested.
    band_ : matplotlib.collections.FillBetweenPolyCollection or None
        The interval band, if there is one.
    chance_level_ : matplotlib.lines.Line2D or None
        The diagonal, if requested.
    """

    ax_: Axes
    figure_: Figure | SubFigure
    line_: Line2D
    hull_line_: Line2D | None = None
    band_: FillBetweenPolyCollection | None = None
    chance_level_: Line2D | None = None


def draw(
    curve: RocCurve,
    ax: Axes | None,
    *,
    name: str | None,
    plot_chance_level: bool,
    plot_hull: bool,
    band: Band | None,
    curve_kwargs: dict[str, Any],
) -> RocCurveDisplay:
    """Draw a curve; the band lies behind it and has its colour."""
    plt = import_pyplot("RocCurve.plot")
    if ax is None:
        ax = plt.subplots()[1]
    label = _label(name, curve.auc)
    (line,) = ax.plot(curve.fpr, curve.tpr, **{"label": label, **curve_kwargs})
    filled = hull_line = chance = None
    if band is not None:
        filled = ax.fill_between(
            band.fpr, band.low, band.high,
            color=line.get_color(), alpha=0.2, linewidth=0, label=_band_label(band),
        )  # fmt: skip
    if plot_hull:
        hull = curve.hull()
        (hull_line,) = ax.plot(
            hull.fpr, hull.tpr,
            color=line.get_color(), linestyle=":", label=_label("Concave hull", hull.auc),
        )  # fmt: skip
    if plot_chance_level:
        (chance,) = ax.plot([0, 1], [0, 1], "k--", label="Chance level (AUC = 0.5)")
    ax.set(xlabel="False positive rate", ylabel="True positive rate", aspect="equal")
    ax.set(xlim=(-0.01, 1.01), ylim=(-0.01, 1.01))
    ax.legend(loc="lower right")
    return RocCurveDisplay(ax, ax.figure, line, hull_line, filled, chance)


def _label(name: str | None, auc: float) -> str:
    area = f"AUC = {auc:.2f}"
    return area if name is None else f"{name} ({area})"


def _band_label(band: Band) -> str:
    """Name a band by its own attributes."""
    confidence = getattr(band, "confidence", None)
    if confidence is not None:
        return f"{100 * confidence:g} % confidence band"
    return "± 1 standard deviation" if hasattr(band, "tpr_std") else "Band"
