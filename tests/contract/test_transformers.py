"""Transformers among the estimators: scikit-learn's contract, saved files, the command line."""

import json

import aucrank
import numpy as np
import pandas as pd
import polars as pl
import pytest
from aucrank import MAD2C, ThresholdBinarizer
from aucrank._base.registry import ESTIMATORS as RANKERS
from aucrank._base.registry import TRANSFORMERS, get_estimator, public_estimators
from aucrank.cli import main
from numpy.testing import assert_array_equal
from sklearn.base import clone
from sklearn.compose import make_column_transformer
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.utils import estimator_checks, get_tags
from sklearn.utils.estimator_checks import parametrize_with_checks

from tests.common.stores import STORES

INSTANCES = [
    MAD2C(),
    MAD2C(encode="rate", n_jobs=2),
    MAD2C(encode="onehot-dense", categorical_features=None),
    MAD2C(special_values=[0.0]),
    ThresholdBinarizer(),
    ThresholdBinarizer(percentiles=[10, 50, 90], max_levels=3, n_jobs=2),
    ThresholdBinarizer(dtype="bool", categorical_features=None, missing_indicator=False),
]

# Frames cannot hold its output.
SPARSE = ThresholdBinarizer(sparse_output=True)


@parametrize_with_checks([*INSTANCES, SPARSE])
def test_scikit_learn_contract(estimator, check):
    check(estimator)


# The warnings are about names that the checks omit on purpose.
@pytest.mark.filterwarnings("ignore:X has feature names", "ignore:X does not have valid feature")
@pytest.mark.parametrize("estimator", INSTANCES, ids=repr)
@pytest.mark.parametrize(
    "check",
    [
        estimator_checks.check_dataframe_column_names_consistency,
        estimator_checks.check_global_output_transform_pandas,
        estimator_checks.check_global_set_output_transform_polars,
        estimator_checks.check_n_features_in_after_fitting,
        estimator_checks.check_set_output_transform,
        estimator_checks.check_set_output_transform_pandas,
        estimator_checks.check_set_output_transform_polars,
        estimator_checks.check_transformer_get_feature_names_out,
        estimator_checks.check_transformer_get_feature_names_out_pandas,
    ],
    ids=lambda check: check.__name__,
)
def test_column_names_follow_the_convention_of_scikit_learn(estimator, check):
    check(type(estimator).__name__, estimator)


def test_no_public_transformer_is_left_out():
    assert {type(estimator) for estimator in INSTANCES} == {
        get_estimator(name) for name in TRANSFORMERS
    }


def test_transformers_are_public_but_not_listed_as_rankers():
    assert not set(TRANSFORMERS) & set(RANKERS)
    assert not set(TRANSFORMERS) & set(public_estimators())
    for name in TRANSFORMERS:
        assert getattr(aucrank, name) is get_estimator(name)
        assert name in aucrank.__all__
        assert not hasattr(get_estimator(name), "decision_function")
        assert not hasattr(get_estimator(name), "predict")


@pytest.mark.parametrize("name", TRANSFORMERS)
def test_the_tags_declare_whether_two_classes_are_needed(name):
    tags = get_tags(get_estimator(name)())
    assert tags.estimator_type != "classifier"
    assert tags.transformer_tags is not None
    assert tags.target_tags.required == (name == "MAD2C")
    assert not tags.classifier_tags.multi_class
    assert tags.input_tags.allow_nan


rng = np.random.default_rng(5)
N = 300
Y = rng.random(N) < 0.4
FRAME = pd.DataFrame(
    {
        "age": (rng.normal(40, 10, N) + 12 * Y).round(1),
        "income": np.where(rng.random(N) < 0.1, np.nan, rng.normal(size=N)).astype(np.float32),
        "calls": np.where(rng.random(N) < 0.2, -1, rng.poisson(3, N)),
        "plan": pd.Categorical(rng.choice(["free", "pro", "team"], N)).remove_categories("team"),
    }
)
LABELS = np.where(Y, "left", "here")
ENCODINGS = ["ordinal", "onehot-dense", "rate"]


@pytest.fixture(params=ENCODINGS)
def fitted(request):
    return MAD2C(encode=request.param, special_values={"calls": [-1]}).fit(FRAME, LABELS)


def test_a_transformer_is_restored_from_every_kind_of_store(fitted, tmp_path):
    for store in ("file", "joblib", "pickle", "deepcopy"):
        back = STORES[store](fitted, tmp_path)
        assert type(back) is MAD2C
        assert back.get_params() == fitted.get_params()
        assert_array_equal(back.transform(FRAME), fitted.transform(FRAME))
        assert_array_equal(back.get_feature_names_out(), fitted.get_feature_names_out())
        assert_array_equal(back.classes_, fitted.classes_)
        assert repr(back.bins()) == repr(fitted.bins())
        assert back._to_document() == fitted._to_document()


def test_a_state_of_plain_values_is_all_that_a_copy_needs(fitted):
    # As skops does it: no attribute may be an object of the core.
    state = fitted.__getstate__()
    assert all(isinstance(value, str | dict | int | None) for value in state.values())
    back = MAD2C.__new__(MAD2C)
    back.__setstate__(json.loads(json.dumps(state)))
    assert_array_equal(back.transform(FRAME), fitted.transform(FRAME))


def test_a_subclass_is_pickled_and_not_saved(tmp_path):
    class Bins(MAD2C):
        pass

    model = Bins().fit(FRAME, Y)
    with pytest.raises(TypeError, match="Bins is not an estimator of aucrank"):
        model.save(tmp_path / "bins.json")
    with pytest.raises(NotFittedError):
        MAD2C().save(tmp_path / "bins.json")
    assert not list(tmp_path.iterdir())


