"""AUC by subgroup, contrasts of several AUCs and comparisons with groups and margins."""

import json
import math
from pathlib import Path

import numpy as np
import pytest
from aucrank.metrics import (
    auc_by,
    auc_compare,
    auc_contrasts,
    auc_interval,
    cross_validated_auc,
    cross_validated_compare,
    roc_auc_score,
)
from scipy.stats import chi2, t
from sklearn.exceptions import UndefinedMetricWarning

R = json.loads(Path(__file__).with_name("r").joinpath("reviewers.json").read_text("utf-8"))


def draw(n=400, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n)
    site = rng.choice(["a", "b", "c"], n)
    score = rng.normal(loc=y * np.where(site == "a", 2.0, 1.0) + (site == "b"))
    return y, score.round(1), site


def of_pairs(y, score, first, second, weight=None):
    """Return the AUC of positives of some rows against negatives of others, pair by pair."""
    w = np.ones(len(y)) if weight is None else weight
    pos, neg = np.flatnonzero(first & (y == 1)), np.flatnonzero(second & (y == 0))
    won = (score[pos, None] > score[neg]) + 0.5 * (score[pos, None] == score[neg])
    pairs = w[pos, None] * w[neg]
    return (won * pairs).sum() / pairs.sum(), pairs.sum()


@pytest.mark.parametrize("weighted", [False, True])
def test_areas_within_and_between_are_those_of_pairs(weighted):
    y, score, site = draw()
    weight = np.random.default_rng(1).random(len(y)) if weighted else None
    found = auc_by(y, score, site, sample_weight=weight)
    assert found.table["subgroup"].tolist() == ["a", "b", "c"]
    within = between = n_within = n_between = 0
    for place, name in enumerate("abc"):
        own = site == name
        area, pairs = of_pairs(y, score, own, own, weight)
        assert found.table["auc"][place] == pytest.approx(area)
        within, n_within = within + area * pairs, n_within + pairs
        for column, first, second in (
            ("auc_of_positives", own, ~own),
            ("auc_of_negatives", ~own, own),
        ):
            area, pairs = of_pairs(y, score, first, second, weight)
            assert found.table[column][place] == pytest.approx(area)
        area, pairs = of_pairs(y, score, own, ~own, weight)
        between, n_between = between + area * pairs, n_between + pairs
    assert found.auc_within == pytest.approx(within / n_within)
    assert found.auc_between == pytest.approx(between / n_between)
    assert found.share_within == pytest.approx(n_within / (n_within + n_between))
    assert found.auc == pytest.approx(roc_auc_score(y, score, sample_weight=weight))


def test_intervals_are_those_of_each_subgroup_alone_and_the_test_is_of_independent_samples():
    y, score, site = draw()
    for method in ("delong", "logit"):
        of_method = auc_by(y, score, site, method=method).table
        for place, name in enumerate("abc"):
            one = auc_interval(y[site == name], score[site == name], method=method)
            assert (of_method["low"][place], of_method["high"][place]) == pytest.approx(
                (one.low, one.high)
            )
    with pytest.raises(ValueError, match="method is 'bootstrap', but must be one of"):
        auc_by(y, score, site, method="bootstrap")
    found = auc_by(y, score, site)
    alone = [auc_interval(y[site == name], score[site == name]) for name in "abc"]
    for name, expected in (
        ("low", [one.low for one in alone]),
        ("high", [one.high for one in alone]),
        ("standard_error", [one.standard_error for one in alone]),
    ):
        assert found.table[name] == pytest.approx(expected)
    # Cochran's statistic of estimates with known variances.
    aucs, precision = (
        np.array([one.auc for one in alone]),
        np.array([one.standard_error**-2 for one in alone]),
    )
    statistic = precision @ (aucs - precision @ aucs / precision.sum()) ** 2
    assert found.chi_square == pytest.approx(statistic)
    assert (found.df, found.p_value) == (2, pytest.approx(chi2.sf(statistic, 2)))


def test_the_same_groups_in_two_subgroups_are_a_paired_comparison():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 300)
    first, second = rng.normal(loc=y), rng.normal(loc=0.8 * y)
    second += 0.5 * first
    # Each row with both scores, as two rows of one group.
    found = auc_by(
        np.tile(y, 2),
        np.r_[first, second],
        np.repeat(["1", "2"], 300),
        groups=np.tile(np.arange(300), 2),
    )
    paired = auc_compare(y, first, second)
    # Sums over all groups, not class by class, are divided by n - 1.
    assert math.sqrt(found.chi_square) == pytest.approx(abs(paired.z), rel=0.01)


def test_calibration_in_each_subgroup():
    y, score, site = draw()
    probability = 1 / (1 + np.exp(-score))
    table = auc_by(y, score, site, y_prob=probability).table
    for place, name in enumerate("abc"):
        own = site == name
        assert table["observed"][place] == pytest.approx(y[own].mean())
        assert table["expected"][place] == pytest.approx(probability[own].mean())
        assert table["ratio"][place] == pytest.approx(y[own].mean() / probability[own].mean())
    assert np.all((table["ratio_low"] < table["ratio"]) & (table["ratio"] < table["ratio_high"]))


