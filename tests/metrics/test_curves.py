"""Partial areas, precision and recall, means and pictures of curves."""

import numpy as np
import pytest
import sklearn.metrics
from aucrank.metrics import (
    RocCurve,
    average_roc,
    partial_auc,
    precision_recall_curve,
    roc_auc_score,
)
from hypothesis import assume, given
from hypothesis import strategies as st

from tests.common.samples import scored_rows

Y = np.array([0, 0, 1, 1])
S = np.array([0.1, 0.4, 0.35, 0.8])


def area_by_clipping(x, y, fpr, tpr):
    """Integral of the clipped curve, exact: clipping adds corners, trapezoids do the rest."""
    (a, b), (c, d) = fpr, tpr
    area = 0.0
    for x0, y0, x1, y1 in zip(x[:-1], y[:-1], x[1:], y[1:], strict=True):
        left, right = max(x0, a), min(x1, b)
        if right <= left:
            continue
        cuts = [x0 + (level - y0) * (x1 - x0) / (y1 - y0) for level in (c, d) if y1 > y0]
        corners = np.unique([left, right, *(cut for cut in cuts if left < cut < right)])
        heights = y0 + (corners - x0) * (y1 - y0) / (x1 - x0)
        inside = np.clip(heights, c, d) - c
        area += np.sum(np.diff(corners) * (inside[1:] + inside[:-1]) / 2)
    return area


@st.composite
def bands(draw):
    rates = st.floats(0, 1).map(lambda rate: round(rate, 3))
    low, high = sorted((draw(rates), draw(rates)))
    return (low, high) if high - low > 0.01 else (0, 1)


@given(scored_rows(), bands(), bands(), st.booleans())
def test_partial_area_is_that_of_the_clipped_curve(sample, fpr, tpr, weighted):
    y, scores, weights = sample
    kwargs = {"sample_weight": weights if weighted else None}
    x, heights, _ = sklearn.metrics.roc_curve(y, scores, drop_intermediate=False, **kwargs)
    expected = area_by_clipping(x, heights, fpr, tpr)
    found = partial_auc(y, scores, fpr=fpr, tpr=tpr, **kwargs)
    assert found == pytest.approx(expected, abs=1e-12)
    assume(tpr[1] > fpr[0] + 0.01)
    chance = area_by_clipping([0, 1], [0, 1], fpr, tpr)
    greatest = (fpr[1] - fpr[0]) * (tpr[1] - tpr[0])
    expected = (1 + (expected - chance) / (greatest - chance)) / 2
    found = partial_auc(y, scores, fpr=fpr, tpr=tpr, standardize=True, **kwargs)
    assert found == pytest.approx(expected, abs=1e-8)
    assert found <= 1


@given(scored_rows(), st.floats(0.01, 1.0))
def test_standardised_partial_area_is_max_fpr_of_scikit_learn(sample, max_fpr):
    y, scores, weights = sample
    expected = sklearn.metrics.roc_auc_score(y, scores, sample_weight=weights, max_fpr=max_fpr)
    kwargs = {"fpr": (0, max_fpr), "standardize": True, "sample_weight": weights}
    assert partial_auc(y, scores, **kwargs) == pytest.approx(expected, abs=1e-12)


@given(scored_rows(), bands())
def test_swapping_the_classes_swaps_the_bands(sample, band):
    # Sensitivity is the specificity of the other class.
    y, scores, weights = sample
    mirrored = (1 - band[1], 1 - band[0])
    found = partial_auc(y, scores, tpr=band, sample_weight=weights)
    swapped = partial_auc(1 - y, -scores.astype(float), fpr=mirrored, sample_weight=weights)
    assert found == pytest.approx(swapped, abs=1e-12)


def test_the_partial_area_of_the_whole_range_is_the_auc_and_bad_bands_are_rejected():
    assert partial_auc(Y, S) == partial_auc(Y, S, standardize=True) == roc_auc_score(Y, S)
    for kwargs in ({"fpr": (0.5, 0.5)}, {"tpr": (0.2, 1.2)}, {"fpr": (float("nan"), 1)}):
        with pytest.raises(ValueError, match=next(iter(kwargs))):
            partial_auc(Y, S, **kwargs)
    with pytest.raises(ValueError, match="diagonal"):
        partial_auc(Y, S, fpr=(0.5, 1), tpr=(0, 0.5), standardize=True)


@given(scored_rows(), st.booleans(), st.booleans())
def test_precision_and_recall_are_those_of_scikit_learn(sample, weighted, drop):
    y, scores, weights = sample
    kwargs = {"sample_weight": weights if weighted else None, "drop_intermediate": drop}
    expected = sklearn.metrics.precision_recall_curve(y, scores, **kwargs)
    for found, theirs in zip(precision_recall_curve(y, scores, **kwargs), expected, strict=True):
        np.testing.assert_allclose(found, theirs, rtol=1e-15)
        assert found.flags.writeable
    fractions = weights + 0.37
    expected = sklearn.metrics.precision_recall_curve(y, scores, sample_weight=fractions)
    ours = precision_recall_curve(y, scores, sample_weight=fractions)
    for found, theirs in zip(ours, expected, strict=True):
        np.testing.assert_allclose(found, theirs, rtol=1e-12)


