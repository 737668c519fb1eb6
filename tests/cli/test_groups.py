"""`--group` and `--time`: rows with groups or times."""

import json
from datetime import timedelta
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from aucrank import GradientBoostingRanker, RankingEnsemble, compare, load

from tests.common.command_line import leaderboard, ok, run

pytestmark = pytest.mark.usefixtures("short_fits")


@pytest.fixture
def rows():
    rng = np.random.default_rng(0)
    patient = np.repeat(np.arange(40), 5)
    of_patient = rng.normal(size=40)[patient]
    frame = pd.DataFrame(
        {
            "patient": [f"{number:03}" for number in patient],
            "day": np.arange(200) % 50,
            "x": of_patient + 0.1 * rng.normal(size=200),
            "z": rng.normal(size=200),
        }
    )
    frame["bad"] = (frame["x"] + rng.normal(size=200) > 0).astype(int)
    frame.to_csv("rows.csv", index=False)
    return frame


FIT = ("fit", "rows.csv", "--target", "bad", "-o", "model.json")


@pytest.mark.parametrize("way", ["group", "time"])
def test_a_fit_with_groups_equals_that_in_python(rows, capsys, way):
    options = {"group": ["--group", "patient", "--drop", "day"],
               "time": ["--time", "day", "--drop", "patient"]}  # fmt: skip
    out = ok(capsys, *FIT, *options[way])
    given = {"group": {"groups": rows["patient"]}, "time": {"time": rows["day"]}}
    X = rows[["x", "z"]]
    expected = RankingEnsemble(random_state=0).fit(X, rows["bad"], **given[way])
    assert load("model.json").feature_names_in_.tolist() == ["x", "z"]
    assert np.array_equal(load("model.json").decision_function(X), expected.decision_function(X))
    assert ("auc_latest" in out) == (way == "time")
    # The suggested command makes the same folds.
    assert f"--{way} " in out


def test_models_are_compared_on_folds_of_groups(rows, capsys):
    out = ok(
        capsys, "compare", "rows.csv", "--target", "bad", "--group", "patient", "--drop", "day",
        "--models", "GradientBoostingRanker", "LinearRanker", "--no-peers",
    )  # fmt: skip
    assert "groups kept together" in out
    expected = compare(
        rows[["x", "z"]], rows["bad"], groups=rows["patient"], peers=False, random_state=0,
        models={"GradientBoostingRanker": GradientBoostingRanker(random_state=0)},
    )  # fmt: skip
    auc = expected.to_frame()["auc"].iloc[0]
    rows_of = [line.split() for line in out.splitlines() if "GradientBoostingRanker" in line]
    assert any(f"{auc:.4f}" in cells for cells in rows_of)


def test_models_are_compared_on_ranges_of_time(rows, capsys):
    out = ok(
        capsys, "compare", "rows.csv", "--target", "bad", "--time", "day", "--drop", "patient",
        "--models", "GradientBoostingRanker", "LinearRanker", "--no-peers", "--csv", "board.csv",
    )  # fmt: skip
    assert "folds   5 ranges of time" in out
    expected = compare(
        rows[["x", "z"]], rows["bad"], time=rows["day"], peers=False, random_state=0,
        models={"GradientBoostingRanker": GradientBoostingRanker(random_state=0)},
    )  # fmt: skip
    latest = expected.to_frame()["auc_latest"].iloc[0]
    cells = leaderboard(out)["GradientBoostingRanker"]
    assert cells[5] == f"{latest:.4f}"
    table = pd.read_csv("board.csv").set_index("model")
    assert table.loc["GradientBoostingRanker", "latest"] == pytest.approx(latest)


