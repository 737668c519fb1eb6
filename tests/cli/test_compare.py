"""`aucrank compare` against scikit-learn's own cross-validation."""

import json
import pickle
import sys
from dataclasses import replace

import aucrank
import numpy as np
import pandas as pd
import pytest
from aucrank._base.registry import public_estimators
from aucrank._compare import contestants, peers
from aucrank._compare.peers import PEERS
from aucrank.cli._text import WIDTH
from scipy.special import expit, logit
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import RepeatedStratifiedKFold, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from tests.common.command_line import behind, content, leaderboard, loans, ok, run


def installed_peers():
    return {name for name, peer in PEERS.items() if peer.is_installed}


@pytest.fixture
def only_sklearn(monkeypatch):
    """Hide the peers of other packages than scikit-learn."""
    find_spec = peers.find_spec
    monkeypatch.setattr(
        peers, "find_spec", lambda name: find_spec(name) if name == "sklearn" else None
    )


@pytest.mark.usefixtures("short_fits", "only_sklearn")
def test_compare_ranks_every_estimator_and_the_peers(reader, tumours, capsys):
    args = ("compare", "tumours.csv", "--target", "target", "--folds", "2", "--models", "all")
    out = ok(capsys, *args, "--json", "results.json")
    board = leaderboard(out)
    assert set(board) == {
        *public_estimators(),
        "LogisticRegression",
        "RandomForestClassifier",
        "HistGradientBoostingClassifier",
    }
    assert "without LightGBM, XGBoost, CatBoost, InterpretML and optbinning: not installed" in out
    aucs = [float(row[-6]) for row in board.values()]
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
        assert result["auc_sd"] == pytest.approx(np.std(result["auc"], ddof=1), abs=1e-12)
        assert result["auc_low"] < result["auc_mean"] < result["auc_high"]
        shown = [float(cell) for cell in row[-6:-3]]
        figures = [np.mean(result["auc"]), result["auc_low"], result["auc_high"]]
        assert shown == pytest.approx(figures, abs=5e-5)
        assert int(row[-1].replace(",", "")) == round(np.mean(result["n_bytes"]))


def test_compare_measures_what_sklearn_measures_on_the_same_folds(tumours, capsys):
    ok(
        capsys,
        *("compare", "tumours.csv", "--target", "target", "--models", "LogisticRegression"),
        *("--folds", "4", "--repeats", "2", "--seed", "3", "--json", "results.json"),
    )
    with open("results.json") as file:
        (result,) = json.load(file)["models"]
    X, y = tumours.drop(columns="target").to_numpy(), tumours["target"].to_numpy()
    model = make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000))
    folds = RepeatedStratifiedKFold(n_splits=4, n_repeats=2, random_state=3)
    expected = cross_validate(model, X, y, cv=folds, scoring="roc_auc")["test_score"]
    assert result["auc"] == pytest.approx(expected, abs=1e-9)


def test_the_interval_is_computed_from_influence_curves(tumours, capsys):
    ok(
        capsys,
        *("compare", "tumours.csv", "--target", "target", "--models", "LogisticRegression"),
        *("--folds", "3", "--json", "results.json"),
    )
    with open("results.json") as file:
        (result,) = json.load(file)["models"]
    X, y = tumours.drop(columns="target").to_numpy(), tumours["target"].to_numpy()
    model = make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000))
    variances = []
    for train, test in RepeatedStratifiedKFold(n_splits=3, n_repeats=1, random_state=0).split(X, y):
        scores, is_pos = model.fit(X[train], y[train]).decision_function(X[test]), y[test] == 1
        wins = scores[is_pos][:, None] > scores[~is_pos]
        influence = [
            (wins.mean(axis=axis) - wins.mean()) / (y == label).mean()
            for axis, label in ((1, 1), (0, 0))
        ]
        variances.append(np.mean(np.concatenate(influence) ** 2))
    mean, (n_neg, n_pos) = np.mean(result["auc"]), np.bincount(y)
    # On the logit scale, the variance drawn towards a typical one as by five more rows.
    known, typical = min(n_neg, n_pos) - 1, mean * (1 - mean) / 3 * (1 / n_neg + 1 / n_pos)
    variance = (known * np.mean(variances) / len(y) + 5 * typical) / (known + 5)
    half = 1.959964 * np.sqrt(variance) / (mean * (1 - mean))
    ends = expit(logit(mean) + np.array([-half, half]))
    assert [result["auc_low"], result["auc_high"]] == pytest.approx(ends, abs=1e-6)


