"""Every ranker of aucrank by its defaults: 5-fold AUC and CPU seconds on real data sets.

    python -m benches.studies.all_rankers FOLDER [FOLDER ...] [--max-rows 5000]
        [--sets german pima] [--models TreeRank RIMARC] [--folds 5] [--results all_rankers.csv]

Each FOLDER holds Parquet files with columns and a 0/1 column `target`. Logistic regression of
scikit-learn is listed, too; for it and for RankOpt categories are one-hot and missing values the
median. Every fold of a set and model is a row of the results, written as soon as it is known: a run
that is broken off goes on where it was. The table: mean AUC over the sets, of all and of each
folder, what is gained over the ensemble, in points with its standard error over the sets and its
median, and CPU seconds a fit. Nothing is chosen.
"""

import argparse
from pathlib import Path

import aucrank
from aucrank._base.registry import public_estimators
from sklearn.linear_model import LogisticRegression

from benches.common.data import load_batches
from benches.common.over_sets import gains_of_batches
from benches.common.rivals import of_columns
from benches.studies.quality import measure, of_sets

#: What the others are compared with.
BEST = "RankingEnsemble"


def maker(name):
    """Return a maker of the ranker by its defaults."""
    ranker = getattr(aucrank, name)
    if name == "RankOpt":
        return lambda: of_columns(ranker())
    seeded = {"random_state": 0} if "random_state" in ranker().get_params() else {}
    return lambda: ranker(**seeded)


MODELS = {name: maker(name) for name in public_estimators()} | {
    "logistic regression": lambda: of_columns(LogisticRegression(max_iter=2000), scaled=True),
    "additive": lambda: aucrank.GradientBoostingRanker.additive(random_state=0),
    "additive, pairs": lambda: aucrank.GradientBoostingRanker.additive(
        interactions="auto", random_state=0
    ),
    "RankingEnsemble, fast": lambda: aucrank.RankingEnsemble(presets="fast", random_state=0),
}


def report(found, models, batch_of):
    """Print the table."""
    found = found[found["model"].isin(models)]
    aucs = of_sets(found)
    seconds = found.groupby("model")["seconds"].mean()
    batches = aucs.groupby(batch_of).mean()
    print(f"{len(aucs)} sets")
    for name in aucs.mean().sort_values(ascending=False).index:
        of_batches = ", ".join(f"{batch} {auc:.4f}" for batch, auc in batches[name].items())
        line = f"{name:24s} {aucs[name].mean():.4f} [{of_batches}]  {seconds[name]:8.3f} s"
        if BEST in aucs and name != BEST:
            line += f"  {gains_of_batches(aucs[name], aucs[BEST], batch_of)} points"
        print(line)


def main():
    """Measure, then print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folders", type=Path, nargs="+")
    parser.add_argument("--max-rows", type=int, default=5000)
    parser.add_argument("--sets", nargs="+", help="only these, by file name without ending")
    parser.add_argument("--models", nargs="+", choices=MODELS, default=list(MODELS))
    parser.add_argument("--folds", type=int, choices=range(1, 6), default=5)
    parser.add_argument("--results", type=Path, default=Path("all_rankers.csv"))
    options = parser.parse_args()
    models = {name: MODELS[name] for name in options.models}
    data, batch_of = load_batches(options.folders, options.max_rows, options.sets)
    found = measure(models, data, options.results, options.folds)
    report(found[found["set"].isin(data)], list(models), batch_of)


if __name__ == "__main__":
    main()
