"""Shapley values against their definition: what a feature adds, averaged over all orders."""

from itertools import chain, combinations, permutations
from math import factorial

import numpy as np
import pandas as pd
import pytest
from aucrank import (
    AURORA,
    RIMARC,
    AUCBoost,
    GradientBoostingRanker,
    LinearRanker,
    RankBoost,
    RankingEnsemble,
    RankingForest,
    Scorecard,
    TreeRank,
    load,
)
from aucrank.inspection import shapley_interactions, shapley_values
from aucrank.tree import DyadicSplit
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier

from tests.common.loans import loans

FEATURES = ["age", "income", "months", "trade"]
NUMBERS = FEATURES[:3]


def drawn():
    X, _ = loans(500)
    log_odds = X["age"].fillna(40) / 20 - 2 + (X["trade"].astype(str) == "cook") * X["months"] / 40
    y = np.random.default_rng(0).random(len(X)) < 1 / (1 + np.exp(-log_odds))
    return X[FEATURES], y.to_numpy().astype(int)


X, Y = drawn()


def by_definition(model, rows, background):
    """Mean over the background, and over all orders of the features, of what each adds."""
    names = list(rows)
    found = np.zeros((len(rows), len(names)))
    for order in permutations(range(len(names))):
        for place in range(len(rows)):
            mixed = background.reset_index(drop=True)
            scores = [model.decision_function(mixed).mean()]
            for feature in order:
                own = rows.iloc[[place] * len(mixed), feature].reset_index(drop=True)
                mixed = mixed.assign(**{names[feature]: own})
                scores.append(model.decision_function(mixed).mean())
            found[place, list(order)] += np.diff(scores)
    return found / factorial(len(names))


def pairs_by_definition(model, rows, background):
    """Halves of what two features add together, less what each adds, over sets of the others."""
    names = list(rows)
    n = len(names)
    found = np.zeros((len(rows), n, n))
    for place in range(len(rows)):

        def value(features, place=place):
            mixed = background.reset_index(drop=True)
            own = rows.iloc[[place] * len(mixed)].reset_index(drop=True)
            mixed = mixed.assign(**{names[feature]: own[names[feature]] for feature in features})
            return model.decision_function(mixed).mean()

        sets = chain.from_iterable(combinations(range(n), size) for size in range(n + 1))
        of_set = {frozenset(features): value(features) for features in sets}
        for pair in map(frozenset, combinations(range(n), 2)):
            a, b = pair
            for before in (features for features in of_set if not features & pair):
                share = factorial(len(before)) * factorial(n - len(before) - 2) / factorial(n - 1)
                gain = (
                    of_set[before | pair]
                    - of_set[before | {a}]
                    - of_set[before | {b}]
                    + of_set[before]
                )
                found[place, a, b] += share * gain / 2
                found[place, b, a] += share * gain / 2
    values = by_definition(model, rows, background)
    diagonal = np.arange(n)
    found[:, diagonal, diagonal] = values - found.sum(axis=2)
    return found


def ensemble(**params):
    members = [
        ("boosting", GradientBoostingRanker(n_rounds=20)),
        ("linear_thresholds", LinearRanker()),
        ("forest", RankingForest(n_estimators=5, cuts="random", bootstrap=False)),
    ]
    return RankingEnsemble(
        **{"members": members, "n_folds": 2, "shrinkage": 1e6, "random_state": 0, **params}
    )


MODELS = {
    "ensemble": ensemble(),
    "booster": GradientBoostingRanker(n_rounds=30, random_state=0),
    "forest": RankingForest(n_estimators=10, random_state=0),
    "tree": TreeRank(random_state=0),
    "tree of merged cells": TreeRank(split="leafrank", max_depth=3, random_state=0),
    "linear": LinearRanker(),
    "thresholds": RankBoost(n_rounds=20),
    "weak rankers": AUCBoost(n_rounds=5),
    "scorecard": Scorecard(),
}


