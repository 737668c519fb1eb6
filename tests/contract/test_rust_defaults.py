"""Parameters of the crate are by default those of the estimators: both compare one file."""

import json

import pytest
from aucrank._base.fit_context import ParamScope
from aucrank._base.registry import get_estimator

from tests.common.paths import CHECKOUT

FILE = CHECKOUT / "rust" / "aucrank" / "tests" / "defaults.json"
NAMES = ["AUCBoost", "AURORA", "LinearRanker", "MartiRank", "RankBoost", "RankOpt"]


@pytest.mark.skipif(not FILE.exists(), reason="this is not a checkout")
def test_the_file_has_the_defaults_of_the_estimators():
    # For defaults that depend on the number of rows, rows are many.
    scope = ParamScope(n_rows=1_000_000)
    defaults = {name: get_estimator(name)()._core_params(scope) for name in NAMES}
    assert json.loads(FILE.read_text(encoding="utf-8")) == json.loads(json.dumps(defaults))
