"""The best threshold and its intervals."""

import json

import numpy as np
import pytest
from aucrank.metrics import RocCurve, optimal_threshold
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import norm

from tests.common.paths import CHECKOUT

CRITERIA = ["youden", "closest_topleft", "cost", "equal"]
BOUND = ["sensitivity_at_specificity", "precision_at_recall", "at_most_k"]
NEEDED = {
    "sensitivity_at_specificity": {"at_least": 0.8},
    "precision_at_recall": {"at_least": 0.6},
    "f_beta": {"beta": 2},
    "mcc": {},
    "net_benefit": {"probability": 0.2},
    "at_most_k": {"k": 0.25},
}
FEW = {"n_resamples": 20, "random_state": 0}


def loss(criterion, sensitivity, specificity, costs=(1, 1), prevalence=0.5):
    """The value that a criterion minimises, by its definition."""
    if criterion == "youden":
        return 1 - sensitivity - specificity
    if criterion == "closest_topleft":
        return np.hypot(1 - sensitivity, 1 - specificity)
    if criterion == "equal":
        return np.abs(sensitivity - specificity)
    if criterion == "cost":
        wrong, missed = costs
        return wrong * (1 - prevalence) * (1 - specificity) + missed * prevalence * (
            1 - sensitivity
        )
    sensitivity, specificity = np.asarray(sensitivity), np.asarray(specificity)
    hits, misses = prevalence * sensitivity, prevalence * (1 - sensitivity)
    false, quiet = (1 - prevalence) * (1 - specificity), (1 - prevalence) * specificity
    with np.errstate(divide="ignore", invalid="ignore"):
        if criterion == "net_benefit":
            return -(hits - false * 0.2 / 0.8)
        if criterion == "f_beta":
            precision, recall = hits / (hits + false), sensitivity
            return np.nan_to_num(-5 * precision * recall / (4 * precision + recall))
        if criterion == "mcc":
            margins = (hits + false) * (hits + misses) * (quiet + false) * (quiet + misses)
            value = (hits * quiet - false * misses) / np.sqrt(np.maximum(margins, 0))
            return np.where(margins > 1e-15, -value, 0.0)
        kept, value = {
            "sensitivity_at_specificity": (specificity >= 0.8 - 1e-12, sensitivity),
            "precision_at_recall": (sensitivity >= 0.6 - 1e-12, hits / (hits + false)),
            "at_most_k": (hits + false <= 0.25 + 1e-12, sensitivity),
        }[criterion]
        # No precision without a row called positive.
        return np.where(kept & ~np.isnan(value), -value, np.inf)


@st.composite
def scored(draw):
    row = st.tuples(st.integers(0, 1), st.integers(-4, 4))
    rows = [(0, 1), (1, 0), *draw(st.lists(row, max_size=40))]
    return tuple(np.array(column) for column in zip(*rows, strict=True))


@given(
    scored(),
    st.sampled_from([*CRITERIA, *NEEDED]),
    st.floats(0.1, 10),
    st.sampled_from([None, 0.03, 0.7]),
)
def test_no_threshold_is_better(rows, criterion, cost, prevalence):
    y, scores = rows
    needed = NEEDED.get(criterion, {})
    found = optimal_threshold(
        y, scores, criterion=criterion, cost_fn=cost, prevalence=prevalence, **needed, **FEW
    )
    share = y.mean() if prevalence is None else prevalence
    losses = {}
    for threshold in [np.inf, *sorted(set(scores.tolist()), reverse=True)]:
        called = scores >= threshold
        of = called[y == 1].mean(), 1 - called[y == 0].mean()
        losses[threshold] = loss(criterion, *of, (1, cost), share)
    least = min(losses.values())
    best = [threshold for threshold, value in losses.items() if value <= least + 1e-12]
    assert found.threshold == best[0]
    assert loss(criterion, found.sensitivity, found.specificity, (1, cost), share) == pytest.approx(
        least, abs=1e-12
    )
    value = -least if criterion in ["youden", *NEEDED] else least
    assert found.value == pytest.approx(value, abs=1e-12)
    called = scores >= found.threshold
    flagged = share * called[y == 1].mean() + (1 - share) * called[y == 0].mean()
    assert found.flagged == pytest.approx(flagged)


