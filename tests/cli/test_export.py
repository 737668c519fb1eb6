"""`aucrank export`: every form, from a saved file to its reader."""

import csv
import io
import json
import sqlite3
from contextlib import closing

import numpy as np
import pandas as pd
import pytest
from aucrank import load
from aucrank._utils.dialects import DIALECT_NAMES
from aucrank._utils.sql_spelling import DIALECTS
from aucrank.cli import _options, main

from tests.common.command_line import TREE, loans, ok, run


@pytest.fixture
def tree(capsys):
    """A tree of loans, as a file."""
    return _fitted(capsys, *TREE, "--param", "max_depth=3")


@pytest.fixture
def card(capsys):
    return _fitted(capsys, "--model", "Scorecard")


def _fitted(capsys, *args):
    loans().to_csv("loans.csv", index=False)
    ok(capsys, "fit", "loans.csv", "--target", "bad", *args, "--output", "model.json")
    return load("model.json")


def test_the_forms_are_those_of_the_writers():
    from aucrank.cli import export

    assert tuple(export._WRITERS) == _options.EXPORTS
    assert tuple(DIALECTS) == DIALECT_NAMES


def test_sql_goes_to_a_database(tree, capsys):
    sql = ok(capsys, "export", "model.json", "--to", "sql", "--dialect", "sqlite")
    assert sql == f"{tree.to_sql('sqlite')}\n"
    rows = loans(100, 1)
    with closing(sqlite3.connect(":memory:")) as database:
        rows.to_sql("loans", database, index=False)
        found = [score for (score,) in database.execute(f"SELECT {sql} FROM loans")]
    assert found == tree.decision_function(rows.drop(columns="bad")).tolist()


def test_sql_is_written_unchanged_even_with_special_characters(capsysbinary, monkeypatch):
    """A tab in a name must not become two characters in a pipe."""
    frame = pd.DataFrame({"in\tcome": [1.0, 2.0, 3.0, 4.0] * 20, "bad": [0, 0, 1, 1] * 20})
    frame.to_parquet("odd.parquet")
    fit = ("fit", "odd.parquet", "--target", "bad", *TREE, "--output", "odd.json")
    assert main([*fit]) == 0
    capsysbinary.readouterr()
    assert main(["export", "odd.json", "--to", "sql"]) == 0
    assert b'"in\tcome"' in capsysbinary.readouterr().out


def test_onnx_goes_to_a_file(tree, capsys):
    onnxruntime = pytest.importorskip("onnxruntime")
    out = ok(capsys, "export", "model.json", "--to", "onnx", "-o", "model.onnx")
    assert out.startswith("wrote TreeRank as onnx to model.onnx (")
    session = onnxruntime.InferenceSession("model.onnx", providers=["CPUExecutionProvider"])
    rows = loans(100, 1).drop(columns="bad")
    feed = {
        name: rows[[name]].fillna("").to_numpy(dtype=object)
        if name == "purpose"
        else rows[[name]].to_numpy(dtype=float)
        for name in rows
    }
    (found,) = session.run(["score"], feed)
    np.testing.assert_array_equal(found, tree.decision_function(rows))
    status, _, err = run(capsys, "export", "model.json", "--to", "onnx")
    assert (status, err) == (
        2,
        "aucrank: error: ONNX is not text: --output says which file it goes to\n",
    )


def test_the_other_forms_of_a_tree(tree, capsys):
    assert ok(capsys, "export", "model.json", "--to", "dot") == f"{tree.tree_.to_dot()}\n"
    assert ok(capsys, "export", "model.json", "--to", "pmml") == tree.to_pmml()
    text = ok(capsys, "export", "model.json", "--to", "text")
    assert text.startswith("Strata, best first (")
    assert tree.tree_.to_text() in text
    document = json.loads(ok(capsys, "export", "model.json", "--to", "json"))
    assert document == json.loads(tree.to_json())
    assert document["score"].keys() == {"tree"}
    rows = list(csv.DictReader(io.StringIO(ok(capsys, "export", "model.json", "--to", "csv"))))
    strata = tree.tree_.strata
    assert [row["rule"] for row in rows] == strata["rule"].tolist()
    assert [float(row["eta"]) for row in rows] == strata["eta"].tolist()
    assert ok(capsys, "export", "model.json", "--to", "html").strip() == tree.to_html().strip()


def test_code_goes_to_a_file_that_scores(tree, capsys):
    names = {}
    exec(ok(capsys, "export", "model.json", "--to", "python"), names)
    rows = loans(50, 1).drop(columns="bad")
    plain = rows.astype(object).where(rows.notna(), None).to_numpy()
    found = [names["score"](row) for row in plain]
    np.testing.assert_array_equal(found, tree.decision_function(rows))
    for language in ("c", "java", "javascript"):
        code = ok(capsys, "export", "model.json", "--to", language)
        assert code == tree.to_code(language)


def test_a_model_of_treelite_goes_to_a_file(tree, capsys):
    treelite = pytest.importorskip("treelite")
    ok(capsys, "export", "model.json", "--to", "treelite", "-o", "model.bin")
    with open("model.bin", "rb") as file:
        model = treelite.Model.deserialize_bytes(file.read())
    assert model.num_tree == 1
    status, _, err = run(capsys, "export", "model.json", "--to", "treelite")
    assert status == 2
    assert err.endswith("a model of Treelite is not text: --output says which file it goes to\n")


def test_a_card_has_its_own_forms(card, capsys):
    for output in ("score", "points", "probability"):
        sql = ok(capsys, "export", "model.json", "--to", "sql", "--value", output)
        assert sql == f"{card.to_sql(output=output)}\n"
        code = ok(capsys, "export", "model.json", "--to", "c", "--value", output)
        assert code == card.to_code("c", output=output)
    assert ok(capsys, "export", "model.json", "--to", "html").strip() == card.to_html().strip()
    assert json.loads(ok(capsys, "export", "model.json", "--to", "json")) == json.loads(
        card.to_json()
    )
    ok(capsys, "export", "model.json", "--to", "csv", "--output", "card.csv")
    card.to_csv("expected.csv")
    with open("card.csv", "rb") as found, open("expected.csv", "rb") as expected:
        assert found.read() == expected.read()


def test_errors_are_printed_in_one_line(tree, capsys):
    status, _, err = run(capsys, "export", "model.json", "--to", "pmml", "--dialect", "mysql")
    assert (status, err) == (2, "aucrank: error: --dialect is of SQL, and --to says pmml\n")
    status, _, err = run(capsys, "export", "model.json", "--to", "pmml", "--value", "score")
    assert (status, err) == (2, "aucrank: error: --value is of SQL and code, and --to says pmml\n")
    status, _, err = run(capsys, "export", "model.json", "--to", "excel")
    assert status == 2
    assert "invalid choice: 'excel'" in err
    status, _, err = run(capsys, "export", "absent.json", "--to", "sql")
    assert (status, err) == (
        1,
        "aucrank: error: cannot read absent.json: no such file or directory\n",
    )
