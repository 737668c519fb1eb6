"""Bands, parts of curves and thresholds of rows in groups."""

import numpy as np
import pytest
from aucrank._utils.params import check_seed
from aucrank.metrics import (
    RocCurve,
    auc_compare,
    auc_interval,
    cross_validated_auc,
    optimal_threshold,
    partial_auc,
    roc_band,
)
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import logit
from scipy.stats import norm, t

BANDS = [
    {"fpr": (0, 0.2)},
    {"fpr": (0.1, 0.45)},
    {"tpr": (0.7, 1)},
    {"fpr": (0, 0.4), "tpr": (0.5, 1)},
]


# So that the same groups are drawn here and there.
SEED = 7


def rows(n_groups=60, n_rows=4, seed=0):
    """Rows whose groups have an offset of their own, and two scores of them."""
    rng = np.random.default_rng(seed)
    group = np.repeat(rng.permutation(n_groups), n_rows)
    y = (rng.random(n_groups) < 0.4)[group]
    own = 1.5 * y + rng.normal(size=n_groups)[group]
    scores = [(own + rng.normal(size=len(group))).round(1) for _ in range(2)]
    return y, *scores, group


def resamples(group, n_resamples=800):
    """Rows of as many groups as there are, drawn with replacement."""
    rng, names = np.random.default_rng(check_seed(SEED)), np.unique(group)
    members = {name: np.flatnonzero(group == name) for name in names}
    for _ in range(n_resamples):
        yield np.concatenate([members[name] for name in rng.choice(names, len(names))])


def tails(y, group):
    """Shares of resamples beyond the ends of Hesterberg's percentile interval of groups."""
    n_groups = min(len(np.unique(group[y == label])) for label in (False, True))
    tail = norm.cdf(-t.ppf(0.975, n_groups - 1) * np.sqrt(n_groups / (n_groups - 1)))
    return [tail, 1 - tail]


@given(
    st.integers(0, 2**32),
    st.sampled_from(BANDS),
    st.sampled_from([None, "sampling"]),
    st.sampled_from([np.float64, np.float32, np.int64]),
)
def test_partial_areas_of_groups_of_one_row_are_those_of_rows(seed, bands, weights, dtype):
    y, first, second, _ = rows(n_groups=20, seed=seed)
    rng = np.random.default_rng(seed)
    how = {**bands, "sample_weight": None if weights is None else rng.integers(0, 4, len(y)) / 2}
    first, second = (10 * first).astype(dtype), (10 * second).astype(dtype)
    plain = auc_interval(y, first, method="delong", **how)
    found = auc_interval(y, first, groups=rng.permutation(len(y)), method="delong", **how)
    for end in ("auc", "low", "high", "standard_error"):
        assert getattr(found, end) == pytest.approx(getattr(plain, end), rel=1e-9, abs=1e-12)
    both = auc_compare(y, first, second, groups=np.arange(len(y)), **how)
    assert both.standard_error == pytest.approx(
        auc_compare(y, first, second, **how).standard_error, rel=1e-9
    )


@pytest.mark.parametrize("bands", BANDS)
def test_copies_of_a_row_do_not_change_the_error_of_a_partial_area(bands):
    y, first, second, _ = rows()
    place = np.repeat(np.arange(len(y)), 3)
    plain = auc_interval(y, first, **bands)
    found = auc_interval(y[place], first[place], groups=place, **bands)
    assert found.standard_error == pytest.approx(plain.standard_error, rel=1e-9)
    counted = {"sample_weight": np.full(len(y), 3), "weights": "frequency"}
    of_counts = auc_interval(y, first, groups=np.arange(len(y)), **counted, **bands)
    assert of_counts.standard_error == pytest.approx(plain.standard_error, rel=1e-9)
    both = auc_compare(y[place], first[place], second[place], groups=place, **bands)
    assert both.standard_error == pytest.approx(
        auc_compare(y, first, second, **bands).standard_error, rel=1e-9
    )


