"""Input of users as the core reads it: values, missing cells, categories, memory."""

import datetime as dt
import warnings
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse
from aucrank import TreeRank
from aucrank._core import MISSING_CODE
from aucrank._data.input import learn_columns, read_columns
from aucrank._data.schema import Feature, Schema
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from sklearn.base import BaseEstimator

NAN = np.nan


class Dummy(BaseEstimator):
    """Any estimator: messages contain its name, and it keeps the names of columns."""


def learn(X, categorical_features="from_dtype", n_rows=None, kept=None, estimator=None):
    if n_rows is None:
        n_rows = X.shape[0] if hasattr(X, "shape") else len(X)
    estimator = Dummy() if estimator is None else estimator
    return learn_columns(estimator, X, categorical_features, n_rows, kept)


def relearn(X, X_new, categorical_features="from_dtype"):
    """Columns of ``X_new`` as read after learning from ``X``."""
    estimator = Dummy()
    _, schema = learn(X, categorical_features, estimator=estimator)
    return read_columns(estimator, X_new, schema)


def arrow_of_chunks(columns):
    """Arrow table in two chunks, with null bitmaps and dictionaries of their own."""
    half = len(next(iter(columns.values()))) // 2
    parts = [
        pa.table({name: pa.array(list(values)[rows]) for name, values in columns.items()})
        for rows in (slice(None, half), slice(half, None))
    ]
    return pa.concat_tables(parts, promote_options="permissive")


def polars_of_chunks(columns):
    half = len(next(iter(columns.values()))) // 2
    return pl.concat(
        [
            pl.DataFrame({name: list(values)[rows] for name, values in columns.items()})
            for rows in (slice(None, half), slice(half, None))
        ],
        how="vertical_relaxed",
        rechunk=False,
    )


FRAMES = {
    "pandas": pd.DataFrame,
    "pandas-nullable": lambda columns: pd.DataFrame(columns).convert_dtypes(),
    "pandas-pyarrow": lambda columns: arrow_of_chunks(columns).to_pandas(
        types_mapper=pd.ArrowDtype
    ),
    "polars": pl.DataFrame,
    "polars-chunks": polars_of_chunks,
    "pyarrow": pa.table,
    "pyarrow-chunks": arrow_of_chunks,
}
frames = pytest.mark.parametrize("frame", FRAMES.values(), ids=FRAMES)


# Arrays.


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("writeable", [True, False])
def test_a_contiguous_float_matrix_is_not_copied(dtype, order, writeable):
    X = np.asarray(np.random.default_rng(0).normal(size=(20, 3)), dtype=dtype, order=order)
    X.flags.writeable = writeable
    columns, schema = learn(X)
    for read in (columns, relearn(X, X)):
        assert read.dtype == dtype
        assert read.__array_interface__ == X.__array_interface__
    assert schema == Schema((Feature(None),) * 3)
    assert schema.n_levels == [None] * 3


def test_a_read_only_memmap_is_not_copied(tmp_path):
    X = np.memmap(tmp_path / "x.bin", dtype=np.float64, shape=(5, 2), mode="w+")
    X[:] = np.arange(10).reshape(5, 2)
    X.flush()
    columns, _ = learn(np.memmap(tmp_path / "x.bin", dtype=np.float64, shape=(5, 2), mode="r"))
    assert_array_equal(columns, X)
    assert not columns.flags.owndata


BASE = np.array([[1.0, 2.0, 0.0], [4.0, 5.0, 1.0], [7.0, 8.0, 0.0], [0.0, 1.0, 1.0]])


@pytest.mark.parametrize(
    "X",
    [
        BASE[::-1][::-1],
        np.repeat(BASE, 2, axis=1)[:, ::2],
        BASE.astype(">f8"),
        BASE.astype(np.float16),
        BASE.astype(np.longdouble),
        BASE.astype(np.int64),
        BASE.astype(np.uint8),
        BASE.astype(object),
        BASE.tolist(),
        [tuple(row) for row in BASE],
        BASE.astype("U3"),
        np.frombuffer(b"\0" + BASE.tobytes(), dtype=np.uint8)[1:].view(np.float64).reshape(4, 3),
    ],
    ids=[
        "reversed twice", "strided", "big-endian", "half", "long", "int", "uint8", "object", "list",
        "tuples", "text", "unaligned",
    ],
)  # fmt: skip
def test_any_other_array_becomes_one_contiguous_float64_matrix(X):
    columns, _ = learn(X, n_rows=4)
    assert columns.dtype == np.float64
    assert columns.dtype.isnative
    assert columns.flags.forc
    assert columns.flags.aligned
    assert_array_equal(columns, BASE)


