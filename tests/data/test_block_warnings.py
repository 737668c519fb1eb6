"""Warnings of columns that look like groups or times."""

import warnings

import numpy as np
import pandas as pd
import pytest
from aucrank import ColumnWarning, GradientBoostingRanker

from tests.common.real_data import DATA

N = 600
RNG = np.random.default_rng(0)
PATIENT = RNG.permutation(150)[np.arange(N) // 4]
X = pd.DataFrame({"x": RNG.normal(size=N), "count": RNG.poisson(9, N)})
# Nine of ten rows have the label of their patient.
Y = (RNG.random(150) < 0.4)[PATIENT] ^ (RNG.random(N) < 0.1)


def said_of(columns, y=Y, **given):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        GradientBoostingRanker(n_rounds=3).fit(X.assign(**columns), y, **given)
    return " ".join(str(w.message) for w in caught if w.category is ColumnWarning)


@pytest.mark.parametrize(
    "column",
    [PATIENT, PATIENT * 7919, PATIENT.astype(float),
     pd.Categorical([f"P-{number:04}" for number in PATIENT])],
    ids=["numbers", "far apart", "floats", "texts"],
)  # fmt: skip
def test_a_column_of_patients_raises_a_warning_that_names_it(column):
    said = said_of({"who": column})
    assert "'who' looks as if rows of one value belonged together" in said
    assert "pass it to fit as groups" in said
    assert said_of({"who": column}, groups=PATIENT) == ""
    assert said_of({"who": column}, time=np.arange(N)) == ""


def test_the_order_of_the_rows_does_not_matter():
    order = np.random.default_rng(1).permutation(N)
    said = said_of({"who": PATIENT[order]}, Y[order])
    assert "'who' looks as if" in said


def test_numbers_with_similar_neighbours_raise_no_warning_of_groups():
    # A measurement with 150 values that determines the label.
    level = np.sort(PATIENT)
    assert said_of({"level": level}, (level + RNG.normal(size=N) * 8) > 75) == ""


def test_repeated_values_unrelated_to_labels_raise_no_warning():
    assert said_of({"who": PATIENT}, RNG.random(N) < 0.4) == ""
    assert said_of({"code": RNG.integers(0, 5, N)}) == ""


@pytest.mark.parametrize(
    ("name", "column"),
    [
        ("day", np.arange(N) // 3 + 19_000),
        ("date", 20_240_000 + 100 * (1 + np.arange(N) % 12) + 1 + np.arange(N) % 28),
        ("column", 20_240_000 + 100 * (1 + np.arange(N) % 12) + 1 + np.arange(N) % 28),
        ("openedTime", 1_700_000_000 + RNG.integers(0, 10**7, N)),
        ("column", pd.date_range("2024-01-01", periods=150).strftime("%Y-%m-%d").repeat(4)),
    ],
)
def test_a_column_of_times_raises_a_warning_that_names_it(name, column):
    column = pd.Categorical(column) if isinstance(column, pd.Index) else column
    said = said_of({name: column})
    assert f"{name!r} looks like the time when a row came" in said
    assert said_of({name: column}, time=np.arange(N)) == ""


def test_a_number_of_days_raises_no_warning_of_time():
    assert said_of({"days_open": RNG.integers(0, 400, N), "time": RNG.integers(0, 400, N)}) == ""
    assert said_of({"hour of day": np.arange(N) % 24}) == ""


@pytest.mark.skipif(not DATA.is_dir(), reason="the real data sets are not here")
def test_columns_of_real_data_sets_raise_no_warning():
    from aucrank._data.block_warnings import warn_of_blocks
    from aucrank._data.input import learn_columns
    from sklearn.base import BaseEstimator

    for path in sorted(DATA.glob("*.parquet")):
        frame = pd.read_parquet(path)
        y = frame.pop("target").to_numpy() == 1
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            columns, schema = learn_columns(BaseEstimator(), frame, "from_dtype", len(y), None)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            warn_of_blocks(columns, schema, y)
