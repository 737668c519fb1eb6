"""Rankers logged in MLflow return the scores of the ranker, and the AUC has its interval."""

import numpy as np
import pandas as pd
import pytest
from aucrank import GradientBoostingRanker, RankBoost, TreeRank, load
from aucrank.metrics import auc_interval
from aucrank.mlflow import log_auc, log_model, save_model
from numpy.testing import assert_array_equal
from sklearn.exceptions import NotFittedError

from tests.common.loans import loans
from tests.common.processes import said_without


@pytest.mark.parametrize("call", ["log_model(None)", "save_model(None, 'x')", "log_auc([0], [1])"])
def test_without_mlflow_the_error_says_what_to_install(call):
    said = said_without("mlflow", call, "from aucrank.mlflow import log_auc, log_model, save_model")
    assert "pip install 'aucrank[mlflow]'" in said


@pytest.fixture
def mlflow(tmp_path, monkeypatch):
    """MLflow with its default store, in a folder of its own."""
    monkeypatch.chdir(tmp_path)
    package = pytest.importorskip("mlflow", reason="it is 60 MB, and not in the group of tests")
    pytest.importorskip("mlflow.pyfunc")
    return package


@pytest.fixture(scope="module")
def rows():
    X, _ = loans(400)
    y = np.random.default_rng(0).random(len(X)) < 1 / (1 + np.exp(2 - X["age"] / 20))
    return X.assign(since=pd.date_range("2020-01-01", periods=len(X))), y.to_numpy()


def test_a_logged_ranker_returns_its_scores(mlflow, rows):
    X, y = rows
    model = GradientBoostingRanker(n_rounds=5, random_state=0).fit(X, y)
    with mlflow.start_run() as run:
        info = log_model(model, registered_model_name=None)
        interval = log_auc(y, model.decision_function(X), prefix="train_", confidence=0.9)
    assert interval == auc_interval(y, model.decision_function(X), confidence=0.9)
    assert mlflow.get_run(run.info.run_id).data.metrics == {
        "train_auc": interval.auc,
        "train_auc_low": interval.low,
        "train_auc_high": interval.high,
        "train_auc_standard_error": interval.standard_error,
    }
    loaded = mlflow.pyfunc.load_model(info.model_uri)
    assert info.signature.inputs.input_names() == list(X)
    # As a warehouse or JSON would have them, and with a column too many.
    plain = X.astype({"trade": object, "age": float}).where(X.notna(), None)
    for new in (X, X.assign(trade=plain["trade"]), X.assign(more=1), X[::-1][::-1]):
        assert_array_equal(loaded.predict(new), model.decision_function(X))
    probable = mlflow.pyfunc.load_model(info.model_uri, model_config={"output": "probability"})
    assert_array_equal(probable.predict(X), model.predict_proba(X)[:, 1])
    assert repr(loaded.get_raw_model()) == repr(model)
    with pytest.raises(mlflow.exceptions.MlflowException, match="age"):
        loaded.predict(X.drop(columns="age"))


def test_a_folder_holds_the_saved_file_and_no_code(mlflow, rows, tmp_path):
    X, y = rows
    X = X[["age", "income"]].to_numpy()
    model = TreeRank(random_state=0).fit(X, y)
    save_model(model, tmp_path / "tree", output="probability")
    assert_array_equal(
        mlflow.pyfunc.load_model(str(tmp_path / "tree")).predict(X), model.predict_proba(X)[:, 1]
    )
    found = load(tmp_path / "tree" / "data" / "model.json")
    assert_array_equal(found.decision_function(X), model.decision_function(X))
    assert not [*tmp_path.rglob("*.pkl"), *(tmp_path / "tree").rglob("*.py")]


def test_models_that_cannot_be_logged_raise_an_error(mlflow, rows, tmp_path):
    X, y = rows
    with pytest.raises(NotFittedError):
        save_model(TreeRank(), tmp_path / "a")
    model = RankBoost(n_rounds=2).fit(X[["age"]], y)
    with pytest.raises(ValueError, match="this RankBoost has no predict_proba"):
        save_model(model, tmp_path / "b", output="probability")
    with pytest.raises(ValueError, match="output must be one of"):
        save_model(model, tmp_path / "c", output="label")


def test_skops_keeps_a_ranker_as_a_model_of_scikit_learn(mlflow, rows):
    X, y = rows
    model = TreeRank(random_state=0).fit(X, y)
    log = pytest.importorskip("mlflow.sklearn").log_model
    with mlflow.start_run():
        info = log(
            model,
            name="tree",
            serialization_format="skops",
            skops_trusted_types=["aucrank.tree._tree_rank.TreeRank"],
            pip_requirements=["aucrank"],
        )
    found = mlflow.sklearn.load_model(info.model_uri)
    assert_array_equal(found.decision_function(X), model.decision_function(X))
