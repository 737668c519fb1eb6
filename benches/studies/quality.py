"""RankingEnsemble, its members and what people use today: 5-fold AUC on real data sets.

    python -m benches.studies.quality FOLDER [FOLDER ...] [--max-rows 20000] [--large]
        [--sets german pima] [--models ensemble lightgbm] [--folds 5] [--noise all]
        [--results quality.csv] [--json quality.json]

Each FOLDER holds Parquet files with columns and a 0/1 column `target`. Of several, gains are shown
for each, too: what a default was chosen on must not be all that it is judged by. With --large only
the sets of more than `--max-rows` rows are taken, whole up to 200,000, and split once, 70 to 30.
Rivals that are not installed are left out. Every fold of a set and model is a row of the results,
written as soon as it is known: a run that is broken off goes on where it was. Fits are known
by set, model and fold alone: other rows or splits need another file, as --large has by default.

The table: mean AUC over the sets, mean rank, gain over CatBoost, or else the best rival (paired
over sets, with its standard error and median), and seconds a fit, of the processor and of the
clock; then the sets on which the ensemble loses more than 0.5 points to the best rival, and where
its three members are there, what it gains over the best of them. All is over the folds that every
model was fitted to. Nothing is chosen here.

AutoGluon has its preset of the best quality on processors and 120 seconds of the clock a fit, on a
machine that should do nothing else: `--models ensemble catboost autogluon --folds 1` is two minutes
a set.

`--json` keeps the means of each set and model for the page of benchmarks (`python -m
benches.page`).

With --noise every model is fitted to columns that tell nothing as well, and the table then has what
they cost: "ids" are one of 1,500 categories and one that is another for every row; "all" are these,
ten numbers, five columns of 40 categories and one of 300.
"""

import argparse
import json
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from time import perf_counter, process_time

import numpy as np
import pandas as pd
from aucrank import (
    AURORA,
    RIMARC,
    GradientBoostingRanker,
    IntegerScore,
    LinearRanker,
    RankingEnsemble,
    RankingForest,
    Scorecard,
    TreeRank,
)
from aucrank.ensemble._presets import members_of
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import StratifiedKFold, StratifiedShuffleSplit

from benches.common.data import load_batches, with_categories
from benches.common.machine import machine
from benches.common.over_sets import gain_in_points, gains_of_batches
from benches.common.results import resumed
from benches.common.rivals import (
    AutoGluon,
    Hessboost,
    StoppedBags,
    catboost,
    ebm,
    is_installed,
    lightgbm,
    of_columns,
    score_of,
    stopped_catboost,
    stopped_lightgbm,
    stopped_xgboost,
    version_of,
)
from benches.studies.gradient_boosting import fit, prepared

#: Rows that are taken of a large set.
LARGEST = 200_000

#: Behind the name of a model that was fitted to columns of noise, too.
NOISE = ", noise: "


def chimeraboost():
    """ChimeraBoost, which stops early and combines categories by its default."""
    from chimeraboost import ChimeraBoostClassifier

    return ChimeraBoostClassifier(random_state=0, thread_count=2)


def ensemble_with(name, **params):
    """Return the default ensemble with other parameters of a member; of few rows."""
    members = members_of("default", 1)
    dict(members)[name].set_params(**params)
    return RankingEnsemble(members=members, random_state=0)


