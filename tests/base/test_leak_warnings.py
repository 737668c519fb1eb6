"""Columns that separate the classes by themselves: one warning a fit, no false alarms."""

import warnings

import aucrank
import numpy as np
import pandas as pd
import pytest
from aucrank import (
    MAD2C,
    RIMARC,
    ColumnWarning,
    GradientBoostingRanker,
    LinearRanker,
    MartiRank,
    RankBoost,
    RankingEnsemble,
    RankingForest,
    Scorecard,
    TreeRank,
)
from aucrank._data import leak_warnings
from aucrank.data import Dataset
from aucrank.ensemble import _presets
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.metrics import roc_auc_score

from tests.common.command_line import run

N = 1000
RNG = np.random.default_rng(0)
Y = RNG.random(N) < 0.3
PLAIN = pd.DataFrame(
    {
        "honest": RNG.normal(size=N) + Y,
        "kind": RNG.choice(["a", "b", "c"], N),
        "none": np.nan,
        "same": 1.0,
        "id": RNG.permutation(N),
    }
)
AMOUNT = RNG.gamma(2, size=N)

LEAKS = {
    "label": Y.astype(float),
    "turned": np.where(Y, 0, 1),
    "amount": np.where(Y, AMOUNT + 0.01, 0),
    "below": np.where(Y, -AMOUNT, 1 + AMOUNT),
    "date of the outcome": np.where(Y, AMOUNT, np.nan),
    "gone for the others": np.where(Y, np.nan, AMOUNT),
    "code": np.where(Y, 7, RNG.choice([1, 5, 9, 12], N)),
    "status": np.where(Y, "closed", RNG.choice(["open", "new", "held"], N)),
    "reason": pd.Series(np.where(Y, RNG.choice(["moved", "price"], N), None), dtype=object),
}


def named(fit):
    """The columns that a call warns of as leaks."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        fit()
    texts = [str(each.message) for each in caught if issubclass(each.category, ColumnWarning)]
    leaks = [text for text in texts if "the classes by" in text]
    assert len(leaks) <= 1
    return leaks[0].split(" separate")[0] if leaks else ""


#: Leaks of other kinds, and how they are named.
PARTIAL_LEAKS = {
    "recovered": (np.where(Y & (RNG.random(N) < 0.9), AMOUNT, np.nan), "is filled in rows of one"),
    "reason": (
        pd.Series(np.where(Y & (RNG.random(N) < 0.9), "moved", None), dtype=object),
        "is filled in rows of one",
    ),
    "of a few": (np.where(Y & (RNG.random(N) < 0.3), AMOUNT, np.nan), "is filled in rows of one"),
    "gone": (
        np.where(Y & (RNG.random(N) < 0.95), np.nan, RNG.normal(size=N)),
        "is missing in rows of one",
    ),
    "strong": (RNG.normal(size=N) + 2.8 * Y, "ranks the rows far better than any other"),
}


def said_of(fit):
    """The text of the warnings of a call."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        fit()
    return " ".join(str(each.message) for each in caught)


def tree():
    return TreeRank(max_depth=2, pruning=None)


@pytest.mark.parametrize("leak", LEAKS)
def test_a_column_that_separates_the_classes_raises_a_warning(leak):
    X = PLAIN.assign(**{leak: LEAKS[leak]})
    assert named(lambda: tree().fit(X, Y)) == f"Column '{leak}'"
    assert named(lambda: tree().fit(PLAIN, Y)) == ""


@pytest.mark.parametrize("leak", PARTIAL_LEAKS)
def test_columns_filled_for_one_class_and_one_far_above_all_others_are_named(leak):
    values, how = PARTIAL_LEAKS[leak]
    X = PLAIN.assign(**{leak: values})
    expected = f"Column '{leak}' {how}"
    assert expected in said_of(lambda: tree().fit(X, Y))
    for model in (tree(), RIMARC(), LinearRanker()):
        dataset = Dataset.from_batches([X.assign(y=Y)[:300], X.assign(y=Y)[300:]], target="y")
        assert expected in said_of(lambda m=model, d=dataset: m.fit(d))
    weight = np.full(N, 2.0)
    assert expected in said_of(lambda: tree().fit(X, Y, sample_weight=weight))


