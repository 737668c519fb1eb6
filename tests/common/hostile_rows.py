"""Rows on which two implementations of a tree model differ, if they differ anywhere."""

import numpy as np
from aucrank._export.formula import Below, conditions_of, tests_of

#: Zeros of either sign, numbers that LightGBM takes for 0, denormals, neighbours of whole numbers,
#: bounds of integer types, and the largest numbers of both precisions.
ODD = [
    0.0, -0.0, np.nan, 1e-35, -1e-35, float(np.float32(1e-35)), -float(np.float32(1e-35)), 5e-36,
    -5e-36, 5e-324, -5e-324, 1e-310, 1e-45, -1e-45, -0.5, -0.999999, -1.0, -3.0, 0.5, 0.999999, 1.5,
    3.7, 11.2, 2.0**24, 2.0**24 + 0.5, 2.0**31, -(2.0**31), 3e9, 1e20, -1e20, 3.4e38, -3.4e38,
]  # fmt: skip


def training_rows(n_rows=800, seed=0):
    """Return numbers with gaps, a column of few whole numbers, and labels that depend on them."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 5))
    X[:, 1] = rng.integers(0, 12, n_rows)
    X[:, 2] = np.round(X[:, 2], 1)
    X[:, 4] = np.where(rng.random(n_rows) < 0.5, 0.0, X[:, 4])
    known = np.nan_to_num(X)
    noise = rng.normal(size=n_rows)
    y = known[:, 0] + (known[:, 1] % 3 == 0) + known[:, 4] ** 2 + noise > 0.8
    X[rng.random(X.shape) < 0.08] = np.nan
    return X, y.astype(int)


def thresholds_of(ranker):
    """Return the thresholds of each column of a ranker."""
    found = [[] for _ in ranker._schema.features]
    for condition in conditions_of(ranker._score_formula()):
        for test in tests_of(condition):
            if isinstance(test.rule, Below):
                found[test.feature].append(test.rule.threshold)
    return found


def hostile_rows(ranker, X, n_rows=20_000, largest=3.4e38, seed=1):
    """Return rows of odd numbers, thresholds, and their neighbours in both precisions."""
    rng = np.random.default_rng(seed)
    rows = np.empty((n_rows, X.shape[1]))
    for column, listed in enumerate(thresholds_of(ranker)):
        at = np.array(listed or [0.0])
        with np.errstate(over="ignore"):
            near = at.astype(np.float32)
        floats = [near, *(np.nextafter(near, np.float32(side)) for side in (-np.inf, np.inf))]
        doubles = [at, *(found.astype(np.float64) for found in floats)]
        halfway = [(doubles[1] + other) / 2 for other in doubles[2:]]
        exact = np.concatenate([*doubles, *halfway])
        chosen = [ODD, exact, np.nextafter(exact, -np.inf), np.nextafter(exact, np.inf)]
        candidates = np.concatenate(chosen)
        is_odd = rng.random(n_rows) < 0.6
        rows[:, column] = np.where(
            is_odd, rng.choice(candidates, n_rows), rng.choice(X[:, column], n_rows)
        )
    return np.clip(rows, -largest, largest)
