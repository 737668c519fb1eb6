"""Integer scores from a card, and how many features they need."""

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from aucrank import GradientBoostingRanker, IntegerScore, Scorecard
from numpy.testing import assert_array_equal
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import GroupKFold, StratifiedKFold

from tests.common.loans import SPECIAL, X, Y, document

mpl.use("agg")
POSITIVE = Y == "default"


@pytest.fixture(scope="module")
def card():
    return Scorecard(special_values=SPECIAL).fit(X, Y)


def names_of(score):
    return [feature.name for feature in score._card.features]


def test_a_score_has_features_and_special_values_of_the_card(card):
    dropped = names_of(card)[0]
    score = card.without(dropped).to_integer_score(X, Y, max_features=len(X.columns), min_gain=0)
    assert dropped not in names_of(score)
    assert set(names_of(score)) < set(names_of(card))
    of_card = {f["feature"]: f["bins"] for f in document(card)["features"]}
    for feature in document(score)["features"]:
        if "numeric" in feature["bins"]:
            special = of_card[feature["feature"]]["numeric"]["special"]
            assert feature["bins"]["numeric"]["special"] == special
    assert score.auc_ == pytest.approx(roc_auc_score(POSITIVE, score.points(X)))
    assert score.get_params()["high_points"] == card.high_points


def test_parameters_are_those_of_the_estimator(card):
    score = card.to_integer_score(X, Y, max_features=2, max_points=3, high_points="negative")
    assert isinstance(score, IntegerScore)
    assert len(names_of(score)) == 2
    assert score.card()["points"].max() == 3
    assert roc_auc_score(POSITIVE, score.points(X)) < 0.5
    with pytest.raises(TypeError, match="max_feature"):
        card.to_integer_score(X, Y, max_feature=2)
    with pytest.raises(ValueError, match="max_points must be from 1"):
        card.to_integer_score(X, Y, max_points=0)
    with pytest.raises(ValueError, match="both X and y"):
        card.to_integer_score(X, None)


def patients(n_missing, n=4000):
    """Rows of which the first lack a measurement, and who died: half of these, fewer others."""
    rng = np.random.default_rng(4)
    frame = pd.DataFrame({"lactate": rng.normal(size=n), "age": rng.integers(20, 90, n)})
    risk = 0.07 * (frame["age"] - 40) + 0.4 * frame["lactate"] - 3
    y = rng.random(n) < 1 / (1 + np.exp(-risk))
    frame.loc[: n_missing - 1, "lactate"] = np.nan
    y[:n_missing] = np.arange(n_missing) % 2 == 0
    return frame, y


def points_of(score):
    table = score.card()
    return int(table["points"][table["rule"] == "lactate is missing"][0])


def test_missing_values_of_few_rows_count_as_the_median():
    frame, y = patients(24)
    assert points_of(IntegerScore(max_points=100, min_bin_share=0).fit(frame, y)) >= 50
    score = IntegerScore(max_points=100).fit(frame, y)
    middle = pd.DataFrame({"lactate": [frame["lactate"].median()], "age": 50})
    assert points_of(score) == score.points_by_feature(middle)[0, 0]


def test_missing_values_of_many_rows_have_their_own_points():
    frame, y = patients(800)
    points = [
        points_of(IntegerScore(max_points=100, **params).fit(frame, y))
        for params in ({}, {"min_bin_share": 0})
    ]
    assert min(points) > 50


def with_a_turn(n=3000):
    """Rows whose risk rises along "a" and falls at its end, and falls along "b" but for its end."""
    rng = np.random.default_rng(9)
    frame = pd.DataFrame(rng.uniform(0, 10, size=(n, 3)), columns=["a", "b", "c"])
    up, down = (np.where(frame[c] < 9, frame[c], 12 - frame[c]) for c in ("a", "b"))
    y = rng.random(n) < 1 / (1 + np.exp(-0.4 * (up - down)))
    return frame, y


