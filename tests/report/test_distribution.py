"""Histograms of scores by class."""

import numpy as np
import pytest
from aucrank._report.distribution import measure_distribution

from tests.common.reports import target_of


def test_shares_are_those_of_a_histogram():
    rng = np.random.default_rng(0)
    positive = rng.random(2000) < 0.3
    scores, weight = rng.uniform(size=2000) + positive, rng.uniform(size=2000)
    found = measure_distribution(scores, target_of(positive, weight))
    for shares, rows in ((found.positive, positive), (found.negative, ~positive)):
        counts, _ = np.histogram(scores[rows], found.edges, weights=weight[rows])
        np.testing.assert_allclose(shares, counts / weight[rows].sum())
    assert (found.edges[0], found.edges[-1]) == (scores.min(), scores.max())
    assert (found.below, found.above) == (False, False)


def test_few_distinct_scores_have_a_bar_each():
    scores = np.tile([1.0, 5.0, 2.0, 2.0], 30)
    positive = np.tile([True, False, True, False], 30)
    found = measure_distribution(scores, target_of(positive))
    assert found.values.tolist() == [1, 2, 5]
    assert found.positive.tolist() == [0.5, 0.5, 0]
    assert found.negative.tolist() == [0, 0.5, 0.5]


@pytest.mark.parametrize("far", [1e6, np.inf])
def test_scores_far_away_are_counted_in_the_last_bin(far):
    rng = np.random.default_rng(0)
    scores = np.append(rng.normal(size=999), far)
    positive = np.arange(1000) % 2 == 1
    found = measure_distribution(scores, target_of(positive))
    assert (found.below, found.above) == (False, True)
    assert found.edges[-1] < 10
    assert found.positive.sum() == pytest.approx(1)
    assert found.positive[-1] >= 1 / 500
