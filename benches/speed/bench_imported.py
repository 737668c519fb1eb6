"""Time to import models of LightGBM and XGBoost, and to score rows with them and with these.

    python -m benches.speed.bench_imported [--rows 100000] [--trees 300] [--leaves 255]

Processor seconds of one thread, the least of three runs: what others do on the machine hardly adds
to them. All scores are checked to be the same, bit by bit.
"""

import time

import aucrank
import lightgbm
import numpy as np
import xgboost

from benches.common.data import make_data
from benches.common.options import make_parser

COLUMNS, TRAINING_ROWS = 30, 20_000


def least(work, repeats=3):
    """Return the least processor seconds of some runs, and the result of the last one."""
    found = []
    for _ in range(repeats):
        start = time.process_time()
        result = work()
        found.append(time.process_time() - start)
    return min(found), result


def report(name, theirs, ours, import_seconds):
    """Print a line, once the scores are known to be the same."""
    (of_theirs, expected), (of_ours, scores) = theirs, ours
    np.testing.assert_array_equal(scores, expected)
    line = f"{name:9} import {import_seconds:6.2f} s  scores {of_theirs:7.2f} s, "
    print(f"{line}imported {of_ours:6.2f} s, {of_theirs / of_ours:5.1f} times as fast", flush=True)


def main():
    """Fit, import and score."""
    parser = make_parser(__doc__, rows=100_000, trees=300, leaves=255)
    options = parser.parse_args()
    X, y = make_data(TRAINING_ROWS, COLUMNS)
    new, _ = make_data(options.rows, COLUMNS, seed=1)
    params = {"num_leaves": options.leaves, "min_data_in_leaf": 5, "num_threads": 1}
    rows = lightgbm.Dataset(X, label=y)
    booster = lightgbm.train({"objective": "binary", "verbose": -1, **params}, rows, options.trees)
    seconds, ranker = least(lambda: aucrank.from_lightgbm(booster))
    ranker.set_params(n_jobs=1)
    print(ranker._size())
    theirs = least(lambda: booster.predict(new, raw_score=True, num_threads=1))
    report("LightGBM", theirs, least(lambda: ranker.decision_function(new)), seconds)

    params = {"grow_policy": "lossguide", "max_leaves": options.leaves, "max_depth": 0}
    params["nthread"] = 1
    rows = xgboost.DMatrix(X, label=y, nthread=1)
    other = xgboost.train({"objective": "binary:logistic", **params}, rows, options.trees)
    seconds, ranker = least(lambda: aucrank.from_xgboost(other))
    ranker.set_params(n_jobs=1)
    print(ranker._size())
    theirs = least(lambda: other.inplace_predict(new, predict_type="margin"))
    report("XGBoost", theirs, least(lambda: ranker.decision_function(new)), seconds)


if __name__ == "__main__":
    main()
