"""Plot of a whole scorecard: the points of each bin, one panel per feature."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import TYPE_CHECKING

import numpy as np

from aucrank._plots.pyplot import given_axes, import_pyplot
from aucrank._utils.params import check_int
from aucrank._utils.words import did_you_mean

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure

# Inches of a panel and of a bin in it, and panels in a row.
_PANEL_WIDTH, _BAR, _AROUND = 4.2, 0.22, 0.55
_N_COLUMNS = 3

# Maximum number of letters of the rule of a bin.
_MOST_LETTERS = 28


@dataclass(frozen=True, eq=False)
class CardDisplay:
    """Artists drawn by `Scorecard.plot`, for further changes.

    Attributes
    ----------
    axes_ : list of matplotlib.axes.Axes
        The panels, one for each feature.
    figure_ : matplotlib.figure.Figure or SubFigure
        Their figure.
    """

    axes_: list[Axes]
    figure_: Figure | SubFigure


@dataclass(frozen=True, slots=True)
class Panel:
    """A feature to draw.

    Attributes
    ----------
    name : str
        Its name.
    labels : list of str
        Its bins in words.
    points : list of int
        Points of each bin.
    shares : list of float
        Share of the rows in each bin.
    """

    name: str
    labels: list[str]
    points: list[int]
    shares: list[float]


def draw_card(
    panels: Sequence[Panel],
    initial_points: int,
    features: Sequence[str] | int | None,
    ax: Sequence[Axes] | Axes | None,
) -> CardDisplay:
    """Draw panels; ``features`` and ``ax`` are as for `Scorecard.plot`.

    Raises
    ------
    ImportError
        If matplotlib is not installed.
    ValueError
        If there is nothing to draw, a feature is unknown, or the axes are too few or too many.
    """
    plt = import_pyplot("plot")
    chosen = _chosen(panels, features)
    if not chosen:
        raise ValueError("there is nothing to draw: no feature has points")
    if ax is None:
        n_columns = min(_N_COLUMNS, len(chosen))
        starts = range(0, len(chosen), n_columns)
        # The height of a row of panels fits its feature with most bins.
        heights = [
            _AROUND + _BAR * max(len(p.labels) for p in chosen[start : start + n_columns])
            for start in starts
        ]
        figure, grid = plt.subplots(
            len(heights),
            n_columns,
            squeeze=False,
            layout="constrained",
            figsize=(_PANEL_WIDTH * n_columns, sum(heights) + 0.5),
            height_ratios=heights,
        )
        axes = list(grid.flat)
        for unused in axes[len(chosen) :]:
            unused.remove()
        axes = axes[: len(chosen)]
        if initial_points:
            figure.suptitle(f"Start with {initial_points} points", fontsize="medium")
    else:
        axes, figure = given_axes(ax, len(chosen), "features")
    most = max(max(panel.points) for panel in chosen) or 1
    for axis, panel in zip(axes, chosen, strict=True):
        _draw(axis, panel, most)
    if ax is None:
        for place, axis in enumerate(axes):
            start = place - place % _N_COLUMNS
            # Bars of a row have the same height.
            longest = max(len(panel.labels) for panel in chosen[start : start + _N_COLUMNS])
            axis.set_ylim(longest - 0.5, -0.5)
    return CardDisplay(axes, figure)


def _chosen(panels: Sequence[Panel], features: Sequence[str] | int | None) -> list[Panel]:
    """Return the panels to draw: all, those with the widest range of points, or those named."""
    if features is None:
        return list(panels)
    if isinstance(features, int | Integral):
        most = check_int(features, "features", low=1)
        return sorted(panels, key=lambda panel: -max(panel.points))[:most]
    if isinstance(features, str):
        raise ValueError(f"features must be a number or a list of names, got {features!r}")
    of_name = {panel.name: panel for panel in panels}
    for name in features:
        if name not in of_name:
            raise ValueError(
                f"features names {name!r}, which is not on the card{did_you_mean(name, of_name)}"
            )
    return [of_name[name] for name in features]


def _draw(axis: Axes, panel: Panel, most: int) -> None:
    places = np.arange(len(panel.points))
    # Bins without rows are pale.
    colours = ["C0" if share > 0 else "0.8" for share in panel.shares]
    axis.barh(places, panel.points, height=0.8, color=colours)
    for place, points in zip(places, panel.points, strict=True):
        axis.annotate(
            str(points), (points, place), (3, 0), textcoords="offset points", va="center",
            fontsize="small",
        )  # fmt: skip
    axis.set_yticks(places, [_short(label) for label in panel.labels], fontsize="small")
    for label in axis.get_yticklabels():
        label.set_parse_math(False)
    axis.set_ylim(len(places) - 0.5, -0.5)
    # The number is to the right of the longest bar.
    axis.set_xlim(0, 1.18 * most)
    axis.set_xticks([])
    axis.tick_params(axis="y", length=0)
    axis.spines[["top", "right", "bottom"]].set_visible(False)
    axis.set_title(panel.name, fontsize="medium", loc="left", parse_math=False)


def _short(words: str) -> str:
    """Shorten a text to leave room for the bars."""
    return words if len(words) <= _MOST_LETTERS else words[: _MOST_LETTERS - 3] + "..."
