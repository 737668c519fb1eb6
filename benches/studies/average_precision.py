"""Rounds and blends chosen by average precision, where few rows are positive.

    python -m benches.studies.average_precision FOLDER [FOLDER ...] [--results ap.csv]
        [--draws 2] [--rows 6000] [--sets churn ...] [--shares 0 0.05 0.02] [--leaves 32]

Each FOLDER holds Parquet files with columns and a 0/1 column `target`. Of a set, positives are left
out at random until they are a share of the rows (0: sets with at most 21 % as they are), and halves
of the rows are fitted and tested on in turn. A booster is fitted without each of five folds; its
number of rounds is the best for the rows left out by the log loss, the AUC or the average precision
(means of the folds, with the product's patience; or `pooled`, of all rows left out together), and
its score the mean of the five. `hindsight` is the number that is best for the test rows. The
blends weigh this booster, stopped by loss, a linear score and a forest: as `RankingEnsemble` does,
equally, or by the average precision of the rows left out less the same penalty. `--results` is gone
on with where it was broken off. The gains of each choice are in points, mean over the sets with its
standard error.
"""

import argparse
import json
import warnings
import zlib
from functools import partial
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
from aucrank import GradientBoostingRanker, LinearRanker, RankingForest, _core
from aucrank.metrics import roc_auc_score
from sklearn.metrics import average_precision_score, log_loss
from sklearn.model_selection import StratifiedKFold

from benches.common.data import load_batches, with_categories
from benches.common.results import resumed

KEYS = ["set", "share", "draw", "half", "what", "choice"]
FIGURES = ["positives", "rounds", "ap", "auc", "loss"]
ROUNDS, PATIENCE, RATE, FOLDS = 600, 50, 0.05, 5
#: Least number of positives of a set.
LEAST = 40


def thinned(X, y, share, n_rows, seed):
    """Return rows of which such a share is positive, so many at most; None if they have less."""
    rng = np.random.default_rng(seed)
    positive, negative = (rng.permutation(np.flatnonzero(y == label)) for label in (1, 0))
    known = len(positive) / len(y)
    if share == 0:
        if known > 0.21:
            return None
        share = known
    elif share > 0.9 * known:
        return None
    n_rows = min(n_rows, int(len(negative) / (1 - share)))
    n_positive = round(share * n_rows)
    if n_positive < LEAST and known != share:
        return None
    rows = np.sort(np.concatenate([positive[:n_positive], negative[: n_rows - n_positive]]))
    return X.iloc[rows].reset_index(drop=True), y[rows]


def average_precision(y, scores):
    """Return the mean precision at the positive rows; rows of equal score are taken together."""
    order = np.argsort(-scores, kind="stable")
    ends = np.append(np.flatnonzero(np.diff(scores[order])), len(y) - 1)
    hits = np.cumsum(y[order])[ends]
    return np.sum(np.diff(hits, prepend=0) * hits / (ends + 1)) / hits[-1]


def of_log_odds(y, scores):
    return np.mean(np.logaddexp(0, np.where(y == 1, -scores, scores)))


def paths(fits, X, y, folds):
    """Return the criteria by round, the higher the better, until none improves any more."""
    staged = [
        fit.staged_decision_function(X.iloc[out]) for fit, out in zip(fits, folds, strict=True)
    ]
    pooled = np.zeros(len(y))
    found = {name: [] for name in ("loss", "auc", "ap", "pooled")}
    last = 0
    for number, of_folds in enumerate(zip(*staged, strict=False), start=1):
        parts = [(y[out], scores) for out, scores in zip(folds, of_folds, strict=True)]
        for out, scores in zip(folds, of_folds, strict=True):
            pooled[out] = scores
        values = {
            "loss": np.mean([-of_log_odds(*part) for part in parts]),
            "auc": np.mean([_core.roc_auc(y == 1, scores, None, 1) for y, scores in parts]),
            "ap": np.mean([average_precision(*part) for part in parts]),
            "pooled": average_precision(y, pooled),
        }
        for name, value in values.items():
            if value > max(found[name], default=-np.inf):
                last = number
            found[name].append(value)
        if number - last > PATIENCE:
            break
    return found


