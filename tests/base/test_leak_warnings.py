"""Columns that separate the classes by themselves: one warning a fit, no false alarms."""

import warnings

import aucrank
import numpy as np
import pandas as pd
import pytest
from aucrank import ColumnWarning, GradientBoostingRanker, LinearRanker, TreeRank
from aucrank._data import leak_warnings
from aucrank.data import Dataset
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


def tree():
    return TreeRank(max_depth=2, pruning=None)


@pytest.mark.parametrize("leak", LEAKS)
def test_a_column_that_separates_the_classes_raises_a_warning(leak):
    X = PLAIN.assign(**{leak: LEAKS[leak]})
    assert named(lambda: tree().fit(X, Y)) == f"Column '{leak}'"
    assert named(lambda: tree().fit(PLAIN, Y)) == ""


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
    found = leak_warnings._auc(values, Y, weight, is_category=False)
    assert found == pytest.approx(max(aucs))


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
