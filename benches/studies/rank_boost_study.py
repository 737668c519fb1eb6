"""RankBoost by the protocol of paper 5 (sec. 4.4), against the figures of its tables 4 and 5.

    python -m benches.studies.rank_boost_study DATA_FOLDER [--rows 6000] [--subsets 10]
        [--sets digit]

DATA_FOLDER holds digit.parquet and forest.parquet: columns and a 0/1 column `target`. The rows are
dealt into disjoint subsets at random; each is learned from in turn, and the AUC taken on all other
rows. One line per setting: 100 times the mean AUC over the subsets, and its standard error; the
last line is that of the paper, whose classifier has as many of 200 rounds, boosted on 3/4 of the
rows, as rank the other 1/4 best.
"""

import argparse
from pathlib import Path
from time import perf_counter

import numpy as np
import pandas as pd
from aucrank import RankBoost
from sklearn.metrics import roc_auc_score

from benches.common.data import subsets

SETTINGS = {
    "RankBoost()": {},
    "all thresholds": {"max_bins": None},
    "exact": {"alpha": "exact"},
    "1000 rounds": {"n_rounds": 1000},
    "features": {"weak_ranker": "feature"},
    "window": {"selection": "window"},
    "window, refit": {"selection": "window", "refit": True},
}
PAPER = {6000: {"digit": 92.73, "forest": 83.96}, 30_000: {"digit": 93.28, "forest": 84.32}}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--rows", type=int, default=6000, help="rows to learn from")
    parser.add_argument("--subsets", type=int, default=10, help="how many such subsets")
    parser.add_argument("--sets", nargs="*", default=["digit", "forest"])
    options = parser.parse_args()
    sets = {}
    for name in options.sets:
        frame = pd.read_parquet(options.folder / f"{name}.parquet")
        y = frame.pop("target").to_numpy() == 1
        sets[name] = frame.to_numpy(np.float64), y
    print(f"{'':16}" + "".join(f"{name:>16}" for name in sets) + "  s")
    for label, setting in SETTINGS.items():
        cells, start = "", perf_counter()
        for X, y in sets.values():
            aucs = []
            for rows in subsets(len(y), options.rows, options.subsets):
                test = np.ones(len(y), dtype=bool)
                test[rows] = False
                model = RankBoost(**setting).fit(X[rows], y[rows])
                aucs.append(100 * roc_auc_score(y[test], model.decision_function(X[test])))
            error = np.std(aucs, ddof=1) / np.sqrt(len(aucs))
            cells += f"{np.mean(aucs):9.2f} ±{error:5.2f}"
        print(f"{label:16}{cells}  {perf_counter() - start:.0f}", flush=True)
    if options.rows in PAPER:
        figures = PAPER[options.rows]
        print(
            f"{'paper 5':16}" + "".join(f"{figures.get(name, np.nan):9.2f}{'':7}" for name in sets)
        )


if __name__ == "__main__":
    main()
