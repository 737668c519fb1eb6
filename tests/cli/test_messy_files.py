"""Messy data files: their form is reported, and the model is that of a clean file."""

import gc
import gzip
import io
import json
import os
import sys
import warnings

import numpy as np
import pandas as pd
import pytest
from aucrank import load
from aucrank._data.csv_form import CsvOptions, form_of
from aucrank._data.number_text import read_number
from aucrank.cli import main
from numpy.testing import assert_array_equal

from tests.common.command_line import TREE, levels_of, loans, ok, run

FIT = (*TREE, "--target", "bad")


def written(text, encoding="utf-8", name="messy.csv"):
    with open(name, "wb") as file:
        file.write(text.encode(encoding))
    return name


def fit(capsys, file, *args):
    """Fit to a file; the model, and the notes in order."""
    status, _, err = run(capsys, "fit", file, *FIT, "--output", "model.json", "-v", *args)
    assert status == 0, err
    notes = err.splitlines()
    assert all(note.startswith("aucrank: note: ") for note in notes), err
    return load("model.json"), [note.removeprefix("aucrank: note: ") for note in notes]


@pytest.fixture
def clean(capsys):
    """A clean file, and its model."""
    loans().to_csv("clean.csv", index=False)
    model, notes = fit(capsys, "clean.csv")
    assert notes == []
    return model


def test_other_separators_and_decimal_commas_make_the_same_model(clean, reader, capsys):
    for separator, said in ((";", "semicolons"), ("\t", "tabs"), ("|", "bars")):
        text = loans().to_csv(index=False, sep=separator, decimal=",")
        model, notes = fit(capsys, written(text))
        assert notes == [
            f"{said} separate the columns of messy.csv (see --sep)",
            "numbers of messy.csv have a decimal comma (see --decimal)",
        ]
        assert model.to_json() == clean.to_json()
    text = loans().to_csv(index=False, sep="#", decimal=",")
    model, notes = fit(capsys, written(text), "--sep", "#", "--decimal", ",")
    assert notes == []
    assert model.to_json() == clean.to_json()


def test_commas_and_points_may_separate_thousands(reader, capsys):
    rng = np.random.default_rng(0)
    pay = rng.integers(100, 3_000_000, 300) / 4
    bad = (pay + rng.normal(0, 30_000, 300) > 400_000).astype(int)
    pd.DataFrame({"pay": pay, "bad": bad}).to_csv("plain.csv", index=False)
    expected, _ = fit(capsys, "plain.csv")
    english = pd.DataFrame({"pay": [f"{value:,.2f}" for value in pay], "bad": bad})
    english.to_csv("english.csv", index=False)
    model, notes = fit(capsys, "english.csv")
    assert notes == ["column pay: commas part thousands"]
    assert model.to_json() == expected.to_json()
    german = english["pay"].str.translate(str.maketrans(",.", ".,"))
    pd.DataFrame({"pay": german, "bad": bad}).to_csv("german.csv", index=False, sep=";")
    model, notes = fit(capsys, "german.csv")
    assert len(notes) == 2
    assert model.to_json() == expected.to_json()


@pytest.mark.parametrize("encoding", ["utf-8-sig", "cp1252", "utf-16"])
def test_encodings_are_detected(encoding, reader, capsys):
    frame = loans().assign(purpose=lambda X: X["purpose"].replace("car", "Möbel für £5"))
    frame.to_csv("clean.csv", index=False)
    expected, _ = fit(capsys, "clean.csv")
    model, notes = fit(capsys, written(frame.to_csv(index=False), encoding))
    said = "messy.csv is not UTF-8: it is read as {} (--encoding says which it is)"
    assert notes == ([] if encoding == "utf-8-sig" else [said.format(encoding)])
    assert model.to_json() == expected.to_json()
    model, notes = fit(capsys, "messy.csv", "--encoding", encoding)
    assert notes == []
    assert model.to_json() == expected.to_json()


