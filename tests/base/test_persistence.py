"""Saved models through the documents of the core, from the file's side."""

import json
import pickle

import aucrank
import numpy as np
import pandas as pd
import polars as pl
import pytest
from aucrank import _core
from aucrank._base import persistence
from aucrank._base import registry as _registry
from aucrank._base.ranker import BaseRanker, ProbabilityMixin
from aucrank.tree import LeafRank
from numpy.testing import assert_array_equal

from tests.common.stores import STORES


class SmallTree(ProbabilityMixin, BaseRanker):
    """The smallest estimator around a model of the core."""

    _family = "tree_rank"

    def __init__(self, *, min_gain=0.0, random_state=None):
        self.min_gain = min_gain
        self.random_state = random_state

    def _fit_model(self, context):
        params = {
            "binning": {"max_bins": 255, "seed": context.seed},
            "grow": {
                "max_depth": 4,
                "min_samples_split": 2,
                "min_samples_leaf": 1,
                "min_gain": self.min_gain,
                "leaf_order": "tree",
            },
            "split": LeafRank(max_depth=2)._core_params(context.scope),
            "pruning": None,
            "seed": context.seed,
        }
        return _core.fit_tree_rank(context.sample.core, json.dumps(params), context.n_threads)


@pytest.fixture(autouse=True)
def registry(monkeypatch):
    monkeypatch.setitem(_registry.ESTIMATORS, "SmallTree", __name__)


rng = np.random.default_rng(0)
Y = rng.permutation(np.repeat([0, 1], 100))
FRAME = pd.DataFrame(
    {
        "age": rng.normal(size=200) + Y,
        "größe": np.where(rng.random(200) < 0.1, np.nan, rng.normal(size=200)).astype(np.float32),
        "colour": pd.Categorical(np.array(["red", "blue", None])[(rng.integers(0, 2, 200) + Y)]),
        "plan": rng.integers(0, 2, 200) > 0,
        "empty": np.full(200, None, dtype=object),
    }
)


@pytest.fixture
def fitted():
    return SmallTree(random_state=1).fit(FRAME, np.array(["bad", "good"])[Y])


def test_the_core_accepts_columns_of_any_frame(fitted):
    polars = pl.from_pandas(FRAME)
    objects = FRAME.astype(object).to_numpy()
    scores = fitted.decision_function(FRAME)
    assert len(np.unique(scores)) > 3
    assert_array_equal(fitted.decision_function(polars), scores)
    assert_array_equal(fitted.decision_function(polars.to_arrow()), scores)
    with pytest.warns(UserWarning, match="X does not have valid feature names"):
        assert_array_equal(fitted.decision_function(objects), scores)
    again = SmallTree(random_state=1).fit(polars, pl.Series(Y))
    assert_array_equal(again.decision_function(FRAME), scores)


def test_row_major_and_column_major_matrices_give_the_same_scores():
    X = FRAME[["age", "größe"]].to_numpy(dtype=np.float64)
    by_rows, by_columns = (
        SmallTree().fit(np.asarray(X, order=order), Y).decision_function(np.asarray(X, order=other))
        for order, other in (("C", "F"), ("F", "C"))
    )
    assert_array_equal(by_rows, by_columns)
    by_list = SmallTree().fit(FRAME[["age", "größe"]].astype(float), Y)
    assert_array_equal(by_list.decision_function(FRAME[["age", "größe"]].astype(float)), by_rows)


def test_the_core_names_a_column_with_infinity(fitted):
    broken = FRAME.copy()
    broken.loc[7, "größe"] = np.inf
    for call in (fitted.predict, lambda X: SmallTree().fit(X, Y)):
        with pytest.raises(ValueError, match=r"^column 'größe' is inf in row 7") as caught:
            call(broken)
        # Workers return errors by pickle.
        assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)


def test_a_model_is_restored_from_every_kind_of_store(fitted, tmp_path):
    for store in ("file", "joblib", "pickle"):
        back = STORES[store](fitted, tmp_path)
        assert type(back) is SmallTree
        assert back.get_params() == fitted.get_params()
        assert back._schema == fitted._schema
        assert_array_equal(back.predict(FRAME), fitted.predict(FRAME))
        assert_array_equal(back.predict_proba(FRAME), fitted.predict_proba(FRAME))
        assert back._to_document() == fitted._to_document()


