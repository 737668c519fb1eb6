"""Options of a ranking tree: cell means, monotonic constraints, a part of the curve."""

from collections import Counter
from fractions import Fraction
from itertools import pairwise, product

import numpy as np
import pandas as pd
import pytest
from aucrank import TreeRank, load
from aucrank.datasets import make_gaussian_pair
from aucrank.tree import LeafRank
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import roc_auc_score

# ------------------------------------------------- TreeRank with cell means, written plainly


def class_weights(y, weight, rows):
    return int(weight[rows][y[rows]].sum()), int(weight[rows][~y[rows]].sum())


def cell_means(X, weight, rows, inherited):
    """Return the mean of each feature over the rows that know it, in exact arithmetic."""
    means = list(inherited)
    for j in range(X.shape[1]):
        known = [row for row in rows if not np.isnan(X[row, j])]
        if known:
            total = sum(Fraction(X[row, j]) * int(weight[row]) for row in known)
            means[j] = total / int(weight[known].sum())
    return means


def nearest_to_the_middle(thresholds):
    """Return of the thresholds that cut a cell alike the one nearest to their middle."""
    middle = (thresholds[0] + thresholds[-1]) / 2
    return min(thresholds, key=lambda t: (abs(t - middle), t))


def cuts_of_cell(column, mean, thresholds):
    """Return every way to cut a cell whose gaps are filled: a threshold, and if the mean is below.

    The threshold lies between the two filled values that it parts. Where one of them is the mean
    alone, that may leave none of the column; then it is one that parts the known values around.
    """
    known = sorted({Fraction(value) for value in column if not np.isnan(value)})
    if not np.isnan(column).any():
        return [
            (threshold, mean < threshold)
            for low, high in pairwise(known)
            for threshold in [nearest_to_the_middle([t for t in thresholds if low < t <= high])]
        ]
    cuts = []
    for low, high in pairwise(sorted({*known, mean})):
        between = [t for t in thresholds if low < t <= high]
        if not between:
            around = max(v for v in known if v <= low), min(v for v in known if v >= high)
            between = [t for t in thresholds if around[0] < t <= around[1]]
        cuts.append((nearest_to_the_middle(between), mean <= low))
    return cuts


def plain_best_stump(X, y, weight, rows, means, thresholds):
    """Return the sides of largest gain, then of larger left side, then the first (T3, T18)."""
    n_pos, n_neg = class_weights(y, weight, rows)
    best, best_key = None, (0, 0)
    for j in range(X.shape[1]):
        column = X[rows, j]
        for threshold, mean_is_below in cuts_of_cell(column, means[j], thresholds[j]):
            below = np.where(np.isnan(column), mean_is_below, column < float(threshold))
            for is_left, is_below_left in ((below, True), (~below, False)):
                left, right = rows[is_left], rows[~is_left]
                pos, neg = class_weights(y, weight, left)
                key = (n_neg * pos - n_pos * neg, int(weight[left].sum()))
                if key[0] > 0 and key > best_key:
                    best_key = key
                    best = left, right, (j, threshold, is_below_left, mean_is_below)
    return best


def plain_cells(X, y, weight, rows, means, thresholds, depth):
    """Return the cells of a LeafRank split from left to right, with the answers that lead there."""
    means = cell_means(X, weight, rows, means)
    stump = plain_best_stump(X, y, weight, rows, means, thresholds) if depth else None
    if stump is None:
        return [(rows, ())]
    left, right, question = stump
    cells = []
    for side, answer in ((left, True), (right, False)):
        below = plain_cells(X, y, weight, side, means, thresholds, depth - 1)
        cells += [(cell, ((question, answer), *tests)) for cell, tests in below]
    return cells


