"""Names that other programs use, names to paste into a shell, and what a model knows itself."""

import os
import shlex

import pytest
from aucrank import TreeRank
from aucrank._data.row_names import names_rows
from aucrank.cli._parser import build_parser

from tests.common.command_line import TREE, loans, ok, run

pytestmark = pytest.mark.usefixtures("in_a_folder_of_its_own")


@pytest.mark.parametrize(
    ("command", "given", "meant"),
    [
        ("fit", "--patient", "--group"),
        ("fit", "--subjects", "--group"),
        ("fit", "--taget", "--target"),
        ("fit", "--label", "--target"),
        ("fit", "--delimiter", "--sep"),
        ("fit", "--threads", "--n-jobs"),
        ("fit", "--random-state", "--seed"),
        ("fit", "--outpt", "--output"),
        ("score", "--out", "--output"),
        ("score", "--probability", "--proba"),
        ("evaluate", "--date", "--time"),
        ("export", "--format", "--to"),
        ("report", "--wieght", "--weight"),
    ],
)
def test_an_option_of_another_name_is_suggested(command, given, meant, capsys):
    status, _, err = run(capsys, command, "a", given, "x")
    assert status == 2
    assert f"there is no option {given}; did you mean {meant!r}? (see" in err


@pytest.mark.parametrize(
    ("args", "meant"),
    [
        (["export", "m.json", "--to", "onxx"], "onnx"),
        (["export", "m.json", "--to", "sql", "--dialect", "postgre"], "postgres"),
        (["fit", "d.csv", "--target", "y", "--preset", "fats"], "fast"),
    ],
)
def test_a_choice_that_is_misspelt_is_suggested(args, meant, capsys):
    status, _, err = run(capsys, *args)
    assert status == 2
    assert f"did you mean {meant!r}" in err.replace("postgresql", "postgres")


def test_every_command_takes_quiet():
    parser = build_parser()
    commands = next(action.choices for action in parser._actions if action.choices)
    for name, command in commands.items():
        assert "-q" in command._option_string_actions, name


@pytest.mark.parametrize(
    "name",
    [
        *("Kundennr.", "Kunden-Nr", "Kd.-Nr.", "cust_no", "CUSTNO", "custid", "Vertragsnummer"),
        *("Personalnr.", "Kundenkennung", "Aktenzeichen", "acct", "PATIENTID", "ID#", "numéro"),
    ],
)
def test_usual_names_of_rows_are_recognised(name):
    assert names_rows(name)


@pytest.mark.parametrize(
    "name",
    ["casino", "volcano", "Spanner", "paid", "amount", "account_age", "orders", "personid2x"],
)
def test_names_that_only_end_alike_are_not(name):
    assert not names_rows(name)


def test_hints_can_be_pasted_into_a_shell(capsys):
    rows = loans(300)
    rows["net income ($)"] = [f"{value:.1f} EUR" for value in range(300)]
    rows.loc[3, "net income ($)"] = "n/k"
    rows.to_csv("d.csv", index=False)
    err = run(capsys, "fit", "d.csv", "--target", "bad", *TREE, "-o", "m.json", "-v")[2]
    option = next(line for line in err.splitlines() if "--categorical" in line)
    words = option[option.index("--categorical") :].rstrip(")").split("; ")[0]
    assert shlex.split(words)[:2] == ["--categorical", "net income ($)"]


@pytest.fixture(params=["csv", "parquet", "folder", "no-header"])
def fitted(request, capsys):
    """Arguments of the data of a model, which was fitted to them."""
    rows = loans(300)
    args = []
    if request.param == "parquet":
        rows.to_parquet("d.parquet")
        data = "d.parquet"
    elif request.param == "folder":
        os.mkdir("parts")
        rows.to_csv("parts/a.csv", index=False)
        data = "parts"
    else:
        args = ["--no-header"] if request.param == "no-header" else []
        rows.to_csv("d.csv", index=False, header=not args)
        data = "d.csv"
    target = "4" if args else "bad"
    ok(capsys, "fit", data, "--target", target, *TREE, "-o", "m.json", *args)
    return [data, *args], target


def test_evaluate_knows_the_target_of_the_fit(fitted, capsys):
    data, target = fitted
    known = ok(capsys, "evaluate", "m.json", *data)
    assert known == ok(capsys, "evaluate", "m.json", *data, "--target", target)


def test_a_report_knows_the_target_of_the_fit(capsys):
    pytest.importorskip("jinja2")
    loans(300).to_csv("d.csv", index=False)
    ok(capsys, "fit", "d.csv", "--target", "bad", *TREE, "-o", "m.json")
    assert run(capsys, "report", "m.json", "d.csv", "-o", "r.html")[0] == 0
    with open("r.html", encoding="utf-8") as file:
        page = file.read()
    assert "<h1>How m (TreeRank) ranks the rows of d.csv by bad</h1>" in page


def test_a_model_that_does_not_say_its_target_needs_the_option(capsys):
    rows = loans(300)
    TreeRank().fit(rows[["income", "age"]], rows["bad"]).save("m.json")
    rows.to_csv("d.csv", index=False)
    status, _, err = run(capsys, "evaluate", "m.json", "d.csv")
    assert status == 2
    assert "m.json does not say which column holds the classes" in err
    assert "name it with --target" in err


def test_a_fit_to_a_folder_prints_rows_and_share_of_positives(capsys):
    os.mkdir("parts")
    rows = loans(300)
    rows[:100].to_csv("parts/a.csv", index=False)
    rows[100:].to_csv("parts/b.csv", index=False)
    rows.to_csv("d.csv", index=False)
    lines = [
        ok(capsys, "fit", data, "--target", "bad", *TREE, "-o", "m.json").splitlines()
        for data in ("parts", "d.csv")
    ]
    n = int(rows["bad"].sum())
    said = f"target  positive is bad = 1 ({n} rows, {n / 300:.1%})"
    assert lines[0][1] == said
    assert lines[1][1].startswith(said)
    assert "300 rows" in lines[0][0]
