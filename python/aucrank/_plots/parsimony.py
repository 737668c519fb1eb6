"""Plot of the AUC by number of features."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from aucrank._data.table import Table
from aucrank._plots.pyplot import given_axes, import_pyplot

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure


@dataclass(frozen=True, eq=False)
class ParsimonyDisplay:
    """Artists drawn by `Parsimony.plot`, for further changes.

    Attributes
    ----------
    ax_ : matplotlib.axes.Axes
        The axes.
    figure_ : matplotlib.figure.Figure or SubFigure
        Their figure.
    """

    ax_: Axes
    figure_: Figure | SubFigure


def draw_parsimony(path: Table, chosen: int, ax: Axes | None) -> ParsimonyDisplay:
    """Draw AUCs with intervals, and the chosen number of features.

    Raises
    ------
    ImportError
        If matplotlib is not installed.
    """
    plt = import_pyplot("plot")
    if ax is None:
        width = max(4.5, 1.5 + 0.42 * path.n_rows)
        figure, ax = plt.subplots(figsize=(width, 3.8), layout="constrained")
    else:
        (ax,), figure = given_axes(ax, 1, "panels")
    auc = path["auc"]
    around = [auc - path["low"], path["high"] - auc]
    ax.errorbar(path["n_features"], auc, around, fmt="o-", color="C0", capsize=2)
    ax.axvline(chosen, color="0.5", linestyle=":", label=f"{chosen} features")
    ax.set_xticks(path["n_features"])
    ax.set_xlabel("features")
    ax.set_ylabel("AUC, cross-validated")
    ax.legend(frameon=False, loc="lower right")
    return ParsimonyDisplay(ax, figure)
