"""Fits to rows with groups or times."""

import datetime
import warnings

import numpy as np
import pandas as pd
import polars as pl
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
    SMartiRank,
    TreeRank,
)
from aucrank._base.folds import deal
from aucrank._data.row_blocks import read_blocks
from aucrank._data.sample import Sample
from aucrank._data.schema import Feature, Schema
from aucrank.tree import CrossValidatedPruning, ValidationPruning
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import GroupKFold, cross_validate


def clustered(n_groups=60, size=20, seed=0):
    """Draw rows of groups that can be distinguished by their values, but whose labels are chance.

    A fit that is judged by other rows of the same groups takes what it has learned by heart for
    knowledge.
    """
    rng = np.random.default_rng(seed)
    groups = np.repeat(np.arange(n_groups), size)
    of_group = rng.normal(size=(n_groups, 4))
    X = of_group[groups] + 0.01 * rng.normal(size=(len(groups), 4))
    rate = rng.random(n_groups)
    y = (rng.random(len(groups)) < rate[groups]).astype(int)
    return X, y, groups


def sample_of(X, y, groups=None, time=None, weight=None):
    schema = Schema(tuple(Feature(None, None) for _ in X[0]))
    blocks = read_blocks(groups, time, len(y))
    return Sample(np.asarray(X, dtype=np.float64), schema, np.asarray(y, bool), weight, X, blocks)


@pytest.mark.parametrize("weighted", [False, True])
def test_folds_keep_groups_whole(weighted):
    X, y, groups = clustered()
    weight = np.random.default_rng(1).integers(0, 3, len(y)).astype(float) if weighted else None
    folds = deal(sample_of(X, y, groups, weight=weight), 5, 0, 1)
    assert folds.n_folds == 5
    fold_of = {}
    for row, fold in zip(folds.rows, folds.of_row, strict=True):
        assert fold_of.setdefault(groups[row], fold) == fold
    assert set(fold_of.values()) == set(range(5))
    assert set(folds.rows) == set(range(len(y)) if weight is None else np.flatnonzero(weight))


def test_folds_of_times_are_ranges():
    X, y, _ = clustered()
    time = np.random.default_rng(0).permutation(len(y))
    folds = deal(sample_of(X, y, time=time), 4, 0, 1)
    for fold in range(3):
        here, later = (time[folds.rows[folds.of_row == k]] for k in (fold, fold + 1))
        assert here.max() < later.min()


