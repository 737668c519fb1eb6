"""`aucrank describe`: every family of models, in tables that line up."""

import re

import numpy as np
import pandas as pd
import pytest
from aucrank import load
from aucrank._base.registry import public_estimators
from aucrank.cli._text import WIDTH, aligned
from sklearn.metrics import roc_auc_score
from sklearn.utils import get_tags

from tests.common.command_line import TREE, loans, ok, read_numbers, run, table


def test_describe_prints_what_the_model_is(capsys):
    loans().to_csv("loans.csv", index=False)
    ok(
        capsys,
        *("fit", *TREE, "loans.csv", "--target", "bad", "--param", "max_depth=3"),
        *("--output", "model.json"),
    )
    out = ok(capsys, "describe", "model.json")
    model = load("model.json")
    assert out.startswith("TreeRank, saved by aucrank ")
    assert "ranks rows of class '1' above rows of class '0'" in out
    for name, value in model.get_params(deep=False).items():
        assert f"{name} {value!r}" in " ".join(out.split())
    assert "max_depth 3 (not the default)" in " ".join(out.split())
    features = table(out, "name")[:3]
    assert [row[:2] for row in features] == [
        ["income", "numeric"],
        ["purpose", "categorical"],
        ["age", "numeric"],
    ]
    assert features[1][2] == "3"
    assert [float(row[-1]) for row in features] == pytest.approx(
        model.feature_importances_, abs=5e-5
    )
    tree = model.tree_
    assert f"({tree.n_leaves} leaves, depth {tree.depth}" in out
    assert out.endswith(tree.to_text().rstrip("\n") + "\n")


def loans_for(model):
    """Rows that a model accepts: a linear score needs numbers without missing values."""
    if get_tags(public_estimators()[model]()).input_tags.allow_nan:
        return loans()
    return loans().drop(columns="purpose").fillna(0.0)


def described(capsys, model, *params):
    """Fit a model to loans by the command line; the output of describe, and the model."""
    loans_for(model).to_csv("loans.csv", index=False)
    said = ok(
        capsys,
        *("fit", "loans.csv", "--target", "bad", "--model", model, "--output", "model.json"),
        *(("--param", *params) if params else ()),
    )
    return said, ok(capsys, "describe", "model.json"), load("model.json")


def test_describe_lists_the_weights_of_a_linear_score(capsys):
    said, out, model = described(capsys, "RankOpt", "objective=ramp")
    assert "RankOpt" in said
    assert f"\nWeights (2 features, radius {model.radius_:g})\n" in out
    rows = table(out.partition("Weights (")[2], "feature")
    assert [row[0] for row in rows] == model.terms()["feature"].tolist()
    coef = dict(zip(["income", "age"], model.coef_, strict=True))
    for row in rows:
        assert float(row[1]) == pytest.approx(coef[row[0]], abs=5e-5)


def test_a_linear_score_of_categories_raises_a_clear_error(capsys):
    loans().to_csv("loans.csv", index=False)
    fit = ("fit", "loans.csv", "--target", "bad", "--model", "RankOpt", "--output", "model.json")
    status, _, err = run(capsys, *fit)
    assert status != 0
    assert "column 'purpose' is categorical" in err


def test_describe_lists_the_terms_that_were_selected_and_the_score_in_words(capsys):
    params = ("radius=1.5", "max_features=6", "selection=None")
    _, out, model = described(capsys, "AURORA", *params)
    assert f"\nTerms, as they were found ({model.n_terms_} terms, radius 1.5)\n" in out
    section = out.partition("Terms, as")[2].partition("\nThe score in words")[0]
    rows = table(section, "rule")
    terms = model.terms()
    assert [" ".join(row[:-2]) for row in rows] == terms["rule"].tolist()
    for row, coefficient, gain in zip(rows, terms["coefficient"], terms["gain"], strict=True):
        assert [float(cell) for cell in row[-2:]] == pytest.approx([coefficient, gain], abs=5e-5)
    assert model.rules() in out


