"""RankingForest: every parameter, and every result against its definition in plain numpy."""

import pickle

import aucrank
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from aucrank import RankingForest
from aucrank.datasets import load_breast_cancer, make_gaussian_pair
from aucrank.metrics import auc_interval
from aucrank.tree import CrossValidatedPruning, DyadicSplit, LeafRank, OrthogonalSplit, WeightedERM
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import logit
from scipy.stats import norm
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.exceptions import NotFittedError
from sklearn.inspection import permutation_importance
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.tree import DecisionTreeClassifier

from tests.common.pairwise import parametrize_pairs
from tests.common.processes import interrupted, no_windows
from tests.common.stores import STORES

AGGREGATIONS = ("eta", "rank_mean", "rank_median", "kendall")


def sample(n, seed=0, n_features=4):
    """Rows whose label depends on the first two features and their product."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, n_features))
    return X, rng.random(n) < 1 / (1 + np.exp(-X[:, 0] - X[:, 1] - X[:, 0] * X[:, 1]))


def applicants(n, seed=0):
    """Rows with numbers, categories and missing values."""
    rng = np.random.default_rng(seed)
    income, trade = rng.lognormal(8, 1, n), rng.choice(["smith", "cook", "clerk"], n)
    y = rng.random(n) < 1 / (1 + np.exp(-2 * (np.log(income) - 8) - 2 * (trade == "cook")))
    income[rng.random(n) < 0.2] = np.nan
    trade = np.where(rng.random(n) < 0.1, None, trade)
    X = pd.DataFrame(
        {"income": income, "trade": pd.Categorical(trade), "owner": rng.random(n) < 0.5}
    )
    return X, np.where(y, "repaid", "default")


def fit(X, y, sample_weight=None, **params):
    params = {"n_estimators": 12, "min_samples_leaf": 1, "random_state": 0, **params}
    return RankingForest(**params).fit(X, y, sample_weight=sample_weight)


def values_of_trees(model, X, ranks):
    """The result of each tree for each row: the rank or the rate of its leaf."""
    values = []
    for tree in model.estimators_:
        strata = tree.strata
        of_leaf = strata["n_pos"] / strata["size"]
        if ranks:
            size = strata["size"]
            of_leaf = (size.sum() - np.cumsum(size) + size / 2) / size.sum()
        by_node = dict(zip(strata["node"], of_leaf, strict=True))
        values.append([by_node[node] for node in tree.apply(X)])
    return np.array(values)


# Aggregations, each against its definition.


@pytest.mark.parametrize("split", ["orthogonal", "leafrank"])
@pytest.mark.parametrize("data", ["numbers", "mixed"])
def test_eta_is_the_mean_share_of_positives_in_the_leaves(data, split):
    make = sample if data == "numbers" else applicants
    X, y = make(300)
    X_new, _ = make(500, 1)
    model = fit(X, y, split=split, min_samples_leaf=4)
    expected = values_of_trees(model, X_new, ranks=False).mean(axis=0)
    assert len(np.unique(expected)) > 50
    assert_allclose(model.predict_proba(X_new)[:, 1], expected, rtol=0, atol=1e-15)
    assert_allclose(model.decision_function(X_new), expected - 0.5, rtol=0, atol=1e-15)


@parametrize_pairs(
    n_estimators=[1, 10, 13], aggregation=["rank_mean", "rank_median"], leaf_order=["eta", "tree"]
)
def test_ranks_are_averaged_or_their_median_taken(leaf_order, aggregation, n_estimators):
    X, y = applicants(400)
    X_new = applicants(300, 1)[0]
    weight = np.random.default_rng(2).integers(1, 4, len(y))
    model = fit(
        X, y, weight, aggregation=aggregation, n_estimators=n_estimators, leaf_order=leaf_order
    )
    function = np.mean if aggregation == "rank_mean" else np.median
    expected = function(values_of_trees(model, X_new, ranks=True), axis=0)
    found = model.decision_function(X_new)
    # Up to the shift that makes its sign the label.
    assert_allclose(found - found[0], expected - expected[0], rtol=0, atol=1e-12)


def kendall_scores(reference, new):
    """Copeland's order of reference rows and local Kemenisation; places of new rows in it."""
    leads = np.sign(reference[:, :, None] - reference[:, None, :]).sum(axis=0)
    copeland, borda = np.sign(leads).sum(axis=1), leads.sum(axis=1)
    order = sorted(range(len(leads)), key=lambda row: (-copeland[row], -borda[row]))
    swapped = True
    while swapped:
        swapped = False
        for i in range(len(order) - 1):
            if leads[order[i + 1], order[i]] > 0:
                order[i : i + 2] = order[i + 1], order[i]
                swapped = True
    against = np.sign(new[:, :, None] - reference[:, None, order]).sum(axis=0)
    # Pairs lost below the first k reference rows, but for a constant.
    lost = np.hstack((np.zeros((len(against), 1)), np.cumsum(against, axis=1)))
    best = lost == lost.min(axis=1, keepdims=True)
    last = best.shape[1] - 1 - best[:, ::-1].argmax(axis=1)
    place = (best.argmax(axis=1) + last) / 2
    return place, new.mean(axis=0)


def test_kendall_places_rows_where_they_contradict_the_fewest_pairs():
    X, y = sample(150)
    X_new, _ = sample(200, 1)
    model = fit(X, y, aggregation="kendall", n_estimators=9, max_depth=3)
    of_rows, of_new = (values_of_trees(model, rows, ranks=True) for rows in (X, X_new))
    place, mean_rank = kendall_scores(of_rows, of_new)
    found = model.decision_function(X_new)
    # Places first, mean ranks among equals; neighbours whose order two swaps could settle either
    # way are so few that the orders agree.
    assert_array_equal(np.lexsort((mean_rank, -place)), np.argsort(found, kind="stable"))


