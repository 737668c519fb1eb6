"""The base of all estimators, on a ranker small enough to check by hand."""

import copy
import json
import os
import pickle
import subprocess
import sys
from pathlib import Path

import aucrank
import joblib
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import sklearn
from aucrank import _core
from aucrank._base import persistence as _persistence
from aucrank._base import registry as _registry
from aucrank._base.ranker import BaseRanker, ProbabilityMixin
from aucrank._data.input import count_rows
from aucrank._data.schema import Schema
from aucrank._utils.threads import effective_n_threads
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.exceptions import DataConversionWarning, NotFittedError
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import get_tags
from sklearn.utils.estimator_checks import (
    check_dataframe_column_names_consistency,
    check_n_features_in_after_fitting,
    parametrize_with_checks,
)

# A model and its document, in place of those of the core.


class MeanModel:
    """Sum of standardised columns, each signed by the difference of the class means."""

    family = "mean"

    def __init__(self, centers, slopes, shift):
        self.centers, self.slopes, self.shift = centers, slopes, shift

    @property
    def n_features(self):
        return len(self.centers)

    def score(self, columns, n_threads):
        assert n_threads >= 1
        terms = (vector - c for vector, c in zip(vectors(columns), self.centers, strict=True))
        return sum(
            (np.nan_to_num(term) * slope for term, slope in zip(terms, self.slopes, strict=True)),
            start=np.full(count_rows(columns), -self.shift),
        )

    def probability(self, columns, n_threads):
        return 1 / (1 + np.exp(-self.score(columns, n_threads)))


def vectors(columns):
    """Columns one by one, checked as the core checks them; codes count for nothing."""
    matrix = isinstance(columns, np.ndarray)
    for index in range(columns.shape[1] if matrix else len(columns)):
        vector = columns[:, index] if matrix else columns[index]
        if vector.dtype == np.uint32:
            vector = np.zeros(len(vector))
        infinite = np.flatnonzero(np.isinf(vector))
        if infinite.size:
            row = infinite[0]
            error = _core.ColumnError(f"column {index} is {vector[row]} in row {row}; drop it")
            error.column = index
            raise error
        yield vector.astype(np.float64)


def write_document(header, model, calibration):
    body = json.loads(header)
    body["model"] = {
        "family": model.family,
        "centers": model.centers,
        "slopes": model.slopes,
        "shift": model.shift,
    }
    return json.dumps({"format": "aucrank", "body": body})


def read_document(text):
    try:
        body = json.loads(text)["body"]
        model = body.pop("model")
    except (ValueError, KeyError, TypeError) as err:
        raise _core.ModelFormatError(f"not a model of aucrank: {err}") from err
    read = MeanModel(model["centers"], model["slopes"], model["shift"])
    read.family = model["family"]
    return json.dumps(body), read, None


class MeanRanker(ProbabilityMixin, BaseRanker):
    _family = "mean"
    _takes_sparse = False

    def __init__(
        self, *, sign=1.0, categorical_features="from_dtype", n_jobs=None, random_state=None
    ):
        self.sign = sign
        self.categorical_features = categorical_features
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _check_params(self):
        if isinstance(self.sign, str):
            raise ValueError(f"sign must be a number, got {self.sign!r}")

    def _fit_model(self, context):
        sample, seed, n_threads = context.sample, context.seed, context.n_threads
        columns, positive, weight = sample.columns, sample.labels, sample.weight
        assert isinstance(sample.schema, Schema)
        assert 0 <= seed < 2**31 - 1
        assert n_threads >= 1
        weight = np.ones(len(positive)) if weight is None else weight
        centers, slopes = [], []
        for vector in vectors(columns):
            there = np.isfinite(vector) & (weight > 0)
            center = slope = 0.0
            if (there & positive).any() and (there & ~positive).any():
                mean = [
                    np.average(vector[r], weights=weight[r])
                    for r in (there & ~positive, there & positive)
                ]
                center = np.average(vector[there], weights=weight[there])
                spread = np.sqrt(np.average((vector[there] - center) ** 2, weights=weight[there]))
                slope = float(self.sign) * np.sign(mean[1] - mean[0]) / spread if spread else 0.0
            centers.append(float(center))
            slopes.append(float(slope))
        model = MeanModel(centers, slopes, 0.0)
        scores = model.score(columns, n_threads)
        model.shift = float(
            sum(np.average(scores[r], weights=weight[r]) for r in (~positive, positive)) / 2
        )
        return model


