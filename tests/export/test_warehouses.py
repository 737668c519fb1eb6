"""SQL for warehouses scores rows like the model: run in DuckDB, parsed by its grammar."""

import duckdb
import jinja2
import numpy as np
import pytest
import sqlglot
from aucrank import RIMARC, GradientBoostingRanker, LinearRanker, TreeRank
from numpy.testing import assert_array_equal
from sqlglot import exp

from tests.common.loans import loans

MODELS = [
    TreeRank(random_state=0),
    LinearRanker(),
    RIMARC(),
    GradientBoostingRanker(n_rounds=10, random_state=0),
]
#: The dialect that is written, and the grammar that reads it.
WAREHOUSES = [("snowflake", "snowflake"), ("spark", "databricks")]


@pytest.fixture(scope="module")
def rows():
    """Applicants with a category, gaps, and a name and a category that look like templates."""
    X, _ = loans(400)
    trade = X["trade"].astype(str).where(X["trade"].notna(), None)
    trade = trade.replace("cook", "{{ cook }} {# it's #}")
    return X.assign(**{"trade": trade, "{% if %} debt": X["income"] / 7})


@pytest.fixture(scope="module")
def labels(rows):
    risk = rows["age"] / 20 - 2 + (rows["trade"] == "clerk")
    return np.random.default_rng(0).random(len(rows)) < 1 / (1 + np.exp(-risk))


@pytest.mark.parametrize("model", MODELS, ids=repr)
def test_a_model_of_dbt_renders_to_the_score(model, rows, labels):
    model.fit(rows, labels)
    files = {
        "macro.sql": "{% macro score() %}{% raw %}\n"
        + model.to_sql("duckdb")
        + "\n{% endraw %}{% endmacro %}",
        "score.sql": "{{ config(materialized='view') }}\n"
        "select id, {{ score() }} as score from {{ ref('applicants') }} order by id",
    }
    templates = jinja2.Environment(loader=jinja2.DictLoader(files))
    templates.globals.update(config=lambda **options: "", ref=lambda name: f'"{name}"')
    macros = templates.get_template("macro.sql").module
    sql = templates.get_template("score.sql").render(score=macros.score)
    with duckdb.connect() as database:
        database.register("applicants", rows.assign(id=range(len(rows))))
        found = database.sql(sql).df()
    assert_array_equal(found["score"], model.decision_function(rows))


@pytest.mark.parametrize("model", MODELS, ids=repr)
@pytest.mark.parametrize(("dialect", "grammar"), WAREHOUSES)
def test_a_view_of_a_warehouse_has_the_score(model, dialect, grammar, rows, labels):
    model.fit(rows, labels)
    select = f"select id, {model.to_sql(dialect)} as score from applicants"
    (view,) = sqlglot.parse(f"create or replace view scored as {select}", read=grammar)
    assert isinstance(view, exp.Create)
    assert view.args["kind"] == "VIEW"
    with duckdb.connect() as database:
        database.register("applicants", rows.assign(id=range(len(rows))))
        (translated,) = sqlglot.transpile(select, read=grammar, write="duckdb")
        found = database.sql(translated).order("id").df()
    assert_array_equal(found["score"], model.decision_function(rows))


@pytest.mark.parametrize("model", MODELS, ids=repr)
def test_a_function_in_python_has_the_score(model, rows, labels):
    X = rows[["age", "income", "trade"]]
    model.fit(X, labels)
    names = {}
    handler = "\n\ndef score_of(age, income, trade):\n    return score([age, income, trade])\n"
    source = model.to_code("python") + handler
    statement = (
        "create or replace function applicant_score(age float, income float, trade varchar)"
        " returns float language python runtime_version = '3.11' handler = 'score_of'"
        f" as $$\n{source}$$"
    )
    assert "$$" not in source
    (function,) = sqlglot.parse(statement, read="snowflake")
    assert isinstance(function, exp.Create)
    assert function.args["kind"] == "FUNCTION"
    exec(source, names)
    found = [names["score_of"](*row) for row in X.itertuples(index=False)]
    assert_array_equal(found, model.decision_function(X))
