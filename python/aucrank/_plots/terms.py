"""Plots of functions of features and of pairs of features."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import cycle
from math import ceil
from numbers import Integral
from typing import TYPE_CHECKING, Any

import numpy as np

from aucrank._data.column_lookup import ONE_FEATURE, find_column
from aucrank._data.schema import Schema
from aucrank._export.formula import NumberSteps, Steps
from aucrank._export.pair_tables import PairTable, pair_name
from aucrank._plots.pair_map import draw_pair
from aucrank._plots.pyplot import given_axes, import_pyplot
from aucrank._utils.numbers import exact
from aucrank._utils.params import check_int

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure

Term = Steps | PairTable

#: A feature, or a pair of them.
FeatureChoice = int | str | tuple[int | str, ...]

# Inches of a panel, and of one next to maps of pairs; panels in a row.
_PANEL = (3.2, 2.4)
_PANEL_OF_PAIR = (4.0, 3.0)
_N_COLUMNS = 3
_SPECIAL_STYLES = ("-", "--", "-.")


@dataclass(frozen=True, eq=False)
class TermsDisplay:
    """Artists drawn by ``plot_terms``, for further changes.

    Attributes
    ----------
    axes_ : list of matplotlib.axes.Axes
        The panels, one for each feature or pair.
    figure_ : matplotlib.figure.Figure or SubFigure
        Their figure.
    """

    axes_: list[Axes]
    figure_: Figure | SubFigure


def draw_terms(
    terms: Sequence[Term],
    schema: Schema,
    features: Sequence[FeatureChoice] | int,
    ax: Sequence[Axes] | Axes | None,
    *,
    what: str = "adds to the score",
) -> TermsDisplay:
    """Draw step functions, and functions of two features.

    Parameters
    ----------
    terms : sequence of NumberSteps, LevelSteps or PairTable
        One for each feature or pair with a function.
    schema : Schema
        Of the columns.
    features : int or sequence of int, str or tuple
        Maximum number of features, or which.
    ax : matplotlib.axes.Axes, a sequence of them, or None
        Axes to draw on; None makes a figure.
    what : str, default="adds to the score"
        Label of the axis of the functions.

    Returns
    -------
    TermsDisplay
        What was drawn.

    Raises
    ------
    ImportError
        If matplotlib is not installed.
    ValueError
        If a feature is unknown, a feature or pair has no term, or the axes are too few or too many.
    """
    plt = import_pyplot("plot_terms")
    names = schema.shown_names
    chosen = _choose(terms, names, features)
    if not chosen:
        raise ValueError("there is nothing to draw: no feature adds to the score")
    if ax is None:
        axes, figure = _new_axes(plt, chosen, what)
    else:
        axes, figure = given_axes(ax, len(chosen), "features")
    for panel, term in zip(axes, chosen, strict=True):
        if not isinstance(term, PairTable):
            _draw_function(panel, term, schema)
    pairs = [term for term in chosen if isinstance(term, PairTable)]
    most = max((float(np.abs(pair.values).max()) for pair in pairs), default=0.0)
    for panel, term in zip(axes, chosen, strict=True):
        if isinstance(term, PairTable):
            colours = draw_pair(panel, term, schema, most)
            figure.colorbar(colours, ax=panel, label=what)
    is_first = True
    for panel, term in zip(axes, chosen, strict=True):
        if isinstance(term, PairTable):
            continue
        if is_first or _special(term):
            panel.legend(frameon=False, fontsize="small")
        is_first = False
    return TermsDisplay(axes, figure)


def _new_axes(plt: Any, chosen: Sequence[Term], what: str) -> tuple[list[Axes], Figure]:
    """Return a panel for each term; those of single features share one scale."""
    n_columns = min(_N_COLUMNS, len(chosen))
    n_rows = ceil(len(chosen) / n_columns)
    has_pairs = any(isinstance(term, PairTable) for term in chosen)
    width, height = _PANEL_OF_PAIR if has_pairs else _PANEL
    figure, grid = plt.subplots(
        n_rows,
        n_columns,
        squeeze=False,
        layout="constrained",
        figsize=(width * n_columns, height * n_rows),
    )
    axes = list(grid.flat)
    for unused in axes[len(chosen) :]:
        unused.remove()
    axes = axes[: len(chosen)]
    shared, is_on_left = None, False
    for place, (panel, term) in enumerate(zip(axes, chosen, strict=True)):
        is_on_left &= place % n_columns > 0
        if isinstance(term, PairTable):
            is_on_left = False
            continue
        if shared is not None:
            panel.sharey(shared)
        shared = panel
        # The panel on the left has the tick labels, if it has the same scale.
        if is_on_left:
            panel.tick_params(labelleft=False)
        else:
            panel.set_ylabel(what)
        is_on_left = True
    return axes, figure


def _draw_function(panel: Axes, term: Steps, schema: Schema) -> None:
    """Draw a function of one feature."""
    levels = schema.features[term.feature].levels or ()
    if isinstance(term, NumberSteps):
        _draw_steps(panel, term)
    else:
        panel.bar(np.arange(len(levels)), term.values, color="C0")
        panel.set_xticks(np.arange(len(levels)), [str(level) for level in levels])
        if len(levels) > 4:
            panel.tick_params(axis="x", rotation=90)
    for (special, value), style in zip(_special(term), cycle(_SPECIAL_STYLES)):
        panel.axhline(value, color="C1", linestyle=style, label=f"= {exact(special)}")
    panel.axhline(term.missing, color="0.5", linestyle=":", label="missing")
    panel.set_xlabel(schema.shown_name(term.feature))


def _choose(
    terms: Sequence[Term], names: list[str], features: Sequence[FeatureChoice] | int
) -> list[Term]:
    """Return the functions to draw, in drawing order."""
    if isinstance(features, int | Integral):
        most = check_int(features, "features", low=1)
        return sorted(terms, key=_spread, reverse=True)[:most]
    if isinstance(features, str):
        raise ValueError(f"features must be a number or a list of features, got {features!r}")
    of_features = {_features(term): term for term in terms}
    chosen: list[Term] = []
    for choice in features:
        several = choice if isinstance(choice, tuple) else (choice,)
        places = tuple(find_column(one, names, len(names), ONE_FEATURE) for one in several)
        term = of_features.get(tuple(sorted(places)))
        if term is None:
            what = pair_name([names[place] for place in places])
            adds = "adds nothing to the score" if len(places) == 1 else "add nothing together"
            raise ValueError(f"{what} {adds}, so there is nothing to draw")
        if isinstance(term, PairTable) and term.features != places:
            term = term.transposed()
        chosen.append(term)
    return chosen


def _features(term: Term) -> tuple[int, ...]:
    return term.features if isinstance(term, PairTable) else (term.feature,)


def _special(term: Steps) -> tuple[tuple[float, float], ...]:
    return term.special if isinstance(term, NumberSteps) else ()


def _spread(term: Term) -> float:
    if isinstance(term, PairTable):
        return float(term.values.max() - term.values.min())
    values = [*term.values, term.missing, *(value for _, value in _special(term))]
    return max(values) - min(values)


def _draw_steps(panel: Axes, steps: NumberSteps) -> None:
    """Draw a function of a number, with its two ends wide enough to be visible."""
    thresholds, values = steps.thresholds, steps.values
    if not thresholds:
        panel.axhline(values[0], color="C0")
        return
    margin = 0.1 * (thresholds[-1] - thresholds[0]) or 0.5 * abs(thresholds[0]) or 1.0
    edges = [thresholds[0] - margin, *thresholds, thresholds[-1] + margin]
    panel.stairs(values, edges, baseline=None, color="C0")
    panel.locator_params(axis="x", nbins=4)