@pytest.mark.parametrize(
    "honest",
    [
        np.where(RNG.random(N) < 0.5 + 0.3 * Y, AMOUNT, np.nan),
        np.where(RNG.random(N) < 0.05, AMOUNT, np.nan),
        np.where(Y & (RNG.random(N) < 0.05), np.nan, AMOUNT),
        RNG.normal(size=N) + 1.8 * Y,
    ],
    ids=["filled more often", "hardly filled", "a few missing", "good"],
)
def test_columns_that_are_filled_more_often_or_rank_well_are_not_named(honest):
    said = said_of(lambda: tree().fit(PLAIN.assign(honest_too=honest), Y))
    assert "known only after the outcome" not in said


def test_a_good_column_next_to_others_that_rank_well_is_not_named():
    strong = RNG.normal(size=N) + 2.8 * Y
    X = PLAIN.assign(strong=strong, second=RNG.normal(size=N) + 1.8 * Y)
    assert "known only" not in said_of(lambda: tree().fit(X, Y))


def test_every_way_to_fit_or_compare_names_the_leak():
    X = PLAIN[["honest", "kind"]].assign(leak=LEAKS["amount"], other=LEAKS["status"])
    said = "Columns 'leak', 'other'"
    assert named(lambda: GradientBoostingRanker(n_rounds=2).fit(X, Y)) == said
    assert named(lambda: aucrank.compare(X, Y, models={"tree": tree()})) == said
    dataset = Dataset.from_batches([X.assign(y=Y)[:400], X.assign(y=Y)[400:]], target="y")
    assert named(lambda: LinearRanker().fit(dataset)) == said
    assert named(lambda: aucrank.compare(dataset, models={"tree": tree()})) == said
    matrix = np.c_[PLAIN["honest"], LEAKS["amount"]]
    assert named(lambda: tree().fit(matrix, Y)) == "Column 1"


#: One of each kind of fit to a data set: by questions, of codes, in passes, of a sample.
FITS_OF_DATASETS = {
    "tree": tree(),
    "booster": GradientBoostingRanker(n_rounds=2),
    "program": MartiRank(n_rounds=1),
    "codes": RankingForest(n_estimators=2),
    "passes": RIMARC(),
    "bins": MAD2C(),
    "card": Scorecard(estimator=RIMARC(missing="value")),
    "card of a booster": Scorecard(estimator=RankBoost(n_rounds=3)),
    "sample": LinearRanker(),
    "ensemble": RankingEnsemble(members=[("tree", tree())]),
}


def named_of_data_set(model, rows):
    parts = [rows.assign(y=Y)[:300], rows.assign(y=Y)[300:]]
    return named(lambda: clone(model).fit(Dataset.from_batches(parts, target="y")))


@pytest.mark.parametrize("leak", LEAKS)
@pytest.mark.parametrize("name", FITS_OF_DATASETS)
def test_a_data_set_raises_the_warning_of_a_frame(name, leak):
    if leak == "code" and name in ("passes", "bins", "card"):
        pytest.skip("bins that are ranked in the order of the numbers have no use for codes")
    model = FITS_OF_DATASETS[name]
    assert named_of_data_set(model, PLAIN.assign(**{leak: LEAKS[leak]})) == f"Column '{leak}'"


@pytest.mark.parametrize("name", FITS_OF_DATASETS)
def test_a_data_set_without_leaks_raises_no_warning(name):
    assert named_of_data_set(FITS_OF_DATASETS[name], PLAIN) == ""


def test_an_ensemble_of_many_values_raises_the_warning(monkeypatch):
    monkeypatch.setattr(_presets, "MOST_IN_MEMORY", 1000)
    model = RankingEnsemble(presets="fast", random_state=0)
    X = PLAIN.assign(leak=LEAKS["amount"], other=LEAKS["status"])
    assert named_of_data_set(model, X) == "Columns 'leak', 'other'"
    assert named_of_data_set(model, PLAIN) == ""


