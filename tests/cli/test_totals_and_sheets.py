"""Totals below a table, sheets of a workbook, and sheets that reach far."""

import os
import sys
import zipfile
from datetime import timedelta

import pandas as pd
import pytest
from aucrank import load
from aucrank._data.csv_text import cell_text
from aucrank.data import Dataset, read_csv

from tests.common.command_line import TREE, loans, run
from tests.common.script import run_script

pytestmark = pytest.mark.usefixtures("in_a_folder_of_its_own")


def fit(capsys, file, *args, target="bad"):
    return run(capsys, "fit", file, "--target", target, *TREE, "-o", "model.json", *args)


@pytest.fixture
def expected(capsys):
    loans(300).to_csv("plain.csv", index=False)
    assert fit(capsys, "plain.csv")[0] == 0
    return load("model.json").to_json()


def with_total(rows, **last):
    total = dict.fromkeys(rows) | last
    return pd.concat([rows.astype(object), pd.DataFrame([total])], ignore_index=True)


@pytest.mark.parametrize("write", ["csv", "xlsx"])
def test_a_last_row_of_sums_without_a_label_is_noted_and_left_out(write, expected, reader, capsys):
    rows = loans(300)
    sums = {"income": round(rows["income"].sum(), 3), "age": rows["age"].sum()}
    table = with_total(rows, **sums)
    if write == "csv":
        table.to_csv("d.csv", index=False)
    else:
        pytest.importorskip("python_calamine")
        pytest.importorskip("openpyxl")
        table.to_excel("d.xlsx", index=False)
    status, _, err = fit(capsys, f"d.{write}")
    assert status == 0, err
    assert err == (
        f"aucrank: note: the last row of d.{write} has no bad and the sums of income and age: it is"
        " a total, and left out (see --skip-footer)\n"
    )
    assert load("model.json").to_json() == expected
    status, _, err = fit(capsys, f"d.{write}", "--skip-footer", "0")
    assert status == 1
    assert "(row 301 below the names of the columns)" in err
    assert fit(capsys, f"d.{write}", "--skip-footer", "1")[::2] == (0, "")
    assert load("model.json").to_json() == expected


def test_a_last_row_that_is_no_total_is_an_error_that_names_it(capsys):
    with_total(loans(300), income=5, age=40).to_csv("d.csv", index=False)
    for pieces in ([], ["--memory", "1B"]):
        status, _, err = fit(capsys, "d.csv", *pieces)
        assert status == 1
        assert err == (
            "aucrank: error: target column 'bad' is missing in 1 of 301 rows of d.csv (row 301"
            " below the names of the columns); remove it first, with --skip-footer 1 if it is not a"
            " row\n"
        )


def test_rows_without_a_label_are_named_in_a_file_and_in_pieces(capsys):
    rows = loans(300).astype({"bad": object})
    rows.loc[[3, 17, 99, 100, 101, 102], "bad"] = None
    rows.to_csv("d.csv", index=False)
    for pieces in ([], ["--memory", "1B"]):
        err = fit(capsys, "d.csv", *pieces)[2]
        assert (
            "is missing in 6 of 300 rows of d.csv (rows 4, 18, 100, 101, 102 and 1 more below the"
            " names of the columns); remove them first"
        ) in err
        assert "skip-footer" not in err


FOOTERS = ["Total;;;", "\nSource: the bank\n\n", '"a quote of ""two"" words";x']


@pytest.mark.parametrize("footer", FOOTERS)
def test_lines_below_a_table_are_skipped_everywhere(footer, expected, reader, capsys):
    text = loans(300).to_csv(index=False, sep=";") + footer
    for encoding in ("utf-8", "cp1252", "utf-16"):
        with open("d.csv", "w", encoding=encoding) as file:
            file.write(text)
        for pieces in ([], ["--memory", "1B"]):
            status, _, err = fit(capsys, "d.csv", "--skip-footer", "1", *pieces)
            assert status == 0, err
            assert load("model.json")._schema.names == ["income", "purpose", "age"]
        assert len(read_csv("d.csv", skip_footer=1)) == 300
        dataset = Dataset.from_csv("d.csv", target="bad", skip_footer=1)
        assert sum(len(batch) for batch in dataset.batches()) == 300
    os.mkdir("parts")
    os.rename("d.csv", "parts/a.csv")
    with open("parts/b.csv", "w") as file:
        file.write(text)
    status, out, err = run(capsys, "score", "model.json", "parts", "--skip-footer", "1")
    assert (status, len(out.split())) == (0, 601), err


