"""Tests of two curves, of their points, of smoothed ones and of models over data sets.

What pROC and R's stats give on aSAH is made by r/curves.R.
"""

import json

import numpy as np
import pytest
from aucrank.metrics import (
    RocCurve,
    auc_interval,
    compare_over_sets,
    mcnemar_test,
    rate_compare,
    roc_compare,
    smooth_roc,
)
from scipy.stats import norm

from tests.common.paths import CHECKOUT

EXPECTED = json.loads((CHECKOUT / "tests/metrics/r/curves.json").read_text())
GRID = [0.05, 0.2, 0.5, 0.8]


@pytest.fixture(scope="module")
def untied(asah):
    """Return labels and two scores without ties, as in r/curves.R."""
    place = np.arange(1, len(asah) + 1)
    return asah.poor.to_numpy(), asah.s100b + 1e-6 * place, asah.ndka + 1e-4 * place


def venkatraman(y, first, second):
    """Statistic of a paired comparison without ties by the definition: errors at each rank."""
    errors = []
    for score in (first, second):
        below = score <= np.sort(score)[:, None]
        errors.append((below & y).sum(1) + (~below & ~y).sum(1))
    return np.abs(errors[0] - errors[1]).sum()


def test_the_paired_test_is_that_of_proc(untied):
    y, first, second = untied
    found = roc_compare(y, first, second, n_permutations=4000, random_state=0)
    statistic, p_value = EXPECTED["venkatraman_paired"]
    assert found.statistic == pytest.approx(statistic)
    assert found.statistic == pytest.approx(venkatraman(y, first.to_numpy(), second.to_numpy()))
    # Of 4000 permutations in either, a share of 0.14 scatters by 0.0055.
    assert found.p_value == pytest.approx(p_value, abs=0.025)
    assert found.paired


def test_the_test_of_two_samples_is_that_of_proc(untied):
    y, first, second = (np.asarray(values) for values in untied)
    odd, even = np.arange(0, 112, 2), np.arange(1, 112, 2)
    found = roc_compare(
        y[odd], first[odd], second[even], y_true_2=y[even], n_permutations=4000, random_state=0
    )
    statistic, p_value = EXPECTED["venkatraman_apart"]
    # pROC leaves out what is below the first rows, a step of about 1/56 in either direction.
    assert found.statistic == pytest.approx(statistic, abs=1e-3)
    assert found.p_value == pytest.approx(p_value, abs=0.025)
    assert not found.paired


@pytest.mark.parametrize("apart", [False, True])
def test_tests_of_equal_curves_keep_their_level(apart):
    found = []
    for seed in range(200):
        rng = np.random.default_rng(seed)
        y = np.repeat([0, 1], [40, 30])
        own = y + rng.normal(size=70)
        scores = [(own + 0.7 * rng.normal(size=70)).round(1) for _ in range(2)]
        how = {"n_permutations": 99, "random_state": seed}
        if apart:
            place = rng.permutation(70)
            fresh = (y + 1.2 * rng.normal(size=70)).round(1)
            how["y_true_2"] = y[place]
            scores = [(y + 1.2 * rng.normal(size=70)).round(1), fresh[place]]
        found.append(roc_compare(y, *scores, **how).p_value)
    # Of 200, shares scatter by 0.021 and 0.035.
    assert np.mean(np.array(found) <= 0.1) == pytest.approx(0.1, abs=0.06)
    assert np.mean(np.array(found) <= 0.5) == pytest.approx(0.5, abs=0.1)


