"""`aucrank fit`, `score`, `evaluate`, `demo`: their models, output and errors."""

import gzip
import io
import os
import pickle
import subprocess
import sys
import warnings

import numpy as np
import pandas as pd
import pytest
from aucrank import TreeRank, load
from aucrank._base.registry import public_estimators
from aucrank.cli import _data, describe, main
from aucrank.datasets import load_churn
from sklearn.metrics import roc_auc_score, roc_curve
from sklearn.model_selection import train_test_split

from tests.common.command_line import (
    TREE,
    content,
    hide,
    levels_of,
    loans,
    ok,
    read_numbers,
    run,
    table,
)
from tests.common.limits import HANG
from tests.common.pairwise import parametrize_pairs

# fit, score, evaluate: the same for both readers and all kinds of file


@pytest.mark.parametrize("kind", ["csv", "csv.gz", "parquet"])
def test_a_fitted_model_scores_a_file_as_python_scores_the_frame(kind, reader, capsys):
    rows = loans()
    path = f"loans.{kind}"
    rows.to_parquet(path) if kind == "parquet" else rows.to_csv(path, index=False)
    out = ok(capsys, "fit", *TREE, path, "--target", "bad", "--output", "model.json")
    assert "400 rows, 3 features (2 numeric, 1 categorical)" in out
    assert "positive is bad = 1" in out

    printed = ok(capsys, "score", "model.json", path, "--proba")
    scores = read_numbers(io.StringIO(printed))
    model = load("model.json")
    X = rows.drop(columns="bad").astype({"purpose": "category"})
    np.testing.assert_array_equal(scores["score"], model.decision_function(X))
    np.testing.assert_array_equal(scores["probability"], model.predict_proba(X)[:, 1])
    assert roc_auc_score(rows["bad"], scores["score"]) > 0.75


def test_both_readers_learn_the_same_model(monkeypatch, capsys):
    loans().to_csv("loans.csv", index=False)
    for hidden in ("pandas", "polars"):
        with monkeypatch.context() as patch:
            hide(patch, {hidden})
            ok(
                capsys,
                "fit",
                *TREE,
                "loans.csv",
                "--target",
                "bad",
                "--output",
                f"without_{hidden}.json",
            )
    assert content("without_pandas.json") == content("without_polars.json")


@pytest.mark.parametrize("name", ["out.csv", "out.csv.gz", "out.parquet"])
def test_scores_go_to_the_file_that_out_names(name, reader, capsys):
    loans().to_csv("loans.csv", index=False)
    ok(capsys, "fit", *TREE, "loans.csv", "--target", "bad", "--output", "model.json")
    printed = read_numbers(io.StringIO(ok(capsys, "score", "model.json", "loans.csv")))
    assert ok(capsys, "score", "model.json", "loans.csv", "--output", name) == (
        f"wrote 400 scores to {name}\n"
    )
    written = pd.read_parquet(name) if name.endswith("parquet") else read_numbers(name)
    pd.testing.assert_frame_equal(written, printed)
    if name.endswith("gz"):
        with gzip.open(name) as file:
            assert file.readline() == b"score\n"


def test_columns_are_found_by_name(capsys):
    rows = loans()
    rows.to_csv("loans.csv", index=False)
    ok(capsys, "fit", *TREE, "loans.csv", "--target", "bad", "--output", "model.json")
    rows.assign(note="x")[["age", "note", "purpose", "income"]].to_csv("new.csv", index=False)
    assert ok(capsys, "score", "model.json", "new.csv") == ok(
        capsys, "score", "model.json", "loans.csv"
    )


