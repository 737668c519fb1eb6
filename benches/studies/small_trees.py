"""Which trees of few leaves rank best: AUC of TreeRank and CART on real data sets.

    python -m benches.studies.small_trees DATA_FOLDER [--max-rows 5000] [--folds 3]
        [--sizes 8 16 30]

DATA_FOLDER holds Parquet files with columns and a 0/1 column `target`. A tree of TreeRank with more
leaves than a size is cut to the best of its subtrees of that size, or grown with `max_leaves`. One
line per setting: the mean AUC over the sets at each size and of the tree as it was grown, and its
number of leaves; of the first folds of five.
"""

import argparse
from pathlib import Path

import numpy as np
import pandas as pd
from aucrank import TreeRank
from aucrank.tree import LeafRank
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import StratifiedKFold
from sklearn.tree import DecisionTreeClassifier

from benches.common.data import load_all
from benches.common.rivals import of_columns, score_of
from benches.studies.gradient_boosting import with_categories

WHOLE = {"pruning": None, "max_depth": 40}
SETTINGS = {
    "TreeRank()": {},
    "leaf 10": {"min_samples_leaf": 10},
    "leaf 20, depth 40": {"min_samples_leaf": 20, "max_depth": 40},
    "pruning by penalty": {"pruning": "penalty"},
    **{
        f"not pruned, leaf {size}": WHOLE | {"min_samples_leaf": size}
        for size in (1, 5, 10, 20, 40)
    },
    **{
        f"not pruned, leaf 20, depth {depth}": {
            "pruning": None,
            "max_depth": depth,
            "min_samples_leaf": 20,
        }
        for depth in (3, 4, 5, 6)
    },
    "not pruned, leaf 5, tree order": WHOLE | {"min_samples_leaf": 5, "leaf_order": "tree"},
    "not pruned, LeafRank 2, leaf 20": WHOLE
    | {"min_samples_leaf": 20, "split": LeafRank(max_depth=2, min_samples_leaf=20)},
    "not pruned, LeafRank 3, leaf 20": WHOLE
    | {"min_samples_leaf": 20, "split": LeafRank(max_depth=3, min_samples_leaf=20)},
}
#: Grown to each size, the leaf of the largest gain first.
GROWN_TO_SIZE = {
    f"max_leaves, {name}, leaf {least}": setting | {"min_samples_leaf": least}
    for name, setting in {"not pruned": WHOLE, "pruned": {"max_depth": 40}}.items()
    for least in (5, 10, 20)
}


def scores_of(tree, X):
    """Return the place of each row in the ranking of the leaves, higher first."""
    strata = tree.strata
    place = pd.Series(-np.asarray(strata["rank"], dtype=float), index=strata["node"])
    return place.loc[tree.apply(X)].to_numpy()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--max-rows", type=int, default=5000)
    parser.add_argument("--folds", type=int, default=3, choices=range(1, 6))
    parser.add_argument("--sizes", type=int, nargs="+", default=[8, 16, 30])
    options = parser.parse_args()
    found = []
    for name, (X, y) in load_all(options.folder, options.max_rows).items():
        columns = with_categories(X)
        splits = StratifiedKFold(5, shuffle=True, random_state=1).split(columns, y)
        for train, test in list(splits)[: options.folds]:
            X, X_new = columns.iloc[train], columns.iloc[test]

            def note(label, size, score, n_leaves, name=name, y_new=y[test]):
                found.append((label, name, size, roc_auc_score(y_new, score), n_leaves))

            for label, setting in SETTINGS.items():
                tree = TreeRank(**setting, random_state=0, n_jobs=1).fit(X, y[train]).tree_
                note(label, "any", scores_of(tree, X_new), tree.n_leaves)
                for size in options.sizes:
                    small = tree.best_subtree(size) if tree.n_leaves > size else tree
                    note(label, size, scores_of(small, X_new), small.n_leaves)
            for label, setting in GROWN_TO_SIZE.items():
                for size in options.sizes:
                    small = TreeRank(**setting, max_leaves=size, random_state=0, n_jobs=1)
                    small = small.fit(X, y[train]).tree_
                    note(label, size, scores_of(small, X_new), small.n_leaves)
            for least in (1, 5, 20):
                for size in options.sizes:
                    cart = DecisionTreeClassifier(
                        max_leaf_nodes=size, min_samples_leaf=least, random_state=0
                    )
                    model = of_columns(cart).fit(X, y[train])
                    note(f"CART, leaf {least}", size, score_of(model, X_new), cart.max_leaf_nodes)
    table = pd.DataFrame(found, columns=["setting", "set", "size", "auc", "leaves"])
    aucs = table.pivot_table(index="setting", columns="size", values="auc", sort=False)
    leaves = table[table["size"] == "any"].groupby("setting")["leaves"].mean()
    print(aucs.assign(leaves=leaves).round(4).to_string())


if __name__ == "__main__":
    main()
