"""RIMARC beside naive Bayes, a tree and logistic regression: 10-fold AUC on real data sets.

    python -m benches.studies.rimarc_study DATA_FOLDER [--sets wdbc pima] [--max-rows 5000]
        [--repeats 1] [--all]

DATA_FOLDER holds Parquet files with columns and a 0/1 column `target`. One line per model: its AUC
on each set, mean of ten stratified folds, as sec. 5.1 of the paper of RIMARC has it, and the mean
over the sets. Categories are one-hot and missing values the median for the rivals, which
scikit-learn has; numbers are scaled for logistic regression. `--all` runs RIMARC with its options,
scorecards and the other rankers of aucrank too.
"""

import argparse
import warnings
from pathlib import Path
from time import perf_counter

import numpy as np
from aucrank import AURORA, RIMARC, RankBoost, RankingForest, Scorecard, TreeRank
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import StratifiedKFold
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

from benches.common.data import load
from benches.common.rivals import of_columns, score_of

SETS = ("wdbc", "pima", "german", "heart", "hepatitis", "horse_colic")


MODELS = {"RIMARC()": RIMARC()}
OPTIONS = {
    "RIMARC, shrinkage 1": RIMARC(shrinkage=1),
    "RIMARC, shrinkage 5": RIMARC(shrinkage=5),
    "RIMARC, 5 weight folds": RIMARC(weight_folds=5, random_state=0),
    "RIMARC, 10 weight folds": RIMARC(weight_folds=10, random_state=0),
    "RIMARC, 5 folds, shrinkage 5": RIMARC(weight_folds=5, shrinkage=5, random_state=0),
    "RIMARC, missing a value": RIMARC(missing="value"),
    "RIMARC, missing, 5 folds": RIMARC(missing="value", weight_folds=5, random_state=0),
    "Scorecard()": Scorecard(),
    "Scorecard, RIMARC": Scorecard(estimator=RIMARC(missing="value")),
    "Scorecard, RIMARC, bins of 5 %": Scorecard(
        estimator=RIMARC(missing="value"), min_bin_share=0.05
    ),
    "Scorecard, RIMARC 5 folds": Scorecard(estimator=RIMARC(weight_folds=5, random_state=0)),
    "RankBoost()": RankBoost(),
    **{
        f"AURORA, 30 terms, radius {radius:g}": AURORA(
            max_features=30, order=1, radius=radius, selection=None
        )
        for radius in (0.5, 1.0, 2.0)
    },
    "TreeRank()": TreeRank(random_state=0),
    "RankingForest()": RankingForest(random_state=0),
}
RIVALS = {
    "GaussianNB": of_columns(GaussianNB()),
    "tree": of_columns(DecisionTreeClassifier(random_state=0)),
    "tree, leaves of 10": of_columns(DecisionTreeClassifier(min_samples_leaf=10, random_state=0)),
    "tree, leaves of 20": of_columns(DecisionTreeClassifier(min_samples_leaf=20, random_state=0)),
    "LogisticRegression": of_columns(LogisticRegression(max_iter=5000), scaled=True),
}


def mean_auc(model, X, y, repeats):
    aucs = []
    for repeat in range(repeats):
        folds = StratifiedKFold(10, shuffle=True, random_state=repeat)
        for train, test in folds.split(X, y):
            model.fit(X.iloc[train], y[train])
            aucs.append(roc_auc_score(y[test], score_of(model, X.iloc[test])))
    return np.mean(aucs)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--sets", nargs="*", default=SETS, help="by file name without ending")
    parser.add_argument("--max-rows", type=int, default=5000)
    parser.add_argument("--repeats", type=int, default=1, help="times to deal the folds anew")
    parser.add_argument("--all", action="store_true", help="options and other rankers too")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    sets = [load(options.folder / f"{name}.parquet", options.max_rows) for name in options.sets]
    print(f"{'':30}" + "".join(f"{name[:8]:>9}" for name in options.sets) + f"{'mean':>9}  s")
    for label, model in (MODELS | (OPTIONS if options.all else {}) | RIVALS).items():
        start = perf_counter()
        aucs = [mean_auc(model, X, y, options.repeats) for X, y in sets]
        cells = "".join(f"{auc:9.4f}" for auc in aucs)
        print(f"{label:30}{cells}{np.mean(aucs):9.4f}  {perf_counter() - start:.1f}", flush=True)


if __name__ == "__main__":
    main()