def test_evaluate_agrees_with_sklearn(reader, capsys):
    rows = loans()
    rows.to_csv("loans.csv", index=False)
    ok(capsys, "fit", *TREE, "loans.csv", "--target", "bad", "--output", "model.json")
    test = loans(seed=1)
    test.to_csv("test.csv", index=False)
    out = ok(capsys, "evaluate", "model.json", "test.csv", "--target", "bad")

    scores = read_numbers(io.StringIO(ok(capsys, "score", "model.json", "test.csv")))["score"]
    facts = dict(line.split(maxsplit=1) for line in out.splitlines()[:7])
    assert facts["AUC"] == f"{roc_auc_score(test['bad'], scores):.4f}"
    # DeLong's interval, from the placement of each row among those of the other class.
    of_pos, of_neg = (scores[test["bad"] == label].to_numpy() for label in (1, 0))
    won = np.sign(of_pos[:, None] - of_neg[None, :]) / 2 + 0.5
    variance = sum(won.mean(axis).var(ddof=1) / won.shape[1 - axis] for axis in (0, 1))
    # Drawn towards a typical one as by five rows of the rarer class.
    share, known = won.mean() * (1 - won.mean()), min(won.shape) - 1
    typical = share / 3 * (1 / won.shape[0] + 1 / won.shape[1])
    error = np.sqrt((known * variance + 5 * typical) / (known + 5))
    # On the scale of logits, as a report has it.
    logit, error = np.log(won.mean() / (1 - won.mean())), error / share
    low, high = (1 / (1 + np.exp(-logit + z * error)) for z in (1.959964, -1.959964))
    assert facts["interval"] == f"{low:.4f} to {high:.4f} (95% confidence)"
    assert facts["positive"] == "bad = 1"
    assert facts["n"] == "400"
    assert facts["n_pos"].split()[0] == str(test["bad"].sum())
    fpr, tpr, _ = roc_curve(test["bad"], scores, drop_intermediate=False)
    expected = [[f"{at:.0%}", f"{np.interp(at, fpr, tpr):.1%}"] for at in (0.01, 0.05, 0.1, 0.2)]
    # np.interp takes the last of several knots at one rate, the upper end, as it should.
    assert table(out, "FPR") == expected


# Which class is positive


@pytest.mark.parametrize("reader_hidden", ["pandas", "polars"])
def test_the_smaller_label_can_be_positive_and_this_is_saved(reader_hidden, monkeypatch, capsys):
    hide(monkeypatch, {reader_hidden})
    rows = loans().assign(bad=lambda rows: np.where(rows["bad"] == 1, "bad", "good"))
    rows.to_csv("loans.csv", index=False)
    out = ok(
        capsys,
        "fit",
        *TREE,
        "loans.csv",
        "--target",
        "bad",
        "--positive",
        "bad",
        "--output",
        "model.json",
    )
    assert "positive is bad = bad" in out
    assert "negative is good" in out
    scores = load("model.json").decision_function(
        rows.drop(columns="bad").astype({"purpose": "category"})
    )
    auc = roc_auc_score(rows["bad"] == "bad", scores)
    assert auc > 0.75

    said = ok(capsys, "evaluate", "model.json", "loans.csv", "--target", "bad")
    assert f"AUC       {auc:.4f}" in said
    against = ok(
        capsys, "evaluate", "model.json", "loans.csv", "--target", "bad", "--positive", "good"
    )
    assert f"AUC       {1 - auc:.4f}" in against
    assert "ranks rows of class 'bad'" in ok(capsys, "describe", "model.json")


def test_naming_the_larger_label_changes_nothing(capsys):
    loans().to_csv("loans.csv", index=False)
    ok(capsys, "fit", *TREE, "loans.csv", "--target", "bad", "--output", "plain.json")
    ok(
        capsys,
        "fit",
        *TREE,
        "loans.csv",
        "--target",
        "bad",
        "--positive",
        "1",
        "--output",
        "named.json",
    )
    assert content("plain.json") == content("named.json")
    assert list(load("plain.json").classes_) == [0, 1]


@pytest.mark.parametrize(
    ("values", "positive"), [((0.0, 1.0), "1"), ((0.0, 1.0), "1.0"), ((False, True), "True")]
)
def test_a_label_is_named_by_its_text(values, positive, reader, capsys):
    rows = loans()
    rows["bad"] = np.where(rows["bad"] == 1, values[1], values[0])
    rows.to_parquet("loans.parquet")
    out = ok(capsys, "fit", *TREE, "loans.parquet", "--target", "bad", "--positive", positive)
    share = f"({rows['bad'].astype(bool).sum()} rows"
    assert share in out


LABELS = {
    "signs": (("+", "-"), "csv"),
    "words": (("bad", "good"), "csv"),
    "numbers": ((0, 1), "csv"),
    "below zero": ((-1, 1), "csv"),
    "whole floats": ((1.0, 2.0), "parquet"),
    "booleans": ((False, True), "parquet"),
    "booleans as text": (("False", "True"), "csv"),
    "like those of many values": (("!= a", "a"), "csv"),
    "digits": (("01", "1"), "parquet"),
}


