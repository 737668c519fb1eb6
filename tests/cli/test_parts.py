"""`--group`, `--time` and `--by` of `evaluate` and `report`."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from aucrank import load
from aucrank.metrics import auc_by, auc_interval

from tests.common.command_line import run, table

FIT = ("fit", "train.csv", "--target", "bad", "--model", "RIMARC", "-o", "model.json")
ROWS = ("model.json", "test.csv", "--target", "bad")


@pytest.fixture
def rows(capsys):
    """Rows of 80 patients in half a year; half of them are fitted to."""
    rng = np.random.default_rng(0)
    patient = np.repeat(np.arange(80), 10)
    frame = pd.DataFrame(
        {
            "patient": [f"{number:03}" for number in patient],
            "day": pd.date_range("2024-01-01", periods=800).repeat(2)[:800].strftime("%Y-%m-%d"),
            "site": np.array(["north", "south"])[patient % 2],
            "age": rng.integers(20, 80, 800),
            "x": rng.normal(size=80)[patient] + 0.3 * rng.normal(size=800),
        }
    )
    frame["bad"] = (frame["x"] + frame["age"] / 60 + rng.normal(size=800) > 1).astype(int)
    frame[:400].to_csv("train.csv", index=False)
    frame[400:].to_csv("test.csv", index=False)
    run(capsys, *FIT, "--group", "patient", "--drop", "day", "site")
    return frame[400:]


def scored(rows):
    return load("model.json").decision_function(rows[["age", "x"]])


def test_intervals_account_for_groups(rows, capsys):
    _, out, _ = run(capsys, "evaluate", *ROWS, "--group", "patient")
    found = auc_interval(rows["bad"], scored(rows), groups=rows["patient"], method="logit")
    assert f"interval  {found.low:.4f} to {found.high:.4f} (95% confidence, of groups" in out
    _, out, _ = run(capsys, "report", *ROWS, "--group", "patient")
    assert f"AUC {found.auc:.4f} ({found.low:.4f} to {found.high:.4f})" in out


def test_each_subgroup_is_evaluated(rows, capsys):
    _, out, _ = run(capsys, "evaluate", *ROWS, "--group", "patient", "--by", "site")
    found = auc_by(rows["bad"], scored(rows), rows["site"], groups=rows["patient"])
    lines = table(out, "part")
    for line, place in zip(lines, range(2), strict=False):
        row = {name: found.table[name][place] for name in ("subgroup", "size", "positives", "auc")}
        assert line[:4] == [
            row["subgroup"], f"{row['size']}", f"{row['positives']}", f"{row['auc']:.4f}"
        ]  # fmt: skip
    assert f"within {found.auc_within:.4f}, between {found.auc_between:.4f}" in out


def test_subgroups_may_be_defined_by_several_columns(rows, capsys):
    options = ("--by", "site", "--by", "patient", "--time", "day")
    _, out, _ = run(capsys, "evaluate", *ROWS, *options)
    titles = [line.split(",")[0] for line in out.splitlines() if line.startswith("AUC by")]
    assert titles == ["AUC by site", "AUC by patient", "AUC by day"]
    # A patient 003 is not a number.
    assert any(line.startswith("040 ") for line in out.splitlines())
    assert any(line.startswith("2024-08 ") for line in out.splitlines())


def test_the_page_has_a_chapter_for_each_column(rows, capsys):
    run(capsys, "report", *ROWS, "--by", "site", "--time", "day", "-o", "page.html")
    html = Path("page.html").read_text(encoding="utf-8")
    for heading in ("Subgroups</h2>", "By site</h3>", "Over time</h2>", "2024-08"):
        assert heading in html


def test_times_of_a_parquet_file_are_dates(rows, capsys):
    rows.assign(day=pd.to_datetime(rows["day"])).to_parquet("test.parquet")
    _, out, _ = run(capsys, "evaluate", "model.json", "test.parquet", "--target", "bad",
                    "--time", "day")  # fmt: skip
    assert any(line.startswith("2024-08 ") for line in out.splitlines())


def test_a_column_that_the_model_was_fitted_to_stays_a_feature(rows, capsys):
    for command in ("evaluate", "report"):
        _, out, _ = run(capsys, command, *ROWS, "--by", "age", "site")
        assert "age (--by) stays a feature of model.json" in out
        assert "site (--by)" not in out


@pytest.mark.parametrize(
    ("options", "status", "message"),
    [
        (["--by", "nobody"], 1, "no column 'nobody' (--by)"),
        (["--group", "nobody"], 1, "no column 'nobody' (--group)"),
        (["--by", "bad"], 2, "column 'bad' is given two uses"),
        (["--group", "day", "--time", "day"], 2, "column 'day' is given two uses"),
        (["--by", "site", "site"], 2, "--by names 'site' twice"),
        (["--time", "site"], 1, "time column 'site' of test.csv does not hold numbers or dates"),
        (["--group", "gap"], 1, "'gap' of test.csv is missing in 1 of 400 rows"),
        (["--group", "bad2"], 1, "are of one group"),
    ],
)
@pytest.mark.parametrize("command", ["evaluate", "report"])
def test_invalid_options_are_reported(rows, capsys, command, options, status, message):
    rows.assign(gap=[None, *map(str, range(399))], bad2=rows["bad"]).to_csv("test.csv", index=False)
    found, out, err = run(capsys, command, *ROWS, *options)
    assert (found, out) == (status, "")
    assert message in " ".join(err.split())


@pytest.mark.parametrize(
    "options",
    [
        ["--group", "patient"],
        ["--by", "site"],
        ["--time", "day"],
        ["--group", "patient", "--time", "day", "--by", "site", "age"],
    ],
    ids=" ".join,
)
def test_subgroup_figures_of_a_folder_equal_those_of_one_file(rows, capsys, options):
    status, expected, _ = run(capsys, "evaluate", *ROWS, *options)
    assert status == 0
    half = len(rows) // 2
    Path("parts").mkdir()
    for name, part in (("a", rows[:half]), ("b", rows[half:])):
        part.to_csv(f"parts/{name}.csv", index=False)
    status, found, _ = run(capsys, "evaluate", "model.json", "parts", *ROWS[2:], *options)
    assert status == 0
    assert found.replace("parts", "test.csv").splitlines() == expected.splitlines()


def test_groups_need_memory_for_their_scores(rows, capsys):
    status, _, err = run(capsys, "evaluate", *ROWS, "--group", "patient", "--memory", "1KB")
    assert status == 2
    assert "--group keeps the score of each row" in " ".join(err.split())