@pytest.fixture(autouse=True)
def core(monkeypatch):
    """Replace functions of the core by the stand-ins."""
    for stand_in in (write_document, read_document):
        monkeypatch.setattr(_core, stand_in.__name__, stand_in)
    monkeypatch.setitem(_registry.ESTIMATORS, "MeanRanker", __name__)


Y = np.random.default_rng(0).permutation(np.repeat([0, 1], 100))
X = np.random.default_rng(1).normal(size=(200, 4)) + Y[:, None] * [0.8, 0.5, 0.0, -0.6]


@pytest.fixture
def fitted():
    return MeanRanker(n_jobs=1, random_state=0).fit(X, Y)


@parametrize_with_checks([MeanRanker()])
def test_the_checks_of_scikit_learn_pass(estimator, check):
    check(estimator)


def test_column_names_are_checked_as_scikit_learn_does():
    check_dataframe_column_names_consistency("MeanRanker", MeanRanker())
    check_n_features_in_after_fitting("MeanRanker", MeanRanker())


def test_the_tags_declare_two_classes_and_missing_values():
    tags = get_tags(MeanRanker())
    assert tags.estimator_type == "classifier"
    assert not tags.classifier_tags.multi_class
    assert tags.input_tags.allow_nan
    assert not tags.input_tags.sparse


# Labels, scores and probabilities.


@pytest.mark.parametrize(
    "y",
    [
        np.array(["no", "yes"])[Y],
        np.array(["no", "yes"], dtype=object)[Y],
        Y.astype(bool),
        Y.astype(np.int8),
        Y - 0.0,
        np.where(Y, 1, -1),
        Y.tolist(),
        np.array(["no", "yes"])[Y].tolist(),
        pd.Series(Y, index=range(7, 207)),
        pd.Series(np.array(["no", "yes"])[Y]),
        pd.Series(np.array(["no", "yes"])[Y], dtype="category"),
        pd.Series(Y, dtype="Int64"),
        pd.Series(Y, dtype="boolean"),
        pl.Series(Y),
        pl.Series(Y).cast(pl.Boolean),
        pl.Series(np.array(["no", "yes"])[Y], dtype=pl.Categorical),
        pa.chunked_array([Y[:50], Y[50:]]),
        pa.array(Y),
    ],
    ids=lambda y: f"{type(y).__module__}-{getattr(y, 'dtype', getattr(y, 'type', ''))}",
)
def test_labels_of_any_kind_give_the_same_ranking_and_are_predicted(y, fitted):
    model = MeanRanker().fit(X, y)
    assert_array_equal(model.decision_function(X), fitted.decision_function(X))
    assert model.score(X, y) == pytest.approx(roc_auc_score(Y, fitted.decision_function(X)))
    labels = np.asarray(y.to_pylist() if hasattr(y, "to_pylist") else y)
    assert_array_equal(model.classes_, np.unique(labels))
    predicted = model.predict(X)
    assert predicted.dtype == model.classes_.dtype
    assert_array_equal(predicted == model.classes_[1], model.decision_function(X) > 0)


def test_probabilities_agree_with_labels(fitted):
    probability = fitted.predict_proba(X)
    assert probability.shape == (200, 2)
    assert_array_equal(probability.sum(axis=1), 1)
    assert_array_equal(probability[:, 1] > 0.5, fitted.predict(X) == 1)


@pytest.mark.parametrize("method", ["predict", "predict_proba", "decision_function", "score"])
def test_an_unfitted_estimator_raises_not_fitted_error(method):
    args = (X, Y) if method == "score" else (X,)
    with pytest.raises(NotFittedError, match="not fitted yet"):
        getattr(MeanRanker(), method)(*args)


def test_score_rejects_an_unseen_label(fitted):
    with pytest.raises(ValueError, match=r"2.* in row 3, which is none of the classes"):
        fitted.score(X[:5], [0, 1, 1, 2, 0])


# Bad input, row by row.


