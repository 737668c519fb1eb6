"""`PartitionSplit`: the partition-based rule on any partition, against its definition."""

import itertools
import pickle

import numpy as np
import pandas as pd
import pytest
from aucrank.metrics import roc_auc_score
from aucrank.tree import DyadicSplit, PartitionSplit, TreeRank
from sklearn.cluster import KMeans
from sklearn.ensemble import RandomTreesEmbedding
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import KBinsDiscretizer

rng = np.random.default_rng(0)
X = rng.random((400, 2))
Y = (rng.random(400) < 0.2 + 0.6 * (np.abs(X - 0.5) < 0.3).all(axis=1)).astype(int)


def bins(n_bins):
    return KBinsDiscretizer(n_bins, strategy="uniform", encode="ordinal", subsample=None)


def one_split(partition, **params):
    return TreeRank(split=PartitionSplit(partition), max_depth=1, pruning=None, **params).fit(X, Y)


def test_no_union_of_cells_ranks_better():
    model = one_split(bins(3), min_samples_leaf=1)
    cells = bins(3).fit_transform(X) @ [3, 1]
    unions = (
        np.isin(cells, union)
        for size in range(10)
        for union in itertools.combinations(range(9), size)
    )
    assert model.tree_.auc == pytest.approx(max(roc_auc_score(Y, left) for left in unions))


def test_uniform_bins_are_dyadic_cubes():
    cubes = TreeRank(split=DyadicSplit(level=3), max_depth=1, pruning=None).fit(X, Y)
    assert one_split(bins(8)).tree_.auc == pytest.approx(cubes.tree_.auc, abs=1e-12)


@pytest.mark.parametrize(
    "partition",
    [KMeans(6, n_init=1), RandomTreesEmbedding(3, max_depth=3), bins(4)],
    ids=["predict", "apply", "transform"],
)
def test_each_kind_of_partition_ranks_rows(partition):
    split = PartitionSplit(partition)
    model = TreeRank(split=split, max_depth=3, random_state=0).fit(
        pd.DataFrame(X, columns=["a", "b"]), Y
    )
    frame = pd.DataFrame(rng.random((2000, 2)), columns=["a", "b"])
    truth = (np.abs(frame.to_numpy() - 0.5) < 0.3).all(axis=1)
    assert roc_auc_score(truth, model.decision_function(frame)) > 0.7
    copy = pickle.loads(pickle.dumps(model))
    assert np.array_equal(copy.decision_function(frame), model.decision_function(frame))


def test_an_unseen_cell_counts_as_negative():
    model = TreeRank(split=PartitionSplit(bins(4)), max_depth=1, pruning=None)
    seen = X[(X < 0.75).all(axis=1) | (X > 0.99).any(axis=1)]
    model.fit(seen, (np.abs(seen - 0.5) < 0.3).all(axis=1))
    strata = model.tree_.strata["node"]
    assert model.tree_.apply([[0.8, 0.8]])[0] == strata[-1]


def test_an_invalid_partition_is_named_in_the_error():
    with pytest.raises(TypeError, match="must have predict, apply or transform, which NoCells has"):
        one_split(NoCells())


class NoCells(LogisticRegression):
    predict = property()

    def fit(self, X, y=None):
        return self
