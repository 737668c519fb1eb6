"""Level sets against a plain loop over the grid, and what is drawn of them."""

from itertools import pairwise

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from aucrank import TreeRank
from aucrank.datasets import make_gaussian_pair, make_uniform_mixture
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB

from tests.common.processes import said_without_matplotlib

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("agg")
plt = pytest.importorskip("matplotlib.pyplot")
inspection = pytest.importorskip("aucrank.inspection")
LevelSetDisplay = inspection.LevelSetDisplay

ROWS = make_gaussian_pair(200, random_state=0)
TREE = TreeRank(pruning=None, max_depth=3).fit(ROWS.X, ROWS.y)


pytestmark = pytest.mark.usefixtures("plt")


def plain_rank(score, scores):
    """Share of the scores below, a tie counting one half."""
    below = sum(other < score for other in scores)
    ties = sum(other == score for other in scores)
    return (below + ties / 2) / len(scores)


def plain_centres(values, resolution):
    low, high = min(values), max(values)
    return [low + (high - low) * (k + 0.5) / resolution for k in range(resolution)]


def plain_levels(score, X, resolution):
    """Rank of the score at each centre of the grid over two features; rows go up."""
    scores = score(X)
    levels = np.empty((resolution, resolution))
    for row, up in enumerate(plain_centres(X[:, 1], resolution)):
        for column, across in enumerate(plain_centres(X[:, 0], resolution)):
            levels[row, column] = plain_rank(score(np.array([[across, up]]))[0], scores)
    return levels


def plain_band(rank, cuts):
    for low, high in pairwise(cuts):
        if rank < high:
            return (low + high) / 2
    return (cuts[-2] + cuts[-1]) / 2


def test_the_levels_are_ranks_of_the_score_at_the_cells():
    display = LevelSetDisplay.from_estimator(TREE, ROWS.X, eta=ROWS.eta, grid_resolution=12)
    expected = plain_levels(TREE.decision_function, ROWS.X, 12)
    np.testing.assert_allclose(display.levels, expected, rtol=0, atol=1e-12)
    expected = plain_levels(ROWS.eta, ROWS.X, 12)
    np.testing.assert_allclose(display.eta_levels, expected, rtol=0, atol=1e-12)


def test_the_picture_shows_the_levels_over_the_range_of_the_data():
    display = LevelSetDisplay.from_estimator(TREE, ROWS.X, eta=ROWS.eta, grid_resolution=9)
    for surface, levels in (
        (display.surface_, display.levels),
        (display.eta_surface_, display.eta_levels),
    ):
        np.testing.assert_array_equal(surface.get_array().reshape(9, 9), levels)
        assert surface.get_clim() == (0, 1)
        corners = surface.get_coordinates()
        np.testing.assert_allclose(corners[0, 0], ROWS.X.min(axis=0))
        np.testing.assert_allclose(corners[-1, -1], ROWS.X.max(axis=0))
    assert display.figure_ is display.ax_.figure
    assert display.figure_.axes == [display.eta_ax_, display.ax_, display.colorbar_.ax]
    assert display.ax_.get_xlabel() == "x0"
    assert display.eta_ax_.get_ylabel() == "x1"


def test_a_tree_of_k_leaves_shows_k_regions():
    rows = make_uniform_mixture(1000, random_state=0)
    model = TreeRank(pruning=None, max_depth=2, min_samples_leaf=50).fit(rows.X, rows.y)
    display = LevelSetDisplay.from_estimator(model, rows.X)
    assert np.unique(display.levels).size == model.tree_.n_leaves
    # The middle of the ranks that the rows of a leaf share.
    strata = model.tree_.strata
    above = np.cumsum(strata["size"]) - strata["size"] / 2
    expected = 1 - above / 1000
    np.testing.assert_allclose(np.unique(display.levels)[::-1], expected, rtol=0, atol=1e-12)


def test_level_sets_depend_only_on_the_order_of_scores():
    def stretched(X):
        return np.exp(3 * TREE.decision_function(X)) - 7

    display = LevelSetDisplay.from_estimator(stretched, ROWS.X)
    same = LevelSetDisplay.from_estimator(TREE, ROWS.X)
    np.testing.assert_array_equal(display.levels, same.levels)