@pytest.mark.parametrize(
    ("y", "message"),
    [
        (np.zeros(200), "only one class: 0.0"),
        (np.full(200, "a"), "only one class: 'a'"),
        (
            np.arange(200) % 3,
            "Only binary classification is supported. The type of the target is multiclass.",
        ),
        (np.array(["a", "b", "c"])[np.arange(200) % 3], "The type of the target is multiclass."),
        (np.where(Y, np.nan, 0), "Input y contains NaN."),
        (np.where(Y, np.inf, 0), "Input y contains infinity"),
        (np.where(Y, 0.5, 1.5), "Unknown label type: continuous"),
        (np.linspace(0, 1, 200), "Unknown label type: continuous"),
        (np.where(Y, "a", None), "Input y contains NaN."),
        (pd.Series(Y, dtype="Int64").where(Y == 1), "Input y contains NaN."),
        (pl.Series(Y).replace({1: None}), "Input y contains NaN."),
        (np.array(["a", 1], dtype=object)[Y], "Unknown label type: unknown"),
        (Y.astype("datetime64[s]"), "Unknown label type"),
        (Y + 1j, "Complex data not supported"),
        (np.c_[Y, Y], "y should be a 1d array"),
        (None, "requires y to be passed, but the target y is None"),
        (Y[:-1], "inconsistent numbers of samples"),
        ([], "0 sample"),
    ],
)
def test_a_target_without_exactly_two_classes_is_rejected(y, message):
    model = MeanRanker()
    with pytest.raises(ValueError, match=message):
        model.fit(X, y)
    with pytest.raises(NotFittedError):
        model.predict(X)


def test_a_column_of_labels_is_taken_with_a_warning():
    with pytest.warns(DataConversionWarning, match="A column-vector y was passed"):
        MeanRanker().fit(X, Y[:, None])


def changed(row, value):
    weight = np.ones(200)
    weight[row] = value
    return weight


@pytest.mark.parametrize(
    ("weight", "message"),
    [
        (changed(3, -1.0), r"sample_weight must not be negative, got -1.0 in row 3"),
        (changed(3, np.nan), "Input sample_weight contains NaN"),
        (changed(3, np.inf), "Input sample_weight contains infinity"),
        (np.where(Y, 1.0, 0.0), "sample_weight is zero for every row of class 0"),
        (np.where(Y, 0.0, 1.0), "sample_weight is zero for every row of class 1"),
        (np.zeros(200), "sample_weight is zero"),
        (np.ones(199), r"sample_weight.shape == \(199,\), expected \(200,\)!"),
        (np.ones((200, 2)), r"sample_weight.shape == \(200, 2\)"),
        (-1.0, "sample_weight must not be negative"),
    ],
)
def test_invalid_weights_are_rejected(weight, message):
    with pytest.raises(ValueError, match=message.replace("class 0", r"class (np.int64\()?0")):
        MeanRanker().fit(X, Y, sample_weight=weight)


@pytest.mark.parametrize("make", [list, pd.Series, pl.Series, pa.array, np.float32])
def test_weights_may_come_from_any_library(make):
    weight = np.arange(200) % 4
    repeated = np.repeat(np.arange(200), weight)
    model = MeanRanker().fit(X, Y, sample_weight=make(weight))
    expected = MeanRanker().fit(X[repeated], Y[repeated])
    np.testing.assert_allclose(
        model.decision_function(X), expected.decision_function(X), rtol=1e-10
    )


def test_infinity_raises_an_error_that_names_its_column(fitted):
    frame = pd.DataFrame(X, columns=["age", "income", "debt", "tenure"])
    model = MeanRanker().fit(frame, Y)
    broken = frame.copy()
    broken.loc[5, "debt"] = -np.inf
    for call in (model.predict, lambda data: MeanRanker().fit(data, Y)):
        with pytest.raises(ValueError, match=r"^column 'debt' is -inf in row 5; drop it$"):
            call(broken)
    with pytest.raises(ValueError, match=r"^column 2 is -inf in row 5"):
        fitted.predict(broken.to_numpy())


@pytest.mark.parametrize(
    "X_odd",
    [X[[0, 1]], np.ones((2, 3)), np.full((2, 3), np.nan)],
    ids=["one row a class", "constant", "all missing"],
)
def test_data_without_anything_to_learn_gives_a_model(X_odd, recwarn):
    rows = np.array([np.flatnonzero(Y == 0)[0], np.flatnonzero(Y == 1)[0]])
    data = X[rows] if X_odd.shape[1] == 4 else X_odd
    assert np.isfinite(MeanRanker().fit(data, [0, 1]).decision_function(data)).all()
    assert len(recwarn) <= 1


