"""Groups, subgroups and periods of a report, against the statistics of each part."""

import datetime
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from aucrank import report
from aucrank._report.calibration import effective_rows
from aucrank._report.periods import periods_of
from aucrank._report.subgroups import split_by
from aucrank.metrics import auc_by, auc_compare, auc_interval, calibration_curve

from tests.common.reports import halves, models, target_of

X, y = halves()[2:]
N = len(X)
GROUPS = np.arange(N) // 3
SITE = np.array(["north", "south", "west"], dtype=object)[np.arange(N) % 3]
TIME = pd.date_range("2023-11-07", periods=N, freq="D")


@pytest.fixture(scope="module")
def found():
    return report(models(), X, y, groups=GROUPS, time=TIME, by={"site": SITE})


def test_intervals_account_for_groups(found):
    scores = models()["tree"].decision_function(X)
    expected = auc_interval(y, scores, groups=GROUPS, method="logit")
    row = found.models.to_frame().set_index("model").loc["tree"]
    assert (row["low"], row["high"]) == (expected.low, expected.high)
    assert f"{-(-N // 3)} groups" in found.summary
    other = models()["table"].decision_function(X)
    test = auc_compare(y, other, scores, groups=GROUPS)
    assert f"{abs(test.difference):.4f}" in found.summary
    assert f"{min(abs(test.low), abs(test.high)):.4f}" in found.summary


def test_figures_of_subgroups_are_those_of_their_rows(found):
    table = found.subgroups.to_frame()
    own = table[table["model"] == "table"]
    model = models()["table"]
    expected = auc_by(y, model.decision_function(X), SITE, groups=GROUPS)
    assert own["subgroup"].tolist() == expected.table["subgroup"].tolist()
    for name in ("size", "positives", "auc", "low", "high"):
        assert own[name].tolist() == pytest.approx(expected.table[name].tolist())
    for _, row in own.iterrows():
        rows = row["subgroup"] == SITE
        probability = model.predict_proba(X[rows])[:, 1]
        of_rows = calibration_curve(y[rows], probability, groups=GROUPS[rows])
        for name in ("intercept", "slope", "observed_to_expected"):
            assert row[name] == pytest.approx(getattr(of_rows, name))
    assert f"{expected.p_value:.3f}" in found.html


def test_figures_of_periods_are_those_of_their_rows(found):
    table = found.periods.to_frame()
    own = table[table["model"] == "tree"]
    model = models()["tree"]
    quarter = TIME.year * 4 + TIME.quarter
    month = TIME.year * 12 + TIME.month
    assert len(own) in (len(set(quarter)), len(set(month)))
    of_row = month if len(own) == len(set(month)) else quarter
    for at, (_, row) in zip(sorted(set(of_row)), own.iterrows(), strict=True):
        rows = of_row == at
        assert row["size"] == rows.sum()
        assert row["observed"] == pytest.approx(y[rows].mean())
        assert row["expected"] == pytest.approx(model.predict_proba(X[rows])[:, 1].mean())
    assert own["psi"].iloc[0] == 0


def test_drift_of_scores_is_reported_if_training_rows_are_given():
    X_train = halves()[0]
    found = report(models()["tree"], X, y, time=np.arange(N), X_train=X_train)
    assert "against the training data" in found.html
    scores, then = (models()["tree"].decision_function(rows) for rows in (X, X_train))
    first = scores[: int(found.periods["size"][0])]
    # The definition, over tenths of the training scores that leave ties together.
    edges = np.unique(np.quantile(then, np.arange(1, 10) / 10, method="inverted_cdf"))
    edges = edges[edges < then.max()]
    shares = [
        np.bincount(np.searchsorted(edges, values), minlength=len(edges) + 1) / len(values)
        for values in (then, first)
    ]
    shares[1] = np.where(shares[1] > 0, shares[1], 0.5 / len(first))
    psi = ((shares[1] - shares[0]) * np.log(shares[1] / shares[0])).sum()
    assert found.periods["psi"][0] == pytest.approx(psi)


@pytest.mark.parametrize("wrap", [pd.DataFrame, pl.DataFrame, dict])
def test_subgroups_may_be_of_a_frame(wrap):
    by = wrap({"site": SITE.tolist(), "half": (np.arange(N) % 2).tolist()})
    found = report(models()["tree"], X, y, by=by).subgroups.to_frame()
    assert found.groupby("by", sort=False).size().to_dict() == {"site": 3, "half": 2}


def test_one_column_has_its_own_name_or_none():
    named = report(models()["tree"], X, y, by=pd.Series(SITE, name="site"))
    assert set(named.subgroups["by"]) == {"site"}
    assert set(report(models()["tree"], X, y, by=SITE).subgroups["by"]) == {"subgroup"}


def test_the_order_of_the_rows_does_not_matter():
    order = np.random.default_rng(0).permutation(N)
    given = {"groups": GROUPS, "time": TIME.to_numpy(), "by": SITE}
    first = report(models(), X, y, **given)
    moved = {name: values[order] for name, values in given.items()}
    second = report(models(), X.iloc[order].reset_index(drop=True), y[order], **moved)
    for name in ("models", "subgroups", "periods"):
        one, other = (getattr(r, name).to_frame() for r in (first, second))
        pd.testing.assert_frame_equal(one, other, rtol=1e-9)