def plain_tree(X, y, weight, rows, means, thresholds, depth, split_depth):
    """Return the leaves from left to right: rows, and the cells of its side of each split above."""
    n_pos, n_neg = class_weights(y, weight, rows)
    cells = plain_cells(X, y, weight, rows, means, thresholds, split_depth) if depth else []
    if len(cells) < 2 or not n_pos or not n_neg:
        return [(rows, ())]
    eta = [Fraction(int(weight[c][y[c]].sum()), int(weight[c].sum())) for c, _ in cells]
    order = sorted(range(len(cells)), key=lambda k: -eta[k])
    best, best_gain = 0, 0
    for k in range(1, len(cells)):
        left = np.concatenate([cells[c][0] for c in order[:k]])
        pos, neg = class_weights(y, weight, left)
        if (gain := n_neg * pos - n_pos * neg) >= max(best_gain, 1):
            best, best_gain = k, gain
    means = cell_means(X, weight, rows, means)
    leaves = []
    for part in (order[:best], order[best:]):
        side = np.concatenate([cells[c][0] for c in part])
        tests = [cells[c][1] for c in part]
        below = plain_tree(X, y, weight, side, means, thresholds, depth - 1, split_depth)
        leaves += [(leaf, (tests, *more)) for leaf, more in below]
    return leaves


def reaches(row, tests_of_splits):
    """Tell whether a row that may miss values ends in the leaf of these cells."""

    def answer(question):
        j, threshold, is_below_left, mean_is_below = question
        is_below = mean_is_below if np.isnan(row[j]) else Fraction(row[j]) < threshold
        return is_below == is_below_left

    return all(
        any(all(answer(question) == expected for question, expected in cell) for cell in cells)
        for cells in tests_of_splits
    )


def midpoints(column):
    """Return thresholds between the distinct values of a feature."""
    values = np.unique(column[~np.isnan(column)])
    return [Fraction((low + high) / 2) for low, high in pairwise(values)]


GRID = [0.0, 0.25, 0.5, 2.0, 7.0]


@st.composite
def gappy_samples(draw):
    """Rows of two features of few values and gaps, labels of both classes, whole weights."""
    value = st.sampled_from([np.nan, *GRID])
    row = st.tuples(value, value, st.booleans(), st.integers(1, 3))
    rows = draw(st.lists(row, min_size=4, max_size=30))
    table = np.array([(0.0, 0.5, True, 1), (0.25, 0.0, False, 1), *rows])
    return table[:, :2], table[:, 2].astype(bool), table[:, 3].astype(int)