OURS = {
    "ensemble": lambda: RankingEnsemble(random_state=0),
    "ensemble, fast": lambda: RankingEnsemble(presets="fast", random_state=0),
    "ensemble, best": lambda: RankingEnsemble(presets="best", random_state=0),
    "gradient boosting": lambda: GradientBoostingRanker(random_state=0),
    "gradient boosting, 32 leaves": lambda: GradientBoostingRanker(max_leaves=32, random_state=0),
    "gradient boosting, no refit": lambda: GradientBoostingRanker(refit=False, random_state=0),
    "gradient boosting, 32 leaves, no refit": lambda: GradientBoostingRanker(
        max_leaves=32, refit=False, random_state=0
    ),
    "gradient boosting, no pairs": lambda: GradientBoostingRanker(
        category_pairs=False, random_state=0
    ),
    "forest": lambda: RankingForest(n_estimators=500, random_state=0),
    "linear": LinearRanker,
    "linear, single features": lambda: LinearRanker(interactions=None),
    "ensemble, no refit": lambda: ensemble_with("boosting", refit=False),
    "ensemble, single features in linear": lambda: ensemble_with(
        "linear_thresholds", interactions=None
    ),
    "random cuts": lambda: RankingForest(
        cuts="random", bootstrap=False, min_samples_leaf=1, random_state=0
    ),
    "additive": lambda: GradientBoostingRanker.additive(random_state=0),
    "scorecard": Scorecard,
    "integer score": IntegerScore,
    "terms": lambda: AURORA(random_state=0),
    "tree": lambda: TreeRank(random_state=0),
    "table": RIMARC,
}
#: What the default ensemble is made of.
MEMBERS = ["gradient boosting", "linear", "random cuts"]
RIVALS = {
    "logistic regression": lambda: of_columns(
        LogisticRegression(C=0.1, max_iter=2000), scaled=True
    ),
    "random forest": lambda: of_columns(RandomForestClassifier(500, n_jobs=-1, random_state=0)),
    "hist gradient boosting": lambda: of_columns(HistGradientBoostingClassifier(random_state=0)),
    "lightgbm": lightgbm,
    "lightgbm, stopped": lambda: StoppedBags(stopped_lightgbm, n_bags=1),
    "xgboost, stopped": lambda: StoppedBags(stopped_xgboost, n_bags=1),
    "catboost": catboost,
    "catboost, 5 bags": lambda: StoppedBags(stopped_catboost),
    "chimeraboost": chimeraboost,
    "ebm": ebm,
    "hessboost": Hessboost,
    "autogluon": AutoGluon,
}

#: Modules of the kinds of rivals that need not be installed.
MODULES = {
    "lightgbm": "lightgbm",
    "xgboost": "xgboost",
    "catboost": "catboost",
    "chimeraboost": "chimeraboost",
    "ebm": "interpret.glassbox",
    "hessboost": "hessboost",
    "autogluon": "autogluon.tabular",
}


def kind_of(model_name):
    """Return what a model is, without how it is fitted and to what."""
    return model_name.split(",")[0]


def large_split(X, y):
    """Return the only split of a large set: the places of 70 % and of 30 % of the rows."""
    return StratifiedShuffleSplit(1, train_size=0.7, random_state=0).split(X, y)


def with_noise(X, kind):
    """Add columns that tell nothing."""
    rng, n = np.random.default_rng(0), len(X)
    n_numbers, levels = (10, [40] * 5 + [300, 1500]) if kind == "all" else (0, [1500])
    noise = {f"noise {k}": rng.normal(size=n) for k in range(n_numbers)}
    for k, n_levels in enumerate(levels):
        noise[f"noise of {n_levels} ({k})"] = [f"level {j}" for j in rng.integers(0, n_levels, n)]
    noise["noise of rows"] = [f"row {j}" for j in rng.permutation(n)]
    return X.assign(**noise)


def five_folds(X, y):
    """Return the folds of a set."""
    return StratifiedKFold(5, shuffle=True, random_state=0).split(X, y)


def measure(models, data, results, n_folds, split=five_folds):
    """Fit what is not in the results yet to the first folds of five, and return them all."""
    keys, figures = ["set", "model", "fold"], ["auc", "seconds", "clock"]
    with resumed(results, keys, figures) as (known, append):
        for name, (X, y) in data.items():
            X = with_categories(X)
            for fold, (train, test) in islice(enumerate(split(X, y)), n_folds):
                for model_name, make in models.items():
                    if (name, model_name, fold) in known:
                        continue
                    model, start, clock = make(), process_time(), perf_counter()
                    kind = kind_of(model_name)
                    fit(model, prepared(kind, X.iloc[train]), y[train])
                    seconds, clock = process_time() - start, perf_counter() - clock
                    scores = score_of(model, prepared(kind, X.iloc[test]))
                    auc = roc_auc_score(y[test], scores)
                    append(name, model_name, fold, auc, seconds, clock)
    return pd.read_csv(results)


def of_sets(found):
    """Mean AUC of every set (rows) and model, over the folds that every model was fitted to."""
    aucs = found.pivot_table(index=["set", "fold"], columns="model", values="auc")
    return aucs.dropna().groupby("set").mean()


def versions_of(names):
    """Return the version of scikit-learn and of the packages of rivals among models."""
    modules = {MODULES[kind_of(name)].split(".")[0] for name in names if kind_of(name) in MODULES}
    return {name: version_of(name) for name in ["sklearn", *sorted(modules)]}


