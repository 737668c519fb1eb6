"""LinearRanker against scikit-learn's logistic regression of the same design; invariances."""

import json

import aucrank
import numpy as np
import pandas as pd
import polars as pl
import pytest
from aucrank import LinearRanker
from aucrank.datasets import load_breast_cancer
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score

from tests.common.loans import loans

UNIT = 2.0**-20
TIGHT = {"solver": "newton-cholesky", "tol": 1e-12, "max_iter": 1000}


def kinds(n=600, seed=0):
    """Return rows with missing values, outliers and some rare categories, and labels."""
    rng = np.random.default_rng(seed)
    city = rng.choice(["Bern", "Oslo", "Rome", "Wien"], n, p=[0.1, 0.4, 0.3, 0.2]).astype(object)
    city[:2] = "Lima"
    X = pd.DataFrame(
        {
            "age": rng.normal(40, 10, n).round(),
            "income": np.exp(rng.normal(0, 3, n)),
            "children": rng.integers(0, 3, n).astype(float),
            "city": pd.Categorical(np.where(rng.random(n) < 0.05, None, city)),
            "home": pd.Categorical(rng.choice(["own", "rent"], n)),
        }
    )
    X.loc[rng.random(n) < 0.1, "age"] = np.nan
    odds = (X["age"].fillna(60) - 40) / 10 + 0.5 * np.log(X["income"]) - (X["city"] == "Oslo")
    return X, (rng.random(n) < 1 / (1 + np.exp(-odds))).astype(int)


def design_of(model, X, weight=None):
    """Return the columns that a model weighs, by the plain definition."""
    weight = np.ones(len(X)) if weight is None else weight
    columns = {}
    steps = {steps["feature"]: steps for steps in _steps(model)}
    for place, name in enumerate(X):
        column = X[name]
        if isinstance(column.dtype, pd.CategoricalDtype):
            rows = pd.Series(weight).groupby(column.to_numpy(), dropna=True).sum()
            kept = sorted(rows[rows >= max(3, 0.002 * weight.sum())].index)
            for level in kept:
                columns[name, level] = (column == level).to_numpy(float)
            pooled = ~column.isin(kept).to_numpy()
            if pooled.any():
                columns[name, "missing"] = pooled.astype(float)
            continue
        known = column.notna().to_numpy()
        values = column.to_numpy(float)
        mean = np.average(values[known], weights=weight[known])
        deviation = np.sqrt(np.average((values[known] - mean) ** 2, weights=weight[known]))
        z = np.clip((np.where(known, values, mean) - mean) / deviation, -6, 6)
        columns[name, "number"] = np.round(z / UNIT) * UNIT
        for threshold in steps[place]["numeric"]["thresholds"] if place in steps else []:
            columns[name, threshold] = 0.5 * (np.where(known, values, -np.inf) >= threshold)
        if not known.all():
            columns[name, "missing"] = (~known).astype(float)
    return pd.DataFrame(columns)


def _steps(model):
    return json.loads(model._model.steps())


def weights_of(model, X):
    """Return the weights of the same columns, from the saved model."""
    found = {}
    numbers = {term["feature"]: term for term in json.loads(model._model.numbers())}
    steps = {term["feature"]: term for term in _steps(model)}
    for place, name in enumerate(X):
        if place in numbers:
            found[name, "number"] = numbers[place]["weight"]
        if place not in steps:
            continue
        term = steps[place]
        if "numeric" in term:
            values = term["numeric"]["values"]
            for step, threshold in enumerate(term["numeric"]["thresholds"]):
                found[name, threshold] = 2 * (values[step + 1] - values[step])
        else:
            levels = X[name].cat.categories
            found |= {
                (name, k): v for k, v in zip(levels, term["categorical"]["values"], strict=True)
            }
        found[name, "missing"] = term["missing"]
    return found


