"""Lemma 4 of paper 3 over any ranker, against plain numpy."""

import pickle
from fractions import Fraction

import aucrank
import numpy as np
import pytest
import sklearn
from aucrank import (
    RankBoost,
    TreeRank,
    TwoSidedClassifier,
)
from aucrank._base.registry import public_estimators
from aucrank.datasets import make_gaussian_pair, make_noisy_labels
from hypothesis import example, given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.exceptions import NotFittedError, UnsetMetadataPassedError
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from tests.common.contract import checks
from tests.common.estimators import TWO_SIDED, quiet_on_few_rows


class Column(ClassifierMixin, BaseEstimator):
    """Ranks by the first column, whatever the labels."""

    def fit(self, X, y, sample_weight=None):
        self.classes_ = np.unique(y)
        return self

    def decision_function(self, X):
        return np.asarray(X, dtype=np.float64)[:, 0]


@st.composite
def scored_rows(draw):
    """Rows of both classes with few distinct scores, and whole weights, some of them 0."""
    row = st.tuples(st.booleans(), st.integers(-3, 3), st.integers(0, 4))
    rows = draw(st.lists(row, max_size=30))
    ends = draw(st.tuples(st.integers(-3, 3), st.integers(-3, 3)))
    y, scores, weight = zip((True, ends[0], 1), (False, ends[1], 2), *rows, strict=True)
    return np.array(y), np.array(scores, dtype=float), np.array(weight, dtype=float)


def rates(y, weight, high):
    """Share of the positives that is not on the high side, and of the negatives that is."""
    return np.average(~high[y], weights=weight[y]), np.average(high[~y], weights=weight[~y])


def even(p_pos, p_neg):
    """The error of equation 1 of the paper, for either class on the side of the mistakes."""
    if p_neg <= p_pos:
        return p_pos / (1 + p_pos - p_neg)
    return p_neg / (1 + p_neg - p_pos)


@given(scored_rows(), st.sampled_from(["sum", "error"]))
def test_both_classes_have_the_same_error_and_lemma_4_bounds_it(sample, criterion):
    y, scores, weight = sample
    X = scores[:, np.newaxis]
    model = TwoSidedClassifier(ranker=Column(), criterion=criterion).fit(X, y, weight)
    chance = (1 + model.expected_vote(X)) / 2
    of_positives = np.average(1 - chance[y], weights=weight[y])
    of_negatives = np.average(chance[~y], weights=weight[~y])
    assert of_positives == pytest.approx(model.error_, abs=1e-12)
    assert of_negatives == pytest.approx(model.error_, abs=1e-12)
    gamma = roc_auc_score(y, scores, sample_weight=weight) - 0.5
    assert model.error_ <= 0.5 - max(gamma, 0) / 4 + 1e-12
    assert model.advantage_ == 0.5 - model.error_
    assert model.error_ == pytest.approx(even(model.p_pos_, model.p_neg_), abs=1e-12)
    found = rates(y, weight, scores >= model.theta_)
    assert found == pytest.approx((model.p_pos_, model.p_neg_), abs=1e-12)
    assert 0 <= model.zeta_ <= 0.5


# Two thresholds whose errors are both 8/17: one is the best by either criterion.
ONE_ERROR_TWICE = (
    np.array([1, 0, 0, 0, 0, 1, 1, 1], dtype=bool),
    np.array([0.0, -1, 0, 0, -2, 0, 0, -1]),
    np.array([1.0, 2, 2, 4, 1, 4, 4, 3]),
)


@given(scored_rows(), st.sampled_from(["sum", "error"]))
@example(ONE_ERROR_TWICE, "sum")
@example(ONE_ERROR_TWICE, "error")
def test_rates_are_the_floats_nearest_to_their_fractions(sample, criterion):
    y, scores, weight = sample
    model = TwoSidedClassifier(ranker=Column(), criterion=criterion).fit(scores[:, None], y, weight)
    high = scores >= model.theta_

    def share(positive, high_side):
        part = weight[(y == positive) & (high == high_side)].sum()
        return Fraction(int(part), int(weight[y == positive].sum()))

    p_pos, p_neg = share(True, False), share(False, True)
    assert (model.p_pos_, model.p_neg_) == (float(p_pos), float(p_neg))
    assert model.error_ == float(max(p_pos, p_neg) / (1 + abs(p_pos - p_neg)))
    assert model.zeta_ == float(abs(p_pos - p_neg) / (1 + abs(p_pos - p_neg)))


