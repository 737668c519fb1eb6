"""MartiRank: a fit counted in passes over the binned rows, its memory, and scoring.

    python -m benches.speed.bench_marti [--rows 100000] [--features 20] [--rounds 10] [--runs 5]

A fit of T rounds takes T + 1 passes over the binned rows: one for each layer, in which rows step on
from the layer before and all nodes of the layer sum their bins at once, and one for the last step
(the tests of the core count them). To say what that is worth in time, the layers after the first
are held against one round of AUCBoost, which is a pass over the same rows for a single set of
masses, and the reweighting that goes with it; both are differences of two fits in one run, so that
binning cancels out. Layer t sums t masses a row.

Before anything is timed, the program is checked not to depend on the threads, and to rank. Peak
memory is taken in a process of its own, over that of the data alone (Linux only). Scoring is timed
on 1,000,000 rows, against as many stumps of LightGBM as the program has rankers.
"""

import argparse

import numpy as np
from aucrank import AUCBoost, MartiRank
from lightgbm import LGBMClassifier
from sklearn.metrics import roc_auc_score

from benches.common.memory import peak_bytes, run_again
from benches.common.options import make_parser
from benches.common.timing import least_seconds


def make_data(n_rows, n_features):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_rows, n_features))
    noise = rng.normal(size=n_rows)
    return X, X[:, 0] + X[:, 1] * X[:, 2] + 0.5 * X[:, 3] + noise > 1


def measure_memory(n_rows, n_features, model):
    """Print by how much a fit raises the peak memory of this process."""
    model.fit(*make_data(1000, n_features))
    X, y = make_data(n_rows, n_features)
    print(peak_bytes(lambda: model.fit(X, y))[0])


def main():
    parser = make_parser(__doc__, rows=100_000, features=20, rounds=10, threads=1, runs=5)
    parser.add_argument("--memory", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    size = (options.rows, options.features)

    def marti(n_rounds, n_threads=options.threads):
        return MartiRank(n_rounds=n_rounds, n_jobs=n_threads)

    if options.memory:
        measure_memory(*size, marti(options.rounds))
        return

    X, y = make_data(*size)
    model, other = (marti(options.rounds, n_threads).fit(X, y) for n_threads in (1, 2))
    fresh, classes = make_data(1_000_000, options.features)
    scores = model.decision_function(fresh)
    assert np.array_equal(other.decision_function(fresh), scores), "the number of threads matters"
    auc = roc_auc_score(classes, scores)
    assert auc > 0.7, "the program does not rank"
    print(
        f"{size[0]} x {size[1]}, {options.rounds} rounds, {options.threads} threads: AUC {auc:.4f}"
    )

    many = 40
    fits = {
        "all layers": lambda: marti(options.rounds).fit(X, y),
        "first layer": lambda: marti(1).fit(X, y),
        "many rounds": lambda: AUCBoost(n_rounds=many + 1, n_jobs=options.threads).fit(X, y),
        "one round": lambda: AUCBoost(n_rounds=1, n_jobs=options.threads).fit(X, y),
    }
    fit, first, boosted, one = least_seconds(fits, options.runs).values()
    a_pass, layers = (boosted - one) / many, fit - first
    n_masses = options.rounds * (options.rounds + 1) // 2 - 1
    print(f"fit {fit:.3f} s, of which binning and the first layer {first:.3f} s")
    print(
        f"passes over the binned rows: {options.rounds + 1}; the other {options.rounds - 1} layers"
        f" take {layers:.3f} s, as long as {layers / a_pass:.1f} rounds of AUCBoost"
        f" ({a_pass:.4f} s), and sum {n_masses} masses a row, where a round sums one"
    )

    sizes = ("rows", "features", "rounds", "threads")
    raised = int(run_again("--memory", options=options, names=sizes))
    print(
        f"memory of a fit: {raised / 1e6:.1f} MB, {raised / size[0]:.1f} bytes a row, of which the"
        f" binned row takes {size[1]}"
    )

    n_rankers = options.rounds * (options.rounds + 1) // 2
    stumps = LGBMClassifier(
        n_estimators=n_rankers, num_leaves=2, n_jobs=options.threads, verbose=-1
    ).fit(X, y)
    scores = {
        "MartiRank": lambda: model.decision_function(fresh),
        "stumps": lambda: stumps.booster_.predict(fresh, num_threads=options.threads),
    }
    score, by_stumps = least_seconds(scores, options.runs).values()
    print(
        f"scoring 1,000,000 rows: {score:.3f} s; {n_rankers} stumps of LightGBM {by_stumps:.3f} s,"
        f" ratio {score / by_stumps:.2f}"
    )


if __name__ == "__main__":
    main()
