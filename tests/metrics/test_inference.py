import math
import warnings

import numpy as np
import pandas as pd
import pytest
from aucrank.metrics import (
    RocCurve,
    auc_compare,
    auc_interval,
    cross_validated_auc,
    cross_validated_compare,
    roc_auc_score,
    roc_band,
)
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import expit, logit
from scipy.stats import binomtest, norm, t
from sklearn.exceptions import UndefinedMetricWarning

# Hanley and McNeil, "The meaning and use of the area under a receiver operating characteristic
# (ROC) curve", Radiology 143(1), 1982, table I: ratings 1 to 5 of 58 normal, 51 abnormal images.
CT_Y = np.repeat([0, 1], [58, 51])
CT_RATING = np.repeat([1, 2, 3, 4, 5] * 2, [33, 6, 6, 11, 2, 3, 2, 2, 11, 33])


def delong(y, models, weights=None):
    """AUCs and covariance matrix by the definition, pair by pair."""
    weights = np.ones(len(y)) if weights is None else np.asarray(weights, dtype=float)
    pos, neg = (y == 1) & (weights > 0), (y == 0) & (weights > 0)
    w, u = weights[pos] / weights[pos].sum(), weights[neg] / weights[neg].sum()
    aucs, of_pos, of_neg = [], [], []
    for scores in models:
        gap = scores[pos][:, None].astype(float) - scores[neg].astype(float)
        wins = np.where(gap == 0, 0.5, gap > 0)
        aucs.append(w @ wins @ u)
        of_pos.append(w * (wins @ u - aucs[-1]))
        of_neg.append(u * (w @ wins - aucs[-1]))
    parts = [np.array(part) for part in (of_pos, of_neg)]
    return np.array(aucs), sum(p.shape[1] / (p.shape[1] - 1) * p @ p.T for p in parts)


@st.composite
def samples(draw):
    """Two models of few distinct scores, two rows of either class, weights with zeros."""
    row = st.tuples(st.integers(0, 1), st.integers(-4, 4), st.integers(-2, 2), st.integers(0, 3))
    rows = draw(st.lists(row, max_size=50))
    fixed = [(0, 1, 0, 1), (0, 0, 2, 2), (1, 0, 1, 1), (1, 2, 1, 3)]
    y, first, second, weights = (np.array(c) for c in zip(*fixed, *rows, strict=True))
    return (
        y,
        first,
        second.astype(np.float32),
        draw(st.sampled_from([None, weights, weights * 0.3])),
    )


# DeLong.


@given(samples(), st.sampled_from([0.5, 0.9, 0.95]))
def test_interval_and_comparison_are_those_of_the_definition(sample, confidence):
    y, first, second, weights = sample
    aucs, cov = delong(y, [first, second], weights)
    how = {"sample_weight": weights, "confidence": confidence}
    found = auc_interval(y, first, **how, method="delong")
    error, quantile = math.sqrt(cov[0, 0]), norm.ppf(0.5 + confidence / 2)
    assert found.auc == pytest.approx(aucs[0], abs=1e-12)
    assert found.standard_error == pytest.approx(error, abs=1e-10)
    assert found.low == pytest.approx(max(aucs[0] - quantile * error, 0), abs=1e-10)
    assert found.high == pytest.approx(min(aucs[0] + quantile * error, 1), abs=1e-10)
    by_logit = auc_interval(y, first, **how)
    w = np.ones(len(y)) if weights is None else weights
    m, n = (w[y == c].sum() ** 2 / (w[y == c] ** 2).sum() for c in (1, 0))
    spread, known = aucs[0] * (1 - aucs[0]), min(m, n) - 1
    drawn = (known * cov[0, 0] + 5 * spread * (1 / m + 1 / n) / 3) / (known + 5)
    reach = quantile * math.sqrt(drawn) / spread
    assert (by_logit.method, by_logit.standard_error) == ("logit", found.standard_error)
    assert by_logit.low == pytest.approx(expit(logit(aucs[0]) - reach), abs=1e-10)
    assert by_logit.high == pytest.approx(expit(logit(aucs[0]) + reach), abs=1e-10)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UndefinedMetricWarning)
        paired = auc_compare(y, first, second, **how, method="delong")
        student = auc_compare(y, first, second, **how)
        unpaired = auc_compare(
            y, first, second, y_true_2=y, sample_weight=weights, sample_weight_2=weights
        )
    paired_error = math.sqrt(max(cov[0, 0] + cov[1, 1] - 2 * cov[0, 1], 0))
    assert paired.difference == pytest.approx(aucs[0] - aucs[1], abs=1e-12)
    assert paired.standard_error == pytest.approx(paired_error, abs=1e-7)
    assert unpaired.standard_error == pytest.approx(math.sqrt(cov[0, 0] + cov[1, 1]), abs=1e-10)
    if paired_error > 1e-6:
        assert paired.z == pytest.approx(paired.difference / paired_error, rel=1e-6)
        assert paired.p_value == pytest.approx(2 * norm.sf(abs(paired.z)), rel=1e-9)
        assert paired.low == pytest.approx(
            max(paired.difference - quantile * paired_error, -1), abs=1e-7
        )
        law = t(max(known, 1))
        assert (student.method, student.z) == ("student", paired.z)
        assert student.p_value == pytest.approx(2 * law.sf(abs(paired.z)), rel=1e-9)
        reach = law.ppf(0.5 + confidence / 2) * paired_error
        assert student.high == pytest.approx(min(paired.difference + reach, 1), abs=1e-7)


