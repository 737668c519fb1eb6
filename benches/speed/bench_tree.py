"""One TreeRank tree against one tree of LightGBM: time of a fit and peak memory, in one run.

    python -m benches.speed.bench_tree [--rows 1000000] [--features 20] [--runs 5] [--json FILE]

TreeRank: orthogonal splits, depth 8, no pruning, from a float64 matrix, binning included. LightGBM:
`train` for one round of at most 255 leaves, its `Dataset` included. Both with the same number of
threads, in turn; the ratio is that of the medians. Before it times anything it checks that the tree
does not depend on the number of threads, and that its AUC is that of its scores. Peak memory is
taken in processes of their own, over that of the data alone.
"""

import argparse
import json
from functools import partial

import numpy as np
from aucrank import TreeRank
from sklearn.metrics import roc_auc_score

from benches.common.data import make_data
from benches.common.memory import peak_bytes, run_again
from benches.common.options import make_parser
from benches.common.timing import times_in_turn

SIZES = ("rows", "features", "threads")


def fit_treerank(X, y, n_threads):
    settings = {"split": "orthogonal", "max_depth": 8, "pruning": None, "random_state": 0}
    return TreeRank(**settings, n_jobs=n_threads).fit(X, y)


def fit_lightgbm(X, y, n_threads):
    import lightgbm

    params = {"objective": "binary", "num_leaves": 255, "num_threads": n_threads, "verbose": -1}
    return lightgbm.train(params, lightgbm.Dataset(X, y), num_boost_round=1)


FITS = {"TreeRank": fit_treerank, "LightGBM": fit_lightgbm}


def measure_memory(name, n_rows, n_features, n_threads):
    """Print by how much one fit raises the peak memory of this process (Linux only)."""
    FITS[name](*make_data(1000, n_features), n_threads)
    X, y = make_data(n_rows, n_features)
    print(peak_bytes(lambda: FITS[name](X, y, n_threads))[0])


def main():
    parser = make_parser(__doc__, rows=1_000_000, features=20, threads=2, runs=5)
    parser.add_argument("--memory-of", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.memory_of:
        measure_memory(options.memory_of, options.rows, options.features, options.threads)
        return

    X, y = make_data(options.rows, options.features)
    one, two = fit_treerank(X, y, 1), fit_treerank(X, y, 2)
    scores = one.decision_function(X)
    assert np.array_equal(scores, two.decision_function(X))
    assert abs(roc_auc_score(y, scores) - one.tree_.auc) < 1e-12

    fits = {name: partial(fit, X, y, options.threads) for name, fit in FITS.items()}
    times = times_in_turn(fits, options.runs)
    result = {size: getattr(options, size) for size in SIZES}
    for name in FITS:
        memory = int(run_again("--memory-of", name, options=options, names=SIZES))
        bytes_a_value = memory / (options.rows * options.features)
        median = float(np.median(times[name]))
        result[name] = {"seconds": median, "bytes_a_value": bytes_a_value, "runs": times[name]}
        print(
            f"{name:10} median {median:.3f} s (from {min(times[name]):.3f} to"
            f" {max(times[name]):.3f}), peak {bytes_a_value:.2f} bytes a value beyond the data"
        )
    result["ratio"] = result["LightGBM"]["seconds"] / result["TreeRank"]["seconds"]
    print(f"TreeRank is {result['ratio']:.2f} times faster")
    if options.json:
        options.json.write_text(json.dumps(result, indent=1))


if __name__ == "__main__":
    main()
