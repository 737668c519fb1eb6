"""`aucrank.mlflow.autolog` makes one run of each fit of the user's, and none of the fits within."""

import numpy as np
import pytest
from aucrank import (
    RIMARC,
    GradientBoostingRanker,
    LinearRanker,
    RankingEnsemble,
    RankingForest,
    Scorecard,
    TreeRank,
    TwoSidedClassifier,
    compare,
)
from aucrank.data import Dataset
from aucrank.inspection import ranking_instability
from aucrank.metrics import auc_interval, two_sample_test
from aucrank.mlflow import autolog
from numpy.testing import assert_array_equal
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import StackingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from tests.common.loans import loans
from tests.common.processes import said_without


def test_without_mlflow_the_error_says_what_to_install():
    said = said_without("mlflow", "autolog()", "from aucrank.mlflow import autolog")
    assert "pip install 'aucrank[mlflow]'" in said


@pytest.fixture
def mlflow(tmp_path, monkeypatch):
    """MLflow with its default store in a folder of its own; errors of the logging are raised."""
    monkeypatch.setenv("MLFLOW_AUTOLOGGING_TESTING", "true")
    monkeypatch.chdir(tmp_path)
    package = pytest.importorskip("mlflow", reason="it is 60 MB, and not in the group of tests")
    pytest.importorskip("mlflow.pyfunc")
    yield package
    autolog(disable=True)


@pytest.fixture(scope="module")
def rows():
    X, _ = loans(400)
    y = np.random.default_rng(0).random(len(X)) < 1 / (1 + np.exp(2 - X["age"] / 20))
    return X, y.to_numpy()


def runs_of(mlflow):
    return mlflow.search_runs(output_format="list", order_by=["attributes.start_time"])


def interval_of(metrics, prefix=""):
    names = ("auc", "auc_low", "auc_high", "auc_standard_error")
    return [metrics[prefix + name] for name in names]


def figures_of(interval):
    return [interval.auc, interval.low, interval.high, interval.standard_error]


def test_a_fit_is_a_run_with_parameters_auc_and_model(mlflow, rows):
    X, y = rows
    plain = TreeRank(max_depth=3, random_state=0).fit(X, y)
    autolog(log_input_examples=True, extra_tags={"team": "risk"})
    model = TreeRank(max_depth=3, random_state=0)
    assert model.fit(X, y) is model
    (run,) = runs_of(mlflow)
    assert run.info.status == "FINISHED"
    wanted = {name: str(value) for name, value in plain.get_params().items()}
    # Of the model that is logged.
    wanted["output"] = "score"
    assert run.data.params == wanted
    tags = run.data.tags
    assert tags["estimator_name"] == "TreeRank"
    assert (tags["mlflow.autologging"], tags["team"]) == ("aucrank", "risk")
    scores = plain.decision_function(X)
    assert interval_of(run.data.metrics, "training_") == figures_of(auc_interval(y, scores))
    (logged,) = mlflow.search_logged_models(output_format="list")
    assert {metric.key for metric in logged.metrics} == set(run.data.metrics)
    loaded = mlflow.pyfunc.load_model(logged.model_uri)
    assert_array_equal(loaded.predict(X), scores)
    assert loaded.metadata.signature.inputs.input_names() == list(X)
    assert list(loaded.input_example.columns) == list(X)
    assert len(loaded.input_example) == 5