def test_ratings_of_hanley_and_mcneil_have_the_interval_that_stata_publishes():
    # Stata's manual of `roctab`, example 1, DeLong's standard error: 0.8932, 0.0307 and
    # [0.83295, 0.95339].
    found = auc_interval(CT_Y, CT_RATING, method="delong")
    assert round(found.auc, 4) == 0.8932
    assert round(found.standard_error, 4) == 0.0307
    assert (round(found.low, 5), round(found.high, 5)) == (0.83295, 0.95339)


def test_many_rows_agree_with_the_spread_of_placement_values():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 150_000)
    scores = np.round(rng.normal(loc=y), 3)
    # Placement values from ranks: mean rank among all less that among the own class.
    ranks, own = pd.Series(scores).rank(), pd.Series(scores).groupby(y).rank()
    m, n = y.sum(), (1 - y).sum()
    placement = (ranks - own).to_numpy() / np.where(y == 1, n, m)
    expected = placement[y == 1].var(ddof=1) / m + placement[y == 0].var(ddof=1) / n
    assert auc_interval(y, scores).standard_error == pytest.approx(math.sqrt(expected), rel=1e-9)


@given(samples(), st.floats(1e-3, 1e3))
def test_only_ratios_of_weights_and_orders_of_scores_matter(sample, factor):
    y, first, _, weights = sample
    weights = np.ones(len(y)) if weights is None else weights
    found = auc_interval(y, first, sample_weight=weights)
    scaled = auc_interval(y, np.exp(first), sample_weight=weights * factor)
    kept = weights > 0
    without = auc_interval(y[kept], first[kept], sample_weight=weights[kept])
    for other in (scaled, without):
        assert other.standard_error == pytest.approx(found.standard_error, abs=1e-9)
        assert other.low == pytest.approx(found.low, abs=1e-9)
    swapped = auc_interval(1 - y, -first, sample_weight=weights)
    assert swapped.standard_error == pytest.approx(found.standard_error, abs=1e-12)


def test_labels_and_columns_of_any_kind():
    expected = auc_interval(CT_Y, CT_RATING)
    names = pd.Series(np.where(CT_Y == 1, "sick", "healthy"))
    assert auc_interval(names, pd.Series(CT_RATING)) == expected
    assert auc_interval(CT_Y.tolist(), CT_RATING.astype(np.float32)) == expected
    boot = auc_interval(names, CT_RATING, method="bootstrap", n_resamples=50, random_state=1)
    assert boot == auc_interval(CT_Y, CT_RATING, method="bootstrap", n_resamples=50, random_state=1)


# Without DeLong's variance.