def test_booleans_are_zeros_and_ones():
    columns, _ = learn(BASE[:, 2:] > 0)
    assert_array_equal(columns, BASE[:, 2:])


def test_missing_cells_of_an_array_are_nan():
    X = np.array([[1, None], [NAN, 2.5], [pd.NA, 3], [pd.NaT, True]], dtype=object)
    columns, _ = learn(X)
    assert_array_equal(columns, [[1, NAN], [NAN, 2.5], [NAN, 3], [NAN, 1]])
    masked = np.ma.masked_array([[1, 2], [3, 4]], mask=[[True, False], [False, False]])
    columns, _ = learn(masked)
    assert_array_equal(columns, [[NAN, 2], [3, 4]])


@pytest.mark.parametrize(
    ("X", "error", "message"),
    [
        (np.zeros(3), ValueError, "Reshape your data"),
        (np.zeros((3, 1, 1)), ValueError, "Found array with dim 3"),
        (np.zeros((3, 0)), ValueError, r"0 feature\(s\) \(shape=\(3, 0\)\) while a minimum of 1"),
        (
            pd.DataFrame(index=range(3)),
            ValueError,
            r"0 feature\(s\) \(shape=\(3, 0\)\) while a min",
        ),
        (np.zeros((0, 3)), ValueError, r"0 sample\(s\) \(shape=\(0, 3\)\) while a minimum of 1"),
        (pl.DataFrame({"a": []}), ValueError, r"0 sample\(s\) \(shape=\(0, 1\)\) .* by Dummy"),
        (np.zeros((3, 1)) + 1j, ValueError, "Complex data not supported"),
        (scipy.sparse.csr_array(np.eye(3)), TypeError, "Sparse data was passed"),
        (np.array([["a"], ["b"]]), ValueError, "could not convert string to float: .*a"),
        (np.array([[{}], [1]], dtype=object), TypeError, "argument must be a string or a real"),
        (pd.Series([1.0, 2.0, 3.0]), ValueError, "Expected a 2-dimensional container"),
        (pd.DataFrame([[1, 2]], columns=["a", "a"]), ValueError, "(?i)unique"),
        (pd.DataFrame([[1, 2]], columns=["a", 1]), TypeError, "Feature names are only supported"),
        (None, (ValueError, TypeError), "NoneType|scalar array|None"),
    ],
)
def test_arrays_that_are_no_numeric_table_raise_the_error_of_scikit_learn(X, error, message):
    with pytest.raises(error, match=message):
        learn(X, n_rows=3)


# Numeric columns of frames.

NUMERIC = {
    "float": [1.5, None, -2.0, 0.25],
    "whole": [1, 2, 3, 4],
    "gaps": [1, None, 3, 4],
    "flag": [True, False, False, True],
    "flaw": [True, None, False, True],
}


@frames
def test_numeric_columns_of_any_library_are_the_same_floats(frame):
    X = frame(NUMERIC)
    columns, schema = learn(X, n_rows=4)
    assert schema == Schema(tuple(Feature(name) for name in NUMERIC))
    for column, values in zip(columns, NUMERIC.values(), strict=True):
        assert column.dtype == np.float64
        assert column.flags.c_contiguous
        assert_array_equal(column, [NAN if value is None else float(value) for value in values])


