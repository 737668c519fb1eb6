"""Fitted models as members of an ensemble, and side by side on new rows."""

import aucrank
import numpy as np
import pandas as pd
import pytest
from aucrank import GradientBoostingRanker, LinearRanker, RankingEnsemble, from_sklearn
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.metrics import roc_auc_score


def rows(n, seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 5))
    return X, (X[:, 0] + X[:, 1] * X[:, 2] + rng.normal(size=n) > 0).astype(int)


@pytest.fixture(scope="module")
def theirs():
    return HistGradientBoostingClassifier(max_iter=30, random_state=0).fit(*rows(2000, 0))


def test_an_imported_model_is_blended_as_it_is(theirs, tmp_path):
    X, y = rows(600, 1)
    members = [("theirs", FrozenEstimator(from_sklearn(theirs))), ("linear", LinearRanker())]
    model = RankingEnsemble(members=members, n_folds=3, random_state=0).fit(X, y)
    X_new, y_new = rows(2000, 2)
    weights = dict(zip(model.leaderboard_["name"], model.leaderboard_["weight"], strict=True))
    assert weights["theirs"] > 0.2
    # Its score is a part of the sum: theirs times a factor, once and not for each fold.
    [own, other] = model._model.factors()
    models = [model._model.models(member) for member in (0, 1)]
    assert list(map(len, models)) == [1, 3]
    columns = [np.ascontiguousarray(X_new[:, place]) for place in range(5)]
    expected = own * theirs.decision_function(X_new) + model._model.intercept
    expected += other * sum(fold.score(columns, 1) for fold in models[1])
    np.testing.assert_allclose(model.decision_function(X_new), expected, rtol=1e-12)
    auc = roc_auc_score(y_new, theirs.decision_function(X_new))
    assert model.score(X_new, y_new) >= auc - 0.005
    model.save(tmp_path / "model.json")
    again = aucrank.load(tmp_path / "model.json")
    np.testing.assert_array_equal(again.decision_function(X_new), model.decision_function(X_new))


def test_scores_of_a_frozen_member_are_those_of_rows_that_it_has_not_seen(theirs):
    X, y = rows(600, 1)
    frozen = [("theirs", FrozenEstimator(from_sklearn(theirs)))]
    model = RankingEnsemble(members=frozen, n_folds=3, random_state=0).fit(X, y)
    auc = roc_auc_score(y, theirs.decision_function(X))
    # Within folds, and their mean.
    assert model.leaderboard_["auc"][0] == pytest.approx(auc, abs=0.02)
    # Log-odds, calibrated on these rows.
    probability = model.predict_proba(X)[:, 1]
    assert probability.mean() == pytest.approx(y.mean(), abs=0.01)


def test_a_model_of_another_package_is_kept_outside(theirs):
    X, y = rows(600, 1)
    members = [("theirs", FrozenEstimator(theirs)), ("linear", LinearRanker())]
    model = RankingEnsemble(members=members, n_folds=3, random_state=0).fit(X, y)
    inside = [("theirs", FrozenEstimator(from_sklearn(theirs))), ("linear", LinearRanker())]
    other = RankingEnsemble(members=inside, n_folds=3, random_state=0).fit(X, y)
    np.testing.assert_allclose(model.decision_function(X), other.decision_function(X), rtol=1e-9)


def test_fitted_models_are_compared_on_new_rows_without_a_fit(theirs):
    X, y = rows(600, 1)
    forest = RandomForestClassifier(20, random_state=0).fit(*rows(2000, 0))
    board = aucrank.compare(
        X, y, models={"theirs": FrozenEstimator(theirs), "forest": FrozenEstimator(forest)}, cv=3
    )
    found = dict(zip(board.models["model"], board.models["auc"], strict=True))
    for name, model in [("theirs", theirs), ("forest", forest)]:
        assert found[name] == pytest.approx(
            roc_auc_score(y, model.predict_proba(X)[:, 1]), abs=0.02
        )


def test_columns_of_a_frozen_member_are_those_of_the_rows():
    X, y = rows(300, 0)
    frame = pd.DataFrame(X, columns=list("abcde")).assign(
        kind=pd.Categorical(np.where(X[:, 0] > 0, "x", "y"))
    )
    fitted = GradientBoostingRanker(n_rounds=5, random_state=0).fit(frame, y)

    def fit(rows):
        members = [("old", FrozenEstimator(fitted)), ("linear", LinearRanker())]
        return RankingEnsemble(members=members, n_folds=2, random_state=0).fit(rows, y)

    assert fit(frame).n_features_in_ == 6
    with pytest.raises(ValueError, match="member 'old' was fitted to 6 columns, but X has 5"):
        fit(frame.drop(columns="kind"))
    with pytest.raises(ValueError, match="fitted to a column 'a' where X has 'z'"):
        fit(frame.rename(columns={"a": "z"}))
    with pytest.raises(ValueError, match="other categories of column 'kind' than X has"):
        fit(frame.assign(kind=frame["kind"].cat.rename_categories(["v", "w"])))
    unfitted = RankingEnsemble(members=[("new", FrozenEstimator(LinearRanker()))])
    with pytest.raises(NotFittedError):
        unfitted.fit(X, y)
    blend = RankingEnsemble(presets="fast", n_folds=2, random_state=0).fit(X, y)
    nested = RankingEnsemble(members=[("blend", FrozenEstimator(blend))])
    with pytest.raises(TypeError, match="member 'blend' is an ensemble itself"):
        nested.fit(X, y)
