"""The form for shap: walked by its rule it gives the scores, and shap itself adds up to them."""

import numpy as np
import pandas as pd
import pytest
from aucrank import TreeRank
from aucrank.tree import LeafRank, OrthogonalSplit

from tests.common.oracles import walk


@pytest.fixture(scope="module")
def data():
    """Few distinct values, so that thresholds are hit exactly, and informative missing values."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1200, 4)).round(1)
    y = X[:, 0] + X[:, 1] * X[:, 2] + rng.normal(size=1200) > 1
    X[(rng.random(X.shape) < 0.15) & y[:, None]] = np.nan
    return X, y


@pytest.fixture(
    scope="module",
    params=[OrthogonalSplit(), LeafRank(max_depth=2), LeafRank(max_depth=3, max_leaves=4)],
    ids=repr,
)
def model(request, data):
    X, y = data
    settings = {"max_depth": 4, "min_samples_leaf": 10, "pruning": None, "random_state": 0}
    # Weights in another unit than 1, which the training weight of nodes must be in too.
    weight = np.random.default_rng(1).integers(1, 4, len(y)) / 4
    return TreeRank(split=request.param, **settings).fit(X, y, sample_weight=weight)


def outputs(model, X):
    strata = model.tree_.strata
    place = {node: k for k, node in enumerate(strata["node"])}
    places = np.array([place[leaf] for leaf in model.tree_.apply(X)])
    return {
        "score": model.decision_function(X),
        "probability": model.predict_proba(X)[:, 1],
        "eta": strata["eta"][places],
        "rank": 1 - places / len(place),
    }


def test_evaluating_the_trees_as_shap_does_gives_the_output_of_every_row(model, data):
    X, _ = data
    for output, expected in outputs(model, X).items():
        (tree,) = model.tree_.to_shap(output)["trees"]
        assert [walk(tree, row) for row in X] == pytest.approx(expected, abs=1e-12)
    (tree,) = model.tree_.to_shap()["trees"]
    rules = {rule for split in _tests(model) for rule in split}
    assert {"below", "at_least"} <= rules
    assert np.array_equal(
        tree["values"][:, 0], model.tree_.to_shap("score")["trees"][0]["values"][:, 0]
    )


def _tests(model):
    """Kinds of tests in the tree."""
    for node in model.tree_._document["nodes"]:
        split = node["split"]
        if split is not None:
            stumps = (
                [split["stump"]]
                if "stump" in split
                else [cut["cut"]["test"] for cut in split["cuts"] if "cut" in cut]
            )
            yield {next(iter(test["left"])) for test in stumps}


def test_values_next_to_a_threshold_go_to_the_same_side(model, data):
    X, _ = data
    (tree,) = model.tree_.to_shap()["trees"]
    is_split = tree["children_left"] >= 0
    edges = tree["thresholds"][is_split & (tree["thresholds"] < 1e300)]
    rows = np.repeat(X[:1], 3 * len(edges), axis=0)
    for k, (feature, edge) in enumerate(zip(tree["features"][is_split], edges, strict=False)):
        rows[3 * k : 3 * k + 3, feature] = edge, np.nextafter(edge, np.inf), edge + 1e-9
    assert [walk(tree, row) for row in rows] == pytest.approx(model.decision_function(rows))


def test_nodes_have_the_weight_of_their_training_rows(model, data):
    (tree,) = model.tree_.to_shap()["trees"]
    nodes = model.tree_.nodes
    left, right = tree["children_left"], tree["children_right"]
    inner, leaves = left >= 0, left < 0
    weight, value = tree["node_sample_weight"], tree["values"][:, 0]
    assert weight[0] == pytest.approx(nodes["size"][0])
    assert np.allclose(weight[inner], weight[left[inner]] + weight[right[inner]])
    mean = weight[left[inner]] * value[left[inner]] + weight[right[inner]] * value[right[inner]]
    assert np.allclose(value[inner] * weight[inner], mean)
    # The copies of a leaf together weigh as much as the leaf.
    strata = model.tree_.strata
    for score, size in zip(strata["score"], strata["size"], strict=True):
        assert weight[leaves & (value == score)].sum() == pytest.approx(size)


def test_values_missing_in_one_class_are_handled():
    x = np.array([1.0] * 20 + [np.nan] * 10)[:, None]
    y = np.array([0] * 20 + [1] * 10)
    model = TreeRank(min_samples_leaf=1, pruning=None).fit(x, y)
    assert list(_tests(model)) == [{"known"}]
    (tree,) = model.tree_.to_shap()["trees"]
    assert [walk(tree, row) for row in x] == model.decision_function(x).tolist()


def test_a_tree_of_one_leaf_is_converted():
    model = TreeRank(pruning=None).fit(np.zeros((6, 2)), [0, 1] * 3)
    (tree,) = model.tree_.to_shap("eta")["trees"]
    assert tree["values"].tolist() == [[0.5]]
    assert tree["children_left"].tolist() == [-1]


def test_models_that_shap_cannot_read_raise_a_clear_error(data):
    X, y = data
    frame = pd.DataFrame({"c": pd.Categorical(np.where(y ^ (X[:, 3] > 1), "a", "b"))})
    model = TreeRank(pruning=None).fit(frame, y)
    with pytest.raises(
        ValueError,
        match=r"cannot explain a tree that tests a categorical feature.*inspection.shapley_values",
    ):
        model.tree_.to_shap()
    with pytest.raises(ValueError, match="output must be one of 'rank', 'eta', 'score'"):
        model.tree_.to_shap("log_odds")
    deep = TreeRank(split="leafrank", max_depth=10, min_samples_leaf=1, pruning=None).fit(X, y)
    with pytest.raises(ValueError, match=r"would have \d+ nodes, more than 100000"):
        deep.tree_.to_shap()


# -------------------------------------------------------------------------------------- with shap


@pytest.mark.parametrize("output", ["score", "probability"])
def test_shap_values_add_up_to_the_output(model, data, output):
    shap = pytest.importorskip("shap", reason="shap is not installed")
    X, y = data
    explainer = shap.TreeExplainer(model.tree_.to_shap(output))
    values = explainer.shap_values(X)
    assert values.shape == X.shape
    assert np.isnan(X).any()
    expected = outputs(model, X)[output]
    assert np.abs(values.sum(axis=1) + explainer.expected_value - expected).max() < 1e-9
    weight = np.random.default_rng(1).integers(1, 4, len(y)) / 4
    mean = np.average(expected, weights=weight)
    assert explainer.expected_value == pytest.approx(mean, abs=1e-9)


def test_shap_explains_against_a_background(model, data):
    shap = pytest.importorskip("shap", reason="shap is not installed")
    X, _ = data
    background = X[:50]
    explainer = shap.TreeExplainer(model.tree_.to_shap(), background)
    values = explainer.shap_values(X[:100])
    expected = model.decision_function(X[:100]) - model.decision_function(background).mean()
    # Against a background, shap computes in single precision.
    assert np.abs(values.sum(axis=1) - expected).max() < 1e-5
