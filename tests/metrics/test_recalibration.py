"""Probabilities that are made right at another place."""

import numpy as np
import pytest
from aucrank.metrics import at_prevalence, calibration_curve, recalibration
from scipy.optimize import brentq
from scipy.special import expit, logit
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import brier_score_loss, log_loss
from sklearn.model_selection import StratifiedKFold


def sample(n=600, *, intercept=0.0, slope=1.0, seed=0):
    """Return labels whose log-odds are a line of those of the probabilities."""
    rng = np.random.default_rng(seed)
    log_odds = rng.normal(-0.5, 1.2, size=n)
    return (rng.random(n) < expit(intercept + slope * log_odds)).astype(int), expit(log_odds)


def row(found, method):
    place = found.steps["method"].tolist().index(method)
    return {name: column[place] for name, column in found.steps.items()}


def test_steps_are_regressions_on_the_log_odds():
    y, p = sample(intercept=0.7, slope=0.6)
    weights = np.random.default_rng(1).integers(1, 4, len(y)).astype(float)
    found = recalibration(y, p, method="slope", sample_weight=weights)
    line = LogisticRegression(C=np.inf, tol=1e-10).fit(logit(p)[:, None], y, weights)
    assert (found.intercept, found.slope) == pytest.approx(
        (line.intercept_[0], line.coef_[0, 0]), rel=1e-4
    )
    np.testing.assert_allclose(
        found.probability(p), line.predict_proba(logit(p)[:, None])[:, 1], rtol=1e-4
    )
    in_large = recalibration(y, p, method="intercept", sample_weight=weights)
    expected = brentq(lambda a: np.average(expit(logit(p) + a) - y, weights=weights), -5, 5)
    assert (in_large.intercept, in_large.slope) == (pytest.approx(expected), 1.0)
    assert np.average(in_large.probability(p), weights=weights) == pytest.approx(
        np.average(y, weights=weights)
    )
    assert recalibration(y, p, method="none").probability(p) == pytest.approx(p)
    after = calibration_curve(y, found.probability(p), sample_weight=weights)
    assert (after.intercept, after.slope) == pytest.approx((0, 1), abs=1e-6)


def test_gains_are_of_rows_that_were_left_out():
    y, p = sample(400, slope=0.5)
    found = recalibration(y, p, method="slope", random_state=3)
    left_out, seed = np.empty(400), np.random.RandomState(3).randint(2**31 - 1)
    for others, fold in StratifiedKFold(10, shuffle=True, random_state=seed).split(p, y):
        line = LogisticRegression(C=np.inf, tol=1e-10).fit(logit(p[others])[:, None], y[others])
        left_out[fold] = line.predict_proba(logit(p[fold])[:, None])[:, 1]
    step = row(found, "slope")
    assert step["log_loss"] == pytest.approx(log_loss(y, left_out), rel=1e-5)
    assert step["brier"] == pytest.approx(brier_score_loss(y, left_out), rel=1e-5)
    assert step["gain"] == pytest.approx(log_loss(y, p) - log_loss(y, left_out), rel=1e-3)
    # Of the differences of two losses a row.
    per_row = [-(y * np.log(q) + (1 - y) * np.log(1 - q)) for q in (p, left_out)]
    error = np.std(per_row[0] - per_row[1], ddof=1) / 20
    assert step["standard_error"] == pytest.approx(error, rel=1e-3)
    assert row(found, "none")["gain"] == 0


def test_the_closed_test_keeps_its_level_and_finds_what_changed():
    kinds = [recalibration(*sample(300, seed=seed)).method for seed in range(80)]
    # Five in a hundred, give or take 3.5 standard errors.
    assert sum(kind != "none" for kind in kinds) <= 4 + 3.5 * np.sqrt(80 * 0.05 * 0.95)
    shifted = [recalibration(*sample(300, intercept=1, seed=seed)).method for seed in range(15)]
    assert shifted.count("intercept") in (12, 13, 14, 15)
    assert shifted.count("none") == 0
    spread = [recalibration(*sample(600, slope=0.4, seed=seed)).method for seed in range(15)]
    assert spread.count("slope") in (13, 14, 15)


