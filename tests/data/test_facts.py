"""Column statistics of rows in pieces equal those of one frame."""

import warnings
from itertools import pairwise
from math import fsum

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from aucrank import ColumnWarning, TreeRank
from aucrank._data.input import learn_columns
from aucrank._data.labels import encode_binary
from aucrank._data.weights import ExactSum, class_factors, number_of_rows, weigh_classes
from aucrank._utils.warn import ReadingNote
from aucrank.data import Dataset
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from sklearn.base import BaseEstimator

from tests.common.parts import FEATURES, mixed_rows, write_parts


class Dummy(BaseEstimator):
    """Any estimator: messages contain its name, and it keeps the names of columns."""


def whole(frame, features, categorical_features, class_weight, weight):
    """What a fit learns from one frame."""
    estimator = Dummy()
    classes, positive = encode_binary(frame["y"])
    given = None if weight is None else np.asarray(frame[weight], dtype=np.float64)
    factors = class_factors(class_weight, classes, positive, given)
    weights = weigh_classes(factors, positive, given)
    kept = None if weights is None or weights.all() else weights > 0
    columns, schema = learn_columns(
        estimator, frame[features], categorical_features, len(frame), kept
    )
    if not isinstance(columns, list):
        columns = list(columns.T)
    return estimator, classes, schema, columns, positive, weights


def check_same(dataset, frame, features=FEATURES, categories="from_dtype", class_weight=None):
    """Facts and coded rows of a data set are those of one frame."""
    estimator, classes, schema, columns, positive, weights = whole(
        frame, features, categories, class_weight, dataset.weight
    )
    ours = Dummy()
    facts = dataset.facts(ours, categories, class_weight)
    assert facts.schema == schema
    assert_array_equal(facts.target.classes, classes)
    assert facts.n_rows == dataset.n_rows == len(frame)
    assert facts.target.class_counts == (int((~positive).sum()), int(positive.sum()))
    assert facts.target.n_counted == number_of_rows(weights, len(frame))
    assert ours.n_features_in_ == estimator.n_features_in_
    assert_array_equal(ours.feature_names_in_, estimator.feature_names_in_)
    batches = list(dataset.coded_batches(facts))
    for index, column in enumerate(columns):
        found = np.concatenate([batch[0][index] for batch in batches])
        assert found.dtype == column.dtype == facts.dtypes[index]
        assert_array_equal(found, column)
    assert_array_equal(np.concatenate([batch[1] for batch in batches]), positive)
    if weights is None:
        assert all(batch[2] is None for batch in batches)
        assert facts.target.largest_weights is None
    else:
        assert_array_equal(np.concatenate([batch[2] for batch in batches]), weights)
        largest = (weights[~positive].max(), weights[positive].max())
        assert facts.target.largest_weights == largest
        assert facts.target.has_zero_weights == (weights == 0).any()


ROWS = mixed_rows()


def of_pandas(folder, parts, **kwargs):
    return Dataset.from_batches(parts, **kwargs)


def of_polars(folder, parts, **kwargs):
    return Dataset.from_batches([pl.from_pandas(part) for part in parts], **kwargs)


def of_arrow(folder, parts, **kwargs):
    def start():
        return (pa.Table.from_pandas(part, preserve_index=False) for part in parts)

    return Dataset.from_batches(start, **kwargs)


def of_lazy_polars(folder, parts, **kwargs):
    return Dataset.from_batches(
        pl.concat([pl.from_pandas(part).lazy() for part in parts]), **kwargs
    )


def of_parquet(folder, parts, **kwargs):
    for index, part in enumerate(parts):
        table = pa.Table.from_pandas(part, schema=pa.Schema.from_pandas(ROWS), preserve_index=False)
        pq.write_table(table, folder / f"{index:03}.parquet", row_group_size=50)
    return Dataset.from_parquet(folder, **kwargs)


SOURCES = [of_pandas, of_polars, of_arrow, of_lazy_polars, of_parquet]


