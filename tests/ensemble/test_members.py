"""Members that are estimators of another package."""

import pickle

import numpy as np
import pandas as pd
import pytest
from aucrank import LinearRanker, RankBoost, RankingEnsemble, TreeRank
from aucrank.datasets import load_breast_cancer
from aucrank.tree import WeightedERM
from numpy.testing import assert_array_equal
from sklearn.compose import make_column_transformer
from sklearn.ensemble import ExtraTreesClassifier
from sklearn.impute import SimpleImputer
from sklearn.inspection import partial_dependence, permutation_importance
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.tree import DecisionTreeClassifier

X, Y = load_breast_cancer(return_X_y=True)


def logistic():
    return make_pipeline(StandardScaler(), LogisticRegression())


def mixed(**params):
    members = [("lr", logistic()), ("linear", LinearRanker()), ("nb", GaussianNB())]
    return RankingEnsemble(**{"members": members, "n_folds": 3, "random_state": 0, **params})


@pytest.fixture(scope="module")
def fitted():
    return mixed().fit(X, Y)


def test_a_classifier_is_fitted_without_each_fold_and_its_models_are_averaged(fitted):
    assert fitted.weights_.keys() == {"lr", "linear", "nb"}
    model = fitted._model
    assert sorted(model.external_models()) == list(range(len(fitted._estimators)))
    expected = np.full(len(X), model.intercept)
    own = iter(fitted._estimators)
    for member, factor in enumerate(model.factors()):
        inside = model.models(member)
        folds = [fold.score(X, 1) for fold in inside]
        for fold in () if inside else (next(own) for _ in range(3)):
            is_linear = hasattr(fold, "decision_function")
            folds.append(fold.decision_function(X) if is_linear else fold.predict_proba(X)[:, 1])
        expected += factor * sum(folds)
    assert fitted.decision_function(X) == pytest.approx(expected, abs=1e-9)
    assert fitted.predict_proba(X)[:, 1] == pytest.approx(1 / (1 + np.exp(-expected)), abs=1e-9)


def test_scores_of_held_out_rows_are_blended():
    """A nearest neighbour memorises all rows, and is no better than chance on noise."""
    rng = np.random.default_rng(0)
    noise, y = rng.normal(size=(400, 3)), rng.integers(0, 2, 400)
    members = [("by heart", KNeighborsClassifier(1))]
    model = RankingEnsemble(members=members, random_state=0)
    model.fit(noise, y)
    assert 0.35 < model.leaderboard_["auc"][0] < 0.65


def test_it_is_pickled_and_neither_saved_nor_exported(fitted, tmp_path):
    again = pickle.loads(pickle.dumps(fitted))
    assert_array_equal(again.decision_function(X), fitted.decision_function(X))
    assert_array_equal(again.leaderboard_["auc"], fitted.leaderboard_["auc"])
    with pytest.raises(TypeError, match="estimators of your own"):
        fitted.save(tmp_path / "model.json")
    for write in (fitted.to_sql, fitted.to_pmml):
        with pytest.raises(ValueError, match="members are estimators, which live outside"):
            write()
    with pytest.raises(ValueError, match="only together with them"):
        fitted._model.score(X, 1)


def test_threads_and_the_order_of_rows_do_not_matter(fitted):
    expected = fitted.decision_function(X)
    assert_array_equal(mixed(n_jobs=3).fit(X, Y).decision_function(X), expected)
    order = np.random.default_rng(0).permutation(len(X))
    assert_array_equal(mixed().fit(X[order], Y[order]).decision_function(X), expected)


def test_random_states_are_set_from_that_of_the_ensemble():
    members = [("trees", ExtraTreesClassifier(5))]
    model = RankingEnsemble(members=members, n_folds=2, random_state=3)
    first = model.fit(X, Y).decision_function(X)
    assert_array_equal(model.fit(X, Y).decision_function(X), first)


def test_weights_are_passed_to_members_and_rejected_if_one_cannot_use_them():
    weight = np.random.default_rng(0).integers(0, 3, len(Y)).astype(float)
    members = [("tree", DecisionTreeClassifier(max_depth=2))]
    model = RankingEnsemble(members=members, n_folds=3, random_state=0)
    weighted = model.fit(X, Y, sample_weight=weight).decision_function(X)
    rows = np.repeat(np.arange(len(Y)), weight.astype(int))
    copied = model.fit(X[rows], Y[rows]).decision_function(X)
    assert weighted == pytest.approx(copied, rel=1e-6, abs=1e-6)
    knn = RankingEnsemble(members=[("linear", LinearRanker()), ("near", KNeighborsClassifier())])
    with pytest.raises(ValueError, match="member 'near' must take sample_weight"):
        knn.fit(X, Y, sample_weight=weight)


def test_a_frame_with_categories_and_missing_values_is_passed_to_a_pipeline():
    rng = np.random.default_rng(1)
    n = 400
    town = rng.choice(list("abcd"), n)
    age = np.where(rng.random(n) < 0.2, np.nan, rng.normal(size=n))
    frame = pd.DataFrame({"age": age, "town": pd.Categorical(town)})
    y = (np.nan_to_num(age) + 2 * (town == "a") + rng.normal(size=n) > 0.5).astype(int)
    encoded = make_column_transformer((SimpleImputer(), ["age"]), (OneHotEncoder(), ["town"]))
    members = [("lr", make_pipeline(encoded, LogisticRegression())), ("linear", LinearRanker())]
    model = RankingEnsemble(members=members, random_state=0).fit(frame, y)
    assert model.weights_["lr"] > 0
    assert model.score(frame, y) > 0.8
    failing = RankingEnsemble(members=[("lr", LogisticRegression())], random_state=0)
    with pytest.raises(ValueError, match="could not convert"):
        failing.fit(frame, y)


@pytest.mark.parametrize(
    "ranker",
    [
        TreeRank(split=WeightedERM(LogisticRegression(max_iter=500)), pruning=None),
        RankBoost(weak_ranker=GaussianNB(), n_rounds=3),
    ],
)
def test_rankers_with_external_classifiers_are_kept_in_python_too(ranker):
    members = [("asks", ranker), ("linear", LinearRanker())]
    model = RankingEnsemble(members=members, n_folds=2, random_state=0).fit(X[:, :5], Y)
    assert model.weights_["asks"] > 0
    assert len(model._estimators) == 2
    assert model.score(X[:, :5], Y) > 0.95


@pytest.mark.parametrize(
    ("member", "error", "message"),
    [
        (object(), TypeError, "member 'a' must be an estimator, but object has no fit"),
        (StandardScaler(), TypeError, "member 'a' must score rows, but StandardScaler has neither"),
        (LogisticRegression, TypeError, "got the class LogisticRegression"),
    ],
)
def test_members_that_do_not_score_rows_are_rejected(member, error, message):
    with pytest.raises(error, match=message):
        RankingEnsemble(members=[("a", member)]).fit(X, Y)


def test_it_has_no_importances_and_works_with_inspection_of_scikit_learn(fitted):
    with pytest.raises(AttributeError, match="permutation_importance serves any"):
        _ = fitted.feature_importances_
    found = permutation_importance(fitted, X[:100], Y[:100], n_repeats=1, random_state=0)
    assert found.importances_mean.shape == (30,)
    curve = partial_dependence(fitted, X[:50], [0], response_method="decision_function")
    assert curve["average"].shape[0] == 1