@parametrize_pairs(
    file=LABELS,
    positive={"the lesser": 0, "the greater": 1},
    model=["TreeRank", "RIMARC", "Scorecard", "RankBoost"],
)
def test_predicted_labels_are_those_of_the_file_whichever_is_positive(
    file, positive, model, capsys
):
    labels, kind = file
    rows = loans(200)
    is_bad = rows["bad"].to_numpy() == 1
    rows["bad"] = np.where(is_bad, labels[positive], labels[1 - positive])
    if kind == "csv":
        rows.to_csv("loans.csv", index=False)
        # As pandas itself reads it, but for truth values, which the command line takes for text.
        y = pd.read_csv("loans.csv", dtype={"bad": type(labels[0])})["bad"].to_numpy()
    else:
        rows.to_parquet("loans.parquet")
        y = rows["bad"].to_numpy()
    ok(
        capsys,
        *("fit", f"loans.{kind}", "--target", "bad", "--positive", str(labels[positive])),
        *("--model", model, "--output", "model.json"),
    )
    fitted = load("model.json")
    assert fitted.classes_.tolist() == [labels[1 - positive], labels[positive]]
    X = rows.drop(columns="bad").astype({"purpose": "category"})
    scores = fitted.decision_function(X)
    assert roc_auc_score(is_bad, scores) > 0.7
    assert fitted.score(X, y) == pytest.approx(roc_auc_score(is_bad, scores), abs=1e-12)
    assert np.array_equal(fitted.predict(X) == labels[positive], scores > 0)
    assert set(fitted.predict(X)) <= set(labels)
    # The same again, by pickle and by another file.
    fitted.save("again.json")
    for again in (load("again.json"), pickle.loads(pickle.dumps(fitted))):
        assert again.classes_.tolist() == fitted.classes_.tolist()
        assert np.array_equal(again.predict(X), fitted.predict(X))
    said = ok(capsys, "evaluate", "model.json", f"loans.{kind}", "--target", "bad")
    assert f"AUC       {roc_auc_score(is_bad, scores):.4f}" in said
    shown = [_data.text_of(label) for label in (labels[positive], labels[1 - positive])]
    assert "of class {!r} above rows of class {!r}".format(*shown) in ok(
        capsys, "describe", "model.json"
    )


def test_one_of_many_labels_is_ranked_above_the_rest(reader, capsys):
    rows = loans(600)
    rows["grade"] = np.where(rows["bad"] == 1, "late", np.where(rows["age"] < 50, "paid", "open"))
    rows.drop(columns="bad").to_csv("loans.csv", index=False)
    status, _, err = run(capsys, "fit", "loans.csv", "--target", "grade")
    assert status == 1
    assert "3 distinct values (late, open, paid)" in err
    assert "--positive" in err
    out = ok(
        capsys,
        *(
            "fit",
            *TREE,
            "loans.csv",
            "--target",
            "grade",
            "--positive",
            "late",
            "--output",
            "model.json",
        ),
    )
    assert "positive is grade = late" in out
    assert "negative is != late" in out
    model = load("model.json")
    assert model.classes_.tolist() == ["!= late", "late"]
    X = rows.drop(columns=["bad", "grade"]).astype({"purpose": "category"})
    auc = roc_auc_score(rows["grade"] == "late", model.decision_function(X))
    assert f"AUC       {auc:.4f}" in ok(
        capsys, "evaluate", "model.json", "loans.csv", "--target", "grade"
    )
    # A file with two of the values matches the model; another of them may be requested.
    rows[rows["grade"] != "open"].to_csv("two.csv", index=False)
    assert "positive  grade = late" in ok(
        capsys, "evaluate", "model.json", "two.csv", "--target", "grade"
    )
    ok(capsys, "evaluate", "model.json", "loans.csv", "--target", "grade", "--positive", "paid")
    status, _, err = run(
        capsys,
        *("fit", "loans.csv", "--target", "grade", "--positive", "lost", "--output", "model.json"),
    )
    assert status == 1
    assert "has the values late, open, paid" in err


