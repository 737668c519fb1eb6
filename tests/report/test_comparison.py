"""Paired tests, adjusted for their number."""

import math
from itertools import combinations

import numpy as np
import pytest
from aucrank._report.comparison import adjusted, compare_all
from aucrank._report.options import read_options
from aucrank.metrics import auc_compare

from tests.common.reports import subject_of, target_of


def draw(seed):
    """Rows and three models of them, of which the last has least noise."""
    rng = np.random.default_rng(seed)
    y = np.arange(200) % 2
    return y, [y + rng.normal(size=200) * noise for noise in (1.6, 1.3, 1.1)]


@pytest.mark.parametrize("seed", range(5))
def test_an_interval_leaves_out_0_where_the_adjusted_p_value_is_small(seed):
    y, scores = draw(seed)
    subjects = [subject_of(own) for own in scores]
    for level in (0.5, 0.95):
        for found in compare_all(subjects, target_of(y), read_options(confidence=level)):
            is_apart = not found.test.low <= 0 <= found.test.high
            assert is_apart == (found.adjusted < 1 - level) == found.is_significant(level)


def test_intervals_and_p_values_are_those_of_bonferroni():
    y, scores = draw(0)
    subjects = [subject_of(own) for own in scores]
    found = compare_all(subjects, target_of(y), read_options(confidence=0.94))
    for (one, other), pair in zip(combinations(scores, 2), found, strict=True):
        alone = auc_compare(y, one, other, confidence=0.98)
        assert (pair.test.low, pair.test.high) == pytest.approx((alone.low, alone.high))
        assert pair.adjusted == pytest.approx(min(1.0, 3 * alone.p_value))
    assert math.isnan(adjusted(math.nan, 3))


def test_a_class_of_one_row_compares_nothing():
    subjects = [subject_of([1.0, 2.0, 3.0]), subject_of([3.0, 1.0, 2.0])]
    assert compare_all(subjects, target_of([0, 0, 1]), read_options()) is None
