"""Rates of rare categories of a data set equal those of one frame."""

import pytest
from aucrank import AUCBoost, RankBoost, TreeRank
from aucrank._base.fit_of_codes import FitOfCodes
from aucrank.data import Dataset, _stored
from sklearn.base import clone

from tests.common.parts import TOWN_FEATURES, distinguishes_rare_towns, town_rows

pytestmark = pytest.mark.filterwarnings("ignore:Column 'town' looks as if")

MODELS = {
    "tree": TreeRank(max_depth=6, random_state=1),
    "leafrank": TreeRank(split="leafrank", pruning="validation", max_depth=5, random_state=2),
    "monotone": TreeRank(pruning=None, monotonic_cst={"x": 1}, max_bins=20, random_state=3),
    "rank boost": RankBoost(n_rounds=12, random_state=4),
    "stopped": RankBoost(
        n_rounds=15, early_stopping=True, n_iter_no_change=4, refit=True, random_state=5
    ),
    "auc boost": AUCBoost(n_rounds=8, weak_ranker="threshold", max_features=1, random_state=6),
}


@pytest.mark.parametrize("weight", [None, "w"])
@pytest.mark.parametrize("name", MODELS)
def test_rates_of_rare_categories_are_those_of_one_frame(name, weight, monkeypatch, tmp_path):
    monkeypatch.setattr(FitOfCodes, "model", None)
    rows, model = town_rows(2000), MODELS[name]
    expected = clone(model).fit(
        rows[TOWN_FEATURES], rows["y"], None if weight is None else rows[weight]
    )
    assert distinguishes_rare_towns(expected, rows)
    shuffled = rows.sample(frac=1, random_state=0)
    for chunk_rows, in_memory in ((170, 10**9), (900, 0)):
        monkeypatch.setattr(_stored, "_IN_MEMORY", in_memory)
        dataset = Dataset.from_batches(
            shuffled,
            target="y",
            weight=weight,
            columns=TOWN_FEATURES,
            chunk_rows=chunk_rows,
            spill_dir=tmp_path,
        )
        fitted = clone(model).fit(dataset)
        assert fitted._to_document() == expected._to_document()


def test_a_fit_with_raw_rates_equals_that_to_one_frame():
    rows, model = town_rows(2000), TreeRank(level_rates="raw", random_state=0)
    expected = clone(model).fit(rows[TOWN_FEATURES], rows["y"])
    dataset = Dataset.from_batches(rows, target="y", columns=TOWN_FEATURES, chunk_rows=300)
    assert clone(model).fit(dataset)._to_document() == expected._to_document()
