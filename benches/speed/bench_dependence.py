"""Partial dependence of trees and a forest, ours over scikit-learn's brute force, in one run.

    python -m benches.speed.bench_dependence [--rows 10000] [--features 10] [--runs 5]

`partial_dependence` of `TreeRank` and `RankingForest` (100 trees) against
`sklearn.inspection.partial_dependence` of the same model on the same grid: 100 points of one
feature, 20 x 20 points of two. Both average `decision_function`, in turn; the ratio is that of the
medians. Before it times anything it checks that both find the same.
"""

from functools import partial

import numpy as np
from aucrank import RankingForest, TreeRank
from sklearn.inspection import partial_dependence

from benches.common.data import make_data
from benches.common.options import make_parser
from benches.common.timing import median_seconds


def ours(model, X, features, resolution):
    return model.partial_dependence(X, features, grid_resolution=resolution, kind="score").average


def brute(model, X, features, resolution):
    response = {"response_method": "decision_function", "method": "brute"}
    found = partial_dependence(model, X, features, grid_resolution=resolution, **response)
    return found["average"]


def main():
    parser = make_parser(__doc__, rows=10_000, features=10, threads=2, runs=5)
    options = parser.parse_args()

    X, y = make_data(options.rows, options.features)
    settings = {"random_state": 0, "n_jobs": options.threads}
    models = {
        "orthogonal": TreeRank(split="orthogonal", pruning=None, **settings),
        "leafrank": TreeRank(split="leafrank", pruning=None, **settings),
        "forest": RankingForest(min_samples_leaf=3, **settings),
        "forest, depth 6": RankingForest(max_depth=6, min_samples_leaf=3, **settings),
    }
    for name, model in models.items():
        model.fit(X, y)
        trees = getattr(model, "estimators_", None) or [model.tree_]
        n_leaves = sum(tree.n_leaves for tree in trees)
        for features, resolution in (([1], 100), ([1, 2], 20)):
            args = (model, X, features, resolution)
            assert np.allclose(ours(*args), brute(*args), rtol=0, atol=1e-12)
            works = {function: partial(function, *args) for function in (ours, brute)}
            medians = median_seconds(works, options.runs)
            print(
                f"{name:15} {n_leaves} leaves, {resolution ** len(features)} points:"
                f" ours {1000 * medians[ours]:.1f} ms, brute force {1000 * medians[brute]:.1f} ms,"
                f" {medians[brute] / medians[ours]:.1f} times faster"
            )


if __name__ == "__main__":
    main()
