"""Small integer scores against AutoScore and FasterRisk: AUC on rows held out.

    python -m benches.studies.integer_scores DATA_FOLDER [DATA_FOLDER ...] [--sets pima heart]
        [--max-rows 2000] [--features 3 5] [--folds 2]

Each folder holds Parquet files with columns and a 0/1 column `target`. Of five stratified folds the
first few are held out, one after another. AutoScore, which is an R package, is written here by the
steps of its paper: features ranked by a random forest, numbers cut at the quantiles 0.05, 0.2, 0.8
and 0.95, a logistic regression on the categories, points of at least 0 that add up to 100 at most.
FasterRisk (`pip install fasterrisk`; 0.1.10 needs numpy below 2.3, whose arrays still have
`tostring`) gets thresholds at 9 quantiles, categories one-hot, points
from -5 to 5, and three terms a feature; without it, its columns are left out. A line has the mean
AUC in hundredths, the gain of `IntegerScore()` over it with its standard error over the sets, and
the seconds of a fit on average over the sets and at most.
"""

import argparse
import warnings
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path
from time import perf_counter

import numpy as np
import pandas as pd
from aucrank import IntegerScore, Scorecard
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import StratifiedKFold

from benches.common.data import load_batches
from benches.common.over_sets import gains_of_batches

try:
    from fasterrisk.fasterrisk import RiskScoreClassifier, RiskScoreOptimizer
except ImportError:
    RiskScoreOptimizer = None

OURS = "IntegerScore()"
VARIANTS = {
    "to_integer_score()": {},
    'order="forward"': {"order": "forward"},
    'cuts="quantiles"': {"cuts": "quantiles"},
}


def is_number(column):
    return pd.api.types.is_numeric_dtype(column) and not pd.api.types.is_bool_dtype(column)


def codes_of(train, column):
    """Return a column as numbers for a forest: categories by their order, missing ones as -1."""
    if is_number(column):
        return column.astype(float).fillna(train.astype(float).median())
    levels = {level: code for code, level in enumerate(sorted(train.dropna().astype(str).unique()))}
    return column.astype(object).where(column.notna()).map(
        lambda value: levels.get(str(value), -1) if pd.notna(value) else -1
    ).astype(float)  # fmt: skip


def dummies(train, column, quantiles):
    """Return the categories of AutoScore of a column, each as a column of 0 and 1."""
    if is_number(column):
        known = train.astype(float)
        cuts = np.unique(np.nanquantile(known, quantiles)) if known.notna().any() else []
        values = column.astype(float)
        place = np.searchsorted(cuts, values, side="right")
        place[np.isnan(values)] = len(cuts) + 1
        return np.eye(len(cuts) + 2)[place]
    levels = sorted(train.dropna().astype(str).unique())
    of = {level: code for code, level in enumerate(levels)}
    place = [
        of.get(str(value), len(levels)) if pd.notna(value) else len(levels) for value in column
    ]
    return np.eye(len(levels) + 1)[place]


def auto_score(X, y, X_test, sizes):
    """Scores of the test rows by AutoScore, for each number of features."""
    forest = RandomForestClassifier(500, random_state=0, n_jobs=1)
    coded = np.column_stack([codes_of(X[name], X[name]) for name in X])
    order = np.argsort(-forest.fit(coded, y).feature_importances_, kind="stable")
    scores = {}
    for size in sizes:
        names = [X.columns[place] for place in order[:size]]
        parts = [dummies(X[name], X[name], [0.05, 0.2, 0.8, 0.95]) for name in names]
        tests = [dummies(X[name], X_test[name], [0.05, 0.2, 0.8, 0.95]) for name in names]
        model = LogisticRegression(C=1.0, max_iter=2000).fit(np.hstack(parts), y)
        of_feature = np.split(model.coef_[0], np.cumsum([part.shape[1] for part in parts])[:-1])
        raised = [
            np.where(part.sum(axis=0) > 0, coef - coef[part.sum(axis=0) > 0].min(), 0)
            for coef, part in zip(of_feature, parts, strict=True)
        ]
        total = sum(points.max() for points in raised)
        points = [np.rint(100 * of / total) for of in raised]
        scores[size] = sum(test @ of for test, of in zip(tests, points, strict=True))
    return scores


