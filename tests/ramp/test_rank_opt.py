"""RankOpt: its objective, its score, invariances, and other rankers."""

import pickle
import sqlite3

import aucrank
import numpy as np
import pandas as pd
import pytest
from aucrank import RankOpt
from aucrank.datasets import load_breast_cancer
from aucrank.metrics import ramp_auc, roc_auc_score
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.compose import make_column_transformer
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.exceptions import ConvergenceWarning
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.utils import get_tags

from tests.common.real_data import load, needs_data

BOTH = pytest.mark.parametrize("objective", ["sigmoid", "ramp"])


def sample(n=600, seed=0):
    """Two classes that a line separates in part, on features of very different scale."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4))
    X[:, 1] += 0.8 * X[:, 0]
    y = X[:, 0] - 0.7 * X[:, 1] + 0.3 * X[:, 2] ** 3 + rng.normal(size=n) > 0.4
    return X * [1.0, 100.0, 1e-4, 3.0] + [5.0, -40.0, 0.0, 1e4], y


def mean_over_pairs(model, X, y, objective):
    """Compute the objective pair by pair."""
    scores = model.decision_function(X)
    differences = scores[y][:, None] - scores[~y]
    if objective == "sigmoid":
        return float(np.mean(1 / (1 + np.exp(-differences))))
    clipped = np.clip(differences, -0.5, 0.5)
    return float(np.mean(0.5 + clipped + 1e-3 * (differences - clipped)))


@BOTH
def test_the_path_holds_the_plain_mean_over_pairs(objective):
    X, y = sample()
    for radius in (0.5, 2.0, 20.0):
        model = RankOpt(objective=objective, radii=[radius]).fit(X, y)
        expected = mean_over_pairs(model, X, y, objective)
        assert model.path_["objective"][0] == pytest.approx(expected, abs=1e-9)
        assert model.path_["auc"][0] == pytest.approx(roc_auc_score(y, X @ model.coef_), abs=1e-12)
        assert np.linalg.norm(model.coef_ * X.std(axis=0)) == pytest.approx(radius)
        if objective == "ramp":
            assert model.path_["objective"][0] == pytest.approx(
                ramp_auc(y, model.decision_function(X)), abs=1e-9
            )


def test_no_other_direction_nearby_is_higher():
    X, y = sample(200)
    model = RankOpt(radii=[3.0]).fit(X, y)
    best = mean_over_pairs(model, X, y, "sigmoid")
    deviation, rng = X.std(axis=0), np.random.default_rng(1)
    Z = X / deviation
    for _ in range(200):
        weights = model.coef_ * deviation + rng.choice([1e-3, 0.1]) * rng.normal(size=4)
        scores = Z @ (3 * weights / np.linalg.norm(weights))
        value = np.mean(1 / (1 + np.exp(scores[~y] - scores[y][:, None])))
        assert value <= best + 1e-7


def test_the_score_is_the_weighted_sum():
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    model = RankOpt().fit(X, y)
    assert model.threshold_ == -model.intercept_
    scores = model.decision_function(X)
    expected = np.zeros(len(X))
    for name, weight in zip(X, model.coef_, strict=True):
        expected += weight * X[name].to_numpy()
    assert_array_equal(scores, expected - model.threshold_)
    assert model.score(X, y) == pytest.approx(model.path_["auc"].max(), abs=1e-12)
    assert model.n_iter_ == model.path_["n_iter"].sum()
    assert model.path_["radius"][model.path_["kept"]].tolist() == [model.radius_]
    parts = model.explain(X)
    assert_allclose(parts.sum(axis=1) + model.base_score_, scores, atol=1e-9)
    assert_allclose(parts.mean(axis=0), 0, atol=1e-9)
    assert model.base_score_ == pytest.approx(scores.mean())


def test_an_importance_is_the_auc_without_the_feature():
    X, y = sample()
    model = RankOpt().fit(X, y)
    for feature, importance in enumerate(model.feature_importances_):
        held = X.copy()
        held[:, feature] = X[:, feature].mean()
        lost = model.score(X, y) - model.score(held, y)
        assert importance == pytest.approx(lost, abs=1e-12)
    table = model.terms()
    assert (np.diff(table["importance"]) <= 0).all()
    assert dict(zip(table["feature"], table["coef"], strict=True)) == {
        f"x{j}": weight for j, weight in enumerate(model.coef_)
    }


# Invariances.


@BOTH
@given(seed=st.integers(0, 10**6), n=st.integers(4, 80))
@settings(max_examples=settings().max_examples * 6 // 5)
def test_order_copies_weights_and_threads_do_not_matter(objective, seed, n):
    rng = np.random.default_rng(seed)
    X = rng.integers(-3, 4, size=(n, 3)).astype(float)
    y = rng.random(n) < 0.4
    y[:2] = False, True
    weight = rng.integers(0, 4, size=n).astype(float)
    weight[:2] = 1
    rows = rng.permutation(np.repeat(np.arange(n), weight.astype(int)))
    models = [
        RankOpt(objective=objective, radii=[1.0, 6.0]).fit(X, y, sample_weight=weight),
        RankOpt(objective=objective, radii=[1.0, 6.0], n_jobs=2).fit(X[rows], y[rows]),
    ]
    for name in ("coef_", "threshold_", "feature_importances_"):
        assert_array_equal(*(getattr(model, name) for model in models))
    for step in models[0].path_:
        assert_array_equal(*(model.path_[step] for model in models))


@BOTH
def test_scale_and_shift_of_a_feature_do_not_matter(objective):
    X, y = sample()
    model = RankOpt(objective=objective).fit(X, y)
    # Powers of two round nothing.
    scales = np.array([4.0, 2.0**-20, 2.0**40, 0.5])
    scaled = RankOpt(objective=objective).fit(X * scales, y)
    # Other values have other hashes, in whose order rows are added up: sums are rounded in another
    # way, and each step of the ascent starts from the one before.
    assert_allclose(scaled.coef_ * scales, model.coef_, rtol=1e-7)
    moved = RankOpt(objective=objective).fit(X * [3.0, 7.0, 0.1, 1.0] + [9.0, -2.0, 0.0, 5.0], y)
    aucs = [model.score(X, y), moved.path_["auc"].max()]
    assert aucs[0] == pytest.approx(aucs[1], abs=1e-4)


def test_swapped_labels_mirror_the_score():
    X, y = sample()
    model, mirrored = RankOpt(radii=[2.0]).fit(X, y), RankOpt(radii=[2.0]).fit(X, ~y)
    assert_allclose(mirrored.coef_, -model.coef_, rtol=1e-3)
    assert mirrored.path_["objective"][0] == pytest.approx(model.path_["objective"][0], abs=1e-7)


# Other rankers.


@BOTH
def test_two_gaussians_are_separated_by_the_discriminant(objective):
    rng = np.random.default_rng(0)
    mix = rng.normal(size=(5, 5))
    X = rng.normal(size=(20_000, 5)) @ mix
    y = np.arange(20_000) % 3 == 0
    X[y] += [1.0, -0.5, 0.0, 0.3, 0.2]
    discriminant = LinearDiscriminantAnalysis().fit(X, y)
    model = RankOpt(objective=objective).fit(X, y)
    cosine = np.corrcoef(discriminant.decision_function(X), model.decision_function(X))[0, 1]
    assert cosine > 0.998
    assert model.score(X, y) >= roc_auc_score(y, discriminant.decision_function(X)) - 1e-4


@needs_data
@BOTH
def test_forest_is_ranked_as_well_as_by_logistic_regression(objective):
    frame, y = load("forest")
    X, y = frame.to_numpy(np.float64), y == 1
    order = np.random.default_rng(0).permutation(len(y))
    gains = []
    for start in range(0, 30_000, 6000):
        rows = order[start : start + 6000]
        test = np.setdiff1d(order, rows)
        peer = make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000))
        ours = RankOpt(objective=objective).fit(X[rows], y[rows]).score(X[test], y[test])
        theirs = roc_auc_score(y[test], peer.fit(X[rows], y[rows]).decision_function(X[test]))
        gains.append(100 * (ours - theirs))
    assert abs(np.mean(gains)) < 0.2, gains


# Input.


def test_a_missing_value_raises_an_error_that_names_the_column():
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    holes = X.copy()
    holes.loc[holes.index[4], "mean_area"] = np.nan
    message = "column 'mean_area' is NaN in row 4; .* SimpleImputer"
    with pytest.raises(ValueError, match=message):
        RankOpt().fit(holes, y)
    model = RankOpt().fit(X, y)
    for question in (model.decision_function, model.predict, model.explain):
        with pytest.raises(ValueError, match=message):
            question(holes)
    assert not get_tags(model).input_tags.allow_nan
    assert make_pipeline(SimpleImputer(), RankOpt()).fit(holes, y).score(holes, y) > 0.99


def test_categories_are_rejected_unless_encoded():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"age": rng.normal(size=300), "city": rng.choice(["Bern", "Rome"], 300)})
    y = (X["city"] == "Rome") ^ (rng.random(300) < 0.2)
    X["city"] = X["city"].astype("category")
    with pytest.raises(ValueError, match=r"column 'city' is categorical, .* OneHotEncoder"):
        RankOpt().fit(X, y)
    encode = make_column_transformer((OneHotEncoder(), ["city"]), remainder="passthrough")
    assert make_pipeline(encode, RankOpt()).fit(X, y).score(X, y) > 0.75


@pytest.mark.parametrize(
    ("params", "error", "message"),
    [
        ({"objective": "auc"}, ValueError, "objective must be one of 'sigmoid', 'ramp'; got 'auc'"),
        ({"radii": []}, ValueError, "radii must be at least one number"),
        ({"radii": [2.0, 1.0]}, ValueError, r"radii must be .* ascend; got \[2\.0, 1\.0\]"),
        ({"radii": [0.0]}, ValueError, "each of radii must be in"),
        ({"radii": [1.0, 1e9]}, ValueError, "each of radii must be in"),
        ({"radii": 3.0}, TypeError, r"radii must be a sequence of numbers, got 3\.0"),
        ({"radii": "12"}, TypeError, "radii must be a sequence"),
        ({"max_iter": 0}, ValueError, "max_iter must be at least 1, got 0"),
        ({"tol": -1.0}, ValueError, "tol must be in"),
        ({"n_jobs": 0}, ValueError, "n_jobs == 0"),
    ],
)
def test_invalid_parameters_are_named_in_the_error(params, error, message):
    with pytest.raises(error, match=message):
        RankOpt(**params).fit(*sample(20))


def test_an_ascent_cut_short_raises_one_warning():
    X, y = sample()
    with pytest.warns(ConvergenceWarning, match="at radius 1, 2, 4, 8 .* max_iter=1 ") as caught:
        RankOpt(max_iter=1).fit(X, y)
    assert len(caught) == 1
    with pytest.warns(UserWarning, match="Every feature is constant") as caught:
        model = RankOpt().fit(np.ones((6, 2)), [0, 1] * 3)
    assert len(caught) == 1
    assert_array_equal(model.coef_, [0.0, 0.0])
    assert model.score(np.ones((2, 2)), [0, 1]) == 0.5
    assert model.to_sql() == "0.0"


def test_separable_classes_are_ranked_perfectly(recwarn):
    X = np.c_[np.arange(40.0), np.tile([0.0, 1.0], 20)]
    model = RankOpt().fit(X, np.arange(40) > 25)
    assert model.score(X, np.arange(40) > 25) == 1.0
    assert model.radius_ == 8.0
    assert not recwarn


def test_verbose_prints_each_radius(capsys):
    model = RankOpt(verbose=1, radii=[1.0, 3.0]).fit(*sample())
    lines = capsys.readouterr().out.splitlines()
    assert [line[: line.index(":")] for line in lines] == [
        "[RankOpt] radius 1",
        "[RankOpt] radius 3",
    ]
    assert [line.endswith("kept") for line in lines] == model.path_["kept"].tolist()


# Stores and exports.


def test_every_store_restores_it_completely(tmp_path):
    X, y = sample()
    model = RankOpt(objective="ramp", radii=(1.0, 5.0), tol=1e-6).fit(X, y)
    model.save(tmp_path / "model.json")
    for back in (pickle.loads(pickle.dumps(model)), aucrank.load(tmp_path / "model.json")):
        assert list(back.radii) == [1.0, 5.0]
        assert_array_equal(back.decision_function(X), model.decision_function(X))
        assert_array_equal(back.explain(X), model.explain(X))
        for name in ("coef_", "threshold_", "base_score_", "radius_", "feature_importances_"):
            assert_array_equal(getattr(back, name), getattr(model, name))
        for name, column in model.path_.items():
            assert_array_equal(back.path_[name], column)


def test_sql_gives_the_same_doubles():
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    model = RankOpt().fit(X, y)
    with sqlite3.connect(":memory:") as base:
        X.to_sql("rows", base, index=False)
        found = base.execute(f"SELECT {model.to_sql()} FROM rows ORDER BY rowid").fetchall()
    assert_array_equal(np.ravel(found), model.decision_function(X))
    assert "`mean_area`" in model.to_sql("mysql")
    with pytest.raises(ValueError, match="dialect must be one of"):
        model.to_sql("excel")
