"""TreeRank against the papers' definitions, brute force, and scikit-learn."""

from itertools import combinations, pairwise

import numpy as np
import pandas as pd
import pytest
from aucrank import RankingForest, TreeRank, load
from aucrank.datasets import load_breast_cancer, make_uniform_mixture
from aucrank.tree import CrossValidatedPruning, DyadicSplit, LeafRank, OrthogonalSplit
from hypothesis import given
from hypothesis import strategies as st
from sklearn.exceptions import NotFittedError
from sklearn.isotonic import IsotonicRegression
from sklearn.metrics import roc_auc_score, roc_curve

from tests.common.samples import NOTHING_TO_LEARN

# ---------------------------------------------------------------- the definition, written plainly


def sums(y, rows):
    return int(y[rows].sum()), int((~y[rows]).sum())


def plain_stumps(X, rows):
    """All stumps on the rows, in the order in which ties are broken: feature, threshold, side."""
    for j in range(X.shape[1]):
        values = np.unique(X[rows, j])
        for low, high in pairwise(values):
            below = X[rows, j] < (low + high) / 2
            yield rows[below], rows[~below]
            yield rows[~below], rows[below]


def plain_best_stump(X, y, rows):
    """Largest gain, then the larger left side, then the first (DECISIONS T3)."""
    n_pos, n_neg = sums(y, rows)
    best, best_key = None, (0, 0)
    for left, right in plain_stumps(X, rows):
        pos, neg = sums(y, left)
        key = (n_neg * pos - n_pos * neg, len(left))
        if key[0] > 0 and key > best_key:
            best, best_key = (left, right), key
    return best


def plain_cells(X, y, rows, depth):
    """Cells of the tree of stumps inside a LeafRank split, from left to right (paper 2 Fig. 5)."""
    stump = plain_best_stump(X, y, rows) if depth else None
    if stump is None:
        return [rows]
    return [cell for side in stump for cell in plain_cells(X, y, side, depth - 1)]


def plain_split(X, y, rows, depth):
    """The partition-based rule (paper 2 Fig. 4), the longest of the best unions."""
    cells = plain_cells(X, y, rows, depth)
    eta = [y[cell].mean() for cell in cells]
    n_pos, n_neg = sums(y, rows)
    order = sorted(range(len(cells)), key=lambda k: -eta[k])
    gains = []
    for k in range(1, len(cells)):
        pos, neg = sums(y, np.concatenate([cells[c] for c in order[:k]]))
        gains.append(n_neg * pos - n_pos * neg)
    if not gains or max(gains) <= 0:
        return None
    k = len(gains) - gains[::-1].index(max(gains))
    return tuple(np.concatenate([cells[c] for c in part]) for part in (order[:k], order[k:]))


def plain_tree_rank(X, y, rows, max_depth, split_depth):
    """Leaves from left to right (paper 2 Fig. 2)."""
    split = plain_split(X, y, rows, split_depth) if max_depth else None
    if split is None:
        return [rows]
    return [
        leaf for side in split for leaf in plain_tree_rank(X, y, side, max_depth - 1, split_depth)
    ]


@st.composite
def samples(draw):
    """Two features of few values, so that ties are common; both classes."""
    row = st.tuples(st.integers(0, 4), st.integers(0, 4), st.booleans())
    rows = draw(st.lists(row, min_size=4, max_size=40))
    table = np.array([(0, 1, True), (1, 0, False), *rows])
    return table[:, :2].astype(float), table[:, 2].astype(bool)


@given(samples(), st.integers(1, 3), st.integers(1, 4))
def test_the_tree_is_that_of_the_definition(sample, split_depth, max_depth):
    X, y = sample
    leaves = plain_tree_rank(X, y, np.arange(len(y)), max_depth, split_depth)
    expected = np.empty(len(y))
    for rank, leaf in enumerate(leaves):
        expected[leaf] = len(leaves) - rank
    for max_bins in (255, None):
        model = TreeRank(
            split=LeafRank(max_depth=split_depth),
            max_depth=max_depth,
            min_samples_leaf=1,
            pruning=None,
            leaf_order="tree",
            max_bins=max_bins,
        ).fit(X, y)
        scores = model.decision_function(X)
        assert np.array_equal(scores - scores.min() + 1, expected)
        assert model.tree_.n_leaves == len(leaves)


