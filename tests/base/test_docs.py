"""The code of the guides runs, and prints what they say it prints.

`page_programs` says what the program of a page is, and runs those that draw pictures when the site
is built. Guides use ``X``, ``y`` and the like without making them: `given` does. A page that asks
for a package which is not installed is skipped from there on.
"""

import re
import shutil
import sqlite3
import sys
from pathlib import Path

import numpy as np
import pandas
import pytest
from aucrank import RIMARC, GradientBoostingRanker, Scorecard, TreeRank
from aucrank._base.registry import get_estimator, public_estimators
from aucrank.datasets import load_breast_cancer
from aucrank.metrics import RocCurve
from aucrank.mlflow import autolog
from page_programs import blocks, check_block, drawn_pages
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from tests.common.loans import loans
from tests.common.paths import CHECKOUT

DOCS = CHECKOUT / "docs"

DRAWN = drawn_pages()
PAGES = {
    path.relative_to(CHECKOUT).as_posix(): path
    for path in (CHECKOUT / "README.md", *sorted(DOCS.rglob("*.md")))
    if "_build" not in path.parts and "```python" in path.read_text("utf-8") and path not in DRAWN
}


def applicants():
    """Rows of the columns of the guides, and labels with an interaction of age and income."""
    X, _ = loans(1200)
    X = X.drop(columns="trade").assign(debt=X["income"] / 7, purpose=X["trade"].astype(str))
    risk = np.where((X["age"] > 45) == (X["income"] > 3000), 1, -1) - X["months"] / 30
    return X, (np.random.default_rng(0).random(len(X)) < 1 / (1 + np.exp(-risk))).astype(int)


def tumours():
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    return X, np.asarray(y)


def two_halves(rows):
    X, y = rows
    order = np.random.default_rng(0).permutation(len(y))
    first, second = np.array_split(order, 2)
    return X.iloc[first], y[first], X.iloc[second], y[second]