def test_lines_separate_exactly_the_neighbouring_cells_that_differ():
    display = LevelSetDisplay.from_estimator(TREE, ROWS.X, grid_resolution=8)
    across, up = display.edges
    expected = set()
    for j in range(8):
        for i in range(8):
            if i < 7 and display.levels[j, i] != display.levels[j, i + 1]:
                expected.add(((across[i + 1], up[j]), (across[i + 1], up[j + 1])))
            if j < 7 and display.levels[j, i] != display.levels[j + 1, i]:
                expected.add(((across[i], up[j + 1]), (across[i + 1], up[j + 1])))
    lines = [tuple(map(tuple, line)) for line in display.outline_.get_segments()]
    assert len(lines) == len(expected)
    assert set(lines) == expected
    # Too many levels to outline.
    assert LevelSetDisplay.from_estimator(ROWS.eta, ROWS.X, grid_resolution=20).outline_ is None


@pytest.mark.parametrize("n_levels", [1, 3, 10])
def test_bands_have_equal_mass(n_levels):
    display = LevelSetDisplay.from_estimator(
        ROWS.eta, ROWS.X, n_levels=n_levels, grid_resolution=10
    )
    cuts = [k / n_levels for k in range(n_levels + 1)]
    ranks = plain_levels(ROWS.eta, ROWS.X, 10)
    expected = [[plain_band(rank, cuts) for rank in row] for row in ranks]
    np.testing.assert_allclose(display.levels, expected, rtol=0, atol=1e-12)


def test_matched_bands_of_eta_have_the_masses_of_the_leaves():
    display = LevelSetDisplay.from_estimator(
        TREE, ROWS.X, eta=ROWS.eta, n_levels="matched", grid_resolution=10
    )
    sizes = TREE.tree_.strata["size"][::-1].tolist()
    cuts = [sum(sizes[:k]) / 200 for k in range(len(sizes) + 1)]
    ranks = plain_levels(ROWS.eta, ROWS.X, 10)
    expected = [[plain_band(rank, cuts) for rank in row] for row in ranks]
    np.testing.assert_allclose(display.eta_levels, expected, rtol=0, atol=1e-12)
    expected = plain_levels(TREE.decision_function, ROWS.X, 10)
    np.testing.assert_allclose(display.levels, expected, rtol=0, atol=1e-12)


def test_probabilities_are_accepted_as_scores():
    model = GaussianNB().fit(ROWS.X, ROWS.y)
    assert not hasattr(model, "decision_function")
    display = LevelSetDisplay.from_estimator(model, ROWS.X, grid_resolution=7)
    expected = plain_levels(lambda X: model.predict_proba(X)[:, 1], ROWS.X, 7)
    np.testing.assert_allclose(display.levels, expected, rtol=0, atol=1e-12)
    assert display.ax_.get_title() == "GaussianNB"


def test_points_are_drawn_by_class():
    labels = np.where(ROWS.y == 1, "sick", "healthy")
    # The class to rank first is the greater label.
    model = TreeRank(pruning=None).fit(ROWS.X, labels)
    display = LevelSetDisplay.from_estimator(model, ROWS.X, y=labels, eta=ROWS.eta)
    for ax in (display.ax_, display.eta_ax_):
        negative, positive = (
            c for c in ax.collections if c.get_label() in ("negative", "positive")
        )
        np.testing.assert_array_equal(negative.get_offsets(), ROWS.X[ROWS.y == 0])
        np.testing.assert_array_equal(positive.get_offsets(), ROWS.X[ROWS.y == 1])
    (legend,) = display.figure_.legends
    assert [text.get_text() for text in legend.get_texts()] == ["negative", "positive"]


# -------------------------------------------------------------------------- columns of the user


def frames():
    rng = np.random.default_rng(1)
    table = {
        "age": rng.integers(20, 80, 90),
        "colour": np.array(["red", "blue", "blue"])[np.arange(90) % 3],
        "price$": rng.random(90),
        "income": np.where(np.arange(90) % 10 == 0, np.nan, rng.random(90)),
    }
    y = (table["age"] / 80 + table["price$"] + rng.random(90) > 1.6).astype(int)
    return table, y


MAKERS = [
    lambda t: pd.DataFrame(t).astype({"colour": "category"}).sort_values("income"),
    lambda t: pl.DataFrame(t).with_columns(pl.col("colour").cast(pl.Categorical)).sort("income"),
    lambda t: pa.Table.from_pandas(pd.DataFrame(t).sort_values("income"), preserve_index=False),
]


