"""Write the saved models that `fuzz` damages: small ones, of every estimator that a file can hold.

The option that changes the form of a file is what distinguishes two models of one estimator. Run it
after a change of the format, `python fuzz/make_corpus.py`, and look at the sizes that it prints.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from aucrank import (
    AURORA,
    MAD2C,
    RIMARC,
    AUCBoost,
    GradientBoostingRanker,
    IntegerScore,
    LinearRanker,
    MartiRank,
    RankBoost,
    RankingEnsemble,
    RankingForest,
    RankOpt,
    RuleList,
    Scorecard,
    SMartiRank,
    ThresholdBinarizer,
    TreeRank,
    TwoSidedClassifier,
    from_coefficients,
    from_sklearn,
    recalibrate,
)
from aucrank.imported._lightgbm import from_text
from aucrank.tree import CrossValidatedPruning, DyadicSplit, LeafRank, PenalizedPruning
from sklearn.ensemble import HistGradientBoostingClassifier

CORPUS = Path(__file__).with_name("corpus")

#: As the trees of a small sample are small, `min_samples_leaf` and the depths are, too.
SMALL = {"max_depth": 3, "min_samples_leaf": 4}

SMALL_TERMS: dict[str, Any] = {"radius": 1.5, "depth": "shallow", "max_levels": 4}

#: Estimators for rows of every kind, by the name of the file.
MODELS: dict[str, Any] = {
    "tree_rank": TreeRank(**SMALL, pruning=CrossValidatedPruning(n_folds=3)),
    "tree_rank_leafrank": TreeRank(split=LeafRank(max_depth=2), **SMALL, pruning=None),
    "tree_rank_penalized": TreeRank(pruning=PenalizedPruning(), leaf_order="tree", **SMALL),
    "tree_rank_validation": TreeRank(pruning="validation", missing="cell_mean", **SMALL),
    "tree_rank_searched": TreeRank(search="optimal", pruning=None, max_depth=2, search_bins=4),
    "tree_rank_dyadic": TreeRank(split=DyadicSplit(level=1), pruning=None, max_depth=3),
    "rule_list": RuleList(max_rules=3, pruning=None),
    "ranking_forest": RankingForest(n_estimators=3, oob_score=True, **SMALL),
    "ranking_forest_youden": RankingForest(n_estimators=2, criterion="youden", **SMALL),
    "ranking_forest_median": RankingForest(
        n_estimators=3, split="leafrank", aggregation="rank_median", **SMALL
    ),
    "ranking_forest_kendall": RankingForest(n_estimators=3, aggregation="kendall", **SMALL),
    "auc_boost": AUCBoost(n_rounds=4),
    "auc_boost_early": AUCBoost(n_rounds=4, early_stopping=True, output="sign"),
    "rank_boost": RankBoost(n_rounds=4),
    "rank_boost_trees": RankBoost(n_rounds=2, weak_ranker=LeafRank(max_depth=2)),
    "rank_boost_window": RankBoost(n_rounds=4, selection="window"),
    "gradient_boosting": GradientBoostingRanker(n_rounds=3, max_leaves=5, early_stopping=False),
    "gradient_boosting_pairs": GradientBoostingRanker(
        n_rounds=3, max_leaves=4, loss="pair_logistic", n_bags=1
    ),
    "gradient_boosting_bags": GradientBoostingRanker(
        n_rounds=2, max_leaves=3, interactions=0, n_bags=2
    ),
    "marti_rank": MartiRank(n_rounds=3),
    "marti_rank_sampled": MartiRank(
        n_rounds=3, weak_ranker="threshold", routing="sampled", output="node_rate"
    ),
    "smarti_rank": SMartiRank(n_rounds=3, epsilon=0.5, min_samples_class=4),
    "smarti_rank_trees": SMartiRank(
        n_rounds=2, weak_ranker=LeafRank(max_depth=1), min_samples_class=2, output="sign"
    ),
    "rimarc": RIMARC(),
    "rimarc_value": RIMARC(
        missing="value", shrinkage=2.0, weight_folds=3, special_values={"age": [40.0]}
    ),
    "scorecard": Scorecard(estimator=RIMARC(missing="value")),
    "scorecard_bank": Scorecard(
        estimator=RankBoost(n_rounds=6),
        base_odds=50,
        high_points="negative",
        min_bin_share=0.05,
        special_values={"age": [40.0, 50.0]},
        monotone=True,
    ),
    "scorecard_terms": Scorecard(estimator=AURORA(max_features=4, order=1, **SMALL_TERMS)),
    "integer_score": IntegerScore(max_features=3, special_values={"age": [40.0]}),
    "mad2c": MAD2C(special_values={"age": [40.0]}),
    "aurora": AURORA(max_features=4, **SMALL_TERMS),
    "aurora_folds": AURORA(max_features=3, order=1, selection="cv", n_folds=3, **SMALL_TERMS),
    "threshold_binarizer": ThresholdBinarizer(max_levels=5),
    "linear": LinearRanker(thresholds=None),
    "linear_thresholds": LinearRanker(C=10.0, thresholds=5),
    "ensemble": RankingEnsemble(
        members=[
            ("boosting", GradientBoostingRanker(n_rounds=2, max_leaves=3)),
            ("linear", LinearRanker(thresholds=None)),
        ],
        n_folds=2,
    ),
    "two_sided": TwoSidedClassifier(ranker=RankBoost(n_rounds=3, calibration="sigmoid")),
}

#: Estimators for numbers alone.
MODELS_OF_NUMBERS: dict[str, Any] = {
    "rank_boost_linear": RankBoost(n_rounds=3, weak_ranker="linear"),
    "marti_rank_linear": MartiRank(n_rounds=2, weak_ranker="linear"),
    "rank_opt": RankOpt(),
    "rank_opt_ramp": RankOpt(objective="ramp", radii=(0.5, 2.0)),
}


def clients(n: int) -> tuple[pd.DataFrame, np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """Rows with every kind of column, who left, and weights of them."""
    rng = np.random.default_rng(15)
    age = np.round(rng.normal(40, 10, n))
    city = rng.choice(["Oslo", "Århus", 'a "b", \\c'], n)
    rate = rng.choice([0.5, -1e-3, 2.0**60], n)
    y = rng.random(n) < 1 / (1 + np.exp(-(age - 40) / 6 - 1.5 * (city == "Oslo") - (rate > 1)))
    spent = np.exp(rng.normal(0, 9, n) + 3 * y)
    weight = np.round(rng.random(n), 2)
    frame = pd.DataFrame(
        {
            "age": np.where(rng.random(n) < 0.15, np.nan, age),
            "spent, €": spent,
            "city": pd.Categorical(np.where(rng.random(n) < 0.1, None, city)),
            "rate": pd.Categorical(rate),
            "member": pd.Categorical(rng.random(n) < 0.4 + 0.2 * y),
        }
    )
    return frame, y, weight


def requests(n: int) -> tuple[pd.DataFrame, np.ndarray[Any, Any]]:
    """Rows with two columns of categories, of which pairs tell what neither does."""
    rng = np.random.default_rng(15)
    user, tool = rng.integers(0, 5, n), rng.integers(0, 4, n)
    gap = rng.random(n) < 0.05
    frame = pd.DataFrame(
        {
            "user": pd.Categorical(np.where(gap, None, np.array(list("abcde"))[user])),
            "tool": pd.Categorical(np.array(list("wxyz"))[tool]),
            "hours": np.round(rng.normal(5, 2, n), 1),
        }
    )
    return frame, rng.random(n) < np.where((user + tool) % 2, 0.8, 0.2)


def with_ratios(n: int) -> tuple[pd.DataFrame, np.ndarray[Any, Any]]:
    """Return such rows with two numbers, whose ratio shows what neither does."""
    frame, y = requests(n)
    rng = np.random.default_rng(16)
    income = np.exp(rng.normal(0, 1, n))
    debt = income * np.exp(rng.normal(0, 1, n) + 2 * y)
    return frame.assign(debt=np.round(debt, 2), income=np.round(income, 2)), y


#: Trees of LightGBM with a test of categories as whole numbers, and one for which 0 is missing.
OF_LIGHTGBM = """tree
version=v4
num_class=1
num_tree_per_iteration=1
max_feature_idx=1
objective=binary sigmoid:1
feature_names=age city
feature_infos=[18:90] 0:1:2:5