def test_rows_of_weight_0_do_not_count_in_any_part():
    weight = (np.arange(N) % 4 > 0).astype(float)
    kept = np.flatnonzero(weight)
    all_rows = report(models()["tree"], X, y, sample_weight=weight, groups=GROUPS, by=SITE)
    of_kept = report(
        models()["tree"], X.iloc[kept].reset_index(drop=True), y[kept], groups=GROUPS[kept],
        by=SITE[kept], sample_weight=np.ones(len(kept)),
    )  # fmt: skip
    pd.testing.assert_frame_equal(all_rows.subgroups.to_frame(), of_kept.subgroups.to_frame())


def test_a_subgroup_of_one_class_is_shown_without_an_auc():
    by = np.where(y == 1, "a", "b").astype(object)
    by[:40] = "both"
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = report(models(), X, y, by=by)
    table = found.subgroups.to_frame().set_index("subgroup")
    assert table.loc["a", "auc"].isna().all()
    assert table.loc["both", "auc"].notna().all()


def test_numbers_of_many_values_are_split_at_their_quartiles():
    values = np.r_[np.arange(20.0), np.nan]
    split = split_by("age", values)
    assert split.labels == ["0 to 4", "5 to 9", "10 to 14", "15 to 19", "missing"]
    assert split.codes.tolist() == [*np.repeat(range(4), 5), 4]
    tied = split_by("age", np.r_[np.zeros(30), np.arange(13.0)])
    assert tied.sizes == [len(tied.codes[tied.codes == at]) for at in range(len(tied.labels))]
    assert sum(tied.sizes) == 43


def test_the_smallest_of_many_subgroups_are_merged():
    values = np.repeat([f"v{at:02}" for at in range(40)], np.arange(40) + 1)
    split = split_by("site", values)
    assert split.labels == [*(f"v{at:02}" for at in range(11, 40)), "all others"]
    assert split.sizes[-1] == sum(range(1, 12))
    assert "11 subgroups" in split.how


@pytest.mark.parametrize(
    ("days", "first", "n"),
    [(365, "2024-01", 12), (1000, "2024 Q1", 11), (6000, "2024", 17), (9, "2024-01-01", 9)],
)
def test_periods_are_suitable_calendar_units(days, first, n):
    stamps = np.datetime64("2024-01-01") + np.arange(days * 40) // 40
    split = periods_of(stamps, np.arange(days * 40) % 2 == 0)
    assert (split.labels[0], len(split.labels)) == (first, n)
    assert (np.diff(split.codes) >= 0).all()


def test_periods_of_few_positives_are_longer():
    stamps = np.datetime64("2024-01-01") + np.arange(720)
    assert len(periods_of(stamps, np.arange(720) % 2 == 0).labels) == 24
    assert len(periods_of(stamps, np.arange(720) % 8 == 0).labels) == 8
    assert len(periods_of(stamps, np.arange(720) % 72 == 0).labels) == 1


@pytest.mark.parametrize(
    "values",
    [
        [datetime.date(2024, 1 + at % 12, 3) for at in range(480)],
        [datetime.datetime(2024, 1 + at % 12, 3, 5, tzinfo=datetime.UTC) for at in range(480)],
        pd.Series(pd.to_datetime([f"2024-{1 + at % 12:02}-03" for at in range(480)], utc=True)),
    ],
)
def test_dates_of_any_kind_are_dates(values):
    split = periods_of(np.asarray(values, dtype=object), np.arange(480) // 12 % 2 == 0)
    assert split.labels == [f"2024-{month:02}" for month in range(1, 13)]


def test_whole_numbers_of_few_values_are_periods():
    year = 2001 + np.arange(300) % 6
    assert periods_of(year, np.arange(300) % 2 == 0).labels == [str(2001 + at) for at in range(6)]
    split = periods_of(np.arange(300) / 7, np.arange(300) % 2 == 0)
    assert split.sizes == [30] * 10


def test_an_effective_number_of_rows_is_that_of_the_variance_over_groups():
    rng = np.random.default_rng(0)
    groups = np.repeat(np.arange(200), 5)
    of_group = rng.random(200) < 0.3
    # All rows of a group are equal: the effective number is that of the groups.
    target = target_of(of_group[groups], groups=groups)
    alike = effective_rows(target, np.zeros(1000, np.intp), 1)
    assert alike[0] == pytest.approx(200, rel=0.01)
    # Rows of a group are no more alike than others.
    apart = target_of(rng.random(1000) < 0.3, groups=np.arange(1000))
    assert effective_rows(apart, np.zeros(1000, np.intp), 1)[0] == pytest.approx(1000, rel=0.01)
    assert effective_rows(target_of(np.zeros(10), groups=np.arange(10) // 2),
                          np.zeros(10, np.intp), 1).tolist() == [5]  # fmt: skip


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"groups": GROUPS[:-1]}, "groups has 399 entries"),
        ({"groups": [None, *GROUPS[1:]]}, "the group of row 0 is missing"),
        ({"groups": y}, "all rows of a class are of one group"),
        ({"time": TIME[:-1]}, "time has 399 entries"),
        ({"time": [np.nan, *range(1, N)]}, "the time of row 0 is missing"),
        ({"by": {"site": SITE[:-1]}}, "by 'site' has 399 entries"),
    ],
)
def test_columns_that_do_not_match_the_rows_are_rejected(given, message):
    with pytest.raises(ValueError, match=message):
        report(models()["tree"], X, y, **given)


def test_text_as_time_is_rejected():
    with pytest.raises(TypeError, match="time must hold numbers or dates"):
        report(models()["tree"], X, y, time=SITE)
