"""Fits to counts of a database: the document equals that of a frame with the same rows."""

import sqlite3
import warnings

import duckdb
import narwhals.stable.v2 as nw
import numpy as np
import pandas as pd
import pytest
from aucrank import (
    MAD2C,
    RIMARC,
    ColumnWarning,
    GradientBoostingRanker,
    LinearRanker,
    Scorecard,
    TreeRank,
)
from aucrank._data.as_frame import as_frame
from aucrank.data import DataChangedError, Dataset, _sql
from aucrank.metrics import RocState, _batches, roc_state
from sklearn.base import clone
from sklearn.frozen import FrozenEstimator

from tests.common.parts import FEATURES, mixed_rows

#: Training rows of a frozen ranker.
EARLIER = mixed_rows(300, seed=9)

MODELS = {
    "rimarc": RIMARC(),
    "rimarc of all kinds": RIMARC(
        shrinkage=2.5,
        missing="value",
        level_rates="raw",
        monotonic_cst={"x": -1},
        special_values={"count": [3.0, 7.0]},
    ),
    "balanced rimarc": RIMARC(class_weight="balanced", categorical_features=["count", "colour"]),
    "weighted rimarc": RIMARC(class_weight={"no": 0.3, "yes": 1.7}),
    "rimarc of counts": RIMARC(class_weight={"no": 2, "yes": 5}),
    # Of all rows, more than can be counted.
    "rimarc of large weights": RIMARC(class_weight={"no": 2**45, "yes": 2**46}),
    "mad2c": MAD2C(special_values=[4.0]),
    "card": Scorecard(estimator=RIMARC()),
    "card of all kinds": Scorecard(
        estimator=RIMARC(missing="value", shrinkage=2.0),
        special_values={"count": [0, 7]},
        class_weight="balanced",
        high_points="negative",
        monotone=["x"],
        min_bin_share=0.02,
    ),
    "weighted card": Scorecard(estimator=RIMARC(), class_weight={"no": 0.3, "yes": 1.7}),
    "card of counts": Scorecard(estimator=RIMARC(), class_weight={"no": 2, "yes": 5}, pdo=300.0),
    "frozen card": Scorecard(
        estimator=FrozenEstimator(
            GradientBoostingRanker.additive(n_rounds=20, random_state=0).fit(
                EARLIER[FEATURES], EARLIER["y"]
            )
        )
    ),
}


def in_duckdb(rows):
    connection = duckdb.connect()
    connection.register("given", rows)
    connection.execute("CREATE TABLE loans AS SELECT * FROM given")
    return connection


def in_sqlite(rows):
    connection = sqlite3.connect(":memory:")
    rows.to_sql("loans", connection, index=False)
    return lambda text: pd.read_sql_query(text, connection)


def in_duckdb_as(library):
    def database_of(rows):
        connection = in_duckdb(rows)
        return lambda text: getattr(connection.sql(text), library)()

    return database_of


DATABASES = {
    "duckdb": lambda rows: in_duckdb(rows).sql,
    "duckdb with pandas": in_duckdb_as("df"),
    "duckdb with polars": in_duckdb_as("pl"),
    "sqlite": in_sqlite,
}


