"""The parameter ``class_weight`` of every classifier, which multiplies the weights of rows."""

import aucrank
import numpy as np
import pytest
from aucrank import RankBoost, RankingEnsemble, Scorecard
from aucrank._base.calibrated import CalibratedRanker
from aucrank._base.registry import public_estimators
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.utils.class_weight import compute_sample_weight

from tests.common.estimators import short

rng = np.random.default_rng(0)
X = rng.normal(size=(400, 4)).round(1)
Y = np.where(rng.random(400) < 1 / (1 + np.exp(2 - 1.5 * X[:, 0] - X[:, 1])), "ill", "fit")
NEW = rng.normal(size=(300, 4))
WEIGHT = rng.integers(1, 4, 400).astype(float)
CLASSES = public_estimators()


def ranker_of(cls, **params):
    ranker = short(cls)
    if "random_state" in ranker.get_params():
        ranker.set_params(random_state=0)
    return ranker.set_params(**params)


@pytest.mark.parametrize("class_weight", ["balanced", {"ill": 5.0, "fit": 0.5}], ids=str)
@pytest.mark.parametrize("name", CLASSES)
def test_a_class_weight_multiplies_the_weights_of_rows(name, class_weight):
    model = ranker_of(CLASSES[name], class_weight=class_weight).fit(X, Y)
    by_hand = compute_sample_weight(class_weight, Y)
    expected = ranker_of(CLASSES[name]).fit(X, Y, by_hand)
    found, wanted = model.decision_function(NEW), expected.decision_function(NEW)
    if isinstance(model, CalibratedRanker) and not hasattr(model, "predict_proba"):
        # Only the threshold differs: for None, both classes have equal weight.
        found, wanted = found + model.threshold_, wanted + expected.threshold_
    else:
        assert_allclose(model.predict_proba(NEW), expected.predict_proba(NEW), atol=1e-12)
    assert_allclose(found, wanted, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("name", [n for n in CLASSES if issubclass(CLASSES[n], CalibratedRanker)])
def test_class_weights_multiply_the_weights_of_calibration_too(name):
    params = {"calibration": "auto"}
    weighted = ranker_of(CLASSES[name], class_weight={"ill": 4.0, "fit": 1.0}, **params)
    by_hand = compute_sample_weight({"ill": 4.0, "fit": 1.0}, Y) * WEIGHT
    expected = ranker_of(CLASSES[name], **params).fit(X, Y, by_hand).predict_proba(NEW)
    assert_array_equal(weighted.fit(X, Y, WEIGHT).predict_proba(NEW), expected)


@pytest.mark.parametrize("name", CLASSES)
def test_the_heavier_class_is_predicted_more_often(name):
    shares = []
    for ill in (0.2, 1.0, 5.0):
        model = ranker_of(CLASSES[name], class_weight={"ill": ill, "fit": 1.0}).fit(X, Y)
        shares.append(np.mean(model.predict(NEW) == "ill"))
    assert shares[0] < shares[2]
    assert shares == sorted(shares)


def test_balanced_counts_weights():
    model = RankBoost(calibration="sigmoid", class_weight="balanced", random_state=0)
    sums = [WEIGHT[label == Y].sum() for label in ("fit", "ill")]
    by_hand = WEIGHT * np.where(Y == "fit", *(WEIGHT.sum() / (2 * s) for s in sums))
    expected = clone(model).set_params(class_weight=None).fit(X, Y, by_hand)
    assert_array_equal(model.fit(X, Y, WEIGHT).predict_proba(NEW), expected.predict_proba(NEW))


def test_validation_rows_have_class_weights_too():
    ranker = ranker_of(
        CLASSES["GradientBoostingRanker"],
        early_stopping=True,
        scoring="loss",
        class_weight={"ill": 4.0, "fit": 1.0},
    )
    by_hand = compute_sample_weight(ranker.class_weight, Y)
    model = clone(ranker).fit(X[:300], Y[:300], X_val=X[300:], y_val=Y[300:])
    expected = ranker.set_params(class_weight=None).fit(
        X[:300],
        Y[:300],
        by_hand[:300],
        X_val=X[300:],
        y_val=Y[300:],
        sample_weight_val=by_hand[300:],
    )
    assert_array_equal(model.decision_function(NEW), expected.decision_function(NEW))


@pytest.mark.parametrize(
    ("class_weight", "message"),
    [
        ("even", "class_weight must be a dict, 'balanced' or None, got 'even'"),
        ([1, 2], "class_weight must be a dict"),
        ({"ill": -1.0, "fit": 1.0}, "class_weight of 'ill' must be a finite number"),
        ({"ill": np.inf, "fit": 1.0}, "class_weight of 'ill' must be a finite number"),
        ({"ill": 0.0, "fit": 1.0}, "zero for every row of class 'ill'"),
        ({"well": 2.0, "dead": 1.0}, "are not in class_weight"),
    ],
)
def test_invalid_class_weights_are_rejected(class_weight, message):
    with pytest.raises(ValueError, match=message):
        RankBoost(class_weight=class_weight).fit(X, Y)
    # With the message of scikit-learn, if it has one.
    if message == "are not in class_weight":
        with pytest.raises(ValueError, match=message):
            LogisticRegression(class_weight=class_weight).fit(X, Y)


def test_class_weight_is_rejected_for_a_ranker_inside_another():
    inner = RankBoost(n_rounds=5, class_weight="balanced")
    with pytest.raises(ValueError, match="class_weight of member 'pairs' must be None"):
        RankingEnsemble(members=[("pairs", inner)]).fit(X, Y)
    with pytest.raises(ValueError, match="class_weight of the estimator must be None"):
        Scorecard(estimator=inner).fit(X, Y)
    tree = aucrank.TreeRank(max_depth=2, pruning=None, class_weight="balanced")
    with pytest.raises(ValueError, match="class_weight of a weak TreeRank"):
        RankBoost(weak_ranker=tree).fit(X, Y)


def test_an_ensemble_is_distilled_with_its_class_weights():
    members = [("line", aucrank.LinearRanker()), ("pairs", RankBoost(n_rounds=5))]
    model = RankingEnsemble(
        members=members, n_folds=3, class_weight={"ill": 3.0, "fit": 1.0}, random_state=0
    ).fit(X, Y)
    tree, _ = model.distill(aucrank.TreeRank(random_state=0), X, Y, compare=False)
    assert tree.score(X, Y) > 0.7


def test_class_weights_are_saved_in_files(tmp_path):
    model = RankBoost(n_rounds=5, class_weight={"ill": 3.0, "fit": 1.0}).fit(X, Y)
    model.save(tmp_path / "model.json")
    assert aucrank.load(tmp_path / "model.json").class_weight == {"ill": 3.0, "fit": 1.0}
