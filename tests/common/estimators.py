"""Every list of estimators that tests run over: a new estimator belongs into each that it suits.

An estimator is fitted where it stands or cloned; no two lists share one.
"""

import pytest
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
)
from aucrank._base.registry import public_estimators
from aucrank.boosting import TwoSidedClassifier
from aucrank.tree import (
    CrossValidatedPruning,
    DyadicSplit,
    LeafRank,
    OrthogonalSplit,
    PenalizedPruning,
    WeightedERM,
)
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier

#: The samples of scikit-learn's checks are tiny, of which some models warn.
quiet_on_few_rows = pytest.mark.filterwarnings(
    "ignore:A class has",
    "ignore:The tree has . leaves, too few",
    "ignore:Every tree has seen",
    "ignore:No weak ranker",
    "ignore:No term",
    "ignore:No split lowers",
)

#: Settings for a short fit of AURORA if its search is not tested.
SHORT_SEARCH = {"radius": 1.5, "depth": "shallow", "max_features": 4}


def few_members():
    """Return members of an ensemble that are quickly fitted."""
    return [
        ("boosting", GradientBoostingRanker(n_rounds=10)),
        ("forest", RankingForest(n_estimators=5, bootstrap=False)),
        ("linear", LinearRanker()),
    ]


def short(cls):
    """Return an estimator with its defaults, or one with a short search or few members."""
    if cls is RankingEnsemble:
        return cls(members=few_members(), n_folds=2, random_state=0)
    return cls(**SHORT_SEARCH) if cls is AURORA else cls()


def quick_card(**params):
    """Return a scorecard whose booster stops after a few rounds."""
    booster = GradientBoostingRanker(n_rounds=10, interactions=0, max_bins=16, random_state=0)
    return Scorecard(estimator=booster, **params)


#: For the whole of scikit-learn's contract: every public estimator, and trees by their kinds of
#: splits, which read rows in different ways.
SETTINGS = [
    TreeRank(),
    TreeRank(split="leafrank", leaf_order="tree", pruning=None),
    # At most level 2: some checks have 30 features.
    TreeRank(split=DyadicSplit(level=2), pruning=CrossValidatedPruning(n_folds=3)),
    TreeRank(split=WeightedERM(LogisticRegression()), pruning=CrossValidatedPruning(n_folds=3)),
    RankingForest(n_estimators=10),
    RankingForest(n_estimators=8, split="leafrank", aggregation="rank_median", oob_score=True),
    RuleList(pruning=None),
    AUCBoost(n_rounds=20),
    RankBoost(n_rounds=30),
    GradientBoostingRanker(n_rounds=30),
    MartiRank(),
    SMartiRank(),
    quick_card(),
    IntegerScore(),
    RIMARC(),
    AURORA(radius=1.5, depth="shallow", max_features=8),
    RankOpt(radii=(1.0,)),
    LinearRanker(),
    RankingEnsemble(members=few_members(), n_folds=2),
]