def test_subgroups_without_an_auc_raise_a_warning_and_are_left_out():
    y, score, site = draw()
    site[:3], y[:3] = "z", 1
    column = np.array([None if name == "c" else name for name in site], dtype=object)
    with pytest.warns(UndefinedMetricWarning, match="1 of 4 subgroups"):
        found = auc_by(y, score, column)
    assert found.table["subgroup"].tolist() == ["a", "b", "z", None]
    assert np.isnan(found.table["auc"]).tolist() == [False, False, True, False]
    assert found.df == 2


def test_one_subgroup_has_no_between_comparison():
    y, score, _ = draw()
    found = auc_by(y, score, np.zeros(len(y)))
    assert np.isnan([found.auc_between, found.p_value]).all()
    assert (found.share_within, found.auc_within) == (1, pytest.approx(found.auc))


@pytest.mark.parametrize(("by", "message"), [([1, 2], "by has 2 entries"), ([[1], [2]], "by")])
def test_a_column_of_another_length_is_rejected(by, message):
    with pytest.raises(ValueError, match=message):
        auc_by([0, 1, 0, 1], [1, 2, 3, 4], by)


def test_several_curves_are_those_of_r(asah):
    scores = {name: asah[name] for name in ("wfns", "s100b", "ndka")}
    found = auc_contrasts(asah["poor"], scores)
    assert found.covariance.ravel() == pytest.approx(R["covariance"], abs=1e-14)
    assert (found.chi_square, found.p_value) == pytest.approx(R["chi_square"])
    assert found.df == 2
    for place, name in enumerate(("s100b", "ndka")):
        alone = auc_compare(asah["poor"], asah["wfns"], asah[name])
        row = {column: values[place] for column, values in found.contrasts.items()}
        assert row["contrast"] == f"wfns - {name}"
        assert (row["z"], row["p_value"]) == pytest.approx((alone.z, alone.p_value))
        assert (row["low"], row["high"]) == pytest.approx((alone.low, alone.high))


def test_contrasts_that_follow_from_others_add_no_degree_of_freedom(asah):
    scores = {name: asah[name] for name in ("wfns", "s100b", "ndka")}
    contrasts = {"1": [1, -1, 0], "2": [0, 1, -1], "both": [1, 0, -1]}
    found = auc_contrasts(asah["poor"], scores, contrasts)
    assert (found.df, found.chi_square) == (2, pytest.approx(R["chi_square"][0]))


@pytest.mark.parametrize("weights", ["sampling", "frequency"])
def test_contrasts_with_weights_are_those_of_two_curves(asah, weights):
    weight = np.random.default_rng(0).integers(1, 4, len(asah))
    given = {"sample_weight": weight, "weights": weights}
    found = auc_contrasts(asah["poor"], {k: asah[k] for k in ("wfns", "ndka")}, **given)
    alone = auc_compare(asah["poor"], asah["wfns"], asah["ndka"], **given)
    assert found.contrasts["z"][0] == pytest.approx(alone.z)


@pytest.mark.parametrize(
    ("scores", "contrasts", "message"),
    [
        ({"a": [1, 2, 3, 4]}, None, "two models or more"),
        ({"a": [1, 2, 3, 4], "b": [1, 2, 4, 3]}, {"x": [1]}, "factor for each of 2 models"),
        ({"a": [1, 2, 3, 4], "b": [1, 2, 4, 3]}, {"x": [0, 0]}, "not all 0"),
        ({"a": [1, 2, 3, 4], "b": [1, 2, 4, 3]}, {}, "holds none"),
    ],
)
def test_bad_contrasts_are_rejected(scores, contrasts, message):
    with pytest.raises(ValueError, match=message):
        auc_contrasts([0, 1, 0, 1], scores, contrasts)


def test_a_one_sided_test_is_that_of_r(asah):
    scores = asah["poor"], asah["wfns"], asah["s100b"]
    found = auc_compare(*scores, alternative="greater", method="delong")
    assert (found.z, found.p_value) == pytest.approx(R["greater"])
    less = auc_compare(*scores, alternative="less", method="delong")
    assert less.p_value == pytest.approx(1 - found.p_value)


def test_margins_give_non_inferiority_and_equivalence_tests():
    y, score, _ = draw(600)
    law = t(min(np.bincount(y)) - 1)
    other = score + np.random.default_rng(1).normal(size=600) * 0.3
    plain = auc_compare(y, score, other)
    d, error = plain.difference, plain.standard_error
    shown = auc_compare(y, other, score, alternative="greater", margin=-0.05)
    assert shown.p_value == pytest.approx(law.sf((-d + 0.05) / error))
    for margin in (0.005, 0.05):
        equal = auc_compare(y, score, other, alternative="equivalence", margin=margin)
        expected = max(law.cdf((d - margin) / error), law.sf((d + margin) / error))
        assert equal.p_value == pytest.approx(expected)
        # As the interval at level 1 - 2 a lies within the margins.
        ends = auc_compare(y, score, other, confidence=0.9)
        assert (equal.p_value < 0.05) == (-margin < ends.low and ends.high < margin)


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ({"alternative": "equivalence"}, "above 0"),
        ({"alternative": "other"}, "alternative is 'other'"),
        ({"margin": 2}, "margin"),
        ({"groups_2": [1, 2, 3, 4]}, "needs y_true_2"),
    ],
)
def test_bad_comparisons_are_rejected(how, message):
    with pytest.raises(ValueError, match=message):
        auc_compare([0, 1, 0, 1], [1, 2, 3, 4], [2, 1, 3, 4], **how)


