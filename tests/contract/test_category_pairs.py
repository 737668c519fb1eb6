"""A booster with pairs of categories: unseen ones, files, exports."""

import json
import pickle
import sqlite3

import numpy as np
import pytest
from aucrank import load
from aucrank._data.schema import Schema
from aucrank._export import formula
from aucrank._export.rules import Words
from aucrank.data import Dataset
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.metrics import roc_auc_score

from tests.common.json_formula import score
from tests.common.pmml import PmmlRegression
from tests.common.user_tools import BOOSTER, COLUMNS, make_rows, new_rows, typed


@pytest.fixture(scope="module", name="fitted")
def _fitted():
    X, y = make_rows(1)
    return clone(BOOSTER).fit(typed(X), y)


def test_informative_pairs_are_tested(fitted):
    X, y = make_rows(2)
    train, y_train = make_rows(1)
    without = clone(BOOSTER).set_params(category_pairs=False).fit(typed(train), y_train)
    gain = roc_auc_score(y, fitted.decision_function(X)) - roc_auc_score(
        y, without.decision_function(X)
    )
    assert gain > 0.03
    number, user, tool, day = fitted.feature_importances_
    assert min(user, tool) > max(number, day)
    assert fitted.feature_importances_.sum() == pytest.approx(1.0)


def test_uninformative_pairs_do_not_change_the_fit():
    X, y = make_rows(1)
    y = np.random.default_rng(0).permutation(y)
    models = [clone(BOOSTER).set_params(category_pairs=given) for given in ("auto", False)]
    found = [model.fit(typed(X), y).decision_function(X) for model in models]
    assert_array_equal(*found)


@pytest.mark.parametrize("given", [True, 3, "all", None])
def test_invalid_values_of_category_pairs_are_rejected(given):
    X, y = make_rows(1, 100)
    with pytest.raises(ValueError, match='category_pairs must be False or "auto"'):
        clone(BOOSTER).set_params(category_pairs=given).fit(typed(X), y)


def test_an_unseen_pair_is_scored_as_missing(fitted):
    X, _ = make_rows(2, 200)
    for name in ("user", "tool"):
        unseen, missing = X.assign(**{name: "elsewhere"}), X.assign(**{name: None})
        assert_array_equal(fitted.decision_function(unseen), fitted.decision_function(missing))


def test_rounds_add_up_to_the_score(fitted):
    X, _ = new_rows()
    *_, last = fitted.staged_decision_function(X)
    assert_array_equal(last, fitted.decision_function(X))


def test_row_order_threads_copies_and_pieces_do_not_matter(fitted):
    X, y = make_rows(1)
    X_new, _ = new_rows()
    expected = fitted.decision_function(X_new)
    order = np.random.default_rng(0).permutation(len(X))
    other = clone(BOOSTER).set_params(n_jobs=2).fit(typed(X).iloc[order], y[order])
    assert_array_equal(other.decision_function(X_new), expected)

    weight = np.random.default_rng(1).integers(0, 3, len(X))
    weighted = clone(BOOSTER).fit(typed(X), y, sample_weight=weight)
    rows = np.repeat(np.arange(len(X)), weight)
    copied = clone(BOOSTER).fit(typed(X).iloc[rows], y[rows])
    assert_array_equal(weighted.decision_function(X_new), copied.decision_function(X_new))

    pieces = [typed(X).assign(y=y).iloc[part] for part in np.array_split(np.arange(len(X)), 3)]
    dataset = Dataset.from_batches(lambda: iter(pieces), target="y")
    of_pieces = clone(BOOSTER).fit(dataset)
    assert_array_equal(of_pieces.decision_function(X_new), expected)


def test_pairs_are_saved_in_files(fitted, tmp_path):
    X, _ = new_rows()
    scores = fitted.decision_function(X)
    assert_array_equal(pickle.loads(pickle.dumps(fitted)).decision_function(X), scores)
    fitted.save(tmp_path / "model.json")
    loaded = load(tmp_path / "model.json")
    assert_array_equal(loaded.decision_function(X), scores)
    assert_array_equal(loaded.feature_importances_, fitted.feature_importances_)