@pytest.mark.parametrize("method", ["delong", "logit", "bootstrap"])
def test_perfect_scores_have_a_binomial_interval(method):
    y, scores = np.repeat([0, 1], [9, 6]), np.arange(15)
    exact = binomtest(6, 6).proportion_ci(0.95, method="exact")
    with pytest.warns(UndefinedMetricWarning, match="AUC is 1 .* 6 independent pairs"):
        found = auc_interval(y, scores, method=method)
    assert (found.auc, found.standard_error, found.method) == (1.0, 0.0, "exact")
    assert (found.low, found.high) == (pytest.approx(exact.low, abs=1e-12), 1.0)
    with pytest.warns(UndefinedMetricWarning, match="AUC is 0 "):
        found = auc_interval(y, -scores, method=method)
    assert (found.low, found.high) == (0.0, pytest.approx(1 - exact.low, abs=1e-12))
    with pytest.warns(UndefinedMetricWarning, match=r"AUC is 0\.5 "):
        found = auc_interval(y, np.zeros(15), method=method)
    assert (found.low, found.high) == (
        pytest.approx(exact.low / 2, abs=1e-12),
        pytest.approx(1 - exact.low / 2, abs=1e-12),
    )


def test_unequal_weights_count_as_fewer_pairs():
    y, scores = np.repeat([0, 1], [9, 3]), np.arange(12)
    weights = np.r_[np.ones(9), 1, 1, 2]
    with pytest.warns(UndefinedMetricWarning):
        found = auc_interval(y, scores, sample_weight=weights)
    assert found.low == pytest.approx(0.025 ** (1 / (4**2 / 6)))


def test_one_row_of_a_class_falls_back_to_hanley_and_mcneil():
    y, scores = [0, 0, 0, 0, 1], [1, 2, 3, 5, 4]
    with pytest.warns(UndefinedMetricWarning, match="one row"):
        found = auc_interval(y, scores)
    # A = 3/4, m = 1, n = 4: [A(1 - A) + 3 (2A²/(1 + A) - A²)] / 4.
    expected = (0.75 * 0.25 + 3 * (2 * 0.5625 / 1.75 - 0.5625)) / 4
    assert found.method == "hanley-mcneil"
    assert found.standard_error == pytest.approx(math.sqrt(expected))
    assert 0 <= found.low < 0.75 < found.high <= 1
    with pytest.raises(ValueError, match="two rows of each class"):
        auc_interval(y, scores, method="bootstrap")
    with pytest.raises(ValueError, match="two rows of each class"):
        auc_compare(y, scores, scores)
    with pytest.warns(UndefinedMetricWarning):
        alone = auc_interval([0, 1], [0, 1])
    assert (alone.low, alone.high) == (pytest.approx(0.025), 1.0)


def test_comparisons_without_variance_raise_a_warning():
    y, perfect = np.repeat([0, 1], 4), np.arange(8)
    with pytest.warns(UndefinedMetricWarning, match="NaN"):
        found = auc_compare(y, perfect, -perfect)
    bound = 0.0125 ** (1 / 4)
    assert (found.low, found.high) == (pytest.approx(2 * bound - 1), pytest.approx(1.0))
    assert math.isnan(found.z)
    assert math.isnan(found.p_value)
    with pytest.warns(UndefinedMetricWarning, match="variance 0"):
        found = auc_compare(y, perfect, perfect**2)
    assert (found.low, found.high) == (pytest.approx(bound - 1), pytest.approx(1 - bound))
    assert (found.z, found.p_value) == (0.0, 1.0)
    some = np.array([0, 5, 1, 3, 2, 6, 7, 8])
    with pytest.warns(UndefinedMetricWarning, match="y_score_1: The AUC is 1"):
        found = auc_compare(y, perfect, some)
    assert found.standard_error == pytest.approx(auc_interval(y, some).standard_error)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = auc_compare(y, some, np.exp(some))
    assert (found.low, found.high, found.p_value) == (0.0, 0.0, 1.0)


# Bootstrap.


