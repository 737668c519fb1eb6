"""What a `LinearRanker` gains by a sample of classes or by all rows, and what sums would take.

    python -m benches.studies.linear_rows [DATA_FOLDER ...] [--rows 1000000] [--max-rows 20000]

For each share of positive rows: the AUC on as many new rows of the fit to 200,000 rows, as many
as the common sample of a `Dataset` has; to a `Dataset`, which takes as many by class; and to all.
Rows are simulated, of 20 numbers, seven of them informative, two of these not linearly.

DATA_FOLDER holds Parquet files with columns and a 0/1 column `target`. For each set: the iterations
of Newton's method, each of which needs the sums of gradients and of products of columns once, and
those of a step at least once; the number of columns, thresholds and categories included; and
megabytes of the sums of products, of 16 bytes each. Of more than 768 columns they are not formed,
but products with them are requested, up to 500 for each step.
"""

import argparse
import json
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
from aucrank import LinearRanker
from aucrank.data import Dataset
from aucrank.metrics import roc_auc_score

#: Distinct rows of the common sample.
SAMPLE = 200_000

#: By which log-odds are moved: about a half, one in 70 and one in 5,700 rows are positive.
SHIFTS = (1.0, 6.0, 10.5)


def simulated(n_rows, shift, seed):
    """Return numbers and labels."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 20)).astype(np.float32)
    eta = 0.5 * X[:, :5].sum(axis=1) + np.abs(X[:, 5]) + np.sin(2 * X[:, 6]) - shift
    return X, rng.random(n_rows) < 1 / (1 + np.exp(-eta))


def n_cells(steps):
    """Return the number of values of a step function, of which rare categories have none."""
    kind = "numeric" if "numeric" in steps else "categorical"
    return min(len(steps[kind]["values"]), 500)


def print_gain(n_rows):
    """Print AUCs of the sample and of all rows."""
    for shift in SHIFTS:
        (X, y), (new, new_y) = (simulated(n_rows, shift, seed) for seed in (0, 1))
        X, new = (pd.DataFrame(values).add_prefix("x") for values in (X, new))
        given = {
            "common sample": (X[:SAMPLE], y[:SAMPLE]),
            "by class": (Dataset.from_batches(X.assign(y=y), target="y"),),
            "all": (X, y),
        }
        for name, rows in given.items():
            with warnings.catch_warnings(action="ignore"):
                model = LinearRanker(n_jobs=1).fit(*rows)
            auc = roc_auc_score(new_y, model.decision_function(new))
            print(f"{y.sum():7} of {n_rows} positive, {name:13}: AUC {auc:.4f}", flush=True)


def print_cost(path, max_rows):
    """Print what sums of a set would take."""
    rows = pd.read_parquet(path)
    rows = rows.sample(min(len(rows), max_rows), random_state=0)
    y = rows.pop("target")
    model = LinearRanker(n_jobs=1).fit(rows, y)
    steps = [n_cells(of_feature) for of_feature in json.loads(model._model.steps())]
    n_columns = len(json.loads(model._model.numbers())) + sum(steps)
    megabytes = 16 * n_columns**2 / 2 / 1e6
    print(
        f"{path.stem:20} {model.n_iter_:3} iterations {n_columns:5} columns {megabytes:6.1f} MB",
        flush=True,
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("folders", nargs="*", type=Path)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--max-rows", type=int, default=20_000)
    args = parser.parse_args()
    for folder in args.folders:
        for path in sorted(folder.glob("*.parquet")):
            print_cost(path, args.max_rows)
    print_gain(args.rows)


if __name__ == "__main__":
    main()
