"""Files that hold something else than their name says: read, or named for what they are."""

import gzip
import json
import os
import pickle
import sqlite3
import subprocess
import sys
import zipfile

import numpy as np
import pandas as pd
import pytest
from aucrank import load
from aucrank.data import Dataset, read_csv

from tests.common.command_line import TREE, levels_of, loans, run

pytestmark = pytest.mark.usefixtures("in_a_folder_of_its_own")


def fit(capsys, file, *args, target="bad"):
    return run(capsys, "fit", file, "--target", target, *TREE, "-o", "model.json", *args)


@pytest.fixture
def expected(capsys):
    """The model of the same rows in a file that is what its name says."""
    loans(300).to_csv("plain.csv", index=False)
    assert fit(capsys, "plain.csv")[0] == 0
    return load("model.json").to_json()


def packed(name):
    with gzip.open(name, "wt") as file:
        file.write(loans(300).to_csv(index=False))


def workbook(name):
    loans(300).to_excel("d.xlsx", index=False)
    os.rename("d.xlsx", name)


PLAIN = {"index": False, "compression": None}

READ = {
    "gzip without .gz": ("d.csv", packed),
    "text with .gz": ("d.csv.gz", lambda name: loans(300).to_csv(name, **PLAIN)),
    "Parquet": ("d.csv", lambda name: loans(300).to_parquet(name)),
    "a workbook": ("d.csv", workbook),
    "text with .xls": ("d.xls", lambda name: loans(300).to_csv(name, index=False)),
    "no ending": ("data", lambda name: loans(300).to_csv(name, index=False)),
    "UTF-16, little": ("d.csv", lambda n: loans(300).to_csv(n, index=False, encoding="utf-16-le")),
    "UTF-16, big": ("d.csv", lambda n: loans(300).to_csv(n, index=False, encoding="utf-16-be")),
    "UTF-32": ("d.csv", lambda name: loans(300).to_csv(name, index=False, encoding="utf-32")),
}


@pytest.mark.parametrize("kind", READ)
def test_a_table_is_read_whatever_its_name_says(kind, expected, reader, capsys):
    name, write = READ[kind]
    if kind == "a workbook":
        pytest.importorskip("python_calamine")
        pytest.importorskip("openpyxl")
    write(name)
    status, _, err = fit(capsys, name)
    assert status == 0, err
    found = json.loads(load("model.json").to_json())
    assert found == json.loads(expected)
    assert all(line.startswith("aucrank: note: ") for line in err.splitlines())
    if "UTF" in kind:
        os.mkdir("parts")
        os.rename(name, f"parts/{name}")
        assert fit(capsys, "parts")[0] == 0
        assert json.loads(load("model.json").to_json()) == found


def database(name):
    with sqlite3.connect(name) as connection:
        connection.execute("CREATE TABLE rows (a, b)")


def archive(name):
    with zipfile.ZipFile(name, "w") as file:
        file.writestr("train.csv", loans(30).to_csv(index=False))


def pickled(name):
    with open(name, "wb") as file:
        pickle.dump({"a": [1, 2]}, file)


def content(data):
    def write(name):
        with open(name, "wb") as file:
            file.write(data)

    return write


FOREIGN = {
    "a zip archive": archive,
    "a database of SQLite": database,
    "a pickle of Python": pickled,
    "a page of HTML": content(b"\xef\xbb\xbf\r\n<html xmlns:x='x'><table><tr><td>a,b</td></tr>"),
    "XML": content(b"<?xml version='1.0'?><Workbook/>"),
    "JSON": content(b'[{"a": 1, "b": 0}, {"a": 2, "b": 1}]'),
    "a PDF document": content(b"%PDF-1.7\n1 0 obj"),
    "an Arrow (Feather) file": lambda name: pd.DataFrame({"a": [1]}).to_feather(name),
    "a pointer of Git LFS": content(b"version https://git-lfs.github.com/spec/v1\noid sha256:4d"),
    "no text": lambda name: np.random.default_rng(0).random(99).tofile(name),
    "compressed by bzip2": lambda name: loans(9).to_csv(name, compression="bz2"),
    "compressed by xz": lambda name: loans(9).to_csv(name, compression="xz"),
}


@pytest.mark.parametrize("what", FOREIGN)
def test_a_file_that_is_no_table_is_named_for_what_it_is(what, expected, capsys):
    FOREIGN[what]("d.csv")
    os.mkdir("parts")
    FOREIGN[what]("parts/a.csv")
    for path in ("d.csv", "parts"):
        for command in (("fit", path, "--target", "bad"), ("score", "model.json", path)):
            status, out, err = run(capsys, *command)
            assert (status, out) == (1, "")
            assert f"it is {what}" in err or f"it holds {what}" in err
            assert err.count("\n") == 1
    for read in (read_csv, lambda path: Dataset.from_csv(path, target="b")):
        with pytest.raises(ValueError, match=r"it (is|holds) ") as error:
            read("d.csv")
        assert what in str(error.value)