def steps_of(card, feature):
    """Return the differences of the points of neighbouring intervals."""
    table = card.card()
    is_interval = (table["feature"] == feature) & (table["rule"] != f"{feature} is missing")
    return np.diff(table["points"][is_interval])


@pytest.mark.parametrize("high_points", ["positive", "negative"])
@pytest.mark.parametrize(
    "params",
    [
        {"monotone": True},
        {"monotone": {"a": 1, "b": -1}},
        {"estimator": GradientBoostingRanker.additive(monotonic_cst={"a": 1, "b": -1})},
    ],
    ids=["all", "directions", "ranker"],
)
def test_integer_scores_and_new_cuts_keep_the_directions_of_the_card(params, high_points):
    frame, y = with_a_turn()
    sign = 1 if high_points == "positive" else -1
    free = Scorecard(high_points=high_points).fit(frame, y)
    card = Scorecard(high_points=high_points, **params).fit(frame, y)
    for make in (
        lambda of: of.to_integer_score(frame, y, max_lines=8, min_gain=0),
        lambda of: of.with_cuts("a", [2, 4, 6, 8, 9], frame, y).with_cuts("b", [5, 9], frame, y),
    ):
        # Without directions the last interval is on the wrong side.
        assert sign * steps_of(make(free), "a")[-1] < 0
        assert sign * steps_of(make(free), "b")[-1] > 0
        kept = make(card)
        assert (sign * steps_of(kept, "a") >= 0).all()
        assert (sign * steps_of(kept, "b") <= 0).all()
        assert sign * steps_of(kept, "a").sum() > 0


def with_two_features():
    rng = np.random.default_rng(3)
    frame = pd.DataFrame(rng.normal(size=(1500, 4)), columns=list("abcd"))
    y = rng.random(1500) < 1 / (1 + np.exp(-2 * frame["a"] - frame["b"]))
    return frame, y


def test_parsimony_is_cross_validated():
    frame, y = with_two_features()
    path = IntegerScore().parsimony(frame, y, max_features=9)
    assert path.table["n_features"][:2].tolist() == [1, 2]
    assert path.table["features"][:2].tolist() == ["a", "a, b"]
    assert path.n_features == 2
    assert (path.table["low"] < path.table["auc"]).all()
    assert path.table["auc"][1] > path.table["auc"][0] + 0.02
    display = path.plot()
    assert_array_equal(display.ax_.lines[0].get_ydata(), path.table["auc"])
    mpl.pyplot.close("all")


def test_parsimony_measures_the_scores_of_each_number_of_features():
    frame, y = with_two_features()
    folds = StratifiedKFold(3, shuffle=True, random_state=1)
    path = IntegerScore(max_lines=3).parsimony(frame, y, max_features=2, cv=folds)
    for size, expected in zip((1, 2), path.table["auc"], strict=True):
        found = []
        for train, test in folds.split(frame, y):
            score = IntegerScore(max_features=size, max_lines=3)
            score.fit(frame.iloc[train], y.iloc[train])
            found.append(roc_auc_score(y.iloc[test], score.points(frame.iloc[test])))
        assert expected == pytest.approx(np.mean(found), abs=1e-3)


def test_rows_of_a_group_are_in_one_fold_of_parsimony():
    frame, y = with_two_features()
    groups = np.arange(len(frame)) // 10
    found = [
        IntegerScore().parsimony(frame, y, max_features=1, cv=cv, groups=groups).table["auc"]
        for cv in (5, GroupKFold(5))
    ]
    assert found[0] == pytest.approx(found[1], abs=0.02)
    with pytest.raises(ValueError, match="two folds"):
        IntegerScore().parsimony(frame, y, cv=[(np.arange(1000), np.arange(1000, 1500))] * 2)
    with pytest.raises(ValueError, match="no feature gains enough"):
        IntegerScore(min_gain=1000).parsimony(frame, y)