@pytest.mark.parametrize(
    ("frame", "dtype"),
    [
        (pd.DataFrame, np.float32),
        (lambda c: pd.DataFrame(c).astype("Float32"), np.float32),
        (lambda c: pd.DataFrame(c).astype("float[pyarrow]"), np.float32),
        (pl.DataFrame, np.float32),
        (pa.table, np.float32),
        (pd.DataFrame, np.float64),
        (lambda c: pd.DataFrame(c).astype("Float64"), np.float64),
        (pl.DataFrame, np.float64),
        (pa.table, np.float64),
    ],
)
def test_floats_keep_their_width(frame, dtype):
    values = np.array([0.1, 2.5, NAN], dtype=dtype)
    (column, _), _ = learn(frame({"a": values, "b": [1, 2, 3]}), n_rows=3)
    assert column.dtype == dtype or frame not in (pd.DataFrame, pl.DataFrame, pa.table)
    assert_array_equal(column, values)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame, pa.table])
def test_floats_without_nulls_are_not_copied(frame, dtype):
    X = frame({"a": np.arange(9, dtype=dtype), "b": np.arange(9) < 5})
    once, _ = learn(X, n_rows=9)
    again, _ = learn(X, n_rows=9)
    assert once[0].__array_interface__["data"] == again[0].__array_interface__["data"]


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_a_frame_around_a_matrix_is_not_copied(dtype, order):
    X = np.asarray(np.random.default_rng(0).normal(size=(20, 3)), dtype=dtype, order=order)
    columns, _ = learn(pd.DataFrame(X, columns=list("abc"), copy=False))
    if order == "C":
        assert columns.__array_interface__["data"][0] == X.__array_interface__["data"][0]
        assert_array_equal(columns, X)
    else:
        assert all(np.shares_memory(column, X) for column in columns)


def test_a_frame_of_several_strided_blocks_is_read_correctly():
    block = np.arange(12.0).reshape(4, 3)
    X = pd.concat([pd.DataFrame(block, copy=False), pd.DataFrame(-block, copy=False)], axis=1)
    X.columns = list("abcdef")
    columns, _ = learn(X)
    whole = columns if isinstance(columns, np.ndarray) else np.column_stack(columns)
    assert_array_equal(whole, np.hstack([block, -block]))
    X["g"] = np.arange(4)
    assert_array_equal(np.column_stack(learn(X)[0]), np.c_[block, -block, range(4)])


@pytest.mark.parametrize(
    "X",
    [
        pd.DataFrame({"a": [Decimal("1.5"), None]}, dtype="object").astype(
            pd.ArrowDtype(pa.decimal128(5, 2))
        ),
        pl.DataFrame({"a": [Decimal("1.5"), None]}),
        pa.table({"a": [Decimal("1.5"), None]}),
        pd.DataFrame({"a": np.array([1.5, None], dtype=object)}),
        pd.DataFrame({"a": np.array([1.5, pd.NA], dtype=object)}),
        pl.DataFrame({"a": pl.Series([1.5, None], dtype=pl.Object)}),
    ],
    ids=[
        "pandas decimal",
        "polars decimal",
        "arrow decimal",
        "objects",
        "objects NA",
        "polars objects",
    ],
)
def test_decimals_and_objects_that_are_numbers_are_numbers(X):
    (column,), _ = learn(X)
    assert_array_equal(column, [1.5, NAN])


@pytest.mark.parametrize(
    "X",
    [
        pd.DataFrame({"a": [NAN, NAN]}),
        pd.DataFrame({"a": pd.array([None, None], dtype="Int64")}),
        pl.DataFrame({"a": [None, None]}, schema={"a": pl.Float64}),
        pa.table({"a": pa.nulls(2, pa.int32())}),
    ],
)
def test_a_numeric_column_that_is_all_missing_is_all_nan(X):
    columns, schema = learn(X)
    assert schema == Schema((Feature("a"),))
    assert_array_equal(columns[0] if isinstance(columns, list) else columns[:, 0], [NAN, NAN])


@pytest.mark.parametrize(
    "X",
    [
        pd.DataFrame({"a": np.array([None, NAN], dtype=object)}),
        pl.DataFrame({"a": [None, None]}),
        pa.table({"a": pa.nulls(2)}),
    ],
)
def test_an_empty_column_without_dtype_accepts_any_values_later(X):
    (codes,), schema = learn(X, n_rows=2)
    assert schema == Schema((Feature("a", ()),))
    assert_array_equal(codes, [MISSING_CODE] * 2)
    for values in (["x", "y"], [1, 2], [True, None]):
        assert_array_equal(relearn(X, pl.DataFrame({"a": values}))[0], codes)
    assert_array_equal(learn(X, None, n_rows=2)[0], [[NAN, NAN]])


