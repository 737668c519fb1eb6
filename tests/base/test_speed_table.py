"""`python -m benches.speed` measures, and the page of benchmarks has what was measured."""

import json
import re
import subprocess
import sys

import pytest

from benches.page.__main__ import page
from benches.page.quality import MODELS
from benches.speed import __main__ as speed
from benches.speed.table import lines_of, ratio_text, seconds_text, section
from tests.common.limits import HANG
from tests.common.paths import CHECKOUT


@pytest.mark.skipif(sys.platform != "linux", reason="reads memory and processors from /proc")
def test_two_cases_are_measured_once_and_shown_from_their_results(tmp_path, monkeypatch, capsys):
    results, pages = tmp_path / "speed.json", [tmp_path / "one.md", tmp_path / "two.md"]
    of_cases = ("--cases", "auc-weights", "linear-numbers", "--sizes", 0.003, "--repeats", 1)
    command = [*of_cases, "--json", results, "--markdown", pages[0]]
    done = subprocess.run(
        [sys.executable, "-m", "benches.speed", *map(str, command)],
        cwd=CHECKOUT,
        capture_output=True,
        text=True,
        timeout=HANG,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    measured = results.read_text("utf-8")
    cases = json.loads(measured)["cases"]
    assert {key: list(case["contestants"]) for key, case in cases.items()} == {
        "auc-weights": ["aucrank", "scikit-learn"],
        "linear-numbers": ["LinearRanker", "LogisticRegression, scaled numbers"],
    }
    assert [case["rows"] for case in cases.values()] == [3000, 300]
    for case in cases.values():
        assert not case["failed"]
        for taken in case["contestants"].values():
            assert taken["seconds"] > 0
            assert taken["processor_seconds"] > 0
            assert taken["bytes"] >= 0

    def printed(*arguments):
        monkeypatch.setattr(sys, "argv", ["speed", *map(str, arguments)])
        speed.main()
        return capsys.readouterr().out

    text = printed("--from", results, "--markdown", pages[1])
    assert pages[0].read_text("utf-8") == pages[1].read_text("utf-8")
    assert text.strip() in pages[0].read_text("utf-8")
    for name in speed.THREADS:
        monkeypatch.setenv(name, "2")
    assert printed(*of_cases, "--json", results) == ""
    assert results.read_text("utf-8") == measured


def test_a_ratio_is_the_figure_of_the_rival_over_ours():
    ours = {"seconds": 0.02, "processor_seconds": 0.04, "bytes": 3e6, "runs": 3}
    rivals = {
        "slower": {"seconds": 0.5, "processor_seconds": 0.5, "bytes": 1.25e9, "runs": 3},
        "faster": {"seconds": 0.01, "processor_seconds": 0.05, "bytes": 1e5, "runs": 3},
    }
    record = {"title": "a fit", "rows": 1000, "features": 20, "ours": "us"}
    record["contestants"] = {"us": ours, **rivals}
    head = ["a fit", "1,000 x 20", "20 ms"]
    assert lines_of(record) == [
        [*head, "slower", "0.50 s", "25", "12", "3 MB", "1.2 GB"],
        [*head, "faster", "10 ms", "**0.50**", "1.25", "3 MB", "< 1 MB"],
    ]
    assert lines_of(record | {"contestants": {"us": ours}}) == [[*head, *[""] * 4, "3 MB", ""]]
    assert ratio_text(1.0, 0.0) == ""


def test_a_rival_that_is_missing_or_fails_is_named():
    record = {"rows": 1000, "features": 1, "threads": 2, "date": "2026-01-02", "ours": "us"}
    record |= {"title": "a fit", "missing": ["xgboost"], "failed": {"them": "takes too long"}}
    record |= {"versions": {"aucrank": "1.0"}}
    record["contestants"] = {
        "us": {"seconds": 1.0, "processor_seconds": 1.0, "bytes": 0, "runs": 1}
    }
    machine = {"processor": "x", "processors": 2, "gigabytes": 8, "system": "Linux", "python": "3"}
    text = section({"machine": machine, "cases": {"fit": record}})
    assert "Not installed, and so left out: XGBoost." in text
    assert "a fit: them is left out (takes too long)." in text


def test_the_page_of_the_docs_is_that_of_the_stored_results():
    assert (CHECKOUT / "docs/benchmarks.md").read_text("utf-8") == page()


@pytest.mark.parametrize(
    ("page", "heading"),
    [
        ("index", "How well it ranks"),
        ("ensemble", "How well it ranks"),
        ("which_ranker", "Measured"),
    ],
)
def test_other_pages_have_the_same_aucs(page, heading):
    results = json.loads((CHECKOUT / "benches/results/quality.json").read_text("utf-8"))
    means = {
        MODELS[name][0]: f"{sum(model['auc'].values()) / len(model['auc']):.4f}"
        for name, model in results["models"].items()
    }
    text = (CHECKOUT / f"docs/{page}.md").read_text("utf-8")
    of_section = text.partition(f"\n## {heading}\n")[2]
    table = re.search(r"(?:^\|.*\n)+", of_section, re.MULTILINE)[0]
    rows = re.findall(r"^\| ([^|]+) \|(?: [^|\d]+ \|)? (0\.\d{4}) \|", table, re.MULTILINE)
    said = [(label, auc) for label, auc in rows if label in means]
    assert len(said) >= 5
    assert said == [(label, means[label]) for label, _ in said]


def test_the_figures_of_the_crates_readme_are_the_stored_ones():
    text = (CHECKOUT / "rust/aucrank/README.md").read_text("utf-8")
    cases = json.loads((CHECKOUT / "benches/results/speed.json").read_text("utf-8"))["cases"]
    seconds = {
        (case["title"], case["rows"], case["features"], name): seconds_text(found["seconds"])
        for case in cases.values()
        for name, found in case["contestants"].items()
    }
    boosting = "boosting, 100 rounds of 31 leaves", 1_000_000, 20
    ours = next(name for *case, name in seconds if tuple(case) == boosting)
    for of, said in (
        (("`roc_auc_score`, doubles", 10_000_000, 1, "aucrank"), "ten million scores takes\n{}"),
        ((*boosting, ours), "a million rows of 20 columns {}"),
        ((*boosting, "LightGBM"), "where LightGBM takes {}"),
    ):
        assert said.format(seconds[of]) in text