def faster_risk(X, y, X_test, sizes):
    """Scores of the test rows by FasterRisk, for each number of features."""
    parts, tests, groups = [], [], []
    for number, name in enumerate(X):
        if is_number(X[name]):
            values = X[name].astype(float)
            cuts = np.unique(np.nanquantile(values, np.arange(1, 10) / 10))
            part, test = (
                np.column_stack(
                    [of[name].astype(float).to_numpy()[:, None] <= cuts, of[name].isna()]
                )
                for of in (X, X_test)
            )
        else:
            part, test = dummies(X[name], X[name], None), dummies(X[name], X_test[name], None)
        kept = np.ptp(part.astype(float), axis=0) > 0
        parts.append(part[:, kept].astype(float))
        tests.append(test[:, kept].astype(float))
        groups += [number] * int(kept.sum())
    design, held_out = np.hstack(parts), np.hstack(tests)
    # Groups without a column are none.
    groups = np.unique(groups, return_inverse=True)[1]
    scores = {}
    for size in sizes:
        n_groups = min(size, int(groups.max()) + 1)
        with redirect_stdout(StringIO()):
            search = RiskScoreOptimizer(
                design, 2.0 * y - 1, k=min(3 * size, design.shape[1]), select_top_m=1,
                group_sparsity=n_groups, featureIndex_to_groupIndex=groups,
            )  # fmt: skip
            search.optimize()
            multiplier, intercept, coefficients = search.get_models(model_index=0)
            model = RiskScoreClassifier(multiplier, intercept, coefficients)
            scores[size] = model.predict_prob(held_out)
    return scores


def scores_of(X, y, X_test, sizes):
    found, seconds = {}, {}
    for size in sizes:
        begin = perf_counter()
        score = IntegerScore(max_features=size, n_jobs=1).fit(X, y)
        seconds[size] = perf_counter() - begin
        found[OURS, size] = score.decision_function(X_test)
    card = Scorecard(n_jobs=1).fit(X, y)
    found |= {("Scorecard()", size): card.decision_function(X_test) for size in sizes}
    for name, params in VARIANTS.items():
        for size in sizes:
            score = card.to_integer_score(X, y, max_features=size, **params)
            found[name, size] = score.decision_function(X_test)
    rivals = {"AutoScore": auto_score}
    if RiskScoreOptimizer is not None:
        rivals["FasterRisk"] = faster_risk
    for name, rival in rivals.items():
        for size, score in rival(X, y, X_test, sizes).items():
            found[name, size] = score
    return found, seconds


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("data", type=Path, nargs="+")
    parser.add_argument("--sets", nargs="+")
    parser.add_argument("--max-rows", type=int, default=2000)
    parser.add_argument("--features", type=int, nargs="+", default=[3, 5])
    parser.add_argument("--folds", type=int, default=2, choices=range(1, 6))
    args = parser.parse_args()
    warnings.simplefilter("ignore")
    sets, batch_of = load_batches(args.data, args.max_rows, args.sets)
    aucs, times = {}, []
    for set_name, (X, y) in sets.items():
        folds = StratifiedKFold(5, shuffle=True, random_state=0).split(X, y)
        found = []
        for _, (train, test) in zip(range(args.folds), folds, strict=False):
            scores, seconds = scores_of(X.iloc[train], y[train], X.iloc[test], args.features)
            times.append(seconds)
            found.append({key: roc_auc_score(y[test], score) for key, score in scores.items()})
        aucs[set_name] = pd.DataFrame(found).mean()
        print(set_name, (100 * aucs[set_name]).round(2).to_dict(), flush=True)
    table = pd.DataFrame(aucs).T
    for size in args.features:
        taken = [seconds[size] for seconds in times]
        print(f"\n{size} features, {np.mean(taken):.2f} s a fit, at most {max(taken):.2f}")
        for name in dict.fromkeys(name for name, _ in table.columns):
            gain = gains_of_batches(table[OURS, size], table[name, size], batch_of)
            print(f"{name:22} {100 * table[name, size].mean():.2f}  gain over it {gain}")


if __name__ == "__main__":
    main()
