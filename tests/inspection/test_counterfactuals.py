"""Few changes of a row that take it past a threshold."""

import itertools

import numpy as np
import pandas as pd
import polars as pl
import pytest
from aucrank import GradientBoostingRanker, LinearRanker, RankBoost, Scorecard, TreeRank
from aucrank.inspection import counterfactuals
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression


def rows(n=400, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 6, size=(n, 4)).astype(float)
    y = X[:, 0] + X[:, 1] * (X[:, 2] > 2) + rng.normal(size=n) > 5
    return X, y.astype(int)


def distance(X, feature, old, new):
    low, high = sorted([old, new])
    between = (X[:, feature] >= low) & (X[:, feature] <= high) & (X[:, feature] != old)
    return between.mean()


def by_definition(score, X, row, threshold, most):
    """The least distance of each set of columns without a needless change, by trying all values."""
    is_above = score(row[None])[0] > threshold
    found = {}
    for n_changes in range(1, most + 1):
        for features in itertools.combinations(range(X.shape[1]), n_changes):
            if any(set(done) <= set(features) for done in found):
                continue
            best = None
            choices = [[v for v in np.unique(X[:, f]) if v != row[f]] for f in features]
            for values in itertools.product(*choices):
                changed = row.copy()
                changed[list(features)] = values
                value = score(changed[None])[0]
                if (value <= threshold) if is_above else (value > threshold):
                    of = sum(
                        distance(X, f, row[f], v) for f, v in zip(features, values, strict=True)
                    )
                    best = of if best is None else min(best, of)
            if best is not None:
                found[features] = best
    return found


