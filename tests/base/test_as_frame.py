"""Arrow streams and arrays with named fields are read as the frame of the same columns."""

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from aucrank import AUCBoost, TreeRank, TwoSidedClassifier
from aucrank._base.registry import TRANSFORMERS, get_estimator, public_estimators
from aucrank._data import as_frame as _as_frame
from aucrank._data.as_frame import as_frame
from aucrank.metrics import two_sample_test
from aucrank.tree import WeightedERM
from numpy.testing import assert_array_equal
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

from tests.common.estimators import few_members

rng = np.random.default_rng(0)
N_ROWS = 60
X = {
    "age": rng.normal(size=N_ROWS).round(2),
    "visits": rng.integers(0, 9, size=N_ROWS),
    "town": rng.choice(["Rome", "Ghent", "Oslo"], size=N_ROWS).astype(object),
    "pays": rng.random(N_ROWS) < 0.5,
}
X["age"][::11] = np.nan
Y = (np.nan_to_num(X["age"]) + X["pays"] + rng.normal(size=N_ROWS) > 0.5).astype(int)
FRAME = pd.DataFrame(X)
NUMBERS = ["visits", "pays"]


class Stream:
    """A table of an unknown library."""

    def __init__(self, table):
        self._table = table

    def __arrow_c_stream__(self, requested_schema=None):
        return self._table.__arrow_c_stream__(requested_schema)


def as_reader(frame):
    return pa.Table.from_pandas(frame).to_reader(max_chunksize=50)


def as_records(frame):
    return frame.to_records(index=False)


def as_fields(frame):
    dtypes = [(name, "U5" if name == "town" else frame[name].dtype) for name in frame]
    return np.array([tuple(row) for row in frame.itertuples(index=False)], dtype=dtypes)


KINDS = {
    "stream": lambda frame: Stream(pa.Table.from_pandas(frame)),
    "stream-of-polars": lambda frame: Stream(pl.from_pandas(frame)),
    "batch": pa.RecordBatch.from_pandas,
    "reader": as_reader,  # which can be read once
    "records": as_records,
    "fields": as_fields,
    "lazy": lambda frame: pl.from_pandas(frame).lazy(),
    "relation": lambda frame: duckdb.from_arrow(pa.Table.from_pandas(frame)),
}
kinds = pytest.mark.parametrize("made", KINDS.values(), ids=KINDS)


QUICK = {
    "random_state": 0,
    "n_estimators": 3,
    "n_rounds": 3,
    "depth": "shallow",
    "radius": 1.5,
    "members": few_members(),
}


@kinds
@pytest.mark.parametrize("name", [*public_estimators(), *TRANSFORMERS])
def test_every_estimator_reads_a_table_like_the_equal_frame(made, name):
    model = get_estimator(name)()
    known = model.get_params()
    model.set_params(**{key: value for key, value in QUICK.items() if key in known})
    columns = NUMBERS if name == "RankOpt" else list(X)  # it takes numbers alone, and all known
    frame = FRAME[columns]
    answer = "transform" if name in TRANSFORMERS else "decision_function"
    expected = np.asarray(getattr(model.fit(frame, Y), answer)(frame))
    assert_array_equal(np.asarray(getattr(model, answer)(made(frame))), expected)
    again = model.fit(made(frame), Y)
    assert list(again.feature_names_in_) == columns
    assert_array_equal(np.asarray(getattr(again, answer)(frame)), expected)
    assert_array_equal(np.asarray(getattr(again, answer)(made(frame))), expected)


@kinds
@pytest.mark.parametrize(
    "model",
    [
        TreeRank(split=WeightedERM(LogisticRegression()), max_depth=2, pruning=None),
        AUCBoost(weak_ranker=LogisticRegression(), n_rounds=3, random_state=0),
        TwoSidedClassifier(ranker=TreeRank(random_state=0)),
    ],
    ids=lambda model: type(model).__name__,
)
def test_estimators_of_other_packages_get_a_frame(made, model):
    frame = FRAME[NUMBERS]
    expected = model.fit(frame, Y).decision_function(frame)
    model.fit(made(frame), Y)
    assert_array_equal(model.decision_function(made(frame)), expected)
    if isinstance(model, TreeRank):
        assert_array_equal(model.tree_.apply(made(frame)), model.tree_.apply(frame))
    if isinstance(model, AUCBoost):
        *_, last = model.staged_decision_function(made(frame))
        assert_array_equal(last, expected)


@kinds
def test_weights_are_accepted_without_labels(made):
    weight = np.arange(N_ROWS) % 3
    binarizer = get_estimator("ThresholdBinarizer")()
    expected = binarizer.fit(FRAME, sample_weight=weight).transform(FRAME)
    terms = binarizer.fit(made(FRAME), sample_weight=weight).transform(made(FRAME))
    assert_array_equal(np.asarray(terms), np.asarray(expected))


