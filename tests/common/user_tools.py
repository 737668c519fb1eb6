"""Rows of users and tools whose pairs are informative and neither column alone."""

import numpy as np
import pandas as pd
from aucrank import GradientBoostingRanker

#: Short enough for exports, which list the pairs of every test.
BOOSTER = GradientBoostingRanker(
    n_rounds=12, max_leaves=6, learning_rate=0.3, n_bags=2, random_state=0
)
COLUMNS = ["number", "user", "tool", "day"]


def make_rows(seed, n_rows=3000):
    """Return rows of users and tools, each pair of which has a rate of its own."""
    rng = np.random.default_rng(seed)
    user, tool = rng.integers(15, size=n_rows), rng.integers(12, size=n_rows)
    rates = np.random.default_rng(0).beta(0.4, 0.4, size=(15, 12))
    X = pd.DataFrame(
        {
            "number": rng.normal(size=n_rows),
            "user": [f"u{k}" for k in user],
            "tool": [f"tool's {k}" for k in tool],
            "day": [f"d{k}" for k in rng.integers(7, size=n_rows)],
        }
    )
    for name in ("user", "tool"):
        X.loc[rng.random(n_rows) < 0.05, name] = None
    return X, (rng.random(n_rows) < rates[user, tool]).astype(int)


def typed(X):
    return X.astype(dict.fromkeys(("user", "tool", "day"), "category"))


def new_rows(n_rows=300):
    """Return rows with values that are missing, and with users and tools that were not seen."""
    X, y = make_rows(3, n_rows)
    X.loc[X.index % 17 == 0, "user"] = "someone else"
    X.loc[X.index % 23 == 0, "tool"] = "something else"
    return X, y