def test_bootstrap_agrees_with_a_loop_over_resampled_rows():
    rng = np.random.default_rng(3)
    y = np.repeat([0, 1], [60, 40])
    first = np.round(rng.normal(loc=y), 1)
    second, weights = first + rng.normal(size=100), rng.integers(1, 4, 100)
    aucs = []
    for _ in range(4000):
        rows = np.r_[rng.integers(0, 60, 60), rng.integers(60, 100, 40)]
        w = weights[rows]
        aucs.append([roc_auc_score(y[rows], s[rows], sample_weight=w) for s in (first, second)])
    first_aucs, differences = np.array(aucs)[:, 0], np.array(aucs) @ [1, -1]
    kwargs = {"sample_weight": weights, "method": "bootstrap", "n_resamples": 4000}
    found = auc_interval(y, first, random_state=0, **kwargs)
    # Ends and deviations of 4000 resamples scatter by some two and one hundredths of themselves.
    assert found.standard_error == pytest.approx(first_aucs.std(), rel=0.06)
    assert (found.low, found.high) == pytest.approx(
        np.quantile(first_aucs, [0.025, 0.975]), abs=0.2 * first_aucs.std()
    )
    found = auc_compare(y, first, second, random_state=0, **kwargs)
    assert found.standard_error == pytest.approx(differences.std(), rel=0.06)
    assert (found.low, found.high) == pytest.approx(
        np.quantile(differences, [0.025, 0.975]), abs=0.2 * differences.std()
    )


def test_bootstrap_follows_its_seed():
    def run(seed):
        return auc_interval(CT_Y, CT_RATING, method="bootstrap", n_resamples=100, random_state=seed)

    assert run(0) == run(0)
    assert run(0) != run(1)
    # Both samples of an unpaired comparison must not get the same resamples.
    found = auc_compare(
        CT_Y, CT_RATING, CT_RATING, y_true_2=CT_Y, method="bootstrap", random_state=0
    )
    error = auc_interval(CT_Y, CT_RATING, method="bootstrap", random_state=0).standard_error
    assert found.standard_error == pytest.approx(math.sqrt(2) * error, rel=0.1)


@pytest.mark.parametrize(
    ("method", "least"), [("delong", 0.92), ("logit", 0.92), ("bootstrap", 0.91)]
)
def test_intervals_cover_the_true_area_at_their_level(method, least):
    # Normal scores one apart: AUC = Phi(1 / sqrt 2). 500 samples: standard error of the rate 0.01.
    rng, truth, covered = np.random.default_rng(5), norm.cdf(math.sqrt(0.5)), 0
    y = np.repeat([0, 1], [60, 40])
    for seed in range(500):
        found = auc_interval(
            y, rng.normal(loc=y), method=method, n_resamples=300, random_state=seed
        )
        covered += found.low <= truth <= found.high
    assert least <= covered / 500 <= 0.98


def test_comparison_of_equally_good_scores_keeps_its_level():
    rng, y = np.random.default_rng(6), np.repeat([0, 1], [60, 60])
    p_values = []
    for _ in range(500):
        shared = rng.normal(loc=y)
        first, second = (shared + rng.normal(size=y.size) for _ in range(2))
        p_values.append(auc_compare(y, first, second).p_value)
    assert 0.02 <= np.mean(np.array(p_values) < 0.05) <= 0.08


# Bands.


def normal_roc(fpr):
    return norm.sf(norm.isf(fpr) - 1)


def test_simultaneous_band_is_the_curve_shifted_by_massarts_bounds():
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], [300, 200])
    scores = np.round(rng.normal(loc=y), 1)
    grid = np.linspace(0, 1, 41)
    band = roc_band(y, scores, method="simultaneous", confidence=0.9, fpr=grid)
    a = 1 - math.sqrt(0.9)
    up, right = (math.sqrt(math.log(2 / a) / (2 * rows)) for rows in (200, 300))
    curve = RocCurve.from_scores(y, scores)
    # Just next to a jump, interpolation cannot take the wrong end of it.
    left, just_after = grid - right - 1e-9, grid + right + 1e-9
    low = np.where(left < 0, 0, np.interp(left, curve.fpr, curve.tpr) - up)
    high = np.interp(just_after, curve.fpr, curve.tpr) + up
    np.testing.assert_allclose(band.low, np.maximum(low, 0), atol=1e-6)
    np.testing.assert_allclose(band.high, np.minimum(high, 1), atol=1e-6)
    np.testing.assert_allclose(band.tpr, curve.tpr_at(grid))


def test_simultaneous_band_covers_the_whole_true_curve():
    rng, y, covered = np.random.default_rng(1), np.repeat([0, 1], [50, 40]), 0
    for _ in range(300):
        band = roc_band(y, rng.normal(loc=y), method="simultaneous", confidence=0.8)
        truth = normal_roc(band.fpr)
        covered += np.all((band.low <= truth + 1e-12) & (truth <= band.high + 1e-12))
    assert covered / 300 >= 0.8


