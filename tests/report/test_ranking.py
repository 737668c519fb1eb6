"""The curve, its areas, KS, and the gains."""

from dataclasses import replace

import numpy as np
import pytest
from aucrank._report.options import read_options
from aucrank._report.ranking import measure_ranking
from aucrank.metrics import RocCurve, auc_interval, partial_auc
from aucrank.metrics._gains import TOP_SHARES
from hypothesis import given
from scipy.stats import ks_2samp
from sklearn.metrics import roc_auc_score

from tests.common.reports import target_of
from tests.common.samples import scored_rows

FEW_RESAMPLES = read_options()


def captured_by_definition(positive, scores, weight, share):
    """Share of the positives in the first rows, a group of ties being taken in proportion."""
    room, found = share * weight.sum(), 0.0
    for score in np.unique(scores)[::-1]:
        tied = scores == score
        taken = min(1.0, room / weight[tied].sum())
        found += taken * weight[tied & positive].sum()
        room -= taken * weight[tied].sum()
        if taken < 1:
            break
    return found / weight[positive].sum()


@given(scored_rows())
def test_gains_are_those_of_rows_taken_from_the_top(sample):
    y, scores, weight = sample
    kept = weight > 0
    y, scores, weight = y[kept] == 1, scores[kept].astype(float), weight[kept]
    gains = measure_ranking(scores, target_of(y, weight), FEW_RESAMPLES).gains
    expected = [captured_by_definition(y, scores, weight, share) for share in TOP_SHARES]
    np.testing.assert_allclose(gains["captured"], expected, atol=1e-12)
    np.testing.assert_allclose(gains["lift"], np.array(expected) / TOP_SHARES, atol=1e-12)
    prevalence = weight[y].sum() / weight.sum()
    np.testing.assert_allclose(gains["rate"], gains["lift"] * prevalence)


def test_ks_is_the_statistic_of_the_two_samples():
    rng = np.random.default_rng(0)
    y = rng.random(500) < 0.3
    scores = rng.normal(loc=y).round(1)
    found = measure_ranking(scores, target_of(y), FEW_RESAMPLES)
    assert found.ks == pytest.approx(ks_2samp(scores[y], scores[~y], alternative="less").statistic)
    threshold = found.curve.thresholds[found.ks_knot]
    assert found.ks == pytest.approx(
        (scores[y] >= threshold).mean() - (scores[~y] >= threshold).mean()
    )


def test_areas_are_those_of_the_statistics():
    rng = np.random.default_rng(1)
    y = rng.random(400) < 0.4
    scores = rng.normal(loc=y)
    found = measure_ranking(scores, target_of(y), read_options(max_fpr=0.2))
    assert found.auc == pytest.approx(roc_auc_score(y, scores))
    assert found.gini == pytest.approx(2 * roc_auc_score(y, scores) - 1)
    low, high = found.partial
    assert low.standardized == pytest.approx(roc_auc_score(y, scores, max_fpr=0.2))
    assert low.share == pytest.approx(partial_auc(y, scores, fpr=(0, 0.2)) / 0.2)
    assert high.area == pytest.approx(partial_auc(y, scores, tpr=(0.8, 1)))
    for part in (low, high):
        expected = auc_interval(
            y, scores, fpr=part.fpr, tpr=part.tpr, standardize=True, method="logit"
        )
        assert part.interval == expected
        assert part.interval.auc == pytest.approx(part.standardized)
        assert part.interval.low < part.standardized < part.interval.high
    curve = RocCurve.from_scores(y, scores)
    points = found.operating_points
    np.testing.assert_allclose(points["tpr"], curve.tpr_at(points["fpr"]))
    assert (points["low"] <= points["tpr"]).all()
    assert (points["tpr"] <= points["high"]).all()


def test_partial_areas_of_groups_have_the_intervals_of_whole_groups():
    rng = np.random.default_rng(4)
    groups = rng.integers(0, 60, 400)
    y = rng.random(400) < 0.4
    scores = rng.normal(loc=y) + rng.normal(size=60)[groups]
    target = replace(target_of(y), groups=groups)
    for part in measure_ranking(scores, target, read_options(max_fpr=0.2)).partial:
        expected = auc_interval(
            y,
            scores,
            groups=groups,
            fpr=part.fpr,
            tpr=part.tpr,
            standardize=True,
            method="logit",
        )
        assert part.interval == expected
        assert part.interval.low < part.standardized < part.interval.high


def test_a_class_of_one_row_has_partial_areas_without_an_interval():
    y, scores = np.arange(40) == 7, np.random.default_rng(0).normal(size=40)
    found = measure_ranking(scores, target_of(y), FEW_RESAMPLES)
    assert [part.interval for part in found.partial] == [None, None]
    assert found.partial[0].area == pytest.approx(partial_auc(y, scores, fpr=found.partial[0].fpr))


def test_weight_two_equals_a_repeated_row():
    rng = np.random.default_rng(2)
    y = rng.random(200) < 0.4
    scores = rng.normal(loc=y).round(1)
    weight = rng.integers(1, 3, 200)
    once = measure_ranking(scores, target_of(y, weight), FEW_RESAMPLES)
    twice = measure_ranking(
        np.repeat(scores, weight), target_of(np.repeat(y, weight)), FEW_RESAMPLES
    )
    assert (once.auc, once.ks) == pytest.approx((twice.auc, twice.ks))
    np.testing.assert_allclose(once.gains["captured"], twice.gains["captured"])


def test_with_many_rows_the_band_is_that_of_the_whole_curve():
    rng = np.random.default_rng(3)
    y = rng.random(100_500) < 0.2
    found = measure_ranking(rng.normal(loc=y), target_of(y), FEW_RESAMPLES)
    assert found.band.method == "simultaneous"
    few = measure_ranking(rng.normal(loc=y[:300]), target_of(y[:300]), FEW_RESAMPLES)
    assert few.band.method == "pointwise"