@pytest.mark.parametrize("thresholds", [None, 5, "auto"])
@pytest.mark.parametrize("C", [0.01, 0.1, 10.0])
def test_weights_equal_those_of_scikit_learn_on_the_same_columns(thresholds, C):
    X, y = kinds()
    model = LinearRanker(C=C, thresholds=thresholds).fit(X, y)
    design = design_of(model, X)
    expected = LogisticRegression(C=C, **TIGHT).fit(design.to_numpy(), y)
    found = weights_of(model, X)
    assert_allclose([found[key] for key in design], expected.coef_[0], rtol=0, atol=1e-6)
    assert model.intercept_ == pytest.approx(expected.intercept_[0], abs=1e-6)
    assert_allclose(model.predict_proba(X), expected.predict_proba(design.to_numpy()), atol=1e-6)


def test_with_sample_weights_the_fit_equals_that_of_scikit_learn():
    X, y = kinds()
    weight = np.random.default_rng(1).exponential(size=len(X))
    model = LinearRanker(thresholds=None).fit(X, y, weight)
    # The rule of rare categories counts rows without weights.
    design = design_of(model, X)
    for name in ("age", "income", "children"):
        design[name, "number"] = design_of(model, X, weight)[name, "number"]
    expected = LogisticRegression(C=0.1, **TIGHT).fit(design.to_numpy(), y, weight)
    found = weights_of(model, X)
    assert_allclose([found[key] for key in design], expected.coef_[0], rtol=0, atol=1e-6)


def test_with_many_columns_the_fit_equals_that_of_scikit_learn():
    # More columns than the Hessian is formed for.
    rng = np.random.default_rng(2)
    X = pd.DataFrame(rng.normal(size=(800, 60))).add_prefix("x")
    X["x1"] = X["x0"] + 1e-3 * rng.normal(size=800)
    y = X["x0"] + X["x2"] ** 2 + rng.normal(size=800) > 1
    for C in (0.1, 100.0):
        model = LinearRanker(C=C, thresholds=20).fit(X, y)
        design = design_of(model, X)
        expected = LogisticRegression(C=C, **TIGHT).fit(design.to_numpy(), y)
        found = weights_of(model, X)
        assert_allclose([found[key] for key in design], expected.coef_[0], rtol=0, atol=1e-5 * C)
        scores = expected.decision_function(design.to_numpy())
        assert_allclose(model.decision_function(X), scores, rtol=0, atol=2e-5)


def test_with_many_rows_the_fit_starts_from_a_sample_and_equals_that_of_scikit_learn():
    rng = np.random.default_rng(3)
    X = pd.DataFrame(rng.normal(size=(80_000, 4))).add_prefix("x")
    y = X["x0"] - 0.5 * X["x1"] + rng.normal(size=80_000) > 0
    model = LinearRanker(thresholds=3).fit(X, y)
    design = design_of(model, X)
    expected = LogisticRegression(C=0.1, **TIGHT).fit(design.to_numpy(), y)
    found = weights_of(model, X)
    assert_allclose([found[key] for key in design], expected.coef_[0], rtol=0, atol=1e-6)


@pytest.mark.parametrize("thresholds", [None, "auto"])
def test_order_copies_weights_and_threads_do_not_matter(thresholds):
    X, y = kinds(3000)
    rng = np.random.default_rng(4)
    counts = rng.integers(0, 4, len(X))
    model = LinearRanker(thresholds=thresholds, n_jobs=1)
    expected = clone(model).fit(X, y, counts)
    rows = rng.permutation(np.repeat(np.arange(len(X)), counts))
    copies = clone(model).set_params(n_jobs=2).fit(X.iloc[rows], y[rows])
    present = counts > 0
    without = clone(model).fit(X[present], y[present], counts[present])
    for other in (copies, without):
        assert other._model.numbers() == expected._model.numbers()
        assert other._model.steps() == expected._model.steps()
        assert other.intercept_ == expected.intercept_
        assert other.base_score_ == expected.base_score_
        assert_array_equal(other.feature_importances_, expected.feature_importances_)


