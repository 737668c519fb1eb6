"""Compression: a few trees with the ranking of a large model, and the loss on other rows."""

import numpy as np
import pytest
from aucrank import (
    GradientBoostingRanker,
    LinearRanker,
    RankingForest,
    TreeRank,
    compress,
)
from aucrank.metrics import auc_compare
from numpy.testing import assert_array_equal
from scipy import stats
from sklearn.ensemble import RandomForestClassifier
from sklearn.exceptions import NotFittedError
from sklearn.metrics import roc_auc_score

from tests.common.loans import loans


def simulated(n_rows, seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 5))
    return X, X[:, 0] + X[:, 1] * X[:, 2] + rng.normal(size=n_rows) > 0.5


@pytest.fixture(scope="module")
def large():
    X, y = simulated(1500, 0)
    return GradientBoostingRanker(max_leaves=32, random_state=0).fit(X, y), X


def test_the_loss_and_the_agreement_are_those_of_the_test_rows(large):
    model, X = large
    X_test, y_test = simulated(3000, 1)
    small, agreement, comparison, _ = compress(
        model, X, n_trees=60, X_test=X_test, y_test=y_test, random_state=0
    )
    before, after = (own.decision_function(X_test) for own in (model, small))
    assert comparison.auc_1 == pytest.approx(roc_auc_score(y_test, before))
    assert comparison.auc_2 == pytest.approx(roc_auc_score(y_test, after))
    assert comparison == auc_compare(y_test, before, after)
    assert agreement == pytest.approx(stats.kendalltau(before, after).statistic)


def test_a_few_trees_lose_less_than_as_many_first_trees_of_the_model(large):
    model, X = large
    X_test, y_test = simulated(3000, 1)
    small = compress(model, X, n_trees=60, random_state=0).ranker
    stages = model.staged_decision_function(X_test)
    first = next(own for place, own in enumerate(stages, start=1) if place == small.n_iter_)
    whole = roc_auc_score(y_test, model.decision_function(X_test))
    loss = whole - roc_auc_score(y_test, small.decision_function(X_test))
    assert small.n_iter_ == 60 < model.n_iter_ / 5
    assert loss < 0.01
    assert loss < (whole - roc_auc_score(y_test, first)) / 2


def test_sizes_are_near_those_of_what_is_written(large):
    model, X = large
    small, _, comparison, sizes = compress(model, X, n_trees=30, random_state=0)
    assert comparison is None
    place = sizes["form"].tolist().index("C")
    assert sizes["before"][place] == pytest.approx(len(model.to_code("c")), rel=1 / 3)
    assert sizes["after"][place] == pytest.approx(len(small.to_code("c")), rel=1 / 3)
    assert (sizes["after"] < sizes["before"] / 5).all()


def test_without_test_rows_agreement_is_of_rows_that_the_small_model_has_not_seen(monkeypatch):
    X, y = simulated(1000, 0)
    model = GradientBoostingRanker(n_rounds=50, n_bags=1, random_state=0).fit(X, y)
    seen = []
    fit = GradientBoostingRanker.fit

    def keep(self, X, *args):
        seen.append(X)
        return fit(self, X, *args)

    monkeypatch.setattr(GradientBoostingRanker, "fit", keep)
    small, agreement, _, _ = compress(model, X, n_trees=10, random_state=0)
    left_out = X[~np.isin(X[:, 0], seen[0][:, 0])]
    assert len(left_out) == 200
    scores = [own.decision_function(left_out) for own in (model, small)]
    assert agreement == pytest.approx(stats.kendalltau(*scores).statistic)


def test_max_loss_takes_more_trees_where_few_lose_too_much(large):
    model, X = large
    found = [
        compress(model, X, n_trees=200, max_loss=loss, random_state=0).ranker.n_iter_
        for loss in (0.5, 0.005)
    ]
    assert found[0] == 25
    assert found[1] in (50, 100, 200)
    with pytest.warns(
        UserWarning, match=r"^with 1 tree, 0\.\d+ of AUC is lost on rows left out, more"
    ):
        compress(model, X, n_trees=1, max_loss=0.0001, random_state=0)


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_frames_keep_names_categories_and_labels(library):
    pytest.importorskip(library)
    pd = pytest.importorskip("pandas")
    X, y = loans(1500, 0)
    model = GradientBoostingRanker(n_rounds=100, n_bags=1, random_state=0).fit(X, y)
    rows = X.set_index(pd.Index(np.arange(1500)[::-1] % 700))
    if library == "polars":
        rows = pytest.importorskip("polars").from_pandas(X)
    elif library == "pyarrow":
        rows = pytest.importorskip("pyarrow").Table.from_pandas(X)
    small, agreement, _, _ = compress(model, rows, n_trees=40, random_state=0)
    assert agreement > 0.75
    assert_array_equal(small.classes_, model.classes_)
    assert_array_equal(small.feature_names_in_, model.feature_names_in_)
    assert small._schema.n_levels == model._schema.n_levels
    assert (small.predict(X) == model.predict(X)).mean() > 0.9


