"""`aucrank report`: its page, output and errors."""

import re
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from aucrank import load
from aucrank.metrics import auc_interval

from tests.common.command_line import TREE, loans, ok, run


@pytest.fixture
def fitted(capsys):
    """Two saved models, the rows that they were fitted to, and others."""
    loans().to_csv("train.csv", index=False)
    loans(300, seed=1).to_csv("test.csv", index=False)
    ok(capsys, "fit", *TREE, "train.csv", "--target", "bad", "--output", "tree.json")
    ok(capsys, "fit", "--model", "RIMARC", "train.csv", "--target", "bad", "--output", "table.json")


def page(name):
    return Path(name).read_text(encoding="utf-8")


def test_a_page_is_written_and_a_summary_printed(fitted, reader, capsys):
    out = ok(capsys, "report", "tree.json", "test.csv", "--target", "bad")
    rows = loans(300, seed=1)
    X = rows.drop(columns="bad").astype({"purpose": "category"})
    scores = load("tree.json").decision_function(X)
    found = auc_interval(rows["bad"], scores, method="logit")
    figures = f"{found.auc:.4f} ({found.low:.4f} to {found.high:.4f})"
    size = len(page("test.report.html").encode())
    assert out == (f"300 rows, tree: AUC {figures}\nwrote test.report.html ({size:,} bytes)\n")
    assert figures in page("test.report.html")
    assert "of class bad = 1, the positive one" in page("test.report.html")
    assert re.search(r"<time datetime=.\d{4}-\d\d-\d\dT", page("test.report.html"))


def test_models_are_compared_on_the_same_rows(fitted, capsys):
    options = ["--train", "train.csv", "--costs", 1, 4, "--confidence", 0.9, "--max-fpr", 0.2]
    out = ok(
        capsys,
        *("report", "tree.json", "test.csv", "--target", "bad", "--against", "table.json"),
        *(*options, "--title", "Loans <2026>", "--output", "page.html"),
    )
    assert "wrote page.html" in out
    html = page("page.html")
    assert "<h1>Loans &lt;2026&gt;</h1>" in html
    assert "tree less table" in html
    assert "and 400 rows of training data" in html
    assert "If a false positive costs 1.00 and a false negative 4.00" in html
    assert "Interval, 90%" in html
    assert "False positive rates up to 20%" in html


def test_rows_of_weight_zero_do_not_count(fitted, capsys):
    rows = loans(300, seed=1)
    rows["weight"] = np.arange(300) % 3
    rows.to_csv("weighted.csv", index=False)
    rows[rows["weight"] > 0].to_csv("without.csv", index=False)
    gists = [
        ok(capsys, "report", "tree.json", data, "--target", "bad", "--weight", "weight", "-o", "x")
        for data in ("weighted.csv", "without.csv")
    ]
    assert gists[0].splitlines()[0] == gists[1].splitlines()[0]
    assert gists[0].startswith("200 rows")


def test_models_of_other_columns_share_a_page(fitted, capsys):
    loans().drop(columns="purpose").to_csv("few.csv", index=False)
    ok(capsys, "fit", "--model", "RIMARC", "few.csv", "--target", "bad", "--output", "few.json")
    ok(
        capsys,
        *("report", "few.json", "test.csv", "--target", "bad", "--against", "tree.json"),
        *("--train", "train.csv", "-o", "page.html"),
    )
    assert "few less tree" in page("page.html")
    # The columns of both are described, each once.
    assert "Columns (3)" in page("page.html")


def test_models_of_equal_names_are_distinguished_by_their_folders(fitted, capsys):
    for folder in ("a", "b"):
        Path(folder).mkdir()
        Path(folder, "tree.json").write_bytes(Path("tree.json").read_bytes())
    models = ("a/tree.json", "test.csv", "--target", "bad", "--against", "b/tree.json")
    ok(capsys, "report", *models, "-o", "page.html")
    assert "a/tree.json less b/tree.json" in page("page.html")


def test_the_positive_class_can_be_chosen(fitted, capsys):
    rows = loans(300, seed=1)
    rows["bad"] = np.where(rows["bad"] == 1, "late", "paid")
    rows.to_csv("words.csv", index=False)
    status, _, err = run(capsys, "report", "tree.json", "words.csv", "--target", "bad")
    assert (status, "say which value is positive with --positive" in err) == (1, True)
    named = ok(capsys, "report", "tree.json", "words.csv", "--target", "bad", "--positive", "late")
    numbered = ok(capsys, "report", "tree.json", "test.csv", "--target", "bad")
    assert named.splitlines()[0] == numbered.splitlines()[0]


@pytest.mark.parametrize(
    ("options", "status", "message"),
    [
        (["--target", "none"], 1, "test.csv has no column 'none' (--target)"),
        (["--target", "bad", "--weight", "none"], 1, "has no column 'none' (--weight)"),
        (["--target", "bad", "--weight", "income"], 1, "weight column 'income' of test.csv"),
        (["--target", "bad", "--confidence", "2"], 2, "confidence == 2.0"),
        (["--target", "bad", "--max-fpr", "2"], 2, "max_fpr must be in (0.0, 1.0], got 2.0"),
        (["--target", "bad", "--costs", "1"], 2, "--costs: expected 2 arguments"),
        (["--target", "bad", "--costs", "1", "0"], 2, "0 is not above 0"),
        (["--target", "bad", "--against", "tree.json"], 2, "tree.json is named twice"),
        (["--target", "bad", "--against", *"abcdefgh"], 2, "1 to 8 models, got 9"),
        (["--target", "bad", "--against", "none.json"], 1, "cannot read none.json"),
        (["--target", "bad", "--train", "none.csv"], 1, "cannot read none.csv"),
        (["--target", "bad", "--output", "no/folder.html"], 1, "there is no folder no"),
    ],
)
def test_errors_are_printed_in_one_line(fitted, capsys, options, status, message):
    found = run(capsys, "report", "tree.json", "test.csv", *options)
    assert found[:2] == (status, "")
    assert message in found[2]
    assert found[2].count("\n") == 1


def test_rows_of_one_class_are_rejected(fitted, capsys):
    rows = loans(300, seed=1)
    rows[rows["bad"] == 1].to_csv("late.csv", index=False)
    status, _, err = run(capsys, "report", "tree.json", "late.csv", "--target", "bad")
    assert (status, "must have two" in err) == (1, True)


def test_without_jinja2_the_error_says_what_to_install(fitted, capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "jinja2", None)
    status, _, err = run(capsys, "report", "tree.json", "test.csv", "--target", "bad")
    assert (status, "pip install 'aucrank[report]'" in err) == (1, True)


def test_an_ensemble_from_a_file_is_reported_on(fitted, short_fits, capsys):
    ok(capsys, "fit", "train.csv", "--target", "bad", "--no-readable", "--output", "blend.json")
    assert "blend: AUC" in ok(capsys, "report", "blend.json", "test.csv", "--target", "bad")


def test_a_transformer_is_rejected(fitted, capsys):
    from aucrank import MAD2C

    rows = pd.read_csv("train.csv")
    MAD2C().fit(rows[["income"]], rows["bad"]).save("bins.json")
    status, _, err = run(capsys, "report", "bins.json", "test.csv", "--target", "bad")
    assert (status, "ranks no rows" in err) == (1, True)