@pytest.mark.parametrize("make", MAKERS, ids=["pandas", "polars", "pyarrow"])
def test_other_columns_of_a_frame_are_fixed(make):
    table, y = frames()
    X = make(table)
    seen = []

    def score(rows):
        seen.append(rows)
        return np.asarray(rows["age"]) * 1.0

    features = ("price$", "age")
    display = LevelSetDisplay.from_estimator(score, X, features=features, grid_resolution=5)
    whole, cells = seen
    assert whole is X
    assert type(cells) is type(X)
    to_pandas = (lambda f: f) if isinstance(X, pd.DataFrame) else (lambda f: f.to_pandas())
    cells = to_pandas(cells)
    assert cells.columns.tolist() == list(table)
    assert set(cells["colour"].astype(str)) == {"blue"}
    assert set(cells["income"]) == {np.nanmedian(table["income"])}
    across = plain_centres(table["price$"], 5)
    up = plain_centres(table["age"], 5)
    np.testing.assert_allclose(cells["price$"], across * 5)
    np.testing.assert_allclose(cells["age"], np.repeat(up, 5))
    assert display.feature_names == features

    # At a row, and at values.
    LevelSetDisplay.from_estimator(score, X, features=features, at=7, grid_resolution=5)
    cells = to_pandas(seen[-1])
    row = to_pandas(X).iloc[7]
    assert set(cells["colour"].astype(str)) == {row["colour"]}
    assert set(cells["income"]) == {row["income"]}
    at = {"colour": "red", 3: 0.25}
    LevelSetDisplay.from_estimator(score, X, features=[2, 0], at=at, grid_resolution=5)
    cells = to_pandas(seen[-1])
    assert set(cells["colour"].astype(str)) == {"red"}
    assert set(cells["income"]) == {0.25}

    # And a tree that was fitted to such a frame takes the rows of the grid.
    target = pd.Series(y).to_numpy()
    model = TreeRank(pruning=None, max_depth=3).fit(X, target)
    display = LevelSetDisplay.from_estimator(model, X, features=features)
    assert display.levels.shape == (200, 200)
    # A dollar sign is not a formula.
    display.figure_.canvas.draw()
    assert display.ax_.get_xlabel() == "price$"


def test_other_columns_of_an_array_are_fixed_at_their_medians():
    rng = np.random.default_rng(2)
    X = rng.random((51, 4))
    X[3, 1] = np.nan
    seen = []

    def score(rows):
        seen.append(rows)
        return rows[:, 3]

    display = LevelSetDisplay.from_estimator(score, X, features=(3, 0), grid_resolution=4)
    cells = seen[1]
    assert set(cells[:, 1]) == {np.nanmedian(X[:, 1])}
    assert set(cells[:, 2]) == {np.median(X[:, 2])}
    np.testing.assert_allclose(cells[:, 3], plain_centres(X[:, 3], 4) * 4)
    np.testing.assert_allclose(cells[:, 0], np.repeat(plain_centres(X[:, 0], 4), 4))
    assert display.feature_names == ("x3", "x0")


def test_an_array_of_objects_keeps_its_categories():
    X = np.array(
        [[0.0, "a", 1.0], [1.0, "b", None], [2.0, "b", 3.0], [3.0, "a", 0.5]], dtype=object
    )
    model = TreeRank(categorical_features=[1], min_samples_leaf=1, pruning=None)
    model.fit(X, [0, 0, 1, 1])
    seen = []

    def score(rows):
        seen.append(rows)
        return model.decision_function(rows)

    LevelSetDisplay.from_estimator(score, X, features=(0, 2), grid_resolution=3)
    # Of two equally frequent values the first.
    assert set(seen[1][:, 1]) == {"a"}
    with pytest.raises(ValueError, match="column 1 does not hold numbers"):
        LevelSetDisplay.from_estimator(score, X, features=(0, 1))
    with pytest.raises(ValueError, match="at holds 'c' for column 1, which no row of X has"):
        LevelSetDisplay.from_estimator(score, X, features=(0, 2), at={1: "c"})


# ----------------------------------------------------------------------------------- axes, errors


