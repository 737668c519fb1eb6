"""What columns of noise cost each learner: categories of any number, and numbers, on real data.

    python -m benches.studies.levels_study DATA_FOLDER [--max-rows 5000] [--repeats 1] [--jobs 2]
        [--sets german pima] [--models TreeRank RIMARC] [--levels 30 300 own] [--json FILE]
        [--rates]

DATA_FOLDER holds Parquet files with columns and a 0/1 column `target`. To each set one column of
noise is added, of so many categories ("own": as many as there are rows; "number": no categories
but a normal number). A row of the first table has the mean over the sets of what the column costs
in AUC, on the same five stratified folds with and without it, and the largest cost of any set; the
second one the AUC of each set without noise. "law" is a simulation: a column of 30 categories on
which the class depends, next to an uninformative number; "id" is an informative number.
`--rates` makes another table: the AUC of the learners that learn from the rates of rare categories,
on the sets where these hold more than 5 % of the rows of some column, with the columns as they are
and with the rare categories of each training part made missing, which leaves no rates to learn.
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
    GradientBoostingRanker,
    LinearRanker,
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

from benches.common.data import is_category, load_all, with_categories

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


#: Those that learn from the rates of rare categories.
OF_RATES = {
    "booster": GradientBoostingRanker(random_state=0),
    "booster, stopped": GradientBoostingRanker(
        n_rounds=1000,
        learning_rate=0.05,
        l2=1,
        early_stopping=True,
        scoring="loss",
        n_iter_no_change=50,
        n_bags=4,
        random_state=0,
    ),
    "forest": RankingForest(n_estimators=500, random_state=0),
    "linear": LinearRanker(),
    "RankBoost": RankBoost(),
    "RankBoost, trees": RankBoost(weak_ranker="tree", n_rounds=50),
    "AUCBoost": AUCBoost(),
    "TreeRank": TreeRank(),
    "LeafRank": TreeRank(split="leafrank"),
    "Scorecard": Scorecard(),
}

#: Shares of the rows: a category of less is rare, and rare ones of more are learned from.
LEAST_SHARE, MOST_RARE = 0.002, 0.05


def rare_levels(column):
    """Return the categories of a column that are rare, if they hold many of its rows."""
    counts = column.value_counts()
    rare = counts[counts < max(3, np.ceil(LEAST_SHARE * len(column)))]
    return rare.index if rare.sum() > MOST_RARE * len(column) else rare.index[:0]


def auc_by_rates(model, X, y, train, test):
    """Return the AUC with columns as they are, and with their rare categories missing."""
    warnings.simplefilter("ignore")
    aucs = []
    for has_rates in (True, False):
        frame = X
        if not has_rates:
            rare = {name: rare_levels(X[name].iloc[train]) for name in X if is_category(X[name])}
            changed = {name: X[name].where(~X[name].isin(rare[name])) for name in rare}
            frame = X.assign(**changed)
        model.set_params(n_jobs=1).fit(frame.iloc[train], y[train])
        aucs.append(roc_auc_score(y[test], model.decision_function(frame.iloc[test])))
    return aucs


def print_rates(sets, models, n_jobs):
    """Print what rates of rare categories are worth to each learner."""
    sets = {name: (with_categories(X), y) for name, (X, y) in sets.items()}
    sets = {
        name: (X, y)
        for name, (X, y) in sets.items()
        if any(len(rare_levels(X[column])) for column in X if is_category(X[column]))
    }
    print(f"{'':24}{'set':20}{'without':>9}{'with':>9}")
    for name, (X, y) in sets.items():
        folds = list(StratifiedKFold(5, shuffle=True, random_state=0).split(X, y))
        for model_name, model in models.items():
            run = delayed(auc_by_rates)
            found = Parallel(n_jobs=n_jobs)(run(model, X, y, *fold) for fold in folds)
            with_rates, without = np.mean(found, axis=0)
            print(f"{model_name:24}{name:20}{without:9.4f}{with_rates:9.4f}", flush=True)


def raw(model):
    if isinstance(model, Scorecard):
        return Scorecard(estimator=RIMARC(level_rates="raw"))
    return type(model)(**model.get_params(deep=False) | {"level_rates": "raw"})


def simulations(n_rows=3000):
    """Return the law over 30 categories and the number next to an id."""
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
    parser.add_argument("--rates", action="store_true", help="what rates of rare ones are worth")
    parser.add_argument("--json", type=Path, help="writes every AUC there")
    options = parser.parse_args()
    sets = load_all(options.folder, options.max_rows) | simulations()
    sets = {name: sets[name] for name in options.sets or sets}
    if options.rates:
        models = {name: OF_RATES[name] for name in options.models or OF_RATES}
        print_rates(sets, models, options.jobs)
        return
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
