"""`roc_curve` against scikit-learn's, in one run, results checked equal first.

python -m benches.speed.bench_curve [--rows 1000000] [--runs 7]
"""

import argparse
from functools import partial

import numpy as np
from aucrank.metrics import roc_curve
from sklearn.metrics import roc_curve as sklearn_curve

from benches.common.timing import least_seconds


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--runs", type=int, default=7)
    options = parser.parse_args()
    rng = np.random.default_rng(0)
    y = rng.random(options.rows) < 0.1
    scores = rng.normal(size=options.rows) + y
    weight = rng.integers(1, 4, options.rows)
    cases = {
        "float64": (y, scores, None),
        "float32": (y, scores.astype(np.float32), None),
        "half positive": (rng.random(options.rows) < 0.5, scores, None),
        "1,000 values": (y, scores.round(2), None),
        "weights": (y, scores, weight),
    }
    for name, (y_true, y_score, sample_weight) in cases.items():
        curves = {
            curve: partial(curve, y_true, y_score, sample_weight=sample_weight)
            for curve in (roc_curve, sklearn_curve)
        }
        for ours, theirs in zip(*(curve() for curve in curves.values()), strict=True):
            np.testing.assert_allclose(ours, theirs, rtol=1e-12)
        ours, theirs = least_seconds(curves, options.runs).values()
        print(
            f"{name:14} {1000 * ours:8.1f} ms  {1000 * theirs:8.1f} ms  {theirs / ours:5.1f} times"
        )


if __name__ == "__main__":
    main()
