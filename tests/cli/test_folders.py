"""A folder, a pattern or a file in pieces hold the same rows as one file."""

import json
import os

import numpy as np
import pandas as pd
import pytest
from aucrank._data.row_names import RowNames, names_rows
from aucrank.data import Dataset
from narwhals.stable.v2 import from_native

from tests.common.command_line import TREE, hide, loans, run
from tests.common.pairwise import parametrize_pairs

pytestmark = pytest.mark.usefixtures("in_a_folder_of_its_own")


def saved(capsys, data, *args, target="bad"):
    """Body of the saved model."""
    status, _, err = run(capsys, "fit", data, "--target", target, *TREE, "-o", "m.json", *args)
    assert status == 0, err
    with open("m.json") as file:
        return json.load(file)["body"]


def ways(frame, kind="csv"):
    """The same rows as one file, in pieces, as a folder and as a pattern."""
    write = {"csv": lambda f, p: f.to_csv(p, index=False), "parquet": pd.DataFrame.to_parquet}[kind]
    write(frame, f"all.{kind}")
    os.makedirs("parts", exist_ok=True)
    for part in range(3):
        write(frame[part * len(frame) // 3 : (part + 1) * len(frame) // 3], f"parts/{part}.{kind}")
    return [f"all.{kind}"], [f"all.{kind}", "--memory", "1B"], ["parts"], [f"parts/*.{kind}"]


def assert_all_same(bodies):
    """Check that models and the forms of their data are the same."""
    for body in bodies[1:]:
        assert body["header"]["features"] == bodies[0]["header"]["features"]
        assert body["header"].get("reading") == bodies[0]["header"].get("reading")
        assert body["header"]["classes"]["values"] == bodies[0]["header"]["classes"]["values"]
        assert body["model"] == bodies[0]["model"]


FRAMES = {
    "signs": lambda f: (f.assign(bad=np.where(f["bad"] == 1, "+", "-")), []),
    "blanks around labels": lambda f: (f.assign(bad=np.where(f["bad"] == 1, "yes ", "no\t")), []),
    "three values": lambda f: (
        f.assign(bad=np.where(f["age"] > 60, 2, f["bad"])),
        ["--positive", "2"],
    ),
    "three texts": lambda f: (
        f.assign(bad=np.where(f["age"] > 60, "old", f["bad"].map({0: "no", 1: "yes"}))),
        ["--positive", "yes"],
    ),
    "a column of ids": lambda f: (f.assign(loan_id=np.arange(len(f))[::-1] * 7), []),
    "ids as texts": lambda f: (f.assign(Kundennummer=[f"K{k}" for k in range(len(f))]), []),
    "numbers of rows": lambda f: (f.assign(position=np.arange(len(f)) + 5), []),
    "an id that is kept": lambda f: (
        f.assign(loan_id=np.arange(len(f))[::-1] * 7),
        ["--keep", "loan_id"],
    ),
    "dates": lambda f: (
        f.assign(since=(pd.Timestamp("2020-01-01") + pd.to_timedelta(f["age"], "D")).dt.date),
        [],
    ),
    "dates in texts": lambda f: (f.assign(since=[f"20{age}-01-31" for age in f["age"]]), []),
    "numbers with units": lambda f: (f.assign(age=[f"{age} years" for age in f["age"]]), []),
}


@pytest.mark.parametrize("kind", ["csv", "parquet"])
@pytest.mark.parametrize("change", FRAMES)
def test_the_same_rows_in_any_files_and_folders_give_the_same_model(change, kind, capsys):
    frame, args = FRAMES[change](loans(390))
    assert_all_same([saved(capsys, *way, *args) for way in ways(frame, kind)])


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_folders_named_by_a_column_become_that_column(kind, capsys):
    frame = loans(390).assign(
        year=2020 + np.arange(390) % 3, purpose=lambda f: f["purpose"].fillna("x/y")
    )
    frame["purpose"] = frame["purpose"].fillna("x y")
    expected = saved(capsys, *ways(frame, kind)[0])
    names = ["year", "purpose"]
    for (year, purpose), part in frame.groupby(names):
        folder = f"hive/year={year}/purpose={purpose.replace('/', '%2F')}"
        os.makedirs(folder)
        part = part.drop(columns=names)
        if kind == "csv":
            part.to_csv(f"{folder}/part.csv", index=False)
        else:
            part.to_parquet(f"{folder}/part.parquet")
    for data in ("hive", f"hive/*/*/*.{kind}"):
        body = saved(capsys, data)
        found = {f["name"]: f for f in body["header"]["features"]}
        assert found == {f["name"]: f for f in expected["header"]["features"]}
    status, out, _ = run(capsys, "score", "m.json", "hive", "--id", "year")
    assert status == 0
    assert out.splitlines()[0] == "year,score"
    read = Dataset.from_csv if kind == "csv" else Dataset.from_parquet
    dataset = read("hive", target="bad")
    assert set(names) < set(dataset.columns)
    assert sum(len(piece) for piece in dataset.batches()) == 390
    # The folder of a named file does not matter.
    assert "year" not in read(dataset.files[0]).columns


def test_the_target_may_be_a_column_of_folder_names(capsys):
    frame = loans(300)
    for bad, part in frame.groupby("bad"):
        os.makedirs(f"hive/bad={bad}")
        part.drop(columns="bad").to_csv(f"hive/bad={bad}/a.csv", index=False)
    body = saved(capsys, "hive")
    assert body["header"]["classes"]["values"] == [0, 1]
    status, _, err = run(capsys, "evaluate", "m.json", "hive", "--target", "bad")
    assert status == 0, err


def test_folders_of_other_columns_are_an_error(capsys):
    for folder in ("a=1", "b=1"):
        os.makedirs(f"hive/{folder}")
        loans(30).to_csv(f"hive/{folder}/x.csv", index=False)
    status, _, err = run(capsys, "fit", "hive", "--target", "bad", *TREE)
    assert status == 1
    assert "hive/b=1/x.csv" in err


def test_a_file_without_decimals_uses_the_decimal_mark_of_the_other_files(capsys):
    frame = loans(300).assign(rate=np.arange(300) % 64 / 8)
    odd = frame["rate"] * 8 % 2 == 1
    os.mkdir("months")
    rows = pd.concat([frame[~odd], frame[odd]])
    frame[~odd].to_csv("months/a.csv", sep=";", decimal=",", index=False)
    frame[odd].drop(columns="income").assign(income="").to_csv(
        "months/b.csv", sep=";", decimal=",", index=False, columns=list(frame)
    )
    rows.to_csv("one.csv", sep=";", decimal=",", index=False)
    found, expected = saved(capsys, "months"), saved(capsys, "one.csv")
    assert found["header"]["features"] == expected["header"]["features"]


@pytest.mark.parametrize(
    ("name", "does"),
    [
        *(
            (name, True)
            for name in ("id", "ID", "loan_id", "customerID", "SK_ID_CURR", "RowNumber")
        ),
        *(
            (name, True)
            for name in ("rownames", "No.", "Unnamed: 0", "", "Kundennummer", "Vertragsnr")
        ),
        *((name, True) for name in ("uuid", "order key", "Lfd. Nr.", "index", "row", "patient-no")),
        *((name, False) for name in ("amount_paid", "valid", "covid", "rapid", "humid", "Android")),
        *(
            (name, False)
            for name in ("age", "keyboard", "node", "piano", "number_of_loans", "tempo")
        ),
    ],
)
def test_names_of_identifier_columns_are_recognised(name, does):
    assert names_rows(name) == does


@pytest.mark.parametrize(
    ("name", "values", "does"),
    [
        ("id", [5, 3, 9], True),
        ("id", [5, 3, 5], False),
        ("id", [5.0, 3.5, 9.0], False),
        ("id", ["b", "a", "c"], True),
        ("id", ["b", "a", "b"], False),
        ("anything", list(range(7, 107)), True),
        ("anything", list(range(100, 0, -1)), False),
        ("anything", list(range(20)), False),
        ("anything", [*range(99), 500], False),
        ("anything", [float("nan"), *range(99)], False),
    ],
)
@pytest.mark.parametrize("n_pieces", [1, 2])
def test_columns_that_name_or_number_rows_are_reported(n_pieces, name, values, does):
    found = RowNames(name)
    series = from_native(pd.Series(values, name=name), series_only=True)
    for first in range(0, len(values), -(-len(values) // n_pieces)):
        found.look_at(series[first : first + -(-len(values) // n_pieces)])
    assert found.does == does


def test_kinds_of_columns_are_counted_as_in_one_file(capsys):
    rows = loans().assign(town=[f"t{number % 7}" for number in range(400)])
    rows.to_csv("all.csv", index=False)
    os.makedirs("parts")
    for name, part in (("a", rows[:150]), ("b", rows[150:])):
        part.to_csv(f"parts/{name}.csv", index=False)
    for data in ("all.csv", "parts", "parts/*.csv"):
        compare = ("compare", data, "--target", "bad", "--models", "TreeRank", "--no-peers")
        status, out, _ = run(capsys, *compare)
        assert status == 0
        assert "400 rows, 4 features (2 numeric, 2 categorical)" in out


def german(frame):
    """The frame with fractional numbers, and how it is written to CSV."""
    frame = frame.assign(age=frame["age"] + 0.25)
    return frame, {"sep": ";", "decimal": ","}


def thousands(frame):
    """Numbers as text with points between thousands, which a cast cannot read."""
    amount = [f"{1000 + age}"[:1] + "." + f"{1000 + age}"[1:] + ",5" for age in frame["age"]]
    return frame.assign(age=amount), {"sep": ";", "decimal": ","}


def late_text(frame):
    """Numbers until the last row."""
    codes = frame["age"].astype(str)
    codes.iloc[-1] = "007x"
    return frame.assign(age=codes), {}


def few_odd(frame):
    """Numbers, with a text here and there, the first of them late."""
    values = frame["age"].mul(100).add(frame.index).astype(str)
    values.iloc[-2:] = ["none of them", "see above"]
    return frame.assign(age=values), {}


def fractions_late(frame):
    """Integers until the last row."""
    values = frame["age"].astype(str)
    values.iloc[-1] = "33.25"
    return frame.assign(age=values), {}


CSV_FILES = {
    "German": (german, []),
    "German, said": (german, ["--sep", ";", "--decimal", ","]),
    "points part thousands": (thousands, []),
    "line breaks in quotes": (
        lambda f: (f.assign(purpose=[f"{text}\nand, more" for text in f["purpose"]]), {}),
        [],
    ),
    "German dates": (
        lambda f: (f.assign(since=[f"31.1.20{age}" for age in f["age"]]), {"sep": ";"}),
        [],
    ),
    "marks of one column": (
        lambda f: (f.assign(age=f["age"].mask(f["age"] < 30, 999)), {}),
        ["--missing-in", "age=999"],
    ),
    "marks of all columns": (
        lambda f: (f.assign(age=f["age"].mask(f["age"] < 30, 999)).fillna({"purpose": "gone"}), {}),
        ["--missing", "999", "--missing", "gone"],
    ),
    "text at the end": (late_text, []),
    "a few odd texts at the end": (few_odd, ["--keep", "age"]),
    "a fraction at the end": (fractions_late, []),
    "leading zeros": (
        lambda f: (f.assign(purpose=[f"00{age % 7}" for age in f["age"]]), {}),
        ["--categorical", "purpose"],
    ),
    "integers beyond 2^53": (
        lambda f: (f.assign(age=[2**60 + 257 * (age % 9) for age in f["age"]]), {}),
        ["--keep", "age"],
    ),
}


@parametrize_pairs(
    change=list(CSV_FILES),
    comment={"plain": "", "with a comment": "# made by us\n"},
    package=["pandas", "polars"],
)
def test_values_of_a_csv_file_do_not_depend_on_the_way_it_is_read(
    change, comment, package, monkeypatch, capsys
):
    hide(monkeypatch, {"pandas", "polars"} - {package})
    function, args = CSV_FILES[change]
    frame, layout = function(loans(390))
    os.makedirs("parts")
    parts = {"all.csv": slice(None)} | {
        f"parts/{k}.csv": slice(k * 130, (k + 1) * 130) for k in range(3)
    }
    for path, rows in parts.items():
        with open(path, "w") as file:
            file.write(comment + frame[rows].to_csv(index=False, **layout))
    ways = [["all.csv"], ["all.csv", "--memory", "1B"], ["parts"]]
    assert_all_same([saved(capsys, *way, *args) for way in ways])
