"""Plots of scorecards agree with the card."""

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pytest
from aucrank import Scorecard
from numpy.testing import assert_array_equal

from tests.common.loans import SPECIAL, X, Y, document

mpl.use("agg")


@pytest.fixture(scope="module")
def card():
    return Scorecard(special_values=SPECIAL, min_bin_share=0.05).fit(X, Y)


@pytest.fixture(autouse=True)
def _closed():
    yield
    plt.close("all")


def test_every_bin_has_a_bar_of_its_points(card):
    display = card.plot()
    features = document(card)["features"]
    assert [a.get_title(loc="left") for a in display.axes_] == [
        X.columns[f["feature"]] for f in features
    ]
    assert str(card.initial_points_) in display.figure_.get_suptitle()
    for axis, feature in zip(display.axes_, features, strict=True):
        widths = [bar.get_width() for bar in axis.patches]
        assert sorted(widths) == sorted(feature["points"])
        assert [text.get_text() for text in axis.texts] == [f"{width:.0f}" for width in widths]
    assert len({axis.get_xlim() for axis in display.axes_}) == 1


def test_the_widest_or_the_named_features_are_drawn(card):
    most = {X.columns[f["feature"]]: max(f["points"]) for f in document(card)["features"]}
    first = sorted(most, key=lambda name: -most[name])[:2]
    assert [a.get_title(loc="left") for a in card.plot(2).axes_] == first
    figure, axes = plt.subplots(2)
    display = card.plot(["trade", "age"], ax=axes)
    assert [a.get_title(loc="left") for a in display.axes_] == ["trade", "age"]
    assert display.figure_ is figure
    for params, message in (
        ({"features": ["agee"]}, "did you mean 'age'"),
        ({"features": "age"}, "a number or a list of names"),
        ({"ax": axes}, "features to draw but 2 axes"),
    ):
        with pytest.raises(ValueError, match=message):
            card.plot(**params)


def test_terms_are_drawn_as_points_by_value(card):
    display = card.plot_terms(["age", "months"])
    (steps,) = display.axes_[0].patches
    feature = document(card)["features"][0]
    assert_array_equal(steps.get_data().values, feature["points"][:-1])
    assert_array_equal(steps.get_data().edges[1:-1], feature["bins"]["numeric"]["cuts"])
    labels = [text.get_text() for text in display.axes_[1].get_legend().get_texts()]
    assert labels == ["= -1", "missing"]
    assert display.axes_[0].get_ylabel() == "points"


def test_plotting_a_card_without_points_raises_an_error():
    rng = np.random.default_rng(0)
    empty = Scorecard().fit(np.zeros((40, 1)), rng.permutation(np.arange(40) % 2))
    for draw in (empty.plot, empty.plot_terms):
        with pytest.raises(ValueError, match="nothing to draw"):
            draw()