@pytest.mark.parametrize("name", MODELS)
def test_shapley_values_are_the_mean_over_all_orders_of_features(name):
    model = MODELS[name].fit(X, Y)
    if name == "ensemble":
        assert min(model.weights_.values()) > 0
    rows, background = X[:4], X[100:107]
    found = shapley_values(model, rows, background)
    scale = 1 + np.abs(model.decision_function(X)).max()
    expected = by_definition(model, rows, background)
    assert found.values == pytest.approx(expected, abs=1e-11 * scale)
    sums = found.base_score + found.values.sum(axis=1)
    assert sums == pytest.approx(model.decision_function(rows), abs=1e-11 * scale)
    assert np.abs(found.values).max() > 0
    assert list(found.feature_names) == FEATURES


@pytest.mark.parametrize("name", ["ensemble", "booster", "tree of merged cells", "joint", "card"])
def test_interactions_are_the_mean_over_all_sets_of_the_other_features(name):
    more = {"joint": LinearRanker(interactions=3), "card": MODELS["scorecard"]}
    # Classes that two numbers tell only together.
    apart = (X["age"].fillna(40) > 40) != (X["months"] > X["months"].median())
    model = (more | MODELS)[name].fit(X, apart if name == "joint" else Y)
    rows, background = X[:3], X[100:105]
    found = shapley_interactions(model, rows, background)
    scale = 1 + np.abs(model.decision_function(X)).max()
    expected = pairs_by_definition(model, rows, background)
    assert found.values == pytest.approx(expected, abs=1e-11 * scale)
    np.testing.assert_array_equal(found.values, found.values.transpose(0, 2, 1))
    of_features = shapley_values(model, rows, background)
    assert found.values.sum(axis=2) == pytest.approx(of_features.values, abs=1e-11 * scale)
    assert found.base_score == of_features.base_score
    assert list(found.feature_names) == FEATURES
    is_pair = ~np.eye(len(FEATURES), dtype=bool)
    # The score of a card is a sum of functions of single features.
    assert found.values[:, is_pair].any() == (name != "card")


def test_neither_threads_nor_the_order_of_rows_change_interactions():
    model = ensemble().fit(X, Y)
    found = shapley_interactions(model, X[:20], X[::10])
    model.set_params(n_jobs=2)
    backwards = shapley_interactions(model, X[:20][::-1], X[::10][::-1])
    np.testing.assert_array_equal(backwards.values[::-1], found.values)


def test_the_interactions_of_a_row_are_listed_largest_first_and_add_up():
    model = GradientBoostingRanker(n_rounds=10, random_state=0).fit(X, Y)
    found = shapley_interactions(model, X[:3], X[::10])
    table = found.of_row(1)
    size = np.abs(table["value"])
    assert list(size) == sorted(size, reverse=True)
    assert size.min() > 0
    score = model.decision_function(X[:3])[1]
    assert found.base_score + table["value"].sum() == pytest.approx(score, abs=1e-12)
    listed = dict(
        zip(zip(table["feature_1"], table["feature_2"], strict=True), table["value"], strict=True)
    )
    for (first, second), value in listed.items():
        a, b = FEATURES.index(first), FEATURES.index(second)
        assert a <= b
        halves = found.values[1, [a, b], [b, a]]
        assert value == (halves[0] if a == b else halves.sum())


@pytest.mark.parametrize("model", [AURORA(max_features=3, depth="shallow"), LinearRanker()])
def test_shapley_values_of_an_additive_score_are_its_centred_parts(model):
    model = model.fit(X[["age", "months"]].fillna(0), Y)
    rows, background = X[["age", "months"]].fillna(0), X[["age", "months"]].fillna(0)[::7]
    found = shapley_values(model, rows, background).values
    if isinstance(model, LinearRanker):
        expected = model.explain(rows) - model.explain(background).mean(axis=0)
        assert found == pytest.approx(expected, abs=1e-12)
    sums = found.sum(axis=1) + model.decision_function(background).mean()
    assert sums == pytest.approx(model.decision_function(rows), abs=1e-10)