@pytest.mark.parametrize("bands", BANDS)
def test_partial_areas_of_groups_have_the_errors_of_a_plain_bootstrap_of_groups(bands):
    y, first, second, group = rows(n_groups=120)
    areas = np.array(
        [[partial_auc(y[r], s[r], **bands) for s in (first, second)] for r in resamples(group)]
    )
    error, of_difference = areas[:, 0].std(ddof=1), (areas[:, 0] - areas[:, 1]).std(ddof=1)
    by_formula = auc_interval(y, first, groups=group, **bands)
    assert by_formula.standard_error == pytest.approx(error, rel=0.15)
    both = auc_compare(y, first, second, groups=group, **bands)
    assert both.standard_error == pytest.approx(of_difference, rel=0.15)
    assert error > 1.2 * auc_interval(y, first, **bands).standard_error
    # Of the same resamples.
    how = {**bands, "method": "bootstrap", "n_resamples": 800, "random_state": SEED}
    found = auc_interval(y, first, groups=group, **how)
    assert found.standard_error == pytest.approx(error, rel=1e-9)
    ends = np.quantile(areas[:, 0], tails(y, group))
    assert (found.low, found.high) == pytest.approx(ends, abs=1e-12)
    # Others there, of which the deviation scatters.
    both = auc_compare(y, first, second, groups=group, **how)
    assert both.standard_error == pytest.approx(of_difference, rel=0.15)


def test_partial_areas_without_variance_rest_on_groups():
    y = np.repeat([False, True], 40)
    score, group = y * 1.0, np.repeat(np.arange(20), 4)
    with pytest.warns(UserWarning, match="simultaneous band"):
        of_rows = auc_interval(y, score, fpr=(0, 0.5))
    with pytest.warns(UserWarning, match="simultaneous band"):
        of_groups = auc_interval(y, score, groups=group, fpr=(0, 0.5))
    # As of ten rows of each class.
    with pytest.warns(UserWarning, match="simultaneous band"):
        of_few = auc_interval(y[::4], score[::4], fpr=(0, 0.5))
    assert of_groups.low == pytest.approx(of_few.low)
    assert of_groups.low < of_rows.low


def test_a_band_of_groups_is_that_of_a_plain_bootstrap_of_groups():
    y, score, _, group = rows()
    grid = np.array([0.1, 0.3, 0.6])
    curves = np.array([RocCurve.from_scores(y[r], score[r]).tpr_at(grid) for r in resamples(group)])
    how = {"groups": group, "fpr": grid, "n_resamples": 800, "random_state": SEED}
    found = roc_band(y, score, **how)
    low, high = np.quantile(curves, tails(y, group), axis=0)
    assert found.low == pytest.approx(np.minimum(low, found.tpr), abs=1e-12)
    assert found.high == pytest.approx(np.maximum(high, found.tpr), abs=1e-12)
    order = np.random.default_rng(1).permutation(len(y))
    moved = roc_band(y[order], score[order], **how | {"groups": group[order]})
    np.testing.assert_array_equal(found.low, moved.low)
    names = np.array([f"patient {k}" for k in group])
    named, moved = (
        roc_band(y[r], score[r], **how | {"groups": names[r]}) for r in (np.arange(len(y)), order)
    )
    np.testing.assert_array_equal(named.low, moved.low)


def test_the_simultaneous_band_of_copies_is_that_of_the_rows():
    y, score, _, _ = rows()
    place, grid = np.repeat(np.arange(len(y)), 5), [0.1, 0.5]
    plain = roc_band(y, score, method="simultaneous", fpr=grid)
    found = roc_band(y[place], score[place], groups=place, method="simultaneous", fpr=grid)
    assert found.low == pytest.approx(plain.low)
    assert found.high == pytest.approx(plain.high)
    # Of one group of ten, where all negative rows are 0 or 1 groups.
    perfect = roc_band(y, y * 1.0, groups=np.arange(len(y)), random_state=0, fpr=[0.5])
    assert perfect.low == pytest.approx(0.025 ** (1 / y.sum()))


@pytest.mark.parametrize("criterion", ["youden", "closest_topleft", "cost", "equal"])
def test_thresholds_of_groups_are_those_of_a_plain_bootstrap_of_groups(criterion):
    y, score, _, group = rows()
    how = {"criterion": criterion, "cost_fn": 2, "prevalence": 0.4, "n_resamples": 400}
    found = optimal_threshold(y, score, groups=group, random_state=SEED, **how)
    thresholds, sensitivities, gains = [], [], []
    few = how | {"n_resamples": 2}
    for r in resamples(group, 400):
        own = optimal_threshold(y[r], score[r], **few)
        called = score >= own.threshold
        thresholds.append(own.threshold)
        sensitivities.append(own.sensitivity)
        gains.append(own.sensitivity - called[y].mean())
    ends = np.quantile(thresholds, [0.025, 0.975], method="inverted_cdf")
    assert found.threshold_interval == pytest.approx(ends)
    assert found.sensitivity_interval == pytest.approx(np.quantile(sensitivities, [0.025, 0.975]))
    assert found.sensitivity - found.sensitivity_corrected == pytest.approx(
        np.mean(gains), abs=1e-12
    )


