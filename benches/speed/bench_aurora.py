"""How long AURORA takes: by rows and by columns, as figures 3 and 4 of its paper show.

    python -m benches.speed.bench_aurora [DATA] [--rows 6000 15000 30000 60000] [--runs 1]
        [--json FILE]

1. Fits of forest cover (``DATA/forest.parquet``, 10 columns; a simulation of that size where there
   is none) at more and more rows, default depth, radius 2, 200 terms, two threads: a fit of
   30,000 rows is to take less than 60 s, and 60,000 rows no more than 1.3 times ten times as long
   as 6,000, term by term.
2. Fits of 6,000 rows of 30, 100 and 200 columns, of which the further ones tell less and less: 200
   are to take no more than twice as long as 30.
3. Scores of a million rows against scikit-learn's gradient boosting of a hundred trees.
4. By how much a fit of 60,000 rows raises the peak memory of a process of its own.
5. A fit of 30,000 rows of 30 columns by defaults: the radius is chosen, too.

The ramp statistic itself is measured by ``bench_ramp.py``.
"""

import argparse
import json
from functools import partial
from pathlib import Path
from time import perf_counter, process_time

import numpy as np
from aucrank import AURORA
from sklearn.ensemble import HistGradientBoostingClassifier

from benches.common.memory import peak_bytes, run_again
from benches.common.timing import least_seconds

MOST_SECONDS = 60
MOST_OVER_LINEAR = 1.3
MOST_OF_WIDE = 2.0


def forest(data, n_rows):
    """Return rows of forest cover, or of a simulation that is as hard."""
    path = None if data is None else Path(data) / "forest.parquet"
    rng = np.random.default_rng(0)
    if path is None or not path.exists():
        X = rng.normal(size=(n_rows, 10))
        eta = np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2] + (X[:, 3:] @ np.linspace(0.5, 0, 7))
        return X, (eta + rng.normal(size=n_rows) > 0).astype(np.int64)
    import pandas as pd

    frame = pd.read_parquet(path)
    y = frame.pop("target").to_numpy()
    rows = rng.permutation(len(y))[:n_rows]
    return frame.to_numpy(np.float64)[rows], y[rows]


def wide(n_rows, n_features):
    """Return columns of which the further ones tell less and less."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(n_rows, 200))
    eta = X @ (0.9 ** np.arange(200)) + 2 * (X[:, 0] > 0) * (X[:, 1] > 0)
    y = (eta + rng.normal(size=n_rows) > 0.5).astype(np.int64)
    return np.ascontiguousarray(X[:, :n_features]), y


def fit(X, y, n_runs, radius=2.0):
    """Return the model, and the least time and processor time of some fits."""
    model = AURORA(radius=radius, n_jobs=2, random_state=0)
    times = []
    for _ in range(n_runs):
        start, start_cpu = perf_counter(), process_time()
        model.fit(X, y)
        times.append((perf_counter() - start, process_time() - start_cpu))
    return model, *min(times)


def memory(n_rows):
    """Print peak bytes over those before the fit; called in a process of its own."""
    X, y = wide(n_rows, 30)
    model = AURORA(radius=2.0, max_features=60, n_jobs=2, random_state=0)
    model.fit(X[:500], y[:500])
    print(json.dumps(peak_bytes(lambda: model.fit(X, y))[0]))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("data", nargs="?", help="folder with forest.parquet")
    parser.add_argument("--rows", type=int, nargs="+", default=[6000, 15_000, 30_000, 60_000])
    parser.add_argument("--runs", type=int, default=1)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--memory", type=int, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.memory:
        memory(args.memory)
        return

    found = {"rows": {}, "columns": {}}
    for n_rows in args.rows:
        model, seconds, cpu = fit(*forest(args.data, n_rows), args.runs)
        n_found = len(model.path_["n_terms"])
        found["rows"][n_rows] = (seconds, n_found)
        print(
            f"{n_rows:7,} rows x 10: {seconds:6.1f} s ({cpu:.1f} s of processor time), {n_found}"
            f" terms searched, {1e6 * seconds / n_rows / n_found:.2f} microseconds a row and term"
        )
    for n_features in (30, 100, 200):
        model, seconds, cpu = fit(*wide(6000, n_features), args.runs)
        n_found = len(model.path_["n_terms"])
        found["columns"][n_features] = (seconds, n_found)
        print(
            f"  6,000 rows x {n_features:3}: {seconds:6.1f} s ({cpu:.1f} s of processor time),"
            f" {n_found} terms searched"
        )

    X, y = forest(args.data, 60_000)
    many = np.resize(X, (1_000_000, X.shape[1]))
    model, *_ = fit(X[:6000], y[:6000], 1)
    trees = HistGradientBoostingClassifier(max_iter=100, early_stopping=False, random_state=0)
    trees.fit(X, y)
    works = {"AURORA": model, "gradient boosting": trees}
    works = {name: partial(one.decision_function, many) for name, one in works.items()}
    times = least_seconds(works, 1)
    found["scores"] = times
    print(
        f"scores of 1,000,000 rows: {times['AURORA']:.3f} s by {model.n_terms_} terms,"
        f" gradient boosting {times['gradient boosting']:.3f} s"
    )
    peak = json.loads(run_again("--memory", 60_000))
    found["memory"] = peak
    print(f"peak memory of a fit of 60,000 x 30: {peak / 60_000:.0f} bytes a row")

    model, seconds, cpu = fit(*wide(30_000, 30), args.runs, radius="auto")
    found["default"] = (seconds, model.n_terms_)
    print(
        f"30,000 rows x 30, radius chosen: {seconds:.1f} s ({cpu:.1f} s of processor time),"
        f" {model.n_terms_} terms"
    )

    rows = found["rows"]
    if 30_000 in rows:
        ok = rows[30_000][0] < MOST_SECONDS
        print(f"30,000 rows in less than {MOST_SECONDS} s: {'yes' if ok else 'NO'}")
    low, high = min(rows), max(rows)
    by_term = [rows[n][0] / rows[n][1] / n for n in (low, high)]
    ratio = by_term[1] / by_term[0]
    ok = ratio <= MOST_OVER_LINEAR
    print(
        f"time of a row and term from {low:,} to {high:,} rows: x {ratio:.2f}, at most"
        f" {MOST_OVER_LINEAR}: {'yes' if ok else 'NO'}"
    )
    ratio = found["columns"][200][0] / found["columns"][30][0]
    ok = ratio <= MOST_OF_WIDE
    print(f"200 columns over 30: x {ratio:.2f}, at most {MOST_OF_WIDE}: {'yes' if ok else 'NO'}")
    if args.json:
        args.json.write_text(json.dumps(found, indent=1))


if __name__ == "__main__":
    main()
