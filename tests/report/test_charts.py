"""Scales and paths."""

import numpy as np
import pytest
from aucrank._report.charts import path
from aucrank._report.charts.scale import LinearScale, padded, round_step
from hypothesis import example, given
from hypothesis import strategies as st


def points_of(d):
    return np.array([list(map(float, pair.split())) for pair in d[1:].strip("Z").split("L")])


@pytest.mark.parametrize(
    ("low", "high", "texts"),
    [
        (0, 1, ["0", "0.2", "0.4", "0.6", "0.8", "1"]),
        (-2.5, 2.5, ["\N{MINUS SIGN}2", "\N{MINUS SIGN}1", "0", "1", "2"]),
        (0, 12_000, ["0", "2,000", "4,000", "6,000", "8,000", "10,000", "12,000"]),
        (0.1, 0.1004, ["0.1", "0.1001", "0.1002", "0.1003", "0.1004"]),
    ],
)
def test_ticks_are_round(low, high, texts):
    scale = LinearScale(low, high, 10, 110)
    ticks = scale.ticks()
    assert [tick.text for tick in ticks] == texts
    assert all(9.99 <= tick.place <= 110.01 for tick in ticks)


def test_shares_are_percentages():
    assert [t.text for t in LinearScale(0, 0.02, 0, 1, True).ticks(4)] == [
        "0.0%",
        "0.5%",
        "1.0%",
        "1.5%",
        "2.0%",
    ]
    assert [t.text for t in LinearScale(0, 1, 0, 1, True).ticks(5)][-1] == "100%"


@given(st.floats(1e-9, 1e9), st.integers(2, 10))
def test_a_step_is_the_least_round_one_that_leaves_few_ticks(extent, most):
    step = round_step(extent, most)
    assert extent / step <= most * (1 + 1e-6)
    assert extent / step > most / 2.5 * (1 - 1e-6)


@given(st.floats(-1e6, 1e6), st.floats(0, 1e6))
@example(5e-324, 0.0)
@example(0.0, 5e-324)
def test_a_padded_scale_is_never_empty(low, extent):
    start, end = padded(low, low + extent)
    assert start < end
    assert start <= low
    assert low + extent <= end


@example([(0.0, 1.0), (1e-22, 0.0), (2e-16, 0.0), (1.0, 0.0)])
@given(
    st.lists(st.tuples(st.floats(0, 40), st.floats(0, 300)), min_size=1, max_size=400).map(sorted)
)
def test_a_thinned_curve_covers_the_same_range_in_each_column(points):
    x, y = np.array(points).T
    kept = path.drawn(x, y)
    drawn_x, drawn_y = x[kept], y[kept]
    for value, height in zip(x, y, strict=True):
        left = np.floor(2 * value) / 2
        inside = (left <= drawn_x) & (drawn_x < left + 0.5)
        # The lines that lead into the column and out of it cover what lies between.
        at_edges = np.interp([max(left, x[0]), min(left + 0.5, x[-1])], drawn_x, drawn_y)
        heights = np.concatenate([drawn_y[inside], at_edges])
        assert heights.min() - 1e-6 <= height <= heights.max() + 1e-6


def test_a_long_curve_has_as_many_points_as_the_picture_has_columns():
    x = np.linspace(50, 390, 1_000_000)
    d = path.line(x, 250 - 0.5 * x + np.sin(x))
    assert len(points_of(d)) <= 4 * 2 * 341
    assert len(d) < 30_000


def test_a_straight_line_is_two_points():
    x = np.linspace(0, 100, 11)
    assert path.line(x, 2 * x) == "M0.00 0.00L100.00 200.00"


def test_an_area_is_closed_and_a_histogram_stands_on_its_base():
    assert path.area([0, 1], [2, 2], [1, 1]) == "M0.00 1.00L1.00 1.00L1.00 2.00L0.00 2.00Z"
    assert path.steps([0, 1, 2], [5, 7], 10) == (
        "M0.00 10.00L0.00 5.00L1.00 5.00L1.00 7.00L2.00 7.00L2.00 10.00"
    )
