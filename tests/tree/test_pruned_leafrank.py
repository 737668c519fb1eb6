"""LeafRank whose inner trees are pruned by cross-validation."""

import numpy as np
import pandas as pd
import pytest
from aucrank import TreeRank, load
from aucrank.datasets import make_gaussian_pair
from aucrank.tree import CrossValidatedPruning, LeafRank, OrthogonalSplit
from hypothesis import given, settings
from hypothesis import strategies as st


def noise_and_square(n_rows, seed):
    """A square in the middle under noise, and an uninformative feature."""
    rng = np.random.default_rng(seed)
    X = rng.random((n_rows, 3))
    eta = np.where((np.abs(X[:, :2] - 0.5) < 0.3).all(axis=1), 0.85, 0.15)
    return X, rng.random(n_rows) < eta


def n_parts(model):
    """Number of cells of the inner tree of the root."""
    split = model.tree_._document["nodes"][0]["split"]
    return 2 if "stump" in split else sum("part" in cut for cut in split["cuts"])


@pytest.mark.parametrize("seed", range(3))
def test_inner_pruning_keeps_the_cuts_confirmed_by_other_folds(seed):
    X, y = noise_and_square(800, seed)
    root = {"max_depth": 1, "min_samples_leaf": 1, "pruning": None, "random_state": 0}
    grown = TreeRank(split=LeafRank(max_depth=8), **root).fit(X, y)
    pruned = TreeRank(split=LeafRank(max_depth=8, pruning="cv"), **root).fit(X, y)
    assert 4 < n_parts(pruned) < n_parts(grown) / 3
    test_X, test_y = noise_and_square(20_000, 100 + seed)
    # The square as the left side: TPR - FPR of it is the most there is.
    inside = (np.abs(test_X[:, :2] - 0.5) < 0.3).all(axis=1)
    best = 0.5 + (inside[test_y].mean() - inside[~test_y].mean()) / 2
    assert grown.score(test_X, test_y) < pruned.score(test_X, test_y)
    assert pruned.score(test_X, test_y) > best - 0.03


def test_nodes_of_noise_are_mostly_not_split():
    rule = CrossValidatedPruning(n_folds=10, one_standard_error=True)
    n_leaves = {None: [], rule: []}
    for seed in range(10):
        rng = np.random.default_rng(seed)
        X, y = rng.random((400, 3)), rng.random(400) < 0.5
        for pruning, found in n_leaves.items():
            split = LeafRank(max_depth=4, pruning=pruning)
            found.append(TreeRank(split=split, pruning=None).fit(X, y).tree_.n_leaves)
    assert np.mean(n_leaves[rule]) < np.mean(n_leaves[None]) / 3
    # Where no cut is confirmed, the node is a leaf.
    assert 1 in n_leaves[rule]


@given(st.integers(0, 1000), st.sampled_from([None, 3]), st.sampled_from([None, 2]))
@settings(max_examples=settings().max_examples * 2 // 5)
def test_weights_equal_copies_and_threads_do_not_matter(seed, max_leaves, max_features):
    X, y = noise_and_square(200, seed)
    X = pd.DataFrame(X.round(1)).assign(colour=np.where(X[:, 2] > 0.4, "red", None))
    X.loc[X[0] > 0.9, 1] = np.nan
    X.columns = X.columns.astype(str)
    weight = np.random.default_rng(seed).integers(0, 4, 200)
    copies = np.repeat(np.arange(200), weight)
    model = TreeRank(
        split=LeafRank(max_leaves=max_leaves, pruning=CrossValidatedPruning(n_folds=3)),
        pruning=CrossValidatedPruning(n_folds=3),
        max_features=max_features,
        random_state=seed,
        n_jobs=1,
    )
    scores = model.fit(X, y, sample_weight=weight).decision_function(X)
    repeated = model.fit(X.iloc[copies], y[copies]).decision_function(X)
    assert np.array_equal(scores, repeated)
    threads = model.set_params(n_jobs=2).fit(X, y, sample_weight=weight)
    assert np.array_equal(scores, threads.decision_function(X))


def test_max_leaves_bounds_the_inner_tree_before_it_is_pruned():
    X, y = noise_and_square(800, 7)
    root = {"max_depth": 1, "min_samples_leaf": 1, "pruning": None, "random_state": 0}
    for max_leaves in (2, 3, 6):
        split = LeafRank(max_depth=8, max_leaves=max_leaves, pruning="cv")
        assert n_parts(TreeRank(split=split, **root).fit(X, y)) <= max_leaves


def test_too_few_distinct_rows_for_folds_leave_the_inner_tree_unpruned():
    # One distinct positive row: no fold of it can be left out.
    X = np.array([[0.0]] * 5 + [[1.0]] * 5)
    y = np.array([0] * 5 + [1] * 5)
    model = TreeRank(split=LeafRank(pruning="cv"), pruning=None).fit(X, y)
    assert model.tree_.auc == 1.0


def test_the_rule_is_saved_and_checked(tmp_path):
    sample = make_gaussian_pair(300, random_state=0)
    rule = CrossValidatedPruning(n_folds=4, one_standard_error=True)
    model = TreeRank(split=LeafRank(pruning=rule), random_state=0).fit(sample.X, sample.y)
    model.save(tmp_path / "model.json")
    read = load(tmp_path / "model.json")
    assert type(read.split.pruning) is CrossValidatedPruning
    assert read.split.pruning.get_params() == rule.get_params()
    assert np.array_equal(read.decision_function(sample.X), model.decision_function(sample.X))
    for pruning in ("best", OrthogonalSplit()):
        with pytest.raises(ValueError, match="pruning"):
            TreeRank(split=LeafRank(pruning=pruning)).fit(sample.X, sample.y)
    rule = CrossValidatedPruning(n_folds=1)
    with pytest.raises(ValueError, match="n_folds of CrossValidatedPruning must be"):
        TreeRank(split=LeafRank(pruning=rule)).fit(sample.X, sample.y)