DATES = [dt.datetime(2020, 1, 1), None]


@pytest.mark.parametrize(
    ("X", "dtype"),
    [
        (pd.DataFrame({"when": pd.period_range("2020", periods=2)}), "period"),
        (pd.DataFrame({"when": [1j, 2]}), "complex128"),
        (pd.DataFrame({"when": pd.arrays.SparseArray(np.array(["a"], dtype=object))}), "Sparse"),
        (pd.DataFrame({"when": np.array(["a", 1], dtype=object)}), "object"),
        (pd.DataFrame({"when": np.array([[1], [2]], dtype=object).tolist()}), "object"),
        (pl.DataFrame({"when": [dt.time(1)]}), "Time"),
        (pl.DataFrame({"when": [[1], [2]]}), "List"),
        (pl.DataFrame({"when": [b"a", b"b"]}), "Binary"),
        (pa.table({"when": [b"a", b"b"]}), "binary"),
    ],
)  # fmt: skip
def test_a_column_of_another_dtype_raises_an_error_that_names_it(X, dtype):
    message = f"column 'when' has dtype {dtype}.*neither numeric nor categorical"
    with pytest.raises(TypeError, match=message):
        learn(X)
    numbers, estimator = pd.DataFrame({"when": [1.0, 2.0]}), Dummy()
    _, schema = learn(numbers, estimator=estimator)
    with pytest.raises(TypeError, match=f"column 'when' has dtype {dtype}"):
        read_columns(estimator, X, schema)


@pytest.mark.parametrize(
    ("X", "dtype"),
    [
        (pd.DataFrame({"when": pd.to_timedelta([90, None], unit="m")}), "timedelta64"),
        (pl.DataFrame({"when": [dt.timedelta(minutes=90), None]}), "Duration"),
        (pa.table({"when": pa.array([dt.timedelta(minutes=90), None])}), "duration"),
    ],
)
def test_durations_are_hours_where_the_fit_had_some(X, dtype):
    estimator = Dummy()
    [column], schema = learn(X, estimator=estimator)
    assert_array_equal(column, [1.5, NAN])
    assert schema.features[0].counts == "hours"
    assert_array_equal(read_columns(estimator, X, schema)[0], [1.5, NAN])
    plain = pd.DataFrame({"when": [1.5, 2.0]})
    assert_array_equal(np.ravel(read_columns(estimator, plain, schema)), [1.5, 2])
    # Numbers of an unknown unit.
    numbers, estimator = pd.DataFrame({"when": [1.0, 2.0]}), Dummy()
    _, schema = learn(numbers, estimator=estimator)
    with pytest.raises(TypeError, match=f"column 'when' has dtype {dtype}"):
        read_columns(estimator, X, schema)


def test_dates_cannot_be_categories_either():
    with pytest.raises(TypeError, match=r"column 'when' has dtype Datetime.*cannot be categorical"):
        learn(pl.DataFrame({"when": DATES}), [0])


# Categories.

COLOURS = ["red", None, "blue", "red", "ärger", "blue", None, ""]
LEVELS = ("", "blue", "red", "ärger")
CODES = [2, MISSING_CODE, 1, 2, 3, 1, MISSING_CODE, 0]