@given(scored_rows())
@example(ONE_ERROR_TWICE)
def test_no_threshold_is_better_than_the_one_that_is_taken(sample):
    y, scores, weight = sample
    X = scores[:, np.newaxis]
    by_sum = TwoSidedClassifier(ranker=Column()).fit(X, y, weight)
    by_error = TwoSidedClassifier(ranker=Column(), criterion="error").fit(X, y, weight)
    assert by_error.error_ <= by_sum.error_
    for theta in (*np.unique(scores[weight > 0]), np.inf):
        p_pos, p_neg = rates(y, weight, scores >= theta)
        more = p_pos + p_neg - by_sum.p_pos_ - by_sum.p_neg_
        assert more >= -1e-12
        # Of equal ones the smaller error, then the larger threshold.
        if more < 1e-12:
            assert even(p_pos, p_neg) >= by_sum.error_ - 1e-12
            above = (scores >= theta)[weight > 0].sum()
            is_higher = above < (scores >= by_sum.theta_)[weight > 0].sum()
            assert even(p_pos, p_neg) > by_sum.error_ + 1e-12 or not is_higher
        assert even(p_pos, p_neg) >= by_error.error_ - 1e-12


@given(scored_rows())
def test_a_classifier_ranks_as_lemma_5_says(sample):
    y, scores, weight = sample
    X = scores[:, np.newaxis]
    model = TwoSidedClassifier(ranker=Column()).fit(X, y, weight)
    # Of the classifier without its coin.
    expected = 1 - (model.p_pos_ + model.p_neg_) / 2
    assert model.score(X, y, weight) == pytest.approx(expected, abs=1e-12)
    # Of the one with the coin: each row as the two that its flips make of it.
    chance = (1 + model.expected_vote(X)) / 2
    drawn = np.repeat([1.0, 0.0], len(y))
    auc = roc_auc_score(
        np.tile(y, 2), drawn, sample_weight=np.concatenate([weight * chance, weight * (1 - chance)])
    )
    assert auc == pytest.approx(1 - model.error_, abs=1e-12)


@given(scored_rows())
def test_weight_k_equals_k_rows_and_thresholds_lie_between_rows_that_count(sample):
    y, scores, weight = sample
    X = scores[:, np.newaxis]
    model = TwoSidedClassifier(ranker=Column()).fit(X, y, weight)
    times = weight.astype(int)
    copies = TwoSidedClassifier(ranker=Column()).fit(
        np.repeat(X, times, axis=0), np.repeat(y, times)
    )
    for name in ("theta_", "zeta_", "p_pos_", "p_neg_", "error_", "threshold_"):
        assert getattr(copies, name) == getattr(model, name)
    values = np.unique(scores[weight > 0])
    middles = (values[1:] + values[:-1]) / 2
    assert model.theta_ == np.inf or model.theta_ in middles


@pytest.mark.parametrize("rate", [0.125, 0.25])
def test_errors_on_true_labels_are_recovered_from_an_exact_noisy_law(rate):
    rng = np.random.default_rng(0)
    for _ in range(20):
        scores, y = np.arange(6.0), np.sort(rng.random(6))
        masses = {True: y, False: 1 - y}
        X = np.tile(scores, 2)[:, np.newaxis]
        labels = np.repeat([True, False], 6)
        true = np.concatenate([masses[True], masses[False]])
        noisy = (1 - rate) * true + rate * np.roll(true, 6)
        clean = TwoSidedClassifier(ranker=Column()).fit(X, labels, true)
        found = TwoSidedClassifier(ranker=Column(), noise_rate=rate).fit(X, labels, noisy)
        assert found.theta_ == clean.theta_
        for name in ("zeta_", "p_pos_", "p_neg_", "error_"):
            assert getattr(found, name) == pytest.approx(getattr(clean, name), abs=1e-9)
        # Without the rate the coin is that of the labels as they are, which is another one.
        literal = TwoSidedClassifier(ranker=Column()).fit(X, labels, noisy)
        assert literal.theta_ == clean.theta_
        assert abs(literal.error_ - clean.error_) > 1e-3


def test_errors_are_corrected_for_flipped_labels_in_a_sample():
    train = make_gaussian_pair(100_000, positive_share=0.3, random_state=0)
    noisy = make_noisy_labels(train.y, 0.2, random_state=1)
    X = train.eta(train.X)[:, np.newaxis]
    of_class = {}
    for rate in (0.0, 0.2):
        model = TwoSidedClassifier(ranker=Column(), noise_rate=rate).fit(X, noisy)
        chance = (1 + model.expected_vote(X)) / 2
        of_class[rate] = abs((1 - chance[train.y == 1]).mean() - chance[train.y == 0].mean())
    assert of_class[0.2] < 0.02 < 0.05 < of_class[0.0]


