"""Thresholds of a score by the costs of errors."""

import numpy as np
import pytest
from aucrank._report.cutoffs import costs_of_others, find_cut_offs
from aucrank._report.options import Costs, read_options
from aucrank.metrics import RocCurve
from hypothesis import given
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold

from tests.common.reports import subject_of, target_of
from tests.common.samples import scored_rows


def cost_of(positive, called, weight, costs):
    wrong = weight[called & ~positive].sum() * costs.false_positive
    return (wrong + weight[~called & positive].sum() * costs.false_negative) / weight.sum()


def cheapest(positive, scores, weight, costs):
    """The least mean cost over all thresholds, and the highest threshold that has it."""
    thresholds = [np.inf, *np.unique(scores)[::-1]]
    found = [cost_of(positive, scores >= t, weight, costs) for t in thresholds]
    return min(found), thresholds[int(np.argmin(np.round(found, 12)))]


def cut_offs(scores, positive, weight, own_cut=0.0, costs=None):
    target = target_of(positive, weight)
    curve = RocCurve.from_scores(positive, scores, sample_weight=weight)
    knot = int((curve.tpr - curve.fpr).argmax())
    subject = subject_of(scores, own_cut=own_cut)
    return find_cut_offs(subject, curve, knot, target, read_options(costs=costs))


@given(scored_rows())
def test_the_cheapest_threshold_is_the_cheapest_of_all(sample):
    y, scores, weight = sample
    kept = weight > 0
    positive, scores, weight = y[kept] == 1, scores[kept].astype(float), weight[kept]
    own, _, cut = cut_offs(
        scores, positive, weight, 1.0, {"false_positive": 1.5, "false_negative": 4}
    )
    cost, _ = cheapest(positive, scores, weight, cut.costs)
    assert cut.cost == pytest.approx(cost)
    assert cost_of(positive, scores >= cut.threshold, weight, cut.costs) == pytest.approx(cost)
    nobody, everybody = np.zeros(len(y[kept]), bool), np.ones(len(y[kept]), bool)
    assert cut.trivial_cost == pytest.approx(
        min(cost_of(positive, rows, weight, cut.costs) for rows in (nobody, everybody))
    )
    # The model's own cut calls positive what scores more, not as much.
    called = scores > 1.0
    assert own.flagged == pytest.approx(weight[called].sum() / weight.sum())
    assert own.tpr == pytest.approx(weight[called & positive].sum() / weight[positive].sum())
    assert own.fpr == pytest.approx(weight[called & ~positive].sum() / weight[~positive].sum())
    if called.any():
        assert own.precision == pytest.approx(
            weight[called & positive].sum() / weight[called].sum()
        )
    else:
        assert np.isnan(own.precision)


def test_the_default_threshold_is_that_of_predict():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 2))
    y = X[:, 0] + rng.normal(size=300) > 0.5
    model = LogisticRegression().fit(X, y)
    own = cut_offs(model.decision_function(X), y, None)[0]
    predicted = model.predict(X)
    assert own.flagged == pytest.approx(predicted.mean())
    assert own.tpr == pytest.approx(predicted[y].mean())


def test_the_cross_validated_cost_chooses_thresholds_on_other_folds():
    rng = np.random.default_rng(1)
    positive = rng.random(400) < 0.3
    scores = rng.normal(loc=positive).round(2)
    weight = rng.integers(1, 4, 400).astype(float)
    costs = Costs(1.0, 3.0)
    spent = 0.0
    folds = StratifiedKFold(5, shuffle=True, random_state=7)
    for others, fold in folds.split(scores, positive):
        _, threshold = cheapest(positive[others], scores[others], weight[others], costs)
        called = scores[fold] >= threshold
        spent += cost_of(positive[fold], called, weight[fold], costs) * weight[fold].sum()
    (found,) = costs_of_others(scores, target_of(positive, weight), [costs], 7)
    assert found == pytest.approx(spent / weight.sum())


def test_a_noise_score_saves_nothing_in_cross_validation():
    rng = np.random.default_rng(2)
    positive = np.arange(300) % 3 == 0
    costs = {"false_positive": 1, "false_negative": 2}
    seeming, saved = [], []
    for _ in range(50):
        *_, cut = cut_offs(rng.normal(size=300), positive, None, costs=costs)
        seeming.append(cut.trivial_cost - cut.cost)
        saved.append(cut.trivial_cost - cut.cost_of_others)
    assert min(seeming) > 0
    assert abs(np.mean(saved)) < 3 * np.std(saved) / np.sqrt(50) < np.mean(seeming)


def test_too_few_rows_have_no_cross_validated_cost():
    positive = np.arange(40) < 4
    assert costs_of_others(np.arange(40.0), target_of(positive), [Costs(1, 1)], 0) == [None]
