"""The effect of each column on the score."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from aucrank import GradientBoostingRanker
from aucrank._report.effects import measure_effects
from aucrank._report.rows import UserRows
from aucrank._report.subjects import DataTable, FittedModel
from aucrank.metrics import roc_auc_score
from sklearn.svm import LinearSVC

from tests.common.loans import loans
from tests.common.reports import target_of, to_arrow, to_polars


def values_of(X):
    if isinstance(X, pd.DataFrame):
        return X.astype(object).where(X.notna(), None).to_numpy().tolist()
    if isinstance(X, np.ndarray):
        return [[None if v != v else v for v in row] for row in X.tolist()]
    rows = X.to_dicts() if isinstance(X, pl.DataFrame) else X.to_pylist()
    return [[None if v != v else v for v in row.values()] for row in rows]


def numbered(frame):
    return frame.set_axis(range(frame.shape[1]), axis=1)


@pytest.mark.parametrize(
    "convert", [pd.DataFrame, numbered, to_polars, to_arrow, pd.DataFrame.to_numpy]
)
def test_one_column_is_permuted_and_the_others_are_unchanged(convert):
    X, _ = loans(20)
    # Labels of rows that occur twice must not decide which row gets which value.
    X.index = [3] * 20
    whole = UserRows(convert(X))
    rows, donors = np.array([0, 5, 5, 7, 19]), np.array([4, 4, 1, 0, 11])
    before = values_of(whole.native)
    for index in range(X.shape[1]):
        expected = [list(before[row]) for row in rows]
        for line, donor in zip(expected, donors, strict=True):
            line[index] = before[donor][index]
        assert values_of(whole.exchanged(rows, index, donors)) == expected
    assert values_of(whole.native) == before


def subject_of(model, X):
    return FittedModel(model, DataTable(UserRows(X))).subject("model", 0)


def fitted(n=2000):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 4))
    y = X[:, 0] + 0.5 * X[:, 1] + rng.normal(size=n) > 0
    half = n // 2
    model = GradientBoostingRanker(random_state=0).fit(X[:half], y[:half])
    return subject_of(model, X[half:]), target_of(y[half:])


def test_informative_columns_come_first_and_noise_has_no_importance():
    subject, target = fitted()
    found = measure_effects(subject, target, 0)
    assert [one.column for one in found.importances[:2]] == ["x0", "x1"]
    losses = {one.column: one.loss for one in found.importances}
    assert losses["x0"] > 0.1
    assert abs(losses["x2"]) < 0.02
    assert [one.column for one in found.dependences][:2] == ["x0", "x1"]
    assert all(one.own >= 0 for one in found.importances)
    # A column without its values ranks at best as the others do.
    X = subject.model.rows.native.copy()
    X[:, 0] = np.random.default_rng(5).permutation(X[:, 0])
    after = roc_auc_score(target.positive, subject.model.estimator.decision_function(X))
    expected = roc_auc_score(target.positive, subject.scores) - after
    assert losses["x0"] == pytest.approx(expected, abs=0.05)


@pytest.mark.parametrize("model", [GradientBoostingRanker(random_state=0), LinearSVC()])
def test_informative_columns_among_many_are_found(model):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1200, 60))
    y = X[:, 50] + X[:, 7] + rng.normal(size=1200) > 0
    model.fit(X[:600], y[:600])
    subject = subject_of(model, X[600:])
    found = measure_effects(subject, target_of(y[600:]), 0)
    assert {one.column for one in found.importances[:2]} == {"x7", "x50"}
    assert (len(found.importances), found.n_left_out) == (30, 30)


def test_dependence_is_the_mean_score_with_the_column_fixed():
    subject, target = fitted(600)
    found = measure_effects(subject, target, 0).dependences[0]
    # All 300 rows are averaged over, in whatever order.
    assert subject.model.rows.n_rows == 300
    for value, answer in zip(found.numbers, found.answers, strict=True):
        X = subject.model.rows.native.copy()
        X[:, 0] = value
        assert answer == pytest.approx(subject.model.estimator.predict_proba(X)[:, 1].mean())


def test_dependence_includes_categories_and_missing_values():
    X, labels = loans(800)
    y = labels == "bad"
    model = GradientBoostingRanker(random_state=0).fit(X, y)
    found = measure_effects(subject_of(model, X), target_of(y), 0)
    by_name = {one.column: one for one in found.dependences}
    assert set(by_name["trade"].levels) == {*X["trade"].cat.categories, "missing"}
    assert by_name["income"].missing is not None
    assert by_name["age"].missing is None
