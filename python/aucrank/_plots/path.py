"""Plot of the statistics of a score by number of terms."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from aucrank._data.table import Table
from aucrank._plots.pyplot import given_axes, import_pyplot

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure

_STATISTICS = {"ramp": "ramp statistic", "auc": "AUC"}


@dataclass(frozen=True, eq=False)
class PathDisplay:
    """Artists drawn by `AURORA.plot_path`, for further changes.

    Attributes
    ----------
    axes_ : list of matplotlib.axes.Axes
        The panels of the ramp statistic and of the AUC.
    figure_ : matplotlib.figure.Figure or SubFigure
        Their figure.
    """

    axes_: list[Axes]
    figure_: Figure | SubFigure


def draw_path(path: Table, criterion: str, ax: Sequence[Axes] | None) -> PathDisplay:
    """Draw ramp statistic and AUC by number of terms.

    Parameters
    ----------
    path : Table
        The ``path_`` of an `AURORA`.
    criterion : {"auc", "ramp"}
        Criterion by which the number of terms was chosen.
    ax : sequence of matplotlib.axes.Axes or None
        Axes to draw on, one per statistic; None makes a figure.

    Returns
    -------
    PathDisplay
        What was drawn.

    Raises
    ------
    ImportError
        If matplotlib is not installed.
    ValueError
        If there are no terms, or not two axes.
    """
    plt = import_pyplot("plot_path")
    if path.n_rows == 0:
        raise ValueError("there is nothing to draw: the search has found no term")
    if ax is None:
        figure, grid = plt.subplots(1, 2, figsize=(9.0, 3.4), layout="constrained")
        axes = list(grid)
    else:
        axes, figure = given_axes(ax, len(_STATISTICS), "panels")
    kept = path["n_terms"][path["kept"]]
    for panel, (name, label) in zip(axes, _STATISTICS.items(), strict=True):
        _draw(panel, path, name, criterion)
        for n_terms in kept:
            panel.axvline(n_terms, color="0.5", linestyle=":", label=f"{n_terms} terms kept")
        panel.set_xlabel("number of terms")
        panel.set_ylabel(label)
    if ax is None:
        # Next to the panels: no corner is sure to be free of lines.
        chooser = axes[list(_STATISTICS).index(criterion)]
        handles, labels = chooser.get_legend_handles_labels()
        place = "outside upper center"
        figure.legend(handles, labels, frameon=False, loc=place, ncols=len(labels))
    else:
        axes[0].legend(frameon=False)
    return PathDisplay(axes, figure)


def _draw(panel: Any, path: Table, name: str, criterion: str) -> None:
    # A line through a single point is invisible.
    marker = "o" if path.n_rows == 1 else None
    n_terms = path["n_terms"]
    panel.plot(n_terms, path[f"train_{name}"], color="C0", marker=marker, label="training rows")
    if f"validation_{name}" not in path:
        return
    held_out = path[f"validation_{name}"]
    panel.plot(n_terms, held_out, color="C1", marker=marker, label="rows held out")
    if name == criterion:
        panel.plot(n_terms, path["smoothed"], color="C1", linestyle="--", label="smoothed")
