"""`aucrank evaluate` and `aucrank report` of columns of scores, without a model."""

from pathlib import Path

import aucrank
import numpy as np
import pandas as pd
import pytest
from aucrank.metrics import (
    auc_by,
    auc_compare,
    auc_interval,
    calibration_curve,
    roc_auc_score,
    roc_curve,
)

from tests.common.command_line import loans, ok, run, table

DATA = ("rows.csv", "--target", "bad")
BOTH = (*DATA, "--score", "vendor", "--probability", "risk")


def scored(n=400, seed=0):
    """Rows with a score, a probability, weights, groups, times and subgroups."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=n)
    risk = 1 / (1 + np.exp(1 - x))
    return pd.DataFrame(
        {
            "bad": (rng.random(n) < risk).astype(int),
            "vendor": (600 + 50 * (x + rng.normal(size=n))).round(2),
            "risk": risk.round(4),
            "w": rng.integers(1, 4, n),
            "patient": [f"{number:03}" for number in np.arange(n) // 4],
            "day": pd.date_range("2024-01-01", periods=n).strftime("%Y-%m-%d"),
            "site": rng.choice(["north", "south"], n),
            "age": rng.integers(20, 80, n),
        }
    )


@pytest.fixture
def rows():
    frame = scored()
    frame.to_csv("rows.csv", index=False)
    return frame


def test_scores_are_evaluated_and_compared(rows, reader, capsys):
    _, out, _ = run(capsys, "evaluate", *BOTH)
    y = rows["bad"]
    lines = out.splitlines()
    assert lines[:4] == [
        "data      rows.csv",
        "positive  bad = 1",
        "n         400",
        f"n_pos     {y.sum()} ({y.mean():.1%})",
    ]
    cells = table(out, "score")
    for line, name in zip(cells, ("vendor", "risk"), strict=False):
        found = auc_interval(y, rows[name])
        assert line == [name, f"{found.auc:.4f}", f"{found.low:.4f}", f"{found.high:.4f}"]
    fprs, tprs, _ = roc_curve(y, rows["vendor"], drop_intermediate=False)
    at_10 = tprs[np.flatnonzero(fprs <= 0.1)[-1]]
    assert table(out, "FPR")[2][:2] == ["10%", f"{at_10:.1%}"]
    test = auc_compare(y, rows["vendor"], rows["risk"])
    difference = table(out, "scores")[0]
    assert difference[:4] == ["vendor", "less", "risk", f"{test.difference:.4f}"]
    calibration = calibration_curve(y, rows["risk"])
    assert f"{calibration.slope:.3f} (" in out
    assert f"{calibration.brier:.4f}" in out


def test_one_score_is_compared_with_none(rows, capsys):
    _, out, _ = run(capsys, "evaluate", *DATA, "--score", "vendor")
    assert f"{roc_auc_score(rows['bad'], rows['vendor']):.4f}" in out
    assert "Differences" not in out
    assert "Calibration" not in out


def test_weights_groups_times_and_subgroups_count(rows, capsys):
    options = ("--weight", "w", "--group", "patient", "--time", "day", "--by", "site")
    _, out, _ = run(capsys, "evaluate", *BOTH, *options)
    given = {"sample_weight": rows["w"], "groups": rows["patient"]}
    found = auc_interval(rows["bad"], rows["risk"], **given)
    line = next(line for line in table(out, "score") if line[0] == "risk")
    assert line == ["risk", f"{found.auc:.4f}", f"{found.low:.4f}", f"{found.high:.4f}"]
    by = auc_by(rows["bad"], rows["vendor"], rows["site"], **given)
    assert f"AUC within {by.auc_within:.4f}, between {by.auc_between:.4f}" in out
    for heading in ("AUC of vendor by site", "AUC of risk by day", ", of groups by patient"):
        assert heading in out
    # Times are dates.
    assert any(line[:2] == ["2024", "Q1"] for line in table(out, "part"))


def test_subgroups_of_many_numbers_are_quartiles(rows, capsys):
    _, out, _ = run(capsys, "evaluate", *DATA, "--score", "vendor", "--by", "age", "patient")
    tops = np.sort(rows["age"])[[99, 199, 299, 399]]
    parts = [line for line in table(out, "part") if line[1:2] == ["to"]]
    assert [int(line[2]) for line in parts] == tops.tolist()
    assert sum(int(line[3]) for line in parts) == 400
    # A patient 003 is not a number.
    assert any(line[:1] == ["003"] for line in table(out, "part"))


def test_a_model_is_evaluated_with_weights(capsys):
    loans().to_csv("train.csv", index=False)
    rows = loans(300, seed=1)
    rows["w"] = np.arange(300) % 3
    rows.to_csv("test.csv", index=False)
    model = ("fit", "--model", "TreeRank", "train.csv", "--target", "bad", "-o", "tree.json")
    ok(capsys, *model)
    out = ok(capsys, "evaluate", "tree.json", "test.csv", "--weight", "w")
    X = rows.drop(columns=["bad", "w"]).astype({"purpose": "category"})
    scores = aucrank.load("tree.json").decision_function(X)
    found = auc_interval(rows["bad"], scores, sample_weight=rows["w"])
    assert f"AUC       {found.auc:.4f}" in out
    assert f"interval  {found.low:.4f} to {found.high:.4f}" in out
    assert "weights   w" in out
    # With groups the same, of the rows in memory.
    rows.assign(pair=np.arange(300) // 2).to_csv("test.csv", index=False)
    out = ok(capsys, "evaluate", "tree.json", "test.csv", "--weight", "w", "--group", "pair")
    found = auc_interval(rows["bad"], scores, sample_weight=rows["w"], groups=np.arange(300) // 2)
    assert f"interval  {found.low:.4f} to {found.high:.4f}" in out


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_scores_of_a_folder_are_those_of_one_file(rows, kind, capsys):
    options = ("--weight", "w", "--group", "patient", "--by", "site")
    Path("parts").mkdir()
    for name, part in (("a", rows[:150]), ("b", rows[150:])):
        write = {"csv": part.to_csv, "parquet": part.to_parquet}[kind]
        write(f"parts/{name}.{kind}", index=False)
    status, expected, _ = run(capsys, "evaluate", *BOTH, *options)
    assert status == 0
    status, found, _ = run(capsys, "evaluate", "parts", *BOTH[1:], *options)
    assert status == 0
    assert found.replace("parts", "rows.csv") == expected


def test_the_page_is_that_of_the_scores_in_python(rows, reader, capsys):
    scored(seed=1).to_csv("earlier.csv", index=False)
    out = run(
        capsys, "report", *BOTH, "--weight", "w", "--by", "site", "--train", "earlier.csv",
        "--grades", "0.1", "0.3", "-o", "page.html",
    )[1]  # fmt: skip
    made = aucrank.report(
        y=rows["bad"],
        scores=rows[["vendor", "risk"]],
        probabilities=["risk"],
        sample_weight=rows["w"],
        by={"site": rows["site"]},
        scores_train=scored(seed=1)[["vendor", "risk"]],
        grades=[0.1, 0.3],
    )
    assert out.startswith(made.one_line)
    html = Path("page.html").read_text("utf-8")
    for chapter in ("calibration", "grades", "scores", "subgroups"):
        start, end = f'<section id="{chapter}"', "</section>"
        own, expected = (page.split(start)[1].split(end)[0] for page in (html, made.html))
        assert own.replace("bad = 1", "1").replace("bad other than 1", "0") == expected
    assert "<h1>How vendor and risk rank the rows of rows.csv by bad</h1>" in html
    # The other columns are described.
    assert "Columns (3)" in html


def test_a_model_and_scores_share_a_page(rows, capsys):
    fit = ("fit", "--model", "TreeRank", "rows.csv", "--target", "bad", "--drop", "vendor", "risk")
    run(capsys, *fit, "-o", "tree.json")
    status, out, _ = run(capsys, "report", "tree.json", *BOTH, "-o", "page.html")
    assert (status, out.startswith("400 rows, ")) == (0, True)
    html = Path("page.html").read_text("utf-8")
    for pair in ("tree less vendor", "tree less risk", "vendor less risk"):
        assert pair in html
    against = ("--against", "tree.json", "-o", "other.html")
    assert run(capsys, "report", *DATA, "--score", "vendor", *against)[0] == 0
    assert "tree less vendor" in Path("other.html").read_text("utf-8")


def test_scores_need_memory_for_their_rows(rows, capsys):
    _, expected, _ = run(capsys, "evaluate", *BOTH)
    assert run(capsys, "evaluate", *BOTH, "--memory", "1MB")[:2] == (0, expected)
    status, _, err = run(capsys, "evaluate", *BOTH, "--memory", "1KB")
    assert status == 2
    assert "--score and --probability keep the score of each row" in " ".join(err.split())


def test_arguments_may_be_in_any_order(rows, capsys):
    expected = run(capsys, "evaluate", "rows.csv", "--target", "bad", "--score", "vendor")
    assert expected[0] == 0
    for args in (
        ["--score=vendor", "rows.csv", "--target", "bad"],
        ["--target", "bad", "--score", "vendor", "--", "rows.csv"],
        ["--score", "vendor", "--target", "bad", "rows.csv"],
    ):
        assert run(capsys, "evaluate", *args) == expected


def test_columns_of_a_file_without_names_are_numbered(rows, capsys):
    rows[["bad", "vendor", "risk"]].to_csv("bare.csv", index=False, header=False)
    args = ("bare.csv", "--target", "1", "--score", "2", "--probability", "3", "--no-header")
    _, out, _ = run(capsys, "evaluate", *args)
    assert f"column_2  {roc_auc_score(rows['bad'], rows['vendor']):.4f}" in out


def test_the_class_of_words_can_be_chosen(rows, capsys):
    rows["bad"] = np.where(rows["bad"] == 1, "late", "paid")
    rows.to_csv("rows.csv", index=False)
    status, out, err = run(capsys, "evaluate", *DATA, "--score", "vendor", "--positive", "late")
    assert (status, "positive  bad = late" in out) == (0, True)
    assert f"vendor  {roc_auc_score(rows['bad'] == 'late', rows['vendor']):.4f}" in out
    _, _, err = run(capsys, "evaluate", *DATA, "--score", "vendor")
    assert "--positive late ranks the other one first" in err


def holes(rows, name, values):
    """Rows with other values in one column, by row."""
    changed = rows.astype({name: object})
    for row, value in values.items():
        changed.loc[row, name] = value
    return changed


@pytest.mark.parametrize(
    ("change", "options", "status", "message"),
    [
        (lambda d: d, ["--score", "none"], 1, "rows.csv has no column 'none' (--score)"),
        (lambda d: d, ["--probability", "rsik"], 1, "(--probability); did you mean 'risk'?"),
        (lambda d: holes(d, "vendor", {3: None, 9: "NaN"}), ["--score", "vendor"], 1,
         "score column 'vendor' of rows.csv is missing in rows 4 and 10 of 400"),
        (lambda d: holes(d, "vendor", {3: np.inf, 9: -np.inf}), ["--score", "vendor"], 1,
         "score column 'vendor' of rows.csv is infinite in rows 4 and 10 of 400"),
        (lambda d: holes(d, "vendor", {3: "high"}), ["--score", "vendor"], 1,
         "score column 'vendor' of rows.csv is missing in row 4 of 400"),
        (lambda d: d, ["--score", "site"], 1, "holds '"),
        (lambda d: d, ["--score", "day"], 1, "score column 'day' of rows.csv holds dates"),
        (lambda d: d.assign(vendor=0.5), ["--score", "vendor"], 1,
         "score column 'vendor' of rows.csv is 0.5 in all rows: it ranks nothing"),
        (lambda d: d, ["--probability", "vendor"], 1,
         "probability column 'vendor' of rows.csv is not from 0 to 1 in rows 1, 2, 3, 4, 5 and"),
        (lambda d: d.assign(bad=1), ["--score", "vendor"], 1, "1 distinct value"),
        (lambda d: d, ["--score", "vendor", "vendor"], 2, "--score names 'vendor' twice"),
        (lambda d: d, ["--score", "risk", "--probability", "risk"], 2,
         "column 'risk' is given two uses"),
        (lambda d: d, ["--score", "bad"], 2, "column 'bad' is given two uses"),
        (lambda d: d, ["--score", "w", "--weight", "w"], 2, "column 'w' is given two uses"),
        (lambda d: d, ["--score", *"abcdefghi"], 2, "1 to 8 scores, got 9"),
        (lambda d: d, ["--score", "vendor", "--weight", "none"], 1, "(--weight)"),
        (lambda d: d, ["--score", "vendor", "--weight", "site"], 1, "does not hold numbers"),
        (lambda d: d, ["--scorre", "vendor"], 2, "did you mean '--score'?"),
        (lambda d: d, ["--prob", "risk"], 2, "did you mean '--probability'?"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("command", ["evaluate", "report"])
def test_bad_columns_are_reported(rows, command, change, options, status, message, capsys):
    change(rows).to_csv("rows.csv", index=False)
    found, out, err = run(capsys, command, *DATA, *options)
    assert (found, out) == (status, "")
    assert message in " ".join(err.split())


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (("evaluate", "rows.csv", "--score", "vendor"), "with --target"),
        (("evaluate", "m.json", *DATA, "--score", "vendor"), "`aucrank report` takes both"),
        (("evaluate", *DATA), "required: DATA, after MODEL"),
        (("report", *DATA, "--score", "vendor", "--grades", "2"), "grades must be one or more"),
        (("report", *DATA, "--score", "vendor", "--against", "vendor.json"), "rename one"),
    ],
)
def test_calls_that_lack_something_are_reported(rows, args, message, capsys):
    status, out, err = run(capsys, *args)
    assert (status, out) == (2, "")
    assert message in " ".join(err.split())


def test_an_earlier_file_needs_the_scores_but_no_labels(rows, capsys):
    scored(seed=1)[["vendor"]].to_csv("earlier.csv", index=False)
    args = ("report", *DATA, "--score", "vendor", "--train", "earlier.csv", "-o", "page.html")
    assert run(capsys, *args)[0] == 0
    html = Path("page.html").read_text("utf-8")
    assert "Drift of the scores</caption>" in html
    assert "Drift of the columns" in html
    status, _, err = run(capsys, *args, "--probability", "risk")
    assert (status, "earlier.csv has no column 'risk' (--probability)" in err) == (1, True)
