"""A gap of time between the rows of a fit and those that it holds out."""

import pickle
from datetime import date, timedelta
from typing import ClassVar

import numpy as np
import pandas as pd
import pytest
from aucrank import (
    AURORA,
    RIMARC,
    AUCBoost,
    GradientBoostingRanker,
    LinearRanker,
    MartiRank,
    RankBoost,
    RankingEnsemble,
    SMartiRank,
    TreeRank,
    compare,
)
from aucrank.data import Dataset
from aucrank.tree import CrossValidatedPruning, LeafRank, ValidationPruning
from numpy.testing import assert_array_equal
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.model_selection import cross_val_score


def rows_in_time(n_rows=400, n_times=40, seed=0):
    """Draw rows of which the first two columns tell the class, and times in no order."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 3))
    y = (X[:, 0] + X[:, 1] + rng.normal(size=n_rows) > 0).astype(int)
    return X, y, rng.permutation(np.arange(n_rows) % n_times)


class Spy(ClassifierMixin, BaseEstimator):
    """Records the times, its last column, of the rows that it is fitted to and that it ranks."""

    met: ClassVar[list] = []

    def fit(self, X, y):
        self.classes_, self.times_ = np.unique(y), np.unique(X[:, -1])
        return self

    def decision_function(self, X):
        self.met.append((self.times_, np.unique(X[:, -1])))
        return X[:, 0]


UNITS = {
    "numbers": (lambda time: time / 2.0 - 7, 1.5),
    "dates": (lambda time: np.datetime64("2024-02-01") + time.astype("m8[D]"), timedelta(days=3)),
    "objects": (
        lambda time: [date(2024, 2, 1) + timedelta(int(day)) for day in time],
        np.timedelta64(3, "D"),
    ),
    "pandas": (
        lambda time: pd.Timestamp("2024-02-01") + pd.to_timedelta(time, "D"),
        pd.Timedelta(days=3),
    ),
}


@pytest.mark.parametrize("unit", UNITS)
def test_members_rank_rows_farther_than_the_gap_from_those_of_their_fits(unit):
    of_time, gap = UNITS[unit]
    X, y, time = rows_in_time()
    Spy.met = []
    members = [("spy", Spy())]
    model = RankingEnsemble(members=members, n_folds=4, random_state=0)
    model.fit(np.c_[X, time], y, time=of_time(time), gap=gap)
    dealt = [(fitted, ranked) for fitted, ranked in Spy.met if len(ranked) < 40]
    assert len(dealt) == 4
    for fitted, ranked in dealt:
        near = np.abs(np.arange(40)[:, None] - ranked).min(axis=1) <= 3
        assert_array_equal(fitted, np.flatnonzero(~near))
    assert_array_equal(np.sort(np.concatenate([ranked for _, ranked in dealt])), np.arange(40))


#: Rankers that hold out the latest rows, and keep the model that was fitted to the others.
SPLIT = {
    "booster": lambda: GradientBoostingRanker(
        n_rounds=50, validation_fraction=0.25, n_bags=1, refit=False, random_state=0
    ),
    "RankBoost": lambda: RankBoost(n_rounds=30, early_stopping=True, random_state=0),
    "AUCBoost": lambda: AUCBoost(n_rounds=10, early_stopping=True, random_state=0),
    "TreeRank": lambda: TreeRank(pruning=ValidationPruning(fraction=0.25), random_state=0),
}


@pytest.mark.parametrize("name", SPLIT)
def test_labels_within_the_gap_are_not_learned_from(name):
    X, y, time = rows_in_time()
    held_out = time >= 30 if name in ("booster", "TreeRank") else time >= 36
    first = time[held_out].min()
    is_near = (time < first) & (time >= first - 10)
    other = np.where(is_near, 1 - y, y)

    def scores(y, gap):
        found = SPLIT[name]().fit(X, y, time=time, gap=gap).decision_function(X)
        # Thresholds are those of all rows.
        return found - found[0]

    assert_array_equal(scores(other, 10), scores(y, 10))
    assert np.any(scores(other, None) != scores(y, None))
    assert np.any(scores(other, 9) != scores(y, 9))


#: Rankers that deal rows by time, in any way.
DEALING = SPLIT | {
    "folds of a booster": lambda: GradientBoostingRanker(n_rounds=50, random_state=0),
    "calibration": lambda: RankBoost(n_rounds=20, calibration="sigmoid"),
    "pruning": lambda: TreeRank(pruning=CrossValidatedPruning(n_folds=4), random_state=0),
    "pruned stumps": lambda: TreeRank(
        split=LeafRank(pruning=CrossValidatedPruning(n_folds=4)), pruning=None, random_state=0
    ),
    "RIMARC": lambda: RIMARC(weight_folds=4, random_state=0),
    "AURORA": lambda: AURORA(random_state=0),
    "ensemble": lambda: RankingEnsemble(presets="fast", random_state=0),
    "SMartiRank": lambda: SMartiRank(noise_rate="auto", random_state=0),
}


@pytest.mark.parametrize("name", DEALING)
def test_no_gap_is_a_gap_of_zero(name):
    X, y, time = rows_in_time()
    plain, given, zero = (
        DEALING[name]().fit(X, y, time=time, **gap) for gap in ({}, {"gap": None}, {"gap": 0})
    )
    assert_array_equal(given.decision_function(X), plain.decision_function(X))
    assert_array_equal(zero.decision_function(X), plain.decision_function(X))


@pytest.mark.parametrize("name", DEALING)
def test_a_gap_that_leaves_no_rows_is_an_error(name):
    X, y, time = rows_in_time()
    with pytest.raises(ValueError, match="gap leaves rows of one class, or none, to fit to"):
        DEALING[name]().fit(X, y, time=time, gap=40)


DAYS = pd.date_range("2024-01-01", periods=400)


@pytest.mark.parametrize(
    ("given", "error", "message"),
    [
        ({"gap": 1}, ValueError, "gap=1 is between ranges of time: pass time, too"),
        ({"gap": 1, "groups": np.arange(400)}, ValueError, "gap=1 is between ranges of time"),
        ({"time": np.arange(400), "gap": -1}, ValueError, "gap must be 0 or more, and finite"),
        ({"time": np.arange(400), "gap": np.nan}, ValueError, "gap must be 0 or more, and finite"),
        ({"time": np.arange(400), "gap": timedelta(1)}, TypeError, "numbers, and so must be gap"),
        ({"time": DAYS, "gap": 1}, TypeError, "time holds dates, so gap must be a timedelta"),
        ({"time": np.arange(400), "gap": "1"}, TypeError, "gap must be a number or a timedelta"),
    ],
)
def test_bad_gaps_have_the_same_errors_in_fits_and_in_comparisons(given, error, message):
    X, y, _ = rows_in_time()
    with pytest.raises(error, match=message):
        LinearRanker().fit(X, y, **given)
    with pytest.raises(error, match=message):
        compare(X, y, models={"linear": LinearRanker()}, **given)


def test_a_data_set_takes_no_gap():
    X, y, time = rows_in_time()
    frame = pd.DataFrame(X, columns=list("abc")).assign(y=y, time=time)
    dataset = Dataset.from_batches(frame, target="y", time="time")
    with pytest.raises(ValueError, match="gap=1 was given with a Dataset: it is for rows of a"):
        LinearRanker().fit(dataset, gap=1)


def test_a_group_has_the_time_of_its_latest_row():
    X, y, time = rows_in_time()
    # Rows of one time in pairs, but for a pair of the first and the last time.
    groups = np.empty(400, dtype=int)
    groups[np.argsort(time, kind="stable")] = np.arange(400) // 2
    ends = [np.flatnonzero(time == when)[0] for when in (0, 39)]
    groups[ends] = 1000
    Spy.met = []
    model = RankingEnsemble(members=[("spy", Spy())], n_folds=4, random_state=0)
    model.fit(np.c_[X, time], y, groups=groups, time=time, gap=2)
    latest = next(fitted for fitted, ranked in Spy.met if set(ranked) == {0, *range(30, 40)})
    assert_array_equal(latest, np.arange(28))


def test_the_ensemble_is_distilled_with_its_gap():
    X, y, time = rows_in_time()
    model = RankingEnsemble(presets="fast", random_state=0).fit(X, y, time=time, gap=3)
    pickled = pickle.loads(pickle.dumps(model))
    plain = RankingEnsemble(presets="fast", random_state=0).fit(X, y, time=time)
    tables = []
    for ensemble in (model, pickled, plain):
        tree, table = ensemble.distill(TreeRank(random_state=0), X, y, time=time)
        assert tree.score(X, y) > 0.8
        assert sorted(table["name"]) == ["distilled", "ensemble", "plain"]
        tables.append(dict(zip(table["name"], table["auc"], strict=True)))
    assert tables[0] == tables[1]
    # Trees that are fitted to labels differ in their rows alone.
    assert tables[0]["plain"] != tables[2]["plain"]


def test_a_gap_goes_through_cross_validation():
    X, y, time = rows_in_time()
    params = {"time": time, "gap": 2}
    found = cross_val_score(MartiRank(random_state=0), X, y, cv=3, params=params)
    assert found.min() > 0.6
