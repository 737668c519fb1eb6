"""Plot of a ranking tree: boxes with rules and counts, and its ROC curve next to them."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from aucrank._plots.pyplot import import_pyplot
from aucrank._utils.numbers import rounded
from aucrank._utils.params import check_bool, check_int

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.collections import LineCollection, PathCollection
    from matplotlib.figure import Figure, SubFigure
    from matplotlib.text import Annotation, Text

    from aucrank._data.table import Table
    from aucrank.tree._ranking_tree import RankingTree

# Lengths in inches, for text of 8 points.
_FONT_SIZE = 8.0
_LINE = 0.15
_PAD = 0.07
_LEAF_WIDTH = 1.25
_LEVEL_GAP = 0.42
_MARGIN = 0.25
_ROC_SIDE = 3.6
_ROC_MARGIN = 0.65
# A letter of that size is about 0.066 inches wide.
_LETTERS_PER_INCH = 15.0
_MAX_RULE_WIDTH = 3.4
_MAX_RULE_LINES = 4
# Distances of labels in rates, along the diagonal and across it.
_NUMBERS_APART = 0.034
_NUMBERS_BELOW = 0.04


@dataclass(frozen=True, eq=False)
class RankingTreeDisplay:
    """Artists drawn by `RankingTree.plot`, for further changes.

    Attributes
    ----------
    ax_ : matplotlib.axes.Axes
        The axes of the tree.
    figure_ : matplotlib.figure.Figure or SubFigure
        Their figure.
    roc_ax_ : matplotlib.axes.Axes or None
        The axes of the training ROC curve, if it was drawn.
    node_texts_ : dict of int to matplotlib.text.Text
        Text of each node drawn, by its number in ``nodes``; ``get_bbox_patch()`` is its box.
    edges_ : matplotlib.collections.LineCollection
        The lines from nodes to their children.
    edge_texts_ : dict of int to matplotlib.text.Text
        "yes" or "no" above each node but the root.
    knots_ : matplotlib.collections.PathCollection or None
        The knots of the ROC curve at which leaves end.
    knot_texts_ : dict of int to matplotlib.text.Annotation
        The number at each knot, by the rank of the leaf that ends there; only for leaves that are
        drawn.
    """

    ax_: Axes
    figure_: Figure | SubFigure
    roc_ax_: Axes | None
    node_texts_: dict[int, Text]
    edges_: LineCollection
    edge_texts_: dict[int, Text]
    knots_: PathCollection | None
    knot_texts_: dict[int, Annotation]


@dataclass(frozen=True)
class _Box:
    """A node of the plot: its position, in inches from the top left, and its text."""

    node: int
    parent: int
    depth: int
    x: float
    text: str
    is_end: bool
    is_cut: bool
    is_yes: bool

    @property
    def height(self) -> float:
        return _LINE * (self.text.count("\n") + 1) + 2 * _PAD


def draw_tree(
    tree: RankingTree,
    ax: Axes | Sequence[Axes] | None,
    *,
    max_depth: int | None,
    roc: bool,
    cmap: Any,
) -> RankingTreeDisplay:
    """Draw a tree, and with ``roc`` its training curve on the right."""
    plt = import_pyplot("RankingTree.plot")
    check_int(max_depth, "max_depth", low=0, optional=True)
    check_bool(roc, "roc")
    boxes, width = _lay_out(tree, max_depth)
    tops = _tops(boxes)
    height = max(tops[box.depth] + box.height for box in boxes)
    left, right = -_MARGIN, width + _MARGIN
    if ax is None:
        tree_ax, roc_ax = _new_axes(plt, right - left, height + 2 * _MARGIN, roc=roc)
    else:
        axes = list(np.ravel(np.array(ax, dtype=object)))
        if len(axes) != 1 + roc:
            wanted = "two axes, for the tree and its ROC curve" if roc else "one axes"
            raise ValueError(f"ax must be {wanted}, got {len(axes)}")
        tree_ax, roc_ax = axes[0], axes[1] if roc else None
    tree_ax.set(xlim=(left, right), ylim=(height + _MARGIN, -_MARGIN))
    tree_ax.axis("off")

    colours = plt.get_cmap(cmap)
    top_eta = float(max(tree.strata["eta"].max(), np.finfo(float).tiny))
    texts = {}
    for box in boxes:
        face = colours(tree.nodes["eta"][box.node] / top_eta) if box.is_end else (1, 1, 1, 1)
        texts[box.node] = tree_ax.text(
            box.x, tops[box.depth] + _PAD, box.text,
            ha="center", va="top", fontsize=_FONT_SIZE, linespacing=1.15, parse_math=False,
            color=readable_on(face), zorder=3,
            bbox={
                "boxstyle": f"round,pad={_PAD * 72 / _FONT_SIZE:.3f},rounding_size=0.3",
                "facecolor": face, "edgecolor": "0.35", "linewidth": 0.8,
                "linestyle": "--" if box.is_cut else "-",
            },
        )  # fmt: skip
    edges, edge_texts = _draw_edges(tree_ax, boxes, tops)
    knots: PathCollection | None = None
    knot_texts: dict[int, Annotation] = {}
    if roc_ax is not None:
        shown = {box.node for box in boxes if box.is_end and not box.is_cut}
        knots, knot_texts = _draw_roc(roc_ax, tree, shown, colours, top_eta)
    return RankingTreeDisplay(
        tree_ax, tree_ax.figure, roc_ax, texts, edges, edge_texts, knots, knot_texts
    )


def _new_axes(plt: Any, width: float, height: float, *, roc: bool) -> tuple[Axes, Axes | None]:
    """Make a figure in which an inch of the tree is an inch on paper."""
    other_columns = _ROC_SIDE + 2 * _ROC_MARGIN if roc else 0.0
    whole = max(height, other_columns)
    figure = plt.figure(figsize=(width + other_columns, whole))
    total = width + other_columns
    tree_ax = figure.add_axes((0, 1 - height / whole, width / total, height / whole))
    if not roc:
        return tree_ax, None
    corner = (width + _ROC_MARGIN) / total, 1 - (_ROC_SIDE + _ROC_MARGIN) / whole
    return tree_ax, figure.add_axes((*corner, _ROC_SIDE / total, _ROC_SIDE / whole))


def _lay_out(tree: RankingTree, max_depth: int | None) -> tuple[list[_Box], float]:
    """Place ends at equal distances from left to right, and parents between their children.

    Returns the boxes, from the root and left before right, and the width of all in inches.
    """
    nodes, strata = tree.nodes, tree.strata
    left, right, depth = nodes["left"], nodes["right"], nodes["depth"]
    rank = dict(zip(strata["node"].tolist(), strata["rank"].tolist(), strict=True))
    n_leaves: dict[int, int] = {}
    x: dict[int, float] = {}
    shown: list[int] = []
    opened: set[int] = set()
    n_ends = 0
    # Depth first without recursion; a node comes back after its children.
    stack, is_inside = [(0, False)], {0: True}
    while stack:
        node, is_back = stack.pop()
        children = [int(left[node]), int(right[node])] if left[node] >= 0 else []
        is_open = bool(children) and (max_depth is None or depth[node] < max_depth)
        if not is_back:
            if is_inside[node]:
                shown.append(node)
            stack.append((node, True))
            for child in reversed(children):
                is_inside[child] = is_inside[node] and is_open
                stack.append((child, False))
            continue
        n_leaves[node] = sum(n_leaves[child] for child in children) if children else 1
        if is_inside[node]:
            if is_open:
                opened.add(node)
                x[node] = (x[children[0]] + x[children[1]]) / 2
            else:
                x[node] = n_ends + 0.5
                n_ends += 1

    texts: dict[int, list[str]] = {}
    is_cut: dict[int, bool] = {}
    for node in shown:
        if node not in opened:
            is_cut[node] = bool(left[node] >= 0)
            head = f"+ {n_leaves[node]} leaves" if is_cut[node] else f"#{rank[node]}"
            texts[node] = [head, *_counts(nodes, node)]
    unit = max(_LEAF_WIDTH, _width(line for lines in texts.values() for line in lines) + 0.05)
    room = _room(shown, depth, {node: unit * place for node, place in x.items()})
    for node in opened:
        counts = _counts(nodes, node)
        if len(" ".join(counts)) <= room[node]:
            counts = [" ".join(counts)]
        texts[node] = [*wrap_rule(nodes["rule"][node], room[node]), *counts]

    boxes = []
    for node in shown:
        parent = int(nodes["parent"][node])
        boxes.append(
            _Box(
                node, parent, int(depth[node]), unit * x[node], "\n".join(texts[node]),
                is_end=node in is_cut, is_cut=is_cut.get(node, False),
                is_yes=parent >= 0 and int(left[parent]) == node,
            )
        )  # fmt: skip
    return boxes, unit * n_ends


def _counts(nodes: Table, node: int) -> list[str]:
    n_pos, size = _amount(nodes["n_pos"][node]), _amount(nodes["size"][node])
    return [f"{n_pos} of {size}", f"positive ({nodes['eta'][node]:.1%})"]


def _width(lines: Iterable[str]) -> float:
    """Width of a box around lines of text."""
    return max(map(len, lines)) / _LETTERS_PER_INCH + 2 * _PAD


def _room(shown: list[int], depth: Any, x: dict[int, float]) -> dict[int, int]:
    """Letters that fit in a line of each node, by its distance to its neighbours."""
    by_depth: dict[int, list[int]] = {}
    for node in shown:
        by_depth.setdefault(int(depth[node]), []).append(node)
    room = {}
    for row in by_depth.values():
        places = [-np.inf, *(x[node] for node in row), np.inf]
        for node, before, here, after in zip(row, places, places[1:], places[2:], strict=False):
            inches = min(here - before, after - here, _MAX_RULE_WIDTH) - 0.15
            room[node] = int(inches * _LETTERS_PER_INCH)
    return room


def wrap_rule(rule: str, width: int) -> list[str]:
    """Break a rule into at most four lines of ``width`` letters, each sign with its value."""
    # No break at a no-break space.
    glued = re.sub(r" (>=|<|>|=|!=|in|not in|is) ", lambda m: f" {m[1]}\u00a0", rule)
    # As in `0.5 <= x0 < 1`, where the sign belongs to the value before it.
    glued = glued.replace(" <= ", "\u00a0<=\u00a0")
    lines = textwrap.wrap(glued, width, max_lines=_MAX_RULE_LINES, placeholder=" ...")
    return [line.replace("\u00a0", " ") for line in lines]


def _amount(weight: Any) -> str:
    return f"{weight:d}" if isinstance(weight, int | np.integer) else rounded(weight)


def _tops(boxes: list[_Box]) -> list[float]:
    """Top of the boxes of each depth, below the tallest of the depth before."""
    tops = [0.0]
    for depth in range(max(box.depth for box in boxes)):
        tallest = max(box.height for box in boxes if box.depth == depth)
        tops.append(tops[-1] + tallest + _LEVEL_GAP)
    return tops


def _draw_edges(
    ax: Axes, boxes: list[_Box], tops: list[float]
) -> tuple[LineCollection, dict[int, Text]]:
    """Draw edges that run sideways only between two rows of boxes, so that they cross none."""
    from matplotlib.collections import LineCollection

    by_node = {box.node: box for box in boxes}
    lines, texts = [], {}
    for box in boxes[1:]:
        parent = by_node[box.parent]
        top = tops[box.depth]
        turn = top - 0.6 * _LEVEL_GAP
        # Both ends lie behind a box, however high its text turns out.
        start, end = tops[parent.depth] + parent.height / 2, top + box.height / 2
        lines.append([(parent.x, start), (parent.x, turn), (box.x, turn), (box.x, end)])
        texts[box.node] = ax.text(
            box.x, top - 0.28 * _LEVEL_GAP, "yes" if box.is_yes else "no",
            ha="center", va="center", fontsize=_FONT_SIZE - 1, color="0.25", zorder=2,
            bbox={"boxstyle": "square,pad=0.1", "facecolor": "white", "edgecolor": "none"},
        )  # fmt: skip
    edges = LineCollection(lines, colors="0.5", linewidths=0.9, zorder=1)
    ax.add_collection(edges, autolim=False)
    return edges, texts


def _draw_roc(
    ax: Axes, tree: RankingTree, shown: set[int], colours: Any, top_eta: float
) -> tuple[PathCollection, dict[int, Annotation]]:
    strata = tree.strata
    tree.roc.plot(ax, color="0.5", plot_chance_level=True)
    ends = np.column_stack((strata["fpr_to"], strata["tpr_to"]))
    knots = ax.scatter(
        ends[:, 0], ends[:, 1], s=22, c=colours(strata["eta"] / top_eta), edgecolors="0.2",
        linewidths=0.7, zorder=3, clip_on=False,
    )  # fmt: skip
    ax.set_title("Training ROC curve: leaf #k ends at knot k", fontsize=_FONT_SIZE + 1)
    numbered = np.flatnonzero(np.isin(strata["node"], list(shown)))
    texts: dict[int, Annotation] = {}
    for leaf, place in zip(numbered, _number_places(ends, numbered), strict=True):
        rank = int(strata["rank"][leaf])
        texts[rank] = ax.annotate(
            str(rank), tuple(ends[leaf]), tuple(place),
            ha="center", va="center", fontsize=_FONT_SIZE, zorder=4,
            bbox={"boxstyle": "round,pad=0.05", "facecolor": "white", "edgecolor": "none"},
            arrowprops={"arrowstyle": "-", "color": "0.6", "linewidth": 0.6, "shrinkB": 2.5},
        )  # fmt: skip
    return knots, texts


def _number_places(ends: NDArray[np.float64], numbered: NDArray[np.intp]) -> NDArray[np.float64]:
    """Places of numbers on a line below the curve, in its order and apart from each other.

    Along the diagonal both rates rise, so that the curve is a function of the way along it.
    """
    from sklearn.isotonic import isotonic_regression

    along, above = (ends[:, 1] + ends[:, 0]) / 2, (ends[:, 1] - ends[:, 0]) / 2
    if not numbered.size:
        return np.empty((0, 2))
    steps = min(_NUMBERS_APART, 0.94 / len(numbered)) * np.arange(len(numbered))
    # Nearest places with these minimum steps between them, by least squares.
    first = isotonic_regression(along[numbered] - steps, y_min=0.03, y_max=0.97 - steps[-1])
    places = first + steps
    depth = np.interp(places, np.append(0, along), np.append(0, above)) - _NUMBERS_BELOW
    found: NDArray[np.float64] = np.column_stack((places - depth, places + depth))
    return found


def readable_on(face: Any) -> str:
    """Black or white text, whichever has more contrast (relative luminance of WCAG)."""
    channels = np.asarray(face[:3])
    linear = np.where(channels <= 0.04045, channels / 12.92, ((channels + 0.055) / 1.055) ** 2.4)
    return "black" if linear @ (0.2126, 0.7152, 0.0722) > 0.179 else "white"
