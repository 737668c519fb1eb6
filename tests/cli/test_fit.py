"""`aucrank fit` without a model: the ensemble, and the loss of AUC of a readable model."""

import io
import re
import shlex

import numpy as np
import pandas as pd
import pytest
from aucrank import RankingEnsemble, TreeRank, load
from aucrank.cli._readable import readable_aucs
from aucrank.cli._text import WIDTH
from aucrank.ensemble._presets import PRESETS
from sklearn.metrics import roc_auc_score

from tests.common.command_line import content, levels_of, loans, ok, read_numbers, run

pytestmark = pytest.mark.usefixtures("short_fits")

FIT = ("fit", "loans.csv", "--target", "bad", "-o", "model.json")


def frame_of(rows):
    """Rows as the command line reads them."""
    return rows.drop(columns="bad").astype({"purpose": "category"})


def board(out):
    """The table of members: name, and the numbers of its row."""
    _, _, after = out.partition("with its 95 % interval\n")
    table, _, _ = after.partition("\n\n")
    rows = [line.split() for line in table.splitlines()[2:]]
    return {row[0]: [float(cell) for cell in row[1:]] for row in rows}


def readable(out):
    """AUC of each readable model, and by how many points it is above the ensemble."""
    text = " ".join(out.partition("An ensemble cannot be read.")[2].split())
    found = re.findall(r"(\w+) has ([\d.]+), ([\d.]+) points (less|more)", text)
    return {
        name: (float(auc), float(points) * (1 if way == "more" else -1))
        for name, auc, points, way in found
    }


def commands(out):
    return [shlex.split(line)[1:] for line in out.splitlines() if line.startswith("  aucrank ")]


@pytest.fixture
def rows():
    rows = loans()
    rows.to_csv("loans.csv", index=False)
    return rows


def test_without_a_model_the_ensemble_is_fitted(rows, capsys):
    out = ok(capsys, *FIT)
    expected = RankingEnsemble(random_state=0).fit(frame_of(rows), rows["bad"])
    saved = load("model.json")
    assert isinstance(saved, RankingEnsemble)
    scores = expected.decision_function(frame_of(rows))
    assert np.array_equal(saved.decision_function(frame_of(rows)), scores)
    table = expected.leaderboard_
    shown = board(out)
    assert list(shown) == table["name"].tolist()
    for place, name in enumerate(shown):
        figures = [table[column][place] for column in ("weight", "auc", "low", "high")]
        assert shown[name][:4] == pytest.approx(figures, abs=5e-5)
    _, auc, low, high, _ = shown["ensemble"]
    assert f"AUC     {auc:.4f} on rows left out ({low:.4f} to {high:.4f})\n" in out
    assert "model   RankingEnsemble, fitted in" in out
    assert max(len(line) for line in out.splitlines()) <= WIDTH


def test_readable_models_are_evaluated_on_the_rows_held_out_by_the_ensemble(
    rows, monkeypatch, capsys
):
    # An ensemble with one of them as a member reports the same AUC.
    monkeypatch.setitem(PRESETS, "default", ("forest", "linear_thresholds"))
    out = ok(capsys, *FIT, "--seed", "3", "--param", "n_folds=4")
    found, members = readable(out), board(out)
    assert set(found) == {"LinearRanker", "Scorecard", "TreeRank"}
    assert found["LinearRanker"][0] == members["linear_thresholds"][1]
    for auc, points in found.values():
        assert points == pytest.approx(100 * (auc - members["ensemble"][1]), abs=0.06)
    aucs = [auc for auc, _ in found.values()]
    assert aucs == sorted(aucs, reverse=True)
    # With other folds it has another AUC.
    again = readable(ok(capsys, *FIT, "--seed", "4", "--param", "n_folds=4"))
    assert again["LinearRanker"][0] != found["LinearRanker"][0]


def test_readable_models_are_not_fitted_to_the_rows_of_their_evaluation(capsys):
    rng = np.random.default_rng(0)
    noise = pd.DataFrame(rng.normal(size=(300, 6)), columns=list("abcdef"))
    noise.assign(x=np.arange(300) % 2 + rng.normal(size=300), bad=np.arange(300) % 2).to_csv(
        "loans.csv", index=False
    )
    found = readable(ok(capsys, *FIT))
    frame = pd.read_csv("loans.csv")
    X, y = frame.drop(columns="bad"), frame["bad"]
    # Trees overfit noise.
    assert TreeRank(pruning=None, random_state=0).fit(X, y).score(X, y) > 0.95
    # The AUC of x itself is that of two normal laws a standard deviation apart.
    assert max(auc for auc, _ in found.values()) < 0.82