def test_evaluate_needs_positive_if_the_data_have_three_labels(capsys):
    loans().to_csv("loans.csv", index=False)
    ok(capsys, "fit", *TREE, "loans.csv", "--target", "bad", "--output", "model.json")
    loans().assign(bad=lambda rows: rows["age"] % 3).to_csv("three.csv", index=False)
    status, _, err = run(capsys, "evaluate", "model.json", "three.csv", "--target", "bad")
    assert status == 1
    assert "3 distinct values" in err
    assert "--positive" in err
    ok(capsys, "evaluate", "model.json", "three.csv", "--target", "bad", "--positive", "1")


@pytest.mark.parametrize("positive", [(), ("--positive", "2020-01-01")])
def test_dates_as_labels_are_rejected(positive, capsys):
    rows = loans()
    rows["bad"] = np.where(rows["bad"] == 1, pd.Timestamp("2020-01-01"), pd.Timestamp("2021-01-01"))
    rows["bad"] = rows["bad"].dt.date
    rows.to_parquet("loans.parquet")
    status, _, err = run(capsys, "fit", "loans.parquet", "--target", "bad", *positive)
    assert status == 1
    assert "target column 'bad' of loans.parquet" in err


def test_help_explains_what_happens_to_the_other_labels(capsys):
    with pytest.raises(SystemExit):
        main(["fit", "--help"])
    assert "more than two values, all others are one class" in " ".join(
        capsys.readouterr().out.split()
    )


def test_evaluate_needs_positive_if_the_labels_are_written_differently(capsys):
    rows = loans()
    rows.to_csv("loans.csv", index=False)
    ok(capsys, "fit", *TREE, "loans.csv", "--target", "bad", "--output", "model.json")
    rows.assign(bad=rows["bad"].map({0: "paid", 1: "lost"})).to_csv("words.csv", index=False)
    status, _, err = run(capsys, "evaluate", "model.json", "words.csv", "--target", "bad")
    assert status == 1
    assert "--positive" in err
    shown = ok(
        capsys, "evaluate", "model.json", "words.csv", "--target", "bad", "--positive", "lost"
    )
    plain = ok(capsys, "evaluate", "model.json", "loans.csv", "--target", "bad")
    assert shown.splitlines()[3:] == plain.splitlines()[3:]


# Text and numbers of a CSV file


def test_numbers_can_be_categories_and_keep_their_zeros(reader, capsys):
    rows = loans().assign(zip_code=lambda rows: rows["age"].mod(7).map("{:03d}".format))
    rows.to_csv("loans.csv", index=False)
    ok(
        capsys,
        *("fit", *TREE, "loans.csv", "--target", "bad", "--output", "model.json"),
        *("--categorical", "zip_code"),
    )
    assert levels_of("model.json")["zip_code"] == tuple(f"{i:03d}" for i in range(7))
    # A file that holds only digits in that column is read as the same text.
    rows.head(3).to_csv("few.csv", index=False)
    few = ok(capsys, "score", "model.json", "few.csv").splitlines()
    assert few == ok(capsys, "score", "model.json", "loans.csv").splitlines()[:4]


def test_codes_of_a_parquet_file_are_the_same_categories_with_and_without_gaps(reader, capsys):
    rows = loans().assign(code=lambda rows: rows["age"] % 5)
    rows.to_parquet("whole.parquet")
    rows.assign(code=rows["code"].astype(float).mask(rows.index == 399)).to_parquet("gap.parquet")
    ok(
        capsys,
        *("fit", *TREE, "whole.parquet", "--target", "bad", "--output", "model.json"),
        *("--categorical", "code"),
    )
    whole = ok(capsys, "score", "model.json", "whole.parquet").splitlines()
    gap = ok(capsys, "score", "model.json", "gap.parquet").splitlines()
    assert gap[:400] == whole[:400]


def test_the_index_of_pandas_is_not_a_feature(reader, capsys):
    rows = loans()
    rows[rows["age"] > 30].to_parquet("loans.parquet")
    ok(capsys, "fit", *TREE, "loans.parquet", "--target", "bad", "--output", "model.json")
    assert list(levels_of("model.json")) == ["income", "purpose", "age"]


def test_the_target_may_be_categorical(reader, capsys):
    rows = loans()
    rows["bad"] = rows["bad"].map({0: "no", 1: "yes"}).astype("category")
    rows.to_parquet("loans.parquet")
    ok(capsys, "fit", *TREE, "loans.parquet", "--target", "bad", "--output", "model.json")
    assert list(load("model.json").classes_) == ["no", "yes"]


