"""Models saved by earlier versions are still read, and say the same.

The files in ``golden`` are never made again, whatever this version would write: a change that
breaks them breaks the models that users have saved. A new format adds files beside them.
"""

import json
from pathlib import Path

import aucrank
import numpy as np
import pandas as pd
import pytest
from aucrank.tree import CrossValidatedPruning, LeafRank

GOLDEN = Path(__file__).parent / "golden"


@pytest.fixture(scope="module")
def stored():
    return json.loads((GOLDEN / "tree_rank_v1_scores.json").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def model():
    return aucrank.load(GOLDEN / "tree_rank_v1.json")


def test_a_tree_of_format_1_is_described_in_the_same_words(model, stored):
    assert model.tree_.to_text().splitlines() == stored["text"]


def test_a_tree_of_format_1_scores_the_same_bits(model, stored):
    X = pd.DataFrame(stored["columns"])
    X = X.assign(
        status=pd.Categorical(X["status"]),
        rate=pd.Categorical(X["rate"]),
        phone=X["phone"].astype("boolean"),
    )
    assert model.decision_function(X).tolist() == stored["scores"]
    assert model.predict_proba(X)[:, 1].tolist() == stored["probabilities"]
    assert model.predict(X).tolist() == stored["labels"]


def test_a_tree_of_format_1_remembers_how_it_was_fitted(model, stored):
    assert type(model) is aucrank.TreeRank
    params = model.get_params(deep=False)
    split, pruning = params.pop("split"), params.pop("pruning")
    assert type(split) is LeafRank
    assert type(pruning) is CrossValidatedPruning
    assert (split.max_depth, split.max_leaves) == (2, None)
    assert (pruning.n_folds, pruning.one_standard_error) == (3, False)
    assert {k: params[k] for k in ("max_depth", "min_samples_leaf", "random_state", "n_jobs")} == {
        "max_depth": 3,
        "min_samples_leaf": 4,
        "random_state": 0,
        "n_jobs": None,
    }
    assert model.classes_.tolist() == ["bad", "good"]
    assert model.feature_names_in_.tolist() == list(stored["columns"])
    assert model.pruning_.n_rows == 5
    assert model.pruning_["n_leaves"][model.pruning_["kept"]] == [model.tree_.n_leaves]
    assert np.isfinite(model.feature_importances_).all()