def test_the_statistics_of_the_test_are_those_of_likelihood_ratios_without_groups():
    y, p = sample(20_000, intercept=0.02, slope=1.02)
    found = recalibration(y, p)
    log_odds = logit(p)[:, None]
    line = LogisticRegression(C=np.inf, tol=1e-12).fit(log_odds, y)
    best = log_loss(y, line.predict_proba(log_odds)[:, 1], normalize=False)
    in_large = recalibration(y, p, method="intercept").probability(p)
    from scipy.stats import chi2

    for method, q, df in [("none", p, 2), ("intercept", in_large, 1)]:
        ratio = 2 * (log_loss(y, q, normalize=False) - best)
        assert row(found, method)["p_value"] == pytest.approx(chi2.sf(ratio, df), rel=0.1)


def test_rows_of_a_group_do_not_count_as_many():
    y, p = sample(150, intercept=0.4)
    place = np.repeat(np.arange(150), 6)
    alone = recalibration(y, p)
    copies = recalibration(y[place], p[place])
    whole = recalibration(y[place], p[place], groups=place)
    for method in ("none", "intercept"):
        p_value = row(alone, method)["p_value"]
        assert row(copies, method)["p_value"] < p_value
        # Both are corrected by n / (n - 1), for their own number of units.
        assert row(whole, method)["p_value"] == pytest.approx(p_value, rel=1e-6)


def test_isotonic_rises_and_follows_a_curve():
    rng = np.random.default_rng(0)
    p = np.round(rng.random(20_000) * 0.98 + 0.01, 3)
    y = rng.random(20_000) < np.where(p < 0.5, 0.1, 0.6)
    found = recalibration(y, p, method="isotonic")
    order = np.argsort(p, kind="stable")
    new = found.probability(p)
    assert (np.diff(new[order]) >= 0).all()
    assert np.array_equal(new[p == 0.3], np.full((p == 0.3).sum(), new[p == 0.3][0]))
    assert found.probability([0.2, 0.8]) == pytest.approx([0.1, 0.6], abs=0.03)
    assert np.isnan([found.intercept, found.slope]).all()
    assert row(found, "isotonic")["log_loss"] < row(found, "slope")["log_loss"]


def test_a_prevalence_follows_from_the_theorem_of_bayes():
    # Of 100,000 rows, one positive in 100; all positives and one negative in 33 are kept.
    rng = np.random.default_rng(0)
    log_odds = rng.normal(-5.5, 1, size=200_000)
    y = rng.random(200_000) < expit(log_odds)
    kept = y | (rng.random(200_000) < 0.03)
    shares = y[kept].mean(), y.mean()
    # What a right model of the rows kept says.
    of_kept = expit(log_odds - np.log(0.03))
    assert of_kept[kept].mean() == pytest.approx(shares[0], rel=0.05)
    found = at_prevalence(of_kept, training=shares[0], use=shares[1])
    np.testing.assert_allclose(found, expit(log_odds), rtol=0.05)
    assert at_prevalence([0.0, 1.0], training=0.5, use=0.1).tolist() == [0.0, 1.0]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda y, p: recalibration(y, p, method="platt"), "method is 'platt'"),
        (lambda y, p: recalibration(y, 2 * p), "y_prob of row"),
        (lambda y, p: recalibration(y, 1 - p, method="slope"), "rank these rows in reverse"),
        (lambda y, p: recalibration(y, 0 * p + 0.3, method="slope"), "or are all the same"),
        (lambda y, p: recalibration(y, p[:-1]), "y_prob has 59"),
        (lambda y, p: at_prevalence(p, training=0.5, use=1.0), "use is 1.0"),
        (lambda y, p: at_prevalence(-p, training=0.5, use=0.1), "y_prob of row 0"),
        (lambda y, p: recalibration(y, p).probability([0.5, np.nan]), "y_prob of row 1"),
    ],
)
def test_bad_input_is_named_in_the_error(call, message):
    with pytest.raises(ValueError, match=message):
        call(*sample(60))


def test_probabilities_that_are_all_alike_can_be_shifted():
    y, p = sample(100)
    found = recalibration(y, np.full(100, 0.5), method="intercept")
    assert found.probability([0.5])[0] == pytest.approx(y.mean())
    assert np.isnan(row(found, "slope")["log_loss"])
    assert recalibration(y, np.full(100, 0.5)).method == "none"
    # Reversed, a line is not offered.
    assert recalibration(y, 1 - p, method="intercept").slope == 1
