"""From a messy file to three engines, by the command line: fit, report, export, and the scores."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from tests.common.command_line import loans, ok, run
from tests.common.postgres import postgres_server

duckdb = pytest.importorskip("duckdb")
onnxruntime = pytest.importorskip("onnxruntime")

#: Options for the messy file, besides its detected form.
READING = ("--missing", "-1")


def messy(n, seed):
    """A file of a bank: semicolons, decimal commas, marks of missing values, a date, a number."""
    frame = loans(n, seed)
    income = frame["income"].map("{:.3f}".format).str.replace(".", ",")
    since = pd.Timestamp("2015-01-01") + pd.to_timedelta(np.arange(n) * 37 % 3000, unit="D")
    return pd.DataFrame(
        {
            "loan id": [f"L{seed}-{k}" for k in range(n)],
            "Größe": frame["age"].where(np.arange(n) % 9 > 0, -1),
            "income": income.replace("nan", "?"),
            "purpose": frame["purpose"].fillna("?"),
            "since": since.strftime("%d.%m.%Y"),
            "bad": frame["bad"].map({0: "-", 1: "+"}),
        }
    )


def clean(frame):
    """The file as a person would read it."""
    number = frame["income"].where(frame["income"] != "?").str.replace(",", ".").astype(float)
    return pd.DataFrame(
        {
            "Größe": frame["Größe"].where(frame["Größe"] != -1).astype(float),
            "income": number,
            "purpose": frame["purpose"].where(frame["purpose"] != "?"),
            "since": (pd.to_datetime(frame["since"], format="%d.%m.%Y") - pd.Timestamp(0)).dt.days
            * 1.0,
        }
    )


def scores_of_database(execute, types, rows, sql):
    """Return the scores that a database gives to rows; missing values are NULL."""
    columns = ", ".join(f'"{name}" {types[name]}' for name in rows)
    execute(f"CREATE TABLE rows_of_a_bank (place INTEGER, {columns})", None)
    marks = ", ".join(["?"] * (rows.shape[1] + 1))
    values = rows.astype(object).where(rows.notna(), None)
    execute(
        f"INSERT INTO rows_of_a_bank VALUES ({marks})", values.reset_index().to_numpy().tolist()
    )
    found = execute(f"SELECT {sql} FROM rows_of_a_bank ORDER BY place", None)
    return np.array([float(score) for (score,) in found])


@pytest.mark.parametrize("model", ["GradientBoostingRanker", "TreeRank", "LinearRanker"])
def test_a_model_of_a_messy_file_works_in_production(model, capsys):
    for name, seed in (("train.csv", 0), ("new.csv", 1)):
        messy(600, seed).to_csv(name, index=False, sep=";", encoding="cp1252")

    status, out, err = run(
        capsys,
        "fit",
        "train.csv",
        "--target",
        "bad",
        "--model",
        model,
        "-o",
        "model.json",
        "-v",
        *READING,
    )
    assert status == 0, err
    assert "positive is bad = +" in out
    notes = [line.removeprefix("aucrank: note: ") for line in err.splitlines()]
    assert notes == [
        "train.csv is not UTF-8: it is read as cp1252 (--encoding says which it is)",
        "semicolons separate the columns of train.csv (see --sep)",
        "numbers of train.csv have a decimal comma (see --decimal)",
        "'?' counts as missing",
        "1 column of dates, counted in days since 1970: since",
        "loan id names the rows and is left out (see --keep)",
    ]

    status, _, err = run(
        capsys, "report", "model.json", "new.csv", "--target", "bad", "-o", "page.html", *READING
    )
    assert status == 0, err
    with open("page.html", encoding="utf-8") as page:
        assert "<title>" in page.read()

    run(capsys, "score", "model.json", "new.csv", "--id", "loan id", "-o", "scores.csv", *READING)
    # As text first: pandas before 3.1 does not read numbers exactly by default.
    scored = pd.read_csv("scores.csv", dtype=str).astype({"score": float})
    rows = clean(messy(600, 1))
    assert_array_equal(scored["loan id"], messy(600, 1)["loan id"])
    assert scored["score"].nunique() > 2

    with duckdb.connect() as database:
        sql = ok(capsys, "export", "model.json", "--to", "sql", "--dialect", "duckdb")

        def in_duckdb(statement, values):
            if values is None:
                return database.execute(statement).fetchall()
            return database.executemany(statement, values)

        types = dict.fromkeys(rows, "DOUBLE") | {"purpose": "VARCHAR"}
        assert_array_equal(scores_of_database(in_duckdb, types, rows, sql), scored["score"])

    run(capsys, "export", "model.json", "--to", "onnx", "-o", "model.onnx")
    session = onnxruntime.InferenceSession("model.onnx", providers=["CPUExecutionProvider"])
    feed = {
        name: rows[[name]].fillna("").to_numpy(dtype=object)
        if name == "purpose"
        else rows[[name]].to_numpy()
        for name in rows
    }
    assert_allclose(session.run(["score"], feed)[0], scored["score"], rtol=1e-12)

    with postgres_server() as server:
        sql = ok(capsys, "export", "model.json", "--to", "sql", "--dialect", "postgres")

        def in_postgres(statement, values):
            if values is not None:
                return server.cursor().executemany(statement.replace("?", "%s"), values)
            done = server.execute(statement)
            return done.fetchall() if done.description else None

        types = dict.fromkeys(rows, "FLOAT8") | {"purpose": "TEXT"}
        assert_array_equal(scores_of_database(in_postgres, types, rows, sql), scored["score"])