def test_pointwise_band_covers_each_point_at_about_its_level():
    rng, y, grid = np.random.default_rng(2), np.repeat([0, 1], [100, 100]), [0.1, 0.3, 0.6]
    covered = np.zeros(3)
    for seed in range(300):
        band = roc_band(y, rng.normal(loc=y), fpr=grid, n_resamples=200, random_state=seed)
        truth = normal_roc(np.array(grid))
        covered += (band.low <= truth) & (truth <= band.high)
    assert np.all(covered / 300 >= 0.89)


def test_pointwise_band_of_perfect_scores_is_not_a_line():
    y, scores = np.repeat([0, 1], [9, 6]), np.arange(15)
    band = roc_band(y, scores, n_resamples=100, random_state=0, fpr=[0, 0.5, 1])
    exact = binomtest(6, 6).proportion_ci(0.95, method="exact").low
    np.testing.assert_allclose(band.low, [exact, exact, 1])
    np.testing.assert_array_equal(band.high, [1, 1, 1])
    weighted = roc_band(y, scores, sample_weight=np.ones(15), random_state=0, fpr=[0, 0.5, 1])
    np.testing.assert_allclose(weighted.low, band.low)


# Cross-validation.


def influence_curves(y, scores, folds):
    """LeDell, Petersen and van der Laan (2015), section 4, for one repeat: by fold."""
    aucs, curves = [], []
    for fold in np.unique(folds):
        yf, sf = y[folds == fold], scores[folds == fold]
        auc = roc_auc_score(yf, sf)
        curve = []
        for label, score in zip(yf, sf, strict=True):
            others = sf[yf != label]
            above = others < score if label else others > score
            placement = np.mean(above + 0.5 * (others == score))
            curve.append((placement - auc) / np.mean(y == label))
        aucs.append(auc)
        curves.append(np.array(curve))
    return np.mean(aucs), curves


def influence_interval(y, scores, folds):
    auc, curves = influence_curves(y, scores, folds)
    sigma2 = [np.mean(curve**2) for curve in curves]
    return auc, math.sqrt(np.mean(sigma2) / y.size)


@given(st.integers(0, 2**32 - 1), st.integers(2, 5))
def test_cross_validated_interval_is_that_of_the_paper(seed, n_folds):
    rng = np.random.default_rng(seed)
    y = np.r_[np.tile([0, 1], n_folds), rng.integers(0, 2, 60)]
    folds = np.r_[np.repeat(np.arange(n_folds), 2), rng.integers(0, n_folds, 60)]
    scores = rng.integers(0, 6, y.size) + 2.0 * y
    auc, error = influence_interval(y, scores, folds)
    found = cross_validated_auc(y, scores, folds)
    assert found.auc == pytest.approx(auc, abs=1e-12)
    assert found.standard_error == pytest.approx(error, abs=1e-12)
    sizes = np.bincount(y)
    typical = auc * (1 - auc) * sum(1 / sizes) / 3
    drawn = ((min(sizes) - 1) * error**2 + 5 * typical) / (min(sizes) + 4)
    reach = norm.ppf(0.975) * math.sqrt(drawn) / (auc * (1 - auc))
    assert found.low == pytest.approx(expit(logit(auc) - reach), abs=1e-9)
    # The same repeat twice adds nothing; equal weights and rows without weight change nothing.
    twice = cross_validated_auc(y, np.c_[scores, scores], np.c_[folds, folds])
    names = np.array(list("abcde"))[folds]
    weighted = cross_validated_auc(
        [*y, 1, 0],
        [*scores, 0, 9],
        [*names, "a", "z"],
        sample_weight=[*np.full(y.size, 0.7), 0, 0],
    )
    for other in (twice, weighted):
        assert other.auc == pytest.approx(found.auc, abs=1e-12)
        assert other.standard_error == pytest.approx(error, abs=1e-9)


