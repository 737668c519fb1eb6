"""Time and peak memory of a `RocState` whose scores lie in files, for scores of which none repeats.

    python -m benches.speed.bench_state_files [--rows 100000000] [--megabytes 512]

Rows are made batch by batch, so that no more than a batch of them is in memory. The AUC of normal
scores with means 0 and 1 is Phi(1 / sqrt(2)) = 0.76025, from which that of the rows differs by a
few standard errors at most. With --check, all rows are made again at once, and the AUC, the
interval and a partial area must be the same to the last bit.
"""

from __future__ import annotations

import argparse
import math
import tempfile
from pathlib import Path
from statistics import NormalDist
from time import perf_counter, process_time

import numpy as np
from aucrank.metrics import RocState, partial_auc, roc_auc_score

from benches.common.memory import peak_bytes

BATCH = 1_000_000


def batches(n_rows):
    """Yield labels and normal scores."""
    for start in range(0, n_rows, BATCH):
        rng = np.random.default_rng(start)
        y = rng.random(min(BATCH, n_rows - start)) < 0.3
        yield y, rng.normal(loc=y)


def measure(n_rows, folder, max_bytes):
    """Return the state, and print what each step took."""
    state = RocState(spill_dir=folder, max_bytes=max_bytes)
    making = sum(step(lambda: list(batches(BATCH)))[1] for _ in range(3)) / 3
    making *= n_rows / BATCH

    def update():
        for y, scores in batches(n_rows):
            state.update(y, scores)

    def on_disk():
        return sum(path.stat().st_size for path in Path(folder).iterdir())

    steps = {
        "update (making the rows taken off)": update,
        "auc, with the merge of all files": state.auc,
        "interval": state.interval,
        "partial_auc(fpr=(0, 0.1))": lambda: state.partial_auc(fpr=(0, 0.1)),
        "tpr_at 101 rates": lambda: state.tpr_at(np.linspace(0, 1, 101)),
        "curve(max_knots=10000)": lambda: state.curve(max_knots=10_000),
    }
    for name, call in steps.items():
        wall, cpu, result = step(call)
        less = making if call is update else 0.0
        shown = result if isinstance(result, float) else ""
        print(f"  {name:36} {wall - less:7.1f} s  {cpu - less:7.1f} CPU s  {shown}", flush=True)
    print(f"  {on_disk() / n_rows:.2f} bytes a row on disk, {state.size:,} distinct scores")
    return state


def step(call):
    """Return wall and CPU seconds of a call, and its result."""
    wall, cpu = perf_counter(), process_time()
    result = call()
    return perf_counter() - wall, process_time() - cpu, result


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=100_000_000)
    parser.add_argument("--megabytes", type=int, default=512)
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    max_bytes = options.megabytes * 2**20
    with tempfile.TemporaryDirectory() as folder:
        # What importing and a first call take is not the data's.
        RocState(spill_dir=folder).update([0, 0, 1, 1], [0.0, 2.0, 1.0, 3.0]).interval()
        print(f"{options.rows:,} rows, max_bytes of {options.megabytes} MiB")
        peak, state = peak_bytes(lambda: measure(options.rows, folder, max_bytes))
        print(f"  peak memory {peak / 2**20:.0f} MiB")
        assert peak < max_bytes + 64 * 2**20, "the rows of a batch are on top"
        interval = state.interval()
        expected = NormalDist().cdf(1 / math.sqrt(2))
        assert abs(interval.auc - expected) < 5 * interval.standard_error
        if options.check:
            y, scores = map(np.concatenate, zip(*batches(options.rows), strict=True))
            assert state.auc() == roc_auc_score(y, scores)
            assert state.partial_auc(fpr=(0, 0.1)) == partial_auc(y, scores, fpr=(0, 0.1))
            whole = RocState().update(y, scores)
            assert state.interval() == whole.interval()


if __name__ == "__main__":
    main()
