"""Which defaults a single TreeRank tree should have: 5-fold AUC of settings on real data sets.

    python -m benches.studies.tree_defaults DATA_FOLDER [--max-rows 20000] [--repeats 1]

DATA_FOLDER holds Parquet files with columns and a 0/1 column `target`. One line per setting: its
mean AUC on each set, the mean over the sets, and the mean number of leaves. The last line is a
scikit-learn tree whose `ccp_alpha` is chosen by 10-fold AUC, on one-hot columns.
"""

import argparse
from pathlib import Path
from time import perf_counter

import numpy as np
from aucrank import TreeRank
from aucrank.tree import LeafRank
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.tree import DecisionTreeClassifier

from benches.common.data import load_all
from benches.common.rivals import one_hot

SETTINGS = {
    "orthogonal, tree order": {"split": "orthogonal"},
    "orthogonal, tree order, leaf 5": {"split": "orthogonal", "min_samples_leaf": 5},
    "orthogonal, eta order": {"split": "orthogonal", "leaf_order": "eta"},
    "orthogonal, eta order, leaf 5": {
        "split": "orthogonal",
        "leaf_order": "eta",
        "min_samples_leaf": 5,
    },
    "orthogonal, eta order, leaf 10": {
        "split": "orthogonal",
        "leaf_order": "eta",
        "min_samples_leaf": 10,
    },
    "leafrank 2, tree order": {"split": LeafRank(max_depth=2)},
    "leafrank 3, tree order": {"split": LeafRank(max_depth=3)},
    "leafrank 3, cells of 20, tree order": {"split": LeafRank(max_depth=3, min_samples_leaf=20)},
    "leafrank 3, cells of 20, eta order": {
        "split": LeafRank(max_depth=3, min_samples_leaf=20),
        "leaf_order": "eta",
    },
}


def tuned_tree(X, y):
    """Return a scikit-learn tree with `ccp_alpha` chosen by the AUC in 10 folds."""
    to_columns = one_hot()
    tree = DecisionTreeClassifier(random_state=0)
    path = tree.cost_complexity_pruning_path(to_columns.fit_transform(X), y)
    # Quantiles of the path are enough of it for a set of many thousand leaves.
    alphas = np.unique(np.quantile(np.maximum(path.ccp_alphas, 0), np.linspace(0, 1, 40)))
    grid = {"decisiontreeclassifier__ccp_alpha": alphas}
    model = make_pipeline(to_columns, tree)
    return GridSearchCV(model, grid, scoring="roc_auc", cv=10).fit(X, y)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--sets", nargs="*", help="only these, by file name without ending")
    parser.add_argument("--max-rows", type=int, default=20_000)
    parser.add_argument("--repeats", type=int, default=1)
    parser.add_argument("--rival", action="store_true", help="the scikit-learn tree too (slow)")
    options = parser.parse_args()
    sets = load_all(options.folder, options.max_rows, options.sets)
    print(f"{'':36}" + "".join(f"{name[:8]:>9}" for name in sets) + f"{'mean':>9}{'leaves':>8}  s")
    for label, setting in SETTINGS.items():
        start, aucs, leaves = perf_counter(), [], []
        for X, y in sets.values():
            scores = []
            for repeat in range(options.repeats):
                folds = StratifiedKFold(5, shuffle=True, random_state=repeat)
                for train, test in folds.split(X, y):
                    model = TreeRank(**setting, random_state=0).fit(X.iloc[train], y[train])
                    scores.append(roc_auc_score(y[test], model.decision_function(X.iloc[test])))
                    leaves.append(model.tree_.n_leaves)
            aucs.append(np.mean(scores))
        show(label, aucs, np.mean(leaves), perf_counter() - start)
    if options.rival:
        start, aucs = perf_counter(), []
        for X, y in sets.values():
            folds = StratifiedKFold(5, shuffle=True, random_state=0)
            scores = []
            for train, test in folds.split(X, y):
                model = tuned_tree(X.iloc[train], y[train])
                scores.append(roc_auc_score(y[test], model.predict_proba(X.iloc[test])[:, 1]))
            aucs.append(np.mean(scores))
        show("scikit-learn, ccp_alpha by AUC", aucs, np.nan, perf_counter() - start)


def show(label, aucs, leaves, seconds):
    cells = "".join(f"{auc:9.4f}" for auc in aucs)
    print(f"{label:36}{cells}{np.mean(aucs):9.4f}{leaves:8.0f}  {seconds:.0f}", flush=True)


if __name__ == "__main__":
    main()
