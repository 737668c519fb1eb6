"""A LeafRank tree with 10-fold pruning beside a LightGBM model of 100 rounds: time of a fit.

    python benches/bench_pruning.py [--rows 50000] [--features 10] [--runs 5]

The papers' tree: TreeRank(split="leafrank") with its default cross-validated pruning, from a
float64 matrix. LightGBM: LGBMClassifier(n_estimators=100). Both with the same number of threads, in
turn; the ratio is that of the medians.
"""

import argparse
from time import perf_counter

import numpy as np
from aucrank import TreeRank
from bench_tree import make_data
from lightgbm import LGBMClassifier


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=50_000)
    parser.add_argument("--features", type=int, default=10)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--runs", type=int, default=5)
    options = parser.parse_args()
    X, y = make_data(options.rows, options.features)
    settings = {"random_state": 0, "n_jobs": options.threads}
    models = {
        "LightGBM, 100 rounds": LGBMClassifier(n_estimators=100, verbose=-1, **settings),
        "LeafRank, 10 folds": TreeRank(split="leafrank", **settings),
        "stumps, 10 folds": TreeRank(**settings),
        "stumps, penalty": TreeRank(pruning="penalty", **settings),
    }
    times = {name: [] for name in models}
    for _ in range(options.runs):
        for name, model in models.items():
            start = perf_counter()
            model.fit(X, y)
            times[name].append(perf_counter() - start)
    base = np.median(times["LightGBM, 100 rounds"])
    for name in models:
        median = np.median(times[name])
        print(f"{name:22} {median:7.3f} s, {median / base:5.2f} times LightGBM")


if __name__ == "__main__":
    main()
