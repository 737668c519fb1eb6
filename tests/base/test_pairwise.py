"""Combinations of parameters in which each two values meet."""

from itertools import combinations, product

import pytest

from tests.common.pairwise import pairwise


@pytest.mark.parametrize(("sizes", "n_cases"), [((15, 4, 2), 60), ((3, 3, 3, 2), 9), ((2, 5), 10)])
def test_each_two_positions_meet_in_few_cases(sizes, n_cases):
    cases = pairwise(*sizes)
    assert len(cases) == len(set(cases)) == n_cases
    for one, other in combinations(range(len(sizes)), 2):
        met = {(case[one], case[other]) for case in cases}
        assert met == set(product(range(sizes[one]), range(sizes[other])))
