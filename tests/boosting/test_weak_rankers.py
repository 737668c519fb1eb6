"""Weak rankers of the boosters against plain definitions, and estimators of scikit-learn."""

import _thread
import copy
import pickle
import threading
from typing import ClassVar

import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn
from aucrank import AUCBoost, ModelFormatError, RankBoost, TreeRank, load
from aucrank.metrics import roc_auc_score
from aucrank.tree import DyadicSplit, LeafRank, WeightedERM
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.compose import make_column_transformer
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.svm import LinearSVR
from sklearn.tree import DecisionTreeClassifier

RNG = np.random.default_rng(0)
N = 400
X = RNG.normal(size=(N, 4))
Y = X[:, 0] + X[:, 1] ** 2 + RNG.normal(size=N) > 1
HOLES = np.where(RNG.random(X.shape) < 0.1, np.nan, X)
FRAME = pd.DataFrame(X[:, :2], columns=["age", "debt"]).assign(
    city=pd.Categorical(np.where(RNG.random(N) < 0.3, "Rome", np.where(Y, "Oslo", "Bern")))
)
BOOSTERS = [AUCBoost, RankBoost]
NATIVE = [
    "linear",
    "tree",
    TreeRank(split="leafrank", max_depth=2, max_features=2, pruning=None),
    TreeRank(max_depth=3, missing="cell_mean", leaf_order="eta", pruning=None),
    LeafRank(max_depth=2, min_samples_leaf=4),
    LeafRank(pruning="cv"),
    TreeRank(split=DyadicSplit(level=2), max_depth=2, pruning=None),
]


def by_name(value):
    return value if isinstance(value, str) else repr(value)


class Discriminant:
    """Fisher's linear discriminant, each class counting one half."""

    def fit(self, X, y, sample_weight):
        means, within = [], 0
        for label in (False, True):
            rows, weight = X[y == label], sample_weight[y == label]
            means.append(np.average(rows, axis=0, weights=weight))
            within = within + 0.5 * np.cov(rows, rowvar=False, ddof=0, aweights=weight)
        self.weights = np.linalg.solve(within, means[1] - means[0])
        return self

    def decision_function(self, X):
        return X @ self.weights


class ByProbability(GaussianNB):
    def decision_function(self, X):
        return self.predict_proba(X)[:, 1]


def best_cut(score, y, weight):
    """Lemma 4 of paper 3: the threshold, and the votes below and from it on."""
    candidates = []
    for threshold in [*np.unique(score), np.inf]:
        low = score < threshold
        p_pos = weight[y & low].sum() / weight[y].sum()
        p_neg = weight[~y & ~low].sum() / weight[~y].sum()
        error = max(p_pos, p_neg) / (1 + abs(p_pos - p_neg))
        candidates.append((round(p_pos + p_neg, 12), error, -threshold, p_pos - p_neg))
    _, error, threshold, difference = min(candidates)
    zeta = abs(difference) / (1 + abs(difference))
    low, high = (zeta, 1) if difference >= 0 else (0, 1 - zeta)
    return np.where(score < -threshold, 2 * low - 1, 2 * high - 1), error


def plain_auc_boost(ranker, X, y, n_rounds):
    """AUCBoost (Theorem 2 of paper 3): the scores of the rows."""
    score = np.zeros(len(y))
    weight = np.where(y, 0.5 / y.sum(), 0.5 / (~y).sum())
    for _ in range(n_rounds):
        fitted = copy.deepcopy(ranker).fit(X, y, sample_weight=weight * len(y))
        vote, error = best_cut(fitted.decision_function(X), y, weight)
        alpha = 0.5 * np.log((1 - error) / error)
        score += alpha * vote
        weight *= np.exp(-np.where(y, 1, -1) * alpha * vote)
        for label in (False, True):
            weight[y == label] *= 0.5 / weight[y == label].sum()
    return score


@pytest.mark.parametrize(
    ("weak_ranker", "plain"),
    [
        ("linear", Discriminant()),
        ("tree", TreeRank(max_depth=3, pruning=None, max_bins=None)),
        (
            LeafRank(min_samples_leaf=5),
            TreeRank(split=LeafRank(min_samples_leaf=5), max_depth=1, pruning=None, max_bins=None),
        ),
        (LogisticRegression(C=0.1, tol=1e-10), LogisticRegression(C=0.1, tol=1e-10)),
        (GaussianNB(), ByProbability()),
    ],
    ids=["linear", "tree", "leafrank", "decision_function", "predict_proba"],
)
def test_the_rounds_are_those_of_the_definition(weak_ranker, plain):
    n_rounds = 6
    # One bin a value, since quantiles would follow the weights that the plain trees are given.
    model = AUCBoost(weak_ranker=weak_ranker, n_rounds=n_rounds, max_bins=None).fit(X, Y)
    expected = plain_auc_boost(plain, X, Y, n_rounds)
    found = model.decision_function(X)
    assert len(np.unique(np.round(found, 9))) > 8
    assert found - found[0] == pytest.approx(expected - expected[0], abs=1e-6)


