"""Probabilities of rankers that only rank, by how they are calibrated, on real data sets.

    python -m benches.studies.calibration_study DATA_FOLDER [--max-rows 6000] [--sets german adult]
        [--rankers RankBoost AURORA] [--folds 3]

DATA_FOLDER holds one Parquet file a set: columns and a 0/1 column `target`. Log loss and Brier
score of rows left out, times 1000, and CPU seconds of a fit. "own rows" is Platt's line through the
scores of the rows of the fit, which the ranker has seen, and costs what a fit without `calibration`
does. The last lines are means over rankers and sets, and over sets by the calibration that has the
least log loss on all others.
"""

import argparse
from pathlib import Path
from time import process_time

import numpy as np
import pandas as pd
from aucrank import AURORA, AUCBoost, GradientBoostingRanker, MartiRank, RankBoost
from aucrank._base import calibrated
from sklearn.base import clone
from sklearn.calibration import _SigmoidCalibration
from sklearn.metrics import brier_score_loss, log_loss
from sklearn.model_selection import StratifiedKFold

from benches.common.data import load_all
from benches.common.over_sets import chosen_by_others

RANKERS = {
    "RankBoost": RankBoost(random_state=0, n_jobs=1),
    "AUCBoost": AUCBoost(random_state=0, n_jobs=1),
    "pairs": GradientBoostingRanker(loss="pair_logistic", random_state=0, n_jobs=1),
    "MartiRank": MartiRank(random_state=0, n_jobs=1),
    "AURORA": AURORA(radius=1.0, depth="shallow", max_features=20, random_state=0, n_jobs=1),
}

#: Calibration and the number of folds that it is cross-fitted by; None for the rows of the fit.
WAYS = {
    "own rows": None,
    "sigmoid": ("sigmoid", 3),
    "sigmoid, 5 folds": ("sigmoid", 5),
    "isotonic": ("isotonic", 3),
    "isotonic, 5 folds": ("isotonic", 5),
    "auto": ("auto", 3),
}


def probabilities(ranker, way, X, y, X_left_out):
    """Return the probabilities of rows left out, and the CPU seconds of the fit."""
    start = process_time()
    if way is None:
        model = clone(ranker).fit(X, y)
        seconds = process_time() - start
        line = _SigmoidCalibration().fit(model.decision_function(X), y)
        return line.predict(model.decision_function(X_left_out)), seconds
    calibration, calibrated.N_FOLDS = way
    model = clone(ranker).set_params(calibration=calibration).fit(X, y)
    return model.predict_proba(X_left_out)[:, 1], process_time() - start


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--max-rows", type=int, default=6000)
    parser.add_argument("--sets", nargs="*")
    parser.add_argument("--rankers", nargs="*", default=list(RANKERS), choices=RANKERS)
    parser.add_argument("--folds", type=int, default=3)
    args = parser.parse_args()
    rows = []
    for name, (X, y) in load_all(args.folder, args.max_rows, args.sets).items():
        for ranker in args.rankers:
            folds = StratifiedKFold(args.folds, shuffle=True, random_state=0)
            for fold, (kept, left_out) in enumerate(folds.split(X, y)):
                for way, params in WAYS.items():
                    positive, seconds = probabilities(
                        RANKERS[ranker], params, X.iloc[kept], y[kept], X.iloc[left_out]
                    )
                    positive = np.clip(positive, 1e-6, 1 - 1e-6)
                    loss = 1000 * log_loss(y[left_out], positive)
                    brier = 1000 * brier_score_loss(y[left_out], positive)
                    rows.append((name, ranker, fold, way, loss, brier, seconds))
        print(f"{name} done", flush=True)
    columns = ["set", "ranker", "fold", "way", "log loss", "Brier", "seconds"]
    table = pd.DataFrame(rows, columns=columns)
    measures = ["log loss", "Brier", "seconds"]
    by_set = table.groupby(["set", "ranker", "way"], sort=False)[measures].mean()
    for measure, digits in zip(measures, (1, 1, 2), strict=True):
        print(f"\n{measure}, each set")
        print(by_set[measure].unstack("way")[list(WAYS)].round(digits).to_string())
        print(f"\n{measure}, mean over sets")
        means = by_set[measure].groupby(["ranker", "way"], sort=False).mean()
        print(means.unstack("way")[list(WAYS)].round(digits).to_string())
    of_sets = by_set["log loss"].groupby(["set", "way"], sort=False).mean()
    of_sets = of_sets.unstack("way")[list(WAYS)]
    print("\nlog loss over all rankers and sets")
    print(of_sets.mean().round(1).to_string())
    # The least loss is the greatest of what it is below 0.
    best = -chosen_by_others(-of_sets.to_numpy())
    print(f"chosen on all other sets: {best.mean():.1f}")


if __name__ == "__main__":
    main()
