"""RankingForest against scikit-learn's RandomForestClassifier: fits, scores and peak memory.

    python -m benches.speed.bench_forest [--rows 100000] [--features 20] [--runs 3] [--json FILE]

100 trees of depth 10 with sqrt(features) drawn for each split, orthogonal splits of three rows a
leaf, a size that is not chosen, both with the same number of threads, in turn; ratios are those of
the medians. Scores are of one million rows. Before anything is timed, the forest is checked not to
depend on the number of threads. Peak memory of the fit is taken in a process of its own, over that
of the data alone, and compared with the binned matrix, one byte a value.
"""

import argparse
import json

import numpy as np
from aucrank import RankingForest
from sklearn.ensemble import RandomForestClassifier
from sklearn.metrics import roc_auc_score

from benches.common.data import make_data
from benches.common.memory import peak_bytes, run_again, status_bytes
from benches.common.options import make_parser
from benches.common.timing import seconds

SETTINGS = {"n_estimators": 100, "max_depth": 10, "max_features": "sqrt", "random_state": 0}
SCORED_ROWS = 1_000_000
SIZES = ("rows", "features", "threads")


def make_forest(n_threads):
    return RankingForest(**SETTINGS, min_samples_leaf=3, n_jobs=n_threads)


def measure_memory(n_rows, n_features, n_threads):
    """Print by how much a fit raises the peak memory, and what the forest takes (Linux only)."""
    make_forest(n_threads).fit(*make_data(1000, n_features))
    X, y = make_data(n_rows, n_features)
    before = status_bytes("VmRSS")
    peak, forest = peak_bytes(lambda: make_forest(n_threads).fit(X, y))
    after = status_bytes("VmRSS") - before
    print(peak, after, forest.feature_importances_.size)


def main():
    parser = make_parser(__doc__, rows=100_000, features=20, threads=2, runs=3)
    parser.add_argument("--memory", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.memory:
        measure_memory(options.rows, options.features, options.threads)
        return

    X, y = make_data(min(options.rows, 20_000), options.features)
    one, two = (make_forest(n_threads).fit(X, y) for n_threads in (1, 2))
    assert np.array_equal(one.decision_function(X), two.decision_function(X))

    X, y = make_data(options.rows, options.features)
    test, test_y = make_data(SCORED_ROWS, options.features, seed=1)
    names = ("RankingForest", "RandomForestClassifier")
    fits, scores = ({name: [] for name in names} for _ in range(2))
    aucs = {}
    for _ in range(options.runs):
        for name in names:
            model = make_forest(options.threads)
            if name == "RandomForestClassifier":
                model = RandomForestClassifier(**SETTINGS, n_jobs=options.threads)
            took, model = seconds(model.fit, X, y)
            fits[name].append(took)
            took, probability = seconds(model.predict_proba, test)
            scores[name].append(took)
            aucs[name] = roc_auc_score(test_y, probability[:, 1])
    memory = run_again("--memory", options=options, names=SIZES).split()
    binned = options.rows * options.features
    peak, left = (int(size) / binned for size in memory[:2])

    result = {size: getattr(options, size) for size in SIZES}
    for name in names:
        fit, score = float(np.median(fits[name])), float(np.median(scores[name]))
        result[name] = {"fit": fit, "score": score, "auc": aucs[name]}
        print(f"{name:24} fit {fit:8.2f} s, score {score:6.2f} s, test AUC {aucs[name]:.4f}")
    for what in ("fit", "score"):
        result[f"{what}_ratio"] = result[names[1]][what] / result[names[0]][what]
        print(f"{what}: {result[f'{what}_ratio']:.1f} times faster")
    result["peak_over_binned"], result["left_over_binned"] = peak, left
    print(
        f"peak memory of the fit: {peak:.2f} times the binned matrix, {left:.2f} of it still there"
    )
    if options.json:
        options.json.write_text(json.dumps(result, indent=1))


if __name__ == "__main__":
    main()
