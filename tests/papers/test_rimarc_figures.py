"""RIMARC on the examples and the claims of its paper.

The tables of the paper are pictures; its text gives the scores, the numbers of rows of each class
and the AUC of Table 1, which leave one table.
"""

from itertools import permutations

import numpy as np
import pandas as pd
import pytest
from aucrank import RIMARC
from aucrank.metrics import roc_auc_score
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.impute import SimpleImputer
from sklearn.model_selection import StratifiedKFold
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from sklearn.tree import DecisionTreeClassifier

from tests.common.real_data import load, needs_data

# The data of sec. 4.1, a letter and a class each.
SEC_4_1 = ["an", "bp", "bn", "bn", "bn", "cp", "cp", "cn", "cn", "dp", "dp", "dn"]

# Positive and negative rows by letter, from r(a) = 0.25, r(b) = 0.33, r(c) = 0.67, r(d) = 1 and
# P = 7, N = 6.
TABLE_1 = {"a": (1, 3), "b": (1, 2), "c": (2, 1), "d": (3, 0)}


def frame(letters):
    return pd.DataFrame({"f": pd.Categorical(list(letters))})


def table_1():
    rows = [
        (letter, label)
        for letter, counts in TABLE_1.items()
        for label, count in zip("pn", counts, strict=True)
        for _ in range(count)
    ]
    letters, labels = zip(*rows, strict=True)
    return frame(letters), np.array(labels)


def test_section_4_1_ranks_letters_by_their_share_of_positives():
    X = frame(row[0] for row in SEC_4_1)
    y = np.array([row[1] == "p" for row in SEC_4_1])
    model = RIMARC(level_rates="raw").fit(X, y)
    letters = frame("abcd")
    # Fig. 1a is the order a, c, b, d; Fig. 1b, with b and c swapped, has the larger area.
    assert [*np.array([*"abcd"])[np.argsort(model.decision_function(letters))]] == [*"abcd"]
    of_order = {
        order: roc_auc_score(y, [order.index(letter) for letter in X["f"]])
        for order in ("acbd", "abcd")
    }
    assert of_order["abcd"] > of_order["acbd"]
    assert model.score(X, y) == of_order["abcd"]
    assert model.weights_[0] == pytest.approx(2 * of_order["abcd"] - 1, abs=1e-15)


def test_table_1_has_the_scores_and_the_auc_of_the_paper():
    X, y = table_1()
    # Of the two labels the second in order is positive.
    model = RIMARC(level_rates="raw").fit(X, y)
    card = model.scorecard()
    by_letter = dict(zip(card["rule"], card["score"], strict=True))
    assert by_letter == {"f = a": 0.25, "f = b": 1 / 3, "f = c": 2 / 3, "f = d": 1}
    assert (card["n_pos"].sum(), card["size"].sum()) == (7, 13)
    assert model.score(X, y) == pytest.approx(34.5 / 42, abs=1e-15)
    assert model.feature_importances_[0] == pytest.approx(34.5 / 42 - 0.5, abs=1e-15)


def test_with_the_classes_swapped_the_auc_stays_as_table_3_has_it():
    X, y = table_1()
    model = RIMARC(level_rates="raw").fit(X, y == "p")
    swapped = RIMARC(level_rates="raw").fit(X, y == "n")
    assert np.array_equal(swapped.decision_function(X), -model.decision_function(X))
    assert swapped.score(X, y == "n") == model.score(X, y == "p")
    assert swapped.weights_ == model.weights_


def test_the_laplace_estimate_may_rank_differently():
    # 1 of 1 against 10 of 11: (5) wants the first above, (P + 1) / (P + N + 2) puts it below.
    X, y = frame("a" + "b" * 11 + "c"), np.array([True] * 11 + [False] * 2)
    a, b, _ = RIMARC(level_rates="raw").fit(X, y).decision_function(frame("abc"))
    assert a > b
    # Shrinkage is such an estimate, towards the share of all, hence an extension.
    a, b, _ = RIMARC(level_rates="raw", shrinkage=2).fit(X, y).predict_proba(frame("abc"))[:, 1]
    assert a == pytest.approx((1 + 2 * 11 / 13) / 3)
    assert b == pytest.approx((10 + 2 * 11 / 13) / 13)


def test_no_order_of_the_bins_ranks_better():
    # (5) is necessary and sufficient: no permutation of the categories has a larger AUC.
    rng = np.random.default_rng(0)
    for _ in range(20):
        letters, y = rng.choice([*"abcde"], 30), rng.random(30) < 0.4
        best = max(
            roc_auc_score(y, ["".join(order).index(letter) for letter in letters])
            for order in permutations("abcde")
        )
        model = RIMARC(level_rates="raw").fit(frame(letters), y)
        assert model.score(frame(letters), y) == pytest.approx(best, abs=1e-12)


def rivals():
    """GaussianNB and a tree, of scikit-learn, for columns of any kind with missing values."""
    encode = make_column_transformer(
        (
            OneHotEncoder(handle_unknown="ignore", sparse_output=False),
            make_column_selector(dtype_exclude="number"),
        ),
        remainder=SimpleImputer(strategy="median"),
    )
    tree = DecisionTreeClassifier(min_samples_leaf=10, random_state=0)
    return make_pipeline(encode, GaussianNB()), make_pipeline(encode, tree)


@needs_data
def test_table_6_the_mean_auc_is_above_that_of_naive_bayes_and_of_a_tree():
    # Section 5.1: stratified tenfold cross validation.
    models = [RIMARC(), *rivals()]
    aucs = []
    for name in ("wdbc", "pima", "german", "heart", "hepatitis", "horse_colic"):
        X, y = load(name)
        for train, test in StratifiedKFold(10, shuffle=True, random_state=0).split(X, y):
            fitted = [model.fit(X.iloc[train], y[train]) for model in models]
            aucs.append(
                [roc_auc_score(y[test], m.predict_proba(X.iloc[test])[:, 1]) for m in fitted]
            )
    ours, bayes, tree = np.mean(aucs, axis=0)
    assert ours > bayes
    assert ours > tree