def test_the_size_of_our_models_is_that_of_their_files(tumours, capsys):
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
    # Raised by every model in every fold, shown once.
    figures = "aucrank: warning: Column 'name' looks like an identifier"
    assert [line[: len(figures)] for line in err.splitlines()] == [figures]
    assert "(2 numeric, 2 categorical)" in out
    assert set(leaderboard(out)) == {*public_estimators(), *installed_peers()}


@pytest.mark.usefixtures("short_fits")
def test_categories_alone_are_enough_to_compare_on(capsys):
    loans()[["purpose", "bad"]].to_csv("loans.csv", index=False)
    status, out, err = run(capsys, "compare", "loans.csv", "--target", "bad", "--folds", "2")
    assert status == 0
    # Four purposes are four distinct rows: too few for ten folds, which is a warning and no error.
    said = {line.removeprefix("aucrank: warning: ") for line in err.splitlines()}
    assert said <= {
        "A class has 4 distinct rows, so there are as many folds, not n_folds=10.",
        # An ensemble scores a purpose by models fitted without it.
        "No member is better than chance, so all scores are equal.",
    }
    assert set(leaderboard(out)) == {*public_estimators(), *installed_peers()}


def test_a_sample_is_stratified_and_reported(tumours, capsys):
    out = ok(
        capsys,
        *("compare", "tumours.csv", "--target", "target", "--max-rows", "100", "--folds", "2"),
        *("--models", "LogisticRegression"),
    )
    assert "100 rows (a sample of 569)" in out
    assert "(37 rows, 37.0%)" in out


def test_a_failing_model_does_not_stop_the_others(tumours, monkeypatch, capsys):
    def broken(*_):
        raise RuntimeError("out of\nluck")

    name = "LogisticRegression"
    monkeypatch.setitem(PEERS, name, replace(PEERS[name], make=broken))
    status, out, err = run(
        capsys,
        *("compare", "tumours.csv", "--target", "target", "--folds", "2", "--json", "r.json"),
        *("--models", "LogisticRegression", "RIMARC", "HistGradientBoostingClassifier"),
    )
    assert status == 1
    assert err == "aucrank: error: LogisticRegression failed: RuntimeError: out of luck\n"
    assert set(leaderboard(out)) == {"RIMARC", "HistGradientBoostingClassifier"}
    assert out.splitlines()[-1].split(maxsplit=3) == [
        *("-", "LogisticRegression", "(sklearn)", "failed: RuntimeError: out of luck")
    ]
    with open("r.json") as file:
        failed = json.load(file)["models"][-1]
    assert failed["error"] == "RuntimeError: out of luck"
    assert failed["auc_mean"] is None
    assert failed["auc_low"] is None


# Which models are compared


def test_a_peer_that_cannot_be_imported_fails_alone(tmp_path, monkeypatch, capsys):
    (tmp_path / "lightgbm.py").write_text("raise OSError('libgomp.so.1: no such file')")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "lightgbm", raising=False)
    loans(100).to_csv("loans.csv", index=False)
    args = ("--target", "bad", "--folds", "2", "--models", "RIMARC", "LGBMClassifier")
    status, out, err = run(capsys, "compare", "loans.csv", *args)
    assert status == 1
    assert err == "aucrank: error: LGBMClassifier failed: OSError: libgomp.so.1: no such file\n"
    assert list(leaderboard(out)) == ["RIMARC"]
    assert "LGBMClassifier (LightGBM)  failed: OSError" in out


