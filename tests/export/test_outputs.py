"""Scores, points and probabilities: one argument of every form that writes one of them."""

import sqlite3
from contextlib import closing

import numpy as np
import pytest
from aucrank import RankBoost

from tests.common.formulas import fitted_formula
from tests.common.pmml import PmmlRegression
from tests.export.test_large_sql import by_duckdb, columns, plain_rows

#: Log-odds, more than 1/2, steps, and a formula of its own.
NAMES = ["card", "standardised", "gradient boosting", "means", "stumps", "forest"]


def by_function(model, new, output):
    names = {}
    exec(model.to_code("python", output=output), names)
    return [names["score"](row) for row in plain_rows(new)]


class Written:
    """A model whose SQL is that of one output."""

    def __init__(self, model, output):
        self._model, self._output = model, output

    def to_sql(self, dialect):
        return self._model.to_sql(dialect, output=self._output)


@pytest.mark.parametrize("name", NAMES)
def test_probabilities_are_those_of_predict_proba(name):
    model, new = fitted_formula(name)
    expected = model.predict_proba(new)[:, 1]
    assert len(np.unique(expected)) > 1
    # The exponential function of another library may differ in its last digits.
    found = by_function(model, new, "probability")
    np.testing.assert_allclose(found, expected, rtol=1e-14)
    found = by_duckdb(Written(model, "probability"), new)
    np.testing.assert_allclose(np.array(found, dtype=float), expected, rtol=1e-14)


@pytest.mark.parametrize("name", NAMES)
def test_scores_are_those_of_decision_function(name):
    model, new = fitted_formula(name)
    expected = model.decision_function(new)
    np.testing.assert_array_equal(by_function(model, new, "score"), expected)
    found = by_duckdb(Written(model, "score"), new)
    np.testing.assert_array_equal(np.array(found, dtype=float), expected)


def test_points_are_those_of_the_card():
    model, new = fitted_formula("card")
    np.testing.assert_array_equal(by_function(model, new, "points"), model.points(new))
    with closing(sqlite3.connect(":memory:")) as database:
        database.execute(f"CREATE TABLE stored ({columns(new, 'real')})")
        marks = ", ".join("?" * new.shape[1])
        database.executemany(f"INSERT INTO stored VALUES ({marks})", plain_rows(new))
        query = f"SELECT {model.to_sql('sqlite', output='points')} FROM stored ORDER BY rowid"
        found = [points for (points,) in database.execute(query)]
    np.testing.assert_array_equal(found, model.points(new))


def test_pmml_of_a_card_has_points_or_the_score():
    model, new = fitted_formula("card")
    assert "<Scorecard " in model.to_pmml()
    engine = PmmlRegression(model.to_pmml(output="score"))
    rows = [dict(zip(new.columns, row, strict=True)) for row in plain_rows(new.head(50))]
    expected = model.decision_function(new.head(50))
    np.testing.assert_allclose([engine.score(row) for row in rows], expected, rtol=1e-13)


def test_an_unknown_output_raises_an_error():
    model, _ = fitted_formula("stumps")
    with pytest.raises(ValueError, match="output must be one of 'score', 'probability'"):
        model.to_sql(output="points")
    model, _ = fitted_formula("thresholds")
    with pytest.raises(ValueError, match=r"^this RankBoost has no probabilities: write its score$"):
        model.to_code("c", output="probability")
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 2))
    model = RankBoost(calibration="sigmoid", n_rounds=5, random_state=0)
    model.fit(X, X[:, 0] + rng.normal(size=300) > 0)
    with pytest.raises(ValueError, match=r"are a calibration curve, which this form has no words"):
        model.to_sql(output="probability")
