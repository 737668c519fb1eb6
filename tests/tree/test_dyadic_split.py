"""DyadicSplit against the definition of the rule, written plainly."""

import json
from collections import defaultdict
from fractions import Fraction
from itertools import combinations, permutations

import numpy as np
import pandas as pd
import pytest
from aucrank import RankBoost, TreeRank, load
from aucrank.datasets import load_breast_cancer, make_gaussian_pair
from aucrank.tree import DyadicSplit
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import roc_auc_score

from tests.common.samples import NOTHING_TO_LEARN

# ---------------------------------------------------------------- the definition, written plainly


def plain_cell(x, low, high, level):
    """The cube of a row: None for a missing number, strings as they are."""
    cell = []
    for value, a, b in zip(x, low, high, strict=True):
        if isinstance(value, str):
            cell.append(value)
        elif np.isnan(value):
            cell.append(None)
        elif a == b:
            cell.append(0)
        else:
            share = Fraction(min(max(value, a), b) - a) / Fraction(b - a)
            cell.append(min(int(share * 2**level), 2**level - 1))
    return tuple(cell)


def around(cell, levels_up):
    """The coarser cube around a cube; missing numbers and categories stay what they are."""
    return tuple(c >> levels_up if isinstance(c, int) else c for c in cell)


def share(rows, y):
    return Fraction(int(sum(y[rows])), len(rows))


class PlainNode:
    """A node with the rule of paper 2 Fig. 4 on cubes, and DECISIONS T7 for cubes without rows."""

    def __init__(self, cells, y, rows, level, depth):
        self.cells, self.y, self.rows, self.level = cells, y, rows, level
        self.children = None
        left = [row for row in rows if self.share_around(cells[row], 0) >= share(rows, y)]
        if depth and 0 < len(left) < len(rows):
            right = [row for row in rows if row not in left]
            self.children = [PlainNode(cells, y, part, level, depth - 1) for part in (left, right)]

    def share_around(self, cell, levels_up):
        cube = around(cell, levels_up)
        inside = [row for row in self.rows if around(self.cells[row], levels_up) == cube]
        return share(inside, self.y) if inside else None

    def leaves(self):
        if self.children is None:
            return [self]
        return [leaf for child in self.children for leaf in child.leaves()]

    def leaf(self, cell):
        if self.children is None:
            return self
        for levels_up in range(self.level):
            found = self.share_around(cell, levels_up)
            if found is not None:
                return self.children[int(found < share(self.rows, self.y))].leaf(cell)
        return self.children[1].leaf(cell)


@st.composite
def samples(draw):
    """Numbers on a grid with some missing, a category, both classes; and rows to be scored."""
    number = st.one_of(st.integers(0, 9), st.just(None))
    row = st.tuples(number, st.sampled_from("abc"), st.integers(0, 4), st.booleans())
    train = [(1, "a", 0, True), (7, "b", 2, False), *draw(st.lists(row, min_size=4, max_size=40))]
    other = st.tuples(
        st.one_of(st.integers(-3, 12), st.just(None)),
        st.sampled_from("abcd"),
        st.integers(-1, 6),
        st.booleans(),
    )
    test = draw(st.lists(other, min_size=1, max_size=20))
    frames = [pd.DataFrame(rows, columns=["x", "c", "z", "y"]) for rows in (train, test)]
    return [frame.astype({"x": float, "z": float}) for frame in frames]


@given(samples(), st.integers(1, 3), st.integers(1, 4))
def test_the_tree_is_that_of_the_definition(sample, level, max_depth):
    train, test = sample
    y = train["y"].to_numpy(bool)
    X = train[["x", "c", "z"]]
    low, high = ([np.nan, None, np.nan] for _ in range(2))
    for j, name in ((0, "x"), (2, "z")):
        low[j], high[j] = train[name].min(), train[name].max()
    cells = [plain_cell(row, low, high, level) for row in X.itertuples(index=False)]
    root = PlainNode(cells, y, list(range(len(y))), level, max_depth)
    leaves = root.leaves()
    model = TreeRank(
        split=DyadicSplit(level=level),
        max_depth=max_depth,
        min_samples_leaf=1,
        leaf_order="tree",
        pruning=None,
    ).fit(X, y)
    assert model.tree_.n_leaves == len(leaves)
    rank = {id(leaf): place for place, leaf in enumerate(leaves)}
    top = model.tree_.strata["score"][0]
    seen = set(train["c"])
    for frame in (train, test):
        rows = frame[["x", "c", "z"]].copy()
        # A category that was not seen is a missing one.
        plain = [
            tuple(v if not isinstance(v, str) or v in seen else "missing" for v in row)
            for row in rows.itertuples(index=False)
        ]
        expected = [top - rank[id(root.leaf(plain_cell(r, low, high, level)))] for r in plain]
        assert model.decision_function(rows).tolist() == expected