@pytest.mark.parametrize("n_jobs", [2**63 - 1, 2**64, 10**30, -(10**30)])
def test_an_integer_of_any_size_is_restored(n_jobs, tmp_path):
    model = aucrank.TreeRank(pruning=None, n_jobs=n_jobs).fit(FRAME, Y)
    model.save(tmp_path / "model.json")
    back = aucrank.load(tmp_path / "model.json")
    assert back.n_jobs == n_jobs
    assert type(back.n_jobs) is int
    assert_array_equal(back.decision_function(FRAME), model.decision_function(FRAME))
    assert back._to_document() == model._to_document()


def test_arrays_of_parameters_are_restored():
    arrays = [
        np.array(["a", "bc", "ö"]),
        np.array(["a", "x" * 3000, "b"]),
        np.array([1.5, np.nan, -np.inf, 0.0]),
        np.array([2**63], dtype=np.uint64),
        np.array([True, False]),
        np.array(["a", 1, None, 10**30], dtype=object),
        np.array([], dtype=np.float32),
    ]
    (back,) = persistence.decode_params(persistence.encode_params({"arrays": arrays})).values()
    for array, found in zip(arrays, back, strict=True):
        assert found.dtype == array.dtype
        np.testing.assert_array_equal(found, array)
    # A dtype wider than almost all of its texts takes no memory for the width.
    wide = np.array(["x" * 10_000, *["a"] * 500])
    (found,) = persistence.decode_params(persistence.encode_params({"a": wide})).values()
    assert found.dtype == object
    assert found.tolist() == wide.tolist()


def test_a_truncated_file_is_rejected(fitted, tmp_path):
    path = tmp_path / "model.json"
    fitted.save(path)
    whole = path.read_bytes()
    for length in range(0, len(whole) - 1, 97):
        path.write_bytes(whole[:length])
        with pytest.raises(aucrank.ModelFormatError, match=r"model\.json: "):
            aucrank.load(path)


def test_a_file_with_one_changed_byte_is_rejected_or_gives_the_same_model(fitted, tmp_path):
    path = tmp_path / "model.json"
    fitted.save(path)
    whole = path.read_bytes()
    for position in range(0, len(whole), 61):
        damaged = bytearray(whole)
        damaged[position] ^= 1
        path.write_bytes(bytes(damaged))
        try:
            back = aucrank.load(path)
        except aucrank.ModelFormatError:
            continue
        # Harmless: white space, or a note of who wrote it.
        assert back._to_document() == fitted._to_document()


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "not a complete JSON document"),
        (b"\x89PNG\r\n", "not a text file"),
        (b"[1, 2]", "not an aucrank model"),
        (b'{"format": "pmml"}', "not an aucrank model"),
        (pickle.dumps({"a": 1}), "not a text file"),
    ],
)
def test_a_foreign_file_raises_an_error_that_names_it(content, message, tmp_path):
    (tmp_path / "model.json").write_bytes(content)
    with pytest.raises(aucrank.ModelFormatError, match=f"model.json: .*{message}"):
        aucrank.load(tmp_path / "model.json")


def test_the_error_of_a_newer_file_names_the_version_that_wrote_it(fitted, tmp_path):
    document = json.loads(fitted._to_document()) | {"format_version": 99, "library_version": "9.1"}
    (tmp_path / "model.json").write_text(json.dumps(document))
    with pytest.raises(aucrank.ModelFormatError, match=r"format version 99.*aucrank 9\.1"):
        aucrank.load(tmp_path / "model.json")


def test_a_model_of_an_unknown_estimator_raises_an_error_that_names_it(
    fitted, tmp_path, monkeypatch
):
    fitted.save(tmp_path / "model.json")
    monkeypatch.delitem(_registry.ESTIMATORS, "SmallTree")
    with pytest.raises(aucrank.ModelFormatError, match="'SmallTree', which this version of aucr"):
        aucrank.load(tmp_path / "model.json")
