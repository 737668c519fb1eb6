"""Sums of trees as models of Treelite, whose own engine gives the scores."""

import sys

import numpy as np
import pandas as pd
import pytest
from aucrank import RIMARC, GradientBoostingRanker, TreeRank
from aucrank._export import treelite as writer
from sklearn.exceptions import NotFittedError

from tests.common.formulas import NOT_IN_SQL, OF_NUMBERS, WITH_CATEGORIES, fitted_formula

treelite = pytest.importorskip("treelite")

#: The part that is not a tree, of scores that are not sums of trees.
NO_SUMS = {
    "signs": "StepsOf",
    "rates of nodes": "Program",
    "votes": "Program",
    "majority": "Program",
    "means": "Quotient",
    "means of missing values": "Quotient",
    "means of special values": "Quotient",
    "standardised": "Linear",
    "thresholds and levels": "Linear",
    "terms of two features": "Linear",
    "weights": "Linear",
    "lines": "StepsOf",
    "program of lines": "Program",
    "medians": "Median",
}
ALL = [*WITH_CATEGORIES, *OF_NUMBERS, *NOT_IN_SQL]


def matrix_of(model, rows):
    """Return rows as `to_treelite` says: categories as positions among those of the fit, sorted."""
    columns = []
    for feature in model._schema.features:
        values = rows[feature.name]
        if feature.levels is not None:
            # What was not seen gets a code beyond.
            codes = {level: code for code, level in enumerate(feature.levels)}
            values = [np.nan if pd.isna(v) else codes.get(v, len(codes)) for v in values]
        columns.append(np.asarray(values, dtype=float))
    return np.column_stack(columns)


@pytest.mark.parametrize("name", [name for name in ALL if name not in NO_SUMS])
def test_treelite_gives_the_score(name, tmp_path):
    model, new = fitted_formula(name)
    exported = model.to_treelite()
    rows, scores = matrix_of(model, new), model.decision_function(new)
    assert len(np.unique(scores)) > 1
    found = treelite.gtil.predict(exported, rows).ravel()
    np.testing.assert_allclose(found, scores, rtol=1e-12, atol=1e-12)
    exported.serialize(tmp_path / "model.bin")
    back = treelite.Model.deserialize(tmp_path / "model.bin")
    np.testing.assert_array_equal(treelite.gtil.predict(back, rows).ravel(), found)


@pytest.mark.parametrize("name", NO_SUMS)
def test_a_score_that_is_not_a_sum_of_trees_raises_an_error_that_names_the_part(name):
    model, _ = fitted_formula(name)
    words = f"score of this {type(model).__name__} has a part that is none: {NO_SUMS[name]}$"
    with pytest.raises(ValueError, match=words):
        model.to_treelite()


def test_numbers_next_to_a_threshold_go_to_the_side_of_the_model():
    X = np.arange(40.0).reshape(-1, 1)
    model = GradientBoostingRanker(n_rounds=5, min_samples_leaf=1).fit(X, X[:, 0] % 7 > 3)
    cuts = np.arange(0.5, 40)
    rows = np.concatenate([cuts, np.nextafter(cuts, -np.inf), [-1e308, 1e308, -0.0, np.nan]])
    rows = rows.reshape(-1, 1)
    found = treelite.gtil.predict(model.to_treelite(), rows).ravel()
    np.testing.assert_allclose(found, model.decision_function(rows), rtol=0, atol=1e-12)


def test_too_many_nodes_are_rejected(monkeypatch):
    model, _ = fitted_formula("forest of small trees")
    monkeypatch.setattr(writer, "_MOST_NODES", 20)
    with pytest.raises(ValueError, match="the trees would have more than 20 nodes"):
        model.to_treelite()


def test_it_needs_a_model_and_the_package(monkeypatch):
    with pytest.raises(NotFittedError):
        TreeRank().to_treelite()
    model = RIMARC().fit([[1.0], [2.0]], [0, 1])
    monkeypatch.setitem(sys.modules, "treelite", None)
    with pytest.raises(ImportError, match=r"pip install 'aucrank\[treelite\]'"):
        model.to_treelite()
