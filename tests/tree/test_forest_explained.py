"""Explanations of a forest: partial dependence, the form for shap, importances, level sets."""

import numpy as np
import pandas as pd
import pytest
from aucrank import RankingForest
from aucrank.datasets import load_breast_cancer, make_gaussian_pair
from aucrank.inspection import LevelSetDisplay
from aucrank.tree import LeafRank
from sklearn.exceptions import NotFittedError
from sklearn.inspection import partial_dependence

from tests.common.oracles import walk

RESPONSES = {"score": "decision_function", "probability": "predict_proba"}
AGGREGATIONS = ("eta", "rank_mean", "rank_median", "kendall")


@pytest.fixture(scope="module")
def cancer():
    """Measurements with gaps."""
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    return X.mask(np.random.default_rng(0).random(X.shape) < 0.1), y


@pytest.fixture(scope="module", params=["orthogonal", LeafRank(max_depth=2)], ids=repr)
def forest(request, cancer):
    settings = {"n_estimators": 15, "min_samples_leaf": 3, "max_depth": 5, "random_state": 0}
    return RankingForest(split=request.param, **settings).fit(*cancer)


@pytest.fixture(scope="module")
def forests(cancer):
    """By aggregation, on columns one of which is categorical."""
    X, y = cancer
    X = X.iloc[:, :4].assign(
        colour=pd.Categorical(np.where(y ^ (X["texture_error"] > 1), "a", "b"))
    )
    settings = {"n_estimators": 9, "min_samples_leaf": 5, "random_state": 0}
    return X, {
        aggregation: RankingForest(aggregation=aggregation, **settings).fit(X, y)
        for aggregation in AGGREGATIONS
    }


def leaf_means(forest, X):
    """The plain definitions: the mean over trees of the value of a row's leaf."""
    eta, rank = np.zeros(len(X)), np.zeros(len(X))
    for tree in forest.estimators_:
        strata = tree.strata
        below = np.cumsum(strata["size"][::-1])[::-1] - strata["size"]
        middle = (below + strata["size"] / 2) / strata["size"].sum()
        place = {leaf: k for k, leaf in enumerate(strata["node"])}
        places = [place[leaf] for leaf in tree.apply(X)]
        eta += strata["eta"][places]
        rank += middle[places]
    n_trees = len(forest.estimators_)
    return {"eta": eta / n_trees, "rank": rank / n_trees}


# ------------------------------------------------------------------------------ partial dependence


@pytest.mark.parametrize("kind", RESPONSES)
def test_dependence_equals_brute_force_partial_dependence_of_scikit_learn(forest, cancer, kind):
    X, _ = cancer
    filled = X.fillna(X.median())
    weight = np.random.default_rng(1).random(len(X))
    first, second = forest.importances["feature"][:2]
    for features, resolution in (([first], 30), ([second, first], 6)):
        settings = {"grid_resolution": resolution, "sample_weight": weight}
        found = forest.partial_dependence(filled, features, kind=kind, **settings)
        expected = partial_dependence(
            forest, filled, features, response_method=RESPONSES[kind], method="brute", **settings
        )
        assert np.ptp(found.average) > 0.01
        assert np.allclose(found.average, expected["average"], rtol=0, atol=1e-12)
        for ours, theirs in zip(found.grid_values, expected["grid_values"], strict=True):
            assert np.array_equal(ours, theirs)


@pytest.mark.parametrize("aggregation", AGGREGATIONS)
@pytest.mark.parametrize("kind", ["rank", "eta"])
def test_ranks_and_shares_follow_the_definition_for_every_aggregation(forests, aggregation, kind):
    X, by_aggregation = forests
    forest = by_aggregation[aggregation]
    grids = {"mean_radius": [9.0, 14.0, np.nan], "colour": ["b", "a", None, "never seen"]}
    weight = np.random.default_rng(2).integers(0, 3, len(X))
    for name, grid in grids.items():
        found = forest.partial_dependence(
            X, name, kind=kind, sample_weight=weight, custom_values={name: grid}
        )
        for value, average in zip(grid, found.average[0], strict=True):
            dtype = object if name == "colour" else None
            rows = X.assign(**{name: pd.Series([value] * len(X), dtype=dtype)})
            expected = np.average(leaf_means(forest, rows)[kind], weights=weight)
            assert average == pytest.approx(expected, abs=1e-12), (name, value)