def test_marks_of_missing_values_are_recognised(reader, capsys):
    frame = loans().assign(age=lambda X: X["age"].where(np.arange(400) % 7 > 0))
    frame.to_csv("clean.csv", index=False)
    expected, _ = fit(capsys, "clean.csv")
    model, notes = fit(capsys, written(frame.to_csv(index=False, na_rep="?")))
    assert notes == ["'?' counts as missing"]
    assert model.to_json() == expected.to_json()
    with_marks = frame.assign(income=frame["income"].astype(object).fillna("-"))
    model, notes = fit(capsys, written(with_marks.to_csv(index=False)))
    assert notes == ["column income: '-' counts as missing"]
    assert model.to_json() == expected.to_json()
    marked = frame.assign(
        age=frame["age"].fillna(-999), purpose=frame["purpose"].fillna("none at all")
    )
    model, notes = fit(
        capsys, written(marked.to_csv(index=False)), "--missing", "-999", "none at all"
    )
    assert notes == []
    assert model.to_json() == expected.to_json()
    # Scoring needs the option, too; without it -999 is a number.
    scores = ok(capsys, "score", "model.json", "messy.csv", "--missing", "-999", "none at all")
    found = pd.read_csv(io.StringIO(scores))["score"]
    np.testing.assert_allclose(found, expected.decision_function(frame.drop(columns="bad")))


