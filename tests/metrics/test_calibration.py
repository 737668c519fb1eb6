"""Calibration against R (`r/reviewers.R`) and against plain definitions."""

import json
from pathlib import Path

import numpy as np
import pytest
from aucrank.metrics import calibration_curve
from scipy.special import expit, logit
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.isotonic import IsotonicRegression

R = json.loads(Path(__file__).with_name("r").joinpath("reviewers.json").read_text("utf-8"))
NORMAL = 1.959963984540054


def probability_of(asah):
    return expit(-2 + 4 * asah["s100b"].to_numpy())


def standard_error(found, measure):
    row = found.measures["measure"].tolist().index(measure)
    return (found.measures["high"][row] - found.measures["low"][row]) / (2 * NORMAL)


def draw(n=400, seed=0, slope=1.5):
    rng = np.random.default_rng(seed)
    log_odds = rng.normal(-1, 1, n)
    return rng.random(n) < expit(log_odds), expit(slope * log_odds + 0.2)


@pytest.mark.parametrize("of_groups", [False, True])
def test_intercept_and_slope_are_those_of_r(asah, of_groups):
    groups = np.arange(len(asah)) // 3 if of_groups else None
    found = calibration_curve(asah["poor"], probability_of(asah), groups=groups)
    for measure in ("intercept", "slope"):
        value, error = R[f"{measure}_of_groups" if of_groups else measure]
        assert getattr(found, measure) == pytest.approx(value, abs=1e-9)
        # That of R has the weights of its last step but one.
        assert standard_error(found, measure) == pytest.approx(error, rel=1e-6)


def test_the_smooth_curve_is_that_of_r(asah):
    p = probability_of(asah)
    found = calibration_curve(asah["poor"], p)
    smoothed = np.array(R["smoothed"])
    assert found.ici == pytest.approx(R["ici"][0], abs=1e-8)
    gaps = np.sort(np.abs(smoothed - p))
    n = len(gaps)
    expected = [gaps[int(np.ceil(share * n)) - 1] for share in (0.5, 0.9, 1)]
    assert [found.e50, found.e90, found.e_max] == pytest.approx(expected, abs=1e-8)
    ends = found.curve["observed"][[0, -1]]
    assert ends == pytest.approx(smoothed[[p.argmin(), p.argmax()]], abs=1e-8)


def test_parts_of_the_brier_score_are_those_of_r(asah):
    found = calibration_curve(asah["poor"], probability_of(asah))
    parts = [found.brier, found.miscalibration, found.discrimination]
    assert parts == pytest.approx(R["brier"], abs=1e-12)
    assert parts[1] - parts[2] + found.uncertainty == pytest.approx(found.brier, abs=1e-14)


def test_the_isotonic_curve_is_that_of_scikit_learn():
    y, p = draw()
    p = p.round(2)
    steps = calibration_curve(y, p).isotonic
    expected = IsotonicRegression().fit(p, y).predict(p)
    place = np.searchsorted(steps["low"], p, side="right") - 1
    assert steps["observed"][place] == pytest.approx(expected, abs=1e-12)
    assert np.all(p <= steps["high"][place])
    assert steps["size"].sum() == len(y)


@pytest.mark.parametrize("groups", [None, "groups"])
def test_standard_errors_of_ratio_and_brier_score_agree_with_a_bootstrap(groups):
    y, p = draw(1500)
    codes = np.arange(len(y)) // (5 if groups else 1)
    if groups:
        # Rows of a group are alike.
        y, p = y[codes * 5], p[codes * 5]
    found = calibration_curve(y, p, groups=codes if groups else None)
    rng = np.random.default_rng(0)
    drawn = []
    for _ in range(2000):
        times = np.bincount(
            rng.integers(codes[-1] + 1, size=codes[-1] + 1), minlength=codes[-1] + 1
        )
        w = times[codes]
        drawn.append([np.log(w @ y / (w @ p)), w @ (p - y) ** 2 / w.sum()])
    of_ratio, of_brier = np.std(drawn, axis=0)
    row = found.measures["measure"].tolist().index("observed_to_expected")
    low, high = (np.log(found.measures[end][row]) for end in ("low", "high"))
    assert (high - low) / (2 * NORMAL) == pytest.approx(of_ratio, rel=0.08)
    assert standard_error(found, "brier") == pytest.approx(of_brier, rel=0.08)


