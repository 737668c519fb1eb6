"""A frame with dates and a file of the same dates give one model, and one score to each row."""

import datetime as dt
import json

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from aucrank import load
from aucrank._base.registry import get_estimator
from numpy.testing import assert_array_equal

from tests.common.command_line import content, loans, read_numbers, run


def dated(n=400, seed=0):
    """Loans with the day of their opening, and the time of the last payment, both with gaps."""
    rng = np.random.default_rng(seed)
    frame = loans(n, seed).drop(columns="purpose")
    opened = pd.Timestamp("2012-01-01") + pd.to_timedelta(rng.integers(0, 3000, n), unit="D")
    paid = pd.Timestamp("2021-01-01") + pd.to_timedelta(rng.integers(0, 10**13, n), unit="us")
    frame.insert(0, "opened", pd.Series(opened).where(rng.random(n) < 0.95))
    frame.insert(1, "paid", pd.Series(paid).where(rng.random(n) < 0.95))
    old = (frame["opened"] < "2016-01-01") | (frame["paid"] > "2021-03-01")
    return frame.assign(bad=(frame["bad"] ^ (old & (rng.random(n) < 0.6))).astype(int))


FORMS = {
    "pandas": lambda X: X,
    "nanoseconds": lambda X: X.astype({"opened": "M8[ns]", "paid": "M8[ns]"}),
    "zone": lambda X: X.assign(
        paid=X["paid"].dt.tz_localize("UTC").dt.tz_convert("America/New_York")
    ),
    "objects": lambda X: X.assign(
        opened=[None if day is pd.NaT else day.date() for day in X["opened"]],
        paid=pd.Series(
            [None if at is pd.NaT else at.to_pydatetime() for at in X["paid"]], dtype=object
        ),
    ),
    "polars": lambda X: pl.from_pandas(X).with_columns(pl.col("opened").cast(pl.Date)),
    "arrow": lambda X: pa.Table.from_pandas(
        X,
        pa.schema(
            [
                ("opened", pa.date32()),
                ("paid", pa.timestamp("us")),
                ("income", pa.float64()),
                ("age", pa.int64()),
            ]
        ),
    ),
}


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
@pytest.mark.parametrize(
    "name", ["TreeRank", "RIMARC", "GradientBoostingRanker", "LinearRanker", "Scorecard"]
)
def test_the_model_of_a_frame_is_that_of_its_file(form, name, capsys):
    if name == "GradientBoostingRanker" and form is not FORMS["pandas"]:
        pytest.skip("one form shows it for the slower models")
    frame = dated()
    X, y = form(frame.drop(columns="bad")), frame["bad"]
    frame.to_csv("loans.csv", index=False)
    status, _, err = run(
        capsys, "fit", "loans.csv", "--target", "bad", "--model", name, "--output", "file.json"
    )
    assert status == 0, err
    of_file = load("file.json")
    model = get_estimator(name)(**of_file.get_params(deep=False)).fit(X, y)
    model.save("frame.json")
    bodies = [json.loads(content(path))["body"] for path in ("file.json", "frame.json")]
    for body in bodies:
        # The form of the file, which a frame does not have.
        body["header"].pop("reading", None)
    assert bodies[0] == bodies[1]

    # Rows without times, and a single row, are read in the form saved with the model.
    new = dated(50, 1).drop(columns="bad")
    for rows in (new, new[:1], new[new["paid"].isna()]):
        expected = of_file.decision_function(rows)
        assert_array_equal(load("frame.json").decision_function(form(rows)), expected)
        rows.to_csv("new.csv", index=False)
        for path in ("file.json", "frame.json"):
            status, _, err = run(capsys, "score", path, "new.csv", "-o", "scores.csv")
            assert status == 0, err
            assert_array_equal(read_numbers("scores.csv")["score"], expected)


def test_cuts_are_printed_as_dates():
    X, y = dated().drop(columns="bad"), dated()["bad"]
    tree = get_estimator("TreeRank")(random_state=0).fit(X, y)
    text = tree.tree_.to_text()
    assert "opened < 20" in text
    assert "paid < 2021-" in text
    card = get_estimator("Scorecard")().fit(X, y)
    rules = [rule for rule in card.card()["rule"] if rule.startswith("opened <")]
    assert rules
    for rule in rules:
        dt.date.fromisoformat(rule.split()[-1])
