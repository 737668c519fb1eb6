"""Terms of two features in LinearRanker: which are found, and what they weigh."""

import json

import aucrank
import numpy as np
import pandas as pd
import pytest
from aucrank import LinearRanker
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.linear_model import LogisticRegression

from tests.additive.test_linear import TIGHT, design_of, weights_of
from tests.common.formulas import with_joint_effects
from tests.common.loans import loans


def joint_terms(model):
    return json.loads(model._model.joint_terms())


def columns_of(model, X):
    """Return the columns of the terms of two features, by the plain definition, and their weights.

    Categories and cells of fewer than 0.2 % of the rows, at least 3, share a column.
    """
    columns, weights = {}, {}
    least = max(3, 0.002 * len(X))
    for number, term in enumerate(joint_terms(model)):
        if "cells" in term:
            places = [_places(axis, X) for axis in term["cells"]["axes"]]
            n_second = places[1][1]
            cell = places[0][0] * n_second + places[1][0]
            kept = [at for at in range(places[0][1] * n_second) if (cell == at).sum() >= least]
            for at in kept:
                columns[number, at] = (cell == at).astype(float)
                weights[number, at] = term["cells"]["values"][at]
            if (pooled := ~np.isin(cell, kept)).any():
                columns[number, "missing"] = pooled.astype(float)
                weights[number, "missing"] = term["cells"]["values"][cell[pooled][0]]
            continue
        term = term["arithmetic"]
        value = computed(term, X)
        values = term["values"]
        for step, threshold in enumerate(term["thresholds"]):
            columns[number, threshold] = 0.5 * (np.nan_to_num(value, nan=-np.inf) >= threshold)
            weights[number, threshold] = 2 * (values[step + 1] - values[step])
        if np.isnan(value).any():
            columns[number, "missing"] = np.isnan(value).astype(float)
            weights[number, "missing"] = term["missing"]
    return pd.DataFrame(columns), weights


def _places(axis, X):
    """Return the place of each row on an axis, and the number of places."""
    column = X.iloc[:, axis["feature"]]
    if "numeric" in axis["known"]:
        thresholds = axis["known"]["numeric"]["thresholds"]
        values = column.to_numpy(float)
        place = np.searchsorted(thresholds, values, side="right")
        return np.where(np.isnan(values), len(thresholds) + 1, place), len(thresholds) + 2
    known = axis["known"]["categorical"]
    groups, codes = known["groups"], column.cat.codes.to_numpy()
    n_known = len(groups) + known["has_others"]
    place = np.full(len(X), len(groups))
    for at, group in enumerate(groups):
        place[np.isin(codes, group)] = at
    return np.where(codes < 0, n_known, place), n_known + 1


def computed(term, X):
    first, second = (X.iloc[:, feature].to_numpy(float) for feature in term["features"])
    if term["operation"] == "difference":
        return first - second
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(second > 0, first / second, np.nan)


@pytest.fixture(scope="module")
def rows():
    X, _ = loans(1200, 0)
    return X, with_joint_effects(X)


@pytest.fixture(scope="module")
def fitted(rows):
    return LinearRanker().fit(*rows)


def test_a_ratio_a_difference_and_cells_are_found(fitted):
    found = set(fitted.term_names_[5:])
    assert "age & trade" in found
    assert {"months - age", "age - months"} & found
    assert {"months / income", "income / months"} & found
    kinds = [next(iter(term)) for term in joint_terms(fitted)]
    assert kinds.count("arithmetic") <= 5


def test_weights_equal_those_of_scikit_learn_on_the_same_columns(fitted, rows):
    X, y = rows
    of_joint, weights = columns_of(fitted, X)
    design = pd.concat([design_of(fitted, X), of_joint], axis=1)
    expected = LogisticRegression(C=0.1, **TIGHT).fit(design.to_numpy(), y == "fine")
    found = weights_of(fitted, X) | weights
    assert_allclose([found[key] for key in design], expected.coef_[0], rtol=0, atol=1e-6)
    assert fitted.intercept_ == pytest.approx(expected.intercept_[0], abs=1e-6)
    # Cells without rows have the value of those that share a column.
    assert_allclose(
        fitted.decision_function(X), expected.decision_function(design.to_numpy()), atol=1e-6
    )