def test_axes_of_the_user_are_drawn_on():
    figure, axes = plt.subplots(1, 2)
    display = LevelSetDisplay.from_estimator(
        TREE, ROWS.X, eta=ROWS.eta, ax=axes, colorbar=False, name="mine", cmap="magma"
    )
    assert [display.eta_ax_, display.ax_] == list(axes)
    assert figure.axes == list(axes)
    assert display.colorbar_ is None
    assert display.ax_.get_title() == "mine"
    assert display.surface_.get_cmap().name == "magma"
    again = LevelSetDisplay(edges=display.edges, levels=display.levels).plot(axes[0])
    assert again.ax_ is axes[0]
    assert again.eta_ax_ is None
    with pytest.raises(ValueError, match="ax must hold 2 axes, got 1"):
        display.plot(axes[0])


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"features": (0, 2)}, "features holds 2, but X has columns 0 to 1"),
        ({"features": (-1, 0)}, "features holds -1"),
        ({"features": (1, 1)}, "two different columns"),
        ({"features": (0,)}, "two columns"),
        ({"features": ("a", "b")}, "features holds 'a', but X has no column names"),
        ({"grid_resolution": 1}, "grid_resolution must be at least 2"),
        ({"n_levels": 0}, "n_levels must be at least 1"),
        ({"n_levels": "matched"}, "n_levels='matched' needs eta"),
        ({"n_levels": "many"}, "n_levels must be an int, 'matched' or None"),
        ({"at": 200}, "at must be from 0 to 199"),
        ({"at": {5: 0.0}}, "at holds 5"),
        ({"y": [0, 1]}, "X has 200 rows, but y has 2"),
        ({"eta": lambda X: np.full(len(X), np.nan)}, "eta gave NaN"),
        ({"eta": lambda X: X}, "eta must give one score a row"),
    ],
)
def test_invalid_arguments_are_named_in_the_error(params, message):
    # Another test may have left figures open.
    before = plt.get_fignums()
    with pytest.raises(ValueError, match=message):
        LevelSetDisplay.from_estimator(TREE, ROWS.X, **params)
    assert plt.get_fignums() == before


def test_wrong_kinds_of_arguments_are_type_errors():
    for params, message in [
        ({"features": "ab"}, "features must be two columns"),
        ({"features": 3}, "features must be two columns"),
        ({"features": (0, 1.0)}, "features must hold column positions or names"),
        ({"at": "mean"}, "at must be an int"),
        ({"grid_resolution": 10.0}, "grid_resolution must be an int"),
    ]:
        with pytest.raises(TypeError, match=message):
            LevelSetDisplay.from_estimator(TREE, ROWS.X, **params)
    for nothing in (object(), TreeRank):
        with pytest.raises(TypeError, match="decision_function or predict_proba or be a function"):
            LevelSetDisplay.from_estimator(nothing, ROWS.X)


def test_models_without_level_sets_are_rejected():
    with pytest.raises(NotFittedError):
        LevelSetDisplay.from_estimator(TreeRank(), ROWS.X)
    one = TreeRank(pruning=None).fit(ROWS.X[:, :1], ROWS.y)
    with pytest.raises(ValueError, match="a level set needs two features, but X has 1"):
        LevelSetDisplay.from_estimator(one, ROWS.X[:, :1])
    three = LogisticRegression().fit(ROWS.X, np.arange(200) % 3)
    with pytest.raises(
        ValueError, match=r"LogisticRegression\.decision_function must give one score"
    ):
        LevelSetDisplay.from_estimator(three, ROWS.X)
    frame = pd.DataFrame({"a": [0.0, 1.0], "b": ["x", "y"], "c": [np.nan, np.nan]})
    with pytest.raises(ValueError, match="column 'b' has dtype String"):
        LevelSetDisplay.from_estimator(lambda X: X["a"], frame, features=("a", "b"))
    with pytest.raises(ValueError, match="column 'c' has no finite value"):
        LevelSetDisplay.from_estimator(lambda X: X["a"], frame, features=("a", "c"))
    with pytest.raises(ValueError, match="features holds 'd', which is not a column of X"):
        LevelSetDisplay.from_estimator(lambda X: X["a"], frame, features=("a", "d"))
    with pytest.raises(ValueError, match="two dimensions"):
        LevelSetDisplay.from_estimator(TREE, ROWS.X[:, 0])


def test_a_constant_feature_is_drawn():
    X = np.column_stack((ROWS.X[:, 0], np.full(200, 3.0)))
    display = LevelSetDisplay.from_estimator(lambda rows: rows[:, 0], X, grid_resolution=4)
    np.testing.assert_allclose(display.edges[1], [2.5, 2.75, 3, 3.25, 3.5])


def test_without_matplotlib_the_error_says_what_to_install():
    said = said_without_matplotlib(
        "LevelSetDisplay.from_estimator(lambda X: X[:, 0], [[0, 1], [1, 0]])",
        "from aucrank.inspection import LevelSetDisplay",
    )
    assert "LevelSetDisplay needs matplotlib: run `pip install 'aucrank[plot]'`" in said