def test_the_suggested_commands_fit_and_describe_the_readable_model(capsys):
    rows = loans().assign(id=range(400), code=lambda rows: rows["age"] % 3, w=1.0)
    rows["bad"] = np.where(rows["bad"] == 1, "a b", "c")
    rows.to_csv("new loans.csv", index=False)
    out = ok(
        capsys,
        *("fit", "new loans.csv", "--target", "bad", "--positive", "a b", "--weight", "w"),
        *("--drop", "id", "age", "--categorical", "code", "--seed", "4"),
    )
    name, auc = max(readable(out).items(), key=lambda item: item[1])
    fit, describe = commands(out)
    kept = content("new loans.model.json")
    ok(capsys, *fit)
    assert content("new loans.model.json") == kept
    assert ok(capsys, *describe).startswith(f"{name}, saved by aucrank")
    model = load(fit[-1])
    assert model.classes_.tolist() == ["c", "a b"]
    assert list(levels_of(fit[-1])) == ["income", "purpose", "code"]
    assert model.get_params().get("random_state", 4) == 4
    assert auc[0] > 0.7


def test_the_commands_read_the_file_as_the_fit_did(capsys):
    rows = loans().assign(key=range(400), income=lambda rows: rows["income"].fillna(-999))
    text = rows.to_csv(index=False, sep="#", decimal=",").replace("\n", "\n% checked\n", 1)
    with open("odd.csv", "w", encoding="cp1252") as file:
        file.write("Möbel\n" + text)
    out = ok(
        capsys,
        *("fit", "odd.csv", "--target", "bad", "--sep", "#", "--decimal", ",", "--keep", "key"),
        *("--encoding", "cp1252", "--missing=-999", "--skip-rows", "1", "--comment", "%"),
    )
    kept = content("odd.model.json")
    fit, _ = commands(out)
    ok(capsys, *fit)
    assert content("odd.model.json") == kept
    assert list(levels_of(fit[-1])) == ["income", "purpose", "age", "key"]


def test_readable_models_may_be_skipped(rows, capsys):
    out = ok(capsys, *FIT, "--no-readable")
    assert "cannot be read" not in out
    assert commands(out) == []
    # The table is printed last.
    assert out.splitlines()[-1].split()[0] in {"ensemble", "linear", "forest"}


def test_readable_models_take_no_more_time_than_they_are_given(rows, monkeypatch, capsys):
    monkeypatch.setattr(
        "aucrank.cli.fit.readable_aucs",
        lambda ensemble, data, _: readable_aucs(ensemble, data, 1e-9),
    )
    out = ok(capsys, *FIT)
    assert set(readable(out)) == {"Scorecard"}
    figures = (
        "With a time limit, readable models are given no more time than the ensemble took:"
        " LinearRanker and TreeRank are left out."
    )
    assert figures in " ".join(out.split())
    assert "--model Scorecard" in out


@pytest.mark.parametrize(
    ("options", "is_limited"),
    [((), False), (("--time-limit", 600), True), (("--param", "time_limit=600"), True)],
)
def test_the_output_does_not_depend_on_the_clock_without_a_time_limit(
    options, is_limited, rows, monkeypatch, capsys
):
    limits = []

    def spy(ensemble, fit, seconds):
        limits.append(seconds)
        return readable_aucs(ensemble, fit, seconds)

    monkeypatch.setattr("aucrank.cli.fit.readable_aucs", spy)
    out = ok(capsys, *FIT, *options)
    assert [limit is not None for limit in limits] == [is_limited]
    assert set(readable(out)) == {"Scorecard", "LinearRanker", "TreeRank"}


def test_slow_rankers_are_left_out_next_to_a_fast_ensemble(rows, capsys):
    out = ok(capsys, *FIT, "--preset", "fast")
    assert set(readable(out)) == {"LinearRanker", "TreeRank"}
    assert "With the preset 'fast'," in " ".join(out.split())
    assert "than the ensemble: Scorecard is left out." in " ".join(out.split())


def test_options_of_the_ensemble_reach_it(rows, capsys):
    ok(capsys, *FIT, "--preset", "fast", "--time-limit", "600", "--param", "n_folds=3")
    params = load("model.json").get_params(deep=False)
    assert (params["presets"], params["time_limit"], params["n_folds"]) == ("fast", 600.0, 3)
    assert params["random_state"] == 0


def test_without_time_one_member_is_left(rows, capsys):
    out = ok(capsys, *FIT, "--time-limit", "1e-9")
    assert set(board(out)) == {"ensemble", "linear"}


@pytest.mark.parametrize(
    ("options", "status", "said"),
    [
        ("--model TreeRank --preset fast", 2, "--preset is an option of RankingEnsemble"),
        ("--model TreeRank --time-limit 3", 2, "and --model says TreeRank"),
        ("--preset fast --param presets=best", 2, "--preset and --param presets say the same"),
        ("--preset good", 2, "--preset"),
        ("--time-limit 0", 2, "0 is not above 0"),
        ("--time-limit nan", 2, "nan is not above 0"),
        ("--time-limit soon", 2, "--time-limit"),
        ("--param n_folds=1", 1, "n_folds"),
        ("--param max_depth=3", 2, "RankingEnsemble has no parameter 'max_depth'"),
    ],
)
def test_invalid_options_are_rejected_in_one_line(options, status, said, rows, capsys):
    got, out, err = run(capsys, *FIT, *options.split())
    assert (got, out) == (status, "")
    assert said in err
    assert err.count("\n") == 1


