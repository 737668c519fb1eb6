"""Which pruning of a TreeRank tree ranks best: 5-fold AUC of rules on real data sets.

    python -m benches.studies.pruning_study DATA_FOLDER [--max-rows 5000] [--repeats 1]

DATA_FOLDER holds Parquet files with columns and a 0/1 column `target`. One line per rule: its mean
AUC on each set, the mean over the sets, the mean number of leaves, and the seconds of all its fits.
The default scale of `PenalizedPruning` is chosen by this table.
"""

import argparse
from pathlib import Path
from time import perf_counter

import numpy as np
from aucrank import TreeRank
from aucrank.tree import LeafRank, PenalizedPruning, ValidationPruning
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import StratifiedKFold

from benches.common.data import load_all

SCALES = (0.0005, 0.001, 0.002, 0.003, 0.005, 0.01, 0.02, 0.05, "slope")
RULES = {
    "none": None,
    "cv": "cv",
    "validation 0.25": ValidationPruning(fraction=0.25),
    **{f"penalty {scale}": PenalizedPruning(scale=scale) for scale in SCALES},
}


def study(rule, sets, split, repeats):
    aucs, leaves, seconds = [], [], 0.0
    for X, y in sets.values():
        scores = []
        for repeat in range(repeats):
            folds = StratifiedKFold(5, shuffle=True, random_state=repeat)
            for train, test in folds.split(X, y):
                model = TreeRank(split=split, pruning=rule, random_state=0, n_jobs=1)
                start = perf_counter()
                model.fit(X.iloc[train], y[train])
                seconds += perf_counter() - start
                scores.append(roc_auc_score(y[test], model.decision_function(X.iloc[test])))
                leaves.append(model.tree_.n_leaves)
        aucs.append(np.mean(scores))
    return aucs, np.mean(leaves), seconds


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--max-rows", type=int, default=5000)
    parser.add_argument("--repeats", type=int, default=1)
    parser.add_argument("--leafrank", action="store_true", help="also trees split by LeafRank()")
    options = parser.parse_args()
    sets = load_all(options.folder, options.max_rows)
    splits = {"orthogonal": "orthogonal"}
    if options.leafrank:
        splits["leafrank"] = LeafRank(min_samples_leaf=5)
    for name, split in splits.items():
        head = "".join(f"{stem[:8]:>9}" for stem in sets)
        print(f"{name:18}{head}{'mean':>9}{'leaves':>8}{'s':>6}")
        for label, rule in RULES.items():
            aucs, leaves, seconds = study(rule, sets, split, options.repeats)
            cells = "".join(f"{auc:9.4f}" for auc in aucs)
            print(f"{label:18}{cells}{np.mean(aucs):9.4f}{leaves:8.1f}{seconds:6.1f}", flush=True)


if __name__ == "__main__":
    main()