def test_the_formula_gives_the_scores(fitted):
    X, _ = new_rows()
    document = json.loads(fitted.to_json())
    rows = X.astype(object).where(X.notna(), None).itertuples(index=False)
    found = [score(document, row) for row in rows]
    assert_allclose(found, fitted.decision_function(X), rtol=1e-12, atol=1e-12)


def test_sql_gives_the_scores(fitted):
    X, _ = new_rows()
    scores = fitted.decision_function(X)
    with sqlite3.connect(":memory:") as connection:
        X.to_sql("rows", connection, index=False)
        found = connection.execute(f"SELECT {fitted.to_sql('sqlite')} FROM rows").fetchall()
    assert_allclose([value for (value,) in found], scores, rtol=1e-9, atol=1e-9)
    duckdb = pytest.importorskip("duckdb")
    with duckdb.connect() as connection:
        connection.register("rows", X)
        found = connection.execute(f"SELECT {fitted.to_sql('duckdb')} FROM rows").fetchall()
    assert_allclose([value for (value,) in found], scores, rtol=1e-9, atol=1e-9)


def test_onnx_gives_the_scores(fitted):
    onnxruntime = pytest.importorskip("onnxruntime")
    X, _ = new_rows()
    session = onnxruntime.InferenceSession(
        fitted.to_onnx().SerializeToString(), providers=["CPUExecutionProvider"]
    )
    feed = {"number": X[["number"]].to_numpy()} | {
        name: X[[name]].astype(object).fillna("").to_numpy() for name in COLUMNS[1:]
    }
    (found,) = session.run(["score"], feed)
    assert_allclose(found, fitted.decision_function(X), rtol=1e-6, atol=1e-6)


def test_trees_are_printed_with_their_pairs(fitted):
    texts = [fitted.to_text(round) for round in range(1, fitted.n_iter_ + 1)]
    lines = [line for text in texts for line in text.splitlines() if "user" in line]
    assert any("tool's" in line and " and " in line for line in lines)
    assert "user" in fitted.to_html()
    with pytest.raises(ValueError, match="thresholds only"):
        fitted.to_shap()


def test_the_sides_of_a_pair_are_distinguished():
    features = [{"name": name, "kind": "categorical", "levels": list("xyz")} for name in "ab"]
    words = Words(Schema.from_json(features), [True, True])

    def is_one_of(feature, *codes):
        return formula.Test(feature, formula.Among(frozenset(codes)), missing_left=False)

    ways = [(is_one_of(0, 0), is_one_of(1, 1, 2)), (is_one_of(0, 2), is_one_of(1, 0))]
    pairs = formula.AnyOf(tuple(map(formula.All, ways)))
    assert words.union(words.side(pairs, left=True)) == (
        "(a = x and b in {y, z}) or (a = z and b = x)"
    )
    assert words.union(words.side(pairs, left=False)) == (
        "(a = x and (b = x or b is missing)) or (a = z and (b in {y, z} or b is missing))"
        " or (a = y or a is missing)"
    )


def test_explain_raises_an_error_for_pairs(fitted):
    with pytest.raises(ValueError, match="interactions"):
        fitted.explain(new_rows()[0])


def test_pmml_gives_the_scores(fitted):
    X, _ = new_rows(100)
    engine = PmmlRegression(fitted.to_pmml())
    rows = X.astype(object).where(X.notna(), None).to_dict("records")
    found = [engine.score(row) for row in rows]
    assert_allclose(found, fitted.decision_function(X), rtol=1e-12, atol=1e-12)


def test_treelite_has_no_form_for_pairs(fitted):
    pytest.importorskip("treelite")
    with pytest.raises(ValueError, match="fit it with category_pairs=False"):
        fitted.to_treelite()
