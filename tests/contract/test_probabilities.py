"""Probabilities of rankers whose scores only rank, on rows that no model has seen."""

import pickle

import aucrank
import numpy as np
import pytest
from aucrank import (
    AURORA,
    AUCBoost,
    GradientBoostingRanker,
    MartiRank,
    RankBoost,
    RankOpt,
    SMartiRank,
    TreeRank,
    _core,
)
from aucrank._base.calibrated import MANY_ROWS, CalibratedRanker
from aucrank._base.registry import public_estimators
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.calibration import CalibrationDisplay, _SigmoidCalibration
from sklearn.ensemble import StackingClassifier
from sklearn.isotonic import IsotonicRegression
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss, roc_auc_score
from sklearn.model_selection import (
    FixedThresholdClassifier,
    TunedThresholdClassifierCV,
    cross_val_score,
)

RANKERS = {
    "RankBoost": RankBoost(n_rounds=30, random_state=0),
    "AUCBoost": AUCBoost(n_rounds=30, random_state=0),
    "AUCBoost by sign": AUCBoost(n_rounds=30, output="sign", random_state=0),
    "GradientBoostingRanker": GradientBoostingRanker(
        loss="pair_logistic", n_rounds=40, random_state=0
    ),
    "GradientBoostingRanker of bags": GradientBoostingRanker(
        loss="pair_exponential", n_rounds=20, n_bags=2, early_stopping=True, random_state=0
    ),
    "MartiRank": MartiRank(n_rounds=5, random_state=0),
    "SMartiRank": SMartiRank(n_rounds=5, random_state=0),
    "AURORA": AURORA(radius=1.5, depth="shallow", max_features=5, random_state=0),
    "RankOpt": RankOpt(radii=(1.0,)),
}


def eta_of(X):
    return 1 / (1 + np.exp(2.0 - 1.5 * X[:, 0] - X[:, 1]))


