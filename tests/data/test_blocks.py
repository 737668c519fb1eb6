"""Groups and times in fits to a `Dataset`: the document equals that of one frame."""

import datetime
import warnings
from decimal import Decimal
from itertools import pairwise

import aucrank
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from aucrank import (
    AURORA,
    RIMARC,
    AUCBoost,
    GradientBoostingRanker,
    LinearRanker,
    MartiRank,
    RankBoost,
    RankingEnsemble,
    RankingForest,
    Scorecard,
    SMartiRank,
    TreeRank,
)
from aucrank._data import block_survey
from aucrank._data.row_blocks import group_numbers, read_blocks
from aucrank.data import DataChangedError, Dataset, _sampled, _stored
from aucrank.ensemble import _judged_by_sample, _presets
from aucrank.metrics import roc_state
from aucrank.tree import ValidationPruning
from sklearn.base import clone

from tests.common.estimators import SHORT_SEARCH, few_members
from tests.common.pairwise import parametrize_pairs
from tests.common.parts import COLLECTED, FEATURES, mixed_rows, on_dask, write_parts


def dealt_rows(n=700, n_groups=60, seed=0):
    """Rows of groups of many sizes, one of them a single row, over two years."""
    rows = mixed_rows(n, seed)
    rng = np.random.default_rng(seed + 1)
    who = (n_groups * rng.random(n) ** 2).astype(int) + 1
    who[3] = 0
    day = np.datetime64("2024-01-01") + rng.integers(0, 700, n).astype("m8[D]")
    return rows.assign(
        who=who, code=[f"{number:03}" for number in who], day=day.astype("M8[us]"), hour=who / 7
    )


ROWS = dealt_rows()
SHUFFLED = ROWS.sample(frac=1, random_state=2)

#: What fits are given, by argument.
DEALT = [{"groups": "who"}, {"groups": "code"}, {"time": "day"}, {"groups": "who", "time": "day"}]
BY_TEXT = {" and ".join(given.values()): given for given in DEALT}

MODELS = {
    "tree": TreeRank(max_depth=4, random_state=0),
    "tree of a share": TreeRank(max_depth=4, pruning=ValidationPruning(), random_state=0),
    "booster": GradientBoostingRanker(n_rounds=12, n_iter_no_change=4, random_state=0),
    "booster of a share": GradientBoostingRanker(
        n_rounds=12, n_iter_no_change=4, validation_fraction=0.2, n_bags=2, random_state=0
    ),
    "booster of pairs": GradientBoostingRanker(
        n_rounds=6, n_bags=2, loss="pair_logistic", random_state=0
    ),
    "forest": RankingForest(n_estimators=4, oob_score=True, random_state=0),
    "linear": LinearRanker(),
    "rank boost": RankBoost(n_rounds=8, early_stopping=True, n_iter_no_change=3, random_state=1),
    "auc boost": AUCBoost(n_rounds=4, early_stopping=True, n_iter_no_change=2, random_state=1),
    "marti": MartiRank(n_rounds=3, random_state=1),
    "smarti": SMartiRank(n_rounds=3, noise_rate="auto", random_state=1),
    "rimarc": RIMARC(weight_folds=4, random_state=0),
    "scorecard": Scorecard(estimator=RIMARC(weight_folds=3, random_state=0)),
    "aurora": AURORA(selection="cv", n_folds=3, random_state=0, **SHORT_SEARCH),
    "ensemble": RankingEnsemble(members=few_members(), n_folds=3, random_state=0),
}

#: Those whose fit holds rows out.
HOLDING_OUT = sorted(set(MODELS) - {"linear", "marti"})


def fitted_to_frame(model, rows, given, weight=None):
    weights = None if weight is None else rows[weight]
    given = {name: rows[column] for name, column in given.items()}
    return clone(model).fit(rows[FEATURES], rows["y"], weights, **given)


def dataset_of(rows, given, weight=None, chunk_rows=100):
    return Dataset.from_batches(
        rows, target="y", weight=weight, columns=FEATURES, chunk_rows=chunk_rows, **given
    )


def document(model):
    return model._to_document()


@pytest.mark.filterwarnings("ignore")
@parametrize_pairs(name=list(MODELS), given=BY_TEXT, weight=[None, "w"])
def test_a_fit_equals_that_to_a_frame_for_any_pieces(name, given, weight):
    expected = document(fitted_to_frame(MODELS[name], ROWS, given, weight))
    for rows, chunk_rows in ((ROWS, 71), (ROWS, 1000), (SHUFFLED, 230)):
        if rows is SHUFFLED and name == "forest":
            # Without groups, a forest draws rows by number.
            continue
        found = clone(MODELS[name]).fit(dataset_of(rows, given, weight, chunk_rows))
        assert document(found) == expected


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", HOLDING_OUT)
def test_groups_of_a_dataset_change_what_is_held_out(name):
    plain = clone(MODELS[name]).fit(dataset_of(ROWS, {}))
    dealt = clone(MODELS[name]).fit(dataset_of(ROWS, {"groups": "who"}))
    assert document(plain) != document(dealt)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("given", DEALT, ids=BY_TEXT)
