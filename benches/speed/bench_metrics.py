"""Time `roc_auc_score` against other exact AUCs, all in one run.

    python -m benches.speed.bench_metrics [--json FILE] [--rows 1000 100000 1000000 10000000]

Every result is compared with scikit-learn's before anything is timed. A time is the best of several
calls, taken in turns so that a busy moment of the machine hits all alike. Peers: scikit-learn; an
AUC by numpy's argsort; numpy's sort of each class with a merge compiled by numba (left out where
numba is missing); the rank sum by scipy's rankdata; fastauc, where it is installed. numpy picks its
sort by the processor: also run this with NPY_DISABLE_CPU_FEATURES="X86_V4 AVX512_ICL".
Extra memory is the growth of the peak resident size during one call, in a process of its own.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
import time
from pathlib import Path

import aucrank
import numpy as np
import scipy
import sklearn
from aucrank.metrics import roc_auc_score
from scipy.stats import rankdata
from sklearn.metrics import roc_auc_score as sklearn_auc

from benches.common.data import make_scores

try:
    from numba import njit
except ImportError:
    njit = None
try:
    from fastauc.fast_auc import fast_numba_auc as fastauc
except ImportError:
    fastauc = None

MEMORY = """
import resource, sys
import numpy as np
from aucrank.metrics import roc_auc_score
n, dtype, weighted = int(sys.argv[1]), sys.argv[2], sys.argv[3] == "True"
rng = np.random.default_rng(0)
roc_auc_score([0, 1], np.zeros(2, dtype), sample_weight=[1, 1] if weighted else None)
y_score = rng.standard_normal(n, dtype=dtype)
y = np.empty(n, dtype=np.int64)
for part in np.array_split(y, 100):
    part[:] = rng.random(part.size) < 0.3
weight = rng.random(n) if weighted else None
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
roc_auc_score(y, y_score, sample_weight=weight)
print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * 1024 / n)
"""


def argsort_auc(y, y_score):
    """Wins counted after numpy's default argsort, groups of ties by their bounds."""
    order = np.argsort(y_score)
    positive, ordered = y[order].astype(bool), y_score[order]
    start = np.flatnonzero(np.r_[True, ordered[1:] != ordered[:-1]])
    n_pos = np.add.reduceat(positive, start, dtype=np.int64)
    n_neg = np.diff(np.r_[start, y.size]) - n_pos
    below = np.cumsum(n_neg) - n_neg
    return np.sum(n_pos * (2 * below + n_neg)) / (2 * n_pos.sum() * n_neg.sum())


def rank_sum_auc(y, y_score):
    """Mann-Whitney statistic from the mean ranks of ties."""
    positive = y.astype(bool)
    n_pos = int(positive.sum())
    wins = rankdata(y_score)[positive].sum() - n_pos * (n_pos + 1) / 2
    return wins / (n_pos * (y.size - n_pos))


def merge_half_wins(pos, neg):
    """Half-wins of two sorted runs."""
    half_wins, below, below_or_equal = 0, 0, 0
    for s in pos:
        while below < neg.size and neg[below] < s:
            below += 1
        below_or_equal = max(below_or_equal, below)
        while below_or_equal < neg.size and neg[below_or_equal] <= s:
            below_or_equal += 1
        half_wins += below + below_or_equal
    return half_wins


if njit is not None:
    merge_half_wins = njit(merge_half_wins)


def sort_and_merge_auc(y, y_score):
    positive = y.astype(bool)
    pos, neg = np.sort(y_score[positive]), np.sort(y_score[~positive])
    return merge_half_wins(pos, neg) / (2 * pos.size * neg.size)


def peers(weighted):
    """Name and function of every AUC to be timed."""
    found = {"aucrank": roc_auc_score, "scikit-learn": sklearn_auc}
    if not weighted:
        found |= {"argsort": argsort_auc, "rankdata": rank_sum_auc}
        if njit is not None:
            found["sort+merge"] = sort_and_merge_auc
        if fastauc is not None:
            found["fastauc"] = fastauc
    return found