@pytest.mark.usefixtures("only_sklearn")
def test_a_peer_that_is_not_installed_raises_an_error_that_names_it(capsys):
    loans(100).to_csv("loans.csv", index=False)
    args = ("--target", "bad", "--models", "CatBoostClassifier")
    status, out, err = run(capsys, "compare", "loans.csv", *args)
    assert (status, out) == (1, "")
    assert err == (
        "aucrank: error: CatBoostClassifier needs catboost, which is not installed: "
        "pip install catboost\n"
    )


SKLEARN = {"LogisticRegression", "RandomForestClassifier", "HistGradientBoostingClassifier"}


def small_contestant(name, sample, seed):
    return contestants._own(name, aucrank.RIMARC(), sample, seed)


@pytest.mark.usefixtures("only_sklearn")
@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ("", {*public_estimators(), *SKLEARN} - {"RankBoost"}),
        ("--peers", {*public_estimators(), *SKLEARN} - {"RankBoost"}),
        ("--no-peers", {*public_estimators()} - {"RankBoost"}),
        ("--models RIMARC", {"RIMARC"}),
        ("--models RankBoost", {"RankBoost"}),
        ("--models RIMARC RIMARC --peers", {"RIMARC", *SKLEARN}),
        ("--models RIMARC --no-peers", {"RIMARC"}),
        ("--models RIMARC LogisticRegression", {"RIMARC", "LogisticRegression"}),
        ("--models all", {*public_estimators(), *SKLEARN}),
        ("--models all RIMARC --no-peers", {*public_estimators()}),
    ],
)
def test_options_select_the_compared_models(options, expected, monkeypatch, capsys):
    monkeypatch.setattr(contestants, "MOST_VALUES", {"RankBoost": 299})
    # Whatever the name, a model that is quickly fitted.
    for make in ("_ours", "_peer"):
        monkeypatch.setattr(contestants, make, small_contestant)
    rows = loans(100)
    rows.to_csv("loans.csv", index=False)
    args = ("--target", "bad", "--folds", "2", *options.split())
    status, out, _ = run(capsys, "compare", "loans.csv", *args)
    assert status == 0
    assert set(leaderboard(out)) == expected
    is_offered = "RankBoost" not in expected and "--models" not in options
    assert ("without RankBoost: slow on data of this size" in out) == is_offered


def test_a_peer_that_was_not_requested_is_left_out(capsys):
    loans(100).to_csv("loans.csv", index=False)
    args = ("--target", "bad", "--models", "LogisticRegression", "--no-peers")
    status, _, err = run(capsys, "compare", "loans.csv", *args)
    assert status == 2
    assert "--models names LogisticRegression, and --no-peers leaves it out" in err


def as_frames(rows):
    """Columns of text as categories: the form that peers themselves take from pandas."""
    X = rows.drop(columns="bad")
    return X.assign(purpose=X["purpose"].astype("category")), (rows["bad"] == "yes").to_numpy()


def lightgbm(train, y):
    model = pytest.importorskip("lightgbm").LGBMClassifier(random_state=0, verbose=-1)
    return model.fit(train, y).predict_proba


def xgboost(train, y):
    xgb = pytest.importorskip("xgboost")
    return xgb.XGBClassifier(random_state=0, enable_categorical=True).fit(train, y).predict_proba


def catboost(train, y):
    model = pytest.importorskip("catboost").CatBoostClassifier(
        cat_features=["purpose"], random_seed=0, verbose=False, allow_writing_files=False
    )

    def words(X):
        return X.assign(purpose=X["purpose"].astype(object).fillna("none"))

    fitted = model.fit(words(train), y)
    return lambda X: fitted.predict_proba(words(X))


