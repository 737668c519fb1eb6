"""Small scores of other authors: AutoScore by the steps of its paper, and FasterRisk.

AutoScore is an R package. Its steps: features ranked by a random forest, numbers cut at the
quantiles 0.05, 0.2, 0.8 and 0.95, a logistic regression on the categories, points of at least 0
that add up to 100 at most. FasterRisk (`pip install fasterrisk`; 0.1.10 needs numpy below 2.3,
whose arrays still have `tostring`) gets thresholds at 9 quantiles, categories one-hot, points from
-5 to 5, and three terms a feature.
"""

from contextlib import redirect_stdout
from io import StringIO

import numpy as np
import pandas as pd
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression


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
    from fasterrisk.fasterrisk import RiskScoreClassifier, RiskScoreOptimizer

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
