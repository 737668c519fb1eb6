"""Rows that need preprocessing, for pipelines of scikit-learn."""

import numpy as np
import pandas as pd

#: Texts that differ by little.
TOWNS = ["Oslo", "oslo", " Oslo", "Bern", "?", "it's 1"]


def applicants(n_rows, seed):
    """Return rows with gaps in numbers and in texts, and labels that depend on them."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(
        {
            "age": rng.integers(18, 80, n_rows).astype(float),
            "income": rng.lognormal(8, 1, n_rows),
            "debt": rng.normal(size=n_rows).round(1),
            "flat": np.full(n_rows, 3.7),
            "rate": rng.integers(1, 6, n_rows).astype(float),
            "town": rng.choice(TOWNS, n_rows, p=[0.4, 0.2, 0.1, 0.2, 0.05, 0.05]),
            "job": rng.choice(["cook", "judge", "pilot", "poet"], n_rows),
            "owner": rng.random(n_rows) < 0.4,
        }
    )
    risk = X["age"] / 40 + (X["town"] == "Oslo") + X["debt"] - 0.3 * X["rate"] + X["owner"]
    y = risk + rng.normal(size=n_rows) > np.median(risk)
    for name in ("age", "debt", "rate", "town"):
        X[name] = X[name].where(rng.random(n_rows) > 0.1, np.nan)
    return X, y


def new_applicants(n_rows, seed):
    """Return rows with values that no fit has seen; those of text are objects."""
    X, _ = applicants(n_rows, seed)
    rng = np.random.default_rng(seed)
    X["town"] = X["town"].astype(object)
    X["job"] = X["job"].astype(object)
    for name, values in {
        "age": [17.5, -0.0, 1e300, -1e300],
        "income": [0.0, -1.0, 1e-300],
        "flat": [3.7, np.nextafter(3.7, 4), 0.0],
        "debt": [-0.0, 0.05],
        "rate": [0.0, 2.5, 9.0, np.nextafter(3, 4)],
        "town": ["Rome", "OSLO", "Oslo ", ""],
        "job": ["Cook", "", "nan", "None"],
    }.items():
        strange = rng.random(n_rows) < 0.15
        X.loc[strange, name] = rng.choice(np.array(values, X[name].dtype), strange.sum())
    return X


def plain_rows(frame):
    """Return rows of Python's numbers, booleans and strings, None for what is missing."""
    return [
        [None if pd.isna(v) else v if isinstance(v, str | bool) else float(v) for v in row]
        for row in frame.astype(object).to_numpy()
    ]