def test_pandas_and_polars_frames_give_the_same_model():
    X, y = kinds()
    other = pl.from_pandas(X)
    scores = LinearRanker().fit(X, y).decision_function(X)
    assert_array_equal(LinearRanker().fit(other, y).decision_function(other), scores)


def test_a_missing_value_has_a_weight_if_training_rows_lack_it():
    rng = np.random.default_rng(5)
    X = rng.normal(size=(500, 2))
    y = rng.random(500) < 0.3
    X[y & (rng.random(500) < 0.7), 0] = np.nan
    model = LinearRanker(C=1.0).fit(X, y)
    at_mean = np.nanmean(X, axis=0)
    absent = np.array([[np.nan, at_mean[1]]])
    assert model.predict_proba(absent)[0, 1] > 0.8
    # The other column is never missing: there it counts as its mean, below all thresholds.
    plain = LinearRanker(C=1.0, thresholds=None).fit(X, y)
    assert_allclose(
        plain.decision_function([[0.1, np.nan]]),
        plain.decision_function([[0.1, at_mean[1]]]),
        atol=1e-6,
    )


def test_rare_and_unseen_categories_count_as_missing():
    X, y = kinds()
    model = LinearRanker().fit(X, y)
    rows = X.iloc[[5] * 4].copy()
    rows["city"] = ["Lima", "Atlantis", None, "Oslo"]
    rare, unseen, missing, known = model.decision_function(rows)
    assert rare == unseen == missing != known


def test_separable_rows_have_finite_weights():
    X = np.arange(40.0)[:, None]
    y = X[:, 0] > 19
    for C in (0.1, 1e6):
        model = LinearRanker(C=C).fit(X, y)
        scores = model.decision_function(X)
        assert np.isfinite(scores).all()
        assert model.score(X, y) == 1.0
        assert (np.diff(scores) >= 0).all()


def test_constant_columns_add_nothing():
    rng = np.random.default_rng(6)
    X = pd.DataFrame(
        {
            "a": rng.normal(size=200),
            "b": 0.1,
            "c": pd.Categorical(["only"] * 200),
            "d": np.nan,
        }
    )
    y = X["a"] + rng.normal(size=200) > 0
    model = LinearRanker().fit(X, y)
    assert set(model.terms()["feature"]) <= {"a", "d"}
    assert_array_equal(model.feature_importances_[1:], 0.0)
    alone = LinearRanker().fit(X[["a"]], y)
    assert_allclose(model.decision_function(X), alone.decision_function(X[["a"]]), atol=1e-6)
    nothing = LinearRanker().fit(X[["b", "c"]], y)
    assert_allclose(nothing.predict_proba(X[["b", "c"]])[:, 1], y.mean())


@pytest.mark.filterwarnings("ignore:Column 'name' looks like an identifier")
def test_an_uninformative_column_of_many_categories_does_not_lower_the_auc():
    rng = np.random.default_rng(7)
    X = pd.DataFrame({"a": rng.normal(size=6000)})
    X["name"] = pd.Categorical([f"n{level}" for level in rng.integers(1500, size=6000)])
    y = X["a"] + rng.normal(size=6000) > 0
    half = np.arange(6000) < 3000
    aucs = [
        roc_auc_score(
            y[~half], LinearRanker().fit(X[half][names], y[half]).decision_function(X[~half][names])
        )
        for names in (["a"], ["a", "name"])
    ]
    assert aucs[1] > aucs[0] - 0.002