def test_a_fit_with_stored_codes_equals_that_to_a_frame(given, monkeypatch, tmp_path):
    monkeypatch.setattr(_stored, "_IN_MEMORY", 0)
    expected = document(fitted_to_frame(MODELS["booster"], ROWS, given, "w"))
    write_parts(tmp_path, ROWS, [1, 300])
    dataset = Dataset.from_parquet(
        tmp_path, target="y", weight="w", columns=FEATURES, spill_dir=tmp_path, **given
    )
    assert document(clone(MODELS["booster"]).fit(dataset)) == expected


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("given", DEALT, ids=BY_TEXT)
def test_evaluation_rows_of_a_large_ensemble_are_split_by_groups_and_time(given, monkeypatch):
    monkeypatch.setattr(_presets, "MOST_IN_MEMORY", 1000)
    monkeypatch.setattr(_judged_by_sample, "MOST_OF_CLASS", 150)
    model = RankingEnsemble(n_folds=4, random_state=3)
    expected = fitted_to_frame(model, ROWS, given)
    for rows, chunk_rows in ((ROWS, 71), (SHUFFLED, 400)):
        found = clone(model).fit(dataset_of(rows, given, chunk_rows=chunk_rows))
        assert document(found) == document(expected)
        assert list(found.leaderboard_["auc"]) == list(expected.leaderboard_["auc"])


@pytest.mark.filterwarnings("ignore")
def test_a_sample_keeps_the_groups_of_its_rows(monkeypatch):
    monkeypatch.setattr(_sampled, "MOST_ROWS", 300)
    model = MODELS["aurora"]
    found = [
        document(clone(model).fit(dataset_of(rows, {"groups": "who"}, chunk_rows=n)))
        for rows, n in ((ROWS, 71), (SHUFFLED, 1000))
    ]
    assert found[0] == found[1]
    assert found[0] != document(clone(model).fit(dataset_of(ROWS, {})))


@pytest.mark.filterwarnings("ignore")
def test_one_group_leaves_nothing_to_hold_out():
    rows = ROWS.assign(who="all")
    expected = fitted_to_frame(MODELS["booster"], rows, {"groups": "who"})
    found = clone(MODELS["booster"]).fit(dataset_of(rows, {"groups": "who"}))
    assert document(found) == document(expected)


def test_groups_of_one_row_are_split_as_in_memory():
    rows = ROWS.assign(who=np.arange(len(ROWS)))
    expected = fitted_to_frame(MODELS["tree"], rows, {"groups": "who"})
    found = clone(MODELS["tree"]).fit(dataset_of(rows, {"groups": "who"}))
    assert document(found) == document(expected)


@pytest.mark.parametrize("given", [{"groups": "who"}, {"time": "who"}])
def test_very_many_groups_are_split_as_in_memory(given):
    rng = np.random.default_rng(0)
    rows = mixed_rows(30_000).assign(who=rng.normal(size=30_000))
    model = GradientBoostingRanker(n_rounds=4, n_bags=2, max_leaves=4, random_state=0)
    expected = document(fitted_to_frame(model, rows, given))
    for some, chunk_rows in ((rows, 7_000), (rows[::-1], 65_536)):
        assert (
            document(clone(model).fit(dataset_of(some, given, chunk_rows=chunk_rows))) == expected
        )


def test_rows_of_weight_zero_do_not_count():
    # The latest row of a group weighs nothing.
    late = ROWS[:5].assign(day=pd.Timestamp("2030-01-01"), w=0.0)
    given, whole = {"groups": "who", "time": "day"}, pd.concat([ROWS, late])
    expected = document(fitted_to_frame(MODELS["tree"], ROWS, given, "w"))
    assert document(fitted_to_frame(MODELS["tree"], whole, given, "w")) == expected
    assert document(clone(MODELS["tree"]).fit(dataset_of(whole, given, "w", 300))) == expected


# Dask


@pytest.fixture(scope="module")
def dask_client():
    distributed = pytest.importorskip("distributed", reason="fits on workers of distributed")
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=False, dashboard_address=":0"
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


