"""A LeafRank tree with 10-fold pruning against a LightGBM model of 100 rounds: time of a fit.

    python -m benches.speed.bench_pruning [--rows 50000] [--features 10] [--runs 5]

The papers' tree: TreeRank(split="leafrank") with its default cross-validated pruning, from a
float64 matrix. LightGBM: LGBMClassifier(n_estimators=100). Both with the same number of threads, in
turn; the ratio is that of the medians.
"""

from functools import partial

from aucrank import TreeRank
from lightgbm import LGBMClassifier

from benches.common.data import make_data
from benches.common.options import make_parser
from benches.common.timing import median_seconds


def main():
    options = make_parser(__doc__, rows=50_000, features=10, threads=2, runs=5).parse_args()
    X, y = make_data(options.rows, options.features)
    settings = {"random_state": 0, "n_jobs": options.threads}
    models = {
        "LightGBM, 100 rounds": LGBMClassifier(n_estimators=100, verbose=-1, **settings),
        "LeafRank, 10 folds": TreeRank(split="leafrank", **settings),
        "stumps, 10 folds": TreeRank(**settings),
        "stumps, penalty": TreeRank(pruning="penalty", **settings),
    }
    fits = {name: partial(model.fit, X, y) for name, model in models.items()}
    medians = median_seconds(fits, options.runs)
    base = medians["LightGBM, 100 rounds"]
    for name, median in medians.items():
        print(f"{name:22} {median:7.3f} s, {median / base:5.2f} times LightGBM")


if __name__ == "__main__":
    main()
