"""Estimators of other packages, fitted to rows and called for rows by number."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pandas as pd
import pytest
from aucrank._base.external import (
    ExternalFitter,
    ExternalModels,
    known_scores,
    predicted_labels,
)
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import SVC

RNG = np.random.default_rng(0)
X = RNG.normal(size=(90, 3))
Y = X[:, 0] + RNG.normal(size=90) > 0
WEIGHT = RNG.random(90) + 0.1
TRAIN, REST = np.arange(60), np.arange(60, 90)


@pytest.mark.parametrize(
    ("estimator", "scores"),
    [
        (LogisticRegression(), lambda model, X: model.decision_function(X)),
        (SVC(), lambda model, X: model.decision_function(X)),
        (GaussianNB(), lambda model, X: model.predict_proba(X)[:, 1]),
    ],
    ids=["linear", "kernel", "bayes"],
)
@pytest.mark.parametrize("rows", [X, pd.DataFrame(X, columns=["a", "b", "c"])], ids=type)
def test_a_fitted_member_scores_like_a_clone_fitted_directly(estimator, scores, rows):
    by_hand = type(estimator)().fit(rows[:60], Y[:60].astype(np.intp), sample_weight=WEIGHT[:60])
    for answer, expected in (
        (known_scores, scores(by_hand, rows[60:])),
        (predicted_labels, by_hand.predict(rows[60:])),
    ):
        fitter = ExternalFitter(estimator, rows, Y, answer)
        member = fitter.fit(7, TRAIN, WEIGHT[TRAIN])
        np.testing.assert_array_equal(fitter.answer(member, REST), expected)
        fitter.keep([member])
        new = ExternalModels(fitter.kept, rows[60:], answer)
        np.testing.assert_array_equal(new.answer(0, np.arange(30)), expected)
    assert not hasattr(estimator, "classes_")


def test_an_estimator_that_takes_no_weights_is_fitted_without_them():
    fitter = ExternalFitter(KNeighborsClassifier(), X, Y, known_scores)
    member = fitter.fit(0, TRAIN)
    by_hand = KNeighborsClassifier().fit(X[TRAIN], Y[TRAIN])
    np.testing.assert_array_equal(fitter.answer(member, REST), by_hand.predict_proba(X[REST])[:, 1])


def test_the_seed_determines_a_random_fit():
    forest = RandomForestClassifier(5, max_features=1)
    fitter = ExternalFitter(forest, X, Y, known_scores)
    same, too, other = (fitter.answer(fitter.fit(seed, TRAIN), REST) for seed in (1, 1, 2))
    np.testing.assert_array_equal(same, too)
    assert (same != other).any()


def test_numbers_of_models_are_unique_until_keep_renumbers_them():
    earlier = (GaussianNB().fit(X, Y.astype(np.intp)),)
    fitter = ExternalFitter(GaussianNB(), X, Y, known_scores, earlier)
    assert [fitter.fit(0, TRAIN), fitter.fit(0, REST)] == [1, 2]
    fitter.forget([2])
    assert fitter.fit(0, REST) == 3
    answers = {number: fitter.answer(number, REST) for number in (0, 1, 3)}
    fitter.keep([3, 0])
    for new, old in enumerate([3, 0]):
        np.testing.assert_array_equal(fitter.answer(new, REST), answers[old])
    assert fitter.kept[1] is earlier[0]
    assert len(fitter.kept) == 2


def test_threads_fit_in_parallel_and_get_distinct_numbers():
    fitter = ExternalFitter(GaussianNB(), X, Y, known_scores)
    parts = [np.arange(start, start + 40) for start in range(40)]
    with ThreadPoolExecutor(4) as pool:
        numbers = list(pool.map(lambda part: fitter.fit(0, part), parts))
    assert sorted(numbers) == list(range(40))
    for number, part in zip(numbers, parts, strict=True):
        by_hand = GaussianNB().fit(X[part], Y[part])
        expected = by_hand.predict_proba(X[REST])[:, 1]
        np.testing.assert_array_equal(fitter.answer(number, REST), expected)