@pytest.mark.usefixtures("dask_client")
@pytest.mark.filterwarnings("ignore")
@parametrize_pairs(
    name=["booster", "tree", "forest", "rimarc", "smarti", "ensemble"],
    given=BY_TEXT,
    cuts={"one": [], "with an empty one": [0, 200]},
)
def test_a_fit_on_workers_is_that_of_a_frame(name, given, cuts):
    model = clone(MODELS[name])
    if name in ("booster", "smarti"):
        # Each round sends many questions to the workers.
        model.set_params(n_rounds=2)
    dask = pytest.importorskip("dask")
    dd = pytest.importorskip("dask.dataframe")
    expected = document(fitted_to_frame(model, ROWS, given, "w"))
    # These need all rows.
    size = COLLECTED if name in ("forest", "ensemble") else 0
    parts = [ROWS[first:last] for first, last in pairwise([0, *cuts, len(ROWS)])]
    collection = dd.from_delayed(
        [dask.delayed(part) for part in parts], meta=ROWS[:0], verify_meta=False
    )
    dataset = on_dask(
        collection, target="y", weight="w", columns=FEATURES, collect_below=size, **given
    )
    assert document(clone(model).fit(dataset)) == expected


# Contents of columns


@pytest.mark.parametrize(
    "times",
    [
        np.array(["1969-12-31T23:59:59.999999", "2024-02-29T12:00:00.1"], dtype="M8[ns]"),
        pd.to_datetime(
            ["2024-02-29 12:00:00.123456", "2024-03-01 00:00:00.5"], utc=True
        ).to_series(),
    ],
)
def test_a_time_has_the_same_number_in_every_library(times):
    expected = read_blocks(None, times, 2).of_row
    series = pd.Series(times)
    for other in (
        series.astype(series.dtype if series.dt.tz else "M8[us]").to_list(),
        pl.Series(series.to_list()),
        pa.chunked_array([series.to_list()]),
    ):
        assert read_blocks(None, other, 2).of_row.tolist() == expected.tolist()


def test_dates_have_the_same_number_in_every_library():
    days = [datetime.date(1969, 7, 20), datetime.date(2024, 2, 29)]
    expected = read_blocks(None, np.array(days, dtype="M8[D]"), 2).of_row.tolist()
    for other in (days, pl.Series(days), pa.array(days), pd.Series(pd.to_datetime(days))):
        assert read_blocks(None, other, 2).of_row.tolist() == expected


def test_numbers_of_times_keep_their_order_and_can_be_decoded():
    values = np.array([-np.inf, -1e300, -2.5, -0.0, 0.0, 1e-300, 3, 1e18, np.inf])
    blocks = read_blocks(None, values, len(values))
    assert (np.diff(blocks.of_row.astype(object)) >= 0).all()
    assert blocks.of_row[3] == blocks.of_row[4]
    np.testing.assert_array_equal(blocks.times, values)
    decimals = [Decimal("-2.5"), Decimal(3)]
    assert read_blocks(None, decimals, 2).of_row.tolist() == blocks.of_row[[2, 6]].tolist()


def test_a_group_has_the_same_number_in_every_library():
    for numbers in (np.array([7, -2]), np.array([7.0, -2.0]), np.array([7, -2], dtype=object)):
        assert group_numbers(numbers).tolist() == group_numbers(np.array([7, -2])).tolist()
    names = ["a", "b"]
    for texts in (pl.Series(names), pa.array(names), pd.Series(names, dtype="category")):
        assert read_blocks(texts, None, 2).of_row.tolist() == (
            read_blocks(names, None, 2).of_row.tolist()
        )


@pytest.mark.parametrize(
    ("given", "change", "message"),
    [
        ({"groups": "code"}, None, "groups column 'code' is missing in row 3"),
        ({"groups": "hour"}, np.nan, "groups column 'hour' is missing in row 3"),
        ({"time": "day"}, pd.NaT, "time column 'day' is missing in row 3"),
        ({"groups": "who", "time": "hour"}, np.nan, "time column 'hour' is missing in row 3"),
    ],
)
def test_a_missing_group_or_time_is_named_in_the_error(given, change, message):
    rows = ROWS.copy()
    rows.loc[3, list(given.values())[-1]] = change
    with pytest.raises(ValueError, match=message):
        clone(MODELS["tree"]).fit(dataset_of(rows, given))


def test_text_as_time_is_rejected():
    with pytest.raises(TypeError, match="read text as dates first"):
        clone(MODELS["tree"]).fit(dataset_of(ROWS, {"time": "code"}))


def test_times_are_of_one_kind_in_all_pieces():
    parts = [ROWS[:300], ROWS[300:].assign(day=ROWS["hour"][300:])]
    dataset = Dataset.from_batches(parts, target="y", columns=FEATURES, time="day")
    with pytest.raises(TypeError, match="time column 'day' holds dates in batch 0 and numbers in"):
        clone(MODELS["tree"]).fit(dataset)


def test_too_many_groups_with_times_are_rejected(monkeypatch):
    monkeypatch.setattr(block_survey, "MOST_GROUPS", 20)
    with pytest.raises(ValueError, match="give it as time without groups"):
        clone(MODELS["tree"]).fit(dataset_of(ROWS, {"groups": "who", "time": "day"}))