def of_customers():
    """Rows of 40 customers, one of them numbered 999, whose age may be missing."""
    rows = loans().assign(customer=np.arange(400) // 10 + 960)
    return rows.assign(age=rows["age"].where(np.arange(400) % 7 > 0))


@pytest.mark.parametrize("kind", ["csv", "folder", "parquet"])
def test_marks_of_missing_values_may_apply_to_one_column(kind, reader, capsys):
    frame = of_customers()
    frame.to_csv("clean.csv", index=False)
    marked = frame.assign(age=frame["age"].fillna(999), purpose=frame["purpose"].fillna("none=0"))
    others = ("--group", "customer")
    marks = ("--missing-in", "age=999", "purpose=none=0")
    file, clean = "marked.csv", "clean.csv"
    if kind == "parquet":
        file, clean = "marked.parquet", "clean.parquet"
        frame.to_parquet(clean, index=False)
        frame.assign(age=marked["age"]).to_parquet(file, index=False)
    elif kind == "folder":
        file = "marked"
        os.makedirs(file)
        for name, part in (("a", marked[:150]), ("b", marked[150:])):
            part.to_csv(f"{file}/{name}.csv", index=False)
    else:
        marked.to_csv(file, index=False)
    expected, _ = fit(capsys, clean, *others)
    model, notes = fit(capsys, file, *others, *marks)
    assert notes == []
    assert model.to_json() == expected.to_json()
    # They are saved with the model.
    scores = ok(capsys, "score", "model.json", file)
    found = pd.read_csv(io.StringIO(scores))["score"]
    X = frame.drop(columns=["bad", "customer"])
    np.testing.assert_allclose(found, expected.decision_function(X))


def test_a_mark_of_all_columns_that_is_a_value_of_one_is_reported(capsys):
    of_customers().to_csv("rows.csv", index=False)
    for args, message in [
        (("--missing", "999"), "'customer' of rows.csv is missing in 10 of 400 rows"),
        (("--missing", "999"), "--missing 999 is of every column, --missing-in COL=999 of one"),
        (("--missing-in", "999"), "--missing-in: '999' is not of the form COLUMN=TEXT"),
        (("--missing-in", "agee=999"), "no column 'agee' (--missing-in); did you mean 'age'"),
    ]:
        status, _, err = run(capsys, "fit", "rows.csv", *FIT, "--group", "customer", *args)
        assert status != 0
        assert message in " ".join(err.split())


def test_blanks_after_commas_are_ignored(reader, clean, capsys):
    text = loans().to_csv(index=False, na_rep="?").replace(",", ", ")
    model, notes = fit(capsys, written(text, name="adult.data"))
    assert notes == ["'?' counts as missing"]
    assert model.to_json() == clean.to_json()


@pytest.mark.parametrize("form", ["%Y-%m-%d", "%d.%m.%Y", "%Y-%m-%d %H:%M:%S", "date", "datetime"])
def test_dates_are_days(form, reader, capsys):
    days = np.random.default_rng(0).integers(-4000, 20_000, 300)
    dates = pd.Series(pd.to_datetime(days, unit="D"))
    bad = (days > 9000).astype(int)
    # Some rows, so that the column is not a copy of the label.
    bad[::50] = 1 - bad[::50]
    pd.DataFrame({"since": days.astype(float), "bad": bad}).to_csv("clean.csv", index=False)
    expected, _ = fit(capsys, "clean.csv")
    file = "dates.parquet"
    if form == "date":
        pd.DataFrame({"since": dates.dt.date, "bad": bad}).to_parquet(file)
    elif form == "datetime":
        pd.DataFrame({"since": dates, "bad": bad}).to_parquet(file)
    else:
        file = "dates.csv"
        pd.DataFrame({"since": dates.dt.strftime(form), "bad": bad}).to_csv(file, index=False)
    model, notes = fit(capsys, file)
    assert notes == ["1 column of dates, counted in days since 1970: since"]
    # The type may hold times of day even if there are none.
    counts = "moments" if form == "datetime" else "days"
    found = json.loads(model.to_json())
    assert found["features"][0].pop("counts") == counts
    assert found == json.loads(expected.to_json())
    assert "since < 1994-09-13:" in model.tree_.to_text() or counts == "moments"


def test_an_ambiguous_date_stays_text(capsys):
    dates = ["01/02/2020", "03/04/2021"]
    frame = loans().assign(since=dates * 200)[["since", "income", "bad"]]
    frame.to_csv("american.csv", index=False)
    _, notes = fit(capsys, "american.csv")
    assert notes == []
    assert levels_of("model.json") == {"since": tuple(dates), "income": None}


def test_a_column_that_names_the_rows_is_left_out(reader, clean, capsys):
    frame = loans()
    frame.insert(0, "loan_id", np.arange(400) * 7)
    frame["UUID"] = [f"{k:x}" for k in range(10**6, 10**6 + 400)]
    frame.to_csv("named.csv", index=False)
    model, notes = fit(capsys, "named.csv")
    assert notes == ["loan_id and UUID name the rows and are left out (see --keep)"]
    assert model.to_json() == clean.to_json()
    _, notes = fit(capsys, "named.csv", "--keep", "loan_id", "--drop", "UUID")
    assert notes == []
    assert "loan_id" in levels_of("model.json")
    model, notes = fit(capsys, "named.csv", "--id", "loan_id", "--drop", "UUID")
    assert notes == []
    assert model.to_json() == clean.to_json()
    scores = pd.read_csv(
        io.StringIO(ok(capsys, "score", "model.json", "named.csv", "--id", "loan_id"))
    )
    assert list(scores) == ["loan_id", "score"]
    assert_array_equal(scores["loan_id"], frame["loan_id"])


def test_a_plus_is_ranked_above_a_minus(capsys):
    frame = loans().assign(bad=lambda X: np.where(X["bad"] == 1, "+", "-"))
    frame.to_csv("signs.csv", index=False)
    out = ok(capsys, "fit", "signs.csv", *FIT, "--output", "model.json")
    assert "positive is bad = + (" in out


@pytest.mark.parametrize("kind", ["csv", "gz", "parquet"])
def test_the_standard_input_stream_is_a_file(kind, clean, reader, monkeypatch, capsys):
    if kind == "parquet":
        loans().to_parquet("data")
    else:
        loans().to_csv("data", index=False, compression="gzip" if kind == "gz" else None)

    def pipe():
        with open("data", "rb") as file:
            stream = io.BytesIO(file.read())
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(stream))

    pipe()
    model, notes = fit(capsys, "-")
    assert notes == []
    assert model.to_json() == clean.to_json()
    pipe()
    assert "AUC" in ok(capsys, "evaluate", "model.json", "-", "--target", "bad")


