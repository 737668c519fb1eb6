"""Probabilities against outcomes."""

import numpy as np
import pytest
from aucrank import report
from aucrank._report.calibration import measure_calibration
from aucrank._utils.shares import wilson
from aucrank.metrics import calibration_curve, decision_curve
from scipy.special import expit
from scipy.stats import binomtest, norm
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import brier_score_loss

from tests.common.reports import target_of


@pytest.mark.parametrize(("k", "n"), [(0, 5), (3, 7), (50, 50), (123, 1000)])
@pytest.mark.parametrize("confidence", [0.8, 0.95])
def test_wilson_is_that_of_scipy(k, n, confidence):
    low, high = wilson(np.array([k / n]), np.array([float(n)]), confidence)
    expected = binomtest(k, n).proportion_ci(confidence, method="wilson")
    assert (low[0], high[0]) == pytest.approx((expected.low, expected.high), abs=1e-12)


def sample(n=1000, seed=0):
    rng = np.random.default_rng(seed)
    probability = rng.beta(1, 3, n).round(2)
    return probability, rng.random(n) < probability


def test_figures_are_those_of_the_definitions():
    probability, positive = sample()
    found = measure_calibration(probability, target_of(positive), 0.95)
    assert found.brier == pytest.approx(brier_score_loss(positive, probability))
    rate = positive.mean()
    assert found.brier_skill == pytest.approx(1 - found.brier / (rate * (1 - rate)))
    assert (found.expected, found.observed) == pytest.approx((probability.sum(), positive.sum()))
    z = (positive.sum() - probability.sum()) / np.sqrt((probability * (1 - probability)).sum())
    assert found.p_value == pytest.approx(2 * norm.sf(abs(z)))


def test_groups_are_ranges_of_probability_that_keep_ties_together():
    probability, positive = sample()
    found = measure_calibration(probability, target_of(positive), 0.95)
    bins = found.bins
    assert bins["size"].sum() == len(positive)
    gaps = [
        abs(p - o) * n
        for p, o, n in zip(bins["predicted"], bins["observed"], bins["size"], strict=True)
    ]
    assert found.gap == pytest.approx(sum(gaps) / len(positive))
    assert (bins["low"][1:] > bins["high"][:-1]).all()
    for low, high, size, predicted, observed in zip(
        *(bins[name] for name in ("low", "high", "size", "predicted", "observed")), strict=True
    ):
        inside = (low <= probability) & (probability <= high)
        assert size == inside.sum()
        assert predicted == pytest.approx(probability[inside].mean())
        assert observed == pytest.approx(positive[inside].mean())
    # None is much larger than a tenth: no probability has more than 5 % of the rows.
    assert bins["size"].max() < 0.15 * len(positive)


def test_weights_are_repeated_rows_but_for_the_interval():
    probability, positive = sample(300)
    weight = np.random.default_rng(1).integers(1, 4, 300)
    once = measure_calibration(probability, target_of(positive, weight), 0.95)
    many = measure_calibration(
        np.repeat(probability, weight), target_of(np.repeat(positive, weight)), 0.95
    )
    assert once.brier == pytest.approx(many.brier)
    for name in ("size", "predicted", "observed"):
        np.testing.assert_allclose(once.bins[name], many.bins[name])
    # Copies of a row add no information.
    assert (once.bins["observed_high"] - once.bins["observed_low"]).sum() > (
        many.bins["observed_high"] - many.bins["observed_low"]
    ).sum()


def test_probabilities_of_0_and_1_have_no_chance_to_differ():
    positive = np.array([False, True, True, False])
    found = measure_calibration(positive.astype(float), target_of(positive), 0.95)
    assert np.isnan(found.p_value)
    assert (found.brier, found.brier_skill) == (0, 1)


def test_the_page_describes_miscalibration_and_net_benefit():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(800, 2))
    y = (rng.random(800) < expit(X[:, 0] - 1)).astype(int)
    model = LogisticRegression(C=1e6).fit(X[:400], y[:400])
    found = report({"logistic": model}, X[400:], y[400:])
    p = model.predict_proba(X[400:])[:, 1]
    curve = calibration_curve(y[400:], p)
    assert f"{curve.slope:.3f} (" in found.html
    assert f"{100 * curve.ici:.2f}%" in found.html
    decisions = decision_curve(y[400:], p).table
    benefit = decisions["net_benefit"][(decisions["model"] == "model")][19]
    assert decisions["threshold"][19] == 0.2
    assert f"+{benefit:.4f} (" in found.html
