"""One row at a time: every ranker against scikit-learn's LogisticRegression and LightGBM.

    python -m benches.speed.one_row [--rows 4000] [--features 20] [--runs 2000] [--json FILE]

Models are fitted to so many rows of a simulation and score one new row, a NumPy
array of shape (1, features), another one in each run; in each run all models take turns. Times are
medians, by the clock and, over many calls in a row, of the processor; ratios are those by the clock
to LogisticRegression. Before anything is timed, each row alone is checked to score as it does among
the others. The size is that of the saved file.
"""

import json
import tempfile
import warnings
from pathlib import Path
from time import perf_counter, process_time

import numpy as np
from aucrank._base.ranker import BaseRanker
from aucrank._base.registry import public_estimators
from sklearn.linear_model import LogisticRegression

from benches.common.data import make_data
from benches.common.options import make_parser

REFERENCE = "LogisticRegression"
FRESH_ROWS = 500


def scorers(X, y):
    """Return fitted models by name, each with what scores a row by it."""
    rankers = {
        name: make() for name, make in public_estimators().items() if issubclass(make, BaseRanker)
    }
    models = {REFERENCE: LogisticRegression(), **rankers}
    try:
        from lightgbm import LGBMClassifier
    except ImportError:
        print("LightGBM is not installed")
    else:
        models["LightGBM"] = LGBMClassifier(n_estimators=300, n_jobs=1, verbose=-1)
    found = {}
    for name, model in models.items():
        model.fit(X, y)
        score = getattr(model, "decision_function", None) or model.predict_proba
        found[name] = (model, score)
    return found


def processor_seconds(score, rows):
    """Return what a call takes of the processor, on average over many."""
    start = process_time()
    for row in rows:
        score(row)
    return (process_time() - start) / len(rows)


def saved_bytes(model):
    """Return the size of the file of a model; None for one of another package."""
    if not isinstance(model, BaseRanker):
        return None
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.json"
        model.save(path)
        return path.stat().st_size


def main():
    options = make_parser(__doc__, rows=4000, features=20, runs=2000).parse_args()
    warnings.simplefilter("ignore")
    models = scorers(*make_data(options.rows, options.features))
    fresh, _ = make_data(FRESH_ROWS, options.features, seed=1)
    rows = [fresh[place : place + 1].copy() for place in range(FRESH_ROWS)]
    for name, (_, score) in models.items():
        alone = np.concatenate([score(row) for row in rows])
        assert np.array_equal(alone, score(fresh)) or name in (REFERENCE, "LightGBM"), name
    taken = {name: np.zeros(options.runs) for name in models}
    for run in range(options.runs):
        row = rows[run % FRESH_ROWS]
        for name, (_, score) in models.items():
            start = perf_counter()
            score(row)
            taken[name][run] = perf_counter() - start
    found = {}
    print(f"{'':24}{'clock':>10}{'ratio':>8}{'processor':>11}{'file':>14}")
    for name, (model, score) in models.items():
        clock = float(np.median(taken[name]))
        ratio = clock / float(np.median(taken[REFERENCE]))
        processor, size = processor_seconds(score, rows), saved_bytes(model)
        found[name] = {"clock": clock, "ratio": ratio, "processor": processor, "bytes": size}
        written = "" if size is None else f"{size:,}"
        print(f"{name:24}{1e6 * clock:7.1f} us{ratio:8.2f}{1e6 * processor:8.1f} us{written:>14}")
    if options.json:
        options.json.write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