@given(samples())
def test_leafrank_of_depth_one_is_the_orthogonal_split(sample):
    X, y = sample
    by_stump = TreeRank(split=OrthogonalSplit(), min_samples_leaf=1, pruning=None).fit(X, y)
    by_leafrank = TreeRank(split=LeafRank(max_depth=1), min_samples_leaf=1, pruning=None).fit(X, y)
    assert by_stump.tree_.to_text() == by_leafrank.tree_.to_text()


@given(samples())
def test_a_monotone_change_of_a_feature_keeps_the_ranking(sample):
    X, y = sample
    model = TreeRank(pruning=None)
    scores = model.fit(X, y).decision_function(X)
    assert np.array_equal(scores, model.fit(np.exp(X), y).decision_function(np.exp(X)))


def test_xor_is_solved_by_leafrank_and_not_by_stumps():
    rng = np.random.default_rng(1)
    X = rng.random((4000, 2))
    # A tilt of the first feature gives stumps a first gain to start from.
    y = ((X[:, 0] > 0.5) ^ (X[:, 1] > 0.5)) | (X[:, 0] > 0.97)
    one_split = {"max_depth": 1, "pruning": None}
    assert TreeRank(split="orthogonal", **one_split).fit(X, y).tree_.auc < 0.6
    # The first stump cuts off the tilt; two more make the four quarters.
    split = LeafRank(max_depth=3)
    assert TreeRank(split=split, **one_split).fit(X, y).tree_.auc > 0.95


# --------------------------------------------------------------------- categories, missing values


def test_a_categorical_split_is_the_best_of_all_subsets():
    rng = np.random.default_rng(5)
    colours = np.array(["red", "green", "blue", "cyan", "pink"])
    codes = rng.integers(0, 5, 200)
    y = rng.random(200) < np.array([0.2, 0.7, 0.4, 0.9, 0.5])[codes]
    X = pd.DataFrame({"colour": pd.Categorical(colours[codes])})
    tree = TreeRank(split="orthogonal", max_depth=1, min_samples_leaf=1, pruning=None).fit(X, y)
    best = max(
        roc_auc_score(y, np.isin(codes, subset))
        for size in range(1, 5)
        for subset in combinations(range(5), size)
    )
    assert tree.tree_.auc == pytest.approx(best, abs=1e-14)


def test_missing_values_go_to_the_side_with_the_larger_gain():
    rng = np.random.default_rng(2)
    x = rng.normal(size=400)
    y = rng.random(400) < 1 / (1 + np.exp(-2 * x))
    x[(rng.random(400) < 0.3) & y] = np.nan
    model = TreeRank(split="orthogonal", max_depth=1, min_samples_leaf=1, pruning=None)
    scores = model.fit(x[:, None], y).decision_function(x[:, None])
    best = max(
        roc_auc_score(y, np.where(np.isnan(x), missing_high, x > threshold))
        for threshold in [*x[~np.isnan(x)], -np.inf]
        for missing_high in (False, True)
    )
    assert roc_auc_score(y, scores) == pytest.approx(best, abs=1e-14)
    assert "is missing" in model.tree_.strata["rule"][0]


def test_values_missing_in_one_class_only_are_used():
    x = np.array([1.0] * 20 + [np.nan] * 10)
    y = np.array([0] * 20 + [1] * 10)
    tree = TreeRank(split="orthogonal", min_samples_leaf=1, pruning=None).fit(x[:, None], y).tree_
    assert tree.auc == 1
    assert tree.strata["rule"].tolist() == ["x0 is missing", "x0 is known"]


def test_an_unseen_category_is_scored_as_missing():
    X = pd.DataFrame({"c": ["a", "b", None, "a", "b", None] * 5})
    y = np.array([0, 1, 1, 0, 1, 1] * 5)
    model = TreeRank(split="orthogonal", min_samples_leaf=1, pruning=None).fit(X, y)
    scores = model.decision_function(pd.DataFrame({"c": ["zebra", None]}))
    assert scores[0] == scores[1]


# ------------------------------------------------------------------------------- the model object


@pytest.fixture(scope="module")
def cancer():
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    settings = {"split": "orthogonal", "min_samples_leaf": 1, "pruning": None}
    return X, np.asarray(y), TreeRank(**settings, max_depth=5, leaf_order="tree").fit(X, y)