def test_the_score_of_mean_ranks_is_a_mean_of_leaves_too(forests):
    X, by_aggregation = forests
    X = X.fillna({"mean_radius": 12.0})
    forest = by_aggregation["rank_mean"]
    found = forest.partial_dependence(X, "mean_radius", kind="score", grid_resolution=20)
    expected = partial_dependence(
        forest, X, ["mean_radius"], response_method="decision_function", grid_resolution=20
    )
    assert np.allclose(found.average, expected["average"], rtol=0, atol=1e-12)


@pytest.mark.parametrize(
    ("aggregation", "kind"),
    [
        ("rank_mean", "probability"),
        ("rank_median", "score"),
        ("rank_median", "probability"),
        ("kendall", "score"),
        ("kendall", "probability"),
    ],
)
def test_scores_that_are_no_mean_of_leaves_raise_an_error_that_says_what_to_do(
    forests, aggregation, kind
):
    X, by_aggregation = forests
    forest = by_aggregation[aggregation]
    message = f"the {kind} of a forest with aggregation='{aggregation}' is not a mean"
    with pytest.raises(ValueError, match=message + r".*method='brute'\) takes any model"):
        forest.partial_dependence(X, "mean_radius", kind=kind)
    with pytest.raises(ValueError, match=message):
        forest.plot_partial_dependence(X, ["mean_radius"], kind=kind)
    with pytest.raises(ValueError, match=message + r".*shap.Explainer\(.* takes any model"):
        forest.to_shap(kind)


def test_threads_the_order_of_rows_and_copies_change_no_bit(cancer):
    X, y = cancer
    forest = RankingForest(n_estimators=7, random_state=0).fit(X, y)
    X = pd.concat([X] * 20, ignore_index=True)
    rng = np.random.default_rng(5)
    weight = rng.integers(0, 4, len(X))
    settings = {"features": "worst_area", "custom_values": {"worst_area": [500.0, 900.0, 2000.0]}}
    once = forest.set_params(n_jobs=1).partial_dependence(X, sample_weight=weight, **settings)
    order = rng.permutation(len(X))
    copies = X.iloc[np.repeat(np.arange(len(X)), weight)]
    forest.set_params(n_jobs=3)
    for rows, weights in ((X, weight), (X.iloc[order], weight[order]), (copies, None)):
        again = forest.partial_dependence(rows, sample_weight=weights, **settings)
        assert np.array_equal(once.average, again.average)


def test_dependence_is_drawn(forests):
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    X, by_aggregation = forests
    forest = by_aggregation["kendall"]
    display = forest.plot_partial_dependence(X, ["mean_radius", "colour"], grid_resolution=10)
    expected = forest.partial_dependence(X, "mean_radius", grid_resolution=10)
    line = display.lines_[0, 0].get_xydata()
    assert np.array_equal(line.T, [expected.grid_values[0], expected.average[0]])
    plt.close("all")


# ------------------------------------------------------------------------------------ form for shap


def outputs(forest, X):
    return {
        "score": forest.decision_function(X),
        "probability": forest.predict_proba(X)[:, 1],
        **leaf_means(forest, X),
    }


def test_evaluating_the_trees_as_shap_does_gives_the_output_of_every_row(forest, cancer):
    X, _ = cancer
    for output, expected in outputs(forest, X).items():
        model = forest.to_shap(output)
        assert len(model["trees"]) == 15
        found = [sum(walk(tree, row) for tree in model["trees"]) for row in X.to_numpy()]
        assert found == pytest.approx(expected, abs=1e-12)


def test_shap_trees_give_the_scores_of_mean_ranks_too(cancer):
    X, y = cancer
    forest = RankingForest(n_estimators=6, aggregation="rank_mean", random_state=0).fit(X, y)
    trees = forest.to_shap()["trees"]
    found = [sum(walk(tree, row) for tree in trees) for row in X.to_numpy()]
    assert found == pytest.approx(forest.decision_function(X), abs=1e-12)