def test_groups_that_change_between_passes_are_detected():
    def batches():
        batches.n_calls += 1
        shift = 1 if batches.n_calls > 2 else 0
        yield ROWS.assign(who=ROWS["who"] + shift)

    batches.n_calls = 0
    dataset = Dataset.from_batches(batches, target="y", columns=FEATURES, groups="who")
    with pytest.raises(DataChangedError):
        clone(MODELS["tree"]).fit(dataset)


# The data set itself


def test_groups_and_times_are_not_features():
    dataset = Dataset.from_batches(ROWS, target="y", weight="w", groups="who", time="day")
    assert (dataset.groups, dataset.time) == ("who", "day")
    assert not {"who", "day"} & set(dataset.columns)
    assert "groups='who', time='day'" in repr(dataset)
    model = clone(MODELS["tree"]).fit(dataset_of(ROWS, {"groups": "who"}))
    scored = np.concatenate(list(model.decision_function_batches(dataset)))
    np.testing.assert_array_equal(scored, model.decision_function(ROWS[FEATURES]))
    plain = dataset_of(ROWS, {}, "w")
    assert roc_state(model, dataset).auc() == roc_state(model, plain).auc()


@pytest.mark.parametrize(
    ("roles", "error", "message"),
    [
        ({"groups": "y"}, ValueError, "target and groups are both 'y'"),
        ({"groups": "who", "time": "who"}, ValueError, "groups and time are both 'who'"),
        ({"groups": 1}, TypeError, "groups must be the name of a column, got 1"),
        ({"time": "dya"}, ValueError, "no column 'dya'"),
        ({"time": "day", "columns": ["x", "day"]}, ValueError, "'day', which is the time"),
    ],
)
def test_invalid_column_roles_are_rejected(roles, error, message):
    with pytest.raises(error, match=message):
        Dataset.from_batches(ROWS, target="y", **roles)


@pytest.mark.parametrize("role", ["groups", "time"])
def test_groups_and_time_are_rejected_for_a_database(role):
    with pytest.raises(ValueError, match=f"{role} is given, but of a database"):
        Dataset.from_sql(lambda text: ROWS, "t", target="y", columns=["x"], **{role: "who"})


@pytest.mark.parametrize("role", ["groups", "time"])
def test_groups_and_time_passed_with_a_dataset_are_rejected(role):
    with pytest.raises(ValueError, match=f"{role} was given with a Dataset"):
        clone(MODELS["tree"]).fit(dataset_of(ROWS, {}), **{role: ROWS["who"]})


# Comparisons


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("given", [{"time": "day"}, {"time": "hour"}])
def test_a_comparison_by_time_is_that_of_a_frame(given):
    models = {"table": RIMARC(), "tree": TreeRank(max_depth=2, random_state=0)}
    found = aucrank.compare(dataset_of(ROWS, given), models=models, cv=3)
    own = {name: ROWS[column] for name, column in given.items()}
    expected = aucrank.compare(ROWS[FEATURES], ROWS["y"], models=models, cv=3, **own)
    assert found.to_frame()["auc"].tolist() == expected.to_frame()["auc"].tolist()


@pytest.mark.filterwarnings("ignore")
def test_a_comparison_keeps_groups_together():
    found = aucrank.compare(dataset_of(ROWS, {"groups": "who"}), models={"table": RIMARC()}, cv=3)
    assert "groups kept together" in found.to_html()


@pytest.mark.parametrize("ways", ["frame", "dataset"])
def test_groups_and_times_of_a_panel_raise_a_warning_of_few_ranges(ways):
    rng = np.random.default_rng(0)
    panel = pd.DataFrame({"who": np.arange(600) % 50, "month": np.arange(600) // 50})
    panel = panel.assign(x=rng.normal(size=600), y=rng.integers(0, 2, 600))

    def fit(rows, **given):
        if ways == "dataset":
            return RIMARC().fit(Dataset.from_batches(rows, target="y", columns=["x"], **given))
        return RIMARC().fit(rows[["x"]], rows["y"], **{k: rows[v] for k, v in given.items()})

    said = r"latest row, and 100% have the same\. For 5 ranges of time there is 1, so"
    with pytest.warns(UserWarning, match=said):
        fit(panel, groups="who", time="month")
    # A third of the groups has left after each of two months.
    left = panel[panel["month"] <= panel["who"] % 3]
    with pytest.warns(UserWarning, match=r"For 5 ranges of time there are [23], so"):
        fit(left, groups="who", time="month")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fit(panel, time="month")
        fit(panel, groups="who")
        fit(panel[panel["month"] == panel["who"] % 12], groups="who", time="month")