def cubes_of(X, level):
    scaled = (X - X.min(axis=0)) / np.ptp(X, axis=0)
    return np.minimum((scaled * 2**level).astype(int), 2**level - 1)


@pytest.mark.parametrize("seed", range(10))
def test_no_union_of_cubes_has_a_larger_auc(seed):
    # Paper 2 Proposition 4, by enumeration of the unions of eight cubes.
    rng = np.random.default_rng(seed)
    X = rng.random((60, 3))
    y = rng.random(60) < rng.random(8)[cubes_of(X, 1) @ [1, 2, 4]]
    cube = cubes_of(X, 1) @ [1, 2, 4]
    split = TreeRank(split=DyadicSplit(level=1), max_depth=1, min_samples_leaf=1, pruning=None)
    unions = (union for size in range(9) for union in combinations(range(8), size))
    # A score of two values has one knot between the corners of its ROC curve.
    best = max(
        (1 + inside[y].mean() - inside[~y].mean()) / 2
        for inside in (np.isin(cube, union) for union in unions)
    )
    assert split.fit(X, y).tree_.auc == pytest.approx(best, abs=1e-14)


@pytest.mark.parametrize("seed", range(20))
def test_no_order_of_the_cubes_has_a_larger_auc(seed):
    # Paper 2 Theorem 1, by enumeration of the orders of four cubes; the tree is grown to its end.
    rng = np.random.default_rng(seed)
    X = rng.random((80, 2))
    cube = cubes_of(X, 1) @ [1, 2]
    y = rng.random(80) < rng.random(4)[cube]
    model = TreeRank(
        split=DyadicSplit(level=1), min_samples_leaf=1, pruning=None, leaf_order="tree"
    ).fit(X, y)
    best = max(roc_auc_score(y, np.array(order)[cube]) for order in permutations(range(4)))
    assert model.tree_.auc == pytest.approx(best, abs=1e-14)


@pytest.mark.parametrize("level", [1, 2, 4])
@pytest.mark.parametrize("min_samples_leaf", [1, 12])
def test_the_training_curve_is_concave_in_tree_order(level, min_samples_leaf):
    # Paper 2 Remark 8: unions of cubes are stable.
    sample = make_gaussian_pair(600, random_state=level)
    model = TreeRank(
        split=DyadicSplit(level=level),
        min_samples_leaf=min_samples_leaf,
        leaf_order="tree",
        pruning=None,
    ).fit(sample.X, sample.y)
    strata = model.tree_.strata
    assert strata.n_rows > 3
    assert (np.diff(strata["eta"]) <= 0).all()
    assert (strata["size"] >= min_samples_leaf).all()
    assert model.tree_.auc == pytest.approx(model.tree_.roc.concave_auc, abs=1e-14)


def test_one_deep_tree_ranks_as_the_share_of_positives_of_each_cube():
    # Paper 2 Remark 8: the same ranking as the plug-in rule on the cubes.
    sample = make_gaussian_pair(2000, random_state=0)
    cube = cubes_of(sample.X, 3) @ [1, 8]
    eta = np.bincount(cube, sample.y, minlength=64) / np.maximum(np.bincount(cube, minlength=64), 1)
    settings = {"min_samples_leaf": 1, "max_depth": 60, "pruning": None}
    model = TreeRank(split="dyadic", **settings).fit(sample.X, sample.y)
    by_score = defaultdict(set)
    for score, value in zip(model.decision_function(sample.X), eta[cube], strict=True):
        by_score[score].add(value)
    shares = [by_score[score] for score in sorted(by_score)]
    assert all(len(values) == 1 for values in shares)
    assert [min(values) for values in shares] == sorted({*eta[cube]})