@pytest.mark.parametrize("output", ["score", "probability"])
def test_shap_values_add_up_to_the_output(forest, cancer, output):
    shap = pytest.importorskip("shap", reason="shap is not installed")
    X, _ = cancer
    explainer = shap.TreeExplainer(forest.to_shap(output))
    values = explainer.shap_values(X.to_numpy())
    assert values.shape == X.shape
    found = values.sum(axis=1) + explainer.expected_value
    assert np.abs(found - outputs(forest, X)[output]).max() < 1e-9


def test_forests_that_shap_cannot_read_raise_a_clear_error(forests, monkeypatch):
    _, by_aggregation = forests
    with pytest.raises(ValueError, match="cannot explain a tree that tests a categorical feature"):
        by_aggregation["eta"].to_shap()
    with pytest.raises(ValueError, match="output must be one of 'rank', 'eta', 'score'"):
        by_aggregation["eta"].to_shap("odds")
    monkeypatch.setattr("aucrank._export.shap._MOST_NODES_IN_ALL", 50)
    with pytest.raises(ValueError, match=r"would have \d+ nodes together, more than 50\. Explain"):
        by_aggregation["eta"].to_shap()


# -------------------------------------------------------------------------------------- importances


def test_importances_are_means_over_the_trees(forest, cancer):
    X, _ = cancer
    by_tree = np.array(
        [
            [dict(zip(t["feature"], t["importance"], strict=True))[name] for name in X.columns]
            for t in (tree.importances for tree in forest.estimators_)
        ]
    )
    table = forest.importances
    assert list(table) == ["feature", "importance", "std", "share"]
    assert (np.diff(table["importance"]) <= 0).all()
    assert sorted(table["feature"]) == sorted(X.columns)
    places = [list(X.columns).index(name) for name in table["feature"]]
    assert np.allclose(table["importance"], by_tree.mean(axis=0)[places], rtol=1e-12, atol=0)
    assert np.allclose(table["std"], by_tree.std(axis=0)[places], rtol=1e-9, atol=1e-15)
    assert np.array_equal(table["importance"], forest.feature_importances_[places])
    assert table["share"].sum() == pytest.approx(1)


def test_columns_without_names_and_forests_without_splits_have_importances():
    X = np.random.default_rng(0).normal(size=(60, 3))
    table = RankingForest(n_estimators=4, random_state=0).fit(X, X[:, 2] > 0).importances
    assert table["feature"][0] == "x2"
    flat = RankingForest(n_estimators=2).fit(np.zeros((8, 2)), [0, 1] * 4).importances
    assert flat["feature"].tolist() == ["x0", "x1"]
    assert not flat["share"].any()
    with pytest.raises(NotFittedError):
        RankingForest().importances  # noqa: B018
    for question in (RankingForest().to_shap, lambda: RankingForest().partial_dependence(X, 0)):
        with pytest.raises(NotFittedError):
            question()


# --------------------------------------------------------------------------------------- level sets


@pytest.mark.parametrize("aggregation", AGGREGATIONS)
def test_the_level_sets_of_a_forest_are_the_ranks_of_its_scores(aggregation):
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    rows = make_gaussian_pair(300, random_state=0)
    forest = RankingForest(n_estimators=5, aggregation=aggregation, random_state=0)
    forest.fit(rows.X, rows.y)
    display = LevelSetDisplay.from_estimator(forest, rows.X, eta=rows.eta, grid_resolution=12)
    assert display.ax_.get_title() == "RankingForest"
    across, up = ((edges[1:] + edges[:-1]) / 2 for edges in display.edges)
    cells = np.array([[x, y] for y in up for x in across])
    at_cells, at_rows = forest.decision_function(cells), forest.decision_function(rows.X)
    below = (at_rows < at_cells[:, None]).mean(axis=1)
    tied = (at_rows == at_cells[:, None]).mean(axis=1)
    assert np.allclose(display.levels.ravel(), below + tied / 2, rtol=0, atol=1e-12)
    plt.close("all")
