"""Intervals and tests of areas under a part of the ROC curve."""

import math
import warnings

import numpy as np
import pytest
from aucrank.metrics import (
    auc_compare,
    auc_interval,
    partial_auc,
    roc_band,
)
from hypothesis import given
from hypothesis import strategies as st
from scipy.integrate import quad, trapezoid
from scipy.stats import norm
from sklearn.exceptions import UndefinedMetricWarning

BANDS = [
    {"fpr": (0, 0.2)},
    {"fpr": (0.1, 0.45)},
    {"tpr": (0.7, 1)},
    {"fpr": (0, 0.4), "tpr": (0.5, 1)},
]


def within_bands(fpr=(0, 1), tpr=(0, 1)):
    """Partial area of normal scores one apart, by quadrature."""
    return quad(lambda f: np.clip(norm.sf(norm.isf(f) - 1), *tpr) - tpr[0], *fpr, limit=200)[0]


def test_areas_and_tests_equal_those_of_proc(asah):
    # From pROC's own tests: `ci.auc(r.ndka)`, `roc.test(r.wfns, r.s100b)` and `auc(..., c(1, .9))`.
    found = auc_interval(asah.poor, asah.ndka, method="delong")
    expected = (0.501244999271703, 0.611957994579946, 0.722670989888189)
    assert (found.low, found.auc, found.high) == pytest.approx(expected, abs=1e-12)
    found = auc_compare(asah.poor, asah.wfns, asah.s100b, method="delong")
    assert found.z == pytest.approx(2.20898359144091, abs=1e-10)
    assert found.p_value == pytest.approx(0.0271757822291882, abs=1e-10)
    expected = (0.0104061769564846, 0.174214419249478)
    assert (found.low, found.high) == pytest.approx(expected, abs=1e-10)
    for marker, area, standardized in [
        ("wfns", 0.0334417344173442, 0.649693339038653),
        ("ndka", 0.0107046070460705, 0.530024247610897),
    ]:
        raw = auc_interval(asah.poor, asah[marker], fpr=(0, 0.1))
        scaled = auc_interval(asah.poor, asah[marker], fpr=(0, 0.1), standardize=True)
        assert raw.auc == pytest.approx(area, abs=1e-12)
        assert scaled.auc == pytest.approx(standardized, abs=1e-12)


@pytest.mark.parametrize("bands", BANDS)
def test_standard_errors_of_patients_are_those_of_a_plain_bootstrap(asah, bands):
    y, first, second = asah.poor.to_numpy(), asah.s100b.to_numpy(), asah.ndka.to_numpy()
    rng = np.random.default_rng(0)
    neg, pos = np.flatnonzero(y == 0), np.flatnonzero(y == 1)
    areas = []
    for _ in range(1500):
        rows = np.r_[rng.choice(neg, neg.size), rng.choice(pos, pos.size)]
        areas.append([partial_auc(y[rows], s[rows], **bands) for s in (first, second)])
    areas = np.array(areas)
    differences = areas[:, 0] - areas[:, 1]
    # Deviations of 1500 resamples scatter by 2 % of themselves, their ends by some 6 %; what the
    # formula leaves out is of the order of one row of the 113.
    for method, slack in (("delong", 0.15), ("bootstrap", 0.08)):
        kwargs = {"method": method, "n_resamples": 4000, "random_state": 1, **bands}
        found = auc_interval(y, first, **kwargs)
        assert found.standard_error == pytest.approx(areas[:, 0].std(), rel=slack)
        both = auc_compare(y, first, second, **kwargs)
        assert both.difference == pytest.approx(
            partial_auc(y, first, **bands) - partial_auc(y, second, **bands), abs=1e-12
        )
        assert both.standard_error == pytest.approx(differences.std(), rel=slack)
    ends = np.quantile(areas[:, 0], [0.025, 0.975])
    found = auc_interval(y, first, method="bootstrap", random_state=1, **bands)
    assert (found.low, found.high) == pytest.approx(ends, abs=0.25 * areas[:, 0].std())