def many_rows(n=12_000):
    """More distinct values than one pass counts, with copies and missing values."""
    rows = mixed_rows(n)
    rows["count"] = rows["count"].astype(object).where(rows["id"] % 13 > 0)
    rows["count"] = rows["count"].astype("Int64")
    return pd.concat([rows, rows[: n // 4]], ignore_index=True)


@pytest.fixture(scope="module", params=DATABASES)
def database(request):
    query = DATABASES[request.param](many_rows())
    # A frame of the library of the answers, which a fit in memory is given.
    return query, nw.from_native(as_frame(query("SELECT * FROM loans")))


@pytest.mark.parametrize("model", MODELS.values(), ids=MODELS)
def test_the_fit_equals_that_to_a_frame(database, model):
    query, frame = database
    expected = clone(model).fit(frame[FEATURES].to_native(), frame["y"].to_native())
    dataset = Dataset.from_sql(query, "loans", target="y", columns=FEATURES)
    found = clone(model).fit(dataset)
    assert found._to_document() == expected._to_document()
    assert found.feature_names_in_.tolist() == FEATURES
    assert dataset.n_rows == 15_000


# Weights

#: Columns of weights: fractions of which some are 0, copies, and sums beyond 2^53.
WEIGHTS = {
    "fractions": lambda rows: rows["w"].round(2),
    "copies": lambda rows: (rows["w"] * 5).astype(int),
    "large": lambda rows: (rows["w"] * 9).astype(int) * 2.0**50,
    "tiny": lambda rows: rows["w"].round(1) * 1e-200,
}
#: Those of the models above that differ in their use of weights.
WEIGHED = ["rimarc", "rimarc of all kinds", "balanced rimarc", "weighted rimarc", "mad2c", "card"]
WEIGHED += ["card of all kinds", "frozen card"]


def weighed_rows(kind):
    """Rows with weights, and categories whose rows all have weight zero."""
    # Several passes count cells of any weights alike.
    rows = many_rows(12_000 if kind == "fractions" else 3000)
    rows = rows.assign(w=lambda rows: WEIGHTS[kind](rows))
    none = rows["w"] == 0
    rows.loc[none & (rows["id"] % 3 == 0), "colour"] = "weightless"
    return rows


@pytest.mark.parametrize("kind", WEIGHTS)
@pytest.mark.parametrize("name", ["duckdb", "sqlite"])
def test_weights_count_as_those_of_a_frame(name, kind):
    query = DATABASES[name](weighed_rows(kind))
    frame = nw.from_native(as_frame(query("SELECT * FROM loans")))
    dataset = Dataset.from_sql(query, "loans", target="y", weight="w", columns=FEATURES)
    X, y, w = frame[FEATURES].to_native(), frame["y"].to_native(), frame["w"].to_native()
    unweighed = clone(MODELS["rimarc"]).fit(X, y)._to_document()
    for model in (MODELS[key] for key in WEIGHED):
        expected = clone(model).fit(X, y, w)._to_document()
        assert expected != unweighed
        assert clone(model).fit(dataset)._to_document() == expected


@pytest.mark.parametrize("kind", WEIGHTS)
def test_the_state_of_weighed_rows_is_that_of_the_rows(kind, monkeypatch):
    monkeypatch.setattr(_batches, "_ROWS_AT_ONCE", 1000)
    rows = weighed_rows(kind)
    query = in_sqlite(rows)
    frame = query("SELECT * FROM loans")
    model = RIMARC().fit(frame[FEATURES], frame["y"])
    found = roc_state(
        model, Dataset.from_sql(query, "loans", target="y", weight="w", columns=FEATURES)
    )
    expected = roc_state(
        model, Dataset.from_batches(frame, target="y", weight="w", columns=FEATURES)
    )
    assert found.to_bytes() == expected.to_bytes()


def test_too_many_pairs_of_value_and_weight_raise_an_error(monkeypatch):
    monkeypatch.setattr(_sql, "MOST_VALUES", 2000)
    dataset = Dataset.from_sql(in_sqlite(many_rows()), "loans", target="y", weight="w")
    said = r"column 'id' of table loans has 12,000 distinct pairs of a value and 'w', and 2,000 at"
    with pytest.raises(ValueError, match=said + r" most are counted: round it or 'w' in a view"):
        RIMARC().fit(dataset)


@pytest.mark.parametrize("bad", [-1.0, None, np.inf])
def test_invalid_weights_are_named_in_the_error(bad):
    rows = mixed_rows()
    rows.loc[7, "w"] = bad
    dataset = Dataset.from_sql(in_duckdb(rows).sql, "loans", target="y", weight="w")
    with pytest.raises(ValueError, match=r"weight column 'w' holds .* in 1 row of table loans"):
        RIMARC().fit(dataset)


def test_weights_that_change_between_queries_are_detected():
    connection = in_duckdb(mixed_rows())
    queries = []

    def query(text):
        if len(queries) == 2:
            connection.execute("UPDATE loans SET w = 3 WHERE id = 8")
        queries.append(text)
        return connection.sql(text)

    dataset = Dataset.from_sql(query, "loans", target="y", weight="w", columns=["x"])
    with pytest.raises(DataChangedError, match="column 'x' of table loans has rows of other wei"):
        RIMARC().fit(dataset)


@pytest.mark.parametrize("model", [RIMARC(), MAD2C()], ids=["rimarc", "mad2c"])
def test_the_named_label_is_positive(model):
    rows = mixed_rows()
    query = in_sqlite(rows)
    dataset = Dataset.from_sql(query, "loans", target="y", positive="no", columns=["x", "colour"])
    found = clone(model).fit(dataset)
    assert found.classes_.tolist() == ["yes", "no"]
    files = Dataset.from_batches(rows, target="y", positive="no", columns=["x", "colour"])
    assert found._to_document() == clone(model).fit(files)._to_document()


def test_a_fit_queries_each_column_twice_and_the_labels_once():
    queries, query = [], in_sqlite(many_rows())
    dataset = Dataset.from_sql(
        lambda text: queries.append(text) or query(text), "loans", target="y", columns=FEATURES
    )
    RIMARC().fit(dataset)
    assert len(queries) == 1 + 2 * len(FEATURES)
    assert queries[:3] == [
        'SELECT "value_0", COUNT(*) AS "n_rows" FROM (SELECT "y" AS "value_0" FROM loans)'
        ' "counted" GROUP BY "value_0"',
        'SELECT COUNT(DISTINCT "x") AS "n_rows" FROM loans',
        'SELECT "value_0", "value_1", COUNT(*) AS "n_rows" FROM (SELECT "x" AS "value_0",'
        ' "y" AS "value_1" FROM loans) "counted" GROUP BY "value_0", "value_1"',
    ]


def test_all_columns_are_those_of_the_table():
    dataset = Dataset.from_sql(in_sqlite(mixed_rows()), "loans", target="y")
    assert dataset.columns == ["id", *FEATURES, "w"]
    assert repr(dataset) == "Dataset(table loans, 7 columns, target='y')"
    with pytest.raises(ValueError, match="table loans has no column 'yy'; did you mean 'y'"):
        Dataset.from_sql(in_sqlite(mixed_rows()), "loans", target="yy")


def test_column_names_are_quoted_and_never_confused_with_aliases():
    """Columns with the names of aliases in queries, and one with a quote."""
    rng = np.random.default_rng(0)
    names = ["value_1", "n_rows", "counted", 'an "age"', "order"]
    rows = pd.DataFrame(rng.integers(0, 30, (400, 5)), columns=names)
    rows["value_0"] = (rows["value_1"] + rng.integers(0, 30, 400) > 30).astype(int)
    expected = RIMARC().fit(rows[names], rows["value_0"])
    for query, dialect in ((in_sqlite(rows), "sqlite"), (in_duckdb(rows).sql, "duckdb")):
        dataset = Dataset.from_sql(query, "loans", target="value_0", dialect=dialect)
        found = RIMARC().fit(dataset)
        assert found._to_document() == expected._to_document()
        assert roc_state(found, dataset).auc() == expected.score(rows[names], rows["value_0"])
    backticks = []
    with pytest.raises(sqlite3.OperationalError):
        Dataset.from_sql(
            lambda text: backticks.append(text) or _raise(sqlite3.OperationalError("no")),
            "loans",
            target="y",
            columns=["a`b"],
            dialect="mysql",
        ).facts(RIMARC())
    assert backticks[0].startswith("SELECT `value_0`, COUNT(*) AS `n_rows` FROM (SELECT `y`")


def _raise(err):
    raise err


def test_a_query_in_parentheses_is_a_table():
    rows = mixed_rows()
    table = "(SELECT x, colour, y FROM loans WHERE count < 5) AS few"
    dataset = Dataset.from_sql(in_sqlite(rows), table, target="y")
    some = rows[rows["count"] < 5]
    expected = RIMARC().fit(some[["x", "colour"]], some["y"])
    assert RIMARC().fit(dataset)._to_document() == expected._to_document()


@pytest.mark.parametrize("database_of", [in_sqlite, lambda rows: in_duckdb(rows).sql])
@pytest.mark.parametrize(
    "model",
    [
        RIMARC(),
        TreeRank(random_state=0),
        GradientBoostingRanker(n_rounds=20, random_state=0),
        Scorecard(),
    ],
    ids=["rimarc", "tree", "boosting", "scorecard"],
)
def test_a_database_gives_the_same_statistics_as_memory(model, database_of):
    rows = mixed_rows(1500).assign(flag=lambda frame: frame["flag"].astype(int))
    # NaN is not NULL to a database.
    rows["x"] = rows["x"].astype(object).where(rows["x"].notna(), None)
    rows["x"] = rows["x"].astype("Float64")
    fitted = clone(model).fit(rows[FEATURES], rows["y"])
    expected = RocState().update(rows["y"] == "yes", fitted.decision_function(rows[FEATURES]))
    dataset = Dataset.from_sql(database_of(rows), "loans", target="y")
    found = roc_state(fitted, dataset)
    assert (found.n_pos, found.n_neg) == (expected.n_pos, expected.n_neg)
    assert found.auc() == expected.auc()
    assert found.interval() == expected.interval()
    assert np.array_equal(found.curve().tpr, expected.curve().tpr)
    against = Dataset.from_sql(database_of(rows), "loans", target="y", positive="no")
    assert roc_state(fitted, against).auc() == pytest.approx(1 - expected.auc(), abs=1e-15)


def test_a_ranker_without_sql_is_named_in_the_error():
    from sklearn.linear_model import LogisticRegression

    rows = mixed_rows()
    dataset = Dataset.from_sql(in_sqlite(rows), "loans", target="y")
    other = LogisticRegression().fit(rows[["small"]], rows["y"])
    with pytest.raises(TypeError, match="LogisticRegression has no to_sql, by which"):
        roc_state(other, dataset)
    unnamed = RIMARC().fit(rows[["small"]].to_numpy(), rows["y"])
    with pytest.raises(ValueError, match="RIMARC was fitted to columns without names"):
        roc_state(unnamed, dataset)


@pytest.mark.parametrize(
    "model",
    [TreeRank(), LinearRanker(), GradientBoostingRanker()],
    ids=lambda model: type(model).__name__,
)
def test_estimators_that_need_rows_are_named_in_the_error(model):
    dataset = Dataset.from_sql(_never, "loans", target="y", columns=["x"])
    name = type(model).__name__
    with pytest.raises(TypeError, match=f"{name} needs whole rows, .* the values of one column"):
        model.fit(dataset)
    assert not hasattr(model, "classes_")


@pytest.mark.parametrize("of", [lambda ranker: ranker, lambda ranker: Scorecard(estimator=ranker)])
def test_cross_fitted_weights_are_rejected_before_any_query(of):
    dataset = Dataset.from_sql(_never, "loans", target="y", columns=["x"])
    with pytest.raises(ValueError, match="weight_folds is 5, but folds are dealt by the content"):
        of(RIMARC(weight_folds=5)).fit(dataset)


def test_a_card_is_rejected_if_its_ranker_needs_rows_or_has_no_column_names():
    dataset = Dataset.from_sql(_never, "loans", target="y", columns=["x"])
    with pytest.raises(TypeError, match=r"GradientBoostingRanker needs whole rows, .* counted"):
        Scorecard().fit(dataset)
    unnamed = RIMARC().fit(mixed_rows()[["small"]].to_numpy(), mixed_rows()["y"])
    with pytest.raises(ValueError, match="the fitted RIMARC has seen columns without names"):
        Scorecard(estimator=FrozenEstimator(unnamed)).fit(dataset)


def test_a_card_scores_all_rows_three_times():
    queries, query = [], in_duckdb(mixed_rows()).sql
    dataset = Dataset.from_sql(
        lambda text: queries.append(text) or query(text), "loans", target="y", columns=["x", "flag"]
    )
    Scorecard(estimator=RIMARC()).fit(dataset)
    assert len(queries) == 1 + 2 * 2 + 3
    # A database cannot compare booleans with one half.
    numbers = '(SELECT "x", CAST("flag" AS INTEGER) AS "flag", "y" FROM loans) "in_numbers")'
    assert all(f"FROM {numbers}" in text for text in queries[-3:])


def test_nan_in_a_database_is_detected_when_rows_are_scored():
    connection = duckdb.connect()
    connection.execute(
        "CREATE TABLE loans AS SELECT CASE WHEN range % 3 = 0 THEN 'NaN'::DOUBLE ELSE range % 7 END"
        " AS x, (range * 7919) % 11 < range % 7 AS y FROM range(300)"
    )
    dataset = Dataset.from_sql(connection.sql, "loans", target="y")
    with pytest.raises(ValueError, match=r"do not add up to those of their bins: .* NaN"):
        Scorecard(estimator=RIMARC(missing="value")).fit(dataset)


def test_a_table_that_changes_before_it_is_scored_is_an_error():
    connection = sqlite3.connect(":memory:")
    mixed_rows().to_sql("loans", connection, index=False)

    def query(text):
        if "THEN" in text:
            connection.execute("DELETE FROM loans WHERE rowid = 7")
        return pd.read_sql_query(text, connection)

    dataset = Dataset.from_sql(query, "loans", target="y", columns=["x", "small"])
    with pytest.raises(DataChangedError, match=r"the score of table loans has .* were counted"):
        Scorecard(estimator=RIMARC()).fit(dataset)


def _never(text):
    raise AssertionError(text)


def test_rows_are_not_read(tmp_path):
    rows = mixed_rows()
    dataset = Dataset.from_sql(in_sqlite(rows), "loans", target="y", columns=FEATURES)
    model = RIMARC().fit(dataset)
    for read in (
        lambda: next(dataset.batches()),
        lambda: next(model.decision_function_batches(dataset)),
        lambda: model.write_scores(dataset, tmp_path / "scores.csv"),
        lambda: dataset.scores(model),
    ):
        with pytest.raises(TypeError, match="its rows stay in the database: have it compute"):
            read()
    assert not list(tmp_path.iterdir())


def table_of(**columns):
    return in_sqlite(pd.DataFrame(columns))


def fit_to(query, **kwargs):
    return RIMARC(**kwargs).fit(Dataset.from_sql(query, "loans", target="y"))


def test_labels_that_are_missing_are_counted():
    query = table_of(x=[1.0, 2.0, 3.0, 4.0], y=["a", None, "b", None])
    with pytest.raises(ValueError, match="target column 'y' is missing in 2 rows of table loans"):
        fit_to(query)


def test_three_labels_are_rejected_before_columns_are_queried():
    queries, query = [], table_of(x=[1.0, 2.0, 3.0], y=[0, 1, 2])
    dataset = Dataset.from_sql(
        lambda text: queries.append(text) or query(text), "loans", target="y", columns=["x"]
    )
    with pytest.raises(ValueError, match="The type of the target is multiclass"):
        RIMARC().fit(dataset)
    assert len(queries) == 1


def test_one_label_is_rejected():
    with pytest.raises(ValueError, match="class"):
        fit_to(table_of(x=[1.0, 2.0], y=[1, 1]))


def test_an_empty_table_is_rejected():
    rows = pd.DataFrame({"x": [1.0], "y": [0]})
    with pytest.raises(ValueError, match=r"0 sample\(s\) in table loans .* required by RIMARC"):
        fit_to(in_sqlite(rows[:0]))


def test_infinity_is_named_with_its_rows():
    query = table_of(x=[1.0, np.inf, np.inf, 4.0], y=[0, 1, 1, 0])
    with pytest.raises(ValueError, match="column 'x' is inf in 2 rows of table loans; X must not"):
        fit_to(query)


def test_too_many_values_are_counted_before_they_are_queried():
    queries, connection = [], duckdb.connect()
    dataset = Dataset.from_sql(
        lambda text: queries.append(text) or connection.sql(text),
        "(SELECT range AS k, range % 2 AS y FROM range(1_000_001)) AS t",
        target="y",
    )
    with pytest.raises(ValueError, match=r"column 'k' of table .* has 1,000,001 distinct values"):
        RIMARC().fit(dataset)
    assert "COUNT(DISTINCT" in queries[-1]


@pytest.mark.parametrize("change", ["DELETE FROM loans WHERE rowid = 1", "UPDATE loans SET y = 1"])
def test_a_table_that_changes_between_queries_is_an_error(change):
    connection = sqlite3.connect(":memory:")
    rng = np.random.default_rng(0)
    rows = pd.DataFrame({"a": rng.random(50), "b": rng.random(50), "y": np.arange(50) % 2})
    rows.to_sql("loans", connection, index=False)

    def query(text):
        if 'COUNT(DISTINCT "b")' in text:
            connection.execute(change)
        return pd.read_sql_query(text, connection)

    with pytest.raises(DataChangedError, match=r"column 'b' of table loans has .* were counted"):
        fit_to(query)


def test_a_table_that_changes_between_fits_is_an_error():
    connection = sqlite3.connect(":memory:")
    rows = mixed_rows()
    rows.to_sql("loans", connection, index=False)
    query = lambda text: pd.read_sql_query(text, connection)  # noqa: E731
    dataset = Dataset.from_sql(query, "loans", target="y", columns=["x"])
    model = RIMARC().fit(dataset)
    connection.execute("DELETE FROM loans WHERE rowid = 7")
    for again in (lambda: RIMARC().fit(dataset), lambda: roc_state(model, dataset)):
        with pytest.raises(DataChangedError, match="table loans gave 499 rows, but 500 before"):
            again()


def test_column_warnings_count_rows_and_not_distinct_values():
    rng = np.random.default_rng(0)
    rows = pd.DataFrame(
        {
            "town": [f"town {place}" for place in rng.integers(0, 40, 600)],
            "person": [f"person {row}" for row in range(600)],
            "y": rng.integers(0, 2, 600),
        }
    )
    query = in_sqlite(rows)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        RIMARC().fit(Dataset.from_sql(query, "loans", target="y", columns=["town"]))
    with pytest.warns(ColumnWarning, match="'person' looks like an identifier"):
        RIMARC().fit(Dataset.from_sql(query, "loans", target="y"))


@pytest.mark.parametrize(
    ("query", "table", "kwargs", "message"),
    [
        ("SELECT 1", "loans", {}, "query must be a function of the text of a query .* got a str"),
        (_never, "", {}, "table must be what stands after FROM, got ''"),
        (_never, None, {}, "table must be what stands after FROM, got None"),
        (_never, "loans", {"dialect": "cobol"}, "dialect .*cobol"),
        (lambda _: 3, "loans", {}, "query must return a data frame .* got a int"),
        (_never, "loans", {"columns": ["x", "y"]}, "columns holds 'y', which is the target"),
        (_never, "loans", {"columns": "xz"}, "columns must be a list of names, got 'xz'"),
    ],
)
def test_an_invalid_table_is_rejected(query, table, kwargs, message):
    with pytest.raises((TypeError, ValueError), match=message):
        Dataset.from_sql(query, table, target="y", **kwargs)


def test_a_query_result_of_another_shape_is_rejected():
    answer = pd.DataFrame({"a": [1]})
    dataset = Dataset.from_sql(lambda _: answer, "loans", target="y", columns=["x"])
    with pytest.raises(ValueError, match="query must return the 2 requested columns, got 1"):
        RIMARC().fit(dataset)


def test_an_error_of_the_database_shows_the_query():
    dataset = Dataset.from_sql(in_sqlite(mixed_rows()), "loans", target="y", columns=["colour"])
    other = Dataset.from_sql(in_sqlite(mixed_rows()), "nowhere", target="y", columns=["colour"])
    RIMARC().fit(dataset)
    with pytest.raises(pd.errors.DatabaseError, match="no such table: nowhere") as err:
        RIMARC().fit(other)
    assert err.value.__notes__[0].startswith('query: SELECT "value_0", COUNT(*)')


def test_an_empty_name_is_rejected():
    dataset = Dataset.from_sql(_never, "loans", target="", columns=["x"])
    with pytest.raises(ValueError, match="a column of table loans has an empty name"):
        RIMARC().fit(dataset)
