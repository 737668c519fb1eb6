"""How AURORA's default chooses the radius, compared with the search of its paper on many sets.

    python -m benches.studies.aurora_defaults FOLDER [FOLDER ...] [--rows 800] [--draw 0] [--few]
        [--results FILE]

Each folder holds Parquet files: columns and a 0/1 column `target`. Of each set as many rows as
said, or two thirds of it, are learned from, and at most 20,000 others tested on. Results are added
to the file as they come, and what is there already is not fitted again. The report has for each
setting the mean AUC, the gain over the search of the paper in points with its standard error, the
set that loses most to it, and CPU seconds of all fits; and what a choice by all other sets gets.

With `--few`, searches on all rows at a fixed radius, which keep all their terms, are compared with
those that hold out a quarter of the rows to choose radius and number of terms; only on sets that
have as many rows as said, and half as many others.
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
    "the default": {},
    "auto, by 50 terms": {"radius_terms": 50, "selection": "validation"},
    "auto, by 100 terms": {"radius_terms": 100, "selection": "validation"},
    "radius 1/2": {"radius": 0.5},
    PAPER: {
        "depth": "standard",
        "radius_terms": None,
        "n_iter_no_change": None,
        "criterion": "ramp",
        "selection": "validation",
    },
}
HELD_OUT = "held out, 30"
FEW = {
    HELD_OUT: {"max_features": 30, "selection": "validation"},
    "held out, 4": {"max_features": 4, "selection": "validation"},
    "held out, 8": {"max_features": 8, "selection": "validation"},
    "held out, 200": {"selection": "validation"},
    "folds, 30": {"max_features": 30, "selection": "cv"},
} | {
    f"all, radius {radius:.3g}, {n_terms}": {
        "max_features": n_terms,
        "radius": radius,
        "selection": None,
    }
    for radius in (0.5, 0.625**0.25)
    for n_terms in (4, 8, 30, 60, 100)
}


def measure(folders, settings, n_rows, draw, needed, results):
    """Fit what is not in the results yet, and return what they hold of these settings and rows."""
    keys = ["set", "n_rows", "draw", "setting"]
    with resumed(results, keys, ["auc", "seconds", "radius", "n_terms"]) as (known, append):
        for path in sorted(path for folder in folders for path in folder.glob("*.parquet")):
            X, y = load(path, max_rows=MOST_TEST_ROWS + n_rows)
            if len(y) < needed * n_rows:
                continue
            size = min(n_rows, 2 * len(y) // 3)
            X, test, y, y_test = train_test_split(
                X, y, train_size=size, stratify=y, random_state=draw
            )
            for setting, params in settings.items():
                key = (path.stem, n_rows, draw, setting)
                if key in known:
                    continue
                start = process_time()
                model = AURORA(random_state=draw, **params).fit(X, y)
                seconds = process_time() - start
                auc = roc_auc_score(y_test, model.decision_function(test))
                append(*key, auc, seconds, model.radius_, model.n_terms_)
    found = pd.read_csv(results)
    is_of_these = (found["n_rows"] == n_rows) & (found["draw"] == draw)
    return found[is_of_these & found["setting"].isin(settings)]


def report(found, settings, reference):
    """Print a line for each setting."""
    aucs = found.pivot_table(index="set", columns="setting", values="auc").dropna()
    seconds = found.groupby("setting")["seconds"].sum()
    print(f"{len(aucs)} sets")
    for setting in settings:
        lost = 100 * (aucs[reference] - aucs[setting])
        print(
            f"{setting:22s} {aucs[setting].mean():.4f}"
            f"  {gain_in_points(aucs[setting], aucs[reference])} points,"
            f" most lost {lost.max():.2f} ({lost.idxmax()})  {seconds[setting]:.0f} s"
        )
    ours = aucs[[setting for setting in settings if setting != PAPER]]
    chosen = chosen_by_others(ours)
    print(
        f"{'chosen by all others':22s} {np.mean(chosen):.4f}"
        f"  {gain_in_points(chosen, aucs[reference])} points"
    )


def main():
    """Measure, then print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folders", type=Path, nargs="+")
    parser.add_argument("--rows", type=int, default=800, help="most rows to learn from")
    parser.add_argument("--draw", type=int, default=0, help="seed of the rows to learn from")
    parser.add_argument("--few", action="store_true", help="compare choices for few rows")
    parser.add_argument("--results", type=Path, default=Path("aurora_defaults.csv"))
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    settings, reference, needed = (FEW, HELD_OUT, 1.5) if options.few else (SETTINGS, PAPER, 0)
    found = measure(options.folders, settings, options.rows, options.draw, needed, options.results)
    report(found, settings, reference)


if __name__ == "__main__":
    main()