def test_the_kendall_consensus_agrees_with_the_trees_more_than_they_with_each_other():
    X, y = sample(120, n_features=6)
    model = fit(X, y, aggregation="kendall", n_estimators=15, max_features=1, max_depth=3)
    ranks = values_of_trees(model, X, ranks=True)

    def agreement(a, b):
        pairs = np.sign(a[:, None] - a[None]) * np.sign(b[:, None] - b[None])
        return pairs.sum() / (len(a) * (len(a) - 1))

    among = [agreement(a, b) for i, a in enumerate(ranks) for b in ranks[:i]]
    consensus = [agreement(model.decision_function(X), a) for a in ranks]
    by_mean = [agreement(ranks.mean(axis=0), a) for a in ranks]
    assert np.mean(consensus) > np.mean(among)
    assert np.mean(consensus) >= np.mean(by_mean) - 1e-3
    # Where all trees are the same, so is the consensus.
    alone = fit(
        X, y, aggregation="kendall", n_estimators=3, bootstrap=False, max_features=None, max_depth=2
    )
    (rank, *_) = values_of_trees(alone, X, ranks=True)
    _, place = np.unique(rank, return_inverse=True)
    _, place_of_score = np.unique(alone.decision_function(X), return_inverse=True)
    assert_array_equal(place, place_of_score)


@pytest.mark.parametrize("aggregation", AGGREGATIONS)
@pytest.mark.parametrize("bootstrap", [True, False])
def test_score_label_and_probability_never_contradict_each_other(bootstrap, aggregation):
    X, y = applicants(500)
    X_new = applicants(2000, 1)[0]
    model = fit(X, y, aggregation=aggregation, bootstrap=bootstrap)
    score, probability = model.decision_function(X_new), model.predict_proba(X_new)
    assert_allclose(probability.sum(axis=1), 1)
    assert ((probability >= 0) & (probability <= 1)).all()
    positive = model.predict(X_new) == "repaid"
    assert 100 < positive.sum() < 1900
    assert_array_equal(score > 0, positive)
    assert_array_equal(probability[:, 1] > 0.5, positive)
    # The probability never falls with the score, which may round two of them to one.
    order = np.lexsort((probability[:, 1], score))
    assert (np.diff(probability[order, 1]) >= 0).all()


@pytest.mark.parametrize("aggregation", AGGREGATIONS)
def test_probabilities_are_calibrated(aggregation):
    X, y = sample(4000)
    X_new, y_new = sample(4000, 1)
    model = fit(X, y, aggregation=aggregation, n_estimators=40, min_samples_leaf=20)
    probability = model.predict_proba(X_new)[:, 1]
    for low, high in ((0.0, 0.3), (0.3, 0.7), (0.7, 1.0)):
        rows = (low <= probability) & (probability < high)
        assert abs(y_new[rows].mean() - probability[rows].mean()) < 0.06, (low, rows.sum())


# Parameters.


def test_trees_are_as_deep_and_as_fine_as_requested():
    X, y = sample(400)
    assert len(fit(X, y, n_estimators=7).estimators_) == 7
    for params, holds in [
        ({"max_depth": 3}, lambda tree: tree.depth == 3),
        ({"max_depth": None}, lambda tree: tree.depth > 8),
        ({"min_samples_leaf": 30}, lambda tree: tree.strata["size"].min() >= 30),
        (
            {"min_samples_split": 100},
            lambda tree: (tree.nodes["size"][tree.nodes["left"] >= 0]).min() >= 100,
        ),
        ({"min_gain": 0.6}, lambda tree: tree.n_leaves == 1),
        ({"min_gain": 0.02}, lambda tree: 1 < tree.n_leaves < 20),
        ({"max_bins": 2, "max_depth": None}, lambda tree: tree.n_leaves <= 2**4),
        ({"leaf_order": "eta"}, lambda tree: (np.diff(tree.strata["eta"]) <= 0).all()),
    ]:
        for tree in fit(X, y, n_estimators=4, **params).estimators_:
            assert holds(tree), params
    unordered = fit(X, y, leaf_order="tree", split=LeafRank(max_depth=2)).estimators_
    assert any((np.diff(tree.strata["eta"]) > 0).any() for tree in unordered)