def rows(n, seed):
    """Rows of a known law: two informative columns, and four of noise."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 6))
    return X, np.where(rng.random(n) < eta_of(X), "yes", "no")


X, Y = rows(3000, 0)
NEW, Y_NEW = rows(20_000, 1)


@pytest.fixture(scope="module")
def fitted():
    kept = {}

    def of(name, **params):
        key = (name, *sorted(params.items()))
        if key not in kept:
            kept[key] = clone(RANKERS[name]).set_params(**params).fit(X, Y)
        return kept[key]

    return of


def test_every_ranker_has_probabilities_or_can_be_calibrated():
    for cls in public_estimators().values():
        assert hasattr(cls(), "predict_proba") or issubclass(cls, CalibratedRanker)
    named = {type(ranker) for ranker in RANKERS.values()}
    assert {c for c in public_estimators().values() if issubclass(c, CalibratedRanker)} == named


@pytest.mark.parametrize("calibration", ["sigmoid", "isotonic"])
@pytest.mark.parametrize("name", RANKERS)
def test_calibration_changes_only_the_threshold(name, calibration, fitted):
    plain, model = fitted(name, calibration=None), fitted(name, calibration=calibration)
    scores = model.decision_function(NEW)
    raw = plain.decision_function(NEW) + plain.threshold_
    assert_allclose(scores + model.threshold_, raw, atol=1e-12)
    positive = model.predict_proba(NEW)[:, 1]
    assert_array_equal(positive > 0.5, scores > 0)
    assert_array_equal(model.predict(NEW) == "yes", scores > 0)
    assert (np.diff(positive[np.argsort(scores, kind="stable")]) >= 0).all()
    assert roc_auc_score(Y_NEW, positive) == pytest.approx(plain.score(NEW, Y_NEW), abs=1e-9)


@pytest.mark.parametrize("calibration", ["sigmoid", "isotonic"])
@pytest.mark.parametrize("name", RANKERS)
def test_probabilities_are_calibrated_on_new_rows(name, calibration, fitted):
    """In tenths of new rows by probability, the predicted shares are positive."""
    positive = fitted(name, calibration=calibration).predict_proba(NEW)[:, 1]
    eta = eta_of(NEW)
    tenths = np.array_split(np.argsort(positive, kind="stable"), 10)
    if len(np.unique(positive)) == 2:
        tenths = [positive == value for value in np.unique(positive)]
    gaps = [abs(positive[rows].mean() - eta[rows].mean()) for rows in tenths]
    assert np.mean(gaps) < 0.025
    assert max(gaps) < 0.07


def test_calibration_on_training_scores_would_be_overconfident():
    """A ranker that overfits on few rows, which needs cross-fitting."""
    ranker = RankBoost(n_rounds=300, random_state=0)
    X_few, y_few = X[:300], Y[:300]
    model = ranker.fit(X_few, y_few)
    line = _SigmoidCalibration().fit(model.decision_function(X_few), y_few == "yes")
    own = line.predict(model.decision_function(NEW))
    found = clone(ranker).set_params(calibration="auto").fit(X_few, y_few).predict_proba(NEW)[:, 1]
    assert log_loss(Y_NEW, found) < log_loss(Y_NEW, own) - 0.05


@pytest.mark.parametrize("seed", range(5))
def test_the_sigmoid_is_that_of_scikit_learn(seed):
    rng = np.random.default_rng(seed)
    scores = rng.normal(size=200) * 3 + 5
    positive = rng.random(200) < 1 / (1 + np.exp(5 - scores))
    weight = [None, rng.integers(1, 4, 200).astype(float)][seed % 2]
    curve, cut = _core.fit_calibration(scores, positive, weight, '"sigmoid"', 1)
    expected = _SigmoidCalibration().fit(scores, positive, weight).predict(scores)
    assert_allclose(curve.probability(scores - cut), expected, atol=2e-4)


@pytest.mark.parametrize("seed", range(5))
def test_the_curve_goes_through_the_pools_of_isotonic_regression(seed):
    rng = np.random.default_rng(seed)
    scores = rng.normal(size=500).round(2)
    positive = rng.random(500) < 1 / (1 + np.exp(-3 * scores))
    curve, cut = _core.fit_calibration(scores, positive, None, '"isotonic"', 1)
    # Two more rows: a positive one at the lowest score, a negative one at the highest.
    guarded = np.append(scores, [scores.min(), scores.max()])
    labels = np.append(positive, [True, False]).astype(float)
    regression = IsotonicRegression().fit(guarded, labels).predict(scores)
    values = np.unique(regression.round(12))
    for value in values[1:-1]:
        of_pool = scores[np.isclose(regression, value, atol=1e-9)]
        assert curve.probability(np.array([of_pool.mean() - cut]))[0] == pytest.approx(value)


def test_auto_uses_the_sigmoid_for_few_rows_and_the_curve_for_many():
    n_knots = {}
    for n in (1500, 12_000):
        model = RankOpt(radii=(1.0,), calibration="auto").fit(NEW[:n], Y_NEW[:n])
        n_rarer = min((Y_NEW[:n] == label).sum() for label in ("yes", "no"))
        n_knots[n_rarer >= MANY_ROWS] = len(model._calibration.knots()[0])
    assert n_knots[False] == 1
    assert n_knots[True] > 5


def counted(monkeypatch, name):
    """Record the fits of a function of the core in the returned list."""
    calls, fit = [], getattr(_core, name)
    monkeypatch.setattr(_core, name, lambda *args: calls.append(len(args[0][2])) or fit(*args))
    return calls


def test_validation_rows_are_used_for_calibration_without_another_fit(monkeypatch):
    calls = counted(monkeypatch, "fit_gradient_boosting")
    ranker = GradientBoostingRanker(
        loss="pair_logistic", n_rounds=30, n_bags=1, calibration="auto", random_state=0
    )
    model = ranker.fit(X[:2000], Y[:2000], X_val=X[2000:], y_val=Y[2000:])
    assert calls == [2000]
    assert log_loss(Y_NEW, model.predict_proba(NEW)[:, 1]) < 0.42
    calls.clear()
    # Rows held out by the fit are used, too, unless it then learns from them.
    ranker.set_params(validation_fraction=0.3).fit(X, Y)
    assert calls == [3000]
    calls.clear()
    ranker.set_params(refit=True).fit(X, Y)
    assert calls == [3000, *[pytest.approx(2000, abs=1)] * 3]


@pytest.mark.parametrize("cls", [RankBoost, AUCBoost, GradientBoostingRanker])
def test_calibration_uses_the_held_out_rows_of_the_fit(cls):
    """Their AUC is the one of the fit."""
    params = {}
    if cls is GradientBoostingRanker:
        params = {"loss": "pair_exponential", "scoring": "auc", "n_bags": 1}
    ranker = cls(n_rounds=30, early_stopping=True, random_state=3, **params).fit(X, Y)
    sample = (X, [None] * X.shape[1], Y == "yes", None, None, None)
    rows = _core.held_out_rows(sample, 0.1, ranker._model.seed, 1)
    path = ranker.validation_path_
    (chosen,) = path["auc"][path["kept"]]
    assert len(rows) == 300
    assert ranker.score(X[rows], Y[rows]) == pytest.approx(chosen, abs=1e-12)


@pytest.mark.parametrize("seed", [12, 14, 22, 24, 28, 30, 35])
def test_weights_equal_copies_if_scores_of_folds_differ_by_rounding(seed):
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(90, 3)).round(1)
    y = rows[:, 0] + rng.normal(size=90) > 1
    times = rng.integers(1, 3, 90)
    copies = np.repeat(np.arange(90), times)
    # Of one layer, with few distinct scores.
    model = MartiRank(n_rounds=1, calibration="isotonic", random_state=0)
    weighted = model.fit(rows, y, sample_weight=times).decision_function(rows)
    of_copies = model.fit(rows[copies], y[copies]).decision_function(rows)
    assert of_copies == pytest.approx(weighted, abs=1e-9)


@pytest.mark.parametrize("name", RANKERS)
def test_probabilities_are_saved_in_files_and_pickles(name, fitted, tmp_path):
    model = fitted(name, calibration="isotonic")
    model.save(tmp_path / "model.json")
    for again in (aucrank.load(tmp_path / "model.json"), pickle.loads(pickle.dumps(model))):
        assert_array_equal(again.predict_proba(NEW), model.predict_proba(NEW))
        assert again.get_params() == model.get_params()


def test_a_file_of_a_ranker_that_is_never_calibrated_has_no_curve(fitted, tmp_path):
    model = TreeRank(random_state=0).fit(X, Y)
    model._calibration = fitted("RankBoost", calibration="sigmoid")._calibration
    model.save(tmp_path / "model.json")
    with pytest.raises(_core.ModelFormatError, match="a TreeRank is not calibrated"):
        aucrank.load(tmp_path / "model.json")


def test_without_calibration_predict_proba_raises_a_clear_error(fitted):
    model = fitted("RankBoost", calibration=None)
    assert not hasattr(model, "predict_proba")
    with pytest.raises(AttributeError) as raised:
        model.predict_proba(NEW)
    assert "calibration='auto'" in str(raised.value.__cause__)
    with pytest.raises(ValueError, match=r"calibration must be one of 'auto', .* got 'platt'"):
        RankBoost(calibration="platt").fit(X, Y)
    with pytest.raises(ValueError, match="does not go with loss='log'"):
        GradientBoostingRanker(calibration="sigmoid").fit(X, Y)


def test_one_row_of_a_class_is_calibrated_on_the_fit_with_a_warning():
    y = np.arange(20) == 7
    with pytest.warns(UserWarning, match="A class has one distinct row"):
        model = RankOpt(calibration="auto").fit(X[:20], y)
    positive = model.predict_proba(X[:20])[:, 1]
    assert ((positive > 0) & (positive < 1)).all()


def test_probabilities_of_a_noise_score_are_the_share_of_positives():
    rng = np.random.default_rng(5)
    noise, y = rng.normal(size=(2000, 3)), rng.random(2000) < 0.2
    model = RankBoost(n_rounds=100, calibration="auto", random_state=0).fit(noise, y)
    positive = model.predict_proba(rng.normal(size=(2000, 3)))[:, 1]
    assert np.abs(positive - 0.2).mean() < 0.05


@pytest.mark.parametrize("calibration", ["sigmoid", "isotonic"])
@pytest.mark.parametrize("name", ["RankBoost", "MartiRank", "AURORA", "GradientBoostingRanker"])
def test_weights_equal_copies_and_row_order_and_threads_do_not_matter(name, calibration):
    rng = np.random.default_rng(2)
    X_few, y = X[:400].round(1), Y[:400]
    weight = rng.integers(0, 3, 400)
    ranker = clone(RANKERS[name]).set_params(calibration=calibration)
    if name == "GradientBoostingRanker":
        # Random draws depend on the number of rows, which weights do not change.
        ranker.set_params(subsample=1.0, max_features=None)
    expected = ranker.fit(X_few, y, weight.astype(float)).predict_proba(NEW)
    repeated = rng.permutation(np.repeat(np.arange(400), weight))
    found = clone(ranker).set_params(n_jobs=2).fit(X_few[repeated], y[repeated]).predict_proba(NEW)
    assert_allclose(found, expected, atol=1e-9)


def test_weak_estimators_are_fitted_without_each_fold_too():
    ranker = RankBoost(
        weak_ranker=LogisticRegression(), n_rounds=3, calibration="auto", random_state=0
    )
    model = ranker.fit(X[:600], Y[:600])
    assert log_loss(Y_NEW, model.predict_proba(NEW)[:, 1]) < 0.42
    again = pickle.loads(pickle.dumps(model))
    assert_array_equal(again.predict_proba(NEW), model.predict_proba(NEW))


@pytest.mark.parametrize("cls", [RankBoost, MartiRank])
def test_weak_estimators_that_are_never_fitted_do_not_prevent_calibration(cls):
    X, y = np.zeros((40, 1)), np.arange(40) % 4 == 0
    ranker = cls(n_rounds=2, weak_ranker=LogisticRegression(), calibration="sigmoid")
    model = ranker.fit(X, y)
    assert model.predict_proba(X)[:, 1] == pytest.approx(0.25, abs=0.05)


@pytest.mark.parametrize("name", ["RankBoost", "MartiRank"])
def test_scikit_learn_accepts_the_probabilities(name):
    ranker = clone(RANKERS[name]).set_params(calibration="auto")
    X_some, y_some = X[:1000], Y[:1000]
    scores = cross_val_score(ranker, X_some, y_some, scoring="neg_log_loss", cv=3)
    assert (scores > -0.5).all()
    model = ranker.fit(X_some, y_some)
    fixed = FixedThresholdClassifier(model, threshold=0.2, response_method="predict_proba")
    positive = fixed.fit(X_some, y_some).predict(NEW) == "yes"
    assert_array_equal(positive, model.predict_proba(NEW)[:, 1] >= 0.2)
    tuned = TunedThresholdClassifierCV(ranker, response_method="predict_proba", cv=3)
    assert 0 < tuned.fit(X_some, y_some).best_threshold_ < 1
    stack = StackingClassifier(
        [("ranker", ranker), ("line", LogisticRegression())], stack_method="predict_proba", cv=3
    )
    found = roc_auc_score(Y_NEW, stack.fit(X_some, y_some).predict_proba(NEW)[:, 1])
    assert found > roc_auc_score(Y_NEW, eta_of(NEW)) - 0.01


def test_calibration_display_shows_them(fitted):
    pytest.importorskip("matplotlib").use("Agg")
    model = fitted("RankBoost", calibration="auto")
    display = CalibrationDisplay.from_estimator(model, NEW, Y_NEW, pos_label="yes", n_bins=10)
    assert np.abs(display.prob_true - display.prob_pred).mean() < 0.05