STRINGS = {
    "pandas": lambda v: pd.DataFrame({"c": v}),
    "pandas-object": lambda v: pd.DataFrame({"c": np.array(v, dtype=object)}),
    "pandas-object-nan": lambda v: pd.DataFrame(
        {"c": np.array([NAN if x is None else x for x in v], dtype=object)}
    ),
    "pandas-string": lambda v: pd.DataFrame({"c": v}, dtype="string"),
    "pandas-string-arrow": lambda v: pd.DataFrame({"c": v}, dtype="string[pyarrow]"),
    "pandas-arrow": lambda v: pd.DataFrame({"c": v}, dtype=pd.ArrowDtype(pa.string())),
    "pandas-arrow-dictionary": lambda v: pd.DataFrame(
        {"c": v}, dtype=pd.ArrowDtype(pa.dictionary(pa.int8(), pa.string()))
    ),
    "pandas-category": lambda v: pd.DataFrame({"c": pd.Categorical(v)}),
    "pandas-category-reversed": lambda v: pd.DataFrame(
        {"c": pd.Categorical(v, categories=[*sorted({x for x in v if x is not None})[::-1], "zz"])}
    ),
    "pandas-ordered": lambda v: pd.DataFrame({"c": pd.Categorical(v, ordered=True)}),
    "polars": lambda v: pl.DataFrame({"c": v}),
    "polars-category": lambda v: pl.DataFrame({"c": pl.Series(v, dtype=pl.Categorical)}),
    "polars-category-slice": lambda v: pl.DataFrame(
        {"c": pl.Series(["zz", "ärger", "q", *v, "x"], dtype=pl.Categorical)}
    )[3:-1],
    "polars-chunks": lambda v: pl.concat(
        [pl.DataFrame({"c": pl.Series(p, dtype=pl.Categorical)}) for p in (v[:3], v[3:])],
        rechunk=False,
    ),
    "polars-enum": lambda v: pl.DataFrame(
        {"c": pl.Series(v, dtype=pl.Enum(["zz", *sorted({x for x in v if x is not None})[::-1]]))}
    ),
    "pyarrow": lambda v: pa.table({"c": v}),
    "pyarrow-large": lambda v: pa.table({"c": pa.array(v, pa.large_string())}),
    "pyarrow-dictionary": lambda v: pa.table({"c": pa.array(v, pa.string()).dictionary_encode()}),
    "pyarrow-chunks": lambda v: pa.table(
        {
            "c": pa.chunked_array(
                [pa.array(p, pa.string()).dictionary_encode() for p in (v[:3], v[3:])]
            )
        }
    ),
    "pyarrow-uint8": lambda v: pa.table(
        {"c": pa.array(v, pa.string()).cast(pa.dictionary(pa.uint8(), pa.string()))}
    ),
}  # fmt: skip
strings = pytest.mark.parametrize("make", STRINGS.values(), ids=STRINGS)


@strings
def test_strings_of_any_library_have_sorted_levels_and_their_codes(make):
    (codes,), schema = learn(make(COLOURS), n_rows=8)
    assert schema == Schema((Feature("c", LEVELS),))
    assert schema.n_levels == [4]
    assert codes.dtype == np.uint32
    assert codes.flags.c_contiguous
    assert_array_equal(codes, CODES)


@strings
@pytest.mark.parametrize(
    "fitted", ["pandas-category-reversed", "polars-category", "pyarrow-chunks"]
)
def test_categories_are_matched_by_value_across_libraries(fitted, make):
    new = ["unseen", "ärger", None, "blue", "unseen", "red"]
    (codes,) = relearn(STRINGS[fitted](COLOURS), make(new))
    assert_array_equal(codes, [MISSING_CODE, 3, MISSING_CODE, 1, MISSING_CODE, 2])


@pytest.mark.filterwarnings("ignore:X does not have valid feature names")
def test_an_array_of_objects_is_matched_by_value_too():
    fitted = pd.DataFrame({"c": pd.Categorical(["b", "a", None]), "x": [1.0, 2.0, 3.0]})
    codes, numbers = relearn(fitted, np.array([["a", 1], [None, None], ["z", 2.5]], dtype=object))
    assert_array_equal(codes, [0, MISSING_CODE, MISSING_CODE])
    assert_array_equal(numbers, [1.0, NAN, 2.5])
    codes, numbers = relearn(fitted, [["b", 1], [NAN, "2.5"]])
    assert_array_equal(codes, [1, MISSING_CODE])
    assert_array_equal(numbers, [1.0, 2.5])


def test_an_all_missing_or_numeric_column_in_place_of_strings_matches_nothing():
    fitted = pd.DataFrame({"c": ["b", "a"]})
    for new in ({"c": [None, None]}, {"c": [NAN, NAN]}, {"c": [1, 2]}, {"c": [True, False]}):
        assert_array_equal(relearn(fitted, pd.DataFrame(new))[0], [MISSING_CODE] * 2)