def test_a_file_with_the_model_of_a_ranker_is_rejected(tmp_path):
    model = MAD2C().fit(FRAME, Y)
    path = tmp_path / "bins.json"
    model.save(path)
    path.write_text(path.read_text("utf-8").replace('"MAD2C"', '"RIMARC"'), "utf-8")
    with pytest.raises(aucrank.ModelFormatError):
        aucrank.load(path)


def test_a_failed_fit_leaves_no_bins_behind():
    model = MAD2C().fit(FRAME, Y)
    with pytest.raises(ValueError, match="column 'age' is inf in row 0"):
        model.fit(FRAME.assign(age=np.inf), Y)
    for ask in (lambda: model.transform(FRAME), model.bins, lambda: model.aucs_):
        with pytest.raises(NotFittedError):
            ask()
    assert not [name for name in vars(model) if name.endswith("_") or name in model._FITTED]


def test_set_output_gives_frames_with_names(fitted):
    for output, frame in (("pandas", pd.DataFrame), ("polars", pl.DataFrame)):
        found = clone(fitted).set_output(transform=output).fit(FRAME, Y).transform(FRAME)
        assert isinstance(found, frame)
        assert list(found.columns) == fitted.get_feature_names_out().tolist()
        assert_array_equal(found.to_numpy(), fitted.transform(FRAME))


def test_a_pipeline_searches_over_the_encoding():
    pipeline = make_pipeline(MAD2C(categorical_features=[3]), LogisticRegression(max_iter=500))
    whole = FRAME.fillna({"income": 0.0}).dropna()
    y = LABELS[whole.index]
    search = GridSearchCV(pipeline, {"mad2c__encode": ENCODINGS}, scoring="roc_auc", cv=3)
    search.fit(whole, y)
    assert set(search.cv_results_["param_mad2c__encode"]) == set(ENCODINGS)
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()
    assert cross_val_score(pipeline, whole, y, scoring="roc_auc").min() > 0.5


def test_a_column_transformer_picks_columns_by_name():
    both = make_column_transformer(
        (MAD2C(), ["age", "plan"]),
        (MAD2C(encode="rate"), ["calls"]),
        verbose_feature_names_out=False,
    ).set_output(transform="pandas")
    found = both.fit_transform(FRAME, Y)
    assert list(found.columns) == ["age", "plan", "calls"]
    assert_array_equal(found["age"], MAD2C().fit_transform(FRAME[["age"]], Y)[:, 0])


def test_fit_transform_takes_weights():
    weight = rng.integers(0, 3, N)
    found = MAD2C(encode="rate").fit_transform(FRAME, Y, sample_weight=weight)
    expected = MAD2C(encode="rate").fit(FRAME, Y, weight).transform(FRAME)
    assert_array_equal(found, expected)
    assert not np.array_equal(found, MAD2C(encode="rate").fit_transform(FRAME, Y), equal_nan=True)


# The command line, given a file that holds a transformer.


@pytest.fixture
def saved(fitted, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    fitted.save("bins.json")
    FRAME.assign(target=LABELS).to_csv("rows.csv", index=False)
    return fitted


def test_describe_prints_the_bins(saved, capsys):
    assert main(["describe", "bins.json"]) == 0
    said = capsys.readouterr()
    assert said.err == ""
    assert said.out.startswith("MAD2C, saved by aucrank ")
    assert "puts values into bins by how they rank rows of class 'left' above rows" in said.out
    words = " ".join(said.out.split())
    for rule in saved.bins()["rule"]:
        assert rule in words
    for name, auc, n_bins in zip(FRAME, saved.aucs_, saved.n_bins_, strict=True):
        # The table of features comes before that of the bins.
        line = next(row.split() for row in said.out.splitlines() if row.startswith(f"{name} "))
        assert line[-2:] == [str(n_bins), f"{auc:.4f}"]


@pytest.mark.parametrize(
    "command",
    [
        ["score", "bins.json", "rows.csv"],
        ["score", "bins.json", "rows.csv", "--proba"],
        ["evaluate", "bins.json", "rows.csv", "--target", "target"],
    ],
    ids=" ".join,
)
def test_commands_that_need_a_score_reject_a_transformer(command, saved, capsys):
    assert main(command) == 1
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.splitlines() == [
        "aucrank: error: bins.json holds a MAD2C, which transforms features and ranks no rows: in"
        " Python, aucrank.load('bins.json').transform(X) gives what it makes of them"
    ]


@pytest.mark.parametrize("labels", [None, LABELS], ids=["no labels", "labels"])
def test_describe_prints_the_terms(labels, tmp_path, capsys):
    model = ThresholdBinarizer().fit(FRAME, labels)
    model.save(tmp_path / "terms.json")
    assert main(["describe", str(tmp_path / "terms.json")]) == 0
    said = capsys.readouterr()
    assert said.err == ""
    assert "turns features into binary terms" in said.out
    assert ("rows of class 'left' above rows of class 'here'" in said.out) == (labels is not None)
    assert f"Terms ({model.n_terms_} terms)" in said.out
    words = " ".join(said.out.split())
    for name in model.get_feature_names_out():
        assert name in words
    for name, n_terms in zip(FRAME, np.bincount(model.feature_indices_), strict=True):
        line = next(row.split() for row in said.out.splitlines() if row.startswith(f"{name} "))
        assert line[-1] == str(n_terms)


def test_fit_does_not_offer_a_transformer(saved, capsys):
    assert main(["fit", "rows.csv", "--target", "target", "--model", "MAD2C"]) == 2
    assert "there is no model 'MAD2C'" in capsys.readouterr().err
