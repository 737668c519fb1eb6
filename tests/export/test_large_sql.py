"""SQL of models that are too large for one expression: the score to the last bit, by databases."""

import sqlite3
from contextlib import closing

import numpy as np
import pytest
from aucrank import GradientBoostingRanker, RankingForest, TreeRank
from aucrank._export import formula, sql_layers
from numpy.testing import assert_array_equal

from tests.common.formulas import OF_NUMBERS, WITH_CATEGORIES, fitted_formula
from tests.common.loans import loans

pd = pytest.importorskip("pandas")

LARGE = {
    "booster": GradientBoostingRanker(random_state=0),
    "forest": RankingForest(n_estimators=60, max_depth=8, min_samples_leaf=1, random_state=0),
    "deep tree": TreeRank(max_depth=40, min_samples_leaf=1, pruning=None),
}


@pytest.fixture(scope="module", params=LARGE)
def large(request):
    X, y = loans(2500, 0)
    new, _ = loans(300, 1)
    new["trade"] = new["trade"].astype(object).where(np.arange(300) % 40 > 0, "never seen")
    new = new.assign(age=new["age"].where(np.arange(300) % 30 > 0))
    return LARGE[request.param].fit(X, y), new


@pytest.fixture
def small_steps(monkeypatch):
    """Write small models in steps, too, and their trees in parts."""
    monkeypatch.setattr(sql_layers, "_MOST_READABLE", 1)
    monkeypatch.setattr(sql_layers, "_NODES_OF_STEP", 30)
    monkeypatch.setattr(sql_layers, "_DEEPEST", 2)


@pytest.fixture
def walks(monkeypatch, small_steps):
    """Walk through small sums of trees, too."""
    monkeypatch.setattr(sql_layers, "_MOST_STEPPED", 1)


def plain_rows(frame):
    """Return rows of Python's numbers and strings, None for what is missing."""
    return [
        tuple(None if pd.isna(v) else v if isinstance(v, str) else float(v) for v in row)
        for row in frame.astype(object).to_numpy()
    ]


def columns(frame, number):
    return ", ".join(f'"{c}" {"text" if c == "trade" else number}' for c in frame)


def by_sqlite(model, new):
    with closing(sqlite3.connect(":memory:")) as database:
        database.execute(f"CREATE TABLE stored ({columns(new, 'real')})")
        marks = ", ".join("?" * new.shape[1])
        database.executemany(f"INSERT INTO stored VALUES ({marks})", plain_rows(new))
        scores = database.execute(f"SELECT {model.to_sql('sqlite')} FROM stored ORDER BY rowid")
        return [score for (score,) in scores]


def by_duckdb(model, new):
    duckdb = pytest.importorskip("duckdb")
    with closing(duckdb.connect()) as database:
        database.execute(f"CREATE TABLE stored (place integer, {columns(new, 'double')})")
        marks = ", ".join("?" * (new.shape[1] + 1))
        rows = [(place, *row) for place, row in enumerate(plain_rows(new))]
        database.executemany(f"INSERT INTO stored VALUES ({marks})", rows)
        query = f"SELECT place, {model.to_sql('duckdb')} FROM stored ORDER BY place"
        return [score for _, score in database.execute(query).fetchall()]


def by_postgres(model, new, postgres):
    postgres.execute("DROP TABLE IF EXISTS stored")
    postgres.execute(f"CREATE TABLE stored (place integer, {columns(new, 'float8')})")
    marks = ", ".join(["%s"] * (new.shape[1] + 1))
    rows = [(place, *row) for place, row in enumerate(plain_rows(new))]
    postgres.cursor().executemany(f"INSERT INTO stored VALUES ({marks})", rows)
    query = f"SELECT {model.to_sql('postgres')} FROM stored ORDER BY place"
    return [score for (score,) in postgres.execute(query).fetchall()]


def test_sqlite_gives_the_score_of_a_large_model(large):
    model, new = large
    assert model.to_sql().startswith("(WITH codes AS (SELECT ")
    scores = model.decision_function(new)
    assert len(np.unique(scores)) > 50
    assert_array_equal(by_sqlite(model, new), scores)


def test_duckdb_gives_the_score_of_a_large_model(large):
    model, new = large
    assert_array_equal(by_duckdb(model, new), model.decision_function(new))


def test_postgres_gives_the_score_of_a_large_model(large, postgres):
    model, new = large
    assert_array_equal(by_postgres(model, new, postgres), model.decision_function(new))


@pytest.mark.parametrize("name", [*WITH_CATEGORIES, *OF_NUMBERS])
@pytest.mark.usefixtures("small_steps")
def test_steps_give_the_score_of_every_family(name):
    model, new = fitted_formula(name)
    scores = model.decision_function(new)
    assert_array_equal(np.array(by_sqlite(model, new), dtype=float), scores)
    assert_array_equal(np.array(by_duckdb(model, new), dtype=float), scores)


