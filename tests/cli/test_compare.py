"""`aucrank compare` beside scikit-learn's own cross-validation."""

import json
import pickle

import numpy as np
import pytest
from aucrank._base.registry import public_estimators
from aucrank.cli import compare
from aucrank.cli._text import WIDTH
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import RepeatedStratifiedKFold, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from tests.common.command_line import content, leaderboard, loans, ok, run


@pytest.mark.usefixtures("short_fits")
def test_compare_ranks_every_estimator_and_the_baselines(reader, tumours, capsys):
    args = ("compare", "tumours.csv", "--target", "target", "--folds", "2")
    out = ok(capsys, *args, "--json", "results.json")
    board = leaderboard(out)
    assert set(board) == {
        *public_estimators(),
        "LogisticRegression",
        "HistGradientBoostingClassifier",
    }
    aucs = [float(row[-5]) for row in board.values()]
    assert aucs == sorted(aucs, reverse=True)
    assert [row[0] for row in board.values()] == [str(i + 1) for i in range(len(board))]
    assert min(aucs) > 0.9
    assert max(map(len, out.splitlines())) <= WIDTH

    with open("results.json") as file:
        results = json.load(file)
    assert results["positive"] == "1"
    assert results["n_positive"] == 212
    for result in results["models"]:
        row = board[result["model"]]
        assert len(result["auc"]) == 2
        assert float(row[-5]) == pytest.approx(np.mean(result["auc"]), abs=5e-5)
        assert float(row[-4]) == pytest.approx(np.std(result["auc"], ddof=1), abs=5e-5)
        assert int(row[-1].replace(",", "")) == round(np.mean(result["n_bytes"]))


def test_compare_measures_what_sklearn_measures_on_the_same_folds(tumours, capsys):
    ok(
        capsys,
        *("compare", "tumours.csv", "--target", "target", "--models", "LogisticRegression"),
        *("--folds", "4", "--repeats", "2", "--random-state", "3", "--json", "results.json"),
    )
    with open("results.json") as file:
        (result,) = json.load(file)["models"]
    X, y = tumours.drop(columns="target").to_numpy(), tumours["target"].to_numpy()
    model = make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000))
    folds = RepeatedStratifiedKFold(n_splits=4, n_repeats=2, random_state=3)
    expected = cross_validate(model, X, y, cv=folds, scoring="roc_auc")["test_score"]
    assert result["auc"] == pytest.approx(expected, abs=1e-9)


def test_the_size_of_our_models_is_that_of_the_document(tumours, capsys):
    model = next(iter(public_estimators()))
    ok(
        capsys,
        *("compare", "tumours.csv", "--target", "target", "--models", model, "LogisticRegression"),
        *("--folds", "2", "--json", "results.json"),
    )
    with open("results.json") as file:
        sizes = {result["model"]: result["n_bytes"] for result in json.load(file)["models"]}
    X = tumours.drop(columns="target")
    folds = RepeatedStratifiedKFold(n_splits=2, n_repeats=1, random_state=0)
    for i, (train, _) in enumerate(folds.split(X, tumours["target"])):
        fitted = public_estimators()[model](random_state=0)
        fitted.fit(X.iloc[train], tumours["target"].to_numpy()[train]).save("again.json")
        assert sizes[model][i] == len(content("again.json"))
    # Scaler and coefficients of 30 columns: more than their floats, less than the training data.
    assert 30 * 8 < min(sizes["LogisticRegression"]) < len(pickle.dumps(X.to_numpy()))


@pytest.mark.usefixtures("short_fits")
def test_all_models_take_missing_values_and_many_categories(reader, capsys):
    rows = loans(700).assign(name=lambda rows: [f"n{i % 300}" for i in range(len(rows))])
    rows["nothing"] = np.nan
    rows.to_csv("loans.csv", index=False)
    args = ("compare", "loans.csv", "--target", "bad", "--folds", "3", "--drop", "age")
    status, out, err = run(capsys, *args)
    assert status == 0
    # Said by every model in every fold, shown once.
    told = "aucrank: warning: Column 'name' looks like an identifier"
    assert [line[: len(told)] for line in err.splitlines()] == [told]
    assert "(2 numeric, 2 categorical)" in out
    assert len(leaderboard(out)) == len(public_estimators()) + 2


@pytest.mark.usefixtures("short_fits")
def test_categories_alone_are_enough_to_compare_on(capsys):
    loans()[["purpose", "bad"]].to_csv("loans.csv", index=False)
    status, out, err = run(capsys, "compare", "loans.csv", "--target", "bad", "--folds", "2")
    assert status == 0
    # Four purposes are four distinct rows: too few for ten folds, which is a warning and no error.
    said = {line.removeprefix("aucrank: warning: ") for line in err.splitlines()}
    assert said <= {
        "A class has 4 distinct rows, so there are as many folds, not n_folds=10.",
        # An ensemble judges a purpose by models that have not seen it.
        "No member is better than chance, so all scores are equal.",
    }
    assert len(leaderboard(out)) == len(public_estimators()) + 2


def test_a_sample_is_stratified_and_said(tumours, capsys):
    out = ok(
        capsys,
        *("compare", "tumours.csv", "--target", "target", "--max-rows", "100", "--folds", "2"),
        *("--models", "LogisticRegression"),
    )
    assert "100 rows (a sample of 569)" in out
    assert "(37 rows, 37.0%)" in out


@pytest.mark.usefixtures("short_fits")
def test_a_failing_model_does_not_stop_the_others(tumours, monkeypatch, capsys):
    def broken(*_):
        raise RuntimeError("out of\nluck")

    monkeypatch.setitem(compare._BASELINES, "LogisticRegression", broken)
    status, out, err = run(
        capsys, "compare", "tumours.csv", "--target", "target", "--folds", "2", "--json", "r.json"
    )
    assert status == 1
    assert err == "aucrank: error: LogisticRegression failed: RuntimeError: out of luck\n"
    assert set(leaderboard(out)) == {*public_estimators(), "HistGradientBoostingClassifier"}
    assert out.splitlines()[-1].split(maxsplit=3) == [
        *("-", "LogisticRegression", "(scikit-learn)", "failed: RuntimeError: out of luck")
    ]
    with open("r.json") as file:
        failed = json.load(file)["models"][-1]
    assert failed["error"] == "RuntimeError: out of luck"
    assert failed["auc_mean"] is None


def test_compare_ranks_one_of_many_values_too(capsys):
    rows = loans(300).assign(bad=lambda rows: rows["bad"] + 2 * (rows["age"] > 60))
    rows.to_csv("loans.csv", index=False)
    args = ("--target", "bad", "--models", "RIMARC", "LogisticRegression", "--folds", "2")
    assert "(3 rows" not in ok(capsys, "compare", "loans.csv", *args, "--positive", "3")
    # The lesser of two values: what is right for one model is right for all.
    loans(300).to_csv("two.csv", index=False)
    for positive in ("0", "1"):
        out = ok(capsys, "compare", "two.csv", *args, "--positive", positive)
        assert all(float(row[-5]) > 0.7 for row in leaderboard(out).values())
