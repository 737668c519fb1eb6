"""Metrics of weights that differ by decades, against exact fractions."""

import pickle
from fractions import Fraction

import numpy as np
import pytest
import sklearn.metrics
from aucrank.metrics import (
    RocCurve,
    RocState,
    auc_interval,
    partial_auc,
    precision_recall_curve,
    ramp_auc,
    ramp_auc_gradient,
    roc_auc_score,
    roc_band,
    roc_curve,
)
from hypothesis import example, given
from hypothesis import strategies as st

CLOSE = 1e-13


@st.composite
def weighed_rows(draw):
    """Rows of both classes, two at least of each: weights over 20 decades and a scale a class."""
    row = st.tuples(st.booleans(), st.integers(-4, 4), st.floats(-10, 10))
    rows = [(True, 0, 0.0), (True, 1, -3.0), (False, 0, 2.0), (False, 1, 0.5)]
    rows += draw(st.lists(row, max_size=30))
    scales = draw(st.tuples(st.integers(-100, 100), st.integers(-100, 100)))
    y, scores, decades = map(np.array, zip(*draw(st.permutations(rows)), strict=True))
    # Digits of their own, so that no two sums are alike.
    weights = 10.0 ** (decades + np.where(y, *scales) * draw(st.sampled_from([0, 0.1, 1])))
    return y, scores.astype(float), weights


def knots(y, scores, weights):
    """Fractions of weight of both classes at or above each distinct score, the highest first."""
    weights = [Fraction(w) for w in weights]
    sums = {threshold: [Fraction(0), Fraction(0)] for threshold in scores}
    for positive, score, weight in zip(y, scores, weights, strict=True):
        sums[score][int(positive)] += weight
    fp, tp = [Fraction(0)], [Fraction(0)]
    for threshold in sorted(sums, reverse=True):
        fp.append(fp[-1] + sums[threshold][0])
        tp.append(tp[-1] + sums[threshold][1])
    return sorted(sums, reverse=True), fp, tp


def area(fp, tp, until=1):
    """Area under the knots, as a fraction, up to a false positive rate."""
    x, height = [a / fp[-1] for a in fp], [b / tp[-1] for b in tp]
    total = Fraction(0)
    for i in range(1, len(x)):
        if x[i] > x[i - 1]:
            right = min(x[i], max(x[i - 1], Fraction(until)))
            slope = (height[i] - height[i - 1]) / (x[i] - x[i - 1])
            run = right - x[i - 1]
            total += run * (height[i - 1] + slope * run / 2)
    return total


def assert_close(found, exact):
    """Relative errors, also of what is tiny."""
    exact = np.array([float(value) for value in exact])
    np.testing.assert_allclose(found, exact, rtol=CLOSE, atol=0)


@given(weighed_rows())
def test_curves_and_areas_equal_exact_fractions(sample):
    y, scores, weights = sample
    thresholds, fp, tp = knots(*sample)
    fpr, tpr, found = roc_curve(y, scores, sample_weight=weights, drop_intermediate=False)
    np.testing.assert_array_equal(found[1:], thresholds)
    assert_close(fpr, [a / fp[-1] for a in fp])
    assert_close(tpr, [b / tp[-1] for b in tp])
    auc = roc_auc_score(y, scores, sample_weight=weights)
    assert_close([auc], [area(fp, tp)])
    curve = RocCurve.from_scores(y, scores, sample_weight=weights)
    assert curve.auc == auc
    part = partial_auc(y, scores, fpr=(0, 0.3), sample_weight=weights)
    # The cut is a difference of floats, so its own error is no smaller than that of 0.3.
    assert part == pytest.approx(float(area(fp, tp, Fraction(0.3))), rel=1e-12, abs=1e-15)
    state = RocState()
    for row in np.random.default_rng(0).permutation(y.size):
        state.update(y[[row]], scores[[row]], sample_weight=weights[[row]])
    assert state.auc() == auc
    assert pickle.loads(pickle.dumps(curve)).auc == auc
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(curve)).hull().tpr, curve.hull().tpr)


@given(weighed_rows())
def test_corners_of_the_hull_equal_exact_fractions(sample):
    y, scores, weights = sample
    thresholds, fp, tp = knots(*sample)

    def is_corner(knot):
        return all(
            (tp[knot] - tp[a]) * (fp[b] - fp[a]) > (tp[b] - tp[a]) * (fp[knot] - fp[a])
            for a in range(knot)
            for b in range(knot + 1, len(fp))
        )

    corners = [t for i, t in enumerate([np.inf, *thresholds]) if is_corner(i)]
    hull = RocCurve.from_scores(y, scores, sample_weight=weights).hull()
    np.testing.assert_array_equal(hull.thresholds, corners)


