"""Rows of all kinds of columns, as one frame and in parts."""

from functools import partial
from itertools import pairwise

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
from aucrank.data import Dataset

#: Data sets whose rows stay on the workers of a cluster, however few they are.
on_dask = partial(Dataset.from_dask, collect_below=0, worker_below=0)
on_ray = partial(Dataset.from_ray, collect_below=0, worker_below=0)
on_spark = partial(Dataset.from_spark, collect_below=0, worker_below=0)

#: As by default, few rows come to the client.
COLLECTED = "256MB"


def mixed_rows(n=500, seed=0):
    """Rows with numbers, whole numbers, text, truth values, weights and labels, some missing."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=n)
    colour = rng.choice(["red", "blue", "amber", None], size=n, p=[0.5, 0.3, 0.1, 0.1])
    risk = 1 / (1 + np.exp(-x - (colour == "red")))
    return pd.DataFrame(
        {
            "id": np.arange(n),
            "x": np.where(rng.random(n) < 0.1, np.nan, x),
            "small": rng.normal(size=n).astype(np.float32),
            "count": rng.integers(0, 9, size=n),
            "colour": colour,
            "flag": rng.random(n) < 0.5,
            "w": np.where(rng.random(n) < 0.1, 0.0, rng.random(n)),
            "y": np.where(rng.random(n) < risk, "yes", "no"),
        }
    )


#: Of the rows above, what a ranker learns from.
FEATURES = ["x", "small", "count", "colour", "flag"]


def write_parts(folder, rows, cuts, **kwargs):
    """Write a frame to Parquet files, cut before some of its rows."""
    table = rows if isinstance(rows, pa.Table) else pa.Table.from_pandas(rows, preserve_index=False)
    edges = [0, *cuts, len(table)]
    paths = []
    for index, (first, last) in enumerate(pairwise(edges)):
        paths.append(folder / f"part-{index:02}.parquet")
        pq.write_table(table.slice(first, last - first), paths[-1], **kwargs)
    return paths


#: Of the rows below, what a ranker learns from.
TOWN_FEATURES = ["x", "town"]


def town_rows(n=3000, seed=0):
    """Rows of a number and of hundreds of towns, most of them rare, whose rates tell much."""
    rng = np.random.default_rng(seed)
    x, town = rng.normal(size=n), (400 * rng.random(n) ** 2).astype(int)
    risk = 1 / (1 + np.exp(-x - rng.normal(scale=2.5, size=400)[town]))
    return pd.DataFrame(
        {
            "x": x,
            "town": np.where(rng.random(n) < 0.05, None, np.char.mod("t%d", town)),
            "w": np.where(rng.random(n) < 0.1, 0.0, rng.random(n)),
            "y": np.where(rng.random(n) < risk, "yes", "no"),
        }
    )


def distinguishes_rare_towns(ranker, rows):
    """Tell whether scores differ between towns of fewer than five rows each."""
    n_rows = rows["town"].value_counts()
    rare = pd.DataFrame({"x": 0.0, "town": n_rows.index[n_rows < 5].to_numpy()})
    return len(np.unique(ranker.decision_function(rare))) > 1
