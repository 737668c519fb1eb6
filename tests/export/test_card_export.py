"""A scorecard in SQL and JSON: each is read back and must give the points of the card."""

import json
import sqlite3

import duckdb
import numpy as np
import pandas as pd
import pytest
from aucrank import Scorecard
from sklearn.exceptions import NotFittedError

from tests.common.cards import applicants, fitted, parts_of_json, plain
from tests.common.pmml import PmmlScorecard, check_pmml


def test_sqlite_gives_the_same_points(card_and_rows):
    card, X = card_and_rows
    with sqlite3.connect(":memory:") as database:
        # Values as they are: old pandas takes a column of numbers and None for text.
        plain(X).to_sql("applicants", database, index=False, dtype="BLOB")
        found = database.execute(f"SELECT {card.to_sql()} FROM applicants ORDER BY rowid")
        points = [points for (points,) in found]
    assert points == card.points(X).tolist()
    assert all(type(value) is int for value in points)
    assert len(set(points)) > 10


def test_duckdb_gives_the_same_points(card_and_rows):
    card, X = card_and_rows
    rows = X if isinstance(X, pd.DataFrame) else plain(X).astype(float)
    rows = rows.assign(row_number=np.arange(len(rows)))
    for name in rows.select_dtypes("category"):
        kinds = {type(level) for level in rows[name].cat.categories.tolist()}
        kind = {bool: "boolean", int: "Int64", float: "float", str: "object"}[kinds.pop()]
        rows[name] = rows[name].astype("object" if kind == "boolean" else kind).astype(kind)
    with duckdb.connect() as database:
        database.register("applicants", rows)
        query = f"SELECT {card.to_sql()} FROM applicants ORDER BY row_number"
        points = [points for (points,) in database.execute(query).fetchall()]
    assert points == card.points(X).tolist()


def test_a_database_has_the_same_cuts_and_special_values_as_the_card():
    values = np.array(
        [0.1 + 0.2, 1 / 3, 2 / 3, 1e-300, 123456789.123456789, 5e20, 1e15 + 0.5, -7.25]
    )
    X = np.sort(
        np.concatenate([values, np.nextafter(values, np.inf), np.nextafter(values, -np.inf)])
    )
    y = np.arange(len(X)) % 2
    # Each value has five rows, fewer than a line of a card has by default.
    card = Scorecard(special_values=values.tolist(), pdo=500, min_bin_share=0).fit(
        np.repeat(X, 5)[:, None], np.repeat(y, 5)
    )
    sql = card.to_sql()
    # A decimal literal of 17 digits is not the same double in every database; this one is.
    assert '"x0" = 0.30000000000000004e0 THEN' in sql
    assert '"x0" = -7.25 THEN' in sql
    bins = json.loads(card.to_json())["features"][0]["bins"]
    cuts = np.array([bin_["low"] for bin_ in bins if bin_.get("low") is not None])
    assert len(cuts) > 1
    X = np.sort(np.concatenate([X, cuts, np.nextafter(cuts, -np.inf)]))
    for connect in (sqlite3.connect, duckdb.connect):
        database = connect(":memory:")
        database.execute("CREATE TABLE numbers (x0 DOUBLE)")
        database.executemany("INSERT INTO numbers VALUES (?)", [(value,) for value in X.tolist()])
        query = f"SELECT x0, {sql} FROM numbers ORDER BY x0"
        found = database.execute(query).fetchall()
        database.close()
        assert [value for value, _ in found] == X.tolist()
        assert [points for _, points in found] == card.points(X[:, None]).tolist()
    assert len(set(card.points(X[:, None]).tolist())) > 2


def test_dialects_quote_in_their_own_way():
    card, _ = fitted("applicants")
    assert '"the ""age"""' in card.to_sql()
    assert '`the "age"`' in card.to_sql("mysql")
    assert "[owner] IN (1)" in card.to_sql("tsql")
    assert "'c\\\\'" in card.to_sql("bigquery")
    with pytest.raises(ValueError, match="dialect must be one of 'ansi', 'sqlite'"):
        card.to_sql("prolog")


@pytest.mark.filterwarnings("ignore:No split lowers the loss")
def test_a_card_without_features_is_exported_as_a_number():
    card = Scorecard().fit(np.ones((10, 2)), np.arange(10) % 2)
    assert card.to_sql() == str(card.points([[1.0, 1.0]])[0])
    assert json.loads(card.to_json())["features"] == []
    check_pmml(card.to_pmml())
    row = {"x0": 1.0, "x1": None}
    assert PmmlScorecard(card.to_pmml()).score(row)["points"] == card.points([[1.0, 1.0]])[0]


# JSON ------------------------------------------------------------------------------------------


def no_constant(name):
    raise AssertionError(f"{name} is not JSON")


def test_the_json_document_alone_gives_the_same_points(card_and_rows):
    card, X = card_and_rows
    document = json.loads(card.to_json(), parse_constant=no_constant)
    assert (document["format"], document["version"]) == ("aucrank-scorecard", 1)
    parts = [parts_of_json(document, row) for row in plain(X).itertuples(index=False, name=None)]
    assert [document["initial_points"] + sum(p) for p in parts] == card.points(X).tolist()


def test_the_scale_of_the_json_document_gives_the_probabilities(card_and_rows):
    card, X = card_and_rows
    document = json.loads(card.to_json(indent=None))
    scale = document["scale"]
    powers = (card.points(X) - scale["base_points"]) / scale["pdo"]
    odds = scale["base_odds"] * 2.0**powers
    high = document["classes"].index(scale["high_class"])
    np.testing.assert_allclose(card.predict_proba(X)[:, high], odds / (1 + odds), rtol=1e-9)
    assert document["classes"] == card.classes_.tolist()
    assert (scale["base_points"], scale["pdo"]) == (card.base_points, card.pdo)


def test_the_scale_holds_when_a_parameter_was_set_after_the_fit():
    card, X = fitted("array")
    card.set_params(base_points=0.0)
    scale = json.loads(card.to_json())["scale"]
    odds = scale["base_odds"] * 2.0 ** ((card.points(X) - scale["base_points"]) / scale["pdo"])
    np.testing.assert_allclose(card.predict_proba(X)[:, 1], odds / (1 + odds), rtol=1e-9)


def test_json_counts_the_training_rows():
    X, y = applicants(1500, 0)
    card = Scorecard(special_values={"debt": [-9, -1]}).fit(X, y)
    for feature in json.loads(card.to_json())["features"]:
        assert sum(bin_["size"] for bin_ in feature["bins"]) == 1500
        assert sum(bin_["n_pos"] for bin_ in feature["bins"]) == y.sum()
        if feature["name"] == "debt":
            bins = {bin_["special"]: bin_ for bin_ in feature["bins"] if "special" in bin_}
            assert bins[-9.0]["size"] == (X["debt"] == -9).sum()
            assert bins[-9.0]["n_pos"] == y[X["debt"] == -9].sum()


@pytest.mark.parametrize("method", ["to_sql", "to_pmml", "to_json"])
def test_exporting_before_fit_raises_an_error(method):
    with pytest.raises(NotFittedError):
        getattr(Scorecard(), method)()
