"""Lines that are not rows and fields that are not columns, in one file and in pieces."""

import gzip
import os

import numpy as np
import pandas as pd
import pytest
from aucrank import load
from aucrank.cli._stream import is_streamed
from aucrank.data import Dataset

from tests.common.command_line import TREE, levels_of, loans, run

pytestmark = pytest.mark.usefixtures("in_a_folder_of_its_own")


def fit(capsys, file, *args, target="bad"):
    return run(capsys, "fit", file, "--target", target, *TREE, "-o", "model.json", *args)


def lines(sep=","):
    return loans(300).to_csv(index=False, sep=sep).splitlines()


def longer(row, sep):
    return row + sep


LAYOUTS = {
    "a title": (lambda rows: ["Loans of 2026", *rows], []),
    "a title and blank lines": (lambda rows: ["Loans of 2026", "", *rows], []),
    "a title that is filled up": (lambda rows: ["Loans of 2026,,,", ",,,", *rows], []),
    "a title of two fields": (lambda rows: ["Loans,2026", *rows], []),
    "said lines": (lambda rows: ["a,b,c,d", *rows], ["--skip-rows", "1"]),
    "comments above": (lambda rows: ["# made by us", "# today", *rows], []),
    "comments, a title and a blank line": (
        lambda rows: ["# made by us", "Loans of 2026", "", *rows],
        [],
    ),
    "comments behind said lines": (
        lambda rows: ["a", "# b", *rows[:3], "# c", *rows[3:]],
        ["--skip-rows", "1", "--comment", "#"],
    ),
    "comments above and among rows": (
        lambda rows: ["# made by us", *rows[:9], "# checked, twice", *rows[9:]],
        [],
    ),
    "comments among rows": (
        lambda rows: ["# made by us", *rows[:9], "# checked", *rows[9:]],
        ["--comment", "#"],
    ),
    "a separator's line": (lambda rows: ["sep=,", *rows], []),
    "separators at all ends": (lambda rows: [row + "," for row in rows], []),
    "separators behind rows": (lambda rows: [rows[0], *(row + "," for row in rows[1:])], []),
    "two empty columns": (lambda rows: [row + ",," for row in rows], []),
}


@pytest.mark.parametrize("layout", LAYOUTS)
def test_every_layout_of_a_file_gives_the_same_model(layout, reader, capsys):
    loans(300).to_csv("plain.csv", index=False)
    assert fit(capsys, "plain.csv")[0] == 0
    expected = load("model.json").to_json()
    change, args = LAYOUTS[layout]
    text = "\n".join(change(lines())) + "\n"
    with open("d.csv", "w") as file:
        file.write(text)
    for pieces in ([], ["--memory", "1B"]):
        status, _, err = fit(capsys, "d.csv", *args, *pieces)
        assert status == 0, err
        assert load("model.json").to_json() == expected
    with gzip.open("d.csv.gz", "wt") as file:
        file.write(text)
    assert fit(capsys, "d.csv.gz", *args)[0] == 0
    assert load("model.json").to_json() == expected


def test_the_sep_line_of_excel_sets_the_separator(capsys):
    with open("d.csv", "w") as file:
        file.write("\n".join(["sep=;", *lines(";")]) + "\n")
    for args in ([], ["--sep", ";"], ["--memory", "1B"]):
        assert fit(capsys, "d.csv", *args)[0] == 0
        assert list(levels_of("model.json")) == ["income", "purpose", "age"]


def test_a_file_without_names_has_numbered_columns(reader, capsys):
    frame = loans(300)
    frame.to_csv("d.csv", index=False, header=False)
    for args in ([], ["--memory", "1B"]):
        status, _, err = fit(capsys, "d.csv", "--no-header", *args, target="4")
        assert status == 0, err
        assert list(levels_of("model.json")) == ["column_1", "column_2", "column_3"]
    # The model has saved that there is no header.
    status, out, err = run(capsys, "score", "model.json", "d.csv")
    assert (status, len(out.splitlines())) == (0, 301), err
    status, _, err = fit(capsys, "d.csv", target="bad")
    assert status == 1
    assert "--no-header" in err


