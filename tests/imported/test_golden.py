"""Files of imported models keep loading, and give the scores that the other libraries gave."""

import json

import numpy as np
import pytest
from aucrank import load
from numpy.testing import assert_array_equal

from tests.common.paths import CHECKOUT

GOLDEN = CHECKOUT / "tests" / "golden"


@pytest.mark.parametrize("name", ["lightgbm", "xgboost", "catboost", "forest"])
def test_a_stored_model_of_another_library_scores_the_same_bits(name, tmp_path):
    stored = json.loads((GOLDEN / "imported_v5_scores.json").read_text())
    rows = np.array(stored["rows"], dtype=float)
    path = GOLDEN / f"imported_v5_{name}.json"
    model = load(path)
    assert_array_equal(model.decision_function(rows), stored["scores"][name])
    model.save(tmp_path / "again.json")
    again, before = (json.loads(at.read_text()) for at in (tmp_path / "again.json", path))
    assert again["body"] == before["body"]


def test_a_stored_equation_gives_its_weighted_sum():
    model = load(GOLDEN / "imported_v5_equation.json")
    rows = np.array([[40.0, 1.0], [64.0, 0.0], [0.0, -2.0]])
    # Exact in binary numbers.
    expected = rows @ [0.0625, 0.75] - 5.0
    assert_array_equal(model.decision_function(rows), expected)
    assert_array_equal(model.predict_proba(rows)[:, 1], 1 / (1 + np.exp(-expected)))