@given(gappy_samples(), st.integers(1, 3), st.integers(1, 3))
@settings(max_examples=settings().max_examples * 12 // 5)
def test_a_tree_by_cell_means_is_that_of_the_definition(sample, split_depth, max_depth):
    X, y, weight = sample
    thresholds = [midpoints(X[:, j]) for j in range(2)]
    zero = [Fraction(0)] * 2
    rows = np.arange(len(y))
    leaves = plain_tree(X, y, weight, rows, zero, thresholds, max_depth, split_depth)
    model = TreeRank(
        split=LeafRank(max_depth=split_depth),
        max_depth=max_depth,
        min_samples_leaf=1,
        pruning=None,
        leaf_order="tree",
        missing="cell_mean",
    ).fit(X, y, sample_weight=weight)
    assert model.tree_.n_leaves == len(leaves)
    # Rows of the sample, and rows with gaps where the sample had none.
    grid = np.array(list(product([np.nan, *GRID], repeat=2)))
    place = model.tree_._core.leaves().tolist().index
    for row, leaf in zip(grid, model.tree_.apply(grid), strict=True):
        expected = [k for k, (_, tests) in enumerate(leaves) if reaches(row, tests)]
        assert expected == [place(leaf)]


@given(gappy_samples(), st.sampled_from([None, 255]))
@settings(max_examples=60)
def test_no_cut_of_the_filled_values_ranks_better_than_the_stump(sample, max_bins):
    X, y, weight = sample
    model = TreeRank(
        missing="cell_mean", max_bins=max_bins, max_depth=1, min_samples_leaf=1, pruning=None
    ).fit(X, y, sample_weight=weight)
    best = Fraction(1, 2)
    n_pos, n_neg = class_weights(y, weight, np.arange(len(y)))
    zero = [Fraction(0)] * 2
    for column, mean in zip(X.T, cell_means(X, weight, np.arange(len(y)), zero), strict=True):
        filled = [mean if np.isnan(value) else Fraction(value) for value in column]
        for threshold in set(filled):
            high = np.array([value >= threshold for value in filled])
            pos, neg = class_weights(y, weight, np.flatnonzero(high))
            gain = abs(Fraction(pos, n_pos) - Fraction(neg, n_neg)) / 2
            best = max(best, Fraction(1, 2) + gain)
    assert model.tree_.auc == pytest.approx(float(best), abs=1e-12)
    scores = model.decision_function(X)
    assert roc_auc_score(y, scores, sample_weight=weight) == pytest.approx(float(best), abs=1e-12)


def test_missing_values_are_ordered_like_the_mean_of_their_cell():
    # Known values 0 (three times) and 10: the mean is 2.5, so missing rows lie between.
    x = np.array([0.0] * 3 + [10.0] + [np.nan] * 4)
    settings = {"min_samples_leaf": 1, "max_depth": 1, "pruning": None}
    by_mean = TreeRank(missing="cell_mean", **settings)

    def scores(x, y, weight=None):
        model = by_mean.fit(x[:, None], np.array(y, dtype=bool), sample_weight=weight)
        return model.decision_function([[0.0], [5.0], [10.0], [np.nan]])

    # The cut falls on either side of them.
    low, _, high, missing = scores(x, [0, 0, 0, 1, 1, 1, 1, 1])
    assert low < high == missing
    low, _, high, missing = scores(x, [0, 0, 0, 1, 0, 0, 0, 0])
    assert missing == low < high
    # No cut parts them from both neighbours; learned, they need not lie between.
    y = np.array([1, 1, 1, 1, 0, 0, 0, 0], dtype=bool)
    assert by_mean.fit(x[:, None], y).tree_.auc < 1
    assert TreeRank(**settings).fit(x[:, None], y).tree_.auc == 1
    # Where the mean is a value of the cell, missing rows are rows of that value.
    x = np.array([0.0, 0.0, 5.0, 10.0, 10.0] + [np.nan] * 4)
    for of_missing in (0, 1):
        _, middle, _, missing = scores(x, [0, 0, 0, 1, 1] + [of_missing] * 4)
        assert missing == middle
    # Weights move the mean: from 5 to almost 7 with those of the high values.
    low, middle, high, missing = scores(x, [0, 0, 0, 1, 1, 1, 1, 1, 1], [2, 2, 2, 5, 5, 1, 1, 1, 1])
    assert low == middle < high == missing


def test_a_missing_category_counts_as_the_most_frequent_one():
    frame = pd.DataFrame({"c": ["a"] * 6 + ["b"] * 3 + ["c"] * 3 + [None] * 5})
    y = np.array([1, 1, 1, 1, 0, 0] + [1, 0, 0] + [0, 0, 1] + [0] * 5)
    model = TreeRank(missing="cell_mean", min_samples_leaf=1, max_depth=1, pruning=None)
    filled = frame.fillna({"c": "a"})
    assert Counter(frame["c"].dropna()).most_common(1)[0][0] == "a"
    scores = model.fit(frame, y).decision_function(frame)
    assert np.array_equal(scores, model.fit(filled, y).decision_function(filled))
    # Of equal ones the first; an unseen category counts as missing.
    ties = frame[frame["c"] != "a"].reset_index(drop=True)
    model.fit(ties, y[6:])
    new = pd.DataFrame({"c": ["b", "c", None, "zebra"]})
    b, _, missing, unseen = model.decision_function(new)
    assert missing == unseen == b


@pytest.mark.parametrize("split", ["orthogonal", "leafrank"])
@pytest.mark.parametrize("max_features", [None, 2])
def test_cell_means_do_not_depend_on_threads_row_order_or_copies(split, max_features):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(400, 4)) * [1e-9, 1.0, 1e6, 3.0]
    X[rng.random(X.shape) < 0.2] = np.nan
    y = rng.random(400) < 0.4
    weight = rng.integers(0, 4, 400)
    copies = np.repeat(np.arange(400), weight)
    backwards = slice(None, None, -1)
    model = TreeRank(split=split, max_features=max_features, missing="cell_mean", random_state=0)
    scores = model.set_params(n_jobs=1).fit(X, y, sample_weight=weight).decision_function(X)
    assert model.tree_.n_leaves > 1 or model.pruning_["n_leaves"][0] > 1
    model.set_params(n_jobs=2)
    for again in (
        model.fit(X, y, sample_weight=weight),
        model.fit(X[copies], y[copies]),
        model.fit(X[backwards], y[backwards], sample_weight=weight[backwards]),
        model.fit(np.asfortranarray(X), y, sample_weight=weight),
    ):
        assert np.array_equal(again.decision_function(X), scores)


