"""Fitted rankers with probabilities of another place."""

import pickle

import aucrank
import numpy as np
import pytest
from aucrank import (
    RIMARC,
    GradientBoostingRanker,
    LinearRanker,
    MartiRank,
    RankBoost,
    RankingEnsemble,
    RankingForest,
    Recalibrated,
    Scorecard,
    TreeRank,
    recalibrate,
)
from aucrank.cli import main
from aucrank.metrics import at_prevalence, recalibration
from scipy.special import expit
from sklearn.linear_model import LogisticRegression


def place(n, *, intercept, slope=1.0, seed=0):
    rng = np.random.default_rng(seed)
    X = np.round(rng.normal(size=(n, 4)), 2)
    log_odds = intercept + slope * (1.5 * X[:, 0] + X[:, 1] * (X[:, 2] > 0))
    return X, np.where(rng.random(n) < expit(log_odds), "ill", "healthy")[:, None].ravel()


HOME = place(900, intercept=0.0)
AWAY = place(3000, intercept=-1.0, slope=0.5, seed=1)

RANKERS = {
    "LinearRanker": LinearRanker(),
    "Scorecard": Scorecard(random_state=0),
    "GradientBoostingRanker": GradientBoostingRanker(n_rounds=30, random_state=0),
    "RankingEnsemble": RankingEnsemble(presets="fast", n_folds=2, random_state=0),
    "line": RankBoost(n_rounds=20, calibration="sigmoid"),
    "curve": RankBoost(n_rounds=20, calibration="isotonic"),
    "TreeRank": TreeRank(random_state=0),
    "RIMARC": RIMARC(),
}


@pytest.fixture(scope="module")
def fitted():
    # "healthy" sorts before "ill".
    return {name: ranker.fit(*HOME) for name, ranker in RANKERS.items()}


@pytest.mark.parametrize("method", ["none", "intercept", "slope", "isotonic", "auto"])
@pytest.mark.parametrize("name", RANKERS)
def test_probabilities_are_recalibrated_and_the_ranking_stays(fitted, name, method):
    ranker = fitted[name]
    X, y = AWAY
    found = recalibrate(ranker, X, y, method=method)
    old = ranker.predict_proba(X)[:, 1]
    expected = recalibration(y, old, method=method)
    assert (found.source, found.method) == (type(ranker).__name__, expected.method)
    new = found.predict_proba(X)[:, 1]
    np.testing.assert_allclose(new, expected.probability(old), atol=1e-3)
    np.testing.assert_array_equal(found.steps_["gain"], expected.steps["gain"])
    before, after = ranker.decision_function(X), found.decision_function(X)
    order = np.argsort(before, kind="stable")
    rises = np.diff(before[order]) > 1e-9 * np.abs(before).max()
    assert (np.diff(after[order])[rises] > 0).all()
    same = np.diff(before[order]) == 0
    assert (np.diff(after[order])[same] == 0).all()
    np.testing.assert_array_equal(found.predict(X) == "ill", after > 0)
    np.testing.assert_array_equal(after > 0, new > 0.5)
    assert found.score(X, y) == pytest.approx(ranker.score(X, y), abs=1e-9)


@pytest.mark.parametrize("name", RANKERS)
def test_it_is_saved_pickled_and_described(fitted, name, tmp_path, capsys):
    X, y = AWAY
    found = recalibrate(fitted[name], X, y, method="slope")
    found.save(tmp_path / "model.json")
    for copy in (aucrank.load(tmp_path / "model.json"), pickle.loads(pickle.dumps(found))):
        assert type(copy) is Recalibrated
        assert copy.get_params() == found.get_params()
        np.testing.assert_array_equal(copy.decision_function(X), found.decision_function(X))
        np.testing.assert_array_equal(copy.predict_proba(X), found.predict_proba(X))
        for column in found.steps_:
            np.testing.assert_array_equal(copy.steps_[column], found.steps_[column])
    assert main(["describe", str(tmp_path / "model.json")]) == 0
    said = f"the ranking of a {found.source}, with probabilities by 'slope'"
    assert said in " ".join(capsys.readouterr().out.split())