def test_strata_hold_the_rows_described_by_their_rules(cancer):
    X, y, model = cancer
    strata = model.tree_.strata
    assert strata["size"].sum() == len(y)
    leaf = model.tree_.apply(X)
    for k in range(strata.n_rows):
        rule = strata["rule"][k].split(" and ")
        rows = np.ones(len(y), dtype=bool)
        for clause in rule:
            rows &= X.eval(clause).to_numpy()
        assert np.array_equal(rows, leaf == strata["node"][k]), strata["rule"][k]
        assert (strata["size"][k], strata["n_pos"][k]) == (rows.sum(), y[rows].sum())
        assert np.all(model.decision_function(X)[rows] == strata["score"][k])


def test_the_curve_is_that_of_the_scores(cancer):
    X, y, model = cancer
    fpr, tpr, _ = roc_curve(y, model.decision_function(X), drop_intermediate=False)
    assert np.allclose(model.tree_.roc.fpr, fpr)
    assert np.allclose(model.tree_.roc.tpr, tpr)
    assert model.tree_.auc == pytest.approx(roc_auc_score(y, model.decision_function(X)), abs=1e-14)


def test_probabilities_are_leaf_rates_made_monotone(cancer):
    X, _, model = cancer
    strata = model.tree_.strata
    isotonic = IsotonicRegression(increasing=False)
    expected = isotonic.fit_transform(strata["rank"], strata["eta"], sample_weight=strata["size"])
    found = model.predict_proba(X)[:, 1]
    rank_of = {node: k for k, node in enumerate(strata["node"])}
    assert np.allclose(found, expected[[rank_of[leaf] for leaf in model.tree_.apply(X)]])


def test_gains_of_all_splits_add_up_to_the_auc(cancer):
    _, _, model = cancer
    tree = model.tree_
    assert tree.auc == pytest.approx(0.5 + tree.nodes["gain"].sum(), abs=1e-12)
    # With one stump a node, importance is its gain (paper 2 sec. 5.1).
    expected = np.zeros(model.n_features_in_)
    for rule, gain in zip(tree.nodes["rule"], tree.nodes["gain"], strict=True):
        for j, name in enumerate(model.feature_names_in_):
            expected[j] += gain**2 if rule.startswith((f"{name} <", f"{name} >")) else 0
    assert np.allclose(model.feature_importances_, np.sqrt(expected))


def test_paths_lead_from_the_root_to_the_leaf(cancer):
    X, _, model = cancer
    tree = model.tree_
    paths = tree.decision_path(X)
    assert paths.shape == (len(X), len(tree.nodes["node"]))
    assert (paths[:, 0].toarray() == 1).all()
    leaf = tree.apply(X)
    assert (paths[np.arange(len(X)), leaf] == 1).all()
    assert np.array_equal(np.asarray(paths.sum(axis=1)).ravel(), tree.nodes["depth"][leaf] + 1)


def test_subtrees_are_cut_at_the_given_nodes(cancer):
    _, _, model = cancer
    tree = model.tree_
    path = tree.pruning_path()
    assert path.alphas[0] == 0
    assert (np.diff(path.alphas) > 0).all()
    assert path.n_leaves[0] == tree.n_leaves
    assert path.n_leaves[-1] == 1
    for alpha, auc, n_leaves, pruned in zip(
        path.alphas, path.aucs, path.n_leaves, path.trees, strict=True
    ):
        assert (pruned.n_leaves, pruned.auc) == (n_leaves, pytest.approx(auc, abs=1e-14))
        assert tree.prune(alpha).n_leaves == n_leaves
    assert [tree.best_subtree(k).n_leaves for k in (1, 2, 3)] == [1, 2, 3]
    left = tree.nodes["left"][0]
    cut = tree.subtree([left])
    assert cut.strata["size"][0] == tree.nodes["size"][left]
    with pytest.raises(ValueError, match="n_leaves must be from 1 to"):
        tree.best_subtree(0)
    with pytest.raises(ValueError, match="no node below another leaf"):
        tree.subtree([0, left])
    with pytest.raises(ValueError, match="alpha must be in"):
        tree.prune(-1)


def test_the_tree_is_printed_as_text_and_as_a_graph(cancer):
    _, _, model = cancer
    tree = model.tree_
    lines = tree.to_text().splitlines()
    assert len(lines) == len(tree.nodes["node"])
    assert lines[0] == "all rows: 212 of 569 positive (37.3%)"
    assert [int(line.split("#")[1]) for line in lines if "#" in line] == list(
        range(1, tree.n_leaves + 1)
    )
    dot = tree.to_dot()
    assert dot.startswith("digraph")
    assert dot.count("->") == len(tree.nodes["node"]) - 1


