"""Step functions of features as pictures."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import cycle
from math import ceil
from numbers import Integral
from typing import TYPE_CHECKING

import numpy as np

from aucrank._data.column_lookup import ONE_FEATURE, find_column
from aucrank._data.schema import Schema
from aucrank._export.formula import NumberSteps, Steps
from aucrank._export.rules import in_full
from aucrank._plots.pyplot import given_axes, import_pyplot
from aucrank._utils.params import check_int

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure

# Inches of a panel, and panels in a row.
_PANEL = (3.2, 2.4)
_N_COLUMNS = 3
_SPECIAL_STYLES = ("-", "--", "-.")


@dataclass(frozen=True, eq=False)
class TermsDisplay:
    """What ``plot_terms`` has drawn, for further changes.

    Attributes
    ----------
    axes_ : list of matplotlib.axes.Axes
        The panels, one for each feature.
    figure_ : matplotlib.figure.Figure or SubFigure
        Their figure.
    """

    axes_: list[Axes]
    figure_: Figure | SubFigure


def draw_terms(
    terms: list[Steps],
    schema: Schema,
    features: Sequence[int | str] | int,
    ax: Sequence[Axes] | Axes | None,
) -> TermsDisplay:
    """Draw step functions.

    Parameters
    ----------
    terms : list of NumberSteps or LevelSteps
        One for each feature that has any.
    schema : Schema
        Of the columns.
    features : int or sequence of int or str
        How many, or which.
    ax : matplotlib.axes.Axes, a sequence of them, or None
        Where; None makes a figure.

    Returns
    -------
    TermsDisplay
        What was drawn.

    Raises
    ------
    ImportError
        If matplotlib is not installed.
    ValueError
        If a feature is unknown or has no term, or the axes are too few or too many.
    """
    plt = import_pyplot("plot_terms")
    names = schema.shown_names
    chosen = _choose(terms, names, features)
    if not chosen:
        raise ValueError("there is nothing to draw: no feature adds to the score")
    if ax is None:
        n_columns = min(_N_COLUMNS, len(chosen))
        n_rows = ceil(len(chosen) / n_columns)
        figure, grid = plt.subplots(
            n_rows,
            n_columns,
            squeeze=False,
            sharey=True,
            layout="constrained",
            figsize=(_PANEL[0] * n_columns, _PANEL[1] * n_rows),
        )
        axes = list(grid.flat)
        for unused in axes[len(chosen) :]:
            unused.remove()
        axes = axes[: len(chosen)]
        for first in grid[:, 0]:
            first.set_ylabel("adds to the score")
    else:
        axes, figure = given_axes(ax, len(chosen), "features")
    for panel, term in zip(axes, chosen, strict=True):
        levels = schema.features[term.feature].levels or ()
        if isinstance(term, NumberSteps):
            _draw_steps(panel, term)
        else:
            panel.bar(np.arange(len(levels)), term.values, color="C0")
            panel.set_xticks(np.arange(len(levels)), [str(level) for level in levels])
            if len(levels) > 4:
                panel.tick_params(axis="x", rotation=90)
        for (special, value), style in zip(_special(term), cycle(_SPECIAL_STYLES)):
            panel.axhline(value, color="C1", linestyle=style, label=f"= {in_full(special)}")
        panel.axhline(term.missing, color="0.5", linestyle=":", label="missing")
        panel.set_xlabel(names[term.feature])
    for place, (panel, term) in enumerate(zip(axes, chosen, strict=True)):
        if place == 0 or _special(term):
            panel.legend(frameon=False, fontsize="small")
    return TermsDisplay(axes, figure)


def _choose(
    terms: list[Steps], names: list[str], features: Sequence[int | str] | int
) -> list[Steps]:
    """Return the step functions to draw, in the order in which they are drawn."""
    if isinstance(features, int | Integral):
        most = check_int(features, "features", low=1)
        return sorted(terms, key=_spread, reverse=True)[:most]
    if isinstance(features, str):
        raise ValueError(f"features must be a number or a list of features, got {features!r}")
    of_feature = {term.feature: term for term in terms}
    chosen = []
    for feature in features:
        place = find_column(feature, names, len(names), ONE_FEATURE)
        if place not in of_feature:
            raise ValueError(
                f"{names[place]} adds nothing to the score, so there is nothing to draw"
            )
        chosen.append(of_feature[place])
    return chosen


def _special(term: Steps) -> tuple[tuple[float, float], ...]:
    return term.special if isinstance(term, NumberSteps) else ()


def _spread(term: Steps) -> float:
    values = [*term.values, term.missing, *(value for _, value in _special(term))]
    return max(values) - min(values)


def _draw_steps(panel: Axes, steps: NumberSteps) -> None:
    """Draw a function of a number, its two ends wide enough to be seen."""
    thresholds, values = steps.thresholds, steps.values
    if not thresholds:
        panel.axhline(values[0], color="C0")
        return
    margin = 0.1 * (thresholds[-1] - thresholds[0]) or 0.5 * abs(thresholds[0]) or 1.0
    edges = [thresholds[0] - margin, *thresholds, thresholds[-1] + margin]
    panel.stairs(values, edges, baseline=None, color="C0")
    panel.locator_params(axis="x", nbins=4)