@pytest.mark.parametrize(
    "ranker",
    [
        None,
        TreeRank(max_depth=3, pruning=None),
        RankBoost(n_rounds=5),
        LogisticRegression(),
        GaussianNB(),
        make_pipeline(StandardScaler(), LogisticRegression()),
    ],
    ids=["default", "TreeRank", "RankBoost", "LogisticRegression", "GaussianNB", "Pipeline"],
)
@pytest.mark.parametrize("weighted", [False, True])
def test_the_threshold_comes_from_the_scores_of_the_given_ranker(ranker, weighted):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(300, 3))
    y = np.where(X[:, 0] + rng.normal(size=300) > 0.7, "yes", "no")
    weight = rng.integers(1, 4, size=300).astype(float) if weighted else None
    model = TwoSidedClassifier(ranker=ranker).fit(X, y, weight)
    inner = model.ranker_
    scores = (
        inner.decision_function(X)
        if hasattr(inner, "decision_function")
        else inner.predict_proba(X)[:, 1]
    )
    high = scores >= model.theta_
    assert np.array_equal(model.predict(X) == "yes", high)
    assert np.array_equal(model.decision_function(X) > 0, high)
    used = np.ones(300) if weight is None else weight
    assert rates(y == "yes", used, high) == pytest.approx((model.p_pos_, model.p_neg_), abs=1e-12)
    if isinstance(ranker, TreeRank):
        alone = TreeRank(max_depth=3, pruning=None).fit(X, y, weight)
        assert np.array_equal(inner.decision_function(X), alone.decision_function(X))
    assert ranker is None or not hasattr(ranker, "classes_")


def test_draws_have_the_error_rate_of_either_class():
    train = make_gaussian_pair(40_000, positive_share=0.2, random_state=0)
    model = TwoSidedClassifier(ranker=LogisticRegression()).fit(train.X, train.y)
    drawn = model.draw(train.X, random_state=0)
    assert model.zeta_ > 0.01
    for label in (0, 1):
        rows = train.y == label
        margin = 5 * np.sqrt(0.25 / rows.sum())
        assert (drawn[rows] != label).mean() == pytest.approx(model.error_, abs=margin)
    assert np.array_equal(drawn, model.draw(train.X, random_state=0))
    assert not np.array_equal(drawn, model.draw(train.X, random_state=1))


def test_a_constant_ranker_classifies_by_a_coin():
    X, y = np.zeros((6, 1)), np.array([0, 1, 0, 1, 0, 0])
    model = TwoSidedClassifier(ranker=Column()).fit(X, y)
    assert (model.theta_, model.error_, model.zeta_) == (np.inf, 0.5, 0.5)
    assert (model.expected_vote([[1e9]]) == 0).all()
    assert (model.predict([[1e9]]) == 0).all()


def test_frames_are_passed_to_the_ranker_unchanged():
    pandas = pytest.importorskip("pandas")
    polars = pytest.importorskip("polars")
    colour = ["red", "blue", "blue", "red", "green", "blue"] * 20
    number = np.random.default_rng(0).normal(size=120)
    y = np.array([c == "red" for c in colour])
    frame = pandas.DataFrame({"colour": pandas.Categorical(colour), "number": number})
    model = TwoSidedClassifier(ranker=TreeRank(pruning=None)).fit(frame, pandas.Series(y))
    assert model.error_ == 0
    assert model.feature_names_in_.tolist() == ["colour", "number"]
    assert np.array_equal(model.predict(frame), y)
    with pytest.raises(ValueError, match="feature names"):
        model.predict(frame[["number", "colour"]])
    other = TwoSidedClassifier(ranker=TreeRank(pruning=None)).fit(
        polars.from_pandas(frame), polars.Series(y)
    )
    assert np.array_equal(other.predict(polars.from_pandas(frame)), y)


@pytest.mark.parametrize(
    ("settings", "error", "named"),
    [
        ({"criterion": "least"}, ValueError, "criterion"),
        ({"noise_rate": 0.5}, ValueError, "noise_rate"),
        ({"noise_rate": -0.1}, ValueError, "noise_rate"),
        # A quarter of the rows is positive.
        ({"noise_rate": 0.3}, ValueError, "share of the rarer class"),
        ({"noise_rate": "some"}, TypeError, "noise_rate"),
        ({"ranker": Column}, TypeError, "got the class Column"),
        ({"ranker": 3}, TypeError, r"int has no fit\(\)"),
        ({"ranker": StandardScaler()}, TypeError, "has neither"),
    ],
)
def test_a_bad_setting_is_named_in_the_error(settings, error, named):
    X, y = np.arange(8.0)[:, np.newaxis], np.arange(8) > 5
    with pytest.raises(error, match=named):
        TwoSidedClassifier(**{"ranker": Column(), **settings}).fit(X, y)