def report(found, models, batch_of):
    """Print the table, and the sets that are lost."""
    found = found[found["model"].isin(models)]
    aucs = of_sets(found)
    ranks = aucs.rank(axis=1, ascending=False).mean()
    seconds = found.groupby("model")[["seconds", "clock"]].mean()
    rivals = [name for name in aucs.columns if name in RIVALS]
    best = aucs[rivals].mean().idxmax() if rivals else None
    if "catboost" in rivals:
        best = "catboost"
    print(", ".join(f"{name} {version}" for name, version in versions_of(rivals).items()))
    print(f"{len(aucs)} sets" + (f"; gains over {best}" if best else ""))
    for name in aucs.mean().sort_values(ascending=False).index:
        line = (
            f"{name:24s} {aucs[name].mean():.4f}  rank {ranks[name]:4.1f}"
            f"  {seconds['seconds'][name]:8.2f} CPU s  {seconds['clock'][name]:8.2f} s"
        )
        if best and name != best:
            line += f"  {gains_of_batches(aucs[name], aucs[best], batch_of)} points"
        print(line)
    if {"ensemble", *MEMBERS} <= set(aucs):
        gain = gains_of_batches(aucs["ensemble"], aucs[MEMBERS].max(axis=1), batch_of)
        print(f"ensemble over the best of its members: {gain} points")
    if "ensemble" not in aucs or not rivals:
        return
    gap = 100 * (aucs[rivals].max(axis=1) - aucs["ensemble"])
    for name, points in gap[gap > 0.5].sort_values(ascending=False).items():
        print(f"lost: {name}, {points:.2f} points to {aucs.loc[name, rivals].idxmax()}")


def summary(found, models, batch_of, options):
    """Return what the page of benchmarks says: means by set and model, and how they were made."""
    found = found[found["model"].isin(models)]
    aucs = of_sets(found)
    seconds = found.groupby("model")["seconds"].mean()
    return {
        "machine": machine(),
        "date": datetime.now(UTC).date().isoformat(),
        "versions": {"aucrank": version_of("aucrank"), **versions_of(aucs)},
        "rows": options.max_rows,
        "folds": options.folds,
        "sets": {name: batch_of[name] for name in aucs.index},
        "models": {
            name: {
                "auc": aucs[name].round(6).to_dict(),
                "seconds": round(float(seconds[name]), 4),
            }
            for name in models
            if name in aucs
        },
    }


def report_noise(found, noise):
    """Print what columns of noise cost each model."""
    known = set(found["model"])
    for name in sorted(name for name in known if name + noise in known):
        both = of_sets(found[found["model"].isin([name, name + noise])])
        plain, noisy = both[name], both[name + noise]
        loss = 100 * (plain - noisy)
        print(
            f"{name:24s} {plain.mean():.4f}  with noise {noisy.mean():.4f}"
            f"  {gain_in_points(noisy, plain)} points over {len(both)} sets,"
            f" most {loss.max():.2f} ({loss.idxmax()})"
        )


def main():
    """Measure, then print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folders", type=Path, nargs="+")
    parser.add_argument("--max-rows", type=int, default=20_000)
    parser.add_argument("--large", action="store_true")
    parser.add_argument("--sets", nargs="+")
    parser.add_argument("--models", nargs="+", choices=[*OURS, *RIVALS])
    parser.add_argument("--folds", type=int, choices=range(1, 6), default=5)
    parser.add_argument("--noise", choices=("all", "ids"))
    parser.add_argument("--results", type=Path)
    parser.add_argument("--json", type=Path, help="write the means there")
    options = parser.parse_args()
    models = {
        name: make
        for name, make in (OURS | RIVALS).items()
        if (options.models is None or name in options.models)
        and (kind_of(name) not in MODULES or is_installed(MODULES[kind_of(name)]))
    }
    most = LARGEST if options.large else options.max_rows
    data, batch_of = load_batches(options.folders, most, options.sets)
    if options.large:
        data = {name: (X, y) for name, (X, y) in data.items() if len(X) > options.max_rows}
    split = large_split if options.large else five_folds
    results = options.results or Path("quality_large.csv" if options.large else "quality.csv")
    found = measure(models, data, results, options.folds, split)
    found = found[found["set"].isin(data)]
    report(found, list(models), batch_of)
    if options.json:
        kept = summary(found, list(models), batch_of, options)
        options.json.write_text(json.dumps(kept, indent=1) + "\n", "utf-8")
    if options.noise:
        noisy = {name: (with_noise(X, options.noise), y) for name, (X, y) in data.items()}
        of_noise = {f"{name}{NOISE}{options.noise}": make for name, make in models.items()}
        found = measure(of_noise, noisy, results, options.folds, split)
        report_noise(found, NOISE + options.noise)


if __name__ == "__main__":
    main()
