"""RankingForest beside scikit-learn's RandomForestClassifier: fits, scores and peak memory.

    python benches/bench_forest.py [--rows 100000] [--features 20] [--runs 3] [--json FILE]

100 trees of depth 10 with sqrt(features) drawn for each split, orthogonal splits, both with the
same number of threads, in turn; ratios are those of the medians. Scores are of one million rows.
Before anything is timed, the forest is checked not to depend on the number of threads. Peak memory
of the fit is taken in a process of its own, over that of the data alone, and compared with the
binned matrix, one byte a value.
"""

import argparse
import json
import subprocess
import sys
from pathlib import Path
from time import perf_counter

import numpy as np
from aucrank import RankingForest
from bench_tree import make_data
from peak_memory import peak_bytes, status_bytes
from sklearn.ensemble import RandomForestClassifier
from sklearn.metrics import roc_auc_score

SETTINGS = {"n_estimators": 100, "max_depth": 10, "max_features": "sqrt", "random_state": 0}
SCORED_ROWS = 1_000_000


def make_forest(n_threads):
    return RankingForest(**SETTINGS, n_jobs=n_threads)


def seconds(work, *args):
    start = perf_counter()
    result = work(*args)
    return perf_counter() - start, result


def measure_memory(n_rows, n_features, n_threads):
    """Print by how much a fit raises the peak memory, and what the forest takes (Linux only)."""
    make_forest(n_threads).fit(*make_data(1000, n_features))
    X, y = make_data(n_rows, n_features)
    before = status_bytes("VmRSS")
    peak, forest = peak_bytes(lambda: make_forest(n_threads).fit(X, y))
    after = status_bytes("VmRSS") - before
    print(peak, after, forest.feature_importances_.size)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--features", type=int, default=20)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--memory", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.memory:
        measure_memory(options.rows, options.features, options.threads)
        return

    X, y = make_data(min(options.rows, 20_000), options.features)
    one, two = (make_forest(n_threads).fit(X, y) for n_threads in (1, 2))
    assert np.array_equal(one.decision_function(X), two.decision_function(X))

    X, y = make_data(options.rows, options.features)
    rng = np.random.default_rng(1)
    test = rng.normal(size=(SCORED_ROWS, options.features))
    test_y = test[:, 0] + test[:, 1] * test[:, 2] + rng.normal(size=SCORED_ROWS) > 1
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
    command = [sys.executable, __file__, "--memory"]
    for option in ("rows", "features", "threads"):
        command += [f"--{option}", str(getattr(options, option))]
    memory = subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()
    binned = options.rows * options.features
    peak, left = (int(size) / binned for size in memory[:2])

    result = {"rows": options.rows, "features": options.features, "threads": options.threads}
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
