"""RankOpt by the protocol of paper 5 (sec. 4.4), against logistic regression and its table 7.

    python -m benches.studies.rank_opt_study DATA_FOLDER [--rows 6000] [--subsets 5]
        [--sets forest married]

DATA_FOLDER holds one Parquet file a set: columns and a 0/1 column `target`. The rows are dealt into
disjoint subsets at random; each is learned from in turn, and the AUC taken on all other rows.
Categories are one-hot and missing numbers are means, for both. One line per model: 100 times the
mean AUC over the subsets, its standard error, and the median milliseconds of a fit; the last
lines are those of the paper, at 6,000 rows.
"""

import argparse
from pathlib import Path
from time import perf_counter

import numpy as np
import pandas as pd
from aucrank import RankOpt
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from benches.common.data import subsets
from benches.common.rivals import one_hot

MODELS = {
    "RankOpt()": lambda: RankOpt(),
    "RankOpt, ramp": lambda: RankOpt(objective="ramp"),
    "RankOpt, radius 1": lambda: RankOpt(radii=[1.0]),
    "RankOpt, radius 8": lambda: RankOpt(radii=[8.0]),
    "LogisticRegression": lambda: make_pipeline(
        StandardScaler(), LogisticRegression(max_iter=1000)
    ),
}
PAPER = {
    "paper 5, RankOpt": {"forest": 83.53, "married": 83.41},
    "paper 5, LogRes": {"forest": 83.63, "married": 83.33},
}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--rows", type=int, default=6000, help="rows to learn from")
    parser.add_argument("--subsets", type=int, default=5, help="how many such subsets")
    parser.add_argument("--sets", nargs="*", default=["forest", "married", "digit", "magic"])
    options = parser.parse_args()
    print(f"{'':20}" + "".join(f"{name:>24}" for name in options.sets))
    cells = dict.fromkeys(MODELS, "")
    for name in options.sets:
        frame = pd.read_parquet(options.folder / f"{name}.parquet")
        y = frame.pop("target").to_numpy() == 1
        aucs, times = ({label: [] for label in MODELS} for _ in range(2))
        for rows in subsets(len(y), options.rows, options.subsets):
            test = np.ones(len(y), dtype=bool)
            test[rows] = False
            encode = one_hot(SimpleImputer()).fit(frame.iloc[rows])
            train, rest = encode.transform(frame.iloc[rows]), encode.transform(frame[test])
            for label, make in MODELS.items():
                start = perf_counter()
                model = make().fit(train, y[rows])
                times[label].append(1000 * (perf_counter() - start))
                aucs[label].append(100 * roc_auc_score(y[test], model.decision_function(rest)))
        for label in MODELS:
            error = np.std(aucs[label], ddof=1) / np.sqrt(len(aucs[label]))
            cells[label] += (
                f"{np.mean(aucs[label]):9.2f} ±{error:5.2f} {np.median(times[label]):7.0f}"
            )
    for label, line in cells.items():
        print(f"{label:20}{line}")
    if options.rows == 6000:
        for label, figures in PAPER.items():
            line = "".join(f"{figures.get(name, np.nan):9.2f}{'':15}" for name in options.sets)
            print(f"{label:20}{line}")


if __name__ == "__main__":
    main()