#: Further settings, for the checks of that contract that depend on them.
MORE_SETTINGS = [
    TreeRank(split="leafrank", pruning="validation"),
    TreeRank(missing="cell_mean", max_fpr=0.5),
    RuleList(max_conditions=3, pruning="validation", max_fpr=0.5, n_jobs=2),
    RankingForest(n_estimators=30, n_iter_no_change=10, max_samples=0.7),
    AUCBoost(n_rounds=30, early_stopping=True, refit=True),
    RankBoost(n_rounds=30, selection="window", subsample=0.7, max_fpr=0.3),
    RankBoost(n_rounds=10, calibration="auto"),
    GradientBoostingRanker(
        n_rounds=20, loss="pair_logistic", cuts="random", max_depth=3, min_samples_leaf=1, n_jobs=2
    ),
    GradientBoostingRanker(n_rounds=30, early_stopping=True, scoring="loss", refit=True),
    GradientBoostingRanker(n_rounds=10, interactions="auto", n_bags=2),
    AUCBoost(),
    Scorecard(),
    RankOpt(),
    TreeRank(split=LeafRank(max_depth=2, max_leaves=3), min_samples_leaf=1, n_jobs=2),
    TreeRank(pruning=PenalizedPruning(scale="slope"), min_samples_leaf=1),
    TreeRank(split=OrthogonalSplit(), pruning=CrossValidatedPruning(n_folds=3), max_bins=None),
    TreeRank(split="leafrank", missing="cell_mean", min_samples_leaf=1, pruning=None),
    TreeRank(split=DyadicSplit(level=1), leaf_order="tree", pruning=None, n_jobs=2),
    TreeRank(split=LeafRank(pruning=CrossValidatedPruning(n_folds=2)), pruning=None),
    TreeRank(
        split=WeightedERM(DecisionTreeClassifier(max_depth=2)), pruning=None, leaf_order="tree"
    ),
    RankingForest(n_estimators=5, bootstrap=False, max_features=None, aggregation="rank_mean"),
    RankingForest(n_estimators=12, aggregation="kendall", leaf_order="tree", n_jobs=2),
    AUCBoost(n_rounds=10, output="sign", criterion="error", n_jobs=2),
    AUCBoost(n_rounds=30, subsample=0.5, max_features="sqrt", learning_rate=0.5),
    GradientBoostingRanker(
        n_rounds=20, loss="pair_exponential", interactions=0, subsample=1.0, max_fpr=0.2
    ),
    GradientBoostingRanker(n_rounds=10, early_stopping=True, n_bags=3, n_jobs=2),
    GradientBoostingRanker(n_rounds=10, interactions=2, n_bags=2),
    GradientBoostingRanker(n_rounds=10, loss="pair_logistic", calibration="isotonic"),
    AUCBoost(n_rounds=10, calibration="sigmoid"),
    MartiRank(n_rounds=4, calibration="auto"),
    SMartiRank(n_rounds=4, calibration="isotonic"),
    AURORA(radius=1.5, depth="shallow", max_features=4, calibration="auto"),
    RankOpt(radii=(1.0,), calibration="isotonic"),
    MartiRank(n_rounds=3, criterion="error", routing="sampled", output="node_rate", n_jobs=2),
    MartiRank(weak_ranker="threshold", output="sign", max_bins=None),
    SMartiRank(n_rounds=4, min_samples_class=0, sample_size=20, weak_ranker="threshold"),
    Scorecard(high_points="negative", min_bin_share=0.1, special_values=[0.0], n_jobs=2),
    IntegerScore(max_features=2, max_questions=3, min_gain=0.0, high_points="negative", n_jobs=2),
    Scorecard(estimator=RankBoost(n_rounds=10), base_odds=50, pdo=40, monotone=True),
    RIMARC(shrinkage=2.0, weight_folds=3, n_jobs=2),
    RIMARC(missing="value", special_values=[-1.0, 0.0], shrinkage=0.5),
    AURORA(radius=1.5, depth="shallow", max_features=5, order=1, selection=None, n_jobs=2),
    AURORA(depth={"shortlist": 3, "midpoints": 5, "combined": 4}, max_features=4, selection="cv"),
    Scorecard(estimator=AURORA(radius=1.5, depth="shallow", max_features=8, order=1)),
    RankOpt(objective="ramp", radii=(0.5, 3.0), n_jobs=2),
    LinearRanker(C=10.0, thresholds=None, n_jobs=2),
    LinearRanker(C=1e-3, thresholds=50),
    RankingEnsemble(members=few_members()[1:], n_folds=3, shrinkage=0.0, n_jobs=2),
    RankingEnsemble(
        members=[("logistic", LogisticRegression()), ("linear", LinearRanker())], n_folds=2
    ),
]

#: For bad input and damaged files: every public estimator, and what differs in how it fits.
EVERY = {name: short(cls) for name, cls in public_estimators().items()} | {
    "RankingForest": RankingForest(n_estimators=10, random_state=0),
    "RuleList": RuleList(pruning=None),
    "TwoSidedClassifier": TwoSidedClassifier(ranker=TreeRank(pruning=None)),
    "AUCBoost of trees": AUCBoost(weak_ranker="tree", n_rounds=10),
    "AUCBoost of lines": AUCBoost(weak_ranker="linear", n_rounds=10),
    "RankBoost, stopped early": RankBoost(n_rounds=30, early_stopping=True),
    "RankBoost by the window": RankBoost(n_rounds=30, selection="window", refit=True),
    "RankBoost of features": RankBoost(n_rounds=30, weak_ranker="feature", subsample=0.5),
    "GradientBoostingRanker of pairs": GradientBoostingRanker(
        n_rounds=20, loss="pair_logistic", early_stopping=True
    ),
    "GradientBoostingRanker of features": GradientBoostingRanker(n_rounds=20, interactions=0),
    "GradientBoostingRanker of bags": GradientBoostingRanker.additive(n_rounds=20, n_bags=2),
    "MartiRank one way": MartiRank(n_rounds=5, routing="sampled"),
    "MartiRank of lines": MartiRank(n_rounds=4, weak_ranker="linear"),
    "SMartiRank of trees": SMartiRank(weak_ranker="tree", min_samples_class=0),
    "Scorecard of few bins": Scorecard(min_bin_share=0.2, high_points="negative"),
    "Scorecard of RankBoost": Scorecard(estimator=RankBoost(n_rounds=20), special_values=[0.0]),
    "AURORA": AURORA(radius=1.5, depth="shallow", max_features=8),
    "AURORA over folds": AURORA(
        radius=1.5, depth="shallow", max_features=4, selection="cv", n_folds=2
    ),
    "Scorecard of AURORA": Scorecard(
        estimator=AURORA(radius=1.5, depth="shallow", max_features=8, order=1)
    ),
    "RIMARC over folds": RIMARC(weight_folds=5, shrinkage=1.0),
    "RIMARC of missing values": RIMARC(missing="value", special_values=[0.0]),
    "RankOpt of the ramp": RankOpt(objective="ramp"),
    "LinearRanker of numbers as they are": LinearRanker(C=100.0, thresholds=None),
}

