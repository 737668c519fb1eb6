"""Date columns of every library are the same days as these dates as text in a file."""

import datetime as dt
import json

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from aucrank import RIMARC, GradientBoostingRanker, TreeRank
from aucrank._data.date_columns import days_of_array, unit_of_days
from aucrank._data.date_text import days_in
from aucrank._data.input import learn_columns, read_columns
from aucrank.data import Dataset
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from sklearn.base import BaseEstimator

#: narwhals cannot name the second one.
ZONES = ["Europe/Berlin", "America/New_York"]


class Dummy(BaseEstimator):
    """Any estimator: messages contain its name, and it keeps the names of columns."""


def days_of(X):
    """Days of the one column of ``X``, and their printed form."""
    columns, schema = learn_columns(Dummy(), X, "from_dtype", len(X), None)
    [column], [feature] = columns, schema.features
    assert column.dtype == np.float64
    assert feature.levels is None
    return column, feature.counts


def of_texts(texts):
    """The values read from a file of these texts."""
    days = [days_in(text) if isinstance(text, str) and text else None for text in texts]
    return np.array([np.nan if day is None else day for day in days], dtype=np.float64)


def written(frame):
    """Texts of the column ``d``, as pandas writes them to a file."""
    lines = frame[["d"]].to_csv(index=False).splitlines()[1:]
    return [line.strip('"') for line in lines]


instants = st.datetimes(dt.datetime(1680, 1, 1), dt.datetime(2260, 1, 1)) | st.just(None)


@given(st.lists(instants, min_size=1, max_size=8), st.sampled_from(["s", "ms", "us", "ns"]))
def test_times_of_pandas_are_the_days_of_their_texts(moments, unit):
    naive = pd.DataFrame({"d": np.array(moments, dtype=f"M8[{unit}]")})
    for frame in (naive, naive.assign(d=naive["d"].dt.tz_localize("UTC"))):
        days, counts = days_of(frame)
        assert_array_equal(days, of_texts(written(frame)))
        assert counts == unit_of_days(days)


@given(st.lists(st.integers(-(2**62), 2**62), min_size=1, max_size=8))
def test_nanoseconds_are_cut_off_as_in_texts(nanoseconds):
    frame = pd.DataFrame({"d": np.array(nanoseconds, dtype="M8[ns]")})
    expected = of_texts(written(frame))
    assert_array_equal(days_of(frame)[0], expected)
    assert_array_equal(days_of(frame.astype(object))[0], expected)


@given(
    st.lists(
        st.datetimes(dt.datetime(1900, 1, 1), dt.datetime(2100, 1, 1)), min_size=1, max_size=8
    ),
    st.sampled_from(ZONES),
)
def test_times_with_a_zone_are_converted_to_utc(moments, zone):
    zoned = pd.DataFrame({"d": pd.to_datetime(moments, utc=True).tz_convert(zone)})
    expected = of_texts(written(zoned))
    assert_array_equal(days_of(zoned)[0], expected)
    assert_array_equal(days_of(zoned.astype(object))[0], expected)
    assert_array_equal(days_of(pl.from_pandas(zoned))[0], expected)
    assert_array_equal(days_of(pa.Table.from_pandas(zoned))[0], expected)
    of_arrow = pd.ArrowDtype(pa.timestamp("us", zone))
    assert_array_equal(days_of(zoned.astype(of_arrow))[0], expected)


@given(st.lists(instants, min_size=1, max_size=8), st.sampled_from(["ms", "us", "ns"]))
def test_times_of_polars_and_arrow_equal_those_of_pandas(moments, unit):
    frame = pd.DataFrame({"d": np.array(moments, dtype=f"M8[{unit}]")})
    expected = days_of(frame)
    type_of = pa.timestamp(unit)
    others = [
        pl.DataFrame({"d": frame["d"].to_numpy()}, schema={"d": pl.Datetime(unit)}),
        pa.table({"d": pa.array(frame["d"], type_of)}),
        pd.DataFrame({"d": pd.array(frame["d"], dtype=pd.ArrowDtype(type_of))}),
    ]
    for other in others:
        days, counts = days_of(other)
        assert_array_equal(days, expected[0])
        assert counts == expected[1]


@given(
    st.lists(
        st.dates(dt.date(1, 1, 1), dt.date(9999, 12, 31)) | st.just(None), min_size=1, max_size=8
    )
)
def test_dates_are_whole_days_in_every_library(dates):
    expected = of_texts([None if date is None else date.isoformat() for date in dates])
    dates[0] = dates[0] or dt.date(2020, 2, 29)
    expected[0] = days_in(dates[0].isoformat())
    for frame in (
        pd.DataFrame({"d": pd.Series(dates, dtype=object)}),
        pd.DataFrame({"d": np.array(dates, dtype="M8[s]")}),
        pd.DataFrame({"d": pd.array(dates, dtype=pd.ArrowDtype(pa.date32()))}),
        pl.DataFrame({"d": dates}),
        pl.DataFrame({"d": pl.Series(dates, dtype=pl.Object)}),
        pa.table({"d": pa.array(dates, pa.date32())}),
        pa.table({"d": pa.array(dates, pa.date64())}),
    ):
        days, counts = days_of(frame)
        assert_array_equal(days, expected)
        assert counts == "days"