@pytest.mark.parametrize("criterion", [*CRITERIA, *NEEDED])
def test_intervals_and_optimism_are_those_of_a_plain_bootstrap(criterion):
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], [60, 50])
    scores = np.round(rng.normal(loc=y), 1)
    weights = rng.integers(1, 4, y.size)
    costs, share = (1, 2), 0.3
    rows, optimism, values, losses_elsewhere = [], [], [], []

    def rates(thresholds, labels, scores, weights):
        called = scores >= np.reshape(thresholds, (-1, 1))
        shares = [called @ (weights * (labels == c)) / weights[labels == c].sum() for c in (1, 0)]
        return np.array([shares[0], 1 - shares[1]])

    for _ in range(1500):
        drawn = np.r_[rng.integers(0, 60, 60), rng.integers(60, 110, 50)]
        resample = y[drawn], scores[drawn], weights[drawn]
        candidates = np.array([np.inf, *np.unique(scores[drawn])[::-1]])
        found = rates(candidates, *resample)
        losses = loss(criterion, *found, costs, share)
        best = int(np.argmin(losses > losses.min() + 1e-12))
        rows.append([candidates[best], *found[:, best]])
        elsewhere = rates(candidates[best], y, scores, weights)[:, 0]
        optimism.append(found[:, best] - elsewhere)
        values.append(losses[best])
        if criterion not in BOUND:
            losses_elsewhere.append(loss(criterion, *elsewhere, costs, share))
        elif criterion == "precision_at_recall":
            hits, false = share * elsewhere[0], (1 - share) * (1 - elsewhere[1])
            losses_elsewhere.append(-hits / (hits + false))
        else:
            losses_elsewhere.append(-elsewhere[0])
    rows, optimism = np.array(rows), np.mean(optimism, axis=0)
    found = optimal_threshold(
        y,
        scores,
        criterion=criterion,
        cost_fn=2,
        prevalence=0.3,
        sample_weight=weights,
        **NEEDED.get(criterion, {}),
        n_resamples=4000,
        random_state=1,
    )
    # Ends scatter by a tenth of the deviation or so; scores have steps of 0.1.
    for column, interval in enumerate(
        [found.threshold_interval, found.sensitivity_interval, found.specificity_interval]
    ):
        # As do rates next to a bound, of a row in 60.
        step = 0.1 if column == 0 else 0.01 if criterion in BOUND else 0
        slack = 0.25 * rows[:, column].std() + step
        expected = np.quantile(rows[:, column], [0.025, 0.975])
        assert interval == pytest.approx(expected, abs=slack)
    assert found.sensitivity - found.sensitivity_corrected == pytest.approx(optimism[0], abs=0.01)
    assert found.specificity - found.specificity_corrected == pytest.approx(optimism[1], abs=0.01)
    sign = -1 if criterion in ["youden", *NEEDED] else 1
    optimism_of_value = np.mean(values) - np.mean(losses_elsewhere)
    assert sign * (found.value - found.value_corrected) == pytest.approx(
        optimism_of_value, abs=0.01
    )
    ends = np.quantile(sign * np.array(values), [0.025, 0.975])
    assert found.value_interval == pytest.approx(ends, abs=0.25 * np.std(values))


def test_the_best_point_equals_that_of_proc(asah):
    # From pROC's own tests of `coords(r.s100b, "best")`.
    found = optimal_threshold(asah.poor, asah.s100b, random_state=0)
    assert found.sensitivity == pytest.approx(0.634146341463415)
    assert found.specificity == pytest.approx(0.805555555555556)
    assert found.value + 1 == pytest.approx(1.43970189701897)


def test_the_corrected_value_is_closer_to_that_of_new_rows():
    # Normal scores one apart: a threshold t has Youden's index Phi(t) - Phi(t - 1).
    rng, y = np.random.default_rng(1), np.repeat([0, 1], [40, 40])
    apparent, corrected, true = [], [], []
    for seed in range(150):
        found = optimal_threshold(y, rng.normal(loc=y), n_resamples=200, random_state=seed)
        apparent.append(found.value)
        corrected.append(found.value_corrected)
        true.append(norm.cdf(found.threshold) - norm.cdf(found.threshold - 1))
    bias, left = np.mean(apparent) - np.mean(true), np.mean(corrected) - np.mean(true)
    assert bias > 0.04
    assert abs(left) < 0.6 * bias


def test_no_row_is_predicted_positive_if_that_is_cheapest():
    y, scores = np.repeat([0, 1], [50, 5]), np.tile(np.arange(11), 5)
    found = optimal_threshold(y, scores, criterion="cost", cost_fp=100, **FEW)
    assert (found.threshold, found.sensitivity, found.specificity) == (np.inf, 0.0, 1.0)
    assert found.value == pytest.approx(5 / 55)
    assert found.threshold_interval[1] == np.inf


