"""Columns of 0 and 1: how a fit knows them, and what rules say of them."""

import copy
import pickle
from itertools import chain

import aucrank
import numpy as np
import pandas as pd
import polars as pl
import pytest
from aucrank import AURORA, RIMARC, GradientBoostingRanker, ModelFormatError, Scorecard, TreeRank
from aucrank._base.persistence import encode_params, read_model
from aucrank.data import Dataset
from scipy.sparse import csr_array

from tests.common.forged import forged


def patients(n=600):
    """Rows of flags of each kind, and of numbers that are none; each raises the risk."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "smoker": rng.random(n) < 0.4,
            "male": rng.integers(0, 2, n),
            "tested": np.where(rng.random(n) < 0.2, np.nan, rng.integers(0, 2, n)),
            "children": rng.integers(0, 3, n),
            "share": np.where(rng.random(n) < 0.1, 0.5, rng.integers(0, 2, n)),
            "sign": rng.choice([-1, 1], n),
            "age": rng.normal(size=n),
        }
    )
    risk = frame.astype(float).fillna(0.5).sum(axis=1) - 3
    return frame, rng.random(n) < 1 / (1 + np.exp(-risk))


X, Y = patients()
FLAGS = {"boolean": [0], "number": [1, 2]}


def rules_of(card, feature):
    table = card.card()
    return table["rule"][table["feature"] == feature].tolist()


@pytest.mark.parametrize("form", [pd.DataFrame, pl.from_pandas, np.asarray, csr_array])
def test_flags_are_known_by_their_type_or_by_their_values(form):
    if form in (np.asarray, csr_array):
        # An array has one type for all columns, and no booleans.
        rows, expected = form(X.to_numpy(dtype=float)), {"number": [0, 1, 2]}
    else:
        rows, expected = form(X), FLAGS
    assert GradientBoostingRanker(n_rounds=2).fit(rows, Y)._schema.flags == expected


def test_rows_without_weight_are_not_looked_at():
    rows, weight = X.copy(), np.ones(len(X))
    rows.loc[[0, 599], "male"] = 7
    weight[[0, 599]] = 0
    forms = (rows, csr_array(rows.to_numpy(dtype=float)), rows.to_numpy(dtype=float))
    for form in forms:
        flags = [
            sorted(chain(*TreeRank(pruning=None).fit(form, Y, w)._schema.flags.values()))
            for w in (weight, None)
        ]
        assert flags == [[0, 1, 2], [0, 2]]


def test_a_column_that_is_all_0_is_not_a_flag():
    rows = X.assign(male=0, tested=np.nan)
    assert TreeRank(pruning=None).fit(rows, Y)._schema.flags == {"boolean": [0]}


def test_a_late_value_is_seen():
    male = np.arange(200_000) % 2.0
    y = np.arange(200_000) % 3 == 0
    model = RIMARC().fit(male[:, None], y)
    assert model._schema.flags == {"number": [0]}
    male[-1] = 2
    assert RIMARC().fit(male[:, None], y)._schema.flags == {}


def test_a_card_names_the_value_and_counts_its_rows():
    card = Scorecard(estimator=RIMARC(missing="value")).fit(X, Y)
    assert rules_of(card, "smoker") == ["smoker = no", "smoker = yes", "smoker is missing"]
    assert rules_of(card, "male") == ["male = 0", "male = 1", "male is missing"]
    assert rules_of(card, "tested") == ["tested = 0", "tested = 1", "tested is missing"]
    assert "children < 0.5" in rules_of(card, "children")
    assert "sign < 0" in rules_of(card, "sign")
    table = card.card()
    for rule, rows in {
        "smoker = no": ~X["smoker"],
        "smoker = yes": X["smoker"],
        "tested = 0": X["tested"] == 0,
        "tested = 1": X["tested"] == 1,
    }.items():
        assert table["size"][table["rule"] == rule] == rows.sum()
    lines = [line.split()[0] for line in card.to_text().splitlines() if line.startswith("  ")]
    for label in ("no", "yes", "0", "1"):
        assert label in lines
    assert card.merge("male", ["male = 0", "male = 1"]).edits_
    assert '"male" < 0.5' in card.to_sql()
    assert rules_of(card.with_cuts("smoker", [0.3], X, Y), "smoker")[:2] == [
        "smoker = no",
        "smoker = yes",
    ]


def test_trees_and_terms_name_the_value():
    text = TreeRank(pruning=None, min_samples_leaf=20).fit(X, Y).tree_.to_text()
    for rule in ("smoker = yes", "smoker = no", "male = 1", "male = 0", "tested = 1"):
        assert rule in text
    assert "smoker <" not in text
    terms = AURORA(order=1, random_state=0).fit(X, Y).terms()
    assert {"smoker = yes", "male = 1"} <= set(terms["rule"])


def test_a_saved_copied_or_loaded_model_prints_the_same(tmp_path):
    card = Scorecard().fit(X, Y)
    card.save(tmp_path / "card.json")
    back = aucrank.load(tmp_path / "card.json")
    for other in (back, pickle.loads(pickle.dumps(card)), copy.deepcopy(card)):
        assert other.to_text() == card.to_text()
        assert other._to_document() == card._to_document()
    assert back._schema.flags == FLAGS


def test_a_data_set_knows_booleans():
    rows = X[["smoker", "age"]].assign(y=Y)
    dataset = Dataset.from_batches(rows, target="y", chunk_rows=100)
    model = Scorecard(estimator=RIMARC())
    assert rules_of(model.fit(dataset), "smoker")[0] == "smoker = no"
    assert model.fit(dataset)._to_document() == model.fit(rows[["smoker", "age"]], Y)._to_document()


@pytest.mark.parametrize(
    "flags",
    [[0], {"kind": [0]}, {"number": 0}, {"number": [7]}, {"number": [True]}, {"number": [6]}],
)
def test_a_damaged_list_of_flags_is_an_error(flags):
    rows = X.assign(age=X["sign"].astype(str))
    model = Scorecard().fit(rows, Y)

    def damage(body):
        body["header"]["report"]["two_values"] = encode_params({"flags": flags})["flags"]

    with pytest.raises(ModelFormatError, match="two values"):
        read_model(forged(model, damage).encode(), "card.json")


def sources(frame, folder):
    """The rows as every kind of source, in pieces of which some hold one value alone."""
    frame = frame.sort_values("male", kind="stable").reset_index(drop=True)
    parts = [frame.iloc[:50], frame.iloc[50:400], frame.iloc[400:]]
    for name in ("csv", "parquet"):
        (folder / name).mkdir()
    for k, part in enumerate(parts):
        part.to_parquet(folder / "parquet" / f"{k}.parquet", index=False)
        part.astype({"smoker": int}).to_csv(folder / "csv" / f"{k}.csv", index=False)
    given = {"target": "y", "weight": "w" if "w" in frame else None}
    yield "csv", Dataset.from_csv(folder / "csv", **given)
    yield "parquet", Dataset.from_parquet(folder / "parquet", **given)
    yield "batches", Dataset.from_batches(lambda: iter(parts), **given)
    yield "frame", Dataset.from_batches(frame, chunk_rows=97, **given)


@pytest.mark.parametrize("weighted", [False, True])
def test_a_dataset_has_the_flags_of_one_frame(weighted, tmp_path):
    frame = X.assign(y=Y)
    weight = None
    if weighted:
        # The rows that are neither 0 nor 1 do not count.
        weight = np.where(frame["share"] == 0.5, 0.0, 1.0)
        frame = frame.assign(w=weight)
    expected = RIMARC().fit(X, Y, sample_weight=weight)._schema.flags
    assert expected == FLAGS | ({"number": [1, 2, 4]} if weighted else {})
    n_sources = 0
    for kind, dataset in sources(frame, tmp_path):
        found = RIMARC().fit(dataset)._schema.flags
        # A column of booleans is one of 0 and 1 in a file of texts.
        texts = {"number": [0, *expected["number"]]}
        assert found == (texts if kind == "csv" else expected), kind
        n_sources += 1
    assert n_sources == 4
