"""Explanations mean one thing: the parts of a row and the base score add up to its score."""

import numpy as np
import pytest
from aucrank import (
    AURORA,
    RIMARC,
    AUCBoost,
    GradientBoostingRanker,
    IntegerScore,
    LinearRanker,
    RankBoost,
    RankOpt,
    Scorecard,
)
from aucrank._base.registry import public_estimators
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer

X, Y = load_breast_cancer(return_X_y=True)

#: Sums of multiples of a power of two: exact in any order.
EXACT = {
    "AUCBoost": AUCBoost(n_rounds=20),
    "RankBoost": RankBoost(n_rounds=30),
    "GradientBoostingRanker": GradientBoostingRanker(n_rounds=30, interactions=0),
    "GradientBoostingRanker of pairs": GradientBoostingRanker.additive(
        n_rounds=60, interactions=5, n_bags=2, random_state=0
    ),
    "AURORA": AURORA(radius=1.5, depth="shallow", max_features=8),
    "LinearRanker": LinearRanker(),
    "LinearRanker of large weights": LinearRanker(C=1e6, thresholds=None),
}
#: A quotient, points over a factor, products: their parts are rounded.
ROUNDED = {
    "RIMARC": RIMARC(),
    "Scorecard": Scorecard(),
    "Scorecard of bad luck": Scorecard(estimator=RankBoost(n_rounds=20), high_points="negative"),
    "IntegerScore": IntegerScore(high_points="negative"),
    "RankOpt": RankOpt(radii=(1.0,)),
}


def explained(model):
    model = clone(model).fit(X, Y)
    return model.explain(X).sum(axis=1) + model.base_score_, model.decision_function(X)


def test_every_estimator_with_explain_is_tested():
    # An ensemble has no such method: its error names the alternative.
    explaining = {
        name for name, cls in public_estimators().items() if callable(getattr(cls, "explain", None))
    }
    assert explaining == {type(model).__name__ for model in (EXACT | ROUNDED).values()}


@pytest.mark.parametrize("name", EXACT)
def test_parts_and_base_score_add_up_to_the_score_exactly(name):
    found, scores = explained(EXACT[name])
    np.testing.assert_array_equal(found, scores)


@pytest.mark.parametrize("name", ROUNDED)
def test_parts_and_base_score_add_up_to_the_score_up_to_rounding(name):
    found, scores = explained(ROUNDED[name])
    np.testing.assert_allclose(found, scores, rtol=0, atol=4e-14 * max(1, np.abs(scores).max()))