def test_neither_threads_nor_the_order_of_rows_change_a_bit(tmp_path):
    model = ensemble().fit(X, Y)
    found = shapley_values(model, X[:50], X[::10])
    model.save(tmp_path / "model.json")
    again = load(tmp_path / "model.json").set_params(n_jobs=2)
    backwards = shapley_values(again, X[:50][::-1], X[::10][::-1])
    np.testing.assert_array_equal(backwards.values[::-1], found.values)
    assert backwards.base_score == found.base_score


def test_a_feature_that_the_score_does_not_use_adds_nothing():
    model = GradientBoostingRanker(n_rounds=10, random_state=0)
    model.fit(X.assign(constant=1.0), Y)
    rows = X.assign(constant=np.arange(len(X), dtype=float))
    assert not shapley_values(model, rows[:5], rows[::50]).values[:, 4].any()


def test_the_values_of_a_row_are_listed_largest_first():
    model = GradientBoostingRanker(n_rounds=10, random_state=0).fit(X, Y)
    found = shapley_values(model, X[:3], X[::10])
    table = found.of_row(1)
    size = np.abs(table["value"])
    assert list(size) == sorted(size, reverse=True)
    own = dict(zip(table["feature"], table["value"], strict=True))
    assert [own[name] for name in FEATURES] == list(found.values[1])


def test_shapley_values_equal_those_of_shap():
    shap = pytest.importorskip("shap", reason="compares with it, and is in no group of ours")
    numbers = X[NUMBERS].fillna(-1.0).to_numpy()
    model = ensemble().fit(numbers, Y)
    found = shapley_values(model, numbers[:5], numbers[::25])
    explainer = shap.PermutationExplainer(model.decision_function, numbers[::25])
    sampled = explainer(numbers[:5], max_evals=2000)
    # With three features it meets all orders often enough.
    assert found.values == pytest.approx(sampled.values, abs=0.05)
    assert sampled.base_values == pytest.approx(found.base_score, abs=1e-6)
    forest = RankingForest(n_estimators=10, random_state=0).fit(numbers, Y)
    exact = shap.TreeExplainer(forest.to_shap(), numbers[::25])(numbers[:5])
    ours = shapley_values(forest, numbers[:5], numbers[::25])
    # It agrees to seven digits, the definition above to eleven.
    assert ours.values == pytest.approx(exact.values, abs=1e-7)


def test_models_that_cannot_be_explained_raise_a_clear_error():
    numbers = X[NUMBERS].fillna(0).to_numpy()
    with pytest.raises(TypeError, match="must be a fitted ranker of aucrank, got LogisticReg"):
        shapley_values(LogisticRegression(), numbers, numbers)
    with pytest.raises(NotFittedError):
        shapley_values(TreeRank(), numbers, numbers)
    with pytest.raises(ValueError, match="this model has a quotient"):
        shapley_values(RIMARC().fit(numbers, Y), numbers, numbers)
    with pytest.raises(ValueError, match="this model has a quotient"):
        shapley_interactions(RIMARC().fit(numbers, Y), numbers, numbers)
    members = [("own", DecisionTreeClassifier(max_depth=3)), ("tree", TreeRank())]
    mixed = RankingEnsemble(members=members, n_folds=2, random_state=0).fit(numbers, Y)
    with pytest.raises(ValueError, match="some of its members are estimators"):
        shapley_values(mixed, numbers, numbers)
    cubes = TreeRank(split=DyadicSplit(level=2), max_depth=2).fit(numbers, Y)
    with pytest.raises(ValueError, match="list of cubes"):
        shapley_values(cubes, numbers, numbers)
    tree = TreeRank().fit(X, Y)
    with pytest.raises(ValueError, match="feature names"):
        shapley_values(tree, X, pd.DataFrame({"age": [1.0]}))
    with pytest.raises(ValueError, match=r"0 sample|no rows"):
        shapley_values(tree, X, X[:0])