@given(weighed_rows(), st.booleans())
@example(
    (
        np.array([1, 0, 1, 0], dtype=bool),
        np.array([4.0, 3.0, 2.0, 1.0]),
        np.array([1.0, 1e16, 1e16, 1.0]),
    ),
    False,
)
def test_precision_and_recall_equal_exact_fractions(sample, drop):
    y, scores, weights = sample
    thresholds, fp, tp = knots(*sample)
    found = precision_recall_curve(y, scores, sample_weight=weights, drop_intermediate=drop)
    kept = range(1, len(fp))
    if drop:
        kept = [i for i in kept if i in (1, len(fp) - 1) or not tp[i - 1] == tp[i] == tp[i + 1]]
    kept = list(kept)[::-1]
    assert_close(found[0], [*(tp[i] / (tp[i] + fp[i]) for i in kept), 1])
    assert_close(found[1], [*(tp[i] / tp[-1] for i in kept), 0])
    np.testing.assert_array_equal(found[2], [thresholds[i - 1] for i in kept])


@given(weighed_rows())
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.UndefinedMetricWarning")
def test_the_delong_variance_equals_exact_fractions(sample):
    y, scores, weights = sample
    exact = [Fraction(w) for w in weights]
    _, fp, tp = knots(*sample)
    auc, variance = area(fp, tp), Fraction(0)
    for own in (True, False):
        total = {c: sum(w for w, p in zip(exact, y, strict=True) if p == c) for c in (True, False)}
        rows = np.flatnonzero(y == own)
        spread = Fraction(0)
        for i in rows:
            sign = 1 if own else -1
            wins = sum(
                exact[j] * Fraction(int(np.sign(sign * (scores[i] - scores[j]))) + 1, 2)
                for j in np.flatnonzero(y != own)
            )
            spread += (exact[i] * (wins / total[not own] - auc)) ** 2
        variance += spread / total[own] ** 2 * Fraction(len(rows), len(rows) - 1)
    interval = auc_interval(y, scores, sample_weight=weights)
    state = RocState().update(y, scores, sample_weight=weights)
    # Placement values are floats next to the AUC: what they differ by is known to 1e-16.
    for found in (state.variance(), interval.standard_error**2 if variance else 0.0):
        assert found == pytest.approx(float(variance), rel=1e-12, abs=1e-29)


@given(weighed_rows(), st.integers(-300, 280))
def test_only_ratios_within_a_class_matter(sample, power):
    y, scores, weights = sample
    scaled = np.where(y, weights, weights / weights[~y].max() * 2.0**power)
    base = np.where(y, weights, weights / weights[~y].max())
    same = {"sample_weight": base}, {"sample_weight": scaled}
    for statistic in (
        roc_auc_score,
        lambda *args, **kwargs: roc_curve(*args, **kwargs)[0],
        lambda *args, **kwargs: roc_curve(*args, **kwargs)[1],
        lambda *args, **kwargs: auc_interval(*args, **kwargs).high,
        lambda *args, **kwargs: RocState().update(*args, **kwargs).variance(),
        lambda *args, **kwargs: roc_band(*args, random_state=0, n_resamples=3, **kwargs).low,
        lambda *args, **kwargs: partial_auc(*args, fpr=(0.1, 0.4), **kwargs),
    ):
        left, right = (statistic(y, scores, **kwargs) for kwargs in same)
        np.testing.assert_array_equal(left, right)


@given(weighed_rows())
def test_the_ramp_auc_equals_exact_fractions(sample):
    y, scores, weights = sample
    exact = [Fraction(w) for w in weights]
    pos, neg = np.flatnonzero(y), np.flatnonzero(~y)
    total, pairs = Fraction(0), sum(exact[i] for i in pos) * sum(exact[j] for j in neg)
    for i in pos:
        for j in neg:
            x = Fraction(scores[i] - scores[j])
            total += (
                exact[i] * exact[j] * max(Fraction(0), min(Fraction(1), x / 3 + Fraction(1, 2)))
            )
    kwargs = {"sample_weight": weights, "half_width": 1.5, "side_slope": 0.0}
    value, slopes = ramp_auc_gradient(y, scores, **kwargs)
    assert value == pytest.approx(float(total / pairs), abs=1e-14)
    assert ramp_auc(y, scores, **kwargs) == pytest.approx(float(total / pairs), abs=1e-14)
    assert np.isfinite(slopes).all()


@pytest.mark.parametrize("share", [1e-6, 1e-9, 1e-12, 1e-100])
def test_class_weights_of_very_different_size_lose_no_digits(share):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 2000)
    scores = rng.normal(loc=y).round(1)
    weights = rng.random(2000)
    expected = sklearn.metrics.roc_auc_score(y, scores, sample_weight=weights)
    found = roc_auc_score(y, scores, sample_weight=weights * np.where(y, 1, share))
    assert found == pytest.approx(expected, rel=CLOSE)