@pytest.mark.parametrize("booster", BOOSTERS)
def test_a_round_of_trees_ranks_as_the_tree_does(booster):
    tree = TreeRank(max_depth=2, pruning=None)
    model = booster(weak_ranker=tree, n_rounds=1).fit(HOLES, Y)
    score, of_tree = model.decision_function(HOLES), tree.fit(HOLES, Y).decision_function(HOLES)
    if booster is RankBoost:
        ranks = np.unique(of_tree, return_inverse=True)[1]
        assert np.array_equal(np.unique(score, return_inverse=True)[1], ranks)
    else:
        assert len(np.unique(score)) == 2
        order = np.argsort(of_tree, kind="stable")
        assert (np.diff(score[order]) >= 0).all()


def test_a_linear_round_is_graded_in_groups_of_about_equal_weight():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(3000, 2))
    y = X @ [1.0, -2.0] + rng.normal(size=3000) > 0
    score = RankBoost(weak_ranker="linear", n_rounds=1).fit(X, y).decision_function(X)
    plain = Discriminant().fit(X, y, np.ones(3000)).decision_function(X)
    order = np.argsort(plain)
    assert (np.diff(score[order]) >= 0).all()
    groups = np.unique(score)
    assert 200 < len(groups) <= 256
    share = np.where(y, 0.5 / y.sum(), 0.5 / (~y).sum())
    of_group = [share[score == group].sum() for group in groups]
    # At most one row more.
    assert max(of_group) < 1 / 256 + share.max()
    assert roc_auc_score(y, score) == pytest.approx(roc_auc_score(y, plain), abs=1e-4)


def test_a_linear_ranker_replaces_a_missing_value_by_the_mean():
    filled = np.where(np.isnan(HOLES), np.nanmean(HOLES, axis=0), HOLES)
    for booster in BOOSTERS:
        model = booster(weak_ranker="linear", n_rounds=1)
        found = model.fit(HOLES, Y).decision_function(HOLES)
        expected = model.fit(filled, Y).decision_function(filled)
        assert found == pytest.approx(expected, abs=1e-5)


@pytest.mark.parametrize("booster", BOOSTERS)
@pytest.mark.parametrize("weak_ranker", NATIVE, ids=by_name)
def test_native_rankers_depend_neither_on_threads_nor_on_order_or_copies_of_rows(
    booster, weak_ranker
):
    copies = np.random.default_rng(3).integers(0, 4, N)
    model = booster(weak_ranker=weak_ranker, n_rounds=8, n_jobs=1, random_state=0)
    expected = model.fit(HOLES, Y, sample_weight=copies).decision_function(HOLES)
    assert len(np.unique(expected)) > 8
    threads = clone(model).set_params(n_jobs=2).fit(HOLES, Y, sample_weight=copies)
    assert np.array_equal(threads.decision_function(HOLES), expected)
    order = np.random.default_rng(4).permutation(N)
    turned = clone(model).fit(HOLES[order], Y[order], sample_weight=copies[order])
    assert np.array_equal(turned.decision_function(HOLES), expected)
    repeated = clone(model).fit(np.repeat(HOLES, copies, axis=0), np.repeat(Y, copies))
    assert np.array_equal(repeated.decision_function(HOLES), expected)


@pytest.mark.parametrize("booster", BOOSTERS)
@pytest.mark.parametrize("weak_ranker", NATIVE, ids=by_name)
def test_native_rankers_are_saved(booster, weak_ranker, tmp_path):
    model = booster(weak_ranker=weak_ranker, n_rounds=5).fit(HOLES, Y)
    model.save(tmp_path / "model.json")
    read = load(tmp_path / "model.json")
    assert np.array_equal(read.decision_function(HOLES), model.decision_function(HOLES))
    assert repr(read) == repr(model)
    assert np.array_equal(read.predict(HOLES), model.decision_function(HOLES) > 0)


def test_boosted_trees_beat_one():
    rng = np.random.default_rng(5)
    X, X_test = rng.normal(size=(2, 2000, 3))
    y, y_test = (np.prod(rows, axis=1) + 0.3 * rows[:, 0] > 0 for rows in (X, X_test))
    tree = TreeRank(max_depth=3, pruning=None)
    alone = tree.fit(X, y).score(X_test, y_test)
    boosted = RankBoost(weak_ranker=clone(tree), n_rounds=60).fit(X, y).score(X_test, y_test)
    assert boosted > alone + 0.1