@pytest.mark.parametrize("name", ["AUCBoost", "RankBoost"])
def test_describe_lists_the_terms_of_a_booster(name, capsys):
    said, out, model = described(capsys, name, "n_rounds=20")
    assert ": 20 rounds" in said
    assert "\nTerms (20 rounds)\n" in out
    terms = model.terms()
    rows = table(out.partition("Terms (")[2], "feature")
    assert [row[0] for row in rows] == terms["feature"].tolist()
    for row, rule, value in zip(rows, terms["rule"], terms["value"], strict=True):
        assert " ".join(row[1:-1]) == rule
        assert float(row[-1]) == pytest.approx(value, abs=5e-5)
    # By hand, the score of a row of missing values.
    missing = [float(row[-1]) for row in rows if " ".join(row[1:-1]).endswith("is missing")]
    (sign, threshold) = re.search(r"for each feature, (less|plus) (\S+)\n", out).groups()
    by_hand = sum(missing) - float(threshold) * (1 if sign == "less" else -1)
    row = pd.DataFrame({"income": [np.nan], "purpose": pd.Categorical([None]), "age": [np.nan]})
    assert model.decision_function(row) == pytest.approx(by_hand, abs=1e-3)


def test_describe_prints_a_scorecard(capsys):
    said, out, model = described(capsys, "Scorecard", "min_bin_share=0.05")
    assert "Scorecard" in said
    assert model.to_text() in out
    assert "Training rows by points" in out
    assert f"{model.score_table()['high'][-1]:,}" in out.splitlines()[-1]


def test_describe_lists_rounds_over_several_features(capsys):
    _, out, model = described(capsys, "AUCBoost", "n_rounds=3", "weak_ranker=tree")
    rows = table(out.partition("\nRounds (3 rounds)\n")[2], "round")
    assert [" ".join(row[1:-2]) for row in rows] == model.rounds_["rule"].tolist()
    assert all(row[1] == "tree" for row in rows)
    _, out, _ = described(capsys, "AUCBoost", "n_rounds=3", "output=sign")
    assert "score: 1 or -1, by the sign of the sum of one value for each feature\n" in out


def test_describe_reports_a_booster_without_rounds(capsys):
    pd.DataFrame({"a": [1.0] * 8, "bad": [0, 1] * 4}).to_csv("flat.csv", index=False)
    run(
        capsys,
        *("fit", "flat.csv", "--target", "bad", "--model", "RankBoost", "--output", "model.json"),
    )
    assert ok(capsys, "describe", "model.json").endswith("all rows have the same score\n")


@pytest.mark.parametrize("name", ["MartiRank", "SMartiRank"])
@pytest.mark.parametrize(
    ("output", "what"),
    [
        ("votes", "the votes where"),
        ("sign", "the 1 of a majority of votes, or -1, where"),
        ("node_rate", "the share of positives where"),
    ],
)
def test_describe_prints_a_branching_program(name, output, what, capsys):
    said, out, model = described(capsys, name, "n_rounds=4", f"output={output}")
    program = model.program_
    assert f": 4 layers, {program.n_nodes} nodes\n" in said
    assert f"\nThe program (4 layers, {program.n_nodes} nodes)\n" in out
    assert f"score: {what} the way of a row ends, " in out
    assert out.endswith(f"\n\n{program.to_text()}\n")


@pytest.mark.usefixtures("short_fits")
@pytest.mark.parametrize("name", sorted(public_estimators()))
def test_every_model_is_described_evaluated_and_scored(name, capsys):
    _, out, model = described(capsys, name)
    assert out.startswith(f"{name}, saved by aucrank ")
    frame = pd.read_csv("loans.csv")
    said = ok(capsys, "evaluate", "model.json", "loans.csv", "--target", "bad")
    texts = frame.select_dtypes(exclude="number").columns
    X = frame.drop(columns="bad").astype(dict.fromkeys(texts, "category"))
    scores = model.decision_function(X)
    assert f"AUC       {roc_auc_score(frame['bad'], scores):.4f}" in said
    ok(capsys, "score", "model.json", "loans.csv", "--output", "scores.csv")
    assert np.array_equal(read_numbers("scores.csv")["score"], scores)


def test_a_table_lines_up_and_wraps_its_widest_text():
    words = " ".join(f"word{i}" for i in range(40))
    text = aligned({"rule": [words, "short"], "n": [1, 20_000], "rate": [0.5, np.nan]})
    lines = text.splitlines()
    assert lines[0].split() == ["n", "rate", "rule"]
    assert max(map(len, lines)) <= WIDTH
    column = lines[0].index("rule")
    assert lines[1].split()[:2] == ["1", "0.5000"]
    assert lines[-1].split() == ["20,000", "short"]
    assert {line[column - 1] for line in lines} == {" "}
    assert " ".join(" ".join(line[column:] for line in lines[1:-1]).split()) == words