@pytest.mark.parametrize(
    ("text", "options", "expected"),
    [
        ("a,b\n1,2\n", {}, (",", ".")),
        ("a;b\n1,5;2\n", {}, (";", ",")),
        ("a;b\n1,234;2\n", {}, (";", ".")),
        ("a;b\n1,234;2\n0,512;3\n", {}, (";", ",")),
        ("a;b\n1.234;2,5\n0.512;3,25\n", {}, (";", ".")),
        ("a;b\n1.234,5;2\n", {}, (";", ",")),
        ("a;b\n1.25;1,75\n", {}, (";", ".")),
        ("a\tb,c\n1\t2,5\n", {}, ("\t", ",")),
        ('a,b\n"x;y",1\n"z;",2\n', {}, (",", ".")),
        ("only\n1\n", {}, (",", ".")),
        ("a;b\n1;2\n", {"separator": ","}, (",", ".")),
        ("a;b\n1,5;2\n", {"decimal": "."}, (";", ".")),
    ],
)
def test_the_form_is_inferred_from_the_first_lines(text, options, expected):
    form = form_of(written(text), CsvOptions(**options))
    assert (form.separator, form.decimal) == expected


@pytest.mark.parametrize(
    ("text", "decimal", "number"),
    [
        ("1,234,567.5", ".", 1234567.5),
        ("-1.5e3", ".", -1500.0),
        (".5", ".", 0.5),
        ("1.234.567,5", ",", 1234567.5),
        ("1 234,5", ",", 1234.5),
        ("12,34", ".", None),
        ("0,512", ".", None),
        ("1,2345", ".", None),
        ("1.23,4", ",", None),
        ("", ".", None),
        ("e5", ".", None),
        ("+", ",", None),
        ("1-2", ".", None),
    ],
)
def test_numbers_are_recognised_by_their_marks(text, decimal, number):
    found = read_number(text, decimal)
    assert (None if found is None else found.value) == number


def test_column_names_may_be_many_and_contain_other_line_ends():
    names = ["a\u2028b", "c\x0bd", *(f"a column of a long name, number {k}" for k in range(10_000))]
    header = ";".join(f'"{name}"' for name in names)
    assert len(header) > 300_000
    form = form_of(written(f"{header}\r\n{';'.join(['1'] * len(names))}\r\n"), CsvOptions())
    assert form.header == names


@pytest.mark.parametrize("name", ["messy.csv", "messy.csv.gz", "-"])
def test_files_are_closed(name, monkeypatch):
    content = ("# of May\n" + loans().to_csv(index=False).replace("car", "Möbel")).encode("cp1252")
    with gzip.open(name, "w") if name.endswith("gz") else open("messy.csv", "wb") as file:
        file.write(content)
    unclosed = []
    monkeypatch.setattr(sys, "unraisablehook", unclosed.append)
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))
    with warnings.catch_warnings():
        warnings.simplefilter("error", ResourceWarning)
        assert main(["fit", name, *FIT, "--output", "model.json"]) == 0
        gc.collect()
    assert unclosed == []


def test_invalid_options_are_reported(capsys):
    loans().to_csv("clean.csv", index=False)
    for args, message in [
        (("--sep", "ab"), "--sep must be one character, got 'ab'"),
        (("--encoding", "klingon"), "--encoding: no encoding is called 'klingon'"),
        (("--id", "nobody"), "clean.csv has no column 'nobody' (--id)"),
        (("--keep", "nobody"), "clean.csv has no column 'nobody' (--keep)"),
        (("--categorical", "nobody"), "clean.csv has no column 'nobody' (--categorical)"),
        (
            ("--categorical", "nobody", "--memory", "1B"),
            "clean.csv has no column 'nobody' (--categorical)",
        ),
    ]:
        status, _, err = run(capsys, "fit", "clean.csv", *FIT, *args)
        assert status != 0
        assert message in err
    written(loans().to_csv(index=False) + "é", "cp1252")
    status, _, err = run(capsys, "fit", "messy.csv", *FIT, "--encoding", "utf-8")
    assert status == 1
    assert "cannot read messy.csv as CSV: it is not text in utf-8 (--encoding" in err
