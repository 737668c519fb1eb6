"""Time a `RocState` fed in batches against one call of `roc_auc_score` on all rows, in one run.

    python -m benches.speed.bench_state [--rows 10000000] [--batches 100]

The results are compared first: equal to the last bit for the exact state, within its own bound for
the bounded one. A time is the best of several, taken in turns.
"""

from __future__ import annotations

import argparse

import numpy as np
from aucrank.metrics import RocState, roc_auc_score

from benches.common.timing import least_seconds


def in_batches(y, scores, n_batches, **kwargs):
    state = RocState(**kwargs)
    for part in range(n_batches):
        rows = slice(part * y.size // n_batches, (part + 1) * y.size // n_batches)
        state.update(y[rows], scores[rows])
    return state


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--batches", type=int, default=100)
    parser.add_argument("--repeats", type=int, default=3)
    args = parser.parse_args()
    rng = np.random.default_rng(0)
    y = (rng.random(args.rows) < 0.3).astype(np.int64)
    scores = rng.normal(loc=y)
    for name, values in (("distinct scores", scores), ("three decimals", scores.round(3))):
        expected = roc_auc_score(y, values)
        calls = {
            "one call of roc_auc_score": lambda v=values: roc_auc_score(y, v),
            "RocState": lambda v=values: in_batches(y, v, args.batches).auc(),
            "RocState(max_size=10000)": lambda v=values: in_batches(
                y, v, args.batches, max_size=10_000
            ).auc(),
        }
        assert calls["RocState"]() == expected
        bounded = in_batches(y, values, args.batches, max_size=10_000)
        bound = bounded.auc_error_bound()
        assert abs(bounded.auc() - expected) <= bound
        best = least_seconds(calls, args.repeats)
        base = best["one call of roc_auc_score"]
        print(f"{args.rows:,} rows in {args.batches} batches, {name}; bound {bound:.1e}")
        for call, seconds in best.items():
            print(f"  {call:28s} {seconds:7.3f} s  {seconds / base:5.2f}")


if __name__ == "__main__":
    main()
