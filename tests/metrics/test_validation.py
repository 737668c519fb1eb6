"""Measures of a bank's validation: grades, power now and then, population stability."""

import itertools
import json
from collections import Counter

import numpy as np
import pandas as pd
import polars as pl
import pytest
from aucrank import LinearRanker, RankingForest, Scorecard
from aucrank.metrics import (
    auc_decline,
    auc_interval,
    drift,
    expected_auc,
    grade_table,
    population_stability,
    roc_auc_score,
)
from scipy.special import expit
from scipy.stats import chi2, norm

from tests.common.paths import CHECKOUT

EXPECTED = json.loads((CHECKOUT / "tests/metrics/r/grades.json").read_text())


@pytest.fixture(scope="module")
def risk(asah):
    """Return probabilities as in r/grades.R."""
    return expit(-2 + 4 * asah.s100b.to_numpy())


def test_tests_of_grades_equal_those_of_r(asah, risk):
    found = grade_table(asah.poor, risk, bounds=[0.2, 0.3, 0.5])
    for name in ("size", "positives", "expected", "p_binomial", "p_jeffreys"):
        assert found.table[name] == pytest.approx(EXPECTED[name])
    for name in ("observed_low", "observed_high"):
        assert found.table[name] == pytest.approx(EXPECTED[name])
    statistic, p_value = EXPECTED["hosmer_lemeshow"]
    assert (found.hosmer_lemeshow, found.df, found.p_value) == pytest.approx(
        (statistic, 4, p_value)
    )
    whole = [found.whole[name][0] for name in ("p_jeffreys", "p_binomial")]
    assert whole == pytest.approx(EXPECTED["whole"])


def test_weight_k_equals_k_copies_of_a_grade_and_of_an_expected_rate(asah, risk):
    counts = np.arange(len(asah)) % 4
    copies = np.repeat(np.arange(len(asah)), counts)
    y = asah.poor.to_numpy()
    how = {"sample_weight": counts, "weights": "frequency"}
    for bounds in (None, [0.2, 0.4]):
        found = grade_table(y, risk, bounds=bounds, n_grades=3, **how)
        expected = grade_table(y[copies], risk[copies], bounds=bounds, n_grades=3)
        np.testing.assert_array_equal(found.bounds, expected.bounds)
        for name in expected.table:
            assert found.table[name] == pytest.approx(expected.table[name])
        assert found.p_value == pytest.approx(expected.p_value)
    found, expected = expected_auc(risk, **how), expected_auc(risk[copies])
    assert (found.auc, found.standard_error) == pytest.approx(
        (expected.auc, expected.standard_error)
    )
    # Of equal sampling weights, as of none.
    equal = grade_table(y, risk, bounds=[0.2], sample_weight=np.full(len(y), 0.3))
    assert equal.table["p_jeffreys"] == pytest.approx(
        grade_table(y, risk, bounds=[0.2]).table["p_jeffreys"]
    )


def test_fitted_grades_are_monotone_and_lose_little_auc():
    rng = np.random.default_rng(0)
    risk = rng.beta(1, 9, size=20000)
    y = rng.random(20000) < risk
    order = rng.permutation(20000)
    found = grade_table(y, risk, n_grades=6)
    assert len(found.bounds) == 5
    assert np.all(np.diff(found.table["observed"]) > 0)
    assert np.all(np.diff(found.bounds) > 0)
    np.testing.assert_array_equal(
        found.bounds, grade_table(y[order], risk[order], n_grades=6).bounds
    )
    grade = np.searchsorted(found.bounds, risk, side="right")
    assert roc_auc_score(y, grade) > roc_auc_score(y, risk) - 0.015
    assert len(grade_table(y, np.full(20000, 0.1)).bounds) == 0


def test_tests_of_grades_keep_their_level():
    rng = np.random.default_rng(0)
    low = []
    for _ in range(300):
        risk = rng.beta(2, 8, size=2000)
        found = grade_table(rng.random(2000) < risk, risk, bounds=[0.1, 0.2, 0.3])
        low.append([found.p_value < 0.05, *(found.table["p_jeffreys"] < 0.05)])
    # A share of 0.05 of 300 scatters by 0.013; rows of a grade differ, so that it is a little less.
    assert np.mean(low, axis=0) == pytest.approx(0.05, abs=0.04)


