"""Exports of rankers whose threshold is any number, as calibration finds it: to the last bit."""

import json
import sqlite3

import numpy as np
import pandas as pd
import pytest
from aucrank import AUCBoost, GradientBoostingRanker, MartiRank, RankBoost

from tests.common import json_formula

RANKERS = {
    "pairs": GradientBoostingRanker(
        n_rounds=40, loss="pair_logistic", max_depth=2, calibration="sigmoid", random_state=0
    ),
    "deep pairs": GradientBoostingRanker(
        n_rounds=40, loss="pair_exponential", max_leaves=8, calibration="isotonic", random_state=0
    ),
    "rank boost": RankBoost(n_rounds=30, calibration="sigmoid", random_state=0),
    "AUC boost": AUCBoost(n_rounds=30, calibration="isotonic", random_state=0),
    "program": MartiRank(n_rounds=3, calibration="sigmoid", random_state=0),
}


@pytest.fixture(scope="module", params=RANKERS)
def fitted(request):
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(500, 4)), columns=list("abcd"))
    y = rng.random(500) < 1 / (1 + np.exp(1 - 1.5 * X["a"] - X["b"] * X["c"]))
    model = RANKERS[request.param].fit(X, y)
    # Not on the grid of the values, or this tests nothing.
    assert (model.base_score_ * 2**32) % 1 != 0 if hasattr(model, "base_score_") else True
    return model, X


def test_sql_gives_the_score(fitted):
    model, X = fitted
    database = sqlite3.connect(":memory:")
    X.to_sql("rows", database, index=False)
    found = [row[0] for row in database.execute(f"SELECT {model.to_sql('sqlite')} FROM rows")]
    assert np.array_equal(found, model.decision_function(X))


def test_onnx_gives_the_score(fitted):
    pytest.importorskip("onnx")
    onnxruntime = pytest.importorskip("onnxruntime")
    model, X = fitted
    session = onnxruntime.InferenceSession(
        model.to_onnx().SerializeToString(), providers=["CPUExecutionProvider"]
    )
    feed = {name: X[[name]].to_numpy() for name in X}
    (found,) = session.run(["score"], feed)
    assert np.array_equal(found.ravel(), model.decision_function(X))


def test_json_gives_the_score(fitted):
    model, X = fitted
    document = json.loads(model.to_json())
    found = [json_formula.score(document, row) for row in X.to_numpy().tolist()]
    assert np.array_equal(found, model.decision_function(X))


def test_stages_and_parts_end_at_the_score(fitted):
    model, X = fitted
    if hasattr(model, "staged_decision_function"):
        *_, last = model.staged_decision_function(X)
        assert np.array_equal(last, model.decision_function(X))
