"""Names and categories of any text in all printed output cannot control a terminal."""

import re

import numpy as np
import pandas as pd
import pytest
from aucrank import (
    AURORA,
    MAD2C,
    RIMARC,
    AUCBoost,
    GradientBoostingRanker,
    LinearRanker,
    MartiRank,
    RankBoost,
    RankingForest,
    RankOpt,
    Scorecard,
    SMartiRank,
    ThresholdBinarizer,
    TreeRank,
    compare,
)
from sklearn.base import clone

# Red letters, text that runs backwards, and a line of its own.
HOSTILE = "\x1b[31m\u202eevil\nINJECTED\x07"
ACTIVE = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]")

RANKERS = [
    TreeRank(),
    RankingForest(n_estimators=3),
    AURORA(radius=1.0),
    RankBoost(n_rounds=5),
    AUCBoost(n_rounds=5),
    GradientBoostingRanker(n_rounds=5, interactions=1),
    GradientBoostingRanker(n_rounds=5, max_depth=1),
    LinearRanker(),
    MartiRank(n_rounds=2),
    SMartiRank(n_rounds=2),
    RIMARC(),
    MAD2C(),
    ThresholdBinarizer(),
    Scorecard(),
    RankOpt(radii=(1.0,)),
]
METHODS = (
    "to_text",
    "to_dot",
    "to_html",
    "terms",
    "pair_terms",
    "bins",
    "card",
    "rules",
    "scorecard",
    "score_table",
)


def sample(levels=True):
    rng = np.random.default_rng(0)
    kinds = [f"{HOSTILE} a", "b", f"c{HOSTILE}"]
    X = pd.DataFrame({HOSTILE: rng.normal(size=300), f"other {HOSTILE}": rng.normal(size=300)})
    if levels:
        X["kind"] = pd.Categorical(rng.choice(kinds, 300))
    y = X[HOSTILE] + rng.normal(size=300) + (X["kind"] == "b" if levels else 0) > 0
    return X, np.where(y, f"yes{HOSTILE}", "no")


def printed(model):
    """Return all printed forms of a fitted model by name."""
    forms = {}
    parts = {"": model}
    parts |= {
        f"{name}.": getattr(model, name)
        for name in ("tree_", "program_", "forest_")
        if hasattr(model, name)
    }
    for prefix, part in parts.items():
        for method in METHODS:
            if hasattr(part, method):
                found = getattr(part, method)()
                forms[prefix + method] = found if isinstance(found, str) else repr(found)
                if not isinstance(found, str):
                    forms[f"{prefix}{method}, HTML"] = found._repr_html_()
        for table in ("nodes", "edges", "strata", "importances", "rounds_"):
            if hasattr(part, table):
                forms[prefix + table] = repr(getattr(part, table))
        forms[f"{prefix}repr"] = repr(part)
    return forms


@pytest.mark.parametrize("ranker", RANKERS, ids=lambda ranker: type(ranker).__name__)
def test_names_and_levels_are_shown_as_escapes(ranker):
    X, y = sample(levels=not isinstance(ranker, RankOpt))
    model = clone(ranker).fit(X, y)
    forms = printed(model)
    assert forms
    for name, text in forms.items():
        assert not ACTIVE.search(text), (name, ACTIVE.search(text))
        # A break of a line is a space to a page.
        assert text.startswith("<") or not re.search(r"^INJECTED", text, re.M), name
    if isinstance(ranker, Scorecard):
        sheet = forms["to_html"]
        assert "Content-Security-Policy" in sheet
        assert r"\x1b[31m\u202eevil\nINJECTED\x07" in sheet
        assert r"\x1b[31m\u202eevil\nINJECTED\x07" in forms["to_text"]


def test_a_leaderboard_shows_names_as_escapes(capsys):
    X, y = sample()
    board = compare(X, y, models={HOSTILE: TreeRank(), "b": RIMARC()}, cv=2, peers=False)
    print(board)
    for text in (capsys.readouterr().out, board._repr_html_()):
        assert not ACTIVE.search(text)
        assert r"\x1b[31m\u202eevil\nINJECTED\x07" in text


def test_a_ranker_of_no_informative_column_has_a_constant_in_onnx():
    onnx = pytest.importorskip("onnx")
    onnxruntime = pytest.importorskip("onnxruntime")
    X, y = np.ones((10, 2)), [0, 1] * 5
    for missing in ("ignore", "value"):
        model = RIMARC(missing=missing).fit(X, y)
        document = model.to_onnx()
        onnx.checker.check_model(document, full_check=True)
        session = onnxruntime.InferenceSession(
            document.SerializeToString(), providers=["CPUExecutionProvider"]
        )
        new = np.array([[1.0, 5.0], [np.nan, 0.0], [np.nan, np.nan]])
        score, probabilities = session.run(["score", "probabilities"], {"X": new})
        assert np.array_equal(score, model.decision_function(new))
        assert np.allclose(probabilities, model.predict_proba(new), rtol=1e-15)
