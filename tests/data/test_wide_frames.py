"""The work for each column of a frame does not grow with the number of columns."""

from collections.abc import Callable

import narwhals.stable.v2 as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from aucrank import TreeRank
from aucrank._data.column_lookup import check_names, first_doubled
from aucrank._data.passes import check_column_names, need_columns
from aucrank.data import Dataset

RNG = np.random.default_rng(0)
Y = np.repeat([0, 1], 20)


def frame(n_columns, of=pd.DataFrame, kind="numbers"):
    values = (
        {f"x{k}": RNG.normal(size=40) for k in range(n_columns)}
        if kind == "numbers"
        else {f"x{k}": RNG.choice(["a", "b"], size=40) for k in range(n_columns)}
    )
    return of(values)


def fit_and_score(X):
    TreeRank(pruning=None, max_depth=1).fit(X, Y).decision_function(X)


def fit_and_score_pieces(X):
    X = nw.from_native(X)
    with_target = X.with_columns(nw.new_series("y", Y, backend=X.implementation))
    dataset = Dataset.from_batches(with_target.to_native(), target="y")
    list(TreeRank(pruning=None, max_depth=1).fit(dataset).decision_function_batches(dataset))


@pytest.mark.parametrize("way", [fit_and_score, fit_and_score_pieces])
@pytest.mark.parametrize("kind", ["numbers", "texts"])
@pytest.mark.parametrize(
    "of", [pd.DataFrame, pl.DataFrame, pa.table], ids=["pandas", "polars", "arrow"]
)
def test_names_of_all_columns_are_listed_a_few_times(of, kind, way, monkeypatch):
    names_of: Callable = nw.DataFrame.columns.fget
    n_listed = 0

    def columns(self):
        nonlocal n_listed
        n_listed += 1
        return names_of(self)

    monkeypatch.setattr(nw.DataFrame, "columns", property(columns))
    counts = []
    for n_columns in (5, 40):
        n_listed = 0
        way(frame(n_columns, of, kind))
        counts.append(n_listed)
    assert counts[0] == counts[1] > 0


class Name(str):
    """A name that counts how often it is compared."""

    __slots__ = ()
    n_compared = 0

    def __eq__(self, other):
        Name.n_compared += 1
        return str.__eq__(self, other)

    __hash__ = str.__hash__


@pytest.mark.parametrize(
    "look_up",
    [
        lambda some, all_: need_columns(some, all_, "a frame"),
        lambda some, all_: check_column_names(some, "a frame"),
        lambda some, all_: check_names(some, "monotone", all_),
        lambda some, all_: first_doubled(some),
    ],
)
def test_matching_names_takes_linear_time(look_up):
    n = 1000
    some, others = ([Name(f"x{k}") for k in range(n)] for _ in range(2))
    Name.n_compared = 0
    look_up(some, others)
    assert Name.n_compared <= 3 * n


def test_columns_may_be_listed_by_many_names():
    X = pd.DataFrame({f"x{k}": RNG.integers(0, 3, 40) for k in range(50)})
    names = [Name(f"x{k}") for k in range(0, 50, 2)]
    model = TreeRank(pruning=None, categorical_features=names).fit(X, Y)
    kinds = [feature.levels is not None for feature in model._schema.features]
    assert kinds == [k % 2 == 0 for k in range(50)]


def test_the_first_repeated_name_is_named_in_the_error():
    assert first_doubled(["a", "b", "c", "b", "a"]) == "a"
    assert first_doubled(["a", "b"]) is None
