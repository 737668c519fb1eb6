"""Figures of a fit, corrected for its optimism."""

import numpy as np
import pandas as pd
import pytest
from aucrank import LinearRanker, RankBoost, TreeRank
from aucrank.datasets import load_breast_cancer
from aucrank.inspection import validate
from aucrank.metrics import calibration_curve, cross_validated_auc, decision_curve
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import brier_score_loss, roc_auc_score
from sklearn.model_selection import StratifiedGroupKFold, StratifiedKFold

MAXIMUM_LIKELIHOOD = LogisticRegression(C=np.inf, tol=1e-9, max_iter=10_000)


def rows(n=150, n_features=8, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, n_features))
    return X, (X[:, 0] + 2 * rng.normal(size=n) > 0.5).astype(int)


def column(found, name):
    return dict(zip(found.table["measure"].tolist(), found.table[name].tolist(), strict=True))


def test_corrected_figures_are_those_of_rms():
    # set.seed(1); f <- lrm(y ~ ., d, x=TRUE, y=TRUE); validate(f, B=2000), of rms 6.5.0 in R 4.2.2;
    # the AUC is (1 + Dxy) / 2.
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    X, y = X.iloc[100:300, [4, 8, 9, 11, 14, 18]], np.asarray(y)[100:300]
    X = (X - X.mean()) / X.std()
    found = validate(MAXIMUM_LIKELIHOOD, X, y, n_resamples=200, random_state=0)
    assert column(found, "apparent")["auc"] == pytest.approx((1 + 0.6205) / 2, abs=1e-4)
    assert column(found, "apparent")["brier"] == pytest.approx(0.1766, abs=1e-4)
    corrected = column(found, "corrected")
    # Within about three standard errors of a mean over 200 resamples.
    assert corrected["auc"] == pytest.approx(0.7861, abs=0.005)
    assert corrected["slope"] == pytest.approx(0.8421, abs=0.03)
    assert corrected["brier"] == pytest.approx(0.1908, abs=0.003)
    assert found["auc"] == corrected["auc"]
    assert found.table["n"].tolist() == [200] * 5


def test_the_optimism_is_the_mean_over_resamples_by_definition():
    X, y = rows()
    weights = np.random.default_rng(1).integers(1, 4, len(y)).astype(float)
    rng, of_auc, of_brier = np.random.default_rng(2), [], []
    for _ in range(300):
        drawn = rng.integers(len(y), size=len(y))
        model = LinearRanker().fit(X[drawn], y[drawn], weights[drawn])
        probability = model.predict_proba(X)[:, 1]
        for of, figure in [(of_auc, roc_auc_score), (of_brier, brier_score_loss)]:
            own = figure(y[drawn], probability[drawn], sample_weight=weights[drawn])
            of.append(own - figure(y, probability, sample_weight=weights))
    found = validate(LinearRanker(), X, y, sample_weight=weights, n_resamples=150, random_state=0)
    optimism = column(found, "optimism")
    for name, values in [("auc", of_auc), ("brier", of_brier)]:
        error = np.std(values) * np.sqrt(1 / 300 + 1 / 150)
        assert optimism[name] == pytest.approx(np.mean(values), abs=3.5 * error)
    model = LinearRanker().fit(X, y, weights)
    probability = model.predict_proba(X)[:, 1]
    calibration = calibration_curve(y, probability, sample_weight=weights)
    share = np.average(y, weights=weights)
    benefit = decision_curve(y, probability, thresholds=[share], sample_weight=weights)
    assert column(found, "apparent") == pytest.approx(
        {
            "auc": roc_auc_score(y, probability, sample_weight=weights),
            "intercept": calibration.intercept,
            "slope": calibration.slope,
            "brier": calibration.brier,
            "net_benefit": benefit.table["net_benefit"][0],
        }
    )
    low, high = column(found, "low"), column(found, "high")
    for name in ("auc", "brier", "net_benefit"):
        assert low[name] < found[name] < high[name]
    assert np.isnan([low["intercept"], high["slope"]]).all()


