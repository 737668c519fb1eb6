"""How large the leaves of a RankingForest should be, and by what cuts are chosen: AUC on real data.

    python -m benches.studies.forest_study DATA_FOLDER [DATA_FOLDER ...] [--max-rows 5000]
        [--folds 2] [--sets german pima] [--versions plain noise] [--results forest.csv]
        [--criteria]

DATA_FOLDER holds Parquet files with columns and a 0/1 column `target`. Sets differ in what leaves
they need, and those of a folder may be more alike than those of users, so each is taken in several
versions, all tested on rows as they were:

- plain: five stratified folds, of which the first are taken;
- noise: with 20 or 100 columns that tell nothing, a quarter of them categories;
- turned: a quarter of the training labels turned over;
- few: 500 training rows, of sets of more than 1,500;
- rare: positives thinned out to 2 % of the training rows, of such sets where they are not rare.

A row of the results is a fold of a version of a set and a model, written as soon as it is known: a
run that is broken off goes on where it was. The table has the gain of each model over the random
forest of 500 trees in points, hundredths of AUC, mean over the sets of each version and over all,
the worst of these gains, and CPU seconds a fit; then what sizes of leaf gain that are chosen for
each set by the other sets, against the choice by the rows out of bag.

With --criteria the sets are taken as they are, in three folds, and the table has the criteria of
cuts, best and random ones, of 300 trees: what they gain over the random forest, and extremely
randomised trees over it, on average over the sets and on the median, all and those of each folder.
"""

import argparse
from pathlib import Path
from time import process_time

import numpy as np
import pandas as pd
from aucrank import RankingForest
from sklearn.base import BaseEstimator
from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import StratifiedKFold

from benches.common.data import load_batches
from benches.common.over_sets import chosen_by_others, gain_in_points, gains_of_batches
from benches.common.results import resumed
from benches.common.rivals import of_columns, score_of
from benches.studies.gradient_boosting import with_categories

VERSIONS = ("plain", "noise", "turned", "few", "rare")
RIVAL = "random forest, 500 trees"
AUTO = "auto"
FIXED = {f"leaf {size}": size for size in (1, 3, 5, 10, 20)}


class Blend(BaseEstimator):
    """A forest in which each of three sizes of leaf has a hundred trees."""

    def fit(self, X, y):
        """Fit the three forests."""
        forests = (RankingForest(min_samples_leaf=size, random_state=size) for size in (1, 5, 20))
        self.forests_ = [forest.fit(X, y) for forest in forests]
        return self

    def decision_function(self, X):
        """Return the mean share of positives over all trees, but for a constant."""
        return np.mean([forest.decision_function(X) for forest in self.forests_], axis=0)


def forest(**setting):
    """Return what makes a forest of one thread."""
    return lambda: RankingForest(**setting, random_state=0, n_jobs=1)


MODELS = {
    RIVAL: lambda: of_columns(RandomForestClassifier(500, n_jobs=1, random_state=0)),
    AUTO: forest(),
    "auto, 300 trees": forest(n_estimators=300),
    **{label: forest(min_samples_leaf=size) for label, size in FIXED.items()},
    "leaves 1, 5, 20, 300 trees": Blend,
    "rank_mean, auto": forest(aggregation="rank_mean"),
}


CRITERIA = {
    RIVAL: MODELS[RIVAL],
    "extremely randomised trees, 500": lambda: of_columns(
        ExtraTreesClassifier(500, n_jobs=1, random_state=0)
    ),
    **{
        f"{criterion}, leaf {size}": forest(
            n_estimators=300, criterion=criterion, min_samples_leaf=size
        )
        for criterion in ("log_loss", "gini", "youden")
        for size in (1, 5, 20, "auto")
    },
    "auto, leaf auto": forest(n_estimators=300, criterion="auto"),
    **{
        f"{criterion}, random cuts, leaf {size}": forest(
            n_estimators=300,
            criterion=criterion,
            cuts="random",
            bootstrap=False,
            min_samples_leaf=size,
        )
        for criterion in ("log_loss", "gini", "youden")
        for size in (1, 3)
    },
}


def with_noise(X, n_columns, rng):
    """Return the columns with others that tell nothing."""
    columns = {}
    for number in range(n_columns):
        levels = rng.integers(0, 12, len(X)).astype(str)
        columns[f"noise {number}"] = rng.normal(size=len(X)) if number % 4 else levels
    return with_categories(pd.concat([X, pd.DataFrame(columns, index=X.index)], axis=1))


