"""Linear models of scikit-learn and equations: scores, probabilities, exports, errors."""

from math import fsum

import numpy as np
import pytest
from aucrank import (
    ImportedLinear,
    LinearRanker,
    RankingEnsemble,
    from_coefficients,
    from_sklearn,
    load,
    recalibrate,
)
from aucrank.inspection import shapley_values
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import expit
from sklearn.base import clone
from sklearn.compose import make_column_transformer
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.frozen import FrozenEstimator
from sklearn.impute import SimpleImputer
from sklearn.linear_model import (
    LogisticRegression,
    LogisticRegressionCV,
    RidgeClassifier,
    RidgeClassifierCV,
    SGDClassifier,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.svm import LinearSVC

from tests.common.hostile_rows import training_rows

WITH_PROBABILITIES = {
    "logistic regression": LogisticRegression(),
    "without intercept": LogisticRegression(fit_intercept=False),
    "few weights": LogisticRegression(C=0.02, l1_ratio=1.0, solver="liblinear"),
    "penalty by folds": LogisticRegressionCV(Cs=3, cv=3, l1_ratios=(0.0,), scoring="roc_auc"),
    "discriminant analysis": LinearDiscriminantAnalysis(),
    "stochastic descent": SGDClassifier(loss="log_loss", random_state=0),
}
WITHOUT = {
    "hinge loss": SGDClassifier(random_state=0),
    "ridge": RidgeClassifier(),
    "ridge by folds": RidgeClassifierCV(),
    "support vectors": LinearSVC(random_state=0),
}
MODELS = WITH_PROBABILITIES | WITHOUT


def rows_and_labels():
    X, y = training_rows()
    return np.nan_to_num(X), np.where(y, "good", "bad")


def hard_rows(n_rows=20_000):
    """Return numbers of all sizes, zeros of either sign, and denormals."""
    rng = np.random.default_rng(1)
    sizes = 10.0 ** rng.uniform(-300, 100, (n_rows, 5))
    plain = rng.normal(size=(n_rows, 5))
    odd = rng.choice([0.0, -0.0, 5e-324, -1e-310, 1e20, -1e20, 0.1], (n_rows, 5))
    which = rng.integers(0, 4, (n_rows, 5))
    return np.choose(which, [plain, plain, odd, rng.choice([-1, 1], (n_rows, 5)) * sizes])


@pytest.mark.parametrize("name", MODELS)
def test_scores_are_the_weighted_sum_of_scikit_learn(name):
    X, y = rows_and_labels()
    theirs = clone(MODELS[name]).fit(X, y)
    ours = from_sklearn(theirs)
    assert isinstance(ours, ImportedLinear)
    assert_array_equal(ours.classes_, ["bad", "good"])
    weights, intercept = np.ravel(theirs.coef_), float(np.ravel(theirs.intercept_)[0])
    assert_array_equal(ours.coef_, weights)
    assert ours.intercept_ == intercept
    rows = hard_rows()
    scores, terms = ours.decision_function(rows), rows * weights
    # Five products and six sums, each rounded once, here and there.
    room = 12 * np.finfo(float).eps * (np.abs(terms).sum(axis=1) + abs(intercept)) + 1e-320
    exact = np.array([fsum([*row, intercept]) for row in terms])
    assert (np.abs(scores - exact) <= room).all()
    assert (np.abs(scores - theirs.decision_function(rows)) <= 2 * room).all()
    one_by_one = np.zeros(len(rows))
    for column in range(5):
        one_by_one = one_by_one + terms[:, column]
    assert_array_equal(scores, one_by_one + intercept)
    assert_array_equal(ours._query("evaluate_formula", rows), scores)
    assert_array_equal(ours.predict(X), theirs.predict(X))


@pytest.mark.parametrize("name", WITH_PROBABILITIES)
def test_probabilities_are_those_of_scikit_learn(name):
    X, y = rows_and_labels()
    theirs = clone(MODELS[name]).fit(X, y)
    ours = from_sklearn(theirs)
    assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), rtol=1e-12, atol=1e-15)


def test_two_classes_with_scores_of_opposite_signs_have_twice_the_log_odds():
    X, y = rows_and_labels()
    theirs = LogisticRegression().fit(X, y)
    # A parameter up to scikit-learn 1.7.
    theirs.multi_class = "multinomial"
    rates = from_sklearn(theirs).predict_proba(X)[:, 1]
    scores = X @ theirs.coef_[0] + theirs.intercept_
    softmax = np.exp(scores) / (np.exp(scores) + np.exp(-scores))
    assert_allclose(rates, softmax, rtol=1e-12)


