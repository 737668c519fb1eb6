"""A function of two features as a heat map."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from aucrank._data.schema import Schema
from aucrank._export.pair_tables import Axis, LevelAxis, PairTable
from aucrank._utils.numbers import distinct

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Width of the gap between known and missing values, in bins.
_GAP = 0.25
_GAP_COLOUR = "0.8"

# Maximum number of thresholds written at an axis.
_MOST_NUMBERS = 6


def draw_pair(panel: Axes, pair: PairTable, schema: Schema, most: float) -> Any:
    """Draw the contribution of two features together, the first along the horizontal axis.

    Parameters
    ----------
    panel : matplotlib.axes.Axes
        Where.
    pair : PairTable
        The function.
    schema : Schema
        Of the columns.
    most : float
        Absolute value of the strongest colours.

    Returns
    -------
    matplotlib.collections.QuadMesh
        Mappable for a colour bar.
    """
    places, edges = [], []
    for axis, name in zip(pair.axes, "xy", strict=True):
        of_cells, of_axis = _cells(axis, schema)
        places.append(of_cells)
        edges.append(of_axis)
        _write(panel, name, axis, of_axis, schema)
    # An empty row and column separate the known from the missing values.
    values = np.ma.masked_invalid(np.pad(pair.values, ((0, 1), (0, 1)), constant_values=np.nan))
    shown = values[np.ix_(*places)].T
    limit = most or 1.0
    panel.set_facecolor(_GAP_COLOUR)
    return panel.pcolormesh(*edges, shown, cmap="RdBu_r", vmin=-limit, vmax=limit)


def _cells(axis: Axis, schema: Schema) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return the place of each cell along an axis, and the edges of the cells.

    A category has a cell of its own. Place -1 is the gap.
    """
    n_known = len(axis.restrictions()) - 1
    known = np.arange(n_known)
    if isinstance(axis, LevelAxis):
        known = np.zeros(_n_levels(axis, schema), dtype=np.int64)
        for place, group in enumerate(axis.groups):
            known[list(group)] = place
    places = np.array([*known, -1, n_known])
    end = len(known) + _GAP
    return places, np.array([*range(len(known) + 1), end, end + max(1, len(known) / 12)])


def _n_levels(axis: LevelAxis, schema: Schema) -> int:
    return len(schema.features[axis.feature].levels or ())


def _write(panel: Axes, name: str, axis: Axis, edges: NDArray[np.float64], schema: Schema) -> None:
    """Write the name of a feature and its values at an axis."""
    is_x = name == "x"
    if isinstance(axis, LevelAxis):
        labels = [str(level) for level in schema.features[axis.feature].levels or ()]
        ticks = [place + 0.5 for place in range(len(labels))]
        is_turned = is_x and len(labels) > 3
    else:
        n_cuts = len(axis.thresholds)
        # Not at the ends, where a number would touch the label of missing values.
        n_numbers = min(n_cuts, _MOST_NUMBERS)
        wanted = np.linspace(-0.5, n_cuts - 0.5, 2 * n_numbers + 1)[1::2].round().astype(int)
        labels = distinct([axis.thresholds[place] for place in wanted])
        ticks = [place + 1.0 for place in wanted]
        is_turned = is_x
    set_ticks = panel.set_xticks if is_x else panel.set_yticks
    set_ticks([*ticks, float(edges[-2:].mean())], [*labels, "missing"])
    if is_turned:
        panel.tick_params(axis="x", rotation=90)
    (panel.set_xlabel if is_x else panel.set_ylabel)(schema.shown_name(axis.feature))