#: One of each public estimator and transformer, quick to fit.
ONE_OF_EACH = {
    "TreeRank": TreeRank(random_state=0),
    "RankingForest": RankingForest(n_estimators=5, oob_score=True, random_state=0),
    "RuleList": RuleList(pruning=None),
    "AUCBoost": AUCBoost(n_rounds=5),
    "RankBoost": RankBoost(n_rounds=5),
    "GradientBoostingRanker": GradientBoostingRanker(n_rounds=5, random_state=0),
    "MartiRank": MartiRank(n_rounds=3),
    "SMartiRank": SMartiRank(n_rounds=3, random_state=0),
    "RIMARC": RIMARC(),
    "Scorecard": quick_card(),
    "IntegerScore": IntegerScore(max_features=2),
    "AURORA": AURORA(radius=1.5, depth="shallow", max_features=4),
    "RankOpt": RankOpt(radii=(1.0,)),
    "LinearRanker": LinearRanker(),
    "RankingEnsemble": RankingEnsemble(members=few_members(), n_folds=2, random_state=0),
    "MAD2C": MAD2C(),
    "MAD2C, a column a bin": MAD2C(encode="onehot-dense"),
    "ThresholdBinarizer": ThresholdBinarizer(),
    "TwoSidedClassifier": TwoSidedClassifier(ranker=RIMARC()),
}

#: For data that change while they are read: every way in which a fit reads its columns.
READERS = [
    TreeRank(),
    TreeRank(missing="cell_mean", max_bins=None, pruning=None),
    TreeRank(split="leafrank", pruning=None),
    TreeRank(split=DyadicSplit(level=2), pruning=None),
    RankingForest(n_estimators=5, oob_score=True),
    RuleList(pruning=None),
    AUCBoost(n_rounds=5, weak_ranker="linear"),
    AUCBoost(n_rounds=5, weak_ranker="tree", early_stopping=True),
    RankBoost(n_rounds=5, selection="window"),
    RankBoost(n_rounds=5, max_bins=None),
    GradientBoostingRanker(n_rounds=5),
    GradientBoostingRanker(n_rounds=5, early_stopping=True),
    MartiRank(n_rounds=3, weak_ranker="linear"),
    SMartiRank(n_rounds=3),
    RIMARC(weight_folds=3),
    RIMARC(missing="value", special_values=[0.0]),
    Scorecard(),
    IntegerScore(special_values=[0.0]),
    AURORA(radius=2.0, max_features=3, depth="shallow", selection="cv", n_folds=3),
    AURORA(radius=2.0, max_features=3, depth="shallow", selection=None),
    RankOpt(radii=(1.0, 4.0)),
    RankOpt(radii=(1.0, 4.0), objective="ramp"),
    LinearRanker(),
    LinearRanker(thresholds=None),
    RankingEnsemble(members=few_members(), n_folds=2),
    MAD2C(),
    ThresholdBinarizer(max_levels=1000),
]

#: For categories: the rankers that take them.
RANKERS = {
    "TreeRank": TreeRank(),
    "unpruned TreeRank": TreeRank(pruning=None, min_samples_leaf=50),
    "LeafRank": TreeRank(split="leafrank"),
    "RankingForest": RankingForest(n_estimators=40, min_samples_leaf=20, random_state=0),
    "RuleList": RuleList(),
    "RankBoost": RankBoost(n_rounds=50),
    "RankBoost of trees": RankBoost(weak_ranker="tree", n_rounds=20),
    "AUCBoost": AUCBoost(),
    "GradientBoostingRanker": GradientBoostingRanker(n_rounds=100, random_state=0),
    "MartiRank": MartiRank(),
    "SMartiRank": SMartiRank(),
    "RIMARC": RIMARC(),
    "Scorecard": Scorecard(),
    "IntegerScore": IntegerScore(),
    "AURORA": AURORA(order=1, max_features=20, radius=1.0),
    "LinearRanker": LinearRanker(),
}