def test_leaves_in_order_of_eta_make_a_concave_curve(cancer):
    X, y, model = cancer
    by_eta = TreeRank(**{**model.get_params(), "leaf_order": "eta"}).fit(X, y)
    assert by_eta.tree_.auc >= model.tree_.auc
    assert (np.diff(by_eta.tree_.strata["eta"]) <= 0).all()
    proba = by_eta.predict_proba(X)[:, 1]
    strata = by_eta.tree_.strata
    eta = dict(zip(strata["node"], strata["eta"], strict=True))
    assert np.allclose(proba, [eta[leaf] for leaf in by_eta.tree_.apply(X)])


# ---------------------------------------------------------------------------------------- pruning


def test_cross_validation_keeps_the_best_mean():
    X, y = load_breast_cancer(return_X_y=True)
    model = TreeRank(random_state=0).fit(X, y)
    table = model.pruning_
    kept = int(np.flatnonzero(table["kept"])[0])
    assert table["mean_auc"][kept] == table["mean_auc"].max()
    assert table["n_leaves"][kept] == model.tree_.n_leaves
    simpler = TreeRank(pruning=CrossValidatedPruning(one_standard_error=True), random_state=0).fit(
        X, y
    )
    assert simpler.tree_.n_leaves <= model.tree_.n_leaves
    bound = table["mean_auc"][kept] - table["standard_error"][kept]
    chosen = int(np.flatnonzero(simpler.pruning_["kept"])[0])
    assert simpler.pruning_["mean_auc"][chosen] >= bound
    assert (simpler.pruning_["mean_auc"][chosen + 1 :] < bound).all()
    assert TreeRank(pruning=None).fit(X, y).pruning_ is None


def test_too_many_folds_for_a_class_raise_a_warning():
    X, y = np.arange(20.0)[:, None], np.array([0] * 17 + [1] * 3)
    with pytest.warns(UserWarning, match="A class has 3 distinct rows, so there are as many folds"):
        TreeRank().fit(X, y)
    with pytest.warns(UserWarning, match="one distinct row"):
        TreeRank().fit(X, np.arange(20) == 19)


@pytest.mark.parametrize("seed", range(5))
def test_the_four_cells_of_the_uniform_mixture_are_found(seed):
    # Paper 2 sec. 6.1: LeafRank with less than five cells, pruned by 10-fold cross-validation.
    train = make_uniform_mixture(5000, random_state=seed)
    test = make_uniform_mixture(50_000, random_state=100 + seed)
    model = TreeRank(split=LeafRank(max_leaves=4), leaf_order="tree", random_state=0).fit(
        train.X, train.y
    )
    assert roc_auc_score(test.y, model.decision_function(test.X)) > train.auc_star - 0.01
    # The best four leaves are the four quarters.
    four = model.tree_.best_subtree(4)
    centres = np.array([[0.75, 0.25], [0.25, 0.25], [0.75, 0.75], [0.25, 0.75]])
    assert len(set(four.apply(centres))) == 4


# -------------------------------------------------------------------------------------- bad input


def test_an_unfitted_estimator_raises_not_fitted_error():
    for name in ("tree_", "pruning_", "feature_importances_"):
        with pytest.raises(NotFittedError):
            getattr(TreeRank(), name)


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"max_depth": 0}, "max_depth must be at least 1, got 0"),
        ({"max_leaves": 1}, "max_leaves must be at least 2, got 1"),
        ({"min_samples_leaf": 0}, "min_samples_leaf must be at least 1"),
        ({"min_samples_split": 1}, "min_samples_split must be at least 2"),
        ({"min_gain": -0.1}, "min_gain must be in"),
        ({"min_gain": float("nan")}, "min_gain must be in"),
        ({"max_bins": 1}, "max_bins must be from 2 to 65535"),
        ({"leaf_order": "up"}, "leaf_order must be one of 'eta', 'tree'"),
        ({"split": "random"}, "split must be one of 'orthogonal', 'leafrank'"),
        ({"pruning": "all"}, "pruning must be one of 'cv', 'penalty', 'validation'"),
        ({"split": LeafRank(max_depth=0)}, "max_depth of LeafRank must be at least 1"),
        ({"split": LeafRank(max_leaves=1)}, "max_leaves of LeafRank must be at least 2"),
        ({"pruning": CrossValidatedPruning(n_folds=1)}, "n_folds of CrossValidatedPruning must be"),
        ({"n_jobs": 0}, "n_jobs"),
    ],
)
def test_a_parameter_out_of_range_is_named_in_the_error(params, message):
    with pytest.raises(ValueError, match=message):
        TreeRank(**params).fit([[0.0], [1.0]], [0, 1])


