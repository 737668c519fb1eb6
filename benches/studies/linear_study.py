"""LinearRanker against ridge logistic regression on columns prepared with care, on real data sets.

    python -m benches.studies.linear_study DATA_FOLDER [--max-rows 20000] [--repeats 1]
        [--sets german adult] [--models "LinearRanker()"] [--noise]

DATA_FOLDER holds one Parquet file a set: columns and a 0/1 column `target`. Each rival of
scikit-learn gets standardised numbers, clipped at 6 standard deviations, flags of missing values
and one-hot categories ("logistic"), and thresholds at quantiles as columns too ("with thresholds").
100 times the mean AUC over 5 folds, and the median milliseconds of a fit, its preparation included.
With `--noise`, each set gets a category of 1,500 levels that is uninformative.

The number of thresholds by default was chosen from the lines of LinearRanker: "left out" is the
mean over sets of the AUC of the number of thresholds that is best on all other sets.
"""

import argparse
from pathlib import Path
from time import perf_counter

import numpy as np
import pandas as pd
from aucrank import LinearRanker
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import StratifiedKFold

from benches.common.data import load_all
from benches.common.rivals import Prepared

OURS = {None: "LinearRanker(None)", **{n: f"LinearRanker({n})" for n in (4, 8, 16, 32)}}
MODELS = {
    "logistic": Prepared(),
    "logistic, with thresholds": Prepared(thresholds="auto"),
    "LinearRanker()": LinearRanker(),
    "LinearRanker(interactions=None)": LinearRanker(interactions=None),
    **{name: LinearRanker(thresholds=n, interactions=None) for n, name in OURS.items()},
}


def with_noise(X):
    levels = np.random.default_rng(0).integers(1500, size=len(X))
    return X.assign(noise=pd.Categorical([f"v{level}" for level in levels]))


def measure(model, X, y, repeats):
    aucs, times = [], []
    for seed in range(repeats):
        for train, test in StratifiedKFold(5, shuffle=True, random_state=seed).split(X, y):
            start = perf_counter()
            model.fit(X.iloc[train], y[train])
            times.append(1000 * (perf_counter() - start))
            aucs.append(100 * roc_auc_score(y[test], model.decision_function(X.iloc[test])))
    return np.mean(aucs), np.median(times)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--max-rows", type=int, default=20_000)
    parser.add_argument("--repeats", type=int, default=1, help="times that folds are dealt anew")
    parser.add_argument("--sets", nargs="*", help="only these, by file name without ending")
    parser.add_argument("--models", nargs="*", default=[*MODELS])
    parser.add_argument("--noise", action="store_true", help="with an uninformative category")
    options = parser.parse_args()
    found = {name: {} for name in options.models}
    for data, (X, y) in load_all(options.folder, options.max_rows, options.sets).items():
        X = with_noise(X) if options.noise else X
        print(f"{data}, {len(X)} x {X.shape[1]}", flush=True)
        for name in options.models:
            auc, time = measure(MODELS[name], X, y, options.repeats)
            found[name][data] = auc
            print(f"  {name:32}{auc:9.2f}{time:9.0f} ms", flush=True)
    print("mean over sets")
    for name, aucs in found.items():
        print(f"  {name:32}{np.mean([*aucs.values()]):9.2f}")
    tried = np.array([[*found[name].values()] for name in OURS.values() if name in found])
    if len(tried) > 1 and tried.shape[1] > 1:
        others = tried.sum(axis=1, keepdims=True) - tried
        print(f"  {'left out':32}{tried[others.argmax(axis=0), range(tried.shape[1])].mean():9.2f}")


if __name__ == "__main__":
    main()
