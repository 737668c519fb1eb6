"""Inputs in which nothing varies, and weights of any size: the right figure, NaN or an error."""

import dataclasses
import math
import warnings
from fractions import Fraction

import numpy as np
import pytest
from aucrank import metrics
from aucrank.metrics import (
    AucComparison,
    RocState,
    auc_by,
    auc_contrasts,
    auc_interval,
    average_precision,
    calibration_curve,
    expected_auc,
)
from sklearn.exceptions import UndefinedMetricWarning

RESAMPLED = {"n_resamples": 20, "random_state": 0}


def other(y):
    return np.random.default_rng(1).random(len(y))


def in_groups(y):
    return np.arange(len(y)) // 4


def in_folds(y):
    return np.arange(len(y)) * 2 // len(y)


def state(y, s, w):
    return RocState().update(y, s, sample_weight=w)


# Statistics of labels, probabilities and weights.
FUNCTIONS = {
    "auc_by": lambda y, s, w: auc_by(y, s, np.arange(len(y)) // 2 % 2, y_prob=s, sample_weight=w),
    "auc_by, groups": lambda y, s, w: auc_by(
        y, s, np.arange(len(y)) // 2 % 2, sample_weight=w, groups=in_groups(y)
    ),
    "auc_compare": lambda y, s, w: metrics.auc_compare(y, s, other(y), sample_weight=w),
    "auc_compare, equal": lambda y, s, w: metrics.auc_compare(y, s, s, sample_weight=w),
    "auc_contrasts": lambda y, s, w: auc_contrasts(
        y, {"a": s, "b": s, "c": other(y)}, sample_weight=w
    ),
    "auc_contrasts, equal": lambda y, s, w: auc_contrasts(y, {"a": s, "b": s}, sample_weight=w),
    "auc_decline": lambda y, s, w: metrics.auc_decline(y, s, 0.8, sample_weight=w),
    "auc_interval": lambda y, s, w: auc_interval(y, s, sample_weight=w),
    "auc_interval, delong": lambda y, s, w: auc_interval(y, s, sample_weight=w, method="delong"),
    "auc_interval, groups": lambda y, s, w: auc_interval(
        y, s, sample_weight=w, groups=in_groups(y)
    ),
    "auc_interval, part": lambda y, s, w: auc_interval(y, s, sample_weight=w, fpr=(0, 0.2)),
    "auc_interval, resamples": lambda y, s, w: auc_interval(
        y, s, sample_weight=w, method="bootstrap", **RESAMPLED
    ),
    "average_precision": lambda y, s, w: average_precision(y, s, sample_weight=w, **RESAMPLED),
    "average_precision, logit": lambda y, s, w: average_precision(
        y, s, sample_weight=w, method="logit"
    ),
    "average_precision_compare": lambda y, s, w: metrics.average_precision_compare(
        y, s, other(y), sample_weight=w, **RESAMPLED
    ),
    "calibration_curve": lambda y, s, w: calibration_curve(y, s, sample_weight=w),
    "calibration_curve, groups": lambda y, s, w: calibration_curve(
        y, s, sample_weight=w, groups=in_groups(y)
    ),
    "cross_validated_auc": lambda y, s, w: metrics.cross_validated_auc(
        y, s, in_folds(y), sample_weight=w
    ),
    "cross_validated_compare": lambda y, s, w: metrics.cross_validated_compare(
        y, s, other(y), in_folds(y), sample_weight=w
    ),
    "decision_curve": lambda y, s, w: metrics.decision_curve(
        y, {"a": s, "b": other(y)}, sample_weight=w
    ),
    "decision_curve, prevalence": lambda y, s, w: metrics.decision_curve(
        y, s, sample_weight=w, prevalence=0.1
    ),
    "expected_auc": lambda y, s, w: expected_auc(s, sample_weight=w),
    "gains_curve": lambda y, s, w: metrics.gains_curve(y, s, sample_weight=w).at(),
    "grade_table": lambda y, s, w: metrics.grade_table(y, s, sample_weight=w),
    "mcnemar_test": lambda y, s, w: metrics.mcnemar_test(
        y, s, other(y), (0.5, 0.5), sample_weight=w
    ),
    "optimal_threshold": lambda y, s, w: metrics.optimal_threshold(
        y, s, sample_weight=w, **RESAMPLED
    ),
    "partial_auc": lambda y, s, w: metrics.partial_auc(y, s, sample_weight=w, fpr=(0, 0.2)),
    "population_stability": lambda y, s, w: metrics.population_stability(
        s, other(y), sample_weight_then=w
    ),
    "precision_recall_curve": lambda y, s, w: metrics.precision_recall_curve(y, s, sample_weight=w)[
        :2
    ],
    "ramp_auc": lambda y, s, w: metrics.ramp_auc(y, s, sample_weight=w),
    "rate_compare": lambda y, s, w: metrics.rate_compare(
        y, s, other(y), specificity=0.8, sample_weight=w, **RESAMPLED
    ),
    "roc_auc_score": lambda y, s, w: metrics.roc_auc_score(y, s, sample_weight=w),
    "roc_band": lambda y, s, w: metrics.roc_band(y, s, sample_weight=w, **RESAMPLED),
    "roc_band, simultaneous": lambda y, s, w: metrics.roc_band(
        y, s, sample_weight=w, method="simultaneous"
    ),
    "roc_compare": lambda y, s, w: metrics.roc_compare(
        y, s, other(y), n_permutations=20, random_state=0, sample_weight=w
    ),
    "smooth_roc": lambda y, s, w: metrics.smooth_roc(y, s, sample_weight=w, **RESAMPLED),
    "smooth_roc, density": lambda y, s, w: metrics.smooth_roc(
        y, s, sample_weight=w, method="density", **RESAMPLED
    ),
    "state, calibration": lambda y, s, w: state(y, s, w).calibration_curve(),
    "state, decision": lambda y, s, w: state(y, s, w).decision_curve(),
    "state, interval": lambda y, s, w: state(y, s, w).interval(),
    "state, precision": lambda y, s, w: state(y, s, w).average_precision(),
    "survival_auc": lambda y, s, w: metrics.survival_auc(
        np.arange(len(y)) + 1.0, y, s, times=[1, len(y) // 2, len(y)], sample_weight=w
    ),
}

# Names of columns that count rows, in the unit of the weights.
SIZES = {"size", "positives", "cases", "controls", "unknown", "only_1", "only_2"}
# Figures that a method or a row does not have: a smooth curve has a bandwidth or a slope.
ABSENT = {
    "p_exact",
    "bandwidth",
    "intercept",
    "slope",
    "avoided",
    "low",
    "high",
    "ratio_low",
    "ratio_high",
}


def figures(found, name=""):
    """Yield the name and the value of each number of a result, but not of its private parts."""
    if dataclasses.is_dataclass(found):
        for field in dataclasses.fields(found):
            if not field.name.startswith("_"):
                yield from figures(getattr(found, field.name), field.name)
    elif hasattr(found, "keys"):
        for key in found:
            yield from figures(np.asarray(found[key]), key)
    elif isinstance(found, (tuple, list)):
        for value in found:
            yield from figures(value, name)
    elif isinstance(found, (float, int, np.ndarray)):
        for value in np.ravel(found):
            if not isinstance(value, (str, bool, np.bool_)) and value is not None:
                yield name, float(value)


def attempt(function, *args, **kwargs):
    """Return the result and None, or None and a ValueError."""
    try:
        return function(*args, **kwargs), None
    except ValueError as error:
        return None, error


def degenerate():
    rng, n = np.random.default_rng(0), 40
    y, one = np.tile([0, 1], n // 2), np.arange(n)
    lone = np.zeros(n)
    lone[[3, 4]] = 1
    without = np.ones(n)
    without[5] = 0
    for value in (0.25, 0.3, 0.0, 1.0):
        yield pytest.param(y, np.full(n, value), None, id=f"all {value}")
    yield pytest.param(y, y.astype(float), None, id="certain and right")
    yield pytest.param(y, 1.0 - y, None, id="certain and wrong")
    yield pytest.param((one == 7).astype(int), rng.random(n), None, id="one positive")
    yield pytest.param((one != 7).astype(int), rng.random(n), None, id="one negative")
    yield pytest.param(np.array([0, 1]), np.array([0.2, 0.6]), None, id="one row of each class")
    yield pytest.param(y, rng.random(n), lone, id="one weight of each class")
    yield pytest.param(y, rng.random(n), without, id="a row of weight 0")


@pytest.mark.parametrize(("y", "s", "w"), list(degenerate()))
@pytest.mark.parametrize("name", FUNCTIONS)
def test_where_nothing_varies_a_figure_is_right_or_nan_with_a_warning_or_an_error(name, y, s, w):
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        found, error = attempt(FUNCTIONS[name], y, s, w)
    if error is not None:
        assert not isinstance(error, np.linalg.LinAlgError)
        assert len(str(error).split()) > 3
        return
    assert [str(w.message) for w in said if issubclass(w.category, RuntimeWarning)] == []
    is_said = any(issubclass(w.category, UndefinedMetricWarning) for w in said)
    for figure, value in figures(found):
        # The greatest odds of a threshold are 99, in units of a share of 1/40.
        assert math.isinf(value) or not abs(value) > 1e5, figure
        if math.isnan(value) and figure not in ABSENT:
            assert is_said, figure


@pytest.mark.parametrize("n", [10, 500, 5000])
@pytest.mark.parametrize("risk", [0.25, 0.1, 1 / 3, 0.9, 1e-5])
def test_equal_risks_have_a_calibration_intercept_but_no_slope(n, risk):
    rng = np.random.default_rng(n)
    y, w = np.r_[0, 1, rng.random(n) < 0.4], rng.random(n + 2)
    for weight in (None, w):
        rate = np.average(y, weights=weight)
        with pytest.warns(UndefinedMetricWarning, match="all the same"):
            found = calibration_curve(y, np.full(n + 2, risk), sample_weight=weight)
        log_odds = math.log(rate / (1 - rate)) - math.log(risk / (1 - risk))
        assert found.intercept == pytest.approx(log_odds)
        assert found.observed_to_expected == pytest.approx(rate / risk)
        assert found.brier == pytest.approx(rate * (1 - risk) ** 2 + (1 - rate) * risk**2)
        assert np.isnan([found.slope, found.ici, found.e_max]).all()


def test_equal_scores_have_contrasts_of_0_and_different_ones_without_variance_have_no_test():
    y, s = np.tile([0, 1], 20), np.random.default_rng(0).random(40)
    found = auc_contrasts(y, {"a": s, "b": 2 * s})
    assert (found.chi_square, found.df, found.p_value) == (0, 0, 1.0)
    assert [*found.contrasts["z"], *found.contrasts["p_value"]] == [0, 1]
    with pytest.warns(UndefinedMetricWarning, match="'right - none' has variance 0"):
        found = auc_contrasts(y, {"right": y, "none": np.zeros(40)})
    assert found.contrasts["estimate"] == [0.5]
    assert np.isnan([found.contrasts["low"], found.contrasts["p_value"], [found.p_value]]).all()


def test_a_row_of_weight_0_changes_no_figure_of_a_subgroup():
    rng = np.random.default_rng(3)
    y, s, by, w = rng.integers(0, 2, 60), rng.random(60), np.arange(60) % 3, rng.random(60)
    w[[4, 9]] = 0
    found, without = (
        auc_by(y, s, by, sample_weight=w),
        auc_by(*(v[w > 0] for v in (y, s, by)), sample_weight=w[w > 0]),
    )
    for (name, value), (_, expected) in zip(figures(found), figures(without), strict=True):
        assert value == pytest.approx(expected, rel=1e-12), name


# Weights.


def weighted():
    rng = np.random.default_rng(2)
    y = np.tile([0, 1], 30)
    return y, np.clip(rng.normal(0.4 + 0.2 * y, 0.2), 0.01, 0.99).round(2), rng.random(60) + 0.5


@pytest.mark.parametrize("factor", [1e300, 1e160, 1e-160, 1e-300, 5e307])
@pytest.mark.parametrize("name", [n for n in FUNCTIONS if n != "population_stability"])
def test_only_ratios_of_weights_matter_however_large_they_are(name, factor):
    y, s, w = weighted()
    expected = list(figures(FUNCTIONS[name](y, s, w)))
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        found, error = attempt(FUNCTIONS[name], y, s, w * factor)
    if error is not None:
        # Sums of a state, which are kept as numbers.
        assert (factor, name.split(",")[0]) == (5e307, "state")
        assert "sample_weight adds up to more" in str(error)
        return
    for (figure, value), (_, right) in zip(figures(found), expected, strict=True):
        if figure in SIZES:
            # A sum beyond the greatest number is infinite.
            right *= factor
        assert value == pytest.approx(right, rel=1e-9, abs=1e-9, nan_ok=True), figure


def pairs_won(y, s, weight, kept):
    """AUC over the pairs of a mask by exact fractions; None without a pair."""
    won = total = Fraction(0)
    for i in np.flatnonzero(y == 1):
        for j in np.flatnonzero(y == 0):
            if kept[i, j]:
                pair = Fraction(weight[i]) * Fraction(weight[j])
                total += pair
                won += pair * (Fraction(int(s[i] > s[j])) + Fraction(int(s[i] == s[j]), 2))
    return float(won / total) if total else None


@pytest.mark.parametrize("seed", range(5))
def test_areas_of_weights_over_thirty_decades_are_those_of_exact_arithmetic(seed):
    rng = np.random.default_rng(seed)
    y, s, by = np.tile([0, 1], 15), rng.integers(0, 8, 30), rng.permutation(np.arange(30) % 3)
    w = 10.0 ** rng.uniform(-15, 15, 30)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UndefinedMetricWarning)
        found = auc_by(y, s, by, sample_weight=w)
    for place in range(3):
        is_in = by == place
        for name, kept in (
            ("auc", np.outer(is_in, is_in)),
            ("auc_of_positives", np.outer(is_in, ~is_in)),
            ("auc_of_negatives", np.outer(~is_in, is_in)),
        ):
            exact = pairs_won(y, s, w, kept)
            assert found.table[name][place] == pytest.approx(exact, rel=1e-9), name
    assert found.auc == pytest.approx(pairs_won(y, s, w, np.ones((30, 30), bool)), rel=1e-12)
    between = pairs_won(y, s, w, by[:, None] != by)
    assert found.auc_between == pytest.approx(between, rel=1e-9)
    # One precision for each positive row, whose ties count together.
    top = [
        Fraction(w[i])
        * sum(Fraction(w[j]) for j in range(30) if y[j] and s[j] >= s[i])
        / sum(Fraction(w[j]) for j in range(30) if s[j] >= s[i])
        for i in np.flatnonzero(y)
    ]
    precision = float(sum(top) / sum(Fraction(w[i]) for i in np.flatnonzero(y)))
    assert average_precision(y, s, sample_weight=w, method="logit").value == pytest.approx(
        precision, rel=1e-9
    )


@pytest.mark.parametrize("seed", range(20))
def test_the_expected_area_is_that_of_exact_arithmetic_or_an_error_names_the_row(seed):
    rng = np.random.default_rng(seed)
    p, s, w = rng.random(12).round(3), rng.integers(0, 5, 12), 10.0 ** rng.uniform(-15, 15, 12)
    won = total = Fraction(0)
    for i in range(12):
        for j in range(12):
            if i != j:
                pair = Fraction(w[i]) * Fraction(p[i]) * Fraction(w[j]) * (1 - Fraction(p[j]))
                total += pair
                won += pair * (Fraction(int(s[i] > s[j])) + Fraction(int(s[i] == s[j]), 2))
    found, error = attempt(expected_auc, p, s, sample_weight=w)
    if error is not None:
        assert f"sample_weight of row {w.argmax()} is nearly all" in str(error)
        return
    assert found.auc == pytest.approx(float(won / total), rel=1e-6)


def test_a_frequency_beyond_the_whole_numbers_is_an_error():
    with pytest.raises(ValueError, match=r"row 1 is 1e.300, but frequencies are whole numbers up"):
        auc_interval(
            [0, 1, 1, 0], [1, 2, 3, 2], sample_weight=[1, 1e300, 2, 1], weights="frequency"
        )


def test_perfect_scores_have_intervals_with_a_width_by_every_function():
    y = np.tile([0, 1], 6)
    for name in ("auc_interval", "auc_interval, delong", "state, interval"):
        with pytest.warns(UndefinedMetricWarning, match="independent pairs"):
            found = FUNCTIONS[name](y, y + 0.5 * np.linspace(0, 1, 12), None)
        assert (found.low, found.high) == (pytest.approx(0.025 ** (1 / 6)), 1.0)
        assert not isinstance(found, AucComparison)
