"""Sums of single features, of pairs, and cards beside EBM: 5-fold AUC on real data sets.

    python -m benches.studies.additive_study DATA_FOLDER [--max-rows 5000] [--sets german pima]
        [--models EBM RankBoost] [--noise 20] [--results additive.csv]

DATA_FOLDER holds Parquet files with columns and a 0/1 column `target`. EBM is that of the package
`interpret`, "optbinning" a card of that package; each is left out where it is not installed. Every
fold of a set and model is a row of the results, written as soon as it is known: a run that is
broken off goes on where it was. With `--noise`, so many columns of normal noise are added to each
set. The table: mean AUC over the sets, gain over EBM in points with its standard error over the
sets, and CPU seconds a fit. "chosen by the other sets" takes for each set the settings of bags that
are best on all others: what the choice is worth on a set that it was not made on. The same for
cards.
"""

import argparse
import importlib.util
from pathlib import Path

import numpy as np
from aucrank import RIMARC, GradientBoostingRanker, LinearRanker, RankBoost, Scorecard
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.linear_model import LogisticRegression

from benches.common.data import load_all
from benches.common.over_sets import chosen_by_others, gain_in_points
from benches.common.rivals import of_columns
from benches.studies.quality import measure


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
    "bags, rate 0.1": additive(learning_rate=0.1, n_iter_no_change=50),
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
PAIRS = {
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


def ebm(interactions):
    """Return a maker of EBM with so many pairs, of as many bags as ours."""
    from interpret.glassbox import ExplainableBoostingClassifier

    return lambda: ExplainableBoostingClassifier(
        interactions=interactions, outer_bags=8, n_jobs=1, random_state=0
    )


class OptbinningCard(ClassifierMixin, BaseEstimator):
    """A card of the package `optbinning` by its defaults, with logistic regression."""

    def fit(self, X, y):
        from optbinning import BinningProcess, Scorecard

        self.classes_ = np.unique(y)
        names = list(X.columns)
        categories = list(X.select_dtypes(exclude="number").columns)
        binning = BinningProcess(names, categorical_variables=categories)
        model = LogisticRegression(max_iter=2000)
        self.card_ = Scorecard(binning_process=binning, estimator=model)
        self.card_.fit(X.astype(dict.fromkeys(categories, object)), y)
        return self

    def predict_proba(self, X):
        categories = X.select_dtypes(exclude="number").columns
        return self.card_.predict_proba(X.astype(dict.fromkeys(categories, object)))


def with_noise(X, n_columns):
    """Return the columns, and so many that tell nothing."""
    noise = np.random.default_rng(0).normal(size=(len(X), n_columns))
    return X.assign(**{f"noise {place}": noise[:, place] for place in range(n_columns)})


def report(found, models):
    """Print the table, then the sets that are lost to EBM."""
    found = found[found["model"].isin(models)]
    aucs = found.pivot_table(index="set", columns="model", values="auc").dropna()
    seconds = found[found["set"].isin(aucs.index)].groupby("model")["seconds"].mean()
    for name, choice in (("bags", BAGS), ("card", CARDS)):
        tried = [setting for setting in choice if setting in aucs]
        if len(tried) > 1 and len(aucs) > 1:
            aucs[f"{name} chosen by the other sets"] = chosen_by_others(aucs[tried])
    print(f"{len(aucs)} sets")
    for name in aucs.mean().sort_values(ascending=False).index:
        line = f"{name:32s} {aucs[name].mean():.4f}"
        if "EBM" in aucs:
            line += f"  {gain_in_points(aucs[name], aucs['EBM'])} points"
        print(line + (f"  {seconds[name]:8.3f} s" if name in seconds else ""))
    if "EBM" in aucs and "bags" in aucs:
        gap = 100 * (aucs["EBM"] - aucs["bags"])
        for name, points in gap[gap > 0].sort_values(ascending=False).items():
            print(f"lost: {name}, {points:.2f} points to EBM")


def main():
    """Measure, then print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("data", type=Path)
    parser.add_argument("--max-rows", type=int, default=5000)
    parser.add_argument("--sets", nargs="+", help="only these, by file name without ending")
    parser.add_argument("--noise", type=int, default=0, help="columns of noise to add")
    models = BAGS | PAIRS | CARDS | OTHERS
    if importlib.util.find_spec("interpret"):
        models |= {"EBM": ebm(0), "EBM, 10 pairs": ebm(10)}
    if importlib.util.find_spec("optbinning"):
        models["optbinning"] = OptbinningCard
    parser.add_argument("--models", nargs="+", choices=models)
    parser.add_argument("--results", type=Path, default=Path("additive.csv"))
    options = parser.parse_args()
    if options.models:
        models = {name: models[name] for name in options.models}
    data = load_all(options.data, options.max_rows, options.sets)
    if options.noise:
        data = {name: (with_noise(X, options.noise), y) for name, (X, y) in data.items()}
    report(measure(models, data, options.results), list(models))


if __name__ == "__main__":
    main()