def clustered(seed, n_groups=40):
    """Draw two equally good scores of groups of like rows."""
    rng = np.random.default_rng(seed)
    groups = np.repeat(np.arange(n_groups), rng.integers(1, 12, n_groups))
    y = rng.integers(0, 2, len(groups))
    of_group = rng.normal(size=(2, n_groups))[:, groups]
    return y, *(rng.normal(loc=y + 1.5 * own) for own in of_group), groups


def test_a_comparison_with_groups_keeps_its_level():
    rejected, naive, by_bootstrap = [], [], []
    for seed in range(300):
        y, first, second, groups = clustered(seed)
        rejected.append(auc_compare(y, first, second, groups=groups).p_value < 0.05)
        naive.append(auc_compare(y, first, second).p_value < 0.05)
    for seed in range(5):
        y, first, second, groups = clustered(seed)
        drawn = auc_compare(
            y, first, second, groups=groups, method="bootstrap", n_resamples=500, random_state=0
        )
        plain = auc_compare(y, first, second, groups=groups)
        by_bootstrap.append(drawn.standard_error / plain.standard_error)
    assert np.mean(rejected) < 0.09
    assert np.mean(naive) > np.mean(rejected)
    assert np.mean(by_bootstrap) == pytest.approx(1, abs=0.15)


def test_groups_of_one_row_equal_rows_and_copies_in_a_group_one_row():
    y, score, _ = draw(200)
    other = score + np.random.default_rng(1).normal(size=200)
    plain = auc_compare(y, score, other)
    apart = auc_compare(y, score, other, groups=np.arange(200))
    assert (apart.z, apart.low) == pytest.approx((plain.z, plain.low))
    twice = np.repeat(np.arange(200), 2)
    copies = auc_compare(y[twice], score[twice], other[twice], groups=twice)
    assert (copies.z, copies.standard_error) == pytest.approx((plain.z, plain.standard_error))
    # Groups of two rows have the quantiles of t, by the class of fewer groups.
    reach = t.ppf(0.975, min(np.sum(y == 1), np.sum(y == 0)) - 1) * copies.standard_error
    assert copies.low == pytest.approx(copies.difference - reach)


def test_two_samples_may_have_their_own_groups():
    y, first, second, groups = clustered(0)
    found = auc_compare(y, first, second, y_true_2=y, groups=groups, groups_2=groups)
    apart = [auc_interval(y, score, groups=groups).standard_error for score in (first, second)]
    assert found.standard_error == pytest.approx(math.hypot(*apart))


def test_cross_validated_areas_account_for_groups():
    y, first, second, groups = clustered(3, 60)
    # Rows of a group have one label, as those of a patient.
    y = np.random.default_rng(7).integers(0, 2, 60)[groups]
    first = first + y
    fold = groups % 4
    plain = cross_validated_auc(y, first, fold)
    apart = cross_validated_auc(y, first, fold, groups=np.arange(len(y)))
    n = len(y)
    # By the definition: in each fold, the squares of placements from their mean, by n - 1.
    variance = 0
    for number in range(4):
        pos, neg = (first[(fold == number) & (y == label)] for label in (1, 0))
        wins = (pos[:, None] > neg) + 0.5 * (pos[:, None] == neg)
        scale = n / (4 * wins.shape[0] + 4 * wins.shape[1])
        for values, label in ((wins.mean(1), 1), (wins.mean(0), 0)):
            squares = len(values) * values.var(ddof=1) / np.mean(y == label) ** 2
            variance += scale * squares / n**2
    assert apart.standard_error == pytest.approx(math.sqrt(variance))
    together = cross_validated_auc(y, first, fold, groups=groups)
    # Whole groups are drawn, each with its fold.
    rng = np.random.default_rng(0)
    drawn = []
    for _ in range(500):
        times = np.bincount(rng.integers(60, size=60), minlength=60)[groups]
        parts = [(fold == k) & (times > 0) for k in range(4)]
        if any(len(set(y[part])) < 2 for part in parts):
            continue
        areas = [roc_auc_score(y[p], first[p], sample_weight=times[p]) for p in parts]
        drawn.append(np.mean(areas))
    assert together.standard_error == pytest.approx(np.std(drawn), rel=0.15)
    assert together.standard_error > 1.2 * plain.standard_error
    pair = cross_validated_compare(y, first, second, fold, groups=groups)
    assert pair.standard_error > cross_validated_compare(y, first, second, fold).standard_error
    with pytest.raises(ValueError, match="one group"):
        cross_validated_auc(y, first, fold, groups=np.zeros(n))
