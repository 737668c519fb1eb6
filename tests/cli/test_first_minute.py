"""Help with the first commands: misspelt names, shell completion, workbooks, hints."""

import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from aucrank import load
from aucrank._base.registry import ESTIMATORS
from aucrank._utils.warn import ReadingNote
from aucrank.cli._parser import build_parser
from aucrank.cli._positive import warn_of_positive

from tests.common.command_line import TREE, levels_of, loans, ok, run
from tests.common.paths import GOLDEN


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("fti x.csv", "there is no command 'fti'; did you mean 'fit'? (see aucrank --help)"),
        ("zzz", "there is no command 'zzz'; there are: demo, compare, fit, score, evaluate,"),
        (
            "fit x.csv --taget y",
            "there is no option --taget; did you mean '--target'? (see aucrank fit --help)",
        ),
        ("score m.json x.csv --probba", "there is no option --probba; did you mean '--proba'?"),
        ("fit x.csv --target=y --qqqq=3", "there is no option --qqqq (see aucrank fit --help)"),
        ("--verson", "there is no option --verson; did you mean '--version'?"),
    ],
)
def test_a_name_that_is_nearly_right_is_suggested(command, said, capsys):
    status, out, err = run(capsys, *command.split())
    assert (status, out) == (2, "")
    assert said in err
    assert err.count("\n") == 1


def test_values_may_begin_with_a_dash():
    args = build_parser().parse_args(["fit", "x.csv", "--target=--y", "--missing", "-999"])
    assert (args.target, args.missing) == ("--y", ["-999"])
    args = build_parser().parse_args(["describe", "--", "--model.json"])
    assert args.model == "--model.json"


@pytest.mark.parametrize("shell", ["bash", "zsh", "tcsh"])
def test_shells_complete_commands_and_options(shell, capsys):
    pytest.importorskip("shtab")
    script = ok(capsys, "completion", shell)
    for name in ("fit", "evaluate", "target", "header-row"):
        assert name in script
    if shell == "bash":
        subprocess.run(["bash", "-n"], input=script, text=True, check=True)


def test_without_shtab_the_error_says_what_to_install(capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "shtab", None)
    status, out, err = run(capsys, "completion", "bash")
    assert (status, out) == (1, "")
    assert "run `pip install 'aucrank[completion]'`" in err


#: Modules that `aucrank describe` needs for no model: of other packages, and of aucrank.
NOT_DESCRIBED = (
    "pandas.core polars pyarrow matplotlib jinja2 scipy.stats._stats_py scipy.special._ufuncs"
    " scipy.optimize scipy.signal scipy.interpolate numpy.ma.core numpy.testing._private"
    " numpy.f2py.crackfortran asyncio.base_events sklearn.externals.array_api_compat.numpy._aliases"
    " sklearn.pipeline sklearn.preprocessing sklearn.model_selection aucrank._export.code"
    " aucrank._export.treelite aucrank._page.model sklearn.metrics aucrank.metrics aucrank._report"
    " aucrank._compare.leaderboard"
)


