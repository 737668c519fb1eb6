"""Assignment of rows to folds."""

import numpy as np
import pandas as pd
import pytest
from aucrank import GradientBoostingRanker, LinearRanker, RankingEnsemble, RankingForest, TreeRank
from aucrank._base.fit_context import FitContext
from aucrank._base.folds import deal
from aucrank.ensemble._presets import PRESETS, members_of
from numpy.testing import assert_array_equal
from sklearn.metrics import roc_auc_score

from tests.common.estimators import few_members


class Dealt(TreeRank):
    """Records the folds of the rows that it is fitted to."""

    def _fit_model(self, context: FitContext):
        self.dealt = deal(context.sample, 5, context.seed, 1)
        return super()._fit_model(context)


def dealt(X, y, sample_weight=None):
    return Dealt(pruning=None, random_state=0).fit(X, y, sample_weight).dealt


def test_every_row_is_in_one_fold_and_folds_are_stratified():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(203, 3)), np.arange(203) % 3 == 0
    folds = dealt(X, y)
    assert sorted(folds.rows) == list(range(203))
    assert folds.n_folds == 5
    for label in (False, True):
        counts = np.bincount(folds.of_row[y[folds.rows] == label])
        assert counts.max() - counts.min() <= 1


def test_copies_of_a_row_are_in_one_fold():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(60, 2))
    X[0] = [0.0, np.nan]
    y = np.arange(60) % 2
    rows = rng.permutation(np.tile(np.arange(60), 4))
    folds = dealt(np.where(X[rows] == 0, -0.0, X[rows]), y[rows])
    for row in range(60):
        assert len(set(folds.of_row[rows[folds.rows] == row])) == 1


def test_equal_rows_of_both_classes_are_assigned_one_by_one():
    X = np.repeat(np.arange(4.0), 100).reshape(-1, 1)
    y = np.tile([0, 1, 1, 0, 1], 80)
    folds = dealt(X, y)
    for value in range(4):
        for label in (0, 1):
            alike = (X[folds.rows, 0] == value) & (y[folds.rows] == label)
            counts = np.bincount(folds.of_row[alike], minlength=5)
            assert counts.max() - counts.min() <= 1


def test_integer_weights_equal_copies_if_copies_are_assigned_separately():
    rng = np.random.default_rng(2)
    X = np.vstack([np.tile([[0.0], [0.0], [1.0], [1.0]], (5, 1)), rng.normal(size=(30, 1))])
    y = np.arange(50) % 2
    weight = rng.integers(0, 4, 50).astype(float)
    weighted = dealt(X, y, weight)
    rows = np.repeat(np.arange(50), weight.astype(int))
    copied = dealt(X[rows], y[rows])
    for value in np.unique(X):
        for label in (0, 1):
            one = (X[weighted.rows, 0] == value) & (y[weighted.rows] == label)
            other = (X[rows][copied.rows, 0] == value) & (y[rows][copied.rows] == label)
            assert_array_equal(
                np.bincount(weighted.of_row[one], weights=weighted.weight[one], minlength=5),
                np.bincount(copied.of_row[other], minlength=5),
            )


def test_the_order_of_rows_does_not_matter_to_forests_either():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(300, 4))
    X[:40] = X[40:80]
    frame = (
        pd.DataFrame(X).add_prefix("x").assign(town=pd.Categorical(rng.choice(list("abc"), 300)))
    )
    y = (X[:, 0] + rng.normal(size=300) > 0).astype(int)
    members = [("forest", RankingForest(n_estimators=5)), ("linear", LinearRanker())]
    model = RankingEnsemble(members=members, n_folds=3, random_state=0)
    expected = model.fit(frame, y).decision_function(frame)
    order = rng.permutation(300)
    assert_array_equal(model.fit(frame.iloc[order], y[order]).decision_function(frame), expected)


def test_a_few_distinct_rows_are_learned():
    X = np.array([[a, b, c] for a in (0, 1) for b in (0, 1) for c in (0, 1)], dtype=float)
    y = np.array([0, 0, 1, 1, 0, 1, 1, 1])
    rows = np.repeat(np.arange(8), 40)
    alone = GradientBoostingRanker(random_state=0).fit(X[rows], y[rows])
    model = RankingEnsemble(presets="fast", random_state=0).fit(X[rows], y[rows])
    assert model.score(X, y) >= alone.score(X, y)
    assert model.score(X, y) == 1.0
    weighted = RankingEnsemble(presets="fast", random_state=0)
    assert weighted.fit(X, y, sample_weight=np.full(8, 40.0)).score(X, y) == 1.0


def test_a_table_of_counts_has_the_auc_of_new_rows():
    """If all copies of a cell were held out, the model would predict the other label for them."""
    rng = np.random.default_rng(4)
    X = rng.integers(0, 2, (6000, 4)).astype(float)
    p = 1 / (1 + np.exp(-(X @ [1.5, -1.0, 0.5, 0.0])))
    y = (rng.random(6000) < p).astype(int)
    model = RankingEnsemble(members=few_members(), random_state=0).fit(X[:3000], y[:3000])
    expected = roc_auc_score(y[3000:], p[3000:])
    table = model.leaderboard_
    assert table["auc"] == pytest.approx(np.full(4, expected), abs=0.03)
    assert model.score(X[3000:], y[3000:]) == pytest.approx(expected, abs=0.01)


def test_larger_data_have_fewer_trees_and_members():
    names = [[name for name, _ in members_of("default", n)] for n in (1, 1 << 20, 1 << 21, 1 << 25)]
    assert names[0] == names[1] == list(PRESETS["default"])
    assert names[2] == [name for name in PRESETS["default"] if name != "random_cuts_forest"]
    assert names[3] == ["boosting"]
    trees = [
        dict(members_of("default", n))["random_cuts_forest"].n_estimators
        for n in (1, 1 << 18, 1 << 20)
    ]
    assert trees == [100, 50, 12]