def test_the_test_of_declined_power_follows_the_instructions(asah):
    now = auc_interval(asah.poor, asah.s100b)
    found = auc_decline(asah.poor, asah.s100b, 0.85)
    assert found.statistic == pytest.approx((0.85 - now.auc) / now.standard_error)
    assert found.p_value == pytest.approx(norm.sf(found.statistic))
    assert found.gini == pytest.approx(2 * now.auc - 1)
    assert (found.gini_low, found.gini_high) == pytest.approx((2 * now.low - 1, 2 * now.high - 1))
    both = auc_decline(asah.poor, asah.s100b, 0.85, standard_error_then=now.standard_error)
    assert both.statistic == pytest.approx(found.statistic / np.sqrt(2))


def test_the_expected_auc_is_the_ratio_of_pairs_and_that_of_labels_to_come():
    rng = np.random.default_rng(0)
    p = rng.beta(2, 5, size=120).round(2)
    for score in (p, rng.normal(size=120).round(1) + 2 * p):
        found = expected_auc(p, score)
        wins = (score[:, None] > score) + 0.5 * (score[:, None] == score)
        pairs = p[:, None] * (1 - p)
        np.fill_diagonal(pairs, 0)
        assert found.auc == pytest.approx((wins * pairs).sum() / pairs.sum())
        labels = rng.random((2000, 120)) < p
        areas = [roc_auc_score(y, score) for y in labels]
        assert found.auc == pytest.approx(np.mean(areas), abs=0.005)
        assert found.standard_error == pytest.approx(np.std(areas), rel=0.1)
        assert np.mean((np.array(areas) > found.low) & (np.array(areas) < found.high)) > 0.92


def psi(then, now):
    return ((now - then) * np.log(now / then)).sum()


def test_stability_is_that_of_the_formula():
    rng = np.random.default_rng(0)
    then, now = rng.normal(size=1000), rng.normal(0.2, size=300)
    tenths = np.quantile(then, np.arange(1, 10) / 10, method="inverted_cdf")
    # A bin begins with the value behind the quantile.
    edges = np.array([then[then > tenth].min() for tenth in tenths])
    shares = [
        np.bincount(np.searchsorted(edges, x, side="right"), minlength=10) / len(x)
        for x in (then, now)
    ]
    found = population_stability(then, now)
    assert found.psi == pytest.approx(psi(*shares))
    assert found.table["then"] == pytest.approx(shares[0])
    assert found.p_value == pytest.approx(chi2.sf(found.psi / (1 / 1000 + 1 / 300), 9))
    categories = population_stability(["a"] * 6 + ["b"] * 3 + [None], ["b"] * 4 + ["c"] * 4)
    assert categories.table["bin"].tolist() == ["a", "b", "c", "missing"]
    expected = psi(np.array([0.6, 0.3, 0.05, 0.1]), np.array([1 / 16, 0.5, 0.5, 1 / 16]))
    assert categories.psi == pytest.approx(expected)
    few = population_stability([1, 2, 2, np.nan], [1, 1, 2, 2], n_bins=3)
    assert few.table["then"].tolist() == [0.25, 0.5, 0.25]
    infinite = population_stability([-np.inf, 0, np.inf], [-np.inf, -np.inf, np.inf])
    assert infinite.table["now"].tolist() == pytest.approx([2 / 3, 0, 1 / 3])
    weights = rng.integers(0, 3, 1000)
    weighted = population_stability(then, now, sample_weight_then=weights)
    assert weighted.psi == pytest.approx(population_stability(np.repeat(then, weights), now).psi)


def test_the_test_of_stability_keeps_its_level():
    rng = np.random.default_rng(0)
    found = [
        population_stability(rng.normal(size=2000), rng.normal(size=500)).p_value
        for _ in range(300)
    ]
    assert np.mean(np.array(found) < 0.1) == pytest.approx(0.1, abs=0.05)


@pytest.mark.parametrize(
    ("n_levels", "n_then", "n_now"),
    [(2, 200, 100), (20, 100, 100), (400, 2000, 2000), (60, 900, 90)],
)
def test_many_categories_alone_are_not_drift(n_levels, n_then, n_now):
    rng = np.random.default_rng(0)
    share = 1 / np.arange(1, n_levels + 1)
    found = np.array(
        [
            population_stability(
                rng.choice(n_levels, n_then, p=share / share.sum()).astype(str),
                rng.choice(n_levels, n_now, p=share / share.sum()).astype(str),
            ).p_value
            for _ in range(120)
        ]
    )
    # 120 fair coins of .05 have more than 14 heads once in 1,700 times, and of .5 few beyond 80.
    assert (found < 0.05).sum() <= 14
    assert 40 <= (found < 0.5).sum() <= 80


