"""Boosters with monotonic constraints."""

import numpy as np
import pandas as pd
import pytest
from aucrank import AUCBoost, RankBoost
from aucrank.tree import LeafRank, TreeRank
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from sklearn.linear_model import LogisticRegression

BOOSTERS = [AUCBoost, RankBoost]
WEAK = ["feature", "threshold", "tree", LeafRank(max_depth=2)]
N_FEATURES = 4


def simulated(seed, n_rows=250, decimals=None):
    """Draw rows with missing values and ties, whose classes turn with the features."""
    rng = np.random.default_rng(seed)
    decimals = rng.integers(0, 3) if decimals is None else decimals
    X = np.round(rng.normal(size=(n_rows, N_FEATURES)), decimals)
    signal = 2 * np.sin(3 * X[:, 0]) + X[:, 1] - X[:, 2] + rng.normal(size=n_rows)
    y = signal > np.median(signal)
    X[rng.random(X.shape) < 0.1 * y[:, None]] = np.nan
    return X, y


def worst_step(model, X, feature, direction):
    """Return the largest violation of a constraint by the score along a fine grid."""
    grid = np.linspace(-4, 4, 161)
    rows = np.repeat(X[:25], len(grid), axis=0)
    rows[:, feature] = np.tile(grid, 25)
    steps = np.diff(model.decision_function(rows).reshape(25, -1), axis=1)
    return (direction * steps).min()


@pytest.mark.parametrize("weak_ranker", WEAK, ids=str)
@pytest.mark.parametrize("booster", BOOSTERS)
@given(
    seed=st.integers(0, 10_000),
    directions=st.lists(st.sampled_from([-1, 0, 1]), min_size=4, max_size=4),
    subsample=st.sampled_from([1.0, 0.5]),
)
def test_no_step_of_the_score_violates_its_constraint(
    booster, weak_ranker, seed, directions, subsample
):
    X, y = simulated(seed)
    model = booster(
        weak_ranker=weak_ranker,
        n_rounds=12,
        monotonic_cst=directions,
        subsample=subsample,
        random_state=0,
    ).fit(X, y)
    for feature, direction in enumerate(directions):
        if direction != 0:
            assert worst_step(model, X, feature, direction) >= 0


@pytest.mark.parametrize("weak_ranker", WEAK, ids=str)
@pytest.mark.parametrize("booster", BOOSTERS)
def test_a_constraint_matters_if_the_data_contradict_it(booster, weak_ranker):
    X, y = simulated(1, 800, decimals=2)
    free = booster(weak_ranker=weak_ranker, n_rounds=20).fit(X, y)
    assert worst_step(free, X, 2, 1) < 0
    zeros = booster(weak_ranker=weak_ranker, n_rounds=20, monotonic_cst=[0] * N_FEATURES)
    assert_array_equal(zeros.fit(X, y).decision_function(X), free.decision_function(X))
    bound = booster(weak_ranker=weak_ranker, n_rounds=20, monotonic_cst=[1, 0, 1, 0]).fit(X, y)
    assert 0.6 < bound.score(X, y) < free.score(X, y)


@pytest.mark.parametrize("weak_ranker", ["feature", "threshold"])
@pytest.mark.parametrize("booster", BOOSTERS)
def test_a_number_constrained_to_the_wrong_direction_still_uses_missing_values(
    booster, weak_ranker
):
    rng = np.random.default_rng(0)
    y = rng.random(400) < 0.5
    x = rng.normal(size=400) + y
    x[y & (rng.random(400) < 0.5)] = np.nan
    model = booster(weak_ranker=weak_ranker, monotonic_cst=[-1], n_rounds=1).fit(x[:, None], y)
    low, high, missing = model.decision_function([[-9.0], [9.0], [np.nan]])
    assert low == high < missing


def test_constraints_may_be_given_by_column_name_and_not_on_categories():
    X, y = simulated(3)
    frame = pd.DataFrame(X, columns=list("abcd"))
    by_name = RankBoost(n_rounds=20, monotonic_cst={"c": 1}).fit(frame, y)
    by_place = RankBoost(n_rounds=20, monotonic_cst=[0, 0, 1, 0]).fit(frame, y)
    assert_array_equal(by_name.decision_function(frame), by_place.decision_function(frame))
    frame["e"] = pd.Categorical(np.where(y, "x", "y"))
    with pytest.raises(ValueError, match="column 'e' is categorical, so monotonic_cst"):
        RankBoost(monotonic_cst={"e": 1}).fit(frame, y)
    with pytest.raises(ValueError, match="'z'"):
        RankBoost(monotonic_cst={"z": 1}).fit(frame, y)
    with pytest.raises(ValueError, match="must be -1, 0 or 1"):
        AUCBoost(monotonic_cst=[2, 0, 0, 0]).fit(X, y)


@pytest.mark.parametrize("booster", BOOSTERS)
def test_rankers_without_monotonic_constraints_are_rejected(booster):
    X, y = simulated(4)
    X = np.nan_to_num(X)
    tree = TreeRank(pruning=None, max_depth=2, monotonic_cst=[1, 0, 0, 0])
    for weak_ranker, words in [
        ("linear", "left out for linear weak rankers"),
        (LogisticRegression(), "left out for a weak ranker of your own"),
        (tree, "left out of the booster or of its trees"),
    ]:
        with pytest.raises(ValueError, match=words):
            booster(weak_ranker=weak_ranker, monotonic_cst=[1, 0, 0, 0]).fit(X, y)
        # Nothing is constrained.
        booster(weak_ranker=weak_ranker, n_rounds=2, monotonic_cst=[0] * 4).fit(X, y)


@pytest.mark.parametrize("weak_ranker", ["feature", "tree"])
def test_a_warm_start_keeps_the_constraint(weak_ranker):
    X, y = simulated(5, 600)
    params = {"weak_ranker": weak_ranker, "warm_start": True, "monotonic_cst": [1, 0, 0, -1]}
    model = RankBoost(n_rounds=5, **params).fit(X, y)
    model.set_params(n_rounds=12).fit(X, y)
    whole = RankBoost(n_rounds=12, **params).fit(X, y)
    assert_array_equal(model.decision_function(X), whole.decision_function(X))
    free = RankBoost(weak_ranker=weak_ranker, n_rounds=5, warm_start=True).fit(X, y)
    with pytest.raises(ValueError, match="what the rounds of the last fit keep to"):
        free.set_params(n_rounds=8, monotonic_cst=[0, -1, 0, 0]).fit(X, y)
