"""Few rows, or few positives among them: AUC of boosters, ensembles and forests on real data sets.

    python -m benches.studies.few_rows FOLDER [FOLDER ...] [--n-sets 10] [--seeds 5]
        [--sets german pima] [--versions "100 rows" rare] [--models ensemble]
        [--results few_rows.csv]

Each FOLDER holds Parquet files with columns and a 0/1 column `target`. For each seed so many rows
are drawn from a set to learn from, the others, at most 5,000, are tested on:

- "100 rows" and "300 rows", stratified by class;
- "rare": 1,000 rows, of which 2 % are positive.

The largest sets are taken, those of the most rows of the rarer class. CatBoost is left out where it
is not installed. A row of the results is a version of a set, a seed and a model, written as soon as
it is known: a run that is broken off goes on where it was. The table has for each version the mean
AUC over the sets, what is gained over the booster in points with its standard error over the sets
and its median, and CPU seconds a fit.
"""

import argparse
import importlib.util
from pathlib import Path
from time import process_time

import numpy as np
import pandas as pd
from aucrank import GradientBoostingRanker, RankingEnsemble, RankingForest
from sklearn.ensemble import RandomForestClassifier
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import train_test_split

from benches.common.data import load_batches
from benches.common.over_sets import gains_of_batches
from benches.common.results import resumed
from benches.common.rivals import of_columns, score_of
from benches.studies.gradient_boosting import catboost, fit, prepared, with_categories

#: Rows to learn from, and how many of them are positive; None for the share of the set.
VERSIONS = {"100 rows": (100, None), "300 rows": (300, None), "rare": (1000, 20)}
BOOSTER = "booster"
MODELS = {
    BOOSTER: lambda: GradientBoostingRanker(random_state=0),
    "ensemble": lambda: RankingEnsemble(random_state=0),
    "forest": lambda: RankingForest(n_estimators=300, random_state=0),
    "random forest": lambda: of_columns(RandomForestClassifier(500, random_state=0)),
}
#: Most rows that are tested on.
MOST_TEST_ROWS = 5000


def split(y, n_rows, n_pos, seed):
    """Return the rows to learn from and those to test on."""
    rows = np.arange(len(y))
    if n_pos is None:
        train, test = train_test_split(rows, train_size=n_rows, stratify=y, random_state=seed)
    else:
        rng = np.random.default_rng(seed)
        negative, positive = (rng.permutation(rows[y == label]) for label in (0, 1))
        train = np.concatenate([positive[:n_pos], negative[: n_rows - n_pos]])
        test = rng.permutation(np.setdiff1d(rows, train))
    return train, test[:MOST_TEST_ROWS]


def largest(sets, n_sets):
    """Return the sets of the most rows of the rarer class, of so many at most."""

    def n_rarer(name):
        y = sets[name][1]
        return min(y.sum(), len(y) - y.sum())

    names = sorted(sets, key=n_rarer, reverse=True)[:n_sets]
    return {name: sets[name] for name in sorted(names)}


def measure(models, sets, options):
    """Fit what is not in the results yet, and return them all."""
    results, keys = options.results, ["version", "set", "seed", "model"]
    with resumed(results, keys, ["auc", "seconds"]) as (known, append):
        for seed in range(options.seeds):
            for name, (X, y) in sets.items():
                for version in options.versions:
                    train, test = split(y, *VERSIONS[version], seed)
                    for label, make in models.items():
                        key = (version, name, seed, label)
                        if key in known:
                            continue
                        model, start = make(), process_time()
                        fit(model, prepared(label, X.iloc[train]), y[train])
                        seconds = process_time() - start
                        scores = score_of(model, prepared(label, X.iloc[test]))
                        append(*key, roc_auc_score(y[test], scores), seconds)
    return pd.read_csv(results)


def report(found, batch_of):
    """Print a table for each version."""
    for version, of_version in found.groupby("version"):
        aucs = of_version.pivot_table(index=["set", "seed"], columns="model", values="auc")
        aucs = aucs.dropna().groupby("set").mean()
        seconds = of_version.groupby("model")["seconds"].mean()
        print(f"{version}, {len(aucs)} sets")
        for name in aucs.mean().sort_values(ascending=False).index:
            line = f"{name:16s} {aucs[name].mean():.4f}  {seconds[name]:6.2f} s"
            if BOOSTER in aucs and name != BOOSTER:
                line += f"  {gains_of_batches(aucs[name], aucs[BOOSTER], batch_of)} points"
            print(line)


def main():
    """Measure, then print."""
    models = dict(MODELS)
    if importlib.util.find_spec("catboost"):
        models["catboost"] = catboost
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folders", type=Path, nargs="+")
    parser.add_argument("--n-sets", type=int, default=10)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--sets", nargs="+", help="only these, by file name without ending")
    parser.add_argument("--versions", nargs="+", choices=VERSIONS, default=list(VERSIONS))
    parser.add_argument("--models", nargs="+", choices=models, default=list(models))
    parser.add_argument("--results", type=Path, default=Path("few_rows.csv"))
    options = parser.parse_args()
    sets, batch_of = load_batches(options.folders, 10**9, options.sets)
    sets = {name: (with_categories(X), y) for name, (X, y) in largest(sets, options.n_sets).items()}
    found = measure({name: models[name] for name in options.models}, sets, options)
    found = found[found["set"].isin(sets) & found["model"].isin(options.models)]
    report(found[found["version"].isin(options.versions)], batch_of)


if __name__ == "__main__":
    main()