@pytest.mark.parametrize(
    ("name", "fit"),
    [("LGBMClassifier", lightgbm), ("XGBClassifier", xgboost), ("CatBoostClassifier", catboost)],
)
def test_peers_get_categories_and_missing_values_as_from_pandas(name, fit, capsys):
    rows = loans(600).assign(bad=lambda rows: np.where(rows["bad"] == 1, "yes", "no"))
    rows = rows[["income", "age", "purpose", "bad"]]
    X, y = as_frames(rows)
    folds = list(RepeatedStratifiedKFold(n_splits=2, n_repeats=1, random_state=0).split(X, y))
    expected = [
        roc_auc_score(y[test], fit(X.iloc[train], y[train])(X.iloc[test])[:, 1])
        for train, test in folds
    ]
    rows.to_csv("loans.csv", index=False)
    args = ("--target", "bad", "--models", name, "--folds", "2", "--json", "r.json")
    ok(capsys, "compare", "loans.csv", *args)
    with open("r.json") as file:
        (result,) = json.load(file)["models"]
    # CatBoost hashes its categories, so that ties break differently.
    within = 5e-3 if name == "CatBoostClassifier" else 1e-6
    assert result["auc"] == pytest.approx(expected, abs=within)


def test_compare_ranks_one_of_many_values_too(capsys):
    rows = loans(300).assign(bad=lambda rows: rows["bad"] + 2 * (rows["age"] > 60))
    rows.to_csv("loans.csv", index=False)
    args = ("--target", "bad", "--models", "RIMARC", "LogisticRegression", "--folds", "2")
    assert "(3 rows" not in ok(capsys, "compare", "loans.csv", *args, "--positive", "3")
    # The smaller of two values: one model is enough.
    loans(300).to_csv("two.csv", index=False)
    for positive in ("0", "1"):
        out = ok(capsys, "compare", "two.csv", *args, "--positive", positive)
        assert all(float(row[-6]) > 0.7 for row in leaderboard(out).values())


def test_compare_writes_its_table_for_a_spreadsheet(capsys):
    loans(300).to_csv("loans.csv", index=False)
    args = ("--target", "bad", "--models", "RIMARC", "LogisticRegression", "--folds", "2")
    out = ok(capsys, "compare", "loans.csv", *args, "--csv", "table.csv", "--json", "r.json")
    found = pd.read_csv("table.csv")
    assert found["model"].tolist() == [" ".join(row[1:-6]) for row in leaderboard(out).values()]
    with open("r.json") as file:
        results = json.load(file)["models"]
    assert found["AUC"].tolist() == pytest.approx([result["auc_mean"] for result in results])
    assert found["low"].tolist() == pytest.approx([result["auc_low"] for result in results])
    assert found["error"].isna().all()


# Output besides the table


def test_the_second_table_is_that_of_the_tests(tumours, capsys):
    args = ("--target", "target", "--models", "RIMARC", "LogisticRegression", "TreeRank")
    out = ok(capsys, "compare", "tumours.csv", *args, "--json", "r.json", "--confidence", "0.9")
    with open("r.json") as file:
        results = json.load(file)
    best, *others = results["models"]
    found = behind(out.replace("< 0.001", "<0.001"))
    assert "are adjusted for 3 pairs" in " ".join(out.split())
    assert (best["difference"], best["p_value"], results["confidence"]) == (0, None, 0.9)
    assert list(found) == [result["model"] for result in results["models"]]
    for result in others:
        difference, low, high, p_value, rules = found[result["model"]][-5:]
        assert float(difference) == pytest.approx(result["difference"], abs=5e-5)
        assert result["difference"] == pytest.approx(result["auc_mean"] - best["auc_mean"])
        assert float(low) < float(difference) < float(high)
        assert p_value == ("<0.001" if result["p_value"] < 0.001 else f"{result['p_value']:.4f}")
        assert int(rules.replace(",", "")) == round(np.mean(result["n_rules"]))


