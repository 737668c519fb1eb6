"""Rankers that learn from rates of rare categories: unseen ones, files, exports."""

import pickle
import sqlite3

import numpy as np
import pandas as pd
import pytest
from aucrank import GradientBoostingRanker, LinearRanker, RankingForest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.metrics import roc_auc_score

RANKERS = {
    "booster": GradientBoostingRanker(n_rounds=30, random_state=0),
    "stopped": GradientBoostingRanker(
        n_rounds=60, early_stopping=True, scoring="loss", n_bags=2, random_state=0
    ),
    "forest": RankingForest(n_estimators=15, random_state=0),
    "linear": LinearRanker(),
}


def make_rows(seed, n_rows=3000):
    """Return a number of noise and 500 towns, each with a rate of its own."""
    rng = np.random.default_rng(seed)
    town = rng.integers(500, size=n_rows)
    rates = np.random.default_rng(0).beta(1, 2, size=500)
    X = pd.DataFrame({"number": rng.normal(size=n_rows), "town": [f"t{k}" for k in town]})
    X.loc[rng.random(n_rows) < 0.05, "town"] = None
    return X, (rng.random(n_rows) < rates[town]).astype(int)


@pytest.fixture(params=RANKERS, name="fitted")
def _fitted(request):
    X, y = make_rows(1)
    return RANKERS[request.param].fit(X.astype({"town": "category"}), y)


def test_rare_categories_are_ranked_by_their_rates(fitted):
    X, y = make_rows(2)
    # Without the rates of rare towns there is nothing to learn.
    assert roc_auc_score(y, fitted.decision_function(X)) > 0.65
    assert fitted.n_features_in_ == 2
    if hasattr(fitted, "feature_importances_"):
        number, town = fitted.feature_importances_
        assert town > number


def test_a_town_that_was_not_seen_is_scored_as_a_missing_one(fitted):
    X, _ = make_rows(2, 200)
    unseen, missing = X.assign(town="elsewhere"), X.assign(town=None)
    assert_array_equal(fitted.decision_function(unseen), fitted.decision_function(missing))


def test_a_loaded_model_and_its_sql_give_the_scores(fitted):
    X, _ = make_rows(3, 300)
    scores = fitted.decision_function(X)
    assert_array_equal(pickle.loads(pickle.dumps(fitted)).decision_function(X), scores)
    with sqlite3.connect(":memory:") as connection:
        X.to_sql("rows", connection, index=False)
        found = connection.execute(f"SELECT {fitted.to_sql('sqlite')} FROM rows").fetchall()
    assert_allclose([score for (score,) in found], scores, rtol=1e-9, atol=1e-9)


def test_the_order_of_rows_and_the_number_of_threads_do_not_matter():
    X, y = make_rows(4)
    order = np.random.default_rng(0).permutation(len(X))
    for name in ("booster", "stopped", "linear"):
        ranker = RANKERS[name]
        scores = ranker.set_params(n_jobs=1).fit(X, y).decision_function(X)
        shuffled = ranker.set_params(n_jobs=2).fit(X.iloc[order], y[order])
        assert_array_equal(shuffled.decision_function(X), scores)
