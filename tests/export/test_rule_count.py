"""Rules counted against what each model prints."""

import json
from itertools import groupby

import pytest
from aucrank import (
    AUCBoost,
    GradientBoostingRanker,
    RankBoost,
    RankingEnsemble,
    RankingForest,
    TreeRank,
)
from aucrank._export.rule_count import count_rules
from aucrank.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression

TUMOURS = load_breast_cancer(return_X_y=True)


def rules(model):
    return count_rules(model.fit(*TUMOURS)._model.formula())


def test_leaves_are_rules():
    tree = TreeRank(random_state=0)
    assert rules(tree) == tree.tree_.n_leaves
    forest = RankingForest(n_estimators=5, random_state=0)
    assert rules(forest) == sum(one.n_leaves for one in forest.estimators_)
    booster = GradientBoostingRanker(n_rounds=20, random_state=0)
    assert rules(booster) == booster.rounds_["n_leaves"].sum()


@pytest.mark.parametrize("kind", [AUCBoost, RankBoost])
def test_stumps_of_one_feature_count_as_steps_of_one_function(kind):
    booster = kind(n_rounds=40, random_state=0)
    found = rules(booster)
    terms = booster.terms()
    values = list(zip(terms["feature"].tolist(), terms["value"].tolist(), strict=True))
    steps = len([pair for pair, _ in groupby(values)])
    # Of each feature, missing values may be a case of their own.
    assert steps - len(set(terms["feature"])) <= found <= steps


@pytest.mark.parametrize(
    ("formula", "n_rules"),
    [
        ({"constant": 3.0}, 0),
        ({"linear": {"intercept": 1.0, "terms": [{"weight": 0.0}, {"weight": 2.0}]}}, 1),
        ({"sum": [{"indicator": {"value": 1.0}}, {"indicator": {"value": 0.0}}]}, 1),
        ({"product": {"factor": 0.0, "of": {"indicator": {"value": 1.0}}}}, 0),
        ({"product": {"factor": 2.0, "of": {"indicator": {"value": 1.0}}}}, 1),
        # Two runs of one value, and missing values that have another one.
        ({"steps": {"missing": 9.0, "numeric": {"thresholds": [1, 2], "values": [1, 1, 2]}}}, 3),
        ({"steps": {"missing": 2, "numeric": {"thresholds": [1, 2], "values": [1, 2, 1]}}}, 3),
        # A special value of its own.
        (
            {"steps": {"missing": 1, "numeric": {"values": [1, 2], "special": [[-9, 5.0]]}}},
            3,
        ),
        # Categories that share a value are one rule.
        ({"steps": {"missing": 0.5, "categorical": {"values": [1, 2, 1, 0.5]}}}, 3),
        ({"median": [{"tree": [{"branch": {}}, {"leaf": {}}, {"leaf": {}}]}, {"constant": 1}]}, 2),
        ({"program": {"layers": [[{"split": {}}], [{"end": 1}, {"split": {}}]]}}, 2),
        ({"sum": [{"constant": 1}, {"opaque": "an estimator"}]}, None),
        (
            {
                "quotient": {
                    "numerator": {"indicator": {"value": 1.0}},
                    "denominator": {"indicator": {"value": 1.0}},
                }
            },
            1,
        ),
        ({"steps_of": {"values": [0, 1], "of": {"indicator": {"value": 1.0}}}}, 3),
    ],
)
def test_a_rule_is_a_case_with_its_own_value(formula, n_rules):
    assert count_rules(json.dumps(formula)) == n_rules


def test_estimators_of_other_packages_have_no_rule_count():
    members = [("linear", LogisticRegression(max_iter=5000)), ("tree", TreeRank())]
    assert rules(RankingEnsemble(members=members, n_folds=2, random_state=0)) is None
