"""Ramp AUC with its gradient, against sorting the same scores.

    python -m benches.speed.bench_ramp [--rows 1000000] [--runs 9] [--json FILE]

Value and gradient of scores of several kinds against ``np.sort`` of the same scores, which has one
thread, and against ``np.argsort``, which like a gradient has the row of each score. One thread and
two threads each. All take turns, and ratios are those of the medians. ``np.sort`` takes AVX-512 or
AVX2 where the processor has it; ``cargo bench -p aucrank-benches`` has the sort of the standard
library.

Before anything is timed, gradients are checked against the sums over pairs, and not to depend on
the number of threads or the order of the rows.
"""

import json
from functools import partial

import numpy as np
from aucrank import _core

from benches.common.options import make_parser
from benches.common.timing import median_seconds

MOST_RATIO_OF_SORT = 2
SHAPE = {"half_width": 0.5, "side_slope": 1e-3}


def make_data(n_rows):
    """Return labels and scores, of a linear score of some strength."""
    rng = np.random.default_rng(0)
    y = rng.random(n_rows) < 0.3
    return y, rng.logistic(size=n_rows) + y


def kinds(y, scores):
    """Return scores and weights that are timed."""
    return {
        "distinct": (scores, None),
        "200 values": (np.round(scores * 10) / 10, None),
        "weighted": (scores, np.random.default_rng(1).random(len(y))),
        "counts": (scores, np.random.default_rng(1).integers(1, 10, len(y)).astype(float)),
        "outlier": (np.concatenate([scores[:-1], [1e15]]), None),
    }


def gradient(y, scores, weights, n_threads):
    return _core.ramp_auc_gradient(y, scores, weights, n_threads, **SHAPE)


def check():
    """Assert what must hold of any gradient."""
    y, scores = make_data(100_000)
    for name, (data, weights) in kinds(y, scores).items():
        value, slopes = gradient(y, data, weights, 1)
        again = gradient(y, data, weights, 2)
        assert again[0] == value, name
        assert np.array_equal(again[1], slopes), name
        turned = np.random.default_rng(2).permutation(len(y))
        again = gradient(y[turned], data[turned], None if weights is None else weights[turned], 2)
        assert again[0] == value, name
        assert np.array_equal(again[1], slopes[turned]), name
        ones = np.ones(len(y)) if weights is None else weights
        pairs = ones[y].sum() * ones[~y].sum()
        for row in range(0, len(y), 9973):
            inside = np.abs(data - data[row]) <= SHAPE["half_width"]
            other = y != y[row]
            share = np.where(inside, 1, SHAPE["side_slope"]) / (2 * SHAPE["half_width"])
            expected = ones[row] * np.sum(ones * share * other) / pairs * (1 if y[row] else -1)
            assert np.isclose(slopes[row], expected, rtol=1e-9, atol=0), name


def bench(y, scores, n_runs):
    """Print gradients against sorts; return the seconds of each."""
    results = {}
    for name, (data, weights) in kinds(y, scores).items():
        works = {
            "sort": partial(np.sort, data),
            "argsort": partial(np.argsort, data),
            "1": partial(gradient, y, data, weights, 1),
            "2": partial(gradient, y, data, weights, 2),
        }
        found = results[name] = median_seconds(works, n_runs)
        for n_threads in ("1", "2"):
            print(
                f"{name:12} {n_threads} thread(s): gradient {found[n_threads] * 1e3:6.1f} ms,"
                f" {found[n_threads] / found['sort']:5.2f} x np.sort (which takes"
                f" {found['sort'] * 1e3:.1f} ms),"
                f" {found[n_threads] / found['argsort']:5.2f} x np.argsort"
            )
    return results


def main():
    options = make_parser(__doc__, rows=1_000_000, runs=9).parse_args()

    check()
    results = bench(*make_data(options.rows), options.runs)
    for n_threads in ("1", "2"):
        for rival in ("sort", "argsort"):
            ratio = results["distinct"][n_threads] / results["distinct"][rival]
            reached = "yes" if ratio <= MOST_RATIO_OF_SORT else "NO"
            goal = f"{n_threads} thread(s) within {MOST_RATIO_OF_SORT} times np.{rival}"
            print(f"{goal}: {reached} ({ratio:.2f})")
    if options.json:
        options.json.write_text(json.dumps({"rows": options.rows, **results}, indent=2) + "\n")


if __name__ == "__main__":
    main()