def test_a_named_model_prints_the_short_report(rows, capsys):
    out = ok(capsys, *FIT, "--model", "TreeRank")
    assert [line.split()[0] for line in out.splitlines()] == [
        *("data", "target", "model", "AUC", "saved")
    ]
    scores = load("model.json").decision_function(frame_of(rows))
    auc = roc_auc_score(rows["bad"], scores)
    assert f"AUC     {auc:.4f} on the rows it learned from; `aucrank compare`" in out


def test_rows_of_weight_zero_do_not_count(rows, capsys):
    gone = np.arange(400) % 5 == 0
    rows[~gone].to_csv("fewer.csv", index=False)
    rows.assign(w=np.where(gone, 0.0, 1.0)).to_csv("loans.csv", index=False)
    # Forests draw rows by position: here all members draw by content, or not at all.
    common = ("--target", "bad", "--preset", "fast", "-o", "model.json")
    weighted = ok(capsys, "fit", "loans.csv", *common, "--weight", "w")
    fewer = ok(capsys, "fit", "fewer.csv", *common)
    for name, numbers in board(fewer).items():
        assert board(weighted)[name][1:4] == pytest.approx(numbers[1:4], abs=2e-4)
    for name, (auc, _) in readable(fewer).items():
        assert readable(weighted)[name][0] == pytest.approx(auc, abs=2e-4)


def test_both_readers_learn_the_same_ensemble(reader, rows, capsys):
    ok(capsys, *FIT, "--preset", "fast", "--no-readable")
    model = RankingEnsemble(presets="fast", random_state=0).fit(frame_of(rows), rows["bad"])
    printed = ok(capsys, "score", "model.json", "loans.csv", "--proba")
    scores = read_numbers(io.StringIO(printed))
    assert np.array_equal(scores["score"], model.decision_function(frame_of(rows)))
    assert np.array_equal(scores["probability"], model.predict_proba(frame_of(rows))[:, 1])


def test_evaluate_and_describe_accept_the_ensemble(rows, capsys):
    ok(capsys, *FIT, "--no-readable")
    test = loans(seed=1)
    test.to_csv("test.csv", index=False)
    auc = roc_auc_score(test["bad"], load("model.json").decision_function(frame_of(test)))
    assert f"AUC       {auc:.4f}\n" in ok(
        capsys, "evaluate", "model.json", "test.csv", "--target", "bad"
    )
    out = ok(capsys, "describe", "model.json")
    assert out.startswith("RankingEnsemble, saved by aucrank")
    assert "\nLeaderboard, on rows left out (2 members)\n" in out


def test_without_held_out_rows_none_are_mentioned(capsys):
    rows = pd.DataFrame({"x": np.arange(9.0), "bad": [1] + [0] * 8})
    rows.to_csv("loans.csv", index=False)
    status, out, err = run(capsys, *FIT)
    assert status == 0
    assert "no rows can be left out" in err
    assert "AUC     1.0000 on the rows it learned from" in out
    assert "\nLeaderboard: AUC, with its 95 % interval\n" in out
    assert "left out" not in out
    assert "cannot be read" not in out


def test_an_ensemble_without_members_reports_only_its_training_auc(capsys):
    # Each value has as many rows of one class as of the other.
    rows = pd.DataFrame({"x": [0.0, 1.0] * 50, "bad": [0, 0, 1, 1] * 25})
    rows.to_csv("loans.csv", index=False)
    status, out, err = run(capsys, *FIT)
    assert status == 0
    assert err == "aucrank: warning: No member is better than chance, so all scores are equal.\n"
    assert "AUC     0.5000 on the rows it learned from" in out
    assert readable(out) == {}


def test_verbose_prints_the_progress_of_the_fit(rows, capsys):
    assert "[RankingEnsemble]" not in ok(capsys, *FIT, "--no-readable")
    assert "[RankingEnsemble]" in ok(capsys, *FIT, "--no-readable", "--verbose")
    assert "[RankingEnsemble] 2 of 2 members" in ok(capsys, *FIT, "--no-readable", "-vv")
    boosted = ok(capsys, *FIT, "--model", "RankBoost", "--param", "n_rounds=20", "-v")
    assert boosted.count("[RankBoost] ") >= 2
    # It has no parts to report.
    ok(capsys, *FIT, "--model", "RIMARC", "-v")
    assert "verbose" not in load("model.json").get_params()
