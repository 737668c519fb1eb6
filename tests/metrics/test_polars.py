"""Expressions of polars are the statistics of their groups."""

import numpy as np
import polars as pl
import pytest
from aucrank.metrics import roc_auc_score
from aucrank.polars import auc
from hypothesis import given
from hypothesis import strategies as st

from tests.common.processes import said_without

rows = st.lists(
    st.tuples(st.integers(0, 3), st.booleans(), st.integers(-3, 3), st.integers(0, 3)),
    min_size=1,
    max_size=40,
)


def frame_of(sample):
    schema = {"g": pl.Int64, "y": pl.Boolean, "s": pl.Int64, "w": pl.Int64}
    return pl.DataFrame(sample, schema=schema, orient="row")


def expected_of(part, *, weighted):
    """The function for arrays on one group; None where a class is absent."""
    weight = part["w"].to_numpy() if weighted else np.ones(len(part))
    y = part["y"].to_numpy()
    if not (weight @ y and weight @ ~y):
        return None
    return roc_auc_score(y, part["s"].to_numpy(), sample_weight=weight)


@given(rows, st.booleans())
def test_groups_and_windows_have_the_auc_of_their_rows(sample, weighted):
    frame = frame_of(sample)
    expression = auc("s", pl.col("y"), pl.col("w").cast(pl.Float64) if weighted else None)
    expected = {
        group: expected_of(part, weighted=weighted)
        for (group,), part in frame.partition_by("g", as_dict=True).items()
    }
    for found in (
        frame.group_by("g").agg(auc=expression),
        frame.lazy().group_by("g").agg(auc=expression).collect(),
    ):
        assert dict(found.iter_rows()) == expected
    windows = frame.select("g", auc=expression.over("g"))
    assert windows["auc"].to_list() == [expected[group] for group in frame["g"]]
    assert frame.select(expression).item() == expected_of(frame, weighted=weighted)


def test_the_expression_has_the_name_of_its_score_and_accepts_any_labels():
    frame = pl.DataFrame({"a": [1.0, 2.0, 3.0], "b": [3.0, 2.0, 1.0], "y": ["good", "bad", "good"]})
    found = frame.select(auc("a", "y"), auc(-pl.col("b"), "y").alias("c"))
    assert found.to_dict(as_series=False) == {"a": [0.5], "c": [0.5]}
    assert found.schema == {"a": pl.Float64, "c": pl.Float64}
    assert frame.clear().select(auc("a", "y")).item() is None


@pytest.mark.parametrize(
    ("column", "values", "message"),
    [
        ("s", [1.0, None, 2.0, 3.0], "the score of row 1 is NaN"),
        ("s", [1.0, float("nan"), 2.0, 3.0], "the score of row 1 is NaN"),
        ("y", [0, 1, None, 1], "Input y_true contains NaN, first in row 2"),
        ("y", [None, 1, 1, 1], "Input y_true contains NaN, first in row 0"),
        ("y", [0, 1, 2, 1], "Only binary classification is supported"),
        ("w", [1.0, 1.0, -1.0, 1.0], "sample_weight of row 2 is -1"),
        ("w", [1.0, None, 1.0, 1.0], "sample_weight of row 1 is NaN"),
    ],
)
def test_invalid_input_ends_the_query_with_an_error(column, values, message):
    frame = pl.DataFrame({"s": [1.0, 2.0, 3.0, 4.0], "y": [0, 1, 0, 1], "w": [1.0] * 4})
    frame = frame.with_columns(pl.Series(column, values))
    with pytest.raises(ValueError, match=message):
        frame.select(auc("s", "y", "w"))
    with pytest.raises(ValueError, match=message):
        roc_auc_score(*(frame[name] for name in ("y", "s")), sample_weight=frame["w"])


def test_without_polars_the_error_says_what_to_install():
    said = said_without("polars", "auc('s', 'y')", "from aucrank.polars import auc")
    assert "pip install 'aucrank[polars]'" in said
