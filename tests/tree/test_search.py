"""Trees that are searched: what they find, and what they have in common with trees that grow."""

import aucrank
import numpy as np
import pandas as pd
import pytest
from aucrank import TreeRank
from aucrank.data import Dataset
from aucrank.metrics import roc_auc_score

from tests.common.parts import mixed_rows, write_parts

N = 3000


@pytest.fixture(scope="module")
def exclusive():
    """Rows whose label depends on two numbers that say nothing alone, with gaps and categories."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.random((N, 4)), columns=["a", "b", "c", "d"])
    y = ((X["a"] < 0.5) != (X["b"] < 0.5)) ^ (rng.random(N) < 0.1)
    X["kind"] = pd.Categorical(rng.choice(["x", "y", "z"], N))
    y = y ^ (X["kind"] == "z").to_numpy()
    X.loc[rng.random(N) < 0.05, "c"] = np.nan
    X.loc[rng.random(N) < 0.05, "kind"] = np.nan
    return X, y.to_numpy().astype(int)


def test_lookahead_finds_features_that_only_matter_together(exclusive):
    X, y = exclusive
    params = {"max_leaves": 8, "pruning": None, "min_samples_leaf": 20}
    grown = TreeRank(**params).fit(X, y)
    searched = TreeRank(search="lookahead", **params).fit(X, y)
    # At most 0.1 of the labels are wrong: the best tree has an AUC of about 0.9.
    assert grown.tree_.auc < 0.75
    assert searched.tree_.auc > 0.85
    assert searched.tree_.n_leaves <= 8
    assert searched.gap_ is None
    assert searched.score(X, y) == pytest.approx(searched.tree_.auc)
    # With cross-validation it is kept, and is the first row of the table.
    kept = TreeRank(search="lookahead", max_leaves=8, min_samples_leaf=20).fit(X, y)
    np.testing.assert_array_equal(kept.decision_function(X), searched.decision_function(X))
    assert np.flatnonzero(kept.pruning_["kept"]).tolist() == [0]


def test_the_search_of_all_trees_bounds_what_lookahead_finds(exclusive):
    X, y = exclusive
    params = {"max_leaves": 6, "max_depth": 3, "search_bins": 8, "max_bins": 8, "pruning": None}
    searched = TreeRank(search="lookahead", **params).fit(X, y)
    best = TreeRank(search="optimal", **params).fit(X, y)
    assert 0 <= best.gap_ < 0.02
    assert searched.tree_.auc <= best.tree_.auc + 1e-12
    assert best.tree_.auc + best.gap_ <= 1


def test_when_the_time_is_over_the_best_tree_so_far_has_its_gap(exclusive):
    X, y = exclusive
    model = TreeRank(search="optimal", max_leaves=8, time_limit=1e-3, pruning=None).fit(X, y)
    assert model.tree_.n_leaves > 2
    assert 0 < model.gap_ <= 1 - model.tree_.auc


@pytest.mark.parametrize("pruning", ["cv", "validation", None])
def test_the_tree_depends_neither_on_threads_nor_on_the_order_of_rows(exclusive, pruning):
    X, y = exclusive
    params = {"search": "lookahead", "max_leaves": 5, "pruning": pruning, "random_state": 3}
    expected = TreeRank(n_jobs=1, **params).fit(X, y)
    order = np.random.default_rng(1).permutation(N)
    other = TreeRank(n_jobs=2, **params).fit(X.iloc[order], y[order])
    assert other.tree_.to_text() == expected.tree_.to_text()


def test_a_weight_of_k_is_k_copies_of_a_row(exclusive):
    X, y = exclusive
    weight = np.random.default_rng(2).integers(0, 4, N)
    copies = np.repeat(np.arange(N), weight)
    params = {"search": "lookahead", "max_leaves": 5, "pruning": None}
    weighted = TreeRank(**params).fit(X, y, sample_weight=weight)
    copied = TreeRank(**params).fit(X.iloc[copies], y[copies])
    assert weighted.tree_.to_text() == copied.tree_.to_text()


def test_up_to_a_false_positive_rate_the_partial_area_is_searched(exclusive):
    X, y = exclusive
    params = {"search": "lookahead", "max_leaves": 4, "pruning": None}
    whole = TreeRank(**params).fit(X, y)
    partial = TreeRank(max_fpr=0.1, **params).fit(X, y)
    of_whole, of_partial = (
        roc_auc_score(y, model.decision_function(X), max_fpr=0.1) for model in (whole, partial)
    )
    assert of_partial >= of_whole


def test_the_score_runs_in_the_direction_of_a_feature():
    rng = np.random.default_rng(3)
    X = rng.random((2000, 3))
    y = (np.abs(X[:, 0] - 0.5) + X[:, 1] + 0.5 * rng.random(2000) > 1).astype(int)
    params = {"search": "lookahead", "max_leaves": 8, "pruning": None}
    model = TreeRank(monotonic_cst=[1, 0, 0], **params).fit(X, y)
    points = np.repeat(X[:50], 20, axis=0)
    points[:, 0] = np.tile(np.linspace(0, 1, 20), 50)
    scores = model.decision_function(points).reshape(50, 20)
    assert (np.diff(scores, axis=1) >= 0).all()
    assert model.tree_.auc < TreeRank(**params).fit(X, y).tree_.auc


def test_a_searched_tree_is_saved_and_exported(exclusive, tmp_path):
    X, y = exclusive
    model = TreeRank(search="optimal", max_depth=2, pruning=None).fit(X, y)
    path = tmp_path / "tree.json"
    model.save(path)
    loaded = aucrank.load(path)
    assert loaded.gap_ == model.gap_
    assert (loaded.search, loaded.max_depth) == ("optimal", 2)
    np.testing.assert_array_equal(loaded.decision_function(X), model.decision_function(X))
    assert "CASE" in model.to_sql()


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"search": "all"}, "search must be one of 'greedy', 'lookahead', 'optimal'"),
        ({"lookahead": 0}, "lookahead must be"),
        ({"search_bins": 1}, "search_bins must be"),
        ({"search_bins": 256}, "search_bins must be"),
        ({"time_limit": 0}, "time_limit must be"),
        ({"split": "leafrank"}, "split is 'leafrank', but must be"),
        ({"max_features": 1}, "max_features is 1, but must be None"),
        ({"missing": "cell_mean"}, "missing is"),
        ({"leaf_order": "tree"}, "leaf_order is"),
        ({"pruning": "penalty"}, "pruning is 'penalty', but must be"),
        ({"min_samples_split": 11}, "min_samples_split is 11"),
        ({"min_gain": 0.01}, "min_gain is 0.01"),
        ({"max_leaves": 101}, "max_leaves is 101"),
        ({"max_leaves": 40, "min_samples_leaf": 100}, "max_leaves is 40"),
    ],
)
def test_what_a_search_cannot_do_is_an_error(exclusive, params, message):
    X, y = exclusive
    with pytest.raises(ValueError, match=message):
        TreeRank(**{"search": "lookahead", **params}).fit(X, y)


def test_validation_rows_choose_between_the_searched_and_the_grown_tree(exclusive):
    X, y = exclusive
    params = {"search": "lookahead", "pruning": "validation", "min_samples_leaf": 20}
    kept = TreeRank(**params).fit(X[:2000], y[:2000], X_val=X[2000:], y_val=y[2000:])
    table = kept.pruning_
    assert table["validation_auc"][0] == pytest.approx(kept.score(X[2000:], y[2000:]))
    assert np.flatnonzero(table["kept"]).tolist() == [np.argmax(table["validation_auc"])] == [0]
    assert kept.tree_.n_leaves <= 8
    # Rows of the other label speak against both.
    other = TreeRank(**params).fit(X[:2000], y[:2000], X_val=X[2000:], y_val=1 - y[2000:])
    assert other.tree_.n_leaves == 1


def test_rows_elsewhere_are_not_searched(tmp_path):
    rows = mixed_rows(200)
    dataset = Dataset.from_parquet(write_parts(tmp_path, rows, [100]), target="y")
    with pytest.raises(ValueError, match="search"):
        TreeRank(search="lookahead").fit(dataset)


def test_all_trees_near_the_best_are_listed():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.integers(0, 4, (200, 3)), columns=["a", "b", "c"])
    y = (X["a"] + rng.normal(scale=2, size=200) > 1.5).to_numpy()
    found = TreeRank(max_leaves=2, min_samples_leaf=1).rashomon(X, y, tolerance=0.1)
    # Trees of two leaves are single cuts.
    aucs = {
        f"{name} < {cut}": max(a := roc_auc_score(y, X[name] >= cut), 1 - a)
        for name in X
        for cut in (1, 2, 3)
    }
    near = sorted((auc for auc in aucs.values() if auc >= max(aucs.values()) - 0.1), reverse=True)
    assert len(near) > 1
    np.testing.assert_allclose(found.table["auc"], near)
    assert [tree.auc for tree in found] == found.table["auc"].tolist()
    assert found[0].auc == max(aucs.values())
    counts = dict(zip(found.features["feature"], found.features["n_trees"], strict=True))
    assert counts == {
        name: sum(names == name for names in found.table["features"]) for name in ("a", "b", "c")
    }
    assert f"{len(near)} trees within 0.1" in repr(found)


def test_features_of_all_near_best_trees_are_named(exclusive):
    X, y = exclusive
    params = {"max_leaves": 4, "max_depth": 2, "search_bins": 4, "max_bins": 4}
    found = TreeRank(**params).rashomon(X[["a", "b", "d"]], y, tolerance=0.02)
    assert set(found.always_used) == {"a", "b"}
    assert all(tree.auc >= found[0].auc - 0.02 for tree in found)
    # The best of them is the tree that a search between the same bins finds.
    best = TreeRank(search="optimal", pruning=None, **params).fit(X[["a", "b", "d"]], y)
    assert best.tree_.auc == pytest.approx(found[0].auc)
    assert found[:1][0].to_text() == found[0].to_text()


@pytest.mark.parametrize(
    ("params", "tolerance", "message"),
    [
        ({}, -0.1, "tolerance must be"),
        ({"max_depth": 2}, 0.3, "tolerance is 0.3, but must be small enough"),
        ({"max_leaves": 8, "time_limit": 0.01}, 0.001, "time_limit"),
        ({"split": "leafrank"}, 0.1, "split"),
    ],
)
def test_what_cannot_be_listed_is_an_error(exclusive, params, tolerance, message):
    X, y = exclusive
    with pytest.raises(ValueError, match=message):
        TreeRank(**params).rashomon(X, y, tolerance=tolerance)
