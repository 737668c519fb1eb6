"""Uninformative categories in any number, and informative ones of many levels."""

import itertools
from functools import cache

import numpy as np
import pandas as pd
import pytest
from aucrank import (
    RIMARC,
    RuleList,
    TreeRank,
    load,
)
from sklearn.base import clone
from sklearn.metrics import roc_auc_score

from tests.common.estimators import RANKERS

for ranker in RANKERS.values():
    if "random_state" in ranker.get_params(deep=False):
        ranker.set_params(random_state=0)
with_level_rates = pytest.mark.parametrize(
    "name", [name for name, ranker in RANKERS.items() if "level_rates" in ranker.get_params(False)]
)
pytestmark = pytest.mark.filterwarnings("ignore::aucrank.ColumnWarning")


def categories(codes):
    return pd.Categorical([f"v{code}" for code in codes])


def auc_on_new_rows(ranker, X, y):
    n_rows = len(X) // 2
    model = clone(ranker).fit(X[:n_rows], y[:n_rows])
    return roc_auc_score(y[n_rows:], model.decision_function(X[n_rows:]))


def two_numbers():
    """Return two numbers and labels that depend on both."""
    rng = np.random.default_rng(1)
    x = rng.normal(size=(6000, 2))
    y = rng.random(6000) < 1 / (1 + np.exp(-2 * x[:, 0] - x[:, 1]))
    return pd.DataFrame(x, columns=["a", "b"]), y


@cache
def auc_of_two_numbers(name):
    return auc_on_new_rows(RANKERS[name], *two_numbers())


@pytest.mark.parametrize("n_levels", [5, 30, 300, None], ids=["5", "30", "300", "a row each"])
@pytest.mark.parametrize("name", RANKERS)
def test_a_noise_column_lowers_the_auc_very_little(name, n_levels):
    X, y = two_numbers()
    rng = np.random.default_rng(2)
    codes = rng.permutation(len(X)) if n_levels is None else rng.integers(n_levels, size=len(X))
    noisy = auc_on_new_rows(RANKERS[name], X.assign(noise=categories(codes)), y)
    assert noisy > auc_of_two_numbers(name) - 0.01


@pytest.mark.parametrize("name", RANKERS)
def test_rates_of_many_categories_are_learned(name):
    rng = np.random.default_rng(0)
    n_rows = 6000
    level = rng.integers(30, size=n_rows)
    rate = rng.uniform(size=30)[level]
    y = rng.random(n_rows) < rate
    X = pd.DataFrame({"x": rng.normal(size=n_rows), "level": categories(level)})
    best = roc_auc_score(y[n_rows // 2 :], rate[n_rows // 2 :])
    assert auc_on_new_rows(RANKERS[name], X, y) > best - (0.05 if "Forest" in name else 0.03)


@pytest.mark.parametrize(
    "name",
    ["unpruned TreeRank", "RankBoost", "RankBoost of trees", "AUCBoost", "MartiRank", "RIMARC"],
)
def test_raw_rates_overfit_noise(name):
    rng = np.random.default_rng(2)
    n_rows = 2000
    X = pd.DataFrame({"noise": categories(rng.integers(300, size=n_rows))})
    y = rng.random(n_rows) < 0.5
    shrunken, raw = clone(RANKERS[name]), clone(RANKERS[name]).set_params(level_rates="raw")
    assert roc_auc_score(y, raw.fit(X, y).decision_function(X)) > 0.6
    assert roc_auc_score(y, shrunken.fit(X, y).decision_function(X)) < 0.55


def test_raw_rates_search_all_sets_of_categories():
    rng = np.random.default_rng(3)
    for _ in range(20):
        codes = rng.integers(6, size=60)
        y = rng.random(60) < rng.uniform(size=6)[codes]
        y[:2] = [True, False]
        X = pd.DataFrame({"level": categories(codes)})
        stump = TreeRank(max_depth=1, min_samples_leaf=1, pruning=None, level_rates="raw").fit(X, y)
        best = max(
            roc_auc_score(y, np.isin(codes, chosen))
            for n_chosen in range(1, 6)
            for chosen in itertools.combinations(range(6), n_chosen)
        )
        assert stump.tree_.auc == pytest.approx(best, abs=1e-12)


@with_level_rates
def test_a_rare_category_counts_as_unseen(name):
    if name == "RIMARC":
        pytest.skip("its rates are shrunk one by one: no category can mislead the others")
    rng = np.random.default_rng(4)
    codes = rng.integers(7, size=600)
    y = rng.random(600) < 0.15 + 0.1 * codes
    # Nine rows of a category of their own, all of them positive.
    codes, y = np.concatenate([codes, np.full(9, 8)]), np.concatenate([y, np.full(9, True)])
    X = pd.DataFrame({"level": categories(codes)})
    model = clone(RANKERS[name]).fit(X, y)
    new = pd.DataFrame({"level": ["v8", "never seen", None]})
    rare, unseen, missing = model.decision_function(new)
    assert rare == unseen == missing
    # A tenth row makes the category one to split on.
    X, y = pd.concat([X, X[-1:]], ignore_index=True), np.append(y, True)
    model = clone(RANKERS[name])
    if isinstance(model, TreeRank | RuleList):
        model.set_params(pruning=None, min_samples_leaf=1)
    common, unseen = model.fit(X, y).decision_function(new[:2])
    assert common != unseen


@with_level_rates
def test_weights_equal_copies_in_shrunken_rates_too(name):
    if "Forest" in name:
        pytest.skip("a bootstrap draws rows, not copies")
    rng = np.random.default_rng(5)
    n_rows = 500
    codes = rng.integers(12, size=n_rows)
    X = pd.DataFrame({"x": rng.normal(size=n_rows).round(1), "level": categories(codes)})
    y = rng.random(n_rows) < 0.2 + 0.05 * codes
    weight = rng.integers(4, size=n_rows)
    weighted = clone(RANKERS[name]).fit(X, y, sample_weight=weight.astype(float))
    repeated = np.repeat(np.arange(n_rows), weight)
    copies = clone(RANKERS[name]).fit(X.iloc[repeated].reset_index(drop=True), y[repeated])
    assert np.array_equal(weighted.decision_function(X), copies.decision_function(X))


def test_a_saved_table_keeps_its_shrunken_rates(tmp_path):
    rng = np.random.default_rng(6)
    codes = rng.integers(20, size=800)
    X = pd.DataFrame({"level": categories(codes)})
    y = rng.random(800) < 0.3 + 0.02 * codes
    model = RIMARC().fit(X, y)
    model.save(tmp_path / "model.json")
    assert np.array_equal(
        load(tmp_path / "model.json").decision_function(X), model.decision_function(X)
    )
    assert 0 < model.weights_[0] < RIMARC(level_rates="raw").fit(X, y).weights_[0]


@with_level_rates
def test_an_unknown_value_of_level_rates_is_named_in_the_error(name):
    X = pd.DataFrame({"level": categories([0, 1, 0, 1])})
    with pytest.raises(ValueError, match="level_rates must be"):
        clone(RANKERS[name]).set_params(level_rates="smooth").fit(X, [0, 1, 1, 0])