def test_fit_rejects_a_bad_parameter():
    with pytest.raises(ValueError, match="sign must be a number, got 'x'"):
        MeanRanker(sign="x").fit(X, Y)
    with pytest.raises(ValueError, match="n_jobs == 0"):
        MeanRanker(n_jobs=0).fit(X, Y)


# After a failed fit.


@pytest.mark.parametrize("error", [KeyboardInterrupt, MemoryError, ValueError])
def test_a_failed_fit_leaves_the_estimator_unfitted(fitted, monkeypatch, error):
    def fail(*args):
        raise error

    monkeypatch.setattr(MeanRanker, "_fit_model", fail)
    frame = pd.DataFrame(X, columns=list("abcd"))
    for model in (MeanRanker(), fitted):
        params = model.get_params()
        with pytest.raises(error):
            model.fit(frame, Y)
        assert vars(model) == params
        with pytest.raises(NotFittedError):
            model.predict(X)


def test_a_second_fit_drops_the_column_names_of_the_first():
    model = MeanRanker().fit(pd.DataFrame(X, columns=list("abcd")), Y)
    assert_array_equal(model.feature_names_in_, list("abcd"))
    model.fit(X[:, :2], Y)
    assert not hasattr(model, "feature_names_in_")
    assert model.n_features_in_ == 2


# Together with scikit-learn.


def test_it_works_in_pipelines_and_searches():
    pipeline = make_pipeline(StandardScaler(), MeanRanker())
    by_name = cross_val_score(pipeline, X, Y, scoring="roc_auc")
    # scikit-learn adds up trapezoids in floats, ours counts pairs in integers.
    assert_allclose(by_name, cross_val_score(pipeline, X, Y), rtol=1e-14)
    assert by_name.mean() > 0.7
    search = GridSearchCV(MeanRanker(), {"sign": [-1.0, 1.0]}).fit(X, Y)
    assert search.best_params_ == {"sign": 1.0}
    calibrated = CalibratedClassifierCV(MeanRanker()).fit(X, Y)
    assert roc_auc_score(Y, calibrated.predict_proba(X)[:, 1]) > 0.7


def test_weights_are_routed_through_a_pipeline():
    weight = np.arange(200) % 4
    with sklearn.config_context(enable_metadata_routing=True):
        scaler = StandardScaler().set_fit_request(sample_weight=False)
        ranker = (
            MeanRanker().set_fit_request(sample_weight=True).set_score_request(sample_weight=True)
        )
        pipeline = make_pipeline(scaler, ranker).fit(X, Y, sample_weight=weight)
        scores = pipeline.decision_function(X)
        expected = roc_auc_score(Y, scores, sample_weight=weight)
        assert pipeline.score(X, Y, sample_weight=weight) == pytest.approx(expected)
    alone = MeanRanker().fit(StandardScaler().fit_transform(X), Y, sample_weight=weight)
    assert_array_equal(scores, alone.decision_function(StandardScaler().fit_transform(X)))


@pytest.mark.parametrize("n_jobs", [None, 1, 2, -1])
def test_a_fit_to_few_rows_uses_one_thread(n_jobs, fitted, monkeypatch):
    taken = []
    monkeypatch.setattr(
        MeanModel,
        "score",
        lambda self, columns, n: taken.append(n) or np.zeros(count_rows(columns)),
    )
    fitted.set_params(n_jobs=n_jobs).decision_function(X)
    fitted.decision_function(np.zeros((100_000, 4)))
    assert taken == [1, min(13, effective_n_threads(n_jobs))]


# Saving.


