"""Rows of a few distinct contents: copies of a row are held out one by one."""

import numpy as np
import pandas as pd
import pytest
from aucrank import AURORA, GradientBoostingRanker, TreeRank
from aucrank.data import Dataset
from aucrank.tree import CrossValidatedPruning, ValidationPruning
from sklearn.base import clone
from sklearn.metrics import roc_auc_score

RATES = np.array([0.05, 0.6, 0.2, 0.8, 0.35, 0.1])

MODELS = {
    "tree": TreeRank(random_state=0),
    "tree of leafrank": TreeRank(split="leafrank", random_state=0),
    "tree by validation": TreeRank(pruning=ValidationPruning(), random_state=0),
    "tree of cubes": TreeRank(split="dyadic", random_state=0),
    "terms": AURORA(random_state=0),
    "terms by folds": AURORA(selection="cv", n_folds=5, random_state=0),
    "booster": GradientBoostingRanker(random_state=0),
    "booster of one bag": GradientBoostingRanker(n_bags=1, refit=True, random_state=0),
    "sum of functions": GradientBoostingRanker.additive(random_state=0),
}


@pytest.fixture(scope="module")
def rows():
    """Six cells, whose rates are known, and the best AUC that a score can have on these rows."""
    rng = np.random.default_rng(0)
    level = rng.integers(0, 6, 3000)
    y = (rng.random(3000) < RATES[level]).astype(int)
    found = np.bincount(level, y) / np.bincount(level)
    return level, y, roc_auc_score(y, found[level])


def frames(level):
    return {
        "categories": pd.DataFrame({"c": pd.Categorical(np.array(list("abcdef"))[level])}),
        "numbers": pd.DataFrame({"c": level / 8}),
        "floats": pd.DataFrame({"c": (level / 8).astype(np.float32)}),
    }


# Cubes are of numbers; a few thresholds are a coarse form of six rates out of order.
@pytest.mark.parametrize(
    ("name", "kind"),
    [
        *((name, "categories") for name in MODELS if name != "tree of cubes"),
        *(
            (name, kind)
            for name in MODELS
            if "tree" in name or "booster" in name
            for kind in ("numbers", "floats")
        ),
    ],
)
def test_cells_are_ranked_by_their_rates(rows, name, kind):
    level, y, best = rows
    X = frames(level)[kind]
    assert MODELS[name].fit(X, y).score(X, y) == pytest.approx(best, abs=0.005)


@pytest.mark.parametrize("name", ["tree", "tree of leafrank", "terms", "booster"])
def test_a_weight_counts_as_copies_and_the_order_does_not_matter(rows, name):
    level, y, _ = rows
    X = frames(level)["categories"]
    weight = np.arange(len(y)) % 4
    copies = np.repeat(np.arange(len(y)), weight)[::-1]
    weighted = MODELS[name].fit(X, y, sample_weight=weight)
    scores = weighted.decision_function(X)
    repeated = MODELS[name].fit(X.iloc[copies], y[copies])
    np.testing.assert_array_equal(repeated.decision_function(X), scores)


@pytest.mark.parametrize("name", ["tree", "booster"])
@pytest.mark.parametrize("weight", [None, "w", "equal"])
def test_a_data_set_gives_the_model_of_a_frame(rows, weight, name):
    level, y, _ = rows
    frame = frames(level)["categories"].assign(z=(np.arange(len(y)) * 7 % 5 == 0) * 1.5, y=y)
    w = np.full(len(y), 0.7) if weight == "equal" else np.arange(len(y)) % 3 + 1.0
    X = frame[["c", "z"]]
    expected = clone(MODELS[name]).fit(X, y, sample_weight=None if weight is None else w)
    assert len(np.unique(expected.decision_function(X))) > 3
    frame["w"] = w
    parts = [frame[:700], frame[700:701], frame[701:]]
    used = [part if weight else part.drop(columns="w") for part in parts]
    dataset = Dataset.from_batches(used, target="y", weight=weight and "w")
    found = clone(MODELS[name]).fit(dataset)
    assert found._to_document() == expected._to_document()
    np.testing.assert_array_equal(found.decision_function(X), expected.decision_function(X))


@pytest.mark.parametrize("name", ["tree", "booster", "sum of functions"])
def test_contents_are_few_whatever_their_classes_are(name):
    rng = np.random.default_rng(7)
    visits = rng.geometric(0.4, 30_000)
    kind = rng.choice(list("abcde"), 30_000, p=[0.5, 0.47, 0.02, 0.007, 0.003])
    y = rng.random(30_000) < 1 / (1 + np.exp(2 - 0.5 * visits - 0.3 * (kind > "b")))
    X = pd.DataFrame({"visits": visits, "kind": pd.Categorical(kind)})
    cells = X.assign(y=y).groupby(["visits", "kind"], observed=True)["y"]
    assert len(cells) < 100 < cells.nunique().sum()
    best = roc_auc_score(y, cells.transform("mean"))
    assert clone(MODELS[name]).fit(X, y).score(X, y) == pytest.approx(best, abs=0.01)


def test_repeated_positives_do_not_make_cells():
    rng = np.random.default_rng(1)
    noise = np.concatenate([np.repeat(rng.normal(size=12), 40), rng.normal(size=480)])
    y = np.repeat([1, 0], 480)
    # Copies on both sides of a fold would promise an AUC near 1 for a column of noise.
    model = TreeRank(random_state=0).fit(noise[:, None], y)
    assert max(model.pruning_["mean_auc"]) < 0.75


def test_noise_in_cells_is_pruned():
    rng = np.random.default_rng(2)
    X = rng.integers(0, 3, (600, 3)).astype(float)
    pruning = CrossValidatedPruning(one_standard_error=True)
    model = TreeRank(pruning=pruning, random_state=0)
    leaves = [model.fit(X, rng.random(600) < 0.5).tree_.n_leaves for _ in range(8)]
    assert np.median(leaves) <= 3
