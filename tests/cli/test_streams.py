"""Folders, patterns and large files on the command line: read in pieces, same results."""

import json
import re
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest
from aucrank import RIMARC, RankBoost, Scorecard
from aucrank._base.registry import public_estimators
from aucrank._data.csv_form import CsvOptions
from aucrank.cli import _stream
from aucrank.cli._model import load_ranker
from aucrank.cli._options import n_bytes
from aucrank.ensemble import _presets
from sklearn.frozen import FrozenEstimator

from tests.common.command_line import TREE, loans, ok, run
from tests.common.pairwise import parametrize_pairs

pytestmark = pytest.mark.usefixtures("in_a_folder_of_its_own")


@pytest.fixture(autouse=True)
def small_pieces(monkeypatch):
    monkeypatch.setattr(_stream, "CHUNK_ROWS", 100)


@pytest.fixture
def model(capsys):
    loans().to_csv("train.csv", index=False)
    ok(capsys, "fit", "train.csv", "--target", "bad", *TREE, "-o", "model.json")
    return "model.json"


def write(rows, path, kind):
    rows.to_parquet(path) if kind == "parquet" else rows.to_csv(path, index=False)


def new_rows():
    rows = loans(600, seed=1).assign(nr=np.arange(600))
    # A piece without a known purpose, and one of a single class.
    rows.loc[200:299, "purpose"] = None
    return pd.concat([rows[:300], rows[300:].sort_values("bad")])


def split(tmp_path, kind):
    """The same rows in one file, and in three of a folder."""
    rows = new_rows()
    write(rows, tmp_path / f"all.{kind}", kind)
    (tmp_path / "parts").mkdir()
    for index, part in enumerate((rows[:1], rows[1:350], rows[350:])):
        write(part, tmp_path / "parts" / f"{index}.{kind}", kind)


WAYS = {
    "folder": lambda kind: ["parts"],
    "pattern": lambda kind: [f"parts/*.{kind}"],
    "large file": lambda kind: [f"all.{kind}", "--memory", "1KB"],
}


@parametrize_pairs(out=["csv", "csv.gz", "parquet", None], way=list(WAYS), kind=["csv", "parquet"])
def test_rows_in_pieces_get_the_scores_of_rows_at_once(out, way, kind, model, tmp_path, capsys):
    split(tmp_path, kind)
    found = []
    for name, data in (("once", [f"all.{kind}"]), ("pieces", WAYS[way](kind))):
        args = ["score", model, *data, "--proba", "--id", "nr"]
        if out is None:
            (tmp_path / f"{name}.csv").write_text(ok(capsys, *args))
        else:
            said = ok(capsys, *args, "-o", f"{name}.{out}")
            assert said == f"wrote 600 scores to {name}.{out}\n"
        read = pl.read_parquet if out == "parquet" else pl.read_csv
        found.append(read(tmp_path / f"{name}.{out or 'csv'}"))
    assert found[1].columns == ["nr", "score", "probability"]
    assert found[0].equals(found[1])


@pytest.mark.parametrize("kind", ["csv", "parquet"])
@pytest.mark.parametrize("way", WAYS)
def test_rows_in_pieces_are_evaluated_like_rows_at_once(way, kind, model, tmp_path, capsys):
    split(tmp_path, kind)
    data = WAYS[way](kind)
    at_once = ok(capsys, "evaluate", model, f"all.{kind}", "--target", "bad")
    in_pieces = ok(capsys, "evaluate", model, *data, "--target", "bad")
    assert in_pieces.replace(f"data      {data[0]}\n", f"data      all.{kind}\n") == at_once


def test_a_file_within_memory_is_read_at_once(model, capsys, monkeypatch):
    monkeypatch.setattr(_stream, "open_source", None)
    ok(capsys, "score", model, "train.csv", "--memory", "1 GiB", "-o", "scores.csv")


