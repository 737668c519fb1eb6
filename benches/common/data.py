"""Rows to learn from: a simulation, and the real data sets of a folder."""

import numpy as np
import pandas as pd


def make_data(n_rows, n_features, seed=0):
    """Return normal columns, of which the first three tell the class, and labels."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, n_features))
    noise = rng.normal(size=n_rows)
    return X, (X[:, 0] + X[:, 1] * X[:, 2] + noise > 1).astype(np.int64)


def make_scores(n_rows):
    """Return labels, scores that are higher for positives, and weights."""
    rng = np.random.default_rng(n_rows)
    y = (rng.random(n_rows) < 0.3).astype(np.int64)
    y[:2] = 0, 1
    return y, rng.normal(loc=y), rng.random(n_rows)


def is_category(column):
    """Whether a column is not one of numbers."""
    return not pd.api.types.is_numeric_dtype(column)


def with_categories(X):
    """Return a frame whose columns of text are categories."""
    return X.assign(**{name: X[name].astype("category") for name in X if is_category(X[name])})


def load(path, max_rows):
    """Return the columns and the 0/1 labels of a Parquet file, of so many rows at most."""
    frame = pd.read_parquet(path)
    if len(frame) > max_rows:
        frame = frame.sample(max_rows, random_state=0).reset_index(drop=True)
    return frame.drop(columns="target"), frame["target"].to_numpy()


def load_all(folder, max_rows, names=None):
    """Return columns and labels of the Parquet files of a folder by name, or of those named."""
    paths = sorted(folder.glob("*.parquet"))
    return {path.stem: load(path, max_rows) for path in paths if not names or path.stem in names}


def load_batches(folders, max_rows, names=None):
    """Return the sets of several folders by name, and by name the folder that each is from."""
    sets, batch_of = {}, {}
    for folder in folders:
        found = load_all(folder, max_rows, names)
        if known := found.keys() & sets.keys():
            raise ValueError(f"{', '.join(sorted(known))} of {folder} are in another folder, too")
        sets |= found
        batch_of |= dict.fromkeys(found, folder.name)
    return sets, batch_of


def subsets(n_rows, size, n_subsets):
    """Deal rows into disjoint subsets; where all are dealt, deal anew."""
    if size >= n_rows:
        raise ValueError(f"{size} of {n_rows} rows leave none to test on")
    rng = np.random.default_rng(0)
    found = []
    while len(found) < n_subsets:
        order = rng.permutation(n_rows)
        found += [order[start : start + size] for start in range(0, n_rows - size + 1, size)]
    return found[:n_subsets]