def of_estimators(page):
    """Return rows and fitted models for the guides about estimators."""
    numbers = page.endswith(("additive.md", "ensemble.md"))
    X, y, X_new, y_new = two_halves(tumours() if numbers else applicants())
    names = {"X": X, "y": y, "X_new": X_new, "y_new": y_new}
    if page.endswith("report.md"):
        old = GradientBoostingRanker(n_rounds=10).fit(X, y)
        names |= {"model": TreeRank(random_state=0).fit(X, y), "old_model": old}
        names |= {"X_train": X, "X_test": X_new, "y_test": y_new}
        number = np.arange(len(y_new))
        names |= {"patient": number // 2, "admitted": number, "hospital": number % 2, "age": number}
    if page.endswith("ensemble.md"):
        names |= {"GradientBoostingRanker": GradientBoostingRanker, "TreeRank": TreeRank}
        names |= {"LogisticRegression": LogisticRegression, "StandardScaler": StandardScaler}
        names |= {"make_pipeline": make_pipeline}
    if page.endswith("leaderboard.md"):
        names |= {"X": X[:100], "y": y[:100], "Scorecard": Scorecard}
        names |= {"RandomForestClassifier": RandomForestClassifier}
        names |= {"old_pipeline": TreeRank(), "new_pipeline": GradientBoostingRanker(n_rounds=10)}
    if page.endswith("production.md"):
        rows = X[["age", "purpose"]]
        names["model"] = GradientBoostingRanker(n_rounds=10).fit(rows, y)
        names |= {"X_train": rows, "X_test": X_new[["age", "purpose"]], "y_test": y_new}
        names["age"] = rows[["age"]].to_numpy()
        names["purpose"] = rows[["purpose"]].to_numpy(dtype=object)
        names["database"] = sqlite3.connect(":memory:")
        rows.to_sql("applicants", names["database"], index_label="id")
    if page.endswith("larger_than_memory.md"):
        names["model"] = GradientBoostingRanker(n_rounds=10, random_state=0).fit(X, y)
        rows = X_new.assign(id=np.arange(len(X_new)), bad=y_new)[["id", *X_new.columns, "bad"]]
        Path("applicants").mkdir()
        for month, place in (("01", slice(200)), ("02", slice(200, 350)), ("03", slice(350, None))):
            rows[place].to_parquet(f"applicants/2026-{month}.parquet")
    return names


def of_scores():
    """Return labels and scores for the guide about statistics."""
    rng = np.random.default_rng(0)
    y = rng.random(200) < 0.4
    a, b = rng.normal(y), rng.normal(y)
    return {
        "pandas": pandas,
        "y_true": y,
        "patient": np.arange(len(y)) // 2,
        "y_score": a,
        "score_of_a": a,
        "score_of_b": b,
        "other": RocCurve.from_scores(y, b),
        "out_of_fold_score": a,
        "scores_of_a": a,
        "scores_of_b": b,
        "weight": rng.integers(1, 4, 200),
        "fold": np.arange(200) % 5,
        "batches": list(zip(np.split(y, 4), np.split(a, 4), strict=True)),
        "last_year": rng.normal(size=(200, 2)),
        "this_year": rng.normal(0.5, size=(200, 2)),
    }


def of_reviewers():
    """Return labels and the probabilities of two models for the guide for reviewers."""
    names = of_scores()
    p, q = (1 / (1 + np.exp(-names[score])) for score in ("score_of_a", "score_of_b"))
    site = np.where(names["patient"] % 3 == 0, "north", "south")
    return {"y": names["y_true"], "p": p, "q": q, "patient": names["patient"], "site": site}


def given(page):
    """Return the variables that a guide uses without making them."""
    if page.endswith("reviewers.md"):
        return of_reviewers()
    return of_scores() if page.endswith("roc_statistics.md") else of_estimators(page)


def close_figures():
    """Close those of the page, if it draws: a page that does not needs no matplotlib."""
    if pyplot := sys.modules.get("matplotlib.pyplot"):
        pyplot.close("all")


@pytest.fixture
def nothing_left_on(monkeypatch):
    """Draw without a screen; end what a page leaves on, as logging of the fits of later tests."""
    monkeypatch.setenv("MPLBACKEND", "agg")
    yield
    close_figures()
    if "mlflow" in sys.modules:
        autolog(disable=True)


@pytest.mark.usefixtures("nothing_left_on")
@pytest.mark.parametrize("page", PAGES)
def test_the_code_of_a_page_runs_and_prints_what_the_page_says(page, tmp_path, monkeypatch):
    if (DOCS / "data").is_dir():
        shutil.copytree(DOCS / "data", tmp_path / "data")
    monkeypatch.chdir(tmp_path)
    names = given(page)
    for block in blocks(PAGES[page].read_text("utf-8")):
        where = f"{page}, line {block.line}"
        try:
            check_block(block, names, where)
        except ModuleNotFoundError as error:
            if error.name.partition(".")[0] == "aucrank":
                raise
            pytest.skip(f"{error.name} is not installed, which {where} asks for")
        close_figures()


@pytest.mark.parametrize(
    "page",
    [
        "```python\nprint(1)\n```\n\n```text\n2\n```\n",
        "```python\n1 / 3  # 0.34\n```\n",
        "```console\n$ aucrank describe model.json\nRIMARC of 7 features\n...\n```\n",
    ],
    ids=["text", "number", "console"],
)
@pytest.mark.usefixtures("in_a_folder_of_its_own")
def test_a_page_that_says_something_else_is_an_error(page):
    RIMARC().fit([[0.0], [1.0]], [0, 1]).save("model.json")
    (block,) = blocks(page)
    with pytest.raises(AssertionError, match="page, line 1"):
        check_block(block, {}, "page, line 1")


def test_the_guide_to_the_rankers_names_every_one():
    page = (DOCS / "which_ranker.md").read_text("utf-8")
    named = set(re.findall(r"`(\w+)[`(.]", page))
    assert set(public_estimators()) <= named


def test_the_guide_to_the_rankers_lists_the_abilities_of_each():
    page = (DOCS / "which_ranker.md").read_text("utf-8")
    rows = re.findall(r"^\| `(\w+)` \| (yes|) ?\| (.*?) ?\|", page, re.MULTILINE)
    assert {name for name, *_ in rows} == set(public_estimators())
    for name, probabilities, monotone in rows:
        ranker = get_estimator(name)()
        assert hasattr(ranker, "predict_proba") == (probabilities == "yes"), name
        assert ("monotonic_cst" in ranker.get_params()) == (monotone == "yes"), name


def test_files_of_the_core_that_the_papers_name_exist():
    core = CHECKOUT / "rust" / "aucrank" / "src"
    folder = "tree|boost|additive|aurora|roc"
    named = {
        match
        for page in (DOCS / "papers").glob("*.md")
        for match in re.findall(rf"`((?:{folder})/[\w/]+(?:\.rs|/))`", page.read_text("utf-8"))
    }
    assert len(named) > 30
    assert not [path for path in named if not (core / path).exists()]