def test_modules_that_are_not_used_are_not_loaded():
    # A file of every family.
    models = [str(path) for path in sorted(GOLDEN.glob("families_v*.json"))]
    models = [path for path in models if not path.endswith("answers.json")]
    assert len(models) > len(ESTIMATORS)
    code = (
        "import sys; from aucrank.cli import main\n"
        f"for path in {models}: assert main(['describe', path]) == 0\n"
        f"print([n for n in '{NOT_DESCRIBED}'.split() if n in sys.modules], file=sys.stderr)\n"
        "import pandas, scipy.stats; print(pandas.DataFrame.__name__, scipy.stats.norm.cdf(0.0),"
        " pandas.api.types.is_list_like([1]), file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    # scikit-learn of another version may load more by itself.
    assert done.stderr.splitlines() == ["[]", "DataFrame 0.5 True"]


@pytest.mark.parametrize(
    ("first", "other", "share", "hint"),
    [
        ("good", "bad", 0.4, "bad is usually the class to look for: --positive bad"),
        ("nein", "ja", None, "ja is usually"),
        ("stayed", "Churned", 0.1, "--positive Churned"),
        ("repaid", "default", 0.9, "default is usually"),
        ("2", "1", 0.7, "it is the class of 70.0% of the rows: --positive 1 ranks the other one"),
        ("b c", "a b", 0.8, "--positive 'a b'"),
        ("2", "1", 0.3, None),
        ("1", "0", 0.9, None),
        ("yes", "no", 0.9, None),
        ("b", "a", None, None),
    ],
)
def test_an_unlikely_positive_class_raises_a_note(first, other, share, hint, recwarn):
    warn_of_positive("y", first, other, share)
    said = [str(warning.message) for warning in recwarn if warning.category is ReadingNote]
    assert [hint in text for text in said] == ([] if hint is None else [True])


def test_fit_suggests_the_other_class_and_accepts_it_with_blanks_around_it(capsys):
    rows = loans()
    rows["bad"] = np.where(rows["bad"] == 1, " bad ", "good")
    rows.to_csv("loans.csv", index=False)
    status, out, err = run(capsys, "fit", *TREE, "loans.csv", "--target", "bad")
    assert status == 0
    assert "note: bad = good is ranked first, and bad is usually the class to look for" in err
    status, out, err = run(
        capsys, "fit", *TREE, "loans.csv", "--target", "bad", "--positive", "  bad"
    )
    assert status == 0
    assert "positive is bad = bad" in out
    assert "ranked first" not in err


def test_a_header_row_is_counted_in_lines(capsys):
    rows = loans()
    text = rows.to_csv(index=False)
    with open("loans.csv", "w", encoding="utf-8") as file:
        file.write(f"made,by,a\nprogram,of,ours\n{text}")
    rows.to_csv("plain.csv", index=False)
    ok(capsys, "fit", *TREE, "plain.csv", "--target", "bad", "-o", "plain.json")
    by = ["--header-row", "3"]
    ok(capsys, "fit", *TREE, "loans.csv", "--target", "bad", "-o", "model.json", *by)
    plain = ok(capsys, "score", "plain.json", "plain.csv")
    assert ok(capsys, "score", "model.json", "loans.csv", *by) == plain
    for other in (["--skip-rows", "2"], ["--no-header"]):
        status, _, err = run(capsys, "score", "model.json", "loans.csv", *by, *other)
        assert status == 2
        assert f"--header-row and {other[0]} say where rows begin" in err


@pytest.fixture
def workbook():
    """Loans as a sheet, behind a title and before another sheet."""
    pytest.importorskip("python_calamine")
    pytest.importorskip("openpyxl")
    rows = loans()
    rows["day"] = pd.Timestamp("2026-01-01") + pd.to_timedelta(rows["age"], unit="D")
    rows.to_csv("loans.csv", index=False, date_format="%Y-%m-%d")
    with pd.ExcelWriter("loans.xlsx") as writer:
        rows.to_excel(writer, sheet_name="loans", index=False)
        pd.DataFrame({"a": [1]}).to_excel(writer, sheet_name="notes", index=False)
    with pd.ExcelWriter("title.xlsx") as writer:
        rows.to_excel(writer, sheet_name="loans", index=False, startrow=2)
    return rows


def test_a_workbook_is_read_as_the_csv_file_that_it_would_be(workbook, reader, capsys):
    ok_ = ["--target", "bad", "--seed", "1"]
    _, out, _ = run(capsys, "fit", *TREE, "loans.csv", *ok_, "-o", "csv.json")
    _, of_book, err = run(capsys, "fit", *TREE, "loans.xlsx", *ok_, "-o", "book.json")
    assert "sheet loans" in err
    assert of_book.splitlines()[1] == out.splitlines()[1]
    assert levels_of("book.json") == levels_of("csv.json")
    assert load("book.json").tree_.to_text() == load("csv.json").tree_.to_text()
    expected = run(capsys, "score", "csv.json", "loans.csv")[1]
    for book in (["loans.xlsx"], ["loans.xlsx", "--sheet", "loans"], ["title.xlsx"]):
        for model in ("csv.json", "book.json"):
            assert run(capsys, "score", model, *book)[1] == expected
    by_row = run(capsys, "score", "csv.json", "title.xlsx", "--header-row", "3")[1]
    assert by_row == expected
    # And a later CSV file by the model of a workbook.
    assert run(capsys, "score", "book.json", "loans.csv")[1] == expected
    _, of_csv, _ = run(capsys, "evaluate", "csv.json", "loans.csv", "--target", "bad")
    _, of_book, _ = run(capsys, "evaluate", "csv.json", "loans.xlsx", "--target", "bad")
    assert of_book.replace("loans.xlsx", "loans.csv") == of_csv


def test_numbers_of_a_workbook_keep_their_value_for_a_model_with_decimal_commas(workbook, capsys):
    workbook[["income", "age", "bad"]].to_csv("comma.csv", sep=";", decimal=",", index=False)
    status, _, _ = run(capsys, "fit", *TREE, "comma.csv", "--target", "bad", "-o", "comma.json")
    assert status == 0
    expected = run(capsys, "score", "comma.json", "comma.csv")[1]
    assert run(capsys, "score", "comma.json", "loans.xlsx")[1] == expected


@pytest.mark.parametrize(
    ("options", "status", "said"),
    [
        (["--sheet", "loan"], 1, "loans.xlsx has no sheet 'loan'; did you mean 'loans'?"),
        (["--sep", ";"], 2, "--sep is of CSV files, and loans.xlsx is a workbook"),
    ],
)
def test_options_that_do_not_apply_to_a_workbook_are_reported(
    workbook, options, status, said, capsys
):
    found, _, err = run(capsys, "fit", *TREE, "loans.xlsx", "--target", "bad", *options)
    assert (found, said in err) == (status, True)


def test_a_damaged_workbook_is_an_error(capsys):
    pytest.importorskip("python_calamine")
    with open("x.xlsx", "wb") as file:
        file.write(b"PK\x03\x04 and no more")
    status, _, err = run(capsys, "fit", *TREE, "x.xlsx", "--target", "y")
    assert status == 1
    assert err.startswith("aucrank: error: cannot read x.xlsx as a workbook: ")


def test_a_workbook_without_its_reader_raises_an_error_that_says_what_to_install(
    capsys, monkeypatch
):
    monkeypatch.setitem(sys.modules, "python_calamine", None)
    with open("x.xlsx", "wb") as file:
        file.write(b"PK\x03\x04")
    status, _, err = run(capsys, "fit", *TREE, "x.xlsx", "--target", "y")
    assert (status, "run `pip install 'aucrank[xlsx]'`" in err) == (1, True)


def test_a_peer_that_takes_too_long_is_cut_off(capsys):
    loans(200).to_csv("loans.csv", index=False)
    models = ["--models", "RIMARC", "LogisticRegression", "--folds", "3"]
    limit = ["--peer-time-limit", "1e-9"]
    status, out, err = run(
        capsys, "compare", "loans.csv", "--target", "bad", *models, *limit, "--json", "x.json"
    )
    assert (status, err) == (0, "")
    assert "LogisticRegression (sklearn)  cut off: a fit took" in " ".join(out.split("\n"))
    assert "RIMARC" in out
    with open("x.json", encoding="utf-8") as file:
        assert "cut off: a fit took" in file.read()


def test_every_option_of_fit_is_in_the_suggested_command_or_does_not_matter_to_it():
    """By their names in the source: the same rows need the same options."""
    from aucrank.cli import fit

    parser = build_parser()
    commands = next(a.choices for a in parser._actions if a.choices and "fit" in a.choices)
    argv = ["fit", "x.csv", "--target", "y"]
    for action in commands["fit"]._actions:
        if action.dest not in DIFFER and action.option_strings and action.dest != "target":
            value = [] if action.nargs == 0 else ["." if action.choices else "7"]
            argv += [action.option_strings[0], *value]
    args = parser.parse_args(argv)
    said = fit._command(args, "TreeRank", "out.json")
    for option in [arg for arg in argv if arg.startswith("--")]:
        assert option in said, option


#: Options of the model, its file or the output.
DIFFER = {
    "progress",
    "quiet",
    "help",
    "model",
    "preset",
    "time_limit",
    "readable",
    "param",
    "out",
    "verbose",
}