ESTIMATORS = {
    "ensemble": lambda: RankingEnsemble(presets="fast", random_state=0),
    "booster": lambda: GradientBoostingRanker(n_rounds=60, random_state=0),
    "booster of a share": lambda: GradientBoostingRanker(
        n_rounds=60, validation_fraction=0.2, n_bags=1, random_state=0
    ),
    "forest": lambda: RankingForest(n_estimators=20, random_state=0),
    "tree": lambda: TreeRank(pruning=CrossValidatedPruning(), random_state=0),
    "tree of a share": lambda: TreeRank(pruning=ValidationPruning(), random_state=0),
    "rank boost": lambda: RankBoost(n_rounds=20, calibration="auto", random_state=0),
    "auc boost": lambda: AUCBoost(n_rounds=5, calibration="auto", random_state=0),
    "linear": LinearRanker,
    "smarti": lambda: SMartiRank(noise_rate="auto", calibration="auto", random_state=0),
    "rimarc": lambda: RIMARC(weight_folds=3, random_state=0),
    "aurora": lambda: AURORA(
        selection="cv", radius=2.0, depth="shallow", max_features=20, random_state=0
    ),
    "scorecard": lambda: Scorecard(estimator=RIMARC(weight_folds=3, random_state=0)),
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", ESTIMATORS)
def test_group_names_and_row_order_do_not_matter(name):
    X, y, groups = clustered(20, 8)
    fitted = ESTIMATORS[name]().fit(X, y, groups=groups)
    order = np.random.default_rng(3).permutation(len(y))
    shuffled = ESTIMATORS[name]().fit(X[order], y[order], groups=groups[order].tolist())
    assert np.array_equal(fitted.decision_function(X), shuffled.decision_function(X))


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", sorted(set(ESTIMATORS) - {"linear"}))
def test_groups_change_what_is_held_out(name):
    X, y, groups = clustered()
    plain = ESTIMATORS[name]().fit(X, y)
    dealt = ESTIMATORS[name]().fit(X, y, groups=groups)
    ask = "predict_proba" if hasattr(plain, "predict_proba") else "decision_function"
    assert not np.array_equal(getattr(plain, ask)(X), getattr(dealt, ask)(X))


def test_with_groups_the_leaderboard_agrees_with_new_groups():
    X, y, groups = clustered()
    promised = {}
    for given in (None, groups):
        with warnings.catch_warnings():
            # With groups, no member need be better than chance.
            warnings.simplefilter("ignore")
            model = RankingEnsemble(presets="fast", random_state=0).fit(X, y, groups=given)
        table = model.leaderboard_
        promised[given is None] = table["auc"][table["name"] == "ensemble"][0]
    X_new, y_new, _ = clustered(seed=9)
    found = roc_auc_score(y_new, model.decision_function(X_new))
    assert promised[True] > 0.7
    assert promised[False] < 0.6
    assert abs(found - 0.5) < 0.1


def test_distilling_an_ensemble_needs_the_groups_of_its_fit():
    X, y, groups = clustered(40, 10)
    # Groups with different features are informative, too.
    y = (X[:, 0] + np.random.default_rng(1).normal(size=len(y)) > 0).astype(int)
    model = RankingEnsemble(presets="fast", random_state=0).fit(X, y, groups=groups)
    tree = TreeRank(random_state=0)
    found = model.distill(tree, X, y, groups=groups, compare=False)
    assert roc_auc_score(y, found.ranker.decision_function(X)) > 0.7
    with pytest.raises(ValueError, match="groups and time must be those of the fit"):
        model.distill(tree, X, y, compare=False)


def test_a_forest_counts_only_out_of_bag_rows_of_other_groups():
    X, y, groups = clustered()
    plain = RankingForest(n_estimators=50, oob_score=True, random_state=0).fit(X, y)
    dealt = RankingForest(n_estimators=50, oob_score=True, random_state=0).fit(X, y, groups=groups)
    assert plain.oob_score_ > 0.7
    assert dealt.oob_score_ < 0.6


def test_the_latest_rows_are_held_out():
    rng = np.random.default_rng(0)
    n = 2000
    X = rng.normal(size=(n, 3))
    # In the last fifth another column is informative.
    late = np.arange(n) >= 1600
    y = (np.where(late, X[:, 1], X[:, 0]) + 0.5 * rng.normal(size=n) > 0).astype(int)
    tree = TreeRank(pruning=ValidationPruning(fraction=0.2), random_state=0)
    early = tree.fit(X, y, time=np.arange(n))
    # Validated on rows of another law, only the root is left.
    assert (
        early.tree_.n_leaves
        < TreeRank(pruning=ValidationPruning(fraction=0.2), random_state=0).fit(X, y).tree_.n_leaves
    )


def test_the_leaderboard_shows_the_latest_rows_by_models_of_earlier_ones():
    rng = np.random.default_rng(0)
    n = 1500
    X = rng.normal(size=(n, 3))
    late = np.arange(n) >= 1200
    y = (np.where(late, -X[:, 0], X[:, 0]) + 0.5 * rng.normal(size=n) > 0).astype(int)
    model = RankingEnsemble(presets="fast", random_state=0).fit(X, y, time=np.arange(n))
    table = model.leaderboard_
    assert np.all(table["auc_latest"] < 0.4)
    assert (
        "auc_latest" not in RankingEnsemble(presets="fast", random_state=0).fit(X, y).leaderboard_
    )


@pytest.mark.parametrize(
    "times",
    [
        [3, 1, 2],
        [3.5, -1.0, 2.0],
        pd.Series(pd.to_datetime(["2024-03-01", "2023-01-01", "2024-01-01"])),
        pl.Series(
            [datetime.date(2024, 3, 1), datetime.date(2023, 1, 1), datetime.date(2024, 1, 1)]
        ),
        [datetime.date(2024, 3, 1), datetime.date(2023, 1, 1), datetime.date(2024, 1, 1)],
        np.array(["2024-03", "2023-01", "2024-01"], dtype="datetime64[M]"),
    ],
)
def test_times_of_any_kind_have_an_order(times):
    blocks = read_blocks(None, times, 3)
    assert blocks.are_times
    assert blocks.of_row.argsort().tolist() == [1, 2, 0]


@pytest.mark.parametrize(
    "groups",
    [
        ["a", "b", "a"],
        pd.Series(["a", "b", "a"], dtype="category"),
        [1, 2, 1],
        [1.0, 2.0, 1.0],
        pd.Series([1, 2, 1], dtype="Int64"),
        [10**30, 2, 10**30],
        [(1, 2), (1, 3), (1, 2)],
    ],
)
def test_group_names_may_be_of_any_type(groups):
    if isinstance(groups, list) and isinstance(groups[0], tuple):
        column = np.empty(3, dtype=object)
        column[:] = groups
        groups = column
    blocks = read_blocks(groups, None, 3)
    assert not blocks.are_times
    first, second, third = blocks.of_row
    assert first == third != second


def test_a_group_keeps_its_number_among_other_rows():
    for names in (["b", "c"], [5, 7], [5.0, 7.5], [datetime.date(2024, 1, 1), "x"]):
        alone = read_blocks(np.array(names[:1], dtype=object), None, 1).of_row[0]
        assert read_blocks(np.array(names[::-1], dtype=object), None, 2).of_row[1] == alone
    assert (
        read_blocks([5, 7], None, 2).of_row.tolist()
        == read_blocks([5.0, 7], None, 2).of_row.tolist()
    )


def test_a_group_has_the_time_of_its_latest_row():
    blocks = read_blocks(["a", "b", "a", "c"], [1, 2, 3, 0], 4)
    assert blocks.are_times
    # Numbered in the order of time.
    assert np.unique(blocks.of_row, return_inverse=True)[1].tolist() == [2, 1, 2, 0]


@pytest.mark.parametrize(
    ("given", "kind", "message"),
    [
        ({"groups": [1, 2]}, ValueError, "groups has 2 entries, but there are 4 rows"),
        ({"groups": ["a", None, "b", "b"]}, ValueError, "the group of row 1 is missing"),
        ({"time": [1, 2, np.nan, 3]}, ValueError, "the time of row 2 is missing"),
        ({"time": ["2024-01-01"] * 4}, TypeError, "time must hold numbers or dates"),
        ({"time": [1, 2, 3]}, ValueError, "time has 3 entries"),
    ],
)
def test_bad_groups_and_times_are_rejected(given, kind, message):
    with pytest.raises(kind, match=message):
        LinearRanker().fit([[1.0], [2.0], [3.0], [4.0]], [0, 1, 0, 1], **given)


def test_groups_that_cannot_be_split_raise_a_warning():
    X, y, _ = clustered(2, 30)
    with pytest.warns(UserWarning, match="no rows can be left out"):
        RankingEnsemble(presets="fast", random_state=0).fit(X, y, groups=np.zeros(len(y)))


def test_scikit_learn_routes_groups_and_times():
    import sklearn

    X, y, groups = clustered(20, 8)
    with sklearn.config_context(enable_metadata_routing=True):
        model = RankingForest(n_estimators=5, random_state=0).set_fit_request(groups=True)
        found = cross_validate(
            model, X, y, cv=GroupKFold(2), params={"groups": groups}, return_estimator=True
        )
        train = next(GroupKFold(2).split(X, y, groups))[0]
    own = RankingForest(n_estimators=5, random_state=0).fit(
        X[train], y[train], groups=groups[train]
    )
    first = found["estimator"][0]
    assert np.array_equal(first.decision_function(X), own.decision_function(X))