def test_a_column_of_bytes_raises_an_error_that_names_it(reader, capsys):
    loans().assign(day=b"7").to_parquet("loans.parquet")
    status, _, err = run(capsys, "fit", "loans.parquet", "--target", "bad")
    assert status == 1
    assert "column 'day'" in err
    assert "--drop day" in err
    ok(capsys, "fit", *TREE, "loans.parquet", "--target", "bad", "--drop", "day")


def test_true_and_false_are_categories_with_and_without_gaps(reader, capsys):
    rows = loans()
    rows["owner"] = np.where(rows["income"] > 0, "True", "False")
    rows.drop(columns="income").to_csv("loans.csv", index=False)
    ok(capsys, "fit", *TREE, "loans.csv", "--target", "bad", "--output", "model.json")
    assert levels_of("model.json")["owner"] == ("False", "True")
    rows.drop(columns="income").assign(owner=rows["owner"].mask(rows.index == 399)).to_csv(
        "gap.csv", index=False
    )
    whole = ok(capsys, "score", "model.json", "loans.csv").splitlines()
    gap = ok(capsys, "score", "model.json", "gap.csv").splitlines()
    assert gap[:400] == whole[:400]


def test_both_readers_recognise_the_same_missing_values(reader):
    with open("gaps.csv", "w") as file:
        file.write("number,word,nothing\n1.5,NA,\n,None,NA\nnan,a,NULL\n")
    frame = _data.read_file("gaps.csv")[0]
    assert frame["word"].to_list()[2] == "a"
    assert frame["word"].null_count() == 2
    assert frame["number"].to_numpy()[0] == 1.5
    assert np.isnan(frame["number"].cast(_data.nw.Float64).to_numpy()[1:]).all()
    assert frame["nothing"].dtype.is_numeric()


def test_dropped_columns_and_weights_are_not_features(capsys):
    rows = loans().assign(id=range(400), weight=1.0)
    rows.to_csv("loans.csv", index=False)
    ok(
        capsys,
        *("fit", *TREE, "loans.csv", "--target", "bad", "--weight", "weight"),
        *("--drop", "id", "age", "--output", "model.json"),
    )
    assert list(levels_of("model.json")) == ["income", "purpose"]


def test_weight_two_equals_a_repeated_row(capsys):
    rows = loans().assign(weight=lambda rows: 1 + rows["age"] % 2)
    rows.to_csv("weighted.csv", index=False)
    repeated = rows.loc[rows.index.repeat(rows["weight"])].drop(columns="weight")
    repeated.to_csv("repeated.csv", index=False)
    params = ["--param", "pruning=none", "max_depth=3"]
    common = ["--target", "bad", *TREE, *params]
    ok(capsys, "fit", "weighted.csv", *common, "--weight", "weight", "--output", "weighted.json")
    ok(capsys, "fit", "repeated.csv", *common, "--output", "repeated.json")
    weighted = ok(capsys, "score", "weighted.json", "weighted.csv")
    assert weighted == ok(capsys, "score", "repeated.json", "weighted.csv")


def test_parameters_reach_the_estimator(capsys):
    loans().to_csv("loans.csv", index=False)
    ok(
        capsys,
        *("fit", "loans.csv", "--target", "bad", "--model", "TreeRank", "--seed", "7"),
        *("--param", "max_depth=2", "pruning=none", "--param", "split=orthogonal"),
        *("--param", "min_gain=1e-3", "--output", "model.json"),
    )
    params = load("model.json").get_params(deep=False)
    assert params["max_depth"] == 2
    assert params["pruning"] is None
    assert params["split"] == "orthogonal"
    assert params["min_gain"] == 0.001
    assert params["random_state"] == 7


def test_without_out_the_model_is_named_after_the_data(tmp_path, capsys):
    loans().to_csv("loans.csv.gz", index=False)
    assert "saved   loans.model.json" in ok(capsys, "fit", *TREE, "loans.csv.gz", "--target", "bad")
    assert (tmp_path / "loans.model.json").is_file()


# demo


