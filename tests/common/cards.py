"""Scorecards of every kind, and new rows."""

import numpy as np
import pandas as pd
from aucrank import Scorecard

from tests.common.real_data import load


def applicants(n_rows, seed):
    """Rows with special values, quotes, kinds of categories and missing values."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(
        {
            'the "age"': rng.integers(18, 80, n_rows).astype(float),
            "debt": rng.choice([-9.0, -1.0, 0.1, 0.1 + 0.2, 0.3, 0.7, 1 / 3], n_rows),
            "months": rng.integers(0, 40, n_rows),
            "purpose <&>": rng.choice(["car", "it's", 'a "b"', "c\\", "d e\r\n", "é"], n_rows),
            "owner": rng.random(n_rows) < 0.5,
            "region": pd.Categorical(rng.integers(1, 6, n_rows)),
            "rate": pd.Categorical(rng.choice([0.5, 1.25, 3.0], n_rows)),
        }
    )
    risk = (
        X["debt"] * (X["debt"] > 0) * 3
        - X['the "age"'] / 30
        + 2.0 * (X["debt"] == -9)
        + 1.0 * (X["purpose <&>"].isin(["it's", 'a "b"']))
        - 1.0 * X["owner"]
        + 0.5 * X["region"].astype(int).isin([2, 5])
        + 0.5 * (X["rate"] == 3.0)
        + X["months"] / 30
    )
    y = risk + rng.normal(size=n_rows) > risk.median()
    X["owner"] = X["owner"].astype(object)
    for place, name in enumerate(X.columns):
        if name != "region":
            X[name] = X[name].mask(rng.random(n_rows) < 0.03 * (1 + place % 3))
    X["owner"] = pd.Categorical(X["owner"])
    return X, y.to_numpy()


def strangers(X):
    """Return the rows with some unseen categories."""
    changed = X.copy()
    changed["purpose <&>"] = X["purpose <&>"].where(np.arange(len(X)) % 20 > 0, "never seen")
    changed["region"] = pd.Categorical(
        X["region"].astype(float).where(np.arange(len(X)) % 25 > 0, 9)
    )
    return changed


def fitted(name):
    """Return a card, and rows that it was not made from or among which values are missing."""
    if name == "applicants":
        X, y = applicants(1500, 0)
        return Scorecard(special_values={"debt": [-9, -1]}, min_bin_share=0.01).fit(
            X, y
        ), strangers(applicants(800, 1)[0])
    if name == "negative":
        X, y = applicants(900, 2)
        card = Scorecard(high_points="negative", base_points=-50, pdo=35.5, monotone=True)
        return card.fit(X, np.where(y, "bad", "good")), strangers(applicants(400, 3)[0])
    if name == "array":
        rng = np.random.default_rng(4)
        X = rng.normal(size=(400, 3))
        X[rng.random(X.shape) < 0.1] = np.nan
        return Scorecard().fit(X, X[:, 0] + rng.normal(size=400) > 0), X
    X, y = load(name)
    return Scorecard().fit(X, y), X


CARDS = ["applicants", "negative", "array", "german", "horse_colic"]


def plain(X):
    """Return rows as a frame of plain columns, None for what is missing."""
    if not isinstance(X, pd.DataFrame):
        X = pd.DataFrame(X, columns=[f"x{j}" for j in range(X.shape[1])])
    return pd.DataFrame(
        {
            name: pd.Series([None if pd.isna(value) else value for value in column], dtype=object)
            for name, column in X.items()
        }
    )


def parts_of_json(card, row):
    """Compute the points of a row from the documentation of the document alone."""
    parts = []
    for feature in card["features"]:
        value = row[feature["position"]]
        parts.append(next(b["points"] for b in feature["bins"] if bin_holds(b, value)))
    return parts


def bin_holds(bin_, value):
    if value is None or bin_.get("missing"):
        return "missing" in bin_
    if "special" in bin_:
        return value == bin_["special"]
    if "categories" in bin_:
        return value in bin_["categories"]
    low, high = bin_["low"], bin_["high"]
    return (low is None or low <= value) and (high is None or value < high)
