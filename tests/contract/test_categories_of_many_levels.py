"""Rankers that learn from rates of rare categories: unseen ones, files, exports."""

import json
import pickle
import sqlite3

import numpy as np
import pandas as pd
import pytest
from aucrank import (
    AUCBoost,
    GradientBoostingRanker,
    LinearRanker,
    RankBoost,
    RankingForest,
    Scorecard,
    TreeRank,
    load,
)
from aucrank.data import Dataset
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.metrics import roc_auc_score

from tests.common.json_formula import score

RANKERS = {
    "booster": GradientBoostingRanker(n_rounds=30, random_state=0),
    "stopped": GradientBoostingRanker(
        n_rounds=60, early_stopping=True, scoring="loss", n_bags=2, random_state=0
    ),
    "forest": RankingForest(n_estimators=15, random_state=0),
    "linear": LinearRanker(),
    "tree": TreeRank(random_state=0),
    "leafrank": TreeRank(split="leafrank", random_state=0),
    "cell mean": TreeRank(missing="cell_mean", pruning="validation", random_state=0),
    "rank boost": RankBoost(n_rounds=60, random_state=0),
    "rank boost of trees": RankBoost(weak_ranker="tree", n_rounds=8, random_state=0),
    "auc boost": AUCBoost(n_rounds=20, early_stopping=True, refit=True, random_state=0),
    "scorecard": Scorecard(),
}
#: Bootstraps draw rows by their numbers, not their content.
DRAWS = ("forest",)


def make_rows(seed, n_rows=3000):
    """Return a noise column and 500 towns, each with its own rate."""
    rng = np.random.default_rng(seed)
    town = rng.integers(500, size=n_rows)
    rates = np.random.default_rng(0).beta(1, 2, size=500)
    X = pd.DataFrame({"number": rng.normal(size=n_rows), "town": [f"t{k}" for k in town]})
    X.loc[rng.random(n_rows) < 0.05, "town"] = None
    return X, (rng.random(n_rows) < rates[town]).astype(int)


@pytest.fixture(params=RANKERS, name="fitted")
def _fitted(request):
    X, y = make_rows(1)
    return clone(RANKERS[request.param]).fit(X.astype({"town": "category"}), y)


def test_rare_categories_are_ranked_by_their_rates(fitted):
    X, y = make_rows(2)
    # Without the rates of rare towns there is nothing to learn.
    assert roc_auc_score(y, fitted.decision_function(X)) > 0.65
    assert fitted.n_features_in_ == 2
    if hasattr(fitted, "feature_importances_"):
        number, town = fitted.feature_importances_
        assert town > number


def test_an_unseen_category_is_scored_as_missing(fitted):
    X, _ = make_rows(2, 200)
    unseen, missing = X.assign(town="elsewhere"), X.assign(town=None)
    assert_array_equal(fitted.decision_function(unseen), fitted.decision_function(missing))


def test_a_loaded_model_and_its_sql_give_the_scores(fitted):
    X, _ = make_rows(3, 300)
    scores = fitted.decision_function(X)
    assert_array_equal(pickle.loads(pickle.dumps(fitted)).decision_function(X), scores)
    with sqlite3.connect(":memory:") as connection:
        X.to_sql("rows", connection, index=False)
        of_score = {"output": "score"} if isinstance(fitted, Scorecard) else {}
        sql = fitted.to_sql("sqlite", **of_score)
        found = connection.execute(f"SELECT {sql} FROM rows").fetchall()
    assert_allclose([score for (score,) in found], scores, rtol=1e-9, atol=1e-9)