def test_demo_shows_the_default_and_its_peers_on_rows_that_none_has_seen(capsys, tmp_path):
    out = ok(capsys, "demo")
    X, y = load_churn(return_X_y=True)
    X_train, X, y_train, y = train_test_split(X, y, test_size=0.3, stratify=y, random_state=0)
    assert "Learn from 3,500 rows, test on the other 1,500." in out
    model = load("aucrank-demo.json")
    auc = roc_auc_score(y, model.decision_function(X))
    lines = {line.split(" (")[0]: line for line in out.splitlines() if " to 0." in line}
    assert lines["RankingEnsemble"].split(")")[1].split()[0] == f"{auc:.3f}"
    # The data are of a kind where it matters what ranks: a linear model is far below.
    aucs = {name: float(line.split(")")[1].split()[0]) for name, line in lines.items()}
    assert aucs["RankingEnsemble"] > aucs["LogisticRegression"] + 0.1
    assert {"HistGradientBoosting", "RandomForest", "TreeRank", "Scorecard"} < set(aucs)
    tree = TreeRank(max_leaves=6, random_state=0).fit(X_train, y_train)
    assert tree.tree_.to_text().rstrip("\n") in out
    assert aucs["TreeRank"] == pytest.approx(roc_auc_score(y, tree.decision_function(X)), abs=6e-4)
    assert "open aucrank-demo.html" in out
    assert "Which customers leave" in (tmp_path / "aucrank-demo.html").read_text("utf-8")
    assert len(out.splitlines()) <= 60


def test_demo_says_what_it_needs(monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "pandas", None)
    status, out, err = run(capsys, "demo")
    assert (status, out) == (1, "")
    assert "pip install pandas" in err


# Errors


@pytest.fixture(scope="module")
def folder_of_wrong_files(tmp_path_factory):
    """A valid data file and model, and every kind of invalid one."""
    with pytest.MonkeyPatch.context() as patch:
        folder = tmp_path_factory.mktemp("wrong")
        patch.chdir(folder)
        write_wrong_files()
    return folder


