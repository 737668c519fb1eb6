"""Estimators that take sparse matrices: what a fit and a score take of one like a text's.

    python -m benches.speed.bench_sparse [--rows 20000] [--words 5000] [--per_mille 10]
        [--only NAME [NAME ...]] [--json FILE]

Counts of words, of which so many in a thousand are not 0, and classes that depend on fifty words.
Times, and peak memory over what the process had before, each estimator in a process of its own
(Linux only). The scores are checked against those of the dense matrix for some rows.
"""

import argparse
import json
from time import perf_counter

import numpy as np
import scipy.sparse
from aucrank import (
    RIMARC,
    AUCBoost,
    GradientBoostingRanker,
    LinearRanker,
    MartiRank,
    RankBoost,
    RankingEnsemble,
    RankingForest,
    RankOpt,
    SMartiRank,
)

from benches.common.memory import peak_bytes, run_again
from benches.common.options import make_parser

MODELS = {
    "RankBoost": RankBoost(n_rounds=50, random_state=0, n_jobs=2),
    "AUCBoost": AUCBoost(random_state=0, n_jobs=2),
    "MartiRank": MartiRank(n_rounds=5, random_state=0, n_jobs=2),
    "SMartiRank": SMartiRank(n_rounds=5, random_state=0, n_jobs=2),
    "RankOpt": RankOpt(radii=[1.0], n_jobs=2),
    "RIMARC": RIMARC(n_jobs=2),
    "GradientBoostingRanker": GradientBoostingRanker(random_state=0, n_jobs=2),
    "RankingForest": RankingForest(random_state=0, n_jobs=2),
    "LinearRanker": LinearRanker(n_jobs=2),
    "RankingEnsemble": RankingEnsemble(random_state=0, n_jobs=2),
}


def make_text(n_rows, n_words, per_mille):
    """Return counts of words by row, and classes."""
    rng = np.random.default_rng(0)
    n_entries = n_rows * n_words * per_mille // 1000
    places = tuple(rng.integers(0, n, n_entries, dtype=np.int32) for n in (n_rows, n_words))
    counts = rng.integers(1, 6, n_entries).astype(np.float64)
    X = scipy.sparse.coo_array((counts, places), shape=(n_rows, n_words)).tocsr()
    weights = np.zeros(n_words)
    weights[:50] = rng.normal(scale=2.0, size=50)
    return X, X @ weights + rng.normal(scale=0.5, size=n_rows) > 0.3


def measure(name, options):
    """Fit and score; print the figures."""
    model = MODELS[name]
    model.fit(*make_text(200, 60, 100))
    X, y = make_text(options.rows, options.words, options.per_mille)
    figures = {}
    start = perf_counter()
    peak, _ = peak_bytes(lambda: model.fit(X, y))
    figures["fit_s"], figures["fit_peak_bytes"] = perf_counter() - start, peak
    start = perf_counter()
    peak, scores = peak_bytes(lambda: model.decision_function(X))
    figures["score_s"], figures["score_peak_bytes"] = perf_counter() - start, peak
    assert np.array_equal(model.decision_function(X[:50].toarray()), scores[:50])
    print(json.dumps(figures))


def main():
    parser = make_parser(__doc__, rows=20_000, words=5_000, per_mille=10)
    parser.add_argument("--only", nargs="+", choices=MODELS, default=list(MODELS))
    parser.add_argument("--measure", choices=MODELS, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measure:
        measure(options.measure, options)
        return
    sizes = ("rows", "words", "per_mille")
    found = {}
    for name in options.only:
        found[name] = json.loads(run_again("--measure", name, options=options, names=sizes))
        text = (f"{key} {figure:,.1f}" for key, figure in found[name].items())
        print(f"{name:22}", *text, sep="  ")
    if options.json:
        options.json.write_text(json.dumps(found, indent=1))


if __name__ == "__main__":
    main()