@pytest.mark.parametrize("with_groups", [False, True])
def test_cross_validation_judges_rows_that_were_left_out(with_groups):
    X, y = rows(200)
    groups = np.arange(200) // 2 if with_groups else None
    found = validate(
        LinearRanker(),
        X,
        y,
        method="cross_validation",
        n_resamples=1,
        n_folds=5,
        groups=groups,
        thresholds=[0.3, 0.5],
        random_state=7,
    )
    seed = int(np.random.default_rng(np.random.RandomState(7).randint(2**31 - 1)).integers(2**31))
    kind = StratifiedGroupKFold if with_groups else StratifiedKFold
    probability, fold = np.empty(200), np.empty(200, dtype=int)
    splits = kind(5, shuffle=True, random_state=seed).split(X, y, groups)
    for number, (others, left_out) in enumerate(splits):
        model = LinearRanker().fit(X[others], y[others])
        probability[left_out], fold[left_out] = model.predict_proba(X[left_out])[:, 1], number
    assert found["brier"] == pytest.approx(brier_score_loss(y, probability))
    assert found["slope"] == pytest.approx(calibration_curve(y, probability).slope)
    assert found["auc"] == pytest.approx(cross_validated_auc(y, probability, fold).auc)


def test_a_fit_by_heart_needs_cross_validation():
    # By chance alone: the AUC of new rows is 1/2.
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(120, 5)), np.tile([0, 1], 60)
    forest = RandomForestClassifier(20, random_state=0)
    by_bootstrap = validate(forest, X, y, n_resamples=20, random_state=0)
    by_folds = validate(
        forest, X, y, method="cross_validation", n_resamples=3, n_folds=5, random_state=0
    )
    assert column(by_bootstrap, "apparent")["auc"] > 0.99
    assert by_bootstrap["auc"] > 0.7
    assert abs(by_folds["auc"] - 0.5) < 0.1


def test_groups_are_drawn_and_left_out_together():
    X, y = rows(60)
    place = np.repeat(np.arange(60), 5)
    how = {"n_resamples": 6, "random_state": 0}
    tree = TreeRank(random_state=0)
    for method in ("bootstrap", "cross_validation"):
        copies = validate(tree, X[place], y[place], method=method, n_folds=4, **how)
        whole = validate(tree, X[place], y[place], groups=place, method=method, n_folds=4, **how)
        assert whole["auc"] < copies["auc"] - 0.05


def test_a_ranker_without_probabilities_has_an_auc():
    X, y = rows(80)
    for method in ("bootstrap", "cross_validation"):
        frame = pd.DataFrame(X).add_prefix("x")
        found = validate(
            RankBoost(n_rounds=5), frame, y, method=method, n_resamples=2, random_state=0
        )
        assert found.table["measure"].tolist() == ["auc"]
        assert found.table["low"][0] <= found["auc"] <= found.table["high"][0]
    with pytest.raises(KeyError, match="'brier' is none of"):
        found["brier"]


@pytest.mark.parametrize(
    ("kwargs", "message"),
    [
        ({"method": "632"}, "method is '632'"),
        ({"n_resamples": 1}, "n_resamples == 1"),
        ({"n_folds": 1}, "n_folds == 1"),
        ({"thresholds": [0.0]}, "thresholds must be"),
        ({"thresholds": []}, "thresholds must be"),
        ({"confidence": 1.0}, "confidence"),
        ({"sample_weight": [1.0]}, "sample_weight"),
    ],
)
def test_bad_input_is_named_in_the_error(kwargs, message):
    with pytest.raises(ValueError, match=message):
        validate(LinearRanker(), *rows(40), **kwargs)


def test_an_estimator_that_scores_nothing_is_refused():
    with pytest.raises(TypeError, match="neither decision_function"):
        validate(object(), *rows(40))