# ------------------------------------------------------------------------------ the rest of a model


def messy(n_rows, seed):
    """Numbers, some missing, a constant, and a category, some missing."""
    rng = np.random.default_rng(seed)
    x, z = rng.normal(size=(2, n_rows)).round(1)
    colour = rng.choice(["red", "green", "blue"], n_rows)
    y = rng.random(n_rows) < 1 / (1 + np.exp(-x - (colour == "red") + 2 * (z > 0.5)))
    X = pd.DataFrame({"x": x, "z": z, "one": 1.0, "colour": colour})
    X.loc[rng.random(n_rows) < 0.1, "x"] = np.nan
    X.loc[rng.random(n_rows) < 0.1, "colour"] = None
    return X, y


def test_integer_weights_equal_copies_and_threads_do_not_matter():
    X, y = messy(300, 4)
    X.loc[0, "x"] = 1000.0
    weight = np.random.default_rng(0).integers(0, 4, 300)
    # The widest value has no weight, so it must not set the scale.
    weight[0] = 0
    copies = np.repeat(np.arange(300), weight)
    model = TreeRank(split="dyadic", pruning=None, random_state=0, n_jobs=1)
    text = model.fit(X, y, sample_weight=weight).tree_.to_text()
    scores = model.decision_function(X)
    assert len(text.splitlines()) > 5
    repeated = model.fit(X.iloc[copies], y[copies])
    assert repeated.tree_.to_text() == text
    assert np.array_equal(repeated.decision_function(X), scores)
    threads = model.set_params(n_jobs=2).fit(X, y, sample_weight=weight)
    assert np.array_equal(threads.decision_function(X), scores)


def test_a_saved_tree_scores_the_same(tmp_path):
    X, y = messy(500, 1)
    model = TreeRank(split=DyadicSplit(level=4), random_state=0).fit(X, y)
    assert model.tree_.n_leaves > 2
    model.save(tmp_path / "model.json")
    read = load(tmp_path / "model.json")
    assert read.split.level == 4
    fresh, _ = messy(2000, 2)
    assert np.array_equal(read.decision_function(fresh), model.decision_function(fresh))
    assert np.array_equal(read.predict_proba(fresh), model.predict_proba(fresh))
    assert read.tree_.to_text() == model.tree_.to_text()


def test_affine_maps_of_the_features_change_nothing():
    # Powers of two and whole numbers, so that nothing is rounded.
    sample = make_gaussian_pair(500, random_state=3)
    X = (sample.X * 1024).round()
    model = TreeRank(split="dyadic", pruning=None)
    scores = model.fit(X, sample.y).decision_function(X)
    moved = X * [0.5, 8] + [3, -7]
    assert np.array_equal(model.fit(moved, sample.y).decision_function(moved), scores)


def test_a_missing_value_unseen_in_training_goes_right():
    X, y = np.arange(20.0)[:, None], np.arange(20) >= 10
    model = TreeRank(split=DyadicSplit(level=2), min_samples_leaf=1, pruning=None).fit(X, y)
    assert model.decision_function([[np.nan]]) == model.decision_function([[0.0]])


def test_rules_are_printed_and_unsupported_outputs_raise_an_error():
    X = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]] * 10)
    y = np.array([1, 0, 0, 0] * 10)
    model = TreeRank(split=DyadicSplit(level=3), pruning=None).fit(X, y)
    tree = model.tree_
    left, right = "in 1 of 4 cubes of side 1/8", "in the other 3 of 4 cubes of side 1/8"
    assert tree.strata["rule"].tolist() == [left, right]
    assert tree.nodes["rule"].tolist() == [left, "", ""]
    assert tree.to_text().splitlines() == [
        "all rows: 10 of 40 positive (25.0%)",
        f"|-- {left}: 10 of 10 positive (100.0%)  #1",
        f"`-- {right}: 0 of 30 positive (0.0%)  #2",
    ]
    assert left in tree.to_dot()
    with pytest.raises(
        ValueError, match="has no form in SQL: each split of a DyadicSplit is a list"
    ):
        tree.to_sql()
    assert not hasattr(model, "feature_importances_")
    with pytest.raises(AttributeError, match="not defined for a DyadicSplit"):
        model.feature_importances_  # noqa: B018
    with pytest.raises(AttributeError, match=r"^importances is not defined for a DyadicSplit"):
        tree.importances  # noqa: B018
    assert [tree.strata["rule"][0] for tree in tree.pruning_path().trees] == [left, "all rows"]


