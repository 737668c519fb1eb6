"""Partial dependence against scikit-learn's brute force and against the definition."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from aucrank import TreeRank
from aucrank.datasets import load_breast_cancer
from aucrank.tree import LeafRank
from sklearn.exceptions import NotFittedError
from sklearn.inspection import PartialDependenceDisplay, partial_dependence

RESPONSES = {"score": "decision_function", "probability": "predict_proba"}


@pytest.fixture(scope="module")
def cancer():
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    return X, y


@pytest.fixture(scope="module", params=["orthogonal", "leafrank"])
def model(request, cancer):
    settings = {"max_depth": 6, "min_samples_leaf": 2, "pruning": None, "random_state": 0}
    return TreeRank(split=request.param, **settings).fit(*cancer)


def most_tested(model):
    return model.tree_.importances["feature"][:3].tolist()


@pytest.fixture(scope="module")
def mixed():
    """Numbers with gaps, integers and a category with gaps."""
    rng = np.random.default_rng(3)
    n = 500
    x = rng.normal(size=n)
    count = rng.integers(0, 6, n)
    colour = rng.choice(["red", "green", "blue"], n).astype(object)
    y = x + count / 2 + 2 * (colour == "red") + rng.normal(size=n) > 2.5
    x[(rng.random(n) < 0.2) & y] = np.nan
    colour[rng.random(n) < 0.1] = None
    X = pd.DataFrame({"x": x, "count": count, "colour": colour})
    model = TreeRank(split="leafrank", max_depth=5, pruning=None, random_state=0).fit(X, y)
    return X, y, model


# ------------------------------------------------------------------------------- parity and truth


@pytest.mark.parametrize("kind", RESPONSES)
@pytest.mark.parametrize("resolution", [7, 50])
def test_it_equals_brute_force_partial_dependence_of_scikit_learn(model, cancer, kind, resolution):
    X, _ = cancer
    first, second, third = most_tested(model)
    weight = np.random.default_rng(0).random(len(X))
    for features, sample_weight in (([first], None), ([second], weight), ([third, first], weight)):
        settings = {"grid_resolution": resolution if len(features) == 1 else 7}
        settings |= {"percentiles": (0.1, 0.8), "sample_weight": sample_weight}
        found = model.partial_dependence(X, features, kind=kind, **settings)
        expected = partial_dependence(
            model, X, features, response_method=RESPONSES[kind], **settings
        )
        assert found.average.shape == expected["average"].shape
        assert np.ptp(found.average) > 0
        assert np.allclose(found.average, expected["average"], rtol=0, atol=1e-12)
        for ours, theirs in zip(found.grid_values, expected["grid_values"], strict=True):
            assert np.array_equal(ours, theirs)


def test_a_feature_of_few_values_has_a_point_at_each(cancer):
    X, y = cancer
    X = X.round(0)
    model = TreeRank(random_state=0).fit(X, y)
    found = model.partial_dependence(X, "mean_radius", kind="score")
    expected = partial_dependence(model, X, ["mean_radius"], response_method="decision_function")
    assert np.array_equal(found.grid_values[0], expected["grid_values"][0])
    assert np.allclose(found.average, expected["average"], rtol=0, atol=1e-12)


def plain(model, X, point, kind):
    """The definition: score the rows with the features of a point set to it (sec. 5.2)."""
    X = X.copy()
    for name, value in point.items():
        X[name] = pd.Series([value] * len(X), dtype=X[name].dtype if value is None else None)
    strata = model.tree_.strata
    of_leaf = {
        "rank": strata["score"] - strata["score"].min() + 1,
        "eta": strata["eta"],
    }[kind]
    if kind == "rank":
        of_leaf = of_leaf / len(of_leaf)
    values = dict(zip(strata["node"], of_leaf, strict=True))
    return np.array([values[leaf] for leaf in model.tree_.apply(X)])


@pytest.mark.parametrize("kind", ["rank", "eta"])
def test_missing_values_categories_and_weights_follow_the_definition(mixed, kind):
    X, _, model = mixed
    weight = np.random.default_rng(1).integers(0, 3, len(X))
    grids = {
        "x": [-1.0, 0.25, np.nan, 3.0],
        "count": [0, 2, 5],
        "colour": ["blue", None, "red", "never seen"],
    }
    for features in (["x"], ["colour"], ["count", "colour"], ["x", "count"]):
        custom = {name: grids[name] for name in features}
        found = model.partial_dependence(
            X, features, kind=kind, sample_weight=weight, custom_values=custom
        )
        shape = [len(grids[name]) for name in features]
        assert found.average.shape == (1, *shape)
        for place in np.ndindex(*shape):
            point = {name: grids[name][k] for name, k in zip(features, place, strict=True)}
            expected = np.average(plain(model, X, point, kind), weights=weight)
            assert found.average[0][place] == pytest.approx(expected, abs=1e-12), point


def test_by_default_dependence_is_of_the_rank_of_a_leaf(cancer):
    X, y = cancer
    model = TreeRank(max_depth=1, pruning=None).fit(X, y)
    name = model.tree_.importances["feature"][0]
    found = model.partial_dependence(X, name)
    # Two leaves: half for the last, 1 for the first, and nothing but this feature decides.
    assert sorted(set(found.average[0])) == [0.5, 1.0]
    assert np.array_equal(model.partial_dependence(X, name, kind="rank").average, found.average)


def test_a_category_has_a_point_at_each_level_of_the_fit(mixed):
    X, _, model = mixed
    found = model.partial_dependence(X.iloc[:40], "colour", kind="score")
    assert found.grid_values[0].tolist() == ["blue", "green", "red"]
    filled = X.assign(colour=X["colour"].fillna("blue"))
    expected = partial_dependence(
        model,
        filled.iloc[:40].astype({"count": float}),
        ["colour"],
        categorical_features=["colour"],
        response_method="decision_function",
    )
    assert expected["grid_values"][0].tolist() == ["blue", "green", "red"]
    assert np.allclose(found.average, expected["average"], rtol=0, atol=1e-12)


def test_the_grid_of_a_column_with_missing_values_has_known_values(mixed):
    X, _, model = mixed
    known = X["x"].dropna()
    (grid,) = model.partial_dependence(X, "x", percentiles=(0, 1)).grid_values
    assert np.allclose(grid, np.linspace(known.min(), known.max(), 100))


# ------------------------------------------------------------------------------------- invariances


def test_threads_the_order_of_rows_and_copies_change_no_bit(model, cancer):
    X, _ = cancer
    X = pd.concat([X] * 40, ignore_index=True)
    rng = np.random.default_rng(5)
    weight = rng.integers(0, 4, len(X))
    grid = {name: np.quantile(X[name], np.linspace(0, 1, 15)) for name in most_tested(model)[:2]}
    settings = {"features": list(grid), "custom_values": grid}
    model.set_params(n_jobs=1)
    once = model.partial_dependence(X, sample_weight=weight, **settings).average
    order = rng.permutation(len(X))
    copies = X.iloc[np.repeat(np.arange(len(X)), weight)]
    for n_jobs in (2, 3):
        model.set_params(n_jobs=n_jobs)
        for rows, weights in ((X, weight), (X.iloc[order], weight[order]), (copies, None)):
            again = model.partial_dependence(rows, sample_weight=weights, **settings).average
            assert np.array_equal(once, again)


def test_names_positions_and_frames_mean_the_same(mixed):
    X, _, model = mixed
    by_name = model.partial_dependence(X, ["x", "colour"]).average
    for features in ([0, 2], ("x", 2), np.array([0, 2])):
        assert np.array_equal(model.partial_dependence(X, features).average, by_name)
    frame = pl.from_pandas(X)
    assert np.array_equal(model.partial_dependence(frame, ["x", "colour"]).average, by_name)
    swapped = model.partial_dependence(X, ["colour", "x"]).average
    assert np.array_equal(swapped[0].T, by_name[0])


def test_a_feature_without_splits_has_constant_dependence():
    rng = np.random.default_rng(0)
    X = np.column_stack((rng.normal(size=300), np.zeros(300)))
    model = TreeRank(pruning=None).fit(X, X[:, 0] > 0)
    grid = {1: [-5.0, 0.0, 5.0, None]}
    found = model.partial_dependence(X, 1, kind="score", custom_values=grid)
    assert np.allclose(found.average, model.decision_function(X).mean())


# ------------------------------------------------------------------------------ scikit-learn's side


def test_displays_of_scikit_learn_draw_the_same_numbers(model, cancer):
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    X, _ = cancer
    first, second, _ = most_tested(model)
    features = [first, (first, second)]
    settings = {"grid_resolution": 10}
    ours = model.plot_partial_dependence(X, features, kind="score", **settings)
    theirs = PartialDependenceDisplay.from_estimator(
        model, X, features, response_method="decision_function", **settings
    )
    for found, expected in zip(ours.pd_results, theirs.pd_results, strict=True):
        assert np.allclose(found["average"], expected["average"], rtol=0, atol=1e-12)
    assert ours.features == theirs.features
    assert {k: v.tolist() for k, v in ours.deciles.items()} == {
        k: v.tolist() for k, v in theirs.deciles.items()
    }
    line, expected = ours.lines_[0, 0], theirs.lines_[0, 0]
    assert np.allclose(line.get_xydata(), expected.get_xydata())
    for axes, others in zip(ours.axes_.ravel(), theirs.axes_.ravel(), strict=True):
        assert axes.get_xlabel() == others.get_xlabel()
        assert axes.get_ylabel() == others.get_ylabel()
    plt.close("all")


def test_categories_and_columns_without_names_are_drawn(mixed):
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    X, _, model = mixed
    display = model.plot_partial_dependence(X, ["colour", "x"], n_cols=2)
    assert [bar.get_height() for bar in display.axes_[0, 0].patches] == pytest.approx(
        model.partial_dependence(X, "colour").average[0]
    )
    with pytest.raises(ValueError, match="no picture for a numeric feature with a categorical"):
        model.plot_partial_dependence(X, [("x", "colour")])
    with pytest.raises(ValueError, match="features must be a list with an entry"):
        model.plot_partial_dependence(X, "x")
    rows = np.random.default_rng(0).normal(size=(100, 2))
    unnamed = TreeRank(pruning=None).fit(rows, rows[:, 1] > 0)
    drawn = unnamed.plot_partial_dependence(rows, [1])
    assert drawn.axes_[0, 0].get_xlabel() == "x1"
    plt.close("all")


# --------------------------------------------------------------------------------------- bad input


@pytest.mark.parametrize(
    ("features", "settings", "message"),
    [
        ([], {}, r"features must be one or two columns of X, by name or position; got \[\]"),
        ([0, 1, 2], {}, "features must be one or two columns"),
        (None, {}, "features must be one or two columns"),
        ("age", {}, "the feature 'age' is not a column of X"),
        (3, {}, "the feature 3 is not a column of X, which has 0 to 2"),
        (-1, {}, "the feature -1 is not a column of X"),
        ([1, "count"], {}, "features holds the column 'count' twice"),
        ("x", {"kind": "lift"}, "kind must be one of 'rank', 'eta', 'score', 'probability'"),
        ("x", {"grid_resolution": 1}, "grid_resolution must be at least 2, got 1"),
        ("x", {"percentiles": (0.9, 0.1)}, "the first of percentiles must be below the second"),
        ("x", {"percentiles": (0.1, 1.1)}, "each of percentiles must be in"),
        ("x", {"percentiles": 0.5}, "percentiles must be a pair"),
        ("x", {"custom_values": {"x": []}}, "custom_values of column 'x' is empty"),
        ("x", {"custom_values": {"x": 3.0}}, "custom_values of column 'x' must be a list"),
        ("x", {"custom_values": {"x": ["a"]}}, "custom_values of column 'x', which is numeric"),
        ("x", {"custom_values": {"x": [np.inf]}}, "'x' must not hold infinity"),
        ("x", {"custom_values": {"count": [1]}}, "column 'count', which is not in features"),
        ("x", {"custom_values": {"age": [1]}}, "the feature 'age' is not a column of X"),
        ("x", {"sample_weight": np.zeros(500)}, "the sum of sample_weight is 0"),
        ("x", {"sample_weight": np.ones(3)}, "sample_weight.shape"),
        ("x", {"sample_weight": np.full(500, -1.0)}, "sample_weight must not be negative"),
    ],
)
def test_invalid_arguments_raise_a_clear_error(mixed, features, settings, message):
    X, _, model = mixed
    with pytest.raises(ValueError, match=message):
        model.partial_dependence(X, features, **settings)


def test_an_empty_or_flat_grid_is_rejected(mixed):
    X, _, model = mixed
    with pytest.raises(TypeError, match=r"a feature must be a name or a position.*got 1\.5"):
        model.partial_dependence(X, [1.5])
    with pytest.raises(ValueError, match="column 'x' has no known value in X"):
        model.partial_dependence(X.assign(x=np.nan), "x")
    skewed = np.where(np.arange(500) < 490, 0.0, np.arange(500))
    with pytest.raises(ValueError, match="both percentiles of column 'x' are 0"):
        model.partial_dependence(X.assign(x=skewed), "x", grid_resolution=5)
    with pytest.raises(ValueError, match="column 'x' is inf in row 0"):
        model.partial_dependence(X.assign(x=[np.inf, *X["x"][1:]]), "count")
    nothing = pd.DataFrame({"c": pd.Series([None] * 4, dtype=object), "x": [1.0, 2.0, 3.0, 4.0]})
    empty = TreeRank(pruning=None, min_samples_leaf=1).fit(nothing, [0, 0, 1, 1])
    with pytest.raises(ValueError, match="column 'c' had no known category in fit"):
        empty.partial_dependence(nothing, "c")
    with pytest.raises(ValueError, match="is a name, but X had no column names"):
        TreeRank(pruning=None).fit(np.arange(8.0)[:, None], [0, 1] * 4).partial_dependence(
            np.arange(8.0)[:, None], "x0"
        )
    with pytest.raises(NotFittedError):
        TreeRank().partial_dependence(X, "x")


# ------------------------------------------------------------------------------------- importances


def test_the_table_of_importances_is_that_of_the_estimator(cancer):
    X, y = cancer
    model = TreeRank(split=LeafRank(max_depth=2), max_depth=4, pruning=None).fit(X, y)
    table = model.tree_.importances
    assert (np.diff(table["importance"]) <= 0).all()
    assert sorted(table["feature"]) == sorted(X.columns)
    places = [list(X.columns).index(name) for name in table["feature"]]
    assert np.array_equal(table["importance"], model.feature_importances_[places])
    assert np.allclose(table["squared"], table["importance"] ** 2)
    assert table["share"].sum() == pytest.approx(1)
    assert np.array_equal(table["n_splits"] > 0, table["importance"] > 0)


def test_splits_are_counted_by_feature(cancer):
    X, y = cancer
    tree = TreeRank(max_depth=4, pruning=None).fit(X, y).tree_
    rules = [rule.split(" ")[0] for rule in tree.nodes["rule"] if rule]
    table = tree.importances
    assert table["n_splits"].tolist() == [rules.count(name) for name in table["feature"]]
    root = tree.subtree([0]).importances
    assert not root["n_splits"].any()
    assert not root["share"].any()