@pytest.mark.parametrize(
    ("text", "bytes_"),
    [("1000", 1000), ("2GB", 2 * 10**9), ("1.5 MiB", 3 * 2**19), ("10k", 10_000), ("1tb", 10**12)],
)
def test_sizes_are_read(text, bytes_):
    assert n_bytes(text) == bytes_


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (["nowhere"], "cannot tell what nowhere holds"),
        (["no/*.csv"], "no file matches no/*.csv"),
        (["empty"], "the folder empty holds no file whose name ends in .parquet"),
        (["mixed"], "mixed holds both CSV and Parquet files: name those of one kind"),
        (["lacking"], "lacking has no column 'age'"),
        (
            ["text"],
            "column 'age' of text/a.csv and 1 more file holds text (such as 'old'); the model",
        ),
        (["train.csv", "--memory", "some"], "argument --memory: some is not a size"),
        (["parts", "--id", "nrr"], "parts has no column 'nrr' (--id); did you mean 'nr'?"),
        (["damaged"], "damaged/b.parquet as Parquet"),
    ],
)
def test_rows_that_cannot_be_scored_raise_a_one_line_error(data, said, model, tmp_path, capsys):
    split(tmp_path, "parquet")
    rows = new_rows()
    for folder in ("empty", "mixed", "lacking", "text", "damaged"):
        (tmp_path / folder).mkdir()
    for kind in ("csv", "parquet"):
        write(rows, tmp_path / "mixed" / f"a.{kind}", kind)
    write(rows.drop(columns="age"), tmp_path / "lacking" / "a.csv", "csv")
    write(rows, tmp_path / "text" / "a.csv", "csv")
    write(rows.assign(age="old"), tmp_path / "text" / "b.csv", "csv")
    write(rows, tmp_path / "damaged" / "a.parquet", "parquet")
    (tmp_path / "damaged" / "b.parquet").write_text("no data")
    status, out, err = run(capsys, "score", model, *data, "-o", "scores.csv")
    assert status in (1, 2)
    assert out == ""
    assert err.count("\n") == 1
    assert said in err
    assert not (tmp_path / "scores.csv").exists()


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"bad": 1}, "has 1 distinct value (1)"),
        ({"bad": [0, 1, 2] * 200}, "has 3 distinct values (0, 1, 2)"),
        ({"bad": [None, 0, 1] * 200}, "is missing in 200 of 600 rows of parts"),
        ({"bad": ["no", "yes"] * 300}, "has the values no and yes, and the model ranks 1 above 0"),
    ],
)
def test_targets_without_exactly_two_classes_are_rejected(change, said, model, tmp_path, capsys):
    split(tmp_path, "csv")
    rows = new_rows().assign(**change)
    for index, part in enumerate((rows[:1], rows[1:350], rows[350:])):
        write(part, tmp_path / "parts" / f"{index}.csv", "csv")
    status, _, err = run(capsys, "evaluate", model, "parts", "--target", "bad")
    assert status == 1
    assert said in err
    write(rows, "all.csv", "csv")
    at_once = run(capsys, "evaluate", model, "all.csv", "--target", "bad")[2]
    assert err.replace("parts", "all.csv") == at_once


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_the_rows_done_and_the_time_left_are_shown(kind, model, tmp_path):
    split(tmp_path, kind)
    said = []
    dataset = _stream.dataset_for(load_ranker(model), "parts", CsvOptions(), said.append)
    assert sum(map(len, dataset.batches())) == 600
    assert said[0] == "reading"
    done = [re.fullmatch(r"([\d,]+) rows of 600, .* left", line)[1] for line in said[1:]]
    assert done == sorted(done)
    assert done[-1] == "600"


def test_reading_in_pieces_needs_pyarrow(model, tmp_path, capsys, monkeypatch):
    split(tmp_path, "csv")
    monkeypatch.setitem(sys.modules, "pyarrow.csv", None)
    status, _, err = run(capsys, "score", model, "parts", "-o", "scores.csv")
    assert status == 1
    assert "needs pyarrow: run `pip install 'aucrank[arrow]'`" in err


def test_a_fit_to_a_folder_equals_that_to_one_file(tmp_path, capsys):
    split(tmp_path, "parquet")
    words = ["--target", "bad", "--drop", "nr", *TREE]
    ok(capsys, "fit", "all.parquet", *words, "-o", "whole.json")
    said = ok(capsys, "fit", "parts", *words, "-o", "parts.json")
    assert "parts: 600 rows" in said
    assert "read a piece at a time" in said
    whole, parts = (load_ranker(name).estimator for name in ("whole.json", "parts.json"))
    assert parts._to_document() == whole._to_document()
    said = ok(capsys, "fit", "all.parquet", "--memory", "1KB", *words, "-o", "large.json")
    assert "read a piece at a time" in said