@pytest.mark.parametrize("name", WITHOUT)
def test_a_score_without_probabilities_only_ranks(name):
    X, y = rows_and_labels()
    ours = from_sklearn(clone(MODELS[name]).fit(X, y))
    assert not hasattr(ours, "predict_proba")
    assert "it ranks, and has no probability" in str(ours._summary())
    with pytest.raises(TypeError, match="has no predict_proba"):
        recalibrate(ours, X, y)
    around = RankingEnsemble(members=[("theirs", FrozenEstimator(ours))]).fit(X, y)
    order = np.argsort(ours.decision_function(X))
    assert (np.diff(around.predict_proba(X)[order, 1]) >= 0).all()


def test_sparse_weights_are_read():
    X, y = rows_and_labels()
    theirs = clone(MODELS["few weights"]).fit(X, y)
    before = theirs.decision_function(X)
    theirs.sparsify()
    assert_allclose(from_sklearn(theirs).decision_function(X), before, rtol=1e-13, atol=1e-13)


def test_a_pipeline_of_gaps_scales_and_categories_is_exported_over_its_columns():
    pd = pytest.importorskip("pandas")
    duckdb = pytest.importorskip("duckdb")
    X, y = training_rows()
    letters = np.array(list("ABCDEFGHIJKL"))[np.nan_to_num(X[:, 1]).astype(int)]
    frame = pd.DataFrame(X, columns=list("abcde")).assign(b=letters)
    numbers = make_pipeline(SimpleImputer(strategy="median"), StandardScaler())
    steps = make_column_transformer(
        (numbers, list("acde")), (OneHotEncoder(handle_unknown="ignore"), ["b"])
    )
    theirs = make_pipeline(steps, LogisticRegression()).fit(frame, y)
    ours = from_sklearn(theirs)
    scores = ours.decision_function(frame)
    assert_allclose(scores, theirs.decision_function(frame), rtol=1e-12, atol=1e-13)
    from aucrank import PipelineExport

    query = PipelineExport(ours).to_sql("duckdb")
    found = duckdb.sql(f"SELECT {query} AS score FROM frame").df()["score"]
    assert_allclose(found, scores, rtol=1e-12, atol=1e-13)


def test_an_equation_is_saved_and_explained(tmp_path):
    pd = pytest.importorskip("pandas")
    # Weights and numbers whose sums are exact.
    ours = from_coefficients({"age": 0.0625, "smokes": 0.75, "sex": 0.0}, intercept=-5.0)
    rng = np.random.default_rng(0)
    rows = pd.DataFrame({name: rng.integers(0, 90, 50) for name in ("age", "smokes", "sex")})
    expected = rows["age"] * 0.0625 + rows["smokes"] * 0.75 - 5.0
    assert_array_equal(ours.decision_function(rows), expected)
    assert_allclose(ours.predict_proba(rows)[:, 1], expit(expected), rtol=1e-14)
    assert_array_equal(ours.terms()["feature"], ["age", "smokes"])
    ours.save(tmp_path / "risk.json")
    read = load(tmp_path / "risk.json")
    assert_array_equal(read.decision_function(rows), expected)
    assert read.source == "an equation"
    found = shapley_values(ours, rows[:5], background=rows)
    deviations = (rows[:5] - rows.mean())[["age", "smokes", "sex"]]
    assert_allclose(found.values, deviations * [0.0625, 0.75, 0.0], atol=1e-12)
    assert not hasattr(from_coefficients({"a": 1.0}, log_odds=False), "predict_proba")


def test_bad_coefficients_and_missing_values_are_named():
    pd = pytest.importorskip("pandas")
    with pytest.raises(TypeError, match="must be a mapping of names to numbers, got list"):
        from_coefficients([1.0])
    with pytest.raises(ValueError, match="coefficients is empty"):
        from_coefficients({})
    with pytest.raises(TypeError, match="has the name 3, which is no text"):
        from_coefficients({3: 1.0})
    with pytest.raises(TypeError, match="the coefficient of age must be a number, got 'x'"):
        from_coefficients({"age": "x"})
    with pytest.raises(ValueError, match="the coefficient of age"):
        from_coefficients({"age": np.nan})
    with pytest.raises(ValueError, match="intercept"):
        from_coefficients({"age": 1.0}, intercept=np.inf)
    risk = from_coefficients({"age": 0.1, "smokes": 0.7})
    rows = pd.DataFrame({"age": [50.0, 60.0], "smokes": [1.0, np.nan]})
    with pytest.raises(ValueError, match="column 'smokes' is NaN in row 1; a linear score has no"):
        risk.decision_function(rows)
    with pytest.raises(ValueError, match="smokes"):
        risk.decision_function(rows[["age"]])
    with pytest.raises(TypeError, match="fit it there and import it again, or fit a LinearRanker"):
        risk.fit(rows, [0, 1])
    assert LinearRanker.__name__ in ImportedLinear._refusal