def test_precision_and_recall_take_a_positive_label():
    y = ["b", "a", "c", "a"]
    expected = sklearn.metrics.precision_recall_curve(y, S, pos_label="a")
    for found, theirs in zip(precision_recall_curve(y, S, pos_label="a"), expected, strict=True):
        np.testing.assert_array_equal(found, theirs)
    with pytest.raises(ValueError, match="pos_label"):
        precision_recall_curve(y, S)


@given(scored_rows())
def test_concave_auc_is_the_area_under_the_hull(sample):
    y, scores, weights = sample
    curve = RocCurve.from_scores(y, scores, sample_weight=weights)
    hull = curve.hull()
    assert curve.concave_auc == pytest.approx(sklearn.metrics.auc(hull.fpr, hull.tpr), abs=1e-12)
    assert curve.concave_auc >= curve.auc


def three_curves():
    rng = np.random.default_rng(3)
    y = rng.integers(0, 2, (3, 200))
    return [RocCurve.from_scores(labels, rng.normal(loc=labels)) for labels in y]


def test_vertical_average_is_the_mean_of_true_positive_rates():
    curves = three_curves()
    mean = average_roc(curves)
    heights = np.array([np.interp(mean.fpr + 1e-13, c.fpr, c.tpr) for c in curves])
    np.testing.assert_allclose(mean.tpr, heights.mean(axis=0), atol=1e-9)
    np.testing.assert_allclose(mean.tpr_std, heights.std(axis=0, ddof=1), atol=1e-9)
    assert mean.thresholds is None
    assert not mean.fpr_std.any()
    assert np.all(mean.low <= mean.tpr)
    assert np.all(mean.tpr <= mean.high)
    fine = average_roc(curves, grid=np.linspace(0, 1, 100_001))
    area = sklearn.metrics.auc(fine.fpr, fine.tpr)
    assert area == pytest.approx(np.mean([c.auc for c in curves]), abs=1e-4)


def test_threshold_average_is_the_mean_of_rates_at_each_threshold():
    labels, scores = [[0, 0, 1, 1], [0, 1, 0, 1]], [[1, 2, 2, 3], [0, 1, 2, 2]]
    curves = [RocCurve.from_scores(y, s) for y, s in zip(labels, scores, strict=True)]
    for grid in (None, [4, 2.5, 2, 0.5, -1]):
        mean = average_roc(curves, by="threshold", grid=grid)
        for name, kind in (("fpr", 0), ("tpr", 1)):
            rates = np.array(
                [
                    [np.mean(np.array(s)[np.array(y) == kind] >= t) for t in mean.thresholds]
                    for y, s in zip(labels, scores, strict=True)
                ]
            )
            np.testing.assert_allclose(getattr(mean, name), rates.mean(axis=0))
            np.testing.assert_allclose(getattr(mean, f"{name}_std"), rates.std(axis=0, ddof=1))
    whole = average_roc(three_curves(), by="threshold")
    assert whole.thresholds.size == 101
    assert (whole.fpr[0], whole.tpr[0], whole.fpr[-1], whole.tpr[-1]) == (0, 0, 1, 1)


def test_average_of_one_curve_is_the_curve_and_bad_arguments_are_rejected():
    curve = RocCurve.from_scores(Y, S)
    mean = average_roc([curve], grid=[0, 0.25, 1])
    np.testing.assert_array_equal(mean.tpr, curve.tpr_at([0, 0.25, 1]))
    assert not mean.tpr_std.any()
    for args, kwargs in [
        ([[]], {}),
        ([[curve]], {"by": "tpr"}),
        ([[curve]], {"grid": [0, 2]}),
        ([[curve]], {"by": "threshold", "grid": [np.nan]}),
        ([[curve]], {"grid": []}),
    ]:
        with pytest.raises(ValueError, match=r"curve|by|fpr|grid"):
            average_roc(*args, **kwargs)


def test_plot_draws_hull_and_band():
    figure = pytest.importorskip("matplotlib.figure")
    curves = three_curves()
    ax = figure.Figure().add_subplot()
    band = average_roc(curves)
    display = curves[0].plot(ax, plot_hull=True, band=band, curve_kwargs={"color": "green"})
    assert display.line_.get_color() == display.hull_line_.get_color() == "green"
    np.testing.assert_array_equal(display.hull_line_.get_xdata(), curves[0].hull().fpr)
    outline = display.band_.get_paths()[0].vertices
    for point in (band.low, band.high):
        for pair in zip(band.fpr, point, strict=True):
            assert np.any(np.all(np.isclose(outline, pair), axis=1))
    labels = [text.get_text() for text in ax.get_legend().get_texts()]
    hull = f"Concave hull (AUC = {curves[0].concave_auc:.2f})"
    assert labels == [f"AUC = {curves[0].auc:.2f}", "± 1 standard deviation", hull]
    assert display.chance_level_ is None