def test_a_card_of_a_folder_is_that_of_one_file(tmp_path, capsys):
    split(tmp_path, "parquet")
    words = ["--target", "bad", "--drop", "nr", "--model", "Scorecard"]
    ok(capsys, "fit", "all.parquet", *words, "-o", "whole.json")
    said = ok(capsys, "fit", "parts", *words, "-o", "parts.json")
    assert "Scorecard, fitted in" in said
    assert "read a piece at a time" in said
    whole, parts = (load_ranker(name).estimator for name in ("whole.json", "parts.json"))
    assert parts._to_document() == whole._to_document()


@pytest.mark.parametrize("way", ["folder", "pattern"])
def test_an_ensemble_of_a_folder_is_that_of_one_file(way, tmp_path, capsys):
    split(tmp_path, "csv")
    words = ["--target", "bad", "--positive", "1", "--drop", "nr", "--preset", "fast"]
    at_once = ok(capsys, "fit", "all.csv", *words, "-o", "whole.json")
    data = WAYS[way]("csv")
    said = ok(capsys, "fit", *data, *words, "-o", "parts.json")
    assert "RankingEnsemble, fitted in" in said
    assert "positive is bad = 1" in said
    whole, parts = (load_ranker(name).estimator for name in ("whole.json", "parts.json"))
    assert parts._model.factors() == whole._model.factors()
    rows = new_rows()[["income", "purpose", "age"]]
    assert (parts.decision_function(rows) == whole.decision_function(rows)).all()
    # The same AUC, leaderboard and readable models, if there was time for them.
    for first in ("AUC", "ensemble"):
        assert lines_of(said, first)[0].split()[:4] == lines_of(at_once, first)[0].split()[:4]
    assert "An ensemble cannot be read. Of models that can, the AUC on the same rows" in said
    assert f"aucrank fit {data[0]} --target bad" in said.replace("'", "")
    scores = ok(capsys, "score", "parts.json", "parts", "--memory", "1KB")
    assert len(scores.splitlines()) == 601
    assert "AUC" in ok(capsys, "evaluate", "parts.json", "parts", "--target", "bad")


def lines_of(text, first):
    return [line for line in text.splitlines() if line.split()[:1] == [first]]


