"""RankingEnsemble, its members and what people use today: 5-fold AUC on real data sets.

    python -m benches.studies.quality DATA_FOLDER [--max-rows 20000] [--sets german pima]
        [--models ensemble lightgbm] [--noise all] [--results quality.csv]

DATA_FOLDER holds Parquet files with columns and a 0/1 column `target`. Rivals that are not
installed are left out. Every fold of a set and model is a row of the results, written as soon as it
is known: a run that is broken off goes on where it was. The table: mean AUC over the sets, mean
rank, gain over the best rival (paired over sets, with its standard error), and CPU seconds a fit;
then the sets on which the ensemble loses more than 0.5 points to the best rival. Nothing is chosen
here.

With --noise every model is fitted to columns that tell nothing as well, and the table then has what
they cost: "ids" are one of 1,500 categories and one that is another for every row; "all" are these,
ten numbers, five columns of 40 categories and one of 300.
"""

import argparse
import csv
import importlib.util
from pathlib import Path
from time import process_time

import numpy as np
import pandas as pd
from aucrank import GradientBoostingRanker, LinearRanker, RankingEnsemble, RankingForest
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import StratifiedKFold

from benches.common.data import load_all
from benches.common.over_sets import gain_in_points
from benches.common.rivals import of_columns, score_of
from benches.studies.gradient_boosting import catboost, fit, lightgbm, prepared, with_categories

#: Behind the name of a model that was fitted to columns of noise, too.
NOISE = ", noise: "

OURS = {
    "ensemble": lambda: RankingEnsemble(random_state=0),
    "ensemble, fast": lambda: RankingEnsemble(presets="fast", random_state=0),
    "ensemble, best": lambda: RankingEnsemble(presets="best", random_state=0),
    "gradient boosting": lambda: GradientBoostingRanker(random_state=0),
    "forest": lambda: RankingForest(n_estimators=500, random_state=0),
    "linear": LinearRanker,
}
RIVALS = {
    "logistic regression": lambda: of_columns(
        LogisticRegression(C=0.1, max_iter=2000), scaled=True
    ),
    "random forest": lambda: of_columns(RandomForestClassifier(500, n_jobs=-1, random_state=0)),
    "hist gradient boosting": lambda: of_columns(HistGradientBoostingClassifier(random_state=0)),
    "lightgbm": lightgbm,
    "catboost": catboost,
}


def with_noise(X, kind):
    """Add columns that tell nothing."""
    rng, n = np.random.default_rng(0), len(X)
    n_numbers, levels = (10, [40] * 5 + [300, 1500]) if kind == "all" else (0, [1500])
    noise = {f"noise {k}": rng.normal(size=n) for k in range(n_numbers)}
    for k, n_levels in enumerate(levels):
        noise[f"noise of {n_levels} ({k})"] = [f"level {j}" for j in rng.integers(0, n_levels, n)]
    noise["noise of rows"] = [f"row {j}" for j in rng.permutation(n)]
    return X.assign(**noise)


def measure(models, data, results):
    """Fit what is not in the results yet, and return them all."""
    done = pd.read_csv(results) if results.exists() else pd.DataFrame()
    known = set(done[["set", "model", "fold"]].itertuples(index=False)) if len(done) else set()
    known = {tuple(key) for key in known}
    with results.open("a", newline="") as file:
        writer = csv.writer(file)
        if not known:
            writer.writerow(["set", "model", "fold", "auc", "seconds"])
        for name, (X, y) in data.items():
            X = with_categories(X)
            folds = StratifiedKFold(5, shuffle=True, random_state=0).split(X, y)
            for fold, (train, test) in enumerate(folds):
                for model_name, make in models.items():
                    if (name, model_name, fold) in known:
                        continue
                    model, start = make(), process_time()
                    kind = model_name.split(NOISE)[0]
                    fit(model, prepared(kind, X.iloc[train]), y[train])
                    seconds = process_time() - start
                    scores = score_of(model, prepared(kind, X.iloc[test]))
                    writer.writerow(
                        [name, model_name, fold, roc_auc_score(y[test], scores), seconds]
                    )
                    file.flush()
    return pd.read_csv(results)


def report(found, models):
    """Print the table, and the sets that are lost."""
    found = found[found["model"].isin(models)]
    aucs = found.pivot_table(index="set", columns="model", values="auc").dropna()
    ranks = aucs.rank(axis=1, ascending=False).mean()
    seconds = found.groupby("model")["seconds"].mean()
    rivals = [name for name in aucs.columns if name in RIVALS]
    best = aucs[rivals].mean().idxmax() if rivals else None
    print(f"{len(aucs)} sets" + (f"; gains over {best}" if best else ""))
    for name in aucs.mean().sort_values(ascending=False).index:
        line = (
            f"{name:24s} {aucs[name].mean():.4f}  rank {ranks[name]:4.1f}  {seconds[name]:8.2f} s"
        )
        if best and name != best:
            line += f"  {gain_in_points(aucs[name], aucs[best])} points"
        print(line)
    if "ensemble" not in aucs or not rivals:
        return
    gap = 100 * (aucs[rivals].max(axis=1) - aucs["ensemble"])
    for name, points in gap[gap > 0.5].sort_values(ascending=False).items():
        print(f"lost: {name}, {points:.2f} points to {aucs.loc[name, rivals].idxmax()}")


def report_noise(found, noise):
    """Print what columns of noise cost each model."""
    aucs = found.pivot_table(index="set", columns="model", values="auc")
    for name in (name for name in aucs if name + noise in aucs):
        both = aucs[[name, name + noise]].dropna()
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
    parser.add_argument("data", type=Path)
    parser.add_argument("--max-rows", type=int, default=20_000)
    parser.add_argument("--sets", nargs="+")
    parser.add_argument("--models", nargs="+", choices=[*OURS, *RIVALS])
    parser.add_argument("--noise", choices=("all", "ids"))
    parser.add_argument("--results", type=Path, default=Path("quality.csv"))
    options = parser.parse_args()
    models = {
        name: make
        for name, make in (OURS | RIVALS).items()
        if (options.models is None or name in options.models)
        and (name not in ("lightgbm", "catboost") or importlib.util.find_spec(name))
    }
    data = load_all(options.data, options.max_rows, options.sets)
    found = measure(models, data, options.results)
    report(found, list(models))
    if options.noise:
        noisy = {name: (with_noise(X, options.noise), y) for name, (X, y) in data.items()}
        of_noise = {f"{name}{NOISE}{options.noise}": make for name, make in models.items()}
        report_noise(measure(of_noise, noisy, options.results), NOISE + options.noise)


if __name__ == "__main__":
    main()
