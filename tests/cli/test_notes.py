"""Several notes on how a file is read are one line, unless all are requested."""

import subprocess
import sys
import warnings

import numpy as np
import pandas as pd
import pytest
from aucrank._utils.warn import ReadingNote
from aucrank.cli._notes import summary
from aucrank.data import Dataset

from tests.common.command_line import TREE, ok, run

N = 200


@pytest.fixture
def messy(tmp_path, monkeypatch):
    """A file with three lines above its table, semicolons, and so on."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    age = rng.integers(20, 80, N) + rng.integers(0, 2, N) / 2
    since = pd.Timestamp("2020-01-31") + pd.to_timedelta(rng.integers(0, 900, N), unit="D")
    rows = pd.DataFrame(
        {
            "Kundennr.": np.arange(N) + 1000,
            "age": [f"{value:.1f}".replace(".", ",") for value in age],
            "pay": [f"{value:.0f} EUR" for value in rng.integers(1000, 9000, N)],
            "since": since.strftime("%d.%m.%Y"),
            "bad": (age + rng.normal(0, 20, N) > 60).astype(int),
        }
    )
    table = rows.to_csv(index=False, sep=";", lineterminator="\n")
    text = f"Kredite für Köln\n\nStand: heute\n{table}"
    (tmp_path / "messy.csv").write_bytes(text.encode("cp1252"))
    return "messy.csv"


LINE = (
    "aucrank: note: read as: cp1252, semicolons between columns, 3 title lines, decimal commas,"
    " units (pay), dates in days (since), names of rows left out (Kundennr.); details with -v\n"
)
FIT = ("fit", "messy.csv", *TREE, "--target", "bad", "-o", "model.json")


def test_several_notes_are_a_line(messy, capsys):
    status, _, err = run(capsys, *FIT)
    assert (status, err) == (0, LINE)


def test_each_note_is_shown_on_request(messy, capsys):
    status, _, err = run(capsys, *FIT, "-v")
    assert status == 0
    assert err.splitlines() == [
        f"aucrank: note: {note}"
        for note in (
            "messy.csv is not UTF-8: it is read as cp1252 (--encoding says which it is)",
            "semicolons separate the columns of messy.csv (see --sep)",
            "the first 3 lines are above the table of messy.csv and left out (see --skip-rows)",
            "numbers of messy.csv have a decimal comma (see --decimal)",
            "column pay: numbers in EUR (see --categorical pay)",
            "1 column of dates, counted in days since 1970: since",
            "Kundennr. names the rows and is left out (see --keep)",
        )
    ]


def test_one_note_is_shown_whole(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    pay = np.arange(N)
    rows = pd.DataFrame({"pay": pay.astype(str), "bad": pay > 90})
    rows.loc[::7, "pay"] = "-"
    rows.to_csv("rows.csv", index=False)
    status, _, err = run(capsys, "fit", "rows.csv", *TREE, "--target", "bad")
    assert (status, err) == (0, "aucrank: note: column pay: '-' counts as missing\n")


def test_the_line_comes_before_an_error(messy, capsys):
    words = ["--target", "bad", "--positive", "2", "-o", "model.json"]
    status, out, err = run(capsys, "fit", messy, *TREE, *words)
    assert (status, out) == (1, "")
    first, *others = err.splitlines()
    assert first.startswith("aucrank: note: read as: cp1252, semicolons between columns, ")
    assert len(others) == 1
    assert others[0].startswith("aucrank: error: ")


def test_the_line_comes_before_what_a_command_prints(messy, capsys):
    ok(capsys, *FIT, "-q")
    pd.read_csv(messy, sep=";", encoding="cp1252", skiprows=3).to_csv(
        "new.csv", index=False, sep="\t", encoding="utf-16"
    )
    command = [sys.executable, "-m", "aucrank", "score", "model.json", "new.csv"]
    both = subprocess.run(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=True
    )
    said, header, *_ = both.stdout.splitlines()
    forms = "utf-16, tabs between columns, dates in days (since)"
    assert said == f"aucrank: note: read as: {forms}; details with -v"
    assert header == "score"


def test_columns_that_share_a_form_are_named_together():
    notes = [ReadingNote("", "units", [name]) for name in "abcde"]
    notes[2:2] = [ReadingNote("", "cp1252"), ReadingNote("", "cp1252")]
    assert summary(notes) == "units (a, b, c and 2 more), cp1252"


def test_python_warns_of_each_thing(messy):
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        list(Dataset.from_csv(messy).batches())
    texts = [str(warning.message) for warning in said if warning.category is ReadingNote]
    assert len(texts) == 6
    assert not any("read as:" in text for text in texts)
