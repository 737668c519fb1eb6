"""The contract of scikit-learn, for every public estimator and several settings of each."""

import numpy as np
import pytest
from aucrank import TreeRank
from aucrank._registry import public_estimators
from aucrank.tree import CrossValidatedPruning, LeafRank, OrthogonalSplit, WeightedERM
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
    TreeRank(split=OrthogonalSplit(), pruning=CrossValidatedPruning(n_folds=3), max_bins=None),
    TreeRank(split=WeightedERM(LogisticRegression()), pruning=CrossValidatedPruning(n_folds=3)),
    TreeRank(
        split=WeightedERM(DecisionTreeClassifier(max_depth=2)), pruning=None, leaf_order="tree"
    ),
]


# No check is expected to fail. Warnings about folds are the tiny samples of the checks.
@pytest.mark.filterwarnings("ignore:A class has")
@parametrize_with_checks(ESTIMATORS, xfail_strict=True)
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
    model = estimator.set_params(random_state=0).fit(X, y)
    X = rng.normal(size=(500, 4))
    positive = model.decision_function(X) > 0
    assert np.array_equal(model.predict(X) == "yes", positive)
    if hasattr(model, "predict_proba"):
        probability = model.predict_proba(X)
        assert np.array_equal(probability[:, 1] > 0.5, positive)
        assert np.allclose(probability.sum(axis=1), 1)
        order = np.argsort(model.decision_function(X), kind="stable")
        assert (np.diff(probability[order, 1]) >= 0).all()
