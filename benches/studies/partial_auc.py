"""What `max_fpr` gains: the partial AUC of rankers that are given it, against those that are not.

    python -m benches.studies.partial_auc DATA_FOLDER [--rows 4000] [--folds 5] [--repeats 1]
        [--noise 0 10] [--seed 0] [--sets adult churn ...] [--rankers RankBoost ...]

DATA_FOLDER holds Parquet files of columns and a 0/1 column `target`. Every ranker is fitted on the
same folds with `max_fpr` of 1 and of each rate below; the partial AUC up to that rate is taken on
the rows left out, standardised and times 100. One line for each ranker, rate and number of columns
of noise that were added: the mean over the sets with `max_fpr=1`, what `max_fpr` gains on it, with
the standard error over the sets, and on how many sets it gains. The part by which the other
negatives count was chosen with seed 7.
"""

import argparse
from pathlib import Path

import numpy as np
from aucrank import AURORA, AUCBoost, GradientBoostingRanker, RankBoost
from aucrank.metrics import roc_auc_score
from sklearn.base import clone
from sklearn.model_selection import RepeatedStratifiedKFold

from benches.common.data import load_all
from benches.common.over_sets import gain_in_points

RATES = (0.05, 0.1, 0.2)
SETS = ["adult", "bank_marketing", "churn", "digit", "forest", "magic", "phoneme", "spambase"]
#: Small steps of small trees of one feature each.
SINGLE = {"interactions": 0, "n_rounds": 200, "learning_rate": 0.1, "max_leaves": 3}
RANKERS = {
    "RankBoost": RankBoost(),
    "RankBoost, exact": RankBoost(alpha="exact"),
    "RankBoost, window": RankBoost(selection="window"),
    "AUCBoost": AUCBoost(),
    "AUCBoost, thresholds": AUCBoost(weak_ranker="threshold", n_rounds=200),
    "exponential, singles": GradientBoostingRanker(loss="pair_exponential", **SINGLE),
    "logistic, singles": GradientBoostingRanker(loss="pair_logistic", **SINGLE),
    "exponential": GradientBoostingRanker(loss="pair_exponential"),
    "logistic": GradientBoostingRanker(loss="pair_logistic"),
    "AURORA": AURORA(),
    "AURORA, singles": AURORA(order=1),
}


def with_noise(X, n_columns):
    """Return the columns and so many more that tell nothing."""
    rng = np.random.default_rng(1)
    return X.assign(**{f"noise {j}": rng.normal(size=len(X)) for j in range(n_columns)})


def areas(ranker, X, y, folds):
    """Return mean partial AUCs: for each rate that of `max_fpr=1`, and of `max_fpr` at the rate."""
    found = []
    for train, test in folds.split(X, y):

        def scores(max_fpr, train=train, test=test):
            model = clone(ranker).set_params(max_fpr=max_fpr, random_state=0, n_jobs=1)
            return model.fit(X.iloc[train], y[train]).decision_function(X.iloc[test])

        plain = scores(1.0)
        found.append(
            [
                [
                    100 * roc_auc_score(y[test], of_rate, max_fpr=rate)
                    for of_rate in (plain, scores(rate))
                ]
                for rate in RATES
            ]
        )
    return np.mean(found, axis=0)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--rows", type=int, default=4000, help="most rows of a set")
    parser.add_argument("--folds", type=int, default=5)
    parser.add_argument("--repeats", type=int, default=1, help="how often rows are dealt anew")
    parser.add_argument("--noise", type=int, nargs="*", default=[0, 10], help="columns of noise")
    parser.add_argument("--seed", type=int, default=0, help="deals the rows")
    parser.add_argument("--sets", nargs="*", default=SETS)
    parser.add_argument("--rankers", nargs="*", default=list(RANKERS), choices=list(RANKERS))
    options = parser.parse_args()
    sets = load_all(options.folder, options.rows, options.sets)
    folds = RepeatedStratifiedKFold(
        n_splits=options.folds, n_repeats=options.repeats, random_state=options.seed
    )
    print(f"{'noise':>5}  {'ranker':22}{'rate':>5}{'max_fpr=1':>11}  gain")
    for n_noise in options.noise:
        noisy = {name: (with_noise(X, n_noise), y) for name, (X, y) in sets.items()}
        for label in options.rankers:
            found = np.array([areas(RANKERS[label], X, y, folds) for X, y in noisy.values()])
            for rate, (plain, given) in zip(RATES, found.transpose(1, 2, 0), strict=True):
                gain = gain_in_points(given / 100, plain / 100)
                n_gains = int(np.sum(given > plain))
                print(
                    f"{n_noise:5}  {label:22}{rate:5}{plain.mean():11.2f}"
                    f"  {gain}, {n_gains} of {len(sets)} sets",
                    flush=True,
                )


if __name__ == "__main__":
    main()
