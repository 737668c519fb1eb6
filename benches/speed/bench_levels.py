"""RankingForest on a column of many categories: times, peak memory and the size of the file.

    python -m benches.speed.bench_levels [--rows 300000] [--levels 1000000] [--trees 100]
        [--json FILE]

A column of so many categories, drawn at random, next to two numbers of which the target is made, so
that what a node lists of the categories is what its rows have by chance: the most there can be.
Scores are of the training rows. All in a process of its own (Linux only).
"""

import argparse
import json
import tempfile
from pathlib import Path
from time import perf_counter

import aucrank
import numpy as np
import pandas as pd
from aucrank import RankingForest

from benches.common.memory import peak_bytes, run_again
from benches.common.options import make_parser


def make_data(n_rows, n_levels):
    """Return two numbers, a category of so many levels, and the target."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=(n_rows, 2))
    # Every level is known, whether a row has it or not.
    codes = rng.integers(0, n_levels, n_rows)
    category = pd.Categorical.from_codes(codes, categories=np.arange(n_levels))
    X = pd.DataFrame({"a": x[:, 0], "b": x[:, 1], "id": category})
    return X, x[:, 0] + x[:, 1] + rng.normal(size=n_rows) > 1.5


def measure(options):
    """Fit, score and save; print the figures."""
    forest = RankingForest(
        n_estimators=options.trees,
        max_depth=10,
        min_samples_leaf=3,
        random_state=0,
        n_jobs=options.threads,
    )
    forest.fit(*make_data(1000, 10))
    X, y = make_data(options.rows, options.levels)
    figures = {}
    start = perf_counter()
    peak, _ = peak_bytes(lambda: forest.fit(X, y))
    figures["fit_s"], figures["fit_peak_bytes"] = perf_counter() - start, peak
    start = perf_counter()
    peak, scores = peak_bytes(lambda: forest.decision_function(X))
    figures["score_s"], figures["score_peak_bytes"] = perf_counter() - start, peak
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "forest.json"
        forest.save(path)
        figures["file_bytes"] = path.stat().st_size
        body = json.loads(path.read_text(encoding="utf-8"))["body"]
        figures["model_bytes"] = len(json.dumps(body["model"], separators=(",", ":")))
        del body
        start = perf_counter()
        peak, again = peak_bytes(lambda: aucrank.load(path))
        figures["load_s"], figures["load_peak_bytes"] = perf_counter() - start, peak
    assert np.array_equal(again.decision_function(X), scores)
    print(json.dumps(figures))


def main():
    parser = make_parser(__doc__, rows=300_000, levels=1_000_000, trees=100, threads=2)
    parser.add_argument("--measure", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measure:
        measure(options)
        return
    sizes = ("rows", "levels", "trees", "threads")
    figures = json.loads(run_again("--measure", options=options, names=sizes))
    for name, figure in figures.items():
        print(f"{name:18} {figure:,.2f}" if name.endswith("_s") else f"{name:18} {figure:,}")
    if options.json:
        options.json.write_text(json.dumps(figures, indent=1))


if __name__ == "__main__":
    main()
