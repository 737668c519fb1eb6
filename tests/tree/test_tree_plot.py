"""The picture of a ranking tree against the tables that it shows."""

from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from aucrank import TreeRank
from aucrank._plots.tree import wrap_rule
from aucrank.datasets import load_breast_cancer
from aucrank.tree import LeafRank

from tests.common.processes import said_without_matplotlib

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("agg")
plt = pytest.importorskip("matplotlib.pyplot")
Text = pytest.importorskip("matplotlib.text").Text

X, Y = load_breast_cancer(return_X_y=True, as_frame=True)


pytestmark = pytest.mark.usefixtures("plt")


def grow(rows=X, **params):
    return (
        TreeRank(**{"pruning": None, "max_depth": 3, "random_state": 0, **params})
        .fit(rows, Y)
        .tree_
    )


TREES = {
    "one leaf": lambda: grow().prune(1.0),
    "two leaves": lambda: grow(max_depth=1),
    "stumps": lambda: grow(max_depth=4),
    "leafrank": lambda: grow(split=LeafRank(max_depth=3)),
    "twenty leaves": lambda: grow(X.iloc[:, 1:10:4], max_depth=6).best_subtree(20),
}


@pytest.fixture(params=TREES)
def tree(request):
    return TREES[request.param]()


def test_every_node_shows_how_many_of_its_rows_are_positive(tree):
    display = tree.plot()
    nodes, strata = tree.nodes, tree.strata
    rank = dict(zip(strata["node"], strata["rank"], strict=True))
    assert sorted(display.node_texts_) == nodes["node"].tolist()
    for node, text in display.node_texts_.items():
        # Line breaks are where there is room.
        said = " ".join(text.get_text().split())
        counts = f"{nodes['n_pos'][node]} of {nodes['size'][node]} positive"
        assert said.endswith(f"{counts} ({nodes['eta'][node]:.1%})")
        rule = said.removesuffix(f" {counts} ({nodes['eta'][node]:.1%})")
        if node in rank:
            assert rule == f"#{rank[node]}"
        elif rule.endswith("..."):
            assert nodes["rule"][node].startswith(rule.removesuffix(" ..."))
        else:
            assert rule == nodes["rule"][node]


def test_every_edge_leads_to_yes_on_the_left_and_to_no_on_the_right(tree):
    display = tree.plot()
    nodes = tree.nodes
    children = nodes["node"][1:]
    assert sorted(display.edge_texts_) == children.tolist()
    assert len(display.edges_.get_segments()) == len(children)
    for node in children:
        is_left = nodes["left"][nodes["parent"][node]] == node
        assert display.edge_texts_[node].get_text() == ("yes" if is_left else "no")
    x = {node: text.get_position()[0] for node, text in display.node_texts_.items()}
    for node, left, right in zip(nodes["node"], nodes["left"], nodes["right"], strict=True):
        if left >= 0:
            assert x[left] < x[node] < x[right]
            assert x[node] == pytest.approx((x[left] + x[right]) / 2)
    # Leaves from left to right, at equal distances.
    leaves = [x[node] for node in nodes["node"] if nodes["left"][node] < 0]
    assert leaves == sorted(leaves)
    np.testing.assert_allclose(np.diff(leaves, 2), 0, atol=1e-12)


def test_edges_go_from_a_box_to_a_box(tree):
    display = tree.plot()
    display.figure_.canvas.draw()
    to_pixels = display.ax_.transData.transform
    boxes = {
        node: t.get_bbox_patch().get_window_extent() for node, t in display.node_texts_.items()
    }
    children = [node for node in display.node_texts_ if node != 0]
    for node, line in zip(children, display.edges_.get_segments(), strict=True):
        assert boxes[tree.nodes["parent"][node]].contains(*to_pixels(line[0]))
        assert boxes[node].contains(*to_pixels(line[-1]))


def test_nothing_overlaps_and_nothing_is_cut_off(tree):
    display = tree.plot()
    display.figure_.canvas.draw()
    boxes = [t.get_bbox_patch().get_window_extent() for t in display.node_texts_.values()]
    boxes += [text.get_window_extent() for text in display.edge_texts_.values()]
    for first, second in combinations(boxes, 2):
        assert not first.overlaps(second)
    # Without the lines to their knots.
    numbers = [Text.get_window_extent(text) for text in display.knot_texts_.values()]
    for first, second in combinations(numbers, 2):
        assert not first.overlaps(second)
    page = display.figure_.bbox
    for box in [*boxes, *numbers, display.roc_ax_.get_tightbbox()]:
        assert page.x0 <= box.x0 <= box.x1 <= page.x1
        assert page.y0 <= box.y0 <= box.y1 <= page.y1
    # Neither do the two pictures.
    assert max(box.x1 for box in boxes) < display.roc_ax_.get_tightbbox().x0


def test_the_numbers_on_the_curve_are_those_of_the_leaves(tree):
    display = tree.plot()
    strata = tree.strata
    knots = np.asarray(display.knots_.get_offsets())
    np.testing.assert_array_equal(knots, np.column_stack((strata["fpr_to"], strata["tpr_to"])))
    (curve, _) = display.roc_ax_.lines
    np.testing.assert_array_equal(curve.get_xydata()[1:], knots)
    assert list(display.knot_texts_) == strata["rank"].tolist()
    for rank, text in display.knot_texts_.items():
        assert text.get_text() == str(rank)
        assert text.xy == tuple(knots[rank - 1])


