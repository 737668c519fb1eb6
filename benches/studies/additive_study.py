"""Sums of single features, of pairs, and cards against EBM: 5-fold AUC on real data sets.

    python -m benches.studies.additive_study FOLDER [FOLDER ...] [--max-rows 5000] [--folds 5]
        [--sets german pima] [--models EBM RankBoost] [--noise 20] [--results additive.csv]

Each FOLDER holds Parquet files with columns and a 0/1 column `target`. EBM is that of the package
`interpret` by its defaults, which have three pairs a feature; "optbinning" is a card of that
package; each is left out where it is not installed. Every fold of a set and model is a row of the
results, written as soon as it is known: a run that is broken off goes on where it was. With
`--noise`, so many columns of normal noise are added to each set. The table: mean AUC over the sets
and folds that every model was fitted to, gain over EBM in points with its standard error over the
sets and its median, over all and for each folder, and CPU seconds a fit. "chosen by the other sets"
takes for each set the settings of bags that are best on all others: what the choice is worth on a
set that it was not made on. The same for cards.
"""

import argparse
from functools import partial
from pathlib import Path

import numpy as np
from aucrank import RIMARC, GradientBoostingRanker, LinearRanker, RankBoost, Scorecard
from sklearn.linear_model import LogisticRegression

from benches.common.data import load_batches
from benches.common.over_sets import chosen_by_others, gains_of_batches
from benches.common.rivals import OptbinningCard, ebm, is_installed, of_columns
from benches.studies.quality import measure, of_sets


def additive(**params):
    """Return a maker of bags of sums with other settings."""
    return lambda: GradientBoostingRanker.additive(random_state=0, **params)


def card(ranker, **params):
    """Return a maker of cards of a ranker."""
    return lambda: Scorecard(estimator=ranker(), **params)


BAGS = {
    "bags": additive(),
    "bags, 4 leaves": additive(max_leaves=4),
    "bags, 8 leaves": additive(max_leaves=8),
    "bags, rate 0.05": additive(learning_rate=0.05),
    "bags, a share of the rows held out": additive(
        learning_rate=0.2, n_iter_no_change=30, validation_fraction=0.15
    ),
    "bags, best cuts": additive(cuts="best"),
    "bags, refit": additive(refit=True),
}
CARDS = {
    "Scorecard()": Scorecard,
    "card of RIMARC": card(lambda: RIMARC(missing="value")),
    "card of RankBoost": card(RankBoost),
    "card of bags": card(additive()),
    "card of bags, 32 bins": card(additive(max_bins=32)),
    "card of bags, 16 bins": card(additive(max_bins=16)),
    "card of bags, bins of 5 %": card(additive(), min_bin_share=0.05),
}
PAIRED = "bags, pairs"
PAIRS = {
    PAIRED: additive(interactions="auto"),
    "bags, 10 pairs": additive(interactions=10),
    "bags, 20 pairs": additive(interactions=20),
}
OTHERS = {
    "interactions=0": lambda: GradientBoostingRanker(
        interactions=0, max_leaves=16, l2=1.0, cuts="best", random_state=0
    ),
    "bags, 1": additive(n_bags=1),
    "bags, 4": additive(n_bags=4),
    "RankBoost": RankBoost,
    "RankBoost, 30 rounds": lambda: RankBoost(n_rounds=30),
    "LinearRanker": LinearRanker,
    "RIMARC": RIMARC,
    "logistic regression": lambda: of_columns(LogisticRegression(max_iter=2000), scaled=True),
}


def with_noise(X, n_columns):
    """Return the columns, and so many that tell nothing."""
    noise = np.random.default_rng(0).normal(size=(len(X), n_columns))
    return X.assign(**{f"noise {place}": noise[:, place] for place in range(n_columns)})


def report(found, models, batch_of):
    """Print the table, then the sets that are lost to EBM."""
    found = found[found["model"].isin(models)]
    aucs = of_sets(found)
    seconds = found.groupby("model")["seconds"].mean()
    for name, choice in (("bags", BAGS), ("card", CARDS)):
        tried = [setting for setting in choice if setting in aucs]
        if len(tried) > 1 and len(aucs) > 1:
            aucs[f"{name} chosen by the other sets"] = chosen_by_others(aucs[tried])
    print(f"{len(aucs)} sets")
    for name in aucs.mean().sort_values(ascending=False).index:
        line = f"{name:32s} {aucs[name].mean():.4f}"
        if name in seconds:
            line += f"  {seconds[name]:8.3f} s"
        if "EBM" in aucs and name != "EBM":
            line += f"  {gains_of_batches(aucs[name], aucs['EBM'], batch_of)} points"
        print(line)
    if "EBM" in aucs and PAIRED in aucs:
        gap = 100 * (aucs["EBM"] - aucs[PAIRED])
        for name, points in gap[gap > 0].sort_values(ascending=False).items():
            print(f"lost: {name}, {points:.2f} points to EBM")


def main():
    """Measure, then print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folders", type=Path, nargs="+")
    parser.add_argument("--max-rows", type=int, default=5000)
    parser.add_argument("--folds", type=int, choices=range(1, 6), default=5)
    parser.add_argument("--sets", nargs="+", help="only these, by file name without ending")
    parser.add_argument("--noise", type=int, default=0, help="columns of noise to add")
    models = BAGS | PAIRS | CARDS | OTHERS
    if is_installed("interpret"):
        models |= {"EBM": partial(ebm, 1), "EBM without pairs": partial(ebm, 1, interactions=0)}
    if is_installed("optbinning"):
        models["optbinning"] = OptbinningCard
    parser.add_argument("--models", nargs="+", choices=models)
    parser.add_argument("--results", type=Path, default=Path("additive.csv"))
    options = parser.parse_args()
    if options.models:
        models = {name: models[name] for name in options.models}
    data, batch_of = load_batches(options.folders, options.max_rows, options.sets)
    if options.noise:
        data = {name: (with_noise(X, options.noise), y) for name, (X, y) in data.items()}
    found = measure(models, data, options.results, options.folds)
    report(found[found["set"].isin(data)], list(models), batch_of)


if __name__ == "__main__":
    main()
