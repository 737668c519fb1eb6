"""How AURORA's default chooses the radius, compared with the search of its paper on many sets.

    python -m benches.studies.aurora_defaults FOLDER [FOLDER ...] [--rows 800] [--results FILE]

Each folder holds Parquet files: columns and a 0/1 column `target`. Of each set as many rows as
said, or two thirds of it, are learned from, and at most 20,000 others tested on. Results are added
to the file as they come, and what is there already is not fitted again. The report has for each
setting the mean AUC, the gain over the search of the paper in points with its standard error, the
set that loses most to it, and CPU seconds of all fits; and what a choice by all other sets gets.
"""

import argparse
import warnings
from pathlib import Path
from time import process_time

import numpy as np
import pandas as pd
from aucrank import AURORA
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import train_test_split

from benches.common.data import load
from benches.common.over_sets import chosen_by_others, gain_in_points
from benches.common.results import resumed

PAPER = "the paper"
MOST_TEST_ROWS = 20_000
SETTINGS = {
    "auto, by 50 terms": {"radius_terms": 50},
    "auto, by 100 terms": {"radius_terms": 100},
    "radius 1/2": {"radius": 0.5},
    PAPER: {
        "depth": "standard",
        "radius_terms": None,
        "n_iter_no_change": None,
        "criterion": "ramp",
    },
}


def measure(folders, n_rows, results):
    """Fit what is not in the results yet, and return them all."""
    keys, figures = ["set", "setting"], ["auc", "seconds", "radius", "n_terms"]
    with resumed(results, keys, figures) as (known, append):
        for path in sorted(path for folder in folders for path in folder.glob("*.parquet")):
            X, y = load(path, max_rows=MOST_TEST_ROWS + n_rows)
            size = min(n_rows, 2 * len(y) // 3)
            X, test, y, y_test = train_test_split(X, y, train_size=size, stratify=y, random_state=0)
            for setting, params in SETTINGS.items():
                if (path.stem, setting) in known:
                    continue
                start = process_time()
                model = AURORA(random_state=0, **params).fit(X, y)
                seconds = process_time() - start
                auc = roc_auc_score(y_test, model.decision_function(test))
                append(path.stem, setting, auc, seconds, model.radius_, model.n_terms_)
    return pd.read_csv(results)


def report(found):
    """Print a line for each setting."""
    aucs = found.pivot_table(index="set", columns="setting", values="auc").dropna()
    seconds = found.groupby("setting")["seconds"].sum()
    print(f"{len(aucs)} sets")
    for setting in SETTINGS:
        lost = 100 * (aucs[PAPER] - aucs[setting])
        print(
            f"{setting:20s} {aucs[setting].mean():.4f}"
            f"  {gain_in_points(aucs[setting], aucs[PAPER])} points,"
            f" most lost {lost.max():.2f} ({lost.idxmax()})  {seconds[setting]:.0f} s"
        )
    ours = aucs[[setting for setting in SETTINGS if setting != PAPER]]
    chosen = chosen_by_others(ours)
    print(
        f"{'chosen by all others':20s} {np.mean(chosen):.4f}"
        f"  {gain_in_points(chosen, aucs[PAPER])} points"
    )


def main():
    """Measure, then print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folders", type=Path, nargs="+")
    parser.add_argument("--rows", type=int, default=800, help="most rows to learn from")
    parser.add_argument("--results", type=Path, default=Path("aurora_defaults.csv"))
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    report(measure(options.folders, options.rows, options.results))


if __name__ == "__main__":
    main()