@pytest.mark.parametrize("unit", ["D", "h", "m", "s", "ms", "us", "ns"])
def test_arrays_of_any_unit_are_the_same_days(unit):
    days = np.array([0, -3, 50, 99], dtype="M8[D]").astype(f"M8[{unit}]")
    days[1] = np.datetime64("NaT")
    assert_array_equal(days_of_array(days), [0.0, np.nan, 50.0, 99.0])
    column, counts = days_of(days.reshape(-1, 1))
    assert_array_equal(column, [0.0, np.nan, 50.0, 99.0])
    assert counts == "days"


def test_a_model_of_dates_scores_them_in_any_form_and_days_as_numbers():
    rng = np.random.default_rng(0)
    opened = pd.Series(
        pd.Timestamp("2015-01-01") + pd.to_timedelta(rng.integers(0, 3000, 300), "D")
    )
    opened[::17] = pd.NaT
    X = pd.DataFrame({"opened": opened, "x": rng.normal(size=300)})
    y = opened.dt.year.fillna(2015).to_numpy() + rng.normal(0, 2, 300) > 2019
    numbers = X.assign(opened=(X["opened"] - pd.Timestamp(0)).dt.days)
    forms = [
        X.assign(opened=opened.astype("M8[ns]").dt.tz_localize("UTC")),
        X.assign(opened=[None if day is pd.NaT else day.date() for day in opened]),
        pl.from_pandas(X),
        pl.from_pandas(X).with_columns(pl.col("opened").cast(pl.Date)),
        pa.Table.from_pandas(X),
        numbers,
    ]
    for model in (RIMARC(), TreeRank(random_state=0), GradientBoostingRanker(n_rounds=5)):
        model.set_params(random_state=0)
        expected = model.fit(numbers, y).decision_function(numbers)
        of_numbers = json.loads(model.to_json())
        of_dates = json.loads(model.fit(X, y).to_json())
        assert of_dates["features"][0].pop("counts") == "days"
        assert of_dates == of_numbers
        for form in (X, *forms):
            assert_array_equal(model.decision_function(form), expected)
        document = model._to_document()
        for form in forms[:-1]:
            assert model.fit(form, y)._to_document() == document
        assert_array_equal(model.decision_function(X[:3]), expected[:3])


@pytest.mark.parametrize("has_times", [False, True])
@pytest.mark.parametrize("form", ["pandas", "objects", "polars", "arrow", "parquet"])
def test_a_fit_to_a_dataset_of_dates_equals_that_to_one_frame(form, has_times, tmp_path):
    rng = np.random.default_rng(1)
    # Only the last batches have a time of day.
    day = np.datetime64("2019-05-05") + rng.integers(0, 700, 300).astype("m8[D]")
    hours = np.where(np.arange(300) > 280, rng.integers(0, 24, 300), 0) * has_times
    opened = pd.Series(day.astype("M8[s]") + hours.astype("m8[h]")).astype("M8[us]")
    opened[::13] = pd.NaT
    frame = pd.DataFrame({"opened": opened, "x": rng.normal(size=300)})
    frame["y"] = (frame["x"] + (opened < "2020-03-01") + rng.normal(size=300) > 0.5).astype(int)
    expected = TreeRank(random_state=0).fit(frame[["opened", "x"]], frame["y"])
    assert expected._schema.features[0].counts == ("moments" if has_times else "days")
    rows = frame
    if form == "objects":
        days = [None if at is pd.NaT else at.to_pydatetime() for at in opened]
        rows = frame.assign(opened=pd.Series(days, dtype=object))
    if form == "polars":
        rows = pl.from_pandas(frame)
    if form == "arrow":
        rows = pa.Table.from_pandas(frame)
    if form == "parquet":
        frame.to_parquet(tmp_path / "rows.parquet")
        dataset = Dataset.from_parquet(tmp_path, target="y", chunk_rows=40)
    else:
        dataset = Dataset.from_batches(rows, target="y", chunk_rows=40)
    model = TreeRank(random_state=0).fit(dataset)
    assert model._to_document() == expected._to_document()
    scores = np.concatenate(list(model.decision_function_batches(dataset)))
    assert_array_equal(scores, expected.decision_function(frame[["opened", "x"]]))


def test_a_model_fitted_to_numbers_rejects_dates():
    dates = pd.DataFrame({"d": pd.to_datetime(["2020-01-01", "2020-01-05"])})
    for numbers, later in (
        (pd.DataFrame({"d": [18_000.0, 19_000.0]}), dates),
        (np.array([[18_000.0], [19_000.0]]), dates.to_numpy()),
    ):
        estimator = Dummy()
        _, schema = learn_columns(estimator, numbers, "from_dtype", 2, None)
        with pytest.raises(TypeError, match=r"column .*dtype datetime64\[.s\]"):
            read_columns(estimator, later, schema)


def test_other_objects_among_dates_are_rejected():
    mixed = pd.DataFrame({"d": pd.Series([dt.date(2020, 1, 1), 3.0], dtype=object)})
    with pytest.raises(TypeError, match="column 'd' has dtype object"):
        days_of(mixed)
