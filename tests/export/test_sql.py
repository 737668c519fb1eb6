"""Scores of a tree in SQL, by the database that Python brings, against those of the tree."""

import re
import sqlite3

import numpy as np
import pandas as pd
import pytest
from aucrank import TreeRank
from aucrank.tree import LeafRank


def loans(n_rows, seed):
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(
        {
            "amount": rng.lognormal(8, 1, n_rows).round(2),
            'the "age"': rng.integers(18, 80, n_rows).astype(float),
            "purpose": rng.choice(["car", "it's new", "tv", "a\\b", None], n_rows),
            "rate": pd.Categorical(rng.integers(1, 5, n_rows)),
        }
    )
    risk = X["amount"].rank(pct=True) + (X["purpose"] == "car") - X['the "age"'] / 80
    y = risk + rng.normal(size=n_rows) > 0.5
    X.loc[rng.random(n_rows) < 0.2, "amount"] = np.nan
    return X, y


@pytest.mark.parametrize("split", ["orthogonal", LeafRank(max_depth=3)], ids=["stumps", "leafrank"])
@pytest.mark.parametrize("leaf_order", ["eta", "tree"])
def test_sqlite_gives_the_same_scores(split, leaf_order):
    X, y = loans(1500, 0)
    settings = {"max_depth": 5, "pruning": None, "leaf_order": leaf_order}
    model = TreeRank(split=split, **settings).fit(X, y)
    new, _ = loans(800, 1)
    new["purpose"] = new["purpose"].where(np.arange(800) % 50 > 0, "never seen")
    new["rate"] = new["rate"].astype(float).where(np.arange(800) % 30 > 0)
    with sqlite3.connect(":memory:") as database:
        new.to_sql("loans", database, index=False)
        query = f"SELECT {model.tree_.to_sql()} FROM loans"
        scores = [score for (score,) in database.execute(query)]
    new["rate"] = pd.Categorical(new["rate"])
    assert scores == model.decision_function(new).tolist()
    assert len(set(scores)) > 10


def test_a_tree_of_one_leaf_is_a_number():
    model = TreeRank(pruning=None).fit(np.ones((10, 1)), np.arange(10) % 2)
    assert model.tree_.to_sql() == "0"


def test_dialects_quote_in_their_own_way():
    X, y = loans(500, 2)
    X = X.rename(columns={'the "age"': "a`ge]"})
    tree = TreeRank(max_depth=4, min_samples_leaf=1, pruning=None).fit(X, y).tree_
    assert '"amount"' in tree.to_sql()
    assert "`amount`" in tree.to_sql("mysql")
    assert "`a\\`ge]`" in tree.to_sql("bigquery")
    assert "[a`ge]]]" in tree.to_sql("tsql")
    assert "'it''s new'" in tree.to_sql()
    with pytest.raises(ValueError, match="dialect must be one of 'ansi', 'sqlite'"):
        tree.to_sql("prolog")


@pytest.mark.parametrize(
    ("values", "left_out"),
    [
        ((0.1 + 0.2, 0.1 + 0.2 + 2**-30), [f"{0.1 + 0.2 + 2**-31!r}e0"]),
        (pd.Categorical([0.1 + 0.2, 0.5]), ["0.30000000000000004e0"]),
        (pd.Categorical([2.5, 1e300]), ["2.5"]),
    ],
    ids=["threshold", "category", "short"],
)
def test_numbers_with_more_digits_than_a_decimal_have_an_exponent(values, left_out):
    """Without one, some databases take it for a decimal and read the double next to it."""
    X = pd.DataFrame({"amount": values}).loc[[0, 1] * 20]
    y = np.arange(40) % 2
    tree = TreeRank(pruning=None).fit(X.reset_index(drop=True), y).tree_
    assert re.findall(r"[\d.]+(?:e[+\d]+)?(?=[) ].*THEN)", tree.to_sql()) == left_out
