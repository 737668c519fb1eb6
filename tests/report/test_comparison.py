"""Paired tests, adjusted for their number."""

import math
from itertools import combinations

import pytest
from aucrank._report.comparison import compare_all, holm
from aucrank._report.options import read_options
from hypothesis import given
from hypothesis import strategies as st

from tests.common.reports import subject_of, target_of


def by_closed_testing(p_values):
    """Bonferroni's test of every set of hypotheses; one is rejected with all sets that hold it."""
    n = len(p_values)
    sets = [s for size in range(1, n + 1) for s in combinations(range(n), size)]
    of_set = {s: min(1.0, len(s) * min(p_values[i] for i in s)) for s in sets}
    return [max(of_set[s] for s in sets if i in s) for i in range(n)]


@given(st.lists(st.floats(0, 1), max_size=6))
def test_holm_is_closed_testing_by_bonferroni(p_values):
    assert holm(p_values) == pytest.approx(by_closed_testing(p_values))


def test_an_unknown_p_value_counts_as_no_test():
    adjusted = holm([0.01, math.nan, 0.04])
    assert adjusted[0] == pytest.approx(0.02)
    assert math.isnan(adjusted[1])
    assert adjusted[2] == pytest.approx(0.04)


def test_a_class_of_one_row_compares_nothing():
    subjects = [subject_of([1.0, 2.0, 3.0]), subject_of([3.0, 1.0, 2.0])]
    assert compare_all(subjects, target_of([0, 0, 1]), read_options()) is None