@pytest.mark.parametrize(
    "labels",
    [
        np.array([0, 1]),
        np.array([-1, 1], dtype=np.int8),
        np.array([0, 2**64 - 1], dtype=np.uint64),
        np.array([False, True]),
        np.array([-1.0, 1.0]),
        np.array([1.0, 2.0], dtype=np.float32),
        np.array(["bad risk", "good"], dtype="<U9"),
        np.array(["böse", "gut\n"], dtype=object),
    ],
    ids=lambda labels: str(labels.dtype),
)
@pytest.mark.parametrize("way", ["pickle", "copy", "joblib", "save"])
def test_a_saved_model_is_restored_unchanged(labels, way, tmp_path):
    frame = pd.DataFrame(X, columns=["a", "b", "ü", "d"]).assign(
        colour=pd.Categorical(np.array(["red", "blue", "green"])[np.arange(200) % 3]),
        size=pd.Categorical(np.arange(200) % 3 + 0.5),
    )
    model = MeanRanker(random_state=np.int64(3), sign=np.float32(2.5)).fit(frame, labels[Y])
    if way == "pickle":
        back = pickle.loads(pickle.dumps(model))
    elif way == "copy":
        back = copy.deepcopy(model)
    elif way == "joblib":
        joblib.dump(model, tmp_path / "model.joblib")
        back = joblib.load(tmp_path / "model.joblib")
    else:
        model.save(tmp_path / "model.json")
        back = aucrank.load(tmp_path / "model.json")
        assert type(back.sign) is float
        assert type(back.random_state) is int
    assert type(back).__name__ == "MeanRanker"
    assert back.get_params() == model.get_params()
    assert back.classes_.dtype == labels.dtype
    assert_array_equal(back.classes_, labels)
    assert_array_equal(back.feature_names_in_, model.feature_names_in_)
    assert back.feature_names_in_.dtype == object
    assert back.n_features_in_ == 6
    assert back._schema == model._schema
    assert_array_equal(back.decision_function(frame), model.decision_function(frame))
    assert_array_equal(back.predict(frame), model.predict(frame))
    clone(back).fit(frame, Y)


def test_pickle_and_file_hold_the_same_text(fitted, tmp_path):
    fitted.save(tmp_path / "model.json")
    text = (tmp_path / "model.json").read_text(encoding="utf-8")
    assert fitted.__getstate__()["_document"] == text
    assert not {"_model", "_schema", "classes_"} & set(fitted.__getstate__())
    body = json.loads(text)["body"]
    assert body["estimator"]["class"] == "MeanRanker"
    assert body["classes"] == {"dtype": "int64", "values": [0, 1]}
    assert body["features"] == [{"name": None, "kind": "numeric"}] * 4


def test_an_unfitted_estimator_can_be_pickled_but_not_saved(tmp_path):
    assert pickle.loads(pickle.dumps(MeanRanker(sign=3.0))).sign == 3.0
    with pytest.raises(NotFittedError):
        MeanRanker().save(tmp_path / "model.json")
    assert not list(tmp_path.iterdir())


def test_values_that_json_cannot_hold_are_null_in_the_file_and_kept_by_pickle(tmp_path):
    model = MeanRanker(random_state=np.random.RandomState(0)).fit(X, Y)
    model.save(tmp_path / "model.json")
    assert aucrank.load(tmp_path / "model.json").random_state is None
    assert isinstance(pickle.loads(pickle.dumps(model)).random_state, np.random.RandomState)


@pytest.mark.parametrize(
    "value",
    [(0, 1), [1, (2.5, None)], np.inf, -np.inf, {"a": 1}, {1: (True, "x")}, "text", True, 2**63],
)
def test_plain_parameters_are_restored_from_a_file(value, tmp_path):
    model = MeanRanker(random_state=0).fit(X, Y)
    model.categorical_features = value
    model.save(tmp_path / "model.json")
    back = aucrank.load(tmp_path / "model.json").categorical_features
    assert back == value
    assert type(back) is type(value)


def test_array_and_object_parameters_are_restored_from_a_file(tmp_path, monkeypatch):
    class Part(sklearn.base.BaseEstimator):
        def __init__(self, *, depth=1, inner=None):
            self.depth = depth
            self.inner = inner

    monkeypatch.setattr(_persistence, "_parts", {})
    assert _persistence.persistable(Part) is Part
    mask = np.array([True, False])
    model = MeanRanker(random_state=0).fit(X, Y)
    model.categorical_features = [mask, Part(depth=2, inner=Part(inner=MeanRanker(sign=2.0)))]
    model.save(tmp_path / "model.json")
    array, part = aucrank.load(tmp_path / "model.json").categorical_features
    assert array.dtype == np.bool_
    assert_array_equal(array, mask)
    assert type(part) is Part
    assert part.depth == 2
    assert part.inner.inner.sign == 2.0


