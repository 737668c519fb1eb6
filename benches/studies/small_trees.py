"""Which trees of few leaves rank best: AUC of TreeRank, CART and FIGS on real data sets.

    python -m benches.studies.small_trees FOLDER [FOLDER ...] [--max-rows 5000] [--folds 3]
        [--sets german pima] [--sizes 8 16 30] [--settings "TreeRank()" FIGS]
        [--results small_trees.csv]

Each FOLDER holds Parquet files with columns and a 0/1 column `target`. A tree of TreeRank with more
leaves than a size is cut to the best of its subtrees of that size, or grown or searched with
`max_leaves`.
"shrunk" trees rank their leaves by rates that are shrunk from the root down: the step to a node is
divided by 1 + penalty / rows of its parent (hierarchical shrinkage, Agarwal and others, 2022), with
the penalty that is best in five folds of the training rows. FIGS, sums of trees (Tan and others,
2022), and shrunk trees of CART are those of the package `imodels`; where it is not installed, they
are left out.

Every fold of a set, setting and size is a row of the results, written as soon as it is known: a
run that is broken off goes on where it was. The table has for each setting the mean AUC over the
sets at each size and of the tree as it was grown, of all sets and of each folder, and its number of
leaves; then what shrinking and a search gain at each size, in points with its standard error over
the sets and its median. Folds are the first of five.
"""

import argparse
import csv
import importlib.util
from pathlib import Path

import numpy as np
import pandas as pd
from aucrank import TreeRank
from aucrank.tree import LeafRank
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import StratifiedKFold
from sklearn.tree import DecisionTreeClassifier

from benches.common.data import load_batches
from benches.common.over_sets import gains_of_batches
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
#: Those that are shrunk, too.
SHRINKABLE = ("TreeRank()", "leaf 10", "not pruned, leaf 5", "not pruned, leaf 20")
SHRUNK = ", shrunk"
PENALTIES = (0, 1, 3, 10, 25, 50, 100, 250)
#: Grown to each size, the leaf of the largest gain first.
GROWN_TO_SIZE = {
    f"max_leaves, {name}, leaf {least}": setting | {"min_samples_leaf": least}
    for name, setting in {"not pruned": WHOLE, "pruned": {"max_depth": 40}}.items()
    for least in (5, 10, 20)
} | {
    "max_leaves": {},
    "searched": {"search": "lookahead"},
    "searched, not pruned": {"search": "lookahead", "pruning": None},
}
#: What others are compared with.
COMPARED_WITH = dict.fromkeys(("searched", "searched, not pruned", "CART, leaf 20"), "max_leaves")
#: In place of a size, for the tree as it was grown.
ANY = "any"


def cart(least):
    """Return a maker of trees of CART of a size with leaves of so many rows."""
    return lambda size: of_columns(
        DecisionTreeClassifier(max_leaf_nodes=size, min_samples_leaf=least, random_state=0)
    )


def shrunk_cart(size):
    """Return trees of CART whose rates are shrunk."""
    from imodels import HSTreeClassifierCV

    tree = DecisionTreeClassifier(max_leaf_nodes=size, random_state=0)
    return of_columns(HSTreeClassifierCV(tree, cv=5))


def figs(size):
    """Return a sum of trees of so many leaves, if it were one tree."""
    from imodels import FIGSClassifier

    return of_columns(FIGSClassifier(max_rules=size - 1, random_state=0))


RIVALS = {f"CART, leaf {least}": cart(least) for least in (1, 5, 20)}
if importlib.util.find_spec("imodels"):
    RIVALS |= {"CART, leaf 1, shrunk": shrunk_cart, "FIGS": figs}


def grown(setting, X, y):
    """Return a fitted tree."""
    return TreeRank(**setting, random_state=0, n_jobs=1).fit(X, y).tree_


def cut(tree, size):
    """Return the best subtree of a size, or the tree where it is no larger."""
    return tree if size == ANY or tree.n_leaves <= size else tree.best_subtree(size)


def scores_of(tree, X):
    """Return the place of each row in the ranking of the leaves, higher first."""
    strata = tree.strata
    place = pd.Series(-np.asarray(strata["rank"], dtype=float), index=strata["node"])
    return place.loc[tree.apply(X)].to_numpy()


def shrunk_rates(tree, penalty):
    """Return the rate of positives of each node, shrunk from the root down."""
    nodes = tree.nodes
    parent, size, rate = nodes["parent"], nodes["size"], np.array(nodes["eta"])
    shrunk = rate.copy()
    # A node comes after its parent.
    for node in range(1, len(rate)):
        above = parent[node]
        step = (rate[node] - rate[above]) / (1 + penalty / size[above])
        shrunk[node] = shrunk[above] + step
    return shrunk


def aucs_of_penalties(tree, X, y):
    """Return the AUC of a tree shrunk by each penalty."""
    leaves = tree.apply(X)
    return [roc_auc_score(y, shrunk_rates(tree, penalty)[leaves]) for penalty in PENALTIES]