def versions_of(name, X, y, fold, n_splits):
    """Yield by name the columns, training rows, their labels, and the rows to test on."""
    splits = StratifiedKFold(n_splits, shuffle=True, random_state=1).split(X, y)
    train, test = list(splits)[fold]
    rng = np.random.default_rng([fold, *name.encode()])
    yield "plain", X, train, y[train], test
    yield "noise", with_noise(X, rng.choice([20, 100]), rng), train, y[train], test
    yield "turned", X, train, y[train] ^ (rng.random(len(train)) < 0.25), test
    if len(y) <= 1500:
        return
    order = rng.permutation(len(y))
    yield "few", X, order[:500], y[order[:500]], order[500:]
    if y.mean() > 0.05:
        negative, positive = (train[y[train] == label] for label in (0, 1))
        kept = rng.permutation(positive)[: round(len(negative) * 0.02 / 0.98)]
        train = rng.permutation(np.concatenate([negative, kept]))
        yield "rare", X, train, y[train], test


def measure(models, sets, options):
    """Fit what is not in the results yet, and return them all."""
    results, keys = options.results, ["version", "set", "fold", "model"]
    with resumed(results, keys, ["auc", "seconds"]) as (known, append):
        for fold in range(options.folds):
            for name, (X, y) in sets.items():
                n_splits = 3 if options.criteria else 5
                for version, columns, train, labels, test in versions_of(
                    name, X, y, fold, n_splits
                ):
                    if version not in options.versions:
                        continue
                    for label, make in models.items():
                        key = (version, name, fold, label)
                        if key in known:
                            continue
                        start = process_time()
                        model = make().fit(columns.iloc[train], labels)
                        seconds = process_time() - start
                        auc = roc_auc_score(y[test], score_of(model, columns.iloc[test]))
                        append(*key, auc, seconds)
    return pd.read_csv(results)


def report(found):
    """Print the table of gains, and what a choice by other sets is worth."""
    found = found[found["model"].isin(MODELS)]
    aucs = found.pivot_table(index=["version", "set"], columns="model", values="auc").dropna()
    points = 100 * aucs.sub(aucs[RIVAL], axis=0)
    seconds = found.groupby("model")["seconds"].mean()
    versions = [version for version in VERSIONS if version in points.index]
    print(f"{'':28}" + "".join(f"{v:>8}" for v in versions) + "     all   worst       s")
    for model in points.mean().sort_values(ascending=False).index:
        cells = [points.loc[version, model].mean() for version in versions]
        cells += [points[model].mean(), points[model].min()]
        print(f"{model:28}" + "".join(f"{c:8.2f}" for c in cells) + f"{seconds[model]:8.2f}")
    for label, part in {"plain": points.loc[["plain"]], "all versions": points}.items():
        of_sets = part.groupby("set").mean()
        chosen = chosen_by_others(of_sets[list(FIXED)])
        print(
            f"{label}: a size chosen by the other sets gains {chosen.mean():.2f} points; the choice"
            f" by rows out of bag {gain_in_points(of_sets[AUTO] / 100, chosen / 100)} on it"
        )


def report_criteria(found, batch_of):
    """Print the gain of each criterion over the random forest."""
    aucs = found.pivot_table(index=["set", "fold"], columns="model", values="auc").dropna()
    aucs = aucs.groupby("set").mean()
    seconds = found.groupby("model")["seconds"].mean()
    for model in aucs.mean().sort_values(ascending=False).index:
        gains = gains_of_batches(aucs[model], aucs[RIVAL], batch_of)
        print(f"{model:34}{seconds[model]:6.2f} s  {gains}")
        medians = 100 * (aucs[model] - aucs[RIVAL]).groupby(batch_of).median()
        print(f"{'':43}medians {', '.join(f'{b} {m:+.2f}' for b, m in medians.items())}")


def main():
    """Measure, then print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folders", type=Path, nargs="+")
    parser.add_argument("--max-rows", type=int, default=5000)
    parser.add_argument("--folds", type=int, default=2, choices=range(1, 6))
    parser.add_argument("--sets", nargs="*", help="only these, by file name without ending")
    parser.add_argument("--versions", nargs="+", choices=VERSIONS, default=VERSIONS)
    parser.add_argument("--results", type=Path)
    parser.add_argument("--criteria", action="store_true")
    options = parser.parse_args()
    if options.criteria:
        options.versions, options.folds = ["plain"], min(options.folds, 3)
    if options.results is None:
        options.results = Path("criteria.csv" if options.criteria else "forest.csv")
    sets, batch_of = load_batches(options.folders, options.max_rows, options.sets)
    sets = {name: (with_categories(X), y) for name, (X, y) in sets.items()}
    if options.criteria:
        report_criteria(measure(CRITERIA, sets, options), batch_of)
    else:
        report(measure(MODELS, sets, options))


if __name__ == "__main__":
    main()