def test_labels_agree_with_probabilities():
    X, y = kinds()
    model = LinearRanker().fit(X, y)
    positive = model.predict_proba(X)[:, 1]
    assert_array_equal(positive > 0.5, model.predict(X) == 1)
    assert_array_equal(positive > 0.5, model.decision_function(X) > 0)
    assert_allclose(positive, 1 / (1 + np.exp(-model.decision_function(X))), rtol=1e-14)
    # Uninformative: the smallest scores possible.
    rng = np.random.default_rng(8)
    noise = LinearRanker(C=1e-12).fit(rng.normal(size=(50, 2)), np.arange(50) % 2)
    rows = rng.normal(size=(50, 2))
    scores = noise.decision_function(rows)
    assert_array_equal(noise.predict_proba(rows)[:, 1] > 0.5, scores > 0)


def test_the_base_score_is_the_mean_of_the_training_scores():
    X, y = loans(800, 0)
    model = LinearRanker().fit(X, y)
    assert model.base_score_ == pytest.approx(model.decision_function(X).mean(), abs=1e-9)
    assert_allclose(model.explain(X).mean(axis=0), 0.0, atol=1e-9)


def test_importances_are_losses_of_auc():
    X, y = load_breast_cancer(return_X_y=True)
    model = LinearRanker().fit(X, y)
    parts, scores = model.explain(X), model.decision_function(X)
    # A term of two features counts half for each.
    of_features = parts[:, :30].copy()
    names = model.term_names_
    for part, name in zip(parts[:, 30:].T, names[30:], strict=True):
        for feature in name.replace(" & ", " / ").replace(" - ", " / ").split(" / "):
            of_features[:, names.index(feature)] += part / 2
    expected = [
        roc_auc_score(y, scores) - roc_auc_score(y, scores - part) for part in of_features.T
    ]
    assert_allclose(model.feature_importances_, expected, atol=1e-12)


def test_the_terms_of_a_row_add_up_to_its_score():
    X, y = kinds()
    model = LinearRanker(thresholds=None).fit(X, y)
    table = model.terms()
    values = {
        (f, r): v for f, r, v in zip(table["feature"], table["rule"], table["value"], strict=True)
    }
    row = pd.DataFrame(
        {
            "age": [np.nan],
            "income": [X["income"].mean()],
            "children": [X["children"].mean()],
            "city": ["Rome"],
            "home": ["own"],
        }
    )
    expected = (
        model.intercept_
        + values["age", "age is missing"]
        + values["city", "city = Rome"]
        + values["home", "home = own"]
    )
    assert model.decision_function(row)[0] == pytest.approx(expected, abs=1e-5)


def test_too_few_iterations_raise_a_warning():
    X, y = kinds()
    with pytest.warns(ConvergenceWarning, match="not ended after 1 iteration"):
        model = LinearRanker(max_iter=1).fit(X, y)
    assert model.n_iter_ == 1
    assert 1 < LinearRanker().fit(X, y).n_iter_ < 20


@pytest.mark.parametrize(
    ("params", "error", "words"),
    [
        ({"C": 0.0}, ValueError, "C must be in"),
        ({"C": "large"}, TypeError, "C must be a number"),
        ({"thresholds": 0}, ValueError, "thresholds must be from 1 to 1000"),
        ({"thresholds": "many"}, ValueError, "thresholds must be 'auto'"),
        ({"thresholds": 1.5}, TypeError, "thresholds must be an int"),
        ({"max_iter": 0}, ValueError, "max_iter must be at least 1"),
        ({"tol": -1.0}, ValueError, "tol must be in"),
    ],
)
def test_parameters_are_checked(params, error, words):
    with pytest.raises(error, match=words):
        LinearRanker(**params).fit(*kinds())


def test_a_saved_model_is_the_same(tmp_path):
    X, y = kinds()
    model = LinearRanker(C=1.0, thresholds=4).fit(X, y)
    model.save(tmp_path / "model.json")
    again = aucrank.load(tmp_path / "model.json")
    assert again.get_params() == model.get_params()
    assert_array_equal(again.decision_function(X), model.decision_function(X))
    assert_array_equal(again.explain(X), model.explain(X))
    assert str(again.terms()) == str(model.terms())