def test_strings_in_place_of_numbers_raise_an_error_that_names_the_column():
    fitted = pd.DataFrame({"c": [1.0, 2.0]})
    for new in (pl.DataFrame({"c": ["1", "2"]}), pd.DataFrame({"c": pd.Categorical([1, 2])})):
        with pytest.raises(TypeError, match=r"column 'c' has dtype .* where numbers are expected"):
            relearn(fitted, new)


@pytest.mark.parametrize(
    "X",
    [
        pd.DataFrame({"c": pd.Categorical([3, 1, None, 3])}),
        pd.DataFrame({"c": pd.Categorical([3.0, 1.0, None, 3.0])}),
        pa.table({"c": pa.array([3, 1, None, 3]).dictionary_encode()}),
    ],
)
def test_numbers_may_be_categories(X):
    estimator = Dummy()
    (codes,), schema = learn(X, n_rows=4, estimator=estimator)
    assert schema.features[0].levels == (1, 3)
    assert all(type(level) is int for level in schema.features[0].levels)
    assert_array_equal(codes, [1, 0, MISSING_CODE, 1])
    for new in (
        pd.DataFrame({"c": [1, 3, 2]}),
        pl.DataFrame({"c": [1.0, 3.0, None]}),
        pd.DataFrame({"c": pd.array([1, 3, None], dtype="Int8")}),
        pa.table({"c": pa.array([1, 3, 1000], pa.uint16())}),
        pd.DataFrame({"c": pd.Categorical([1, 3, "x"])}),
    ):
        assert_array_equal(read_columns(estimator, new, schema)[0], [0, 1, MISSING_CODE])


def test_levels_are_those_that_occur_in_the_kept_rows():
    X = pd.DataFrame({"c": pd.Categorical(["b", "a", "c", "b"], categories=list("dcba"))})
    (codes,), schema = learn(X)
    assert schema.features[0].levels == ("a", "b", "c")
    (codes,), schema = learn(X, kept=np.array([True, False, True, True]))
    assert schema.features[0].levels == ("b", "c")
    assert_array_equal(codes, [0, MISSING_CODE, 1, 0])
    table = pa.table({"c": pa.chunked_array([["b", "a"], ["c", "b"]])})
    (codes,), schema = learn(table, kept=np.array([True, True, False, True]))
    assert schema.features[0].levels == ("a", "b")
    assert_array_equal(codes, [1, 0, MISSING_CODE, 1])


@pytest.mark.parametrize("kept", [None, np.array([False, True])])
def test_a_categorical_column_without_a_level_is_all_missing(kept):
    X = pd.DataFrame({"c": pd.Categorical(["a" if kept is not None else None, None])})
    (codes,), schema = learn(X, kept=kept)
    assert schema.n_levels == [0]
    assert_array_equal(codes, [MISSING_CODE] * 2)


MIXED = np.array([["b", 2.0, 7], [1, 0.5, 8], [True, NAN, 7], [None, 2, 9]], dtype=object)


@pytest.mark.parametrize(
    "chosen",
    [[0, 1], np.array([0, 1]), [True, True, False], ["first", "second"], ("second", "first")],
)
@pytest.mark.parametrize("frame", [True, False])
def test_columns_may_be_listed_by_position_name_or_mask(chosen, frame):
    X = pd.DataFrame(MIXED, columns=["first", "second", "third"]) if frame else MIXED
    if not frame and isinstance(chosen[0], str):
        with pytest.raises(ValueError, match="holds names, but X has no column names"):
            learn(X, chosen)
        return
    (first, second, third), schema = learn(X, chosen)
    # Python holds 1 and True for equal; numbers come before strings.
    assert schema.features[0].levels == (1, "b")
    assert schema.features[1].levels == (0.5, 2)
    assert schema.features[2].levels is None
    assert_array_equal(first, [1, 0, 0, MISSING_CODE])
    assert_array_equal(second, [1, 0, MISSING_CODE, 1])
    assert_array_equal(third, [7, 8, 7, 9])


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int16, np.uint64, np.bool_])
def test_a_numeric_matrix_may_have_categorical_columns(dtype):
    X = np.array([[1, 0], [0, 1], [1, 1]]).astype(dtype)
    (codes, numbers), schema = learn(X, [0])
    assert schema.features[0].levels == (0, 1)
    assert_array_equal(codes, [1, 0, 1])
    assert numbers.dtype == (np.float32 if dtype == np.float32 else np.float64)
    assert_array_equal(numbers, [0, 1, 1])
    assert_array_equal(relearn(X, [[2.0, 3.0], [NAN, NAN]], [0])[0], [MISSING_CODE] * 2)


