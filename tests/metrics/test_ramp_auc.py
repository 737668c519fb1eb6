"""The ramp AUC against the double sum, and the two-sample test."""

import numpy as np
import pytest
from aucrank.metrics import ramp_auc, ramp_auc_gradient, roc_auc_score
from hypothesis import given
from hypothesis import strategies as st

rows = st.lists(
    st.tuples(st.booleans(), st.integers(-8, 8), st.integers(0, 3)), min_size=0, max_size=40
)


def ramp(x, w, c):
    """The ramp, piece by piece: figure 1 and section 2.2 of the paper."""
    central = 1 / (2 * w)
    inside = (x + w) * central
    return np.where(
        x > w, 1 + c * central * (x - w), np.where(x < -w, c * central * (x + w), inside)
    )


@given(rows, st.sampled_from([0.25, 0.5, 1.3]), st.sampled_from([0.0, 1e-3, 0.5, 1.0]))
def test_is_the_weighted_mean_over_all_pairs(sample, half_width, side_slope):
    sample = [(True, 1, 1), (False, 0, 2), *sample]
    y, scores, weights = map(np.array, zip(*sample, strict=True))
    scores = scores / 4
    differences = scores[y][:, None] - scores[~y]
    pairs = weights[y][:, None] * weights[~y]
    value = np.sum(pairs * ramp(differences, half_width, side_slope)) / pairs.sum()
    shape = {"half_width": half_width, "side_slope": side_slope}
    assert ramp_auc(y, scores, sample_weight=weights, **shape) == pytest.approx(value, abs=1e-12)
    plain = np.mean(ramp(differences, half_width, side_slope))
    assert ramp_auc(y, scores, **shape) == pytest.approx(plain, abs=1e-12)


def test_a_large_sample_of_either_width_has_the_mean_of_its_pairs():
    rng = np.random.default_rng(0)
    y = rng.random(100_000) < 0.02
    scores = rng.normal(y, 1).astype(np.float32)
    positive, negative = scores[y].astype(float), scores[~y].astype(float)
    value = np.mean([np.mean(ramp(s - negative, 0.5, 1e-3)) for s in positive])
    assert ramp_auc(y, scores) == pytest.approx(value, abs=1e-12)
    assert ramp_auc(y, scores.astype(float)) == ramp_auc(y, scores)


def test_turns_into_the_auc_as_the_ramp_narrows():
    rng = np.random.default_rng(1)
    y, scores = rng.random(500) < 0.3, rng.integers(0, 50, 500)
    assert ramp_auc(y, scores, half_width=0.5, side_slope=0) == pytest.approx(
        roc_auc_score(y, scores), abs=1e-15
    )


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"half_width": 0}, "half_width is 0"),
        ({"half_width": np.nan}, "half_width is NaN"),
        ({"side_slope": 1.5}, "side_slope is 1.5"),
        ({"y_score": [0, np.inf]}, "a score is inf"),
        ({"y_score": [0, np.nan]}, "row 1 is NaN"),
        ({"y_true": [1, 1]}, "one class"),
    ],
)
def test_bad_input_is_named_in_the_error(change, named):
    arguments = {"y_true": [0, 1], "y_score": [0.0, 1.0], **change}
    for statistic in (ramp_auc, ramp_auc_gradient):
        with pytest.raises(ValueError, match=named):
            statistic(**arguments)


@given(rows, st.sampled_from([0.25, 0.5, 1.3]), st.sampled_from([0.0, 1e-3, 0.5, 1.0]))
def test_slopes_are_sums_over_pairs_and_corners_lie_inside(sample, half_width, side_slope):
    sample = [(True, 1, 1), (False, 0, 2), *sample]
    y, scores, weights = map(np.array, zip(*sample, strict=True))
    scores = scores / 4
    inside = np.abs(scores[y][:, None] - scores[~y]) <= half_width
    pairs = weights[y][:, None] * weights[~y]
    slopes = pairs * np.where(inside, 1, side_slope) / (2 * half_width * pairs.sum())
    expected = np.empty(len(y))
    expected[y], expected[~y] = slopes.sum(axis=1), -slopes.sum(axis=0)
    shape = {"half_width": half_width, "side_slope": side_slope}
    value, gradient = ramp_auc_gradient(y, scores, sample_weight=weights, **shape)
    np.testing.assert_allclose(gradient, expected, rtol=0, atol=1e-13)
    assert value == ramp_auc(y, scores, sample_weight=weights, **shape)


@pytest.mark.parametrize("n", [40, 100_000])
@pytest.mark.parametrize("has_weight", [False, True])
def test_the_gradient_by_coefficient_is_the_limit_of_differences(n, has_weight):
    rng = np.random.default_rng(n)
    X = rng.normal(size=(n, 3))
    y, weight = rng.random(n) < 0.3, rng.random(n) if has_weight else None
    coef, step = np.array([0.8, -1.3, 0.4]), 1e-6
    gradient = X.T @ ramp_auc_gradient(y, X @ coef, sample_weight=weight)[1]
    for j, change in enumerate(np.eye(3) * step):
        above, below = (
            ramp_auc(y, X @ beta, sample_weight=weight) for beta in (coef + change, coef - change)
        )
        # Few pairs cross a corner within a step; each of them bends the quotient by 1 / (P N).
        assert (above - below) / (2 * step) == pytest.approx(gradient[j], abs=2e-6)


def test_the_gradient_accepts_the_same_input_as_the_value():
    y, scores = ["b", "a", "b", "a"], [2**60 + 1, 2**60, -3, 4]
    value, gradient = ramp_auc_gradient(y, scores, half_width=1)
    assert value == ramp_auc(y, scores, half_width=1)
    ordered = ramp_auc_gradient(y[::-1], scores[::-1], half_width=1)
    assert value == ordered[0]
    assert np.array_equal(gradient, ordered[1][::-1])
    narrow = ramp_auc_gradient([0, 1], np.array([0, 0.25], dtype=np.float32))
    assert narrow[0] == 0.75
    assert np.array_equal(narrow[1], [-1, 1])
