"""Plot of a binned feature: its ROC curve with the cuts, and the rows in each bin."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from aucrank._plots.pyplot import import_pyplot
from aucrank._utils.numbers import rounded

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.collections import LineCollection
    from matplotlib.container import BarContainer
    from matplotlib.figure import Figure, SubFigure
    from matplotlib.lines import Line2D
    from matplotlib.text import Annotation

    from aucrank._export.bins import Bin
    from aucrank.additive._bin_table import RankedFeature
    from aucrank.metrics import RocCurve

# Inches; widths and heights of the panels relative to each other.
_SIZE = (10.0, 4.6)
_WIDTHS = (1.0, 1.35)
_HEIGHTS = (1.6, 1.0)
_FONT_SIZE = 8.0
# Gap between bins of different kinds, in widths of a bin.
_GAP = 0.5
# Maximum number of labelled corners, and widest bars of numbers with text.
_MOST_LABELS = 14
_MOST_TEXTS = 12
_MOST_TICKS = 24
_LONGEST = 18
# Spacing of labels of the curve, in rates: between lines of text, from the curve, per letter.
_LINE = 0.048
_APART = 0.035
_LETTER = 0.0185
_SLANT = 0.6
# Distinguishable in greyscale as well.
_DARK, _LIGHT, _RAW = "#1f4e79", "#b9d3ea", "0.55"


@dataclass(frozen=True, eq=False)
class FeatureDisplay:
    """Artists drawn by `MAD2C.plot_feature` and `RIMARC.plot_feature`, for further changes.

    Attributes
    ----------
    roc_ax_ : matplotlib.axes.Axes
        The axes of the ROC curve.
    rate_ax_ : matplotlib.axes.Axes
        The axes of the share of positives in each bin.
    rows_ax_ : matplotlib.axes.Axes
        The axes of the rows in each bin.
    figure_ : matplotlib.figure.Figure or SubFigure
        Their figure.
    hull_line_ : matplotlib.lines.Line2D
        The curve of the bins.
    curve_line_ : matplotlib.lines.Line2D or None
        The curve of the rows that were passed.
    corner_texts_ : dict of int to matplotlib.text.Annotation
        Labels at corners of the hull, by their place on it from (0, 0) on: the cut, or the category
        that ends there. If there are many, only some are labelled.
    rate_lines_ : matplotlib.collections.LineCollection
        The shares of positives, one line per bin from left to right.
    positive_bars_, negative_bars_ : matplotlib.container.BarContainer
        The rows of each class, one bar per bin from left to right.
    """

    roc_ax_: Axes
    rate_ax_: Axes
    rows_ax_: Axes
    figure_: Figure | SubFigure
    hull_line_: Line2D
    curve_line_: Line2D | None
    corner_texts_: dict[int, Annotation]
    rate_lines_: LineCollection
    positive_bars_: BarContainer
    negative_bars_: BarContainer


def draw_feature(
    feature: RankedFeature,
    listed: list[int],
    base_rate: float,
    curve: RocCurve | None,
    ax: Sequence[Axes] | None,
    caller: str,
) -> FeatureDisplay:
    """Draw a feature in bins.

    Parameters
    ----------
    feature : RankedFeature
        The feature.
    listed : list of int
        The places of its bins that are drawn, from left to right.
    base_rate : float
        Share of positives of all rows.
    curve : RocCurve or None
        Curve of rows, drawn behind that of the bins.
    ax : sequence of three matplotlib.axes.Axes, or None
        Axes to draw on; None makes a figure.
    caller : str
        Public function, for the message if matplotlib is missing.

    Returns
    -------
    FeatureDisplay
        What was drawn.
    """
    plt = import_pyplot(caller)
    if ax is None:
        figure = plt.figure(figsize=_SIZE, layout="constrained")
        # Subfigures, since in one grid two panels would cover the title of the square next to them.
        left, right = figure.subfigures(1, 2, width_ratios=_WIDTHS)
        roc_ax = left.add_subplot()
        rate_ax, rows_ax = right.subplots(2, 1, sharex=True, height_ratios=_HEIGHTS)
    else:
        axes = list(np.ravel(np.array(ax, dtype=object)))
        if len(axes) != 3:
            raise ValueError(
                "ax must be three axes, for the ROC curve, the shares and the rows of the bins;"
                f" got {len(axes)}"
            )
        roc_ax, rate_ax, rows_ax = axes
        figure = roc_ax.figure
    hull, curve_line, texts = _draw_curve(roc_ax, feature, curve)
    bins = [feature.bins[place] for place in listed]
    middles = _middles(bins)
    rates = _draw_rates(rate_ax, bins, middles, base_rate)
    positive, negative = _draw_rows(rows_ax, bins, middles)
    _write_values(rows_ax, feature, bins, middles)
    rate_ax.set_xlim(middles[0] - 0.7, middles[-1] + 0.7)
    rows_ax.set_xlim(rate_ax.get_xlim())
    rate_ax.set_xticks(rows_ax.get_xticks())
    rate_ax.tick_params(axis="x", labelbottom=False)
    return FeatureDisplay(
        roc_ax, rate_ax, rows_ax, figure, hull, curve_line, texts, rates, positive, negative
    )


def _ranked(feature: RankedFeature) -> list[int]:
    """Return the places of the bins on the curve, that of the largest share first."""
    kinds = ("interval", "category")
    known = [p for p, b in enumerate(feature.bins) if b.kind in kinds and b.size]
    return sorted(known, key=lambda place: -feature.direction * feature.numbers[place])


def _draw_curve(
    ax: Axes, feature: RankedFeature, curve: RocCurve | None
) -> tuple[Line2D, Line2D | None, dict[int, Annotation]]:
    ranked = _ranked(feature)
    n_pos = np.array([feature.bins[place].n_pos for place in ranked])
    n_neg = np.array([feature.bins[place].size for place in ranked]) - n_pos
    if n_pos.sum() > 0 and n_neg.sum() > 0:
        fpr, tpr = (np.append(0, np.cumsum(part) / part.sum()) for part in (n_neg, n_pos))
    else:
        ranked, fpr, tpr = [], np.array([0.0, 1.0]), np.array([0.0, 1.0])
    ax.plot([0, 1], [0, 1], color="0.7", linestyle="--", linewidth=0.9, zorder=1)
    curve_line = None
    if curve is not None:
        what = "all values" if feature.cuts is not None else "rows"
        (curve_line,) = ax.plot(
            curve.fpr, curve.tpr, color=_RAW, linewidth=1.1, zorder=2,
            label=f"{what}, AUC {curve.auc:.3f}",
        )  # fmt: skip
    area = np.diff(fpr) @ (tpr[1:] + tpr[:-1]) / 2
    size = 4 if len(fpr) <= _MOST_TICKS else 2
    (hull,) = ax.plot(
        fpr, tpr, color=_DARK, linewidth=1.6, marker="o", markersize=size, zorder=3, clip_on=False,
        label=f"bins, AUC {area:.3f}",
    )  # fmt: skip
    ax.set(xlabel="False positive rate", ylabel="True positive rate", aspect="equal")
    ax.set(xlim=(-0.01, 1.01), ylim=(-0.01, 1.01))
    ax.set_title(feature.name, parse_math=False)
    handles, labels = ax.get_legend_handles_labels()
    ax.legend(
        handles[::-1], labels[::-1], loc="lower right", frameon=False, fontsize=_FONT_SIZE + 1
    )
    curves = [(fpr, tpr)] if curve is None else [(fpr, tpr), (curve.fpr, curve.tpr)]
    return hull, curve_line, _label_corners(ax, _corners(feature, ranked), curves)


def _corners(feature: RankedFeature, ranked: list[int]) -> dict[int, str]:
    """Label the corners of the hull, up to a maximum number."""
    cuts = feature.cut_labels
    if feature.cuts is None:
        said = {k: _short(feature.bins[p].label) for k, p in enumerate(ranked, start=1)}
    elif feature.direction > 0:
        said = {k: f"≥ {cuts[p - 1]}" for k, p in enumerate(ranked[:-1], start=1)}
    else:
        said = {k: f"< {cuts[p]}" for k, p in enumerate(ranked[:-1], start=1)}
    # Those that separate the most rows.
    sizes = [feature.bins[place].size for place in ranked]
    parted = {k: min(sizes[k - 1], sizes[min(k, len(sizes) - 1)]) for k in said}
    kept = sorted(said, key=lambda k: (-parted[k], k))[:_MOST_LABELS]
    return {k: said[k] for k in sorted(kept)}


def _label_corners(
    ax: Axes,
    said: dict[int, str],
    curves: list[tuple[NDArray[np.float64], NDArray[np.float64]]],
) -> dict[int, Annotation]:
    """Write labels on the lower right of the curves, in their order and apart from each other.

    The first curve is the one with the corners.
    """
    from sklearn.isotonic import isotonic_regression

    if not said:
        return {}
    corners = np.array(list(said))
    width = _LETTER * max(map(len, said.values())) + 0.01
    fpr, tpr = curves[0]
    steps = _LINE * np.arange(len(corners))
    # Above that, a label would reach the right border before it is clear of the curve.
    top = min(float(np.interp(1 - width - _APART, *curve)) for curve in curves) - _LINE
    room = max(top - steps[-1], 0.03)
    first = isotonic_regression(tpr[corners] - _APART - steps, y_min=0.03, y_max=room)
    y = first + steps
    # A label may collide with the curve at its top.
    ceilings = np.minimum(y + _LINE / 2, 1)
    nearest = np.max([np.interp(ceilings, tpr, fpr) for fpr, tpr in curves], axis=0) + _APART
    # The farther from its corner, the farther right, so that lines avoid other labels.
    aside = nearest + _SLANT * np.abs(tpr[corners] - _APART - y)
    x = np.maximum(nearest, np.minimum(aside, 1 - width))
    texts = {}
    for corner, place in zip(said, zip(x, y, strict=True), strict=True):
        texts[corner] = ax.annotate(
            said[corner], (fpr[corner], tpr[corner]), place, ha="left", va="center",
            fontsize=_FONT_SIZE, zorder=4, parse_math=False, annotation_clip=False,
            bbox={"boxstyle": "round,pad=0.05", "facecolor": "white", "edgecolor": "none"},
            arrowprops={
                "arrowstyle": "-", "color": "0.6", "linewidth": 0.6, "shrinkB": 2.5,
                "relpos": (0, 0.5),
            },
        )  # fmt: skip
    return texts


def _middles(bins: list[Bin]) -> NDArray[np.float64]:
    """Place bins side by side, with a gap between kinds."""
    kinds = [bin_.kind for bin_ in bins]
    apart = [0.0 if k == 0 else 1.0 + _GAP * (kinds[k] != kinds[k - 1]) for k in range(len(bins))]
    return np.cumsum(apart)


def _half_width(bin_: Bin) -> float:
    """Half the width of a bin: intervals meet at their cuts."""
    return 0.5 if bin_.kind == "interval" else 0.4


def _draw_rates(
    ax: Axes, bins: list[Bin], middles: NDArray[np.float64], base_rate: float
) -> LineCollection:
    rates = np.array([bin_.rate for bin_ in bins])
    halves = np.array([_half_width(bin_) for bin_ in bins])
    lines = ax.hlines(rates, middles - halves, middles + halves, color=_DARK, linewidth=2, zorder=3)
    meeting = [k for k in range(1, len(bins)) if bins[k].kind == bins[k - 1].kind == "interval"]
    ax.vlines(
        middles[meeting] - 0.5, rates[np.array(meeting, dtype=int) - 1], rates[meeting],
        color=_DARK, linewidth=0.8, zorder=3,
    )  # fmt: skip
    ax.axhline(
        base_rate,
        color="0.4",
        linestyle=":",
        linewidth=1,
        zorder=1,
        label=f"all rows, {base_rate:.3f}",
    )
    top = max(rates.max(), base_rate)
    ax.set_ylim(-0.02 * top, 1.17 * top)
    if len(bins) <= _MOST_TEXTS:
        for rate, middle in zip(rates, middles, strict=True):
            ax.annotate(
                f"{rate:.0f}" if rate in (0, 1) else f"{rate:.3f}",
                (middle, rate), (0, 3), textcoords="offset points", ha="center", va="bottom",
                fontsize=_FONT_SIZE, zorder=2,
                bbox={"boxstyle": "square,pad=0.05", "facecolor": "white", "edgecolor": "none"},
            )  # fmt: skip
    ax.set_ylabel("Share of positives")
    ax.legend(loc="best", frameon=False, fontsize=_FONT_SIZE)
    return lines


def _draw_rows(
    ax: Axes, bins: list[Bin], middles: NDArray[np.float64]
) -> tuple[BarContainer, BarContainer]:
    n_pos = np.array([bin_.n_pos for bin_ in bins])
    sizes = np.array([bin_.size for bin_ in bins])
    widths = np.array([2 * _half_width(bin_) for bin_ in bins])
    # An edge would hide thin bars.
    rim = 0.8 if len(bins) <= _MOST_TICKS else 0.0
    style: dict[str, Any] = {"linewidth": rim, "width": widths, "edgecolor": "white"}
    positive = ax.bar(middles, n_pos, color=_DARK, label="positive", **style)
    negative = ax.bar(middles, sizes - n_pos, bottom=n_pos, color=_LIGHT, label="negative", **style)
    if len(bins) <= _MOST_TEXTS:
        for size, middle in zip(sizes, middles, strict=True):
            ax.annotate(
                rounded(size), (middle, size), (0, 2), textcoords="offset points", ha="center",
                va="bottom", fontsize=_FONT_SIZE,
            )  # fmt: skip
    ax.set_ylim(0, 1.22 * sizes.max())
    whole = np.array_equal(sizes, sizes.round()) and np.array_equal(n_pos, n_pos.round())
    ax.set_ylabel("Rows" if whole else "Weight of rows")
    ax.legend(loc="best", frameon=False, fontsize=_FONT_SIZE, ncols=2)
    return positive, negative


def _write_values(
    ax: Axes, feature: RankedFeature, bins: list[Bin], middles: NDArray[np.float64]
) -> None:
    """Write cuts where intervals meet, and the values of other bins below them."""
    ticks: list[tuple[float, str]] = []
    meeting = [k for k in range(1, len(bins)) if bins[k].kind == bins[k - 1].kind == "interval"]
    every = 1 + len(meeting) // _MOST_TICKS
    cuts = feature.cut_labels
    ticks = [(middles[k] - 0.5, cuts[k - 1]) for k in meeting[::every]]
    others = [k for k, bin_ in enumerate(bins) if bin_.kind != "interval"]
    every = 1 + len(others) // (2 * _MOST_TICKS)
    ticks += [
        (middles[k], _short(bins[k].label))
        for place, k in enumerate(others)
        if place % every == 0 or bins[k].kind == "missing"
    ]
    if not meeting and bins[0].kind == "interval":
        ticks.insert(0, (middles[0], "known"))
    labels = [label for _, label in ticks]
    # Number of letters that fit side by side below the panel.
    span = middles[-1] - middles[0] + 1.4
    apart = min(np.diff([place for place, _ in ticks]), default=1.0)
    crowded = max(map(len, labels), default=0) > 80 * apart / span
    ax.set_xticks(
        [place for place, _ in ticks], labels, parse_math=False, fontsize=_FONT_SIZE,
        rotation=90 if crowded else 0,
    )  # fmt: skip
    ax.set_xlabel(feature.name, parse_math=False)


def _short(label: str) -> str:
    """Leave out the middle of a long name: names often differ at their ends."""
    half = _LONGEST // 2
    return label if len(label) <= _LONGEST else f"{label[: half - 1]}...{label[2 - half :]}"
