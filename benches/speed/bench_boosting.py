"""AUCBoost and RankBoost against LightGBM's stumps: fits, scores and peak memory.

    python -m benches.speed.bench_boosting [--rows 100000] [--features 20] [--runs 3] [--json FILE]

200 rounds each, LightGBM with num_leaves=2, all with the same number of threads, in turn; ratios
are those of the medians. Scores are of one million rows. Before anything is timed, the models are
checked not to depend on the number of threads, and to be sums of their stages. Peak memory of the
fit is taken in a process of its own, over that of the data alone, and compared with the binned
matrix, one byte a value.
"""

import argparse
import json

import numpy as np
from aucrank import AUCBoost, RankBoost
from sklearn.metrics import roc_auc_score

from benches.common.data import make_data
from benches.common.memory import peak_bytes, run_again
from benches.common.options import make_parser
from benches.common.rivals import lightgbm
from benches.common.timing import seconds

N_ROUNDS = 200
SCORED_ROWS = 1_000_000
SIZES = ("rows", "features", "threads")
OURS = {"AUCBoost": AUCBoost, "RankBoost": RankBoost}
PEER = "LightGBM"


def make_model(name, n_threads):
    if name == PEER:
        return lightgbm(n_threads).set_params(n_estimators=N_ROUNDS, num_leaves=2)
    return OURS[name](n_rounds=N_ROUNDS, n_jobs=n_threads)


def score(name, model, X):
    return model.predict_proba(X)[:, 1] if name == PEER else model.decision_function(X)


def check(n_features):
    """Assert what must hold of any fit."""
    X, y = make_data(20_000, n_features)
    for name in OURS:
        one, two = (make_model(name, n_threads).fit(X, y) for n_threads in (1, 2))
        assert np.array_equal(one.decision_function(X), two.decision_function(X))
        *_, last = one.staged_decision_function(X)
        assert np.array_equal(last, one.decision_function(X))


def measure_memory(name, n_rows, n_features, n_threads):
    """Print by how much a fit raises the peak memory (Linux only)."""
    make_model(name, n_threads).fit(*make_data(1000, n_features))
    X, y = make_data(n_rows, n_features)
    print(peak_bytes(lambda: make_model(name, n_threads).fit(X, y))[0])


def main():
    parser = make_parser(__doc__, rows=100_000, features=20, threads=2, runs=3)
    parser.add_argument("--memory", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.memory:
        measure_memory(options.memory, options.rows, options.features, options.threads)
        return

    check(options.features)
    X, y = make_data(options.rows, options.features)
    test, test_y = make_data(SCORED_ROWS, options.features, seed=1)
    names = [*OURS, PEER]
    fits, scores = ({name: [] for name in names} for _ in range(2))
    aucs = {}
    for _ in range(options.runs):
        for name in names:
            took, model = seconds(make_model(name, options.threads).fit, X, y)
            fits[name].append(took)
            took, found = seconds(score, name, model, test)
            scores[name].append(took)
            aucs[name] = roc_auc_score(test_y, found)
            assert aucs[name] > 0.5

    results = {size: getattr(options, size) for size in SIZES}
    for name in names:
        fit, scored = (float(np.median(times[name])) for times in (fits, scores))
        fit_ratio, score_ratio = (
            value / float(np.median(times[PEER]))
            for value, times in ((fit, fits), (scored, scores))
        )
        results[name] = {"fit": fit, "score": scored, "auc": aucs[name]}
        print(
            f"{name:10} fit {fit:.2f} s ({fit_ratio:.2f} x {PEER}), score of {SCORED_ROWS:,} rows"
            f" {scored:.2f} s ({score_ratio:.2f} x), test AUC {aucs[name]:.4f}"
        )
    n_bytes = options.rows * options.features
    for name in OURS:
        peak = int(run_again("--memory", name, options=options, names=SIZES))
        results[name]["peak_bytes"] = peak
        print(f"{name:10} peak memory {peak / 2**20:.0f} MiB, {peak / n_bytes:.1f} x binned data")
    if options.json:
        options.json.write_text(json.dumps(results, indent=2) + "\n")


if __name__ == "__main__":
    main()