def test_row_order_and_copies_do_not_change_a_test(asah):
    y, first, second = asah.poor.to_numpy(), asah.wfns.to_numpy(), asah.s100b.to_numpy()
    order = np.random.default_rng(0).permutation(len(y))
    counts = np.arange(len(y)) % 3
    copies = np.repeat(np.arange(len(y)), counts)
    counted = {"sample_weight": counts, "weights": "frequency"}
    for test, how in (
        (roc_compare, {"n_permutations": 50}),
        (rate_compare, {"specificity": 0.9, "n_resamples": 50}),
        (rate_compare, {"sensitivity": 0.6, "n_resamples": 50}),
    ):
        how |= {"random_state": 0}
        assert test(y, first, second, **how) == test(y[order], first[order], second[order], **how)
        assert test(y, first, second, **how, **counted) == test(
            y[copies], first[copies], second[copies], **how
        )
        whole = {**how, "y_true_2": y, "sample_weight_2": counts}
        assert test(y, first, second, **whole, **counted) == test(
            y[copies], first[copies], second[copies], y_true_2=y[copies], **how
        )
    cuts = 3, 0.2
    of_counts = mcnemar_test(y, first, second, cuts, **counted).table
    of_copies = mcnemar_test(y[copies], first[copies], second[copies], cuts).table
    for name in list(of_counts)[1:]:
        assert of_counts[name] == pytest.approx(of_copies[name])
    for method in ("binormal", "density"):
        how = {"method": method, "n_resamples": 20, "random_state": 0}
        plain = smooth_roc(y, second, **how)
        moved = smooth_roc(y[order], second[order], **how)
        np.testing.assert_array_equal(plain.tpr_low, moved.tpr_low)
        assert smooth_roc(y, second, **how, **counted).low == pytest.approx(
            smooth_roc(y[copies], second[copies], **how).low
        )


def test_groups_are_permuted_and_resampled_as_a_whole(untied):
    y, first, second = (np.asarray(values) for values in untied)
    place = np.repeat(np.arange(len(y)), 4)
    how = {"n_permutations": 1000, "random_state": 0}
    plain = roc_compare(y, first, second, **how).p_value
    of_copies = roc_compare(y[place], first[place], second[place], **how).p_value
    of_groups = roc_compare(y[place], first[place], second[place], groups=place, **how).p_value
    assert of_copies < 0.05
    assert of_groups == pytest.approx(plain, abs=0.05)
    how = {"specificity": 0.8, "random_state": 0}
    plain = rate_compare(y, first, second, **how).standard_error
    of_groups = rate_compare(y[place], first[place], second[place], groups=place, **how)
    assert of_groups.standard_error == pytest.approx(plain, rel=0.1)
    cuts = 0.2, 12
    plain = mcnemar_test(y, first, second, cuts).table
    of_groups = mcnemar_test(y[place], first[place], second[place], cuts, groups=place).table
    for name in ("chi_square", "low", "high"):
        assert of_groups[name] == pytest.approx(plain[name])
    weighted = mcnemar_test(y, first, second, cuts, sample_weight=np.full(len(y), 2.5)).table
    assert weighted["chi_square"] == pytest.approx(plain["chi_square"])
    assert np.isnan(weighted["p_exact"]).all()


@pytest.mark.parametrize("rate", ["sensitivity", "specificity"])
def test_rates_at_a_point_are_those_of_proc(untied, rate):
    y, first, second = untied
    at = {"specificity": 0.8} if rate == "sensitivity" else {"sensitivity": 0.7}
    found = rate_compare(y, first, second, **at, n_resamples=4000, random_state=0)
    place = 0 if rate == "sensitivity" else 1
    assert found.rate == rate
    assert found.rate_1 == pytest.approx(EXPECTED["at_first"][place])
    assert found.rate_2 == pytest.approx(EXPECTED["at_second"][place])
    z, p_value = EXPECTED[rate]
    # Deviations of 4000 resamples scatter by 1.1 %.
    assert found.z == pytest.approx(z, rel=0.06)
    assert found.p_value == pytest.approx(p_value, abs=0.03)


def test_rates_of_two_samples_are_those_of_proc(untied):
    y, first, second = (np.asarray(values) for values in untied)
    odd, even = np.arange(0, 112, 2), np.arange(1, 112, 2)
    found = rate_compare(
        y[odd],
        first[odd],
        second[even],
        y_true_2=y[even],
        specificity=0.8,
        n_resamples=4000,
        random_state=0,
    )
    z, _ = EXPECTED["sensitivity_apart"]
    assert found.z == pytest.approx(z, rel=0.06)


def test_mcnemars_test_is_that_of_r(asah):
    found = mcnemar_test(asah.poor, asah.s100b, asah.ndka, (0.2, 12)).table
    for row, name in enumerate(("mcnemar_of_positives", "mcnemar_of_negatives")):
        p_value, p_exact = EXPECTED[name]
        assert found["p_value"][row] == pytest.approx(p_value)
        assert found["p_exact"][row] == pytest.approx(p_exact)
    right = np.array([asah.s100b >= 0.2, asah.ndka >= 12]) == asah.poor.to_numpy()
    for row, rows in enumerate((asah.poor, ~asah.poor)):
        own = right[:, rows]
        assert found["rate_1"][row] == pytest.approx(own[0].mean())
        gap = own[0] * 1.0 - own[1]
        reach = 1.959964 * gap.std(ddof=1) / np.sqrt(len(gap))
        assert found["high"][row] - found["difference"][row] == pytest.approx(reach)