def test_an_active_run_is_used_unless_exclusive(mlflow, rows):
    X, y = rows
    autolog(log_models=False)
    with mlflow.start_run() as run:
        LinearRanker().fit(X, y, np.linspace(1, 2, len(y)), groups=np.arange(len(y)) // 2)
        assert mlflow.active_run().info.run_id == run.info.run_id
    (found,) = runs_of(mlflow)
    assert found.info.run_id == run.info.run_id
    assert "training_auc" in found.data.metrics
    assert not mlflow.search_logged_models(output_format="list")
    autolog(exclusive=True)
    with mlflow.start_run() as run:
        LinearRanker().fit(X, y)
    assert not mlflow.get_run(run.info.run_id).data.params
    autolog(disable=True)
    LinearRanker().fit(X, y)
    assert len(runs_of(mlflow)) == 2


@pytest.mark.parametrize(
    "fit",
    [
        lambda X, y: RankingEnsemble(
            members=[("tree", TreeRank(max_depth=2)), ("own", DecisionTreeClassifier(max_depth=2))],
            n_folds=2,
            n_jobs=2,
        ).fit(X, y),
        lambda X, y: TwoSidedClassifier(ranker=TreeRank(max_depth=2)).fit(X, y),
        lambda X, y: Scorecard(estimator=RIMARC()).fit(X, y),
        lambda X, y: GradientBoostingRanker(loss="pair_logistic", n_rounds=3, n_jobs=2).fit(X, y),
        lambda X, y: make_pipeline(StandardScaler(), TreeRank(max_depth=2)).fit(X, y),
        lambda X, y: GridSearchCV(TreeRank(), {"max_depth": [1, 2]}, cv=2).fit(X, y),
    ],
    ids=["ensemble", "meta", "scorecard", "calibrated", "pipeline", "search"],
)
def test_fits_within_a_fit_make_no_runs(mlflow, rows, fit):
    X, y = rows
    autolog(log_models=False)
    fit(X[["age", "income"]].fillna(0).to_numpy(), y)
    (run,) = runs_of(mlflow)
    assert run.info.status == "FINISHED"
    assert "training_auc" in run.data.metrics


@pytest.mark.parametrize(
    "fit",
    [
        lambda model, X, y: compare(X, y, models=[model, LogisticRegression()], cv=2, n_jobs=2),
        lambda model, X, y: cross_val_score(model, X, y, cv=2),
        lambda model, X, y: CalibratedClassifierCV(model, cv=2).fit(X, y),
        lambda model, X, y: StackingClassifier([("tree", model)], cv=2).fit(X, y),
        lambda model, X, y: ranking_instability(model, X, y, n_resamples=2),
        lambda model, X, y: two_sample_test(X[y], X[~y], model),
    ],
    ids=["compare", "folds", "calibrated", "stacked", "resamples", "two_samples"],
)
def test_fits_for_evaluation_make_no_runs(mlflow, rows, fit):
    X, y = rows
    autolog()
    fit(TreeRank(max_depth=2), X[["age", "income"]].fillna(0).to_numpy(), y)
    assert runs_of(mlflow) == []


def test_parameters_of_parts_are_logged_once(mlflow, rows):
    X, y = rows
    autolog(log_models=False)
    TwoSidedClassifier(ranker=TreeRank(max_depth=2)).fit(X, y)
    (run,) = runs_of(mlflow)
    assert run.data.params["ranker"] == "TreeRank"
    assert run.data.params["ranker__max_depth"] == "2"


def test_validation_figures_of_a_fit_are_logged(mlflow, rows):
    X, y = rows
    autolog(log_models=False)
    blend = RankingEnsemble(
        members=[("tree", TreeRank()), ("line", LinearRanker())], n_folds=2, random_state=0
    ).fit(X, y)
    forest = RankingForest(n_estimators=10, oob_score=True, random_state=0).fit(X, y)
    booster = GradientBoostingRanker(n_rounds=4, random_state=0)
    booster.fit(X[:300], y[:300], X_val=X[300:], y_val=y[300:])
    first, second, third = runs_of(mlflow)
    board = blend.leaderboard_
    own = list(board["name"]).index("ensemble")
    named = {"held_out_auc": "auc", "held_out_auc_low": "low", "held_out_auc_high": "high"}
    for name, column in named.items():
        assert first.data.metrics[name] == board[column][own]
    assert second.data.metrics["oob_auc"] == forest.oob_score_
    path = booster.validation_path_
    (measure,) = {"auc", "loss"} & set(path)
    client = mlflow.MlflowClient()
    steps = client.get_metric_history(third.info.run_id, f"validation_{measure}")
    assert [step.step for step in steps] == list(path["round"])
    assert [step.value for step in steps] == list(path[measure])


def test_rows_of_other_libraries_and_of_a_data_set_are_logged(mlflow, rows):
    X, y = rows
    numbers = X[["age", "income"]]
    autolog(log_input_examples=True)
    pl = pytest.importorskip("polars")
    LinearRanker().fit(pl.from_pandas(numbers), y)
    LinearRanker().fit(numbers.fillna(0).to_numpy().tolist(), y)
    LinearRanker().fit(Dataset.from_batches(numbers.assign(bad=y), target="bad"))
    aucs = [interval_of(run.data.metrics, "training_") for run in runs_of(mlflow)]
    assert aucs[2] == aucs[0]
    examples = [
        mlflow.pyfunc.load_model(logged.model_uri).input_example
        for logged in sorted(
            mlflow.search_logged_models(output_format="list"),
            key=lambda one: one.creation_timestamp,
        )
    ]
    assert len(examples[0]) == len(examples[1]) == 5
    assert examples[2] is None


def test_a_ranker_that_cannot_be_saved_is_fitted_and_its_auc_logged(mlflow, rows, caplog):
    X, y = rows
    X = X[["age", "income"]].fillna(0).to_numpy()
    autolog()
    members = [("own", DecisionTreeClassifier(max_depth=2, random_state=0)), ("tree", TreeRank())]
    model = RankingEnsemble(members=members, n_folds=2, random_state=0).fit(X, y)
    assert model.score(X, y) > 0.5
    (run,) = runs_of(mlflow)
    assert "training_auc" in run.data.metrics
    assert not mlflow.search_logged_models(output_format="list")


def test_an_error_of_a_fit_is_raised_and_ends_the_run(mlflow, rows):
    X, y = rows
    autolog()
    with pytest.raises(ValueError, match="max_depth"):
        TreeRank(max_depth=-1).fit(X, y)
    (run,) = runs_of(mlflow)
    assert run.info.status == "FAILED"
    assert mlflow.active_run() is None


def test_the_autologging_of_scikit_learn_makes_one_run_of_a_pipeline(mlflow, rows):
    X, y = rows
    X = X[["age", "income"]].fillna(0).to_numpy()
    sklearn = pytest.importorskip("mlflow.sklearn")
    # Runs of a search's candidates name its rows side by side, which MLflow's store may refuse.
    sklearn.autolog(log_models=False, log_datasets=False, max_tuning_runs=0)
    autolog(log_models=False)
    try:
        make_pipeline(StandardScaler(), TreeRank(max_depth=2)).fit(X, y)
        GridSearchCV(TreeRank(), {"max_depth": [1, 2]}, cv=2).fit(X, y)
        TwoSidedClassifier(ranker=LogisticRegression()).fit(X, y)
    finally:
        sklearn.autolog(disable=True)
    names = [run.data.tags["estimator_name"] for run in runs_of(mlflow)]
    assert [name for name in names if name != "TreeRank"] == [
        "Pipeline",
        "GridSearchCV",
        "TwoSidedClassifier",
    ]
