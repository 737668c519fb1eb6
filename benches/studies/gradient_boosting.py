"""GradientBoostingRanker against LightGBM and CatBoost: 5-fold AUC on real data sets.

    python -m benches.studies.gradient_boosting DATA_FOLDER [--max-rows 20000] [--sets german pima]
        [--all] [--noise]

DATA_FOLDER holds Parquet files with columns and a 0/1 column `target`. One line per setting: its
AUC on each set, mean of five stratified folds, the mean over the sets, and the CPU time. The last
line chooses a setting for each set by the others alone: what a choice among them is worth on a set
that it was not made on. `--all` compares more settings; `--noise` adds a column of 1,500 categories
and one of a number for each row, and prints what they cost.
"""

import argparse
import importlib.util
from pathlib import Path
from time import process_time

import numpy as np
import pandas as pd
from aucrank import GradientBoostingRanker
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import StratifiedKFold

from benches.common.data import is_category, load_all, with_categories
from benches.common.over_sets import chosen_by_others
from benches.common.rivals import catboost, lightgbm

#: What every setting has unless it says otherwise: trees of one size, whose values are kept.
BASE = {"max_leaves": 32, "refit": False}

SETTINGS = {
    "GradientBoostingRanker()": {"max_leaves": "auto", "refit": "auto"},
    "32 leaves, no refit": {},
    "8 leaves": {"max_leaves": 8},
    "16 leaves": {"max_leaves": 16},
    "64 leaves": {"max_leaves": 64},
    "l2 5": {"l2": 5.0},
    "300 rounds, none left out": {"n_rounds": 300, "early_stopping": False},
    "one bag": {"n_bags": 1},
    "refit": {"refit": True},
    "best cuts": {"cuts": "best"},
    "best cuts, 8 leaves": {"cuts": "best", "max_leaves": 8},
    "best cuts, 16 leaves": {"cuts": "best", "max_leaves": 16},
    "pair_exponential": {"loss": "pair_exponential"},
    "pair_logistic": {"loss": "pair_logistic"},
}
MORE_SETTINGS = {
    "rate 0.1": {"learning_rate": 0.1},
    "all rows": {"subsample": 1.0},
    "all features": {"max_features": None},
    "l2 0": {"l2": 0.0},
    "leaf 1": {"min_samples_leaf": 1},
    "leaf 20": {"min_samples_leaf": 20},
    "1000 rounds, none left out": {"n_rounds": 1000, "early_stopping": False},
    "10 bags": {"n_bags": 10},
    "a fifth for each bag": {"validation_fraction": 0.2},
    "rate 0.03": {"learning_rate": 0.03},
    "one feature a tree": {"interactions": 0},
    "one feature a tree, 4 leaves": {"interactions": 0, "max_leaves": 4},
}


RIVALS = {"lightgbm": lightgbm, "catboost": catboost}


def fit(model, X, y):
    if type(model).__module__.startswith(("catboost", "chimeraboost")):
        return model.fit(X, y, cat_features=[name for name in X if is_category(X[name])])
    return model.fit(X, y)


def prepared(name, X):
    """Return the columns as a rival takes them."""
    if name == "catboost":
        texts = {c: X[c].astype(object) for c in X if is_category(X[c])}
        return X.assign(**{c: text.where(text.notna(), "none") for c, text in texts.items()})
    if name == "lightgbm":
        return X.set_axis([f"c{place}" for place in range(X.shape[1])], axis=1)
    return X


def mean_auc(make, X, y):
    aucs = []
    for train, test in StratifiedKFold(5, shuffle=True, random_state=0).split(X, y):
        model = fit(make(), X.iloc[train], y[train])
        aucs.append(roc_auc_score(y[test], model.predict_proba(X.iloc[test])[:, 1]))
    return np.mean(aucs)


def mean_auc_of_scores(make, X, y):
    aucs = []
    for train, test in StratifiedKFold(5, shuffle=True, random_state=0).split(X, y):
        scores = make().fit(X.iloc[train], y[train]).decision_function(X.iloc[test])
        aucs.append(roc_auc_score(y[test], scores))
    return np.mean(aucs)


def with_noise(X):
    """Return the columns with 1,500 categories of noise and a number for each row."""
    rng = np.random.default_rng(0)
    noise = pd.Categorical(rng.integers(0, 1500, len(X)).astype(str))
    number = pd.Categorical(np.arange(len(X)).astype(str))
    return X.assign(noise=noise, row_number=number)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--max-rows", type=int, default=20_000)
    parser.add_argument("--sets", nargs="*", help="only these, by file name without ending")
    parser.add_argument("--all", action="store_true", help="other settings too")
    parser.add_argument("--noise", action="store_true", help="with columns of noise too")
    options = parser.parse_args()
    sets = {
        name: (with_categories(X), y)
        for name, (X, y) in load_all(options.folder, options.max_rows, options.sets).items()
    }
    print(f"{'':28}" + "".join(f"{name[:8]:>9}" for name in sets) + f"{'mean':>9}  s")

    def show(label, of_set):
        start = process_time()
        aucs = [of_set(X, y) for X, y in sets.values()]
        cells = "".join(f"{auc:9.4f}" for auc in aucs)
        taken = process_time() - start
        print(f"{label:28}{cells}{np.mean(aucs):9.4f}  {taken:.0f}", flush=True)
        return aucs

    found = {}
    for label, setting in (SETTINGS | (MORE_SETTINGS if options.all else {})).items():

        def make(setting=setting):
            return GradientBoostingRanker(**(BASE | setting), random_state=0, n_jobs=2)

        found[label] = show(label, lambda X, y, make=make: mean_auc_of_scores(make, X, y))
        if options.noise:
            show("  with noise", lambda X, y, make=make: mean_auc_of_scores(make, with_noise(X), y))
    for name, rival in RIVALS.items():
        if importlib.util.find_spec(name) is not None:
            show(name, lambda X, y, n=name, rival=rival: mean_auc(rival, prepared(n, X), y))
    chosen = chosen_by_others(np.transpose(list(found.values())))
    cells = "".join(f"{auc:9.4f}" for auc in chosen)
    print(f"{'chosen by the other sets':28}{cells}{np.mean(chosen):9.4f}")


if __name__ == "__main__":
    main()
