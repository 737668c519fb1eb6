"""AUC of censored events, against scikit-survival and plain definitions."""

import numpy as np
import pytest
from aucrank.metrics import auc_interval, roc_auc_score, survival_auc
from sklearn.exceptions import UndefinedMetricWarning

NORMAL = 1.959963984540054
TIMES = [0.3, 0.7, 1.2]


def draw(n=400, seed=0):
    rng = np.random.default_rng(seed)
    risk = rng.normal(size=n)
    event_time = rng.exponential(np.exp(-risk)).round(2)
    # No row is lost at the time of an event of another.
    lost = rng.exponential(1.5, size=n).round(3) + 0.0004
    return np.minimum(event_time, lost), event_time <= lost, risk


# By `cumulative_dynamic_auc(y, y, score, TIMES)` of scikit-survival 0.28 with
# y = Surv.from_arrays(event, time), of the scores as they are and rounded to whole numbers.
CONTINUOUS = [0.75254870834177, 0.81763083413125, 0.82359764484912]
TIED = [0.72450382562903, 0.77853023146167, 0.79547692084189]


@pytest.mark.parametrize(("decimals", "expected"), [(None, CONTINUOUS), (0, TIED)])
def test_it_equals_that_of_scikit_survival(decimals, expected):
    time, event, risk = draw()
    score = risk if decimals is None else risk.round(decimals)
    found = survival_auc(time, event, score, TIMES)
    assert found.table["auc"] == pytest.approx(expected, abs=1e-12)
    assert [found.curve(at).auc for at in TIMES] == pytest.approx(expected, abs=1e-12)


def test_pairs_are_weighted_by_the_inverse_probability_of_censoring():
    time, event, risk = draw(80)

    # The Kaplan-Meier estimate, from its definition.
    def chance(before):
        product = 1.0
        for at in sorted({t for t, e in zip(time, event, strict=True) if not e and t < before}):
            there = np.sum((time > at) | ((time == at) & ~event))
            product *= 1 - np.sum((time == at) & ~event) / there
        return product

    won = pairs = 0.0
    for case in np.flatnonzero(event & (time <= 0.7)):
        weight = 1 / chance(time[case])
        later = risk[time > 0.7]
        won += weight * (np.sum(risk[case] > later) + 0.5 * np.sum(risk[case] == later))
        pairs += weight * len(later)
    assert survival_auc(time, event, risk, [0.7]).table["auc"][0] == pytest.approx(won / pairs)


def test_the_standard_error_agrees_with_a_bootstrap():
    time, event, risk = draw()
    found = survival_auc(time, event, risk, TIMES).table["standard_error"]
    rng = np.random.default_rng(1)
    drawn = []
    for _ in range(400):
        rows = rng.integers(0, 400, 400)
        drawn.append(survival_auc(time[rows], event[rows], risk[rows], TIMES).table["auc"])
    assert found == pytest.approx(np.std(drawn, axis=0), rel=0.1)


def test_without_censoring_it_is_the_auc():
    rng = np.random.default_rng(0)
    risk = rng.normal(size=300)
    time = rng.exponential(np.exp(-risk))
    found = survival_auc(time, np.ones(300, bool), risk, [0.5]).table
    plain = auc_interval(time <= 0.5, risk)
    assert found["auc"][0] == pytest.approx(plain.auc)
    # DeLong's variance divides by m - 1 and n - 1, this one by the number of all rows less 1.
    assert found["standard_error"][0] == pytest.approx(plain.standard_error, rel=0.01)
    assert found["unknown"][0] == 0


def test_weights_equal_copies_and_the_error_accounts_for_groups():
    time, event, risk = draw(150)
    counts = np.random.default_rng(2).integers(0, 4, 150)
    rows = np.repeat(np.arange(150), counts)
    weighted = survival_auc(time, event, risk, TIMES, sample_weight=counts).table
    copied = survival_auc(time[rows], event[rows], risk[rows], TIMES, groups=rows).table
    assert weighted["auc"] == pytest.approx(copied["auc"])
    assert weighted["standard_error"] == pytest.approx(copied["standard_error"])
    scaled = survival_auc(time, event, risk, TIMES, sample_weight=0.1 * counts).table
    assert scaled["standard_error"] == pytest.approx(weighted["standard_error"])


def test_the_order_of_rows_does_not_matter():
    time, event, risk = draw()
    order = np.random.default_rng(0).permutation(400)
    one, other = (
        survival_auc(time[rows], event[rows], risk[rows], TIMES).table
        for rows in (slice(None), order)
    )
    for name in one:
        assert one[name] == pytest.approx(other[name], abs=1e-12)


def test_intervals_cover_the_true_area():
    time, event, risk = draw(200_000, 7)
    (truth,) = survival_auc(time, event, risk, [0.7]).table["auc"]
    inside = 0
    for seed in range(300):
        table = survival_auc(*draw(200, seed + 100), [0.7]).table
        inside += table["low"][0] <= truth <= table["high"][0]
    assert 0.91 < inside / 300 < 0.985


def test_a_time_without_cases_has_no_area():
    time, event, risk = draw()
    with pytest.warns(UndefinedMetricWarning, match="At time -1 there is no case"):
        found = survival_auc(time, event, risk, [-1, 0.5])
    assert np.isnan(found.table["auc"]).tolist() == [True, False]
    with pytest.raises(ValueError, match="no case, or no control"):
        found.curve(100)
    assert found.curve(0.5).auc == pytest.approx(found.table["auc"][1])


@pytest.mark.parametrize(
    ("broken", "message"),
    [
        ({"event": [0, 0, 0, 0]}, "event is false for every row"),
        ({"event": [0, 2, 1, 1]}, "0 and 1"),
        ({"event": [1, 1]}, "event has 2 entries"),
        ({"time": [1, np.nan, 2, 3]}, "time of row 1 is missing"),
        ({"y_score": [1, 2, np.nan, 3]}, "y_score of row 2 is missing"),
        ({"times": []}, "one or more"),
        ({"sample_weight": [0, 0, 1, 1]}, "zero for every row with an event"),
        ({"groups": [1, 1, 1, 1]}, "all rows are of one group"),
    ],
)
def test_bad_input_is_rejected(broken, message):
    given = {"time": [1, 2, 3, 4], "event": [1, 1, 0, 0], "y_score": [4, 3, 2, 1], "times": [2.5]}
    with pytest.raises(ValueError, match=message):
        survival_auc(**(given | broken))


def test_the_auc_of_a_million_rows_is_close_to_that_without_censoring():
    time, event, risk = draw(1_000_000)
    table = survival_auc(time, event, risk, [0.7]).table
    later = (time > 0.7) | (event & (time <= 0.7))
    plain = roc_auc_score(event[later] & (time[later] <= 0.7), risk[later])
    # Ignoring the censored rows gives another value, though a close one.
    assert table["auc"][0] == pytest.approx(plain, abs=0.05)
    assert table["auc"][0] != plain
