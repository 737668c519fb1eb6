"""What scikit-learn does with an estimator, done with every public one."""

import numpy as np
import pandas as pd
import pytest
import sklearn
from aucrank import GradientBoostingRanker, TreeRank
from aucrank._base.registry import public_estimators
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import make_column_transformer
from sklearn.ensemble import StackingClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.inspection import partial_dependence, permutation_importance
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import RocCurveDisplay, get_scorer, roc_auc_score
from sklearn.model_selection import (
    FixedThresholdClassifier,
    GridSearchCV,
    TunedThresholdClassifierCV,
    cross_val_score,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils._testing import assert_docstring_consistency

from tests.common.estimators import quiet_on_few_rows, short


def seeded(estimator):
    """Set the seed of an estimator that has one, so that two fits are the same."""
    if "random_state" in estimator.get_params():
        estimator.set_params(random_state=0)
    return estimator


ESTIMATORS = [seeded(short(cls)) for cls in public_estimators().values()]
#: Of one parameter, two values that both make a model.
SEARCHED = {
    "AUCBoost": {"n_rounds": [5, 20]},
    "AURORA": {"max_features": [2, 4]},
    "GradientBoostingRanker": {"n_rounds": [5, 20]},
    "IntegerScore": {"max_points": [3, 10]},
    "LinearRanker": {"C": [0.1, 1.0]},
    "MartiRank": {"n_rounds": [1, 3]},
    "RIMARC": {"shrinkage": [0.0, 2.0]},
    "RankBoost": {"n_rounds": [5, 20]},
    "RankOpt": {"radii": [(0.5, 3.0), (1.0,)]},
    "RankingEnsemble": {"shrinkage": [0.0, 1.0]},
    "RankingForest": {"n_estimators": [5, 10]},
    "RuleList": {"max_rules": [1, 3]},
    "SMartiRank": {"n_rounds": [2, 4]},
    "Scorecard": {"pdo": [20, 40]},
    "TreeRank": {"max_depth": [2, 4]},
}
pytestmark = quiet_on_few_rows
every = pytest.mark.parametrize(
    "estimator", ESTIMATORS, ids=[type(estimator).__name__ for estimator in ESTIMATORS]
)


@pytest.fixture(scope="module")
def data():
    """Rows of two informative features and one of noise, their labels and weights."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(240, 3)).round(1), columns=["a", "b", "noise"])
    y = np.where(X.a + X.b + rng.normal(size=len(X)) > 0, "yes", "no")
    return X, y, rng.integers(0, 3, len(X)).astype(float)


@every
def test_a_pipeline_and_a_column_transformer_pass_frames_on(estimator, data):
    X, y, _ = data
    choice = make_column_transformer((StandardScaler(), ["b"]), ("passthrough", ["a"]))
    choice.set_output(transform="pandas")
    pipeline = make_pipeline(choice, clone(estimator)).fit(X, y)
    assert list(pipeline[-1].feature_names_in_) == ["standardscaler__b", "passthrough__a"]
    direct = clone(estimator).fit(choice.fit_transform(X), y)
    assert np.array_equal(
        pipeline.decision_function(X), direct.decision_function(choice.transform(X))
    )


@every
def test_a_search_and_a_scorer_rank_by_the_decision_function(estimator, data):
    X, y, _ = data
    name = type(estimator).__name__
    folds = [(np.arange(120), np.arange(120, 240)), (np.arange(120, 240), np.arange(120))]
    areas = cross_val_score(clone(estimator), X, y, cv=folds, scoring="roc_auc")
    for area, (train, test) in zip(areas, folds, strict=True):
        model = clone(estimator).fit(X.iloc[train], y[train])
        scores = model.decision_function(X.iloc[test])
        assert area == pytest.approx(roc_auc_score(y[test] == "yes", scores), abs=1e-12)
        assert area == pytest.approx(model.score(X.iloc[test], y[test]), abs=1e-12)
    search = GridSearchCV(clone(estimator), SEARCHED[name], cv=folds, scoring="roc_auc").fit(X, y)
    (parameter,) = SEARCHED[name]
    best = clone(estimator).set_params(**{parameter: search.best_params_[parameter]}).fit(X, y)
    assert np.array_equal(search.decision_function(X), best.decision_function(X))


@every
def test_calibration_and_threshold_wrappers_accept_it(estimator, data):
    X, y, _ = data
    calibrated = CalibratedClassifierCV(clone(estimator), cv=2, method="sigmoid").fit(X, y)
    assert roc_auc_score(y == "yes", calibrated.predict_proba(X)[:, 1]) > 0.7
    fitted = clone(estimator).fit(X, y)
    frozen = CalibratedClassifierCV(FrozenEstimator(fitted), method="sigmoid").fit(X, y)
    probability = frozen.predict_proba(X)[:, 1]
    # A sigmoid keeps the order.
    order = np.argsort(fitted.decision_function(X), kind="stable")
    assert (np.diff(probability[order]) >= 0).all()

    scores = fitted.decision_function(X)
    cut = float(np.median(scores))
    fixed = FixedThresholdClassifier(
        FrozenEstimator(fitted), threshold=cut, response_method="decision_function"
    ).fit(X, y)
    assert np.array_equal(fixed.predict(X) == "yes", scores >= cut)
    tuned = TunedThresholdClassifierCV(
        clone(estimator), cv=2, response_method="decision_function", scoring="balanced_accuracy"
    ).fit(X, y)
    assert np.isfinite(tuned.best_threshold_)


@every
def test_inspection_and_display_functions_accept_it(estimator, data):
    X, y, _ = data
    model = clone(estimator).fit(X, y)
    found = permutation_importance(
        model, X, y, scoring="roc_auc", n_repeats=3, random_state=0
    ).importances_mean
    assert found[:2].max() > found[2]
    curve = partial_dependence(
        model, X, ["a"], response_method="decision_function", grid_resolution=5, method="brute"
    )
    expected = [
        np.mean(model.decision_function(X.assign(a=value))) for value in curve["grid_values"][0]
    ]
    assert np.allclose(curve["average"][0], expected, rtol=1e-12)
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    drawn = RocCurveDisplay.from_estimator(model, X, y)
    assert drawn.roc_auc == pytest.approx(model.score(X, y), abs=1e-12)


@every
def test_weights_are_routed_to_it(estimator, data):
    X, y, weight = data
    with sklearn.config_context(enable_metadata_routing=True):
        routed = clone(estimator).set_fit_request(sample_weight=True)
        scaler = StandardScaler().set_fit_request(sample_weight=False)
        pipeline = make_pipeline(scaler, routed).fit(X, y, sample_weight=weight)
        scorer = get_scorer("roc_auc").set_score_request(sample_weight=True)
        search = GridSearchCV(routed, {}, cv=2, scoring=scorer).fit(X, y, sample_weight=weight)
    scaled = StandardScaler().fit_transform(X)
    weighted = clone(estimator).fit(scaled, y, sample_weight=weight)
    assert np.array_equal(pipeline.decision_function(X), weighted.decision_function(scaled))
    weighted = clone(estimator).fit(X, y, sample_weight=weight)
    assert np.array_equal(search.decision_function(X), weighted.decision_function(X))


def test_it_can_be_a_member_of_a_stack(data):
    X, y, _ = data
    members = [("tree", TreeRank(max_depth=3)), ("sum", GradientBoostingRanker(n_rounds=20))]
    stack = StackingClassifier(members, LogisticRegression(), cv=3).fit(X, y)
    assert stack.score(X, y) > 0.7


@every
def test_it_is_shown_in_a_notebook(estimator):
    assert type(estimator).__name__ in repr(estimator)
    html = estimator._repr_html_()
    assert type(estimator).__name__ in html
    assert "<script src" not in html


@every
@pytest.mark.filterwarnings("ignore:One of")
def test_threads_do_not_change_a_bit(estimator, data):
    X, y, weight = data
    if "n_jobs" not in estimator.get_params():
        pytest.skip("it takes no number of threads")
    scores = [
        clone(estimator)
        .set_params(n_jobs=n_jobs)
        .fit(X, y, sample_weight=weight)
        .decision_function(X)
        for n_jobs in (1, 2, 3)
    ]
    assert all(np.array_equal(scores[0], other) for other in scores[1:])


def test_weights_are_described_alike_by_all():
    pytest.importorskip("numpydoc")
    assert_docstring_consistency(
        list(public_estimators().values()), include_params=["sample_weight"]
    )