@pytest.mark.parametrize("class_weight", [None, "balanced", {"no": 2.5, "yes": 0.3}])
@pytest.mark.parametrize("weight", [None, "w"])
@pytest.mark.parametrize("make", SOURCES)
def test_rows_in_parts_are_described_and_coded_like_one_frame(make, weight, class_weight, tmp_path):
    # Parts of no row, of one row and of one class.
    order = ROWS.sort_values("y", kind="stable") if weight else ROWS
    edges = [0, 0, 1, 2, 150, 500]
    parts = [order[first:last] for first, last in pairwise(edges)]
    dataset = make(tmp_path, parts, target="y", weight=weight, columns=FEATURES, chunk_rows=64)
    check_same(dataset, order, class_weight=class_weight)


@pytest.mark.parametrize("make", SOURCES)
def test_listed_columns_are_categories_for_any_dtype(make, tmp_path):
    parts = [ROWS[:7], ROWS[7:300], ROWS[300:]]
    dataset = make(tmp_path, parts, target="y", columns=FEATURES)
    check_same(dataset, ROWS, categories=["count", "flag", "colour"])


@given(
    cuts=st.lists(st.integers(0, 60), max_size=6),
    chunk_rows=st.integers(1, 70),
    seed=st.integers(0, 2**16),
)
def test_column_statistics_do_not_depend_on_how_rows_are_divided(cuts, chunk_rows, seed):
    rows = mixed_rows(60, seed)
    edges = [0, *sorted(cuts), 60]
    parts = [rows[first:last] for first, last in pairwise(edges)]
    dataset = Dataset.from_batches(
        parts, target="y", weight="w", columns=FEATURES, chunk_rows=chunk_rows
    )
    check_same(dataset, rows, class_weight="balanced")


@given(st.lists(st.floats(0, 1e300), max_size=30), st.integers(0, 30))
def test_a_sum_of_pieces_is_that_of_all_numbers_rounded_once(numbers, cut):

    total = ExactSum()
    total.add(np.array(numbers[:cut]))
    total.add(np.array(numbers[cut:]))
    assert total.value == fsum(numbers)


def test_only_the_columns_that_a_pass_needs_are_read(tmp_path, monkeypatch):
    write_parts(tmp_path, ROWS, [200])
    dataset = Dataset.from_parquet(tmp_path, target="y", weight="w", columns=FEATURES)
    source, requested = dataset.passes.source, []
    read = source.read
    monkeypatch.setattr(source, "read", lambda columns: requested.append(columns) or read(columns))
    dataset.facts(Dummy())
    # The first rows show which numbers are not 0 and 1 alone.
    assert requested == [["x", "small", "count", "w"], ["y", "w", "colour"]]


# Parts that differ


def test_whole_numbers_in_one_file_and_fractions_in_another_are_numbers(tmp_path):
    tables = [
        pa.table({"x": pa.array([1, 2, None]), "y": [0, 1, 0]}),
        pa.table({"x": pa.array([0.5, 2.0], pa.float32()), "y": [1, 0]}),
        pa.table({"x": pa.nulls(2), "y": [1, 0]}),
    ]
    for index, table in enumerate(tables):
        pq.write_table(table, tmp_path / f"{index}.parquet")
    dataset = Dataset.from_parquet(tmp_path, target="y")
    frame = pa.concat_tables(tables, promote_options="permissive").to_pandas()
    check_same(dataset, frame, ["x"])
    check_same(dataset, frame, ["x"], categories=["x"])


def test_narrow_floats_stay_narrow_if_all_files_have_them(tmp_path):
    narrow = pa.table({"x": pa.array([0.1, 0.2], pa.float32()), "y": [0, 1]})
    for name in "ab":
        pq.write_table(narrow, tmp_path / f"{name}.parquet")
    facts = Dataset.from_parquet(tmp_path, target="y").facts(Dummy())
    assert facts.dtypes == (np.dtype(np.float32),)


def test_text_and_dictionaries_of_text_have_the_same_categories(tmp_path):
    colours = pa.array(["red", "blue", None, "red"])
    tables = [
        pa.table({"c": colours, "y": [0, 1, 0, 1]}),
        pa.table({"c": colours.dictionary_encode(), "y": [0, 1, 0, 1]}),
        pa.table({"c": pa.array(["amber", "red"]).dictionary_encode(), "y": [1, 1]}),
        pa.table({"c": pa.nulls(1), "y": [1]}),
    ]
    for index, table in enumerate(tables):
        pq.write_table(table, tmp_path / f"{index}.parquet")
    dataset = Dataset.from_parquet(tmp_path, target="y")
    frame = pd.concat([table.to_pandas().astype({"c": object}) for table in tables])
    check_same(dataset, frame, ["c"])
    assert dataset.facts(Dummy()).schema.features[0].levels == ("amber", "blue", "red")