Tree=0
num_leaves=4
num_cat=1
split_feature=0 1 0
threshold=40 0 -0.5
decision_type=10 1 4
left_child=1 -1 -3
right_child=2 -2 -4
leaf_value=-0.5 0.25 0.125 1e-3
leaf_count=30 10 20 5
cat_boundaries=0 1
cat_threshold=38
shrinkage=1

end of trees
"""


def main() -> None:
    """Fit and save all of them."""
    X, y, weight = clients(160)
    labels = np.where(y, "left", "stayed")
    for old in CORPUS.glob("*.json"):
        old.unlink()

    def save(name: str, fit: Callable[[], Any]) -> None:
        path = CORPUS / f"{name}.json"
        fit().save(path)
        print(f"{path.stat().st_size:8d}  {path.name}")

    for name, model in MODELS.items():
        if "random_state" in model.get_params():
            model.set_params(random_state=0)
        save(name, lambda model=model: model.fit(X, labels))
    numbers = X[["age", "spent, €"]].fillna(0.0).to_numpy()
    for name, model in MODELS_OF_NUMBERS.items():
        save(name, lambda model=model: model.fit(numbers, y))
    pairs = GradientBoostingRanker(
        n_rounds=2, max_leaves=4, max_features=None, learning_rate=0.3, n_bags=2, random_state=0
    )
    save("gradient_boosting_category_pairs", lambda: pairs.fit(*requests(600)))
    joint = LinearRanker(thresholds=2, interactions=4)
    save("linear_terms_of_two", lambda: joint.fit(*with_ratios(600)))
    # Weights change the unit of all sums; a transformer needs no labels.
    save("tree_rank_weighted", lambda: MODELS["tree_rank"].fit(X, y, sample_weight=weight))
    save("rimarc_weighted", lambda: MODELS["rimarc"].fit(X, y, sample_weight=weight))
    save("imported_trees_ranges", lambda: from_text(OF_LIGHTGBM))
    theirs = HistGradientBoostingClassifier(max_iter=3, max_leaf_nodes=5, random_state=0)
    save("imported_trees", lambda: from_sklearn(theirs.fit(X[["age", "city"]], labels)))
    save("imported_linear", lambda: from_coefficients({"age": 0.05, "spent, €": -1e-3}))
    ranker = TreeRank(**SMALL, pruning=None).fit(X, labels)
    save("recalibrated", lambda: recalibrate(ranker, X, labels, method="isotonic"))
    save("threshold_binarizer_rows", lambda: MODELS["threshold_binarizer"].fit(X))


if __name__ == "__main__":
    main()
