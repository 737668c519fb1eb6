"""Power and sample size of tests of AUCs."""

import math

import numpy as np
import pytest
from aucrank.metrics import (
    auc_compare,
    auc_detectable,
    auc_interval,
    auc_power,
    auc_sample_size,
)
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import norm

PROC = {"method": "obuchowski"}


def normal_scores(rng, y, aucs, correlation):
    """Scores of these AUCs that are normal in each class, with this correlation."""
    neg, pos = correlation
    share = np.where(y == 1, pos, neg)
    shared = np.sqrt(share) * rng.normal(size=y.size)
    return [
        shared + np.sqrt(1 - share) * rng.normal(size=y.size) + math.sqrt(2) * norm.ppf(auc) * y
        for auc in aucs
    ]


def test_sample_sizes_and_power_equal_those_of_proc():
    # From pROC's own tests of `power.roc.test`.
    assert auc_power(0.73, n_pos=41, n_neg=72, **PROC) == pytest.approx(0.9897453, abs=1e-7)
    s100b = 0.731368563685637
    assert auc_power(s100b, n_pos=41, n_neg=72, **PROC) == pytest.approx(0.9904833, abs=1e-7)
    assert auc_power(s100b, n_pos=29.29764, n_neg=49.806, **PROC) == pytest.approx(0.95, abs=1e-6)
    assert auc_power(0.73, n_pos=41, n_neg=72, alpha=0.009238584, **PROC) == pytest.approx(
        0.95, abs=1e-6
    )
    size = auc_sample_size(s100b, power=0.95, ratio=1.7, **PROC)
    assert (size.n_pos, size.n_neg) == (30, 50)
    size = auc_sample_size(s100b, power=0.9, **PROC)
    assert (size.n_pos, size.n_neg) == (30, 30)
    assert auc_power(s100b, n_pos=29.5697422, n_neg=29.5697422, **PROC) == pytest.approx(
        0.9, abs=1e-7
    )
    # R's `uniroot` stops within 1e-4 of the root.
    found = auc_detectable(n_pos=41, n_neg=72, power=0.95, **PROC)
    assert found == pytest.approx(0.6961054, abs=1e-4)


@pytest.mark.parametrize(
    ("ratio", "auc", "n_neg", "n_pos"),
    [
        (0.25, 0.6, 84, 334),
        (0.25, 0.7, 20, 80),
        (0.5, 0.7, 25, 49),
        (1, 0.6, 135, 135),
        (1, 0.7, 33, 33),
        (1, 0.8, 14, 14),
        (2, 0.6, 203, 102),
        (2, 0.7, 50, 25),
        (4, 0.7, 84, 21),
    ],
)
def test_sample_sizes_equal_the_table_of_obuchowski_lieber_and_wians(ratio, auc, n_neg, n_pos):
    # Table 4 of the paper of 2004, power 0.9, one-sided level 0.05; cells of at least 10 rows.
    size = auc_sample_size(auc, power=0.9, ratio=ratio, alternative="one-sided", **PROC)
    assert (size.n_neg, size.n_pos) == (n_neg, n_pos)


def test_published_covariance_is_that_of_its_derivatives():
    # Formulas 4 and 5 of Obuchowski and McClish (1997), with derivatives of the area in A and B of
    # the binormal curve taken numerically.
    def area(a, b):
        return norm.cdf(a / math.sqrt(1 + b * b))

    def slopes(a, h=1e-5):
        return (
            (area(a + h, 1) - area(a - h, 1)) / (2 * h),
            (area(a, 1 + h) - area(a, 1 - h)) / (2 * h),
        )

    first, second, m, n, rn, ra = 0.85, 0.75, 80, 120, 0.3, 0.6
    a, b = (math.sqrt(2) * norm.ppf(x) for x in (first, second))
    (f, g), (p, q) = slopes(a), slopes(b)
    kappa = n / m
    variances = [
        (u * u * (1 + 1 / kappa + x * x / 2) + v * v * (1 + kappa) / (2 * kappa)) / m
        for x, (u, v) in ((a, (f, g)), (b, (p, q)))
    ]
    shared = f * p * (ra + rn / kappa + ra**2 * a * b / 2)
    shared += g * q * (rn**2 + kappa * ra**2) / (2 * kappa)
    shared += f * q * ra**2 * a / 2 + p * g * ra**2 * b / 2
    shared /= m
    null, error = 2 * (variances[0] - shared), sum(variances) - 2 * shared
    expected = norm.cdf((first - second - norm.ppf(0.975) * null**0.5) / error**0.5)
    found = auc_power(first, second, n_pos=m, n_neg=n, correlation=(rn, ra), **PROC)
    assert found == pytest.approx(expected, abs=1e-8)


@pytest.mark.parametrize(
    ("aucs", "correlation", "n_pos", "n_neg"),
    [
        ((0.75, 0.6), (0.0, 0.0), 20, 50),
        ((0.9, 0.8), (0.2, 0.7), 30, 25),
        ((0.8, 0.8), (0.5, 0.5), 10, 40),
    ],
)
def test_the_variance_is_that_of_simulated_areas(aucs, correlation, n_pos, n_neg):
    rng, y = np.random.default_rng(0), np.repeat([0, 1], [n_neg, n_pos])
    found = []
    for _ in range(4000):
        scores = normal_scores(rng, y, aucs, correlation)
        # By pairs, which for few rows takes a fiftieth of scikit-learn's time.
        found.append([(s[y == 1, None] > s[y == 0]).mean() for s in scores])
    found = np.array(found)
    # The power of a difference d is Phi(d / s - z): s is what has the power 1/2 at d = z s.
    z = norm.ppf(0.975)
    for auc, column in zip(aucs, found.T, strict=True):
        power = auc_power(auc, null=0.5, n_pos=n_pos, n_neg=n_neg)
        assert (auc - 0.5) / (norm.ppf(power) + z) == pytest.approx(column.std(), rel=0.05)
    if aucs[0] != aucs[1]:
        power = auc_power(*aucs, n_pos=n_pos, n_neg=n_neg, correlation=correlation)
        spread = np.std(found[:, 0] - found[:, 1])
        assert (aucs[0] - aucs[1]) / (norm.ppf(power) + z) == pytest.approx(spread, rel=0.05)