def test_smooth_curves_are_those_of_proc(asah):
    how = {"fpr": GRID, "n_resamples": 200, "random_state": 0}
    found = smooth_roc(asah.poor, asah.s100b, **how)
    area, *rates = EXPECTED["binormal"]
    # pROC adds up trapezoids between 100,001 points.
    assert found.auc == pytest.approx(area, abs=1e-4)
    assert found.tpr == pytest.approx(rates, abs=1e-4)
    a, b = EXPECTED["binormal_line"]
    assert (found.intercept, found.slope) == pytest.approx((-a / b, -1 / b))
    found = smooth_roc(asah.poor, asah.ndka, method="density", **how)
    area, *rates = EXPECTED["density"]
    # Both put scores on a grid.
    assert found.auc == pytest.approx(area, abs=2e-3)
    assert found.tpr == pytest.approx(rates, abs=5e-3)


def test_a_density_is_that_of_kernels_about_each_row(asah):
    y, score = asah.poor.to_numpy(), np.log(asah.s100b.to_numpy())
    found = smooth_roc(y, score, method="density", bandwidth=0.4, n_resamples=2, random_state=0)
    gaps = score[y][:, None] - score[~y]
    assert found.auc == pytest.approx(norm.cdf(gaps / (0.4 * np.sqrt(2))).mean(), abs=1e-4)
    assert found.bandwidth == 0.4


@pytest.mark.parametrize("method", ["binormal", "density"])
def test_smooth_curves_of_normal_scores_recover_the_true_curve(method):
    held, areas = 0, []
    for seed in range(100):
        rng = np.random.default_rng(seed)
        y = np.repeat([0, 1], 80)
        found = smooth_roc(
            y, rng.normal(loc=y), method=method, fpr=[0.2], n_resamples=100, random_state=0
        )
        truth = norm.cdf(1 / np.sqrt(2))
        held += found.low <= truth <= found.high
        areas.append(found.auc)
        assert found.tpr_low[0] <= found.tpr[0] <= found.tpr_high[0]
    # Of 100 samples, a share of 0.95 scatters by 0.022; 100 resamples have rough ends.
    assert held >= 86
    assert np.std(areas) == pytest.approx(found.standard_error, rel=0.4)
    # Smoothing with kernels takes a little off the area.
    assert np.mean(areas) == pytest.approx(truth, abs=0.025)


def test_smooth_curves_are_close_to_the_curve_of_many_rows():
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], 20000)
    score, weight = rng.normal(loc=1.5 * y), rng.integers(1, 3, y.size)
    curve = RocCurve.from_scores(y, score, sample_weight=weight)
    for method in ("binormal", "density"):
        found = smooth_roc(
            y, score, method=method, sample_weight=weight, fpr=GRID, n_resamples=3, random_state=0
        )
        assert found.tpr == pytest.approx(curve.tpr_at(GRID), abs=0.015)
        assert found.auc == pytest.approx(curve.auc, abs=0.01)
        of_groups = smooth_roc(
            y, score, method=method, groups=np.arange(y.size) // 4, n_resamples=3, random_state=0
        )
        assert of_groups.auc == pytest.approx(auc_interval(y, score).auc, abs=0.01)


# Areas of four variants of a classifier, of which table 6 of Demsar (2006) has the mean ranks.
AREAS = np.array(
    [
        [0.763, 0.768, 0.771, 0.798],
        [0.599, 0.591, 0.590, 0.569],
        [0.954, 0.971, 0.968, 0.967],
        [0.628, 0.661, 0.654, 0.657],
        [0.882, 0.888, 0.886, 0.898],
        [0.936, 0.931, 0.916, 0.931],
        [0.661, 0.668, 0.609, 0.685],
        [0.583, 0.583, 0.563, 0.625],
        [0.775, 0.838, 0.866, 0.875],
        [1.000, 1.000, 1.000, 1.000],
        [0.940, 0.962, 0.965, 0.962],
        [0.619, 0.666, 0.614, 0.669],
        [0.972, 0.981, 0.9751, 0.975],
        [0.957, 0.978, 0.946, 0.970],
    ]
)


