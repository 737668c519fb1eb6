"""RIMARC against naive Bayes, a tree and logistic regression: 10-fold AUC on real data sets.

    python -m benches.studies.rimarc_study DATA_FOLDER [--sets wdbc pima] [--max-rows 5000]
        [--repeats 1] [--all]
    python -m benches.studies.rimarc_study DATA_FOLDER --choose [--noise 5]

DATA_FOLDER holds Parquet files with columns and a 0/1 column `target`. One line per model: its AUC
on each set, mean of ten stratified folds, as sec. 5.1 of the paper of RIMARC has it, and the mean
over the sets. Categories are one-hot and missing values the median for the rivals, which
scikit-learn has; numbers are scaled for logistic regression. `--all` runs RIMARC with its options,
scorecards and the other rankers of aucrank too.

`--choose` asks whether other defaults of RIMARC would be better: the gain of each of its settings
in points of AUC on all sets of the folder, five folds, with its standard error over the sets, and
that of choosing the setting for each set by its mean on the others. `--noise` adds so many columns
of normal noise.
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

from benches.common.data import load, load_all
from benches.common.over_sets import chosen_by_others, gain_in_points
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
CHOICES = {
    f"shrinkage={shrinkage}, weight_folds={folds}": RIMARC(
        shrinkage=shrinkage, weight_folds=folds, random_state=0
    )
    for folds in (None, 5)
    for shrinkage in (0, 2, 5, 10, 20)
}
RIVALS = {
    "GaussianNB": of_columns(GaussianNB()),
    "tree": of_columns(DecisionTreeClassifier(random_state=0)),
    "tree, leaves of 10": of_columns(DecisionTreeClassifier(min_samples_leaf=10, random_state=0)),
    "tree, leaves of 20": of_columns(DecisionTreeClassifier(min_samples_leaf=20, random_state=0)),
    "LogisticRegression": of_columns(LogisticRegression(max_iter=5000), scaled=True),
}


def mean_auc(model, X, y, repeats, n_folds=10):
    aucs = []
    for repeat in range(repeats):
        folds = StratifiedKFold(n_folds, shuffle=True, random_state=repeat)
        for train, test in folds.split(X, y):
            model.fit(X.iloc[train], y[train])
            aucs.append(roc_auc_score(y[test], score_of(model, X.iloc[test])))
    return np.mean(aucs)


def with_noise(X, n_columns):
    """Return the columns and some more, of normal noise."""
    rng = np.random.default_rng(7)
    return X.assign(**{f"noise{k}": rng.normal(size=len(X)) for k in range(n_columns)})


def choose(sets, repeats):
    """Print what each setting of RIMARC gains over the default, and what choosing one gains."""
    aucs = np.array([[mean_auc(m, X, y, repeats, 5) for m in CHOICES.values()] for X, y in sets])
    default = aucs[:, 0]
    print(f"{len(sets)} sets, gain over {next(iter(CHOICES))} in points of AUC")
    for label, of_setting in zip(CHOICES, aucs.T, strict=True):
        print(f"{label:34}{gain_in_points(of_setting, default)}")
    chosen = chosen_by_others(aucs)
    print(f"{'chosen on the other sets':34}{gain_in_points(chosen, default)}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--sets", nargs="*", default=SETS, help="by file name without ending")
    parser.add_argument("--max-rows", type=int, default=5000)
    parser.add_argument("--repeats", type=int, default=1, help="times to deal the folds anew")
    parser.add_argument("--all", action="store_true", help="options and other rankers too")
    parser.add_argument("--choose", action="store_true", help="settings of RIMARC on all sets")
    parser.add_argument("--noise", type=int, default=0, help="columns of noise for --choose")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    if options.choose:
        sets = load_all(options.folder, options.max_rows).values()
        choose([(with_noise(X, options.noise), y) for X, y in sets], options.repeats)
        return
    sets = [load(options.folder / f"{name}.parquet", options.max_rows) for name in options.sets]
    print(f"{'':30}" + "".join(f"{name[:8]:>9}" for name in options.sets) + f"{'mean':>9}  s")
    for label, model in (MODELS | (OPTIONS if options.all else {}) | RIVALS).items():
        start = perf_counter()
        aucs = [mean_auc(model, X, y, options.repeats) for X, y in sets]
        cells = "".join(f"{auc:9.4f}" for auc in aucs)
        print(f"{label:30}{cells}{np.mean(aucs):9.4f}  {perf_counter() - start:.1f}", flush=True)


if __name__ == "__main__":
    main()
