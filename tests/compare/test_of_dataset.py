"""Comparisons on a `Dataset`: on all of its rows, or on a sample that its order does not change."""

import aucrank
import narwhals.stable.v2 as nw
import numpy as np
import pandas as pd
import pytest
from aucrank import RIMARC, TreeRank
from aucrank._compare import request
from aucrank._compare.of_dataset import sampled_rows
from aucrank.data import Dataset
from numpy.testing import assert_array_equal

from tests.common.command_line import loans

MODELS = ["RIMARC", "LogisticRegression", "HistGradientBoostingClassifier"]


def parts(rows, *bounds):
    return [rows[start:end] for start, end in zip((0, *bounds), (*bounds, len(rows)), strict=True)]


def of_parts(rows, *bounds, **roles):
    return Dataset.from_batches(parts(rows, *bounds), target="bad", **roles)


def aucs(board):
    return dict(zip(board.models["model"], board.models["auc"], strict=True))


def test_categories_are_categorical_in_the_sample():
    rows = loans(200)
    X = sampled_rows(of_parts(rows, 90), 1000, "from_dtype", None).X
    assert [name for name, dtype in X.schema.items() if dtype == nw.Categorical] == ["purpose"]


@pytest.mark.parametrize("weight", [None, "weight"])
def test_a_dataset_of_few_rows_is_compared_on_as_its_frame(weight):
    rows = loans(500).assign(weight=np.arange(500) % 3)
    X = rows.drop(columns=["bad", "weight"])
    board = aucrank.compare(of_parts(rows, 90, 91, columns=list(X), weight=weight), models=MODELS)
    of_frame = aucrank.compare(
        X, rows["bad"], models=MODELS, sample_weight=None if weight is None else rows[weight]
    )
    assert aucs(board) == aucs(of_frame)
    assert board.notes == of_frame.notes == []


def test_the_positive_label_need_not_be_the_larger_one():
    rows = loans(400)
    greater, smaller = (of_parts(rows, 40, positive=label) for label in (1, 0))
    assert_array_equal(sampled_rows(greater, 1000, "from_dtype", None).y, rows["bad"])
    assert_array_equal(sampled_rows(smaller, 1000, "from_dtype", None).y, rows["bad"] == 0)
    turned = rows.assign(bad=1 - rows["bad"])
    of_turned = aucrank.compare(turned.drop(columns="bad"), turned["bad"], models=MODELS)
    assert aucs(aucrank.compare(smaller, models=MODELS)) == aucs(of_turned)


def test_the_sample_is_the_same_for_any_order_and_parts(monkeypatch):
    monkeypatch.setattr(request, "MOST_ROWS", 120)
    rows = loans(500)
    shuffled = rows.sample(frac=1, random_state=0)
    found = []
    for dataset in (of_parts(rows), of_parts(shuffled, 10, 300)):
        sample = sampled_rows(dataset, 120, "from_dtype", None)
        frame = sample.X.to_native().assign(positive=sample.positive)
        found.append(frame.sort_values(list(frame)).reset_index(drop=True))
    first, second = (frame.astype({"purpose": str}) for frame in found)
    pd.testing.assert_frame_equal(first, second)
    distinct = rows.drop(columns="bad").drop_duplicates()
    assert len(distinct) > 120
    assert len(first.drop(columns="positive").drop_duplicates()) == 120
    board = aucrank.compare(of_parts(rows, 77), models={"tree": TreeRank(max_depth=2)})
    assert board.notes == [f"on a sample of {len(first):,} of 500 rows"]


def test_rows_of_the_sample_are_rows_of_the_dataset():
    rows = loans(300).reset_index(drop=True)
    sample = sampled_rows(of_parts(rows, 100), 50, "from_dtype", None)
    found = sample.X.to_native().assign(bad=sample.positive.astype(int))
    found["purpose"] = found["purpose"].astype(object)
    merged = found.merge(rows.drop_duplicates(), how="left", indicator=True)
    assert set(merged["_merge"]) == {"both"}
    assert sample.n_all == 300
    assert sample.are_few


def test_categories_may_be_numbers():
    rows = pd.DataFrame({"code": np.arange(200) % 5, "bad": (np.arange(200) % 5 < 2).astype(int)})
    dataset = of_parts(rows, 50)
    sample = sampled_rows(dataset, 1000, ["code"], None)
    assert_array_equal(sample.X["code"].to_list(), rows["code"].astype(str))
    board = aucrank.compare(dataset, models={"table": RIMARC()}, categorical_features=["code"])
    assert aucs(board) == {"table": 1.0}


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"y": [0, 1]}, "y was given with a Dataset"),
        ({"sample_weight": [1, 1]}, "sample_weight was given with a Dataset"),
        ({"groups": [0, 1]}, "groups was given with a Dataset, which names its column"),
    ],
)
def test_arguments_that_a_dataset_contains_are_rejected(given, message):
    with pytest.raises(ValueError, match=message):
        aucrank.compare(of_parts(loans(50)), **given)


def test_a_frame_needs_labels():
    with pytest.raises(ValueError, match="y is None: labels may be left out only with a Dataset"):
        aucrank.compare(loans(50))