def test_large_integers_are_distinguished():
    ids = np.array([[2**53], [2**53 + 1], [2**53]])
    (codes,), schema = learn(ids, [0])
    assert schema.features[0].levels == (2**53, 2**53 + 1)
    assert_array_equal(codes, [0, 1, 0])
    (codes,), _ = learn(pa.table({"id": ids[:, 0]}), ["id"], n_rows=3)
    assert_array_equal(codes, [0, 1, 0])


@pytest.mark.parametrize(
    ("chosen", "message"),
    [
        ("auto", "must be 'from_dtype', None, or a list"),
        ([3], "holds 3, but X has columns 0 to 2"),
        ([-1], "holds -1, but X has columns 0 to 2"),
        ([True], "has 1 booleans but X has 3 columns"),
        (["fourth"], "holds 'fourth', which is not a column of X"),
        ([0.5], "must be a list of column positions, names or booleans"),
        ([[0]], "must be a list of column positions, names or booleans"),
        ({}, "must be a list of column positions, names or booleans"),
    ],
)
def test_a_list_of_unknown_columns_is_rejected(chosen, message):
    X = pd.DataFrame({"first": [1], "second": [2], "third": [3]})
    with pytest.raises(ValueError, match=message):
        learn(X, chosen)


@pytest.mark.parametrize("chosen", [None, [], [1]])
def test_string_columns_not_listed_as_categorical_are_rejected(chosen):
    X = pl.DataFrame({"c": ["a", "b"], "d": [1, 2]})
    with pytest.raises(TypeError, match="column 'c' has dtype String where numbers are expected"):
        learn(X, chosen)


@pytest.mark.parametrize(
    ("values", "error", "message"),
    [
        (
            pd.cut([1, 2, 3], 2),
            TypeError,
            "column 'c' holds the category Interval.* of type Interval",
        ),
        (pd.Categorical(DATES), TypeError, "column 'c' holds the category Timestamp"),
        (pd.Categorical([1.0, np.inf]), ValueError, "column 'c' is inf; a category must be finite"),
        (pd.Categorical([1, 2**64]), TypeError, "column 'c' holds the category"),
    ],
)
def test_a_category_that_a_model_file_cannot_hold_is_rejected(values, error, message):
    with pytest.raises(error, match=message):
        learn(pd.DataFrame({"c": values}))


def test_unhashable_cells_cannot_be_categories():
    X = np.array([[{}], [1]], dtype=object)
    with pytest.raises(TypeError, match="column 0 cannot be categorical: unhashable"):
        learn(X, [0])


def test_a_table_of_columns_without_string_names_has_no_names():
    estimator = Dummy()
    _, schema = learn(pd.DataFrame({0: ["a", "b"], 1: [1.0, 2.0]}), estimator=estimator)
    assert schema.names is None
    assert schema.label(1) == "1"
    assert not hasattr(estimator, "feature_names_in_")
    assert estimator.n_features_in_ == 2


@frames
def test_names_are_remembered_and_other_columns_rejected(frame):
    estimator = Dummy()
    columns = {"a": [1.0, 2.0], "b": [3.0, 4.0], "c": ["x", "y"]}
    _, schema = learn(frame(columns), n_rows=2, estimator=estimator)
    assert_array_equal(estimator.feature_names_in_, ["a", "b", "c"])
    assert estimator.feature_names_in_.dtype == object
    swapped = frame({name: columns[name] for name in "bac"})
    with pytest.raises(ValueError, match="must be in the same order as they were in fit"):
        read_columns(estimator, swapped, schema)
    with pytest.raises(ValueError, match="seen at fit time, yet now missing:\n- b\n"):
        read_columns(estimator, frame({"a": [1.0], "c": ["x"]}), schema)
    with pytest.raises(ValueError, match="unseen at fit time:\n- d\n"):
        read_columns(estimator, frame(columns | {"d": [1, 2]}), schema)
    with pytest.warns(UserWarning, match="X does not have valid feature names"):
        read_columns(estimator, np.zeros((1, 3)), schema)


