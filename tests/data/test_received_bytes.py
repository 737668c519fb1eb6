"""The bytes that a client receives from the workers in a fit do not grow with the rows."""

import pickle
from contextlib import contextmanager

import numpy as np
import pandas as pd
import pytest
from aucrank import (
    MAD2C,
    RIMARC,
    AUCBoost,
    GradientBoostingRanker,
    MartiRank,
    RankBoost,
    Scorecard,
    SMartiRank,
    TreeRank,
)
from aucrank.data._dask import DaskSource
from aucrank.data._raw import ReadRows
from sklearn.base import clone

from tests.common.parts import on_dask

distributed = pytest.importorskip("distributed", reason="fits on workers of distributed")
dd = pytest.importorskip("dask.dataframe", reason="reads data frames of dask")

#: Every learner that queries the rows of a `Dataset` for sums.
LEARNERS = {
    "tree": TreeRank(max_depth=4, pruning=None, random_state=0),
    "marti": MartiRank(n_rounds=4, random_state=0),
    "smarti": SMartiRank(n_rounds=4, random_state=0),
    "rank boost": RankBoost(n_rounds=6, random_state=0),
    "auc boost": AUCBoost(n_rounds=4, random_state=0),
    "gradient": GradientBoostingRanker(
        n_rounds=2, max_leaves=4, early_stopping=False, min_samples_leaf=1, random_state=0
    ),
    "rimarc": RIMARC(weight_folds=2, random_state=0),
    "mad2c": MAD2C(),
    "scorecard": Scorecard(estimator=RankBoost(n_rounds=3, random_state=0)),
}

FEATURES = ["a", "b"]


def continuous_rows(n):
    rng = np.random.default_rng(0)
    rows = pd.DataFrame(rng.normal(size=(n, 2)), columns=FEATURES)
    return rows.assign(y=rows["a"] + rng.normal(size=n) > 0)


@pytest.fixture(scope="module")
def collections():
    """A few rows and many on two workers, by the number of rows."""
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=False, dashboard_address=":0"
        ) as cluster,
        distributed.Client(cluster),
    ):
        yield {
            n: dd.from_pandas(continuous_rows(n), npartitions=2).persist()
            for n in (50_000, 200_000)
        }


@pytest.fixture
def received(monkeypatch):
    """Number of bytes of each answer that arrives at the client.

    The sample that bins are cut by is left out, and so are the scores that a card has counted: both
    are of rows, the one of at most 200,000 and the other of all.
    """
    gather, n_bytes, left_out = DaskSource.gather, [], []

    def count(self, results):
        found = gather(self, results)
        if not left_out:
            n_bytes.extend(len(pickle.dumps(one)) for one in found)
        return found

    @contextmanager
    def uncounted():
        left_out.append(True)
        yield
        left_out.pop()

    def leave_out(owner, name):
        method = getattr(owner, name)

        def call(*args):
            with uncounted():
                return method(*args)

        monkeypatch.setattr(owner, name, call)

    monkeypatch.setattr(DaskSource, "gather", count)
    leave_out(DaskSource, "frame")
    leave_out(ReadRows, "roc_state")
    return n_bytes


#: Bytes of the cells of two columns in one pass, with the sums of two folds: 32,768 cells a column
#: at most. More rows take a pass or two more.
OF_PASS = 2 * 32_768 * (16 + 2 * 24)


@pytest.mark.parametrize("name", LEARNERS)
def test_bytes_received_by_a_client_do_not_grow_with_the_rows(name, collections, received):
    of_fits = []
    for collection in collections.values():
        received.clear()
        LEARNERS[name].fit(on_dask(collection, target="y"))
        of_fits.append(list(received))
    few, many = of_fits
    assert sum(few) > 0
    if name in ("rimarc", "mad2c"):
        assert len(many) <= len(few) + 2
        assert max(many) < OF_PASS
    else:
        assert sum(many) < 1.2 * sum(few)


def rows_of_pairs(n):
    """Rows whose label depends on the pair of two categories."""
    rng = np.random.default_rng(1)
    codes = rng.integers(30, size=(n, 2))
    rows = pd.DataFrame(rng.normal(size=(n, 2)), columns=FEATURES)
    for name, of_rows in zip("cd", codes.T, strict=True):
        rows[name] = pd.Categorical.from_codes(of_rows, [f"level {code}" for code in range(30)])
    of_pair = rng.random((30, 30))[codes[:, 0], codes[:, 1]]
    return rows.assign(y=of_pair + 0.5 * rng.random(n) > 0.9)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.usefixtures("collections")
def test_pairs_of_categories_take_less_than_a_tenth_of_the_codes(received):
    n = 400_000
    model = GradientBoostingRanker(
        n_rounds=4,
        n_bags=1,
        max_features=1.0,
        max_leaves=4,
        max_bins=32,
        early_stopping=True,
        random_state=0,
    )
    rows = rows_of_pairs(n)
    collection = dd.from_pandas(rows, npartitions=2).persist()
    received.clear()
    found = clone(model).fit(on_dask(collection, target="y"))._to_document()
    # The hashes by which rows are dealt, 16,384 of each class from each worker, do not grow with
    # the rows.
    others = [n_bytes for n_bytes in received if n_bytes < 2 * 8 * 2**14]
    assert len(received) - len(others) == 2 * 2
    assert sum(others) < n * len("abcd") / 10
    assert '"pairs":' in found
    assert found == model.fit(rows[[*FEATURES, "c", "d"]], rows["y"])._to_document()
