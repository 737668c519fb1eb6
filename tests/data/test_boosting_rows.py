"""Boosting by queries to the rows of a data set: the document equals that of one frame."""

import numpy as np
import pandas as pd
import pytest
from aucrank import GradientBoostingRanker
from aucrank._base.fit_of_codes import FitOfCodes
from aucrank.data import Dataset, _stored
from aucrank.metrics import roc_state
from sklearn.base import clone

from tests.common.pairwise import parametrize_pairs
from tests.common.parts import FEATURES, mixed_rows, write_parts

#: As by default, with few rounds: five bags that leave out a fold each and stop early.
STOPPED = GradientBoostingRanker(n_rounds=12, n_iter_no_change=4, random_state=0)

MODELS = {
    "stopped": STOPPED,
    "one bag": clone(STOPPED).set_params(n_bags=1, refit=True),
    "best cuts": GradientBoostingRanker(
        n_rounds=5, cuts="best", early_stopping=False, class_weight="balanced", random_state=1
    ),
    "additive": GradientBoostingRanker.additive(n_rounds=6, n_bags=2, random_state=2),
    "directed": clone(STOPPED).set_params(
        n_bags=2, monotonic_cst={"x": 1}, interactions=[["x", "colour"]], max_depth=3
    ),
    "small leaves": clone(STOPPED).set_params(
        n_bags=2, min_samples_leaf=40, max_leaves=6, subsample=1.0, max_features=None, max_bins=16
    ),
}


def document(ranker):
    return ranker._to_document()


@parametrize_pairs(name=list(MODELS), weight=[None, "w"], in_memory=[True, False])
def test_a_fit_does_not_depend_on_files_or_the_order_of_rows(
    name, weight, in_memory, monkeypatch, tmp_path
):
    monkeypatch.setattr(_stored, "_IN_MEMORY", 10**9 if in_memory else 0)
    rows = mixed_rows(900)
    expected = clone(MODELS[name]).fit(
        rows[FEATURES], rows["y"], None if weight is None else rows[weight]
    )
    assert len(np.unique(expected.decision_function(rows[FEATURES]))) > 2
    # Files of one class, of one category, and one of a single row.
    rows = rows.sort_values(["y", "colour"], na_position="first")
    write_parts(tmp_path, rows, [1, 200, 201, 650])
    dataset = Dataset.from_parquet(
        tmp_path, target="y", weight=weight, columns=FEATURES, spill_dir=tmp_path
    )
    assert document(clone(MODELS[name]).fit(dataset)) == document(expected)


def test_32_or_128_leaves_are_chosen_as_in_memory():
    rows = mixed_rows(21_000)
    model = clone(STOPPED).set_params(n_rounds=6, n_bags=2)
    expected = clone(model).fit(rows[FEATURES], rows["y"])
    dataset = Dataset.from_batches(rows[::-1], target="y", columns=FEATURES)
    fitted = clone(model).fit(dataset)
    assert document(fitted) == document(expected)
    assert roc_state(fitted, dataset).auc() == expected.score(rows[FEATURES], rows["y"])


def brought(monkeypatch):
    """Record the fits that have all codes in memory in the returned list."""
    found, model = [], FitOfCodes.model

    def look(self, codes, *args):
        found.append(codes)
        return model(self, codes, *args)

    monkeypatch.setattr(FitOfCodes, "model", look)
    return found


@pytest.mark.parametrize(
    ("params", "asks"),
    [
        ({}, True),
        ({"scoring": "auc"}, False),
        ({"scoring": "auc", "early_stopping": False}, True),
        ({"loss": "pair_logistic", "calibration": None}, False),
        ({"loss": "pair_exponential", "max_fpr": 0.2, "early_stopping": False}, False),
        ({"interactions": 0}, True),
    ],
)
def test_codes_are_gathered_only_for_pair_losses_and_aucs(params, asks, monkeypatch):
    rows, model = mixed_rows(400), clone(STOPPED).set_params(n_rounds=3, n_bags=2, **params)
    dataset = Dataset.from_batches(rows, target="y", columns=FEATURES)
    found = brought(monkeypatch)
    fitted = clone(model).fit(dataset)
    assert len(found) == (0 if asks else 1)
    assert document(fitted) == document(model.fit(rows[FEATURES], rows["y"]))


def test_a_class_of_one_row_leaves_no_rows_for_early_stopping():
    rows = mixed_rows(300)
    rows["y"] = np.where(np.arange(300) == 7, "yes", "no")
    model = clone(STOPPED).set_params(n_rounds=3, min_samples_leaf=1)
    with pytest.warns(UserWarning, match="no rows can be held out"):
        expected = clone(model).fit(rows[FEATURES], rows["y"])
    dataset = Dataset.from_batches(rows, target="y", columns=FEATURES)
    with pytest.warns(UserWarning, match="no rows can be held out"):
        fitted = clone(model).fit(dataset)
    assert document(fitted) == document(expected)


def test_progress_is_printed(capsys):
    dataset = Dataset.from_batches(mixed_rows(400), target="y", columns=FEATURES)
    clone(STOPPED).set_params(verbose=1, n_rounds=3).fit(dataset)
    said = capsys.readouterr().out
    assert "rounds in 5 bags at learning rate" in said


@pytest.mark.parametrize(("n_levels", "asks"), [(6, True), (60, False)])
def test_codes_are_gathered_where_most_rows_have_a_pair_of_their_own(n_levels, asks, monkeypatch):
    rng = np.random.default_rng(0)
    codes = rng.integers(n_levels, size=(4000, 2))
    rows = pd.DataFrame({"a": codes[:, 0], "b": codes[:, 1]}).astype(str)
    rows["y"] = rng.random(4000) < rng.random((n_levels, n_levels))[codes[:, 0], codes[:, 1]]
    model = clone(STOPPED).set_params(n_rounds=3, n_bags=2, max_features=None)
    found = brought(monkeypatch)
    fitted = clone(model).fit(Dataset.from_batches(rows, target="y"))
    assert len(found) == (0 if asks else 1)
    assert document(fitted) == document(model.fit(rows[["a", "b"]], rows["y"]))