def test_a_column_that_is_empty_everywhere_has_no_category():
    frame = pd.DataFrame({"x": [1.0, 2.0, 3.0], "nothing": [None] * 3, "y": [0, 1, 1]})
    dataset = Dataset.from_batches([frame[:1], frame[1:]], target="y")
    check_same(dataset, frame, ["x", "nothing"])


def test_categories_of_weight_zero_are_unknown():
    frame = pd.DataFrame(
        {"c": ["a", "b", "gone", "a"], "w": [1.0, 1.0, 0.0, 2.0], "y": [0, 1, 0, 1]}
    )
    dataset = Dataset.from_batches([frame[:2], frame[2:]], target="y", weight="w")
    check_same(dataset, frame, ["c"])
    assert dataset.facts(Dummy()).schema.features[0].levels == ("a", "b")


@pytest.mark.parametrize("source", ["files", "frames"])
def test_text_in_one_part_and_numbers_in_another_are_rejected(source, tmp_path):
    tables = [pa.table({"c": [1, 2], "y": [0, 1]}), pa.table({"c": ["1", "2"], "y": [0, 1]})]
    if source == "files":
        for index, table in enumerate(tables):
            pq.write_table(table, tmp_path / f"{index}.parquet")
        dataset, places = Dataset.from_parquet(tmp_path, target="y"), ["1.parquet", "0.parquet"]
    else:
        dataset, places = Dataset.from_batches(tables, target="y"), ["batch 1", "batch 0"]
    said = f"column 'c' holds categories in .*{places[0]} and numbers in .*{places[1]}"
    with pytest.raises(TypeError, match=said):
        dataset.facts(Dummy())


def test_integers_too_large_for_floats_are_rejected_in_mixed_files(tmp_path):
    big = 2**53 + 1
    pq.write_table(pa.table({"c": [big, 2], "y": [0, 1]}), tmp_path / "a.parquet")
    pq.write_table(pa.table({"c": pa.array([1, None]), "y": [0, 1]}), tmp_path / "b.parquet")
    dataset = Dataset.from_parquet(tmp_path, target="y")
    said = rf"column 'c' holds the category {big} in .*a\.parquet, but is read as floats in .*b\."
    with pytest.raises(ValueError, match=said):
        dataset.facts(Dummy(), ["c"])


def test_a_file_with_other_columns_is_named_in_the_error(tmp_path):
    pq.write_table(pa.table({"x": [1.0, 2.0], "y": [0, 1]}), tmp_path / "a.parquet")
    pq.write_table(pa.table({"z": [3.0], "y": [0], "x": [2.0]}), tmp_path / "b.parquet")
    with pytest.raises(
        ValueError, match=r"b\.parquet has a column 'z', which .*a\.parquet has not"
    ):
        Dataset.from_parquet(tmp_path, target="y").facts(Dummy())
    facts = Dataset.from_parquet(tmp_path, target="y", columns=["x"]).facts(Dummy())
    assert facts.n_rows == 3
    pq.write_table(pa.table({"y": [0]}), tmp_path / "c.parquet")
    with pytest.raises(ValueError, match=r"c\.parquet has no column 'x'"):
        Dataset.from_parquet(tmp_path, target="y", columns=["x"]).facts(Dummy())


def test_durations_are_hours(tmp_path):
    wait = pa.array([0, 5400], pa.duration("s"))
    pq.write_table(pa.table({"wait": wait, "y": [0, 1]}), tmp_path / "a.parquet")
    dataset = Dataset.from_parquet(tmp_path, target="y")
    (batch,) = dataset.coded_batches(dataset.facts(Dummy()))
    assert batch[0][0].tolist() == [0.0, 1.5]