def test_quoted_line_breaks_are_read_beyond_the_first_lines(reader, capsys):
    frame = loans(2000)
    frame["purpose"] = [f"{text}\nof, many\nlines" for text in frame["purpose"]]
    frame.to_csv("d.csv", index=False)
    for args in ([], ["--memory", "1B"]):
        status, _, err = fit(capsys, "d.csv", *args)
        assert status == 0, err
        assert list(levels_of("model.json")) == ["income", "purpose", "age"]


@pytest.mark.parametrize("pieces", [[], ["--memory", "1B"]])
def test_a_line_of_too_many_fields_is_named_with_options_that_help(pieces, reader, capsys):
    rows = lines()
    rows[150] += ",5,6"
    with open("d.csv", "w") as file:
        file.write("\n".join(rows) + "\n")
    status, _, err = fit(capsys, "d.csv", *pieces)
    assert status == 1
    assert "line 151 has 6 fields, and 4 are named (see --sep, --skip-rows and --comment)" in err


@pytest.mark.parametrize("pieces", [[], ["--memory", "1B"]])
def test_a_line_of_too_few_fields_is_named_with_options_that_help(pieces, reader, capsys):
    rows = lines()
    rows.insert(150, "# checked")
    with open("d.csv", "w") as file:
        file.write("\n".join(rows) + "\n")
    status, _, err = fit(capsys, "d.csv", *pieces)
    assert status == 1
    assert "line 151 has 1 field, and 4 are named (see --sep, --skip-rows and --comment)" in err
    # A row may have only its first field.
    rows[150] = "0.5,,,1"
    with open("d.csv", "w") as file:
        file.write("\n".join(rows) + "\n")
    assert fit(capsys, "d.csv", *pieces)[0] == 0


@pytest.mark.parametrize("pieces", [[], ["--memory", "1B"]])
@pytest.mark.parametrize("harm", ["cut", "flipped"])
def test_a_damaged_file_raises_an_error_that_names_it(harm, pieces, reader, capsys):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"x": rng.normal(size=40_000)}).assign(bad=lambda f: (f.x > 0).astype(int))
    content = bytearray(gzip.compress(frame.to_csv(index=False).encode()))
    if harm == "cut":
        content = content[: len(content) // 2]
    else:
        content[len(content) // 2 :][:64] = bytes(64)
        content[len(content) // 2] ^= 255
        content[-8:] = bytes(8)
    with open("d.csv.gz", "wb") as file:
        file.write(content)
    status, _, err = fit(capsys, "d.csv.gz", *pieces)
    assert status == 1
    assert "cannot read d.csv.gz as CSV: its compressed content is damaged or cut off" in err
    with pytest.raises(ValueError, match=r"d\.csv\.gz as CSV: its compressed content is damaged"):
        list(Dataset.from_csv("d.csv.gz", target="bad").batches())


def test_memory_is_compared_with_what_rows_take_as_numbers():
    frame = pd.DataFrame({"x": np.zeros(50_000), "bad": 0})
    frame.to_csv("d.csv.gz", index=False)
    frame.to_csv("d.csv", index=False)
    frame.to_csv("points.csv", index=False, sep=";", decimal=",")
    frame.to_parquet("d.parquet")
    assert os.path.getsize("d.csv.gz") < 10_000
    # 364 bytes a row take two thirds of so many megabytes, which are less than Python's own.
    for path in ("d.csv", "d.csv.gz", "points.csv", "d.parquet"):
        assert is_streamed(path, 27_000_000)
        assert not is_streamed(path, 28_000_000)


def test_memory_is_compared_with_what_text_takes_in_a_frame():
    frame = pd.DataFrame({"text": [f"{row:01000}" for row in range(2000)], "bad": 0})
    frame.to_csv("d.csv", index=False)
    frame.to_parquet("d.parquet", use_dictionary=False, compression=None)
    for path in ("d.csv", "d.parquet"):
        assert is_streamed(path, 5_900_000)
        assert not is_streamed(path, 6_200_000)


def test_characters_outside_utf_8_may_appear_late_in_a_file(reader, capsys):
    rows = loans(20_000).to_csv(index=False).encode()
    with open("d.csv", "wb") as file:
        file.write(rows + "0.5,Möbel,30,1\n".encode("cp1252"))
    for args in ([], ["--memory", "1B"]):
        status, _, err = fit(capsys, "d.csv", *args)
        assert status == 0, err
        assert "it is read as cp1252 (--encoding says which it is)" in err
        assert "Möbel" in levels_of("model.json")["purpose"]