@pytest.mark.parametrize("bands", BANDS)
@pytest.mark.parametrize("method", ["delong", "logit"])
def test_intervals_cover_the_true_partial_area_at_their_level(bands, method):
    # 600 samples: standard error of the rate 0.009.
    rng, truth, covered = np.random.default_rng(5), within_bands(**bands), 0
    y = np.repeat([0, 1], [120, 100])
    for _ in range(600):
        found = auc_interval(y, rng.normal(loc=y), method=method, **bands)
        covered += found.low <= truth <= found.high
    assert 0.915 <= covered / 600 <= 0.98


@pytest.mark.parametrize("bands", BANDS)
def test_the_error_of_many_rows_is_the_spread_over_samples(bands):
    rng, y = np.random.default_rng(7), np.repeat([0, 1], [3000, 2000])
    found = [auc_interval(y, rng.normal(loc=y), **bands) for _ in range(500)]
    spread = np.std([one.auc for one in found])
    # 500 samples: the spread scatters by 3 % of itself.
    assert np.mean([one.standard_error for one in found]) == pytest.approx(spread, rel=0.1)


def test_a_test_of_equal_partial_areas_keeps_its_level():
    rng, y, p_values = np.random.default_rng(6), np.repeat([0, 1], [150, 100]), []
    for _ in range(500):
        shared = rng.normal(loc=y)
        first, second = (shared + rng.normal(size=y.size) for _ in range(2))
        p_values.append(auc_compare(y, first, second, fpr=(0, 0.25)).p_value)
    assert 0.02 <= np.mean(np.array(p_values) < 0.05) <= 0.085


@given(st.integers(0, 2**32 - 1), st.sampled_from(BANDS))
def test_scales_are_linear_maps_of_the_area(seed, bands):
    rng = np.random.default_rng(seed)
    y = np.r_[np.tile([0, 1], 20), rng.integers(0, 2, 40)]
    first, second = (np.round(rng.normal(loc=y), 1) for _ in range(2))
    (a, b), (c, d) = bands.get("fpr", (0, 1)), bands.get("tpr", (0, 1))
    # The area of the bands, and that of the diagonal in them.
    most = (b - a) * (d - c)
    least = quad(lambda f: min(max(f, c), d) - c, a, b, points=[p for p in (c, d) if a < p < b])[0]
    slope = 0.5 / (most - least)
    raw, scaled = (auc_interval(y, first, **bands, standardize=s) for s in (False, True))
    for name in ("auc", "low", "high"):
        area = getattr(raw, name)
        assert getattr(scaled, name) == pytest.approx(0.5 + slope * (area - least), abs=1e-8)
    assert scaled.standard_error == pytest.approx(slope * raw.standard_error, abs=1e-8)
    raw, scaled = (auc_compare(y, first, second, **bands, standardize=s) for s in (False, True))
    for name in ("difference", "low", "high", "standard_error"):
        assert getattr(scaled, name) == pytest.approx(slope * getattr(raw, name), abs=1e-8)
    assert scaled.p_value == raw.p_value


def test_the_logit_scale_keeps_to_the_area_of_the_band():
    y, scores = np.repeat([0, 1], [12, 9]), np.r_[np.arange(12), np.arange(9) + 9.5]
    plain = auc_interval(y, scores, fpr=(0, 0.3))
    logit = auc_interval(y, scores, fpr=(0, 0.3), method="logit")
    share, error = plain.auc / 0.3, plain.standard_error / 0.3
    typical = share * (1 - share) * (1 / 9 + 1 / 12) / 3
    drawn = (8 * error**2 + 5 * typical) / 13
    reach = norm.ppf(0.975) * math.sqrt(drawn) / (share * (1 - share))
    expected = [0.3 / (1 + math.exp(-(math.log(share / (1 - share)) + s * reach))) for s in (-1, 1)]
    assert [logit.low, logit.high] == pytest.approx(expected)
    assert 0 < logit.low < logit.high < 0.3


