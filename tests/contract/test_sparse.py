"""Sparse matrices are read like the equal dense ones, and never densified."""

import itertools
import tracemalloc

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from aucrank import (
    AURORA,
    MAD2C,
    RIMARC,
    AUCBoost,
    GradientBoostingRanker,
    IntegerScore,
    LinearRanker,
    MartiRank,
    RankBoost,
    RankingEnsemble,
    RankingForest,
    RankOpt,
    RuleList,
    Scorecard,
    SMartiRank,
    TreeRank,
    TwoSidedClassifier,
)
from aucrank._base.registry import get_estimator, public_estimators
from aucrank._data.sparse import SparseColumns
from aucrank.tree import LeafRank
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.utils import get_tags

SMALL = [("tree", TreeRank(random_state=0)), ("linear", LinearRanker())]

TAKERS = [
    RankBoost(n_rounds=20, random_state=0),
    RankBoost(n_rounds=5, weak_ranker="tree", random_state=0),
    RankBoost(n_rounds=5, weak_ranker=LeafRank(max_depth=2), random_state=0),
    RankBoost(n_rounds=5, weak_ranker="linear", random_state=0),
    RankBoost(n_rounds=20, early_stopping=True, subsample=0.5, max_features=3, random_state=0),
    RankBoost(n_rounds=10, calibration="sigmoid", random_state=0),
    RankBoost(n_rounds=10, monotonic_cst=[1, 0, -1, 0, 0, 0, 0, 0], random_state=0),
    AUCBoost(n_rounds=20, random_state=0),
    AUCBoost(n_rounds=10, max_bins=None, random_state=0),
    MartiRank(n_rounds=3, random_state=0),
    SMartiRank(n_rounds=3, random_state=0),
    RankOpt(radii=[1.0, 4.0]),
    RankOpt(objective="ramp", radii=[1.0], calibration="sigmoid"),
    RIMARC(),
    RIMARC(weight_folds=3, shrinkage=1.0, random_state=0),
    GradientBoostingRanker(n_rounds=20, random_state=0),
    GradientBoostingRanker(interactions=2, early_stopping=True, n_rounds=20, random_state=0),
    RankingForest(n_estimators=5, random_state=0),
    RankingForest(n_estimators=5, criterion="gini", cuts="random", random_state=0),
    TreeRank(random_state=0),
    TreeRank(split="leafrank", random_state=0),
    LinearRanker(),
    LinearRanker(thresholds=None),
    Scorecard(estimator=RIMARC(), random_state=0),
    IntegerScore(),
    RuleList(pruning=None),
    AURORA(max_features=3, random_state=0),
    RankingEnsemble(members=SMALL, n_folds=2, random_state=0),
]
FORMS = [
    scipy.sparse.csr_matrix,
    scipy.sparse.csr_array,
    scipy.sparse.csc_matrix,
    scipy.sparse.csc_array,
    scipy.sparse.coo_array,
    scipy.sparse.lil_matrix,
    scipy.sparse.dok_array,
]


def counts(n_rows=600, n_features=8, density=0.3, seed=0):
    """Draw a matrix of counts, most of them 0, and classes that depend on some."""
    rng = np.random.default_rng(seed)
    X = rng.integers(1, 6, (n_rows, n_features)) * (rng.random((n_rows, n_features)) < density)
    signal = X[:, 0] - X[:, 1] + 2.0 * (X[:, 2] > 0) + rng.normal(size=n_rows)
    return X.astype(np.float64), signal > np.median(signal)


@pytest.mark.parametrize("model", TAKERS, ids=repr)
def test_the_model_and_its_scores_equal_those_of_the_dense_matrix(model):
    X, y = counts()
    sparse = scipy.sparse.csr_array(X)
    weight = np.random.default_rng(1).integers(0, 3, len(y))
    for weights in (None, weight):
        scores = model.fit(X, y, sample_weight=weights).decision_function(X)
        document = model._to_document()
        assert_array_equal(model.decision_function(sparse), scores)
        assert model.fit(sparse, y, sample_weight=weights)._to_document() == document
        assert_array_equal(model.decision_function(sparse), scores)
        assert_array_equal(model.decision_function(X), scores)
        assert_array_equal(model.predict(sparse), model.predict(X))
        assert model.score(sparse, y) == model.score(X, y)
    if hasattr(model, "predict_proba"):
        assert_array_equal(model.predict_proba(sparse), model.predict_proba(X))
    is_additive = getattr(model, "weak_ranker", "feature") in ("feature", "threshold")
    is_additive &= getattr(model, "interactions", 0) is not None
    if is_additive and hasattr(model, "explain"):
        assert_array_equal(model.explain(sparse), model.explain(X))


