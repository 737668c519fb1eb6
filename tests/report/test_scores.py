"""`aucrank.report` of scores without their models."""

import json
from pathlib import Path

import aucrank
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from aucrank._page import formats
from aucrank._report.facts import measure
from aucrank._report.given import read_given
from aucrank._report.options import read_options
from aucrank._report.subjects import read_target
from aucrank.metrics import grade_table

from tests.common.html import Page
from tests.common.paths import CHECKOUT
from tests.common.reports import HOSTILE, halves, models

R = json.loads(Path(__file__).with_name("r").joinpath("scores.json").read_text("utf-8"))


def asah():
    """Labels and three scores of the patients of pROC, the first of which is a probability."""
    rows = pd.read_csv(CHECKOUT / "docs/data/asah.csv")
    risk = 1 / (1 + np.exp(2 - 4 * rows["s100b"]))
    return rows["outcome"] == "Poor", {"risk": risk, "wfns": rows["wfns"], "ndka": rows["ndka"]}


def given():
    """Labels, scores and probabilities of two models."""
    X, y = halves()[2:]
    scores = {name: model.decision_function(X) for name, model in models().items()}
    likely = {name: model.predict_proba(X)[:, 1] for name, model in models().items()}
    return y, scores, likely


def cells_of(made):
    return [element["text"].strip() for element in Page(made.html).all("td", "th")]


def left_out(made):
    """The parts that a page lacks, each with its reason."""
    lines = iter(cells_of(made))
    for cell in lines:
        if cell == "Why it is not here":
            return dict(zip(lines, lines, strict=False))
    return {}


def test_figures_are_those_of_r():
    y, scores = asah()
    target = read_target({}, y, None, None)
    sources = read_given(scores, ["risk"], None, len(y))
    subjects = [source.subject(name, 0) for name, source in sources.items()]
    facts = measure(subjects, target, read_options())
    rankings = [model.ranking for model in facts.models]
    close = {"rel": 1e-9}
    assert [ranking.auc for ranking in rankings] == pytest.approx(R["auc"], **close)
    errors = [ranking.interval.standard_error for ranking in rankings]
    assert errors == pytest.approx(R["standard_error"], **close)
    partial = [ranking.partial[0].standardized for ranking in rankings]
    assert partial == pytest.approx(R["partial"], **close)
    assert [ranking.ks for ranking in rankings] == pytest.approx(R["ks"], **close)
    # DeLong's variance; the p-value is by the law of Student, of few rows.
    assert [found.test.z for found in facts.comparisons] == pytest.approx(R["z"], **close)
    calibration = facts.models[0].calibration
    dxy, c, brier, slope = R["val_prob"]
    assert (rankings[0].gini, rankings[0].auc) == pytest.approx((dxy, c), **close)
    assert calibration.brier == pytest.approx(brier, **close)
    assert calibration.curve.slope == pytest.approx(slope, rel=1e-6)
    assert calibration.curve.intercept == pytest.approx(R["in_large"][0], rel=1e-6)
    table = calibration.decision.table
    for kind, expected in (("model", R["net_benefit"]), ("all", R["net_benefit_of_all"])):
        own = table["model"] == kind
        at = [int(np.abs(table["threshold"][own] - t).argmin()) for t in (0.05, 0.1, 0.2, 0.5)]
        assert table["net_benefit"][own][at] == pytest.approx(expected, **close)


def test_the_page_shows_the_figures_of_r():
    y, scores = asah()
    made = aucrank.report(y=y, scores=scores, probabilities=["risk"])
    cells = cells_of(made)
    for name, auc, error in zip(scores, R["auc"], R["standard_error"], strict=True):
        start = cells.index(name)
        assert cells[start + 1] == formats.area(auc)
        assert cells[start + 3] == formats.area(error)
    assert formats.area(R["val_prob"][2]) in cells
    assert any(cell.startswith(f"{R['val_prob'][3]:.3f} (") for cell in cells)
    assert any(cell.startswith(f"{R['in_large'][0]:.3f} (") for cell in cells)
    for benefit in R["net_benefit"]:
        assert any(cell.startswith(f"{formats.signed(benefit)} (") for cell in cells)
    risk, wfns, ndka = R["auc"]
    differences = {"risk less wfns": risk - wfns, "risk less ndka": risk - ndka}
    for pair, difference in differences.items():
        assert cells[cells.index(pair) + 1] == formats.signed(difference)