@given(
    st.integers(0, 2**32 - 1),
    st.sampled_from([*BANDS, {"fpr": (0.6, 1), "tpr": (0, 0.9)}]),
    st.sampled_from([4, 40, 4000]),
)
def test_an_area_without_variance_has_that_of_the_simultaneous_band(seed, bands, n):
    rng = np.random.default_rng(seed)
    y = np.repeat([0, 1], [n, n])
    scores = y * 2 + rng.random(2 * n)
    with pytest.warns(UndefinedMetricWarning, match="simultaneous band"):
        found = auc_interval(y, scores, **bands)
    assert (found.method, found.standard_error) == ("simultaneous", 0.0)
    grid = np.linspace(0, 1, 20_001)
    band = roc_band(y, scores, method="simultaneous", fpr=grid)
    (a, b), (c, d) = bands.get("fpr", (0, 1)), bands.get("tpr", (0, 1))
    inside = (a <= grid) & (grid <= b)
    for end, curve in ((found.low, band.low), (found.high, band.high)):
        height = np.clip(curve, c, d)[inside] - c
        assert end == pytest.approx(trapezoid(height, grid[inside]), abs=2e-4)


def test_comparisons_of_partial_areas_without_variance_raise_a_warning():
    y, perfect = np.repeat([0, 1], 400), np.arange(800)
    with pytest.warns(UndefinedMetricWarning, match="NaN"):
        found = auc_compare(y, perfect, -perfect, tpr=(0.5, 1))
    assert (found.difference, found.method) == (0.5, "simultaneous")
    assert found.low < 0.5
    assert math.isnan(found.p_value)
    some = np.where(np.arange(800) % 7, perfect, 400 + perfect / 1000)
    with pytest.warns(UndefinedMetricWarning, match="y_score_1: The partial area is 0.5"):
        found = auc_compare(y, perfect, some, tpr=(0.5, 1))
    assert found.standard_error == pytest.approx(auc_interval(y, some, tpr=(0.5, 1)).standard_error)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = auc_compare(y, some, np.exp(some / 100), tpr=(0.5, 1))
    assert (found.low, found.high, found.p_value) == (0.0, 0.0, 1.0)


def test_order_of_rows_changes_no_bit():
    rng = np.random.default_rng(1)
    y, weights = rng.integers(0, 2, 300), rng.random(300)
    first, second = (np.round(rng.normal(loc=y), 1) for _ in range(2))
    order = rng.permutation(300)
    kwargs = {"fpr": (0, 0.3), "sample_weight": weights}
    turned = {"fpr": (0, 0.3), "sample_weight": weights[order]}
    assert auc_interval(y, first, **kwargs) == auc_interval(y[order], first[order], **turned)
    assert auc_compare(y, first, second, **kwargs) == auc_compare(
        y[order], first[order], second[order], **turned
    )


@pytest.mark.parametrize(
    ("kwargs", "message"),
    [
        ({"fpr": (0.5, 0.5)}, r"fpr is \(0.5, 0.5\)"),
        ({"tpr": (-0.1, 1)}, "tpr is"),
        ({"fpr": (0.5, 1), "tpr": (0, 0.5), "standardize": True}, "below the diagonal"),
    ],
)
def test_invalid_bands_are_named_in_the_error(kwargs, message):
    y, scores = np.tile([0, 1], 5), np.arange(10)
    with pytest.raises(ValueError, match=message):
        auc_interval(y, scores, **kwargs)
    with pytest.raises(ValueError, match=message):
        auc_compare(y, scores, -scores, **kwargs)


def test_a_class_of_one_row_has_no_interval_of_a_part():
    for method in ("delong", "logit", "bootstrap"):
        with pytest.raises(ValueError, match="two rows of each class"):
            auc_interval([0, 0, 1, 0], [1, 2, 1.5, 3], fpr=(0, 0.5), method=method)