@pytest.mark.parametrize(
    "model",
    [
        TreeRank(random_state=0),
        Scorecard(random_state=0),
        GradientBoostingRanker(n_rounds=20, random_state=0),
        RankBoost(n_rounds=10),
        LinearRanker(),
        LogisticRegression(),
    ],
    ids=lambda model: type(model).__name__,
)
def test_changes_are_the_fewest_and_least_of_all(model):
    X, y = rows()
    model.fit(X, y)
    scores = model.decision_function(X)
    low, high = int(np.argmin(scores)), int(np.argmax(scores))
    middle = int(np.argsort(scores)[len(scores) // 3])
    for place in (low, high, middle):
        found = counterfactuals(model, X[place : place + 1], X, max_changes=3, n=20)
        assert found.is_exhaustive
        assert found.score == pytest.approx(scores[place], rel=1e-12)
        expected = by_definition(model.decision_function, X, X[place], 0.0, 3)
        table = found.table.to_frame()
        own = {}
        for number, part in table.groupby("number"):
            features = tuple(int(name[1:]) for name in part["feature"])
            own[features] = part["distance"].sum()
            changed = X[place].copy()
            for feature, old, new in zip(features, part["value"], part["new_value"], strict=True):
                assert old == X[place, feature]
                changed[feature] = new
            score = model.decision_function(changed[None])[0]
            assert part["score"].tolist() == pytest.approx([score] * len(part), rel=1e-9)
            assert (score > 0) != (scores[place] > 0)
            assert number == len(own) - 1
        assert own == pytest.approx(expected)
        order = [(len(features), cost) for features, cost in own.items()]
        assert order == sorted(order)


@pytest.mark.parametrize("library", [pd.DataFrame, pl.DataFrame])
def test_frames_with_categories_bounds_and_directions(library):
    X, y = rows()
    names = ["none", "rent", "own", "loan", "flat", "farm"]
    data = {"income": X[:, 0], "age": X[:, 1], "home": [names[int(v)] for v in X[:, 2]]}
    frame = library(data)
    model = TreeRank(random_state=0).fit(frame, y)
    scores = model.decision_function(frame)
    place = int(np.argmin(scores))
    row = frame[place : place + 1]
    free = counterfactuals(model, row, frame, n=10)
    assert len(free) >= 1
    fixed = counterfactuals(model, row, frame, features=["income", "home"], n=10)
    assert set(fixed.table["feature"]) <= {"income", "home"}
    bounded = counterfactuals(model, row, frame, bounds={"income": (None, 3)}, n=10)
    for name, new in zip(bounded.table["feature"], bounded.table["new_value"], strict=True):
        assert name != "income" or new <= 3
    falling = counterfactuals(
        model, row, frame, directions={"income": "decrease", "age": "decrease"}, n=10
    )
    for name, old, new in zip(
        falling.table["feature"], falling.table["value"], falling.table["new_value"], strict=True
    ):
        assert name == "home" or new < old
    homes = free.table["feature"] == "home"
    assert set(free.table["new_value"][homes]) <= set(names)
    assert set(free.table["distance"][homes]) <= {0.5}


def test_a_missing_value_may_become_known_and_none_becomes_missing():
    X, y = rows()
    X[::7, 0] = np.nan
    model = TreeRank(random_state=0).fit(X, y)
    row = np.array([[np.nan, 0.0, 0.0, 0.0]])
    found = counterfactuals(model, row, X, n=10)
    assert not any(np.isnan(value) for value in found.table["new_value"])
    of_first = found.table["feature"] == "x0"
    assert of_first.any()
    assert set(found.table["distance"][of_first]) == {0.5}


def test_a_threshold_of_a_probability_and_no_way_to_it():
    X, y = rows()

    model = RandomForestClassifier(10, random_state=0).fit(X, y)
    row = X[:1] * 0
    found = counterfactuals(model, row, X)
    assert found.threshold == 0.5
    assert (found.table["score"] > 0.5).all()
    none = counterfactuals(model, row, X, threshold=1.0, max_changes=2)
    assert len(none) == none.table.n_rows == 0
    assert none.is_exhaustive


def test_many_columns_are_searched_as_far_as_rows_go():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(3000, 30))
    y = X[:, :6].sum(axis=1) + rng.normal(size=3000) > 0
    model = LogisticRegression().fit(X, y)
    row = np.zeros((1, 30))
    row[0, :6] = -1
    found = counterfactuals(model, row, X, max_changes=3, n=2)
    assert len(found) == 2
    assert not found.is_exhaustive
    table = found.table.to_frame()
    assert set(table["feature"]) <= {f"x{place}" for place in range(6)}
    assert (table["score"] > 0).all()


@pytest.mark.parametrize(
    ("kwargs", "error", "message"),
    [
        ({"row": np.zeros((2, 4))}, ValueError, "row must be one row, got 2"),
        ({"row": np.zeros((1, 3))}, ValueError, "row has 3 columns, but X has 4"),
        ({"row": pd.DataFrame(np.zeros((1, 4)))}, ValueError, "must both be"),
        ({"X": np.zeros((0, 4))}, ValueError, "X has no rows"),
        ({"features": [7]}, ValueError, "features holds 7"),
        ({"bounds": {"a": (0, 1)}}, ValueError, "bounds holds 'a'"),
        ({"bounds": {0: (2, 1)}}, ValueError, "bounds of 0 are 2 to 1"),
        ({"directions": {0: "up"}}, ValueError, "directions of 0 must be"),
        ({"threshold": np.inf}, ValueError, "threshold is inf"),
        ({"max_changes": 0}, ValueError, "max_changes"),
        ({"n": 0}, ValueError, "n"),
    ],
)
def test_bad_input_is_named_in_the_error(kwargs, error, message):
    X, y = rows()
    given = {"row": X[:1], "X": X} | kwargs
    with pytest.raises(error, match=message):
        counterfactuals(TreeRank(random_state=0).fit(X, y), **given)


def test_a_bound_of_a_category_is_refused():
    frame = pd.DataFrame({"a": list("xyxy"), "b": [1.0, 2, 3, 4]})
    model = TreeRank(random_state=0).fit(frame, [0, 1, 0, 1])
    with pytest.raises(TypeError, match="bounds holds 'a', which is not a column of numbers"):
        counterfactuals(model, frame[:1], frame, bounds={"a": (0, 1)})