def write_wrong_files():
    rows = loans(200)
    rows.to_csv("good.csv", index=False)
    assert main(["fit", *TREE, "good.csv", "--target", "bad", "--output", "model.json"]) == 0
    os.mkdir("folder.csv")
    rows.assign(bad=1).to_csv("one.csv", index=False)
    rows.assign(bad=range(200)).to_csv("many.csv", index=False)
    rows.assign(bad=rows["age"] % 3).to_csv("three.csv", index=False)
    rows.assign(bad=rows["bad"].mask(rows.index < 7)).to_csv("unlabelled.csv", index=False)
    rows.assign(bad=rows["bad"].astype(float).mask(rows.index < 7)).to_parquet("unlabelled.parquet")
    rows.assign(income="rich").to_csv("words.csv", index=False)
    rows[["bad"]].to_csv("bare.csv", index=False)
    rows.drop(columns="income").to_csv("narrow.csv", index=False)
    rows.assign(weight=-1.0).to_csv("negative.csv", index=False)
    contents = {
        "empty.csv": b"",
        "header.csv": b"income,bad\n",
        "twice.csv": b"a,a,bad\n1,2,0\n1,2,1\n",
        "long.csv": b"a,bad\n1,0,5\n2,1,6\n",
        "binary.csv": b"a,bad\n\xff\xfe\x80,1\n\x81,0\n",
        "cut.parquet": b"PAR1 and no more",
        "no.csv.gz": b"\x1f\x8ba,bad\n1,0\n",
        "foreign.json": b'{"format": "other"}',
        "nonsense.json": b"\x00\xff not JSON",
    }
    with open("model.json", "rb") as file:
        document = file.read()
    contents["cut.json"] = document[: len(document) // 2]
    contents["changed.json"] = document.replace(b'"income"', b'"outgo!"')
    for name, written in contents.items():
        with open(name, "wb") as file:
            file.write(written)


@pytest.mark.parametrize(
    ("command", "status", "said"),
    [
        ("", 2, "COMMAND"),
        ("frobnicate", 2, "frobnicate"),
        ("fit good.csv", 2, "--target"),
        ("fit good.csv --target bad --frobnicate", 2, "--frobnicate"),
        ("fit absent.csv --target bad", 1, "absent.csv: no such file"),
        ("fit folder.csv --target bad", 1, "folder.csv"),
        ("fit absent.xls --target bad", 2, "must end in .csv, .tsv"),
        ("fit empty.csv --target bad", 1, "empty.csv"),
        ("fit header.csv --target bad", 1, "header.csv has no rows"),
        ("fit twice.csv --target bad", 1, "two of its columns are called 'a'"),
        ("fit long.csv --target bad", 1, "cannot read long.csv as CSV"),
        ("fit binary.csv --target bad", 1, "cannot read binary.csv as CSV"),
        ("fit cut.parquet --target bad", 1, "cannot read cut.parquet as Parquet"),
        ("fit no.csv.gz --target bad", 1, "cannot read no.csv.gz as CSV"),
        ("fit bare.csv --target bad", 1, "no column left"),
        ("fit good.csv --target bda", 1, "no column 'bda' (--target); did you mean 'bad'?"),
        ("fit good.csv --target BAD", 1, "did you mean 'bad'?"),
        ("fit good.csv --target bad --drop agee", 1, "did you mean 'age'?"),
        (
            "fit good.csv --target bad --categorical xyzzy",
            1,
            "there are: income, purpose, age,",
        ),
        ("fit good.csv --target bad --weight wieght", 1, "no column 'wieght' (--weight)"),
        ("fit good.csv --target bad --weight purpose", 1, "weight column 'purpose'"),
        ("fit negative.csv --target bad --weight weight", 1, "sample_weight"),
        ("fit good.csv --target bad --drop bad", 2, "column 'bad' is given two uses"),
        ("fit good.csv --target bad --positive 2", 1, "has the values 0 and 1"),
        ("fit one.csv --target bad", 1, "1 distinct value (1)"),
        ("fit three.csv --target bad", 1, "3 distinct values (0, 1, 2)"),
        ("fit many.csv --target bad", 1, "200 distinct values (0, 1, 2, 3, 4, …)"),
        ("fit unlabelled.csv --target bad", 1, "missing in 7 of 200 rows"),
        ("fit unlabelled.parquet --target bad", 1, "missing in 7 of 200 rows"),
        ("fit good.csv --target bad --model TreRank", 2, "did you mean 'TreeRank'?"),
        (
            "fit good.csv --target bad --model TreeRank --param max_dept=3",
            2,
            "did you mean 'max_depth'?",
        ),
        ("fit good.csv --target bad --model TreeRank --param max_depth", 2, "KEY=VALUE"),
        ("fit good.csv --target bad --model TreeRank --param max_depth=deep", 1, "max_depth"),
        ("fit good.csv --target bad --model TreeRank --param max_depth=-3", 1, "max_depth"),
        ("fit good.csv --target bad --seed x", 2, "--seed"),
        ("fit good.csv --target bad --output nowhere/model.json", 1, "there is no folder nowhere"),
        ("fit good.csv --target bad --output folder.csv", 1, "it is a folder"),
        ("score absent.json good.csv", 1, "absent.json: no such file"),
        ("score nonsense.json good.csv", 1, "nonsense.json"),
        ("score foreign.json good.csv", 1, "foreign.json"),
        ("score cut.json good.csv", 1, "cut.json"),
        ("score changed.json good.csv", 1, "changed.json"),
        ("score good.csv model.json", 1, "good.csv"),
        ("score model.json absent.csv", 1, "absent.csv: no such file"),
        ("score model.json narrow.csv", 1, "no column 'income'"),
        ("score model.json words.csv", 1, "column 'income' of words.csv holds text"),
        ("score model.json good.csv --output scores.xls", 2, "must end in .csv, .tsv"),
        ("score model.json good.csv --output nowhere/scores.csv", 1, "there is no folder nowhere"),
        ("evaluate model.json good.csv --target bda", 1, "did you mean 'bad'?"),
        ("evaluate model.json one.csv --target bad", 1, "1 distinct value"),
        ("evaluate model.json unlabelled.csv --target bad", 1, "missing in 7 of 200 rows"),
        ("describe absent.json", 1, "absent.json: no such file"),
        ("compare good.csv --target bad --models TreRank", 2, "did you mean 'TreeRank'?"),
        ("compare good.csv --target bad --folds 1", 2, "--folds"),
        ("compare good.csv --target bad --folds 150", 1, "fewer --folds"),
        ("compare good.csv --target bad --folds x", 2, "--folds"),
        ("compare three.csv --target bad", 1, "3 distinct values"),
        ("demo --output nowhere/model.json", 1, "there is no folder nowhere"),
    ],
)
def test_errors_are_printed_in_one_line(
    command, status, said, folder_of_wrong_files, reader, monkeypatch, capsys
):
    monkeypatch.chdir(folder_of_wrong_files)
    capsys.readouterr()  # output from making the files
    got, out, err = run(capsys, *command.split())
    assert said in err
    assert err.startswith("aucrank: error: ")
    assert err.count("\n") == 1
    assert out == ""
    assert got == status


def test_a_missing_reader_is_named_in_the_error(monkeypatch, capsys):
    loans(50).to_csv("loans.csv", index=False)
    loans(50).to_parquet("loans.parquet")
    hide(monkeypatch, {"pandas", "polars"})
    status, _, err = run(capsys, "fit", "loans.csv", "--target", "bad")
    assert status == 1
    assert "pandas" in err
    assert "polars" in err


def test_reading_parquet_with_pandas_needs_pyarrow(monkeypatch, capsys):
    loans(50).to_parquet("loans.parquet")
    hide(monkeypatch, {"polars", "pyarrow"})
    status, _, err = run(capsys, "fit", "loans.parquet", "--target", "bad")
    assert (status, err) == (
        1,
        "aucrank: error: Parquet files need pyarrow: run `pip install 'aucrank[arrow]'`\n",
    )


def test_a_bug_is_not_reported_as_bad_data(monkeypatch):
    def broken(*_, **__):
        raise RuntimeError("a mistake of ours")

    loans(50).to_csv("loans.csv", index=False)
    monkeypatch.setattr(public_estimators()["TreeRank"], "fit", broken)
    with pytest.raises(RuntimeError, match="a mistake of ours"):
        main(["fit", *TREE, "loans.csv", "--target", "bad"])


def test_warnings_are_one_line_each_and_errors_follow(monkeypatch, capsys):
    def warn(path):
        warnings.warn("first\nand second", UserWarning, stacklevel=1)
        raise KeyboardInterrupt

    monkeypatch.setattr(describe, "load_model", warn)
    status, out, err = run(capsys, "describe", "model.json")
    assert (status, out) == (130, "")
    assert err == "aucrank: warning: first and second\naucrank: interrupted\n"


# The program as a process


def program(*args, **options):
    return subprocess.run(
        [sys.executable, "-m", "aucrank", *args],
        capture_output=True,
        text=True,
        timeout=HANG,
        check=False,
        **options,
    )


def test_the_module_runs_as_a_program():
    done = program("--version")
    assert done.returncode == 0
    assert done.stdout.startswith("aucrank ")
    for args, status in ((["--help"], 0), (["fit", "--help"], 0), (["fit"], 2)):
        done = program(*args)
        assert done.returncode == status
        assert "Traceback" not in done.stderr
    assert done.stderr.startswith("aucrank: error: ")


def test_a_closed_pipe_ends_the_program_silently(capsys):
    rows = loans()
    rows.to_csv("loans.csv", index=False)
    ok(capsys, "fit", *TREE, "loans.csv", "--target", "bad", "--output", "model.json")
    pd.concat([rows] * 500).to_csv("many.csv", index=False)
    with subprocess.Popen(
        # More than any pipe holds.
        [sys.executable, "-m", "aucrank", "score", "model.json", "many.csv", "--proba"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={key: value for key, value in os.environ.items() if key != "PYTHONUNBUFFERED"},
    ) as process:
        assert process.stdout.readline() == b"score,probability\n"
        process.stdout.close()
        assert process.stderr.read() == b""
        process.stderr.close()
        # The status that a shell gives for SIGPIPE.
        assert process.wait(timeout=HANG) == 141


@pytest.mark.parametrize(
    "line",
    [
        "--help",
        "--version",
        *(
            f"{command} --help"
            for command in ("demo", "compare", "fit", "score", "evaluate", "describe")
        ),
        "fit data.csv --traget bad",
    ],
)
def test_help_imports_no_other_package(line):
    code = (
        "import contextlib, sys; from aucrank.cli import main\n"
        f"with contextlib.suppress(SystemExit): main({line.split()})\n"
        "slow = {'numpy', 'scipy', 'sklearn', 'narwhals', 'joblib', 'pandas', 'polars'}\n"
        "print('imported', *(slow & set(sys.modules)))"
    )
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=HANG, check=True
    )
    *said, imported = result.stdout.splitlines()
    assert imported == "imported"
    assert said or "aucrank: error:" in result.stderr
