"""Net benefit against its definition, row by row."""

import numpy as np
import pytest
from aucrank.metrics import decision_curve
from scipy.special import expit

NORMAL = 1.959963984540054
COLUMNS = ("net_benefit", "low", "high", "standardized", "tpr", "fpr")


def draw(n=600, seed=0):
    rng = np.random.default_rng(seed)
    log_odds = rng.normal(-1, 1, n)
    noisy = expit(0.7 * (log_odds + rng.normal(size=n)))
    return rng.random(n) < expit(log_odds), {"good": expit(log_odds), "noisy": noisy.round(2)}


def of_rows(y, p, threshold):
    """The contribution of each row to the net benefit."""
    return (p >= threshold) * np.where(y, 1.0, -threshold / (1 - threshold))


def row_of(table, **wanted):
    here = np.ones(table.n_rows, bool)
    for name, value in wanted.items():
        here &= table[name] == value
    (row,) = np.flatnonzero(here)
    return {name: column[row] for name, column in table.items()}


def test_net_benefit_and_its_error_are_those_of_a_mean_over_rows():
    y, models = draw()
    found = decision_curve(y, models)
    for name, p in (models | {"all": np.ones(len(y))}).items():
        for threshold in (0.01, 0.2, 0.25, 0.5, 0.9):
            row = row_of(found.table, model=name, threshold=threshold)
            added = of_rows(y, p, threshold)
            assert row["net_benefit"] == pytest.approx(added.mean(), abs=1e-14)
            assert row["standardized"] == pytest.approx(added.mean() / y.mean(), abs=1e-13)
            error = added.std(ddof=1) / np.sqrt(len(y))
            assert (row["high"] - row["low"]) / (2 * NORMAL) == pytest.approx(error)
            assert row["tpr"] == pytest.approx((p[y] >= threshold).mean())
            assert row["fpr"] == pytest.approx((p[~y] >= threshold).mean())


def test_treatments_avoided_keep_the_true_positives_of_treating_all():
    y, models = draw()
    row = row_of(decision_curve(y, models).table, model="good", threshold=0.2)
    # Vickers and Elkin: (net benefit of the model - that of treating all) / (t / (1 - t)).
    of_all = y.mean() - (1 - y.mean()) * 0.25
    assert row["avoided"] == pytest.approx((row["net_benefit"] - of_all) / 0.25)


def test_differences_are_paired():
    y, models = draw()
    found = decision_curve(y, models)
    for names in (("good", "noisy"), ("good", "all"), ("noisy", "all")):
        p, q = (models.get(name, np.ones(len(y))) for name in names)
        for threshold in (0.1, 0.3, 0.6):
            added = of_rows(y, p, threshold) - of_rows(y, q, threshold)
            row = row_of(found.differences, model=names[0], other=names[1], threshold=threshold)
            error = added.std(ddof=1) / np.sqrt(len(y))
            assert row["difference"] == pytest.approx(added.mean(), abs=1e-14)
            assert (row["high"] - row["low"]) / (2 * NORMAL) == pytest.approx(error)
    assert row["p_value"] < 1e-6


def test_copies_of_a_row_in_its_group_do_not_change_the_curve():
    y, models = draw(200)
    twice = np.repeat(np.arange(200), 2)
    one = decision_curve(y, models)
    two = decision_curve(y[twice], {k: p[twice] for k, p in models.items()}, groups=twice)
    for name in COLUMNS:
        assert two.table[name] == pytest.approx(one.table[name], abs=1e-12)
    for name in ("difference", "low", "high", "p_value"):
        assert two.differences[name] == pytest.approx(one.differences[name], abs=1e-9)


@pytest.mark.parametrize("prevalence", [None, 0.05])
def test_groups_of_one_row_give_the_same_table(prevalence):
    y, models = draw(300)
    weight = np.random.default_rng(1).random(300)
    given = {"sample_weight": weight, "prevalence": prevalence}
    one = decision_curve(y, models, **given)
    apart = decision_curve(y, models, groups=np.arange(300), **given)
    for name in COLUMNS:
        assert apart.table[name] == pytest.approx(one.table[name], abs=1e-12)
    for name in ("difference", "low", "high"):
        assert apart.differences[name] == pytest.approx(one.differences[name], abs=1e-12)