def turned(n, share, seed=0):
    """Rows on both sides of a slanting plane, with a share of the labels turned over."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4))
    return X, (X[:, 0] + X[:, 1] > 0) ^ (rng.random(n) < share)


@parametrize_pairs(
    share=[0.0, 0.3], split=["orthogonal", "leafrank"], aggregation=["eta", "rank_mean"]
)
def test_the_size_of_leaves_is_chosen_on_out_of_bag_rows(share, split, aggregation):
    X, y = turned(400, share)
    params = {"split": split, "aggregation": aggregation}
    for n_estimators in (4, 70):
        # By 60 trees of each size, and by no more than the forest has.
        params["n_estimators"] = min(60, n_estimators)
        aucs = {
            size: fit(X, y, oob_score=True, min_samples_leaf=size, **params).oob_score_
            for size in (1, 5, 20)
        }
        best = max(aucs, key=aucs.get)
        params["n_estimators"] = n_estimators
        model = fit(X, y, min_samples_leaf="auto", **params)
        assert model.min_samples_leaf_ == best
        assert len(model.estimators_) == n_estimators
        alone = fit(X, y, min_samples_leaf=best, **params)
        assert alone.min_samples_leaf_ == best
        assert_array_equal(model.decision_function(X), alone.decision_function(X))


@parametrize_pairs(share=[0.0, 0.2, 0.4], n_estimators=[20, 40])
def test_of_many_rows_few_trees_are_extrapolated_to_the_forest(share, n_estimators):
    X, y = turned(5000, share)
    expected = {}
    for size in (20, 5, 1):
        path = fit(X, y, n_estimators=20, n_iter_no_change=100, min_samples_leaf=size).oob_path_
        of_ten, of_twenty = path["auc"]
        # The limit a and the lack b of a - b / n through both points.
        b = (of_twenty - of_ten) * 20
        expected[size] = of_twenty + b / 20 - b / n_estimators
        if expected[size] < max(expected.values()):
            break
    model = fit(X, y, n_estimators=n_estimators, min_samples_leaf="auto")
    assert model.min_samples_leaf_ == max(expected, key=expected.get)
    alone = fit(X, y, n_estimators=n_estimators, min_samples_leaf=model.min_samples_leaf_)
    assert_array_equal(model.decision_function(X), alone.decision_function(X))


def test_noise_in_the_labels_gives_larger_leaves():
    sizes = [
        fit(*turned(400, share), min_samples_leaf="auto").min_samples_leaf_ for share in (0, 0.3)
    ]
    assert sizes == [1, 20]


def test_the_size_of_leaves_is_three_if_no_row_is_out_of_bag():
    X, y = sample(100)
    model = fit(X, y, min_samples_leaf="auto", bootstrap=False)
    alone = fit(X, y, min_samples_leaf=3, bootstrap=False)
    assert model.min_samples_leaf_ == 3
    assert_array_equal(model.decision_function(X), alone.decision_function(X))


def test_the_chosen_size_of_leaves_is_saved_and_kept_by_warm_starts(tmp_path):
    X, y = turned(400, 0.3)
    whole = fit(X, y, min_samples_leaf="auto", n_estimators=70)
    model = fit(X, y, min_samples_leaf="auto", n_estimators=5, warm_start=True)
    model.save(tmp_path / "forest.json")
    model = aucrank.load(tmp_path / "forest.json")
    assert model.min_samples_leaf_ == whole.min_samples_leaf_ == 20
    assert pickle.loads(pickle.dumps(model)).min_samples_leaf_ == 20
    model.set_params(n_estimators=70).fit(X, y)
    assert model.min_samples_leaf_ == 20
    assert_array_equal(model.decision_function(X), whole.decision_function(X))
    # Other rows, which alone would choose another size.
    X, y = turned(400, 0.0)
    assert model.set_params(n_estimators=80).fit(X, y).min_samples_leaf_ == 20
    assert model.set_params(warm_start=False).fit(X, y).min_samples_leaf_ == 1


def test_the_choice_of_the_size_of_leaves_does_not_depend_on_the_number_of_threads():
    X, y = applicants(3000)
    models = [fit(X, y, n_jobs=n, min_samples_leaf="auto") for n in (1, 2, 5)]
    for model in models[1:]:
        assert model.min_samples_leaf_ == models[0].min_samples_leaf_
        assert_array_equal(model.decision_function(X), models[0].decision_function(X))


def test_split_rules_are_those_of_one_tree():
    X, y = sample(300)
    text = [tree.to_text() for tree in fit(X, y, split="orthogonal").estimators_]
    assert text == [tree.to_text() for tree in fit(X, y, split=OrthogonalSplit()).estimators_]
    of_rules = fit(X, y, split=LeafRank(max_depth=2), max_depth=2).estimators_
    assert any(" or " in tree.to_text() for tree in of_rules)
    pruned = LeafRank(max_depth=3, pruning=CrossValidatedPruning(n_folds=3))
    assert fit(X, y, split=pruned, n_estimators=3).score(X, y) > 0.8
    for split in (DyadicSplit(), WeightedERM(LogisticRegression())):
        with pytest.raises(ValueError, match="must be made of stumps in a forest"):
            fit(X, y, split=split, max_features=None)


def test_without_randomness_all_trees_are_the_one_tree():
    X, y = sample(200)
    params = {"criterion": "youden", "bootstrap": False, "max_depth": 3, "n_estimators": 3}
    model = fit(X, y, max_features=None, **params)
    tree = aucrank.TreeRank(
        split="orthogonal", pruning=None, max_depth=3, min_samples_leaf=1, leaf_order="eta"
    ).fit(X, y)
    for grown in model.estimators_:
        assert grown.to_text() == tree.tree_.to_text()
    one_at_a_time = fit(X, y, max_features=1, **params)
    assert len({grown.to_text() for grown in one_at_a_time.estimators_}) > 1


@pytest.mark.parametrize(
    ("max_samples", "drawn"), [(None, 300), (1.0, 300), (0.5, 150), (60, 60), (300, 300)]
)
def test_each_tree_draws_the_requested_number_of_rows_in_the_shares_of_the_classes(
    max_samples, drawn
):
    X, _ = sample(300)
    y = np.arange(300) % 5 == 0
    for tree in fit(X, y, max_samples=max_samples).estimators_:
        assert (tree.nodes["size"][0], tree.nodes["n_pos"][0]) == (drawn, drawn / 5)
    weight = np.arange(300) < 200
    if max_samples == 60:
        for tree in fit(X, y, weight, max_samples=60).estimators_:
            assert (tree.nodes["size"][0], tree.nodes["n_pos"][0]) == (60, 12)


def test_the_seed_determines_the_forest():
    X, y = sample(200)
    text = [fit(X, y, random_state=seed).decision_function(X).tolist() for seed in (0, 0, 1)]
    assert text[0] == text[1] != text[2]
    state = np.random.RandomState(0)
    scores = [fit(X, y, random_state=state).decision_function(X).tolist() for _ in range(2)]
    assert scores[0] == text[0] != scores[1]


@pytest.mark.parametrize("aggregation", AGGREGATIONS)
def test_the_number_of_threads_does_not_matter(aggregation):
    X, y = sample(3000)
    models = [fit(X, y, n_jobs=n, aggregation=aggregation, oob_score=True) for n in (1, 2, 5)]
    for model in models[1:]:
        assert model.oob_score_ == models[0].oob_score_
        for question in ("decision_function", "predict_proba"):
            assert_array_equal(getattr(model, question)(X), getattr(models[0], question)(X))


@pytest.mark.parametrize(
    ("params", "error", "message"),
    [
        ({"n_estimators": 0}, ValueError, "n_estimators must be at least 1, got 0"),
        ({"n_estimators": 2.5}, TypeError, "n_estimators must be an int, got 2.5"),
        ({"split": "gini"}, ValueError, "split"),
        ({"max_depth": 0}, ValueError, "max_depth must be at least 1"),
        ({"min_samples_split": 1}, ValueError, "min_samples_split must be at least 2"),
        ({"min_samples_leaf": 0}, ValueError, "min_samples_leaf must be at least 1"),
        ({"min_samples_leaf": 0.5}, TypeError, "min_samples_leaf must be an int, got 0.5"),
        ({"min_samples_leaf": "best"}, ValueError, "min_samples_leaf must be one of 'auto'"),
        ({"criterion": "entropy"}, ValueError, "criterion must be one of 'auto', 'youden', 'gini'"),
        ({"min_gain": -0.1}, ValueError, "min_gain must be in"),
        ({"max_features": 0}, ValueError, "max_features must be at least 1"),
        ({"max_features": 1.5}, ValueError, "max_features must be in"),
        ({"max_features": "auto"}, ValueError, "max_features must be 'sqrt', 'log2'"),
        ({"bootstrap": 1}, TypeError, "bootstrap must be True or False"),
        ({"max_samples": 41}, ValueError, "at most the number of rows, 40; got 41"),
        ({"max_samples": 0}, ValueError, "max_samples must be at least 1"),
        ({"max_samples": 0.0}, ValueError, "max_samples must be in"),
        ({"max_samples": 1.1}, ValueError, "max_samples must be in"),
        ({"max_samples": True}, TypeError, "max_samples must be a number"),
        ({"max_samples": 0.5, "bootstrap": False}, ValueError, "max_samples needs bootstrap=True"),
        ({"oob_score": True, "bootstrap": False}, ValueError, "oob_score needs bootstrap=True"),
        ({"oob_score": "yes"}, TypeError, "oob_score must be True or False"),
        ({"n_iter_no_change": 5, "bootstrap": False}, ValueError, "n_iter_no_change needs boot"),
        ({"n_iter_no_change": 0}, ValueError, "n_iter_no_change must be at least 1"),
        ({"n_iter_no_change": 5, "aggregation": "kendall"}, ValueError, "does not go with"),
        ({"tol": -1.0}, ValueError, "tol must be in"),
        ({"tol": np.inf}, ValueError, "tol must be in"),
        ({"aggregation": "borda"}, ValueError, "aggregation must be one of 'eta', 'rank_mean'"),
        ({"leaf_order": "left"}, ValueError, "leaf_order must be one of"),
        ({"warm_start": "yes"}, TypeError, "warm_start must be True or False"),
        ({"max_bins": 1}, ValueError, "max_bins must be from 2 to 65535"),
        ({"random_state": "a"}, ValueError, "cannot be used to seed"),
    ],
)
def test_bad_parameters_raise_an_error_and_leave_the_forest_unfitted(params, error, message):
    X, y = sample(40)
    model = fit(X, y)
    with pytest.raises(error, match=message):
        model.set_params(**params).fit(X, y)
    with pytest.raises(NotFittedError):
        model.predict(X)


# Rows out of bag.


@pytest.mark.parametrize("aggregation", AGGREGATIONS)
def test_the_out_of_bag_auc_is_that_of_new_rows(aggregation):
    found, tested = [], []
    for seed in range(8):
        train = make_gaussian_pair(600, random_state=seed)
        test = make_gaussian_pair(4000, random_state=100 + seed)
        model = fit(train.X, train.y, aggregation=aggregation, n_estimators=60, oob_score=True)
        found.append(model.oob_score_)
        tested.append(model.score(test.X, test.y))
        # In the bag it is far above: what is out of bag must not be in it.
        assert model.score(train.X, train.y) > model.oob_score_ + 0.05
    error = np.std(np.subtract(found, tested), ddof=1) / np.sqrt(8)
    assert abs(np.mean(found) - np.mean(tested)) < 3 * error + 0.01


def test_the_out_of_bag_interval_is_that_of_an_auc_and_covers():
    covered = 0
    for seed in range(60):
        train = make_gaussian_pair(200, random_state=seed)
        test = make_gaussian_pair(4000, random_state=1000 + seed)
        model = fit(train.X, train.y, n_estimators=100, max_depth=4, oob_score=True)
        interval = model.oob_interval(confidence=0.9)
        assert (interval.auc, interval.method) == (model.oob_score_, "logit")
        # Symmetric on the logit scale, as wide as DeLong's with many rows.
        low, auc, high = logit([interval.low, interval.auc, interval.high])
        assert_allclose(high - auc, auc - low)
        of_delong = interval.standard_error / (interval.auc * (1 - interval.auc))
        assert_allclose(auc - low, norm.ppf(0.95) * of_delong, rtol=0.03)
        covered += interval.low <= model.score(test.X, test.y) <= interval.high
        # As wide as that of so many new rows.
        rows = slice(0, 200)
        new = auc_interval(test.y[rows], model.decision_function(test.X[rows]))
        assert 0.6 < interval.standard_error / new.standard_error < 1.6
    assert covered >= 46, covered
    with pytest.raises(ValueError, match="confidence"):
        model.oob_interval(confidence=1.5)


def test_a_single_row_of_a_class_is_never_out_of_bag():
    X, _ = sample(60)
    # Its class is drawn by itself, so the row is in every bag.
    with pytest.warns(UserWarning, match="no out-of-bag AUC"):
        model = fit(X, np.arange(60) == 7, oob_score=True)
    with pytest.raises(AttributeError, match="no out-of-bag AUC"):
        model.oob_interval()


def test_warnings_point_to_the_caller():
    model = RankingForest(n_estimators=2, oob_score=True)
    with pytest.warns(UserWarning, match="no out-of-bag AUC") as caught:
        model.fit([[0.0], [1.0]], [0, 1])
    assert [warning.filename for warning in caught] == [__file__]


def test_out_of_bag_attributes_exist_if_requested():
    X, y = sample(100)
    model = fit(X, y)
    for name in ("oob_score_", "oob_path_"):
        assert not hasattr(model, name)
    with pytest.raises(AttributeError, match="oob_score=True"):
        model.oob_interval()
    model = fit(X, y, oob_score=True)
    assert 0.5 < model.oob_score_ < 1
    with pytest.raises(AttributeError, match="oob_path_ needs n_iter_no_change"):
        model.oob_path_  # noqa: B018
    for name in ("estimators_", "oob_score_", "oob_path_", "feature_importances_"):
        assert not hasattr(RankingForest(), name)


@pytest.mark.parametrize("aggregation", ["eta", "rank_mean", "rank_median"])
def test_growth_stops_when_the_out_of_bag_auc_no_longer_rises(aggregation):
    X, y = sample(400)
    stopping = {"n_iter_no_change": 20, "tol": 1e-3, "aggregation": aggregation}
    model = fit(X, y, n_estimators=1000, **stopping)
    path = model.oob_path_
    n_trees = len(model.estimators_)
    assert 30 <= n_trees < 1000
    assert_array_equal(path["n_estimators"], np.arange(10, n_trees + 1, 10))
    assert path["auc"][-1] == model.oob_score_
    plain = [fit(X, y, n_estimators=n, aggregation=aggregation, oob_score=True) for n in (10, 20)]
    assert_array_equal(path["auc"][:2], [forest.oob_score_ for forest in plain])
    # The last rise by more than `tol` is 20 trees back.
    best, last_rise = 0.0, 0
    for n, auc in zip(path["n_estimators"], path["auc"], strict=True):
        if auc > best + 1e-3:
            best, last_rise = auc, n
    assert n_trees - last_rise == 20


# Warm starts.


@parametrize_pairs(
    aggregation=AGGREGATIONS,
    draws_anew={"seed": False, "state": True},
    split={
        "orthogonal": "orthogonal",
        "inner folds": LeafRank(max_depth=3, pruning=CrossValidatedPruning(n_folds=3)),
    },
)
def test_ten_trees_and_ten_more_are_twenty(split, draws_anew, aggregation):
    X, y = applicants(200)
    params = {"split": split, "aggregation": aggregation, "oob_score": True}

    def seeded(**more):
        # A RandomState gives the second fit another seed, which the forest must not take.
        seed = np.random.RandomState(5) if draws_anew else 5
        return fit(X, y, random_state=seed, **params, **more)

    model = seeded(n_estimators=10, warm_start=True)
    of_ten = model.decision_function(X)
    model.set_params(n_estimators=20).fit(X, y)
    assert not np.array_equal(model.decision_function(X), of_ten)
    whole = seeded(n_estimators=20)
    assert whole.oob_score_ == model.oob_score_
    assert_array_equal(whole.decision_function(X), model.decision_function(X))
    for tree, expected in zip(model.estimators_, whole.estimators_, strict=True):
        assert tree.to_text() == expected.to_text()


def test_a_warm_start_with_other_parameters_or_data_is_rejected():
    X, y = applicants(200)

    def refused(message, X=X, y=y, **params):
        model = fit(applicants(200)[0], applicants(200)[1], warm_start=True)
        with pytest.raises(ValueError, match=message):
            model.set_params(**{"n_estimators": 20, **params}).fit(X, y)
        assert not hasattr(model, "classes_")
        with pytest.raises(NotFittedError):
            model.predict(X)

    refused("n_estimators=5 must be at least the 12 trees of the last fit", n_estimators=5)
    refused("needs the columns and categories of the last fit", X=X.rename(columns={"owner": "a"}))
    refused("needs the columns and categories of the last fit", X=X.drop(columns="owner"))
    other = X.assign(trade=X["trade"].cat.add_categories("king").mask(X.index == 0, "king"))
    refused("needs the columns and categories of the last fit", X=other)
    refused("needs the classes of the last fit", y=np.where(y == "repaid", "yes", "no"))
    for params in ({"oob_score": True}, {"aggregation": "rank_mean"}, {"n_iter_no_change": 10}):
        refused("the earlier forest is of other rows or draws", X=X[:-1], y=y[:-1], **params)
        refused("the earlier forest is of other rows or draws", max_samples=0.5, **params)


def test_a_warm_start_without_new_trees_keeps_the_forest_and_a_cold_one_refits():
    X, y = sample(100)
    model = fit(X, y, warm_start=True, random_state=None)
    scores = model.decision_function(X)
    assert_array_equal(model.fit(X, y).decision_function(X), scores)
    # Rows of the same columns may be added to the forest if none is scored.
    model.set_params(n_estimators=14).fit(*sample(150, 3))
    assert len(model.estimators_) == 14
    assert not np.array_equal(model.set_params(warm_start=False).fit(X, y).predict_proba(X), scores)


# Output.


def test_importances_are_the_mean_and_spread_of_those_of_the_trees():
    X, y = sample(400)
    model = fit(X, y)
    of_trees = np.zeros((12, 4))
    for row, tree in zip(of_trees, model.estimators_, strict=True):
        for rule, gain in zip(tree.nodes["rule"], tree.nodes["gain"], strict=True):
            if rule:
                row[int(rule[1])] += gain**2
    assert_allclose(model.feature_importances_, np.sqrt(of_trees).mean(axis=0))
    assert_allclose(model.feature_importances_std_, np.sqrt(of_trees).std(axis=0))
    assert model.feature_importances_.argsort()[-2:].tolist() in ([0, 1], [1, 0])


def test_estimators_are_a_sequence():
    X, y = sample(100)
    trees = fit(X, y).estimators_
    assert len(trees) == len(list(trees)) == 12
    assert trees[-1].to_text() == trees[11].to_text() == trees[np.int64(11)].to_text()
    assert [tree.to_text() for tree in trees[2:8:3]] == [trees[2].to_text(), trees[5].to_text()]
    with pytest.raises(IndexError):
        trees[12]


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("n_strata", [1, 4, 10, 1000])
def test_strata_are_cut_where_a_loop_cuts_them(n_strata, weighted):
    X, y = sample(300)
    X_new, y_new = sample(203, 1)
    model = fit(X, y, max_depth=3, n_estimators=4)
    weight = np.random.default_rng(3).integers(0, 4, len(y_new)) if weighted else None
    table = model.strata(X_new, y_new, n_strata=n_strata, sample_weight=weight)
    weight = np.ones(len(y_new)) if weight is None else weight
    score = model.decision_function(X_new)
    rows, taken, stratum = [], 0.0, []
    distinct = np.unique(score[weight > 0])[::-1]
    for value in distinct:
        here = (score == value) & (weight > 0)
        stratum.append(value)
        before, taken = taken, taken + weight[here].sum()
        # It ends once it holds the next quantile.
        quantiles = np.arange(1, n_strata + 1) * weight.sum() / n_strata
        if any(before < quantile - 1e-9 <= taken for quantile in quantiles):
            rows.append((stratum[0], stratum[-1]))
            stratum = []
    assert len(distinct) > 20
    assert_array_equal(table["score_from"], [first for first, _ in rows])
    assert_array_equal(table["score_to"], [last for _, last in rows])
    n_pos, n_all = weight[y_new].sum(), weight.sum()
    for i, (first, last) in enumerate(rows):
        inside, above = (score <= first) & (score >= last), score > first
        size, pos = weight[inside].sum(), weight[inside & y_new].sum()
        assert (table["rank"][i], table["size"][i], table["n_pos"][i]) == (i + 1, size, pos)
        assert_allclose(table["eta"][i], pos / size)
        assert_allclose(table["lift"][i], pos / size / (n_pos / n_all))
        assert_allclose(table["tpr_from"][i], weight[above & y_new].sum() / n_pos)
        assert_allclose(
            table["fpr_to"][i], weight[(above | inside) & ~y_new].sum() / (n_all - n_pos)
        )
    assert_array_equal(table["tpr_to"][:-1], table["tpr_from"][1:])
    assert table["tpr_to"][-1] == table["fpr_to"][-1] == 1


def test_strata_need_consistent_rows():
    X, y = sample(100)
    model = fit(X, y)
    for args, kwargs, message in [
        ((X, y[:-1]), {}, "inconsistent numbers of samples"),
        ((X[y], y[y]), {}, "both classes"),
        ((X, y), {"sample_weight": y.astype(float)}, "both classes"),
        ((X, y), {"sample_weight": -np.ones(100)}, "sample_weight must not be negative"),
        ((X, y), {"n_strata": 0}, "n_strata must be at least 1"),
        ((X, np.where(y, 2, 3)), {}, "none of the classes seen in fit"),
    ]:
        with pytest.raises(ValueError, match=message):
            model.strata(*args, **kwargs)


def test_verbose_prints_the_number_of_trees_and_their_auc(capfd):
    X, y = sample(100)
    fit(X, y)
    assert capfd.readouterr().out == ""
    fit(X, y, verbose=1)
    under_way = "[RankingForest] 10 of 12 trees\n"
    assert capfd.readouterr().out == f"{under_way}[RankingForest] 12 trees\n"
    model = fit(X, y, verbose=1, oob_score=True)
    expected = f"[RankingForest] 12 trees, out-of-bag AUC {model.oob_score_:.4f}\n"
    assert capfd.readouterr().out == under_way + expected
    model = fit(X, y, verbose=1, min_samples_leaf="auto")
    expected = f"[RankingForest] 12 trees, min_samples_leaf {model.min_samples_leaf_}\n"
    assert capfd.readouterr().out == under_way + expected


# Data of every kind.


@pytest.mark.parametrize("aggregation", AGGREGATIONS)
def test_frames_of_every_library_give_the_same_forest(aggregation):
    X, y = applicants(300)
    X_new = applicants(200, 1)[0].astype({"trade": object})
    X_new.loc[::5, "trade"] = "king"
    X_new["trade"] = pd.Categorical(X_new["trade"])
    model = fit(X, y, aggregation=aggregation)
    expected = model.decision_function(X_new)
    # An unseen category is a missing one.
    known = X_new.assign(trade=X_new["trade"].cat.remove_categories("king"))
    assert_array_equal(model.decision_function(known), expected)
    for convert in (pl.from_pandas, pa.Table.from_pandas):
        other = fit(convert(X), y, aggregation=aggregation)
        assert_array_equal(other.decision_function(convert(X_new)), expected)
        assert_array_equal(model.decision_function(convert(X_new)), expected)


@pytest.mark.parametrize("aggregation", AGGREGATIONS)
@pytest.mark.parametrize(
    ("X", "y"),
    [
        ([[0.0], [1.0]], [0, 1]),
        ([[0.0], [1.0], [2.0], [3.0], [4.0]], [0, 0, 0, 0, 1]),
        (np.ones((20, 2)), np.arange(20) % 2),
        (np.full((20, 1), np.nan), np.arange(20) % 2),
        (np.repeat([[0.0], [1.0]], 10, axis=0), np.repeat([0, 1], 10)),
    ],
    ids=["pair", "one positive", "constant", "missing", "duplicates"],
)
def test_poor_data_make_a_valid_forest(X, y, aggregation):
    model = fit(X, y, aggregation=aggregation, min_samples_leaf=1)
    score, probability = model.decision_function(X), model.predict_proba(X)[:, 1]
    assert np.isfinite(score).all()
    assert ((probability >= 0) & (probability <= 1)).all()
    assert_array_equal(score > 0, probability > 0.5)
    learns = len(np.unique(np.asarray(X)[:, 0])) > 1 and not np.isnan(X).any()
    assert model.score(X, y) >= (0.9 if learns else 0.5)
    back = pickle.loads(pickle.dumps(model))
    assert_array_equal(back.decision_function(X), score)


def test_missing_values_can_be_informative():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(500, 3))
    y = rng.random(500) < 0.5
    X[y & (rng.random(500) < 0.8), 1] = np.nan
    model = fit(X, y, oob_score=True, n_estimators=30, min_samples_leaf=5)
    assert model.oob_score_ > 0.85
    assert model.feature_importances_.argmax() == 1


def test_rows_of_weight_zero_do_not_count():
    X, y = applicants(200)
    rng = np.random.default_rng(1)
    there = rng.random(200) < 0.7
    for aggregation in AGGREGATIONS:
        model = fit(X, y, there.astype(float), aggregation=aggregation)
        kept = fit(X[there], y[there], aggregation=aggregation)
        assert_array_equal(model.decision_function(X), kept.decision_function(X))
        assert_array_equal(model.predict_proba(X), kept.predict_proba(X))


def test_without_a_bootstrap_weights_equal_copies():
    X, y = applicants(200)
    copies = np.random.default_rng(1).integers(0, 4, 200)
    rows = np.repeat(np.arange(200), copies)
    for aggregation in ("eta", "rank_mean", "rank_median"):
        params = {"aggregation": aggregation, "bootstrap": False}
        model = fit(X, y, copies.astype(float), **params)
        repeated = fit(X.iloc[rows], y[rows], **params)
        assert_array_equal(model.decision_function(X), repeated.decision_function(X))
        assert_array_equal(model.predict_proba(X), repeated.predict_proba(X))


# Stores.


@pytest.mark.parametrize("aggregation", AGGREGATIONS)
@pytest.mark.parametrize("store", ["pickle", "deepcopy", "joblib", "file"])
def test_every_store_restores_a_forest_completely(store, aggregation, tmp_path):
    X, y = applicants(300)
    X_new = applicants(200, 1)[0]
    stopping = {"oob_score": True} if aggregation == "kendall" else {"n_iter_no_change": 10}
    weight = np.random.default_rng(1).random(300)
    split = LeafRank(max_depth=2)
    model = fit(X, y, weight, aggregation=aggregation, split=split, warm_start=True, **stopping)
    back = STORES[store](model, tmp_path)
    assert type(back) is RankingForest
    params, wanted = back.get_params(), model.get_params()
    assert str(params.pop("split")) == str(wanted.pop("split"))
    assert params == wanted
    for question in ("decision_function", "predict_proba", "predict"):
        assert_array_equal(getattr(back, question)(X_new), getattr(model, question)(X_new))
    for name in ("classes_", "oob_score_", "feature_importances_", "feature_importances_std_"):
        assert_array_equal(getattr(back, name), getattr(model, name))
    assert back.oob_interval() == model.oob_interval()
    if aggregation != "kendall":
        assert_array_equal(back.oob_path_["auc"], model.oob_path_["auc"])
    for tree, expected in zip(back.estimators_, model.estimators_, strict=True):
        assert tree.to_text() == expected.to_text()
    # It grows on.
    for forest in (back, model):
        forest.set_params(n_estimators=15).fit(X, y, weight)
    assert_array_equal(back.decision_function(X_new), model.decision_function(X_new))


# Ctrl-C.

LONG_FIT = """
import signal
import numpy as np
from aucrank import RankingForest
from sklearn.exceptions import NotFittedError

