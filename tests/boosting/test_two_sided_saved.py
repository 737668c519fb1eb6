"""A two-sided classifier in files and exports: with a ranker of the package, and with others."""

import json
import pickle
import sqlite3

import aucrank
import numpy as np
import pandas as pd
import pytest
from aucrank import (
    AUCBoost,
    ModelFormatError,
    RankBoost,
    RankingEnsemble,
    TreeRank,
    TwoSidedClassifier,
)
from numpy.testing import assert_array_equal
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier

from tests.common.command_line import ok, read_numbers
from tests.common.estimators import TWO_SIDED, quiet_on_few_rows
from tests.common.forged import forged

rng = np.random.default_rng(0)
X = pd.DataFrame(rng.normal(size=(300, 3)).round(2), columns=["a", "b", "c"])
Y = np.where(X["a"] - X["b"] + rng.normal(size=300) > 0.5, "bad", "good")
NEW = pd.DataFrame(rng.normal(size=(200, 3)).round(2), columns=["a", "b", "c"])


def there_and_back(model, tmp_path):
    model.save(tmp_path / "model.json")
    return aucrank.load(tmp_path / "model.json")


@quiet_on_few_rows
@pytest.mark.parametrize("ranker", TWO_SIDED, ids=lambda ranker: type(ranker).__name__)
def test_it_is_saved_and_loaded_with_any_ranker_of_the_package(ranker, tmp_path):
    model = TwoSidedClassifier(ranker=clone(ranker), random_state=3).fit(X, Y)
    back = there_and_back(model, tmp_path)
    assert type(back) is TwoSidedClassifier
    assert repr(back) == repr(model)
    # Of the seed of the fit, which the parameter does not have.
    assert repr(back.ranker_) == repr(model.ranker_)
    for ask in ("decision_function", "predict", "expected_vote"):
        assert_array_equal(getattr(back, ask)(NEW), getattr(model, ask)(NEW))
    assert_array_equal(back.draw(NEW, 0), model.draw(NEW, 0))
    scores = model.ranker_.decision_function(NEW)
    assert_array_equal(back.ranker_.decision_function(NEW), scores)
    assert_array_equal(model._core_model().score(NEW.to_numpy(), 1), model.decision_function(NEW))
    again = pickle.loads(pickle.dumps(back))
    assert again._to_document() == model._to_document()


def test_probabilities_of_the_ranker_are_saved(tmp_path):
    model = TwoSidedClassifier(ranker=RankBoost(n_rounds=5, calibration="isotonic")).fit(X, Y)
    back = there_and_back(model, tmp_path)
    assert_array_equal(back.ranker_.predict_proba(NEW), model.ranker_.predict_proba(NEW))
    assert not hasattr(back, "predict_proba")


def test_an_infinite_threshold_is_saved(tmp_path):
    model = TwoSidedClassifier(ranker=TreeRank(pruning=None)).fit(np.zeros((6, 1)), [0, 1, 0] * 2)
    assert model.theta_ == np.inf
    back = there_and_back(model, tmp_path)
    assert back.theta_ == np.inf
    assert_array_equal(back.decision_function([[1e9]]), model.decision_function([[1e9]]))
    # The vote is 0 there, and 1 above.
    assert model.to_sql() == "-0.5e0"


def test_exports_give_its_score():
    model = TwoSidedClassifier(ranker=RankBoost(n_rounds=10)).fit(X, Y)
    expected = model.decision_function(NEW)
    with sqlite3.connect(":memory:") as database:
        NEW.to_sql("rows", database, index_label="number")
        query = f"SELECT {model.to_sql('sqlite')} FROM rows ORDER BY number"
        assert_array_equal(np.array(database.execute(query).fetchall())[:, 0], expected)
    names = {}
    exec(model.to_code("python"), names)
    assert_array_equal([names["score"](list(row)) for row in NEW.to_numpy()], expected)
    assert json.loads(model.to_json())["score"].keys() == {"steps_of"}
    assert "<RegressionModel" in model.to_pmml()
    with pytest.raises(ValueError, match="has no probabilities"):
        model.to_sql(output="probability")


def test_onnx_gives_score_and_label():
    onnxruntime = pytest.importorskip("onnxruntime")
    pytest.importorskip("onnx")
    model = TwoSidedClassifier(ranker=RankBoost(n_rounds=10)).fit(X, Y)
    session = onnxruntime.InferenceSession(model.to_onnx(inputs="matrix").SerializeToString())
    score, label = session.run(["score", "label"], {"X": NEW.to_numpy()})
    assert_array_equal(score, model.decision_function(NEW))
    assert_array_equal(label, model.predict(NEW))