@pytest.mark.parametrize("name", ["gradient boosting", "forest of small trees", "stumps"])
@pytest.mark.usefixtures("small_steps")
def test_steps_give_the_score_in_postgres(name, postgres):
    model, new = fitted_formula(name)
    assert_array_equal(by_postgres(model, new, postgres), model.decision_function(new))


@pytest.mark.parametrize("name", [*WITH_CATEGORIES, *OF_NUMBERS])
@pytest.mark.usefixtures("walks")
def test_walks_give_the_score_of_every_family(name):
    model, new = fitted_formula(name)
    assert_array_equal(np.array(by_duckdb(model, new), dtype=float), model.decision_function(new))


@pytest.mark.parametrize("name", ["gradient boosting", "gradient boosting of pairs", "forest"])
@pytest.mark.usefixtures("walks")
def test_walks_give_the_score_in_postgres(name, postgres):
    model, new = fitted_formula(name)
    assert_array_equal(by_postgres(model, new, postgres), model.decision_function(new))


@pytest.mark.usefixtures("walks")
def test_a_walk_has_the_scores_of_missing_and_unseen_values_and_of_thresholds(postgres):
    X, y = loans(2500, 0)
    model = GradientBoostingRanker(n_rounds=60, random_state=0).fit(X, y)
    assert "list_transform(" in model.to_sql("duckdb")
    assert "WITH RECURSIVE" in model.to_sql("postgres")
    # Rows of the fit lie on the thresholds more often than new ones.
    rows = X.iloc[:600].astype({"trade": object}).reset_index(drop=True)
    for place, column in enumerate(rows):
        rows.loc[rows.index % 11 == place, column] = None
    rows.loc[rows.index % 17 == 0, "trade"] = "never seen"
    scores = model.decision_function(rows)
    assert len(np.unique(scores)) > 100
    assert_array_equal(by_duckdb(model, rows), scores)
    assert_array_equal(by_postgres(model, rows, postgres), scores)


@pytest.mark.usefixtures("walks")
def test_columns_may_have_the_names_of_a_walk(postgres):
    X, y = loans(1200, 0)
    names = {"age": "w", "income": "c", "months": "nodes", "trade": "trade", "noise": "codes"}
    X, new = (frame.rename(columns=names) for frame in (X, loans(200, 1)[0]))
    model = GradientBoostingRanker(n_rounds=20, random_state=0).fit(X, y)
    scores = model.decision_function(new)
    assert_array_equal(by_duckdb(model, new), scores)
    assert_array_equal(by_postgres(model, new, postgres), scores)


@pytest.mark.usefixtures("walks")
def test_a_sum_whose_order_matters_is_not_walked():
    first = formula.Branch(2.0, formula.Test(0, formula.Below(1.0), False), 1, 2)
    tree = formula.Tree((first, formula.Leaf(1.0, 0.1), formula.Leaf(1.0, 2.0**60)))
    schema = TreeRank().fit(np.arange(40.0).reshape(-1, 1), np.arange(40) > 20)._schema
    written = sql_layers.LayeredSqlWriter(schema, "duckdb").query(formula.Sum((tree,) * 40))
    assert "list_transform(" not in written
    halves = formula.Tree((first, formula.Leaf(1.0, 0.5), formula.Leaf(1.0, 2.0**46)))
    written = sql_layers.LayeredSqlWriter(schema, "duckdb").query(formula.Sum((halves,) * 40))
    assert "list_transform(" in written


@pytest.mark.usefixtures("small_steps")
def test_columns_may_have_the_names_of_the_steps():
    X, y = loans(1200, 0)
    names = {"age": "n0", "income": "N1", "months": "codes", "trade": "trade", "noise": "s0"}
    X, new = (frame.rename(columns=names) for frame in (X, loans(200, 1)[0]))
    model = GradientBoostingRanker(n_rounds=20, random_state=0).fit(X, y)
    scores = model.decision_function(new)
    assert_array_equal(by_sqlite(model, new), scores)
    assert_array_equal(by_duckdb(model, new), scores)


@pytest.mark.usefixtures("small_steps")
def test_a_number_next_to_a_threshold_has_the_code_of_its_side():
    X = np.arange(400.0).reshape(-1, 1)
    model = TreeRank(max_depth=12, min_samples_leaf=1, pruning=None).fit(X, X[:, 0] % 7 > 3)
    cuts = np.arange(0.5, 400, 3)
    rows = np.concatenate([cuts, np.nextafter(cuts, -np.inf), [-1e308, 1e308, -0.0, np.nan]])
    assert model.to_sql().startswith("(WITH")
    found = by_sqlite(model, pd.DataFrame({"x0": rows}))
    assert_array_equal(found, model.decision_function(rows.reshape(-1, 1)))


def test_untested_dialects_keep_one_expression(large):
    model, _ = large
    for dialect in ("mysql", "spark"):
        assert not model.to_sql(dialect).startswith("(WITH")