def test_trees_split_on_categories_and_linear_rankers_reject_them():
    for frame in (FRAME, pl.from_pandas(FRAME)):
        model = AUCBoost(weak_ranker="tree", n_rounds=5).fit(frame, Y)
        assert model.score(frame, Y) > 0.9
        with pytest.raises(ValueError, match=r"column 'city' is categorical, so a linear"):
            AUCBoost(weak_ranker="linear").fit(frame, Y)


def outside_pipeline():
    encode = make_column_transformer(
        (OneHotEncoder(sparse_output=False), ["city"]), (StandardScaler(), ["age", "debt"])
    )
    return make_pipeline(encode, LogisticRegression())


@pytest.mark.parametrize("booster", BOOSTERS)
def test_a_pipeline_sees_the_frame_as_it_was_passed(booster, tmp_path):
    model = booster(weak_ranker=outside_pipeline(), n_rounds=4).fit(FRAME, Y)
    score = model.decision_function(FRAME)
    assert model.score(FRAME, Y) > 0.9
    assert np.array_equal(model.decision_function(FRAME[:7]), score[:7])
    for back in (pickle.loads(pickle.dumps(model)), copy.deepcopy(model)):
        assert np.array_equal(back.decision_function(FRAME), score)
    with pytest.raises(TypeError, match="never holds code; use pickle"):
        model.save(tmp_path / "model.json")
    (tmp_path / "forged.json").write_text(model._to_document())
    with pytest.raises(ModelFormatError, match="needs rankers that are missing"):
        load(tmp_path / "forged.json")
    model.set_params(weak_ranker="feature").fit(FRAME, Y).save(tmp_path / "model.json")
    assert load(tmp_path / "model.json").n_features_in_ == 3


class Negated(LogisticRegression):
    def decision_function(self, X):
        return -super().decision_function(X)


def test_a_ranker_below_chance_is_reversed():
    found = AUCBoost(weak_ranker=Negated(), n_rounds=4).fit(X, Y).decision_function(X)
    expected = AUCBoost(weak_ranker=LogisticRegression(), n_rounds=4).fit(X, Y)
    assert np.array_equal(found, expected.decision_function(X))


class Recorder(ClassifierMixin, BaseEstimator):
    """Records the rows that it was fitted to."""

    seen: ClassVar[list] = []

    def __init__(self, random_state=None):
        self.random_state = random_state

    def fit(self, X, y, sample_weight=None):
        config = sklearn.get_config()["assume_finite"]
        self.seen.append((X, y, sample_weight, self.random_state, config))
        self.inner_ = LogisticRegression().fit(X, y, sample_weight=sample_weight)
        self.classes_ = self.inner_.classes_
        return self

    def decision_function(self, X):
        assert sklearn.get_config()["assume_finite"]
        return self.inner_.decision_function(X)


def test_an_estimator_is_fitted_with_balanced_weights_under_the_settings_of_the_caller():
    Recorder.seen.clear()
    weight = np.random.default_rng(6).integers(0, 3, N)
    with sklearn.config_context(assume_finite=True):
        model = AUCBoost(weak_ranker=Recorder(), n_rounds=3, random_state=0)
        model.fit(X, np.where(Y, "b", "a"), sample_weight=weight)
        model.decision_function(X[:3])
    assert len(Recorder.seen) == 3
    assert model.weak_ranker.random_state is None
    assert len({state for *_, state, _ in Recorder.seen}) == 3
    for seen, y, weights, _, config in Recorder.seen:
        assert config
        assert np.array_equal(seen, X[weight > 0])
        assert np.array_equal(y, Y[weight > 0].astype(int))
        for label in (0, 1):
            assert weights[y == label].sum() == pytest.approx(weight.sum() / 2)
    _, y, first, *_ = Recorder.seen[0]
    for label in (0, 1):
        ratio = first[y == label] / weight[weight > 0][y == label]
        assert ratio == pytest.approx(np.full(len(ratio), ratio[0]))


def test_a_random_estimator_is_fitted_the_same_with_the_same_seed():
    guest = DecisionTreeClassifier(max_depth=2, max_features=1)
    model = RankBoost(weak_ranker=guest, n_rounds=6, random_state=1)
    expected = model.fit(X, Y).decision_function(X)
    assert np.array_equal(clone(model).fit(X, Y).decision_function(X), expected)
    other = clone(model).set_params(random_state=2).fit(X, Y).decision_function(X)
    assert not np.array_equal(other, expected)


class BoomError(Exception):
    pass


class Failing(LogisticRegression):
    error: BaseException
    n_calls = 0

    def fit(self, X, y, sample_weight=None):
        type(self).n_calls += 1
        if type(self).n_calls == 3:
            raise self.error
        return super().fit(X, y, sample_weight)