# ----------------------------------------------------------------------- directions of features


@st.composite
def bound_fits(draw):
    """A sample with gaps, a model with random directions, and rows to compare."""
    seed = draw(st.integers(0, 2**32 - 1))
    rng = np.random.default_rng(seed)
    n_rows = draw(st.sampled_from([12, 40, 150]))
    X = rng.integers(0, draw(st.sampled_from([3, 8, 40])), size=(n_rows, 3)).astype(float)
    X[rng.random(X.shape) < draw(st.sampled_from([0.0, 0.3]))] = np.nan
    # Without regard to the directions, so that free trees would break them.
    signal = np.nan_to_num(np.sin(X[:, 0]) + np.cos(X[:, 1]) * np.sin(X[:, 2]))
    y = signal + rng.normal(size=n_rows) * draw(st.sampled_from([0.1, 1.0])) > 0
    y[:2] = [True, False]
    split = draw(
        st.sampled_from(
            [
                "orthogonal",
                LeafRank(max_depth=2),
                LeafRank(max_depth=4),
                LeafRank(max_depth=6, max_leaves=5),
            ]
        )
    )
    model = TreeRank(
        split=split,
        leaf_order=draw(st.sampled_from(["tree", "eta"])),
        pruning=draw(st.sampled_from([None, "cv"])),
        missing=draw(st.sampled_from(["learn", "cell_mean"])),
        max_features=draw(st.sampled_from([None, 1])),
        monotonic_cst=draw(st.lists(st.sampled_from([-1, 0, 1]), min_size=3, max_size=3)),
        min_samples_leaf=draw(st.sampled_from([1, 5])),
        random_state=seed,
    )
    weight = rng.integers(1, 4, n_rows) / draw(st.sampled_from([1, 7]))
    return model.fit(X, y, sample_weight=weight), X, rng


def assert_keeps_directions(score, directions, X, rng):
    values = np.arange(-1.0, 42.0)
    for j, direction in enumerate(directions):
        if direction == 0:
            continue
        some = X[rng.permutation(len(X))[:15]]
        rows = np.repeat(some, len(values), axis=0)
        rows[:, j] = np.tile(values, len(some))
        scores = score(rows).reshape(len(some), -1)
        assert (np.diff(scores, axis=1) * direction >= 0).all()