def test_infinity_raises_an_error_that_names_its_column():
    X = pd.DataFrame({"age": [1.0, 2.0, 3.0, 4.0], "income": [1.0, 2.0, np.inf, 4.0]})
    y = [0, 1, 0, 1]
    with pytest.raises(ValueError, match="column 'income' is inf in row 2"):
        TreeRank().fit(X, y)
    model = TreeRank(pruning=None).fit(X.replace(np.inf, 3.0), y)
    with pytest.raises(ValueError, match="column 'income' is inf in row 2"):
        model.decision_function(X)


@pytest.mark.parametrize(("X", "y"), NOTHING_TO_LEARN.values(), ids=NOTHING_TO_LEARN)
@pytest.mark.parametrize("split", ["orthogonal", "leafrank"])
def test_uninformative_data_give_a_valid_model(X, y, split, tmp_path, recwarn):
    model = TreeRank(split=split, max_depth=60, min_samples_leaf=1, random_state=0).fit(X, y)
    assert len(recwarn) <= 1
    auc = model.score(X, y)
    assert auc == model.tree_.auc
    assert auc == (1.0 if len(y) == 2 else 0.5)
    model.save(tmp_path / "model.json")
    read = load(tmp_path / "model.json")
    assert np.array_equal(read.decision_function(X), model.decision_function(X))


def test_a_deep_tree_on_many_values_is_exact():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(3000, 2))
    y = rng.random(3000) < 0.3
    model = TreeRank(max_depth=60, min_samples_leaf=1, pruning=None, max_bins=None).fit(X, y)
    assert model.score(X, y) == 1.0


def test_integer_weights_equal_copies_and_threads_do_not_matter():
    rng = np.random.default_rng(4)
    X = rng.normal(size=(250, 5)).round(1)
    y = rng.random(250) < 0.4
    weight = rng.integers(0, 4, 250)
    copies = np.repeat(np.arange(250), weight)
    for split in ("orthogonal", "leafrank"):
        model = TreeRank(split=split, random_state=0, n_jobs=1)
        scores = model.fit(X, y, sample_weight=weight).decision_function(X)
        repeated = model.fit(X[copies], y[copies]).decision_function(X)
        assert np.array_equal(scores, repeated)
        threads = model.set_params(n_jobs=2).fit(X, y, sample_weight=weight)
        assert np.array_equal(scores, threads.decision_function(X))


@pytest.mark.parametrize("split", ["orthogonal", "leafrank", DyadicSplit(level=2)])
def test_the_leaf_that_gains_most_is_split_first(split, cancer):
    X, y = cancer[0].iloc[:, :5], cancer[1]
    params = {"split": split, "pruning": None, "min_samples_leaf": 1, "leaf_order": "tree"}
    whole = TreeRank(**params).fit(X, y).tree_
    assert whole.n_leaves >= 8
    nodes = whole.nodes
    gain, children = nodes["gain"], (nodes["left"], nodes["right"])
    # Leaves from left to right; `max` takes the first of equal gains.
    leaves = [0]
    for n_leaves in range(2, 9):
        split_nodes = [node for node in leaves if children[0][node] >= 0]
        best = leaves.index(max(split_nodes, key=lambda node: gain[node]))
        leaves[best : best + 1] = [side[leaves[best]] for side in children]
        found = TreeRank(**params, max_leaves=n_leaves).fit(X, y)
        assert np.array_equal(found.tree_.apply(X), whole.subtree(leaves).apply(X))


def test_max_leaves_also_limits_a_forest_and_a_pruned_tree(cancer):
    X, y, _ = cancer
    forest = RankingForest(n_estimators=5, max_leaves=4, random_state=0).fit(X, y)
    assert [tree.n_leaves for tree in forest.estimators_] == [4] * 5
    model = TreeRank(max_leaves=6, random_state=0).fit(X, y)
    assert model.tree_.n_leaves <= 6
    assert max(model.pruning_["n_leaves"]) == 6
