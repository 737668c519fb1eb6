"""Formulas of all families: evaluated plainly by the core, and by databases, to the last bit."""

import json
import shutil
import sqlite3
from contextlib import closing
from datetime import UTC, datetime

import numpy as np
import pytest
from aucrank import (
    MartiRank,
    RankBoost,
    RankingForest,
    RankOpt,
    TreeRank,
)
from aucrank._export.formula import read_formula
from aucrank.tree import DyadicSplit, WeightedERM
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from sklearn.base import clone
from sklearn.tree import DecisionTreeClassifier

from tests.common.formulas import NOT_IN_SQL, OF_NUMBERS, WITH_CATEGORIES, fitted_formula
from tests.common.json_formula import score
from tests.common.loans import loans
from tests.common.pmml import PmmlRegression

duckdb = pytest.importorskip("duckdb")
pd = pytest.importorskip("pandas")


@pytest.mark.parametrize("name", [*WITH_CATEGORIES, *OF_NUMBERS, *NOT_IN_SQL])
def test_the_formula_of_a_model_is_its_score_to_the_last_bit(name):
    model, new = fitted_formula(name)
    assert read_formula(model._model.formula(), name, "a test") is not None
    scores = model.decision_function(new)
    assert len(np.unique(scores)) > 1
    assert_array_equal(model._query("evaluate_formula", new), scores)


@pytest.mark.parametrize("name", [*WITH_CATEGORIES, *OF_NUMBERS])
def test_two_databases_give_the_score_to_the_last_bit(name):
    model, new = fitted_formula(name)
    # A database has no categories, and counts whole numbers in its own way.
    stored = new.astype({c: float for c in new.columns if c != "trade"})
    if "trade" in stored:
        stored["trade"] = stored["trade"].astype(object)
    sql = f"SELECT {model.to_sql()} FROM stored"
    scores = model.decision_function(new)
    with closing(sqlite3.connect(":memory:")) as database:
        stored.to_sql("stored", database, index=False)
        assert_array_equal([score for (score,) in database.execute(sql)], scores)
    with closing(duckdb.connect()) as database:
        # Missing values of pandas are NULL.
        database.execute("CREATE TABLE stored AS SELECT * FROM stored")
        for column in stored:
            if column != "trade":
                database.execute(f"UPDATE stored SET {column} = NULL WHERE isnan({column})")
        found = [score for (score,) in database.execute(sql).fetchall()]
        assert_array_equal(np.array(found, dtype=float), scores)


@pytest.mark.parametrize("name", [*WITH_CATEGORIES, *OF_NUMBERS])
def test_postgres_gives_the_score_to_the_last_bit(name, postgres):
    model, new = fitted_formula(name)
    types = ", ".join(
        f'"{column}" {"text" if column == "trade" else "float8"}' for column in new.columns
    )
    postgres.execute("DROP TABLE IF EXISTS stored")
    postgres.execute(f"CREATE TABLE stored (place integer, {types})")
    rows = [
        [place, *(value if isinstance(value, str) else float(value) for value in row)]
        for place, row in enumerate(new.astype(object).fillna(np.nan).to_numpy())
    ]
    rows = [[None if value != value else value for value in row] for row in rows]
    marks = ", ".join(["%s"] * len(rows[0]))
    postgres.cursor().executemany(f"INSERT INTO stored VALUES ({marks})", rows)
    query = f"SELECT {model.to_sql('postgres')} FROM stored ORDER BY place"
    found = [score for (score,) in postgres.execute(query).fetchall()]
    assert_array_equal(np.array(found, dtype=float), model.decision_function(new))


def rows_for_an_engine(new):
    """Rows as dictionaries, in which what is missing is None."""
    return new.astype(object).where(new.notna(), None).to_dict("records")


#: A card writes points to add up in place of its score.
CARDS = {"card", "card of a bank"}


@pytest.mark.parametrize("name", sorted({*WITH_CATEGORIES, *OF_NUMBERS, *NOT_IN_SQL} - CARDS))
def test_evaluating_the_json_as_the_guide_describes_gives_the_exact_score(name):
    model, new = fitted_formula(name)
    new = new.head(100)
    document = json.loads(model.to_json())
    found = [score(document, row.values()) for row in rows_for_an_engine(new)]
    assert_array_equal(found, model.decision_function(new))


#: In a program masses are whole numbers, which PMML does not round.
TOLERANCE = {"rates of nodes": 1e-8, "votes": 1e-8, "majority": 1e-8, "program of lines": 1e-8}


@pytest.mark.parametrize("name", [*WITH_CATEGORIES, *OF_NUMBERS])
def test_pmml_follows_the_schema_and_gives_the_score(name):
    model, new = fitted_formula(name)
    engine = PmmlRegression(
        model.to_pmml(model_name="m", timestamp=datetime(2026, 1, 2, tzinfo=UTC))
    )
    found = [engine.score(row) for row in rows_for_an_engine(new.head(100))]
    tolerance = TOLERANCE.get(name, 1e-14)
    np.testing.assert_allclose(
        found, model.decision_function(new.head(100)), rtol=tolerance, atol=tolerance
    )