# A parent in the background of a shell hands down that Ctrl-C is ignored.
signal.signal(signal.SIGINT, signal.default_int_handler)
rng = np.random.default_rng(0)
X = rng.normal(size=(100_000, 20))
y = rng.random(100_000) < 1 / (1 + np.exp(-X[:, 0] * X[:, 1]))
model = RankingForest(n_estimators=2, max_depth=2).fit(X[:1000], y[:1000])
model.set_params(n_estimators=20_000, max_depth=None, max_features=None, n_iter_no_change=9_999)
print("fitting", flush=True)
try:
    model.fit(X, y)
except KeyboardInterrupt:
    print("interrupted", flush=True)
assert sorted(vars(model)) == sorted(model.get_params(deep=False)), vars(model)
try:
    model.predict(X)
except NotFittedError:
    print("unfitted", flush=True)
print(len(model.set_params(n_estimators=3, n_iter_no_change=None).fit(X[:99], y[:99]).estimators_))
"""


@no_windows
def test_ctrl_c_ends_a_long_fit_soon_and_leaves_it_unfitted():
    said, err = interrupted(LONG_FIT, after=2)
    assert said == ["interrupted", "unfitted", "3"], err


# With scikit-learn.


def test_scikit_learn_scores_tunes_calibrates_and_inspects_it():
    X, y = load_breast_cancer(return_X_y=True)
    model = RankingForest(n_estimators=20, random_state=0)
    aucs = cross_val_score(model, X, y, scoring="roc_auc", cv=3)
    assert_allclose(cross_val_score(model, X, y, cv=3), aucs, rtol=0, atol=1e-15)
    assert aucs.min() > 0.95

    grid = {"max_features": ["sqrt", 1, 0.5, None]}
    search = GridSearchCV(model, grid, scoring="roc_auc", cv=3).fit(X, y)
    assert search.best_score_ >= aucs.mean()
    assert search.best_params_["max_features"] in grid["max_features"]
    assert len(set(search.cv_results_["mean_test_score"])) > 1

    calibrated = CalibratedClassifierCV(model, cv=3).fit(X, y)
    assert roc_auc_score(y, calibrated.predict_proba(X)[:, 1]) > 0.97

    X, y = sample(400)
    model = fit(X, y, min_samples_leaf=5)
    found = permutation_importance(model, X, y, scoring="roc_auc", n_repeats=3, random_state=0)
    assert set(found.importances_mean.argsort()[-2:]) == {0, 1}

    again = clone(model)
    with pytest.raises(NotFittedError):
        again.predict(X)
    assert_array_equal(again.fit(X, y).decision_function(X), model.decision_function(X))


# Cuts that are drawn.


def test_trees_of_random_cuts_differ_without_a_bootstrap():
    X, y = sample(300)
    drawn = fit(X, y, cuts="random", bootstrap=False, max_features=None)
    best = fit(X, y, bootstrap=False, max_features=None)
    roots = {tree.nodes["rule"][0] for tree in drawn.estimators_}
    assert len(roots) > 1
    assert len({tree.nodes["rule"][0] for tree in best.estimators_}) == 1
    assert drawn.score(X, y) > 0.8


def test_a_random_cut_lies_between_the_values_of_its_node():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(200, 2))
    y = (X[:, 0] > 0).astype(int)
    forest = fit(X, y, cuts="random", bootstrap=False, n_estimators=40, max_features=1)
    rules = {tree.nodes["rule"][0] for tree in forest.estimators_}
    assert len(rules) > 20
    for rule in rules:
        name, _, threshold = rule.split()
        column = X[:, int(name.removeprefix("x"))]
        assert column.min() < float(threshold) <= column.max()


def test_random_cuts_do_not_depend_on_threads_row_order_or_copies():
    X, y = sample(200)
    model = fit(X, y, cuts="random", bootstrap=False, random_state=0)
    expected = model.decision_function(X)
    threads = fit(X, y, cuts="random", bootstrap=False, random_state=0, n_jobs=3)
    assert_array_equal(threads.decision_function(X), expected)
    order = np.random.default_rng(0).permutation(len(y))
    shuffled = fit(X[order], y[order], cuts="random", bootstrap=False, random_state=0)
    assert_array_equal(shuffled.decision_function(X), expected)
    weight = np.random.default_rng(1).integers(0, 3, len(y))
    weighted = fit(
        X, y, sample_weight=weight, cuts="random", bootstrap=False, random_state=0
    ).decision_function(X)
    copies = np.repeat(np.arange(len(y)), weight)
    copied = fit(X[copies], y[copies], cuts="random", bootstrap=False, random_state=0)
    assert_array_equal(copied.decision_function(X), weighted)


def test_cuts_are_best_or_random():
    X, y = sample(50)
    with pytest.raises(ValueError, match="cuts must be"):
        fit(X, y, cuts="all")


# The criterion of cuts.


def impurity(criterion, positive):
    """Impurity of a set of rows."""
    p = np.mean(positive)
    if criterion == "gini":
        return 2 * p * (1 - p)
    return -sum(q * np.log(q) for q in (p, 1 - p) if q > 0)


@pytest.mark.parametrize("criterion", ["youden", "gini", "log_loss"])
def test_a_cut_is_the_best_of_all_by_its_criterion(criterion):
    rng = np.random.default_rng(3)
    for _ in range(20):
        X = rng.integers(0, 30, (60, 1)).astype(float)
        y = rng.random(60) < 0.1 + 0.6 * (X[:, 0] > 20)
        model = fit(
            X, y, criterion=criterion, bootstrap=False, max_depth=1, n_estimators=1, max_bins=None
        )
        (tree,) = model.estimators_

        def value(left, y=y):
            if criterion == "youden":
                return abs(np.mean(left[y]) - np.mean(left[~y]))
            sides = (y[left], y[~left])
            return -sum(len(side) * impurity(criterion, side) for side in sides)

        cuts = [X[:, 0] < threshold for threshold in np.unique(X)[1:]]
        found = tree.apply(X) == tree.apply(X)[0]
        assert value(found) == pytest.approx(max(map(value, cuts)))


@pytest.mark.parametrize("criterion", ["gini", "log_loss"])
def test_a_single_cut_is_that_of_scikit_learn(criterion):
    X, y = load_breast_cancer(return_X_y=True)
    for start in range(0, 500, 100):
        rows = slice(start, start + 100)
        model = fit(
            X[rows],
            y[rows],
            criterion=criterion,
            bootstrap=False,
            max_features=None,
            max_depth=1,
            n_estimators=1,
            max_bins=None,
        )
        rival = DecisionTreeClassifier(criterion=criterion, max_depth=1, random_state=0)
        rival.fit(X[rows], y[rows])
        assert_allclose(
            model.predict_proba(X[rows]), rival.predict_proba(X[rows]), rtol=0, atol=1e-12
        )


@pytest.mark.parametrize("criterion", ["gini", "log_loss"])
def test_the_set_of_categories_of_least_impurity_is_found(criterion):
    rng = np.random.default_rng(5)
    for _ in range(10):
        codes = rng.integers(0, 6, 120)
        y = rng.random(120) < rng.random(6)[codes]
        X = pd.DataFrame({"trade": pd.Categorical([f"trade {code}" for code in codes])})
        params = {"bootstrap": False, "max_depth": 1, "n_estimators": 1, "level_rates": "raw"}
        model = fit(X, y, criterion=criterion, **params)

        def value(left, y=y):
            sides = (y[left], y[~left])
            return -sum(len(side) * impurity(criterion, side) for side in sides if len(side))

        sets = [np.isin(codes, np.flatnonzero([n >> k & 1 for k in range(6)])) for n in range(64)]
        leaves = model.estimators_[0].apply(X)
        assert value(leaves == leaves[0]) == pytest.approx(max(map(value, sets)))


@pytest.mark.parametrize("cuts", ["best", "random"])
@pytest.mark.parametrize("criterion", ["youden", "gini", "log_loss"])
def test_no_criterion_depends_on_threads_row_order_or_copies(criterion, cuts):
    X, y = applicants(200)
    params = {"criterion": criterion, "cuts": cuts, "bootstrap": False}
    expected = fit(X, y, **params).decision_function(X)
    assert_array_equal(fit(X, y, n_jobs=3, **params).decision_function(X), expected)
    order = np.random.default_rng(0).permutation(len(y))
    shuffled = fit(X.iloc[order], y[order], **params)
    assert_array_equal(shuffled.decision_function(X), expected)
    copies = np.random.default_rng(1).integers(0, 4, 200)
    weighted = fit(X, y, copies.astype(float), **params)
    rows = np.repeat(np.arange(200), copies)
    repeated = fit(X.iloc[rows], y[rows], **params)
    assert_array_equal(weighted.decision_function(X), repeated.decision_function(X))


@pytest.mark.parametrize("criterion", ["youden", "gini", "log_loss"])
def test_the_criterion_is_saved_and_kept_by_warm_starts(criterion, tmp_path):
    X, y = applicants(200)
    whole = fit(X, y, criterion=criterion, n_estimators=20)
    model = fit(X, y, criterion=criterion, n_estimators=10, warm_start=True)
    model.save(tmp_path / "forest.json")
    for back in (aucrank.load(tmp_path / "forest.json"), pickle.loads(pickle.dumps(model))):
        assert back.criterion_ == criterion
        back.set_params(n_estimators=20).fit(X, y)
        assert_array_equal(back.decision_function(X), whole.decision_function(X))