def test_repeats_average_influences():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 400)
    folds = np.c_[[rng.permutation(np.arange(400) % 4) for _ in range(20)]].T
    scores = rng.normal(loc=y)[:, None] + rng.normal(size=(400, 20))
    pooled = cross_validated_auc(y, scores, folds)
    single = [cross_validated_auc(y, s, f) for s, f in zip(scores.T, folds.T, strict=True)]
    assert pooled.auc == pytest.approx(np.mean([one.auc for one in single]))
    # Independent noise averages out, what the rows share does not.
    errors = [one.standard_error for one in single]
    assert np.mean(errors) / math.sqrt(20) < pooled.standard_error < min(errors)


def test_cross_validated_intervals_cover_the_true_area():
    rng, truth, covered = np.random.default_rng(7), norm.cdf(math.sqrt(0.5)), 0
    y = np.tile([0, 1], 100)
    for _ in range(300):
        found = cross_validated_auc(y, rng.normal(loc=y), np.repeat(np.arange(5), 40))
        covered += found.low <= truth <= found.high
    assert 0.91 <= covered / 300 <= 0.985


def test_perfect_folds_have_an_exact_interval():
    y, scores, folds = [0, 1, 0, 1, 1, 0], [0, 1, 5, 6, 7, 4], [1, 1, 2, 2, 2, 2]
    with pytest.warns(UndefinedMetricWarning, match="independent pairs"):
        found = cross_validated_auc(y, scores, folds)
    assert (found.low, found.method) == (pytest.approx(0.025 ** (1 / 3)), "exact")


def test_folds_of_one_pair_have_no_zero_width_interval():
    y, folds = np.tile([0, 1], 40), np.repeat(np.arange(40), 2)
    scores = np.where(folds < 30, y, -y)
    with pytest.warns(UndefinedMetricWarning, match="independent pairs"):
        found = cross_validated_auc(y, scores, folds)
    # 30 wins in 40 trials.
    reach = math.sqrt(math.log(2 / 0.05) / 80)
    assert found.method == "hoeffding"
    assert (found.low, found.high) == (pytest.approx(0.75 - reach), pytest.approx(0.75 + reach))


@given(st.integers(0, 2**32 - 1), st.integers(1, 4))
def test_the_test_of_a_difference_is_that_of_the_differences_of_influences(seed, n_folds):
    rng = np.random.default_rng(seed)
    y = np.r_[np.tile([0, 1], n_folds), rng.integers(0, 2, 60)]
    folds = np.r_[np.repeat(np.arange(n_folds), 2), rng.integers(0, n_folds, 60)]
    one, other = (rng.integers(0, 9, y.size) + 2.0 * y for _ in range(2))
    (auc_1, curves_1), (auc_2, curves_2) = (
        influence_curves(y, scores, folds) for scores in (one, other)
    )
    sigma2 = [np.mean((c1 - c2) ** 2) for c1, c2 in zip(curves_1, curves_2, strict=True)]
    error = math.sqrt(np.mean(sigma2) / y.size)
    found = cross_validated_compare(y, one, other, folds, confidence=0.9)
    assert (found.auc_1, found.auc_2) == (pytest.approx(auc_1), pytest.approx(auc_2))
    assert found.standard_error == pytest.approx(error, abs=1e-12)
    assert found.z == pytest.approx((auc_1 - auc_2) / error)
    law = t(min(np.bincount(y)) - n_folds)
    assert found.p_value == pytest.approx(2 * law.sf(abs(auc_1 - auc_2) / error))
    assert found.high - found.difference == pytest.approx(law.ppf(0.95) * error)
    back = cross_validated_compare(y, other, one, folds, confidence=0.9)
    assert (back.low, back.p_value) == (-found.high, found.p_value)
    # The same repeat twice adds nothing.
    twice = cross_validated_compare(y, np.c_[one, one], np.c_[other, other], np.c_[folds, folds])
    assert twice.standard_error == pytest.approx(error, abs=1e-12)


def test_one_fold_is_compared_as_by_delong():
    """But for m in place of m - 1, which 400 rows of each class make no more than 0.13 %."""
    rng = np.random.default_rng(2)
    y = np.tile([0, 1], 400)
    one = rng.normal(loc=y)
    other = 0.5 * one + rng.normal(size=800)
    within = cross_validated_compare(y, one, other, np.zeros(800))
    assert within.standard_error == pytest.approx(
        auc_compare(y, one, other).standard_error * math.sqrt(399 / 400), rel=1e-9
    )