def test_noise_has_no_terms():
    """Each of the two kinds has one in 21 chances of any."""
    rng = np.random.default_rng(0)
    n_found = 0
    for _ in range(40):
        X = rng.normal(size=(400, 6))
        y = rng.random(400) < 1 / (1 + np.exp(-X[:, 0] - 0.5 * X[:, 1]))
        n_found += len(LinearRanker().fit(X, y).term_names_) > 6
    # 3.8 expected, with a deviation of 1.9.
    assert n_found <= 9


def test_the_strongest_terms_come_first_and_none_is_a_sum_of_single_features(fitted, rows):
    X, y = rows
    one = LinearRanker(interactions=1).fit(X, y)
    assert one.term_names_ == fitted.term_names_[:6]
    for interactions in (None, 0):
        none = LinearRanker(interactions=interactions).fit(X, y)
        assert none.term_names_ == list(X)
        assert none.explain(X).shape == X.shape
        assert none.pair_terms().n_rows == 0
    assert none.score(X, y) < one.score(X, y) < fitted.score(X, y)


def test_parts_add_up_and_means_are_taken_off(fitted, rows):
    X, _ = rows
    parts = fitted.explain(X)
    assert parts.shape == (len(X), len(fitted.term_names_))
    assert_array_equal(parts.sum(axis=1) + fitted.base_score_, fitted.decision_function(X))
    assert_allclose(parts.mean(axis=0), 0, atol=1e-12)


def test_tables_and_terms_hold_all_values(fitted, rows):
    X, _ = rows
    table, cells = fitted.terms(), fitted.pair_terms()
    parts = fitted.explain(X)
    place = fitted.term_names_.index("age & trade")
    value = {
        (a, b): v
        for f, g, a, b, v in zip(
            cells["feature_1"],
            cells["feature_2"],
            cells["rule_1"],
            cells["rule_2"],
            cells["value"],
            strict=True,
        )
        if (f, g) == ("age", "trade")
    }
    cooks = X["trade"] == "cook"
    low = next(rule for rule, _ in value if rule.startswith("age <"))
    high = next(rule for rule, _ in value if rule.startswith("age >="))
    limits = [float(rule.split()[-1]) for rule in (low, high)]
    of_young = parts[cooks & (X["age"] < limits[0]), place]
    of_old = parts[cooks & (X["age"] >= limits[1]), place]
    assert np.ptp(of_young) == np.ptp(of_old) == 0
    expected = value[low, "trade = cook"] - value[high, "trade = cook"]
    assert of_young[0] - of_old[0] == pytest.approx(expected, abs=1e-12)
    (ratio,) = {name for name in table["feature"] if " / " in name}
    rules = [
        rule for name, rule in zip(table["feature"], table["rule"], strict=True) if name == ratio
    ]
    assert rules[-1] == f"{ratio} is missing"
    assert rules[0].startswith(f"{ratio} <")


def test_neither_order_nor_copies_nor_threads_nor_a_file_matter(fitted, rows, tmp_path):
    X, y = rows
    times = np.random.default_rng(0).integers(1, 4, len(X))
    weighted = LinearRanker(n_jobs=1).fit(X, y, sample_weight=times)
    order = np.random.default_rng(1).permutation(np.repeat(np.arange(len(X)), times))
    copied = LinearRanker(n_jobs=2).fit(X.iloc[order], y[order])
    assert len(joint_terms(weighted)) > 2
    one, other = (json.loads(model._to_document())["body"]["model"] for model in (weighted, copied))
    assert one == other
    fitted.save(tmp_path / "model.json")
    read = aucrank.load(tmp_path / "model.json")
    assert_array_equal(read.decision_function(X), fitted.decision_function(X))
    assert read.term_names_ == fitted.term_names_


@pytest.mark.parametrize(
    ("interactions", "message"),
    [
        ("all", "interactions must be 'auto', a number or None; got 'all'"),
        (-1, "interactions must be"),
        (1001, "interactions must be"),
        (2.5, "interactions must be"),
    ],
)
def test_other_numbers_of_terms_are_refused(interactions, message):
    with pytest.raises((TypeError, ValueError), match=message):
        LinearRanker(interactions=interactions).fit([[0.0], [1.0]], [0, 1])
