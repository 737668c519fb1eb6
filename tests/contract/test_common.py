"""The contract of scikit-learn, for every public estimator and several settings of each."""

import numpy as np
import pytest
from aucrank import (
    AURORA,
    RIMARC,
    AUCBoost,
    MartiRank,
    RankBoost,
    RankingForest,
    RankOpt,
    Scorecard,
    SMartiRank,
    TreeRank,
)
from aucrank._base.registry import public_estimators
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
from sklearn.utils.estimator_checks import (
    check_dataframe_column_names_consistency,
    parametrize_with_checks,
)

ESTIMATORS = [
    TreeRank(),
    TreeRank(split="leafrank", leaf_order="tree", pruning=None),
    TreeRank(split=LeafRank(max_depth=2, max_leaves=3), min_samples_leaf=1, n_jobs=2),
    TreeRank(pruning=PenalizedPruning(scale="slope"), min_samples_leaf=1),
    TreeRank(split="leafrank", pruning="validation"),
    TreeRank(split=OrthogonalSplit(), pruning=CrossValidatedPruning(n_folds=3), max_bins=None),
    TreeRank(missing="cell_mean", max_fpr=0.5),
    TreeRank(split="leafrank", missing="cell_mean", min_samples_leaf=1, pruning=None),
    # At most level 2: some checks have 30 features.
    TreeRank(split=DyadicSplit(level=2), pruning=CrossValidatedPruning(n_folds=3)),
    TreeRank(split=DyadicSplit(level=1), leaf_order="tree", pruning=None, n_jobs=2),
    TreeRank(split=LeafRank(pruning=CrossValidatedPruning(n_folds=2)), pruning=None),
    TreeRank(split=WeightedERM(LogisticRegression()), pruning=CrossValidatedPruning(n_folds=3)),
    TreeRank(
        split=WeightedERM(DecisionTreeClassifier(max_depth=2)), pruning=None, leaf_order="tree"
    ),
    RankingForest(n_estimators=10),
    RankingForest(n_estimators=5, bootstrap=False, max_features=None, aggregation="rank_mean"),
    RankingForest(n_estimators=8, split="leafrank", aggregation="rank_median", oob_score=True),
    RankingForest(n_estimators=12, aggregation="kendall", leaf_order="tree", n_jobs=2),
    RankingForest(n_estimators=30, n_iter_no_change=10, max_samples=0.7),
    AUCBoost(),
    AUCBoost(n_rounds=10, output="sign", criterion="error", n_jobs=2),
    AUCBoost(n_rounds=30, subsample=0.5, max_features="sqrt", learning_rate=0.5),
    AUCBoost(n_rounds=30, early_stopping=True, refit=True),
    RankBoost(n_rounds=30),
    RankBoost(n_rounds=30, selection="window", subsample=0.7),
    MartiRank(),
    MartiRank(n_rounds=3, criterion="error", routing="sampled", output="node_rate", n_jobs=2),
    MartiRank(weak_ranker="threshold", output="sign", max_bins=None),
    SMartiRank(),
    SMartiRank(n_rounds=4, min_samples_class=0, sample_size=20, weak_ranker="threshold"),
    Scorecard(),
    Scorecard(high_points="negative", min_bin_share=0.1, special_values=[0.0], n_jobs=2),
    Scorecard(estimator=RankBoost(n_rounds=10), base_odds=50, pdo=40, monotone=True),
    RIMARC(),
    RIMARC(shrinkage=2.0, weight_folds=3, n_jobs=2),
    RIMARC(missing="value", special_values=[-1.0, 0.0], shrinkage=0.5),
    AURORA(radius=1.5, depth="shallow", max_features=8),
    AURORA(radius=1.5, depth="shallow", max_features=5, order=1, selection=None, n_jobs=2),
    AURORA(depth={"shortlist": 3, "midpoints": 5, "combined": 4}, max_features=4, selection="cv"),
    Scorecard(estimator=AURORA(radius=1.5, depth="shallow", max_features=8, order=1)),
    RankOpt(),
    RankOpt(objective="ramp", radii=(0.5, 3.0), n_jobs=2),
]

# A weight of k cannot be k rows where rows are drawn: scikit-learn exempts its own forests too.
BOOTSTRAP = {
    f"check_sample_weight_equivalence_on_{form}_data": "rows are drawn, not weights"
    for form in ("dense",)
}


# No check is expected to fail. Warnings about folds are the tiny samples of the checks.
@pytest.mark.filterwarnings(
    "ignore:A class has",
    "ignore:The tree has . leaves, too few",
    "ignore:Every tree has seen",
    "ignore:No weak ranker",
    "ignore:No term tells",
)
@parametrize_with_checks(
    ESTIMATORS,
    expected_failed_checks=lambda estimator: (
        BOOTSTRAP if getattr(estimator, "bootstrap", False) else {}
    ),
)
def test_scikit_learn_contract(estimator, check):
    check(estimator)


def test_no_public_estimator_is_left_out():
    assert {type(estimator) for estimator in ESTIMATORS} == set(public_estimators().values())


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=repr)
def test_column_names_are_checked_as_scikit_learn_does(estimator):
    check_dataframe_column_names_consistency(type(estimator).__name__, estimator)


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=repr)
def test_the_three_outputs_never_contradict_each_other(estimator):
    rng = np.random.default_rng(3)
    X = rng.normal(size=(300, 4)).round(1)
    y = np.where(X[:, 0] + X[:, 1] ** 2 + rng.normal(size=300) > 1, "yes", "no")
    if "random_state" in estimator.get_params():
        estimator.set_params(random_state=0)
    model = estimator.fit(X, y)
    X = rng.normal(size=(500, 4))
    positive = model.decision_function(X) > 0
    assert np.array_equal(model.predict(X) == "yes", positive)
    if hasattr(model, "predict_proba"):
        probability = model.predict_proba(X)
        assert np.array_equal(probability[:, 1] > 0.5, positive)
        assert np.allclose(probability.sum(axis=1), 1)
        order = np.argsort(model.decision_function(X), kind="stable")
        assert (np.diff(probability[order, 1]) >= 0).all()