def test_scores_of_a_model_have_the_figures_of_the_model():
    X, y = halves()[2:]
    _, scores, likely = given()
    weight = np.random.default_rng(0).integers(0, 3, len(y))
    parts = {"sample_weight": weight, "by": X["noise"], "time": np.arange(len(y)) // 40}
    of_models = aucrank.report(models(), X, y, **parts)
    of_scores = aucrank.report(y=y, scores=scores, probabilities=likely, **parts)
    for name in ("models", "subgroups", "periods"):
        expected = getattr(of_models, name).to_frame()
        pd.testing.assert_frame_equal(getattr(of_scores, name).to_frame(), expected)


def test_models_and_scores_share_a_page():
    X, y = halves()[2:]
    made = aucrank.report(
        {"tree": models()["tree"]}, X, y, scores={"age": -X["age"], "noise": X["noise"]}
    )
    assert made.models["model"].tolist() == ["tree", "age", "noise"]
    assert "3 scores are judged by 400 rows" in made.summary
    cells = cells_of(made)
    for pair in ("tree less age", "tree less noise", "age less noise"):
        assert pair in cells
    assert "Model: tree" in made.html
    assert left_out(made)["What the columns do, and the model itself of age and noise"] == (
        "the scores were given, not the model"
    )


@pytest.mark.parametrize("form", ["list", "dict", "frame", "array"])
def test_probabilities_may_be_given_in_several_ways(form):
    y, _, likely = given()
    scores = {"tree": likely["tree"]}
    forms = {
        "list": ["tree"],
        "dict": scores,
        "frame": pd.DataFrame(scores),
        "array": likely["tree"],
    }
    expected = aucrank.report(y=y, scores=scores, probabilities="scores")
    assert aucrank.report(y=y, scores=scores, probabilities=forms[form]).html == expected.html
    without = aucrank.report(y=y, scores=scores)
    assert np.isnan(without.models["brier"][0])


@pytest.mark.parametrize("convert", [pd.DataFrame, pl.DataFrame, pa.table])
def test_scores_may_be_a_frame_of_any_library(convert):
    y, scores, likely = given()
    expected = aucrank.report(y=y, scores=scores, probabilities=likely, scores_train=scores)
    made = aucrank.report(
        y=y, scores=convert(scores), probabilities=convert(likely), scores_train=convert(scores)
    )
    assert made.html == expected.html


def test_one_score_needs_no_name():
    y, scores, _ = given()
    assert aucrank.report(y=y, scores=scores["tree"]).models["model"].tolist() == ["score"]
    named = pd.Series(scores["tree"], name="vendor")
    made = aucrank.report(y=y, scores=named, scores_train=named.rename("last year"))
    assert made.models["model"].tolist() == ["vendor"]
    assert "One score is judged by 400 rows" in made.summary
    assert "own cut" not in made.html


def test_rows_of_weight_0_do_not_count():
    y, scores, likely = given()
    kept = np.arange(len(y)) % 3 > 0
    weighted = aucrank.report(
        y=y, scores=scores, probabilities=likely, sample_weight=kept.astype(float)
    )
    some, of_some = ({name: own[kept] for name, own in one.items()} for one in (scores, likely))
    expected = aucrank.report(
        y=y[kept], scores=some, probabilities=of_some, sample_weight=np.ones(kept.sum())
    )
    assert weighted.html == expected.html


def test_the_page_says_what_it_lacks_and_why():
    y, scores, likely = given()
    X = halves()[2]
    lacking = left_out(aucrank.report(y=y, scores=scores, probabilities={"tree": likely["tree"]}))
    assert lacking == {
        "Calibration, net benefit and grades of table": "no probabilities of the positive class"
        " are known",
        "Grades and their tests": "no bounds of grades were given",
        "Subgroups": "no column that names subgroups was given",
        "Course over time": "no times were given",
        "Drift of the scores": "no earlier scores were given",
        "Contents and drift of the columns": "no columns were given",
        "What the columns do, and the model itself": "the scores were given, not the model",
    }
    full = {"by": X["noise"], "time": np.arange(len(y)) // 40, "grades": [0.2]}
    made = aucrank.report(
        y=y, X=X, X_train=X, scores=scores, probabilities=likely, scores_train=scores, **full
    )
    assert list(left_out(made)) == ["What the columns do, and the model itself"]
    assert left_out(aucrank.report(models(), X, y, X_train=X, **full)) == {}


def test_drift_is_that_from_the_earlier_scores():
    rng = np.random.default_rng(0)
    y, now, then = rng.random(500) < 0.3, rng.normal(0.8, size=500), rng.normal(size=700)
    made = aucrank.report(y=y, scores={"own": now}, scores_train=then)
    # By its definition: between tenths of the earlier scores.
    edges = np.quantile(then, np.arange(1, 10) / 10, method="inverted_cdf")
    before, after = (
        np.bincount(np.searchsorted(edges, own), minlength=10) / len(own) for own in (then, now)
    )
    psi = float(((after - before) * np.log(after / before)).sum())
    cells = cells_of(made)
    start = cells.index("own", cells.index("Rows compared with"))
    assert cells[start + 1 : start + 3] == ["700", formats.decimal(psi)]
    assert cells[start + 4] == "shifted"
    assert any("own: the scores have moved" in text for text in made.warnings)


def test_grades_are_those_of_the_table_of_grades():
    y, _, likely = given()
    bounds = [0.1, 0.2, 0.4]
    expected = grade_table(y, likely["tree"], bounds=bounds)
    cells = cells_of(
        aucrank.report(y=y, scores=likely["tree"], probabilities="scores", grades=bounds)
    )
    start = cells.index("p, Jeffreys") + 2
    for at in range(4):
        line = cells[start + 9 * at : start + 9 * at + 9]
        assert line[:4] == [
            str(at + 1),
            f"{formats.share([0, *bounds][at])} to {formats.share([*bounds, 1][at])}",
            str(expected.table["size"][at]),
            str(expected.table["positives"][at]),
        ]
        assert line[7:] == [
            formats.p_value(expected.table["p_jeffreys"][at]),
            formats.p_value(expected.table["p_binomial"][at]),
        ]


def test_a_share_of_the_rows_ends_at_a_score():
    rng = np.random.default_rng(0)
    scores = rng.permutation(1000) + 1.0
    cells = cells_of(aucrank.report(y=rng.random(1000) < scores / 2000, scores=scores))
    start = cells.index("First rows") + 5
    shares = (0.01, 0.02, 0.05, *(tenth / 10 for tenth in range(1, 11)))
    ordered = np.sort(scores)[::-1]
    for at, share in enumerate(shares):
        assert cells[start + 5 * at : start + 5 * at + 2] == [
            formats.share(share, 0),
            formats.number(ordered[round(1000 * share) - 1]),
        ]


def test_infinite_scores_rank_first_or_last():
    y, scores, _ = given()
    own = scores["tree"].copy()
    order = np.argsort(own)
    plain = aucrank.report(y=y, scores=own).models["auc"][0]
    own[own == own[order[0]]] = -np.inf
    own[own == own[order[-1]]] = np.inf
    assert aucrank.report(y=y, scores=own).models["auc"][0] == plain


def test_equal_scores_are_warned_of():
    y, *_ = given()
    made = aucrank.report(y=y, scores=np.full(len(y), 0.25), probabilities="scores")
    assert made.models["auc"][0] == 0.5
    assert any("gives all rows the same score" in text for text in made.warnings)


def broken(scores, name, row, value):
    changed = dict(scores)
    changed[name] = changed[name].copy()
    changed[name][row] = value
    return changed


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        (lambda s, p: {"scores": broken(s, "tree", 7, np.nan)}, ValueError,
         "score 'tree' of row 7 is NaN"),
        (lambda s, p: {"scores": {"a": s["tree"][1:]}}, ValueError,
         "score 'a' has 399 entries, but y has 400"),
        (lambda s, p: {"scores": {"a": s["tree"].astype(str)}}, ValueError,
         "score 'a' must hold numbers"),
        (lambda s, p: {"scores": {"a": np.ones((400, 2))}}, ValueError,
         "score 'a' should be a 1d array"),
        (lambda s, p: {"scores": {}}, ValueError, "about 1 to 8 scores, got 0"),
        (lambda s, p: {"scores": {str(k): s["tree"] for k in range(9)}}, ValueError,
         "about 1 to 8 scores, got 9"),
        (lambda s, p: {"scores": {" ": s["tree"]}}, TypeError, "name of a score must be a text"),
        (lambda s, p: {"scores": s, "probabilities": "scores"}, ValueError,
         "score 'table' of row .* is .*, but must be a probability from 0 to 1"),
        (lambda s, p: {"scores": s, "probabilities": "tree"}, ValueError,
         "probabilities must be 'scores', a list of names"),
        (lambda s, p: {"scores": s, "probabilities": ["forest"]}, ValueError,
         "probabilities names 'forest', and the scores are 'table' and 'tree'"),
        (lambda s, p: {"scores": s, "probabilities": broken(p, "tree", 3, 1.5)}, ValueError,
         "probability of 'tree' of row 3 is 1.5, but must be"),
        (lambda s, p: {"scores": s, "probabilities": {"tree": p["tree"][1:]}}, ValueError,
         "probability of 'tree' has 399 entries, but y has 400"),
        (lambda s, p: {"scores": s, "probabilities": p["tree"]}, ValueError,
         "probabilities must be a dict or a data frame with the names of the scores"),
        (lambda s, p: {"scores": s, "scores_train": {"tree": s["tree"]}}, ValueError,
         "scores_train lacks 'table'"),
        (lambda s, p: {"scores": s, "scores_train": broken(s, "tree", 2, np.nan)}, ValueError,
         "scores_train 'tree' of row 2 is NaN"),
        (lambda s, p: {"scores": s, "scores_train": {name: [] for name in s}}, ValueError,
         "scores_train 'table' has no rows"),
        (lambda s, p: {"scores": s, "grades": [0.3, 0.2]}, ValueError,
         "grades must be one or more rising numbers"),
        (lambda s, p: {"scores": s, "names": ["a"]}, TypeError, "names are those of models"),
        (lambda s, p: {"scores": s, "X_train": [[1.0]]}, TypeError, "X_train needs X"),
        (lambda s, p: {"scores": s, "by": [1, 2]}, ValueError,
         "by 'subgroup' has 2 entries, but y has 400"),
        (lambda s, p: {"probabilities": p}, TypeError, "needs models, or scores="),
        (lambda s, p: {}, TypeError, "needs models, or scores="),
    ],
)  # fmt: skip
def test_bad_scores_are_named_in_the_error(change, error, message):
    y, scores, likely = given()
    with pytest.raises(error, match=message):
        aucrank.report(y=y, **change(scores, likely))