@pytest.mark.parametrize("name", ["LinearRanker", "GradientBoostingRanker", "RankingEnsemble"])
def test_log_odds_are_exported_with_their_probability(fitted, name):
    X, y = AWAY
    found = recalibrate(fitted[name], X, y, method="slope")
    names = {}
    exec(compile(found.to_code("python", output="probability"), "score", "exec"), names)
    got = [names["score"](row) for row in X[:50].tolist()]
    np.testing.assert_allclose(got, found.predict_proba(X[:50])[:, 1], rtol=1e-12)
    names = {}
    exec(compile(found.to_code("python"), "score", "exec"), names)
    scores = [names["score"](row) for row in X[:50].tolist()]
    np.testing.assert_array_equal(scores, found.decision_function(X[:50]))


@pytest.mark.parametrize("name", RANKERS)
def test_a_prevalence_shifts_the_odds(fitted, name):
    ranker, X = fitted[name], AWAY[0]
    found = recalibrate(ranker, prevalence=0.02, training_prevalence=0.4)
    old = ranker.predict_proba(X)[:, 1].clip(1e-7, 1 - 1e-7)
    expected = at_prevalence(old, training=0.4, use=0.02)
    np.testing.assert_allclose(found.predict_proba(X)[:, 1], expected, atol=1e-4)
    assert (found.method, found.steps_) == ("prevalence", None)


def test_it_can_be_recalibrated_again(fitted):
    X, y = AWAY
    for name in ("LinearRanker", "TreeRank"):
        first = recalibrate(fitted[name], *HOME, method="isotonic")
        second = recalibrate(first, X, y, method="slope")
        once = recalibration(y, first.predict_proba(X)[:, 1], method="slope")
        expected = once.probability(first.predict_proba(X)[:, 1])
        np.testing.assert_allclose(second.predict_proba(X)[:, 1], expected, atol=5e-4)


def test_weights_and_groups_count(fitted):
    X, y = AWAY
    weights = np.random.default_rng(0).integers(1, 4, len(y)).astype(float)
    found = recalibrate(fitted["LinearRanker"], X, y, method="slope", sample_weight=weights)
    copies = np.repeat(np.arange(len(y)), weights.astype(int))
    repeated = recalibrate(fitted["LinearRanker"], X[copies], y[copies], method="slope")
    np.testing.assert_allclose(found.decision_function(X), repeated.decision_function(X), rtol=1e-6)
    whole = recalibrate(fitted["LinearRanker"], X[copies], y[copies], method="slope", groups=copies)
    assert whole.steps_["p_value"][0] > repeated.steps_["p_value"][0]


def test_what_cannot_be_recalibrated_is_refused(fitted):
    X, y = AWAY
    linear = fitted["LinearRanker"]
    with pytest.raises(TypeError, match="got a LogisticRegression: pass probabilities"):
        recalibrate(LogisticRegression().fit(X, y), X, y)
    with pytest.raises(TypeError, match="this MartiRank has no predict_proba"):
        recalibrate(MartiRank(n_rounds=1).fit(X, y), X, y)
    with pytest.raises(ValueError, match="pass rows and labels of the other place"):
        recalibrate(linear)
    with pytest.raises(ValueError, match="pass rows and labels of the other place"):
        recalibrate(linear, X, y, prevalence=0.1, training_prevalence=0.5)
    with pytest.raises(ValueError, match="y is None"):
        recalibrate(linear, X)
    with pytest.raises(ValueError, match="prevalence needs training_prevalence"):
        recalibrate(linear, prevalence=0.1)
    with pytest.raises(ValueError, match=r"use is 1\.5"):
        recalibrate(linear, prevalence=1.5, training_prevalence=0.5)
    with pytest.raises(ValueError, match="method is 'platt'"):
        recalibrate(linear, X, y, method="platt")
    with pytest.raises(ValueError, match="well"):
        recalibrate(linear, X, np.where(y == "ill", "ill", "well"))
    with pytest.raises(TypeError, match="fitted before: fit that one"):
        recalibrate(linear, X, y).fit(X, y)
    forest = RankingForest(n_estimators=5, aggregation="rank_mean", random_state=0).fit(*HOME)
    if hasattr(forest, "predict_proba"):
        with pytest.raises(ValueError, match="no function of its score"):
            recalibrate(forest, X, y)
    external = RankingEnsemble(members=[("lr", LogisticRegression())], n_folds=2, random_state=0)
    with pytest.raises(ValueError, match="members of other packages"):
        recalibrate(external.fit(*HOME), X, y)