def test_thresholds_of_intervals_are_scores_and_seeds_hold():
    rng = np.random.default_rng(3)
    y = rng.integers(0, 2, 101)
    scores = rng.normal(loc=y)
    found = optimal_threshold(y, scores, random_state=5)
    assert set(found.threshold_interval) <= set(scores)
    assert found == optimal_threshold(y, scores, random_state=5)
    assert found != optimal_threshold(y, scores, random_state=6)
    names = np.where(y == 1, "sick", "healthy")
    order = rng.permutation(101)
    assert found.threshold == optimal_threshold(names[order], scores[order], **FEW).threshold
    curve = RocCurve.from_scores(y, scores)
    at = curve.coords(thresholds=[found.threshold])
    assert (found.sensitivity, found.specificity) == (at["sensitivity"][0], at["specificity"][0])


@pytest.mark.parametrize(
    ("kwargs", "message"),
    [
        ({"criterion": "f1"}, "criterion is 'f1'"),
        ({"criterion": "cost", "cost_fp": 0}, "cost_fp"),
        ({"criterion": "cost", "cost_fn": np.inf}, "cost_fn is inf"),
        ({"prevalence": 1.0}, "prevalence"),
        ({"criterion": "at_most_k"}, "criterion 'at_most_k' needs k"),
        ({"criterion": "at_most_k", "k": 0}, "k == 0"),
        ({"criterion": "at_most_k", "k": 1.5}, "k == 1.5"),
        ({"criterion": "net_benefit", "probability": 1.0}, "probability == 1.0"),
        (
            {"criterion": "net_benefit", "k": 3, "probability": 0.5},
            "k is for criterion 'at_most_k'",
        ),
        ({"criterion": "f_beta", "beta": 0}, "beta == 0"),
        ({"criterion": "precision_at_recall", "at_least": np.nan}, "at_least"),
        ({"at_least": 0.5}, "at_least is for criterion 'sensitivity_at_specificity' and"),
        ({"confidence": 0.0}, "confidence"),
        ({"n_resamples": 1}, "n_resamples"),
    ],
)
def test_bad_input_is_named_in_the_error(kwargs, message):
    with pytest.raises(ValueError, match=message):
        optimal_threshold([0, 1, 0, 1], [1, 2, 3, 4], **kwargs)


@pytest.mark.parametrize("criterion", CRITERIA)
@pytest.mark.parametrize("marker", ["s100b", "ndka"])
def test_thresholds_of_patients_are_those_of_cutpointr(asah, criterion, marker):
    expected = json.loads((CHECKOUT / "tests/metrics/r/cutpoints.json").read_text())
    costs = {"cost_fn": 3} if criterion == "cost" else {}
    found = optimal_threshold(asah.poor, asah[marker], criterion=criterion, **costs, **FEW)
    assert [found.threshold, found.sensitivity, found.specificity] == pytest.approx(
        expected[f"{criterion} of {marker}"]
    )


def test_a_capacity_is_a_number_of_rows_or_a_share_of_them():
    y, scores = np.tile([0, 1], 10), np.arange(20)
    weights = np.repeat([1.0, 2.0], 10)
    for k, of_rows, threshold in [(5, None, 15), (0.3, None, 14), (5, weights, 18), (30, None, 0)]:
        found = optimal_threshold(
            y, scores, criterion="at_most_k", k=k, sample_weight=of_rows, **FEW
        )
        # The highest threshold that finds as many positives.
        assert found.threshold == threshold + (threshold % 2 == 0)


def test_whole_groups_keep_a_bound_each_in_their_resample():
    rng = np.random.default_rng(0)
    groups = np.repeat(np.arange(60), 3)
    y = rng.integers(0, 2, 180)
    scores = rng.normal(loc=y)
    found = optimal_threshold(
        y,
        scores,
        criterion="sensitivity_at_specificity",
        at_least=0.9,
        groups=groups,
        n_resamples=200,
        random_state=0,
    )
    assert found.specificity >= 0.9
    assert found.specificity_interval[0] >= 0.9
    # On all rows, the thresholds of resamples miss the bound about half of the time.
    assert found.specificity_corrected < found.specificity
    assert found.value_interval == found.sensitivity_interval
