"""What smaller exports lose: boosters cut off after their first trees, and `aucrank.compress`.

    python -m benches.studies.compression DATA_FOLDER [--n-train 12000] [--only NAME,NAME]

DATA_FOLDER holds Parquet files with columns and a 0/1 column `target`. The model is fitted to the
first rows of a shuffled set, at most two thirds of it, and others measure the loss: in points of
AUC, with the 95 % interval of the paired difference. One line for each way and size: `first`, the
first trees of the booster; `labels`, a smaller booster fitted to the labels; `compress`.
"""

import argparse
import json
from pathlib import Path

from aucrank import GradientBoostingRanker, RankingEnsemble, compress
from aucrank._export.formula import parse, trees_of
from aucrank.metrics import auc_compare

from benches.common.data import load_all

SIZES = (25, 50, 100, 200, 400)
SHARES = (16, 8, 4, 2)
MOST_TEST = 20_000


def n_nodes(model):
    return sum(len(tree.nodes) for tree in trees_of(parse(json.loads(model._formula()))))


def show(name, way, nodes, y, large, small):
    found = auc_compare(y, large, small)
    loss, low, high = (100 * value for value in (found.difference, found.low, found.high))
    ends = f"({low:+.2f}, {high:+.2f})"
    print(f"{name:16} {way:14} {nodes:9,} nodes  {loss:+.2f} {ends}", flush=True)


def study(name, X, y, n_train, of):
    order = X.sample(frac=1, random_state=0).index
    X, y = X.loc[order].reset_index(drop=True), y[order]
    n_train = min(n_train, 2 * len(y) // 3)
    X_test, y_test = X[n_train : n_train + MOST_TEST], y[n_train : n_train + MOST_TEST]
    X, y = X[:n_train], y[:n_train]
    model = of(random_state=0).fit(X, y)
    scores = model.decision_function(X_test)
    show(name, "whole", n_nodes(model), y_test, scores, scores)
    if of is GradientBoostingRanker:
        leaves = model.rounds_["n_leaves"]
        kept = {model.n_iter_ // share: share for share in SHARES}
        for n_rounds, first in enumerate(model.staged_decision_function(X_test), start=1):
            if n_rounds in kept:
                nodes = int((2 * leaves[:n_rounds] - 1).sum())
                show(name, f"first 1/{kept[n_rounds]}", nodes, y_test, scores, first)
    for size in SIZES:
        few = {"n_rounds": size, "max_leaves": 32, "early_stopping": False}
        plain = GradientBoostingRanker(**few, random_state=0).fit(X, y)
        of_plain = plain.decision_function(X_test)
        show(name, f"labels {size}", n_nodes(plain), y_test, scores, of_plain)
        small = compress(model, X, n_trees=size, random_state=0, X_test=X_test).ranker
        of_small = small.decision_function(X_test)
        show(name, f"compress {size}", n_nodes(small), y_test, scores, of_small)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--n-train", type=int, default=12_000)
    parser.add_argument("--max-rows", type=int, default=40_000)
    parser.add_argument("--only", help="names of sets, with commas")
    parser.add_argument("--ensemble", action="store_true", help="a default RankingEnsemble")
    args = parser.parse_args()
    names = None if args.only is None else args.only.split(",")
    of = RankingEnsemble if args.ensemble else GradientBoostingRanker
    for name, (X, y) in load_all(args.folder, args.max_rows, names).items():
        study(name, X, y, args.n_train, of)


if __name__ == "__main__":
    main()