def test_an_ensemble_of_many_values_is_evaluated_on_a_sample(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(_presets, "MOST_IN_MEMORY", 1000)
    split(tmp_path, "parquet")
    said = ok(capsys, "fit", "parts", "--target", "bad", "--drop", "nr", "--memory", "1MB")
    assert "RankingEnsemble, fitted in" in said
    assert len(lines_of(said, "boosting")) == 1
    assert "Models that can are not compared with it on so many rows" in said
    assert "AUC" in ok(capsys, "evaluate", "parts.model.json", "parts", "--target", "bad")


def test_a_booster_is_fitted_and_reported_if_memory_is_too_small_for_the_rows(tmp_path, capsys):
    split(tmp_path, "csv")
    words = ["fit", "parts", "--target", "bad", "--drop", "nr", "--memory", "1KB"]
    said = ok(capsys, *words)
    assert "GradientBoostingRanker, fitted in" in said
    assert "; RankingEnsemble holds rows in memory, which takes" in said
    assert load_ranker("parts.model.json").class_name == "GradientBoostingRanker"
    for more in (["--model", "RankingEnsemble"], ["--preset", "fast"], ["--time-limit", "9"]):
        code, _, err = run(capsys, *words, *more)
        assert code == 2
        assert "RankingEnsemble holds rows in memory" in err
        assert "less take" in err
        assert "GradientBoostingRanker" in err


@pytest.mark.parametrize("kind", ["csv", "parquet"])
@pytest.mark.parametrize("way", WAYS)
def test_models_are_compared_on_rows_in_pieces_as_on_rows_at_once(way, kind, tmp_path, capsys):
    split(tmp_path, kind)
    models = ["--target", "bad", "--models", "RIMARC", "LogisticRegression", "--folds", "2"]
    found = []
    for name, data in (("once", [f"all.{kind}"]), ("pieces", WAYS[way](kind))):
        status, said, err = run(capsys, "compare", *data, *models, "--json", f"{name}.json")
        assert (status, err) == (0, LEFT_OUT)
        assert f"{data[0]}: 600 rows, " in said
        board = json.loads(Path(f"{name}.json").read_text())
        found.append([(model["model"], model["auc"]) for model in board["models"]])
        assert board["positive"] == "1"
    assert found[0] == found[1]


LEFT_OUT = "aucrank: note: nr names the rows and is left out (see --keep)\n"


def test_models_are_compared_on_a_sample_of_a_folder(tmp_path, capsys):
    split(tmp_path, "parquet")
    words = ["--target", "bad", "--models", "RIMARC", "--folds", "2", "--max-rows", "200"]
    status, said, err = run(capsys, "compare", "parts", *words)
    assert (status, err) == (0, LEFT_OUT)
    assert "parts: 200 rows (a sample of 600), 3 features" in said
    status, said, err = run(capsys, "compare", "parts", *words, "--keep", "nr")
    assert (status, err) == (0, "")
    assert "parts: 200 rows (a sample of 600), 4 features" in said


def test_one_booster_has_as_many_folds_as_there_is_memory_for(tmp_path, capsys, monkeypatch):
    # So few rows that they would fit, and their states would not be counted.
    monkeypatch.setattr("aucrank.ensemble._presets.MOST_IN_MEMORY", 1)
    monkeypatch.setattr("aucrank._base.core_estimator._FEW_BYTES", 0)
    split(tmp_path, "parquet")
    words = ["fit", "parts", "--target", "bad", "--drop", "nr", "-o", "m.json", "--memory"]
    # 600 rows take 32 bytes a value of three columns to judge and 10 a fold, of two thirds.
    said = ok(capsys, *words, "117KB")
    assert "1 member; n_folds=3, for more of which RankingEnsemble holds rows in memory" in said
    assert "n_folds" not in ok(capsys, *words, "132KB")
    status, _, err = run(capsys, *words, "117KB", "--param", "n_folds=4")
    assert status == 2
    assert "RankingEnsemble holds rows in memory" in err


def test_a_model_that_needs_more_memory_than_available_is_rejected(tmp_path, capsys):
    split(tmp_path, "parquet")
    words = ["parts", "--target", "bad", "--drop", "nr", "--memory"]
    forest = ["--model", "RankingForest"]
    status, _, err = run(capsys, "fit", *words, "1KB", *forest)
    assert status == 2
    assert "RankingForest holds rows in memory" in err
    less = err[err.index("1e-06 GB, of which 6.7e-07 are left for them; less take") :]
    assert "TreeRank" in less
    assert "GradientBoostingRanker" in less
    assert "RankingForest" not in less
    # For others, among them the default model and a card, rows stay in a file.
    ok(capsys, "fit", *words, "1KB")
    ok(capsys, "fit", *words, "1KB", "--model", "Scorecard")
    # 600 rows take 200 bytes, 14 a tree and two a value of three columns.
    ok(capsys, "fit", *words, "2MB", *forest)
    ok(capsys, "fit", *words, "1KB", *TREE)


def test_states_of_rows_count_if_there_are_many():
    few, many = (10**6, 20), (10**8, 20)
    held = {
        name: (estimator()._bytes_held(*few), estimator()._bytes_held(*many))
        for name, estimator in public_estimators().items()
    }
    # Bytes of a row that docs/larger_than_memory.md gives: a score, the position in each tree.
    assert held["RankBoost"] == held["AUCBoost"] == (0, 800_000_000)
    assert held["TreeRank"] == (0, 400_000_000)
    # Five bags by default; a card is of a booster of eight bags, or holds what its ranker holds.
    assert held["GradientBoostingRanker"] == (0, 5_000_000_000)
    assert held["Scorecard"] == (80_000_000, 8_000_000_000)
    assert Scorecard(estimator=RIMARC(missing="value"))._bytes_held(*many) == 0
    assert Scorecard(estimator=FrozenEstimator(RankBoost()))._bytes_held(*many) == 0
    # Learned from samples, from sums of columns, or from codes in a file.
    others = ["RIMARC", "LinearRanker", "RankOpt", "AURORA", "MartiRank", "SMartiRank"]
    assert [held[name] for name in others] == [(0, 0)] * len(others)