def chosen(path):
    """Return the number of rounds that early stopping keeps."""
    best = 0
    for place, value in enumerate(path):
        if value > path[best]:
            best = place
        elif place - best >= PATIENCE:
            break
    return best + 1


def rounds_of(X, y, test_X, folds, leaves, seed):
    """Return paths, and the scores of test rows and of rows left out after each round."""
    fits = []
    for fold, out in enumerate(folds):
        booster = GradientBoostingRanker(
            n_rounds=ROUNDS,
            learning_rate=RATE,
            max_leaves=leaves,
            early_stopping=False,
            n_jobs=1,
            random_state=seed + fold,
        )
        kept = np.setdiff1d(np.arange(len(y)), out)
        fits.append(booster.fit(X.iloc[kept], y[kept]))
    found = paths(fits, X, y, folds)
    n_rounds = len(found["loss"])
    on_test = np.zeros((n_rounds, len(test_X)))
    left_out = np.zeros((n_rounds, len(y)))
    for fit, out in zip(fits, folds, strict=True):
        # Only as many rounds as the paths have.
        for place, own in zip(
            range(n_rounds), fit.staged_decision_function(X.iloc[out]), strict=False
        ):
            left_out[place, out] = own
        for place, test in zip(range(n_rounds), fit.staged_decision_function(test_X), strict=False):
            on_test[place] += test / FOLDS
    return found, on_test, left_out


def cross_fitted(ranker, X, y, test_X, folds):
    """Return the scores of rows left out, and the mean of the models for test rows."""
    left_out, on_test = np.zeros(len(y)), np.zeros(len(test_X))
    for out in folds:
        kept = np.setdiff1d(np.arange(len(y)), out)
        ranker.fit(X.iloc[kept], y[kept])
        left_out[out] = ranker.decision_function(X.iloc[out])
        on_test += ranker.decision_function(test_X) / FOLDS
    return left_out, on_test


def blends(members, y):
    """Return the weights of each way to blend, and the lines of the members to log-odds."""
    params = json.dumps({"shrinkage": 1.0, "half_width": 1.0})

    def blended(scores):
        return _core.blend_scores(scores, y == 1, None, params=params, n_threads=1)

    lines = []
    for scores in members:
        line = blended([scores])
        lines.append((line["factors"][0], line["intercept"]))
    log_odds = np.array([a * s + b for (a, b), s in zip(lines, members, strict=True)])
    n, steps = len(members), 20
    grid = [
        np.array([*head, steps - sum(head)]) / steps
        for head in product(range(steps + 1), repeat=n - 1)
        if sum(head) <= steps
    ]

    def value(weights):
        penalty = np.sum((weights - 1 / n) ** 2) / min(y.sum(), (1 - y).sum())
        return average_precision(y, weights @ log_odds) - penalty

    by_ap = max(grid, key=value)
    ways = {"auc": blended(members)["weights"], "ap": by_ap, "equal": np.full(n, 1 / n)}
    return ways, lines


def appended(append, key, n_positive, y, what, choice, rounds, scores):
    """Append the figures of some scores of test rows."""
    figures = (
        average_precision_score(y, scores),
        roc_auc_score(y, scores),
        log_loss(y, 1 / (1 + np.exp(-scores))),
    )
    append(*key, what, choice, n_positive, rounds, *(round(figure, 6) for figure in figures))