def test_frequency_k_equals_k_rows():
    y, p = draw(200)
    counts = np.random.default_rng(1).integers(0, 4, len(y))
    weighted = calibration_curve(y, p, sample_weight=counts, weights="frequency")
    copied = calibration_curve(np.repeat(y, counts), np.repeat(p, counts))
    for table in ("measures", "curve", "isotonic", "distribution"):
        own, other = getattr(weighted, table), getattr(copied, table)
        for name in own:
            if name != "measure":
                assert own[name] == pytest.approx(other[name], abs=1e-9, nan_ok=True), name


def test_only_ratios_of_sampling_weights_matter_and_weight_0_drops_a_row():
    y, p = draw(300)
    weight = np.random.default_rng(1).random(len(y))
    weight[::7] = 0
    one = calibration_curve(y, p, sample_weight=weight)
    kept = weight > 0
    for other in (
        calibration_curve(y, p, sample_weight=5 * weight),
        calibration_curve(y[kept], p[kept], sample_weight=weight[kept]),
    ):
        for end in ("value", "low", "high"):
            assert one.measures[end] == pytest.approx(other.measures[end], nan_ok=True)


def test_the_spread_by_outcome_has_quantiles_of_each_class():
    y, p = draw(500)
    spread = calibration_curve(y, p).distribution
    for name, rows in (("of_negatives", ~y), ("of_positives", y)):
        expected = np.quantile(p[rows], spread["share"], method="inverted_cdf")
        assert spread[name].tolist() == expected.tolist()


def test_intervals_cover_true_probabilities():
    inside = np.zeros(3)
    for seed in range(300):
        y, p = draw(400, seed, slope=1.0)
        log_odds = logit(p) - 0.2
        found = calibration_curve(y, expit(log_odds))
        for place, (name, truth) in enumerate(
            [("intercept", 0), ("slope", 1), ("observed_to_expected", 1)]
        ):
            row = found.measures["measure"].tolist().index(name)
            inside[place] += found.measures["low"][row] <= truth <= found.measures["high"][row]
    assert np.all((inside / 300 > 0.91) & (inside / 300 < 0.985))


def test_probabilities_that_separate_the_classes_have_no_slope():
    y = np.repeat([0, 1], 20)
    with pytest.warns(UndefinedMetricWarning, match="parted"):
        found = calibration_curve(y, np.where(y == 1, 0.9, 0.1) + np.linspace(0, 0.05, 40))
    assert np.isnan([found.slope, found.ici]).all()
    assert np.isfinite([found.intercept, found.brier, found.observed_to_expected]).all()


def test_probabilities_of_0_and_1_are_accepted():
    y, p = draw(300)
    p[:3] = [0, 1, 1]
    found = calibration_curve(y, p)
    assert np.isfinite(found.measures["value"]).all()


@pytest.mark.parametrize(
    ("broken", "message"),
    [
        ({"y_prob": [0.1, 1.2, 0.3, 0.4]}, "y_prob of row 1 is 1.2"),
        ({"y_prob": [0.1, 0.2, np.nan, 0.4]}, "y_prob of row 2 is nan"),
        ({"y_prob": [0.1, 0.2, 0.3]}, "y_prob has 3 entries, but y_true has 4"),
        ({"y_true": [1, 1, 1, 1]}, "Only one class"),
        ({"groups": [1, 1, 1, 1]}, "all rows are of one group"),
        ({"groups": [1, None, 1, 1]}, "the group of row 1 is missing"),
        ({"sample_weight": [1, 0, 1, 0]}, "zero for every row of the positive class"),
        ({"sample_weight": [1, 0.5, 1, 2], "weights": "frequency"}, "whole numbers"),
        ({"confidence": 1.5}, "confidence"),
    ],
)
def test_bad_input_is_rejected(broken, message):
    given = {"y_true": [0, 1, 0, 1], "y_prob": [0.1, 0.2, 0.3, 0.4]} | broken
    with pytest.raises(ValueError, match=message):
        calibration_curve(**given)


def test_the_picture_shows_both_curves():
    pyplot = pytest.importorskip("matplotlib.pyplot")
    y, p = draw()
    found = calibration_curve(y, p)
    shown = found.plot(name="model")
    assert shown.line_.get_ydata().tolist() == found.curve["observed"].tolist()
    assert shown.isotonic_line_.get_ydata()[::2].tolist() == found.isotonic["observed"].tolist()
    pyplot.close(shown.figure_)