def test_another_number_of_columns_is_rejected():
    with pytest.raises(ValueError, match="X has 2 features, but Dummy is expecting 3"):
        relearn(np.zeros((2, 3)), np.zeros((2, 2)))


def test_rows_and_labels_must_be_equally_many():
    for X in (np.zeros((2, 3)), pl.DataFrame({"a": [1, 2]})):
        with pytest.raises(ValueError, match="inconsistent numbers of samples"):
            learn(X, n_rows=3)


# A property: codes do not depend on the container of the values.

# Arrow and polars reject lone surrogates, and for pandas 2 "" and "\0" are equal.
text = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=3)
cells = st.none() | text | st.sampled_from(["a", "b", "A"])


@given(st.lists(cells, min_size=1, max_size=30), st.lists(cells, min_size=1, max_size=10))
def test_codes_are_positions_among_the_sorted_distinct_values(values, new):
    levels = sorted({value for value in values if value is not None})

    def position(value):
        return levels.index(value) if value in levels else MISSING_CODE

    for name in (
        "pandas-object",
        "pandas-category",
        "polars",
        "polars-category",
        "pyarrow-dictionary",
    ):
        X = STRINGS[name](values)
        (codes,), schema = learn(X, ["c"], n_rows=len(values))
        assert schema.features[0].levels == tuple(levels)
        assert_array_equal(codes, [position(value) for value in values])
        (codes,) = relearn(X, STRINGS[name](new), ["c"])
        assert_array_equal(codes, [position(value) for value in new])


# Python's integers, which have no largest one.


INTEGERS = {
    "pandas": lambda v: pd.DataFrame({"a": v, "b": range(len(v))}, dtype=object),
    "list": lambda v: [[value, row] for row, value in enumerate(v)],
    "array": lambda v: np.array([v, range(len(v))], dtype=object).T,
}


@pytest.mark.parametrize("make", INTEGERS.values(), ids=INTEGERS)
@pytest.mark.parametrize("size", [2**62, 2**63, 2**64, -(2**63) - 1, 2**70, -(2**100), 10**300])
def test_integers_of_any_size_are_numbers_unless_they_are_declared_categories(size, make):
    values = [size, 0, size, size + size // 4]
    columns, schema = learn_columns(BaseEstimator(), make(values), "from_dtype", 4, None)
    assert schema.features[0].levels is None
    column = columns[0] if isinstance(columns, list) else columns[:, 0]
    assert column.tolist() == [float(value) for value in values]
    if all(-(2**63) <= value < 2**64 for value in values):
        _, schema = learn_columns(BaseEstimator(), make(values), [0], 4, None)
        assert set(schema.features[0].levels) == set(values)
    else:
        with pytest.raises(TypeError, match=r"column ('a'|0) holds the category .* from -2\*\*63"):
            learn_columns(BaseEstimator(), make(values), [0], 4, None)


@pytest.mark.parametrize("make", INTEGERS.values(), ids=INTEGERS)
@pytest.mark.parametrize("listed", ["from_dtype", [1]])
def test_an_integer_beyond_the_range_of_floats_is_an_error(make, listed):
    with pytest.raises(ValueError, match="holds an integer beyond the largest float"):
        learn_columns(BaseEstimator(), make([10**400, 0, 1]), listed, 3, None)


def test_numpy_strings_may_be_column_names():
    # As pandas without pyarrow stores those of `load_breast_cancer().feature_names`.
    names = pd.Index([np.str_("age"), np.str_("income")], dtype=object)
    X = pd.DataFrame(np.arange(40.0).reshape(20, 2), columns=names)
    model = TreeRank(random_state=0).fit(X, [0, 1] * 10)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        scores = model.decision_function(X)
    assert list(model.feature_names_in_) == ["age", "income"]
    assert (scores == model.decision_function(X.set_axis(["age", "income"], axis=1))).all()