@pytest.mark.parametrize("name", [*WITH_CATEGORIES, *OF_NUMBERS])
def test_an_engine_gives_the_score_of_the_pmml(name, tmp_path):
    jpmml = pytest.importorskip("jpmml_evaluator")
    if shutil.which("java") is None:
        pytest.skip("Java is not installed")
    model, new = fitted_formula(name)
    path = tmp_path / "model.pmml"
    path.write_text(model.to_pmml(), encoding="utf-8")
    engine = jpmml.make_evaluator(str(path)).verify()
    found = [engine.evaluate(row)["score"] for row in rows_for_an_engine(new.head(100))]
    tolerance = TOLERANCE.get(name, 1e-14)
    np.testing.assert_allclose(
        np.array(found, dtype=float),
        model.decision_function(new.head(100)),
        rtol=tolerance,
        atol=tolerance,
    )


def test_hostile_categories_are_preserved_in_pmml():
    levels = ["x", "", " ", "x ", "a\rb", "a\nb", "<&>\"'", "é", "\t"]
    X = pd.DataFrame({"a<b>&": pd.Categorical(levels * 20)})
    y = np.tile([0, 1, 0, 1, 1, 0, 1, 0, 1], 20)
    model = RankBoost(n_rounds=3, level_rates="raw").fit(X, y)
    engine = PmmlRegression(model.to_pmml())
    found = [engine.score(row) for row in X.head(9).to_dict("records")]
    np.testing.assert_allclose(found, model.decision_function(X.head(9)), rtol=1e-14)


@given(st.data())
def test_the_formula_of_a_small_model_is_its_score_to_the_last_bit(data):
    n_rows = data.draw(st.integers(4, 30))
    numbers = st.sampled_from([-2.5, -0.0, 0.0, 0.1, 1.0, 1e9, 1 / 3, np.nan])
    X = np.array([[data.draw(numbers) for _ in range(2)] for _ in range(n_rows)])
    y = np.array([data.draw(st.booleans()) for _ in range(n_rows)])
    y[:2] = [True, False]
    weight = np.array([data.draw(st.sampled_from([1.0, 0.5, 3.0])) for _ in range(n_rows)])
    settings = WITH_CATEGORIES | NOT_IN_SQL
    names = sorted(name for name in settings if "special" not in name and name != "card")
    model = clone(settings[data.draw(st.sampled_from(names))])
    model.fit(X, y, sample_weight=weight)
    new = np.array([[data.draw(numbers) for _ in range(2)] for _ in range(6)])
    assert_array_equal(model._query("evaluate_formula", new), model.decision_function(new))


@pytest.mark.parametrize(
    ("model", "reason"),
    [
        (TreeRank(split=DyadicSplit(level=2)), "each split of a DyadicSplit is a list of cubes"),
        (
            TreeRank(split=WeightedERM(DecisionTreeClassifier(max_depth=1))),
            "its splits are classifiers, which live outside the model",
        ),
        (
            RankBoost(n_rounds=2, weak_ranker=DecisionTreeClassifier(max_depth=1)),
            "its weak rankers are estimators, which live outside the model",
        ),
        (
            RankingForest(n_estimators=3, aggregation="kendall"),
            "a consensus of rankings compares a row with the reference rows of the fit",
        ),
        (
            MartiRank(n_rounds=2, routing="sampled"),
            "a row takes one random way through the program, by a hash of its values",
        ),
    ],
    ids=["cubes", "classifiers", "estimators", "consensus", "random walk"],
)
def test_models_without_a_formula_are_named_in_the_error(model, reason):
    X, y = loans(300, 0)
    model = clone(model).fit(X[["age", "noise"]], y)
    name = type(model).__name__
    with pytest.raises(ValueError, match=rf"^this {name} has no form in SQL: {reason}$"):
        model.to_sql()


def test_a_median_has_a_formula_but_no_export():
    model, _ = fitted_formula("medians")
    with pytest.raises(ValueError, match=r"^SQL has no form for a median of several scores$"):
        model.to_sql()
    with pytest.raises(ValueError, match=r"^PMML has no form for a median of several scores$"):
        model.to_pmml()


def test_names_that_pmml_cannot_hold_are_rejected():
    X, y = pd.DataFrame({"": [1.0, 2.0]}), [0, 1]
    model = RankOpt(radii=(1.0,)).fit(X, y)
    with pytest.raises(ValueError, match=r"^column 0 has an empty name, which PMML cannot write$"):
        model.to_pmml()
    with pytest.raises(TypeError, match=r"^model_name must be a string, got 3$"):
        model.to_pmml(model_name=3)
    with pytest.raises(TypeError, match=r"^timestamp must be a datetime or None, got 'now'$"):
        model.to_pmml(timestamp="now")