def best_penalties(setting, X, y, sizes):
    """Return for each size the place of the penalty that is best in five folds."""
    aucs = dict.fromkeys(sizes, 0.0)
    for train, test in StratifiedKFold(5, shuffle=True, random_state=7).split(X, y):
        tree = grown(setting, X.iloc[train], y[train])
        for size in sizes:
            found = aucs_of_penalties(cut(tree, size), X.iloc[test], y[test])
            aucs[size] = aucs[size] + np.array(found)
    return {size: int(np.argmax(of_size)) for size, of_size in aucs.items()}


def results_of(label, sizes, X, y, X_new, y_new):
    """Yield the label, size, AUC and number of leaves of a setting, and of it shrunk."""
    if label in SETTINGS:
        tree = grown(SETTINGS[label], X, y)
        sizes = [*sizes, ANY]
        for size in sizes:
            small = cut(tree, size)
            yield label, size, roc_auc_score(y_new, scores_of(small, X_new)), small.n_leaves
        if label in SHRINKABLE:
            best = best_penalties(SETTINGS[label], X, y, sizes)
            for size in sizes:
                small = cut(tree, size)
                auc = aucs_of_penalties(small, X_new, y_new)[best[size]]
                yield label + SHRUNK, size, auc, small.n_leaves
        return
    # Trees of CART are shrunk by folds of the rows as they lie.
    order = np.random.default_rng(0).permutation(len(y))
    X, y = X.iloc[order], y[order]
    for size in sizes:
        if label in GROWN_TO_SIZE:
            tree = grown(GROWN_TO_SIZE[label] | {"max_leaves": size}, X, y)
            yield label, size, roc_auc_score(y_new, scores_of(tree, X_new)), tree.n_leaves
        else:
            model = RIVALS[label](size).fit(X, y)
            yield label, size, roc_auc_score(y_new, score_of(model, X_new)), size


def measure(sets, options):
    """Fit what is not in the results yet, and return them all."""
    results, keys = options.results, ["set", "fold", "setting", "size"]
    done = pd.read_csv(results, dtype={"size": str}) if results.exists() else pd.DataFrame()
    known = {tuple(key) for key in done[keys].itertuples(index=False)} if len(done) else set()
    last = str(options.sizes[-1])
    with results.open("a", newline="") as file:
        writer = csv.writer(file)
        if not known:
            writer.writerow([*keys, "auc", "leaves"])
        for name, (X, y) in sets.items():
            splits = StratifiedKFold(5, shuffle=True, random_state=1).split(X, y)
            for fold, (train, test) in list(enumerate(splits))[: options.folds]:
                rows = X.iloc[train], y[train], X.iloc[test], y[test]
                for label in options.settings:
                    if (name, fold, label, last) in known:
                        continue
                    found = list(results_of(label, options.sizes, *rows))
                    writer.writerows([name, fold, *result] for result in found)
                    file.flush()
    return pd.read_csv(results, dtype={"size": str})


def report(found, sizes, batch_of):
    """Print the table, and what shrinking gains."""
    aucs = found.pivot_table(index="set", columns=["setting", "size"], values="auc", sort=False)
    aucs = aucs.dropna()
    leaves = found[found["size"] == ANY].groupby("setting")["leaves"].mean()
    parts = {"all": aucs} | dict(list(aucs.groupby(batch_of)))
    for batch, of_batch in parts.items():
        table = of_batch.mean().unstack("size").reindex(columns=sizes)
        print(f"{batch}, {len(of_batch)} sets")
        print(table.assign(leaves=leaves).round(4).to_string())
    for label, size in aucs:
        plain = COMPARED_WITH.get(label, label.removesuffix(SHRUNK))
        if plain != label and (plain, size) in aucs:
            gain = gains_of_batches(aucs[label, size], aucs[plain, size], batch_of)
            print(f"{label}, {size} leaves: {gain} points")


def main():
    """Measure, then print."""
    labels = [*SETTINGS, *GROWN_TO_SIZE, *RIVALS]
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folders", type=Path, nargs="+")
    parser.add_argument("--max-rows", type=int, default=5000)
    parser.add_argument("--folds", type=int, default=3, choices=range(1, 6))
    parser.add_argument("--sets", nargs="+", help="only these, by file name without ending")
    parser.add_argument("--sizes", type=int, nargs="+", default=[8, 16, 30])
    parser.add_argument("--settings", nargs="+", choices=labels, default=labels)
    parser.add_argument("--results", type=Path, default=Path("small_trees.csv"))
    options = parser.parse_args()
    sets, batch_of = load_batches(options.folders, options.max_rows, options.sets)
    sets = {name: (with_categories(X), y) for name, (X, y) in sets.items()}
    found = measure(sets, options)
    wanted = [label + end for label in options.settings for end in ("", SHRUNK)]
    found = found[found["set"].isin(sets) & found["setting"].isin(wanted)]
    report(found, [*map(str, options.sizes), ANY], batch_of)


if __name__ == "__main__":
    main()
