"""Plot of the shares of the bins of a scorecard, then and now."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral
from typing import TYPE_CHECKING

import numpy as np

from aucrank._data.table import Table
from aucrank._plots.pyplot import given_axes, import_pyplot
from aucrank._utils.params import check_int

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure

    from aucrank.additive._scorecard.drift import DriftReport

# Inches of a panel and of a bin in it, and panels in a row.
_PANEL_WIDTH, _BAR = 4.6, 0.3
_N_COLUMNS = 2

# Maximum number of letters of the rule of a bin.
_MOST_LETTERS = 36


@dataclass(frozen=True, eq=False)
class DriftDisplay:
    """Artists drawn by `DriftReport.plot`, for further changes.

    Attributes
    ----------
    axes_ : list of matplotlib.axes.Axes
        The panels: the total points, then one for each feature.
    figure_ : matplotlib.figure.Figure or SubFigure
        Their figure.
    """

    axes_: list[Axes]
    figure_: Figure | SubFigure


def draw_drift(
    report: DriftReport, features: Sequence[str] | int, ax: Sequence[Axes] | Axes | None
) -> DriftDisplay:
    """Draw a report; ``features`` and ``ax`` are as for `DriftReport.plot`."""
    plt = import_pyplot("plot")
    known = report.features["feature"].tolist()
    if isinstance(features, int | Integral):
        chosen = known[: check_int(features, "features", low=0)]
    elif isinstance(features, str):
        raise ValueError(f"features must be a number or a list of names, got {features!r}")
    else:
        chosen = list(features)
        unknown = [name for name in chosen if name not in known]
        if unknown:
            raise ValueError(f"features names {unknown[0]!r}, which is not on the card")
    panels = [("total points", report.score_psi, report.points["band"].tolist(), report.points)]
    psi_of = dict(zip(known, report.features["psi"].tolist(), strict=True))
    for name in chosen:
        rows = report.bins["feature"] == name
        bins = Table({column: values[rows] for column, values in report.bins.items()})
        panels.append((name, psi_of[name], bins["rule"].tolist(), bins))
    if ax is None:
        n_columns = min(_N_COLUMNS, len(panels))
        lengths = [len(words) for _, _, words, _ in panels]
        # The height of a row of panels fits its feature with most bins.
        starts = range(0, len(panels), n_columns)
        heights = [0.8 + _BAR * max(lengths[start : start + n_columns]) for start in starts]
        figure, grid = plt.subplots(
            len(heights),
            n_columns,
            squeeze=False,
            layout="constrained",
            figsize=(_PANEL_WIDTH * n_columns, sum(heights)),
            height_ratios=heights,
        )
        axes = list(grid.flat)
        for unused in axes[len(panels) :]:
            unused.remove()
        axes = axes[: len(panels)]
    else:
        axes, figure = given_axes(ax, len(panels), "panels")
    for panel, (name, psi, words, bins) in zip(axes, panels, strict=True):
        places = np.arange(len(words))
        panel.barh(places - 0.2, bins["share_then"], height=0.4, color="0.7", label="then")
        panel.barh(places + 0.2, bins["share_now"], height=0.4, color="C0", label="now")
        panel.set_yticks(places, [_short(word) for word in words], fontsize="small")
        panel.invert_yaxis()
        panel.set_xlabel("share of rows")
        panel.set_title(f"{name}: PSI {psi:.3f}", fontsize="medium")
    axes[0].legend(frameon=False, fontsize="small")
    return DriftDisplay(axes, figure)


def _short(words: str) -> str:
    """Shorten a text to leave room for the bars."""
    return words if len(words) <= _MOST_LETTERS else words[: _MOST_LETTERS - 3] + "..."