def test_models_over_data_sets_have_the_figures_of_r_and_of_demsar():
    found = compare_over_sets({name: AREAS[:, k] for k, name in enumerate("abcd")})
    assert found.models["mean_rank"] == pytest.approx(EXPECTED["mean_ranks"])
    assert found.models["mean_rank"] == pytest.approx([3.143, 2.000, 2.893, 1.964], abs=1e-3)
    assert (found.chi_square, found.p_value) == pytest.approx(EXPECTED["friedman"])
    assert found.pairs["p_value"] == pytest.approx(EXPECTED["wilcoxon"])
    assert found.pairs["p_holm"] == pytest.approx(EXPECTED["holm"])
    assert found.pairs["model"].tolist() == ["a", "a", "a", "b", "b", "c"]
    # Section 3.2.2 there.
    assert found.critical_difference == pytest.approx(1.25, abs=0.01)
    assert found.n_sets == 14
    assert found.models["wins"].sum() == pytest.approx(14)
    two = compare_over_sets({"a": AREAS[:, 0], "b": AREAS[:, 3]})
    assert np.isnan(two.chi_square)
    assert two.pairs["p_value"] == pytest.approx(EXPECTED["wilcoxon"][2])


Y = np.array([0, 0, 1, 1, 0, 1])
S = np.array([1.0, 2, 3, 4, 5, 6])


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: roc_compare(Y, S, S[:3]), "y_score_2 has 3 entries, but y_true has 6"),
        (lambda: roc_compare(Y, S * np.nan, S), "y_score_1 of row 0 is NaN"),
        (lambda: roc_compare(Y, S, S, sample_weight_2=Y), "sample_weight_2 needs y_true_2"),
        (lambda: roc_compare(Y, S, S, y_true_2=Y, groups=Y), "groups are for a paired comparison"),
        (lambda: roc_compare(Y, S, S, n_permutations=0), "n_permutations == 0"),
        (lambda: roc_compare(Y * 0, S, S), "class"),
        (lambda: rate_compare(Y, S, S), "one of specificity and sensitivity"),
        (lambda: rate_compare(Y, S, S, specificity=0.5, sensitivity=0.5), "and not both"),
        (lambda: rate_compare(Y, S, S, specificity=1.5), "specificity == 1.5"),
        (lambda: rate_compare(Y, S, S, specificity=0.5, groups_2=Y), "groups_2 needs y_true_2"),
        (lambda: mcnemar_test(Y, S, S, (1, np.nan)), "thresholds must be two numbers"),
        (lambda: mcnemar_test(Y, S, S, (1,)), "thresholds must be two numbers"),
        (lambda: smooth_roc(Y, Y * 1.0), "fewer than two points"),
        (lambda: smooth_roc(Y, S * 0, method="density"), "all scores are the same"),
        (lambda: smooth_roc(Y, S / (S - 1), method="density"), "infinite"),
        (lambda: smooth_roc(Y, S, fpr=[2.0]), "fpr must be"),
        (lambda: smooth_roc(Y, S, method="loess"), "method is 'loess'"),
        (lambda: compare_over_sets({"a": [1, 2]}), "two models or more"),
        (lambda: compare_over_sets({"a": [1, 2], "b": [1]}), "'b' has 1 data sets"),
        (lambda: compare_over_sets({"a": [1, 2], "b": [1, np.inf]}), "'b' on data set 1 is inf"),
        (lambda: compare_over_sets({"a": [1], "b": [1]}), "two data sets or more"),
    ],
)
@pytest.mark.filterwarnings("ignore:divide by zero")
def test_input_without_a_test_is_rejected(call, said):
    with pytest.raises(ValueError, match=said):
        call()


def test_resamples_without_a_line_are_left_out():
    y, score = np.repeat([0, 1], 4), np.array([1, 1, 2, 3, 1, 2, 3, 3])
    with pytest.warns(UserWarning, match="too few points"):
        found = smooth_roc(y, score, n_resamples=100, random_state=0)
    assert found.low <= found.high
