"""What columns of noise cost each learner: categories of any number, and numbers, on real data.

    python -m benches.studies.levels_study DATA_FOLDER [--max-rows 5000] [--repeats 1] [--jobs 2]
        [--sets german pima] [--models TreeRank RIMARC] [--levels 30 300 own] [--json FILE]

DATA_FOLDER holds Parquet files with columns and a 0/1 column `target`. To each set one column of
noise is added, of so many categories ("own": as many as there are rows; "number": no categories
but a normal number). A row of the first table has the mean over the sets of what the column costs
in AUC, on the same five stratified folds with and without it, and the largest cost of any set; the
second one the AUC of each set without noise. "law" is a simulation: a column of 30 categories on
which the class depends, beside a number that tells nothing; "id" is a number that tells something.
`--raw` adds the same learners with `level_rates="raw"`, the papers' search.
"""

import argparse
import json
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
from aucrank import (
    AURORA,
    RIMARC,
    AUCBoost,
    MartiRank,
    RankBoost,
    RankingForest,
    Scorecard,
    SMartiRank,
    TreeRank,
)
from joblib import Parallel, delayed
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import StratifiedKFold

from benches.common.data import load_all

LEVELS = ("number", "5", "30", "100", "300", "1500", "own")

MODELS = {
    "TreeRank": TreeRank(),
    "TreeRank, unpruned": TreeRank(pruning=None),
    "LeafRank": TreeRank(split="leafrank"),
    "RankingForest": RankingForest(random_state=0),
    "RankBoost": RankBoost(),
    "RankBoost, trees": RankBoost(weak_ranker="tree", n_rounds=50),
    "AUCBoost": AUCBoost(),
    "MartiRank": MartiRank(),
    "SMartiRank": SMartiRank(),
    "RIMARC": RIMARC(),
    "Scorecard": Scorecard(),
    "AURORA": AURORA(order=1, max_features=30, radius=1.0),
}


def raw(model):
    if isinstance(model, Scorecard):
        return Scorecard(estimator=RIMARC(level_rates="raw"))
    return type(model)(**model.get_params(deep=False) | {"level_rates": "raw"})


def simulations(n_rows=3000):
    """Return the law over 30 categories and the number beside an id."""
    rng = np.random.default_rng(0)
    level = rng.integers(30, size=n_rows)
    rate = rng.beta(1.0, 1.0, size=30)[level]
    law = pd.DataFrame({"x": rng.normal(size=n_rows), "level": _categories(level)})
    x = rng.normal(size=n_rows)
    y = rng.random(n_rows) < 1 / (1 + np.exp(-2 * x))
    return {
        "law": (law, (rng.random(n_rows) < rate).astype(int)),
        "id": (pd.DataFrame({"x": x}), y.astype(int)),
    }


def _categories(codes):
    return pd.Categorical([f"v{code}" for code in codes])


def with_noise(X, levels, seed):
    if levels is None:
        return X
    rng = np.random.default_rng((1, seed))
    if levels == "number":
        return X.assign(noise=rng.normal(size=len(X)))
    if levels == "own":
        return X.assign(noise=_categories(rng.permutation(len(X))))
    return X.assign(noise=_categories(rng.integers(int(levels), size=len(X))))


def mean_auc(model, X, y, levels, seed):
    warnings.simplefilter("ignore")
    X = with_noise(X, levels, seed)
    aucs = []
    for train, test in StratifiedKFold(5, shuffle=True, random_state=seed).split(X, y):
        model.set_params(n_jobs=1).fit(X.iloc[train], y[train])
        aucs.append(roc_auc_score(y[test], model.decision_function(X.iloc[test])))
    return float(np.mean(aucs))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--max-rows", type=int, default=5000)
    parser.add_argument("--repeats", type=int, default=1, help="times that folds are dealt anew")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--sets", nargs="*", help="only these, by file name without ending")
    parser.add_argument("--models", nargs="*", help="only these, by name")
    parser.add_argument("--levels", nargs="*", default=LEVELS)
    parser.add_argument("--raw", action="store_true", help="with level_rates='raw' too")
    parser.add_argument("--json", type=Path, help="writes every AUC there")
    options = parser.parse_args()
    sets = load_all(options.folder, options.max_rows) | simulations()
    sets = {name: sets[name] for name in options.sets or sets}
    models = {name: MODELS[name] for name in options.models or MODELS}
    if options.raw:
        no_levels = AURORA
        models |= {
            f"{name}, raw": raw(model)
            for name, model in models.items()
            if not isinstance(model, no_levels)
        }
    tasks = [
        (model, name, levels, seed)
        for name in sorted(sets, key=lambda name: -sets[name][0].size)
        for model in models
        for levels in (None, *options.levels)
        for seed in range(options.repeats)
    ]
    run = delayed(mean_auc)
    found = Parallel(n_jobs=options.jobs)(
        run(models[model], *sets[name], levels, seed) for model, name, levels, seed in tasks
    )
    aucs = {}
    for (model, name, levels, _), auc in zip(tasks, found, strict=True):
        aucs.setdefault((model, levels), {}).setdefault(name, []).append(auc)
    means = {
        key: {name: float(np.mean(found)) for name, found in of_set.items()}
        for key, of_set in aucs.items()
    }
    print(f"{'cost, mean / largest':24}" + "".join(f"{levels:>18}" for levels in options.levels))
    for model in models:
        cells = ""
        for levels in options.levels:
            cost = {n: means[model, None][n] - means[model, levels][n] for n in sets}
            worst = max(cost, key=cost.get)
            cells += f"{np.mean(list(cost.values())):8.4f}{cost[worst]:7.3f} {worst[:2]}"
        print(f"{model:24}{cells}")
    print(f"\n{'AUC without noise':24}" + "".join(f"{name[:7]:>8}" for name in sets) + "    mean")
    for model in models:
        of_set = means[model, None]
        cells = "".join(f"{of_set[name]:8.4f}" for name in sets)
        print(f"{model:24}{cells}{np.mean(list(of_set.values())):8.4f}")
    if options.json:
        rows = [{"model": m, "levels": v, "aucs": of_set} for (m, v), of_set in aucs.items()]
        options.json.write_text(json.dumps(rows))


if __name__ == "__main__":
    main()