def test_dates_in_one_file_and_numbers_in_another_are_rejected(tmp_path):
    day = pa.array([0, 1], pa.int32())
    pq.write_table(pa.table({"day": day.cast(pa.date32()), "y": [0, 1]}), tmp_path / "a.parquet")
    pq.write_table(pa.table({"day": day, "y": [0, 1]}), tmp_path / "b.parquet")
    with pytest.raises(TypeError, match=r"'day' holds dates in .*a\.parquet and numbers in .*b\."):
        Dataset.from_parquet(tmp_path, target="y").facts(Dummy())


# Warnings: those of a fit to one frame


@pytest.mark.parametrize(
    "column",
    [
        pytest.param([f"customer {i // 2}" for i in range(400)], id="identifier"),
        pytest.param([*map(str, range(398)), "?", "-"], id="numbers"),
        pytest.param(["a", "b"] * 200, id="plain"),
    ],
)
def test_warnings_of_columns_are_those_of_one_frame(column):
    frame = pd.DataFrame({"c": column, "y": [0, 1] * 200})
    said = []
    for learn in (
        lambda: learn_columns(Dummy(), frame[["c"]], "from_dtype", 400, None),
        lambda: Dataset.from_batches(frame, target="y", chunk_rows=37).facts(Dummy()),
    ):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", ColumnWarning)
            learn()
        said.append([str(warning.message) for warning in caught])
    assert said[0] == said[1]
    assert bool(said[0]) == (column[0] != "a")


# Labels and weights


@pytest.mark.parametrize(
    ("labels", "classes"),
    [
        ([0, 1, 1, 0], [0, 1]),
        ([True, False, True, True], [False, True]),
        ([2.0, 5.0, 5.0, 2.0], [2.0, 5.0]),
        (["b", "a", "a", "b"], ["a", "b"]),
    ],
)
def test_either_label_can_be_positive(labels, classes):
    frame = pd.DataFrame({"x": [1.0, 2.0, 3.0, 4.0], "y": labels})
    for positive, order in ((None, classes), (classes[1], classes), (classes[0], classes[::-1])):
        dataset = Dataset.from_batches(frame, target="y", positive=positive, chunk_rows=1)
        facts = dataset.facts(Dummy())
        assert facts.target.classes.tolist() == order
        rows = np.concatenate([batch[1] for batch in dataset.coded_batches(facts)])
        assert_array_equal(rows, np.array(labels) == order[1])


@pytest.mark.parametrize(
    "labels",
    [[1, 1, 1], [0, 1, 2], [0.5, 1.0, 2.0], ["a", "b", "c"], ["a", "a", "a"]],
)
def test_labels_without_exactly_two_classes_raise_the_error_of_a_fit(labels):
    with pytest.raises(ValueError, match=r"class|label") as of_frame:
        encode_binary(labels)
    frame = pd.DataFrame({"x": [1.0, 2.0, 3.0], "y": labels})
    with pytest.raises(ValueError, match=r"class|label") as of_batches:
        Dataset.from_batches(frame, target="y", chunk_rows=1).facts(Dummy())
    assert str(of_batches.value) == str(of_frame.value)


def test_a_continuous_target_is_rejected_at_once():
    frame = pd.DataFrame({"x": np.arange(5000.0), "y": np.random.default_rng(0).random(5000)})
    with pytest.raises(ValueError, match="continuous"):
        Dataset.from_batches(frame, target="y").facts(Dummy())


def test_labels_of_two_kinds_name_both_files(tmp_path):
    pq.write_table(pa.table({"x": [1.0, 2.0], "y": [0, 1]}), tmp_path / "a.parquet")
    pq.write_table(pa.table({"x": [1.0, 2.0], "y": ["0", "1"]}), tmp_path / "b.parquet")
    with pytest.raises(
        ValueError, match=r"'y' holds numbers in .*a\.parquet and text in .*b\.parquet"
    ):
        Dataset.from_parquet(tmp_path, target="y").facts(Dummy())


def test_a_positive_label_that_does_not_occur_is_rejected():
    dataset = Dataset.from_batches(ROWS, target="y", positive="maybe", columns=["x"])
    with pytest.raises(ValueError, match="positive is 'maybe', which is none of the labels"):
        dataset.facts(Dummy())


BAD_ROW = 123


