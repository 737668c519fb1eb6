"""Intervals of the AUC of rows in groups, against the definition of Obuchowski (1997)."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from aucrank.metrics import RocCurve, auc_interval
from aucrank.metrics._clustered import Groups
from hypothesis import given
from hypothesis import strategies as st
from sklearn.exceptions import UndefinedMetricWarning


def obuchowski(y, score, group, weight=None):
    """AUC and its variance by the definition: all pairs, then sums over the groups."""
    weight = np.ones(len(y)) if weight is None else weight
    kept = weight > 0
    y, score, group, weight = (np.asarray(values)[kept] for values in (y, score, group, weight))
    wins = (score[:, None] > score) + 0.5 * (score[:, None] == score)
    pos, neg = np.flatnonzero(y), np.flatnonzero(~y)
    own = [weight[rows] / weight[rows].sum() for rows in (pos, neg)]
    placed = wins[np.ix_(pos, neg)] @ own[1], own[0] @ wins[np.ix_(pos, neg)]
    auc = own[0] @ placed[0]
    names = np.unique(group)
    a, b = (
        np.array([(w * (v - auc))[group[rows] == name].sum() for name in names])
        for rows, w, v in zip((pos, neg), own, placed, strict=True)
    )
    n_all, n_pos, n_neg = len(names), len(np.unique(group[pos])), len(np.unique(group[neg]))
    return auc, (
        n_pos / (n_pos - 1) * (a**2).sum()
        + n_neg / (n_neg - 1) * (b**2).sum()
        + 2 * n_all / (n_all - 1) * (a * b).sum()
    )


@st.composite
def grouped(draw):
    n = draw(st.integers(8, 40))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    group = rng.integers(0, draw(st.integers(4, n)), n)
    y = rng.random(n) < 0.5
    score = rng.integers(0, draw(st.integers(2, 30)), n) + y * 1.0
    return y, score, group, rng.integers(0, 4, n) / 2


@given(grouped(), st.booleans())
def test_the_variance_is_that_of_the_definition(sample, weighted):
    y, score, group, weight = sample
    given_weight = weight if weighted else None
    kept = weight > 0 if weighted else np.ones(len(y), bool)
    if min(len(np.unique(group[kept & (y == label)])) for label in (False, True)) < 2:
        return
    auc, variance = obuchowski(y, score, group, given_weight)
    if auc in (0, 1) or variance < 1e-9 or len(np.unique(score[kept])) < 2:
        return
    found = auc_interval(y, score, sample_weight=given_weight, groups=group, method="delong")
    assert found.auc == pytest.approx(auc)
    assert found.standard_error**2 == pytest.approx(variance, rel=1e-9)
    assert found.method == "delong"


def rows(n_groups=30, n_rows=4, seed=0):
    rng = np.random.default_rng(seed)
    group = np.repeat(rng.permutation(n_groups), n_rows)
    y = rng.random(len(group)) < 0.4
    return y, (y + rng.normal(size=n_groups)[group] + rng.normal(size=len(group))).round(1), group


@pytest.mark.parametrize("method", ["delong", "logit"])
def test_groups_of_one_row_give_the_delong_interval(method):
    y, score, _ = rows()
    weight = np.random.default_rng(1).random(len(y))
    for sample_weight in (None, weight):
        how = {"sample_weight": sample_weight, "method": method}
        plain = auc_interval(y, score, **how)
        found = auc_interval(y, score, groups=np.arange(len(y)), **how)
        for end in ("auc", "low", "high", "standard_error"):
            assert getattr(found, end) == pytest.approx(getattr(plain, end), rel=1e-12)


def test_copies_of_a_row_in_its_group_do_not_change_the_error():
    y, score, _ = rows()
    plain = auc_interval(y, score)
    place = np.repeat(np.arange(len(y)), 5)
    found = auc_interval(y[place], score[place], groups=place)
    assert found.standard_error == pytest.approx(plain.standard_error, rel=1e-12)
    counted = {"sample_weight": np.full(len(y), 5), "weights": "frequency"}
    of_counts = auc_interval(y, score, groups=np.arange(len(y)), **counted)
    assert of_counts.standard_error == pytest.approx(plain.standard_error, rel=1e-12)


def test_group_names_may_be_of_any_type():
    y, score, group = rows()
    expected = auc_interval(y, score, groups=group)
    for names in (
        group - 7,
        group * 10**12,
        group.astype(np.uint8),
        group / 8,
        [f"patient {k}" for k in group],
        pd.Series(group).map(lambda k: f"p{k}").astype("category"),
        pl.Series([f"p{k}" for k in group]),
        pd.Timestamp("2026-01-01") + pd.to_timedelta(group, unit="D"),
    ):
        found = auc_interval(y, score, groups=names)
        assert found.standard_error == pytest.approx(expected.standard_error, rel=1e-12)


def test_the_bootstrap_resamples_whole_groups():
    y, score, group = rows(n_groups=60)
    delong = auc_interval(y, score, groups=group)
    found = auc_interval(y, score, groups=group, method="bootstrap", random_state=0)
    assert found.method == "bootstrap"
    assert found.auc == delong.auc
    assert found.standard_error == pytest.approx(delong.standard_error, rel=0.1)
    assert found == auc_interval(y, score, groups=group, method="bootstrap", random_state=0)
    # By the definition: as many groups as there are, with all of their rows.
    rng = np.random.default_rng(0)
    areas = []
    for _ in range(500):
        drawn = np.concatenate([np.flatnonzero(group == k) for k in rng.choice(60, 60)])
        areas.append(obuchowski(y[drawn], score[drawn], group[drawn])[0])
    assert found.standard_error == pytest.approx(np.std(areas), rel=0.1)
    ends = np.quantile(areas, [0.025, 0.975])
    assert [found.low, found.high] == pytest.approx(ends, abs=0.02)


@pytest.mark.parametrize("method", ["delong", "logit", "bootstrap"])
def test_intervals_with_groups_cover_the_auc_and_those_without_do_not(method):
    true, n_samples, held = 0.7602, 120, np.zeros(2)
    for seed in range(n_samples):
        rng = np.random.default_rng(seed)
        group = np.repeat(np.arange(40), 10)
        y = (rng.random(40) < 0.5)[group]
        score = y + rng.normal(size=40)[group] + 0.01 * rng.normal(size=len(group))
        how = {"method": method, "n_resamples": 100, "random_state": seed}
        for place, groups in enumerate((None, group)):
            found = auc_interval(y, score, groups=groups, **how)
            held[place] += found.low <= true <= found.high
    of_rows, of_groups = held / n_samples
    # By Obuchowski's variance, 0.91 of many samples; the spread here is 0.026.
    assert of_rows < 0.65
    assert of_groups > 0.83


def test_an_auc_of_1_rests_on_pairs_of_different_groups():
    y = np.array([0, 0, 0, 1, 1, 1, 1], bool)
    group = np.array([1, 2, 3, 3, 4, 5, 5])
    with pytest.warns(UndefinedMetricWarning, match="exact, of 2 independent pairs"):
        found = auc_interval(y, y * 1.0, groups=group)
    # Of five groups, two pairs: one is left over. By Clopper and Pearson.
    assert (found.low, found.high) == (pytest.approx(0.025 ** (1 / 2)), 1)


def test_identical_groups_raise_a_warning():
    y, score = np.tile([0, 1, 0, 1], 10), np.tile([1.0, 2.0, 3.0, 4.0], 10)
    with pytest.warns(UndefinedMetricWarning, match="All groups are alike"):
        found = auc_interval(y, score, groups=np.repeat(np.arange(10), 4), method="delong")
    assert found == auc_interval(y, score, method="delong")


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"groups": [1, 2]}, "groups has 2 entries, but y_true has 120"),
        ({"groups": [None] * 120}, "the group of row 0 is missing"),
        ({"groups": [0.0] * 119 + [np.nan]}, "the group of row 119 is missing"),
        ({"groups": np.zeros(120)}, "all rows of the positive class are of one group"),
        ({"groups": np.zeros((120, 2))}, "groups should be a 1d array"),
    ],
)
def test_invalid_groups_are_rejected(change, said):
    y, score, group = rows()
    with pytest.raises(ValueError, match=said):
        auc_interval(y, score, **({"groups": group} | change))


def test_a_class_in_one_group_has_no_spread():
    y, score, group = rows()
    with pytest.raises(ValueError, match="all rows of the negative class are of one group"):
        auc_interval(y, score, groups=np.where(y, group, 99))


def test_rates_of_resamples_are_those_of_curves_of_resampled_groups():
    rng = np.random.default_rng(1)
    group = rng.integers(0, 30, 200)
    y = rng.random(200) < 0.4
    score = rng.normal(loc=y).round(1)
    grid = np.linspace(0, 1, 21)
    groups = Groups.of(y, score, None, group)
    seed = 3
    drawn = groups.bootstrap_tprs(grid, 50, seed)
    for n_drawn, tprs in zip(groups._draws(50, seed), drawn, strict=True):
        rows = np.repeat(np.arange(200), n_drawn[groups.codes].astype(int))
        np.testing.assert_allclose(tprs, RocCurve.from_scores(y[rows], score[rows]).tpr_at(grid))


def test_a_curve_of_many_scores_is_drawn_to_a_ten_thousandth_of_the_rows():
    rng = np.random.default_rng(3)
    n = 60_000
    y = rng.random(n) < 0.5
    score = rng.normal(loc=y)
    grid = np.linspace(0.01, 0.99, 50)
    groups = Groups.of(y, score, None, np.arange(n) // 10)
    drawn = groups.bootstrap_tprs(grid, 3, seed=0)
    for n_drawn, tprs in zip(groups._draws(3, 0), drawn, strict=True):
        weight = n_drawn[groups.codes]
        curve = RocCurve.from_scores(y, score, sample_weight=weight)
        # A range is of six rows, and the rate is between those at its ends.
        by_score = (weight * y)[np.argsort(score)]
        within = np.convolve(by_score, np.ones(6), "valid").max() / by_score.sum()
        np.testing.assert_allclose(tprs, curve.tpr_at(grid), rtol=0, atol=within)
