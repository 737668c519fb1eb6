"""RankingForest beside a random forest: 5-fold AUC on real data sets, with several settings.

    python -m benches.studies.forest_study DATA_FOLDER [--max-rows 20000] [--all]
        [--sets german pima]

DATA_FOLDER holds Parquet files with columns and a 0/1 column `target`. One line per setting: its
AUC on each set, mean of five stratified folds, and the mean over the sets. The rival is
scikit-learn's RandomForestClassifier with 500 trees and otherwise its defaults, on one-hot columns
with missing values as NaN. `--all` compares settings and aggregations too.
"""

import argparse
from pathlib import Path
from time import perf_counter

import numpy as np
from aucrank import RankingForest
from sklearn.ensemble import RandomForestClassifier
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import StratifiedKFold
from sklearn.pipeline import make_pipeline

from benches.common.data import load_all
from benches.common.rivals import one_hot

SETTINGS = {
    "RankingForest()": {},
    "500 trees": {"n_estimators": 500},
}
MORE_SETTINGS = {
    "leaf 1": {"min_samples_leaf": 1},
    "leaf 5": {"min_samples_leaf": 5},
    "depth 10": {"max_depth": 10},
    "max_features 0.5": {"max_features": 0.5},
    "leafrank": {"split": "leafrank"},
    "rank_mean": {"aggregation": "rank_mean"},
    "rank_mean, leaf 5": {"aggregation": "rank_mean", "min_samples_leaf": 5},
    "rank_median, leaf 5": {"aggregation": "rank_median", "min_samples_leaf": 5},
    "kendall, leaf 5": {"aggregation": "kendall", "min_samples_leaf": 5},
}


def random_forest():
    return make_pipeline(one_hot(), RandomForestClassifier(500, n_jobs=-1, random_state=0))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--max-rows", type=int, default=20_000)
    parser.add_argument("--sets", nargs="*", help="only these, by file name without ending")
    parser.add_argument("--all", action="store_true", help="other settings too")
    options = parser.parse_args()
    sets = load_all(options.folder, options.max_rows, options.sets)
    models = {
        label: RankingForest(**setting, random_state=0)
        for label, setting in (SETTINGS | (MORE_SETTINGS if options.all else {})).items()
    }
    models["RandomForestClassifier(500)"] = random_forest()
    print(f"{'':28}" + "".join(f"{name[:8]:>9}" for name in sets) + f"{'mean':>9}  s")
    for label, model in models.items():
        start, aucs = perf_counter(), []
        for X, y in sets.values():
            scores = []
            folds = StratifiedKFold(5, shuffle=True, random_state=0)
            for train, test in folds.split(X, y):
                probability = model.fit(X.iloc[train], y[train]).predict_proba(X.iloc[test])
                scores.append(roc_auc_score(y[test], probability[:, 1]))
            aucs.append(np.mean(scores))
        cells = "".join(f"{auc:9.4f}" for auc in aucs)
        print(f"{label:28}{cells}{np.mean(aucs):9.4f}  {perf_counter() - start:.0f}", flush=True)


if __name__ == "__main__":
    main()