def test_power_is_the_share_of_samples_that_the_tests_reject():
    rng, y = np.random.default_rng(1), np.repeat([0, 1], [120, 100])
    size = {"n_pos": 100, "n_neg": 120}
    rejected = np.zeros(3)
    for _ in range(600):
        first, second = normal_scores(rng, y, (0.82, 0.75), (0.3, 0.5))
        rejected[0] += auc_compare(y, first, second, method="delong").p_value < 0.05
        rejected[1] += auc_interval(y, second, method="delong").low > 0.65
        other = normal_scores(rng, y, (0.75,), (0.0, 0.0))[0]
        rejected[2] += auc_compare(y, first, other, y_true_2=y, method="delong").p_value < 0.05
    expected = [
        auc_power(0.82, 0.75, correlation=(0.3, 0.5), **size),
        auc_power(0.75, null=0.65, **size),
        auc_power(0.82, 0.75, **size),
    ]
    # 600 samples: standard error 0.02.
    assert rejected / 600 == pytest.approx(expected, abs=0.06)


@given(
    st.floats(0.55, 0.95),
    st.floats(0.2, 0.99),
    st.floats(0.2, 5),
    st.sampled_from([None, 0.5, 0.97]),
    st.sampled_from(["binormal", "obuchowski"]),
    st.sampled_from(["two-sided", "one-sided"]),
)
def test_size_power_and_detectable_area_are_inverses(auc, power, ratio, auc_2, method, alternative):
    how = {"auc_2": auc_2, "method": method, "alternative": alternative}
    size = auc_sample_size(auc, power=power, ratio=ratio, **how)
    assert size.power >= power - 1e-9
    assert size.power == auc_power(auc, n_pos=size.n_pos, n_neg=size.n_neg, **how)
    if min(size.n_pos, size.n_neg) > 3:
        fewer = auc_power(auc, n_pos=size.n_pos - 1, n_neg=size.n_neg - 1, **how)
        assert fewer < power
    if auc > (auc_2 or 0.5):
        found = auc_detectable(n_pos=size.n_pos, n_neg=size.n_neg, power=size.power, **how)
        again = auc_power(found, n_pos=size.n_pos, n_neg=size.n_neg, **how)
        assert again == pytest.approx(size.power, abs=1e-9)
        assert found <= auc + 1e-6
        if min(size.n_pos, size.n_neg) > 3:
            assert found == pytest.approx(auc, abs=1e-6)


@pytest.mark.parametrize(("n_pos", "n_neg"), [(2, 2), (2, 3), (3, 2)])
def test_the_least_detectable_area_of_two_or_three_rows_is_found(n_pos, n_neg):
    how = {"n_pos": n_pos, "n_neg": n_neg, "method": "obuchowski"}
    areas = np.linspace(0.5, 1, 4001)[1:-1]
    powers = np.array([auc_power(area, **how) for area in areas])
    # The power falls again towards 1: the least area is on the way up.
    assert powers[-1] < powers.max() / 2
    for power in (0.06, 0.1, powers.max() - 1e-3):
        least = areas[np.argmax(powers >= power)]
        assert auc_detectable(power=power, **how) == pytest.approx(least, abs=2.6e-4)
    with pytest.raises(ValueError, match=r"distinguish no AUC from 0\.5"):
        auc_detectable(power=powers.max() + 1e-4, **how)


def test_correlated_scores_need_fewer_rows():
    alone = auc_sample_size(0.85, 0.8)
    shared = auc_sample_size(0.85, 0.8, correlation=0.8)
    assert shared.n_pos < alone.n_pos / 2
    # A pair of the same score has no spread at all.
    assert auc_power(0.85, 0.85, n_pos=10, n_neg=10, correlation=1.0) == 0.0


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: auc_power(1.0, n_pos=10, n_neg=10), "auc"),
        (lambda: auc_power(0.8, 0.0, n_pos=10, n_neg=10), "auc_2"),
        (lambda: auc_power(0.8, n_pos=1, n_neg=10), "n_pos"),
        (lambda: auc_power(0.8, n_pos=10, n_neg=10, alpha=0), "alpha"),
        (lambda: auc_power(0.8, n_pos=10, n_neg=10, correlation=0.5), "needs auc_2"),
        (lambda: auc_power(0.8, 0.7, n_pos=10, n_neg=10, correlation=1.5), "correlation"),
        (lambda: auc_power(0.8, n_pos=10, n_neg=10, alternative="less"), "alternative is 'less'"),
        (lambda: auc_power(0.8, n_pos=10, n_neg=10, method="delong"), "method is 'delong'"),
        (lambda: auc_sample_size(0.5), "must differ"),
        (lambda: auc_sample_size(0.8, 0.8), "must differ"),
        (lambda: auc_sample_size(0.8, power=0.05), "above alpha"),
        (lambda: auc_sample_size(0.8, ratio=0), "ratio"),
        (lambda: auc_detectable(n_pos=2, n_neg=1), "n_neg"),
        (lambda: auc_detectable(n_pos=2, n_neg=2, power=1.0), "power"),
    ],
)
def test_bad_input_is_named_in_the_error(call, message):
    with pytest.raises(ValueError, match=message):
        call()