@given(
    n_rows=st.integers(4, 80),
    n_features=st.integers(1, 6),
    density=st.sampled_from([0.0, 0.05, 0.5, 1.0]),
    missing=st.booleans(),
    seed=st.integers(0, 1000),
    form=st.sampled_from(FORMS),
)
def test_every_sparse_format_and_pattern_of_zeros_equals_the_dense_matrix(
    n_rows, n_features, density, missing, seed, form
):
    X, _ = counts(n_rows, n_features + 3, density, seed)
    X = X[:, :n_features]
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.arange(n_rows) % 2 == 0)
    if missing:
        X[rng.random(X.shape) < 0.1] = np.nan
    for model in (RankBoost(n_rounds=5, random_state=0), RIMARC()):
        expected = model.fit(X, y).decision_function(X)
        document = model._to_document()
        sparse = form(X)
        assert model.fit(sparse, y)._to_document() == document
        assert_array_equal(model.decision_function(sparse), expected)


@pytest.mark.parametrize("dtype", [np.float32, np.int64, np.uint8, bool])
def test_every_numeric_type_is_accepted(dtype):
    X, y = counts()
    X = X.astype(dtype)
    sparse = scipy.sparse.csc_matrix(X)
    model = RankBoost(n_rounds=10, random_state=0)
    document = model.fit(X, y)._to_document()
    assert model.fit(sparse, y)._to_document() == document


def test_entries_may_be_unsorted_repeated_or_zero_and_are_not_changed():
    X, y = counts(50, 3)
    tidy = scipy.sparse.csc_array(X)
    # Each entry in two halves, the last one first, and a zero in the first column.
    ends = itertools.pairwise(tidy.indptr)
    order = np.concatenate([np.repeat(np.arange(*pair)[::-1], 2) for pair in ends])
    values, rows = tidy.data[order] / 2, tidy.indices[order]
    zero_at = np.flatnonzero(X[:, 0] == 0)[:1]
    values, rows = np.insert(values, 0, 0.0), np.insert(rows, 0, zero_at)
    starts = 2 * tidy.indptr + (np.arange(4) > 0)
    untidy = scipy.sparse.csc_array((values, rows, starts), shape=X.shape)
    model = RankBoost(n_rounds=10, random_state=0)
    expected = model.fit(X, y).decision_function(X)
    assert_array_equal(model.fit(untidy, y).decision_function(untidy), expected)
    assert_array_equal(untidy.data, values)
    assert_array_equal(untidy.indices, rows)


def test_validation_rows_and_input_of_other_estimators_may_be_sparse():
    X, y = counts()
    params = {"n_rounds": 30, "early_stopping": True, "random_state": 0}
    sparse = [scipy.sparse.csr_matrix(part) for part in (X[:400], X[400:])]
    dense = RankBoost(**params).fit(X[:400], y[:400], X_val=X[400:], y_val=y[400:])
    model = RankBoost(**params).fit(sparse[0], y[:400], X_val=sparse[1], y_val=y[400:])
    assert model._to_document() == dense._to_document()
    stages = zip(
        model.staged_decision_function(sparse[1]),
        dense.staged_decision_function(X[400:]),
        strict=True,
    )
    for found, expected in stages:
        assert_array_equal(found, expected)

    logistic = AUCBoost(n_rounds=3, weak_ranker=LogisticRegression(), random_state=0)
    assert get_tags(logistic).input_tags.sparse
    assert not get_tags(AUCBoost(weak_ranker=GaussianNB())).input_tags.sparse
    guest = logistic.fit(sparse[0], y[:400])
    assert guest.score(sparse[1], y[400:]) > 0.7
    # One that accepts a sparse matrix because its ranker does.
    two_sided = TwoSidedClassifier(ranker=RankBoost(n_rounds=5, random_state=0)).fit(
        sparse[0], y[:400]
    )
    assert two_sided.score(sparse[1], y[400:]) > 0.6


def test_the_tags_declare_which_estimators_accept_sparse_matrices():
    takers = {type(model).__name__ for model in TAKERS}
    for name in public_estimators():
        expected = name in takers
        assert get_tags(get_estimator(name)()).input_tags.sparse == expected, name


def test_a_transformer_rejects_sparse_matrices_like_scikit_learn():
    X, y = counts()
    sparse = scipy.sparse.csr_array(X)
    model = MAD2C()
    with pytest.raises(TypeError, match="Sparse data was passed for X, but dense data is required"):
        model.fit(sparse, y)
    model.fit(X, y)
    with pytest.raises(TypeError, match="Sparse data was passed"):
        model.transform(sparse)


def test_an_ensemble_accepts_sparse_matrices_if_all_members_do():
    members = [("own", LinearRanker()), ("bayes", GaussianNB())]
    assert not get_tags(RankingEnsemble(members=members)).input_tags.sparse
    members = [("own", LinearRanker()), ("logistic", LogisticRegression())]
    model = RankingEnsemble(members=members, n_folds=2, random_state=0)
    assert get_tags(model).input_tags.sparse
    X, y = counts()
    assert model.fit(scipy.sparse.csr_array(X), y).score(scipy.sparse.csr_array(X), y) > 0.7


FRAMES = {
    "all": lambda frame: frame.astype(pd.SparseDtype(float, 0.0)),
    "some": lambda frame: frame.astype({name: pd.SparseDtype(float, 0.0) for name in "abc"}),
    "missing is the rest": lambda frame: frame.astype(pd.SparseDtype(float)),
    "integers": lambda frame: frame.fillna(7).astype(int).astype(pd.SparseDtype(int, 0)),
    "another value is the rest": lambda frame: frame.astype(pd.SparseDtype(float, 2.0)),
    "booleans": lambda frame: (frame > 1).astype(pd.SparseDtype(bool, False)),
}