def test_drift_is_found_with_few_rows_per_category():
    rng = np.random.default_rng(0)
    then, now = rng.integers(400, size=2000), rng.integers(300, size=2000)
    found = population_stability(then.astype(str), now.astype(str))
    assert found.p_value < 1e-6
    # Names and order of the levels do not matter.
    again = population_stability((1000 - then).astype(str)[::-1], (1000 - now).astype(str))
    assert again.p_value == pytest.approx(found.p_value)


def test_the_p_value_of_few_rows_is_that_of_all_permutations():
    then, now = np.repeat(["a", "b", "c"], [5, 2, 1]), np.repeat(["a", "b", "c"], [1, 3, 2])
    rows = np.sort(np.r_[then, now])
    found = population_stability(then, now)
    # Of the 3,003 ways to choose rows, most have the same numbers of each category.
    ways = Counter(rows[list(kept)].tobytes() for kept in itertools.combinations(range(14), 8))
    n_higher = 0
    for chosen, n_ways in ways.items():
        kept = np.frombuffer(chosen, dtype=rows.dtype)
        others = list((Counter(rows.tolist()) - Counter(kept.tolist())).elements())
        n_higher += n_ways * (population_stability(kept, others).psi >= found.psi - 1e-12)
    assert found.p_value == pytest.approx(n_higher / ways.total(), abs=0.03)


def frames(kind):
    rng = np.random.default_rng(0)
    then = pd.DataFrame(
        {"income": rng.normal(size=1500), "kind": rng.choice(["a", "b", "c"], 1500)}
    )
    y = then.income + (then.kind == "b") + rng.normal(size=1500) > 0.5
    now = then[:600].assign(income=then.income[:600] + np.where(np.arange(600) < 300, 0, 1.2))
    return (then, now, y) if kind == "pandas" else (pl.from_pandas(then), pl.from_pandas(now), y)


@pytest.mark.parametrize("kind", ["pandas", "polars"])
@pytest.mark.parametrize("ranker", [LinearRanker(), RankingForest(n_estimators=10), Scorecard()])
def test_drift_of_a_ranker_is_that_of_its_score_and_columns(kind, ranker):
    then, now, y = frames(kind)
    ranker.fit(then, y)
    month = np.repeat(["2026-01", "2026-02"], 300)
    found = drift(ranker, then, now, period=month)
    assert found.score["period"].tolist() == ["2026-01", "2026-02"]
    assert found.score["verdict"].tolist() == ["stable", "shifted"]
    assert found.features["feature"].tolist()[2] == "income"
    own = population_stability(ranker.decision_function(then), ranker.decision_function(now)[300:])
    assert found.score["psi"][1] == pytest.approx(own.psi)
    income = population_stability(then["income"].to_numpy(), now["income"].to_numpy()[300:])
    assert found.features["psi"][2] == pytest.approx(income.psi)
    assert drift(ranker, then, then).score["psi"].tolist() == [0]


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda y, p: grade_table(y, p, bounds=[0.3, 0.2]), "bounds must be"),
        (lambda y, p: grade_table(y, p, bounds=[0, 0.2]), "bounds must be"),
        (lambda y, p: grade_table(y, p, n_grades=1), "n_grades == 1"),
        (lambda y, p: grade_table(y, p + 1), "y_prob of row 0"),
        (lambda y, p: auc_decline(y, p, 1.2), "auc_then is 1.2"),
        (lambda y, p: auc_decline(y, p, 0.7, standard_error_then=-1), "standard_error_then is -1"),
        (lambda y, p: expected_auc(p * 0), "no pair"),
        (lambda y, p: expected_auc(p, p[:3]), "y_score has 3 entries"),
        (lambda y, p: population_stability([], [1.0]), "then has no row with weight"),
        (lambda y, p: population_stability(p, p, n_bins=1), "n_bins == 1"),
    ],
)
def test_bad_input_is_named_in_the_error(asah, risk, call, said):
    with pytest.raises(ValueError, match=said):
        call(asah.poor, risk)


def test_errors_of_drift_name_the_bad_input():
    then, now, y = frames("pandas")
    ranker = LinearRanker().fit(then, y)
    with pytest.raises(ValueError, match="but X_now has"):
        drift(ranker, then, now[["income"]])
    with pytest.raises(ValueError, match="period has 2 entries"):
        drift(ranker, then, now, period=[1, 2])
    with pytest.raises(ValueError, match="the period of row 3 is missing"):
        drift(ranker, then, now, period=[1.0, 1, 1, np.nan] * 150)
    with pytest.raises(ValueError, match="zero for every row of period"):
        drift(
            ranker,
            then,
            now,
            period=np.arange(600) % 2,
            sample_weight_now=np.arange(600) % 2,
        )