def test_models_that_rank_equally_well_are_distinguished_in_one_case_of_twenty():
    rng, rejected, n_draws = np.random.default_rng(11), 0, 1000
    y, folds = np.tile([0, 1], 150), np.repeat(np.arange(5), 60)
    # Scales differ from fold to fold, as those of models do.
    scale = 2.0 ** np.arange(5)[folds]
    for _ in range(n_draws):
        shared = y + rng.normal(size=300)
        one, other = (scale * (shared + 0.7 * rng.normal(size=300)) for _ in range(2))
        rejected += cross_validated_compare(y, one, other, folds).p_value < 0.05
    # Three standard deviations of a binomial share about the level.
    assert 0.029 <= rejected / n_draws <= 0.071


def test_a_model_is_as_good_as_itself_in_other_units():
    rng = np.random.default_rng(3)
    y, folds = np.tile([0, 1], 50), np.repeat(np.arange(4), 25)
    scores = rng.normal(loc=y)
    found = cross_validated_compare(y, scores, np.exp(scores), folds)
    assert (found.difference, found.low, found.high, found.z, found.p_value) == (0, 0, 0, 0, 1)
    assert found.method == "influence"


def test_perfect_models_differ_by_no_more_than_both_intervals_allow():
    y, folds = np.tile([0, 1], 20), np.repeat(np.arange(4), 10)
    with pytest.warns(UndefinedMetricWarning, match="independent pairs"):
        found = cross_validated_compare(y, y, 2 * y, folds)
    with pytest.warns(UndefinedMetricWarning, match="independent pairs"):
        alone = cross_validated_auc(y, y, folds, confidence=0.975)
    assert (found.method, found.p_value, found.z) == ("exact", 1.0, 0.0)
    assert (found.low, found.high) == (alone.low - 1, 1 - alone.low)
    with pytest.warns(UndefinedMetricWarning, match="y_score_1: in no fold"):
        found = cross_validated_compare(y, y, np.random.default_rng(0).normal(size=40), folds)
    assert found.method == "influence"


# Bad input.


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: auc_interval([1, 1], [0, 1]), "Only one class is present"),
        (lambda: auc_interval([0, 1], [0, np.nan]), "score of row 1 is NaN"),
        (lambda: auc_interval([0, 1, 1], [0, 1]), "y_score has 2 rows, but y has 3"),
        (lambda: auc_interval(CT_Y, CT_RATING, confidence=1.0), "confidence"),
        (lambda: auc_interval(CT_Y, CT_RATING, method="wald"), "method is 'wald'"),
        (lambda: auc_interval(CT_Y, CT_RATING, n_resamples=1), "n_resamples"),
        (lambda: auc_interval([0, 1], [0, 1], sample_weight=[1, -1]), "sample_weight of row 1"),
        (
            lambda: auc_interval([0, 1], [0, 1], sample_weight=[1, 0]),
            "on every row of the",
        ),
        (lambda: auc_compare(CT_Y, CT_RATING, CT_RATING[1:]), "y_score has 108 rows"),
        (lambda: auc_compare([0, 1], [0, 1], [0, 1], sample_weight_2=[1, 1]), "needs y_true_2"),
        (lambda: roc_band(CT_Y, CT_RATING, fpr=[0.5, 1.5]), "fpr is 1.5"),
        (lambda: roc_band(CT_Y, CT_RATING, fpr=[]), r"shape \(n_points,\)"),
        (lambda: cross_validated_auc([0, 1, 1], [0, 1, 2], ["a", "a", "b"]), "fold 'b'"),
        (lambda: cross_validated_auc([0, 1], [0, 1], [1]), "fold has 1 rows"),
        (lambda: cross_validated_auc([0, 1], [0, 1], [1, np.nan]), "missing"),
        (lambda: cross_validated_auc([0, 1], [[0, 1], [1, 0]], [1, 1]), "has 2 columns"),
        (
            lambda: cross_validated_compare([0, 1], [0, 1], [1, 0], [1, 1], confidence=0),
            "confidence",
        ),
        (lambda: cross_validated_compare([0, 1], [0, 1], [1], [1, 1]), "y_score has 1 rows"),
    ],
)
def test_bad_input_is_named_in_the_error(call, message):
    with pytest.raises(ValueError, match=message):
        call()
