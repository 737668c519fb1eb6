"""GradientBoostingRanker against LightGBM: fits, scores and AUC on fresh rows.

    python -m benches.speed.gradient_boosting [--rows 1000000] [--features 20] [--rounds 100]
        [--leaves 31] [--threads 2] [--runs 3] [--json FILE]

Both fit all rows at a learning rate of 0.1 with 20 rows in a leaf, in turn; ratios are those of
the least times, by the clock and of the processors. LightGBM bins in its fit, too. Scores are of
the training rows. Before anything is timed, the model is checked not to depend on the number of
threads. Peak memory of our fit is taken in a process of its own, over that of the data alone, in
bytes a value.
"""

import json
from time import perf_counter, process_time

import numpy as np
from aucrank import GradientBoostingRanker
from sklearn.metrics import roc_auc_score

from benches.common.data import make_data
from benches.common.memory import peak_bytes, run_again
from benches.common.options import make_parser
from benches.common.rivals import equal_booster

FRESH_ROWS = 200_000
OURS, PEER = "GradientBoostingRanker", "LightGBM"
SIZES = ("rows", "features", "rounds", "leaves", "threads")


def equal_ranker(n_rounds, n_leaves, n_threads):
    """Return an unfitted ranker whose work is that of `equal_booster`."""
    return GradientBoostingRanker(
        n_rounds=n_rounds,
        max_leaves=n_leaves,
        learning_rate=0.1,
        min_samples_leaf=20,
        l2=0.0,
        cuts="best",
        subsample=1.0,
        max_features=None,
        early_stopping=False,
        n_jobs=n_threads,
    )


def make_model(name, options):
    sizes = options.rounds, options.leaves, options.threads
    return equal_booster("lightgbm", *sizes) if name == PEER else equal_ranker(*sizes)


def timed(work, *args):
    """Return the time of a call by the clock and of the processors, and its result."""
    clock, processors = perf_counter(), process_time()
    result = work(*args)
    return np.array([perf_counter() - clock, process_time() - processors]), result


def score(name, model, X):
    return model.predict_proba(X, raw_score=True) if name == PEER else model.decision_function(X)


def check():
    X, y = make_data(20_000, 5)
    one, two = (GradientBoostingRanker(n_rounds=10, random_state=0, n_jobs=n) for n in (1, 2))
    assert np.array_equal(one.fit(X, y).decision_function(X), two.fit(X, y).decision_function(X))


def main():
    parser = make_parser(
        __doc__, rows=1_000_000, features=20, rounds=100, leaves=31, threads=2, runs=3
    )
    parser.add_argument("--memory", action="store_true", help="measure the memory of one fit only")
    options = parser.parse_args()
    X, y = make_data(options.rows, options.features)
    if options.memory:
        GradientBoostingRanker(n_rounds=2).fit(X[:1000], y[:1000])
        options.rounds = 3
        print(peak_bytes(lambda: make_model(OURS, options).fit(X, y))[0])
        return
    check()
    fresh, fresh_y = make_data(FRESH_ROWS, options.features, seed=1)
    names = (OURS, PEER)
    fits, scores, aucs = ({name: [] for name in names} for _ in range(3))
    for _ in range(options.runs):
        for name in names:
            taken, model = timed(make_model(name, options).fit, X, y)
            fits[name].append(taken)
            scores[name].append(timed(score, name, model, X)[0])
            aucs[name] = roc_auc_score(fresh_y, score(name, model, fresh))
    found = {"aucs": aucs}
    for what, times in (("fit", fits), ("score", scores)):
        least = {name: np.min(taken, axis=0) for name, taken in times.items()}
        ratio = least[OURS] / least[PEER]
        found[what] = {name: taken.tolist() for name, taken in least.items()}
        print(f"{what:6}" + "".join(f"{name:>24}" for name in names) + f"{'ratio':>8}")
        for place, clock in enumerate(("clock", "CPU")):
            cells = "".join(f"{least[name][place]:22.2f} s" for name in names)
            print(f"{clock:6}{cells}{ratio[place]:8.2f}")
    print("AUC   " + "".join(f"{aucs[name]:24.5f}" for name in names))
    peak = int(run_again("--memory", options=options, names=SIZES))
    found["bytes_a_value"] = peak / X.size
    print(f"memory of a fit: {peak / X.size:.2f} bytes a value")
    if options.json:
        options.json.write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