def test_python_says_that_a_csv_file_is_a_parquet_file():
    loans(9).to_parquet("d.csv")
    with pytest.raises(ValueError, match="it is a Parquet file, whatever its name says"):
        read_csv("d.csv")


ALIGNED = {
    "one blank": lambda row: " ".join(row),
    "aligned": lambda row: "".join(f"{cell:>16}" for cell in row),
    "aligned to the left": lambda row: "".join(f"{cell:<16}" for cell in row),
}


@pytest.mark.parametrize("kind", ALIGNED)
def test_blanks_between_columns_are_one_separator(kind, reader, capsys):
    rows = loans(300).dropna()
    rows["purpose"] = [f'"new {text}"' for text in rows["purpose"]]
    with open("d.txt", "w") as file:
        for row in [list(rows.columns), *rows.astype(str).to_numpy().tolist()]:
            file.write(ALIGNED[kind](row) + "\n")
    for args in ([], ["--sep", " "], ["--sep", "blank"], ["--memory", "1B"]):
        status, _, err = fit(capsys, "d.txt", *args)
        assert status == 0, err
        levels = levels_of("model.json")
        assert set(levels["purpose"]) == {"new car", "new house", "new tour"}
        assert levels["income"] is levels["age"] is None
        noted = "aucrank: note: blanks separate the columns of d.txt (see --sep)\n"
        assert err == ("" if "--sep" in args else noted)


@pytest.mark.parametrize("names", [[], ["age income bad\n"]])
def test_decimal_commas_between_blanks_separate_nothing(names, reader, capsys):
    rows = loans(300).dropna()
    with open("d.dat", "w") as file:
        file.writelines(names)
        for age, income, bad in rows[["age", "income", "bad"]].itertuples(index=False):
            file.write(f" {age}   {income:.3f} {bad}\n".replace(".", ","))
    target = ["--no-header"] if not names else []
    status, _, err = fit(capsys, "d.dat", *target, target="bad" if names else "3")
    assert status == 0, err
    assert list(levels_of("model.json").values()) == [None, None]


def test_phone_numbers_before_a_comma_are_one_field(capsys):
    with open("d.csv", "w") as file:
        file.write("phone,bad\n" + "".join(f"030 12 {k},{k % 2}\n" for k in range(60)))
    assert fit(capsys, "d.csv", "--keep", "phone")[0] == 0
    assert set(levels_of("model.json")) == {"phone"}


def test_blanks_in_texts_of_a_table_separate_nothing(capsys):
    with open("d.csv", "w") as file:
        file.write("first name,bad\n" + "Ada L,1\nKarl F G,0\n" * 40)
    assert fit(capsys, "d.csv")[0] == 0
    assert set(levels_of("model.json")) == {"first name"}


def test_a_number_of_fields_that_varies_is_an_error_that_names_the_option(capsys):
    with open("d.txt", "w") as file:
        file.write("a b bad\n" + "1 2 0\n3 1\n" * 9)
    status, _, err = fit(capsys, "d.txt", "--sep", " ")
    assert status == 1
    assert "line 3 has 2 fields, and 3 are named (see --sep" in err


@pytest.mark.parametrize(
    "change",
    [
        lambda data: b"\xef\xbb\xbf" + data,
        lambda data: data.decode().encode("utf-16"),
        lambda data: b"\xef\xbb\xbf" + data.replace(b"\n", b"\r\n"),
    ],
    ids=["mark", "UTF-16", "mark and line ends"],
)
def test_a_model_that_an_editor_has_saved_scores_as_before(change, expected, capsys):
    before = run(capsys, "score", "model.json", "plain.csv")[1]
    with open("model.json", "rb") as file:
        data = change(file.read())
    with open("saved.json", "wb") as file:
        file.write(data)
    assert run(capsys, "score", "saved.json", "plain.csv") == (0, before, "")
    assert load("saved.json").to_json() == load("model.json").to_json()
    assert run(capsys, "describe", "saved.json")[0] == 0


@pytest.mark.skipif(sys.platform == "win32", reason="bash has no pipes in place of files there")
def test_an_open_pipe_in_place_of_a_file_is_read(expected, capsys):
    loans(300).to_parquet("plain.parquet")
    program = f"{sys.executable} -m aucrank score model.json"
    before = run(capsys, "score", "model.json", "plain.csv")[1]
    for pipe in (
        f"{program} <(cat plain.csv)",
        f"{program} <(gzip -c plain.csv)",
        f"cat plain.parquet | {program} /dev/stdin",
        f"gzip -c plain.csv | {program} -",
    ):
        done = subprocess.run(["bash", "-c", pipe], capture_output=True, text=True, check=False)
        assert (done.returncode, done.stderr) == (0, "")
        np.testing.assert_array_equal(done.stdout.split(), before.split())