def cases(rows):
    """Name, target ratio over scikit-learn, and arguments of each case."""
    for n in rows:
        y, y_score, weight = make_scores(n)
        ascending = np.sort(y_score)
        yield "continuous f64", 20, (y, y_score), {}
        yield "continuous f32", 20, (y, y_score.astype(np.float32)), {}
        yield "bool labels f64", 20, (y == 1, y_score), {}
        yield "probabilities f64", 20, (y, 1 / (1 + np.exp(-y_score))), {}
        if n >= 100_000:
            yield "100 distinct", 10, (y, np.round(y_score * 10)), {}
            yield "30000 distinct", 10, (y, np.round(y_score * 3000)), {}
            yield "weights f64", 10, (y, y_score), {"sample_weight": weight}
            yield "whole weights", 10, (y, y_score), {"sample_weight": np.floor(weight * 5)}
            yield "ascending", 20, (y, ascending), {}
            yield "descending", 20, (y, ascending[::-1].copy()), {}


def seconds(call, budget):
    """Best time of as many calls as fit in the budget, three at least."""
    best, spent, calls = np.inf, 0.0, 0
    while calls < 3 or (spent < budget and calls < 1000):
        start = time.perf_counter()
        call()
        took = time.perf_counter() - start
        best, spent, calls = min(best, took), spent + took, calls + 1
    return best


def measure(args, kwargs, budget):
    """Seconds of each peer, after its result was found equal to scikit-learn's."""
    found = peers(bool(kwargs))
    expected = sklearn_auc(*args, **kwargs)
    for name, auc in found.items():
        np.testing.assert_allclose(auc(*args, **kwargs), expected, rtol=1e-9, err_msg=name)
    best = dict.fromkeys(found, np.inf)
    for _ in range(3):
        for name, auc in found.items():
            took = seconds(lambda auc=auc: auc(*args, **kwargs), budget / 3)
            best[name] = min(best[name], took)
    return best


def extra_bytes_a_row(n, dtype, weighted):
    command = [sys.executable, "-c", MEMORY, str(n), dtype, str(weighted)]
    return float(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--json", type=Path, metavar="FILE")
    parser.add_argument("--rows", type=int, nargs="+", default=[10**3, 10**5, 10**6, 10**7])
    parser.add_argument("--budget", type=float, default=1.0, help="seconds for each time")
    options = parser.parse_args()
    versions = {m.__name__: m.__version__ for m in (aucrank, sklearn, np, scipy)}
    print(f"{platform.processor() or platform.machine()}, {os.cpu_count()} processors, {versions}")
    columns = ["scikit-learn", "argsort", "rankdata", "sort+merge", "fastauc"]
    print(f"{'case':18} {'rows':>9} {'aucrank':>11}" + "".join(f"{c:>14}" for c in columns))
    results = []
    for name, target, args, kwargs in cases(options.rows):
        times = measure(args, kwargs, options.budget)
        n, ours = args[0].size, times["aucrank"]
        ratios = {peer: took / ours for peer, took in times.items()}
        shown = (f"{ratios[c]:13.1f}x" if c in ratios else f"{'-':>14}" for c in columns)
        missed = "" if ratios["scikit-learn"] >= target else f"  below {target}x"
        print(f"{name:18} {n:9} {ours * 1e3:8.3f} ms" + "".join(shown) + missed, flush=True)
        results.append({"case": name, "rows": n, "target": target, "seconds": times})
    memory = []
    for dtype, weighted in [("float64", False), ("float32", False), ("float64", True)]:
        n = max(options.rows)
        bytes_a_row = extra_bytes_a_row(n, dtype, weighted)
        label = f"{dtype}{' with weights' if weighted else ''}"
        print(f"extra memory, {label}, {n} rows: {bytes_a_row:.1f} bytes a row")
        memory.append({"case": label, "rows": n, "bytes_a_row": bytes_a_row})
    if options.json:
        document = {"versions": versions, "times": results, "memory": memory}
        options.json.write_text(json.dumps(document, indent=1) + "\n")


if __name__ == "__main__":
    main()
