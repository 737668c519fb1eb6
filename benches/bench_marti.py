"""MartiRank: a fit counted in passes over the binned rows, its memory, and scoring.

    python benches/bench_marti.py [--rows 100000] [--features 20] [--rounds 10] [--runs 5]

A fit of T rounds takes T + 1 passes over the binned rows: one for each layer, in which rows step on
from the layer before and all nodes of the layer sum their bins at once, and one for the last step
(the tests of the core count them). To say what that is worth in time, the fit without binning is
divided by one round of AUCBoost, which is a pass over the same rows for a single set of masses,
and the reweighting that goes with it; both are differences of two fits in one run, so that binning
cancels out. Before anything is timed, the program is checked not to depend on the threads.
Peak memory is taken in a process of its own, over that of the data alone. Scoring is timed on
1,000,000 rows.
"""

import argparse
import json
import subprocess
import sys
from pathlib import Path
from time import perf_counter

import numpy as np
from aucrank import _core
from sklearn.metrics import roc_auc_score


def make_data(n_rows, n_features):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_rows, n_features))
    noise = rng.normal(size=n_rows)
    return X, X[:, 0] + X[:, 1] * X[:, 2] + 0.5 * X[:, 3] + noise > 1


BINNING = {"max_bins": 255, "seed": 0}


def fit_marti(X, y, n_rounds, n_threads):
    params = {
        "binning": BINNING,
        "weak_ranker": "feature",
        "n_rounds": n_rounds,
        "criterion": "sum",
        "routing": "expected",
        "score": "votes",
        "noise_rate": 0.0,
        "epsilon": None,
        "min_samples_class": 0.0,
        "sample_size": None,
        "seed": 0,
    }
    n_levels = [None] * X.shape[1]
    return _core.fit_marti_rank(X, n_levels, y, None, json.dumps(params), n_threads)


def fit_auc_boost(X, y, n_rounds, n_threads):
    from aucrank import AUCBoost

    return AUCBoost(n_rounds=n_rounds, n_jobs=n_threads).fit(X, y)


def least_seconds(n_runs, work):
    """Return the least time of several runs: what others do on the machine only adds."""
    times = []
    for _ in range(n_runs):
        start = perf_counter()
        work()
        times.append(perf_counter() - start)
    return min(times)


def status_bytes(key):
    """Return a figure of /proc/self/status, in bytes."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return 1024 * int(next(line.split()[1] for line in lines if line.startswith(f"{key}:")))


def measure_memory(n_rows, n_features, n_rounds, n_threads):
    """Print by how much a fit raises the peak memory of this process (Linux only)."""
    # What importing and a first small fit take is not the data's.
    fit_marti(*make_data(1000, n_features), n_rounds, n_threads)
    X, y = make_data(n_rows, n_features)
    Path("/proc/self/clear_refs").write_text("5")
    before = status_bytes("VmRSS")
    fit_marti(X, y, n_rounds, n_threads)
    print(status_bytes("VmHWM") - before)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--features", type=int, default=20)
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--memory", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    size = (options.rows, options.features)
    if options.memory:
        measure_memory(*size, options.rounds, options.threads)
        return

    X, y = make_data(*size)
    program = fit_marti(X, y, options.rounds, 1)
    scores = program.score(X, 1)
    auc = roc_auc_score(y, scores)
    other = fit_marti(X, y, options.rounds, 2)
    assert np.array_equal(other.score(X, 2), scores), "the number of threads matters"
    what = f"{size[0]} x {size[1]}, {options.rounds} rounds, {options.threads} threads"
    print(f"{what}: AUC {auc:.4f}")

    def seconds(fit, n_rounds):
        return least_seconds(options.runs, lambda: fit(X, y, n_rounds, options.threads))

    many = 40
    a_pass = (seconds(fit_auc_boost, many + 1) - seconds(fit_auc_boost, 1)) / many
    fit, first = seconds(fit_marti, options.rounds), seconds(fit_marti, 1)
    layers = fit - first
    print(f"fit {fit:.3f} s, of which binning and the first layer {first:.3f} s")
    print(
        f"passes over the binned rows: {options.rounds + 1}; the other {options.rounds - 1} layers "
        f"take {layers:.3f} s, as long as {layers / a_pass:.1f} rounds of AUCBoost ({a_pass:.4f} s)"
    )

    command = [sys.executable, __file__, "--memory"]
    for name in ("rows", "features", "rounds", "threads"):
        command += [f"--{name}", str(getattr(options, name))]
    raised = int(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    binned = size[0] * size[1]
    print(f"memory of a fit: {raised / 1e6:.1f} MB; binned rows {binned / 1e6:.1f} MB")

    X, _ = make_data(1_000_000, options.features)
    score = least_seconds(options.runs, lambda: program.score(X, options.threads))
    print(f"scoring 1,000,000 rows: {score:.3f} s")


if __name__ == "__main__":
    main()
