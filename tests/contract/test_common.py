"""The contract of scikit-learn, for every public estimator and several settings of each."""

import re
from functools import cache, partial

import numpy as np
import pytest
from aucrank import RankingForest, TreeRank
from aucrank._base.registry import public_estimators
from sklearn.utils.estimator_checks import (
    check_class_weight_classifiers,
    check_dataframe_column_names_consistency,
    estimator_checks_generator,
)

from tests.common.contract import OF_SETTINGS, checks
from tests.common.estimators import MORE_SETTINGS, SETTINGS, quiet_on_few_rows, short

# A weight of k cannot be k rows where rows are drawn: scikit-learn exempts its own forests too.
BOOTSTRAP = {
    f"check_sample_weight_equivalence_on_{form}_data": "rows are drawn, not weights"
    for form in ("dense", "sparse")
}


# Leaves of one class alone are of that class, however little it weighs. Trees of scikit-learn pass
# since the check sets their `min_weight_fraction_leaf`, which there is not here.
PURE_LEAVES = {"check_class_weight_classifiers": "leaves of one class have no other"}


def grows_pure_leaves(estimator):
    """Whether it is an unpruned tree of many leaves, or a forest of ranks of leaves.

    A forest with ``max_samples`` chooses small leaves, too.
    """
    params = estimator.get_params(deep=False)
    if isinstance(estimator, RankingForest):
        takes_order = params["aggregation"] in ("rank_mean", "kendall")
        return takes_order or params["max_samples"] is not None
    is_plain = isinstance(params.get("split"), str) and params["split"] == "leafrank"
    return isinstance(estimator, TreeRank) and is_plain and params["pruning"] is None


def contract():
    """Yield the checks of each estimator; of further settings those that depend on them."""
    for estimator in (*SETTINGS, *MORE_SETTINGS):
        # No other check is expected to fail.
        failing = (BOOTSTRAP if getattr(estimator, "bootstrap", False) else {}) | (
            PURE_LEAVES if grows_pure_leaves(estimator) else {}
        )
        yield from checks(estimator, of_settings=estimator not in SETTINGS, failing=failing)


@cache
def written(value):
    """Return an estimator or a check as a part of the name of a test."""
    return value.func.__name__ if isinstance(value, partial) else re.sub(r"\s+", "", repr(value))


@quiet_on_few_rows
@pytest.mark.parametrize(("estimator", "check"), contract(), ids=written)
def test_scikit_learn_contract(estimator, check):
    check(estimator)


def test_checks_of_settings_are_checks_of_scikit_learn():
    assert {
        check.func.__name__ for _, check in estimator_checks_generator(TreeRank())
    } >= OF_SETTINGS


@quiet_on_few_rows
@pytest.mark.parametrize("name", public_estimators())
def test_class_weights_move_the_labels_by_default(name):
    estimator = short(public_estimators()[name])
    check_class_weight_classifiers(name, estimator)


def test_no_public_estimator_is_left_out():
    assert {type(estimator) for estimator in SETTINGS} == set(public_estimators().values())


@pytest.mark.parametrize("estimator", [*SETTINGS, *MORE_SETTINGS], ids=written)
def test_column_names_are_checked_as_scikit_learn_does(estimator):
    check_dataframe_column_names_consistency(type(estimator).__name__, estimator)


@pytest.mark.parametrize("estimator", [*SETTINGS, *MORE_SETTINGS], ids=written)
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