def test_thresholds_of_groups_may_be_scores_that_floats_cannot_tell_apart():
    y, score, _, group = rows()
    score = (10 * score).astype(int)
    small = optimal_threshold(y, score, groups=group, n_resamples=50, random_state=0)
    large = optimal_threshold(y, score + 2**60, groups=group, n_resamples=50, random_state=0)
    assert large.sensitivity_interval == small.sensitivity_interval
    assert large.sensitivity_corrected == small.sensitivity_corrected


@pytest.mark.parametrize("call", [roc_band, optimal_threshold])
def test_invalid_groups_are_rejected(call):
    y, score, _, group = rows()
    with pytest.raises(ValueError, match="groups has 2 entries"):
        call(y, score, groups=[1, 2])
    with pytest.raises(ValueError, match="all rows are of one group"):
        call(y, score, groups=np.zeros(len(y)))
    with pytest.raises(ValueError, match="the group of row 0 is missing"):
        call(y, score, groups=np.where(np.arange(len(y)) == 0, np.nan, group))


def reach_of_logits(found, of_rows, n_rows, degrees):
    """Half the interval of groups: five degrees of freedom of a typical variance are added.

    It is larger than that of independent rows by as much as the variance of groups exceeds theirs.
    """
    share, variance = found.auc * (1 - found.auc), found.standard_error**2
    typical = share / 3 * np.sum(1 / np.asarray(n_rows)) * variance / of_rows**2
    drawn = (degrees * variance + 5 * typical) / (degrees + 5)
    return t.ppf(0.975, degrees + 5) * np.sqrt(drawn) / share


def test_intervals_of_groups_are_those_of_t():
    y, first, second, group = rows()
    n_groups = min(len(np.unique(group[y == label])) for label in (False, True))
    reach = t.ppf(0.975, n_groups - 1)
    found = auc_interval(y, first, groups=group, method="delong")
    assert found.high - found.auc == pytest.approx(reach * found.standard_error)
    found = auc_interval(y, first, groups=group)
    assert found.method == "logit"
    of_rows = auc_interval(y, first).standard_error
    assert logit(found.high) - logit(found.auc) == pytest.approx(
        reach_of_logits(found, of_rows, np.bincount(y), n_groups - 1)
    )
    both = auc_compare(y, first, second, groups=group)
    assert both.high - both.difference == pytest.approx(reach * both.standard_error)
    assert both.p_value == pytest.approx(2 * t.sf(abs(both.z), n_groups - 1))
    # Of two samples, by Satterthwaite: twice the degrees of freedom of one of them twice.
    apart = auc_compare(y, first, first, y_true_2=y, groups=group, groups_2=group)
    reach = t.ppf(0.975, 2 * (n_groups - 1))
    assert apart.high == pytest.approx(reach * apart.standard_error)


def test_cross_validated_groups_have_the_variance_of_each_fold():
    y, score, _, group = rows()
    fold = group % 4
    found = cross_validated_auc(y, score, fold, groups=group)
    of_folds = [
        auc_interval(y[own], score[own], groups=group[own], method="delong")
        for own in (fold == number for number in range(4))
    ]
    # Groups have one label each, and as many rows in each fold.
    assert found.auc == pytest.approx(np.mean([own.auc for own in of_folds]))
    expected = np.sqrt(sum(own.standard_error**2 for own in of_folds)) / 4
    assert found.standard_error == pytest.approx(expected, rel=0.02)
    n_groups = min(len(np.unique(group[y == label])) for label in (False, True))
    # The influences in a fold are widened by I / (I - 1) for its I groups of a class.
    n_of_class = [len(np.unique(group[(fold == k) & (y == c)])) for k in range(4) for c in (0, 1)]
    plain = cross_validated_auc(y, score, fold).standard_error
    least, most = (
        reach_of_logits(found, plain * np.sqrt(n / (n - 1)), np.bincount(y), n_groups - 4)
        for n in (min(n_of_class), max(n_of_class))
    )
    assert least < logit(found.high) - logit(found.auc) < most
