"""The picture of a feature in bins against the tables and curves that it shows."""

from itertools import combinations, pairwise

import numpy as np
import pandas as pd
import pytest
from aucrank import MAD2C, RIMARC
from aucrank.datasets import load_breast_cancer
from aucrank.inspection import FeatureDisplay
from aucrank.metrics import RocCurve
from sklearn.exceptions import NotFittedError

from tests.common.processes import said_without_matplotlib

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("agg")
plt = pytest.importorskip("matplotlib.pyplot")
Text = pytest.importorskip("matplotlib.text").Text


pytestmark = pytest.mark.usefixtures("plt")


def clients(n=500, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.random(n) < 0.3
    names = ["car", "a house in the country", "a tour of the whole wide world", "other"]
    X = pd.DataFrame(
        {
            "up": (rng.normal(size=n) + y).round(2),
            "down": np.where(rng.random(n) < 0.2, np.nan, rng.normal(size=n) - y),
            "calls": np.where(rng.random(n) < 0.2, -1, rng.poisson(3 + y)),
            "$cost in $": pd.Categorical(rng.choice(names, n)),
            "flat": 1.0,
            "weak": rng.normal(size=n),
            "many": pd.Categorical([f"shop {k}" for k in rng.integers(0, 40, n)]),
        }
    )
    return X, y


X, Y = clients()
SPECIAL = {"calls": [-1]}


@pytest.fixture(scope="module", params=[MAD2C, RIMARC], ids=lambda c: c.__name__)
def model(request):
    return request.param(special_values=SPECIAL).fit(X, Y)


def rows_of(model, feature):
    bins = model.bins()
    return {name: column[bins["feature"] == feature] for name, column in bins.items()}


@pytest.mark.parametrize("feature", X.columns)
def test_bars_and_rates_equal_those_of_the_table(model, feature):
    display = model.plot_feature(feature)
    assert isinstance(display, FeatureDisplay)
    table = rows_of(model, feature)
    assert [bar.get_height() for bar in display.positive_bars_] == table["n_pos"].tolist()
    tops = [bar.get_y() + bar.get_height() for bar in display.negative_bars_]
    assert tops == pytest.approx(table["size"].tolist())
    shares = [line[0, 1] for line in display.rate_lines_.get_segments()]
    assert shares == pytest.approx(table["rate"].tolist())
    # Bars stand below their shares.
    for bar, line in zip(display.positive_bars_, display.rate_lines_.get_segments(), strict=True):
        assert bar.get_x() == pytest.approx(line[0, 0])
        assert bar.get_x() + bar.get_width() == pytest.approx(line[1, 0])
    assert display.rows_ax_.get_xlim() == display.rate_ax_.get_xlim()


@pytest.mark.parametrize("feature", ["up", "down", "calls", "weak"])
def test_the_hull_is_that_of_the_curve_behind_it(model, feature):
    display = model.plot_feature(feature, X, Y)
    j = X.columns.get_loc(feature)
    direction = rows_of(model, feature)["direction"][0]
    kept = X[feature].notna() & ~((feature == "calls") & (X[feature] == -1))
    curve = RocCurve.from_scores(Y[kept], direction * X[feature][kept])
    np.testing.assert_array_equal(display.curve_line_.get_xydata(), np.c_[curve.fpr, curve.tpr])
    hull = curve.hull()
    np.testing.assert_allclose(display.hull_line_.get_xydata(), np.c_[hull.fpr, hull.tpr])
    # What is written at a corner is the cut between the values on its two sides.
    thresholds = direction * hull.thresholds
    assert display.corner_texts_
    for corner, text in display.corner_texts_.items():
        sign, cut = text.get_text().split()
        assert sign == ("≥" if direction > 0 else "<")
        inside = X[feature][kept] >= float(cut) if direction > 0 else X[feature][kept] < float(cut)
        assert (Y[kept] & inside).sum() / Y[kept].sum() == pytest.approx(hull.tpr[corner])
        assert inside[X[feature][kept] == thresholds[corner]].all()
    by_place = model.plot_feature(j, X, Y)
    assert by_place.roc_ax_.get_title() == feature == display.rows_ax_.get_xlabel()


def test_categories_are_sorted_by_their_rates(model):
    display = model.plot_feature("$cost in $", X, Y)
    rates = pd.Series(Y).groupby(X["$cost in $"], observed=True).mean().sort_values()
    labels = [text.get_text() for text in display.rows_ax_.get_xticklabels()]
    assert [label[:6] for label in labels] == [name[:6] for name in rates.index]
    assert [label[-6:] for label in labels] == [name[-6:] for name in rates.index]
    assert all(len(label) <= 20 for label in labels)
    # The best ends at the first corner.
    assert display.corner_texts_[1].get_text() == labels[-1]
    np.testing.assert_allclose(display.curve_line_.get_xydata(), display.hull_line_.get_xydata())


def test_special_and_missing_values_are_drawn_separately(model):
    labels = [t.get_text() for t in model.plot_feature("calls").rows_ax_.get_xticklabels()]
    assert labels[-1] == "-1"
    display = model.plot_feature("down")
    assert display.rows_ax_.get_xticklabels()[-1].get_text() == "missing"
    ends = [(line[0, 0], line[1, 0]) for line in display.rate_lines_.get_segments()]
    gaps = [right[0] - left[1] for left, right in pairwise(ends)]
    assert gaps[:-1] == pytest.approx([0.0] * (len(gaps) - 1))
    assert gaps[-1] > 0.3


def test_the_curve_uses_sample_weights():
    weight = np.random.default_rng(1).integers(0, 3, len(Y))
    model = MAD2C().fit(X, Y, weight)
    display = model.plot_feature("up", X, Y, sample_weight=weight)
    again = np.repeat(np.arange(len(Y)), weight)
    repeated = model.plot_feature("up", X.iloc[again], Y[again])
    np.testing.assert_allclose(
        np.unique(display.curve_line_.get_xydata(), axis=0),
        np.unique(repeated.curve_line_.get_xydata(), axis=0),
    )
    assert display.rows_ax_.get_ylabel() == "Rows"
    other = MAD2C().fit(X, Y, weight + 0.5).plot_feature("up")
    assert other.rows_ax_.get_ylabel() == "Weight of rows"


OTHER = clients(60, seed=1)


@pytest.mark.parametrize("rows", [(), (X, Y), OTHER], ids=["no rows", "same rows", "other rows"])
@pytest.mark.parametrize("feature", X.columns)
def test_nothing_overlaps_and_nothing_is_cut_off(feature, rows):
    model = MAD2C(special_values=SPECIAL).fit(X, Y)
    display = model.plot_feature(feature, *rows)
    display.figure_.canvas.draw()
    texts = list(display.corner_texts_.values())
    boxes = [Text.get_window_extent(text) for text in texts]
    for ax in (display.rate_ax_, display.rows_ax_):
        group = [Text.get_window_extent(text) for text in ax.texts]
        group += [
            label.get_window_extent() for label in ax.get_xticklabels() if ax is display.rows_ax_
        ]
        assert_apart(group)
    assert_apart([*boxes, display.roc_ax_.get_legend().get_window_extent()])
    page = display.figure_.bbox
    axes = (display.roc_ax_, display.rate_ax_, display.rows_ax_)
    for box in [*boxes, *(ax.get_tightbbox() for ax in axes)]:
        assert page.x0 <= box.x0 <= box.x1 <= page.x1
        assert page.y0 <= box.y0 <= box.y1 <= page.y1
    # Labels are off the curves.
    for line in filter(None, (display.hull_line_, display.curve_line_)):
        knots = line.get_xydata()
        steps = np.linspace(0, len(knots) - 1, 20_000)
        dense = np.column_stack([np.interp(steps, np.arange(len(knots)), c) for c in knots.T])
        pixels = display.roc_ax_.transData.transform(dense)
        for box in boxes:
            assert not box.count_contains(pixels)


def assert_apart(boxes):
    for first, second in combinations(boxes, 2):
        assert not first.overlaps(second)


def test_many_bins_are_thinned_out():
    rng = np.random.default_rng(0)
    x = rng.normal(size=50_000)
    y = rng.random(x.size) < 1 / (1 + np.exp(-x))
    model = MAD2C().fit(x[:, None], y)
    assert model.n_bins_[0] > 50
    display = model.plot_feature(0)
    display.figure_.canvas.draw()
    assert 5 < len(display.corner_texts_) < 20
    assert_apart([Text.get_window_extent(text) for text in display.corner_texts_.values()])
    assert_apart([label.get_window_extent() for label in display.rows_ax_.get_xticklabels()])
    assert not display.rate_ax_.texts


def test_axes_of_the_user_are_drawn_on():
    model = MAD2C().fit(X, Y)
    figure, axes = plt.subplots(1, 3)
    display = model.plot_feature("up", ax=axes)
    assert (display.roc_ax_, display.rate_ax_, display.rows_ax_) == tuple(axes)
    assert display.figure_ is figure
    with pytest.raises(ValueError, match=r"ax must be three axes.*got 1"):
        model.plot_feature("up", ax=axes[0])


def test_bad_arguments_are_named_in_the_error():
    plt.close("all")
    model = MAD2C().fit(X, Y)
    for feature, error, message in (
        ("z", ValueError, "there is no feature 'z'"),
        (9, ValueError, "feature 9 is not one of the 7 columns"),
        (-1, ValueError, "feature -1 is not one of the 7 columns"),
        (1.5, TypeError, "feature must be a name or a position, got 1.5"),
    ):
        with pytest.raises(error, match=message):
            model.plot_feature(feature)
    with pytest.raises(ValueError, match="needs X and y together"):
        model.plot_feature("up", X)
    with pytest.raises(ValueError, match="needs X and y together"):
        model.plot_feature("up", y=Y)
    with pytest.raises(ValueError, match="sample_weight, but no X and y"):
        model.plot_feature("up", sample_weight=np.ones(len(Y)))
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        model.plot_feature("up", X, Y[:-1])
    with pytest.raises(ValueError, match="do not miss 'down' are of one class"):
        model.plot_feature("down", X.assign(down=X["down"].where(Y)), Y)
    with pytest.raises(ValueError, match="none of the classes"):
        model.plot_feature("up", X, Y + 1)
    with pytest.raises(NotFittedError):
        MAD2C().plot_feature(0)
    assert not plt.get_fignums()


def test_a_feature_that_is_always_missing_is_drawn():
    rows = pd.DataFrame({"never": [np.nan] * 4, "x": [1.0, 2, 3, 4]})
    display = MAD2C().fit(rows, [0, 1, 0, 1]).plot_feature("never")
    display.figure_.canvas.draw()
    assert [t.get_text() for t in display.rows_ax_.get_xticklabels()] == ["missing"]


def test_breast_cancer_names_the_best_feature():
    rows, y = load_breast_cancer(return_X_y=True, as_frame=True)
    display = MAD2C().fit(rows, y).plot_feature("worst_perimeter", rows, y)
    _, labels = display.roc_ax_.get_legend_handles_labels()
    curve = RocCurve.from_scores(y, rows["worst_perimeter"])
    assert labels == [
        f"all values, AUC {curve.auc:.3f}", f"bins, AUC {curve.concave_auc:.3f}"
    ]  # fmt: skip


def test_without_matplotlib_the_error_says_what_to_install():
    said = said_without_matplotlib(
        "MAD2C().fit([[0], [1]], [0, 1]).plot_feature(0)", "from aucrank import MAD2C"
    )
    assert "MAD2C.plot_feature needs matplotlib: run `pip install 'aucrank[plot]'`" in said
