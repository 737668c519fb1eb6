"""Plot of a branching program: layers downwards, edges as wide as the rows that took them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from aucrank._plots.pyplot import import_pyplot
from aucrank._plots.tree import readable_on, wrap_rule
from aucrank._utils.params import check_bool

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.cm import ScalarMappable
    from matplotlib.collections import LineCollection
    from matplotlib.figure import Figure, SubFigure
    from matplotlib.patches import Patch
    from matplotlib.text import Text

    from aucrank._data.table import Table
    from aucrank.boosting._branching_program import BranchingProgram

# Lengths in inches, for text of 8 points.
_FONT_SIZE = 8.0
_LETTERS_PER_INCH = 15.5
_LINE = 0.145
_PAD = 0.07
_BOX_WIDTH = 1.75
_BOX_APART = 0.3
_BOX_GAP = 0.5
_CIRCLE_APART = 0.72
_CIRCLE_GAP = 0.18
_SMALL, _LARGE = 0.19, 0.27
_MARGIN = 0.15
_SIDE = 0.95
_FOOT = 0.62
_WIDEST_EDGE = 13.0
_MOST_RULES = 5


@dataclass(frozen=True, eq=False)
class BranchingProgramDisplay:
    """Artists drawn by `BranchingProgram.plot`, for further changes.

    Attributes
    ----------
    ax_ : matplotlib.axes.Axes
        The axes.
    figure_ : matplotlib.figure.Figure or SubFigure
        Their figure.
    nodes_ : dict of (int, int) to matplotlib.patches.Patch
        Outline of each node drawn, by layer and index.
    texts_ : dict of (int, int) to matplotlib.text.Text
        Text in each node that training rows reached.
    edges_ : matplotlib.collections.LineCollection
        Edges between nodes, in the order of ``edges`` without those that no row took.
    colours_ : matplotlib.cm.ScalarMappable
        Colours of shares, for a colour bar.
    """

    ax_: Axes
    figure_: Figure | SubFigure
    nodes_: dict[tuple[int, int], Patch]
    texts_: dict[tuple[int, int], Text]
    edges_: LineCollection
    colours_: ScalarMappable


def draw_program(
    program: BranchingProgram, ax: Axes | None, *, rules: bool | None, cmap: Any
) -> BranchingProgramDisplay:
    """Draw a program."""
    plt = import_pyplot("BranchingProgram.plot")
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import Normalize

    with_rules = program.n_layers <= _MOST_RULES if rules is None else check_bool(rules, "rules")
    nodes, edges, n_layers = program.nodes, program.edges, program.n_layers
    texts = [_text(nodes, place, with_rules=with_rules) for place in range(nodes.n_rows)]
    heights = _heights(nodes, texts, n_layers, with_rules=with_rules)
    step = _BOX_WIDTH + _BOX_APART if with_rules else _CIRCLE_APART
    gap = _BOX_GAP if with_rules else _CIRCLE_GAP
    middles = np.zeros(n_layers + 1)
    middles[1:] = np.cumsum((heights[1:] + heights[:-1]) / 2 + gap)
    x = step * (nodes["index"] - (nodes["layer"] - 1) / 2)
    y = middles[nodes["layer"] - 1]
    half = step * (n_layers + 1) / 2
    top, bottom = heights[0] / 2 + 0.35, middles[-1] + heights[-1] / 2
    if ax is None:
        width, height = 2 * half + _SIDE + _MARGIN, top + bottom + _FOOT
        figure = plt.figure(figsize=(width, height))
        ax = figure.add_axes((0, 0, 1, 1))
    ax.set(xlim=(-half - _MARGIN, half + _SIDE), ylim=(bottom + _FOOT, -top), aspect="equal")
    ax.axis("off")

    colours = ScalarMappable(Normalize(0, 1), plt.get_cmap(cmap))
    root = nodes["positives"][0], nodes["negatives"][0]
    drawn = _draw_edges(ax, edges, root, x, y, colours)
    outlines, written = {}, {}
    for place in range(nodes.n_rows):
        at = int(nodes["layer"][place]), int(nodes["index"][place])
        rates = nodes["positives"][place] / root[0], nodes["negatives"][place] / root[1]
        outline, text = _draw_node(
            ax, nodes["kind"][place], (x[place], y[place]), rates, texts[place], colours,
            height=heights[at[0] - 1] if with_rules else None,
        )  # fmt: skip
        outlines[at] = outline
        if text is not None:
            written[at] = text
    _annotate(ax, n_layers, step, middles, heights, half)
    bar = ax.inset_axes(
        (half + 0.28, -top + 0.12, 0.13, min(1.7, bottom + top)), transform=ax.transData
    )
    ax.figure.colorbar(colours, cax=bar).ax.tick_params(labelsize=_FONT_SIZE - 1)
    bar.set_ylabel("positives among rows,\nclasses weighing the same", fontsize=_FONT_SIZE - 1)
    bar.yaxis.set_label_position("left")
    if (nodes["kind"] == "frozen").any():
        ax.text(
            half + _SIDE - 0.1, min(2.1, bottom), "square: frozen", ha="right", va="center",
            fontsize=_FONT_SIZE - 1,
        )  # fmt: skip
    return BranchingProgramDisplay(ax, ax.figure, outlines, written, drawn, colours)


def _text(nodes: Table, place: int, *, with_rules: bool) -> list[str]:
    """Return the text of a node, by line."""
    kind = nodes["kind"][place]
    share = nodes["share"][place]
    if kind == "unreached":
        return []
    sign = {1: "+", -1: "\N{MINUS SIGN}", 0: ""}[int(nodes["label"][place])]
    if not with_rules:
        return [sign] * (kind == "frozen") + [f"{share:.0%}"]
    positives = nodes["positives"][place]
    size = positives + nodes["negatives"][place]
    counts = [f"{_amount(positives)} of {_amount(size)}", f"positive ({share:.1%})"]
    match kind:
        case "ranker":
            rule = wrap_rule(nodes["rule"][place], int(_BOX_WIDTH * _LETTERS_PER_INCH) - 2)
            coin = nodes["zeta"][place]
            says = "else +" if nodes["high"][place] == 1 else "yet \N{MINUS SIGN}"
            return [*rule, *([f"{says} with {coin:.1%}"] if coin > 0 else []), *counts]
        case "coin":
            return ["fair coin", *counts]
        case "frozen":
            return [f"frozen: {sign}", *counts]
    return counts


def _amount(weight: float) -> str:
    return f"{weight:.0f}" if weight == round(weight) else f"{weight:.4g}"


def _heights(
    nodes: Table, texts: list[list[str]], n_layers: int, *, with_rules: bool
) -> NDArray[np.float64]:
    """Height of the nodes of each layer."""
    if not with_rules:
        return np.full(n_layers + 1, 2 * _LARGE)
    lines = np.array([len(text) for text in texts])
    most = [max(1, lines[nodes["layer"] == layer].max()) for layer in range(1, n_layers + 2)]
    return _LINE * np.array(most) + 2 * _PAD


def _balanced(rates: tuple[float, float]) -> float:
    """Share of positives where both classes weigh the same."""
    positive, negative = rates
    return float(positive / (positive + negative)) if positive + negative > 0 else 0.5


def _draw_edges(
    ax: Axes,
    edges: Table,
    root: tuple[float, float],
    x: NDArray[np.float64],
    y: NDArray[np.float64],
    colours: Any,
) -> LineCollection:
    from matplotlib.collections import LineCollection

    lines, widths, faces = [], [], []
    for layer, index, vote, positives, negatives in zip(*edges.values(), strict=True):
        rates = positives / root[0], negatives / root[1]
        if sum(rates) <= 0:
            continue
        start = layer * (layer - 1) // 2 + index
        end = start + layer + vote
        lines.append([(x[start], y[start]), (x[end], y[end])])
        widths.append(0.4 + _WIDEST_EDGE * sum(rates) / 2)
        faces.append(colours.to_rgba(_balanced(rates)))
    found = LineCollection(lines, linewidths=widths, colors=faces, zorder=1, capstyle="round")
    ax.add_collection(found, autolim=False)
    return found


def _draw_node(
    ax: Axes,
    kind: str,
    at: tuple[float, float],
    rates: tuple[float, float],
    lines: list[str],
    colours: Any,
    *,
    height: float | None,
) -> tuple[Patch, Text | None]:
    """Draw one node: a box of the given height, or a circle without one."""
    from matplotlib.patches import Circle, FancyBboxPatch, Rectangle

    (x, y), mass = at, sum(rates) / 2
    if kind == "unreached":
        dot = Circle(at, 0.035, facecolor="white", edgecolor="0.7", linewidth=0.7, zorder=2)
        ax.add_patch(dot)
        return dot, None
    face = colours.to_rgba(_balanced(rates))
    style: dict[str, Any] = {
        "facecolor": face, "edgecolor": "black" if kind == "frozen" else "0.35", "zorder": 2,
        "linewidth": 1.6 if kind == "frozen" else 0.8, "linestyle": "--" if kind == "coin" else "-",
    }  # fmt: skip
    outline: Patch
    if height is not None:
        tall = _LINE * len(lines) + 2 * _PAD
        corner = (x - _BOX_WIDTH / 2, y - tall / 2)
        if kind == "frozen":
            outline = Rectangle(corner, _BOX_WIDTH, tall, **style)
        else:
            rounding = "round,pad=0,rounding_size=0.08"
            outline = FancyBboxPatch(corner, _BOX_WIDTH, tall, boxstyle=rounding, **style)
    else:
        radius = np.sqrt(_SMALL**2 + (_LARGE**2 - _SMALL**2) * min(mass, 1))
        if kind == "frozen":
            outline = Rectangle((x - radius, y - radius), 2 * radius, 2 * radius, **style)
        else:
            outline = Circle(at, radius, **style)
    ax.add_patch(outline)
    text = ax.text(
        x, y, "\n".join(lines), ha="center", va="center", linespacing=1.15, parse_math=False,
        fontsize=_FONT_SIZE if height is not None else _FONT_SIZE - 1, color=readable_on(face),
        zorder=3,
    )  # fmt: skip
    return outline, text


def _annotate(
    ax: Axes,
    n_layers: int,
    step: float,
    middles: NDArray[np.float64],
    heights: NDArray[np.float64],
    half: float,
) -> None:
    """Write where edges go, the votes below the terminal nodes, and their meaning."""
    ax.text(
        0, -heights[0] / 2 - 0.17,
        "\N{LEFTWARDS ARROW} called negative    called positive \N{RIGHTWARDS ARROW}",
        ha="center", va="center", fontsize=_FONT_SIZE,
    )  # fmt: skip
    foot = middles[-1] + heights[-1] / 2
    for votes in range(n_layers + 1):
        x = step * (votes - n_layers / 2)
        word = f"{votes} vote{'s' * (votes != 1)}" if step > 1 else str(votes)
        ax.text(x, foot + 0.13, word, ha="center", va="center", fontsize=_FONT_SIZE)
    # Half of the votes, or more, are for positive (DECISIONS B15).
    first = -(-n_layers // 2)
    line = step * (first - 0.5 - n_layers / 2)
    ax.plot([line, line], [foot - heights[-1] - 0.08, foot + 0.55], "--", color="0.4", linewidth=1)
    for side, word in ((-1, "majority negative"), (1, "majority positive")):
        ax.text(
            line + side * 0.1, foot + 0.4, word, ha="right" if side < 0 else "left", va="center",
            fontsize=_FONT_SIZE,
        )  # fmt: skip
    if step < 1:
        ax.text(half, foot + 0.13, "votes", ha="left", va="center", fontsize=_FONT_SIZE)