def test_sparse_rows_give_the_model_of_dense_ones():
    sparse = pytest.importorskip("scipy.sparse")
    X, y = simulated(600, 0)
    X = np.where(X < 0.3, 0.0, X)
    model = GradientBoostingRanker(n_rounds=40, n_bags=1, random_state=0).fit(X, y)
    dense, thin = (
        compress(model, rows, n_trees=10, random_state=0).ranker.decision_function(X)
        for rows in (X, sparse.csr_matrix(X))
    )
    assert_array_equal(dense, thin)


def test_directions_of_features_are_kept():
    X, y = simulated(1000, 0)
    model = GradientBoostingRanker(
        n_rounds=60, n_bags=1, monotonic_cst=[1, 0, 0, 0, 0], random_state=0
    ).fit(X, y)
    small = compress(model, X, n_trees=30, random_state=0).ranker
    rows = np.repeat(X[:50], 20, axis=0)
    rows[:, 0] = np.tile(np.linspace(-3, 3, 20), 50)
    assert (np.diff(small.decision_function(rows).reshape(50, 20), axis=1) >= 0).all()


@pytest.mark.parametrize(
    "model",
    [
        RankingForest(n_estimators=20, random_state=0),
        TreeRank(random_state=0),
        GradientBoostingRanker(n_rounds=60, loss="pair_logistic", random_state=0),
        LinearRanker(),
        RandomForestClassifier(30, random_state=0),
    ],
    ids=lambda model: type(model).__name__,
)
def test_every_kind_of_ranker_can_be_compressed(model):
    X, y = simulated(1000, 0)
    X_test, y_test = simulated(1000, 1)
    found = compress(model.fit(X, y), X, X_test=X_test, y_test=y_test, random_state=0)
    assert found.agreement > 0.7
    assert found.comparison.difference < 0.02
    assert np.isnan(found.sizes["before"]).all() == isinstance(model, RandomForestClassifier)
    # The label that goes with a score, too.
    assert (found.ranker.predict(X_test) == model.predict(X_test)).mean() > 0.8


def test_the_seed_decides_the_result(large):
    model, X = large
    first, again, other = (
        compress(model, X, n_trees=10, random_state=seed).ranker.decision_function(X)
        for seed in (0, 0, 1)
    )
    assert_array_equal(first, again)
    assert (first != other).any()


def test_calls_that_cannot_be_answered_raise_errors(large):
    model, X = large
    _, y = simulated(1500, 0)
    with pytest.raises(ValueError, match=r"^y_test needs X_test, the rows that it labels$"):
        compress(model, X, y_test=y)
    with pytest.raises(ValueError, match=r"^sample_weight_test needs y_test"):
        compress(model, X, X_test=X, sample_weight_test=np.ones(len(X)))
    with pytest.raises(ValueError, match=r"n_trees must be .* got 0"):
        compress(model, X, n_trees=0)
    with pytest.raises(ValueError, match=r"max_loss must be .* got 0"):
        compress(model, X, max_loss=0)
    with pytest.raises(ValueError, match=r"^a fifth of X is left out of the fit: 9 rows are too"):
        compress(model, X[:9])
    with pytest.raises(NotFittedError):
        compress(GradientBoostingRanker(), X)
    with pytest.raises(TypeError, match=r"^float has neither decision_function\(\) nor predict"):
        compress(1.0, X)
    three = RandomForestClassifier(5, random_state=0).fit(X, np.arange(len(X)) % 3)
    with pytest.raises(ValueError, match=r"^RandomForestClassifier must have two classes_ .* 3$"):
        compress(three, X)
    with pytest.raises(ValueError, match=r"^y holds 'good' in row 0, which is none of the classes"):
        compress(model, X, n_trees=5, X_test=X, y_test=np.where(y, "good", "bad"))
    constant = TreeRank(max_depth=1, min_samples_leaf=700).fit(X, y)
    with pytest.raises(ValueError, match=r"^TreeRank gives all rows the same score: nothing to"):
        compress(constant, X)
