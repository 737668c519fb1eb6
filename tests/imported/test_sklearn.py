"""Tree models of scikit-learn against scikit-learn itself, to the last bit."""

import numpy as np
import pytest
from aucrank import PipelineExport, from_sklearn
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.ensemble import (
    AdaBoostClassifier,
    ExtraTreesClassifier,
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
)
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from tests.common.hostile_rows import hostile_rows, training_rows

BOOSTERS = {
    "histograms": HistGradientBoostingClassifier(max_iter=20),
    "histograms of categories": HistGradientBoostingClassifier(
        max_iter=20, categorical_features=[1, 2]
    ),
    "histograms with weights of classes": HistGradientBoostingClassifier(
        max_iter=20, early_stopping=True, class_weight="balanced", monotonic_cst=[1, 0, 0, 0, 0]
    ),
    "gradient boosting": GradientBoostingClassifier(n_estimators=20),
    "exponential loss": GradientBoostingClassifier(n_estimators=20, loss="exponential"),
    "from zero": GradientBoostingClassifier(n_estimators=20, init="zero", learning_rate=0.3),
    "a constant": HistGradientBoostingClassifier(max_iter=2, min_samples_leaf=10_000),
}
FORESTS = {
    "forest": RandomForestClassifier(20, max_depth=8),
    "extra trees": ExtraTreesClassifier(20, class_weight="balanced"),
    "tree": DecisionTreeClassifier(),
    "leaves": RandomForestClassifier(3, min_samples_leaf=10_000),
}


def fitted(name, models):
    """Return a model, the same imported, and hostile rows that the model takes."""
    X, y = training_rows()
    model = models[name].set_params(random_state=0)
    if isinstance(model, GradientBoostingClassifier):
        X = np.nan_to_num(X)
    labels = np.where(y, "good", "bad")
    ours = from_sklearn(model.fit(X, labels))
    rows = hostile_rows(ours, X, largest=3.4e38)
    return model, ours, np.nan_to_num(rows) if not np.isnan(X).any() else rows


@pytest.mark.parametrize("name", BOOSTERS)
def test_scores_of_boosting_are_those_of_scikit_learn_to_the_last_bit(name):
    theirs, ours, rows = fitted(name, BOOSTERS)
    if "categories" in name:
        X, _ = training_rows()
        rng = np.random.default_rng(0)
        for column in (1, 2):
            rows[:, column] = rng.choice([*X[:, column], 99.0, -1.0], len(rows))
    scores = ours.decision_function(rows)
    assert_array_equal(scores, theirs.decision_function(rows))
    assert_array_equal(ours._query("evaluate_formula", rows), scores)
    assert_allclose(ours.predict_proba(rows), theirs.predict_proba(rows), rtol=1e-13, atol=1e-15)
    assert_array_equal(ours.predict(rows), theirs.predict(rows))


@pytest.mark.parametrize("name", FORESTS)
def test_probabilities_of_trees_are_those_of_scikit_learn_to_the_last_bit(name):
    theirs, ours, rows = fitted(name, FORESTS)
    rates = ours.predict_proba(rows)[:, 1]
    assert_array_equal(rates, theirs.predict_proba(rows)[:, 1])
    assert_array_equal(ours.decision_function(rows), rates - 0.5)
    assert_array_equal(ours._query("evaluate_formula", rows), rates - 0.5)
    assert_array_equal(ours.predict(rows), theirs.predict(rows))


def test_categories_of_a_frame_are_matched_by_value():
    pd = pytest.importorskip("pandas")
    X, y = training_rows()
    frame = pd.DataFrame(X, columns=list("abcde"))
    letters = np.array(list("ABCDEFGHIJKL"))[np.nan_to_num(X[:, 1]).astype(int)]
    frame["d"] = pd.Categorical(np.where(np.isnan(X[:, 1]), None, letters))
    theirs = HistGradientBoostingClassifier(max_iter=20, categorical_features="from_dtype")
    ours = from_sklearn(theirs.fit(frame, y))
    other = frame.assign(d=pd.Categorical([*letters[::-1][:-3], "Z", "Z", "A"]))
    assert_array_equal(ours.decision_function(other), theirs.decision_function(other))


def test_a_pipeline_keeps_its_steps_and_is_exported_over_its_columns():
    X, y = training_rows()
    theirs = make_pipeline(
        SimpleImputer(), StandardScaler(), GradientBoostingClassifier(n_estimators=5)
    )
    ours = from_sklearn(theirs.fit(X, y))
    scores = theirs.decision_function(X)
    assert_array_equal(ours.decision_function(X), scores)
    names = {}
    exec(PipelineExport(ours).to_code("python"), names)
    assert_array_equal([names["score"](row) for row in X.tolist()], scores)


def test_other_models_are_refused_by_name():
    X, y = training_rows()
    X = np.nan_to_num(X)
    with pytest.raises(TypeError, match="a AdaBoostClassifier is not imported; of scikit-learn"):
        from_sklearn(AdaBoostClassifier().fit(X, y))
    with pytest.raises(ValueError, match="has 3 classes, and two are imported"):
        from_sklearn(DecisionTreeClassifier().fit(X, np.arange(len(y)) % 3))
    with pytest.raises(ValueError, match="has several targets"):
        from_sklearn(DecisionTreeClassifier().fit(X, np.column_stack((y, y))))
    with pytest.raises(ValueError, match="start from those of a LogisticRegression"):
        from_sklearn(
            GradientBoostingClassifier(n_estimators=2, init=LogisticRegression()).fit(X, y)
        )
    with pytest.raises(Exception, match="not fitted"):
        from_sklearn(DecisionTreeClassifier())
