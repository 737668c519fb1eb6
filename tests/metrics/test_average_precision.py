"""Average precision against scikit-learn and against plain resampling."""

import numpy as np
import pytest
from aucrank.metrics import average_precision, average_precision_compare
from scipy.stats import t as student
from sklearn.metrics import average_precision_score


def draw(n=500, seed=0, shift=1.5):
    rng = np.random.default_rng(seed)
    y = rng.random(n) < 0.2
    return y, rng.normal(loc=shift * y).round(1), rng.normal(loc=shift * y)


@pytest.mark.parametrize("weighted", [False, True])
def test_it_equals_that_of_scikit_learn(weighted):
    y, score, _ = draw()
    weight = np.random.default_rng(1).random(len(y)) if weighted else None
    found = average_precision(y, score, sample_weight=weight, n_resamples=2)
    expected = average_precision_score(y, score, sample_weight=weight)
    assert found.value == pytest.approx(expected)
    assert found.prevalence == pytest.approx(np.average(y, weights=weight))


def test_the_bootstrap_resamples_rows_within_classes():
    y, score, _ = draw()
    found = average_precision(y, score, random_state=0)
    rng = np.random.default_rng(5)
    drawn = []
    for _ in range(1000):
        rows = np.concatenate([rng.choice(np.flatnonzero(y == c), (y == c).sum()) for c in (0, 1)])
        drawn.append(average_precision_score(y[rows], score[rows]))
    assert found.standard_error == pytest.approx(np.std(drawn), rel=0.08)
    assert (found.low, found.high) == pytest.approx(np.quantile(drawn, [0.025, 0.975]), abs=0.02)


def test_the_logit_interval_is_that_of_a_binomial_proportion():
    y, score, _ = draw()
    found = average_precision(y, score, method="logit")
    middle = np.log(found.value / (1 - found.value))
    quantile = student.ppf(0.975, y.sum() + 4)
    reach = quantile / np.sqrt(y.sum() * found.value * (1 - found.value))
    expected = 1 / (1 + np.exp(-np.array([middle - reach, middle + reach])))
    assert (found.low, found.high) == pytest.approx(expected)


def test_frequency_k_equals_k_rows():
    y, score, _ = draw(300)
    counts = np.random.default_rng(1).integers(0, 4, 300)
    one = average_precision(y, score, sample_weight=counts, weights="frequency", random_state=0)
    other = average_precision(np.repeat(y, counts), np.repeat(score, counts), random_state=0)
    assert one.value == pytest.approx(other.value)
    assert one.standard_error == pytest.approx(other.standard_error, rel=0.1)


def test_groups_are_resampled_as_a_whole():
    y, score, _ = draw(200)
    five = np.repeat(np.arange(200), 5)
    given = {"random_state": 0, "n_resamples": 1000}
    together = average_precision(y[five], score[five], groups=five, **given)
    apart = average_precision(y[five], score[five], **given)
    single = average_precision(y, score, groups=np.arange(200), **given)
    assert together.standard_error == pytest.approx(single.standard_error, rel=0.1)
    assert apart.standard_error < 0.6 * together.standard_error


def test_a_perfect_ranking_has_an_exact_interval():
    found = average_precision([0] * 50 + [1] * 20, range(70))
    assert (found.value, found.high, found.method) == (1, 1, "exact")
    assert found.low == pytest.approx(0.025 ** (1 / 20))


def test_a_comparison_is_paired_and_keeps_its_level():
    rejected = []
    for seed in range(150):
        y, score, _ = draw(300, seed)
        rng = np.random.default_rng(seed + 1000)
        first, second = (score + 0.5 * rng.normal(size=300) for _ in range(2))
        found = average_precision_compare(y, first, second, n_resamples=200, random_state=0)
        rejected.append(found.p_value < 0.05)
    assert 0.005 < np.mean(rejected) < 0.12
    y, score, _ = draw()
    same = average_precision_compare(y, score, score, n_resamples=10)
    assert (same.difference, same.z, same.p_value) == (0, 0, 1)


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ({"groups": [1, 2, 3, 4], "method": "logit"}, "bootstrap"),
        ({"method": "other"}, "method is 'other'"),
        ({"y_score": [1, 2, 3]}, "y_score has 3 entries"),
        ({"y_score": [1, np.nan, 3, 4]}, "NaN, first in row 1"),
    ],
)
def test_bad_input_is_rejected(how, message):
    with pytest.raises(ValueError, match=message):
        average_precision(**({"y_true": [0, 1, 0, 1], "y_score": [1, 2, 3, 4]} | how))
