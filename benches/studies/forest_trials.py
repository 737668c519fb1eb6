"""By how many trees a RankingForest should choose its size of leaf: AUC and CPU time on real data.

    python -m benches.studies.forest_trials DATA_FOLDER [DATA_FOLDER ...] [--max-rows 20000]
        [--least-rows 10000] [--results trials.csv]

DATA_FOLDER holds Parquet files with columns and a 0/1 column `target`. For two folds of each set
that has enough rows, forests of 100 trees of each size of leaf are fitted, with their out-of-bag
AUC after every ten trees. From these follow what a choice by 20, 30, 40 or 60 trees of each size
would have been, with and without extrapolation to 100 trees, with and without the sizes beyond one
that is worse; the AUC on new rows of the forest chosen; and the CPU time of trials and forest. The
table has the gain over the choice by 60 trees in points, hundredths of AUC, the worst of a set, and
the time, as a share of that of the choice by 60 and of a fit of the chosen size alone.
"""

import argparse
from pathlib import Path
from time import process_time

import numpy as np
import pandas as pd
from aucrank import RankingForest
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import StratifiedKFold

from benches.common.data import load_batches
from benches.common.over_sets import gain_in_points
from benches.common.results import resumed

SIZES = (20, 5, 1)
N_TREES = 100
TRIALS = (20, 30, 40, 60)
PATH = [f"after_{n}" for n in range(10, N_TREES + 1, 10)]


def measure(sets, results):
    """Fit what is not in the results yet, and return them all."""
    with resumed(results, ["set", "fold", "size"], ["auc", "seconds", *PATH]) as (known, append):
        for name, (X, y) in sets.items():
            splits = StratifiedKFold(2, shuffle=True, random_state=0).split(X, y)
            for fold, (train, test) in enumerate(splits):
                for size in SIZES:
                    if (name, fold, size) in known:
                        continue
                    forest = RankingForest(
                        n_estimators=N_TREES,
                        min_samples_leaf=size,
                        n_iter_no_change=N_TREES,
                        n_jobs=1,
                        random_state=0,
                    )
                    start = process_time()
                    forest.fit(X.iloc[train], y[train])
                    seconds = process_time() - start
                    auc = roc_auc_score(y[test], forest.decision_function(X.iloc[test]))
                    append(name, fold, size, auc, seconds, *forest.oob_path_["auc"])
    return pd.read_csv(results)


def chosen(of_fold, n_trees, extrapolates, ends):
    """Return the row of the size that such trials choose, and their time with that of the fit."""
    best, tried = None, []
    for size in SIZES:
        row = of_fold.loc[size]
        value = row[f"after_{n_trees}"]
        if extrapolates:
            half = n_trees // 20 * 10
            of_one = (value - row[f"after_{half}"]) / (1 / half - 1 / n_trees)
            value += of_one * (1 / n_trees - 1 / N_TREES)
        tried.append(row["seconds"])
        if best is None or value >= best[0]:
            best = value, row
        elif ends:
            break
    row, share = best[1], n_trees / N_TREES
    return row["auc"], share * sum(tried) + (1 - share) * row["seconds"], row["seconds"]


def report(found):
    """Print the table."""
    folds = found.set_index(["set", "fold", "size"]).groupby(level=["set", "fold"])
    folds = {key: of_fold.droplevel([0, 1]) for key, of_fold in folds}
    base = {key: chosen(of_fold, 60, False, False) for key, of_fold in folds.items()}
    print(f"{'':34}points          worst  time, of 60 trees and of the fit")
    for n_trees in TRIALS:
        for extrapolates in (False, True):
            for ends in (False, True):
                rule = {key: chosen(f, n_trees, extrapolates, ends) for key, f in folds.items()}
                table = pd.DataFrame(
                    [[key[0], *rule[key], *base[key]] for key in folds],
                    columns=["set", "auc", "time", "fit", "auc_60", "time_60", "_"],
                )
                of_sets = table.groupby("set")[["auc", "auc_60"]].mean()
                label = f"{n_trees} trees{', extrapolated' * extrapolates}{', to worse' * ends}"
                worst = 100 * (of_sets["auc"] - of_sets["auc_60"]).min()
                ratios = [np.mean(table["time"] / table[by]) for by in ("time_60", "fit")]
                gain = gain_in_points(of_sets["auc"], of_sets["auc_60"])
                print(f"{label:34}{gain}  {worst:+.2f}  {ratios[0]:.2f} {ratios[1]:.2f}")


def main():
    """Measure, then print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folders", type=Path, nargs="+")
    parser.add_argument("--max-rows", type=int, default=20_000)
    parser.add_argument("--least-rows", type=int, default=10_000)
    parser.add_argument("--results", type=Path, default=Path("forest_trials.csv"))
    options = parser.parse_args()
    sets, _ = load_batches(options.folders, options.max_rows)
    sets = {name: (X, y) for name, (X, y) in sets.items() if len(y) >= options.least_rows}
    report(measure(sets, options.results))


if __name__ == "__main__":
    main()