def test_a_saved_model_its_formula_and_its_onnx_give_the_scores(fitted, tmp_path):
    X, _ = make_rows(3, 300)
    scores = fitted.decision_function(X)
    fitted.save(tmp_path / "model.json")
    assert_array_equal(load(tmp_path / "model.json").decision_function(X), scores)
    # That of a card is its points.
    if not isinstance(fitted, Scorecard):
        formula = json.loads(fitted.to_json())
        rows = X.astype(object).where(X.notna(), None).itertuples(index=False)
        found = [score(formula, row) for row in rows]
        assert_allclose(found, scores, rtol=1e-12, atol=1e-12)
    onnxruntime = pytest.importorskip("onnxruntime")
    session = onnxruntime.InferenceSession(
        fitted.to_onnx().SerializeToString(), providers=["CPUExecutionProvider"]
    )
    feed = {
        "number": X[["number"]].to_numpy(),
        "town": X[["town"]].astype(object).fillna("").to_numpy(),
    }
    (found,) = session.run(["score"], feed)
    assert_allclose(found, scores, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("name", [name for name in RANKERS if name not in DRAWS])
def test_row_order_threads_and_copies_do_not_matter(name):
    X, y = make_rows(4)
    rng = np.random.default_rng(0)
    order, weight = rng.permutation(len(X)), rng.integers(3, size=len(X))
    ranker = clone(RANKERS[name])
    scores = ranker.set_params(n_jobs=1).fit(X, y).decision_function(X)
    shuffled = ranker.set_params(n_jobs=2).fit(X.iloc[order], y[order])
    assert_array_equal(shuffled.decision_function(X), scores)
    scores = ranker.fit(X, y, weight.astype(float)).decision_function(X)
    copies = np.repeat(np.arange(len(X)), weight)
    copied = ranker.fit(X.iloc[copies].reset_index(drop=True), y[copies])
    assert_array_equal(copied.decision_function(X), scores)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", ["unpruned tree", "rank boost", "auc boost", "forest"])
def test_raw_rates_are_those_of_the_training_rows(name):
    rng = np.random.default_rng(5)
    X = pd.DataFrame({"town": [f"t{k}" for k in rng.integers(400, size=1000)]})
    y = rng.integers(2, size=1000)
    ranker = TreeRank(pruning=None) if name == "unpruned tree" else clone(RANKERS[name])
    aucs = [
        roc_auc_score(y, ranker.set_params(level_rates=rates).fit(X, y).decision_function(X))
        for rates in ("shrunken", "raw")
    ]
    # Towns are uninformative, and the search of the papers overfits them.
    assert aucs[0] < 0.6 < 0.7 < aucs[1]


@pytest.mark.parametrize(
    "ranker",
    [
        TreeRank(monotonic_cst={"number": -1}, random_state=0),
        RankBoost(
            weak_ranker="tree",
            n_rounds=8,
            monotonic_cst={"number": -1},
            max_features=1,
            random_state=0,
        ),
        AUCBoost(monotonic_cst={"number": -1}, max_features=0.5, random_state=0),
    ],
    ids=["tree", "rank boost of trees", "auc boost"],
)
def test_monotonic_constraints_hold_with_rates_of_categories(ranker):
    X, y = make_rows(11)
    y[X["number"] > 1] = 1
    fitted = clone(ranker).fit(X, y)
    new, labels = make_rows(12)
    low, high = (fitted.decision_function(new.assign(number=value)) for value in (-9.0, 9.0))
    assert (low >= high).all()
    assert roc_auc_score(labels, fitted.decision_function(new.assign(number=0.0))) > 0.6


def test_pruning_folds_do_not_overfit_rare_categories():
    X, y = make_rows(7)
    fitted = TreeRank(random_state=0).fit(X, y)
    kept = fitted.pruning_["kept"]
    judged = fitted.pruning_["mean_auc"][kept][0]
    new, labels = make_rows(8, 20_000)
    # A row is ranked better if its label counts in the rate of its town.
    assert judged == pytest.approx(roc_auc_score(labels, fitted.decision_function(new)), abs=0.03)
    assert roc_auc_score(y, fitted.decision_function(X)) > judged + 0.05


@pytest.mark.parametrize("name", ["rank boost", "auc boost", "scorecard"])
def test_a_fit_to_pieces_equals_that_to_one_frame(name):
    X, y = make_rows(9)
    whole = clone(RANKERS[name]).fit(X, y)
    rows = Dataset.from_batches(X.assign(y=y), target="y", chunk_rows=700)
    found = clone(RANKERS[name]).fit(rows).decision_function(X)
    assert_array_equal(found, whole.decision_function(X))