def test_leaves_and_their_knots_have_one_colour(tree):
    display = tree.plot(cmap="viridis")
    strata = tree.strata
    colours = plt.get_cmap("viridis")(strata["eta"] / strata["eta"].max())
    for node, knot, colour in zip(
        strata["node"], display.knots_.get_facecolors(), colours, strict=True
    ):
        patch = display.node_texts_[node].get_bbox_patch()
        np.testing.assert_allclose(patch.get_facecolor(), colour)
        np.testing.assert_allclose(knot, colour)


def test_a_tree_with_one_positive_leaf_has_colours():
    rows = pd.DataFrame({"x": [0.0, 1.0, 2.0]})
    tree = TreeRank(pruning=None, min_samples_leaf=1).fit(rows, [0, 0, 1]).tree_
    display = tree.plot()
    # White text on dark, black on light ground.
    colours = [display.node_texts_[node].get_color() for node in tree.strata["node"]]
    assert colours == ["white", "black"]


@pytest.mark.parametrize("max_depth", [0, 1, 2])
def test_max_depth_cuts_the_picture_and_marks_what_is_left_out(max_depth):
    tree = grow(max_depth=6, min_samples_leaf=2)
    display = tree.plot(max_depth=max_depth)
    nodes, strata = tree.nodes, tree.strata
    expected = nodes["node"][nodes["depth"] <= max_depth]
    assert sorted(display.node_texts_) == expected.tolist()

    def leaves_below(node):
        left, right = nodes["left"][node], nodes["right"][node]
        return 1 if left < 0 else leaves_below(left) + leaves_below(right)

    for node in expected:
        first = display.node_texts_[node].get_text().splitlines()[0]
        patch = display.node_texts_[node].get_bbox_patch()
        is_cut = nodes["depth"][node] == max_depth and nodes["left"][node] >= 0
        if is_cut:
            assert first == f"+ {leaves_below(node)} leaves"
        assert (patch.get_linestyle() in ("--", "dashed")) == is_cut
    # The curve is that of the whole tree; only leaves that are drawn have numbers.
    assert len(display.knots_.get_offsets()) == tree.n_leaves
    drawn = strata["rank"][np.isin(strata["node"], expected)]
    assert list(display.knot_texts_) == drawn.tolist()


def test_the_figure_grows_with_the_leaves():
    widths = [grow(max_depth=depth).plot(roc=False).figure_.get_figwidth() for depth in (1, 2, 3)]
    assert widths == sorted(set(widths))


def test_axes_of_the_user_are_drawn_on():
    tree = grow()
    figure, (first, second) = plt.subplots(1, 2)
    display = tree.plot((first, second))
    assert (display.ax_, display.roc_ax_, display.figure_) == (first, second, figure)
    alone = tree.plot(plt.figure().add_subplot(), roc=False)
    assert alone.roc_ax_ is alone.knots_ is None
    assert alone.knot_texts_ == {}
    with pytest.raises(ValueError, match="two axes, for the tree and its ROC curve, got 1"):
        tree.plot(first)
    with pytest.raises(ValueError, match="one axes, got 2"):
        tree.plot((first, second), roc=False)


def test_bad_arguments_are_named_in_the_error():
    plt.close("all")
    tree = grow()
    with pytest.raises(ValueError, match="max_depth must be at least 0"):
        tree.plot(max_depth=-1)
    with pytest.raises(TypeError, match="max_depth must be an int or None"):
        tree.plot(max_depth=1.5)
    with pytest.raises(TypeError, match="roc must be True or False"):
        tree.plot(roc="yes")
    assert not plt.get_fignums()


def test_dollar_signs_in_names_are_not_read_as_formulas():
    rows = pd.DataFrame({"$in$": [0.0, 1.0, 2.0, 3.0]})
    tree = TreeRank(pruning=None, min_samples_leaf=1).fit(rows, [0, 0, 1, 1]).tree_
    display = tree.plot()
    assert display.node_texts_[0].get_text().startswith("$in$ >= 1.5")
    assert not display.node_texts_[0].get_parse_math()
    display.figure_.canvas.draw()


def test_fractional_weights_are_shown_with_six_digits():
    rows, y, weight = [[0.0], [1.0], [2.0]], [0, 1, 1], [0.5, 1 / 3, 1]
    tree = TreeRank(pruning=None, min_samples_leaf=1).fit(rows, y, weight).tree_
    assert "1.33333 of 1.83333" in tree.plot().node_texts_[0].get_text()


@pytest.mark.parametrize(
    ("rule", "width", "lines"),
    [
        ("age < 30", 20, ["age < 30"]),
        ("a_long_name >= 0.125", 15, ["a_long_name", ">= 0.125"]),
        ("age < 30 and size >= 2", 14, ["age < 30 and", "size >= 2"]),
        ("10.5 <= age < 30 or x", 12, ["10.5 <= age", "< 30 or x"]),
        ("one or two or three or four or five", 6, ["one or", "two or", "three", "or ..."]),
    ],
)
def test_rules_break_between_signs_and_names(rule, width, lines):
    assert wrap_rule(rule, width) == lines


def test_without_matplotlib_the_error_says_what_to_install():
    said = said_without_matplotlib(
        "TreeRank(pruning=None).fit([[0], [1]], [0, 1]).tree_.plot()",
        "from aucrank import TreeRank",
    )
    assert "RankingTree.plot needs matplotlib: run `pip install 'aucrank[plot]'`" in said