@pytest.mark.filterwarnings("ignore:A class has")
@given(bound_fits())
@settings(max_examples=settings().max_examples * 6)
def test_the_score_never_violates_a_constraint(fit):
    model, X, rng = fit
    assert_keeps_directions(model.decision_function, model.monotonic_cst, X, rng)
    assert_keeps_directions(lambda Z: model.predict_proba(Z)[:, 1], model.monotonic_cst, X, rng)
    tree = model.tree_
    for alpha in tree.pruning_path().alphas[::3]:
        subtree = tree.prune(alpha)
        core = subtree._core
        assert_keeps_directions(lambda Z, t=core: t.score(Z, 1), model.monotonic_cst, X, rng)
    some = tree.best_subtree(max(1, tree.n_leaves // 2))._core
    assert_keeps_directions(lambda Z: some.score(Z, 1), model.monotonic_cst, X, rng)


def test_an_unconstrained_tree_violates_constraints_that_a_constrained_one_keeps():
    # Without the constraint the property above fails.
    rng = np.random.default_rng(0)
    X = rng.random((600, 1))
    y = rng.random(600) < 0.5 + 0.3 * np.sin(9 * X[:, 0])
    grid = np.linspace(0, 1, 200)[:, None]
    free, bound = TreeRank(random_state=0), TreeRank(monotonic_cst=[-1], random_state=0)
    assert (np.diff(free.fit(X, y).decision_function(grid)) > 0).any()
    assert (np.diff(bound.fit(X, y).decision_function(grid)) <= 0).all()
    assert bound.score(X, y) > 0.55


def test_constraints_may_order_leaves_against_their_rates():
    # Nor would the property hold if leaves were ranked by their shares of positives as they are.
    rng = np.random.default_rng(0)
    X = rng.integers(0, 8, size=(150, 3)).astype(float)
    y = np.sin(X[:, 0]) + np.cos(X[:, 1]) * np.sin(X[:, 2]) + 0.3 * rng.normal(size=150) > 0
    model = TreeRank(monotonic_cst=[1, 0, 0], pruning=None, min_samples_leaf=1).fit(X, y)
    assert (np.diff(model.tree_.strata["eta"]) > 0).any()
    assert_keeps_directions(model.decision_function, [1, 0, 0], X, rng)


def test_constraints_that_the_data_follow_and_zeros_change_nothing():
    X = np.arange(40.0)[:, None]
    y = np.arange(40) >= 25
    plain = TreeRank(pruning=None, min_samples_leaf=1).fit(X, y)
    for directions in ([1], [0], np.array([1])):
        bound = TreeRank(pruning=None, min_samples_leaf=1, monotonic_cst=directions).fit(X, y)
        assert bound.tree_.to_text() == plain.tree_.to_text()
    against = TreeRank(pruning=None, min_samples_leaf=1, monotonic_cst=[-1]).fit(X, y)
    assert against.tree_.n_leaves == 1


def test_constraints_may_be_given_by_name_and_are_saved_with_the_tree(tmp_path):
    rng = np.random.default_rng(2)
    X = pd.DataFrame(rng.normal(size=(500, 3)), columns=["age", "income", "debt"])
    y = X["age"] + np.sin(3 * X["income"]) - X["debt"] + rng.normal(size=500) > 0
    by_name = TreeRank(monotonic_cst={"income": 1, "debt": -1}, random_state=0).fit(X, y)
    by_place = TreeRank(monotonic_cst=[0, 1, -1], random_state=0).fit(X, y)
    assert by_name.tree_.to_text() == by_place.tree_.to_text()
    by_name.save(tmp_path / "model.json")
    read = load(tmp_path / "model.json")
    assert read.monotonic_cst == {"income": 1, "debt": -1}
    assert np.array_equal(read.decision_function(X), by_name.decision_function(X))
    assert np.array_equal(
        read.tree_.prune(0.001).strata["score"], by_name.tree_.prune(0.001).strata["score"]
    )


@pytest.mark.parametrize(
    ("monotonic_cst", "message"),
    [
        ([1], r"monotonic_cst has shape \(1,\), but X has 2 features"),
        ([[1, 0]], "must be None, a dict or an array-like of shape"),
        (1, "must be None, a dict or an array-like of shape"),
        ([1, 2], "monotonic_cst must be -1, 0 or 1, got 2"),
        ([1, 0.5], "monotonic_cst must be -1, 0 or 1, got 0.5"),
        ([1, None], "monotonic_cst must be -1, 0 or 1, got None"),
        ({"x": 1, "other": 0}, r"names columns that X does not have: \['other'\]"),
        ({"x": "up"}, "monotonic_cst must be -1, 0 or 1 for 'x', got 'up'"),
        ({"colour": 1}, "column 'colour' is categorical, so monotonic_cst cannot bind it"),
    ],
)
def test_invalid_constraints_are_rejected(monotonic_cst, message):
    X = pd.DataFrame({"x": [1.0, 2.0, 3.0, 4.0], "colour": ["a", "b", "a", "b"]})
    with pytest.raises(ValueError, match=message):
        TreeRank(monotonic_cst=monotonic_cst).fit(X, [0, 1, 0, 1])


def test_constraints_by_name_need_named_columns():
    with pytest.raises(ValueError, match="X has no column names"):
        TreeRank(monotonic_cst={"x": 1}).fit([[1.0], [2.0]], [0, 1])


# ------------------------------------------------------------------- left of a false positive rate


@pytest.mark.parametrize("split", ["orthogonal", "leafrank"])
@pytest.mark.parametrize("leaf_order", ["tree", "eta"])
@pytest.mark.parametrize("weighted", [False, True])
def test_no_node_that_begins_at_or_beyond_the_rate_is_split(split, leaf_order, weighted):
    sample = make_gaussian_pair(2000, random_state=3)
    X, y = sample.X, sample.y
    weight = np.random.default_rng(0).integers(1, 5, len(y)) if weighted else None
    settings = {"split": split, "leaf_order": leaf_order, "pruning": None}
    whole = TreeRank(**settings).fit(X, y, sample_weight=weight).tree_
    part = TreeRank(max_fpr=0.2, **settings).fit(X, y, sample_weight=weight).tree_
    for tree, expected in ((whole, True), (part, False)):
        nodes = tree.nodes
        n_neg = nodes["size"] - nodes["n_pos"]
        begins = np.zeros(len(n_neg))
        for node in np.flatnonzero(nodes["left"] >= 0):
            left, right = nodes["left"][node], nodes["right"][node]
            begins[left], begins[right] = begins[node], begins[node] + n_neg[left]
        is_split = nodes["left"] >= 0
        assert (begins[is_split] >= 0.2 * n_neg[0]).any() == expected
    # Left of the rate the tree is the same.
    assert part.n_leaves < whole.n_leaves
    if leaf_order == "tree":
        ours, theirs = part.strata, whole.strata
        n_same = int((ours["fpr_to"] < 0.2).sum())
        assert n_same > 1
        assert ours["rule"][:n_same].tolist() == theirs["rule"][:n_same].tolist()


def test_the_kept_subtree_is_that_of_the_largest_partial_area():
    sample = make_gaussian_pair(1500, random_state=5)
    X, y = sample.X, sample.y
    model = TreeRank(max_fpr=0.1, random_state=0).fit(X, y)
    table = model.pruning_
    assert table["mean_auc"][table["kept"]][0] == table["mean_auc"].max()
    # The root is the diagonal, in every fold.
    assert table["mean_auc"][-1] == pytest.approx(0.5, abs=1e-12)
    # The whole area of the same trees is another number.
    assert table["train_auc"][0] == pytest.approx(
        TreeRank(max_fpr=0.1, pruning=None).fit(X, y).tree_.auc, abs=1e-12
    )


def test_growing_a_tree_only_below_max_fpr_improves_that_part_of_the_curve():
    # Two trees of one depth and size: one grown left of the rate, one grown everywhere and then
    # cut back to the leaves that raise the whole area most.
    settings = {"max_depth": 5, "min_samples_leaf": 20, "leaf_order": "tree", "pruning": None}
    gains = []
    for seed in range(8):
        train = make_gaussian_pair(10_000, random_state=seed)
        test = make_gaussian_pair(20_000, random_state=1000 + seed)
        part = TreeRank(max_fpr=0.1, **settings).fit(train.X, train.y).tree_
        whole = TreeRank(**settings).fit(train.X, train.y).tree_.best_subtree(part.n_leaves)
        here, there = (
            roc_auc_score(test.y, tree._core.score(test.X, 1), max_fpr=0.1)
            for tree in (part, whole)
        )
        gains.append(here - there)
    assert np.mean(gains) >= 0, gains


@pytest.mark.parametrize("max_fpr", [0.0, -0.1, 1.1, float("nan")])
def test_a_rate_out_of_range_is_rejected(max_fpr):
    with pytest.raises(ValueError, match=r"max_fpr must be in \(0.0, 1.0\]"):
        TreeRank(max_fpr=max_fpr).fit([[0.0], [1.0]], [0, 1])


def test_an_unknown_treatment_of_missing_values_is_rejected():
    with pytest.raises(ValueError, match="missing must be one of 'learn', 'cell_mean'"):
        TreeRank(missing="median").fit([[0.0], [1.0]], [0, 1])
