"""Explanations of an ensemble: importances, dependence, and distilled models."""

import pickle

import numpy as np
import pandas as pd
import pytest
from aucrank import (
    GradientBoostingRanker,
    LinearRanker,
    RankBoost,
    RankingEnsemble,
    RankingForest,
    Scorecard,
    TreeRank,
    load,
)
from aucrank.ensemble import _importances
from aucrank.ensemble._importances import DrawnRows
from aucrank.inspection import LevelSetDisplay
from sklearn.inspection import partial_dependence, permutation_importance
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.neighbors import KNeighborsClassifier
from sklearn.preprocessing import StandardScaler

from tests.common.estimators import few_members


def sample(n, seed=0):
    """Rows whose class depends on a sum and on a product, and a category of noise."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4))
    y = (X[:, 0] + X[:, 1] * X[:, 2] + rng.normal(size=n) > 0.5).astype(int)
    frame = pd.DataFrame(X, columns=["a", "b", "c", "noise"])
    levels = [f"l{level}" for level in rng.integers(0, 60, n)]
    return frame.assign(many=pd.Categorical(levels, categories=[f"l{k}" for k in range(60)])), y


X, Y = sample(1000)


def quick(**params):
    return RankingEnsemble(**{"members": few_members(), "random_state": 0, **params})


@pytest.fixture(scope="module")
def fitted():
    return quick().fit(X, Y)


# -------------------------------------------------------------------------------------- importances


def test_importances_agree_with_permutation_on_new_rows(fitted):
    later = sample(4000, 1)
    expected = permutation_importance(fitted, *later, n_repeats=3, random_state=0).importances_mean
    assert fitted.feature_importances_ == pytest.approx(expected, abs=0.06)
    assert fitted.feature_importances_[3:].max() < 0.01 < fitted.feature_importances_[:3].min()


def test_noise_columns_have_no_importance_for_any_number_of_categories():
    members = [("tree", TreeRank(pruning=None, level_rates="raw", random_state=0))]
    model = RankingEnsemble(members=members, random_state=0).fit(X, Y)
    noise = model.feature_importances_[3:]
    assert np.abs(noise).max() < 0.03
    assert model.feature_importances_[0] > 0.05
    # The tree's own, from the rows that it was fitted to, is taken in.
    own = TreeRank(pruning=None, level_rates="raw", random_state=0).fit(X, Y)
    assert own.feature_importances_[4] > 0.1 * own.feature_importances_.sum()


def test_rows_are_kept_until_importances_are_computed_and_never_pickled():
    computed, pickled = quick().fit(X, Y), quick().fit(X, Y)
    assert all(isinstance(rows, DrawnRows) for rows in computed.__dict__["_importances"])
    # At most 2,000 of them, and copies: the others are not held by them.
    samples = [rows.sample for rows in computed.__dict__["_importances"]]
    assert sum(sample.n_rows for sample in samples) <= 2000
    assert all(column.base is None for sample in samples for column in sample.columns)
    expected = computed.feature_importances_
    assert computed.__dict__["_importances"] is expected
    kept = pickle.loads(pickle.dumps(pickled)).__dict__["_importances"]
    assert isinstance(kept, np.ndarray)
    np.testing.assert_array_equal(kept, expected)


def test_importances_do_not_depend_on_threads_and_are_saved(tmp_path):
    fitted = quick().fit(X, Y)
    again = quick(n_jobs=3).fit(X, Y)
    np.testing.assert_array_equal(again.feature_importances_, fitted.feature_importances_)
    kept = pickle.loads(pickle.dumps(fitted))
    np.testing.assert_array_equal(kept.feature_importances_, fitted.feature_importances_)
    fitted.save(tmp_path / "model.json")
    back = load(tmp_path / "model.json")
    np.testing.assert_array_equal(back.feature_importances_, fitted.feature_importances_)


def test_importances_of_many_columns_equal_those_computed_at_once(monkeypatch):
    expected = quick().fit(X, Y).feature_importances_
    for at_once in (1, 3 * 1000):
        monkeypatch.setattr(_importances, "_MOST_VALUES", at_once)
        np.testing.assert_array_equal(quick().fit(X, Y).feature_importances_, expected)


def test_explain_of_an_ensemble_raises_an_error_that_says_what_to_do(fitted):
    assert not hasattr(fitted, "explain")
    with pytest.raises(AttributeError, match="distill a ranker that can be explained"):
        _ = fitted.explain


def test_partial_dependence_and_level_sets_are_drawn(fitted):
    frame = X.drop(columns="many")
    model = quick().fit(frame, Y)
    curve = partial_dependence(model, frame[:200], ["a"], response_method="decision_function")
    average = curve["average"][0]
    assert average[-1] > average[0] + 0.5
    display = LevelSetDisplay.from_estimator(model, frame[:200], features=["a", "b"], y=Y[:200])
    assert display.levels.shape == (200, 200)


# ------------------------------------------------------------------------------------------ distill


def test_a_tree_learns_more_from_the_ensemble_than_from_labels():
    gains = []
    for seed in range(3):
        train, later = sample(600, seed), sample(4000, 10 + seed)
        teacher = quick(members=[("boosting", GradientBoostingRanker()), *few_members()[1:]])
        found = teacher.fit(*train).distill(TreeRank(random_state=0), *train, compare=False)
        assert found.comparison is None
        plain = TreeRank(random_state=0).fit(*train)
        gains.append(found.ranker.score(*later) - plain.score(*later))
    assert np.mean(gains) > 0.01


def test_the_comparison_agrees_with_new_rows(fitted):
    later = sample(10_000, 20)
    student = RankBoost(n_rounds=20)
    ranker, table = fitted.distill(student, X, Y)
    auc_of = dict(zip(table["name"], table["auc"], strict=True))
    assert list(table["auc"]) == sorted(table["auc"], reverse=True)
    assert (
        auc_of["ensemble"] == fitted.leaderboard_["auc"][fitted.leaderboard_["name"] == "ensemble"]
    )
    assert auc_of["distilled"] == pytest.approx(ranker.score(*later), abs=0.03)
    plain = RankBoost(n_rounds=20).fit(X, Y)
    assert auc_of["plain"] == pytest.approx(plain.score(*later), abs=0.03)


def test_a_model_distilled_from_noise_is_reported_as_uninformative():
    """A teacher fitted to the labels of the fold would leak them."""
    rng = np.random.default_rng(0)
    by_heart = TreeRank(pruning=None, max_depth=6)
    members = [("tree", by_heart), ("forest", RankingForest(n_estimators=5))]
    aucs = []
    for seed in range(6):
        noise, y = rng.normal(size=(300, 2)), rng.integers(0, 2, 300)
        model = RankingEnsemble(members=members, shrinkage=1e6, random_state=seed).fit(noise, y)
        # It is better than chance by luck, or there is nothing to learn.
        if model._model.factors():
            _, table = model.distill(by_heart, noise, y)
            aucs.append(table["auc"][table["name"] == "distilled"][0])
    assert len(aucs) > 2
    assert np.mean(aucs) < 0.55


def test_distill_accepts_the_training_rows_in_any_order_and_no_others(fitted):
    expected = fitted.distill(Scorecard(), X, Y, compare=False).ranker.decision_function(X)
    order = np.random.default_rng(0).permutation(len(X))
    again = fitted.distill(Scorecard(), X.iloc[order], Y[order], compare=False).ranker
    assert again.decision_function(X) == pytest.approx(expected, abs=1e-9)
    for rows in (X[:500], Y[:500]), (X, 1 - Y), sample(1000, 3):
        with pytest.raises(ValueError, match="must be those of the fit"):
            fitted.distill(Scorecard(), *rows)


def test_weights_equal_copies_in_a_distilled_model():
    rng = np.random.default_rng(5)
    weight = rng.integers(0, 3, 400)
    members = [("linear", LinearRanker())]
    frame, y = X[:400], Y[:400]
    model = RankingEnsemble(members=members, n_folds=3, random_state=0)
    weighted = model.fit(frame, y, sample_weight=weight).distill(LinearRanker(), frame, y, weight)
    rows = np.repeat(np.arange(400), weight)
    copies = frame.iloc[rows], y[rows]
    copied = model.fit(*copies).distill(LinearRanker(), *copies)
    auc_of = [
        dict(zip(found.comparison["name"], found.comparison["auc"], strict=True))
        for found in (weighted, copied)
    ]
    for name in ("ensemble", "plain"):
        assert auc_of[0][name] == pytest.approx(auc_of[1][name], abs=1e-9)
    # Weights that are not whole numbers count relative to their mean, so that a penalty differs.
    assert auc_of[0]["distilled"] == pytest.approx(auc_of[1]["distilled"], abs=0.01)


def test_parameters_set_after_the_fit_change_nothing(fitted):
    expected = fitted.distill(Scorecard(), X, Y, compare=False).ranker.decision_function(X)
    model = pickle.loads(pickle.dumps(fitted)).set_params(members=None, n_folds=2, shrinkage=0.0)
    again = model.distill(Scorecard(), X, Y, compare=False).ranker
    np.testing.assert_array_equal(again.decision_function(X), expected)


@pytest.mark.parametrize("student", [LinearRanker(), Scorecard(), LogisticRegression()])
def test_any_ranker_that_takes_weights_can_learn(student):
    frame = X[["a", "b", "c"]]
    model = quick().fit(frame, Y)
    ranker = model.distill(student, frame, Y, compare=False).ranker
    assert roc_auc_score(Y, ranker.decision_function(frame)) > 0.7
    assert not hasattr(student, "classes_")


def test_distilling_without_what_it_needs_raises_a_clear_error(fitted, tmp_path):
    with pytest.raises(ValueError, match="estimator must take sample_weight"):
        fitted.distill(KNeighborsClassifier(), X, Y)
    with pytest.raises(TypeError, match="estimator must score rows"):
        fitted.distill(StandardScaler(), X, Y)
    two = quick(n_folds=2).fit(X, Y)
    with pytest.raises(ValueError, match="needs three folds or more, but the ensemble has 2"):
        two.distill(Scorecard(), X, Y)
    fitted.save(tmp_path / "model.json")
    with pytest.raises(AttributeError, match="a model from a file has no scores of its training"):
        load(tmp_path / "model.json").distill(Scorecard(), X, Y)