def test_the_prevalence_of_another_population_can_be_given():
    y, models = draw()
    found = decision_curve(y, models, prevalence=0.1)
    # A sample with the same rates in each class and 10 % positives.
    weight = np.where(y, 0.1 / y.mean(), 0.9 / (1 - y.mean()))
    weighted = decision_curve(y, models, sample_weight=weight)
    assert found.table["net_benefit"] == pytest.approx(weighted.table["net_benefit"], abs=1e-12)
    row = row_of(found.table, model="good", threshold=0.1)
    treated = models["good"] >= 0.1
    variance = sum(
        (scale * share) ** 2 * treated[rows].var() / rows.sum()
        for rows, share, scale in ((y, 0.1, 1.0), (~y, 0.9, 0.1 / 0.9))
    )
    error = (row["high"] - row["low"]) / (2 * NORMAL)
    assert error == pytest.approx(np.sqrt(variance), rel=2e-3)


def test_frequency_k_equals_k_rows():
    y, models = draw(200)
    counts = np.random.default_rng(1).integers(0, 4, 200)
    one = decision_curve(y, models, sample_weight=counts, weights="frequency")
    copied = {name: np.repeat(p, counts) for name, p in models.items()}
    other = decision_curve(np.repeat(y, counts), copied)
    for name in COLUMNS:
        assert one.table[name] == pytest.approx(other.table[name], abs=1e-12)
    assert one.differences["low"] == pytest.approx(other.differences["low"], abs=1e-12)


def test_intervals_cover_the_true_net_benefit():
    rng = np.random.default_rng(0)
    log_odds = rng.normal(-1, 1, 1_000_000)
    p = expit(log_odds)
    # The expected net benefit of the true probabilities at 0.3.
    truth = np.mean((p >= 0.3) * (p - (1 - p) * 0.3 / 0.7))
    inside = 0
    for seed in range(400):
        y, models = draw(300, seed)
        table = decision_curve(y, models["good"], thresholds=[0.3]).table
        inside += table["low"][0] <= truth <= table["high"][0]
    assert 0.92 < inside / 400 < 0.98


@pytest.mark.parametrize(
    ("broken", "message"),
    [
        ({"y_prob": {"all": [0.1] * 4}}, "cannot be named 'all'"),
        ({"y_prob": {"m": [0.1, 2, 0.3, 0.4]}}, "y_prob of 'm' of row 1 is 2.0"),
        ({"y_prob": {}}, "no model"),
        ({"thresholds": [0.0, 0.5]}, "between 0 and 1"),
        ({"thresholds": []}, "one or more"),
        ({"prevalence": 1.0}, "prevalence is 1.0"),
        ({"groups": [0, 0, 0, 0]}, "all rows are of one group"),
    ],
)
def test_bad_input_is_rejected(broken, message):
    given = {"y_true": [0, 1, 0, 1], "y_prob": [0.1, 0.2, 0.3, 0.4]} | broken
    with pytest.raises(ValueError, match=message):
        decision_curve(**given)


def test_the_picture_has_a_line_for_each_strategy():
    pyplot = pytest.importorskip("matplotlib.pyplot")
    y, models = draw()
    found = decision_curve(y, models)
    shown = found.plot()
    assert list(shown.lines_) == ["good", "noisy", "all", "none"]
    own = found.table["net_benefit"][found.table["model"] == "good"]
    assert shown.lines_["good"].get_ydata().tolist() == own.tolist()
    standardized = found.plot(standardized=True)
    assert standardized.lines_["good"].get_ydata() == pytest.approx(own / found.prevalence)
    pyplot.close(shown.figure_)
    pyplot.close(standardized.figure_)