@pytest.mark.parametrize("are_dates", [False, True])
def test_a_gap_is_in_days_or_in_the_numbers_of_the_column(rows, capsys, are_dates):
    gap = 3
    if are_dates:
        days = pd.Timestamp("2024-01-01") + pd.to_timedelta(rows["day"], "D")
        rows.assign(day=days).to_csv("rows.csv", index=False)
        gap = timedelta(days=3)
    status, out, _ = run(
        capsys, "compare", "rows.csv", "--target", "bad", "--time", "day", "--gap", "3",
        "--drop", "patient", "--models", "LinearRanker", "--no-peers", "--json", "board.json",
    )  # fmt: skip
    assert status == 0
    assert "models fitted to rows more than 3" in out
    expected = compare(
        rows[["x", "z"]], rows["bad"], peers=False, models=["LinearRanker"], random_state=0,
        time=days if are_dates else rows["day"], gap=gap,
    )  # fmt: skip
    found = json.loads(Path("board.json").read_text())
    assert found["gap"] == 3
    assert found["models"][0]["auc"] == pytest.approx(expected.folds["auc"].tolist())
    out = run(capsys, "compare", "rows.csv", "--target", "bad", "--gap", "3", "--drop", "day")
    assert "gap=3.0 is between ranges of time" in str(out)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--group", "nobody"], "no column 'nobody' (--group)"),
        (["--time", "patient", "--group", "patient"], "given two uses"),
        (["--time", "name"], "does not hold numbers or dates"),
        (["--group", "gap"], "'gap' of rows.csv is missing in 1 of 200 rows"),
    ],
)
def test_invalid_group_and_time_columns_are_rejected(rows, capsys, options, message):
    rows.assign(name="x", gap=[np.nan, *range(199)]).to_csv("rows.csv", index=False)
    status, _, err = run(capsys, *FIT, *options)
    assert status != 0
    assert message in " ".join(err.split())


@pytest.mark.parametrize("way", ["group", "time"])
def test_a_fit_to_a_folder_is_that_of_one_file(rows, capsys, way):
    options = {"group": ["--group", "patient", "--drop", "day"],
               "time": ["--time", "day", "--drop", "patient"]}[way]  # fmt: skip
    ok(capsys, *FIT, *options)
    expected = load("model.json")
    Path("parts").mkdir()
    for name, part in (("a", rows[:70]), ("b", rows[70:])):
        part.to_csv(f"parts/{name}.csv", index=False)
    out = ok(capsys, "fit", "parts", *FIT[2:], *options)
    found, X = load("model.json"), rows[["x", "z"]]
    assert np.array_equal(found.decision_function(X), expected.decision_function(X))
    assert ("auc_latest" in out) == (way == "time")
    assert f"--{way} " in out


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--group", "patient", "--drop", "day"], "groups kept together"),
        (["--time", "day", "--drop", "patient"], "5 ranges of time"),
    ],
)
def test_models_are_compared_on_a_folder(rows, capsys, options, said):
    Path("parts").mkdir()
    rows.to_csv("parts/a.csv", index=False)
    out = ok(
        capsys, "compare", "parts", "--target", "bad", *options, "--models", "LinearRanker",
        "--no-peers",
    )  # fmt: skip
    assert said in out


def test_a_column_of_a_folder_has_only_one_use(rows, capsys):
    Path("parts").mkdir()
    rows.to_csv("parts/a.csv", index=False)
    options = ["--time", "day", "--group", "day"]
    status, _, err = run(capsys, "fit", "parts", *FIT[2:], *options)
    assert (status, "column 'day' is given two uses" in err) == (2, True)


def test_times_may_be_dates(rows, capsys):
    dates = pd.date_range("2024-01-01", periods=200).strftime("%d.%m.%Y")
    rows.assign(day=dates).to_csv("rows.csv", index=False)
    status, out, err = run(capsys, *FIT, "--time", "day", "--drop", "patient")
    assert (status, "dates" in err, "auc_latest" in out) == (0, True, True)
    X, day = rows[["x", "z"]], np.arange(200)
    expected = RankingEnsemble(random_state=0).fit(X, rows["bad"], time=day)
    assert np.array_equal(load("model.json").decision_function(X), expected.decision_function(X))