def test_bad_data_raise_an_error_and_a_failed_fit_leaves_no_model():
    X, y = np.arange(8.0)[:, np.newaxis], np.arange(8) > 4
    model = TwoSidedClassifier(ranker=Column()).fit(X, y)
    for bad_y, named in ((np.zeros(8), "2 classes"), (np.arange(8), "Only binary"), (None, "None")):
        with pytest.raises(ValueError, match=named):
            model.fit(X, bad_y)
        with pytest.raises(NotFittedError):
            model.predict(X)
    with pytest.raises(ValueError, match="sample_weight is zero for every row of class"):
        model.fit(X, y, y.astype(float))
    with pytest.raises(ValueError, match="the score of row 2 is NaN"):
        model.fit(np.where(X == 2, np.nan, X), y)
    with pytest.raises(ValueError, match="the score of row 0 is NaN"):
        model.fit(X, y).predict([[np.nan]])
    with pytest.raises(ValueError, match=r"scores of shape \(9,\) for 8 rows"):
        TwoSidedClassifier(ranker=Column()).fit(np.arange(9.0)[:, np.newaxis], y)
    with pytest.raises(ValueError, match="KNeighborsClassifier takes none"):
        TwoSidedClassifier(ranker=KNeighborsClassifier(2)).fit(X, y, np.ones(8))
    TwoSidedClassifier(ranker=KNeighborsClassifier(2)).fit(X, y)


def test_it_is_pickled_and_exported_from_the_top_package():
    X, y = np.arange(8.0)[:, np.newaxis], np.arange(8) > 4
    model = TwoSidedClassifier(ranker=TreeRank(pruning=None)).fit(X, y)
    again = pickle.loads(pickle.dumps(model))
    assert np.array_equal(again.decision_function(X), model.decision_function(X))
    assert "TwoSidedClassifier" in aucrank.__all__
    assert "TwoSidedClassifier" in dir(aucrank)


def test_weights_are_routed_on_request():
    X, y = np.random.default_rng(0).normal(size=(60, 2)), np.arange(60) % 3 == 0
    weight = np.arange(60) % 4 + 1.0
    plain = TwoSidedClassifier(ranker=LogisticRegression()).fit(X, y, weight)
    with sklearn.config_context(enable_metadata_routing=True):
        unset = TwoSidedClassifier(ranker=LogisticRegression())
        with pytest.raises(UnsetMetadataPassedError):
            unset.fit(X, y, sample_weight=weight)
        asks = TwoSidedClassifier(ranker=LogisticRegression().set_fit_request(sample_weight=True))
        assert asks.fit(X, y, weight).ranker_.coef_ == pytest.approx(plain.ranker_.coef_)
        refuses = TwoSidedClassifier(
            ranker=LogisticRegression().set_fit_request(sample_weight=False)
        )
        refuses.fit(X, y, weight)
        alone = LogisticRegression().fit(X, y)
        assert refuses.ranker_.coef_ == pytest.approx(alone.coef_)
        # The threshold uses the weights even if the ranker does not.
        high = alone.decision_function(X) >= refuses.theta_
        assert rates(y, weight, high) == pytest.approx((refuses.p_pos_, refuses.p_neg_))


def test_each_ranker_of_the_package_is_tested_in_the_contract():
    assert {type(ranker) for ranker in TWO_SIDED} == set(public_estimators().values())


def contract():
    """Yield the checks of the classifier, and those that depend on its ranker."""
    yield from checks(TwoSidedClassifier())
    for ranker in (LogisticRegression(), DecisionTreeClassifier(max_depth=2), *TWO_SIDED):
        criterion = "error" if isinstance(ranker, LogisticRegression) else "sum"
        classifier = TwoSidedClassifier(ranker=ranker, criterion=criterion)
        yield from checks(classifier, of_settings=True)


@quiet_on_few_rows
@pytest.mark.parametrize(("estimator", "check"), contract())
def test_scikit_learn_contract(estimator, check):
    check(estimator)


@pytest.mark.parametrize("ranker", TWO_SIDED, ids=lambda ranker: type(ranker).__name__)
def test_the_seed_is_set_on_the_ranker_and_its_parts(ranker):
    rng = np.random.default_rng(4)
    X = rng.normal(size=(200, 3))
    y = rng.random(200) < 1 / (1 + np.exp(-2 * X[:, 0]))

    def scores(ranker, seed=None):
        model = TwoSidedClassifier(ranker=ranker, random_state=seed).fit(X, y)
        return model.ranker_.decision_function(X)

    for seeded in (ranker, make_pipeline(StandardScaler(), ranker)):
        assert_array_equal(scores(seeded, 5), scores(seeded, 5))
    # The parameters of the ranker stay if none of the classifier's own is set.
    if "random_state" in ranker.get_params():
        changed = clone(ranker).set_params(random_state=7)
        assert_array_equal(scores(changed), clone(changed).fit(X, y).decision_function(X))
        assert ranker.random_state is None