def test_the_document_holds_occupied_cubes_only():
    rng = np.random.default_rng(0)
    X = rng.random((200, 6))
    model = TreeRank(split=DyadicSplit(level=10), min_samples_leaf=1, pruning=None)
    document = json.loads(model.fit(X, X[:, 0] > 0.5).tree_._core.to_json())
    levels = document["nodes"][0]["split"]["cubes"]
    assert len(levels) == 10
    assert all(len(level) <= 200 for level in levels)


@pytest.mark.parametrize("pruning", ["cv", "validation", None])
def test_the_level_is_chosen_by_rows_that_trees_were_not_grown_on(pruning, tmp_path):
    # Paper 2 Remark 6. At 200 rows a cube of level 3 holds three of them.
    def held_out_auc(model):
        table = model.pruning_
        name = "mean_auc" if pruning == "cv" else "validation_auc"
        return table[name][table["kept"]][0]

    sample = make_gaussian_pair(200, random_state=1)
    fit = {"pruning": pruning, "random_state": 0}
    auto = TreeRank(split=DyadicSplit(level="auto"), **fit).fit(sample.X, sample.y)
    level = auto.tree_.cube_level
    # Fifty rows held out may choose anything.
    assert level in (1, 2) or pruning == "validation"
    if pruning is not None:
        aucs = [
            held_out_auc(TreeRank(split=DyadicSplit(level=j), **fit).fit(sample.X, sample.y))
            for j in range(1, 5)
        ]
        assert level == 1 + int(np.argmax(aucs))
    alone = TreeRank(split=DyadicSplit(level=level), **fit).fit(sample.X, sample.y)
    scores = alone.decision_function(sample.X)
    assert np.array_equal(auto.decision_function(sample.X), scores)
    auto.save(tmp_path / "tree.json")
    assert load(tmp_path / "tree.json").tree_.cube_level == level
    assert f"cubes of side 1/{2**level}" in auto.tree_.to_text()


def test_other_splits_have_no_level_and_a_booster_needs_a_number():
    X, y = load_breast_cancer(return_X_y=True)
    assert TreeRank(max_depth=1).fit(X, y).tree_.cube_level is None
    tree = TreeRank(split=DyadicSplit(level="auto"), max_depth=1, pruning=None)
    with pytest.raises(ValueError, match="level is 'auto', but must be a number here"):
        RankBoost(weak_ranker=tree, n_rounds=2).fit(X[:, :2], y)


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"split": DyadicSplit(level="fine")}, "level of DyadicSplit must be one of 'auto'"),
        ({"split": DyadicSplit(level=0)}, "level of DyadicSplit must be"),
        ({"split": DyadicSplit(level=64)}, "level of DyadicSplit must be"),
        ({"split": DyadicSplit(level=2.5)}, "level of DyadicSplit must be"),
        (
            {"split": DyadicSplit(level=16)},
            "level is 16, but must be at most 15 for 4 features",
        ),
        ({"split": "dyadic", "max_features": 1}, "max_features must be None for a DyadicSplit"),
    ],
)
def test_bad_parameters_are_named_in_the_error(params, message):
    X = np.random.default_rng(0).random((20, 4))
    with pytest.raises((ValueError, TypeError), match=message):
        TreeRank(**params).fit(X, X[:, 0] > 0.5)


@pytest.mark.parametrize(("X", "y"), NOTHING_TO_LEARN.values(), ids=NOTHING_TO_LEARN)
@pytest.mark.parametrize("pruning", [None, "cv"])
def test_uninformative_data_give_a_valid_model(X, y, pruning, tmp_path, recwarn):
    model = TreeRank(split="dyadic", min_samples_leaf=1, pruning=pruning, random_state=0).fit(X, y)
    assert len(recwarn) <= 1
    assert model.score(X, y) == model.tree_.auc == (1.0 if len(y) == 2 else 0.5)
    model.save(tmp_path / "model.json")
    read = load(tmp_path / "model.json")
    assert np.array_equal(read.decision_function(X), model.decision_function(X))
