"""Every family, and every form of its score that has a formula of its own: for exports."""

import numpy as np
from aucrank import (
    AURORA,
    RIMARC,
    AUCBoost,
    GradientBoostingRanker,
    LinearRanker,
    MartiRank,
    RankBoost,
    RankingForest,
    RankOpt,
    Scorecard,
    SMartiRank,
    TreeRank,
)
from aucrank.tree import LeafRank
from sklearn.base import clone

from tests.common.loans import loans

#: Those that take columns of every kind.
WITH_CATEGORIES = {
    "stumps": TreeRank(pruning=None, max_depth=5),
    "small trees": TreeRank(split="leafrank", pruning=None, max_depth=4),
    "cell means": TreeRank(missing="cell_mean"),
    "forest": RankingForest(n_estimators=7, max_depth=6, random_state=0),
    "forest of small trees": RankingForest(
        n_estimators=4, max_depth=3, split=LeafRank(max_depth=2), random_state=0
    ),
    "mean ranks": RankingForest(
        n_estimators=6, max_depth=4, aggregation="rank_mean", random_state=0
    ),
    "features": AUCBoost(n_rounds=20),
    "signs": AUCBoost(n_rounds=9, output="sign"),
    "thresholds": RankBoost(n_rounds=20),
    "boosted trees": RankBoost(n_rounds=6, weak_ranker="tree"),
    "gradient boosting": GradientBoostingRanker(n_rounds=9, max_leaves=6, random_state=0),
    "gradient boosting of pairs": GradientBoostingRanker(
        n_rounds=9, loss="pair_exponential", cuts="random", random_state=0
    ),
    "rates of nodes": MartiRank(n_rounds=6),
    "votes": SMartiRank(n_rounds=5, weak_ranker="tree", output="votes"),
    "majority": SMartiRank(n_rounds=6, weak_ranker="threshold", output="sign"),
    "means": RIMARC(),
    "means of missing values": RIMARC(missing="value", shrinkage=3.0, weight_folds=4),
    "means of special values": RIMARC(special_values={"months": [-1.0]}),
    "terms": AURORA(radius=1.5, depth="shallow", max_features=12, selection=None),
    "standardised": LinearRanker(thresholds=None),
    "thresholds and levels": LinearRanker(C=10.0),
    "terms of two features": LinearRanker(),
}
OF_NUMBERS = {
    "weights": RankOpt(radii=(1.0,)),
    "lines": RankBoost(n_rounds=2, weak_ranker="linear"),
    "program of lines": MartiRank(n_rounds=4, weak_ranker="linear"),
}
#: Scores whose formula SQL cannot express, or whose SQL is of another output.
NOT_IN_SQL = {
    "medians": RankingForest(
        n_estimators=4, max_depth=4, aggregation="rank_median", random_state=0
    ),
    "card": Scorecard(special_values={"months": [-1.0]}),
    "card of a bank": Scorecard(high_points="negative"),
}


def with_joint_effects(X):
    """Return labels that depend on a ratio, a difference, and cells of two features."""
    ratio = X["income"] / X["months"].where(X["months"] > 0)
    difference = X["age"] - X["months"]
    cells = (X["trade"] == "cook") == (X["age"] < 40)
    score = (ratio > 100).astype(float) - (ratio < 60) + np.sign(difference - 12) + 1.5 * cells
    rng = np.random.default_rng(2)
    return np.where(score + rng.logistic(0, 0.7, len(X)) > 0.7, "bad", "fine")


def fitted_formula(name):
    """Return a model of a name, and new rows with values and gaps that it has not seen."""
    X, y = loans(1200, 0)
    new, _ = loans(400, 1)
    if name == "terms of two features":
        y = with_joint_effects(X)
    if name in OF_NUMBERS:
        X, new = (frame.drop(columns="trade") for frame in (X, new))
    else:
        new["trade"] = new["trade"].astype(object).where(np.arange(400) % 40 > 0, "never seen")
    if name == "weights":
        X, new = X.fillna(X.median()), new.fillna(X.median())
    else:
        new = new.assign(age=new["age"].where(np.arange(400) % 30 > 0))
    models = WITH_CATEGORIES | OF_NUMBERS | NOT_IN_SQL
    return clone(models[name]).fit(X, y), new