@pytest.fixture
def parts_with(tmp_path):
    """Files of rows, one value of which is another."""

    def make(column, value):
        rows = ROWS.astype({"y": object}).copy()
        rows[column] = rows[column].astype(object)
        rows.loc[BAD_ROW, column] = value
        rows[column] = rows[column].infer_objects()
        write_parts(tmp_path, rows, [100, 200])
        return Dataset.from_parquet(
            tmp_path, target="y", weight="w", columns=["x", "colour"], chunk_rows=10
        )

    return make


@pytest.mark.parametrize("value", [-1.0, np.nan, np.inf])
def test_a_bad_weight_is_named_with_its_row_and_file(value, parts_with):
    said = rf"weight column 'w' holds {value} in row {BAD_ROW} \(.*part-01\.parquet\)"
    with pytest.raises(ValueError, match=said):
        parts_with("w", value).facts(Dummy())


def test_a_missing_label_is_named_with_its_row_and_file(parts_with):
    said = rf"target column 'y' is missing in row {BAD_ROW} \(.*part-01\.parquet\)"
    with pytest.raises(ValueError, match=said):
        parts_with("y", None).facts(Dummy())


@pytest.mark.parametrize("value", [np.inf, -np.inf])
def test_infinity_in_a_file_is_as_far_from_the_others_as_these_are_apart(value, parts_with):
    dataset = parts_with("x", value)
    with pytest.warns(ReadingNote, match=f"column x: {value} in 1 row counts as the"):
        facts = dataset.facts(Dummy())
    x = np.concatenate([batch[0][0] for batch in dataset.coded_batches(facts)])
    others = np.delete(x, BAD_ROW)
    span = np.nanmax(others) - np.nanmin(others)
    assert x[BAD_ROW] == (np.nanmax(others) + span if value > 0 else np.nanmin(others) - span)


@pytest.mark.parametrize("value", [np.inf, -np.inf])
def test_infinity_is_named_with_its_row_and_batch(value):
    rows = ROWS.copy()
    rows.loc[BAD_ROW, "x"] = value
    dataset = Dataset.from_batches(
        [rows[:100], rows[100:]], target="y", weight="w", columns=["x", "colour"]
    )
    facts = dataset.facts(Dummy())
    with pytest.raises(ValueError, match=rf"column 'x' is {value} in row {BAD_ROW}.*not hold inf"):
        list(dataset.coded_batches(facts))


def test_a_class_without_weight_is_rejected():
    rows = ROWS.assign(w=np.where(ROWS["y"] == "yes", 0.0, 1.0))
    dataset = Dataset.from_batches(rows, target="y", weight="w", columns=["x"])
    with pytest.raises(ValueError, match="sample_weight is zero for every row of class 'yes'"):
        dataset.facts(Dummy())
    dataset = Dataset.from_batches(ROWS, target="y", columns=["x"])
    with pytest.raises(ValueError, match="sample_weight is zero for every row of class 'no'"):
        dataset.facts(Dummy(), class_weight={"no": 0.0, "yes": 1.0})


def test_a_fit_needs_labels_and_rows():
    with pytest.raises(ValueError, match="has no labels"):
        Dataset.from_batches(ROWS).facts(Dummy())
    with pytest.raises(ValueError, match=r"0 sample\(s\)"):
        Dataset.from_batches(ROWS[:0], target="y", columns=["x"]).facts(Dummy())


def at_odd_address(column):
    """Return a column whose values are not aligned in memory."""
    values = np.empty(column.nbytes + 1, np.uint8)[1:].view(column.dtype)
    values[:] = column
    assert not values.flags.aligned
    return pd.Series(values, copy=False)


def test_columns_may_have_any_memory_layout():
    # Like those that a worker receives from another one.
    moved = {name: at_odd_address(ROWS[name]) for name in ("x", "small", "count", "w")}
    frame = pd.DataFrame({**{name: ROWS[name] for name in ROWS}, **moved}, copy=False)
    assert not frame["w"].to_numpy().flags.aligned
    dataset = Dataset.from_batches(frame, target="y", weight="w", columns=FEATURES)
    check_same(dataset, ROWS)
    expected = TreeRank(random_state=0).fit(ROWS[FEATURES], ROWS["y"], ROWS["w"])
    for X, y, w in ((dataset, None, None), (frame[FEATURES], frame["y"], frame["w"].to_numpy())):
        found = TreeRank(random_state=0).fit(X, y, sample_weight=w)
        assert found._to_document() == expected._to_document()