def test_the_command_finds_what_the_function_finds(tumours, capsys):
    weighted = tumours.assign(w=np.arange(len(tumours)) % 3)
    weighted.to_csv("weighted.csv", index=False)
    models = ["TreeRank", "LogisticRegression"]
    args = ("--target", "target", "--weight", "w", "--folds", "3", "--models", *models)
    ok(capsys, "compare", "weighted.csv", *args, "--parallel", "folds", "--json", "r.json")
    X, y = tumours.drop(columns="target"), tumours["target"]
    board = aucrank.compare(X, y, models=models, cv=3, sample_weight=weighted["w"]).models
    with open("r.json") as file:
        results = json.load(file)["models"]
    assert [result["model"] for result in results] == board["model"].tolist()
    for name, key in (("auc", "auc_mean"), ("low", "auc_low"), ("p_value", "p_value")):
        found = [np.nan if result[key] is None else result[key] for result in results]
        assert found == pytest.approx(board[name], abs=1e-12, nan_ok=True)


def test_an_interrupted_comparison_is_resumed(tumours, capsys):
    args = ("compare", "tumours.csv", "--target", "target", "--folds", "2", "--resume", "fits")
    first = ok(capsys, *args, "--models", "RIMARC", "TreeRank")
    again = ok(capsys, *args, "--models", "TreeRank", "RIMARC")
    assert leaderboard(again) == leaderboard(first)
    assert again.splitlines()[-1] == "4 fits taken from fits"
    status, _, err = run(capsys, *args[:-1], "tumours.csv", "--models", "RIMARC")
    assert status == 1
    assert "cannot resume from tumours.csv: tumours.csv is not a file of a comparison" in err
    assert tumours.shape == pd.read_csv("tumours.csv").shape


def test_an_interrupt_prints_the_results_so_far(tumours, monkeypatch, capsys):
    def interrupted(*_):
        raise KeyboardInterrupt

    name = "LogisticRegression"
    monkeypatch.setitem(PEERS, name, replace(PEERS[name], make=interrupted))
    status, out, err = run(
        capsys,
        *("compare", "tumours.csv", "--target", "target", "--folds", "2", "--csv", "board.csv"),
        *("--models", "RIMARC", "LogisticRegression", "TreeRank"),
    )
    assert (status, err) == (130, "aucrank: interrupted\n")
    assert list(leaderboard(out)) == ["RIMARC"]
    assert out.splitlines()[-2:] == [
        "   -  LogisticRegression (sklearn)  not begun",
        "   -  TreeRank  not begun",
    ]
    assert pd.read_csv("board.csv")["error"].tolist()[1:] == ["not begun", "not begun"]


def test_models_skipped_for_lack_of_time_are_reported(tumours, capsys):
    args = ("--target", "target", "--models", "RIMARC", "--time-limit", "1e-9", "--json", "r.json")
    out = ok(capsys, "compare", "tumours.csv", *args)
    assert out.splitlines()[-1] == "   -  RIMARC  not begun"
    with open("r.json") as file:
        results = json.load(file)
    assert results["models"][0]["error"] == "not begun"
    assert results["notes"] == ["no fit was begun after 1e-09 s"]


def test_the_report_is_an_html_page(tumours, capsys):
    args = ("--target", "target", "--folds", "2", "--models", "RIMARC", "TreeRank")
    out = ok(capsys, "compare", "tumours.csv", *args, "--report", "board.html")
    page = content("board.html").decode()
    assert "<h1>How models rank tumours.csv</h1>" in page
    assert "of class 1, the positive one" in page
    for model, line in leaderboard(out).items():
        assert model in page
        assert line[-6] in page


@pytest.mark.parametrize(
    ("options", "status", "message"),
    [
        ("--confidence 1.5", 2, "confidence == 1.5"),
        ("--time-limit 0", 2, "0 is not above 0"),
        ("--parallel processes", 2, "invalid choice: 'processes'"),
        ("--report no/such.html", 1, "there is no folder no"),
        ("--resume no/such", 1, "there is no folder no"),
        ("--weight gone", 1, "has no column 'gone' (--weight)"),
        ("--models RIMARCK", 2, "there is no model 'RIMARCK'; did you mean 'RIMARC'?"),
    ],
)
def test_invalid_options_are_rejected(options, status, message, tumours, capsys):
    found, out, err = run(capsys, "compare", "tumours.csv", "--target", "target", *options.split())
    assert (found, out) == (status, "")
    assert message in err
