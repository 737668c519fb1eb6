"""Comparisons in single precision as comparisons of doubles, against the comparison itself."""

import numpy as np
import pytest
from aucrank.imported._thresholds import at_most, single_at_most, single_below
from hypothesis import given
from hypothesis import strategies as st

singles = st.floats(width=32, allow_nan=False)
doubles = st.floats(allow_nan=False, allow_infinity=False)


def neighbourhood(threshold):
    """Return doubles at which a comparison with a threshold may change."""
    with np.errstate(over="ignore"):
        near = np.float32(threshold)
        floats = [near, *(np.nextafter(near, np.float32(side)) for side in (-np.inf, np.inf))]
    exact = [float(value) for value in floats if np.isfinite(value)]
    exact += [(a + b) / 2 for a in exact for b in exact]
    found = [np.nextafter(value, side) for value in exact for side in (-np.inf, value, np.inf)]
    return [value for value in [*found, threshold] if np.isfinite(value)]


@given(singles.filter(lambda t: t > -np.inf), doubles)
def test_a_double_is_below_a_float_in_single_precision_where_it_is_below_the_threshold(t, value):
    for v in [value, *neighbourhood(t)]:
        with np.errstate(over="ignore"):
            assert (v < single_below(t)) == (np.float32(v) < np.float32(t))


@given(doubles, doubles)
def test_a_float_is_at_most_a_double_where_it_is_below_the_threshold(t, value):
    for v in [value, *neighbourhood(t)]:
        with np.errstate(over="ignore"):
            assert (v < single_at_most(t)) == (np.float64(np.float32(v)) <= t)


@pytest.mark.parametrize("t", [0.0, -0.0, 1.0, 1e-35, -1e300, 5e-324])
def test_a_double_is_at_most_another_where_it_is_below_the_next(t):
    for v in neighbourhood(t):
        assert (v < at_most(t)) == (v <= t)
