"""The trees of stumps inside the splits of LeafRank, against the rows of their cells."""

import numpy as np
import pandas as pd
import pytest
from aucrank import TreeRank
from aucrank.tree import LeafRank


def fitted(max_depth=3, split=None):
    """Whole numbers, so that the thresholds in the words are exact, and a tree of three levels."""
    rng = np.random.default_rng(3)
    X = pd.DataFrame(rng.integers(0, 9, (600, 3)), columns=["a", "b", "c"]).astype(float)
    chance = 0.2 + 0.6 * ((X["a"] - 4).abs() < 3) * ((X["b"] - 4).abs() < 3)
    y = rng.random(600) < chance
    split = LeafRank(max_depth=max_depth) if split is None else split
    model = TreeRank(split=split, max_depth=3, min_samples_leaf=1, pruning=None)
    return model.fit(X, y), X, y


def test_cells_hold_the_rows_that_their_stumps_send_there():
    model, X, y = fitted()
    tree = model.tree_
    passes = tree.decision_path(X).toarray().astype(bool)
    n_inner = 0
    for node in tree.nodes["node"]:
        inner = tree.inner_tree(node)
        if inner is None:
            continue
        n_inner += 1
        rows = {0: passes[:, node]}
        for place, left, right, rule in zip(
            *(inner[name] for name in ("place", "left", "right", "rule")), strict=True
        ):
            if left >= 0:
                # "2.5 <= a < 6.5" is not a single stump, so that a rule is one comparison.
                goes_left = X.eval(rule).to_numpy()
                rows[left], rows[right] = rows[place] & goes_left, rows[place] & ~goes_left
                assert inner["parent"][[left, right]].tolist() == [place, place]
        for place, of_place in rows.items():
            assert (inner["size"][place], inner["n_pos"][place]) == (
                of_place.sum(),
                y[of_place].sum(),
            )
        side = {"left": tree.nodes["left"][node], "right": tree.nodes["right"][node]}
        for name, child in side.items():
            cells = np.flatnonzero(inner["side"] == name)
            merged = np.any([rows[cell] for cell in cells], axis=0)
            assert np.array_equal(merged, passes[:, child])
        # Fig. 5 of paper 2: the cells of larger share are merged into the left side.
        share = inner["eta"]
        assert share[inner["side"] == "left"].min() >= share[inner["side"] == "right"].max()
    assert n_inner > 2


def test_the_text_and_the_description_show_the_cells_where_a_split_has_them(capsys):
    model, _, _ = fitted()
    tree = model.tree_
    text = tree.to_text(inner=True)
    lines = [line for line in text.splitlines() if "cell, " in line]
    inner = [tree.inner_tree(node) for node in tree.nodes["node"]]
    assert len(lines) == sum((table["left"] < 0).sum() for table in inner if table is not None)
    assert [line for line in text.splitlines() if line not in lines] == tree.to_text().splitlines()
    root = inner[0]
    first = int(np.flatnonzero(root["left"] < 0)[0])
    assert f"{root['n_pos'][first]:g} of {root['size'][first]:g} positive" in lines[0]
    assert lines[0] in "\n".join(str(section.text) for section in model._summary())


@pytest.mark.parametrize("split", ["orthogonal", LeafRank(max_depth=1)])
def test_a_stump_has_no_inner_tree(split):
    tree = fitted(split=split)[0].tree_
    assert all(tree.inner_tree(node) is None for node in tree.nodes["node"])
    assert tree.to_text(inner=True) == tree.to_text()


def test_a_missing_node_is_named_in_the_error():
    tree = fitted()[0].tree_
    with pytest.raises(ValueError, match="node must be from 0 to"):
        tree.inner_tree(1000)
    with pytest.raises(ValueError, match="node must be from 0 to"):
        tree.inner_tree(-1)