@pytest.mark.parametrize("make", FRAMES.values(), ids=FRAMES)
@pytest.mark.parametrize(
    "model",
    [RankBoost(n_rounds=10, random_state=0), TreeRank(random_state=0), LinearRanker(), RIMARC()],
    ids=repr,
)
def test_sparse_columns_of_pandas_are_the_dense_ones(model, make):
    X, y = counts()
    X[::19, 1] = np.nan
    sparse = make(pd.DataFrame(X, columns=list("abcdefgh")))
    dense = (
        sparse.sparse.to_dense()
        if make is not FRAMES["some"]
        else pd.DataFrame(X, columns=list("abcdefgh"))
    )
    document = model.fit(dense, y)._to_document()
    scores = model.decision_function(dense)
    assert_array_equal(model.decision_function(sparse), scores)
    assert model.fit(sparse, y)._to_document() == document
    assert_array_equal(model.decision_function(sparse), scores)
    assert_array_equal(model.decision_function(sparse[:3]), scores[:3])
    # Next to categories they are vectors.
    town = pd.Categorical(np.where(y, "Oslo", "Lyon"))
    document = model.fit(dense.assign(town=town), y)._to_document()
    assert model.fit(sparse.assign(town=town), y)._to_document() == document


def test_sparse_columns_that_are_not_numeric_are_rejected():
    texts = pd.arrays.SparseArray(np.array(["a", "b"], dtype=object))
    with pytest.raises(TypeError, match="column 'a' has dtype Sparse"):
        RIMARC().fit(pd.DataFrame({"a": texts}), [0, 1])


def test_a_frame_of_sparse_columns_is_never_densified(monkeypatch):
    X, y = counts(400, 300, 0.01)
    sparse = pd.DataFrame.sparse.from_spmatrix(scipy.sparse.csc_array(X))
    sparse.columns = sparse.columns.astype(str)
    seen = []
    of_columns = SparseColumns.of_columns

    def spy(columns, n_rows):
        seen.append(of_columns(columns, n_rows))
        return seen[-1]

    monkeypatch.setattr(SparseColumns, "of_columns", spy)
    RIMARC().fit(sparse, y).decision_function(sparse)
    assert [len(columns.values) for columns in seen] == [np.count_nonzero(X)] * 2


def test_invalid_sparse_input_raises_an_error():
    X, y = counts()
    bad = X.copy()
    bad[7, 2] = np.inf
    with pytest.raises(ValueError, match="column 2"):
        RankBoost().fit(scipy.sparse.csr_array(bad), y)
    holes = X.copy()
    holes[7, 2] = np.nan
    with pytest.raises(ValueError, match="missing"):
        RankOpt().fit(scipy.sparse.csr_array(holes), y)
    sparse = scipy.sparse.csr_array(X)
    with pytest.raises(ValueError, match="X is sparse, so that its columns are numbers, but colu"):
        RankBoost(categorical_features=[1]).fit(sparse, y)
    frame = pd.DataFrame(X).astype({3: "category"})
    frame.columns = frame.columns.astype(str)
    model = RankBoost(n_rounds=2).fit(frame, y)
    with (
        pytest.raises(ValueError, match="column 3 is categorical"),
        pytest.warns(UserWarning, match="does not have valid feature names"),
    ):
        model.decision_function(sparse)
    model = RankBoost(n_rounds=2).fit(sparse, y)
    with pytest.raises(ValueError, match="X has 7 features, but RankBoost is expecting 8"):
        model.decision_function(sparse[:, :7])
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        model.fit(sparse, y[:-1])


@pytest.mark.parametrize(
    "model", [RankBoost(n_rounds=30), RIMARC(), LinearRanker(thresholds=None)], ids=repr
)
def test_a_wide_matrix_of_text_counts_is_never_densified(model, monkeypatch):
    rng = np.random.default_rng(0)
    n_rows, n_features, n_entries = 4000, 3000, 120_000
    words = [rng.integers(0, n, n_entries, dtype=np.int32) for n in (n_rows, n_features)]
    X = scipy.sparse.csc_array((np.ones(n_entries), tuple(words)), shape=(n_rows, n_features))
    X.sum_duplicates()
    y = X[:, :20].sum(axis=1) + rng.normal(size=n_rows) > 0.3
    seen = []
    of = SparseColumns.of

    def spy(matrix):
        seen.append(of(matrix))
        return seen[-1]

    monkeypatch.setattr(SparseColumns, "of", spy)
    tracemalloc.start()
    try:
        scores = model.fit(X, y).decision_function(X)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    # As bytes, the matrix would have 12 MB; as doubles 96.
    assert peak < 8e6
    assert len(seen) == 2
    assert all(np.shares_memory(columns.values, X.data) for columns in seen)
    assert all(np.shares_memory(columns.rows, X.indices) for columns in seen)
    assert len(np.unique(scores)) > 3