def test_an_estimator_of_another_package_is_pickled_not_saved(tmp_path):
    model = Stranger().fit(X, Y)
    with pytest.raises(TypeError, match="Stranger is not an estimator of aucrank"):
        model.save(tmp_path / "model.json")
    assert_array_equal(pickle.loads(pickle.dumps(model)).predict(X), model.predict(X))


class Stranger(MeanRanker):
    pass


def tampered(change):
    """Return a function that changes the parsed document and writes it again."""

    def tamper(text):
        document = json.loads(text)
        change(document["body"])
        return json.dumps(document).encode()

    return tamper


@pytest.mark.parametrize(
    ("tamper", "message"),
    [
        (lambda text: b"", "not a model"),
        (lambda text: text.encode()[:50], "not a model"),
        (lambda text: b'{"a": 1}', "not a model"),
        (lambda text: b"\xff\xfe\x00", "not a text file"),
        (
            tampered(lambda b: b["estimator"].update({"class": "os.system"})),
            "'os.system'.*not know",
        ),
        (tampered(lambda b: b["estimator"].update({"class": 3})), "unknown form"),
        (tampered(lambda b: b["estimator"]["params"].update(sing=1.0)), "'sing'"),
        (
            tampered(lambda b: b["estimator"]["params"].update(sign={"__class__": "Popen"})),
            "'Popen'",
        ),
        (tampered(lambda b: b["classes"].update(values=[0])), "two labels"),
        (tampered(lambda b: b["classes"].update(values=[0, 0])), "two labels"),
        (tampered(lambda b: b["classes"].update(values=[0, "x"])), "not valid"),
        (tampered(lambda b: b["classes"].update(values=[0, 300], dtype="int8")), "not valid"),
        (tampered(lambda b: b["classes"].update(values=["0", "1"])), "not an array of dtype int64"),
        (tampered(lambda b: b["classes"].update(values=[[0], [1]])), "not valid"),
        (tampered(lambda b: b["classes"].update(dtype="V8")), "unknown form"),
        (tampered(lambda b: b["classes"].update(dtype="<U99999999")), "unknown form"),
        (tampered(lambda b: b["classes"].update(dtype="no type")), "not valid"),
        (tampered(lambda b: b.pop("features")), "unknown form"),
        (tampered(lambda b: b["features"].pop()), "4 features but the header 3"),
        (tampered(lambda b: b["features"].clear()), "not a list of columns"),
        (tampered(lambda b: b["features"][0].update(kind="colour")), "column 0"),
        (tampered(lambda b: b["features"][0].update(name="a")), "some have none"),
        (tampered(lambda b: b["features"][0].update(kind="categorical", levels=[[]])), "level"),
        (tampered(lambda b: b["features"][0].update(kind="categorical", levels=[1, 1])), "twice"),
        (tampered(lambda b: b["model"].update(family="tree")), "family 'tree'"),
    ],
)
def test_a_file_that_is_not_a_model_raises_an_error_that_names_it(
    tamper, message, fitted, tmp_path
):
    path = tmp_path / "model.json"
    fitted.save(path)
    path.write_bytes(tamper(path.read_text(encoding="utf-8")))
    with pytest.raises(aucrank.ModelFormatError, match=f"model.json: .*{message}"):
        aucrank.load(path)


def test_a_missing_file_raises_file_not_found_error(tmp_path):
    with pytest.raises(FileNotFoundError):
        aucrank.load(tmp_path / "none.json")


def test_a_failed_save_keeps_the_old_file(fitted, tmp_path, monkeypatch):
    path = tmp_path / "model.json"
    fitted.save(path)
    before = path.read_bytes()

    def fail(*args):
        raise OSError("disk full")

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(OSError, match="disk full"):
        fitted.set_params(sign=9.0).save(path)
    assert path.read_bytes() == before
    assert [p.name for p in tmp_path.iterdir()] == ["model.json"]


def test_save_follows_a_link_and_sets_the_usual_permissions(fitted, tmp_path):
    (tmp_path / "plain").touch()
    (tmp_path / "link").symlink_to(tmp_path / "model.json")
    fitted.save(str(tmp_path / "link"))
    assert (tmp_path / "link").is_symlink()
    usual = (tmp_path / "plain").stat().st_mode
    assert (tmp_path / "model.json").stat().st_mode == usual