#: For scores of the Rust crate: every family and form of its score, on columns of every kind.
SCORED_BY_THE_CRATE = {
    "features": AUCBoost(),
    "signs": AUCBoost(n_rounds=9, output="sign"),
    "thresholds": RankBoost(),
    "trees": RankBoost(n_rounds=20, weak_ranker="tree"),
    "small trees": AUCBoost(n_rounds=20, weak_ranker=LeafRank(max_depth=2)),
    "gradient boosting": GradientBoostingRanker(n_rounds=30, random_state=0),
    "gradient boosting of features": GradientBoostingRanker(
        n_rounds=30, interactions=0, loss="pair_exponential"
    ),
    "program": MartiRank(),
    "one way": MartiRank(routing="sampled", output="node_rate", random_state=5),
    "program of trees": SMartiRank(n_rounds=5, weak_ranker="tree", output="votes"),
    "majority": SMartiRank(n_rounds=6, weak_ranker="threshold", output="sign"),
    "card": Scorecard(),
    "card of a bank": Scorecard(
        estimator=RankBoost(n_rounds=30),
        base_odds=50,
        high_points="negative",
        min_bin_share=0.02,
        special_values={"age": [40.0], "spent, €": [0.0]},
    ),
    "integer score": IntegerScore(special_values={"age": [40.0]}, high_points="negative"),
    "terms": AURORA(radius=1.5, depth="shallow", max_features=30, selection=None),
    "card of terms": Scorecard(
        estimator=AURORA(radius=1.5, depth="shallow", max_features=20, order=1)
    ),
    "means": RIMARC(),
    "means of missing values": RIMARC(missing="value", shrinkage=3.0, weight_folds=4),
    "means of special values": RIMARC(special_values={"age": [40.0]}),
    "weights": LinearRanker(thresholds=None),
    "weights and thresholds": LinearRanker(thresholds=7),
    "two sides": TwoSidedClassifier(ranker=RankBoost(n_rounds=20)),
}

#: For TwoSidedClassifier: rankers of ours under it.
TWO_SIDED = [
    TreeRank(),
    # Where rows are drawn, a weight of k cannot be k rows.
    RankingForest(n_estimators=5, bootstrap=False),
    RuleList(pruning=None),
    AUCBoost(n_rounds=10, subsample=0.5),
    RankBoost(n_rounds=5),
    GradientBoostingRanker(n_rounds=5),
    MartiRank(n_rounds=3),
    SMartiRank(n_rounds=3),
    RIMARC(weight_folds=3),
    Scorecard(),
    IntegerScore(),
    AURORA(radius=1.5, depth="shallow", max_features=4),
    RankOpt(radii=(1.0,)),
    LinearRanker(),
    RankingEnsemble(members=[("linear", LinearRanker())], n_folds=2),
]

#: For crafted files: every form of a saved model, small.
SAVED = {
    "tree": TreeRank(split=LeafRank(max_depth=2), pruning=None, monotonic_cst={"a": 1}),
    "pruned_tree": TreeRank(max_depth=4),
    "rules": RuleList(max_rules=3, max_conditions=3, pruning=None),
    "cubes": TreeRank(split=DyadicSplit(level=2), pruning=None),
    "forest": RankingForest(n_estimators=3, max_depth=3, split=LeafRank(max_depth=2)),
    "consensus": RankingForest(n_estimators=3, max_depth=3, aggregation="kendall"),
    "rank_boost": RankBoost(n_rounds=8, early_stopping=True),
    "boosted_trees": AUCBoost(weak_ranker=TreeRank(max_depth=2, pruning=None), n_rounds=3),
    "boosted_lines": AUCBoost(weak_ranker="linear", n_rounds=3),
    "gradient_boosting": GradientBoostingRanker(n_rounds=3, max_leaves=4),
    "marti": MartiRank(n_rounds=3),
    "rimarc": RIMARC(special_values=[0.5]),
    "mad2c": MAD2C(special_values=[0.5]),
    "card": Scorecard(special_values=[0.5]),
    "integer score": IntegerScore(max_features=1, special_values=[0.5]),
    "aurora": AURORA(radius=1.0, depth="shallow", max_features=4),
    "rank_opt": RankOpt(),
    "linear": LinearRanker(thresholds=2),
    "ensemble": RankingEnsemble(
        members=[
            ("trees", GradientBoostingRanker(n_rounds=2, max_leaves=3)),
            ("linear", LinearRanker(thresholds=None)),
        ],
        n_folds=2,
    ),
    "terms": ThresholdBinarizer(),
    "two_sided": TwoSidedClassifier(ranker=RankBoost(n_rounds=3, calibration="sigmoid")),
}
