"""AURORA by the protocol of its paper (sec. 4.4), against the figures of its tables 4, 5 and 7.

    python -m benches.studies.aurora_study DATA_FOLDER [--rows 6000] [--subsets 10] [--sets forest]
        [--models "AURORA, auto"] [--radius 1] [--depths]
    python -m benches.studies.aurora_study DATA_FOLDER --terms pima

DATA_FOLDER holds digit.parquet, forest.parquet and married.parquet: columns and a 0/1 column
`target`. The rows are dealt into disjoint subsets at random; each is learned from in turn, and the
AUC taken on all other rows. Digit holds two subsets of 30,000 rows, married eight of 6,000 and
one of 30,000, forest 30 and 6: where more are requested, the rows are dealt anew. One line per
model: 100 times the mean AUC over the subsets, its standard error, and seconds of learning. The
lines of the paper are last. Its digit and forest are prepared alike here; its married is another
sample of another census, so that only the order of the models can be compared.

RankBoost has as many of 200 rounds, boosted on 3/4 of the rows, as rank the other 1/4 best: the
same selection, from as many, as AURORA. Linear models get one-hot categories, medians for missing
values and standardised numbers. `--depths` runs AURORA alone, at the depths of search of tables 1
and 2 and at its default.

`--terms` prints the thirty terms of one feature each that are learned from all rows of a small set,
with the parameters of `rimarc_study.py`, where their AUC is.
"""

import argparse
import warnings
from pathlib import Path
from time import perf_counter

import numpy as np
import pandas as pd
from aucrank import AURORA, RankBoost, RankOpt
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score

from benches.common.data import load, subsets
from benches.common.rivals import of_columns, score_of
from benches.studies.rimarc_study import OPTIONS

SETS = ("digit", "forest", "married")
PAPER = {
    6000: {
        "AURORA": {"digit": 95.42, "forest": 84.72, "married": 84.09},
        "RankBoost": {"digit": 92.73, "forest": 83.96, "married": 83.63},
        "C5.0": {"digit": 91.15, "forest": 78.99, "married": 79.50},
        "SVM": {"digit": 92.86, "forest": 84.10, "married": 83.37},
        "RankOpt": {"forest": 83.53, "married": 83.41},
        "logistic": {"forest": 83.63, "married": 83.33},
    },
    30_000: {
        "AURORA": {"digit": 96.80, "forest": 86.70, "married": 85.61},
        "RankBoost": {"digit": 93.28, "forest": 84.32, "married": 84.06},
        "C5.0": {"digit": 94.33, "forest": 83.63, "married": 80.75},
        "SVM": {"digit": 93.04, "forest": 86.13, "married": 83.74},
    },
}
DEPTHS_IN_PAPER = {
    6000: {
        "shallow": {"digit": 95.32, "forest": 84.65, "married": 84.10},
        "standard": {"digit": 95.42, "forest": 84.72, "married": 84.09},
        "deep": {"digit": 95.34, "forest": 84.86, "married": 84.23},
    },
    30_000: {
        "shallow": {"digit": 96.68, "forest": 86.31, "married": 85.44},
        "standard": {"digit": 96.80, "forest": 86.70, "married": 85.61},
        "deep": {"digit": 96.79, "forest": 86.86, "married": 85.66},
    },
}


def models(radius):
    """All models by the name of their line."""
    return {
        f"AURORA, radius {radius:g}": AURORA(radius=radius, random_state=0),
        "AURORA, auto": AURORA(radius="auto", random_state=0),
        "RankBoost, window": RankBoost(selection="window", random_state=0),
        "RankOpt": of_columns(RankOpt(), scaled=True),
        "LogisticRegression": of_columns(LogisticRegression(max_iter=5000), scaled=True),
        "gradient boosting": HistGradientBoostingClassifier(random_state=0),
    }


def depths(radius):
    """AURORA at each depth of search."""
    return {
        depth: AURORA(radius=radius, depth=depth, random_state=0)
        for depth in ("quick", "shallow", "standard", "deep")
    }


def aucs_of(model, X, y, parts):
    """AUC on all rows that are not in a part, after learning from it; and seconds of learning."""
    aucs, seconds = [], 0.0
    for rows in parts:
        start = perf_counter()
        model.fit(X.iloc[rows], y[rows])
        seconds += perf_counter() - start
        test = np.setdiff1d(np.arange(len(y)), rows)
        aucs.append(100 * roc_auc_score(y[test], score_of(model, X.iloc[test])))
    return aucs, seconds


def cell_of(aucs):
    """Mean and standard error; a single subset has none."""
    if not aucs:
        return f"{'-':>9}{'':7}"
    if len(aucs) == 1:
        return f"{aucs[0]:9.2f}{'':7}"
    return f"{np.mean(aucs):9.2f} ±{np.std(aucs, ddof=1) / np.sqrt(len(aucs)):5.2f}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--rows", type=int, default=6000, help="rows to learn from")
    parser.add_argument("--subsets", type=int, default=10, help="how many such subsets")
    parser.add_argument("--sets", nargs="*", default=SETS, choices=SETS)
    parser.add_argument("--models", nargs="*", help="only these, by the name of their line")
    parser.add_argument(
        "--radius", type=float, default=1.0, help="radius of the first line; 3 suits 30,000 rows"
    )
    parser.add_argument("--depths", action="store_true", help="AURORA alone, at each depth")
    parser.add_argument("--terms", metavar="SET", help="print the terms of a small set instead")
    options = parser.parse_args()
    if options.terms:
        X, y = load(options.folder / f"{options.terms}.parquet", max_rows=5000)
        print(OPTIONS["AURORA, 30 terms, radius 0.5"].fit(X, y).rules())
        return
    # Rows too few for some category, and logistic regression that is not quite done.
    warnings.simplefilter("ignore")
    lines = (depths if options.depths else models)(options.radius)
    for name in options.models or ():
        if name not in lines:
            parser.error(f"--models: {name!r} is not among {', '.join(map(repr, lines))}")

    sets = []
    for name in options.sets:
        frame = pd.read_parquet(options.folder / f"{name}.parquet")
        y = frame.pop("target").to_numpy()
        sets.append((frame, y, subsets(len(y), options.rows, options.subsets)))
    counts = "".join(f"{f'subsets: {len(parts)}':>16}" for _, _, parts in sets)
    print(f"{'':20}" + "".join(f"{name:>16}" for name in options.sets) + f"\n{'':20}{counts}  s")
    for label, model in lines.items():
        if options.models and label not in options.models:
            continue
        found = [aucs_of(model, X, y, parts) for X, y, parts in sets]
        cells = "".join(cell_of(aucs) for aucs, _ in found)
        print(f"{label:20}{cells}  {sum(seconds for _, seconds in found):.0f}", flush=True)
    in_paper = DEPTHS_IN_PAPER if options.depths else PAPER
    for label, figures in in_paper.get(options.rows, {}).items():
        cells = "".join(
            f"{figures[name]:9.2f}{'':7}" if name in figures else cell_of([])
            for name in options.sets
        )
        print(f"{f'paper: {label}':20}{cells}")


if __name__ == "__main__":
    main()
