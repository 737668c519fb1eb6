"""Conclusions in words from the figures."""

import aucrank
import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.metrics import brier_score_loss


class Given(ClassifierMixin, BaseEstimator):
    """Scores rows by a column, and takes its probability from there."""

    def __init__(self, column=0, shift=0.0):
        self.column = column
        self.shift = shift

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def decision_function(self, X):
        return np.asarray(X)[:, self.column]

    def predict_proba(self, X):
        positive = 1 / (1 + np.exp(-self.decision_function(X) - self.shift))
        return np.column_stack([1 - positive, positive])


def rows(n=2000, seed=0, intercept=0.0):
    rng = np.random.default_rng(seed)
    true = rng.normal(size=n) + intercept
    y = rng.random(n) < 1 / (1 + np.exp(-true))
    # The score itself, one that is nearly as good, one that is worse, and noise.
    X = np.column_stack(
        [true, true + 0.02 * rng.normal(size=n), true + 2 * rng.normal(size=n), rng.normal(size=n)]
    )
    return X, y.astype(int)


def given(*columns, X, y, **options):
    models = {f"score {c}": Given(c).fit(X, y) for c in columns}
    return aucrank.report(models, X, y, **options)


def test_a_clear_difference_is_stated_and_an_unclear_one_is_not():
    X, y = rows()
    said = given(0, 1, 2, X=X, y=y).summary
    assert "is ahead of score 2 by" in said
    assert "These rows do not distinguish score" in said
    assert "that is no proof that they are equal" in said
    assert "ahead of score 1" not in said
    assert "ahead of score 0" not in said


def test_a_noise_score_is_not_described_as_ranking():
    X, y = rows(seed=1)
    assert "not shown to rank better than chance" in given(3, X=X, y=y).summary
    assert "not shown" not in given(0, X=X, y=y).summary


def test_probabilities_with_the_right_total_raise_no_caution():
    X, y = rows()
    made = given(0, X=X, y=y)
    assert "no more apart than by chance" in made.summary
    assert made.warnings == []


def test_probabilities_with_a_wrong_total_raise_a_caution():
    X, y = rows()
    made = aucrank.report(Given(0, shift=1.0).fit(X, y), X, y)
    assert "further apart than by chance" in made.summary
    assert any("need to be calibrated" in text for text in made.warnings)


def test_probabilities_wrong_in_most_groups_raise_a_caution():
    X, y = rows(5000)
    X = X * 6
    made = given(0, X=X, y=y)
    assert "no more apart than by chance" in made.summary
    assert any("outside of the interval" in text for text in made.warnings)


def test_few_positives_raise_a_caution():
    X, y = rows(3000, intercept=-5.0)
    assert y.sum() < 100
    assert any("fewer than 100" in text for text in given(0, X=X, y=y).warnings)


def test_an_inverted_or_perfect_score_raises_a_caution():
    X, y = rows()
    made = aucrank.report(Given(0).fit(-X, y), -X, y)
    assert any("ranks worse than chance" in text for text in made.warnings)
    perfect = y[:, None] + np.zeros((1, 2))
    made = aucrank.report(Given(0).fit(perfect, y), perfect, y)
    assert any("known only after the outcome" in text for text in made.warnings)


def test_a_score_in_the_wrong_order_somewhere_raises_a_caution():
    X, y = rows()
    highest_last = np.where(X > 0.5, X - 10, X)
    assert any("wrong order" in text for text in given(0, X=highest_last, y=y).warnings)


def test_columns_shifted_since_training_are_named():
    X, y = rows()
    names = ["same", "moved", "gone", "other"]
    then = pd.DataFrame(X, columns=names)
    rng = np.random.default_rng(1)
    now = pd.DataFrame(rng.normal(size=X.shape), columns=names)
    now["moved"] += 1.5
    now.loc[:200, "gone"] = np.nan
    y_now = (rng.random(len(now)) < 0.5).astype(int)
    made = aucrank.report(Given(0).fit(then, y), now, y_now, X_train=then)
    moved = [text for text in made.warnings if "have shifted since training" in text]
    assert len(moved) == 1
    assert "moved (PSI" in moved[0]
    assert "same" not in moved[0]
    assert any("missing more often" in t and "gone" in t for t in made.warnings)


def test_training_rows_are_recognised():
    X, y = rows(400)
    made = given(0, X=X[200:], y=y[200:], X_train=X[100:300])
    assert any(text.startswith("50.0% of the rows equal a training row") for text in made.warnings)
    made = given(0, X=X[200:], y=y[200:], X_train=X[:200])
    assert not any("equal a training row" in text for text in made.warnings)


@pytest.mark.parametrize("shift", [0.0, 1.0])
def test_calibration_of_very_many_rows_is_tested_on_a_sample(shift):
    X, y = rows(250_000)
    made = aucrank.report(Given(0, shift).fit(X, y), X[:, :1], y)
    assert "Its probabilities of 200,000 rows drawn at random add up to" in made.summary
    assert made.models["brier"][0] == pytest.approx(
        brier_score_loss(y, Given(0, shift).fit(X, y).predict_proba(X)[:, 1]), abs=2e-3
    )
    assert [text for text in made.warnings if "of 200,000 rows drawn" in text] == (
        made.warnings if shift else []
    )


def test_costs_are_given_for_rows_not_used_to_choose_the_threshold():
    X, y = rows()
    costs = {"false_positive": 1, "false_negative": 4}
    assert "had no say in the choice" in given(0, X=X, y=y, costs=costs).summary
    assert "saves nothing" in given(3, X=X, y=y, costs=costs).summary


@pytest.mark.parametrize("seed", range(3))
def test_well_specified_models_raise_no_caution(seed):
    X, y = rows(4000, seed=seed)
    made = given(0, 1, X=X[:2000], y=y[:2000], X_train=X[2000:])
    assert made.warnings == []