def study(name, X, y, share, draw, options, known, append):
    seed = 100 * draw + zlib.crc32(name.encode()) % 97
    found = thinned(X, y, share, options.rows, seed)
    if found is None:
        return
    X, y = found
    halves = list(StratifiedKFold(2, shuffle=True, random_state=seed).split(X, y))
    for half, (train, test) in enumerate(halves):
        if (name, share, draw, half, "blend", "equal") in known:
            continue
        own_X, own_y = X.iloc[train].reset_index(drop=True), y[train]
        test_X, test_y = X.iloc[test].reset_index(drop=True), y[test]
        dealt = StratifiedKFold(FOLDS, shuffle=True, random_state=seed + 1).split(own_X, own_y)
        folds = [out for _, out in dealt]

        put = partial(appended, append, (name, share, draw, half), int(own_y.sum()), test_y)
        way, on_test, left_out = rounds_of(own_X, own_y, test_X, folds, options.leaves, seed)
        for choice, path in way.items():
            put("rounds", choice, chosen(path), on_test[chosen(path) - 1])
        by_test = [average_precision(test_y, scores) for scores in on_test]
        put("rounds", "hindsight", int(np.argmax(by_test)) + 1, on_test[np.argmax(by_test)])

        best = chosen(way["loss"]) - 1
        forest = RankingForest(
            n_estimators=50,
            cuts="random",
            bootstrap=False,
            min_samples_leaf=1,
            n_jobs=1,
            random_state=seed,
        )
        members = [(left_out[best], on_test[best])] + [
            cross_fitted(ranker, own_X, own_y, test_X, folds)
            for ranker in (LinearRanker(n_jobs=1), forest)
        ]
        weights, lines = blends([own for own, _ in members], own_y)
        log_odds = np.array(
            [a * test + b for (a, b), (_, test) in zip(lines, members, strict=True)]
        )
        for choice, of_members in weights.items():
            put("blend", choice, 0, np.asarray(of_members) @ log_odds)
        print(f"{name}, {share:g} positive, draw {draw}, half {half}", flush=True)


def show(path):
    """Print what each choice gains on the usual one, by share of positives."""
    table = pd.read_csv(path)
    for what, base, others in (
        ("rounds", "loss", ("auc", "ap", "pooled", "hindsight")),
        ("blend", "auc", ("ap", "equal")),
    ):
        part = table[table["what"] == what]
        index = ["share", "set", "draw", "half"]
        for figure in ("ap", "auc", "loss"):
            wide = part.pivot(index=index, columns="choice", values=figure)
            for other in others:
                gain = 100 * (wide[other] - wide[base])
                of_sets = gain.groupby(["share", "set"]).mean()
                cells = [
                    f"{share or 'as is'}: {of.mean():+.2f} ± {of.sem():.2f} ({len(of)} sets,"
                    f" {int((of > 0).sum())} won)"
                    for share, of in of_sets.groupby("share")
                ]
                whole = of_sets.groupby("set").mean()
                all_sets = f"all: {whole.mean():+.2f} ± {whole.sem():.2f}"
                print(
                    f"{what} by {other}, less by {base}, {figure}: {all_sets}; {'; '.join(cells)}"
                )


def main():
    """Fit what the file of results lacks, and print the gains."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folders", type=Path, nargs="+")
    parser.add_argument("--results", type=Path, default=Path("ap.csv"))
    parser.add_argument("--draws", type=int, default=2)
    parser.add_argument("--rows", type=int, default=6000)
    parser.add_argument("--sets", nargs="*")
    parser.add_argument("--shares", type=float, nargs="*", default=[0.0, 0.05, 0.02])
    parser.add_argument("--leaves", type=int, default=32)
    options = parser.parse_args()
    sets, _ = load_batches(options.folders, 10**9, options.sets)
    # Columns that look like groups are those of the sets.
    warnings.simplefilter("ignore")
    with resumed(options.results, KEYS, FIGURES) as (known, append):
        for draw, share in product(range(options.draws), options.shares):
            for name, (X, y) in sets.items():
                study(name, with_categories(X), y, share, draw, options, known, append)
    show(options.results)


if __name__ == "__main__":
    main()
