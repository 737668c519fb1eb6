"""Time the intervals of `aucrank.metrics` against what they are made of, all in one run.

    python -m benches.speed.bench_inference [--json FILE] [--rows 1000000] [--bootstrap-rows 10000]

DeLong: ratio of the time of `auc_interval` to that of our own `roc_auc_score` on the same rows, one
sort each; and the same of a part of the curve. Bootstrap: a loop of scikit-learn's `roc_auc_score`
over resampled arrays, timed on some resamples and scaled to all of them. Results are checked before
anything is timed: DeLong's standard error, and that of a part, against placement values from ranks,
the bootstrap's against DeLong's. A time is the best of several calls, taken in turns.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import platform
from pathlib import Path

import aucrank
import numpy as np
import sklearn
from aucrank.metrics import auc_compare, auc_interval, roc_auc_score
from scipy.stats import rankdata
from sklearn.metrics import roc_auc_score as sklearn_auc

from benches.common.data import make_scores
from benches.common.timing import least_seconds

N_RESAMPLES = 2000


def error_by_ranks(y, y_score, max_fpr=1.0):
    """DeLong's standard error: ranks among all rows less ranks in the own class.

    Up to a false positive rate, rates of the other class are clipped to the part of the curve.
    """
    own = np.empty(y.size)
    for label in (0, 1):
        own[y == label] = rankdata(y_score[y == label])
    wins = rankdata(y_score) - own
    n = np.bincount(y)
    rates = [1 - wins[y == c] / n[1 - c] for c in (0, 1)]
    most = [np.mean(rates[1] <= max_fpr), max_fpr]
    variances = [np.var(np.minimum(rates[c], most[c]), ddof=1) / n[c] for c in (0, 1)]
    return math.sqrt(sum(variances))


def bench_delong(n):
    y, y_score, weight = make_scores(n)
    error = auc_interval(y, y_score).standard_error
    np.testing.assert_allclose(error, error_by_ranks(y, y_score), rtol=1e-9)
    error = auc_interval(y, y_score, fpr=(0, 0.1)).standard_error
    np.testing.assert_allclose(error, error_by_ranks(y, y_score, 0.1), rtol=1e-4)
    calls = {
        "roc_auc_score": lambda: roc_auc_score(y, y_score),
        "auc_interval": lambda: auc_interval(y, y_score),
        "roc_auc_score, weights": lambda: roc_auc_score(y, y_score, sample_weight=weight),
        "auc_interval, weights": lambda: auc_interval(y, y_score, sample_weight=weight),
        "auc_compare": lambda: auc_compare(y, y_score, -y_score),
        "auc_interval, a part": lambda: auc_interval(y, y_score, fpr=(0, 0.1)),
        "auc_compare, a part": lambda: auc_compare(y, y_score, -y_score, fpr=(0, 0.1)),
        "by ranks": lambda: error_by_ranks(y, y_score),
    }
    return least_seconds(calls, 10)


def bench_bootstrap(n, n_timed=50):
    y, y_score, _ = make_scores(n)
    rng = np.random.default_rng(0)

    def ours():
        return auc_interval(y, y_score, method="bootstrap", n_resamples=N_RESAMPLES, random_state=0)

    def loop():
        for _ in range(n_timed):
            rows = rng.integers(0, n, n)
            sklearn_auc(y[rows], y_score[rows])

    error = auc_interval(y, y_score).standard_error
    np.testing.assert_allclose(ours().standard_error, error, rtol=0.1)
    times = least_seconds({"aucrank": ours, "loop": loop}, 5)
    times["loop"] *= N_RESAMPLES / n_timed
    return times


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--json", type=Path, metavar="FILE")
    parser.add_argument("--rows", type=int, default=10**6)
    parser.add_argument("--bootstrap-rows", type=int, default=10**4)
    options = parser.parse_args()
    versions = {m.__name__: m.__version__ for m in (aucrank, sklearn, np)}
    print(f"{platform.processor() or platform.machine()}, {os.cpu_count()} processors, {versions}")
    delong = bench_delong(options.rows)
    for name, took in delong.items():
        ratio = took / delong["roc_auc_score"]
        print(f"{name:24} {options.rows:9} rows {took * 1e3:9.2f} ms {ratio:6.2f}x")
    ratio = delong["auc_interval"] / delong["roc_auc_score"]
    print(f"DeLong over AUC: {ratio:.2f}x{'' if ratio < 1.5 else ', above 1.5x'}")
    bootstrap = bench_bootstrap(options.bootstrap_rows)
    for name, took in bootstrap.items():
        rows = options.bootstrap_rows
        print(f"{N_RESAMPLES} resamples, {name:8} {rows:9} rows {took * 1e3:9.2f} ms")
    ratio = bootstrap["loop"] / bootstrap["aucrank"]
    print(f"bootstrap: {ratio:.0f}x{'' if ratio >= 100 else ', below 100x'}")
    if options.json:
        document = {"versions": versions, "delong": delong, "bootstrap": bootstrap}
        options.json.write_text(json.dumps(document, indent=1) + "\n")


if __name__ == "__main__":
    main()