@pytest.mark.parametrize(
    "error", [BoomError("in round 3"), KeyboardInterrupt()], ids=["own", "Ctrl-C"]
)
@pytest.mark.parametrize("booster", BOOSTERS)
def test_an_error_of_an_estimator_is_raised_unchanged(booster, error):
    Failing.error, Failing.n_calls = error, 0
    model = booster(weak_ranker=Failing(), n_rounds=9)
    with pytest.raises(type(error)) as caught:
        model.fit(X, Y)
    assert caught.value is error
    assert Failing.n_calls == 3
    with pytest.raises(NotFittedError):
        model.decision_function(X)


class Broken(LogisticRegression):
    answer = "none"

    def decision_function(self, X):
        score = super().decision_function(X)
        if self.answer == "nan":
            score[0] = np.nan
        return score[:-1] if self.answer == "short" else score


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        ("nan", "of Broken returned NaN"),
        ("short", r"of Broken returned an array of shape \(399,\)"),
    ],
)
def test_invalid_scores_of_an_estimator_are_rejected(answer, message, monkeypatch):
    monkeypatch.setattr(Broken, "answer", answer)
    with pytest.raises(ValueError, match=message):
        AUCBoost(weak_ranker=Broken()).fit(X, Y)


def test_missing_values_are_passed_to_the_estimator():
    with pytest.raises(ValueError, match="Input X contains NaN"):
        AUCBoost(weak_ranker=LogisticRegression()).fit(HOLES, Y)
    tree = DecisionTreeClassifier(max_depth=2)
    assert AUCBoost(weak_ranker=tree, n_rounds=3).fit(HOLES, Y).score(HOLES, Y) > 0.7
    assert not sklearn.utils.get_tags(AUCBoost(weak_ranker=GaussianNB())).input_tags.allow_nan
    assert sklearn.utils.get_tags(AUCBoost(weak_ranker=tree)).input_tags.allow_nan


@pytest.mark.usefixtures("interruptible")
@pytest.mark.parametrize("weak_ranker", ["linear", "tree"])
def test_a_fit_can_be_interrupted(weak_ranker):
    rng = np.random.default_rng(7)
    X = rng.normal(size=(20_000, 20))
    y = X[:, 0] + rng.normal(size=20_000) > 0
    model = RankBoost(weak_ranker=weak_ranker, n_rounds=10**6)
    threading.Timer(0.5, _thread.interrupt_main).start()
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, y)
    assert not model.__sklearn_is_fitted__()


@pytest.mark.parametrize(
    ("weak_ranker", "error", "message"),
    [
        ("stump", ValueError, "weak_ranker must be one of 'feature', 'threshold', 'linear'"),
        (None, ValueError, "an estimator of scikit-learn; got None"),
        (3, ValueError, "got 3"),
        (LogisticRegression, TypeError, "must be an estimator, got the class LogisticRegression"),
        (KNeighborsClassifier(), ValueError, "KNeighborsClassifier.fit does not"),
        (LinearSVR(), TypeError, "LinearSVR has neither decision_function"),
        (TreeRank(), ValueError, "pruning of a weak TreeRank must be None.*got 'cv'"),
        (
            TreeRank(pruning=None, max_bins=None),
            ValueError,
            "max_bins of a weak TreeRank must be left at its default",
        ),
        (
            TreeRank(pruning=None, random_state=3),
            ValueError,
            "random_state of a weak TreeRank must be left at its default",
        ),
        (
            TreeRank(pruning=None, split=WeightedERM(LogisticRegression())),
            ValueError,
            "split of a weak TreeRank cannot be a WeightedERM",
        ),
        (TreeRank(pruning=None, max_depth=0), ValueError, "max_depth must be at least 1"),
        (LeafRank(max_depth=0), ValueError, "max_depth of LeafRank must be at least 1"),
        (TreeRank(pruning=None, monotonic_cst=[1, 0]), ValueError, "monotonic_cst"),
    ],
    ids=by_name,
)
@pytest.mark.parametrize("booster", BOOSTERS)
def test_estimators_that_cannot_be_boosted_are_rejected(booster, weak_ranker, error, message):
    with pytest.raises(error, match=message):
        booster(weak_ranker=weak_ranker).fit(X, Y)


@pytest.mark.parametrize("booster", BOOSTERS)
def test_boosted_trees_follow_monotonic_constraints(booster):
    tree = TreeRank(max_depth=2, pruning=None, monotonic_cst=[1, 0, 0, -1])
    model = booster(weak_ranker=tree, n_rounds=10).fit(X, Y)
    grid = np.repeat(X[:30], 40, axis=0)
    for feature, sign in ((0, 1), (3, -1)):
        rows = grid.copy()
        rows[:, feature] = np.tile(np.linspace(-3, 3, 40), 30)
        steps = np.diff(model.decision_function(rows).reshape(30, 40), axis=1)
        assert (sign * steps >= 0).all()