@kinds
def test_two_sample_test_accepts_every_kind_of_table(made):
    frame = FRAME[NUMBERS]
    later = frame.assign(visits=frame["visits"] + 2)
    found = two_sample_test(made(frame), made(later), random_state=0)
    assert found.pvalue == pytest.approx(two_sample_test(frame, later, random_state=0).pvalue)


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
@pytest.mark.parametrize("kind", ["stream", "records", "fields"])
def test_any_installed_library_reads_tables_alike(kind, library, monkeypatch):
    if kind == "stream" and library == "pandas":
        pytest.skip("pandas reads no stream without pyarrow")
    monkeypatch.setattr(_as_frame, "find_spec", lambda name: name if name == library else None)
    model = TreeRank(random_state=0)
    expected = model.fit(FRAME, Y).decision_function(FRAME)
    made = KINDS[kind](FRAME)
    assert type(as_frame(made)).__module__.split(".")[0] == library
    assert_array_equal(model.fit(made, Y).decision_function(made), expected)


@pytest.mark.parametrize("dtype", ["<f8", ">f8", "<f4", ">f4", "f2", "g", "<i2", ">i8", "u1", "?"])
@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_numbers_of_any_width_and_byte_order_are_the_same_numbers(dtype, library, monkeypatch):
    monkeypatch.setattr(_as_frame, "find_spec", lambda name: name if name == library else None)
    values = np.array([1, 0, 1, 1, 0, 1, 0, 0] * 5)
    fields = np.empty(len(values), dtype=[("a", dtype), ("b", "i4")])
    fields["a"], fields["b"] = values, np.arange(len(values))
    model = TreeRank(min_samples_leaf=1, pruning=None).fit(fields, values)
    plain = np.column_stack([values, np.arange(len(values))]).astype(float)
    expected = TreeRank(min_samples_leaf=1, pruning=None).fit(plain, values)
    assert_array_equal(model.decision_function(fields), expected.decision_function(plain))


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_masked_values_are_missing(library, monkeypatch):
    monkeypatch.setattr(_as_frame, "find_spec", lambda name: name if name == library else None)
    fields = as_fields(FRAME)
    hidden = np.zeros(N_ROWS, dtype=[(name, bool) for name in X])
    for name in X:
        hidden[name] = rng.random(N_ROWS) < 0.2
    missing = FRAME.astype({"visits": float}).assign(pays=FRAME["pays"].astype(object))
    for name in X:
        missing.loc[hidden[name], name] = None
    model = TreeRank(random_state=0)
    expected = model.fit(missing, Y).decision_function(missing)
    masked = np.ma.masked_array(fields, mask=hidden)
    assert_array_equal(model.decision_function(masked), expected)
    assert_array_equal(model.fit(masked, Y).decision_function(masked), expected)


ROWS = FRAME.to_dict("records")


@pytest.mark.parametrize(
    ("X", "error", "message"),
    [
        (ROWS, TypeError, r"X is a list of dicts; pass .* pandas\.DataFrame\(X\)"),
        (tuple(ROWS), TypeError, r"X is a tuple of dicts; pass .* pandas\.DataFrame\(X\)"),
        (X, TypeError, r"X is a dict; pass .* pandas\.DataFrame\(X\)"),
        (as_fields(FRAME).reshape(-1, 1), ValueError, r"named fields of shape \(60, 1\)"),
        (np.zeros(N_ROWS, dtype=[("a", "f8", (2,))]), TypeError, r"the field 'a' .* shape \(2,\)"),
        (np.zeros(N_ROWS, dtype=[("a", [("b", "f8")])]), TypeError, r"the field 'a' of X holds"),
        (Stream(pa.chunked_array([[1.0] * N_ROWS])), ValueError, "non-struct"),
    ],
)
def test_an_input_that_is_not_a_table_raises_an_error_in_fit_and_in_scoring(X, error, message):
    with pytest.raises(error, match=message):
        TreeRank().fit(X, Y)
    model = TreeRank().fit(FRAME, Y)
    with pytest.raises(error, match=message):
        model.decision_function(X)


@pytest.mark.parametrize(
    ("X", "error", "message"),
    [
        (np.zeros(0, dtype=[("a", "f8")]), ValueError, r"0 sample\(s\)"),
        (as_records(FRAME.assign(when=1j)), TypeError, "column 'when' has dtype"),
        (Stream(pa.table({"when": pa.array([b"a"] * N_ROWS)})), TypeError, "'when'"),
    ],
)
def test_columns_of_tables_are_checked_like_those_of_a_frame(X, error, message):
    with pytest.raises(error, match=message):
        TreeRank().fit(X, Y)


@pytest.mark.parametrize(
    ("kind", "message"),
    [
        (
            "reader",
            r"an Arrow stream \(pyarrow\.lib\.RecordBatchReader\).* with pyarrow or polars,",
        ),
        ("records", r"named fields \(numpy.*recarray\).* with pandas or polars or pyarrow,"),
    ],
)
def test_a_missing_library_is_named_and_the_estimator_stays_unfitted(kind, message, monkeypatch):
    model = TreeRank().fit(FRAME, Y)
    monkeypatch.setattr(_as_frame, "find_spec", lambda name: None)
    with pytest.raises(TypeError, match=message):
        model.fit(KINDS[kind](FRAME), Y)
    assert not hasattr(model, "classes_")


@kinds
def test_a_pipeline_passes_tables_on(made):
    pipeline = make_pipeline("passthrough", TreeRank(random_state=0)).fit(made(FRAME), Y)
    expected = TreeRank(random_state=0).fit(FRAME, Y).predict(FRAME)
    assert_array_equal(pipeline.predict(made(FRAME)), expected)