def test_rows_of_a_data_set_count_whatever_their_weights():
    weight = RNG.gamma(1, size=N) * 1e6
    X = PLAIN[["honest"]].assign(w=weight, y=Y)

    def named_of(rows, **params):
        dataset = Dataset.from_batches([rows], target="y", weight="w")
        return named(lambda: tree().set_params(**params).fit(dataset))

    assert named_of(X.assign(leak=LEAKS["status"])) == "Column 'leak'"
    # Categories of one row each, and a class of fewer than a hundred rows.
    assert named_of(X.assign(leak=PLAIN["id"].astype(str))) == ""
    few = X.assign(leak=LEAKS["amount"]).iloc[np.r_[np.flatnonzero(Y)[:99], np.flatnonzero(~Y)]]
    assert named_of(few) == ""
    assert named_of(few, class_weight="balanced") == ""
    assert named_of(few.assign(w=1)) == ""
    assert named_of(few.assign(w=2)) == "Column 'leak'"


def test_weight_k_equals_k_rows():
    weight = RNG.integers(0, 3, N)
    rows = np.repeat(np.arange(N), weight)
    # A row of weight zero that contradicts the column.
    leak, spoiled = LEAKS["amount"].copy(), np.flatnonzero((weight == 0) & ~Y)
    leak[spoiled] = 50
    X = PLAIN[["honest"]].assign(leak=leak)
    assert named(lambda: tree().fit(X, Y, sample_weight=weight)) == "Column 'leak'"
    assert named(lambda: tree().fit(X.iloc[rows], Y[rows])) == "Column 'leak'"
    assert named(lambda: tree().fit(X, Y)) == ""


def test_few_rows_and_good_columns_raise_no_warning():
    X, y = load_iris(return_X_y=True)
    assert named(lambda: tree().fit(X, y == 0)) == ""
    X, y = load_breast_cancer(return_X_y=True)
    assert named(lambda: tree().fit(X, y)) == ""
    # Names of rows, and groups of rows of one class each, of which there are few.
    y = np.arange(600) % 2 == 0
    names = pd.DataFrame({"name": [f"n{k}" for k in range(600)], "x": np.arange(600) % 7})
    assert named(lambda: tree().fit(names, y)) == ""
    assert named(lambda: tree().fit(names.assign(name=names["name"].str[:3]), y)) == ""


def test_the_auc_of_a_column_of_numbers_is_that_of_its_scores(monkeypatch):
    monkeypatch.setattr(leak_warnings, "_MOST_CODES", 0)
    weight = RNG.integers(1, 4, N).astype(float)
    values = PLAIN["honest"].to_numpy().round(1)
    values[::7] = np.nan
    aucs = [
        roc_auc_score(Y, sign * np.nan_to_num(values, nan=end), sample_weight=weight)
        for sign in (1, -1)
        for end in (-9, 9)
    ]
    sums = leak_warnings._sums_of_values(values, Y, weight, is_category=False)
    found = leak_warnings._highest_auc(sums, is_category=False)
    assert found == pytest.approx(max(aucs))


def test_the_auc_of_categories_is_that_of_their_rates():
    weight = RNG.integers(1, 4, N).astype(float)
    values = RNG.integers(0, 40, N)
    counts = np.bincount(values, weight)
    values = np.where(counts[values] < 10, 40, values)
    rates = np.bincount(values, weight * Y) / np.maximum(np.bincount(values, weight), 1)
    sums = leak_warnings._sums_of_values(values, Y, weight, is_category=True)
    found = leak_warnings._highest_auc(sums, is_category=True)
    assert found == pytest.approx(roc_auc_score(Y, rates[values], sample_weight=weight))


def test_many_rows_are_screened_on_a_sample_and_then_checked_on_all(monkeypatch):
    monkeypatch.setattr(leak_warnings, "_SCREENED_OF_CLASS", 50)
    leak = LEAKS["amount"].copy()
    X = PLAIN.assign(leak=leak)
    assert named(lambda: tree().fit(X, Y)) == "Column 'leak'"
    # Twenty rows that may not be in the sample.
    leak[np.flatnonzero(Y)[1:21]] = 0
    assert named(lambda: tree().fit(PLAIN.assign(leak=leak), Y)) == ""


def test_the_command_names_the_leak_and_the_option_that_drops_it(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    PLAIN[["honest", "kind"]].assign(leak=LEAKS["amount"], y=Y).to_csv("rows.csv", index=False)
    for command in (("fit", "rows.csv", "--model", "TreeRank"),
                    ("compare", "rows.csv", "--models", "TreeRank", "--no-peers")):  # fmt: skip
        status, _, err = run(capsys, *command, "--target", "y")
        assert status == 0
        assert err.count("Column 'leak' separates the classes by itself") == 1
        assert "--drop leaves a column out" in err