def test_skops_loads_a_model_if_its_class_is_trusted(fitted):
    skops = pytest.importorskip("skops.io")
    data = skops.dumps(fitted)
    unknown = skops.get_untrusted_types(data=data)
    assert [name.rsplit(".", 1)[-1] for name in unknown] == ["MeanRanker"]
    back = skops.loads(data, trusted=unknown)
    assert_array_equal(back.decision_function(X), fitted.decision_function(X))


# Threads and imports.


@pytest.mark.parametrize(
    ("n_jobs", "limit", "expected"),
    [
        (None, None, 8),
        (None, "1", 1),
        (None, "3,2", 3),
        (None, "64", 8),
        (None, "", 8),
        (None, "0", 8),
        (None, "many", 8),
        (-1, "1", 8),
        (-2, None, 7),
        (-100, None, 1),
        (5, "1", 5),
        (np.int64(100), None, 100),
    ],
)
def test_n_jobs_is_a_number_of_threads(n_jobs, limit, expected, monkeypatch):
    monkeypatch.setattr(joblib, "cpu_count", lambda: 8)
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    if limit is not None:
        monkeypatch.setenv("OMP_NUM_THREADS", limit)
    n_threads = effective_n_threads(n_jobs)
    assert n_threads == expected
    assert type(n_threads) is int
    with joblib.parallel_config(n_jobs=2):
        assert effective_n_threads(n_jobs) == expected


@pytest.mark.parametrize("n_jobs", [1.5, "2", True])
def test_n_jobs_of_another_type_is_rejected(n_jobs):
    with pytest.raises(TypeError, match="n_jobs must be an int or None"):
        effective_n_threads(n_jobs)


def test_a_worker_process_of_joblib_takes_its_share(monkeypatch):
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    with joblib.parallel_config(backend="loky", n_jobs=2, inner_max_num_threads=1):
        taken = joblib.Parallel()(joblib.delayed(effective_n_threads)(None) for _ in range(2))
    assert taken == [1, 1]


def test_importing_the_package_imports_no_slow_module():
    # Frames, plots and clusters; scikit-learn, which looks at pandas; and what takes its part.
    heavy = (
        "{'pandas', 'polars', 'pyarrow', 'matplotlib', 'dask', 'onnx', 'jinja2',"
        " 'sklearn', 'scipy', 'numpy', 'narwhals', 'joblib'}"
    )
    code = f"import sys, aucrank; sys.exit(sorted({heavy} & set(sys.modules)).__repr__())"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert run.stderr.strip() == "[]"


def test_the_package_gives_every_estimator_by_name():
    for name in _registry.ESTIMATORS:
        assert getattr(aucrank, name) is _registry.get_estimator(name)
        assert name in dir(aucrank)
    assert set(_registry.ESTIMATORS) - {"MeanRanker"} <= set(aucrank.__all__)
    with pytest.raises(AttributeError, match="module 'aucrank' has no attribute 'TreeRang'"):
        aucrank.TreeRang  # noqa: B018


def test_importing_an_unbuilt_checkout_says_what_to_run(tmp_path):
    source = Path(aucrank.__file__).parent
    for file in source.glob("*.py"):
        target = tmp_path / "aucrank" / file.name
        target.parent.mkdir(exist_ok=True)
        target.write_bytes(file.read_bytes())
    run = subprocess.run(
        [sys.executable, "-c", "import aucrank"],
        env=os.environ | {"PYTHONPATH": str(tmp_path)},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert "ImportError: aucrank is not compiled here: run `make build`" in run.stderr


@pytest.mark.parametrize("name", ["load", "show_versions"])
def test_dir_lists_functions_before_their_import(name):
    code = f"import aucrank; assert {name!r} in dir(aucrank); from aucrank import {name}"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_show_versions_names_the_system_and_the_packages(capsys):
    aucrank.show_versions()
    text = capsys.readouterr().out
    assert f"aucrank: {aucrank.__version__}" in text
    assert f"scikit-learn: {sklearn.__version__}" in text
    assert "OMP_NUM_THREADS" in text