def test_the_sheet_with_the_target_is_read_and_noted(expected, capsys):
    pytest.importorskip("python_calamine")
    pytest.importorskip("openpyxl")
    with pd.ExcelWriter("d.xlsx") as book:
        pd.DataFrame({"about": ["Loans of 2026", "made by us"]}).to_excel(book, sheet_name="Info")
        loans(300).to_excel(book, sheet_name="Data", index=False, startrow=2)
        loans(20).to_excel(book, sheet_name="Old", index=False)
    status, _, err = fit(capsys, "d.xlsx")
    assert status == 0, err
    assert err.splitlines()[0] == (
        "aucrank: note: of d.xlsx number 2 of 3 sheets is read, Data (it has the column 'bad'; see"
        " --sheet)"
    )
    assert load("model.json").to_json() == expected
    status, out, err = run(capsys, "score", "model.json", "d.xlsx")
    assert (status, len(out.split())) == (0, 301), err
    assert "number 2 of 3 sheets is read, Data (it has the columns needed; see --sheet)" in err
    status, _, err = fit(capsys, "d.xlsx", target="worse")
    assert status == 1
    assert "the first of 3 sheets is read, Info (no sheet has the column 'worse'; see" in err


def book_with(cells, name="far.xlsx"):
    """A workbook whose one sheet has these cells, and says that it ends at B2."""
    import openpyxl

    openpyxl.Workbook().save("base.xlsx")
    sheet = (
        '<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main">'
        f'<dimension ref="A1:B2"/><sheetData>{cells}</sheetData></worksheet>'
    )
    with (
        zipfile.ZipFile("base.xlsx") as old,
        zipfile.ZipFile(name, "w", zipfile.ZIP_DEFLATED) as new,
    ):
        for part in old.namelist():
            is_sheet = part == "xl/worksheets/sheet1.xml"
            new.writestr(part, sheet if is_sheet else old.read(part))
    return name


HEAD = '<row r="1"><c r="A1" t="inlineStr"><is><t>x</t></is></c></row>'
FAR = {
    "the last cell": HEAD + '<row r="1048576"><c r="XFD1048576"><v>1</v></c></row>',
    "a cell in a row of another number": HEAD
    + '<row r="2"><c t="n" r="XFD1048576"><v>1</v></c></row>',
    "cells without a place": "".join(
        ["<row>", "<c><v>1</v></c>" * 9000, '</row><row r="1048576"><c><v>1</v></c></row>']
    ),
    "two far cells": HEAD
    + '<row r="3"><c r="XFD3"><v>1</v></c></row><row r="9999"><c r="A9999"><v>1</v></c></row>',
}


@pytest.mark.skipif(sys.platform != "linux", reason="memory is limited by RLIMIT_AS")
@pytest.mark.parametrize("kind", FAR)
def test_a_sheet_that_reaches_far_is_an_error_before_memory_is_allocated(kind):
    pytest.importorskip("python_calamine")
    pytest.importorskip("openpyxl")
    file = book_with(FAR[kind])
    assert os.path.getsize(file) < 20_000
    args = ["fit", file, "--target", "x", *TREE, "-o", "m.json"]
    done = run_script(f"""
import resource, sys
from aucrank.cli import main
resource.setrlimit(resource.RLIMIT_AS, (3 << 30, 3 << 30))
sys.exit(main({args}))
""")
    assert done.returncode == 1
    assert "cannot read far.xlsx as a workbook: the sheet Sheet reaches to row" in done.stderr
    assert "40,000,000 cells are the most" in done.stderr


def test_a_far_cell_that_is_only_formatted_does_not_matter(capsys):
    pytest.importorskip("python_calamine")
    pytest.importorskip("openpyxl")
    rows = "".join(
        f'<row r="{k}"><c r="A{k}"><v>{k}</v></c><c r="B{k}"><v>{k % 2}</v></c></row>'
        for k in range(2, 60)
    )
    names = "".join(f'<c r="{c}1" t="inlineStr"><is><t>{c}</t></is></c>' for c in "AB")
    far = '<row r="1048576"><c r="XFD1048576" s="0"/></row>'
    file = book_with(f'<row r="1">{names}</row>{rows}{far}')
    assert fit(capsys, file, "--keep", "A", target="B")[0] == 0


def test_an_archive_without_a_workbook_is_named(capsys):
    pytest.importorskip("python_calamine")
    for part, what in (
        ("word/document.xml", "no workbook"),
        ("xl/workbook.bin", "a binary workbook"),
    ):
        with zipfile.ZipFile("d.xlsx", "w") as file:
            file.writestr("[Content_Types].xml", "<Types/>")
            file.writestr(part, "x")
        status, _, err = fit(capsys, "d.xlsx")
        assert status == 1
        assert f"as a workbook: it is {what}: save its table as .xlsx or .csv" in err


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (timedelta(hours=26, minutes=3), "26:03:00"),
        (timedelta(seconds=-90), "-00:01:30"),
        (timedelta(seconds=1.5), "00:00:01.500000"),
        (1.0, "1"),
        (1e18, "1000000000000000000"),
        (1e22, "1e+22"),
        (0.1, "0.1"),
        (True, "TRUE"),
    ],
)
def test_cells_are_written_as_a_spreadsheet_program_exports_them(value, text):
    assert cell_text(value) == text
