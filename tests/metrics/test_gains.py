"""Cumulative gains against rows taken from the top one by one."""

import matplotlib as mpl
import numpy as np
import pytest
from aucrank.metrics import GainsCurve, RocCurve, gains_curve
from hypothesis import given

from tests.common.samples import scored_rows

mpl.use("Agg")

SHARES = (0.01, 0.02, 0.05, *(tenth / 10 for tenth in range(1, 11)))


def captured_by_definition(y, scores, weight, share):
    """Share of the positives among the first rows; rows of a score are taken in proportion."""
    room, found = share * weight.sum(), 0.0
    for score in np.unique(scores)[::-1]:
        tied = scores == score
        taken = min(1.0, room / weight[tied].sum())
        found += taken * weight[tied & y].sum()
        room -= taken * weight[tied].sum()
        if taken < 1:
            break
    return found / weight[y].sum()


@given(scored_rows())
def test_gains_are_those_of_rows_taken_from_the_top(sample):
    y, scores, weight = sample
    found = gains_curve(y, scores, sample_weight=weight)
    kept = weight > 0
    y, scores, weight = y[kept] == 1, scores[kept].astype(float), weight[kept]
    expected = np.array([captured_by_definition(y, scores, weight, share) for share in SHARES])
    table = found.at()
    np.testing.assert_allclose(table["share"], SHARES)
    np.testing.assert_allclose(table["captured"], expected, atol=1e-12)
    np.testing.assert_allclose(table["lift"], expected / SHARES, atol=1e-12)
    # The share of positives among the rows called, by its definition.
    rate = expected * weight[y].sum() / (np.array(SHARES) * weight.sum())
    np.testing.assert_allclose(table["rate"], rate, atol=1e-12)
    np.testing.assert_array_equal(found.captured_at(SHARES), table["captured"])
    np.testing.assert_array_equal(found.lift_at(SHARES), table["lift"])


def rows(n=300):
    rng = np.random.default_rng(0)
    y = rng.random(n) < 0.3
    return y, rng.normal(y).round(1)


def test_weights_equal_copies_and_row_order_does_not_matter():
    y, scores = rows()
    counts = np.random.default_rng(1).integers(0, 4, len(y))
    one = gains_curve(y, scores, sample_weight=counts)
    copied = gains_curve(np.repeat(y, counts), np.repeat(scores, counts))
    order = np.random.default_rng(2).permutation(len(y))
    turned = gains_curve(y[order], scores[order], sample_weight=counts[order])
    for name in ("share", "captured", "thresholds"):
        np.testing.assert_array_equal(getattr(one, name), getattr(copied, name))
        np.testing.assert_array_equal(getattr(one, name), getattr(turned, name))


def test_a_knot_has_the_rates_at_its_threshold():
    y, scores = rows()
    found = gains_curve(y, scores)
    for share, captured, threshold in zip(
        found.share[1:], found.captured[1:], found.thresholds[1:], strict=True
    ):
        called = scores >= threshold
        assert share == pytest.approx(called.mean(), abs=1e-14)
        assert captured == pytest.approx((called & y).sum() / y.sum(), abs=1e-14)
    assert (found.share[0], found.captured[0], found.thresholds[0]) == (0, 0, np.inf)


def test_the_prevalence_of_another_population_can_be_given():
    y, scores = rows()
    found = GainsCurve.from_curve(RocCurve.from_scores(y, scores), 0.05)
    weight = np.where(y, 0.05 / y.mean(), 0.95 / (1 - y.mean()))
    weighted = gains_curve(y, scores, sample_weight=weight)
    for name in ("captured", "rate", "lift"):
        np.testing.assert_allclose(found.at()[name], weighted.at()[name], atol=1e-9)


def test_invalid_shares_raise_an_error():
    y, scores = rows()
    found = gains_curve(y, scores)
    for share in (-0.1, 1.1, np.nan):
        with pytest.raises(ValueError, match="share must be from 0 to 1"):
            found.captured_at(share)
    with pytest.raises(ValueError, match="no rows have no lift"):
        found.lift_at([0.0, 0.5])
    with pytest.raises(ValueError, match="prevalence is 1"):
        GainsCurve.from_curve(RocCurve.from_scores(y, scores), 1)
    with pytest.raises(ValueError, match="one class"):
        gains_curve(np.ones(3), [1, 2, 3])


@pytest.mark.parametrize("kind", ["gains", "lift"])
def test_curves_are_drawn_on_the_same_axes(kind):
    y, scores = rows()
    found = gains_curve(y, scores)
    display = found.plot(kind=kind, name="model")
    n_lines = len(display.ax_.lines)
    again = found.plot(display.ax_, kind=kind, name="other")
    assert again.figure_ is display.figure_
    assert len(again.ax_.lines) == n_lines + 1
    x, drawn = display.line_.get_data()
    expected = found.captured_at(x) if kind == "gains" else found.lift_at(x)
    np.testing.assert_allclose(drawn, expected, atol=1e-12)
    assert [text.get_text() for text in again.ax_.get_legend().get_texts()][-1] == "other"
    mpl.pyplot.close(display.figure_)
    with pytest.raises(ValueError, match="kind must be one of"):
        found.plot(kind="both")
