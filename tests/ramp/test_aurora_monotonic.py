"""AURORA with monotonic constraints."""

import numpy as np
import pandas as pd
import pytest
from aucrank import AURORA
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal


def simulated(seed, n_rows=300, decimals=None):
    """Draw rows with missing values, ties and a category, whose classes turn with the features."""
    rng = np.random.default_rng(seed)
    decimals = rng.integers(0, 3) if decimals is None else decimals
    X = np.round(rng.normal(size=(n_rows, 4)), decimals)
    signal = np.sin(3 * X[:, 0]) + X[:, 1] * X[:, 3] - X[:, 2] + rng.normal(size=n_rows)
    y = signal > np.median(signal)
    X[rng.random(X.shape) < 0.1 * y[:, None]] = np.nan
    frame = pd.DataFrame(X, columns=list("abcd"))
    frame["kind"] = pd.Categorical(rng.choice(["x", "y", "z"], n_rows))
    return frame, y


def worst_step(model, frame, name, direction):
    """Return the largest violation of a constraint by the score along a fine grid."""
    grid = np.linspace(-4, 4, 161)
    rows = frame.iloc[np.repeat(np.arange(25), len(grid))].copy()
    rows[name] = np.tile(grid, 25)
    steps = np.diff(model.decision_function(rows).reshape(25, -1), axis=1)
    return (direction * steps).min()


@given(
    seed=st.integers(0, 10_000),
    directions=st.dictionaries(st.sampled_from("abcd"), st.sampled_from([-1, 0, 1])),
    order=st.sampled_from([1, 2]),
    radius=st.sampled_from([0.5, 3.0]),
    depth=st.sampled_from(["quick", "standard"]),
    selection=st.sampled_from([None, "validation", "cv"]),
)
def test_no_step_of_the_score_violates_its_constraint(
    seed, directions, order, radius, depth, selection
):
    frame, y = simulated(seed)
    model = AURORA(
        max_features=12,
        order=order,
        radius=radius,
        depth=depth,
        selection=selection,
        n_folds=2,
        monotonic_cst=directions,
        random_state=0,
    ).fit(frame, y)
    for name, direction in directions.items():
        if direction != 0:
            assert worst_step(model, frame, name, direction) >= 0


@pytest.mark.parametrize("n_rows", [400, 4000])  # The ramp statistic is exact, or on a grid.
@pytest.mark.parametrize("order", [1, 2])
def test_a_constraint_matters_if_the_data_contradict_it(order, n_rows):
    frame, y = simulated(0, n_rows, decimals=2)
    params = {"max_features": 25, "order": order, "radius": 3.0, "random_state": 0}
    free = AURORA(**params).fit(frame, y)
    assert worst_step(free, frame, "a", 1) < 0
    zeros = AURORA(**params, monotonic_cst=[0] * 5).fit(frame, y)
    assert_array_equal(zeros.decision_function(frame), free.decision_function(frame))
    bound = AURORA(**params, monotonic_cst={"a": 1, "b": -1, "d": 1}).fit(frame, y)
    assert 0.6 < bound.score(frame, y) < free.score(frame, y)
    for name, direction in [("a", 1), ("b", -1), ("d", 1)]:
        assert worst_step(bound, frame, name, direction) >= 0


def test_a_constraint_that_the_data_follow_does_not_lower_the_auc():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(3000, 3))
    y = rng.random(3000) < 1 / (1 + np.exp(-2 * X[:, 0] + X[:, 1]))
    test = rng.normal(size=(3000, 3))
    truth = rng.random(3000) < 1 / (1 + np.exp(-2 * test[:, 0] + test[:, 1]))
    params = {"max_features": 40, "radius": 2.0, "random_state": 0}
    free = AURORA(**params).fit(X, y).score(test, truth)
    bound = AURORA(**params, monotonic_cst=[1, -1, 0]).fit(X, y).score(test, truth)
    assert bound > free - 0.003


def test_constraints_that_exclude_all_terms_give_a_constant_score():
    x = np.arange(200.0)
    with pytest.warns(UserWarning, match="No term distinguishes the classes"):
        model = AURORA(max_features=5, radius=1.0, selection=None, monotonic_cst=[-1]).fit(
            x[:, None], x > 100
        )
    assert np.ptp(model.decision_function(x[:, None])) == 0


def test_a_warm_start_keeps_the_constraints():
    frame, y = simulated(2, 600)
    params = {"radius": 3.0, "selection": None, "warm_start": True}
    model = AURORA(max_features=5, monotonic_cst={"a": 1}, **params).fit(frame, y)
    model.set_params(max_features=10).fit(frame, y)
    whole = AURORA(max_features=10, monotonic_cst={"a": 1}, **params).fit(frame, y)
    assert_array_equal(model.decision_function(frame), whole.decision_function(frame))
    # On other rows, too.
    other, truth = simulated(3, 600)
    model.set_params(max_features=12).fit(other, truth)
    assert worst_step(model, other, "a", 1) >= 0
    free = AURORA(max_features=10, order=1, **params).fit(frame, y)
    with pytest.raises(ValueError, match="what the model keeps to whose search goes on"):
        free.set_params(max_features=12, monotonic_cst={"c": 1}).fit(frame, y)


def test_constraints_on_categories_are_rejected():
    frame, y = simulated(4, decimals=0)
    with pytest.raises(ValueError, match="column 'kind' is categorical, so monotonic_cst"):
        AURORA(monotonic_cst={"kind": 1}).fit(frame, y)
    with pytest.raises(ValueError, match="column 'a' is categorical, so monotonic_cst"):
        AURORA(monotonic_cst={"a": 1}, feature_types={"a": "categorical"}).fit(frame, y)