def test_bad_calls_of_models_with_scores_are_named_in_the_error():
    X, y = halves()[2:]
    tree, scores = models()["tree"], {"tree": X["age"]}
    with pytest.raises(ValueError, match="'tree' is the name of a model and of a score"):
        aucrank.report({"tree": tree}, X, y, scores=scores)
    with pytest.raises(ValueError, match="1 to 8 models and scores, got 9"):
        aucrank.report([tree] * 8, X, y, scores=scores)
    with pytest.raises(TypeError, match="models need X, the rows"):
        aucrank.report(tree, y=y)
    with pytest.raises(TypeError, match="needs y, the labels of the rows"):
        aucrank.report(tree, X)
    with pytest.raises(TypeError, match="probabilities belongs to scores"):
        aucrank.report(tree, X, y, probabilities="scores")
    with pytest.raises(ValueError, match="contains only one class"):
        aucrank.report(y=np.ones(len(y)), scores=scores)
    with pytest.raises(
        TypeError, match="unexpected keyword argument 'score'; did you mean 'scores'"
    ):
        aucrank.report(y=y, score=scores)


def test_names_of_scores_are_escaped():
    y, scores, _ = given()
    page = Page(aucrank.report(y=y, scores=dict(zip(HOSTILE, scores.values(), strict=False))).html)
    text = page.all("main")[0]["text"]
    assert HOSTILE[0] in text
    assert len(page.all("script")) == 1