@pytest.mark.parametrize(
    ("export", "args"),
    [("to_sql", ()), ("to_code", ("c",)), ("to_json", ()), ("to_pmml", ()), ("to_onnx", ())],
)
def test_the_error_of_an_export_names_a_ranker_of_another_package(export, args):
    model = TwoSidedClassifier(ranker=GaussianNB()).fit(X, Y)
    with pytest.raises(ValueError, match="its ranker, a GaussianNB, is an estimator that lives"):
        getattr(model, export)(*args)


def test_the_error_of_save_names_what_a_file_cannot_hold(tmp_path):
    model = TwoSidedClassifier(ranker=GaussianNB()).fit(X, Y)
    with pytest.raises(TypeError, match="holds a GaussianNB, an estimator of your own"):
        model.save(tmp_path / "model.json")
    with pytest.raises(AttributeError, match="a GaussianNB is not a ranker of aucrank"):
        model.to_html()
    assert_array_equal(
        pickle.loads(pickle.dumps(model)).decision_function(NEW), model.decision_function(NEW)
    )
    weak = AUCBoost(weak_ranker=LogisticRegression(), n_rounds=2)
    model = TwoSidedClassifier(ranker=weak).fit(X, Y)
    with pytest.raises(TypeError, match="AUCBoost was fitted with estimators of your own"):
        model.save(tmp_path / "model.json")
    with pytest.raises(ValueError, match="asks external models"):
        model.to_sql()
    members = [("neighbours", KNeighborsClassifier())]
    model = TwoSidedClassifier(ranker=RankingEnsemble(members=members, n_folds=2)).fit(X, Y)
    with pytest.raises(TypeError, match="RankingEnsemble was fitted with estimators of your own"):
        model.save(tmp_path / "model.json")


def test_a_two_sided_classifier_as_ranker_is_not_saved(tmp_path):
    inner = TwoSidedClassifier(ranker=RankBoost(n_rounds=3))
    model = TwoSidedClassifier(ranker=inner).fit(X, Y)
    with pytest.raises(TypeError, match="holds a TwoSidedClassifier"):
        model.save(tmp_path / "model.json")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda body: body["model"].update(low=1.0), "out of order"),
        (lambda body: body["model"].update(error=1.5), "not from 0 to 1"),
        (lambda body: body["model"].update(theta="nowhere"), "Threshold"),
        (lambda body: body["model"].update(ranker=body["model"].copy()), "is one itself"),
        (lambda body: body["header"].pop("report"), "does not say which ranker was cut"),
        (lambda body: body["header"]["report"].update(ranker=3), "which ranker was cut"),
        (
            lambda body: body["header"]["report"].update(ranker={"__class__": "TreeRank"}),
            "a TreeRank cannot have a model of family 'boosted'",
        ),
        (
            lambda body: body["header"]["estimator"].update({"class": "RankBoost", "params": {}}),
            "a RankBoost cannot have a model of family 'two_sided'",
        ),
        (lambda body: body["header"].update(report=[]), "`report` has an unknown form"),
    ],
)
def test_a_manipulated_file_is_rejected(change, message, tmp_path):
    model = TwoSidedClassifier(ranker=RankBoost(n_rounds=3)).fit(X, Y)
    (tmp_path / "model.json").write_text(forged(model, change), encoding="utf-8")
    with pytest.raises(ModelFormatError, match=message):
        aucrank.load(tmp_path / "model.json")


def test_the_command_line_describes_scores_and_exports_it(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    model = TwoSidedClassifier(ranker=RankBoost(n_rounds=5)).fit(X, Y)
    model.save("model.json")
    NEW.to_csv("new.csv", index=False)
    out = ok(capsys, "describe", "model.json")
    assert out.startswith("TwoSidedClassifier, saved by aucrank ")
    assert "ranks, by two scores, rows of class 'good' above rows of class 'bad'" in out
    assert "The cut" in out
    ok(capsys, "score", "model.json", "new.csv", "--output", "scores.csv")
    assert_array_equal(read_numbers("scores.csv")["score"], model.decision_function(NEW))
    X.assign(y=Y).to_csv("rows.csv", index=False)
    assert "AUC" in ok(capsys, "evaluate", "model.json", "rows.csv", "--target", "y")
    ok(capsys, "export", "model.json", "--to", "sql", "--output", "score.sql")
    assert (tmp_path / "score.sql").read_text(encoding="utf-8").strip() == model.to_sql().strip()
